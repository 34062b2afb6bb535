/* bits.h - bit sets in words that the caller owns: (n + 63) / 64 words for n bits. */
#ifndef HDX_BASE_BITS_H
#define HDX_BASE_BITS_H

#include <heapdex/types.h>

static inline uint64_t hdx_bits_words(uint64_t n) { return n / 64 + (n % 64 != 0); }
static inline bool     hdx_bits_test(const uint64_t *w, uint64_t i) { return w[i >> 6] >> (i & 63) & 1; }
static inline void     hdx_bits_put(uint64_t *w, uint64_t i) { w[i >> 6] |= 1ull << (i & 63); }
static inline void     hdx_bits_clear(uint64_t *w, uint64_t i) { w[i >> 6] &= ~(1ull << (i & 63)); }
/* Sets bit i. Returns true if it was not set before. */
static inline bool hdx_bits_set(uint64_t *w, uint64_t i)
{
    uint64_t bit = 1ull << (i & 63), old = w[i >> 6];
    w[i >> 6] = old | bit;
    return (old & bit) == 0;
}
/* Same as hdx_bits_set, for bits that several threads set at the same time. */
static inline bool hdx_bits_set_shared(uint64_t *w, uint64_t i)
{
    uint64_t bit = 1ull << (i & 63);
    return (__atomic_fetch_or(&w[i >> 6], bit, __ATOMIC_RELAXED) & bit) == 0;
}
static inline uint64_t hdx_bits_count(const uint64_t *w, uint64_t words)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < words; i++)
        n += (uint64_t)__builtin_popcountll(w[i]);
    return n;
}

#endif
