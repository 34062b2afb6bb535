/*
 * tasks.c - runs tasks in parallel: idle workers take them from the front of a list; tasks that depend on others wait
 * until those are done.
 */
#include "reading/tasks.h"

typedef struct tasks {
    const hdx_task *at;
    unsigned        count;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t  changed;
    uint64_t        taken, done; /* one bit per task */
    hdx_first_error fault;
} tasks;

/* Returns the first task that waits for nothing; `count`: all remaining tasks wait. */
static unsigned next_of(const tasks *t)
{
    unsigned i = 0;
    while (i < t->count && ((t->taken >> i & 1) != 0 || (t->at[i].after & ~t->done) != 0))
        i++;
    return i;
}

static void take_tasks(void *context, unsigned worker)
{
    tasks    *t = context;
    hdx_error err = { 0 };
    (void)worker;
    (void)pthread_mutex_lock(&t->lock);
    while (!hdx_first_error_any(&t->fault) && (unsigned)__builtin_popcountll(t->taken) < t->count) {
        const unsigned i = next_of(t);
        if (i == t->count) {
            (void)pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        assert((t->at[i].after >> i) == 0); /* a task depends on earlier tasks only */
        t->taken |= 1ull << i;
        (void)pthread_mutex_unlock(&t->lock);
        const hdx_code code = t->at[i].run(t->at[i].context, &err);
        (void)pthread_mutex_lock(&t->lock);
        t->done |= 1ull << i;
        hdx_first_error_put(&t->fault, code, &err);
        (void)pthread_cond_broadcast(&t->changed);
    }
    (void)pthread_mutex_unlock(&t->lock);
}

hdx_code hdx_run_tasks(unsigned threads, const hdx_task *list, unsigned count, hdx_error *err)
{
    tasks t = { .at = list, .count = count };
    assert(count > 0 && count <= HDX_TASKS_MAX && threads > 0);
    (void)pthread_mutex_init(&t.lock, NULL);
    (void)pthread_cond_init(&t.changed, NULL);
    hdx_workers_run(threads < count ? threads : count, take_tasks, &t);
    (void)pthread_cond_destroy(&t.changed);
    (void)pthread_mutex_destroy(&t.lock);
    return hdx_first_error_take(&t.fault, err);
}
