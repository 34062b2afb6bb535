/*
 * points.h - seek points: places in a compressed dump where inflating can begin.
 *
 * The points divide the uncompressed dump into slices: slice i extends from point i to point i + 1, the last one to the
 * end of the data.
 *
 *     dump   0 ........ 0.8 MiB ........ 1.7 MiB ..     kind MEMBER  at the header of a gzip member: no window
 *            |            |                |            kind BLOCK   before a deflate block: 32 KiB of window
 *            point 0      point 1          point 2      kind INSIDE  inside a giant block: window and the bit
 *            (always)                                                where the block's header begins
 *
 * Rules:
 *   P1  Points are strictly ascending in `out`; point 0 has out 0 and kind MEMBER and always exists.
 *   P2  A point has all data that a decoder needs to continue as if it had read from the start, including the running
 *       checksum of the member and the number of damage entries before it. Every decoder therefore checks every trailer
 *       after its point.
 *   P3  Windows are in a file if there is one (hdx_source_windows). Without it windows and list stay below bytes_max:
 *       when they would exceed it, every second point is dropped and the spacing doubles. Memory is then bounded for
 *       any file, and a read inflates twice as much. With a file no point is dropped, a slice has at most 1 MiB, and
 *       a point needs 96 bytes.
 *   P4  The CRC-32 of a slice is recorded when the slice is first inflated completely, and then always compared.
 *   P5  The places of points depend on the file only, not on readers, sizes of reads or threads.
 *   P6  Points that were loaded are complete: none is added, and the trailers of members were checked when the points
 *       were created.
 * All calls are thread-safe.
 */
#ifndef HDX_SOURCE_POINTS_H
#define HDX_SOURCE_POINTS_H

#include "source/source.h"
#include <heapdex/error.h>
#include <pthread.h>

#define HDX_WINDOW        32768u       /* largest distance of deflate */
#define HDX_SLICE_MAX     (1u << 20)   /* longest slice, as long as no point was dropped for lack of memory (P3) */
#define HDX_POINT_SPACING (768u << 10) /* output between two points at block boundaries (GZIP 7.2) */
#define HDX_POINTS_BYTES  (128u << 20) /* P3 */

typedef enum hdx_point_kind { HDX_POINT_MEMBER, HDX_POINT_BLOCK, HDX_POINT_INSIDE } hdx_point_kind;

typedef struct hdx_point {
    hdx_pos  out;         /* position in the uncompressed dump */
    uint64_t bit;         /* position in the file, in bits */
    uint64_t header_bit;  /* INSIDE: where the header of the block begins */
    uint64_t member;      /* number of the gzip member, from 0 */
    uint64_t member_at;   /* position of its header in the file */
    hdx_pos  member_out;  /* position where its data begin */
    uint64_t damage;      /* number of damage entries before this point */
    uint8_t *window;      /* the bytes before `out`, packed or raw; NULL: none */
    uint32_t window_size; /* bytes at `window` */
    uint32_t window_len;  /* number of bytes that they represent: 32 KiB, or what the member has so far */
    uint32_t check;       /* CRC-32 (Adler-32 in zlib containers) of the member up to here */
    uint32_t slice_crc;   /* of the slice that begins here */
    uint64_t window_at;   /* spilled: position of the window */
    bool     slice_known;
    bool     packed;  /* window is deflated */
    bool     spilled; /* `window` is NULL, its bytes are in a file */
    uint8_t  kind;    /* hdx_point_kind */
} hdx_point;

typedef struct hdx_points {
    pthread_mutex_t    lock;
    hdx_mem           *mem;
    hdx_point         *list;
    uint64_t           count, capacity;
    uint64_t           packed_to; /* windows of all points before this one are packed */
    uint64_t           bytes;     /* of windows */
    uint64_t           bytes_max;
    uint64_t           spacing;
    hdx_source_windows windows; /* P3; put NULL: windows stay in memory */
    bool               loaded;  /* see P6 */
    hdx_pos            decided; /* a point before here was removed: later decoders do not add it again (P5) */
    hdx_pos            end;     /* size of the uncompressed dump, if known */
    bool               end_known;
} hdx_points;

/* False: no memory. */
bool hdx_points_init(hdx_points *points, hdx_mem *mem, uint32_t first_check);
void hdx_points_free(hdx_points *points);

/*
 * Finds the points around a position: *next is the first one after it, or the end if that is known (HDX_NOWHERE:
 * neither), *last the last of all. Returns the spacing.
 */
uint64_t hdx_points_around(hdx_points *points, hdx_pos at, hdx_pos *next, hdx_pos *last);
/* Returns the position of the last point that is not after `at`. */
hdx_pos hdx_points_floor(hdx_points *points, hdx_pos at);
/* Returns that point, with its window unpacked (window_len bytes, at most HDX_WINDOW). */
hdx_code hdx_points_get(hdx_points *points, hdx_pos at, hdx_point *point, uint8_t *window, hdx_error *err);

/*
 * Adds a point after the last one; the window is copied. *added is false, and nothing is done, if the last one is
 * nearer than a third of the spacing or at the same place, or if the end is known or a point was removed: another
 * decoder was there first.
 */
hdx_code hdx_points_add(hdx_points *points, const hdx_point *point, const uint8_t *window, bool *added, hdx_error *err);

/*
 * Removes the point `inside` after its member ended at `at`, if it is the only point inside the member and less than a
 * slice after the member's beginning, which is also a point: the beginning of the next member needs no window. Returns
 * the beginning of the slice and the CRC of its part before `inside`.
 */
bool hdx_points_drop(hdx_points *points, hdx_pos inside, hdx_pos at, hdx_pos member_out, hdx_pos *from, uint32_t *crc);

/* Packs one raw window; false if there is none. For a thread that waits for another one. */
bool hdx_points_pack_one(hdx_points *points);

/* Result of a decoder that has summed `from` .. `to`. If that is a slice, its CRC is recorded or compared. */
typedef enum hdx_passed {
    HDX_PASSED_NOTHING, /* `to` is not a point and not the end (any more): continue the sum */
    HDX_PASSED_POINT,   /* begin a new sum at `to` */
    HDX_PASSED_CHANGED  /* the CRC differs from the recorded one: the file has changed */
} hdx_passed;
hdx_passed hdx_points_passed(hdx_points *points, hdx_pos from, hdx_pos to, uint32_t crc);

/* Sets the end of the data. False if that contradicts what is known: the file has changed. */
bool hdx_points_end(hdx_points *points, hdx_pos end);
bool hdx_points_size(hdx_points *points, hdx_pos *end);

/* Returns the window of a point as stored (packed or raw), point->window_size bytes. */
hdx_code hdx_points_stored(hdx_points *points, uint64_t i, hdx_point *point, uint8_t *window, hdx_error *err);
/* P6: adds a point to a list that is being loaded; the first one replaces point 0. False: no memory. */
bool hdx_points_load(hdx_points *points, const hdx_point *point);

#endif
