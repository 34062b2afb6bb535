/*
 * source.h - "n bytes at position p" of a heap dump, whether it lies plain, in gzip members or in a zlib container.
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
 * Positions are those of the uncompressed dump. A source knows nothing of HPROF, except how a JVM of JDK 22 or later
 * that was killed leaves a dump: as app.hprof, app.hprof.p0, app.hprof.p1 ... Those are read as one dump.
 *
 * Random access to a compressed dump goes through seek points (every MiB of the dump) and a cache of inflated pieces
 * that all readers share: 64 of 1 MiB unless options.cache says otherwise, and one more for each thread that is
 * inflating; they are got when needed. A source that was just opened knows no points: the first read at a position
 * inflates all before it and notes them, later ones inflate at most 1 MiB (in dumps of more than some 10 GB 2 MiB and
 * more: windows of points take 128 MiB of memory at most). hdx_graph_dump (graph.h) gives a source with the points of
 * an index: there every read inflates at most 1 MiB, whatever the file, and every piece is compared with the sum it had
 * when the index was built.
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
    uint64_t max_uncompressed; /* bytes; inflating more is HDX_LIMIT; 0: no limit */
    uint64_t cache; /* bytes of inflated pieces kept for other readers, at least 2 MiB; 0: HDX_SOURCE_CACHE */
    unsigned
        threads; /* that may inflate at once behind one stream; 1: none but the caller's; 0: as many as processors */
} hdx_source_options;

/*
 * Opens a file and looks at its first bytes. Nothing there, a directory, no permission: HDX_BAD_DUMP with a plain
 * message. A file of unknown kind is opened as HDX_PLAIN: what it is, the reader of its bytes must say. options may be
 * NULL.
 */
HDX_API hdx_code hdx_source_open(const char *path, const hdx_source_options *options, hdx_source **out, hdx_error *err);
HDX_API void     hdx_source_close(hdx_source *source); /* NULL: nothing */

HDX_API const char     *hdx_source_path(const hdx_source *source);
HDX_API hdx_compression hdx_source_compression(const hdx_source *source);
HDX_API uint64_t        hdx_source_file_size(const hdx_source *source); /* on disk, pieces included */

/*
 * Size of the uncompressed dump. Plain, and where the points of an index are loaded: known at once. Compressed: known
 * once a stream has been read to its end (true then); false before. Where a container is damaged it is what could be
 * inflated.
 */
HDX_API bool hdx_source_size(const hdx_source *source, uint64_t *size);

/* Reading from a position on, in order. Several streams may be open; each belongs to one thread. */
HDX_API hdx_code hdx_stream_open(hdx_source *source, hdx_pos from, hdx_stream **out, hdx_error *err);

/*
 * Fills `to`; *got < want only at the end of the data, or before an error (the bytes before it are good, and the error
 * stays). Damage of the container is noted, not failed: what was inflated is given.
 */
HDX_API hdx_code hdx_stream_read(hdx_stream *stream, void *to, size_t want, size_t *got, hdx_error *err);

/* Bytes of the compressed file consumed so far (equal to the position for plain files): for progress. */
HDX_API uint64_t hdx_stream_consumed(const hdx_stream *stream);
HDX_API void     hdx_stream_close(hdx_stream *stream);

/*
 * Random access, thread-safe. *got < want only at the end. Ascending positions cost least in compressed dumps. Where a
 * compressed file no longer gives the bytes it gave before: HDX_BAD_DUMP ("the dump changed").
 */
HDX_API hdx_code hdx_source_read_at(hdx_source *source, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err);

/*
 * Many reads at once, carried out in the order of the dump whatever the order they stand in: each piece of a compressed
 * dump is inflated once, on all threads of the source, so ten thousand values cost about one pass over the part they
 * lie in. `got` of each as above; on an error some are done, and the others have got 0.
 */
typedef struct hdx_read {
    hdx_pos at;
    void   *to;
    size_t  want, got;
} hdx_read;
HDX_API hdx_code hdx_source_read_many(hdx_source *source, hdx_read *reads, size_t count, hdx_error *err);

/*
 * Damage of the container found so far, in the order of the file; the array lives as long as the source. Complete after
 * a stream has been read to its end. At most 1000 are kept; the last one says where the data end, if damage ends them.
 */
HDX_API size_t hdx_source_damage(const hdx_source *source, const hdx_damage **entries);

#ifdef __cplusplus
}
#endif

#endif
