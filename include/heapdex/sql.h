/*
 * sql.h - a heap as tables of SQLite: whatever can be asked in SQL needs no answer of its own.
 *
 * Example (examples/sql.c):
 *     const char *next = "SELECT class, count(*) AS n FROM objects GROUP BY class ORDER BY n DESC LIMIT 5";
 *     hdx_sql    *sql;
 *     hdx_rows   *rows;
 *     hdx_code    code = hdx_sql_open(session, NULL, &sql, &err);
 *     while (code == HDX_OK && *next != '\0') {
 *         if ((code = hdx_sql_run(sql, next, &next, &rows, &err)) == HDX_OK && rows != NULL)
 *             code = hdx_render(rows, &csv, &sink, &err);
 *         hdx_rows_close(rows);
 *     }
 *     hdx_sql_close(sql);
 *
 * doc/sql.md has the tables, functions and rules. The tables read the index; fields, texts and elements read the dump.
 * Nothing can be written but temporary tables and views.
 */
#ifndef HEAPDEX_SQL_H
#define HEAPDEX_SQL_H

#include <heapdex/answer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdx_sql hdx_sql;

typedef struct hdx_sql_options {
    hdx_refs_scope     scope;   /* objects that tables have: live ones unless told */
    uint64_t           rows;    /* most rows of a statement, 0: any; more is HDX_LIMIT */
    uint64_t           seconds; /* most time that a statement works, 0: any; HDX_LIMIT */
    uint64_t           memory; /* most bytes that SQLite holds, 0: any; HDX_LIMIT (of all connections of the process) */
    const char        *view;   /* of the index of the first dump; NULL: none */
    const char *const *names;  /* of the second dump of the session and of those after it: schemas; NULL: none */
    size_t             name_count;
} hdx_sql_options;

/*
 * Tables of the first dump are in the schema `main`, those of the next under their names, which are words (letters,
 * digits, _) other than main and temp; at most 10. Indexes that are not there are built. options NULL: all 0. One
 * connection is asked by one thread at a time. HDX_USAGE: a name that cannot be one, or this heapdex was built without
 * SQLite.
 */
HDX_API hdx_code hdx_sql_open(hdx_session *s, const hdx_sql_options *options, hdx_sql **out, hdx_error *err);
HDX_API void     hdx_sql_close(hdx_sql *sql); /* NULL: nothing; after its rows, before the session */

/*
 * The first statement of a text; *rest (may be NULL) is what stands behind it. *rows NULL: it gives none (a comment,
 * CREATE TEMP TABLE). Columns that are addresses or sizes are so in rows as well, and of two columns with one name the
 * second has ":1" behind it. HDX_USAGE: SQL that is wrong or not allowed; `where` is empty then, and `offset` the byte
 * of the text at fault, where that is known.
 */
HDX_API hdx_code hdx_sql_run(hdx_sql *sql, const char *text, const char **rest, hdx_rows **rows, hdx_error *err);

/*
 * The rows of a text's one statement as an Arrow C stream (columns.h): int64, double or UTF-8. A column of a table is
 * what the table declares of it (ADDRESS, SIZE, COUNT, INTEGER; REAL; TEXT, JSON), any other what its first values are
 * (of 1,024 rows, less where they are more than 1 MiB): whole numbers; numbers; else, and where there is none, texts. A
 * later value that is no such one ends the stream, and the message says where; CAST makes a column one type. The stream
 * may outlive hdx_sql_close and hdx_session_close, as may its batches, and may be read on another thread: streams of
 * one session are read one at a time. HDX_USAGE also: no statement, several, or one that gives no rows, which is not
 * run.
 */
HDX_API hdx_code hdx_sql_arrow(hdx_sql *sql, const char *text, struct ArrowArrayStream *out, hdx_error *err);

/* The statement under way ends with HDX_CANCELLED, and the connection goes on. From any thread, and from handlers. */
HDX_API void hdx_sql_interrupt(hdx_sql *sql);

/* Does a text end with a whole statement, or does a line belong to it still (an open quote, no semicolon)? */
HDX_API bool hdx_sql_complete(const char *text);

/* ---- rows as tables of a plain SQLite file ---- */
typedef struct hdx_sql_file hdx_sql_file;

/*
 * `path` is an empty file, and the caller's to sync, and to remove where anything fails: it is written without a
 * journal, in one transaction. Errors of it have no `where`. `progress` (may be NULL) is asked whether to stop, and
 * outlives the file. HDX_USAGE: this heapdex was built without SQLite.
 */
HDX_API hdx_code hdx_sql_file_open(const char *path, const hdx_progress *progress, hdx_sql_file **out, hdx_error *err);

/*
 * All rows that are left as a table: numbers, addresses (from 2^63 on negative) and booleans are INTEGER, real numbers
 * REAL, texts TEXT (what is no UTF-8 in a dump is U+FFFD), lists, objects and values of any kind TEXT with JSON; null,
 * and what a stripped dump lacks, is NULL. HDX_USAGE: the file has such a table.
 */
HDX_API hdx_code hdx_sql_file_add(hdx_sql_file *f, const char *table, hdx_rows *rows, hdx_error *err);
HDX_API hdx_code hdx_sql_file_drop(hdx_sql_file *f, const char *table,
                                   hdx_error *err);                 /* one that was added, or begun */
HDX_API hdx_code hdx_sql_file_end(hdx_sql_file *f, hdx_error *err); /* it is whole; to be closed still */
HDX_API void     hdx_sql_file_close(hdx_sql_file *f);               /* NULL: nothing */

/*
 * The tables of such a file into another one that many writers share, in one transaction, in place of the rows that
 * have `value` in `column` there: of all these tables, whether `from` has them or not. Tables that are missing are
 * made, with an index on the column. Writers wait for each other. HDX_USAGE: the file is of another version (`PRAGMA
 * user_version`) or no file of SQLite; HDX_BUSY: after ten minutes another one still writes.
 */
typedef struct hdx_sql_replace {
    const char        *path; /* an empty file, or what earlier calls made of one */
    const char        *from;
    const char *const *tables;
    size_t             table_count;
    const char        *column, *value;
    uint32_t           version;
} hdx_sql_replace;
HDX_API hdx_code hdx_sql_file_replace(const hdx_sql_replace *replace, const hdx_progress *progress, hdx_error *err);

/* Has the table a row with that text in the column? Waits for writers as they do; *has false where there is no file. */
HDX_API hdx_code hdx_sql_file_has(const char *path, const char *table, const char *column, const char *value,
                                  const hdx_progress *progress, bool *has, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
