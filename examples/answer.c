/*
 * answer.c - any answer by its name, in any format.
 *
 *     $ answer bookshop.hprof.gz
 *     package,classes,objects,shallow,retained,percent
 *     (default package),9,4826,2129088,,76.36548322396077
 *     java.lang,40,7829,274928,,9.86103419482759
 *     java.util,30,4527,152800,,5.480584098271751
 *     java.lang.invoke,52,1878,70152,,2.5161906784159678
 *     java.util.concurrent,4,1249,55584,,1.9936700688372841
 */
#include <heapdex/answer.h>
#include <heapdex/render.h>

#include <stdio.h>

static bool put(void *to, const char *bytes, size_t len) { return fwrite(bytes, 1, len, to) == len; }

int main(int argc, char **argv)
{
    const char *dump = argc > 1 ? argv[1] : "app.hprof";

    // answer.h
    const hdx_index_options  options = { .dump = dump };
    const hdx_argument       arguments[] = { { "by", "package" }, { "limit", "5" } };
    const hdx_render_options csv = { .format = HDX_FORMAT_CSV };
    const hdx_sink           sink = { put, stdout };
    hdx_session             *session = NULL;
    hdx_rows                *rows = NULL;
    hdx_error                err;
    hdx_code                 code = hdx_session_open(&options, &session, &err);
    if (code == HDX_OK) // the first answer builds the index where there is none
        code = hdx_answer_run(session, "histogram", arguments, 2, &rows, &err);
    if (code == HDX_OK)
        code = hdx_render(rows, &csv, &sink, &err);
    if (code != HDX_OK)
        fprintf(stderr, "%s: %s\n", err.where, err.message);
    hdx_rows_close(rows);
    hdx_session_close(session);
    // end
    return code != HDX_OK;
}
