/*
 * test_isal.c - the same file read with ISA-L and by zlib alone: bytes, points, windows, sums, damage and errors are
 * the same. Where heapdex was built without ISA-L both are zlib, and the tests hold trivially.
 */
#include "tests/source/kept.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* All that a source says of a file. */
typedef struct told {
    uint64_t    len;
    uint32_t    crc;
    hdx_code    code;
    hdx_error   err;
    hdx_damage *damage;
    size_t      places;
    bool        whole;
    kept        k;
} told;

static told tell(const gm_bytes *file, bool zlib_alone, unsigned threads, uint64_t max)
{
    static uint8_t    part[99991];
    gm_file           door = gm_file_of(file);
    told              t = { 0 };
    hdx_source       *source;
    hdx_stream       *stream;
    const hdx_damage *entries;
    size_t            got;
    if ((t.code =
             hdx_source_open_io(&door.io, "app", &(hdx_source_options){ .threads = threads, .max_uncompressed = max },
                                &source, &t.err)) != HDX_OK)
        return t;
    source->zlib_alone = zlib_alone;
    cr_assert(eq(int, hdx_stream_open(source, 0, &stream, NULL), HDX_OK));
    do {
        t.code = hdx_stream_read(stream, part, sizeof part, &got, &t.err);
        t.crc = (uint32_t)crc32(t.crc, part, (uInt)got);
        t.len += got;
    } while (t.code == HDX_OK && got > 0);
    hdx_stream_close(stream);
    if (hdx_source_compression(source) != HDX_PLAIN) {
        t.places = hdx_source_damage(source, &entries);
        t.damage = calloc(t.places + 1, sizeof *t.damage);
        for (size_t i = 0; i < t.places; i++)
            t.damage[i] = entries[i];
        if (t.code == HDX_OK)
            t.whole = kept_from(source, &t.k, &t.err) == HDX_OK;
    }
    hdx_source_close(source);
    cr_assert(eq(int, (int)door.open_now, 0));
    return t;
}

static void forget(told *t)
{
    free(t->damage);
    kept_free(&t->k);
}

static void expect_same(const gm_bytes *file, unsigned threads, uint64_t max, const char *name, uint64_t nth)
{
    told a = tell(file, true, threads, max), b = tell(file, false, threads, max);
    cr_expect(a.len == b.len && a.crc == b.crc, "%s %llu: %llu bytes, by zlib %llu", name, (unsigned long long)nth,
              (unsigned long long)b.len, (unsigned long long)a.len);
    cr_expect(a.code == b.code && a.err.offset == b.err.offset && strcmp(a.err.message, b.err.message) == 0,
              "%s %llu: \"%s\", by zlib \"%s\"", name, (unsigned long long)nth, b.err.message, a.err.message);
    cr_expect(eq(sz, a.places, b.places), "%s %llu", name, (unsigned long long)nth);
    for (size_t i = 0; i < a.places && i < b.places; i++)
        cr_expect(memcmp(&a.damage[i], &b.damage[i], sizeof a.damage[i]) == 0,
                  "%s %llu: \"%s\" at %llu, by zlib \"%s\" at %llu", name, (unsigned long long)nth,
                  b.damage[i].expected, (unsigned long long)b.damage[i].offset, a.damage[i].expected,
                  (unsigned long long)a.damage[i].offset);
    cr_expect(a.whole == b.whole && a.k.count == b.k.count && a.k.bytes.len == b.k.bytes.len && a.k.size == b.k.size &&
                  (a.k.count == 0 || memcmp(a.k.at, b.k.at, a.k.count * sizeof *a.k.at) == 0) &&
                  (a.k.bytes.len == 0 || memcmp(a.k.bytes.at, b.k.bytes.at, a.k.bytes.len) == 0),
              "%s %llu: %llu points, by zlib %llu", name, (unsigned long long)nth, (unsigned long long)b.k.count,
              (unsigned long long)a.k.count);
    forget(&a);
    forget(&b);
}

/*
 * Blocks of all lengths: levels, strategies and sizes of hash tables that change where blocks end, sync flushes, stored
 * and giant blocks.
 */
static void make(gm_bytes *file, uint64_t *seed)
{
    gm_bytes       plain = { 0 }, body = { 0 };
    const size_t   size = gm_random(seed) % 3 == 0 ? gm_random(seed) % 5000 : 1 + gm_random(seed) % (3u << 20);
    const uint64_t how = gm_random(seed) % 8;
    gm_member      member = { .level = 1 + (int)(gm_random(seed) % 9), .mem_level = 1 + (int)(gm_random(seed) % 9) };
    if (how == 0) {
        gm_giant(&body, &plain, size + 10, 4);
        member.body = &body;
    } else if (how == 1)
        for (size_t i = 0; i < size; i++)
            gm_byte(&plain, gm_random(seed) % 400 == 0 ? (unsigned)(gm_random(seed) & 7) : 0);
    else
        gm_data(&plain, size, (unsigned)gm_random(seed));
    if (how == 2)
        member.flush_every = 1 + gm_random(seed) % 5000;
    if (how == 3)
        member.strategy = (int)(gm_random(seed) % 5);
    member.stored = how == 4 && gm_random(seed) % 2 == 0;
    if (how == 5)
        gm_zlib_put(file, plain.at, plain.len, member.level);
    else if (how == 6)
        gm_jdk_put(file, &plain, 20000 + gm_random(seed) % (1u << 20));
    else
        gm_member_put(file, plain.at, plain.len, &member);
    gm_free(&plain);
    gm_free(&body);
}

Test(isal, random_streams_read_as_by_zlib_alone)
{
    uint64_t seed = 4711;
    for (uint64_t n = 0; n < 85; n++) {
        gm_bytes file = { 0 };
        for (uint64_t members = 1 + (gm_random(&seed) % 4 == 0) * gm_random(&seed) % 4; members > 0; members--)
            make(&file, &seed);
        expect_same(&file, n % 3 == 0 ? 4 : 1, n % 7 == 0 ? 1u << 20 : 0, "stream", n);
        gm_free(&file);
    }
}

Test(isal, damage_is_told_in_the_words_of_zlib)
{
    uint64_t seed = 815;
    for (uint64_t n = 0; n < 160; n++) {
        gm_bytes file = { 0 };
        make(&file, &seed);
        if (n % 4 == 3)
            file.len = 1 + gm_random(&seed) % file.len; /* truncated */
        for (uint64_t flips = n % 4 == 3 ? 0 : 1 + gm_random(&seed) % 3; flips > 0; flips--)
            file.at[n % 2 == 0 && file.len > 200 ? 10 + gm_random(&seed) % 150 : gm_random(&seed) % file.len] ^=
                (uint8_t)(1u << (gm_random(&seed) & 7));
        expect_same(&file, n % 3 == 0 ? 4 : 1, 0, "damaged stream", n);
        gm_free(&file);
    }
}

/* Headers and codes from random bits: ISA-L takes some that zlib refuses. */
Test(isal, random_bits_read_as_by_zlib_alone)
{
    uint64_t seed = 1951;
    for (uint64_t n = 0; n < 3000; n++) {
        gm_bytes file = { 0 }, body = { 0 };
        for (uint64_t i = 50 + gm_random(&seed) % 400; i > 0; i--)
            gm_byte(&body, (unsigned)(gm_random(&seed) & (gm_random(&seed) % 4 == 0 ? 0x49 : 0xff)));
        body.at[0] =
            (uint8_t)((body.at[0] & ~6u) | (n % 8 == 0 ? 2 : 4)); /* a block with fixed codes, or with its own */
        gm_member_put(&file, "", 0, &(gm_member){ .body = &body });
        expect_same(&file, 1, 0, "bits", n);
        gm_free(&body);
        gm_free(&file);
    }
}

/* A code of the header below: the first bit is the upper one. */
static void code(gm_bits *b, unsigned bits, unsigned width)
{
    while (width-- > 0)
        gm_bits_put(b, bits >> width & 1, 1);
}

/*
 * 'A', three times, in a block with codes of its own: two literals and two distances of these lengths. two: bits of the
 * code for the length 2; 2, or 3, which leaves a pattern unused.
 */
static void own_codes(gm_bytes *body, unsigned literal, unsigned distance, unsigned two)
{
    const uint8_t lengths[18] = {
        [2] = 1, [15] = (uint8_t)two, [17] = 2
    }; /* of 18 (a run of zeros), 2 and 1, as the format orders them */
    gm_bits b = { body, 0, 0 };
    gm_bits_put(&b, 1 | 2 << 1, 3);
    gm_bits_put(&b, 0 | 1 << 5 | 14 << 10, 14); /* 257 literals, 2 distances, 18 lengths */
    for (unsigned i = 0; i < 18; i++)
        gm_bits_put(&b, lengths[i], 3);
    code(&b, 0, 1), gm_bits_put(&b, 65 - 11, 7);
    code(&b, 1 + literal, 2);
    code(&b, 0, 1), gm_bits_put(&b, 138 - 11, 7);
    code(&b, 0, 1), gm_bits_put(&b, 52 - 11, 7);
    code(&b, 1 + literal, 2);
    code(&b, 1 + distance, 2), code(&b, 1 + distance, 2);
    for (unsigned i = 0; i < 4; i++)
        code(&b, i == 3, literal);
    gm_bits_end(&b);
}

Test(isal, codes_that_leave_patterns_unused_are_judged_by_zlib)
{
    for (unsigned literal = 1; literal <= 2; literal++)
        for (unsigned distance = 1; distance <= 2; distance++) {
            gm_bytes file = { 0 }, body = { 0 };
            own_codes(&body, literal, distance, 2);
            gm_member_put(&file, "AAA", 3, &(gm_member){ .body = &body });
            told t = tell(&file, false, 1, 0);
            cr_expect(eq(u64, t.len, literal == 1 && distance == 1 ? 3 : 0));
            cr_expect(eq(sz, t.places, literal == 1 && distance == 1 ? 0 : 1));
            expect_same(&file, 1, 0, "lengths", literal * 10 + distance);
            forget(&t);
            gm_free(&body);
            gm_free(&file);
        }
}

Test(isal, codes_of_lengths_that_leave_a_pattern_unused_are_judged_by_zlib)
{
    gm_bytes file = { 0 }, body = { 0 };
    own_codes(&body, 1, 1, 3);
    gm_put(&body, "\0\0\0\0\0\0\0\0", 8); /* as much as zlib wants at hand */
    gm_member_put(&file, "AAA", 3, &(gm_member){ .body = &body });
    told t = tell(&file, false, 1, 0);
    cr_expect(t.len == 0 && t.places == 1);
    expect_same(&file, 1, 0, "lengths", 3);
    forget(&t);
    gm_free(&body);
    gm_free(&file);
}

/*
 * The same 'A's, in a block that has codes for so many lengths of literals (257 + more) and of distances (2 + more):
 * what is more is not used.
 */
static void more_codes(gm_bytes *body, unsigned literals, unsigned distances)
{
    const uint8_t lengths[18] = { [2] = 1, [15] = 2, [17] = 2 };
    gm_bits       b = { body, 0, 0 };
    gm_bits_put(&b, 1 | 2 << 1, 3);
    gm_bits_put(&b, literals | (1 + distances) << 5 | 14 << 10, 14);
    for (unsigned i = 0; i < 18; i++)
        gm_bits_put(&b, lengths[i], 3);
    code(&b, 0, 1), gm_bits_put(&b, 65 - 11, 7);
    code(&b, 2, 2);
    code(&b, 0, 1), gm_bits_put(&b, 138 - 11, 7);
    code(&b, 0, 1), gm_bits_put(&b, 52 - 11, 7);
    code(&b, 2, 2);
    if (literals > 0)
        code(&b, 0, 1), gm_bits_put(&b, literals - 11, 7);
    code(&b, 2, 2), code(&b, 2, 2);
    if (distances > 0)
        code(&b, 0, 1), gm_bits_put(&b, distances - 11, 7);
    for (unsigned i = 0; i < 4; i++)
        code(&b, i == 3, 1);
    gm_bits_end(&b);
}

/* The format knows 286 and 30; the head of a block could say up to 288 and 32. */
Test(isal, blocks_with_more_codes_than_there_are_are_judged_by_zlib)
{
    static const struct {
        unsigned literals, distances;
    } cases[] = { { 0, 0 },  { 28, 0 }, { 29, 0 },  { 30, 0 },  { 31, 0 },  { 0, 27 }, { 0, 28 },
                  { 0, 29 }, { 0, 30 }, { 29, 28 }, { 30, 28 }, { 29, 29 }, { 31, 30 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool good = cases[i].literals <= 286 - 257 && cases[i].distances <= 30 - 2;
        gm_bytes   file = { 0 }, body = { 0 };
        more_codes(&body, cases[i].literals, cases[i].distances);
        gm_member_put(&file, "AAA", 3, &(gm_member){ .body = &body });
        told t = tell(&file, false, 1, 0);
        cr_expect(t.len == (good ? 3u : 0u) && t.places == (good ? 0u : 1u), "%u and %u: %llu bytes, %zu places",
                  cases[i].literals, cases[i].distances, (unsigned long long)t.len, t.places);
        expect_same(&file, 1, 0, "codes", i);
        forget(&t);
        gm_free(&body);
        gm_free(&file);
    }
}

static void golden(const char *folder, unsigned *files)
{
    DIR           *dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        gm_bytes file = { 0 };
        char     path[1024];
        FILE    *in;
        uint8_t  part[4096];
        if (entry->d_type != DT_REG || (strstr(entry->d_name, "gz") == NULL && strstr(entry->d_name, "zlib") == NULL))
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if ((in = fopen(path, "rb")) == NULL)
            continue;
        for (size_t n; (n = fread(part, 1, sizeof part, in)) > 0;)
            gm_put(&file, part, n);
        (void)fclose(in);
        for (unsigned threads = 1; threads <= 4 && file.len > 0; threads += 3)
            expect_same(&file, threads, 0, entry->d_name, threads);
        (*files)++;
        gm_free(&file);
    }
    if (dir != NULL)
        (void)closedir(dir);
}

Test(isal, golden_dumps_read_as_by_zlib_alone, .timeout = 200)
{
    unsigned files = 0;
    golden(HDX_TREE "/../shared/golden/malformed", &files);
    golden(HDX_TREE "/../shared/golden/dumps", &files);
    golden(HDX_TREE "/../shared/golden/hostile", &files);
    if (files == 0)
        cr_skip_test("no golden dumps at hand");
}
