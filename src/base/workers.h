/* workers.h - run one function on several threads and wait for all of them. */
#ifndef HDX_BASE_WORKERS_H
#define HDX_BASE_WORKERS_H

#include <heapdex/types.h>
#include <pthread.h>

#define HDX_WORKERS_MAX 256u
/*
 * Bytes between what a worker writes for every object and what others read or write: a cache line and its neighbour,
 * which processors fetch with it. An array of workers' own structures has so many in front of each.
 */
#define HDX_APART 128u

/*
 * Calls work(context, n) for n = 0 .. count - 1, each on a thread of its own (the caller's runs n = 0), and returns
 * when all have returned. Where the system gives fewer threads, the rest run one after the other on the caller's: every
 * n always runs. So work must not wait for another worker that has not begun.
 *
 * Where the caller is itself a worker, the threads besides it run at a lower priority: what many can do makes way for
 * what one alone can do beside it.
 */
void hdx_workers_run(unsigned count, void (*work)(void *context, unsigned n), void *context);

/*
 * Starts one thread. Its stack has 1 MiB at least, also where `ulimit -s` gives less. An errno, as
 * pthread_create returns it. The caller joins the thread.
 */
int hdx_workers_start(pthread_t *thread, void *(*begin)(void *context), void *context);

/* Processors this process may use, at least 1. */
unsigned hdx_workers_default(void);

#endif
