/* test_encode.c - values of a page byte for byte, at the edges of runs, groups and blocks, and read back. */
#include "columns/columns.h"
#include "columns/parquet_reader.h"

#include <stdio.h>

/* "06 2a": the bytes. */
static void expect_bytes(hdx_buffer *out, const char *want, const char *what)
{
    char shown[4096] = "";
    for (uint64_t i = 0; i < out->len && i < 1000; i++)
        (void)snprintf(shown + 3 * i, 4, "%02x ", (unsigned)(uint8_t)out->at[i]);
    if (out->len > 0)
        shown[3 * out->len - 1] = '\0';
    cr_expect(strcmp(shown, want) == 0, "%s: %s, not %s", what, shown, want);
    hdx_buffer_free(out);
}

/* "3x5 1 2 7x0": three times 5, ... */
static uint32_t read_values(const char *text, uint64_t *to)
{
    uint32_t count = 0;
    for (char *end; *text != '\0'; text = end + (*end == ' ')) {
        uint64_t times = 1, v = strtoull(text, &end, 0);
        if (*end == 'x') {
            times = v;
            v = strtoull(end + 1, &end, 0);
        }
        while (times-- > 0)
            to[count++] = v;
    }
    return count;
}

Test(encode, repeats_eight_equal_ones_and_packs_fewer_by_eight)
{
    static const struct {
        unsigned    width;
        const char *values, *bytes;
    } cases[] = {
        { 1, "", "" },
        { 1, "1", "03 01" },
        { 1, "7x1", "03 7f" },
        { 1, "8x1", "10 01" },
        { 1, "9x0", "12 00" },
        { 1, "8x1 7x0", "10 01 03 00" },
        { 1, "8x1 8x0", "10 01 10 00" },
        { 1, "1 8x0", "05 01 00" },     /* a run begins where a group does */
        { 1, "1 15x0", "03 01 10 00" }, /* of what is left of it */
        { 1, "1 14x0", "05 01 00" },
        { 3, "0 1 2 3 4 5 6 7", "03 88 c6 fa" },
        { 3, "0 1 2 3 4 5 6 7 7", "05 88 c6 fa 07 00 00" },
        { 8, "8x200", "10 c8" },
        { 9, "8x300", "10 2c 01" },
        { 9, "1 2", "03 01 04 00 00 00 00 00 00 00" },
        { 16, "64x65535", "80 01 ff ff" },
        { 17, "8x65536", "10 00 00 01" },
        { 32, "8x4294967295", "10 ff ff ff ff" },
        { 32, "1 4294967295 2 3 4 5 6 7",
          "03 01 00 00 00 ff ff ff ff 02 00 00 00 03 00 00 00 04 00 00 00 05 00 00 00 06 00 00 00 07 00 00 00" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t       wide[256];
        uint32_t       values[256];
        const uint32_t count = read_values(cases[i].values, wide);
        hdx_buffer     out = hdx_buffer_of(NULL);
        for (uint32_t k = 0; k < count; k++)
            values[k] = (uint32_t)wide[k];
        hdx_encode_hybrid(&out, values, count, cases[i].width);
        expect_bytes(&out, cases[i].bytes, cases[i].values);
    }
}

Test(encode, repeats_sixteen_equal_levels_or_what_is_left)
{
    static const char *const cases[][2] = {
        { "", "" },
        { "1", "02 01" },
        { "5x0", "0a 00" },
        { "16x1 0 1", "20 01 03 02" },
        { "15x1 0 1", "05 ff 7f 02 01" },
        { "15x1 0", "05 ff 7f" },
        { "1 0", "03 01" },
        { "1 0 6x1", "03 fd" },
        { "1 0 7x1", "03 fd 02 01" },
        { "1 0 6x1 20x0", "03 fd 28 00" },
        { "1 0 5x1 20x0 1", "03 7d 26 00 02 01" },
        { "1 0 6x1 20x0 3x1", "03 fd 28 00 06 01" },
        { "1 0 6x1 15x0 1", "07 fd 00 80" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t       values[256], there[4] = { 0 };
        hdx_buffer     out = hdx_buffer_of(NULL);
        const uint32_t count = read_values(cases[i][0], values);
        for (uint32_t k = 0; k < count; k++)
            if (values[k] != 0)
                hdx_bits_put(there, k);
        hdx_encode_levels(&out, there, count);
        expect_bytes(&out, cases[i][1], cases[i][0]);
    }
}

Test(encode, puts_booleans_eight_to_a_byte)
{
    static const char *const cases[][2] = {
        { "", "" }, { "1", "01" }, { "0 1", "02" }, { "8x1", "ff" }, { "9x1", "ff 01" }, { "7x0 1 0 1", "80 02" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t       values[64];
        hdx_buffer     out = hdx_buffer_of(NULL);
        const uint32_t count = read_values(cases[i][0], values);
        hdx_encode_bits(&out, values, count);
        expect_bytes(&out, cases[i][1], cases[i][0]);
    }
}

Test(encode, has_a_width_for_each_thirty_two_differences)
{
    static const char *const cases[][2] = {
        { "", "80 01 04 00 00" },
        { "7", "80 01 04 01 0e" },
        { "5 4", "80 01 04 02 0a 01 00 00 00 00" },
        { "0 1 3", "80 01 04 03 00 02 01 00 00 00 02 00 00 00" },
        { "0 32x1", "80 01 04 21 00 00 01 00 00 00 01 00 00 00" },
        { "1 33x1 3", "80 01 04 23 02 00 00 02 00 00 08 00 00 00 00 00 00 00" },
        { "0xffffffffffffffff 0", "80 01 04 02 01 02 00 00 00 00" }, /* differences wrap around */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t       values[256];
        hdx_buffer     out = hdx_buffer_of(NULL);
        const uint32_t count = read_values(cases[i][0], values);
        hdx_encode_delta(&out, values, count);
        expect_bytes(&out, cases[i][1], cases[i][0]);
    }
}

static uint64_t up_to(uint64_t *seed, unsigned width)
{
    *seed = hdx_mix64(*seed + 1);
    return width == 64 ? *seed : *seed & ((1ull << width) - 1);
}

/* Some equal, some not, of every width. */
static void fill(uint64_t *values, uint32_t count, unsigned width, uint64_t seed)
{
    for (uint32_t i = 0; i < count;) {
        const uint64_t v = up_to(&seed, width);
        for (uint64_t same = up_to(&seed, 2) == 0 ? 1 + up_to(&seed, 6) : 1; same > 0 && i < count; same--)
            values[i++] = v;
    }
}

Test(encode, of_every_width_and_count_is_read_back)
{
    enum { MOST = 700 };
    uint64_t values[MOST], again[MOST], there[MOST / 64 + 1];
    uint32_t small[MOST], small_again[MOST];
    for (unsigned width = 1; width <= 64; width++)
        for (uint32_t count = 0; count < MOST; count += count < 270 ? 1 : 53) {
            hdx_buffer out = hdx_buffer_of(NULL);
            fill(values, count, width, width * 1000 + count);
            hdx_encode_delta(&out, values, count);
            delta((thrift){ (const uint8_t *)out.at, (const uint8_t *)out.at + out.len }, count, again);
            cr_assert(memcmp(values, again, count * sizeof *values) == 0, "%u differences of %u bits", count, width);
            hdx_buffer_clear(&out);
            if (width <= 32) {
                for (uint32_t i = 0; i < count; i++)
                    small[i] = (uint32_t)values[i];
                hdx_encode_hybrid(&out, small, count, width);
                hybrid((thrift){ (const uint8_t *)out.at, (const uint8_t *)out.at + out.len }, width, count,
                       small_again);
                cr_assert(memcmp(small, small_again, count * sizeof *small) == 0, "%u of %u bits", count, width);
            }
            if (width == 1) {
                memset(there, 0, sizeof there);
                for (uint32_t i = 0; i < count; i++)
                    if (values[i] != 0)
                        hdx_bits_put(there, i);
                hdx_buffer_clear(&out);
                hdx_encode_levels(&out, there, count);
                hybrid((thrift){ (const uint8_t *)out.at, (const uint8_t *)out.at + out.len }, 1, count, small_again);
                cr_assert(memcmp(small, small_again, count * sizeof *small) == 0, "%u levels", count);
            }
            hdx_buffer_free(&out);
        }
}
