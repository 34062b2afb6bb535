/*
 * search_wide.c - finds the best path to every leaking object: two queues from the GC roots (SHARK 3.1 to 3.6).
 *
 *     first  ordinary references
 *     last   references of library matchers, locals and animators
 *
 * In:  the store, the leaking ids, matchers that apply.
 * Out: the parent of each object that was reached; paths_wide.c makes paths from them.
 * Knows the order of roots, and how an object that waits in `last` is promoted. Does not know which references an
 * object has (expand_wide.c).
 * Cost: up to 9 bytes per object and one visit of each of its references, until the last leak is found.
 */
#include "leaks/wide.h"

#include <stdlib.h>

#define AHEAD 8u
#define TICK  65536u

/* ---- queues ---- */

static bool push(search *k, NID id, bool low)
{
    if (low) {
        if (!hdx_mem_room(k->s->mem, (void **)&k->last, &k->last_capacity, k->last_count, sizeof *k->last))
            return false;
        k->last[k->last_count++] = id;
        hdx_bits_put(k->waiting, id);
        return true;
    }
    k->first[k->first_count++] = id; /* an object is pushed at most once, so there is room for all */
    return true;
}

static inline bool enqueue(search *k, NID id, NID from, bool low)
{
    low |= k->last_only;
    if (!hdx_bits_set(k->seen, id)) {
        if (low || !hdx_bits_test(k->waiting, id))
            return true;
        hdx_bits_clear(k->waiting,
                       id); /* promoted: it moves to the end of the first queue, with the new parent (SHARK 3.3) */
    }
    k->from[id] = from;
    return push(k, id, low);
}

static hdx_code enqueue_roots(search *k, hdx_error *err)
{
    bool fresh;
    for (uint64_t i = 0; i < k->root_count; i++) {
        const NID  id = (NID)k->roots[i].object;
        const bool again = hdx_bits_test(k->seen, id) && (k->roots[i].low || !hdx_bits_test(k->waiting, id));
        uint64_t  *at = again ? NULL : hdx_map_put(&k->root_of, id, &fresh);
        if (!again && (at == NULL || !enqueue(k, id, id, k->roots[i].low)))
            return hdx_no_memory(err, "queues of the search", k->last_capacity * sizeof(NID));
        if (at != NULL)
            *at = i;
    }
    return HDX_OK;
}

static bool visit(search *k, NID id)
{
    const object o = look(k->st, id);
    bool         good = true;
    if (walks_elements(k, &o)) {
        for (uint64_t i = 0; good && i < o.count; i++) {
            const NID to = slot(k->st, &o, i);
            good = to == NONE || enqueue(k, to, id, false);
            if (i % ENOUGH == ENOUGH - 1 && hdx_tick(k->s->tick, 0))
                k->stopped = k->out_of_memory = true, good = false;
        }
    } else {
        WIDE(hdx_leak_expand_object)(k, id, &o);
        for (uint64_t i = 0; good && i < k->edge_count; i++)
            good = enqueue(k, k->edges[i].to, id, k->edges[i].low);
    }
    return good && !k->out_of_memory;
}

static void ahead(const search *k, uint64_t done)
{
    if (done + AHEAD >= k->first_count || k->last_only)
        return;
    hdx_packed_base_ahead(&k->st->lists, k->first[done + AHEAD]);
    hdx_packed_list_ahead(&k->st->lists, k->first[done + AHEAD / 2]);
}

/*
 * All leaks that can be found were found, and the remaining search cannot change their paths (SHARK 3.4). With
 * activities listed by ActivityThread, sizes need the complete search: these objects depend on what was visited before
 * (SHARK 3.6).
 */
static bool is_finished(const search *k)
{
    return k->found_count == k->to_find && (!k->s->retained || !k->st->plans->lists_activities);
}

static hdx_code search_all(search *k, hdx_error *err)
{
    uint64_t done = 0, ticked = 0;
    if (is_finished(k))
        return HDX_OK;
    for (;;) {
        NID id;
        if (!k->last_only && done < k->first_count) {
            ahead(k, done);
            id = k->first[done++];
        } else {
            k->last_only = true;
            while (k->last_head < k->last_count && !hdx_bits_test(k->waiting, k->last[k->last_head]))
                k->last_head++;
            if (k->last_head == k->last_count)
                return HDX_OK;
            id = k->last[k->last_head++];
            hdx_bits_clear(k->waiting, id);
            hdx_bits_put(k->late, id);
        }
        if (hdx_bits_test(k->wanted, id)) {
            k->found[k->found_count++] = id;
            if (is_finished(k))
                return HDX_OK;
        }
        if (!visit(k, id))
            return k->out_of_memory ? WIDE(hdx_leak_ended)(k, err)
                                    : hdx_no_memory(err, "queues of the search", k->last_count * sizeof(NID));
        if ((ticked += 1 + k->edge_count) >= TICK) {
            if (hdx_tick(k->s->tick, ticked))
                return hdx_tick_stop(err);
            ticked = 0;
        }
    }
}

/* ---- roots ---- */

static int root_kind(uint8_t tag)
{
    static const uint8_t tags[LR_KINDS] = { 0x08, 0x06, 0x05, 0x04, 0x07, 0x8e, 0x02, 0x01, 0x03 };
    for (int i = 0; i < LR_KINDS; i++)
        if (tags[i] == tag)
            return i;
    return -1; /* kinds that Shark ignores (SHARK 1.3) */
}

typedef struct sorted_root {
    leak_root root;
    hdx_text  class_name;
    uint64_t  order;
} sorted_root;
static int root_order(const void *a, const void *b)
{
    const sorted_root *x = a, *y = b;
    if (x->root.kind != y->root.kind)
        return x->root.kind < y->root.kind ? -1 : 1;
    const int c = hdx_text_order(x->class_name, y->class_name);
    return c != 0 ? c : x->order < y->order ? -1 : 1;
}

static int by_serial(const void *a, const void *b)
{
    const local *const *x = a, *const *y = b;
    if ((*x)->serial != (*y)->serial)
        return (*x)->serial < (*y)->serial ? -1 : 1;
    return *x < *y ? -1 : 1;
}

static hdx_code sort_locals(search *k, hdx_error *err)
{
    const uint64_t n = k->local_count;
    const local  **at = hdx_mem_array(k->s->mem, n, sizeof *at);
    local         *sorted = hdx_mem_array(k->s->mem, n, sizeof *sorted);
    if (at != NULL && sorted != NULL) {
        for (uint64_t i = 0; i < n; i++)
            at[i] = &k->locals[i];
        if (n > 1)
            qsort(at, (size_t)n, sizeof *at, by_serial);
        for (uint64_t i = 0; i < n; i++)
            sorted[i] = *at[i];
        if (n > 0)
            memcpy(k->locals, sorted, (size_t)(n * sizeof *sorted));
    }
    const bool good = at != NULL && sorted != NULL;
    hdx_mem_put(k->s->mem, (void *)at, n * sizeof *at);
    hdx_mem_put(k->s->mem, sorted, n * sizeof *sorted);
    return good ? HDX_OK : hdx_no_memory(err, "locals", n * sizeof *sorted);
}

static bool keep_root(search *k, const hdx_dump_root *d, int kind, sorted_root *out, hdx_id id)
{
    uint32_t m = 0;
    if (kind == LR_JNI_GLOBAL &&
        (m = WIDE(hdx_leak_matcher_named)(k, HDX_LEAK_NATIVE_GLOBAL, hdx_leak_name_of(k->st->h, id), NULL)) != 0 &&
        k->s->rules->matchers[m - 1].ignored)
        return false;
    *out = (sorted_root){ { id, (leak_root_kind)kind, d->serial, m, kind == LR_JAVA_FRAME || m != 0 },
                          hdx_leak_name_of(k->st->h, id),
                          d->pos };
    return true;
}

/* Sorts roots as specified in SHARK 3.1; locals of known threads become references of their thread. */
hdx_code WIDE(hdx_leak_take_roots)(search *k, hdx_error *err)
{
    store       *st = k->st;
    hdx_map      known_serials = hdx_map_of(k->s->mem);
    sorted_root *at = hdx_mem_array(k->s->mem, st->root_count, sizeof *at);
    uint64_t     n = 0;
    bool         fresh, good = at != NULL;
    hdx_code     code = HDX_OK;
    for (uint64_t i = 0; good && i < st->root_count; i++)
        if (root_kind(st->roots[i].tag) == LR_THREAD_OBJECT && st->roots[i].object != 0) {
            const hdx_id id = hdx_leak_object_at(st->h, st->roots[i].object);
            good = hdx_map_put(&known_serials, st->roots[i].serial, &fresh) != NULL;
            uint64_t *serial = id != HDX_NO_ID && good ? hdx_map_put(&k->serials, id, &fresh) : NULL;
            if (serial != NULL)
                *serial = st->roots[i].serial;
        }
    for (uint64_t i = 0; good && i < st->root_count; i++) {
        const hdx_dump_root *d = &st->roots[i];
        const int            kind = root_kind(d->tag);
        const hdx_id         id = kind >= 0 ? hdx_leak_object_at(st->h, d->object) : HDX_NO_ID;
        if (id == HDX_NO_ID)
            continue;
        if (kind == LR_JAVA_FRAME && hdx_map_get(&known_serials, d->serial) != NULL) {
            good = hdx_mem_room(k->s->mem, (void **)&k->locals, &k->local_capacity, k->local_count, sizeof *k->locals);
            if (good)
                k->locals[k->local_count++] = (local){ d->serial, (NID)id };
        } else
            n += keep_root(k, d, kind, &at[n], id);
    }
    if (good && n > 1)
        qsort(at, (size_t)n, sizeof *at, root_order);
    k->roots = hdx_arena_get(&k->s->arena, n * sizeof *k->roots);
    good = good && k->roots != NULL;
    for (uint64_t i = 0; good && i < n; i++)
        k->roots[i] = at[i].root;
    k->root_count = n;
    if (!good)
        code = hdx_no_memory(err, "roots", st->root_count * sizeof *at);
    hdx_mem_put(k->s->mem, at, st->root_count * sizeof *at);
    hdx_map_free(&known_serials);
    return code == HDX_OK ? sort_locals(k, err) : code;
}

/* ---- the whole search ---- */

static hdx_code prepare(search *k, hdx_error *err)
{
    const uint64_t n = k->st->objects, words = hdx_bits_words(n);
    /* the index knows unreachable objects, and the search cannot reach them */
    const bool whole = hdx_graph_summary_of(k->st->h->g)->complete;
    k->from = hdx_mem_raw(k->s->mem, n, sizeof *k->from);
    k->first = hdx_mem_raw(k->s->mem, n, sizeof *k->first);
    k->seen = hdx_mem_array(k->s->mem, words, sizeof *k->seen);
    k->waiting = hdx_mem_array(k->s->mem, words, sizeof *k->waiting);
    k->wanted = hdx_mem_array(k->s->mem, words, sizeof *k->wanted);
    k->late = hdx_mem_array(k->s->mem, words, sizeof *k->late);
    k->found = hdx_mem_array(k->s->mem, k->s->leaking_count, sizeof *k->found);
    if (k->from == NULL || k->first == NULL || k->seen == NULL || k->waiting == NULL || k->wanted == NULL ||
        k->late == NULL || k->found == NULL)
        return hdx_no_memory(err, "the search", n * 2 * sizeof *k->from);
    k->first_capacity = n;
    for (uint64_t i = 0; i < k->s->leaking_count; i++) {
        hdx_bits_put(k->wanted, k->s->leaking[i]);
        k->to_find += !whole || hdx_graph_live(k->st->h->g, k->s->leaking[i]);
    }
    return HDX_OK;
}

/* Frees what only paths need, before sizes are computed. */
static void drop_queues(search *k)
{
    const uint64_t n = k->st->objects, words = hdx_bits_words(n);
    hdx_mem       *mem = k->s->mem;
    hdx_mem_put(mem, k->from, n * sizeof *k->from);
    hdx_mem_put(mem, k->first, n * sizeof *k->first);
    hdx_mem_put(mem, k->seen, words * sizeof *k->seen);
    hdx_mem_put(mem, k->waiting, words * sizeof *k->waiting);
    hdx_mem_put(mem, k->wanted, words * sizeof *k->wanted);
    hdx_mem_put(mem, k->late, words * sizeof *k->late);
    hdx_mem_put(mem, k->found, k->s->leaking_count * sizeof *k->found);
    hdx_mem_put(mem, k->last, k->last_capacity * sizeof *k->last);
    k->from = k->first = k->last = k->found = NULL;
    k->seen = k->waiting = k->wanted = k->late = NULL;
    k->last_capacity = 0;
}

void WIDE(hdx_leak_drop)(search *k)
{
    drop_queues(k);
    hdx_mem_put(k->s->mem, k->locals, k->local_capacity * sizeof *k->locals);
    hdx_mem_put(k->s->mem, k->edges, k->edge_capacity * sizeof *k->edges);
    hdx_map_free(&k->root_of);
    hdx_map_free(&k->serials);
}

static hdx_code find_sizes(search *k, hdx_error *err)
{
    leak_search *s = k->s;
    hdx_map      native = hdx_map_of(s->mem);
    bool         fresh, gave_up = false, good = true;
    for (uint64_t i = 0; i < s->path_count; i++)
        for (uint64_t j = 0; good && j < s->paths[i].count; j++)
            good = hdx_map_put(&s->bytes, s->paths[i].objects[j], &fresh) != NULL &&
                   hdx_map_put(&s->counts, s->paths[i].objects[j], &fresh) != NULL;
    hdx_code code = good ? hdx_leak_native_sizes(s->h, &native, err)
                         : hdx_no_memory(err, "sizes", s->bytes.capacity * sizeof(hdx_map_slot));
    drop_queues(k);
    if (code == HDX_OK)
        code = WIDE(hdx_leak_flood)(k, &native, &gave_up, err);
    if (code == HDX_OK && gave_up)
        code = WIDE(hdx_leak_sizes)(k, &native, err);
    hdx_map_free(&native);
    return code;
}

hdx_code WIDE(hdx_leak_search_run)(leak_search *s, hdx_error *err)
{
    leak_plans plans = { NULL };
    store      st = { .h = s->h, .plans = &plans, .mem = s->mem, .apart = s->apart };
    search     k = {
            .st = &st, .s = s, .root_of = hdx_map_of(s->mem), .serials = hdx_map_of(s->mem), .new_activities = NONE
    };
    const uint64_t each = 2 * hdx_graph_objects(s->h->g) * sizeof(NID);
    hdx_code       code;
    if ((code = hdx_leak_plans_make(s->h, s->rules, s->holds, &plans, err)) != HDX_OK)
        goto out;
    k.plans = plans.at;
    hdx_ticker_step(s->tick, "references", 2 * hdx_graph_summary_of(s->h->g)->file_size, "bytes");
    if ((code = WIDE(hdx_leak_store_read)(&st, s->threads, each + each / 12, s->tick, &s->too_wide, err)) != HDX_OK)
        goto out;
    s->dangling = st.dangling;
    hdx_ticker_step(s->tick, "paths", st.objects, "objects");
    if ((code = WIDE(hdx_leak_take_roots)(&k, err)) != HDX_OK || (code = prepare(&k, err)) != HDX_OK ||
        (code = enqueue_roots(&k, err)) != HDX_OK || (code = search_all(&k, err)) != HDX_OK ||
        (code = WIDE(hdx_leak_paths)(&k, err)) != HDX_OK)
        goto out;
    if (s->retained && s->path_count > 0) {
        hdx_ticker_step(s->tick, "sizes", st.objects, "objects");
        code = find_sizes(&k, err);
    }
out:
    if (code == HDX_OK && s->h->code != HDX_OK)
        code = (*err = s->h->err, s->h->code);
    WIDE(hdx_leak_drop)(&k);
    WIDE(hdx_leak_store_free)(&st);
    hdx_leak_plans_free(&plans, s->h->class_count);
    return code;
}
