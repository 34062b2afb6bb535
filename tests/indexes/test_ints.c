/* test_ints.c - numbers written and read back, whatever their distribution. */
#include "tests/indexes/place.h"
#include "indexes/ints/ints.h"

#include <criterion/parameterized.h>

static void round_trip(const uint64_t *v, uint64_t n, unsigned threads)
{
    test_place     t;
    hdx_index_file file;
    hdx_ints      *ints;
    hdx_error      err = { 0 };
    place_open(&t, threads);
    cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_CLASS, n, fill_from, (void *)(uintptr_t)v, &file, &err), HDX_OK), "%s", err.message);
    cr_assert(eq(int, hdx_ints_open(&t.place, HDX_KIND_CLASS, &file, n, 0, &t.note, &ints, &err), HDX_OK), "%s", err.message);
    uint64_t *back = calloc(n + 1, sizeof *back);
    for (uint64_t i = 0; i < n; i++)
        cr_assert(hdx_ints_get(ints, i) == v[i], "value %llu: %llx, should be %llx", (unsigned long long)i,
                  (unsigned long long)hdx_ints_get(ints, i), (unsigned long long)v[i]);
    hdx_ints_read(ints, 0, (uint32_t)n, back);
    cr_assert(n == 0 || memcmp(back, v, n * sizeof *back) == 0);
    for (uint64_t from = 0; from < n; from += 1 + n / 7) {
        uint32_t part = (uint32_t)(n - from < 300 ? n - from : 300);
        memset(back, 0, part * sizeof *back);
        hdx_ints_read(ints, from, part, back);
        cr_assert(memcmp(back, v + from, part * sizeof *back) == 0);
    }
    cr_assert(eq(int, hdx_note_check(&t.note, &err), HDX_OK));
    free(back);
    hdx_ints_close(ints);
    place_close(&t);
}

ParameterizedTestParameters(ints, every_width)
{
    static unsigned widths[65];
    for (unsigned w = 0; w <= 64; w++)
        widths[w] = w;
    return cr_make_param_array(unsigned, widths, 65);
}
ParameterizedTest(unsigned *width, ints, every_width)
{
    dice     d = { *width + 1 };
    uint64_t v[700], mask = hdx_pack_mask(*width);
    for (unsigned i = 0; i < 700; i++)
        v[i] = (roll(&d) & mask) + (*width < 60 ? 1000 : 0);
    v[1] = mask + (*width < 60 ? 1000 : 0);
    v[2] = *width < 60 ? 1000 : 0;
    round_trip(v, 700, 1);
}

ParameterizedTestParameters(ints, every_count)
{
    static unsigned counts[] = { 0, 1, 2, 3, 63, 64, 65, 255, 256, 257, 511, 512, 513, 16383, 16384, 16385, 40000 };
    return cr_make_param_array(unsigned, counts, sizeof counts / sizeof *counts);
}
ParameterizedTest(unsigned *count, ints, every_count)
{
    dice      d = { *count };
    uint64_t *v = calloc(*count + 1, sizeof *v);
    for (unsigned i = 0; i < *count; i++)
        v[i] = below(&d, 1000) * 8;
    round_trip(v, *count, 2);
    free(v);
}

/* Shapes that lead to every form of page, mixed page by page. */
static void shape(dice *d, uint64_t *v, unsigned n)
{
    uint64_t base = roll(d) >> below(d, 64), step = below(d, 3) == 0 ? below(d, 1u << 20) : below(d, 100), odd = below(d, 40);
    unsigned width = (unsigned)below(d, 65), kind = (unsigned)below(d, 8), shift = (unsigned)below(d, 10);
    for (unsigned i = 0; i < n; i++)
        switch (kind) {
        case 0: v[i] = base; break;
        case 1: v[i] = base + (roll(d) & hdx_pack_mask(width)); break;
        case 2: v[i] = base + step * i + below(d, step / 4 + 1); break;
        case 3: v[i] = base + ((roll(d) & 15) << shift) + (below(d, 100) < odd ? roll(d) >> 30 : 0); break;
        case 4: v[i] = below(d, 100) < odd ? roll(d) >> below(d, 64) : (1ull << 40) + below(d, 1000); break;
        case 5: v[i] = below(d, 100) < odd ? UINT64_MAX - below(d, 3) : below(d, 2); break;
        case 6: v[i] = i == 0 ? base : v[i - 1] + below(d, 64) * below(d, 64); break;
        default: v[i] = base - step * i; break;
        }
}

Test(ints, gives_back_mixed_shapes)
{
    dice      d = dice_new("ints");
    unsigned  n = 60000;
    uint64_t *v = calloc(n, sizeof *v);
    for (unsigned round = 0; round < 8; round++) {
        for (unsigned at = 0, part; at < n; at += part) {
            part = round % 2 == 0 ? 256 : 1 + (unsigned)below(&d, 400);
            part = part > n - at ? n - at : part;
            shape(&d, v + at, part);
        }
        round_trip(v, n - round, 1 + round % 3);
    }
    free(v);
}

Test(ints, bytes_do_not_depend_on_threads)
{
    dice      d = dice_new("ints threads");
    unsigned  n = 300001, threads[] = { 1, 2, 8 };
    uint64_t *v = calloc(n, sizeof *v);
    uint8_t  *bytes[3];
    size_t    len[3];
    for (unsigned at = 0; at < n; at += 300)
        shape(&d, v + at, n - at < 300 ? n - at : 300);
    for (unsigned i = 0; i < 3; i++) {
        test_place     t;
        hdx_index_file file;
        place_open(&t, threads[i]);
        cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_RETAINED, n, fill_from, v, &file, NULL), HDX_OK));
        bytes[i] = place_bytes(&t, HDX_KIND_RETAINED, &len[i]);
        cr_expect(eq(u64, len[i], file.bytes));
        cr_assert(i == 0 || (len[i] == len[0] && memcmp(bytes[i], bytes[0], len[0]) == 0));
        place_close(&t);
    }
    for (unsigned i = 0; i < 3; i++)
        free(bytes[i]);
    free(v);
}

Test(ints, a_value_beyond_the_bound_is_damage)
{
    uint64_t       v[300], out[300];
    test_place     t;
    hdx_index_file file;
    hdx_ints      *ints;
    hdx_error      err;
    for (unsigned i = 0; i < 300; i++)
        v[i] = i;
    place_open(&t, 1);
    cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_CLASS, 300, fill_from, v, &file, NULL), HDX_OK));
    cr_assert(eq(int, hdx_ints_open(&t.place, HDX_KIND_CLASS, &file, 300, 299, &t.note, &ints, NULL), HDX_OK));
    cr_expect(eq(u64, hdx_ints_get(ints, 298), 298));
    cr_expect(eq(int, hdx_note_check(&t.note, &err), HDX_OK));
    cr_expect(eq(u64, hdx_ints_get(ints, 299), 0));
    cr_expect(eq(int, hdx_note_check(&t.note, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.where, "class.hdx"));
    cr_expect(strstr(err.hint, "heapdex index --force") != NULL);
    place_clear(&t);
    hdx_ints_read(ints, 0, 300, out);
    cr_expect(eq(u64, out[299], 0));
    cr_expect(eq(u64, out[255], 255));
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_DAMAGED));
    place_clear(&t);
    cr_expect(eq(u64, hdx_ints_get(ints, 300), 0));
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_DAMAGED));
    hdx_ints_close(ints);
    place_close(&t);
}

static hdx_code fails_at(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    memset(values, 0, n * sizeof *values);
    return first <= *(uint64_t *)context && *(uint64_t *)context < first + n ? hdx_fail(err, HDX_BAD_DUMP, "x", first, "here") : HDX_OK;
}
Test(ints, an_error_of_fill_comes_back_and_no_file_stays)
{
    test_place     t;
    hdx_index_file file;
    hdx_error      err;
    uint64_t       at = 500000;
    char           path[128];
    place_open(&t, 2);
    cr_expect(eq(int, hdx_ints_write(&t.place, HDX_KIND_CLASS, 1000000, fails_at, &at, &file, &err), HDX_BAD_DUMP));
    cr_expect(eq(str, err.message, "here"));
    place_path(&t, HDX_KIND_CLASS, path);
    cr_expect(access(path, F_OK) != 0);
    place_close(&t);
}

/* ints/README.md: the worked examples, byte for byte. */
static void page_is(const uint64_t *v, unsigned n, uint64_t first, uint64_t second, const char *hex)
{
    uint8_t  out[HDX_PAGE_BYTES];
    uint64_t a, b, back[HDX_PAGE];
    char     text[2 * HDX_PAGE_BYTES + 1] = "";
    uint32_t used = hdx_ints_encode(v, n, out, &a, &b);
    for (uint32_t i = 0; i < used; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", out[i]);
    cr_expect(eq(u64, a, first));
    cr_expect(eq(u64, b, second));
    cr_expect(eq(str, text, (char *)(uintptr_t)hex));
    hdx_page page = { a, b, 0, out, used };
    cr_assert(hdx_ints_decode(&page, n, 0, n, back));
    cr_expect(memcmp(back, v, n * sizeof *v) == 0);
}
Test(ints_page, plain_as_in_the_readme)
{
    page_is((uint64_t[]){ 100, 105, 101 }, 3, 100, 3ull << 40, "6800");
    page_is((uint64_t[]){ 7, 7, 7, 7 }, 4, 7, 0, "");
    page_is((uint64_t[]){ 64, 8, 32, 16 }, 4, 8, 3ull << 40 | 3ull << 47, "c702");
}
Test(ints_page, linear_as_in_the_readme)
{
    uint64_t v[16];
    for (unsigned i = 0; i < 16; i++)
        v[i] = 1000 + 40 * i;
    v[3] += 1;
    page_is(v, 16, 1000, 1ull << 40 | 40ull << 47 | 1ull << 61, "0800");
}
Test(ints_page, window_as_in_the_readme)
{
    uint64_t v[16] = { 0 };
    v[5] = 0x1234;
    page_is(v, 16, 0, 2ull << 47 | 1ull << 53 | 2ull << 61, "0b" "05" "006824");
}

Test(pack, select_finds_every_bit)
{
    dice d = { 11 };
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t x = round < 64 ? 1ull << round : round == 64 ? UINT64_MAX : round % 3 == 0 ? roll(&d) & roll(&d) : round % 3 == 1 ? roll(&d) : roll(&d) | roll(&d);
        unsigned rank = 0;
        for (unsigned bit = 0; bit < 64; bit++)
            if (x >> bit & 1)
                cr_assert(hdx_select64(x, rank++) == bit, "bit %u of %llx", bit, (unsigned long long)x);
    }
}
