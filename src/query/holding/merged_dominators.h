/* merged_dominators.h - rows of the dominator tree merged by class path. */
#ifndef HDX_QUERY_HOLDING_MERGED_DOMINATORS_H
#define HDX_QUERY_HOLDING_MERGED_DOMINATORS_H

#include "query/query.h"

enum { HDX_MERGED_DOMINATOR_COLUMNS = 12 };
extern const hdx_column hdx_merged_dominator_columns[HDX_MERGED_DOMINATOR_COLUMNS];

/*
 * Returns the tree below an object, or that of the heap (HDX_VIRTUAL_ROOT). Reads the parameters `depth`, `least`,
 * `chains` and `reverse`. by: class, package or loader.
 */
hdx_code hdx_merged_dominators(const hdx_query *q, const hdx_arguments *a, hdx_by by, hdx_id of, hdx_rows **out,
                               hdx_error *err);

#endif
