/*
 * sql.c - statements of SQL on a heap.
 *
 *     $ sql bookshop.hprof.gz
 *     class,n
 *     byte[],4669
 *     java.lang.String,3649
 *     java.lang.Object[],2612
 *     java.util.HashMap$Node,1865
 *     java.util.ArrayList,1379
 */
#include <heapdex/heapdex.h>
#include <stdio.h>

static bool put(void *to, const char *bytes, size_t len) { return fwrite(bytes, 1, len, to) == len; }

int main(int argc, char **argv)
{
    const hdx_index_options  options = { .dump = argc > 1 ? argv[1] : "" };
    const hdx_render_options csv = { .format = HDX_FORMAT_CSV };
    const hdx_sink           sink = { put, stdout };
    hdx_session             *session = NULL;
    hdx_error                err = { 0 };
    if (hdx_session_open(&options, &session, &err) != HDX_OK)
        return 1;
    // sql.h
    const char *next = "SELECT class, count(*) AS n FROM objects GROUP BY class ORDER BY n DESC LIMIT 5";
    hdx_sql    *sql;
    hdx_rows   *rows;
    hdx_code    code = hdx_sql_open(session, NULL, &sql, &err);
    while (code == HDX_OK && *next != '\0') {
        if ((code = hdx_sql_run(sql, next, &next, &rows, &err)) == HDX_OK && rows != NULL)
            code = hdx_render(rows, &csv, &sink, &err);
        hdx_rows_close(rows);
    }
    hdx_sql_close(sql);
    // end
    hdx_session_close(session);
    if (code != HDX_OK)
        fprintf(stderr, "%s\n", err.message);
    return code == HDX_OK ? 0 : 1;
}
