/*
 * dominators_wide.c - immediate dominators by Semi-NCA, and the sums over the dominator tree.
 *
 * In:  the tape of a depth-first search and the numbers it gave; inbound lists; instances of classes.
 * Out: idom in preorder numbers, one NID per reached node; retained sizes in place.
 * Knows that the instances of a class are predecessors of its class object, and that a GC root has the virtual root alone (MAT 6.1).
 * Cost: two NIDs per reached node (label and ancestor, side by side: they are read together), and two more per node whose
 *       semidominator is not its parent in the search tree (1 to 10 % of them). When the semidominators are known these two give way to
 *       the result, one NID per reached node. The tape is read once from its end to its beginning and once forwards.
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

#include <stdlib.h>

#define AHEAD 16u
#define VISITS 8192u /* read from the tape at once */
#define PATH_NEAR 64u

typedef WIDE(hdx_visit) visit;
typedef struct link {
    NID ancestor; /* in the linked forest, paths compressed */
    NID label;    /* the least semidominator on the path from here to below ancestor */
} link;
typedef struct semi { /* a node whose semidominator is not its parent */
    NID number, value;
} semi;
typedef struct class_node { /* a class object that has its instances for predecessors */
    NID      number;
    uint32_t class;
} class_node;
typedef struct work {
    const WIDE(hdx_digraph) *g;
    const NID               *number;
    uint64_t                 reached;
    const hdx_tape          *tape;
    hdx_mem                 *mem;
    hdx_ticker              *tick;
    link                    *links;
    semi                    *semis; /* by falling number */
    uint64_t                 semi_count, semi_capacity;
    class_node              *classes; /* by falling number */
    uint64_t                 class_count;
    visit                   *piece; /* AHEAD visits, then a piece */
} work;

static inline NID eval(link *links, NID v, NID linked);
static NID        compress(link *links, NID v, NID linked);
static inline NID settle(link *l, NID top, NID least);
static NID        pull(const WIDE(hdx_lists) *lists, uint64_t list, const NID *number, link *links, NID w, NID least);
static hdx_code   semidominators(work *k, hdx_error *err);
static hdx_code   nearest_common(work *k, NID *idom, hdx_error *err);
static hdx_code   find_class_nodes(work *k, hdx_error *err);

hdx_code WIDE(hdx_dominators)(const WIDE(hdx_digraph) *g, const NID *number, uint64_t reached, const hdx_tape *tape, hdx_mem *mem, hdx_ticker *tick,
                              NID **idom, hdx_error *err)
{
    work           k = { .g = g, .number = number, .reached = reached, .tape = tape, .mem = mem, .tick = tick };
    const uint64_t count = reached + 1;
    hdx_code       code;
    *idom = NULL;
    k.links = hdx_mem_array(mem, count, sizeof(link));
    k.piece = hdx_mem_array(mem, VISITS + AHEAD, sizeof(visit));
    if (k.links == NULL || k.piece == NULL) {
        code = hdx_no_memory(err, "semidominators", count * sizeof(link));
        goto out;
    }
    if ((code = find_class_nodes(&k, err)) != HDX_OK || (code = semidominators(&k, err)) != HDX_OK)
        goto out;
    hdx_mem_put(mem, k.links, count * sizeof(link));
    k.links = NULL;
    if ((*idom = hdx_mem_array(mem, count, sizeof(NID))) == NULL) {
        code = hdx_no_memory(err, "dominators", count * sizeof(NID));
        goto out;
    }
    if ((code = nearest_common(&k, *idom, err)) != HDX_OK) {
        hdx_mem_put(mem, *idom, count * sizeof(NID));
        *idom = NULL;
    }
out:
    hdx_mem_put(mem, k.classes, (uint64_t)g->classes * sizeof(class_node));
    hdx_mem_put(mem, k.links, count * sizeof(link));
    hdx_mem_put(mem, k.semis, k.semi_capacity * sizeof(semi));
    hdx_mem_put(mem, k.piece, (VISITS + AHEAD) * sizeof(visit));
    return code;
}

static int falling(const void *a, const void *b)
{
    const class_node *x = a, *y = b;
    if (x->number != y->number)
        return x->number > y->number ? -1 : 1;
    return x->class < y->class ? -1 : x->class > y->class;
}

/* Damaged dumps define a class twice: two classes may have one object, which then has the instances of both for predecessors. */
static hdx_code find_class_nodes(work *k, hdx_error *err)
{
    const WIDE(hdx_digraph) *g = k->g;
    if ((k->classes = hdx_mem_array(k->mem, g->classes, sizeof(class_node))) == NULL)
        return hdx_no_memory(err, "class objects", (uint64_t)g->classes * sizeof(class_node));
    for (uint32_t c = 0; c < g->classes; c++) {
        const NID number = g->class_object[c] == NONE ? 0 : k->number[g->class_object[c]];
        if (number != 0 && g->instances.at[c] != g->instances.at[c + 1])
            k->classes[k->class_count++] = (class_node){ number, c };
    }
    if (k->class_count > 1)
        qsort(k->classes, (size_t)k->class_count, sizeof(class_node), falling);
    return HDX_OK;
}

static hdx_code keep_semi(work *k, NID number, NID value, hdx_error *err)
{
    if (!hdx_mem_room(k->mem, (void **)&k->semis, &k->semi_capacity, k->semi_count, sizeof(semi)))
        return hdx_no_memory(err, "semidominators", 2 * k->semi_capacity * sizeof(semi));
    k->semis[k->semi_count++] = (semi){ number, value };
    return HDX_OK;
}

/* Semidominators of numbers first + 1 .. first + n, from the last to the first; piece[AHEAD + i] is the visit of first + 1 + i. */
static hdx_code semis_of_piece(work *k, uint64_t first, uint64_t n, uint64_t *next_class, hdx_error *err)
{
    const NID *at = k->g->inbound.at, *to = k->g->inbound.to, *number = k->number;
    link      *links = k->links;
    for (uint64_t i = n; i-- > 0;) {
        const NID    w = (NID)(first + i + 1), v = k->piece[AHEAD + i].node, parent = k->piece[AHEAD + i].parent;
        NID          least = parent;
        const visit *ahead = k->piece + i; /* AHEAD visits before this one */
        if (w > AHEAD) { /* offsets, then the list, then the numbers of its first two: each has had time to arrive */
            const NID middle = ahead[AHEAD / 2].node, near = ahead[AHEAD - AHEAD / 4].node;
            __builtin_prefetch(at + ahead->node);
            if (at[middle + 1] - at[middle] > 1)
                __builtin_prefetch(to + at[middle]);
            if (at[near + 1] - at[near] > 1) {
                __builtin_prefetch(number + to[at[near]]);
                __builtin_prefetch(number + to[at[near] + 1]);
            }
        }
        if (*next_class < k->class_count && k->classes[*next_class].number == w) {
            if (parent != 0)
                least = pull(&k->g->inbound, v, number, links, w, least);
            for (; *next_class < k->class_count && k->classes[*next_class].number == w; ++*next_class)
                if (parent != 0)
                    least = pull(&k->g->instances, k->classes[*next_class].class, number, links, w, least);
        } else if (parent != 0 && at[v + 1] - at[v] > 1) /* parent 0: a root has no other predecessor (MAT 6.1) */
            least = pull(&k->g->inbound, v, number, links, w, least);
        links[w] = (link){ parent, least };
        if (least != parent) {
            hdx_code code = keep_semi(k, w, least, err);
            if (code != HDX_OK)
                return code;
        }
    }
    return HDX_OK;
}

static hdx_code semidominators(work *k, hdx_error *err)
{
    uint64_t next_class = 0;
    for (uint64_t end = k->reached; end > 0;) {
        const uint64_t first = end > VISITS ? end - VISITS : 0, lead = first < AHEAD ? first : AHEAD;
        hdx_code       code = k->tape->read(k->tape->context, (first - lead) * sizeof(visit), k->piece + AHEAD - lead, (end - first + lead) * sizeof(visit), err);
        if (code != HDX_OK || (code = semis_of_piece(k, first, end - first, &next_class, err)) != HDX_OK)
            return code;
        if (hdx_tick(k->tick, end - first))
            return hdx_tick_stop(err);
        end = first;
    }
    return HDX_OK;
}

/* The least semidominator candidate of w over one list of predecessors. */
static NID pull(const WIDE(hdx_lists) *lists, uint64_t list, const NID *number, link *links, NID w, NID least)
{
    const NID     *to = lists->to;
    const uint64_t end = lists->at[list + 1];
    for (uint64_t i = lists->at[list]; i < end && least != 0; i++) {
        if (end - i > AHEAD)
            __builtin_prefetch(number + to[i + AHEAD]);
        const NID u = number[to[i]];
        if (u == 0) /* a referrer that is garbage itself */
            continue;
        const NID candidate = u <= w ? u : eval(links, u, (NID)(w + 1));
        least = candidate < least ? candidate : least;
    }
    return least;
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

/* Forwards, semidominators become dominators: everything at smaller numbers is one already. */
static hdx_code nearest_common(work *k, NID *idom, hdx_error *err)
{
    const semi *next = k->semis + k->semi_count;
    idom[0] = 0;
    for (uint64_t first = 0; first < k->reached;) {
        const uint64_t n = k->reached - first < VISITS ? k->reached - first : VISITS;
        hdx_code       code = k->tape->read(k->tape->context, first * sizeof(visit), k->piece, n * sizeof(visit), err);
        if (code != HDX_OK)
            return code;
        for (uint64_t i = 0; i < n; i++) {
            const NID w = (NID)(first + i + 1);
            NID       d = k->piece[i].parent;
            if (next > k->semis && next[-1].number == w) {
                const NID value = (--next)->value;
                while (d > value)
                    d = idom[d];
            }
            idom[w] = d;
        }
        if (hdx_tick(k->tick, 0)) /* counted once, in the other direction */
            return hdx_tick_stop(err);
        first += n;
    }
    return HDX_OK;
}

/* Exact because a dominator has the smaller number: every sum is whole before it is passed on (MAT 6.3). */
void WIDE(hdx_retained)(const NID *idom, uint64_t reached, uint64_t *retained)
{
    for (uint64_t w = reached; w > 0; w--)
        retained[idom[w]] += retained[w];
}
