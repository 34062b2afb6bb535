/*
 * flow.c - which holder keeps memory alive: assigns each live object the holder from which a search from the GC roots
 * first reaches it.
 *
 * A holder is a static field, a thread (its locals and fields), or a GC root that is neither a class object nor a
 * thread. Class objects refer to each other through loaders, so a reference to a class object is not a holder; each of
 * its static fields is one. Holders can be removed: the search then does not follow their references and does not reach
 * what only they keep alive. One search without a set of holders therefore finds exactly what the set keeps alive
 * together.
 *
 * Searches run over nodes (nodes.h), which are computed once; only the references of classes and threads are read from
 * the graph. Breadth first, level by level, wide levels on all workers. If several holders reach a node on one level,
 * the one with the lowest number gets it, so that the result does not depend on timing.
 *
 * With holders removed, in up to 64 sets, a second kind of search finds the sets that lead to each unreached node: one
 * bit per set is propagated from node to node until nothing changes.
 *
 * Cost: that of the nodes, and 4 bytes and 2 bits per node; a search reads 4 bytes per reference between nodes. The
 * second kind reads them two or three times, and needs 8 more bytes per node.
 */
#include "query/common/dump_only.h"
#include "query/holding/flow.h"
#include "query/common/sweep.h"
#include "graph/graph.h"
#include "query/holding/nodes.h"

#include <stdatomic.h>

#define UNSEEN     UINT32_MAX
#define WIDE_LEVEL 16384u
#define SLICE      1024u

struct hdx_flow {
    const hdx_query  *q;
    hdx_nodes         nodes;
    uint64_t          objects, words; /* words: size of bit sets of objects */
    hdx_holder       *holders;        /* number 0: none */
    uint64_t          count, capacity;
    hdx_map           first;             /* class object, thread or root -> its first holder */
    uint64_t         *classes, *sources; /* bit sets: class objects; class objects and threads */
    uint64_t          count_of_nodes, node_words;
    uint64_t         *done;   /* nodes that were reached on an earlier level */
    _Atomic uint32_t *label;  /* holder number of each node */
    _Atomic uint64_t *sets;   /* bits of the sets of holders that lead to each node; NULL: the search computes labels */
    uint64_t         *queued; /* nodes of the next level, for a search that computes sets */
    hdx_ids           level, next, *found; /* nodes; found: one list per worker */
    unsigned          workers;
};

/* ---- list of holders ---- */

static hdx_code add_holder(hdx_flow *f, hdx_holder_kind kind, hdx_id from, hdx_id to, hdx_error *err)
{
    if (f->count >= UNSEEN ||
        !hdx_mem_room(f->q->mem, (void **)&f->holders, &f->capacity, f->count, sizeof *f->holders))
        return hdx_no_memory(err, "holders", f->count * sizeof *f->holders);
    f->holders[f->count++] = (hdx_holder){ .kind = kind, .from = from, .to = to };
    return HDX_OK;
}

static hdx_code begin_at(hdx_flow *f, hdx_id id, hdx_error *err)
{
    bool      fresh;
    uint64_t *first = hdx_map_put(&f->first, id, &fresh);
    if (first == NULL)
        return hdx_no_memory(err, "holders", f->first.count);
    *first = f->count;
    return HDX_OK;
}

/* Returns whether the reference is a static field; otherwise it leads to a class or to the class's loader. */
static bool is_static(const hdx_flow *f, const hdx_class *c, hdx_id to)
{
    return to < f->objects && !hdx_bits_test(f->classes, to) &&
           (c->loader == 0 ? to != 0 : hdx_graph_address(f->q->graph, to) != c->loader);
}

static hdx_code add_statics(hdx_flow *f, hdx_ask *ask, const hdx_class *c, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   to;
    hdx_code code = begin_at(f, c->id, err);
    hdx_graph_outbound(f->q->graph, c->id, HDX_LIVE, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &to))
        if (is_static(f, c, to) && (code = add_holder(f, HDX_HOLDER_STATIC, c->id, to, err)) == HDX_OK)
            code = hdx_ask_check_cancel(ask, err);
    return code;
}

static hdx_code add_holders(hdx_flow *f, hdx_ask *ask, hdx_error *err)
{
    uint32_t          class_count = 0;
    uint64_t          thread_count = 0, root_count = 0;
    const hdx_class  *classes = hdx_graph_classes(f->q->graph, &class_count);
    const hdx_thread *threads = hdx_graph_threads(f->q->graph, &thread_count);
    const hdx_root   *roots = hdx_graph_roots(f->q->graph, &root_count);
    hdx_code          code = add_holder(f, HDX_HOLDER_NONE, HDX_NO_ID, HDX_NO_ID, err);
    for (uint32_t i = 0; classes != NULL && i < class_count; i++)
        if (classes[i].id < f->objects) {
            hdx_bits_put(f->classes, classes[i].id);
            hdx_bits_put(f->sources, classes[i].id);
        }
    for (uint32_t i = 0; code == HDX_OK && classes != NULL && i < class_count; i++)
        if (classes[i].id < f->objects && hdx_graph_live(f->q->graph, classes[i].id))
            code = add_statics(f, ask, &classes[i], err);
    for (uint64_t i = 0; code == HDX_OK && threads != NULL && i < thread_count; i++) {
        const hdx_id id = threads[i].object;
        if (id >= f->objects || hdx_bits_test(f->sources, id) || !hdx_graph_live(f->q->graph, id))
            continue;
        hdx_bits_put(f->sources, id);
        if ((code = begin_at(f, id, err)) == HDX_OK)
            code = add_holder(f, HDX_HOLDER_THREAD, id, HDX_NO_ID, err);
    }
    for (uint64_t i = 0; code == HDX_OK && roots != NULL && i < root_count; i++) {
        const hdx_id id = roots[i].object;
        if (roots[i].thread != HDX_NO_ID || id >= f->objects || hdx_bits_test(f->sources, id) ||
            hdx_map_get(&f->first, id) != NULL)
            continue;
        if ((code = begin_at(f, id, err)) == HDX_OK)
            code = add_holder(f, HDX_HOLDER_ROOT, id, HDX_NO_ID, err);
    }
    return code;
}

hdx_code hdx_flow_open(hdx_ask *ask, hdx_flow **out, hdx_error *err)
{
    hdx_mem  *mem = ask->q.mem;
    hdx_flow *f = hdx_mem_get(mem, sizeof *f);
    *out = f;
    if (f == NULL)
        return hdx_no_memory(err, "holders", sizeof *f);
    f->q = &ask->q;
    f->objects = hdx_graph_objects(ask->g);
    f->words = hdx_bits_words(f->objects);
    f->first = hdx_map_of(mem);
    f->level = f->next = hdx_ids_of(mem);
    f->workers = hdx_ask_threads(&ask->q);
    f->classes = hdx_mem_array(mem, f->words, sizeof *f->classes);
    f->sources = hdx_mem_array(mem, f->words, sizeof *f->sources);
    f->found = hdx_mem_array(mem, f->workers, sizeof *f->found);
    for (unsigned i = 0; f->found != NULL && i < f->workers; i++)
        f->found[i] = hdx_ids_of(mem);
    if (f->classes == NULL || f->sources == NULL || f->found == NULL)
        return hdx_no_memory(err, "holders", f->words * sizeof *f->sources);
    hdx_code code = add_holders(f, ask, err);
    if (code != HDX_OK || (code = hdx_nodes_open(ask, f->sources, &f->nodes, err)) != HDX_OK)
        return code;
    f->count_of_nodes = f->nodes.at.count;
    f->node_words = hdx_bits_words(f->count_of_nodes);
    f->done = hdx_mem_array(mem, f->node_words, sizeof *f->done);
    f->label = hdx_mem_raw(mem, f->count_of_nodes, sizeof *f->label);
    return f->done != NULL && f->label != NULL ? HDX_OK
                                               : hdx_no_memory(err, "holders", f->count_of_nodes * sizeof *f->label);
}

hdx_holder *hdx_flow_holders(hdx_flow *f, uint64_t *count)
{
    *count = f->count;
    return f->holders;
}

void hdx_flow_exclude_dump_only(hdx_flow *f)
{
    const hdx_id object = hdx_dump_only_of(f->q->graph).object;
    for (uint64_t i = 1; object != HDX_NO_ID && i < f->count; i++)
        f->holders[i].removed = f->holders[i].to == object;
    hdx_dump_only_report(f->q);
}

/* ---- the search ---- */

/* mark: a holder number, or bits of sets. */
static hdx_code reach_node(hdx_flow *f, uint32_t to, uint64_t mark, hdx_ids *found, hdx_error *err)
{
    if (hdx_bits_test(f->done, to))
        return HDX_OK;
    if (f->sets != NULL) {
        const uint64_t before = atomic_fetch_or_explicit(&f->sets[to], mark, memory_order_relaxed);
        return (before | mark) != before && hdx_bits_set_shared(f->queued, to) ? hdx_ids_push(found, to, err) : HDX_OK;
    }
    const uint32_t label = (uint32_t)mark; /* there are fewer than UNSEEN holders */
    uint32_t       known = atomic_load_explicit(&f->label[to], memory_order_relaxed);
    while (label < known)
        if (atomic_compare_exchange_weak_explicit(&f->label[to], &known, label, memory_order_relaxed,
                                                  memory_order_relaxed))
            return known == UNSEEN ? hdx_ids_push(found, to, err) : HDX_OK;
    return HDX_OK;
}

/* A reference to a class object is not a holder. */
static uint64_t mark_at(const hdx_flow *f, hdx_id to, uint64_t mark)
{
    return f->sets == NULL && hdx_bits_test(f->classes, to) ? 0 : mark;
}

/* REQUIRES: `to` is the head of a node. */
static hdx_code reach_object(hdx_flow *f, hdx_id to, uint64_t mark, hdx_ids *found, hdx_error *err)
{
    const uint32_t node = to < f->objects ? f->nodes.of[to] : HDX_NO_NODE;
    return node == HDX_NO_NODE ? HDX_OK : reach_node(f, node, mark_at(f, to, mark), found, err);
}

/* Follows the references of a class object or a thread. */
static hdx_code follow_source(hdx_flow *f, hdx_id from, uint64_t mark, hdx_ids *found, hdx_error *err)
{
    const hdx_class *c = hdx_bits_test(f->classes, from) ? hdx_graph_class_object(f->q->graph, from) : NULL;
    const uint64_t  *first = hdx_map_get(&f->first, from);
    uint64_t         holder = first == NULL ? 0 : *first;
    hdx_code         code = HDX_OK;
    hdx_refs         refs;
    hdx_id           to;
    hdx_graph_outbound(f->q->graph, from, HDX_LIVE, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &to)) {
        const bool held = c == NULL || is_static(f, c, to);
        if (f->sets != NULL) /* the class or thread is only kept alive by these sets, and so are its references */
            code = reach_object(f, to, mark, found, err);
        else if (!held)
            code = reach_object(f, to, 0, found, err);
        else if (holder < f->count && !f->holders[holder].removed)
            code = reach_object(f, to, holder, found, err);
        holder += held && c != NULL;
    }
    return code;
}

static hdx_code scan_nodes(hdx_flow *f, uint64_t from, uint64_t to, hdx_ids *found, hdx_error *err)
{
    const hdx_nodes *n = &f->nodes;
    hdx_code         code = HDX_OK;
    for (uint64_t i = from; code == HDX_OK && i < to; i++) {
        const uint64_t node = f->level.at[i];
        const uint64_t mark = f->sets != NULL ? atomic_load_explicit(&f->sets[node], memory_order_relaxed)
                                              : atomic_load_explicit(&f->label[node], memory_order_relaxed);
        if (hdx_bits_test(f->sources, n->at.at[node]))
            code = follow_source(f, n->at.at[node], mark, found, err);
        for (uint64_t k = n->first[node]; code == HDX_OK && k < n->first[node + 1]; k++)
            if (!hdx_bits_test(f->done, n->to[k]))
                code = reach_node(f, n->to[k], mark_at(f, n->at.at[n->to[k]], mark), found, err);
    }
    return code;
}

static hdx_code scan_piece(void *context, uint64_t from, uint64_t to, unsigned worker, hdx_error *err)
{
    hdx_flow *f = context;
    return scan_nodes(f, from, to, &f->found[worker], err);
}

/* Processes one level; the nodes that it finds are the next one. */
static hdx_code process_level(hdx_flow *f, hdx_error *err)
{
    hdx_code code = HDX_OK;
    f->next.count = 0;
    if (f->level.count < WIDE_LEVEL || f->workers == 1) {
        code = scan_nodes(f, 0, f->level.count, &f->next, err);
    } else {
        for (unsigned n = 0; n < f->workers; n++)
            f->found[n].count = 0;
        const hdx_sweep_range level = { .count = f->level.count, .piece = SLICE, .workers = f->workers };
        code = hdx_sweep(f->q, &level, scan_piece, f, err);
        for (unsigned n = 0; n < f->workers && code == HDX_OK; n++)
            for (uint64_t i = 0; code == HDX_OK && i < f->found[n].count; i++)
                code = hdx_ids_push(&f->next, f->found[n].at[i], err);
    }
    const hdx_ids swapped = f->level;
    f->level = f->next;
    f->next = swapped;
    for (uint64_t i = 0; code == HDX_OK && i < f->level.count; i++)
        if (f->sets != NULL)
            hdx_bits_clear(f->queued, f->level.at[i]);
        else
            hdx_bits_put(f->done, f->level.at[i]);
    return code;
}

static hdx_code push_roots(hdx_flow *f, hdx_error *err)
{
    uint64_t        count = 0;
    const hdx_root *roots = hdx_graph_roots(f->q->graph, &count);
    hdx_code        code = HDX_OK;
    f->level.count = 0;
    for (uint64_t i = 0; code == HDX_OK && roots != NULL && i < count; i++) {
        const hdx_id    id = roots[i].object;
        const uint64_t *first = id < f->objects ? hdx_map_get(&f->first, id) : NULL;
        uint32_t        label = first == NULL ? 0 : (uint32_t)*first;
        if (roots[i].thread != HDX_NO_ID || id >= f->objects)
            continue;
        if (!hdx_bits_test(f->sources, id) && f->holders[label].removed)
            continue;
        code = reach_object(f, id, hdx_bits_test(f->sources, id) ? 0 : label, &f->level, err);
    }
    for (uint64_t i = 0; code == HDX_OK && i < f->level.count; i++)
        hdx_bits_put(f->done, f->level.at[i]);
    return code;
}

static uint64_t sum_by_holder(hdx_flow *f)
{
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < f->count_of_nodes; i++) {
        const uint32_t label = atomic_load_explicit(&f->label[i], memory_order_relaxed);
        if (label == UNSEEN)
            continue;
        f->holders[label].bytes += f->nodes.bytes[i];
        bytes += f->nodes.bytes[i];
    }
    return bytes;
}

static hdx_code process_levels(hdx_flow *f, hdx_error *err)
{
    uint64_t rounds = 0;
    hdx_code code = HDX_OK;
    while (code == HDX_OK && f->level.count > 0) {
        rounds += f->level.count;
        if (rounds >= 65536) {
            rounds = 0;
            code = hdx_ask_stopped(f->q, err);
        }
        if (code == HDX_OK)
            code = process_level(f, err);
    }
    return code;
}

hdx_code hdx_flow_run(hdx_flow *f, uint64_t *bytes, hdx_error *err)
{
    memset((void *)f->label, 0xff, f->count_of_nodes * sizeof *f->label);
    memset(f->done, 0, f->node_words * sizeof *f->done);
    for (uint64_t i = 0; i < f->count; i++)
        f->holders[i].bytes = 0;
    hdx_code code = push_roots(f, err);
    if (code == HDX_OK && (code = process_levels(f, err)) == HDX_OK)
        *bytes = sum_by_holder(f);
    return code;
}

bool hdx_flow_reached(const hdx_flow *f, hdx_id id)
{
    return id < f->objects && f->nodes.of[id] != HDX_NO_NODE && hdx_bits_test(f->done, f->nodes.of[id]);
}

/* ---- which sets of holders lead to the unreached nodes ---- */

/* Starts the search at the objects to which the holder refers and that are not reached without it. */
static hdx_code follow_holder(hdx_flow *f, const hdx_holder *h, uint64_t bit, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   to;
    hdx_code code = HDX_OK;
    if (h->kind == HDX_HOLDER_STATIC)
        return reach_object(f, h->to, bit, &f->level, err);
    if (h->kind == HDX_HOLDER_ROOT)
        return reach_object(f, h->from, bit, &f->level, err);
    hdx_graph_outbound(f->q->graph, h->from, HDX_LIVE, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &to))
        code = reach_object(f, to, bit, &f->level, err);
    return code;
}

static hdx_code sum_by_sets(const hdx_flow *f, hdx_flow_sums *sums, hdx_error *err)
{
    hdx_mem *mem = f->q->mem;
    hdx_map  places = hdx_map_of(mem);
    for (hdx_id first = 0; first < f->objects; first += HDX_RUN) {
        uint64_t       sizes[HDX_RUN];
        const uint32_t n = (uint32_t)(f->objects - first < HDX_RUN ? f->objects - first : HDX_RUN);
        hdx_graph_read_shallow(f->q->graph, first, n, sizes);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t node = f->nodes.of[first + i];
            const uint64_t bits = node == HDX_NO_NODE ? 0 : atomic_load_explicit(&f->sets[node], memory_order_relaxed);
            bool           fresh = false;
            if (bits == 0)
                continue;
            uint64_t *place = hdx_map_put(&places, bits, &fresh);
            if (place == NULL || (fresh && (sums->count >= HDX_FLOW_SUMS || !hdx_list_room(mem, HDX_LIST_REF(sums)))))
                return hdx_no_memory(err, "sets of holders", sums->count * sizeof *sums->at);
            if (fresh)
                sums->at[ *place = sums->count++] = (hdx_flow_sum){ .bits = bits };
            sums->at[*place].objects++;
            sums->at[*place].bytes += sizes[i];
        }
    }
    return HDX_OK;
}

hdx_code hdx_flow_split(hdx_flow *f, const hdx_flow_member *members, uint64_t count, hdx_flow_sums *sums,
                        hdx_error *err)
{
    hdx_mem *mem = f->q->mem;
    hdx_code code = HDX_OK;
    sums->count = 0;
    f->queued = hdx_mem_array(mem, f->node_words, sizeof *f->queued);
    f->sets = hdx_mem_array(mem, f->count_of_nodes, sizeof *f->sets);
    if (f->queued == NULL || f->sets == NULL)
        return hdx_no_memory(err, "holders", f->count_of_nodes * sizeof *f->sets);
    f->level.count = 0;
    for (uint64_t i = 0; code == HDX_OK && i < count; i++)
        code = follow_holder(f, &f->holders[members[i].holder], members[i].bit, err);
    for (uint64_t i = 0; i < f->level.count; i++)
        hdx_bits_clear(f->queued, f->level.at[i]);
    if (code == HDX_OK && (code = process_levels(f, err)) == HDX_OK)
        code = sum_by_sets(f, sums, err);
    hdx_mem_put(mem, (void *)f->sets, f->count_of_nodes * sizeof *f->sets);
    hdx_mem_put(mem, f->queued, f->node_words * sizeof *f->queued);
    f->sets = NULL;
    f->queued = NULL;
    return code;
}
