/*
 * test_keep.c - seek points that outlive their source: every read from them is right and bounded, every file that
 * changed is noticed; and points do not depend on who found them.
 */
#include "tests/source/kept.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>

enum {
    SINGLE,
    FAST,
    JDK,
    BGZF,
    STORED,
    FIXED,
    GIANT,
    LITERALS,
    ZLIB,
    SMALL_MEMBERS,
    MIXED,
    FLUSHED,
    NESTED,
    EMPTY_MEMBERS,
    LONG_HEADERS,
    DAMAGED,
    TRUNCATED,
    KINDS
};
static const char *const names[] = {
    "single",          "fast",          "jdk",          "bgzf",          "stored",        "fixed",
    "giant",           "literals",      "zlib",         "small members", "mixed members", "flushed",
    "gzip in members", "empty members", "long headers", "wrong sums",    "truncated"
};
#define SIZE (7u << 19)

static void members_of(gm_bytes *file, const gm_bytes *plain, const size_t *sizes, size_t n, const gm_member *how)
{
    for (size_t at = 0, i = 0; at < plain->len; i++) {
        size_t len = sizes[i % n] < plain->len - at ? sizes[i % n] : plain->len - at;
        gm_member_put(file, plain->at + at, len, &how[i % 2]);
        at += len;
    }
}

static void make(int kind, gm_bytes *plain, gm_bytes *file)
{
    static const size_t mixed[] = {
        1u << 20, 195845, 1u << 20, 1, 9, 700000, 1048577, 300000, 1u << 20, 1u << 20, 20000
    };
    static const size_t even[] = { 1u << 20 };
    const gm_member     plainly[2] = { { .level = 1 }, { .level = 1 } };
    gm_bytes            body = { 0 }, extra = { 0 }, inner = { 0 };
    gm_bits             b = { &body, 0, 0 };
    if (kind == GIANT)
        gm_giant(&body, plain, SIZE, 4);
    else if (kind == NESTED) { /* stored members whose content is full of headers of members */
        gm_data(&inner, 20000, 8);
        while (plain->len < SIZE)
            gm_member_put(plain, inner.at, inner.len, &(gm_member){ .level = 1 });
    } else
        gm_data(plain, SIZE, 6);
    if (kind == LITERALS) {
        gm_fixed_begin(&b, true);
        for (size_t i = 0; i < plain->len; i++)
            gm_literal(&b, plain->at[i]);
        gm_fixed_end(&b);
        gm_bits_end(&b);
    }
    switch (kind) {
    case FAST: gm_member_put(file, plain->at, plain->len, &(gm_member){ .level = 1 }); break;
    case JDK: gm_jdk_put(file, plain, 1u << 20); break;
    case BGZF: gm_bgzf_put(file, plain); break;
    case STORED: gm_member_put(file, plain->at, plain->len, &(gm_member){ .stored = true }); break;
    case FIXED: gm_member_put(file, plain->at, plain->len, &(gm_member){ .strategy = Z_FIXED, .level = 6 }); break;
    case GIANT:
    case LITERALS: gm_member_put(file, plain->at, plain->len, &(gm_member){ .body = &body }); break;
    case ZLIB: gm_zlib_put(file, plain->at, plain->len, 6); break;
    case SMALL_MEMBERS: gm_jdk_put(file, plain, 2000); break;
    case MIXED: members_of(file, plain, mixed, sizeof mixed / sizeof *mixed, plainly); break;
    case FLUSHED: gm_member_put(file, plain->at, plain->len, &(gm_member){ .flush_every = 1000, .level = 6 }); break;
    case NESTED:
        members_of(file, plain, even, 1, (const gm_member[2]){ { .stored = true }, { .stored = true } });
        break;
    case EMPTY_MEMBERS:
        gm_jdk_put(file, plain, 1u << 20);
        for (int i = 0; i < 300; i++)
            gm_member_put(file, "", 0, &(gm_member){ 0 });
        break;
    case LONG_HEADERS:
        for (unsigned i = 0; i < 65535; i++)
            gm_byte(&extra, i * 31);
        members_of(file, plain, even, 1,
                   (const gm_member[2]){ { .extra = &extra, .name = "a name", .hcrc = true },
                                         { .comment = "HPROF BLOCKSIZE=1", .level = 9 } });
        break;
    case DAMAGED:
        members_of(file, plain, even, 1, (const gm_member[2]){ { .bad_crc = true }, { .bad_size = true } });
        break;
    case TRUNCATED: gm_jdk_put(file, plain, 1u << 20); break;
    default: gm_member_put(file, plain->at, plain->len, &(gm_member){ .level = 6 }); break;
    }
    if (kind == TRUNCATED)
        file->len -= file->len / 7;
    gm_free(&body);
    gm_free(&extra);
    gm_free(&inner);
}

static hdx_source *opened(gm_file *door, unsigned threads)
{
    hdx_source *source;
    hdx_error   err = { 0 };
    cr_assert(eq(int, hdx_source_open_io(&door->io, "app", &(hdx_source_options){ .threads = threads }, &source, &err),
                 HDX_OK),
              "%s", err.message);
    return source;
}

/* Reads it whole in pieces of so many bytes; what it gives must be a prefix of `plain`, whose length it gives back. */
static size_t read_whole(hdx_source *source, const gm_bytes *plain, size_t piece)
{
    uint8_t    *part = malloc(piece);
    hdx_stream *stream;
    size_t      got, len = 0;
    hdx_error   err = { 0 };
    cr_assert(eq(int, hdx_stream_open(source, 0, &stream, &err), HDX_OK));
    do {
        cr_assert(eq(int, hdx_stream_read(stream, part, piece, &got, &err), HDX_OK), "%s", err.message);
        cr_assert(got <= plain->len - len && memcmp(part, plain->at + len, got) == 0);
        len += got;
    } while (got > 0);
    hdx_stream_close(stream);
    free(part);
    return len;
}

Test(keep, two_thousand_reads_of_every_kind_are_right_and_bounded)
{
    for (int kind = 0; kind < KINDS; kind++) {
        gm_bytes plain = { 0 }, file = { 0 };
        uint64_t seed = 2000 + (uint64_t)kind;
        kept     k;
        make(kind, &plain, &file);
        cr_log_info("%s: seed %llu", names[kind], (unsigned long long)seed);
        gm_file     door = gm_file_of(&file);
        hdx_source *source = opened(&door, 4);
        hdx_error   err = { 0 };
        plain.len = read_whole(source, &plain, 100000);
        cr_assert(eq(int, kept_from(source, &k, &err), HDX_OK), "%s: %s", names[kind], err.message);
        hdx_source_close(source);
        for (uint64_t i = 0; i < k.count; i++) {
            const uint64_t end = i + 1 < k.count ? k.at[i + 1].out : k.size;
            cr_expect(end - k.at[i].out <= 1u << 20, "%s: slice %llu has %llu bytes", names[kind],
                      (unsigned long long)i, (unsigned long long)(end - k.at[i].out));
        }
        if (kind == JDK || kind == BGZF || kind == SMALL_MEMBERS || kind == EMPTY_MEMBERS || kind == LONG_HEADERS ||
            kind == DAMAGED)
            cr_expect(eq(u64, k.windows, 0), "%s: windows at starts of members", names[kind]);
        if (kind == FAST || kind == SINGLE ||
            kind == ZLIB) /* this data hardly packs: a heap dump's windows are a third */
            cr_expect(kept_bytes(&k) <= plain.len * 5 / 100, "%s: %llu bytes", names[kind],
                      (unsigned long long)kept_bytes(&k));
        source = opened(&door, 0);
        cr_assert(eq(int, kept_load(&k, source, &err), HDX_OK), "%s", err.message);
        hdx_pos size;
        cr_assert(hdx_source_size(source, &size) && size == plain.len);
        for (int i = 0; i < 2000; i++) {
            uint8_t  bytes[5000];
            uint64_t r = gm_random(&seed), at = gm_random(&seed) % (plain.len + 10);
            size_t   want = r % sizeof bytes, got,
                   right = at >= plain.len         ? 0
                           : plain.len - at < want ? plain.len - at
                                                   : want;
            if (i % 40 == 0) { /* cold: also where no slice is at hand */
                hdx_cache_free(source->cache);
                source->cache = hdx_cache_new(source);
            }
            cr_assert(eq(int, hdx_source_read_at(source, at, bytes, want, &got, &err), HDX_OK), "%s: %s", names[kind],
                      err.message);
            cr_assert(got == right && memcmp(bytes, plain.at + at, got) == 0, "%s: at %llu", names[kind],
                      (unsigned long long)at);
        }
        cr_expect(eq(sz, read_whole(source, &plain, 77777), plain.len));
        const hdx_damage *entries; /* it was told when the points were made */
        cr_expect(eq(sz, hdx_source_damage(source, &entries), 0));
        hdx_source_close(source);
        kept_free(&k);
        gm_free(&plain);
        gm_free(&file);
    }
}

/* P5: threads, sizes of reads and reads at random beside the stream change nothing. */
Test(keep, points_and_damage_do_not_depend_on_who_finds_them)
{
    for (int kind = 0; kind < KINDS; kind++) {
        gm_bytes plain = { 0 }, file = { 0 };
        kept     first = { 0 };
        size_t   damage = 0;
        make(kind, &plain, &file);
        for (unsigned way = 0; way < 4; way++) {
            gm_file           door = gm_file_of(&file);
            hdx_source       *source = opened(&door, way == 0 ? 1 : way == 1 ? 2 : 9);
            const hdx_damage *entries;
            hdx_error         err = { 0 };
            kept              k;
            uint8_t           bytes[64];
            size_t            got;
            for (uint64_t at = 0; way == 3 && at < plain.len; at += 350001) /* the cache finds them first */
                cr_assert(eq(int, hdx_source_read_at(source, at, bytes, sizeof bytes, &got, &err), HDX_OK));
            (void)read_whole(source, &plain, way == 0 ? 4096 : way == 1 ? 1u << 20 : 99991);
            cr_assert(eq(int, kept_from(source, &k, &err), HDX_OK), "%s: %s", names[kind], err.message);
            size_t places = hdx_source_damage(source, &entries);
            if (way == 0) {
                first = k;
                damage = places;
            } else {
                bool same = k.count == first.count && k.bytes.len == first.bytes.len && places == damage &&
                            memcmp(k.at, first.at, k.count * sizeof *k.at) == 0 &&
                            (k.bytes.len == 0 || memcmp(k.bytes.at, first.bytes.at, k.bytes.len) == 0);
                cr_expect(same, "%s, way %u: %llu points, %llu on one thread", names[kind], way,
                          (unsigned long long)k.count, (unsigned long long)first.count);
                kept_free(&k);
            }
            hdx_source_close(source);
        }
        cr_expect(eq(int, damage > 0, kind == DAMAGED || kind == TRUNCATED), "%s: %zu places of damage", names[kind],
                  damage);
        kept_free(&first);
        gm_free(&plain);
        gm_free(&file);
    }
}

Test(keep, a_file_that_changed_never_gives_wrong_bytes)
{
    static const int kinds[] = { SINGLE, JDK, BGZF, STORED, GIANT, ZLIB };
    uint64_t         seed = 77;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        gm_bytes  plain = { 0 }, file = { 0 };
        hdx_error err = { 0 };
        unsigned  noticed = 0;
        kept      k;
        make(kinds[i], &plain, &file);
        gm_file     door = gm_file_of(&file);
        hdx_source *source = opened(&door, 2);
        (void)read_whole(source, &plain, 1u << 20);
        cr_assert(eq(int, kept_from(source, &k, &err), HDX_OK));
        hdx_source_close(source);
        for (int flip = 0; flip < 12; flip++) {
            size_t  place = 40 + gm_random(&seed) % (file.len - 40), got;
            uint8_t bytes[64], bit = (uint8_t)(1u << (gm_random(&seed) & 7));
            bool    found = false;
            file.at[place] ^= bit;
            source = opened(&door, 2);
            cr_assert(eq(int, kept_load(&k, source, &err), HDX_OK));
            for (uint64_t at = 0; at < plain.len; at += 100000) {
                hdx_code code = hdx_source_read_at(source, at, bytes, sizeof bytes, &got, &err);
                cr_assert(code == HDX_OK ? memcmp(bytes, plain.at + at, got) == 0 : code == HDX_BAD_DUMP,
                          "%s: flip at %zu", names[kinds[i]], place);
                cr_assert(code == HDX_OK || strstr(err.message, "the dump changed") != NULL, "%s", err.message);
                found |= code != HDX_OK;
            }
            noticed += found;
            hdx_source_close(source);
            file.at[place] ^= bit;
        }
        cr_expect(noticed >= 10, "%s: %u of 12 noticed", names[kinds[i]],
                  noticed); /* trailers and headers are not read for a slice */
        kept_free(&k);
        gm_free(&plain);
        gm_free(&file);
    }
}

Test(keep, a_file_that_shrinks_is_noticed)
{
    static const int kinds[] = { SINGLE, JDK, STORED };
    for (unsigned i = 0; i < 3; i++) {
        gm_bytes  plain = { 0 }, file = { 0 };
        hdx_error err = { 0 };
        uint8_t   bytes[64];
        size_t    got;
        kept      k;
        make(kinds[i], &plain, &file);
        gm_file     door = gm_file_of(&file);
        hdx_source *source = opened(&door, 2);
        (void)read_whole(source, &plain, 1u << 20);
        cr_assert(eq(int, kept_from(source, &k, &err), HDX_OK));
        hdx_source_close(source);
        source = opened(&door, 2);
        cr_assert(eq(int, kept_load(&k, source, &err), HDX_OK));
        door.len = file.len / 3;
        cr_expect(eq(int, hdx_source_read_at(source, plain.len - 64, bytes, sizeof bytes, &got, &err), HDX_BAD_DUMP));
        cr_expect(eq(int, hdx_source_read_at(source, 5, bytes, sizeof bytes, &got, &err), HDX_OK));
        door.len = file.len;
        door.fail_from = file.len / 2; /* a failing disk is another thing */
        cr_expect(eq(int, hdx_source_read_at(source, plain.len - 64, bytes, sizeof bytes, &got, &err), HDX_IO));
        hdx_source_close(source);
        kept_free(&k);
        gm_free(&plain);
        gm_free(&file);
    }
}

/* Members inflated ahead, by workers that meet the trouble before the decoder does. */
Test(keep, a_failing_disk_ahead_of_the_reader_is_no_wrong_byte)
{
    gm_bytes plain = { 0 }, file = { 0 };
    make(JDK, &plain, &file);
    gm_file door = gm_file_of(&file);
    door.fail_from = file.len * 2 / 3;
    hdx_source *source = opened(&door, 6);
    hdx_stream *stream;
    hdx_error   err = { 0 };
    uint8_t     part[50000];
    size_t      got, len = 0;
    hdx_code    code;
    cr_assert(eq(int, hdx_stream_open(source, 0, &stream, &err), HDX_OK));
    do {
        code = hdx_stream_read(stream, part, sizeof part, &got, &err);
        cr_assert(memcmp(part, plain.at + len, got) == 0);
        len += got;
    } while (code == HDX_OK && got > 0);
    cr_expect(eq(int, code, HDX_IO));
    cr_expect(len > plain.len / 3);
    hdx_stream_close(stream);
    hdx_source_close(source);
    gm_free(&plain);
    gm_free(&file);
}

/* A door that gives what it likes: one byte, or some, of what was asked for. */
typedef struct stingy {
    hdx_io   io; /* first */
    gm_file *inner;
    uint64_t seed;
} stingy;

static int64_t stingy_read(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    stingy  *s = (stingy *)io;
    uint64_t r = gm_random(&s->seed);
    return s->inner->io.read_at(&s->inner->io, fd, to, len > 1 ? 1 + r % (r % 16 == 0 ? 3 : len) : len, offset);
}
static int stingy_open(hdx_io *io, const char *path)
{
    return ((stingy *)io)->inner->io.open(&((stingy *)io)->inner->io, path);
}
static int stingy_stat(hdx_io *io, const char *path, struct stat *st)
{
    return ((stingy *)io)->inner->io.stat(&((stingy *)io)->inner->io, path, st);
}
static int stingy_close(hdx_io *io, int fd) { return ((stingy *)io)->inner->io.close(&((stingy *)io)->inner->io, fd); }

Test(keep, short_reads_change_nothing)
{
    static const int kinds[] = { SINGLE, JDK, GIANT, MIXED };
    for (unsigned i = 0; i < 4; i++) {
        gm_bytes plain = { 0 }, file = { 0 };
        kept     whole, k;
        make(kinds[i], &plain, &file);
        gm_file     door = gm_file_of(&file);
        hdx_source *source = opened(&door, 1);
        cr_assert(eq(sz, read_whole(source, &plain, 65536), plain.len));
        cr_assert(eq(int, kept_from(source, &whole, NULL), HDX_OK));
        hdx_source_close(source);
        stingy s = { .io = { .open = stingy_open, .read_at = stingy_read, .stat = stingy_stat, .close = stingy_close },
                     .inner = &door,
                     .seed = 3 };
        cr_assert(
            eq(int, hdx_source_open_io(&s.io, "app", &(hdx_source_options){ .threads = 1 }, &source, NULL), HDX_OK));
        cr_assert(eq(sz, read_whole(source, &plain, 65536), plain.len));
        cr_assert(eq(int, kept_from(source, &k, NULL), HDX_OK));
        cr_expect(k.count == whole.count && memcmp(k.at, whole.at, k.count * sizeof *k.at) == 0, "%s", names[kinds[i]]);
        hdx_source_close(source);
        kept_free(&k);
        kept_free(&whole);
        gm_free(&plain);
        gm_free(&file);
    }
}

Test(keep, many_reads_are_answered_in_the_order_of_the_dump)
{
    enum { N = 10000 };
    static hdx_read reads[N];
    static uint8_t  bytes[N][16];
    gm_bytes        plain = { 0 }, file = { 0 };
    uint64_t        seed = 9;
    kept            k;
    hdx_error       err = { 0 };
    make(SINGLE, &plain, &file);
    gm_file     door = gm_file_of(&file);
    hdx_source *source = opened(&door, 2);
    (void)read_whole(source, &plain, 1u << 20);
    cr_assert(eq(int, kept_from(source, &k, &err), HDX_OK));
    hdx_source_close(source);
    source = opened(&door, 2);
    cr_assert(eq(int, kept_load(&k, source, &err), HDX_OK));
    for (size_t i = 0; i < N; i++)
        reads[i] = (hdx_read){ gm_random(&seed) % (plain.len + 5), bytes[i], sizeof bytes[i], 99 };
    cr_assert(eq(int, hdx_source_read_many(source, reads, N, &err), HDX_OK), "%s", err.message);
    for (size_t i = 0; i < N; i++) {
        size_t right = reads[i].at >= plain.len ? 0 : plain.len - reads[i].at < 16 ? plain.len - reads[i].at : 16;
        cr_assert(reads[i].got == right && memcmp(bytes[i], plain.at + reads[i].at, right) == 0);
    }
    cr_expect(eq(int, hdx_source_read_many(source, reads, 0, &err), HDX_OK));
    hdx_source_close(source);
    kept_free(&k);
    gm_free(&plain);
    gm_free(&file);
}
