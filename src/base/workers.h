/* workers.h - runs one function on several threads and waits for all of them. */
#ifndef HDX_BASE_WORKERS_H
#define HDX_BASE_WORKERS_H

#include <heapdex/types.h>
#include <pthread.h>

#define HDX_WORKERS_MAX 256u
/*
 * Distance in bytes between data that a worker writes for every object and data of other threads: a cache line and the
 * adjacent line that processors fetch with it. In arrays of per-worker structs this much padding precedes each.
 */
#define HDX_APART 128u

/*
 * Calls work(context, n) for n = 0 .. count - 1, each on its own thread (n = 0 on the caller's), and returns after all
 * have returned. If the system provides fewer threads, the remaining calls run one after the other on the caller's
 * thread: every n always runs. REQUIRES: `work` does not wait for a worker that has not begun.
 *
 * If the caller is itself a worker, its additional threads run at a lower priority, so that work that many threads can
 * do yields to work that one thread must do.
 */
void hdx_workers_run(unsigned count, void (*work)(void *context, unsigned n), void *context);

/*
 * Starts a thread with a stack of at least 1 MiB, also if `ulimit -s` is less. The caller joins it. Returns 0 or an
 * errno, as pthread_create does.
 */
int hdx_workers_start(pthread_t *thread, void *(*begin)(void *context), void *context);

/* Returns the number of processors that this process may use, at least 1. */
unsigned hdx_workers_default(void);

#endif
