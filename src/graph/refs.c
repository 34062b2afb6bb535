/*
 * refs.c - cursors over lists of objects: outbound, inbound, dominated, instances.
 *
 * In:  an object, or a class.
 * Out: ids, read from the file in batches, returned one at a time.
 * An answer combines several lists: no outbound list contains the class object (the class file implies it), no inbound
 * list the instances of a class (the instances file has them), and no list of dominated objects an object with one
 * referrer.
 * Cost: a list costs its look-up (0.2 us read ahead, else some waits for memory: 0.6 us on a large index), an id a few
 *       nanoseconds, and with a scope the look-up whether it is live.
 *
 * A cursor is up to three runs, in this order:
 *
 *     extra               one id alone: the class object
 *     state at..end       values of key's list in the file `state`
 *     base  at2..end2     values of key2's list in the file `base`; those in `special` are left out when kind says so
 */
#include "graph/inside.h"

#include <assert.h>

enum { ALL_OF_IT, NOT_SPECIAL, WITHOUT_CUT }; /* WITHOUT_CUT: the view excludes some references of the lists */
#define BATCH UINT64_C(64)

/* The content of a hdx_refs. may_alias, because the caller's variable has another type. */
typedef struct __attribute__((may_alias)) cursor {
    hdx_graph     *graph;
    hdx_id         of;
    hdx_id         extra; /* the class object (outbound), or none pending */
    int            kind, state;
    uint64_t       key, at, end, base;
    uint64_t       key2, at2, end2;
    unsigned       filled, next;
    hdx_refs_scope scope;
    uint64_t       batch[BATCH];
} cursor;
_Static_assert(sizeof(cursor) <= sizeof(hdx_refs) && _Alignof(cursor) <= _Alignof(hdx_refs), "a cursor fits");

static void begin(hdx_graph *g, hdx_id of, hdx_refs_scope scope, cursor *c)
{
    c->graph = g;
    c->of = of;
    c->extra = HDX_NO_ID;
    c->kind = ALL_OF_IT;
    c->state = 0;
    c->key = c->at = c->end = c->base = c->key2 = c->at2 = c->end2 = 0;
    c->filled = c->next = 0;
    /* If nothing is garbage, no object needs to be checked: HDX_LIVE equals HDX_ALL, and HDX_GARBAGE is empty. */
    c->scope = scope == HDX_LIVE && hdx_graph_all_live(g) ? HDX_ALL : scope;
}

static uint64_t list_of(const hdx_graph *g, hdx_kind kind, uint64_t key, uint64_t *at, uint64_t *end)
{
    const hdx_one_to_n *lists = hdx_graph_use(g, kind);
    uint64_t            length = 0;
    *at = *end = 0;
    if (lists == NULL)
        return 0;
    hdx_one_to_n_list(lists, key, at, &length);
    if (!hdx_add(*at, length, end))
        *at = *end = length = 0;
    assert(*at <= *end); /* G4 */
    return length;
}

static void first_run(cursor *c, hdx_kind kind, uint64_t key)
{
    c->state = (int)kind;
    c->key = key;
    (void)list_of(c->graph, kind, key, &c->at, &c->end);
}

static void second_run(cursor *c, hdx_kind kind, uint64_t key)
{
    c->base = (uint64_t)kind;
    c->key2 = key;
    (void)list_of(c->graph, kind, key, &c->at2, &c->end2);
}

/* Returns the number of references of the object, or to it, that the view excludes. */
static uint64_t cuts(const hdx_graph *g, hdx_id id, bool to)
{
    if (g->m->cut_from == 0)
        return 0;
    const hdx_cut_list c = hdx_graph_cut_of(g, id, to);
    return c.end - c.at;
}

void hdx_graph_outbound(hdx_graph *g, hdx_id id, hdx_refs_scope scope, hdx_refs *refs)
{
    cursor *c = (cursor *)refs;
    begin(g, id, scope, c);
    if (id >= g->objects)
        return;
    /* What a live object refers to is live (MAT 5.1, INDEX I8): one check instead of one for each target. */
    if (c->scope != HDX_ALL && hdx_graph_live(g, id)) {
        if (c->scope == HDX_GARBAGE)
            return;
        c->scope = HDX_ALL;
    }
    const hdx_class *class = hdx_graph_class(g, hdx_graph_class_of(g, id));
    c->extra = class != NULL ? class->id : HDX_NO_ID;
    first_run(c, HDX_KIND_OUTBOUND, id);
    c->kind = cuts(g, id, false) > 0 ? WITHOUT_CUT : ALL_OF_IT;
}

/*
 * Returns the number of the class of which this is the class object; only instances of java.lang.Class are looked up.
 */
static uint32_t class_object_number(hdx_graph *g, hdx_id id)
{
    const hdx_class_table *t = hdx_graph_class_table(g);
    uint32_t               number = t != NULL ? hdx_graph_class_of(g, id) : HDX_NO_CLASS;
    const hdx_class       *own = number != HDX_NO_CLASS && t->mirror[number] ? hdx_class_of_object(t, id) : NULL;
    return own != NULL ? own->number : HDX_NO_CLASS;
}

void hdx_graph_inbound(hdx_graph *g, hdx_id id, hdx_refs_scope scope, hdx_refs *refs)
{
    cursor *c = (cursor *)refs;
    begin(g, id, scope, c);
    if (id >= g->objects)
        return;
    if (c->scope != HDX_ALL && !hdx_graph_live(g, id)) { /* nothing live refers to garbage */
        if (c->scope == HDX_LIVE)
            return;
        c->scope = HDX_ALL;
    }
    uint32_t number = class_object_number(g, id);
    if (number != HDX_NO_CLASS)
        first_run(c, HDX_KIND_INSTANCES, number);
    second_run(c, HDX_KIND_INBOUND, id);
    c->kind = cuts(g, id, true) > 0 ? WITHOUT_CUT : ALL_OF_IT;
}

void hdx_graph_instances(hdx_graph *g, uint32_t number, hdx_refs_scope scope, hdx_refs *refs)
{
    cursor *c = (cursor *)refs;
    begin(g, HDX_NO_ID, scope, c);
    if (number < g->m->classes)
        first_run(c, HDX_KIND_INSTANCES, number);
}

void hdx_graph_dominated(hdx_graph *g, hdx_id id, hdx_refs *refs)
{
    cursor *c = (cursor *)refs;
    begin(g, id, HDX_ALL, c);
    if (hdx_graph_use(g, HDX_KIND_DOMINATED) == NULL || hdx_graph_use(g, HDX_KIND_SPECIAL) == NULL)
        return;
    if (id == HDX_VIRTUAL_ROOT) {
        first_run(c, HDX_KIND_DOMINATED, 0);
        return;
    }
    const hdx_ranks *dominators = id < g->objects ? hdx_graph_use(g, HDX_KIND_DOMINATORS) : NULL;
    uint64_t         rank;
    if (dominators == NULL)
        return;
    if (hdx_ranks_find(dominators, id, &rank) && rank < g->m->dominators)
        first_run(c, HDX_KIND_DOMINATED, rank + 1);
    /* An object that is not special has one referrer, which is its dominator: here, this object. */
    c->kind = NOT_SPECIAL;
    second_run(c, HDX_KIND_OUTBOUND, id);
}

/* Filters batch[0 .. n) and returns how many ids remain. All ids are objects: the file has no other values. */
static unsigned keep(cursor *c, unsigned n, bool second)
{
    const hdx_ranks *special = second && c->kind == NOT_SPECIAL ? hdx_graph_use(c->graph, HDX_KIND_SPECIAL) : NULL;
    const bool       some = c->kind == WITHOUT_CUT && (second || c->state == (int)HDX_KIND_OUTBOUND);
    unsigned         kept = 0;
    uint64_t         rank;
    if (special == NULL && !some && c->scope == HDX_ALL)
        return n;
    const hdx_cut_list cut = some ? hdx_graph_cut_of(c->graph, c->of, second) : (hdx_cut_list){ 0 };
    for (unsigned i = 0; i < n; i++) {
        hdx_id id = c->batch[i];
        bool   in = (special == NULL || !hdx_ranks_find(special, id, &rank)) && !hdx_cut_has(&cut, id);
        if (in && c->scope != HDX_ALL)
            in = hdx_graph_live(c->graph, id) == (c->scope == HDX_LIVE);
        c->batch[kept] = id;
        kept += in;
    }
    return kept;
}

static unsigned read_run(cursor *c, hdx_kind kind, uint64_t key, uint64_t *at, uint64_t end, unsigned from)
{
    assert(from < BATCH && *at < end); /* G4 */
    const hdx_one_to_n *lists = hdx_graph_use(c->graph, kind);
    const unsigned      n = (unsigned)hdx_least(end - *at, BATCH - from);
    if (lists == NULL) {
        *at = end;
        return 0;
    }
    hdx_one_to_n_read(lists, key, *at, n, c->batch + from);
    *at += n;
    return n;
}

/* Fills the batch if it is used up; false at the end. */
static bool refill(cursor *c)
{
    while (c->next == c->filled) {
        unsigned n = 0;
        bool     second = false;
        if (c->extra != HDX_NO_ID) {
            c->batch[n++] = c->extra;
            c->extra = HDX_NO_ID;
        }
        if (c->at < c->end) {
            n += read_run(c, (hdx_kind)c->state, c->key, &c->at, c->end, n);
        } else if (n == 0 && c->at2 < c->end2) {
            second = true;
            n = read_run(c, (hdx_kind)c->base, c->key2, &c->at2, c->end2, 0);
        } else if (n == 0) {
            return false;
        }
        assert(n <= BATCH && c->extra == HDX_NO_ID && (!second || c->at == c->end)); /* G4 */
        c->filled = keep(c, n, second);
        c->next = 0;
    }
    assert(c->next < c->filled); /* G4 */
    return true;
}

bool hdx_refs_next(hdx_refs *refs, hdx_id *id)
{
    cursor *c = (cursor *)refs;
    if (c->next == c->filled && !refill(c))
        return false;
    *id = c->batch[c->next++];
    return true;
}

size_t hdx_refs_take(hdx_refs *refs, hdx_id *ids, size_t n)
{
    cursor *c = (cursor *)refs;
    size_t  taken = 0;
    while (taken < n && (c->next < c->filled || refill(c))) {
        const size_t now = n - taken < c->filled - c->next ? n - taken : c->filled - c->next;
        memcpy(ids + taken, c->batch + c->next, now * sizeof *ids);
        c->next += (unsigned)now;
        taken += now;
    }
    return taken;
}

static uint64_t count_all(hdx_refs *refs)
{
    uint64_t n = 0;
    hdx_id   id;
    while (hdx_refs_next(refs, &id))
        n++;
    return n;
}

uint64_t hdx_graph_outbound_count(hdx_graph *g, hdx_id id, hdx_refs_scope scope)
{
    hdx_refs      refs;
    const cursor *c = (const cursor *)&refs;
    hdx_graph_outbound(g, id, scope, &refs);
    return c->scope == HDX_ALL && c->kind == ALL_OF_IT ? (c->extra != HDX_NO_ID) + (c->end - c->at) : count_all(&refs);
}

uint64_t hdx_graph_inbound_count(hdx_graph *g, hdx_id id, hdx_refs_scope scope)
{
    hdx_refs refs;
    cursor  *c = (cursor *)&refs;
    hdx_graph_inbound(g, id, scope, &refs);
    if (c->scope == HDX_ALL && c->kind == ALL_OF_IT)
        return (c->end - c->at) + (c->end2 - c->at2);
    if (c->at == c->end)
        return count_all(&refs);
    /* Millions of strings are instances of one class: use the counts of the catalog, which separates live ones. */
    const hdx_class *class = hdx_graph_class(g, (uint32_t)c->key);
    if (class == NULL || class->instances != c->end - c->at)
        return count_all(&refs);
    uint64_t live = class->live_instances;
    c->at = c->end;
    return (scope == HDX_LIVE ? live : class->instances - live) + count_all(&refs);
}
