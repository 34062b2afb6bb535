/*
 * streams.c - Arrow streams of one session on threads of their own, and what is ended from another thread.
 *
 * All streams of a session are read at once, while further answers and statements are asked: each gives what it gives
 * alone. Sessions are cancelled while they build, answer and are read, or closed while their streams go on; statements
 * are interrupted, and their connection answers the next one. Nothing of that depends on when it happens.
 */
#include "place.h"

#include <errno.h>
#include <heapdex/columns.h>
#include <heapdex/sql.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define ROUNDS 8u

typedef struct source {
    const char  *answer; /* NULL: a statement */
    const char  *text;
    hdx_argument arguments[2];
    size_t       count;
} source;

static const source sources[] = {
    { .answer = "objects", .arguments = { { "class", "*" }, { "sort", "shallow" } }, .count = 2 },
    { .answer = "objects", .arguments = { { "class", "java.lang.String" } }, .count = 1 },
    { .answer = "histogram", .arguments = { { "by", "package" } }, .count = 1 },
    { .answer = "dominators", .count = 0 },
    { .answer = "objects", .arguments = { { "class", "*" }, { "reachable", "all" } }, .count = 2 },
    { .text = "SELECT id, class, shallow, retained FROM objects ORDER BY retained DESC, id" },
    { .text = "SELECT class, count(*), sum(shallow) FROM objects GROUP BY class ORDER BY class" },
    { .text = "SELECT src, dst FROM refs WHERE src < 3000" },
};
#define SOURCES (sizeof sources / sizeof *sources)

typedef struct reader {
    struct ArrowArrayStream stream;
    uint64_t                sum;
    _Atomic unsigned        batches; /* so far */
    _Atomic bool            over;
    int                     ended; /* 0, or an errno of get_next */
    pthread_t               thread;
} reader;

/* A format of numbers alone is summed up to the bit; of others the lengths. */
static void mix_array(uint64_t *sum, const struct ArrowArray *a, const struct ArrowSchema *s)
{
    *sum = (*sum ^ (uint64_t)a->length) * 0x9e3779b97f4a7c15ull;
    if (strcmp(s->format, "l") == 0 && a->n_buffers == 2 && a->buffers[1] != NULL)
        for (int64_t i = 0; i < a->length; i++)
            *sum = (*sum ^ (uint64_t)((const int64_t *)a->buffers[1])[a->offset + i]) * 0x9e3779b97f4a7c15ull;
}

static void *read_stream(void *context)
{
    reader            *r = context;
    struct ArrowSchema schema;
    if ((r->ended = r->stream.get_schema(&r->stream, &schema)) == 0) {
        for (;;) {
            struct ArrowArray batch;
            if ((r->ended = r->stream.get_next(&r->stream, &batch)) != 0 || batch.release == NULL)
                break;
            for (int64_t i = 0; i < batch.n_children; i++)
                mix_array(&r->sum, batch.children[i], schema.children[i]);
            atomic_fetch_add(&r->batches, 1);
            batch.release(&batch);
        }
        schema.release(&schema);
    }
    if (r->ended != 0 && r->ended != ECANCELED)
        die(r->stream.get_last_error(&r->stream), NULL);
    r->stream.release(&r->stream);
    atomic_store(&r->over, true);
    return NULL;
}

static void begin(reader *r)
{
    if (pthread_create(&r->thread, NULL, read_stream, r) != 0)
        die("no thread", NULL);
}

static hdx_code ask(hdx_session *s, hdx_sql *sql, const source *from, reader *r, hdx_error *err)
{
    *r = (reader){ .sum = 0 };
    return from->answer != NULL ? hdx_answer_arrow(s, from->answer, from->arguments, from->count, &r->stream, err)
                                : hdx_sql_arrow(sql, from->text, 0, &r->stream, err);
}

static void open_session(const place *p, const char *index, hdx_session **s, hdx_sql **sql)
{
    const hdx_index_options options = { .dump = p->dump, .index_dir = index, .threads = 2 };
    hdx_error               err;
    if (hdx_session_open(&options, s, &err) != HDX_OK || (sql != NULL && hdx_sql_open(*s, NULL, sql, &err) != HDX_OK))
        die("a session", &err);
}

/* Each source alone. */
static void read_alone(const place *p, const char *index, uint64_t sums[SOURCES])
{
    hdx_session *s;
    hdx_sql     *sql;
    hdx_error    err;
    open_session(p, index, &s, &sql);
    for (size_t i = 0; i < SOURCES; i++) {
        reader r;
        if (ask(s, sql, &sources[i], &r, &err) != HDX_OK)
            die("alone", &err);
        (void)read_stream(&r);
        if (r.ended != 0)
            die("alone: it was cancelled by nobody", NULL);
        sums[i] = r.sum;
    }
    hdx_sql_close(sql);
    hdx_session_close(s);
}

/* All at once; `closes`: the session is closed while they are read. */
static void read_together(const place *p, const char *index, const uint64_t sums[SOURCES], bool closes)
{
    hdx_session *s;
    hdx_sql     *sql;
    hdx_error    err;
    reader       readers[2 * SOURCES];
    open_session(p, index, &s, &sql);
    for (size_t i = 0; i < 2 * SOURCES; i++) { /* those before it are read meanwhile */
        if (ask(s, sql, &sources[i % SOURCES], &readers[i], &err) != HDX_OK)
            die("together", &err);
        begin(&readers[i]);
    }
    if (closes) {
        hdx_sql_close(sql);
        hdx_session_close(s);
    }
    for (size_t i = 0; i < 2 * SOURCES; i++) {
        pthread_join(readers[i].thread, NULL);
        if (readers[i].ended != 0 || readers[i].sum != sums[i % SOURCES])
            die("together: a stream gave something else than alone", NULL);
    }
    if (!closes) {
        hdx_sql_close(sql);
        hdx_session_close(s);
    }
}

/* Cancelled once a stream has given so many batches: each ends whole or with ECANCELED, and nothing is answered then.
 */
static void cancel_streams(const place *p, const char *index, const uint64_t sums[SOURCES], unsigned batches,
                           unsigned *cancelled)
{
    hdx_session *s;
    hdx_sql     *sql;
    hdx_error    err;
    reader       readers[SOURCES], late;
    open_session(p, index, &s, &sql);
    for (size_t i = 0; i < SOURCES; i++) {
        if (ask(s, sql, &sources[i], &readers[i], &err) != HDX_OK)
            die("cancelled", &err);
        begin(&readers[i]);
    }
    while (atomic_load(&readers[0].batches) < batches && !atomic_load(&readers[0].over))
        (void)sched_yield();
    hdx_session_cancel(s);
    for (size_t i = 0; i < SOURCES; i++) {
        pthread_join(readers[i].thread, NULL);
        if (readers[i].ended == 0 && readers[i].sum != sums[i])
            die("cancelled: a stream ended early and did not say so", NULL);
        *cancelled += readers[i].ended == ECANCELED;
    }
    if (ask(s, sql, &sources[0], &late, &err) != HDX_CANCELLED)
        die("cancelled: a later answer is given", NULL);
    hdx_sql_close(sql);
    hdx_session_close(s);
}

typedef struct canceller {
    hdx_session     *s;
    hdx_sql         *sql; /* NULL: the session is cancelled */
    _Atomic unsigned at;  /* reports of progress so far */
    unsigned         when;
    _Atomic bool     over;
    pthread_t        thread;
} canceller;

static void count_report(void *context, const hdx_progress_report *report)
{
    (void)report;
    atomic_fetch_add(&((canceller *)context)->at, 1);
}

static void *cancel_later(void *context)
{
    canceller *c = context;
    while (atomic_load(&c->at) < c->when && !atomic_load(&c->over))
        (void)sched_yield();
    if (c->sql == NULL)
        hdx_session_cancel(c->s);
    while (c->sql != NULL && !atomic_load(&c->over)) /* one that comes before the statement ends nothing */
        hdx_sql_interrupt(c->sql);
    return NULL;
}

/* A build that is asked for by an answer. */
static void cancel_build(const place *p, unsigned round, unsigned *cancelled)
{
    char                    index[128];
    canceller               c = { .when = round };
    const hdx_index_options options = {
        .dump = p->dump, .index_dir = index, .threads = 2, .progress = { .context = &c, .report = count_report }
    };
    hdx_rows *rows = NULL;
    hdx_error err;
    snprintf(index, sizeof index, "%s/built-%u.hdx", p->folder, round);
    if (hdx_session_open(&options, &c.s, &err) != HDX_OK)
        die("a session", &err);
    if (pthread_create(&c.thread, NULL, cancel_later, &c) != 0)
        die("no thread", NULL);
    const hdx_code code = hdx_answer_run(c.s, "dominators", NULL, 0, &rows, &err);
    hdx_rows_close(rows);
    atomic_store(&c.over, true);
    pthread_join(c.thread, NULL);
    if (code != HDX_OK && code != HDX_CANCELLED)
        die("a build that was cancelled", &err);
    *cancelled += code == HDX_CANCELLED;
    hdx_session_close(c.s);
}

/* A statement without end, before its first row or between its rows; then one that ends. */
static void interrupt_statements(const place *p, const char *index)
{
    static const char *const endless[] = {
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    };
    hdx_session *s;
    hdx_sql     *sql;
    open_session(p, index, &s, &sql);
    for (unsigned round = 0; round < 6; round++) {
        canceller       c = { .s = s, .sql = sql };
        const hdx_cell *cells;
        hdx_rows       *rows = NULL;
        hdx_error       err = { .offset = HDX_NOWHERE };
        if (pthread_create(&c.thread, NULL, cancel_later, &c) != 0)
            die("no thread", NULL);
        hdx_code code = hdx_sql_run(sql, endless[round % 2], NULL, &rows, &err);
        while (code == HDX_OK && hdx_rows_next(rows, &cells))
            ;
        if (code == HDX_OK)
            code = hdx_rows_end(rows, &err);
        hdx_rows_close(rows);
        atomic_store(&c.over, true);
        pthread_join(c.thread, NULL);
        if (code != HDX_CANCELLED)
            die("an interrupted statement", &err);
        rows = NULL;
        if (hdx_sql_run(sql, "SELECT 40 + 2", NULL, &rows, &err) != HDX_OK || !hdx_rows_next(rows, &cells) ||
            cells[0].as.natural != 42)
            die("the statement after it", &err);
        hdx_rows_close(rows);
    }
    hdx_sql_close(sql);
    hdx_session_close(s);
}

int main(void)
{
    place    p;
    char     index[96];
    uint64_t sums[SOURCES];
    unsigned streams = 0, builds = 0;
    place_make(&p, 12000);
    snprintf(index, sizeof index, "%s/a.hdx", p.folder);
    build_index(&p, index, 2);
    read_alone(&p, index, sums);
    read_together(&p, index, sums, false);
    read_together(&p, index, sums, true);
    for (unsigned i = 0; i < ROUNDS; i++)
        cancel_streams(&p, index, sums, i % 4, &streams);
    for (unsigned i = 0; i < ROUNDS; i++)
        cancel_build(&p, i, &builds);
    interrupt_statements(&p, index);
    printf("%u of %u streams and %u of %u builds were cancelled\n", streams, ROUNDS * (unsigned)SOURCES, builds,
           ROUNDS);
    place_remove(&p);
    return streams > 0 && builds > 0 ? 0 : 1;
}
