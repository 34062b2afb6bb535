/* beside.h - objects of a JSON document next to its rows, such as "total". */
#ifndef HDX_QUERY_COMMON_BESIDE_H
#define HDX_QUERY_COMMON_BESIDE_H

#include "query/query.h"

/*
 * Adds an object with one cell per member, as the document declares them. Has no effect unless `code`, the result of
 * the steps before, is HDX_OK. On failure the rows are closed and *rows is NULL.
 */
hdx_code hdx_beside(hdx_code code, hdx_rows **rows, const char *name, const hdx_column *members, unsigned count,
                    const hdx_cell *cells, hdx_error *err);
/* Same for unsigned numbers, at most HDX_BESIDE_MOST. */
enum { HDX_BESIDE_MOST = 12 };
hdx_code hdx_beside_numbers(hdx_code code, hdx_rows **rows, const char *name, const hdx_column *members, unsigned count,
                            const uint64_t *numbers, hdx_error *err);

#endif
