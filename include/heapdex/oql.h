/*
 * oql.h - Object Query Language as Eclipse MAT has it, said in the SQL of heapdex.
 *
 * Example (examples/oql.c):
 *     char *sql;
 *     if (hdx_oql_translate(g, query, &sql, &err) != HDX_OK)
 *         return complain(&err);
 *     printf("%s\n", sql);
 *     hdx_text_free(sql);
 *
 * MAT's dialect, what hprof-analyzer adds to it (GROUP BY, HAVING, ORDER BY, LIMIT, aggregates), and the functions of
 * mat-calcite by their names. What has no counterpart is refused, with the table or function that serves instead.
 */
#ifndef HEAPDEX_OQL_H
#define HEAPDEX_OQL_H

#include <heapdex/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a query, and levels of nesting in it, that are taken. */
#define HDX_OQL_MOST  65536u
#define HDX_OQL_DEPTH 100u

/*
 * g tells which classes and fields there are; NULL: none are known, and every field is looked up by its name. *sql: one
 * statement, to be freed by hdx_text_free; NULL on failure.
 * HDX_USAGE: not OQL, or nothing that SQL could say; HDX_NOT_FOUND: the dump has no such class; HDX_LIMIT: longer or
 * deeper than is taken. err->where is empty then, and err->offset the byte of `oql` at fault, where that is known.
 */
HDX_API hdx_code hdx_oql_translate(hdx_graph *g, const char *oql, char **sql, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
