/* tasks.h - pieces of work side by side (tasks.c). */
#ifndef HDX_READING_TASKS_H
#define HDX_READING_TASKS_H

#include "base/base.h"

#include <assert.h>

/*
 * tasks.c: all of them, HDX_TASKS_MAX at most, on at most so many threads; the first error. `after`: a bit for each
 * task further up in the list that it waits for.
 */
#define HDX_TASKS_MAX 64u
typedef struct hdx_task {
    hdx_code (*run)(void *context, hdx_error *err);
    void    *context;
    uint64_t after;
} hdx_task;
hdx_code hdx_run_tasks(unsigned threads, const hdx_task *list, unsigned count, hdx_error *err);

#endif
