/*
 * dominate_wide.c - the dominator tree of a graph that lies in memory, by the steps of algo: what a build hands from step to step in files
 * stays in memory here.
 *
 * In:  lists of targets, in any order, doubles allowed; roots.
 * Out: numbers of a depth-first search, and the immediate dominator of each number.
 * Cost: the lists packed, their transposed ones as plain arrays for a while, and what the steps hold (algo.h).
 */
#include "leaks/wide.h"

#include <stdlib.h>

#define CHUNK 4096u /* nodes whose referrers are asked for at once */

typedef struct memory_tape {
    uint8_t *at;
    uint64_t len, capacity;
} memory_tape;

static hdx_code tape_write(void *context, const void *bytes, uint64_t len, hdx_error *err)
{
    memory_tape *t = context;
    if (len > t->capacity - t->len) {
        const uint64_t more = 2 * (t->len + len);
        uint8_t       *at = hdx_mem_resize(NULL, t->at, t->capacity, more);
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
    hdx_mem_put(NULL, t->at, t->capacity);
    *t = (memory_tape){ 0 };
}

/* ---- lists ---- */
static int rising(const void *a, const void *b)
{
    const NID x = *(const NID *)a, y = *(const NID *)b;
    return x < y ? -1 : x > y;
}

static hdx_code pack(hdx_packed *p, uint64_t nodes, const NID *starts, NID *edges, hdx_error *err)
{
    const uint64_t most = nodes < HDX_PACKED_PIECE ? nodes : HDX_PACKED_PIECE;
    uint32_t      *lengths = hdx_mem_array(NULL, most, sizeof *lengths);
    hdx_code       code = hdx_packed_new(p, nodes, NULL, err);
    if (code == HDX_OK && lengths == NULL)
        code = hdx_no_memory(err, "lists of references", most * sizeof *lengths);
    for (uint64_t piece = 0; piece < p->piece_count && code == HDX_OK; piece++) {
        const uint64_t first = piece << HDX_PACKED_PIECE_BITS, end = first + hdx_packed_piece_nodes(p, piece);
        for (uint64_t v = first; v < end; v++)
            lengths[v - first] = (uint32_t)(starts[v + 1] - starts[v]);
        code = hdx_packed_lay(p, piece, lengths, NULL, err);
        for (uint64_t v = first; v < end && code == HDX_OK; v++) {
            uint8_t *to = hdx_packed_begin(p, v, 0);
            if (lengths[v - first] > 1)
                qsort(edges + starts[v], lengths[v - first], sizeof(NID), rising);
            for (uint64_t i = starts[v]; i < starts[v + 1]; i++)
                to = hdx_packed_put(to, edges[i], p->width);
        }
    }
    p->edges = starts[nodes];
    hdx_mem_put(NULL, lengths, most * sizeof *lengths);
    return code;
}

/* ---- referrers ---- */
typedef struct inbound { /* of nodes that are referred to more than once */
    uint64_t         nodes, edges;
    uint64_t        *once;
    WIDE(hdx_ranked) many;
    NID             *ends; /* of each one's list in `to`, by rank */
    NID             *to;
} inbound;

static const NID *list_of(const inbound *in, uint64_t rank, uint64_t *n)
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
        const NID *list = list_of(in, rank++, &all);
        for (uint64_t i = 0; i < all; i++) /* sources ascend; a double stands beside the first */
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

static hdx_code turn(const hdx_packed *p, inbound *in, hdx_ticker *tick, hdx_error *err)
{
    NID      sum = 0;
    hdx_code code;
    *in = (inbound){ .nodes = p->nodes };
    in->once = hdx_mem_array(NULL, hdx_bits_words(p->nodes), 8);
    in->many.words = hdx_mem_array(NULL, hdx_bits_words(p->nodes), 8);
    if (in->once == NULL || in->many.words == NULL)
        return hdx_no_memory(err, "references turned round", p->nodes / 4);
    if ((code = hdx_packed_referred(p, tick, in->once, in->many.words, err)) != HDX_OK || (code = WIDE(hdx_rank)(&in->many, p->nodes, NULL, err)) != HDX_OK)
        return code;
    in->edges = p->edges - (hdx_bits_count(in->once, hdx_bits_words(p->nodes)) - in->many.count);
    in->ends = hdx_mem_array(NULL, in->many.count, sizeof(NID));
    in->to = hdx_mem_array(NULL, in->edges, sizeof(NID));
    if (in->ends == NULL || in->to == NULL)
        return hdx_no_memory(err, "references turned round", (in->many.count + in->edges) * sizeof(NID));
    if ((code = WIDE(hdx_turn_count)(p, &in->many, 0, p->nodes, NULL, tick, in->ends, err)) != HDX_OK)
        return code;
    for (uint64_t i = 0; i < in->many.count; i++) {
        const NID n = in->ends[i];
        in->ends[i] = sum;
        sum = (NID)(sum + n);
    }
    return WIDE(hdx_turn_place)(p, &in->many, 0, p->nodes, NULL, tick, NULL, in->ends, in->to, err);
}

static void free_inbound(inbound *in)
{
    hdx_mem_put(NULL, in->to, in->edges * sizeof(NID));
    hdx_mem_put(NULL, in->ends, in->many.count * sizeof(NID));
    hdx_mem_put(NULL, in->many.before, hdx_bits_words(in->nodes) * sizeof(NID));
    hdx_mem_put(NULL, in->many.words, hdx_bits_words(in->nodes) * 8);
    hdx_mem_put(NULL, in->once, hdx_bits_words(in->nodes) * 8);
}

/* Bytes of the longest chunk, at the most. */
static uint64_t longest(const inbound *in)
{
    uint64_t most = 0;
    for (uint64_t first = 0; first < in->nodes; first += CHUNK) {
        const uint64_t end = in->nodes - first < CHUNK ? in->nodes : first + CHUNK;
        const uint64_t from = HDX_RANK(&in->many, first), to = end == in->nodes ? in->many.count : HDX_RANK(&in->many, end);
        const uint64_t n = to == from ? 0 : in->ends[to - 1] - (from == 0 ? 0 : in->ends[from - 1]);
        most = n > most ? n : most;
    }
    return 5 * (most + 2 * CHUNK);
}

/* ---- all of it ---- */
typedef struct work {
    hdx_packed        lists;
    WIDE(hdx_digraph) graph;
    inbound           in;
    uint64_t         *is_root, *live;
    memory_tape       preds, semis;
} work;

static hdx_code find_tree(work *k, unsigned threads, hdx_ticker *tick, WIDE(leak_tree) *out, hdx_error *err)
{
    const hdx_tape visits = out->search, preds = tape_of(&k->preds), semis = tape_of(&k->semis);
    uint64_t       edges, pred_count, semi_count;
    hdx_code       code;
    if ((code = WIDE(hdx_depth_first)(&k->graph, &visits, NULL, tick, &out->reached, &edges, &k->live, err)) != HDX_OK ||
        (code = turn(&k->lists, &k->in, tick, err)) != HDX_OK ||
        (code = WIDE(hdx_numbers)(&visits, out->reached, out->nodes, 1, NULL, &out->number, err)) != HDX_OK)
        return code;
    hdx_packed_free(&k->lists, NULL);
    const hdx_referrers referrers = { &k->in, (k->in.nodes + CHUNK - 1) / CHUNK, longest(&k->in), k->in.edges + k->in.nodes, read_chunk };
    if ((code = WIDE(hdx_predecessors)(out->number, out->reached, k->is_root, &referrers, UINT64_MAX, threads == 0 ? 1 : threads, NULL, tick, &preds,
                                       &pred_count, err)) != HDX_OK ||
        (code = WIDE(hdx_semidominators)(&visits, out->reached, &(hdx_preds){ &preds, pred_count }, &(hdx_preds){ NULL, 0 }, NULL, tick, &semis, &semi_count,
                                         err)) != HDX_OK)
        return code;
    out->idom_count = semi_count;
    return WIDE(hdx_dominators)(&visits, out->reached, &semis, semi_count, NULL, tick, &out->idoms, err);
}

hdx_code WIDE(leak_dominate)(uint64_t nodes, const NID *starts, NID *edges, const NID *roots, uint64_t root_count, unsigned threads, hdx_ticker *tick,
                             WIDE(leak_tree) *out, hdx_error *err)
{
    work         k = { .graph = { .outbound = &k.lists, .roots = roots, .root_count = root_count } };
    memory_tape *tapes = hdx_mem_array(NULL, 2, sizeof *tapes); /* the tree's: search, idoms */
    hdx_code     code;
    *out = (WIDE(leak_tree)){ .nodes = nodes };
    if (tapes == NULL)
        return hdx_no_memory(err, "dominators", 2 * sizeof *tapes);
    out->search = tape_of(tapes);
    out->idoms = tape_of(tapes + 1);
    if ((k.is_root = hdx_mem_array(NULL, hdx_bits_words(nodes), 8)) == NULL)
        code = hdx_no_memory(err, "roots", nodes / 8);
    else {
        for (uint64_t i = 0; i < root_count; i++)
            hdx_bits_put(k.is_root, roots[i]);
        if ((code = pack(&k.lists, nodes, starts, edges, err)) == HDX_OK)
            code = find_tree(&k, threads, tick, out, err);
    }
    hdx_packed_free(&k.lists, NULL);
    free_inbound(&k.in);
    hdx_mem_put(NULL, k.is_root, hdx_bits_words(nodes) * 8);
    hdx_mem_put(NULL, k.live, hdx_bits_words(nodes) * 8);
    tape_free(&k.preds);
    tape_free(&k.semis);
    return code;
}

void WIDE(leak_tree_free)(WIDE(leak_tree) *tree)
{
    hdx_mem_put(NULL, tree->number, tree->nodes * sizeof(NID));
    if (tree->search.context != NULL) {
        tape_free(tree->search.context);
        tape_free(tree->idoms.context);
        hdx_mem_put(NULL, tree->search.context, 2 * sizeof(memory_tape));
    }
    *tree = (WIDE(leak_tree)){ 0 };
}
