/*
 * test_dominators.c - immediate dominators against the definition, against Lengauer-Tarjan, and against a certificate.
 *
 * The three are independent of each other and of the code: the definition removes each node in turn; Lengauer-Tarjan here has
 * its own search, its own predecessors and textbook labels; the certificate looks at edges and at the result alone.
 */
#include "graphs.h"
#include "solve.h"

/* idom by node (+ 1, the virtual root being 0), NO where not reached */
static uint64_t *by_definition(const hdx_lists_64 *edges)
{
    const uint64_t n = edges->n;
    uint64_t      *reach = distances(edges, NO), *idom = zeroed(n, sizeof *idom), *depth = zeroed(n, sizeof *depth);
    bool          *dominates = zeroed(n * n, sizeof *dominates); /* [d * n + v] */
    for (uint64_t x = 0; x < n; x++) {
        uint64_t *without = x == 0 ? NULL : distances(edges, x);
        for (uint64_t v = 0; v < n; v++)
            if (reach[v] != NO && reach[x] != NO && (x == 0 || without[v] == NO)) {
                dominates[x * n + v] = true;
                depth[v]++; /* v itself counts: removed, it is not reached */
            }
        free(without);
    }
    for (uint64_t v = 0; v < n; v++) {
        idom[v] = v == 0 || reach[v] == NO ? NO : 0;
        for (uint64_t d = 1; d < n && idom[v] != NO; d++)
            if (d != v && dominates[d * n + v] && depth[d] > depth[idom[v]])
                idom[v] = d;
    }
    free(dominates);
    free(depth);
    free(reach);
    return idom;
}

/* Lengauer and Tarjan 1979, the simple form, with vertices for labels and buckets. */
typedef struct tarjan {
    uint64_t *vertex, *parent, *semi, *ancestor, *label, *path;
} tarjan;

static uint64_t tarjan_eval(tarjan *t, uint64_t v)
{
    uint64_t count = 0;
    if (t->ancestor[v] == NO)
        return v;
    for (uint64_t x = v; t->ancestor[t->ancestor[x]] != NO; x = t->ancestor[x])
        t->path[count++] = x;
    while (count > 0) {
        uint64_t x = t->path[--count], a = t->ancestor[x];
        if (t->semi[t->label[a]] < t->semi[t->label[x]])
            t->label[x] = t->label[a];
        t->ancestor[x] = t->ancestor[a];
    }
    return t->label[v];
}

static uint64_t *by_lengauer_tarjan(const hdx_lists_64 *edges)
{
    const uint64_t n = edges->n;
    hdx_lists_64   preds = lists_turned(edges);
    tarjan         t = { zeroed(n, 8), zeroed(n, 8), zeroed(n, 8), zeroed(n, 8), zeroed(n, 8), zeroed(n, 8) };
    uint64_t      *idom = zeroed(n, 8), *cursor = zeroed(n, 8), *bucket = zeroed(n, 8), *next = zeroed(n, 8), count = 0;
    for (uint64_t v = 0; v < n; v++) {
        idom[v] = t.ancestor[v] = t.semi[v] = bucket[v] = NO;
        t.label[v] = v;
        cursor[v] = edges->at[v];
    }
    t.parent[0] = NO;
    for (uint64_t v = 0; v != NO;) { /* by cursors: not the order of the code under test */
        if (t.semi[v] == NO) {
            t.semi[v] = count;
            t.vertex[count++] = v;
        }
        if (cursor[v] == edges->at[v + 1]) {
            v = t.parent[v];
            continue;
        }
        uint64_t to = edges->to[cursor[v]++];
        if (t.semi[to] == NO) {
            t.parent[to] = v;
            v = to;
        }
    }
    for (uint64_t i = count; i-- > 1;) {
        uint64_t w = t.vertex[i];
        for (uint64_t k = preds.at[w]; k < preds.at[w + 1]; k++)
            if (t.semi[preds.to[k]] != NO) {
                uint64_t u = tarjan_eval(&t, preds.to[k]);
                if (t.semi[u] < t.semi[w])
                    t.semi[w] = t.semi[u];
            }
        uint64_t s = t.vertex[t.semi[w]], p = t.parent[w];
        next[w] = bucket[s];
        bucket[s] = w;
        t.ancestor[w] = p;
        for (uint64_t v = bucket[p], after; v != NO; v = after) {
            uint64_t u = tarjan_eval(&t, v);
            after = next[v];
            idom[v] = t.semi[u] < t.semi[v] ? u : p;
        }
        bucket[p] = NO;
    }
    for (uint64_t i = 1; i < count; i++) {
        uint64_t w = t.vertex[i];
        if (idom[w] != t.vertex[t.semi[w]])
            idom[w] = idom[idom[w]];
    }
    free(t.vertex); free(t.parent); free(t.semi); free(t.ancestor); free(t.label); free(t.path);
    free(cursor); free(bucket); free(next);
    lists_drop_64(&preds);
    return idom;
}

/* The parent property (ALGORITHMS 7.2): for every edge (u, v), idom(v) is u or above it. Catches every dominator that is too deep. */
static void check_certificate(const hdx_lists_64 *edges, const search_64 *s, const uint64_t *idom, const char *what)
{
    uint64_t *size = zeroed(s->reached + 1, 8), *enter = zeroed(s->reached + 1, 8), *used = zeroed(s->reached + 1, 8);
    for (uint64_t w = s->reached; w > 0; w--) {
        cr_assert(idom[w] < w, "%s: a dominator has the smaller number", what);
        size[w]++;
        size[idom[w]] += size[w];
    }
    for (uint64_t w = 1; w <= s->reached; w++) { /* places: a subtree of the dominator tree is one interval */
        enter[w] = enter[idom[w]] + 1 + used[idom[w]];
        used[idom[w]] += size[w];
    }
    for (uint64_t from = 0; from < edges->n; from++) {
        const uint64_t u = from == 0 ? 0 : s->number[from - 1];
        for (uint64_t i = edges->at[from]; i < edges->at[from + 1] && (from == 0 || u != 0); i++) {
            const uint64_t d = idom[s->number[edges->to[i] - 1]];
            cr_assert(d == 0 || (enter[d] <= enter[u] && enter[u] < enter[d] + size[d]), "%s: parent property", what);
        }
    }
    free(size);
    free(enter);
    free(used);
}

static void check_retained(const graph *g, const search_64 *s, const uint64_t *idom, const char *what)
{
    uint64_t *retained = zeroed(s->reached + 1, 8), *slow = zeroed(s->reached + 1, 8), *again = zeroed(s->reached + 1, 8), total = 0;
    uint32_t *idom_narrow = narrowed(idom, s->reached + 1);
    for (uint64_t w = 1; w <= s->reached; w++) {
        retained[w] = again[w] = 16 + s->node[w] % 7 * 8;
        total += retained[w];
        for (uint64_t d = w; d != 0; d = idom[d])
            slow[d] += retained[w];
    }
    hdx_retained_64(idom, s->reached, retained);
    hdx_retained_32(idom_narrow, s->reached, again);
    cr_assert(retained[0] == total, "%s", what);
    for (uint64_t w = 0; w <= s->reached; w++)
        cr_assert((w == 0 || retained[w] == slow[w]) && again[w] == retained[w], "%s: retained of number %llu", what, (unsigned long long)w);
    (void)g;
    free(retained);
    free(slow);
    free(again);
    free(idom_narrow);
}

static void check_dominators(const graph *g, bool define, const char *what)
{
    hdx_mem       mem = { 0 };
    search_64 s;
    search_32 s32;
    uint64_t     *idom;
    uint32_t     *idom32;
    cr_assert(depth_first_64(&g->wide, &mem, NULL, &s, NULL) == HDX_OK);
    cr_assert(depth_first_32(&g->narrow, &mem, NULL, &s32, NULL) == HDX_OK);
    cr_assert(dominators_64(&g->wide, &s, &mem, NULL, &idom, NULL) == HDX_OK);
    cr_assert(dominators_32(&g->narrow, &s32, &mem, NULL, &idom32, NULL) == HDX_OK);

    hdx_lists_64 edges = graph_edges(g);
    uint64_t    *want = by_lengauer_tarjan(&edges), *defined = define ? by_definition(&edges) : NULL;
    for (uint64_t v = 0; v < g->n; v++) {
        const uint64_t w = s.number[v], have = w == 0 ? NO : idom[w] == 0 ? 0 : s.node[idom[w]] + 1;
        cr_assert(have == want[v + 1], "%s: node %llu, %llu instead of %llu", what, (unsigned long long)v, (unsigned long long)have, (unsigned long long)want[v + 1]);
        cr_assert(defined == NULL || have == defined[v + 1], "%s: node %llu, by definition", what, (unsigned long long)v);
        cr_assert(w == 0 || idom32[w] == idom[w], "%s: both widths", what);
    }
    check_certificate(&edges, &s, idom, what);
    if (g->n < 3000)
        check_retained(g, &s, idom, what);
    free(want);
    free(defined);
    lists_drop_64(&edges);
    hdx_mem_put(&mem, idom, (s.reached + 1) * sizeof *idom);
    hdx_mem_put(&mem, idom32, (s.reached + 1) * sizeof *idom32);
    search_free_64(&s, &mem);
    search_free_32(&s32, &mem);
    cr_assert(mem.used == 0, "%s", what);
}

Test(dominators, agree_with_the_definition_on_small_graphs)
{
    for (uint64_t seed = 1; seed <= 150; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            dice  d = { seed * 15485863 + s };
            graph g = graph_random(s, 1 + roll(&d, 24), &d);
            char  what[64];
            snprintf(what, sizeof what, "seed %llu %s", (unsigned long long)seed, shape_name(s));
            check_dominators(&g, true, what);
            graph_free(&g);
        }
}

Test(dominators, agree_with_lengauer_and_tarjan_on_middling_graphs)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            dice  d = { seed * 32452843 + s };
            graph g = graph_random(s, 200 + roll(&d, seed == 1 ? 20000 : 2000), &d);
            char  what[64];
            snprintf(what, sizeof what, "seed %llu %s", (unsigned long long)seed, shape_name(s));
            check_dominators(&g, false, what);
            graph_free(&g);
        }
}

/* Every request refused once, every point of cancelling tried once: no result, nothing kept. */
Test(dominators, return_limit_and_leak_nothing_at_every_refusal)
{
    dice          d = { 9 };
    graph         g = graph_random(HEAPLIKE, 500, &d);
    search_32 s;
    cr_assert(depth_first_32(&g.narrow, NULL, NULL, &s, NULL) == HDX_OK);
    hdx_code last = HDX_LIMIT;
    for (uint64_t at = 0; last != HDX_OK; at++) {
        refuser   r = { 0, at };
        hdx_mem   mem = { .refuse = refuse_one, .context = &r };
        uint32_t *idom;
        hdx_error err = { 0 };
        hdx_code  code = dominators_32(&g.narrow, &s, &mem, NULL, &idom, &err);
        cr_expect((code == HDX_LIMIT || r.asked <= at) && (idom == NULL) == (code != HDX_OK));
        cr_assert(at < 40);
        last = code;
        hdx_mem_put(&mem, idom, (s.reached + 1) * sizeof *idom);
        cr_expect(mem.used == 0);
    }
    search_free_32(&s, NULL);
    graph_free(&g);
}

Test(dominators, stop_when_cancelled_and_count_every_node_once)
{
    graph g = graph_of(200000, 0);
    for (uint64_t v = 0; v + 1 < g.n; v++)
        graph_add(&g, v, v + 1);
    graph_root(&g, 0);
    graph_finish(&g);
    search_32 s;
    cr_assert(depth_first_32(&g.narrow, NULL, NULL, &s, NULL) == HDX_OK);
    hdx_code last = HDX_CANCELLED;
    for (uint64_t at = 0; last != HDX_OK; at++) { /* pieces of the tape, in one direction and the other */
        canceller    c = { 0, at };
        hdx_progress progress = { .context = &c, .cancelled = cancel_then };
        hdx_ticker   tick;
        hdx_mem      mem = { 0 };
        uint32_t    *idom;
        hdx_ticker_init(&tick, &progress, 1);
        hdx_code code = dominators_32(&g.narrow, &s, &mem, &tick, &idom, NULL);
        cr_expect(code == HDX_CANCELLED || (code == HDX_OK && at > 40));
        cr_assert(at < 100);
        last = code;
        if (code == HDX_OK)
            cr_expect(tick.done == 200000);
        hdx_mem_put(&mem, idom, (s.reached + 1) * sizeof *idom);
        cr_expect(mem.used == 0);
        hdx_ticker_free(&tick);
    }
    search_free_32(&s, NULL);
    graph_free(&g);
}

/* roots 0 and 1; 0 -> 2, 2 -> 3; 3 and 1 are instances of class 0, whose object is 4; 4 has one entry in its inbound list, from 3 */
Test(dominators, see_the_instances_of_a_class_object_with_one_referrer)
{
    graph g = graph_of(5, 1);
    graph_add(&g, 0, 2);
    graph_add(&g, 2, 3);
    graph_add(&g, 3, 4);
    g.class_of[3] = g.class_of[1] = 0;
    g.class_object[0] = 4;
    graph_root(&g, 0);
    graph_root(&g, 1);
    graph_finish(&g);
    check_dominators(&g, true, "class object");
    search_32 s;
    uint32_t     *idom;
    cr_assert(depth_first_32(&g.narrow, NULL, NULL, &s, NULL) == HDX_OK);
    cr_assert(dominators_32(&g.narrow, &s, NULL, NULL, &idom, NULL) == HDX_OK);
    cr_expect(idom[s.number[4]] == 0); /* held from both roots */
    cr_expect(idom[s.number[3]] == s.number[2]);
    hdx_mem_put(NULL, idom, (s.reached + 1) * sizeof *idom);
    search_free_32(&s, NULL);
    graph_free(&g);
}

Test(dominators, of_nothing_are_nothing)
{
    graph g = graph_of(0, 0);
    graph_finish(&g);
    check_dominators(&g, true, "no nodes");
    graph_free(&g);
}
