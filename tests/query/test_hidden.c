/*
 * test_hidden.c - classes made at run time under the name that they share: which names that are, and histograms where
 * they share a row.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/histogram/histogram.h"
#include "query/query.h"
#include "rows/arguments.h"
#include "support/golden.h"

extern const hdx_question hdx_question_histogram;

Test(hidden_names, are_patterns_of_what_they_stand_for)
{
    static const char *const cases[][2] = {
        { "app.Shop$$Lambda+0x00007f3a14001000", "app.Shop$$Lambda*" },    /* JDK 21 */
        { "app.Shop$$Lambda$14+0x00007f3a14001000", "app.Shop$$Lambda*" }, /* JDK 17 */
        { "app.Shop$$Lambda$14/0x00000001000C0840", "app.Shop$$Lambda*" }, /* as JDK 11 prints it */
        { "app.Shop$$Lambda$14/1324119927", "app.Shop$$Lambda*" },         /* JDK 8 */
        { "app.Shop$$Lambda$14", "app.Shop$$Lambda*" },
        { "app.Shop$$Lambda$14[]", "app.Shop$$Lambda*[]" },
        { "app.Shop$Hidden+0x1[][]", "app.Shop$Hidden*[][]" },
        { "java.util.Comparator$$ExternalSyntheticLambda3", "java.util.Comparator$$ExternalSyntheticLambda*" },
        { "java.lang.invoke.LambdaForm$MH", "java.lang.invoke.LambdaForm$MH*" },
        { "java.lang.invoke.LambdaForm$DMH+0x0000000100002c00", "java.lang.invoke.LambdaForm$DMH*" },
        { "com.sun.proxy.$Proxy12", "com.sun.proxy.$Proxy*" },
        { "jdk.proxy2.$Proxy12", "jdk.proxy*.$Proxy*" },
        { "jdk.proxy.$Proxy12", "jdk.proxy.$Proxy*" },
        { "jdk.proxy2x.$Proxy12", "jdk.proxy2x.$Proxy*" },
        { "jdk.proxy2", NULL },
        { "$Proxy0", "$Proxy*" },
        { "sun.reflect.GeneratedMethodAccessor7", "sun.reflect.GeneratedMethodAccessor*" },
        { "jdk.internal.reflect.GeneratedConstructorAccessor19", "jdk.internal.reflect.GeneratedConstructorAccessor*" },
        { "sun.reflect.GeneratedSerializationConstructorAccessor1",
          "sun.reflect.GeneratedSerializationConstructorAccessor*" },
        { "app.Shop$1", NULL },
        { "app.Shop", NULL },
        { "app.Version2", NULL },
        { "app.face+0x", NULL },
        { "app.GeneratedMethodAccessor7", NULL },
        { "app.$Proxy", NULL },
        { "app.Shop$$Lambda", NULL },
        { "java.lang.invoke.LambdaForm", NULL },
        { "byte[]", NULL },
        { "[]", NULL },
        { "", NULL },
        { "123", NULL },
        { "/1", NULL },
        { "+0x1", NULL },
    };
    hdx_buffer b = hdx_buffer_of(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hdx_text name = { cases[i][0], (uint32_t)strlen(cases[i][0]) };
        const bool     is = hdx_hidden_name(name, &b);
        cr_expect(is == (cases[i][1] != NULL), "%s", cases[i][0]);
        if (is && cases[i][1] != NULL) {
            cr_expect(hdx_text_is((hdx_text){ b.at, (uint32_t)b.len }, cases[i][1]), "%s: %.*s", cases[i][0],
                      (int)b.len, b.at);
            cr_expect(hdx_glob_match((hdx_text){ b.at, (uint32_t)b.len }, name), "%s", cases[i][0]);
        }
    }
    hdx_buffer_free(&b);
}

static hdx_rows *ask(heap *h, const hdx_argument *at, size_t count)
{
    const hdx_arguments given = { &hdx_question_histogram.declared, at, count };
    hdx_rows           *rows = NULL;
    cr_assert(eq(int, hdx_question_open(&hdx_question_histogram, &h->q, &given, &rows, &h->err), HDX_OK), "%s",
              h->err.message);
    return rows;
}

/* Three lambdas of one loader, two accessors of two, a class of the same name as none. */
static void little_heap(heap *h)
{
    static const char *const names[] = { "app.Shop$$Lambda+0x10",
                                         "app.Shop$$Lambda+0x20",
                                         "app.Shop$$Lambda+0x30",
                                         "sun.reflect.GeneratedMethodAccessor1",
                                         "sun.reflect.GeneratedMethodAccessor2",
                                         "app.Shop" };
    dump_maker              *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, 0x200, "java.lang.ClassLoader", 0x100, "");
    for (uint64_t i = 0; i < 2; i++) {
        dump_maker_instance_at(m, 0x1000 + 0x100 * i, 0x200, NULL);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x1000 + 0x100 * i, 0, 0);
    }
    for (uint64_t i = 0; i < 6; i++) {
        m->loader = i == 3 ? 0x1000 : i == 4 ? 0x1100 : 0;
        (void)dump_maker_class_at(m, 0x300 + 0x100 * i, names[i], 0x100, i == 0 ? "a:L" : "");
        for (uint64_t k = 0; k <= i; k++) {
            dump_maker_instance_at(m, 0x2000 + 0x400 * i + 0x40 * k, 0x300 + 0x100 * i, NULL);
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x2000 + 0x400 * i + 0x40 * k, 0, 0);
        }
    }
    heap_open(h, m);
}

Test(histogram, folds_classes_made_at_run_time)
{
    static const hdx_argument fold[] = { { "hidden", "fold" }, { "class", "*o*" } };
    static const hdx_argument retained[] = { { "hidden", "fold" }, { "class", "app.*" }, { "retained", NULL } };
    static const hdx_argument none[] = { { "hidden", "none" }, { "class", "app.Shop$$*" } };
    heap                      h;
    little_heap(&h);
    expect_rows(ask(&h, fold, 2), "sun.reflect.GeneratedMethodAccessor*,-,2,9,144,-,36.73,-,generated\n"
                                  "app.Shop$$Lambda*,0x0,3,6,104,-,26.53,-,generated\n"
                                  "app.Shop,0x0,1,6,96,-,24.49,-,platform\n"
                                  "java.lang.ClassLoader,0x0,1,3,48,-,12.24,-,platform\n");
    expect_rows(ask(&h, retained, 3), "app.Shop$$Lambda*,0x0,3,6,104,104,26.53,-,generated\n"
                                      "app.Shop,0x0,1,6,96,96,24.49,-,platform\n");
    expect_rows(ask(&h, none, 2), "app.Shop$$Lambda+0x30,0x0,3,48,-,12.24,-,generated\n"
                                  "app.Shop$$Lambda+0x20,0x0,2,32,-,8.16,-,generated\n"
                                  "app.Shop$$Lambda+0x10,0x0,1,24,-,6.12,-,generated\n");
    heap_close(&h);
}

/* Zoo has two classes of proxies with three objects, and three lambdas in Zoo.Shapes beside one that it makes. */
Test(histogram, of_reference_dumps_folds_proxies_and_lambdas)
{
    static const hdx_argument fold[] = { { "hidden", "fold" } };
    golden_dumps              d;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (golden_next(&d)) {
        heap             h = { 0 };
        hdx_index_report report;
        const hdx_cell  *c;
        uint64_t         objects = 0, proxies = 0;
        if (strstr(d.path, "/zoo-") == NULL)
            continue;
        test_folder_make(h.folder, "hidden");
        const hdx_index_options options = { .dump = d.path, .index_dir = h.folder, .threads = 2 };
        ok(hdx_index_build(&options, &report, &h.err));
        ok(hdx_graph_open(report.path, d.path, &h.g, &h.err));
        h.q = (hdx_query){ .graph = h.g, .threads = 2 };
        hdx_rows *rows = ask(&h, fold, 1);
        while (hdx_rows_next(rows, &c)) {
            objects += c[3].as.natural;
            if (hdx_text_is(c[0].as.text, "com.sun.proxy.$Proxy*") || hdx_text_is(c[0].as.text, "jdk.proxy*.$Proxy*")) {
                cr_expect(c[2].as.natural == 2 && c[3].as.natural == 3, "%s", d.path);
                proxies++;
            }
            if (hdx_text_is(c[0].as.text, "Zoo$Shapes$$Lambda*"))
                cr_expect(c[2].as.natural >= 3 && c[3].as.natural >= 3, "%s", d.path);
        }
        hdx_rows_close(rows);
        cr_expect(eq(u64, proxies, 1));
        cr_expect(eq(u64, objects, hdx_graph_summary_of(h.g)->live_objects), "%s", d.path);
        heap_close(&h);
    }
}

/* Between runs; a histogram shows classes of libraries under their names. */
Test(hidden_names, leave_keys_by_which_classes_of_two_runs_are_the_same)
{
    static const char *const names[][2] = {
        { "app.Shop", "app.Shop" },
        { "app.Shop$1", "app.Shop$1" },
        { "app.Shop$$Lambda$14/0x7f01[]", "app.Shop$$Lambda*[]" },
        { "app.Shop$$EnhancerBySpringCGLIB$$3f2a01", "app.Shop$$EnhancerBySpringCGLIB$$*" },
        { "app.Shop$$SpringCGLIB$$0[][]", "app.Shop$$SpringCGLIB$$*[][]" },
        { "app.Shop$ByteBuddy$aB3x", "app.Shop$ByteBuddy$*" },
        { "app.Shop$HibernateProxy$Zz1", "app.Shop$HibernateProxy$*" },
        { "app.Shop$MockitoMock$1234567", "app.Shop$MockitoMock$*" },
        { "app.Shop_$$_jvst5b_0", "app.Shop_$$_jvst*" },
        { "app.CGLIB", "app.CGLIB" },
        { "", "" },
    };
    hdx_buffer scratch = hdx_buffer_of(NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const hdx_text key = hdx_class_key((hdx_text){ names[i][0], (uint32_t)strlen(names[i][0]) }, &scratch);
        cr_expect(hdx_text_is(key, names[i][1]), "%s: %.*s", names[i][0], (int)key.len, key.at);
    }
    hdx_buffer_free(&scratch);
}
