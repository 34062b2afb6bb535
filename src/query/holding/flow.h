/* flow.h - which static fields, threads and roots keep which objects alive. */
#ifndef HDX_QUERY_HOLDING_FLOW_H
#define HDX_QUERY_HOLDING_FLOW_H

#include "base/list.h"
#include "query/query.h"

typedef enum hdx_holder_kind { HDX_HOLDER_NONE, HDX_HOLDER_STATIC, HDX_HOLDER_THREAD, HDX_HOLDER_ROOT } hdx_holder_kind;
typedef struct hdx_holder {
    hdx_holder_kind kind;
    bool            removed; /* the next search ignores it */
    hdx_id          from;    /* the class object, the thread, the root */
    hdx_id          to;      /* the object to which a static field refers; otherwise HDX_NO_ID */
    uint64_t        bytes;   /* size of the objects that the last search reached first from it */
} hdx_holder;
typedef struct hdx_flow hdx_flow;
hdx_code                hdx_flow_open(hdx_ask *ask, hdx_flow **out, hdx_error *err);
hdx_holder             *hdx_flow_holders(hdx_flow *f, uint64_t *count); /* owned by the flow; the first is none */
/*
 * Excludes objects that exist in the dump only (dump_only.h) from holders and from the heap, and reports that to
 * `notice`.
 */
void hdx_flow_exclude_dump_only(hdx_flow *f);
/* Searches from the GC roots without the removed holders. Returns the size of what it reaches. */
hdx_code hdx_flow_run(hdx_flow *f, uint64_t *bytes, hdx_error *err);
bool     hdx_flow_reached(const hdx_flow *f, hdx_id id); /* by the last search */
/*
 * Groups the objects that the last search did not reach by the set of removed holders that lead to them. `members` are
 * all removed holders, each with the bit of its set, at most 64 of them; REQUIRES: the search reached their classes and
 * threads. Returns HDX_LIMIT if there are more combinations than HDX_FLOW_SUMS. The sums are in the query's memory.
 */
#define HDX_FLOW_SUMS (1u << 20)
typedef struct hdx_flow_member {
    uint64_t holder; /* its index among the flow's holders */
    uint64_t bit;    /* one of 64 */
} hdx_flow_member;
typedef struct hdx_flow_sum {
    uint64_t bits; /* of the sets that lead to the objects */
    uint64_t objects, bytes;
} hdx_flow_sum;
typedef HDX_LIST(hdx_flow_sum) hdx_flow_sums;
hdx_code hdx_flow_split(hdx_flow *f, const hdx_flow_member *members, uint64_t count, hdx_flow_sums *sums,
                        hdx_error *err);

#endif
