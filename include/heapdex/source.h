/*
 * source.h - random access to the bytes of a heap dump, whether the file is plain, gzip or a zlib container.
 *
 * Example (examples/source.c):
 *     hdx_source *dump;
 *     char        bytes[18];
 *     size_t      got;
 *     if (hdx_source_open(path, NULL, &dump, &err) != HDX_OK)
 *         return complain(&err);
 *     hdx_code code = hdx_source_read_at(dump, 0, bytes, sizeof bytes, &got, &err); // any thread, any position
 *     if (code == HDX_OK)
 *         printf("%.*s\n", (int)got, bytes);
 *     hdx_source_close(dump);
 *
 * Positions are those of the uncompressed dump. A source does not interpret HPROF, with one exception: a JVM of JDK 22
 * or later that is killed leaves its dump in several files (app.hprof, app.hprof.p0, app.hprof.p1 ...), which are read
 * as one dump.
 *
 * Random access to a compressed dump uses seek points (one per MiB of the dump) and a cache of inflated pieces that all
 * readers share: 64 pieces of 1 MiB by default (options.cache), and one more for each thread that is inflating. They
 * are allocated when needed. A source that was just opened has no seek points: the first read at a position inflates
 * everything before it and records points, later reads inflate at most 1 MiB (2 MiB or more in dumps of more than about
 * 10 GB, because the windows of seek points use at most 128 MiB of memory). hdx_graph_dump (graph.h) returns a source
 * with the points of an index: every read inflates at most 1 MiB, however large the file is, and compares every piece
 * with the checksum that it had when the index was built.
 */
#ifndef HEAPDEX_SOURCE_H
#define HEAPDEX_SOURCE_H

#include <heapdex/damage.h>
#include <heapdex/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdx_source hdx_source;
typedef struct hdx_stream hdx_stream;

typedef enum hdx_compression { HDX_PLAIN, HDX_GZIP, HDX_ZLIB } hdx_compression;

#define HDX_SOURCE_CACHE (64ull << 20)
typedef struct hdx_source_options {
    uint64_t max_uncompressed; /* largest uncompressed size in bytes, HDX_LIMIT beyond it; 0: no limit */
    uint64_t cache;            /* size in bytes of the cache of inflated pieces, at least 2 MiB; 0: HDX_SOURCE_CACHE */
    unsigned threads; /* number of threads that inflate for one stream; 1: only the caller's; 0: one per processor */
} hdx_source_options;

/*
 * Opens a file and detects its container from its first bytes. A file of an unknown kind is opened as HDX_PLAIN; its
 * reader must check the content. `options` may be NULL. On failure *out is NULL.
 * Returns HDX_BAD_DUMP if the file is missing, is not a regular file, is empty, or may not be read; HDX_IO for other
 * errors; HDX_USAGE if the path is empty.
 */
HDX_API hdx_code hdx_source_open(const char *path, const hdx_source_options *options, hdx_source **out, hdx_error *err);

/* Closes a source. NULL is allowed. REQUIRES: its streams are closed. */
HDX_API void hdx_source_close(hdx_source *source);

/* Returns the path as given to hdx_source_open. Valid until hdx_source_close. */
HDX_API const char     *hdx_source_path(const hdx_source *source);
HDX_API hdx_compression hdx_source_compression(const hdx_source *source);

/* Returns the size on disk, of all files of the dump together. */
HDX_API uint64_t hdx_source_file_size(const hdx_source *source);

/*
 * Returns the size of the uncompressed dump in *size, and whether it is known. It is known for plain files and when the
 * seek points of an index are loaded; for other compressed files after a stream was read to its end. Of a damaged
 * container it is the size that could be inflated.
 */
HDX_API bool hdx_source_size(const hdx_source *source, uint64_t *size);

/*
 * Opens a stream for reading in order, from position `from`. Several streams may be open; each belongs to one thread.
 */
HDX_API hdx_code hdx_stream_open(hdx_source *source, hdx_pos from, hdx_stream **out, hdx_error *err);

/*
 * Reads the next bytes. *got is less than `want` only at the end of the data or before an error: the bytes before it
 * are valid, and later calls return the same error. Damage of the container is not an error: it is recorded
 * (hdx_source_damage), and the bytes that could be inflated are returned.
 */
HDX_API hdx_code hdx_stream_read(hdx_stream *stream, void *to, size_t want, size_t *got, hdx_error *err);

/*
 * Returns the number of bytes of the compressed file that were read so far, for progress; for plain files the position.
 */
HDX_API uint64_t hdx_stream_consumed(const hdx_stream *stream);

/* Closes a stream. NULL is allowed. */
HDX_API void hdx_stream_close(hdx_stream *stream);

/*
 * Reads `want` bytes at a position. Any thread may call it at any time. *got is less than `want` only at the end. In
 * compressed dumps ascending positions are the fastest. Returns HDX_BAD_DUMP ("the dump changed") if a compressed file
 * no longer has the bytes that it had before.
 */
HDX_API hdx_code hdx_source_read_at(hdx_source *source, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err);

/*
 * One of many reads that hdx_source_read_many carries out in the order of the dump, whatever their order in the array.
 * Each piece of a compressed dump is inflated once, on all threads of the source, so ten thousand reads cost about one
 * pass over the range that they cover. `got` is as in hdx_source_read_at. On an error some reads are done, and `got` of
 * the others is 0.
 */
typedef struct hdx_read {
    hdx_pos at;
    void   *to;
    size_t  want, got;
} hdx_read;

/* Carries out all reads. Returns the error of one that failed, if any. Any thread may call it at any time. */
HDX_API hdx_code hdx_source_read_many(hdx_source *source, hdx_read *reads, size_t count, hdx_error *err);

/*
 * Returns the damage of the container that was found so far, in the order of the file. The array is valid until
 * hdx_source_close. The list is complete after a stream was read to its end. It has at most 1000 entries; if
 * nothing can be read after a damaged place, the last entry has the position of that place.
 */
HDX_API size_t hdx_source_damage(const hdx_source *source, const hdx_damage **entries);

#ifdef __cplusplus
}
#endif

#endif
