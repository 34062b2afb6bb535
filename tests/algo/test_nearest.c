/* test_nearest.c - the breadth-first tree: least distances, ties in order. */
#include "graphs.h"
#include "solve.h"

static void check_nearest(const graph *g, const char *what)
{
    lists     edges = graph_edges(g);
    uint64_t *steps = distances(&edges, NO), *wide = zeroed(g->n, sizeof *wide);
    uint32_t *narrow = zeroed(g->n, sizeof *narrow);
    hdx_mem   mem = { 0 };
    cr_assert(nearest_64(&g->wide, &mem, NULL, wide, NULL) == HDX_OK);
    cr_assert(nearest_32(&g->narrow, &mem, NULL, narrow, NULL) == HDX_OK);
    cr_assert(mem.used == 0, "%s", what);
    for (uint64_t v = 0; v < g->n; v++) {
        cr_assert(narrow[v] == (uint32_t)wide[v], "%s: both widths", what);
        cr_assert((wide[v] == NO) == (steps[v + 1] == NO), "%s: node %llu", what, (unsigned long long)v);
        cr_assert((wide[v] == v) == hdx_bits_test(g->is_root, v), "%s: roots and only roots are their own parents",
                  what);
        if (wide[v] == NO || wide[v] == v)
            continue;
        cr_assert(steps[wide[v] + 1] + 1 == steps[v + 1], "%s: one step less at the parent", what);
        bool found = false;
        for (uint64_t i = edges.at[wide[v] + 1]; i < edges.at[wide[v] + 2]; i++)
            found |= edges.to[i] == v + 1;
        cr_assert(found, "%s: the parent refers to the node", what);
    }
    free(wide);
    free(narrow);
    free(steps);
    lists_drop(&edges);
}

Test(nearest, finds_least_distances_on_every_shape)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            random_state d = { seed * 104729 + s };
            graph        g = graph_random(s, 1 + roll(&d, seed % 3 == 0 ? 3000 : 12), &d);
            char         what[64];
            snprintf(what, sizeof what, "seed %llu %s", (unsigned long long)seed, shape_name(s));
            check_nearest(&g, what);
            graph_free(&g);
        }
}

/* roots 3, 0; both refer to 1; 0 -> 2 and 3 -> 4 -> 2; the class of 3 is 5, and 4 -> 5 */
Test(nearest, decides_ties_by_root_order_and_takes_the_class_last)
{
    graph g = graph_of(7, 1);
    graph_add(&g, 0, 1);
    graph_add(&g, 0, 2);
    graph_add(&g, 3, 1);
    graph_add(&g, 3, 4);
    graph_add(&g, 4, 2);
    graph_add(&g, 4, 5);
    g.class_of[3] = 0;
    g.class_object[0] = 5;
    graph_root(&g, 3);
    graph_root(&g, 0);
    graph_finish(&g);
    uint32_t       parent[7];
    const uint32_t want[7] = { 0, 3, 0, 3, 3, 3, UINT32_MAX };
    cr_assert(nearest_32(&g.narrow, NULL, NULL, parent, NULL) == HDX_OK);
    cr_expect(memcmp(parent, want, sizeof want) == 0);
    check_nearest(&g, "ties");
    graph_free(&g);
}

Test(nearest, of_nothing_is_nothing)
{
    graph g = graph_of(0, 0);
    graph_finish(&g);
    check_nearest(&g, "no nodes");
    graph_free(&g);
}

Test(nearest, returns_limit_and_leaks_nothing_at_every_refusal)
{
    random_state d = { 3 };
    graph        g = graph_random(SPARSE, 200, &d);
    uint64_t     parent[200];
    for (uint64_t at = 0; at < 4; at++) {
        refuser r = { 0, at };
        hdx_mem mem = { .refuse = refuse_one, .context = &r };
        cr_expect(nearest_64(&g.wide, &mem, NULL, parent, NULL) == (at < 3 ? HDX_LIMIT : HDX_OK));
        cr_expect(mem.used == 0);
    }
    graph_free(&g);
}

Test(nearest, stops_when_cancelled_and_counts_every_node)
{
    graph     g = graph_of(200000, 0);
    uint32_t *parent = zeroed(g.n, sizeof *parent);
    for (uint64_t v = 0; v + 1 < g.n; v++)
        graph_add(&g, v, v + 1);
    graph_root(&g, 0);
    graph_finish(&g);
    for (uint64_t at = 0; at < 5; at++) {
        canceller    c = { 0, at };
        hdx_progress progress = { .context = &c, .cancelled = cancel_then };
        hdx_ticker   tick;
        hdx_mem      mem = { 0 };
        hdx_ticker_init(&tick, &progress, 1);
        hdx_code code = nearest_32(&g.narrow, &mem, &tick, parent, NULL);
        cr_expect(code == (at < 4 ? HDX_CANCELLED : HDX_OK));
        if (code == HDX_OK)
            cr_expect(tick.done == 200000);
        cr_expect(mem.used == 0);
        hdx_ticker_free(&tick);
    }
    free(parent);
    graph_free(&g);
}

/*
 * The queue is a ring of 65 536 entries at first. The root has 60 000 children of which the first 30 000 have one leaf
 * each, so the ring has wrapped when the next one has 100 000 leaves: what stood at its front must go after its old
 * end.
 */
Test(nearest, keeps_its_queue_when_the_ring_grows_while_wrapped)
{
    const uint64_t children = 60000, single = 30000, many = 100000;
    graph          g =
        graph_of(1 + children + 2 * single + many, 0); /* each single leaf has a child: it is lost with the leaf */
    uint32_t *parent = zeroed(g.n, sizeof *parent);
    for (uint64_t c = 0; c < single; c++)
        graph_add(&g, 1 + children + c, 1 + children + single + many + c);
    for (uint64_t c = 0; c < children; c++)
        graph_add(&g, 0, 1 + c);
    for (uint64_t c = 0; c < single; c++)
        graph_add(&g, 1 + c, 1 + children + c);
    for (uint64_t k = 0; k < many; k++)
        graph_add(&g, 1 + single, 1 + children + single + k);
    graph_root(&g, 0);
    graph_finish(&g);
    cr_assert(nearest_32(&g.narrow, NULL, NULL, parent, NULL) == HDX_OK);
    for (uint64_t v = 1; v < g.n; v++) {
        const uint64_t want = v <= children                   ? 0
                              : v <= children + single        ? v - children
                              : v <= children + single + many ? 1 + single
                                                              : v - single - many;
        cr_assert(parent[v] == want, "node %llu: %u instead of %llu", (unsigned long long)v, parent[v],
                  (unsigned long long)want);
    }
    free(parent);
    graph_free(&g);
}

/* A list that fills the ring to its last entry, and the class object after it. */
Test(nearest, keeps_the_class_object_behind_a_list_that_fills_the_ring)
{
    for (uint64_t children = 65534; children <= 65537; children++) {
        graph     g = graph_of(children + 2, 1);
        uint32_t *parent = zeroed(g.n, sizeof *parent);
        for (uint64_t v = 1; v <= children; v++)
            graph_add(&g, 0, v);
        g.class_of[0] = 0;
        g.class_object[0] = children + 1;
        graph_root(&g, 0);
        graph_finish(&g);
        cr_assert(nearest_32(&g.narrow, NULL, NULL, parent, NULL) == HDX_OK);
        for (uint64_t v = 0; v < g.n; v++)
            cr_assert(parent[v] == 0, "%llu children, node %llu", (unsigned long long)children, (unsigned long long)v);
        free(parent);
        graph_free(&g);
    }
}
