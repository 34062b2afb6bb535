/*
 * test_dominators.c - children in falling order of retained size, also far after the ones that a reader usually looks
 * at.
 */
#include "support/questions.h"
#include "graph/little_index.h"
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
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK &&
                  hdx_graph_open(report.path, dump, &g, &err) == HDX_OK,
              "%s", err.message);
    hdx_query q = { .graph = g };
    cr_assert(hdx_query_dominators(&q, HDX_BY_OBJECT, NULL, 1, &rows, &err) == HDX_OK);
    while (hdx_rows_next(rows, &cells)) {
        const uint64_t retained = cells[4].as.natural;
        cr_assert(retained < last || (retained == last && cells[0].as.address > last_address), "row %llu",
                  (unsigned long long)seen);
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

/* Whoever dominates anything dominates what the roots dominate: itself among them. */
static void lie_about_children(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    (void)values;
    (void)n;
    for (uint64_t k = 0; next == HDX_KIND_DOMINATED && k <= w->m.dominators; k++)
        little_above[k] = 1;
}

Test(dominators, a_tree_that_is_none_ends_after_as_many_rows_as_there_are_objects)
{
    little  *l = little_new();
    uint64_t node = little_class(l, "app.Node", l->object, "next:L"), end = 0;
    for (unsigned i = 0; i < 40; i++) { /* 20 lists of two, each with a root */
        const uint64_t values[1] = { i % 2 == 1 ? end : 0 };
        end = little_instance(l, node, values);
        if (i % 2 == 1)
            little_root(l, HDX_ROOT_NATIVE_STATIC, end, 0);
    }
    l->lie = lie_about_children;
    little_open(l);
    hdx_query       q = { .graph = l->g };
    hdx_rows       *rows;
    hdx_error       err = { .message = "" };
    const hdx_cell *cells;
    uint64_t        seen = 0;
    cr_assert(hdx_query_dominators(&q, HDX_BY_OBJECT, NULL, 9, &rows, &err) == HDX_OK);
    while (seen <= 10 * hdx_graph_objects(l->g) && hdx_rows_next(rows, &cells))
        seen++;
    cr_expect(seen <= hdx_graph_objects(l->g), "%llu rows", (unsigned long long)seen);
    cr_expect(hdx_rows_end(rows, &err) == HDX_DAMAGED && strcmp(err.where, "dominated") == 0, "%s", err.message);
    hdx_rows_close(rows);
    little_close(l);
}
