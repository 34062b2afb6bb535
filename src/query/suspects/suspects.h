/*
 * suspects.h - shared by the files of the question `suspects`.
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

#define HDX_SUSPECT_SUMS  10u    /* classes that are listed of what accumulates */
#define HDX_SUSPECT_PATHS 10000u /* members of a group whose paths are followed (MAT 7.1) */

typedef struct hdx_class_sum {
    uint32_t number;
    uint64_t objects, bytes;
} hdx_class_sum;

typedef struct hdx_suspect {
    hdx_id   object; /* HDX_NO_ID: a group */
    uint32_t number; /* class of the object, or of the objects of the group */
    uint64_t objects, shallow, bytes;
    hdx_id   point; /* the accumulation point; HDX_NO_ID: none */
    /* of an object: the chain of dominated objects from it to the point, or as far as it was followed */
    hdx_ids       chain;
    hdx_ids       members;                /* of a group: those whose paths are followed */
    hdx_class_sum sums[HDX_SUSPECT_SUMS]; /* what accumulates, most bytes first */
    unsigned      sum_count;
    uint64_t      path;      /* index of its path; HDX_NO_ID: none */
    bool          only_weak; /* it is unreachable without the excluded references, so its path has one */
    unsigned      problem;   /* number of the problem, from 1; suspects of one problem have paths from one root */
} hdx_suspect;

typedef struct hdx_suspects {
    hdx_ask       ask;
    hdx_excludes  x;         /* Reference.referent, Finalizer.unfinalized, Runtime.<Unfinalized> (MAT 7.5) */
    double        drop;      /* share of its parent below which a child ends the chain */
    unsigned      share;     /* percent of the paths of a group that lead through its accumulation point */
    uint64_t      total;     /* live bytes, without objects that exist in the dump only */
    uint64_t      threshold; /* an object that retains more bytes is a suspect, and not part of a group (MAT 7.1) */
    hdx_dump_only only;      /* neither a suspect nor part of one */
    hdx_suspect  *at;
    uint64_t      count, capacity;
    hdx_paths     paths;
    /* sums by class number, all zero between two uses, and the numbers in use */
    hdx_class_sum *sums;
    uint32_t      *used, used_count, classes;
    /* content of collections; unknown without the dump */
    bool              has_contents;
    hdx_layouts       layouts;
    hdx_bound_layouts bound;
    hdx_contents      contents;
} hdx_suspects;

/* ---- accumulation.c ---- */
/* Finds the accumulation point of an object (MAT 7.4) or of a group (MAT 7.5). */
hdx_code hdx_suspect_point(hdx_suspects *s, hdx_suspect *of, hdx_error *err);
/*
 * Sums what accumulates: dominated by the point; of a group without a point by its members, of a chain by the object.
 */
hdx_code hdx_suspect_sums(hdx_suspects *s, hdx_suspect *of, hdx_error *err);
/* Number of elements of a collection, as in `collections`, and the class of those that retain most. */
typedef struct hdx_suspect_values {
    bool          known; /* false: the other members are unset */
    uint64_t      count;
    hdx_class_sum value; /* objects 0: no element is an object */
} hdx_suspect_values;
bool     hdx_suspect_is_collection(const hdx_suspects *s, hdx_id id); /* with a known layout */
hdx_code hdx_suspect_elements(hdx_suspects *s, hdx_id collection, hdx_suspect_values *out, hdx_error *err);

/* ---- keywords.c ---- */
hdx_code hdx_suspect_keywords(hdx_suspects *s, const hdx_suspect *of, hdx_arena *arena, hdx_cell *out, hdx_error *err);

/* ---- suspect_words.c ---- */
/* Returns the name of an object's class; of a class object the name of the class that it represents. */
hdx_text        hdx_suspect_class(hdx_graph *g, hdx_id id);
hdx_text        hdx_suspect_own_class(hdx_graph *g, hdx_id id);                 /* of a class object java.lang.Class */
const hdx_path *hdx_suspect_path(const hdx_suspects *s, const hdx_suspect *of); /* NULL: it has none */
hdx_code hdx_suspect_sentence(hdx_suspects *s, const hdx_suspect *of, hdx_arena *arena, hdx_cell *out, hdx_error *err);

/* Suspects of a leak (doc/mat.md 7), in extras "suspects" and "problems". All options are percentages; 0: as in MAT. */
typedef struct hdx_suspect_options {
    unsigned threshold; /* of the live bytes: an object that retains more is a suspect; 10 */
    unsigned drop;      /* of the retained size: if no child has this share, the object accumulates; 70 */
    unsigned share;     /* of a group's paths: more than this share lead through its accumulation point; 80 */
} hdx_suspect_options;
/* Finds suspects. options NULL: as in MAT. */
hdx_code hdx_query_suspects(const hdx_query *q, const hdx_suspect_options *options, hdx_rows **out, hdx_error *err);

#endif
