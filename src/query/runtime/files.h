/*
 * files.h - which objects have a file descriptor, and the paths they were opened with.
 */
#ifndef HDX_QUERY_FILES_H
#define HDX_QUERY_FILES_H

#include "query/query.h"

#include "base/list.h"

typedef struct hdx_file_owner {
    hdx_id   id, descriptor; /* the FileDescriptor that it has */
    hdx_id   path;           /* a String; HDX_NO_ID: none */
    unsigned rank;           /* place in the table of kinds: the less, the more its object says */
} hdx_file_owner;
typedef HDX_LIST(hdx_file_owner) hdx_file_owners;

/* Live ones, by descriptor and rank. */
hdx_code hdx_file_owners_of(hdx_ask *ask, hdx_file_owners *out, hdx_error *err);
/* The first of those that have that descriptor; NULL: none. */
const hdx_file_owner *hdx_file_owner_of(const hdx_file_owners *owners, hdx_id descriptor);

#endif
