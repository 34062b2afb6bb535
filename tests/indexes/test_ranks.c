/* test_ranks.c - sets with ranks against counting. */
#include "tests/indexes/place.h"

#include <criterion/parameterized.h>

/* A run is what its members are one by one, wherever it begins and ends. */
static void expect_run(const hdx_ranks *r, const uint64_t *words, uint64_t first, uint32_t n, uint64_t before)
{
    uint64_t *out = malloc(((uint64_t)n / 64 + 1) * 8), rank = 0;
    memset(out, 0xff, ((uint64_t)n / 64 + 1) * 8);
    hdx_ranks_read(r, first, n, out, &rank);
    for (uint64_t i = 0; i < n; i++)
        cr_assert(hdx_bits_test(out, i) == hdx_bits_test(words, first + i));
    for (uint64_t i = n; i < (n + 63ull) / 64 * 64; i++)
        cr_assert(hdx_bits_test(out, i) == false);
    if (n > 0)
        cr_assert(rank == before);
    free(out);
}

static void round_trip(const uint64_t *words, uint64_t size)
{
    test_place     t;
    hdx_index_file file;
    hdx_ranks     *r;
    hdx_error      err = { 0 };
    uint64_t       rank = 0, got;
    place_open(&t, 1);
    cr_assert(eq(int, hdx_ranks_write(&t.place, HDX_KIND_SPECIAL, size, words, &file, &err), HDX_OK), "%s",
              err.message);
    cr_assert(eq(int, hdx_ranks_open(&t.place, HDX_KIND_SPECIAL, &file, size, &t.note, &r, &err), HDX_OK), "%s",
              err.message);
    for (uint64_t i = 0; i < size; i++) {
        bool in = hdx_bits_test(words, i);
        cr_assert(hdx_ranks_find(r, i, &got) == in);
        if (!in)
            continue;
        cr_assert(got == rank);
        cr_assert(hdx_ranks_at(r, rank) == i, "rank %llu", (unsigned long long)rank);
        rank++;
    }
    cr_expect(eq(u64, hdx_ranks_count(r), rank));
    uint64_t before = 0;
    for (uint64_t first = 0; first < size; first++) { /* runs that begin and end anywhere */
        const uint64_t most = size - first < 700 ? size - first : 700;
        if (size < 6000 || first % 777 < 3)
            expect_run(r, words, first, (uint32_t)(first * 7 % (most + 1)), before);
        before += hdx_bits_test(words, first);
    }
    cr_assert(eq(int, hdx_note_check(&t.note, &err), HDX_OK), "%s", err.message);
    (void)hdx_ranks_at(r, rank);
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_DAMAGED));
    hdx_ranks_close(r);
    place_close(&t);
}

ParameterizedTestParameters(ranks, every_size_and_density)
{
    static unsigned sizes[] = { 0, 1, 63, 64, 65, 447, 448, 449, 896, 5000, 100000 };
    return cr_make_param_array(unsigned, sizes, sizeof sizes / sizeof *sizes);
}
ParameterizedTest(unsigned *size, ranks, every_size_and_density)
{
    static const unsigned per_mille[] = { 0, 1, 50, 500, 999, 1000 };
    random_state          d = { *size };
    uint64_t             *words = calloc(*size / 64 + 2, 8);
    for (unsigned p = 0; p < 6; p++) {
        for (unsigned i = 0; i <= *size / 64; i++) {
            words[i] = 0;
            for (unsigned b = 0; b < 64; b++) /* also beyond size: the writer drops those */
                words[i] |= (uint64_t)(below(&d, 1000) < per_mille[p]) << b;
        }
        round_trip(words, *size);
    }
    free(words);
}

Test(ranks, members_far_apart)
{
    uint64_t *words = calloc(1 << 16, 8);
    for (unsigned i = 0; i < 700; i++)
        hdx_bits_put(words, i < 600 ? i : (uint64_t)i * 5000);
    round_trip(words, 1 << 22);
    free(words);
}

/* ranks/README.md: the worked example, byte for byte. */
Test(ranks, bytes_as_in_the_readme)
{
    uint64_t       words[8] = { 0x5, 0, 0, 0, 0, 0, 0, 0x2 };
    test_place     t;
    hdx_index_file file;
    size_t         len;
    place_open(&t, 1);
    cr_assert(eq(int, hdx_ranks_write(&t.place, HDX_KIND_SPECIAL, 500, words, &file, NULL), HDX_OK));
    uint8_t *b = place_bytes(&t, HDX_KIND_SPECIAL, &len);
    cr_expect(eq(u64, hdx_le64(b + 64), 0));
    cr_expect(eq(u64, hdx_le64(b + 72), 5));
    cr_expect(eq(u64, hdx_le64(b + 128), 2));
    cr_expect(eq(u64, hdx_le64(b + 136), 2));
    cr_expect(eq(u64, hdx_le64(b + 192), 0));
    free(b);
    place_close(&t);
}
