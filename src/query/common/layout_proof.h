/* layout_proof.h - derives the JVM's object layout from addresses and class records. */
#ifndef HDX_QUERY_COMMON_LAYOUT_PROOF_H
#define HDX_QUERY_COMMON_LAYOUT_PROOF_H

#include "query/query.h"

/* A choice of `sizes --layout` in addition to HDX_LAYOUT_NAMES: instance sizes as class records state them. */
#define HDX_LAYOUT_STATED "stated"

typedef struct hdx_layout_proof {
    const char *layout; /* a choice of `sizes --layout`; NULL: nothing contradicts sizes by MAT's rules */
    uint32_t    header; /* size of an object header in bytes; 0: unknown */
} hdx_layout_proof;
/* Examines at most 1,048,576 objects. */
hdx_code hdx_layout_proof_of(hdx_ask *ask, hdx_layout_proof *out, hdx_error *err);

/*
 * Returns whether class records state the size of instances in the heap, as those of native images do, rather than the
 * sum of their fields. *header is then the smallest header for which the stated sizes have room. False for Android
 * dumps, which state sizes everywhere. mem: for one number per class; *out is false if it refuses.
 */
hdx_code hdx_sizes_are_stated(const hdx_graph_summary *s, const hdx_class *classes, uint32_t count, hdx_mem *mem,
                              bool *out, uint32_t *header, hdx_error *err);

#endif
