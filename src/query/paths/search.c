/*
 * search.c - shortest paths from the GC roots to given objects.
 *
 * One path without excludes: the index has each object's parent on a shortest path, so the cost is the path's length.
 * Otherwise breadth first over inbound references from the target (MAT 6.7, 6.8): referrers of an object in the queue
 * that are GC roots end a path, the others are queued once. So no path passes through a root, and paths are found in
 * order of length. A referrer whose references to the object are all excluded is skipped. Cost: two bits per object,
 * and 16 bytes per queued one.
 */
#include "query/paths/paths.h"
#include "query/sets/exclude.h"
#include "query/query.h"

typedef struct queued {
    hdx_id   id;
    uint64_t towards; /* index in the queue of the object to which this one refers */
} queued;

typedef struct search {
    hdx_ask            *ask;
    const hdx_excludes *x;
    uint64_t            objects;
    uint64_t           *roots, *seen; /* bit sets */
    queued             *queue;
    uint64_t            count, capacity;
    hdx_paths          *out;
} search;

hdx_code hdx_path_begin(hdx_paths *p, hdx_id target, hdx_error *err)
{
    if (!hdx_mem_room(p->steps.mem, (void **)&p->at, &p->capacity, p->count, sizeof *p->at))
        return hdx_no_memory(err, "paths", p->count * sizeof *p->at);
    p->at[p->count++] = (hdx_path){ target, p->steps.count, 0 };
    return HDX_OK;
}

hdx_code hdx_path_step(hdx_paths *p, hdx_id id, hdx_error *err)
{
    const hdx_code code = hdx_ids_push(&p->steps, id, err);
    p->at[p->count - 1].count += code == HDX_OK;
    return code;
}

void hdx_path_reverse(hdx_paths *p)
{
    hdx_path *last = &p->at[p->count - 1];
    for (uint64_t i = last->first, j = last->first + last->count; i + 1 < j; i++) {
        hdx_id swapped = p->steps.at[--j];
        p->steps.at[j] = p->steps.at[i];
        p->steps.at[i] = swapped;
    }
}

void hdx_paths_drop(hdx_paths *p)
{
    hdx_ids_drop(&p->steps);
    hdx_mem_put(p->steps.mem, p->at, p->capacity * sizeof *p->at);
    *p = (hdx_paths){ .steps = hdx_ids_of(p->steps.mem) };
}

/* Climbs from the target to a root, then reverses the steps. */
static hdx_code climb_path(hdx_ask *ask, hdx_id target, hdx_paths *out, hdx_error *err)
{
    hdx_code code = hdx_path_begin(out, target, err);
    hdx_id   v = target, parent = hdx_graph_nearest(ask->g, v);
    uint64_t limit = hdx_graph_objects(ask->g);
    if (code != HDX_OK || parent == HDX_NO_ID)
        return code;
    for (; code == HDX_OK && (code = hdx_path_step(out, v, err)) == HDX_OK && parent != v;
         v = parent, parent = hdx_graph_nearest(ask->g, v)) {
        if (parent >= limit || out->at[out->count - 1].count > limit) /* invariant 3 */
            return hdx_fail(err, HDX_DAMAGED, "nearest", HDX_NOWHERE, "no path of object #%llu ends at a GC root",
                            (unsigned long long)target);
        code = hdx_ask_check_cancel(ask, err);
    }
    hdx_path_reverse(out);
    return code;
}

/* Appends the path that begins at `root` and continues with the queued object at `place`. */
static hdx_code append_path(search *s, hdx_id root, uint64_t place, hdx_error *err)
{
    hdx_code code = hdx_path_begin(s->out, s->queue[0].id, err);
    if (code == HDX_OK)
        code = hdx_path_step(s->out, root, err);
    while (code == HDX_OK) {
        code = hdx_path_step(s->out, s->queue[place].id, err);
        if (place == 0)
            break;
        place = s->queue[place].towards;
    }
    return code;
}

static hdx_code enqueue(search *s, hdx_id id, uint64_t towards, hdx_error *err)
{
    if (!hdx_mem_room(s->ask->q.mem, (void **)&s->queue, &s->capacity, s->count, sizeof *s->queue))
        return hdx_no_memory(err, "a search", s->count * sizeof *s->queue);
    s->queue[s->count++] = (queued){ id, towards };
    hdx_bits_put(s->seen, id);
    return HDX_OK;
}

/* Processes all referrers of the queued object at `place`: roots end paths, the others are queued. */
static hdx_code expand_object(search *s, uint64_t place, unsigned wanted, unsigned *found, hdx_error *err)
{
    hdx_id   id = s->queue[place].id, from;
    hdx_code code = HDX_OK;
    for (int roots = 1; roots >= 0; roots--) {
        hdx_refs refs;
        hdx_graph_inbound(s->ask->g, id, HDX_LIVE, &refs);
        while (hdx_refs_next(&refs, &from)) {
            bool no = false;
            if (from >= s->objects || hdx_bits_test(s->roots, from) != (roots == 1) ||
                (!roots && hdx_bits_test(s->seen, from)))
                continue;
            if ((code = hdx_excludes_edge(s->x, from, id, &no, err)) != HDX_OK)
                return code;
            if (!no && (code = roots ? append_path(s, from, place, err) : enqueue(s, from, place, err)) != HDX_OK)
                return code;
            if (!no && roots && ++*found == wanted)
                return HDX_OK;
            if ((code = hdx_ask_check_cancel(s->ask, err)) != HDX_OK)
                return code;
        }
    }
    return HDX_OK;
}

static hdx_code search_target(search *s, hdx_id target, unsigned wanted, hdx_error *err)
{
    unsigned found = 0;
    hdx_code code = HDX_OK;
    if (!hdx_graph_live(s->ask->g, target))
        return hdx_path_begin(s->out, target, err);
    if (hdx_bits_test(s->roots, target)) {
        code = hdx_path_begin(s->out, target, err);
        return code == HDX_OK ? hdx_path_step(s->out, target, err) : code;
    }
    s->count = 0;
    code = enqueue(s, target, 0, err);
    for (uint64_t i = 0; code == HDX_OK && i < s->count && found < wanted; i++)
        code = expand_object(s, i, wanted, &found, err);
    for (uint64_t i = 0; i < s->count; i++)
        hdx_bits_clear(s->seen, s->queue[i].id);
    return code == HDX_OK && found == 0 ? hdx_path_begin(s->out, target, err) : code;
}

hdx_code hdx_paths_find(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count, unsigned paths,
                        hdx_paths *out, hdx_error *err)
{
    search   s = { .ask = ask, .x = x, .objects = hdx_graph_objects(ask->g), .out = out };
    uint64_t words = hdx_bits_words(s.objects), root_count = 0;
    hdx_code code = HDX_OK;
    if (x->count == 0 && paths <= 1) {
        for (size_t i = 0; code == HDX_OK && i < count; i++)
            code = climb_path(ask, targets[i], out, err);
        return code;
    }
    s.roots = hdx_mem_array(ask->q.mem, words, sizeof *s.roots);
    s.seen = hdx_mem_array(ask->q.mem, words, sizeof *s.seen);
    if (s.roots == NULL || s.seen == NULL)
        code = hdx_no_memory(err, "a search", words * sizeof *s.roots);
    const hdx_root *roots = hdx_graph_roots(ask->g, &root_count);
    for (uint64_t i = 0; code == HDX_OK && roots != NULL && i < root_count; i++)
        if (roots[i].thread == HDX_NO_ID && roots[i].object < s.objects)
            hdx_bits_put(s.roots, roots[i].object);
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        code = search_target(&s, targets[i], paths == 0 ? 1 : paths, err);
    hdx_mem_put(ask->q.mem, s.queue, s.capacity * sizeof *s.queue);
    hdx_mem_put(ask->q.mem, s.seen, words * sizeof *s.seen);
    hdx_mem_put(ask->q.mem, s.roots, words * sizeof *s.roots);
    return code;
}
