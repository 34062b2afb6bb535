/*
 * test_growth.c - a set of addresses while it grows: when it takes more room, when it changes its form, and with which
 * directory it freezes. Every limit one below, at it and one above.
 */
#include "tests/indexes/hostile.h"
#include "tests/indexes/place.h"
#include "indexes/addresses/set.h"

#define CHUNK ((uint64_t)8 << HDX_CHUNK_BITS) /* bytes of heap, in units of 8 */

static hdx_addresses *new_set(hdx_mem *mem, unsigned granularity)
{
    hdx_addresses *s;
    hdx_error      err = { 0 };
    cr_assert(eq(int, hdx_addresses_new(mem, granularity, &s, &err), HDX_OK), "%s", err.message);
    return s;
}
static void add(hdx_addresses *s, hdx_addr a)
{
    hdx_error err = { 0 };
    bool      fresh;
    cr_assert(eq(int, hdx_addresses_insert_one(s, a, &fresh, &err), HDX_OK), "%s", err.message);
    cr_assert(fresh);
}
/* `members` addresses in each of `chunks` chunks from chunk `first` on. */
static void add_chunks(hdx_addresses *s, uint64_t first, uint64_t chunks, uint64_t members)
{
    hdx_addr  a[4096];
    uint64_t  repeated = 0;
    hdx_error err = { 0 };
    cr_assert(members <= 4096);
    for (uint64_t c = first; c < first + chunks; c++) {
        for (uint64_t i = 0; i < members; i++)
            a[i] = c * CHUNK + 8 * i;
        cr_assert(eq(int, hdx_addresses_insert(s, a, members, &repeated, &err), HDX_OK), "%s", err.message);
    }
    cr_assert(eq(u64, repeated, 0));
}
static void closed(hdx_addresses *s, hdx_mem *mem)
{
    hdx_addresses_close(s);
    cr_expect(eq(u64, atomic_load(&mem->used), 0));
}

Test(growth, granularity_is_a_power_of_two_up_to_4096)
{
    static const struct {
        unsigned granularity;
        int      shift; /* -1: refused */
    } cases[] = { { 0, -1 }, { 1, 0 },  { 2, 1 },     { 3, -1 },    { 4, 2 },     { 7, -1 },   { 8, 3 },
                  { 9, -1 }, { 6, -1 }, { 2048, 11 }, { 4095, -1 }, { 4096, 12 }, { 8192, -1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_mem        mem = { 0 };
        hdx_addresses *s = (hdx_addresses *)1;
        hdx_error      err = { 0 };
        char           want[100];
        const hdx_code code = hdx_addresses_new(&mem, cases[i].granularity, &s, &err);
        cr_expect(eq(int, code, cases[i].shift < 0 ? HDX_USAGE : HDX_OK), "%u", cases[i].granularity);
        (void)snprintf(want, sizeof want, "granularity %u; expected a power of two up to 4096", cases[i].granularity);
        if (code == HDX_OK) {
            cr_expect(s->shift == (unsigned)cases[i].shift && s->build.shift == s->shift);
            closed(s, &mem);
        } else {
            cr_expect(s == NULL);
            cr_expect(eq(str, err.message, want));
        }
    }
}

/* Chunks: 8 at first, then half as many again and 8 more; the table of their keys is never more than half full. */
Test(growth, of_the_map_is_by_half)
{
    static const struct {
        uint64_t used, capacity, slots;
    } steps[] = { { 0, 8, 32 },      { 1, 8, 32 },      { 8, 8, 32 },       { 9, 20, 64 },     { 20, 20, 64 },
                  { 21, 38, 128 },   { 38, 38, 128 },   { 39, 65, 256 },    { 66, 105, 256 },  { 106, 165, 512 },
                  { 165, 165, 512 }, { 166, 255, 512 }, { 256, 390, 1024 }, { 391, 593, 2048 } };
    hdx_mem        mem = { 0 };
    hdx_addresses *s = new_set(&mem, 8);
    uint64_t       at = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (; at < steps[i].used; at++)
            add(s, at * 77 * CHUNK + 8 * at);
        cr_expect(s->build.used == steps[i].used && s->build.capacity == steps[i].capacity &&
                      s->build.slots == steps[i].slots,
                  "%llu used of %llu, %llu slots", (unsigned long long)s->build.used,
                  (unsigned long long)s->build.capacity, (unsigned long long)s->build.slots);
        cr_expect(eq(int, (int)s->form, HDX_ADDRESSES_MAP));
    }
    for (uint64_t k = 0; k < at; k++)
        cr_expect(hdx_addresses_has(s, k * 77 * CHUNK + 8 * k) && !hdx_addresses_has(s, k * 77 * CHUNK + 8 * k + 8));
    closed(s, &mem);
}

/* Room for as many chunks as are asked for, eight at least; twice as many slots, a power of two. */
Test(growth, begins_with_the_room_asked_for)
{
    static const struct {
        uint64_t chunks, capacity, slots;
    } cases[] = { { 0, 8, 32 },   { 7, 8, 32 },   { 8, 8, 32 },   { 9, 9, 32 },
                  { 16, 16, 32 }, { 17, 17, 64 }, { 32, 32, 64 }, { 33, 33, 128 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_mem    mem = { 0 };
        hdx_chunks c;
        cr_assert(eq(int, hdx_chunks_new(&c, &mem, 3, cases[i].chunks, NULL), HDX_OK));
        cr_expect(c.capacity == cases[i].capacity && c.slots == cases[i].slots && c.used == 0 && c.shift == 3);
        hdx_chunks_free(&c, &mem);
        cr_expect(c.room == NULL && c.slots == 0);
        cr_expect(eq(u64, atomic_load(&mem.used), 0));
    }
}

/* The hash set: 1024 slots at least and twice the members and one; 3/4 full it doubles. */
Test(growth, of_the_hash_set_is_by_doubling)
{
    static const struct {
        uint64_t members, slots;
    } made[] = { { 0, 1024 }, { 511, 1024 }, { 512, 2048 }, { 1023, 2048 }, { 1024, 4096 } };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        hdx_mem        mem = { 0 };
        hdx_addresses *s = new_set(&mem, 8);
        add_chunks(s, 5, 1, made[i].members);
        cr_assert(eq(int, hdx_addresses_to_set(s, NULL), HDX_OK));
        cr_expect(eq(u64, s->set_slots, made[i].slots), "%llu members", (unsigned long long)made[i].members);
        cr_expect(s->set_used == made[i].members && !s->set_zero && s->build.room == NULL);
        for (uint64_t k = 0; k < 1100; k++)
            cr_assert(eq(int, hdx_addresses_has(s, 5 * CHUNK + 8 * k), k < made[i].members));
        closed(s, &mem);
    }
    hdx_mem        mem = { 0 };
    hdx_addresses *s = new_set(&mem, 8);
    cr_assert(eq(int, hdx_addresses_to_set(s, NULL), HDX_OK));
    add(s, 0); /* has no slot of its own */
    cr_expect(s->set_zero && s->set_used == 0);
    for (uint64_t k = 1; k <= 768; k++)
        add(s, k << 40);
    cr_expect(eq(u64, s->set_slots, 1024));
    add(s, 769ull << 40);
    cr_expect(eq(u64, s->set_slots, 2048));
    for (uint64_t k = 770; k <= 1536; k++)
        add(s, k << 40);
    cr_expect(eq(u64, s->set_slots, 2048));
    add(s, 1537ull << 40);
    cr_expect(eq(u64, s->set_slots, 4096));
    cr_expect(eq(u64, hdx_addresses_count(s), 1538));
    for (uint64_t k = 0; k <= 1600; k++)
        cr_assert(eq(int, hdx_addresses_has(s, k << 40), k <= 1537));
    bool fresh = true;
    cr_assert(eq(int, hdx_addresses_insert_one(s, 0, &fresh, NULL), HDX_OK));
    cr_expect(not(fresh));
    cr_assert(eq(int, hdx_addresses_insert_one(s, 1537ull << 40, &fresh, NULL), HDX_OK));
    cr_expect(not(fresh));
    closed(s, &mem);
}

/*
 * A set that is about to double becomes a map where that takes no more than half of what the larger set would: 8 KiB
 * for one of 1024 slots, which is one chunk of 5 KiB.
 */
Test(growth, of_the_hash_set_ends_in_a_map_where_that_is_smaller)
{
    for (unsigned chunks = 1; chunks <= 2; chunks++)
        for (unsigned zero = 0; zero < 2; zero++) {
            hdx_mem        mem = { 0 };
            hdx_addresses *s = new_set(&mem, 8);
            cr_assert(eq(int, hdx_addresses_to_set(s, NULL), HDX_OK));
            if (zero == 1)
                add(s, 0);
            for (uint64_t k = 0; k < 769; k++)
                add(s, (7 + k % chunks) * CHUNK + 8 * k);
            const bool map = chunks + zero == 1;
            cr_expect(eq(int, (int)s->form, map ? HDX_ADDRESSES_MAP : HDX_ADDRESSES_TABLE), "%u chunks, zero %u",
                      chunks, zero);
            cr_expect(eq(u64, map ? s->build.used : s->set_slots, map ? 1 : 2048));
            cr_expect(eq(u64, hdx_addresses_count(s), 769 + zero));
            closed(s, &mem);
        }
}

/*
 * A map of more than 64 MiB: 10 374 chunks would grow to 76 MB, and do where each object has no more than 64 bytes of
 * that.
 */
Test(growth, of_a_large_map_needs_one_object_in_64_bytes)
{
    enum { FULL = 10374, ENOUGH = 1244880 }; /* 15561 * 5120 / 64 */
    for (int more = -1; more <= 0; more++) {
        hdx_mem        mem = { 0 };
        hdx_addresses *s = new_set(&mem, 8);
        add_chunks(s, 1, FULL - 1, 120);
        add_chunks(s, FULL, 1, (uint64_t)(ENOUGH + more - 120 * (FULL - 1)));
        cr_assert(s->form == HDX_ADDRESSES_MAP && s->build.used == FULL && s->build.capacity == FULL);
        cr_assert(eq(u64, hdx_addresses_count(s), (uint64_t)(ENOUGH + more)));
        add(s, 8 * CHUNK * FULL);
        cr_expect(eq(int, (int)s->form, more < 0 ? HDX_ADDRESSES_TABLE : HDX_ADDRESSES_MAP));
        closed(s, &mem);
    }
    hdx_mem        mem = { 0 };
    hdx_addresses *s = new_set(&mem, 8);
    add_chunks(s, 1, FULL, 1);
    cr_expect(eq(int, (int)s->form, HDX_ADDRESSES_MAP));
    add_chunks(s, FULL + 1, 1, 1);
    cr_expect(eq(int, (int)s->form, HDX_ADDRESSES_TABLE));
    closed(s, &mem);
}

/*
 * No memory for more chunks: a set takes the place of the map where it would be less than 32 bytes an object; else the
 * limit is told.
 */
static bool refuse_large(void *context, uint64_t bytes) { return bytes > *(const uint64_t *)context; }
Test(growth, without_memory_goes_on_as_a_set_where_that_is_small)
{
    for (uint64_t members = 1279; members <= 1280; members++) { /* 8 chunks: 40 960 bytes */
        uint64_t       most = 40000;
        hdx_mem        mem = { 0 };
        hdx_addresses *s = new_set(&mem, 8);
        hdx_error      err = { 0 };
        bool           fresh;
        add_chunks(s, 1, 7, 160);
        add_chunks(s, 8, 1, members - 7 * 160);
        mem.refuse = refuse_large;
        mem.context = &most;
        const hdx_code code = hdx_addresses_insert_one(s, 9 * CHUNK, &fresh, &err);
        cr_expect(eq(int, code, members < 1280 ? HDX_OK : HDX_LIMIT));
        cr_expect(eq(int, (int)s->form, members < 1280 ? HDX_ADDRESSES_TABLE : HDX_ADDRESSES_MAP));
        cr_expect(members < 1280 || strstr(err.message, "the address map") != NULL);
        cr_expect(eq(u64, hdx_addresses_count(s), members + (code == HDX_OK)));
        closed(s, &mem);
    }
}

/* An address that is no multiple of the unit: the map again with a finer one. */
Test(growth, of_the_unit_follows_the_addresses)
{
    static const struct {
        uint64_t a;
        unsigned shift;
    } steps[] = { { 4096, 12 }, { 3ull << 12, 12 }, { 1ull << 63, 12 }, { 2048, 11 }, { 4096 + 512, 9 }, { 1024, 9 },
                  { 24, 3 },    { 4, 2 },           { 40, 2 },          { 7, 0 },     { UINT64_MAX, 0 } };
    hdx_mem        mem = { 0 };
    hdx_addresses *s = new_set(&mem, 4096);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        cr_expect(not(hdx_addresses_has(s, steps[i].a)));
        add(s, steps[i].a);
        cr_expect(s->shift == steps[i].shift && s->build.shift == steps[i].shift, "%zu: %u", i, s->shift);
        for (size_t k = 0; k <= i; k++)
            cr_expect(hdx_addresses_has(s, steps[k].a));
    }
    add(s, 0);
    cr_expect(s->shift == 0);
    closed(s, &mem);
}

/* ---- frozen ---- */

/* The map is taken where its chunks are up to 16, or up to 16 bytes an object. */
Test(freeze, takes_the_map_where_it_is_small)
{
    static const struct {
        uint64_t           chunks, members;
        hdx_addresses_form form;
    } cases[] = { { 16, 16, HDX_ADDRESSES_MAP },   { 17, 17, HDX_ADDRESSES_TABLE },   { 17, 5439, HDX_ADDRESSES_TABLE },
                  { 17, 5440, HDX_ADDRESSES_MAP }, { 18, 5440, HDX_ADDRESSES_TABLE }, { 18, 5760, HDX_ADDRESSES_MAP } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned as_set = 0; as_set < 2; as_set++) {
            hdx_mem        mem = { 0 };
            hdx_addresses *s = new_set(&mem, 8);
            hdx_error      err = { 0 };
            if (as_set == 1)
                cr_assert(eq(int, hdx_addresses_to_set(s, NULL), HDX_OK));
            const uint64_t each = cases[i].members / cases[i].chunks;
            add_chunks(s, 3, cases[i].chunks - 1, each);
            add_chunks(s, 2 + cases[i].chunks, 1, cases[i].members - each * (cases[i].chunks - 1));
            cr_expect(eq(u64, hdx_addresses_count(s), cases[i].members));
            cr_assert(eq(int, hdx_addresses_freeze(s, &err), HDX_OK));
            cr_expect(eq(int, (int)s->form, (int)cases[i].form), "case %zu, as a set %u", i, as_set);
            cr_expect(eq(u64, hdx_addresses_count(s), cases[i].members));
            cr_expect(eq(int, hdx_addresses_freeze(s, &err), HDX_USAGE));
            cr_expect(eq(str, err.message, "the set of addresses is frozen already"));
            bool fresh;
            cr_expect(eq(int, hdx_addresses_insert_one(s, 8, &fresh, &err), HDX_USAGE));
            cr_expect(eq(str, err.message, "the set of addresses is frozen"));
            closed(s, &mem);
        }
}

/* A flat directory has up to 80 entries a chunk, the first chunk left out if that helps; else it is hashed. */
Test(freeze, makes_the_directory_flat_where_chunks_are_close)
{
    static const struct {
        uint64_t          n, chunks[9];
        hdx_addresses_way way;
        uint64_t          first, count;
    } cases[] = {
        { 0, { 0 }, HDX_ADDRESSES_FLAT, 0, 0 },
        { 1, { 0 }, HDX_ADDRESSES_FLAT, 0, 1 },
        { 1, { 900 }, HDX_ADDRESSES_FLAT, 900, 1 },
        { 2, { 0, 159 }, HDX_ADDRESSES_FLAT, 0, 160 },
        { 2, { 0, 160 }, HDX_ADDRESSES_FLAT, 160, 1 },
        { 3, { 0, 5, 239 }, HDX_ADDRESSES_FLAT, 0, 240 },
        { 3, { 0, 5, 240 }, HDX_ADDRESSES_FLAT, 5, 236 },
        { 3, { 0, 5, 244 }, HDX_ADDRESSES_FLAT, 5, 240 },
        { 3, { 0, 5, 245 }, HDX_ADDRESSES_HASHED, 0, 16 },
        { 8, { 0, 1000, 2000, 3000, 4000, 5000, 6000, 7000 }, HDX_ADDRESSES_HASHED, 0, 16 },
        { 9, { 0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000 }, HDX_ADDRESSES_HASHED, 0, 32 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_place     t;
        hdx_index_file file;
        hdx_addresses *mapped;
        hdx_error      err = { 0 };
        place_open(&t, 1);
        hdx_addresses *s = new_set(&t.mem, 8);
        for (uint64_t k = cases[i].n; k-- > 0;) {
            add(s, cases[i].chunks[k] * CHUNK);
            add(s, cases[i].chunks[k] * CHUNK + CHUNK - 8);
        }
        cr_expect(eq(int, hdx_addresses_write(&t.place, HDX_KIND_ADDRESS, s, &file, &err), HDX_USAGE));
        cr_expect(eq(str, err.message, "only a frozen set of addresses can be written"));
        cr_assert(eq(int, hdx_addresses_freeze(s, &err), HDX_OK));
        cr_expect(s->way == cases[i].way && s->find_first == cases[i].first && s->find_count == cases[i].count,
                  "case %zu: way %d, %llu, %llu", i, (int)s->way, (unsigned long long)s->find_first,
                  (unsigned long long)s->find_count);
        cr_assert(eq(int, hdx_addresses_write(&t.place, HDX_KIND_ADDRESS, s, &file, &err), HDX_OK));
        cr_assert(eq(int, hdx_addresses_open(&t.place, HDX_KIND_ADDRESS, &file, 2 * cases[i].n, &t.note, &mapped, &err),
                     HDX_OK));
        cr_expect(eq(int, hdx_addresses_write(&t.place, HDX_KIND_ADDRESS, mapped, &file, &err), HDX_USAGE));
        for (unsigned m = 0; m < 2; m++) {
            const hdx_addresses *of = m == 0 ? s : mapped;
            hdx_id               ids[20];
            hdx_addr             asked[19], out[20];
            size_t               n = 0;
            for (uint64_t k = 0; k < cases[i].n; k++) {
                const uint64_t at = cases[i].chunks[k] * CHUNK;
                cr_expect(hdx_addresses_find(of, at) == 2 * k && hdx_addresses_find(of, at + CHUNK - 8) == 2 * k + 1);
                cr_expect(hdx_addresses_at(of, 2 * k) == at && hdx_addresses_at(of, 2 * k + 1) == at + CHUNK - 8);
                cr_expect(hdx_addresses_find(of, at + 8) == HDX_NO_ID && hdx_addresses_find(of, at + 1) == HDX_NO_ID);
                cr_expect(hdx_addresses_find(of, at + CHUNK + 8) == HDX_NO_ID);
                asked[n++] = at;
                asked[n++] = at + 8;
            }
            ids[n] = 4711;
            hdx_addresses_find_many(of, asked, n, ids);
            for (size_t k = 0; k < n; k++)
                cr_expect(ids[k] == (k % 2 == 0 ? k : HDX_NO_ID));
            cr_expect(eq(u64, ids[n], 4711)); /* and nothing behind */
            out[n] = 4711;
            hdx_addresses_read(of, 0, (uint32_t)n, out);
            cr_expect(out[n] == 4711 && (n == 0 || out[n - 1] == cases[i].chunks[cases[i].n - 1] * CHUNK + CHUNK - 8));
            cr_expect(hdx_addresses_find(of, 123 * CHUNK) == HDX_NO_ID);
            cr_expect(hdx_addresses_find(of, UINT64_MAX - 7) == HDX_NO_ID);
            cr_expect(eq(int, hdx_note_check(&t.note, &err), HDX_OK));
            out[0] = 4711;
            out[1] = 4712;
            hdx_addresses_read(of, 2 * cases[i].n, 1, out); /* beyond the last: nothing is told */
            cr_expect(out[0] == 0 && out[1] == 4712);
            hdx_addresses_read(of, 2 * cases[i].n + 1, 0, out);
            cr_expect(eq(int, hdx_note_check(&t.note, &err), m == 0 ? HDX_OK : HDX_DAMAGED));
        }
        hdx_addresses_close(mapped);
        hdx_addresses_close(s);
        place_close(&t);
    }
}

/* Chunks touched in any order lie in order in the end, with the bits they had. */
Test(freeze, puts_chunks_in_order)
{
    random_state d = { 77 };
    for (unsigned round = 0; round < 60; round++) {
        enum { MOST = 60 };
        hdx_mem        mem = { 0 };
        hdx_addresses *s = new_set(&mem, 8);
        uint64_t       order[MOST], n = 1 + below(&d, MOST);
        for (uint64_t k = 0; k < n; k++)
            order[k] = k;
        for (uint64_t k = n; k > 1; k--) {
            const uint64_t other = below(&d, k), x = order[other];
            order[other] = order[k - 1];
            order[k - 1] = x;
        }
        for (uint64_t k = 0; k < n; k++)
            for (uint64_t i = 0; i < 330 + order[k]; i++)
                add(s, order[k] * 3 * CHUNK + 8 * (order[k] + i));
        cr_assert(eq(int, hdx_addresses_freeze(s, NULL), HDX_OK));
        cr_expect(eq(int, (int)s->form, HDX_ADDRESSES_MAP));
        uint64_t id = 0;
        for (uint64_t k = 0; k < n; k++)
            for (uint64_t i = 0; i < 330 + k; i++, id++)
                cr_assert(hdx_addresses_at(s, id) == k * 3 * CHUNK + 8 * (k + i), "id %llu", (unsigned long long)id);
        closed(s, &mem);
    }
}

/* ---- kept and given back ---- */
typedef struct tape {
    uint64_t words[3 + 4 * 513];
    uint64_t count, taken;
} tape;
static hdx_code take(void *context, void *to, uint64_t len, hdx_error *err)
{
    tape *t = context;
    if (t->taken + len / 8 > t->count)
        return hdx_fail(err, HDX_IO, "tape", 0, "torn");
    memcpy(to, t->words + t->taken, len);
    t->taken += len / 8;
    return HDX_OK;
}
static void tape_chunk(tape *t, uint64_t number, uint64_t word, uint64_t bits)
{
    t->words[t->count] = number;
    memset(t->words + t->count + 1, 0, 512 * 8);
    t->words[t->count + 1 + word] = bits;
    t->count += 513;
}
Test(restore, takes_only_what_a_set_can_have_kept)
{
    const uint64_t     last = (1ull << (64 - 3 - HDX_CHUNK_BITS)) - 1; /* chunk number, in units of 8 */
    static const char *no = "no set of addresses";
    for (unsigned i = 0; i < 14; i++) {
        tape          *t = calloc(1, sizeof *t);
        hdx_mem        mem = { 0 };
        hdx_addresses *s = new_set(&mem, 8);
        hdx_error      err = { 0 };
        uint64_t       members = 3;
        const char    *message = "";
        hdx_code       want = HDX_OK;
        t->count = 3;
        t->words[1] = 3;
        switch (i) {
        case 0: members = 0; break;
        case 1: t->words[1] = 4, message = no; break;
        case 2: t->words[1] = 2, members = 0; break;
        case 3: t->words[0] = 2, message = no; break;
        case 4: t->words[2] = 1, tape_chunk(t, 0, 0, 7); break;
        case 5: t->words[2] = 1, tape_chunk(t, last, 511, 7ull << 61); break;
        case 6: t->words[2] = 1, tape_chunk(t, last + 1, 0, 7), message = no; break;
        case 7: t->words[2] = 1, tape_chunk(t, 5, 0, 0), message = no; break;
        case 8: t->words[2] = 2, tape_chunk(t, 5, 3, 3), tape_chunk(t, 6, 3, 1); break;
        case 9: t->words[2] = 2, tape_chunk(t, 5, 3, 3), tape_chunk(t, 5, 3, 4), message = no; break;
        case 10: t->words[2] = 2, tape_chunk(t, 5, 3, 7), message = "torn", want = HDX_IO; break;
        case 11:
            t->words[0] = 1, t->words[2] = 3, t->words[3] = 8, t->words[4] = 0, t->words[5] = 800, t->count = 6;
            break;
        case 12:
            t->words[0] = 1, t->words[2] = 3, t->words[3] = 8, t->words[4] = 0, t->words[5] = 8, t->count = 6;
            message = no;
            break;
        case 13: /* into a set that has members already */
            add(s, 8);
            message = no;
            break;
        default: break;
        }
        want = message == no ? HDX_NOT_FOUND : want;
        cr_expect(eq(int, hdx_addresses_restore(s, take, t, &err), want), "case %u", i);
        cr_expect(eq(str, err.message, (char *)(uintptr_t)message), "case %u", i);
        if (want == HDX_OK) {
            cr_expect(eq(u64, hdx_addresses_count(s), members), "case %u", i);
            cr_expect(eq(u64, t->taken, t->count));
        }
        if (i == 5)
            for (uint64_t k = 0; k < 4; k++)
                cr_expect(eq(int, hdx_addresses_has(s, UINT64_MAX - 7 - 8 * k), k < 3));
        if (i == 11)
            cr_expect(hdx_addresses_has(s, 0) && hdx_addresses_has(s, 8) && hdx_addresses_has(s, 800));
        closed(s, &mem);
        free(t);
    }
}

/* 1 to 1300 addresses kept as a table come back whatever the number read at once is. */
Test(restore, gives_back_tables_of_any_length)
{
    static const uint64_t counts[] = { 1, 511, 512, 513, 1024, 1025 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tape          *t = calloc(1, sizeof *t);
        hdx_mem        mem = { 0 };
        hdx_addresses *s = new_set(&mem, 8);
        t->words[0] = HDX_ADDRESSES_TABLE;
        t->words[1] = 3;
        t->words[2] = counts[i];
        t->count = 3 + counts[i];
        for (uint64_t k = 0; k < counts[i]; k++)
            t->words[3 + k] = k << 30;
        cr_expect(eq(int, hdx_addresses_restore(s, take, t, NULL), HDX_OK));
        cr_expect(eq(u64, hdx_addresses_count(s), counts[i]));
        for (uint64_t k = 0; k < counts[i] + 3; k++)
            cr_expect(eq(int, hdx_addresses_has(s, k << 30), k < counts[i]));
        closed(s, &mem);
        free(t);
    }
}
