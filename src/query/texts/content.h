/* content.h - what an object holds, as a file of its own. */
#ifndef HDX_QUERY_TEXTS_CONTENT_H
#define HDX_QUERY_TEXTS_CONTENT_H

#include "query/query.h"

/*
 * What an object holds as a file of its own: as hdx_graph_content, and of an android.graphics.Bitmap whose pixels are
 * in the dump the picture as PNG. HDX_NOT_FOUND: it is nothing of that kind, or was stripped from the dump.
 */
hdx_code hdx_query_content(const hdx_query *q, hdx_id id, hdx_put *put, void *context, hdx_content *what,
                           hdx_error *err);

#endif
