/*
 * nearest_wide.c - a breadth-first tree from the GC roots: who lies before each node on a path of least length.
 *
 * In:  outbound lists, classes, roots.
 * Out: parent per node; the node itself for a root, NONE for what cannot be reached.
 * Knows that an instance refers to its class object after everything else.
 * Cost: one pass over the references of reached nodes; beside the result one NID per node for the queue and a copy of class_object.
 *
 * A plain queue: the levels may be as many as the nodes (a list of 5 million), so nothing is done per level (ALGORITHMS 2, 7.4).
 * Ties are decided by the order of roots, then of references, and so by one thread alone.
 */
#include "algo/width.h"

#include <assert.h>
#include <string.h>

#define TICK_NODES 65536u
#define AHEAD 16u /* entries of the queue: far enough for a load from memory, near enough to stay in the first cache */

static uint64_t    enqueue_roots(const WIDE(hdx_digraph) *g, NID *parent, NID *queue);
static hdx_code    visit_queue(const WIDE(hdx_digraph) *g, hdx_ticker *tick, NID *parent, NID *queue, uint64_t tail, NID *class_edge, hdx_error *err);
static inline void look_ahead(const NID *at, const NID *to, const uint32_t *class_of, const NID *parent, const NID *queue);

hdx_code WIDE(hdx_nearest)(const WIDE(hdx_digraph) *g, hdx_mem *mem, hdx_ticker *tick, NID *parent, hdx_error *err)
{
    NID     *queue = hdx_mem_array(mem, g->nodes, sizeof(NID));
    NID     *class_edge = hdx_mem_array(mem, g->classes, sizeof(NID));
    hdx_code code;
    if (queue == NULL || class_edge == NULL) {
        code = hdx_no_memory(err, "the breadth-first queue", (g->nodes + g->classes) * sizeof(NID));
        goto out;
    }
    if (g->nodes > 0)
        memset(parent, 0xff, g->nodes * sizeof(NID)); /* NONE */
    if (g->classes > 0)
        memcpy(class_edge, g->class_object, g->classes * sizeof(NID));
    code = visit_queue(g, tick, parent, queue, enqueue_roots(g, parent, queue), class_edge, err);
out:
    hdx_mem_put(mem, class_edge, (uint64_t)g->classes * sizeof(NID));
    hdx_mem_put(mem, queue, g->nodes * sizeof(NID));
    return code;
}

static uint64_t enqueue_roots(const WIDE(hdx_digraph) *g, NID *parent, NID *queue)
{
    uint64_t tail = 0;
    for (uint64_t i = 0; i < g->root_count; i++) {
        NID root = g->roots[i];
        assert(root < g->nodes);
        if (parent[root] == NONE) {
            parent[root] = root;
            queue[tail++] = root;
        }
    }
    return tail;
}

static hdx_code visit_queue(const WIDE(hdx_digraph) *g, hdx_ticker *tick, NID *parent, NID *queue, uint64_t tail, NID *class_edge, hdx_error *err)
{
    const NID      *at = g->outbound.at, *to = g->outbound.to;
    const uint32_t *class_of = g->class_of;
    const uint32_t  classes = g->classes;
    uint64_t        head = 0;
    while (head < tail) {
        if (tail - head > AHEAD)
            look_ahead(at, to, class_of, parent, queue + head);
        const NID      v = queue[head++];
        const uint64_t end = at[v + 1];
        for (uint64_t i = at[v]; i < end; i++) {
            const NID child = to[i];
            if (parent[child] == NONE) {
                parent[child] = v;
                queue[tail++] = child;
            }
        }
        const uint32_t class = class_of[v];
        if (class < classes && class_edge[class] != NONE) {
            if (parent[class_edge[class]] == NONE) {
                parent[class_edge[class]] = v;
                queue[tail++] = class_edge[class];
            }
            class_edge[class] = NONE; /* reached: no other instance needs to ask */
        }
        if (head % TICK_NODES == 0 && hdx_tick(tick, TICK_NODES))
            return hdx_tick_stop(err);
    }
    return hdx_tick(tick, head % TICK_NODES) ? hdx_tick_stop(err) : HDX_OK;
}

/* Three dependent loads per node, each asked for when the one before it has had time to arrive. */
static inline void look_ahead(const NID *at, const NID *to, const uint32_t *class_of, const NID *parent, const NID *queue)
{
    const NID far = queue[AHEAD], middle = queue[AHEAD / 2], near = queue[AHEAD / 4];
    __builtin_prefetch(at + far);
    __builtin_prefetch(class_of + far);
    __builtin_prefetch(to + at[middle]);
    if (at[near] != at[near + 1])
        __builtin_prefetch(parent + to[at[near]], 1);
}
