/*
 * tops.c - what groups of objects keep alive: the sum of the retained sizes of those that no other member of their
 * group dominates (MAT 6.6).
 *
 * First finds the nearest member of any group that dominates each object. The members then form a forest, which is
 * traversed from its roots, with a counter for each group of its members on the current path.
 * Cost: one bit per object of the heap and some 40 bytes per member; each object above members is visited once, except
 * in chains between two members, where one in 64 objects caches the member above.
 */
#include "graph/graph.h"
#include "query/holding/holding.h"
#include "query/query.h"

#define SAMPLE 63u /* objects whose mixed id has these bits clear cache the nearest member above */
#define NONE   UINT64_MAX

typedef struct forest {
    hdx_ask        *ask;
    const hdx_pair *at;
    uint64_t        count, words;
    uint64_t       *member; /* bits by id */
    uint64_t       *clear;  /* bits by id: neither the object nor any object above it is a member */
    hdx_map         nearest;
    hdx_ids         path;
    uint64_t       *above; /* index of the nearest member above, or NONE */
    uint64_t       *first, *below;
    uint32_t       *on_path; /* by group: its members on the current path */
} forest;

static uint64_t index_of(const forest *f, hdx_id id)
{
    uint64_t low = 0;
    for (uint64_t high = f->count; low < high;) {
        const uint64_t middle = low + (high - low) / 2;
        if (f->at[middle].first < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static hdx_code find_parent(forest *f, uint64_t place, hdx_error *err)
{
    const uint64_t objects = hdx_graph_objects(f->ask->g);
    hdx_id         id = hdx_graph_dominator(f->ask->g, f->at[place].first), found = HDX_NO_ID;
    hdx_code       code = HDX_OK;
    f->path.count = 0;
    while (code == HDX_OK && id < objects && f->path.count < objects) { /* invariant 3 */
        const bool      sampled = (hdx_mix64(id) & SAMPLE) == 0;
        const uint64_t *known = sampled ? hdx_map_get(&f->nearest, id) : NULL;
        if (hdx_bits_test(f->member, id) || known != NULL) {
            found = known != NULL ? *known : id;
            break;
        }
        if (hdx_bits_test(f->clear, id))
            break;
        code = hdx_ids_push(&f->path, id, err);
        id = hdx_graph_dominator(f->ask->g, id);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(f->ask, err);
    }
    for (uint64_t i = 0; code == HDX_OK && i < f->path.count; i++) {
        bool fresh;
        if (found == HDX_NO_ID) {
            hdx_bits_put(f->clear, f->path.at[i]);
        } else if ((hdx_mix64(f->path.at[i]) & SAMPLE) == 0) {
            uint64_t *known = hdx_map_put(&f->nearest, f->path.at[i], &fresh);
            if (known == NULL)
                code = hdx_no_memory(err, "dominators", f->nearest.count);
            else
                *known = found;
        }
    }
    f->above[place] = found == HDX_NO_ID ? NONE : index_of(f, found);
    return code;
}

/* Sorts members by the one above: below[first[p]] .. below[first[p + 1] - 1]. next: where the next one is stored. */
static void sort_by_parent(forest *f, uint64_t *next)
{
    for (uint64_t i = 0; i < f->count; i++)
        if (f->above[i] != NONE)
            f->first[f->above[i] + 1]++;
    for (uint64_t i = 0; i < f->count; i++)
        f->first[i + 1] += f->first[i];
    memcpy(next, f->first, f->count * sizeof *next);
    for (uint64_t i = 0; i < f->count; i++)
        if (f->above[i] != NONE)
            f->below[next[f->above[i]]++] = i;
}

/* Traverses one tree depth first; next[] of a member is the position among those below it to continue with. */
static hdx_code traverse_tree(forest *f, uint64_t root, uint64_t *next, uint64_t *retained, hdx_error *err)
{
    uint64_t at = root;
    hdx_code code = HDX_OK;
    for (bool down = true; code == HDX_OK;) {
        const uint64_t group = f->at[at].second;
        if (down && f->on_path[group]++ == 0)
            retained[group] += hdx_graph_retained(f->ask->g, f->at[at].first);
        down = next[at] < f->first[at + 1];
        if (down) {
            at = f->below[next[at]++];
        } else {
            f->on_path[group]--;
            if (at == root)
                break;
            at = f->above[at];
        }
        code = hdx_ask_check_cancel(f->ask, err);
    }
    return code;
}

static hdx_code sum_groups(forest *f, uint64_t *retained, hdx_error *err)
{
    hdx_code  code = HDX_OK;
    uint64_t *next = hdx_mem_array(f->ask->q.mem, f->count, sizeof *next);
    if (next == NULL)
        return hdx_no_memory(err, "dominators", f->count * sizeof *next);
    sort_by_parent(f, next);
    memcpy(next, f->first, f->count * sizeof *next);
    for (uint64_t i = 0; code == HDX_OK && i < f->count; i++)
        if (f->above[i] == NONE)
            code = traverse_tree(f, i, next, retained, err);
    hdx_mem_put(f->ask->q.mem, next, f->count * sizeof *next);
    return code;
}

hdx_code hdx_groups_retained(hdx_ask *ask, const hdx_pair *members, uint64_t count, uint64_t groups, uint64_t *retained,
                             hdx_error *err)
{
    hdx_mem *mem = ask->q.mem;
    forest   f = { .ask = ask, .at = members, .count = count, .words = hdx_bits_words(hdx_graph_objects(ask->g)) };
    hdx_code code = HDX_OK;
    f.nearest = hdx_map_of(mem);
    f.path = hdx_ids_of(mem);
    f.member = hdx_mem_array(mem, f.words, sizeof *f.member);
    f.clear = hdx_mem_array(mem, f.words, sizeof *f.clear);
    f.above = hdx_mem_array(mem, count, sizeof *f.above);
    f.below = hdx_mem_array(mem, count, sizeof *f.below);
    f.first = hdx_mem_array(mem, count + 1, sizeof *f.first);
    f.on_path = hdx_mem_array(mem, groups, sizeof *f.on_path);
    if (f.member == NULL || f.clear == NULL || f.above == NULL || f.below == NULL || f.first == NULL ||
        f.on_path == NULL)
        code = hdx_no_memory(err, "dominators", 2 * f.words * sizeof *f.member + 3 * count * sizeof *f.above);
    for (uint64_t i = 0; code == HDX_OK && i < count; i++)
        hdx_bits_put(f.member, members[i].first);
    for (uint64_t i = 0; code == HDX_OK && i < count; i++)
        code = find_parent(&f, i, err);
    if (code == HDX_OK)
        code = sum_groups(&f, retained, err);
    hdx_map_free(&f.nearest);
    hdx_ids_drop(&f.path);
    hdx_mem_put(mem, f.member, f.words * sizeof *f.member);
    hdx_mem_put(mem, f.clear, f.words * sizeof *f.clear);
    hdx_mem_put(mem, f.above, count * sizeof *f.above);
    hdx_mem_put(mem, f.below, count * sizeof *f.below);
    hdx_mem_put(mem, f.first, (count + 1) * sizeof *f.first);
    hdx_mem_put(mem, f.on_path, groups * sizeof *f.on_path);
    return code;
}
