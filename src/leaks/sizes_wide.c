/*
 * sizes_wide.c - the size of one object; and exact retained sizes from the dominators of all objects, for heaps where
 * flood_wide.c gave up (SHARK 4.4 to 4.7).
 *
 * In:  the store; all roots under one super root.
 * Out: retained bytes and objects.
 * Knows how Shark weighs one object. dominate_wide.c computes dominators, algo sums.
 * Cost: the references of every object in packed lists, in addition to the slots until all lists are made; these
 *       transposed, and the memory of algo's searches.
 */
#include "leaks/wide.h"

#include <stdlib.h>

/* ---- one object (SHARK 1.8, 4.5) ---- */

static uint64_t primitive_array(const store *st, hdx_id id, uint32_t c)
{
    const uint8_t type = c != NO_NUMBER ? st->h->classes[c].element_type : 0;
    return hdx_graph_stored_length(st->h->g, id) * hdx_type_size(type, 0);
}

static uint64_t plain_size(const store *st, hdx_id id, const object *o)
{
    switch (o->kind) {
    case HDX_CLASS_OBJECT: return o->number != NO_NUMBER ? st->class_size[o->number] : 0;
    case HDX_INSTANCE: return st->h->classes[o->number].stated_size;
    case HDX_OBJECT_ARRAY: return o->count * st->h->id_size;
    case HDX_PRIMITIVE_ARRAY: break;
    }
    return primitive_array(st, id, o->number);
}

static uint64_t size_at(const store *st, NID id)
{
    const object o = look(st, id);
    return plain_size(st, id, &o);
}

/* A String includes its characters, an array of wrappers its elements, each as heavy as the first. */
uint64_t WIDE(hdx_leak_weight)(const store *st, hdx_id id)
{
    const object o = look(st, id);
    uint64_t     size = plain_size(st, id, &o), elements = 0;
    if (o.is_class || o.number == NO_NUMBER)
        return size;
    const leak_plan *p = &st->plans->at[o.number];
    NID              first = NONE;
    if (p->string)
        for (uint32_t i = 0; i < p->count && i < o.count; i++)
            if (p->slots[i].known == LK_STRING_VALUE && slot(st, &o, i) != NONE)
                size += size_at(st, slot(st, &o, i));
    if (p->wrappers) {
        for (uint64_t i = 0; i < o.count; i++) {
            const NID to = slot(st, &o, i);
            first = first == NONE ? to : first;
            elements += to != NONE;
        }
        if (first != NONE)
            size += elements * size_at(st, first);
    }
    return size;
}

/* ---- the graph of followed references ---- */

typedef struct yields {
    search    *k;
    hdx_packed lists;
    NID       *to; /* targets of a piece's objects, one after the other */
    uint64_t   count, capacity;
    uint32_t  *lengths;
} yields;

static int rising(const void *a, const void *b)
{
    const NID x = *(const NID *)a, y = *(const NID *)b;
    return x < y ? -1 : x > y;
}

static bool target_add(yields *y, NID to)
{
    if (y->count == y->capacity && !hdx_mem_room(y->k->s->mem, (void **)&y->to, &y->capacity, y->count, sizeof *y->to))
        return false;
    y->to[y->count++] = to;
    return true;
}

/* Appends the references of an object in ascending order. */
static bool yield(yields *y, NID id, uint32_t *length)
{
    search        *k = y->k;
    const object   o = look(k->st, id);
    const uint64_t from = y->count;
    bool           good = true;
    if (walks_elements(k, &o)) {
        for (uint64_t i = 0; good && i < o.count; i++)
            good = slot(k->st, &o, i) == NONE || target_add(y, slot(k->st, &o, i));
    } else {
        WIDE(hdx_leak_expand_object)(k, id, &o);
        for (uint64_t i = 0; good && i < k->edge_count; i++)
            good = target_add(y, k->edges[i].to);
    }
    if (good && y->count - from > 1)
        qsort(y->to + from, (size_t)(y->count - from), sizeof *y->to, rising);
    *length = (uint32_t)(y->count - from);
    return good && y->count - from < UINT32_MAX && !k->out_of_memory;
}

static hdx_code pack_piece(yields *y, uint64_t piece, hdx_error *err)
{
    const uint64_t first = piece << HDX_PACKED_PIECE_BITS, n = hdx_packed_piece_nodes(&y->lists, piece);
    const NID     *at;
    hdx_code       code;
    y->count = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (i % ENOUGH == 0 && hdx_tick(y->k->s->tick, 0))
            return hdx_tick_stop(err);
        if (!yield(y, (NID)(first + i), &y->lengths[i]))
            return y->k->out_of_memory ? WIDE(hdx_leak_ended)(y->k, err)
                                       : hdx_no_memory(err, "what objects yield", y->count * sizeof *y->to);
    }
    if ((code = hdx_packed_lay(&y->lists, piece, y->lengths, y->k->s->mem, err)) != HDX_OK)
        return code;
    at = y->to;
    for (uint64_t i = 0; i < n; i++) {
        uint8_t *to = hdx_packed_begin(&y->lists, first + i, 0);
        for (uint32_t e = 0; e < y->lengths[i]; e++)
            to = hdx_packed_put(to, *at++, y->lists.width);
    }
    y->lists.edges += y->count;
    return HDX_OK;
}

static hdx_code pack(yields *y, hdx_error *err)
{
    hdx_mem       *mem = y->k->s->mem;
    const uint64_t n = y->k->st->objects, most = n < HDX_PACKED_PIECE ? n : HDX_PACKED_PIECE;
    hdx_code       code = hdx_packed_new(&y->lists, n, mem, err);
    if (code == HDX_OK && (y->lengths = hdx_mem_raw(mem, most, sizeof *y->lengths)) == NULL)
        code = hdx_no_memory(err, "what objects yield", most * sizeof *y->lengths);
    for (uint64_t piece = 0; code == HDX_OK && piece < y->lists.piece_count; piece++)
        code = pack_piece(y, piece, err);
    hdx_mem_put(mem, y->to, y->capacity * sizeof *y->to);
    hdx_mem_put(mem, y->lengths, most * sizeof *y->lengths);
    return code;
}

/* ---- sums ---- */

/* Sums `own` (NULL: 1 per object) over the dominator tree, for the objects in `wanted`. */
static hdx_code sum(const WIDE(leak_tree) *t, const uint64_t *own, hdx_map *wanted, hdx_error *err)
{
    uint64_t *retained = hdx_mem_array(t->mem, t->reached + 1, sizeof *retained);
    if (retained == NULL)
        return hdx_no_memory(err, "retained sizes", (t->reached + 1) * sizeof *retained);
    for (uint64_t i = 0; i < t->nodes; i++)
        if (t->number[i] != 0)
            retained[t->number[i]] = own != NULL ? own[i] : 1;
    const hdx_idoms idoms = { { &t->search, t->reached }, { &t->idoms, t->idom_count } };
    const hdx_code  code = WIDE(hdx_retained)(&idoms, t->mem, &(hdx_sums){ .at = retained }, err);
    for (uint64_t i = 0; code == HDX_OK && i < wanted->capacity; i++) {
        hdx_map_slot *slot_of = &wanted->slots[i];
        if (slot_of->key != wanted->empty)
            slot_of->value = retained[t->number[slot_of->key]];
    }
    hdx_mem_put(t->mem, retained, (t->reached + 1) * sizeof *retained);
    return code;
}

/* Lists the distinct objects of the roots, in the order of the roots. */
static hdx_code distinct_roots(const search *k, NID *to, uint64_t *count, hdx_error *err)
{
    hdx_map seen = hdx_map_of(k->s->mem);
    bool    fresh, good = true;
    *count = 0;
    for (uint64_t i = 0; good && i < k->root_count; i++)
        if ((good = hdx_map_put(&seen, k->roots[i].object, &fresh) != NULL) && fresh)
            to[(*count)++] = (NID)k->roots[i].object;
    hdx_map_free(&seen);
    return good ? HDX_OK : hdx_no_memory(err, "roots", k->root_count * sizeof *to);
}

hdx_code WIDE(hdx_leak_sizes)(search *k, const hdx_map *native, hdx_error *err)
{
    leak_search    *s = k->s;
    yields          y = { .k = k };
    WIDE(leak_tree) tree = { .mem = s->mem };
    const uint64_t  n = k->st->objects;
    uint64_t        root_count = 0;
    uint64_t       *own = hdx_mem_array(s->mem, n, sizeof *own);
    NID            *roots = hdx_mem_array(s->mem, k->root_count, sizeof *roots);
    s->by_dominators = true;
    hdx_code code = own == NULL || roots == NULL ? hdx_no_memory(err, "sizes", n * sizeof *own)
                                                 : distinct_roots(k, roots, &root_count, err);
    for (uint64_t id = 0; code == HDX_OK && id < n; id++) {
        const uint64_t *more = native->count > 0 || native->has_own ? hdx_map_get(native, id) : NULL;
        own[id] = WIDE(hdx_leak_weight)(k->st, id) + (more != NULL ? *more : 0);
        if (id % ENOUGH == 0 && hdx_tick(s->tick, 0))
            code = hdx_tick_stop(err);
    }
    if (code == HDX_OK)
        code = pack(&y, err);
    if (code == HDX_OK && y.lists.edges >= NONE) {
        s->too_wide = true;
        code = hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "%llu references", (unsigned long long)y.lists.edges);
    }
    WIDE(hdx_leak_store_free)(k->st);
    const hdx_resources with = { s->mem, s->tick, s->threads == 0 ? 1 : s->threads };
    if (code == HDX_OK && (code = WIDE(hdx_leak_dominate)(&y.lists, roots, root_count, &with, &tree, err)) == HDX_OK &&
        (code = sum(&tree, own, &s->bytes, err)) == HDX_OK)
        code = sum(&tree, NULL, &s->counts, err);
    WIDE(hdx_leak_tree_free)(&tree);
    hdx_packed_free(&y.lists, s->mem);
    hdx_mem_put(s->mem, own, n * sizeof *own);
    hdx_mem_put(s->mem, roots, k->root_count * sizeof *roots);
    return code;
}
