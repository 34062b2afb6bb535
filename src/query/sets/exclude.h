/* exclude.h - rules that exclude references. */
#ifndef HDX_QUERY_SETS_EXCLUDE_H
#define HDX_QUERY_SETS_EXCLUDE_H

#include "query/query.h"

enum { HDX_EXCLUDE_WEAK = 1, HDX_EXCLUDE_SOFT = 2, HDX_EXCLUDE_PHANTOM = 4, HDX_EXCLUDE_FINALIZER = 8 };
typedef struct hdx_path_options {
    unsigned           exclude;        /* HDX_EXCLUDE_... */
    const char *const *exclude_fields; /* "CLASS#FIELD" */
    size_t             exclude_field_count;
    unsigned           paths;     /* paths per target, shortest first; 0: 1 */
    bool               merge;     /* rows are the merged tree of all paths, by class and reference */
    uint64_t           least;     /* with merge: branches with fewer targets share a row */
    bool               rows_only; /* no document for merged paths; `notice` reports which targets are unreachable */
    uint64_t           limit;     /* most paths, the first ones; 0: no limit */
} hdx_path_options;

#define HDX_RULES_MAX 64u
typedef struct hdx_excludes {
    hdx_graph  *g;
    hdx_mem    *mem;
    uint32_t    classes;
    uint64_t   *of_class; /* by class number: rules for its instances and for its class object */
    unsigned    count;
    hdx_arena   names;
    const char *field[HDX_RULES_MAX]; /* glob for names of references */
    const char *own[HDX_RULES_MAX];   /* the class whose own field is meant, not one of a subclass; NULL: any */
} hdx_excludes;
/* A value for `exclude`, for suspects (MAT 7.5): every referent of java.lang.ref, and the chain of finalizers. */
#define HDX_EXCLUDE_REFERENTS 256u
/*
 * Returns whether the class itself declares a field or static of this name. If not, its names are offered to `near`
 * (may be NULL); they are in `room`.
 */
struct hdx_nearest;
bool     hdx_has_field(const hdx_class *c, const char *name, struct hdx_nearest *near, char *room, size_t size);
hdx_code hdx_excludes_open(const hdx_query *q, const hdx_path_options *options, hdx_excludes *out, hdx_error *err);
void     hdx_excludes_close(hdx_excludes *x);
/*
 * Returns the rules for the references of `from`, one bit each: those of its class and, for a class object, those for
 * its statics.
 */
uint64_t hdx_excludes_rules(const hdx_excludes *x, hdx_id from);
/* Returns whether one of these rules excludes a reference. */
bool hdx_excludes_ref(const hdx_excludes *x, uint64_t rules, const hdx_named_ref *ref);
/* Sets *yes if every named reference from `from` to `to` is excluded (MAT 6.8). */
hdx_code hdx_excludes_edge(const hdx_excludes *x, hdx_id from, hdx_id to, bool *yes, hdx_error *err);
/* Same as hdx_graph_named_refs without excluded references. */
hdx_code hdx_excludes_visit(const hdx_excludes *x, hdx_id from, hdx_id only_target,
                            bool (*visit)(void *context, const hdx_named_ref *ref), void *context, hdx_error *err);
/* Returns the first reference from `from` to `to` that is not excluded, in MAT's order. */
hdx_code hdx_excludes_name(const hdx_excludes *x, hdx_id from, hdx_id to, hdx_named_ref *out, bool *found,
                           hdx_error *err);

#endif
