/*
 * reader.c - bytes around a position: one buffer that moves over a source, mostly forward.
 *
 * A jump (over the content of a large array) does not read the bytes in between. The buffer grows only for a
 * CLASS_DUMP, and at most doubles before bytes for the first half were read.
 */
#include "strip/inside.h"

reader hdx_strip_reader_of(hdx_source *source, bool below, size_t chunk, hdx_mem *mem, hdx_ticker *tick)
{
    return (reader){ .source = source, .below = below, .mem = mem, .tick = tick, .chunk = chunk };
}

void hdx_strip_reader_free(reader *r)
{
    if (r->at != NULL)
        hdx_mem_put(r->mem, r->at, r->capacity + READER_PAD);
    r->at = NULL;
    r->capacity = 0;
    r->len = 0;
}

static hdx_code grow(reader *r, uint64_t capacity, hdx_error *err)
{
    uint8_t *at = hdx_mem_resize(r->mem, r->at, r->at == NULL ? 0 : r->capacity + READER_PAD, capacity + READER_PAD);
    if (at == NULL)
        return hdx_no_memory(err, "read buffer", capacity);
    r->at = at;
    r->capacity = capacity;
    return HDX_OK;
}

hdx_code hdx_strip_reader_move(reader *r, hdx_pos pos, uint64_t want, const uint8_t **at, size_t *have, hdx_error *err)
{
    hdx_code code = r->at == NULL ? grow(r, r->chunk, err) : HDX_OK;
    if (code != HDX_OK)
        return code;
    size_t drop = (size_t)(pos - r->from); /* a large number if pos is before the buffer */
    drop = drop < r->len ? drop : r->len;
    memmove(r->at, r->at + drop, r->len - drop);
    r->len -= drop;
    r->from = pos;
    while (r->len < want) {
        size_t got = 0, room;
        if (r->len == r->capacity && (code = grow(r, 2 * r->capacity, err)) != HDX_OK)
            return code;
        room = (size_t)(r->capacity - r->len);
        code = r->below ? hdx_source_below(r->source, pos + r->len, r->at + r->len, room, &got, err)
                        : hdx_source_read_at(r->source, pos + r->len, r->at + r->len, room, &got, err);
        if (code != HDX_OK)
            return code;
        r->len += got;
        r->read += got;
        if (hdx_tick(r->tick, got))
            return hdx_tick_stop(err);
        if (got < room)
            break;
    }
    memset(r->at + r->len, 0, READER_PAD);
    *at = r->at;
    *have = r->len;
    return HDX_OK;
}

hdx_code hdx_strip_reader_reaches(reader *r, hdx_pos end, bool *yes, hdx_error *err)
{
    uint8_t  byte;
    size_t   got = 0;
    uint64_t size;
    if (end == 0 || (end > r->from && end - r->from <= r->len)) {
        *yes = true;
        return HDX_OK;
    }
    /* A plain file knows its size; for other sources the byte itself is read, which does not change the buffer. */
    if (r->below ? hdx_source_size_below(r->source, &size) : hdx_source_size(r->source, &size)) {
        *yes = end <= size;
        return HDX_OK;
    }
    const hdx_code code = r->below ? hdx_source_below(r->source, end - 1, &byte, 1, &got, err)
                                   : hdx_source_read_at(r->source, end - 1, &byte, 1, &got, err);
    *yes = got == 1;
    return code;
}
