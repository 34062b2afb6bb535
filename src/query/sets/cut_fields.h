/*
 * cut_fields.h - which references of instances are excluded by rules about fields (cut_fields.c), for callers that need
 * that for all instances of a class; hdx_excludes_edge answers it for one reference.
 */
#ifndef HDX_QUERY_CUT_FIELDS_H
#define HDX_QUERY_CUT_FIELDS_H

#include "query/query.h"
#include "query/sets/exclude.h"

/* What the rules exclude from an instance. The reference to its class is never excluded. */
typedef enum hdx_cut_way {
    HDX_CUT_NOTHING,
    HDX_CUT_ALL,
    HDX_CUT_SOME, /* see hdx_cut_reader_read */
    /* see hdx_graph_named_refs: not all of its references are in fields, or there are too many or unusual ones */
    HDX_CUT_ASK
} hdx_cut_way;

#define HDX_CUT_MOST 64u /* most reference fields of an instance */
typedef struct hdx_cut_field {
    uint16_t offset;
    bool     cut, last; /* last: last field of its class */
} hdx_cut_field;
typedef struct hdx_cut_fields {
    hdx_graph          *g;
    hdx_mem            *mem;
    const hdx_excludes *rules; /* borrowed */
    uint32_t            classes;
    uint8_t            *way;   /* by class number: hdx_cut_way */
    uint32_t           *first; /* for HDX_CUT_SOME: the first of its fields, in the order of the dump */
    hdx_cut_field      *fields;
    uint64_t            count, capacity;
    uint32_t            width; /* size of an instance up to the last of these fields, at most */
    unsigned            most;  /* largest number of them in one class */
} hdx_cut_fields;
hdx_code hdx_cut_fields_open(hdx_ask *ask, const hdx_excludes *rules, hdx_cut_fields *out, hdx_error *err);
void     hdx_cut_fields_close(hdx_cut_fields *c); /* call it on failure, too; all zero is allowed */

typedef struct hdx_cut_reader { /* belongs to one thread */
    const hdx_cut_fields *c;
    hdx_instances        *records;
    uint8_t              *bytes;
    uint32_t             *have;
    hdx_addr             *addresses;
    hdx_id               *targets;
    uint32_t             *places; /* index of the referring instance among the ids */
    size_t                found;
} hdx_cut_reader;
hdx_code hdx_cut_reader_open(const hdx_cut_fields *c, hdx_cut_reader *out, hdx_error *err);
void     hdx_cut_reader_close(hdx_cut_reader *r); /* call it on failure, too; all zero is allowed */
/*
 * Sets bit k of a mask if the k-th reference after that to the class (hdx_graph_outbound, HDX_ALL) is excluded.
 * REQUIRES: at most HDX_RUN instances, of classes of HDX_CUT_SOME.
 */
hdx_code hdx_cut_reader_read(hdx_cut_reader *r, const hdx_id *ids, size_t n, uint64_t *masks, hdx_error *err);

#endif
