/* without.c - <heapdex/sql.h> in a build without SQLite. */
#include "base/base.h"
#include <heapdex/columns.h>
#include <heapdex/sql.h>

hdx_code hdx_sql_open(hdx_session *s, const hdx_sql_options *options, hdx_sql **out, hdx_error *err)
{
    (void)s;
    (void)options;
    *out = NULL;
    return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "this heapdex was built without SQLite (CMake: HDX_SQL)");
}

void     hdx_sql_close(hdx_sql *sql) { (void)sql; }
hdx_code hdx_sql_run(hdx_sql *sql, const char *text, const char **rest, hdx_rows **rows, hdx_error *err)
{
    (void)sql;
    (void)text;
    (void)rest;
    *rows = NULL;
    return hdx_sql_open(NULL, NULL, &sql, err);
}
hdx_code hdx_sql_arrow(hdx_sql *sql, const char *text, uint64_t most, struct ArrowArrayStream *out, hdx_error *err)
{
    (void)text;
    (void)most;
    *out = (struct ArrowArrayStream){ 0 };
    return hdx_sql_open(NULL, NULL, &sql, err);
}
void hdx_sql_interrupt(hdx_sql *sql) { (void)sql; }
bool hdx_sql_complete(const char *text)
{
    (void)text;
    return true;
}

hdx_code hdx_sql_file_open(const char *path, const hdx_progress *progress, hdx_sql_file **out, hdx_error *err)
{
    hdx_sql *sql;
    (void)path;
    (void)progress;
    *out = NULL;
    return hdx_sql_open(NULL, NULL, &sql, err);
}
hdx_code hdx_sql_file_add(hdx_sql_file *f, const char *table, hdx_rows *rows, hdx_error *err)
{
    (void)table;
    (void)rows;
    return hdx_sql_file_end(f, err);
}
hdx_code hdx_sql_file_drop(hdx_sql_file *f, const char *table, hdx_error *err)
{
    (void)table;
    return hdx_sql_file_end(f, err);
}
hdx_code hdx_sql_file_replace(const hdx_sql_replace *replace, const hdx_progress *progress, hdx_error *err)
{
    (void)replace;
    (void)progress;
    return hdx_sql_file_end(NULL, err);
}
hdx_code hdx_sql_file_has(const char *path, const char *table, const char *column, const char *value,
                          const hdx_progress *progress, bool *has, hdx_error *err)
{
    (void)path;
    (void)table;
    (void)column;
    (void)value;
    (void)progress;
    *has = false;
    return hdx_sql_file_end(NULL, err);
}
hdx_code hdx_sql_file_end(hdx_sql_file *f, hdx_error *err) { return hdx_sql_file_open("", NULL, &f, err); }
void     hdx_sql_file_close(hdx_sql_file *f) { (void)f; }
