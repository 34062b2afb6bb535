/*
 * source.h - the room that reads the bytes of a dump. <heapdex/source.h> is its public part; this header adds what only
 * the library itself uses: other file access for tests, and memory accounting.
 */
#ifndef HDX_SOURCE_SOURCE_H
#define HDX_SOURCE_SOURCE_H

#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include <heapdex/source.h>

hdx_code hdx_source_open_io(hdx_io *io, const char *path, const hdx_source_options *options, hdx_source **out,
                            hdx_error *err);

/* Same with memory accounting for the source and its streams. REQUIRES: mem (may be NULL) outlives the source. */
hdx_code hdx_source_open_mem(hdx_io *io, hdx_mem *mem, const char *path, const hdx_source_options *options,
                             hdx_source **out, hdx_error *err);

/*
 * Writes a sentence that names the pieces which are read together with the file, because a JVM did not merge them into
 * it (joined.c). False: there are none.
 */
bool hdx_source_pieces(const hdx_source *source, char *text, size_t size);

/* Appends the bytes as a gzip file of one member, which has no name and no time. False: no memory. */
bool hdx_gzip(hdx_buffer *out, const void *bytes, uint64_t len);

/* ---- seek points of a compressed dump that outlive its reader ---- */

/*
 * Storage outside of memory for packed windows. put may be NULL (reading only). Several threads may call both at once.
 */
typedef struct hdx_source_windows {
    void *context;
    hdx_code (*put)(void *context, const uint8_t *bytes, uint32_t len, uint64_t *at, hdx_error *err);
    hdx_code (*get)(void *context, uint64_t at, uint8_t *to, uint32_t len, hdx_error *err);
} hdx_source_windows;

/* A point in a file of points; kinds are 0 at a member's header, 1 before a block, 2 inside a block. */
typedef struct hdx_source_point {
    hdx_pos  out;
    uint64_t bit, header_bit;
    uint64_t window_at;
    uint32_t window_size, window_len; /* stored bytes (fewer: deflated), and the number that they represent */
    uint32_t sum;                     /* CRC-32 of the slice that begins here */
    unsigned kind;
} hdx_source_point;
#define HDX_SOURCE_WINDOW 32768u

/* Stores windows of points there from now on. REQUIRES: nothing was read yet, and the dump is compressed. */
void hdx_source_keep_windows(hdx_source *source, const hdx_source_windows *windows);
/*
 * After a stream was read to its end: hdx_source_points returns the number of points, and of those with a window,
 * hdx_source_point_at each point with its window as stored (HDX_SOURCE_WINDOW bytes of room). Returns HDX_BAD_DUMP if
 * the end was not reached, or if a slice was never inflated completely.
 */
hdx_code hdx_source_points(hdx_source *source, uint64_t *points, uint64_t *windows, hdx_error *err);
hdx_code hdx_source_point_at(hdx_source *source, uint64_t i, hdx_source_point *out, uint8_t *window, hdx_error *err);
/*
 * Loads points that were saved, in order; `next` returns false after the last. They must satisfy R1 to R4 of
 * indexes/seek/seek.h. Afterwards the size is known, every read begins at a point, and every slice is compared with its
 * sum: HDX_BAD_DUMP if it differs. REQUIRES: the source was just opened, and nothing was read. Returns HDX_LIMIT if
 * there is no memory.
 */
hdx_code hdx_source_load_points(hdx_source *source, uint64_t size, bool (*next)(void *context, hdx_source_point *point),
                                void *context, const hdx_source_windows *windows, hdx_error *err);

/*
 * An overlay between a source and its readers, which replaces the bytes of positions and streams. It is closed with the
 * source, and reads the source below it with hdx_source_below. REQUIRES: it is set once, before anything else reads.
 */
typedef struct hdx_overlay {
    void *context; /* NULL: none */
    hdx_code (*read_at)(void *context, hdx_pos at, void *to, size_t want, size_t *got,
                        hdx_error *err); /* thread-safe */
    bool (*size)(void *context, uint64_t *size);
    bool (*absent)(void *context, hdx_pos at); /* the byte is filler: the file has none for it */
    void (*close)(void *context);
} hdx_overlay;
void  hdx_source_overlay(hdx_source *source, const hdx_overlay *overlay);
void *hdx_source_overlay_of(const hdx_source *source); /* its context; NULL: none */
/*
 * Lets the source read the content of a zlib stream in a gzip file (Tailor's container, packed once more). REQUIRES:
 * nothing was read yet.
 */
hdx_code hdx_source_nest(hdx_source *source, hdx_error *err);
hdx_code hdx_source_below(hdx_source *source, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err);
bool     hdx_source_size_below(const hdx_source *source, uint64_t *size);
bool     hdx_source_absent(hdx_source *source, hdx_pos at);
hdx_mem *hdx_source_mem(const hdx_source *source);

/*
 * Until hdx_near_end, small reads of this source by the calling thread use blocks of its own (1 MB), for threads that
 * make many of them at ascending positions. NULL: no memory, or the thread has blocks already; reads give the same
 * bytes.
 */
typedef struct hdx_near hdx_near;
hdx_near               *hdx_near_begin(hdx_source *source);
void                    hdx_near_end(hdx_near *near); /* NULL is allowed */

/* ---- compression, for code that writes a dump ---- */
typedef struct hdx_packer hdx_packer;
/* Opens a packer. kind: HDX_GZIP (level 6) or HDX_ZLIB (level 1, as in Tailor). put receives the packed bytes. */
hdx_code hdx_packer_open(hdx_compression kind, hdx_mem                                                       *mem,
                         hdx_code (*put)(void *context, const void *bytes, size_t len, hdx_error *err), void *context,
                         hdx_packer **out, hdx_error *err);
hdx_code hdx_packer_put(hdx_packer *p, const void *bytes, size_t len, bool last, hdx_error *err);
void     hdx_packer_close(hdx_packer *p); /* NULL is allowed */
/* Appends a separate gzip member, packed fast (level 1), for pages of other formats. */
hdx_code hdx_pack_piece(const void *bytes, uint64_t len, hdx_buffer *out, hdx_error *err);

#endif
