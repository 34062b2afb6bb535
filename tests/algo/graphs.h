/*
 * graphs.h - random graphs for the tests of algo, and slow obvious answers to compare with.
 *
 * A graph has its lists as plain arrays and packed, for both widths. What answers are compared with is written without
 * the room under test: lists are sorted with qsort, predecessors come from the rules of MAT 6.1 read aloud
 * (graph_edges).
 */
#ifndef HDX_TESTS_ALGO_GRAPHS_H
#define HDX_TESTS_ALGO_GRAPHS_H

#define HDX_WIDTH 32
#include "algo/wide.h"
#undef HDX_WIDTH
#define HDX_WIDTH 64
#include "algo/wide.h"
#undef HDX_WIDTH

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO     UINT64_MAX
#define UNUSED __attribute__((unused))

/* ---- numbers ---- */

typedef struct random_state {
    uint64_t state;
} random_state;

static UNUSED uint64_t roll(random_state *d, uint64_t below)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return below == 0 ? 0 : z % below;
}

static UNUSED void *zeroed(uint64_t count, uint64_t size)
{
    void *p = calloc(count == 0 ? 1 : count, size);
    cr_assert(p != NULL);
    return p;
}

/* ---- graphs ---- */

typedef struct edge {
    uint64_t from, to;
} edge;

typedef struct lists { /* of v: to[at[v]] .. to[at[v + 1] - 1] */
    uint64_t n, *at, *to;
} lists;

typedef struct graph {
    uint64_t       n, edges, capacity;
    edge          *edge; /* references as added, before graph_finish sorts them */
    uint32_t       classes;
    uint32_t      *class_of;
    uint64_t      *class_object;
    uint64_t      *roots;
    uint64_t       root_count;
    uint64_t      *is_root;
    unsigned       width;                        /* bytes of a packed entry, at least */
    lists          outbound, inbound, instances; /* by node, by node, by class */
    hdx_packed    *packed;
    hdx_digraph_64 wide;
    hdx_digraph_32 narrow;
} graph;

/* ---- packed lists ---- */

/* The list of a node: its class and its targets, ascending. */
typedef struct plain_list {
    uint32_t class;
    bool            empty; /* nobody describes it: not even a class */
    const uint64_t *to;
    uint64_t        count;
} plain_list;
typedef plain_list list_maker(void *context, uint64_t node);

#define SLACK_BYTE 0xee /* what is after the lists of a piece */

static UNUSED void put_list(hdx_packed *p, uint64_t v, plain_list list)
{
    uint8_t *to = hdx_packed_begin(p, v, list.class);
    for (uint64_t i = 0; i < list.count; i++)
        to = hdx_packed_put(to, list.to[i], p->width);
}

/*
 * Lists of piece `from` and of all after it; those before are not made. Entries have at least `width` bytes: a small
 * graph is then read as a large one is. Lists are put from the last to the first, so that what is written too far
 * shows.
 */
static UNUSED hdx_code packed_from(hdx_packed *p, uint64_t nodes, uint64_t from, unsigned width, list_maker *list_of,
                                   void *context, hdx_mem *mem)
{
    uint32_t *entries = zeroed(nodes < HDX_PACKED_PIECE ? nodes : HDX_PACKED_PIECE, sizeof *entries);
    uint64_t *lengths = zeroed(HDX_PACKED_BLOCK, sizeof *lengths);
    hdx_code  code = hdx_packed_new(p, nodes, mem, NULL);
    if (code == HDX_OK && width > p->width) {
        p->width = width;
        p->mask = ~(~0ull << 8 * width);
    }
    for (uint64_t piece = from; piece < p->piece_count && code == HDX_OK; piece++) {
        const uint64_t first = piece << HDX_PACKED_PIECE_BITS, n = hdx_packed_piece_nodes(p, piece);
        for (uint64_t i = 0; i < n; i++) {
            const plain_list list = list_of(context, first + i);
            const uint64_t   count = list.empty ? 0 : hdx_packed_entries(list.class, list.count);
            if (count > UINT32_MAX ||
                (list.class >= HDX_PACKED_FAR && list.class != UINT32_MAX && list.class >= p->mask))
                cr_assert(false, "the test asks for more than an entry holds");
            entries[i] = (uint32_t)count;
        }
        if ((code = hdx_packed_lay(p, piece, entries, mem, NULL)) != HDX_OK)
            break;
        memset(p->pieces[piece] + p->piece_bytes[piece] - HDX_PACKED_SLACK, SLACK_BYTE, HDX_PACKED_SLACK);
        for (uint64_t i = n; i-- > 0;) {
            const plain_list list = list_of(context, first + i);
            if (!list.empty)
                put_list(p, first + i, list);
        }
    }
    for (uint64_t first = from << HDX_PACKED_PIECE_BITS; first < nodes && code == HDX_OK; first += HDX_PACKED_BLOCK)
        hdx_packed_lengths(p, first, nodes - first < HDX_PACKED_BLOCK ? (uint32_t)(nodes - first) : HDX_PACKED_BLOCK,
                           lengths);
    if (code == HDX_OK)
        hdx_packed_sum(p);
    else
        hdx_packed_free(p, mem);
    free(entries);
    free(lengths);
    return code;
}

static UNUSED hdx_code packed_made(hdx_packed *p, uint64_t nodes, list_maker *list_of, void *context, hdx_mem *mem)
{
    return packed_from(p, nodes, 0, 0, list_of, context, mem);
}

/* Nodes without class and without targets are, every other one, not described at all. */
static UNUSED plain_list list_of_graph(void *context, uint64_t v)
{
    const graph *g = context;
    plain_list   list = { .class = g->class_of[v],
                          .to = g->outbound.to + g->outbound.at[v],
                          .count = g->outbound.at[v + 1] - g->outbound.at[v] };
    list.empty = list.count == 0 && list.class == UINT32_MAX && v % 2 == 1;
    return list;
}

static UNUSED graph graph_of(uint64_t n, uint32_t classes)
{
    graph g = { .n = n, .classes = classes };
    g.class_of = zeroed(n, sizeof *g.class_of);
    g.class_object = zeroed(classes, sizeof *g.class_object);
    g.roots = zeroed(n, sizeof *g.roots);
    g.is_root = zeroed(hdx_bits_words(n), sizeof *g.is_root);
    for (uint64_t v = 0; v < n; v++)
        g.class_of[v] = UINT32_MAX;
    for (uint32_t c = 0; c < classes; c++)
        g.class_object[c] = NO;
    return g;
}

static UNUSED void graph_add(graph *g, uint64_t from, uint64_t to)
{
    if (g->edges == g->capacity) {
        g->capacity = 2 * g->capacity + 16;
        g->edge = realloc(g->edge, g->capacity * sizeof *g->edge);
        cr_assert(g->edge != NULL);
    }
    g->edge[g->edges++] = (edge){ from, to };
}

static UNUSED void graph_root(graph *g, uint64_t v)
{
    if (hdx_bits_set(g->is_root, v))
        g->roots[g->root_count++] = v;
}

static UNUSED int edge_order(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->to != y->to ? (x->to < y->to ? -1 : 1) : 0;
}

/* Lists out of edges: ascending, no target twice; empties the edges. */
static UNUSED lists lists_of(edge *e, uint64_t count, uint64_t n)
{
    lists    made = { n, zeroed(n + 1, sizeof(uint64_t)), zeroed(count, sizeof(uint64_t)) };
    uint64_t kept = 0;
    if (count > 1)
        qsort(e, count, sizeof *e, edge_order);
    for (uint64_t i = 0; i < count; i++)
        if (i == 0 || edge_order(&e[i - 1], &e[i]) != 0) {
            made.to[kept++] = e[i].to;
            made.at[e[i].from + 1] = kept;
        }
    for (uint64_t i = 0; i < n; i++)
        if (made.at[i + 1] < made.at[i])
            made.at[i + 1] = made.at[i];
    return made;
}

static UNUSED lists lists_turned(const lists *of)
{
    uint64_t count = of->at[of->n];
    edge    *e = zeroed(count, sizeof *e);
    lists    transposed;
    for (uint64_t v = 0; v < of->n; v++)
        for (uint64_t i = of->at[v]; i < of->at[v + 1]; i++)
            e[i] = (edge){ of->to[i], v };
    transposed = lists_of(e, count, of->n);
    free(e);
    return transposed;
}

static UNUSED uint32_t *narrowed(const uint64_t *from, uint64_t count)
{
    uint32_t *to = zeroed(count, sizeof *to);
    for (uint64_t i = 0; i < count; i++)
        to[i] = (uint32_t)from[i]; /* NONE of 64 bits becomes NONE of 32 */
    return to;
}

static UNUSED void graph_finish(graph *g)
{
    edge    *e = zeroed(g->n, sizeof *e);
    uint64_t count = 0;
    for (uint64_t v = 0; v < g->n; v++)
        if (g->class_of[v] < g->classes)
            e[count++] = (edge){ g->class_of[v], v };
    g->outbound = lists_of(g->edge, g->edges, g->n);
    g->inbound = lists_turned(&g->outbound);
    g->instances = lists_of(e, count, g->classes);
    g->packed = zeroed(1, sizeof *g->packed);
    cr_assert(packed_from(g->packed, g->n, 0, g->width, list_of_graph, g, NULL) == HDX_OK);
    cr_assert(g->packed->edges == g->outbound.at[g->n]);
    g->wide = (hdx_digraph_64){ .outbound = g->packed,
                                .classes = g->classes,
                                .class_object = g->class_object,
                                .roots = g->roots,
                                .root_count = g->root_count };
    g->narrow = (hdx_digraph_32){ .outbound = g->packed,
                                  .classes = g->classes,
                                  .class_object = narrowed(g->class_object, g->classes),
                                  .roots = narrowed(g->roots, g->root_count),
                                  .root_count = g->root_count };
    free(e);
}

static UNUSED void lists_drop(lists *l)
{
    free(l->at);
    free(l->to);
}

static UNUSED void graph_free(graph *g)
{
    lists_drop(&g->outbound);
    lists_drop(&g->inbound);
    lists_drop(&g->instances);
    hdx_packed_free(g->packed, NULL);
    free(g->packed);
    free((void *)(uintptr_t)g->narrow.class_object);
    free((void *)(uintptr_t)g->narrow.roots);
    free(g->edge);
    free(g->class_of);
    free(g->class_object);
    free(g->roots);
    free(g->is_root);
}

/* ---- shapes ---- */

typedef enum shape {
    TREE,
    DAG,
    SPARSE,
    DENSE,
    LIST,
    LIST_ENTERED,
    STAR_OUT,
    STAR_IN,
    BIPARTITE,
    LOOPS,
    HEAPLIKE,
    LADDER,
    SHAPES
} shape;

static UNUSED const char *shape_name(shape s)
{
    static const char *const names[] = { "tree",     "dag",     "sparse",    "dense", "list",     "list_entered",
                                         "star_out", "star_in", "bipartite", "loops", "heaplike", "ladder" };
    return names[s];
}

static UNUSED void graph_shape(graph *g, shape s, random_state *d)
{
    const uint64_t n = g->n;
    for (uint64_t v = 0; v < n; v++)
        switch (s) {
        case TREE:
            if (v > 0)
                graph_add(g, roll(d, v), v);
            break;
        case DAG:
            for (uint64_t k = roll(d, 4); k > 0 && v + 1 < n; k--)
                graph_add(g, v, v + 1 + roll(d, n - v - 1));
            break;
        case SPARSE:
            for (uint64_t k = roll(d, 4); k > 0; k--)
                graph_add(g, v, roll(d, n));
            break;
        case DENSE:
            for (uint64_t k = roll(d, 12); k > 0; k--)
                graph_add(g, v, roll(d, n));
            break;
        case LIST:
            if (v + 1 < n)
                graph_add(g, v, v + 1);
            if (v > 0 && roll(d, 2))
                graph_add(g, v, v - 1);
            break;
        case LIST_ENTERED:
            if (v + 1 < n)
                graph_add(g, v, v + 1);
            if (roll(d, 2))
                graph_add(g, v, roll(d, v + 1));
            if (roll(d, 16) == 0)
                graph_add(g, v, roll(d, n));
            break;
        case STAR_OUT:
            if (v > 0)
                graph_add(g, 0, v);
            if (roll(d, 8) == 0)
                graph_add(g, v, roll(d, n));
            break;
        case STAR_IN:
            graph_add(g, v, n - 1);
            if (v > 0)
                graph_add(g, v / 2, v);
            break;
        case BIPARTITE:
            for (uint64_t k = roll(d, 5); k > 0; k--)
                graph_add(g, v, v < n / 2 ? n / 2 + roll(d, n - n / 2) : roll(d, n / 2 + 1));
            break;
        case LOOPS:
            graph_add(g, v, v);
            if (roll(d, 2))
                graph_add(g, v, roll(d, n));
            break;
        case HEAPLIKE:
            if (v > 0)
                graph_add(g, v > 32 && roll(d, 4) ? v - 1 - roll(d, 32) : roll(d, v), v);
            if (roll(d, 5) == 0)
                graph_add(g, v, roll(d, n));
            break;
        case LADDER:
            if (v + 2 < n) {
                graph_add(g, v, v + 2);
                if (roll(d, 3) == 0)
                    graph_add(g, v, v ^ 1);
            }
            if (roll(d, 10) == 0)
                graph_add(g, v, v / 2);
            break;
        case SHAPES: break;
        }
}

/*
 * A shape, with classes that are nodes themselves (some roots, some absent, now and then two for one node) and a few
 * roots. Now and then classes are numbered from 250 on: those up to 254 are packed as a byte, others as an entry.
 */
static UNUSED graph graph_random(shape s, uint64_t n, random_state *d)
{
    const uint32_t some = (uint32_t)roll(d, n < 8 ? n + 1 : 8 + n / 64), from = roll(d, 4) == 0 ? 250 : 0,
                   classes = some > 0 ? from + some : 0;
    graph g = graph_of(n, classes);
    g.width = (classes > HDX_PACKED_FAR ? 2 : 1) + (unsigned)roll(d, 4);
    graph_shape(&g, s, d);
    for (uint32_t c = from; c < classes; c++)
        if (roll(d, 8) != 0)
            g.class_object[c] = c > from && roll(d, 16) == 0 ? g.class_object[c - 1] : roll(d, n);
    for (uint64_t v = 0; v < n; v++)
        if (some > 0 && roll(d, 10) != 0)
            g.class_of[v] = from + (uint32_t)(roll(d, 3) ? roll(d, (some + 3) / 4) : roll(d, some));
    if (n > 0 && roll(d, 4) != 0)
        graph_root(&g, s == LIST || s == LIST_ENTERED || s == LADDER || s == TREE ? 0 : roll(d, n));
    for (uint64_t k = roll(d, 3) ? roll(d, 4) : roll(d, n / 4 + 1); k > 0 && n > 0; k--)
        graph_root(&g, roll(d, n));
    for (uint32_t c = from; c < classes; c++)
        if (g.class_object[c] != NO && roll(d, 4) == 0)
            graph_root(&g, g.class_object[c]);
    graph_finish(&g);
    return g;
}

/* ---- the graph of MAT 6.1, said plainly: node v is v + 1, the virtual root 0 ---- */

static UNUSED lists graph_edges(const graph *g)
{
    const lists *out = &g->outbound;
    uint64_t     count = 0;
    edge        *e = zeroed(g->root_count + out->at[g->n] + g->n, sizeof *e);
    lists        all;
    for (uint64_t i = 0; i < g->root_count; i++)
        e[count++] = (edge){ 0, g->roots[i] + 1 };
    for (uint64_t v = 0; v < g->n; v++) {
        for (uint64_t i = out->at[v]; i < out->at[v + 1]; i++)
            if (!hdx_bits_test(g->is_root, out->to[i]))
                e[count++] = (edge){ v + 1, out->to[i] + 1 };
        uint64_t class = g->class_of[v] < g->classes ? g->class_object[g->class_of[v]] : NO;
        if (class != NO && !hdx_bits_test(g->is_root, class))
            e[count++] = (edge){ v + 1, class + 1 };
    }
    all = lists_of(e, count, g->n + 1);
    free(e);
    return all;
}

/* Steps from the virtual root, NO where there is no path; `without` is left out (NO: nothing is). */
static UNUSED uint64_t *distances(const lists *edges, uint64_t without)
{
    uint64_t *steps = zeroed(edges->n, sizeof *steps), *queue = zeroed(edges->n, sizeof *queue), head = 0, tail = 0;
    for (uint64_t v = 0; v < edges->n; v++)
        steps[v] = NO;
    steps[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        uint64_t v = queue[head++];
        for (uint64_t i = edges->at[v]; i < edges->at[v + 1]; i++)
            if (steps[edges->to[i]] == NO && edges->to[i] != without) {
                steps[edges->to[i]] = steps[v] + 1;
                queue[tail++] = edges->to[i];
            }
    }
    free(queue);
    return steps;
}

/* ---- memory that refuses and callers that cancel ---- */

typedef struct refuser {
    _Atomic uint64_t asked;
    uint64_t         refuse_at; /* the request that is refused, from 0 */
} refuser;

static UNUSED bool refuse_one(void *context, uint64_t bytes)
{
    refuser *r = context;
    (void)bytes;
    return atomic_fetch_add(&r->asked, 1) == r->refuse_at;
}

typedef struct canceller {
    _Atomic uint64_t asked;
    uint64_t         cancel_at;
} canceller;

static UNUSED bool cancel_then(void *context)
{
    canceller *c = context;
    return atomic_fetch_add(&c->asked, 1) == c->cancel_at;
}

#endif
