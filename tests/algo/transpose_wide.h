/* transpose_wide.h - what test_transpose.c has for the width at hand: ranges of targets against sorting. */
#include "algo/width.h"

static WIDE(hdx_ranked) WIDE(many_of)(const graph *g)
{
    WIDE(hdx_ranked) many = { zeroed(hdx_bits_words(g->n) + 1, 8), NULL, 0 };
    uint64_t        *once = zeroed(hdx_bits_words(g->n) + 1, 8);
    cr_assert(hdx_packed_referred(g->packed, NULL, once, many.words, NULL) == HDX_OK);
    for (uint64_t v = 0; v < g->n; v++) {
        const uint64_t n = g->inbound.at[v + 1] - g->inbound.at[v];
        cr_assert(hdx_bits_test(once, v) == (n > 0) && hdx_bits_test(many.words, v) == (n > 1), "%llu of node %llu",
                  (unsigned long long)n, (unsigned long long)v);
    }
    cr_assert(WIDE(hdx_rank)(&many, g->n, NULL, NULL) == HDX_OK);
    free(once);
    return many;
}

static void WIDE(drop_many)(const graph *g, WIDE(hdx_ranked) *many)
{
    hdx_mem_put(NULL, many->before, hdx_bits_words(g->n) * sizeof(NID));
    free(many->words);
}

/* Counts and places targets from .. end - 1: what comes out is what sorting gives. */
static void WIDE(check_range)(const graph *g, const WIDE(hdx_ranked) *many, uint64_t from, uint64_t end, hdx_mem *mem,
                              const char *what)
{
    const lists   *want = &g->inbound;
    const uint64_t ranks = (end < g->n ? HDX_RANK(many, end) : many->count) - HDX_RANK(many, from);
    NID           *count = zeroed(ranks + 1, sizeof *count), *only = zeroed(end - from + 1, sizeof *only), *to;
    uint64_t       rank = 0, values = 0;
    for (uint64_t i = 0; i < ranks; i++)
        count[i] = 1000; /* grows, whatever was there */
    memset(count + ranks, 0xee, sizeof *count);
    const WIDE(hdx_transpose_in) in = { g->packed, NULL, many, from, end };
    const hdx_resources          with = { .mem = mem };
    cr_assert(WIDE(hdx_transpose_count)(&in, &with, count, NULL) == HDX_OK);
    for (uint64_t v = from; v < end; v++) {
        const uint64_t n = want->at[v + 1] - want->at[v];
        if (n < 2)
            continue;
        cr_assert(count[rank] == 1000 + n, "%s: how many refer to %llu", what, (unsigned long long)v);
        count[rank++] = (NID)values;
        values += n;
    }
    cr_assert(rank == ranks && (uint8_t)count[ranks] == 0xee);
    to = zeroed(values + 1, sizeof *to);
    memset(to, 0xee, (values + 1) * sizeof *to);
    memset(only, 0xdd, (end - from + 1) * sizeof *only);
    const WIDE(hdx_transposed) out = { only, count, to };
    cr_assert(WIDE(hdx_transpose_place)(&in, &with, &out, NULL) == HDX_OK);
    rank = values = 0;
    for (uint64_t v = from; v < end; v++) {
        const uint64_t n = want->at[v + 1] - want->at[v];
        cr_assert(n != 0 || (uint8_t)only[v - from] == 0xdd, "%s: nobody refers to %llu", what, (unsigned long long)v);
        cr_assert(n != 1 || only[v - from] == want->to[want->at[v]], "%s: who refers to %llu", what,
                  (unsigned long long)v);
        for (uint64_t i = 0; n > 1 && i < n; i++)
            cr_assert(to[values++] == want->to[want->at[v] + i], "%s: referrer %llu of %llu", what,
                      (unsigned long long)i, (unsigned long long)v);
        if (n > 1)
            cr_assert(count[rank++] == values, "%s: afterwards, where the list of %llu ends", what,
                      (unsigned long long)v);
    }
    cr_assert((uint8_t)to[values] == 0xee && (uint8_t)only[end - from] == 0xdd, "%s: nothing after the last place",
              what);
    free(count);
    free(only);
    free(to);
}
