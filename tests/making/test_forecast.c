/*
 * test_forecast.c - what each pass is said to hold, and at which budget to the byte it is refused.
 */
#include "base/crc.h"
#include "making/making.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

static struct made {
    hdx_work          work;
    hdx_dump_tables   tables;
    hdx_index_options options;
    hdx_class         classes[400];
} * b;

static void enter(void)
{
    b = calloc(1, sizeof *b);
    cr_assert(b != NULL);
    b->work.options = &b->options;
    b->tables.classes = b->classes;
}
static void leave(void) { free(b); }

TestSuite(forecast, .init = enter, .fini = leave);

static void heap_of(uint64_t objects, uint64_t roots, uint32_t classes, uint64_t heaps, unsigned threads)
{
    b->tables.objects = b->work.objects = objects;
    b->tables.root_count = roots;
    b->tables.class_count = classes;
    b->tables.heap_count = heaps;
    b->work.threads = threads;
    b->work.tables_bytes = objects / 7;
    for (uint32_t i = 0; i < classes; i++)
        b->classes[i].instances = objects / classes;
}

/* The bytes of all of them in one number for each pass: a figure of a step changes on purpose, or not at all. */
Test(forecast, says_of_each_pass_what_it_said_before)
{
    static const uint64_t objects[] = { 1, 1000, 1u << 21, (1u << 21) + 1, 5u << 20, 9u << 20, 3000000000u };
    static const uint64_t references[] = { 0, 3000, 7u << 20, 20000000000u };
    static const uint32_t right[] = { 0x58eda313, 0x8594f596, 0x0d9643fa, 0xc1eb67d3, 0x34537dc4, 0xc5a6de39 };
    for (int pass = HDX_FORECAST_SCAN; pass <= HDX_FORECAST_RETAINED; pass++) {
        uint32_t sum = 0;
        for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
            for (size_t k = 0; k < sizeof references / sizeof *references; k++)
                for (unsigned how = 0; how < 16; how++) {
                    char line[64];
                    heap_of(objects[i], how & 4 ? 1000 : 0, how & 8 ? 300 : 20, how & 8 ? 2 : 0, how & 4 ? 8 : 1);
                    const int n = snprintf(line, sizeof line, "%llu\n",
                                           (ull)hdx_forecast(&b->work, &b->tables, (hdx_forecast_pass)pass,
                                                             how & 1 ? 64 : 32, references[k], how & 2));
                    sum = hdx_crc32c(sum, line, (size_t)n);
                }
        cr_expect(sum == right[pass], "pass %d: %08x", pass, sum);
    }
}

/* The least budget that is not refused; 0: any is. */
static uint64_t least_of(hdx_forecast_pass first, hdx_step until, uint64_t references)
{
    uint64_t low = 1, high = 1ull << 45;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        hdx_error      err;
        b->options.memory = middle;
        const hdx_code code = hdx_forecast_check(&b->work, &b->tables, references, first, until, 32, &err);
        cr_assert(code == HDX_OK || (code == HDX_LIMIT && strstr(err.hint, "--memory") != NULL));
        if (code == HDX_OK)
            high = middle;
        else
            low = middle + 1;
    }
    b->options.memory = 0;
    cr_expect(hdx_forecast_check(&b->work, &b->tables, references, first, until, 32, NULL) == HDX_OK);
    return low;
}

Test(forecast, is_refused_by_the_step_that_needs_most)
{
    static const struct {
        hdx_forecast_pass first;
        hdx_step          until;
        uint64_t          least;
    } cases[] = { { HDX_FORECAST_SCAN, HDX_STEP_OBJECTS, 389089514 },
                  { HDX_FORECAST_SCAN, HDX_STEP_OUTBOUND, 389089514 },
                  { HDX_FORECAST_SCAN, HDX_STEP_INBOUND, 389089514 },
                  { HDX_FORECAST_SCAN, HDX_STEP_DOMINATORS, 389089514 },
                  { HDX_FORECAST_COLUMNS, HDX_STEP_OBJECTS, 389089514 },
                  { HDX_FORECAST_REFERENCES, HDX_STEP_INBOUND, 387295288 },
                  { HDX_FORECAST_DOMINATORS, HDX_STEP_DOMINATORS, 224013686 } };
    heap_of(20000000, 100, 50, 0, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t least = least_of(cases[i].first, cases[i].until, 60000000);
        cr_expect(least == cases[i].least, "case %zu: %llu", i, (ull)least);
    }
}

Test(forecast, of_a_search_fits_to_the_byte)
{
    hdx_error err;
    heap_of(1000000, 0, 20, 0, 1);
    const uint64_t need = 6 * 1000000 / 8 + 1000000 / 16 * 4 + 777 * 4 + 1000000 / 20 * 4;
    b->options.memory = 1u << 30;
    b->work.room = need;
    cr_expect(hdx_forecast_search(&b->work, 32, 777, &err) == HDX_OK);
    b->work.room = need - 1;
    cr_expect(hdx_forecast_search(&b->work, 32, 777, &err) == HDX_LIMIT);
    cr_expect(strstr(err.message, "needs 1025 MB; the memory limit is 1024 MB") != NULL, "%s", err.message);
    cr_expect(strcmp(err.hint, "--memory 1025M is enough") == 0, "%s", err.hint);
    b->work.room = 5;
    b->options.memory = 0;
    cr_expect(hdx_forecast_search(&b->work, 32, 777, &err) == HDX_OK, "no budget");
}

Test(forecast, of_reading_fits_to_the_byte)
{
    hdx_error err;
    heap_of(1000000, 300, 20, 0, 2);
    const uint64_t need = HDX_BUILD_BESIDE + 2 * HDX_BUILD_WORKER + 1000000 / 7 + 300 * 64 + 20 * 256;
    b->options.memory = need;
    cr_expect(hdx_forecast_begin(&b->work, &b->tables, &err) == HDX_OK);
    b->options.memory = need - 1;
    cr_expect(hdx_forecast_begin(&b->work, &b->tables, &err) == HDX_LIMIT);
    cr_expect(strstr(err.message, "needs 45 MB") != NULL, "%s", err.message);
    b->options.memory = 0;
    cr_expect(hdx_forecast_begin(&b->work, &b->tables, &err) == HDX_OK);
}

/* Something beside the searches: as much as is left of the room. */
Test(forecast, has_room_beside_the_searches_to_the_byte)
{
    heap_of(1600000, 0, 20, 0, 1);
    const uint64_t n = 1600000, search = 6 * n / 8 + n * 3 * 4 / 10 + n * 4 / 3 + n / 16 * 4;
    static const struct {
        int64_t  more;
        uint64_t bytes;
        bool     fits;
    } cases[] = { { 0, 0, true }, { 0, 1, false }, { -1, 0, false }, { 5, 5, true }, { 5, 6, false }, { 5, 4, true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        b->work.room = search + (uint64_t)cases[i].more;
        cr_expect(hdx_forecast_search_fits(&b->work, 32, cases[i].bytes) == cases[i].fits, "case %zu", i);
    }
}

Test(forecast, of_the_spill_file_knows_long_from_short_to_the_nanosecond)
{
    cr_expect(hdx_forecast_spill_stays(2250000000u, 4499999999u));
    cr_expect_not(hdx_forecast_spill_stays(2249999999u, 4499999999u));
    cr_expect_not(hdx_forecast_spill_stays(2250000000u, 4500000000u));
}
