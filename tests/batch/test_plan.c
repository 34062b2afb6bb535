/* The order of dumps, what each is given, how they are dealt: pure functions. */
#include "batch/batch.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define MB (1ull << 20)

static batch_want want(uint64_t memory_mb, uint64_t least_mb)
{
    return (batch_want){ memory_mb * MB, least_mb * MB, 0, UINT64_MAX };
}

/* As the parent does: starts until nothing can be started; gives the number that began. */
static size_t start_all(const batch_room *room, batch_want *waiting, size_t *orders, size_t *count,
                        batch_running *running, size_t *running_count)
{
    size_t begun = 0;
    for (;;) {
        const batch_choice c = hdx_batch_plan_next(room, waiting, orders, *count, running, *running_count);
        if (c.fit != BATCH_STARTS)
            return begun;
        running[(*running_count)++] = (batch_running){ orders[c.place], c.threads, c.memory };
        memmove(waiting + c.place, waiting + c.place + 1, (*count - c.place - 1) * sizeof *waiting);
        memmove(orders + c.place, orders + c.place + 1, (*count - c.place - 1) * sizeof *orders);
        --*count;
        begun++;
    }
}

Test(plan, gives_one_thread_each_while_dumps_are_as_many_as_threads)
{
    const batch_room room = { 4, 100000 * MB };
    batch_want       waiting[6];
    batch_running    running[6];
    size_t           orders[6], count = 6, running_count = 0;
    for (size_t i = 0; i < 6; i++) {
        waiting[i] = want(100, 50);
        orders[i] = i;
    }
    cr_assert(eq(sz, start_all(&room, waiting, orders, &count, running, &running_count), 4));
    for (size_t i = 0; i < 4; i++) {
        cr_expect(eq(u32, running[i].threads, 1));
        cr_expect(eq(sz, running[i].order, i), "largest first");
    }
}

Test(plan, shares_threads_out_when_dumps_are_fewer)
{
    const batch_room room = { 8, 100000 * MB };
    batch_want       waiting[3] = { want(100, 50), want(90, 50), want(80, 50) };
    batch_running    running[3];
    size_t           orders[3] = { 0, 1, 2 }, count = 3, running_count = 0;
    cr_assert(eq(sz, start_all(&room, waiting, orders, &count, running, &running_count), 3));
    cr_expect(eq(u32, running[0].threads, 3));
    cr_expect(eq(u32, running[1].threads, 3));
    cr_expect(eq(u32, running[2].threads, 2));
}

Test(plan, never_gives_more_than_there_is)
{
    for (unsigned threads = 1; threads <= 9; threads++)
        for (uint64_t memory = 60; memory <= 1000; memory += 47) {
            const batch_room room = { threads, memory * MB };
            batch_want       waiting[7];
            batch_running    running[7];
            size_t           orders[7], count = 7, running_count = 0;
            unsigned         given = 0;
            uint64_t         bytes = 0;
            for (size_t i = 0; i < 7; i++) {
                waiting[i] = want(300 - 40 * i, 55 - 5 * i);
                orders[i] = i;
            }
            const batch_want all[7] = { waiting[0], waiting[1], waiting[2], waiting[3],
                                        waiting[4], waiting[5], waiting[6] };
            cr_assert(gt(sz, start_all(&room, waiting, orders, &count, running, &running_count), 0));
            for (size_t i = 0; i < running_count; i++) {
                given += running[i].threads;
                bytes += running[i].memory;
                cr_expect(ge(u64, running[i].memory,
                             all[running[i].order].least + (running[i].threads - 1) * BATCH_THREAD_BYTES));
                cr_expect(le(u64, running[i].memory,
                             all[running[i].order].memory + (running[i].threads - 1) * BATCH_THREAD_BYTES));
                cr_expect(ge(u32, running[i].threads, 1));
            }
            cr_expect(le(u32, given, threads));
            cr_expect(le(u64, bytes, memory * MB), "%u threads, %llu MB", threads, (unsigned long long)memory);
        }
}

Test(plan, gives_what_a_dump_likes_where_memory_is_plenty_and_near_the_least_where_it_is_tight)
{
    const batch_room   plenty = { 2, 2000 * MB }, tight = { 2, 600 * MB }, none = { 2, 260 * MB };
    const batch_want   waiting[2] = { want(700, 200), want(600, 180) };
    const size_t       orders[2] = { 0, 1 };
    const batch_choice a = hdx_batch_plan_next(&plenty, waiting, orders, 2, NULL, 0),
                       b = hdx_batch_plan_next(&tight, waiting, orders, 2, NULL, 0),
                       c = hdx_batch_plan_next(&none, waiting, orders, 2, NULL, 0);
    cr_expect(eq(u64, a.memory, 700 * MB));
    cr_expect(eq(u64, b.memory, 300 * MB), "half of it: the other fits beside it");
    cr_expect(eq(u64, c.memory, 250 * MB), "a quarter over the least");
}

Test(plan, gives_memory_for_each_thread_and_fewer_threads_where_there_is_none)
{
    const batch_room   plenty = { 4, 200 * MB }, tight = { 4, 110 * MB };
    const batch_want   waiting[1] = { want(100, 90) };
    const size_t       orders[1] = { 0 };
    const batch_choice a = hdx_batch_plan_next(&plenty, waiting, orders, 1, NULL, 0),
                       b = hdx_batch_plan_next(&tight, waiting, orders, 1, NULL, 0);
    cr_expect(eq(u32, a.threads, 4));
    cr_expect(eq(u64, a.memory, 124 * MB));
    cr_expect(eq(u32, b.threads, 1), "three more would take 24 MB");
    cr_expect(eq(u64, b.memory, 100 * MB));
}

Test(plan, finds_the_dump_that_never_fits_at_once_and_goes_on_with_others)
{
    const batch_room room = { 2, 300 * MB };
    const batch_want waiting[2] = { want(900, 301), want(100, 60) };
    const size_t     orders[2] = { 0, 1 };
    batch_choice     c = hdx_batch_plan_next(&room, waiting, orders, 2, NULL, 0);
    cr_expect(eq(int, (int)c.fit, BATCH_NEVER_MEMORY));
    cr_expect(eq(sz, c.place, 0));
    c = hdx_batch_plan_next(&room, waiting + 1, orders + 1, 1, NULL, 0);
    cr_expect(eq(int, (int)c.fit, BATCH_STARTS));
}

Test(plan, fills_gaps_with_smaller_ones_but_keeps_room_for_the_largest_that_waits)
{
    const batch_room room = { 8, 1000 * MB };
    batch_want       waiting[5] = { want(900, 800), want(200, 190), want(200, 190), want(200, 190), want(200, 190) };
    size_t           orders[5] = { 1, 2, 3, 4, 5 }, count = 5, running_count = 1;
    batch_running    running[6] = { { 0, 1, 300 * MB } };
    start_all(&room, waiting, orders, &count, running, &running_count);
    cr_assert(eq(sz, running_count, 2), "one of 190 MB: with two, 620 MB would be left when the first has ended");
    cr_expect(gt(sz, running[1].order, 1));
    running[0] = running[--running_count]; /* the first has ended */
    const batch_choice c = hdx_batch_plan_next(&room, waiting, orders, count, running, running_count);
    cr_expect(eq(int, (int)c.fit, BATCH_STARTS));
    cr_expect(eq(sz, orders[c.place], 1), "now it is the largest one's turn");
}

Test(plan, waits_for_disk_while_others_are_at_work_and_gives_up_when_none_is)
{
    const batch_room    room = { 4, 1000 * MB };
    batch_want          waiting[1] = { { 100 * MB, 50 * MB, 2000 * MB, 1999 * MB } };
    const size_t        orders[1] = { 1 };
    const batch_running at_work[1] = { { 0, 1, 100 * MB } };
    cr_expect(eq(int, (int)hdx_batch_plan_next(&room, waiting, orders, 1, at_work, 1).fit, BATCH_WAITS));
    cr_expect(eq(int, (int)hdx_batch_plan_next(&room, waiting, orders, 1, NULL, 0).fit, BATCH_NEVER_DISK));
    waiting[0].disk_free = 2000 * MB;
    cr_expect(eq(int, (int)hdx_batch_plan_next(&room, waiting, orders, 1, NULL, 0).fit, BATCH_STARTS));
}

Test(plan, order_is_the_same_however_dumps_come)
{
    batch_weight a[4] = { { "a", 1, 0, 0 }, { "b", 7, 1, 0 }, { "c", 7, 2, 0 }, { "d", 3, 3, 0 } };
    batch_weight b[4] = { a[2], a[0], a[3], a[1] };
    hdx_batch_plan_order(a, 4);
    hdx_batch_plan_order(b, 4);
    static const char *const wanted[] = { "b", "c", "d", "a" };
    for (size_t i = 0; i < 4; i++) {
        cr_expect(eq(str, (char *)a[i].id, (char *)wanted[i]));
        cr_expect(eq(str, (char *)b[i].id, (char *)wanted[i]));
    }
}

/* 10, 9, 8 ... 1 to three tasks: 55 in all; by modulo they would have 22, 18 and 15. */
Test(plan, deals_by_what_dumps_take)
{
    batch_weight at[10];
    const char  *names[10] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };
    double       sums[3] = { 0 };
    for (size_t i = 0; i < 10; i++)
        at[i] = (batch_weight){ names[i], (double)(i + 1), i, 0 };
    hdx_batch_plan_deal(at, 10, 3);
    for (size_t i = 0; i < 10; i++)
        sums[at[i].task] += at[i].seconds;
    for (size_t t = 0; t < 3; t++)
        cr_expect(sums[t] >= 18 && sums[t] <= 19, "%f", sums[t]);
    batch_weight alone[2] = { { "a", 1, 0, 9 }, { "b", 2, 1, 9 } };
    hdx_batch_plan_deal(alone, 2, 1);
    cr_expect(eq(u32, alone[0].task, 0));
    cr_expect(eq(u32, alone[1].task, 0));
}

Test(plan, more_tasks_than_dumps_leave_some_without)
{
    batch_weight at[2] = { { "a", 5, 0, 9 }, { "b", 2, 1, 9 } };
    hdx_batch_plan_deal(at, 2, 5);
    cr_expect(ne(u32, at[0].task, at[1].task));
    cr_expect(lt(u32, at[0].task, 5));
}
