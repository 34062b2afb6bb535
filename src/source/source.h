/*
 * source.h - the room that hands out bytes of a dump. Its public face is <heapdex/source.h>; this header adds what only
 * the library itself may use: the io door of tests and
 * the memory door.
 */
#ifndef HDX_SOURCE_SOURCE_H
#define HDX_SOURCE_SOURCE_H

#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include <heapdex/source.h>

hdx_code hdx_source_open_io(hdx_io *io, const char *path, const hdx_source_options *options, hdx_source **out,
                            hdx_error *err);

/* The same with a budget for all memory of the source and its streams; mem outlives the source and may be NULL. */
hdx_code hdx_source_open_mem(hdx_io *io, hdx_mem *mem, const char *path, const hdx_source_options *options,
                             hdx_source **out, hdx_error *err);

/*
 * Where the file is read together with pieces that a JVM did not merge into it (joined.c): a sentence that says which.
 * False: it has none.
 */
bool hdx_source_pieces(const hdx_source *source, char *text, size_t size);

/* ---- seek points of a compressed dump that outlive its reader ---- */

/*
 * A place outside of memory for packed windows. put may be NULL (reading only); both may be called from several threads
 * at once.
 */
typedef struct hdx_source_windows {
    void *context;
    hdx_code (*put)(void *context, const uint8_t *bytes, uint32_t len, uint64_t *at, hdx_error *err);
    hdx_code (*get)(void *context, uint64_t at, uint8_t *to, uint32_t len, hdx_error *err);
} hdx_source_windows;

/* What a file of points holds of one; the kinds are 0 at a member's header, 1 before a block, 2 inside a block. */
typedef struct hdx_source_point {
    hdx_pos  out;
    uint64_t bit, header_bit;
    uint64_t window_at;
    uint32_t window_size, window_len; /* stored (fewer: deflated), and what they stand for */
    uint32_t sum;                     /* CRC-32 of the slice that begins here */
    unsigned kind;
} hdx_source_point;
#define HDX_SOURCE_WINDOW 32768u

/* Windows of points go there from now on; before anything was read, and only where the dump is compressed. */
void hdx_source_keep_windows(hdx_source *source, const hdx_source_windows *windows);
/*
 * After a stream was read to its end: how many points there are, how many of them with a window. Then each, and its
 * window as it is stored (HDX_SOURCE_WINDOW bytes of room). HDX_BAD_DUMP: the end was not reached, or a slice was never
 * inflated whole.
 */
hdx_code hdx_source_points(hdx_source *source, uint64_t *points, uint64_t *windows, hdx_error *err);
hdx_code hdx_source_point_at(hdx_source *source, uint64_t i, hdx_source_point *out, uint8_t *window, hdx_error *err);
/*
 * Takes over points that were kept, in order; `next` returns false at the end. They must obey R1 to R4 of
 * indexes/seek/seek.h. Afterwards the size is known, every read begins at a point, and every slice is compared with its
 * sum: HDX_BAD_DUMP when it differs. Right after opening, before anything was read. HDX_LIMIT: no memory.
 */
hdx_code hdx_source_load_points(hdx_source *source, uint64_t size, bool (*next)(void *context, hdx_source_point *point),
                                void *context, const hdx_source_windows *windows, hdx_error *err);

/*
 * An overlay stands between a source and its readers: whoever reads positions or streams gets the overlay's bytes. It
 * is set once, before anybody else reads, and closed with the source. Its own reading goes below it, through
 * hdx_source_below.
 */
typedef struct hdx_overlay {
    void *context; /* NULL: none */
    hdx_code (*read_at)(void *context, hdx_pos at, void *to, size_t want, size_t *got,
                        hdx_error *err); /* thread-safe */
    bool (*size)(void *context, uint64_t *size);
    bool (*absent)(void *context, hdx_pos at); /* the byte there is made up: the file has none for it */
    void (*close)(void *context);
} hdx_overlay;
void  hdx_source_overlay(hdx_source *source, const hdx_overlay *overlay);
void *hdx_source_overlay_of(const hdx_source *source); /* its context; NULL: none */
/*
 * A gzip file that holds a zlib stream (Tailor's container, packed once more): from here on the source gives what that
 * holds. Before anybody else reads.
 */
hdx_code hdx_source_nest(hdx_source *source, hdx_error *err);
hdx_code hdx_source_below(hdx_source *source, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err);
bool     hdx_source_size_below(const hdx_source *source, uint64_t *size);
bool     hdx_source_absent(hdx_source *source, hdx_pos at);
hdx_mem *hdx_source_mem(const hdx_source *source);

/*
 * Until hdx_near_end the small reads of this source that the calling thread makes go through blocks of its own (1 MB):
 * for whoever makes many of them at rising positions. NULL: no memory, or the thread has one already; reads are the
 * same.
 */
typedef struct hdx_near hdx_near;
hdx_near               *hdx_near_begin(hdx_source *source);
void                    hdx_near_end(hdx_near *near); /* NULL: nothing */

/* ---- packing: the other way round, for who writes a dump ---- */
typedef struct hdx_packer hdx_packer;
/* kind HDX_GZIP (level 6) or HDX_ZLIB (level 1, as Tailor has it). put is given the packed bytes. */
hdx_code hdx_packer_open(hdx_compression kind, hdx_mem                                                       *mem,
                         hdx_code (*put)(void *context, const void *bytes, size_t len, hdx_error *err), void *context,
                         hdx_packer **out, hdx_error *err);
hdx_code hdx_packer_put(hdx_packer *p, const void *bytes, size_t len, bool last, hdx_error *err);
void     hdx_packer_close(hdx_packer *p); /* NULL: nothing */
/* A gzip member of its own behind what `out` has, packed fast (level 1): for pages of other formats. */
hdx_code hdx_pack_piece(const void *bytes, uint64_t len, hdx_buffer *out, hdx_error *err);

#endif
