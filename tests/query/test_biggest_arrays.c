/*
 * test_biggest_arrays.c - arrays by size: those of the example against a look at each of its objects; bounds, sums and
 * scopes of a heap whose answers are plain.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/query.h"
#include "rows/arguments.h"

extern const hdx_question hdx_question_biggest_arrays;

static hdx_rows *ask(heap *h, const char *least, bool by_class)
{
    const hdx_argument  all[] = { { "least", least }, { "by", "class" } };
    const hdx_arguments given = { &hdx_question_biggest_arrays.declared, all, by_class ? 2 : 1 };
    hdx_rows           *rows = NULL;
    cr_assert(eq(int, hdx_question_open(&hdx_question_biggest_arrays, &h->q, &given, &rows, &h->err), HDX_OK), "%s",
              h->err.message);
    return rows;
}

/* Two live arrays of bytes, one of objects that has a third, and one that nothing holds. */
static void little_heap(heap *h)
{
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, 0x200, "byte[]", 0x100, "");
    (void)dump_maker_class_at(m, 0x300, "java.lang.Object[]", 0x100, "");
    dump_maker_static(m, "small", 'L', 0x1000);
    dump_maker_static(m, "table", 'L', 0x3000);
    (void)dump_maker_class_at(m, 0x400, "app.Cache", 0x100, "");
    for (uint64_t c = 0x100; c <= 0x400; c += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    dump_maker_primitives_at(m, 0x1000, 'B', NULL, 1000);
    dump_maker_primitives_at(m, 0x2000, 'B', NULL, 2000);
    dump_maker_array_at(m, 0x3000, 0x300, DUMP_VALUES(0x2000), 1);
    dump_maker_primitives_at(m, 0x4000, 'B', NULL, 3000);
    heap_open(h, m);
}

#define LARGE "0x2000,byte[],-,2000,2024,2024,app.Cache#table\n"
#define SMALL "0x1000,byte[],-,1000,1024,1024,app.Cache#small\n"
#define TABLE "0x3000,java.lang.Object[],-,1,32,2056,app.Cache#table\n"
#define DEAD  "0x4000,byte[],-,3000,3024,-,-\n"

Test(biggest_arrays, are_rows_by_size_down_to_the_least)
{
    heap h;
    little_heap(&h);
    expect_rows(ask(&h, "1", false), LARGE SMALL TABLE);
    expect_rows(ask(&h, "1024", false), LARGE SMALL);
    expect_rows(ask(&h, "1025", false), LARGE);
    hdx_rows       *rows = ask(&h, "2025", false);
    const hdx_cell *c;
    cr_expect(not(hdx_rows_next(rows, &c)));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows), "no array is large enough; --least sets the minimum size"));
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(biggest_arrays, are_those_in_scope)
{
    heap h;
    little_heap(&h);
    h.q.scope = HDX_ALL;
    expect_rows(ask(&h, "2K", false), DEAD);
    h.q.scope = HDX_GARBAGE;
    expect_rows(ask(&h, "1", false), DEAD);
    heap_close(&h);
}

Test(biggest_arrays, are_summed_by_class)
{
    heap h;
    little_heap(&h);
    expect_rows(ask(&h, "1", true), "byte[],2,3000,3048,3048\njava.lang.Object[],1,1,32,2056\n");
    heap_close(&h);
}

Test(biggest_arrays, of_the_example_are_all_there_are)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    hdx_index_report  report;
    heap              h = { 0 };
    const hdx_cell   *c;
    uint64_t          seen = 0, wanted = 0, before = UINT64_MAX, bytes = 0;
    test_folder_make(h.folder, "biggest");
    const hdx_index_options options = { .dump = dump, .index_dir = h.folder, .threads = 1 };
    ok(hdx_index_build(&options, &report, &h.err));
    ok(hdx_graph_open(report.path, dump, &h.g, &h.err));
    h.q = (hdx_query){ .graph = h.g, .scope = HDX_LIVE, .threads = 3 };
    for (hdx_id id = 0; id < hdx_graph_objects(h.g); id++) {
        const hdx_object_kind kind = hdx_graph_kind(h.g, id);
        if (hdx_graph_live(h.g, id) && (kind == HDX_OBJECT_ARRAY || kind == HDX_PRIMITIVE_ARRAY) &&
            hdx_graph_shallow(h.g, id) >= 200) {
            wanted++;
            bytes += hdx_graph_shallow(h.g, id);
        }
    }
    hdx_rows *rows = ask(&h, "200", false);
    while (hdx_rows_next(rows, &c)) {
        hdx_id id;
        cr_assert(hdx_graph_find(h.g, c[0].as.address, &id) && hdx_graph_live(h.g, id));
        cr_expect(eq(u64, c[3].as.natural, hdx_graph_length(h.g, id)));
        cr_expect(eq(u64, c[4].as.natural, hdx_graph_shallow(h.g, id)));
        cr_expect(eq(u64, c[5].as.natural, hdx_graph_retained(h.g, id)));
        cr_assert(le(u64, c[4].as.natural, before));
        before = c[4].as.natural;
        bytes -= before;
        seen++;
    }
    cr_expect(eq(u64, seen, wanted));
    cr_expect(eq(u64, bytes, 0));
    cr_expect(gt(u64, seen, 100));
    ok(hdx_rows_end(rows, &h.err));
    hdx_rows_close(rows);
    heap_close(&h);
}
