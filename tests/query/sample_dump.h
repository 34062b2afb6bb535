/*
 * sample_dump.h - a heap in which there is one of everything that questions tell apart: two heaps of Android, three
 * loaders and classes of one name in two of them, classes in classes, references of every strength, threads in several
 * states with stacks and locals, roots of many types, arrays of arrays, texts, references that lead nowhere, garbage.
 */
#ifndef HDX_TESTS_QUERY_SAMPLE_DUMP_H
#define HDX_TESTS_QUERY_SAMPLE_DUMP_H

#include "hprof/hprof.h"
#include "support/dump_maker.h"

#include <stdlib.h>
#include <string.h>

/* So many of 1,000 values in it are others (dump_maker.h). */
static inline dump_maker *sample_dump(uint32_t id_size, uint32_t spoiled, uint64_t random_state)
{
    dump_maker *m = dump_maker_new(id_size);
    uint64_t    all[80], n = 0, node[12];
    char        long_name[100];
    m->version = "1.0.3";
    m->next_id = 0x1000;
    m->spoiled = spoiled;
    m->random_state = random_state;
    dump_maker_heap_info(m, 'Z', "zygote");
    const uint64_t object = all[n++] = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t class = all[n++] = dump_maker_class(m, "java.lang.Class", object, "name:L");
    const uint64_t loader_class = all[n++] = dump_maker_class(m, "java.lang.ClassLoader", object, "parent:L name:L");
    const uint64_t string = all[n++] = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    const uint64_t bytes = all[n++] = dump_maker_class(m, "byte[]", object, "");
    const uint64_t ints = all[n++] = dump_maker_class(m, "int[]", object, "");
    const uint64_t objects = all[n++] = dump_maker_class(m, "java.lang.Object[]", object, "");
    const uint64_t grid = all[n++] = dump_maker_class(m, "int[][]", object, "");
    const uint64_t reference = all[n++] = dump_maker_class(m, "java.lang.ref.Reference", object, "referent:L queue:L");
    const uint64_t weak = all[n++] = dump_maker_class(m, "java.lang.ref.WeakReference", reference, "");
    const uint64_t soft = all[n++] = dump_maker_class(m, "java.lang.ref.SoftReference", reference, "clock:J");
    const uint64_t phantom = all[n++] = dump_maker_class(m, "java.lang.ref.PhantomReference", reference, "");
    const uint64_t finalizer = all[n++] = dump_maker_class(m, "java.lang.ref.Finalizer", reference, "next:L prev:L");
    const uint64_t group = all[n++] = dump_maker_class(m, "java.lang.ThreadGroup", object, "name:L parent:L");
    const uint64_t thread = all[n++] = dump_maker_class(
        m, "java.lang.Thread", object, "threadStatus:I priority:I daemon:Z name:L group:L contextClassLoader:L");
    const uint64_t worker = all[n++] = dump_maker_class(m, "app.pool.Worker", thread, "jobs:L done:J");
    const uint64_t url_loader = all[n++] = dump_maker_class(m, "java.net.URLClassLoader", loader_class, "path:L");
    (void)ints, (void)class, (void)bytes;
    dump_maker_heap_info(m, 'A', "app");
    const uint64_t first = dump_maker_instance(m, url_loader, DUMP_VALUES(0, 0, dump_maker_string(m, string, "first")));
    const uint64_t second =
        dump_maker_instance(m, url_loader, DUMP_VALUES(0, first, dump_maker_string(m, string, "second")));
    const uint64_t only = dump_maker_string(m, string, "a static refers to it, and nothing else"),
                   only_leaf = dump_maker_string(m, string, "the same, of a class below");
    m->loader = first;
    dump_maker_static(m, "count", 'I', 12);
    dump_maker_static(m, "only", 'L', only);
    dump_maker_static(m, "instance", 'L', m->next_id + 32);
    dump_maker_static(m, "ratio", 'D', 0x3ff8000000000000);
    dump_maker_static(m, "gone", 'L', 0xdead0);
    const uint64_t twin = all[n++] = dump_maker_class(m, "app.Twin", object, "other:L");
    const uint64_t nodes = all[n++] = dump_maker_class(m, "app.list.Node", object, "next:L value:L count:I");
    dump_maker_static(m, "only_leaf", 'L', only_leaf);
    const uint64_t leaf = all[n++] = dump_maker_class(m, "app.list.Leaf", nodes, "weight:F");
    const uint64_t map_entry = all[n++] = dump_maker_class(m, "app.map.Map$Entry", object, "key:L value:L next:L");
    m->loader = second;
    const uint64_t twin2 = all[n++] = dump_maker_class(m, "app.Twin", object, "other:L mark:S");
    const uint64_t tree_entry = all[n++] = dump_maker_class(m, "app.tree.Tree$Entry", map_entry, "left:L right:L");
    memset(long_name, 'x', sizeof long_name);
    memcpy(long_name, "app.a.very.long.", 16);
    long_name[99] = '\0';
    const uint64_t longest = all[n++] = dump_maker_class(m, long_name, object, "");
    m->loader = 0;
    const uint64_t plain = all[n++] = dump_maker_class(m, "Unpackaged", object, "it:L");
    /* a list of ten, two of them leaves; the last leads nowhere */
    const uint64_t texts[3] = { dump_maker_string(m, string, "main"), dump_maker_string(m, string, "worker-1"),
                                dump_maker_string(m, string, "a text, \"quoted\"") };
    for (unsigned i = 0; i < 10; i++)
        node[i] =
            i % 5 == 4
                ? dump_maker_instance(m, leaf, DUMP_VALUES(0x3f800000, i == 0 ? 0xdead0 : node[i - 1], texts[i % 3], i))
                : dump_maker_instance(m, nodes, DUMP_VALUES(i == 0 ? 0xdead0 : node[i - 1], texts[i % 3], i));
    const uint64_t row = dump_maker_primitives(m, 'I', DUMP_VALUES(1, 2, 3, 0xffffffff), 4),
                   rows = dump_maker_array(m, grid, DUMP_VALUES(row, 0, row), 3),
                   empty = dump_maker_array(m, objects, NULL, 0),
                   many = dump_maker_array(m, objects, DUMP_VALUES(node[9], rows, 0, empty, 0xdead8, node[9]), 6);
    const uint64_t key = dump_maker_instance(m, map_entry, DUMP_VALUES(texts[2], node[4], 0)),
                   entry = dump_maker_instance(m, tree_entry, DUMP_VALUES(key, 0, texts[0], many, key)),
                   one = dump_maker_instance(m, twin, DUMP_VALUES(entry)),
                   two = dump_maker_instance(m, twin2, DUMP_VALUES(7, one)),
                   held = dump_maker_instance(m, plain, DUMP_VALUES(two)), lone = dump_maker_instance(m, longest, NULL);
    const uint64_t w = dump_maker_instance(m, weak, DUMP_VALUES(node[2], 0)),
                   s = dump_maker_instance(m, soft, DUMP_VALUES(5, node[3], 0)),
                   p = dump_maker_instance(m, phantom, DUMP_VALUES(node[1], w)),
                   f = dump_maker_instance(m, finalizer, DUMP_VALUES(0, 0, lone, 0));
    /* garbage that refers to what lives, and to garbage */
    const uint64_t trash = dump_maker_instance(m, nodes, DUMP_VALUES(node[5], texts[1], 77)),
                   more_trash = dump_maker_instance(m, nodes, DUMP_VALUES(trash, 0, 78));
    dump_maker_heap_info(m, 'Z', "zygote");
    const uint64_t groups = dump_maker_instance(m, group, DUMP_VALUES(texts[0], 0)),
                   in_zygote = dump_maker_instance(m, nodes, DUMP_VALUES(0, groups, 5));
    (void)more_trash;
    const uint64_t t1 = dump_maker_instance(m, thread, DUMP_VALUES(0x5, 5, 0, texts[0], groups, first)),
                   t2 = dump_maker_instance(m, worker, DUMP_VALUES(many, 9, 0x191, 10, 1, texts[1], groups, second)),
                   t3 = dump_maker_instance(m, thread, DUMP_VALUES(0x2, 1, 1, 0, groups, 0)),
                   t4 = dump_maker_instance(m, thread, DUMP_VALUES(0xe1, 1, 1, 0xdead0, groups, 0));
    const uint32_t serial = dump_maker_load(m, nodes, "app/list/Node"), other = dump_maker_load(m, twin, "app/Twin");
    const uint64_t run = dump_maker_frame(m, "run", serial, 17), main_frame = dump_maker_frame(m, "main", other, -1),
                   native = dump_maker_frame(m, "park", serial, -3);
    dump_maker_trace(m, 1, 0, NULL, 0);
    dump_maker_trace(m, 2, 1, (const uint64_t[]){ run, main_frame }, 2);
    dump_maker_trace(m, 3, 2, (const uint64_t[]){ native, run }, 2);
    dump_maker_trace(m, 4, 3, NULL, 0);
    for (unsigned i = 0; i < n; i++)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, all[i], 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, t1, 1, 2);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, t2, 2, 3);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, t3, 3, 4);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, t4, 4, 1);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, node[9], 1, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, rows, 1, 1);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, rows, 1, 1);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_LOCAL, held, 2, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, lone, 2, -1);
    dump_maker_root(m, HDX_SUB_ROOT_NATIVE_STACK, key, 2, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, w, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, s, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_MONITOR_USED, p, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_MONITOR_USED, held, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_UNKNOWN, f, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, in_zygote, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0xdead0, 0, 0);
    return m;
}

#endif
