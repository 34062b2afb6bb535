/*
 * holding.h - what stays reachable without some objects (mark.c), what does not, by class (gone.c), what groups of
 * objects keep alive (tops.c).
 */
#ifndef HDX_QUERY_HOLDING_HOLDING_H
#define HDX_QUERY_HOLDING_HOLDING_H

#include "query/query.h"

/* ---- sets (bit sets over ids) ---- */
/*
 * Marks what the GC roots reach without entering `without` (MAT 6.4); `seen` holds hdx_graph_objects bits, all zero; on
 * return bits of `without` are clear in it. Both are borrowed.
 */
hdx_code hdx_mark(const hdx_query *q, const uint64_t *without, uint64_t *seen, hdx_error *err);
/* hdx_query_retained_set of the objects in `set`. */
hdx_code hdx_retained_bits(const hdx_query *q, const uint64_t *set, uint64_t *gone, hdx_error *err);
typedef struct hdx_marking {  /* all borrowed */
    const uint64_t *without;  /* NULL: none */
    unsigned        no_roots; /* bit t: of that hdx_root_type there are none */
    /* Of these `leave` says what they refer to: `reach` for each, as long as that is HDX_OK. Many threads; NULL: none.
     */
    const uint64_t *asked;
    hdx_code (*leave)(void *context, hdx_id from, hdx_code (*reach)(void *reached, hdx_id to), void *reached,
                      hdx_error *err);
    void *context;
} hdx_marking;
hdx_code hdx_mark_as(const hdx_query *q, const hdx_marking *how, uint64_t *seen, hdx_error *err);

/* ---- what would be free, by class (gone.c) ---- */
typedef struct hdx_gone_sum {
    uint32_t number;
    uint64_t objects, shallow;
} hdx_gone_sum;
typedef struct hdx_gone {
    hdx_gone_sum *at; /* by class number */
    uint32_t      classes;
    uint64_t      objects, bytes;
    bool          of_weak;              /* the two below are known */
    uint64_t      weakly, but_for_weak; /* bytes: see hdx_gone_document_weak */
    hdx_mem      *mem;
} hdx_gone;
enum { HDX_GONE_COLUMNS = 3 };
extern const hdx_column hdx_gone_columns[HDX_GONE_COLUMNS];
extern const hdx_column hdx_gone_document[1];
extern const hdx_column hdx_gone_document_weak[1]; /* with what soft and weak references decide */
hdx_code                hdx_gone_open(hdx_ask *ask, hdx_gone *out, hdx_error *err); /* closed on failure, too */
void                    hdx_gone_close(hdx_gone *s);
void                    hdx_gone_add(hdx_gone *s, uint32_t number, uint64_t shallow);
hdx_code hdx_gone_unreached(hdx_ask *ask, const hdx_marking *how, hdx_gone *s, hdx_error *err); /* live ones */
hdx_code hdx_gone_not_in(hdx_ask *ask, const uint64_t *seen, hdx_gone *s, hdx_error *err);      /* bits; live ones */
hdx_code hdx_gone_rows(hdx_ask *ask, hdx_gone *s, const char *title, hdx_rows **out, hdx_error *err); /* uses it up */

/* ---- tops.c ---- */
/*
 * What groups of objects keep alive: retained[second of a pair] grows by the retained sizes of the objects (first,
 * rising, each once) that are not below another of their group in the dominator tree (MAT 6.6).
 */
hdx_code hdx_groups_retained(hdx_ask *ask, const hdx_pair *members, uint64_t count, uint64_t groups, uint64_t *retained,
                             hdx_error *err);

/* ---- the questions, with their options as arguments ---- */
/* of: NULL for the top, or one object. depth 1: the children. */
hdx_code hdx_query_dominators(const hdx_query *q, hdx_by by, const hdx_id *of, unsigned depth, hdx_rows **out,
                              hdx_error *err);
/* Retained set of objects together (doc/mat.md 6.4). */
hdx_code hdx_query_retained(const hdx_query *q, const hdx_id *ids, size_t count, hdx_rows **out, hdx_error *err);
/*
 * The objects of that set: bit i % 64 of gone[i / 64] is object i; (hdx_graph_objects + 63) / 64 words are written, the
 * objects named included where they live.
 */
hdx_code hdx_query_retained_set(const hdx_query *q, const hdx_id *ids, size_t count, uint64_t *gone, hdx_error *err);
/* All live instances of the classes of a pattern, neither class objects nor subclasses unless asked. */
hdx_code hdx_query_retained_class(const hdx_query *q, const char *class_pattern, bool subclasses, hdx_rows **out,
                                  hdx_error *err);

#endif
