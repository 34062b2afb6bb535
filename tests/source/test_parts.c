/*
 * test_parts.c - small parts by themselves: the list of damage when it is full, points of dumps of no bytes, what a
 * packer gives, which blocks of reads near each other are kept.
 */
#include "kept.h"
#include "source/inner.h"
#include "support/gzip_maker.h"

#include <criterion/criterion.h>

typedef unsigned long long ull;

Test(damage, the_last_place_has_room_for_what_ends_a_dump)
{
    hdx_damage_list list;
    hdx_damage      entry = { .kind = HDX_DAMAGE_CRC };
    cr_assert(hdx_damage_init(&list, NULL));
    for (uint64_t n = 0; n < HDX_SOURCE_DAMAGE_MAX + 5; n++) {
        entry.offset = n;
        hdx_damage_note(&list, n, false, &entry);
        hdx_damage_note(&list, n, false, &entry); /* another decoder meets it again */
        hdx_damage_note(&list, n + 2, false, &entry);
        const size_t most = HDX_SOURCE_DAMAGE_MAX - 1, have = (size_t)n + 1;
        cr_assert(list.count == (have < most ? have : most) && list.seen == n + 1, "%llu: %zu", (ull)n, list.count);
    }
    entry.kind = HDX_DAMAGE_TRUNCATED;
    hdx_damage_note(&list, list.seen, true, &entry);
    cr_expect(list.count == HDX_SOURCE_DAMAGE_MAX && list.entries[list.count - 1].kind == HDX_DAMAGE_TRUNCATED &&
              list.entries[list.count - 2].offset == HDX_SOURCE_DAMAGE_MAX - 2);
    hdx_damage_note(&list, list.seen, true, &entry);
    cr_expect(list.count == HDX_SOURCE_DAMAGE_MAX);
    hdx_damage_free(&list, NULL);
    hdx_damage_free(&list, NULL);
}

Test(points, of_a_dump_of_no_bytes_are_one)
{
    for (unsigned members = 1; members < 4; members++) {
        gm_bytes    file = { 0 };
        hdx_source *source;
        hdx_stream *stream;
        uint8_t     byte;
        size_t      got;
        uint64_t    points = 9, windows = 9, size = 9;
        for (unsigned k = 0; k < members; k++)
            gm_member_put(&file, "", 0, &(gm_member){ 0 });
        gm_file door = gm_file_of(&file);
        cr_assert(hdx_source_open_io(&door.io, "app", NULL, &source, NULL) == HDX_OK);
        cr_expect(hdx_source_points(source, &points, &windows, NULL) == HDX_BAD_DUMP, "its end was not reached");
        cr_assert(hdx_stream_open(source, 0, &stream, NULL) == HDX_OK);
        cr_assert(hdx_stream_read(stream, &byte, 1, &got, NULL) == HDX_OK && got == 0);
        hdx_stream_close(stream);
        cr_expect(hdx_source_points(source, &points, &windows, NULL) == HDX_OK && points == 1 && windows == 0,
                  "%llu, %llu", (ull)points, (ull)windows);
        cr_expect(hdx_source_size(source, &size) && size == 0);
        hdx_source_close(source);
        gm_free(&file);
    }
}

/* ---- packing ---- */

static unsigned puts_wanted;
static hdx_code put(void *context, const void *bytes, size_t len, hdx_error *err)
{
    (void)err;
    gm_put(context, bytes, len);
    return puts_wanted > 0 && --puts_wanted == 0 ? HDX_IO : HDX_OK;
}

/* Each piece is a member behind what is there. */
Test(packer, gives_pieces_that_are_members)
{
    gm_bytes   plain = { 0 };
    hdx_buffer out = hdx_buffer_of(NULL);
    const struct {
        size_t at, len;
    } pieces[] = { { 0, 300000 }, { 300000, 0 }, { 300000, 1 }, { 300001, 70000 } };
    uint8_t *unpacked = malloc(400000);
    size_t   end[4], from = 0, got = 0;
    gm_data(&plain, 370001, 5);
    for (size_t i = 0; i < 4; i++) {
        hdx_error err;
        cr_assert(hdx_pack_piece(plain.at + pieces[i].at, pieces[i].len, &out, &err) == HDX_OK);
        end[i] = (size_t)out.len;
    }
    for (size_t i = 0; i < 4; i++) {
        z_stream z = { .next_in = (Bytef *)out.at + from, .avail_in = (uInt)(end[i] - from) };
        cr_assert(inflateInit2(&z, 15 + 16) == Z_OK);
        z.next_out = unpacked + got;
        z.avail_out = (uInt)(400000 - got);
        cr_expect(inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in == 0 && z.total_out == pieces[i].len, "piece %zu",
                  i);
        got += z.total_out;
        from = end[i];
        cr_assert(inflateEnd(&z) == Z_OK);
    }
    cr_expect(got == plain.len && memcmp(unpacked, plain.at, got) == 0 && out.len < plain.len);
    free(unpacked);
    hdx_buffer_free(&out);
    gm_free(&plain);
}

Test(packer, gives_one_stream_of_all_that_it_was_given)
{
    for (unsigned kind = 0; kind < 2; kind++) {
        gm_bytes    plain = { 0 }, packed = { 0 };
        hdx_packer *p;
        uint8_t    *back = malloc(900001);
        z_stream    z = { 0 };
        gm_data(&plain, 900000, 3);
        puts_wanted = 0;
        cr_assert(hdx_packer_open(kind == 0 ? HDX_GZIP : HDX_ZLIB, NULL, put, &packed, &p, NULL) == HDX_OK);
        for (size_t at = 0, n = 1; at < plain.len; at += n, n = 3 * n + 1) {
            n = n < plain.len - at ? n : plain.len - at;
            cr_assert(hdx_packer_put(p, plain.at + at, n, false, NULL) == HDX_OK);
        }
        cr_assert(hdx_packer_put(p, NULL, 0, true, NULL) == HDX_OK);
        hdx_packer_close(p);
        cr_expect(kind == 0 ? packed.at[0] == 0x1f && packed.at[1] == 0x8b : packed.at[0] == 0x78 && packed.at[1] == 1);
        cr_assert(inflateInit2(&z, 15 + 32) == Z_OK);
        z.next_in = packed.at;
        z.avail_in = (uInt)packed.len;
        z.next_out = back;
        z.avail_out = 900001;
        cr_expect(inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == plain.len && z.avail_in == 0 &&
                  memcmp(back, plain.at, plain.len) == 0);
        (void)inflateEnd(&z);
        free(back);
        gm_free(&plain);
        gm_free(&packed);
    }
    hdx_packer_close(NULL);
}

Test(packer, says_what_cannot_be_written)
{
    gm_bytes    plain = { 0 }, packed = { 0 };
    hdx_packer *p;
    gm_data(&plain, 900000, 3);
    for (unsigned n = 1; n < 4; n++) {
        puts_wanted = n;
        cr_assert(hdx_packer_open(HDX_GZIP, NULL, put, &packed, &p, NULL) == HDX_OK);
        cr_expect(hdx_packer_put(p, plain.at, plain.len, true, NULL) == HDX_IO, "%u", n);
        hdx_packer_close(p);
    }
    gm_free(&plain);
    gm_free(&packed);
}

/* ---- many reads ---- */

Test(many, reads_of_one_place_and_of_none_are_answered)
{
    gm_bytes       plain = { 0 }, file = { 0 };
    hdx_source    *source;
    static uint8_t to[40][100];
    hdx_read       reads[40];
    gm_data(&plain, 6u << 20, 5);
    gm_member_put(&file, plain.at, plain.len, &(gm_member){ 0 });
    gm_file door = gm_file_of(&file);
    cr_assert(hdx_source_open_io(&door.io, "app", &(hdx_source_options){ .threads = 3 }, &source, NULL) == HDX_OK);
    cr_expect(hdx_source_read_many(source, reads, 0, NULL) == HDX_OK);
    for (size_t count = 1; count <= 40; count += count < 14 ? 13 : 1) {
        for (size_t k = 0; k < count; k++)
            reads[k] = (hdx_read){ .at = k % 3 == 0   ? 77
                                         : k % 3 == 1 ? plain.len - 50
                                                      : (k * 7919 * 1000) % plain.len,
                                   .to = to[k],
                                   .want = 100,
                                   .got = 999 };
        cr_assert(hdx_source_read_many(source, reads, count, NULL) == HDX_OK);
        for (size_t k = 0; k < count; k++) {
            const size_t left = plain.len - (size_t)reads[k].at, n = left < 100 ? left : 100;
            cr_assert(reads[k].got == n && memcmp(to[k], plain.at + reads[k].at, n) == 0, "read %zu of %zu", k, count);
        }
    }
    hdx_source_close(source);
    gm_free(&plain);
    gm_free(&file);
}

/* ---- a point inside a giant block whose header lies across the end of what is read of the file at a time ---- */

Test(points, inside_a_block_are_reached_wherever_its_header_lies)
{
    enum { SIZE = 3 << 20, PHRASE = 700, AT_A_TIME = 64 << 10 };
    static char comment[AT_A_TIME + 1];
    uint8_t     phrase[PHRASE];
    uint64_t    state = 9;
    gm_bytes    plain = { 0 };
    for (unsigned k = 0; k < PHRASE; k++)
        phrase[k] = (uint8_t)(gm_random(&state) % 90 + 33);
    while (plain.len < SIZE) {
        phrase[gm_random(&state) % PHRASE] = (uint8_t)(gm_random(&state) % 90 + 33);
        gm_put(&plain, phrase, PHRASE);
    }
    /* the first block begins behind ten bytes, the comment and its NUL */
    for (unsigned before = 0; before < 100; before += before < 4 ? 1 : 12) {
        gm_bytes       file = { 0 };
        hdx_source    *source;
        hdx_stream    *stream;
        static uint8_t part[SIZE + PHRASE];
        size_t         got;
        kept           k;
        hdx_error      err;
        memset(comment, 'c', sizeof comment);
        comment[AT_A_TIME - 11 - before] = '\0';
        gm_member_put(&file, plain.at, plain.len, &(gm_member){ .level = 9, .mem_level = 9, .comment = comment });
        gm_file door = gm_file_of(&file);
        cr_assert(hdx_source_open_io(&door.io, "app", NULL, &source, NULL) == HDX_OK);
        cr_assert(hdx_stream_open(source, 0, &stream, NULL) == HDX_OK);
        cr_assert(hdx_stream_read(stream, part, sizeof part, &got, NULL) == HDX_OK && got == plain.len);
        hdx_stream_close(stream);
        cr_assert(kept_from(source, &k, &err) == HDX_OK, "%s", err.message);
        cr_expect(k.count > 2 && k.at[1].kind == HDX_POINT_INSIDE && k.at[1].header_bit == 8ull * (AT_A_TIME - before),
                  "%u: %u points, kind %u, header at bit %llu", before, (unsigned)k.count, k.at[1].kind,
                  (ull)k.at[1].header_bit);
        for (uint64_t i = k.count; i-- > 0;) {
            const hdx_pos at = k.at[i].out + 5;
            cr_assert(hdx_source_read_at(source, at, part, 1000, &got, &err) == HDX_OK && got == 1000 &&
                          memcmp(part, plain.at + at, 1000) == 0,
                      "%u: point %llu: %s", before, (ull)i, err.message);
        }
        kept_free(&k);
        hdx_source_close(source);
        gm_free(&file);
    }
    gm_free(&plain);
}

/* ---- a zlib stream in a gzip file ---- */

Test(nested, a_zlib_stream_that_was_packed_once_more_is_read_through_both)
{
    gm_bytes       plain = { 0 }, inner = { 0 }, file = { 0 };
    hdx_source    *source;
    hdx_error      err = { 0 };
    static uint8_t part[100000];
    size_t         got;
    gm_data(&plain, 2u << 20, 8);
    gm_zlib_put(&inner, plain.at, plain.len, 6);
    gm_member_put(&file, inner.at, inner.len, &(gm_member){ .level = 1 });
    gm_file door = gm_file_of(&file);
    cr_assert(hdx_source_open_io(&door.io, "app", NULL, &source, NULL) == HDX_OK);
    cr_assert(hdx_source_read_at(source, 0, part, 2, &got, NULL) == HDX_OK && got == 2 &&
              memcmp(part, inner.at, 2) == 0);
    for (unsigned times = 0; times < 2; times++) { /* who asks again has what there is */
        cr_assert(hdx_source_nest(source, &err) == HDX_OK, "%s", err.message);
        cr_expect(hdx_source_compression(source) == HDX_GZIP && hdx_source_file_size(source) == file.len);
        for (uint64_t at = 5; at < plain.len; at += 700001) {
            const size_t left = plain.len - (size_t)at, right = left < sizeof part ? left : sizeof part;
            cr_assert(hdx_source_read_at(source, at, part, sizeof part, &got, &err) == HDX_OK, "%s", err.message);
            cr_expect(got == right && memcmp(part, plain.at + at, got) == 0, "at %llu", (ull)at);
        }
    }
    hdx_source_close(source);
    cr_expect(door.open_now == 0);
    gm_free(&plain);
    gm_free(&inner);
    gm_free(&file);
}
