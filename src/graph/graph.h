/*
 * graph.h - the room that opens a finished index and answers for the heap: the one door for questions.
 *
 * Its public face is <heapdex/graph.h>: objects, classes, cursors, values. This header adds what other rooms of the library may use
 * and what is no promise to the outside: whole columns in runs, for questions that look at every object.
 *
 *     uint32_t classes[HDX_RUN];
 *     for (hdx_id first = 0; first < objects; first += n) {
 *         n = (uint32_t)(objects - first < HDX_RUN ? objects - first : HDX_RUN);
 *         hdx_graph_read_classes(g, first, n, classes);
 *         ...
 *     }
 *     return hdx_graph_check(g, err);                  was every page sound?
 *
 * Runs go through pages once, in order: some nanoseconds an object, where the getters of one object cost some tens. Ids at or past the
 * end, and damage, give the same harmless values as the getters; nothing fails. All calls are thread-safe; a scan on several
 * threads takes disjoint runs.
 *
 * What is where: open.c the files and the dump, opened when first asked for; objects.c one object; columns.c runs, and reading ahead; refs.c cursors;
 * classes.c the table of classes; values.c fields and elements out of the dump; string.c text; label.c and label_kinds.c MAT's labels;
 * number.c numbers as Java prints them; names.c names of references; verify.c and verify_tree.c whether an index is what it says.
 */
#ifndef HDX_GRAPH_GRAPH_H
#define HDX_GRAPH_GRAPH_H

#include "base/base.h"
#include <heapdex/graph.h>

#define HDX_RUN 4096u /* a good length of a run; any length is allowed */

void hdx_graph_read_addresses(const hdx_graph *g, hdx_id first, uint32_t n, hdx_addr *out);
void hdx_graph_read_classes(const hdx_graph *g, hdx_id first, uint32_t n, uint32_t *out);   /* HDX_NO_CLASS past the end */
void hdx_graph_read_kinds(const hdx_graph *g, hdx_id first, uint32_t n, uint8_t *out);      /* hdx_object_kind */
void hdx_graph_read_lengths(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);   /* of arrays; 0 */
void hdx_graph_read_shallow(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
void hdx_graph_read_retained(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
void hdx_graph_read_positions(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out); /* position + 1; 0: no record */
void hdx_graph_read_heaps(const hdx_graph *g, hdx_id first, uint32_t n, int32_t *out);      /* place in hdx_graph_heaps; -1 */
/* Bit i of out (hdx_bits) is object first + i; (n + 63) / 64 words are written. */
void hdx_graph_read_live(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
/* HDX_VIRTUAL_ROOT, HDX_NO_ID for garbage; the second: the id itself for a GC root. */
void hdx_graph_read_dominators(const hdx_graph *g, hdx_id first, uint32_t n, hdx_id *out);
void hdx_graph_read_nearest(const hdx_graph *g, hdx_id first, uint32_t n, hdx_id *out);

/* As hdx_graph_outbound_count and hdx_graph_inbound_count. */
void hdx_graph_read_counts(hdx_graph *g, hdx_refs_scope scope, hdx_id first, uint32_t n, uint64_t *outbound, uint64_t *inbound);

/* Ids of addresses as a dump writes them; HDX_NO_ID where no object is. */
void hdx_graph_find_many(const hdx_graph *g, const hdx_addr *addresses, size_t n, hdx_id *ids);

/* True when no object is garbage: scopes need no filter then. */
bool hdx_graph_all_live(const hdx_graph *g);

#endif
