/*
 * render.c - rows as text.
 *
 *     $ render bookshop.hprof.gz
 *     shallow  retained      %  children  object                                  address
 *        16 B    1.9 MB  70.5%         1  bookshop.Bookshop$SessionCache          0xfeb18ea8
 *        64 B   33.1 KB   1.2%         1  java.util.concurrent.ConcurrentHashMap  0xfeaf2240
 *        32 B   26.6 KB   1.0%         3  bookshop.Bookshop                       0xfeb19aa8
 *     … 5,682 more rows (those shown: 72.7%)
 */
#include <heapdex/answer.h>
#include <heapdex/render.h>

#include <stdio.h>

// render.h
static bool put(void *to, const char *bytes, size_t len) { return fwrite(bytes, 1, len, to) == len; }

static hdx_code show(hdx_rows *rows, hdx_error *err)
{
    const hdx_render_options table = { .format = HDX_FORMAT_TABLE, .human_sizes = true };
    const hdx_sink           sink = { put, stdout };
    return hdx_render(rows, &table, &sink, err);
}
// end

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "app.hprof" };
    const hdx_argument      arguments[] = { { "limit", "3" } };
    hdx_session            *session = NULL;
    hdx_rows               *rows = NULL;
    hdx_error               err;
    hdx_code                code = hdx_session_open(&options, &session, &err);
    if (code == HDX_OK)
        code = hdx_answer_run(session, "dominators", arguments, 1, &rows, &err);
    if (code == HDX_OK)
        code = show(rows, &err);
    hdx_rows_close(rows);
    hdx_session_close(session);
    if (code != HDX_OK)
        fprintf(stderr, "%s: %s\n", err.where, err.message);
    return code != HDX_OK;
}
