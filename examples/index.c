/*
 * index.c - builds the index of a dump, or finds the one that is there, and opens it.
 *
 *     $ index bookshop.hprof.gz
 *     bookshop.hprof.gz.hdx 24100 objects
 */
#include <heapdex/graph.h>
#include <heapdex/index.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *dump = argc > 1 ? argv[1] : "app.hprof";
    hdx_graph  *graph;
    hdx_error   err;

    // index.h
    const hdx_index_options options = { .dump = dump };
    static hdx_index_report report;                           // some 10 KB
    if (hdx_index_build(&options, &report, &err) != HDX_OK || // builds, or finds a valid one: report.reused
        hdx_graph_open(report.path, dump, &graph, &err) != HDX_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.message);
        return 1;
    }
    // end
    printf("%s %" PRIu64 " objects\n", report.path, hdx_graph_objects(graph));
    hdx_graph_close(graph);
    return 0;
}
