/*
 * families.h - dumps made to cost more than they weigh: families of them, each of about n records. Whoever builds one
 * of n and one of 4n sees whether the cost of a build follows the bytes of the dump.
 */
#ifndef HDX_TESTS_BUILD_FAMILIES_H
#define HDX_TESTS_BUILD_FAMILIES_H

#include "hprof/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY_OBJECT = 0x10, FAMILY_CLASS = 0x20, FAMILY_LOADER = 0x30, FAMILY_FREE = 0x1000 };

/*
 * The multiplicative inverse of the multiplier of a fresh hdx_map: keys that are multiples of it are all meant for one
 * slot.
 */
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

static inline void family_load(family *f, uint32_t serial, uint64_t class_id, uint64_t name)
{
    hdx_write_load_class(f->to, f->ids, serial, class_id, 0, name);
}
static inline void family_string(family *f, uint64_t id, const char *text)
{
    hdx_write_string(f->to, f->ids, id, text, strlen(text));
}

/* Constants, statics that refer to `to`, and fields of a type, all named 1. */
static inline void family_large_class(family *f, uint64_t id, uint64_t super, uint32_t stated, uint32_t constants,
                                      uint32_t statics, uint64_t to, uint32_t fields, uint8_t type)
{
    hdx_buffer *b = f->to;
    hdx_write_u1(b, HDX_SUB_CLASS);
    hdx_write_id(b, f->ids, id);
    hdx_write_u4(b, 0);
    hdx_write_id(b, f->ids, super);
    for (unsigned i = 0; i < 5; i++)
        hdx_write_id(b, f->ids, 0);
    hdx_write_u4(b, stated);
    hdx_write_u2(b, (uint16_t)constants);
    for (uint32_t i = 0; i < constants; i++) {
        hdx_write_u2(b, (uint16_t)i);
        hdx_write_u1(b, 2);
        hdx_write_value(b, f->ids, 2, FAMILY_OBJECT);
    }
    hdx_write_u2(b, (uint16_t)statics);
    for (uint32_t i = 0; i < statics; i++) {
        hdx_write_id(b, f->ids, 1);
        hdx_write_u1(b, 2);
        hdx_write_value(b, f->ids, 2, to);
    }
    hdx_write_u2(b, (uint16_t)fields);
    for (uint32_t i = 0; i < fields; i++) {
        hdx_write_id(b, f->ids, 1);
        hdx_write_u1(b, type);
    }
}
static inline void family_class(family *f, uint64_t id, uint64_t super, uint32_t stated, uint32_t statics,
                                uint32_t fields, uint8_t type)
{
    family_large_class(f, id, super, stated, 0, statics, FAMILY_OBJECT, fields, type);
}
static inline void family_instance(family *f, uint64_t id, uint64_t class_id)
{
    hdx_write_instance(f->to, f->ids, id, 0, class_id, NULL, 0);
}
static inline void family_root(family *f, uint8_t tag, uint64_t id, uint32_t serial, int32_t frame)
{
    hdx_write_root(f->to, f->ids, tag, id, 0, serial, frame);
}
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

#define FAMILY(name)   static inline void family_##name(family *f, uint64_t n)
#define FAMILY_MOST(n) ((uint32_t)((n) < 65535 ? (n) : 65535))
#define ID(i)          (FAMILY_FREE + 16 * (uint64_t)(i))

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
        uint8_t        to[4];
        const uint64_t id = i == 1 ? 0 : ID(i - 1);
        for (unsigned k = 0; k < 4; k++)
            to[k] = (uint8_t)(id >> (24 - 8 * k));
        hdx_write_instance(f->to, f->ids, ID(i), 0, ID(0), to, 4);
    }
    family_root(f, HDX_SUB_ROOT_JNI_GLOBAL, ID(n - 1), 0, 0);
}
/*
 * As many fields as a class can have, and instances that have the bytes of none, of one, or say nothing of their class.
 */
FAMILY(most_fields)
{
    const uint8_t one[4] = { 0, 0, 0, FAMILY_OBJECT };
    family_heap(f);
    family_large_class(f, ID(0), FAMILY_OBJECT, 4, 0, 0, 0, FAMILY_MOST(4 * n), 2);
    for (uint64_t i = 1; i < n; i++)
        hdx_write_instance(f->to, f->ids, ID(i), 0, ID(0), one, i % 2 * 4);
}
/* A class each with as many constants, as many statics; instances of both. */
FAMILY(most_statics)
{
    family_heap(f);
    family_large_class(f, ID(0), FAMILY_OBJECT, 0, 0, FAMILY_MOST(4 * n), ID(3), 0, 0);
    family_large_class(f, ID(1), ID(0), 0, FAMILY_MOST(4 * n), 0, 0, 0, 0);
    for (uint64_t i = 2; i < n; i++)
        family_instance(f, ID(i), ID(i % 2));
}
/* Many large classes, each above the next: an instance of the last has all their fields. */
FAMILY(large_layouts)
{
    family_heap(f);
    for (uint64_t i = 0; i < n / 50 + 1; i++) {
        family_large_class(f, ID(i), i == 0 ? FAMILY_OBJECT : ID(i - 1), 0, 300, 300, ID(0), 300, 2);
        family_instance(f, ID(2 * n + i), ID(i));
    }
    for (uint64_t i = 0; i < n; i++)
        family_instance(f, ID(4 * n + i), ID(n / 50));
}
/* A line of classes that leads into a ring of them, with instances of each. */
FAMILY(line_into_cycle)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++) {
        family_class(f, ID(2 * i), i + 1 < n ? ID(2 * i + 2) : ID(n / 2 * 2), 0, 1, 1, 10);
        family_instance(f, ID(2 * i + 1), ID(2 * i));
    }
}
/* Texts that all have one id; loads, fields and frames that name it. */
FAMILY(strings_of_one_id)
{
    char text[40];
    for (uint64_t i = 0; i < n; i++) {
        (void)snprintf(text, sizeof text, "app.number%llu", (unsigned long long)i);
        family_string(f, 7, text);
        family_load(f, (uint32_t)i, ID(i), 7);
        hdx_write_frame(f->to, f->ids, 5 + i, 7, 7, 7, (uint32_t)i, 1);
    }
    family_heap(f);
    for (uint64_t i = 0; i < n; i++)
        family_class(f, ID(i), FAMILY_OBJECT, 0, 0, 0, 0);
}
/* A thread for every trace, a frame for every thread, and a class that all frames are of. */
FAMILY(threads_of_their_own)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t frames[4] = { i + 5, i + 4, 5, i + 5 };
        hdx_write_frame(f->to, f->ids, i + 5, 1, 1, 1, 1, (int32_t)i);
        hdx_write_trace(f->to, f->ids, (uint32_t)i, (uint32_t)i, frames, 4);
    }
    family_heap(f);
    for (uint64_t i = 0; i < n; i++) {
        family_instance(f, ID(i), FAMILY_OBJECT);
        family_root(f, HDX_SUB_ROOT_THREAD_OBJECT, ID(i), (uint32_t)i, (int32_t)i);
        family_root(f, HDX_SUB_ROOT_JAVA_FRAME, ID(i), (uint32_t)i, (int32_t)(i % 5));
    }
}
/* One thread, of one frame, and everything is a local of it; each of the other threads has the same local. */
FAMILY(locals_of_a_frame)
{
    const uint64_t frame = 5;
    hdx_write_frame(f->to, f->ids, frame, 1, 1, 1, 1, 1);
    hdx_write_trace(f->to, f->ids, 1, 1, &frame, 1);
    family_heap(f);
    family_instance(f, ID(0), FAMILY_OBJECT);
    family_root(f, HDX_SUB_ROOT_THREAD_OBJECT, ID(0), 1, 1);
    for (uint64_t i = 1; i < n; i++) {
        family_instance(f, ID(i), FAMILY_OBJECT);
        family_root(f, i % 2 == 0 ? HDX_SUB_ROOT_JAVA_FRAME : HDX_SUB_ROOT_JNI_LOCAL, ID(i), 1, i % 3 == 0 ? -1 : 0);
        family_root(f, HDX_SUB_ROOT_THREAD_OBJECT, ID(i), (uint32_t)i + 1, 1);
        family_root(f, HDX_SUB_ROOT_JAVA_FRAME, ID(1), (uint32_t)i + 1, 0);
    }
}
/* An array that is most of the dump: of everything in falling order, of nothing, and of itself. */
FAMILY(one_array)
{
    family_heap(f);
    family_class(f, ID(0), FAMILY_OBJECT, 0, 0, 0, 0);
    for (uint64_t i = 1; i < n; i++)
        family_instance(f, ID(i), FAMILY_OBJECT);
    hdx_write_object_array_head(f->to, f->ids, ID(n), 0, ID(0), (uint32_t)(8 * n));
    for (uint64_t i = 0; i < 8 * n; i++)
        hdx_write_id(f->to, f->ids, i % 4 == 0 ? 0 : i % 4 == 1 ? ID(n) : ID(n - i / 8));
    family_root(f, HDX_SUB_ROOT_JNI_GLOBAL, ID(n), 0, 0);
}
/* Arrays that say they are longer than the file; bytes of them are read as records. */
FAMILY(arrays_too_long)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++) {
        family_segment_end(f);
        family_segment(f);
        hdx_write_object_array_head(f->to, f->ids, ID(i), 0, FAMILY_OBJECT, UINT32_MAX);
    }
}
/* Every object is held by two, and those by two: no dominator follows from one parent. */
FAMILY(ladder)
{
    family_heap(f);
    family_class(f, ID(0), FAMILY_OBJECT, 0, 0, 2, 2);
    for (uint64_t i = 1; i < n; i++) {
        uint8_t to[8];
        for (unsigned k = 0; k < 8; k++)
            to[k] = (uint8_t)((i > 3 ? ID(i / 2 * 2 - 2 + k / 4) : 0) >> (24 - k % 4 * 8));
        hdx_write_instance(f->to, f->ids, ID(i), 0, ID(0), to, 8);
    }
    family_root(f, HDX_SUB_ROOT_JNI_GLOBAL, ID(n - 1), 0, 0);
    family_root(f, HDX_SUB_ROOT_JNI_GLOBAL, ID(n - 2), 0, 0);
}
/* A dump of n objects; what makes it odd is how it is packed. */
FAMILY(objects)
{
    family_heap(f);
    for (uint64_t i = 0; i < n; i++)
        family_instance(f, ID(i), FAMILY_OBJECT);
}
#undef ID
#undef FAMILY

static const struct {
    const char *name;
    void (*make)(family *f, uint64_t n);
    uint32_t ids;
    enum family_packing { FAMILY_PLAIN, FAMILY_EMPTY_MEMBERS, FAMILY_BYTE_MEMBERS } packing;
} families[] = {
    { "deep_layouts", family_deep_layouts, 4, FAMILY_PLAIN },
    { "deep_without_fields", family_deep_without_fields, 4, FAMILY_PLAIN },
    { "cycles", family_cycles, 4, FAMILY_PLAIN },
    { "missing_supers", family_missing_supers, 4, FAMILY_PLAIN },
    { "missing_classes", family_missing_classes, 4, FAMILY_PLAIN },
    { "wide_classes", family_wide_classes, 4, FAMILY_PLAIN },
    { "heaps", family_heaps, 4, FAMILY_PLAIN },
    { "one_long_name", family_one_long_name, 4, FAMILY_PLAIN },
    { "equal_strings", family_equal_strings, 4, FAMILY_PLAIN },
    { "colliding_ids", family_colliding_ids, 8, FAMILY_PLAIN },
    { "frames_and_traces", family_frames_and_traces, 4, FAMILY_PLAIN },
    { "threads_of_a_trace", family_threads_of_a_trace, 4, FAMILY_PLAIN },
    { "roots_of_one", family_roots_of_one, 4, FAMILY_PLAIN },
    { "segments", family_segments, 4, FAMILY_PLAIN },
    { "dumps", family_dumps, 4, FAMILY_PLAIN },
    { "repeated_objects", family_repeated_objects, 4, FAMILY_PLAIN },
    { "chain", family_chain, 4, FAMILY_PLAIN },
    { "most_fields", family_most_fields, 4, FAMILY_PLAIN },
    { "most_statics", family_most_statics, 4, FAMILY_PLAIN },
    { "large_layouts", family_large_layouts, 4, FAMILY_PLAIN },
    { "line_into_cycle", family_line_into_cycle, 4, FAMILY_PLAIN },
    { "strings_of_one_id", family_strings_of_one_id, 4, FAMILY_PLAIN },
    { "threads_of_their_own", family_threads_of_their_own, 4, FAMILY_PLAIN },
    { "locals_of_a_frame", family_locals_of_a_frame, 4, FAMILY_PLAIN },
    { "one_array", family_one_array, 4, FAMILY_PLAIN },
    { "arrays_too_long", family_arrays_too_long, 4, FAMILY_PLAIN },
    { "ladder", family_ladder, 4, FAMILY_PLAIN },
    { "empty_members", family_objects, 4, FAMILY_EMPTY_MEMBERS },
    { "byte_members", family_objects, 4, FAMILY_BYTE_MEMBERS },
};
#define FAMILIES (sizeof families / sizeof *families)

static inline uint32_t family_crc(uint8_t byte)
{
    uint32_t sum = ~0u ^ byte;
    for (unsigned k = 0; k < 8; k++)
        sum = sum & 1 ? sum >> 1 ^ 0xedb88320 : sum >> 1;
    return ~sum;
}

/* A gz member of one stored byte, or of none. */
static inline void family_member(hdx_buffer *to, const uint8_t *byte)
{
    const uint32_t len = byte != NULL, sum = byte != NULL ? family_crc(*byte) : 0;
    const uint8_t  head[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
    const uint8_t  foot[8] = { (uint8_t)sum, (uint8_t)(sum >> 8), (uint8_t)(sum >> 16), (uint8_t)(sum >> 24),
                               (uint8_t)len };
    const uint8_t  block[5] = { 1, (uint8_t)len, 0, (uint8_t)~len, 0xff };
    hdx_buffer_put(to, head, sizeof head);
    hdx_buffer_put(to, block, sizeof block);
    if (byte != NULL)
        hdx_buffer_put(to, byte, 1);
    hdx_buffer_put(to, foot, sizeof foot);
}

/* A member for each byte; or with two empty ones behind each, and twenty more for each of n at the end. */
static inline void family_pack(enum family_packing how, uint64_t n, hdx_buffer *to)
{
    hdx_buffer plain = *to;
    *to = (hdx_buffer){ 0 };
    for (uint64_t i = 0; i < plain.len; i++) {
        family_member(to, (const uint8_t *)plain.at + i);
        for (uint64_t k = 0; how == FAMILY_EMPTY_MEMBERS && k < (i + 1 == plain.len ? 20 * n : 2); k++)
            family_member(to, NULL);
    }
    hdx_buffer_free(&plain);
}

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
    if (families[which].packing != FAMILY_PLAIN)
        family_pack(families[which].packing, n, to);
    if (to->failed)
        abort();
}

#endif
