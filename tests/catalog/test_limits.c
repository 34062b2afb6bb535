/* test_limits.c - every number of a value at its limit and one above: whether it is read, the words and the place. */
#include "catalog/small_manifest.h"
#include "catalog/store.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

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
Test(limits, numbers_of_a_class_beyond_their_limits)
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
Test(limits, numbers_of_a_thread_beyond_their_limits)
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
Test(limits, numbers_of_heaps_and_counts_beyond_their_limits)
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
Test(limits, numbers_of_roots_beyond_their_limits)
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

Test(limits, takers_that_have_too_few_bytes)
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

Test(limits, numbers_of_the_manifest_beyond_their_limits)
{
    hdx_manifest m = small_manifest();
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
