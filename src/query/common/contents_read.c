/*
 * contents_read.c - reads values of collections: fields at the end of paths, elements of arrays.
 *
 * In:  layouts bound to the classes of a dump, values from the dump.
 * Out: values, or a note why they are missing.
 * Untrusted input: an object with the class name of a collection may have any content, such as references to no object.
 * Cost: one record per object on a path.
 */
#include "query/common/contents_read.h"

#include "graph/graph.h"
#include "model/model.h"
#include <string.h>

const char *hdx_collection_note_name(hdx_collection_note note)
{
    static const char *const names[] = { NULL, "unknown layout", "values absent", "damaged", "too many steps" };
    return names[note];
}

/* ---- giving up ---- */

bool hdx_contents_give_up(hdx_contents *c, hdx_collection_note note)
{
    c->note = note;
    return false;
}

bool hdx_contents_fail(hdx_contents *c, hdx_code code)
{
    c->code = code;
    return false;
}

bool hdx_contents_step(hdx_contents *c, uint64_t n)
{
    c->steps += n;
    return c->steps <= c->most || hdx_contents_give_up(c, HDX_NOTE_LONG);
}

void hdx_contents_begin(hdx_contents *c, uint64_t most, hdx_error *err)
{
    c->steps = 0;
    c->most = most;
    c->note = HDX_NOTE_NONE;
    c->code = HDX_OK;
    c->err = err;
}

/* ---- values ---- */

/* Content is absent if the dump is missing, as if a tool had stripped it. */
static bool read_content(hdx_contents *c, hdx_id id, uint64_t from, void *to, uint64_t want, uint64_t *got)
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
    return hdx_contents_fail(c, code);
}

static const hdx_seen *cached_content(hdx_contents *c, hdx_id id)
{
    hdx_seen *s = &c->seen[id % HDX_SEEN];
    uint64_t  got;
    if (s->id == id)
        return s;
    s->id = HDX_NO_ID;
    if (!hdx_contents_step(c, 1) || !read_content(c, id, 0, s->bytes, HDX_SEEN_BYTES, &got))
        return NULL;
    s->id = id;
    s->have = (uint32_t)got;
    return s;
}

/* Returns offset and type of a field; HDX_NO_PLACE: not a class, or it has no field of this name. */
uint64_t hdx_contents_place(hdx_contents *c, uint32_t class, uint16_t name)
{
    uint64_t        offset, place = HDX_NO_PLACE;
    uint8_t         type;
    bool            fresh = true;
    const uint64_t  key = (uint64_t) class << 16 | name;
    const uint64_t *known = hdx_map_get(&c->places, key);
    if (known != NULL)
        return *known;
    if (hdx_layout_field(c->g, class, c->bound->layouts->names.at[name], &offset, &type))
        place = offset << 8 | type;
    uint64_t *cached = hdx_map_put(&c->places, key, &fresh);
    if (cached != NULL)
        *cached = place;
    return place;
}

static bool not_wiped(hdx_contents *c, const hdx_value *v)
{
    return !hdx_graph_wiped(c->g, v) || hdx_contents_give_up(c, HDX_NOTE_ABSENT);
}

/* Reads a field of an object viewed as an instance of `class`, whose fields begin after `skip` bytes. */
static bool read_field(hdx_contents *c, hdx_id id, uint32_t class, uint64_t skip, uint16_t name, hdx_value *out)
{
    const uint64_t place = hdx_contents_place(c, class, name);
    if (place == HDX_NO_PLACE)
        return hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
    return hdx_contents_field_at(c, id, (uint8_t)place, skip + (place >> 8), out);
}

bool hdx_contents_field_at(hdx_contents *c, hdx_id id, uint8_t type, uint64_t from, hdx_value *out)
{
    const unsigned size = hdx_type_size(type, c->id_size);
    uint8_t        far[8];
    uint64_t       got;
    if (size == 0)
        return hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
    if (from + size > HDX_SEEN_BYTES) {
        if (!hdx_contents_step(c, 1) || !read_content(c, id, from, far, size, &got))
            return false;
        if (got < size)
            return hdx_contents_give_up(c, HDX_NOTE_ABSENT);
        *out = hdx_graph_value_of(c->g, type, far);
        return not_wiped(c, out);
    }
    const hdx_seen *s = cached_content(c, id);
    if (s == NULL)
        return false;
    if (from + size > s->have)
        return hdx_contents_give_up(c, HDX_NOTE_ABSENT);
    *out = hdx_graph_value_of(c->g, type, s->bytes + from);
    return not_wiped(c, out);
}

/* Resolves a reference; HDX_NO_ID for null. */
bool hdx_contents_referred(hdx_contents *c, const hdx_value *v, hdx_id *out)
{
    *out = HDX_NO_ID;
    if (v->type != 2)
        return hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
    return v->as.address == 0 || hdx_graph_find(c->g, v->as.address, out) || hdx_contents_give_up(c, HDX_NOTE_DAMAGED);
}

hdx_object_as hdx_object_seen(const hdx_contents *c, hdx_id id)
{
    return (hdx_object_as){ id, id == HDX_NO_ID ? HDX_NO_CLASS : hdx_graph_class_of(c->g, id), 0 };
}

/* Takes one step of a path: *o becomes the object to which the field refers. */
bool hdx_contents_follow(hdx_contents *c, hdx_object_as *o, uint16_t name)
{
    hdx_value v;
    hdx_id    id;
    if (name == c->this_name)
        return true;
    if (!read_field(c, o->id, o->class, o->skip, name, &v) || !hdx_contents_referred(c, &v, &id))
        return false;
    *o = hdx_object_seen(c, id);
    return true;
}

/* Reads the value at the end of a path, starting at step `from`; *null: an object before the end is null. */
bool hdx_contents_value(hdx_contents *c, hdx_object_as o, const hdx_field_path *p, unsigned from, hdx_value *v,
                        bool *null)
{
    *null = false;
    for (; from + 1 < p->count; from++) {
        if (!hdx_contents_follow(c, &o, p->step[from]))
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
    return read_field(c, o.id, o.class, o.skip, p->step[from], v);
}

bool hdx_contents_object(hdx_contents *c, hdx_object_as o, const hdx_field_path *p, hdx_id *out)
{
    hdx_value v;
    bool      null;
    *out = HDX_NO_ID;
    return hdx_contents_value(c, o, p, 0, &v, &null) && (null || hdx_contents_referred(c, &v, out));
}

bool hdx_contents_number(hdx_contents *c, const hdx_value *v, uint64_t *out)
{
    switch (v->type) {
    case 4: *out = v->as.boolean; return true;
    case 5: *out = v->as.character; return true;
    case 8:
    case 9:
    case 10:
    case 11: *out = (uint64_t)v->as.integer; return true;
    default: return hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
    }
}

/* ---- elements of arrays ---- */

bool hdx_contents_open_array(hdx_contents *c, hdx_id id, hdx_element_reader *r)
{
    const hdx_class *class = id == HDX_NO_ID ? NULL : hdx_graph_class(c->g, hdx_graph_class_of(c->g, id));
    r->array = HDX_NO_ID;
    r->length = 0;
    if (class == NULL)
        return id == HDX_NO_ID || hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
    if (class->kind != HDX_OBJECT_ARRAY && class->kind != HDX_PRIMITIVE_ARRAY)
        return hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
    if ((class->flags & HDX_CLASS_FLAT) != 0)
        return hdx_contents_give_up(c, HDX_NOTE_ABSENT);
    r->type = class->kind == HDX_OBJECT_ARRAY ? 2 : class->element_type;
    r->size = (uint8_t)hdx_type_size(r->type, c->id_size);
    r->array = id;
    r->length = hdx_graph_length(c->g, id);
    r->from = r->count = 0;
    return r->size > 0 || hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
}

bool hdx_contents_element(hdx_contents *c, hdx_element_reader *r, uint64_t i, hdx_value *out)
{
    uint64_t got;
    if (i < r->from || i - r->from >= r->count) {
        uint64_t n = HDX_PIECE / r->size;
        n = n < r->length - i ? n : r->length - i;
        if (!hdx_contents_step(c, 1) || !read_content(c, r->array, i * r->size, r->bytes, n * r->size, &got))
            return false;
        r->from = i;
        r->count = (uint32_t)(got / r->size);
        if (r->count == 0)
            return hdx_contents_give_up(c, HDX_NOTE_ABSENT);
    }
    *out = hdx_graph_value_of(c->g, r->type, r->bytes + (i - r->from) * r->size);
    return true;
}

bool hdx_contents_is_zero(const hdx_value *v)
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

/* Returns the next array to which the paths of a layout lead; HDX_NO_ID: no further array. */
bool hdx_contents_next_array(hdx_contents *c, hdx_object_as of, const hdx_field_paths *p, hdx_arrays *a, hdx_id *out)
{
    hdx_object_as o = of;
    unsigned      at = 0;
    bool          alive = a->depth == 0;
    *out = HDX_NO_ID;
    for (;;) {
        if (a->depth == 0 && a->path == p->count)
            return true;
        a->path += a->depth == 0; /* all arrays of this path are done: start the next path */
        const hdx_field_path *path = &p->at[a->path - 1];
        while (alive && at < path->count) {
            if (path->step[at] == HDX_STEP_EACH) {
                if (a->depth == HDX_NESTED_ARRAYS)
                    return hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
                a->frame[a->depth].next = 0;
                a->frame[a->depth].step = at + 1;
                if (!hdx_contents_open_array(c, o.id, &a->frame[a->depth++].elements))
                    return false;
                alive = false;
            } else {
                if (!hdx_contents_follow(c, &o, path->step[at++]))
                    return false;
                alive = o.id != HDX_NO_ID;
            }
        }
        if (alive) {
            *out = o.id;
            return true;
        }
        /* continue with the next element of the innermost array that has one */
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
        if (!hdx_contents_element(c, &a->frame[a->depth - 1].elements, a->frame[a->depth - 1].next++, &v) ||
            !hdx_contents_referred(c, &v, &id))
            return false;
        o = hdx_object_seen(c, id);
        at = a->frame[a->depth - 1].step;
        alive = id != HDX_NO_ID;
    }
}

const hdx_layout hdx_layout_of_arrays = { .kind = HDX_COLLECTION_LIST, .way = HDX_WAY_SLOTS };

hdx_layout_of_class hdx_contents_layout_of(const hdx_contents *c, hdx_id id)
{
    const uint32_t class = hdx_graph_class_of(c->g, id);
    const hdx_object_kind kind = hdx_graph_kind(c->g, id);
    if (kind == HDX_OBJECT_ARRAY || kind == HDX_PRIMITIVE_ARRAY)
        return (hdx_layout_of_class){ .layout = &hdx_layout_of_arrays, .class = class };
    if (kind != HDX_INSTANCE || class >= c->bound->classes)
        return (hdx_layout_of_class){ .class = HDX_NO_CLASS };
    return c->bound->of[class];
}

/* ---- opening ---- */

uint64_t hdx_contents_steps(const hdx_graph *g)
{
    return 4 * hdx_graph_objects(g) + hdx_graph_summary_of(g)->dump_size / 64;
}

const hdx_layout *hdx_contents_layout(const hdx_contents *c, hdx_id id) { return hdx_contents_layout_of(c, id).layout; }

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
    memset(c->seen, 0xff, HDX_SEEN * sizeof *c->seen); /* every id is HDX_NO_ID */
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
