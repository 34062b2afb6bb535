/* test_depth_first.c - the numbering: complete, truly depth first, the same at both widths, and kind to memory. */
#include "graphs.h"
#include "solve.h"

/* What Semi-NCA relies on, checked edge by edge. */
static void check_search(const graph *g, const search_64 *s, const char *what)
{
    lists     edges = graph_edges(g);
    uint64_t *steps = distances(&edges, NO), reached = 0;
    uint64_t *last = zeroed(s->reached + 1, sizeof *last); /* greatest number in the subtree */
    for (uint64_t v = 0; v < g->n; v++) {
        reached += steps[v + 1] != NO;
        cr_assert((s->number[v] != 0) == (steps[v + 1] != NO), "%s: node %llu", what, (unsigned long long)v);
        if (s->number[v] != 0)
            cr_assert(s->number[v] <= s->reached && s->node[s->number[v]] == v, "%s", what);
    }
    cr_assert(s->reached == reached && s->node[0] == NO, "%s", what);
    for (uint64_t w = s->reached; w > 0; w--) {
        last[w] = last[w] > w ? last[w] : w;
        cr_assert(s->parent[w] < w, "%s", what);
        cr_assert((s->parent[w] == 0) == hdx_bits_test(g->is_root, s->node[w]),
                  "%s: roots alone are under the virtual root", what);
        if (last[s->parent[w]] < last[w])
            last[s->parent[w]] = last[w];
        const uint64_t from = s->parent[w] == 0 ? 0 : s->node[s->parent[w]] + 1;
        bool           found = false;
        for (uint64_t i = edges.at[from]; i < edges.at[from + 1]; i++)
            found |= edges.to[i] == s->node[w] + 1;
        cr_assert(found, "%s: the tree consists of edges", what);
    }
    for (uint64_t v = 0; v < g->n; v++)
        for (uint64_t i = edges.at[v + 1]; i < edges.at[v + 2] && s->number[v] != 0; i++) {
            const uint64_t from = s->number[v], to = s->number[edges.to[i] - 1];
            cr_assert(to <= from || to <= last[from], "%s: an edge upwards in numbers goes down the tree", what);
        }
    free(last);
    free(steps);
    lists_drop(&edges);
}

static void check_graph(const graph *g, const char *what)
{
    hdx_mem   mem = { 0 };
    search_64 wide = { 0 };
    search_32 narrow = { 0 };
    cr_assert(depth_first_64(&g->wide, &mem, NULL, &wide, NULL) == HDX_OK);
    cr_assert(depth_first_32(&g->narrow, &mem, NULL, &narrow, NULL) == HDX_OK);
    check_search(g, &wide, what);
    cr_assert(narrow.reached == wide.reached, "%s", what);
    for (uint64_t v = 0; v < g->n; v++)
        cr_assert(narrow.number[v] == wide.number[v], "%s: both widths", what);
    for (uint64_t w = 1; w <= wide.reached; w++)
        cr_assert(narrow.node[w] == wide.node[w] && narrow.parent[w] == wide.parent[w], "%s: both widths", what);
    search_free_64(&wide, &mem);
    search_free_32(&narrow, &mem);
    cr_assert(mem.used == 0, "%s", what);
}

Test(depth_first, is_a_true_depth_first_search_on_every_shape)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            random_state d = { seed * 7919 + s };
            graph        g = graph_random(s, 1 + roll(&d, seed % 3 == 0 ? 400 : 12), &d);
            char         what[64];
            snprintf(what, sizeof what, "seed %llu %s", (unsigned long long)seed, shape_name(s));
            check_graph(&g, what);
            graph_free(&g);
        }
}

/* Lists that fill the stack to its last entry, which holds 4096 at first and doubles; the class object comes on top. */
Test(depth_first, of_lists_as_long_as_the_stack_reaches_all)
{
    static const uint64_t lengths[] = { 4094, 4095, 4096, 4097, 8190, 8191, 8192, 8193, 9000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (uint64_t before = 0; before <= 2; before++) { /* entries of other roots below */
            graph g = graph_of(lengths[i] + 2 + before, 1);
            for (uint64_t to = 1; to <= lengths[i]; to++)
                graph_add(&g, 0, to);
            g.class_object[0] = lengths[i] + 1;
            g.class_of[0] = 0;
            for (uint64_t r = 0; r <= before; r++)
                graph_root(&g, r == 0 ? 0 : lengths[i] + 1 + r);
            graph_finish(&g);
            search_32 s = { 0 };
            cr_assert(depth_first_32(&g.narrow, NULL, NULL, &s, NULL) == HDX_OK && s.reached == g.n);
            for (uint64_t w = 1; w <= s.reached; w++)
                cr_assert((s.parent[w] == 0) == hdx_bits_test(g.is_root, s.node[w]));
            search_free_32(&s, NULL);
            graph_free(&g);
        }
}

Test(depth_first, of_no_roots_reaches_nothing)
{
    graph g = graph_of(3, 0);
    graph_add(&g, 0, 1);
    graph_finish(&g);
    check_graph(&g, "no roots");
    graph_free(&g);
    g = graph_of(0, 0);
    graph_finish(&g);
    check_graph(&g, "no nodes");
    graph_free(&g);
}

/* roots 2, 0;  0 -> 1, 3;  3 -> 2 (a root: entered from above alone);  class of 0 is node 4 */
Test(depth_first, visits_roots_in_order_references_backwards_and_the_class_after_them)
{
    graph g = graph_of(5, 1);
    graph_add(&g, 0, 1);
    graph_add(&g, 0, 3);
    graph_add(&g, 3, 2);
    g.class_of[0] = 0;
    g.class_object[0] = 4;
    graph_root(&g, 2);
    graph_root(&g, 0);
    graph_finish(&g);
    search_32 s = { 0 };
    cr_assert(depth_first_32(&g.narrow, NULL, NULL, &s, NULL) == HDX_OK);
    const uint32_t node[] = { 2, 0, 3, 1, 4 }, parent[] = { 0, 0, 2, 2, 2 };
    cr_assert(s.reached == 5);
    cr_expect(memcmp(s.node + 1, node, sizeof node) == 0);
    cr_expect(memcmp(s.parent + 1, parent, sizeof parent) == 0);
    search_free_32(&s, NULL);
    graph_free(&g);
}

Test(depth_first, returns_limit_and_leaks_nothing_at_every_refusal)
{
    random_state d = { 11 };
    graph        g = graph_of(700000, 3); /* the stack grows: each time is a request */
    for (uint64_t v = 1; v < 60000; v++) {
        graph_add(&g, 0, v);
        g.class_of[v] = (uint32_t)roll(&d, 3);
    }
    g.class_object[1] = 77;
    graph_root(&g, 0);
    graph_finish(&g);
    unsigned fine = 0;
    for (uint64_t at = 0; fine < 2; at++) {
        refuser   r = { 0, at };
        hdx_mem   mem = { .refuse = refuse_one, .context = &r };
        search_32 s = { 0 };
        hdx_code  code = depth_first_32(&g.narrow, &mem, NULL, &s, NULL);
        cr_expect(code == HDX_OK || code == HDX_LIMIT);
        if (code == HDX_OK)
            cr_expect(s.reached == 60000);
        fine += r.asked <= at; /* no request was refused any more */
        search_free_32(&s, &mem);
        cr_expect(mem.used == 0, "refused request %llu", (unsigned long long)at);
        cr_assert(at < 100);
    }
    graph_free(&g);
}

Test(depth_first, stops_when_cancelled_and_counts_every_node)
{
    graph g = graph_of(300000, 0);
    for (uint64_t v = 0; v + 1 < g.n; v++)
        graph_add(&g, v, v + 1);
    graph_root(&g, 0);
    graph_finish(&g);
    for (uint64_t at = 0; at < 6; at++) {
        canceller    c = { 0, at };
        hdx_progress progress = { .context = &c, .cancelled = cancel_then };
        hdx_ticker   tick;
        hdx_mem      mem = { 0 };
        search_64    s = { 0 };
        hdx_ticker_init(&tick, &progress, 1);
        hdx_code code = depth_first_64(&g.wide, &mem, &tick, &s, NULL);
        cr_expect(code == (at < 5 ? HDX_CANCELLED : HDX_OK), "at %llu", (unsigned long long)at);
        if (code == HDX_OK)
            cr_expect(tick.done == 300000);
        search_free_64(&s, &mem);
        cr_expect(mem.used == 0);
        hdx_ticker_free(&tick);
    }
    graph_free(&g);
}

/* Visits go out 8192 at a time, and come back so, twice. */
Test(depth_first, gives_back_what_goes_wrong_with_the_tape)
{
    graph g = graph_of(20000, 0);
    for (uint64_t v = 0; v + 1 < g.n; v++)
        graph_add(&g, v, v + 1);
    graph_root(&g, 0);
    graph_finish(&g);
    for (uint64_t at = 1; at <= 10; at++) {
        hdx_mem   mem = { 0 };
        search_32 narrow = { .tape.fail_at = at };
        search_64 wide = { .tape.fail_at = at };
        hdx_error err = { 0 };
        cr_expect(depth_first_32(&g.narrow, &mem, NULL, &narrow, &err) == (at < 10 ? HDX_IO : HDX_OK), "call %llu",
                  (unsigned long long)at);
        cr_expect(depth_first_64(&g.wide, &mem, NULL, &wide, NULL) == (at < 10 ? HDX_IO : HDX_OK), "call %llu",
                  (unsigned long long)at);
        cr_expect(at == 10 || strcmp(err.message, "the tape is torn") == 0);
        search_free_32(&narrow, &mem);
        search_free_64(&wide, &mem);
        cr_expect(mem.used == 0);
    }
    graph_free(&g);
}

Test(depth_first, says_how_many_nodes_fit_a_width)
{
    hdx_packed     lists = { .nodes = UINT32_MAX };
    hdx_digraph_32 g = { .outbound = &lists };
    hdx_mem        mem = { .limit = 1 << 20 };
    reel           r = { 0 };
    const hdx_tape tape = reel_tape(&r);
    hdx_reached    found = { 1, 1, NULL };
    hdx_error      err = { 0 };
    cr_expect(hdx_depth_first_32(&g, &(hdx_resources){ .mem = &mem }, &tape, &found, &err) == HDX_LIMIT);
    cr_expect(strstr(err.message, "at most 4294967294") != NULL, "%s", err.message);
    cr_expect(found.nodes == 0 && found.edges == 0 && found.live == NULL && r.len == 0 && mem.used == 0);
}
