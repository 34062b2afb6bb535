/*
 * ints_page.c - one page of up to 256 numbers: which form is smallest, and how each is packed and unpacked.
 *
 * plain    base + (field << shift)                       frame of reference; width 0 is the constant page
 * linear   base + (slope * k >> 16) + (field << shift)   for what grows steadily: positions (ALGORITHMS 8.1, "linear")
 * window   as plain for most; a field of all ones says "an exception", kept with its place behind the fields (PFOR with a free base)
 *
 * Cost: two passes for the plain form and the histogram that prices windows from the least value; one more where the page looks linear; a
 * sort only where a histogram of the high bits shows most values close together and far from the least.
 */
#include "indexes/ints/ints.h"

#define LINEAR_RANGE (1ull << 47) /* slope * 255 and every residual stay far from 64 bits */

/* Sorts by bytes from the lowest up; both arrays are of HDX_PAGE. Bytes are counted all at once: one count does not wait for another. */
static void sort(uint64_t *x, uint64_t *other, unsigned n, unsigned width)
{
    uint64_t      *from = x, *to = other, *swap;
    const unsigned digits = (width + 7) / 8;
    uint16_t       places[8][256];
    memset(places, 0, digits * sizeof *places);
    for (unsigned i = 0; i < n; i++)
        for (unsigned d = 0; d < digits; d++)
            places[d][x[i] >> 8 * d & 0xff]++;
    for (unsigned d = 0, shift = 0; d < digits; d++, shift += 8) {
        uint16_t *place = places[d];
        unsigned  sum = 0;
        if (place[x[0] >> shift & 0xff] == n)
            continue;
        for (unsigned b = 0; b < 256; b++) {
            unsigned c = place[b];
            place[b] = (uint16_t)sum;
            sum += c;
        }
        for (unsigned i = 0; i < n; i++)
            to[place[from[i] >> shift & 0xff]++] = from[i];
        swap = from, from = to, to = swap;
    }
    if (from != x)
        memcpy(x, from, n * sizeof *x);
}

static uint64_t window_bits(unsigned n, unsigned w, unsigned exceptions, unsigned we)
{
    return 8 * (hdx_pack_bytes(n, w) + 1 + exceptions + hdx_pack_bytes(exceptions + 1u, we));
}

/* The most of x within two neighbouring of 64 boxes of 2^shift from `low` on; *low becomes where those two begin. */
static unsigned crowd(const uint64_t *x, unsigned n, unsigned shift, uint64_t *low)
{
    uint16_t box[66] = { 0 };
    unsigned most = 0, best = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t b = (x[i] - *low) >> shift;
        box[b < 64 ? b : 65]++;
    }
    for (unsigned b = 0; b < 64; b++)
        if ((unsigned)box[b] + box[b + 1] > most) {
            most = (unsigned)box[b] + box[b + 1];
            best = b;
        }
    *low += (uint64_t)best << shift;
    return most;
}

#define STEP 5u /* bits looked at anew each time; six are seen, for two boxes of the time before */

/* The same bit by bit, from boxes of 2^shift on, as far as the next step would go. */
static bool promising_closely(const uint64_t *x, unsigned n, unsigned shift, unsigned odd, uint64_t low, unsigned a_piece, uint64_t limit_bits)
{
    const unsigned stop = shift > STEP ? shift - STEP : 0;
    for (; shift > stop; odd = n - crowd(x, n, --shift, &low))
        if (n * shift + odd * a_piece < limit_bits) /* fields of at least so many bits where a window is wider than half a box */
            return true;
    return shift == 0 && odd * a_piece < limit_bits;
}

/*
 * Could a window take less than limit_bits? What is outside the fullest two boxes is an exception to every window narrower than one of them, and
 * every wider one has fields of that width at least.
 */
static bool promising(const uint64_t *x, unsigned n, unsigned width, uint64_t limit_bits)
{
    uint64_t low = 0;
    unsigned a_piece = 8 + (width > 56 ? 64 : width), odd = 0;
    if (n < 16 || width < 8)
        return false;
    for (unsigned shift = width - 6; odd * a_piece < limit_bits;) {
        odd = n - crowd(x, n, shift, &low);
        if (shift == 0)
            break;
        const unsigned next = shift > STEP ? shift - STEP : 0;
        if (n * (next + 1) + odd * a_piece < limit_bits && promising_closely(x, n, shift, odd, low, a_piece, limit_bits))
            return true;
        shift = next;
    }
    return odd * a_piece < limit_bits;
}

bool hdx_window_find(const uint64_t *x, unsigned n, uint64_t greatest, uint64_t limit_bits, hdx_window *window)
{
    static const uint8_t tries[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96 };
    uint64_t             s[HDX_PAGE], other[HDX_PAGE];
    unsigned             we = hdx_pack_width(greatest);
    if (!promising(x, n, hdx_width(greatest), limit_bits))
        return false;
    memcpy(s, x, n * sizeof *s);
    sort(s, other, n, hdx_width(greatest));
    window->bits = UINT64_MAX;
    for (unsigned t = 0; t < sizeof tries && tries[t] < n; t++) { /* a window over n - e neighbours has only e + 1 places */
        unsigned e = tries[t];
        uint64_t range = UINT64_MAX, low = 0;
        for (unsigned i = 0; i <= e; i++)
            if (s[i + n - e - 1] - s[i] < range)
                range = s[i + n - e - 1] - s[low = i];
        unsigned w = hdx_pack_width(range + 1); /* the field of all ones is taken */
        uint64_t bits = window_bits(n, w, e, we);
        if (range < UINT64_MAX && bits < window->bits)
            *window = (hdx_window){ s[low], bits, w, 0 };
    }
    if (window->bits == UINT64_MAX)
        return false;
    for (unsigned i = 0; i < n; i++) /* rounding w up may have let some in again */
        window->exceptions += x[i] - window->low >= hdx_pack_mask(window->w);
    window->bits = window_bits(n, window->w, window->exceptions, we);
    return window->exceptions > 0 && window->exceptions < HDX_PAGE && window->bits < limit_bits;
}

/* w 0: every value but the exceptions is `low`, and no field stands for anything. */
uint32_t hdx_window_put(uint8_t *out, const uint64_t *x, unsigned n, uint64_t greatest, const hdx_window *window)
{
    uint64_t fields[HDX_PAGE], odd[HDX_PAGE + 1], limit = window->w == 0 ? 1 : hdx_pack_mask(window->w);
    unsigned e = 0, we = hdx_pack_width(greatest);
    odd[0] = window->low;
    fields[0] = 0; /* n is 1 at least; compilers do not know */
    for (unsigned i = 0; i < n; i++)
        fields[i] = x[i] - window->low < limit ? x[i] - window->low : limit;
    uint32_t used = hdx_pack_put(out, fields, n, window->w);
    out[used++] = (uint8_t)we;
    for (unsigned i = 0; i < n; i++)
        if (fields[i] == limit) {
            out[used + e] = (uint8_t)i;
            odd[++e] = x[i];
        }
    used += e;
    return used + hdx_pack_put(out + used, odd, e + 1, we);
}

/* The best window from the least value on, priced from counts per width: fits[w] values lie below 2^w - 1 (w 0: are 0). */
static bool low_window(const uint64_t *x, unsigned n, unsigned width, uint64_t limit_bits, hdx_window *window)
{
    uint16_t of[66] = { 0 };
    unsigned fits = 0, zeros = 0, best = UINT32_MAX;
    for (unsigned i = 0; i < n; i++) {
        of[hdx_width(x[i] + 1)]++; /* x + 1 < 2^w: a field below all ones. UINT64_MAX wraps to 0: see `fits` of w 0 */
        zeros += x[i] == 0;
    }
    if (width == 64)
        return false; /* no narrower page of such values is worth the care about wrapping */
    for (unsigned w = 0; w < width && w <= 56; w++) {
        fits += of[w];
        unsigned e = n - (w == 0 ? zeros : fits);
        uint64_t bits = window_bits(n, w, e, hdx_pack_width(hdx_pack_mask(width)));
        if (e < HDX_PAGE && bits < limit_bits) {
            limit_bits = bits;
            *window = (hdx_window){ 0, bits, w, e };
            best = w;
        }
    }
    return best != UINT32_MAX;
}

/* Tries the straight line between first and last value; true: r holds the residuals above *base, which have `shift` bits in common. */
static bool line(const uint64_t *v, unsigned n, uint64_t range, uint64_t *slope, uint64_t *r, uint64_t *base, uint64_t *greatest)
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

uint32_t hdx_ints_encode(const uint64_t *v, unsigned n, uint8_t *out, uint64_t *first, uint64_t *second)
{
    uint64_t   x[HDX_PAGE], r[HDX_PAGE];
    uint64_t   low = v[0], high = v[0], differs = 0, slope, base, greatest;
    hdx_window window, free_window;
    for (unsigned i = 1; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
        differs |= v[i] ^ v[0];
    }
    *first = low;
    *second = hdx_ints_word(HDX_INTS_PLAIN, 0, 0, 0);
    if (differs == 0)
        return 0;
    unsigned shift = (unsigned)__builtin_ctzll(differs); /* trailing zeros that all differences have */
    for (unsigned i = 0; i < n; i++)
        x[i] = (v[i] - low) >> shift;
    high = (high - low) >> shift;
    unsigned      w = hdx_pack_width(high);
    uint64_t      bits = 8 * hdx_pack_bytes(n, w);
    hdx_ints_form form = HDX_INTS_PLAIN;
    if (line(v, n, high << shift, &slope, r, &base, &greatest) && 8 * hdx_pack_bytes(n, hdx_pack_width(greatest)) < bits) {
        form = HDX_INTS_LINEAR;
        bits = 8 * hdx_pack_bytes(n, hdx_pack_width(greatest));
    }
    if (low_window(x, n, hdx_width(high), bits, &window)) {
        form = HDX_INTS_WINDOW;
        bits = window.bits;
    }
    if (bits > n * 8u && hdx_window_find(x, n, high, bits, &free_window)) {
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
        return hdx_window_put(out, x, n, high, &window);
    default:
        *second = hdx_ints_word(form, w, shift, 0);
        return hdx_pack_put(out, x, n, w);
    }
}

bool hdx_ints_decode(const hdx_page *page, unsigned count, unsigned k, unsigned n, uint64_t *out)
{
    unsigned       w = page->second >> 40 & 127, shift = page->second >> 47 & 63, exceptions = page->second >> 53 & 255;
    uint64_t       mask = hdx_pack_mask(w <= 64 ? w : 64), bit = (uint64_t)k * w, base = page->first;
    const uint8_t *fields = page->at;
    hdx_window_tail tail;
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
        if (!hdx_window_tail_of(fields, page->len, count, w, exceptions, &tail))
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
    default:
        return false;
    }
}
