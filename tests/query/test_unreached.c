/* test_unreached.c - unreachable objects that are most likely no garbage, as info, garbage, path and object tell them.
 */
#include "heap.h"
#include "query/objects.h"
#include "query/paths/paths.h"
#include "support/questions.h"

enum {
    OBJECT = 0x100,
    CLASS = 0x200,
    LOADER = 0x300,
    MAP = 0x400,  /* ClassValue$ClassValueMap */
    SOFT = 0x500, /* java.lang.ref.SoftReference */
    DATA = 0x600, /* Class$ReflectionData */
    ENUM = 0x700,
    COLOR = 0x800, /* an enum */
    COLORS = 0x900,
    META = 0xa00, /* of the program */
    ARRAY = 0xb00,
    HASH_MAP = 0xc00,
    NODES = 0xd00,
    NODE = 0xe00
};

static dump_maker *begin(const char *version)
{
    static const uint64_t roots[] = { OBJECT, CLASS, LOADER, MAP, SOFT, DATA, ENUM, COLOR, META, HASH_MAP, NODE };
    dump_maker           *m = dump_maker_new(8);
    m->version = version;
    dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_class_at(m, CLASS, "java.lang.Class", OBJECT, "");
    dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "");
    dump_maker_class_at(m, MAP, "java.lang.ClassValue$ClassValueMap", OBJECT, "table:L");
    dump_maker_class_at(m, SOFT, "java.lang.ref.SoftReference", OBJECT, "referent:L");
    dump_maker_class_at(m, DATA, "java.lang.Class$ReflectionData", OBJECT, "methods:L");
    dump_maker_class_at(m, ENUM, "java.lang.Enum", OBJECT, "ordinal:I");
    dump_maker_class_at(m, COLOR, "app.Color", ENUM, "");
    dump_maker_class_at(m, COLORS, "app.Color[]", OBJECT, "");
    dump_maker_class_at(m, META, "app.Meta", OBJECT, "next:L");
    dump_maker_class_at(m, ARRAY, "java.lang.Object[]", OBJECT, "");
    dump_maker_class_at(m, HASH_MAP, "java.util.HashMap", OBJECT, "table:L");
    dump_maker_class_at(m, NODES, "java.util.HashMap$Node[]", OBJECT, "");
    dump_maker_class_at(m, NODE, "java.util.HashMap$Node", OBJECT, "key:L value:L");
    for (size_t i = 0; i < HDX_COUNT(roots); i++)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, roots[i], 0, 0);
    return m;
}

/* What info says of them, and of locals. */
static void expect_told(heap *h, const char *want)
{
    hdx_rows *rows = NULL;
    cr_assert(eq(int, hdx_query_info(&h->q, &rows, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_rows_where(&rows, "key ~ ^(no_garbage|lacks_locals)", &h->err), HDX_OK));
    expect_rows(rows, want);
}

static void expect_reservation(heap *h, hdx_addr address, const char *want)
{
    const hdx_id id = id_at(h, address);
    hdx_rows    *rows = NULL;
    const char  *why = NULL;
    char         reason[200];
    (void)snprintf(reason, sizeof reason, "no GC root reaches it%s%s", want == NULL ? "" : "; ",
                   want == NULL ? "" : want);
    cr_assert(eq(int, hdx_query_path(&h->q, &id, 1, NULL, &rows, &h->err), HDX_OK), "%s", h->err.message);
    hdx_buffer none = rows_text(rows);
    why = hdx_rows_empty_reason(rows);
    cr_expect(eq(str, (char *)why, reason));
    hdx_buffer_free(&none);
    hdx_buffer document = hdx_buffer_of(NULL);
    put_cell(&document, extra(rows, "paths"));
    (void)snprintf(reason, sizeof reason, "reservation=%s", want == NULL ? "" : want);
    cr_expect(eq(int, strstr(document.at, reason) != NULL, want != NULL), "%s", document.at);
    hdx_buffer_free(&document);
    hdx_rows_close(rows);
    cr_assert(eq(int, hdx_query_object(&h->q, &id, 1, 0, &rows, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_rows_select(&rows, "reservation", &h->err), HDX_OK));
    (void)snprintf(reason, sizeof reason, "%s\n", want == NULL ? "-" : want);
    expect_rows(rows, reason);
}

#define FILLER   "most likely a filler: a collector filled a gap in the heap with it"
#define ARCHIVED "most likely the JVM holds it for its archive of class data (CDS), through a root that the dump lacks"
#define HELD     "most likely a class object holds it, through a field of java.lang.Class that HotSpot omits from dumps"

Test(unreached, int_arrays_that_nothing_refers_to_are_fillers)
{
    heap        h;
    dump_maker *m = begin("1.0.2");
    dump_maker_primitives_at(m, 0x10000, 'I', NULL, 100);
    dump_maker_primitives_at(m, 0x11000, 'I', NULL, 10);
    dump_maker_primitives_at(m, 0x12000, 'J', NULL, 10);
    dump_maker_instance_at(m, 0x13000, META, DUMP_VALUES(0x11000)); /* garbage with an int[] of its own */
    heap_open(&h, m);
    expect_told(&h, "no_garbage.filler.objects,1\nno_garbage.filler.bytes,424\n"
                    "no_garbage.class field.objects,5\nno_garbage.class field.bytes,0\nlacks_locals,false\n");
    expect_reservation(&h, 0x10000, FILLER);
    expect_reservation(&h, 0x11000, NULL);
    expect_reservation(&h, 0x12000, NULL);
    heap_close(&h);
}

Test(unreached, what_fields_of_class_objects_hold_is_told_with_all_that_it_holds)
{
    heap        h;
    dump_maker *m = begin("1.0.2");
    dump_maker_instance_at(m, 0x10000, MAP, DUMP_VALUES(0x10100));
    dump_maker_array_at(m, 0x10100, ARRAY, DUMP_VALUES(0x10200), 1);
    dump_maker_instance_at(m, 0x10200, META, DUMP_VALUES(0));
    dump_maker_instance_at(m, 0x11000, SOFT, DUMP_VALUES(0x11100));
    dump_maker_instance_at(m, 0x11100, DATA, DUMP_VALUES(0));
    dump_maker_instance_at(m, 0x12000, SOFT, DUMP_VALUES(0x12100)); /* a cache of the program */
    dump_maker_instance_at(m, 0x12100, META, DUMP_VALUES(0));
    dump_maker_instance_at(m, 0x13000, COLOR, DUMP_VALUES(1));
    dump_maker_array_at(m, 0x14000, COLORS, DUMP_VALUES(0x13000), 1);
    dump_maker_array_at(m, 0x14100, COLORS, DUMP_VALUES(0x13000), 1); /* one that values() gave out */
    dump_maker_instance_at(m, 0x15000, HASH_MAP, DUMP_VALUES(0x15100));
    dump_maker_array_at(m, 0x15100, NODES, DUMP_VALUES(0x15200), 1);
    dump_maker_instance_at(m, 0x15200, NODE, DUMP_VALUES(0, 0x13000));
    dump_maker_instance_at(m, 0x16000, HASH_MAP, DUMP_VALUES(0x16100));
    dump_maker_array_at(m, 0x16100, NODES, DUMP_VALUES(0x16200), 1);
    dump_maker_instance_at(m, 0x16200, NODE, DUMP_VALUES(0, 0x12100));
    heap_open(&h, m);
    expect_reservation(&h, 0x10000, HELD);
    expect_reservation(&h, 0x10200, HELD);
    expect_reservation(&h, 0x11000, HELD);
    expect_reservation(&h, 0x11100, HELD);
    expect_reservation(&h, 0x12000, NULL);
    expect_reservation(&h, 0x12100, NULL);
    expect_reservation(&h, 0x13000, HELD);
    expect_reservation(&h, 0x14000, HELD);
    expect_reservation(&h, 0x14100, NULL);
    expect_reservation(&h, 0x15000, HELD);
    expect_reservation(&h, 0x16000, NULL);
    expect_reservation(&h, COLORS, HELD);
    heap_close(&h);
}

Test(unreached, what_the_jvm_holds_for_its_archive_is_told_with_all_that_it_holds)
{
    heap           h;
    dump_maker    *m = begin("1.0.2");
    const uint64_t graph = 0x2000, strings[] = { 0x10300, 0x10408 };
    dump_maker_class_at(m, graph, "jdk.internal.module.ArchivedModuleGraph", OBJECT, "");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, graph, 0, 0);
    dump_maker_array_at(m, 0x10000, ARRAY, DUMP_VALUES(0, 0x10100, 0x10200), 3);
    dump_maker_instance_at(m, 0x10100, graph, NULL);
    dump_maker_array_at(m, 0x10200, ARRAY, strings, 2);
    dump_maker_instance_at(m, 0x10300, META, DUMP_VALUES(0));
    dump_maker_instance_at(m, 0x10408, MAP, DUMP_VALUES(0));         /* a class object holds it before all others */
    dump_maker_array_at(m, 0x11000, ARRAY, DUMP_VALUES(0x11100), 1); /* garbage of the program */
    dump_maker_instance_at(m, 0x11100, META, DUMP_VALUES(0));
    dump_maker_instance_at(m, 0x12000, META, DUMP_VALUES(0x12100)); /* that has a referrer: no root of the JVM */
    dump_maker_array_at(m, 0x12100, ARRAY, DUMP_VALUES(0x10100), 1);
    heap_open(&h, m);
    expect_told(&h, "no_garbage.class field.objects,4\nno_garbage.class field.bytes,24\n"
                    "no_garbage.archive.objects,4\nno_garbage.archive.bytes,128\nlacks_locals,false\n");
    expect_reservation(&h, 0x10000, ARCHIVED);
    expect_reservation(&h, 0x10300, ARCHIVED);
    expect_reservation(&h, 0x10408, HELD);
    expect_reservation(&h, 0x11000, NULL);
    expect_reservation(&h, 0x11100, NULL);
    expect_reservation(&h, 0x12100, NULL);
    heap_close(&h);
}

Test(unreached, a_class_of_arrays_is_garbage_with_its_loader)
{
    heap        h;
    dump_maker *m = begin("1.0.2");
    dump_maker_instance_at(m, 0x10000, LOADER, NULL);
    m->loader = 0x10000;
    dump_maker_class_at(m, 0x11000, "lib.Thing[]", OBJECT, "");
    heap_open(&h, m);
    expect_reservation(&h, 0x11000, NULL);
    heap_close(&h);
}

Test(unreached, dumps_of_android_have_fields_of_classes)
{
    heap        h;
    dump_maker *m = begin("1.0.3");
    dump_maker_primitives_at(m, 0x10000, 'I', NULL, 100);
    dump_maker_instance_at(m, 0x11000, MAP, DUMP_VALUES(0));
    heap_open(&h, m);
    expect_told(&h, "lacks_locals,false\n");
    heap_close(&h);
}

Test(unreached, clusters_have_a_kind_and_the_total_their_sums)
{
    heap        h;
    hdx_rows   *rows = NULL;
    dump_maker *m = begin("1.0.2");
    dump_maker_primitives_at(m, 0x10000, 'I', NULL, 100);
    dump_maker_instance_at(m, 0x11000, MAP, DUMP_VALUES(0x11100));
    dump_maker_instance_at(m, 0x11100, META, DUMP_VALUES(0));
    dump_maker_instance_at(m, 0x12000, META, DUMP_VALUES(0));
    heap_open(&h, m);
    const hdx_arguments a = { &hdx_question_garbage.declared, NULL, 0 };
    ok(hdx_question_open(&hdx_question_garbage, &h.q, &a, &rows, &h.err));
    expect_extra(rows, "total",
                 "{clusters=6 unreachable_objects=8 unreachable_bytes=496 filler_objects=1 filler_bytes=424 "
                 "class_field_objects=6 class_field_bytes=48 archive_objects=0 archive_bytes=0}");
    ok(hdx_rows_where(&rows, "shallow > 0", &h.err));
    ok(hdx_rows_select(&rows, "address,kind", &h.err));
    expect_rows(rows, "0x10000,filler\n0x11000,class field\n0x12000,garbage\n");
    heap_close(&h);
}

/* ---- dumps by the serviceability agent ---- */

static void open_stacks(heap *h, uint8_t root)
{
    dump_maker *m = begin("1.0.2");
    dump_maker_class_at(m, 0x2000, "java.lang.Thread", OBJECT, "");
    dump_maker_instance_at(m, 0x10000, 0x2000, NULL);
    dump_maker_instance_at(m, 0x11000, META, DUMP_VALUES(0));
    dump_maker_instance_at(m, 0x12000, META, DUMP_VALUES(0));
    const uint64_t frame = dump_maker_frame(m, "run", dump_maker_load(m, 0x3000, "app/Main"), 7);
    dump_maker_trace(m, 1, 0, NULL, 0);
    dump_maker_trace(m, 2, 1, &frame, 1);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, 0x10000, 1, 2);
    if (root != 0)
        dump_maker_root(m, root, 0x12000, 1, 0);
    heap_open(h, m);
}

Test(unreached, stacks_without_locals_are_told)
{
    heap h;
    open_stacks(&h, 0);
    expect_told(&h, "no_garbage.class field.objects,3\nno_garbage.class field.bytes,0\nlacks_locals,true\n");
    expect_reservation(&h, 0x11000, "the dump has stacks but lacks locals and JNI roots, which may hold it");
    heap_close(&h);
}

Test(unreached, one_local_or_jni_global_is_enough)
{
    static const uint8_t roots[] = { HDX_SUB_ROOT_JAVA_FRAME, HDX_SUB_ROOT_JNI_GLOBAL };
    for (size_t i = 0; i < HDX_COUNT(roots); i++) {
        heap h;
        open_stacks(&h, roots[i]);
        expect_told(&h, "no_garbage.class field.objects,3\nno_garbage.class field.bytes,0\nlacks_locals,false\n");
        expect_reservation(&h, 0x11000, NULL);
        heap_close(&h);
    }
}
