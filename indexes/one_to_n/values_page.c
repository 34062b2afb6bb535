/*
 * values_page.c - up to 256 values of lists with their keys: chooses the smallest form, packs and unpacks each.
 *
 * Two bands: most references are either close to their source or all in the same distant region, and in nearly every
 * page a few of the other kind determine the width of all. One bit a value selects the band; the number of such bits
 * before it gives the index in the band, so access by number stays O(1). The best border between the bands is found
 * exactly from one histogram: for each width of the zigzag distance the count, the least and the greatest value;
 * accumulated from the widest down they give the far band's range for every border (trying each border separately costs
 * 26-45 ns a value).
 */
#include "indexes/one_to_n/one_to_n.h"
#include "indexes/one_to_n/ascending.h"
#include "base/clones.h"
#include "indexes/ints/ints.h"

#include <assert.h>

typedef struct bands {
    uint64_t bits, base;
    unsigned near, far, border; /* widths; a distance of more than `border` bits is far */
} bands;

/* Values whose distance has this many bits. */
typedef struct by_width {
    uint64_t low, high, count;
} by_width;

static inline void note_width(by_width *b, uint64_t v)
{
    b->count++;
    b->low = v < b->low ? v : b->low;
    b->high = v > b->high ? v : b->high;
}

static inline void join_width(by_width *b, const by_width *other)
{
    b->count += other->count;
    b->low = other->low < b->low ? other->low : b->low;
    b->high = other->high > b->high ? other->high : b->high;
}

/* Returns the border with the fewest bits; no distance has more than `most` bits. */
static bands choose_bands(const uint64_t *v, const uint64_t *distance, unsigned n, unsigned most)
{
    by_width even[65], odd[65],
        far = { UINT64_MAX, 0, 0 }; /* neighbours often have the same width: two tables avoid waiting */
    bands best = { .bits = UINT64_MAX };
    for (unsigned w = 0; w <= most; w++)
        even[w] = odd[w] = far;
    for (unsigned i = 0; i + 1 < n; i += 2) {
        note_width(&even[hdx_width(distance[i])], v[i]);
        note_width(&odd[hdx_width(distance[i + 1])], v[i + 1]);
    }
    if ((n & 1) != 0)
        note_width(&even[hdx_width(distance[n - 1])], v[n - 1]);
    for (unsigned w = most + 1; w-- > 0;) { /* here distances wider than w are far */
        if (even[w].count + odd[w].count > 0) {
            unsigned near_w = w > 56 ? 64 : w, far_w = far.count == 0 ? 0 : hdx_pack_width(far.high - far.low);
            uint64_t bits =
                8 * ((n + 7) / 8 + hdx_pack_bytes(n - far.count, near_w) + hdx_pack_bytes(far.count, far_w));
            if (bits < best.bits)
                best = (bands){ bits, far.count == 0 ? 0 : far.low, near_w, far_w, w };
            join_width(&far, &even[w]);
            join_width(&far, &odd[w]);
        }
    }
    return best;
}

static uint32_t put_bands(uint8_t *out, const uint64_t *v, const uint64_t *distance, unsigned n, const bands *b)
{
    uint64_t near[HDX_PAGE], far[HDX_PAGE], limit = hdx_pack_mask(b->border);
    unsigned nears = 0, fars = 0, selector = 0;
    uint32_t used = (n + 7) / 8;
    for (unsigned i = 0; i < n; i++) { /* both are written, one is used: no unpredictable branch */
        unsigned is_far = distance[i] > limit;
        near[nears] = distance[i];
        far[fars] = v[i] - b->base;
        nears += 1 - is_far;
        fars += is_far;
        selector = selector >> 1 | is_far << 7;
        if ((i & 7) == 7)
            out[i >> 3] = (uint8_t)selector;
    }
    if ((n & 7) != 0)
        out[n >> 3] = (uint8_t)(selector >> (8 - (n & 7)) & ((1u << (n & 7)) - 1));
    used += hdx_pack_put(out + used, near, nears, b->near);
    return used + hdx_pack_put(out + used, far, fars, b->far);
}

static uint64_t word(hdx_values_form form, unsigned w1, unsigned w2)
{
    return (uint64_t)w1 << 40 | (uint64_t)w2 << 47 | (uint64_t)form << 61;
}

/* Facts for the choice of a form. */
typedef struct spread {
    uint64_t low, high;           /* of the values */
    int64_t  near_low, near_high; /* of their distances from the keys */
    bool     rising;
} spread;

/* For numbers below 2^31, as nearly all are: four at a time. */
static spread look_narrow(const uint64_t *v, const uint64_t *keys, unsigned n)
{
    int32_t low = INT32_MAX, high = 0, near_low = INT32_MAX, near_high = INT32_MIN, falls = 0;
    for (unsigned i = 0; i < n; i++) {
        const int32_t x = (int32_t)v[i], d = x - (int32_t)keys[i];
        low = x < low ? x : low;
        high = x > high ? x : high;
        near_low = d < near_low ? d : near_low;
        near_high = d > near_high ? d : near_high;
    }
    for (unsigned i = 1; i < n; i++)
        falls |= (int32_t)v[i] - (int32_t)v[i - 1];
    return (spread){ (uint64_t)low, (uint64_t)high, near_low, near_high, falls >= 0 };
}

static spread look(const uint64_t *v, const uint64_t *keys, unsigned n)
{
    uint64_t some = 0, last = 0;
    for (unsigned i = 0; i < n; i++)
        some |= v[i] | keys[i];
    if (some <= INT32_MAX)
        return look_narrow(v, keys, n);
    spread s = { v[0], v[0], INT64_MAX, INT64_MIN, true };
    for (unsigned i = 0; i < n; i++) {
        const int64_t d = (int64_t)(v[i] - keys[i]);
        s.rising &= v[i] >= last;
        last = v[i];
        s.low = v[i] < s.low ? v[i] : s.low;
        s.high = v[i] > s.high ? v[i] : s.high;
        s.near_low = d < s.near_low ? d : s.near_low;
        s.near_high = d > s.near_high ? d : s.near_high;
    }
    return s;
}

HDX_CLONES uint32_t hdx_values_encode(const uint64_t *v, const uint64_t *keys, unsigned n, uint8_t *out,
                                      uint64_t *first, uint64_t *second)
{
    uint64_t        x[HDX_PAGE], distance[HDX_PAGE];
    uint64_t        bits, b;
    hdx_page_window window = { 0 };
    assert(n >= 1 && n <= HDX_PAGE); /* S2 */
    const spread    s = look(v, keys, n);
    const uint64_t  range = s.high - s.low, near_range = (uint64_t)s.near_high - (uint64_t)s.near_low;
    unsigned        w = hdx_pack_width(range), near_w = hdx_pack_width(near_range), rising_w = 0;
    hdx_values_form form = HDX_VALUES_PLAIN;
    bits = 8 * hdx_pack_bytes(n, w);
    if ((b = 8 * hdx_pack_bytes(n, near_w)) < bits) {
        form = HDX_VALUES_NEAR;
        bits = b;
    }
    if (s.rising && n > 1 && (rising_w = hdx_ascending_low(range, n)) <= 56 &&
        (b = 8 * hdx_ascending_bytes(range, n, rising_w)) < bits) {
        form = HDX_VALUES_ASCENDING;
        bits = b;
    }
    distance[0] = 0; /* n is at least 1, which compilers do not know */
    bands two = { .bits = UINT64_MAX };
    if (bits > (form == HDX_VALUES_ASCENDING ? 6 : 2) *
                   n) { /* ascending and close together: no other form is smaller, in 9,997 of 10,000 pages */
        uint64_t some = 0;
        for (unsigned i = 0; i < n; i++)
            some |= distance[i] = hdx_zigzag((int64_t)(v[i] - keys[i]));
        if ((two = choose_bands(v, distance, n, hdx_width(some))).bits < bits) {
            form = HDX_VALUES_BANDS;
            bits = two.bits;
        }
    }
    for (unsigned i = 0; i < n; i++)
        x[i] = v[i] - s.low;
    assert(bits <= 64ull * n); /* plain is never larger, so a page fits its room */
    if (bits > 6 * n && hdx_page_window_find(x, n, range, bits - 8, &window)) /* 8: the byte that counts exceptions */
        form = HDX_VALUES_WINDOW;
    *first = s.low;
    switch (form) {
    case HDX_VALUES_NEAR:
        for (unsigned i = 0; i < n; i++)
            x[i] = v[i] - keys[i] - (uint64_t)s.near_low;
        *first = (uint64_t)s.near_low;
        *second = word(form, near_w, 0);
        return hdx_pack_put(out, x, n, near_w);
    case HDX_VALUES_BANDS:
        *first = two.base;
        *second = word(form, two.near, two.far);
        return put_bands(out, v, distance, n, &two);
    case HDX_VALUES_WINDOW: /* one byte more than in ints/: the entry has no room for the number of exceptions */
        *first = s.low + window.low;
        *second = word(form, window.w, 0);
        out[0] = (uint8_t)window.exceptions;
        return 1 + hdx_page_window_put(out + 1, x, n, range, &window);
    case HDX_VALUES_ASCENDING: *second = word(form, rising_w, 0); return hdx_ascending_put(out, x, n, range, rising_w);
    default: *second = word(HDX_VALUES_PLAIN, w, 0); return hdx_pack_put(out, x, n, w);
    }
}

static inline uint64_t greater(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* stride 0: one key for all; 1: a key for each. */
static inline bool decode_bands(const hdx_page *page, unsigned count, const uint64_t *keys, unsigned stride, unsigned k,
                                unsigned n, uint64_t *out, uint64_t *greatest)
{
    unsigned w1 = page->second >> 40 & 127, w2 = page->second >> 47 & 127, fars = 0, before = 0;
    uint32_t bytes = (count + 7) / 8;
    uint64_t selector[4], most = 0;
    if (bytes > page->len || !hdx_pack_known(w1) || !hdx_pack_known(w2))
        return false;
    for (unsigned i = 0; i < 4;
         i++) { /* always four words, which may extend beyond the selector (C1): those bits are ignored */
        selector[i] = hdx_le64(page->at + 8 * (size_t)i);
        if (count < HDX_PAGE)
            selector[i] &= count <= 64 * i ? 0 : hdx_pack_mask(count - 64 * i < 64 ? count - 64 * i : 64);
        fars += (unsigned)__builtin_popcountll(selector[i]);
        before += (unsigned)__builtin_popcountll(selector[i] & (i < k >> 6    ? UINT64_MAX
                                                                : i == k >> 6 ? (1ull << (k & 63)) - 1
                                                                              : 0)); /* without a branch */
    }
    uint64_t near_bytes = hdx_pack_bytes(count - fars, w1);
    if (bytes + near_bytes + hdx_pack_bytes(fars, w2) > page->len)
        return false;
    const uint8_t *near = page->at + bytes, *far = near + near_bytes;
    uint64_t       m1 = hdx_pack_mask(w1), m2 = hdx_pack_mask(w2), near_bit = (uint64_t)(k - before) * w1,
             far_bit = (uint64_t)before * w2;
    for (unsigned i = 0; i < n; i++) { /* both are read, one is used: which one is unpredictable */
        uint64_t is_far = 0 - (selector[(k + i) >> 6] >> ((k + i) & 63) & 1);
        uint64_t a =
            keys[(size_t)i * stride] + (uint64_t)hdx_unzigzag(hdx_le64(near + (near_bit >> 3)) >> (near_bit & 7) & m1);
        uint64_t b = page->first + (hdx_le64(far + (far_bit >> 3)) >> (far_bit & 7) & m2);
        out[i] = a ^ ((a ^ b) & is_far);
        most = greater(out[i], most);
        near_bit += w1 & ~is_far;
        far_bit += w2 & is_far;
    }
    *greatest = most;
    return true;
}

/* base + field each. True: a field is all ones, which in a window means an exception. */
static inline bool decode_fields(const uint8_t *at, unsigned w, uint64_t base, unsigned k, unsigned n, uint64_t *out,
                                 uint64_t *greatest)
{
    const uint64_t mask = hdx_pack_mask(w);
    uint64_t       bit = (uint64_t)k * w, most = 0;
    bool           full = false;
    for (unsigned i = 0; i < n; i++, bit += w) {
        const uint64_t field = hdx_le64(at + (bit >> 3)) >> (bit & 7) & mask;
        full |= field == mask;
        out[i] = base + field;
        most = greater(out[i], most);
    }
    *greatest = most;
    return full;
}

/* The tail is in other cache lines than the fields: it is read only if a field refers to it. */
static bool decode_window(const hdx_page *page, unsigned count, unsigned k, unsigned n, uint64_t *out,
                          uint64_t *greatest)
{
    hdx_page_window_tail tail;
    unsigned             w = page->second >> 40 & 127, before = 0;
    if (!hdx_pack_known(w) || 1 + hdx_pack_bytes(count, w) > page->len)
        return false;
    if (!decode_fields(page->at + 1, w, page->first, k, n, out, greatest))
        return true;
    if (!hdx_page_window_tail_of(page->at + 1, page->len - 1, count, w, page->at[0], &tail))
        return false;
    const uint64_t base = page->first - hdx_pack_get(tail.values, 0, tail.w);
    for (unsigned e = 0; e < tail.exceptions;
         e++) /* places ascend; no branch, so that the compiler compares 16 at a time */
        before += tail.places[e] < k;
    for (unsigned e = before; e < tail.exceptions && (unsigned)tail.places[e] - k < n; e++)
        out[tail.places[e] - k] = base + hdx_pack_get(tail.values, e + 1u, tail.w);
    *greatest = 0;
    for (unsigned i = 0; i < n; i++)
        *greatest = greater(out[i], *greatest);
    return true;
}

static bool decode_ascending(const hdx_page *page, unsigned count, unsigned k, unsigned n, uint64_t *out,
                             uint64_t *greatest)
{
    hdx_ascending a;
    unsigned      at;
    uint64_t      rest;
    *greatest = 0;
    if (!hdx_ascending_of(page->at, page->len, count, page->second >> 40 & 127, &a) ||
        !hdx_ascending_find(&a, k, &at, &rest))
        return false;
    for (unsigned i = 0; i < n; i++) {
        if (!hdx_ascending_next(&a, k + i, &at, &rest, &out[i]))
            return false;
        out[i] += page->first;
        *greatest = greater(out[i], *greatest);
    }
    return true;
}

/* Prefetches the line of a byte and, near its end, the next: the position is known only approximately. */
static void lines_ahead(const hdx_page *page, uint32_t at)
{
    uint32_t low = at > 8 ? at - 8 : 0, high = at + 16 < page->len ? at + 16 : low;
    __builtin_prefetch(page->at + (low < page->len ? low : 0));
    __builtin_prefetch(page->at + high);
}

void hdx_values_fetch(const hdx_page *page, unsigned k)
{
    const uint32_t count = HDX_PAGE,
                   selector = HDX_PAGE / 8; /* as if the page were full: only prefetched lines may differ */
    uint32_t w1 = page->second >> 40 & 127, w2 = page->second >> 47 & 127, bits = 8 * page->len, fars = 0, near_at,
             far_at;
    switch (page->second >> 61) {
    case HDX_VALUES_BANDS:
        /* The length of the page gives the number of far values; their places are guessed as evenly spread. */
        if (w2 > w1 && bits > 8 * selector + count * w1)
            fars = (bits - 8 * selector - count * w1) / (w2 - w1);
        else if (w2 < w1 && bits > 8 * selector + count * w2 && bits < 8 * selector + count * w1)
            fars = (8 * selector + count * w1 - bits) / (w1 - w2);
        fars = fars > count ? count : fars;
        near_at = selector + (k * (count - fars) / HDX_PAGE * w1) / 8;
        far_at = selector + ((count - fars) * w1 + k * fars / HDX_PAGE * w2) / 8;
        __builtin_prefetch(page->at);
        lines_ahead(page, near_at);
        lines_ahead(page, far_at);
        break;
    case HDX_VALUES_ASCENDING: /* a few lines long, and all words are counted */
        for (uint32_t at = 0; at < page->len && at < 192; at += 64)
            __builtin_prefetch(page->at + at);
        break;
    default: /* of a window usually only the field; near the end of its line also the next, for more values */
        near_at = k * w1 / 8;
        __builtin_prefetch(page->at + (near_at < page->len ? near_at : 0));
        __builtin_prefetch(page->at + (near_at + 16 < page->len ? near_at + 16 : 0));
        break;
    }
}

bool hdx_values_decode(const hdx_page *page, unsigned count, uint64_t key, unsigned k, unsigned n, uint64_t *out,
                       uint64_t *greatest)
{
    const unsigned w = page->second >> 40 & 127;
    uint64_t       base = page->first;
    switch (page->second >> 61) {
    case HDX_VALUES_NEAR:
        base += key; /* then as plain: one key, one base */
        /* fall through */
    case HDX_VALUES_PLAIN:
        if (!hdx_pack_known(w) || hdx_pack_bytes(count, w) > page->len)
            return false;
        (void)decode_fields(page->at, w, base, k, n, out, greatest);
        return true;
    case HDX_VALUES_BANDS: return decode_bands(page, count, &key, 0, k, n, out, greatest);
    case HDX_VALUES_WINDOW: return decode_window(page, count, k, n, out, greatest);
    case HDX_VALUES_ASCENDING: return decode_ascending(page, count, k, n, out, greatest);
    default: return false;
    }
}

bool hdx_values_decode_all(const hdx_page *page, unsigned count, const uint64_t *keys, unsigned k, unsigned n,
                           uint64_t *out, uint64_t *greatest)
{
    uint64_t form = page->second >> 61;
    if (form == HDX_VALUES_BANDS)
        return decode_bands(page, count, keys, 1, k, n, out, greatest);
    if (!hdx_values_decode(page, count, 0, k, n, out, greatest))
        return false;
    if (form == HDX_VALUES_NEAR) {
        *greatest = 0;
        for (unsigned i = 0; i < n; i++) {
            out[i] += keys[i];
            *greatest = greater(out[i], *greatest);
        }
    }
    return true;
}
