/*
 * swift.c - the survey of a file without any oddity, on several threads.
 *
 * First one thread hops over the top-level record headers and hands the tables (strings, classes, frames, traces) to the sink on its way.
 * If they form a sound chain that ends exactly at the end of the file, the heap records are known; then workers take runs of them
 * from a common counter, some MiB at a time, and turn them into events:
 *
 *     header | strings ... | seg seg seg seg | strings | seg seg seg seg | end
 *                           '--slice-'--slice-'         '--slice--'
 *
 * Whatever is not as it should be makes all of them stop, and *odd says so. No rule of damage lives here.
 * Records of dumps that are not chosen are scanned too and thrown away: their damage must not depend on the reader.
 */
#include "hprof/inside.h"

#define SLICE (4u << 20)
#define TABLE_CHUNK (256u << 10) /* tables are read in full */
#define HOP_CHUNK 512u           /* behind a heap record: another header, mostly (ART writes one per 4 KB) */
#define SCAN_CHUNK (256u << 10)  /* stays in the second-level cache */
#define OTHER_DUMP UINT32_MAX    /* in the heap number of a record of a dump that was not chosen */

typedef struct swift_worker {
    hdx_stretch *pieces; /* of heap records longer than a stretch may be, in file order */
    uint64_t     count, capacity;
    uint64_t     counts[256];
} swift_worker;

typedef struct swift {
    hdx_source               *source;
    const hdx_survey_options *options;
    const hdx_survey_sink    *sink;
    hdx_survey               *out;
    hdx_stretch              *records; /* bodies of heap records, all dumps */
    uint64_t                  count, capacity;
    uint64_t                  others;  /* of them not of the chosen dump */
    swift_worker             *workers;
    unsigned                  threads;
    pthread_mutex_t           lock;    /* guards what follows */
    uint64_t                  next;    /* record to hand out */
    bool                      odd;
    hdx_code                  code;
    hdx_error                 err;
    atomic_bool               stop;
} swift;

/* ---- the hop ---- */

static hdx_code add_record(swift *s, hdx_pos from, hdx_pos end, bool chosen, hdx_error *err)
{
    if (from == end)
        return HDX_OK; /* ART writes many of them */
    if (!hdx_mem_room(s->out->mem, (void **)&s->records, &s->capacity, s->count, sizeof *s->records))
        return hdx_no_memory(err, "list of heap records", (s->count + 1) * sizeof *s->records);
    s->records[s->count++] = (hdx_stretch){ from, end, chosen ? 0 : OTHER_DUMP };
    s->others += !chosen;
    return HDX_OK;
}

static hdx_code hop(swift *s, hdx_window *w, hdx_pos size, bool *odd, hdx_error *err)
{
    hdx_survey    *out = s->out;
    const uint32_t i = out->head.id_size;
    bool           open = false;
    hdx_pos        p = out->head.size;
    hdx_code       code;
    uint32_t       records = 0;
    *odd = true;
    while (p < size) {
        if (records++ % 4096 == 0 && hdx_tick(s->options->tick, 0)) /* the workers count the bytes */
            return hdx_tick_stop(err);
        const uint8_t *at;
        size_t         have;
        if ((code = hdx_window_at(w, p, HDX_TOP_HEAD, &at, &have, err)) != HDX_OK)
            return code;
        if (have < HDX_TOP_HEAD)
            return HDX_OK;
        const uint8_t  tag = at[0];
        const uint32_t time = hdx_be32(at + 1), n = hdx_be32(at + 5);
        const hdx_pos  body = p + HDX_TOP_HEAD;
        if (hdx_top_name(tag) == NULL || !hdx_top_length_ok(tag, n, i) || n > size - body)
            return HDX_OK;
        out->top_records[tag]++;
        w->chunk = TABLE_CHUNK;
        if (tag == HDX_TOP_HEAP_DUMP || tag == HDX_TOP_HEAP_DUMP_SEGMENT) {
            if (tag == HDX_TOP_HEAP_DUMP || !open) {
                if (++out->dumps_in_file == out->dump_number)
                    out->heap_time_us = time;
            }
            open = tag == HDX_TOP_HEAP_DUMP_SEGMENT;
            if ((code = add_record(s, body, body + n, out->dumps_in_file == out->dump_number, err)) != HDX_OK)
                return code;
            w->chunk = n >= HOP_CHUNK ? HOP_CHUNK : TABLE_CHUNK;
        } else if (hdx_top_delivered(tag)) {
            hdx_top record;
            uint64_t want = n < HDX_TOP_BODY_MAX ? n : HDX_TOP_BODY_MAX;
            if ((code = hdx_window_at(w, p, HDX_TOP_HEAD + want, &at, &have, err)) != HDX_OK)
                return code;
            if (have < HDX_TOP_HEAD + want || !hdx_top_cut(p, tag, n, (hdx_view){ at + HDX_TOP_HEAD, (size_t)want }, i, &record))
                return HDX_OK;
            if ((code = s->sink->top(s->sink->context, &record, err)) != HDX_OK)
                return code;
        } else if (tag == HDX_TOP_HEAP_DUMP_END)
            open = false;
        p = body + n;
    }
    *odd = open || out->dumps_in_file == 0; /* no end record, or nothing at all: for the careful reader to say */
    return HDX_OK;
}

/* ---- the workers ---- */

static void fail(swift *s, hdx_code code, const hdx_error *err)
{
    (void)pthread_mutex_lock(&s->lock);
    if (code == HDX_OK)
        s->odd = true;
    else if (s->code == HDX_OK) {
        s->code = code;
        s->err = *err;
    }
    (void)pthread_mutex_unlock(&s->lock);
    atomic_store(&s->stop, true);
}

/* The next run of records: about SLICE bytes. */
static bool take(swift *s, uint64_t *from, uint64_t *end)
{
    (void)pthread_mutex_lock(&s->lock);
    *from = s->next;
    for (uint64_t bytes = 0; s->next < s->count && bytes < SLICE; s->next++)
        bytes += s->records[s->next].end - s->records[s->next].from + HDX_TOP_HEAD;
    *end = s->next;
    (void)pthread_mutex_unlock(&s->lock);
    return *from < *end;
}

static hdx_code flush(swift *s, hdx_scan *scan, unsigned n, bool chosen, hdx_error *err)
{
    const size_t count = scan->n;
    scan->n = 0;
    return count == 0 || !chosen ? HDX_OK : s->sink->heap(s->sink->context, n, scan->events, count, err);
}

/* One heap record; *odd where anything does not fit. */
static hdx_code scan_record(swift *s, unsigned n, hdx_window *w, hdx_scan *scan, const hdx_stretch *record, bool *odd, hdx_error *err)
{
    swift_worker *worker = &s->workers[n];
    const bool    chosen = record->heap != OTHER_DUMP, cut = chosen && record->end - record->from > HDX_STRETCH;
    uint64_t      ignored[256];
    hdx_stretch   piece = { record->from, record->from, 0 };
    hdx_pos       pos = record->from;
    uint64_t      want = 1;
    hdx_code      code;
    scan->heap = 0; /* HEAP_DUMP_INFO holds until the end of the segment (3.10) */
    scan->counts = chosen ? worker->counts : ignored;
    if (!chosen)
        memset(ignored, 0, sizeof ignored);
    for (;;) {
        const uint8_t *at;
        size_t         have;
        if (!hdx_window_holds(w, pos, want)) { /* it will move, and class dumps of the batch point into it */
            if ((code = flush(s, scan, n, chosen, err)) != HDX_OK)
                return code;
            if (atomic_load_explicit(&s->stop, memory_order_relaxed))
                return HDX_OK;
        }
        if ((code = hdx_window_at(w, pos, want, &at, &have, err)) != HDX_OK)
            return code;
        if (have < want) {
            *odd = true;
            return HDX_OK;
        }
        const hdx_scan_stop stop = hdx_scan_run(scan, at, have, &pos, record->end);
        if (cut && pos - piece.from >= HDX_STRETCH) {
            piece.end = pos;
            if (!hdx_mem_room(s->out->mem, (void **)&worker->pieces, &worker->capacity, worker->count, sizeof piece))
                return hdx_no_memory(err, "list of stretches", (worker->count + 1) * sizeof piece);
            worker->pieces[worker->count++] = piece;
            piece = (hdx_stretch){ pos, pos, scan->heap };
        }
        if (stop == HDX_SCAN_END)
            break;
        if (stop != HDX_SCAN_FULL && stop != HDX_SCAN_WANT) {
            *odd = true;
            return HDX_OK;
        }
        want = stop == HDX_SCAN_WANT ? scan->want : 1;
        if (stop == HDX_SCAN_FULL && (code = flush(s, scan, n, chosen, err)) != HDX_OK)
            return code;
    }
    if (cut && pos > piece.from) {
        piece.end = pos;
        if (!hdx_mem_room(s->out->mem, (void **)&worker->pieces, &worker->capacity, worker->count, sizeof piece))
            return hdx_no_memory(err, "list of stretches", (worker->count + 1) * sizeof piece);
        worker->pieces[worker->count++] = piece;
    }
    return HDX_OK;
}

static hdx_code scan_slice(swift *s, unsigned n, hdx_window *w, hdx_scan *scan, uint64_t from, uint64_t end, bool *odd, hdx_error *err)
{
    hdx_code code = HDX_OK;
    w->limit = s->records[end - 1].end;
    w->ended = false;
    for (uint64_t k = from; k < end && code == HDX_OK && !*odd; k++) {
        if (k > from && s->records[k].heap != s->records[k - 1].heap && (code = flush(s, scan, n, s->records[k - 1].heap != OTHER_DUMP, err)) != HDX_OK)
            break;
        if (atomic_load_explicit(&s->stop, memory_order_relaxed))
            break;
        code = scan_record(s, n, w, scan, &s->records[k], odd, err);
    }
    if (code == HDX_OK && !*odd)
        code = flush(s, scan, n, s->records[end - 1].heap != OTHER_DUMP, err);
    return code;
}

static void work(void *context, unsigned n)
{
    swift     *s = context;
    hdx_event  events[HDX_BATCH];
    hdx_scan   scan = { .id_size = s->out->head.id_size, .events = events, .exist = UINT64_MAX };
    hdx_window w = hdx_window_of(s->source, NULL, SCAN_CHUNK, s->out->mem, s->options->tick);
    uint64_t   from, end;
    bool       odd = false;
    hdx_error  err = { 0 };
    while (!atomic_load(&s->stop) && take(s, &from, &end)) {
        const hdx_code code = scan_slice(s, n, &w, &scan, from, end, &odd, &err);
        if (code != HDX_OK || odd) {
            fail(s, code, &err);
            break;
        }
    }
    hdx_window_free(&w);
}

/* ---- both together ---- */

/* The heap records of the chosen dump become the stretches; long ones are replaced by their pieces. */
static hdx_code make_stretches(swift *s, hdx_error *err)
{
    hdx_survey *out = s->out;
    uint64_t    next[HDX_WORKERS_MAX] = { 0 }, pieces = 0;
    for (unsigned n = 0; n < s->threads; n++)
        pieces += s->workers[n].count;
    if (pieces == 0 && s->others == 0) { /* the usual case: taken over as they are */
        out->stretches = s->records;
        out->stretch_count = s->count;
        out->stretch_capacity = s->capacity;
        s->records = NULL;
        return HDX_OK;
    }
    for (uint64_t k = 0; k < s->count; k++) {
        const hdx_stretch *r = &s->records[k];
        if (r->heap == OTHER_DUMP)
            continue;
        unsigned n = 0;
        while (n < s->threads && (next[n] == s->workers[n].count || s->workers[n].pieces[next[n]].from != r->from))
            n++;
        if (n == s->threads && !hdx_survey_stretch(out, r->from, r->end, 0))
            return hdx_no_memory(err, "list of stretches", (out->stretch_count + 1) * sizeof *r);
        for (; n < s->threads && next[n] < s->workers[n].count && s->workers[n].pieces[next[n]].from < r->end; next[n]++) {
            const hdx_stretch *piece = &s->workers[n].pieces[next[n]];
            if (!hdx_survey_stretch(out, piece->from, piece->end, piece->heap))
                return hdx_no_memory(err, "list of stretches", (out->stretch_count + 1) * sizeof *r);
        }
    }
    return HDX_OK;
}

hdx_code hdx_survey_swift(hdx_source *source, const hdx_survey_options *options, const hdx_survey_sink *sink, hdx_survey *out, bool *odd, hdx_error *err)
{
    swift      s = { .source = source, .options = options, .sink = sink, .out = out };
    hdx_window w = hdx_window_of(source, NULL, TABLE_CHUNK, options->mem, NULL);
    hdx_pos    size = 0;
    hdx_code   code;
    s.threads = options->threads == 0 ? 1 : options->threads > HDX_WORKERS_MAX ? HDX_WORKERS_MAX : options->threads;
    *odd = true;
    if (!hdx_source_size(source, &size))
        return HDX_OK;
    (void)pthread_mutex_init(&s.lock, NULL);
    code = hop(&s, &w, size, odd, err);
    hdx_window_free(&w);
    if (code != HDX_OK || *odd)
        goto out;
    if (s.count < s.threads)
        s.threads = s.count == 0 ? 1 : (unsigned)s.count;
    s.workers = hdx_mem_array(options->mem, s.threads, sizeof *s.workers);
    if (s.workers == NULL) {
        code = hdx_no_memory(err, "survey", s.threads * sizeof *s.workers);
        goto out;
    }
    hdx_workers_run(s.threads, work, &s);
    if (s.code != HDX_OK) {
        if (err != NULL)
            *err = s.err;
        code = s.code;
    } else if (s.odd)
        *odd = true;
    else {
        for (unsigned n = 0; n < s.threads; n++)
            hdx_survey_count(out, s.workers[n].counts);
        code = make_stretches(&s, err);
    }
out:
    if (s.workers != NULL)
        for (unsigned n = 0; n < s.threads; n++)
            hdx_mem_put(options->mem, s.workers[n].pieces, s.workers[n].capacity * sizeof *s.workers[n].pieces);
    hdx_mem_put(options->mem, s.workers, s.threads * sizeof *s.workers);
    hdx_mem_put(options->mem, s.records, s.capacity * sizeof *s.records);
    (void)pthread_mutex_destroy(&s.lock);
    return code;
}
