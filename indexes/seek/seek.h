/*
 * seek.h - seek points of a compressed dump: places in the file from which inflating gives the dump from a known
 * position on.
 *
 * The points divide the uncompressed dump into slices; point i begins slice i. A point at the header of a gzip member
 * needs nothing else and takes 20 bytes. A point inside a member needs the output before it (at most 32 KiB), packed,
 * and takes 20 more bytes plus the window. README.md documents the bytes. Inflating is done elsewhere.
 *
 * Rules that a reader checks (R1 to R4) and on which code that loads the points may rely:
 *   R1  point 0 is at position 0 and at a member; positions rise strictly and are below the size of the dump (0 for an
 *       empty one)
 *   R2  bits rise strictly and are inside the compressed file; a member begins at a whole byte
 *   R3  the block of a point inside it begins before it (and may begin before many points)
 *   R4  a window has 1 to 32 768 bytes, and its packed bytes are no more than those and inside the section
 */
#ifndef HDX_INDEXES_SEEK_H
#define HDX_INDEXES_SEEK_H

#include "indexes/indexes.h"

#define HDX_SEEK_WINDOW 32768u /* largest distance of deflate */

typedef enum hdx_seek_kind {
    HDX_SEEK_MEMBER, /* at the header of a gzip member, or of a zlib container */
    HDX_SEEK_BLOCK,  /* at the header of a deflate block */
    HDX_SEEK_INSIDE  /* between two codes of a block */
} hdx_seek_kind;

typedef struct hdx_seek_point {
    hdx_pos  out;         /* position in the uncompressed dump */
    uint64_t bit;         /* of the compressed file */
    uint64_t header_bit;  /* INSIDE: where the header of the block begins; otherwise 0 */
    uint64_t window_at;   /* reading: position of the packed window, for hdx_seek_window */
    uint32_t window_size; /* packed bytes; equal to window_len: not packed; 0: none (MEMBER, or no output before) */
    uint32_t window_len;  /* number of bytes of output */
    uint32_t sum;         /* CRC-32 of the slice that begins here */
    hdx_seek_kind kind;
} hdx_seek_point;

/* Fills in point number i, in order, and its window as it will be stored. */
typedef hdx_code hdx_seek_fill(void *context, uint64_t i, hdx_seek_point *point, uint8_t window[HDX_SEEK_WINDOW],
                               hdx_error *err);
/* windows: number of points that are not of kind MEMBER. size: bytes of the uncompressed dump. */
hdx_code hdx_seek_write(const hdx_index_place *place, uint64_t points, uint64_t windows, uint64_t size,
                        hdx_seek_fill *fill, void *context, hdx_index_file *out, hdx_error *err);

typedef struct hdx_seek hdx_seek;
/* size: bytes of the uncompressed dump, file_bytes: of the compressed one, both from the manifest. */
hdx_code hdx_seek_open(const hdx_index_place *place, const hdx_index_file *file, uint64_t size, uint64_t file_bytes,
                       hdx_damage_note *note, hdx_seek **out, hdx_error *err);
void     hdx_seek_close(hdx_seek *seek);
uint64_t hdx_seek_count(const hdx_seek *seek);

/* Reads the points in order; a cursor begins as { 0 }. */
typedef struct hdx_seek_cursor {
    uint64_t next, windows; /* number of points and windows before */
    uint64_t out, bit;      /* of the previous point */
} hdx_seek_cursor;
/* Returns false at the end, and if rules R1 to R4 are violated (noted). */
bool hdx_seek_next(const hdx_seek *seek, hdx_seek_cursor *cursor, hdx_seek_point *point);
/* Reads the packed window of a point, `size` bytes; false: damage (noted). Thread-safe. */
bool hdx_seek_window(const hdx_seek *seek, uint64_t at, uint32_t size, uint8_t *to);

#endif
