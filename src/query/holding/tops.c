/*
 * tops.c - what groups of objects keep alive: the sum of the retained sizes of those that are not below another of
 * their group in the dominator tree (MAT 6.6).
 *
 * Each object first gets the nearest member of any group that dominates it. That makes a forest of members, which is
 * gone through from its roots, with a count for each group of how many of it are on the way down.
 * Cost: one bit an object of the heap and some 40 bytes a member; a step up the tree is made once for each object
 *       above members, but for chains between two members: of these each 64th object on average remembers what is
 * above.
 */
#include "graph/graph.h"
#include "query/holding/holding.h"
#include "query/query.h"

#define SAMPLE 63u /* of objects whose mixed id has these bits clear the nearest member above is remembered */
#define NONE   UINT64_MAX

typedef struct forest {
    hdx_ask        *ask;
    const hdx_pair *at;
    uint64_t        count, words;
    uint64_t       *member; /* bits by id */
    uint64_t       *clear;  /* nothing above is a member, nor it */
    hdx_map         nearest;
    hdx_ids         way;
    uint64_t       *above; /* place of the nearest member above; NONE */
    uint64_t       *first, *below;
    uint32_t       *on_way; /* by group */
} forest;

static uint64_t place_of(const forest *f, hdx_id id)
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

static hdx_code climb(forest *f, uint64_t place, hdx_error *err)
{
    const uint64_t objects = hdx_graph_objects(f->ask->g);
    hdx_id         id = hdx_graph_dominator(f->ask->g, f->at[place].first), found = HDX_NO_ID;
    hdx_code       code = HDX_OK;
    f->way.count = 0;
    while (code == HDX_OK && id < objects && f->way.count < objects) { /* invariant 3 */
        const bool      sampled = (hdx_mix64(id) & SAMPLE) == 0;
        const uint64_t *known = sampled ? hdx_map_get(&f->nearest, id) : NULL;
        if (hdx_bits_test(f->member, id) || known != NULL) {
            found = known != NULL ? *known : id;
            break;
        }
        if (hdx_bits_test(f->clear, id))
            break;
        code = hdx_ids_push(&f->way, id, err);
        id = hdx_graph_dominator(f->ask->g, id);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(f->ask, err);
    }
    for (uint64_t i = 0; code == HDX_OK && i < f->way.count; i++) {
        bool fresh;
        if (found == HDX_NO_ID) {
            hdx_bits_put(f->clear, f->way.at[i]);
        } else if ((hdx_mix64(f->way.at[i]) & SAMPLE) == 0) {
            uint64_t *known = hdx_map_put(&f->nearest, f->way.at[i], &fresh);
            if (known == NULL)
                code = hdx_no_memory(err, "dominators", f->nearest.count);
            else
                *known = found;
        }
    }
    f->above[place] = found == HDX_NO_ID ? NONE : place_of(f, found);
    return code;
}

/* Members by the one above: below[first[p]] .. below[first[p + 1] - 1]. next is where the next one goes. */
static void deal_out(forest *f, uint64_t *next)
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

/* Down from one root, and up again: next[] of a member is where among those below it the way goes on. */
static hdx_code go_down(forest *f, uint64_t root, uint64_t *next, uint64_t *retained, hdx_error *err)
{
    uint64_t at = root;
    hdx_code code = HDX_OK;
    for (bool down = true; code == HDX_OK;) {
        const uint64_t group = f->at[at].second;
        if (down && f->on_way[group]++ == 0)
            retained[group] += hdx_graph_retained(f->ask->g, f->at[at].first);
        down = next[at] < f->first[at + 1];
        if (down) {
            at = f->below[next[at]++];
        } else {
            f->on_way[group]--;
            if (at == root)
                break;
            at = f->above[at];
        }
        code = hdx_ask_check_cancel(f->ask, err);
    }
    return code;
}

static hdx_code sum(forest *f, uint64_t *retained, hdx_error *err)
{
    hdx_code  code = HDX_OK;
    uint64_t *next = hdx_mem_array(f->ask->q.mem, f->count, sizeof *next);
    if (next == NULL)
        return hdx_no_memory(err, "dominators", f->count * sizeof *next);
    deal_out(f, next);
    memcpy(next, f->first, f->count * sizeof *next);
    for (uint64_t i = 0; code == HDX_OK && i < f->count; i++)
        if (f->above[i] == NONE)
            code = go_down(f, i, next, retained, err);
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
    f.way = hdx_ids_of(mem);
    f.member = hdx_mem_array(mem, f.words, sizeof *f.member);
    f.clear = hdx_mem_array(mem, f.words, sizeof *f.clear);
    f.above = hdx_mem_array(mem, count, sizeof *f.above);
    f.below = hdx_mem_array(mem, count, sizeof *f.below);
    f.first = hdx_mem_array(mem, count + 1, sizeof *f.first);
    f.on_way = hdx_mem_array(mem, groups, sizeof *f.on_way);
    if (f.member == NULL || f.clear == NULL || f.above == NULL || f.below == NULL || f.first == NULL ||
        f.on_way == NULL)
        code = hdx_no_memory(err, "dominators", 2 * f.words * sizeof *f.member + 3 * count * sizeof *f.above);
    for (uint64_t i = 0; code == HDX_OK && i < count; i++)
        hdx_bits_put(f.member, members[i].first);
    for (uint64_t i = 0; code == HDX_OK && i < count; i++)
        code = climb(&f, i, err);
    if (code == HDX_OK)
        code = sum(&f, retained, err);
    hdx_map_free(&f.nearest);
    hdx_ids_drop(&f.way);
    hdx_mem_put(mem, f.member, f.words * sizeof *f.member);
    hdx_mem_put(mem, f.clear, f.words * sizeof *f.clear);
    hdx_mem_put(mem, f.above, count * sizeof *f.above);
    hdx_mem_put(mem, f.below, count * sizeof *f.below);
    hdx_mem_put(mem, f.first, (count + 1) * sizeof *f.first);
    hdx_mem_put(mem, f.on_way, groups * sizeof *f.on_way);
    return code;
}
