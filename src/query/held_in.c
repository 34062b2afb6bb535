/*
 * held_in.c - the field that holds an object, in words: "com.acme.Cache#entries".
 *
 * Goes from the object towards its GC root on the shortest path, out of arrays, collections, references, streams and
 * buffers (java.util, java.lang.ref, java.io, java.nio), to the first object that is none, and names the field of that.
 * Where a reference leads to the object that keeps nothing alive, as the entry of a map of thread locals does to its
 * key, another referrer is taken.
 */
#include "query/query.h"

#include <stdio.h>

#define CLIMB     1000u /* from the object to who holds it */
#define REFERRERS 4096u /* that are looked at in place of a weak one */

static bool begins(hdx_text name, const char *with)
{
    const size_t len = strlen(with);
    return name.len > len && memcmp(name.at, with, len) == 0;
}

static bool is_inner(hdx_graph *g, hdx_id id)
{
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    return c != NULL && hdx_graph_kind(g, id) != HDX_CLASS_OBJECT &&
           (c->kind != HDX_INSTANCE || begins(c->name, "java.util.") || begins(c->name, "java.lang.ref.") ||
            begins(c->name, "java.io.") || begins(c->name, "java.nio."));
}

static bool is_reference(hdx_graph *g, const hdx_class *top, hdx_id id)
{
    return top != NULL && hdx_class_extends(g, hdx_graph_class_of(g, id), top->number);
}

static hdx_id referrer(hdx_graph *g, const hdx_class *top, hdx_id id)
{
    hdx_refs     refs;
    hdx_id       from, near = hdx_graph_nearest(g, id);
    const hdx_id first = near == id ? HDX_NO_ID : near;
    if (first == HDX_NO_ID || !is_reference(g, top, first))
        return first;
    hdx_graph_inbound(g, id, HDX_LIVE, &refs);
    for (unsigned i = 0; i < REFERRERS && hdx_refs_next(&refs, &from); i++)
        if (from != id && !is_reference(g, top, from))
            return from;
    return first;
}

typedef struct naming {
    hdx_graph *g;
    char       text[400];
    size_t     len;
} naming;

static bool take_name(void *context, const hdx_named_ref *ref)
{
    naming          *n = context;
    const hdx_class *owner = hdx_graph_class(n->g, ref->owner);
    if ((ref->kind != HDX_REF_FIELD && ref->kind != HDX_REF_STATIC) || owner == NULL)
        return true;
    const int len = snprintf(n->text, sizeof n->text, "%.*s#%s", (int)(owner->name.len < 180 ? owner->name.len : 180),
                             owner->name.at, ref->name);
    n->len = len < 0 ? 0 : (size_t)len < sizeof n->text ? (size_t)len : sizeof n->text - 1;
    return false;
}

hdx_code hdx_held_in_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_graph       *g = q->graph;
    const hdx_class *top = hdx_graph_class_named(g, "java.lang.ref.Reference");
    naming           n = { .g = g };
    hdx_id           held = id, holder = id == HDX_NO_ID ? HDX_NO_ID : referrer(g, top, id);
    hdx_error        mine;
    *out = hdx_cell_null();
    for (unsigned i = 0; i < CLIMB && holder != HDX_NO_ID && is_inner(g, holder); i++) {
        held = holder;
        holder = referrer(g, top, held);
    }
    if (holder == HDX_NO_ID)
        return HDX_OK;
    const hdx_code code =
        hdx_label_without_dump(g, hdx_graph_named_refs(g, holder, held, take_name, &n, &mine), &mine, err);
    if (code == HDX_OK && n.len > 0)
        *out = hdx_text_cell(arena, (hdx_text){ n.text, (uint32_t)n.len });
    else if (code == HDX_OK)
        *out = hdx_class_of_cell(g, holder);
    return code;
}
