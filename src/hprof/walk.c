/*
 * walk.c - the second walk: the sub-records of the stretches again, now with bodies.
 *
 * The survey decided every rule, so anything that does not fit here means that the file changed underneath. Workers take runs of
 * neighbouring stretches, about a MiB together: an ART dump has a stretch per 4 KB, and a read of the file serves many of them. In
 * a compressed dump, whose seek points are known since the survey, runs are longer: the slice at the border of two runs is inflated for
 * the one and, if many workers came between, once more for the other.
 */
#include "hprof/inside.h"

#define CHUNK (256u << 10)
#define RUN (1u << 20)
#define RUN_COMPRESSED (4u << 20)

typedef struct walk {
    hdx_source             *source;
    uint64_t                run;  /* bytes a worker takes at a time */
    const hdx_survey       *survey;
    const hdx_walk_visitor *visitor;
    hdx_mem                *mem;
    hdx_ticker             *tick;
    pthread_mutex_t         lock; /* guards what follows */
    uint64_t                next;
    hdx_code                code;
    hdx_error               err;
    atomic_bool             stop;
} walk;

static hdx_code flush(walk *k, hdx_scan *scan, unsigned n, hdx_error *err)
{
    const size_t count = scan->n;
    scan->n = 0;
    return count == 0 ? HDX_OK : k->visitor->events(k->visitor->context, n, scan->events, count, err);
}

static hdx_code walk_stretch(walk *k, unsigned n, hdx_window *w, hdx_scan *scan, uint64_t number, hdx_error *err)
{
    const hdx_stretch *stretch = &k->survey->stretches[number];
    hdx_pos            pos = stretch->from;
    uint64_t           want = 1;
    hdx_code           code;
    scan->heap = stretch->heap;
    scan->parts = 0;
    if ((code = k->visitor->begin(k->visitor->context, n, number, err)) != HDX_OK)
        return code;
    for (;;) {
        const uint8_t *at;
        size_t         have;
        if (!hdx_window_holds(w, pos, want)) { /* it will move, and the bodies of the batch point into it */
            if ((code = flush(k, scan, n, err)) != HDX_OK)
                return code;
            if (atomic_load_explicit(&k->stop, memory_order_relaxed))
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
    return k->visitor->end(k->visitor->context, n, number, err);
}

static bool take(walk *k, uint64_t *from, uint64_t *end)
{
    (void)pthread_mutex_lock(&k->lock);
    *from = k->next;
    for (uint64_t bytes = 0; k->next < k->survey->stretch_count && bytes < k->run; k->next++)
        bytes += k->survey->stretches[k->next].end - k->survey->stretches[k->next].from;
    *end = k->next;
    (void)pthread_mutex_unlock(&k->lock);
    return *from < *end;
}

static void work(void *context, unsigned n)
{
    walk      *k = context;
    hdx_event  events[HDX_BATCH];
    uint64_t   counts[256] = { 0 };
    hdx_scan   scan = { .id_size = k->survey->head.id_size, .bodies = true, .events = events, .counts = counts, .exist = UINT64_MAX };
    hdx_window w = hdx_window_of(k->source, NULL, CHUNK, k->mem, k->tick);
    uint64_t   from, end;
    hdx_error  err = { 0 };
    while (!atomic_load(&k->stop) && take(k, &from, &end)) {
        hdx_code code = HDX_OK;
        w.limit = k->survey->stretches[end - 1].end;
        w.ended = false;
        for (uint64_t s = from; s < end && code == HDX_OK && !atomic_load_explicit(&k->stop, memory_order_relaxed); s++)
            code = walk_stretch(k, n, &w, &scan, s, &err);
        if (code != HDX_OK) {
            (void)pthread_mutex_lock(&k->lock);
            if (k->code == HDX_OK) {
                k->code = code;
                k->err = err;
            }
            (void)pthread_mutex_unlock(&k->lock);
            atomic_store(&k->stop, true);
        }
    }
    hdx_window_free(&w);
}

hdx_code hdx_hprof_walk(hdx_source *source, const hdx_survey *survey, unsigned threads, const hdx_walk_visitor *visitor, hdx_mem *mem,
                        hdx_ticker *tick, hdx_error *err)
{
    walk k = { .source = source, .survey = survey, .visitor = visitor, .mem = mem, .tick = tick };
    if (survey->stretch_count == 0)
        return HDX_OK;
    k.run = hdx_source_compression(source) == HDX_PLAIN ? RUN : RUN_COMPRESSED;
    (void)pthread_mutex_init(&k.lock, NULL);
    hdx_workers_run(threads == 0 ? 1 : threads, work, &k);
    (void)pthread_mutex_destroy(&k.lock);
    if (k.code != HDX_OK && err != NULL)
        *err = k.err;
    return k.code;
}
