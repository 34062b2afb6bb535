/*
 * test_large.c - sizes at which recursion, quadratic steps and careless stacks show: a list of 5 million nodes, stars of 20 million
 * references, 100 000 class objects. Answers are known in closed form. Smaller where a sanitizer watches each access.
 */
#include "graphs.h"
#include "solve.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define SCALE 20u
#else
#define SCALE 1u
#endif

/* The lists are written down by the tests: qsort over 20 million edges would take longer than what is tested. */
typedef struct large {
    hdx_digraph_32 g;
    uint32_t       root[1];
    hdx_mem        mem;
    search_32  search;
    uint32_t      *idom;
} large;

static large large_of(uint64_t n, uint64_t references, uint32_t classes, uint32_t root)
{
    large l = { .g = { .nodes = n, .classes = classes, .root_count = 1 }, .root = { root } };
    l.g.outbound = (hdx_lists_32){ n, hdx_mem_array(&l.mem, n + 1, 4), hdx_mem_array(&l.mem, references, 4) };
    l.g.class_of = hdx_mem_array(&l.mem, n, 4);
    l.g.class_object = hdx_mem_array(&l.mem, classes, 4);
    cr_assert(l.g.outbound.at != NULL && l.g.outbound.to != NULL && l.g.class_of != NULL && l.g.class_object != NULL);
    return l;
}

static void large_solve(large *l)
{
    l->g.roots = l->root;
    cr_assert(hdx_transpose_32(&l->g.outbound, 2, &l->mem, &l->g.inbound, NULL) == HDX_OK);
    cr_assert(hdx_group_32(l->g.class_of, l->g.nodes, l->g.classes, &l->mem, &l->g.instances, NULL) == HDX_OK);
    cr_assert(depth_first_32(&l->g, &l->mem, NULL, &l->search, NULL) == HDX_OK);
    cr_assert(dominators_32(&l->g, &l->search, &l->mem, NULL, &l->idom, NULL) == HDX_OK);
}

static uint32_t dominator(const large *l, uint64_t v)
{
    const uint32_t d = l->idom[l->search.number[v]];
    return d == 0 ? HDX_NONE_32 : l->search.node[d];
}

static void large_free(large *l)
{
    const uint64_t n = l->g.nodes;
    hdx_mem_put(&l->mem, l->idom, (l->search.reached + 1) * 4);
    search_free_32(&l->search, &l->mem);
    hdx_lists_free_32(&l->g.inbound, &l->mem);
    hdx_lists_free_32(&l->g.instances, &l->mem);
    hdx_lists_free_32(&l->g.outbound, &l->mem);
    hdx_mem_put(&l->mem, (void *)l->g.class_of, n * 4);
    hdx_mem_put(&l->mem, (void *)l->g.class_object, l->g.classes * 4ull);
    cr_expect(l->mem.used == 0);
}

/* A doubly linked list; its end refers to its second node, so that one path of the whole length is compressed. */
Test(large, list_of_five_million_nodes)
{
    const uint32_t n = 5000000 / SCALE;
    large          l = large_of(n, 2ull * n - 2, 0, 0);
    uint32_t      *at = l.g.outbound.at, *to = l.g.outbound.to, count = 0;
    for (uint32_t v = 0; v < n; v++) {
        if (v == n - 1)
            to[count++] = 1;
        else if (v > 0)
            to[count++] = v - 1;
        if (v + 1 < n)
            to[count++] = v + 1;
        at[v + 1] = count;
    }
    large_solve(&l);
    cr_assert(l.search.reached == n);
    for (uint32_t v = 1; v < n; v++)
        cr_assert(dominator(&l, v) == v - 1, "node %u", v);
    uint64_t *retained = hdx_mem_array(&l.mem, n + 1ull, 8);
    uint32_t *parent = hdx_mem_array(&l.mem, n, 4);
    for (uint64_t w = 1; w <= n; w++)
        retained[w] = 24;
    hdx_retained_32(l.idom, n, retained);
    cr_expect(retained[0] == 24ull * n && retained[l.search.number[n - 1]] == 24 && retained[l.search.number[1]] == 24ull * (n - 1));
    cr_assert(nearest_32(&l.g, &l.mem, NULL, parent, NULL) == HDX_OK);
    for (uint32_t v = 1; v < n; v++)
        cr_assert(parent[v] == v - 1);
    hdx_mem_put(&l.mem, parent, n * 4ull);
    hdx_mem_put(&l.mem, retained, (n + 1ull) * 8);
    large_free(&l);
}

/* One array of 10 million leaves, each of which refers to one shared node. */
Test(large, star_of_twenty_million_references)
{
    const uint32_t leaves = 10000000 / SCALE, n = leaves + 2, shared = n - 1;
    large          l = large_of(n, 2ull * leaves, 0, 0);
    uint32_t      *at = l.g.outbound.at, *to = l.g.outbound.to;
    for (uint32_t v = 0; v < leaves; v++) {
        to[v] = v + 1;
        to[leaves + v] = shared;
        at[v + 1] = leaves + v;
    }
    at[leaves + 1] = at[n] = 2 * leaves;
    large_solve(&l);
    cr_assert(l.search.reached == n);
    for (uint32_t v = 1; v < n; v++)
        cr_assert(dominator(&l, v) == 0, "node %u", v);
    cr_expect(l.g.inbound.at[shared + 1] - l.g.inbound.at[shared] == leaves);
    for (uint32_t k = 0; k < leaves; k++)
        cr_assert(l.g.inbound.to[l.g.inbound.at[shared] + k] == k + 1);
    large_free(&l);
}

/*
 * Nodes: 0 .. classes - 1 the class objects (0 is java.lang.Class, whose instances they all are), then a root that refers to all
 * instances, then the instances, class by class in turn; the last class has a single one.
 */
Test(large, one_hundred_thousand_class_objects)
{
    const uint32_t classes = 100000 / SCALE, instances = 20 * classes, root = classes, first = classes + 1, n = first + instances;
    large          l = large_of(n, instances, classes, root);
    uint32_t      *at = l.g.outbound.at, *class_of = (uint32_t *)l.g.class_of, *class_object = (uint32_t *)l.g.class_object;
    for (uint32_t c = 0; c < classes; c++)
        class_object[c] = c;
    for (uint32_t i = 0; i < instances; i++) {
        l.g.outbound.to[i] = first + i;
        class_of[first + i] = i == 0 ? classes - 1 : i % (classes - 1);
    }
    class_of[root] = 1;
    for (uint32_t v = first; v <= n; v++)
        at[v] = instances;
    large_solve(&l);
    cr_assert(l.search.reached == n);
    for (uint32_t v = 0; v < n; v++)
        cr_assert(dominator(&l, v) == (v == root ? HDX_NONE_32 : v == classes - 1 ? first : root), "node %u", v);
    large_free(&l);
}
