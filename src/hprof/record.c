/*
 * record.c - one object record at a position that the index contains.
 *
 * The index may be older than the dump, so nothing at the position is trusted before it was compared.
 */
#include "hprof/inside.h"

static hdx_code changed(hdx_source *source, hdx_pos pos, hdx_error *err)
{
    return hdx_hint(err,
                    hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(source), pos,
                             "no object record at this position: the dump changed since it was indexed"),
                    "rebuild the index with heapdex index --force");
}

/* Reads until the class dump is complete: it has at most three times 65535 entries, 2.4 MiB with ids of 8 bytes. */
static hdx_code class_record(hdx_source *source, uint32_t id_size, hdx_pos pos, hdx_event *out, uint64_t *len,
                             hdx_error *err)
{
    uint8_t        first[4096], *bytes = first;
    uint64_t       room = sizeof first;
    hdx_code       code;
    hdx_class_dump cut = { 0 };
    uint8_t        bad;
    for (;;) {
        size_t got = 0;
        if ((code = hdx_source_read_at(source, pos, bytes, (size_t)room, &got, err)) != HDX_OK)
            break;
        const hdx_class_state state = hdx_class_dump_state((hdx_view){ bytes, got }, id_size, &cut, &bad);
        if (state == HDX_CLASS_WHOLE) {
            out->addr = cut.addr;
            *len = cut.size;
            if (cut.addr == 0)
                code = changed(source, pos, err);
            break;
        }
        if (state == HDX_CLASS_BAD_TYPE || got < room) {
            code = changed(source, pos, err);
            break;
        }
        if (bytes != first)
            hdx_mem_put(NULL, bytes, room);
        room *= 4;
        if ((bytes = hdx_mem_get(NULL, room)) == NULL)
            return hdx_no_memory(err, "class dump", room);
    }
    if (bytes != first)
        hdx_mem_put(NULL, bytes, room);
    return code;
}

hdx_code hdx_hprof_record_at(hdx_source *source, uint32_t id_size, hdx_pos pos, hdx_event *out, hdx_pos *body_at,
                             uint64_t *body_len, hdx_error *err)
{
    uint8_t   bytes[32 + HDX_WINDOW_PAD] = { 0 };
    size_t    got = 0;
    hdx_event events[HDX_BATCH];
    uint64_t  counts[256] = { 0 }, head;
    hdx_pos   at = pos;
    hdx_code  code = hdx_source_read_at(source, pos, bytes, 32, &got, err);
    if (code != HDX_OK)
        return code;
    if (got == 0 || !hdx_sub_is_object(bytes[0]))
        return changed(source, pos, err);
    *out = (hdx_event){ .pos = pos, .tag = bytes[0], .frame = -1 };
    if (bytes[0] == HDX_SUB_CLASS) {
        *body_at = pos;
        return class_record(source, id_size, pos, out, body_len, err);
    }
    head = bytes[0] == HDX_SUB_INSTANCE || bytes[0] == HDX_SUB_OBJECT_ARRAY ? 9 + 2 * id_size : 10 + id_size;
    hdx_entry_scan scan = { .id_size = id_size, .events = events, .counts = counts, .exist = UINT64_MAX };
    if (got < head)
        return changed(source, pos, err);
    /* Only the head is in memory: the scanner returns one event, then needs more. */
    const hdx_scan_stop stop = hdx_scan_run(&scan, bytes, (size_t)head, &at, UINT64_MAX >> 1);
    if (scan.n != 1 || (stop != HDX_SCAN_WANT && stop != HDX_SCAN_END))
        return changed(source, pos, err);
    *out = events[0];
    *body_at = pos + head;
    *body_len = at - *body_at;
    if (*body_len > 0 && ((code = hdx_source_read_at(source, at - 1, bytes, 1, &got, err)) != HDX_OK || got == 0))
        return code != HDX_OK ? code : changed(source, pos, err);
    return HDX_OK;
}
