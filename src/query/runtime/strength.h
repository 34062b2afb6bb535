/*
 * strength.h - live objects of java.lang.ref: what they refer to, and how strongly the heap is held.
 *
 *     hdx_strengths s;
 *     hdx_code code = hdx_strengths_open(&ask, &s, err);
 *     for (uint64_t i = 0; code == HDX_OK && i < s.count; i++)
 *         if (hdx_strength_of(&s, s.at[i].referent) == HDX_SOFT) ...      nothing stronger leads to it
 *
 * The strength of an object is the best over all ways from a GC root of the weakest reference on the way. What the
 * field `referent` alone refers to is held by as much as its class says, everything else is strong; so is a referent
 * that another field of the same reference has, too. FinalizerReference.zombie of Android is a referent.
 */
#ifndef HDX_QUERY_STRENGTH_H
#define HDX_QUERY_STRENGTH_H

#include "query/query.h"

#include "base/list.h"
#include "base/map.h"

typedef enum hdx_strength { HDX_STRONG, HDX_SOFT, HDX_WEAK, HDX_FINAL, HDX_PHANTOM, HDX_STRENGTHS } hdx_strength;
extern const char *const hdx_strength_names[HDX_STRENGTHS + 1]; /* the last: not reachable, as in a view of the index */

typedef struct hdx_reference {
    hdx_id       id, referent; /* referent HDX_NO_ID: cleared, unknown or no object */
    hdx_strength kind;         /* never HDX_STRONG */
    bool         cleared;      /* it is null */
    bool         unknown;      /* the dump does not tell */
    bool         also;         /* another reference to it is strong */
} hdx_reference;
typedef struct hdx_weakly { /* an object that nothing strong holds */
    hdx_id       id;
    hdx_strength strength;
} hdx_weakly;
typedef struct hdx_strengths {
    hdx_ask             *ask;
    hdx_reference       *at;                       /* by id */
    uint64_t             count, capacity, unknown; /* unknown: the dump does not tell its referent */
    hdx_map              places;                   /* id of a reference -> its place */
    HDX_LIST(hdx_weakly) weak;                     /* by id */
    uint64_t             objects[HDX_STRENGTHS], bytes[HDX_STRENGTHS]; /* of `weak` */
} hdx_strengths;

hdx_code     hdx_strengths_open(hdx_ask *ask, hdx_strengths *out, hdx_error *err);
void         hdx_strengths_close(hdx_strengths *s); /* gives back what they hold before the question ends */
hdx_strength hdx_strength_of(const hdx_strengths *s, hdx_id id); /* HDX_STRENGTHS: it is not reachable */
/* Without the last question: references alone, nothing of what they hold. */
hdx_code hdx_references_open(hdx_ask *ask, hdx_strengths *out, hdx_error *err);

#endif
