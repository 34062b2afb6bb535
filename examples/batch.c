/*
 * batch.c - the indexes and answers of a folder of dumps.
 *
 *     $ batch .
 *     dump,state,objects,error
 *     ./bookshop.hprof.gz,done,24100,
 */
#include <heapdex/batch.h>
#include <heapdex/render.h>

#include <stdio.h>

static bool put(void *to, const char *bytes, size_t len) { return fwrite(bytes, 1, len, to) == len; }

int main(int argc, char **argv)
{
    const char              *folder = argc > 1 ? argv[1] : "dumps";
    const hdx_render_options csv = { .format = HDX_FORMAT_CSV };
    const hdx_sink           sink = { put, stdout };
    hdx_error                err;

    // batch.h
    const char *const       inputs[] = { folder };
    const hdx_batch_options options = { .inputs = inputs, .input_count = 1, .out = "answers", .ask = "leaks" };
    hdx_batch_counts        counts;
    hdx_rows               *rows = NULL;
    hdx_code                code = hdx_batch_run(&options, &counts, &rows, &err);
    if (code == HDX_OK) // whatever became of single dumps: counts.failed
        code = hdx_rows_select(&rows, "dump,state,objects,error", &err);
    if (code == HDX_OK)
        code = hdx_render(rows, &csv, &sink, &err);
    hdx_rows_close(rows);
    // end
    if (code != HDX_OK)
        fprintf(stderr, "%s: %s\n", err.where, err.message);
    return code != HDX_OK || counts.failed > 0;
}
