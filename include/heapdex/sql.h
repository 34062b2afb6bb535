/*
 * sql.h - the heap as SQLite tables, for queries in SQL.
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
 * doc/sql.md describes tables, functions and rules. The tables read the index; fields, texts and elements are read from
 * the dump. Only temporary tables and views can be written.
 */
#ifndef HEAPDEX_SQL_H
#define HEAPDEX_SQL_H

#include <heapdex/answer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdx_sql hdx_sql;

typedef struct hdx_sql_options {
    hdx_refs_scope scope;   /* objects in the tables; live objects by default */
    uint64_t       rows;    /* most rows of a statement, HDX_LIMIT beyond it; 0: no limit */
    uint64_t       seconds; /* longest run time of a statement, HDX_LIMIT beyond it; 0: no limit */
    /* most bytes of all SQLite connections of the process, HDX_LIMIT beyond it; 0: no limit */
    uint64_t           memory;
    const char        *view;  /* a view of the index of the first dump; NULL: none */
    const char *const *names; /* schema names of the second and later dumps of the session; NULL: none */
    size_t             name_count;
} hdx_sql_options;

/*
 * Opens a connection to the dumps of a session. The tables of the first dump are in schema `main`, those of later dumps
 * in the schemas of options->names: words (letters, digits, _) other than main and temp, at most 10. Missing indexes
 * are built. `options` may be NULL: all 0. One thread at a time may use a connection.
 * Returns HDX_USAGE if a name is not valid or if heapdex was built without SQLite, and the errors of hdx_session_graph.
 */
HDX_API hdx_code hdx_sql_open(hdx_session *s, const hdx_sql_options *options, hdx_sql **out, hdx_error *err);

/* Closes a connection. NULL is allowed. REQUIRES: its rows are closed, and the session is still open. */
HDX_API void hdx_sql_close(hdx_sql *sql);

/*
 * Runs the first statement of a text. *rest (may be NULL) is set to the text after it. *rows belongs to the caller; it
 * is NULL if the statement gives no rows (a comment, CREATE TEMP TABLE). Address and size columns of the tables keep
 * these types in the rows; of two columns with the same name the second gets the suffix ":1".
 * Returns HDX_USAGE if the SQL is wrong or not allowed: err->where is then empty, and err->offset is the byte at fault
 * in the text, if it is known.
 */
HDX_API hdx_code hdx_sql_run(hdx_sql *sql, const char *text, const char **rest, hdx_rows **rows, hdx_error *err);

/*
 * Runs the single statement of a text and returns its rows as an Arrow C stream (columns.h) of int64, double or UTF-8.
 * A column of a table has the type that the table declares (ADDRESS, SIZE, COUNT, INTEGER; REAL; TEXT, JSON). The type
 * of another column follows from its values in the first 1,024 rows, or in the first rows up to 1 MiB: whole numbers,
 * numbers, otherwise text, also if all are null. A later value of another type ends the stream with an error that names
 * the row; CAST gives a column one type.
 * `most` limits the rows of the stream; 0: no limit. A SELECT then works as if it had this LIMIT: it sorts and reads no
 * more than that needs. Types follow from these rows.
 * The stream and its batches may outlive hdx_sql_close and hdx_session_close, and another thread may read the stream;
 * only one stream of a session may be read at a time. Returns HDX_USAGE as hdx_sql_run, and if the text has no
 * statement, several, or one that gives no rows, which is not run.
 */
HDX_API hdx_code hdx_sql_arrow(hdx_sql *sql, const char *text, uint64_t most, struct ArrowArrayStream *out,
                               hdx_error *err);

/*
 * Ends the running statement with HDX_CANCELLED; the connection remains usable. Any thread and any signal handler may
 * call it.
 */
HDX_API void hdx_sql_interrupt(hdx_sql *sql);

/*
 * Returns whether a text ends with a complete statement. False: a further line is needed (an open quote, no semicolon).
 */
HDX_API bool hdx_sql_complete(const char *text);

/* ---- rows as tables of an ordinary SQLite file ---- */
typedef struct hdx_sql_file hdx_sql_file;

/*
 * Opens a file to which hdx_sql_file_add writes tables. REQUIRES: `path` is an empty file, and *progress (may be NULL)
 * outlives *out. The file is written without a journal, in one transaction: the caller syncs it, and removes it after
 * any failure. Errors have no `where`. Returns HDX_USAGE if heapdex was built without SQLite.
 */
HDX_API hdx_code hdx_sql_file_open(const char *path, const hdx_progress *progress, hdx_sql_file **out, hdx_error *err);

/*
 * Writes the remaining rows as a table. Numbers, booleans and addresses (negative from 2^63 on) are INTEGER, real
 * numbers REAL, texts TEXT (invalid UTF-8 becomes U+FFFD), and lists, objects and values of any kind are JSON in TEXT.
 * Null cells and content that was stripped from the dump are NULL. The caller closes the rows. Returns HDX_USAGE if the
 * file already has a table of this name, HDX_CANCELLED.
 */
HDX_API hdx_code hdx_sql_file_add(hdx_sql_file *f, const char *table, hdx_rows *rows, hdx_error *err);

/* Removes a table that was added, also one that was added in part. */
HDX_API hdx_code hdx_sql_file_drop(hdx_sql_file *f, const char *table, hdx_error *err);

/* Commits the transaction: the file is complete. REQUIRES: hdx_sql_file_close is still called. */
HDX_API hdx_code hdx_sql_file_end(hdx_sql_file *f, hdx_error *err);

/* Closes the file; without hdx_sql_file_end its content is incomplete. NULL is allowed. */
HDX_API void hdx_sql_file_close(hdx_sql_file *f);

/*
 * Describes a call of hdx_sql_file_replace, which copies tables from one file into another one that several writers
 * share, in one transaction. In all these tables the rows with `value` in `column` are deleted first, also if `from`
 * lacks the table. Missing tables are created with an index on the column. Writers wait for each other.
 */
typedef struct hdx_sql_replace {
    const char        *path; /* the shared file: empty, or written by earlier calls */
    const char        *from;
    const char *const *tables;
    size_t             table_count;
    const char        *column, *value;
    uint32_t           version;
} hdx_sql_replace;

/*
 * Replaces the rows. Returns HDX_USAGE if the file has another version (`PRAGMA user_version`) or is not an SQLite
 * file, HDX_BUSY if another writer still holds it after ten minutes, HDX_CANCELLED.
 */
HDX_API hdx_code hdx_sql_file_replace(const hdx_sql_replace *replace, const hdx_progress *progress, hdx_error *err);

/*
 * Returns in *has whether a table has a row with this text in the column; false if the file is missing. Waits for
 * writers as hdx_sql_file_replace does.
 */
HDX_API hdx_code hdx_sql_file_has(const char *path, const char *table, const char *column, const char *value,
                                  const hdx_progress *progress, bool *has, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
