/*
 * ahead.c - the largest instance of a class: each object is asked for before it is looked at.
 *
 *     $ ahead bookshop.hprof.gz java.util.HashMap
 *     261 instances, the largest retains 1965216
 */
#include <heapdex/graph.h>
#include <heapdex/index.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "app.hprof" };
    const char             *name = argc > 2 ? argv[2] : "java.lang.String";
    static hdx_index_report report;
    hdx_graph              *g;
    hdx_error               err;
    if (hdx_index_build(&options, &report, &err) != HDX_OK ||
        hdx_graph_open(report.path, options.dump, &g, &err) != HDX_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.message);
        return 1;
    }
    const hdx_class *c = hdx_graph_class_named(g, name);
    hdx_id          *ids = c != NULL ? malloc(c->instances * sizeof *ids) : NULL;
    size_t           n = 0;
    uint64_t         most = 0;
    hdx_refs         instances;
    if (ids != NULL) {
        hdx_graph_instances(g, c->number, HDX_ALL, &instances);
        while (n < c->instances && hdx_refs_next(&instances, &ids[n]))
            n++;
    }

    // graph.h
    for (size_t i = 0; i < n; i++) {
        hdx_graph_ahead(g, HDX_AHEAD_RETAINED, ids, n, i);
        const uint64_t retained = hdx_graph_retained(g, ids[i]);
        most = retained > most ? retained : most;
    }
    // end
    printf("%zu instances, the largest retains %" PRIu64 "\n", n, most);
    free(ids);
    hdx_graph_close(g);
    return 0;
}
