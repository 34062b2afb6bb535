/* objects.h - questions about single objects, their references and the whole heap, with their options as arguments. */
#ifndef HDX_QUERY_OBJECTS_H
#define HDX_QUERY_OBJECTS_H

#include "query/query.h"

hdx_code hdx_query_info(const hdx_query *q, hdx_rows **out,
                        hdx_error *err); /* extra "info"; rows with key and value for tables */
hdx_code hdx_query_object(const hdx_query *q, const hdx_id *ids, size_t count, uint64_t elements, hdx_rows **out,
                          hdx_error *err);
hdx_code hdx_query_objects(const hdx_query *q, const char *class_pattern, bool subclasses, hdx_rows **out,
                           hdx_error *err);
enum { HDX_REFS_COLUMNS = 7 };
extern const hdx_column hdx_refs_columns[HDX_REFS_COLUMNS]; /* of the rows, unless they are by class */
hdx_code hdx_query_refs(const hdx_query *q, hdx_id id, bool inbound, hdx_by by, hdx_rows **out, hdx_error *err);

#endif
