/* test_roots.c - GC roots that threads hold say in which frame, or that it is none; objects say in which heap. */
#include "making/built.h"
#include "making/making.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <string.h>

Test(roots, of_threads_say_their_frames)
{
    static const int32_t frames[] = { -1, 0, 1, 2, -7 };
    static const struct {
        uint8_t       tag;
        hdx_root_type type;
    } tags[] = { { HDX_SUB_ROOT_JNI_LOCAL, HDX_ROOT_NATIVE_LOCAL }, { HDX_SUB_ROOT_JAVA_FRAME, HDX_ROOT_JAVA_LOCAL } };
    enum { FRAMES = sizeof frames / sizeof *frames, TAGS = sizeof tags / sizeof *tags };
    uint64_t    ids[TAGS][FRAMES], count = 0;
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    const uint64_t thread = dump_maker_instance(m, dump_maker_class(m, "java.lang.Thread", object, ""), NULL);
    const uint64_t method[] = { dump_maker_frame(m, "run", 1, 7), dump_maker_frame(m, "go", 1, 8),
                                dump_maker_frame(m, "stop", 1, 9) };
    dump_maker_trace(m, 5, 1, method, 3);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, thread, 1, 5);
    for (unsigned t = 0; t < TAGS; t++)
        for (unsigned i = 0; i < FRAMES; i++) {
            ids[t][i] = dump_maker_instance(m, object, NULL);
            dump_maker_root(m, tags[t].tag, ids[t][i], 1, frames[i]);
        }
    built           b = built_open(m, "roots");
    const hdx_root *roots = hdx_graph_roots(b.g, &count);
    for (unsigned t = 0; t < TAGS; t++)
        for (unsigned i = 0; i < FRAMES; i++) {
            unsigned found = 0;
            hdx_id   id, holder;
            cr_assert(hdx_graph_find(b.g, ids[t][i], &id) && hdx_graph_find(b.g, thread, &holder));
            for (uint64_t k = 0; k < count; k++)
                if (roots[k].object == id) {
                    found++;
                    cr_expect(roots[k].type == tags[t].type && roots[k].thread == holder);
                    cr_expect(roots[k].frame == (frames[i] < 0 ? -1 : frames[i]), "%u, %d: %d", t, frames[i],
                              roots[k].frame);
                }
            cr_expect(found == 1, "%u, %d: %u", t, frames[i], found);
        }
    built_close(&b);
}

/* Android numbers its heaps, and one has the number 0. */
Test(heaps, of_any_number_are_told_of_each_object)
{
    static const uint32_t    numbers[] = { 0, 65, 0, 90, 0xffffffff, 65 };
    static const char *const names[] = { "default", "app", "default", "zygote", "last", "app" };
    enum { STRETCHES = sizeof numbers / sizeof *numbers };
    char             folder[TEST_FOLDER];
    hdx_index_report report;
    hdx_error        err;
    hdx_graph       *g;
    uint64_t         ids[STRETCHES][2], count = 0;
    dump_maker      *m = dump_maker_new(4);
    const uint64_t   before = 0x7000;
    dump_maker_heap_info(m, numbers[0], names[0]);
    uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance_at(m, before, object, NULL), 0, 0);
    for (unsigned s = 0; s < STRETCHES; s++) {
        if (s > 0)
            dump_maker_heap_info(m, numbers[s], names[s]);
        for (unsigned i = 0; i < 2; i++)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, ids[s][i] = dump_maker_instance(m, object, NULL), 0, 0);
    }
    test_folder_make_fast(folder, "heaps");
    cr_assert(chdir(folder) == 0);
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
    for (unsigned threads = 1; threads <= 2; threads++) {
        const hdx_index_options options = {
            .dump = "a.hprof", .index_dir = "a.hdx", .threads = threads, .force = threads > 1
        };
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
        cr_assert(hdx_graph_open("a.hdx", "a.hprof", &g, &err) == HDX_OK, "%s", err.message);
        const hdx_heap_space *heaps = hdx_graph_heaps(g, &count);
        cr_assert(count == 4);
        for (unsigned s = 0; s < STRETCHES; s++)
            for (unsigned i = 0; i < 2; i++) {
                hdx_id id;
                cr_assert(hdx_graph_find(g, ids[s][i], &id));
                const int heap = hdx_graph_heap(g, id);
                cr_assert(heap >= 0 && heap < 4, "%u: %d", s, heap);
                cr_expect(strlen(names[s]) == heaps[heap].name.len &&
                              memcmp(names[s], heaps[heap].name.at, heaps[heap].name.len) == 0,
                          "%u: %.*s", s, (int)heaps[heap].name.len, heaps[heap].name.at);
            }
        hdx_graph_close(g);
    }
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

Test(roots, of_a_thread_that_has_one_local_are_references_of_it)
{
    hdx_refs    refs;
    hdx_id      id, holder, to;
    unsigned    found = 0;
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    const uint64_t thread = dump_maker_instance(m, dump_maker_class(m, "java.lang.Thread", object, ""), NULL);
    const uint64_t local = dump_maker_instance(m, object, NULL);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, thread, 1, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, local, 1, -1);
    built b = built_open(m, "roots");
    cr_assert(hdx_graph_find(b.g, local, &id) && hdx_graph_find(b.g, thread, &holder));
    hdx_graph_outbound(b.g, holder, HDX_LIVE, &refs);
    while (hdx_refs_next(&refs, &to))
        found += to == id;
    cr_expect(found == 1 && hdx_graph_live(b.g, id) && hdx_graph_dominator(b.g, id) == holder);
    built_close(&b);
}

/* Classes of the boot loader are roots only where no class is one by a record of its own (MAT 4.6). */
Test(roots, are_those_of_the_dump_where_one_class_is_told_of)
{
    for (unsigned place = 0; place < 4; place++) { /* of the record of a class among those of three objects; 3: none */
        uint64_t    count = 0;
        unsigned    classes = 0;
        dump_maker *m = dump_maker_new(8);
        uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
        (void)dump_maker_class(m, "java.lang.Class", object, "");
        (void)dump_maker_class(m, "java.lang.ClassLoader", object, "");
        for (unsigned i = 0; i < 3; i++)
            dump_maker_root(m, i == place ? HDX_SUB_ROOT_STICKY_CLASS : HDX_SUB_ROOT_JNI_GLOBAL,
                            i == place ? object : dump_maker_instance(m, object, NULL), 0, 0);
        built           b = built_open(m, "roots");
        const hdx_root *roots = hdx_graph_roots(b.g, &count);
        for (uint64_t i = 0; i < count; i++)
            classes += roots[i].type == HDX_ROOT_SYSTEM_CLASS;
        cr_expect(count == (place < 3 ? 3 : 6) && classes == (place < 3 ? 1 : 3), "%u: %llu roots, %u classes", place,
                  (unsigned long long)count, classes);
        built_close(&b);
    }
}

/* A class that is a root by another record is not one twice; nor are arrays, or classes of other loaders. */
Test(roots, that_classes_of_the_boot_loader_become_are_one_each)
{
    uint64_t       count = 0;
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    const uint64_t loader = dump_maker_class(m, "java.lang.ClassLoader", object, "");
    const uint64_t array = dump_maker_class(m, "[Ljava.lang.Object;", object, "");
    m->loader = dump_maker_instance(m, loader, NULL);
    const uint64_t own = dump_maker_class(m, "app.Own", object, "");
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, m->loader, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, loader, 0, 0);
    built           b = built_open(m, "roots");
    const hdx_root *roots = hdx_graph_roots(b.g, &count);
    const uint64_t  ids[] = { object, loader, array, own };
    const unsigned  want[] = { 1, 1, 0, 0 };
    for (size_t i = 0; i < 4; i++) {
        hdx_id   id;
        unsigned found = 0;
        cr_assert(hdx_graph_find(b.g, ids[i], &id));
        for (uint64_t k = 0; k < count; k++)
            found += roots[k].object == id;
        cr_expect(found == want[i], "class %zu: %u roots", i, found);
        for (uint64_t k = 0; k < count; k++)
            cr_expect(roots[k].object != id ||
                      roots[k].type == (i == 1 ? HDX_ROOT_NATIVE_STATIC : HDX_ROOT_SYSTEM_CLASS));
    }
    built_close(&b);
}
