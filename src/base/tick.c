/* tick.c - progress and cancellation. */
#include "base/tick.h"
#include "base/error.h"

#include <string.h>
#include <time.h>

#define BETWEEN_NS 50000000u

uint64_t hdx_now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t hdx_cpu_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void hdx_ticker_init(hdx_ticker *t, const hdx_progress *progress, unsigned steps)
{
    memset(t, 0, sizeof *t);
    t->progress = progress;
    t->at.steps = steps;
    (void)pthread_mutex_init(&t->one, NULL);
}

void hdx_ticker_free(hdx_ticker *t) { (void)pthread_mutex_destroy(&t->one); }

static void show(hdx_ticker *t)
{
    hdx_progress_report r = t->at;
    r.done = atomic_load(&t->done);
    if (t->progress != NULL && t->progress->report != NULL)
        t->progress->report(t->progress->context, &r);
}

void hdx_ticker_step(hdx_ticker *t, const char *step, uint64_t total, const char *unit)
{
    (void)pthread_mutex_lock(&t->one);
    t->at.step = step;
    t->at.number++;
    t->at.total = total;
    t->at.unit = unit;
    atomic_store(&t->done, 0);
    show(t);
    atomic_store(&t->shown_ns, hdx_now_ns());
    (void)pthread_mutex_unlock(&t->one);
}

bool hdx_tick(hdx_ticker *t, uint64_t more)
{
    if (t == NULL || t->progress == NULL)
        return false;
    atomic_fetch_add_explicit(&t->done, more, memory_order_relaxed);
    if (t->progress->report != NULL && t->at.step != NULL && hdx_now_ns() - atomic_load(&t->shown_ns) >= BETWEEN_NS &&
        pthread_mutex_trylock(&t->one) == 0) {
        atomic_store(&t->shown_ns, hdx_now_ns());
        show(t);
        (void)pthread_mutex_unlock(&t->one);
    }
    return t->progress->cancelled != NULL && t->progress->cancelled(t->progress->context);
}

hdx_code hdx_tick_stop(hdx_error *err) { return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "cancelled"); }
