/* beside.h - what an answer says beside its rows: an object of the document, such as "total". */
#ifndef HDX_QUERY_COMMON_BESIDE_H
#define HDX_QUERY_COMMON_BESIDE_H

#include "query/query.h"

/*
 * A cell for each of the members, which are as declared in the document. code: of making the rows, or of what was said
 * beside them before; the rows are closed if this fails.
 */
hdx_code hdx_beside(hdx_code code, hdx_rows **rows, const char *name, const hdx_column *members, unsigned count,
                    const hdx_cell *cells, hdx_error *err);
/* The same of numbers, at most HDX_BESIDE_MOST. */
enum { HDX_BESIDE_MOST = 12 };
hdx_code hdx_beside_numbers(hdx_code code, hdx_rows **rows, const char *name, const hdx_column *members, unsigned count,
                            const uint64_t *numbers, hdx_error *err);

#endif
