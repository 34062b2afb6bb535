/* test_turn.c - lists turned round, in one range of targets or in many, against sorting. */
#include "graphs.h"

#define TURN(NID, S)                                                                                                                     \
    /* Counts and places targets from .. end - 1, values in pieces of so many; what comes out is what sorting gives. */ \
    static void check_range##S(const graph *g, uint64_t from, uint64_t end, uint64_t piece, hdx_mem *mem, const char *what)              \
    {                                                                                                                                    \
        const lists *want = &g->inbound;                                                                                                 \
        const uint64_t first = want->at[from], last = want->at[end];                                                                     \
        NID           *count = zeroed(end - from, sizeof *count), *cursor = zeroed(end - from, sizeof *cursor);                          \
        NID           *to = zeroed(piece + 1, sizeof *to);                                                                               \
        for (uint64_t i = from; i < end; i++)                                                                                            \
            count[i - from] = 1000; /* grows, whatever was there */                                                                      \
        cr_assert(hdx_turn_count##S(g->packed, from, end, mem, NULL, count, NULL) == HDX_OK);                                            \
        for (uint64_t i = from; i < end; i++)                                                                                            \
            cr_assert(count[i - from] == 1000 + want->at[i + 1] - want->at[i], "%s: how many refer to %llu", what, (unsigned long long)i); \
        for (uint64_t at = first; at < last; at += piece) {                                                                              \
            const uint64_t n = last - at < piece ? last - at : piece;                                                                    \
            for (uint64_t i = from; i < end; i++)                                                                                        \
                cursor[i - from] = (NID)want->at[i];                                                                                     \
            memset(to, 0xee, (piece + 1) * sizeof *to);                                                                                  \
            cr_assert(hdx_turn_place##S(g->packed, from, end, mem, NULL, cursor, at, at + n, to, NULL) == HDX_OK);                       \
            for (uint64_t i = 0; i < n; i++)                                                                                             \
                cr_assert(to[i] == want->to[at + i], "%s: value %llu", what, (unsigned long long)(at + i));                              \
            cr_assert((uint8_t)to[n] == 0xee, "%s: nothing behind the last place", what);                                                \
            for (uint64_t i = from; i < end; i++)                                                                                        \
                cr_assert(cursor[i - from] == want->at[i + 1], "%s: afterwards, where the list of %llu ends", what, (unsigned long long)i); \
        }                                                                                                                                \
        free(count);                                                                                                                     \
        free(cursor);                                                                                                                    \
        free(to);                                                                                                                        \
    }

TURN(uint32_t, _32)
TURN(uint64_t, _64)

/* ranges of so many targets, values in pieces of so many */
static void check_turn(const graph *g, uint64_t targets, uint64_t piece, const char *what)
{
    hdx_mem mem = { 0 };
    for (uint64_t from = 0; from < g->n; from += targets) {
        const uint64_t end = g->n - from < targets ? g->n : from + targets;
        check_range_32(g, from, end, piece, &mem, what);
        check_range_64(g, from, end, piece, &mem, what);
    }
    cr_assert(mem.used == 0, "%s", what);
}

Test(turn, turns_a_small_graph_round)
{
    graph g = graph_of(3, 0);
    graph_add(&g, 0, 1);
    graph_add(&g, 0, 2);
    graph_add(&g, 2, 0);
    graph_add(&g, 2, 1);
    graph_finish(&g);
    uint32_t       count[3] = { 0 }, cursor[3] = { 0, 1, 3 }, to[4];
    const uint32_t want_count[] = { 1, 2, 1 }, want_cursor[] = { 1, 3, 4 }, want_to[] = { 2, 0, 2, 0 };
    cr_assert(hdx_turn_count_32(g.packed, 0, 3, NULL, NULL, count, NULL) == HDX_OK);
    cr_expect(memcmp(count, want_count, sizeof count) == 0);
    cr_assert(hdx_turn_place_32(g.packed, 0, 3, NULL, NULL, cursor, 0, 4, to, NULL) == HDX_OK);
    cr_expect(memcmp(cursor, want_cursor, sizeof cursor) == 0);
    cr_expect(memcmp(to, want_to, sizeof to) == 0);
    graph_free(&g);
}

Test(turn, of_nothing_is_nothing)
{
    graph g = graph_of(0, 0);
    graph_finish(&g);
    uint32_t none = 7;
    cr_expect(hdx_turn_count_32(g.packed, 0, 0, NULL, NULL, &none, NULL) == HDX_OK && none == 7);
    cr_expect(hdx_turn_place_32(g.packed, 0, 0, NULL, NULL, &none, 0, 0, &none, NULL) == HDX_OK && none == 7);
    graph_free(&g);
    g = graph_of(5, 0);
    graph_finish(&g);
    check_turn(&g, 5, 4, "no references");
    check_turn(&g, 2, 4, "no references");
    graph_free(&g);
}

Test(turn, agrees_with_sorting_on_every_shape)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            dice  d = { seed * 1000 + s };
            graph g = graph_random(s, 1 + roll(&d, 300), &d);
            char  what[64];
            snprintf(what, sizeof what, "seed %llu %s", (unsigned long long)seed, shape_name(s));
            check_turn(&g, g.n, g.outbound.at[g.n] + 1, what);
            check_turn(&g, 1 + roll(&d, g.n), 1 + roll(&d, 50) + g.outbound.at[g.n] / 16, what);
            check_turn(&g, g.n / 20 + 1, g.outbound.at[g.n] / 4 + 1, what);
            graph_free(&g);
        }
}

/* Many times what is unpacked at once, and lists that every batch cuts. Half of the nodes have a class: a group without is unpacked list by list. */
Test(turn, agrees_with_sorting_over_many_references)
{
    const shape    shapes[] = { DENSE, STAR_OUT, STAR_IN, LIST_ENTERED };
    const unsigned widths[] = { 4, 3, 5, 4 };
    for (unsigned k = 0; k < 4; k++) {
        dice  d = { 77 + k };
        graph g = graph_of(k == 0 ? 40000 : 120000, 0);
        g.width = widths[k];
        for (uint64_t v = 0; v < g.n; v++)
            if (v / 64 % 2 == 0)
                g.class_of[v] = (uint32_t)(v % HDX_PACKED_FAR);
        graph_shape(&g, shapes[k], &d);
        graph_finish(&g);
        const uint64_t m = g.outbound.at[g.n];
        cr_assert(m > 100000);
        check_turn(&g, g.n, m, shape_name(shapes[k]));
        check_turn(&g, g.n / 3, m / 2 + 1, shape_name(shapes[k]));
        graph_free(&g);
    }
}

Test(turn, returns_limit_and_leaks_nothing_when_memory_is_refused)
{
    dice     d = { 5 };
    graph    g = graph_random(DENSE, 200, &d);
    uint64_t count[200] = { 0 }, *to = zeroed(g.outbound.at[g.n], sizeof *to);
    for (uint64_t at = 0; at < 2; at++) {
        refuser   counting = { 0, at }, placing = { 0, at };
        hdx_mem   first = { .refuse = refuse_one, .context = &counting }, second = { .refuse = refuse_one, .context = &placing };
        hdx_error err = { 0 };
        const uint64_t m = g.outbound.at[g.n];
        cr_expect(hdx_turn_count_64(g.packed, 0, g.n, &first, NULL, count, &err) == (at < 1 ? HDX_LIMIT : HDX_OK));
        cr_expect(err.code == (at < 1 ? HDX_LIMIT : HDX_OK));
        cr_expect(hdx_turn_place_64(g.packed, 0, g.n, &second, NULL, count, 0, at < 1 ? m : 0, to, NULL) == (at < 1 ? HDX_LIMIT : HDX_OK));
        cr_expect(first.used == 0 && second.used == 0);
    }
    free(to);
    graph_free(&g);
}

Test(turn, stops_when_cancelled)
{
    graph g = graph_of(600000, 0);
    for (uint64_t v = 0; v + 1 < g.n; v++)
        graph_add(&g, v, v + 1);
    graph_finish(&g);
    uint32_t *count = zeroed(g.n, sizeof *count), *to = zeroed(g.n, sizeof *to);
    hdx_code last = HDX_CANCELLED;
    uint64_t at = 0;
    for (; last != HDX_OK; at++) {
        canceller    c = { 0, at };
        hdx_progress progress = { .context = &c, .cancelled = cancel_then };
        hdx_ticker   tick;
        hdx_mem      mem = { 0 };
        hdx_ticker_init(&tick, &progress, 1);
        last = hdx_turn_count_32(g.packed, 0, g.n, &mem, &tick, count, NULL);
        cr_expect(last == HDX_OK || last == HDX_CANCELLED);
        c.asked = 0;
        cr_expect(hdx_turn_place_32(g.packed, 0, g.n, &mem, &tick, count, 0, 0, to, NULL) == last);
        cr_expect(mem.used == 0);
        hdx_ticker_free(&tick);
        cr_assert(at < 100);
    }
    cr_expect(at >= 4, "asked %llu times", (unsigned long long)at);
    free(count);
    free(to);
    graph_free(&g);
}
