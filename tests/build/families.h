/*
 * families.h - dumps made to cost more than they weigh: families of them, each of about n records. Whoever builds one of n and one of 4n sees whether
 * the cost of a build follows the bytes of the dump.
 */
#ifndef HDX_TESTS_BUILD_FAMILIES_H
#define HDX_TESTS_BUILD_FAMILIES_H

#include "hprof/write.h"

#include <stdlib.h>
#include <string.h>

enum { FAMILY_OBJECT = 0x10, FAMILY_CLASS = 0x20, FAMILY_LOADER = 0x30, FAMILY_FREE = 0x1000 };

/* The multiplicative inverse of the multiplier of a fresh hdx_map: keys that are multiples of it are all meant for one slot. */
static inline uint64_t family_inverse(void)
{
    const uint64_t a = 0x9e3779b97f4a7c15ull;
    uint64_t       x = a;
    for (unsigned i = 0; i < 6; i++)
        x *= 2 - a * x;
    return x;
}

typedef struct family {
    hdx_buffer *to;
    uint32_t    ids;  /* bytes of an id */
    uint64_t    open; /* segment */
} family;

static inline void family_load(family *f, uint32_t serial, uint64_t class_id, uint64_t name) { hdx_write_load_class(f->to, f->ids, serial, class_id, 0, name); }
static inline void family_string(family *f, uint64_t id, const char *text) { hdx_write_string(f->to, f->ids, id, text, strlen(text)); }

/* fields fields of a type each, all named 1. */
static inline void family_class(family *f, uint64_t id, uint64_t super, uint32_t stated, uint32_t statics, uint32_t fields, uint8_t type)
{
    hdx_buffer *b = f->to;
    hdx_write_u1(b, HDX_SUB_CLASS);
    hdx_write_id(b, f->ids, id);
    hdx_write_u4(b, 0);
    hdx_write_id(b, f->ids, super);
    for (unsigned i = 0; i < 5; i++)
        hdx_write_id(b, f->ids, 0);
    hdx_write_u4(b, stated);
    hdx_write_u2(b, 0);
    hdx_write_u2(b, (uint16_t)statics);
    for (uint32_t i = 0; i < statics; i++) {
        hdx_write_id(b, f->ids, 1);
        hdx_write_u1(b, 2);
        hdx_write_value(b, f->ids, 2, FAMILY_OBJECT);
    }
    hdx_write_u2(b, (uint16_t)fields);
    for (uint32_t i = 0; i < fields; i++) {
        hdx_write_id(b, f->ids, 1);
        hdx_write_u1(b, type);
    }
}
static inline void family_instance(family *f, uint64_t id, uint64_t class_id) { hdx_write_instance(f->to, f->ids, id, 0, class_id, NULL, 0); }
static inline void family_root(family *f, uint8_t tag, uint64_t id, uint32_t serial, int32_t frame) { hdx_write_root(f->to, f->ids, tag, id, 0, serial, frame); }
static inline void family_segment(family *f) { f->open = hdx_write_begin(f->to, HDX_TOP_HEAP_DUMP_SEGMENT, 0); }
static inline void family_segment_end(family *f) { hdx_write_finish(f->to, f->open); }

/* A segment with java.lang.Object, Class and ClassLoader; it stays open. */
static inline void family_heap(family *f)
{
    family_segment(f);
    family_class(f, FAMILY_OBJECT, 0, 0, 0, 0, 0);
    family_class(f, FAMILY_CLASS, FAMILY_OBJECT, 0, 0, 0, 0);
    family_class(f, FAMILY_LOADER, FAMILY_OBJECT, 0, 0, 0, 0);
    family_root(f, HDX_SUB_ROOT_STICKY_CLASS, FAMILY_OBJECT, 0, 0);
}

#define FAMILY(name) static inline void family_##name(family *f, uint64_t n)
#define ID(i) (FAMILY_FREE + 16 * (uint64_t)(i))

/* Classes above each other with instances of no bytes. */
FAMILY(deep_layouts)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++) {
        family_class(f, ID(2 * i), i == 0 ? FAMILY_OBJECT : ID(2 * i - 2), 0, 0, 20, 2);
        family_instance(f, ID(2 * i + 1), ID(2 * i));
    }
}
FAMILY(deep_without_fields)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++) {
        family_class(f, ID(2 * i), i == 0 ? FAMILY_OBJECT : ID(2 * i - 2), 0, 0, 0, 0);
        family_instance(f, ID(2 * i + 1), ID(2 * i));
        family_root(f, HDX_SUB_ROOT_JNI_GLOBAL, ID(2 * i + 1), 0, 0);
    }
}
FAMILY(cycles)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++)
        family_class(f, ID(i), ID((i + 1) % n), 0, 0, 1, 10);
}
FAMILY(missing_supers)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++)
        family_class(f, ID(2 * i), ID(2 * i + 1), UINT32_MAX, 0, 0, 0);
}
FAMILY(missing_classes)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++)
        family_instance(f, ID(2 * i), ID(2 * i + 1));
}
FAMILY(wide_classes)
{
    family_heap(f);
    for (uint64_t i = 0; i < n / 50; i++) {
        family_class(f, ID(2 * i), FAMILY_OBJECT, 0, 60, 60, 2);
        family_instance(f, ID(2 * i + 1), ID(2 * i));
    }
}
FAMILY(heaps)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++) {
        hdx_write_heap_info(f->to, f->ids, (uint32_t)i, 1);
        family_instance(f, ID(i), FAMILY_OBJECT);
    }
}
FAMILY(one_long_name)
{
    char *text = malloc(10 * n);
    if (text == NULL)
        abort();
    memset(text, 'a', 10 * n);
    hdx_write_string(f->to, f->ids, 7, text, 10 * n);
    text[10 * n - 1] = 'b';
    hdx_write_string(f->to, f->ids, 8, text, 10 * n);
    free(text);
    for (uint64_t i = 0; i < n; i++) {
        family_load(f, (uint32_t)i, ID(i), 7);
        family_load(f, (uint32_t)i, ID(i), 8);
    }
    family_heap(f);
    for (uint64_t i = 0; i < n; i++)
        family_class(f, ID(i), FAMILY_OBJECT, 0, 0, 0, 0);
}
FAMILY(equal_strings)
{
    for (uint64_t i = 0; i < n; i++)
        family_string(f, 7, "app.Same");
    for (uint64_t i = 0; i < n; i++)
        family_load(f, 1, FAMILY_OBJECT, 7 + i % 2);
    family_heap(f);
}
FAMILY(colliding_ids)
{
    const uint64_t step = family_inverse();
    for (uint64_t i = 1; i <= n; i++)
        family_string(f, step * i, "x");
    for (uint64_t i = 1; i <= n; i++)
        family_load(f, (uint32_t)i, step * i, step * i);
    family_heap(f);
}
FAMILY(frames_and_traces)
{
    uint64_t frames[64];
    for (uint64_t i = 0; i < n; i++)
        hdx_write_frame(f->to, f->ids, i % 100, 1, 1, 1, (uint32_t)i, (int32_t)i);
    for (unsigned i = 0; i < 64; i++)
        frames[i] = i;
    for (uint64_t i = 0; i < n / 8; i++)
        hdx_write_trace(f->to, f->ids, 1, 1, frames, 64);
    family_heap(f);
    for (uint64_t i = 0; i < n; i++)
        family_root(f, HDX_SUB_ROOT_JAVA_FRAME, FAMILY_OBJECT, 1, (int32_t)i);
}
/* Threads that all have the serial of one long trace. */
FAMILY(threads_of_a_trace)
{
    uint64_t *frames = calloc(n, sizeof *frames);
    if (frames == NULL)
        abort();
    hdx_write_frame(f->to, f->ids, 0, 1, 1, 1, 1, 1);
    hdx_write_trace(f->to, f->ids, 1, 5, frames, (uint32_t)n);
    hdx_write_trace(f->to, f->ids, 2, 6, frames, 1);
    free(frames);
    family_heap(f);
    for (uint64_t i = 0; i < n; i++) {
        family_instance(f, ID(i), FAMILY_OBJECT);
        family_root(f, HDX_SUB_ROOT_THREAD_OBJECT, ID(i), 5, 1);
        family_root(f, HDX_SUB_ROOT_JAVA_FRAME, ID(i / 2), 5, 0);
    }
}
FAMILY(roots_of_one)
{
    family_heap(f);
    family_instance(f, ID(1), FAMILY_OBJECT);
    for (uint64_t i = 0; i < n; i++) {
        family_root(f, HDX_SUB_ROOT_THREAD_OBJECT, ID(1), (uint32_t)i, (int32_t)i);
        family_root(f, HDX_SUB_ROOT_JAVA_FRAME, ID(1), (uint32_t)i, 0);
        family_root(f, HDX_SUB_ROOT_JNI_GLOBAL, ID(1), 0, 0);
    }
}
FAMILY(segments)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++) {
        family_segment_end(f);
        family_segment(f);
        family_segment_end(f);
        family_segment(f);
        family_instance(f, ID(i), FAMILY_OBJECT);
    }
}
FAMILY(dumps)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++) {
        family_segment_end(f);
        hdx_write_end(f->to);
        family_segment(f);
        family_instance(f, ID(i), FAMILY_OBJECT);
    }
}
FAMILY(repeated_objects)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++) {
        family_instance(f, ID(i % 7), FAMILY_OBJECT);
        family_class(f, ID(8), FAMILY_OBJECT, (uint32_t)i, 0, 1, 10);
    }
}
/* Every object refers to the one before it, and the last one is held. */
FAMILY(chain)
{
    family_heap(f);
    family_class(f, ID(0), FAMILY_OBJECT, 0, 0, 1, 2);
    for (uint64_t i = 1; i < n; i++) {
        uint8_t to[4];
        const uint64_t id = i == 1 ? 0 : ID(i - 1);
        for (unsigned k = 0; k < 4; k++)
            to[k] = (uint8_t)(id >> (24 - 8 * k));
        hdx_write_instance(f->to, f->ids, ID(i), 0, ID(0), to, 4);
    }
    family_root(f, HDX_SUB_ROOT_JNI_GLOBAL, ID(n - 1), 0, 0);
}
#undef ID
#undef FAMILY

static const struct {
    const char *name;
    void (*make)(family *f, uint64_t n);
    uint32_t ids;
} families[] = {
    { "deep_layouts", family_deep_layouts, 4 },   { "deep_without_fields", family_deep_without_fields, 4 },
    { "cycles", family_cycles, 4 },               { "missing_supers", family_missing_supers, 4 },
    { "missing_classes", family_missing_classes, 4 }, { "wide_classes", family_wide_classes, 4 },
    { "heaps", family_heaps, 4 },                 { "one_long_name", family_one_long_name, 4 },
    { "equal_strings", family_equal_strings, 4 }, { "colliding_ids", family_colliding_ids, 8 },
    { "frames_and_traces", family_frames_and_traces, 4 }, { "threads_of_a_trace", family_threads_of_a_trace, 4 },
    { "roots_of_one", family_roots_of_one, 4 },   { "segments", family_segments, 4 },
    { "dumps", family_dumps, 4 },                 { "repeated_objects", family_repeated_objects, 4 },
    { "chain", family_chain, 4 },
};
#define FAMILIES (sizeof families / sizeof *families)

static inline void family_write(unsigned which, uint64_t n, hdx_buffer *to)
{
    family f = { .to = to, .ids = families[which].ids };
    hdx_write_head(to, "1.0.2", f.ids, 0);
    hdx_write_string(to, f.ids, 1, "f", 1);
    hdx_write_string(to, f.ids, 2, "java/lang/Object", 16);
    hdx_write_string(to, f.ids, 3, "java/lang/Class", 15);
    hdx_write_string(to, f.ids, 4, "java/lang/ClassLoader", 21);
    family_load(&f, 1, FAMILY_OBJECT, 2);
    family_load(&f, 2, FAMILY_CLASS, 3);
    family_load(&f, 3, FAMILY_LOADER, 4);
    families[which].make(&f, n);
    family_segment_end(&f);
    hdx_write_end(to);
    if (to->failed)
        abort();
}

#endif
