/*
 * walk.c - a program of somebody else: builds or finds the index of a dump and walks the dominator tree, three levels
 * deep, along the largest objects. Built against the installed headers and library by tests/install/test.sh.
 */
#include <heapdex/heapdex.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BROAD = 3, DEEP = 3 };

static int complain(const hdx_error *err)
{
    fprintf(stderr, "walk: %s: %s\n", err->where, err->message);
    return 1;
}

/* The BROAD largest objects dominated by `of`, falling. */
static unsigned largest(hdx_graph *g, hdx_id of, hdx_id *top)
{
    hdx_refs refs;
    hdx_id   id;
    unsigned count = 0;
    hdx_graph_dominated(g, of, &refs);
    while (hdx_refs_next(&refs, &id)) {
        unsigned at = count < BROAD ? count++ : BROAD;
        for (; at > 0 && hdx_graph_retained(g, top[at - 1]) < hdx_graph_retained(g, id); at--)
            if (at < BROAD)
                top[at] = top[at - 1];
        if (at < BROAD)
            top[at] = id;
    }
    return count;
}

int main(int argc, char **argv)
{
    hdx_index_options       options = { .dump = argc > 1 ? argv[1] : "", .index_dir = argc > 2 ? argv[2] : NULL };
    static hdx_index_report report;
    hdx_error               err;
    hdx_graph              *g;
    if (strcmp(hdx_version(), HEAPDEX_VERSION) != 0) {
        fprintf(stderr, "walk: header %s, library %s\n", HEAPDEX_VERSION, hdx_version());
        return 1;
    }
    if (hdx_index_build(&options, &report, &err) != HDX_OK ||
        hdx_graph_open(report.path, options.dump, &g, &err) != HDX_OK)
        return complain(&err);

    struct {
        hdx_id   top[BROAD];
        unsigned count, next;
    } stack[DEEP];
    unsigned depth = 0;
    stack[0].count = largest(g, HDX_VIRTUAL_ROOT, stack[0].top);
    stack[0].next = 0;
    for (;;) {
        if (stack[depth].next == stack[depth].count) {
            if (depth-- == 0)
                break;
            continue;
        }
        hdx_id           id = stack[depth].top[stack[depth].next++];
        const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
        printf("%*s%.*s@0x%" PRIx64 " %" PRIu64 "\n", 2 * (int)depth, "", c != NULL ? (int)c->name.len : 1,
               c != NULL ? c->name.at : "?", hdx_graph_address(g, id), hdx_graph_retained(g, id));
        if (depth + 1 < DEEP) {
            depth++;
            stack[depth].count = largest(g, id, stack[depth].top);
            stack[depth].next = 0;
        }
    }
    hdx_code code = hdx_graph_check(g, &err);
    hdx_graph_close(g);
    return code == HDX_OK ? 0 : complain(&err);
}
