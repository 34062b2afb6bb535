/*
 * test_halted.c - surveys and walks that are stopped wherever they ask, and go on from there: what all of them told
 * together is what one alone tells, each record once. A place that is none is not gone on from.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "surveyed.h"

typedef unsigned long long ull;

static unsigned asked, left;
static bool     impatient(void *context)
{
    (void)context;
    return asked++ >= left;
}

/* Several MiB: segments of many lengths, arrays longer than what is read at once, heaps with names. */
static dump_maker *make(unsigned id_size, bool whole, bool two)
{
    dump_maker *m = dump_maker_new(id_size);
    m->whole = whole;
    m->version = whole ? "1.0.1" : "1.0.3";
    if (!whole)
        dump_maker_heap_info(m, 'A', "app");
    const uint64_t object = make_heap(m, 3), node = dump_maker_class(m, "app/Big", object, "next:L count:I a:J b:J"),
                   array = dump_maker_class(m, "[Lapp/Big;", object, "");
    for (unsigned part = 0; part < (two ? 2 : 1); part++) {
        for (unsigned i = 0; i < 24000; i++) {
            (void)dump_maker_instance(m, node, NULL);
            if (i % 4000 == 77)
                (void)dump_maker_array(m, array, NULL, 90000 + i);
            if (i % 6000 == 99)
                (void)dump_maker_primitives(m, 'J', NULL, 70000);
            if (!whole && i % 1500 == 0 && (i < 6000 || i > 20000)) /* one is several MiB long */
                dump_maker_segment(m);
            if (!whole && i % 3100 == 9)
                dump_maker_heap_info(m, i % 2 == 0 ? 'Z' : 'A', "other");
        }
        if (part == 0 && two)
            dump_maker_end(m);
    }
    return m;
}

static hdx_source *opened(dump_maker *m, gm_bytes *bytes, gm_file *door)
{
    size_t         len;
    hdx_source    *source = NULL;
    const uint8_t *at = dump_maker_bytes(m, &len);
    *bytes = (gm_bytes){ (uint8_t *)(uintptr_t)at, len, len };
    *door = gm_file_of(bytes);
    cr_assert(eq(int, hdx_source_open_io(&door->io, "a.hprof", NULL, &source, NULL), HDX_OK));
    return source;
}

static surveyed *fresh(void)
{
    surveyed *s = calloc(1, sizeof *s);
    (void)pthread_mutex_init(&s->lock, NULL);
    return s;
}

/* One attempt that may ask `patience` times. */
static hdx_code attempt(surveyed *s, hdx_source *source, unsigned threads, uint32_t number, unsigned patience,
                        hdx_survey_halt *halt)
{
    hdx_ticker               tick;
    const hdx_progress       progress = { NULL, NULL, impatient };
    const hdx_survey_sink    sink = { s, surveyed_heap, surveyed_top, surveyed_restart };
    const hdx_survey_options options = { .dump_number = number, .threads = threads, .tick = &tick, .halt = halt };
    asked = 0;
    left = patience;
    hdx_ticker_init(&tick, &progress, 1);
    hdx_ticker_step(&tick, "survey", 1, "bytes");
    hdx_survey_free(&s->survey);
    s->tops = s->top_sum = 0; /* those come again */
    s->code = hdx_hprof_survey(source, &options, &sink, &s->survey, &s->err);
    hdx_ticker_free(&tick);
    return s->code;
}

static void expect_same(const surveyed *a, const surveyed *b, const char *what)
{
    cr_assert(a->count == b->count && a->survey.objects == b->survey.objects, "%s: %zu events of %zu", what, a->count,
              b->count);
    for (size_t i = 0; i < a->count; i++)
        cr_assert(events_differ(&a->events[i], &b->events[i]) == false, "%s: event %zu at %llu and %llu", what, i,
                  (ull)a->events[i].pos, (ull)b->events[i].pos);
    cr_expect(a->tops == b->tops && a->top_sum == b->top_sum, "%s: records of tables", what);
    cr_expect(memcmp(a->survey.sub_records, b->survey.sub_records, sizeof a->survey.sub_records) == 0, "%s", what);
    uint64_t bytes[2] = { 0, 0 };
    for (unsigned n = 0; n < 2; n++) {
        const hdx_survey *v = n == 0 ? &a->survey : &b->survey;
        for (uint64_t i = 0; i < v->stretch_count; i++) {
            bytes[n] += v->stretches[i].end - v->stretches[i].from;
            cr_expect(i == 0 || v->stretches[i].from >= v->stretches[i - 1].end, "%s: stretch %llu", what, (ull)i);
        }
    }
    cr_expect(eq(u64, bytes[0], bytes[1]));
}

/* How the dumps are: ids of 8 and 4 bytes, one record, the first and the second of two. */
static const struct {
    unsigned id_size;
    bool     whole, two;
    uint32_t number;
} dumps[] = { { 8, false, false, 1 }, { 4, true, false, 1 }, { 4, false, true, 2 }, { 8, false, true, 1 } };

Test(halted, surveys_go_on_where_they_were_stopped)
{
    for (size_t d = 0; d < sizeof dumps / sizeof *dumps; d++) {
        if (dumps[d].whole) /* without an end record all rules are needed, and nobody goes on from that */
            continue;
        dump_maker *m = make(dumps[d].id_size, dumps[d].whole, dumps[d].two);
        gm_bytes    bytes;
        gm_file     door;
        hdx_source *source = opened(m, &bytes, &door);
        surveyed   *alone = fresh();
        cr_assert(eq(int, attempt(alone, source, 1, dumps[d].number, UINT32_MAX, NULL), HDX_OK));
        cr_assert(asked > 12, "asked %u times", asked);
        const unsigned all = asked;
        qsort(alone->events, alone->count, sizeof *alone->events, by_position);
        for (unsigned threads = 1; threads <= 3; threads += 2)
            for (unsigned patience = all / 3; patience < all + 4; patience += all / 5) {
                surveyed       *s = fresh();
                hdx_survey_halt halt = { .holds = false };
                unsigned        times = 0;
                while (attempt(s, source, threads, dumps[d].number, patience, &halt) == HDX_CANCELLED && times < 100) {
                    cr_assert(halt.holds || s->count == 0, "dump %zu", d);
                    times++;
                }
                cr_assert(s->code == HDX_OK, "dump %zu, %u threads, patience %u: %s", d, threads, patience,
                          s->err.message);
                cr_expect(s->restarts == 0);
                qsort(s->events, s->count, sizeof *s->events, by_position);
                expect_same(s, alone, "survey");
                hdx_mem_put(NULL, halt.pieces, halt.piece_capacity * sizeof *halt.pieces);
                surveyed_free(s);
            }
        surveyed_free(alone);
        hdx_source_close(source);
        dump_maker_free(m);
    }
}

/* Everything that a halt may say wrongly. */
Test(halted, places_that_are_none_are_not_gone_on_from)
{
    dump_maker     *m = make(8, false, true);
    gm_bytes        bytes;
    gm_file         door;
    hdx_source     *source = opened(m, &bytes, &door);
    surveyed       *s = fresh();
    hdx_survey_halt halt = { .holds = false }, other;
    while (attempt(s, source, 1, 1, 8, &halt) == HDX_CANCELLED &&
           (halt.piece_count < 2 || halt.at.count == 0 || halt.at.left[0].pos == 0))
        ; /* until it was stopped in records twice */
    cr_assert(s->code == HDX_CANCELLED && halt.holds, "%s", s->err.message);
    static const struct {
        const char *what;
        hdx_code    code;
    } cases[] = {
        { "as it is", HDX_OK },
        { "a record behind the last is next", HDX_NOT_FOUND },
        { "more runs than workers", HDX_NOT_FOUND },
        { "an empty run", HDX_NOT_FOUND },
        { "a run behind what is next", HDX_NOT_FOUND },
        { "a place before its record", HDX_NOT_FOUND },
        { "a place behind its record", HDX_NOT_FOUND },
        { "pieces in the wrong order", HDX_NOT_FOUND },
        { "an empty piece", HDX_NOT_FOUND },
        { "a piece longer than its record", HDX_NOT_FOUND },
        { "a piece of no record", HDX_NOT_FOUND },
        { "a piece behind the last record", HDX_NOT_FOUND },
        { "as many runs as there may be", HDX_OK },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t size = halt.piece_count * sizeof *halt.pieces;
        other = halt;
        other.pieces = hdx_mem_get(NULL, size);
        other.piece_capacity = other.piece_count;
        memcpy(other.pieces, halt.pieces, size);
        hdx_left    *run = &other.at.left[0];
        hdx_stretch *p = other.pieces;
        switch (i) {
        case 1: other.at.next = UINT64_MAX; break;
        case 2: other.at.count = HDX_WORKERS_MAX + 1; break;
        case 3: run->from = run->end; break;
        case 4: run->end = other.at.next + 1; break;
        case 5: run->pos = 1; break;
        case 6: run->pos = bytes.len; break;
        case 7: p[0] = p[1], p[1] = halt.pieces[0]; break;
        case 8: p[0].end = p[0].from; break;
        case 9: p[0].end = bytes.len; break;
        case 10: p[0].from = 40, p[0].end = 50; break;
        case 11: p[other.piece_count - 1] = (hdx_stretch){ bytes.len + 5, bytes.len + 9, 0 }; break;
        case 12:
            other.at.count = HDX_WORKERS_MAX;
            for (unsigned k = 1; k < HDX_WORKERS_MAX; k++)
                other.at.left[k] = *run;
            break;
        default: break;
        }
        surveyed *again = fresh();
        cr_expect(attempt(again, source, 1, 1, UINT32_MAX, &other) == cases[i].code, "%s: %s", cases[i].what,
                  again->code != HDX_OK ? again->err.message : "it goes on");
        cr_expect(cases[i].code == HDX_OK || again->count == 0, "%s: %zu events", cases[i].what, again->count);
        hdx_mem_put(NULL, other.pieces, other.piece_capacity * sizeof *other.pieces);
        surveyed_free(again);
    }
    hdx_mem_put(NULL, halt.pieces, halt.piece_capacity * sizeof *halt.pieces);
    surveyed_free(s);
    hdx_source_close(source);
    dump_maker_free(m);
}

static hdx_code refuse_heap(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    (void)context, (void)worker, (void)events, (void)n;
    return hdx_fail(err, HDX_BUSY, "", HDX_NOWHERE, "not now");
}

/* Nobody goes on from where all rules were needed, or something failed. */
Test(halted, holds_only_of_sound_dumps_that_were_stopped_or_done)
{
    for (unsigned how = 0; how < 3; how++) {
        dump_maker *m = make(8, false, false);
        gm_bytes    bytes;
        gm_file     door;
        if (how == 1) /* a sub-record of no kind, in the middle of a record */
            dump_maker_raw(m, "\x77", 1);
        hdx_source              *source = opened(m, &bytes, &door);
        surveyed                *s = fresh();
        hdx_survey_halt          halt = { .holds = false };
        const hdx_survey_sink    sink = { s, how == 2 ? refuse_heap : surveyed_heap, surveyed_top, surveyed_restart };
        const hdx_survey_options options = { .dump_number = 1, .threads = 2, .halt = &halt };
        const hdx_code           code = hdx_hprof_survey(source, &options, &sink, &s->survey, &s->err);
        cr_expect(eq(int, code, how == 2 ? HDX_BUSY : HDX_OK));
        cr_expect(eq(int, halt.holds, how == 0), "case %u", how);
        cr_expect(eq(u32, s->restarts, how == 1));
        hdx_mem_put(NULL, halt.pieces, halt.piece_capacity * sizeof *halt.pieces);
        surveyed_free(s);
        hdx_source_close(source);
        dump_maker_free(m);
    }
}

/* ---- walks ---- */

typedef struct walked {
    uint64_t       *bytes; /* given, by position in the dump: each once at the least */
    uint64_t        size, begun, ended;
    bool            twice_allowed, wrong;
    pthread_mutex_t lock;
} walked;

static hdx_code walk_begin(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    walked *w = context;
    (void)worker, (void)stretch, (void)err;
    (void)pthread_mutex_lock(&w->lock);
    w->begun++;
    (void)pthread_mutex_unlock(&w->lock);
    return HDX_OK;
}
static hdx_code walk_end(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    walked *w = context;
    (void)worker, (void)stretch, (void)err;
    (void)pthread_mutex_lock(&w->lock);
    w->ended++;
    (void)pthread_mutex_unlock(&w->lock);
    return HDX_OK;
}
static hdx_code walk_events(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    walked *w = context;
    (void)worker, (void)err;
    (void)pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < n; i++) {
        uint64_t *place = &w->bytes[events[i].pos];
        if (events[i].body_from == 0) /* the first part; where it comes again all parts do */
            *place = 0;
        *place += 1 + events[i].body_len;
    }
    (void)pthread_mutex_unlock(&w->lock);
    return HDX_OK;
}

static hdx_code walk_once(walked *w, hdx_source *source, const hdx_survey *survey, unsigned threads, unsigned patience,
                          hdx_halt *halt, hdx_error *err)
{
    hdx_ticker             tick;
    const hdx_progress     progress = { NULL, NULL, impatient };
    const hdx_walk_visitor visitor = { w, walk_begin, walk_events, walk_end };
    asked = 0;
    left = patience;
    hdx_ticker_init(&tick, &progress, 1);
    hdx_ticker_step(&tick, "walk", 1, "bytes");
    const hdx_code code = hdx_hprof_walk(source, survey, threads, &visitor, halt, NULL, &tick, err);
    hdx_ticker_free(&tick);
    return code;
}

Test(halted, walks_go_on_where_they_were_stopped)
{
    for (size_t d = 0; d < sizeof dumps / sizeof *dumps; d++) {
        dump_maker *m = make(dumps[d].id_size, dumps[d].whole, dumps[d].two);
        gm_bytes    bytes;
        gm_file     door;
        hdx_source *source = opened(m, &bytes, &door);
        surveyed   *s = fresh();
        hdx_error   err;
        cr_assert(eq(int, attempt(s, source, 1, dumps[d].number, UINT32_MAX, NULL), HDX_OK));
        walked one = { .bytes = calloc(bytes.len, 8), .size = bytes.len };
        (void)pthread_mutex_init(&one.lock, NULL);
        cr_assert(eq(int, walk_once(&one, source, &s->survey, 0, UINT32_MAX, NULL, &err), HDX_OK));
        cr_expect(one.begun == s->survey.stretch_count && one.ended == one.begun);
        const unsigned all = asked;
        for (unsigned threads = 1; threads <= 3; threads += 2)
            for (unsigned patience = all / 4; patience < all + 4; patience += all / 5) {
                walked   w = { .bytes = calloc(bytes.len, 8), .size = bytes.len };
                hdx_halt halt = { .next = 0 };
                hdx_code code;
                unsigned times = 0;
                (void)pthread_mutex_init(&w.lock, NULL);
                while ((code = walk_once(&w, source, &s->survey, threads, patience, &halt, &err)) == HDX_CANCELLED &&
                       times++ < 100)
                    ;
                cr_assert(code == HDX_OK, "dump %zu, %u threads, patience %u: %s", d, threads, patience, err.message);
                cr_expect(eq(u64, w.ended, s->survey.stretch_count), "each stretch ends once");
                cr_expect(w.begun >= w.ended && w.begun <= w.ended + threads * (times + 1));
                cr_expect(halt.count == 0 && halt.next == s->survey.stretch_count);
                for (uint64_t at = 0; at < bytes.len; at++) /* parts differ where they were cut, bytes do not */
                    if ((w.bytes[at] == 0) != (one.bytes[at] == 0) || w.bytes[at] + 40 < one.bytes[at]) {
                        cr_expect(false, "dump %zu, %u threads, patience %u: at %llu %llu, not %llu", d, threads,
                                  patience, (ull)at, (ull)w.bytes[at], (ull)one.bytes[at]);
                        break;
                    }
                (void)pthread_mutex_destroy(&w.lock);
                free(w.bytes);
            }
        (void)pthread_mutex_destroy(&one.lock);
        free(one.bytes);
        surveyed_free(s);
        hdx_source_close(source);
        dump_maker_free(m);
    }
}

/* A walk that is stopped in an array begins with the array again, however little of it is left. */
Test(halted, walks_go_on_in_arrays_of_any_length)
{
    static const uint32_t counts[] = { 65537, 65536, 131073, 131072, 131074, 65535, 196609 };
    dump_maker           *m = dump_maker_new(8);
    const uint64_t        object = make_heap(m, 1);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        (void)dump_maker_array(m, object, NULL, counts[i]);
    gm_bytes    bytes;
    gm_file     door;
    hdx_source *source = opened(m, &bytes, &door);
    surveyed   *s = fresh();
    hdx_error   err;
    cr_assert(eq(int, attempt(s, source, 1, 1, UINT32_MAX, NULL), HDX_OK));
    walked one = { .bytes = calloc(bytes.len, 8), .size = bytes.len };
    (void)pthread_mutex_init(&one.lock, NULL);
    cr_assert(eq(int, walk_once(&one, source, &s->survey, 1, UINT32_MAX, NULL, &err), HDX_OK));
    const unsigned all = asked;
    for (unsigned patience = 0; patience < all; patience++) {
        walked   w = { .bytes = calloc(bytes.len, 8), .size = bytes.len };
        hdx_halt halt = { .next = 0 };
        (void)pthread_mutex_init(&w.lock, NULL);
        cr_expect(eq(int, walk_once(&w, source, &s->survey, 1, patience, &halt, &err), HDX_CANCELLED));
        cr_assert(walk_once(&w, source, &s->survey, 1, UINT32_MAX, &halt, &err) == HDX_OK, "patience %u: %s", patience,
                  err.message);
        cr_expect(memcmp(w.bytes, one.bytes, bytes.len * 8) == 0, "patience %u", patience);
        cr_expect(eq(u64, w.ended, s->survey.stretch_count));
        (void)pthread_mutex_destroy(&w.lock);
        free(w.bytes);
    }
    (void)pthread_mutex_destroy(&one.lock);
    free(one.bytes);
    surveyed_free(s);
    hdx_source_close(source);
    dump_maker_free(m);
}
