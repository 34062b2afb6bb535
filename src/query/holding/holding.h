/*
 * holding.h - what remains reachable without some objects (mark.c), what does not, by class (gone.c), what groups of
 * objects keep alive (tops.c).
 */
#ifndef HDX_QUERY_HOLDING_HOLDING_H
#define HDX_QUERY_HOLDING_HOLDING_H

#include "query/query.h"

/* ---- sets (bit sets over ids) ---- */
/*
 * Marks what the GC roots reach without entering `without` (MAT 6.4). REQUIRES: `seen` has hdx_graph_objects bits, all
 * zero. Afterwards the bits of `without` are clear in it. Both are borrowed.
 */
hdx_code hdx_mark(const hdx_query *q, const uint64_t *without, uint64_t *seen, hdx_error *err);
/* Same as hdx_query_retained_set for the objects in `set`. */
hdx_code hdx_retained_bits(const hdx_query *q, const uint64_t *set, uint64_t *gone, hdx_error *err);
typedef struct hdx_marking {  /* all borrowed */
    const uint64_t *without;  /* NULL: none */
    unsigned        no_roots; /* bit t: roots of this hdx_root_type are ignored */
    /*
     * For these objects `follow` determines the references: it calls `reach` for each, as long as that returns HDX_OK.
     * Several threads call it; NULL: none.
     */
    const uint64_t *checked;
    hdx_code (*follow)(void *context, hdx_id from, hdx_code (*reach)(void *reached, hdx_id to), void *reached,
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
    bool          of_weak;              /* whether the two sums below are known */
    uint64_t      weakly, but_for_weak; /* in bytes: see hdx_gone_document_weak */
    hdx_mem      *mem;
} hdx_gone;
enum { HDX_GONE_COLUMNS = 3 };
extern const hdx_column hdx_gone_columns[HDX_GONE_COLUMNS];
extern const hdx_column hdx_gone_document[1];
extern const hdx_column hdx_gone_document_weak[1]; /* includes what depends on soft and weak references */
/* Opens empty sums. The caller closes them, on failure, too. */
hdx_code hdx_gone_open(hdx_ask *ask, hdx_gone *out, hdx_error *err);
void     hdx_gone_close(hdx_gone *s);
void     hdx_gone_add(hdx_gone *s, uint32_t number, uint64_t shallow);
hdx_code hdx_gone_unreached(hdx_ask *ask, const hdx_marking *how, hdx_gone *s, hdx_error *err); /* live objects only */
/* `seen`: a bit set indexed by id, of live objects only */
hdx_code hdx_gone_not_in(hdx_ask *ask, const uint64_t *seen, hdx_gone *s, hdx_error *err);
/* Returns the rows and takes ownership of s. */
hdx_code hdx_gone_rows(hdx_ask *ask, hdx_gone *s, const char *title, hdx_rows **out, hdx_error *err);

/* ---- tops.c ---- */
/*
 * Adds to retained[group] what a group of objects keeps alive: the retained sizes of its objects that are not dominated
 * by another one of the group (MAT 6.6). `members`: pairs of object and group, in ascending order, each object once.
 */
hdx_code hdx_groups_retained(hdx_ask *ask, const hdx_pair *members, uint64_t count, uint64_t groups, uint64_t *retained,
                             hdx_error *err);

/* ---- questions, with their options as arguments ---- */
/* Dominators below one object, or NULL: at the top level. depth 1: the children. */
enum { HDX_DOMINATED_CLASS_COLUMNS = 5 };
extern const hdx_column hdx_dominated_class_columns[HDX_DOMINATED_CLASS_COLUMNS]; /* of the rows by class */
hdx_code hdx_query_dominators(const hdx_query *q, hdx_by by, const hdx_id *of, unsigned depth, hdx_rows **out,
                              hdx_error *err);
/* The retained set of several objects together (doc/mat.md 6.4). */
hdx_code hdx_query_retained(const hdx_query *q, const hdx_id *ids, size_t count, hdx_rows **out, hdx_error *err);
/*
 * Computes the objects of that set: bit i % 64 of gone[i / 64] is object i. Writes (hdx_graph_objects + 63) / 64 words.
 * The given objects are included if they are live.
 */
hdx_code hdx_query_retained_set(const hdx_query *q, const hdx_id *ids, size_t count, uint64_t *gone, hdx_error *err);
/*
 * The set of all live instances of the classes of a pattern, without class objects, and without subclasses unless
 * requested.
 */
hdx_code hdx_query_retained_class(const hdx_query *q, const char *class_pattern, bool subclasses, hdx_rows **out,
                                  hdx_error *err);

#endif
