/* loaders.h - class loaders: all of them, and what they are called. */
#ifndef HDX_QUERY_RUNTIME_LOADERS_H
#define HDX_QUERY_RUNTIME_LOADERS_H

#include "query/query.h"

/* A class loader in words: boot loader, java.net.URLClassLoader "plugin-13"; without a name its address. */
hdx_code hdx_loader_cell(const hdx_query *q, hdx_addr address, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* All live class loaders, by id (loaders.c). */
typedef struct hdx_loader {
    hdx_id   id;
    hdx_addr address;
    hdx_id   module;                      /* the first named one it defines, in the order of ids; HDX_NO_ID */
    uint64_t classes, instances, shallow; /* live classes it defined, their live instances, and the size of these */
} hdx_loader;
typedef struct hdx_loaders {
    hdx_loader *at;
    uint64_t    count, capacity;
} hdx_loaders;
hdx_code    hdx_loaders_list(hdx_ask *ask, hdx_loaders *all, hdx_error *err); /* to be dropped on failure, too */
void        hdx_loaders_drop(hdx_loaders *all, hdx_mem *mem);
hdx_loader *hdx_loaders_find(const hdx_loaders *all, hdx_id id); /* NULL: it is none of them */
/* What it is called: its label, name, first URL or first module; null: nothing. */
hdx_code hdx_loader_name_cell(const hdx_query *q, const hdx_loader *l, hdx_arena *arena, hdx_cell *out, hdx_error *err);
hdx_code hdx_loader_parent_cell(hdx_graph *g, hdx_id id, hdx_cell *out, hdx_error *err);

#endif
