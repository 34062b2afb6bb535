/*
 * pack.h - fields of 0 to 64 bits, packed from the low bit of the first byte up.
 *
 * A field is read with one load of eight bytes at its first byte. Fields of 57 bits and more may not fit in such a
 * load, so those widths are rounded up to 64, with every field at a byte. Callers have eight more bytes after what they
 * read (container.h, C1), and after what they write.
 */
#ifndef HDX_INDEXES_PACK_H
#define HDX_INDEXES_PACK_H

#include "base/base.h"

static inline unsigned hdx_pack_width(uint64_t greatest)
{
    unsigned w = hdx_width(greatest);
    return w > 56 ? 64 : w;
}
static inline bool     hdx_pack_known(unsigned w) { return w <= 56 || w == 64; }
static inline uint64_t hdx_pack_mask(unsigned w)
{
    return UINT64_MAX >> ((64 - w) & 63) & (0 - (uint64_t)(w != 0));
} /* no branch */
static inline uint64_t hdx_pack_bytes(uint64_t n, unsigned w) { return (n * w + 7) / 8; }
static inline uint64_t hdx_pack_get(const uint8_t *p, uint64_t i, unsigned w)
{
    uint64_t bit = i * w;
    return hdx_le64(p + (bit >> 3)) >> (bit & 7) & hdx_pack_mask(w);
}

/*
 * Packs n values of w bits; returns the bytes used, hdx_pack_bytes(n, w). As many values as fit in 56 bits are combined
 * in one step, which is the only dependency on earlier values and has no branch: up to seven bits are always carried
 * over.
 */
typedef struct hdx_pack_pen {
    uint8_t *at;
    uint64_t carried;
    unsigned have; /* number of its bits, below 8 */
} hdx_pack_pen;
static inline void hdx_pack_step(hdx_pack_pen *p, uint64_t bits, unsigned w)
{
    p->carried |= bits << p->have;
    hdx_put64(p->at, p->carried);
    p->have += w;
    p->at += p->have >> 3;
    p->carried >>= p->have & 56;
    p->have &= 7;
}
static inline uint32_t hdx_pack_put(uint8_t *out, const uint64_t *v, unsigned n, unsigned w)
{
    hdx_pack_pen p = { .at = out };
    unsigned     i = 0;
    if (w == 64) {
        for (; i < n; i++)
            hdx_put64(out + 8 * (size_t)i, v[i]);
        return 8 * n;
    }
    if (w <= 14)
        for (; i + 4 <= n; i += 4)
            hdx_pack_step(&p, v[i] | v[i + 1] << w | (v[i + 2] | v[i + 3] << w) << 2 * w, 4 * w);
    else if (w <= 28)
        for (; i + 2 <= n; i += 2)
            hdx_pack_step(&p, v[i] | v[i + 1] << w, 2 * w);
    for (; i < n; i++)
        hdx_pack_step(&p, v[i], w);
    return (uint32_t)(p.at - out) + (p.have + 7) / 8;
}

/*
 * Returns the number of the bit with rank r (0 the lowest) among those set in x; r < popcount(x). Does not use PDEP,
 * which the baseline lacks, nor an unpredictable branch: counts of the bytes up to each are compared with r eight at a
 * time, then the same for the bits of the byte (Vigna, Broadword implementation of rank/select queries, 2008).
 */
static inline unsigned hdx_select64(uint64_t x, unsigned r)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    uint64_t       sums = x - (x >> 1 & 0x5555555555555555u);
    sums = (sums & 0x3333333333333333u) + (sums >> 2 & 0x3333333333333333u);
    sums = ((sums + (sums >> 4)) & 0x0f0f0f0f0f0f0f0fu) * ones; /* byte i: set bits in bytes 0 .. i */
    unsigned at = (unsigned)__builtin_popcountll(((r * ones | highs) - sums) & highs) * 8 & 56;
    uint64_t rest = r - (sums << 8 >> at & 255), byte = x >> at & 255;
    uint64_t bits = (((byte * ones & 0x8040201008040201u) + ~highs) & highs) >> 7; /* byte i: bit i */
    return at + ((unsigned)__builtin_popcountll(((rest * ones | highs) - bits * ones) & highs) & 7);
}

#endif
