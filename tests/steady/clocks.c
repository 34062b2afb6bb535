/*
 * clocks.c - a library for LD_PRELOAD in whose programs clocks jump.
 *
 * In:  STEADY_CLOCK=SEED:HOURS:WHICH, read when the program starts. Of the calls that ask a clock, one in eight jumps
 * to another offset, of up to so many hours forward or back. WHICH: "wall" are the clocks that people set, "all" is
 *      that of time that passes, too. A child process goes on with the numbers of its parent.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint64_t state;
static _Atomic int64_t  offset_s;
static long             hours;
static bool             all;

__attribute__((constructor)) static void begin(void)
{
    const char        *text = getenv("STEADY_CLOCK");
    unsigned long long seed;
    char               which[8] = "";
    if (text == NULL || sscanf(text, "%llu:%ld:%7s", &seed, &hours, which) != 3)
        return;
    atomic_store(&state, seed);
    all = strcmp(which, "all") == 0;
}

static int64_t jump(void)
{
    const uint64_t n = atomic_fetch_add(&state, 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    if (hours > 0 && (n >> 61) == 0)
        atomic_store(&offset_s, (int64_t)((n >> 20) % (uint64_t)(7200 * hours)) - 3600 * hours);
    return atomic_load(&offset_s);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const int  rc = (int)syscall(SYS_clock_gettime, clock, t);
    const bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    const bool passes = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_MONOTONIC_RAW ||
                        clock == CLOCK_BOOTTIME;
    if (rc == 0 && (wall || (all && passes))) {
        const int64_t by = jump();
        t->tv_sec = t->tv_sec + by > 0 || wall ? t->tv_sec + by : 0;
    }
    return rc;
}

time_t time(time_t *out)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    if (out != NULL)
        *out = t.tv_sec;
    return t.tv_sec;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *t = (struct timeval){ .tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000 };
    return 0;
}
