/* test_base.c - the ground floor: numbers out of bytes, sums, budgets, arenas, maps, text, threads, files. */
#include "base/base.h"
#include "support/folder.h"
#include "support/wait.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static bool refuse_all(void *context, uint64_t bytes)
{
    (void)context;
    (void)bytes;
    return true;
}

static bool count_request(void *context, uint64_t bytes)
{
    (void)bytes;
    ++*(unsigned *)context;
    return false;
}

Test(bytes, reads_both_orders)
{
    const uint8_t b[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    cr_expect(eq(u64, hdx_le64(b), 0x0807060504030201ull));
    cr_expect(eq(u64, hdx_be64(b), 0x0102030405060708ull));
    cr_expect(eq(u32, hdx_be32(b + 1), 0x02030405u));
    cr_expect(eq(u16, hdx_be16(b), 0x0102));
    cr_expect(eq(u16, hdx_le16(b), 0x0201));
}

Test(bytes, cut_never_goes_past_the_end)
{
    const uint8_t b[4] = { 9, 8, 7, 6 };
    hdx_view      v = { b, 4 }, part;
    cr_assert(hdx_cut(&v, 3, &part));
    cr_expect(eq(sz, part.len, 3));
    cr_expect(eq(sz, v.len, 1));
    cr_expect(not(hdx_cut(&v, UINT64_MAX, &part)));
    cr_expect(not(hdx_cut(&v, 2, &part)));
    cr_assert(hdx_cut(&v, 1, &part));
    cr_expect(eq(u8, part.at[0], 6));
    cr_assert(hdx_cut(&v, 0, &part));
}

Test(bytes, products_and_sums_that_wrap_are_seen)
{
    uint64_t out;
    cr_expect(not(hdx_mul(1ull << 33, 1ull << 31, &out)));
    cr_assert(hdx_mul(1ull << 32, 1ull << 31, &out));
    cr_expect(eq(u64, out, 1ull << 63));
    cr_expect(not(hdx_add(UINT64_MAX, 1, &out)));
}

Test(bytes, zigzag_goes_both_ways)
{
    const int64_t all[] = { 0, -1, 1, INT64_MIN, INT64_MAX, -77 };
    for (size_t i = 0; i < 6; i++)
        cr_expect(eq(i64, hdx_unzigzag(hdx_zigzag(all[i])), all[i]));
    cr_expect(eq(u64, hdx_zigzag(-1), 1));
}

/* One bit at a time, straight from the polynomial. */
static uint32_t slow_crc(const uint8_t *p, size_t n)
{
    uint32_t c = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0x82f63b78u ^ c >> 1 : c >> 1;
    }
    return ~c;
}

Test(crc32c, equals_the_bitwise_definition_at_every_length)
{
    static uint8_t bytes[10007];
    cr_expect(eq(u32, hdx_crc32c(0, "123456789", 9), 0xe3069283u));
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)hdx_mix64(i);
    for (size_t n = 0; n < sizeof bytes; n += n < 64 ? 1 : 331) {
        cr_expect(eq(u32, hdx_crc32c(0, bytes, n), slow_crc(bytes, n)));
        cr_expect(eq(u32, hdx_crc32c_by_table(0, bytes, n), slow_crc(bytes, n)));
    }
    cr_expect(eq(u32, hdx_crc32c_by_table(hdx_crc32c_by_table(0, bytes, 50), bytes + 50, 7), slow_crc(bytes, 57)));
    cr_expect(eq(u32, hdx_crc32c(hdx_crc32c(0, bytes, 5000), bytes + 5000, 5007), slow_crc(bytes, sizeof bytes)));
}

Test(mem, keeps_its_limit_and_counts)
{
    hdx_mem mem = { .limit = 3u << 20 };
    void   *a = hdx_mem_get(&mem, 2u << 20), *b = hdx_mem_get(&mem, 2u << 20);
    cr_assert(ne(ptr, a, NULL));
    cr_expect(eq(ptr, b, NULL));
    cr_expect(eq(u64, mem.used, 2u << 20));
    hdx_mem_put(&mem, a, 2u << 20);
    cr_expect(eq(u64, mem.used, 0));
    cr_expect(eq(u64, mem.peak, 2u << 20));
    cr_expect(eq(ptr, hdx_mem_array(&mem, UINT64_MAX / 4, 8), NULL));
}

/* At its limit, not past it; what is refused changes nothing; large blocks count as whole huge pages. */
Test(mem, counts_what_it_hands_out)
{
    const uint64_t page = 2u << 20;
    hdx_mem        mem = { .limit = 3 * page };
    void          *small = hdx_mem_get(&mem, 100), *none = hdx_mem_get(&mem, 0);
    cr_assert(small != NULL && none != NULL && mem.used == 100);
    hdx_mem_put(&mem, none, 0);
    hdx_mem_put(&mem, small, 100);
    hdx_mem_put(&mem, NULL, 55);
    cr_expect(eq(u64, mem.used, 0));
    uint8_t *p = hdx_mem_get(&mem, page + 1);
    cr_assert(p != NULL && mem.used == 2 * page);
    p = hdx_mem_resize(&mem, p, page + 1, 3 * page);
    cr_assert(p != NULL && mem.used == 3 * page && mem.peak == 3 * page);
    memset(p, 7, 3 * page);
    cr_expect(hdx_mem_resize(&mem, p, 3 * page, 3 * page + 1) == NULL && mem.used == 3 * page);
    cr_expect(hdx_mem_get(&mem, 1) == NULL && mem.used == 3 * page);
    cr_expect(hdx_mem_raw(&mem, 1, 1) == NULL && hdx_mem_array(&mem, 1, 1) == NULL);
    p = hdx_mem_resize(&mem, p, 3 * page, page + 5); /* in place, the end of the second page cleared */
    cr_assert(p != NULL && mem.used == 2 * page && p[page + 4] == 7 && p[page + 5] == 0 && p[2 * page - 1] == 0);
    p = hdx_mem_resize(&mem, p, page + 5, 1000);
    cr_assert(p != NULL && mem.used == 1000 && p[999] == 7);
    hdx_mem_put(&mem, p, 1000);
    cr_expect(mem.used == 0 && mem.peak == 3 * page);
    p = hdx_mem_resize(&mem, NULL, 0, 10);
    cr_expect(p != NULL && mem.used == 10 && p[9] == 0);
    hdx_mem_put(&mem, p, 10);
    cr_expect(hdx_mem_get(&mem, UINT64_MAX) == NULL && mem.used == 0);
}

Test(mem, room_doubles_from_sixteen)
{
    hdx_mem   mem = { 0 };
    uint32_t *list = NULL;
    uint64_t  capacity = 0;
    for (uint64_t n = 0; n < 1000; n++) {
        const uint64_t before = capacity;
        cr_assert(hdx_mem_room(&mem, (void **)&list, &capacity, n, sizeof *list));
        cr_assert(capacity == (n < before ? before : before == 0 ? 16 : 2 * before) && mem.used == capacity * 4);
        list[n] = (uint32_t)n * 3;
    }
    for (uint64_t n = 0; n < 1000; n++)
        cr_assert(list[n] == n * 3);
    uint32_t *const kept = list;
    mem.limit = 1;
    cr_expect(hdx_mem_room(&mem, (void **)&list, &capacity, capacity, sizeof *list) == false);
    cr_expect(list == kept && capacity == 1024);
    uint64_t huge = UINT64_MAX / 2 + 1;
    cr_expect(hdx_mem_room(&mem, (void **)&list, &huge, huge, 4) == false);
    hdx_mem_put(&mem, list, capacity * 4);
}

Test(mem, peak_of_the_process_holds_what_was_touched)
{
    const uint64_t before = hdx_peak_rss();
    hdx_mem        mem = { 0 };
    uint8_t       *p = hdx_mem_get(&mem, 200u << 20);
    cr_assert(p != NULL);
    for (uint64_t i = 0; i < 200u << 20; i += 4096)
        p[i] = 1;
    cr_expect(hdx_peak_rss() >= 200u << 20 && hdx_peak_rss() < before + (400u << 20));
    hdx_mem_put(&mem, p, 200u << 20);
}

/* Where no more memory is to be had, the pool stays as it is and nobody waits. */
Test(mem, makes_no_pages_where_there_are_none)
{
    const uint64_t page = 2u << 20;
    hdx_mem        mem = { .keep = true };
    hdx_mem_want(&mem, 4 * page);
    struct rlimit before;
    cr_assert(getrlimit(RLIMIT_DATA, &before) == 0);
    const struct rlimit none = { 1, before.rlim_max };
    cr_assert(setrlimit(RLIMIT_DATA, &none) == 0);
    hdx_mem_help(&mem, true);
    const uint64_t pooled = mem.pooled;
    cr_assert(setrlimit(RLIMIT_DATA, &before) == 0);
    cr_expect(eq(u64, pooled, 0));
    hdx_mem_close(&mem);
}

Test(mem, what_grows_is_zero_behind_the_old_end)
{
    const uint64_t sizes[] = {
        10, 5000, (1u << 20) - 1, (1u << 20) + 5, (3u << 20) + 77, (1u << 20) + 9, 6u << 20, 12
    };
    hdx_mem  mem = { 0 };
    uint64_t size = 7;
    uint8_t *p = hdx_mem_get(&mem, size);
    memset(p, 0xee, size);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        p = hdx_mem_resize(&mem, p, size, sizes[i]);
        cr_assert(ne(ptr, p, NULL));
        cr_expect(eq(u8, p[0], 0xee));
        for (uint64_t k = size; k < sizes[i]; k++)
            if (p[k] != 0)
                cr_fatal("byte %llu of %llu is not zero after growing from %llu", (unsigned long long)k,
                         (unsigned long long)sizes[i], (unsigned long long)size);
        size = sizes[i];
        memset(p, 0xee, size);
    }
    hdx_mem_put(&mem, p, size);
    cr_expect(eq(u64, mem.used, 0));
}

Test(mem, gives_zeroed_blocks_from_its_pool_and_never_more_than_the_peak)
{
    hdx_mem  mem = { .keep = true };
    uint64_t state = 7;
    uint8_t *at[12] = { NULL };
    uint64_t size[12] = { 0 };
    for (unsigned step = 0; step < 600; step++) {
        unsigned i = (unsigned)((state = hdx_mix64(state)) % 12);
        uint64_t bytes = (state = hdx_mix64(state)) % (9u << 20);
        if (at[i] == NULL) {
            at[i] = hdx_mem_get(&mem, bytes);
            cr_assert(ne(ptr, at[i], NULL));
            for (uint64_t k = 0; k < bytes; k += k + 1 < bytes ? 1 + k % 61 : 1)
                cr_assert(eq(u8, at[i][k], 0));
            size[i] = bytes;
            memset(at[i], 0xa0 | (int)i, bytes);
        } else if (state % 3 == 0) {
            uint64_t kept = bytes < size[i] ? bytes : size[i];
            at[i] = hdx_mem_resize(&mem, at[i], size[i], bytes);
            cr_assert(ne(ptr, at[i], NULL));
            for (uint64_t k = 0; k < bytes; k += 1 + k % 61)
                cr_assert(eq(u8, at[i][k], k < kept ? 0xa0 | i : 0));
            size[i] = bytes;
            memset(at[i], 0xa0 | (int)i, bytes);
        } else {
            for (uint64_t k = 0; k < size[i]; k += 1 + k % 61)
                cr_assert(eq(u8, at[i][k], 0xa0 | i));
            hdx_mem_put(&mem, at[i], size[i]);
            at[i] = NULL;
        }
    }
    for (unsigned i = 0; i < 12; i++)
        hdx_mem_put(&mem, at[i], at[i] == NULL ? 0 : size[i]);
    cr_expect(eq(u64, mem.used, 0));
    cr_expect(gt(u64, mem.pooled, 0));
    hdx_mem_close(&mem);
}

/*
 * Filled from its end; held is what was reached, in whole huge pages, and first those of the pool. A refusal leaves the
 * rest as it was.
 */
Test(mem, spans_hold_what_was_reached)
{
    const uint64_t page = 2u << 20, n = (5 * page + 12345) / 4;
    hdx_mem        mem = { .keep = true, .limit = 7 * page };
    hdx_span       span;
    hdx_mem_put(&mem, hdx_mem_get(&mem, 2 * page), 2 * page);
    cr_assert(hdx_mem_span(&mem, n, 4, &span) && mem.used == 0 && mem.pooled == 2);
    uint32_t *at = (uint32_t *)(void *)span.at;
    for (uint64_t i = n; i-- > 0;) {
        if (i % 1000 == 999 || i == n - 1)
            cr_assert(hdx_mem_span_reach(&mem, &span, i / 1000 * 4000));
        at[i] = (uint32_t)(i * 7);
        if (i == n - 1)
            cr_expect(mem.used == page && mem.pooled == 1);
    }
    cr_expect(mem.used == 6 * page && mem.pooled == 0 && span.from == 0);
    for (uint64_t i = 0; i < n; i++)
        cr_assert(at[i] == (uint32_t)(i * 7));
    hdx_mem_span_put(&mem, &span);
    cr_expect(mem.used == 0 && mem.pooled == 6 && span.at == NULL);
    hdx_mem_span_put(&mem, &span);

    cr_assert(hdx_mem_span(&mem, 9 * page, 1, &span));
    cr_expect(hdx_mem_span_reach(&mem, &span, 2 * page) && !hdx_mem_span_reach(&mem, &span, 2 * page - 1) &&
              span.from == 2 * page);
    memset(span.at + 2 * page, 0x5a, 7 * page);
    hdx_mem_span_put(&mem, &span);
    cr_assert(hdx_mem_span(&mem, 3, 8, &span) && hdx_mem_span_reach(&mem, &span, 0));
    memset(span.at, 0x5a, 24);
    hdx_mem_span_put(&mem, &span);
    cr_expect(mem.used == 0 && !hdx_mem_span(&mem, UINT64_MAX / 4, 8, &span));
    hdx_mem_close(&mem);
}

/* Waits until others have put so many pages into the pool. */
static void wait_for_pages(hdx_mem *mem, uint64_t pages)
{
    uint64_t there = 0;
    for (unsigned naps = 0; there < pages; wait_nap(&naps, "prepared pages are in the pool")) {
        (void)pthread_mutex_lock(&mem->lock);
        there = mem->pooled;
        (void)pthread_mutex_unlock(&mem->lock);
        cr_assert(there <= pages, "%llu pages of %llu", (unsigned long long)there, (unsigned long long)pages);
    }
}

/* What another thread makes ready is in the pool, zero, and goes with it. */
Test(mem, prepares_pages_for_its_pool)
{
    const uint64_t page = 2u << 20;
    hdx_mem        mem = { .keep = true };
    hdx_mem_prepare(&mem, 9 * page + 1);
    wait_for_pages(&mem, 9);
    uint8_t *at = hdx_mem_get(&mem, 8 * page);
    cr_assert(at != NULL && mem.pooled == 1);
    for (uint64_t i = 0; i < 8 * page; i++)
        cr_assert(at[i] == 0);
    memset(at, 1, 8 * page);
    hdx_mem_put(&mem, at, 8 * page);
    hdx_mem_close(&mem);
    mem = (hdx_mem){ .keep = true };
    hdx_mem_prepare(&mem, 1000 * page); /* closed while it is at it */
    hdx_mem_close(&mem);
    cr_expect(mem.pooled == 0 && mem.pool == NULL);
    mem = (hdx_mem){ .keep = true };
    hdx_mem_want(&mem, 4 * page);
    hdx_mem_prepare(&mem, 2 * page); /* and goes on, */
    wait_for_pages(&mem, 4);
    at = hdx_mem_get(&mem, 3 * page);
    wait_for_pages(&mem, 4);
    hdx_mem_close(&mem); /* until that is over */
    hdx_mem_put(&mem, at, 3 * page);
    cr_expect(mem.used == 0);
    hdx_mem_close(&mem);
}

static void *help_on(void *mem)
{
    hdx_mem_help(mem, true);
    return NULL;
}

/* Who takes page after page finds them there, and no more are made than are wanted. */
Test(mem, is_helped_until_that_is_over)
{
    const uint64_t page = 2u << 20;
    hdx_mem        mem = { .keep = true };
    uint8_t       *at[40];
    pthread_t      helper;
    hdx_mem_help(&mem, true); /* nobody wants anything */
    cr_assert(mem.pooled == 0);
    hdx_mem_want(&mem, 5 * page + 7);
    hdx_mem_help(&mem, false);
    cr_assert(mem.pooled == 5);
    cr_assert(pthread_create(&helper, NULL, help_on, &mem) == 0);
    for (unsigned i = 0; i < 40; i++) {
        at[i] = hdx_mem_get(&mem, page);
        cr_assert(at[i] != NULL);
        for (uint64_t k = 0; k < page; k += 509)
            cr_assert(at[i][k] == 0);
        memset(at[i], 0xee, page);
        if (i % 8 == 0)
            wait_for_pages(&mem, 5);
    }
    hdx_mem_want(&mem, 0);
    cr_assert(pthread_join(helper, NULL) == 0);
    cr_expect(mem.pooled <= 5 && mem.used == 40 * page);
    for (unsigned i = 0; i < 40; i++)
        hdx_mem_put(&mem, at[i], page);
    hdx_mem_close(&mem);
    cr_expect(mem.used == 0);
    mem = (hdx_mem){ 0 };
    hdx_mem_want(&mem, page); /* where nothing is kept */
    hdx_mem_help(&mem, true);
    cr_expect(mem.pooled == 0);
}

Test(arena, gives_aligned_zeroed_things_and_frees_all)
{
    hdx_mem   mem = { 0 };
    hdx_arena arena = hdx_arena_of(&mem);
    for (unsigned i = 0; i < 5000; i++) {
        uint8_t *p = hdx_arena_get(&arena, i % 700);
        cr_assert(ne(ptr, p, NULL));
        cr_assert(eq(u64, (uint64_t)(uintptr_t)p % 16, 0));
        for (unsigned k = 0; k < i % 700; k++)
            cr_assert(eq(u8, p[k], 0));
        memset(p, 0xff, i % 700);
    }
    cr_expect(ne(ptr, hdx_arena_get(&arena, 3u << 20), NULL));
    cr_expect(eq(str, hdx_arena_copy(&arena, "page", 4), "page"));
    cr_expect(eq(ptr, hdx_arena_get(&arena, UINT64_MAX - 3), NULL));
    hdx_arena_free(&arena);
    cr_expect(eq(u64, mem.used, 0));
}

/* Nothing has a place of its own too; a thing too large for a block leaves the open one open. */
Test(arena, gives_every_thing_its_own_place)
{
    unsigned  requests = 0;
    hdx_mem   mem = { .refuse = count_request, .context = &requests };
    hdx_arena arena = hdx_arena_of(&mem);
    uint8_t  *a = hdx_arena_get(&arena, 0), *b = hdx_arena_get(&arena, 0), *c = hdx_arena_get(&arena, 1),
            *d = hdx_arena_get(&arena, 16), *e = hdx_arena_get(&arena, 17), *f = hdx_arena_get(&arena, 1);
    cr_assert(a != NULL && b == a + 16 && c == b + 16 && d == c + 16 && e == d + 16 && f == e + 32);
    uint8_t *large = hdx_arena_get(&arena, 1u << 20);
    cr_assert(large != NULL && hdx_arena_get(&arena, 1) == f + 16 && requests == 2);
    memset(large, 1, 1u << 20);
    for (unsigned i = 0; i < 65536 / 16; i++) /* a block and a little */
        cr_assert(hdx_arena_get(&arena, 16) != NULL);
    cr_expect(eq(uint, requests, 3));
    char *copy = hdx_arena_copy(&arena, NULL, 0);
    cr_expect(copy != NULL && copy[0] == '\0');
    cr_expect(hdx_arena_copy(&arena, "x", UINT64_MAX) == NULL);
    mem.refuse = refuse_all;
    cr_expect(hdx_arena_get(&arena, 1u << 20) == NULL);
    hdx_arena_free(&arena);
    cr_expect(mem.used == 0 && arena.last == NULL);
}

Test(arena, that_joined_another_holds_what_both_held)
{
    hdx_mem   mem = { 0 };
    hdx_arena to = hdx_arena_of(&mem), from = hdx_arena_of(&mem), empty = hdx_arena_of(&mem);
    char     *texts[2000];
    for (unsigned i = 0; i < 2000; i++) {
        char text[200];
        int  len = snprintf(text, sizeof text, "%0150u", i);
        texts[i] = hdx_arena_copy(i % 3 == 0 ? &to : &from, text, (uint64_t)len);
    }
    hdx_arena_join(&to, &from);
    hdx_arena_join(&to, &empty);
    hdx_arena_join(&empty, &to);
    hdx_arena_free(&from);
    hdx_arena_free(&to);
    for (unsigned i = 0; i < 2000; i++)
        cr_assert(eq(u64, strtoull(texts[i], NULL, 10), i));
    cr_expect(ne(ptr, hdx_arena_get(&empty, 10), NULL));
    hdx_arena_free(&empty);
    cr_expect(eq(u64, mem.used, 0));
}

typedef struct thing {
    uint32_t first;
    uint64_t key;
    uint32_t second, place;
} thing;

static int by_key(const void *a, const void *b)
{
    const thing *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

static void check_sorted(hdx_mem *mem, uint64_t count, uint64_t keys, uint64_t factor, bool falling)
{
    thing   *things = calloc(count + 1, sizeof *things);
    uint8_t *seen = calloc(count + 1, 1);
    uint64_t next = count * 77 + keys;
    for (uint32_t i = 0; i < count; i++) {
        next = hdx_mix64(next);
        things[i] = (thing){ ~i, (falling ? count - i : next % keys) * factor, (uint32_t)(next >> 40), i };
    }
    hdx_sort(mem, things, count, sizeof *things, offsetof(thing, key), by_key);
    for (uint64_t i = 0; i < count; i++) {
        cr_assert(things[i].place < count && seen[things[i].place]++ == 0 && things[i].first == ~things[i].place,
                  "an element of its own at %llu", (unsigned long long)i);
        cr_assert(i == 0 || by_key(&things[i - 1], &things[i]) <= 0, "order at %llu of %llu", (unsigned long long)i,
                  (unsigned long long)count);
    }
    cr_assert(eq(u64, mem->used, 0));
    free(things);
    free(seen);
}

Test(sort, orders_pairs_by_the_first_then_the_second)
{
    static const uint64_t counts[] = { 0, 1, 2, 63, 64, 65, 1000, 5000 },
                          factors[] = { 1, 1ull << 11, 0x100010001ull, 1ull << 48 };
    for (unsigned refused = 0; refused < 2; refused++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t f = 0; f < sizeof factors / sizeof *factors; f++)
                for (uint64_t keys = 1; keys <= 1000; keys *= 10) {
                    hdx_mem   mem = { .refuse = refused ? refuse_all : NULL };
                    hdx_pair *pairs = calloc(counts[c] + 1, sizeof *pairs);
                    uint64_t  next = keys + f, sums[2] = { 0 };
                    for (uint64_t i = 0; i < counts[c]; i++) {
                        next = hdx_mix64(next);
                        pairs[i] = (hdx_pair){ next % keys * factors[f], (next >> 32) % 1000 * factors[f] };
                        sums[0] += pairs[i].first * 3 + pairs[i].second;
                        sums[1] += hdx_mix64(pairs[i].first ^ hdx_mix64(pairs[i].second));
                    }
                    hdx_sort_pairs(&mem, pairs, counts[c]);
                    for (uint64_t i = 0; i < counts[c]; i++) {
                        sums[0] -= pairs[i].first * 3 + pairs[i].second;
                        sums[1] -= hdx_mix64(pairs[i].first ^ hdx_mix64(pairs[i].second));
                        cr_assert(i == 0 || pairs[i - 1].first < pairs[i].first ||
                                  (pairs[i - 1].first == pairs[i].first && pairs[i - 1].second <= pairs[i].second));
                    }
                    cr_assert(sums[0] == 0 && sums[1] == 0, "the same pairs");
                    cr_assert(eq(u64, mem.used, 0));
                    free(pairs);
                }
}

/* What is equal by the first number is put in order by the second, whether that rose, fell or did neither before. */
Test(sort, orders_pairs_whose_second_numbers_rise_or_fall)
{
    enum { N = 1000 };
    for (unsigned falling = 0; falling < 2; falling++) {
        hdx_mem  mem = { .refuse = NULL };
        hdx_pair pairs[N];
        for (uint64_t i = 0; i < N; i++)
            pairs[i] = (hdx_pair){ i % 7, falling ? N - i : i };
        hdx_sort_pairs(&mem, pairs, N);
        for (uint64_t i = 1; i < N; i++)
            cr_assert(pairs[i - 1].first < pairs[i].first ||
                      (pairs[i - 1].first == pairs[i].first && pairs[i - 1].second < pairs[i].second));
    }
}

/* What is in order already costs no memory, and stays. */
Test(sort, of_what_is_sorted_asks_for_nothing)
{
    enum { N = 500 };
    unsigned requests = 0;
    hdx_mem  mem = { .refuse = count_request, .context = &requests };
    hdx_pair pairs[N];
    thing    things[N];
    for (uint32_t i = 0; i < N; i++) {
        pairs[i] = (hdx_pair){ i / 3, i };
        things[i] = (thing){ i, i / 2, i / 2, i };
    }
    hdx_sort_pairs(&mem, pairs, N);
    hdx_sort(&mem, things, N, sizeof *things, offsetof(thing, key), by_key);
    cr_expect(requests == 0);
    for (uint32_t i = 0; i < N; i++)
        cr_assert(pairs[i].first == i / 3 && pairs[i].second == i && things[i].place == i);
    pairs[N - 1].second = 0;
    things[N - 1].key = 0;
    hdx_sort_pairs(&mem, pairs, N);
    hdx_sort(&mem, things, N, sizeof *things, offsetof(thing, key), by_key);
    cr_expect(requests == 2);
}

Test(sort, orders_by_the_number_then_by_comparing)
{
    static const uint64_t counts[] = { 0, 1, 2, 63, 64, 65, 1000, 5000 },
                          factors[] = { 1, 1ull << 11, 0x100010001ull, 1ull << 48 };
    for (unsigned refused = 0; refused < 2; refused++) {
        hdx_mem mem = { .refuse = refused ? refuse_all : NULL };
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t f = 0; f < sizeof factors / sizeof *factors; f++)
                for (uint64_t keys = 1; keys < 60000; keys *= 40)
                    for (unsigned falling = 0; falling < 2; falling++)
                        check_sorted(&mem, counts[c], keys, factors[f], falling);
    }
}

Test(map, holds_what_was_put_whatever_the_key)
{
    hdx_mem mem = { 0 };
    hdx_map map = hdx_map_of(&mem);
    bool    fresh;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t *v = hdx_map_put(&map, i * 0x10001, &fresh);
        cr_assert(fresh && *v == 0);
        *v = i;
    }
    *hdx_map_put(&map, map.empty, &fresh) = 77;
    cr_expect(fresh);
    for (uint64_t i = 0; i < 20000; i++)
        cr_assert(eq(u64, *hdx_map_get(&map, i * 0x10001), i));
    cr_expect(eq(u64, *hdx_map_get(&map, map.empty), 77));
    cr_expect(eq(ptr, (void *)(uintptr_t)hdx_map_get(&map, 5), NULL));
    (void)hdx_map_put(&map, 0x10001, &fresh);
    cr_expect(not(fresh));
    hdx_map_free(&map);
    cr_expect(eq(u64, mem.used, 0));
}

/* Multiples of the inverse of the first multiplier: all of them are meant for slot 0. */
Test(map, keys_chosen_for_one_slot_are_spread)
{
    uint64_t inverse = 0x9e3779b97f4a7c15ull, far = 0;
    hdx_map  map = hdx_map_of(NULL);
    for (unsigned i = 0; i < 6; i++)
        inverse *= 2 - 0x9e3779b97f4a7c15ull * inverse;
    for (uint64_t i = 1; i <= 50000; i++)
        *hdx_map_put(&map, i * inverse, NULL) = i;
    for (uint64_t i = 1; i <= 50000; i++) {
        const uint64_t *value = hdx_map_get(&map, i * inverse), home = i * inverse * map.multiplier >> map.shift;
        cr_assert(value != NULL && *value == i);
        const uint64_t place = (uint64_t)((const hdx_map_slot *)(const void *)(value - 1) - map.slots),
                       steps = (place - home) & (map.capacity - 1);
        far = steps > far ? steps : far;
    }
    cr_expect(far < 2000, "%llu steps", (unsigned long long)far);
    hdx_map_free(&map);
}

Test(map, that_got_no_memory_is_as_it_was)
{
    hdx_mem   mem = { 0 };
    hdx_map   map = hdx_map_of(&mem);
    bool      fresh;
    uint64_t *value;
    for (uint64_t n = 1; (value = hdx_map_put(&map, n, &fresh)) != NULL; n++) {
        *value = n * 5;
        mem.refuse = n < 50 ? NULL : refuse_all;
    }
    cr_expect(map.count == 80 && map.capacity == 128);
    for (uint64_t i = 1; i < 50; i++)
        cr_assert(i * 5 == *hdx_map_get(&map, i));
    *hdx_map_put(&map, map.empty, &fresh) = 3; /* the key that marks free slots takes no room */
    cr_expect(fresh && *hdx_map_put(&map, map.empty, &fresh) == 3 && fresh == false);
    hdx_map_free(&map);
    cr_expect(mem.used == 0 && map.capacity == 0 && map.has_own == false);
    cr_expect(hdx_map_get(&map, 1) == NULL && hdx_map_get(&map, map.empty) == NULL);
}

/* Five slots of eight are the most, and room is asked for once. */
Test(map, makes_room_for_what_is_said_and_no_more)
{
    static const struct {
        uint64_t there, more, capacity;
    } cases[] = {
        { 0, 0, 64 },  { 0, 1, 64 },   { 0, 40, 64 }, { 0, 41, 128 }, { 0, 80, 128 },  { 0, 81, 256 },
        { 1, 39, 64 }, { 1, 40, 128 }, { 40, 0, 64 }, { 40, 1, 128 }, { 41, 39, 128 }, { 41, 40, 256 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_mem mem = { 0 };
        hdx_map map = hdx_map_of(&mem);
        for (uint64_t n = 0; n < cases[i].there; n++)
            *hdx_map_put(&map, n, NULL) = n;
        cr_assert(hdx_map_reserve(&map, cases[i].more) && map.capacity == cases[i].capacity, "case %zu: %llu", i,
                  (unsigned long long)map.capacity);
        for (uint64_t n = 0; n < cases[i].more; n++)
            *hdx_map_put(&map, 1000 + n, NULL) = n;
        cr_expect(map.capacity == cases[i].capacity, "case %zu", i);
        cr_expect(mem.used == map.capacity * sizeof(hdx_map_slot) && map.count == cases[i].there + cases[i].more);
        hdx_map_free(&map);
        cr_expect(mem.used == 0 && map.count == 0 && !map.moved && map.multiplier == 0);
    }
}

/* Where keys are aimed at one slot, the secret is taken once for each size, and kept when the map grows. */
Test(map, aimed_at_takes_an_odd_secret_once_a_size)
{
    uint64_t inverse = 0x9e3779b97f4a7c15ull, multiplier = 0x9e3779b97f4a7c15ull, capacity = 0, moves = 0, moved_at = 0;
    hdx_mem  mem = { 0 };
    hdx_map  map = hdx_map_of(&mem);
    bool     fresh;
    for (unsigned i = 0; i < 6; i++)
        inverse *= 2 - 0x9e3779b97f4a7c15ull * inverse;
    for (uint64_t i = 1; i <= 3000; i++) {
        cr_assert(hdx_map_put(&map, i * inverse, &fresh) != NULL && fresh);
        if (map.multiplier != multiplier) {
            cr_expect(map.capacity == capacity && map.moved, "moved, not grown");
            cr_expect(capacity != moved_at, "twice in one size");
            moved_at = capacity;
            cr_expect(map.multiplier % 2 == 1 && i > 512, "at key %llu", (unsigned long long)i);
            multiplier = map.multiplier;
            moves++;
        }
        capacity = map.capacity;
    }
    cr_expect(moves >= 1, "never"); /* seldom a secret is bad for these keys, too, and the next size takes another */
    hdx_map_free(&map);

    map = hdx_map_of(&mem); /* no memory for that: as it was, but for the try */
    cr_assert(hdx_map_reserve(&map, 2000));
    uint64_t i = 1;
    mem.refuse = refuse_all;
    while (hdx_map_put(&map, i * inverse, &fresh) != NULL)
        i++;
    cr_expect(i == 514 && map.count == 513, "at key %llu", (unsigned long long)i);
    for (uint64_t k = 1; k < i; k++)
        cr_assert(hdx_map_get(&map, k * inverse) != NULL);
    hdx_map_free(&map);
    cr_expect(mem.used == 0);
}

/* Of numbers in place of memory: nothing is put together from a part of a word. */
Test(hash, of_bytes_is_what_its_words_make)
{
    const uint8_t  bytes[17] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 };
    const uint64_t one = 0x0807060504030201ull, two = 0x100f0e0d0c0b0a09ull;
    cr_expect(hdx_hash_bytes(5, bytes, 0) == hdx_mix64(hdx_mix64(5)));
    cr_expect(hdx_hash_bytes(5, bytes, 3) == hdx_mix64(hdx_mix64(5 ^ 3) ^ 0x030201));
    cr_expect(hdx_hash_bytes(5, bytes, 8) == hdx_mix64(hdx_mix64(hdx_mix64(5 ^ 8) ^ one)));
    cr_expect(hdx_hash_bytes(5, bytes, 17) == hdx_mix64(hdx_mix64(hdx_mix64(hdx_mix64(5 ^ 17) ^ one) ^ two) ^ 17));
}

/* Each byte, each length and the seed make another hash. */
Test(hash, of_bytes_tells_contents_apart)
{
    hdx_map map = hdx_map_of(NULL);
    bool    fresh;
    uint8_t bytes[64] = { 0 };
    for (size_t len = 0; len <= 40; len++) {
        (void)hdx_map_put(&map, hdx_hash_bytes(0, bytes, len), &fresh);
        cr_assert(fresh, "%zu zeros", len);
        (void)hdx_map_put(&map, hdx_hash_bytes(1ull << 40, bytes, len), &fresh);
        cr_assert(fresh, "%zu zeros, another seed", len);
        const uint64_t whole = hdx_hash_bytes(0, bytes, len);
        bytes[len] = 1;
        cr_expect(hdx_hash_bytes(0, bytes, len) == whole, "what lies behind is not looked at: %zu", len);
        bytes[len] = 0;
        for (size_t at = 0; at < len; at++)
            for (unsigned bit = 0; bit < 8; bit += 7) {
                bytes[at] = (uint8_t)(1u << bit);
                (void)hdx_map_put(&map, hdx_hash_bytes(0, bytes, len), &fresh);
                cr_assert(fresh, "bit %u of byte %zu of %zu", bit, at, len);
                bytes[at] = 0;
            }
    }
    hdx_map_free(&map);
}

Test(map, reserved_does_not_grow)
{
    hdx_mem mem = { 0 };
    hdx_map map = hdx_map_of(&mem);
    *hdx_map_put(&map, 3, NULL) = 9;
    cr_assert(hdx_map_reserve(&map, 1000));
    const uint64_t peak = mem.peak, used = mem.used;
    for (uint64_t i = 10; i < 1010; i++)
        *hdx_map_put(&map, i, NULL) = i;
    cr_expect(eq(u64, mem.peak, peak));
    cr_expect(eq(u64, mem.used, used));
    cr_expect(eq(u64, *hdx_map_get(&map, 3), 9));
    cr_expect(eq(u64, *hdx_map_get(&map, 1009), 1009));
    mem.refuse = refuse_all;
    cr_expect(not(hdx_map_reserve(&map, 100000)));
    cr_expect(not(hdx_map_reserve(&map, UINT64_MAX)));
    cr_expect(eq(u64, *hdx_map_get(&map, 3), 9));
    hdx_map_free(&map);
}

Test(text, is_ordered_by_its_bytes_and_after_its_beginnings)
{
    static const hdx_text rising[] = { { "", 0 },   { "\0", 1 }, { "a", 1 },   { "a\0", 2 },
                                       { "ab", 2 }, { "b", 1 },  { "\xc3", 1 } };
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 7; k++) {
            const int order = hdx_text_order(rising[i], rising[k]);
            cr_expect(eq(int, (order > 0) - (order < 0), (i > k) - (i < k)), "%d, %d", i, k);
        }
    cr_expect(eq(int, hdx_text_order((hdx_text){ NULL, 0 }, rising[0]), 0));
}

Test(text, remembers_that_memory_was_refused)
{
    hdx_mem    mem = { 0 };
    hdx_buffer b = hdx_buffer_of(&mem);
    hdx_buffer_format(&b, "%s-%d", "page", 7);
    for (int i = 0; i < 100; i++)
        hdx_buffer_text(&b, "0123456789");
    cr_expect(not(b.failed));
    cr_expect(eq(u64, b.len, 1006));
    mem.refuse = refuse_all;
    for (int i = 0; i < 1000; i++)
        hdx_buffer_text(&b, "0123456789");
    cr_expect(b.failed);
    cr_expect(eq(int, strncmp(b.at, "page-70123", 10), 0));
    hdx_buffer_free(&b);
    cr_expect(eq(u64, mem.used, 0));
}

static void count_up(void *context, unsigned n) { atomic_fetch_add((_Atomic uint64_t *)context, 1ull << (4 * n)); }

Test(workers, runs_every_number_once)
{
    _Atomic uint64_t seen = 0;
    hdx_workers_run(8, count_up, &seen);
    cr_expect(eq(u64, seen, 0x11111111ull));
}

Test(workers, are_as_many_as_this_process_may_run_on)
{
    cpu_set_t all, one;
    cr_assert(eq(int, sched_getaffinity(0, sizeof all, &all), 0));
    const unsigned processors = (unsigned)CPU_COUNT(&all);
    cr_expect(eq(uint, hdx_workers_default(), processors < HDX_WORKERS_MAX ? processors : HDX_WORKERS_MAX));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    cr_assert(eq(int, sched_setaffinity(0, sizeof one, &one), 0)); /* of this process: each test has its own */
    cr_expect(eq(uint, hdx_workers_default(), 1));
}

/* A name of a dump or a rule of a command line may hold ends of lines. */
Test(error, is_one_line_whatever_it_quotes)
{
    hdx_error err;
    (void)hdx_fail(&err, HDX_USAGE, "a", HDX_NOWHERE, "no class '%s'", "a\nb\r\nc\td");
    cr_expect(eq(str, err.message, "no class 'a b  c\td'"));
    (void)hdx_hint(&err, HDX_USAGE, "such as: %s", "x\ny");
    cr_expect(eq(str, err.hint, "such as: x y"));
}

Test(error, keeps_words_within_their_room)
{
    hdx_error err;
    char      path[900];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    cr_expect(eq(int, hdx_fail(&err, HDX_BAD_DUMP, path, 5, "%s", path), HDX_BAD_DUMP));
    cr_expect(eq(sz, strlen(err.message), sizeof err.message - 1));
    cr_expect(eq(u64, err.offset, 5));
    cr_expect(eq(str, (char *)(uintptr_t)hdx_code_name(HDX_DAMAGED), "damaged"));
    cr_expect(eq(int, hdx_fail(NULL, HDX_IO, "x", 0, "no words wanted"), HDX_IO));
    cr_expect(eq(int, hdx_hint(NULL, HDX_IO, "no words wanted"), HDX_IO));
    cr_expect(eq(int, hdx_no_memory(&err, "rows", 0), HDX_LIMIT));
    cr_expect(eq(str, err.message, "no memory for rows"));
    cr_expect(eq(int, hdx_hint(&err, HDX_LIMIT, "try %d", 5), HDX_LIMIT));
    cr_expect(eq(str, err.hint, "try 5"));
    cr_expect(eq(int, hdx_no_memory(&err, "rows", 77), HDX_LIMIT));
    cr_expect(eq(str, err.message, "no memory for rows (77 bytes)"));
    cr_expect(eq(str, err.hint, ""), "that of the error before is gone");
    cr_expect(eq(int, hdx_fail(&err, HDX_IO, NULL, 1, "x"), HDX_IO));
    cr_expect(eq(str, err.where, ""));
}

Test(error, has_names_for_codes_and_damage)
{
    static const char *const codes[] = { "ok", "usage", "bad_dump",  "not_found", "damaged", "limit",
                                         "io", "busy",  "cancelled", "unknown",   "unknown" };
    static const char *const damage[] = { "truncated", "length", "unknown_tag", "layout", "duplicate", "missing",
                                          "cycle",     "count",  "garbage",     "gzip",   "crc",       "unknown" };
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++)
        cr_expect(strcmp(hdx_code_name((hdx_code)i), codes[i]) == 0, "%u", i);
    for (unsigned i = 0; i < sizeof damage / sizeof *damage; i++)
        cr_expect(strcmp(hdx_damage_name((hdx_damage_kind)i), damage[i]) == 0, "%u", i);
}

Test(io, writes_reads_maps_and_removes)
{
    hdx_io        *io = hdx_io_system();
    char           folder[TEST_FOLDER], path[64], gone[64];
    char           bytes[8] = "";
    const uint8_t *map;
    struct stat    st;
    test_folder_make(folder, "base");
    (void)snprintf(path, sizeof path, "%s/a", folder);
    (void)snprintf(gone, sizeof gone, "%s/b", folder);
    int fd = io->create(io, path);
    cr_assert(ge(int, fd, 0));
    cr_expect(eq(int, io->write(io, fd, "01234", 5), 0));
    cr_expect(eq(int, io->write_at(io, fd, "xy", 2, 1), 0));
    cr_expect(eq(i64, io->read_at(io, fd, bytes, 8, 2), 3));
    cr_expect(eq(str, bytes, "y34"));
    cr_assert(eq(int, io->map(io, fd, 5, &map), 0));
    cr_expect(eq(int, memcmp(map, "0xy34", 5), 0));
    io->unmap(io, map, 5);
    cr_expect(eq(int, io->sync(io, fd), 0));
    cr_expect(eq(int, io->close(io, fd), 0));
    cr_expect(eq(int, io->open(io, gone), -ENOENT));
    cr_expect(eq(int, io->rename(io, path, gone), 0));
    cr_expect(eq(int, io->remove(io, folder), -ENOTEMPTY));
    cr_expect(eq(int, io->remove(io, gone), 0));
    cr_expect(eq(int, io->remove(io, folder), 0));
    cr_expect(eq(int, io->stat(io, folder, &st), -ENOENT));
}

Test(arena, emptied_again_and_again_it_costs_one_block_and_gives_zeroes)
{
    unsigned  requests = 0;
    hdx_mem   mem = { .refuse = count_request, .context = &requests };
    hdx_arena a = hdx_arena_of(&mem);
    hdx_arena_empty(&a);
    for (unsigned i = 0; i < 1000; i++) {
        uint8_t *p = hdx_arena_get(&a, 100);
        for (unsigned k = 0; k < 100; k++)
            cr_assert(eq(u8, p[k], 0));
        memset(p, 0xff, 100);
        hdx_arena_empty(&a);
    }
    cr_expect(eq(uint, requests, 1));
    cr_assert(hdx_arena_get(&a, 1 << 20) != NULL);
    hdx_arena_empty(&a);
    cr_expect(lt(u64, atomic_load(&mem.used), (uint64_t)1 << 17)); /* the large one is given back */
    hdx_arena_free(&a);
    cr_expect(eq(u64, atomic_load(&mem.used), 0));
}
