/* test_tick.c - steps, counts and questions whether to stop, as the caller of a long work sees them. */
#include "base/base.h"
#include "base/tick.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <time.h>

typedef struct watcher {
    unsigned            reports;
    hdx_progress_report last;
    bool                stop;
    unsigned            asked;
} watcher;

static void watch(void *context, const hdx_progress_report *report)
{
    watcher *w = context;
    w->reports++;
    w->last = *report;
}

static bool ask(void *context)
{
    watcher *w = context;
    w->asked++;
    return w->stop;
}

Test(ticker, shows_every_step_when_it_begins)
{
    watcher            w = { 0 };
    const hdx_progress progress = { .context = &w, .report = watch, .cancelled = ask };
    hdx_ticker         t;
    hdx_ticker_init(&t, &progress, 3);
    cr_expect(w.reports == 0);
    hdx_ticker_step(&t, "scan", 100, "bytes");
    cr_assert(w.reports == 1);
    cr_expect(w.last.number == 1 && w.last.steps == 3 && w.last.done == 0 && w.last.total == 100);
    cr_expect(strcmp(w.last.step, "scan") == 0 && strcmp(w.last.unit, "bytes") == 0);
    (void)hdx_tick(&t, 60);
    hdx_ticker_step(&t, "columns", 7, "objects");
    cr_assert(w.reports >= 2);
    cr_expect(w.last.number == 2 && w.last.done == 0 && w.last.total == 7 && strcmp(w.last.step, "columns") == 0);
    hdx_ticker_free(&t);
}

/* The clock of the last report is set, so that no time need pass. */
Test(ticker, reports_at_most_twenty_times_a_second)
{
    watcher            w = { 0 };
    const hdx_progress progress = { .context = &w, .report = watch };
    hdx_ticker         t;
    hdx_ticker_init(&t, &progress, 1);
    hdx_ticker_step(&t, "scan", 0, "objects");
    const uint64_t seconds_ago = hdx_now_ns() - 3000000000u;
    atomic_store(&t.shown_ns, seconds_ago);
    cr_expect(not(hdx_tick(&t, 5)));
    cr_assert(w.reports == 2 && w.last.done == 5);
    cr_expect(atomic_load(&t.shown_ns) > seconds_ago);
    unsigned many = 0, ticks = 0;
    for (; ticks < 100000; ticks++)
        (void)hdx_tick(&t, 1);
    many = w.reports - 2;
    cr_expect(many < 2000, "%u reports of %u ticks", many, ticks);
    atomic_store(&t.shown_ns, seconds_ago);
    (void)hdx_tick(&t, 2);
    cr_expect(w.last.done == 100007);
    cr_assert(pthread_mutex_trylock(&t.one) == 0); /* another thread reports */
    const unsigned before = w.reports;
    atomic_store(&t.shown_ns, seconds_ago);
    (void)hdx_tick(&t, 1);
    cr_expect(w.reports == before);
    (void)pthread_mutex_unlock(&t.one);
    (void)hdx_tick(&t, 0);
    cr_expect(w.reports == before + 1 && w.last.done == 100008);
    hdx_ticker_free(&t);
}

Test(ticker, says_when_the_caller_wants_to_stop)
{
    watcher            w = { 0 };
    const hdx_progress progress = { .context = &w, .cancelled = ask }, silent = { 0 };
    hdx_ticker         t;
    hdx_error          err;
    cr_expect(not(hdx_tick(NULL, 5)));
    hdx_ticker_init(&t, NULL, 1);
    hdx_ticker_step(&t, "scan", 0, "objects"); /* nobody listens */
    cr_expect(not(hdx_tick(&t, 5)));
    hdx_ticker_free(&t);
    hdx_ticker_init(&t, &silent, 1);
    hdx_ticker_step(&t, "scan", 0, "objects");
    cr_expect(not(hdx_tick(&t, 5)));
    hdx_ticker_free(&t);
    hdx_ticker_init(&t, &progress, 1);
    hdx_ticker_step(&t, "scan", 0, "objects");
    cr_expect(hdx_tick(&t, 5) == false && w.asked == 1);
    w.stop = true;
    cr_expect(hdx_tick(&t, 5) && w.asked == 2);
    hdx_ticker_free(&t);
    cr_expect(eq(int, hdx_tick_stop(&err), HDX_CANCELLED));
    cr_expect(eq(u64, err.offset, HDX_NOWHERE));
}

/* Against what the system's clocks say before and after. */
static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    cr_assert(clock_gettime(clock, &t) == 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

Test(clocks, are_those_of_the_system)
{
    const uint64_t a = clock_ns(CLOCK_MONOTONIC), now = hdx_now_ns(), b = clock_ns(CLOCK_MONOTONIC);
    cr_expect(a <= now && now <= b);
    const uint64_t c = clock_ns(CLOCK_PROCESS_CPUTIME_ID), cpu = hdx_cpu_ns(), d = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    cr_expect(c <= cpu && cpu <= d);
}
