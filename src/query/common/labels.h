/*
 * labels.h - labels of objects (labels.c), sizes shown instead of labels (sizes_said.c), the field that holds an object
 * (held_in.c).
 */
#ifndef HDX_QUERY_COMMON_LABELS_H
#define HDX_QUERY_COMMON_LABELS_H

#include "query/query.h"

/* The label as MAT computes it; "class NAME" for class objects; null without one or without the dump. The query limits
 * its length. */
hdx_code hdx_label_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* The whole text of an object whose label was truncated. */
hdx_code hdx_label_whole(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* "(size 17)" in place of the label of a collection; nothing for others. *out is to be closed on failure, too. */
typedef struct hdx_sizes hdx_sizes;
hdx_code                 hdx_sizes_open(const hdx_query *q, hdx_sizes **out, hdx_error *err);
hdx_code                 hdx_sizes_say(hdx_sizes *s, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
void                     hdx_sizes_close(hdx_sizes *s);
/* A label from the text that the graph gave, which is used up: MAT's, for class objects "class NAME". */
hdx_code hdx_label_of_text(hdx_graph *g, hdx_id id, char *text, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/*
 * Maps an error of reading the dump: a missing dump is HDX_OK, a dump that changed since it was indexed is an error.
 * `mine` holds that error.
 */
hdx_code hdx_label_without_dump(hdx_graph *g, hdx_code code, const hdx_error *mine, hdx_error *err);
/* Rows whose labels are made together; more than these by all threads, and that is shown. */
#define HDX_LABELS_MANY    16384u
#define HDX_LABELS_AT_ONCE (4u << 20) /* where every row needs one before any is given out: some 500 MB */
/* CLASS#FIELD that holds it, on the shortest way from a GC root (held_in.c); null: nothing does. */
hdx_code hdx_held_in_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);

#endif
