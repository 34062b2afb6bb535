/*
 * android_dump.h - a small Android-like dump with all that stripping tools look at, and a folder to strip it in.
 *
 * Three heaps; Strings in Latin-1 and UTF-16; bitmaps: three with equal pixels, two with others, one recycled; every
 * primitive type with 0, 1, 3 and 40 elements; boxes; overhead arrays; names outside ASCII.
 */
#ifndef HDX_TESTS_STRIP_ANDROID_DUMP_H
#define HDX_TESTS_STRIP_ANDROID_DUMP_H

#include "source/source.h"
#include "strip/strip.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct place {
    char     folder[TEST_FOLDER];
    char     paths[8][128];
    unsigned used;
} place;

static inline place place_new(void)
{
    place p = { .used = 0 };
    test_folder_make(p.folder, "strip");
    return p;
}
static inline const char *place_path(place *p, const char *name)
{
    char *path = p->paths[p->used++ % 8];
    char  folder[sizeof p->folder];
    memcpy(folder, p->folder, sizeof folder); /* gcc cannot see that a path does not overlap it */
    (void)snprintf(path, sizeof p->paths[0], "%s/%s", folder, name);
    return path;
}
static inline void place_remove(const place *p) { test_folder_remove(p->folder); }

typedef struct bytes {
    uint8_t *at;
    size_t   len;
} bytes;
static inline bytes slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL, "%s", path);
    (void)fseek(f, 0, SEEK_END);
    bytes b = { malloc((size_t)ftell(f) + 1), 0 };
    rewind(f);
    size_t n;
    while ((n = fread(b.at + b.len, 1, 65536, f)) > 0 && n == 65536)
        b.len += n;
    b.len += n;
    (void)fclose(f);
    return b;
}
static inline bool same(bytes a, bytes b) { return a.len == b.len && memcmp(a.at, b.at, a.len) == 0; }

static inline uint64_t android_dump_string(dump_maker *m, uint64_t string, const char *text)
{
    uint64_t values[64];
    uint32_t n = (uint32_t)strlen(text);
    for (uint32_t k = 0; k < n; k++)
        values[k] = (uint8_t)text[k];
    const uint64_t object = m->next_id;
    m->next_id += 32;
    const uint64_t id = object + 16; /* ART: an address inside the String */
    (void)dump_maker_instance_at(m, object, string, DUMP_VALUES(id, n, 7));
    (void)dump_maker_primitives_at(m, id, 'B', values, n);
    return object;
}

/* ids: 4 or 8. slashes: class names as a JVM writes them. */
static inline dump_maker *android_dump_new(uint32_t ids, bool slashes)
{
    static const char     types[] = "ZCFDBSIJ";
    static const uint32_t counts[] = { 0, 1, 3, 40 };
    dump_maker           *m = dump_maker_new(ids);
    m->version = "1.0.3";
    m->time_ms = 1700000000000;
#define NAME(dots, slashed) (slashes ? slashed : dots)
    const uint64_t object = dump_maker_class(m, NAME("java.lang.Object", "java/lang/Object"), 0, "");
    dump_maker_heap_info(m, 'A', "app");
    const uint64_t string =
        dump_maker_class(m, NAME("java.lang.String", "java/lang/String"), object, "value:L count:I hash:I");
    const uint64_t bitmap = dump_maker_class(m, NAME("android.graphics.Bitmap", "android/graphics/Bitmap"), object,
                                             "mBuffer:L mWidth:I mRecycled:Z");
    const uint64_t integer = dump_maker_class(m, NAME("java.lang.Integer", "java/lang/Integer"), object, "value:I");
    const uint64_t lang =
        dump_maker_class(m, "app.Gr\303\266\303\237e\346\227\245", object, "schl\303\274ssel:L next:L");
    const uint64_t array = dump_maker_class(m, "app.A[]", object, "");
    dump_maker_segment(m);
    dump_maker_heap_info(m, 'Z', "zygote");
    const uint64_t z = android_dump_string(m, string, "zygote text");
    const uint64_t zb = dump_maker_primitives(m, 'I', NULL, 9);
    dump_maker_segment(m);
    dump_maker_heap_info(m, 'A', "app");
    uint64_t last = 0;
    for (unsigned t = 0; t < 8; t++)
        for (unsigned c = 0; c < 4; c++) {
            uint64_t values[40];
            for (unsigned k = 0; k < 40; k++)
                values[k] = types[t] == 'Z' ? k % 2 : 1 + k * 7 + t;
            last = dump_maker_primitives(m, types[t], values, counts[c]);
            const uint64_t text = android_dump_string(m, string, c % 2 == 0 ? "secret text of a user" : "x");
            (void)dump_maker_instance(m, lang, DUMP_VALUES(text, last));
        }
    for (unsigned b = 0; b < 6; b++) { /* 0 1 2 equal, 3 alone, 4 recycled, 5 as long as 3 */
        uint64_t pixels[64];
        for (unsigned k = 0; k < 64; k++)
            pixels[k] = b < 3 ? k : (k * (b + 3)) & 0x7f;
        const uint64_t buffer = dump_maker_primitives(m, 'B', pixels, 64);
        const uint64_t one = dump_maker_instance(m, bitmap, DUMP_VALUES(buffer, 8, b == 4));
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, one, 0, 0);
        if (b == 2)
            dump_maker_segment(m);
        if (b == 2)
            dump_maker_heap_info(m, 'A', "app");
    }
    (void)dump_maker_instance(m, integer, DUMP_VALUES(1000003));
    dump_maker_segment_empty(m);
    dump_maker_heap_info(m, 'I', "image");
    const uint64_t i = android_dump_string(m, string, "image text");
    dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, i, 0, 0);
    const uint64_t refs[] = { z, zb, i, last, 0 };
    const uint64_t all = dump_maker_array(m, array, refs, 5);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, all, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, lang, 0, 0);
    return m;
#undef NAME
}

static inline hdx_code strip_to(const char *dump, hdx_strip_policy policy, const char *output, hdx_strip_report *report,
                                hdx_error *err)
{
    const hdx_strip_options o = { .dump = dump, .output = output, .policy = policy };
    return hdx_strip_write(&o, report, err);
}
static inline hdx_code restore_to(const char *dump, const char *output, hdx_strip_report *report, hdx_error *err)
{
    const hdx_strip_options o = { .dump = dump, .output = output };
    return hdx_strip_restore(&o, report, err);
}
static inline hdx_strip_policy policy_of_file(const char *path)
{
    hdx_detected d;
    hdx_error    err = { 0 };
    cr_assert(hdx_strip_detect(path, NULL, &d, &err) == HDX_OK, "%s: %s", path, err.message);
    cr_expect((d.what.policy == HDX_STRIP_NONE) == (d.what.evidence_count == 0), "%s", path);
    return d.what.policy;
}
static inline bool contains(bytes in, const char *what) { return memmem(in.at, in.len, what, strlen(what)) != NULL; }

#endif
