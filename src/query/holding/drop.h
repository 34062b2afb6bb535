/*
 * drop.h - the chain from an object down the dominator tree to where its bytes scatter, which is also how `suspects`
 * finds the accumulation point of an object (doc/mat.md 7.4).
 */
#ifndef HDX_QUERY_HOLDING_DROP_H
#define HDX_QUERY_HOLDING_DROP_H

#include "query/query.h"

#include "base/list.h"

#define HDX_DROP_SHARE 70u   /* percent of its parent's bytes that a child needs to continue the chain (MAT 7.4) */
#define HDX_DROP_STEPS 1000u /* steps after which the chain ends (MAT 7.1) */

/*
 * Finds the child of an object in the dominator tree that retains most; of equal ones, that with the lowest id. *child
 * HDX_NO_ID: it has none. `without` is not considered (HDX_NO_ID: all are). *seen counts the children of all calls,
 * because in a tree each object is the child of one other: HDX_DAMAGED if they are more than there are objects.
 */
hdx_code hdx_heaviest_child(hdx_ask *ask, hdx_id of, hdx_id without, uint64_t *seen, hdx_id *child, uint64_t *bytes,
                            hdx_error *err);
/* Counts one more child as hdx_heaviest_child does, and checks for cancellation. */
hdx_code hdx_count_child(hdx_ask *ask, uint64_t *seen, hdx_error *err);
/* Returns whether a child with these bytes continues the chain of a parent with `bytes`; share: from 0 to 1. */
static inline bool hdx_drop_continues(uint64_t below, uint64_t bytes, double share)
{
    return !((double)below / (double)bytes < share); /* continues if both are 0 */
}

/* Rows of `dominators --drop`: the steps from `of`, or from the GC roots (HDX_VIRTUAL_ROOT). */
enum { HDX_DROP_COLUMNS = 8 };
extern const hdx_column hdx_drop_columns[HDX_DROP_COLUMNS];
extern const hdx_column hdx_drop_document[1];
hdx_code                hdx_drop_rows(const hdx_query *q, hdx_id of, hdx_rows **out, hdx_error *err);

#endif
