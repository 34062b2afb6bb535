/*
 * window.c - a buffer that moves over a source: random access for plain files, forward only for streams.
 *
 * Bytes that are still needed are moved to the front, and others are read after them. The buffer grows only for a
 * sub-record or top-level body that is longer than a chunk, and at most doubles before bytes for the first half were
 * read, so a wrong length costs no more memory than the file has bytes.
 */
#include "hprof/inside.h"

hdx_window hdx_window_of(hdx_source *source, hdx_stream *stream, size_t chunk, hdx_mem *mem, hdx_ticker *tick)
{
    return (hdx_window){
        .source = source, .stream = stream, .mem = mem, .tick = tick, .limit = UINT64_MAX, .chunk = chunk
    };
}

void hdx_window_free(hdx_window *w)
{
    if (w->at != NULL)
        hdx_mem_put(w->mem, w->at, w->capacity + HDX_WINDOW_PAD);
}

static hdx_code grow(hdx_window *w, uint64_t capacity, hdx_error *err)
{
    if (capacity <= w->capacity)
        return HDX_OK;
    capacity = hdx_round_up(capacity, 65536);
    uint8_t *at =
        hdx_mem_resize(w->mem, w->at, w->at == NULL ? 0 : w->capacity + HDX_WINDOW_PAD, capacity + HDX_WINDOW_PAD);
    if (at == NULL)
        return hdx_no_memory(err, "read buffer", capacity);
    w->at = at;
    w->capacity = capacity;
    return HDX_OK;
}

/* Reads up to n bytes after the content. */
static hdx_code fill(hdx_window *w, size_t n, hdx_error *err)
{
    size_t        got = 0;
    hdx_code      code;
    const hdx_pos end = w->from + w->len;
    bool          limited = false;
    if (w->limit - end < n) {
        n = (size_t)(w->limit - end);
        limited = true;
    }
    code = w->stream != NULL ? hdx_stream_read(w->stream, w->at + w->len, n, &got, err)
                             : hdx_source_read_at(w->source, end, w->at + w->len, n, &got, err);
    if (code != HDX_OK)
        return code;
    w->len += got;
    if (got < n || limited) {
        w->ended = true;
        w->data_end = w->from + w->len;
    }
    uint64_t more = got;
    if (w->stream != NULL) {
        const uint64_t now = hdx_stream_consumed(w->stream);
        more = now - w->consumed;
        w->consumed = now;
    }
    return hdx_tick(w->tick, more) ? hdx_tick_stop(err) : HDX_OK;
}

hdx_code hdx_window_move(hdx_window *w, hdx_pos pos, uint64_t want, const uint8_t **at, size_t *have, hdx_error *err)
{
    hdx_code code;
    if ((code = grow(w, w->chunk, err)) != HDX_OK)
        return code;
    while (w->stream != NULL && pos - w->from > w->len && !w->ended) { /* a stream is read up to pos */
        w->from += w->len;
        w->len = 0;
        if ((code = fill(w, w->chunk, err)) != HDX_OK)
            return code;
    }
    if (pos >= w->from && pos - w->from <= w->len) {
        const size_t drop = (size_t)(pos - w->from);
        if (drop != 0)
            memmove(w->at, w->at + drop, w->len - drop);
        w->len -= drop;
        w->from = pos;
    } else if (w->stream != NULL) { /* the data ends before pos */
        w->from = pos;
        w->len = 0;
    } else {
        w->from = pos;
        w->len = 0;
        w->ended = pos >= w->limit;
        w->data_end = w->limit;
    }
    while (w->len < want && !w->ended) {
        const uint64_t wanted = want - w->len > w->chunk ? want - w->len : w->chunk;
        const uint64_t step = wanted < w->capacity ? wanted : w->capacity; /* grows by what was read */
        if ((code = grow(w, w->len + step, err)) != HDX_OK || (code = fill(w, (size_t)step, err)) != HDX_OK)
            return code;
    }
    memset(w->at + w->len, 0, HDX_WINDOW_PAD);
    *at = w->at;
    *have = w->len;
    return HDX_OK;
}
