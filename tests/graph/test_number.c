/*
 * test_number.c - numbers as Java prints them. The expected texts are those of JDK 25 (Double.toString, Float.toString,
 * BigInteger.toString, BigDecimal.toPlainString).
 */
#include "graph/inside.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static hdx_buffer text;

static const char *real(double v)
{
    hdx_buffer_clear(&text);
    hdx_put_double(&text, v);
    return text.at;
}

static const char *single(float v)
{
    hdx_buffer_clear(&text);
    hdx_put_float(&text, v);
    return text.at;
}

static void done(void) { hdx_buffer_free(&text); }

Test(number, prints_doubles_as_java_does, .fini = done)
{
    cr_expect(eq(str, (char *)real(0.0), "0.0"));
    cr_expect(eq(str, (char *)real(-0.0), "-0.0"));
    cr_expect(eq(str, (char *)real(1.0), "1.0"));
    cr_expect(eq(str, (char *)real(-1.5), "-1.5"));
    cr_expect(eq(str, (char *)real(0.1), "0.1"));
    cr_expect(eq(str, (char *)real(100.0), "100.0"));
    cr_expect(eq(str, (char *)real(123456.75), "123456.75"));
    cr_expect(eq(str, (char *)real(9999999.0), "9999999.0"));
    cr_expect(eq(str, (char *)real(1e7), "1.0E7"));
    cr_expect(eq(str, (char *)real(1.25e10), "1.25E10"));
    cr_expect(eq(str, (char *)real(0.001), "0.001"));
    cr_expect(eq(str, (char *)real(0.00123), "0.00123"));
    cr_expect(eq(str, (char *)real(0.0009), "9.0E-4"));
    cr_expect(eq(str, (char *)real(1.0 / 3), "0.3333333333333333"));
    cr_expect(eq(str, (char *)real(DBL_MAX), "1.7976931348623157E308"));
    cr_expect(eq(str, (char *)real(4.9e-324), "4.9E-324"));
    cr_expect(eq(str, (char *)real(2e-323), "2.0E-323"));
    cr_expect(eq(str, (char *)real(2e23), "2.0E23"));
    cr_expect(eq(str, (char *)real(NAN), "NaN"));
    cr_expect(eq(str, (char *)real(-INFINITY), "-Infinity"));
    cr_expect(eq(str, (char *)real(INFINITY), "Infinity"));
}

Test(number, prints_floats_as_java_does, .fini = done)
{
    cr_expect(eq(str, (char *)single(0.75f), "0.75"));
    cr_expect(eq(str, (char *)single(0.1f), "0.1"));
    cr_expect(eq(str, (char *)single(16777216.0f), "1.6777216E7"));
    cr_expect(eq(str, (char *)single(FLT_MAX), "3.4028235E38"));
    cr_expect(eq(str, (char *)single(1.4e-45f), "1.4E-45"));
    cr_expect(eq(str, (char *)single(3.0f), "3.0"));
}

Test(number, every_double_reads_back, .fini = done)
{
    unsigned seed = 20261121;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = (uint64_t)rand_r(&seed) << 42 ^ (uint64_t)rand_r(&seed) << 21 ^ (uint64_t)rand_r(&seed);
        double   v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v))
            cr_assert(strtod(real(v), NULL) == v, "seed 20261121, step %d: %s", i, text.at);
    }
}

static const char *big(const uint32_t *words, uint64_t n)
{
    uint32_t copy[8];
    for (uint64_t i = 0; i < n; i++)
        copy[i] = words[i];
    hdx_buffer_clear(&text);
    hdx_put_big(&text, copy, n);
    cr_assert(not(text.failed));
    return text.at;
}

Test(number, prints_big_integers, .fini = done)
{
    cr_expect(eq(str, (char *)big(NULL, 0), "0"));
    cr_expect(eq(str, (char *)big((uint32_t[]){ 0, 0 }, 2), "0"));
    cr_expect(eq(str, (char *)big((uint32_t[]){ 4294967295u }, 1), "4294967295"));
    cr_expect(eq(str, (char *)big((uint32_t[]){ 1, 0 }, 2), "4294967296"));
    cr_expect(eq(str, (char *)big((uint32_t[]){ 0, 1000000000 }, 2), "1000000000"));
    cr_expect(eq(str, (char *)big((uint32_t[]){ 1, 0, 0, 0 }, 4), "79228162514264337593543950336"));
}

static const char *decimal(bool negative, const char *digits, int32_t scale, uint32_t precision)
{
    hdx_buffer_clear(&text);
    return hdx_put_decimal(&text, negative, digits, strlen(digits), scale, precision, 1000) ? text.at : "too long";
}

Test(number, prints_big_decimals, .fini = done)
{
    cr_expect(eq(str, (char *)decimal(false, "12345", 2, 0), "123.45"));
    cr_expect(eq(str, (char *)decimal(true, "12345", 5, 0), "-0.12345"));
    cr_expect(eq(str, (char *)decimal(false, "12345", 8, 0), "0.00012345"));
    cr_expect(eq(str, (char *)decimal(false, "12345", 0, 5), "12345"));
    cr_expect(eq(str, (char *)decimal(false, "12345", -3, 0), "12345000"));
    cr_expect(eq(str, (char *)decimal(false, "0", 2, 0), "0.00"));
    cr_expect(eq(str, (char *)decimal(false, "0", -2, 0), "0"));
    cr_expect(eq(str, (char *)decimal(false, "12345", 2, 3), "123"));
    cr_expect(eq(str, (char *)decimal(false, "12355", 2, 4), "123.6"));
    cr_expect(eq(str, (char *)decimal(false, "9996", 2, 3), "100"));
    cr_expect(eq(str, (char *)decimal(false, "1", 2147483647, 0), "too long"));
    cr_expect(eq(str, (char *)decimal(false, "1", INT32_MIN, 0), "too long"));
}

/* Digits, digits before the point and digits after it: as many as are allowed, and one more. */
Test(number, big_decimals_are_as_long_as_is_allowed, .fini = done)
{
    static const struct {
        const char *digits;
        int32_t     scale;
        uint64_t    max;
        const char *text;
    } cases[] = {
        { "12345", 2, 5, "123.45" }, { "12345", 2, 4, NULL },
        { "12", -3, 5, "12000" },    { "12", -3, 4, NULL },
        { "12", 5, 5, "0.00012" },   { "12", 5, 4, NULL },
        { "0", -9, 1, "0" },         { "0", 0, 1, "0" },
        { "7", 1, 1, "0.7" },        { "", 0, 9, NULL },
        { "120", 3, 3, "0.120" },    { "120", 2, 3, "1.20" },
        { "0", 1, 1, "0.0" },        { "12345678", 0, 8, "12345678" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_buffer_clear(&text);
        hdx_buffer_text(&text, "");
        const bool fits =
            hdx_put_decimal(&text, false, cases[i].digits, strlen(cases[i].digits), cases[i].scale, 0, cases[i].max);
        cr_expect(fits == (cases[i].text != NULL), "case %zu", i);
        cr_expect(text.len == 0 ? !fits : fits && strcmp(text.at, cases[i].text) == 0, "case %zu: %s", i, text.at);
    }
}
