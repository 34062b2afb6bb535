/*
 * suspects.h - what the files of the question `suspects` share.
 *
 *   suspects.c       which objects and groups are suspects; their order, problems, rows and documents
 *   accumulation.c   where it accumulates, and what
 *   keywords.c       names to search for: classes, loaders, frames
 *   suspect_words.c  the sentence a person needs
 */
#ifndef HDX_QUERY_SUSPECTS_H
#define HDX_QUERY_SUSPECTS_H

#include "query/query.h"
#include "query/common/contents.h"
#include "query/common/dump_only.h"
#include "query/paths/paths.h"
#include "query/sets/exclude.h"

#define HDX_SUSPECT_SUMS  10u    /* classes that are told of those that accumulate */
#define HDX_SUSPECT_DEPTH 1000u  /* steps after which there is no accumulation point (MAT 7.1) */
#define HDX_SUSPECT_PATHS 10000u /* members of a group whose paths are followed (MAT 7.1) */

typedef struct hdx_class_sum {
    uint32_t number;
    uint64_t objects, bytes;
} hdx_class_sum;

typedef struct hdx_suspect {
    hdx_id        object; /* HDX_NO_ID: it is a group */
    uint32_t      number; /* class of the object, or of those of the group */
    uint64_t      objects, shallow, bytes;
    hdx_id        point;   /* HDX_NO_ID: none */
    hdx_ids       chain;   /* of an object: what dominates what, from it to the point, or as far as that was followed */
    hdx_ids       members; /* of a group: those whose paths are followed */
    hdx_class_sum sums[HDX_SUSPECT_SUMS]; /* what accumulates, the most bytes first */
    unsigned      sum_count;
    uint64_t      path;      /* its place among the paths; HDX_NO_ID: none */
    bool          only_weak; /* without the excluded references nothing holds it: its path has one */
    unsigned      problem;   /* from 1; suspects of one number have paths from one root */
} hdx_suspect;

typedef struct hdx_suspects {
    hdx_ask       ask;
    hdx_excludes  x;         /* Reference.referent, Finalizer.unfinalized, Runtime.<Unfinalized> (MAT 7.5) */
    double        drop;      /* part of its parent below which a child is a drop */
    unsigned      share;     /* percent of the paths of a group that lead through its accumulation point */
    uint64_t      total;     /* live bytes, without what exists in the dump only */
    uint64_t      threshold; /* what keeps more bytes is a suspect by itself, and of no group (MAT 7.1) */
    hdx_dump_only only;      /* is no suspect, and no part of one */
    hdx_suspect  *at;
    uint64_t      count, capacity;
    hdx_paths     paths;
    /* sums by class number, zero between two uses, and the numbers that were used */
    hdx_class_sum *sums;
    uint32_t      *used, used_count, classes;
    /* what collections hold; an index alone does not know fields */
    bool              has_contents;
    hdx_layouts       layouts;
    hdx_bound_layouts bound;
    hdx_contents      contents;
} hdx_suspects;

/* ---- accumulation.c ---- */
/* The point of an object (MAT 7.4) or of a group (MAT 7.5). */
hdx_code hdx_suspect_point(hdx_suspects *s, hdx_suspect *of, hdx_error *err);
/* What accumulates: dominated by the point; of a group without one by its members, of a chain by the object. */
hdx_code hdx_suspect_sums(hdx_suspects *s, hdx_suspect *of, hdx_error *err);
/* How many elements a collection has, as `collections` says it, and of what class those are that keep most. */
typedef struct hdx_suspect_values {
    bool          known; /* else nothing is */
    uint64_t      count;
    hdx_class_sum value; /* objects 0: none of them is an object */
} hdx_suspect_values;
bool     hdx_suspect_is_collection(const hdx_suspects *s, hdx_id id); /* of known layout */
hdx_code hdx_suspect_elements(hdx_suspects *s, hdx_id collection, hdx_suspect_values *out, hdx_error *err);

/* ---- keywords.c ---- */
hdx_code hdx_suspect_keywords(hdx_suspects *s, const hdx_suspect *of, hdx_arena *arena, hdx_cell *out, hdx_error *err);

/* ---- suspect_words.c ---- */
/* The name of its class; of a class object that of the class it is. */
hdx_text        hdx_suspect_class(hdx_graph *g, hdx_id id);
hdx_text        hdx_suspect_own_class(hdx_graph *g, hdx_id id);                 /* of a class object java.lang.Class */
const hdx_path *hdx_suspect_path(const hdx_suspects *s, const hdx_suspect *of); /* NULL: it has none */
hdx_code hdx_suspect_sentence(hdx_suspects *s, const hdx_suspect *of, hdx_arena *arena, hdx_cell *out, hdx_error *err);

/* Suspects of a leak (doc/mat.md 7): extras "suspects" and "problems". Percents; 0: as in MAT. */
typedef struct hdx_suspect_options {
    unsigned threshold; /* of the live bytes: what keeps more is a suspect; 10 */
    unsigned drop;      /* of what an object keeps: where no child has that part, it accumulates; 70 */
    unsigned share;     /* of a group's paths: more than that lead through its accumulation point; 80 */
} hdx_suspect_options;
hdx_code hdx_query_suspects(const hdx_query *q, const hdx_suspect_options *options, hdx_rows **out,
                            hdx_error *err); /* options NULL: as in MAT */

#endif
