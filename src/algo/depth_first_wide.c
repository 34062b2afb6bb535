/*
 * depth_first_wide.c - numbers the nodes in the order of a depth-first search from the virtual root.
 *
 * In:  outbound lists with their classes, roots.
 * Out: a tape of visits (node, number of its parent) in the order of their numbers; a bit set of reached nodes.
 * An instance refers to its class object, last of all; a GC root is only entered from the virtual root.
 * Cost: one pass over the references of reached nodes; memory for a bit per node and a stack of two NIDs per entry, in
 *       the worst case one entry per reference (1 M entries in real dumps, 6.7 M in a list of 5 M nodes).
 *
 * All children that are not yet closed are pushed with the number of their parent, and a node is numbered when it is
 * popped. The entry that is popped first was pushed last, by the deepest node that refers to it: the order is a true
 * depth-first one, without a cursor per level and with loads that do not wait for each other. Semi-NCA depends on it:
 * an edge to a greater number always goes down the tree.
 *
 * The order is always the same: roots in root order, a node's references from the last of its list to the first, its
 * class object after them.
 */
#include "algo/wide.h"

#include <assert.h>
#include <string.h>

#define TICK_NODES  65536u
#define STACK_FIRST 4096u
#define LIST_AHEAD  3u    /* distance for prefetching lists; their bases were prefetched when pushed */
#define VISITS      8192u /* written to the tape at a time */

typedef WIDE(hdx_visit) visit; /* on the stack: a node and the number of the node that pushed it */
typedef struct stack {
    visit   *at;
    uint64_t count, capacity;
} stack;
typedef struct search {
    const WIDE(hdx_digraph) *g;
    const hdx_resources     *with;
    hdx_tape_writer          visits;
    stack                    open;
    uint64_t                *closed;     /* bit set over nodes: numbered, or roots */
    NID                     *class_edge; /* by class number: its object, NONE once it need not be pushed any more */
} search;

static hdx_code visit_all(search *s, hdx_reached *out, hdx_error *err);
static bool     make_room(stack *open, uint64_t more, hdx_mem *mem);

/* Allocates the search's memory, and pushes the roots. */
static hdx_code begin(search *s, const hdx_tape *visits, hdx_error *err)
{
    const WIDE(hdx_digraph) *g = s->g;
    hdx_mem                 *mem = s->with->mem;
    const uint64_t           nodes = g->outbound->nodes;
    if (nodes >= NONE)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "%llu nodes; at most %llu fit this width",
                        (unsigned long long)nodes, (unsigned long long)NONE - 1);
    s->class_edge = hdx_mem_array(mem, g->classes, sizeof(NID));
    s->closed = hdx_mem_array(mem, hdx_bits_words(nodes), 8);
    if (!hdx_tape_writer_open(&s->visits, visits, VISITS * sizeof(visit), mem) || s->class_edge == NULL ||
        s->closed == NULL || !make_room(&s->open, g->root_count > STACK_FIRST ? g->root_count : STACK_FIRST, mem))
        return hdx_no_memory(err, "the depth-first search", nodes / 8 + (g->classes + g->root_count) * sizeof(NID));
    assert(s->open.capacity >= g->root_count); /* A3 */
    if (g->classes > 0)
        memcpy(s->class_edge, g->class_object, g->classes * sizeof(NID));
    /*
     * Roots are closed from the start: other nodes do not push them, and each is popped from its own entry (MAT 6.1).
     */
    for (uint64_t i = g->root_count; i-- > 0;) {
        assert(g->roots[i] < nodes); /* A1 */
        hdx_bits_put(s->closed, g->roots[i]);
        s->open.at[s->open.count++] = (visit){ g->roots[i], 0 };
    }
    return HDX_OK;
}

hdx_code WIDE(hdx_depth_first)(const WIDE(hdx_digraph) *g, const hdx_resources *with, const hdx_tape *visits,
                               hdx_reached *out, hdx_error *err)
{
    search   s = { .g = g, .with = with };
    hdx_mem *mem = with->mem;
    hdx_code code;
    *out = (hdx_reached){ 0 };
    if ((code = begin(&s, visits, err)) == HDX_OK && (code = visit_all(&s, out, err)) == HDX_OK &&
        (code = hdx_tape_writer_flush(&s.visits, err)) == HDX_OK) {
        out->live = s.closed;
        s.closed = NULL;
    }
    hdx_mem_put(mem, s.open.at, s.open.capacity * sizeof(visit));
    hdx_mem_put(mem, s.closed, hdx_bits_words(g->outbound->nodes) * 8);
    hdx_mem_put(mem, s.class_edge, (uint64_t)g->classes * sizeof(NID));
    hdx_tape_writer_close(&s.visits, mem);
    return code;
}

static hdx_code visit_all(search *s, hdx_reached *out, hdx_error *err)
{
    const hdx_packed *lists = s->g->outbound;
    const uint32_t    classes = s->g->classes;
    hdx_ticker       *tick = s->with->tick;
    stack            *open = &s->open;
    uint64_t         *closed = s->closed;
    NID              *class_edge = s->class_edge;
    NID               number = 0;
    uint64_t          edges = 0;
    hdx_code          code;
    while (open->count > 0) {
        const visit e = open->at[--open->count];
        if (!hdx_bits_set(closed, e.node) && e.parent != 0) /* pushed more than once, and numbered from a deeper node */
            continue;
        number++;
        assert(e.parent < number && number <= lists->nodes); /* A2 */
        if ((code = hdx_tape_writer_put(&s->visits, &e, sizeof e, err)) != HDX_OK)
            return code;
        if (number % TICK_NODES == 0 && hdx_tick(tick, TICK_NODES))
            return hdx_tick_stop(err);

        hdx_packed_list list = hdx_packed_at(lists, e.node);
        if (open->capacity - open->count <= list.count && !make_room(open, list.count + 1, s->with->mem))
            return hdx_no_memory(err, "the search stack", 2 * open->capacity * sizeof(visit));
        visit *top = open->at + open->count;
        if (list.class_number < classes && class_edge[list.class_number] != NONE) {
            if (!hdx_bits_test(closed, class_edge[list.class_number]))
                *top++ = (visit){ class_edge[list.class_number], number };
            else
                class_edge[list.class_number] = NONE; /* finally numbered, or a root: it need not be pushed any more */
        }
        edges += list.count;
        while (list.count > 0) {
            const uint64_t child = hdx_packed_next(lists, &list);
            if (hdx_bits_test(closed, child)) /* a branch on purpose: without it the push would wait for the load */
                continue;
            hdx_packed_base_ahead(lists, child);
            *top++ = (visit){ (NID)child, number };
        }
        open->count = (uint64_t)(top - open->at);
        assert(open->count <= open->capacity); /* A3 */
        if (open->count >= LIST_AHEAD)
            hdx_packed_list_ahead(lists, open->at[open->count - LIST_AHEAD].node);
    }
    out->nodes = number;
    out->edges = edges;
    return hdx_tick(tick, number % TICK_NODES) ? hdx_tick_stop(err) : HDX_OK;
}

/*
 * At least doubles the capacity: the kernel moves the pages of a large block, and new pages are not touched before use.
 */
static bool make_room(stack *open, uint64_t more, hdx_mem *mem)
{
    uint64_t next = 2 * open->capacity;
    visit   *p;
    if (next < open->count + more)
        next = open->count + more;
    p = hdx_mem_resize(mem, open->at, open->capacity * sizeof(visit), next * sizeof(visit));
    if (p == NULL)
        return false;
    open->at = p;
    open->capacity = next;
    return true;
}

/* ---- reading the tape ---- */
typedef struct play {
    const hdx_taped *visits;
    hdx_mem         *mem;
    NID             *number, *node; /* one of them */
    _Atomic uint64_t next;          /* next piece */
    hdx_first_error  fault;
} play;

static hdx_code play_piece(const play *p, visit *piece, uint64_t done, hdx_error *err)
{
    const hdx_tape *tape = p->visits->tape;
    const uint64_t  left = p->visits->count - done, n = left < VISITS ? left : VISITS;
    assert(done < p->visits->count && done % VISITS == 0); /* A6: only the last piece may be incomplete */
    hdx_code code = tape->read(tape->context, done * sizeof(visit), piece, n * sizeof(visit), err);
    for (uint64_t i = 0; i < n && code == HDX_OK && p->number != NULL; i++)
        p->number[piece[i].node] = (NID)(done + i + 1);
    for (uint64_t i = 0; i < n && code == HDX_OK && p->node != NULL; i++)
        p->node[done + i + 1] = piece[i].node;
    return code;
}

static void play_pieces(void *context, unsigned worker)
{
    play     *p = context;
    visit    *piece = hdx_mem_array(p->mem, VISITS, sizeof(visit));
    uint64_t  done;
    hdx_error err = { 0 };
    (void)worker;
    while (!hdx_first_error_any(&p->fault) && (done = atomic_fetch_add(&p->next, 1) * VISITS) < p->visits->count)
        hdx_first_error_put(&p->fault,
                            piece == NULL ? hdx_no_memory(&err, "a piece of the search", VISITS * sizeof(visit))
                                          : play_piece(p, piece, done, &err),
                            &err);
    hdx_mem_put(p->mem, piece, VISITS * sizeof(visit));
}

static hdx_code play_all(play *p, unsigned threads, hdx_error *err)
{
    hdx_workers_run(threads, play_pieces, p);
    return hdx_first_error_take(&p->fault, err);
}

hdx_code WIDE(hdx_numbers)(const hdx_taped *visits, uint64_t nodes, const hdx_resources *with, NID **number,
                           hdx_error *err)
{
    hdx_mem *mem = with->mem;
    play     p = { .visits = visits, .mem = mem };
    hdx_code code;
    if ((p.number = *number = hdx_mem_array(mem, nodes, sizeof(NID))) == NULL)
        return hdx_no_memory(err, "preorder numbers", nodes * sizeof(NID));
    if ((code = play_all(&p, with->threads, err)) != HDX_OK) {
        hdx_mem_put(mem, *number, nodes * sizeof(NID));
        *number = NULL;
    }
    return code;
}

hdx_code WIDE(hdx_nodes)(const hdx_taped *visits, hdx_mem *mem, NID **node, hdx_error *err)
{
    const uint64_t entries = visits->count + 1;
    play           p = { .visits = visits, .mem = mem };
    hdx_code       code;
    if ((p.node = *node = hdx_mem_raw(mem, entries, sizeof(NID))) == NULL)
        return hdx_no_memory(err, "nodes in preorder", entries * sizeof(NID));
    (*node)[0] = NONE;
    if ((code = play_all(&p, 1, err)) != HDX_OK) {
        hdx_mem_put(mem, *node, entries * sizeof(NID));
        *node = NULL;
    }
    return code;
}
