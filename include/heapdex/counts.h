/*
 * counts.h - what one pass over a dump tells, without an index: objects and bytes of each class.
 *
 * Example (examples/counts.c):
 *     const hdx_index_options options = { .dump = dump };
 *     const hdx_class        *classes;
 *     hdx_counts             *counts;
 *     uint32_t                n;
 *     if (hdx_counts_take(&options, &counts, &err) != HDX_OK) { // one pass, nothing is written
 *         fprintf(stderr, "%s: %s\n", err.where, err.message);
 *         return 1;
 *     }
 *     classes = hdx_counts_classes(counts, &n); // by falling number of instances
 *     for (uint32_t i = 0; i < n && i < 5; i++)
 *         printf("%" PRIu64 " %.*s\n", classes[i].instances, (int)classes[i].name.len, classes[i].name.at);
 *     hdx_counts_free(counts);
 *
 * Reachability is not known: live numbers, ids and retained sizes are absent. No address is kept either, so of two
 * records for one object both count (an index keeps the first and says so), and loaders are those that classes name, be
 * they in the dump or not. Sizes are those of an index (reference size and alignment are found in the same pass). Where
 * objects are aligned to more than 8 bytes, which is rare, that is known too late, and the dump is read a second time.
 */
#ifndef HEAPDEX_COUNTS_H
#define HEAPDEX_COUNTS_H

#include <heapdex/graph.h>
#include <heapdex/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the options: dump, dump_number, threads, memory, max_uncompressed, progress. */
HDX_API hdx_code hdx_counts_take(const hdx_index_options *options, hdx_counts **out, hdx_error *err);
HDX_API void     hdx_counts_free(hdx_counts *counts); /* NULL: nothing */

/*
 * Borrowed; by falling instance count. instances and bytes are of all objects, live_instances and live_bytes are 0, id
 * is HDX_NO_ID.
 */
HDX_API const hdx_class *hdx_counts_classes(const hdx_counts *counts, uint32_t *count);
/* Format, sizes, counts of records, damage and warnings; what needs an index is 0, complete is false. Borrowed. */
HDX_API const hdx_graph_summary *hdx_counts_summary(const hdx_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
