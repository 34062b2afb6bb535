/*
 * bench_query.c - asks a finished index what users ask, in one process through the library, and prints what each
 * question took, as CSV.
 *
 *     bench_query INDEX [DUMP [SEED]]
 *
 * One row a question: bench,dump,question,times,total_ms,mean_us,worst_us,cpu_us,peak_rss_mb. `times` is how often it
 * was asked, each time of other random objects (live ones; the same for one SEED); peak_rss_mb is that of the process
 * so far, mapped pages that were touched included; worst_us is 0 for single look-ups. cpu_us is the mean processor time
 * of all threads: on a busy machine the figure to compare.
 *
 *     open                    hdx_graph_open, nothing else
 *     address_to_id, id_to_address, class, shallow, retained, dominator, outbound, inbound    single look-ups
 *     object                  the document of `heapdex object` (values only with DUMP)
 *     path                    the document of `heapdex path`, shortest path from a GC root (names only with DUMP)
 *     path_exclude_weak       the same without weak, soft, phantom references; few of them, and 0 without DUMP
 *     histogram, dominators_top_25, retained_of_biggest, histogram_retained                   whole answers, read to
 *         the end
 *     path_again              the same 1,000 paths a second time: nothing is touched for the first time
 *     paths_by_1, _2, _8      8,000 paths by so many threads on one graph, asked once before; mean_us is wall time
 *                             divided by paths: with as many cores as threads it falls by their number
 *
 * No judgement inside.
 */
#include "tests/support/questions.h"
#include <heapdex/heapdex.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MANY 100000u
#define SOME 1000u
#define FEW  5u

typedef struct bench {
    hdx_graph  *g;
    hdx_query   q;
    const char *name;
    uint64_t    state, sum; /* sum keeps look-ups from being thrown away */
    hdx_id      biggest;
    hdx_id     *ids; /* MANY live objects */
    uint64_t    cpu; /* processor time when the question began */
} bench;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

static uint64_t draw(bench *b, uint64_t below)
{
    b->state = b->state * 6364136223846793005ull + 1442695040888963407ull;
    return (b->state >> 20) % below;
}

static int fail(const hdx_error *err) { return fprintf(stderr, "bench_query: %s: %s\n", err->where, err->message), 1; }

static void start(bench *b) { b->cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

static void row(const bench *b, const char *question, uint64_t times, uint64_t total_ns, uint64_t worst_ns)
{
    struct rusage usage;
    uint64_t      cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - b->cpu;
    getrusage(RUSAGE_SELF, &usage);
    double each = times == 0 ? 1.0 : (double)times;
    printf("query,%s,%s,%llu,%.3f,%.3f,%.3f,%.3f,%.0f\n", b->name, question, (unsigned long long)times,
           (double)total_ns / 1e6, (double)total_ns / 1e3 / each, (double)worst_ns / 1e3, (double)cpu / 1e3 / each,
           (double)usage.ru_maxrss / 1024);
    fflush(stdout);
}

/* ---- look-ups ---- */

static void look(bench *b, hdx_id id, int which)
{
    hdx_refs refs;
    hdx_id   other = 0;
    switch (which) {
    case 1: b->sum += hdx_graph_address(b->g, id); break;
    case 2: b->sum += hdx_graph_class_of(b->g, id); break;
    case 3: b->sum += hdx_graph_shallow(b->g, id); break;
    case 4: b->sum += hdx_graph_retained(b->g, id); break;
    case 5: b->sum += hdx_graph_dominator(b->g, id); break;
    case 6:
        hdx_graph_outbound(b->g, id, HDX_ALL, &refs);
        b->sum += hdx_refs_next(&refs, &other) ? other : 0;
        break;
    case 7:
        hdx_graph_inbound(b->g, id, HDX_ALL, &refs);
        b->sum += hdx_refs_next(&refs, &other) ? other : 0;
        break;
    default: break;
    }
}

static void lookups(bench *b)
{
    static const char *const names[] = { "address_to_id", "id_to_address", "class",    "shallow",
                                         "retained",      "dominator",     "outbound", "inbound" };
    hdx_addr                *addresses = malloc(MANY * sizeof *addresses);
    for (int which = 7; which >= 0 && addresses != NULL; which--) {
        for (unsigned i = 0; which == 0 && i < MANY; i++)
            addresses[i] = hdx_graph_address(b->g, b->ids[i]);
        for (int warm = 1; warm >= 0; warm--) {
            uint64_t begin = now_ns();
            start(b);
            for (unsigned i = 0; i < MANY; i++) {
                hdx_id id = 0;
                if (which > 0)
                    look(b, b->ids[i], which);
                else if (hdx_graph_find(b->g, addresses[i], &id))
                    b->sum += id;
            }
            if (!warm)
                row(b, names[which], MANY, now_ns() - begin, 0);
        }
    }
    free(addresses);
}

/* ---- questions ---- */

enum { OBJECT, PATH, PATH_WEAK, HISTOGRAM, TOP, BIGGEST, HISTOGRAM_RETAINED };

static hdx_code question(bench *b, int which, hdx_id id, hdx_rows **rows, hdx_error *err)
{
    hdx_path_options weak = { .exclude = HDX_EXCLUDE_WEAK | HDX_EXCLUDE_SOFT | HDX_EXCLUDE_PHANTOM, .paths = 1 };
    hdx_code         code;
    switch (which) {
    case OBJECT: return hdx_query_object(&b->q, &id, 1, 100, rows, err);
    case PATH: return hdx_query_path(&b->q, &id, 1, NULL, rows, err);
    case PATH_WEAK: return hdx_query_path(&b->q, &id, 1, &weak, rows, err);
    case HISTOGRAM: return hdx_query_histogram(&b->q, HDX_BY_CLASS, NULL, false, rows, err);
    case BIGGEST: return hdx_query_retained(&b->q, &b->biggest, 1, rows, err);
    case HISTOGRAM_RETAINED: return hdx_query_histogram(&b->q, HDX_BY_CLASS, NULL, true, rows, err);
    default: break;
    }
    code = hdx_query_dominators(&b->q, HDX_BY_OBJECT, NULL, 1, rows, err);
    return code == HDX_OK ? hdx_rows_limit(rows, 25, err) : code;
}

static int ask(bench *b, const char *name, int which, unsigned times)
{
    uint64_t  total = 0, worst = 0;
    hdx_error err;
    start(b);
    for (unsigned i = 0; i < times; i++) {
        hdx_rows       *rows = NULL;
        const hdx_cell *cells;
        uint64_t        begin = now_ns(), took;
        if (question(b, which, b->ids == NULL ? 0 : b->ids[i], &rows, &err) != HDX_OK)
            return fail(&err);
        while (hdx_rows_next(rows, &cells))
            b->sum += (uint64_t)cells[0].kind;
        hdx_code code = hdx_rows_end(rows, &err);
        hdx_rows_close(rows);
        if (code != HDX_OK)
            return fail(&err);
        took = now_ns() - begin;
        total += took;
        worst = took > worst ? took : worst;
    }
    row(b, name, times, total, worst);
    return 0;
}

/* ---- several threads ---- */

#define PATHS 8000u
typedef struct part {
    const bench *b;
    unsigned     first, step;
    uint64_t     rows;
    bool         failed;
} part;

static void *answer(void *context)
{
    part *p = context;
    bench b = *p->b;
    for (unsigned i = p->first; i < PATHS && !p->failed; i += p->step) {
        hdx_rows       *rows = NULL;
        const hdx_cell *cells;
        hdx_error       err;
        if (question(&b, PATH, b.ids[i], &rows, &err) != HDX_OK) {
            p->failed = true;
            break;
        }
        while (hdx_rows_next(rows, &cells))
            p->rows++;
        p->failed = hdx_rows_end(rows, &err) != HDX_OK;
        hdx_rows_close(rows);
    }
    return NULL;
}

static int by_threads(bench *b, const char *name, unsigned threads)
{
    part      parts[8];
    pthread_t ids[8];
    unsigned  started = 0;
    int       status = 0;
    uint64_t  begin = now_ns();
    start(b);
    for (; started < threads; started++) {
        parts[started] = (part){ b, started, threads, 0, false };
        if (pthread_create(&ids[started], NULL, answer, &parts[started]) != 0)
            break;
    }
    for (unsigned i = 0; i < started; i++) {
        (void)pthread_join(ids[i], NULL);
        status |= parts[i].failed;
    }
    if (started < threads || status != 0)
        return fprintf(stderr, "bench_query: a thread failed\n"), 1;
    if (name != NULL)
        row(b, name, PATHS, now_ns() - begin, 0);
    return 0;
}

static bool choose(bench *b)
{
    uint64_t objects = hdx_graph_objects(b->g);
    hdx_refs refs;
    hdx_id   id;
    b->ids = malloc(MANY * sizeof *b->ids);
    if (b->ids == NULL || hdx_graph_summary_of(b->g)->live_objects == 0)
        return false;
    for (unsigned i = 0; i < MANY;)
        if (hdx_graph_live(b->g, id = draw(b, objects)))
            b->ids[i++] = id;
    b->biggest = b->ids[0];
    hdx_graph_dominated(b->g, HDX_VIRTUAL_ROOT, &refs);
    while (hdx_refs_next(&refs, &id))
        if (hdx_graph_retained(b->g, id) > hdx_graph_retained(b->g, b->biggest))
            b->biggest = id;
    return true;
}

int main(int argc, char **argv)
{
    bench     b = { .sum = 0 };
    hdx_error err;
    if (argc < 2)
        return fprintf(stderr, "usage: bench_query INDEX [DUMP [SEED]]\n"), 2;
    const char *dump = argc > 2 && argv[2][0] != '\0' ? argv[2] : NULL, *slash = strrchr(argv[1], '/');
    b.name = slash != NULL && slash[1] != '\0' ? slash + 1 : argv[1];
    b.state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    printf("bench,dump,question,times,total_ms,mean_us,worst_us,cpu_us,peak_rss_mb\n");
    uint64_t begin = now_ns();
    start(&b);
    if (hdx_graph_open(argv[1], dump, &b.g, &err) != HDX_OK)
        return fail(&err);
    uint64_t took = now_ns() - begin;
    row(&b, "open", 1, took, took);
    b.q = (hdx_query){ .graph = b.g, .scope = HDX_LIVE };
    int status = ask(&b, "histogram", HISTOGRAM, 1) || ask(&b, "dominators_top_25", TOP, 1);
    if (status == 0 && !choose(&b))
        return fprintf(stderr, "bench_query: no live objects\n"), 1;
    if (status == 0) {
        lookups(&b);
        status = ask(&b, "object", OBJECT, SOME) || ask(&b, "path", PATH, SOME) || ask(&b, "path_again", PATH, SOME) ||
                 by_threads(&b, NULL, 2) || by_threads(&b, "paths_by_1", 1) || by_threads(&b, "paths_by_2", 2) ||
                 by_threads(&b, "paths_by_8", 8) || ask(&b, "path_exclude_weak", PATH_WEAK, dump == NULL ? 0 : FEW) ||
                 ask(&b, "retained_of_biggest", BIGGEST, 1) || ask(&b, "histogram_retained", HISTOGRAM_RETAINED, 1);
    }
    if (status == 0 && b.sum == 0)
        fprintf(stderr, "bench_query: nothing was found\n");
    free(b.ids);
    hdx_graph_close(b.g);
    return status;
}
