/* copies.h - finds the copy of a duplicated text by which a culprit can be named. */
#ifndef HDX_QUERY_TEXTS_COPIES_H
#define HDX_QUERY_TEXTS_COPIES_H

#include "query/query.h"

/*
 * Of the Strings equal to `text`, returns the first to which the class with most of these copies refers (see the column
 * `holder` of duplicates); `text` itself if it has no copies or nothing refers to them. Reads the dump twice.
 */
hdx_code hdx_query_copy_of(const hdx_query *q, hdx_id text, hdx_id *copy, hdx_error *err);

#endif
