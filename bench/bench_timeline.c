/*
 * bench_timeline.c - builds the index of a dump and prints what ran beside what, for shares.py.
 *
 *     bench_timeline DUMP THREADS [INDEX_DIR]
 *
 * The linker puts the functions here between the library and hdx_workers_run and hdx_run_tasks (--wrap), so the library
 * has no code for this. CSV:
 *
 *     call,ID,FUNCTION,KIND,BEGIN,END       a call, made by the function (its number; 0: the build itself) that was
 *                                           running
 *     function,ID,CALL,NUMBER,AFTER,BEGIN,END  a worker or a task that a call ran; AFTER: a bit for each task of the
 *                                              call that it waited for
 *
 * KIND is `workers`, pieces that any of them takes, or `tasks`. BEGIN and END are CPU nanoseconds of the thread, which
 * for a call and the function that makes it is the same one. Threads that sleep in between take none, so other programs
 * on the machine matter little.
 */
#include "base/workers.h"
#include "reading/tasks.h"
#include <heapdex/heapdex.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void     __real_hdx_workers_run(unsigned count, void (*work)(void *context, unsigned n), void *context);
void     __wrap_hdx_workers_run(unsigned count, void (*work)(void *context, unsigned n), void *context);
hdx_code __real_hdx_run_tasks(unsigned threads, const hdx_task *list, unsigned count, hdx_error *err);
hdx_code __wrap_hdx_run_tasks(unsigned threads, const hdx_task *list, unsigned count, hdx_error *err);

typedef struct call {
    unsigned id;
    void (*work)(void *context, unsigned n);
    void           *context;
    const hdx_task *list;
} call;

typedef struct one_task {
    const call *call;
    unsigned    n;
} one_task;

static _Atomic unsigned       ids = 1;
static _Thread_local unsigned inside;  /* number of the function this thread runs */
static _Thread_local bool     carrier; /* the next call of hdx_workers_run carries tasks: they are told one by one */

static uint64_t now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Begins function n of a call; gives what ends it. */
static unsigned enter(unsigned *outer, uint64_t *begin)
{
    *outer = inside;
    *begin = now();
    return inside = ids++;
}

static void leave(unsigned outer, uint64_t begin, const call *c, unsigned n, uint64_t after)
{
    printf("function,%u,%u,%u,%llu,%llu,%llu\n", inside, c->id, n, (unsigned long long)after, (unsigned long long)begin,
           (unsigned long long)now());
    inside = outer;
}

static void worker(void *context, unsigned n)
{
    const call *c = context;
    unsigned    outer;
    uint64_t    begin;
    (void)enter(&outer, &begin);
    c->work(c->context, n);
    leave(outer, begin, c, n, 0);
}

void __wrap_hdx_workers_run(unsigned count, void (*work)(void *context, unsigned n), void *context)
{
    call     c = { .id = ids++, .work = work, .context = context };
    uint64_t begin = now();
    if (carrier) {
        carrier = false;
        __real_hdx_workers_run(count, work, context);
        return;
    }
    __real_hdx_workers_run(count, worker, &c);
    printf("call,%u,%u,workers,%llu,%llu\n", c.id, inside, (unsigned long long)begin, (unsigned long long)now());
}

static hdx_code task(void *context, hdx_error *err)
{
    const one_task *t = context;
    const hdx_task *real = &t->call->list[t->n];
    unsigned        outer;
    uint64_t        begin;
    (void)enter(&outer, &begin);
    const hdx_code code = real->run(real->context, err);
    leave(outer, begin, t->call, t->n, real->after);
    return code;
}

hdx_code __wrap_hdx_run_tasks(unsigned threads, const hdx_task *list, unsigned count, hdx_error *err)
{
    call     c = { .id = ids++, .list = list };
    one_task each[HDX_TASKS_MAX];
    hdx_task told[HDX_TASKS_MAX];
    uint64_t begin = now();
    for (unsigned i = 0; i < count; i++) {
        each[i] = (one_task){ &c, i };
        told[i] = (hdx_task){ task, &each[i], list[i].after };
    }
    carrier = true;
    const hdx_code code = __real_hdx_run_tasks(threads, told, count, err);
    printf("call,%u,%u,tasks,%llu,%llu\n", c.id, inside, (unsigned long long)begin, (unsigned long long)now());
    return code;
}

int main(int argc, char **argv)
{
    hdx_index_options options = { .force = true };
    hdx_index_report  report;
    hdx_error         err;
    if (argc < 3)
        return fprintf(stderr, "usage: bench_timeline DUMP THREADS [INDEX_DIR]\n"), 2;
    options.dump = argv[1];
    options.threads = (unsigned)strtoul(argv[2], NULL, 10);
    options.index_dir = argc > 3 ? argv[3] : NULL;
    const call     build = { 0 };
    const uint64_t begin = now();
    if (hdx_index_build(&options, &report, &err) != HDX_OK)
        return fprintf(stderr, "bench_timeline: %s: %s\n", err.where, err.message), 1;
    leave(0, begin, &build, 0, 0);
    return 0;
}
