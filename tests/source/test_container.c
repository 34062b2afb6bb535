/*
 * test_container.c - corners of gzip and zlib containers (GZIP 6): what is given, what is noted.
 */
#include "support/gzip_maker.h"
#include "source/inner.h"
#include "base/base.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

static gm_bytes plain, file;

static void setup(void) { gm_data(&plain, 300000, 1); }
static void teardown(void) { gm_free(&plain), gm_free(&file); }

/* Reads all there is, 4099 bytes at a time; the source stays open in *out. */
static gm_bytes read_all(gm_file *door, hdx_source **out)
{
    hdx_error   err = { 0 };
    hdx_stream *stream;
    gm_bytes    got = { 0 };
    uint8_t     part[4099];
    size_t      n;
    cr_assert(eq(int, hdx_source_open_io(&door->io, "app.hprof.gz", NULL, out, &err), HDX_OK), "%s", err.message);
    cr_assert(eq(int, hdx_stream_open(*out, 0, &stream, &err), HDX_OK));
    do {
        cr_assert(eq(int, hdx_stream_read(stream, part, sizeof part, &n, &err), HDX_OK), "%s", err.message);
        gm_put(&got, part, n);
    } while (n == sizeof part);
    cr_assert(eq(int, hdx_stream_read(stream, part, sizeof part, &n, &err), HDX_OK));
    cr_assert(eq(sz, n, 0));
    hdx_stream_close(stream);
    return got;
}

/*
 * The file gives `want` bytes of `plain` from `from` on, and these damage kinds ("crc garbage"); also at random places.
 */
static void expect_part(size_t want, const char *kinds)
{
    gm_file           door = gm_file_of(&file);
    hdx_source       *source;
    const hdx_damage *damage;
    char              seen[256] = "";
    uint64_t          size;
    gm_bytes          got = read_all(&door, &source);
    cr_assert(eq(sz, got.len, want));
    cr_assert(want == 0 || memcmp(got.at, plain.at, want) == 0);
    size_t n = hdx_source_damage(source, &damage);
    for (size_t i = 0; i < n && i < 10; i++) {
        strcat(strcat(seen, i > 0 ? " " : ""), hdx_damage_name(damage[i].kind));
        cr_expect(ne(str, (char *)damage[i].expected, ""));
        cr_expect(damage[i].lost_bytes <= file.len);
    }
    cr_expect(eq(str, seen, (char *)kinds));
    cr_assert(hdx_source_size(source, &size));
    cr_assert(eq(u64, size, want));
    uint64_t seed = 5;
    for (int i = 0; i < 20; i++) { /* random access agrees, up to the end and over it */
        uint8_t   bytes[512];
        uint64_t  at = gm_random(&seed) % (want + 100);
        size_t    n2, right = at >= want ? 0 : want - at < sizeof bytes ? want - at : sizeof bytes;
        hdx_error err;
        cr_assert(eq(int, hdx_source_read_at(source, at, bytes, sizeof bytes, &n2, &err), HDX_OK));
        cr_assert(eq(sz, n2, right));
        cr_assert(right == 0 || memcmp(bytes, plain.at + at, right) == 0);
    }
    cr_expect(eq(sz, hdx_source_damage(source, &damage), n)); /* noted once */
    hdx_source_close(source);
    cr_expect(eq(uint, door.open_now, 0));
    gm_free(&got);
}

static void expect_all(const char *kinds) { expect_part(plain.len, kinds); }

TestSuite(container, .init = setup, .fini = teardown);

Test(container, gives_a_member_with_every_optional_field)
{
    gm_bytes extra = { 0 };
    for (int i = 0; i < 65535; i++)
        gm_byte(&extra, "\x1f\x8b\x08"[i % 3]);
    char *name = malloc(70001);
    memset(name, 'n', 70000);
    name[70000] = 0;
    gm_member_put(
        &file, plain.at, plain.len,
        &(gm_member){ .extra = &extra, .name = name, .comment = "HPROF BLOCKSIZE=-4096", .hcrc = true, .flags = 1 });
    expect_all("");
    free(name);
    gm_free(&extra);
}

Test(container, an_empty_extra_field_is_one)
{
    gm_bytes extra = { 0 };
    gm_member_put(&file, plain.at, plain.len, &(gm_member){ .extra = &extra, .name = "" });
    expect_all("");
}

Test(container, gives_every_way_to_deflate)
{
    static const gm_member how[] = { { .stored = true },
                                     { .strategy = Z_FIXED, .level = 9 },
                                     { .strategy = Z_HUFFMAN_ONLY },
                                     { .window_bits = 9, .mem_level = 1 },
                                     { .flush_every = 200 },
                                     { .level = 1 },
                                     { .mem_level = 9 },
                                     { .comment = "HPROF BLOCKSIZE=1" },
                                     { .comment = "HPROF BLOCKSIZE=99999999999999999999" } };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        file.len = 0;
        gm_member_put(&file, plain.at, plain.len, &how[i]);
        expect_all("");
    }
}

Test(container, members_of_any_size_are_one_dump)
{
    static const size_t sizes[] = { 1, 2, 999, 65280, 299999 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        file.len = 0;
        plain.len = sizes[i] < 10 ? 5000 : 300000;
        gm_jdk_put(&file, &plain, sizes[i]);
        expect_all("");
    }
}

Test(container, empty_members_are_nothing_anywhere)
{
    gm_member_put(&file, "", 0, &(gm_member){ 0 });
    gm_member_put(&file, plain.at, 1000, &(gm_member){ 0 });
    gm_member_put(&file, "", 0, &(gm_member){ .name = "x" });
    gm_member_put(&file, "", 0, &(gm_member){ .stored = true });
    gm_member_put(&file, plain.at + 1000, plain.len - 1000, &(gm_member){ 0 });
    gm_member_put(&file, "", 0, &(gm_member){ 0 });
    expect_all("");
}

Test(container, fifty_thousand_empty_members_are_fast)
{
    for (int i = 0; i < 50000; i++)
        gm_put(&file, "\x1f\x8b\x08\0\0\0\0\0\0\3\3\0\0\0\0\0\0\0\0\0", 20);
    gm_member_put(&file, plain.at, plain.len, &(gm_member){ 0 });
    uint64_t from = hdx_cpu_ns();
    expect_all("");
    cr_expect(hdx_cpu_ns() - from <
              2000000000u); /* 20 reads at random begin at the start of the file each; sanitizers included */
}

Test(container, thousands_of_empty_blocks_are_no_data)
{
    gm_bytes body = { 0 };
    gm_bits  b = { &body, 0, 0 };
    for (int i = 0; i < 20000; i++) {
        gm_fixed_begin(&b, false);
        gm_fixed_end(&b);
    }
    gm_bits_put(&b, 0, 3); /* stored, empty */
    gm_bits_end(&b);
    gm_put(&body, "\0\0\xff\xff", 4);
    gm_deflate(&body, plain.at, plain.len, &(gm_member){ 0 });
    gm_member_put(&file, plain.at, plain.len, &(gm_member){ .body = &body });
    expect_all("");
    gm_free(&body);
}

Test(container, a_final_empty_block_in_the_last_bits_is_seen)
{
    gm_bytes body = { 0 };
    gm_bits  b = { &body, 0, 0 };
    plain.len = 1;
    gm_fixed_begin(&b, false);
    gm_literal(&b, plain.at[0]);
    gm_fixed_end(&b);
    for (int i = 0; i < 7; i++) {
        gm_fixed_begin(&b, i == 6);
        gm_fixed_end(&b);
    }
    gm_bits_end(&b);
    gm_member_put(&file, plain.at, 1, &(gm_member){ .body = &body });
    expect_all("");
    gm_free(&body);
}

Test(container, zeros_behind_the_last_member_are_padding)
{
    uint8_t *zeros = calloc(1, 200000);
    gm_member_put(&file, plain.at, plain.len, &(gm_member){ 0 });
    for (size_t n = 1; n <= 200000; n = n * 37 + 1) {
        size_t len = file.len;
        gm_put(&file, zeros, n);
        expect_all("");
        file.len = len;
    }
    free(zeros);
}

Test(container, other_bytes_behind_it_are_garbage)
{
    gm_file           door;
    hdx_source       *source;
    const hdx_damage *damage;
    gm_member_put(&file, plain.at, plain.len, &(gm_member){ 0 });
    size_t end = file.len;
    gm_put(&file, "not a member", 12);
    expect_all("garbage");
    door = gm_file_of(&file);
    gm_bytes got = read_all(&door, &source);
    cr_assert(eq(sz, hdx_source_damage(source, &damage), 1));
    cr_expect(eq(u64, damage->offset, plain.len));
    cr_expect(eq(u64, damage->lost_bytes, 12));
    cr_expect(eq(str, (char *)damage->record, "gzip member"));
    cr_expect(strstr(damage->expected, "found 6e 6f 74 20 61 20 6d 65") != NULL, "%s", damage->expected);
    hdx_source_close(source);
    gm_free(&got);

    file.len = end;
    gm_put(&file, "\0\0\0\0\1", 5); /* not only zeros */
    expect_all("garbage");
    file.len = end;
    gm_put(&file, plain.at, 5000); /* the second member is plain data */
    expect_all("garbage");
}

Test(container, members_of_impossible_kinds_behind_the_first_are_garbage)
{
    static const gm_member how[] = { { .flags = 0x20 }, { .flags = 0x80 }, { .method = 7 } };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        file.len = 0;
        gm_member_put(&file, plain.at, plain.len, &(gm_member){ 0 });
        gm_member_put(&file, plain.at, plain.len, &how[i]);
        expect_all("garbage");
    }
}

Test(container, wrong_sums_are_noted_in_order_and_the_data_stand)
{
    static const gm_member how[] = { { .hcrc = true, .bad_hcrc = true },
                                     { .bad_crc = true },
                                     { .bad_size = true },
                                     { 0 },
                                     { .hcrc = true, .bad_hcrc = true, .bad_crc = true } };
    for (size_t i = 0; i < 5; i++)
        gm_member_put(&file, plain.at + i * 60000, 60000, &how[i]);
    gm_put(&file, "xyz", 3);
    expect_all("crc crc crc crc crc garbage");
    gm_file           door = gm_file_of(&file);
    hdx_source       *source;
    const hdx_damage *d;
    gm_bytes          got = read_all(&door, &source);
    cr_assert(eq(sz, hdx_source_damage(source, &d), 6));
    cr_expect(eq(u64, d[0].offset, 0)); /* of the member's header; the others: of the trailer */
    for (int i = 1; i < 5; i++)
        cr_expect(d[i].offset > d[i - 1].offset);
    cr_expect(eq(u64, d[4].offset, file.len - 3 - 8));
    cr_expect(strstr(d[1].expected, "bytes 60000 to 120000 may be wrong") != NULL, "%s", d[1].expected);
    cr_expect(strstr(d[2].expected, "expected 60001 bytes") != NULL, "%s", d[2].expected);
    hdx_source_close(source);
    gm_free(&got);
}

Test(container, a_flood_of_wrong_sums_does_not_hide_the_end)
{
    for (size_t i = 0; i < 3000; i++)
        gm_member_put(&file, plain.at + i * 100, 100, &(gm_member){ .bad_crc = true });
    gm_put(&file, "xyz", 3);
    gm_file           door = gm_file_of(&file);
    hdx_source       *source;
    const hdx_damage *d;
    gm_bytes          got = read_all(&door, &source);
    cr_assert(eq(sz, hdx_source_damage(source, &d), 1000));
    cr_expect(eq(int, d[998].kind, HDX_DAMAGE_CRC));
    cr_expect(eq(int, d[999].kind, HDX_DAMAGE_GARBAGE));
    hdx_source_close(source);
    gm_free(&got);
}

Test(container, a_cut_at_every_byte_is_truncated_and_keeps_what_there_is)
{
    plain.len = 3000;
    gm_member_put(&file, plain.at, 1500, &(gm_member){ .hcrc = true, .name = "a", .comment = "b" });
    size_t second = file.len;
    gm_member_put(&file, plain.at + 1500, 1500, &(gm_member){ .hcrc = true, .name = "a", .comment = "b" });
    size_t full = file.len, before = 0;
    for (size_t cut = 2; cut < full; cut++) {
        gm_bytes          part = { malloc(cut), cut, cut }; /* exactly so long: a read past it is seen */
        hdx_source       *source;
        const hdx_damage *d;
        memcpy(part.at, file.at, cut);
        gm_file  door = gm_file_of(&part);
        gm_bytes got = read_all(&door, &source);
        cr_assert(got.len >= before && got.len <= 3000);
        cr_assert(got.len == 0 || memcmp(got.at, plain.at, got.len) == 0);
        cr_assert(cut < second - 8 || got.len >= 1500);
        before = got.len;
        size_t n = hdx_source_damage(source, &d);
        cr_assert(eq(sz, n, cut == second ? 0 : 1), "cut %zu", cut);
        cr_assert(n == 0 || d->kind == HDX_DAMAGE_TRUNCATED);
        cr_assert(n == 0 || d->offset == got.len);
        const bool in_sum = cut >= full - 8 || (cut >= second - 8 && cut < second);
        cr_assert(n == 0 || d->lost_bytes == 0 || !in_sum, "cut %zu: all data are there", cut);
        hdx_source_close(source);
        gm_free(&got);
        gm_free(&part);
    }
    cr_expect(eq(sz, before, 3000));
}

/* Of many places the first ones are told, and always the last, after which nothing is read. */
Test(container, the_end_that_is_missing_is_told_after_any_number_of_places)
{
    for (unsigned places = HDX_SOURCE_DAMAGE_MAX - 2; places <= HDX_SOURCE_DAMAGE_MAX + 1; places++) {
        const hdx_damage *d;
        hdx_source       *source;
        file.len = 0;
        for (unsigned i = 0; i < places; i++)
            gm_member_put(&file, plain.at + i, 1, &(gm_member){ .bad_crc = true });
        gm_member_put(&file, plain.at, 1000, &(gm_member){ 0 });
        file.len -= 20;
        gm_file      door = gm_file_of(&file);
        gm_bytes     got = read_all(&door, &source);
        const size_t n = hdx_source_damage(source, &d),
                     want = places + 1 < HDX_SOURCE_DAMAGE_MAX ? places + 1 : HDX_SOURCE_DAMAGE_MAX;
        cr_expect(eq(sz, n, want), "%u places", places);
        cr_expect(n > 0 && d[n - 1].kind == HDX_DAMAGE_TRUNCATED, "%u places", places);
        for (size_t i = 0; i + 1 < n; i++)
            cr_expect(d[i].kind == HDX_DAMAGE_CRC && (i == 0 || d[i].offset > d[i - 1].offset), "%u: %zu", places, i);
        hdx_source_close(source);
        gm_free(&got);
    }
}

Test(container, flushed_data_without_a_final_block_are_kept)
{
    gm_bytes body = { 0 };
    gm_deflate(&body, plain.at, plain.len, &(gm_member){ .flush_every = plain.len - 1 });
    gm_put(&file, "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
    gm_put(&file, body.at, body.len);
    while (memcmp(file.at + file.len - 4, "\0\0\xff\xff", 4) != 0)
        file.len--;
    expect_part(plain.len - 1, "truncated");
    gm_free(&body);
}

Test(container, an_error_in_a_block_keeps_all_before_it)
{
    gm_bytes body = { 0 };
    gm_bits  b = { &body, 0, 0 };
    gm_member_put(&file, plain.at, 200000, &(gm_member){ 0 });
    size_t first = file.len;
    gm_member_put(&file, "x", 1, &(gm_member){ .body = &(gm_bytes){ (uint8_t *)"\7", 1, 0 } }); /* block type 3 */
    gm_member_put(&file, plain.at + 200000, 100000, &(gm_member){ 0 });
    expect_part(200000, "gzip");

    file.len = first;
    gm_member_put(&file, "x", 1,
                  &(gm_member){ .body = &(gm_bytes){ (uint8_t *)"\1\5\0\0\0hello", 10, 0 } }); /* stored length */
    expect_part(200000, "gzip");

    file.len = first;
    gm_fixed_begin(&b, true);
    for (int i = 0; i < 500; i++)
        gm_literal(&b, plain.at[200000 + i]);
    gm_match(&b, 258, 20000); /* begins before the member */
    gm_fixed_end(&b);
    gm_bits_end(&b);
    gm_member_put(&file, "x", 1, &(gm_member){ .body = &body });
    expect_part(200500, "gzip");
    gm_free(&body);
}

Test(container, the_place_of_a_block_error_is_said)
{
    gm_member_put(&file, plain.at, 1000, &(gm_member){ 0 });
    size_t first = file.len;
    gm_member_put(&file, "x", 1, &(gm_member){ .body = &(gm_bytes){ (uint8_t *)"\7", 1, 0 } });
    gm_file           door = gm_file_of(&file);
    hdx_source       *source;
    const hdx_damage *d;
    gm_bytes          got = read_all(&door, &source);
    cr_assert(eq(sz, hdx_source_damage(source, &d), 1));
    cr_expect(eq(u64, d->offset, first + 10)); /* in the file as it is */
    cr_expect(eq(u64, d->lost_bytes, file.len - first - 10));
    cr_expect(strstr(d->expected, "member 1") != NULL);
    hdx_source_close(source);
    gm_free(&got);
}

Test(container, members_inside_stored_data_are_data)
{
    gm_bytes inner = { 0 };
    for (int i = 0; i < 100; i++)
        gm_member_put(&inner, plain.at + i, 700, &(gm_member){ 0 });
    gm_member_put(&file, inner.at, inner.len, &(gm_member){ .stored = true });
    gm_free(&plain);
    plain = inner;
    expect_all("");
}

Test(container, zlib_is_read_with_its_checksum)
{
    gm_zlib_put(&file, plain.at, plain.len, 9);
    expect_all("");
    gm_put(&file, "\0\0\0", 3);
    expect_all("");
    gm_put(&file, "\1", 1);
    expect_all("garbage");
    file.len -= 4;
    file.at[file.len - 1] ^= 1;
    expect_all("crc");
    file.len -= 2;
    expect_all("truncated");
}

Test(container, a_zlib_header_alone_is_truncated)
{
    gm_put(&file, "\x78\x9c", 2);
    expect_part(0, "truncated");
}

Test(container, one_and_a_half_magic_bytes_are_truncated)
{
    gm_put(&file, "\x1f\x8b", 2);
    expect_part(0, "truncated");
    gm_put(&file, "\x08", 1);
    expect_part(0, "truncated");
}

Test(container, random_damage_never_hurts)
{
    uint64_t seed = 20240607;
    cr_log_info("seed %llu", (unsigned long long)seed);
    plain.len = 20000;
    gm_jdk_put(&file, &plain, 6000);
    gm_bytes whole = { 0 };
    gm_put(&whole, file.at, file.len);
    for (int round = 0; round < 400; round++) {
        memcpy(file.at, whole.at, file.len);
        for (uint64_t i = 0; i < 1u << round % 4; i++)
            file.at[4 + gm_random(&seed) % (file.len - 4)] ^= (uint8_t)(1 + gm_random(&seed) % 255);
        file.at[3] &= 0x1f;
        gm_file     door = gm_file_of(&file);
        hdx_source *source;
        gm_bytes    got = read_all(&door, &source);
        uint8_t     bytes[300];
        for (int i = 0; i < 5 && got.len > 0; i++) { /* what a stream gives, random reads give */
            uint64_t at = gm_random(&seed) % got.len;
            size_t   n;
            cr_assert(eq(int, hdx_source_read_at(source, at, bytes, sizeof bytes, &n, NULL), HDX_OK));
            cr_assert(eq(sz, n, got.len - at < sizeof bytes ? got.len - at : sizeof bytes));
            cr_assert(memcmp(bytes, got.at + at, n) == 0);
        }
        hdx_source_close(source);
        gm_free(&got);
    }
    gm_free(&whole);
}
