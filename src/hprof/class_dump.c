/*
 * class_dump.c - splits a CLASS_DUMP into its parts (HPROF 3.1).
 *
 * The record has no total length: constant pool, statics and fields must be stepped through, and one wrong type byte
 * makes everything after it unreadable.
 */
#include "hprof/inside.h"

hdx_class_state hdx_class_dump_state(hdx_view record, uint32_t id_size, hdx_class_dump *out, uint8_t *bad)
{
    const uint8_t *p = record.at;
    const uint32_t i = id_size, statics_entry = i + 1;
    const uint64_t fixed = 9 + 7 * (uint64_t)i; /* up to the constant pool's count */
    uint64_t       o = fixed;
    if (record.len < fixed + 2)
        return out->size = fixed + 6, HDX_CLASS_SHORT;
    out->addr = hdx_be_id(p + 1, i);
    out->super = hdx_be_id(p + 5 + i, i);
    out->loader = hdx_be_id(p + 5 + 2 * i, i);
    out->signers = hdx_be_id(p + 5 + 3 * i, i);
    out->domain = hdx_be_id(p + 5 + 4 * i, i);
    out->instance_size = hdx_be32(p + 5 + 7 * i);

    for (unsigned part = 0; part < 2; part++) { /* constant pool, then statics */
        const uint32_t to_type = part == 0 ? 2 : i;
        if (record.len - o < 2)
            return out->size = o + 2, HDX_CLASS_SHORT;
        const uint32_t n = hdx_be16(p + o);
        o += 2;
        const uint64_t begin = o;
        for (uint32_t k = 0; k < n; k++) {
            if (record.len - o < to_type + 1)
                return out->size = o + to_type + 1, HDX_CLASS_SHORT;
            const uint8_t  type = p[o + to_type];
            const uint32_t size = hdx_element_size(type, i);
            if (size == 0)
                return *bad = type, HDX_CLASS_BAD_TYPE;
            if (record.len - o < to_type + 1 + size)
                return out->size = o + to_type + 1 + size, HDX_CLASS_SHORT;
            o += to_type + 1 + size;
        }
        if (part == 1) {
            out->static_count = n;
            out->statics = (hdx_view){ p + begin, (size_t)(o - begin) };
        }
    }

    if (record.len - o < 2)
        return out->size = o + 2, HDX_CLASS_SHORT;
    out->field_count = hdx_be16(p + o);
    o += 2;
    const uint64_t bytes = (uint64_t)out->field_count * statics_entry;
    if (record.len - o < bytes)
        return out->size = o + bytes, HDX_CLASS_SHORT;
    out->fields = (hdx_view){ p + o, (size_t)bytes };
    for (uint32_t k = 0; k < out->field_count; k++) {
        const uint8_t type = p[o + (uint64_t)k * statics_entry + i];
        if (hdx_element_size(type, i) == 0)
            return *bad = type, HDX_CLASS_BAD_TYPE;
    }
    out->size = o + bytes;
    return HDX_CLASS_WHOLE;
}

bool hdx_class_dump_cut(hdx_view record, uint32_t id_size, hdx_class_dump *out)
{
    uint8_t bad;
    if (record.len == 0 || record.at[0] != HDX_SUB_CLASS)
        return false;
    return hdx_class_dump_state(record, id_size, out, &bad) == HDX_CLASS_WHOLE;
}

bool hdx_class_static_next(hdx_view *statics, uint32_t id_size, uint64_t *name, uint8_t *type, hdx_view *value)
{
    hdx_view head;
    if (!hdx_cut(statics, id_size + 1, &head))
        return false;
    *name = hdx_be_id(head.at, id_size);
    *type = head.at[id_size];
    const uint32_t size = hdx_element_size(*type, id_size);
    return size != 0 && hdx_cut(statics, size, value);
}

bool hdx_class_field_next(hdx_view *fields, uint32_t id_size, uint64_t *name, uint8_t *type)
{
    hdx_view head;
    if (!hdx_cut(fields, id_size + 1, &head))
        return false;
    *name = hdx_be_id(head.at, id_size);
    *type = head.at[id_size];
    return true;
}
