/*
 * plan.c - chooses the next dump, its threads and its memory, and assigns dumps to tasks. Pure functions: no clock, no
 * file, no state.
 *
 * Largest first, so that the last jobs are short. While there are at least as many dumps as threads, each gets one
 * thread: two dumps with a thread each take four fifths of the time of one after the other with two (figures of
 * bench/README.md). With fewer dumps threads are shared out. A dump gets the memory of its forecast, which is more than
 * it uses, and less (down to the least sufficient amount) if that lets more dumps run.
 */
#include "batch/batch.h"

#include <stdlib.h>

/* ---- the next one ---- */

/* Forecasts come from a file, which is untrusted. */
static uint64_t sum(uint64_t a, uint64_t b)
{
    uint64_t out;
    return hdx_add(a, b, &out) ? out : UINT64_MAX;
}

/*
 * Returns the memory that a dump gets of `free` with this many threads, when it shares with others; 0: it does not fit.
 */
static uint64_t budget_of(const batch_want *w, unsigned threads, uint64_t free, size_t shares)
{
    const uint64_t more = (threads - 1) * BATCH_THREAD_BYTES, least = sum(w->least, more);
    const uint64_t share = free / (shares > 0 ? shares : 1), ample = sum(least, w->least / 4);
    uint64_t       wanted = w->memory > w->least ? sum(w->memory, more) : least;
    if (least > free)
        return 0;
    if (wanted > share)
        wanted = share > ample ? share : hdx_least(ample, wanted);
    return hdx_least(wanted, free);
}

batch_choice hdx_batch_plan_next(const batch_room *room, const batch_want *waiting, const size_t *orders, size_t count,
                                 const batch_running *running, size_t running_count)
{
    batch_choice none = { .fit = BATCH_WAITS };
    unsigned     threads = 0;
    uint64_t     memory = 0;
    for (size_t i = 0; i < running_count; i++) {
        threads += running[i].threads;
        memory = sum(memory, running[i].memory);
    }
    for (size_t i = 0; i < count; i++) /* however long it waits */
        if (waiting[i].least > room->memory)
            return (batch_choice){ .fit = BATCH_NEVER_MEMORY, .place = i };
    if (threads >= room->threads || count == 0)
        return none;
    const unsigned free_threads = room->threads - threads;
    const size_t   shares = count < free_threads ? count : free_threads;
    const uint64_t free_memory = memory < room->memory ? room->memory - memory : 0;
    uint64_t       reserved = 0; /* for the largest dump that waits for memory */
    for (size_t i = 0; i < count; i++) {
        if (waiting[i].disk > waiting[i].disk_free) {
            if (running_count == 0)
                return (batch_choice){ .fit = BATCH_NEVER_DISK, .place = i };
            continue;
        }
        uint64_t free = free_memory;
        if (reserved > 0) { /* smaller dumps may run meanwhile, but their memory must leave room for it later */
            uint64_t smaller = 0;
            for (size_t k = 0; k < running_count; k++)
                smaller = sum(smaller, running[k].order > orders[0] ? running[k].memory : 0);
            const uint64_t left = room->memory - reserved; /* reserved <= room->memory, because it is not a NEVER */
            free = hdx_least(free, smaller < left ? left - smaller : 0);
        }
        unsigned       given = (unsigned)((free_threads + shares - 1) / shares);
        const uint64_t with = budget_of(&waiting[i], given, free, shares);
        const uint64_t budget = with > 0 ? with : budget_of(&waiting[i], given = 1, free, shares);
        if (budget == 0) {
            reserved = reserved > 0 ? reserved : waiting[i].least;
            continue;
        }
        return (batch_choice){ .fit = BATCH_STARTS, .place = i, .threads = given, .memory = budget };
    }
    return none;
}

/* ---- order and tasks ---- */

static int by_size(const void *a, const void *b)
{
    const batch_weight *x = a, *y = b;
    return x->seconds != y->seconds ? (x->seconds < y->seconds) - (x->seconds > y->seconds) : strcmp(x->id, y->id);
}

void hdx_batch_plan_order(batch_weight *at, size_t count)
{
    if (count > 0)
        qsort(at, count, sizeof *at, by_size);
}

void hdx_batch_plan_deal(batch_weight *at, size_t count, unsigned tasks)
{
    double *sums = tasks > 1 ? calloc(tasks, sizeof *sums) : NULL;
    hdx_batch_plan_order(at, count);
    for (size_t i = 0; i < count; i++) {
        unsigned least = 0;
        for (unsigned t = 1; sums != NULL && t < tasks; t++)
            if (sums[t] < sums[least])
                least = t;
        if (sums != NULL)
            sums[least] += at[i].seconds;
        at[i].task = sums != NULL ? least : (unsigned)(i % (tasks > 0 ? tasks : 1));
    }
    free(sums);
}

unsigned hdx_batch_plan_late(const char *id, unsigned tasks)
{
    return tasks < 2 ? 0 : (unsigned)(hdx_hash_bytes(2, id, strlen(id)) % tasks);
}
