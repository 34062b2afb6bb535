/*
 * oql.h - translates Object Query Language, in the dialect of Eclipse MAT, into the SQL of heapdex.
 *
 * Example (examples/oql.c):
 *     char *sql;
 *     if (hdx_oql_translate(g, query, &sql, &err) != HDX_OK)
 *         return complain(&err);
 *     printf("%s\n", sql);
 *     hdx_text_free(sql);
 *
 * The input is MAT's dialect with the extensions of hprof-analyzer (GROUP BY, HAVING, ORDER BY, LIMIT, aggregates) and
 * the functions of mat-calcite. A construct without a counterpart in SQL is refused, and the hint names the table or
 * function to use instead.
 */
#ifndef HEAPDEX_OQL_H
#define HEAPDEX_OQL_H

#include <heapdex/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of a query: its length in bytes, and its levels of nesting. */
#define HDX_OQL_MOST  65536u
#define HDX_OQL_DEPTH 100u

/*
 * Translates a query into one SQL statement, returned in *sql; the caller frees it with hdx_text_free. On failure *sql
 * is NULL. The classes and fields of `g` resolve names. If `g` is NULL, none are known, and every field is looked up by
 * name when the statement runs.
 * Returns HDX_USAGE if the text is not OQL or has no counterpart in SQL, HDX_NOT_FOUND if the dump has no such class,
 * HDX_LIMIT if the query exceeds the limits above or its translation is too large, and HDX_DAMAGED if the index of `g`
 * is damaged. For the first three, err->where is empty and err->offset is the byte at fault in `oql`, if it is known.
 */
HDX_API hdx_code hdx_oql_translate(hdx_graph *g, const char *oql, char **sql, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
