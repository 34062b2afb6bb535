/*
 * dominator_groups.h - the objects at one level of the dominator tree, grouped by class, package, loader, owner or
 * origin (dominators --by).
 */
#ifndef HDX_QUERY_HOLDING_DOMINATOR_GROUPS_H
#define HDX_QUERY_HOLDING_DOMINATOR_GROUPS_H

#include "query/holding/children.h"
#include "query/holding/holding.h"

/* Columns of the rows by class, package, loader and origin, and of those by owner; the last one is `inside`. */
enum {
    HDX_DOMINATOR_GROUP_COLUMNS = HDX_DOMINATED_CLASS_COLUMNS + 1,
    HDX_DOMINATOR_OWNER_COLUMNS = HDX_DOMINATOR_GROUP_COLUMNS + 1
};
extern const hdx_column hdx_dominator_class_columns[HDX_DOMINATOR_GROUP_COLUMNS];
extern const hdx_column hdx_dominator_package_columns[HDX_DOMINATOR_GROUP_COLUMNS];
extern const hdx_column hdx_dominator_loader_columns[HDX_DOMINATOR_GROUP_COLUMNS];
extern const hdx_column hdx_dominator_origin_columns[HDX_DOMINATOR_GROUP_COLUMNS];
extern const hdx_column hdx_dominator_owner_columns[HDX_DOMINATOR_OWNER_COLUMNS];

/* Share of `total` bytes in percent; 0 if the total is 0. */
static inline hdx_cell hdx_dominated_percent(uint64_t bytes, double total)
{
    return hdx_cell_real(total > 0 ? 100.0 * (double)bytes / total : 0.0);
}

/*
 * Groups what `of` immediately dominates (HDX_VIRTUAL_ROOT: the top of the tree) by the key of the options. `total`:
 * live bytes. REQUIRES: the key is the class, package, loader, owner or origin.
 */
hdx_code hdx_dominator_groups(const hdx_ask *ask, hdx_id of, const hdx_dominators_options *options, double total,
                              hdx_rows **out, hdx_error *err);

#endif
