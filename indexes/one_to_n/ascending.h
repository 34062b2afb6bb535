/*
 * ascending.h - up to 256 ascending numbers in 2 + log2(range / n) bits each, with access by index:
 * Elias-Fano (Vigna, Quasi-succinct indices, 2013).
 *
 *     u16    bytes of the upper part
 *     lower  n fields of `low` bits, padded to a byte
 *     upper  a bit set at (number >> low) + k for number k
 */
#ifndef HDX_INDEXES_ASCENDING_H
#define HDX_INDEXES_ASCENDING_H

#include "indexes/ints/pack.h"

#define HDX_ASCENDING_WORDS 16u /* of the upper part: 256 ones and at most 512 steps, with spare room */

typedef struct hdx_ascending {
    const uint8_t *lower, *upper;
    unsigned       low, bytes;
} hdx_ascending;

static inline unsigned hdx_ascending_low(uint64_t range, unsigned n)
{
    unsigned w = hdx_width(range / n);
    return w == 0 ? 0 : w - 1;
}
static inline uint64_t hdx_ascending_bytes(uint64_t range, unsigned n, unsigned low)
{
    return 2 + hdx_pack_bytes(n, low) + ((range >> low) + n + 7) / 8;
}

/*
 * REQUIRES: v is ascending from 0 to range, low as above and at most 56; out has room for hdx_ascending_bytes, and
 * eight more that are overwritten.
 */
static inline uint32_t hdx_ascending_put(uint8_t *out, const uint64_t *v, unsigned n, uint64_t range, unsigned low)
{
    uint64_t fields[256];
    for (unsigned i = 0; i < n; i++)
        fields[i] = v[i] & hdx_pack_mask(low);
    uint32_t used = 2 + hdx_pack_put(out + 2, fields, n, low), upper = (uint32_t)(((range >> low) + n + 7) / 8);
    hdx_put16(out, (uint16_t)upper);
    uint8_t *to = out + used;
    uint64_t word = 0, at = 0; /* number `at` of them, not yet written */
    for (unsigned i = 0; i < n; i++) {
        const uint64_t bit = (v[i] >> low) + i;
        for (; bit >> 6 > at; at++, word = 0)
            hdx_put64(to + 8 * at, word);
        word |= 1ull << (bit & 63);
    }
    hdx_put64(to + 8 * at, word);
    return used + upper;
}

static inline bool hdx_ascending_of(const uint8_t *at, uint32_t len, unsigned n, unsigned low, hdx_ascending *a)
{
    if (len < 2 || low > 56)
        return false;
    uint64_t lower = hdx_pack_bytes(n, low);
    *a = (hdx_ascending){ at + 2, at + 2 + lower, low, hdx_le16(at) };
    return a->bytes <= HDX_ASCENDING_WORDS * 8 && 2 + lower + a->bytes <= len;
}
static inline uint64_t hdx_ascending_word(const hdx_ascending *a, unsigned word)
{
    unsigned left = a->bytes - 8 * word; /* at least 1; bits after the last byte are undefined */
    return hdx_le64(a->upper + 8 * (size_t)word) & UINT64_MAX >> (left >= 8 ? 0 : 64 - 8 * left);
}
/*
 * Finds number k: hdx_ascending_next continues from *word and *rest (that word's bits from it on). Examines all words,
 * about a dozen: stopping at the right one would need an unpredictable branch, which costs more.
 */
static inline bool hdx_ascending_find(const hdx_ascending *a, unsigned k, unsigned *word, uint64_t *rest)
{
    const unsigned whole = a->bytes / 8;
    unsigned       sum = 0, before = 0, at = 0;
    for (unsigned w = 0; w < whole; w++) {
        sum += (unsigned)__builtin_popcountll(hdx_le64(a->upper + 8 * (size_t)w));
        before = sum <= k ? sum : before;
        at += sum <= k;
    }
    if (at == whole && 8 * whole < a->bytes)
        sum += (unsigned)__builtin_popcountll(hdx_ascending_word(a, whole));
    if (sum <= k)
        return false;
    uint64_t x = hdx_ascending_word(a, at);
    *word = at;
    *rest = x & (UINT64_MAX << hdx_select64(x, k - before));
    return true;
}
/* Returns number k, whose bit is the next; false: there are fewer bits than numbers. */
static inline bool hdx_ascending_next(const hdx_ascending *a, unsigned k, unsigned *word, uint64_t *rest,
                                      uint64_t *value)
{
    while (*rest == 0) {
        if (8 * (*word + 1) >= a->bytes)
            return false;
        *rest = hdx_ascending_word(a, ++*word);
    }
    uint64_t bit = 64ull * *word + (unsigned)__builtin_ctzll(*rest);
    *rest &= *rest - 1;
    *value = (bit - k) << a->low | hdx_pack_get(a->lower, k, a->low);
    return true;
}

#endif
