/*
 * search_wide.c - the best path to every leaking object: two queues from the GC roots (3.1 to 3.6).
 *
 *     first  everything that is simply referred to                                 last  what a library matcher, a local or an animator holds
 *
 * In:  the store, the leaking ids, matchers that hold.
 * Out: paths of the outermost leaks, leaks without a path; with sizes, what every object yielded, for sizes_wide.c.
 * Knows the order of roots, what an object yields and in which order, and how an object that waits in `last` is promoted. Does not know statuses.
 * Cost: about 9 bytes per object and one look at each of its references; with sizes an id per reference besides. Nothing recurses: long lists are
 * loops, and a cycle in one is left when it is noticed (Brent), after some entries were given twice, which changes nothing.
 *
 *   S1  `from` of a reached object is the object that enqueued it last; of a root object it is the object itself.
 *   S2  once the first queue is empty everything goes behind the last one (`turned`).
 */
#include "leaks/wide.h"

#include <stdlib.h>

#define AHEAD 8u
#define TICK 65536u

typedef enum how { BY_FIELD, BY_STATIC, BY_ELEMENT, BY_LOCAL, BY_INDEX, BY_KEY, BY_VALUE, BY_MEMBER, BY_TARGET, BY_NEW_ACTIVITIES } how;
typedef struct edge {
    NID      to, key;
    uint32_t n;       /* slot or index */
    uint32_t matcher; /* + 1 */
    uint8_t  how;
    bool     low;
} edge;

typedef struct local { /* a JAVA_FRAME root of a known thread */
    uint32_t serial;
    NID      object;
} local;

typedef struct search {
    store        *st;
    leak_search  *s;
    const leak_plan *plans;
    NID          *from;
    uint64_t     *seen, *waiting, *wanted, *late; /* bits over ids; late: taken from the last queue */
    reached       r;       /* order is the first queue until it is empty, too */
    NID          *last;
    uint64_t      last_head, last_count, last_capacity;
    bool          turned, naming;
    leak_root    *roots;
    uint64_t      root_count;
    hdx_map       root_of; /* object -> place in roots, where it was enqueued by one */
    hdx_map       serials; /* thread object -> serial */
    local        *locals;  /* by serial, in the order of the dump */
    uint64_t      local_count, local_capacity;
    edge         *edges;   /* of the object looked at */
    uint64_t      edge_count, edge_capacity;
    NID           new_activities;
    bool          record_listed;
    NID          *found;
    uint64_t      found_count;
    bool          out_of_memory;
} search;

/* ---- what an object yields ---- */

static inline void add(search *k, NID to, how by, uint32_t n, NID key, uint32_t matcher, bool low)
{
    if (to == NONE)
        return;
    if (k->edge_count == k->edge_capacity && !hdx_mem_room(NULL, (void **)&k->edges, &k->edge_capacity, k->edge_count, sizeof *k->edges)) {
        k->out_of_memory = true;
        return;
    }
    k->edges[k->edge_count++] = (edge){ to, key, n, matcher, (uint8_t)by, low };
}

/* What a field behind a virtual reference holds, in any instance whose hierarchy declares it. */
static NID known(const search *k, NID of, uint32_t field)
{
    if (of == NONE || kind_of(k->st, of) != HDX_INSTANCE)
        return NONE;
    const leak_plan *p = &k->plans[number_of(k->st, of)];
    if (k->st->at[of + 1] == k->st->at[of])
        return NONE;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->slots[i].known == field)
            return k->st->slots[k->st->at[of] + i];
    return NONE;
}

static const NID *array(const search *k, NID of, uint64_t *count)
{
    *count = 0;
    if (of == NONE || kind_of(k->st, of) != HDX_OBJECT_ARRAY)
        return NULL;
    *count = k->st->at[of + 1] - k->st->at[of];
    return k->st->slots + k->st->at[of];
}

/* Brent: the mark moves to powers of two; a chain that meets it is a circle. */
typedef struct chain {
    NID      mark;
    uint64_t steps, limit;
} chain;
static chain chain_from(NID first) { return (chain){ first, 0, 1 }; }
static bool  chain_goes_on(chain *c, NID next)
{
    if (next == NONE || next == c->mark)
        return false;
    if (++c->steps == c->limit) {
        c->limit *= 2;
        c->steps = 0;
        c->mark = next;
    }
    return true;
}

/* A linked list is a circle in Harmony, whose head counts as index 0. */
static void linked(search *k, NID id)
{
    const leak_plans *p = k->st->plans;
    NID               node = known(k, id, p->linked_head);
    chain             c = chain_from(node);
    uint32_t          n = 0;
    while (node != NONE && !k->out_of_memory) {
        add(k, known(k, node, p->linked_item), BY_INDEX, n++, NONE, 0, false);
        node = known(k, node, p->linked_next);
        if (!chain_goes_on(&c, node))
            break;
    }
}

static void listed(search *k, NID id, uint32_t field, bool cut)
{
    uint64_t         count;
    const NID       *at = array(k, known(k, id, field), &count);
    const leak_plan *p = &k->plans[number_of(k->st, id)];
    if (cut) {
        const NID size = p->size_offset >= 0 && k->st->at[id + 1] - k->st->at[id] == p->count + 1u ? k->st->slots[k->st->at[id] + p->count] : NONE;
        if (size == NONE)
            count = 0;
        else if (size < count)
            count = size;
    }
    for (uint64_t i = 0; i < count && i < UINT32_MAX; i++)
        add(k, at[i], BY_INDEX, (uint32_t)i, NONE, 0, false);
}

/* table: array of buckets, each a chain of nodes. */
static void hashed(search *k, NID map, uint32_t table, uint32_t key, uint32_t value, uint32_t next, bool members)
{
    uint64_t   count;
    const NID *buckets = array(k, known(k, map, table), &count);
    for (uint64_t i = 0; i < count; i++) {
        NID   node = buckets[i];
        chain c = chain_from(node);
        while (node != NONE && !k->out_of_memory) {
            const NID name = known(k, node, key);
            add(k, name, members ? BY_MEMBER : BY_KEY, 0, NONE, 0, false);
            if (!members)
                add(k, known(k, node, value), BY_VALUE, 0, name, 0, false);
            node = known(k, node, next);
            if (!chain_goes_on(&c, node))
                break;
        }
    }
}

static void safe_map(search *k, NID id)
{
    NID   node = known(k, id, LK_SAFE_START);
    chain c = chain_from(node);
    while (node != NONE && !k->out_of_memory) {
        const NID key = known(k, node, LK_SAFE_KEY);
        add(k, key, BY_KEY, 0, NONE, 0, false);
        add(k, known(k, node, LK_SAFE_VALUE), BY_VALUE, 0, key, 0, false);
        node = known(k, node, LK_SAFE_NEXT);
        if (!chain_goes_on(&c, node))
            break;
    }
}

static void messages(search *k, NID id)
{
    NID      node = known(k, id, LK_QUEUE_MESSAGES);
    chain    c = chain_from(node);
    uint32_t n = 0;
    while (node != NONE && !k->out_of_memory) {
        add(k, node, BY_INDEX, n++, NONE, 0, false);
        node = known(k, node, LK_MESSAGE_NEXT);
        if (!chain_goes_on(&c, node))
            break;
    }
}

/* The record that ActivityThread.mNewActivities points to lists destroyed activities by position (case 29). */
static void records(search *k, NID id)
{
    if (k->naming ? !k->record_listed : id != k->new_activities)
        return;
    if (id != k->new_activities)
        return;
    k->record_listed = true;
    NID      node = id;
    chain    c = chain_from(node);
    uint32_t n = 0;
    while (node != NONE && !k->out_of_memory) {
        const NID activity = known(k, node, LK_RECORD_ACTIVITY);
        if (activity != NONE && leak_get_bool(k->st->h, activity, "android.app.Activity", "mDestroyed", NULL))
            add(k, activity, BY_INDEX, n, NONE, 0, false);
        n++;
        node = known(k, node, LK_NEXT_IDLE);
        if (!chain_goes_on(&c, node))
            break;
    }
}

static uint32_t matcher_named(const search *k, hdx_leak_matcher_kind kind, hdx_text class_name, const char *member)
{
    for (uint64_t i = k->s->rules->matcher_count; i-- > 0;) {
        const hdx_leak_matcher *m = &k->s->rules->matchers[i];
        if (k->s->holds[i] && m->kind == kind && (member == NULL || strcmp(m->member, member) == 0) && (class_name.at == NULL || hdx_text_is(class_name, m->class_name)))
            return (uint32_t)i + 1;
    }
    return 0;
}

static void locals(search *k, NID id, uint32_t serial)
{
    const char    *name = leak_get_text(k->st->h, id, "java.lang.Thread", "name");
    const uint32_t m = name != NULL ? matcher_named(k, HDX_LEAK_JAVA_LOCAL, (hdx_text){ NULL, 0 }, name) : 0;
    uint64_t       from = 0, end = k->local_count;
    if (m != 0 && k->s->rules->matchers[m - 1].ignored)
        return;
    while (from < end) {
        const uint64_t middle = from + (end - from) / 2;
        if (k->locals[middle].serial < serial)
            from = middle + 1;
        else
            end = middle;
    }
    for (; from < k->local_count && k->locals[from].serial == serial; from++)
        add(k, k->locals[from].object, BY_LOCAL, 0, NONE, m, true);
}

static void animated(search *k, NID id)
{
    const NID weak = known(k, id, LK_ANIMATOR_TARGET);
    if (weak != NONE && !is_class(k->st, weak) && number_of(k->st, weak) == k->st->plans->weak_reference)
        add(k, known(k, weak, LK_REFERENT), BY_TARGET, 0, NONE, 0, true);
}

static void new_activities(search *k, NID id)
{
    const NID      record = known(k, id, LK_NEW_ACTIVITIES);
    const hdx_text owner = { leak_known_fields[LK_NEW_ACTIVITIES].owner, (uint32_t)strlen(leak_known_fields[LK_NEW_ACTIVITIES].owner) };
    if (record == NONE)
        return;
    if (!k->naming)
        k->new_activities = record;
    uint32_t m = 0; /* a mark of its own, whatever the device (3.6) */
    for (uint64_t i = k->s->rules->matcher_count; i-- > 0 && m == 0;)
        if (k->s->rules->matchers[i].kind == HDX_LEAK_INSTANCE_FIELD && hdx_text_is(owner, k->s->rules->matchers[i].class_name) &&
            strcmp(k->s->rules->matchers[i].member, leak_known_fields[LK_NEW_ACTIVITIES].name) == 0)
            m = (uint32_t)i + 1;
    add(k, record, BY_NEW_ACTIVITIES, 0, NONE, m, false);
}

static void virtual_references(search *k, NID id, const leak_plan *p)
{
    const leak_plans *all = k->st->plans;
    const uint64_t   *serial = p->is_thread ? hdx_map_get(&k->serials, id) : NULL;
    if (serial != NULL) {
        locals(k, id, (uint32_t)*serial);
        return;
    }
    switch ((leak_expand)p->expand) {
    case LE_NONE:
        break;
    case LE_LINKED:
        linked(k, id);
        break;
    case LE_LIST:
        listed(k, id, all->list_data, true);
        break;
    case LE_COW:
        listed(k, id, all->cow_array, false);
        break;
    case LE_HASH_MAP:
        hashed(k, id, LK_HASH_TABLE, all->node_key, all->node_value, all->node_next, false);
        break;
    case LE_CONCURRENT_MAP:
        hashed(k, id, LK_CHM_TABLE, LK_CNODE_KEY, LK_CNODE_VALUE, LK_CNODE_NEXT, false);
        break;
    case LE_HASH_SET:
        hashed(k, known(k, id, all->set_map), LK_HASH_TABLE, all->node_key, all->node_value, all->node_next, true);
        break;
    case LE_ARRAY_SET: {
        uint64_t   count;
        const NID *at = array(k, known(k, id, LK_ARRAYSET_ARRAY), &count);
        for (uint64_t i = 0; i < count; i++)
            add(k, at[i], BY_MEMBER, 0, NONE, 0, false);
        break;
    }
    case LE_SAFE_MAP:
        safe_map(k, id);
        break;
    case LE_QUEUE:
        messages(k, id);
        break;
    case LE_ANIMATOR:
        animated(k, id);
        break;
    case LE_ACTIVITY_THREAD:
        new_activities(k, id);
        break;
    case LE_CLIENT_RECORD:
        records(k, id);
        break;
    }
}

/* Everything an instance or a class object yields, in order, into k->edges. Arrays are walked where they are used. */
static void expand(search *k, NID id)
{
    const NID *slots = k->st->slots + k->st->at[id];
    k->edge_count = 0;
    if (k->st->at[id + 1] == k->st->at[id] && (is_class(k->st, id) || kind_of(k->st, id) != HDX_INSTANCE))
        return;
    const leak_plan *p = &k->plans[number_of(k->st, id)];
    const bool       statics = is_class(k->st, id);
    const leak_slot *slot = statics ? p->statics : p->slots;
    const uint32_t   count = statics ? p->static_count : p->count;
    if (!statics && (p->expand != LE_NONE || p->is_thread))
        virtual_references(k, id, p);
    if ((!statics && !p->plain) || k->st->at[id + 1] - k->st->at[id] < count)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (slots[i] != NONE && (slot[i].flags & (LEAK_SLOT_IGNORED | LEAK_SLOT_SILENT)) == 0)
            add(k, slots[i], statics ? BY_STATIC : BY_FIELD, i, NONE, slot[i].matcher, (slot[i].flags & LEAK_SLOT_LOW) != 0);
}

static bool walks_elements(const search *k, NID id)
{
    return kind_of(k->st, id) == HDX_OBJECT_ARRAY && k->plans[number_of(k->st, id)].elements;
}

/* ---- queues ---- */

static bool push(search *k, NID id, bool low)
{
    if (low) {
        if (!hdx_mem_room(NULL, (void **)&k->last, &k->last_capacity, k->last_count, sizeof *k->last))
            return false;
        k->last[k->last_count++] = id;
        hdx_bits_put(k->waiting, id);
        return true;
    }
    if (!hdx_mem_room(NULL, (void **)&k->r.order, &k->r.capacity, k->r.count, sizeof *k->r.order))
        return false;
    k->r.order[k->r.count++] = id;
    return true;
}

static inline bool enqueue(search *k, NID id, NID from, bool low)
{
    low |= k->turned;
    if (!hdx_bits_set(k->seen, id)) {
        if (low || !hdx_bits_test(k->waiting, id))
            return true;
        hdx_bits_clear(k->waiting, id); /* promoted: it moves to the end of the first queue, with the new parent (3.3) */
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

static bool keep_edge(search *k, NID to)
{
    if (k->r.edge_count == k->r.edge_capacity && !hdx_mem_room(NULL, (void **)&k->r.edges, &k->r.edge_capacity, k->r.edge_count, sizeof *k->r.edges))
        return false;
    k->r.edges[k->r.edge_count++] = to;
    return true;
}

static bool visit(search *k, NID id)
{
    const bool keep = k->s->retained;
    bool       good = true;
    if (walks_elements(k, id)) {
        const NID     *at = k->st->slots + k->st->at[id];
        const uint64_t n = k->st->at[id + 1] - k->st->at[id];
        for (uint64_t i = 0; good && i < n; i++)
            if (at[i] != NONE)
                good = enqueue(k, at[i], id, false) && (!keep || keep_edge(k, at[i]));
    } else {
        expand(k, id);
        for (uint64_t i = 0; good && i < k->edge_count; i++)
            good = enqueue(k, k->edges[i].to, id, k->edges[i].low) && (!keep || keep_edge(k, k->edges[i].to));
    }
    return good && !k->out_of_memory;
}

static void ahead(const search *k, uint64_t done)
{
    const store *s = k->st;
    if (done + AHEAD >= k->r.count || k->turned)
        return;
    const NID far = k->r.order[done + AHEAD], near = k->r.order[done + AHEAD / 2];
    __builtin_prefetch(&s->class_of[far]);
    __builtin_prefetch(&s->at[far]);
    __builtin_prefetch(&s->slots[s->at[near]]);
}

static hdx_code run(search *k, hdx_error *err)
{
    uint64_t done = 0;
    for (;;) {
        NID id;
        if (!k->turned && done < k->r.count) {
            id = k->r.order[done];
        } else {
            k->turned = true;
            while (k->last_head < k->last_count && !hdx_bits_test(k->waiting, k->last[k->last_head]))
                k->last_head++;
            if (k->last_head == k->last_count)
                return HDX_OK;
            id = k->last[k->last_head++];
            hdx_bits_clear(k->waiting, id);
            hdx_bits_put(k->late, id);
            if (!hdx_mem_room(NULL, (void **)&k->r.order, &k->r.capacity, k->r.count, sizeof *k->r.order))
                return hdx_no_memory(err, "queues of the search", k->r.count * sizeof(NID));
            k->r.order[k->r.count++] = id;
        }
        ahead(k, done);
        done++;
        if (hdx_bits_test(k->wanted, id)) {
            k->found[k->found_count++] = id;
            if (k->found_count == k->s->leaking_count && !k->s->retained)
                return HDX_OK;
        }
        if (!visit(k, id))
            return hdx_no_memory(err, "queues of the search", (k->r.count + k->r.edge_count + k->last_count) * sizeof(NID));
        if (k->s->retained) {
            if (!hdx_mem_room(NULL, (void **)&k->r.edge_end, &k->r.edge_end_capacity, done, sizeof *k->r.edge_end))
                return hdx_no_memory(err, "references of reached objects", done * sizeof *k->r.edge_end);
            k->r.edge_end[done - 1] = k->r.edge_count;
        }
        if (done % TICK == 0 && hdx_tick(k->s->tick, TICK))
            return hdx_tick_stop(err);
    }
}

/* ---- roots ---- */

static int root_kind(uint8_t tag)
{
    static const uint8_t tags[LR_KINDS] = { 0x08, 0x06, 0x05, 0x04, 0x07, 0x8e, 0x02, 0x01, 0x03 };
    for (int i = 0; i < LR_KINDS; i++)
        if (tags[i] == tag)
            return i;
    return -1; /* kinds that Shark leaves out (1.3) */
}

typedef struct sorted_root { leak_root root; hdx_text class_name; uint64_t order; } sorted_root;
static int root_order(const void *a, const void *b)
{
    const sorted_root *x = a, *y = b;
    if (x->root.kind != y->root.kind)
        return x->root.kind < y->root.kind ? -1 : 1;
    const uint32_t least = x->class_name.len < y->class_name.len ? x->class_name.len : y->class_name.len;
    int            c = memcmp(x->class_name.at, y->class_name.at, least);
    if (c == 0)
        c = x->class_name.len < y->class_name.len ? -1 : x->class_name.len > y->class_name.len;
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
    const local  **at = hdx_mem_array(NULL, n, sizeof *at);
    local         *sorted = hdx_mem_array(NULL, n, sizeof *sorted);
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
    hdx_mem_put(NULL, (void *)at, n * sizeof *at);
    hdx_mem_put(NULL, sorted, n * sizeof *sorted);
    return good ? HDX_OK : hdx_no_memory(err, "locals", n * sizeof *sorted);
}

static bool keep_root(search *k, const hdx_dump_root *d, int kind, sorted_root *out, hdx_id object)
{
    uint32_t m = 0;
    if (kind == LR_JNI_GLOBAL && (m = matcher_named(k, HDX_LEAK_NATIVE_GLOBAL, leak_name_of(k->st->h, object), NULL)) != 0 && k->s->rules->matchers[m - 1].ignored)
        return false;
    *out = (sorted_root){ { object, (leak_root_kind)kind, d->serial, m, kind == LR_JAVA_FRAME || m != 0 }, leak_name_of(k->st->h, object), d->pos };
    return true;
}

/* Sorts roots as 3.1 says; locals of known threads become references of their thread. */
static hdx_code take_roots(search *k, hdx_error *err)
{
    store       *st = k->st;
    hdx_map      known_serials = hdx_map_of(NULL);
    sorted_root *at = hdx_mem_array(NULL, st->root_count, sizeof *at);
    uint64_t     n = 0;
    bool         fresh, good = at != NULL;
    hdx_code     code = HDX_OK;
    for (uint64_t i = 0; good && i < st->root_count; i++)
        if (root_kind(st->roots[i].tag) == LR_THREAD_OBJECT && st->roots[i].object != 0) {
            const hdx_id id = leak_object_at(st->h, st->roots[i].object);
            good = hdx_map_put(&known_serials, st->roots[i].serial, &fresh) != NULL;
            uint64_t *serial = id != HDX_NO_ID && good ? hdx_map_put(&k->serials, id, &fresh) : NULL;
            if (serial != NULL)
                *serial = st->roots[i].serial;
        }
    for (uint64_t i = 0; good && i < st->root_count; i++) {
        const hdx_dump_root *d = &st->roots[i];
        const int            kind = root_kind(d->tag);
        const hdx_id         id = kind >= 0 ? leak_object_at(st->h, d->object) : HDX_NO_ID;
        if (id == HDX_NO_ID)
            continue;
        if (kind == LR_JAVA_FRAME && hdx_map_get(&known_serials, d->serial) != NULL) {
            good = hdx_mem_room(NULL, (void **)&k->locals, &k->local_capacity, k->local_count, sizeof *k->locals);
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
    hdx_mem_put(NULL, at, st->root_count * sizeof *at);
    hdx_map_free(&known_serials);
    return code == HDX_OK ? sort_locals(k, err) : code;
}

/* ---- paths ---- */

typedef struct pair { NID from, to; leak_hop *hop; } pair;
static int by_from(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/*
 * Of nested leaks only the outermost stays (4.1): the way to a leak is the way to its parent, so a leak among those above is enough. What was found
 * out about objects on the way is kept in `clean` and `below`, or many leaks at the end of a long list would walk it again and again.
 */
static bool has_leak_above(const search *k, NID id, uint64_t *clean, uint64_t *below)
{
    NID  at = id;
    bool above = hdx_bits_test(below, id);
    while (!above && k->from[at] != at && !hdx_bits_test(clean, at)) {
        at = k->from[at];
        above = hdx_bits_test(k->wanted, at) || hdx_bits_test(below, at);
    }
    for (NID v = id; v != at; v = k->from[v])
        hdx_bits_put(above ? below : clean, v);
    return above;
}

static hdx_code collect(search *k, hdx_error *err)
{
    leak_search *s = k->s;
    uint64_t    *clean = hdx_mem_array(NULL, hdx_bits_words(k->st->objects), sizeof *clean);
    s->paths = hdx_arena_get(&s->arena, k->found_count * sizeof *s->paths);
    if (clean == NULL || s->paths == NULL) {
        hdx_mem_put(NULL, clean, clean != NULL ? hdx_bits_words(k->st->objects) * sizeof *clean : 0);
        return hdx_no_memory(err, "paths", k->found_count * sizeof *s->paths);
    }
    hdx_code code = HDX_OK;
    memset(k->seen, 0, (size_t)(hdx_bits_words(k->st->objects) * sizeof *k->seen));
    for (uint64_t i = 0; code == HDX_OK && i < k->found_count; i++) {
        if (has_leak_above(k, k->found[i], clean, k->seen))
            continue;
        leak_path *p = &s->paths[s->path_count++];
        NID        at = k->found[i];
        for (p->count = 1; k->from[at] != at; at = k->from[at])
            p->count++;
        const uint64_t *root = hdx_map_get(&k->root_of, at);
        p->root = root != NULL ? &k->roots[*root] : NULL;
        p->objects = hdx_arena_get(&s->arena, p->count * sizeof *p->objects);
        p->hops = hdx_arena_get(&s->arena, p->count * sizeof *p->hops);
        if (p->objects == NULL || p->hops == NULL || p->root == NULL)
            code = hdx_no_memory(err, "paths", p->count * sizeof *p->hops);
        at = k->found[i];
        for (uint64_t j = p->count; code == HDX_OK && j-- > 0; at = k->from[at])
            p->objects[j] = at;
    }
    hdx_mem_put(NULL, clean, hdx_bits_words(k->st->objects) * sizeof *clean);
    return code;
}

static void name_hop(search *k, const edge *e, NID from, leak_hop *hop)
{
    leak_heap       *h = k->st->h;
    const uint32_t   number = number_of(k->st, from);
    const leak_plan *p = &k->plans[number];
    const char      *text = NULL;
    *hop = (leak_hop){ .from = from, .to = e->to, .kind = HDX_LEAK_REF_ARRAY_ENTRY, .key = HDX_NO_ID, .owner = number, .matcher = e->matcher, .low = e->low };
    switch ((how)e->how) {
    case BY_FIELD:
        hop->kind = HDX_LEAK_REF_INSTANCE_FIELD;
        hop->name = p->slots[e->n].name;
        hop->owner = p->slots[e->n].owner;
        return;
    case BY_STATIC:
        hop->kind = HDX_LEAK_REF_STATIC_FIELD;
        hop->name = p->statics[e->n].name;
        return;
    case BY_LOCAL:
        hop->kind = HDX_LEAK_REF_LOCAL;
        text = "";
        break;
    case BY_ELEMENT:
    case BY_INDEX:
        text = leak_print(h, "%u", e->n);
        break;
    case BY_KEY:
        text = "key()";
        break;
    case BY_MEMBER:
        text = "element()";
        break;
    case BY_VALUE:
        if (e->key == NONE)
            text = "null";
        else if ((text = leak_text(h, e->key)) != NULL)
            text = leak_print(h, "\"%s\"", text);
        else
            hop->key = e->key;
        break;
    case BY_TARGET:
    case BY_NEW_ACTIVITIES:
        hop->kind = HDX_LEAK_REF_INSTANCE_FIELD;
        text = e->how == BY_TARGET ? "mTarget" : "mNewActivities";
        break;
    }
    if (text != NULL)
        hop->name = (hdx_text){ text, (uint32_t)strlen(text) };
}

/* The first reference that may have enqueued `to`: while the first queue lasted a plain one wins over one of low priority (3.3). */
static void name_targets(search *k, NID from, pair *at, uint64_t count)
{
    const bool late = hdx_bits_test(k->late, from);
    if (walks_elements(k, from)) {
        const NID *slots = k->st->slots + k->st->at[from];
        uint32_t   n = 0; /* the index counts only elements that are there (3.5) */
        for (uint64_t i = 0; i < k->st->at[from + 1] - k->st->at[from]; i++) {
            if (slots[i] == NONE)
                continue;
            const pair wanted = { from, slots[i], NULL };
            pair      *p = bsearch(&wanted, at, (size_t)count, sizeof *at, by_from);
            if (p != NULL && p->hop->to == HDX_NO_ID) {
                const edge e = { .to = slots[i], .key = NONE, .n = n, .how = BY_ELEMENT };
                name_hop(k, &e, from, p->hop);
            }
            n++;
        }
        return;
    }
    expand(k, from);
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < k->edge_count; i++) {
            const edge *e = &k->edges[i];
            if (pass == 0 && !late && e->low)
                continue;
            const pair wanted = { from, e->to, NULL };
            pair      *p = bsearch(&wanted, at, (size_t)count, sizeof *at, by_from);
            if (p != NULL && p->hop->to == HDX_NO_ID)
                name_hop(k, e, from, p->hop);
        }
}

/* Every reference of every path once, grouped by the object it comes from: an array of a million elements is walked once for all its leaks. */
static hdx_code name_paths(search *k, hdx_error *err)
{
    leak_search *s = k->s;
    uint64_t     n = 0, count = 0;
    for (uint64_t i = 0; i < s->path_count; i++)
        n += s->paths[i].count - 1;
    pair *pairs = hdx_mem_array(NULL, n, sizeof *pairs);
    if (pairs == NULL)
        return hdx_no_memory(err, "paths", n * sizeof *pairs);
    for (uint64_t i = 0; i < s->path_count; i++)
        for (uint64_t j = 0; j + 1 < s->paths[i].count; j++)
            pairs[count++] = (pair){ (NID)s->paths[i].objects[j], (NID)s->paths[i].objects[j + 1], &s->paths[i].hops[j] };
    if (n > 1)
        qsort(pairs, (size_t)n, sizeof *pairs, by_from);
    hdx_code code = HDX_OK;
    uint64_t kept = 0; /* equal pairs stand together: the first is named, the others copy it afterwards */
    pair    *distinct = hdx_mem_array(NULL, n, sizeof *distinct);
    if (distinct == NULL)
        code = hdx_no_memory(err, "paths", n * sizeof *distinct);
    for (uint64_t i = 0; code == HDX_OK && i < n; i++)
        if (i == 0 || by_from(&pairs[i - 1], &pairs[i]) != 0) {
            pairs[i].hop->to = HDX_NO_ID;
            distinct[kept++] = pairs[i];
        }
    k->naming = true;
    for (uint64_t i = 0, end; code == HDX_OK && i < kept; i = end) {
        for (end = i; end < kept && distinct[end].from == distinct[i].from; end++)
            ;
        name_targets(k, distinct[i].from, distinct + i, end - i);
    }
    for (uint64_t i = 1; code == HDX_OK && i < n; i++)
        if (by_from(&pairs[i - 1], &pairs[i]) == 0)
            *pairs[i].hop = *pairs[i - 1].hop;
    hdx_mem_put(NULL, pairs, n * sizeof *pairs);
    hdx_mem_put(NULL, distinct, distinct != NULL ? n * sizeof *distinct : 0);
    return code == HDX_OK && k->out_of_memory ? hdx_no_memory(err, "paths", n * sizeof *pairs) : code;
}

static hdx_code leave_out(search *k, hdx_error *err)
{
    leak_search *s = k->s;
    for (uint64_t i = 0; i < k->found_count; i++)
        hdx_bits_clear(k->wanted, k->found[i]);
    if ((s->lost = hdx_arena_get(&s->arena, s->leaking_count * sizeof *s->lost)) == NULL)
        return hdx_no_memory(err, "leaks without a path", s->leaking_count * sizeof *s->lost);
    for (uint64_t i = 0; i < s->leaking_count; i++)
        if (hdx_bits_test(k->wanted, s->leaking[i]))
            s->lost[s->lost_count++] = s->leaking[i];
    return HDX_OK;
}

/* ---- the whole ---- */

static hdx_code prepare(search *k, hdx_error *err)
{
    const uint64_t n = k->st->objects, words = hdx_bits_words(n);
    k->from = hdx_mem_array(NULL, n, sizeof *k->from);
    k->seen = hdx_mem_array(NULL, words, sizeof *k->seen);
    k->waiting = hdx_mem_array(NULL, words, sizeof *k->waiting);
    k->wanted = hdx_mem_array(NULL, words, sizeof *k->wanted);
    k->late = hdx_mem_array(NULL, words, sizeof *k->late);
    k->found = hdx_mem_array(NULL, k->s->leaking_count, sizeof *k->found);
    if (k->from == NULL || k->seen == NULL || k->waiting == NULL || k->wanted == NULL || k->late == NULL || k->found == NULL)
        return hdx_no_memory(err, "the search", n * sizeof *k->from);
    for (uint64_t i = 0; i < k->s->leaking_count; i++)
        hdx_bits_put(k->wanted, k->s->leaking[i]);
    return HDX_OK;
}

static void drop(search *k)
{
    const uint64_t n = k->st->objects, words = hdx_bits_words(n);
    hdx_mem_put(NULL, k->from, n * sizeof *k->from);
    hdx_mem_put(NULL, k->seen, words * sizeof *k->seen);
    hdx_mem_put(NULL, k->waiting, words * sizeof *k->waiting);
    hdx_mem_put(NULL, k->wanted, words * sizeof *k->wanted);
    hdx_mem_put(NULL, k->late, words * sizeof *k->late);
    hdx_mem_put(NULL, k->found, k->s->leaking_count * sizeof *k->found);
    hdx_mem_put(NULL, k->last, k->last_capacity * sizeof *k->last);
    hdx_mem_put(NULL, k->locals, k->local_capacity * sizeof *k->locals);
    hdx_mem_put(NULL, k->edges, k->edge_capacity * sizeof *k->edges);
    hdx_map_free(&k->root_of);
    hdx_map_free(&k->serials);
    k->from = k->last = k->found = NULL;
    k->seen = k->waiting = k->wanted = k->late = NULL;
    k->locals = NULL;
    k->edges = NULL;
    k->last_capacity = k->local_capacity = k->edge_capacity = 0;
}

static hdx_code ask_sizes(search *k, const hdx_map *native, hdx_error *err)
{
    leak_search *s = k->s;
    bool         fresh;
    uint64_t     n = 0;
    for (uint64_t i = 0; i < s->path_count; i++)
        for (uint64_t j = 0; j < s->paths[i].count; j++)
            if (hdx_map_put(&s->bytes, s->paths[i].objects[j], &fresh) == NULL || hdx_map_put(&s->counts, s->paths[i].objects[j], &fresh) == NULL)
                return hdx_no_memory(err, "sizes", s->bytes.capacity * sizeof(hdx_map_slot));
    if ((k->r.roots = hdx_mem_array(NULL, k->root_count, sizeof *k->r.roots)) == NULL)
        return hdx_no_memory(err, "roots", k->root_count * sizeof *k->r.roots);
    memset(k->waiting, 0, (size_t)(hdx_bits_words(k->st->objects) * sizeof *k->waiting));
    for (uint64_t i = 0; i < k->root_count; i++)
        if (hdx_bits_set(k->waiting, k->roots[i].object))
            k->r.roots[n++] = (NID)k->roots[i].object;
    k->r.root_count = n;
    const uint64_t rooms = k->root_count;
    drop(k); /* what the paths needed is not needed for sizes, and sizes need most */
    hdx_code code = WIDE(leak_sizes)(k->st, &k->r, native, s, err);
    hdx_mem_put(NULL, k->r.roots, rooms * sizeof *k->r.roots);
    k->r.roots = NULL;
    return code;
}

hdx_code WIDE(leak_search_run)(leak_search *s, hdx_error *err)
{
    leak_plans plans = { NULL };
    store      st = { .h = s->h, .plans = &plans };
    search     k = { .st = &st, .s = s, .root_of = hdx_map_of(NULL), .serials = hdx_map_of(NULL), .new_activities = NONE };
    hdx_map    native = hdx_map_of(NULL);
    hdx_code   code;
    if ((code = leak_plans_make(s->h, s->rules, s->holds, &plans, err)) != HDX_OK)
        goto out;
    k.plans = plans.at;
    hdx_ticker_step(s->tick, "references", 2 * hdx_graph_summary_of(s->h->g)->file_size, "bytes");
    if ((code = WIDE(leak_store_read)(&st, s->threads, s->tick, &s->too_wide, err)) != HDX_OK)
        goto out;
    s->dangling = st.dangling;
    hdx_ticker_step(s->tick, "paths", st.objects, "objects");
    if ((code = take_roots(&k, err)) != HDX_OK || (code = prepare(&k, err)) != HDX_OK || (code = enqueue_roots(&k, err)) != HDX_OK ||
        (code = run(&k, err)) != HDX_OK || (code = collect(&k, err)) != HDX_OK || (code = name_paths(&k, err)) != HDX_OK || (code = leave_out(&k, err)) != HDX_OK)
        goto out;
    if (s->retained && s->path_count > 0) {
        hdx_ticker_step(s->tick, "sizes", k.r.count, "objects");
        if ((code = leak_native_sizes(s->h, &native, err)) == HDX_OK)
            code = ask_sizes(&k, &native, err);
    }
out:
    if (code == HDX_OK && s->h->code != HDX_OK)
        code = (*err = s->h->err, s->h->code);
    drop(&k);
    hdx_map_free(&native);
    hdx_mem_put(NULL, k.r.order, k.r.capacity * sizeof *k.r.order);
    hdx_mem_put(NULL, k.r.edge_end, k.r.edge_end_capacity * sizeof *k.r.edge_end);
    hdx_mem_put(NULL, k.r.edges, k.r.edge_capacity * sizeof *k.r.edges);
    WIDE(leak_store_free)(&st);
    leak_plans_free(&plans, s->h->class_count);
    return code;
}
