/*
 * test_cost.c - what a build costs follows the bytes of the dump: families of crafted dumps, of n records and of 4n.
 * Memory that was asked for is counted; bench/bench_families measures time.
 */
#include "query/objects.h"
#include "making/making.h"
#include "making/families.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>

#define RECORDS 3000u

static char folder[TEST_FOLDER], dump[64];

static void enter(void)
{
    test_folder_make_fast(folder, "cost");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(cost, .init = enter, .fini = leave, .timeout = 250);

static bool add_up(void *context, uint64_t bytes)
{
    *(uint64_t *)context += bytes;
    return false;
}

/* Memory in use (none is known under sanitizers). */
static uint64_t in_use(void)
{
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* The most memory that is in use while the rows of all objects go by, their classes and labels included. */
static uint64_t rows_memory(hdx_graph *g, const char *name)
{
    const hdx_query q = { .graph = g, .scope = HDX_ALL, .threads = 1 };
    const uint64_t  before = in_use();
    uint64_t        most = before;
    hdx_rows       *rows;
    const hdx_cell *cells;
    hdx_error       err = { .code = HDX_OK };
    cr_assert(hdx_query_objects(&q, "*", false, &rows, &err) == HDX_OK, "%s: %s", name, err.message);
    for (uint64_t i = 0; hdx_rows_next(rows, &cells); i++)
        if (i % 256 == 0 && in_use() > most)
            most = in_use();
    cr_expect(hdx_rows_end(rows, &err) == HDX_OK, "%s: %s", name, err.message);
    hdx_rows_close(rows);
    return most - before;
}

/* Bytes of memory that a build asks for, all in all, of its index, and that rows of it take; bytes of the dump. */
static void count(unsigned which, uint64_t n, uint64_t *memory, uint64_t *index, uint64_t *rows, uint64_t *size)
{
    hdx_buffer        bytes = { 0 };
    hdx_index_options options = { .dump = dump, .threads = 1 };
    hdx_build_doors   doors = { .io = hdx_io_system(), .refuse = add_up, .context = memory };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_error         err = { .code = HDX_OK };
    family_write(which, n, &bytes);
    FILE *file = fopen(dump, "wb");
    cr_assert(file != NULL && fwrite(bytes.at, 1, bytes.len, file) == bytes.len && fclose(file) == 0);
    *size = bytes.len;
    hdx_buffer_free(&bytes);
    *memory = 0;
    const hdx_code code = hdx_index_build_through(&doors, &options, &report, &err);
    cr_assert(code == HDX_OK, "%s: %s", families[which].name, err.message);
    *index = report.bytes;
    cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK, "%s: %s", families[which].name, err.message);
    cr_expect(hdx_graph_verify(g, true, &err) == HDX_OK, "%s: %s: %s", families[which].name, err.where, err.message);
    *rows = rows_memory(g, families[which].name);
    hdx_graph_close(g);
    (void)hdx_index_remove(&options, report.path, sizeof report.path, NULL);
}

/* Not more than 5 times, beside what every build takes; and no dump weighs little and takes much. */
Test(cost, of_a_crafted_dump_follows_its_bytes)
{
    for (unsigned which = 0; which < FAMILIES; which++) {
        uint64_t memory[3], index[3], rows[3], size[3];
        count(which, 1, &memory[0], &index[0], &rows[0], &size[0]);
        count(which, RECORDS, &memory[1], &index[1], &rows[1], &size[1]);
        count(which, 4 * RECORDS, &memory[2], &index[2], &rows[2], &size[2]);
        if (getenv("HDX_COST") != NULL)
            fprintf(stderr, "%-22s %9llu %9llu  memory %11llu %11llu  index %9llu %9llu  rows %9llu %9llu\n",
                    families[which].name, (unsigned long long)size[1], (unsigned long long)size[2],
                    (unsigned long long)(memory[1] - memory[0]), (unsigned long long)(memory[2] - memory[0]),
                    (unsigned long long)index[1], (unsigned long long)index[2], (unsigned long long)rows[1],
                    (unsigned long long)rows[2]);
        cr_expect(rows[2] <= rows[0] + 5 * size[2] + (8u << 20), "%s: rows of a dump of %llu bytes take %llu",
                  families[which].name, (unsigned long long)size[2], (unsigned long long)rows[2]);
        cr_expect(memory[2] <= 5 * memory[1], "%s: %llu, then %llu bytes of memory", families[which].name,
                  (unsigned long long)memory[1], (unsigned long long)memory[2]);
        cr_expect(memory[2] <= memory[0] + 120 * size[2], "%s: %llu bytes of memory for a dump of %llu",
                  families[which].name, (unsigned long long)memory[2], (unsigned long long)size[2]);
        cr_expect(index[2] <= 5 * index[1] && index[2] <= index[0] + 8 * size[2],
                  "%s: an index of %llu, then %llu bytes", families[which].name, (unsigned long long)index[1],
                  (unsigned long long)index[2]);
    }
}

/* Ids of a small dump have 32 bits, unless 64 are asked for: these take more. */
Test(cost, of_ids_of_64_bits_is_more_than_of_32)
{
    const unsigned widths[] = { 0, 32, 64 };
    uint64_t       memory[3] = { 0 };
    hdx_buffer     bytes = { 0 };
    family_write(0, RECORDS, &bytes);
    FILE *file = fopen(dump, "wb");
    cr_assert(file != NULL && fwrite(bytes.at, 1, bytes.len, file) == bytes.len && fclose(file) == 0);
    hdx_buffer_free(&bytes);
    for (unsigned i = 0; i < 3; i++) {
        hdx_index_options options = { .dump = dump, .threads = 1, .width = widths[i] };
        hdx_build_doors   doors = { .io = hdx_io_system(), .refuse = add_up, .context = &memory[i] };
        hdx_index_report  report;
        hdx_error         err;
        cr_assert(hdx_index_build_through(&doors, &options, &report, &err) == HDX_OK, "%s", err.message);
        (void)hdx_index_remove(&options, report.path, sizeof report.path, NULL);
    }
    cr_expect(memory[0] == memory[1] && memory[2] > memory[1] + memory[1] / 20, "%llu, %llu and %llu bytes",
              (unsigned long long)memory[0], (unsigned long long)memory[1], (unsigned long long)memory[2]);
}

/* Rows are many and a name may be most of the dump: labels of classes that share a long name are one text. */
Test(cost, of_a_long_name_is_one_label)
{
    hdx_buffer        bytes = { 0 };
    hdx_index_options options = { .dump = dump, .threads = 1 };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_rows         *rows;
    const hdx_cell   *cells;
    const char       *label = NULL;
    hdx_error         err = { .code = HDX_OK };
    unsigned          which = 0, labels = 0;
    while (strcmp(families[which].name, "one_long_name") != 0)
        which++;
    family_write(which, 200, &bytes);
    FILE *file = fopen(dump, "wb");
    cr_assert(file != NULL && fwrite(bytes.at, 1, bytes.len, file) == bytes.len && fclose(file) == 0);
    hdx_buffer_free(&bytes);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK &&
                  hdx_graph_open(report.path, dump, &g, &err) == HDX_OK,
              "%s", err.message);
    const hdx_query q = { .graph = g, .scope = HDX_ALL, .threads = 1 };
    cr_assert(hdx_query_objects(&q, "java.lang.Class", false, &rows, &err) == HDX_OK, "%s", err.message);
    while (hdx_rows_next(rows, &cells)) {
        if (cells[2].kind != HDX_CELL_TEXT || cells[2].as.text.len < 2000)
            continue;
        cr_expect(memcmp(cells[2].as.text.at, "class aaa", 9) == 0 && cells[2].as.text.len == 6 + 2000);
        cr_expect(label == NULL || label == cells[2].as.text.at, "row %u has a copy of its own", labels);
        label = cells[2].as.text.at;
        labels++;
    }
    cr_expect(hdx_rows_end(rows, &err) == HDX_OK && labels == 200, "%u labels", labels);
    hdx_rows_close(rows);
    hdx_graph_close(g);
}
