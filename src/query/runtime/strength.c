/*
 * strength.c - how strongly objects are reachable, without a search of the whole heap.
 *
 * In:  referents, from the dump; the parents of shortest paths and both lists of references, from the index.
 * Out: each object that is not strongly reachable, with the strength that holds it.
 *
 *     root ──> a ──> WeakReference ┄┄> t ──> u ──> v        parents of shortest paths: ──> and ┄┄>
 *                                            ^
 *     root ──> b ──> c ──> d ────────────────┘              a strong path to u that is longer
 *
 * An object whose shortest path uses no weak referent is strongly reachable, which is true for nearly all. Only the
 * other objects (t, u, v) are examined: those with a strong referrer outside of them (u), and what these reach (v), are
 * strongly reachable. The remaining ones are reached from referents, the strongest references first. Cost: a record per
 * reference; a bit per object; the objects reached through referents, and the references to them.
 */
#include "query/common/fields.h"
#include "query/runtime/strength.h"

#include "base/bits.h"
#include "graph/graph.h"
#include <stdlib.h>

const char *const hdx_strength_names[HDX_STRENGTHS + 1] = { "strong", "soft", "weak", "final", "phantom", "none" };

/* ---- references ---- */

static const struct {
    const char  *class_name;
    hdx_strength kind;
} known[] = {
    { "java.lang.ref.SoftReference", HDX_SOFT },       { "java.lang.ref.WeakReference", HDX_WEAK },
    { "java.lang.ref.FinalReference", HDX_FINAL },     { "java.lang.ref.FinalizerReference", HDX_FINAL }, /* Android */
    { "java.lang.ref.PhantomReference", HDX_PHANTOM },
};

static hdx_code add_references(hdx_strengths *s, const char *class_name, hdx_strength kind, hdx_error *err)
{
    hdx_ids  ids = hdx_ids_of(s->ask->q.mem);
    hdx_code code = hdx_instances_below(s->ask, class_name, &ids, err);
    for (uint64_t i = 0; code == HDX_OK && i < ids.count; i++) {
        if (!hdx_mem_room(s->ask->q.mem, (void **)&s->at, &s->capacity, s->count, sizeof *s->at))
            code = hdx_no_memory(err, "references", (s->count + 1) * sizeof *s->at);
        else
            s->at[s->count++] = (hdx_reference){ .id = ids.at[i], .referent = HDX_NO_ID, .kind = kind };
    }
    hdx_ids_drop(&ids);
    return code;
}

static int by_reference(const void *a, const void *b)
{
    const hdx_reference *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/*
 * Android's FinalizerReference in the queue has its object in `zombie`, and no longer a referent
 * (FinalizerReference.enqueueSentinelReference, ReferenceQueue::EnqueueFinalizerReferences of ART).
 */
static const hdx_value *referent_or_zombie(const hdx_fields *f, const hdx_value *referent)
{
    const hdx_value *zombie = hdx_fields_value(f, "java.lang.ref.FinalizerReference", "zombie");
    return zombie != NULL && zombie->type == 2 ? zombie : referent;
}

static hdx_code read_referent(hdx_strengths *s, hdx_fields *f, hdx_reference *r, hdx_error *err)
{
    hdx_graph       *g = s->ask->g;
    const hdx_class *own = hdx_graph_class(g, hdx_graph_class_of(g, r->id));
    unsigned         times = 0;
    const hdx_code   code = hdx_fields_read(f, g, r->id, err);
    const hdx_value *v = hdx_fields_value(f, NULL, "referent");
    r->unknown = v == NULL;
    s->unknown += r->unknown;
    if (code != HDX_OK || v == NULL || v->type != 2)
        return code;
    if (r->kind == HDX_FINAL && v->as.address == 0)
        v = referent_or_zombie(f, v);
    r->cleared = v->as.address == 0;
    if (r->cleared || !hdx_graph_find(g, v->as.address, &r->referent))
        return HDX_OK;
    for (uint64_t i = 0; i < f->v.count; i++) {
        const hdx_value *other = &f->v.at[i].value;
        times += other->type == 2 && !other->absent && other->as.address == v->as.address;
    }
    r->also = times > 1 || (own != NULL && own->id == r->referent);
    return HDX_OK;
}

hdx_code hdx_references_open(hdx_ask *ask, hdx_strengths *out, hdx_error *err)
{
    hdx_fields f = { 0 };
    hdx_code   code = HDX_OK;
    *out = (hdx_strengths){ .ask = ask, .places = hdx_map_of(ask->q.mem) };
    for (size_t i = 0; code == HDX_OK && i < sizeof known / sizeof *known; i++)
        code = add_references(out, known[i].class_name, known[i].kind, err);
    if (code == HDX_OK && out->count > 1)
        qsort(out->at, (size_t)out->count, sizeof *out->at, by_reference);
    struct hdx_near *near = hdx_graph_near_begin(ask->g);
    for (uint64_t i = 0; code == HDX_OK && i < out->count; i++)
        if ((code = read_referent(out, &f, &out->at[i], err)) == HDX_OK)
            code = hdx_ask_check_cancel(ask, err);
    hdx_graph_near_end(near);
    hdx_fields_close(&f);
    return code;
}

void hdx_strengths_close(hdx_strengths *s)
{
    hdx_mem_put(s->ask->q.mem, s->at, s->capacity * sizeof *s->at);
    hdx_list_free(s->ask->q.mem, HDX_LIST_REF(&s->weak));
    hdx_map_free(&s->places);
    *s = (hdx_strengths){ .ask = NULL };
}

/* ---- objects reached through referents ---- */

typedef struct search {
    hdx_strengths *s;
    hdx_ask       *ask;
    uint64_t      *open;    /* bit set: the shortest path uses a referent, and the object is not reached yet */
    uint64_t       objects; /* number of bits */
    hdx_ids        opened, stack;
} search;

static bool is_open(const search *x, hdx_id id) { return id < x->objects && hdx_bits_test(x->open, id); }

static hdx_strength strength_of_edge(const hdx_strengths *s, hdx_id from, hdx_id to)
{
    const uint64_t *place = hdx_map_get(&s->places, from);
    return place == NULL || s->at[*place].referent != to || s->at[*place].also ? HDX_STRONG : s->at[*place].kind;
}

static hdx_code open_object(search *x, hdx_id id, hdx_error *err)
{
    return id < x->objects && hdx_bits_set(x->open, id) ? hdx_ids_push(&x->opened, id, err) : HDX_OK;
}

/* Finds all objects with a weak referent on their shortest path. */
static hdx_code find_candidates(search *x, hdx_error *err)
{
    hdx_graph *g = x->ask->g;
    hdx_refs   refs;
    hdx_id     to;
    hdx_code   code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < x->s->count; i++) {
        const hdx_reference *r = &x->s->at[i];
        if (r->referent != HDX_NO_ID && !r->also && r->referent != r->id && hdx_graph_nearest(g, r->referent) == r->id)
            code = open_object(x, r->referent, err);
    }
    for (uint64_t i = 0; code == HDX_OK && i < x->opened.count; i++) {
        hdx_graph_outbound(g, x->opened.at[i], HDX_LIVE, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &to))
            if (to != x->opened.at[i] && hdx_graph_nearest(g, to) == x->opened.at[i])
                code = open_object(x, to, err);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(x->ask, err);
    }
    return code;
}

static hdx_code reach(search *x, hdx_id id, hdx_strength strength, hdx_error *err)
{
    hdx_strengths *s = x->s;
    hdx_bits_clear(x->open, id);
    if (strength != HDX_STRONG) {
        if (!hdx_list_room(x->ask->q.mem, HDX_LIST_REF(&s->weak)))
            return hdx_no_memory(err, "weakly held objects", (s->weak.count + 1) * sizeof(hdx_weakly));
        s->weak.at[s->weak.count++] = (hdx_weakly){ id, strength };
        s->objects[strength]++;
        s->bytes[strength] += hdx_graph_shallow(x->ask->g, id);
    }
    return hdx_ids_push(&x->stack, id, err);
}

/* Reaches objects by references of that strength or a stronger one. */
static hdx_code spread(search *x, hdx_id id, hdx_strength strength, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   from, to;
    hdx_code code = is_open(x, id) ? reach(x, id, strength, err) : HDX_OK;
    while (code == HDX_OK && x->stack.count > 0) {
        from = x->stack.at[--x->stack.count];
        hdx_graph_outbound(x->ask->g, from, HDX_LIVE, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &to))
            if (is_open(x, to) && strength_of_edge(x->s, from, to) <= strength)
                code = reach(x, to, strength, err);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(x->ask, err);
    }
    return code;
}

static hdx_code spread_strongly(search *x, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   from;
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < x->opened.count; i++) {
        const hdx_id id = x->opened.at[i];
        if (!is_open(x, id))
            continue;
        hdx_graph_inbound(x->ask->g, id, HDX_LIVE, &refs);
        while (hdx_refs_next(&refs, &from))
            if (!is_open(x, from) && strength_of_edge(x->s, from, id) == HDX_STRONG) {
                code = spread(x, id, HDX_STRONG, err);
                break;
            }
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(x->ask, err);
    }
    return code;
}

static hdx_code spread_by_referents(search *x, hdx_strength strength, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < x->s->count; i++) {
        const hdx_reference *r = &x->s->at[i];
        if (r->kind <= strength && r->referent != HDX_NO_ID && !is_open(x, r->id))
            code = spread(x, r->referent, strength, err);
    }
    return code;
}

static int by_object(const void *a, const void *b)
{
    const hdx_weakly *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

hdx_code hdx_strengths_open(hdx_ask *ask, hdx_strengths *out, hdx_error *err)
{
    hdx_mem       *mem = ask->q.mem;
    const uint64_t words = hdx_bits_words(hdx_graph_objects(ask->g));
    search         x = { out, ask, NULL, hdx_graph_objects(ask->g), hdx_ids_of(mem), hdx_ids_of(mem) };
    bool           fresh;
    hdx_code       code = hdx_references_open(ask, out, err);
    if (code != HDX_OK)
        return code;
    if (!hdx_map_reserve(&out->places, out->count))
        return hdx_no_memory(err, "references", out->count * sizeof(hdx_map_slot));
    for (uint64_t i = 0; i < out->count; i++) {
        uint64_t *place = hdx_map_put(&out->places, out->at[i].id, &fresh);
        if (place == NULL)
            return hdx_no_memory(err, "references", out->count * sizeof(hdx_map_slot));
        *place = i;
    }
    if ((x.open = hdx_mem_array(mem, words, sizeof *x.open)) == NULL)
        return hdx_no_memory(err, "marks", words * sizeof *x.open);
    if ((code = find_candidates(&x, err)) == HDX_OK)
        code = spread_strongly(&x, err);
    for (int strength = HDX_SOFT; code == HDX_OK && strength < HDX_STRENGTHS; strength++)
        code = spread_by_referents(&x, (hdx_strength)strength, err);
    if (out->weak.count > 1)
        qsort(out->weak.at, (size_t)out->weak.count, sizeof(hdx_weakly), by_object);
    hdx_ids_drop(&x.opened);
    hdx_ids_drop(&x.stack);
    hdx_mem_put(mem, x.open, words * sizeof *x.open);
    return code == HDX_OK ? hdx_graph_check(ask->g, err) : code;
}

hdx_strength hdx_strength_of(const hdx_strengths *s, hdx_id id)
{
    const hdx_weakly  key = { id, HDX_STRONG };
    const hdx_weakly *at =
        s->weak.count == 0 ? NULL : bsearch(&key, s->weak.at, (size_t)s->weak.count, sizeof key, by_object);
    return at != NULL ? at->strength : hdx_graph_live(s->ask->g, id) ? HDX_STRONG : HDX_STRENGTHS;
}
