/*
 * set_freeze.c - ends building: sorts chunks by address, computes ranks, and builds the directories.
 *
 * The form depends on the members only, not on their order or on threads: the unit is the common alignment (at most the
 * expected one), and the map is used unless its chunks need more than 16 bytes an object.
 * Cost: one pass over the map (some 15 ms for 45 million objects); only misplaced chunks are copied.
 */
#include "indexes/addresses/set.h"

#include <assert.h>

#define FEW_CHUNKS     16u /* with fewer chunks the map is always used */
#define FLAT_PER_CHUNK 80u /* entries (4 bytes) of a flat directory that a used chunk (5 KiB) may cost */

/* Radix exchange from bit 63 down, in place; the upper halves wait on a stack, at most one per bit. */
static void sort(uint64_t *x, uint64_t n)
{
    struct {
        uint64_t from, n;
        unsigned bit;
    } stack[65];
    unsigned depth = 0;
    stack[depth++] = (__typeof__(stack[0])){ 0, n, 64 };
    while (depth > 0) {
        uint64_t from = stack[--depth].from, many = stack[depth].n;
        unsigned bit = stack[depth].bit;
        while (many > 24 && bit > 0) {
            uint64_t low = from, high = from + many;
            bit--;
            while (low < high)
                if ((x[low] >> bit & 1) == 0) {
                    low++;
                } else {
                    uint64_t y = x[--high];
                    x[high] = x[low];
                    x[low] = y;
                }
            stack[depth++] = (__typeof__(stack[0])){ low, from + many - low, bit };
            many = low - from;
        }
        for (uint64_t i = from + 1; i < from + many && many <= 24; i++) { /* longer only if all are equal */
            uint64_t v = x[i], at = i;
            for (; at > from && x[at - 1] > v; at--)
                x[at] = x[at - 1];
            x[at] = v;
        }
    }
}

/* ---- the map ---- */
static uint64_t order_number(const hdx_addresses *s, uint64_t k) { return hdx_le64(s->order + 16 * k); }

/* Moves chunk k of the sorted numbers to place k, along cycles. */
static hdx_code arrange(hdx_addresses *s, const uint64_t *numbers, hdx_error *err)
{
    hdx_chunks *c = &s->build;
    uint32_t   *from = hdx_mem_array(s->mem, c->used, sizeof *from);
    uint8_t     hand[HDX_CHUNK_BYTES];
    if (from == NULL)
        return hdx_no_memory(err, "the order of chunks", c->used * 4);
    for (uint64_t k = 0; k < c->used; k++)
        from[k] = hdx_chunks_place(c, numbers[k]);
    for (uint64_t k = 0; k < c->used; k++) {
        uint64_t to = k;
        if (from[k] == k)
            continue;
        memcpy(hand, c->room + k * HDX_CHUNK_BYTES, HDX_CHUNK_BYTES);
        while (from[to] != k) {
            uint64_t source = from[to];
            memcpy(c->room + to * HDX_CHUNK_BYTES, c->room + source * HDX_CHUNK_BYTES, HDX_CHUNK_BYTES);
            from[to] = (uint32_t)to;
            to = source;
        }
        memcpy(c->room + to * HDX_CHUNK_BYTES, hand, HDX_CHUNK_BYTES);
        from[to] = (uint32_t)to;
    }
    hdx_mem_put(s->mem, from, c->used * sizeof *from);
    return HDX_OK;
}

/* Converts words to blocks of bits and rank; returns the members of the chunk. */
static uint64_t rank_chunk(uint8_t *chunk)
{
    uint64_t words[HDX_CHUNK_BLOCKS], rank = 0;
    memcpy(words, chunk, sizeof words);
    for (size_t b = 0; b < HDX_CHUNK_BLOCKS; b++) {
        hdx_put64(chunk + 10 * b, words[b]);
        hdx_put16(chunk + 10 * b + 8, (uint16_t)rank); /* at most 511 * 64 before the last block */
        rank += (uint64_t)__builtin_popcountll(words[b]);
    }
    return rank;
}

/*
 * Flat if that is small enough. Address 0 (the boot class loader) is in every set and far from all others: if it makes
 * the range too long, its chunk is omitted and handled separately.
 */
static hdx_code make_find(hdx_addresses *s, hdx_error *err)
{
    uint64_t chunks = s->chunk_count, last = chunks == 0 ? 0 : order_number(s, chunks - 1), skip = 0;
    uint8_t *find;
    s->way = HDX_ADDRESSES_FLAT;
    s->find_first = chunks == 0 ? 0 : order_number(s, 0);
    if (chunks > 1 && last - s->find_first >= FLAT_PER_CHUNK * chunks) {
        skip = 1;
        s->find_first = order_number(s, 1);
    }
    s->find_count = chunks == 0 ? 0 : last - s->find_first + 1;
    if (s->find_count > FLAT_PER_CHUNK * chunks) {
        s->way = HDX_ADDRESSES_HASHED;
        s->find_first = 0;
        for (s->find_count = 16; s->find_count < 2 * chunks;)
            s->find_count *= 2;
    }
    s->find_bytes = 4 * s->find_count;
    if ((find = hdx_mem_get(s->mem, s->find_bytes)) == NULL)
        return hdx_no_memory(err, "the directory of chunks", s->find_bytes);
    s->find = find;
    memset(find, 0xff, (size_t)s->find_bytes); /* HDX_NO_CHUNK */
    for (uint64_t k = s->way == HDX_ADDRESSES_FLAT ? skip : 0; k < chunks; k++) {
        uint64_t at = order_number(s, k) - s->find_first;
        if (s->way == HDX_ADDRESSES_HASHED)
            for (at = hdx_addresses_hash(at) & (s->find_count - 1); hdx_le32(find + 4 * at) != HDX_NO_CHUNK;)
                at = (at + 1) & (s->find_count - 1);
        hdx_put32(find + 4 * at, (uint32_t)k);
    }
    return HDX_OK;
}

/* Finds the block of each 64th id, in one pass over the ranks. */
static hdx_code make_samples(hdx_addresses *s, hdx_error *err)
{
    uint8_t *samples;
    s->samples_bytes = HDX_SAMPLE_BYTES * hdx_samples_of(s->count) + 3; /* the last one is loaded as eight bytes */
    if ((samples = hdx_mem_get(s->mem, s->samples_bytes)) == NULL)
        return hdx_no_memory(err, "samples of ids", s->samples_bytes);
    s->samples = samples;
    uint64_t next = 0; /* the first id without a sample is next * HDX_ID_SAMPLE */
    for (uint64_t k = 0; k < s->chunk_count; k++) {
        const uint8_t *chunk = s->chunks + k * HDX_CHUNK_BYTES;
        uint64_t       base = hdx_le64(s->order + 16 * k + 8);
        for (uint64_t b = 0; b < HDX_CHUNK_BLOCKS; b++) {
            uint64_t end =
                base + hdx_le16(chunk + 10 * b + 8) + (uint64_t)__builtin_popcountll(hdx_le64(chunk + 10 * b));
            for (; next * HDX_ID_SAMPLE < end; next++) {
                hdx_put32(samples + HDX_SAMPLE_BYTES * next, (uint32_t)(k * HDX_CHUNK_BLOCKS + b));
                samples[HDX_SAMPLE_BYTES * next + 4] = (uint8_t)((k * HDX_CHUNK_BLOCKS + b) >> 32);
            }
        }
    }
    assert(next == hdx_samples_of(s->count)); /* D3 */
    return HDX_OK;
}

static hdx_code freeze_map(hdx_addresses *s, hdx_error *err)
{
    hdx_chunks *c = &s->build;
    uint64_t   *numbers = hdx_mem_array(s->mem, c->used, sizeof *numbers), n = 0, base = 0;
    hdx_code    code = HDX_OK;
    if (numbers == NULL)
        return hdx_no_memory(err, "the numbers of chunks", c->used * 8);
    for (uint64_t i = 0; i < c->slots; i++)
        if (c->keys[i] != 0)
            numbers[n++] = c->keys[i] - 1;
    assert(n == c->used); /* D2 */
    sort(numbers, n);
    s->chunk_count = n;
    s->order_bytes = 16 * n;
    uint8_t *order = hdx_mem_get(s->mem, s->order_bytes);
    s->order = order;
    if (order == NULL)
        code = hdx_no_memory(err, "the order of chunks", s->order_bytes);
    for (uint64_t k = 0; k < n && code == HDX_OK; k++)
        hdx_put64(order + 16 * k, numbers[k]);
    if (code == HDX_OK && (code = make_find(s, err)) == HDX_OK)
        code = arrange(s, numbers, err);
    hdx_mem_put(s->mem, numbers, n * sizeof *numbers);
    if (code != HDX_OK)
        return code;
    hdx_mem_put(s->mem, c->keys, c->slots * sizeof *c->keys);
    hdx_mem_put(s->mem, c->places, c->slots * sizeof *c->places);
    c->keys = NULL;
    c->places = NULL;
    c->slots = 0;
    for (uint64_t k = 0; k < n; k++) {
        hdx_put64(order + 16 * k + 8, base);
        const uint64_t members = rank_chunk(c->room + k * HDX_CHUNK_BYTES);
        assert(members > 0); /* D2 */
        base += members;
    }
    assert(base == s->count); /* D3 */
    s->chunks_bytes = c->capacity * HDX_CHUNK_BYTES;
    uint8_t *less = hdx_mem_resize(s->mem, c->room, s->chunks_bytes, n * HDX_CHUNK_BYTES);
    s->chunks = less != NULL ? less : c->room;
    s->chunks_bytes = less != NULL ? n * HDX_CHUNK_BYTES : s->chunks_bytes;
    *c = (hdx_chunks){ 0 };
    s->frozen = true; /* from here on `build` is empty: after a failure the set can only be closed */
    return make_samples(s, err);
}

/* ---- the table ---- */
/* The sorted used slots of the hash set are the table. */
static hdx_code freeze_table(hdx_addresses *s, hdx_error *err)
{
    uint64_t n = 0, slots = s->set_slots, *table = s->set;
    for (uint64_t i = 0; i < slots; i++)
        if (table[i] != 0)
            table[n++] = table[i];
    if (s->set_zero) /* it has no slot; a quarter of the slots is free */
        table[n++] = 0;
    assert(n == s->count && n <= slots); /* D3: the index in the table is the id */
    sort(table, n);
    uint64_t *less = hdx_mem_resize(s->mem, table, slots * 8, n * 8);
    s->table_bytes = less != NULL ? n * 8 : slots * 8;
    table = less != NULL ? less : table;
    s->set = NULL;
    s->set_slots = 0;
    for (uint64_t i = 0; i < n; i++) { /* in the byte order of the file */
        uint64_t v = table[i];
        hdx_put64((uint8_t *)&table[i], v);
    }
    s->table = (const uint8_t *)table;
    s->frozen = true;
    (void)err;
    return HDX_OK;
}

hdx_code hdx_addresses_freeze(hdx_addresses *s, hdx_error *err)
{
    hdx_code code;
    bool     done;
    if (s->frozen)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "the set of addresses is frozen already");
    s->count = atomic_load(&s->members);
    uint64_t limit = 16 * s->count;
    if (limit < FEW_CHUNKS * HDX_CHUNK_BYTES)
        limit = FEW_CHUNKS * HDX_CHUNK_BYTES;
    if (s->form == HDX_ADDRESSES_TABLE) {
        if ((code = hdx_addresses_to_map(s, limit, &done, err)) != HDX_OK)
            return code;
    } else if (s->build.used * HDX_CHUNK_BYTES > limit && (code = hdx_addresses_to_set(s, err)) != HDX_OK) {
        return code;
    }
    if (s->form == HDX_ADDRESSES_TABLE)
        return freeze_table(s, err);
    if ((code = freeze_map(s, err)) != HDX_OK)
        hdx_addresses_unfreeze(s);
    return code;
}
