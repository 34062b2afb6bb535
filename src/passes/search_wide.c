/*
 * search_wide.c - from the GC roots: live objects, nearest roots, special objects; the index files special and nearest.
 *
 * Memory (N objects): the packed lists, some 8 N bytes; bits; a stack for the depth-first search, a queue for the
 * breadth-first search; parents of the N/10 to N/3 objects that need one. The two searches run in parallel; neither can
 * be split, because each of its steps depends on the one before.
 */
#include "passes/wide.h"

typedef struct reach {
    hdx_work              *w;
    const hdx_dump_tables *t;
    const hdx_search_in   *in;
    hdx_search            *out;
    _Atomic uint64_t      *whole;
    WIDE(hdx_digraph)      graph;
    NID                   *class_object;
    NID                   *roots;
    uint64_t               root_capacity;
    WIDE(hdx_ranked)       wanted;  /* nodes whose parent may differ from their only referrer, live or not */
    NID                   *nearest; /* by rank in wanted */
    WIDE(hdx_ranked)       special; /* wanted, and garbage; words belong to the output */
} reach;

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "reachability", 0); }

static uint64_t words(const reach *r) { return hdx_bits_words(r->t->objects); }

static void free_ids(reach *r, NID **array, uint64_t count)
{
    hdx_mem_put(&r->w->mem, *array, count * sizeof(NID));
    *array = NULL;
}

/* ---- the graph ---- */
static hdx_code make_graph(reach *r, hdx_error *err)
{
    const hdx_dump_tables *t = r->t;
    if ((r->class_object = hdx_mem_array(&r->w->mem, t->class_count, sizeof(NID))) == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < t->class_count; i++)
        r->class_object[i] = (NID)t->classes[i].id;
    r->graph =
        (WIDE(hdx_digraph)){ .outbound = r->in->outbound, .classes = t->class_count, .class_object = r->class_object };
    return HDX_OK;
}

/* Roots in the order of the file, each object once. */
static hdx_code find_roots(reach *r, hdx_error *err)
{
    const hdx_dump_tables *t = r->t;
    hdx_search            *out = r->out;
    uint64_t               count = 0;
    r->root_capacity = t->root_count;
    r->roots = hdx_mem_array(&r->w->mem, r->root_capacity, sizeof(NID));
    if (out->is_root == NULL)
        out->is_root = hdx_mem_array(&r->w->mem, words(r), 8);
    if (out->is_root == NULL || r->roots == NULL)
        return no_memory(err);
    memset(out->is_root, 0, words(r) * 8); /* a checkpoint has filled it */
    for (uint64_t i = 0; i < t->root_count; i++)
        if (t->roots[i].thread == HDX_NO_ID && hdx_bits_set(out->is_root, t->roots[i].object))
            r->roots[count++] = (NID)t->roots[i].object;
    r->graph.roots = r->roots;
    assert(count <= t->root_count && count <= t->objects); /* T8 */
    r->graph.root_count = out->gc_roots = count;
    return HDX_OK;
}

/* ---- search ---- */
static hdx_code do_search(void *context, hdx_error *err)
{
    reach      *r = context;
    hdx_search *out = r->out;
    if (hdx_task_whole(r->whole, HDX_TASK_SEARCH))
        return HDX_OK;
    const hdx_resources with = hdx_work_resources(r->w);
    hdx_reached         found;
    const hdx_code      code = WIDE(hdx_depth_first)(&r->graph, &with, &out->file.tape, &found, err);
    out->reached = found.nodes;
    out->references = found.nodes + found.edges; /* plus one for the class of each object */
    out->live = found.live;
    assert(code != HDX_OK || (out->reached <= r->t->objects && out->gc_roots <= out->reached)); /* P6 */
    if (code == HDX_OK)
        hdx_task_done(r->whole, HDX_TASK_SEARCH);
    return code;
}

/* Clears bits of the last word that are not objects. */
static void clear_rest(const reach *r, uint64_t *bits)
{
    if (r->t->objects % 64 != 0)
        bits[words(r) - 1] &= (1ull << (r->t->objects % 64)) - 1;
}

/*
 * An object with exactly one reference to it that is neither a root nor a class object has that referrer as its
 * dominator and nearest parent (INDEX I10).
 */
static hdx_code find_wanted(reach *r, hdx_error *err)
{
    const hdx_referenced *referenced = r->in->referenced;
    if ((r->wanted.words = hdx_mem_array(&r->w->mem, words(r), 8)) == NULL)
        return no_memory(err);
    for (uint64_t i = 0; i < words(r); i++) {
        assert((referenced->many[i] & ~referenced->once[i]) == 0); /* P5 */
        r->wanted.words[i] = referenced->many[i] | ~referenced->once[i] | r->out->is_root[i];
    }
    clear_rest(r, r->wanted.words);
    for (uint32_t i = 0; i < r->t->class_count; i++) /* their instances refer to them, but are in no inbound list */
        hdx_bits_put(r->wanted.words, r->t->classes[i].id);
    return WIDE(hdx_rank)(&r->wanted, r->t->objects, &r->w->mem, err);
}

static hdx_code do_nearest(void *context, hdx_error *err)
{
    reach *r = context;
    if (hdx_task_whole(r->whole, HDX_TASK_NEAREST))
        return HDX_OK;
    const hdx_code code = find_wanted(r, err);
    if (code != HDX_OK)
        return code;
    if ((r->nearest = hdx_mem_array(&r->w->mem, r->wanted.count, sizeof(NID))) == NULL)
        return no_memory(err);
    const hdx_resources with = hdx_work_resources(r->w);
    return WIDE(hdx_nearest)(&r->graph, &r->wanted, &with, r->nearest, err);
}

/* Adds garbage to the wanted objects: the result is the special objects. */
static hdx_code find_special(reach *r, hdx_error *err)
{
    uint64_t *special = hdx_mem_array(&r->w->mem, words(r), 8);
    if (special == NULL)
        return no_memory(err);
    r->out->special = special;
    assert(r->out->live != NULL); /* P5: the search is complete */
    for (uint64_t i = 0; i < words(r); i++)
        special[i] = r->wanted.words[i] | ~r->out->live[i];
    clear_rest(r, special);
    r->out->specials = hdx_bits_count(special, words(r));
    return HDX_OK;
}

static hdx_code fill_nearest(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const reach *r = context;
    uint64_t     id = n == 0 ? 0 : WIDE(hdx_ranked_member)(&r->special, r->t->objects, first);
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        assert(hdx_bits_test(r->special.words, id)); /* P5 */
        const NID parent = hdx_bits_test(r->out->live, id) ? r->nearest[HDX_RANK(&r->wanted, id)] : NONE;
        values[i] = parent == NONE ? 0 : parent == id ? 1 : (uint64_t)parent + 2;
        if (i + 1 < n)
            id = WIDE(hdx_ranked_next)(&r->special, id);
    }
    return HDX_OK;
}

static hdx_code write_nearest(reach *r, hdx_error *err)
{
    hdx_work   *w = r->w;
    hdx_search *out = r->out;
    hdx_code    code;
    r->special.words = out->special;
    if ((code = WIDE(hdx_rank)(&r->special, r->t->objects, &w->mem, err)) != HDX_OK ||
        (code = hdx_ranks_write(&w->place, HDX_KIND_SPECIAL, r->t->objects, out->special, &out->special_file, err)) !=
            HDX_OK)
        return code;
    assert(r->special.count == out->specials); /* P5 */
    return hdx_ints_write(&w->place, HDX_KIND_NEAREST, out->specials, fill_nearest, r, &out->nearest_file, err);
}

static hdx_code do_write_nearest(void *context, hdx_error *err)
{
    reach   *r = context;
    hdx_code code;
    if (hdx_task_whole(r->whole, HDX_TASK_NEAREST))
        return HDX_OK;
    if ((code = find_special(r, err)) == HDX_OK && (code = write_nearest(r, err)) == HDX_OK)
        hdx_task_done(r->whole, HDX_TASK_NEAREST);
    return code;
}

hdx_code WIDE(hdx_pass_search)(hdx_work *w, const hdx_dump_tables *t, const hdx_search_in *in, _Atomic uint64_t *whole,
                               hdx_search *out, hdx_error *err)
{
    reach r = { .w = w, .t = t, .in = in, .out = out, .whole = whole };
    /*
     * The parallel task is last: towards its end all threads work on it, while the others use one each; and it uses the
     * memory that nearest roots free.
     */
    enum { SEARCH, NEAREST, WRITE, PARALLEL, TASKS };
    hdx_task all[TASKS] = {
        [SEARCH] = { do_search, &r, 0 },
        [NEAREST] = { do_nearest, &r, 0 },
        [WRITE] = { do_write_nearest, &r, 1u << SEARCH | 1u << NEAREST },
    };
    hdx_code code;
    if (in->parallel != NULL)
        all[PARALLEL] = *in->parallel;
    if ((code = make_graph(&r, err)) == HDX_OK && (code = find_roots(&r, err)) == HDX_OK &&
        (hdx_task_whole(whole, HDX_TASK_SEARCH) ||
         (code = hdx_temp_create(w, "search.tmp", &out->file, err)) == HDX_OK))
        code = hdx_run_tasks(w->threads, all, in->parallel != NULL ? TASKS : PARALLEL, err);
    free_ids(&r, &r.special.before, words(&r));
    free_ids(&r, &r.nearest, r.wanted.count);
    hdx_mem_put(&w->mem, r.wanted.words, words(&r) * 8);
    free_ids(&r, &r.wanted.before, words(&r));
    free_ids(&r, &r.class_object, t->class_count);
    free_ids(&r, &r.roots, r.root_capacity);
    return code;
}
