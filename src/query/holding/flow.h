/* flow.h - who holds what. */
#ifndef HDX_QUERY_HOLDING_FLOW_H
#define HDX_QUERY_HOLDING_FLOW_H

#include "base/list.h"
#include "query/query.h"

typedef enum hdx_holder_kind { HDX_HOLDER_NONE, HDX_HOLDER_STATIC, HDX_HOLDER_THREAD, HDX_HOLDER_ROOT } hdx_holder_kind;
typedef struct hdx_holder {
    hdx_holder_kind kind;
    bool            removed; /* the next search ignores it */
    hdx_id          from;    /* the class object, the thread, the root */
    hdx_id          to;      /* what a static field refers to; HDX_NO_ID */
    uint64_t        bytes;   /* of the objects that the last search came to by it first */
} hdx_holder;
typedef struct hdx_flow hdx_flow;
hdx_code                hdx_flow_open(hdx_ask *ask, hdx_flow **out, hdx_error *err);
hdx_holder             *hdx_flow_holders(hdx_flow *f, uint64_t *count); /* the flow's; the first is none */
/* What exists in the dump only (dump_only.h) is no holder and no part of the heap, and the caller is told. */
void hdx_flow_leave_out_dump_only(hdx_flow *f);
/* A search from the GC roots without the holders that are removed: what it reaches. */
hdx_code hdx_flow_run(hdx_flow *f, uint64_t *bytes, hdx_error *err);
bool     hdx_flow_reached(const hdx_flow *f, hdx_id id); /* by the last search */
/*
 * After such a search: the objects that it did not reach, by which sets of the removed holders lead there. `members`
 * are all holders that are removed, each with the bit of its set, at most 64 of them; the search reached their classes
 * and threads. HDX_LIMIT where there are more combinations than HDX_FLOW_SUMS. The sums are of the query's memory.
 */
#define HDX_FLOW_SUMS (1u << 20)
typedef struct hdx_flow_member {
    uint64_t holder; /* its place among the flow's */
    uint64_t bit;    /* one of 64 */
} hdx_flow_member;
typedef struct hdx_flow_sum {
    uint64_t bits; /* of the sets that lead there */
    uint64_t objects, bytes;
} hdx_flow_sum;
typedef HDX_LIST(hdx_flow_sum) hdx_flow_sums;
hdx_code hdx_flow_split(hdx_flow *f, const hdx_flow_member *members, uint64_t count, hdx_flow_sums *sums,
                        hdx_error *err);

#endif
