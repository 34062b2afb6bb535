/*
 * mark.c - what remains reachable from the GC roots if some objects are not entered (MAT 6.4), or have fewer references
 * than the index states.
 *
 * Breadth first, level by level. The workers share levels of some ten thousand objects: each takes slices, marks in one
 * common bit set and lists what it found. Narrow levels (a linked list is ten million levels of one object) run on the
 * caller's thread.
 * Cost: one bit per object, the two widest adjacent levels, one read of the outbound list of each object that remains
 * reachable.
 */
#include "query/common/sweep.h"
#include "query/holding/holding.h"
#include "query/query.h"

#define WIDE_LEVEL 16384u
#define SLICE      1024u

typedef struct level_job {
    const hdx_query   *q;
    const hdx_marking *how;
    uint64_t          *seen;
    const hdx_ids     *level;
    hdx_ids           *found; /* one per worker */
    bool               shared;
} level_job;

typedef struct reached {
    level_job *job;
    hdx_ids   *found;
    hdx_error *err;
} reached;

static hdx_code mark_object(void *context, hdx_id target)
{
    const reached     *r = context;
    level_job         *job = r->job;
    const hdx_marking *how = job->how;
    if (target >= hdx_graph_objects(job->q->graph) || (how->without != NULL && hdx_bits_test(how->without, target)) ||
        hdx_bits_test(job->seen, target))
        return HDX_OK;
    const bool fresh = job->shared ? hdx_bits_set_shared(job->seen, target) : hdx_bits_set(job->seen, target);
    return fresh ? hdx_ids_push(r->found, target, r->err) : HDX_OK;
}

static hdx_code scan_objects(level_job *job, uint64_t from, uint64_t to, hdx_ids *found, hdx_error *err)
{
    const uint64_t *checked = job->how->checked;
    reached         r = { job, found, err };
    hdx_code        code = HDX_OK;
    hdx_refs        refs;
    hdx_id          target;
    for (uint64_t i = from; code == HDX_OK && i < to; i++) {
        const hdx_id id = job->level->at[i];
        if (checked != NULL && hdx_bits_test(checked, id)) {
            code = job->how->follow(job->how->context, id, mark_object, &r, err);
            continue;
        }
        hdx_graph_outbound(job->q->graph, id, HDX_ALL, &refs); /* a live object refers to live objects only */
        while (code == HDX_OK && hdx_refs_next(&refs, &target))
            code = mark_object(&r, target);
    }
    return code;
}

static hdx_code scan_piece(void *context, uint64_t from, uint64_t to, unsigned worker, hdx_error *err)
{
    level_job *job = context;
    return scan_objects(job, from, to, &job->found[worker], err);
}

/* Processes a wide level on all workers; the objects that they found become one list. */
static hdx_code process_wide(level_job *job, unsigned workers, hdx_ids *next, hdx_error *err)
{
    job->shared = true;
    for (unsigned n = 0; n < workers; n++)
        job->found[n].count = 0;
    const hdx_sweep_range level = { .count = job->level->count, .piece = SLICE, .workers = workers };
    hdx_code              code = hdx_sweep(job->q, &level, scan_piece, job, err);
    for (unsigned n = 0; n < workers && code == HDX_OK; n++)
        for (uint64_t i = 0; code == HDX_OK && i < job->found[n].count; i++)
            code = hdx_ids_push(next, job->found[n].at[i], err);
    return code;
}

static hdx_code push_roots(level_job *job, hdx_ids *level, hdx_error *err)
{
    uint64_t        count = 0;
    const hdx_root *roots = hdx_graph_roots(job->q->graph, &count);
    hdx_code        code = HDX_OK;
    for (uint64_t i = 0; roots != NULL && code == HDX_OK && i < count; i++) {
        reached r = { job, level, err };
        if (roots[i].thread == HDX_NO_ID && /* a local is a reference of its thread, not a root (MAT 4.2) */
            (job->how->no_roots >> roots[i].type & 1) == 0)
            code = mark_object(&r, roots[i].object);
    }
    return code;
}

hdx_code hdx_mark(const hdx_query *q, const uint64_t *without, uint64_t *seen, hdx_error *err)
{
    const hdx_marking how = { .without = without };
    return hdx_mark_as(q, &how, seen, err);
}

hdx_code hdx_mark_as(const hdx_query *q, const hdx_marking *how, uint64_t *seen, hdx_error *err)
{
    unsigned  workers = hdx_ask_threads(q);
    hdx_ids   level = hdx_ids_of(q->mem), next = hdx_ids_of(q->mem);
    uint64_t  rounds = 0;
    level_job job = { .q = q, .how = how, .seen = seen, .level = &level };
    hdx_code  code = HDX_OK;
    job.found = hdx_mem_array(q->mem, workers, sizeof *job.found);
    if (job.found == NULL)
        code = hdx_no_memory(err, "marking", workers * sizeof *job.found);
    for (unsigned n = 0; job.found != NULL && n < workers; n++)
        job.found[n] = hdx_ids_of(q->mem);
    if (code == HDX_OK)
        code = push_roots(&job, &level, err);
    while (code == HDX_OK && level.count > 0) {
        next.count = 0;
        if (level.count >= WIDE_LEVEL && workers > 1) {
            code = process_wide(&job, workers, &next, err);
        } else {
            job.shared = false;
            code = scan_objects(&job, 0, level.count, &next, err);
        }
        rounds += level.count;
        if (code == HDX_OK && rounds >= 65536) {
            rounds = 0;
            code = hdx_ask_stopped(q, err);
        }
        hdx_ids swapped = level;
        level = next;
        next = swapped;
    }
    for (unsigned n = 0; job.found != NULL && n < workers; n++)
        hdx_ids_drop(&job.found[n]);
    hdx_mem_put(q->mem, job.found, workers * sizeof *job.found);
    hdx_ids_drop(&level);
    hdx_ids_drop(&next);
    return code;
}

hdx_code hdx_retained_bits(const hdx_query *q, const uint64_t *set, uint64_t *gone, hdx_error *err)
{
    const uint64_t n = hdx_graph_objects(q->graph);
    memset(gone, 0, hdx_bits_words(n) * sizeof *gone);
    hdx_code code = hdx_mark(q, set, gone, err); /* marks what is still reached; the other live objects are gone */
    for (hdx_id first = 0; code == HDX_OK && first < n; first += HDX_RUN) {
        const uint32_t here = (uint32_t)hdx_least(n - first, HDX_RUN);
        uint64_t       live[HDX_RUN / 64];
        hdx_graph_read_live(q->graph, first, here, live);
        for (uint32_t w = 0; w < hdx_bits_words(here); w++)
            gone[first / 64 + w] = live[w] & ~gone[first / 64 + w];
        code = hdx_ask_stopped(q, err);
    }
    return code == HDX_OK ? hdx_graph_check(q->graph, err) : code;
}

hdx_code hdx_query_retained_set(const hdx_query *q, const hdx_id *ids, size_t count, uint64_t *gone, hdx_error *err)
{
    const uint64_t n = hdx_graph_objects(q->graph), words = hdx_bits_words(n);
    uint64_t      *set = hdx_mem_array(q->mem, words, sizeof *set);
    if (set == NULL)
        return hdx_no_memory(err, "a set of objects", words * sizeof *set);
    hdx_code code = HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        if (ids[i] < n)
            hdx_bits_put(set, ids[i]);
        else
            code =
                hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no object has the id %llu", (unsigned long long)ids[i]);
    if (code == HDX_OK)
        code = hdx_retained_bits(q, set, gone, err);
    hdx_mem_put(q->mem, set, words * sizeof *set);
    return code;
}
