/*
 * entry.c - reads the head of one heap entry (HPROF 3): its kind, where its content begins, and the length of that. No
 * rule of damage is applied.
 */
#include "strip/inside.h"

bool hdx_strip_entry_is_root(uint8_t tag) { return hdx_sub_root_size(tag, 4) != 0; }

entry_state hdx_strip_class_shape_of(const uint8_t *at, size_t have, uint32_t i, uint32_t pool_at, class_shape *out)
{
    uint64_t o = pool_at;
    for (unsigned part = 0; part < 3;
         part++) { /* constant pool, statics, fields: each a count and entries whose type implies their size */
        const uint32_t to_type = part == 0 ? 2 : i;
        if (have < o + 2)
            return out->size = o + 2, ENTRY_SHORT;
        const uint32_t n = hdx_be16(at + o);
        o += 2;
        if (part == 0)
            out->pool = o, out->pool_count = n;
        else if (part == 1)
            out->statics = o, out->static_count = n;
        else
            out->fields = o, out->field_count = n;
        for (uint32_t k = 0; k < n; k++) {
            if (have < o + to_type + 1)
                return out->size = o + to_type + 1, ENTRY_SHORT;
            const uint32_t width = hdx_type_size(at[o + to_type], i);
            if (width == 0)
                return ENTRY_TYPE;
            o += to_type + 1 + (part == 2 ? 0 : width);
        }
    }
    out->size = o;
    return have < o ? ENTRY_SHORT : ENTRY_WHOLE;
}

static hdx_code class_entry(reader *r, uint32_t i, entry *e, entry_state *state, hdx_error *err)
{
    class_shape shape = { 0 };
    uint64_t    want = 512;
    for (;;) {
        size_t   have;
        hdx_code code = hdx_strip_reader_at(r, e->pos, want, &e->at, &have, err);
        if (code != HDX_OK)
            return code;
        *state = hdx_strip_class_shape_of(e->at, have, i, CLASS_POOL(i), &shape);
        if (*state == ENTRY_SHORT && have >= want) {
            want *= 2;
            continue;
        }
        e->id = hdx_be_id(e->at + 1, i);
        e->head = shape.size;
        return HDX_OK;
    }
}

hdx_code hdx_strip_entry_at(reader *r, uint32_t i, hdx_pos pos, entry *e, entry_state *state, hdx_error *err)
{
    size_t   have;
    hdx_code code = hdx_strip_reader_at(r, pos, 32, &e->at, &have, err);
    if (code != HDX_OK)
        return code;
    const uint8_t *p = e->at;
    e->pos = pos;
    e->body = 0;
    e->count = 0;
    e->class_id = 0;
    e->type = 0;
    *state = ENTRY_SHORT;
    if (have == 0)
        return HDX_OK;
    e->tag = *p;
    e->id = hdx_be_id(p + 1, i);
    switch (*p) {
    case HDX_SUB_CLASS: return class_entry(r, i, e, state, err);
    case HDX_SUB_INSTANCE:
        e->class_id = hdx_be_id(p + 5 + i, i);
        e->count = hdx_be32(p + 5 + 2 * i);
        e->head = 9 + 2 * i;
        e->body = e->count;
        break;
    case HDX_SUB_OBJECT_ARRAY:
        e->count = hdx_be32(p + 5 + i);
        e->class_id = hdx_be_id(p + 9 + i, i);
        e->head = 9 + 2 * i;
        e->body = (uint64_t)e->count * i;
        break;
    case HDX_SUB_PRIMITIVE_ARRAY:
    case HDX_SUB_PRIMITIVE_ARRAY_NODATA:
        e->count = hdx_be32(p + 5 + i);
        e->type = p[9 + i];
        e->head = 10 + i;
        if (have >= e->head && (e->type == 2 || hdx_type_size(e->type, i) == 0)) {
            *state = ENTRY_TYPE;
            return HDX_OK;
        }
        e->body = *p == HDX_SUB_PRIMITIVE_ARRAY ? (uint64_t)e->count * hdx_type_size(e->type, i) : 0;
        break;
    case HDX_SUB_HEAP_DUMP_INFO:
        e->count = hdx_be32(p + 1);
        e->id = hdx_be_id(p + 5, i);
        e->head = 5 + i;
        break;
    default:
        e->head = 1 + hdx_sub_root_size(*p, i);
        if (e->head == 1) {
            *state = ENTRY_TAG;
            return HDX_OK;
        }
        break;
    }
    if (have >= e->head)
        *state = ENTRY_WHOLE;
    return HDX_OK;
}
