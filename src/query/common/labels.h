/*
 * labels.h - what objects say of themselves (labels.c), sizes in place of it (sizes_said.c), the field that holds one
 * (held_in.c).
 */
#ifndef HDX_QUERY_COMMON_LABELS_H
#define HDX_QUERY_COMMON_LABELS_H

#include "query/query.h"

/* MAT's, for class objects "class NAME"; null: none, or the dump is not at hand. As whole as the query says. */
hdx_code hdx_label_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* Of an object whose label has a text that was cut: all of it, as the query says. */
hdx_code hdx_label_whole(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* "(size 17)" in place of the label of a collection; nothing for others. *out is to be closed on failure, too. */
typedef struct hdx_sizes hdx_sizes;
hdx_code                 hdx_sizes_open(const hdx_query *q, hdx_sizes **out, hdx_error *err);
hdx_code                 hdx_sizes_say(hdx_sizes *s, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
void                     hdx_sizes_close(hdx_sizes *s);
/* A label from the text that the graph gave, which is used up: MAT's, for class objects "class NAME". */
hdx_code hdx_label_of_text(hdx_graph *g, hdx_id id, char *text, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/*
 * Not at hand is one thing, and no error; a dump that is no longer what it was when it was indexed is one. `mine` says
 * of it.
 */
hdx_code hdx_label_without_dump(hdx_graph *g, hdx_code code, const hdx_error *mine, hdx_error *err);
/* Rows whose labels are made together; more than these by all threads, and that is shown. */
#define HDX_LABELS_MANY    16384u
#define HDX_LABELS_AT_ONCE (4u << 20) /* where every row needs one before any is given out: some 500 MB */
/* CLASS#FIELD that holds it, on the shortest way from a GC root (held_in.c); null: nothing does. */
hdx_code hdx_held_in_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);

#endif
