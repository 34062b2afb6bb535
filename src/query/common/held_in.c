/*
 * held_in.c - the field that refers to an object, as text: "com.acme.Cache#entries".
 *
 * Follows the shortest path from the object towards its GC root, through arrays, collections, references, streams and
 * buffers (java.util, java.lang.ref, java.io, java.nio), to the first other object, and names the field of that object.
 * A java.lang.ref.Reference does not keep its referent alive (the key of a ThreadLocal map entry, for example); another
 * referrer is used instead.
 */
#include "query/common/labels.h"
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>

#define CLIMB     1000u  /* references from the object to its holder */
#define MANY      16384u /* rows that are computed at once */
#define REFERRERS 4096u  /* that are examined on the path, to replace weak ones */

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

static hdx_id strong_referrer(hdx_graph *g, const hdx_class *top, hdx_id id, unsigned *left)
{
    hdx_refs     refs;
    hdx_id       from, near = hdx_graph_nearest(g, id);
    const hdx_id first = near == id ? HDX_NO_ID : near;
    if (first == HDX_NO_ID || !is_reference(g, top, first))
        return first;
    hdx_graph_inbound(g, id, HDX_LIVE, &refs);
    for (; *left > 0 && hdx_refs_next(&refs, &from); --*left)
        if (from != id && !is_reference(g, top, from))
            return from;
    return first;
}

typedef struct naming {
    hdx_graph *g;
    char       text[400];
    size_t     len;
} naming;

static bool write_field_name(void *context, const hdx_named_ref *ref)
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
    unsigned         left = REFERRERS;
    hdx_id           held = id, holder = id == HDX_NO_ID ? HDX_NO_ID : strong_referrer(g, top, id, &left);
    hdx_error        mine;
    *out = hdx_cell_null();
    for (unsigned i = 0; i < CLIMB && holder != HDX_NO_ID && is_inner(g, holder); i++) {
        held = holder;
        holder = strong_referrer(g, top, held, &left);
    }
    if (holder == HDX_NO_ID)
        return HDX_OK;
    const hdx_code code =
        hdx_label_allow_missing_dump(g, hdx_graph_named_refs(g, holder, held, write_field_name, &n, &mine), &mine, err);
    if (code == HDX_OK && n.len > 0)
        *out = hdx_text_cell(arena, (hdx_text){ n.text, (uint32_t)n.len });
    else if (code == HDX_OK)
        *out = hdx_class_of_cell(g, holder);
    return code;
}

/* ---- of many rows ---- */

static hdx_code fill_fields(void *context, const hdx_cell *keys, uint64_t count, hdx_arena *arena, hdx_cell *cells,
                            hdx_error *err)
{
    hdx_ask *ask = context;
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < count; i++) {
        hdx_id id;
        cells[i] = hdx_cell_null();
        if (keys[i].kind == HDX_CELL_ADDRESS && hdx_graph_find(ask->g, keys[i].as.address, &id) &&
            (code = hdx_held_in_cell(&ask->q, id, arena, &cells[i], err)) == HDX_OK)
            code = hdx_ask_check_cancel(ask, err);
    }
    return code;
}

static void close_ask(void *context) { free(context); }

hdx_code hdx_query_fields(const hdx_query *q, hdx_rows **rows, hdx_error *err)
{
    static const char *const keys[] = { "reference", "key" };
    const char              *key = "address";
    hdx_ask                 *ask = malloc(sizeof *ask);
    unsigned                 count;
    const hdx_column        *columns = hdx_rows_columns(*rows, &count);
    if (ask == NULL) {
        hdx_rows_close(*rows);
        *rows = NULL;
        return hdx_no_memory(err, "fields", sizeof *ask);
    }
    for (size_t k = sizeof keys / sizeof *keys; k-- > 0;)
        for (unsigned i = 0; i < count; i++)
            if (strcmp(columns[i].name, keys[k]) == 0)
                key = keys[k];
    *ask = (hdx_ask){ .q = *q, .g = q->graph };
    const hdx_filler filler = { fill_fields, close_ask, ask, NULL };
    return hdx_rows_fill(rows, key, "field", &filler, 0, MANY, err);
}
