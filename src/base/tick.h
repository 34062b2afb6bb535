/*
 * tick.h - progress reports and cancellation checks inside loops, from several threads.
 *
 *     if (hdx_tick(&tick, bytes)) return hdx_tick_stop(err);      once per some 10 000 objects or a MiB, not per object
 */
#ifndef HDX_BASE_TICK_H
#define HDX_BASE_TICK_H

#include <heapdex/error.h>
#include <heapdex/progress.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct hdx_ticker {
    const hdx_progress *progress; /* may be NULL */
    hdx_progress_report at;       /* step, number, steps, total, unit: set before each step */
    _Atomic uint64_t    done;
    _Atomic uint64_t    shown_ns; /* time of the last report */
    pthread_mutex_t     one;      /* allows one report at a time */
} hdx_ticker;

void hdx_ticker_init(hdx_ticker *t, const hdx_progress *progress, unsigned steps);
void hdx_ticker_free(hdx_ticker *t);
/* Starts the next step and reports it. */
void hdx_ticker_step(hdx_ticker *t, const char *step, uint64_t total, const char *unit);
/*
 * Adds `more` to the progress and reports it, at most 20 times a second. Returns true if the caller requested
 * cancellation. `t` may be NULL.
 */
bool hdx_tick(hdx_ticker *t, uint64_t more);
/* Returns the error for that case. */
hdx_code hdx_tick_stop(hdx_error *err);

/* Return monotonic time, and CPU time of the process, in nanoseconds. */
uint64_t hdx_now_ns(void);
uint64_t hdx_cpu_ns(void);

#endif
