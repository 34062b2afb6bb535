/* fields.h - reads fields of one object by name. */
#ifndef HDX_QUERY_COMMON_FIELDS_H
#define HDX_QUERY_COMMON_FIELDS_H

#include "query/query.h"

typedef struct hdx_fields { /* initialize with { 0 }; may be reused */
    hdx_graph *g;
    hdx_values v;
} hdx_fields;
/* Reads the fields of an instance or the statics of a class object. Empty for HDX_NO_ID or without the dump. */
hdx_code hdx_fields_read(hdx_fields *f, hdx_graph *g, hdx_id id, hdx_error *err);
hdx_code hdx_fields_statics(hdx_fields *f, hdx_graph *g, const char *class_name, hdx_error *err);
void     hdx_fields_close(hdx_fields *f);
/*
 * Returns the field that class_name declares; class_name NULL: that of any class, of several the topmost. NULL: no such
 * field, or its value is absent.
 */
const hdx_value *hdx_fields_value(const hdx_fields *f, const char *class_name, const char *name);
hdx_id hdx_fields_ref(const hdx_fields *f, const char *class_name, const char *name); /* HDX_NO_ID: null or no object */
bool   hdx_fields_number(const hdx_fields *f, const char *class_name, const char *name, int64_t *out);

#endif
