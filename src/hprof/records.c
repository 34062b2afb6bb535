/*
 * records.c - instances and primitive arrays at positions that the index contains, mostly ascending ones: other bytes
 * are skipped, and each byte is read once.
 *
 * As in record.c, nothing at a position is trusted before it was compared. A record ends where its length says, or
 * where the dump ends; missing bytes are not returned.
 * Cost: a copy of what is read, in pieces of 256 KB, plus the part in memory of a record that extends over two pieces.
 */
#include "hprof/inside.h"

#define CHUNK (256u << 10)

struct hdx_records {
    hdx_window window;
    uint32_t   id_size;
};

hdx_code hdx_records_open(hdx_source *source, uint32_t id_size, hdx_mem *mem, hdx_ticker *tick, hdx_records **out,
                          hdx_error *err)
{
    if ((*out = hdx_mem_get(mem, sizeof **out)) == NULL)
        return hdx_no_memory(err, "reading records", sizeof **out);
    (*out)->window = hdx_window_of(source, NULL, CHUNK, mem, tick);
    (*out)->id_size = id_size;
    return HDX_OK;
}

void hdx_records_close(hdx_records *r)
{
    if (r == NULL)
        return;
    hdx_mem *mem = r->window.mem;
    hdx_window_free(&r->window);
    hdx_mem_put(mem, r, sizeof *r);
}

hdx_code hdx_records_at(hdx_records *r, hdx_pos pos, hdx_event *out, hdx_pos *body_at, uint64_t *body_len, bool *is,
                        hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    const uint32_t id = r->id_size;
    hdx_code       code = hdx_window_at(&r->window, pos, 10 + 2 * id, &at, &have, err);
    *is = false;
    if (code != HDX_OK || have == 0)
        return code;
    const bool     instance = at[0] == HDX_SUB_INSTANCE;
    const uint32_t head = instance ? 9 + 2 * id : 10 + id;
    if ((!instance && at[0] != HDX_SUB_PRIMITIVE_ARRAY && at[0] != HDX_SUB_PRIMITIVE_ARRAY_NODATA) || have < head)
        return HDX_OK;
    *out = (hdx_event){ .pos = pos, .tag = at[0], .addr = hdx_be_id(at + 1, id), .frame = -1 };
    *body_at = pos + head;
    if (instance) {
        out->class_addr = hdx_be_id(at + 5 + id, id);
        *body_len = out->count = hdx_be32(at + 5 + 2 * id);
    } else {
        out->count = hdx_be32(at + 5 + id);
        out->type = at[9 + id];
        const uint32_t size = hdx_element_size(out->type, id);
        if (size == 0 || out->type == 2)
            return HDX_OK;
        *body_len = at[0] == HDX_SUB_PRIMITIVE_ARRAY ? (uint64_t)out->count * size : 0;
    }
    *is = true;
    return HDX_OK;
}

hdx_code hdx_records_body(hdx_records *r, hdx_pos pos, uint64_t want, hdx_view *out, hdx_error *err)
{
    size_t have;
    if (want > CHUNK)
        want = CHUNK;
    hdx_code code = hdx_window_at(&r->window, pos, want, &out->at, &have, err);
    out->len = code != HDX_OK ? 0 : have < want ? have : (size_t)want;
    return code;
}
