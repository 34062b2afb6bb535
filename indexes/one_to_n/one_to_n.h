/*
 * one_to_n.h - the two kinds of page of one_to_n/ by themselves. README.md has their bytes.
 *
 * Sections 0 and 1 say where each list begins (pages of 256 keys), sections 2 and 3 hold the values of all lists one after the
 * other (pages of 256 values, whatever lists they belong to).
 */
#ifndef HDX_INDEXES_ONE_TO_N_H
#define HDX_INDEXES_ONE_TO_N_H

#include "indexes/container/slices.h"
#include "indexes/ints/pack.h"

/* ---- offsets: second word of an entry is offset | width << 40 | exceptions << 47 | form << 61 ---- */
typedef enum hdx_offsets_form { HDX_OFFSETS_EVEN, HDX_OFFSETS_MOSTLY, HDX_OFFSETS_LINEAR, HDX_OFFSETS_ASCENDING } hdx_offsets_form;

/* Degrees of n keys (1 .. 256) -> bytes, second word; *sum: of the degrees (HDX_LIMIT where it passes 2^63). */
hdx_code hdx_offsets_encode(const uint64_t *degrees, unsigned n, uint8_t *out, uint32_t *used, uint64_t *second, uint64_t *sum, hdx_error *err);
/* Values before key k of a page of `count` keys, and before key k + 1, both counted from the page's first. */
bool     hdx_offsets_find(const hdx_page *page, unsigned count, unsigned k, uint64_t *from, uint64_t *to);
/* Values before key k, and the degrees of keys k .. k + n - 1 (n > 0). A page that lies may give degrees without sense. */
bool     hdx_offsets_decode(const hdx_page *page, unsigned count, unsigned k, unsigned n, uint64_t *before, uint64_t *degrees);

/* ---- values: second word is offset | w1 << 40 | w2 << 47 | form << 61 ---- */
typedef enum hdx_values_form {
    HDX_VALUES_PLAIN,     /* base + field */
    HDX_VALUES_NEAR,      /* key + base + field: all are about as far from their keys */
    HDX_VALUES_BANDS,     /* some near their keys, the others far but near each other (ALGORITHMS 6.2) */
    HDX_VALUES_WINDOW,    /* base + field, with exceptions */
    HDX_VALUES_ASCENDING, /* base + a number that never falls: one long list */
    HDX_VALUES_FORMS
} hdx_values_form;
uint32_t hdx_values_encode(const uint64_t *v, const uint64_t *keys, unsigned n, uint8_t *out, uint64_t *first, uint64_t *second);
/* Values k .. k + n - 1 of a page of `count`, all of one key. */
bool     hdx_values_decode(const hdx_page *page, unsigned count, uint64_t key, unsigned k, unsigned n, uint64_t *out);
/* The same where each has a key of its own. */
bool     hdx_values_decode_all(const hdx_page *page, unsigned count, const uint64_t *keys, unsigned k, unsigned n, uint64_t *out);
/* Asks for the lines that value k will be read from (slices.h, reading ahead); the page may be damaged. */
void     hdx_values_fetch(const hdx_page *page, unsigned count, unsigned k);

#endif
