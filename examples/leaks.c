/*
 * leaks.c - why instances of a class are alive: one line for each leak.
 *
 *     $ leaks bookshop.hprof.gz 'bookshop.*Cache'
 *     application a1e6a0180601059fcd2067a5e0c799e662e0231a Bookshop.SESSIONS
 */
#include <heapdex/index.h>
#include <heapdex/leaks.h>

#include <inttypes.h>
#include <stdio.h>

static int complain(const hdx_error *err)
{
    fprintf(stderr, "%s: %s\n", err->where, err->message);
    return 1;
}

int main(int argc, char **argv)
{
    const hdx_index_options index = { .dump = argc > 1 ? argv[1] : "app.hprof" };
    const char *const       names[] = { argc > 2 ? argv[2] : "*" };
    static hdx_index_report report;
    hdx_graph              *graph;
    hdx_error               err;
    if (hdx_index_build(&index, &report, &err) != HDX_OK ||
        hdx_graph_open(report.path, index.dump, &graph, &err) != HDX_OK)
        return complain(&err);

    // leaks.h
    const hdx_leaks_options options = { .finder = HDX_LEAKS_CLASSES, .classes = names, .class_count = 1 };
    hdx_leaks              *leaks;
    if (hdx_leaks_search(graph, &options, &leaks, &err) != HDX_OK)
        return complain(&err);
    for (uint64_t i = 0; i < leaks->leak_count; i++) {
        const hdx_leak *leak = &leaks->leaks[i];
        printf("%s %s %s\n", hdx_leak_kind_name(leak->kind), leak->signature, leak->suspects);
    }
    hdx_leaks_free(leaks);
    // end
    hdx_graph_close(graph);
    return 0;
}
