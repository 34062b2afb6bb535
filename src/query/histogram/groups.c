/*
 * groups.c - retained sizes of many sets of classes at once (MAT 6.5), in one search over the heap.
 *
 * lost(v) = the sets k whose removal makes v unreachable: every path from a GC root to v contains a member of k.
 *
 *     lost(root) = member(root)
 *     lost(v)    = member(v) + (intersection of lost(p) over all p that refer to v)
 *
 * where member(v) are the sets to which v belongs: by its class, or, for class objects and loaders, individually. Set k
 * retains every live v with k in lost(v). The search starts with the first path to each object (breadth first) and
 * visits objects again whose lost set shrank.
 *
 * Millions of objects share few different lost sets (the classes above them), so each is stored once, in a pool, and an
 * object has its number. Results of union and intersection are cached by pairs of numbers. If the different lost sets
 * of a heap fill the pool, only a range of the sets is computed at once: half of them, a quarter, ... NARROW sets have
 * at most 2^NARROW different lost sets and always fit.
 *
 * Cost: 8 bytes per object and 8 for each in the two widest adjacent levels, at most some 250 MB for pool and caches;
 *       reads each live object's outbound list some 1 to 2 times per range.
 */
#include "graph/graph.h"
#include "query/histogram/histogram.h"
#include "query/query.h"

#include <stdlib.h>

#define ITEMS_MAX (1u << 25) /* total length of all lost sets in the pool */
#define SETS_MAX  (1u << 22)
/* A longer run of the hash table counts as full, because a malicious dump could make lost sets collide. */
#define PROBES_MAX 256u
#define NARROW     16u
#define CACHE_BITS 17

#define NONE   0x7fffffffu /* not reached yet, or the pool is full */
#define QUEUED 0x80000000u /* flag next to the number in node.lost: waits to be visited */
#define EMPTY  0u

typedef struct special { /* an object that belongs to more sets than those of its class */
    hdx_id   id;
    uint32_t set;
} special;

typedef struct node {
    uint32_t lost;   /* number in the pool, or NONE; with QUEUED */
    uint32_t member; /* number in the pool */
} node;

typedef struct cached_result {
    uint64_t pair;
    uint32_t result, used;
} cached_result;

/* Lost sets: ascending set numbers, relative to the base of the range, without duplicates. */
typedef struct pool {
    hdx_mem       *mem;
    uint32_t      *items;
    uint64_t       item_count, item_capacity, item_limit;
    uint32_t      *start; /* count + 1 entries */
    uint64_t       count, start_capacity;
    uint32_t      *table;   /* number + 1; 0: free; open addressing */
    uint64_t       slots;   /* a power of two, more than twice `count` */
    uint32_t      *scratch; /* a set under construction: as wide as the range */
    uint32_t       width;
    bool           refused; /* out of memory, not only full */
    cached_result *unions, *intersections;
} pool;

typedef struct set_search {
    const hdx_query      *q;
    const hdx_class_sets *sets;
    uint64_t              objects;
    const special        *specials; /* by id, then set */
    uint64_t              special_count;
    uint32_t              base, width; /* the range of sets */
    node                 *nodes;
    uint32_t             *by_class; /* class number -> member, in the pool */
    hdx_ids               level, next;
    bool                  full; /* too many different lost sets: the range must be smaller */
    pool                  pool;
} set_search;

/* ---- the pool ---- */

static void pool_close(pool *p)
{
    hdx_mem_put(p->mem, p->items, p->item_capacity * sizeof *p->items);
    hdx_mem_put(p->mem, p->start, p->start_capacity * sizeof *p->start);
    hdx_mem_put(p->mem, p->table, p->slots * sizeof *p->table);
    hdx_mem_put(p->mem, p->scratch, ((uint64_t)p->width + 1) * sizeof *p->scratch);
    hdx_mem_put(p->mem, p->unions, sizeof *p->unions << CACHE_BITS);
    hdx_mem_put(p->mem, p->intersections, sizeof *p->intersections << CACHE_BITS);
    *p = (pool){ .mem = p->mem };
}

static uint64_t hash(const uint32_t *items, uint64_t n)
{
    uint64_t h = n * 0x9e3779b97f4a7c15ull;
    for (uint64_t i = 0; i < n; i++) {
        h = (h ^ items[i]) * 0xbf58476d1ce4e5b9ull;
        h ^= h >> 29;
    }
    return h;
}

static bool grow_table(pool *p)
{
    uint64_t  slots = p->slots == 0 ? 1024 : p->slots * 2;
    uint32_t *table = hdx_mem_array(p->mem, slots, sizeof *table);
    if (table == NULL)
        return false;
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t at = hash(p->items + p->start[i], p->start[i + 1] - p->start[i]) & (slots - 1);
        while (table[at] != 0)
            at = (at + 1) & (slots - 1);
        table[at] = i + 1;
    }
    hdx_mem_put(p->mem, p->table, p->slots * sizeof *p->table);
    p->table = table;
    p->slots = slots;
    return true;
}

/* Makes room for a set of n items. */
static bool pool_room(pool *p, uint32_t n)
{
    bool narrow = p->width <= NARROW;
    if (!narrow && (p->item_count + n > p->item_limit || p->count >= SETS_MAX))
        return false;
    while (!p->refused && p->item_capacity < p->item_count + n)
        p->refused = !hdx_mem_room(p->mem, (void **)&p->items, &p->item_capacity, p->item_capacity, sizeof *p->items);
    if (!p->refused && !hdx_mem_room(p->mem, (void **)&p->start, &p->start_capacity, p->count + 2, sizeof *p->start))
        p->refused = true;
    if (!p->refused && p->slots <= 2 * (p->count + 1) && !grow_table(p))
        p->refused = true;
    return !p->refused;
}

/* Returns the number of the set whose items are in `scratch`; NONE: the pool is full. */
static uint32_t intern(pool *p, uint32_t n)
{
    if (!pool_room(p, n))
        return NONE;
    uint64_t at = hash(p->scratch, n) & (p->slots - 1);
    for (uint64_t probes = 0; p->table[at] != 0; probes++, at = (at + 1) & (p->slots - 1)) {
        uint32_t known = p->table[at] - 1;
        if (p->start[known + 1] - p->start[known] == n &&
            (n == 0 || memcmp(p->items + p->start[known], p->scratch, n * sizeof *p->items) == 0))
            return known;
        if (probes > PROBES_MAX && p->width > NARROW)
            return NONE;
    }
    if (n > 0)
        memcpy(p->items + p->item_count, p->scratch, n * sizeof *p->items);
    p->item_count += n;
    p->start[p->count + 1] = (uint32_t)p->item_count;
    p->table[at] = (uint32_t)++p->count;
    return (uint32_t)(p->count - 1);
}

static bool pool_open(pool *p, hdx_mem *mem, uint32_t width, uint64_t limit)
{
    *p = (pool){ .mem = mem, .width = width, .item_limit = limit };
    p->scratch = hdx_mem_array(p->mem, (uint64_t)width + 1, sizeof *p->scratch);
    p->unions = hdx_mem_array(p->mem, 1u << CACHE_BITS, sizeof *p->unions);
    p->intersections = hdx_mem_array(p->mem, 1u << CACHE_BITS, sizeof *p->intersections);
    p->refused = p->scratch == NULL || p->unions == NULL || p->intersections == NULL;
    return !p->refused && intern(p, 0) == EMPTY;
}

static uint32_t merge(pool *p, uint32_t a, uint32_t b, bool both)
{
    uint32_t x = p->start[a], x_end = p->start[a + 1], y = p->start[b], y_end = p->start[b + 1], n = 0;
    while (x < x_end && y < y_end) {
        uint32_t i = p->items[x], j = p->items[y];
        if (i == j || !both)
            p->scratch[n++] = i < j ? i : j;
        x += i <= j;
        y += j <= i;
    }
    while (!both && x < x_end)
        p->scratch[n++] = p->items[x++];
    while (!both && y < y_end)
        p->scratch[n++] = p->items[y++];
    return intern(p, n);
}

static uint32_t combine(pool *p, cached_result *cache, uint32_t a, uint32_t b, bool both)
{
    uint64_t       pair = (uint64_t)a << 32 | b;
    cached_result *r = &cache[pair * 0x9e3779b97f4a7c15ull >> (64 - CACHE_BITS)];
    if (r->used && r->pair == pair)
        return r->result;
    uint32_t result = merge(p, a, b, both);
    if (result != NONE)
        *r = (cached_result){ pair, result, 1 };
    return result;
}

/* ---- members ---- */

static int by_id_and_set(const void *a, const void *b)
{
    const special *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Class objects belong to the sets of the class they represent, loaders to those listed separately; sorted by id. */
static special *list_specials(const hdx_query *q, const hdx_class_sets *s, uint64_t *count)
{
    uint32_t         n = 0;
    const hdx_class *classes = hdx_graph_classes(q->graph, &n);
    uint64_t         room = (uint64_t)s->at[s->classes] + s->more_count, k = 0;
    special         *list = hdx_mem_array(q->mem, room, sizeof *list);
    if (list == NULL)
        return NULL;
    for (uint32_t c = 0; c < s->classes && c < n; c++)
        for (uint32_t i = s->at[c]; classes[c].id != HDX_NO_ID && i < s->at[c + 1]; i++)
            list[k++] = (special){ classes[c].id, s->set[i] };
    for (uint32_t i = 0; i < s->more_count; i++)
        list[k++] = (special){ s->more[i], s->more_set[i] };
    if (k > 0)
        qsort(list, k, sizeof *list, by_id_and_set);
    *count = k;
    return list;
}

/* Appends a set to `scratch` if it is in the range and not a duplicate of the last. */
static uint32_t add_to_scratch(set_search *w, uint32_t n, uint32_t set)
{
    set -= w->base;
    if (set < w->width && n < w->width && (n == 0 || w->pool.scratch[n - 1] != set))
        w->pool.scratch[n++] = set;
    return n;
}

static bool class_members(set_search *w)
{
    const hdx_class_sets *s = w->sets;
    for (uint32_t c = 0; c < s->classes; c++) {
        uint32_t n = 0, once = 0;
        for (uint32_t i = s->at[c]; i < s->at[c + 1]; i++)
            n = add_to_scratch(w, n, s->set[i]);
        qsort(w->pool.scratch, n, sizeof *w->pool.scratch, by_number);
        for (uint32_t i = 0; i < n; i++)
            if (once == 0 || w->pool.scratch[once - 1] != w->pool.scratch[i])
                w->pool.scratch[once++] = w->pool.scratch[i];
        if ((w->by_class[c] = intern(&w->pool, once)) == NONE)
            return false;
    }
    return true;
}

static bool find_members(set_search *w)
{
    uint32_t classes[HDX_RUN];
    if (!class_members(w))
        return false;
    for (hdx_id first = 0; first < w->objects; first += HDX_RUN) {
        uint32_t n = (uint32_t)(w->objects - first < HDX_RUN ? w->objects - first : HDX_RUN);
        hdx_graph_read_classes(w->q->graph, first, n, classes);
        for (uint32_t i = 0; i < n; i++)
            w->nodes[first + i] = (node){ NONE, classes[i] < w->sets->classes ? w->by_class[classes[i]] : EMPTY };
    }
    for (uint64_t i = 0; i < w->special_count;) {
        hdx_id   id = w->specials[i].id;
        uint32_t n = 0;
        for (; i < w->special_count && w->specials[i].id == id; i++)
            n = add_to_scratch(w, n, w->specials[i].set);
        uint32_t own = intern(&w->pool, n);
        if (own != NONE && id < w->objects)
            own = w->nodes[id].member = merge(&w->pool, w->nodes[id].member, own, false);
        if (own == NONE)
            return false;
    }
    return true;
}

/* ---- the search ---- */

/* Processes a path to `to` on which the sets `lost` occur. */
static hdx_code visit_target(set_search *w, hdx_id to, uint32_t lost, hdx_error *err)
{
    node    *t = &w->nodes[to];
    uint32_t now = t->lost & ~QUEUED;
    if (now == t->member) /* it cannot shrink further */
        return HDX_OK;
    uint32_t here = combine(&w->pool, w->pool.unions, lost, t->member, false);
    if (here == now)
        return HDX_OK;
    if (here != NONE && now != NONE)
        here = combine(&w->pool, w->pool.intersections, now < here ? now : here, now < here ? here : now, true);
    if (here == NONE)
        w->full = true;
    if (here == now || here == NONE)
        return HDX_OK;
    bool waits = (t->lost & QUEUED) != 0;
    t->lost = here | QUEUED;
    return waits ? HDX_OK : hdx_ids_push(&w->next, to, err);
}

static hdx_code visit_levels(set_search *w, hdx_error *err)
{
    uint64_t rounds = 0;
    hdx_code code = HDX_OK;
    while (w->next.count > 0 && !w->full) {
        hdx_ids swapped = w->level;
        w->level = w->next;
        w->next = swapped;
        w->next.count = 0;
        for (uint64_t i = 0; !w->full && i < w->level.count; i++) {
            hdx_refs refs;
            hdx_id   v = w->level.at[i], target;
            uint32_t lost = w->nodes[v].lost &= ~QUEUED;
            hdx_graph_outbound(w->q->graph, v, HDX_ALL, &refs); /* what a live object refers to is live */
            while (!w->full && hdx_refs_next(&refs, &target))
                if (target < w->objects && (code = visit_target(w, target, lost, err)) != HDX_OK)
                    return code;
            if ((++rounds & 0xffff) == 0 && (code = hdx_ask_stopped(w->q, err)) != HDX_OK)
                return code;
        }
    }
    return HDX_OK;
}

/* First sums the bytes of each lost set, then adds that sum to each set in it. */
static hdx_code sum_bytes(set_search *w, uint64_t *bytes, hdx_error *err)
{
    uint64_t  sizes[HDX_RUN], count = w->pool.count;
    uint64_t *of_lost = hdx_mem_array(w->q->mem, count, sizeof *of_lost);
    if (of_lost == NULL)
        return hdx_no_memory(err, "retained sets", count * sizeof *of_lost);
    for (hdx_id first = 0; first < w->objects; first += HDX_RUN) {
        uint32_t n = (uint32_t)(w->objects - first < HDX_RUN ? w->objects - first : HDX_RUN);
        hdx_graph_read_shallow(w->q->graph, first, n, sizes);
        for (uint32_t i = 0; i < n; i++)
            if (w->nodes[first + i].lost != NONE)
                of_lost[w->nodes[first + i].lost] += sizes[i];
    }
    for (uint64_t k = 0; k < w->width; k++)
        bytes[w->base + k] = 0;
    for (uint64_t s = 0; s < count; s++)
        for (uint32_t i = w->pool.start[s]; i < w->pool.start[s + 1]; i++)
            bytes[w->base + w->pool.items[i]] += of_lost[s];
    hdx_mem_put(w->q->mem, of_lost, count * sizeof *of_lost);
    return HDX_OK;
}

/* Computes the sets base .. base + width - 1; there is no result if `full` is set. */
static hdx_code compute_range(set_search *w, uint64_t *bytes, hdx_error *err)
{
    uint64_t        count = 0;
    const hdx_root *roots = hdx_graph_roots(w->q->graph, &count);
    hdx_code        code = HDX_OK;
    w->next.count = 0;
    w->full =
        !pool_open(&w->pool, w->q->mem, w->width, w->sets->room != 0 ? w->sets->room : ITEMS_MAX) || !find_members(w);
    for (uint64_t i = 0; !w->full && roots != NULL && code == HDX_OK && i < count; i++)
        if (roots[i].thread == HDX_NO_ID &&
            roots[i].object < w->objects) /* a local is a reference of its thread (MAT 4.2) */
            code = visit_target(w, roots[i].object, EMPTY, err);
    if (!w->full && code == HDX_OK)
        code = visit_levels(w, err);
    if (!w->full && code == HDX_OK)
        code = sum_bytes(w, bytes, err);
    if (w->pool.refused)
        code = hdx_no_memory(err, "retained sets", w->objects * sizeof *w->nodes);
    pool_close(&w->pool);
    return code;
}

hdx_code hdx_class_sets_retained(const hdx_query *q, const hdx_class_sets *sets, uint64_t *bytes, hdx_error *err)
{
    uint64_t   n = hdx_graph_objects(q->graph), special_room = (uint64_t)sets->at[sets->classes] + sets->more_count;
    set_search w = { .q = q, .sets = sets, .objects = n, .level = hdx_ids_of(q->mem), .next = hdx_ids_of(q->mem) };
    hdx_code   code = HDX_OK;
    uint32_t   width = sets->count;
    if (sets->count == 0)
        return HDX_OK;
    special *specials = list_specials(q, sets, &w.special_count);
    w.specials = specials;
    w.nodes = hdx_mem_array(q->mem, n, sizeof *w.nodes);
    w.by_class = hdx_mem_array(q->mem, sets->classes, sizeof *w.by_class);
    if (specials == NULL || w.nodes == NULL || w.by_class == NULL)
        code = hdx_no_memory(err, "retained sets", n * sizeof *w.nodes);
    while (code == HDX_OK && w.base < sets->count) {
        w.width = sets->count - w.base < width ? sets->count - w.base : width;
        code = compute_range(&w, bytes, err);
        if (w.full)
            width = w.width / 2 > NARROW ? w.width / 2 : NARROW;
        else
            w.base += w.width;
    }
    hdx_ids_drop(&w.level);
    hdx_ids_drop(&w.next);
    hdx_mem_put(q->mem, w.by_class, sets->classes * sizeof *w.by_class);
    hdx_mem_put(q->mem, w.nodes, n * sizeof *w.nodes);
    hdx_mem_put(q->mem, specials, special_room * sizeof *specials);
    return code;
}
