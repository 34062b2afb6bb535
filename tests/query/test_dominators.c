/*
 * test_dominators.c - children in falling order of retained size, also far behind the ones that a reader usually looks at.
 */
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>

#define ARRAYS 3000u

Test(dominators, are_in_order_from_the_first_to_the_last)
{
    char        folder[TEST_FOLDER], dump[64];
    dump_maker *m = dump_maker_new(8);
    test_folder_make(folder, "dominators");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    (void)dump_maker_class(m, "[B", object, "");
    for (uint32_t i = 0; i < ARRAYS; i++) /* sizes repeat, in no order */
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_primitives(m, 'B', NULL, i * 7919 % 1013 * 8), 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    hdx_index_options options = { .dump = dump };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_rows         *rows;
    hdx_error         err;
    const hdx_cell   *cells;
    uint64_t          seen = 0, last = UINT64_MAX, last_address = 0, total = 0;
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK && hdx_graph_open(report.path, dump, &g, &err) == HDX_OK, "%s", err.message);
    hdx_query q = { .graph = g };
    cr_assert(hdx_query_dominators(&q, HDX_BY_OBJECT, NULL, 1, &rows, &err) == HDX_OK);
    while (hdx_rows_next(rows, &cells)) {
        const uint64_t retained = cells[4].as.natural;
        cr_assert(retained < last || (retained == last && cells[0].as.address > last_address), "row %llu", (unsigned long long)seen);
        cr_expect(cells[3].as.natural <= retained);
        last = retained;
        last_address = cells[0].as.address;
        total += retained;
        seen++;
    }
    cr_assert(hdx_rows_end(rows, &err) == HDX_OK);
    cr_expect(seen > ARRAYS && total == hdx_graph_summary_of(g)->live_bytes, "%llu rows", (unsigned long long)seen);
    hdx_rows_close(rows);
    hdx_graph_close(g);
    test_folder_remove(folder);
}
