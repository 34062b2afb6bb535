/* test_transpose.c - lists transposed, in one range of targets or in many, against sorting. */
#include "graphs.h"

#define HDX_WIDTH 32
#include "transpose_wide.h"
#undef HDX_WIDTH
#define HDX_WIDTH 64
#include "transpose_wide.h"
#undef HDX_WIDTH

/* Three workers share the sources, each with its own counts: what comes out is what sorting gives. */
static void check_parts(const graph *g, const char *what)
{
    enum { PARTS = 3 };
    hdx_ranked_32  many = many_of_32(g);
    const lists   *want = &g->inbound;
    const uint64_t n = many.count;
    uint32_t      *counts = zeroed(PARTS * n + 1, sizeof *counts), *only = zeroed(g->n + 1, sizeof *only),
             *to = zeroed(want->at[g->n] + 1, sizeof *to);
    uint64_t rank = 0, values = 0;
    for (uint64_t k = 0; k < PARTS; k++) {
        const hdx_packed_walk sources = { .node = g->n * k / PARTS, .end = g->n * (k + 1) / PARTS };
        cr_assert(hdx_transpose_count_32(&(hdx_transpose_in_32){ g->packed, &sources, &many, 0, g->n },
                                         &(hdx_resources){ NULL, NULL, 1 }, counts + k * n, NULL) == HDX_OK);
    }
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < PARTS; k++) { /* shares of a list stand one after the other */
            const uint32_t share = counts[k * n + i];
            counts[k * n + i] = (uint32_t)values;
            values += share;
        }
    for (uint64_t k = PARTS; k-- > 0;) {
        const hdx_packed_walk sources = { .node = g->n * k / PARTS, .end = g->n * (k + 1) / PARTS };
        cr_assert(hdx_transpose_place_32(&(hdx_transpose_in_32){ g->packed, &sources, &many, 0, g->n },
                                         &(hdx_resources){ NULL, NULL, 1 },
                                         &(hdx_transposed_32){ only, counts + k * n, to }, NULL) == HDX_OK);
    }
    values = 0;
    for (uint64_t v = 0; v < g->n; v++) {
        const uint64_t degree = want->at[v + 1] - want->at[v];
        cr_assert(degree != 1 || only[v] == want->to[want->at[v]], "%s: who refers to %llu", what,
                  (unsigned long long)v);
        for (uint64_t i = 0; degree > 1 && i < degree; i++)
            cr_assert(to[values++] == want->to[want->at[v] + i], "%s: referrer %llu of %llu", what,
                      (unsigned long long)i, (unsigned long long)v);
        if (degree > 1)
            cr_assert(counts[(PARTS - 1) * n + rank++] == values, "%s: where the list of %llu ends", what,
                      (unsigned long long)v);
    }
    free(counts);
    free(only);
    free(to);
    drop_many_32(g, &many);
}

/* ranges of so many targets */
static void check_ranges(const graph *g, uint64_t targets, const char *what)
{
    hdx_mem       mem = { 0 };
    hdx_ranked_32 narrow = many_of_32(g);
    hdx_ranked_64 wide = many_of_64(g);
    for (uint64_t from = 0; from < g->n; from += targets) {
        const uint64_t end = g->n - from < targets ? g->n : from + targets;
        check_range_32(g, &narrow, from, end, &mem, what);
        check_range_64(g, &wide, from, end, &mem, what);
    }
    cr_assert(mem.used == 0, "%s", what);
    drop_many_32(g, &narrow);
    drop_many_64(g, &wide);
}

Test(transpose, transposes_a_small_graph)
{
    graph g = graph_of(3, 0);
    graph_add(&g, 0, 1);
    graph_add(&g, 0, 2);
    graph_add(&g, 2, 0);
    graph_add(&g, 2, 1);
    graph_finish(&g);
    hdx_ranked_32 many = many_of_32(&g);
    uint32_t      count = 0, cursor = 0, only[3] = { 7, 7, 7 }, to[2];
    cr_assert(hdx_transpose_count_32(&(hdx_transpose_in_32){ g.packed, NULL, &many, 0, 3 },
                                     &(hdx_resources){ NULL, NULL, 1 }, &count, NULL) == HDX_OK);
    cr_expect(count == 2 && many.count == 1);
    cr_assert(hdx_transpose_place_32(&(hdx_transpose_in_32){ g.packed, NULL, &many, 0, 3 },
                                     &(hdx_resources){ NULL, NULL, 1 }, &(hdx_transposed_32){ only, &cursor, to },
                                     NULL) == HDX_OK);
    cr_expect(cursor == 2 && only[0] == 2 && only[2] == 0 && to[0] == 0 && to[1] == 2);
    cursor = 0;
    to[0] = to[1] = 9;
    cr_assert(hdx_transpose_place_32(&(hdx_transpose_in_32){ g.packed, NULL, &many, 0, 3 },
                                     &(hdx_resources){ NULL, NULL, 1 }, &(hdx_transposed_32){ NULL, &cursor, to },
                                     NULL) == HDX_OK); /* only those with many */
    cr_expect(cursor == 2 && to[0] == 0 && to[1] == 2);
    drop_many_32(&g, &many);
    graph_free(&g);
}

Test(transpose, of_nothing_is_nothing)
{
    graph g = graph_of(0, 0);
    graph_finish(&g);
    uint32_t      none = 7;
    hdx_ranked_32 many = many_of_32(&g);
    cr_expect(hdx_transpose_count_32(&(hdx_transpose_in_32){ g.packed, NULL, &many, 0, 0 },
                                     &(hdx_resources){ NULL, NULL, 1 }, &none, NULL) == HDX_OK &&
              none == 7);
    cr_expect(hdx_transpose_place_32(&(hdx_transpose_in_32){ g.packed, NULL, &many, 0, 0 },
                                     &(hdx_resources){ NULL, NULL, 1 }, &(hdx_transposed_32){ &none, &none, &none },
                                     NULL) == HDX_OK &&
              none == 7);
    drop_many_32(&g, &many);
    graph_free(&g);
    g = graph_of(5, 0);
    graph_finish(&g);
    check_ranges(&g, 5, "no references");
    check_ranges(&g, 2, "no references");
    graph_free(&g);
}

Test(transpose, agrees_with_sorting_on_every_shape)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            random_state d = { seed * 1000 + s };
            graph        g = graph_random(s, 1 + roll(&d, 300), &d);
            char         what[64];
            snprintf(what, sizeof what, "seed %llu %s", (unsigned long long)seed, shape_name(s));
            check_ranges(&g, g.n, what);
            check_ranges(&g, 1 + roll(&d, g.n), what);
            check_ranges(&g, g.n / 20 + 1, what);
            check_parts(&g, what);
            graph_free(&g);
        }
}

/*
 * Many times what is unpacked at once, and lists that every batch cuts. Half of the nodes have a class: a group without
 * is unpacked list by list.
 */
Test(transpose, agrees_with_sorting_over_many_references)
{
    const shape    shapes[] = { DENSE, STAR_OUT, STAR_IN, LIST_ENTERED };
    const unsigned widths[] = { 4, 3, 5, 4 };
    for (unsigned k = 0; k < 4; k++) {
        random_state d = { 77 + k };
        graph        g = graph_of(k == 0 ? 40000 : 120000, 0);
        g.width = widths[k];
        for (uint64_t v = 0; v < g.n; v++)
            if (v / 64 % 2 == 0)
                g.class_of[v] = (uint32_t)(v % HDX_PACKED_FAR);
        graph_shape(&g, shapes[k], &d);
        graph_finish(&g);
        const uint64_t m = g.outbound.at[g.n];
        cr_assert(m > 100000);
        check_ranges(&g, g.n, shape_name(shapes[k]));
        check_ranges(&g, g.n / 3, shape_name(shapes[k]));
        graph_free(&g);
    }
}

Test(transpose, returns_limit_and_leaks_nothing_when_memory_is_refused)
{
    random_state  d = { 5 };
    graph         g = graph_random(DENSE, 200, &d);
    hdx_ranked_64 many = many_of_64(&g);
    uint64_t      count[200] = { 0 }, *to = zeroed(g.outbound.at[g.n], sizeof *to);
    for (uint64_t at = 0; at < 2; at++) {
        refuser counting = { 0, at }, placing = { 0, at };
        hdx_mem first = { .refuse = refuse_one, .context = &counting },
                second = { .refuse = refuse_one, .context = &placing };
        hdx_error err = { 0 };
        cr_expect(hdx_transpose_count_64(&(hdx_transpose_in_64){ g.packed, NULL, &many, 0, g.n },
                                         &(hdx_resources){ &first, NULL, 1 }, count,
                                         &err) == (at < 1 ? HDX_LIMIT : HDX_OK));
        cr_expect(err.code == (at < 1 ? HDX_LIMIT : HDX_OK));
        memset(count, 0, sizeof count);
        for (uint64_t v = 0, rank = 0, sum = 0; v < g.n; v++)
            if (g.inbound.at[v + 1] - g.inbound.at[v] > 1) {
                count[rank++] = sum;
                sum += g.inbound.at[v + 1] - g.inbound.at[v];
            }
        cr_expect(hdx_transpose_place_64(&(hdx_transpose_in_64){ g.packed, NULL, &many, 0, g.n },
                                         &(hdx_resources){ &second, NULL, 1 }, &(hdx_transposed_64){ NULL, count, to },
                                         NULL) == (at < 1 ? HDX_LIMIT : HDX_OK));
        cr_expect(first.used == 0 && second.used == 0);
    }
    free(to);
    drop_many_64(&g, &many);
    graph_free(&g);
}

Test(transpose, stops_when_cancelled)
{
    graph g = graph_of(600000, 0);
    for (uint64_t v = 0; v + 1 < g.n; v++)
        graph_add(&g, v, v + 1);
    graph_finish(&g);
    hdx_ranked_32 many = many_of_32(&g);
    uint32_t     *count = zeroed(g.n, sizeof *count), *only = zeroed(g.n, sizeof *only);
    hdx_code      last = HDX_CANCELLED;
    uint64_t      at = 0;
    for (; last != HDX_OK; at++) {
        canceller    c = { 0, at };
        hdx_progress progress = { .context = &c, .cancelled = cancel_then };
        hdx_ticker   tick;
        hdx_mem      mem = { 0 };
        hdx_ticker_init(&tick, &progress, 1);
        last = hdx_transpose_count_32(&(hdx_transpose_in_32){ g.packed, NULL, &many, 0, g.n },
                                      &(hdx_resources){ &mem, &tick, 1 }, count, NULL);
        cr_expect(last == HDX_OK || last == HDX_CANCELLED);
        c.asked = 0;
        cr_expect(hdx_transpose_place_32(&(hdx_transpose_in_32){ g.packed, NULL, &many, 0, g.n },
                                         &(hdx_resources){ &mem, &tick, 1 }, &(hdx_transposed_32){ only, count, NULL },
                                         NULL) == last);
        uint64_t *bits = zeroed(2 * hdx_bits_words(g.n), 8);
        c.asked = 0;
        cr_expect(hdx_packed_referred(g.packed, &tick, bits, bits + hdx_bits_words(g.n), NULL) == last);
        free(bits);
        cr_expect(mem.used == 0);
        hdx_ticker_free(&tick);
        cr_assert(at < 100);
    }
    cr_expect(at >= 4, "asked %llu times", (unsigned long long)at);
    free(count);
    free(only);
    drop_many_32(&g, &many);
    graph_free(&g);
}
