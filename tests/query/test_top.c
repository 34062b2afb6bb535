/*
 * test_top.c - what keeps most of a heap: each row is large enough, what is left out is counted, and where objects
 * explain little the holders follow.
 */
#include "support/questions.h"
#include "heap.h"
#include "graph/graph.h"

static hdx_rows *ask(heap *h, const char *least)
{
    extern const hdx_question hdx_question_top;
    const hdx_argument        argument = { "least", least };
    const hdx_arguments       given = { &hdx_question_top.declared, &argument, 1 };
    hdx_rows                 *rows = NULL;
    cr_assert(eq(int, hdx_question_open(&hdx_question_top, &h->q, &given, &rows, &h->err), HDX_OK), "%s",
              h->err.message);
    return rows;
}

/* 1,000 bytes and more: an array that a root holds, two lists that two statics share, small ones. */
static void little_heap(heap *h)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    const uint64_t node = dump_maker_class_at(m, 0x200, "app.Node", object, "a:L");
    dump_maker_static(m, "x", 'L', 0x1000);
    dump_maker_static(m, "y", 'L', 0x1000);
    (void)dump_maker_class_at(m, 0x300, "app.One", object, "");
    dump_maker_static(m, "z", 'L', 0x1000);
    (void)dump_maker_class_at(m, 0x400, "app.Two", object, "");
    for (uint64_t c = 0x100; c <= 0x400; c += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    dump_maker_instance_at(m, 0x1000, node, (const uint64_t[]){ 0x2000 });
    dump_maker_class_at(m, 0x500, "[B", object, "");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, 0x500, 0, 0);
    dump_maker_primitives_at(m, 0x2000, 'B', NULL, 4000); /* which only the node holds */
    dump_maker_primitives_at(m, 0x4000, 'B', NULL, 2000);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x4000, 0, 0);
    heap_open(h, m);
}

Test(top, has_a_row_for_what_is_large_enough_and_one_for_the_others)
{
    heap h;
    little_heap(&h);
    hdx_rows *rows = ask(&h, "20");
    cr_expect(eq(str, (char *)hdx_rows_title(rows), "2 objects retain 99.3% of the live heap"));
    expect_rows(rows, "object,1,4048,66.23,0x1000,app.Node,-,-\n"
                      "object,1,2024,33.12,0x4000,byte[],-,-\n"
                      "others,7,40,0.65,-,(each below 20%),-,-\n"
                      "class,1,4048,66.23,-,app.Node,-,-\n"
                      "class,1,2024,33.12,-,byte[],-,-\n"
                      "package,4,4072,66.62,-,app,-,-\n"
                      "package,2,2024,33.12,-,(default package),-,-\n"
                      "loader,9,6112,100.00,-,boot loader,-,-\n");
    heap_close(&h);
}

Test(top, names_the_holders_where_the_objects_explain_little)
{
    heap           h;
    uint64_t       shared[40];
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    const uint64_t list = dump_maker_class_at(m, 0x200, "[Ljava.lang.Object;", object, "");
    (void)dump_maker_class_at(m, 0x300, "[B", object, "");
    dump_maker_static(m, "left", 'L', 0x1000);
    (void)dump_maker_class_at(m, 0x400, "app.One", object, "");
    dump_maker_static(m, "right", 'L', 0x2000);
    (void)dump_maker_class_at(m, 0x500, "app.Two", object, "");
    for (uint64_t c = 0x100; c <= 0x500; c += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    for (unsigned i = 0; i < 40; i++)
        shared[i] = dump_maker_primitives_at(m, 0x10000 + 0x1000 * i, 'B', NULL, 500);
    dump_maker_array_at(m, 0x1000, list, shared, 40);
    dump_maker_array_at(m, 0x2000, list, shared, 40);
    heap_open(&h, m);
    hdx_rows *rows = ask(&h, "20");
    cr_expect(eq(str, (char *)hdx_rows_title(rows),
                 "No object retains 20% of the live heap; 2 holders together hold 99.9% of it"));
    expect_rows(rows, "others,47,21840,100.00,-,(each below 20%),-,-\n"
                      "class,40,21120,96.70,-,byte[],-,-\n"
                      "package,41,21120,96.70,-,(default package),-,-\n"
                      "loader,47,21840,100.00,-,boot loader,-,-\n"
                      "holder,-,344,1.58,0x400,java.lang.Class,class app.One,left\n"
                      "holder,-,21808,99.85,0x500,java.lang.Class,class app.Two,right\n");
    heap_close(&h);
}

Test(top, says_the_same_as_dominators_and_counts_each_object_once_in_a_kind)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    hdx_index_report  report;
    heap              h = { 0 };
    const hdx_cell   *c;
    uint64_t sums[4][2] = { { 0 } }, tops = 0; /* objects and bytes of: object and others, class, package, loader */
    test_folder_make(h.folder, "top");
    const hdx_index_options options = { .dump = dump, .index_dir = h.folder, .threads = 1 };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h.err), HDX_OK), "%s", h.err.message);
    cr_assert(eq(int, hdx_graph_open(report.path, dump, &h.g, &h.err), HDX_OK), "%s", h.err.message);
    h.q = (hdx_query){ .graph = h.g, .threads = 2 };
    const uint64_t live = hdx_graph_summary_of(h.g)->live_bytes;
    hdx_rows      *rows = ask(&h, "1");
    while (hdx_rows_next(rows, &c)) {
        static const char *const kinds[] = { "object", "others", "class", "package", "loader", "holder" };
        static const unsigned    place[] = { 0, 0, 1, 2, 3, 3 };
        unsigned                 k = 0;
        while (k < 6 && !hdx_text_is(c[0].as.text, kinds[k]))
            k++;
        cr_assert(lt(u32, k, 5), "no holders where one object explains 70%%");
        cr_expect(k == 1 || 100.0 * (double)c[2].as.natural / (double)live >= 1.0);
        cr_expect(c[3].as.real > 0 && c[3].as.real <= 100);
        sums[place[k]][0] += c[1].as.natural;
        sums[place[k]][1] += c[2].as.natural;
        if (k == 0) {
            hdx_id id = id_at(&h, c[4].as.address);
            cr_expect(eq(u64, hdx_graph_dominator(h.g, id), HDX_VIRTUAL_ROOT));
            cr_expect(eq(u64, hdx_graph_retained(h.g, id), c[2].as.natural));
        }
    }
    cr_expect(eq(int, hdx_rows_end(rows, &h.err), HDX_OK));
    hdx_rows_close(rows);
    hdx_refs refs;
    hdx_id   id;
    hdx_graph_dominated(h.g, HDX_VIRTUAL_ROOT, &refs);
    while (hdx_refs_next(&refs, &id))
        tops++;
    cr_expect(eq(u64, sums[0][0], tops));
    cr_expect(eq(u64, sums[0][1], live));
    for (unsigned i = 1; i < 4; i++)
        cr_expect(sums[i][0] <= tops && sums[i][1] <= live && sums[i][1] > live * 9 / 10, "kind %u", i);
    heap_close(&h);
}
