/*
 * test_reader.c - bytes around a position, from a plain and from a compressed file: what is at hand, how much is read
 * for it, where the data end, and the memory that it takes.
 */
#include "over.h"

#include <zlib.h>

typedef unsigned long long ull;

static uint8_t  some[4000];
static uint8_t *content(void)
{
    for (unsigned k = 0; k < sizeof some; k++)
        some[k] = (uint8_t)(k * 7 + k / 256);
    return some;
}

static bool gives(over *o, hdx_pos pos, uint64_t want, size_t len)
{
    const uint8_t *at;
    size_t         have = 0;
    hdx_error      err = { 0 };
    cr_assert(hdx_strip_reader_at(&o->r, pos, want, &at, &have, &err) == HDX_OK, "%s", err.message);
    const size_t there = pos < len ? len - (size_t)pos : 0;
    return have <= there && (have >= want || have == there) && memcmp(at, some + pos, have) == 0;
}

Test(reader, reads_what_is_wanted_and_no_byte_twice)
{
    over o;
    over_open(&o, content(), 1000, 64);
    cr_expect(gives(&o, 0, 64, 1000) && o.r.read == 64 && o.r.len == 64, "%llu", (ull)o.r.read);
    cr_expect(gives(&o, 0, 64, 1000) && gives(&o, 10, 54, 1000) && gives(&o, 64, 0, 1000) && o.r.read == 64,
              "it is at hand");
    cr_expect(gives(&o, 60, 10, 1000) && o.r.read == 64 + 60 && o.r.from == 60, "%llu", (ull)o.r.read);
    cr_expect(gives(&o, 124, 1, 1000) && o.r.read == 124 + 64 && o.r.from == 124 && o.r.len == 64, "just behind it");
    cr_expect(gives(&o, 500, 5, 1000) && o.r.read == 188 + 64 && o.r.from == 500, "a jump");
    cr_expect(gives(&o, 499, 5, 1000) && o.r.read == 252 + 64 && o.r.from == 499, "back");
    cr_expect(gives(&o, 499, 65, 1000) && o.r.read == 316 + 64 && o.r.capacity == 128, "it grows: %llu, %llu",
              (ull)o.r.read, (ull)o.r.capacity);
    cr_expect(gives(&o, 499, 300, 1000) && o.r.capacity == 512 && o.r.len == 501);
    cr_expect(gives(&o, 990, 64, 1000) && o.r.len == 10, "the end");
    cr_expect(gives(&o, 1000, 9, 1000) && gives(&o, 1001, 9, 1000) && gives(&o, 0, 9, 1000));
    over_close(&o);
}

Test(reader, has_zeros_behind_the_end)
{
    over           o;
    const uint8_t *at;
    size_t         have;
    over_open(&o, content(), 100, 256);
    cr_assert(hdx_strip_reader_at(&o.r, 50, 1, &at, &have, NULL) == HDX_OK && have == 50);
    for (unsigned k = 50; k < 50 + READER_PAD; k++)
        cr_expect(at[k] == 0, "%u", k);
    over_close(&o);
}

Test(reader, is_right_at_any_position_with_any_chunk)
{
    unsigned seed = 5;
    for (size_t chunk = 1; chunk < 3000; chunk = 2 * chunk + 1) {
        over o;
        over_open(&o, content(), sizeof some, chunk);
        for (unsigned k = 0; k < 1000; k++) {
            const hdx_pos  pos = (hdx_pos)rand_r(&seed) % (sizeof some + 3);
            const uint64_t want = (uint64_t)rand_r(&seed) % 700;
            cr_assert(gives(&o, pos, want, sizeof some), "%llu bytes at %llu", (ull)want, (ull)pos);
        }
        over_close(&o);
    }
}

static bool reaches(over *o, hdx_pos end)
{
    bool      yes = true;
    hdx_error err = { 0 };
    cr_assert(hdx_strip_reader_reaches(&o->r, end, &yes, &err) == HDX_OK, "%s", err.message);
    return yes;
}

static void check_ends(over *o)
{
    cr_expect(reaches(o, 0) && reaches(o, 1) && reaches(o, 999) && reaches(o, 1000));
    cr_expect(!reaches(o, 1001) && !reaches(o, 5000));
    cr_expect(gives(o, 700, 64, 1000) && reaches(o, 700) && reaches(o, 701) && reaches(o, 764) && reaches(o, 765) &&
              reaches(o, 1000) && reaches(o, 1) && !reaches(o, 1001));
    const uint64_t read = o->r.read;
    const hdx_pos  from = o->r.from;
    cr_expect(reaches(o, 3) && reaches(o, 900) && o->r.read == read && o->r.from == from, "what is at hand stays");
    cr_expect(gives(o, 1005, 9, 1000) && !reaches(o, 1005) && !reaches(o, 1001) && reaches(o, 1000));
}

Test(reader, knows_where_the_data_end)
{
    over o;
    over_open(&o, content(), 1000, 64);
    check_ends(&o);
    over_close(&o);

    test_folder_make_fast(o.folder, "over"); /* of a compressed file nobody knows before it was read */
    (void)snprintf(o.path, sizeof o.path, "%.*s/a.gz", TEST_FOLDER, o.folder);
    for (unsigned k = 0; k < 2; k++) {
        gzFile f = gzopen(o.path, "wb");
        cr_assert(f != NULL && gzwrite(f, content(), 1000) == 1000 && gzclose(f) == Z_OK);
        cr_assert(hdx_source_open(o.path, NULL, &o.source, NULL) == HDX_OK);
        o.r = hdx_strip_reader_of(o.source, k == 0, 64, NULL, NULL);
        if (k == 1)
            cr_expect(gives(&o, 700, 64, 1000) && reaches(&o, 764) && reaches(&o, 1000) && !reaches(&o, 1001) &&
                      reaches(&o, 0));
        check_ends(&o);
        hdx_strip_reader_free(&o.r);
        hdx_source_close(o.source);
    }
    test_folder_remove(o.folder);
}

Test(reader, gives_back_the_memory_that_it_took)
{
    over    o;
    hdx_mem mem = { 0 };
    mem.limit = 1 << 20;
    over_open(&o, content(), sizeof some, 64);
    o.r.mem = &mem;
    cr_expect(gives(&o, 0, 10, sizeof some) && atomic_load(&mem.used) == 64 + READER_PAD);
    cr_expect(gives(&o, 0, 1000, sizeof some) && atomic_load(&mem.used) == 1024 + READER_PAD);
    hdx_strip_reader_free(&o.r);
    cr_expect(atomic_load(&mem.used) == 0 && o.r.at == NULL && o.r.capacity == 0 && o.r.len == 0);
    hdx_strip_reader_free(&o.r);
    cr_expect(atomic_load(&mem.used) == 0);
    over_close(&o);
    hdx_mem_close(&mem);
}

static bool stop(void *context) { return ++*(unsigned *)context > 2; }

Test(reader, stops_when_it_is_told_to)
{
    over               o;
    unsigned           asked = 0;
    const hdx_progress progress = { &asked, NULL, stop };
    hdx_ticker         tick;
    const uint8_t     *at;
    size_t             have;
    hdx_error          err = { 0 };
    hdx_code           code = HDX_OK;
    over_open(&o, content(), sizeof some, 64);
    hdx_ticker_init(&tick, &progress, 1);
    o.r.tick = &tick;
    for (unsigned k = 0; k < 60 && code == HDX_OK; k++)
        code = hdx_strip_reader_at(&o.r, 64 * k, 64, &at, &have, &err);
    cr_expect(code == HDX_CANCELLED, "%d", (int)code);
    hdx_ticker_free(&tick);
    over_close(&o);
}
