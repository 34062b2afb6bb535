/*
 * heap_model.h - random small heaps: the dump, and beside it what MAT's rules say of it, computed the slow, obvious
 * way.
 */
#ifndef HDX_TESTS_BUILD_HEAP_MODEL_H
#define HDX_TESTS_BUILD_HEAP_MODEL_H

#include "support/dump_maker.h"

#include <stdlib.h>
#include <string.h>

#define MODEL_MAX 400u

typedef struct model_object {
    uint64_t address;
    unsigned class_index; /* of its class, among objects */
    unsigned refs[64];    /* targets, any order, repeats and dangling left out */
    unsigned ref_count;
    bool     is_class, is_root, live;
} model_object;

typedef struct heap_model {
    model_object at[MODEL_MAX];
    unsigned     count;
    uint64_t     state; /* of the random numbers */
} heap_model;

static inline uint64_t model_random(heap_model *h, uint64_t below)
{
    h->state += 0x9e3779b97f4a7c15ull;
    uint64_t z = h->state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (z ^ z >> 31) % below;
}

static inline unsigned model_add(heap_model *h, uint64_t address, unsigned class_index, bool is_class)
{
    h->at[h->count] = (model_object){ .address = address, .class_index = class_index, .is_class = is_class };
    return h->count++;
}

static inline void model_ref(heap_model *h, unsigned from, unsigned to)
{
    model_object *o = &h->at[from];
    if (to == o->class_index)
        return; /* the class stands first, once */
    for (unsigned i = 0; i < o->ref_count; i++)
        if (o->refs[i] == to)
            return;
    o->refs[o->ref_count++] = to;
}

/*
 * Objects in a random order and at random places; instances with two references and an int, arrays of references and of
 * bytes, a thread with locals, sticky and JNI roots, dangling references. The caller frees the maker.
 */
static inline dump_maker *model_make(heap_model *h, uint64_t seed, unsigned objects, uint32_t id_size)
{
    memset(h, 0, sizeof *h);
    h->state = seed;
    dump_maker *m = dump_maker_new(id_size);
    uint64_t    base = id_size == 8 ? 0x7f0000100000ull : 0x12c00000ull;
    m->next_id = base;
    uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    uint64_t class = dump_maker_class(m, "java/lang/Class", object, "");
    uint64_t loader = dump_maker_class(m, "java/lang/ClassLoader", object, "");
    uint64_t thread = dump_maker_class(m, "java/lang/Thread", object, "name:L");
    uint64_t bytes = dump_maker_class(m, "[B", object, "");
    uint64_t array = dump_maker_class(m, "[Ljava/lang/Object;", object, "");
    uint64_t statics_target = base + 0x100000; /* the first ordinary object */
    dump_maker_static(m, "root", 'L', statics_target);
    dump_maker_static(m, "count", 'I', 7);
    uint64_t       base_class = dump_maker_class(m, "app/Base", object, "left:L stamp:J");
    uint64_t       node = dump_maker_class(m, "app/Node", base_class, "right:L count:I other:L");
    const uint64_t classes[] = { object, class, loader, thread, bytes, array, base_class, node };
    enum { OBJECT = 1, CLASS, LOADER, THREAD, BYTES, ARRAY, BASE, NODE };
    (void)model_add(h, 0, LOADER, false); /* object 0: the boot class loader */
    for (unsigned i = 0; i < 8; i++)
        (void)model_add(h, classes[i], CLASS, true);
    for (unsigned i = OBJECT; i <= NODE; i++) {
        if (i != OBJECT)
            model_ref(h, i, i == NODE ? BASE : OBJECT);
        model_ref(h, i, 0);
    }
    unsigned first = h->count;
    for (unsigned i = 0; i < objects; i++)
        (void)model_add(h, base + 0x100000 + 32 * (uint64_t)i, 0, false);
    model_ref(h, BASE, first);
    unsigned thread_object = first + objects / 2;
    unsigned order[MODEL_MAX];
    for (unsigned i = 0; i < objects; i++)
        order[i] = first + i;
    for (unsigned i = objects; i > 1; i--) { /* the order in the file is not that of the addresses */
        unsigned k = (unsigned)model_random(h, i), t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
    }
#define TARGET()                                                                                                       \
    (model_random(h, 12) == 0   ? 0                                                                                    \
     : model_random(h, 20) == 0 ? UINT64_MAX                                                                           \
     : model_random(h, 9) == 0  ? 1 + model_random(h, 8)                                                               \
                                : first + model_random(h, objects))
#define ADDRESS(t) ((t) == 0 ? 0 : (t) == UINT64_MAX ? base + 0x999990 : h->at[t].address)
    for (unsigned n = 0; n < objects; n++) {
        unsigned i = order[n];
        uint64_t kind = i == thread_object ? 9 : model_random(h, 4), refs[24], values[5];
        unsigned degree = kind == 2 ? (unsigned)model_random(h, 24) : kind == 0 ? 1 : kind == 1 ? 3 : kind == 9 ? 1 : 0;
        h->at[i].class_index = kind == 0 ? BASE : kind == 1 ? NODE : kind == 2 ? ARRAY : kind == 9 ? THREAD : BYTES;
        for (unsigned k = 0; k < degree; k++) {
            uint64_t t = TARGET();
            refs[k] = ADDRESS(t);
            if (t != 0 && t != UINT64_MAX)
                model_ref(h, i, (unsigned)t);
        }
        switch (kind) {
        case 0:
            values[0] = refs[0], values[1] = n;
            (void)dump_maker_instance_at(m, h->at[i].address, base_class, values);
            break;
        case 1:
            values[0] = refs[0], values[1] = n, values[2] = refs[1], values[3] = refs[2], values[4] = n;
            (void)dump_maker_instance_at(m, h->at[i].address, node, values);
            break;
        case 2: (void)dump_maker_array_at(m, h->at[i].address, array, refs, degree); break;
        case 9: (void)dump_maker_instance_at(m, h->at[i].address, thread, refs); break;
        default: (void)dump_maker_primitives_at(m, h->at[i].address, 'B', NULL, (uint32_t)model_random(h, 40)); break;
        }
        if (n % 37 == 36)
            dump_maker_segment(m);
    }
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, h->at[first + 1].address, 5,
                    0); /* before its thread is known: a root of its own (MAT 4.2) */
    h->at[first + 1].is_root = true;
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, h->at[thread_object].address, 5, 2);
    h->at[thread_object].is_root = true;
    for (unsigned k = 0; k < 3; k++) {
        unsigned t = first + (unsigned)model_random(h, objects);
        dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, h->at[t].address, 5, 0);
        model_ref(h, thread_object, t);
        t = first + (unsigned)model_random(h, objects);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, h->at[t].address, 0, 0);
        h->at[t].is_root = true;
    }
    const unsigned sticky[] = { OBJECT, CLASS, THREAD };
    for (unsigned k = 0; k < 3; k++) {
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, classes[sticky[k] - 1], 0, 0);
        h->at[sticky[k]].is_root = true;
    }
#undef TARGET
#undef ADDRESS
    return m;
}

/* Marks what can be reached from the roots without entering `without` (MODEL_MAX: nothing left out). */
static inline void model_reach(const heap_model *h, unsigned without, bool *seen)
{
    unsigned stack[MODEL_MAX], top = 0;
    memset(seen, 0, MODEL_MAX);
    for (unsigned i = 0; i < h->count; i++)
        if (h->at[i].is_root && i != without) {
            seen[i] = true;
            stack[top++] = i;
        }
    while (top > 0) {
        const model_object *o = &h->at[stack[--top]];
        for (unsigned k = 0; k <= o->ref_count; k++) {
            unsigned t = k == o->ref_count ? o->class_index : o->refs[k];
            if (t != without && !seen[t]) {
                seen[t] = true;
                stack[top++] = t;
            }
        }
    }
}

#endif
