/*
 * surveyed.h - a dump in memory, surveyed and walked, with everything that the sinks were told.
 */
#ifndef HDX_TESTS_HPROF_SURVEYED_H
#define HDX_TESTS_HPROF_SURVEYED_H

#include "hprof/hprof.h"
#include "support/dump_maker.h"
#include "support/gzip_maker.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct surveyed {
    hdx_survey      survey;
    hdx_error       err;
    hdx_code        code;
    hdx_event      *events; /* sorted by position */
    size_t          count, capacity;
    uint64_t        tops, top_sum;
    unsigned        restarts;
    unsigned        threads; /* at most; 0: nobody said */
    uint64_t        walked, body_bytes, body_sum;
    pthread_mutex_t lock;
} surveyed;

static inline uint64_t sum_bytes(uint64_t sum, const uint8_t *p, size_t n)
{
    for (size_t k = 0; k < n; k++)
        sum = sum * 31 + p[k];
    return sum;
}

static inline hdx_code surveyed_heap(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    surveyed *s = context;
    (void)err;
    cr_expect(s->threads == 0 || worker < s->threads, "worker %u of %u", worker, s->threads);
    (void)pthread_mutex_lock(&s->lock);
    for (size_t k = 0; k < n; k++) {
        if (s->count == s->capacity) {
            s->capacity = s->capacity == 0 ? 256 : 2 * s->capacity;
            s->events = realloc(s->events, s->capacity * sizeof *s->events);
        }
        hdx_event e = events[k];
        if (e.body != NULL) /* the bytes do not outlive the call: their sum stands for them */
            e.body_from = (uint32_t)sum_bytes(7, e.body, e.body_len);
        e.body = NULL;
        s->events[s->count++] = e;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return HDX_OK;
}

static inline hdx_code surveyed_top(void *context, const hdx_top *t, hdx_error *err)
{
    surveyed *s = context;
    (void)err;
    s->tops++;
    s->top_sum = s->top_sum * 31 + t->pos + t->id * 3 + t->name * 5 + t->signature * 7 + t->source_file * 11 +
                 t->serial * 13u + t->thread * 17u + (uint32_t)t->line * 19u + t->count * 23u +
                 sum_bytes(t->tag, t->body.at, t->body.len);
    return HDX_OK;
}

static inline hdx_code surveyed_restart(void *context, hdx_error *err)
{
    surveyed *s = context;
    (void)err;
    s->count = 0;
    s->tops = s->top_sum = 0;
    s->restarts++;
    return HDX_OK;
}

static inline int by_position(const void *a, const void *b)
{
    const hdx_event *x = a, *y = b;
    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

static inline hdx_code walked_nothing(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    (void)context;
    (void)worker;
    (void)stretch;
    (void)err;
    return HDX_OK;
}

static inline hdx_code walked_events(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    surveyed *s = context;
    uint64_t  records = 0, bytes = 0, sum = 0;
    (void)worker;
    (void)err;
    for (size_t k = 0; k < n; k++) {
        records += events[k].body_from == 0;
        bytes += events[k].body_len;
        sum += sum_bytes(events[k].pos + events[k].body_from, events[k].body, events[k].body_len);
    }
    (void)pthread_mutex_lock(&s->lock);
    s->walked += records;
    s->body_bytes += bytes;
    s->body_sum += sum;
    (void)pthread_mutex_unlock(&s->lock);
    return HDX_OK;
}

typedef struct how {
    unsigned threads; /* 0: 1 */
    bool     sequential;
    uint32_t dump_number;
    hdx_mem *mem;
} how;

/* Surveys a source, walks it, closes nothing. */
static inline void survey_source(surveyed *s, hdx_source *source, how h)
{
    const hdx_survey_options options = { .threads = h.threads == 0 ? 1 : h.threads,
                                         .sequential = h.sequential,
                                         .dump_number = h.dump_number,
                                         .mem = h.mem };
    const hdx_survey_sink    sink = { s, surveyed_heap, surveyed_top, surveyed_restart };
    s->threads = h.sequential ? 1 : options.threads;
    s->code = hdx_hprof_survey(source, &options, &sink, &s->survey, &s->err);
    if (s->code != HDX_OK) {
        cr_expect(s->err.code == s->code, "the words say %s: %s", hdx_code_name(s->err.code), s->err.message);
        return;
    }
    if (s->count > 0)
        qsort(s->events, s->count, sizeof *s->events, by_position);
    const hdx_walk_visitor visitor = { s, walked_nothing, walked_events, walked_nothing };
    s->code = hdx_hprof_walk(source, &s->survey, options.threads, &visitor, NULL, h.mem, NULL, &s->err);
}

static inline surveyed *survey_bytes(const void *bytes, size_t len, how h)
{
    surveyed   *s = calloc(1, sizeof *s);
    gm_bytes    b = { (uint8_t *)(uintptr_t)bytes, len, len };
    gm_file     door = gm_file_of(&b);
    hdx_source *source = NULL;
    (void)pthread_mutex_init(&s->lock, NULL);
    s->code = hdx_source_open_io(&door.io, "test.hprof", NULL, &source, &s->err);
    if (s->code == HDX_OK)
        survey_source(s, source, h);
    hdx_source_close(source);
    return s;
}

static inline surveyed *survey_maker(dump_maker *m, how h)
{
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    return survey_bytes(bytes, len, h);
}

static inline void surveyed_free(surveyed *s)
{
    hdx_survey_free(&s->survey);
    (void)pthread_mutex_destroy(&s->lock);
    free(s->events);
    free(s);
}

/* Field by field: what lies between them is anything. */
static inline bool events_differ(const hdx_event *a, const hdx_event *b)
{
    return a->pos != b->pos || a->addr != b->addr || a->class_addr != b->class_addr || a->body != b->body ||
           a->count != b->count || a->body_len != b->body_len || a->body_from != b->body_from || a->heap != b->heap ||
           a->serial != b->serial || a->frame != b->frame || a->tag != b->tag || a->type != b->type;
}

/* Words for a failed comparison; NULL where both say the same. */
static inline const char *surveys_differ(const surveyed *a, const surveyed *b)
{
    if (a->code != b->code)
        return "code";
    if (a->code != HDX_OK)
        return NULL;
    if (a->survey.objects != b->survey.objects)
        return "objects";
    if (a->count != b->count)
        return "events";
    for (size_t k = 0; k < a->count; k++)
        if (events_differ(&a->events[k], &b->events[k]))
            return "events";
    if (a->tops != b->tops || a->top_sum != b->top_sum)
        return "top-level records";
    if (memcmp(a->survey.top_records, b->survey.top_records, sizeof a->survey.top_records) != 0)
        return "counts of records";
    if (memcmp(a->survey.sub_records, b->survey.sub_records, sizeof a->survey.sub_records) != 0)
        return "counts of sub-records";
    if (a->survey.dumps_in_file != b->survey.dumps_in_file || a->survey.heap_time_us != b->survey.heap_time_us)
        return "dumps";
    if (a->survey.damage_count != b->survey.damage_count ||
        (a->survey.damage_count > 0 &&
         memcmp(a->survey.damage, b->survey.damage, a->survey.damage_count * sizeof *a->survey.damage) != 0))
        return "damage";
    if (a->survey.warning_count != b->survey.warning_count)
        return "warnings";
    if (a->walked != b->walked || a->body_bytes != b->body_bytes || a->body_sum != b->body_sum)
        return "walk";
    return NULL;
}

/* Read by both readers, and packed: they must agree. */
static inline surveyed *both_readers(const void *bytes, size_t len)
{
    gm_bytes packed = { 0 };
    gm_member_put(&packed, bytes, len, &(gm_member){ .stored = true });
    surveyed *a = survey_bytes(bytes, len, (how){ .threads = 2 }),
             *b = survey_bytes(bytes, len, (how){ .sequential = true }),
             *c = survey_bytes(packed.at, packed.len, (how){ .threads = 1 });
    const char *differ = surveys_differ(a, b), *packed_differ = surveys_differ(b, c);
    cr_expect(differ == NULL, "the readers differ in %s", differ);
    cr_expect(packed_differ == NULL, "packed it differs in %s", packed_differ);
    surveyed_free(b);
    surveyed_free(c);
    gm_free(&packed);
    return a;
}

static inline surveyed *both_readers_of(dump_maker *m)
{
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    return both_readers(bytes, len);
}

/* A heap with a bit of everything: `nodes` nodes among 12 other records. Gives the id of java.lang.Object. */
static inline uint64_t make_heap(dump_maker *m, unsigned nodes)
{
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    const uint64_t array = dump_maker_class(m, "[Ljava/lang/Object;", object, "");
    const uint64_t base = dump_maker_class(m, "app/Base", object, "stamp:J");
    dump_maker_static(m, "first", 'L', object);
    dump_maker_static(m, "made", 'I', 6);
    const uint64_t node = dump_maker_class(m, "app/Node", base, "next:L count:I flag:Z");
    uint64_t       last = 0;
    for (unsigned k = 0; k < nodes; k++)
        last = dump_maker_instance(m, node, DUMP_VALUES(last, k, k & 1, k * 3));
    (void)dump_maker_array(m, array, DUMP_VALUES(last, 0, object), 3);
    (void)dump_maker_primitives(m, 'C', DUMP_VALUES('a', 'b', 'c'), 3);
    (void)dump_maker_primitives(m, 'J', NULL, 4);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, last, 1, 2);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, last, 1, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    return object;
}

#endif
