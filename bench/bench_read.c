/*
 * bench_read.c - what an answer costs on a finished index: at random, in order, and the shape of the heap.
 *
 *     bench_read INDEX [N [SEED]]
 *
 * In:  an index folder; N objects drawn at random (1 000 000).
 * Out: CSV: bench,index,what,n,ns_per_n,mean. random.* are independent warm questions (CPU time; asked once before,
 *      then the best of three; random.load is one load from 64 MB, to see how busy the machine is); ahead.* are the
 *      same questions with hdx_graph_ahead before each, its time included; sequential.* run through all objects; mean
 *      is what was read each time, where that has a meaning (length of a list or path). shape.* say how many objects
 *      have out- and in-degree 0, 1, 2 and more, classes left out, in percent (column mean).
 */
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The first warms up; of the others the best: a machine that lends its cores elsewhere disturbs most of a few. */
#define ROUNDS 12u

static hdx_graph  *graph;
static const char *name;
static uint64_t    count, *ids, *addresses;

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t cpu_ns(void) /* of this thread: others who use the machine are left out, as far as caches allow */
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void row(const char *kind, const char *what, uint64_t n, double ns, double mean)
{
    printf("read,%s,%s.%s,%llu,%.1f,%.2f\n", name, kind, what, (unsigned long long)n, ns, mean);
}

/* ---- at random: each gives something that depends on what was read ---- */

#define YARD (1u << 23)
static uint64_t *yard; /* 64 MB: what the machine takes for one load, at this moment */
static uint64_t  load(uint64_t i) { return yard[mix(ids[i]) % YARD]; }

static uint64_t position(uint64_t i)
{
    hdx_pos p = 0;
    (void)hdx_graph_position(graph, ids[i], &p);
    return p;
}
static uint64_t class_of(uint64_t i) { return hdx_graph_class_of(graph, ids[i]); }
static uint64_t retained(uint64_t i) { return hdx_graph_retained(graph, ids[i]); }
static uint64_t shallow(uint64_t i) { return hdx_graph_shallow(graph, ids[i]); }
static uint64_t address(uint64_t i) { return hdx_graph_address(graph, ids[i]); }
static uint64_t find(uint64_t i)
{
    hdx_id id = 0;
    (void)hdx_graph_find(graph, addresses[i], &id);
    return id;
}
static uint64_t live(uint64_t i) { return hdx_graph_live(graph, ids[i]); }
static uint64_t dominator(uint64_t i) { return hdx_graph_dominator(graph, ids[i]); }

static uint64_t listed; /* values of all lists, steps of all paths */
static uint64_t walk(hdx_refs *c)
{
    uint64_t sum = 0;
    for (hdx_id id; hdx_refs_next(c, &id); listed++)
        sum += id;
    return sum;
}
static uint64_t outbound(uint64_t i)
{
    hdx_refs c;
    hdx_graph_outbound(graph, ids[i], HDX_ALL, &c);
    return walk(&c);
}
static uint64_t outbound_live(uint64_t i)
{
    hdx_refs c;
    hdx_graph_outbound(graph, ids[i], HDX_LIVE, &c);
    return walk(&c);
}
static uint64_t inbound(uint64_t i)
{
    hdx_refs c;
    hdx_graph_inbound(graph, ids[i], HDX_ALL, &c);
    return walk(&c);
}
static uint64_t dominated(uint64_t i)
{
    hdx_refs c;
    hdx_graph_dominated(graph, ids[i], &c);
    return walk(&c);
}
static uint64_t path(uint64_t i)
{
    hdx_id at = ids[i], up;
    for (; (up = hdx_graph_nearest(graph, at)) != at && up != HDX_NO_ID; at = up)
        listed++;
    return at;
}

/* The same objects and the same calls, with hdx_graph_ahead before each. */
enum { NOTHING_AHEAD, FIND_AHEAD = 1 << 30 };
static void measure(const char *kind, const char *what, uint64_t (*ask)(uint64_t i), unsigned wanted, uint64_t n)
{
    volatile uint64_t sink;
    uint64_t          best = UINT64_MAX;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t sum = 0, since = cpu_ns();
        listed = 0;
        for (uint64_t i = 0; i < n; i++) {
            if (wanted == FIND_AHEAD)
                hdx_graph_ahead_find(graph, addresses, n, i);
            else if (wanted != NOTHING_AHEAD)
                hdx_graph_ahead(graph, wanted, ids, n, i);
            sum += ask(i);
        }
        uint64_t ns = cpu_ns() - since;
        sink = sum;
        (void)sink;
        best = round > 0 && ns < best ? ns : best;
    }
    row(kind, what, n, (double)best / (double)n, (double)listed / (double)n);
}
static void at_random(const char *what, uint64_t (*ask)(uint64_t i), uint64_t n)
{
    measure("random", what, ask, NOTHING_AHEAD, n);
}
static void ahead(const char *what, uint64_t (*ask)(uint64_t i), unsigned wanted, uint64_t n)
{
    measure("ahead", what, ask, wanted, n);
}

/* ---- in order ---- */

static uint64_t out[HDX_RUN], more[HDX_RUN];
static uint32_t classes[HDX_RUN];
static void     run_classes(hdx_id first, uint32_t n) { hdx_graph_read_classes(graph, first, n, classes); }
static void     run_positions(hdx_id first, uint32_t n) { hdx_graph_read_positions(graph, first, n, out); }
static void     run_retained(hdx_id first, uint32_t n) { hdx_graph_read_retained(graph, first, n, out); }
static void     run_shallow(hdx_id first, uint32_t n) { hdx_graph_read_shallow(graph, first, n, out); }
static void     run_addresses(hdx_id first, uint32_t n) { hdx_graph_read_addresses(graph, first, n, out); }
static void     run_live(hdx_id first, uint32_t n) { hdx_graph_read_live(graph, first, n, out); }
static void     run_dominators(hdx_id first, uint32_t n) { hdx_graph_read_dominators(graph, first, n, out); }
static void     run_nearest(hdx_id first, uint32_t n) { hdx_graph_read_nearest(graph, first, n, out); }
static void     run_counts(hdx_id first, uint32_t n) { hdx_graph_read_counts(graph, HDX_ALL, first, n, out, more); }
static void     run_dominators_singly(hdx_id first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = hdx_graph_dominator(graph, first + i);
}
static void run_counts_singly(hdx_id first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        out[i] = hdx_graph_outbound_count(graph, first + i, HDX_ALL);
        more[i] = hdx_graph_inbound_count(graph, first + i, HDX_ALL);
    }
}

static void in_order(const char *what, void (*read)(hdx_id first, uint32_t n))
{
    uint64_t since = cpu_ns();
    for (hdx_id first = 0; first < count; first += HDX_RUN)
        read(first, (uint32_t)(count - first < HDX_RUN ? count - first : HDX_RUN));
    row("sequential", what, count, (double)(cpu_ns() - since) / (double)count, 0);
}

static void shape(void)
{
    static const char *const text[2][4] = { { "out_0", "out_1", "out_2", "out_more" },
                                            { "in_0", "in_1", "in_2", "in_more" } };
    uint64_t                 with[2][4] = { { 0 } }, sum = 0, most[2] = { 0 }, n;
    for (hdx_id first = 0; first < count; first += n) {
        n = count - first < HDX_RUN ? count - first : HDX_RUN;
        run_counts(first, (uint32_t)n);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t o = out[i] > 0 ? out[i] - 1 : 0, in = more[i]; /* its class */
            with[0][o < 3 ? o : 3]++;
            with[1][in < 3 ? in : 3]++;
            sum += o;
            most[0] = o > most[0] ? o : most[0];
            most[1] = in > most[1] ? in : most[1];
        }
    }
    for (unsigned d = 0; d < 2; d++)
        for (unsigned k = 0; k < 4; k++)
            row("shape", text[d][k], count, 0, 100.0 * (double)with[d][k] / (double)count);
    const hdx_graph_summary *s = hdx_graph_summary_of(graph);
    row("shape", "references", count, 0, (double)sum / (double)count);
    row("shape", "most_out", count, 0, (double)most[0]);
    row("shape", "most_in", count, 0, (double)most[1]); /* instances of class objects among them */
    row("shape", "bytes", count, 0, (double)s->dump_size / (double)count);
    row("shape", "heap_bytes", count, 0, (double)(s->live_bytes + s->unreachable_bytes) / (double)count);
    row("shape", "garbage", count, 0, 100.0 * (double)s->unreachable_objects / (double)count);
}

int main(int argc, char **argv)
{
    hdx_error err;
    uint64_t  n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000, seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (argc < 2 || n == 0)
        return fprintf(stderr, "usage: bench_read INDEX [N [SEED]]\n"), 2;
    if (hdx_graph_open(argv[1], NULL, &graph, &err) != HDX_OK)
        return fprintf(stderr, "bench_read: %s: %s\n", err.where, err.message), 1;
    const char *slash = strrchr(argv[1], '/');
    name = slash == NULL ? argv[1] : slash + 1;
    count = hdx_graph_objects(graph);
    ids = malloc(n * sizeof *ids);
    addresses = malloc(n * sizeof *addresses);
    yard = malloc(YARD * sizeof *yard);
    if (ids == NULL || addresses == NULL || yard == NULL)
        return 1;
    memset(yard, 1, YARD * sizeof *yard);
    for (uint64_t i = 0; i < n; i++) {
        ids[i] = mix(seed + (i + 1) * 0x9e3779b97f4a7c15u) % count;
        addresses[i] = hdx_graph_address(graph, ids[i]);
    }
    printf("bench,index,what,n,ns_per_n,mean\n");
    at_random("load", load, n);
    at_random("position", position, n);
    at_random("class", class_of, n);
    at_random("retained", retained, n);
    at_random("shallow", shallow, n);
    at_random("address", address, n);
    at_random("id", find, n);
    at_random("live", live, n);
    at_random("dominator", dominator, n);
    at_random("outbound", outbound, n);
    at_random("outbound_live", outbound_live, n);
    at_random("inbound", inbound, n);
    at_random("dominated", dominated, n);
    at_random("path", path, n);
    ahead("position", position, HDX_AHEAD_POSITION, n);
    ahead("class", class_of, HDX_AHEAD_CLASS, n);
    ahead("retained", retained, HDX_AHEAD_RETAINED, n);
    ahead("shallow", shallow, HDX_AHEAD_CLASS | HDX_AHEAD_LENGTH, n);
    ahead("address", address, HDX_AHEAD_ADDRESS, n);
    ahead("id", find, FIND_AHEAD, n);
    ahead("live", live, HDX_AHEAD_LIVE, n);
    ahead("dominator", dominator, HDX_AHEAD_LIVE | HDX_AHEAD_INBOUND, n);
    ahead("outbound", outbound, HDX_AHEAD_CLASS | HDX_AHEAD_OUTBOUND, n);
    ahead("outbound_live", outbound_live, HDX_AHEAD_CLASS | HDX_AHEAD_LIVE | HDX_AHEAD_OUTBOUND, n);
    ahead("inbound", inbound, HDX_AHEAD_CLASS | HDX_AHEAD_INBOUND, n);
    ahead("dominated", dominated, HDX_AHEAD_OUTBOUND, n);
    in_order("class", run_classes);
    in_order("position", run_positions);
    in_order("retained", run_retained);
    in_order("shallow", run_shallow);
    in_order("address", run_addresses);
    in_order("live", run_live);
    in_order("dominator", run_dominators);
    in_order("dominator_singly", run_dominators_singly);
    in_order("nearest", run_nearest);
    in_order("counts", run_counts);
    in_order("counts_singly", run_counts_singly);
    shape();
    hdx_code code = hdx_graph_check(graph, &err);
    if (code != HDX_OK)
        (void)fprintf(stderr, "bench_read: %s: %s\n", err.where, err.message);
    hdx_graph_close(graph);
    free(ids);
    free(addresses);
    free(yard);
    return code == HDX_OK ? 0 : 1;
}
