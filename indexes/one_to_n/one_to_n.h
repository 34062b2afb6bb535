/*
 * one_to_n.h - lines of offsets and pages of values. README.md documents their bytes.
 *
 * Section 0 has the beginning of each list (a line of 64 bytes for 128 keys), section 1 what does not fit in a line;
 * sections 2 and 3 have the values of all lists one after the other (pages of 256 values, independent of lists).
 */
#ifndef HDX_INDEXES_ONE_TO_N_H
#define HDX_INDEXES_ONE_TO_N_H

#include "indexes/container/slices.h"
#include "indexes/ints/pack.h"

/* ---- offsets ---- */
#define HDX_LINE       64u
#define HDX_LINE_KEYS  128u
#define HDX_LINES      ((hdx_page_shape){ HDX_LINE_KEYS, HDX_LINE })
#define HDX_LISTED_MAX ((1ull << 48) - 1) /* values in all lists */

/*
 * Encodes the degrees of n keys (1 .. 128) as a line; `first` values precede it. What does not fit goes to `page`
 * (*used bytes, 0: none; room for HDX_PAGE_BYTES / 2), which will be at `place` of section 1. *sum: of the degrees
 * (HDX_LIMIT above HDX_LISTED_MAX).
 */
hdx_code hdx_offsets_encode(const uint64_t *degrees, unsigned n, uint64_t first, uint8_t line[HDX_LINE], uint8_t *page,
                            uint64_t place, uint32_t *used, uint64_t *sum, hdx_error *err);
/* A line for reading: its 64 bytes, and those in section 1 if it has any (and eight more after each, C1). */
typedef struct hdx_offsets {
    uint64_t       head;
    const uint8_t *line, *page; /* page NULL: not available, and nothing that needs it is found */
    uint32_t       page_bytes;
} hdx_offsets;
static inline uint64_t hdx_offsets_first(const hdx_offsets *o) { return o->head & HDX_LISTED_MAX; }
static inline bool     hdx_offsets_are_far(const hdx_offsets *o) { return o->head >> 63 != 0; }
/*
 * Returns the number of values before key k of a line, and before key k + 1, both counted from the line's first;
 * meaningless for a damaged line. False: sums are missing.
 */
bool hdx_offsets_find(const hdx_offsets *o, unsigned k, uint64_t *from, uint64_t *to);
/* Returns the number of values before key k, and the degrees of keys k .. k + n - 1 (n > 0, all of the line). */
bool hdx_offsets_decode(const hdx_offsets *o, unsigned k, unsigned n, uint64_t *before, uint64_t *degrees);

/* ---- values: second word is offset | w1 << 40 | w2 << 47 | form << 61 ---- */
typedef enum hdx_values_form {
    HDX_VALUES_PLAIN,     /* base + field */
    HDX_VALUES_NEAR,      /* key + base + field: all have a similar distance from their keys */
    HDX_VALUES_BANDS,     /* some near their keys, the others far away but near each other */
    HDX_VALUES_WINDOW,    /* base + field, with exceptions */
    HDX_VALUES_ASCENDING, /* base + an ascending number: one long list */
    HDX_VALUES_FORMS
} hdx_values_form;
uint32_t hdx_values_encode(const uint64_t *v, const uint64_t *keys, unsigned n, uint8_t *out, uint64_t *first,
                           uint64_t *second);
/* Decodes values k .. k + n - 1 of a page of `count`, all of one key, and returns the greatest of them. */
bool hdx_values_decode(const hdx_page *page, unsigned count, uint64_t key, unsigned k, unsigned n, uint64_t *out,
                       uint64_t *greatest);
/* Same for values with separate keys. */
bool hdx_values_decode_all(const hdx_page *page, unsigned count, const uint64_t *keys, unsigned k, unsigned n,
                           uint64_t *out, uint64_t *greatest);
/* Prefetches the lines from which value k will be read; the page may be damaged. */
void hdx_values_fetch(const hdx_page *page, unsigned k);

#endif
