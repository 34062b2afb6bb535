/*
 * values.c - the values of fields, statics and array elements, read from the dump.
 *
 * In:  the position of an object's record, the class's layout from the catalog, bytes of the dump.
 * Out: values; those whose bytes the dump lacks are marked absent (HPROF R17, stripped arrays).
 * The dump may have changed since it was indexed: the record must have the object's address.
 * Cost: one record header and one body an object; in a compressed dump also inflating what is between the positions.
 *       Memory for a caller's list of values grows with what the dump contains, never with what a record claims.
 */
#include "graph/inside.h"

#include <assert.h>

#define PIECE (64u << 10)

void hdx_values_free(hdx_values *v)
{
    hdx_mem_put(NULL, v->at, v->capacity * sizeof *v->at);
    hdx_mem_put(NULL, v->scratch, v->scratch_size);
    *v = (hdx_values){ 0 };
}

static hdx_code scratch(hdx_values *v, uint64_t bytes, hdx_error *err)
{
    if (bytes <= v->scratch_size)
        return HDX_OK;
    uint64_t size = hdx_round_up(bytes, 4096);
    uint8_t *p = hdx_mem_resize(NULL, v->scratch, v->scratch_size, size);
    if (p == NULL)
        return hdx_no_memory(err, "bytes of a record", size);
    v->scratch = p;
    v->scratch_size = size;
    return HDX_OK;
}

static hdx_code add(hdx_values *v, hdx_text name, uint32_t owner, hdx_value value, hdx_error *err)
{
    if (!hdx_mem_room(NULL, (void **)&v->at, &v->capacity, v->count, sizeof *v->at))
        return hdx_no_memory(err, "values", (v->capacity + 1) * sizeof *v->at);
    assert(v->count < v->capacity);
    v->at[v->count++] = (hdx_field_value){ name, owner, value };
    return HDX_OK;
}

hdx_value hdx_value_of(uint8_t type, const uint8_t *p, unsigned id_size)
{
    hdx_value v = { .type = type };
    uint32_t  four;
    uint64_t  eight;
    switch (type) {
    case 2: v.as.address = hdx_be_id(p, id_size); break;
    case 4: v.as.boolean = p[0] != 0; break;
    case 5: v.as.character = hdx_be16(p); break;
    case 6:
        four = hdx_be32(p);
        memcpy(&v.as.single, &four, sizeof four);
        break;
    case 7:
        eight = hdx_be64(p);
        memcpy(&v.as.real, &eight, sizeof eight);
        break;
    case 8: v.as.integer = (int8_t)p[0]; break;
    case 9: v.as.integer = (int16_t)hdx_be16(p); break;
    case 10: v.as.integer = (int32_t)hdx_be32(p); break;
    case 11: v.as.integer = (int64_t)hdx_be64(p); break;
    default: v.absent = true;
    }
    return v;
}

/* ---- records ---- */

/* A damaged page of positions or addresses also leads to a wrong record: then the dump has not changed. */
static hdx_code changed(hdx_graph *g, hdx_id id, hdx_pos pos, hdx_error *err)
{
    hdx_code code = hdx_graph_check(g, err);
    if (code != HDX_OK)
        return code;
    code =
        hdx_fail(err, HDX_BAD_DUMP, g->dump, pos, "no record of object 0x%llx: the dump changed since it was indexed",
                 (unsigned long long)hdx_graph_address(g, id));
    return hdx_hint(err, code, "rebuild the index");
}

hdx_code hdx_graph_record(hdx_graph *g, hdx_id id, hdx_record *out, bool *there, hdx_error *err)
{
    hdx_code code;
    hdx_pos  pos;
    *there = false;
    if (!hdx_graph_position(g, id, &pos))
        return HDX_OK;
    if ((code = hdx_graph_source(g, &out->source, err)) != HDX_OK)
        return code;
    if ((code = hdx_hprof_record_at(out->source, g->m->id_size, pos, &out->event, &out->at, &out->len, err)) != HDX_OK)
        return code;
    if (out->event.addr != hdx_graph_address(g, id))
        return changed(g, id, pos, err);
    if (hdx_graph_blank_array(g, out->source, &out->event, out->at))
        out->event.tag = HDX_SUB_PRIMITIVE_ARRAY_NODATA;
    const uint64_t limit = hdx_graph_limit_of_array(g, &out->event);
    if (limit != UINT64_MAX) /* as if the file ended there */
        out->len = hdx_least(out->len, limit * hdx_type_size(out->event.type, g->m->id_size));
    *there = true;
    return HDX_OK;
}

hdx_code hdx_graph_check_record(hdx_graph *g, hdx_id id, hdx_error *err)
{
    hdx_record r;
    bool       there;
    return hdx_graph_record(g, id, &r, &there, err);
}

/* Reads bytes from .. from + want of the record's body; *got < want if it, or the dump, ends first. */
static hdx_code body(const hdx_record *r, uint64_t from, void *to, uint64_t want, uint64_t *got, hdx_error *err)
{
    size_t read = 0;
    *got = 0;
    if (from >= r->len)
        return HDX_OK;
    want = hdx_least(want, r->len - from);
    hdx_code code = hdx_source_read_at(r->source, r->at + from, to, (size_t)want, &read, err);
    assert(read <= want); /* G6 */
    *got = read;
    return code;
}

hdx_code hdx_record_elements(const hdx_record *r, unsigned size, uint64_t first, uint64_t n, uint8_t *out,
                             uint64_t *got, hdx_error *err)
{
    uint64_t from, bytes;
    *got = 0;
    if (!hdx_mul(first, size, &from) || !hdx_mul(n, size, &bytes))
        return HDX_OK;
    hdx_code code = body(r, from, out, bytes, got, err);
    *got /= size;
    assert(*got <= n); /* G6 */
    return code;
}

hdx_code hdx_graph_record_bytes(hdx_graph *g, hdx_id id, uint64_t from, void *to, uint64_t want, uint64_t *got,
                                hdx_error *err)
{
    hdx_record r;
    bool       there;
    *got = 0;
    hdx_code code = hdx_graph_record(g, id, &r, &there, err);
    if (code != HDX_OK || !there || r.event.tag == HDX_SUB_CLASS || r.event.tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA)
        return code;
    return body(&r, from, to, want, got, err);
}

hdx_value hdx_graph_value_of(const hdx_graph *g, uint8_t type, const uint8_t *bytes)
{
    return hdx_value_of(type, bytes, g->m->id_size);
}

struct hdx_near *hdx_graph_near_begin(hdx_graph *g)
{
    hdx_source *source;
    return hdx_graph_source(g, &source, NULL) == HDX_OK ? hdx_near_begin(source) : NULL;
}

void hdx_graph_near_end(struct hdx_near *near) { hdx_near_end(near); }

/* ---- one instance, field by field ---- */

hdx_code hdx_instance_open(hdx_graph *g, hdx_id id, hdx_instance *out, bool *there, hdx_error *err)
{
    hdx_code               code;
    uint64_t               got = 0;
    const hdx_class_table *t = hdx_graph_class_table(g);
    uint32_t               number = t != NULL ? hdx_graph_class_of(g, id) : HDX_NO_CLASS;
    *there = false;
    if (number == HDX_NO_CLASS || t->at[number].kind != HDX_INSTANCE)
        return HDX_OK;
    out->g = g;
    out->id = id;
    out->class = &t->at[number];
    out->fields = 0;
    if ((code = hdx_graph_record(g, id, &out->record, there, err)) != HDX_OK || !*there)
        return code;
    if (out->record.event.tag != HDX_SUB_INSTANCE) {
        *there = false;
        return HDX_OK;
    }
    code = body(&out->record, 0, out->bytes, sizeof out->bytes, &got, err);
    assert(got <= sizeof out->bytes); /* G6 */
    out->have = (uint32_t)got;
    return code;
}

static hdx_code field_at(const hdx_instance *i, const hdx_class *owner, uint64_t from, uint8_t type, hdx_value *out,
                         hdx_error *err)
{
    unsigned id_size = i->g->m->id_size, size = hdx_type_size(type, id_size);
    uint8_t  far[8];
    uint64_t got;
    *out = (hdx_value){ .type = type, .absent = true };
    if (size == 0)
        return HDX_OK;
    assert(size <= sizeof far);
    if (from <= i->have && size <= i->have - from) {
        *out = hdx_value_of(type, i->bytes + from, id_size);
        out->absent = hdx_graph_blank_value(i->g, owner, out);
        return HDX_OK;
    }
    hdx_code code = body(&i->record, from, far, size, &got, err);
    if (code == HDX_OK && got == size) {
        *out = hdx_value_of(type, far, id_size);
        out->absent = hdx_graph_blank_value(i->g, owner, out);
    }
    return code;
}

bool hdx_instance_as(hdx_instance *i, const char *class_name)
{
    const hdx_class_table *t = hdx_graph_class_table(i->g);
    while (!hdx_text_is(i->class->name, class_name)) {
        if ((i->class->flags & HDX_CLASS_OPAQUE) != 0 || i->class->super == HDX_NO_CLASS)
            return false; /* unknown where the fields of an opaque class end and those of its superclass begin */
        for (uint32_t f = 0; f < i->class->field_count; f++)
            i->fields += hdx_type_size(i->class->fields[f].type, i->g->m->id_size);
        assert(i->class->super < t->count); /* G3 */
        i->class = &t->at[i->class->super];
    }
    return true;
}

hdx_code hdx_instance_field(const hdx_instance *i, const char *name, hdx_value *out, bool *found, hdx_error *err)
{
    const hdx_class_table *t = hdx_graph_class_table(i->g);
    const hdx_class       *owner = NULL;
    uint64_t               from = i->fields, at = 0;
    uint8_t                type = 0;
    for (const hdx_class *c = i->class; c != NULL; c = c->super == HDX_NO_CLASS ? NULL : &t->at[c->super]) {
        if ((c->flags & HDX_CLASS_OPAQUE) != 0)
            break;
        for (uint32_t f = 0; f < c->field_count; f++) {
            if (owner != c && hdx_text_is(c->fields[f].name, name)) {
                owner = c;
                at = from;
                type = c->fields[f].type;
            }
            from += hdx_type_size(c->fields[f].type, i->g->m->id_size);
        }
    }
    *found = owner != NULL;
    return owner == NULL ? HDX_OK : field_at(i, owner, at, type, out, err);
}

hdx_code hdx_graph_field(hdx_graph *g, hdx_id id, const char *class_name, const char *name, hdx_value *out, bool *found,
                         hdx_error *err)
{
    hdx_instance i;
    bool         there;
    *found = false;
    hdx_code code = hdx_instance_open(g, id, &i, &there, err);
    if (code != HDX_OK || !there || (class_name != NULL && !hdx_instance_as(&i, class_name)))
        return code;
    return hdx_instance_field(&i, name, out, found, err);
}

/* ---- all fields ---- */

/* there: only those that start inside of the bytes; a chain of superclasses may be far longer than a record. */
static hdx_code all_fields(hdx_graph *g, const hdx_class_table *t, uint32_t number, bool there, const uint8_t *bytes,
                           uint64_t len, hdx_values *v, hdx_error *err)
{
    uint64_t from = 0;
    hdx_code code;
    for (; number != HDX_NO_CLASS && !(there && from >= len); number = t->at[number].super) {
        assert(number < t->count); /* G3 */
        const hdx_class *c = &t->at[number];
        if ((c->flags & HDX_CLASS_OPAQUE) != 0)
            break;
        for (uint32_t f = 0; f < c->field_count && !(there && from >= len); f++) {
            unsigned  size = hdx_type_size(c->fields[f].type, g->m->id_size);
            hdx_value value = { .type = c->fields[f].type, .absent = true };
            /* Fields that are completely inside of the bytes are read, others are absent (HPROF R17). */
            if (size > 0 && from <= len && size <= len - from)
                value = hdx_value_of(c->fields[f].type, bytes + from, g->m->id_size);
            value.absent = value.absent || hdx_graph_blank_value(g, c, &value);
            from += size;
            if ((code = add(v, c->fields[f].name, number, value, err)) != HDX_OK)
                return code;
        }
    }
    return HDX_OK;
}

static hdx_code read_fields(hdx_graph *g, hdx_id id, bool only_there, hdx_values *v, hdx_error *err)
{
    hdx_code               code;
    hdx_record             r;
    bool                   there;
    uint64_t               len = 0, want;
    const hdx_class_table *t = hdx_graph_class_table(g);
    uint32_t               number = t != NULL ? hdx_graph_class_of(g, id) : HDX_NO_CLASS;
    v->count = 0;
    if (number == HDX_NO_CLASS || t->at[number].kind != HDX_INSTANCE)
        return HDX_OK;
    if ((code = hdx_graph_record(g, id, &r, &there, err)) != HDX_OK || !there || r.event.tag != HDX_SUB_INSTANCE)
        return code;
    want = hdx_class_field_bytes(t->at, number, g->m->id_size, r.len);
    if ((code = scratch(v, want, err)) != HDX_OK || (code = body(&r, 0, v->scratch, want, &len, err)) != HDX_OK)
        return code;
    return all_fields(g, t, number, only_there, v->scratch, len, v, err);
}

hdx_code hdx_graph_fields(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err)
{
    return read_fields(g, id, false, v, err);
}
hdx_code hdx_graph_fields_present(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err)
{
    return read_fields(g, id, true, v, err);
}

hdx_code hdx_graph_statics(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err)
{
    hdx_code         code;
    hdx_record       r;
    bool             there;
    uint64_t         len = 0;
    hdx_class_dump   dump;
    const hdx_class *c = hdx_graph_class_object(g, id);
    v->count = 0;
    if (c == NULL || c->static_count == 0)
        return HDX_OK;
    if ((code = hdx_graph_record(g, id, &r, &there, err)) != HDX_OK || !there || r.event.tag != HDX_SUB_CLASS)
        return code;
    if ((code = scratch(v, r.len, err)) != HDX_OK || (code = body(&r, 0, v->scratch, r.len, &len, err)) != HDX_OK)
        return code;
    if (!hdx_class_dump_cut((hdx_view){ v->scratch, (size_t)len }, g->m->id_size, &dump))
        return changed(g, id, r.event.pos, err);
    uint64_t name;
    uint8_t  type;
    hdx_view bytes;
    for (uint32_t s = 0; s < c->static_count; s++) {
        hdx_value value = { .type = c->statics[s].type, .absent = true };
        if (hdx_class_static_next(&dump.statics, g->m->id_size, &name, &type, &bytes) && type == c->statics[s].type)
            value = hdx_value_of(type, bytes.at, g->m->id_size);
        if ((code = add(v, c->statics[s].name, c->number, value, err)) != HDX_OK)
            return code;
    }
    return HDX_OK;
}

/* ---- elements ---- */

hdx_code hdx_graph_elements(hdx_graph *g, hdx_id id, uint64_t first, uint64_t n, hdx_values *v, hdx_error *err)
{
    hdx_code         code = HDX_OK;
    hdx_record       r;
    bool             there;
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    v->count = 0;
    if (c == NULL || c->kind == HDX_INSTANCE)
        return HDX_OK;
    uint64_t length = hdx_graph_length(g, id);
    n = first >= length ? 0 : hdx_least(n, length - first);
    if (n == 0)
        return HDX_OK;
    if ((c->flags & HDX_CLASS_FLAT) != 0) { /* elements are value objects, for which no value type exists */
        for (; n > 0 && code == HDX_OK; n--)
            code =
                add(v, (hdx_text){ "", 0 }, HDX_NO_CLASS, (hdx_value){ .type = c->element_type, .absent = true }, err);
        return code;
    }
    if ((code = hdx_graph_record(g, id, &r, &there, err)) != HDX_OK || !there)
        return code;
    if (r.event.count != length) /* callers that loop over all elements would trust the length of the index */
        return hdx_fail(err, HDX_DAMAGED, "size", HDX_NOWHERE, "object %llu has %llu elements; its record has %u",
                        (unsigned long long)id, (unsigned long long)length, r.event.count);
    uint8_t  type = c->kind == HDX_OBJECT_ARRAY ? 2 : c->element_type;
    unsigned size = hdx_type_size(type, g->m->id_size);
    if (size == 0)
        return HDX_OK;
    uint64_t piece = PIECE / size;
    if ((code = scratch(v, PIECE, err)) != HDX_OK)
        return code;
    while (n > 0) {
        uint64_t now = hdx_least(n, piece), got = 0;
        /*
         * Arrays without data (Dalvik, strippers) and arrays that are cut short in the file: the number of elements is
         * known, their values are not.
         */
        if (r.event.tag != HDX_SUB_PRIMITIVE_ARRAY_NODATA &&
            (code = hdx_record_elements(&r, size, first, now, v->scratch, &got, err)) != HDX_OK)
            return code;
        for (uint64_t i = 0; i < now; i++) {
            hdx_value value = { .type = type, .absent = true };
            if (i < got)
                value = hdx_value_of(type, v->scratch + i * size, g->m->id_size);
            if ((code = add(v, (hdx_text){ "", 0 }, HDX_NO_CLASS, value, err)) != HDX_OK)
                return code;
        }
        first += now;
        n -= now;
    }
    return HDX_OK;
}
