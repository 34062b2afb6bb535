/* content.h - the content of an object as a file. */
#ifndef HDX_QUERY_TEXTS_CONTENT_H
#define HDX_QUERY_TEXTS_CONTENT_H

#include "query/query.h"

/*
 * Passes the content of an object to `put`: as hdx_graph_content, and an android.graphics.Bitmap as PNG if the dump has
 * its pixels. Returns HDX_NOT_FOUND if the object has no such content, or it was stripped.
 */
hdx_code hdx_query_content(const hdx_query *q, hdx_id id, hdx_put *put, void *context, hdx_content *what,
                           hdx_error *err);

#endif
