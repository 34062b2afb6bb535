/*
 * dominate_wide.c - computes the dominator tree of a graph in memory by the steps of algo. What a build passes from
 * step to step in files stays in memory here.
 *
 * In:  packed lists of targets in ascending order, duplicates allowed; roots.
 * Out: depth-first numbers, and the immediate dominator of each number.
 * Cost: the lists, their transposed lists as plain arrays for a time, and the memory of the steps (algo.h).
 */
#include "leaks/wide.h"

#define CHUNK 4096u /* nodes whose referrers are requested together */

typedef struct memory_tape {
    hdx_mem *mem;
    uint8_t *at;
    uint64_t len, capacity;
} memory_tape;

static hdx_code tape_write(void *context, const void *bytes, uint64_t len, hdx_error *err)
{
    memory_tape *t = context;
    if (len > t->capacity - t->len) {
        const uint64_t more = 2 * (t->len + len);
        uint8_t       *at = hdx_mem_resize(t->mem, t->at, t->capacity, more);
        if (at == NULL)
            return hdx_no_memory(err, "the search", more);
        t->at = at;
        t->capacity = more;
    }
    if (len > 0)
        memcpy(t->at + t->len, bytes, (size_t)len);
    t->len += len;
    return HDX_OK;
}

static hdx_code tape_read(void *context, uint64_t offset, void *to, uint64_t len, hdx_error *err)
{
    const memory_tape *t = context;
    if (offset > t->len || len > t->len - offset)
        return hdx_no_memory(err, "the search", len);
    if (len > 0)
        memcpy(to, t->at + offset, (size_t)len);
    return HDX_OK;
}

static hdx_tape tape_of(memory_tape *t) { return (hdx_tape){ t, tape_write, tape_read, NULL }; }

static void tape_free(memory_tape *t)
{
    hdx_mem_put(t->mem, t->at, t->capacity);
    *t = (memory_tape){ .mem = t->mem };
}

/* ---- referrers ---- */
typedef struct inbound { /* lists of nodes with more than one incoming reference */
    hdx_mem         *mem;
    uint64_t         nodes, edges;
    uint64_t        *once;
    WIDE(hdx_ranked) many;
    NID             *ends; /* end of each node's list in `to`, by rank */
    NID             *to;
} inbound;

static const NID *referrers_of(const inbound *in, uint64_t rank, uint64_t *n)
{
    const uint64_t begin = rank == 0 ? 0 : in->ends[rank - 1];
    *n = in->ends[rank] - begin;
    return in->to + begin;
}

static hdx_code read_chunk(void *context, uint64_t chunk, uint8_t *to, uint64_t *len, uint64_t *node, hdx_error *err)
{
    const inbound *in = context;
    const uint64_t first = chunk * CHUNK, end = in->nodes - first < CHUNK ? in->nodes : first + CHUNK;
    uint64_t       next = first, rank = HDX_RANK(&in->many, first);
    uint8_t       *at = to;
    (void)err;
    for (uint64_t v = first; v < end; v++) {
        uint64_t all, n = 0;
        if (!hdx_bits_test(in->many.words, v))
            continue;
        const NID *list = referrers_of(in, rank++, &all);
        for (uint64_t i = 0; i < all; i++) /* sources ascend, so duplicates are adjacent */
            n += i == 0 || list[i] != list[i - 1];
        if (n < 2)
            continue;
        at = hdx_pack(hdx_pack(at, v - next), n);
        at = hdx_pack(at, hdx_zigzag((int64_t)((uint64_t)list[0] - v)));
        for (uint64_t i = 1; i < all; i++)
            if (list[i] != list[i - 1])
                at = hdx_pack(at, (uint64_t)list[i] - list[i - 1] - 1);
        next = v + 1;
    }
    *len = (uint64_t)(at - to);
    *node = first;
    return HDX_OK;
}

static hdx_code transpose(const hdx_packed *p, const hdx_resources *with, inbound *in, hdx_error *err)
{
    hdx_mem *mem = with->mem;
    NID      sum = 0;
    hdx_code code;
    *in = (inbound){ .mem = mem, .nodes = p->nodes };
    in->once = hdx_mem_array(mem, hdx_bits_words(p->nodes), 8);
    in->many.words = hdx_mem_array(mem, hdx_bits_words(p->nodes), 8);
    if (in->once == NULL || in->many.words == NULL)
        return hdx_no_memory(err, "references transposed", p->nodes / 4);
    if ((code = hdx_packed_referred(p, with->tick, in->once, in->many.words, err)) != HDX_OK ||
        (code = WIDE(hdx_rank)(&in->many, p->nodes, mem, err)) != HDX_OK)
        return code;
    in->edges = p->edges - (hdx_bits_count(in->once, hdx_bits_words(p->nodes)) - in->many.count);
    in->ends = hdx_mem_array(mem, in->many.count, sizeof(NID));
    in->to = hdx_mem_array(mem, in->edges, sizeof(NID));
    if (in->ends == NULL || in->to == NULL)
        return hdx_no_memory(err, "references transposed", (in->many.count + in->edges) * sizeof(NID));
    const WIDE(hdx_transpose_in) all = { .outbound = p, .many = &in->many, .end = p->nodes };
    if ((code = WIDE(hdx_transpose_count)(&all, with, in->ends, err)) != HDX_OK)
        return code;
    for (uint64_t i = 0; i < in->many.count; i++) {
        const NID n = in->ends[i];
        in->ends[i] = sum;
        sum = (NID)(sum + n);
    }
    return WIDE(hdx_transpose_place)(&all, with, &(WIDE(hdx_transposed)){ .cursor = in->ends, .to = in->to }, err);
}

static void free_inbound(inbound *in)
{
    hdx_mem_put(in->mem, in->to, in->edges * sizeof(NID));
    hdx_mem_put(in->mem, in->ends, in->many.count * sizeof(NID));
    hdx_mem_put(in->mem, in->many.before, hdx_bits_words(in->nodes) * sizeof(NID));
    hdx_mem_put(in->mem, in->many.words, hdx_bits_words(in->nodes) * 8);
    hdx_mem_put(in->mem, in->once, hdx_bits_words(in->nodes) * 8);
}

/* Returns an upper bound of the bytes of the longest chunk. */
static uint64_t longest(const inbound *in)
{
    uint64_t most = 0;
    for (uint64_t first = 0; first < in->nodes; first += CHUNK) {
        const uint64_t end = in->nodes - first < CHUNK ? in->nodes : first + CHUNK;
        const uint64_t from = HDX_RANK(&in->many, first),
                       to = end == in->nodes ? in->many.count : HDX_RANK(&in->many, end);
        const uint64_t n = to == from ? 0 : in->ends[to - 1] - (from == 0 ? 0 : in->ends[from - 1]);
        most = n > most ? n : most;
    }
    return 5 * (most + 2 * CHUNK);
}

/* ---- the whole computation ---- */
typedef struct tree_work {
    hdx_packed       *lists;
    hdx_mem          *mem;
    WIDE(hdx_digraph) graph;
    inbound           in;
    uint64_t         *is_root, *live;
    memory_tape       preds, semis;
} tree_work;

static hdx_code find_tree(tree_work *k, const hdx_resources *with, WIDE(leak_tree) *out, hdx_error *err)
{
    const hdx_tape preds_tape = tape_of(&k->preds), semis_tape = tape_of(&k->semis);
    hdx_resources  single_threaded = *with; /* depth-first numbers of such a graph come from one thread */
    hdx_reached    reached;
    hdx_preds      preds = { .of_referrers.tape = &preds_tape };
    hdx_taped      semis = { .tape = &semis_tape };
    hdx_code       code;
    single_threaded.threads = 1;
    if ((code = WIDE(hdx_depth_first)(&k->graph, with, &out->search, &reached, err)) != HDX_OK)
        return code;
    const hdx_taped visits = { &out->search, reached.nodes };
    out->reached = reached.nodes;
    k->live = reached.live;
    if ((code = transpose(k->lists, with, &k->in, err)) != HDX_OK ||
        (code = WIDE(hdx_numbers)(&visits, out->nodes, &single_threaded, &out->number, err)) != HDX_OK)
        return code;
    hdx_packed_free(k->lists, k->mem);
    const hdx_referrers       referrers = { &k->in,          (k->in.nodes + CHUNK - 1) / CHUNK,
                                            longest(&k->in), k->in.edges + k->in.nodes,
                                            read_chunk,      NULL };
    const WIDE(hdx_numbering) numbered = { out->number, out->reached, k->is_root };
    if ((code = WIDE(hdx_predecessors)(&numbered, &referrers, UINT64_MAX, with, &preds.of_referrers, err)) != HDX_OK ||
        (code = WIDE(hdx_semidominators)(&visits, &preds, with, &semis, err)) != HDX_OK)
        return code;
    out->idom_count = semis.count;
    return WIDE(hdx_dominators)(&visits, &semis, with, &out->idoms, err);
}

hdx_code WIDE(hdx_leak_dominate)(hdx_packed *lists, const NID *roots, uint64_t root_count, const hdx_resources *with,
                                 WIDE(leak_tree) *out, hdx_error *err)
{
    const uint64_t nodes = lists->nodes;
    hdx_mem       *mem = with->mem;
    tree_work      k = { .lists = lists,
                         .mem = mem,
                         .graph = { .outbound = lists, .roots = roots, .root_count = root_count },
                         .in = { .mem = mem },
                         .preds = { .mem = mem },
                         .semis = { .mem = mem } };
    memory_tape   *tapes = hdx_mem_array(mem, 2, sizeof *tapes); /* of the tree: search, idoms */
    hdx_code       code;
    *out = (WIDE(leak_tree)){ .mem = mem, .nodes = nodes };
    if (tapes == NULL)
        return hdx_no_memory(err, "dominators", 2 * sizeof *tapes);
    tapes[0].mem = tapes[1].mem = mem;
    out->search = tape_of(tapes);
    out->idoms = tape_of(tapes + 1);
    if ((k.is_root = hdx_mem_array(mem, hdx_bits_words(nodes), 8)) == NULL)
        code = hdx_no_memory(err, "roots", nodes / 8);
    else {
        for (uint64_t i = 0; i < root_count; i++)
            hdx_bits_put(k.is_root, roots[i]);
        code = find_tree(&k, with, out, err);
    }
    hdx_packed_free(lists, mem);
    free_inbound(&k.in);
    hdx_mem_put(mem, k.is_root, hdx_bits_words(nodes) * 8);
    hdx_mem_put(mem, k.live, hdx_bits_words(nodes) * 8);
    tape_free(&k.preds);
    tape_free(&k.semis);
    return code;
}

void WIDE(hdx_leak_tree_free)(WIDE(leak_tree) *tree)
{
    hdx_mem_put(tree->mem, tree->number, tree->nodes * sizeof(NID));
    if (tree->search.context != NULL) {
        tape_free(tree->search.context);
        tape_free(tree->idoms.context);
        hdx_mem_put(tree->mem, tree->search.context, 2 * sizeof(memory_tape));
    }
    *tree = (WIDE(leak_tree)){ .mem = tree->mem };
}
