/*
 * swift.c - the survey of a file without anomalies, on several threads.
 *
 * First one thread steps through the top-level record headers and passes the tables (strings, classes, frames, traces)
 * to the sink. If they form a valid chain that ends exactly at the end of the file, the heap records are known; then
 * workers take runs of them from a common counter, some MiB at a time, and convert them to events:
 *
 *     header | strings ... | seg seg seg seg | strings | seg seg seg seg | end
 *                           '--slice-'--slice-'         '--slice--'
 *
 * Any anomaly stops all of them and sets *odd. No rule of damage is applied here. Records of dumps that are not chosen
 * are scanned too and discarded: their damage must not depend on the reader.
 */
#include "hprof/inside.h"

#include <stddef.h>

#define SLICE       (4u << 20)
#define TABLE_CHUNK (256u << 10) /* tables are read completely */
#define HOP_CHUNK   512u         /* after a heap record: usually another header (ART writes one per 4 KB) */
#define SCAN_CHUNK  (256u << 10) /* stays in the second-level cache */
#define OTHER_DUMP  UINT32_MAX   /* heap number of records of dumps that were not chosen */

static int by_from(const void *a, const void *b)
{
    const hdx_stretch *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

typedef struct swift_worker {
    hdx_stretch *pieces; /* of heap records that are longer than a stretch may be, in file order */
    uint64_t     count, capacity;
    uint64_t     counts[256], ignored[256]; /* of the chosen dump, of others */
} swift_worker;

typedef struct swift {
    hdx_source               *source;
    const hdx_survey_options *options;
    const hdx_survey_sink    *sink;
    hdx_survey               *out;
    hdx_stretch              *records; /* bodies of heap records, all dumps */
    uint64_t                  count, capacity;
    uint64_t                  others; /* number of them that are not of the chosen dump */
    swift_worker             *workers;
    unsigned                  threads;
    pthread_mutex_t           lock; /* guards what follows */
    hdx_halt                  at;   /* records that workers have taken */
    atomic_bool               odd;  /* it, or an error, stops all */
    hdx_first_error           fault;
} swift;

/* ---- the table of records ---- */

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
        } else if (tag == HDX_TOP_FLAT_ARRAYS) {
            bool there;
            if ((code = hdx_flat_arrays_give(w, p, n, i, s->sink, &there, err)) != HDX_OK || !there)
                return code;
        } else if (hdx_top_delivered(tag)) {
            hdx_top  record;
            uint64_t want = n < HDX_TOP_BODY_MAX ? n : HDX_TOP_BODY_MAX;
            if ((code = hdx_window_at(w, p, HDX_TOP_HEAD + want, &at, &have, err)) != HDX_OK)
                return code;
            if (have < HDX_TOP_HEAD + want ||
                !hdx_top_cut(p, tag, n, (hdx_view){ at + HDX_TOP_HEAD, (size_t)want }, i, &record))
                return HDX_OK;
            if ((code = s->sink->top(s->sink->context, &record, err)) != HDX_OK)
                return code;
        } else if (tag == HDX_TOP_HEAP_DUMP_END)
            open = false;
        p = body + n;
    }
    *odd = open || out->dumps_in_file == 0; /* no end record, or no dump: the careful reader reports it */
    return HDX_OK;
}

/* ---- the workers ---- */

static bool stopped(const swift *s) { return atomic_load(&s->odd) || hdx_first_error_any(&s->fault); }

static bool take(swift *s, hdx_left *run)
{
    (void)pthread_mutex_lock(&s->lock);
    const bool more = hdx_halt_take(&s->at, s->records, s->count, SLICE, HDX_TOP_HEAD, run);
    (void)pthread_mutex_unlock(&s->lock);
    return more;
}

static hdx_code flush(swift *s, hdx_entry_scan *scan, unsigned n, bool chosen, hdx_error *err)
{
    const size_t count = scan->n;
    scan->n = 0;
    return count == 0 || !chosen ? HDX_OK : s->sink->heap(s->sink->context, n, scan->events, count, err);
}

static hdx_code add_piece(swift *s, swift_worker *worker, const hdx_stretch *piece, hdx_error *err)
{
    if (piece->from == piece->end)
        return HDX_OK;
    if (!hdx_mem_room(s->out->mem, (void **)&worker->pieces, &worker->capacity, worker->count, sizeof *piece))
        return hdx_no_memory(err, "list of stretches", (worker->count + 1) * sizeof *piece);
    worker->pieces[worker->count++] = *piece;
    return HDX_OK;
}

/*
 * Scans the first record of a run; *odd at any anomaly. Afterwards run->pos is 0, unless it was stopped inside: then
 * the part that was read is a piece, and so is the remainder.
 */
static hdx_code scan_record(swift *s, unsigned n, hdx_window *w, hdx_entry_scan *scan, hdx_left *run, bool *odd,
                            hdx_error *err)
{
    swift_worker      *worker = &s->workers[n];
    const hdx_stretch *record = &s->records[run->from];
    const bool         chosen = record->heap != OTHER_DUMP,
               cut = chosen && (record->end - record->from > HDX_STRETCH || run->pos != 0);
    uint64_t    want = 1;
    hdx_pos     pos = run->pos != 0 ? run->pos : record->from;
    hdx_stretch piece = { pos, pos, run->heap };
    hdx_code    code;
    scan->heap = run->heap; /* HEAP_DUMP_INFO applies until the end of the segment (HPROF 3.10) */
    scan->counts = chosen ? worker->counts : worker->ignored;
    for (;;) {
        const uint8_t *at;
        size_t         have;
        if (!hdx_window_holds(w, pos, want)) { /* it will move, and class dumps of the batch point into it */
            if ((code = flush(s, scan, n, chosen, err)) != HDX_OK)
                return code;
            run->pos = pos;
            run->heap = scan->heap;
            code = stopped(s) ? HDX_CANCELLED : hdx_window_at(w, pos, want, &at, &have, err);
            if (code == HDX_CANCELLED) {
                piece.end = pos;
                if (chosen && add_piece(s, worker, &piece, err) != HDX_OK)
                    return HDX_LIMIT;
            }
            if (code != HDX_OK)
                return code;
        } else if ((code = hdx_window_at(w, pos, want, &at, &have, err)) != HDX_OK)
            return code;
        if (have < want) {
            *odd = true;
            return HDX_OK;
        }
        const hdx_scan_stop stop = hdx_scan_run(scan, at, have, &pos, record->end);
        if (cut && pos - piece.from >= HDX_STRETCH) {
            piece.end = pos;
            if ((code = add_piece(s, worker, &piece, err)) != HDX_OK)
                return code;
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
    piece.end = pos;
    run->pos = 0;
    run->heap = 0;
    run->from++;
    return cut ? add_piece(s, worker, &piece, err) : HDX_OK;
}

static hdx_code scan_slice(swift *s, unsigned n, hdx_window *w, hdx_entry_scan *scan, hdx_left *run, bool *odd,
                           hdx_error *err)
{
    const uint64_t first = run->from;
    hdx_code       code = HDX_OK;
    w->limit = s->records[run->end - 1].end;
    w->ended = false;
    while (run->from < run->end && code == HDX_OK && !*odd) {
        const bool before = run->from > first && s->records[run->from - 1].heap != OTHER_DUMP;
        if (run->from > first && before != (s->records[run->from].heap != OTHER_DUMP) &&
            (code = flush(s, scan, n, before, err)) != HDX_OK)
            break;
        if (stopped(s))
            return flush(s, scan, n, before, err);
        code = scan_record(s, n, w, scan, run, odd, err);
    }
    if (code == HDX_OK && !*odd)
        code = flush(s, scan, n, s->records[run->end - 1].heap != OTHER_DUMP, err);
    return code;
}

static void work(void *context, unsigned n)
{
    swift         *s = context;
    hdx_event      events[HDX_BATCH];
    hdx_entry_scan scan = { .id_size = s->out->head.id_size, .events = events, .exist = UINT64_MAX };
    hdx_window     w = hdx_window_of(s->source, NULL, SCAN_CHUNK, s->out->mem, s->options->tick);
    hdx_left       run;
    bool           odd = false;
    hdx_error      err = { 0 };
    while (!stopped(s) && take(s, &run)) {
        const hdx_code code = scan_slice(s, n, &w, &scan, &run, &odd, &err);
        (void)pthread_mutex_lock(&s->lock);
        hdx_halt_leave(&s->at, &run);
        (void)pthread_mutex_unlock(&s->lock);
        if (code == HDX_CANCELLED && stopped(s)) /* stopped by another worker, which has the reason */
            break;
        hdx_first_error_put(&s->fault, code, &err);
        if (code == HDX_OK && odd)
            atomic_store(&s->odd, true);
    }
    hdx_window_free(&w);
}

/* ---- both parts together ---- */

/* Collects all pieces, including those of an earlier survey, in the order of the file. */
static hdx_code gather_pieces(swift *s, hdx_survey_halt *all, hdx_error *err)
{
    uint64_t count = all->piece_count;
    for (unsigned n = 0; n < s->threads; n++)
        count += s->workers[n].count;
    if (count == 0)
        return HDX_OK;
    void *pieces = hdx_mem_resize(s->options->mem, all->pieces, all->piece_capacity * sizeof *all->pieces,
                                  count * sizeof *all->pieces);
    if (pieces == NULL)
        return hdx_no_memory(err, "list of stretches", count * sizeof *all->pieces);
    all->pieces = pieces;
    all->piece_capacity = count;
    for (unsigned n = 0; n < s->threads; n++) {
        if (s->workers[n].count > 0)
            memcpy(all->pieces + all->piece_count, s->workers[n].pieces, s->workers[n].count * sizeof *all->pieces);
        all->piece_count += s->workers[n].count;
    }
    hdx_sort(s->options->mem, all->pieces, count, sizeof *all->pieces, offsetof(hdx_stretch, from), by_from);
    return HDX_OK;
}

/* Makes stretches of the heap records of the chosen dump; records in pieces are replaced by these. */
static hdx_code make_stretches(swift *s, const hdx_survey_halt *all, hdx_error *err)
{
    hdx_survey *out = s->out;
    uint64_t    next = 0;
    if (all->piece_count == 0 && s->others == 0) { /* the usual case: used unchanged */
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
        if ((next == all->piece_count || all->pieces[next].from >= r->end) &&
            !hdx_survey_stretch(out, r->from, r->end, 0))
            return hdx_no_memory(err, "list of stretches", (out->stretch_count + 1) * sizeof *r);
        for (; next < all->piece_count && all->pieces[next].from < r->end; next++)
            if (!hdx_survey_stretch(out, all->pieces[next].from, all->pieces[next].end, all->pieces[next].heap))
                return hdx_no_memory(err, "list of stretches", (out->stretch_count + 1) * sizeof *r);
    }
    return HDX_OK;
}

static bool is_chosen(const swift *s, uint64_t record) { return s->records[record].heap != OTHER_DUMP; }

/*
 * Checks that a survey can resume from there; a saved state is not trusted. Pieces count as stretches, so they must be
 * inside of their records.
 */
static bool halt_valid(const swift *s, const hdx_survey_halt *h)
{
    uint64_t record = 0;
    hdx_pos  before = 0;
    if (h->at.next > s->count || h->at.count > HDX_WORKERS_MAX)
        return false;
    for (uint32_t i = 0; i < h->at.count; i++) {
        const hdx_left *run = &h->at.left[i];
        if (run->from >= run->end || run->end > h->at.next ||
            (run->pos != 0 && (run->pos < s->records[run->from].from || run->pos > s->records[run->from].end)))
            return false;
    }
    for (uint64_t i = 0; i < h->piece_count; i++) {
        const hdx_stretch *piece = &h->pieces[i];
        while (record < s->count && s->records[record].end <= piece->from)
            record++;
        if (record == s->count || !is_chosen(s, record) || piece->from < s->records[record].from ||
            piece->from < before || piece->from >= piece->end || piece->end > s->records[record].end)
            return false;
        before = piece->end;
    }
    return true;
}

/* Returns the bytes that need not be read again, for progress reports. */
static uint64_t bytes_done(const swift *s)
{
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < s->at.next; i++)
        bytes += s->records[i].end - s->records[i].from;
    for (uint32_t i = 0; i < s->at.count; i++) {
        const hdx_left *run = &s->at.left[i];
        for (uint64_t k = run->from; k < run->end; k++)
            bytes -= s->records[k].end - (k == run->from && run->pos != 0 ? run->pos : s->records[k].from);
    }
    return bytes;
}

/* Stores where a survey ended or was stopped in *halt, with all pieces and counts. */
static void save_halt(swift *s, hdx_survey_halt *halt)
{
    const hdx_code code = hdx_first_error_take(&s->fault, NULL);
    halt->holds = !atomic_load(&s->odd) && (code == HDX_OK || code == HDX_CANCELLED);
    halt->at = s->at;
    for (unsigned n = 0; n < s->threads; n++)
        for (unsigned tag = 0; tag < 256; tag++)
            halt->counts[tag] += s->workers[n].counts[tag];
}

hdx_code hdx_survey_swift(hdx_source *source, const hdx_survey_options *options, const hdx_survey_sink *sink,
                          hdx_survey *out, bool *odd, hdx_error *err)
{
    swift           s = { .source = source, .options = options, .sink = sink, .out = out };
    hdx_window      w = hdx_window_of(source, NULL, TABLE_CHUNK, options->mem, NULL);
    hdx_pos         size = 0;
    hdx_code        code;
    hdx_survey_halt own = { 0 }, *halt = options->halt != NULL ? options->halt : &own;
    const bool      goes_on = halt->holds;
    s.threads = options->threads == 0 ? 1 : options->threads > HDX_WORKERS_MAX ? HDX_WORKERS_MAX : options->threads;
    *odd = true;
    halt->holds = false;
    if (!hdx_source_size(source, &size))
        return HDX_OK;
    (void)pthread_mutex_init(&s.lock, NULL);
    code = hop(&s, &w, size, odd, err);
    hdx_window_free(&w);
    if (code != HDX_OK || *odd)
        goto out;
    if (goes_on) {
        if (!halt_valid(&s, halt)) {
            code = hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no saved survey of this file to resume from");
            goto out;
        }
        s.at = halt->at;
        (void)hdx_tick(options->tick, bytes_done(&s));
    }
    if (s.count < s.threads)
        s.threads = s.count == 0 ? 1 : (unsigned)s.count;
    s.workers = hdx_mem_array(options->mem, s.threads, sizeof *s.workers);
    if (s.workers == NULL) {
        code = hdx_no_memory(err, "survey", s.threads * sizeof *s.workers);
        goto out;
    }
    hdx_workers_run(s.threads, work, &s);
    code = gather_pieces(&s, halt, err);
    if (code == HDX_OK)
        save_halt(&s, halt);
    if (hdx_first_error_any(&s.fault))
        code = hdx_first_error_take(&s.fault, err);
    else if (atomic_load(&s.odd))
        *odd = true;
    else if (code == HDX_OK) {
        hdx_survey_count(out, halt->counts);
        code = make_stretches(&s, halt, err);
    }
out:
    if (s.workers != NULL)
        for (unsigned n = 0; n < s.threads; n++)
            hdx_mem_put(options->mem, s.workers[n].pieces, s.workers[n].capacity * sizeof *s.workers[n].pieces);
    hdx_mem_put(options->mem, s.workers, s.threads * sizeof *s.workers);
    hdx_mem_put(options->mem, s.records, s.capacity * sizeof *s.records);
    hdx_mem_put(options->mem, own.pieces, own.piece_capacity * sizeof *own.pieces);
    (void)pthread_mutex_destroy(&s.lock);
    return code;
}
