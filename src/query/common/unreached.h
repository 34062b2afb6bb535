/* unreached.h - unreachable objects that are most likely not garbage, and what a dump lacks to decide it. */
#ifndef HDX_QUERY_COMMON_UNREACHED_H
#define HDX_QUERY_COMMON_UNREACHED_H

#include "query/query.h"

typedef enum hdx_unreached_kind {
    HDX_UNREACHED_GARBAGE,     /* no rule applies to it */
    HDX_UNREACHED_FILLER,      /* an array with which a collector filled dead space */
    HDX_UNREACHED_CLASS_FIELD, /* a field of java.lang.Class refers to it, which HotSpot dumps lack */
    HDX_UNREACHED_ARCHIVE,     /* the JVM keeps it for its archive of class data (CDS) */
    HDX_UNREACHED_KINDS
} hdx_unreached_kind;

/* Returns "garbage", "filler", "class field" or "archive". */
const char *hdx_unreached_name(hdx_unreached_kind kind);

typedef struct hdx_unreached {
    uint64_t  objects[HDX_UNREACHED_KINDS], bytes[HDX_UNREACHED_KINDS];
    uint64_t *bits[HDX_UNREACHED_KINDS]; /* bits over ids; NULL: there are none; always NULL for garbage */
    uint64_t  words;
    hdx_mem  *mem;
} hdx_unreached;

/* Classifies all unreachable objects. REQUIRES: a complete index. On failure there is nothing to close. */
hdx_code           hdx_unreached_open(hdx_ask *ask, hdx_unreached *out, hdx_error *err);
void               hdx_unreached_close(hdx_unreached *u);
hdx_unreached_kind hdx_unreached_kind_of(const hdx_unreached *u, hdx_id id);

/*
 * Returns whether the dump has stacks of threads, but neither locals nor JNI globals. The serviceability agent (jhsdb
 * jmap) writes such dumps. Objects that are only reachable from locals count as unreachable there.
 */
bool hdx_lacks_locals(const hdx_graph_summary *s);
/*
 * Returns the qualification of "no GC root reaches it" for an object of this kind: a clause without a full stop. NULL:
 * none.
 */
const char *hdx_unreached_reservation(const hdx_graph_summary *s, hdx_unreached_kind kind);

#endif
