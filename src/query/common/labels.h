/*
 * labels.h - labels of objects (labels.c), sizes in place of labels (size_labels.c), the field that refers to an object
 * (held_in.c).
 */
#ifndef HDX_QUERY_COMMON_LABELS_H
#define HDX_QUERY_COMMON_LABELS_H

#include "query/query.h"

/*
 * Computes MAT's label; "class NAME" for class objects; null if there is none, or without the dump. The query limits
 * its length.
 */
hdx_code hdx_label_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* Computes the whole label of an object whose label was truncated. */
hdx_code hdx_label_whole(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/*
 * Computes "(size 17)" in place of the label of a collection; null for other objects. The caller closes *out, on
 * failure, too.
 */
typedef struct hdx_sizes hdx_sizes;
hdx_code                 hdx_sizes_open(const hdx_query *q, hdx_sizes **out, hdx_error *err);
hdx_code                 hdx_sizes_cell(hdx_sizes *s, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
void                     hdx_sizes_close(hdx_sizes *s);
/* Makes a label from the text of hdx_graph_label, which is freed: MAT's label, for class objects "class NAME". */
hdx_code hdx_label_of_text(hdx_graph *g, hdx_id id, char *text, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/*
 * Maps an error of reading the dump: a missing dump is HDX_OK, a dump that changed since it was indexed is an error.
 * `mine` is that error.
 */
hdx_code hdx_label_allow_missing_dump(hdx_graph *g, hdx_code code, const hdx_error *mine, hdx_error *err);
/*
 * Number of rows whose labels are computed together. Above this many, all threads make labels and progress is reported.
 */
#define HDX_LABELS_MANY    16384u
#define HDX_LABELS_AT_ONCE (4u << 20) /* if every row needs a label before the first is returned: about 500 MB */
/* Returns CLASS#FIELD that refers to an object, on the shortest path from a GC root (held_in.c); null: none. */
hdx_code hdx_held_in_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);

#endif
