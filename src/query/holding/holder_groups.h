/* holder_groups.h - which holders count as one: threads of one pool, static fields of one class, roots of one type. */
#ifndef HDX_QUERY_HOLDING_HOLDER_GROUPS_H
#define HDX_QUERY_HOLDING_HOLDER_GROUPS_H

#include "query/holding/flow.h"

typedef struct hdx_holder_groups {
    uint32_t *of;    /* of each holder: the number of its group; group 0 is that of holder 0 */
    hdx_text *names; /* of each group: "http-worker-#", "JNI global"; empty: of fields, of threads without a name */
    uint32_t  count;
} hdx_holder_groups;
/*
 * Finds the groups of all holders of a flow. Reads the names of threads, and does without where the dump is missing:
 * threads without a name are grouped by their class. All memory is the query's.
 */
hdx_code hdx_holder_groups_find(hdx_ask *ask, const hdx_holder *holders, uint64_t count, hdx_holder_groups *out,
                                hdx_error *err);

#endif
