/*
 * test_work.c - what a pass may take of memory, with and without a budget; how many references there can be; the list
 * of damage, which has an end.
 */
#include "hprof/hprof.h"
#include "reading/reading.h"
#include "reading/work.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1ull << 20)

static hdx_work *w;

static void enter(void)
{
    w = calloc(1, sizeof *w);
    cr_assert(w != NULL);
    (void)pthread_mutex_init(&w->lock, NULL);
    w->threads = 2;
}

static void leave(void)
{
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

TestSuite(work, .init = enter, .fini = leave);

Test(work, comfort_grows_with_objects_and_the_width_of_ids)
{
    const uint64_t one = hdx_work_comfort(1, 32);
    cr_expect(one > 0 && hdx_work_comfort(1, 64) == 2 * one && hdx_work_comfort(1000, 32) == 1000 * one);
    cr_expect(hdx_work_comfort(0, 64) == 0);
}

/* Where nobody set a budget: 64 MiB and so much an object beside the tables; what is used already comes off. */
Test(work, room_without_a_budget_is_what_is_comfortable)
{
    hdx_work_measure(w, 0);
    cr_expect(w->objects == 0 && w->tables_bytes == 0);
    cr_expect_eq(hdx_work_room(w), 64 * MIB);
    hdx_work_measure(w, 1000000);
    cr_expect_eq(hdx_work_room(w), 64 * MIB + hdx_work_comfort(1000000, 32));
    atomic_store(&w->mem.used, 10 * MIB);
    cr_expect_eq(hdx_work_room(w), 54 * MIB + hdx_work_comfort(1000000, 32), "taken by this pass");
    hdx_work_measure(w, 1000000);
    cr_expect_eq(w->tables_bytes, 10 * MIB);
    cr_expect_eq(hdx_work_room(w), 64 * MIB + hdx_work_comfort(1000000, 32), "tables are beside that");
    w->threads = 7;
    cr_expect_eq(hdx_work_room(w), 64 * MIB + hdx_work_comfort(1000000, 32), "and so are workers");
    atomic_store(&w->mem.used, 0);
}

Test(work, room_is_for_ids_as_wide_as_they_are)
{
    hdx_work_measure(w, UINT32_MAX - 3ull);
    cr_expect_eq(hdx_work_room(w), 64 * MIB + hdx_work_comfort(UINT32_MAX - 3ull, 32));
    hdx_work_measure(w, UINT32_MAX - 2ull);
    cr_expect_eq(hdx_work_room(w), 64 * MIB + hdx_work_comfort(UINT32_MAX - 2ull, 64));
}

/* With one: what is left of it, workers included, and no more than is comfortable. */
Test(work, room_with_a_budget_is_what_is_left_of_it)
{
    const uint64_t workers = 2 * HDX_BUILD_WORKER;
    hdx_work_measure(w, 1000000);
    w->mem.limit = 40 * MIB;
    cr_expect_eq(hdx_work_room(w), 40 * MIB - workers);
    atomic_store(&w->mem.used, 5 * MIB);
    cr_expect_eq(hdx_work_room(w), 35 * MIB - workers);
    atomic_store(&w->mem.used, 40 * MIB - workers - 1);
    cr_expect_eq(hdx_work_room(w), 1);
    atomic_store(&w->mem.used, 40 * MIB - workers);
    cr_expect_eq(hdx_work_room(w), 0);
    atomic_store(&w->mem.used, 50 * MIB);
    cr_expect_eq(hdx_work_room(w), 0, "nothing is left: not a number below zero");
    atomic_store(&w->mem.used, 0);
    w->mem.limit = 1ull << 50;
    cr_expect_eq(hdx_work_room(w), 64 * MIB + hdx_work_comfort(1000000, 32));
    w->room = 12345;
    cr_expect_eq(hdx_work_room(w), 12345);
}

/* Each of an instance's reference fields, the super class, the loader and the statics of each class, locals, elements.
 */
Test(work, references_are_at_most_what_fields_and_elements_hold)
{
    hdx_class        classes[4] = { 0 };
    hdx_class_layout layouts[4] = { 0 };
    hdx_dump_tables *t = calloc(1, sizeof *t);
    cr_assert(t != NULL);
    t->classes = classes;
    t->class_count = 4;
    t->class_class = 2;
    t->lookup.layouts = layouts;
    t->lookup.local_count = 100;
    t->lookup.elements = 1000;
    classes[0].instances = 7;
    layouts[0].references = 3;
    classes[1].instances = 0;
    layouts[1].references = 5;
    classes[1].static_count = 11;
    classes[2].instances = 6; /* four of them are the objects of these classes */
    layouts[2].references = 2;
    classes[3].static_count = 1;
    cr_expect_eq(hdx_classes_reference_bound(t), 100 + 1000 + 2 * 4 + 11 + 1 + 7 * 3 + 2 * 2);
    free(t);
}

Test(work, damage_is_listed_until_the_list_is_full_and_counted_then)
{
    hdx_error err;
    for (unsigned i = 0; i < HDX_DAMAGE_MAX + 3; i++)
        cr_assert(hdx_work_damage(w, HDX_DAMAGE_MISSING, 7 * i, "CLASS_DUMP", i, &err, "number %u of %s", i, "them") ==
                  HDX_OK);
    cr_expect(w->damage.count == HDX_DAMAGE_MAX && w->damage.more == 3);
    for (unsigned i = 0; i < HDX_DAMAGE_MAX; i++) {
        char              want[40];
        const hdx_damage *d = &w->damage.list[i];
        (void)snprintf(want, sizeof want, "number %u of them", i);
        cr_expect(d->kind == HDX_DAMAGE_MISSING && d->offset == 7 * i && d->lost_bytes == i &&
                      strcmp(d->record, "CLASS_DUMP") == 0 && strcmp(d->expected, want) == 0,
                  "%u: %s", i, d->expected);
    }
    hdx_mem_put(&w->mem, w->damage.list, w->damage.capacity * sizeof *w->damage.list);
    cr_expect(atomic_load(&w->mem.used) == 0);
}

static bool refuse(void *context, uint64_t bytes)
{
    (void)context;
    (void)bytes;
    return true;
}

Test(work, damage_without_memory_is_an_error)
{
    hdx_error err;
    w->mem.refuse = refuse;
    cr_expect(hdx_work_damage(w, HDX_DAMAGE_CYCLE, 0, "x", 0, &err, "y") == HDX_LIMIT);
    cr_expect(strstr(err.message, "memory") != NULL && w->damage.count == 0);
}
