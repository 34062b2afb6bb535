/*
 * offsets_line.c - the beginnings of the lists of 128 keys, in one cache line.
 *
 * Lengths are stored in three bit planes. The number of values before a key is counted rather than searched: a popcount
 * of each plane up to it. For the few long lists of a line, the excess over seven is stored as running sums, in a word
 * before the planes or, if that is too short, in section 1, which is so small that it stays in a cache.
 *
 * A look-up waits for one line, whereas a directory and pages of 256 keys (format 2) needed an entry and two or three
 * lines of a page, with other page table entries: an outbound list took 220 ns, and takes 184. The price is half a byte
 * a key; pages needed a third of one, and a tenth if most lists are alike.
 */
#include "indexes/one_to_n/one_to_n.h"

#include <assert.h>

#define LONG 7u

static void set_plane(uint64_t plane[2], unsigned k, uint64_t bit) { plane[k >> 6] |= bit << (k & 63); }

hdx_code hdx_offsets_encode(const uint64_t *degrees, unsigned n, uint64_t first, uint8_t line[HDX_LINE], uint8_t *page,
                            uint64_t place, uint32_t *used, uint64_t *sum, hdx_error *err)
{
    uint64_t planes[3][2] = { { 0 } }, beyond[HDX_LINE_KEYS], all = 0, word = 0;
    unsigned many = 0;
    *used = 0;
    *sum = 0;
    for (unsigned k = 0; k < n; k++) {
        const uint64_t d = degrees[k] < LONG ? degrees[k] : LONG;
        if (!hdx_add(*sum, degrees[k], sum) || *sum > HDX_LISTED_MAX)
            return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "lists of more than 2^48 - 1 values");
        for (unsigned p = 0; p < 3; p++)
            set_plane(planes[p], k, d >> p & 1);
        if (d == LONG)
            beyond[many++] = all += degrees[k] - LONG;
    }
    assert(all <= *sum && *sum <= HDX_LISTED_MAX); /* 48 bits, so that widths and counts fit */
    const unsigned w = hdx_width(all);
    const bool     far = many * w > 64;
    if (far) {
        *used = hdx_pack_put(page, beyond, many, w);
        word = place | (uint64_t)*used << HDX_OFFSET_BITS;
    } else {
        for (unsigned i = 0; i < many && w > 0; i++)
            word |= beyond[i] << (i * w);
    }
    hdx_put64(line, first | (uint64_t)w << 48 | (uint64_t)far << 63);
    hdx_put64(line + 8, word);
    for (unsigned p = 0; p < 3; p++) {
        hdx_put64(line + 16 + 16 * (size_t)p, planes[p][0]);
        hdx_put64(line + 24 + 16 * (size_t)p, planes[p][1]);
    }
    return HDX_OK;
}

static unsigned width_of(const hdx_offsets *o) { return o->head >> 48 & 63; }

/* Returns the excess over seven of the first `many` long lists; false: there are no such sums. */
static bool beyond_of(const hdx_offsets *o, unsigned many, uint64_t *beyond)
{
    const unsigned w = width_of(o);
    *beyond = 0;
    if (many == 0)
        return true;
    if (!hdx_offsets_are_far(o))
        *beyond = hdx_le64(o->line + 8) >> ((many - 1) * w & 63) & hdx_pack_mask(w);
    else if (o->page == NULL || w > 56 || hdx_pack_bytes(many, w) > o->page_bytes)
        return false;
    else
        *beyond = hdx_pack_get(o->page, many - 1, w);
    return true;
}

/* Bits of a plane before key k: `first` of its first word, `own` of the word of the key. */
typedef struct before_key {
    uint64_t first, own;
} before_key;
static inline before_key before_of(unsigned k)
{
    return (before_key){ 0 - (uint64_t)(k >> 6), (1ull << (k & 63)) - 1 };
}
static inline unsigned count_before(before_key b, uint64_t first, uint64_t own)
{
    return (unsigned)(__builtin_popcountll(first & b.first) + __builtin_popcountll(own & b.own));
}
static inline uint64_t plane_word(const hdx_offsets *o, unsigned plane, unsigned word)
{
    return hdx_le64(o->line + 16 + 16 * (size_t)plane + 8 * (size_t)word);
}

/* from and to are without the sums, and are added to. */
static bool add_beyond(const hdx_offsets *o, unsigned k, uint64_t *from, uint64_t *to)
{
    const unsigned word = k >> 6;
    const uint64_t first = plane_word(o, 0, 0) & plane_word(o, 1, 0) & plane_word(o, 2, 0);
    const uint64_t own = plane_word(o, 0, word) & plane_word(o, 1, word) & plane_word(o, 2, word);
    const unsigned many = count_before(before_of(k), first, own);
    uint64_t       before, behind;
    if (!beyond_of(o, many, &before) || !beyond_of(o, many + (unsigned)(own >> (k & 63) & 1), &behind))
        return false;
    *from += before;
    *to += behind;
    return true;
}

bool hdx_offsets_find(const hdx_offsets *o, unsigned k, uint64_t *from, uint64_t *to)
{
    assert(k < HDX_LINE_KEYS);
    const before_key before = before_of(k);
    uint64_t         sum = 0, degree = 0;
    for (unsigned p = 0; p < 3; p++) {
        const uint64_t own = plane_word(o, p, k >> 6);
        sum += (uint64_t)count_before(before, plane_word(o, p, 0), own) << p;
        degree |= (own >> (k & 63) & 1) << p;
    }
    *from = sum;
    *to = sum + degree;
    return o->head >> 48 == 0 || add_beyond(o, k, from, to);
}

/* Bit i of a byte as byte i. */
static inline uint64_t spread(uint64_t byte)
{
    const uint64_t ones = 0x0101010101010101u;
    return ((byte * ones & 0x8040201008040201u) + 0x7f * ones) >> 7 & ones;
}

bool hdx_offsets_decode(const hdx_offsets *o, unsigned k, unsigned n, uint64_t *before, uint64_t *degrees)
{
    uint64_t at, to, beyond = 0, last = 0;
    uint8_t  short_lengths[HDX_LINE_KEYS];
    unsigned longs = 0;
    assert(n >= 1 && k + n <= HDX_LINE_KEYS);
    if (!hdx_offsets_find(o, k + n - 1, &at, &to) || !hdx_offsets_find(o, k, before, &to)) /* it checks the sums */
        return false;
    for (unsigned i = k / 8; i < (k + n + 7) / 8; i++) /* eight keys at a time */
        hdx_put64(short_lengths + 8 * (size_t)i,
                  spread(o->line[16 + i]) + 2 * spread(o->line[32 + i]) + 4 * spread(o->line[48 + i]));
    for (unsigned i = 0; i < n; i++)
        degrees[i] = short_lengths[k + i];
    for (unsigned word = 0; word < 2 && o->head >> 48 != 0; word++)
        for (uint64_t rest = plane_word(o, 0, word) & plane_word(o, 1, word) & plane_word(o, 2, word); rest != 0;
             rest &= rest - 1, last = beyond) {
            const unsigned i = 64 * word + (unsigned)__builtin_ctzll(rest);
            if (i >= k + n || !beyond_of(o, ++longs, &beyond))
                return i >= k + n;
            if (i >= k)
                degrees[i - k] += beyond - last;
        }
    return true;
}
