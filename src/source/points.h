/*
 * points.h - seek points: places in a compressed dump where inflating can begin.
 *
 * The points cut the uncompressed dump into slices: slice i goes from point i to point i + 1, the last one to the end of the data.
 *
 *     dump   0 ........ 0.8 MiB ........ 1.7 MiB ..                  kind MEMBER  at the header of a gzip member: no window
 *            |            |                |                         kind BLOCK   before a deflate block: 32 KiB of window
 *            point 0      point 1          point 2                   kind INSIDE  inside a giant block: window and the
 *            (always)                                                             bit where the block's header begins
 *
 * Rules:
 *   P1  Points ascend strictly in `out`; point 0 has out 0 and kind MEMBER and is there from the start.
 *   P2  A point says all that a decoder needs to go on as if it had come from the start: also the running checksum of the
 *       member and the number of damage entries before it. So every decoder checks every trailer behind its point.
 *   P3  Windows and list stay below bytes_max: when they would not, every second point is dropped and the spacing doubles.
 *       Memory is then bounded whatever the file, and a read costs twice the inflating.
 *   P4  A slice's CRC-32 is noted when it was first inflated whole and compared ever after.
 * All calls are thread-safe. The struct hdx_point is what a file of points would hold; nothing else of them matters.
 */
#ifndef HDX_SOURCE_POINTS_H
#define HDX_SOURCE_POINTS_H

#include "base/mem.h"
#include <heapdex/error.h>
#include <pthread.h>

#define HDX_WINDOW 32768u               /* a deflate distance reaches no further back */
#define HDX_POINT_SPACING (768u << 10)  /* output between two points at block boundaries (gzip facts 7.2) */
#define HDX_POINTS_BYTES (128u << 20)   /* P3 */

typedef enum hdx_point_kind { HDX_POINT_MEMBER, HDX_POINT_BLOCK, HDX_POINT_INSIDE } hdx_point_kind;

typedef struct hdx_point {
    hdx_pos  out;         /* position in the uncompressed dump */
    uint64_t bit;         /* position in the file, in bits */
    uint64_t header_bit;  /* INSIDE: where the header of the block begins */
    uint64_t member;      /* number of the gzip member, from 0 */
    uint64_t member_at;   /* byte of the file where its header begins */
    hdx_pos  member_out;  /* position where its data begin */
    uint64_t damage;      /* damage entries before this point */
    uint8_t *window;      /* the bytes before `out`, packed or raw; NULL: none */
    uint32_t window_size; /* bytes at `window` */
    uint32_t window_len;  /* bytes they stand for: 32 KiB or what the member has so far */
    uint32_t check;       /* CRC-32 (Adler-32 in zlib containers) of the member up to here */
    uint32_t slice_crc;   /* of the slice that begins here */
    bool     slice_known;
    bool     packed;      /* window is deflated */
    uint8_t  kind;        /* hdx_point_kind */
} hdx_point;

typedef struct hdx_points {
    pthread_mutex_t lock;
    hdx_mem        *mem;
    hdx_point      *list;
    uint64_t        count, capacity;
    uint64_t        packed_to; /* windows of all points before are packed */
    uint64_t        bytes;     /* of windows */
    uint64_t        bytes_max;
    uint64_t        spacing;
    hdx_pos         end;       /* size of the uncompressed dump, when known */
    bool            end_known;
} hdx_points;

/* False: no memory. */
bool hdx_points_init(hdx_points *points, hdx_mem *mem, uint32_t first_check);
void hdx_points_free(hdx_points *points);

/* The points around a position: *next is the first one behind it (HDX_NOWHERE: none), *last the last of all. Returns the spacing. */
uint64_t hdx_points_around(hdx_points *points, hdx_pos at, hdx_pos *next, hdx_pos *last);
/* Position of the last point that is not behind `at`. */
hdx_pos hdx_points_floor(hdx_points *points, hdx_pos at);
/* That point, its window (window_len bytes, at most HDX_WINDOW) unpacked. */
hdx_code hdx_points_get(hdx_points *points, hdx_pos at, hdx_point *point, uint8_t *window, hdx_error *err);

/*
 * Adds a point behind the last one; the window is copied. *added is false, and nothing is done, where the last one is nearer than a
 * third of the spacing or at the same place: another decoder was there first.
 */
hdx_code hdx_points_add(hdx_points *points, const hdx_point *point, const uint8_t *window, bool *added, hdx_error *err);

/* Packs one window that is still raw; false when there is none. Whoever waits for another thread does it meanwhile. */
bool hdx_points_pack_one(hdx_points *points);

/* A decoder has summed `from` .. `to`. Where that is a slice its CRC is noted, or compared. */
typedef enum hdx_passed {
    HDX_PASSED_NOTHING, /* `to` is no point and not the end (any more): sum on */
    HDX_PASSED_POINT,   /* begin a new sum at `to` */
    HDX_PASSED_CHANGED  /* the CRC differs from the one noted: the file has changed */
} hdx_passed;
hdx_passed hdx_points_passed(hdx_points *points, hdx_pos from, hdx_pos to, uint32_t crc);

/* The data end at `end`. False when that contradicts what is known: the file has changed. */
bool hdx_points_end(hdx_points *points, hdx_pos end);
bool hdx_points_size(hdx_points *points, hdx_pos *end);

#endif
