/*
 * accumulation.c - finds the accumulation point of a suspect, and what accumulates there (MAT 7.4, 7.5, 7.8).
 *
 * Of an object: goes down the dominator tree to the heaviest child while that has most of its parent's bytes. Of a
 * group: follows the merged paths of its members from the GC roots, while most of the paths share the next object. The
 * paths are a tree that contains each object once; paths and bytes of each object are summed from the leaves up.
 *
 * If so many paths of a group are lost that they could change the result, the heap is searched for them. MAT follows at
 * most 10,000 paths of a group, chosen at random; here every n-th path is used.
 *
 * Cost: the children of at most HDX_DROP_STEPS objects; the paths of a group, 72 bytes for each object on them.
 */
#include "query/holding/drop.h"
#include "query/paths/paths.h"
#include "query/sets/exclude.h"
#include "query/suspects/suspects.h"

#include <stdlib.h>

/* ---- sums by class ---- */

static void add_to_class(hdx_suspects *s, hdx_id id)
{
    const uint32_t c = hdx_graph_class_of(s->ask.g, id);
    if (c >= s->classes)
        return;
    if (s->sums[c].objects++ == 0)
        s->used[s->used_count++] = c;
    s->sums[c].bytes += hdx_graph_retained(s->ask.g, id);
}

static hdx_code sum_children(hdx_suspects *s, hdx_id of, uint64_t *seen, hdx_error *err)
{
    hdx_code code = HDX_OK;
    hdx_refs refs;
    hdx_id   id;
    hdx_graph_dominated(s->ask.g, of, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        add_to_class(s, id);
        code = hdx_count_child(&s->ask, seen, err);
    }
    return code;
}

static bool heavier(const hdx_class_sum *a, const hdx_class_sum *b)
{
    return a->bytes != b->bytes       ? a->bytes > b->bytes
           : a->objects != b->objects ? a->objects > b->objects
                                      : a->number < b->number;
}

/* Returns the heaviest classes in descending order and empties the working table. */
static void heaviest(hdx_suspects *s, hdx_class_sum *out, unsigned room, unsigned *count)
{
    *count = 0;
    for (uint32_t i = 0; i < s->used_count; i++) {
        hdx_class_sum one = s->sums[s->used[i]];
        one.number = s->used[i];
        s->sums[s->used[i]] = (hdx_class_sum){ 0, 0, 0 };
        unsigned at = *count < room ? (*count)++ : room;
        for (; at > 0 && heavier(&one, &out[at - 1]); at--)
            if (at < room)
                out[at] = out[at - 1];
        if (at < room)
            out[at] = one;
    }
    s->used_count = 0;
}

hdx_code hdx_suspect_sums(hdx_suspects *s, hdx_suspect *of, hdx_error *err)
{
    uint64_t     seen = 0, below = 0;
    hdx_code     code = HDX_OK;
    const hdx_id top = of->point != HDX_NO_ID ? of->point : of->object;
    if (top != HDX_NO_ID) {
        code = sum_children(s, top, &seen, err);
    } else {
        hdx_refs refs;
        hdx_id   id;
        hdx_graph_dominated(s->ask.g, HDX_VIRTUAL_ROOT, &refs);
        for (uint64_t members = 0; code == HDX_OK && members < of->objects && hdx_refs_next(&refs, &id);)
            if ((code = hdx_count_child(&s->ask, &seen, err)) == HDX_OK &&
                hdx_graph_class_of(s->ask.g, id) == of->number && hdx_graph_retained(s->ask.g, id) <= s->threshold) {
                members++;
                code = sum_children(s, id, &below, err);
            }
    }
    heaviest(s, of->sums, HDX_SUSPECT_SUMS, &of->sum_count);
    return code;
}

/* ---- the collection that it is or belongs to ---- */

#define SIZE_STEPS    (1u << 22) /* as many as counting the elements of a collection may need */
#define ELEMENTS_MOST 4096u      /* elements whose classes are compared */

/* Finds the class whose elements retain most. */
static hdx_code sum_elements(hdx_suspects *s, hdx_id collection, hdx_class_sum *out, hdx_error *err)
{
    hdx_entry_walk walk;
    hdx_entry      entry;
    bool           more = true;
    unsigned       classes = 0;
    hdx_code       code = hdx_entry_walk_begin(&walk, &s->contents, collection, SIZE_STEPS, err);
    for (unsigned i = 0; code == HDX_OK && i < ELEMENTS_MOST; i++) {
        if ((code = hdx_entry_walk_next(&walk, &entry, &more, err)) != HDX_OK || !more)
            break;
        const hdx_value *v = entry.has_value ? &entry.value : &entry.key;
        hdx_id           id;
        if (v->type == 2 && !v->absent && v->as.address != 0 && hdx_graph_find(s->ask.g, v->as.address, &id) &&
            hdx_graph_live(s->ask.g, id))
            add_to_class(s, id);
        code = hdx_ask_check_cancel(&s->ask, err);
    }
    hdx_entry_walk_end(&walk);
    heaviest(s, out, 1, &classes);
    return code;
}

bool hdx_suspect_is_collection(const hdx_suspects *s, hdx_id id)
{
    const hdx_layout *l =
        !s->has_contents || hdx_graph_kind(s->ask.g, id) != HDX_INSTANCE ? NULL : hdx_contents_layout(&s->contents, id);
    return l != NULL && !l->hidden && !l->unknown;
}

hdx_code hdx_suspect_elements(hdx_suspects *s, hdx_id collection, hdx_suspect_values *out, hdx_error *err)
{
    hdx_collection_facts facts;
    *out = (hdx_suspect_values){ 0 };
    const hdx_code code = hdx_contents_facts(&s->contents, collection, false, SIZE_STEPS, &facts, err);
    if (code != HDX_OK || !facts.sized)
        return code;
    out->known = true;
    out->count = facts.size;
    return facts.size > 0 ? sum_elements(s, collection, &out->value, err) : HDX_OK;
}

/* ---- the point of an object ---- */

static hdx_code point_of_object(hdx_suspects *s, hdx_suspect *of, hdx_error *err)
{
    hdx_id   at = of->object, child;
    uint64_t bytes = of->bytes, below, seen = 0;
    hdx_code code;
    for (unsigned depth = 0; (code = hdx_ids_push(&of->chain, at, err)) == HDX_OK; depth++) {
        if ((code = hdx_heaviest_child(&s->ask, at, s->only.object, &seen, &child, &below, err)) != HDX_OK)
            return code;
        if (child == HDX_NO_ID || (depth < HDX_DROP_STEPS && !hdx_drop_continues(below, bytes, s->drop))) {
            of->point = at;
            return HDX_OK;
        }
        if (depth >= HDX_DROP_STEPS)
            return HDX_OK;
        at = child;
        bytes = below;
    }
    return code;
}

/* ---- the point of a group ---- */

typedef struct path_sums { /* sums for the node with the same index */
    uint64_t paths, bytes;
    uint64_t children;    /* that are not summed yet */
    uint64_t first, next; /* the first child, the next child of the same parent; HDX_TREE_NONE: none */
} path_sums;

typedef struct sum_tree {
    path_sums *at;
    uint64_t   count; /* of nodes */
    uint64_t   first; /* root */
    uint64_t   found; /* paths */
} sum_tree;

/* Sums each node after all of its children. */
static hdx_code sum_paths(hdx_ask *ask, const hdx_path_tree *t, sum_tree *w, hdx_error *err)
{
    uint64_t  n = 0;
    uint64_t *ready = hdx_mem_array(t->mem, w->count, sizeof *ready);
    hdx_code  code = HDX_OK;
    if (ready == NULL)
        return hdx_no_memory(err, "merged paths", w->count * sizeof *ready);
    for (uint64_t i = 0; i < w->count; i++)
        if (w->at[i].children == 0)
            ready[n++] = i;
    while (code == HDX_OK && n > 0) {
        const uint64_t i = ready[--n], parent = t->at[i].parent;
        if (parent != HDX_TREE_NONE) {
            w->at[parent].paths += w->at[i].paths;
            w->at[parent].bytes += w->at[i].bytes;
            if (--w->at[parent].children == 0)
                ready[n++] = parent;
        }
        code = hdx_ask_check_cancel(ask, err);
    }
    hdx_mem_put(t->mem, ready, w->count * sizeof *ready);
    return code;
}

static void sum_tree_drop(const hdx_path_tree *t, sum_tree *w)
{
    hdx_mem_put(t->mem, w->at, w->count * sizeof *w->at);
    *w = (sum_tree){ NULL, 0, HDX_TREE_NONE, 0 };
}

static hdx_code sum_tree_of(hdx_ask *ask, const hdx_path_tree *t, const hdx_ids *members, sum_tree *w, hdx_error *err)
{
    *w = (sum_tree){ hdx_mem_array(t->mem, t->count, sizeof *w->at), t->count, HDX_TREE_NONE, 0 };
    if (w->at == NULL)
        return hdx_no_memory(err, "merged paths", t->count * sizeof *w->at);
    for (uint64_t i = 0; i < w->count; i++)
        w->at[i].first = HDX_TREE_NONE;
    for (uint64_t i = 0; i < w->count; i++) {
        const uint64_t parent = t->at[i].parent;
        uint64_t      *list = parent == HDX_TREE_NONE ? &w->first : &w->at[parent].first;
        w->at[i].next = *list;
        *list = i;
        if (parent != HDX_TREE_NONE)
            w->at[parent].children++;
    }
    for (uint64_t i = 0; i < members->count; i++)
        if (t->ends[i] != HDX_TREE_NONE) {
            w->found++;
            w->at[t->ends[i]].paths++;
            w->at[t->ends[i]].bytes += hdx_graph_retained(ask->g, members->at[i]);
        }
    return sum_paths(ask, t, w, err);
}

/* Returns the node with the most paths of a list; of equal ones, the lowest id. */
static uint64_t most_used(const hdx_path_tree *t, const sum_tree *w, uint64_t list)
{
    uint64_t best = HDX_TREE_NONE;
    for (uint64_t i = list; i < w->count; i = w->at[i].next)
        if (best == HDX_TREE_NONE || w->at[i].paths > w->at[best].paths ||
            (w->at[i].paths == w->at[best].paths && t->at[i].id < t->at[best].id))
            best = i;
    return best;
}

static hdx_id follow_paths(const hdx_path_tree *t, const sum_tree *w, uint64_t least, double drop)
{
    for (uint64_t at = most_used(t, w, w->first), next; at < w->count && w->at[at].paths > least; at = next) {
        next = most_used(t, w, w->at[at].first);
        if (next == HDX_TREE_NONE || (double)w->at[next].bytes / (double)w->at[at].bytes < drop)
            return t->at[at].id;
    }
    return HDX_NO_ID;
}

/* The paths in the index are sufficient if the missing ones could not change the result. */
static bool is_decided(const hdx_path_tree *t, const sum_tree *w, uint64_t members, uint64_t least)
{
    const uint64_t best = most_used(t, w, w->first);
    return w->found == members || (best == HDX_TREE_NONE ? 0 : w->at[best].paths) + (members - w->found) <= least;
}

static hdx_code point_of_group(hdx_suspects *s, hdx_suspect *of, const hdx_excludes *x, bool *none, hdx_error *err)
{
    const hdx_ids *members = &of->members;
    const size_t   count = (size_t)members->count;
    const uint64_t least = count * s->share / 100;
    hdx_path_tree  t;
    sum_tree       w = { NULL, 0, HDX_TREE_NONE, 0 };
    hdx_code       code = hdx_path_tree_climb(&s->ask, x, members->at, count, &t, err);
    if (code == HDX_OK)
        code = sum_tree_of(&s->ask, &t, members, &w, err);
    if (code == HDX_OK && x->count > 0 && !is_decided(&t, &w, count, least)) {
        sum_tree_drop(&t, &w);
        hdx_path_tree_drop(&t);
        if ((code = hdx_path_tree_find(&s->ask, x, members->at, count, &t, err)) == HDX_OK)
            code = sum_tree_of(&s->ask, &t, members, &w, err);
    }
    if (code == HDX_OK)
        of->point = follow_paths(&t, &w, least, s->drop);
    *none = w.found == 0;
    sum_tree_drop(&t, &w);
    hdx_path_tree_drop(&t);
    return code;
}

hdx_code hdx_suspect_point(hdx_suspects *s, hdx_suspect *of, hdx_error *err)
{
    const hdx_excludes all = { .g = s->ask.g, .mem = s->ask.q.mem };
    bool               none = false;
    of->point = HDX_NO_ID;
    if (of->object != HDX_NO_ID)
        return point_of_object(s, of, err);
    hdx_code code = point_of_group(s, of, &s->x, &none, err);
    return code == HDX_OK && none && s->x.count > 0 ? point_of_group(s, of, &all, &none, err) : code;
}
