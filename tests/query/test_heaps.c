/*
 * test_heaps.c - Android's heaps in answers: histogram by heap, and roots told apart by the heap of their object.
 */
#include "support/questions.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bool is_text(const hdx_cell *c, const char *s)
{
    return c->kind == HDX_CELL_TEXT && c->as.text.len == strlen(s) && memcmp(c->as.text.at, s, c->as.text.len) == 0;
}

Test(heaps, tell_zygote_roots_from_those_of_the_app)
{
    char        folder[TEST_FOLDER], dump[64];
    dump_maker *m = dump_maker_new(4);
    m->version = "1.0.3";
    test_folder_make(folder, "heaps");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    dump_maker_heap_info(m, 'Z', "zygote");
    uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    (void)dump_maker_class(m, "java.lang.ClassLoader", object, "");
    uint64_t node = dump_maker_class(m, "app.Node", object, "next:L");
    uint64_t shared[3];
    for (int i = 0; i < 3; i++) {
        shared[i] = dump_maker_instance(m, node, NULL);
        dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, shared[i], 0, 0);
    }
    dump_maker_segment(m);
    dump_maker_heap_info(m, 'A', "app");
    uint64_t own = dump_maker_instance(m, node, DUMP_VALUES(shared[0]));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, own, 0, 0);
    (void)dump_maker_instance(m, node, NULL); /* garbage */
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);

    hdx_index_options options = { .dump = dump };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_rows         *rows;
    hdx_error         err;
    const hdx_cell   *cells;
    unsigned          columns, zygote = 0, app = 0;
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK &&
                  hdx_graph_open(report.path, dump, &g, &err) == HDX_OK,
              "%s", err.message);
    hdx_query q = { .graph = g };
    cr_assert(hdx_query_roots(&q, HDX_BY_NONE, &rows, &err) == HDX_OK);
    const hdx_column *names = hdx_rows_columns(rows, &columns);
    cr_assert(strcmp(names[columns - 1].name, "heap") == 0);
    while (hdx_rows_next(rows, &cells)) {
        zygote += is_text(&cells[columns - 1], "zygote") && is_text(&cells[3], "VM_INTERNAL");
        app += is_text(&cells[columns - 1], "app") && cells[0].as.address == own;
    }
    cr_assert(hdx_rows_end(rows, &err) == HDX_OK);
    cr_expect(zygote == 3 && app == 1, "%u in zygote, %u in app", zygote, app);
    hdx_rows_close(rows);

    cr_assert(hdx_query_histogram(&q, HDX_BY_HEAP, NULL, false, &rows, &err) == HDX_OK);
    unsigned found = 0;
    while (hdx_rows_next(rows, &cells))
        found += (is_text(&cells[0], "app") && cells[1].as.natural == 1) ||
                 (is_text(&cells[0], "zygote") && cells[1].as.natural == 7);
    cr_expect(found == 2, "live objects: one in app, four classes and three instances in zygote");
    hdx_rows_close(rows);
    /* what is stored of a heap is what its objects add up to */
    for (int scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++) {
        uint64_t objects[2][2] = { { 0 } }, bytes[2][2] = { { 0 } };
        q.scope = (hdx_refs_scope)scope;
        for (unsigned way = 0; way < 2; way++) {
            cr_assert(hdx_query_histogram(&q, HDX_BY_HEAP, way == 0 ? NULL : "*", false, &rows, &err) == HDX_OK);
            while (hdx_rows_next(rows, &cells)) {
                const unsigned of = is_text(&cells[0], "app");
                objects[way][of] = cells[1].as.natural;
                bytes[way][of] = cells[2].as.natural;
            }
            cr_assert(hdx_rows_end(rows, &err) == HDX_OK);
            hdx_rows_close(rows);
        }
        for (unsigned of = 0; of < 2; of++)
            cr_expect(objects[0][of] == objects[1][of] && bytes[0][of] == bytes[1][of] &&
                          (bytes[0][of] > 0) == (scope != HDX_GARBAGE || of == 1),
                      "scope %d", scope);
    }
    hdx_graph_close(g);
    test_folder_remove(folder);
}
