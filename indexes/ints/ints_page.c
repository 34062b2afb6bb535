/*
 * ints_page.c - one page of up to 256 numbers: chooses the smallest form, packs and unpacks each.
 *
 * plain    base + (field << shift)                       frame of reference; width 0 is the constant page
 * linear   base + (slope * k >> 16) + (field << shift)   for steadily growing numbers: positions
 * window   as plain for most; a field of all ones means "an exception", which is stored with its place after the fields
 *          (PFOR with a free base)
 *
 * Cost: two passes for the plain form and the histogram that gives the cost of windows from the least value on; one
 *       more if the page looks linear; a sort by 16 bits only if some of the values, counted by their high bits, are
 *       close together and far from the least.
 */
#include "base/clones.h"
#include "indexes/ints/ints.h"

#include <assert.h>
#include <string.h>

#define LINEAR_RANGE (1ull << 47) /* slope * 255 and every residual stay far below 64 bits */

/* Sorts up to HDX_PAGE numbers by their lower byte, then by the other; both are counted in one pass. */
static void sort(uint16_t *x, unsigned n)
{
    uint16_t other[HDX_PAGE], low[256] = { 0 }, high[256] = { 0 };
    unsigned lows = 0, highs = 0;
    for (unsigned i = 0; i < n; i++) {
        low[x[i] & 0xff]++;
        high[x[i] >> 8]++;
    }
    for (unsigned b = 0; b < 256; b++) {
        const unsigned l = low[b], h = high[b];
        low[b] = (uint16_t)lows;
        high[b] = (uint16_t)highs;
        lows += l;
        highs += h;
    }
    for (unsigned i = 0; i < n; i++)
        other[low[x[i] & 0xff]++] = x[i];
    for (unsigned i = 0; i < n; i++)
        x[high[other[i] >> 8]++] = other[i];
}

static uint64_t window_bits(unsigned n, unsigned w, unsigned exceptions, unsigned we)
{
    return 8 * (hdx_pack_bytes(n, w) + 1 + exceptions + hdx_pack_bytes(exceptions + 1u, we));
}

#define BOXES  64u
#define SAMPLE 32u /* values examined for that: 1 in 100 of the windows found among all is missed */

/*
 * Returns the largest number of values of x (at most SAMPLE) within two adjacent boxes of 2^shift from `low` on; *low
 * becomes the beginning of those two.
 */
static unsigned crowd(const uint64_t *x, unsigned n, unsigned shift, uint64_t *low)
{
    uint8_t box[2][BOXES + 2] = { { 0 }, { 0 } }; /* neighbours often have the same box: two tables avoid waiting */
    uint8_t two[BOXES], most = 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t b = (x[i] - *low) >> shift;
        box[i & 1][b < BOXES ? b : BOXES + 1]++;
    }
    for (unsigned b = 0; b < BOXES; b++) /* 16 at a time, because counts are small */
        two[b] = (uint8_t)(box[0][b] + box[0][b + 1] + box[1][b] + box[1][b + 1]);
    for (unsigned b = 0; b < BOXES; b++)
        most = two[b] > most ? two[b] : most;
    const uint8_t *best = memchr(two, most, BOXES);
    *low += (uint64_t)(best - two) << shift;
    return most;
}

#define STEP 5u /* bits examined per step; six are used, for two boxes of the previous step */

/* The two adjacent boxes of 2^shift, from `low` on, with the most values. */
typedef struct crowded {
    uint64_t low;
    unsigned shift;
} crowded;

/* Values, of which a sample is examined. */
typedef struct sampled {
    const uint64_t *all;
    unsigned        all_n, n;
    uint64_t        x[SAMPLE];
    uint64_t        all_limit, limit; /* bits that a window must stay below */
    unsigned        a_piece;          /* bits per exception */
} sampled;

/*
 * Checks for all values what the sample shows. The fullest two boxes of all may be adjacent to those of the sample, so
 * values outside of four boxes count as outside.
 */
static bool holds(const sampled *s, const crowded *c)
{
    const uint64_t box = 1ull << c->shift, low = c->low > box ? c->low - box : 0;
    unsigned       odd = 0;
    for (unsigned i = 0; i < s->all_n; i++)
        odd += s->all[i] - low >= 4 * box;
    return s->all_n * (c->shift + 1) + odd * s->a_piece < s->all_limit;
}

/* Same bit by bit, from c on, up to the next step. */
static bool promising_closely(const sampled *s, crowded *c, unsigned odd)
{
    const unsigned stop = c->shift > STEP ? c->shift - STEP : 0;
    for (; c->shift > stop; odd = s->n - crowd(s->x, s->n, --c->shift, &c->low))
        if (s->n * (c->shift + 1) + odd * s->a_piece < s->limit &&
            holds(s, c)) /* fields of this width, if a window is wider than a box; 1 of 10 is not */
            return true;
    return c->shift == 0 && odd * s->a_piece < s->limit && holds(s, c);
}

/*
 * Returns whether a window could need less than limit_bits, and about where; first from a sample. Values outside of the
 * fullest two boxes are exceptions to every window that is narrower than a box, and every wider one has fields of at
 * least that width.
 */
static bool promising(const uint64_t *all, unsigned all_n, unsigned width, uint64_t limit_bits, crowded *c)
{
    sampled s = { .all = all, .all_n = all_n, .all_limit = limit_bits, .a_piece = 8 + (width > 56 ? 64 : width) };
    const unsigned step = (all_n + SAMPLE - 1) / SAMPLE;
    unsigned       odd = 0;
    for (unsigned i = 0; i < all_n; i += step)
        s.x[s.n++] = all[i];
    s.limit = limit_bits * s.n / all_n;
    *c = (crowded){ 0, width - 6 };
    while (odd * s.a_piece < s.limit) {
        odd = s.n - crowd(s.x, s.n, c->shift, &c->low);
        if (c->shift == 0)
            break;
        const unsigned next = c->shift > STEP ? c->shift - STEP : 0;
        crowded        close = *c;
        if (s.n * (next + 1) + odd * s.a_piece < s.limit && promising_closely(&s, &close, odd)) {
            *c = close;
            return true;
        }
        c->shift = next;
    }
    return odd * s.a_piece < s.limit && holds(&s, c);
}

#define QUANTA 9u /* bits of a box that are used */
/* Boxes before the densest place, and as many after it. Wider windows were rejected with the wider boxes. */
#define BEFORE 63u
/* A window of fewer quanta is examined again with finer ones: otherwise 1 in 64 becomes a bit too wide. */
#define COARSE 64u

/* x in order, in quanta of 2^shift from `base` on; `under` of them are below it, `over` too far above it. */
typedef struct ordered {
    uint16_t at[HDX_PAGE];
    uint64_t base;
    unsigned shift, under, over;
} ordered;

static void put_in_order(ordered *o, const uint64_t *x, unsigned n, const crowded *c)
{
    o->shift = c->shift > QUANTA ? c->shift - QUANTA : 0;
    o->base = c->low >> c->shift > BEFORE ? c->low - ((uint64_t)BEFORE << c->shift) : 0;
    o->under = o->over = 0;
    for (unsigned i = 0; i < n; i++) {
        const bool     under = x[i] < o->base;
        const uint64_t q = under ? 0 : (x[i] - o->base) >> o->shift;
        o->under += under;
        o->over += q > UINT16_MAX;
        o->at[i] = q > UINT16_MAX ? UINT16_MAX : (uint16_t)q;
    }
    sort(o->at, n);
}

/* Returns the cheapest window over these values, with its width in quanta; UINT64_MAX: none. */
static uint64_t cheapest(const ordered *o, unsigned n, unsigned we, hdx_page_window *window)
{
    static const uint8_t tries[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96 };
    uint64_t             found = UINT64_MAX;
    window->bits = UINT64_MAX;
    for (unsigned t = 0; t < sizeof tries && tries[t] < n;
         t++) { /* a window over n - e neighbours has only e + 1 places */
        const unsigned e = tries[t], end = e < o->over ? 0 : e - o->over + 1;
        uint64_t       quanta = UINT64_MAX;
        unsigned       low = 0;
        for (unsigned i = o->under; i < end; i++)
            if ((uint64_t)o->at[i + n - e - 1] - o->at[i] < quanta)
                quanta = (uint64_t)o->at[i + n - e - 1] - o->at[low = i];
        if (quanta >= UINT64_MAX >> o->shift) /* none, or as wide as all numbers */
            continue;
        const unsigned w = hdx_pack_width((quanta + 1) << o->shift); /* the field of all ones is reserved */
        const uint64_t bits = window_bits(n, w, e, we);
        if (bits < window->bits) {
            *window = (hdx_page_window){ o->base + ((uint64_t)o->at[low] << o->shift), bits, w, 0 };
            found = quanta;
        }
    }
    return found;
}

HDX_CLONES bool hdx_page_window_find(const uint64_t *x, unsigned n, uint64_t greatest, uint64_t limit_bits,
                                     hdx_page_window *window)
{
    ordered        o;
    crowded        c;
    const unsigned we = hdx_pack_width(greatest);
    uint64_t       quanta;
    if (n < 16 || hdx_width(greatest) < 8 || !promising(x, n, hdx_width(greatest), limit_bits, &c))
        return false;
    for (;;) {
        put_in_order(&o, x, n, &c);
        if ((quanta = cheapest(&o, n, we, window)) == UINT64_MAX)
            return false;
        if (quanta >= COARSE || o.shift == 0)
            break;
        c = (crowded){ window->low, o.shift + hdx_width(quanta) };
    }
    for (unsigned i = 0; i < n; i++) /* rounding w up may include some again */
        window->exceptions += x[i] - window->low >= hdx_pack_mask(window->w);
    window->bits = window_bits(n, window->w, window->exceptions, we);
    return window->exceptions > 0 && window->exceptions < HDX_PAGE && window->bits < limit_bits;
}

/* w 0: every value except for exceptions is `low`, and fields have no meaning. */
HDX_CLONES uint32_t hdx_page_window_put(uint8_t *out, const uint64_t *x, unsigned n, uint64_t greatest,
                                        const hdx_page_window *window)
{
    uint64_t fields[HDX_PAGE], odd[HDX_PAGE + 1], limit = window->w == 0 ? 1 : hdx_pack_mask(window->w);
    unsigned e = 0, we = hdx_pack_width(greatest);
    odd[0] = window->low;
    fields[0] = 0; /* n is at least 1, which compilers do not know */
    for (unsigned i = 0; i < n; i++)
        fields[i] = x[i] - window->low < limit ? x[i] - window->low : limit;
    uint32_t used = hdx_pack_put(out, fields, n, window->w);
    assert(hdx_pack_known(window->w) && used == hdx_pack_bytes(n, window->w));
    out[used++] = (uint8_t)we;
    for (unsigned i = 0; i < n; i++) { /* written even if not used: no unpredictable branch */
        out[used + e] = (uint8_t)i;
        odd[e + 1] = x[i];
        e += fields[i] == limit;
    }
    assert(e == window->exceptions && e < HDX_PAGE); /* as computed: the entry, or a byte, has the number */
    used += e;
    return used + hdx_pack_put(out + used, odd, e + 1, we);
}

/*
 * The advantage, in bits, of a look-up that finds its value in the field rather than after all of them, in another
 * line.
 */
#define APART 16u

/*
 * Finds the best window from the least value on, from counts per width: fits[w] values are below 2^w - 1 (w 0: equal
 * 0).
 */
static bool low_window(const uint64_t *x, unsigned n, unsigned width, uint64_t limit_bits, hdx_page_window *window)
{
    uint16_t even[66] = { 0 }, odd[66] = { 0 }; /* neighbours often have the same width: two tables avoid waiting */
    unsigned fits = 0, best = UINT32_MAX, i = 0;
    for (; i + 1 < n; i += 2) {
        even[hdx_width(x[i] + 1)]++; /* x + 1 < 2^w: a field below all ones. UINT64_MAX wraps to 0: see `fits` of w 0 */
        odd[hdx_width(x[i + 1] + 1)]++;
    }
    if (i < n)
        even[hdx_width(x[i] + 1)]++;
    const unsigned zeros = (unsigned)even[1] + odd[1];
    if (width == 64)
        return false; /* narrower pages of such values are not worth handling the wrap */
    for (unsigned w = 0; w < width && w <= 56; w++) {
        fits += (unsigned)even[w] + odd[w];
        unsigned       e = n - (w == 0 ? zeros : fits);
        const uint64_t bits = window_bits(n, w, e, hdx_pack_width(hdx_pack_mask(width))), cost = bits + APART * e;
        if (e < HDX_PAGE && cost < limit_bits) {
            limit_bits = cost;
            *window = (hdx_page_window){ 0, bits, w, e };
            best = w;
        }
    }
    return best != UINT32_MAX;
}

/*
 * Tries the straight line between first and last value; true: r contains the residuals above *base, which have `shift`
 * common bits.
 */
static bool line(const uint64_t *v, unsigned n, uint64_t range, uint64_t *slope, uint64_t *r, uint64_t *base,
                 uint64_t *greatest)
{
    if (n < 3 || range >= LINEAR_RANGE || v[n - 1] <= v[0] || v[n - 1] - v[0] < range / 2)
        return false;
    int64_t low = 0, high = 0;
    *slope = ((v[n - 1] - v[0]) << 16) / (n - 1);
    if (*slope >> HDX_INTS_SLOPE_BITS != 0)
        return false;
    for (unsigned k = 0; k < n; k++) {
        int64_t d = (int64_t)(v[k] - v[0] - (*slope * k >> 16));
        r[k] = (uint64_t)d;
        low = d < low ? d : low;
        high = d > high ? d : high;
    }
    for (unsigned k = 0; k < n; k++)
        r[k] -= (uint64_t)low;
    *base = v[0] + (uint64_t)low;
    *greatest = (uint64_t)high - (uint64_t)low;
    return *base + LINEAR_RANGE < 2 * LINEAR_RANGE; /* 48 bits, signed: a line may begin below 0 */
}

HDX_CLONES uint32_t hdx_ints_encode(const uint64_t *v, unsigned n, uint8_t *out, uint64_t *first, uint64_t *second)
{
    uint64_t        x[HDX_PAGE], r[HDX_PAGE];
    uint64_t        low = v[0], high = v[0], differs = 0, slope, base, greatest;
    hdx_page_window window, free_window;
    assert(n >= 1 && n <= HDX_PAGE); /* S2 */
    for (unsigned i = 1; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
        differs |= v[i] ^ v[0];
    }
    *first = low;
    *second = hdx_ints_word(HDX_INTS_PLAIN, 0, 0, 0);
    if (differs == 0)
        return 0;
    unsigned shift = (unsigned)__builtin_ctzll(differs); /* number of trailing zeros of all differences */
    for (unsigned i = 0; i < n; i++)
        x[i] = (v[i] - low) >> shift;
    high = (high - low) >> shift;
    unsigned      w = hdx_pack_width(high);
    uint64_t      bits = 8 * hdx_pack_bytes(n, w);
    hdx_ints_form form = HDX_INTS_PLAIN;
    if (line(v, n, high << shift, &slope, r, &base, &greatest) &&
        8 * hdx_pack_bytes(n, hdx_pack_width(greatest)) < bits) {
        form = HDX_INTS_LINEAR;
        bits = 8 * hdx_pack_bytes(n, hdx_pack_width(greatest));
    }
    if (low_window(x, n, hdx_width(high), bits, &window)) {
        form = HDX_INTS_WINDOW;
        bits = window.bits;
    }
    if (bits > n * 8u && hdx_page_window_find(x, n, high, bits, &free_window)) {
        form = HDX_INTS_WINDOW;
        window = free_window;
    }
    switch (form) {
    case HDX_INTS_LINEAR:
        w = hdx_pack_width(greatest);
        *first = (base & 0xffffffffffffu) | slope << 48;
        *second = hdx_ints_word(form, w, 0, 0) | slope >> 16 << 47;
        return hdx_pack_put(out, r, n, w);
    case HDX_INTS_WINDOW:
        *first = low + (window.low << shift);
        *second = hdx_ints_word(form, window.w, shift, window.exceptions);
        return hdx_page_window_put(out, x, n, high, &window);
    default: *second = hdx_ints_word(form, w, shift, 0); return hdx_pack_put(out, x, n, w);
    }
}

bool hdx_ints_decode(const hdx_page *page, unsigned count, unsigned k, unsigned n, uint64_t *out)
{
    unsigned       w = page->second >> 40 & 127, shift = page->second >> 47 & 63, exceptions = page->second >> 53 & 255;
    uint64_t       mask = hdx_pack_mask(w <= 64 ? w : 64), bit = (uint64_t)k * w, base = page->first;
    const uint8_t *fields = page->at;
    hdx_page_window_tail tail;
    assert(n >= 1 && k + n <= count && count <= HDX_PAGE); /* from the caller; the page is not trusted */
    if (!hdx_pack_known(w))
        return false;
    switch (page->second >> 61) {
    case HDX_INTS_PLAIN:
        if (hdx_pack_bytes(count, w) > page->len)
            return false;
        if (w == 0) {
            for (unsigned i = 0; i < n; i++)
                out[i] = base;
            return true;
        }
        for (unsigned i = 0; i < n; i++, bit += w)
            out[i] = base + ((hdx_le64(fields + (bit >> 3)) >> (bit & 7) & mask) << shift);
        return true;
    case HDX_INTS_LINEAR: {
        if (hdx_pack_bytes(count, w) > page->len)
            return false;
        hdx_ints_line l = hdx_ints_line_of(page->first, page->second);
        for (unsigned i = 0; i < n; i++, bit += w)
            out[i] = l.base + (l.slope * (k + i) >> 16) + (hdx_le64(fields + (bit >> 3)) >> (bit & 7) & mask);
        return true;
    }
    case HDX_INTS_WINDOW:
        if (!hdx_page_window_tail_of(fields, page->len, count, w, exceptions, &tail))
            return false;
        for (unsigned i = 0; i < n; i++, bit += w)
            out[i] = base + ((hdx_le64(fields + (bit >> 3)) >> (bit & 7) & mask) << shift);
        base -= hdx_pack_get(tail.values, 0, tail.w) << shift;
        for (unsigned e = 0; e < exceptions; e++) {
            unsigned at = (unsigned)tail.places[e] - k;
            if (at < n)
                out[at] = base + (hdx_pack_get(tail.values, e + 1u, tail.w) << shift);
        }
        return true;
    default: return false;
    }
}
