/* tasks.h - runs pieces of work in parallel (tasks.c). */
#ifndef HDX_READING_TASKS_H
#define HDX_READING_TASKS_H

#include "base/base.h"

#include <assert.h>

/*
 * Runs all tasks, at most HDX_TASKS_MAX, on at most `threads` threads. Returns the first error. `after`: one bit for
 * each task earlier in the list that must be finished first.
 */
#define HDX_TASKS_MAX 64u
typedef struct hdx_task {
    hdx_code (*run)(void *context, hdx_error *err);
    void    *context;
    uint64_t after;
} hdx_task;
hdx_code hdx_run_tasks(unsigned threads, const hdx_task *list, unsigned count, hdx_error *err);

#endif
