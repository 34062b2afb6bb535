/*
 * counts.c - the largest classes of a dump in one pass over it, without an index.
 *
 *     $ counts bookshop.hprof.gz
 *     4731 byte[]
 *     3711 java.lang.String
 *     2612 java.lang.Object[]
 *     1865 java.util.HashMap$Node
 *     1379 java.util.ArrayList
 */
#include <heapdex/counts.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *dump = argc > 1 ? argv[1] : "app.hprof";
    hdx_error   err;

    // counts.h
    const hdx_index_options options = { .dump = dump };
    const hdx_class        *classes;
    hdx_counts             *counts;
    uint32_t                n;
    if (hdx_counts_take(&options, &counts, &err) != HDX_OK) { // one pass, nothing is written
        fprintf(stderr, "%s: %s\n", err.where, err.message);
        return 1;
    }
    classes = hdx_counts_classes(counts, &n); // by falling number of instances
    for (uint32_t i = 0; i < n && i < 5; i++)
        printf("%" PRIu64 " %.*s\n", classes[i].instances, (int)classes[i].name.len, classes[i].name.at);
    hdx_counts_free(counts);
    // end
    return 0;
}
