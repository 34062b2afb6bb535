/*
 * contents.c - reads size and arrays of one collection.
 *
 * In:  layouts bound to the classes of a dump, values from the dump.
 * Out: facts, or a note why they are missing.
 * Sizes may be impossible and wrappers may form cycles: wrappers are followed step by step.
 * Cost: one record for the collection and for each object that its size needs; one per node if no field has the size.
 */
#include "query/common/contents_read.h"

#include "graph/graph.h"
#include "model/model.h"

/* ---- sizes ---- */

static bool sum_of_elements(hdx_contents *c, hdx_object_as o, const hdx_field_path *p, unsigned each, uint64_t *sum)
{
    hdx_element_reader r;
    hdx_value          v;
    hdx_id             id;
    uint64_t           n;
    bool               null;
    for (unsigned i = 0; i < each; i++) {
        if (!hdx_contents_follow(c, &o, p->step[i]))
            return false;
        if (o.id == HDX_NO_ID)
            return true;
    }
    if (!hdx_contents_open_array(c, o.id, &r))
        return false;
    for (uint64_t i = 0; i < r.length; i++) {
        if (!hdx_contents_element(c, &r, i, &v) || !hdx_contents_referred(c, &v, &id))
            return false;
        if (id == HDX_NO_ID)
            continue;
        if (!hdx_contents_value(c, hdx_object_seen(c, id), p, each + 1, &v, &null))
            return false;
        if (null)
            continue;
        if (!hdx_contents_number(c, &v, &n))
            return false;
        *sum += n;
    }
    return true;
}

static bool add_term(hdx_contents *c, hdx_object_as o, const hdx_size_term *t, uint64_t *sum)
{
    hdx_element_reader r;
    hdx_value          v;
    hdx_id             id;
    uint64_t           n = 0;
    bool               null;
    unsigned           each = 0;
    if (t->sign == 0) {
        *sum += t->number;
        return true;
    }
    while (each < t->path.count && t->path.step[each] != HDX_STEP_EACH)
        each++;
    if (each < t->path.count)
        return sum_of_elements(c, o, &t->path, each, sum);
    if (!hdx_contents_value(c, o, &t->path, 0, &v, &null))
        return false;
    if (null)
        return true;
    if (t->sign == '#') {
        if (!hdx_contents_referred(c, &v, &id) || !hdx_contents_open_array(c, id, &r))
            return false;
        n = r.length;
    } else if (t->sign == '?') {
        n = !hdx_contents_is_zero(&v);
    } else {
        if (!hdx_contents_number(c, &v, &n))
            return false;
        n = t->sign == '%' ? (uint64_t)__builtin_popcountll(n) : n;
    }
    *sum += n;
    return true;
}

/* The terms of a concurrent map are not updated atomically, so one may be negative; only the sum must not be. */
bool hdx_contents_size_of(hdx_contents *c, hdx_object_as o, const hdx_layout *l, uint64_t *size)
{
    *size = 0;
    for (unsigned i = 0; i < l->term_count; i++)
        if (!add_term(c, o, &l->term[i], size))
            return false;
    return *size <= INT64_MAX || hdx_contents_give_up(c, HDX_NOTE_DAMAGED);
}

/* Clears the note if the size field was overwritten but the references are intact, so that elements can be counted. */
bool hdx_contents_size_is_lost(hdx_contents *c, const hdx_layout *l)
{
    if (!c->wiped || c->code != HDX_OK || c->note != HDX_NOTE_ABSENT ||
        (l->way != HDX_WAY_BUCKETS && l->way != HDX_WAY_CHAIN && l->way != HDX_WAY_TREE && l->way != HDX_WAY_SPARSE))
        return false;
    c->note = HDX_NOTE_NONE;
    return true;
}

/* ---- facts ---- */

static uint64_t width(const hdx_contents *c, const hdx_element_reader *r)
{
    return r->type == 2 ? c->reference_size : r->size;
}

static bool count_used(hdx_contents *c, hdx_element_reader *r, uint64_t *used)
{
    hdx_value v;
    for (uint64_t i = 0; i < r->length; i++) {
        if (!hdx_contents_element(c, r, i, &v))
            return false;
        *used += !hdx_contents_is_zero(&v);
    }
    return true;
}

/* Measures the arrays of the collection; scan: counts the used buckets, too. */
static bool measure_arrays(hdx_contents *c, hdx_object_as o, const hdx_layout *l, bool scan, hdx_collection_facts *f)
{
    hdx_arrays         arrays = { 0 };
    hdx_element_reader r;
    hdx_id             id;
    uint64_t           slots = 0, used = 0, slot_bytes = 0;
    bool               parallel = l->way == HDX_WAY_COLUMNS && l->values.count > 0;
    if (l->way != HDX_WAY_SLOTS && l->way != HDX_WAY_SPARSE && l->way != HDX_WAY_PAIRS && l->way != HDX_WAY_COLUMNS &&
        l->way != HDX_WAY_BUCKETS)
        return true;
    if (l->bits.count > 0) /* the array with all constants of an enum belongs to the enum */
        return true;
    for (;;) {
        if (!hdx_contents_next_array(c, o, &l->source, &arrays, &id))
            return false;
        if (id == HDX_NO_ID)
            break;
        if (!hdx_contents_step(c, 1) || !hdx_contents_open_array(c, id, &r))
            return false;
        slots += r.length;
        slot_bytes = width(c, &r);
        if (scan && l->way == HDX_WAY_BUCKETS && !count_used(c, &r, &used))
            return false;
    }
    if (parallel && l->free != HDX_FREE_VALUE) {
        if (!hdx_contents_object(c, o, &l->values.at[0], &id) || !hdx_contents_open_array(c, id, &r))
            return false;
        if (r.array != HDX_NO_ID)
            slot_bytes += width(c, &r);
    } else if (parallel) { /* the keys are not in an array of this map */
        if (!hdx_contents_object(c, o, &l->values.at[0], &id) || !hdx_contents_open_array(c, id, &r))
            return false;
        if (r.array != HDX_NO_ID)
            slot_bytes = width(c, &r);
    }
    f->arrays = true;
    f->hashed = l->way == HDX_WAY_BUCKETS;
    f->capacity = l->way == HDX_WAY_PAIRS ? slots / 2 : slots;
    slot_bytes = l->way == HDX_WAY_PAIRS ? 2 * slot_bytes : slot_bytes;
    if (l->way != HDX_WAY_BUCKETS && f->sized) {
        used = f->size < f->capacity ? f->size : f->capacity;
        f->scanned = true;
    } else if (l->way == HDX_WAY_BUCKETS) {
        f->scanned = scan;
    }
    f->used = used;
    f->waste = f->scanned ? (f->capacity - used) * slot_bytes : 0;
    return true;
}

static bool count_elements(hdx_contents *c, hdx_id id, const hdx_layout *l, hdx_collection_facts *f)
{
    hdx_entry_walk w;
    hdx_entry      e;
    uint64_t       n = 0;
    bool           more;
    const uint64_t steps = c->steps, most = c->most;
    hdx_error     *err = c->err;
    hdx_code       code = hdx_entry_walk_begin(&w, c, id, most - steps, err);
    w.counts = true;
    if (l->way == HDX_WAY_SLOTS) { /* computed from the ends of the ring buffer */
        if (code == HDX_OK && w.note == HDX_NOTE_NONE)
            (void)hdx_entry_walk_span(&w, &n);
        code = c->code;
        w.note = c->note;
    } else {
        while (code == HDX_OK && (code = hdx_entry_walk_next(&w, &e, &more, err)) == HDX_OK && more)
            n++;
    }
    hdx_entry_walk_end(&w);
    c->steps += steps;
    c->most = most;
    if (code != HDX_OK)
        return hdx_contents_fail(c, code);
    if (w.note != HDX_NOTE_NONE)
        return hdx_contents_give_up(c, w.note);
    f->size = n;
    f->sized = true;
    return true;
}

static bool facts_by_layout(hdx_contents *c, hdx_id id, bool scan, hdx_collection_facts *f)
{
    hdx_layout_of_class of = hdx_contents_layout_of(c, id);
    bool                wrapper = false;
    while (of.layout != NULL && of.class != HDX_NO_CLASS && !of.layout->unknown) {
        const hdx_layout   *l = of.layout;
        const hdx_object_as o = { id, of.class, of.skip };
        if (l == &hdx_layout_of_arrays) {
            f->size = f->sized ? f->size : hdx_graph_length(c->g, id);
            f->sized = true;
            return true;
        }
        if (!f->sized && l->term_count > 0) {
            f->sized = hdx_contents_size_of(c, o, l, &f->size);
            if (!f->sized && !hdx_contents_size_is_lost(c, l))
                return false;
        }
        if (l->way != HDX_WAY_OF) {
            f->backing = wrapper ? id : HDX_NO_ID;
            if (!f->sized && (l->way != HDX_WAY_SLOTS || l->to.count > 0) && !count_elements(c, id, l, f))
                return false;
            hdx_collection_facts inner = *f;
            if (!measure_arrays(c, o, l, scan && !wrapper, &inner))
                return false;
            if (!inner.sized && inner.arrays) {
                inner.size = inner.used = inner.capacity;
                inner.sized = inner.scanned = true;
                inner.waste = 0;
            }
            if (inner.sized && inner.arrays && !wrapper && l->way == HDX_WAY_SLOTS && inner.size > inner.capacity)
                return hdx_contents_give_up(c, HDX_NOTE_DAMAGED);
            *f = inner;
            if (wrapper) { /* the row of the inner collection reports the waste of its arrays */
                f->scanned = false;
                f->waste = f->used = 0;
            }
            return true;
        }
        if (!hdx_contents_step(c, 1) || !hdx_contents_object(c, o, &l->source.at[0], &id))
            return false;
        if (id == HDX_NO_ID)
            return hdx_contents_give_up(c, HDX_NOTE_DAMAGED);
        wrapper = true;
        f->backing = id;
        of = hdx_contents_layout_of(c, id);
    }
    return f->sized || hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
}

static bool refers_to(hdx_graph *g, hdx_id from, hdx_id to)
{
    hdx_refs refs;
    hdx_id   at;
    hdx_graph_outbound(g, from, HDX_ALL, &refs);
    while (hdx_refs_next(&refs, &at))
        if (at == to)
            return true;
    return false;
}

/* Returns whether it is a collection with elements, or one of unknown size that is not a view of `holder`. */
static bool has_elements(hdx_contents *c, hdx_id id, hdx_id holder, bool *yes)
{
    const hdx_layout_of_class of = hdx_contents_layout_of(c, id);
    hdx_collection_facts      f = { .backing = HDX_NO_ID };
    *yes = false;
    if (of.layout == NULL || of.layout == &hdx_layout_of_arrays || of.layout->hidden || id == holder)
        return true;
    if (facts_by_layout(c, id, false, &f)) {
        *yes = f.size > 0;
        return true;
    }
    *yes = !refers_to(c->g, id, holder);
    return c->code == HDX_OK && c->note != HDX_NOTE_LONG;
}

bool hdx_contents_stored_elsewhere(hdx_contents *c, hdx_id id, bool *yes)
{
    const hdx_layout_of_class of = hdx_contents_layout_of(c, id);
    uint64_t                  from = 0;
    *yes = false;
    if (of.layout == NULL || of.skip == 0)
        return true;
    for (const hdx_class *at = hdx_graph_class(c->g, hdx_graph_class_of(c->g, id));
         at != NULL && at->number != of.class && from < of.skip;
         at = at->super == HDX_NO_CLASS ? NULL : hdx_graph_class(c->g, at->super))
        for (uint32_t i = 0; i < at->field_count; i++) {
            hdx_value v;
            hdx_id    other;
            if (at->fields[i].type == 2) {
                if (!hdx_contents_field_at(c, id, 2, from, &v))
                    return false;
                if (v.as.address != 0 && hdx_graph_find(c->g, v.as.address, &other) && !has_elements(c, other, id, yes))
                    return false;
                if (*yes)
                    return true;
            }
            from += hdx_type_size(at->fields[i].type, c->id_size);
        }
    return true;
}

static bool facts_of(hdx_contents *c, hdx_id id, bool scan, hdx_collection_facts *f)
{
    bool elsewhere = false;
    if (!facts_by_layout(c, id, scan, f))
        return false;
    if (!f->sized || f->size > 0)
        return true;
    if (!hdx_contents_stored_elsewhere(c, id, &elsewhere) ||
        (!elsewhere && f->backing != HDX_NO_ID && !hdx_contents_stored_elsewhere(c, f->backing, &elsewhere)))
        return false;
    if (!elsewhere)
        c->note = HDX_NOTE_NONE;
    return !elsewhere || hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
}

hdx_code hdx_contents_facts(hdx_contents *c, hdx_id id, bool scan, uint64_t most, hdx_collection_facts *out,
                            hdx_error *err)
{
    hdx_contents_begin(c, most, err);
    *out = (hdx_collection_facts){ .layout = hdx_contents_layout(c, id), .backing = HDX_NO_ID };
    if (facts_of(c, id, scan, out) || c->code != HDX_OK)
        return c->code;
    *out = (hdx_collection_facts){ .layout = out->layout, .note = c->note, .backing = HDX_NO_ID };
    return HDX_OK;
}
