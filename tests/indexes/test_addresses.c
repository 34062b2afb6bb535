/* test_addresses.c - address <-> id against a sorted array, in memory and from the file, in every form. */
#include "tests/indexes/place.h"
#include "indexes/addresses/set.h"

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void answers(const hdx_addresses *s, const uint64_t *sorted, uint64_t n, random_state *d)
{
    uint64_t *out = calloc(n + 1, sizeof *out);
    cr_assert(eq(u64, hdx_addresses_count(s), n));
    for (uint64_t i = 0; i < n; i++) {
        cr_assert(hdx_addresses_find(s, sorted[i]) == i, "address %llx", (unsigned long long)sorted[i]);
        cr_assert(n > 100000 && i % 64 > 1 ? true : hdx_addresses_at(s, i) == sorted[i], "id %llu",
                  (unsigned long long)i);
        cr_assert(hdx_addresses_has(s, sorted[i]));
    }
    for (unsigned i = 0; i < 2000 && n > 0; i++) {
        uint64_t a = i % 3 == 0 ? roll(d) : sorted[below(d, n)] + below(d, 64) - 32;
        bool     in = bsearch(&a, sorted, n, sizeof a, by_value) != NULL;
        cr_assert(in == (hdx_addresses_find(s, a) != HDX_NO_ID));
    }
    hdx_addresses_read(s, 0, (uint32_t)n, out);
    cr_assert(n == 0 || memcmp(out, sorted, n * sizeof *out) == 0);
    for (unsigned i = 0; i < 200 && n > 0; i++) {
        uint64_t from = below(d, n), part = below(d, n - from + 1) % 2000;
        memset(out, 0, part * sizeof *out);
        hdx_addresses_read(s, from, (uint32_t)part, out);
        cr_assert(part == 0 || memcmp(out, sorted + from, part * sizeof *out) == 0);
    }
    hdx_addresses_find_many(s, sorted, n, out);
    for (uint64_t i = 0; i < n; i++)
        cr_assert(out[i] == i);
    free(out);
}

typedef struct job {
    hdx_addresses  *set;
    const uint64_t *a;
    uint64_t        n, repeated[8];
    unsigned        threads;
    hdx_code        code[8];
} job;
static void insert_part(void *context, unsigned thread)
{
    job     *j = context;
    uint64_t end = j->n * (thread + 1) / j->threads;
    for (uint64_t at = j->n * thread / j->threads; at < end && j->code[thread] == HDX_OK; at += 1000)
        j->code[thread] =
            hdx_addresses_insert(j->set, j->a + at, end - at < 1000 ? end - at : 1000, &j->repeated[thread], NULL);
}

/* ---- kept and restored while it is built ---- */

typedef struct tape {
    uint8_t *at;
    uint64_t len, capacity, taken;
    uint64_t refuse_at; /* the put or get that fails; 0: none */
    uint64_t calls;
} tape;

static hdx_code tape_put(void *context, const void *bytes, uint64_t len, hdx_error *err)
{
    tape *t = context;
    if (++t->calls == t->refuse_at)
        return hdx_fail(err, HDX_IO, "tape", 0, "torn");
    if (t->len + len > t->capacity) {
        t->capacity = 2 * (t->len + len);
        t->at = realloc(t->at, t->capacity);
    }
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    return HDX_OK;
}

static hdx_code tape_get(void *context, void *to, uint64_t len, hdx_error *err)
{
    tape *t = context;
    if (++t->calls == t->refuse_at || t->taken + len > t->len)
        return hdx_fail(err, HDX_IO, "tape", 0, "torn");
    memcpy(to, t->at + t->taken, len);
    t->taken += len;
    return HDX_OK;
}

/* Another set out of what this one keeps; every fault on the way comes back as it is. */
static void keep_and_restore(const hdx_addresses *s, const uint64_t *sorted, uint64_t n, unsigned granularity,
                             test_place *t)
{
    tape           whole = { 0 };
    hdx_addresses *back;
    hdx_error      err;
    cr_assert(eq(int, hdx_addresses_keep(s, tape_put, &whole, &err), HDX_OK));
    const uint64_t puts = whole.calls;
    for (uint64_t i = 1; i <= puts; i += 1 + i / 3) {
        tape torn = { .refuse_at = i };
        cr_assert(eq(int, hdx_addresses_keep(s, tape_put, &torn, &err), HDX_IO));
        free(torn.at);
    }
    whole.calls = 0;
    cr_assert(eq(int, hdx_addresses_new(&t->mem, granularity, &back, &err), HDX_OK));
    cr_assert(eq(int, hdx_addresses_restore(back, tape_get, &whole, &err), HDX_OK), "%s", err.message);
    cr_expect(eq(u64, whole.taken, whole.len));
    const uint64_t gets = whole.calls;
    cr_assert(eq(u64, hdx_addresses_count(back), n));
    for (uint64_t i = 0; i < n; i++)
        cr_assert(hdx_addresses_has(back, sorted[i]));
    for (uint64_t i = 0; i < n; i += 1 + n / 300)
        cr_assert(sorted[i] == UINT64_MAX ||
                  hdx_addresses_has(back, sorted[i] + 1) == (i + 1 < n && sorted[i + 1] == sorted[i] + 1));
    cr_assert(eq(int, hdx_addresses_freeze(back, &err), HDX_OK));
    for (uint64_t i = 0; i < n; i++)
        cr_assert(hdx_addresses_find(back, sorted[i]) == i);
    hdx_addresses_close(back);
    for (uint64_t i = 1; i <= gets; i += 1 + i / 3) {
        whole.calls = whole.taken = 0;
        whole.refuse_at = i;
        cr_assert(eq(int, hdx_addresses_new(&t->mem, granularity, &back, &err), HDX_OK));
        cr_assert(eq(int, hdx_addresses_restore(back, tape_get, &whole, &err), HDX_IO));
        hdx_addresses_close(back);
    }
    free(whole.at);
}

Test(addresses, kept_by_nobody_are_no_set)
{
    test_place     t;
    hdx_addresses *s;
    hdx_error      err;
    bool           fresh;
    tape           kept = { 0 };
    place_open(&t, 1);
    cr_assert(eq(int, hdx_addresses_new(&t.mem, 8, &s, &err), HDX_OK));
    for (uint64_t i = 1; i < 3000; i++)
        cr_assert(eq(int, hdx_addresses_insert_one(s, i * 8, &fresh, &err), HDX_OK));
    cr_assert(eq(int, hdx_addresses_keep(s, tape_put, &kept, &err), HDX_OK));
    hdx_addresses_close(s);
    const struct {
        uint64_t at, value;
    } harm[] = { { 0, 77 }, { 8, 70 }, { 16, UINT64_MAX }, { 24, UINT64_MAX } };
    for (size_t i = 0; i < sizeof harm / sizeof *harm; i++) {
        uint8_t was[8];
        memcpy(was, kept.at + harm[i].at, 8);
        memcpy(kept.at + harm[i].at, &harm[i].value, 8);
        kept.taken = 0;
        cr_assert(eq(int, hdx_addresses_new(&t.mem, 8, &s, &err), HDX_OK));
        cr_expect(ne(int, hdx_addresses_restore(s, tape_get, &kept, &err), HDX_OK), "%zu", i);
        hdx_addresses_close(s);
        memcpy(kept.at + harm[i].at, was, 8);
    }
    free(kept.at);
    place_close(&t);
}

/* a: in any order, with repeats. */
static void round_trip(const uint64_t *a, uint64_t n, unsigned granularity, unsigned threads, int form, random_state *d)
{
    test_place     t;
    hdx_index_file file;
    hdx_addresses *s, *m;
    hdx_error      err = { 0 };
    uint64_t      *sorted = malloc((n + 1) * sizeof *sorted), distinct = 0, repeated = 0;
    bool           fresh;
    memcpy(sorted, a, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    for (uint64_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            sorted[distinct++] = sorted[i];
    place_open(&t, 1);
    cr_assert(eq(int, hdx_addresses_new(&t.mem, granularity, &s, &err), HDX_OK));
    job j = { .set = s, .a = a, .n = n, .threads = threads };
    hdx_workers_run(threads, insert_part, &j);
    for (unsigned i = 0; i < threads; i++) {
        cr_assert(eq(int, j.code[i], HDX_OK));
        repeated += j.repeated[i];
    }
    cr_assert(eq(u64, repeated, n - distinct));
    for (uint64_t i = 0; i < distinct; i += 1 + distinct / 500) {
        cr_assert(hdx_addresses_has(s, sorted[i]));
        cr_assert(eq(int, hdx_addresses_insert_one(s, sorted[i], &fresh, &err), HDX_OK));
        cr_assert(not(fresh));
    }
    cr_assert(eq(u64, hdx_addresses_count(s), distinct));
    keep_and_restore(s, sorted, distinct, granularity, &t);
    cr_assert(eq(int, hdx_addresses_freeze(s, &err), HDX_OK), "%s", err.message);
    if (form >= 0)
        cr_expect(eq(int, (int)s->form, form));
    answers(s, sorted, distinct, d);
    cr_expect(eq(int, hdx_addresses_insert(s, a, 1, &repeated, &err), HDX_USAGE));
    cr_assert(eq(int, hdx_addresses_write(&t.place, HDX_KIND_ADDRESS, s, &file, &err), HDX_OK));
    cr_assert(eq(int, hdx_addresses_open(&t.place, HDX_KIND_ADDRESS, &file, distinct, &t.note, &m, &err), HDX_OK), "%s",
              err.message);
    answers(m, sorted, distinct, d);
    cr_assert(eq(int, hdx_note_check(&t.note, &err), HDX_OK), "%s", err.message);
    hdx_addresses_close(m);
    hdx_addresses_close(s);
    place_close(&t);
    free(sorted);
}

static void shuffle(uint64_t *a, uint64_t n, random_state *d)
{
    for (uint64_t i = n; i > 1; i--) {
        uint64_t k = below(d, i), x = a[k];
        a[k] = a[i - 1];
        a[i - 1] = x;
    }
}

Test(addresses, a_heap_in_order_and_shuffled_by_several_threads)
{
    random_state d = random_state_new("addresses heap");
    unsigned     n = 200000;
    uint64_t    *a = calloc(n, sizeof *a), at = 0x7f0012340000;
    for (unsigned i = 1; i < n; i++)
        a[i] = at += 16 + 8 * below(&d, 5) + (below(&d, 5000) == 0 ? 10 << 20 : 0);
    a[0] = 0; /* the boot class loader */
    a[n - 1] = a[n / 2];
    round_trip(a, n, 8, 1, HDX_ADDRESSES_MAP, &d);
    shuffle(a, n, &d);
    round_trip(a, n, 8, 4, HDX_ADDRESSES_MAP, &d);
    free(a);
}

/*
 * Between two samples lie 64 ids; here these are in chunks of their own, and far more blocks must be searched than in a
 * heap.
 */
Test(addresses, ids_of_lonely_objects_among_dense_ones)
{
    enum { DENSE = 90000, LONELY = 200 };
    random_state d = random_state_new("addresses lonely");
    uint64_t    *a = calloc(DENSE + LONELY, sizeof *a), at = 0x10000000, n = 0;
    while (n < DENSE / 2)
        a[n++] = at += 8 + 8 * below(&d, 3);
    for (unsigned i = 0; i < LONELY; i++)
        a[n++] = at += (1 << 18) * (1 + below(&d, 3)) + 8 * below(&d, 1000);
    for (; n < DENSE + LONELY; n++)
        a[n] = at += 8 + (n % 100 == 0 ? 8 * below(&d, 300) : 0);
    round_trip(a, n, 8, 2, HDX_ADDRESSES_MAP, &d);
    free(a);
}

Test(addresses, empty_and_tiny_sets)
{
    random_state d = { 1 };
    uint64_t     a[] = { 0, 1, UINT64_MAX, UINT64_MAX - 7, 8, 1ull << 63, 8 };
    for (unsigned n = 0; n <= 7; n++) {
        round_trip(a, n, 8, 1, HDX_ADDRESSES_MAP, &d);
        round_trip(a, n, 1, 2, HDX_ADDRESSES_MAP, &d);
    }
}

Test(addresses, unaligned_ones_make_the_unit_finer)
{
    random_state d = random_state_new("addresses unaligned");
    unsigned     n = 30000;
    uint64_t    *a = calloc(n, sizeof *a);
    for (unsigned i = 0; i < n; i++)
        a[i] = 0x10000 + 8 * below(&d, 100000) + (i > n / 2 ? 4 * (below(&d, 100) == 0) : 0) +
               (i > n * 3 / 4 ? below(&d, 200) == 0 : 0);
    round_trip(a, n, 8, 4, HDX_ADDRESSES_MAP, &d);
    for (unsigned i = 0; i < n; i++)
        a[i] = i + 1;
    round_trip(a, n, 8, 2, HDX_ADDRESSES_MAP, &d);
    free(a);
}

Test(addresses, sparse_ones_become_a_table)
{
    random_state d = random_state_new("addresses sparse");
    unsigned     n = 50000;
    uint64_t    *a = calloc(n, sizeof *a);
    for (unsigned i = 0; i < n; i++)
        a[i] = i % 10 == 9 ? a[i / 2] : roll(&d);
    a[n / 3] = 0;
    round_trip(a, n, 8, 4, HDX_ADDRESSES_TABLE, &d);
    for (unsigned i = 0; i < n; i++)
        a[i] = (uint64_t)i << 20;
    round_trip(a, n, 8, 2, HDX_ADDRESSES_TABLE, &d);
    free(a);
}

Test(addresses, a_heap_touched_everywhere_at_first_is_a_map_in_the_end)
{
    random_state d = random_state_new("addresses zgc");
    unsigned     n = 1000000;
    uint64_t    *a = calloc(n, sizeof *a);
    for (unsigned i = 0; i < n;
         i++) /* 20 000 chunks of 256 KiB touched one after the other: 100 MB of map for 20 000 objects */
        a[i] = 0x400000000000 + ((uint64_t)(i % 20000) << 18) + 8 * below(&d, 1 << 15);
    test_place     t;
    hdx_addresses *s;
    uint64_t       repeated = 0, again = 0;
    place_open(&t, 1);
    cr_assert(eq(int, hdx_addresses_new(&t.mem, 8, &s, NULL), HDX_OK));
    cr_assert(eq(int, hdx_addresses_insert(s, a, 30000, &repeated, NULL), HDX_OK));
    cr_expect(eq(int, (int)s->form, HDX_ADDRESSES_TABLE));
    cr_assert(eq(int, hdx_addresses_insert(s, a + 30000, n - 30000, &repeated, NULL), HDX_OK));
    cr_assert(eq(int, hdx_addresses_insert(s, a, 1000, &again, NULL), HDX_OK));
    cr_expect(eq(u64, again, 1000));
    cr_assert(eq(int, hdx_addresses_freeze(s, NULL), HDX_OK));
    cr_expect(eq(int, (int)s->form, HDX_ADDRESSES_TABLE)); /* 50 objects a chunk of 5 KiB: more than 16 bytes each */
    cr_expect(eq(u64, hdx_addresses_count(s), n - repeated));
    hdx_addresses_close(s);
    for (unsigned i = 0; i < n; i++)
        a[i] = 0x400000000000 + ((uint64_t)(i % 14000) << 18) + 8 * (i / 14000 * 7 % 32768);
    cr_assert(eq(int, hdx_addresses_new(&t.mem, 8, &s, NULL), HDX_OK));
    hdx_chunks_free(&s->build, s->mem);
    cr_assert(eq(int, hdx_chunks_new(&s->build, s->mem, 3, 8, NULL), HDX_OK));
    for (unsigned at = 0; at < n; at += 1000)
        cr_assert(eq(int, hdx_addresses_insert(s, a + at, 1000, &repeated, NULL), HDX_OK));
    hdx_addresses_close(s);
    place_close(&t);
    free(a);
}

Test(addresses, the_form_and_the_bytes_depend_on_the_members_alone)
{
    random_state d = random_state_new("addresses order");
    unsigned     n = 60000;
    uint64_t    *a = calloc(n, sizeof *a);
    uint8_t     *bytes[3];
    size_t       len[3];
    for (unsigned i = 0; i < n; i++)
        a[i] = ((uint64_t)(i % 37) << 34) + 8 * below(&d, 60000) + (i == 70 ? 4 : 0);
    for (unsigned round = 0; round < 3; round++) {
        test_place     t;
        hdx_index_file file;
        hdx_addresses *s;
        place_open(&t, 1);
        cr_assert(eq(int, hdx_addresses_new(&t.mem, 8, &s, NULL), HDX_OK));
        if (round == 2)
            cr_assert(eq(int, hdx_addresses_to_set(s, NULL), HDX_OK)); /* as if it had grown too sparse underway */
        job j = { .set = s, .a = a, .n = n, .threads = round == 1 ? 8 : 1 };
        hdx_workers_run(j.threads, insert_part, &j);
        cr_assert(eq(int, hdx_addresses_freeze(s, NULL), HDX_OK));
        cr_assert(eq(int, hdx_addresses_write(&t.place, HDX_KIND_ADDRESS, s, &file, NULL), HDX_OK));
        bytes[round] = place_bytes(&t, HDX_KIND_ADDRESS, &len[round]);
        cr_assert(len[round] == len[0] && memcmp(bytes[round], bytes[0], len[0]) == 0);
        hdx_addresses_close(s);
        place_close(&t);
        shuffle(a, n, &d);
    }
    for (unsigned i = 0; i < 3; i++)
        free(bytes[i]);
    free(a);
}

static bool refuse_later(void *context, uint64_t bytes)
{
    (void)bytes;
    return (*(unsigned *)context)-- == 0;
}
Test(addresses, refused_memory_is_a_limit_and_loses_nothing)
{
    unsigned  n = 3000;
    uint64_t *a = calloc(n, sizeof *a), repeated = 0;
    for (unsigned i = 0; i < n; i++)
        a[i] = i < 1500 ? (uint64_t)i << 13 : i == 1500 ? (1500u << 13) + 4 : (uint64_t)i << 40;
    for (unsigned at = 0;; at++) {
        test_place     t;
        hdx_addresses *s;
        unsigned       left = at;
        place_open(&t, 1);
        t.mem.refuse = refuse_later;
        t.mem.context = &left;
        hdx_code code = hdx_addresses_new(&t.mem, 8, &s, NULL);
        if (code == HDX_OK && (code = hdx_addresses_insert(s, a, n, &repeated, NULL)) == HDX_OK)
            code = hdx_addresses_freeze(s, NULL);
        cr_assert(code == HDX_OK || code == HDX_LIMIT);
        if (s != NULL && code == HDX_OK)
            cr_assert(hdx_addresses_find(s, a[n - 1]) == n - 1);
        hdx_addresses_close(s);
        place_close(&t);
        if (left < at && left != UINT32_MAX)
            break; /* not reached any more */
        cr_assert(at < 1000);
    }
    free(a);
}

/* addresses/README.md: the worked example, byte for byte. */
Test(addresses, bytes_as_in_the_readme)
{
    uint64_t       a[] = { 0x12c00020, 0x12c00000, 0x12c00400, 0 }, repeated = 0;
    test_place     t;
    hdx_index_file file;
    hdx_addresses *s;
    size_t         len;
    place_open(&t, 1);
    cr_assert(eq(int, hdx_addresses_new(&t.mem, 8, &s, NULL), HDX_OK));
    cr_assert(eq(int, hdx_addresses_insert(s, a, 4, &repeated, NULL), HDX_OK));
    cr_assert(eq(int, hdx_addresses_freeze(s, NULL), HDX_OK));
    cr_assert(eq(int, hdx_addresses_write(&t.place, HDX_KIND_ADDRESS, s, &file, NULL), HDX_OK));
    uint8_t *b = place_bytes(&t, HDX_KIND_ADDRESS, &len);
    cr_expect(eq(u64, hdx_le64(b + 32), 4));                /* objects */
    cr_expect(eq(u64, hdx_le64(b + 40), 3 << 16));          /* map, flat, unit 2^3 */
    cr_expect(eq(u64, hdx_le64(b + 48), 0x12c00000 >> 18)); /* chunk 0 is left out of `find` */
    cr_expect(eq(u64, hdx_le64(b + 64), 0));                /* order: chunk 0 from id 0 */
    cr_expect(eq(u64, hdx_le64(b + 72), 0));
    cr_expect(eq(u64, hdx_le64(b + 80), 0x12c00000 >> 18)); /* and chunk 0x4b0 from id 1 */
    cr_expect(eq(u64, hdx_le64(b + 88), 1));
    cr_expect(eq(u32, hdx_le32(b + 128), 1)); /* find: index 1 of order */
    const uint8_t *chunk = b + 192 + HDX_CHUNK_BYTES;
    cr_expect(eq(u64, hdx_le64(chunk), 0x11));
    cr_expect(eq(u32, hdx_le16(chunk + 8), 0));
    cr_expect(eq(u64, hdx_le64(chunk + 20), 1));
    cr_expect(eq(u32, hdx_le16(chunk + 28), 2));
    const uint8_t *samples =
        b + 192 + 2 * HDX_CHUNK_BYTES; /* id 0 is in block 0 of chunk 0; a multiple of 64 already */
    cr_expect(eq(u64, hdx_sample_at(samples, 0), 0));
    cr_expect(eq(u64, hdx_le64(samples + HDX_SAMPLE_BYTES) & 0xffffff, 0), "gap before the sums");
    free(b);
    hdx_addresses_close(s);
    place_close(&t);
}
