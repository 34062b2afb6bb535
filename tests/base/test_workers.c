/* test_workers.c - one function on several threads: who runs what, at which priority, with which signals. */
#include "base/base.h"
#include "base/workers.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct seen {
    pthread_t caller;
    struct {
        bool ran, on_caller, blocked;
        int  nice;
    } at[HDX_WORKERS_MAX + 8];
} seen;

static bool interrupt_blocked(void)
{
    sigset_t now;
    return pthread_sigmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGINT) == 1;
}

static void note(void *context, unsigned n)
{
    seen *s = context;
    s->at[n].ran = true;
    s->at[n].on_caller = pthread_equal(pthread_self(), s->caller) != 0;
    s->at[n].blocked = interrupt_blocked();
    s->at[n].nice = getpriority(PRIO_PROCESS, 0);
}

Test(workers, are_threads_of_their_own_but_for_the_first)
{
    static const unsigned counts[] = { 0, 1, 2, 5 };
    const int             nice_now = getpriority(PRIO_PROCESS, 0);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        seen s = { .caller = pthread_self() };
        hdx_workers_run(counts[i], note, &s);
        for (unsigned n = 0; n < 8; n++) {
            cr_expect(s.at[n].ran == (n < counts[i]), "%u of %u", n, counts[i]);
            if (!s.at[n].ran)
                continue;
            cr_expect(s.at[n].on_caller == (n == 0), "%u of %u", n, counts[i]);
            cr_expect(s.at[n].blocked == (n != 0), "signals go to the thread that asked: %u of %u", n, counts[i]);
            cr_expect(s.at[n].nice == nice_now, "%u of %u", n, counts[i]);
        }
        cr_expect(not(interrupt_blocked()));
    }
}

Test(workers, are_no_more_than_there_is_room_for)
{
    static seen s;
    s.caller = pthread_self();
    hdx_workers_run(HDX_WORKERS_MAX + 8, note, &s);
    for (unsigned n = 0; n < HDX_WORKERS_MAX + 8; n++)
        cr_expect(s.at[n].ran == (n < HDX_WORKERS_MAX), "%u", n);
}

typedef struct nested {
    seen inner[2];
} nested;

static void run_inner(void *context, unsigned n)
{
    nested *all = context;
    all->inner[n].caller = pthread_self();
    hdx_workers_run(2, note, &all->inner[n]);
}

/* Those that help a worker make way for it; afterwards the caller is as it was. */
Test(workers, of_a_worker_run_at_a_lower_priority)
{
    nested    all = { 0 };
    seen      s = { .caller = pthread_self() };
    const int now = getpriority(PRIO_PROCESS, 0), lower = now + 10 > 19 ? 19 : now + 10;
    hdx_workers_run(2, run_inner, &all);
    for (unsigned n = 0; n < 2; n++) {
        cr_expect(all.inner[n].at[0].nice == now, "worker %u: %d", n, all.inner[n].at[0].nice);
        cr_expect(all.inner[n].at[1].nice == lower, "helper of %u: %d", n, all.inner[n].at[1].nice);
        cr_expect(all.inner[n].at[0].on_caller && !all.inner[n].at[1].on_caller);
    }
    hdx_workers_run(2, note, &s);
    cr_expect(s.at[1].nice == now, "no worker asks any more: %d", s.at[1].nice);
}

/* A stack as large as no address space makes every thread fail. */
Test(workers, that_the_system_refuses_run_on_the_caller)
{
    pthread_attr_t attr;
    seen           s = { .caller = pthread_self() };
    cr_assert(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, (size_t)1 << 46) == 0 &&
              pthread_setattr_default_np(&attr) == 0);
    hdx_workers_run(4, note, &s);
    for (unsigned n = 0; n < 4; n++)
        cr_expect(s.at[n].ran && s.at[n].on_caller && !s.at[n].blocked, "%u", n);
    cr_expect(not(s.at[4].ran));
}

static int processors; /* that this process may run on; 0: the system does not say */

/* Instead of that of the C library. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    CPU_ZERO_S(size, set);
    for (int i = 0; i < processors; i++)
        CPU_SET_S((size_t)i, size, set);
    return processors == 0 ? -1 : 0;
}

Test(workers, are_one_at_least_and_no_more_than_there_is_room_for)
{
    static const int counts[] = { 0, 1, 2, HDX_WORKERS_MAX - 1, HDX_WORKERS_MAX, HDX_WORKERS_MAX + 1, 1000 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        processors = counts[i];
        const unsigned most = counts[i] == 0 ? 1 : (unsigned)counts[i];
        cr_expect(hdx_workers_default() == (most < HDX_WORKERS_MAX ? most : HDX_WORKERS_MAX), "%d", counts[i]);
    }
}

static void *measure_stack(void *context)
{
    pthread_attr_t how;
    if (pthread_getattr_np(pthread_self(), &how) == 0) {
        (void)pthread_attr_getstacksize(&how, context);
        (void)pthread_attr_destroy(&how);
    }
    return NULL;
}

/* The system would give a new thread what `ulimit -s` says. */
Test(workers, have_a_stack_of_a_mebibyte_where_the_process_was_given_less)
{
    pthread_attr_t small;
    pthread_t      thread;
    size_t         size = 0;
    cr_assert(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 128u << 10) == 0);
    cr_assert(pthread_setattr_default_np(&small) == 0);
    cr_assert(hdx_workers_start(&thread, measure_stack, &size) == 0 && pthread_join(thread, NULL) == 0);
    cr_expect(eq(sz, size, 1u << 20));
    (void)pthread_attr_destroy(&small);
}
