/*
 * graph.c - who keeps an object alive: its dominators, and what each of them retains.
 *
 *     $ graph bookshop.hprof.gz 0xfecd0878
 *     0xfecd0878 retains 1965168
 *     0xfeb18f28 retains 1965216
 *     0xfeb18ea8 retains 1965232
 */
#include <heapdex/graph.h>
#include <heapdex/index.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int complain(const hdx_error *err)
{
    fprintf(stderr, "%s: %s\n", err->where, err->message);
    return 1;
}

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "app.hprof" };
    const hdx_addr          address = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
    static hdx_index_report report;
    hdx_error               err;
    if (hdx_index_build(&options, &report, &err) != HDX_OK)
        return complain(&err);

    // graph.h
    hdx_graph *g;
    hdx_id     id, d;
    if (hdx_graph_open(report.path, options.dump, &g, &err) != HDX_OK)
        return complain(&err);
    if (hdx_graph_find(g, address, &id))
        for (d = id; d != HDX_VIRTUAL_ROOT && d != HDX_NO_ID; d = hdx_graph_dominator(g, d))
            printf("0x%" PRIx64 " retains %" PRIu64 "\n", hdx_graph_address(g, d), hdx_graph_retained(g, d));
    hdx_code code = hdx_graph_check(g, &err); // were all pages sound that were touched?
    hdx_graph_close(g);
    // end
    return code == HDX_OK ? 0 : complain(&err);
}
