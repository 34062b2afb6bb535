/* files.h - which objects own a file descriptor, and the paths that were opened. */
#ifndef HDX_QUERY_FILES_H
#define HDX_QUERY_FILES_H

#include "query/query.h"

#include "base/list.h"

typedef struct hdx_file_owner {
    hdx_id   id, descriptor; /* the FileDescriptor that it refers to */
    hdx_id   path;           /* a String; HDX_NO_ID: none */
    unsigned rank;           /* index in the table of kinds: the lower, the more informative the object */
} hdx_file_owner;
typedef HDX_LIST(hdx_file_owner) hdx_file_owners;

/* Returns the live ones, sorted by descriptor and rank. */
hdx_code hdx_file_owners_of(hdx_ask *ask, hdx_file_owners *out, hdx_error *err);
/* Returns the first owner of a descriptor; NULL: none. */
const hdx_file_owner *hdx_file_owner_of(const hdx_file_owners *owners, hdx_id descriptor);

#endif
