/* extras.h - objects that a JSON document has in addition to its rows, such as "total". */
#ifndef HDX_QUERY_COMMON_EXTRAS_H
#define HDX_QUERY_COMMON_EXTRAS_H

#include "query/query.h"

/*
 * Adds an object with one cell per member, as the document declares them. Has no effect unless `code`, the result of
 * the steps before, is HDX_OK. On failure the rows are closed and *rows is NULL.
 */
hdx_code hdx_extras_add(hdx_code code, hdx_rows **rows, const char *name, const hdx_column *members, unsigned count,
                        const hdx_cell *cells, hdx_error *err);
/* Same for unsigned numbers, at most HDX_EXTRAS_MOST. */
enum { HDX_EXTRAS_MOST = 12 };
hdx_code hdx_extras_add_numbers(hdx_code code, hdx_rows **rows, const char *name, const hdx_column *members,
                                unsigned count, const uint64_t *numbers, hdx_error *err);

#endif
