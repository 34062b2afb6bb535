/*
 * container.c - writes records and entries as tokens of Tailor's container (STRIP 2). Values that do not fit into it
 * are refused by name, never changed.
 */
#include "strip/inside.h"

static hdx_code no_room(reader *r, hdx_pos pos, const char *what, hdx_error *err)
{
    return hdx_hint(
        err, hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(r->source), pos, "Tailor's container cannot hold %s", what),
        "use another --policy");
}

hdx_code hdx_strip_container_record(sink *out, reader *r, const top *t, bool after_segment, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    uint8_t        head[3] = { t->tag, (uint8_t)(t->stated >> 8), (uint8_t)t->stated };
    hdx_code       code;
    if (t->tag != HDX_TOP_STRING && t->tag != HDX_TOP_LOAD_CLASS && t->tag != HDX_TOP_HEAP_DUMP_END)
        return HDX_OK; /* frames, traces and other records are dropped */
    if (t->tag == HDX_TOP_HEAP_DUMP_END)
        return hdx_strip_sink_put(out, head, 1, err);
    if (after_segment)
        return no_room(r, t->pos, "names after a heap record", err);
    if (t->tag == HDX_TOP_STRING) {
        if (t->stated > UINT16_MAX)
            return no_room(r, t->pos, "texts of more than 65531 bytes", err);
        return (code = hdx_strip_sink_put(out, head, 3, err)) == HDX_OK
                   ? hdx_strip_sink_copy(out, r, t->pos + TOP_HEAD, t->stated, err)
                   : code;
    }
    if (t->stated != 16)
        return hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(r->source), t->pos, "LOAD_CLASS is %u bytes; expected 16",
                        t->stated);
    if ((code = hdx_strip_reader_at(r, t->pos, TOP_HEAD + 16, &at, &have, err)) != HDX_OK)
        return code;
    const uint8_t *body = at + TOP_HEAD;
    uint8_t        load[9] = { HDX_TOP_LOAD_CLASS };
    memcpy(load + 1, body + 4, 4);
    memcpy(load + 5, body + 12, 4);
    return hdx_strip_sink_put(out, load, sizeof load, err);
}

hdx_code hdx_strip_container_entry(sink *out, reader *r, const entry *e, hdx_error *err)
{
    hdx_code code;
    switch (e->tag) {
    case HDX_SUB_UNREACHABLE:
    case HDX_SUB_PRIMITIVE_ARRAY_NODATA:
        return no_room(r, e->pos,
                       e->tag == HDX_SUB_UNREACHABLE ? "UNREACHABLE entries (0x90)" : "arrays without data (0xc3)",
                       err);
    case HDX_SUB_ROOT_JNI_GLOBAL:
    case HDX_SUB_HEAP_DUMP_INFO: return hdx_strip_sink_put(out, e->at, 9, err);
    case HDX_SUB_CLASS:
        if (hdx_be16(e->at + 33) != 0)
            return no_room(r, e->pos, "classes with instances of more than 65535 bytes", err);
        if ((code = hdx_strip_sink_put(out, e->at, 5, err)) != HDX_OK ||
            (code = hdx_strip_sink_put(out, e->at + 9, 16, err)) != HDX_OK)
            return code;
        return hdx_strip_sink_put(out, e->at + 35, e->head - 35, err);
    case HDX_SUB_INSTANCE:
    case HDX_SUB_OBJECT_ARRAY:
    case HDX_SUB_PRIMITIVE_ARRAY:
        if ((code = hdx_strip_sink_put(out, e->at, 5, err)) != HDX_OK ||
            (code = hdx_strip_sink_put(out, e->at + 9, e->head - 9, err)) != HDX_OK)
            return code;
        if (e->tag == HDX_SUB_PRIMITIVE_ARRAY && (e->type == 5 || e->type == 8))
            return HDX_OK;
        return hdx_strip_sink_copy(out, r, e->pos + e->head, e->body, err);
    default: return hdx_strip_sink_put(out, e->at, 5, err);
    }
}
