/*
 * tasks.c - pieces of work that do not depend on each other, side by side: idle workers take them from the front of a list.
 */
#include "build/passes.h"

typedef struct tasks {
    const hdx_task  *at;
    unsigned         count;
    _Atomic unsigned next;
    atomic_bool      failed;
    pthread_mutex_t  lock; /* guards error */
    hdx_error        error;
} tasks;

static void take_tasks(void *context, unsigned worker)
{
    tasks    *t = context;
    unsigned  i;
    hdx_error err = { 0 };
    (void)worker;
    while (!atomic_load(&t->failed) && (i = atomic_fetch_add(&t->next, 1)) < t->count)
        if (t->at[i].run(t->at[i].context, &err) != HDX_OK) {
            (void)pthread_mutex_lock(&t->lock);
            if (!atomic_load(&t->failed))
                t->error = err;
            atomic_store(&t->failed, true);
            (void)pthread_mutex_unlock(&t->lock);
        }
}

hdx_code hdx_run_tasks(unsigned threads, const hdx_task *list, unsigned count, hdx_error *err)
{
    tasks t = { .at = list, .count = count };
    (void)pthread_mutex_init(&t.lock, NULL);
    hdx_workers_run(threads < count ? threads : count, take_tasks, &t);
    (void)pthread_mutex_destroy(&t.lock);
    if (!atomic_load(&t.failed))
        return HDX_OK;
    if (err != NULL)
        *err = t.error;
    return t.error.code;
}
