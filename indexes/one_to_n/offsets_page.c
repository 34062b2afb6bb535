/*
 * offsets_page.c - where the lists of up to 256 keys begin, as the smallest of four forms:
 *
 * even       all lists are equally long; nothing stored, for the next page's first value tells the length
 * mostly     one length for most, the others by place and running sum (inbound: 95 % of lists hold one id, ALGORITHMS 2)
 * linear     a straight line and what the offsets are above it (lengths that repeat in a pattern)
 * ascending  Elias-Fano of the ends: about 2 bits a key plus 1 a value, whatever the lengths
 */
#include "indexes/one_to_n/one_to_n.h"
#include "indexes/one_to_n/ascending.h"

static uint64_t word(hdx_offsets_form form, unsigned w, unsigned exceptions)
{
    return (uint64_t)w << 40 | (uint64_t)exceptions << 47 | (uint64_t)form << 61;
}

/* The length that most lists have: majority vote, then counted. */
static uint64_t usual_of(const uint64_t *degrees, unsigned n, unsigned *exceptions)
{
    uint64_t usual = degrees[0];
    unsigned votes = 0, others = 0;
    for (unsigned i = 0; i < n; i++) {
        if (votes == 0)
            usual = degrees[i];
        votes = degrees[i] == usual ? votes + 1 : votes - 1;
    }
    for (unsigned i = 0; i < n; i++)
        others += degrees[i] != usual;
    *exceptions = others;
    return usual;
}

static uint32_t put_mostly(uint8_t *out, const uint64_t *degrees, unsigned n, uint64_t usual, unsigned w)
{
    uint64_t fields[257], sum = 0;
    unsigned e = 0;
    fields[0] = usual;
    out[0] = (uint8_t)w;
    for (unsigned i = 0; i < n; i++)
        if (degrees[i] != usual) {
            sum += degrees[i];
            out[1 + e] = (uint8_t)i;
            fields[++e] = sum;
        }
    return 1 + e + hdx_pack_put(out + 1 + e, fields, e + 1, w);
}

/* Slope and residuals of the offsets 0, ends[0] .. ends[n - 2]; true where they fit in the page's head. */
static bool line(const uint64_t *ends, unsigned n, uint64_t *slope, uint64_t *bias, uint64_t *r, uint64_t *greatest)
{
    int64_t low = 0, high = 0;
    if (ends[n - 1] >= 1ull << 47)
        return false;
    *slope = (ends[n - 1] << 16) / n;
    if (*slope >> 48 != 0)
        return false;
    for (unsigned k = 0; k < n; k++) {
        int64_t d = (int64_t)((k == 0 ? 0 : ends[k - 1]) - (*slope * k >> 16));
        r[k] = (uint64_t)d;
        low = d < low ? d : low;
        high = d > high ? d : high;
    }
    *bias = (uint64_t)-low;
    *greatest = (uint64_t)(high - low);
    for (unsigned k = 0; k < n; k++)
        r[k] += *bias;
    return *bias >> 32 == 0;
}

hdx_code hdx_offsets_encode(const uint64_t *degrees, unsigned n, uint8_t *out, uint32_t *used, uint64_t *second, uint64_t *sum, hdx_error *err)
{
    uint64_t ends[HDX_PAGE], r[HDX_PAGE], slope, bias, greatest, odd = 0;
    unsigned exceptions;
    *sum = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!hdx_add(*sum, degrees[i], sum) || *sum >> 62 != 0)
            return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "lists of more than 2^62 values");
        ends[i] = *sum;
    }
    uint64_t usual = usual_of(degrees, n, &exceptions);
    *used = 0;
    *second = word(HDX_OFFSETS_EVEN, 0, 0);
    if (exceptions == 0)
        return HDX_OK;
    for (unsigned i = 0; i < n; i++)
        odd += degrees[i] == usual ? 0 : degrees[i];
    unsigned          we = hdx_pack_width(odd > usual ? odd : usual), low = hdx_ascending_low(*sum, n), wl = 0;
    hdx_offsets_form  form = HDX_OFFSETS_MOSTLY;
    uint64_t          bytes = exceptions < HDX_PAGE ? 1 + exceptions + hdx_pack_bytes(exceptions + 1u, we) : UINT64_MAX, b;
    if (line(ends, n, &slope, &bias, r, &greatest) && (b = 10 + hdx_pack_bytes(n, wl = hdx_pack_width(greatest))) < bytes) {
        form = HDX_OFFSETS_LINEAR;
        bytes = b;
    }
    if (low <= 56 && hdx_ascending_bytes(*sum, n, low) < bytes)
        form = HDX_OFFSETS_ASCENDING;
    switch (form) {
    case HDX_OFFSETS_LINEAR:
        *second = word(form, wl, 0);
        hdx_put64(out, slope);
        hdx_put32(out + 6, (uint32_t)bias);
        *used = 10 + hdx_pack_put(out + 10, r, n, wl);
        return HDX_OK;
    case HDX_OFFSETS_ASCENDING:
        *second = word(form, low, 0);
        *used = hdx_ascending_put(out, ends, n, *sum, low);
        return HDX_OK;
    default:
        *second = word(form, 0, exceptions);
        *used = put_mostly(out, degrees, n, usual, we);
        return HDX_OK;
    }
}

static bool find_mostly(const hdx_page *page, unsigned k, uint64_t *from, uint64_t *to)
{
    unsigned       e = page->second >> 47 & 255, before = 0, w;
    const uint8_t *places = page->at + 1;
    if (page->len < 1 || !hdx_pack_known(w = page->at[0]) || 1 + e + hdx_pack_bytes(e + 1u, w) > page->len)
        return false;
    for (unsigned i = 0; i < e; i++) /* without a branch: the compiler compares 16 places at a time */
        before += places[i] < k;
    const uint8_t *fields = places + e;
    uint64_t       usual = hdx_pack_get(fields, 0, w), odd = before == 0 ? 0 : hdx_pack_get(fields, before, w);
    if (before > k)
        return false;
    *from = (k - before) * usual + odd;
    *to = before < e && places[before] == k ? (k - before) * usual + hdx_pack_get(fields, before + 1u, w) : *from + usual;
    return true;
}

static bool find_linear(const hdx_page *page, unsigned count, unsigned k, uint64_t *from, uint64_t *to)
{
    unsigned w = page->second >> 40 & 127;
    if (!hdx_pack_known(w) || 10 + hdx_pack_bytes(count, w) > page->len)
        return false;
    uint64_t slope = hdx_le64(page->at) & 0xffffffffffffu, bias = hdx_le32(page->at + 6);
    *from = (slope * k >> 16) + hdx_pack_get(page->at + 10, k, w) - bias;
    *to = k + 1 == count ? page->next - page->first : (slope * (k + 1) >> 16) + hdx_pack_get(page->at + 10, k + 1, w) - bias;
    return true;
}

bool hdx_offsets_find(const hdx_page *page, unsigned count, unsigned k, uint64_t *from, uint64_t *to)
{
    hdx_ascending a;
    unsigned      at = 0;
    uint64_t      rest;
    switch (page->second >> 61) {
    case HDX_OFFSETS_EVEN: {
        uint64_t degree = count == HDX_PAGE ? (page->next - page->first) / HDX_PAGE : (page->next - page->first) / count;
        *from = k * degree;
        *to = *from + degree;
        return true;
    }
    case HDX_OFFSETS_MOSTLY:
        return find_mostly(page, k, from, to);
    case HDX_OFFSETS_LINEAR:
        return find_linear(page, count, k, from, to);
    case HDX_OFFSETS_ASCENDING:
        if (!hdx_ascending_of(page->at, page->len, count, page->second >> 40 & 127, &a))
            return false;
        *from = 0;
        if (k == 0)
            return hdx_ascending_find(&a, 0, &at, &rest) && hdx_ascending_next(&a, 0, &at, &rest, to);
        return hdx_ascending_find(&a, k - 1, &at, &rest) && hdx_ascending_next(&a, k - 1, &at, &rest, from) &&
               hdx_ascending_next(&a, k, &at, &rest, to);
    default:
        return false;
    }
}

static void degrees_mostly(const hdx_page *page, unsigned k, unsigned n, uint64_t *degrees)
{
    unsigned       e = page->second >> 47 & 255, w = page->at[0];
    const uint8_t *places = page->at + 1, *fields = places + e;
    uint64_t       usual = hdx_pack_get(fields, 0, w), last = 0;
    for (unsigned i = 0; i < n; i++)
        degrees[i] = usual;
    for (unsigned i = 0; i < e; i++) {
        uint64_t sum = hdx_pack_get(fields, i + 1u, w);
        if (places[i] - k < n) /* also false where it is before k: unsigned */
            degrees[places[i] - k] = sum - last;
        last = sum;
    }
}

static void degrees_linear(const hdx_page *page, unsigned count, unsigned k, unsigned n, uint64_t from, uint64_t *degrees)
{
    unsigned w = page->second >> 40 & 127;
    uint64_t slope = hdx_le64(page->at) & 0xffffffffffffu, bias = hdx_le32(page->at + 6);
    for (unsigned i = 0, at = k + 1; i < n; i++, at++) {
        uint64_t to = at == count ? page->next - page->first : (slope * at >> 16) + hdx_pack_get(page->at + 10, at, w) - bias;
        degrees[i] = to - from;
        from = to;
    }
}

static bool degrees_ascending(const hdx_page *page, unsigned count, unsigned k, unsigned n, uint64_t from, uint64_t *degrees)
{
    hdx_ascending a;
    unsigned      at = 0;
    uint64_t      rest, to;
    if (!hdx_ascending_of(page->at, page->len, count, page->second >> 40 & 127, &a) || !hdx_ascending_find(&a, k, &at, &rest))
        return false;
    for (unsigned i = 0; i < n; i++) {
        if (!hdx_ascending_next(&a, k + i, &at, &rest, &to))
            return false;
        degrees[i] = to - from;
        from = to;
    }
    return true;
}

bool hdx_offsets_decode(const hdx_page *page, unsigned count, unsigned k, unsigned n, uint64_t *before, uint64_t *degrees)
{
    uint64_t to;
    if (!hdx_offsets_find(page, count, k, before, &to)) /* it has the page checked */
        return false;
    switch (page->second >> 61) {
    case HDX_OFFSETS_EVEN:
        for (unsigned i = 0; i < n; i++)
            degrees[i] = to - *before;
        return true;
    case HDX_OFFSETS_MOSTLY:
        degrees_mostly(page, k, n, degrees);
        return true;
    case HDX_OFFSETS_LINEAR:
        degrees_linear(page, count, k, n, *before, degrees);
        return true;
    default:
        return degrees_ascending(page, count, k, n, *before, degrees);
    }
}
