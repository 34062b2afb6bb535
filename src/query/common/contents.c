/*
 * contents.c - size, arrays and entries of one collection.
 *
 * In:  layouts bound to the classes of a dump, values out of the dump.
 * Out: facts and entries, or a note why not.
 * Knows that a dump may hold anything under the name of a collection: references to no object, arrays that are none,
 * rings, sizes that cannot be. Nothing recurses: trees have a stack in the budget, wrappers and chains are followed
 * step by step.
 * Cost: a record for the collection, one for each object that a path goes through, one for each node.
 */
#include "query/common/contents.h"

#include "graph/graph.h"
#include "model/model.h"
#include <string.h>

#define NO_PLACE     UINT64_MAX
#define STATICS_MOST 4u
#define MANY_STATICS 4096u /* of a class that has a sentinel among them */

const char *hdx_collection_note_name(hdx_collection_note note)
{
    static const char *const names[] = { NULL, "unknown layout", "values absent", "damaged", "too many steps" };
    return names[note];
}

/* ---- giving up ---- */

static bool give_up(hdx_contents *c, hdx_collection_note note)
{
    c->note = note;
    return false;
}

static bool fail(hdx_contents *c, hdx_code code)
{
    c->code = code;
    return false;
}

static bool step(hdx_contents *c, uint64_t n)
{
    c->steps += n;
    return c->steps <= c->most || give_up(c, HDX_NOTE_LONG);
}

static void begin(hdx_contents *c, uint64_t most, hdx_error *err)
{
    c->steps = 0;
    c->most = most;
    c->note = HDX_NOTE_NONE;
    c->code = HDX_OK;
    c->err = err;
}

/* ---- values ---- */

/* What the dump does not have at hand is absent, as what a tool cut out. */
static bool content(hdx_contents *c, hdx_id id, uint64_t from, void *to, uint64_t want, uint64_t *got)
{
    hdx_error      mine;
    const hdx_code code = hdx_graph_record_bytes(c->g, id, from, to, want, got, &mine);
    if (code == HDX_OK)
        return true;
    *got = 0;
    if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(c->g))
        return true;
    if (c->err != NULL)
        *c->err = mine;
    return fail(c, code);
}

static const hdx_seen *see(hdx_contents *c, hdx_id id)
{
    hdx_seen *s = &c->seen[id % HDX_SEEN];
    uint64_t  got;
    if (s->id == id)
        return s;
    s->id = HDX_NO_ID;
    if (!step(c, 1) || !content(c, id, 0, s->bytes, HDX_SEEN_BYTES, &got))
        return NULL;
    s->id = id;
    s->have = (uint32_t)got;
    return s;
}

/* Offset and type of a field in the objects of a class; NO_PLACE: they have none of that name, or it is no class. */
static uint64_t place_of(hdx_contents *c, uint32_t class, uint16_t name)
{
    uint64_t        offset, place = NO_PLACE;
    uint8_t         type;
    bool            fresh = true;
    const uint64_t  key = (uint64_t) class << 16 | name;
    const uint64_t *known = hdx_map_get(&c->places, key);
    if (known != NULL)
        return *known;
    if (hdx_layout_field(c->g, class, c->bound->layouts->names.at[name], &offset, &type))
        place = offset << 8 | type;
    uint64_t *kept = hdx_map_put(&c->places, key, &fresh);
    if (kept != NULL)
        *kept = place;
    return place;
}

static bool not_wiped(hdx_contents *c, const hdx_value *v)
{
    return !hdx_graph_wiped(c->g, v) || give_up(c, HDX_NOTE_ABSENT);
}

/* A field of an object seen as one of `class`, whose fields begin after `skip` bytes. */
static bool field(hdx_contents *c, hdx_id id, uint32_t class, uint64_t skip, uint16_t name, hdx_value *out)
{
    const uint64_t place = place_of(c, class, name);
    if (place == NO_PLACE)
        return give_up(c, HDX_NOTE_UNKNOWN);
    const uint8_t  type = (uint8_t)place;
    const uint64_t from = skip + (place >> 8);
    const unsigned size = hdx_type_size(type, c->id_size);
    uint8_t        far[8];
    uint64_t       got;
    if (size == 0)
        return give_up(c, HDX_NOTE_UNKNOWN);
    if (from + size > HDX_SEEN_BYTES) {
        if (!step(c, 1) || !content(c, id, from, far, size, &got))
            return false;
        if (got < size)
            return give_up(c, HDX_NOTE_ABSENT);
        *out = hdx_graph_value_of(c->g, type, far);
        return not_wiped(c, out);
    }
    const hdx_seen *s = see(c, id);
    if (s == NULL)
        return false;
    if (from + size > s->have)
        return give_up(c, HDX_NOTE_ABSENT);
    *out = hdx_graph_value_of(c->g, type, s->bytes + from);
    return not_wiped(c, out);
}

/* The object that a reference names; HDX_NO_ID for null. */
static bool referred(hdx_contents *c, const hdx_value *v, hdx_id *out)
{
    *out = HDX_NO_ID;
    if (v->type != 2)
        return give_up(c, HDX_NOTE_UNKNOWN);
    return v->as.address == 0 || hdx_graph_find(c->g, v->as.address, out) || give_up(c, HDX_NOTE_DAMAGED);
}

/*
 * One step of a path on: *id becomes what the field refers to. `base`: whose fields are meant, of the object that the
 * path begins at; later ones are seen as what they are.
 */
typedef struct at_object {
    hdx_id id;
    uint32_t class;
    uint64_t skip;
} at_object;

static at_object object_at(const hdx_contents *c, hdx_id id)
{
    return (at_object){ id, id == HDX_NO_ID ? HDX_NO_CLASS : hdx_graph_class_of(c->g, id), 0 };
}

static bool go(hdx_contents *c, at_object *o, uint16_t name)
{
    hdx_value v;
    hdx_id    id;
    if (name == c->this_name)
        return true;
    if (!field(c, o->id, o->class, o->skip, name, &v) || !referred(c, &v, &id))
        return false;
    *o = object_at(c, id);
    return true;
}

/* The value at the end of steps from..; *null: something before the end is null. */
static bool value_at(hdx_contents *c, at_object o, const hdx_field_path *p, unsigned from, hdx_value *v, bool *null)
{
    *null = false;
    for (; from + 1 < p->count; from++) {
        if (!go(c, &o, p->step[from]))
            return false;
        if (o.id == HDX_NO_ID) {
            *null = true;
            return true;
        }
    }
    if (p->step[from] == c->this_name) {
        *v = (hdx_value){ .type = 2, .as.address = hdx_graph_address(c->g, o.id) };
        return true;
    }
    return field(c, o.id, o.class, o.skip, p->step[from], v);
}

static bool object_of_path(hdx_contents *c, at_object o, const hdx_field_path *p, hdx_id *out)
{
    hdx_value v;
    bool      null;
    *out = HDX_NO_ID;
    return value_at(c, o, p, 0, &v, &null) && (null || referred(c, &v, out));
}

static bool number_of(hdx_contents *c, const hdx_value *v, uint64_t *out)
{
    switch (v->type) {
    case 4: *out = v->as.boolean; return true;
    case 5: *out = v->as.character; return true;
    case 8:
    case 9:
    case 10:
    case 11: *out = (uint64_t)v->as.integer; return true;
    default: return give_up(c, HDX_NOTE_UNKNOWN);
    }
}

/* ---- elements of arrays ---- */

static bool open_array(hdx_contents *c, hdx_id id, hdx_element_reader *r)
{
    const hdx_class *class = id == HDX_NO_ID ? NULL : hdx_graph_class(c->g, hdx_graph_class_of(c->g, id));
    r->array = HDX_NO_ID;
    r->length = 0;
    if (class == NULL)
        return id == HDX_NO_ID || give_up(c, HDX_NOTE_UNKNOWN);
    if (class->kind != HDX_OBJECT_ARRAY && class->kind != HDX_PRIMITIVE_ARRAY)
        return give_up(c, HDX_NOTE_UNKNOWN);
    r->type = class->kind == HDX_OBJECT_ARRAY ? 2 : class->element_type;
    r->size = (uint8_t)hdx_type_size(r->type, c->id_size);
    r->array = id;
    r->length = hdx_graph_length(c->g, id);
    r->from = r->count = 0;
    return r->size > 0 || give_up(c, HDX_NOTE_UNKNOWN);
}

static bool element(hdx_contents *c, hdx_element_reader *r, uint64_t i, hdx_value *out)
{
    uint64_t got;
    if (i < r->from || i - r->from >= r->count) {
        uint64_t n = HDX_PIECE / r->size;
        n = n < r->length - i ? n : r->length - i;
        if (!step(c, 1) || !content(c, r->array, i * r->size, r->bytes, n * r->size, &got))
            return false;
        r->from = i;
        r->count = (uint32_t)(got / r->size);
        if (r->count == 0)
            return give_up(c, HDX_NOTE_ABSENT);
    }
    *out = hdx_graph_value_of(c->g, r->type, r->bytes + (i - r->from) * r->size);
    return true;
}

static bool is_zero(const hdx_value *v)
{
    switch (v->type) {
    case 2: return v->as.address == 0;
    case 4: return !v->as.boolean;
    case 5: return v->as.character == 0;
    case 6: return v->as.single == 0;
    case 7: return v->as.real == 0;
    default: return v->as.integer == 0;
    }
}

/* The next array that the paths of a layout lead to; HDX_NO_ID: there is no further one. */
static bool next_array(hdx_contents *c, at_object of, const hdx_field_paths *p, hdx_arrays *a, hdx_id *out)
{
    at_object o = of;
    unsigned  at = 0;
    bool      alive = a->depth == 0;
    *out = HDX_NO_ID;
    for (;;) {
        if (a->depth == 0 && a->path == p->count)
            return true;
        a->path += a->depth == 0; /* those in the path's arrays are done: the next path begins */
        const hdx_field_path *path = &p->at[a->path - 1];
        while (alive && at < path->count) {
            if (path->step[at] == HDX_STEP_EACH) {
                if (a->depth == HDX_NESTED_ARRAYS)
                    return give_up(c, HDX_NOTE_UNKNOWN);
                a->frame[a->depth].next = 0;
                a->frame[a->depth].step = at + 1;
                if (!open_array(c, o.id, &a->frame[a->depth++].elements))
                    return false;
                alive = false;
            } else {
                if (!go(c, &o, path->step[at++]))
                    return false;
                alive = o.id != HDX_NO_ID;
            }
        }
        if (alive) {
            *out = o.id;
            return true;
        }
        /* the next element of the innermost array that has one */
        while (a->depth > 0 && a->frame[a->depth - 1].next >= a->frame[a->depth - 1].elements.length)
            a->depth--;
        if (a->depth == 0) {
            o = of;
            at = 0;
            alive = true;
            continue;
        }
        hdx_value v;
        hdx_id    id;
        if (!element(c, &a->frame[a->depth - 1].elements, a->frame[a->depth - 1].next++, &v) || !referred(c, &v, &id))
            return false;
        o = object_at(c, id);
        at = a->frame[a->depth - 1].step;
        alive = id != HDX_NO_ID;
    }
}

const hdx_layout hdx_layout_of_arrays = { .kind = HDX_COLLECTION_LIST, .way = HDX_WAY_SLOTS };

static hdx_layout_of_class layout_of(const hdx_contents *c, hdx_id id)
{
    const uint32_t class = hdx_graph_class_of(c->g, id);
    const hdx_object_kind kind = hdx_graph_kind(c->g, id);
    if (kind == HDX_OBJECT_ARRAY || kind == HDX_PRIMITIVE_ARRAY)
        return (hdx_layout_of_class){ &hdx_layout_of_arrays, class, 0 };
    if (kind != HDX_INSTANCE || class >= c->bound->classes)
        return (hdx_layout_of_class){ .class = HDX_NO_CLASS };
    return c->bound->of[class];
}

/* ---- sizes ---- */

static bool sum_of_elements(hdx_contents *c, at_object o, const hdx_field_path *p, unsigned each, uint64_t *sum)
{
    hdx_element_reader r;
    hdx_value          v;
    hdx_id             id;
    uint64_t           n;
    bool               null;
    for (unsigned i = 0; i < each; i++) {
        if (!go(c, &o, p->step[i]))
            return false;
        if (o.id == HDX_NO_ID)
            return true;
    }
    if (!open_array(c, o.id, &r))
        return false;
    for (uint64_t i = 0; i < r.length; i++) {
        if (!element(c, &r, i, &v) || !referred(c, &v, &id))
            return false;
        if (id == HDX_NO_ID)
            continue;
        if (!value_at(c, object_at(c, id), p, each + 1, &v, &null))
            return false;
        if (null)
            continue;
        if (!number_of(c, &v, &n))
            return false;
        *sum += n;
    }
    return true;
}

static bool term(hdx_contents *c, at_object o, const hdx_size_term *t, uint64_t *sum)
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
    if (!value_at(c, o, &t->path, 0, &v, &null))
        return false;
    if (null)
        return true;
    if (t->sign == '#') {
        if (!referred(c, &v, &id) || !open_array(c, id, &r))
            return false;
        n = r.length;
    } else if (t->sign == '?') {
        n = !is_zero(&v);
    } else {
        if (!number_of(c, &v, &n))
            return false;
        n = t->sign == '%' ? (uint64_t)__builtin_popcountll(n) : n;
    }
    *sum += n;
    return true;
}

/* Sums of a concurrent map are not exact at every moment, single terms may be negative: what must not be is the sum. */
static bool size_of(hdx_contents *c, at_object o, const hdx_layout *l, uint64_t *size)
{
    *size = 0;
    for (unsigned i = 0; i < l->term_count; i++)
        if (!term(c, o, &l->term[i], size))
            return false;
    return *size <= INT64_MAX || give_up(c, HDX_NOTE_DAMAGED);
}

/* The field that says the size was overwritten, and elements can be counted without it, for references are there. */
static bool size_is_lost(hdx_contents *c, const hdx_layout *l)
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
        if (!element(c, r, i, &v))
            return false;
        *used += !is_zero(&v);
    }
    return true;
}

/* Lengths of its arrays, and where that is asked for what is in buckets. */
static bool measure(hdx_contents *c, at_object o, const hdx_layout *l, bool scan, hdx_collection_facts *f)
{
    hdx_arrays         arrays = { 0 };
    hdx_element_reader r;
    hdx_id             id;
    uint64_t           slots = 0, used = 0, slot_bytes = 0;
    bool               beside = l->way == HDX_WAY_COLUMNS && l->values.count > 0;
    if (l->way != HDX_WAY_SLOTS && l->way != HDX_WAY_SPARSE && l->way != HDX_WAY_PAIRS && l->way != HDX_WAY_COLUMNS &&
        l->way != HDX_WAY_BUCKETS)
        return true;
    if (l->bits.count > 0) /* the universe of an enum belongs to the enum */
        return true;
    for (;;) {
        if (!next_array(c, o, &l->source, &arrays, &id))
            return false;
        if (id == HDX_NO_ID)
            break;
        if (!step(c, 1) || !open_array(c, id, &r))
            return false;
        slots += r.length;
        slot_bytes = width(c, &r);
        if (scan && l->way == HDX_WAY_BUCKETS && !count_used(c, &r, &used))
            return false;
    }
    if (beside && l->free != HDX_FREE_VALUE) {
        if (!object_of_path(c, o, &l->values.at[0], &id) || !open_array(c, id, &r))
            return false;
        if (r.array != HDX_NO_ID)
            slot_bytes += width(c, &r);
    } else if (beside) { /* keys that stand for places are not the map's own */
        if (!object_of_path(c, o, &l->values.at[0], &id) || !open_array(c, id, &r))
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

static bool next_slots(hdx_entry_walk *w, bool *end);
static bool ring(hdx_entry_walk *w);

static bool counted(hdx_contents *c, hdx_id id, const hdx_layout *l, hdx_collection_facts *f)
{
    hdx_entry_walk w;
    hdx_entry      e;
    uint64_t       n = 0;
    bool           more;
    const uint64_t steps = c->steps, most = c->most;
    hdx_error     *err = c->err;
    hdx_code       code = hdx_entry_walk_begin(&w, c, id, most - steps, err);
    if (l->way == HDX_WAY_SLOTS) { /* the ends of a ring say it */
        bool end;
        if (code == HDX_OK && w.note == HDX_NOTE_NONE && next_slots(&w, &end) && !end && ring(&w))
            n = w.limit;
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
        return fail(c, code);
    if (w.note != HDX_NOTE_NONE)
        return give_up(c, w.note);
    f->size = n;
    f->sized = true;
    return true;
}

static bool facts_of(hdx_contents *c, hdx_id id, bool scan, hdx_collection_facts *f)
{
    hdx_layout_of_class of = layout_of(c, id);
    bool                wrapper = false;
    while (of.layout != NULL && of.class != HDX_NO_CLASS && !of.layout->unknown) {
        const hdx_layout *l = of.layout;
        const at_object   o = { id, of.class, of.skip };
        if (l == &hdx_layout_of_arrays) {
            f->size = f->sized ? f->size : hdx_graph_length(c->g, id);
            f->sized = true;
            return true;
        }
        if (!f->sized && l->term_count > 0) {
            f->sized = size_of(c, o, l, &f->size);
            if (!f->sized && !size_is_lost(c, l))
                return false;
        }
        if (l->way != HDX_WAY_OF) {
            f->backing = wrapper ? id : HDX_NO_ID;
            if (!f->sized && (l->way != HDX_WAY_SLOTS || l->to.count > 0) && !counted(c, id, l, f))
                return false;
            hdx_collection_facts inner = *f;
            if (!measure(c, o, l, scan && !wrapper, &inner))
                return false;
            if (!inner.sized && inner.arrays) {
                inner.size = inner.used = inner.capacity;
                inner.sized = inner.scanned = true;
                inner.waste = 0;
            }
            if (inner.sized && inner.arrays && !wrapper && l->way == HDX_WAY_SLOTS && inner.size > inner.capacity)
                return give_up(c, HDX_NOTE_DAMAGED);
            *f = inner;
            if (wrapper) { /* the arrays are those of the collection inside: its row says what they waste */
                f->scanned = false;
                f->waste = f->used = 0;
            }
            return true;
        }
        if (!step(c, 1) || !object_of_path(c, o, &l->source.at[0], &id))
            return false;
        if (id == HDX_NO_ID)
            return give_up(c, HDX_NOTE_DAMAGED);
        wrapper = true;
        f->backing = id;
        of = layout_of(c, id);
    }
    return f->sized || give_up(c, HDX_NOTE_UNKNOWN);
}

hdx_code hdx_contents_facts(hdx_contents *c, hdx_id id, bool scan, uint64_t most, hdx_collection_facts *out,
                            hdx_error *err)
{
    begin(c, most, err);
    *out = (hdx_collection_facts){ .layout = hdx_contents_layout(c, id), .backing = HDX_NO_ID };
    if (facts_of(c, id, scan, out) || c->code != HDX_OK)
        return c->code;
    *out = (hdx_collection_facts){ .layout = out->layout, .note = c->note, .backing = HDX_NO_ID };
    return HDX_OK;
}

/* ---- entries ---- */

static bool statics(hdx_contents *c, const hdx_static_name *name, hdx_addr out[STATICS_MOST])
{
    hdx_values v = { 0 };
    unsigned   n = 0;
    uint32_t   count = 0;
    memset(out, 0, STATICS_MOST * sizeof *out);
    if (name->class_name == NULL)
        return true;
    const hdx_class *classes = hdx_graph_classes(c->g, &count);
    for (uint32_t i = 0; i < count && n < STATICS_MOST; i++) { /* several loaders may have the class */
        if (!hdx_text_is(classes[i].name, name->class_name) || classes[i].static_count > MANY_STATICS)
            continue;
        hdx_error mine;
        hdx_code  code = hdx_graph_statics(c->g, classes[i].id, &v, &mine);
        if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(c->g))
            break;
        if (code != HDX_OK) {
            hdx_values_free(&v);
            if (c->err != NULL)
                *c->err = mine;
            return fail(c, code);
        }
        for (uint64_t k = 0; k < v.count && n < STATICS_MOST; k++)
            if (v.at[k].name.len == name->field.len && v.at[k].value.type == 2 && !v.at[k].value.absent &&
                v.at[k].value.as.address != 0 && memcmp(v.at[k].name.at, name->field.at, name->field.len) == 0)
                out[n++] = v.at[k].value.as.address;
    }
    hdx_values_free(&v);
    return true;
}

static bool is_one_of(const hdx_value *v, const hdx_addr at[STATICS_MOST])
{
    if (v->type != 2 || v->as.address == 0)
        return false;
    for (unsigned i = 0; i < STATICS_MOST && at[i] != 0; i++)
        if (at[i] == v->as.address)
            return true;
    return false;
}

static at_object walked(const hdx_entry_walk *w) { return (at_object){ w->id, w->of.class, w->of.skip }; }

/* The fields of the collection that say which elements count. */
static bool bounds(hdx_entry_walk *w)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    const at_object   o = walked(w);
    hdx_value         v;
    bool              null;
    hdx_id            id;
    if (l->way != HDX_WAY_OF && l->from.count > 0 &&
        (!value_at(c, o, &l->from, 0, &v, &null) || null || !number_of(c, &v, &w->from)))
        return false;
    if (l == &hdx_layout_of_arrays) {
        w->sized = w->bounded = true;
        w->size = w->limit = hdx_graph_length(c->g, w->id);
        return open_array(c, w->id, &w->slots);
    }
    switch (l->way) {
    case HDX_WAY_CHAIN: return object_of_path(c, o, &l->source.at[0], &w->node);
    case HDX_WAY_TREE: return object_of_path(c, o, &l->source.at[0], &w->node);
    case HDX_WAY_COLUMNS:
        if (l->values.count > 0 && (!object_of_path(c, o, &l->values.at[0], &id) || !open_array(c, id, &w->beside)))
            return false;
        return true;
    default: return true;
    }
}

static bool begin_walk(hdx_entry_walk *w, hdx_id id)
{
    hdx_contents *c = w->c;
    w->of = layout_of(c, id);
    for (;;) {
        const hdx_layout *l = w->of.layout;
        uint64_t          size, from = 0;
        w->id = id;
        if (l == NULL || w->of.class == HDX_NO_CLASS || l->unknown)
            return give_up(c, HDX_NOTE_UNKNOWN);
        const at_object o = walked(w);
        const bool      sized = l->term_count > 0 && size_of(c, o, l, &size);
        if (l->term_count > 0 && !sized && !size_is_lost(c, l))
            return false;
        /* what a view shows of the one inside: a multimap has more entries than its map, and shows all of that */
        if (sized && (l->way != HDX_WAY_OF || l->from.count > 0)) {
            w->size = w->sized && w->size < size ? w->size : size;
            w->sized = true;
            w->bounded = w->bounded || l->way == HDX_WAY_OF || l->way == HDX_WAY_NONE || l->way == HDX_WAY_SLOTS ||
                         l->way == HDX_WAY_FIELDS || l->free == HDX_FREE_NONE;
        }
        if (l->way != HDX_WAY_OF)
            break;
        hdx_value v;
        bool      null;
        if (l->from.count > 0 && (!value_at(c, o, &l->from, 0, &v, &null) || null || !number_of(c, &v, &from)))
            return false;
        w->skip = from > UINT64_MAX - w->skip ? UINT64_MAX : w->skip + from;
        w->take = w->take == HDX_TAKE_ALL ? l->take : w->take;
        if (!step(c, 1) || !object_of_path(c, o, &l->source.at[0], &id))
            return false;
        if (id == HDX_NO_ID)
            return give_up(c, HDX_NOTE_DAMAGED);
        w->of = layout_of(c, id);
    }
    const hdx_layout *l = w->of.layout;
    if (l->way == HDX_WAY_NONE && !(w->sized && w->size == 0))
        return give_up(c, HDX_NOTE_UNKNOWN);
    return statics(c, &l->nothing, w->nothing) && statics(c, &l->null, w->null) && statics(c, &l->chain, w->chain) &&
           bounds(w);
}

hdx_code hdx_entry_walk_begin(hdx_entry_walk *w, hdx_contents *c, hdx_id id, uint64_t most, hdx_error *err)
{
    *w = (hdx_entry_walk){ .c = c, .path = hdx_ids_of(c->mem), .node = HDX_NO_ID };
    w->slots.array = w->beside.array = w->chained.array = HDX_NO_ID;
    begin(c, most, err);
    if (!begin_walk(w, id)) {
        w->ended = true;
        w->note = c->note;
    }
    return c->code;
}

void hdx_entry_walk_end(hdx_entry_walk *w) { hdx_ids_drop(&w->path); }

/* One of several paths that the object's class has; none of them: unknown. */
static bool part_of_node(hdx_contents *c, hdx_id node, const hdx_field_paths *p, hdx_value *out)
{
    const at_object o = object_at(c, node);
    bool            null;
    for (unsigned i = 0; i < p->count; i++) {
        if (place_of(c, o.class, p->at[i].step[0]) == NO_PLACE)
            continue;
        if (!value_at(c, o, &p->at[i], 0, out, &null))
            return false;
        if (null)
            *out = (hdx_value){ .type = 2 };
        return true;
    }
    return give_up(c, HDX_NOTE_UNKNOWN);
}

/* Key and value of a node; *is: it holds an entry. */
static bool entry_of_node(hdx_entry_walk *w, hdx_id node, hdx_entry *e, bool *is)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    e->has_key = l->key.count > 0;
    e->has_value = l->value.count > 0;
    if ((e->has_key && !part_of_node(c, node, &l->key, &e->key)) ||
        (e->has_value && !part_of_node(c, node, &l->value, &e->value)))
        return false;
    *is = !(l->free == HDX_FREE_KEY && is_zero(&e->key)) && !(l->free == HDX_FREE_VALUE && is_zero(&e->value));
    return true;
}

/* The next node of a chain. A node that refers to itself was taken out of a queue. */
static bool follow(hdx_entry_walk *w, hdx_id node, hdx_id *out)
{
    hdx_contents *c = w->c;
    if (!step(c, 1) || !object_of_path(c, object_at(c, node), &w->of.layout->next, out))
        return false;
    if (*out == node)
        *out = HDX_NO_ID;
    return true;
}

/* A node that stands for others: they begin at a field of it. */
static bool out_of_bin(hdx_entry_walk *w, hdx_id *node)
{
    hdx_contents         *c = w->c;
    const hdx_field_path *bin = &w->of.layout->bin;
    const at_object       o = object_at(c, *node);
    if (bin->count == 0 || place_of(c, o.class, bin->step[0]) == NO_PLACE)
        return true;
    return object_of_path(c, o, bin, node);
}

/* The next array opened; *end: there is none. */
static bool next_slots(hdx_entry_walk *w, bool *end)
{
    hdx_id id;
    if (!next_array(w->c, walked(w), &w->of.layout->source, &w->arrays, &id))
        return false;
    *end = id == HDX_NO_ID;
    w->next = 0;
    return *end || (step(w->c, 1) && open_array(w->c, id, &w->slots));
}

/* Elements of the open array that count, and where they begin: all, or of a ring those between two places. */
static bool ring(hdx_entry_walk *w)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    hdx_value         v;
    uint64_t          to;
    bool              null;
    w->start = 0;
    w->limit = w->slots.length;
    if (l->from.count == 0 && l->to.count == 0)
        return true;
    if (w->slots.length == 0)
        return true;
    if (w->from >= w->slots.length)
        return give_up(c, HDX_NOTE_DAMAGED);
    w->start = w->from;
    if (l->to.count == 0)
        return true;
    if (!value_at(c, walked(w), &l->to, 0, &v, &null) || null || !number_of(c, &v, &to))
        return false;
    if (to > w->slots.length)
        return give_up(c, HDX_NOTE_DAMAGED);
    w->limit = to >= w->from ? to - w->from : to + w->slots.length - w->from;
    return true;
}

static bool bit_set(hdx_entry_walk *w, uint64_t i, bool *set)
{
    hdx_contents *c = w->c;
    hdx_value     v;
    hdx_id        id;
    bool          null;
    uint64_t      word;
    *set = false;
    if (!value_at(c, walked(w), &w->of.layout->bits, 0, &v, &null))
        return false;
    if (!null && v.type == 2) {
        if (!referred(c, &v, &id) || (w->beside.array != id && !open_array(c, id, &w->beside)))
            return false;
        null = i / 64 >= w->beside.length;
        if (!null && !element(c, &w->beside, i / 64, &v))
            return false;
    } else {
        null = null || i >= 64;
    }
    if (null)
        return true;
    if (!number_of(c, &v, &word))
        return false;
    *set = (word >> (i % 64) & 1) != 0;
    return true;
}

/* An element of a list, or a node with key and value. */
static bool entry_of_element(hdx_entry_walk *w, const hdx_value *v, hdx_entry *e, bool *is)
{
    const hdx_layout *l = w->of.layout;
    hdx_id            node;
    if (l->key.count == 0 && l->value.count == 0) {
        *e = (hdx_entry){ .has_value = true, .value = *v };
        *is = true;
        return true;
    }
    if (!referred(w->c, v, &node))
        return false;
    if (node == HDX_NO_ID) {
        *is = false;
        return true;
    }
    return entry_of_node(w, node, e, is);
}

/* Is there an entry in a place whose key is null: in the last, where a field says so. */
static bool null_in_last(hdx_entry_walk *w, uint64_t i, bool *is)
{
    const hdx_layout *l = w->of.layout;
    hdx_value         last;
    bool              null;
    *is = false;
    if (l->last.count == 0 || i + 1 != w->slots.length)
        return true;
    if (!value_at(w->c, walked(w), &l->last, 0, &last, &null))
        return false;
    *is = !null && last.type == 4 && last.as.boolean;
    return true;
}

static bool next_slot(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    hdx_value         v;
    *is = false;
    while (w->slots.array == HDX_NO_ID || w->next == w->limit) {
        if (!next_slots(w, end))
            return false;
        if (*end)
            return true;
        if (!ring(w))
            return false;
    }
    const uint64_t i = (w->start + w->next++) % w->slots.length;
    *is = true;
    if (l->bits.count > 0 && !bit_set(w, i, is))
        return false;
    if (!*is)
        return true;
    if (!element(c, &w->slots, i, &v)) {
        if (l != &hdx_layout_of_arrays || c->note != HDX_NOTE_ABSENT)
            return false;
        v = (hdx_value){ .type = w->slots.type, .absent = true };
    }
    if (l->way == HDX_WAY_SPARSE && is_zero(&v) && !null_in_last(w, i, is))
        return false;
    return !*is || entry_of_element(w, &v, e, is);
}

static bool next_pair(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_contents       *c = w->c;
    const hdx_layout   *l = w->of.layout;
    const bool          inside = w->chained.array != HDX_NO_ID;
    hdx_element_reader *r = inside ? &w->chained : &w->slots;
    uint64_t           *next = inside ? &w->chained_next : &w->next;
    hdx_id              id;
    *is = false;
    if (r->array == HDX_NO_ID || *next + 1 >= r->length) {
        if (inside) {
            w->chained.array = HDX_NO_ID;
            return true;
        }
        return next_slots(w, end);
    }
    *e = (hdx_entry){ .has_key = true, .has_value = true };
    if (!element(c, r, *next, &e->key) || !element(c, r, *next + 1, &e->value))
        return false;
    *next += 2;
    if (!inside && is_one_of(&e->key, w->chain)) {
        w->chained_next = 0;
        return referred(c, &e->value, &id) && open_array(c, id, &w->chained);
    }
    *is = l->free == HDX_FREE_NONE || !is_zero(l->free == HDX_FREE_VALUE ? &e->value : &e->key);
    return true;
}

static bool next_column(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    *is = false;
    if (w->slots.array == HDX_NO_ID || w->next == w->slots.length)
        return next_slots(w, end);
    const uint64_t i = w->next++;
    *e = (hdx_entry){ .has_key = true, .has_value = w->beside.array != HDX_NO_ID };
    if (e->has_value && i >= w->beside.length)
        return give_up(c, HDX_NOTE_DAMAGED);
    if (!element(c, &w->slots, i, &e->key) || (e->has_value && !element(c, &w->beside, i, &e->value)))
        return false;
    *is = l->free == HDX_FREE_NONE || !is_zero(l->free == HDX_FREE_VALUE ? &e->value : &e->key);
    return *is || null_in_last(w, i, is);
}

static bool next_in_buckets(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_value v;
    *is = false;
    if (w->node != HDX_NO_ID)
        return entry_of_node(w, w->node, e, is) && follow(w, w->node, &w->node);
    if (w->slots.array == HDX_NO_ID || w->next == w->slots.length)
        return next_slots(w, end);
    return element(w->c, &w->slots, w->next++, &v) && referred(w->c, &v, &w->node) &&
           (w->node == HDX_NO_ID || out_of_bin(w, &w->node));
}

static bool link_of_chain(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    const hdx_layout *l = w->of.layout;
    const at_object   o = object_at(w->c, w->node);
    /* a chain may end in an object of another class: the empty list of Scala */
    if (place_of(w->c, o.class, l->next.step[0]) == NO_PLACE) {
        if (w->given == 0 && !(w->sized && w->size == 0))
            return give_up(w->c, HDX_NOTE_UNKNOWN);
        *end = true;
        return true;
    }
    return entry_of_node(w, w->node, e, is) && follow(w, w->node, &w->node);
}

static bool next_in_chain(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    *is = false;
    *end = w->node == HDX_NO_ID;
    return *end || link_of_chain(w, e, is, end);
}

/* Left side, node, right side: `path` has the nodes whose left sides were gone down. */
static bool next_in_tree(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    *is = false;
    while (w->node != HDX_NO_ID) {
        hdx_code code = hdx_ids_push(&w->path, w->node, c->err);
        if (code != HDX_OK)
            return fail(c, code);
        if (!step(c, 1) || !object_of_path(c, object_at(c, w->node), &l->left, &w->node))
            return false;
    }
    *end = w->path.count == 0;
    if (*end)
        return true;
    const hdx_id node = w->path.at[--w->path.count];
    return entry_of_node(w, node, e, is) && object_of_path(c, object_at(c, node), &l->right, &w->node);
}

static bool next_field(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    const bool        pairs = l->kind == HDX_COLLECTION_MAP;
    bool              null;
    *is = false;
    *end = w->next >= l->source.count;
    if (*end)
        return true;
    *e = (hdx_entry){ .has_key = pairs, .has_value = true };
    if (pairs && (!value_at(c, walked(w), &l->source.at[w->next++], 0, &e->key, &null) || null))
        return false;
    if (!value_at(c, walked(w), &l->source.at[w->next++], 0, &e->value, &null) || null)
        return false;
    *is = w->sized || pairs || !is_zero(&e->value);
    return true;
}

/* The next entry of the collection that has them, those before the first of a view included. */
static bool next_entry(hdx_entry_walk *w, hdx_entry *e, bool *end)
{
    static bool (*const ways[])(hdx_entry_walk *, hdx_entry *, bool *, bool *) = {
        [HDX_WAY_SLOTS] = next_slot,     [HDX_WAY_SPARSE] = next_slot,        [HDX_WAY_PAIRS] = next_pair,
        [HDX_WAY_COLUMNS] = next_column, [HDX_WAY_BUCKETS] = next_in_buckets, [HDX_WAY_CHAIN] = next_in_chain,
        [HDX_WAY_TREE] = next_in_tree,   [HDX_WAY_FIELDS] = next_field,
    };
    bool is = false;
    *end = w->bounded && w->given - (w->given < w->skip ? w->given : w->skip) >= w->size;
    while (!*end && !is) {
        if (!ways[w->of.layout->way](w, e, &is, end))
            return false;
        is = is && !*end && !(e->has_value && is_one_of(&e->value, w->nothing)) &&
             !(e->has_key && is_one_of(&e->key, w->nothing));
    }
    return true;
}

static void make_null(hdx_entry_walk *w, hdx_value *v)
{
    if (is_one_of(v, w->null))
        v->as.address = 0;
}

hdx_code hdx_entry_walk_next(hdx_entry_walk *w, hdx_entry *out, bool *more, hdx_error *err)
{
    hdx_contents *c = w->c;
    *more = false;
    if (w->ended)
        return HDX_OK;
    c->err = err;
    c->note = HDX_NOTE_NONE;
    do {
        bool end;
        *out = (hdx_entry){ 0 };
        if (!next_entry(w, out, &end)) {
            w->ended = true;
            w->note = c->note;
            return c->code;
        }
        if (end) {
            w->ended = true;
            return HDX_OK;
        }
    } while (w->given++ < w->skip);
    out->index = w->given - 1 - w->skip;
    if (out->has_key)
        make_null(w, &out->key);
    if (out->has_value)
        make_null(w, &out->value);
    if (w->take == HDX_TAKE_KEYS ||
        (w->take == HDX_TAKE_ALL && out->has_key && !out->has_value && w->of.layout->kind != HDX_COLLECTION_MAP)) {
        out->value = out->key;
        out->has_value = out->has_key;
    }
    if (w->take != HDX_TAKE_ALL || w->of.layout->kind != HDX_COLLECTION_MAP)
        out->has_key = false;
    *more = true;
    return HDX_OK;
}

/* ---- opening ---- */

uint64_t hdx_contents_steps(const hdx_graph *g)
{
    return 4 * hdx_graph_objects(g) + hdx_graph_summary_of(g)->dump_size / 64;
}

const hdx_layout *hdx_contents_layout(const hdx_contents *c, hdx_id id) { return layout_of(c, id).layout; }

hdx_code hdx_contents_open(hdx_contents *c, hdx_graph *g, const hdx_bound_layouts *bound, hdx_mem *mem, hdx_error *err)
{
    *c = (hdx_contents){ .g = g,
                         .bound = bound,
                         .mem = mem,
                         .id_size = hdx_graph_summary_of(g)->id_size,
                         .reference_size = hdx_graph_summary_of(g)->reference_size,
                         .wiped = hdx_graph_summary_of(g)->stripping->fields,
                         .this_name = UINT16_MAX,
                         .places = hdx_map_of(mem) };
    if ((c->seen = hdx_mem_array(mem, HDX_SEEN, sizeof *c->seen)) == NULL)
        return hdx_no_memory(err, "records of collections", HDX_SEEN * sizeof *c->seen);
    memset(c->seen, 0xff, HDX_SEEN * sizeof *c->seen); /* each id HDX_NO_ID */
    for (uint64_t i = 0; i < bound->layouts->names.count; i++)
        if (hdx_text_is(bound->layouts->names.at[i], "this"))
            c->this_name = (uint16_t)i;
    return HDX_OK;
}

void hdx_contents_close(hdx_contents *c)
{
    if (c->seen != NULL)
        hdx_mem_put(c->mem, c->seen, HDX_SEEN * sizeof *c->seen);
    hdx_map_free(&c->places);
    *c = (hdx_contents){ 0 };
}
