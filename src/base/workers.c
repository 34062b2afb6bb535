/*
 * workers.c - threads for one job. A thread costs some 20 microseconds; jobs take milliseconds and more, so there is no
 * pool.
 */
#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#define GIVE_WAY    10
#define STACK_BYTES (1u << 20) /* of a thread, at least: the limit of `ulimit -s` may be too small */

typedef struct job {
    void (*work)(void *, unsigned);
    void    *context;
    unsigned n;
    bool     helps; /* started by a worker of another job */
} job;

static _Thread_local unsigned depth; /* number of jobs that this thread is working on */

/*
 * A thread that helps a worker uses the time that workers leave: a search that no thread can help must not wait for
 * work that many can do later.
 */
static void lower_priority(void)
{
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + GIVE_WAY); /* Linux: for this thread only */
}

static void *run(void *p)
{
    job *j = p;
    if (j->helps)
        lower_priority();
    depth = 1;
    j->work(j->context, j->n);
    return NULL;
}

int hdx_workers_start(pthread_t *thread, void *(*begin)(void *context), void *context)
{
    pthread_attr_t how;
    size_t         size = 0;
    if (pthread_getattr_default_np(&how) != 0)
        return pthread_create(thread, NULL, begin, context);
    if (pthread_attr_getstacksize(&how, &size) == 0 && size < STACK_BYTES)
        (void)pthread_attr_setstacksize(&how, STACK_BYTES);
    const int rc = pthread_create(thread, &how, begin, context);
    (void)pthread_attr_destroy(&how);
    return rc;
}

void hdx_workers_run(unsigned count, void (*work)(void *context, unsigned n), void *context)
{
    pthread_t thread[HDX_WORKERS_MAX];
    job       jobs[HDX_WORKERS_MAX];
    bool      started[HDX_WORKERS_MAX];
    sigset_t  all, before;
    if (count > HDX_WORKERS_MAX)
        count = HDX_WORKERS_MAX;
    /* Signals go to the calling thread, which handles Ctrl-C. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    for (unsigned n = 1; n < count; n++) {
        jobs[n] = (job){ work, context, n, depth > 0 };
        started[n] = hdx_workers_start(&thread[n], run, &jobs[n]) == 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    depth++;
    if (count > 0)
        work(context, 0);
    depth--;
    for (unsigned n = 1; n < count; n++)
        if (started[n])
            (void)pthread_join(thread[n], NULL);
        else
            work(context, n);
}

unsigned hdx_workers_default(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > (int)HDX_WORKERS_MAX ? HDX_WORKERS_MAX : (unsigned)n;
}
