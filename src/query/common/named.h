/* named.h - collects the named references of one object. */
#ifndef HDX_QUERY_COMMON_NAMED_H
#define HDX_QUERY_COMMON_NAMED_H

#include "query/query.h"

typedef struct hdx_named {
    hdx_id       target; /* HDX_NO_ID: there is no object at the address */
    hdx_addr     address;
    hdx_ref_kind kind;
    uint32_t     owner;
    const char  *name; /* in the arena */
} hdx_named;
typedef struct hdx_named_list {
    hdx_named *at;
    uint64_t   count, capacity;
    hdx_arena  names;
    bool       refused; /* memory was refused */
} hdx_named_list;
/*
 * Replaces the content of the list with the references of an object. Without only_target, references to no object come
 * last. Returns HDX_BAD_DUMP as hdx_graph_named_refs does.
 */
hdx_code hdx_named_collect(hdx_named_list *list, hdx_graph *g, hdx_id id, hdx_id only_target, hdx_error *err);
void     hdx_named_drop(hdx_named_list *list);

#endif
