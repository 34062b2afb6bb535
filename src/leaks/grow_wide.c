/*
 * grow_wide.c - finds each object by the first path that leads to it, and groups objects of equal paths (SHARK 6.1).
 *
 *     GcRoot(StickyClass)                               1,204 objects
 *       STATIC_FIELD App.cache -> instance of Map           1
 *         ARRAY_ENTRY Map.[x] -> instance of Entry      20,000
 *
 * In:  the store, roots in their order.
 * Out: each step of each path and each object on it, reported to the receiver of the tree.
 * The search is that of search_wide.c with all objects of one path taken together: paths are processed in the order of
 * the queue, and the objects that a path leads to are grouped by name, in the order in which the names first occurred.
 * An object that two paths refer to belongs to the earlier path.
 *
 *   S1  An object is in one of two queues: once in the first (`seen`), or once in the last (`waiting`), which it leaves
 *       when the first phase reaches it.
 *   S2  A path whose name equals that of its parent path is that parent: a list is no deeper than its first node.
 *
 * Cost: 4 bytes an object, 8 for each reference that one path has to objects not seen yet (at most MOST of these are
 *       sorted together), and the memory of the tree; each reference is visited once.
 */
#include "leaks/wide.h"

#define AHEAD 8u
#define TICK  65536u
#define MOST  (1u << 24)

typedef struct batch { /* objects of one path that are processed together; they are adjacent in a queue */
    uint64_t from, count;
    uint32_t thing, name;
    unsigned depth;
} batch;
typedef struct queue {
    batch   *at;
    uint64_t count, capacity, next;
} queue;

typedef struct ref_way { /* name of a reference: kind, class that declares it, field */
    uint8_t  how;
    bool     skipped;
    uint32_t owner;
    hdx_text field;
} ref_way;

typedef struct found { /* a reference to an object that has not been reached yet */
    NID to, next;      /* next: place + 1 of the next one with the same name */
} found;
typedef struct child { /* a path one step longer */
    uint32_t thing, name;
    bool     low;
    uint64_t first, last; /* places + 1 in found */
} child;

typedef struct growing {
    search              *k;
    const hdx_leak_tree *to;
    queue                first, last;
    ref_way             *ref_ways;
    uint64_t             way_count, way_capacity;
    hdx_map              way_of;  /* kind, place in the plan, class -> ref_way */
    hdx_map              name_of; /* ref_way, class of the target -> name */
    found               *found;
    uint64_t             found_count, found_capacity;
    child               *children;
    uint64_t             child_count, child_capacity;
    /* thing, low -> place + 1 in children; entries of earlier batches are recognized and ignored */
    hdx_map child_of;
    bool    refused;
} growing;

/* ---- names ---- */

static hdx_text text_of(const char *s) { return (hdx_text){ s, (uint32_t)strlen(s) }; }

static const char *kind_of(uint8_t how)
{
    switch ((leak_how)how) {
    case BY_FIELD:
    case BY_TARGET:
    case BY_NEW_ACTIVITIES: return "INSTANCE_FIELD";
    case BY_STATIC: return "STATIC_FIELD";
    case BY_LOCAL: return "LOCAL";
    default: return "ARRAY_ENTRY";
    }
}

/* The JVM's own records of every loaded class grow with the code that has run and are no sign of a leak. */
static bool is_skipped(const growing *w, uint8_t how, const leak_slot *of)
{
    return how == BY_STATIC ? hdx_text_is(of->name, "<resolved_references>")
                            : hdx_text_is(of->name, "parallelLockMap") &&
                                  hdx_text_is(hdx_leak_name(w->k->st->h, of->owner), "java.lang.ClassLoader");
}

static ref_way make_way(const growing *w, const object *o, const edge *e)
{
    const leak_plan *p = &w->k->plans[o->number];
    const leak_slot *of;
    switch ((leak_how)e->how) {
    case BY_FIELD:
    case BY_STATIC:
        of = e->how == BY_FIELD ? &p->slots[e->n] : &p->statics[e->n];
        return (ref_way){ e->how, is_skipped(w, e->how, of), of->owner, of->name };
    case BY_LOCAL: return (ref_way){ e->how, false, o->number, text_of("<Java Local>") };
    case BY_TARGET: return (ref_way){ e->how, false, o->number, text_of("mTarget") };
    case BY_NEW_ACTIVITIES: return (ref_way){ e->how, false, o->number, text_of("mNewActivities") };
    default: return (ref_way){ e->how, false, o->number, text_of("[x]") };
    }
}

/*
 * Returns the index in ref_ways; UINT64_MAX: no memory. A field is identified by its place in the plan of its class,
 * all other references by the class.
 */
static uint64_t way_of(growing *w, const object *o, const edge *e)
{
    bool           fresh;
    const uint64_t n = e->how == BY_FIELD || e->how == BY_STATIC ? e->n : 0;
    uint64_t      *at = hdx_map_put(&w->way_of, (uint64_t)e->how << 59 | n << 32 | o->number, &fresh);
    if (at == NULL)
        return UINT64_MAX;
    if (fresh) {
        if (!hdx_mem_room(w->k->s->mem, (void **)&w->ref_ways, &w->way_capacity, w->way_count, sizeof *w->ref_ways))
            return UINT64_MAX;
        *at = w->way_count;
        w->ref_ways[w->way_count++] = make_way(w, o, e);
    }
    return *at;
}

static uint32_t name_of(growing *w, uint64_t by, NID target)
{
    const leak_heap *h = w->k->st->h;
    const object     to = look(w->k->st, target);
    bool             fresh;
    uint64_t        *at = hdx_map_put(&w->name_of, by << 33 | (uint64_t)to.number << 1 | to.is_class, &fresh);
    if (at == NULL)
        return HDX_LEAK_NO_PLACE;
    if (fresh) {
        const ref_way     *b = &w->ref_ways[by];
        const hdx_leak_way step = { .how = kind_of(b->how),
                                    .owner = hdx_leak_name(h, b->owner),
                                    .field = b->how == BY_FIELD || b->how == BY_STATIC
                                                 ? hdx_leak_field_name(h, b->owner, b->field)
                                                 : b->field,
                                    .what = to.is_class               ? HDX_LEAK_IS_CLASS
                                            : to.kind == HDX_INSTANCE ? HDX_LEAK_IS_INSTANCE
                                                                      : HDX_LEAK_IS_ARRAY,
                                    .of = to.number != NO_NUMBER ? hdx_leak_name(h, to.number) : text_of("?") };
        *at = w->to->name(w->to->context, &step);
    }
    return (uint32_t)*at;
}

/* ---- the objects that a path leads to ---- */

/* Returns the collector for a path one step longer; NULL: no memory. */
static child *child_of(growing *w, const batch *from, uint32_t name, bool low)
{
    const bool     same = from != NULL && (name == from->name || from->depth >= w->to->deepest);
    const uint32_t above = from != NULL ? from->thing : HDX_LEAK_TOP;
    const uint32_t thing = name == HDX_LEAK_NO_PLACE ? name
                           : same                    ? from->thing
                                                     : w->to->thing(w->to->context, above, name);
    bool           fresh;
    uint64_t *at = thing == HDX_LEAK_NO_PLACE ? NULL : hdx_map_put(&w->child_of, (uint64_t)thing << 1 | low, &fresh);
    if (at == NULL)
        return NULL;
    child *c = *at > 0 && *at <= w->child_count ? &w->children[*at - 1] : NULL;
    if (c != NULL && c->thing == thing && c->low == low) /* otherwise the entry is of an earlier batch */
        return c;
    if (!hdx_mem_room(w->k->s->mem, (void **)&w->children, &w->child_capacity, w->child_count, sizeof *w->children))
        return NULL;
    w->children[w->child_count++] = (child){ thing, same ? from->name : name, low, 0, 0 };
    *at = w->child_count;
    return &w->children[w->child_count - 1];
}

static bool add(growing *w, child *c, NID to)
{
    if (c == NULL ||
        !hdx_mem_room(w->k->s->mem, (void **)&w->found, &w->found_capacity, w->found_count, sizeof *w->found))
        return false;
    w->found[w->found_count++] = (found){ to, 0 };
    if (c->last != 0)
        w->found[c->last - 1].next = (NID)w->found_count;
    else
        c->first = w->found_count;
    c->last = w->found_count;
    return true;
}

static bool is_new(const search *k, NID id, bool low)
{
    return !hdx_bits_test(k->seen, id) && !(low && hdx_bits_test(k->waiting, id));
}

static bool follow_reference(growing *w, const batch *from, const object *o, const edge *e)
{
    const bool low = e->low || w->k->last_only;
    if (!is_new(w->k, e->to, low))
        return true;
    const uint64_t by = way_of(w, o, e);
    return by != UINT64_MAX &&
           (w->ref_ways[by].skipped || add(w, child_of(w, from, name_of(w, by, e->to), low), e->to));
}

/* Moves all collected objects into the queues, path by path. */
static bool enqueue_children(growing *w, unsigned depth)
{
    search  *k = w->k;
    hdx_mem *mem = k->s->mem;
    for (uint64_t i = 0; i < w->child_count; i++) {
        const child *c = &w->children[i];
        queue       *q = c->low ? &w->last : &w->first;
        batch        b = { c->low ? k->last_count : k->first_count, 0, c->thing, c->name, depth };
        for (uint64_t n = c->first; n != 0; n = w->found[n - 1].next) {
            const NID id = w->found[n - 1].to;
            if (!is_new(k, id, c->low))
                continue;
            if (!c->low) {
                hdx_bits_put(k->seen, id);
                k->first[k->first_count++] = id; /* each object once: there is room for all */
            } else if (hdx_mem_room(mem, (void **)&k->last, &k->last_capacity, k->last_count, sizeof *k->last)) {
                hdx_bits_put(k->waiting, id);
                k->last[k->last_count++] = id;
            } else {
                return false;
            }
            b.count++;
        }
        if (b.count > 0 && !hdx_mem_room(mem, (void **)&q->at, &q->capacity, q->count, sizeof *q->at))
            return false;
        if (b.count > 0)
            q->at[q->count++] = b;
    }
    w->found_count = w->child_count = 0;
    return true;
}

static bool expand(growing *w, const batch *b, NID id)
{
    search      *k = w->k;
    const object o = look(k->st, id);
    bool         good = true;
    if (walks_elements(k, &o)) {
        for (uint64_t i = 0; good && i < o.count; i++) {
            const NID to = slot(k->st, &o, i);
            good = to == NONE || follow_reference(w, b, &o, &(edge){ .to = to, .how = BY_ELEMENT });
            if (i % ENOUGH == ENOUGH - 1 && hdx_tick(k->s->tick, 0))
                k->stopped = k->out_of_memory = true, good = false;
        }
        return good;
    }
    WIDE(hdx_leak_expand_object)(k, id, &o);
    for (uint64_t i = 0; good && i < k->edge_count; i++)
        good = follow_reference(w, b, &o, &k->edges[i]);
    return good && !k->out_of_memory;
}

static void ahead(const search *k, const NID *ids, uint64_t i, uint64_t count)
{
    if (i + AHEAD < count) {
        hdx_packed_base_ahead(&k->st->lists, ids[i + AHEAD]);
        hdx_packed_list_ahead(&k->st->lists, ids[i + AHEAD / 2]);
    }
}

static hdx_code out_of_memory_error(const growing *w, hdx_error *err)
{
    return w->k->out_of_memory ? WIDE(hdx_leak_ended)(w->k, err)
                               : hdx_no_memory(err, "paths", (w->found_capacity + 1) * sizeof *w->found);
}

static hdx_code process_batch(growing *w, batch b, bool low, uint64_t *ticked, hdx_error *err)
{
    search *k = w->k;
    for (uint64_t i = 0; i < b.count; i++) {
        const NID *ids = low ? k->last + b.from : k->first + b.from; /* the last queue grows meanwhile */
        const NID  id = ids[i];
        ahead(k, ids, i, b.count);
        if (low && !hdx_bits_set(k->seen, id)) /* the first phase already reached it */
            continue;
        if (!w->to->count(w->to->context, b.thing, WIDE(hdx_leak_weight)(k->st, id)) || !expand(w, &b, id))
            return out_of_memory_error(w, err);
        if (w->found_count >= MOST && !enqueue_children(w, b.depth + 1))
            return out_of_memory_error(w, err);
        if ((*ticked += 1 + k->edge_count) >= TICK) {
            if (hdx_tick(k->s->tick, *ticked))
                return hdx_tick_stop(err);
            *ticked = 0;
        }
    }
    return enqueue_children(w, b.depth + 1) ? HDX_OK : out_of_memory_error(w, err);
}

static hdx_code walk_paths(growing *w, hdx_error *err)
{
    search  *k = w->k;
    uint64_t ticked = 0;
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < k->root_count; i++) {
        const leak_root   *r = &k->roots[i];
        const hdx_leak_way step = { .is_root = true, .root = r->kind };
        const uint32_t     name = w->to->name(w->to->context, &step);
        if (!add(w, child_of(w, NULL, name, r->low), (NID)r->object))
            return out_of_memory_error(w, err);
    }
    if (!enqueue_children(w, 1))
        return out_of_memory_error(w, err);
    while (code == HDX_OK && (w->first.next < w->first.count || w->last.next < w->last.count)) {
        k->last_only = k->last_only || w->first.next == w->first.count;
        code = k->last_only ? process_batch(w, w->last.at[w->last.next++], true, &ticked, err)
                            : process_batch(w, w->first.at[w->first.next++], false, &ticked, err);
    }
    return code;
}

static hdx_code prepare(search *k, hdx_error *err)
{
    const uint64_t n = k->st->objects, words = hdx_bits_words(n);
    k->first = hdx_mem_raw(k->s->mem, n, sizeof *k->first);
    k->seen = hdx_mem_array(k->s->mem, words, sizeof *k->seen);
    k->waiting = hdx_mem_array(k->s->mem, words, sizeof *k->waiting);
    k->first_capacity = n;
    return k->first != NULL && k->seen != NULL && k->waiting != NULL ? HDX_OK
                                                                     : hdx_no_memory(err, "paths", n * sizeof(NID));
}

hdx_code WIDE(hdx_leak_search_grow)(leak_search *s, const hdx_leak_tree *to, hdx_error *err)
{
    leak_plans plans = { NULL };
    store      st = { .h = s->h, .plans = &plans, .mem = s->mem, .apart = s->apart };
    search     k = {
            .st = &st, .s = s, .root_of = hdx_map_of(s->mem), .serials = hdx_map_of(s->mem), .new_activities = NONE
    };
    growing w = {
        .k = &k, .to = to, .way_of = hdx_map_of(s->mem), .name_of = hdx_map_of(s->mem), .child_of = hdx_map_of(s->mem)
    };
    const uint64_t each = hdx_graph_objects(s->h->g) * sizeof(NID);
    hdx_code       code = hdx_leak_plans_make(s->h, s->rules, s->holds, &plans, err);
    if (code == HDX_OK) {
        k.plans = plans.at;
        hdx_ticker_step(s->tick, "references", 2 * hdx_graph_summary_of(s->h->g)->file_size, "bytes");
        code = WIDE(hdx_leak_store_read)(&st, s->threads, each + each / 12, s->tick, &s->too_wide, err);
    }
    if (code == HDX_OK) {
        hdx_ticker_step(s->tick, "paths", st.objects, "objects");
        if ((code = WIDE(hdx_leak_take_roots)(&k, err)) == HDX_OK && (code = prepare(&k, err)) == HDX_OK)
            code = walk_paths(&w, err);
    }
    if (code == HDX_OK && s->h->code != HDX_OK)
        code = (*err = s->h->err, s->h->code);
    hdx_mem_put(s->mem, w.first.at, w.first.capacity * sizeof *w.first.at);
    hdx_mem_put(s->mem, w.last.at, w.last.capacity * sizeof *w.last.at);
    hdx_mem_put(s->mem, w.ref_ways, w.way_capacity * sizeof *w.ref_ways);
    hdx_mem_put(s->mem, w.found, w.found_capacity * sizeof *w.found);
    hdx_mem_put(s->mem, w.children, w.child_capacity * sizeof *w.children);
    hdx_map_free(&w.way_of);
    hdx_map_free(&w.name_of);
    hdx_map_free(&w.child_of);
    WIDE(hdx_leak_drop)(&k);
    WIDE(hdx_leak_store_free)(&st);
    hdx_leak_plans_free(&plans, s->h->class_count);
    return code;
}
