/*
 * sizes_wide.c - exact retained sizes of the objects on paths (4.4 to 4.7).
 *
 * In:  what every reached object yielded, in the order of the search; all roots under one super root.
 * Out: retained bytes and objects.
 * Knows what one object weighs for Shark. Dominators are dominate_wide.c's, sums algo's; the nodes here are places in the order of the search, which keeps neighbours
 * of the graph neighbours in memory.
 * Cost: the reference lists once more turned round, and what algo says of its searches; the lists of slots are given back before.
 */
#include "leaks/wide.h"

/* ---- one object (1.8, 4.5) ---- */

static uint64_t primitive_array(const store *st, hdx_id id)
{
    static const uint8_t widths[12] = { [4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8 };
    const uint32_t       c = number_of(st, id);
    const uint8_t        type = c < st->h->class_count ? st->h->classes[c].element_type : 0;
    return hdx_graph_length(st->h->g, id) * (type < 12 ? widths[type] : 0);
}

static uint64_t plain_size(const store *st, hdx_id id)
{
    const uint32_t c = number_of(st, id);
    switch (kind_of(st, id)) {
    case HDX_CLASS_OBJECT:
        return st->class_size[c];
    case HDX_INSTANCE:
        return st->h->classes[c].stated_size;
    case HDX_OBJECT_ARRAY:
        return (st->at[id + 1] - st->at[id]) * st->h->id_size;
    case HDX_PRIMITIVE_ARRAY:
        break;
    }
    return primitive_array(st, id);
}

/* A String has its characters, an array of wrappers its elements, each as heavy as the first. */
static uint64_t size_of(const store *st, hdx_id id)
{
    uint64_t       size = plain_size(st, id), elements = 0;
    const uint32_t c = number_of(st, id);
    if (is_class(st, id) || c >= st->h->class_count)
        return size;
    const leak_plan *p = &st->plans->at[c];
    const NID       *slots = st->slots + st->at[id];
    const uint64_t   count = st->at[id + 1] - st->at[id];
    NID              first = NONE;
    if (p->string)
        for (uint32_t i = 0; i < p->count && i < count; i++)
            if (p->slots[i].known == LK_STRING_VALUE && slots[i] != NONE)
                size += plain_size(st, slots[i]);
    if (p->wrappers) {
        for (uint64_t i = 0; i < count; i++)
            if (slots[i] != NONE) {
                first = first == NONE ? slots[i] : first;
                elements++;
            }
        if (first != NONE)
            size += elements * plain_size(st, first);
    }
    return size;
}

/* ---- the graph ---- */

typedef struct sizing {
    NID                *to_number; /* id -> place in the order; NONE: not reached */
    NID                *starts;
    uint64_t           *own;       /* by node: bytes */
    WIDE(leak_tree)     tree;
} sizing;

static hdx_code build_graph(const store *st, reached *r, const hdx_map *native, sizing *z, hdx_error *err)
{
    const uint64_t n = r->count;
    z->to_number = hdx_mem_array(NULL, st->objects, sizeof(NID));
    z->starts = hdx_mem_array(NULL, n + 1, sizeof(NID));
    z->own = hdx_mem_array(NULL, n, sizeof *z->own);
    if (z->to_number == NULL || z->starts == NULL || z->own == NULL)
        return hdx_no_memory(err, "the graph of reached objects", n * (sizeof(NID) + sizeof *z->own));
    memset(z->to_number, 0xff, (size_t)(st->objects * sizeof(NID)));
    for (uint64_t i = 0; i < n; i++) {
        const hdx_id    id = r->order[i];
        const uint64_t *more = native->count > 0 || native->has_own ? hdx_map_get(native, id) : NULL;
        z->to_number[id] = (NID)i;
        z->starts[i + 1] = (NID)r->edge_end[i];
        z->own[i] = size_of(st, id) + (more != NULL ? *more : 0);
    }
    /* Promoted objects stand in the first queue only; what waited in the last is counted where it was taken from. So every edge has a node. */
    for (uint64_t e = 0; e < r->edge_count; e++) {
        if (e + 16 < r->edge_count)
            __builtin_prefetch(&z->to_number[r->edges[e + 16]]);
        r->edges[e] = z->to_number[r->edges[e]];
    }
    for (uint64_t i = 0; i < r->root_count; i++)
        r->roots[i] = z->to_number[r->roots[i]];
    return HDX_OK;
}

/* Sums of `own` (NULL: of objects) over the dominator tree, for those that were asked for. */
static hdx_code sum(const sizing *z, const uint64_t *own, hdx_map *wanted, hdx_error *err)
{
    const WIDE(leak_tree) *t = &z->tree;
    uint64_t              *retained = hdx_mem_array(NULL, t->reached + 1, sizeof *retained);
    if (retained == NULL)
        return hdx_no_memory(err, "retained sizes", (t->reached + 1) * sizeof *retained);
    for (uint64_t i = 0; i < t->nodes; i++)
        if (t->number[i] != 0)
            retained[t->number[i]] = own != NULL ? own[i] : 1;
    hdx_code code = WIDE(hdx_retained)(&t->search, t->reached, &t->idoms, t->idom_count, NULL, retained, false, err);
    if (code != HDX_OK) {
        hdx_mem_put(NULL, retained, (t->reached + 1) * sizeof *retained);
        return code;
    }
    for (uint64_t i = 0; i < wanted->capacity; i++) {
        hdx_map_slot *slot = &wanted->slots[i];
        if (slot->key != wanted->empty && z->to_number[slot->key] != NONE)
            slot->value = retained[t->number[z->to_number[slot->key]]];
    }
    hdx_mem_put(NULL, retained, (t->reached + 1) * sizeof *retained);
    return HDX_OK;
}

hdx_code WIDE(leak_sizes)(store *st, reached *r, const hdx_map *native, leak_search *s, hdx_error *err)
{
    const uint64_t n = r->count, objects = st->objects;
    sizing         z = { .starts = NULL };
    hdx_code       code;
    if (r->edge_count >= NONE || n >= NONE - 1) {
        s->too_wide = true;
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "%llu references", (unsigned long long)r->edge_count);
    }
    if ((code = build_graph(st, r, native, &z, err)) == HDX_OK) {
        WIDE(leak_store_free)(st);
        if ((code = WIDE(leak_dominate)(n, z.starts, r->edges, r->roots, r->root_count, s->threads, s->tick, &z.tree, err)) == HDX_OK &&
            (code = sum(&z, z.own, &s->bytes, err)) == HDX_OK)
            code = sum(&z, NULL, &s->counts, err);
    }
    WIDE(leak_tree_free)(&z.tree);
    hdx_mem_put(NULL, z.to_number, objects * sizeof(NID));
    hdx_mem_put(NULL, z.starts, (n + 1) * sizeof(NID));
    hdx_mem_put(NULL, z.own, n * sizeof *z.own);
    return code;
}
