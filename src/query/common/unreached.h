/*
 * unreached.h - unreachable objects that are most likely no garbage, and what a dump lacks to decide it.
 */
#ifndef HDX_QUERY_COMMON_UNREACHED_H
#define HDX_QUERY_COMMON_UNREACHED_H

#include "query/query.h"

typedef enum hdx_unreached_kind {
    HDX_UNREACHED_GARBAGE,     /* no rule knows it */
    HDX_UNREACHED_FILLER,      /* an array that a collector wrote over dead space */
    HDX_UNREACHED_CLASS_FIELD, /* held by a field of java.lang.Class, which dumps of HotSpot lack */
    HDX_UNREACHED_ARCHIVE,     /* held by the JVM for its archive of class data (CDS) */
    HDX_UNREACHED_KINDS
} hdx_unreached_kind;

/* "garbage", "filler", "class field", "archive" */
const char *hdx_unreached_name(hdx_unreached_kind kind);

typedef struct hdx_unreached {
    uint64_t  objects[HDX_UNREACHED_KINDS], bytes[HDX_UNREACHED_KINDS];
    uint64_t *bits[HDX_UNREACHED_KINDS]; /* by id; NULL: there are none, and for garbage always */
    uint64_t  words;
    hdx_mem  *mem;
} hdx_unreached;

/* Tells all unreachable objects apart. REQUIRES a complete index. On failure nothing is left to close. */
hdx_code           hdx_unreached_open(hdx_ask *ask, hdx_unreached *out, hdx_error *err);
void               hdx_unreached_close(hdx_unreached *u);
hdx_unreached_kind hdx_unreached_kind_of(const hdx_unreached *u, hdx_id id);

/*
 * Does the dump have stacks of threads, but neither locals nor JNI globals? The serviceability agent (jhsdb jmap)
 * writes such dumps. What only locals hold counts as unreachable there.
 */
bool hdx_lacks_locals(const hdx_graph_summary *s);
/*
 * The reservation that belongs to "no GC root reaches it" for an object of that kind: a clause without a full stop.
 * NULL: none.
 */
const char *hdx_unreached_reservation(const hdx_graph_summary *s, hdx_unreached_kind kind);

#endif
