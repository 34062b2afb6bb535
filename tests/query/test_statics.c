/*
 * test_statics.c - static fields by what they retain: one row each, in the order of size; and what is said where there
 * are none.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/query.h"
#include "rows/arguments.h"

extern const hdx_question hdx_question_statics;

static hdx_rows *ask(heap *h, const char *pattern)
{
    const hdx_argument  argument = { "class", pattern };
    const hdx_arguments given = { &hdx_question_statics.declared, &argument, pattern == NULL ? 0 : 1 };
    hdx_rows           *rows = NULL;
    cr_assert(eq(int, hdx_question_open(&hdx_question_statics, &h->q, &given, &rows, &h->err), HDX_OK), "%s",
              h->err.message);
    return rows;
}

/* Two classes whose fields share an object; one field is null, one leads nowhere, one is a number; one class is dead.
 */
static void little_heap(heap *h)
{
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, 0x200, "app.Box", 0x100, "content:L");
    (void)dump_maker_class_at(m, 0x300, "byte[]", 0x100, "");
    dump_maker_static(m, "none", 'L', 0);
    dump_maker_static(m, "number", 'I', 7);
    dump_maker_static(m, "shared", 'L', 0x1000);
    dump_maker_static(m, "box", 'L', 0x1100);
    dump_maker_static(m, "nowhere", 'L', 0xdead0);
    (void)dump_maker_class_at(m, 0x400, "app.shop.One", 0x100, "");
    dump_maker_static(m, "again", 'L', 0x1000);
    (void)dump_maker_class_at(m, 0x500, "Two", 0x100, "");
    dump_maker_static(m, "of_the_dead", 'L', 0x1000);
    (void)dump_maker_class_at(m, 0x600, "app.Dead", 0x100, "");
    for (uint64_t c = 0x100; c <= 0x500; c += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    dump_maker_instance_at(m, 0x1000, 0x200, NULL);
    dump_maker_instance_at(m, 0x1100, 0x200, DUMP_VALUES(0x2000));
    dump_maker_primitives_at(m, 0x2000, 'B', NULL, 1000);
    heap_open(h, m);
}

#define BOX    "0x1100,app.Box,-,24,1048,One.box,app.shop.One,box,0x400\n"
#define SHARED "0x1000,app.Box,-,24,24,One.shared,app.shop.One,shared,0x400\n"
#define AGAIN  "0x1000,app.Box,-,24,24,Two.again,Two,again,0x500\n"

Test(statics, are_rows_by_what_their_objects_retain)
{
    heap h;
    little_heap(&h);
    expect_rows(ask(&h, NULL), BOX SHARED AGAIN);
    expect_rows(ask(&h, "*shop*"), BOX SHARED);
    heap_close(&h);
}

/* By these a JVM finds classes: they are last, however much they retain. */
Test(statics, that_find_classes_come_last)
{
    heap        h;
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, 0x200, "java.lang.ClassLoader", 0x100, "list:L");
    dump_maker_static(m, "lists", 'L', 0x3000);
    (void)dump_maker_class_at(m, 0x300, "jdk.internal.loader.AppLoader", 0x200, "");
    dump_maker_static(m, "appClass", 'L', 0x700);
    dump_maker_static(m, "ostream", 'L', 0x3100);
    (void)dump_maker_class_at(m, 0x400, "sun.launcher.LauncherHelper", 0x100, "");
    dump_maker_static(m, "loader", 'L', 0x1000);
    (void)dump_maker_class_at(m, 0x500, "java.lang.Layers", 0x100, "");
    dump_maker_static(m, "plugins", 'L', 0x1100);
    dump_maker_static(m, "small", 'L', 0x3200);
    (void)dump_maker_class_at(m, 0x700, "app.Main", 0x100, "");
    dump_maker_static(m, "mine", 'L', 0x3300);
    (void)dump_maker_class_at(m, 0x800, "app.PluginLoader", 0x200, "");
    (void)dump_maker_class_at(m, 0x900, "byte[]", 0x100, "");
    (void)dump_maker_class_at(m, 0xa00, "java.lang.Class", 0x100, "");
    dump_maker_instance_at(m, 0x1000, 0x300, DUMP_VALUES(0x3400));
    dump_maker_instance_at(m, 0x1100, 0x800, DUMP_VALUES(0));
    for (uint64_t i = 0; i < 5; i++)
        dump_maker_primitives_at(m, 0x3000 + 0x100 * i, 'B', NULL, (uint32_t)(200 - 40 * i));
    dump_maker_primitives_at(m, 0x4008, 'B', NULL, 1); /* objects are aligned to 8 bytes */
    for (uint64_t c = 0x100; c <= 0x800; c += 0x100)
        if (c != 0x600)
            dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    heap_open(&h, m);
    hdx_rows       *rows = ask(&h, NULL);
    const hdx_cell *c;
    hdx_buffer      names = hdx_buffer_of(NULL);
    while (hdx_rows_next(rows, &c))
        hdx_buffer_format(&names, "%.*s ", (int)c[5].as.text.len, c[5].as.text.at);
    cr_expect(eq(str, names.at,
                 "LauncherHelper.ostream Main.small PluginLoader.mine Main.plugins AppLoader.lists "
                 "LauncherHelper.appClass Layers.loader "));
    hdx_buffer_free(&names);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(statics, that_are_none_leave_a_word)
{
    heap            h;
    const hdx_cell *c;
    little_heap(&h);
    static const char *const cases[][2] = {
        { "app.Dead", "these live classes have no static fields of reference types" },
        { "app.Box", "these live classes have no static fields of reference types" },
        { "*", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_rows *rows = ask(&h, cases[i][0]);
        cr_expect(hdx_rows_next(rows, &c) == (cases[i][1] == NULL));
        if (cases[i][1] != NULL)
            cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows), (char *)cases[i][1]));
        hdx_rows_close(rows);
    }
    hdx_graph_close(h.g);
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    hdx_rows *rows = ask(&h, NULL);
    cr_expect(not(hdx_rows_next(rows, &c)));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows),
                 "references of static fields are only in the dump, which is not available"));
    hdx_rows_close(rows);
    heap_close(&h);
}

/* What a static of the example refers to is what named references say, and every one of them has a row. */
typedef struct counter {
    hdx_graph *g;
    uint64_t   statics;
} counter;

static bool count(void *context, const hdx_named_ref *ref)
{
    ((counter *)context)->statics += ref->kind == HDX_REF_STATIC;
    return true;
}

Test(statics, of_the_bookshop_are_all_static_references)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    hdx_index_report  report;
    heap              h = { 0 };
    const hdx_cell   *c;
    uint32_t          classes;
    uint64_t rows_seen = 0, before = UINT64_MAX, runs = 1; /* those by which a JVM finds classes are one more */
    test_folder_make(h.folder, "statics");
    const hdx_index_options options = { .dump = dump, .index_dir = h.folder, .threads = 1 };
    ok(hdx_index_build(&options, &report, &h.err));
    ok(hdx_graph_open(report.path, dump, &h.g, &h.err));
    h.q = (hdx_query){ .graph = h.g, .threads = 2 };
    counter          all = { h.g, 0 };
    const hdx_class *at = hdx_graph_classes(h.g, &classes);
    for (uint32_t i = 0; i < classes; i++)
        if (hdx_graph_live(h.g, at[i].id))
            ok(hdx_graph_named_refs(h.g, at[i].id, HDX_NO_ID, count, &all, &h.err));
    hdx_rows *rows = ask(&h, NULL);
    for (; hdx_rows_next(rows, &c); rows_seen++) {
        const hdx_id id = id_at(&h, c[0].as.address);
        cr_expect(eq(u64, c[4].as.natural, hdx_graph_retained(h.g, id)));
        runs += c[4].as.natural > before;
        before = c[4].as.natural;
        if (rows_seen == 0)
            cr_expect(hdx_text_is(c[5].as.text, "Bookshop.SESSIONS") && c[0].as.address == 0xfeb18ea8);
    }
    ok(hdx_rows_end(rows, &h.err));
    hdx_rows_close(rows);
    cr_expect(eq(u64, runs, 2));
    cr_expect(rows_seen > 1000 && rows_seen == all.statics, "%llu of %llu", (unsigned long long)rows_seen,
              (unsigned long long)all.statics);
    heap_close(&h);
}
