/* view.h - making and removing views of an index (view.c). */
#ifndef HDX_MAKING_VIEW_H
#define HDX_MAKING_VIEW_H

#include "base/base.h"
#include <heapdex/index.h>

typedef struct hdx_view_wanted {
    const char *name, *spec; /* the name is one (hdx_view_name_is_one); the spec as hdx_view_identity takes it */
    uint32_t    roots;       /* types of roots that do not count: 1 << hdx_root_type */
    hdx_pair   *cuts;        /* references that do not hold: source, target; sorted, each once. They are used up */
    uint64_t    cut_count;
    unsigned    layout;    /* hdx_jvm_layout: the rules that sizes follow */
    uint8_t     index[16]; /* identity of the index that they were found in */
} hdx_view_wanted;
/*
 * Makes views/NAME in the folder of a whole index, in place of one of that name. Of `report` path, steps, counts and
 * bytes are those of the view.
 */
hdx_code hdx_view_build(const hdx_index_options *options, const hdx_view_wanted *want, hdx_index_report *report,
                        hdx_error *err);
/* HDX_NOT_FOUND: there is none. */
hdx_code hdx_view_remove(const hdx_index_options *options, const char *name, char *path, size_t path_size,
                         hdx_error *err);

#endif
