/* holder_groups.h - groups of holders: threads of one pool, static fields of one class, roots of one type. */
#ifndef HDX_QUERY_HOLDING_HOLDER_GROUPS_H
#define HDX_QUERY_HOLDING_HOLDER_GROUPS_H

#include "query/holding/flow.h"

typedef struct hdx_holder_groups {
    uint32_t *of; /* group number of each holder; group 0 is that of holder 0 */
    /* name of each group: "http-worker-#", "JNI global"; empty for fields and for threads without a name */
    hdx_text *names;
    uint32_t  count;
} hdx_holder_groups;
/*
 * Groups all holders of a flow. Threads without a name, also because the dump is missing, are grouped by their class.
 * All memory is the query's.
 */
hdx_code hdx_holder_groups_find(hdx_ask *ask, const hdx_holder *holders, uint64_t count, hdx_holder_groups *out,
                                hdx_error *err);

#endif
