/*
 * fuzz_gzip.c - any bytes as a dump file: a stream to the end, random reads, a second stream; all must agree and
 * nothing may be hurt. Then another source on other threads and by zlib alone, which must find the same points, and one
 * that is given them. The first bytes may be of any container; inflating stops at 64 MiB so that small inputs stay
 * quick.
 */
#include "tests/source/kept.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t pass(hdx_source *source, size_t step, uint64_t *len, hdx_code *code)
{
    static uint8_t part[1u << 16];
    hdx_stream    *stream;
    size_t         got;
    uint32_t       crc = 0;
    *len = 0;
    if ((*code = hdx_stream_open(source, 0, &stream, NULL)) != HDX_OK)
        return 0;
    do {
        *code = hdx_stream_read(stream, part, step, &got, NULL);
        crc = (uint32_t)crc32(crc, part, (uInt)got);
        *len += got;
    } while (*code == HDX_OK && got == step);
    hdx_stream_close(stream);
    return crc;
}

/* A source that was read to its end against one on four threads, and one with the points of that. */
static void compare_kept(hdx_source *whole, gm_file *door, uint32_t crc, uint64_t length)
{
    const hdx_source_options options = { .max_uncompressed = 64u << 20, .threads = 4 };
    hdx_source              *other, *given;
    kept                     first, second;
    hdx_error                err;
    hdx_code                 code;
    uint64_t                 len;
    if (hdx_source_compression(whole) == HDX_PLAIN ||
        hdx_source_open_io(&door->io, "fuzz", &options, &other, &err) != HDX_OK)
        return;
    other->zlib_alone = true;
    if (kept_from(whole, &first, &err) != HDX_OK || pass(other, 50000, &len, &code) != crc || len != length ||
        kept_from(other, &second, &err) != HDX_OK || first.count != second.count ||
        memcmp(first.at, second.at, first.count * sizeof *first.at) != 0 || first.bytes.len != second.bytes.len ||
        (first.bytes.len > 0 && memcmp(first.bytes.at, second.bytes.at, first.bytes.len) != 0))
        abort();
    hdx_source_close(other);
    if (hdx_source_open_io(&door->io, "fuzz", &options, &given, &err) != HDX_OK ||
        kept_load(&first, given, &err) != HDX_OK || pass(given, 4000, &len, &code) != crc || len != length ||
        code != HDX_OK)
        abort();
    hdx_source_close(given);
    kept_free(&first);
    kept_free(&second);
}

/* What zlib alone says of the same bytes (isal.c). */
static void compare_damage(hdx_source *source, gm_file *door, uint32_t crc, uint64_t length, hdx_code code)
{
    const hdx_source_options options = { .max_uncompressed = 64u << 20, .threads = 1 };
    const hdx_damage        *ours = NULL, *theirs = NULL;
    hdx_source              *other;
    hdx_error                err;
    hdx_code                 other_code;
    uint64_t                 len;
    if (hdx_source_compression(source) == HDX_PLAIN ||
        hdx_source_open_io(&door->io, "fuzz", &options, &other, &err) != HDX_OK)
        return;
    other->zlib_alone = true;
    if (pass(other, 60001, &len, &other_code) != crc || len != length || other_code != code)
        abort();
    const size_t places = hdx_source_damage(source, &ours);
    if (hdx_source_damage(other, &theirs) != places || (places > 0 && memcmp(ours, theirs, places * sizeof *ours) != 0))
        abort();
    hdx_source_close(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gm_bytes    bytes = { (uint8_t *)(uintptr_t)data, size, size };
    gm_file     door = gm_file_of(&bytes);
    hdx_source *source;
    hdx_error   err;
    uint64_t    first, second, known, seed = size;
    hdx_code    code, again;
    if (hdx_source_open_io(&door.io, "fuzz", &(hdx_source_options){ .max_uncompressed = 64u << 20, .threads = 1 },
                           &source, &err) != HDX_OK)
        return 0;
    uint32_t crc = pass(source, 60001, &first, &code);
    for (int i = 0; i < 8; i++) {
        uint8_t part[1000];
        size_t  got;
        hdx_pos at = gm_random(&seed) % (first + 1);
        if (hdx_source_read_at(source, at, part, sizeof part, &got, &err) == HDX_OK &&
            got != (first - at < sizeof part ? first - at : sizeof part))
            abort();
    }
    if (pass(source, 777, &second, &again) != crc || second != first || again != code)
        abort();
    compare_damage(source, &door, crc, first, code);
    if (code == HDX_OK && (!hdx_source_size(source, &known) || known != first))
        abort();
    if (code == HDX_OK)
        compare_kept(source, &door, crc, first);
    hdx_source_close(source);
    if (door.open_now != 0)
        abort();
    return 0;
}
