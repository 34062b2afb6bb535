/*
 * children.h - the first children of objects that immediately dominate very many, and their sums by class, saved next
 * to the index by the first question that needs them.
 *
 * Example:
 *     hdx_children children;
 *     if ((code = hdx_children_open(ask, of, &hdx_children_saved, NULL, &children, err)) == HDX_OK && children.saved)
 *         for (uint64_t i = 0; i < children.count; i++) // children.first[i] is the i-th of children.objects
 *             ...
 *     hdx_children_close(&children, ask);
 */
#ifndef HDX_QUERY_HOLDING_CHILDREN_H
#define HDX_QUERY_HOLDING_CHILDREN_H

#include "query/query.h"

typedef struct hdx_child {
    hdx_id   id;
    uint64_t retained;
} hdx_child;

/* The order of children: by retained size, largest first (MAT 6.2; ties: by address). */
static inline bool hdx_child_precedes(const hdx_child *x, const hdx_child *y)
{
    return x->retained != y->retained ? x->retained > y->retained : x->id < y->id;
}

/*
 * Adds a child to the first `most` of those that were added: a heap with the last of them at the top. REQUIRES: `at`
 * has room for one more, or for `most`.
 */
void hdx_child_keep(hdx_child *at, uint64_t *count, uint64_t most, const hdx_child *c);
/* Sorts children, the first one first. */
void hdx_children_sort(hdx_child *at, uint64_t count);

/* What is saved. Tests use smaller numbers. */
typedef struct hdx_children_bounds {
    uint64_t from; /* nothing is saved for objects with fewer children */
    uint64_t each; /* first children of all classes together, and at most as many of each class */
    uint64_t all;  /* first children of the classes, in total: if they are more, fewer of each class are saved */
} hdx_children_bounds;
extern const hdx_children_bounds hdx_children_saved;

typedef struct hdx_children_sum {
    uint32_t number; /* of the class */
    uint64_t objects, shallow, retained;
} hdx_children_sum;

typedef struct hdx_children {
    bool              saved; /* false: the object has few children, and nothing else is set */
    hdx_children_sum *sums;  /* by number of the class; only classes with children */
    uint64_t          sum_count;
    hdx_id  *first; /* the first `count` children of all classes, or of the class that was asked for, in order */
    uint64_t count;
    uint64_t each;              /* with HDX_CHILDREN_OF_EACH: first children of each class, where it has so many */
    uint64_t objects, retained; /* of all these children, not only of the first */
    uint64_t others;            /* children of other classes */
} hdx_children;

/* In place of the number of a class: the first children of each class, one class after the other as in `sums`. */
#define HDX_CHILDREN_OF_EACH HDX_NO_CLASS

/*
 * Opens what is saved for `of` (HDX_VIRTUAL_ROOT: the top of the tree); if nothing is saved, or nothing sound, computes
 * and saves it. `class`: the number of a class, HDX_CHILDREN_OF_EACH, or NULL for all together. The caller closes it in
 * any case.
 */
hdx_code hdx_children_open(hdx_ask *ask, hdx_id of, const hdx_children_bounds *bounds, const uint32_t *class,
                           hdx_children *out, hdx_error *err);
void     hdx_children_close(hdx_children *c, hdx_ask *ask);

/* The question `dominators` with other bounds than hdx_children_saved (dominators.c). */
typedef struct hdx_dominators_options {
    hdx_by                     by;
    unsigned                   depth;  /* levels of the tree; 0: 1 */
    bool                       fold;   /* similar objects share a row */
    unsigned                   inside; /* first objects in each group; 0: none */
    const hdx_children_bounds *bounds;
} hdx_dominators_options;
hdx_code hdx_dominators_bounded(const hdx_query *q, const hdx_id *of, const hdx_dominators_options *options,
                                hdx_rows **out, hdx_error *err);

/* Computes everything that is saved again, and returns HDX_DAMAGED if it differs. */
hdx_code hdx_children_verify(const hdx_query *q, hdx_error *err);

#endif
