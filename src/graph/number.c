/*
 * number.c - numbers as the Java library prints them: Double, Float, BigInteger, BigDecimal.
 *
 * In:  values.
 * Out: decimal text in a buffer.
 * Rules: java.lang.Double.toString as of JDK 19 (shortest decimal that reads back as the same value, at least two
 * digits; MAT's golden labels were made on JDK 25) and java.math.BigDecimal.
 * Cost: big numbers are repeatedly divided by 10^9, which is quadratic; callers limit their length.
 */
#include "graph/inside.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGITS 17

/*
 * Copies the digits of text in "%.*e" format, without sign and decimal point (which depends on the locale); returns the
 * exponent.
 */
static int take_digits(const char *text, char *digits)
{
    int n = 0;
    for (; *text != 'e'; text++)
        if (*text >= '0' && *text <= '9')
            digits[n++] = *text;
    digits[n] = '\0';
    return (int)strtol(text + 1, NULL, 10);
}

/* Digits d1 d2 ... stand for d1.d2 ... * 10^exponent. */
static void put_digits(hdx_buffer *out, bool negative, char *digits, int exponent)
{
    const int n = (int)strlen(digits);
    assert(n >= 2 && n <= DIGITS); /* "%.*e" with at least one digit after the point */
    if (negative)
        hdx_buffer_text(out, "-");
    if (exponent >= 7 || exponent < -3) {
        hdx_buffer_format(out, "%c.%sE%d", digits[0], digits + 1, exponent);
    } else if (exponent < 0) {
        bool zero = n == 2 && digits[1] == '0';
        hdx_buffer_format(out, "0.%.*s%.*s", -exponent - 1, "00", zero ? 1 : n, digits);
    } else if (exponent >= n - 1) {
        hdx_buffer_format(out, "%s%.*s.0", digits, exponent - n + 1, "000000");
    } else {
        hdx_buffer_format(out, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    }
}

static bool put_special(hdx_buffer *out, double v)
{
    const char *text = isnan(v)   ? "NaN"
                       : isinf(v) ? (signbit(v) ? "-Infinity" : "Infinity")
                       : v == 0   ? (signbit(v) ? "-0.0" : "0.0")
                                  : NULL;
    if (text != NULL)
        hdx_buffer_text(out, text);
    return text != NULL;
}

void hdx_put_double(hdx_buffer *out, double v)
{
    char text[40];
    char digits[DIGITS + 1];
    if (put_special(out, v))
        return;
    for (int precision = 1;; precision++) {
        assert(precision < DIGITS); /* DIGITS digits always read back as the same value */
        (void)snprintf(text, sizeof text, "%.*e", precision, v);
        if (strtod(text, NULL) == v)
            break;
    }
    int exponent = take_digits(text, digits);
    put_digits(out, v < 0, digits, exponent);
}

void hdx_put_float(hdx_buffer *out, float v)
{
    char text[40];
    char digits[DIGITS + 1];
    if (put_special(out, (double)v))
        return;
    for (int precision = 1;; precision++) {
        assert(precision < 9);
        (void)snprintf(text, sizeof text, "%.*e", precision, (double)v);
        if (strtof(text, NULL) == v)
            break;
    }
    int exponent = take_digits(text, digits);
    put_digits(out, v < 0, digits, exponent);
}

void hdx_put_big(hdx_buffer *out, uint32_t *words, uint64_t count)
{
    hdx_buffer nines = hdx_buffer_of(out->mem); /* remainders, least significant first, nine digits each */
    uint64_t   from = 0;
    while (from < count && words[from] == 0)
        from++;
    if (from == count)
        hdx_buffer_text(out, "0");
    while (from < count) {
        uint64_t rest = 0;
        for (uint64_t i = from; i < count; i++) {
            rest = rest << 32 | words[i];
            words[i] = (uint32_t)(rest / 1000000000u);
            rest %= 1000000000u;
        }
        while (from < count && words[from] == 0)
            from++;
        uint32_t part = (uint32_t)rest;
        hdx_buffer_put(&nines, &part, sizeof part);
    }
    for (uint64_t n = nines.len / sizeof(uint32_t), first = n; n > 0; n--) {
        uint32_t part;
        memcpy(&part, nines.at + (n - 1) * sizeof part, sizeof part);
        hdx_buffer_format(out, n == first ? "%u" : "%09u", part);
    }
    out->failed = out->failed || nines.failed;
    hdx_buffer_free(&nines);
}

/*
 * Rounds decimal text half up to n digits; returns the number of dropped digits. A carry out of the first digit gives
 * 1000...
 */
static uint64_t round_half_up(char *digits, uint64_t *len, uint32_t n)
{
    assert(n > 0 && n < *len);
    uint64_t dropped = *len - n;
    bool     up = digits[n] >= '5';
    *len = n;
    for (uint64_t i = n; up && i-- > 0;) {
        up = digits[i] == '9';
        digits[i] = up ? '0' : (char)(digits[i] + 1);
    }
    if (up) { /* 999 became 1000: n digits of it are used, and one more is dropped */
        memmove(digits + 1, digits, (size_t)n - 1);
        digits[0] = '1';
        dropped++;
    }
    return dropped;
}

bool hdx_put_decimal(hdx_buffer *out, bool negative, const char *text, uint64_t len, int32_t scale, uint32_t precision,
                     uint64_t max)
{
    hdx_buffer digits = hdx_buffer_of(out->mem);
    int64_t    point = scale; /* digits after the point */
    bool       fits = false;
    hdx_buffer_put(&digits, text, len);
    out->failed = out->failed || digits.failed;
    if (digits.failed || len == 0)
        goto out;
    if (precision > 0 && len > precision)
        point -= (int64_t)round_half_up(digits.at, &len, precision);
    bool     zero = len == 1 && digits.at[0] == '0';
    uint64_t before = zero || point >= (int64_t)len ? 1 : (uint64_t)((int64_t)len - point),
             decimals = point > 0 ? (uint64_t)point : 0;
    if (len > max || before > max || decimals > max)
        goto out;
    if (negative && !zero)
        hdx_buffer_text(out, "-");
    if (point >= (int64_t)len) {
        hdx_buffer_text(out, "0");
    } else {
        const uint64_t n = hdx_least(before, len);
        hdx_buffer_put(out, digits.at, n);
        for (uint64_t i = n; i < before; i++)
            hdx_buffer_put(out, "0", 1);
    }
    if (decimals > 0)
        hdx_buffer_put(out, ".", 1);
    for (uint64_t i = len; i < decimals; i++)
        hdx_buffer_put(out, "0", 1);
    if (decimals > 0)
        hdx_buffer_put(out, digits.at + len - hdx_least(decimals, len), hdx_least(decimals, len));
    fits = true;
out:
    hdx_buffer_free(&digits);
    return fits;
}
