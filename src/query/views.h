/* views.h - views of an index: which references they ignore. */
#ifndef HDX_QUERY_VIEWS_H
#define HDX_QUERY_VIEWS_H

#include "query/query.h"

#define HDX_VIEW_FIELDS 64u
typedef struct hdx_view_spec {
    char           text[HDX_VIEW_SPEC_SIZE]; /* normalized: equal views have equal texts */
    uint32_t       roots;                    /* types of roots that are ignored: 1 << hdx_root_type */
    unsigned       exclude;                  /* HDX_EXCLUDE_... */
    char          *fields[HDX_VIEW_FIELDS];  /* CLASS#FIELD; point into names */
    size_t         field_count, used;
    char           names[HDX_VIEW_SPEC_SIZE];
    hdx_jvm_layout layout; /* the rules for shallow sizes */
} hdx_view_spec;           /* REQUIRES: it is not moved after hdx_view_spec_read */
/* Parses "-roots:TYPE,TYPE -refs:weak,soft -field:CLASS#FIELD layout:NAME". Returns HDX_USAGE with the invalid word. */
hdx_code hdx_view_spec_read(const char *text, hdx_view_spec *out, hdx_error *err);
typedef struct hdx_view_pairs { /* source and target, sorted, each pair once */
    hdx_mem  *mem;
    hdx_pair *at;
    uint64_t  count, capacity;
} hdx_view_pairs;
/*
 * Returns the references between objects of the index that a view ignores. Returns HDX_BAD_DUMP if the dump is needed
 * to find the field of a reference and is unavailable.
 */
hdx_code hdx_view_cuts(const hdx_query *q, const hdx_view_spec *spec, hdx_view_pairs *out, hdx_error *err);
void     hdx_view_pairs_drop(hdx_view_pairs *p);

#endif
