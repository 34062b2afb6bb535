/*
 * oql.c - a query of Eclipse MAT in SQL.
 *
 *     $ oql bookshop.hprof.gz 'SELECT m.size FROM java.util.HashMap m WHERE m.size > 100'
 *     SELECT m.size FROM "java.util.HashMap" m WHERE m.size>100
 */
#include <heapdex/index.h>
#include <heapdex/oql.h>

#include <stdio.h>

static int complain(const hdx_error *err)
{
    fprintf(stderr, "%s: %s\n", err->where, err->message);
    if (err->hint[0] != '\0')
        fprintf(stderr, "hint: %s\n", err->hint);
    return 1;
}

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "app.hprof" };
    const char             *query = argc > 2 ? argv[2] : "SELECT * FROM java.lang.String";
    static hdx_index_report report;
    hdx_graph              *g;
    hdx_error               err;
    if (hdx_index_build(&options, &report, &err) != HDX_OK ||
        hdx_graph_open(report.path, options.dump, &g, &err) != HDX_OK)
        return complain(&err);

    // oql.h
    char *sql;
    if (hdx_oql_translate(g, query, &sql, &err) != HDX_OK)
        return complain(&err);
    printf("%s\n", sql);
    hdx_text_free(sql);
    // end
    hdx_graph_close(g);
    return 0;
}
