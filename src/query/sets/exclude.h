/* exclude.h - references that are excluded, by rules. */
#ifndef HDX_QUERY_SETS_EXCLUDE_H
#define HDX_QUERY_SETS_EXCLUDE_H

#include "query/query.h"

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

#define HDX_RULES_MAX 64u
typedef struct hdx_excludes {
    hdx_graph  *g;
    hdx_mem    *mem;
    uint32_t    classes;
    uint64_t   *of_class; /* class number -> rules for its instances and for its class object */
    unsigned    count;
    hdx_arena   names;
    const char *field[HDX_RULES_MAX]; /* glob over names of references */
    const char *own[HDX_RULES_MAX]; /* NULL, or the class whose own field is meant: none that a class below declares */
} hdx_excludes;
/* Of HDX_EXCLUDE_..., for suspects (MAT 7.5): every referent of java.lang.ref, and the chain of finalizers. */
#define HDX_EXCLUDE_REFERENTS 256u
/* Has the class itself a field or static of that name? Else near (may be NULL) is offered those, kept in room. */
struct hdx_nearest;
bool     hdx_has_field(const hdx_class *c, const char *name, struct hdx_nearest *near, char *room, size_t size);
hdx_code hdx_excludes_open(const hdx_query *q, const hdx_path_options *options, hdx_excludes *out, hdx_error *err);
void     hdx_excludes_close(hdx_excludes *x);
/* Rules for the references that `from` holds, a bit each: those of its class, and of the class it is (its statics). */
uint64_t hdx_excludes_rules(const hdx_excludes *x, hdx_id from);
bool     hdx_excludes_ref(const hdx_excludes *x, uint64_t rules, const hdx_named_ref *ref); /* by one of them */
/* *yes: every named reference from `from` to `to` is excluded (MAT 6.8). */
hdx_code hdx_excludes_edge(const hdx_excludes *x, hdx_id from, hdx_id to, bool *yes, hdx_error *err);
/* hdx_graph_named_refs without what is excluded. */
hdx_code hdx_excludes_visit(const hdx_excludes *x, hdx_id from, hdx_id only_target,
                            bool (*visit)(void *context, const hdx_named_ref *ref), void *context, hdx_error *err);
/* The first reference from `from` to `to` that is not excluded, in MAT's order. */
hdx_code hdx_excludes_name(const hdx_excludes *x, hdx_id from, hdx_id to, hdx_named_ref *out, bool *found,
                           hdx_error *err);

#endif
