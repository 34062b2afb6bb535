/*
 * merge.c - one path for each of many objects, chosen so that the paths join: the tree of merged paths (MAT 6.9).
 *
 * MAT searches from all GC roots level by level, each level in the order of ids, so the parent of an object is the
 * lowest id among its referrers on the level before. The parent that the index has (`nearest`) is on that level too,
 * though not always the lowest: so it tells the level of any object, and the lowest is found among the referrers. Where
 * references are excluded it says nothing, and the search is done.
 *
 * Cost without excludes: the referrers of the objects on the paths, at most 2 * STRIDE steps for each of them beside
 * those that nobody went before; memory for one object in STRIDE of deep paths. With excludes: the outbound lists of
 * what is nearer than the targets, two bits per object and 16 bytes for each one reached.
 */
#include "query/query.h"

#define STRIDE 64u /* levels between two that are remembered */

/* ---- by the parents in the index ---- */

typedef struct tree {
    hdx_ask   *ask;
    uint64_t   objects;
    hdx_map    depths;  /* of passed objects on every STRIDE-th level */
    hdx_map    parents; /* of objects with several referrers */
    hdx_paths *out;
} tree;

static hdx_code remember(hdx_map *map, uint64_t key, uint64_t value, hdx_error *err)
{
    bool      fresh;
    uint64_t *place = hdx_map_put(map, key, &fresh);
    if (place == NULL)
        return hdx_no_memory(err, "merged paths", map->count * sizeof *map->slots);
    *place = value;
    return HDX_OK;
}

/* Number of references from a root; where it is more than `most`, some number above that. */
static hdx_code depth_of(tree *t, hdx_id id, uint64_t most, uint64_t *out, hdx_error *err)
{
    hdx_code        code = HDX_OK;
    hdx_id          v = id, parent;
    uint64_t        steps = 0;
    const uint64_t *known;
    while ((known = hdx_map_get(&t->depths, v)) == NULL && (parent = hdx_graph_nearest(t->ask->g, v)) != v) {
        if (parent >= t->objects || steps == t->objects) /* invariant 3 */
            return hdx_fail(err, HDX_DAMAGED, "nearest", HDX_NOWHERE, "no path of object #%llu ends at a root",
                            (unsigned long long)id);
        *out = ++steps;
        if (steps > most)
            return HDX_OK;
        if ((code = hdx_ask_turn(t->ask, err)) != HDX_OK)
            return code;
        v = parent;
    }
    *out = steps + (known != NULL ? *known : 0);
    uint64_t depth = *out;
    for (v = id; code == HDX_OK && steps > 0; steps--, depth--, v = hdx_graph_nearest(t->ask->g, v))
        if (depth % STRIDE == 0)
            code = remember(&t->depths, v, depth, err);
    return code;
}

/*
 * The lowest referrer on the level before that of v. A walk of a few steps is not worth remembering, so it may end as
 * soon as it is too long.
 */
static hdx_code lowest_parent(tree *t, hdx_id v, uint64_t depth, hdx_id *parent, hdx_error *err)
{
    const uint64_t *known = hdx_map_get(&t->parents, v);
    uint64_t        referrers = 0, most = depth <= STRIDE ? depth - 1 : UINT64_MAX, level;
    hdx_code        code = HDX_OK;
    hdx_refs        refs;
    hdx_id          from;
    *parent = known != NULL ? *known : hdx_graph_nearest(t->ask->g, v);
    if (known != NULL)
        return HDX_OK;
    hdx_graph_inbound(t->ask->g, v, HDX_LIVE, &refs);
    for (; code == HDX_OK && hdx_refs_next(&refs, &from); referrers++) {
        if (from < *parent && (code = depth_of(t, from, most, &level, err)) == HDX_OK && level == depth - 1)
            *parent = from;
        if (code == HDX_OK)
            code = hdx_ask_turn(t->ask, err);
    }
    return code == HDX_OK && referrers > 1 ? remember(&t->parents, v, *parent, err) : code;
}

static hdx_code climb(tree *t, hdx_id target, hdx_error *err)
{
    hdx_code code = hdx_path_begin(t->out, target, err);
    uint64_t depth = 0;
    hdx_id   v = target;
    if (code != HDX_OK || hdx_graph_nearest(t->ask->g, target) == HDX_NO_ID)
        return code;
    if ((code = depth_of(t, target, UINT64_MAX, &depth, err)) != HDX_OK)
        return code;
    while ((code = hdx_path_step(t->out, v, err)) == HDX_OK && depth > 0 &&
           (code = lowest_parent(t, v, depth, &v, err)) == HDX_OK)
        depth--;
    if (code == HDX_OK)
        hdx_path_reverse(t->out);
    return code;
}

/* ---- by a search from the roots ---- */

#define NOWHERE UINT64_MAX

typedef struct reached {
    hdx_id   id;
    uint64_t from; /* place of its parent; NOWHERE for a root */
} reached;

typedef struct search {
    hdx_ask            *ask;
    const hdx_excludes *x;
    uint64_t            objects;
    uint64_t           *seen; /* bit set */
    reached            *queue;
    uint64_t            count, capacity;
    hdx_map             places; /* target -> its place in the queue; NOWHERE */
    uint64_t            missing;
} search;

static int by_id(const void *a, const void *b)
{
    const reached *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static hdx_code reach(search *s, hdx_id id, uint64_t from, hdx_error *err)
{
    if (!hdx_mem_room(s->ask->q.mem, (void **)&s->queue, &s->capacity, s->count, sizeof *s->queue))
        return hdx_no_memory(err, "a search", s->count * sizeof *s->queue);
    s->queue[s->count++] = (reached){ id, from };
    hdx_bits_put(s->seen, id);
    return HDX_OK;
}

static hdx_code expand(search *s, uint64_t place, hdx_error *err)
{
    const hdx_id    id = s->queue[place].id;
    const uint64_t *wanted = hdx_map_get(&s->places, id);
    hdx_code        code = HDX_OK;
    hdx_refs        refs;
    hdx_id          to;
    if (wanted != NULL) {
        s->missing--;
        code = remember(&s->places, id, place, err);
    }
    hdx_graph_outbound(s->ask->g, id, HDX_LIVE, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &to)) {
        bool no = false;
        if (to < s->objects && !hdx_bits_test(s->seen, to) &&
            (code = hdx_excludes_edge(s->x, id, to, &no, err)) == HDX_OK && !no)
            code = reach(s, to, place, err);
        if (code == HDX_OK)
            code = hdx_ask_turn(s->ask, err);
    }
    return code;
}

/*
 * The roots are the first level. A parent is the first that reaches an object: levels are walked in the order of ids.
 */
static hdx_code search_all(search *s, hdx_error *err)
{
    uint64_t        root_count = 0, level = 0, end;
    const hdx_root *roots = hdx_graph_roots(s->ask->g, &root_count);
    hdx_code        code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && roots != NULL && i < root_count; i++)
        if (roots[i].thread == HDX_NO_ID && roots[i].object < s->objects && !hdx_bits_test(s->seen, roots[i].object))
            code = reach(s, roots[i].object, NOWHERE, err);
    for (; code == HDX_OK && s->missing > 0 && level < s->count; level = end) {
        end = s->count;
        hdx_sort(s->ask->q.mem, s->queue + level, end - level, sizeof *s->queue, offsetof(reached, id), by_id);
        for (uint64_t i = level; code == HDX_OK && s->missing > 0 && i < end; i++)
            code = expand(s, i, err);
    }
    return code;
}

static hdx_code note(const search *s, hdx_id target, hdx_paths *out, hdx_error *err)
{
    uint64_t place = *hdx_map_get(&s->places, target);
    hdx_code code = hdx_path_begin(out, target, err);
    for (; code == HDX_OK && place != NOWHERE; place = s->queue[place].from)
        if ((code = hdx_path_step(out, s->queue[place].id, err)) == HDX_OK)
            code = hdx_ask_turn(s->ask, err);
    if (code == HDX_OK)
        hdx_path_reverse(out);
    return code;
}

static hdx_code by_search(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count, hdx_paths *out,
                          hdx_error *err)
{
    search   s = { .ask = ask, .x = x, .objects = hdx_graph_objects(ask->g), .places = hdx_map_of(ask->q.mem) };
    uint64_t words = hdx_bits_words(s.objects);
    hdx_code code = HDX_OK;
    s.seen = hdx_mem_array(ask->q.mem, words, sizeof *s.seen);
    if (s.seen == NULL)
        code = hdx_no_memory(err, "a search", words * sizeof *s.seen);
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        code = remember(&s.places, targets[i], NOWHERE, err);
    s.missing = s.places.count;
    if (code == HDX_OK)
        code = search_all(&s, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        code = note(&s, targets[i], out, err);
    hdx_map_free(&s.places);
    hdx_mem_put(ask->q.mem, s.queue, s.capacity * sizeof *s.queue);
    hdx_mem_put(ask->q.mem, s.seen, words * sizeof *s.seen);
    return code;
}

hdx_code hdx_paths_merge(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count, hdx_paths *out,
                         hdx_error *err)
{
    tree     t = { ask, hdx_graph_objects(ask->g), hdx_map_of(ask->q.mem), hdx_map_of(ask->q.mem), out };
    hdx_code code = HDX_OK;
    if (x->count > 0)
        return by_search(ask, x, targets, count, out, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        code = climb(&t, targets[i], err);
    hdx_map_free(&t.parents);
    hdx_map_free(&t.depths);
    return code;
}
