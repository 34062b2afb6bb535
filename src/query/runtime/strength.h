/*
 * strength.h - live objects of java.lang.ref: their referents, and how strongly objects are reachable.
 *
 *     hdx_strengths s;
 *     hdx_code code = hdx_strengths_open(&ask, &s, err);
 *     for (uint64_t i = 0; code == HDX_OK && i < s.count; i++)
 *         if (hdx_strength_of(&s, s.at[i].referent) == HDX_SOFT) ...      nothing stronger leads to it
 *
 * The strength of an object is the best over all paths from a GC root, where the strength of a path is that of its
 * weakest reference. The field `referent` has the strength of its class; all other references are strong, and so is a
 * referent to which another field of the same reference object refers, too. FinalizerReference.zombie of Android counts
 * as a referent.
 */
#ifndef HDX_QUERY_STRENGTH_H
#define HDX_QUERY_STRENGTH_H

#include "query/query.h"

#include "base/list.h"
#include "base/map.h"

typedef enum hdx_strength { HDX_STRONG, HDX_SOFT, HDX_WEAK, HDX_FINAL, HDX_PHANTOM, HDX_STRENGTHS } hdx_strength;
/* The last name is for objects that are not reachable, as in a view of the index. */
extern const char *const hdx_strength_names[HDX_STRENGTHS + 1];

typedef struct hdx_reference {
    hdx_id       id, referent; /* referent HDX_NO_ID: cleared, unknown or no object */
    hdx_strength kind;         /* never HDX_STRONG */
    bool         cleared;      /* the referent is null */
    bool         unknown;      /* the dump lacks the referent */
    bool         also;         /* another field of the reference object refers to it strongly */
} hdx_reference;
typedef struct hdx_weakly { /* an object that is not strongly reachable */
    hdx_id       id;
    hdx_strength strength;
} hdx_weakly;
typedef struct hdx_strengths {
    hdx_ask             *ask;
    hdx_reference       *at;                       /* sorted by id */
    uint64_t             count, capacity, unknown; /* unknown: number of references whose referent the dump lacks */
    hdx_map              places;                   /* id of a reference -> its index */
    HDX_LIST(hdx_weakly) weak;                     /* sorted by id */
    uint64_t             objects[HDX_STRENGTHS], bytes[HDX_STRENGTHS]; /* of `weak` */
} hdx_strengths;

hdx_code     hdx_strengths_open(hdx_ask *ask, hdx_strengths *out, hdx_error *err);
void         hdx_strengths_close(hdx_strengths *s);              /* frees the memory before the question ends */
hdx_strength hdx_strength_of(const hdx_strengths *s, hdx_id id); /* HDX_STRENGTHS: not reachable */
/* Finds the references only: `weak` and the sums are not computed. */
hdx_code hdx_references_open(hdx_ask *ask, hdx_strengths *out, hdx_error *err);

#endif
