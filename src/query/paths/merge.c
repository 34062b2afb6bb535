/*
 * merge.c - one path for each of many objects, chosen so that the paths form a tree (MAT 6.9).
 *
 * MAT searches from all GC roots level by level, each level in id order, so the parent of an object is the lowest id
 * among its referrers on the previous level. The parent in the index (`nearest`) is also on that level, but not always
 * the lowest. It determines the level of any object; the lowest parent is then found among the referrers.
 *
 * Excluded references can only make paths longer. A path that uses none of them is therefore also the result of MAT's
 * search without them: its objects are on the same levels, and the lowest referrer on each previous level remains. Only
 * targets whose path uses an excluded reference are lost, and searched.
 *
 * An object is in the tree once, even if many paths lead through it: a climb ends at the first object that is already
 * in the tree.
 *
 * Cost of climbing: the referrers of the objects in the tree, at most 2 * STRIDE steps for each of them in addition to
 * steps that are new; 32 bytes for each of them. Cost of a search: the outbound lists of all objects that are nearer
 * than the targets, two bits per object and 16 bytes for each one reached.
 */
#include "query/paths/paths.h"
#include "query/sets/exclude.h"
#include "query/query.h"

#include <stdlib.h>

#define STRIDE 64u /* levels between two that are cached */

/* ---- climbing by the parents in the index ---- */

typedef struct tree {
    hdx_ask            *ask;
    const hdx_excludes *x;
    uint64_t            objects;
    hdx_map             depths; /* depths of visited objects on every STRIDE-th level */
    hdx_map             places; /* of objects in the tree; HDX_TREE_NONE: their path uses an excluded reference */
    hdx_path_tree      *out;
} tree;

static hdx_code put_value(hdx_map *map, uint64_t key, uint64_t value, hdx_error *err)
{
    bool      fresh;
    uint64_t *place = hdx_map_put(map, key, &fresh);
    if (place == NULL)
        return hdx_no_memory(err, "merged paths", map->count * sizeof *map->slots);
    *place = value;
    return HDX_OK;
}

static hdx_code damaged_path(hdx_id id, hdx_error *err)
{
    return hdx_fail(err, HDX_DAMAGED, "nearest", HDX_NOWHERE, "no path of object #%llu ends at a GC root",
                    (unsigned long long)id);
}

/* Counts references from a root. If there are more than `most`, returns some number above it. */
static hdx_code depth_of(tree *t, hdx_id id, uint64_t most, uint64_t *out, hdx_error *err)
{
    hdx_code        code = HDX_OK;
    hdx_id          v = id, parent;
    uint64_t        steps = 0;
    const uint64_t *known;
    while ((known = hdx_map_get(&t->depths, v)) == NULL && (parent = hdx_graph_nearest(t->ask->g, v)) != v) {
        if (parent >= t->objects || steps == t->objects) /* invariant 3 */
            return damaged_path(id, err);
        *out = ++steps;
        if (steps > most)
            return HDX_OK;
        if ((code = hdx_ask_check_cancel(t->ask, err)) != HDX_OK)
            return code;
        v = parent;
    }
    *out = steps + (known != NULL ? *known : 0);
    uint64_t depth = *out;
    for (v = id; code == HDX_OK && steps > 0; steps--, depth--, v = hdx_graph_nearest(t->ask->g, v))
        if (depth % STRIDE == 0)
            code = put_value(&t->depths, v, depth, err);
    return code;
}

/*
 * Finds the lowest referrer on the level before that of v. Short climbs are not cached, so they may end as soon as they
 * are too long.
 */
static hdx_code lowest_parent(tree *t, hdx_id v, uint64_t depth, hdx_id *parent, hdx_error *err)
{
    uint64_t most = depth <= STRIDE ? depth - 1 : UINT64_MAX, level;
    hdx_code code = HDX_OK;
    hdx_refs refs;
    hdx_id   from;
    *parent = hdx_graph_nearest(t->ask->g, v);
    hdx_graph_inbound(t->ask->g, v, HDX_LIVE, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &from)) {
        if (from < *parent && (code = depth_of(t, from, most, &level, err)) == HDX_OK && level == depth - 1)
            *parent = from;
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(t->ask, err);
    }
    return code;
}

/* Returns the index of an object in the tree, adding it if necessary; lost: also if it was lost before. */
static hdx_code index_of(tree *t, hdx_id id, bool lost, uint64_t *place, bool *fresh, hdx_error *err)
{
    hdx_path_tree *to = t->out;
    uint64_t      *known = hdx_map_put(&t->places, id, fresh);
    if (known == NULL)
        return hdx_no_memory(err, "merged paths", t->places.count * sizeof *t->places.slots);
    *fresh = *fresh || (lost && *known == HDX_TREE_NONE);
    if (*fresh) {
        if (!hdx_mem_room(to->mem, (void **)&to->at, &to->capacity, to->count, sizeof *to->at))
            return hdx_no_memory(err, "merged paths", to->count * sizeof *to->at);
        *known = to->count;
        to->at[to->count++] = (hdx_path_tree_node){ id, HDX_TREE_NONE };
    }
    *place = *known;
    return HDX_OK;
}

/* Removes the nodes from `first` on: no path without excluded references is known for them. */
static hdx_code remove_from(tree *t, uint64_t first, hdx_error *err)
{
    hdx_code code = HDX_OK;
    while (code == HDX_OK && t->out->count > first)
        code = put_value(&t->places, t->out->at[--t->out->count].id, HDX_TREE_NONE, err);
    return code;
}

static hdx_code climb_path(tree *t, hdx_id target, uint64_t *end, hdx_error *err)
{
    const uint64_t first = t->out->count;
    uint64_t       depth = 0, place = 0, parent = 0;
    hdx_id         v = target, up;
    bool           fresh = false, no = false;
    hdx_code       code;
    if (hdx_graph_nearest(t->ask->g, target) == HDX_NO_ID)
        return HDX_OK;
    if ((code = index_of(t, target, false, &place, &fresh, err)) == HDX_OK && fresh)
        code = depth_of(t, target, UINT64_MAX, &depth, err);
    *end = place;
    for (; code == HDX_OK && fresh && depth > 0; depth--, v = up) {
        if ((code = lowest_parent(t, v, depth, &up, err)) != HDX_OK)
            break;
        if (up >= t->objects)
            return damaged_path(target, err);
        if ((code = hdx_excludes_edge(t->x, up, v, &no, err)) != HDX_OK ||
            (!no && (code = index_of(t, up, false, &parent, &fresh, err)) != HDX_OK))
            break;
        if (!no && !fresh && parent != HDX_TREE_NONE && parent >= first) /* invariant 3: it would be its own ancestor */
            return damaged_path(target, err);
        if (no || parent == HDX_TREE_NONE) {
            *end = HDX_TREE_NONE;
            return remove_from(t, first, err);
        }
        t->out->at[place].parent = parent;
        place = parent;
    }
    return code;
}

/* ---- searching from the roots ---- */

#define NOWHERE UINT64_MAX

typedef struct reached_object {
    hdx_id   id;
    uint64_t from; /* index of its parent; NOWHERE for a root */
} reached_object;

typedef struct search {
    hdx_ask            *ask;
    const hdx_excludes *x;
    uint64_t            objects;
    uint64_t           *seen; /* bit set */
    reached_object     *queue;
    uint64_t            count, capacity;
    hdx_map             places; /* target -> its index in the queue; NOWHERE */
    uint64_t            missing;
} search;

static int by_id(const void *a, const void *b)
{
    const reached_object *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static hdx_code reach_object(search *s, hdx_id id, uint64_t from, hdx_error *err)
{
    if (!hdx_mem_room(s->ask->q.mem, (void **)&s->queue, &s->capacity, s->count, sizeof *s->queue))
        return hdx_no_memory(err, "a search", s->count * sizeof *s->queue);
    s->queue[s->count++] = (reached_object){ id, from };
    hdx_bits_put(s->seen, id);
    return HDX_OK;
}

static hdx_code expand_object(search *s, uint64_t place, hdx_error *err)
{
    const hdx_id    id = s->queue[place].id;
    const uint64_t *wanted = hdx_map_get(&s->places, id);
    hdx_code        code = HDX_OK;
    hdx_refs        refs;
    hdx_id          to;
    if (wanted != NULL) {
        s->missing--;
        code = put_value(&s->places, id, place, err);
    }
    hdx_graph_outbound(s->ask->g, id, HDX_LIVE, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &to)) {
        bool no = false;
        if (to < s->objects && !hdx_bits_test(s->seen, to) &&
            (code = hdx_excludes_edge(s->x, id, to, &no, err)) == HDX_OK && !no)
            code = reach_object(s, to, place, err);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(s->ask, err);
    }
    return code;
}

/*
 * The roots are the first level. The parent of an object is the first one that reaches it, because each level is
 * processed in id order.
 */
static hdx_code search_all(search *s, hdx_error *err)
{
    uint64_t        root_count = 0, level = 0, end;
    const hdx_root *roots = hdx_graph_roots(s->ask->g, &root_count);
    hdx_code        code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && roots != NULL && i < root_count; i++)
        if (roots[i].thread == HDX_NO_ID && roots[i].object < s->objects && !hdx_bits_test(s->seen, roots[i].object))
            code = reach_object(s, roots[i].object, NOWHERE, err);
    for (; code == HDX_OK && s->missing > 0 && level < s->count; level = end) {
        end = s->count;
        hdx_sort(s->ask->q.mem, s->queue + level, end - level, sizeof *s->queue, offsetof(reached_object, id), by_id);
        for (uint64_t i = level; code == HDX_OK && s->missing > 0 && i < end; i++)
            code = expand_object(s, i, err);
    }
    return code;
}

/* Adds the path back from a target, up to the first object that is already in the tree. */
static hdx_code add_path(const search *s, tree *t, uint64_t from, uint64_t *end, hdx_error *err)
{
    uint64_t place, below = HDX_TREE_NONE;
    hdx_code code = HDX_OK;
    bool     fresh = true;
    for (; code == HDX_OK && fresh && from != NOWHERE; from = s->queue[from].from) {
        if ((code = index_of(t, s->queue[from].id, true, &place, &fresh, err)) != HDX_OK)
            return code;
        if (below == HDX_TREE_NONE)
            *end = place;
        else
            t->out->at[below].parent = place;
        below = place;
        code = hdx_ask_check_cancel(s->ask, err);
    }
    return code;
}

/* Searches the live targets without a path. */
static hdx_code by_search(tree *t, const hdx_id *targets, size_t count, hdx_error *err)
{
    hdx_ask        *ask = t->ask;
    search          s = { .ask = ask, .x = t->x, .objects = t->objects, .places = hdx_map_of(ask->q.mem) };
    uint64_t        words = hdx_bits_words(s.objects);
    hdx_code        code = HDX_OK;
    const uint64_t *found;
    s.seen = hdx_mem_array(ask->q.mem, words, sizeof *s.seen);
    if (s.seen == NULL)
        code = hdx_no_memory(err, "a search", words * sizeof *s.seen);
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        if (t->out->ends[i] == HDX_TREE_NONE && hdx_graph_live(ask->g, targets[i]))
            code = put_value(&s.places, targets[i], NOWHERE, err);
    s.missing = s.places.count;
    if (code == HDX_OK && s.missing > 0)
        code = search_all(&s, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        if (t->out->ends[i] == HDX_TREE_NONE && (found = hdx_map_get(&s.places, targets[i])) != NULL)
            code = add_path(&s, t, *found, &t->out->ends[i], err);
    hdx_map_free(&s.places);
    hdx_mem_put(ask->q.mem, s.queue, s.capacity * sizeof *s.queue);
    hdx_mem_put(ask->q.mem, s.seen, words * sizeof *s.seen);
    return code;
}

static hdx_code build_tree(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count, bool all,
                           hdx_path_tree *out, hdx_error *err)
{
    tree     t = { ask, x, hdx_graph_objects(ask->g), hdx_map_of(ask->q.mem), hdx_map_of(ask->q.mem), out };
    hdx_code code = HDX_OK;
    bool     missing = false;
    *out = (hdx_path_tree){ .mem = ask->q.mem, .end_count = count };
    if ((out->ends = hdx_mem_array(out->mem, count, sizeof *out->ends)) == NULL)
        return hdx_no_memory(err, "merged paths", count * sizeof *out->ends);
    for (size_t i = 0; i < count; i++)
        out->ends[i] = HDX_TREE_NONE;
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        code = climb_path(&t, targets[i], &out->ends[i], err);
        missing = missing || out->ends[i] == HDX_TREE_NONE;
    }
    if (code == HDX_OK && all && missing && x->count > 0)
        code = by_search(&t, targets, count, err);
    hdx_map_free(&t.places);
    hdx_map_free(&t.depths);
    return code;
}

hdx_code hdx_path_tree_find(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count,
                            hdx_path_tree *out, hdx_error *err)
{
    return build_tree(ask, x, targets, count, true, out, err);
}

hdx_code hdx_path_tree_climb(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count,
                             hdx_path_tree *out, hdx_error *err)
{
    return build_tree(ask, x, targets, count, false, out, err);
}

hdx_code hdx_path_tree_paths(hdx_ask *ask, const hdx_path_tree *t, const hdx_id *targets, hdx_paths *out,
                             hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < t->end_count; i++) {
        code = hdx_path_begin(out, targets[i], err);
        for (uint64_t at = t->ends[i]; code == HDX_OK && at != HDX_TREE_NONE; at = t->at[at].parent)
            if ((code = hdx_path_step(out, t->at[at].id, err)) == HDX_OK)
                code = hdx_ask_check_cancel(ask, err);
        if (code == HDX_OK)
            hdx_path_reverse(out);
    }
    return code;
}

/* ---- merging paths that were found individually ---- */

typedef struct branch {
    const hdx_id *at;
    uint64_t      count;
    uint64_t      place; /* index of the path */
} branch;

static uint64_t common_steps(const branch *a, const branch *b)
{
    uint64_t n = 0, most = a->count < b->count ? a->count : b->count;
    while (n < most && a->at[n] == b->at[n])
        n++;
    return n;
}

static int by_steps(const void *a, const void *b)
{
    const branch *x = a, *y = b;
    uint64_t      n = common_steps(x, y);
    if (n == x->count || n == y->count)
        return (x->count > y->count) - (x->count < y->count);
    return x->at[n] < y->at[n] ? -1 : 1;
}

/* In the order of their steps, adds the steps of each path that it does not share with the previous one. */
static hdx_code add_branches(hdx_ask *ask, const branch *list, uint64_t n, hdx_path_tree *out, hdx_error *err)
{
    hdx_code code = HDX_OK;
    hdx_ids  previous = hdx_ids_of(out->mem); /* indexes of the steps of the previous path */
    for (uint64_t i = 0; code == HDX_OK && i < n; i++) {
        previous.count = i == 0 ? 0 : common_steps(&list[i], &list[i - 1]);
        for (uint64_t s = previous.count; code == HDX_OK && s < list[i].count; s++) {
            const uint64_t parent = s == 0 ? HDX_TREE_NONE : previous.at[s - 1];
            if (!hdx_mem_room(out->mem, (void **)&out->at, &out->capacity, out->count, sizeof *out->at))
                code = hdx_no_memory(err, "merged paths", out->count * sizeof *out->at);
            else if ((code = hdx_ids_push(&previous, out->count, err)) == HDX_OK)
                out->at[out->count++] = (hdx_path_tree_node){ list[i].at[s], parent };
        }
        if (code == HDX_OK) {
            out->ends[list[i].place] = previous.at[previous.count - 1];
            code = hdx_ask_check_cancel(ask, err);
        }
    }
    hdx_ids_drop(&previous);
    return code;
}

hdx_code hdx_path_tree_of(hdx_ask *ask, const hdx_paths *paths, hdx_path_tree *out, hdx_error *err)
{
    uint64_t n = 0, room = paths->count;
    hdx_code code;
    *out = (hdx_path_tree){ .mem = ask->q.mem, .end_count = room };
    out->ends = hdx_mem_array(out->mem, room, sizeof *out->ends);
    branch *list = hdx_mem_array(out->mem, room, sizeof *list);
    if (list == NULL || out->ends == NULL) {
        code = hdx_no_memory(err, "merged paths", room * sizeof *list);
    } else {
        for (uint64_t i = 0; i < room; i++) {
            out->ends[i] = HDX_TREE_NONE;
            if (paths->at[i].count > 0)
                list[n++] = (branch){ paths->steps.at + paths->at[i].first, paths->at[i].count, i };
        }
        if (n > 0)
            qsort(list, n, sizeof *list, by_steps);
        code = add_branches(ask, list, n, out, err);
    }
    hdx_mem_put(out->mem, list, room * sizeof *list);
    return code;
}

void hdx_path_tree_drop(hdx_path_tree *t)
{
    hdx_mem_put(t->mem, t->at, t->capacity * sizeof *t->at);
    hdx_mem_put(t->mem, t->ends, t->end_count * sizeof *t->ends);
    *t = (hdx_path_tree){ .mem = t->mem };
}
