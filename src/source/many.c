/*
 * many.c - many reads at once, in the order of the dump.
 *
 * In:  positions in any order.
 * Out: their bytes.
 * Workers take runs of neighbouring reads, so each piece of a compressed dump is inflated once, and pieces are inflated
 * in parallel.
 * Cost: a sort, and one pass over the part of the dump that contains the reads.
 */
#include "source/inner.h"

#define RUN (4u << 20) /* bytes of the dump that a worker reads at a time */
#define FEW 16u        /* fewer reads are not worth a thread */

typedef struct many {
    hdx_source     *source;
    hdx_read       *reads;
    hdx_pair       *order; /* position, index of the read */
    size_t          count;
    pthread_mutex_t lock; /* guards what follows */
    size_t          next;
    hdx_first_error fault;
} many;

static bool take(many *m, size_t *from, size_t *end)
{
    (void)pthread_mutex_lock(&m->lock);
    *from = *end = m->next;
    while (!hdx_first_error_any(&m->fault) && *end < m->count && m->order[*end].first - m->order[*from].first < RUN)
        ++*end;
    m->next = *end;
    (void)pthread_mutex_unlock(&m->lock);
    return *from < *end;
}

static void work(void *context, unsigned n)
{
    many     *m = context;
    size_t    from, end;
    hdx_code  code = HDX_OK;
    hdx_error err;
    (void)n;
    while (code == HDX_OK && take(m, &from, &end))
        for (; from < end && code == HDX_OK; from++) {
            hdx_read *r = &m->reads[m->order[from].second];
            code = hdx_source_read_at(m->source, r->at, r->to, r->want, &r->got, &err);
        }
    hdx_first_error_put(&m->fault, code, &err);
}

hdx_code hdx_source_read_many(hdx_source *source, hdx_read *reads, size_t count, hdx_error *err)
{
    many m = { .source = source, .reads = reads, .count = count };
    m.order = hdx_mem_array(source->mem, count, sizeof *m.order);
    if (m.order == NULL)
        return hdx_no_memory(err, "the order of reads", count * sizeof *m.order);
    for (size_t i = 0; i < count; i++) {
        m.order[i] = (hdx_pair){ reads[i].at, i };
        reads[i].got = 0;
    }
    hdx_sort_pairs(source->mem, m.order, count);
    (void)pthread_mutex_init(&m.lock, NULL);
    hdx_workers_run(count < FEW || source->kind == HDX_PLAIN ? 1 : source->threads, work, &m);
    (void)pthread_mutex_destroy(&m.lock);
    hdx_mem_put(source->mem, m.order, count * sizeof *m.order);
    return hdx_first_error_take(&m.fault, err);
}
