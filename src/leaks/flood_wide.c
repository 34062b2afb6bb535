/*
 * flood_wide.c - retained sizes of the objects on paths, without computing the dominators of all others (SHARK 4.4 to
 * 4.7).
 *
 * Every object has a label: the nearest object on a path that is known so far to dominate it. The label begins as that
 * of the first object found to refer to it. A reference from an object with another label shows that no object below
 * their nearest common ancestor in this tree dominates it, so its label rises to that ancestor. An object on a
 * path has its own label; its parent rises instead.
 *
 *     root (0)
 *     |- a   1 1 1 1 ...
 *     |  '- b   2 2
 *     '- c   3 3 3
 *
 * In:  the store; the objects on paths.
 * Out: bytes and objects under each of them.
 * Knows that labels can only rise, and that all are exact when no reference makes one rise any more: that is the
 * greatest solution of "the label of an object is the nearest common ancestor of those of all that refer to
 * it". Labels nearest to the root are processed first, so most objects are visited once. If a label rises after its
 * objects were visited, all objects under it are visited again, because conclusions were drawn from its old place.
 * Cost: two ids per object, a byte per object if any is visited again, some 80 bytes for each object on a path; one
 *       visit of each reference. Long chains of objects on paths, crossed by many references, would need a walk up the
 *       chain for each: after more than STEPS steps per object and slot the search gives up, and sizes_wide.c takes
 *       over.
 */
#include "leaks/wide.h"

#define ON_PATH ((NID)1 << (sizeof(NID) * 8 - 1)) /* marks an object's own label in `of` */
#define STEPS   4u
#define AHEAD   8u
#define TICK    65536u

typedef struct label {
    NID parent, child, next, before; /* places in flood.labels, NONE: none; children of one parent form a list */
    NID depth;                       /* always greater than the parent's */
    /* place + 1 in flood.waits: objects that got this label from objects with other labels */
    NID  waiting;
    NID  next_at_depth; /* place + 1 of the next queued label at the same depth */
    bool queued, begun;
    /*
     * how many times its objects had to be visited again; `round` of an object says which of these visits it belongs to
     */
    uint8_t  round;
    hdx_id   id;
    uint64_t bytes, objects;
} label;

typedef struct waiting_object {
    NID id, next;
} waiting_object;

typedef struct flood {
    search         *k;
    NID            *of;    /* by object: 0 not reached, label + 1, or ON_PATH | label */
    NID            *queue; /* objects of the current label */
    uint8_t        *round; /* by object */
    label          *labels;
    uint64_t        label_count;
    NID            *at_depth; /* by depth: label + 1 of the first one queued */
    uint64_t        depth;    /* of the next label */
    waiting_object *waits;
    uint64_t        wait_count, wait_capacity, free_wait;
    uint64_t        head, tail, room; /* of the queue, a ring buffer */
    uint64_t        steps;
    NID             now;   /* the current label */
    bool            again; /* a label rose after its objects were visited: rounds count */
    bool            failed, endless;
} flood;

static inline NID label_at(const flood *f, NID id)
{
    const NID v = f->of[id];
    return (v & ON_PATH) != 0 ? v & ~ON_PATH : v - 1;
}

/* ---- the tree ---- */

static void attach(flood *f, NID l, NID parent)
{
    label *of = &f->labels[l], *up = &f->labels[parent];
    of->parent = parent;
    of->depth = up->depth + 1;
    of->before = NONE;
    of->next = up->child;
    if (up->child != NONE)
        f->labels[up->child].before = l;
    up->child = l;
}

static void detach(flood *f, NID l)
{
    label *of = &f->labels[l];
    if (of->before != NONE)
        f->labels[of->before].next = of->next;
    else
        f->labels[of->parent].child = of->next;
    if (of->next != NONE)
        f->labels[of->next].before = of->before;
}

static NID common_ancestor(flood *f, NID a, NID b)
{
    while (a != b) {
        if (f->labels[a].depth >= f->labels[b].depth)
            a = f->labels[a].parent;
        else
            b = f->labels[b].parent;
        f->steps++;
    }
    return a;
}

/* ---- objects to visit ---- */

static void queue_label(flood *f, NID l)
{
    label *of = &f->labels[l];
    if (of->queued || l == f->now)
        return;
    of->queued = true;
    of->next_at_depth = f->at_depth[of->depth];
    f->at_depth[of->depth] = l + 1;
    if (of->depth < f->depth)
        f->depth = of->depth;
}

/* Appends to the queue. It has room for every object once; only many repeated visits need more. */
static void queue_put(flood *f, NID id)
{
    const uint64_t next = f->tail + 1 == f->room ? 0 : f->tail + 1;
    if ((f->endless |= next == f->head))
        return;
    f->queue[f->tail] = id;
    f->tail = next;
}

/* Saves an object under label l until that label is processed. */
static void save_for_label(flood *f, NID l, NID id)
{
    hdx_mem *mem = f->k->s->mem;
    uint64_t place = f->free_wait;
    if (l == f->now) {
        queue_put(f, id);
        return;
    }
    if (place != 0)
        f->free_wait = f->waits[place - 1].next;
    else if (hdx_mem_room(mem, (void **)&f->waits, &f->wait_capacity, f->wait_count, sizeof *f->waits))
        place = ++f->wait_count;
    else {
        f->failed = true;
        return;
    }
    f->waits[place - 1] = (waiting_object){ id, f->labels[l].waiting };
    f->labels[l].waiting = (NID)place;
    queue_label(f, l);
}

static inline void visit_soon(flood *f, NID l, NID id)
{
    if (f->again)
        f->round[id] = f->labels[l].round;
    save_for_label(f, l, id);
}

/* Label l moved after its objects, or those of labels below it, were visited: these objects are visited once more. */
static void visit_again(flood *f, NID l)
{
    NID at = l;
    f->again = true;
    for (;;) {
        label *of = &f->labels[at];
        if (of->begun) {
            f->endless |= ++of->round == UINT8_MAX;
            of->begun = false;
            visit_soon(f, at, (NID)of->id);
        }
        f->steps++;
        if (of->child != NONE) {
            at = of->child;
            continue;
        }
        while (at != l && f->labels[at].next == NONE)
            at = f->labels[at].parent;
        if (at == l)
            return;
        at = f->labels[at].next;
    }
}

static void rise(flood *f, NID l, NID to)
{
    detach(f, l);
    attach(f, l, to);
    visit_again(f, l);
}

/* Processes a reference from an object with label `by`. */
static inline void follow_reference(flood *f, NID id, NID by)
{
    const NID v = f->of[id];
    f->steps++;
    if (v == by + 1 && !f->again)
        return;
    if (v == 0) {
        f->of[id] = by + 1;
        visit_soon(f, by, id);
        return;
    }
    const NID l = label_at(f, id);
    label    *own = (v & ON_PATH) != 0 ? &f->labels[l] : NULL;
    if (own != NULL && own->parent == NONE) { /* an object on a path, reached for the first time */
        attach(f, l, by);
        visit_soon(f, l, id);
        return;
    }
    const NID was = own != NULL ? own->parent : l, is = was == by || l == by ? was : common_ancestor(f, was, by);
    if (is != was && own != NULL) {
        rise(f, l, is);
    } else if (is != was) {
        f->of[id] = is + 1;
        visit_soon(f, is, id);
    } else if (f->again && own == NULL && f->round[id] != f->labels[l].round)
        visit_soon(f, l, id);
}

static void visit(flood *f, NID id)
{
    search      *k = f->k;
    const object o = look(k->st, id);
    if (walks_elements(k, &o)) {
        for (uint64_t i = 0; i < o.count; i++) {
            const NID to = slot(k->st, &o, i);
            if (i + AHEAD < o.count) {
                const NID far = slot(k->st, &o, i + AHEAD);
                __builtin_prefetch(&f->of[far != NONE ? far : 0]);
            }
            if (to != NONE)
                follow_reference(f, to, f->now);
            if (i % TICK == TICK - 1 && hdx_tick(k->s->tick, 0))
                k->stopped = k->out_of_memory = true;
            if (k->out_of_memory)
                return;
        }
        return;
    }
    WIDE(hdx_leak_expand_object)(k, id, &o);
    for (uint64_t i = 0; i < k->edge_count; i++)
        __builtin_prefetch(&f->of[k->edges[i].to]);
    for (uint64_t i = 0; i < k->edge_count; i++)
        follow_reference(f, k->edges[i].to, f->now);
}

/* ---- order of the labels ---- */

static NID next_label(flood *f)
{
    for (; f->depth <= f->label_count; f->depth++) {
        const NID l = f->at_depth[f->depth];
        if (l == 0)
            continue;
        f->at_depth[f->depth] = f->labels[l - 1].next_at_depth;
        f->labels[l - 1].queued = false;
        return l - 1;
    }
    return NONE;
}

static void fill_queue(flood *f)
{
    label *of = &f->labels[f->now];
    of->begun = true;
    for (NID w = of->waiting; w != 0;) {
        waiting_object *at = &f->waits[w - 1];
        const NID       next = at->next;
        if (label_at(f, at->id) == f->now)
            queue_put(f, at->id); /* otherwise the object's label rose meanwhile */
        at->next = (NID)f->free_wait;
        f->free_wait = w;
        w = next;
    }
    of->waiting = 0;
}

static void ahead(const flood *f)
{
    const uint64_t left = f->tail >= f->head ? f->tail - f->head : f->room - f->head;
    if (left > AHEAD) {
        hdx_packed_base_ahead(&f->k->st->lists, f->queue[f->head + AHEAD]);
        hdx_packed_list_ahead(&f->k->st->lists, f->queue[f->head + AHEAD / 2]);
    }
}

static hdx_code work(flood *f, bool *gave_up, hdx_error *err)
{
    const uint64_t most = STEPS * (f->k->st->objects + f->k->st->slot_count) + TICK;
    uint64_t       ticked = 0;
    while ((f->now = next_label(f)) != NONE) {
        fill_queue(f);
        while (f->head != f->tail && !f->failed) {
            ahead(f);
            const NID id = f->queue[f->head];
            f->head = f->head + 1 == f->room ? 0 : f->head + 1;
            if (label_at(f, id) != f->now)
                continue; /* its label rose meanwhile */
            f->steps++;
            visit(f, id);
            if (f->steps - ticked >= TICK) {
                if (hdx_tick(f->k->s->tick, 0))
                    return hdx_tick_stop(err);
                ticked = f->steps;
            }
            if ((*gave_up = f->steps > most || f->endless))
                return HDX_OK;
            if (f->k->out_of_memory)
                return WIDE(hdx_leak_ended)(f->k, err);
        }
        if (f->failed)
            return hdx_no_memory(err, "sizes", f->wait_capacity * sizeof *f->waits);
        f->now = NONE;
    }
    return HDX_OK;
}

/* ---- sums ---- */

static hdx_code weigh(flood *f, const hdx_map *native, hdx_error *err)
{
    const store *st = f->k->st;
    for (uint64_t id = 0; id < st->objects; id++) {
        if (id % TICK == 0 && hdx_tick(f->k->s->tick, TICK))
            return hdx_tick_stop(err);
        const NID v = f->of[id];
        if (v <= 1)
            continue; /* not reached, or not under an object whose size is wanted */
        label          *l = &f->labels[label_at(f, (NID)id)];
        const uint64_t *more = native->count > 0 || native->has_own ? hdx_map_get(native, id) : NULL;
        l->bytes += WIDE(hdx_leak_weight)(st, id) + (more != NULL ? *more : 0);
        l->objects++;
    }
    return HDX_OK;
}

/* Sums children before parents: down to the first node without a child, then on to its sibling, or up. */
static void sum(flood *f)
{
    NID at = 0;
    while (f->labels[at].child != NONE)
        at = f->labels[at].child;
    while (at != 0) {
        label *of = &f->labels[at], *up = &f->labels[of->parent];
        up->bytes += of->bytes;
        up->objects += of->objects;
        at = of->parent;
        if (of->next != NONE)
            for (at = of->next; f->labels[at].child != NONE;)
                at = f->labels[at].child;
    }
}

static void give(const flood *f, leak_search *s)
{
    bool fresh;
    for (uint64_t i = 1; i < f->label_count; i++) {
        uint64_t *bytes = hdx_map_put(&s->bytes, f->labels[i].id, &fresh),
                 *objects = hdx_map_put(&s->counts, f->labels[i].id, &fresh);
        if (bytes != NULL && objects != NULL) { /* both keys exist */
            *bytes = f->labels[i].bytes;
            *objects = f->labels[i].objects;
        }
    }
}

static hdx_code prepare(flood *f, hdx_error *err)
{
    search            *k = f->k;
    const leak_search *s = k->s;
    const hdx_map     *asked = &s->bytes;
    const uint64_t     n = k->st->objects;
    f->label_count = 1 + asked->count;
    f->room = n + 1;
    if (f->label_count >= ON_PATH)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "too many objects on paths");
    f->of = hdx_mem_array(s->mem, n, sizeof *f->of);
    f->queue = hdx_mem_raw(s->mem, f->room, sizeof *f->queue);
    f->round = hdx_mem_array(s->mem, n, 1);
    f->labels = hdx_mem_array(s->mem, f->label_count, sizeof *f->labels);
    f->at_depth = hdx_mem_array(s->mem, f->label_count + 1, sizeof *f->at_depth);
    if (f->of == NULL || f->queue == NULL || f->round == NULL || f->labels == NULL || f->at_depth == NULL)
        return hdx_no_memory(err, "sizes", 2 * n * sizeof *f->of);
    uint64_t next = 1;
    f->labels[0] = (label){ .parent = NONE, .child = NONE, .next = NONE, .before = NONE, .id = HDX_NO_ID };
    for (uint64_t i = 0; i < asked->capacity; i++) {
        const uint64_t id = asked->slots[i].key;
        if (id == asked->empty)
            continue;
        f->labels[next] = (label){ .parent = NONE, .child = NONE, .next = NONE, .before = NONE, .id = id };
        f->of[id] = ON_PATH | (NID)next++;
    }
    f->now = NONE;
    k->naming = true; /* references are listed as records() in expand_wide.c lists them */
    for (uint64_t i = 0; i < k->root_count; i++)
        follow_reference(f, (NID)k->roots[i].object, 0);
    return f->failed ? hdx_no_memory(err, "sizes", n) : HDX_OK;
}

hdx_code WIDE(hdx_leak_flood)(search *k, const hdx_map *native, bool *gave_up, hdx_error *err)
{
    flood          f = { .k = k };
    hdx_mem       *mem = k->s->mem;
    const uint64_t n = k->st->objects;
    hdx_code       code = prepare(&f, err);
    *gave_up = false;
    if (code == HDX_OK)
        code = work(&f, gave_up, err);
    if (code == HDX_OK && !*gave_up && (code = weigh(&f, native, err)) == HDX_OK) {
        sum(&f);
        give(&f, k->s);
    }
    hdx_mem_put(mem, f.of, n * sizeof *f.of);
    hdx_mem_put(mem, f.queue, f.room * sizeof *f.queue);
    hdx_mem_put(mem, f.round, n);
    hdx_mem_put(mem, f.labels, f.label_count * sizeof *f.labels);
    hdx_mem_put(mem, f.at_depth, (f.label_count + 1) * sizeof *f.at_depth);
    hdx_mem_put(mem, f.waits, f.wait_capacity * sizeof *f.waits);
    return code;
}
