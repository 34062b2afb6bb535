/*
 * entries.c - the number of entries in the list of each object (packed.h), one byte per object: it must be known before
 * lists can be laid out.
 *
 * In:  every object once, in any order, from any thread.
 * Out: the entries of a piece, once; then its bytes are freed.
 * Numbers that do not fit in a byte are marked with HDX_ENTRIES_LONG and stored in a map.
 */
#include "passes/passes.h"

static uint64_t nodes_of(const hdx_entries *e, uint64_t piece)
{
    const uint64_t first = piece << HDX_PACKED_PIECE_BITS;
    return e->w->objects - first < HDX_PACKED_PIECE ? e->w->objects - first : HDX_PACKED_PIECE;
}

hdx_code hdx_entries_begin(hdx_work *w, hdx_entries *e, hdx_error *err)
{
    e->w = w;
    e->count = (w->objects + HDX_PACKED_PIECE - 1) >> HDX_PACKED_PIECE_BITS;
    e->longer = hdx_map_of(&w->mem);
    bool all = (e->pieces = hdx_mem_array(&w->mem, e->count, sizeof *e->pieces)) != NULL;
    for (uint64_t i = 0; i < e->count && all; i++)
        all = (e->pieces[i] = hdx_mem_get(&w->mem, nodes_of(e, i))) != NULL;
    if (all)
        return HDX_OK;
    hdx_entries_free(e);
    return hdx_no_memory(err, "lengths of lists", w->objects);
}

void hdx_entries_free(hdx_entries *e)
{
    if (e->w == NULL)
        return;
    hdx_mem *mem = &e->w->mem;
    for (uint64_t i = 0; i < e->count && e->pieces != NULL; i++)
        hdx_mem_put(mem, e->pieces[i], nodes_of(e, i));
    hdx_mem_put(mem, e->pieces, e->count * sizeof *e->pieces);
    hdx_map_free(&e->longer);
    e->pieces = NULL;
    e->count = 0;
}

bool hdx_entries_put_long(hdx_entries *e, uint64_t id, uint64_t entries)
{
    bool fresh;
    (void)pthread_mutex_lock(&e->w->lock);
    uint64_t *place = hdx_map_put(&e->longer, id, &fresh);
    if (place != NULL)
        *place = entries;
    (void)pthread_mutex_unlock(&e->w->lock);
    return place != NULL;
}

void hdx_entries_take(hdx_entries *e, uint64_t piece, uint32_t *entries)
{
    const uint64_t first = piece << HDX_PACKED_PIECE_BITS, n = nodes_of(e, piece);
    assert(piece < e->count && e->pieces[piece] != NULL); /* P3: once */
    const uint8_t *of = e->pieces[piece];
    for (uint64_t i = 0; i < n; i++)
        entries[i] = of[i] < HDX_ENTRIES_LONG ? of[i] : (uint32_t)*hdx_map_get(&e->longer, first + i);
    hdx_mem_put(&e->w->mem, e->pieces[piece], n);
    e->pieces[piece] = NULL;
}
