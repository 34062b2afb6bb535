/*
 * query.h - the questions. Each takes an open graph and its own options and yields rows (rows.h). Columns and extra
 * keys are the contract of the command line: they only grow.
 *
 * Ownership: *out is the caller's, closed with hdx_rows_close before the graph is closed.
 * Errors:    HDX_NOT_FOUND where an object or class named by the caller is not in the dump, HDX_USAGE for a malformed
 *            name or pattern, HDX_DAMAGED, HDX_LIMIT, HDX_CANCELLED.
 */
#ifndef HEAPDEX_QUERY_H
#define HEAPDEX_QUERY_H

#include <heapdex/graph.h>
#include <heapdex/progress.h>
#include <heapdex/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Common to all: which objects rows and counts include, and how to stop. */
typedef struct hdx_query {
    hdx_graph          *graph;
    hdx_refs_scope      scope;    /* HDX_LIVE by default */
    unsigned            threads;  /* 0: as many as processors */
    const hdx_progress *progress; /* may be NULL */
    hdx_whole           whole;    /* texts in rows: HDX_CUT by default; conditions on a cut text see that */
    bool sizes; /* a collection whose label would be null has "(size 17)" there, unless labels are asked about */
    /* Told what a person should know of the question, one line each; may be NULL. */
    void (*notice)(void *context, const char *line);
    void      *notice_context;
    hdx_wanted wanted; /* columns and bounds (rows.h); texts of bounds are read while the question is opened */
    /*
     * Conditions on fields of the objects that a set is described by, "size > 100", ".name ~ ^x" (as hdx_rows_where):
     * of `objects`, `path`, `retained` and `immediate_dominators`.
     */
    const char *const *fields;
    size_t             field_count;
    struct hdx_mem    *mem; /* a session's: what the question holds counts there (answer.h); NULL: nobody counts */
} hdx_query;
/*
 * The column `label` of rows that were made without (it was not wanted), of those that are left after where, sort and
 * limit. all_at_once: of every row before the first is given out (up to 4 million at a time), where a condition or an
 * order asks for labels. As shaping in rows.h.
 */
HDX_API hdx_code hdx_query_labels(const hdx_query *q, bool all_at_once, hdx_rows **rows, hdx_error *err);
/*
 * In the same way the column `field`, CLASS#FIELD: what holds the object in the column `reference`, or `key`, or
 * `address`, the first of these that there is.
 */
HDX_API hdx_code hdx_query_fields(const hdx_query *q, hdx_rows **rows, hdx_error *err);

typedef enum hdx_by {
    HDX_BY_NONE,
    HDX_BY_CLASS,
    HDX_BY_PACKAGE,
    HDX_BY_LOADER,
    HDX_BY_SUPERCLASS,
    HDX_BY_HEAP,
    HDX_BY_OBJECT,
    HDX_BY_TYPE,
    HDX_BY_OWNER
} hdx_by;

/*
 * Objects named as on the command line: 0x7f3a10, #1234, com.acme.Cache@0x7f3a10, class:com.acme.Cache, thread:main.
 * *ids is the caller's (hdx_ids_free, not free); in the order named, each once. HDX_NOT_FOUND names the first that is
 * not there.
 */
HDX_API hdx_code hdx_query_objects_named(const hdx_query *q, const char *const *names, size_t count, hdx_id **ids,
                                         size_t *id_count, hdx_error *err);
HDX_API void     hdx_ids_free(hdx_id *ids);
/*
 * Class numbers of a pattern: exact name, glob (* and ?), /regex/; with subclasses if asked. Where no class has the
 * name, it may be that of one class without its package (`notice` is told). None: HDX_NOT_FOUND with the nearest name
 * as hint; several without their packages: with some of them.
 */
HDX_API hdx_code hdx_query_classes_named(const hdx_query *q, const char *pattern, bool subclasses, uint32_t **numbers,
                                         size_t *count, hdx_error *err);
HDX_API void     hdx_numbers_free(uint32_t *numbers);

HDX_API hdx_code hdx_query_info(const hdx_query *q, hdx_rows **out,
                                hdx_error *err); /* extra "info"; rows key, value for tables */
HDX_API hdx_code hdx_query_histogram(const hdx_query *q, hdx_by by, const char *class_pattern, bool retained,
                                     hdx_rows **out, hdx_error *err);
/*
 * The same of all objects, from a table of classes alone (counts.h), which must outlive the rows; by: class, package,
 * loader or superclass.
 */
HDX_API hdx_code hdx_query_histogram_of(const hdx_class *classes, uint32_t count, hdx_by by, const char *class_pattern,
                                        hdx_rows **out, hdx_error *err);
/* of: NULL for the top, or one object. depth 1: the children. */
HDX_API hdx_code hdx_query_dominators(const hdx_query *q, hdx_by by, const hdx_id *of, unsigned depth, hdx_rows **out,
                                      hdx_error *err);
HDX_API hdx_code hdx_query_object(const hdx_query *q, const hdx_id *ids, size_t count, uint64_t elements,
                                  hdx_rows **out, hdx_error *err);
/*
 * What an object holds as a file of its own: as hdx_graph_content, and of an android.graphics.Bitmap whose pixels are
 * in the dump the picture as PNG. HDX_NOT_FOUND: it is nothing of that kind, or was stripped from the dump.
 */
HDX_API hdx_code hdx_query_content(const hdx_query *q, hdx_id id, hdx_put *put, void *context, hdx_content *what,
                                   hdx_error *err);
HDX_API hdx_code hdx_query_objects(const hdx_query *q, const char *class_pattern, bool subclasses, hdx_rows **out,
                                   hdx_error *err);
HDX_API hdx_code hdx_query_refs(const hdx_query *q, hdx_id id, bool inbound, hdx_by by, hdx_rows **out, hdx_error *err);

enum { HDX_EXCLUDE_WEAK = 1, HDX_EXCLUDE_SOFT = 2, HDX_EXCLUDE_PHANTOM = 4, HDX_EXCLUDE_FINALIZER = 8 };
typedef struct hdx_path_options {
    unsigned           exclude;        /* HDX_EXCLUDE_... */
    const char *const *exclude_fields; /* "CLASS#FIELD" */
    size_t             exclude_field_count;
    unsigned           paths;     /* per target, 0: 1; shortest first */
    bool               merge;     /* rows: the merged tree of all paths, by class and reference */
    bool               rows_only; /* of merged paths no document is made; `notice` is told what no root reaches */
    uint64_t           limit;     /* paths in all, the first ones; 0: no limit */
} hdx_path_options;
HDX_API hdx_code hdx_query_path(const hdx_query *q, const hdx_id *ids, size_t count, const hdx_path_options *options,
                                hdx_rows **out, hdx_error *err);
/* Retained set of objects together (doc/mat.md 6.4). */
HDX_API hdx_code hdx_query_retained(const hdx_query *q, const hdx_id *ids, size_t count, hdx_rows **out,
                                    hdx_error *err);
/*
 * The objects of that set: bit i % 64 of gone[i / 64] is object i; (hdx_graph_objects + 63) / 64 words are written, the
 * objects named included where they live.
 */
HDX_API hdx_code hdx_query_retained_set(const hdx_query *q, const hdx_id *ids, size_t count, uint64_t *gone,
                                        hdx_error *err);
/* All live instances of the classes of a pattern, neither class objects nor subclasses unless asked. */
HDX_API hdx_code hdx_query_retained_class(const hdx_query *q, const char *class_pattern, bool subclasses,
                                          hdx_rows **out, hdx_error *err);
HDX_API hdx_code hdx_query_roots(const hdx_query *q, hdx_by by, hdx_rows **out, hdx_error *err);
HDX_API hdx_code hdx_query_threads(const hdx_query *q, bool stacks, bool locals, hdx_rows **out, hdx_error *err);

/* Suspects of a leak (doc/mat.md 7): extras "suspects" and "problems". Percents; 0: as in MAT. */
typedef struct hdx_suspect_options {
    unsigned threshold; /* of the live bytes: what keeps more is a suspect; 10 */
    unsigned drop;      /* of what an object keeps: where no child has that part, it accumulates; 70 */
    unsigned share;     /* of a group's paths: more than that lead through its accumulation point; 80 */
} hdx_suspect_options;
HDX_API hdx_code hdx_query_suspects(const hdx_query *q, const hdx_suspect_options *options, hdx_rows **out,
                                    hdx_error *err); /* options NULL: as in MAT */

#ifdef __cplusplus
}
#endif

#endif
