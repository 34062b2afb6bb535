/*
 * test_large.c - sizes at which recursion, quadratic steps and careless stacks show: a list of 5 million nodes, stars
 * of 20 million references, 100 000 class objects. Answers are known in closed form. Smaller where a sanitizer watches
 * each access, and outside of tests/long.
 */
#include "graphs.h"
#include "solve.h"
#include "support/whole.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCALE 20u
#else
#define SCALE test_each(20)
#endif

/* The lists are said by the tests one by one: qsort over 20 million edges would take longer than what is tested. */
typedef struct large {
    uint32_t       n, classes, leaves;
    uint64_t       to[2];   /* a list */
    uint64_t      *all;     /* the long one */
    uint32_t       root[2]; /* g.root_count of them */
    hdx_packed     packed;
    hdx_digraph_32 g;
    hdx_mem        mem;
    search_32      search;
    lists          inbound, instances;
    uint32_t      *idom;
} large;

static large large_of(uint32_t n, uint32_t classes, uint32_t root)
{
    large l = { .n = n, .classes = classes, .g = { .classes = classes, .root_count = 1 }, .root = { root } };
    l.g.class_object = hdx_mem_array(&l.mem, classes, 4);
    cr_assert(l.g.class_object != NULL);
    return l;
}

/* Inbound lists by transposing, in two ranges; instances as packed lists say them. */
static void large_transpose(large *l)
{
    const uint64_t n = l->n, middle = n / 2, m = l->packed.edges;
    uint64_t      *once = zeroed(hdx_bits_words(n), 8), value = 0, rank = 0;
    hdx_ranked_32  many = { zeroed(hdx_bits_words(n), 8), NULL, 0 };
    cr_assert(hdx_packed_referred(&l->packed, NULL, once, many.words, NULL) == HDX_OK &&
              hdx_rank_32(&many, n, &l->mem, NULL) == HDX_OK);
    const uint64_t before = HDX_RANK(&many, middle);
    uint32_t      *count = zeroed(many.count + 1, 4), *only = zeroed(n, 4), *to = zeroed(m, 4), sum = 0;
    cr_assert(hdx_transpose_count_32(&(hdx_transpose_in_32){ &l->packed, NULL, &many, 0, middle },
                                     &(hdx_resources){ &l->mem, NULL, 1 }, count, NULL) == HDX_OK);
    cr_assert(hdx_transpose_count_32(&(hdx_transpose_in_32){ &l->packed, NULL, &many, middle, n },
                                     &(hdx_resources){ &l->mem, NULL, 1 }, count + before, NULL) == HDX_OK);
    for (uint64_t i = 0; i < many.count; i++) {
        const uint32_t referrers = count[i];
        count[i] = sum;
        sum += referrers;
    }
    cr_assert(hdx_transpose_place_32(&(hdx_transpose_in_32){ &l->packed, NULL, &many, 0, middle },
                                     &(hdx_resources){ &l->mem, NULL, 1 }, &(hdx_transposed_32){ only, count, to },
                                     NULL) == HDX_OK);
    cr_assert(hdx_transpose_place_32(&(hdx_transpose_in_32){ &l->packed, NULL, &many, middle, n },
                                     &(hdx_resources){ &l->mem, NULL, 1 },
                                     &(hdx_transposed_32){ only + middle, count + before, to }, NULL) == HDX_OK);
    l->inbound = (lists){ n, zeroed(n + 1, 8), zeroed(m, 8) };
    for (uint64_t v = 0; v < n; v++) {
        if (hdx_bits_test(many.words, v)) {
            for (uint64_t i = rank == 0 ? 0 : count[rank - 1]; i < count[rank]; i++)
                l->inbound.to[value++] = to[i];
            rank++;
        } else if (hdx_bits_test(once, v))
            l->inbound.to[value++] = only[v];
        l->inbound.at[v + 1] = value;
    }
    cr_assert(value == m);
    free(count);
    free(only);
    free(to);
    free(once);
    free(many.words);
    hdx_mem_put(&l->mem, many.before, hdx_bits_words(n) * 4);
    l->instances = (lists){ l->classes, zeroed(l->classes + 1ull, 8), zeroed(n, 8) };
    uint64_t *fill = zeroed(l->classes, 8);
    for (unsigned round = 0; round < 2; round++) {
        for (uint64_t v = 0; v < n; v++) {
            const uint32_t class = hdx_packed_at(&l->packed, v).class_number;
            if (class < l->classes && round == 0)
                l->instances.at[class + 1]++;
            else if (class < l->classes)
                l->instances.to[fill[class]++] = v;
        }
        for (uint64_t c = 0; c < l->classes && round == 0; c++) {
            fill[c] = l->instances.at[c];
            l->instances.at[c + 1] += l->instances.at[c];
        }
    }
    free(fill);
}

static void large_solve(large *l, list_maker *list_of)
{
    uint64_t *is_root = zeroed(hdx_bits_words(l->n), 8), *is_class = zeroed(hdx_bits_words(l->n), 8);
    known     k = { .book.chunk_nodes = 4096,
                    .roll.of = &l->instances,
                    .is_root = is_root,
                    .ways = { .room = 1ull << 40, .threads = 2 } };
    cr_assert(packed_made(&l->packed, l->n, list_of, l, &l->mem) == HDX_OK);
    l->g.roots = l->root;
    l->g.outbound = &l->packed;
    for (uint64_t i = 0; i < l->g.root_count; i++)
        hdx_bits_put(is_root, l->root[i]);
    for (uint32_t c = 0; c < l->classes; c++)
        hdx_bits_put(is_class, l->g.class_object[c]);
    large_transpose(l);
    for (uint64_t v = 0; v < l->n; v++) {
        const uint64_t n = l->inbound.at[v + 1] - l->inbound.at[v];
        if ((n > 1 || (n == 1 && hdx_bits_test(is_class, v))) && !hdx_bits_test(is_root, v))
            book_add(&k.book, v, l->inbound.to + l->inbound.at[v], n);
    }
    cr_assert(depth_first_32(&l->g, &l->mem, NULL, &l->search, NULL) == HDX_OK);
    cr_assert(dominators_32(&l->g, &l->search, &k, &l->mem, NULL, &l->idom, NULL) == HDX_OK);
    book_free(&k.book);
    free(is_root);
    free(is_class);
}

static uint32_t dominator(const large *l, uint64_t v)
{
    const uint32_t d = l->idom[l->search.number[v]];
    return d == 0 ? UINT32_MAX : l->search.node[d];
}

static void large_free(large *l)
{
    free(l->idom);
    free(l->all);
    search_free_32(&l->search, &l->mem);
    lists_drop(&l->inbound);
    lists_drop(&l->instances);
    hdx_packed_free(&l->packed, &l->mem);
    hdx_mem_put(&l->mem, (void *)(uintptr_t)l->g.class_object, l->classes * 4ull);
    cr_expect(l->mem.used == 0);
}

/* A doubly linked list; its end refers to its second node, so that one path of the whole length is compressed. */
static plain_list list_of_chain(void *context, uint64_t v)
{
    large   *l = context;
    uint64_t count = 0;
    if (v == l->n - 1)
        l->to[count++] = 1;
    else if (v > 0)
        l->to[count++] = v - 1;
    if (v + 1 < l->n)
        l->to[count++] = v + 1;
    return (plain_list){ .class = 0, .to = l->to, .count = count };
}

Test(large, list_of_five_million_nodes)
{
    const uint32_t n = 5000000 / SCALE;
    large          l = large_of(n, 0, 0);
    large_solve(&l, list_of_chain);
    cr_assert(l.search.reached == n);
    for (uint32_t v = 1; v < n; v++)
        cr_assert(dominator(&l, v) == v - 1, "node %u", v);
    uint64_t *sizes = hdx_mem_array(&l.mem, n + 1ull, 8);
    uint32_t *parent = hdx_mem_array(&l.mem, n, 4);
    for (uint64_t w = 1; w <= n; w++)
        sizes[w] = 24;
    cr_assert(retained_32(l.idom, n, &l.mem, sizes, false, 0, NULL) == HDX_OK);
    cr_expect(sizes[0] == 24ull * n && sizes[l.search.number[n - 1]] == 24 &&
              sizes[l.search.number[1]] == 24ull * (n - 1));
    cr_assert(nearest_32(&l.g, &l.mem, NULL, parent, NULL) == HDX_OK);
    for (uint32_t v = 1; v < n; v++)
        cr_assert(parent[v] == v - 1);
    hdx_mem_put(&l.mem, parent, n * 4ull);
    hdx_mem_put(&l.mem, sizes, (n + 1ull) * 8);
    large_free(&l);
}

/* One array of 10 million leaves, each of which refers to one shared node. */
static plain_list list_of_star(void *context, uint64_t v)
{
    large *l = context;
    l->to[0] = l->n - 1;
    return v == 0 ? (plain_list){ .class = 0, .to = l->all, .count = l->leaves }
                  : (plain_list){ .class = 0, .to = l->to, .count = v <= l->leaves };
}

Test(large, star_of_twenty_million_references)
{
    const uint32_t leaves = 10000000 / SCALE, n = leaves + 2, shared = n - 1;
    large          l = large_of(n, 0, 0);
    l.leaves = leaves;
    l.all = zeroed(leaves, 8);
    for (uint32_t v = 0; v < leaves; v++)
        l.all[v] = v + 1;
    large_solve(&l, list_of_star);
    cr_assert(l.search.reached == n);
    for (uint32_t v = 1; v < n; v++)
        cr_assert(dominator(&l, v) == 0, "node %u", v);
    cr_expect(l.inbound.at[shared + 1] - l.inbound.at[shared] == leaves);
    for (uint32_t k = 0; k < leaves; k++)
        cr_assert(l.inbound.to[l.inbound.at[shared] + k] == k + 1);
    large_free(&l);
}

/* Two nodes refer to all others: as many dominators are no parents as there are others. */
static plain_list list_of_fan(void *context, uint64_t v)
{
    large *l = context;
    l->to[0] = 1;
    l->to[1] = 2;
    return v == 0 ? (plain_list){ .class = 0, .to = l->to, .count = 2 }
                  : (plain_list){ .class = 0, .to = l->all, .count = v < 3 ? l->leaves : 0 };
}

Test(large, as_many_exceptions_as_are_read_at_once)
{
    static const uint32_t counts[] = { 1, 8188, 8189, 8190, 8191, 8192, 8193, 9500, 12287, 16384, 16385 };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const uint32_t n = counts[k] + 3;
        large          l = large_of(n, 0, 0);
        l.leaves = counts[k];
        l.all = zeroed(l.leaves, 8);
        for (uint32_t v = 3; v < n; v++)
            l.all[v - 3] = v;
        large_solve(&l, list_of_fan);
        cr_assert(l.search.reached == n);
        for (uint32_t v = 1; v < n; v++)
            cr_assert(dominator(&l, v) == 0, "%u leaves: node %u", l.leaves, v);
        large_free(&l);
    }
}

/*
 * A root refers to many nodes, all of which refer to three; the other root, in the middle of them, does too. Where the
 * list of those three is asked for and the other root was met, the rest of the list is passed over. The two after the
 * three have but two referrers.
 */
static plain_list list_of_many_to_few(void *context, uint64_t v)
{
    large         *l = context;
    const uint64_t few = l->leaves + 2;
    if (v == 0)
        return (plain_list){ .class = 0, .to = l->all, .count = l->leaves };
    for (unsigned i = 0; i < 5; i++)
        l->all[l->leaves + i] = few + i;
    return (plain_list){ .class = 0,
                         .to = l->all + l->leaves,
                         .count = v >= few                   ? 0
                                  : v == 7 || v == l->leaves ? 5
                                                             : 3 };
}

Test(large, lists_of_predecessors_are_passed_over)
{
    static const uint32_t counts[] = { 40000, 33000, 70000, 32765, 10 };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (unsigned place = 0; place < 6; place++) {
            const uint32_t leaves = counts[k], n = leaves + 7, other = 1 + leaves / 3 * (place / 2) + place / 2;
            large          l = large_of(n, 0, 0);
            l.root[place % 2] = 0;
            l.root[1 - place % 2] = other;
            l.g.root_count = 2;
            l.leaves = leaves;
            l.all = zeroed(leaves + 5, 8);
            for (uint32_t v = 1, i = 0; v < leaves + 2; v++)
                if (v != other)
                    l.all[i++] = v;
            large_solve(&l, list_of_many_to_few);
            cr_assert(l.search.reached == n);
            for (uint32_t v = 0; v < n; v++)
                cr_assert(dominator(&l, v) ==
                              (v == 0 || v == other || (v >= leaves + 2 && v < leaves + 5) ? UINT32_MAX : 0),
                          "%u nodes, %u: node %u", leaves, place, v);
            large_free(&l);
        }
}

/* More children than the queue has room for at first, whether what is in it lies around its end or not. */
Test(large, nearest_of_a_queue_that_grows)
{
    static const uint32_t counts[] = { 65530, 65534, 65535, 65536, 70000, 200000 };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (unsigned order = 0; order < 2; order++) {
            const uint32_t leaves = counts[k], n = leaves + 7;
            large          l = large_of(n, 0, 0);
            uint32_t      *parent = hdx_mem_array(&l.mem, n, 4);
            l.root[order] = 0;
            l.root[1 - order] = 5;
            l.g.root_count = 2;
            l.leaves = leaves;
            l.all = zeroed(leaves + 5, 8);
            for (uint32_t v = 1, i = 0; v < leaves + 2; v++)
                if (v != 5)
                    l.all[i++] = v;
            large_solve(&l, list_of_many_to_few);
            cr_assert(nearest_32(&l.g, &l.mem, NULL, parent, NULL) == HDX_OK);
            for (uint32_t v = 0; v < n; v++)
                cr_assert(parent[v] == (v == 0 || v == 5 ? v
                                        : v < leaves + 2 ? 0
                                        : v < leaves + 5 ? 5
                                                         : 7),
                          "%u nodes: node %u has %u", leaves, v, parent[v]);
            hdx_mem_put(&l.mem, parent, n * 4ull);
            large_free(&l);
        }
}

/*
 * Nodes: 0 .. classes - 1 the class objects (0 is java.lang.Class, whose instances they all are), then a root that
 * refers to all instances, then the instances, class by class in turn; the last class has a single one.
 */
static plain_list list_of_classes(void *context, uint64_t v)
{
    large         *l = context;
    const uint32_t first = l->classes + 1;
    if (v <= l->classes)
        return (plain_list){ .class = v == l->classes, .to = l->all, .count = v == l->classes ? l->leaves : 0 };
    return (plain_list){ .class = v == first ? l->classes - 1 : (uint32_t)(v - first) % (l->classes - 1) };
}

Test(large, one_hundred_thousand_class_objects)
{
    const uint32_t classes = 100000 / SCALE, instances = 20 * classes, root = classes, first = classes + 1,
                   n = first + instances;
    large l = large_of(n, classes, root);
    for (uint32_t c = 0; c < classes; c++)
        ((uint32_t *)(uintptr_t)l.g.class_object)[c] = c;
    l.leaves = instances;
    l.all = zeroed(instances, 8);
    for (uint32_t i = 0; i < instances; i++)
        l.all[i] = first + i;
    large_solve(&l, list_of_classes);
    cr_assert(l.search.reached == n);
    for (uint32_t v = 0; v < n; v++)
        cr_assert(dominator(&l, v) == (v == root ? UINT32_MAX : v == classes - 1 ? first : root), "node %u", v);
    large_free(&l);
}
