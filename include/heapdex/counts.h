/*
 * counts.h - counts the objects and bytes of each class in one pass over a dump, without an index.
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
 * Reachability is unknown: live counts, ids and retained sizes are missing. Addresses are not stored either. Two
 * records of one object therefore count twice (an index uses the first and reports the second), and class loaders are
 * those that classes name, whether or not they are in the dump. Sizes equal those of an index: reference size and
 * object alignment are found in the same pass. If objects are aligned to more than 8 bytes, which is rare, the dump is
 * read a second time.
 */
#ifndef HEAPDEX_COUNTS_H
#define HEAPDEX_COUNTS_H

#include <heapdex/graph.h>
#include <heapdex/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads the dump and returns its counts in *out. Writes nothing. On failure *out is NULL.
 * REQUIRES: options->dump. Of the other options only dump_number, threads, memory, max_uncompressed and progress are
 * used.
 */
HDX_API hdx_code hdx_counts_take(const hdx_index_options *options, hdx_counts **out, hdx_error *err);

/* Frees the counts. NULL is allowed. Counts that a callback received (`first_pass` in index.h) are not freed. */
HDX_API void hdx_counts_free(hdx_counts *counts);

/*
 * Returns the classes, sorted by instance count, largest first. Borrowed until hdx_counts_free. `instances` and `bytes`
 * include all objects; `live_instances` and `live_bytes` are 0, `id` is HDX_NO_ID.
 */
HDX_API const hdx_class *hdx_counts_classes(const hdx_counts *counts, uint32_t *count);

/*
 * Returns format, sizes, counts of records, damage and warnings. Borrowed until hdx_counts_free. Members that need an
 * index are 0, and `complete` is false.
 */
HDX_API const hdx_graph_summary *hdx_counts_summary(const hdx_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
