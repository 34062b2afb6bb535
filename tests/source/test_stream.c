/*
 * test_stream.c - reading in order: sizes of reads, places to begin, early closing, files that shrink or fail, limits.
 */
#include "support/gzip_maker.h"
#include "source/inner.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sched.h>
#include <stdlib.h>

#define SIZE (5u << 20)
static gm_bytes plain, files[4];

static void setup(void)
{
    gm_data(&plain, SIZE, 3);
    gm_put(&files[0], plain.at, plain.len);
    gm_member_put(&files[1], plain.at, plain.len, &(gm_member){ .level = 1 });
    gm_jdk_put(&files[2], &plain, 1u << 20);
    gm_zlib_put(&files[3], plain.at, plain.len, 1);
}

static void teardown(void)
{
    gm_free(&plain);
    for (int i = 0; i < 4; i++)
        gm_free(&files[i]);
}

static hdx_source *opened(gm_file *door)
{
    hdx_source *source;
    hdx_error   err = { 0 };
    cr_assert(eq(int, hdx_source_open_io(&door->io, "app", NULL, &source, &err), HDX_OK), "%s", err.message);
    return source;
}

static hdx_stream *stream_from(hdx_source *source, hdx_pos from)
{
    hdx_stream *stream;
    cr_assert(eq(int, hdx_stream_open(source, from, &stream, NULL), HDX_OK));
    return stream;
}

TestSuite(stream, .init = setup, .fini = teardown);

Test(stream, gives_the_same_bytes_in_reads_of_any_size)
{
    static uint8_t      part[3u << 20];
    static const size_t sizes[] = { 4093, 65536, 1000003, 3u << 20 };
    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < 4; i++) {
            gm_file     door = gm_file_of(&files[kind]);
            hdx_source *source = opened(&door);
            hdx_stream *stream = stream_from(source, 0);
            size_t      got, at = 0;
            uint64_t    consumed = 0, size;
            do {
                cr_assert(eq(int, hdx_stream_read(stream, part, sizes[i], &got, NULL), HDX_OK));
                cr_assert(got <= SIZE - at);
                cr_assert(memcmp(part, plain.at + at, got) == 0);
                at += got;
                cr_assert(hdx_stream_consumed(stream) >= consumed);
                consumed = hdx_stream_consumed(stream);
            } while (got == sizes[i]);
            cr_assert(eq(sz, at, SIZE));
            cr_expect(eq(u64, consumed, files[kind].len));
            cr_assert(hdx_source_size(source, &size));
            cr_expect(eq(u64, size, SIZE));
            hdx_stream_close(stream);
            hdx_source_close(source);
            cr_expect(eq(uint, door.open_now, 0));
        }
}

Test(stream, small_and_large_reads_in_turn_are_right)
{
    static uint8_t      part[3u << 20];
    static const size_t sizes[] = { 100, 2000000, 1, 1000003, 70000 };
    for (int kind = 0; kind < 4; kind++) {
        gm_file     door = gm_file_of(&files[kind]);
        hdx_source *source = opened(&door);
        hdx_stream *stream = stream_from(source, 0);
        size_t      got, at = 0;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; at += sizes[i++]) {
            memset(part, 0, sizes[i]);
            cr_assert(eq(int, hdx_stream_read(stream, part, sizes[i], &got, NULL), HDX_OK));
            cr_assert(got == sizes[i] && memcmp(part, plain.at + at, got) == 0, "kind %d: read %zu", kind, i);
        }
        hdx_stream_close(stream);
        hdx_source_close(source);
    }
}

Test(stream, single_bytes_are_right_too)
{
    gm_file     door = gm_file_of(&files[2]);
    hdx_source *source = opened(&door);
    hdx_stream *stream = stream_from(source, SIZE - 100000);
    for (size_t at = SIZE - 100000; at < SIZE; at++) {
        uint8_t byte;
        size_t  got;
        cr_assert(eq(int, hdx_stream_read(stream, &byte, 1, &got, NULL), HDX_OK));
        cr_assert(got == 1 && byte == plain.at[at]);
    }
    hdx_stream_close(stream);
    hdx_source_close(source);
}

Test(stream, begins_anywhere_with_points_and_without)
{
    static const hdx_pos from[] = { 1, 700000, 1u << 20, 3000001, SIZE - 1, SIZE, SIZE + 1, UINT64_MAX };
    static uint8_t       part[100000];
    for (int kind = 0; kind < 4; kind++)
        for (int warm = 0; warm < 2; warm++)
            for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
                gm_file     door = gm_file_of(&files[kind]);
                hdx_source *source = opened(&door);
                size_t got, right = from[i] >= SIZE ? 0 : SIZE - from[i] < sizeof part ? SIZE - from[i] : sizeof part;
                if (warm)
                    cr_assert(eq(int, hdx_source_read_at(source, SIZE - 1, part, 1, &got, NULL), HDX_OK));
                hdx_stream *stream = stream_from(source, from[i]);
                cr_assert(eq(int, hdx_stream_read(stream, part, sizeof part, &got, NULL), HDX_OK));
                cr_assert(eq(sz, got, right));
                cr_assert(got == 0 || memcmp(part, plain.at + from[i], got) == 0);
                hdx_stream_close(stream);
                hdx_source_close(source);
            }
}

Test(stream, may_be_closed_at_any_time)
{
    static uint8_t part[300000];
    for (int kind = 0; kind < 4; kind++)
        for (int reads = 0; reads < 17; reads++) {
            gm_file     door = gm_file_of(&files[kind]);
            hdx_source *source = opened(&door);
            hdx_stream *stream = stream_from(source, 0);
            size_t      got;
            for (int i = 0; i < reads; i++)
                cr_assert(eq(int, hdx_stream_read(stream, part, sizeof part, &got, NULL), HDX_OK));
            hdx_stream_close(stream);
            hdx_source_close(source);
        }
}

Test(stream, several_at_once_share_points_and_stay_right)
{
    gm_file        door = gm_file_of(&files[1]);
    hdx_source    *source = opened(&door);
    hdx_stream    *streams[3] = { stream_from(source, 0), stream_from(source, 0), stream_from(source, 2000000) };
    size_t         at[3] = { 0, 0, 2000000 }, sizes[3] = { 100000, 70001, 64 }, got;
    static uint8_t part[100000];
    for (int round = 0; round < 80; round++)
        for (int i = 0; i < 3; i++) {
            cr_assert(eq(int, hdx_stream_read(streams[i], part, sizes[i], &got, NULL), HDX_OK));
            cr_assert(memcmp(part, plain.at + at[i], got) == 0);
            at[i] += got;
        }
    cr_expect(eq(sz, at[0], SIZE));
    for (int i = 0; i < 3; i++)
        hdx_stream_close(streams[i]);
    for (uint64_t i = 1; i < source->points.count; i++)
        cr_expect(source->points.list[i].out - source->points.list[i - 1].out >= HDX_POINT_SPACING / 3);
    hdx_source_close(source);
}

Test(stream, a_file_that_shrinks_ends_cleanly)
{
    static uint8_t part[100000];
    for (int kind = 0; kind < 4; kind++) {
        gm_file     door = gm_file_of(&files[kind]);
        hdx_source *source = opened(&door);
        hdx_stream *stream = stream_from(source, 0);
        size_t      got, at = 0;
        cr_assert(eq(int, hdx_stream_read(stream, part, sizeof part, &got, NULL), HDX_OK));
        at += got;
        door.len = files[kind].len / 2;
        do {
            cr_assert(eq(int, hdx_stream_read(stream, part, sizeof part, &got, NULL), HDX_OK));
            cr_assert(memcmp(part, plain.at + at, got) == 0);
            at += got;
        } while (got == sizeof part);
        cr_expect(at < SIZE);
        hdx_stream_close(stream);
        const hdx_damage *d;
        size_t            n = hdx_source_damage(source, &d);
        cr_expect(eq(sz, n, kind == 0 ? 0 : 1));
        cr_expect(n == 0 || d->kind == HDX_DAMAGE_TRUNCATED);
        hdx_source_close(source);
    }
}

Test(stream, a_read_that_fails_is_said_behind_the_bytes_before_it)
{
    static uint8_t part[100000];
    for (int kind = 0; kind < 4; kind++) {
        gm_file     door = gm_file_of(&files[kind]);
        hdx_source *source = opened(&door);
        hdx_stream *stream = stream_from(source, 0);
        hdx_error   err = { 0 };
        hdx_code    code;
        size_t      got, at = 0;
        door.fail_from = files[kind].len * 3 / 4;
        do {
            code = hdx_stream_read(stream, part, sizeof part, &got, &err);
            cr_assert(memcmp(part, plain.at + at, got) == 0);
            at += got;
        } while (code == HDX_OK && got == sizeof part);
        cr_expect(eq(int, code, HDX_IO));
        cr_expect(at > SIZE / 2 && at < SIZE);
        cr_expect(eq(int, hdx_stream_read(stream, part, 1, &got, NULL), HDX_IO)); /* and stays */
        cr_expect(strstr(err.message, "cannot read") != NULL);
        hdx_stream_close(stream);
        hdx_source_close(source);
    }
}

Test(stream, a_limit_is_kept_to_the_byte)
{
    static uint8_t part[65536];
    for (uint64_t limit = SIZE - 1; limit <= SIZE + 1; limit++)
        for (int kind = 0; kind < 4; kind++) {
            gm_file     door = gm_file_of(&files[kind]);
            hdx_source *source;
            hdx_error   err = { 0 };
            hdx_code    code;
            size_t      got, at = 0;
            cr_assert(eq(
                int,
                hdx_source_open_io(&door.io, "app", &(hdx_source_options){ .max_uncompressed = limit }, &source, NULL),
                HDX_OK));
            hdx_stream *stream = stream_from(source, 0);
            do {
                code = hdx_stream_read(stream, part, sizeof part, &got, &err);
                at += got;
            } while (code == HDX_OK && got == sizeof part);
            bool over = kind != 0 && limit < SIZE;
            cr_expect(eq(int, code, over ? HDX_LIMIT : HDX_OK));
            cr_expect(eq(sz, at, over ? limit : SIZE));
            cr_expect(eq(int, over, strstr(err.message, "max_uncompressed") != NULL));
            cr_expect(eq(int, hdx_source_read_at(source, SIZE - 1, part, 1, &got, NULL), over ? HDX_LIMIT : HDX_OK));
            hdx_stream_close(stream);
            hdx_source_close(source);
        }
}

Test(stream, one_processor_is_enough)
{
    static uint8_t part[100000];
    cpu_set_t      one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    cr_assert(sched_setaffinity(0, sizeof one, &one) == 0);
    gm_file     door = gm_file_of(&files[1]);
    hdx_source *source = opened(&door);
    hdx_stream *stream = stream_from(source, 0);
    size_t      got, at = 0;
    do {
        cr_assert(eq(int, hdx_stream_read(stream, part, sizeof part, &got, NULL), HDX_OK));
        cr_assert(memcmp(part, plain.at + at, got) == 0);
        at += got;
    } while (got == sizeof part);
    cr_expect(eq(sz, at, SIZE));
    hdx_stream_close(stream);
    hdx_source_close(source);
}

static bool refuse(void *context, uint64_t bytes)
{
    unsigned *left = context;
    (void)bytes;
    return (*left)-- == 0;
}

Test(stream, memory_refused_at_any_request_is_a_limit_or_does_not_matter)
{
    static uint8_t part[1u << 20];
    bool           finished = false;
    for (unsigned n = 0; !finished && n < 200; n++) {
        gm_file     door = gm_file_of(&files[1]);
        unsigned    left = n;
        hdx_mem     mem = { .refuse = refuse, .context = &left };
        hdx_source *source = NULL;
        hdx_stream *stream = NULL;
        size_t      got, at = 0;
        hdx_code    code = hdx_source_open_mem(&door.io, &mem, "app", NULL, &source, NULL);
        if (code == HDX_OK)
            code = hdx_stream_open(source, 0, &stream, NULL);
        while (code == HDX_OK && (code = hdx_stream_read(stream, part, sizeof part, &got, NULL)) == HDX_OK && got > 0) {
            cr_assert(memcmp(part, plain.at + at, got) == 0);
            at += got;
        }
        if (code == HDX_OK)
            code = hdx_source_read_at(source, 12345, part, 100, &got, NULL);
        cr_assert(code == HDX_OK || code == HDX_LIMIT, "request %u: code %d", n, (int)code);
        finished = code == HDX_OK && left < n && left < UINT32_MAX / 2;
        hdx_stream_close(stream);
        hdx_source_close(source);
        cr_assert(eq(u64, mem.used, 0), "request %u", n);
    }
    cr_expect(finished);
}
