/*
 * large.h - a dump of more than a MiB whose records are longer than what readers keep at hand, with the places of all
 * heads in it.
 */
#ifndef HDX_TESTS_HPROF_LARGE_H
#define HDX_TESTS_HPROF_LARGE_H

#include "surveyed.h"

typedef struct large {
    dump_maker *m;
    gm_bytes    bytes;
    size_t      heads[64]; /* of records and sub-records */
    unsigned    head_count;
} large;

static inline void large_head(large *l) { l->heads[l->head_count++] = (size_t)dump_maker_mark(l->m); }

static inline void large_between(large *l, uint8_t tag, const void *body, uint32_t len)
{
    dump_maker_segment(l->m);
    l->heads[l->head_count++] = (size_t)l->m->heap.len;
    dump_maker_between_record(l->m, tag, body, len);
}

/* The first sub-record of a segment: its own head, and that of the segment. */
static inline void large_segment(large *l)
{
    if (!l->m->whole)
        dump_maker_segment(l->m);
    large_head(l);
    if (!l->m->whole)
        l->heads[l->head_count - 1] = (size_t)l->m->heap.len;
}

static inline large large_make(unsigned id_size, bool whole)
{
    static const uint8_t zeros[400000] = { 0 };
    large                l = { .m = dump_maker_new(id_size) };
    dump_maker          *m = l.m;
    m->whole = whole;
    m->version = whole ? "1.0.1" : "1.0.3";
    const uint64_t object = make_heap(m, 2);
    if (!whole) {
        large_between(&l, HDX_TOP_ALLOC_SITES, zeros, 700);
        large_between(&l, HDX_TOP_CPU_SAMPLES, zeros, 330000);
    }
    large_segment(&l);
    (void)dump_maker_primitives(m, 'B', NULL, 150000);
    large_head(&l);
    dump_maker_heap_info(m, 'A', "app");
    large_head(&l);
    (void)dump_maker_class(m, "app/Late", object, "a:L b:S");
    large_segment(&l);
    (void)dump_maker_primitives(m, 'J', NULL, 40000);
    large_head(&l);
    (void)dump_maker_instance(m, object, NULL);
    large_segment(&l);
    (void)dump_maker_array(m, object, NULL, 70000);
    large_head(&l);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, object, 0, 0);
    large_head(&l);
    (void)dump_maker_primitives(m, 'C', NULL, 3);
    if (!whole) {
        large_between(&l, HDX_TOP_STRING, "12345678 of a string in the middle", 34);
        large_between(&l, HDX_TOP_CONTROL_SETTINGS, "123456", 6);
    }
    large_segment(&l);
    (void)dump_maker_array(m, object, NULL, 3);
    size_t         len;
    const uint8_t *at = dump_maker_bytes(m, &len);
    gm_put(&l.bytes, at, len);
    for (unsigned i = 0; i < l.head_count; i++)
        l.heads[i] += (size_t)dump_maker_heap_at(m);
    return l;
}

static inline void large_free(large *l)
{
    gm_free(&l->bytes);
    dump_maker_free(l->m);
}

#endif
