/*
 * transpose_wide.c - turns lists round, and groups nodes by class: two counting sorts.
 *
 * In:  lists source -> targets; or a class number per node.
 * Out: lists target -> sources, class -> nodes; each ascending, as both sorts are stable. The same bytes for any number of threads.
 * Knows numbers alone. Does not know what a node is.
 * Cost: two sequential reads of the references and one scattered write each (ALGORITHMS 6.1). Beside the result: nothing for one
 *       thread, one NID per node for every further one; where that is refused, fewer threads do the work.
 *
 * How threads share: the references are cut into equal runs, and share k counts and places its own run. Within a list the places
 * of share k lie before those of share k + 1, so nothing is contended and the order is that of one thread.
 *
 *     at[t]            cursor[1][t]       cursor[2][t]          at[t + 1]
 *       | <- share 0     | share 1 ->       | share 2 ->            |
 *
 * Share 0 runs backwards and counts at[] itself down to the beginning of the list: what is left there is the result, and one
 * thread needs no second array.
 */
#include "algo/width.h"

#include <assert.h>

#define SHARES_MAX 4u          /* three further arrays are what the dominators need later anyway: the peak does not move */
#define SHARE_LEAST (1u << 15) /* references per thread below which starting one costs more than it saves */

typedef struct share_job {
    const WIDE(hdx_lists) *from;
    uint64_t count; /* of references */
    unsigned shares;
    NID     *cursor[SHARES_MAX]; /* [0] is the result's at */
    NID     *to;
} share_job;

static unsigned share_cursors(share_job *job, unsigned threads, hdx_mem *mem);
static void     count_share(void *context, unsigned k);
static void     place_share(void *context, unsigned k);
static uint64_t share_begin(const share_job *job, unsigned k);
static uint64_t list_holding(const WIDE(hdx_lists) *lists, uint64_t reference);
static void     counts_to_cursors(share_job *job, uint64_t n);

hdx_code WIDE(hdx_transpose)(const WIDE(hdx_lists) *outbound, unsigned threads, hdx_mem *mem, WIDE(hdx_lists) *inbound, hdx_error *err)
{
    const uint64_t n = outbound->n, count = outbound->at[n];
    hdx_code       code = HDX_OK;
    share_job      job = { .from = outbound, .count = count, .shares = 1 };
    *inbound = (WIDE(hdx_lists)){ .n = n };
    job.cursor[0] = hdx_mem_array(mem, n + 1, sizeof(NID));
    job.to = hdx_mem_array(mem, count, sizeof(NID));
    if (job.cursor[0] == NULL || job.to == NULL) {
        code = hdx_no_memory(err, "inbound references", (n + 1 + count) * sizeof(NID));
        goto out;
    }
    job.shares = share_cursors(&job, threads, mem);
    hdx_workers_run(job.shares, count_share, &job);
    counts_to_cursors(&job, n);
    hdx_workers_run(job.shares, place_share, &job);
    inbound->at = job.cursor[0];
    inbound->to = job.to;
    job.cursor[0] = job.to = NULL;
out:
    for (unsigned k = 1; k < job.shares; k++)
        hdx_mem_put(mem, job.cursor[k], n * sizeof(NID));
    hdx_mem_put(mem, job.to, count * sizeof(NID));
    hdx_mem_put(mem, job.cursor[0], (n + 1) * sizeof(NID));
    return code;
}

/* Fewer shares where there is little to do or memory is refused: speed is no reason to fail. */
static unsigned share_cursors(share_job *job, unsigned threads, hdx_mem *mem)
{
    uint64_t wanted = job->count / SHARE_LEAST;
    wanted = wanted < threads ? wanted : threads;
    wanted = wanted < SHARES_MAX ? wanted : SHARES_MAX;
    unsigned shares = 1;
    while (shares < wanted && (job->cursor[shares] = hdx_mem_array(mem, job->from->n, sizeof(NID))) != NULL)
        shares++;
    return shares;
}

static uint64_t share_begin(const share_job *job, unsigned k)
{
    return job->count / job->shares * k + (k == job->shares ? job->count % job->shares : 0);
}

static void count_share(void *context, unsigned k)
{
    share_job      *job = context;
    const NID      *to = job->from->to;
    NID            *counts = job->cursor[k];
    const uint64_t  end = share_begin(job, k + 1);
    for (uint64_t i = share_begin(job, k); i < end; i++) {
        assert(to[i] < job->from->n);
        counts[to[i]]++;
    }
}

/* Share 0 gets the end of its places, since it walks backwards; the others the beginning of theirs. */
static void counts_to_cursors(share_job *job, uint64_t n)
{
    NID *at = job->cursor[0];
    NID  sum = 0;
    for (uint64_t t = 0; t < n; t++) {
        sum = (NID)(sum + at[t]);
        at[t] = sum;
        for (unsigned k = 1; k < job->shares; k++) {
            NID more = job->cursor[k][t];
            job->cursor[k][t] = sum;
            sum = (NID)(sum + more);
        }
    }
    at[n] = sum;
}

static void place_share(void *context, unsigned k)
{
    share_job      *job = context;
    const NID      *from = job->from->to, *at = job->from->at;
    NID            *cursor = job->cursor[k], *to = job->to;
    const uint64_t  begin = share_begin(job, k), end = share_begin(job, k + 1);
    if (begin == end)
        return;
    if (k == 0) {
        uint64_t source = list_holding(job->from, end - 1);
        for (uint64_t i = end; i > begin; source--)
            for (const uint64_t first = at[source]; i > begin && i > first; i--)
                to[--cursor[from[i - 1]]] = (NID)source;
    } else {
        uint64_t source = list_holding(job->from, begin);
        for (uint64_t i = begin; i < end; source++)
            for (const uint64_t last = at[source + 1]; i < end && i < last; i++)
                to[cursor[from[i]]++] = (NID)source;
    }
}

/* The last source whose list begins at or before the reference: empty lists before it are passed over. */
static uint64_t list_holding(const WIDE(hdx_lists) *lists, uint64_t reference)
{
    uint64_t low = 0, high = lists->n;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (lists->at[middle] <= reference)
            low = middle;
        else
            high = middle;
    }
    return low;
}

hdx_code WIDE(hdx_group)(const uint32_t *class_of, uint64_t nodes, uint32_t classes, hdx_mem *mem, WIDE(hdx_lists) *out, hdx_error *err)
{
    uint64_t count = 0;
    NID     *to;
    NID     *at = hdx_mem_array(mem, (uint64_t)classes + 1, sizeof(NID));
    *out = (WIDE(hdx_lists)){ .n = classes };
    if (at == NULL)
        return hdx_no_memory(err, "instances by class", ((uint64_t)classes + 1) * sizeof(NID));
    for (uint64_t v = 0; v < nodes; v++)
        if (class_of[v] < classes) /* a node without a class is in no list */
            at[class_of[v]]++;
    for (uint32_t c = 0; c < classes; c++)
        at[c] = (NID)(count += at[c]);
    at[classes] = (NID)count;
    to = hdx_mem_array(mem, count, sizeof(NID));
    if (to == NULL) {
        hdx_mem_put(mem, at, ((uint64_t)classes + 1) * sizeof(NID));
        return hdx_no_memory(err, "instances by class", count * sizeof(NID));
    }
    for (uint64_t v = nodes; v-- > 0;)
        if (class_of[v] < classes)
            to[--at[class_of[v]]] = (NID)v;
    out->at = at;
    out->to = to;
    return HDX_OK;
}

void WIDE(hdx_lists_free)(WIDE(hdx_lists) *lists, hdx_mem *mem)
{
    if (lists->at != NULL) {
        hdx_mem_put(mem, lists->to, (uint64_t)lists->at[lists->n] * sizeof(NID));
        hdx_mem_put(mem, lists->at, (lists->n + 1) * sizeof(NID));
    }
    *lists = (WIDE(hdx_lists)){ 0 };
}
