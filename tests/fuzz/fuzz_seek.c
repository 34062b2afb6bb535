/*
 * fuzz_seek.c - seek points with any content and the right sums, read, and given to a source that inflates from them:
 * nothing may be hurt, and what is given out has the sum that the points say.
 */
#include "tests/fuzz/index_file.h"
#include "source/source.h"
#include "support/gzip_maker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct asked {
    const hdx_seek *seek;
    hdx_seek_cursor cursor;
    uint64_t        last;
} asked;

static bool next(void *context, hdx_source_point *out)
{
    asked         *a = context;
    hdx_seek_point p;
    uint8_t        window[HDX_SEEK_WINDOW];
    if (!hdx_seek_next(a->seek, &a->cursor, &p))
        return false;
    if ((a->cursor.next > 1 && p.out <= a->last) || p.window_size > p.window_len || p.window_len > HDX_SEEK_WINDOW)
        abort();
    (void)hdx_seek_window(a->seek, p.window_at, p.window_size, window);
    a->last = p.out;
    *out = (hdx_source_point){ .out = p.out,
                               .bit = p.bit,
                               .header_bit = p.header_bit,
                               .window_at = p.window_at,
                               .window_size = p.window_size,
                               .window_len = p.window_len,
                               .sum = p.sum,
                               .kind = (unsigned)p.kind };
    return true;
}

static hdx_code window_of(void *context, uint64_t at, uint8_t *to, uint32_t len, hdx_error *err)
{
    const asked *a = context;
    return hdx_seek_window(a->seek, at, len, to) ? HDX_OK : hdx_fail(err, HDX_DAMAGED, "seek", at, "no window");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gm_bytes plain, packed; /* made once */
    index_file      f;
    hdx_damage_note note = { 0 };
    hdx_seek       *seek;
    hdx_source     *source;
    hdx_error       err;
    if (packed.at == NULL) {
        gm_data(&plain, 300000, 3);
        gm_member_put(&packed, plain.at, 100000, &(gm_member){ .level = 1 });
        gm_member_put(&packed, plain.at + 100000, 200000, &(gm_member){ .level = 9 });
    }
    uint64_t points = index_file_number(&data, &size, 200), windows = index_file_number(&data, &size, 200),
             length = index_file_number(&data, &size, 65536) * 8;
    uint64_t counts[3] = { points, windows, length }, sizes[3] = { 20 * points, 20 * windows, HDX_SECTION_OPEN };
    if (index_file_make(&f, HDX_KIND_SEEK, counts, sizes, 3, data, size) &&
        hdx_seek_open(&f.place, &f.file, length, packed.len, &note, &seek, &err) == HDX_OK) {
        gm_file door = gm_file_of(&packed);
        asked   a = { .seek = seek };
        uint8_t bytes[1000];
        size_t  got;
        if (hdx_source_open_io(&door.io, "fuzz", NULL, &source, &err) == HDX_OK) {
            (void)hdx_source_load_points(source, length, next, &a, &(hdx_source_windows){ &a, NULL, window_of }, &err);
            for (uint64_t at = 0; at < length; at += length / 8 + 1)
                if (hdx_source_read_at(source, at, bytes, sizeof bytes, &got, &err) == HDX_OK && got > length - at)
                    abort();
            hdx_source_close(source);
        }
        hdx_seek_close(seek);
    }
    index_file_free(&f);
    return 0;
}
