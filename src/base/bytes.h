/* bytes.h - reads numbers from untrusted bytes, and does arithmetic with overflow checks. */
#ifndef HDX_BASE_BYTES_H
#define HDX_BASE_BYTES_H

#include <heapdex/types.h>
#include <string.h>

/* Reads of single bytes do not depend on alignment or byte order; each compiles to one load. */
static inline uint16_t hdx_le16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t hdx_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t hdx_le64(const uint8_t *p) { return (uint64_t)hdx_le32(p) | (uint64_t)hdx_le32(p + 4) << 32; }
static inline uint16_t hdx_be16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
static inline uint32_t hdx_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}
static inline uint64_t hdx_be64(const uint8_t *p) { return (uint64_t)hdx_be32(p) << 32 | (uint64_t)hdx_be32(p + 4); }

static inline void hdx_put16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}
static inline void hdx_put32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
}
static inline void hdx_put64(uint8_t *p, uint64_t v)
{
    hdx_put32(p, (uint32_t)v);
    hdx_put32(p + 4, (uint32_t)(v >> 32));
}

/*
 * Moves the first n bytes of v to *part. False: v is shorter. Lengths are compared, never pointers, because at + n may
 * wrap.
 */
static inline bool hdx_cut(hdx_view *v, uint64_t n, hdx_view *part)
{
    if (n > v->len)
        return false;
    *part = (hdx_view){ v->at, (size_t)n };
    v->at += n;
    v->len -= (size_t)n;
    return true;
}

static inline bool hdx_mul(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool hdx_add(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_add_overflow(a, b, out); }

static inline uint64_t hdx_least(uint64_t a, uint64_t b) { return a < b ? a : b; }
/* Compares two numbers for qsort: returns -1, 0 or 1. */
static inline int hdx_order(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* `to` is nearly always a power of two; a division takes up to 40 cycles. */
static inline uint64_t hdx_round_up(uint64_t n, uint64_t to)
{
    return to == 0 ? n : (to & (to - 1)) == 0 ? (n + to - 1) & ~(to - 1) : (n + to - 1) / to * to;
}

/* Number of bits needed for v; 0 for 0. */
static inline unsigned hdx_width(uint64_t v) { return v == 0 ? 0 : 64u - (unsigned)__builtin_clzll(v); }

static inline uint64_t hdx_zigzag(int64_t v) { return (uint64_t)v << 1 ^ (uint64_t)(v >> 63); }
static inline int64_t  hdx_unzigzag(uint64_t v) { return (int64_t)(v >> 1) ^ -(int64_t)(v & 1); }

static inline bool hdx_text_is(hdx_text t, const char *s) { return strlen(s) == t.len && memcmp(t.at, s, t.len) == 0; }
static inline bool hdx_text_same(hdx_text a, hdx_text b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}
/* Compares two texts by their bytes, as SQLite's collation BINARY does: negative, 0 or positive. */
static inline int hdx_text_order(hdx_text a, hdx_text b)
{
    const uint64_t n = hdx_least(a.len, b.len);
    const int      order = n == 0 ? 0 : memcmp(a.at, b.at, n);
    return order != 0 ? order : hdx_order(a.len, b.len);
}

/* Prefetches bytes that will be read soon. Any address is allowed: nothing is read, and no pointer is formed. */
static inline void hdx_lines_ahead(const void *at, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const void *)((uintptr_t)at + i));
}

#endif
