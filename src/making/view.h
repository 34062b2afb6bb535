/* view.h - builds and removes views of an index (view.c). */
#ifndef HDX_MAKING_VIEW_H
#define HDX_MAKING_VIEW_H

#include "base/base.h"
#include <heapdex/index.h>

typedef struct hdx_view_wanted {
    const char *name, *spec; /* REQUIRES: hdx_view_name_is_one(name); spec as for hdx_view_identity */
    uint32_t    roots;       /* types of roots that are ignored: 1 << hdx_root_type */
    /* references that are ignored: source, target; sorted, each once. The array is modified. */
    hdx_pair *cuts;
    uint64_t  cut_count;
    unsigned  layout;    /* hdx_jvm_layout: the rules for shallow sizes */
    uint8_t   index[16]; /* identity of the index in which the references were found */
} hdx_view_wanted;
/*
 * Builds views/NAME in the folder of a complete index, and replaces a view of that name. Path, steps, counts and bytes
 * in `report` are those of the view.
 */
hdx_code hdx_view_build(const hdx_index_options *options, const hdx_view_wanted *want, hdx_index_report *report,
                        hdx_error *err);
/* Removes a view. Returns HDX_NOT_FOUND if it does not exist. */
hdx_code hdx_view_remove(const hdx_index_options *options, const char *name, char *path, size_t path_size,
                         hdx_error *err);

#endif
