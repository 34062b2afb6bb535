/*
 * test_random.c - bytes at any place of a compressed dump against the plain bytes; slices that change; many threads.
 */
#include "support/gzip_maker.h"
#include "support/wait.h"
#include "source/inner.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

enum { SINGLE, SPARSE, JDK, BGZF, STORED, GIANT, LITERALS, ZLIB, SMALL_MEMBERS, KINDS };
static const char *const names[] = { "single", "sparse",   "jdk",  "bgzf",         "stored",
                                     "giant",  "literals", "zlib", "small members" };

static void make(int kind, gm_bytes *plain, gm_bytes *file)
{
    const size_t size = 4u << 20;
    gm_bytes     body = { 0 };
    gm_bits      b = { &body, 0, 0 };
    uint64_t     seed = 99;
    switch (kind) {
    case SPARSE: /* dynamic blocks of several MiB: 32 767 symbols that are mostly matches of 258 */
        for (size_t i = 0; i < 2 * size; i++)
            gm_byte(plain, gm_random(&seed) % 400 == 0 ? (unsigned)(gm_random(&seed) & 7) : 0);
        gm_member_put(file, plain->at, plain->len, &(gm_member){ .mem_level = 9, .level = 6 });
        return;
    case GIANT: gm_giant(&body, plain, size, 4); break;
    case LITERALS:
        gm_data(plain, size, 5);
        gm_fixed_begin(&b, true);
        for (size_t i = 0; i < plain->len; i++)
            gm_literal(&b, plain->at[i]);
        gm_fixed_end(&b);
        gm_bits_end(&b);
        break;
    default: gm_data(plain, size, 6); break;
    }
    switch (kind) {
    case JDK: gm_jdk_put(file, plain, 1u << 20); break;
    case BGZF: gm_bgzf_put(file, plain); break;
    case STORED: gm_member_put(file, plain->at, plain->len, &(gm_member){ .stored = true }); break;
    case ZLIB: gm_zlib_put(file, plain->at, plain->len, 6); break;
    case SMALL_MEMBERS: gm_jdk_put(file, plain, 2000); break;
    default:
        gm_member_put(file, plain->at, plain->len, &(gm_member){ .body = body.len > 0 ? &body : NULL, .level = 1 });
        break;
    }
    gm_free(&body);
}

static hdx_source *opened(gm_file *door)
{
    hdx_source *source;
    hdx_error   err = { 0 };
    cr_assert(eq(int, hdx_source_open_io(&door->io, "app", NULL, &source, &err), HDX_OK), "%s", err.message);
    return source;
}

static void read_to_end(hdx_source *source)
{
    static uint8_t part[1u << 20];
    hdx_stream    *stream;
    size_t         got;
    cr_assert(eq(int, hdx_stream_open(source, 0, &stream, NULL), HDX_OK));
    do
        cr_assert(eq(int, hdx_stream_read(stream, part, sizeof part, &got, NULL), HDX_OK));
    while (got > 0);
    hdx_stream_close(stream);
}

/* A read at a random place; a few cross slices, a few the end. */
static void one_read(hdx_source *source, const gm_bytes *plain, uint64_t *seed)
{
    static _Thread_local uint8_t bytes[200000];
    hdx_error                    err = { 0 };
    uint64_t                     r = gm_random(seed), at = gm_random(seed) % (plain->len + 10);
    size_t                       want = r % 50 == 0 ? sizeof bytes : r % 5000, got;
    size_t                       right = at >= plain->len ? 0 : plain->len - at < want ? plain->len - at : want;
    cr_assert(eq(int, hdx_source_read_at(source, at, bytes, want, &got, &err), HDX_OK), "%s", err.message);
    cr_assert(eq(sz, got, right));
    cr_assert(got == 0 || memcmp(bytes, plain->at + at, got) == 0, "at %llu", (unsigned long long)at);
}

Test(random, two_thousand_reads_of_every_kind_are_right)
{
    for (int kind = 0; kind < KINDS; kind++) {
        gm_bytes plain = { 0 }, file = { 0 };
        uint64_t seed = 1000 + (uint64_t)kind;
        make(kind, &plain, &file);
        cr_log_info("%s: seed %llu", names[kind], (unsigned long long)seed);
        gm_file     door = gm_file_of(&file);
        hdx_source *source = opened(&door);
        for (int i = 0; i < 1000; i++) /* points are found by the reads themselves */
            one_read(source, &plain, &seed);
        read_to_end(source);
        for (int i = 0; i < 1000; i++) {
            if (i % 50 == 0) { /* a source that has points and no slices: cold reads */
                hdx_cache_free(source->cache);
                source->cache = hdx_cache_new(source);
            }
            one_read(source, &plain, &seed);
        }
        const hdx_points *p = &source->points;
        cr_expect(p->end_known && p->end == plain.len);
        for (uint64_t i = 0; i < p->count; i++) {
            uint64_t end = i + 1 < p->count ? p->list[i + 1].out : p->end;
            cr_expect(end - p->list[i].out <= 1u << 20, "%s: slice %llu has %llu bytes", names[kind],
                      (unsigned long long)i, (unsigned long long)(end - p->list[i].out));
            cr_expect(p->list[i].slice_known, "%s: slice %llu", names[kind], (unsigned long long)i);
            cr_expect(eq(u32, p->list[i].slice_crc,
                         (uint32_t)crc32(0, plain.at + p->list[i].out, (uInt)(end - p->list[i].out))));
        }
        if (kind == JDK || kind == BGZF || kind == SMALL_MEMBERS)
            cr_expect(eq(u64, p->bytes, 0), "%s: windows at starts of members", names[kind]);
        uint64_t inside = 0;
        for (uint64_t i = 0; i < p->count; i++)
            inside += p->list[i].kind == HDX_POINT_INSIDE;
        bool giant = kind == GIANT || kind == LITERALS || kind == SPARSE;
        cr_expect(eq(int, inside > 2, giant), "%s: %llu points inside blocks", names[kind], (unsigned long long)inside);
        hdx_source_close(source);
        gm_free(&plain);
        gm_free(&file);
    }
}

Test(random, plain_files_too)
{
    gm_bytes plain = { 0 };
    uint64_t seed = 3;
    gm_data(&plain, 3u << 20, 6);
    gm_file     door = gm_file_of(&plain);
    hdx_source *source = opened(&door);
    for (int i = 0; i < 500; i++)
        one_read(source, &plain, &seed);
    hdx_source_close(source);
    gm_free(&plain);
}

Test(random, fewer_points_when_their_memory_is_used_up)
{
    gm_bytes plain = { 0 }, file = { 0 };
    uint64_t seed = 8;
    gm_data(&plain, 12u << 20, 6);
    gm_member_put(&file, plain.at, plain.len, &(gm_member){ .level = 1 });
    gm_file     door = gm_file_of(&file);
    hdx_source *source = opened(&door);
    source->points.spacing = 48u << 10;
    source->points.bytes_max = 400000;
    for (int i = 0; i < 200; i++)
        one_read(source, &plain, &seed);
    read_to_end(source);
    cr_expect(source->points.bytes <= 400000 + HDX_WINDOW);
    cr_expect(source->points.spacing > 48u << 10);
    cr_expect(source->points.count > 3);
    for (int i = 0; i < 300; i++)
        one_read(source, &plain, &seed);
    read_to_end(source); /* the sums of merged slices hold */
    hdx_source_close(source);
    gm_free(&plain);
    gm_free(&file);
}

Test(random, a_file_that_changed_is_found_out)
{
    for (int kind = 0; kind < 3; kind++) {
        static const int kinds[] = { JDK, STORED, SINGLE };
        gm_bytes         plain = { 0 }, file = { 0 };
        hdx_error        err = { 0 };
        uint8_t          bytes[64];
        size_t           got;
        make(kinds[kind], &plain, &file);
        gm_file     door = gm_file_of(&file);
        hdx_source *source = opened(&door);
        read_to_end(source);
        file.at[file.len / 2] ^= 0x10;
        hdx_code code = HDX_OK;
        for (uint64_t at = 0; code == HDX_OK && at < plain.len; at += 100000) {
            code = hdx_source_read_at(source, at, bytes, sizeof bytes, &got, &err);
            cr_assert(code != HDX_OK || memcmp(bytes, plain.at + at, got) == 0, "%s gave wrong bytes",
                      names[kinds[kind]]);
        }
        cr_expect(eq(int, code, HDX_BAD_DUMP), "%s", names[kinds[kind]]);
        cr_expect(strstr(err.message, "the dump changed") != NULL, "%s", err.message);
        cr_expect(eq(int, hdx_source_read_at(source, 0, bytes, sizeof bytes, &got, &err),
                     HDX_OK)); /* the rest still is good */
        hdx_source_close(source);
        gm_free(&plain);
        gm_free(&file);
    }
}

Test(random, a_file_that_lost_its_end_is_found_out)
{
    gm_bytes plain = { 0 }, file = { 0 };
    uint8_t  bytes[64];
    size_t   got;
    make(SINGLE, &plain, &file);
    gm_file     door = gm_file_of(&file);
    hdx_source *source = opened(&door);
    read_to_end(source);
    door.len = file.len / 2;
    cr_expect(eq(int, hdx_source_read_at(source, plain.len - 64, bytes, sizeof bytes, &got, NULL), HDX_BAD_DUMP));
    hdx_source_close(source);
    gm_free(&plain);
    gm_free(&file);
}

/*
 * Two decoders pass over the last member: the slower one meets a block where the faster one took its point back, and
 * has summed the slice.
 */
Test(random, a_point_that_was_taken_back_stays_away)
{
    const hdx_pos member = 1u << 20, inside = member + (800u << 10), end = 2u << 20;
    for (int last = 0; last < 2; last++) {
        const uint8_t   window[HDX_WINDOW] = { 0 };
        const hdx_point start = { .out = member, .kind = HDX_POINT_MEMBER, .member_out = member };
        const hdx_point block = {
            .out = inside, .kind = HDX_POINT_BLOCK, .member_out = member, .window_len = HDX_WINDOW
        };
        const hdx_point next = { .out = end, .kind = HDX_POINT_MEMBER, .member_out = end };
        hdx_points      points;
        hdx_pos         from;
        uint32_t        crc;
        bool            added;
        cr_assert(hdx_points_init(&points, NULL, 0));
        cr_assert(hdx_points_add(&points, &start, window, &added, NULL) == HDX_OK && added);
        cr_assert(hdx_points_add(&points, &block, window, &added, NULL) == HDX_OK && added);
        cr_expect(eq(int, hdx_points_passed(&points, member, inside, 0x1111), HDX_PASSED_POINT));
        cr_assert(hdx_points_drop(&points, inside, end, member, &from, &crc) && from == member && crc == 0x1111);
        if (last) {
            cr_assert(hdx_points_end(&points, end));
            cr_expect(eq(int, hdx_points_passed(&points, member, end, 0x2222), HDX_PASSED_POINT));
        }
        cr_expect(hdx_points_add(&points, &block, window, &added, NULL) == HDX_OK && !added, "the slower one");
        cr_expect(eq(int, hdx_points_passed(&points, member, inside, 0x1111), HDX_PASSED_NOTHING));
        if (!last)
            cr_expect(hdx_points_add(&points, &next, window, &added, NULL) == HDX_OK && added,
                      "where the member ended");
        cr_expect(eq(int, hdx_points_passed(&points, member, end, 0x2222), HDX_PASSED_POINT));
        cr_expect(eq(int, hdx_points_passed(&points, member, end, 0x2223), HDX_PASSED_CHANGED));
        hdx_points_free(&points);
    }
}

/* The last slice was summed up to the end: a point inside it would leave a sum that is not its own. */
Test(random, a_point_behind_the_others_is_refused_when_the_end_is_known)
{
    const uint8_t   window[HDX_WINDOW] = { 0 };
    const hdx_point block = { .out = 1u << 20, .kind = HDX_POINT_BLOCK, .window_len = HDX_WINDOW };
    hdx_points      points;
    bool            added;
    cr_assert(hdx_points_init(&points, NULL, 0) && hdx_points_end(&points, 2u << 20));
    cr_expect(eq(int, hdx_points_passed(&points, 0, 2u << 20, 0x2222), HDX_PASSED_POINT));
    cr_expect(hdx_points_add(&points, &block, window, &added, NULL) == HDX_OK && !added);
    cr_expect(eq(int, hdx_points_passed(&points, 0, 2u << 20, 0x2222), HDX_PASSED_POINT));
    hdx_points_free(&points);
}

typedef struct crowd {
    hdx_source     *source;
    const gm_bytes *plain;
} crowd;

static void many_reads(void *context, unsigned n)
{
    crowd   *c = context;
    uint64_t seed = n * 77 + 1;
    if (n == 7)
        read_to_end(c->source);
    else
        for (int i = 0; i < 150; i++)
            one_read(c->source, c->plain, &seed);
}

Test(random, many_threads_may_read)
{
    static const int kinds[] = { SINGLE, JDK, GIANT };
    for (int i = 0; i < 3; i++) {
        gm_bytes plain = { 0 }, file = { 0 };
        make(kinds[i], &plain, &file);
        gm_file     door = gm_file_of(&file);
        hdx_source *source = opened(&door);
        crowd       c = { source, &plain };
        hdx_workers_run(8, many_reads, &c);
        hdx_source_close(source);
        gm_free(&plain);
        gm_free(&file);
    }
}

/* Plain bytes whose reads are counted. */
typedef struct counted {
    gm_file door;
    int64_t (*read_at)(hdx_io *io, int fd, void *to, uint64_t len, uint64_t at);
    unsigned reads;
} counted;

static int64_t count_read(hdx_io *io, int fd, void *to, uint64_t len, uint64_t at)
{
    counted *c = (counted *)(void *)io;
    c->reads++;
    return c->read_at(io, fd, to, len, at);
}

Test(random, reads_near_each_other_come_from_blocks_that_were_fetched_once)
{
    for (int kind = -1; kind < KINDS; kind++) {
        gm_bytes plain = { 0 }, file = { 0 };
        uint8_t  bytes[5000];
        uint64_t seed = 5;
        if (kind < 0)
            gm_data(&plain, 4u << 20, 6);
        else
            make(kind, &plain, &file);
        counted c = { .door = gm_file_of(kind < 0 ? &plain : &file) };
        c.read_at = c.door.io.read_at;
        c.door.io.read_at = count_read;
        hdx_source *source = opened(&c.door);
        hdx_near   *near = hdx_near_begin(source);
        size_t      got;
        cr_assert(ne(ptr, near, NULL));
        cr_expect(eq(ptr, hdx_near_begin(source), NULL), "one for each thread");
        c.reads = 0;
        for (uint64_t at = 0; at < plain.len + 300; at += gm_random(&seed) % 200) {
            const uint64_t from = gm_random(&seed) % 50 == 0 ? gm_random(&seed) % plain.len : at;
            const size_t   want = gm_random(&seed) % 300 == 0 ? sizeof bytes : gm_random(&seed) % 90;
            const size_t   right = from >= plain.len ? 0 : plain.len - from < want ? plain.len - from : want;
            cr_assert(eq(int, hdx_source_read_at(source, from, bytes, want, &got, NULL), HDX_OK));
            cr_assert(got == right && memcmp(bytes, plain.at + from, right) == 0, "kind %d at %llu", kind,
                      (unsigned long long)from);
        }
        if (kind < 0) /* of some 40,000; 64 blocks, as many first reads, and those at random */
            cr_expect(lt(u32, c.reads, 4000), "%u", c.reads);
        hdx_near_end(near);
        hdx_source_close(source);
        gm_free(&plain);
        gm_free(&file);
    }
}

static unsigned    threads_asking; /* how many threads ask for the same slice; 0: none is started yet */
static atomic_uint threads_there;  /* how many of them have begun to */

/* All threads ask before the first is answered: those that do not read wait for it. */
static int64_t count_slow_read(hdx_io *io, int fd, void *to, uint64_t len, uint64_t at)
{
    for (unsigned naps = 0; atomic_load(&threads_there) < threads_asking;)
        wait_nap(&naps, "all threads ask");
    if (threads_asking > 0)
        wait_for_other_threads_to_sleep();
    return count_read(io, fd, to, len, at);
}

static void read_the_first_slice(void *context, unsigned n)
{
    hdx_source *source = context;
    uint8_t     byte;
    size_t      got;
    (void)atomic_fetch_add(&threads_there, 1);
    cr_assert(eq(int, hdx_source_read_at(source, 1000 + n, &byte, 1, &got, NULL), HDX_OK));
    cr_assert(eq(sz, got, 1));
}

Test(random, a_slice_that_several_threads_want_is_inflated_once)
{
    unsigned reads[2];
    gm_bytes plain = { 0 }, file = { 0 };
    make(SINGLE, &plain, &file);
    for (unsigned several = 0; several < 2; several++) {
        counted c = { .door = gm_file_of(&file) };
        c.read_at = c.door.io.read_at;
        c.door.io.read_at = count_slow_read;
        hdx_source *source = opened(&c.door);
        threads_there = 0;
        threads_asking = several ? 4 : 1;
        hdx_workers_run(threads_asking, read_the_first_slice, source);
        threads_asking = 0;
        hdx_source_close(source);
        reads[several] = c.reads;
    }
    cr_expect(eq(u32, reads[1], reads[0]));
    gm_free(&plain);
    gm_free(&file);
}

Test(random, a_block_that_cannot_be_read_hides_no_bytes_and_no_error)
{
    gm_bytes plain = { 0 }, file = { 0 };
    uint8_t  byte;
    size_t   got;
    gm_data(&plain, 3u << 20, 6);
    gm_member_put(&file, plain.at, plain.len, &(gm_member){ .level = 1 });
    file.len /= 2; /* half of it is there */
    gm_file     door = gm_file_of(&file);
    hdx_source *source = opened(&door);
    hdx_near   *near = hdx_near_begin(source);
    uint64_t    there = 0;
    for (unsigned round = 0; round < 2; round++)
        for (uint64_t at = 0; at < plain.len; at += 997)
            if (hdx_source_read_at(source, at, &byte, 1, &got, NULL) == HDX_OK && got == 1) {
                cr_assert(eq(u8, byte, plain.at[at]));
                there = at > there ? at : there;
            }
    hdx_near_end(near);
    uint64_t straight = 0;
    for (uint64_t at = 0; at < plain.len; at += 997)
        if (hdx_source_read_at(source, at, &byte, 1, &got, NULL) == HDX_OK && got == 1)
            straight = at;
    cr_expect(eq(u64, there, straight));
    hdx_source_close(source);
    gm_free(&plain);
    gm_free(&file);
}
