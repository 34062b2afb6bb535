/*
 * cut_fields.h - which references of instances rules about fields leave out (cut_fields.c): for who asks that of all
 * instances of a class, where hdx_excludes_edge asks it of one reference.
 */
#ifndef HDX_QUERY_CUT_FIELDS_H
#define HDX_QUERY_CUT_FIELDS_H

#include "query/query.h"
#include "query/sets/exclude.h"

/* What rules leave out of an instance besides the reference to its class, which always stays. */
typedef enum hdx_cut_way {
    HDX_CUT_NOTHING,
    HDX_CUT_ALL,
    HDX_CUT_SOME, /* hdx_cut_reader_read tells */
    HDX_CUT_ASK   /* hdx_graph_named_refs tells: not all that it refers to is in fields, or these are many or odd */
} hdx_cut_way;

#define HDX_CUT_MOST 64u /* references in fields of an instance */
typedef struct hdx_cut_field {
    uint16_t offset;
    bool     cut, last; /* last: of its class */
} hdx_cut_field;
typedef struct hdx_cut_fields {
    hdx_graph          *g;
    hdx_mem            *mem;
    const hdx_excludes *rules; /* borrowed */
    uint32_t            classes;
    uint8_t            *way;   /* by class number: hdx_cut_way */
    uint32_t           *first; /* of HDX_CUT_SOME: the first of its fields, in the order of the dump */
    hdx_cut_field      *fields;
    uint64_t            count, capacity;
    uint32_t            width; /* bytes of an instance up to the last of them, at most */
    unsigned            most;  /* of them in one class */
} hdx_cut_fields;
hdx_code hdx_cut_fields_open(hdx_ask *ask, const hdx_excludes *rules, hdx_cut_fields *out, hdx_error *err);
void     hdx_cut_fields_close(hdx_cut_fields *c); /* on failure, too; all zero is nothing */

typedef struct hdx_cut_reader { /* of one thread */
    const hdx_cut_fields *c;
    hdx_instances        *records;
    uint8_t              *bytes;
    uint32_t             *have;
    hdx_addr             *addresses;
    hdx_id               *targets;
    uint32_t             *places; /* of who refers to it, among the ids */
    size_t                found;
} hdx_cut_reader;
hdx_code hdx_cut_reader_open(const hdx_cut_fields *c, hdx_cut_reader *out, hdx_error *err);
void     hdx_cut_reader_close(hdx_cut_reader *r); /* on failure, too; all zero is nothing */
/*
 * Of at most HDX_RUN instances of classes of HDX_CUT_SOME: bit k is set where the k-th reference behind that to the
 * class (hdx_graph_outbound, HDX_ALL) is left out.
 */
hdx_code hdx_cut_reader_read(hdx_cut_reader *r, const hdx_id *ids, size_t n, uint64_t *masks, hdx_error *err);

#endif
