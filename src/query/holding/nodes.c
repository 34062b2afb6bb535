/*
 * nodes.c - condenses the live heap to few nodes (nodes.h).
 *
 * The first heads are the objects that the GC roots dominate immediately, the sources, and the objects to which sources
 * refer. Every other object belongs to the nearest head above it in the dominator tree. If a reference from another
 * node leads to such an object (which can only come from below, by way of a source inside the node), the object becomes
 * a head, too, with everything that it dominates and no other head does. This is repeated for the references of the
 * objects that moved, until there are none left. No reference can come from elsewhere, because the dominator of the
 * object would be further up then.
 *
 * Few heads have other heads above them; all other nodes need no check. Then the references between nodes are listed,
 * on all workers, and sorted by their source node.
 *
 * Cost: 4 bytes per object; 8 bytes per reference between nodes while they are sorted, then 4.
 */
#include "query/common/sweep.h"
#include "query/holding/nodes.h"

#include "graph/graph.h"

#define SLICE  1024u
#define RECENT 4096u /* references that a worker remembers to avoid duplicates */
#define ROOM   1024u /* references that are read at once */

typedef struct pass {
    hdx_nodes *n;
    hdx_ids    found[HDX_WORKERS_MAX];
    uint64_t  *recent[HDX_WORKERS_MAX];
    unsigned   workers;
} pass;

/* Processes all objects on all workers; each worker has its own results. */
static hdx_code run_slices(pass *p, hdx_sweep_piece *slice, hdx_error *err)
{
    const hdx_sweep_range all = { .count = p->n->objects, .piece = SLICE, .workers = p->workers };
    return hdx_sweep(&p->n->ask->q, &all, slice, p, err);
}

/* Processes n references of one object. */
typedef hdx_code take_refs(pass *p, hdx_id id, const hdx_id *to, uint64_t n, unsigned worker, hdx_error *err);

static hdx_code take_long(pass *p, hdx_id id, unsigned worker, take_refs *take, hdx_error *err)
{
    hdx_id   to[64];
    hdx_refs refs;
    uint64_t n;
    hdx_code code = HDX_OK;
    hdx_graph_outbound(p->n->ask->g, id, HDX_ALL, &refs); /* a live object refers to live objects only */
    while (code == HDX_OK && (n = hdx_refs_take(&refs, to, HDX_COUNT(to))) > 0)
        code = take(p, id, to, n, worker, err);
    return code;
}

/* Processes the references of the objects of a slice that are not sources and whose node is wanted. */
static hdx_code take_slice(pass *p, hdx_id from, hdx_id to, unsigned worker, bool (*wants)(const hdx_nodes *, hdx_id),
                           take_refs *take, hdx_error *err)
{
    hdx_graph *g = p->n->ask->g;
    uint32_t   classes[SLICE];
    uint64_t   lengths[SLICE];
    hdx_id     targets[ROOM];
    hdx_code   code = HDX_OK;
    hdx_graph_read_classes(g, from, (uint32_t)(to - from), classes);
    for (hdx_id id = from; code == HDX_OK && id < to;) {
        const uint32_t n = hdx_graph_read_outbound(g, id, (uint32_t)(to - id), lengths, targets, ROOM);
        if (n == 0) {
            code = wants(p->n, id) ? take_long(p, id, worker, take, err) : HDX_OK;
            id++;
        }
        for (uint64_t i = 0, at = 0; code == HDX_OK && i < n; at += lengths[i++], id++) {
            const hdx_class *class = wants(p->n, id) ? hdx_graph_class(g, classes[id - from]) : NULL;
            if (class != NULL && (code = take(p, id, &class->id, 1, worker, err)) == HDX_OK)
                code = take(p, id, targets + at, lengths[i], worker, err);
        }
    }
    return code;
}

static uint32_t node_of(const hdx_nodes *n, hdx_id id) { return __atomic_load_n(&n->of[id], __ATOMIC_RELAXED); }

static void assign_node(hdx_nodes *n, hdx_id id, uint32_t node)
{
    __atomic_store_n(&n->of[id], node, __ATOMIC_RELAXED);
}

static hdx_code not_a_tree(hdx_error *err)
{
    return hdx_fail(err, HDX_DAMAGED, "dominators", HDX_NOWHERE, "chain of dominators does not end at a GC root");
}

/* ---- heads ---- */

static hdx_code add_head(hdx_nodes *n, hdx_id id, hdx_error *err)
{
    if (n->at.count >= HDX_NO_NODE)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "too many nodes to number");
    hdx_bits_put(n->heads, id);
    assign_node(n, id, (uint32_t)n->at.count);
    return hdx_ids_push(&n->at, id, err);
}

/* Adds sources and their targets, and the objects that the roots dominate. */
static hdx_code first_heads(hdx_nodes *n, hdx_error *err)
{
    hdx_graph *g = n->ask->g;
    hdx_code   code = HDX_OK;
    for (hdx_id first = 0; code == HDX_OK && first < n->objects; first += HDX_RUN) {
        hdx_id         above[HDX_RUN];
        const uint32_t count = (uint32_t)(n->objects - first < HDX_RUN ? n->objects - first : HDX_RUN);
        hdx_graph_read_dominators(g, first, count, above);
        for (uint32_t i = 0; i < count; i++) {
            const hdx_id id = first + i;
            hdx_refs     refs;
            hdx_id       to;
            if (above[i] == HDX_VIRTUAL_ROOT)
                hdx_bits_put(n->heads, id);
            if (!hdx_bits_test(n->sources, id) || above[i] == HDX_NO_ID)
                continue;
            hdx_bits_put(n->heads, id);
            hdx_graph_outbound(g, id, HDX_LIVE, &refs);
            while (hdx_refs_next(&refs, &to))
                if (to < n->objects)
                    hdx_bits_put(n->heads, to);
        }
        code = hdx_ask_check_cancel(n->ask, err);
    }
    for (uint64_t w = 0; code == HDX_OK && w < hdx_bits_words(n->objects); w++)
        for (uint64_t bits = n->heads[w]; code == HDX_OK && bits != 0; bits &= bits - 1)
            code = add_head(n, 64 * w + (unsigned)__builtin_ctzll(bits), err);
    return code;
}

/* ---- every other object belongs to the head above it ---- */

static hdx_code assign_by_climbing(hdx_nodes *n, hdx_id id, hdx_id above, hdx_error *err)
{
    hdx_id   top = above;
    uint64_t steps = 0;
    while (top < n->objects && node_of(n, top) == HDX_NO_NODE && steps++ < n->objects)
        top = hdx_graph_dominator(n->ask->g, top);
    if (top >= n->objects || node_of(n, top) == HDX_NO_NODE)
        return not_a_tree(err);
    const uint32_t node = node_of(n, top);
    assign_node(n, id, node);
    for (hdx_id below = above; below < n->objects && node_of(n, below) == HDX_NO_NODE;
         below = hdx_graph_dominator(n->ask->g, below))
        assign_node(n, below, node);
    return HDX_OK;
}

static hdx_code climb_slice(void *context, hdx_id from, hdx_id to, unsigned worker, hdx_error *err)
{
    pass      *p = context;
    hdx_nodes *n = p->n;
    hdx_id     above[SLICE];
    hdx_code   code = HDX_OK;
    (void)worker;
    hdx_graph_read_dominators(n->ask->g, from, (uint32_t)(to - from), above);
    for (hdx_id id = from; code == HDX_OK && id < to; id++)
        if (above[id - from] != HDX_NO_ID && node_of(n, id) == HDX_NO_NODE)
            code = assign_by_climbing(n, id, above[id - from], err);
    return code;
}

/* ---- objects that are referenced from below become heads ---- */

static bool nested(const hdx_nodes *n, uint32_t node)
{
    return node < 64 * n->nested_words && hdx_bits_test(n->nested, node);
}

static hdx_code find_nested(hdx_nodes *n, hdx_error *err)
{
    n->nested_words = hdx_bits_words(n->at.count);
    if ((n->nested = hdx_mem_array(n->ask->q.mem, n->nested_words, sizeof *n->nested)) == NULL)
        return hdx_no_memory(err, "holders", n->nested_words * sizeof *n->nested);
    for (uint64_t i = 0; i < n->at.count; i++)
        if (hdx_graph_dominator(n->ask->g, n->at.at[i]) != HDX_VIRTUAL_ROOT)
            hdx_bits_put(n->nested, i);
    return HDX_OK;
}

/* Adds the targets that are inside other nodes. */
static hdx_code push_entered(const hdx_nodes *n, uint32_t node, const hdx_id *to, uint64_t count, hdx_ids *found,
                             hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < count; i++)
        if (to[i] < n->objects && node_of(n, to[i]) != node && !hdx_bits_test(n->heads, to[i]))
            code = hdx_ids_push(found, to[i], err);
    return code;
}

static hdx_code find_entered(const hdx_nodes *n, hdx_id id, hdx_ids *found, hdx_error *err)
{
    hdx_code code = HDX_OK;
    hdx_refs refs;
    hdx_id   to[64];
    uint64_t count;
    hdx_graph_outbound(n->ask->g, id, HDX_ALL, &refs);
    while (code == HDX_OK && (count = hdx_refs_take(&refs, to, HDX_COUNT(to))) > 0)
        code = push_entered(n, node_of(n, id), to, count, found, err);
    return code;
}

static hdx_code take_entered(pass *p, hdx_id id, const hdx_id *to, uint64_t count, unsigned worker, hdx_error *err)
{
    return push_entered(p->n, node_of(p->n, id), to, count, &p->found[worker], err);
}

static bool is_nested(const hdx_nodes *n, hdx_id id)
{
    const uint32_t node = node_of(n, id);
    return node != HDX_NO_NODE && nested(n, node) && !hdx_bits_test(n->sources, id);
}

static hdx_code entered_slice(void *context, hdx_id from, hdx_id to, unsigned worker, hdx_error *err)
{
    return take_slice(context, from, to, worker, is_nested, take_entered, err);
}

/*
 * Makes a node of the head and everything that it dominates and no other head does; examines the references of what
 * moved.
 */
static hdx_code split(hdx_nodes *n, hdx_id head, hdx_ids *moved, hdx_ids *found, hdx_error *err)
{
    const uint32_t node = (uint32_t)n->at.count;
    hdx_code       code = add_head(n, head, err);
    moved->count = 0;
    if (code == HDX_OK)
        code = hdx_ids_push(moved, head, err);
    for (uint64_t i = 0; code == HDX_OK && i < moved->count; i++) {
        hdx_refs below;
        hdx_id   id;
        hdx_graph_dominated(n->ask->g, moved->at[i], &below);
        while (code == HDX_OK && hdx_refs_next(&below, &id))
            if (id < n->objects && node_of(n, id) != node && !hdx_bits_test(n->heads, id)) {
                assign_node(n, id, node);
                code = hdx_ids_push(moved, id, err);
            }
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(n->ask, err);
    }
    for (uint64_t i = 0; code == HDX_OK && i < moved->count; i++)
        code = find_entered(n, moved->at[i], found, err);
    return code;
}

static hdx_code split_all(hdx_nodes *n, hdx_ids *found, hdx_error *err)
{
    hdx_ids  moved = hdx_ids_of(n->ask->q.mem);
    hdx_code code = HDX_OK;
    while (code == HDX_OK && found->count > 0) {
        const hdx_id id = found->at[--found->count];
        if (!hdx_bits_test(n->heads, id))
            code = split(n, id, &moved, found, err);
    }
    hdx_ids_drop(&moved);
    return code;
}

/* ---- bytes and references of nodes ---- */

static hdx_code add_bytes(hdx_nodes *n, hdx_error *err)
{
    if ((n->bytes = hdx_mem_array(n->ask->q.mem, n->at.count, sizeof *n->bytes)) == NULL)
        return hdx_no_memory(err, "holders", n->at.count * sizeof *n->bytes);
    for (uint64_t i = 0; i < n->at.count; i++) { /* retained size of the head, minus that of the heads below it */
        const uint64_t retained = hdx_graph_retained(n->ask->g, n->at.at[i]);
        const hdx_id   above = hdx_graph_dominator(n->ask->g, n->at.at[i]);
        n->bytes[i] += retained;
        if (above != HDX_VIRTUAL_ROOT) {
            if (above >= n->objects || node_of(n, above) == HDX_NO_NODE)
                return not_a_tree(err);
            n->bytes[node_of(n, above)] -= retained;
        }
    }
    return HDX_OK;
}

/* Lists references from node to node; most duplicates are omitted. */
static hdx_code list_refs(pass *p, hdx_id id, const hdx_id *to, uint64_t count, unsigned worker, hdx_error *err)
{
    const hdx_nodes *n = p->n;
    const uint64_t   node = node_of(n, id);
    uint64_t        *recent = p->recent[worker];
    hdx_code         code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < count; i++) {
        const uint32_t other = to[i] < n->objects ? node_of(n, to[i]) : HDX_NO_NODE;
        const uint64_t ref = node << 32 | other;
        uint64_t      *place = &recent[(ref * 0x9e3779b97f4a7c15u) >> 52];
        if (other == node || other == HDX_NO_NODE || *place == ref)
            continue;
        *place = ref;
        code = hdx_ids_push(&p->found[worker], ref, err);
    }
    return code;
}

static bool is_no_source(const hdx_nodes *n, hdx_id id)
{
    return node_of(n, id) != HDX_NO_NODE && !hdx_bits_test(n->sources, id);
}

static hdx_code refs_slice(void *context, hdx_id from, hdx_id to, unsigned worker, hdx_error *err)
{
    return take_slice(context, from, to, worker, is_no_source, list_refs, err);
}

static hdx_code sort_refs(hdx_nodes *n, pass *p, hdx_error *err)
{
    hdx_mem *mem = n->ask->q.mem;
    uint64_t refs = 0, sum = 0;
    for (unsigned w = 0; w < p->workers; w++)
        refs += p->found[w].count;
    n->first = hdx_mem_array(mem, n->at.count + 1, sizeof *n->first);
    n->to = hdx_mem_raw(mem, refs, sizeof *n->to);
    if (n->first == NULL || n->to == NULL)
        return hdx_no_memory(err, "holders", refs * sizeof *n->to);
    for (unsigned w = 0; w < p->workers; w++)
        for (uint64_t i = 0; i < p->found[w].count; i++)
            n->first[p->found[w].at[i] >> 32]++;
    /* first[] has the ends here; each becomes a begin while references are placed */
    for (uint64_t i = 0; i <= n->at.count; i++) {
        sum += n->first[i];
        n->first[i] = sum;
    }
    for (unsigned w = 0; w < p->workers; w++) {
        for (uint64_t i = 0; i < p->found[w].count; i++)
            n->to[--n->first[p->found[w].at[i] >> 32]] = (uint32_t)p->found[w].at[i];
        hdx_ids_drop(&p->found[w]);
    }
    return HDX_OK;
}

/* ---- all steps ---- */

static hdx_code make_nodes(hdx_nodes *n, pass *p, hdx_error *err)
{
    hdx_mem *mem = n->ask->q.mem;
    hdx_code code;
    if ((code = first_heads(n, err)) != HDX_OK || (code = run_slices(p, climb_slice, err)) != HDX_OK ||
        (code = find_nested(n, err)) != HDX_OK || (code = run_slices(p, entered_slice, err)) != HDX_OK)
        return code;
    for (unsigned w = 0; code == HDX_OK && w < p->workers; w++) {
        code = split_all(n, &p->found[w], err);
        p->recent[w] = hdx_mem_array(mem, RECENT, sizeof **p->recent);
        if (code == HDX_OK && p->recent[w] == NULL)
            code = hdx_no_memory(err, "holders", RECENT * sizeof **p->recent);
    }
    if (code != HDX_OK || (code = add_bytes(n, err)) != HDX_OK || (code = run_slices(p, refs_slice, err)) != HDX_OK)
        return code;
    return sort_refs(n, p, err);
}

hdx_code hdx_nodes_open(hdx_ask *ask, const uint64_t *sources, hdx_nodes *n, hdx_error *err)
{
    hdx_mem *mem = ask->q.mem;
    *n = (hdx_nodes){ .ask = ask, .objects = hdx_graph_objects(ask->g), .sources = sources, .at = hdx_ids_of(mem) };
    pass *p = hdx_mem_get(mem, sizeof *p);
    n->heads = hdx_mem_array(mem, hdx_bits_words(n->objects), sizeof *n->heads);
    n->of = hdx_mem_raw(mem, n->objects, sizeof *n->of);
    if (p == NULL || n->heads == NULL || n->of == NULL)
        return hdx_no_memory(err, "holders", n->objects * sizeof *n->of);
    p->n = n;
    p->workers = hdx_ask_threads(&ask->q);
    for (unsigned w = 0; w < p->workers; w++)
        p->found[w] = hdx_ids_of(mem);
    memset(n->of, 0xff, n->objects * sizeof *n->of);
    return make_nodes(n, p, err);
}
