/*
 * test_large.c - leaks in heaps of many thousands of objects: paths are as short as the shortest, each step refers to
 * the next, and each retains what is not reached without it. All of it is found again by plain searches of the heap.
 */
#include "../query/heap.h"

#include <heapdex/leaks.h>

enum { LEAKS = 24, ROOTS = 5, MOST_LONG = 70000 };

typedef struct graph {
    uint32_t  count;
    uint64_t *addresses; /* ascending */
    uint64_t *sizes;
    uint32_t *first, *to; /* to[first[i]] .. to[first[i + 1] - 1] */
    uint32_t  roots[ROOTS];
    bool     *is_leak;
    uint32_t *depth; /* 0: not reached */
} graph;

static uint64_t roll(uint64_t *state, uint64_t n) { return (*state = hdx_mix64(*state + 0x9e37)) % n; }

/* Objects refer to some a little further on, at times to ones before, and rarely to any. */
static void make(graph *g, heap *h, uint32_t count, uint64_t seed)
{
    dump_maker    *d = dump_maker_new(8);
    const uint64_t object = dump_maker_class(d, "java/lang/Object", 0, ""),
                   node = dump_maker_class(d, "p/Node", object, "a:L b:L c:L"),
                   leak = dump_maker_class(d, "p/Leak", object, "n:J"),
                   array = dump_maker_class(d, "[Ljava/lang/Object;", object, "");
    uint64_t *refs = calloc(MOST_LONG, sizeof *refs);
    uint32_t  all = 0;
    *g = (graph){ .count = count };
    g->addresses = calloc(count, sizeof *g->addresses);
    g->sizes = calloc(count, sizeof *g->sizes);
    g->first = calloc(count + 1, sizeof *g->first);
    g->to = calloc((size_t)count * 12 + 2 * MOST_LONG, sizeof *g->to);
    g->is_leak = calloc(count, sizeof *g->is_leak);
    g->depth = calloc(count, sizeof *g->depth);
    for (uint32_t i = 0; i < count; i++)
        g->addresses[i] = 0x100000 + 16 * (uint64_t)i;
    for (uint32_t i = 0; i < count; i++) {
        const bool     leaks = i % (count / LEAKS) == count / LEAKS / 2;
        const uint32_t n = leaks                  ? 0
                           : i == count / 3       ? MOST_LONG
                           : roll(&seed, 20) == 0 ? (uint32_t)roll(&seed, 30)
                                                  : 3;
        g->first[i] = all;
        for (uint32_t k = 0; k < n; k++) {
            const uint64_t kind = roll(&seed, 100);
            const uint64_t to = kind < 25   ? UINT64_MAX
                                : kind < 85 ? i + 1 + roll(&seed, 40)
                                : kind < 98 ? i - roll(&seed, 30)
                                            : roll(&seed, count);
            refs[k] = to < count ? g->addresses[to] : 0;
            if (to < count && (n != MOST_LONG || k % 500 == 0))
                g->to[all++] = (uint32_t)to;
            else if (n == MOST_LONG)
                refs[k] = 0;
        }
        g->is_leak[i] = leaks;
        if (leaks)
            (void)dump_maker_instance_at(d, g->addresses[i], leak, NULL);
        else if (n == 3)
            (void)dump_maker_instance_at(d, g->addresses[i], node, refs);
        else
            (void)dump_maker_array_at(d, g->addresses[i], array, refs, n);
        g->sizes[i] = leaks ? 8 : 8 * (uint64_t)n;
    }
    g->first[count] = all;
    for (uint32_t r = 0; r < ROOTS; r++) {
        g->roots[r] = (uint32_t)roll(&seed, count / 4);
        dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, g->addresses[g->roots[r]], 0, 0);
    }
    free(refs);
    heap_open(h, d);
}

static void graph_free(graph *g)
{
    free(g->addresses);
    free(g->sizes);
    free(g->first);
    free(g->to);
    free(g->is_leak);
    free(g->depth);
}

/* How far each object is from the roots, counted from 1, without one of them; gives how many bytes are reached. */
static uint64_t reach(const graph *g, uint32_t without, uint32_t *depth, uint32_t *reached)
{
    uint32_t *queue = calloc(g->count, sizeof *queue), head = 0, tail = 0;
    uint64_t  bytes = 0;
    memset(depth, 0, g->count * sizeof *depth);
    for (unsigned r = 0; r < ROOTS; r++)
        if (g->roots[r] != without && depth[g->roots[r]] == 0) {
            depth[g->roots[r]] = 1;
            queue[tail++] = g->roots[r];
        }
    for (; head < tail; head++) {
        const uint32_t at = queue[head];
        bytes += g->sizes[at];
        for (uint32_t k = g->first[at]; k < g->first[at + 1]; k++)
            if (g->to[k] != without && depth[g->to[k]] == 0) {
                depth[g->to[k]] = depth[at] + 1;
                queue[tail++] = g->to[k];
            }
    }
    free(queue);
    *reached = tail;
    return bytes;
}

static uint32_t number_of(uint64_t address) { return (uint32_t)((address - 0x100000) / 16); }

static bool refers(const graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t k = g->first[from]; k < g->first[from + 1]; k++)
        if (g->to[k] == to)
            return true;
    return false;
}

/* Gives how many of the steps have sizes. */
static unsigned check_trace(const graph *g, const hdx_leaks *leaks, const hdx_leak_trace *t, uint64_t all_bytes,
                            uint32_t all)
{
    hdx_leak_steps steps = { .count = 0 };
    uint32_t      *depth = calloc(g->count, sizeof *depth), reached;
    unsigned       sized = 0;
    cr_assert(eq(int, hdx_leak_steps_read(leaks, t, &steps, NULL), HDX_OK));
    const uint32_t leak = number_of(t->address);
    cr_expect(g->is_leak[leak]);
    cr_expect(eq(u64, steps.count, g->depth[leak] == 0 ? 1 : g->depth[leak]), "leak %u", leak);
    for (uint64_t s = 0; s < steps.count; s++) {
        const uint32_t at = number_of(steps.at[s].address);
        if (s + 1 < steps.count)
            cr_expect(refers(g, at, number_of(steps.at[s + 1].address)), "leak %u, step %u", leak, (unsigned)s);
        if (!steps.at[s].sized)
            continue;
        sized++;
        const uint64_t bytes = all_bytes - reach(g, at, depth, &reached);
        cr_expect(eq(u64, steps.at[s].retained_objects, all - reached), "leak %u, step %u", leak, (unsigned)s);
        cr_expect(eq(u64, steps.at[s].retained_bytes, bytes), "leak %u, step %u", leak, (unsigned)s);
    }
    hdx_leak_steps_free(&steps);
    free(depth);
    return sized;
}

static void check(uint32_t count, uint64_t seed, unsigned width, unsigned threads)
{
    static const char *const classes[] = { "p.Leak" };
    graph                    g;
    heap                     h;
    hdx_leaks               *leaks;
    uint32_t                 all;
    unsigned                 traces = 0, sized = 0;
    make(&g, &h, count, seed);
    const uint64_t          bytes = reach(&g, UINT32_MAX, g.depth, &all);
    const hdx_leaks_options o = { .finder = HDX_LEAKS_CLASSES,
                                  .classes = classes,
                                  .class_count = 1,
                                  .retained = true,
                                  .width = width,
                                  .threads = threads,
                                  .no_memory_of_it = true };
    cr_assert(eq(int, hdx_leaks_search(h.g, &o, &leaks, &h.err), HDX_OK), "%s", h.err.message);
    for (uint64_t i = 0; i < leaks->leak_count; i++)
        for (uint64_t t = 0; t < leaks->leaks[i].trace_count; t++) {
            const hdx_leak_trace *trace = &leaks->leaks[i].traces[t];
            const bool            lost = g.depth[number_of(trace->address)] == 0;
            cr_expect(lost == (trace->root_type == NULL));
            sized += check_trace(&g, leaks, trace, bytes, all);
            traces++;
        }
    unsigned wanted = 0;
    for (uint32_t i = 0; i < count; i++)
        wanted += g.is_leak[i];
    cr_expect(eq(u32, traces, wanted));
    cr_expect(gt(u32, sized, LEAKS));
    hdx_leaks_free(leaks);
    heap_close(&h);
    graph_free(&g);
}

Test(large, heaps_are_searched_as_plain_searches_do)
{
    check(4097, 1, 0, 1);
    check(9000, 2, 64, 2);
    check(30000, 3, 0, 2);
    check(30000, 4, 64, 1);
}
