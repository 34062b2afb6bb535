/*
 * dominators_wide.c - immediate dominators by Semi-NCA, and the sums over the dominator tree.
 *
 * In:  a depth-first search; inbound lists; instances by class.
 * Out: idom in preorder numbers, one NID per reached node; retained sizes in place.
 * Knows that the instances of a class are predecessors of its class object, and that a GC root has the virtual root alone (MAT 6.1).
 * Cost: beside the result two NIDs per reached node (label and ancestor, side by side: they are read together) and 4 bytes per
 *       class. In all 12 bytes per reached node at 32 bits, on top of the search; nothing per reference.
 *
 * Semi-NCA (Georgiadis 2005; Georgiadis, Tarjan, Werneck 2006), as measured in ALGORITHMS 7.2: predecessors are pulled straight
 * from the inbound lists in reverse preorder, and labels hold the semidominator itself instead of a vertex. With w going down,
 * every number above w is linked to its parent in the search tree, and
 *
 *     semi(w) = the least of: u            for a predecessor u < w: an ancestor of w, the search being a depth-first one
 *                             eval(u)      for a predecessor u > w: the least semi on the linked path above u, u included
 *     idom(w) = the nearest ancestor of w in the dominator tree that is not above semi(w), found going forwards from parent(w)
 *
 * A node with one referrer takes its parent and never looks: 73-95 % of a real dump. That holds only where the list tells all: a
 * class object has its instances besides, and a root is entered from the virtual root whatever the lists say. Skipping those by
 * their lists' length is the classic way to be wrong in three nodes of a million.
 */
#include "algo/width.h"

#include <assert.h>

#define TICK_NODES 65536u
#define AHEAD 16u
#define PATH_NEAR 64u

typedef struct link {
    NID ancestor; /* in the linked forest, paths compressed */
    NID label;    /* the least semidominator on the path from here to below ancestor */
} link;

static void       mark_class_objects(const WIDE(hdx_digraph) *g, const WIDE(hdx_search) *search, NID *mark, uint32_t *same);
static hdx_code   semidominators(const WIDE(hdx_digraph) *g, const WIDE(hdx_search) *search, hdx_ticker *tick, link *links,
                                 const uint32_t *same, NID *semi, hdx_error *err);
static NID        pull(const WIDE(hdx_lists) *lists, uint64_t list, const NID *number, link *links, NID w, NID semi);
static inline NID eval(link *links, NID v, NID linked);
static NID        compress(link *links, NID v, NID linked);
static inline NID settle(link *l, NID top, NID least);
static hdx_code   nearest_common(const WIDE(hdx_search) *search, hdx_ticker *tick, NID *idom, hdx_error *err);

hdx_code WIDE(hdx_dominators)(const WIDE(hdx_digraph) *g, const WIDE(hdx_search) *search, hdx_mem *mem, hdx_ticker *tick, NID **idom,
                              hdx_error *err)
{
    const uint64_t count = search->reached + 1;
    NID           *result = hdx_mem_array(mem, count, sizeof(NID));
    link          *links = hdx_mem_array(mem, count, sizeof(link));
    uint32_t      *same = hdx_mem_array(mem, g->classes, sizeof(uint32_t));
    hdx_code       code;
    *idom = NULL;
    if (result == NULL || links == NULL || same == NULL) {
        code = hdx_no_memory(err, "dominators", count * (sizeof(NID) + sizeof(link)));
        goto out;
    }
    mark_class_objects(g, search, result, same);
    if ((code = semidominators(g, search, tick, links, same, result, err)) != HDX_OK)
        goto out;
    hdx_mem_put(mem, links, count * sizeof(link));
    links = NULL;
    if ((code = nearest_common(search, tick, result, err)) != HDX_OK)
        goto out;
    *idom = result;
    result = NULL;
out:
    hdx_mem_put(mem, same, (uint64_t)g->classes * sizeof(uint32_t));
    hdx_mem_put(mem, links, count * sizeof(link));
    hdx_mem_put(mem, result, count * sizeof(NID));
    return code;
}

/*
 * Writes class + 1 at the number of each class object, which has its instances for predecessors. The result array is free below the
 * number at work and so lends the room; 0 is "no class object". Damaged dumps define a class twice: classes with the same
 * object are chained through same[].
 */
static void mark_class_objects(const WIDE(hdx_digraph) *g, const WIDE(hdx_search) *search, NID *mark, uint32_t *same)
{
    for (uint32_t c = 0; c < g->classes; c++) {
        NID w = g->class_object[c] == NONE ? 0 : search->number[g->class_object[c]];
        if (w == 0) /* not reached; a root is marked in vain, since it never looks */
            continue;
        same[c] = (uint32_t)mark[w];
        mark[w] = (NID)c + 1;
    }
}

static hdx_code semidominators(const WIDE(hdx_digraph) *g, const WIDE(hdx_search) *search, hdx_ticker *tick, link *links,
                               const uint32_t *same, NID *semi, hdx_error *err)
{
    const NID *number = search->number, *node = search->node, *parent = search->parent, *at = g->inbound.at, *to = g->inbound.to;
    for (NID w = (NID)search->reached; w > 0; w--) {
        const NID v = node[w];
        NID       least = parent[w];
        if (w > AHEAD) { /* offsets, then the list, then the numbers of its first two: each has had time to arrive */
            const NID far = node[w - AHEAD], middle = node[w - AHEAD / 2], near = node[w - AHEAD / 4];
            __builtin_prefetch(at + far);
            if (at[middle + 1] - at[middle] > 1)
                __builtin_prefetch(to + at[middle]);
            if (at[near + 1] - at[near] > 1) {
                __builtin_prefetch(number + to[at[near]]);
                __builtin_prefetch(number + to[at[near] + 1]);
            }
        }
        if (least != 0) { /* 0: a root */
            uint32_t class = (uint32_t)semi[w];
            if (class != 0 || at[v + 1] - at[v] > 1)
                least = pull(&g->inbound, v, number, links, w, least);
            for (; class != 0; class = same[class - 1])
                least = pull(&g->instances, class - 1, number, links, w, least);
        }
        links[w] = (link){ parent[w], least };
        semi[w] = least;
        if (w % TICK_NODES == 0 && hdx_tick(tick, TICK_NODES))
            return hdx_tick_stop(err);
    }
    return hdx_tick(tick, search->reached % TICK_NODES) ? hdx_tick_stop(err) : HDX_OK;
}

/* The least semidominator candidate of w over one list of predecessors. */
static NID pull(const WIDE(hdx_lists) *lists, uint64_t list, const NID *number, link *links, NID w, NID semi)
{
    const NID      *to = lists->to;
    const uint64_t  end = lists->at[list + 1];
    for (uint64_t i = lists->at[list]; i < end && semi != 0; i++) {
        if (end - i > AHEAD)
            __builtin_prefetch(number + to[i + AHEAD]);
        const NID u = number[to[i]];
        if (u == 0) /* a referrer that is garbage itself */
            continue;
        const NID candidate = u <= w ? u : eval(links, u, (NID)(w + 1));
        semi = candidate < semi ? candidate : semi;
    }
    return semi;
}

static inline NID eval(link *links, NID v, NID linked) { return links[v].ancestor < linked ? links[v].label : compress(links, v, linked); }

/*
 * Path compression. Nearly all paths fit path[], whose addresses the processor knows ahead (1.5 times faster on a list with random
 * references backwards). A path may be as long as the heap's longest list, though: beyond path[] it needs no memory either, as
 * each ancestor is turned round on the way up to point at where we came from, and set to the top on the way down.
 */
static NID compress(link *links, NID v, NID linked)
{
    NID      path[PATH_NEAR], came_from = NONE, x = v, up = links[v].ancestor;
    unsigned count = 0;
    for (; up >= linked && count < PATH_NEAR; up = links[x].ancestor) {
        path[count++] = x;
        x = up;
    }
    for (; up >= linked; up = links[x].ancestor) {
        links[x].ancestor = came_from;
        came_from = x;
        x = up;
    }
    const NID top = links[x].ancestor;
    NID       least = links[x].label;
    while (came_from != NONE) {
        x = came_from;
        came_from = links[x].ancestor;
        least = settle(&links[x], top, least);
    }
    while (count > 0)
        least = settle(&links[path[--count]], top, least);
    return least;
}

static inline NID settle(link *l, NID top, NID least)
{
    l->ancestor = top;
    return l->label = l->label < least ? l->label : least;
}

/* Forwards, semidominators become dominators in place: everything at smaller numbers is one already. */
static hdx_code nearest_common(const WIDE(hdx_search) *search, hdx_ticker *tick, NID *idom, hdx_error *err)
{
    const NID *parent = search->parent;
    idom[0] = 0;
    for (NID w = 1; w <= search->reached; w++) {
        NID d = parent[w];
        while (d > idom[w])
            d = idom[d];
        idom[w] = d;
        if (w % TICK_NODES == 0 && hdx_tick(tick, 0)) /* counted once, in the other direction */
            return hdx_tick_stop(err);
    }
    return HDX_OK;
}

/* Exact because a dominator has the smaller number: every sum is whole before it is passed on (MAT 6.3). */
void WIDE(hdx_retained)(const NID *idom, uint64_t reached, uint64_t *retained)
{
    for (uint64_t w = reached; w > 0; w--)
        retained[idom[w]] += retained[w];
}
