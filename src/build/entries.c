/*
 * entries.c - how many entries the list of each object has (packed.h), a byte an object: what must be known before
 * lists can be laid out.
 *
 * In:  every object once, in any order, from any thread.
 * Out: the entries of a piece, once; then its bytes go.
 * Lists too long for a byte are told apart by the value HDX_ENTRIES_LONG, and stand in a map.
 */
#include "build/passes.h"

static uint64_t nodes_of(const hdx_pass *p, uint64_t piece)
{
    const uint64_t first = piece << HDX_PACKED_PIECE_BITS;
    return p->b->objects - first < HDX_PACKED_PIECE ? p->b->objects - first : HDX_PACKED_PIECE;
}

hdx_code hdx_entries_begin(hdx_pass *p, hdx_error *err)
{
    hdx_build *b = p->b;
    p->entries_pieces = (b->objects + HDX_PACKED_PIECE - 1) >> HDX_PACKED_PIECE_BITS;
    p->long_entries = hdx_map_of(&b->mem);
    bool all = (p->entries = hdx_mem_array(&b->mem, p->entries_pieces, sizeof *p->entries)) != NULL;
    for (uint64_t i = 0; i < p->entries_pieces && all; i++)
        all = (p->entries[i] = hdx_mem_get(&b->mem, nodes_of(p, i))) != NULL;
    if (all)
        return HDX_OK;
    hdx_entries_free(p);
    return hdx_no_memory(err, "lengths of lists", b->objects);
}

void hdx_entries_free(hdx_pass *p)
{
    hdx_mem *mem = &p->b->mem;
    for (uint64_t i = 0; i < p->entries_pieces && p->entries != NULL; i++)
        hdx_mem_put(mem, p->entries[i], nodes_of(p, i));
    hdx_mem_put(mem, p->entries, p->entries_pieces * sizeof *p->entries);
    hdx_map_free(&p->long_entries);
    p->entries = NULL;
    p->entries_pieces = 0;
}

bool hdx_entries_put_long(hdx_pass *p, uint64_t id, uint64_t entries)
{
    bool fresh;
    (void)pthread_mutex_lock(&p->b->lock);
    uint64_t *place = hdx_map_put(&p->long_entries, id, &fresh);
    if (place != NULL)
        *place = entries;
    (void)pthread_mutex_unlock(&p->b->lock);
    return place != NULL;
}

void hdx_entries_take(hdx_pass *p, uint64_t piece, uint32_t *entries)
{
    const uint64_t first = piece << HDX_PACKED_PIECE_BITS, n = nodes_of(p, piece);
    const uint8_t *of = p->entries[piece];
    for (uint64_t i = 0; i < n; i++)
        entries[i] = of[i] < HDX_ENTRIES_LONG ? of[i] : (uint32_t)*hdx_map_get(&p->long_entries, first + i);
    hdx_mem_put(&p->b->mem, p->entries[piece], n);
    p->entries[piece] = NULL;
}
