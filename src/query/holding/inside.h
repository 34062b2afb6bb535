/*
 * inside.h - the first objects of each group of children in the dominator tree, and by class what each of them
 * immediately dominates (dominators --by ... --inside K).
 *
 * Example:
 *     hdx_inside inside = { 0 };
 *     if ((code = hdx_inside_open(&inside, ask, of, &wanted, &children, err)) == HDX_OK)
 *         code = hdx_inside_cell(&inside, group, arena, &cell, err);
 *     hdx_inside_close(&inside);
 */
#ifndef HDX_QUERY_HOLDING_INSIDE_H
#define HDX_QUERY_HOLDING_INSIDE_H

#include "query/holding/children.h"

#define HDX_INSIDE_MOST  100u /* objects of a group */
#define HDX_INSIDE_KEEPS 5u   /* classes of what an object dominates */

enum { HDX_INSIDE_MEMBERS = 6 };
extern const hdx_column hdx_inside_members[HDX_INSIDE_MEMBERS];
extern const hdx_column hdx_inside_class_members[HDX_INSIDE_MEMBERS + 1]; /* of groups of several classes */

/* All borrowed until hdx_inside_open returns. */
typedef struct hdx_inside_wanted {
    uint64_t        each;     /* first objects of a group: 1 to HDX_INSIDE_MOST */
    uint64_t        groups;   /* number of groups */
    const uint64_t *objects;  /* of each group: number of its objects; no more of them are used */
    const uint32_t *group_of; /* group of each number; numbers of no group have any value that is no group */
    uint32_t        numbers;  /* count of these */
    bool            mixed;    /* a group may have several classes: each object names its class */
    uint32_t (*number_of)(const void *context, hdx_id id); /* of an object; `numbers` or more: it has no group */
    const void *context;
} hdx_inside_wanted;

typedef struct hdx_inside {
    hdx_ask          *ask;
    bool              mixed;
    hdx_child        *at;            /* the first objects of all groups, one group after the other */
    uint64_t         *start, *count; /* of each group: where its objects begin, and how many were found */
    uint64_t          groups;
    hdx_children_sum *sums; /* by class number; all zero between two objects */
    uint32_t         *used, used_count, classes;
    uint64_t          seen; /* children of all walks */
} hdx_inside;

/*
 * Finds the first objects of each group: in `saved` if it was opened with HDX_CHILDREN_OF_EACH and has enough of them,
 * or else in one walk over all children of `of`. REQUIRES: with such children, numbers are those of classes, and
 * class objects have that of java.lang.Class; *s is zeroed; *ask outlives it. The caller closes it, on failure, too.
 */
hdx_code hdx_inside_open(hdx_inside *s, hdx_ask *ask, hdx_id of, const hdx_inside_wanted *wanted,
                         const hdx_children *saved, hdx_error *err);
void     hdx_inside_close(hdx_inside *s);
/*
 * Sets *out to the list of the first objects of a group, the one that retains most first: one walk over the children of
 * each. HDX_DAMAGED if all walks together met more children than there are objects. REQUIRES: called once per group.
 */
hdx_code hdx_inside_cell(hdx_inside *s, uint64_t group, hdx_arena *arena, hdx_cell *out, hdx_error *err);

#endif
