/*
 * test_origins.c - origins of classes: by class loader, and by name where one loader defined all classes.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/questions.h"
#include "rows/arguments.h"

#define BOOT_CLASS   0x200 /* classes of class loaders */
#define PLATFORM     0x210
#define APP          0x220
#define ZONE         0x1000 /* loaders */
#define SYSTEM       0x1100
#define HOSTILE_NAME "app.\n\x1b[31m$Proxy7"

/*
 * Classes of the boot loader, of the platform loader and of the application loader, with one object each:
 * java.lang.String (boot), javax.sql.Row (platform loader), app.Cart and java.lang.Evil (application loader), a lambda
 * and a proxy (generated), byte[] (array). `loaders` false: the boot loader defined them all, as in native images.
 */
static void shop(heap *h, bool loaders)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    of[8], n = 0;
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, BOOT_CLASS, "java.lang.ClassLoader", 0x100, "");
    (void)dump_maker_class_at(m, PLATFORM, "jdk.internal.loader.ClassLoaders$PlatformClassLoader", BOOT_CLASS, "");
    (void)dump_maker_class_at(m, APP, "jdk.internal.loader.ClassLoaders$AppClassLoader", BOOT_CLASS, "");
    of[n++] = dump_maker_class_at(m, 0x300, "java.util.Bits", 0x100, "");
    m->loader = loaders ? ZONE : 0;
    of[n++] = dump_maker_class_at(m, 0x310, "javax.sql.Row", 0x100, "");
    m->loader = loaders ? SYSTEM : 0;
    of[n++] = dump_maker_class_at(m, 0x320, "app.Cart", 0x100, "");
    of[n++] = dump_maker_class_at(m, 0x330, "java.lang.Evil", 0x100, "");
    of[n++] = dump_maker_class_at(m, 0x340, "app.Cart$$Lambda/0x00007f1c", 0x100, "");
    of[n++] = dump_maker_class_at(m, 0x350, HOSTILE_NAME, 0x100, "");
    m->loader = 0;
    (void)dump_maker_class_at(m, 0x360, "byte[]", 0x100, "");
    (void)dump_maker_instance_at(m, ZONE, PLATFORM, NULL);
    (void)dump_maker_instance_at(m, SYSTEM, APP, NULL);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, ZONE, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, SYSTEM, 0, 0);
    for (uint64_t i = 0; i < n; i++) {
        (void)dump_maker_instance_at(m, 0x2000 + 0x100 * i, of[i], NULL);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x2000 + 0x100 * i, 0, 0);
    }
    dump_maker_primitives_at(m, 0x4000, 'B', NULL, 84); /* 108 bytes */
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x4000, 0, 0);
    heap_open(h, m);
}

static hdx_rows *ask(heap *h, const hdx_question *question, const char *by, const char *flag)
{
    const hdx_argument  at[] = { { "by", by }, { flag, NULL } };
    const hdx_arguments a = { &question->declared, at, flag == NULL ? 1 : 2 };
    hdx_rows           *rows = NULL;
    cr_assert(eq(int, hdx_question_open(question, &h->q, &a, &rows, &h->err), HDX_OK), "%s", h->err.message);
    return rows;
}

static void expect_origin(heap *h, const char *class_name, const char *want)
{
    hdx_rows         *rows = ask(h, &hdx_question_histogram, "class", NULL);
    const hdx_cell   *row;
    unsigned          n, place = 0, found = 0;
    const hdx_column *columns = hdx_rows_columns(rows, &n);
    while (place < n && strcmp(columns[place].name, "origin") != 0)
        place++;
    cr_assert(place < n);
    while (hdx_rows_next(rows, &row))
        if (hdx_text_is(row[0].as.text, class_name)) {
            cr_expect(hdx_text_is(row[place].as.text, want), "%s: %.*s", class_name, (int)row[place].as.text.len,
                      row[place].as.text.at);
            found++;
        }
    cr_expect(eq(u32, found, 1));
    hdx_rows_close(rows);
}

Test(origins, of_classes_are_by_their_loader_whatever_their_package)
{
    heap h;
    shop(&h, true);
    expect_origin(&h, "java.util.Bits", "platform");
    expect_origin(&h, "javax.sql.Row", "platform");
    expect_origin(&h, "app.Cart", "application");
    expect_origin(&h, "java.lang.Evil", "application");
    expect_origin(&h, "app.Cart$$Lambda/0x00007f1c", "generated");
    expect_origin(&h, HOSTILE_NAME, "generated");
    expect_origin(&h, "byte[]", "array");
    heap_close(&h);
}

Test(origins, are_by_name_where_the_boot_loader_defined_all_classes)
{
    heap h;
    shop(&h, false);
    expect_origin(&h, "javax.sql.Row", "platform");
    expect_origin(&h, "app.Cart", "application");
    expect_origin(&h, "java.lang.Evil", "platform");
    heap_close(&h);
}

Test(origins, are_keys_of_the_histogram_and_of_dominators)
{
    heap h;
    shop(&h, true);
    expect_rows(ask(&h, &hdx_question_histogram, "origin", NULL), "array,1,1,112,-,43.75\n"
                                                                  "platform,6,17,80,-,31.25\n"
                                                                  "application,2,2,32,-,12.50\n"
                                                                  "generated,2,2,32,-,12.50\n");
    expect_rows(ask(&h, &hdx_question_histogram, "origin", "retained"), "array,1,1,112,112,43.75\n"
                                                                        "platform,6,17,80,80,31.25\n"
                                                                        "application,2,2,32,32,12.50\n"
                                                                        "generated,2,2,32,32,12.50\n");
    expect_rows(ask(&h, &hdx_question_dominators, "origin", NULL), "array,1,112,112,43.75\n"
                                                                   "platform,11,80,80,31.25\n"
                                                                   "application,2,32,32,12.50\n"
                                                                   "generated,2,32,32,12.50\n");
    heap_close(&h);
}

Test(origins, are_no_keys_of_merged_trees)
{
    heap                h;
    const hdx_argument  at[] = { { "merge", NULL }, { "by", "origin" } };
    const hdx_arguments a = { &hdx_question_dominators.declared, at, 2 };
    hdx_rows           *rows = NULL;
    shop(&h, true);
    cr_expect(eq(int, hdx_question_open(&hdx_question_dominators, &h.q, &a, &rows, &h.err), HDX_USAGE));
    cr_expect(eq(str, h.err.message, (char *)"--merge works by class, package or loader"));
    heap_close(&h);
}
