/*
 * test_dominators.c - immediate dominators against the definition, against Lengauer-Tarjan, and against a certificate.
 *
 * The three are independent of each other and of the code: the definition removes each node in turn; Lengauer-Tarjan
 * here has its own search, its own predecessors and textbook labels; the certificate looks at edges and at the result
 * alone.
 */
#include "graphs.h"
#include "solve.h"

/* idom by node (+ 1, the virtual root being 0), NO where not reached */
static uint64_t *by_definition(const lists *edges)
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

static uint64_t *by_lengauer_tarjan(const lists *edges)
{
    const uint64_t n = edges->n;
    lists          preds = lists_turned(edges);
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
    free(t.vertex);
    free(t.parent);
    free(t.semi);
    free(t.ancestor);
    free(t.label);
    free(t.path);
    free(cursor);
    free(bucket);
    free(next);
    lists_drop(&preds);
    return idom;
}

/*
 * The parent property (Georgiadis and Tarjan): for every edge (u, v), idom(v) is u or above it. Catches every dominator
 * that is too deep.
 */
static void check_certificate(const lists *edges, const search_64 *s, const uint64_t *idom, const char *what)
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

static void check_retained(const search_64 *s, const uint64_t *idom, const char *what)
{
    uint64_t *full = zeroed(s->reached + 1, 8), *again = zeroed(s->reached + 1, 8), *slow = zeroed(s->reached + 1, 8),
             total = 0;
    uint32_t *slim = zeroed(s->reached + 1, 4), *also = zeroed(s->reached + 1, 4),
             *idom_narrow = narrowed(idom, s->reached + 1);
    hdx_mem mem = { 0 };
    for (uint64_t w = 1; w <= s->reached; w++) {
        slim[w] = also[w] = (uint32_t)(full[w] = again[w] = 16 + s->node[w] % 7 * 8);
        total += full[w];
        for (uint64_t d = w; d != 0; d = idom[d])
            slow[d] += full[w];
    }
    cr_assert(retained_64(idom, s->reached, &mem, full, false, 0, NULL) == HDX_OK);
    cr_assert(retained_32(idom_narrow, s->reached, &mem, again, false, 0, NULL) == HDX_OK);
    cr_assert(retained_64(idom, s->reached, &mem, slim, true, 0, NULL) == HDX_OK);
    cr_assert(retained_32(idom_narrow, s->reached, &mem, also, true, 0, NULL) == HDX_OK);
    cr_assert(full[0] == total && mem.used == 0, "%s", what);
    for (uint64_t w = 0; w <= s->reached; w++) {
        cr_assert((w == 0 || full[w] == slow[w]) && again[w] == full[w], "%s: retained of number %llu", what,
                  (unsigned long long)w);
        cr_assert(slim[w] == full[w] && also[w] == full[w], "%s: retained of number %llu, narrow", what,
                  (unsigned long long)w);
    }
    free(full);
    free(again);
    free(slow);
    free(slim);
    free(also);
    free(idom_narrow);
}

/* ---- the tapes of predecessors, by definition ---- */

static int rising(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

typedef enum which { RECORDS, MEMBERS } which;

/* What stands on the tape for number w: those above it in rising order, the least below; how many. */
static uint64_t wanted_predecessors(const graph *g, const search_64 *s, uint64_t w, bool object, which tape,
                                    uint64_t *all)
{
    const uint64_t v = s->node[w];
    uint64_t       above = 0, least = 0, from = g->inbound.at[v], end = g->inbound.at[v + 1];
    if (hdx_bits_test(g->is_root, v))
        return 0;
    if (end - from == 1 && !object)
        end = from; /* its parent */
    for (uint32_t c = tape == RECORDS ? 0 : 1; c <= (object && tape == MEMBERS ? g->classes : 0);
         c++) { /* inbound list; the instances of each class that is v */
        const lists *of = c == 0 ? &g->inbound : &g->instances;
        if (c > 0) {
            if (g->class_object[c - 1] != v)
                continue;
            from = of->at[c - 1];
            end = of->at[c];
        }
        for (uint64_t i = from; i < end; i++) {
            const uint64_t u = s->number[of->to[i]];
            if (u > w)
                all[above++] = u;
            else if (u > 0 && u < w && (least == 0 || u < least))
                least = u;
        }
    }
    if (above > 1)
        qsort(all, above, sizeof *all, rising);
    if (least > 0)
        all[above++] = least;
    return above;
}

static void check_tape(const graph *g, const search_64 *s, which of, const uint64_t *tape, uint64_t count,
                       const char *what)
{
    uint64_t *want = zeroed(g->outbound.at[g->n] + g->n + 1, sizeof *want);
    bool     *object = zeroed(g->n, sizeof *object);
    for (uint32_t c = 0; c < g->classes; c++)
        if (g->class_object[c] != NO)
            object[g->class_object[c]] = true;
    uint64_t *copy = zeroed(count, sizeof *copy);
    if (count > 0)
        memcpy(copy, tape, count * sizeof *copy);
    for (uint64_t w = s->reached; w > 0; w--) {
        const uint64_t n = wanted_predecessors(g, s, w, object[s->node[w]], of, want);
        if (n == 0)
            continue;
        cr_assert(count >= n + 2 && copy[count - 1] == w && copy[count - 2] == n, "%s: number %llu", what,
                  (unsigned long long)w);
        uint64_t *have = copy + count - 2 - n;
        qsort(have, want[n - 1] < w ? n - 1 : n, sizeof *have, rising);
        cr_assert(memcmp(have, want, n * sizeof *have) == 0, "%s: predecessors of number %llu", what,
                  (unsigned long long)w);
        count -= n + 2;
    }
    cr_assert(count == 0, "%s: nothing else", what);
    free(copy);
    free(want);
    free(object);
}

static void check_both_widths(const graph *g, const search_64 *s, which of, reel *wide, reel *narrow, const char *what)
{
    const uint64_t count = wide->len / sizeof(uint64_t);
    cr_assert(narrow->len == count * sizeof(uint32_t), "%s: both widths", what);
    for (uint64_t i = 0; i < count; i++)
        cr_assert(((uint64_t *)(void *)wide->at)[i] == ((uint32_t *)(void *)narrow->at)[i], "%s: both widths", what);
    check_tape(g, s, of, (uint64_t *)(void *)wide->at, count, what);
    reel_free(wide);
    reel_free(narrow);
}

static void check_predecessors(const graph *g, const search_64 *s, const search_32 *s32, known *k, hdx_mem *mem,
                               const char *what)
{
    reel     wide = { 0 }, narrow = { 0 };
    uint64_t count;
    cr_assert(predecessors_64(s, k, mem, NULL, &wide, &count, NULL) == HDX_OK, "%s", what);
    cr_assert(predecessors_32(s32, k, mem, NULL, &narrow, &count, NULL) == HDX_OK, "%s", what);
    check_both_widths(g, s, RECORDS, &wide, &narrow, what);
    cr_assert(class_predecessors_64(&g->wide, s, k, mem, NULL, &wide, &count, NULL) == HDX_OK, "%s", what);
    cr_assert(class_predecessors_32(&g->narrow, s32, k, mem, NULL, &narrow, &count, NULL) == HDX_OK, "%s", what);
    check_both_widths(g, s, MEMBERS, &wide, &narrow, what);
}

static ways ways_random(random_state *d)
{
    static const uint64_t chunks[] = { 1, 2, 7, 64, 4096 }, rooms[] = { 0, 1, 4096, 1u << 20, 1ull << 40 };
    return (ways){ chunks[roll(d, 5)], rooms[roll(d, 5)], 1 + (unsigned)roll(d, 3), roll(d, 2) == 0 };
}

static void check_dominators(const graph *g, ways w, bool define, const char *what)
{
    hdx_mem   mem = { .keep = true }; /* raw blocks hold what others left behind */
    search_64 s = { 0 };
    search_32 s32 = { 0 };
    uint64_t *idom;
    uint32_t *idom32;
    known     k = known_of(g, w);
    cr_assert(depth_first_64(&g->wide, &mem, NULL, &s, NULL) == HDX_OK);
    cr_assert(depth_first_32(&g->narrow, &mem, NULL, &s32, NULL) == HDX_OK);
    check_predecessors(g, &s, &s32, &k, &mem, what);
    cr_assert(dominators_64(&g->wide, &s, &k, &mem, NULL, &idom, NULL) == HDX_OK);
    cr_assert(dominators_32(&g->narrow, &s32, &k, &mem, NULL, &idom32, NULL) == HDX_OK);

    lists     edges = graph_edges(g);
    uint64_t *want = by_lengauer_tarjan(&edges), *defined = define ? by_definition(&edges) : NULL;
    for (uint64_t v = 0; v < g->n; v++) {
        const uint64_t n = s.number[v], have = n == 0 ? NO : idom[n] == 0 ? 0 : s.node[idom[n]] + 1;
        cr_assert(have == want[v + 1], "%s: node %llu, %llu instead of %llu", what, (unsigned long long)v,
                  (unsigned long long)have, (unsigned long long)want[v + 1]);
        cr_assert(defined == NULL || have == defined[v + 1], "%s: node %llu, by definition", what,
                  (unsigned long long)v);
        cr_assert(n == 0 || idom32[n] == idom[n], "%s: both widths", what);
    }
    check_certificate(&edges, &s, idom, what);
    if (g->n < 3000)
        check_retained(&s, idom, what);
    free(want);
    free(defined);
    lists_drop(&edges);
    free(idom);
    free(idom32);
    book_free(&k.book);
    search_free_64(&s, &mem);
    search_free_32(&s32, &mem);
    cr_assert(mem.used == 0, "%s", what);
    hdx_mem_close(&mem);
}

Test(dominators, agree_with_the_definition_on_small_graphs)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            random_state d = { seed * 15485863 + s };
            graph        g = graph_random(s, 1 + roll(&d, 24), &d);
            char         what[64];
            snprintf(what, sizeof what, "seed %llu %s", (unsigned long long)seed, shape_name(s));
            check_dominators(&g, ways_random(&d), true, what);
            graph_free(&g);
        }
}

Test(dominators, agree_with_lengauer_and_tarjan_on_middling_graphs)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            random_state d = { seed * 32452843 + s };
            graph        g = graph_random(s, 200 + roll(&d, seed == 1 ? 20000 : 2000), &d);
            char         what[64];
            snprintf(what, sizeof what, "seed %llu %s", (unsigned long long)seed, shape_name(s));
            check_dominators(&g, ways_random(&d), false, what);
            graph_free(&g);
        }
}

/*
 * roots 0 and 1; 0 -> 2, 2 -> 3; 3 and 1 are instances of class 0, whose object is 4; 4 has one entry in its inbound
 * list, from 3
 */
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
    check_dominators(&g, plain_ways, true, "class object");
    search_32 s = { 0 };
    known     k = known_of(&g, plain_ways);
    uint32_t *idom;
    cr_assert(depth_first_32(&g.narrow, NULL, NULL, &s, NULL) == HDX_OK);
    cr_assert(dominators_32(&g.narrow, &s, &k, NULL, NULL, &idom, NULL) == HDX_OK);
    cr_expect(idom[s.number[4]] == 0); /* held from both roots */
    cr_expect(idom[s.number[3]] == s.number[2]);
    free(idom);
    book_free(&k.book);
    search_free_32(&s, NULL);
    graph_free(&g);
}

Test(dominators, of_nothing_are_nothing)
{
    graph g = graph_of(0, 0);
    graph_finish(&g);
    check_dominators(&g, plain_ways, true, "no nodes");
    graph_free(&g);
    g = graph_of(5, 0);
    graph_add(&g, 0, 1);
    graph_add(&g, 2, 1);
    graph_finish(&g);
    check_dominators(&g, plain_ways, true, "no roots");
    graph_free(&g);
}

/* ---- ranges ---- */

/* Nodes in lists one after the other; the first ones and some far after are entered from everywhere. */
static graph graph_uneven(uint64_t n, uint32_t classes, random_state *d)
{
    graph g = graph_of(n, classes);
    for (uint32_t c = 0; c < classes; c++)
        g.class_object[c] = roll(d, n);
    for (uint64_t v = 0; v < n; v++) {
        if (classes > 0 && roll(d, 4) == 0)
            g.class_of[v] = (uint32_t)(roll(d, 2) ? 0 : roll(d, classes));
        if (v + 1 < n)
            graph_add(&g, v, v + 1);
        graph_add(&g, v, roll(d, n / 50));
        if (roll(d, 2))
            graph_add(&g, v, n - 1 - roll(d, n / 20));
        if (roll(d, 4) == 0)
            graph_add(&g, v, roll(d, n));
    }
    graph_root(&g, 0);
    graph_root(&g, n / 3);
    graph_finish(&g);
    return g;
}

static void expect_same_reel(const reel *have, const reel *want, const char *what)
{
    cr_assert(have->len == want->len && memcmp(have->at, want->at, want->len) == 0, "%s", what);
}

/*
 * A range is 65 536 numbers at least, a buffer 16 384 a worker and one more, and 32 768 numbers are put in order at a
 * time: the graph is larger than all.
 */
Test(predecessors, are_the_same_for_any_room_threads_and_chunks)
{
    random_state d = { 21 };
    graph        g = graph_uneven(90000, 40, &d);
    search_64    s = { 0 };
    search_32    s32 = { 0 };
    hdx_mem      mem = { 0 };
    known        plain = known_of(&g, plain_ways);
    reel         want = { 0 }, want32 = { 0 };
    uint64_t     count, least_reads = plain.book.chunks;
    cr_assert(depth_first_64(&g.wide, &mem, NULL, &s, NULL) == HDX_OK &&
              depth_first_32(&g.narrow, &mem, NULL, &s32, NULL) == HDX_OK);
    cr_assert(s.reached > 80000 && plain.book.entries > 200000);
    cr_assert(predecessors_64(&s, &plain, &mem, NULL, &want, &count, NULL) == HDX_OK);
    cr_assert(plain.book.reads == least_reads, "everything fits: the chunks are read once");
    check_tape(&g, &s, RECORDS, (uint64_t *)(void *)want.at, count, "in one range");
    cr_assert(predecessors_32(&s32, &plain, &mem, NULL, &want32, &count, NULL) == HDX_OK);

    const struct {
        ways     w;
        uint64_t ranges; /* at least */
    } cases[] = {
        { { 4096, 0, 1, false }, 6 },    { { 1000, 0, 2, true }, 4 },        { { 90000, 0, 3, false }, 4 },
        { { 300, 600000, 1, true }, 3 }, { { 4096, 1000000, 3, false }, 1 }, { { 4096, 1ull << 40, 3, true }, 1 },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        known k = known_of(&g, cases[i].w);
        reel  have = { 0 };
        char  what[64];
        snprintf(what, sizeof what, "case %u", i);
        mem.peak = mem.used;
        const uint64_t before = mem.used;
        cr_assert(predecessors_32(&s32, &k, &mem, NULL, &have, &count, NULL) == HDX_OK, "%s", what);
        expect_same_reel(&have, &want32, what);
        cr_expect(k.book.reads >= cases[i].ranges * k.book.chunks, "%s: %llu readings of %llu chunks", what,
                  (unsigned long long)k.book.reads, (unsigned long long)k.book.chunks);
        cr_expect(mem.used == before);
        /*
         * 65 536 slots, parts of the buffer, what each worker has ready to go out, and the chunks themselves come on
         * top of a tiny room
         */
        const hdx_referrers referrers = book_referrers(&k.book);
        const uint64_t      least = 4ull * (65536 + (cases[i].w.threads + 1) * 16384) +
                               cases[i].w.threads * (4ull * 65536 + referrers.longest + HDX_PACKED_SLACK);
        cr_expect(mem.peak - before <= cases[i].w.room + least, "%s: %llu bytes were held, %llu are needed", what,
                  (unsigned long long)(mem.peak - before), (unsigned long long)least);
        reel_free(&have);
        k.book.reads = 0;
        cr_assert(predecessors_64(&s, &k, &mem, NULL, &have, &count, NULL) == HDX_OK, "%s", what);
        expect_same_reel(&have, &want, what);
        cr_expect(k.book.reads >= cases[i].ranges * k.book.chunks, "%s: %llu readings of %llu chunks", what,
                  (unsigned long long)k.book.reads, (unsigned long long)k.book.chunks);
        reel_free(&have);
        book_free(&k.book);
    }
    reel_free(&want);
    reel_free(&want32);
    book_free(&plain.book);
    search_free_64(&s, &mem);
    search_free_32(&s32, &mem);
    cr_expect(mem.used == 0);
    graph_free(&g);
}

/* 65 536 numbers are a range; the number behind them has one of its own, or two share it. */
Test(predecessors, of_a_last_range_of_one_number_are_there)
{
    for (uint64_t n = 65535; n <= 65538; n++) {
        graph     g = graph_of(n, 0);
        search_32 s = { 0 };
        hdx_mem   mem = { 0 };
        reel      want = { 0 }, have = { 0 };
        uint64_t  count, all;
        for (uint64_t v = 0; v < n; v++) { /* few lists, for the least buffer to hold them; the last ten refer to all */
            if (v + 1 < n)
                graph_add(&g, v, v + 1);
            if (v % 100 == 0 && v + 2 < n)
                graph_add(&g, v, v + 2);
            for (uint64_t to = n - 10; v >= n - 10 && to < n; to++)
                graph_add(&g, v, to);
        }
        graph_root(&g, 0);
        graph_finish(&g);
        cr_assert(depth_first_32(&g.narrow, &mem, NULL, &s, NULL) == HDX_OK && s.reached == n);
        known plain = known_of(&g, plain_ways), tight = known_of(&g, (ways){ 4096, 0, 1, false });
        cr_assert(predecessors_32(&s, &plain, &mem, NULL, &want, &all, NULL) == HDX_OK);
        cr_assert(predecessors_32(&s, &tight, &mem, NULL, &have, &count, NULL) == HDX_OK);
        cr_expect(count == all);
        expect_same_reel(&have, &want, "ranges");
        reel_free(&want);
        reel_free(&have);
        book_free(&plain.book);
        book_free(&tight.book);
        search_free_32(&s, &mem);
        cr_expect(mem.used == 0);
        graph_free(&g);
    }
}

/* Where the room is more than the least, no more of it is held than that. */
Test(predecessors, keep_to_their_room)
{
    random_state d = { 25 };
    graph        g = graph_uneven(90000, 40, &d);
    search_32    s = { 0 };
    hdx_mem      mem = { 0 };
    cr_assert(depth_first_32(&g.narrow, &mem, NULL, &s, NULL) == HDX_OK);
    for (uint64_t room = 900000; room <= 1700000; room += 100000) {
        known    k = known_of(&g, (ways){ 4096, room, 1, false });
        reel     have = { 0 };
        uint64_t count, before = mem.used;
        mem.peak = mem.used;
        cr_assert(predecessors_32(&s, &k, &mem, NULL, &have, &count, NULL) == HDX_OK);
        cr_expect(mem.peak - before <= room + 4096, "%llu bytes of %llu", (unsigned long long)(mem.peak - before),
                  (unsigned long long)room);
        cr_expect(mem.peak - before >= room / 2, "%llu bytes of %llu", (unsigned long long)(mem.peak - before),
                  (unsigned long long)room);
        reel_free(&have);
        book_free(&k.book);
    }
    search_free_32(&s, &mem);
    cr_expect(mem.used == 0);
    graph_free(&g);
}

/* All lists at once where the room suffices to the byte; where one number's is missing, two ranges. */
Test(predecessors, take_their_room_to_the_byte)
{
    random_state d = { 26 };
    graph        g = graph_uneven(70000, 4, &d);
    search_32    s = { 0 };
    hdx_mem      mem = { 0 };
    cr_assert(depth_first_32(&g.narrow, &mem, NULL, &s, NULL) == HDX_OK);
    known               k = known_of(&g, (ways){ 4096, 0, 1, false });
    const hdx_referrers referrers = book_referrers(&k.book);
    const uint64_t      records = referrers.longest + HDX_PACKED_SLACK + 4 * 65536,
                   all = referrers.entries + referrers.entries / 3 + 2 * 16384, needed = 4 * (s.reached + all);
    cr_assert(needed < 2u << 20, "whole huge pages would be counted");
    for (uint64_t less = 0; less <= 8; less += 4) {
        reel     have = { 0 };
        uint64_t count, before = mem.used;
        k.ways.room = needed + records - less;
        k.book.reads = 0;
        mem.peak = before;
        cr_assert(predecessors_32(&s, &k, &mem, NULL, &have, &count, NULL) == HDX_OK);
        cr_expect(k.book.reads == (less == 0 ? 1 : 2) * k.book.chunks, "%llu less: %llu readings",
                  (unsigned long long)less, (unsigned long long)k.book.reads);
        const uint64_t held = mem.peak - before, reading = referrers.longest + HDX_PACKED_SLACK, writing = 4 * 65536,
                       most = needed - less + (reading > writing ? reading : writing);
        cr_expect(held <= most && held + 64 > most, "%llu less: %llu held, %llu", (unsigned long long)less,
                  (unsigned long long)held, (unsigned long long)most);
        reel_free(&have);
    }
    book_free(&k.book);
    search_free_32(&s, &mem);
    cr_expect(mem.used == 0);
    graph_free(&g);
}

/*
 * A list of 4094 referrers is the longest that shares a part of the buffer with others, and 16 384 numbers fill a part:
 * what comes after it leaves it alone.
 */
Test(predecessors, of_one_node_leave_those_of_its_neighbours_alone)
{
    for (uint64_t length = 4092; length <= 4097; length++) {
        graph     g = graph_of(12000, 0);
        search_64 s = { 0 };
        reel      have = { 0 };
        uint64_t  count;
        for (uint64_t v = 0; v + 1 < g.n; v++) {
            graph_add(&g, v, v + 1);
            if (v >= 1000 && v < 1000 + length - 1)
                for (uint64_t to = 10; to < 16; to++)
                    graph_add(&g, v, to);
            if (v >= 5000 && v < 5200)
                graph_add(&g, v, v % 100 + 9);
        }
        graph_root(&g, 0);
        graph_finish(&g);
        cr_assert(depth_first_64(&g.wide, NULL, NULL, &s, NULL) == HDX_OK);
        known k = known_of(&g, (ways){ 64, 1ull << 40, 1, false });
        cr_assert(predecessors_64(&s, &k, NULL, NULL, &have, &count, NULL) == HDX_OK);
        check_tape(&g, &s, RECORDS, (uint64_t *)(void *)have.at, count, "neighbours");
        reel_free(&have);
        book_free(&k.book);
        search_free_64(&s, NULL);
        graph_free(&g);
    }
}

/* Lengauer and Tarjan on a graph of many ranges. */
Test(predecessors, of_many_ranges_give_the_dominators)
{
    random_state d = { 22 };
    graph        g = graph_uneven(80000, 3, &d);
    check_dominators(&g, (ways){ 4096, 0, 2, false }, false, "many ranges");
    graph_free(&g);
}

/* Links of several huge pages, which come as the tapes go: pages that the tapes or others had. */
Test(dominators, of_more_nodes_than_a_page_of_links_holds)
{
    random_state d = { 24 };
    graph        g = graph_uneven(600000, 2, &d);
    check_dominators(&g, (ways){ 4096, 1ull << 40, 2, false }, false, "several pages");
    graph_free(&g);
}

/* 60 000 nodes refer to one: more than the least buffer takes, and only memory helps. */
/* However little room there is: one list is as long as it is. Only memory itself may refuse it. */
Test(predecessors, of_one_node_may_take_more_than_the_room)
{
    random_state d = { 23 };
    graph        g = graph_of(60000, 0);
    graph_shape(&g, STAR_IN, &d);
    graph_root(&g, 0);
    graph_finish(&g);
    search_32 s = { 0 };
    hdx_mem   mem = { 0 };
    cr_assert(depth_first_32(&g.narrow, &mem, NULL, &s, NULL) == HDX_OK);
    const uint64_t before = mem.used;
    for (unsigned threads = 1; threads <= 2; threads++) {
        known     k = known_of(&g, (ways){ 64, 0, threads, false });
        reel      out = { 0 };
        uint64_t  count;
        hdx_error err = { 0 };
        cr_expect(predecessors_32(&s, &k, &mem, NULL, &out, &count, &err) == HDX_OK);
        mem.limit = before + 300000; /* 60,000 of four bytes, and what else there is */
        out.len = 0;
        cr_expect(predecessors_32(&s, &k, &mem, NULL, &out, &count, &err) == HDX_LIMIT && err.code == HDX_LIMIT);
        mem.limit = 0;
        k.ways.room = 1u << 20;
        out.len = 0;
        cr_expect(predecessors_32(&s, &k, &mem, NULL, &out, &count, &err) == HDX_OK);
        cr_expect(mem.used == before);
        reel_free(&out);
        book_free(&k.book);
    }
    search_free_32(&s, &mem);
    graph_free(&g);
}

/*
 * Lists of 75,000 and 50,000 among lists of one or two: what a worker cannot keep until it is its turn goes out when it
 * is.
 */
Test(predecessors, longer_than_what_is_kept_ready_come_in_their_order)
{
    graph     g = graph_of(150000, 0);
    search_32 s = { 0 };
    search_64 wide = { 0 };
    reel      want = { 0 };
    uint64_t  count;
    for (uint64_t v = 0; v + 1 < g.n; v++) {
        graph_add(&g, v, v + 1);
        if (v % 2 == 1)
            graph_add(&g, v, g.n / 2);
        if (v % 3 == 1)
            graph_add(&g, v, 40000);
        if (v % 5 == 1)
            graph_add(&g, v, v / 2 + 1);
    }
    graph_root(&g, 0);
    graph_finish(&g);
    cr_assert(depth_first_32(&g.narrow, NULL, NULL, &s, NULL) == HDX_OK &&
              depth_first_64(&g.wide, NULL, NULL, &wide, NULL) == HDX_OK);
    known by_definition = known_of(&g, plain_ways);
    cr_assert(predecessors_64(&wide, &by_definition, NULL, NULL, &want, &count, NULL) == HDX_OK);
    check_tape(&g, &wide, RECORDS, (uint64_t *)(void *)want.at, count, "by one thread");
    for (unsigned threads = 1; threads <= 4; threads++) {
        known k = known_of(&g, (ways){ 512, 1ull << 40, threads, false });
        reel  out = { 0 };
        cr_assert(predecessors_32(&s, &k, NULL, NULL, &out, &count, NULL) == HDX_OK && out.len == want.len / 2);
        for (uint64_t i = 0; i < count; i++)
            cr_assert(((const uint32_t *)(const void *)out.at)[i] == ((const uint64_t *)(const void *)want.at)[i],
                      "%u threads, number %llu", threads, (unsigned long long)i);
        reel_free(&out);
        book_free(&k.book);
    }
    reel_free(&want);
    book_free(&by_definition.book);
    search_free_32(&s, NULL);
    search_free_64(&wide, NULL);
    graph_free(&g);
}

/* A record of a few hundred referrers is gathered in pieces; instances of a class are read in pieces. */
Test(predecessors, come_in_pieces_of_any_length)
{
    const uint64_t lengths[] = { 1, 2, 255, 256, 257, 511, 512, 513, 1000 };
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (unsigned by_class = 0; by_class < 2; by_class++) {
            graph g = graph_of(2 * lengths[i] + 3, 1);
            char  what[64];
            for (uint64_t v = 0; v < 2 * lengths[i]; v++) {
                graph_add(&g, v / 2, v + 1);
                if (v % 2 == 0) {
                    graph_add(&g, v, g.n - 2);
                    if (by_class)
                        g.class_of[v] = 0;
                    else
                        graph_add(&g, v, g.n - 1);
                }
            }
            if (by_class)
                g.class_object[0] = g.n - 1;
            graph_root(&g, 0);
            graph_finish(&g);
            snprintf(what, sizeof what, "%llu referrers", (unsigned long long)lengths[i]);
            check_dominators(&g, plain_ways, false, what);
            graph_free(&g);
        }
}

/* ---- refusals, tears and cancelling ---- */

static void check_torn(const graph *g, unsigned threads, uint64_t refuse, bool *fine)
{
    search_32 s = { 0 };
    cr_assert(depth_first_32(&g->narrow, NULL, NULL, &s, NULL) == HDX_OK);
    known     k = known_of(g, (ways){ 16, 1ull << 40, threads, false });
    refuser   r = { 0, refuse };
    hdx_mem   mem = { .refuse = refuse_one, .context = &r };
    uint32_t *idom;
    hdx_error err = { 0 };
    hdx_code  code = dominators_32(&g->narrow, &s, &k, &mem, NULL, &idom, &err);
    cr_expect((code == HDX_LIMIT && err.code == HDX_LIMIT) || (code == HDX_OK && r.asked <= refuse), "request %llu",
              (unsigned long long)refuse);
    cr_expect((idom == NULL) == (code != HDX_OK) && mem.used == 0, "request %llu", (unsigned long long)refuse);
    *fine = code == HDX_OK;
    free(idom);
    book_free(&k.book);
    search_free_32(&s, NULL);
}

/* Every request refused once, every point of cancelling tried once: no result, nothing kept. */
Test(dominators, return_limit_and_leak_nothing_at_every_refusal)
{
    random_state d = { 9 };
    graph        g = graph_random(HEAPLIKE, 500, &d);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        bool fine = false;
        for (uint64_t at = 0; !fine; at++) {
            cr_assert(at < 40);
            cr_assert(at > 4 + threads + 7 || !fine);
            check_torn(&g, threads, at, &fine);
        }
    }
    graph_free(&g);
}

Test(retained, returns_limit_and_leaks_nothing_when_memory_is_refused)
{
    const uint32_t idom[] = { 0, 0, 1, 1 };
    for (uint64_t at = 0; at < 4; at++) {
        refuser  r = { 0, at };
        hdx_mem  mem = { .refuse = refuse_one, .context = &r };
        uint64_t sizes[] = { 0, 1, 10, 100 };
        cr_expect(retained_32(idom, 3, &mem, sizes, false, 0, NULL) == (at < 3 ? HDX_LIMIT : HDX_OK));
        cr_expect(at < 3 || (sizes[0] == 111 && sizes[1] == 111 && sizes[2] == 10 && sizes[3] == 100));
        cr_expect(mem.used == 0);
    }
}

Test(retained, is_summed_over_a_tape_of_many_pieces_and_says_when_it_is_torn)
{
    const uint64_t n = 20000; /* three pieces */
    uint64_t      *idom = zeroed(n + 1, 8);
    uint64_t      *sizes = zeroed(n + 1, 8);
    uint32_t      *slim = zeroed(n + 1, 4);
    for (uint64_t w = 1; w <= n; w++)
        idom[w] = w - 1;
    for (uint64_t at = 0; at <= 4; at++) {
        hdx_mem mem = { 0 };
        for (uint64_t w = 0; w <= n; w++)
            slim[w] = (uint32_t)(sizes[w] = w > 0);
        cr_expect(retained_64(idom, n, &mem, sizes, false, at, NULL) == (at == 0 || at == 4 ? HDX_OK : HDX_IO));
        cr_expect(retained_64(idom, n, &mem, slim, true, at, NULL) == (at == 0 || at == 4 ? HDX_OK : HDX_IO));
        cr_expect(mem.used == 0);
        for (uint64_t w = 1; w <= n && at % 4 == 0; w++)
            cr_assert(sizes[w] == n + 1 - w && slim[w] == sizes[w]);
    }
    free(idom);
    free(sizes);
    free(slim);
}

/* Whatever is read or written may fail: the error comes back, and nothing is kept. */
Test(dominators, give_back_what_goes_wrong_with_tapes_and_referrers)
{
    random_state d = { 30 };
    graph        g = graph_uneven(40000, 2, &d);
    search_32    s = { 0 };
    cr_assert(depth_first_32(&g.narrow, NULL, NULL, &s, NULL) == HDX_OK);
    known               k = known_of(&g, (ways){ 4096, 1ull << 40, 2, false });
    reel                preds = { 0 }, of_class = { 0 }, semis = { 0 }, idoms = { 0 };
    hdx_mem             mem = { 0 };
    const hdx_resources with = { .mem = &mem };
    const hdx_tape visits_tape = reel_tape(&s.tape), preds_tape = reel_tape(&preds), semis_tape = reel_tape(&semis),
                   idoms_tape = reel_tape(&idoms), of_class_tape = reel_tape(&of_class);
    const hdx_taped visits = { &visits_tape, s.reached };
    hdx_preds       all = { { &preds_tape, 0 }, { &of_class_tape, 0 } };
    hdx_taped       found = { &semis_tape, 0 };
    cr_assert(predecessors_32(&s, &k, &mem, NULL, &preds, &all.of_referrers.count, NULL) == HDX_OK &&
              all.of_referrers.count > 65536);
    cr_assert(class_predecessors_32(&g.narrow, &s, &k, &mem, NULL, &of_class, &all.of_classes.count, NULL) == HDX_OK &&
              all.of_classes.count > 0);
    cr_assert(hdx_semidominators_32(&visits, &all, &with, &found, NULL) == HDX_OK && found.count > 0);
    enum { CHUNKS, CHUNKS_OUT, ROLL, ROLL_OUT, VISITS, PREDS, OF_CLASS, VISITS_AGAIN, SEMIS, PLACES };
    uint64_t failed[PLACES] = { 0 };
    for (unsigned what = 0; what < PLACES; what++)
        for (uint64_t at = 1, fine = 0; !fine; at++) {
            reel            out = { 0 };
            uint64_t *const fail_at[PLACES] = {
                [CHUNKS] = &k.book.fail_at,     [CHUNKS_OUT] = &out.fail_at,      [ROLL] = &k.roll.fail_at,
                [ROLL_OUT] = &out.fail_at,      [VISITS] = &s.tape.fail_at,       [PREDS] = &preds.fail_at,
                [OF_CLASS] = &of_class.fail_at, [VISITS_AGAIN] = &s.tape.fail_at, [SEMIS] = &semis.fail_at
            };
            uint64_t  count;
            hdx_error err = { 0 };
            hdx_code  code;
            hdx_tape  tape = reel_tape(&out);
            k.book.reads = k.roll.reads = s.tape.calls = preds.calls = of_class.calls = semis.calls = 0;
            *fail_at[what] = at;
            if (what <= CHUNKS_OUT)
                code = predecessors_32(&s, &k, &mem, NULL, &out, &count, &err);
            else if (what <= ROLL_OUT)
                code = class_predecessors_32(&g.narrow, &s, &k, &mem, NULL, &out, &count, &err);
            else if (what <= OF_CLASS)
                code = hdx_semidominators_32(&visits, &all, &with, &(hdx_taped){ &tape, 0 }, &err);
            else
                code = hdx_dominators_32(&visits, &found, &with, &idoms_tape, &err);
            cr_expect(code == HDX_IO || code == HDX_OK);
            cr_expect(code == HDX_OK || strstr(err.message, "is torn") != NULL, "%s", err.message);
            cr_expect(mem.used == 0);
            failed[what] += code == HDX_IO;
            fine = code == HDX_OK;
            *fail_at[what] = 0;
            reel_free(&out);
            cr_assert(at < 200);
        }
    cr_expect(failed[CHUNKS] == k.book.chunks, "%llu", (unsigned long long)failed[CHUNKS]);
    for (unsigned what = CHUNKS_OUT; what < PLACES; what++)
        cr_expect(failed[what] > (what == SEMIS || what == OF_CLASS || what == ROLL_OUT ? 0 : 1), "%u: %llu", what,
                  (unsigned long long)failed[what]);
    reel_free(&of_class);
    reel_free(&preds);
    reel_free(&semis);
    reel_free(&idoms);
    book_free(&k.book);
    search_free_32(&s, NULL);
    graph_free(&g);
}

/*
 * A list whose nodes are entered from the root as well: records, and pieces of the tapes in one direction and the
 * other.
 */
Test(dominators, stop_when_cancelled_and_count_every_node_once)
{
    graph g = graph_of(200000, 0);
    for (uint64_t v = 0; v + 1 < g.n; v++) {
        graph_add(&g, v, v + 1);
        if (v % 4 == 2)
            graph_add(&g, 0, v);
    }
    graph_root(&g, 0);
    graph_finish(&g);
    search_32 s = { 0 };
    cr_assert(depth_first_32(&g.narrow, NULL, NULL, &s, NULL) == HDX_OK);
    known    k = known_of(&g, (ways){ 512, 1ull << 40, 1, false });
    hdx_code last = HDX_CANCELLED;
    cr_assert(k.book.chunks > 350);
    for (uint64_t at = 0; last != HDX_OK; at++) {
        canceller    c = { 0, at };
        hdx_progress progress = { .context = &c, .cancelled = cancel_then };
        hdx_ticker   tick;
        hdx_mem      mem = { 0 };
        uint32_t    *idom;
        hdx_ticker_init(&tick, &progress, 1);
        hdx_code code = dominators_32(&g.narrow, &s, &k, &mem, &tick, &idom, NULL);
        cr_expect(code == HDX_CANCELLED || (code == HDX_OK && at > 60));
        cr_assert(at < 200);
        last = code;
        if (code == HDX_OK)
            cr_expect(tick.done == 200000);
        free(idom);
        cr_expect(mem.used == 0);
        hdx_ticker_free(&tick);
    }
    book_free(&k.book);
    search_free_32(&s, NULL);
    graph_free(&g);
}
