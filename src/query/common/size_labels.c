/*
 * size_labels.c - shows "(size 17)" in place of a label for collections, which have no label of their own.
 *
 * Only for rows that are displayed: reads the record of each collection and, for some, of the object that holds the
 * size. Shows nothing if the layout is unknown or the size needs more than FEW steps. Layouts are bound to the classes
 * once for all rows of an answer.
 */
#include "query/common/contents.h"
#include "query/common/labels.h"
#include "query/query.h"

#include <inttypes.h>
#include <stdio.h>

#define FEW 64u

struct hdx_sizes {
    hdx_ask           ask;
    hdx_layouts       layouts;
    hdx_bound_layouts bound;
    hdx_contents      contents;
};

hdx_code hdx_sizes_open(const hdx_query *q, hdx_sizes **out, hdx_error *err)
{
    hdx_sizes *s = *out = hdx_mem_get(q->mem, sizeof *s);
    if (s == NULL)
        return hdx_no_memory(err, "sizes of collections", sizeof *s);
    s->ask.q.mem = s->layouts.mem = q->mem;
    hdx_code code = hdx_ask_begin(q, &s->ask, err);
    if (code != HDX_OK || (code = hdx_layouts_open(&s->layouts, NULL, NULL, q->mem, err)) != HDX_OK ||
        (code = hdx_layouts_bind(&s->layouts, &s->ask, &s->bound, err)) != HDX_OK)
        return code;
    return hdx_contents_open(&s->contents, s->ask.g, &s->bound, q->mem, err);
}

void hdx_sizes_close(hdx_sizes *s)
{
    if (s == NULL)
        return;
    hdx_contents_close(&s->contents);
    hdx_layouts_unbind(&s->bound);
    hdx_layouts_free(&s->layouts);
    hdx_mem_put(s->ask.q.mem, s, sizeof *s);
}

hdx_code hdx_sizes_cell(hdx_sizes *s, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_collection_facts facts;
    char                 text[40];
    if (hdx_graph_kind(s->ask.g, id) != HDX_INSTANCE || hdx_contents_layout(&s->contents, id) == NULL)
        return HDX_OK;
    const hdx_code code = hdx_contents_facts(&s->contents, id, false, FEW, &facts, err);
    if (code != HDX_OK || !facts.sized)
        return code;
    (void)snprintf(text, sizeof text, "(size %" PRIu64 ")", facts.size);
    *out = hdx_cell_copy(arena, text);
    return HDX_OK;
}
