/* random_heap.h - small heaps with random references, from a seed. */
#ifndef HDX_TESTS_QUERY_RANDOM_HEAP_H
#define HDX_TESTS_QUERY_RANDOM_HEAP_H

#include "heap.h"

#define RANDOM_CLASSES 6

/*
 * Nodes of a few classes and arrays with random references, some weak; a thread with locals; garbage comes by itself.
 */
static inline void random_heap(heap *h, unsigned seed)
{
    dump_maker *m = dump_maker_new(seed % 2 ? 4 : 8);
    uint64_t    classes[RANDOM_CLASSES], refs[8], at[80];
    unsigned    n = 10 + (unsigned)rand_r(&seed) % 60;
    char        name[32];
    uint64_t    object = dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    uint64_t    weak = dump_maker_class_at(m, 0x200, "java.lang.ref.WeakReference", object, "referent:L queue:L");
    uint64_t    thread = dump_maker_class_at(m, 0x300, "java.lang.Thread", object, "");
    uint64_t    array = dump_maker_class_at(m, 0x400, "[Ljava/lang/Object;", object, "");
    for (unsigned i = 0; i < n; i++)
        at[i] = 0x10000 + 64 * (uint64_t)i + 8 * (uint64_t)(rand_r(&seed) % 3);
    for (unsigned c = 0; c < RANDOM_CLASSES; c++) {
        snprintf(name, sizeof name, "p%u.C%u", c / 3, c);
        if (rand_r(&seed) % 2)
            dump_maker_static(m, "s", 'L', at[(unsigned)rand_r(&seed) % n]);
        classes[c] =
            dump_maker_class_at(m, 0x1000 + 32 * (uint64_t)c, name, c % 3 == 2 ? classes[c - 1] : object, "a:L b:L");
        if (rand_r(&seed) % 3 == 0)
            dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, classes[c], 0, 0);
    }
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 8; k++)
            refs[k] = rand_r(&seed) % 3 == 0 ? 0 : at[(unsigned)rand_r(&seed) % n];
        unsigned kind = (unsigned)rand_r(&seed) % 10;
        if (i == 0)
            dump_maker_instance_at(m, at[i], thread, NULL);
        else if (kind == 0)
            dump_maker_array_at(m, at[i], array, refs, (uint32_t)rand_r(&seed) % 8);
        else if (kind == 1)
            dump_maker_instance_at(m, at[i], weak, DUMP_VALUES(refs[0], rand_r(&seed) % 4 == 0 ? refs[0] : refs[1]));
        else
            dump_maker_instance_at(m, at[i], classes[(unsigned)rand_r(&seed) % RANDOM_CLASSES], refs);
    }
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, at[0], 1, 1);
    for (unsigned i = 0; i < 3; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, at[(unsigned)rand_r(&seed) % n], 1, 0);
    for (unsigned i = 0; i < 1 + seed % 4; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, at[(unsigned)rand_r(&seed) % n], 0, 0);
    heap_open(h, m);
}

#endif
