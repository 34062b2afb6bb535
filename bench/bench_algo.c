/*
 * bench_algo.c - the searches and sorts of algo on graphs made here.
 *
 *     bench_algo SHAPE NODES [THREADS [SEED]]      SHAPE: mix, shop, shuffled, list, backlist
 *
 * Out: CSV: bench,dump,n,seconds,ns_per_n,peak_rss; n counts reached nodes, for transpose references. Fresh memory every time: page
 * faults are in the numbers. mix: tree-like, copied breadth first by a collector, 95 % of nodes with one referrer; shop: short
 * distances and more sharing; shuffled: mix with ids drawn at random; backlist: a list with random references backwards.
 */
#include "algo/algo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static uint32_t below(uint64_t n)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % n);
}

/* One tree edge to every node but the roots from a queue of open slots, as a breadth-first copy lays objects out; then more edges. */
static void make_edges(const char *shape, uint32_t n, uint32_t roots, uint32_t **from_out, uint32_t **to_out, uint64_t *count_out)
{
    const bool list = strcmp(shape, "list") == 0, back = strcmp(shape, "backlist") == 0, shop = strcmp(shape, "shop") == 0;
    uint32_t  *from = malloc(4ull * n * 3), *to = malloc(4ull * n * 3), *slot = malloc(4ull * n * 4), *name = malloc(4ull * n);
    uint64_t   count = 0, head = 0, tail = 0;
    if (from == NULL || to == NULL || slot == NULL || name == NULL)
        exit(1);
    for (uint32_t v = 0; v < n; v++) {
        if (list || back) {
            if (v > roots) { from[count] = v - 1; to[count++] = v; }
            if (back && v > 0) { from[count] = v; to[count++] = below(v); }
            continue;
        }
        if (v >= roots && head < tail) { from[count] = slot[head++]; to[count++] = v; }
        else if (v >= roots) { from[count] = v - 1 - below(v < 1000 ? v : 1000); to[count++] = v; }
        uint32_t dice = below(100), degree = dice < 36 ? 0 : dice < 62 ? 1 : dice < 88 ? 2 : 3;
        for (uint32_t k = 0; k < degree && tail < 4ull * n; k++)
            slot[tail++] = v;
        uint32_t more = below(1000);
        if (shop ? more < 600 : more < 70) {
            from[count] = v;
            to[count++] = shop && below(4) ? v - below(v < 255 ? v + 1 : 256) : below(n);
        }
    }
    if (strcmp(shape, "shuffled") == 0) {
        for (uint32_t v = 0; v < n; v++)
            name[v] = v;
        for (uint32_t v = n; v > roots + 1; v--) {
            uint32_t o = roots + below(v - roots), t = name[v - 1];
            name[v - 1] = name[o];
            name[o] = t;
        }
        for (uint64_t i = 0; i < count; i++) {
            from[i] = name[from[i]];
            to[i] = name[to[i]];
        }
    }
    free(slot);
    free(name);
    *from_out = from;
    *to_out = to;
    *count_out = count;
}

/* Sorted lists: by target, then stably by source; equal targets of one source are left in, which no search minds. */
static void make_lists(const uint32_t *from, const uint32_t *to, uint64_t count, uint32_t n, hdx_lists_32 *out)
{
    hdx_lists_32 turned = { n, calloc(n + 1ull, 4), malloc(4 * count + 4) };
    hdx_error    err;
    if (turned.at == NULL || turned.to == NULL)
        exit(1);
    for (uint64_t i = 0; i < count; i++)
        turned.at[to[i]]++;
    for (uint32_t v = 0, sum = 0; v <= n; v++)
        turned.at[v] = sum += turned.at[v];
    for (uint64_t i = count; i-- > 0;)
        turned.to[--turned.at[to[i]]] = from[i];
    if (hdx_transpose_32(&turned, 1, NULL, out, &err) != HDX_OK)
        exit(1);
    free(turned.at);
    free(turned.to);
}

static void row(const char *bench, const char *shape, uint64_t n, uint64_t since)
{
    double s = (double)(hdx_now_ns() - since) * 1e-9;
    printf("algo.%s,%s,%llu,%.4f,%.1f,%llu\n", bench, shape, (unsigned long long)n, s, s * 1e9 / (double)n, (unsigned long long)hdx_peak_rss());
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return fprintf(stderr, "bench_algo mix|shop|shuffled|list|backlist NODES [THREADS [SEED]]\n"), 2;
    const char    *shape = argv[1];
    const uint32_t n = (uint32_t)strtoul(argv[2], NULL, 10), classes = 600, roots = 1200;
    const unsigned threads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
    uint32_t      *from, *to, *class_of = malloc(4ull * n), *class_object = malloc(4 * classes), *root = malloc(4 * roots);
    uint64_t      *is_root = calloc(n / 64 + 1, 8), count, t;
    hdx_digraph_32 g = { .nodes = n, .classes = classes, .root_count = roots };
    hdx_search_32  s;
    hdx_error      err;
    uint32_t      *idom, *parent = hdx_mem_array(NULL, n, 4);
    if (n <= 2 * roots || class_of == NULL || class_object == NULL || root == NULL || is_root == NULL || parent == NULL)
        return 2;
    state = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    make_edges(shape, n, roots, &from, &to, &count);
    make_lists(from, to, count, n, &g.outbound);
    free(from);
    free(to);
    for (uint32_t v = 0; v < n; v++) { /* few classes have most instances */
        uint32_t c = below(classes);
        class_of[v] = (uint32_t)((uint64_t)c * c / classes * c / classes);
    }
    for (uint32_t c = 0; c < classes; c++) /* every other class is a root, as boot classes are */
        class_object[c] = c % 2 == 0 ? c / 2 : roots + c;
    for (uint32_t r = 0; r < roots; r++)
        hdx_bits_put(is_root, root[r] = r);
    g.class_of = class_of;
    g.class_object = class_object;
    g.roots = root;
    g.is_root = is_root;

    printf("bench,dump,n,seconds,ns_per_n,peak_rss\n");
    t = hdx_now_ns();
    if (hdx_transpose_32(&g.outbound, threads, NULL, &g.inbound, &err) != HDX_OK) return 1;
    row("transpose", shape, count, t);
    t = hdx_now_ns();
    if (hdx_group_32(g.class_of, n, classes, NULL, &g.instances, &err) != HDX_OK) return 1;
    row("group", shape, n, t);
    t = hdx_now_ns();
    if (hdx_depth_first_32(&g, NULL, NULL, &s, &err) != HDX_OK) return 1;
    row("depth_first", shape, s.reached, t);
    t = hdx_now_ns();
    if (hdx_dominators_32(&g, &s, NULL, NULL, &idom, &err) != HDX_OK) return 1;
    row("dominators", shape, s.reached, t);
    uint64_t *retained = hdx_mem_array(NULL, s.reached + 1, 8);
    if (retained == NULL) return 1;
    for (uint64_t w = 1; w <= s.reached; w++)
        retained[w] = 24;
    t = hdx_now_ns();
    hdx_retained_32(idom, s.reached, retained);
    row("retained", shape, s.reached, t);
    t = hdx_now_ns();
    if (hdx_nearest_32(&g, NULL, NULL, parent, &err) != HDX_OK) return 1;
    row("nearest", shape, s.reached, t);
    hdx_mem_put(NULL, retained, (s.reached + 1) * 8);
    hdx_mem_put(NULL, idom, (s.reached + 1) * 4);
    hdx_mem_put(NULL, parent, 4ull * n);
    hdx_search_free_32(&s, n, NULL);
    hdx_lists_free_32(&g.instances, NULL);
    hdx_lists_free_32(&g.inbound, NULL);
    hdx_lists_free_32(&g.outbound, NULL);
    free(class_of); free(class_object); free(root); free(is_root);
    return 0;
}
