/*
 * reach_wide.c - from outbound lists to inbound lists, reachability, dominators, retained sizes and nearest roots.
 *
 * In:  outbound lists, classes of objects, roots.
 * Out: the indexes instances, outbound, inbound, special, dominator, nearest, dominators, dominated, retained; counts of live objects by
 *      class and heap.
 *
 * What is resident decides how large a dump fits, so each stage holds what it needs and no more (N objects, M references, in ids):
 *
 *     instances      class_of N, at N, lists N            written, freed
 *     search         outbound N + M, class_of N           depth first || breadth first; the searches go to a tape, bits say who lives
 *     transpose      outbound N + M, class_of N, inbound N + M
 *     semidominators inbound N + M, number N, links 2 N, instances of classes that are no roots
 *     dominators     number N, idom N, retained 2 N, node N
 *
 * The searches and the dominators are one chain that cannot be split (facts/ALGORITHMS 7.5); what does not depend on it runs beside
 * it: tasks that idle workers take from the front of a list.
 */
#include "build/passes.h"

#include <stdlib.h>

typedef struct reach {
    WIDE(hdx_pass)   *p;
    WIDE(hdx_digraph) graph;
    WIDE(hdx_lists)   inbound;
    WIDE(hdx_lists)   instances;   /* of classes whose object is live and no root */
    hdx_tape_file     tape;        /* the depth-first search */
    uint64_t          reached;
    uint64_t         *live;        /* bit set over nodes */
    NID              *class_object;
    NID              *roots;
    uint64_t          root_count, root_capacity;
    uint64_t         *is_root;
    WIDE(hdx_ranked)  wanted;      /* nodes that may have another parent than their only referrer, live or not */
    NID              *nearest;     /* by rank in wanted */
    NID              *number;      /* preorder number by node */
    NID              *node;        /* node by preorder number */
    NID              *idom;        /* by preorder number */
    uint64_t         *retained;    /* by preorder number */
    uint64_t         *special;     /* wanted, and garbage */
    NID              *specials;    /* their ids, ascending */
    uint64_t          special_count;
    WIDE(hdx_ranked)  dominators;  /* nodes that dominate a special object */
    WIDE(hdx_lists)   dominated;
} reach;

typedef hdx_code task(reach *r, hdx_error *err);
typedef struct tasks {
    reach           *r;
    task *const     *at;
    unsigned         count;
    _Atomic unsigned next;
    _Atomic int      failed;
    hdx_error        error;
    pthread_mutex_t  lock;
} tasks;

static void take_tasks(void *context, unsigned worker)
{
    tasks    *t = context;
    unsigned  i;
    hdx_error err;
    (void)worker;
    while (!atomic_load(&t->failed) && (i = atomic_fetch_add(&t->next, 1)) < t->count)
        if (t->at[i](t->r, &err) != HDX_OK) {
            (void)pthread_mutex_lock(&t->lock);
            if (!atomic_load(&t->failed))
                t->error = err;
            atomic_store(&t->failed, 1);
            (void)pthread_mutex_unlock(&t->lock);
        }
}

static hdx_code run_tasks(reach *r, task *const *list, unsigned count, hdx_error *err)
{
    tasks    t = { .r = r, .at = list, .count = count };
    unsigned threads = r->p->b->threads < count ? r->p->b->threads : count;
    (void)pthread_mutex_init(&t.lock, NULL);
    hdx_workers_run(threads, take_tasks, &t);
    (void)pthread_mutex_destroy(&t.lock);
    if (!atomic_load(&t.failed))
        return HDX_OK;
    if (err != NULL)
        *err = t.error;
    return t.error.code;
}

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "reachability", 0); }

static uint64_t words(const reach *r) { return hdx_bits_words(r->p->b->objects); }

static void free_words(reach *r, uint64_t **bits)
{
    hdx_mem_put(&r->p->b->mem, *bits, words(r) * 8);
    *bits = NULL;
}

static void free_ids(reach *r, NID **array, uint64_t count)
{
    hdx_mem_put(&r->p->b->mem, *array, count * sizeof(NID));
    *array = NULL;
}

static void free_ranked(reach *r, WIDE(hdx_ranked) *set)
{
    free_words(r, &set->words);
    free_ids(r, &set->before, words(r));
}

/* ---- the graph ---- */
static hdx_code make_graph(reach *r, hdx_error *err)
{
    WIDE(hdx_pass) *p = r->p;
    hdx_build      *b = p->b;
    r->class_object = hdx_mem_array(&b->mem, b->class_count, sizeof(NID));
    r->is_root = hdx_mem_array(&b->mem, words(r), 8);
    r->root_capacity = b->root_count;
    r->roots = hdx_mem_array(&b->mem, r->root_capacity, sizeof(NID));
    if (r->class_object == NULL || r->is_root == NULL || r->roots == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < b->class_count; i++)
        r->class_object[i] = (NID)b->classes[i].id;
    for (uint64_t i = 0; i < b->root_count; i++)
        if (b->roots[i].thread == HDX_NO_ID && hdx_bits_set(r->is_root, b->roots[i].object))
            r->roots[r->root_count++] = (NID)b->roots[i].object;
    r->graph = (WIDE(hdx_digraph)){ .nodes = b->objects, .outbound = p->outbound, .class_of = p->columns.class_of, .classes = b->class_count,
                                    .class_object = r->class_object, .roots = r->roots, .root_count = r->root_count };
    b->manifest.gc_roots = r->root_count;
    return HDX_OK;
}

/* ---- search ---- */
static hdx_code do_search(reach *r, hdx_error *err)
{
    hdx_build *b = r->p->b;
    return WIDE(hdx_depth_first)(&r->graph, &r->tape.tape, &b->mem, &b->tick, &r->reached, &r->live, err);
}

/* Whoever has exactly one reference to it, is no root and no class object, has that referrer for dominator and for nearest parent. */
static hdx_code find_wanted(reach *r, hdx_error *err)
{
    hdx_build             *b = r->p->b;
    const WIDE(hdx_lists) *out = &r->p->outbound;
    uint64_t              *once = hdx_mem_array(&b->mem, words(r), 8);
    hdx_code               code = HDX_OK;
    r->wanted.words = hdx_mem_array(&b->mem, words(r), 8); /* first: more than once */
    if (once == NULL || r->wanted.words == NULL) {
        code = no_memory(err);
        goto out;
    }
    for (uint64_t i = 0, n = out->at[out->n]; i < n; i++) {
        const uint64_t to = out->to[i], bit = 1ull << (to & 63), before = once[to >> 6];
        r->wanted.words[to >> 6] |= before & bit;
        once[to >> 6] = before | bit;
    }
    for (uint64_t i = 0; i < words(r); i++)
        r->wanted.words[i] |= ~once[i] | r->is_root[i];
    if (b->objects % 64 != 0)
        r->wanted.words[words(r) - 1] &= (1ull << (b->objects % 64)) - 1;
    for (uint32_t i = 0; i < b->class_count; i++) /* instances refer to it too, and stand in no inbound list */
        hdx_bits_put(r->wanted.words, b->classes[i].id);
    code = WIDE(hdx_rank)(&r->wanted, b->objects, &b->mem, err);
out:
    free_words(r, &once);
    return code;
}

static hdx_code do_nearest(reach *r, hdx_error *err)
{
    hdx_build *b = r->p->b;
    hdx_code   code = find_wanted(r, err);
    if (code != HDX_OK)
        return code;
    if ((r->nearest = hdx_mem_array(&b->mem, r->wanted.count, sizeof(NID))) == NULL)
        return no_memory(err);
    return WIDE(hdx_nearest)(&r->graph, &r->wanted, &b->mem, &b->tick, r->nearest, err);
}

/* ---- transpose ---- */
static hdx_code do_transpose(reach *r, hdx_error *err)
{
    WIDE(hdx_pass) *p = r->p;
    return WIDE(hdx_transpose)(&p->outbound, 1, &p->b->mem, &r->inbound, err);
}

static hdx_code do_write_outbound(reach *r, hdx_error *err) { return WIDE(hdx_pass_write_lists)(r->p, HDX_KIND_OUTBOUND, &r->p->outbound, 1, err); }

static void count_heap(hdx_heap_space *h, uint64_t shallow, bool live)
{
    h->objects++;
    h->bytes += shallow;
    h->live_objects += live;
    h->live_bytes += live ? shallow : 0;
}

/* Counts and bytes by class and heap, live and all; references between live objects (their class reference included). */
static hdx_code do_count(reach *r, hdx_error *err)
{
    WIDE(hdx_pass) *p = r->p;
    hdx_build      *b = p->b;
    hdx_manifest   *m = &b->manifest;
    uint64_t        shallow[HDX_SHALLOWS], all_bytes = 0, live_bytes = 0;
    uint32_t        classes[HDX_SHALLOWS];
    for (uint32_t i = 0; i < b->class_count; i++) {
        b->classes[i].instances = b->classes[i].live_instances = 0;
        b->classes[i].bytes = b->classes[i].live_bytes = 0;
    }
    m->references = 0;
    for (uint64_t first = 0; first < b->objects; first += HDX_SHALLOWS) {
        const uint32_t n = b->objects - first < HDX_SHALLOWS ? (uint32_t)(b->objects - first) : HDX_SHALLOWS;
        WIDE(hdx_pass_shallows)(p, first, n, shallow, classes);
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t id = first + i;
            const bool     live = hdx_bits_test(r->live, id);
            hdx_class     *c = &b->classes[classes[i]];
            c->instances++;
            c->bytes += shallow[i];
            all_bytes += shallow[i];
            if (live) {
                c->live_instances++;
                c->live_bytes += shallow[i];
                live_bytes += shallow[i];
                m->references += 1 + (uint64_t)p->outbound.at[id + 1] - p->outbound.at[id];
            }
            if (p->columns.heap != NULL && p->columns.heap[id] != 0)
                count_heap(&b->heaps[p->columns.heap[id] - 1], shallow[i], live);
        }
    }
    m->live_objects = r->reached;
    m->live_bytes = live_bytes;
    m->unreachable_objects = b->objects - r->reached;
    m->unreachable_bytes = all_bytes - live_bytes;
    m->all_references = b->objects + p->outbound.at[b->objects];
    m->classes = b->class_count;
    m->live_classes = m->live_loaders = 0;
    for (uint32_t i = 0; i < b->class_count; i++) {
        uint32_t up = i, steps = 0;
        m->live_classes += hdx_bits_test(r->live, b->classes[i].id);
        while (up != HDX_NO_CLASS && up != b->loader_class && steps++ < b->class_count)
            up = b->classes[up].super;
        if (up == b->loader_class)
            m->live_loaders += b->classes[i].live_instances;
    }
    return hdx_note_check(&p->note, err);
}

/* ---- dominators ---- */
/* The index has them all; in memory come those that are predecessors of a class object. */
static hdx_code load_instances(reach *r, hdx_error *err)
{
    hdx_build     *b = r->p->b;
    hdx_index_file file = { b->manifest.files[HDX_KIND_INSTANCES].bytes, b->manifest.files[HDX_KIND_INSTANCES].sum };
    hdx_one_to_n  *lists = NULL;
    uint64_t       total = 0, piece[256], first, length;
    hdx_code       code = hdx_one_to_n_open(&b->place, HDX_KIND_INSTANCES, &file, b->class_count, b->objects, &r->p->note, &lists, err);
    if (code != HDX_OK)
        return code;
    r->instances.n = b->class_count;
    r->instances.at = hdx_mem_array(&b->mem, (uint64_t)b->class_count + 1, sizeof(NID));
    if (r->instances.at == NULL) {
        code = no_memory(err);
        goto out;
    }
    for (uint32_t c = 0; c < b->class_count; c++) {
        const hdx_id object = b->classes[c].id;
        hdx_one_to_n_list(lists, c, &first, &length);
        total += hdx_bits_test(r->live, object) && !hdx_bits_test(r->is_root, object) ? length : 0;
        r->instances.at[c + 1] = (NID)total;
    }
    if ((r->instances.to = hdx_mem_array(&b->mem, total, sizeof(NID))) == NULL) {
        code = no_memory(err);
        goto out;
    }
    for (uint32_t c = 0; c < b->class_count; c++) {
        uint64_t n = (uint64_t)r->instances.at[c + 1] - r->instances.at[c];
        hdx_one_to_n_list(lists, c, &first, &length);
        for (uint64_t done = 0; done < n;) {
            const uint32_t part = n - done < 256 ? (uint32_t)(n - done) : 256;
            hdx_one_to_n_read(lists, c, first + done, part, piece);
            for (uint32_t i = 0; i < part; i++)
                r->instances.to[r->instances.at[c] + done + i] = (NID)piece[i];
            done += part;
        }
    }
    code = hdx_note_check(&r->p->note, err);
out:
    hdx_one_to_n_close(lists);
    return code;
}

static hdx_code do_dominators(reach *r, hdx_error *err)
{
    hdx_build *b = r->p->b;
    hdx_code   code;
    if ((code = load_instances(r, err)) != HDX_OK || (code = WIDE(hdx_numbers)(&r->tape.tape, r->reached, b->objects, &b->mem, &r->number, err)) != HDX_OK)
        return code;
    r->graph.inbound = r->inbound;
    r->graph.instances = r->instances;
    return WIDE(hdx_dominators)(&r->graph, r->number, r->reached, &r->tape.tape, &b->mem, &b->tick, &r->idom, err);
}

static hdx_code do_write_inbound(reach *r, hdx_error *err) { return WIDE(hdx_pass_write_lists)(r->p, HDX_KIND_INBOUND, &r->inbound, 1, err); }

static hdx_code sum_retained(reach *r, hdx_error *err)
{
    hdx_build *b = r->p->b;
    uint64_t   shallow[HDX_SHALLOWS];
    if ((r->retained = hdx_mem_array(&b->mem, r->reached + 1, 8)) == NULL)
        return no_memory(err);
    for (uint64_t first = 0; first < b->objects; first += HDX_SHALLOWS) {
        const uint32_t n = b->objects - first < HDX_SHALLOWS ? (uint32_t)(b->objects - first) : HDX_SHALLOWS;
        WIDE(hdx_pass_shallows)(r->p, first, n, shallow, NULL);
        for (uint32_t i = 0; i < n; i++)
            r->retained[r->number[first + i]] = shallow[i]; /* 0: garbage, all into one place that is cleared behind */
    }
    r->retained[0] = 0;
    WIDE(hdx_retained)(r->idom, r->reached, r->retained);
    return hdx_note_check(&r->p->note, err);
}

/* ---- what does not follow from the only referrer ---- */
static hdx_code find_specials(reach *r, hdx_error *err)
{
    hdx_build *b = r->p->b;
    if ((r->special = hdx_mem_array(&b->mem, words(r), 8)) == NULL)
        return no_memory(err);
    for (uint64_t i = 0; i < words(r); i++)
        r->special[i] = r->wanted.words[i] | ~r->live[i];
    if (b->objects % 64 != 0)
        r->special[words(r) - 1] &= (1ull << (b->objects % 64)) - 1;
    r->special_count = hdx_bits_count(r->special, words(r));
    if ((r->specials = hdx_mem_array(&b->mem, r->special_count, sizeof(NID))) == NULL)
        return no_memory(err);
    for (uint64_t i = 0, k = 0; i < words(r); i++)
        for (uint64_t w = r->special[i]; w != 0; w &= w - 1)
            r->specials[k++] = (NID)(64 * i + (uint64_t)__builtin_ctzll(w));
    return HDX_OK;
}

/* Key of a dominator in `dominated`: 0 the virtual root, else its rank + 1. */
static uint64_t key_of(const reach *r, uint64_t number)
{
    if (number == 0)
        return 0;
    const uint64_t id = r->node[number];
    return 1 + HDX_RANK(&r->dominators, id);
}

/* Special objects by their dominator: a counting sort. */
static hdx_code find_dominated(reach *r, hdx_error *err)
{
    hdx_build *b = r->p->b;
    uint64_t   n = 0;
    NID       *fill;
    hdx_code   code;
    if ((r->dominators.words = hdx_mem_array(&b->mem, words(r), 8)) == NULL)
        return no_memory(err);
    for (uint64_t i = 0; i < r->special_count; i++) {
        const uint64_t number = r->number[r->specials[i]];
        if (number != 0 && r->idom[number] != 0)
            hdx_bits_put(r->dominators.words, r->node[r->idom[number]]);
        n += number != 0;
    }
    if ((code = WIDE(hdx_rank)(&r->dominators, b->objects, &b->mem, err)) != HDX_OK)
        return code;
    r->dominated.n = r->dominators.count + 1;
    r->dominated.at = hdx_mem_array(&b->mem, r->dominated.n + 1, sizeof(NID));
    r->dominated.to = hdx_mem_array(&b->mem, n, sizeof(NID));
    fill = hdx_mem_array(&b->mem, r->dominated.n, sizeof(NID));
    if (r->dominated.at == NULL || r->dominated.to == NULL || fill == NULL) {
        free_ids(r, &fill, r->dominated.n);
        free_ids(r, &r->dominated.to, n);
        return no_memory(err);
    }
    for (uint64_t i = 0; i < r->special_count; i++) {
        const uint64_t number = r->number[r->specials[i]];
        if (number != 0)
            r->dominated.at[key_of(r, r->idom[number]) + 1]++;
    }
    for (uint64_t i = 0; i < r->dominated.n; i++) {
        r->dominated.at[i + 1] = (NID)(r->dominated.at[i + 1] + r->dominated.at[i]);
        fill[i] = r->dominated.at[i];
    }
    for (uint64_t i = 0; i < r->special_count; i++) {
        const uint64_t number = r->number[r->specials[i]];
        if (number != 0)
            r->dominated.to[fill[key_of(r, r->idom[number])]++] = r->specials[i];
    }
    free_ids(r, &fill, r->dominated.n);
    return HDX_OK;
}

static hdx_code fill_dominator(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const reach *r = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t number = r->number[r->specials[first + i]];
        values[i] = number == 0 ? 0 : r->idom[number] == 0 ? 1 : (uint64_t)r->node[r->idom[number]] + 2;
    }
    return HDX_OK;
}

static hdx_code fill_nearest(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const reach *r = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t id = r->specials[first + i];
        const NID      parent = hdx_bits_test(r->live, id) ? r->nearest[HDX_RANK(&r->wanted, id)] : NONE;
        values[i] = parent == NONE ? 0 : parent == id ? 1 : (uint64_t)parent + 2;
    }
    return HDX_OK;
}

static hdx_code fill_retained(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const reach *r = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t number = r->number[first + i];
        values[i] = number == 0 ? 0 : r->retained[number];
    }
    return HDX_OK;
}

static hdx_code write_reach(reach *r, hdx_error *err)
{
    hdx_build     *b = r->p->b;
    hdx_index_file file;
    hdx_code       code;
    if ((code = hdx_ints_write(&b->place, HDX_KIND_RETAINED, b->objects, fill_retained, r, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_RETAINED, &file);
    hdx_mem_put(&b->mem, r->retained, (r->reached + 1) * 8);
    r->retained = NULL;
    if ((code = WIDE(hdx_nodes)(&r->tape.tape, r->reached, &b->mem, &r->node, err)) != HDX_OK || (code = find_specials(r, err)) != HDX_OK ||
        (code = find_dominated(r, err)) != HDX_OK || (code = hdx_ranks_write(&b->place, HDX_KIND_SPECIAL, b->objects, r->special, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_SPECIAL, &file);
    if ((code = hdx_ints_write(&b->place, HDX_KIND_DOMINATOR, r->special_count, fill_dominator, r, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_DOMINATOR, &file);
    if ((code = hdx_ints_write(&b->place, HDX_KIND_NEAREST, r->special_count, fill_nearest, r, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_NEAREST, &file);
    if ((code = hdx_ranks_write(&b->place, HDX_KIND_DOMINATORS, b->objects, r->dominators.words, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_DOMINATORS, &file);
    b->manifest.specials = r->special_count;
    b->manifest.dominators = r->dominators.count;
    return WIDE(hdx_pass_write_lists)(r->p, HDX_KIND_DOMINATED, &r->dominated, b->threads, err);
}

static void free_reach(reach *r)
{
    hdx_build *b = r->p->b;
    hdx_mem   *mem = &b->mem;
    hdx_tape_file_close(&r->tape);
    WIDE(hdx_lists_free)(&r->inbound, mem);
    WIDE(hdx_lists_free)(&r->instances, mem);
    free_words(r, &r->live);
    free_ids(r, &r->class_object, b->class_count);
    free_ids(r, &r->roots, r->root_capacity);
    free_words(r, &r->is_root);
    free_ids(r, &r->nearest, r->wanted.count);
    free_ranked(r, &r->wanted);
    free_ids(r, &r->number, b->objects);
    free_ids(r, &r->node, r->reached + 1);
    free_ids(r, &r->idom, r->reached + 1);
    hdx_mem_put(mem, r->retained, (r->reached + 1) * 8);
    free_words(r, &r->special);
    free_ids(r, &r->specials, r->special_count);
    free_ranked(r, &r->dominators);
    WIDE(hdx_lists_free)(&r->dominated, mem);
}

/* Outbound lists and classes have served. */
static void free_outbound(WIDE(hdx_pass) *p)
{
    hdx_build *b = p->b;
    hdx_mem_put(&b->mem, p->outbound.to, b->manifest.outbound_values * sizeof(NID));
    hdx_mem_put(&b->mem, p->outbound.at, (b->objects + 1) * sizeof(NID));
    p->outbound.to = p->outbound.at = NULL;
    hdx_mem_put(&b->mem, p->columns.class_of, b->objects * sizeof *p->columns.class_of);
    p->columns.class_of = NULL;
}

hdx_code WIDE(hdx_pass_instances)(WIDE(hdx_pass) *p, hdx_error *err)
{
    hdx_build      *b = p->b;
    WIDE(hdx_lists) instances = { 0 };
    hdx_code        code = WIDE(hdx_group)(p->columns.class_of, b->objects, b->class_count, &b->mem, &instances, err);
    if (code == HDX_OK)
        code = WIDE(hdx_pass_write_lists)(p, HDX_KIND_INSTANCES, &instances, b->threads, err);
    WIDE(hdx_lists_free)(&instances, &b->mem);
    return code;
}

static hdx_code live_part(reach *r, hdx_error *err)
{
    static task *const search[] = { do_search, do_nearest };
    static task *const turn[] = { do_transpose, do_write_outbound, do_count };
    static task *const chain[] = { do_dominators, do_write_inbound };
    hdx_build         *b = r->p->b;
    hdx_code           code;
    hdx_manifest_step_begin(b, "search", 2 * b->objects, "objects");
    if ((code = hdx_tape_file_open(b, "search.tmp", &r->tape, err)) != HDX_OK || (code = run_tasks(r, search, 2, err)) != HDX_OK)
        return code;
    hdx_manifest_step_end(b);
    hdx_manifest_step_begin(b, "inbound", b->manifest.outbound_values, "references");
    if ((code = run_tasks(r, turn, 3, err)) != HDX_OK)
        return code;
    free_outbound(r->p);
    hdx_manifest_step_end(b);
    hdx_manifest_step_begin(b, "dominators", r->reached, "objects");
    if ((code = run_tasks(r, chain, 2, err)) != HDX_OK)
        return code;
    WIDE(hdx_lists_free)(&r->inbound, &b->mem);
    WIDE(hdx_lists_free)(&r->instances, &b->mem);
    hdx_manifest_step_end(b);
    hdx_manifest_step_begin(b, "retained", b->objects, "values");
    if ((code = sum_retained(r, err)) != HDX_OK || (code = write_reach(r, err)) != HDX_OK)
        return code;
    hdx_manifest_step_end(b);
    return HDX_OK;
}

hdx_code WIDE(hdx_pass_reach)(WIDE(hdx_pass) *p, bool dominators, hdx_error *err)
{
    static task *const turn[] = { do_transpose, do_write_outbound };
    static task *const write[] = { do_write_inbound };
    reach              r = { .p = p };
    hdx_code           code = make_graph(&r, err);
    if (code == HDX_OK && dominators)
        code = live_part(&r, err);
    else if (code == HDX_OK && (code = run_tasks(&r, turn, 2, err)) == HDX_OK)
        code = run_tasks(&r, write, 1, err);
    free_reach(&r);
    return code;
}
