/*
 * arrow.c - an answer as Arrow batches.
 *
 *     $ arrow bookshop.hprof.gz
 *     262 rows, 4669 objects of the first class
 */
#include <heapdex/answer.h>
#include <heapdex/columns.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "app.hprof" };
    hdx_session            *session = NULL;
    hdx_error               err;
    int                     failed = 0;
    if (hdx_session_open(&options, &session, &err) != HDX_OK)
        return 1;

    // columns.h
    const hdx_argument      columns = { "columns", "class,objects,shallow" };
    struct ArrowArrayStream stream;
    struct ArrowArray       batch;
    hdx_code                code = hdx_answer_arrow(session, "histogram", &columns, 1, &stream, &err);
    if (code != HDX_OK)
        return fprintf(stderr, "%s\n", err.message);
    while ((failed = stream.get_next(&stream, &batch)) == 0 && batch.release != NULL) {
        const int64_t *objects = batch.children[1]->buffers[1];
        printf("%" PRId64 " rows, %" PRId64 " objects of the first class\n", batch.length, objects[0]);
        batch.release(&batch);
    }
    if (failed != 0)
        fprintf(stderr, "%s\n", stream.get_last_error(&stream));
    stream.release(&stream);
    // end

    hdx_session_close(session);
    return failed;
}
