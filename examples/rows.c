/*
 * rows.c - the cells of an answer, one by one.
 *
 *     $ rows bookshop.hprof.gz
 *     java.util.HashMap$Node 1865
 *     java.util.ArrayList 1379
 *     java.util.concurrent.ConcurrentHashMap$Node 1157
 *     java.util.HashMap 261
 *     java.util.HashMap$Node[] 259
 *     java.util.ImmutableCollections$Set12 247
 *     java.util.HashSet 196
 *     java.util.ImmutableCollections$SetN 139
 */
#include <heapdex/answer.h>

#include <inttypes.h>
#include <stdio.h>

static int complain(const hdx_error *err)
{
    fprintf(stderr, "%s: %s\n", err->where, err->message);
    return 1;
}

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "app.hprof" };
    const hdx_argument      arguments[] = { { "class", "java.util.*" } };
    hdx_session            *session;
    hdx_error               err;
    if (hdx_session_open(&options, &session, &err) != HDX_OK)
        return complain(&err);

    // rows.h
    hdx_rows       *rows;
    const hdx_cell *cells;
    if (hdx_answer_run(session, "histogram", arguments, 1, &rows, &err) != HDX_OK ||
        hdx_rows_where(&rows, "objects > 100", &err) != HDX_OK || // takes rows over, also where it fails
        hdx_rows_sort(&rows, "objects", true, &err) != HDX_OK ||
        hdx_rows_select(&rows, "class,objects", &err) != HDX_OK)
        return complain(&err);
    while (hdx_rows_next(rows, &cells)) // as many cells as hdx_rows_columns says
        printf("%.*s %" PRIu64 "\n", (int)cells[0].as.text.len, cells[0].as.text.at, cells[1].as.natural);
    hdx_code code = hdx_rows_end(rows, &err); // was it the end, or a failure?
    hdx_rows_close(rows);
    // end
    hdx_session_close(session);
    return code == HDX_OK ? 0 : complain(&err);
}
