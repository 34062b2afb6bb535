/* test_text.c - UTF-16 units as UTF-8 and as MAT prints them. */
#include "graph/inside.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

static hdx_buffer out;

static void done(void) { hdx_buffer_free(&out); }

static const char *utf8(const uint16_t *units, size_t n, size_t cut)
{
    uint16_t high = 0;
    hdx_buffer_clear(&out);
    hdx_put_utf8(&out, units, cut, &high);
    hdx_put_utf8(&out, units + cut, n - cut, &high);
    hdx_put_utf8_end(&out, &high);
    return out.at;
}

Test(text, becomes_utf8, .fini = done)
{
    const uint16_t units[] = { 'a', 0xe9, 0x20ac, 0xd83d, 0xde00, 'z' };
    for (size_t cut = 0; cut <= 6; cut++)
        cr_expect(eq(str, (char *)utf8(units, 6, cut), "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"), "cut after %zu", cut);
}

Test(text, keeps_half_a_pair_as_three_bytes, .fini = done)
{
    cr_expect(eq(str, (char *)utf8((uint16_t[]){ 0xd800, 'x' }, 2, 1), "\xed\xa0\x80x"));
    cr_expect(eq(str, (char *)utf8((uint16_t[]){ 0xdc00, 0xd800 }, 2, 1), "\xed\xb0\x80\xed\xa0\x80"));
    cr_expect(eq(str, (char *)utf8((uint16_t[]){ 0xd800, 0xd801, 0xdc01 }, 3, 2), "\xed\xa0\x80\xf0\x90\x90\x81"));
}

Test(text, of_a_label_is_what_it_is_and_never_ends_early, .fini = done)
{
    const uint16_t units[] = { ' ', 0x7f, '\n', 0, 0xe9, 0xd83d, 0xde00, 0xd83d, 0, '"', 0 };
    hdx_put_label(&out, units, 11);
    cr_expect(eq(str, out.at, " \x7f\n\xc0\x80\xc3\xa9\xf0\x9f\x98\x80\xed\xa0\xbd\xc0\x80\"\xc0\x80"));
}

Test(text, values_are_big_endian)
{
    const uint8_t bytes[8] = { 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8 };
    cr_expect(eq(u64, hdx_value_of(2, bytes, 4).as.address, 0xfffefdfc));
    cr_expect(eq(u64, hdx_value_of(2, bytes, 8).as.address, 0xfffefdfcfbfaf9f8));
    cr_expect(hdx_value_of(4, bytes, 8).as.boolean);
    cr_expect(eq(u16, hdx_value_of(5, bytes, 8).as.character, 0xfffe));
    cr_expect(eq(i64, hdx_value_of(8, bytes, 8).as.integer, -1));
    cr_expect(eq(i64, hdx_value_of(9, bytes, 8).as.integer, -2));
    cr_expect(eq(i64, hdx_value_of(10, bytes, 8).as.integer, -66052));
    cr_expect(eq(i64, hdx_value_of(11, bytes, 8).as.integer, (int64_t)0xfffefdfcfbfaf9f8));
    cr_expect(eq(flt, hdx_value_of(6, (const uint8_t[]){ 0x3f, 0x80, 0, 0 }, 8).as.single, 1.0f));
    cr_expect(eq(dbl, hdx_value_of(7, (const uint8_t[]){ 0xc0, 0, 0, 0, 0, 0, 0, 0 }, 8).as.real, -2.0));
    cr_expect(hdx_value_of(1, bytes, 8).absent);
}
