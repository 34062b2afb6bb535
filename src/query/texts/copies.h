/* copies.h - one copy of a text that is in the heap many times, for those who name a culprit. */
#ifndef HDX_QUERY_TEXTS_COPIES_H
#define HDX_QUERY_TEXTS_COPIES_H

#include "query/query.h"

/*
 * Of the Strings equal to `text`, the first that the class with most of these copies refers to (as the column `holder`
 * of duplicates counts); `text` itself where it has no copies or nothing refers to them. Reads the dump twice.
 */
hdx_code hdx_query_copy_of(const hdx_query *q, hdx_id text, hdx_id *copy, hdx_error *err);

#endif
