/*
 * ints.h - the page of ints/ alone: used by ints_write.c, ints_read.c, and by one_to_n/ for windows. README.md
 * documents its bytes.
 */
#ifndef HDX_INDEXES_INTS_H
#define HDX_INDEXES_INTS_H

#include "indexes/container/slices.h"
#include "indexes/ints/pack.h"

/* Second word of a directory entry, above the 40 bits of the offset. */
typedef enum hdx_ints_form { HDX_INTS_PLAIN, HDX_INTS_LINEAR, HDX_INTS_WINDOW, HDX_INTS_FORMS } hdx_ints_form;
static inline uint64_t hdx_ints_word(hdx_ints_form form, unsigned w, unsigned shift, unsigned exceptions)
{
    return (uint64_t)w << 40 | (uint64_t)shift << 47 | (uint64_t)exceptions << 53 | (uint64_t)form << 61;
}

/*
 * A linear page has no shift and no exceptions; its entry has the slope in their place and in the upper bits of a base
 * of 48 bits.
 */
#define HDX_INTS_SLOPE_BITS 30u
typedef struct hdx_ints_line {
    uint64_t base, slope, shift;
} hdx_ints_line;
/* Works for every form, without a branch (see hdx_ints_get): base and shift of the form, and slope 0 if it has none. */
static inline hdx_ints_line hdx_ints_line_of(uint64_t first, uint64_t second)
{
    const uint64_t linear = 0 - (uint64_t)(second >> 61 == HDX_INTS_LINEAR),
                   base = ((first & 0xffffffffffffu) ^ 0x800000000000u) - 0x800000000000u;
    return (hdx_ints_line){ first ^ ((first ^ base) & linear), (first >> 48 | (second >> 47 & 0x3fff) << 16) & linear,
                            (second >> 47 & 63) & ~linear };
}

/*
 * Encodes n values (1 .. 256) at out (room for HDX_PAGE_BYTES), and returns the entry's first word and its second
 * without offset.
 */
uint32_t hdx_ints_encode(const uint64_t *v, unsigned n, uint8_t *out, uint64_t *first, uint64_t *second);
/* Decodes values k .. k + n - 1 of a page of `count`; false: the page contradicts itself. */
bool hdx_ints_decode(const hdx_page *page, unsigned count, unsigned k, unsigned n, uint64_t *out);

/*
 * A window: most of x are in [low, low + 2^w - 1), exceptions elsewhere; `bits` is the size of the page including its
 * head. Sorts a copy of x, after checking the distribution. False if no window needs less than limit_bits.
 */
typedef struct hdx_page_window {
    uint64_t low, bits;
    unsigned w, exceptions;
} hdx_page_window;
bool hdx_page_window_find(const uint64_t *x, unsigned n, uint64_t greatest, uint64_t limit_bits,
                          hdx_page_window *window);
/* Writes the fields, then a tail: width of exceptions, their places, `low`, their values. */
uint32_t hdx_page_window_put(uint8_t *out, const uint64_t *x, unsigned n, uint64_t greatest,
                             const hdx_page_window *window);

/* The tail of a window, checked against the length of the page. */
typedef struct hdx_page_window_tail {
    const uint8_t *places, *values;
    unsigned       w, exceptions;
} hdx_page_window_tail;
static inline bool hdx_page_window_tail_of(const uint8_t *at, uint32_t len, unsigned count, unsigned w,
                                           unsigned exceptions, hdx_page_window_tail *t)
{
    uint64_t fields = hdx_pack_bytes(count, w);
    if (fields + 1 > len)
        return false;
    *t = (hdx_page_window_tail){ at + fields + 1, at + fields + 1 + exceptions, at[fields], exceptions };
    return hdx_pack_known(t->w) && fields + 1 + exceptions + hdx_pack_bytes(exceptions + 1u, t->w) <= len;
}

#endif
