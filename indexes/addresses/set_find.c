/*
 * set_find.c - address -> id and back, in a frozen set or a mapped file.
 *
 * The same code is used for both: `mapped` is a constant in inner loops, so a set in memory needs no checks.
 */
#include "indexes/addresses/set.h"

static void note(const hdx_addresses *s, unsigned section, uint64_t offset, const char *what)
{
    hdx_container_note(&s->file, section, offset, what);
}

/* ---- address -> id ---- */
HDX_INLINE bool find_hashed(const hdx_addresses *s, uint64_t number, bool mapped, uint64_t *k)
{
    uint64_t at = hdx_addresses_hash(number) & (s->find_count - 1);
    for (uint64_t tries = 0; tries < s->find_count; tries++, at = (at + 1) & (s->find_count - 1)) {
        if (mapped && !hdx_touch(&s->file, HDX_ADDR_FIND, 4 * at, 4))
            return false;
        *k = hdx_le32(s->find + 4 * at);
        if (*k == HDX_NO_CHUNK)
            return false;
        if (mapped && !hdx_touch(&s->file, HDX_ADDR_ORDER, 16 * *k, 16))
            return false;
        if (hdx_le64(s->order + 16 * *k) == number)
            return true;
    }
    return false;
}

/* Whether it is the chunk that a flat directory omits: see make_find in set_freeze.c. */
static bool is_first_chunk(const hdx_addresses *s, uint64_t number)
{
    return s->chunk_count > 0 && (!s->mapped || hdx_touch(&s->file, HDX_ADDR_ORDER, 0, 16)) &&
           hdx_le64(s->order) == number;
}

/* The values of a look-up, copied: a caller's array of results cannot alias them, so loops keep them in registers. */
typedef struct finder {
    const uint8_t *find, *order, *chunks;
    uint64_t       first, count;
    unsigned       shift;
} finder;
static inline finder finder_of(const hdx_addresses *s)
{
    return (finder){ s->find, s->order, s->chunks, s->find_first, s->find_count, s->shift };
}

HDX_INLINE hdx_id find_map(const hdx_addresses *s, finder f, hdx_addr address, bool flat, bool mapped)
{
    uint64_t slot = address >> f.shift, number = slot >> HDX_CHUNK_BITS, k;
    if (slot << f.shift != address)
        return HDX_NO_ID;
    if (flat) {
        uint64_t i = number - f.first;
        if (__builtin_expect(i < f.count, 1)) {
            if (mapped && !hdx_touch(&s->file, HDX_ADDR_FIND, 4 * i, 4))
                return HDX_NO_ID;
            if ((k = hdx_le32(f.find + 4 * i)) == HDX_NO_CHUNK)
                return HDX_NO_ID;
        } else if (is_first_chunk(s, number)) {
            k = 0;
        } else {
            return HDX_NO_ID;
        }
    } else if (!find_hashed(s, number, mapped, &k)) {
        return HDX_NO_ID;
    }
    uint64_t block = k * HDX_CHUNK_BYTES + (slot >> 6 & (HDX_CHUNK_BLOCKS - 1)) * 10;
    if (mapped &&
        (!hdx_touch(&s->file, HDX_ADDR_CHUNKS, block, 10) || !hdx_touch(&s->file, HDX_ADDR_ORDER, 16 * k, 16)))
        return HDX_NO_ID;
    uint64_t bits = hdx_le64(f.chunks + block), bit = 1ull << (slot & 63);
    if ((bits & bit) == 0)
        return HDX_NO_ID;
    hdx_id id = hdx_le64(f.order + 16 * k + 8) + hdx_le16(f.chunks + block + 8) +
                (uint64_t)__builtin_popcountll(bits & (bit - 1));
    if (mapped && id >= s->count) {
        note(s, HDX_ADDR_CHUNKS, block, "an id exceeds the number of objects");
        return HDX_NO_ID;
    }
    return id;
}

/* Binary search without unpredictable branches. */
HDX_INLINE hdx_id find_table(const hdx_addresses *s, hdx_addr address, bool mapped)
{
    uint64_t from = 0, n = s->count;
    while (n > 1) {
        uint64_t half = n / 2;
        if (mapped && !hdx_touch(&s->file, HDX_ADDR_TABLE, 8 * (from + half), 8))
            return HDX_NO_ID;
        from = hdx_le64(s->table + 8 * (from + half)) <= address ? from + half : from;
        n -= half;
    }
    if (n == 0 || (mapped && !hdx_touch(&s->file, HDX_ADDR_TABLE, 8 * from, 8)))
        return HDX_NO_ID;
    return hdx_le64(s->table + 8 * from) == address ? from : HDX_NO_ID;
}

static hdx_id find_slowly(const hdx_addresses *s, hdx_addr address)
{
    if (s->form == HDX_ADDRESSES_TABLE)
        return s->mapped ? find_table(s, address, true) : find_table(s, address, false);
    return find_map(s, finder_of(s), address, false, s->mapped);
}

hdx_id hdx_addresses_find(const hdx_addresses *s, hdx_addr address)
{
    if (s->form == HDX_ADDRESSES_MAP && s->way == HDX_ADDRESSES_FLAT)
        return s->mapped ? find_map(s, finder_of(s), address, true, true)
                         : find_map(s, finder_of(s), address, true, false);
    return find_slowly(s, address);
}

/* Look-ups are independent: the processor overlaps their cache misses, and prefetching gains nothing. */
void hdx_addresses_find_many(const hdx_addresses *s, const hdx_addr *addresses, size_t n, hdx_id *ids)
{
    finder f = finder_of(s);
    if (s->form == HDX_ADDRESSES_MAP && s->way == HDX_ADDRESSES_FLAT && !s->mapped)
        for (size_t i = 0; i < n; i++)
            ids[i] = find_map(s, f, addresses[i], true, false);
    else
        for (size_t i = 0; i < n; i++)
            ids[i] = hdx_addresses_find(s, addresses[i]);
}

uint64_t hdx_addresses_count(const hdx_addresses *s) { return s->frozen ? s->count : atomic_load(&s->members); }

/* ---- id -> address ---- */
typedef struct place {
    uint64_t chunk, first_slot; /* index; slot of its first bit */
    unsigned block;
    uint64_t rest; /* bits of the block from that of the id on */
} place;

/*
 * Returns the first and last block that may contain an id, all of them checked: from the sample before it to the one
 * after.
 */
static bool blocks_of(const hdx_addresses *s, hdx_id id, uint64_t *low, uint64_t *high)
{
    uint64_t sample = id / HDX_ID_SAMPLE, last = hdx_samples_of(s->count) - 1, two = sample < last;
    if (s->mapped && !hdx_touch(&s->file, HDX_ADDR_SAMPLES, HDX_SAMPLE_BYTES * sample, HDX_SAMPLE_BYTES * (1 + two)))
        return false;
    *low = hdx_sample_at(s->samples, sample);
    *high = two ? hdx_sample_at(s->samples, sample + 1) : s->chunk_count * HDX_CHUNK_BLOCKS - 1;
    if (*low > *high || *high - *low > HDX_SAMPLE_SPAN || *high >= s->chunk_count * HDX_CHUNK_BLOCKS) {
        note(s, HDX_ADDR_SAMPLES, HDX_SAMPLE_BYTES * sample, "a sample refers to no block");
        return false;
    }
    uint64_t k = *low / HDX_CHUNK_BLOCKS;
    return !s->mapped || (hdx_touch(&s->file, HDX_ADDR_CHUNKS, 10 * *low, 10 * (*high - *low + 1)) &&
                          hdx_touch(&s->file, HDX_ADDR_ORDER, 16 * k, 16 * (*high / HDX_CHUNK_BLOCKS - k + 1)));
}

/* Returns the id of the first member of a block, or of the next block with members. */
static inline uint64_t first_of(const hdx_addresses *s, uint64_t block)
{
    return hdx_le64(s->order + 16 * (block / HDX_CHUNK_BLOCKS) + 8) + hdx_le16(s->chunks + 10 * block + 8);
}

/*
 * Finds the last of those blocks that begins at or before the id. Usually there are few: four steps without
 * unpredictable branches find it among 16.
 */
static bool locate(const hdx_addresses *s, hdx_id id, place *p)
{
    uint64_t from, to;
    if (!blocks_of(s, id, &from, &to))
        return false;
    while (to - from >= 16) {
        uint64_t middle = to - (to - from) / 2;
        if (first_of(s, middle) <= id)
            from = middle;
        else
            to = middle - 1;
    }
    for (uint64_t step = 8; step > 0; step /= 2) {
        uint64_t at = from + step <= to ? from + step : to; /* testing `to` again does no harm */
        from = first_of(s, at) <= id ? at : from;
    }
    uint64_t bits = hdx_le64(s->chunks + 10 * from), before = first_of(s, from);
    if (id < before || id - before >= (uint64_t)__builtin_popcountll(bits)) {
        note(s, HDX_ADDR_CHUNKS, 10 * from, "members of a block contradict its order");
        return false;
    }
    p->chunk = from / HDX_CHUNK_BLOCKS;
    p->block = from % HDX_CHUNK_BLOCKS;
    p->first_slot = hdx_le64(s->order + 16 * p->chunk) << HDX_CHUNK_BITS;
    p->rest = bits & (UINT64_MAX << hdx_select64(bits, (unsigned)(id - before)));
    return true;
}

static bool load_chunk(const hdx_addresses *s, uint64_t k, place *p)
{
    if (s->mapped && (!hdx_touch(&s->file, HDX_ADDR_CHUNKS, k * HDX_CHUNK_BYTES, HDX_CHUNK_BYTES) ||
                      !hdx_touch(&s->file, HDX_ADDR_ORDER, 16 * k, 16)))
        return false;
    p->chunk = k;
    p->first_slot = hdx_le64(s->order + 16 * k) << HDX_CHUNK_BITS;
    return true;
}

/* ---- prefetching ---- */
void hdx_addresses_ahead(const hdx_addresses *s, const hdx_addr *addresses, size_t n, size_t i, hdx_pace pace)
{
    if (s->form != HDX_ADDRESSES_MAP || s->way != HDX_ADDRESSES_FLAT || !s->mapped)
        return;
    for (hdx_round r = hdx_round_of(n, i, pace, 2); r.at < r.end; r.at++)
        hdx_fetch(&s->file, HDX_ADDR_FIND, 4 * ((addresses[r.at] >> s->shift >> HDX_CHUNK_BITS) - s->find_first));
    for (hdx_round r = hdx_round_of(n, i, pace, 1); r.at < r.end; r.at++) {
        const uint64_t slot = addresses[r.at] >> s->shift, at = (slot >> HDX_CHUNK_BITS) - s->find_first;
        const uint64_t k = at < s->find_count ? hdx_le32(s->find + 4 * at) : 0;
        hdx_fetch(&s->file, HDX_ADDR_CHUNKS, k * HDX_CHUNK_BYTES + (slot >> 6 & (HDX_CHUNK_BLOCKS - 1)) * 10);
    }
}

void hdx_addresses_ahead_at(const hdx_addresses *s, const hdx_id *ids, size_t n, size_t i, hdx_pace pace)
{
    if (s->form != HDX_ADDRESSES_MAP || !s->mapped)
        return;
    for (hdx_round r = hdx_round_of(n, i, pace, 2); r.at < r.end; r.at++)
        hdx_fetch(&s->file, HDX_ADDR_SAMPLES, ids[r.at] / HDX_ID_SAMPLE * HDX_SAMPLE_BYTES);
    for (hdx_round r = hdx_round_of(n, i, pace, 1); r.at < r.end; r.at++) {
        const uint64_t block = ids[r.at] < s->count ? hdx_sample_at(s->samples, ids[r.at] / HDX_ID_SAMPLE) : 0;
        hdx_fetch(&s->file, HDX_ADDR_CHUNKS, 10 * block);
        hdx_fetch(&s->file, HDX_ADDR_CHUNKS, 10 * block + 63);
    }
}

/* ---- runs ---- */
void hdx_addresses_read(const hdx_addresses *s, hdx_id first, uint32_t n, hdx_addr *out)
{
    place    p;
    uint32_t done = 0;
    if (first > s->count || n > s->count - first) {
        if (s->mapped)
            note(s, HDX_ADDR_ORDER, 0, "id out of range: two files of the index disagree");
    } else if (n > 0 && s->form == HDX_ADDRESSES_TABLE) {
        for (; done < n && (!s->mapped || hdx_touch(&s->file, HDX_ADDR_TABLE, 8 * (first + done), 8)); done++)
            out[done] = hdx_le64(s->table + 8 * (first + done));
    } else if (n > 0 && locate(s, first, &p)) {
        for (;;) {
            uint64_t slot = p.first_slot | (uint64_t)p.block << 6;
            for (; p.rest != 0 && done < n; p.rest &= p.rest - 1)
                out[done++] = (slot | (unsigned)__builtin_ctzll(p.rest)) << s->shift;
            if (done == n)
                break;
            if (++p.block == HDX_CHUNK_BLOCKS) {
                if (p.chunk + 1 == s->chunk_count) {
                    note(s, HDX_ADDR_CHUNKS, p.chunk * HDX_CHUNK_BYTES,
                         "the chunks have fewer members than the dump has objects");
                    break;
                }
                if (!load_chunk(s, p.chunk + 1, &p))
                    break;
                p.block = 0;
            }
            p.rest = hdx_le64(s->chunks + p.chunk * HDX_CHUNK_BYTES + 10 * (size_t)p.block);
        }
    }
    if (done < n) /* damage is noted; unknown addresses are 0 */
        memset(out, 0, n * sizeof *out);
}

#define FEW_BLOCKS 8u /* that usually contain the members of one sample */

/*
 * Fast path without unpredictable branches, so that independent look-ups overlap: the id is in one of the next few
 * blocks, all of one chunk, and everything was checked before. Otherwise returns false.
 */
static inline bool at_once(const hdx_addresses *s, hdx_id id, hdx_addr *address)
{
    const hdx_section *section = s->file.section;
    if (id >= s->count || s->form != HDX_ADDRESSES_MAP ||
        (s->mapped && !(hdx_proved(&section[HDX_ADDR_SAMPLES]) & hdx_proved(&section[HDX_ADDR_CHUNKS]) &
                        hdx_proved(&section[HDX_ADDR_ORDER]))))
        return false;
    const uint64_t first = hdx_sample_at(s->samples, id / HDX_ID_SAMPLE), k = first / HDX_CHUNK_BLOCKS,
                   block = first % HDX_CHUNK_BLOCKS;
    if ((k >= s->chunk_count) | (block > HDX_CHUNK_BLOCKS - FEW_BLOCKS))
        return false;
    const uint8_t *order = s->order + 16 * k, *at = s->chunks + 10 * first;
    const uint64_t local = id - hdx_le64(order + 8); /* before the chunk: a huge number, in none of the blocks */
    uint64_t       behind = 0;
    for (unsigned i = 1; i < FEW_BLOCKS; i++)
        behind += hdx_le16(at + 10 * i + 8) <= local;
    const uint64_t bits = hdx_le64(at + 10 * behind), rank = local - hdx_le16(at + 10 * behind + 8);
    if ((behind == FEW_BLOCKS - 1) | (rank >= (uint64_t)__builtin_popcountll(bits)))
        return false;
    const uint64_t slot =
        hdx_le64(order) << HDX_CHUNK_BITS | (block + behind) << 6 | hdx_select64(bits, (unsigned)rank);
    *address = slot << s->shift;
    return true;
}

hdx_addr hdx_addresses_at(const hdx_addresses *s, hdx_id id)
{
    hdx_addr address = 0;
    if (!at_once(s, id, &address))
        hdx_addresses_read(s, id, 1, &address);
    return address;
}

/* ---- end ---- */
void hdx_addresses_unfreeze(hdx_addresses *s)
{
    hdx_mem_put(s->mem, (void *)(uintptr_t)s->find, s->find_bytes);
    hdx_mem_put(s->mem, (void *)(uintptr_t)s->order, s->order_bytes);
    hdx_mem_put(s->mem, (void *)(uintptr_t)s->samples, s->samples_bytes);
    s->find = s->order = s->samples = NULL;
    s->find_count = s->chunk_count = 0; /* nothing can be found any more */
}

void hdx_addresses_close(hdx_addresses *s)
{
    if (s == NULL)
        return;
    hdx_mem *mem = s->mem;
    if (s->mapped) {
        hdx_container_close(&s->file);
    } else {
        hdx_addresses_unfreeze(s);
        hdx_mem_put(mem, (void *)(uintptr_t)s->chunks, s->chunks_bytes);
        hdx_mem_put(mem, (void *)(uintptr_t)s->table, s->table_bytes);
        hdx_mem_put(mem, s->set, s->set_slots * sizeof *s->set);
        hdx_chunks_free(&s->build, mem);
        (void)pthread_rwlock_destroy(&s->change);
        (void)pthread_mutex_destroy(&s->grow);
    }
    hdx_mem_put(mem, s, sizeof *s);
}
