/*
 * tree_wide.c - dominators of special objects, which do not follow from an only referrer, and the objects that each
 * dominates; the index files dominator, dominators, dominated.
 *
 * Memory (R objects reached; for ids of 4 bytes): nodes 4 R, then what special objects need.
 */
#include "passes/wide.h"

typedef struct tree {
    hdx_work         *w;
    const hdx_search *search;
    hdx_tree         *out;
    NID              *node;       /* by preorder number */
    WIDE(hdx_ranked)  special;    /* words belong to the search */
    NID              *dominator;  /* by rank in special: as in the index dominator */
    WIDE(hdx_ranked)  dominators; /* nodes that dominate a special object */
} tree;

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "the dominator tree", 0); }

static void free_ids(tree *k, NID **array, uint64_t count)
{
    hdx_mem_put(&k->w->mem, *array, count * sizeof(NID));
    *array = NULL;
}

static hdx_code take_dominators(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err)
{
    const tree *k = context;
    (void)err;
    for (uint64_t i = 0; i < n; i++) {
        assert(first + i < k->search->reached); /* P6 */
        const NID v = k->node[first + i + 1];
        if (hdx_bits_test(k->special.words, v))
            k->dominator[HDX_RANK(&k->special, v)] = idom[i] == 0 ? 1 : (NID)(k->node[idom[i]] + 2);
    }
    return HDX_OK;
}

/* Finds dominators of special objects, from the search and the dominators in preorder. */
static hdx_code find_dominators(tree *k, const hdx_temp *idoms, hdx_error *err)
{
    const hdx_idoms all = WIDE(hdx_search_idoms)(k->search, idoms);
    hdx_mem        *mem = &k->w->mem;
    hdx_code        code = WIDE(hdx_nodes)(&all.visits, mem, &k->node, err);
    k->special.words = k->search->special;
    if (code == HDX_OK && (code = WIDE(hdx_rank)(&k->special, k->w->objects, mem, err)) == HDX_OK &&
        (k->dominator = hdx_mem_array(mem, k->special.count, sizeof(NID))) == NULL)
        code = no_memory(err);
    if (code == HDX_OK)
        code = WIDE(hdx_each_idom)(&all, false, mem, take_dominators, k, err);
    free_ids(k, &k->node, all.visits.count + 1);
    return code;
}

static hdx_code fill_dominator(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const tree *k = context;
    (void)err;
    assert(first + n <= k->special.count); /* P8 */
    for (uint32_t i = 0; i < n; i++)
        values[i] = k->dominator[first + i];
    return HDX_OK;
}

/* Key of a special object's dominator in `dominated`: 0 is the virtual root, otherwise its rank + 1. */
static uint64_t key_of(const tree *k, NID dominator)
{
    return dominator == 1 ? 0 : 1 + HDX_RANK(&k->dominators, (uint64_t)dominator - 2);
}

typedef struct grouped {
    uint64_t keys;
    NID     *at, *to;
} grouped;

static hdx_code fill_group_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    const grouped *g = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        degrees[i] = (uint64_t)g->at[first + i + 1] - g->at[first + i];
    return HDX_OK;
}

static hdx_code fill_group(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    const grouped *g = context;
    uint64_t       key = hdx_upper_bound(HDX_NUMBERS(g->at, g->keys), first) - 1; /* the last that starts by `first` */
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        while (g->at[key + 1] <= first + i)
            key++;
        values[i] = g->to[first + i];
        keys[i] = key;
    }
    return HDX_OK;
}

/* Sorts special objects by their dominator: a counting sort. */
static hdx_code write_dominated(tree *k, hdx_error *err)
{
    hdx_work *w = k->w;
    grouped   g = { .keys = k->dominators.count + 1 };
    uint64_t  live = 0, count = k->special.count, id = 0;
    hdx_code  code;
    for (uint64_t i = 0; i < count; i++)
        live += k->dominator[i] != 0;
    g.at = hdx_mem_array(&w->mem, g.keys + 1, sizeof(NID));
    g.to = hdx_mem_array(&w->mem, live, sizeof(NID));
    NID *fill = hdx_mem_array(&w->mem, g.keys, sizeof(NID));
    if (g.at == NULL || g.to == NULL || fill == NULL) {
        code = no_memory(err);
        goto out;
    }
    for (uint64_t i = 0; i < count; i++)
        if (k->dominator[i] != 0)
            g.at[key_of(k, k->dominator[i]) + 1]++;
    for (uint64_t i = 0; i < g.keys; i++) {
        g.at[i + 1] = (NID)(g.at[i + 1] + g.at[i]);
        fill[i] = g.at[i];
    }
    assert(g.at[g.keys] == live); /* P8 */
    for (uint64_t i = 0; i < count; i++) {
        id = i == 0 ? WIDE(hdx_ranked_member)(&k->special, w->objects, 0) : WIDE(hdx_ranked_next)(&k->special, id);
        if (k->dominator[i] != 0)
            g.to[fill[key_of(k, k->dominator[i])]++] = (NID)id;
    }
    code = hdx_one_to_n_write(&w->place, HDX_KIND_DOMINATED, g.keys, live, fill_group_degrees, fill_group, &g,
                              &k->out->dominated, err);
out:
    free_ids(k, &fill, g.keys);
    free_ids(k, &g.to, live);
    free_ids(k, &g.at, g.keys + 1);
    return code;
}

static hdx_code write_dominators(tree *k, hdx_error *err)
{
    hdx_work *w = k->w;
    hdx_tree *out = k->out;
    hdx_code  code =
        hdx_ints_write(&w->place, HDX_KIND_DOMINATOR, k->special.count, fill_dominator, k, &out->dominator, err);
    if (code != HDX_OK)
        return code;
    if ((k->dominators.words = hdx_mem_array(&w->mem, hdx_bits_words(w->objects), 8)) == NULL)
        return no_memory(err);
    for (uint64_t i = 0; i < k->special.count; i++)
        if (k->dominator[i] > 1)
            hdx_bits_put(k->dominators.words, (uint64_t)k->dominator[i] - 2);
    if ((code = WIDE(hdx_rank)(&k->dominators, w->objects, &w->mem, err)) != HDX_OK ||
        (code = hdx_ranks_write(&w->place, HDX_KIND_DOMINATORS, w->objects, k->dominators.words, &out->dominators,
                                err)) != HDX_OK)
        return code;
    out->count = k->dominators.count;
    assert(out->count <= k->search->reached); /* P6 */
    return write_dominated(k, err);
}

hdx_code WIDE(hdx_pass_tree)(hdx_work *w, const hdx_search *search, const hdx_temp *idoms, hdx_tree *out,
                             hdx_error *err)
{
    const uint64_t words = hdx_bits_words(w->objects);
    tree           k = { .w = w, .search = search, .out = out };
    hdx_code       code = find_dominators(&k, idoms, err);
    if (code == HDX_OK)
        code = write_dominators(&k, err);
    free_ids(&k, &k.special.before, words);
    free_ids(&k, &k.dominator, k.special.count);
    hdx_mem_put(&w->mem, k.dominators.words, words * 8);
    free_ids(&k, &k.dominators.before, words);
    return code;
}
