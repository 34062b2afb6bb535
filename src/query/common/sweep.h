/*
 * sweep.h - work on a range of numbers, such as the ids of all objects, in pieces that threads take one after the
 * other, until all are done, one fails, or who asks wants no more.
 */
#ifndef HDX_QUERY_COMMON_SWEEP_H
#define HDX_QUERY_COMMON_SWEEP_H

#include "query/query.h"

/* [from, to) on one of the workers; what they find in common is theirs to guard. */
typedef hdx_code hdx_sweep_piece(void *context, uint64_t from, uint64_t to, unsigned worker, hdx_error *err);

typedef struct hdx_sweep_range { /* [0, count) in pieces of so many */
    uint64_t count, piece;
    unsigned workers;
    bool     near; /* they read records of the dump at rising positions (hdx_graph_near_begin) */
} hdx_sweep_range;

/* The error is the first of any worker. */
hdx_code hdx_sweep(const hdx_query *q, const hdx_sweep_range *r, hdx_sweep_piece *work, void *context, hdx_error *err);

#endif
