/*
 * set_build.c - the set of addresses while it is being built.
 *
 * Inserting threads hold `change` for reading during a call. In the form of a map they set bits with an atomic or; a
 * chunk that is used for the first time is taken from the spare ones under `grow`. Code that moves memory or changes
 * the form acquires `change` for writing, which happens a few dozen times in a build.
 *
 * The form while building only affects memory: a map that exceeds 64 MiB and is much larger than a hash set would be
 * becomes one, and a hash set that is about to exceed the size of the map becomes a map again. (A collector that walks
 * the object graph touches all chunks at once, long before they fill; ZGC does so.) The final form is decided by
 * hdx_addresses_freeze, from the members alone.
 */
#include "indexes/addresses/set.h"

#include <assert.h>

#define PATIENCE  (64u << 20) /* bytes of the bit map; a smaller one keeps its encoding */
#define SET_START 1024u

/* ---- chunks ---- */
hdx_code hdx_chunks_new(hdx_chunks *c, hdx_mem *mem, unsigned shift, uint64_t chunks, hdx_error *err)
{
    *c = (hdx_chunks){ .shift = shift, .capacity = chunks < 8 ? 8 : chunks, .slots = 32 };
    while (c->slots < 2 * c->capacity)
        c->slots *= 2;
    c->room = hdx_mem_array(mem, c->capacity, HDX_CHUNK_BYTES);
    c->keys = hdx_mem_array(mem, c->slots, sizeof *c->keys);
    c->places = hdx_mem_array(mem, c->slots, sizeof *c->places);
    if (c->room != NULL && c->keys != NULL && c->places != NULL)
        return HDX_OK;
    uint64_t bytes = c->capacity * HDX_CHUNK_BYTES;
    hdx_chunks_free(c, mem);
    return hdx_no_memory(err, "the address map", bytes);
}

void hdx_chunks_free(hdx_chunks *c, hdx_mem *mem)
{
    hdx_mem_put(mem, c->room, c->capacity * HDX_CHUNK_BYTES);
    hdx_mem_put(mem, c->keys, c->slots * sizeof *c->keys);
    hdx_mem_put(mem, c->places, c->slots * sizeof *c->places);
    *c = (hdx_chunks){ 0 };
}

/* Returns the words of a chunk, or NULL. */
static uint64_t *words_of(const hdx_chunks *c, uint64_t number)
{
    for (uint64_t i = hdx_addresses_hash(number);; i++) {
        uint64_t key = __atomic_load_n(&c->keys[i & (c->slots - 1)], __ATOMIC_ACQUIRE);
        if (key == number + 1)
            return (uint64_t *)(void *)(c->room + (uint64_t)c->places[i & (c->slots - 1)] * HDX_CHUNK_BYTES);
        if (key == 0)
            return NULL;
    }
}

/* Same, but takes a spare chunk if there is none; NULL: no spare one. REQUIRES: one thread at a time. */
static uint64_t *words_taken(hdx_chunks *c, uint64_t number)
{
    uint64_t *words = words_of(c, number), i = hdx_addresses_hash(number);
    if (words != NULL || c->used == c->capacity)
        return words;
    assert((c->slots & (c->slots - 1)) == 0 && 2 * c->used <= c->slots); /* D1 */
    while (c->keys[i & (c->slots - 1)] != 0)
        i++;
    c->places[i & (c->slots - 1)] = (uint32_t)c->used;
    words = (uint64_t *)(void *)(c->room + c->used * HDX_CHUNK_BYTES);
    /*
     * It is zero already, but a page that is read before it is written faults twice, the second time with an interrupt
     * for all cores.
     */
    memset(words, 0, HDX_CHUNK_BYTES);
    c->used++;
    __atomic_store_n(&c->keys[i & (c->slots - 1)], number + 1, __ATOMIC_RELEASE);
    return words;
}

/* Increases the number of chunks by a half. */
static hdx_code more_chunks(hdx_chunks *c, hdx_mem *mem, hdx_error *err)
{
    uint64_t capacity = c->capacity + c->capacity / 2 + 8, slots = c->slots;
    while (slots < 2 * capacity)
        slots *= 2;
    if (capacity >= HDX_NO_CHUNK)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "more than 2^32 chunks of addresses");
    uint64_t *keys = NULL; /* the table first: without it the chunks are of no use */
    uint32_t *places = NULL;
    if (slots > c->slots) {
        keys = hdx_mem_array(mem, slots, sizeof *keys);
        places = hdx_mem_array(mem, slots, sizeof *places);
    }
    uint8_t *room = NULL;
    if (slots == c->slots || (keys != NULL && places != NULL))
        room = hdx_mem_resize(mem, c->room, c->capacity * HDX_CHUNK_BYTES, capacity * HDX_CHUNK_BYTES);
    if (room == NULL) {
        hdx_mem_put(mem, keys, slots * sizeof *keys);
        hdx_mem_put(mem, places, slots * sizeof *places);
        return hdx_no_memory(err, "the address map", capacity * HDX_CHUNK_BYTES);
    }
    c->room = room;
    c->capacity = capacity;
    if (slots == c->slots)
        return HDX_OK;
    for (uint64_t i = 0; i < c->slots; i++)
        if (c->keys[i] != 0) {
            uint64_t to = hdx_addresses_hash(c->keys[i] - 1);
            while (keys[to & (slots - 1)] != 0)
                to++;
            keys[to & (slots - 1)] = c->keys[i];
            places[to & (slots - 1)] = c->places[i];
        }
    hdx_mem_put(mem, c->keys, c->slots * sizeof *keys);
    hdx_mem_put(mem, c->places, c->slots * sizeof *places);
    c->keys = keys;
    c->places = places;
    c->slots = slots;
    assert(c->slots >= 2 * c->capacity); /* D1 */
    return HDX_OK;
}

hdx_code hdx_chunks_take(hdx_chunks *c, hdx_mem *mem, uint64_t number, uint64_t **words, hdx_error *err)
{
    hdx_code code;
    while ((*words = words_taken(c, number)) == NULL)
        if ((code = more_chunks(c, mem, err)) != HDX_OK)
            return code;
    return HDX_OK;
}

hdx_code hdx_chunks_add(hdx_chunks *c, hdx_mem *mem, hdx_addr address, bool *fresh, hdx_error *err)
{
    uint64_t slot = address >> c->shift, *words = NULL;
    hdx_code code = hdx_chunks_take(c, mem, slot >> HDX_CHUNK_BITS, &words, err);
    if (code != HDX_OK)
        return code;
    *fresh = hdx_bits_set(words, slot & ((1u << HDX_CHUNK_BITS) - 1));
    return HDX_OK;
}

uint32_t hdx_chunks_place(const hdx_chunks *c, uint64_t number)
{
    uint64_t i = hdx_addresses_hash(number);
    while (c->keys[i & (c->slots - 1)] != number + 1)
        i++;
    assert(c->places[i & (c->slots - 1)] < c->used); /* D2 */
    return c->places[i & (c->slots - 1)];
}

/* ---- the hash set ---- */
static uint64_t set_hash(hdx_addr a) { return (a * 0x9e3779b97f4a7c15u) >> 16; }

/* Returns true if the address was new. REQUIRES: the table has a free slot. */
static bool set_put(uint64_t *set, uint64_t slots, hdx_addr address)
{
    uint64_t i = set_hash(address);
    while (set[i & (slots - 1)] != 0) {
        if (set[i & (slots - 1)] == address)
            return false;
        i++;
    }
    set[i & (slots - 1)] = address;
    return true;
}

static bool set_has(const hdx_addresses *s, hdx_addr address)
{
    if (address == 0)
        return s->set_zero;
    for (uint64_t i = set_hash(address); s->set[i & (s->set_slots - 1)] != 0; i++)
        if (s->set[i & (s->set_slots - 1)] == address)
            return true;
    return false;
}

static bool set_is_full(const hdx_addresses *s)
{
    return s->set_used + s->set_used / 4 >= s->set_slots - s->set_slots / 16;
} /* 3/4 */

static bool set_add(hdx_addresses *s, hdx_addr address)
{
    bool fresh;
    s->all_bits |= address;
    if (address == 0) {
        fresh = !s->set_zero;
        s->set_zero = true;
        return fresh;
    }
    fresh = set_put(s->set, s->set_slots, address);
    s->set_used += fresh;
    assert(s->set_used < s->set_slots); /* D1 */
    return fresh;
}

/* ---- changes of form ---- */
/* Called for every address of the chunks, in any order. */
typedef hdx_code chunk_visit(void *context, hdx_addr address, hdx_error *err);
static hdx_code  visit_chunks(const hdx_chunks *c, chunk_visit *visit, void *context, hdx_error *err)
{
    hdx_code code;
    for (uint64_t i = 0; i < c->slots; i++) {
        if (c->keys[i] == 0)
            continue;
        const uint64_t *words = (const uint64_t *)(const void *)(c->room + (uint64_t)c->places[i] * HDX_CHUNK_BYTES);
        for (uint64_t w = 0; w < HDX_CHUNK_BLOCKS; w++)
            for (uint64_t x = words[w]; x != 0; x &= x - 1) {
                uint64_t slot = (c->keys[i] - 1) << HDX_CHUNK_BITS | w << 6 | (unsigned)__builtin_ctzll(x);
                if ((code = visit(context, slot << c->shift, err)) != HDX_OK)
                    return code;
            }
    }
    return HDX_OK;
}

static hdx_code into_set(void *context, hdx_addr address, hdx_error *err)
{
    (void)err;
    (void)set_add(context, address);
    return HDX_OK;
}

hdx_code hdx_addresses_to_set(hdx_addresses *s, hdx_error *err)
{
    uint64_t slots = SET_START;
    while (slots < 2 * (atomic_load(&s->members) + 1))
        slots *= 2;
    s->set = hdx_mem_array(s->mem, slots, sizeof *s->set);
    if (s->set == NULL)
        return hdx_no_memory(err, "the set of addresses", slots * 8);
    s->set_slots = slots;
    s->set_used = 0;
    s->set_zero = false;
    s->all_bits = 0;
    (void)visit_chunks(&s->build, into_set, s, err);
    hdx_chunks_free(&s->build, s->mem);
    s->form = HDX_ADDRESSES_TABLE;
    return HDX_OK;
}

typedef struct finer {
    hdx_chunks chunks;
    hdx_mem   *mem;
} finer;

static hdx_code into_chunks(void *context, hdx_addr address, hdx_error *err)
{
    finer *f = context;
    bool   fresh;
    return hdx_chunks_add(&f->chunks, f->mem, address, &fresh, err);
}

/* Rebuilds the map with a smaller unit. */
static hdx_code to_finer(hdx_addresses *s, unsigned shift, hdx_error *err)
{
    finer    f = { .mem = s->mem };
    hdx_code code = hdx_chunks_new(&f.chunks, s->mem, shift, s->build.used, err);
    if (code != HDX_OK)
        return code;
    if ((code = visit_chunks(&s->build, into_chunks, &f, err)) != HDX_OK) {
        hdx_chunks_free(&f.chunks, s->mem);
        return code;
    }
    hdx_chunks_free(&s->build, s->mem);
    s->build = f.chunks;
    s->shift = shift;
    return HDX_OK;
}

static unsigned unit_of(const hdx_addresses *s, uint64_t bits)
{
    unsigned zeros = bits == 0 ? 63 : (unsigned)__builtin_ctzll(bits);
    return zeros < s->shift ? zeros : s->shift;
}

/* Makes a map of the set's addresses, unless it would exceed `limit` bytes. */
hdx_code hdx_addresses_to_map(hdx_addresses *s, uint64_t limit, bool *done, hdx_error *err)
{
    finer    f = { .mem = s->mem };
    unsigned shift = unit_of(s, s->all_bits);
    hdx_code code = hdx_chunks_new(&f.chunks, s->mem, shift, 8, err);
    *done = false;
    if (code == HDX_OK && s->set_zero)
        code = into_chunks(&f, 0, err);
    for (uint64_t i = 0; i < s->set_slots && code == HDX_OK && f.chunks.used * HDX_CHUNK_BYTES <= limit; i++)
        if (s->set[i] != 0)
            code = into_chunks(&f, s->set[i], err);
    if (code != HDX_OK || f.chunks.used * HDX_CHUNK_BYTES > limit) { /* too large, or refused: the set stays in use */
        hdx_chunks_free(&f.chunks, s->mem);
        return HDX_OK;
    }
    hdx_mem_put(s->mem, s->set, s->set_slots * sizeof *s->set);
    s->set = NULL;
    s->set_slots = 0;
    s->build = f.chunks;
    s->shift = shift;
    s->form = HDX_ADDRESSES_MAP;
    *done = true;
    return HDX_OK;
}

static hdx_code more_set(hdx_addresses *s, hdx_error *err)
{
    bool     done;
    hdx_code code = hdx_addresses_to_map(s, s->set_slots * 8, &done, err); /* half of the larger set's size */
    if (code != HDX_OK || done)
        return code;
    uint64_t  slots = 2 * s->set_slots;
    uint64_t *set = hdx_mem_array(s->mem, slots, sizeof *set);
    if (set == NULL)
        return hdx_no_memory(err, "the set of addresses", slots * 8);
    for (uint64_t i = 0; i < s->set_slots; i++)
        if (s->set[i] != 0)
            (void)set_put(set, slots, s->set[i]);
    hdx_mem_put(s->mem, s->set, s->set_slots * sizeof *set);
    s->set = set;
    s->set_slots = slots;
    return HDX_OK;
}

/* Prepares the set for inserting this address. REQUIRES: the caller holds `change` for writing. */
static hdx_code prepare(hdx_addresses *s, hdx_addr address, hdx_error *err)
{
    hdx_error   inner;
    hdx_chunks *c = &s->build;
    uint64_t    members = atomic_load(&s->members);
    if (s->form == HDX_ADDRESSES_TABLE)
        return set_is_full(s) ? more_set(s, err) : HDX_OK;
    uint64_t number = (address >> c->shift) >> HDX_CHUNK_BITS;
    unsigned shift = unit_of(s, address);
    if (shift < s->shift) {
        if (c->used * HDX_CHUNK_BYTES > PATIENCE && c->used * HDX_CHUNK_BYTES > 8 * members)
            return hdx_addresses_to_set(s, err);
        return to_finer(s, shift, &inner) == HDX_OK ? HDX_OK : hdx_addresses_to_set(s, err);
    }
    if (c->used < c->capacity || words_of(c, number) != NULL)
        return HDX_OK; /* another thread was faster */
    uint64_t bytes = (c->capacity + c->capacity / 2) * HDX_CHUNK_BYTES;
    if (bytes > PATIENCE && bytes > 64 * members)
        return hdx_addresses_to_set(s, err);
    if (more_chunks(c, s->mem, &inner) == HDX_OK)
        return HDX_OK;
    if (c->used * HDX_CHUNK_BYTES > 32 * members) /* no room for the map: perhaps for the set */
        return hdx_addresses_to_set(s, err);
    if (err != NULL)
        *err = inner;
    return HDX_LIMIT;
}

/* ---- inserting ---- */
/* Sets bits of one word atomically; returns how many were already set. */
static uint64_t put_bits(uint64_t *word, uint64_t bits)
{
    return (uint64_t)__builtin_popcountll(__atomic_fetch_or(word, bits, __ATOMIC_RELAXED) & bits);
}

/*
 * Inserts from a[*done] on, up to the first address that needs a change. Neighbours in the dump are usually neighbours
 * in the heap: chunk and word are reused for the next address, so an atomic or is needed per word rather than per
 * object.
 */
static void insert_map(hdx_addresses *s, const hdx_addr *a, size_t n, size_t *done, uint64_t *again)
{
    hdx_chunks *c = &s->build;
    uint64_t last = UINT64_MAX, *words = NULL, *word = NULL, bits = 0, repeats = 0, unaligned = (1ull << c->shift) - 1;
    unsigned shift = c->shift;
    size_t   i = *done;
    for (; i < n && (a[i] & unaligned) == 0; i++) {
        uint64_t slot = a[i] >> shift, number = slot >> HDX_CHUNK_BITS, bit = 1ull << (slot & 63);
        if (number != last) {
            uint64_t *found = words_of(c, number);
            if (found == NULL) {
                (void)pthread_mutex_lock(&s->grow);
                found = words_taken(c, number);
                (void)pthread_mutex_unlock(&s->grow);
            }
            if (found == NULL)
                break;
            words = found;
            last = number;
        }
        uint64_t *to = words + (slot >> 6 & (HDX_CHUNK_BLOCKS - 1));
        if (to != word) {
            if (word != NULL)
                repeats += put_bits(word, bits);
            word = to;
            bits = 0;
        }
        repeats += (bits & bit) != 0;
        bits |= bit;
    }
    if (word != NULL)
        repeats += put_bits(word, bits);
    *again += repeats;
    *done = i;
}

static void insert_set(hdx_addresses *s, const hdx_addr *a, size_t n, size_t *done, uint64_t *again)
{
    (void)pthread_mutex_lock(&s->grow);
    for (; *done < n && !set_is_full(s); (*done)++)
        *again += !set_add(s, a[*done]);
    (void)pthread_mutex_unlock(&s->grow);
}

hdx_code hdx_addresses_insert(hdx_addresses *s, const hdx_addr *a, size_t n, uint64_t *repeated, hdx_error *err)
{
    size_t   done = 0;
    hdx_code code = HDX_OK;
    if (s->frozen)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "the set of addresses is frozen");
    while (done < n && code == HDX_OK) {
        size_t   before = done;
        uint64_t again = 0;
        (void)pthread_rwlock_rdlock(&s->change);
        if (s->form == HDX_ADDRESSES_MAP)
            insert_map(s, a, n, &done, &again);
        else
            insert_set(s, a, n, &done, &again);
        atomic_fetch_add(&s->members, done - before - again);
        *repeated += again;
        (void)pthread_rwlock_unlock(&s->change);
        if (done == n)
            break;
        (void)pthread_rwlock_wrlock(&s->change);
        code = prepare(s, a[done], err);
        (void)pthread_rwlock_unlock(&s->change);
    }
    return code;
}

hdx_code hdx_addresses_insert_one(hdx_addresses *s, hdx_addr address, bool *fresh, hdx_error *err)
{
    uint64_t repeated = 0;
    hdx_code code = hdx_addresses_insert(s, &address, 1, &repeated, err);
    *fresh = repeated == 0;
    return code;
}

bool hdx_addresses_has(const hdx_addresses *s, hdx_addr address)
{
    if (s->frozen)
        return hdx_addresses_find(s, address) != HDX_NO_ID;
    if (s->form == HDX_ADDRESSES_TABLE)
        return set_has(s, address);
    const hdx_chunks *c = &s->build;
    uint64_t          slot = address >> c->shift, *words;
    return slot << c->shift == address && (words = words_of(c, slot >> HDX_CHUNK_BITS)) != NULL &&
           hdx_bits_test(words, slot & ((1u << HDX_CHUNK_BITS) - 1));
}

hdx_code hdx_addresses_new(hdx_mem *mem, unsigned granularity, hdx_addresses **out, hdx_error *err)
{
    pthread_rwlockattr_t fair;
    *out = NULL;
    if (granularity == 0 || (granularity & (granularity - 1)) != 0 || granularity > 4096)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "granularity %u; expected a power of two up to 4096",
                        granularity);
    hdx_addresses *s = hdx_mem_get(mem, sizeof *s);
    if (s == NULL)
        return hdx_no_memory(err, "the set of addresses", sizeof *s);
    s->mem = mem;
    s->shift = (unsigned)__builtin_ctz(granularity);
    if (hdx_chunks_new(&s->build, mem, s->shift, 8, err) != HDX_OK) {
        hdx_mem_put(mem, s, sizeof *s);
        return HDX_LIMIT;
    }
    (void)pthread_rwlockattr_init(&fair); /* otherwise a writer waits as long as any thread inserts */
    (void)pthread_rwlockattr_setkind_np(&fair, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    (void)pthread_rwlock_init(&s->change, &fair);
    (void)pthread_rwlockattr_destroy(&fair);
    (void)pthread_mutex_init(&s->grow, NULL);
    *out = s;
    return HDX_OK;
}
