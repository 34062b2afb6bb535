/*
 * depth_first_wide.c - numbers the nodes in the order of a depth-first search from the virtual root.
 *
 * In:  outbound lists, classes, roots.
 * Out: number, node and parent: 12 bytes per node at 32 bits (number for every node, the others for the reached ones).
 * Knows that an instance refers to its class object, last of all, and that a GC root is entered from the virtual root alone.
 * Cost: one pass over the references of reached nodes; a stack of two NIDs per entry, in the worst case one entry per reference
 *       (1 M entries in real dumps, 6.7 M in a list of 5 M nodes: ALGORITHMS 7.1); a copy of class_object.
 *
 * All children without a number are pushed with the number of their parent, and a node is numbered when popped. Whatever is popped
 * first was pushed last, from the deepest node that refers to it: the order is a true depth-first one, without a cursor per level
 * and with loads that do not wait for each other. Semi-NCA depends on it: an edge to a greater number always goes down the tree.
 *
 * The order is always the same: roots in root order, a node's references in list order, its class object after them.
 */
#include "algo/width.h"

#include <assert.h>
#include <string.h>

#define TICK_NODES 65536u
#define STACK_FIRST 4096u
#define LIST_AHEAD 3u /* the entry popped two from now: its list is asked for, its offset was when it was pushed */
#define SHRINK_LEAST (1u << 20) /* bytes below which giving back the tail is not worth a copy */

typedef struct entry {
    NID node, parent;
} entry;
typedef struct stack {
    entry   *at;
    uint64_t count, capacity;
} stack;

static hdx_code begin(const WIDE(hdx_digraph) *g, hdx_mem *mem, WIDE(hdx_search) *out, stack *open, NID **class_edge, hdx_error *err);
static void     push_roots(const WIDE(hdx_digraph) *g, WIDE(hdx_search) *out, stack *open);
static hdx_code visit_all(const WIDE(hdx_digraph) *g, hdx_mem *mem, hdx_ticker *tick, WIDE(hdx_search) *out, stack *open, NID *class_edge,
                          hdx_error *err);
static bool     make_room(stack *open, uint64_t more, hdx_mem *mem);
static hdx_code shrink(WIDE(hdx_search) *out, hdx_mem *mem, hdx_error *err);

hdx_code WIDE(hdx_depth_first)(const WIDE(hdx_digraph) *g, hdx_mem *mem, hdx_ticker *tick, WIDE(hdx_search) *out, hdx_error *err)
{
    stack    open = { NULL, 0, 0 };
    NID     *class_edge = NULL;
    hdx_code code;
    *out = (WIDE(hdx_search)){ 0 };
    if (g->nodes >= NONE)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "%llu nodes, at most %llu fit this width", (unsigned long long)g->nodes,
                        (unsigned long long)NONE - 1);
    if ((code = begin(g, mem, out, &open, &class_edge, err)) != HDX_OK)
        goto out;
    push_roots(g, out, &open);
    code = visit_all(g, mem, tick, out, &open, class_edge, err);
out:
    hdx_mem_put(mem, open.at, open.capacity * sizeof(entry));
    hdx_mem_put(mem, class_edge, (uint64_t)g->classes * sizeof(NID));
    if (code == HDX_OK)
        code = shrink(out, mem, err);
    if (code != HDX_OK)
        WIDE(hdx_search_free)(out, g->nodes, mem);
    return code;
}

void WIDE(hdx_search_free)(WIDE(hdx_search) *search, uint64_t nodes, hdx_mem *mem)
{
    hdx_mem_put(mem, search->parent, search->capacity * sizeof(NID));
    hdx_mem_put(mem, search->node, search->capacity * sizeof(NID));
    hdx_mem_put(mem, search->number, nodes * sizeof(NID));
    *search = (WIDE(hdx_search)){ 0 };
}

static hdx_code begin(const WIDE(hdx_digraph) *g, hdx_mem *mem, WIDE(hdx_search) *out, stack *open, NID **class_edge, hdx_error *err)
{
    out->capacity = g->nodes + 1;
    out->number = hdx_mem_array(mem, g->nodes, sizeof(NID));
    out->node = hdx_mem_array(mem, out->capacity, sizeof(NID));
    out->parent = hdx_mem_array(mem, out->capacity, sizeof(NID));
    *class_edge = hdx_mem_array(mem, g->classes, sizeof(NID));
    if (out->number == NULL || out->node == NULL || out->parent == NULL || *class_edge == NULL)
        return hdx_no_memory(err, "the depth-first search", (3 * g->nodes + g->classes) * sizeof(NID));
    if (!make_room(open, g->root_count > STACK_FIRST ? g->root_count : STACK_FIRST, mem))
        return hdx_no_memory(err, "the search stack", g->root_count * sizeof(entry));
    out->node[0] = NONE;
    if (g->classes > 0)
        memcpy(*class_edge, g->class_object, g->classes * sizeof(NID));
    return HDX_OK;
}

/* A root has the number NONE until it is popped: whoever else refers to it finds it taken and pushes nothing (MAT 6.1). */
static void push_roots(const WIDE(hdx_digraph) *g, WIDE(hdx_search) *out, stack *open)
{
    for (uint64_t i = g->root_count; i-- > 0;) {
        assert(g->roots[i] < g->nodes);
        out->number[g->roots[i]] = NONE;
        open->at[open->count++] = (entry){ g->roots[i], 0 };
    }
}

static hdx_code visit_all(const WIDE(hdx_digraph) *g, hdx_mem *mem, hdx_ticker *tick, WIDE(hdx_search) *out, stack *open, NID *class_edge,
                          hdx_error *err)
{
    const NID      *at = g->outbound.at, *to = g->outbound.to;
    const uint32_t *class_of = g->class_of;
    const uint32_t  classes = g->classes;
    NID            *number = out->number, *node = out->node, *parent = out->parent;
    NID             reached = 0;
    while (open->count > 0) {
        const entry e = open->at[--open->count];
        if (number[e.node] != 0 && number[e.node] != NONE) /* pushed more than once, and numbered from a deeper node */
            continue;
        reached++;
        number[e.node] = reached;
        node[reached] = e.node;
        parent[reached] = e.parent;
        if (reached % TICK_NODES == 0 && hdx_tick(tick, TICK_NODES))
            return hdx_tick_stop(err);

        const uint64_t begin_at = at[e.node], end_at = at[e.node + 1];
        if (open->capacity - open->count <= end_at - begin_at && !make_room(open, end_at - begin_at + 1, mem))
            return hdx_no_memory(err, "the search stack", 2 * open->capacity * sizeof(entry));
        entry         *top = open->at + open->count;
        const uint32_t class = class_of[e.node];
        if (class < classes && class_edge[class] != NONE) {
            if (number[class_edge[class]] == 0)
                *top++ = (entry){ class_edge[class], reached };
            else
                class_edge[class] = NONE; /* numbered for good, or a root: never to be pushed again */
        }
        for (uint64_t i = end_at; i-- > begin_at;) {
            const NID child = to[i];
            if (number[child] != 0) /* a branch on purpose: without it the push waits for the load (39 instead of 24 ns per node) */
                continue;
            __builtin_prefetch(at + child);
            *top++ = (entry){ child, reached };
        }
        open->count = (uint64_t)(top - open->at);
        if (open->count >= LIST_AHEAD)
            __builtin_prefetch(to + at[open->at[open->count - LIST_AHEAD].node]);
    }
    out->reached = reached;
    return hdx_tick(tick, reached % TICK_NODES) ? hdx_tick_stop(err) : HDX_OK;
}

/* At least doubles: the pages of a large block are moved by the kernel and not touched before they are used. */
static bool make_room(stack *open, uint64_t more, hdx_mem *mem)
{
    uint64_t next = 2 * open->capacity;
    entry   *p;
    if (next < open->count + more)
        next = open->count + more;
    p = hdx_mem_resize(mem, open->at, open->capacity * sizeof(entry), next * sizeof(entry));
    if (p == NULL)
        return false;
    open->at = p;
    open->capacity = next;
    return true;
}

/* Gives back what unreached nodes would have needed in node and parent, where that is worth a call. */
static hdx_code shrink(WIDE(hdx_search) *out, hdx_mem *mem, hdx_error *err)
{
    const uint64_t full = out->capacity * sizeof(NID), used = (out->reached + 1) * sizeof(NID);
    NID           *p;
    if (full - used < SHRINK_LEAST)
        return HDX_OK;
    if ((p = hdx_mem_resize(mem, out->node, full, used)) == NULL)
        return HDX_OK; /* a small block is copied, and the copy may be refused: then the long one serves */
    out->node = p;
    if ((p = hdx_mem_resize(mem, out->parent, full, used)) == NULL) {
        hdx_mem_put(mem, out->parent, full); /* capacity speaks for both: one short and one long cannot be told */
        out->parent = NULL;
        out->capacity = out->reached + 1;
        return hdx_no_memory(err, "the depth-first search", used);
    }
    out->parent = p;
    out->capacity = out->reached + 1;
    return HDX_OK;
}
