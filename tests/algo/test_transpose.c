/* test_transpose.c - turning lists round and grouping by class. */
#include "graphs.h"
#include "solve.h"

static void expect_same_lists(const hdx_lists_64 *have, const hdx_lists_64 *want, const char *what)
{
    cr_assert(have->n == want->n, "%s", what);
    cr_assert(memcmp(have->at, want->at, (want->n + 1) * sizeof *want->at) == 0, "%s: at", what);
    cr_assert(memcmp(have->to, want->to, want->at[want->n] * sizeof *want->to) == 0, "%s: to", what);
}

static void expect_narrow_of(const hdx_lists_32 *have, const hdx_lists_64 *want, const char *what)
{
    hdx_lists_32 narrow = lists_narrowed(want);
    cr_assert(have->n == want->n, "%s", what);
    cr_assert(memcmp(have->at, narrow.at, (want->n + 1) * sizeof *narrow.at) == 0, "%s: at, 32 bits", what);
    cr_assert(memcmp(have->to, narrow.to, want->at[want->n] * sizeof *narrow.to) == 0, "%s: to, 32 bits", what);
    lists_drop_32(&narrow);
}

static void check_transpose(const graph *g, unsigned threads, const char *what)
{
    hdx_mem      mem = { 0 };
    hdx_lists_64 wide;
    hdx_lists_32 narrow;
    cr_assert(hdx_transpose_64(&g->wide.outbound, threads, &mem, &wide, NULL) == HDX_OK);
    cr_assert(hdx_transpose_32(&g->narrow.outbound, threads, &mem, &narrow, NULL) == HDX_OK);
    expect_same_lists(&wide, &g->wide.inbound, what);
    expect_narrow_of(&narrow, &g->wide.inbound, what);
    cr_expect(mem.used == 12 * (g->n + 1 + g->wide.outbound.at[g->n]), "%s: nothing but the lists stays", what);
    hdx_lists_free_64(&wide, &mem);
    hdx_lists_free_32(&narrow, &mem);
    cr_expect(mem.used == 0, "%s", what);
}

Test(transpose, turns_a_small_graph_round)
{
    uint32_t     at[] = { 0, 2, 2, 4 }, to[] = { 1, 2, 0, 1 };
    hdx_lists_32 out = { 3, at, to }, in;
    cr_assert(hdx_transpose_32(&out, 1, NULL, &in, NULL) == HDX_OK);
    const uint32_t want_at[] = { 0, 1, 3, 4 }, want_to[] = { 2, 0, 2, 0 };
    cr_expect(memcmp(in.at, want_at, sizeof want_at) == 0);
    cr_expect(memcmp(in.to, want_to, sizeof want_to) == 0);
    hdx_lists_free_32(&in, NULL);
    cr_expect(in.at == NULL && in.to == NULL);
}

Test(transpose, of_nothing_is_nothing)
{
    graph g = graph_of(0, 0);
    graph_finish(&g);
    check_transpose(&g, 1, "no nodes");
    check_transpose(&g, 8, "no nodes");
    graph_free(&g);
    g = graph_of(5, 0);
    graph_finish(&g);
    check_transpose(&g, 2, "no references");
    graph_free(&g);
}

Test(transpose, agrees_with_sorting_on_every_shape)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            dice  d = { seed * 1000 + s };
            graph g = graph_random(s, 1 + roll(&d, 300), &d);
            char  what[64];
            snprintf(what, sizeof what, "seed %llu %s", (unsigned long long)seed, shape_name(s));
            check_transpose(&g, 1 + (unsigned)roll(&d, 3), what);
            graph_free(&g);
        }
}

Test(transpose, is_the_same_for_1_2_3_and_8_threads)
{
    const shape shapes[] = { DENSE, STAR_OUT, STAR_IN, LIST_ENTERED };
    for (unsigned k = 0; k < 4; k++) { /* over 100 000 references: enough for every share to get work; one list that all shares cut */
        dice  d = { 77 + k };
        graph g = graph_of(k == 0 ? 40000 : 120000, 0);
        graph_shape(&g, shapes[k], &d);
        graph_finish(&g);
        cr_assert(g.wide.outbound.at[g.n] > 100000);
        for (unsigned threads = 1; threads <= 8; threads = threads < 3 ? threads + 1 : threads + 5)
            check_transpose(&g, threads, shape_name(shapes[k]));
        graph_free(&g);
    }
}

Test(transpose, needs_its_result_and_does_without_the_rest)
{
    dice  d = { 5 };
    graph g = graph_of(40000, 0);
    graph_shape(&g, DENSE, &d);
    graph_finish(&g);
    for (uint64_t at = 0; at < 6; at++) { /* requests 0 and 1 are the result; 2 .. 4 are for further threads */
        refuser      r = { 0, at };
        hdx_mem      mem = { .refuse = refuse_one, .context = &r };
        hdx_lists_32 in;
        hdx_error    err = { 0 };
        hdx_code     code = hdx_transpose_32(&g.narrow.outbound, 4, &mem, &in, &err);
        cr_expect(code == (at < 2 ? HDX_LIMIT : HDX_OK), "refused request %llu", (unsigned long long)at);
        if (code == HDX_OK)
            expect_narrow_of(&in, &g.wide.inbound, "with fewer threads");
        else
            cr_expect(in.at == NULL && err.code == HDX_LIMIT);
        hdx_lists_free_32(&in, &mem);
        cr_expect(mem.used == 0);
    }
    graph_free(&g);
}

Test(group, lists_the_nodes_of_each_class_in_order)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        dice         d = { seed };
        graph        g = graph_random(SPARSE, 1 + roll(&d, 500), &d);
        hdx_mem      mem = { 0 };
        hdx_lists_64 wide;
        hdx_lists_32 narrow;
        cr_assert(hdx_group_64(g.class_of, g.n, g.classes, &mem, &wide, NULL) == HDX_OK);
        cr_assert(hdx_group_32(g.class_of, g.n, g.classes, &mem, &narrow, NULL) == HDX_OK);
        char what[32];
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
        expect_same_lists(&wide, &g.wide.instances, what);
        expect_narrow_of(&narrow, &g.wide.instances, what);
        hdx_lists_free_64(&wide, &mem);
        hdx_lists_free_32(&narrow, &mem);
        cr_expect(mem.used == 0);
        graph_free(&g);
    }
}

Test(group, returns_limit_and_leaks_nothing_when_memory_is_refused)
{
    const uint32_t class_of[] = { 1, 0, 1, 7 };
    for (uint64_t at = 0; at < 3; at++) {
        refuser      r = { 0, at };
        hdx_mem      mem = { .refuse = refuse_one, .context = &r };
        hdx_lists_32 out;
        hdx_code     code = hdx_group_32(class_of, 4, 2, &mem, &out, NULL);
        cr_expect(code == (at < 2 ? HDX_LIMIT : HDX_OK));
        hdx_lists_free_32(&out, &mem);
        cr_expect(mem.used == 0);
    }
}
