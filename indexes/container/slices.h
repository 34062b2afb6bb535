/*
 * slices.h - pages written by several threads, in order.
 *
 * A file of pages is two sections: a directory with an entry per page and one entry more, and the pages. The pages are
 * cut into slices of a fixed number of values; threads encode slices into buffers, and one of them at a time writes the
 * buffers in order. So the file depends only on the values, and the memory only on the number of threads.
 *
 * Invariants:
 * S1  slices are written in the order of their numbers, and at most `room` of them are taken but not yet written.
 * S2  a page has 1 to 256 values and needs at most HDX_PAGE_BYTES.
 */
#ifndef HDX_INDEXES_SLICES_H
#define HDX_INDEXES_SLICES_H

#include "indexes/container/container.h"

#include <assert.h>

#define HDX_PAGE       256u /* values a page */
#define HDX_SLICE      (64 * HDX_PAGE)
#define HDX_PAGE_BYTES 2304u /* room for one encoded page: 256 raw values, and what packing may write after them */
#define HDX_ENTRY      16u   /* of a directory whose pages have 256 values */

/* Values per page and bytes per entry. */
typedef struct hdx_page_shape {
    uint32_t page, entry;
} hdx_page_shape;
#define HDX_SHAPE           ((hdx_page_shape){ HDX_PAGE, HDX_ENTRY })
#define HDX_SHAPE_PAGE_MIN  128u
#define HDX_SHAPE_ENTRY_MAX 64u

typedef struct hdx_slice {
    uint64_t *scratch; /* in: 2 * HDX_SLICE values of room */
    uint8_t  *bytes;   /* out: encoded pages, room for HDX_PAGE_BYTES for each 256 values */
    uint32_t  used;
    uint8_t   entries[HDX_SLICE / HDX_SHAPE_PAGE_MIN *
                    HDX_SHAPE_ENTRY_MAX]; /* out: the total before the slice is added to each first word, ... */
    bool      placed[HDX_SLICE /
                HDX_SHAPE_PAGE_MIN]; /* ... and, if this is set, the offset of its pages to each second word */
    uint64_t  total; /* out: added to the first words of all later slices (0 if they count nothing) */
} hdx_slice;

/* Adds a page of HDX_SHAPE after the previous ones: its entry, `second` without the offset, and its bytes. */
static inline void hdx_slice_entry(hdx_slice *s, uint32_t page, uint64_t first, uint64_t second, uint32_t used)
{
    assert(used <= HDX_PAGE_BYTES && second >> HDX_OFFSET_BITS << HDX_OFFSET_BITS == second); /* S2 */
    hdx_put64(s->entries + HDX_ENTRY * page, first);
    hdx_put64(s->entries + HDX_ENTRY * page + 8, second | s->used);
    s->placed[page] = true;
    s->used += used;
}

/* Encodes the n values from `from` on (n <= HDX_SLICE, from a multiple of it) into slice; called by any thread. */
typedef hdx_code hdx_slice_encode(void *context, uint64_t from, uint32_t n, hdx_slice *slice, hdx_error *err);

/* Two sections of a file that are being written, in any number of parts. */
typedef struct hdx_slices_writer {
    hdx_container_writer *w;
    unsigned              directory, threads, room; /* room: most slices at the same time */
    hdx_page_shape        shape;
    uint64_t              count, done, running; /* values; those written so far; totals of their slices */
    hdx_slice            *slices;
    uint64_t            **scratch; /* per thread */
} hdx_slices_writer;
/* Begins two sections of w for `count` values. Always call hdx_slices_drop. */
hdx_code hdx_slices_begin(hdx_slices_writer *s, hdx_container_writer *w, uint64_t count, hdx_page_shape shape,
                          hdx_error *err);
/* Adds the next n values: a multiple of HDX_SLICE, except in the last call. */
hdx_code hdx_slices_append(hdx_slices_writer *s, uint64_t n, hdx_slice_encode *encode, void *context, hdx_error *err);
/* Ends the directory after all values. s->running is the sum of all slices' totals. */
hdx_code hdx_slices_end(hdx_slices_writer *s, hdx_error *err);
void     hdx_slices_drop(hdx_slices_writer *s);

static inline uint64_t hdx_pages(uint64_t count, hdx_page_shape shape)
{
    return count / shape.page + (count % shape.page != 0);
}
/* Returns whether section `directory` has the size for `count` values. */
static inline bool hdx_slices_fit(const hdx_container *c, unsigned directory, uint64_t count, hdx_page_shape shape)
{
    return c->section[directory].bytes / shape.entry == hdx_pages(count, shape) + 1 &&
           c->section[directory].bytes % shape.entry == 0;
}

/* A page of HDX_SHAPE: its entry and its bytes, which may be read (and eight more after each, C1). */
typedef struct hdx_page {
    uint64_t       first, second; /* words of its entry */
    const uint8_t *at;
    uint32_t       len;
} hdx_page;

/*
 * Finds the words of a page's entry, and the position of the page, without checking sums or noting damage. False: it is
 * not in the file.
 */
static inline bool hdx_page_peek(const hdx_container *c, unsigned directory, uint64_t page, hdx_page *p)
{
    const uint64_t     low = (1ull << HDX_OFFSET_BITS) - 1;
    const hdx_section *s = &c->section[directory];
    if (s->bytes < 2 * HDX_ENTRY || page > (s->bytes - 2 * HDX_ENTRY) / HDX_ENTRY)
        return false;
    const uint8_t *entry = s->at + page * HDX_ENTRY;
    p->first = hdx_le64(entry);
    p->second = hdx_le64(entry + 8);
    uint64_t off = p->second & low, end = hdx_le64(entry + 24) & low;
    if (end - off > HDX_PAGE_BYTES || end > s[1].bytes)
        return false;
    p->at = s[1].at + off;
    p->len = (uint32_t)(end - off);
    return true;
}
/* Checks everything and notes damage. */
bool hdx_page_find_carefully(const hdx_container *c, unsigned directory, uint64_t page, hdx_page *p);
/* Finds a page. False: it cannot be used, which is noted. Takes few instructions if all blocks are verified. */
static inline bool hdx_page_find(const hdx_container *c, unsigned directory, uint64_t page, hdx_page *p)
{
    const hdx_section *s = &c->section[directory];
    const bool         plain = hdx_proved(s) & hdx_proved(s + 1) && hdx_page_peek(c, directory, page, p);
    return __builtin_expect(plain, 1) || hdx_page_find_carefully(c, directory, page, p);
}

/* Prefetching (indexes.h): nothing is checked. */
static inline void hdx_page_fetch_entry(const hdx_container *c, unsigned directory, uint64_t page)
{
    hdx_fetch(c, directory, page * HDX_ENTRY);
}

#endif
