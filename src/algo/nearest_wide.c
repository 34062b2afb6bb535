/*
 * nearest_wide.c - a breadth-first tree from the GC roots: the node before each node on a shortest path.
 *
 * In:  outbound lists, classes, roots; the nodes whose parent is wanted (that of a node with one referrer is the
 *      referrer).
 * Out: the parent of each wanted node; the node itself for a root, NONE if it cannot be reached.
 * An instance refers to its class object after everything else.
 * Cost: one pass over the references of reached nodes; memory for two bits per node and the queue, which is as long as
 *       the frontier.
 *
 * A plain queue: there may be as many levels as nodes (a list of 5 million), so there is no work per level.
 * The order of roots, then of references, decides between equally short paths, so the search runs on one thread.
 */
#include "algo/wide.h"

#include <assert.h>
#include <string.h>

#define TICK_NODES 65536u
/* Entries of the queue: far enough for a load from memory, near enough to stay in the first-level cache. */
#define AHEAD       16u
#define QUEUE_FIRST (1u << 16)

typedef struct queue { /* a ring; head and tail are only incremented */
    NID     *at;
    uint64_t capacity; /* a power of two */
    uint64_t head, tail;
} queue;

/* For 64 nodes: those reached, and those whose parent is wanted; adjacent, because both are tested together. */
typedef struct marks {
    uint64_t seen, keep;
} marks;

typedef struct tree {
    marks     *marks;
    NID       *class_edge; /* by class number: its object, NONE once it is reached */
    const NID *before;     /* number of wanted nodes before each word */
    NID       *parent;
} tree;

/* Makes room for n more. When a ring grows, elements that had wrapped to its front are moved after its old end. */
static bool grow(queue *q, uint64_t n, hdx_mem *mem)
{
    uint64_t next = q->capacity == 0 ? QUEUE_FIRST : q->capacity;
    while (next - (q->tail - q->head) < n)
        next *= 2;
    NID *p = hdx_mem_resize(mem, q->at, q->capacity * sizeof(NID), next * sizeof(NID));
    if (p == NULL)
        return false;
    if (q->capacity > 0) {
        uint64_t first = q->head & (q->capacity - 1), count = q->tail - q->head,
                 wrapped = first + count > q->capacity ? first + count - q->capacity : 0;
        memcpy(p + q->capacity, p, (size_t)wrapped * sizeof(NID));
        q->head = first;
        q->tail = first + count;
    }
    q->at = p;
    q->capacity = next;
    return true;
}

static inline bool room(queue *q, uint64_t n, hdx_mem *mem)
{
    return q->capacity - (q->tail - q->head) >= n || grow(q, n, mem);
}

static inline void reach(tree *t, queue *q, NID node, NID from)
{
    marks         *m = &t->marks[node >> 6];
    const uint64_t bit = 1ull << (node & 63);
    if ((m->seen & bit) != 0)
        return;
    m->seen |= bit;
    assert(q->tail - q->head < q->capacity && (q->capacity & (q->capacity - 1)) == 0); /* A3 */
    q->at[q->tail++ & (q->capacity - 1)] = node;
    if ((m->keep & bit) != 0)
        t->parent[t->before[node >> 6] + (uint64_t)__builtin_popcountll(m->keep & (bit - 1))] = from;
}

static hdx_code visit_queue(const WIDE(hdx_digraph) *g, const hdx_resources *with, tree *t, queue *q, hdx_error *err)
{
    const hdx_packed *lists = g->outbound;
    const uint32_t    classes = g->classes;
    hdx_ticker       *tick = with->tick;
    NID              *class_edge = t->class_edge;
    uint64_t          done = 0;
    while (q->head < q->tail) {
        if (q->tail - q->head > AHEAD) {
            /* Dependent loads, each prefetched when the one before it has had time to arrive. */
            const uint64_t mask = q->capacity - 1;
            hdx_packed_base_ahead(lists, q->at[(q->head + AHEAD) & mask]);
            hdx_packed_list_ahead(lists, q->at[(q->head + AHEAD / 2) & mask]);
        }
        const NID       v = q->at[q->head++ & (q->capacity - 1)];
        hdx_packed_list list = hdx_packed_at(lists, v);
        if (!room(q, list.count + 1, with->mem))
            return hdx_no_memory(err, "the breadth-first queue", 2 * q->capacity * sizeof(NID));
        while (list.count > 0)
            reach(t, q, (NID)hdx_packed_next(lists, &list), v);
        if (list.class_number < classes && class_edge[list.class_number] != NONE) {
            reach(t, q, class_edge[list.class_number], v);
            class_edge[list.class_number] = NONE; /* reached: no other instance needs to test it */
        }
        if (++done % TICK_NODES == 0 && hdx_tick(tick, TICK_NODES))
            return hdx_tick_stop(err);
    }
    return hdx_tick(tick, done % TICK_NODES) ? hdx_tick_stop(err) : HDX_OK;
}

hdx_code WIDE(hdx_nearest)(const WIDE(hdx_digraph) *g, const WIDE(hdx_ranked) *keep, const hdx_resources *with,
                           NID *parent, hdx_error *err)
{
    const uint64_t words = hdx_bits_words(g->outbound->nodes);
    hdx_mem       *mem = with->mem;
    queue          q = { NULL, 0, 0, 0 };
    tree           t = { .marks = hdx_mem_array(mem, words, sizeof(marks)),
                         .class_edge = hdx_mem_array(mem, g->classes, sizeof(NID)),
                         .before = keep->before,
                         .parent = parent };
    hdx_code       code;
    if (t.marks == NULL || t.class_edge == NULL || !room(&q, g->root_count + 1, mem)) {
        code = hdx_no_memory(err, "the breadth-first search",
                             words * sizeof(marks) + (g->root_count + g->classes) * sizeof(NID));
        goto out;
    }
    for (uint64_t i = 0; i < words; i++)
        t.marks[i].keep = keep->words[i];
    if (keep->count > 0)
        memset(parent, 0xff, keep->count * sizeof(NID)); /* NONE */
    if (g->classes > 0)
        memcpy(t.class_edge, g->class_object, g->classes * sizeof(NID));
    for (uint64_t i = 0; i < g->root_count; i++) {
        assert(g->roots[i] < g->outbound->nodes); /* A1 */
        reach(&t, &q, g->roots[i], g->roots[i]);
    }
    code = visit_queue(g, with, &t, &q, err);
out:
    hdx_mem_put(mem, t.class_edge, (uint64_t)g->classes * sizeof(NID));
    hdx_mem_put(mem, q.at, q.capacity * sizeof(NID));
    hdx_mem_put(mem, t.marks, words * sizeof(marks));
    return code;
}

hdx_code WIDE(hdx_rank)(WIDE(hdx_ranked) *set, uint64_t n, hdx_mem *mem, hdx_error *err)
{
    uint64_t words = hdx_bits_words(n);
    if ((set->before = hdx_mem_array(mem, words, sizeof(NID))) == NULL)
        return hdx_no_memory(err, "ranks", words * sizeof(NID));
    set->count = 0;
    for (uint64_t i = 0; i < words; i++) {
        set->before[i] = (NID)set->count;
        set->count += (uint64_t)__builtin_popcountll(set->words[i]);
    }
    assert(set->count <= n); /* no bits after the last node are set */
    return HDX_OK;
}
