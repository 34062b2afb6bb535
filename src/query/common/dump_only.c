/* dump_only.c - finds the pictures that `am dumpheap -b` adds to the heap (dump_only.h). */
#include "query/common/dump_only.h"

#include "graph/graph.h"
#include <stdio.h>

#define ABOVE_MOST 10000u /* dominators above such an object */

hdx_dump_only hdx_dump_only_of(hdx_graph *g)
{
    hdx_dump_only    found = { .object = HDX_NO_ID, .top = HDX_NO_ID };
    const hdx_class *c = hdx_graph_class_named(g, "android.graphics.Bitmap$DumpData");
    hdx_refs         refs;
    if (c == NULL)
        return found;
    hdx_graph_instances(g, c->number, HDX_LIVE, &refs);
    if (!hdx_refs_next(&refs, &found.object)) {
        found.object = HDX_NO_ID;
        return found;
    }
    found.bytes = hdx_graph_retained(g, found.object);
    hdx_id above = found.top = found.object;
    for (unsigned i = 0; i < ABOVE_MOST && (above = hdx_graph_dominator(g, above)) < HDX_VIRTUAL_ROOT; i++)
        found.top = above;
    return found;
}

void hdx_dump_only_report(const hdx_query *q)
{
    const hdx_dump_only only = hdx_dump_only_of(q->graph);
    char                line[200], size[16];
    if (only.object == HDX_NO_ID || q->notice == NULL)
        return;
    hdx_human_size(only.bytes, size);
    (void)snprintf(
        line, sizeof line,
        "%s of pictures in android.graphics.Bitmap.dumpData exist only in this dump: am dumpheap -b created them",
        size);
    q->notice(q->notice_context, line);
}
