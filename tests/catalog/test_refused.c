/*
 * test_refused.c - every number of a value at its limit and one above, catalogs whose keys and values do not fit each
 * other though their sums are right, doors that fail: the code, the words and the place of each.
 */
#include "catalog/store.h"
#include "catalog/texts.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[TEST_FOLDER];

static void make_folder(void) { test_folder_make(folder, "refused"); }
static void remove_folder(void) { test_folder_remove(folder); }

TestSuite(refused, .init = make_folder, .fini = remove_folder);

#define ABOVE32 ((uint64_t)UINT32_MAX + 1)

static const hdx_text names[8] = { { "a", 1 }, { "b", 1 }, { "c", 1 }, { "d", 1 },
                                   { "e", 1 }, { "f", 1 }, { "g", 1 }, { "h", 1 } };

/* ---- values, number by number ---- */

typedef struct one_changed {
    unsigned    at; /* which number is another one */
    uint64_t    value;
    const char *message; /* "": it is taken */
    int         offset;  /* -1: behind that number */
} one_changed;

typedef hdx_code decoder(hdx_view value, hdx_error *err);

static void numbers_are(const uint64_t *base, unsigned n, const one_changed *cases, size_t count, decoder *decode)
{
    for (size_t i = 0; i < count; i++) {
        hdx_buffer b = hdx_buffer_of(NULL);
        uint64_t   behind = 0;
        hdx_error  err = { 0 };
        for (unsigned k = 0; k < n; k++) {
            hdx_put_number(&b, k == cases[i].at ? cases[i].value : base[k]);
            if (k == cases[i].at)
                behind = b.len;
        }
        const bool     fine = cases[i].message[0] == '\0';
        const hdx_code code = decode((hdx_view){ (const uint8_t *)b.at, (size_t)b.len }, &err);
        cr_expect(code == (fine ? HDX_OK : HDX_DAMAGED) && strcmp(err.message, cases[i].message) == 0,
                  "case %zu: %d \"%s\"", i, (int)code, err.message);
        if (!fine) {
            cr_expect_str_eq(err.where, "catalog");
            cr_expect(err.offset == (cases[i].offset < 0 ? behind : (uint64_t)cases[i].offset), "case %zu: byte %llu",
                      i, (unsigned long long)err.offset);
        }
        for (uint64_t len = 0; len < b.len; len++) /* and no part of it is the whole */
            cr_assert(!fine || decode((hdx_view){ (const uint8_t *)b.at, (size_t)len }, NULL) == HDX_DAMAGED);
        hdx_buffer_free(&b);
    }
}
#define NUMBERS(base, cases, decode)                                                                                   \
    numbers_are(base, sizeof(base) / sizeof *(base), cases, sizeof(cases) / sizeof *(cases), decode)

static hdx_code decode_class(hdx_view value, hdx_error *err)
{
    const hdx_numbers all = { .classes = 18 };
    hdx_arena         arena = hdx_arena_of(NULL);
    hdx_class         c;
    const hdx_code    code = hdx_decode_class(value, 17, &all, 2000, (hdx_texts){ names, 8 }, &arena, &c, err);
    hdx_arena_free(&arena);
    return code;
}
Test(refused, numbers_of_a_class_beyond_their_limits)
{
    static const uint64_t    base[] = { 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 1, 2, 10, 3, 11 };
    static const one_changed cases[] = {
        { 0, 7, "", 0 },
        { 0, 8, "class 17: text number 8; the maximum is 7", -1 },
        { 1, UINT64_MAX, "", 0 },
        { 2, 0, "", 0 },
        { 2, 2000, "", 0 },
        { 2, 2001, "class 17: object id 2001; the maximum is 2000", -1 },
        { 3, 0, "", 0 },
        { 3, 18, "", 0 },
        { 3, 19, "class 17: super class 19; the maximum is 18", -1 },
        { 8, 3, "", 0 },
        { 8, 4, "class 17: kind 4; the maximum is 3", -1 },
        { 9, 255, "", 0 },
        { 9, 256, "class 17: element type 256; the maximum is 255", -1 },
        { 10, 255, "", 0 },
        { 10, 256, "class 17: flags 256; the maximum is 255", -1 },
        { 11, UINT32_MAX, "", 0 },
        { 11, ABOVE32, "class 17: stated size 4294967296; the maximum is 4294967295", -1 },
        { 12, UINT64_MAX, "", 0 },
        { 17, UINT64_MAX, "", 0 },
        { 18, ABOVE32, "class 17: fields 4294967296; the maximum is 4294967295", -1 },
        { 19, ABOVE32, "class 17: statics 4294967296; the maximum is 4294967295", -1 },
        { 18, UINT32_MAX, "class 17: fields and statics 4294967296; the maximum is 2", 24 },
        { 18, 2, "class 17: fields and statics 3; the maximum is 2", 20 },
        { 19, 2, "class 17: fields and statics 3; the maximum is 2", 20 },
        { 18, 0, "class 17: excess bytes: 2; the maximum is 0", 22 },
        { 20, 8, "class 17: text number 8; the maximum is 7", -1 },
        { 21, 255, "", 0 },
        { 21, 256, "class 17: field type 256; the maximum is 255", -1 },
        { 23, 256, "class 17: field type 256; the maximum is 255", -1 },
    };
    NUMBERS(base, cases, decode_class);
}

static hdx_code decode_thread(hdx_view value, hdx_error *err)
{
    hdx_arena      arena = hdx_arena_of(NULL);
    hdx_thread     t;
    const hdx_code code = hdx_decode_thread(value, 3, 2000, (hdx_texts){ names, 8 }, &arena, &t, err);
    hdx_arena_free(&arena);
    return code;
}
Test(refused, numbers_of_a_thread_beyond_their_limits)
{
    static const uint64_t    base[] = { 1, 2, 2, 1, 2, 3, 4, 5, 6, 7, 0, 1, 9 };
    static const one_changed cases[] = {
        { 0, 2000, "", 0 },
        { 0, 2001, "thread 3: object id 2001; the maximum is 2000", -1 },
        { 1, UINT32_MAX, "", 0 },
        { 1, ABOVE32, "thread 3: serial 4294967296; the maximum is 4294967295", -1 },
        { 2, 3, "thread 3: frames 3; the maximum is 2", -1 },
        { 2, 1, "thread 3: excess bytes: 5; the maximum is 0", 8 },
        { 3, 8, "thread 3: text number 8; the maximum is 7", -1 },
        { 6, 7, "", 0 },
        { 6, 8, "thread 3: text number 8; the maximum is 7", -1 },
        { 7, UINT32_MAX, "", 0 },
        { 7, ABOVE32, "thread 3: line 4294967296; the maximum is 4294967295", -1 },
        { 12, ABOVE32, "thread 3: line 4294967296; the maximum is 4294967295", -1 },
    };
    NUMBERS(base, cases, decode_thread);
}

static hdx_code decode_heap(hdx_view value, hdx_error *err)
{
    hdx_heap_space h;
    return hdx_decode_heap(value, 9, (hdx_texts){ names, 8 }, &h, err);
}
static hdx_code decode_heap_nameless(hdx_view value, hdx_error *err)
{
    hdx_heap_space h;
    return hdx_decode_heap(value, 9, (hdx_texts){ NULL, 0 }, &h, err);
}
static hdx_code decode_numbers(hdx_view value, hdx_error *err)
{
    hdx_numbers n;
    return hdx_decode_numbers(value, &n, err);
}
Test(refused, numbers_of_heaps_and_counts_beyond_their_limits)
{
    static const uint64_t    heap[] = { 65, 1, 2, 3, 4, 5 };
    static const one_changed heaps[] = {
        { 0, UINT32_MAX, "", 0 },
        { 0, ABOVE32, "heap 9: heap number 4294967296; the maximum is 4294967295", -1 },
        { 1, 8, "heap 9: text number 8; the maximum is 7", -1 },
        { 2, UINT64_MAX, "", 0 },
        { 5, UINT64_MAX, "", 0 },
    };
    NUMBERS(heap, heaps, decode_heap);
    static const one_changed nameless[] = { { 1, 0, "heap 9: text number 0; the maximum is 0", -1 } };
    NUMBERS(heap, nameless, decode_heap_nameless);
    static const uint64_t    counts[] = { 1, 2, 3, 4, 5 };
    static const one_changed limits[] = {
        { 0, UINT32_MAX - 1, "", 0 },
        { 0, UINT32_MAX, "key n 0: classes 4294967295; the maximum is 4294967294", -1 },
        { 1, UINT32_MAX, "", 0 },
        { 1, ABOVE32, "key n 0: heaps 4294967296; the maximum is 4294967295", -1 },
        { 2, UINT64_MAX, "", 0 },
        { 3, UINT32_MAX, "", 0 },
        { 3, ABOVE32, "key n 0: threads 4294967296; the maximum is 4294967295", -1 },
        { 4, UINT32_MAX, "", 0 },
        { 4, ABOVE32, "key n 0: texts 4294967296; the maximum is 4294967295", -1 },
    };
    NUMBERS(counts, limits, decode_numbers);
}

static hdx_code decode_roots(hdx_view value, hdx_error *err)
{
    hdx_root_chunk chunk = hdx_root_chunk_of(value, 1990, 2000, err);
    hdx_root       root;
    unsigned       n = 0;
    while (hdx_root_chunk_next(&chunk, &root))
        n++;
    return chunk.taker.code == HDX_OK && n != 2 ? HDX_DAMAGED : chunk.taker.code; /* two are there: fewer are a part */
}
Test(refused, numbers_of_roots_beyond_their_limits)
{
    static const uint64_t    base[] = { 1, 1, 5, 7, 0, 3, 0, 0 };
    static const one_changed cases[] = {
        { 0, 0, "", 0 },
        { 0, 9, "", 0 },
        { 0, 10, "roots from object 1990: next root 10; the maximum is 2000", -1 },
        { 1, 2 * (HDX_ROOT_TYPES - 1) + 1, "", 0 },
        { 2, 0, "", 0 },
        { 2, 2000, "", 0 },
        { 2, 2001, "roots from object 1990: object id 2001; the maximum is 2000", -1 },
        { 3, (uint64_t)INT32_MAX + 1, "", 0 },
        { 3, (uint64_t)INT32_MAX + 2, "roots from object 1990: frame 2147483649; the maximum is 2147483648", -1 },
        { 4, 8, "", 0 },
        { 4, 9, "roots from object 1990: next root 9; the maximum is 2000", -1 },
    };
    NUMBERS(base, cases, decode_roots);
    const uint64_t wrong_type[] = { 1, 2 * HDX_ROOT_TYPES };
    char           message[100];
    (void)snprintf(message, sizeof message, "roots from object 1990: type of root %d; the maximum is %d",
                   2 * HDX_ROOT_TYPES, 2 * HDX_ROOT_TYPES - 1);
    const one_changed types[] = { { 1, 2 * HDX_ROOT_TYPES, message, -1 } };
    NUMBERS(wrong_type, types, decode_roots);
    /* what was put comes back */
    static const hdx_root roots[] = { { 1990, 0, HDX_NO_ID, -1 },
                                      { 1990, HDX_ROOT_JAVA_LOCAL, 0, -1 },
                                      { 1991, HDX_ROOT_JAVA_LOCAL, HDX_NO_ID, 0 },
                                      { 1999, HDX_ROOT_TYPES - 1, 1999, INT32_MAX } };
    hdx_buffer            b = hdx_buffer_of(NULL);
    hdx_id                last = 1990;
    for (unsigned i = 0; i < 4; i++)
        hdx_encode_root(&b, &roots[i], &last);
    hdx_root_chunk chunk = hdx_root_chunk_of((hdx_view){ (const uint8_t *)b.at, (size_t)b.len }, 1990, 2000, NULL);
    hdx_root       root;
    for (unsigned i = 0; i < 4; i++) {
        cr_assert(hdx_root_chunk_next(&chunk, &root));
        cr_expect(root.object == roots[i].object && root.type == roots[i].type && root.thread == roots[i].thread &&
                  root.frame == roots[i].frame);
    }
    cr_expect(!hdx_root_chunk_next(&chunk, &root) && chunk.taker.code == HDX_OK);
    hdx_root_chunk beyond = hdx_root_chunk_of((hdx_view){ (const uint8_t *)b.at, (size_t)b.len }, 2000, 2000, NULL);
    cr_expect(!hdx_root_chunk_next(&beyond, &root) && beyond.taker.code == HDX_DAMAGED);
    hdx_buffer_free(&b);
}

Test(refused, takers_that_have_too_few_bytes)
{
    static const uint8_t bytes[] = { 3, 'a', 'b', 'c', 4, 'd', 'e', 'f' };
    hdx_error            err = { 0 };
    hdx_taker            t = hdx_taker_of((hdx_view){ bytes, sizeof bytes }, "thing", 5, &err);
    hdx_text             text = hdx_take_text(&t);
    cr_expect(hdx_text_is(text, "abc"));
    text = hdx_take_text(&t);
    cr_expect(text.len == 0 && t.code == HDX_DAMAGED);
    cr_expect_str_eq(err.message, "thing 5: bytes of text 4; the maximum is 3");
    cr_expect(err.offset == 5);
    cr_expect(hdx_take_number(&t) == 0 && hdx_take_end(&t) == HDX_DAMAGED);
    cr_expect_str_eq(err.message, "thing 5: bytes of text 4; the maximum is 3"); /* the first stays */
    static const struct {
        uint64_t least, count;
        bool     taken;
    } counts[] = { { 1, 6, true }, { 1, 7, false }, { 2, 3, true }, { 2, 4, false },
                   { 5, 1, true }, { 5, 2, false }, { 7, 0, true }, { 7, 1, false } };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint8_t seven[7] = { (uint8_t)counts[i].count };
        t = hdx_taker_of((hdx_view){ seven, 7 }, "thing", 5, NULL);
        cr_expect(hdx_take_count(&t, counts[i].least, "parts") == (counts[i].taken ? counts[i].count : 0));
        cr_expect((t.code == HDX_OK) == counts[i].taken, "case %zu", i);
    }
    static const struct {
        uint64_t v;
        size_t   len;
    } lengths[] = { { 0, 1 },
                    { 127, 1 },
                    { 128, 2 },
                    { 16383, 2 },
                    { 16384, 3 },
                    { 1ull << 62, 9 },
                    { (1ull << 63) - 1, 9 },
                    { 1ull << 63, 10 },
                    { UINT64_MAX, 10 } };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        hdx_buffer b = hdx_buffer_of(NULL);
        hdx_put_number(&b, lengths[i].v);
        cr_expect(b.len == lengths[i].len && b.at[b.len] == '\0');
        t = hdx_taker_of((hdx_view){ (const uint8_t *)b.at, (size_t)b.len }, "thing", 5, NULL);
        cr_expect(hdx_take_number(&t) == lengths[i].v && hdx_take_end(&t) == HDX_OK);
        t = hdx_taker_of((hdx_view){ (const uint8_t *)b.at, (size_t)b.len - 1 }, "thing", 5, NULL);
        cr_expect(hdx_take_number(&t) == 0 && t.code == HDX_DAMAGED);
        hdx_buffer_free(&b);
    }
}

/* ---- the manifest ---- */

static hdx_manifest manifest(void)
{
    hdx_manifest m = { .format = HDX_CATALOG_FORMAT, .heapdex = "0.1.0", .version = "1.0.2", .objects = 100 };
    memcpy(m.identity, "0123456789abcdef", 16);
    return m;
}
/* Encoded as it is, read again: the words. Freed. */
static const char *manifest_says(const hdx_manifest *m)
{
    static hdx_error err;
    hdx_buffer       b = hdx_buffer_of(NULL);
    hdx_manifest    *back = malloc(sizeof *back);
    uint64_t         capacity;
    err = (hdx_error){ 0 };
    hdx_encode_manifest(&b, m);
    const hdx_code code =
        hdx_decode_manifest((hdx_view){ (const uint8_t *)b.at, (size_t)b.len }, back, &capacity, &err);
    cr_expect((code == HDX_OK) == (err.message[0] == '\0') && (code == HDX_OK || code == HDX_DAMAGED));
    if (code == HDX_OK) {
        cr_expect(back->stripping.confidence == m->stripping.confidence &&
                  back->stripping.policy == m->stripping.policy && back->stripping.overlay == m->stripping.overlay &&
                  back->stripping.evidence_count == m->stripping.evidence_count);
        for (unsigned i = 0; i < m->stripping.evidence_count; i++)
            cr_expect_str_eq(back->stripping.evidence[i], m->stripping.evidence[i]);
        hdx_mem_put(NULL, back->damage, capacity * sizeof *back->damage);
        for (uint64_t len = 0; len < b.len; len++) { /* no part of it is the whole, but what older versions wrote */
            if (m->view[0] == '\0' && len == b.len - 2)
                continue;
            cr_assert(hdx_decode_manifest((hdx_view){ (const uint8_t *)b.at, (size_t)len }, back, &capacity, NULL) ==
                      HDX_DAMAGED);
            hdx_mem_put(NULL, back->damage, capacity * sizeof *back->damage);
        }
        hdx_buffer_put(&b, "x", 1); /* nor is more */
        cr_assert(hdx_decode_manifest((hdx_view){ (const uint8_t *)b.at, (size_t)b.len }, back, &capacity, NULL) ==
                  HDX_DAMAGED);
    }
    hdx_mem_put(NULL, back->damage, capacity * sizeof *back->damage);
    hdx_buffer_free(&b);
    free(back);
    return err.message;
}

Test(refused, numbers_of_the_manifest_beyond_their_limits)
{
    hdx_manifest m = manifest();
    hdx_damage   damage = { .kind = HDX_DAMAGE_KINDS - 1, .record = "x" };
    cr_expect_str_eq(manifest_says(&m), "");
    m.stripping.policy = HDX_STRIP_POLICIES - 1;
    m.stripping.overlay = HDX_OVERLAY_FORMS - 1;
    m.stripping.confidence = 100;
    m.stripping.evidence_count = HDX_EVIDENCE_MAX;
    memset(m.stripping.evidence[3], 'e', sizeof m.stripping.evidence[3] - 1);
    m.damage = &damage;
    m.damage_count = 1;
    m.compressed_oops = m.stated_sizes = true;
    m.warning_count = HDX_WARNINGS_MAX;
    memset(m.warnings[15], 'w', sizeof m.warnings[15] - 1);
    memset(m.jvm, 'j', sizeof m.jvm - 1);
    m.record_counts[0][0] = 1;
    m.record_counts[1][255] = 2;
    m.files[HDX_KINDS_MAX - 1] = (hdx_manifest_file){ "last", 5, 6 };
    m.file_count = HDX_KINDS_MAX;
    m.step_count = HDX_STEPS_MAX;
    cr_expect_str_eq(manifest_says(&m), "");
    char want[100];
    m.stripping.policy = HDX_STRIP_POLICIES;
    (void)snprintf(want, sizeof want, "manifest 0: policy of stripping %d; the maximum is %d", HDX_STRIP_POLICIES,
                   HDX_STRIP_POLICIES - 1);
    cr_expect_str_eq(manifest_says(&m), want);
    m.stripping.policy = 0;
    m.stripping.overlay = HDX_OVERLAY_FORMS;
    (void)snprintf(want, sizeof want, "manifest 0: form of a stripped dump %d; the maximum is %d", HDX_OVERLAY_FORMS,
                   HDX_OVERLAY_FORMS - 1);
    cr_expect_str_eq(manifest_says(&m), want);
    m.stripping.overlay = 0;
    m.stripping.confidence = 101;
    cr_expect_str_eq(manifest_says(&m), "manifest 0: per cent 101; the maximum is 100");
    m.stripping.confidence = 0;
    damage.kind = HDX_DAMAGE_KINDS;
    (void)snprintf(want, sizeof want, "manifest 0: kind of damage %d; the maximum is %d", HDX_DAMAGE_KINDS,
                   HDX_DAMAGE_KINDS - 1);
    cr_expect_str_eq(manifest_says(&m), want);
    damage.kind = 0;
    m.file_count = HDX_KINDS_MAX + 1;
    cr_expect_str_eq(manifest_says(&m), "manifest 0: files 33; the maximum is 32");
}

Test(refused, manifests_that_a_catalog_has_no_room_for)
{
    static const struct {
        uint32_t    format, warnings, steps, files;
        const char *message;
    } cases[] = {
        { HDX_CATALOG_FORMAT, 16, 32, 32, "" },
        { HDX_CATALOG_FORMAT - 1, 0, 0, 0, "manifest with format 2, 0 warnings, 0 steps, 0 files" },
        { HDX_CATALOG_FORMAT + 1, 0, 0, 0, "manifest with format 4, 0 warnings, 0 steps, 0 files" },
        { HDX_CATALOG_FORMAT, 17, 0, 0, "manifest with format 3, 17 warnings, 0 steps, 0 files" },
        { HDX_CATALOG_FORMAT, 0, 33, 0, "manifest with format 3, 0 warnings, 33 steps, 0 files" },
        { HDX_CATALOG_FORMAT, 0, 0, 33, "manifest with format 3, 0 warnings, 0 steps, 33 files" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_catalog_writer *w;
        hdx_manifest        m = manifest();
        hdx_error           err = { 0 };
        m.format = cases[i].format;
        m.warning_count = cases[i].warnings;
        m.step_count = cases[i].steps;
        m.file_count = cases[i].files;
        cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
        const hdx_code code = hdx_catalog_put_manifest(w, &m, &err);
        cr_expect(code == (cases[i].message[0] == '\0' ? HDX_OK : HDX_USAGE));
        cr_expect_str_eq(err.message, cases[i].message);
        if (code == HDX_OK) { /* nor two of them */
            cr_expect(hdx_catalog_put_manifest(w, &m, &err) == HDX_USAGE);
            cr_expect_str_eq(err.message, "key m is written twice");
        }
        hdx_catalog_abandon(w);
    }
}

/* ---- what a writer refuses ---- */

Test(refused, roots_that_no_search_would_find)
{
    static const struct {
        hdx_root    roots[2];
        const char *message;
    } cases[] = {
        { { { 1, 1, 5, 3 }, { 1, 1, 5, 3 } }, "" },
        { { { 1, 1, 5, 3 }, { 1, 1, 5, 4 } }, "" },
        { { { 1, 1, 5, 3 }, { 1, 1, 5, 2 } }, "roots are not sorted: number 1" },
        { { { 1, 1, 5, 3 }, { 1, 1, 6, 2 } }, "" },
        { { { 1, 1, 5, 3 }, { 1, 1, 4, 9 } }, "roots are not sorted: number 1" },
        { { { 1, 1, 5, 3 }, { 1, 2, 4, 2 } }, "" },
        { { { 1, 1, 5, 3 }, { 1, 0, 9, 9 } }, "roots are not sorted: number 1" },
        { { { 1, 1, 5, 3 }, { 2, 0, 4, 2 } }, "" },
        { { { 1, 1, 5, 3 }, { 0, 9, 9, 9 } }, "roots are not sorted: number 1" },
        { { { 1, 1, 5, -1 }, { 2, 1, 5, INT32_MAX } }, "" },
        { { { 1, 1, 5, -1 }, { 2, 1, 5, -2 } }, "root 1 has type 1, frame -2" },
        { { { 1, 1, 5, INT32_MIN }, { 2, 1, 5, 0 } }, "root 0 has type 1, frame -2147483648" },
        { { { 1, 1, 5, 3 }, { 2, HDX_ROOT_TYPES - 1, 5, 3 } }, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_catalog_writer *w;
        hdx_error           err = { 0 };
        cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
        cr_expect(hdx_catalog_put_roots(w, cases[i].roots, 2, &err) ==
                      (cases[i].message[0] == '\0' ? HDX_OK : HDX_USAGE),
                  "case %zu", i);
        cr_expect_str_eq(err.message, cases[i].message);
        hdx_catalog_abandon(w);
    }
    const hdx_root      wrong = { 1, HDX_ROOT_TYPES, 5, 0 };
    hdx_catalog_writer *w;
    hdx_error           err = { 0 };
    char                want[80];
    cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
    cr_expect(hdx_catalog_put_roots(w, &wrong, 1, &err) == HDX_USAGE);
    (void)snprintf(want, sizeof want, "root 0 has type %d, frame 0", HDX_ROOT_TYPES);
    cr_expect_str_eq(err.message, want);
    hdx_catalog_abandon(w);
}

Test(refused, more_than_32_bits_count_and_classes_out_of_order)
{
    hdx_catalog_writer  *w;
    hdx_error            err = { 0 };
    const hdx_heap_space heaps[] = { { 'A', { "app", 3 }, 1, 2, 3, 4 }, { 'B', { "boot", 4 }, 1, 2, 3, 4 } };
    const hdx_thread     threads[] = { { .object = 1 }, { .object = 2 } };
    cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
    cr_expect(hdx_catalog_put_heaps(w, heaps, ABOVE32, &err) == HDX_LIMIT);
    cr_expect_str_eq(err.message, "4294967296 heaps; the maximum is 4294967295");
    cr_expect(hdx_catalog_put_threads(w, threads, ABOVE32, &err) == HDX_LIMIT);
    cr_expect_str_eq(err.message, "4294967296 threads; the maximum is 4294967295");
    cr_assert(hdx_catalog_put_heaps(w, heaps, 1, NULL) == HDX_OK);
    cr_assert(hdx_catalog_put_heaps(w, heaps + 1, 1, NULL) == HDX_OK);
    cr_expect(hdx_catalog_put_heaps(w, heaps, UINT32_MAX - 1, &err) == HDX_LIMIT);
    cr_expect_str_eq(err.message, "4294967294 heaps; the maximum is 4294967295");
    cr_assert(hdx_catalog_put_threads(w, threads, 2, NULL) == HDX_OK);
    cr_expect(hdx_catalog_put_threads(w, threads, UINT32_MAX - 1, &err) == HDX_LIMIT);
    hdx_class c = { .number = 1, .super = HDX_NO_CLASS, .id = HDX_NO_ID };
    cr_expect(hdx_catalog_put_class(w, &c, &err) == HDX_USAGE);
    cr_expect_str_eq(err.message, "class 1 is written as number 0");
    c.number = 0;
    cr_expect(hdx_catalog_put_class(w, &c, &err) == HDX_OK);
    cr_expect(hdx_catalog_put_class(w, &c, &err) == HDX_USAGE);
    cr_expect_str_eq(err.message, "class 0 is written as number 1");
    hdx_manifest          m = manifest();
    hdx_catalog          *r;
    const hdx_heap_space *back;
    uint64_t              count;
    cr_assert(hdx_catalog_put_manifest(w, &m, NULL) == HDX_OK && hdx_catalog_commit(w, NULL) == HDX_OK);
    cr_assert(hdx_catalog_open(hdx_io_system(), folder, &r, NULL) == HDX_OK);
    cr_assert(hdx_catalog_heaps(r, &back, &count, NULL) == HDX_OK && count == 2);
    for (unsigned i = 0; i < 2; i++)
        cr_expect(back[i].number == heaps[i].number && hdx_text_same(back[i].name, heaps[i].name) &&
                  back[i].objects == 1 && back[i].bytes == 2 && back[i].live_objects == 3 && back[i].live_bytes == 4);
    hdx_catalog_close(r);
    hdx_catalog_close(NULL);
    hdx_catalog_abandon(NULL);
}

Test(refused, folders_whose_path_is_too_long)
{
    char *path = malloc(5000), file[HDX_PATH_MAX];
    memset(path, 'x', 5000);
    for (size_t len = 4082; len <= 4085; len++) { /* "/catalog.mdb" has twelve, and there is a NUL */
        hdx_error err = { 0 };
        path[len] = '\0';
        cr_expect(hdx_catalog_path(file, path, HDX_CATALOG_FILE, &err) == (len <= 4083 ? HDX_OK : HDX_USAGE), "%zu",
                  len);
        cr_expect_str_eq(err.message, len <= 4083 ? "" : "path too long");
        hdx_catalog *c = (hdx_catalog *)1;
        cr_expect(hdx_catalog_open(hdx_io_system(), path, &c, NULL) == (len <= 4083 ? HDX_IO : HDX_USAGE));
        cr_expect(c == NULL);
        hdx_catalog_writer *w = (hdx_catalog_writer *)1;
        cr_expect(hdx_catalog_create(hdx_io_system(), path, NULL, &w, NULL) == (len <= 4083 ? HDX_IO : HDX_USAGE));
        cr_expect(w == NULL);
        path[len] = 'x';
    }
    free(path);
}

Test(refused, codes_of_lmdb_by_what_they_mean)
{
    static const struct {
        int      rc;
        hdx_code code;
    } cases[] = { { ENOMEM, HDX_LIMIT },
                  { MDB_MAP_FULL, HDX_LIMIT },
                  { MDB_TXN_FULL, HDX_LIMIT },
                  { MDB_PAGE_FULL, HDX_LIMIT },
                  { MDB_CORRUPTED, HDX_DAMAGED },
                  { MDB_PAGE_NOTFOUND, HDX_DAMAGED },
                  { MDB_INVALID, HDX_DAMAGED },
                  { MDB_VERSION_MISMATCH, HDX_DAMAGED },
                  { MDB_INCOMPATIBLE, HDX_DAMAGED },
                  { MDB_CURSOR_FULL, HDX_DAMAGED },
                  { EIO, HDX_IO },
                  { ENOSPC, HDX_IO },
                  { MDB_PANIC, HDX_IO } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_error err = { 0 };
        char      want[200];
        cr_expect(hdx_lmdb_fail(&err, cases[i].rc, "cannot think") == cases[i].code, "%d", cases[i].rc);
        (void)snprintf(want, sizeof want, "cannot think: %s", mdb_strerror(cases[i].rc));
        cr_expect_str_eq(err.message, want);
        cr_expect_str_eq(err.where, "catalog");
        cr_expect(err.offset == HDX_NOWHERE);
    }
}

/* ---- catalogs of other keys and values, with right sums ---- */

typedef struct entry {
    uint8_t    key[16];
    size_t     len;
    hdx_buffer value;
} entry;

/* A heap of 100 objects: two classes, three roots of two objects, a thread, a heap, four texts in two chunks. */
enum { MANIFEST, NUMBERS_, CLASS0, CLASS1, HEAP0, ROOTS0, ROOTS1, THREAD0, TEXTS0, TEXTS2, ENTRIES };

static void put_all(hdx_buffer *b, const uint64_t *v, unsigned n)
{
    hdx_buffer_clear(b);
    for (unsigned i = 0; i < n; i++)
        hdx_put_number(b, v[i]);
}
#define PUT(b, ...)                                                                                                    \
    put_all(b, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define NUMBERED(e, letter, n) ((e)->len = hdx_key_numbered((e)->key, letter, n))

static void entries_of(entry e[ENTRIES])
{
    const hdx_manifest m = manifest();
    for (unsigned i = 0; i < ENTRIES; i++)
        e[i] = (entry){ .value = hdx_buffer_of(NULL) };
    e[MANIFEST].len = hdx_key_of(e[MANIFEST].key, HDX_KEY_MANIFEST);
    hdx_encode_manifest(&e[MANIFEST].value, &m);
    e[NUMBERS_].len = hdx_key_of(e[NUMBERS_].key, HDX_KEY_NUMBERS);
    PUT(&e[NUMBERS_].value, 2, 1, 3, 1, 4);
    for (uint32_t i = 0; i < 2; i++) {
        NUMBERED(&e[CLASS0 + i], HDX_KEY_CLASS, i);
        PUT(&e[CLASS0 + i].value, i, 16, 1 + i, i, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }
    NUMBERED(&e[HEAP0], HDX_KEY_HEAP, 0);
    PUT(&e[HEAP0].value, 65, 2, 3, 4, 5, 6);
    e[ROOTS0].len = hdx_key_root(e[ROOTS0].key, 10, 0);
    PUT(&e[ROOTS0].value, 0, 0, 5, 2);
    e[ROOTS1].len = hdx_key_root(e[ROOTS1].key, 15, 0);
    PUT(&e[ROOTS1].value, 0, 4);
    NUMBERED(&e[THREAD0], HDX_KEY_THREAD, 0);
    PUT(&e[THREAD0].value, 11, 1, 1, 0, 1, 2, 3, 34);
    NUMBERED(&e[TEXTS0], HDX_KEY_TEXT, 0);
    hdx_buffer_put(&e[TEXTS0].value, "\1A\2bb", 5);
    NUMBERED(&e[TEXTS2], HDX_KEY_TEXT, 2);
    hdx_buffer_put(&e[TEXTS2].value, "\0\3ccc", 5);
}

static void write_entries(const entry e[ENTRIES])
{
    static const char *files[] = { "work", "catalog.mdb", "catalog.sum" };
    char               path[3][128];
    MDB_env           *env;
    MDB_txn           *txn;
    MDB_dbi            dbi;
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(path[i], sizeof path[i], "%s/%s", folder, files[i]);
        (void)remove(path[i]);
    }
    cr_assert(mdb_env_create(&env) == 0 &&
              mdb_env_open(env, path[0], MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0600) == 0);
    cr_assert(mdb_txn_begin(env, NULL, 0, &txn) == 0 && mdb_dbi_open(txn, NULL, 0, &dbi) == 0);
    for (unsigned i = 0; i < ENTRIES; i++) {
        MDB_val k = { e[i].len, (void *)(uintptr_t)e[i].key }, v = { (size_t)e[i].value.len, e[i].value.at };
        cr_assert(e[i].len == 0 || mdb_put(txn, dbi, &k, &v, 0) == 0);
    }
    cr_assert(mdb_txn_commit(txn) == 0);
    int fd = open(path[1], O_RDWR | O_CREAT, 0600);
    cr_assert(fd >= 0 && mdb_env_copyfd2(env, fd, MDB_CP_COMPACT) == 0);
    mdb_env_close(env);
    const off_t size = lseek(fd, 0, SEEK_END);
    uint8_t    *bytes = malloc((size_t)size), sum[HDX_SUM_SIZE];
    cr_assert(pread(fd, bytes, (size_t)size, 0) == size);
    (void)close(fd);
    hdx_encode_sum(sum, (const uint8_t *)"0123456789abcdef", (uint64_t)size, hdx_crc32c(0, bytes, (size_t)size));
    FILE *f = fopen(path[2], "wb");
    cr_assert(f != NULL && fwrite(sum, 1, sizeof sum, f) == sizeof sum);
    (void)fclose(f);
    free(bytes);
}

static const char *what(hdx_code code, const hdx_error *err)
{
    if (code == HDX_OK)
        return "";
    cr_expect(code == HDX_DAMAGED, "%d", (int)code);
    cr_expect_str_eq(err->where, "catalog");
    return err->message;
}

/*
 * What opening says, and each question by itself: classes, roots, threads, heaps, roots of object 15. NULL: the answer
 * is right. texts: what classes, threads and heaps say, which have names; NULL: each says its own.
 */
typedef struct answers {
    const char *open, *classes, *roots, *threads, *heaps, *roots_of, *texts;
} answers;

static void expect_said(const char *said, const char *want, const char *question, unsigned which)
{
    cr_expect(strcmp(said, want != NULL ? want : "") == 0, "case %u, %s: \"%s\"", which, question, said);
}

static void answers_are(const entry e[ENTRIES], const answers *want, unsigned which)
{
    hdx_catalog          *c = (hdx_catalog *)1;
    hdx_error             err = { 0 };
    const hdx_class      *classes = NULL;
    const hdx_root       *roots = NULL;
    const hdx_thread     *threads = NULL;
    const hdx_heap_space *heaps = NULL;
    hdx_root              some[4];
    uint32_t              n;
    uint64_t              count;
    write_entries(e);
    const char *said = what(hdx_catalog_open(hdx_io_system(), folder, &c, &err), &err);
    expect_said(said, want->open, "open", which);
    if (c == NULL)
        return;
    for (unsigned round = 0; round < 2; round++) { /* what failed fails again */
        said = what(hdx_catalog_roots_of(c, 15, some, 4, &count, &err), &err);
        expect_said(said, want->roots_of, "roots of", which);
        if (said[0] == '\0')
            cr_expect(count == 2 && some[0].object == 15 && some[0].type == 1 && some[1].type == 2, "case %u", which);
        said = what(hdx_catalog_classes(c, &classes, &n, &err), &err);
        expect_said(said, want->texts != NULL ? want->texts : want->classes, "classes", which);
        cr_expect(said[0] == '\0' ? n == 2 && classes[1].super == 0 && hdx_text_is(classes[1].name, "bb")
                                  : n == 0 && classes == NULL);
        said = what(hdx_catalog_threads(c, &threads, &count, &err), &err);
        expect_said(said, want->texts != NULL ? want->texts : want->threads, "threads", which);
        cr_expect(said[0] == '\0' ? count == 1 && threads[0].object == 10 && threads[0].frames[0].line == 17 &&
                                        hdx_text_is(threads[0].frames[0].source, "ccc")
                                  : count == 0 && threads == NULL);
        said = what(hdx_catalog_heaps(c, &heaps, &count, &err), &err);
        expect_said(said, want->texts != NULL ? want->texts : want->heaps, "heaps", which);
        cr_expect(said[0] == '\0' ? count == 1 && heaps[0].live_bytes == 6 && heaps[0].name.len == 0
                                  : count == 0 && heaps == NULL);
        said = what(hdx_catalog_roots(c, &roots, &count, &err), &err);
        expect_said(said, want->roots, "roots", which);
        cr_expect(said[0] == '\0' ? count == 3 && roots[2].object == 15 && roots[2].type == 2
                                  : count == 0 && roots == NULL);
    }
    hdx_catalog_close(c);
}

static void free_entries(entry e[ENTRIES])
{
    for (unsigned i = 0; i < ENTRIES; i++)
        hdx_buffer_free(&e[i].value);
}

Test(refused, keys_that_do_not_fit_each_other)
{
    static const char root_key_12[] = "root key is 12 bytes; expected 13";
    static const char root_key_14[] = "root key is 14 bytes; expected 13";
    static const struct {
        unsigned entry, len; /* len: of its key; 0: the entry is missing */
        unsigned at;         /* of the byte of the key that is another one */
        uint8_t  byte;
        answers  want;
    } cases[] = {
        { MANIFEST, 1, 0, HDX_KEY_MANIFEST, { NULL } }, /* as it is */
        { MANIFEST, 0, 0, 0, { .open = "key m is missing" } },
        { NUMBERS_, 0, 0, 0, { .open = "key n is missing" } },
        { CLASS0, 0, 0, 0, { .classes = "0 classes; key n has 2" } },
        { CLASS1, 5, 4, 2, { .classes = "1 classes; key n has 2" } },
        { CLASS1, 4, 3, 1, { .classes = "1 classes; key n has 2" } },
        { CLASS1, 6, 5, 0, { .classes = "1 classes; key n has 2" } },
        { TEXTS2, 5, 4, 3, { .texts = "2 texts; key n has 4" } },
        { TEXTS2, 5, 4, 1, { .texts = "2 texts; key n has 4" } },
        { TEXTS2, 6, 5, 0, { .texts = "2 texts; key n has 4" } },
        { TEXTS2, 4, 3, 0, { .texts = "0 texts; key n has 4" } },
        { TEXTS0, 0, 0, 0, { .texts = "0 texts; key n has 4" } },
        { TEXTS2, 0, 0, 0, { .texts = "2 texts; key n has 4" } },
        { ROOTS1, 12, 11, 0, { .roots = root_key_12, .roots_of = root_key_12 } },
        { ROOTS1, 14, 13, 0, { .roots = root_key_14, .roots_of = root_key_14 } },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        entry e[ENTRIES];
        entries_of(e);
        e[cases[i].entry].len = cases[i].len;
        e[cases[i].entry].key[cases[i].at] = cases[i].byte;
        answers_are(e, &cases[i].want, i);
        free_entries(e);
    }
}

Test(refused, values_that_do_not_fit_each_other)
{
    static const char next_root[] = "roots from object 15: next root 85; the maximum is 100";
    static const struct {
        unsigned entry, at; /* of the byte of the value that is another one; all numbers take one byte */
        uint8_t  byte;
        answers  want;
    } cases[] = {
        { MANIFEST, 0, HDX_CATALOG_FORMAT - 1, { .open = "manifest format is 2; catalog.sum has 3" } },
        { NUMBERS_, 0, 3, { .classes = "2 classes; key n has 3" } },
        { NUMBERS_, 0, 1, { .classes = "1 classes; key n has 1" } },
        { NUMBERS_, 0, 10, { .classes = "2 classes; key n has 10" } },
        { NUMBERS_, 0, 11, { .classes = "10 classes; key n has 11" } },
        { NUMBERS_, 1, 2, { .heaps = "1 heaps; key n has 2" } },
        { NUMBERS_, 1, 0, { .heaps = "0 heaps; key n has 0" } },
        { NUMBERS_, 1, 11, { .heaps = "10 heaps; key n has 11" } },
        { NUMBERS_, 3, 2, { .threads = "1 threads; key n has 2" } },
        { NUMBERS_, 3, 0, { .threads = "0 threads; key n has 0" } },
        { NUMBERS_, 3, 11, { .threads = "10 threads; key n has 11" } },
        { NUMBERS_, 2, 4, { .roots = "3 roots; key n has 4" } },
        { NUMBERS_, 2, 2, { .roots = "3 roots; key n has 2" } },
        { NUMBERS_, 4, 5, { .texts = "4 texts; key n has 5" } },
        { NUMBERS_, 4, 3, { .texts = "texts from number 2: excess bytes: 4; the maximum is 0" } },
        { TEXTS2, 1, 4, { .texts = "texts from number 2: bytes of text 4; the maximum is 3" } },
        { ROOTS1, 0, 85, { .roots = next_root, .roots_of = next_root } },
        { CLASS0, 3, 2, { .classes = "class 0 is its own ancestor" } },
        { CLASS0, 2, 101, { .classes = "class 0: object id 101; the maximum is 100" } },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        entry e[ENTRIES];
        entries_of(e);
        e[cases[i].entry].value.at[cases[i].at] = (char)cases[i].byte;
        answers_are(e, &cases[i].want, i);
        free_entries(e);
    }
}

/* A text takes a byte at least: more than the whole file has are not looked for. */
Test(refused, more_texts_than_the_file_has_bytes)
{
    entry       e[ENTRIES];
    char        text[80], path[128];
    struct stat s;
    entries_of(e);
    PUT(&e[NUMBERS_].value, 2, 1, 3, 1, UINT32_MAX);
    write_entries(e);
    (void)snprintf(path, sizeof path, "%s/catalog.mdb", folder);
    cr_assert(stat(path, &s) == 0);
    (void)snprintf(text, sizeof text, "%lld texts; key n has 4294967295", (long long)s.st_size);
    answers_are(e, &(answers){ .texts = text }, 0);
    free_entries(e);
}

Test(refused, a_chunk_of_roots_that_begins_before_the_last_one_ended)
{
    entry           e[ENTRIES];
    hdx_catalog    *c;
    hdx_root        some[4];
    uint64_t        count;
    hdx_error       err = { 0 };
    const hdx_root *roots;
    entries_of(e);
    e[ROOTS1].len = hdx_key_root(e[ROOTS1].key, 14, 0);
    write_entries(e);
    cr_assert(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_OK);
    cr_expect(hdx_catalog_roots(c, &roots, &count, &err) == HDX_DAMAGED);
    cr_expect_str_eq(err.message, "root 2 is out of order");
    cr_expect(hdx_catalog_roots_of(c, 14, some, 4, &count, &err) == HDX_OK);
    hdx_catalog_close(c);
    free_entries(e);
}

/* No roots at all, and nothing after the place where they would be. */
Test(refused, roots_that_are_all_missing)
{
    entry        e[ENTRIES];
    hdx_catalog *c;
    hdx_root     some[4];
    uint64_t     count = 9;
    entries_of(e);
    e[ROOTS0].len = e[ROOTS1].len = 0;
    write_entries(e);
    cr_assert(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_OK);
    cr_expect(hdx_catalog_roots_of(c, 15, some, 4, &count, NULL) == HDX_OK && count == 0);
    hdx_catalog_close(c);
    free_entries(e);
}

/* Roots are found where they are the first keys of the file, the last, or the only ones. */
Test(refused, roots_are_found_wherever_their_keys_lie)
{
    for (unsigned before = 0; before < 2; before++)
        for (unsigned behind = 0; behind < 2; behind++)
            for (hdx_id object = 9; object <= 17; object++) {
                entry        e[ENTRIES];
                hdx_catalog *c;
                hdx_root     some[2] = { { 0 } };
                uint64_t     count = 9;
                entries_of(e);
                if (before == 0)
                    e[CLASS0].len = e[CLASS1].len = e[HEAP0].len = 0;
                if (behind == 0)
                    e[THREAD0].len = e[TEXTS0].len = e[TEXTS2].len = 0;
                if (object == 17) { /* beside others, an object of which there are three, in three chunks */
                    e[ROOTS0].len = hdx_key_root(e[ROOTS0].key, 17, 0);
                    PUT(&e[ROOTS0].value, 0, 0);
                    e[ROOTS1].len = hdx_key_root(e[ROOTS1].key, 17, 1);
                    PUT(&e[ROOTS1].value, 0, 2, 0, 4);
                }
                write_entries(e);
                cr_assert(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_OK);
                for (unsigned decoded = 0; decoded < 2; decoded++) {
                    const uint64_t  want = object == 10 ? 1 : object == 15 ? 2 : object == 17 ? 3 : 0;
                    const hdx_root *all;
                    uint64_t        n;
                    for (uint64_t max = 0; max <= 2; max++) {
                        some[0].object = some[1].object = 4711;
                        cr_assert(hdx_catalog_roots_of(c, object, some, max, &count, NULL) == HDX_OK);
                        cr_expect(count == want, "object %llu: %llu", (unsigned long long)object,
                                  (unsigned long long)count);
                        for (uint64_t k = 0; k < 2; k++)
                            cr_expect(some[k].object == (k < max && k < want ? object : 4711));
                    }
                    cr_assert(hdx_catalog_roots(c, &all, &n, NULL) == HDX_OK && n == 3);
                }
                hdx_catalog_close(c);
                free_entries(e);
            }
}

/* ---- doors that fail ---- */

typedef struct doors {
    hdx_io      io;
    const char *name; /* the file whose call fails; NULL: none */
    int         with, fd;
    char        call; /* o open, r read, s stat, m map, c create, w write, k close, d remove, e: stat says empty */
    unsigned    open;
} doors;
static bool is_file(const char *path, const char *name)
{
    const size_t a = strlen(path), b = strlen(name);
    return a >= b && strcmp(path + a - b, name) == 0;
}
static int opened(doors *d, const char *path, int fd)
{
    d->open += fd >= 0;
    if (d->name != NULL && is_file(path, d->name))
        d->fd = fd;
    return fd;
}
static int d_open(hdx_io *io, const char *path)
{
    doors *d = (doors *)io;
    return d->call == 'o' && is_file(path, d->name) ? d->with
                                                    : opened(d, path, hdx_io_system()->open(hdx_io_system(), path));
}
static int d_create(hdx_io *io, const char *path)
{
    doors *d = (doors *)io;
    return d->call == 'c' && is_file(path, d->name) ? d->with
                                                    : opened(d, path, hdx_io_system()->create(hdx_io_system(), path));
}
static int64_t d_read(hdx_io *io, int fd, void *to, uint64_t n, uint64_t at)
{
    doors *d = (doors *)io;
    return d->call == 'r' && fd == d->fd ? d->with : hdx_io_system()->read_at(hdx_io_system(), fd, to, n, at);
}
static int d_write(hdx_io *io, int fd, const void *b, uint64_t n)
{
    doors *d = (doors *)io;
    return d->call == 'w' && fd == d->fd ? d->with : hdx_io_system()->write(hdx_io_system(), fd, b, n);
}
static int d_stat(hdx_io *io, const char *path, struct stat *s)
{
    doors    *d = (doors *)io;
    const int rc = hdx_io_system()->stat(hdx_io_system(), path, s);
    if (d->call == 'e' && is_file(path, d->name))
        s->st_size = 0;
    return d->call == 's' && is_file(path, d->name) ? d->with : rc;
}
static int d_map(hdx_io *io, int fd, uint64_t n, const uint8_t **at)
{
    doors *d = (doors *)io;
    return d->call == 'm' && fd == d->fd ? d->with : hdx_io_system()->map(hdx_io_system(), fd, n, at);
}
static int d_close(hdx_io *io, int fd)
{
    doors    *d = (doors *)io;
    const int rc = hdx_io_system()->close(hdx_io_system(), fd);
    d->open--;
    return d->call == 'k' && fd == d->fd ? d->with : rc;
}
static int d_remove(hdx_io *io, const char *path)
{
    doors *d = (doors *)io;
    return d->call == 'd' && is_file(path, d->name) ? d->with : hdx_io_system()->remove(hdx_io_system(), path);
}
static doors doors_of(const char *name, char call, int with)
{
    doors d = { .io = *hdx_io_system(), .name = name, .call = call, .with = with, .fd = -1 };
    d.io.open = d_open;
    d.io.create = d_create;
    d.io.read_at = d_read;
    d.io.write = d_write;
    d.io.stat = d_stat;
    d.io.map = d_map;
    d.io.close = d_close;
    d.io.remove = d_remove;
    return d;
}
static void write_small(void)
{
    hdx_catalog_writer *w;
    const hdx_manifest  m = manifest();
    cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
    cr_assert(hdx_catalog_put_manifest(w, &m, NULL) == HDX_OK && hdx_catalog_commit(w, NULL) == HDX_OK);
}

Test(refused, files_that_cannot_be_read)
{
    static const struct {
        const char *name;
        char        call;
        int         with;
        hdx_code    code;
        const char *message;
    } cases[] = {
        { "catalog.sum", 'o', -ENOENT, HDX_NOT_FOUND, "cannot open: No such file or directory" },
        { "catalog.sum", 'o', -ENOTDIR, HDX_NOT_FOUND, "cannot open: Not a directory" },
        { "catalog.sum", 'o', -EACCES, HDX_IO, "cannot open: Permission denied" },
        { "catalog.sum", 'r', -EIO, HDX_IO, "cannot read: Input/output error" },
        { "catalog.sum", 'r', -EACCES, HDX_IO, "cannot read: Permission denied" },
        { "catalog.sum", 'k', -EIO, HDX_OK, "" },
        { "catalog.mdb", 'o', -ENOENT, HDX_DAMAGED, "cannot open: No such file or directory" },
        { "catalog.mdb", 'o', -EACCES, HDX_IO, "cannot open: Permission denied" },
        { "catalog.mdb", 's', -EIO, HDX_IO, "cannot be read: Input/output error" },
        { "catalog.mdb", 'm', -EIO, HDX_IO, "cannot map: Input/output error" },
        { "catalog.mdb", 'm', -ENOMEM, HDX_LIMIT, "cannot map: Cannot allocate memory" },
        { "catalog.mdb", 'k', -EIO, HDX_OK, "" },
    };
    write_small();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        doors          d = doors_of(cases[i].name, cases[i].call, cases[i].with);
        hdx_catalog   *c = (hdx_catalog *)1;
        hdx_error      err = { 0 };
        const hdx_code code = hdx_catalog_open(&d.io, folder, &c, &err);
        cr_expect(code == cases[i].code, "case %zu: %d %s", i, (int)code, err.message);
        cr_expect_str_eq(err.message, cases[i].message);
        cr_expect((c != NULL) == (code == HDX_OK));
        cr_expect(d.open == 0, "case %zu: %u open", i, d.open);
        if (code != HDX_OK) {
            cr_expect_str_eq(err.where, cases[i].name);
            cr_expect(err.offset == HDX_NOWHERE);
        }
        hdx_catalog_close(c);
    }
    char         path[128];
    hdx_catalog *c;
    hdx_error    err = { 0 };
    (void)snprintf(path, sizeof path, "%s/catalog.sum", folder);
    cr_assert(remove(path) == 0);
    cr_expect(hdx_catalog_open(hdx_io_system(), folder, &c, &err) == HDX_DAMAGED);
    cr_expect_str_eq(err.message, "is missing beside catalog.mdb");
    (void)snprintf(path, sizeof path, "%s/catalog.mdb", folder);
    cr_assert(remove(path) == 0);
    cr_expect(hdx_catalog_open(hdx_io_system(), folder, &c, &err) == HDX_NOT_FOUND);
}

Test(refused, files_that_cannot_be_written)
{
    static const struct {
        const char *name;
        char        call;
        int         with;
        const char *where, *message;
    } cases[] = {
        { "catalog.tmp", 'd', -EACCES, "catalog.tmp", "cannot remove: Permission denied" },
        { "catalog.mdb", 'c', -ENOSPC, "catalog.mdb", "cannot create: No space left on device" },
        { "catalog.mdb", 's', -EIO, "catalog.mdb", "cannot read: Input/output error" },
        { "catalog.mdb", 'e', 0, "catalog.mdb", "is empty after writing" },
        { "catalog.mdb", 'm', -ENOMEM, "catalog.mdb", "cannot map: Cannot allocate memory" },
        { "catalog.mdb", 'k', -EIO, "catalog.mdb", "cannot close: Input/output error" },
        { "catalog.sum", 'c', -EACCES, "catalog.sum", "cannot create: Permission denied" },
        { "catalog.sum", 'w', -ENOSPC, "catalog.sum", "cannot write: No space left on device" },
        { "catalog.sum", 'k', -EIO, "catalog.sum", "cannot close: Input/output error" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        doors               d = doors_of(cases[i].name, '-', cases[i].with);
        hdx_catalog_writer *w;
        hdx_catalog        *c;
        const hdx_manifest  m = manifest();
        hdx_error           err = { 0 };
        cr_assert(hdx_catalog_create(&d.io, folder, NULL, &w, NULL) == HDX_OK);
        d.call = cases[i].call;
        cr_assert(hdx_catalog_put_manifest(w, &m, NULL) == HDX_OK);
        cr_expect(hdx_catalog_commit(w, &err) == HDX_IO, "case %zu", i);
        cr_expect_str_eq(err.message, cases[i].message);
        cr_expect_str_eq(err.where, cases[i].where);
        cr_expect(d.open == 0, "case %zu: %u open", i, d.open);
        if (i > 0)
            cr_expect(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_NOT_FOUND, "case %zu", i);
    }
    for (unsigned i = 0; i < 4; i++) { /* what is left of an earlier one */
        doors               d = doors_of(i < 2 ? "catalog.tmp" : "catalog.sum", 'd', i % 2 == 0 ? -ENOENT : -EACCES);
        hdx_catalog_writer *w;
        hdx_error           err = { 0 };
        cr_expect(hdx_catalog_create(&d.io, folder, NULL, &w, &err) == (i % 2 == 0 ? HDX_OK : HDX_IO));
        cr_expect_str_eq(err.message, i % 2 == 0 ? "" : "cannot remove files of an earlier catalog: Permission denied");
        d.call = '-';
        hdx_catalog_abandon(w);
    }
}

/* Abandoned or failed, a catalog takes its files along, and those of the one before it. */
Test(refused, catalogs_leave_nothing)
{
    static const char *files[] = { "catalog.mdb", "catalog.sum", "catalog.tmp" };
    write_small();
    hdx_catalog_writer *w;
    cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
    hdx_catalog *c;
    cr_expect(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_DAMAGED); /* the sum has gone already */
    hdx_catalog_abandon(w);
    for (unsigned i = 0; i < 3; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        cr_expect(access(path, F_OK) != 0, "%s", path);
    }
}

/* ---- the sum ---- */
Test(refused, sums_of_other_lengths_and_formats)
{
    uint8_t  sum[80] = { 0 }, identity[16];
    uint64_t size;
    uint32_t crc;
    hdx_encode_sum(sum, (const uint8_t *)"0123456789abcdef", 1, 2);
    static const struct {
        unsigned    at, len;
        uint8_t     value;
        hdx_code    code;
        uint64_t    offset;
        const char *message;
    } cases[] = {
        { 0, 48, 'h', HDX_OK, 0, "" },
        { 0, 48, 'H', HDX_DAMAGED, 0, "48 bytes without the header of a catalog.sum" },
        { 7, 48, 'X', HDX_DAMAGED, 0, "48 bytes without the header of a catalog.sum" },
        { 0, 15, 'h', HDX_DAMAGED, 0, "15 bytes without the header of a catalog.sum" },
        { 0, 16, 'h', HDX_DAMAGED, 12, "16 bytes; expected 48 with zero at byte 12" },
        { 0, 47, 'h', HDX_DAMAGED, 12, "47 bytes; expected 48 with zero at byte 12" },
        { 0, 49, 'h', HDX_DAMAGED, 12, "49 bytes; expected 48 with zero at byte 12" },
        { 12, 48, 1, HDX_DAMAGED, 12, "48 bytes; expected 48 with zero at byte 12" },
        { 15, 48, 1, HDX_DAMAGED, 12, "48 bytes; expected 48 with zero at byte 12" },
        { 8, 48, 9, HDX_NOT_FOUND, 8, "index has format 9; this heapdex reads format 3" },
        { 8, 60, 9, HDX_NOT_FOUND, 8, "index has format 9; this heapdex reads format 3" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t   copy[80];
        hdx_error err = { 0 };
        memcpy(copy, sum, sizeof sum);
        copy[cases[i].at] = cases[i].value;
        if (cases[i].len >= 20 || cases[i].len == 16) {
            uint8_t *own = copy + cases[i].len - 4;
            hdx_put32(own, hdx_crc32c(0, copy, cases[i].len - 4));
        }
        const hdx_code code = hdx_decode_sum((hdx_view){ copy, cases[i].len }, identity, &size, &crc, &err);
        cr_expect(code == cases[i].code, "case %zu: %d", i, (int)code);
        cr_expect_str_eq(err.message, cases[i].message);
        cr_expect(err.offset == cases[i].offset);
        cr_expect((err.hint[0] != '\0') == (code == HDX_NOT_FOUND));
    }
    sum[20] ^= 1;
    hdx_error err = { 0 };
    cr_expect(hdx_decode_sum((hdx_view){ sum, 48 }, identity, &size, &crc, &err) == HDX_DAMAGED);
    cr_expect(strncmp(err.message, "checksum is ", 12) == 0 && err.offset == 44);
}

/* ---- names get numbers ---- */
Test(refused, no_text_gets_two_numbers)
{
    enum { MOST = 5000 };
    static char     text[2][MOST][24];
    hdx_mem         mem = { 0 };
    hdx_text_table *t = malloc(sizeof *t);
    uint32_t        number;
    hdx_text_table_init(t, &mem);
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i < MOST; i++) {
            (void)snprintf(text[round][i], sizeof text[round][i], "%.*s%u", (int)(i % 17), "abcdefghijklmnopq", i);
            const hdx_text one = { text[round][i], (uint32_t)strlen(text[round][i]) };
            cr_assert(hdx_text_number(t, one, &number, NULL) == HDX_OK);
            cr_assert(number == i, "%u: %u", i, number); /* in the order of first sight, whatever its place in memory */
            cr_assert(hdx_text_number(t, one, &number, NULL) == HDX_OK && number == i);
            if (round == 0) {
                uint64_t slots = 1024;
                while (slots < 2 * (uint64_t)(i + 1))
                    slots *= 2;
                cr_assert(t->slot_count == slots, "%u texts: %llu slots", i + 1, (unsigned long long)t->slot_count);
            }
        }
    cr_expect(t->count == MOST);
    const hdx_text part = { text[0][4000], 3 }, none = { NULL, 0 }, empty = { "", 0 };
    cr_expect(hdx_text_number(t, part, &number, NULL) == HDX_OK && number == MOST); /* the same place, another length */
    cr_expect(hdx_text_number(t, none, &number, NULL) == HDX_OK && number == MOST + 1);
    cr_expect(hdx_text_number(t, empty, &number, NULL) == HDX_OK && number == MOST + 1);
    cr_expect(hdx_text_number(t, none, &number, NULL) == HDX_OK && number == MOST + 1);
    hdx_text_table_free(t);
    cr_expect(mem.used == 0);
    free(t);
}
