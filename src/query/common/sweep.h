/*
 * sweep.h - processes a range of numbers, such as the ids of all objects, in pieces on several threads. Stops when all
 * pieces are done, one fails, or the query is cancelled.
 */
#ifndef HDX_QUERY_COMMON_SWEEP_H
#define HDX_QUERY_COMMON_SWEEP_H

#include "query/query.h"

/* Processes [from, to) on one worker. The callback must lock what the workers share. */
typedef hdx_code hdx_sweep_piece(void *context, uint64_t from, uint64_t to, unsigned worker, hdx_error *err);

typedef struct hdx_sweep_range { /* [0, count) in pieces of `piece` */
    uint64_t count, piece;
    unsigned workers;
    bool     near; /* the callback reads records of the dump at ascending positions (hdx_graph_near_begin) */
} hdx_sweep_range;

/* Returns the first error of any worker. */
hdx_code hdx_sweep(const hdx_query *q, const hdx_sweep_range *r, hdx_sweep_piece *work, void *context, hdx_error *err);

#endif
