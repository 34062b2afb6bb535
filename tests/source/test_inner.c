/*
 * test_inner.c - the parts of this room by themselves: what a decoder notes on its way against a walk of zlib alone;
 * blocks by ISA-L; members inflated ahead; the list of points against a plain one; which reads go to the file.
 */
#include "kept.h"
#include "source/inner.h"
#include "support/gzip_maker.h"
#include "support/wait.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

typedef unsigned long long ull;

/* ---- a deflate stream as zlib alone walks it ---- */

typedef struct boundary {
    uint64_t bit; /* of the raw stream */
    hdx_pos  out; /* of the member */
} boundary;
enum { MOST = 20000 };
typedef struct walk {
    boundary at[MOST]; /* of blocks after the first one */
    unsigned count;
    uint64_t end; /* byte after the stream */
} walk;

static void walk_raw(walk *w, const uint8_t *raw, size_t len, size_t plain_len)
{
    z_stream z = { 0 };
    uint8_t *out = malloc(plain_len + 1);
    int      rc;
    w->count = 0;
    cr_assert(inflateInit2(&z, -15) == Z_OK);
    z.next_in = (Bytef *)(uintptr_t)raw;
    z.avail_in = (uInt)len;
    z.next_out = out;
    z.avail_out = (uInt)plain_len + 1;
    while ((rc = inflate(&z, Z_BLOCK)) == Z_OK)
        if ((z.data_type & 128) != 0 && (z.data_type & 64) == 0 && w->count < MOST)
            w->at[w->count++] = (boundary){ z.total_in * 8 - (unsigned)(z.data_type & 63), z.total_out };
    cr_assert(rc == Z_STREAM_END && z.total_out == plain_len && w->count < MOST, "%d", rc);
    w->end = z.total_in;
    (void)inflateEnd(&z);
    free(out);
}

/* Level and memory decide how long blocks are; a stored one holds at most 64 KiB. */
static const gm_member how[] = {
    { .level = 6 },     { .level = 1, .mem_level = 5 },       { .level = 9, .mem_level = 9 },
    { .stored = true }, { .level = 6, .flush_every = 30000 }, { .level = 6, .strategy = 4 /* Z_FIXED */ }
};
enum { HOWS = sizeof how / sizeof *how };

/* ---- points of one member ---- */

static hdx_source *opened(gm_file *door, unsigned threads)
{
    hdx_source              *source;
    hdx_error                err;
    const hdx_source_options options = { .threads = threads };
    cr_assert(eq(int, hdx_source_open_io(&door->io, "app", &options, &source, &err), HDX_OK), "%s", err.message);
    return source;
}

static void read_whole(hdx_source *source, const gm_bytes *plain)
{
    static uint8_t part[300001];
    hdx_stream    *stream;
    size_t         got, at = 0;
    cr_assert(eq(int, hdx_stream_open(source, 0, &stream, NULL), HDX_OK));
    do {
        cr_assert(eq(int, hdx_stream_read(stream, part, sizeof part, &got, NULL), HDX_OK));
        cr_assert(got <= plain->len - at && memcmp(part, plain->at + at, got) == 0);
        at += got;
    } while (got > 0);
    cr_assert(at == plain->len);
    hdx_stream_close(stream);
}

static void expect_slices(const kept *k, const gm_bytes *plain, int n)
{
    for (uint64_t i = 0; i < k->count; i++) {
        const hdx_pos from = k->at[i].out, to = i + 1 < k->count ? k->at[i + 1].out : plain->len;
        cr_expect(to > from || plain->len == 0, "%d, point %llu", n, (ull)i);
        cr_expect(to - from <= HDX_SLICE_MAX, "%d, point %llu: a slice of %llu", n, (ull)i, (ull)(to - from));
        cr_expect(k->at[i].sum == (uint32_t)crc32(0, plain->at + from, (uInt)(to - from)), "%d, point %llu", n, (ull)i);
    }
}

/* The first block that begins 768 KiB or more after the last point is one; else a place 896 KiB after it. */
Test(inner, points_of_a_member_are_the_first_blocks_that_are_due_or_places_inside)
{
    static walk w;
    for (int n = 0; n < HOWS; n++) {
        gm_bytes  plain = { 0 }, raw = { 0 }, file = { 0 };
        hdx_error err;
        kept      k;
        gm_data(&plain, 4u << 20, 70 + (uint64_t)n);
        gm_member_put(&file, plain.at, plain.len, &how[n]);
        gm_deflate(&raw, plain.at, plain.len, &how[n]);
        const uint64_t head = file.len - raw.len - 8;
        walk_raw(&w, raw.at, raw.len, plain.len);
        gm_file     door = gm_file_of(&file);
        hdx_source *source = opened(&door, 1 + n % 2 * 3);
        read_whole(source, &plain);
        cr_assert(eq(int, kept_from(source, &k, &err), HDX_OK), "%s", err.message);
        hdx_pos  last = 0;
        uint64_t i = 1;
        cr_expect(k.at[0].out == 0 && k.at[0].bit == 0 && k.at[0].kind == HDX_POINT_MEMBER && k.at[0].window_len == 0);
        for (unsigned b = 0; b < w.count || i < k.count;) {
            const hdx_pos due = last + HDX_POINT_SPACING, giant = due + HDX_POINT_SPACING / 6;
            while (b < w.count && w.at[b].out < due)
                b++;
            const bool at_block = b < w.count && w.at[b].out <= giant;
            if (!at_block && (i >= k.count || (b == w.count && k.at[i].kind != HDX_POINT_INSIDE)))
                break;
            cr_assert(i < k.count, "%d: no point at %llu", n, (ull)w.at[b].out);
            const hdx_source_point *p = &k.at[i++];
            if (at_block) {
                cr_expect(p->kind == HDX_POINT_BLOCK && p->out == w.at[b].out && p->bit == head * 8 + w.at[b].bit,
                          "%d: %u at %llu, bit %llu; expected %llu, %llu", n, p->kind, (ull)p->out, (ull)p->bit,
                          (ull)w.at[b].out, (ull)(head * 8 + w.at[b].bit));
            } else { /* of a stored block none: then its end; else 64 KiB further, and so on */
                cr_expect(p->kind == HDX_POINT_INSIDE ? p->out >= giant && (p->out - giant) % 65536 <= 258
                                                      : p->kind == HDX_POINT_BLOCK && p->out >= giant,
                          "%d: %u at %llu, due %llu", n, p->kind, (ull)p->out, (ull)giant);
                unsigned in = 0; /* the block that it is inside of */
                while (in < w.count && w.at[in].out <= p->out)
                    in++;
                if (p->kind == HDX_POINT_INSIDE && in > 0)
                    cr_expect(p->header_bit == head * 8 + w.at[in - 1].bit, "%d: header at %llu", n,
                              (ull)p->header_bit);
            }
            cr_expect(p->window_len == HDX_WINDOW && p->window_size > 0 && p->window_size <= HDX_WINDOW);
            last = p->out;
        }
        cr_expect(i == k.count && k.count >= 4, "%d: %llu points of %llu", n, (ull)i, (ull)k.count);
        expect_slices(&k, &plain, n);
        hdx_source_close(source);
        kept_free(&k);
        gm_free(&plain);
        gm_free(&raw);
        gm_free(&file);
    }
}

/* Members as short as a third of the spacing have a point each; what is shorter goes together. */
Test(inner, points_of_members_stand_at_their_begins_where_the_last_is_a_third_of_the_spacing_away)
{
    static const size_t sizes[] = { HDX_POINT_SPACING / 3 - 1,
                                    HDX_POINT_SPACING / 3,
                                    HDX_POINT_SPACING / 3 + 1,
                                    100000,
                                    65280,
                                    700000,
                                    1u << 20,
                                    20000 };
    for (int n = 0; n < 8; n++)
        for (unsigned threads = 1; threads < 8; threads += 6) {
            gm_bytes  plain = { 0 }, file = { 0 };
            hdx_error err;
            kept      k;
            uint64_t  starts[400], outs[400], i = 1;
            unsigned  count = 0;
            gm_data(&plain, 3u << 20, 90 + (uint64_t)n);
            for (size_t at = 0; at < plain.len; at += sizes[n]) {
                starts[count] = file.len;
                outs[count++] = at;
                gm_member_put(&file, plain.at + at, plain.len - at < sizes[n] ? plain.len - at : sizes[n],
                              &(gm_member){ .level = 1 });
            }
            gm_file     door = gm_file_of(&file);
            hdx_source *source = opened(&door, threads);
            read_whole(source, &plain);
            cr_assert(eq(int, kept_from(source, &k, &err), HDX_OK), "%s", err.message);
            hdx_pos last = 0;
            for (unsigned m = 1; m < count; m++) {
                if (outs[m] < last + HDX_POINT_SPACING / 3)
                    continue;
                cr_assert(i < k.count, "%d: no point at member %u", n, m);
                cr_expect(k.at[i].kind == HDX_POINT_MEMBER && k.at[i].out == outs[m] && k.at[i].bit == 8 * starts[m] &&
                              k.at[i].window_len == 0,
                          "%d, %u threads: member %u at %llu: %u at %llu", n, threads, m, (ull)outs[m], k.at[i].kind,
                          (ull)k.at[i].out);
                last = outs[m];
                i++;
            }
            cr_expect(i == k.count, "%d: %llu points of %llu", n, (ull)i, (ull)k.count);
            expect_slices(&k, &plain, n);
            hdx_source_close(source);
            kept_free(&k);
            gm_free(&plain);
            gm_free(&file);
        }
}

/* ---- blocks by ISA-L ---- */

/*
 * It takes every compressed block whose code is complete, wherever it begins and in whatever pieces it is given, and
 * ends where zlib says that the next one begins.
 */
Test(inner, isal_takes_every_compressed_block_and_ends_where_zlib_does)
{
    static walk w;
    for (int n = 0; n < HOWS; n++)
        for (size_t piece = 4001; piece < 2000000; piece *= 400) {
            gm_bytes   plain = { 0 }, raw = { 0 };
            hdx_source source = { .zlib_alone = false };
            hdx_isal  *isal = hdx_isal_new(&source);
            if (isal == NULL)
                return; /* built without */
            gm_data(&plain, 600000, 170 + (uint64_t)n);
            for (unsigned i = 0; i < HDX_BEFORE; i++)
                gm_byte(&raw, 0xee);
            gm_deflate(&raw, plain.at, plain.len, &how[n]);
            walk_raw(&w, raw.at + HDX_BEFORE, raw.len - HDX_BEFORE, plain.len);
            uint8_t      *out = calloc(1, plain.len + 1);
            z_stream      z = { .next_in = raw.at + HDX_BEFORE, .next_out = out };
            unsigned      odd = 0, blocks = 0, by_zlib = 0;
            hdx_isal_step step = HDX_ISAL_BLOCK;
            const bool    stored = how[n].stored;
            while (step != HDX_ISAL_LAST) {
                if (z.avail_in < 400 && z.next_in + z.avail_in < raw.at + raw.len) {
                    const size_t left = (size_t)(raw.at + raw.len - (z.next_in + z.avail_in));
                    z.avail_in += (uInt)(left < piece ? left : piece);
                }
                if (z.avail_out == 0)
                    z.avail_out =
                        (uInt)((size_t)(out + plain.len - z.next_out) < piece ? (size_t)(out + plain.len - z.next_out)
                                                                              : piece);
                if (step == HDX_ISAL_BLOCK) {
                    const size_t  have = (size_t)(z.next_out - out);
                    const uint8_t type = (uint8_t)((*(z.next_in - (odd > 0)) >> (odd > 0 ? 8 - odd : 0) |
                                                    (odd == 1 || odd == 2 ? *z.next_in << odd : 0)) >>
                                                       1 &
                                                   3);
                    const bool    took = hdx_isal_begin(isal, &z, odd, z.next_out, have);
                    if (!took) { /* a stored block, which a flush puts in, or whose code is incomplete */
                        cr_expect(type == 0 || !stored, "%d: block %u of type %u", n, blocks, type);
                        by_zlib++;
                        break;
                    }
                    cr_expect(type != 0, "%d: block %u", n, blocks);
                    uint32_t       len;
                    const uint8_t *window = hdx_isal_window(isal, &len);
                    cr_expect(eq(u32, len, have < HDX_WINDOW ? (uint32_t)have : HDX_WINDOW));
                    cr_expect(len == 0 || memcmp(window, z.next_out - len, len) == 0);
                }
                step = hdx_isal_run(isal, &z, &odd);
                cr_assert(step != HDX_ISAL_UNSURE, "%d: block %u", n, blocks);
                if (step == HDX_ISAL_BLOCK) {
                    cr_assert(blocks < w.count && odd < 8);
                    cr_expect(w.at[blocks].out == (uint64_t)(z.next_out - out) &&
                                  w.at[blocks].bit == (uint64_t)(z.next_in - raw.at - HDX_BEFORE) * 8 - odd,
                              "%d: block %u ends at %llu", n, blocks, (ull)(z.next_out - out));
                    blocks++;
                }
            }
            cr_expect(by_zlib <= 1 && (stored || how[n].flush_every > 0 || by_zlib == 0), "%d: %u", n, by_zlib);
            cr_expect(memcmp(out, plain.at, (size_t)(z.next_out - out)) == 0, "%d", n);
            if (by_zlib == 0)
                cr_expect(blocks == w.count && (size_t)(z.next_out - out) == plain.len &&
                              (uint64_t)(z.next_in - raw.at - HDX_BEFORE) == w.end,
                          "%d: %u blocks", n, blocks);
            free(out);
            hdx_isal_free(isal, &source);
            gm_free(&plain);
            gm_free(&raw);
        }
}

/* ---- members inflated ahead ---- */

Test(inner, members_ahead_are_offered_where_they_are_whole_and_right_and_no_longer_than_a_mebibyte)
{
    enum { RIGHT, BAD_CRC, BAD_SIZE, BAD_HCRC, LONG, GARBLED, KINDS };
    static const struct {
        int    kind;
        size_t len;
    } members[] = { { RIGHT, 5000 },   { RIGHT, 0 },       { RIGHT, 1 },         { BAD_CRC, 5000 },
                    { RIGHT, 300000 }, { BAD_SIZE, 5000 }, { RIGHT, HDX_SLICE }, { LONG, HDX_SLICE + 1 },
                    { RIGHT, 70000 },  { BAD_HCRC, 5000 }, { RIGHT, 200000 },    { LONG, 2 * HDX_SLICE },
                    { RIGHT, 40000 },  { GARBLED, 40000 }, { RIGHT, 40000 },     { RIGHT, HDX_SLICE - 1 } };
    enum { COUNT = sizeof members / sizeof *members };
    gm_bytes plain = { 0 }, file = { 0 };
    uint64_t at[COUNT + 1];
    size_t   from[COUNT];
    uint8_t  garble = 0x55;
    gm_data(&plain, 7u << 20, 33);
    gm_member_put(&file, plain.at, 100, &(gm_member){ .level = 6 });
    for (size_t i = 0, p = 0; i < COUNT; p += members[i++].len) {
        at[i] = file.len;
        from[i] = p;
        gm_member_put(&file, plain.at + p, members[i].len,
                      &(gm_member){ .level = 6,
                                    .name = i % 2 == 0 ? "a name" : NULL,
                                    .hcrc = i % 3 == 0 || members[i].kind == BAD_HCRC,
                                    .bad_hcrc = members[i].kind == BAD_HCRC,
                                    .bad_crc = members[i].kind == BAD_CRC,
                                    .bad_size = members[i].kind == BAD_SIZE });
        for (uint64_t k = at[i] + 200; members[i].kind == GARBLED && k < at[i] + 300; k++)
            file.at[k] ^= garble++;
    }
    at[COUNT] = file.len;
    for (unsigned workers = 1; workers <= 20; workers += 19) {
        unsigned offered = 0, right = 0; /* bits by member */
        for (unsigned i = 0; i < COUNT; i++)
            right |= (unsigned)(members[i].kind == RIGHT) << i;
        /* A member that is not inflated yet is not offered. */
        for (unsigned round = 0; round < 300 && offered != right; round++) {
            gm_file         door = gm_file_of(&file);
            hdx_source     *source = opened(&door, 4);
            hdx_gz_members *m = hdx_gz_members_new(source, workers, at[0]); /* that byte, too */
            cr_assert(m != NULL);
            for (unsigned i = 0; i < COUNT; i += 1 + (round % 3 > 0 && i % (round % 3 + 2) == 0)) {
                hdx_inflated got = { 0 };
                wait_for_other_threads_to_sleep(); /* what can be inflated ahead is */
                if (!hdx_gz_members_take(m, at[i], &got))
                    continue;
                offered |= 1u << i;
                cr_expect(got.len == members[i].len && memcmp(got.at, plain.at + from[i], got.len) == 0 &&
                              got.end == at[i + 1] && got.crc == (uint32_t)crc32(0, plain.at + from[i], (uInt)got.len),
                          "%u workers: member %u has %zu bytes", workers, i, got.len);
            }
            hdx_inflated none;
            cr_expect(hdx_gz_members_take(m, file.len, &none) == false, "behind the last");
            hdx_gz_members_free(m);
            hdx_source_close(source);
        }
        cr_expect(offered == right, "%u workers: members 0x%x, not 0x%x", workers, offered, right);
    }
    gm_free(&plain);
    gm_free(&file);
}

/* ---- the list of points against a plain one ---- */

typedef struct plain_points {
    hdx_point at[600];
    uint64_t  count;
} plain_points;

static void random_points(uint64_t seed, uint64_t bytes_max)
{
    static plain_points slow;
    static uint8_t      windows[600][64]; /* the first bytes of each window */
    hdx_points          fast;
    uint8_t             window[HDX_WINDOW], got[HDX_WINDOW];
    bool                added;
    hdx_pos             out = 0, next, last;
    cr_assert(hdx_points_init(&fast, NULL, 7));
    fast.bytes_max = bytes_max;
    slow.count = 1;
    slow.at[0] = fast.list[0];
    cr_expect(fast.list[0].check == 7 && fast.list[0].out == 0 && fast.list[0].kind == HDX_POINT_MEMBER);
    for (unsigned n = 1; n < 400; n++) {
        const uint64_t spacing = fast.spacing, step = gm_random(&seed) % (spacing / 2);
        out += step;
        hdx_point p = { .out = out,
                        .bit = 8 * n,
                        .member = n,
                        .damage = n % 5,
                        .kind = n % 3 == 0 ? HDX_POINT_MEMBER : HDX_POINT_BLOCK };
        p.window_len = p.kind == HDX_POINT_MEMBER ? 0 : n % 7 == 0 ? 1 : n % 7 == 1 ? 500 : HDX_WINDOW;
        for (size_t i = 0; i < sizeof window; i++)
            window[i] = (uint8_t)(n % 4 == 0 ? gm_random(&seed) : n + i / 100);
        const uint64_t before = fast.spacing;
        const bool     fits = out >= slow.at[slow.count - 1].out + before / 3;
        cr_assert(hdx_points_add(&fast, &p, window, &added, NULL) == HDX_OK);
        cr_assert(added == fits, "point %u, %llu after the last", n, (ull)(out - slow.at[slow.count - 1].out));
        if (!added)
            continue;
        if (fast.spacing != before) { /* every second one went */
            cr_assert(fast.spacing == 2 * before);
            uint64_t kept = 0;
            for (uint64_t i = 0; i < slow.count; i += 2) {
                memmove(windows[kept], windows[i], sizeof windows[0]);
                slow.at[kept++] = slow.at[i];
            }
            slow.count = kept;
        }
        memcpy(windows[slow.count], window, sizeof windows[0]);
        slow.at[slow.count++] = p;
        if (n % 5 == 0)
            (void)hdx_points_pack_one(&fast);
        cr_assert(fast.count == slow.count, "%llu and %llu", (ull)fast.count, (ull)slow.count);
        uint64_t bytes = 0;
        for (uint64_t i = 0; i < fast.count; i++)
            bytes += fast.list[i].window_size;
        cr_assert(eq(u64, fast.bytes, bytes));
        cr_assert(fast.windows.put != NULL ||
                  fast.bytes + fast.count * sizeof p <= bytes_max + HDX_WINDOW + 2 * sizeof p);
    }
    while (hdx_points_pack_one(&fast))
        ;
    for (uint64_t i = 0; i + 1 < fast.count; i++) /* all but the newest, where they can be: some are random bytes */
        cr_expect(fast.list[i].packed || fast.list[i].window_len < 500 || fast.list[i].member % 4 == 0, "point %llu",
                  (ull)i);
    for (uint64_t i = 0; i < slow.count; i++)
        for (int d = -1; d <= 1; d++) {
            if (i == 0 && d < 0)
                continue;
            const hdx_pos  at = slow.at[i].out + (uint64_t)(int64_t)d;
            const uint64_t floor = d < 0 ? i - 1 : i;
            hdx_point      p;
            cr_expect(eq(u64, hdx_points_floor(&fast, at), slow.at[floor].out));
            cr_expect(eq(u64, hdx_points_around(&fast, at, &next, &last), fast.spacing));
            cr_expect(eq(u64, last, slow.at[slow.count - 1].out));
            cr_expect(eq(u64, next, floor + 1 < slow.count ? slow.at[floor + 1].out : HDX_NOWHERE));
            cr_assert(hdx_points_get(&fast, at, &p, got, NULL) == HDX_OK);
            cr_expect(p.out == slow.at[floor].out && p.bit == slow.at[floor].bit && p.window == NULL &&
                      p.window_len == slow.at[floor].window_len && p.damage == slow.at[floor].damage);
            const size_t len = p.window_len < 64 ? p.window_len : 64;
            cr_expect(floor == 0 || memcmp(got, windows[floor], len) == 0, "window of point %llu", (ull)floor);
        }
    const hdx_pos end = slow.at[slow.count - 1].out;
    cr_expect(hdx_points_size(&fast, &next) == false);
    cr_expect(end == 0 || hdx_points_end(&fast, end - 1) == false);
    cr_expect(hdx_points_end(&fast, end + 9));
    cr_expect(hdx_points_end(&fast, end + 9) && !hdx_points_end(&fast, end + 8) && !hdx_points_end(&fast, end + 10));
    cr_expect(hdx_points_size(&fast, &next) && next == end + 9);
    (void)hdx_points_around(&fast, end, &next, &last);
    cr_expect(eq(u64, next, end + 9));
    (void)hdx_points_around(&fast, end + 9, &next, &last);
    cr_expect(eq(u64, next, HDX_NOWHERE));
    hdx_points_free(&fast);
}

Test(inner, points_are_those_of_a_plain_list)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        random_points(seed, seed % 2 == 0 ? HDX_POINTS_BYTES : 400000 * seed);
}

Test(inner, three_points_stay_however_little_memory_they_may_have)
{
    hdx_points    points;
    bool          added;
    const uint8_t window[HDX_WINDOW] = { 0 };
    cr_assert(hdx_points_init(&points, NULL, 0));
    const uint64_t spacing = points.spacing;
    points.bytes_max = 1;
    for (unsigned n = 1; n <= 2; n++) {
        const hdx_point p = { .out = n * spacing, .kind = HDX_POINT_BLOCK, .window_len = 100 };
        cr_assert(hdx_points_add(&points, &p, window, &added, NULL) == HDX_OK && added);
        cr_expect(points.count == n + 1 && points.spacing == spacing, "%u", n);
    }
    const hdx_point more = { .out = 3 * spacing, .kind = HDX_POINT_BLOCK, .window_len = 100 };
    cr_assert(hdx_points_add(&points, &more, window, &added, NULL) == HDX_OK && added);
    cr_expect(points.count == 3 && points.spacing == 2 * spacing && points.list[1].out == 2 * spacing);
    hdx_points_free(&points);
}

/* Sums of slices: noted once, compared ever after; of a slice only, not of any stretch. */
Test(inner, sums_are_of_slices_alone)
{
    hdx_points      points;
    bool            added;
    const uint8_t   window[HDX_WINDOW] = { 0 };
    const hdx_pos   a = 1000000, b = 2000000, end = 2500000;
    const hdx_point one = { .out = a, .kind = HDX_POINT_BLOCK, .window_len = 100 },
                    two = { .out = b, .kind = HDX_POINT_MEMBER };
    cr_assert(hdx_points_init(&points, NULL, 0));
    cr_assert(hdx_points_add(&points, &one, window, &added, NULL) == HDX_OK && added);
    cr_assert(hdx_points_add(&points, &two, window, &added, NULL) == HDX_OK && added);
    static const struct {
        hdx_pos    from, to;
        uint32_t   crc;
        hdx_passed passed;
    } steps[] = {
        { 0, 0, 10, HDX_PASSED_POINT }, /* before the first there is no slice */
        { 0, 1000000, 11, HDX_PASSED_POINT },
        { 0, 1000000, 11, HDX_PASSED_POINT },
        { 0, 1000000, 12, HDX_PASSED_CHANGED },
        { 0, 1000000, 11, HDX_PASSED_POINT },
        { 5, 1000000, 99, HDX_PASSED_POINT },
        { 0, 999999, 99, HDX_PASSED_NOTHING },
        { 0, 1000001, 99, HDX_PASSED_NOTHING },
        { 0, 2000000, 99, HDX_PASSED_POINT },
        { 1000000, 2000000, 22, HDX_PASSED_POINT },
        { 1000000, 2000000, 23, HDX_PASSED_CHANGED },
        { 2000000, 2500000, 33, HDX_PASSED_NOTHING },
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        cr_expect(hdx_points_passed(&points, steps[i].from, steps[i].to, steps[i].crc) == steps[i].passed, "step %zu",
                  i);
    cr_assert(hdx_points_end(&points, end));
    cr_expect(hdx_points_passed(&points, b, end, 44) == HDX_PASSED_POINT);
    cr_expect(hdx_points_passed(&points, b, end, 45) == HDX_PASSED_CHANGED);
    cr_expect(hdx_points_passed(&points, b, end, 44) == HDX_PASSED_POINT);
    cr_expect(hdx_points_passed(&points, a, end, 46) == HDX_PASSED_POINT, "two slices together: a new sum begins");
    cr_expect(hdx_points_passed(&points, b, end, 44) == HDX_PASSED_POINT, "and what is known stays");
    cr_expect(hdx_points_passed(&points, a, b, 22) == HDX_PASSED_POINT);
    hdx_points_free(&points);
}

/* ---- which reads go to the file ---- */

typedef struct counted {
    gm_file  door;
    uint64_t reads;
    int64_t (*read_at)(hdx_io *io, int fd, void *to, uint64_t len, uint64_t at);
} counted;

static counted *counting; /* one test at a time */
static int64_t  count_read(hdx_io *io, int fd, void *to, uint64_t len, uint64_t at)
{
    counting->reads++;
    return counting->read_at(io, fd, to, len, at);
}

static void count_from(counted *c, const gm_bytes *file)
{
    *c = (counted){ .door = gm_file_of(file) };
    c->read_at = c->door.io.read_at;
    c->door.io.read_at = count_read;
    counting = c;
}

static uint64_t reads_of(counted *c, hdx_source *source, const gm_bytes *plain, hdx_pos at, size_t want)
{
    static uint8_t bytes[200000];
    size_t         got;
    const uint64_t before = c->reads;
    const size_t   right = at >= plain->len ? 0 : plain->len - at < want ? plain->len - at : want;
    cr_assert(hdx_source_read_at(source, at, bytes, want, &got, NULL) == HDX_OK);
    cr_assert(got == right && memcmp(bytes, plain->at + (at < plain->len ? at : 0), got) == 0, "%llu", (ull)at);
    return c->reads - before;
}

/* A slice that is inflated stays so until as many others as fit were asked for after it; hits count as being asked. */
Test(inner, slices_used_longest_ago_go_first)
{
    gm_bytes                 plain = { 0 }, file = { 0 };
    counted                  c;
    hdx_source              *source;
    const hdx_source_options options = { .threads = 1 };
    gm_data(&plain, 9u << 20, 5);
    gm_jdk_put(&file, &plain, 1u << 20); /* a slice for each member, of a MiB */
    count_from(&c, &file);
    cr_assert(hdx_source_open_io(&c.door.io, "app", &options, &source, NULL) == HDX_OK);
    read_whole(source, &plain);
    const unsigned all = source->pieces, room = 6;
    cr_assert(all > room);
    source->pieces = room; /* the others are not used */
    for (unsigned i = 0; i < room; i++)
        cr_expect(reads_of(&c, source, &plain, ((hdx_pos)i << 20) + 5, 100) > 0, "slice %u is inflated", i);
    for (unsigned i = 0; i < room; i++)
        cr_expect(reads_of(&c, source, &plain, ((hdx_pos)i << 20) + 1000 * i, 5000) == 0, "slice %u is there", i);
    cr_expect(reads_of(&c, source, &plain, 0, 1) == 0, "the oldest one is asked for, and is the newest now");
    cr_expect(reads_of(&c, source, &plain, (hdx_pos)room << 20, 10) > 0, "one more");
    cr_expect(reads_of(&c, source, &plain, 77, 10) == 0, "the one that was asked for stays");
    for (unsigned i = 2; i < room; i++)
        cr_expect(reads_of(&c, source, &plain, ((hdx_pos)i << 20) + 9, 10) == 0, "slice %u stays", i);
    cr_expect(reads_of(&c, source, &plain, (1u << 20) + 9, 10) > 0, "the one used longest ago is gone");
    cr_expect(reads_of(&c, source, &plain, ((hdx_pos)(room - 1) << 20) + 1048570, 6) == 0, "the last bytes of a slice");
    cr_expect(reads_of(&c, source, &plain, plain.len, 10) == 0 && reads_of(&c, source, &plain, plain.len + 7, 1) == 0,
              "behind the end nothing is read");
    source->pieces = all;
    hdx_source_close(source);
    gm_free(&plain);
    gm_free(&file);
}

/* ---- small reads beside each other ---- */

Test(inner, small_reads_near_each_other_fetch_a_block_at_the_second_one)
{
    enum { BLOCK = 65536 };
    gm_bytes    plain = { 0 };
    counted     c;
    hdx_source *source;
    gm_data(&plain, 20 * BLOCK + 100, 7);
    count_from(&c, &plain);
    cr_assert(hdx_source_open_io(&c.door.io, "app", NULL, &source, NULL) == HDX_OK);
    hdx_near *near = hdx_near_begin(source);
    cr_assert(near != NULL);
    cr_expect(hdx_near_begin(source) == NULL, "a thread has one");
    static const struct {
        hdx_pos     at;
        size_t      want;
        uint64_t    reads;
        const char *what;
    } steps[] = {
        { 10, 5, 1, "the first in a block" },
        { 20, 5, 1, "the second fetches it" },
        { 30, 4096, 0, "it is at hand" },
        { 40, 4097, 1, "long ones go straight" },
        { BLOCK - 5, 5, 0, "its last bytes" },
        { BLOCK - 5, 10, 1, "two blocks, of which one is not there" },
        { BLOCK - 5, 10, 1, "now it is fetched" },
        { BLOCK - 5, 10, 0, "both are there" },
        { 16 * BLOCK + 1, 5, 1, "another block of the same place" },
        { 0, 5, 0, "the old one is there still" },
        { 16 * BLOCK + 2, 5, 1, "it takes the place" },
        { 16 * BLOCK + 3, 5, 0, "and is there" },
        { 3, 5, 1, "the old one is gone, and was missed before" },
        { 4, 5, 0, "it is back" },
        { 20 * BLOCK + 90, 5, 1, "the last block, which is short" },
        { 20 * BLOCK + 90, 5, 1, "fetched" },
        { 20 * BLOCK + 90, 50, 0, "as far as it goes" },
        { 20 * BLOCK + 100, 5, 0, "nothing at the end" },
        { 20 * BLOCK + 200, 5, 0, "nor behind it" },
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        cr_expect(eq(u64, reads_of(&c, source, &plain, steps[i].at, steps[i].want), steps[i].reads), "step %zu: %s", i,
                  steps[i].what);
    hdx_near_end(near);
    cr_expect(reads_of(&c, source, &plain, 5, 5) == 1, "without it each goes to the file");
    near = hdx_near_begin(source);
    cr_expect(near != NULL);
    hdx_near_end(near);
    hdx_near_end(NULL);
    hdx_source_close(source);
    gm_free(&plain);
}

/* ---- many reads ---- */

Test(inner, many_reads_in_any_order_give_what_single_ones_give)
{
    enum { COUNT = 300 };
    static uint8_t to[COUNT][3000];
    gm_bytes       plain = { 0 }, file = { 0 };
    gm_data(&plain, 9u << 20, 8);
    gm_jdk_put(&file, &plain, 1u << 20);
    for (unsigned threads = 1; threads <= 4; threads += 3)
        for (unsigned count = 0; count <= COUNT; count = count < 20 ? count + 5 : count * 2 + 20) {
            hdx_read    reads[COUNT];
            gm_file     door = gm_file_of(&file);
            hdx_source *source = opened(&door, threads);
            uint64_t    seed = count + threads;
            for (unsigned i = 0; i < count; i++)
                reads[i] = (hdx_read){ .at = i % 9 == 8 ? plain.len - 10 : gm_random(&seed) % plain.len,
                                       .to = to[i],
                                       .want = gm_random(&seed) % 3000,
                                       .got = 77 };
            cr_assert(hdx_source_read_many(source, reads, count, NULL) == HDX_OK);
            for (unsigned i = 0; i < count; i++) {
                const size_t left = plain.len - reads[i].at, right = left < reads[i].want ? left : reads[i].want;
                cr_expect(reads[i].got == right && memcmp(to[i], plain.at + reads[i].at, right) == 0, "read %u of %u",
                          i, count);
            }
            hdx_source_close(source);
        }
    gm_free(&plain);
    gm_free(&file);
}
