/*
 * test_preferred_paths.c - of paths of about the same length the question `path` shows the one that says why the
 * program holds an object; paths in the index stay as they are.
 */
#include "support/questions.h"
#include "heap.h"

/* Classes and objects are roots only where that is said. */
enum {
    OBJECT = 0x100,
    LAUNCHER = 0x300, /* a root; appClass: MAIN */
    REGISTRY = 0x400, /* a root, class of the JDK; entry and other: REGISTERED, CACHED ... */
    LOADER_CLASS = 0x500,
    APP_LOADER_CLASS = 0x600,
    MAIN = 0x700, /* shared: SHARED, only: ONLY */
    NODE = 0x800,
    ARRAY = 0x900,
    REFERENCE_CLASS = 0xa00,
    WEAK_CLASS = 0xb00,
    PLUGIN = 0xc00,  /* kept by the list of LOADER; found: FOUND */
    LOADER = 0x1000, /* a root */
    LIST = 0x1100,
    SHARED = 0x2000,
    ONLY = 0x2100,
    REGISTERED = 0x2200,
    FAR = 0x2300,
    WEAKLY = 0x2400,
    INVENTED = 0x2500,
    FOUND = 0x2600,
    HOLDER = 0x3000, /* a root, of the program */
    NEXT = 0x3100,
    LAST = 0x3200,
    BEHIND = 0x3300,
    WEAK = 0x3400,
    OTHER = 0x3500, /* a root, of the program */
    INVENTED_ARRAY = 0x3600,
};

static void make(heap *h)
{
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, 0x200, "java.lang.Class", OBJECT, "");
    dump_maker_static(m, "appClass", 'L', MAIN);
    (void)dump_maker_class_at(m, LAUNCHER, "sun.launcher.LauncherHelper", OBJECT, "");
    dump_maker_static(m, "entry", 'L', REGISTERED);
    dump_maker_static(m, "far", 'L', FAR);
    dump_maker_static(m, "weakly", 'L', WEAKLY);
    dump_maker_static(m, "invented", 'L', INVENTED);
    (void)dump_maker_class_at(m, REGISTRY, "java.util.Registry", OBJECT, "");
    (void)dump_maker_class_at(m, LOADER_CLASS, "java.lang.ClassLoader", OBJECT, "classes:L");
    (void)dump_maker_class_at(m, APP_LOADER_CLASS, "jdk.internal.loader.AppLoader", LOADER_CLASS, "");
    dump_maker_static(m, "shared", 'L', SHARED);
    dump_maker_static(m, "only", 'L', ONLY);
    dump_maker_static(m, "<resolved_references>", 'L', INVENTED_ARRAY);
    (void)dump_maker_class_at(m, MAIN, "app.Main", OBJECT, "");
    (void)dump_maker_class_at(m, NODE, "app.Node", OBJECT, "next:L also:L third:L");
    (void)dump_maker_class_at(m, ARRAY, "[Ljava/lang/Object;", OBJECT, "");
    (void)dump_maker_class_at(m, REFERENCE_CLASS, "java.lang.ref.Reference", OBJECT, "referent:L");
    (void)dump_maker_class_at(m, WEAK_CLASS, "java.lang.ref.WeakReference", REFERENCE_CLASS, "");
    dump_maker_static(m, "found", 'L', FOUND);
    (void)dump_maker_class_at(m, PLUGIN, "app.Plugin", OBJECT, "");
    dump_maker_instance_at(m, LOADER, APP_LOADER_CLASS, DUMP_VALUES(LIST));
    dump_maker_array_at(m, LIST, ARRAY, DUMP_VALUES(PLUGIN), 1);
    for (uint64_t at = SHARED; at <= FOUND; at += 0x100)
        dump_maker_instance_at(m, at, NODE, NULL);
    dump_maker_instance_at(m, HOLDER, NODE, DUMP_VALUES(NEXT, 0, 0));
    dump_maker_instance_at(m, NEXT, NODE, DUMP_VALUES(LAST, SHARED, 0));
    dump_maker_instance_at(m, LAST, NODE, DUMP_VALUES(REGISTERED, BEHIND, ONLY));
    dump_maker_instance_at(m, BEHIND, NODE, DUMP_VALUES(FAR, 0, 0));
    dump_maker_instance_at(m, WEAK, WEAK_CLASS, DUMP_VALUES(WEAKLY));
    dump_maker_instance_at(m, OTHER, NODE, DUMP_VALUES(WEAK, 0, 0));
    dump_maker_array_at(m, INVENTED_ARRAY, ARRAY, DUMP_VALUES(INVENTED), 1);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, LAUNCHER, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, REGISTRY, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, LOADER, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, HOLDER, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, OTHER, 0, 0);
    heap_open(h, m);
}

/* Addresses of the steps, of all paths to the object. */
static void expect_path(heap *h, hdx_addr target, unsigned paths, unsigned exclude, const char *want)
{
    const hdx_path_options options = { .paths = paths, .exclude = exclude };
    const hdx_id           id = id_at(h, target);
    hdx_buffer             b = hdx_buffer_of(NULL);
    const hdx_cell        *row;
    hdx_rows              *rows;
    cr_assert(eq(int, hdx_query_path(&h->q, &id, 1, &options, &rows, &h->err), HDX_OK), "%s", h->err.message);
    while (hdx_rows_next(rows, &row))
        hdx_buffer_format(&b, "%s%llx",
                          b.len == 0               ? ""
                          : row[1].as.natural == 0 ? " | "
                                                   : " ",
                          (unsigned long long)row[2].as.address);
    cr_expect_str_eq(b.at, want, "0x%llx: %s", (unsigned long long)target, b.at);
    hdx_buffer_free(&b);
    hdx_rows_close(rows);
}

Test(preferred_paths, begin_at_a_root_of_the_program_rather_than_at_the_launcher_where_they_are_as_long)
{
    heap h;
    make(&h);
    cr_expect(eq(u64, hdx_graph_nearest(h.g, id_at(&h, SHARED)), id_at(&h, MAIN)));
    expect_path(&h, SHARED, 1, 0, "3000 3100 2000");
    expect_path(&h, ONLY, 1, 0, "300 700 2100"); /* a static of the program says why, too */
    cr_expect(eq(u64, hdx_graph_nearest(h.g, id_at(&h, ONLY)), id_at(&h, MAIN)));
    heap_close(&h);
}

Test(preferred_paths, are_longer_than_one_by_a_static_of_the_jdk_by_at_most_two)
{
    heap h;
    make(&h);
    expect_path(&h, REGISTERED, 1, 0, "3000 3100 3200 2200");
    expect_path(&h, REGISTERED, 2, 0, "3000 3100 3200 2200 | 400 2200");
    expect_path(&h, REGISTERED, 1, HDX_EXCLUDE_WEAK, "3000 3100 3200 2200");
    cr_expect(eq(u64, hdx_graph_nearest(h.g, id_at(&h, REGISTERED)), id_at(&h, REGISTRY)));
    expect_path(&h, FAR, 1, 0, "400 2300");
    expect_path(&h, FAR, 2, 0, "400 2300 | 3000 3100 3200 3300 2300");
    heap_close(&h);
}

Test(preferred_paths, use_no_referent_no_invented_static_and_no_list_of_a_class_loader)
{
    heap h;
    make(&h);
    expect_path(&h, WEAKLY, 1, 0, "400 2400");
    expect_path(&h, INVENTED, 1, 0, "400 2500");
    expect_path(&h, FOUND, 1, 0, "1000 1100 c00 2600"); /* there is no other */
    expect_path(&h, PLUGIN, 1, 0, "1000 1100 c00");
    heap_close(&h);
}
