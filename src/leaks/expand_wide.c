/*
 * expand_wide.c - lists the references of an object that the search follows, in Shark's order (SHARK 3.5, 3.6).
 *
 * In:  the slots of an object, the plan of its class.
 * Out: edges: target, name of the reference, queue.
 * Knows collections of Java and Android, threads and their locals, and ignored references. Does not know queues.
 * Cost: the slots of the object; for a collection also those of its nodes. Nothing recurses: long lists are loops. A
 *       cycle in a list is detected (Brent) after some entries were listed twice, which changes nothing.
 */
#include "leaks/wide.h"

static inline void add(search *k, NID to, leak_how by, uint32_t n, NID key, uint32_t matcher, bool low)
{
    if (to == NONE)
        return;
    if (k->edge_count == k->edge_capacity &&
        !hdx_mem_room(k->s->mem, (void **)&k->edges, &k->edge_capacity, k->edge_count, sizeof *k->edges)) {
        k->out_of_memory = true;
        return;
    }
    k->edges[k->edge_count++] = (edge){ to, key, n, matcher, (uint8_t)by, low };
    if (k->edge_count % ENOUGH == 0 && hdx_tick(k->s->tick, 0))
        k->stopped = k->out_of_memory = true;
}

hdx_code WIDE(hdx_leak_ended)(const search *k, hdx_error *err)
{
    return k->stopped ? hdx_tick_stop(err)
                      : hdx_no_memory(err, "references of an object", k->edge_capacity * sizeof *k->edges);
}

static NID field_of(const search *k, const object *o, uint32_t field)
{
    if (o->kind != HDX_INSTANCE || o->count == 0)
        return NONE;
    const leak_plan *p = &k->plans[o->number];
    for (uint32_t i = 0; i < p->count; i++)
        if (p->slots[i].known == field)
            return slot(k->st, o, i);
    return NONE;
}

/* Returns the target of a field behind a virtual reference, in any instance whose hierarchy declares the field. */
static NID known_field(const search *k, NID of, uint32_t field)
{
    if (of == NONE)
        return NONE;
    const object o = look(k->st, of);
    return field_of(k, &o, field);
}

/* Returns an object array; for any other object an array without elements. */
static object array(const search *k, NID of)
{
    const object none = { NULL, 0, NO_NUMBER, false, HDX_PRIMITIVE_ARRAY }, o = of != NONE ? look(k->st, of) : none;
    return o.kind == HDX_OBJECT_ARRAY ? o : none;
}

/* Brent's cycle detection: the mark moves at powers of two; a chain that reaches the mark is a cycle. */
typedef struct chain {
    NID      mark;
    uint64_t steps, limit;
} chain;
static chain chain_from(NID first) { return (chain){ first, 0, 1 }; }
static bool  chain_continues(chain *c, NID next)
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

/* A LinkedList is circular in Harmony, whose head counts as index 0. */
static void linked(search *k, NID id)
{
    const leak_plans *p = k->st->plans;
    NID               node = known_field(k, id, p->linked_head);
    chain             c = chain_from(node);
    uint32_t          n = 0;
    while (node != NONE && !k->out_of_memory) {
        add(k, known_field(k, node, p->linked_item), BY_INDEX, n++, NONE, 0, false);
        node = known_field(k, node, p->linked_next);
        if (!chain_continues(&c, node))
            break;
    }
}

static void listed(search *k, NID id, uint32_t field, bool cut)
{
    const object     of = look(k->st, id), elements = array(k, field_of(k, &of, field));
    const leak_plan *p = &k->plans[of.number];
    uint64_t         count = elements.count;
    if (cut) { /* size + 1; 0 if the size was not read */
        const bool     sized = p->size_offset >= 0 && of.count == p->count + size_entries(k->st);
        const uint32_t size_plus_1 = sized ? hdx_le32(of.at + (size_t)p->count * k->st->lists.width) : 0;
        if (size_plus_1 == 0)
            count = 0;
        else if (size_plus_1 - 1 < count)
            count = size_plus_1 - 1;
    }
    for (uint64_t i = 0; i < count && i < UINT32_MAX && !k->out_of_memory; i++)
        add(k, slot(k->st, &elements, i), BY_INDEX, (uint32_t)i, NONE, 0, false);
}

/* table: array of buckets, each a chain of nodes. */
static void hashed(search *k, NID map, uint32_t table, uint32_t key, uint32_t value, uint32_t next, bool members)
{
    const object buckets = array(k, known_field(k, map, table));
    for (uint64_t i = 0; i < buckets.count && !k->out_of_memory; i++) {
        NID   node = slot(k->st, &buckets, i);
        chain c = chain_from(node);
        while (node != NONE && !k->out_of_memory) {
            const object o = look(k->st, node);
            const NID    name = field_of(k, &o, key);
            add(k, name, members ? BY_MEMBER : BY_KEY, 0, NONE, 0, false);
            if (!members)
                add(k, field_of(k, &o, value), BY_VALUE, 0, name, 0, false);
            node = field_of(k, &o, next);
            if (!chain_continues(&c, node))
                break;
        }
    }
}

static void safe_map(search *k, NID id)
{
    NID   node = known_field(k, id, LK_SAFE_START);
    chain c = chain_from(node);
    while (node != NONE && !k->out_of_memory) {
        const NID key = known_field(k, node, LK_SAFE_KEY);
        add(k, key, BY_KEY, 0, NONE, 0, false);
        add(k, known_field(k, node, LK_SAFE_VALUE), BY_VALUE, 0, key, 0, false);
        node = known_field(k, node, LK_SAFE_NEXT);
        if (!chain_continues(&c, node))
            break;
    }
}

static void messages(search *k, NID id)
{
    NID      node = known_field(k, id, LK_QUEUE_MESSAGES);
    chain    c = chain_from(node);
    uint32_t n = 0;
    while (node != NONE && !k->out_of_memory) {
        add(k, node, BY_INDEX, n++, NONE, 0, false);
        node = known_field(k, node, LK_MESSAGE_NEXT);
        if (!chain_continues(&c, node))
            break;
    }
}

/* The record to which ActivityThread.mNewActivities points lists destroyed activities by position (SHARK 3.6). */
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
        const NID activity = known_field(k, node, LK_RECORD_ACTIVITY);
        if (activity != NONE && hdx_leak_get_bool(k->st->h, activity, "android.app.Activity", "mDestroyed", NULL))
            add(k, activity, BY_INDEX, n, NONE, 0, false);
        n++;
        node = known_field(k, node, LK_NEXT_IDLE);
        if (!chain_continues(&c, node))
            break;
    }
}

uint32_t WIDE(hdx_leak_matcher_named)(const search *k, hdx_leak_matcher_kind kind, hdx_text class_name,
                                      const char *member)
{
    for (uint64_t i = k->s->rules->matcher_count; i-- > 0;) {
        const hdx_leak_matcher *m = &k->s->rules->matchers[i];
        if (k->s->holds[i] && m->kind == kind && (member == NULL || strcmp(m->member, member) == 0) &&
            (class_name.at == NULL || hdx_text_is(class_name, m->class_name)))
            return (uint32_t)i + 1;
    }
    return 0;
}

static void locals(search *k, NID id, uint32_t serial)
{
    const char    *name = hdx_leak_get_text(k->st->h, id, "java.lang.Thread", "name");
    const uint32_t m =
        name != NULL ? WIDE(hdx_leak_matcher_named)(k, HDX_LEAK_JAVA_LOCAL, (hdx_text){ NULL, 0 }, name) : 0;
    if (m != 0 && k->s->rules->matchers[m - 1].ignored)
        return;
    uint64_t from = hdx_lower_bound(HDX_KEYS(k->locals, k->local_count, serial), serial);
    for (; from < k->local_count && k->locals[from].serial == serial; from++)
        add(k, k->locals[from].object, BY_LOCAL, 0, NONE, m, true);
}

static void animated(search *k, NID id)
{
    const NID    weak = known_field(k, id, LK_ANIMATOR_TARGET);
    const object o = weak != NONE ? look(k->st, weak) : (object){ .number = NO_NUMBER };
    if (o.kind == HDX_INSTANCE && o.number != NO_NUMBER && o.number == k->st->plans->weak_reference)
        add(k, known_field(k, weak, LK_REFERENT), BY_TARGET, 0, NONE, 0, true);
}

static void new_activities(search *k, NID id)
{
    const NID      record = known_field(k, id, LK_NEW_ACTIVITIES);
    const hdx_text owner = { hdx_leak_known_fields[LK_NEW_ACTIVITIES].owner,
                             (uint32_t)strlen(hdx_leak_known_fields[LK_NEW_ACTIVITIES].owner) };
    if (record == NONE)
        return;
    if (!k->naming)
        k->new_activities = record;
    uint32_t m = 0; /* its own mark on every device (SHARK 3.6) */
    for (uint64_t i = k->s->rules->matcher_count; i-- > 0 && m == 0;)
        if (k->s->rules->matchers[i].kind == HDX_LEAK_INSTANCE_FIELD &&
            hdx_text_is(owner, k->s->rules->matchers[i].class_name) &&
            strcmp(k->s->rules->matchers[i].member, hdx_leak_known_fields[LK_NEW_ACTIVITIES].name) == 0)
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
    case LE_NONE: break;
    case LE_LINKED: linked(k, id); break;
    case LE_LIST: listed(k, id, all->list_data, true); break;
    case LE_COW: listed(k, id, all->cow_array, false); break;
    case LE_HASH_MAP: hashed(k, id, LK_HASH_TABLE, all->node_key, all->node_value, all->node_next, false); break;
    case LE_CONCURRENT_MAP: hashed(k, id, LK_CHM_TABLE, LK_CNODE_KEY, LK_CNODE_VALUE, LK_CNODE_NEXT, false); break;
    case LE_HASH_SET:
        hashed(k, known_field(k, id, all->set_map), LK_HASH_TABLE, all->node_key, all->node_value, all->node_next,
               true);
        break;
    case LE_ARRAY_SET: {
        const object at = array(k, known_field(k, id, LK_ARRAYSET_ARRAY));
        for (uint64_t i = 0; i < at.count && !k->out_of_memory; i++)
            add(k, slot(k->st, &at, i), BY_MEMBER, 0, NONE, 0, false);
        break;
    }
    case LE_SAFE_MAP: safe_map(k, id); break;
    case LE_QUEUE: messages(k, id); break;
    case LE_ANIMATOR: animated(k, id); break;
    case LE_ACTIVITY_THREAD: new_activities(k, id); break;
    case LE_CLIENT_RECORD: records(k, id); break;
    }
}

void WIDE(hdx_leak_expand_object)(search *k, NID id, const object *o)
{
    k->edge_count = 0;
    if (o->number == NO_NUMBER || (o->count == 0 && o->kind != HDX_INSTANCE))
        return;
    const leak_plan *p = &k->plans[o->number];
    const leak_slot *of = o->is_class ? p->statics : p->slots;
    const uint32_t   count = o->is_class ? p->static_count : o->kind == HDX_INSTANCE ? p->count : 0;
    if (o->kind == HDX_INSTANCE && (p->expand != LE_NONE || p->is_thread))
        virtual_references(k, id, p);
    if ((!o->is_class && !p->plain) || o->count < count)
        return;
    for (uint32_t i = 0; i < count; i++)
        if ((of[i].flags & (LEAK_SLOT_IGNORED | LEAK_SLOT_SILENT)) == 0)
            add(k, slot(k->st, o, i), o->is_class ? BY_STATIC : BY_FIELD, i, NONE, of[i].matcher,
                (of[i].flags & LEAK_SLOT_LOW) != 0);
}
