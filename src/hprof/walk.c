/*
 * walk.c - the second walk: reads the sub-records of the stretches again, now with bodies.
 *
 * The survey applied every rule, so anything invalid here means that the file has changed. Workers take runs of
 * neighbouring stretches, about a MiB together: an ART dump has a stretch per 4 KB, and one read of the file serves
 * many of them. In a compressed dump, whose seek points are known since the survey, runs are longer: the slice at the
 * border of two runs is inflated for the first and, if many workers were active in between, again for the second.
 */
#include "hprof/inside.h"

#define CHUNK          (256u << 10)
#define RUN            (1u << 20)
#define RUN_COMPRESSED (4u << 20)

typedef struct walk {
    hdx_source             *source;
    uint64_t                run; /* bytes that a worker takes at a time */
    const hdx_survey       *survey;
    const hdx_walk_visitor *visitor;
    hdx_mem                *mem;
    hdx_ticker             *tick;
    pthread_mutex_t         lock; /* guards what follows */
    hdx_halt                at;
    hdx_first_error         fault;
} walk;

static hdx_code flush(walk *k, hdx_entry_scan *scan, unsigned n, hdx_error *err)
{
    const size_t count = scan->n;
    scan->n = 0;
    return count == 0 ? HDX_OK : k->visitor->events(k->visitor->context, n, scan->events, count, err);
}

/* Before something that may take long: records where another walk would resume. */
static void mark(hdx_left *run, const hdx_entry_scan *scan, hdx_pos pos)
{
    run->pos = scan->parts > 0 ? scan->held.pos : pos;
    run->heap = scan->heap;
}

/* Reads the first stretch of a run; afterwards run->pos is 0, unless it was stopped inside. */
static hdx_code walk_stretch(walk *k, unsigned n, hdx_window *w, hdx_entry_scan *scan, hdx_left *run, hdx_error *err)
{
    const uint64_t     number = run->from;
    const hdx_stretch *stretch = &k->survey->stretches[number];
    hdx_pos            pos = run->pos != 0 ? run->pos : stretch->from;
    uint64_t           want = 1;
    hdx_code           code;
    scan->heap = run->pos != 0 ? run->heap : stretch->heap;
    scan->parts = 0;
    if ((code = k->visitor->begin(k->visitor->context, n, number, err)) != HDX_OK)
        return code;
    for (;;) {
        const uint8_t *at;
        size_t         have;
        if (!hdx_window_holds(w, pos, want)) { /* it will move, and the bodies of the batch point into it */
            if ((code = flush(k, scan, n, err)) != HDX_OK)
                return code;
            mark(run, scan, pos);
            if (hdx_first_error_any(&k->fault))
                return HDX_OK;
        }
        if ((code = hdx_window_at(w, pos, want, &at, &have, err)) != HDX_OK)
            return code;
        const hdx_scan_stop stop = have < want ? HDX_SCAN_BEYOND : hdx_scan_run(scan, at, have, &pos, stretch->end);
        if (stop == HDX_SCAN_END)
            break;
        if (stop != HDX_SCAN_FULL && stop != HDX_SCAN_WANT)
            return hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(k->source), pos, "the dump changed while it was read");
        if (stop == HDX_SCAN_FULL && (code = flush(k, scan, n, err)) != HDX_OK)
            return code;
        want = stop == HDX_SCAN_WANT ? scan->want : 1;
    }
    if ((code = flush(k, scan, n, err)) != HDX_OK)
        return code;
    run->pos = 0;
    run->from++;
    return k->visitor->end(k->visitor->context, n, number, err);
}

bool hdx_halt_take(hdx_halt *at, const hdx_stretch *stretches, uint64_t count, uint64_t bytes, uint64_t head,
                   hdx_left *run)
{
    if (at->count > 0) {
        *run = at->left[--at->count];
        return true;
    }
    *run = (hdx_left){ .from = at->next };
    for (uint64_t sum = 0; at->next < count && sum < bytes; at->next++)
        sum += stretches[at->next].end - stretches[at->next].from + head;
    run->end = at->next;
    return run->from < run->end;
}

static bool take(walk *k, hdx_left *run)
{
    (void)pthread_mutex_lock(&k->lock);
    const bool more = hdx_halt_take(&k->at, k->survey->stretches, k->survey->stretch_count, k->run, 0, run);
    (void)pthread_mutex_unlock(&k->lock);
    return more;
}

static void work(void *context, unsigned n)
{
    walk          *k = context;
    hdx_event      events[HDX_BATCH];
    uint64_t       counts[256] = { 0 };
    hdx_entry_scan scan = {
        .id_size = k->survey->head.id_size, .bodies = true, .events = events, .counts = counts, .exist = UINT64_MAX
    };
    hdx_window w = hdx_window_of(k->source, NULL, CHUNK, k->mem, k->tick);
    hdx_left   run;
    hdx_error  err = { 0 };
    while (!hdx_first_error_any(&k->fault) && take(k, &run)) {
        hdx_code code = HDX_OK;
        w.limit = k->survey->stretches[run.end - 1].end;
        w.ended = false;
        while (run.from < run.end && code == HDX_OK && !hdx_first_error_any(&k->fault))
            code = walk_stretch(k, n, &w, &scan, &run, &err);
        (void)pthread_mutex_lock(&k->lock);
        hdx_halt_leave(&k->at, &run);
        (void)pthread_mutex_unlock(&k->lock);
        hdx_first_error_put(&k->fault, code, &err);
    }
    hdx_window_free(&w);
}

hdx_code hdx_hprof_walk(hdx_source *source, const hdx_survey *survey, unsigned threads, const hdx_walk_visitor *visitor,
                        hdx_halt *halt, hdx_mem *mem, hdx_ticker *tick, hdx_error *err)
{
    walk k = { .source = source, .survey = survey, .visitor = visitor, .mem = mem, .tick = tick };
    if (halt != NULL)
        k.at = *halt;
    if (survey->stretch_count == 0)
        return HDX_OK;
    k.run = hdx_source_compression(source) == HDX_PLAIN ? RUN : RUN_COMPRESSED;
    (void)pthread_mutex_init(&k.lock, NULL);
    hdx_workers_run(threads == 0 ? 1 : threads, work, &k);
    (void)pthread_mutex_destroy(&k.lock);
    if (halt != NULL)
        *halt = k.at;
    return hdx_first_error_take(&k.fault, err);
}
