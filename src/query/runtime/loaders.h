/* loaders.h - lists class loaders and finds their names. */
#ifndef HDX_QUERY_RUNTIME_LOADERS_H
#define HDX_QUERY_RUNTIME_LOADERS_H

#include "query/query.h"

/* Describes a class loader: boot loader, java.net.URLClassLoader "plugin-13"; by its address if it has no name. */
hdx_code hdx_loader_cell(const hdx_query *q, hdx_addr address, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* A live class loader (loaders.c); lists are sorted by id. */
typedef struct hdx_loader {
    hdx_id   id;
    hdx_addr address;
    /* the first named module that it defines, in the order of ids; HDX_NO_ID: none */
    hdx_id module;
    /* live classes that it defined, their live instances, and the size of these */
    uint64_t classes, instances, shallow;
} hdx_loader;
typedef struct hdx_loaders {
    hdx_loader *at;
    uint64_t    count, capacity;
} hdx_loaders;
hdx_code    hdx_loaders_list(hdx_ask *ask, hdx_loaders *all, hdx_error *err); /* the caller drops it, on failure, too */
void        hdx_loaders_drop(hdx_loaders *all, hdx_mem *mem);
hdx_loader *hdx_loaders_find(const hdx_loaders *all, hdx_id id); /* NULL: not in the list */
/* Returns its name: its label, name, first URL or first module; null: none. */
hdx_code hdx_loader_name_cell(const hdx_query *q, const hdx_loader *l, hdx_arena *arena, hdx_cell *out, hdx_error *err);
hdx_code hdx_loader_parent_cell(hdx_graph *g, hdx_id id, hdx_cell *out, hdx_error *err);

#endif
