/*
 * out.c - writes bytes and numbers to a buffer that flushes itself when full. Numbers are formatted without printf for
 * speed: a csv of 45 million rows has 300 million of them.
 */
#include "render/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void hdx_out_flush(hdx_out *out)
{
    if (out->len > 0 && !out->failed && !out->sink->write(out->sink->context, out->at, out->len))
        out->failed = true;
    out->len = 0;
}

void hdx_out_long(hdx_out *out, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t part = out->room - out->len < len ? out->room - out->len : len;
        memcpy(out->at + out->len, bytes, part);
        out->len += part;
        bytes += part;
        len -= part;
        if (out->len == out->room)
            hdx_out_flush(out);
    }
}

void hdx_out_uint(hdx_out *out, uint64_t v)
{
    static const char pairs[] =
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
        "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    char     digits[20];
    unsigned at = sizeof digits;
    for (; v >= 100; v /= 100) {
        at -= 2;
        memcpy(digits + at, pairs + v % 100 * 2, 2);
    }
    if (v >= 10) {
        at -= 2;
        memcpy(digits + at, pairs + v * 2, 2);
    } else
        digits[--at] = (char)('0' + v);
    hdx_out_bytes(out, digits + at, sizeof digits - at);
}

void hdx_out_int(hdx_out *out, int64_t v)
{
    if (v < 0)
        hdx_out_byte(out, '-');
    hdx_out_uint(out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void hdx_out_address(hdx_out *out, hdx_addr v)
{
    char     text[18];
    unsigned at = sizeof text;
    do {
        text[--at] = "0123456789abcdef"[v & 15];
        v >>= 4;
    } while (v != 0);
    text[--at] = 'x';
    text[--at] = '0';
    hdx_out_bytes(out, text + at, sizeof text - at);
}

void hdx_out_real(hdx_out *out, double v)
{
    char text[40];
    int  n = 0;
    if (!isfinite(v)) {
        hdx_out_string(out, isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    for (int i = 0; i < n; i++)
        if (text[i] == ',') /* the locale of the process may use a decimal comma */
            text[i] = '.';
    hdx_out_bytes(out, text, (size_t)n);
}

unsigned hdx_utf8(const uint8_t *p, size_t len, uint32_t *point)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    unsigned n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (n == 0 || n > len)
        return 0;
    uint32_t v = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (unsigned i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (p[i] & 0x3f);
    }
    if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return 0;
    *point = v;
    return n;
}

unsigned hdx_utf8_half(const uint8_t *p, size_t len, uint32_t *point)
{
    if (len < 3 || p[0] != 0xed || (p[1] & 0xe0) != 0xa0 || (p[2] & 0xc0) != 0x80)
        return 0;
    *point = 0xd000u | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
    return 3;
}

/* Counts the bytes below 0x80 at the start, eight at a time. */
static size_t ascii_start(const char *at, size_t len)
{
    size_t i = 0;
    while (len - i >= 8 && (hdx_le64((const uint8_t *)at + i) & 0x8080808080808080ull) == 0)
        i += 8;
    while (i < len && (at[i] & 0x80) == 0)
        i++;
    return i;
}

void hdx_render_utf8(hdx_buffer *out, const char *at, size_t len)
{
    const uint8_t *p = (const uint8_t *)at;
    size_t         from = 0;
    for (size_t i = ascii_start(at, len); i < len;) {
        uint32_t       point;
        const unsigned n = hdx_utf8(p + i, len - i, &point), half = n == 0 ? hdx_utf8_half(p + i, len - i, &point) : 0;
        if (n == 0) {
            hdx_buffer_put(out, at + from, i - from);
            hdx_buffer_put(out, "\xef\xbf\xbd", 3);
            from = i + (half > 0 ? half : 1);
        }
        i += n > 0 ? n : half > 0 ? half : 1;
    }
    hdx_buffer_put(out, at + from, len - from);
}
