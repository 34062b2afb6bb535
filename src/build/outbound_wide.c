/*
 * outbound_wide.c - references from the order of the dump into the order of ids.
 *
 * In:  the spilled lists of every stretch, how many references each id has.
 * Out: 1-to-N lists in memory (places by prefix sum), the index outbound; the spill file is gone.
 * Cost: one sequential read of the spill file, one copy per run of neighbouring ids.
 */
#include "build/passes.h"

#include <stdio.h>

typedef struct scatter {
    WIDE(hdx_pass) *p;
    _Atomic uint64_t  next;
    _Atomic int       failed;
    hdx_error         error; /* of the first that failed */
    pthread_mutex_t   lock;
} scatter;

static void fail(scatter *s, const hdx_error *e)
{
    (void)pthread_mutex_lock(&s->lock);
    if (!atomic_load(&s->failed))
        s->error = *e;
    atomic_store(&s->failed, 1);
    (void)pthread_mutex_unlock(&s->lock);
}

static hdx_code copy_stretch(WIDE(hdx_pass) *p, const hdx_spilled *s, NID **buffer, uint64_t *capacity, hdx_error *err)
{
    hdx_build *b = p->b;
    uint64_t   words = 2 * s->runs + s->values, at = 2 * s->runs;
    if (words > *capacity) {
        hdx_mem_put(&b->mem, *buffer, *capacity * sizeof(NID));
        *capacity = words;
        if ((*buffer = hdx_mem_array(&b->mem, words, sizeof(NID))) == NULL) {
            *capacity = 0;
            return hdx_no_memory(err, "a stretch of references", words * sizeof(NID));
        }
    }
    int64_t got = words == 0 ? 0 : b->io->read_at(b->io, p->spill_fd, *buffer, words * sizeof(NID), s->at);
    if (got != (int64_t)(words * sizeof(NID)))
        return hdx_fail(err, HDX_IO, "references.tmp", s->at, "cannot read back: %s", got < 0 ? strerror((int)-got) : "it became shorter");
    for (uint64_t r = 0; r < s->runs; r++) {
        uint64_t first = (*buffer)[2 * r], count = (*buffer)[2 * r + 1];
        uint64_t n = (uint64_t)p->outbound.at[first + count] - p->outbound.at[first];
        memcpy(p->outbound.to + p->outbound.at[first], *buffer + at, (size_t)n * sizeof(NID));
        at += n;
    }
    return HDX_OK;
}

static void work(void *context, unsigned number)
{
    scatter          *s = context;
    WIDE(hdx_pass) *p = s->p;
    NID              *buffer = NULL;
    uint64_t          capacity = 0, i;
    hdx_error         err;
    (void)number;
    while (!atomic_load(&s->failed) && (i = atomic_fetch_add(&s->next, 1)) < p->spilled_count) {
        hdx_code code = copy_stretch(p, &p->spilled[i], &buffer, &capacity, &err);
        if (code == HDX_OK && hdx_tick(&p->b->tick, p->spilled[i].values))
            code = hdx_tick_stop(&err);
        if (code != HDX_OK)
            fail(s, &err);
    }
    hdx_mem_put(&p->b->mem, buffer, capacity * sizeof(NID));
}

/* Degrees become places. */
static uint64_t sum_up(WIDE(hdx_lists) *lists)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i <= lists->n; i++) {
        uint64_t degree = i < lists->n ? lists->at[i] : 0;
        lists->at[i] = (NID)total;
        total += degree;
    }
    return total;
}

hdx_code WIDE(hdx_pass_outbound)(WIDE(hdx_pass) *p, hdx_error *err)
{
    hdx_build *b = p->b;
    scatter    s = { .p = p };
    char       path[4200];
    uint64_t   total = sum_up(&p->outbound);
    if ((p->outbound.to = hdx_mem_array(&b->mem, total, sizeof(NID))) == NULL)
        return hdx_no_memory(err, "references", total * sizeof(NID));
    (void)pthread_mutex_init(&s.lock, NULL);
    hdx_workers_run(b->threads, work, &s);
    (void)pthread_mutex_destroy(&s.lock);
    (void)b->io->close(b->io, p->spill_fd);
    p->spill_fd = -1;
    (void)snprintf(path, sizeof path, "%s/references.tmp", b->folder);
    (void)b->io->remove(b->io, path);
    if (atomic_load(&s.failed)) {
        if (err != NULL)
            *err = s.error;
        return s.error.code;
    }
    return HDX_OK;
}

static hdx_code fill_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    const WIDE(hdx_lists) *lists = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        degrees[i] = (uint64_t)lists->at[first + i + 1] - lists->at[first + i];
    return HDX_OK;
}

static hdx_code fill_lists(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    const WIDE(hdx_lists) *lists = context;
    uint64_t               low = 0, high = lists->n; /* the last key whose list begins at or before `first` */
    (void)err;
    while (low < high) {
        uint64_t mid = low + (high - low + 1) / 2;
        if (lists->at[mid] <= first)
            low = mid;
        else
            high = mid - 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        while (lists->at[low + 1] <= first + i)
            low++;
        values[i] = lists->to[first + i];
        keys[i] = low;
    }
    return HDX_OK;
}

hdx_code WIDE(hdx_pass_write_lists)(WIDE(hdx_pass) *p, hdx_kind kind, const WIDE(hdx_lists) *lists, unsigned threads, hdx_error *err)
{
    hdx_build      *b = p->b;
    hdx_index_place place = b->place;
    hdx_index_file  file;
    place.threads = threads;
    hdx_code code = hdx_one_to_n_write(&place, kind, lists->n, lists->at[lists->n], fill_degrees, fill_lists, (void *)(uintptr_t)lists, &file, err);
    if (code == HDX_OK)
        hdx_manifest_file_written(b, kind, &file);
    return code;
}
