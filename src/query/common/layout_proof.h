/*
 * layout_proof.h - how the JVM laid objects out, as far as addresses and class records prove it.
 */
#ifndef HDX_QUERY_COMMON_LAYOUT_PROOF_H
#define HDX_QUERY_COMMON_LAYOUT_PROOF_H

#include "query/query.h"

/* What `sizes --layout` takes besides HDX_LAYOUT_NAMES: instances as class records state them. */
#define HDX_LAYOUT_STATED "stated"

typedef struct hdx_layout_proof {
    const char *layout; /* a choice of `sizes --layout`; NULL: sizes by the rules of MAT are not refuted */
    uint32_t    header; /* bytes of the header of an object; 0: unknown */
} hdx_layout_proof;
/* Looks at 1,048,576 objects at most. */
hdx_code hdx_layout_proof_of(hdx_ask *ask, hdx_layout_proof *out, hdx_error *err);

/*
 * Do class records state the size of instances in the heap, as those of native images do, and not the sum of their
 * fields? Then *header is the smallest header that the stated sizes leave room for. Not of Android's dumps, whose sizes
 * are the stated ones everywhere. mem: for a number per class; *out false where it refuses.
 */
hdx_code hdx_sizes_are_stated(const hdx_graph_summary *s, const hdx_class *classes, uint32_t count, hdx_mem *mem,
                              bool *out, uint32_t *header, hdx_error *err);

#endif
