/* views.h - views of an index: what they leave out. */
#ifndef HDX_QUERY_VIEWS_H
#define HDX_QUERY_VIEWS_H

#include "query/query.h"

#define HDX_VIEW_FIELDS 64u
typedef struct hdx_view_spec {
    char           text[HDX_VIEW_SPEC_SIZE]; /* what means the same has the same text */
    uint32_t       roots;                    /* types of roots that do not count: 1 << hdx_root_type */
    unsigned       exclude;                  /* HDX_EXCLUDE_... */
    char          *fields[HDX_VIEW_FIELDS];  /* CLASS#FIELD; point into names */
    size_t         field_count, used;
    char           names[HDX_VIEW_SPEC_SIZE];
    hdx_jvm_layout layout; /* the rules that sizes follow */
} hdx_view_spec;           /* stays where it was read */
/* "-roots:TYPE,TYPE -refs:weak,soft -field:CLASS#FIELD layout:NAME": HDX_USAGE says which word is none. */
hdx_code hdx_view_spec_read(const char *text, hdx_view_spec *out, hdx_error *err);
typedef struct hdx_view_pairs { /* source and target, sorted, each once */
    hdx_mem  *mem;
    hdx_pair *at;
    uint64_t  count, capacity;
} hdx_view_pairs;
/*
 * References between objects of the index that do not hold in such a view. HDX_BAD_DUMP where the dump is not at hand
 * and has to be asked which field holds one.
 */
hdx_code hdx_view_cuts(const hdx_query *q, const hdx_view_spec *spec, hdx_view_pairs *out, hdx_error *err);
void     hdx_view_pairs_drop(hdx_view_pairs *p);

#endif
