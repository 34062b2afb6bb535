/*
 * slices.c - encodes slices of pages on several threads, and puts them out in order.
 *
 * Rounds: each takes SLICES_A_THREAD slices per thread; the threads draw slices from a counter until the round is done, then one puts
 * them out. A round is a few milliseconds of work, so the start of its threads does not show.
 */
#include "indexes/container/slices.h"

#define SLICES_A_THREAD 4u
#define SLICE_BYTES ((uint64_t)HDX_SLICE_PAGES * HDX_PAGE_BYTES)

typedef struct round_state {
    hdx_slice_encode *encode;
    void             *context;
    hdx_ticker       *tick;
    uint64_t          count, first; /* of all values; number of the round's first slice */
    hdx_slice        *slices;
    uint64_t        **scratch;      /* per thread */
    unsigned          many;
    _Atomic unsigned  next;
    _Atomic unsigned  failed;       /* number of the first slice that failed; many: none */
    pthread_mutex_t   lock;
    hdx_error         error;        /* of that slice */
    hdx_code          code;
} round_state;

static void fail(round_state *r, unsigned slice, hdx_code code, const hdx_error *error)
{
    (void)pthread_mutex_lock(&r->lock);
    if (slice < atomic_load(&r->failed)) { /* the least number is told, whatever thread was first */
        atomic_store(&r->failed, slice);
        r->error = *error;
        r->code = code;
    }
    (void)pthread_mutex_unlock(&r->lock);
}

static void work(void *context, unsigned thread)
{
    round_state *r = context;
    for (unsigned i; (i = atomic_fetch_add(&r->next, 1)) < r->many && i < atomic_load(&r->failed);) {
        hdx_slice *s = &r->slices[i];
        hdx_error  error = { 0 };
        uint64_t   from = (r->first + i) * HDX_SLICE;
        uint32_t   n = r->count - from < HDX_SLICE ? (uint32_t)(r->count - from) : HDX_SLICE;
        s->scratch = r->scratch[thread];
        s->used = 0;
        s->total = 0;
        hdx_code code = r->encode(r->context, from, n, s, &error);
        if (code == HDX_OK && hdx_tick(r->tick, n))
            code = hdx_tick_stop(&error);
        if (code != HDX_OK)
            fail(r, i, code, &error);
    }
}

static hdx_code put(hdx_container_writer *w, unsigned directory, const hdx_slice *s, uint64_t pages, uint64_t *running, hdx_error *err)
{
    uint8_t  entries[HDX_SLICE_PAGES * HDX_ENTRY];
    uint64_t base = w->section[directory + 1].bytes;
    if (base + s->used >= 1ull << HDX_OFFSET_BITS)
        return hdx_fail(err, HDX_LIMIT, w->path, HDX_NOWHERE, "more than 2^%u bytes of pages", HDX_OFFSET_BITS);
    for (uint64_t i = 0; i < pages; i++) {
        hdx_put64(entries + HDX_ENTRY * i, s->first[i] + *running);
        hdx_put64(entries + HDX_ENTRY * i + 8, s->second[i] | (base + s->offset[i]));
    }
    if (!hdx_add(*running, s->total, running))
        return hdx_fail(err, HDX_LIMIT, w->path, HDX_NOWHERE, "more than 2^64 values");
    hdx_code code = hdx_container_put(w, directory, entries, pages * HDX_ENTRY, err);
    return code == HDX_OK ? hdx_container_put(w, directory + 1, s->bytes, s->used, err) : code;
}

static hdx_code run(hdx_container_writer *w, unsigned directory, round_state *r, unsigned threads, uint64_t *running, hdx_error *err)
{
    uint64_t slices = r->count / HDX_SLICE + (r->count % HDX_SLICE != 0);
    unsigned room = threads * SLICES_A_THREAD;
    for (r->first = 0; r->first < slices; r->first += r->many) {
        r->many = slices - r->first < room ? (unsigned)(slices - r->first) : room;
        atomic_store(&r->next, 0);
        atomic_store(&r->failed, r->many);
        hdx_workers_run(threads < r->many ? threads : r->many, work, r);
        if (atomic_load(&r->failed) < r->many) {
            if (err != NULL)
                *err = r->error;
            return r->code;
        }
        for (unsigned i = 0; i < r->many; i++) {
            uint64_t from = (r->first + i) * HDX_SLICE, n = r->count - from < HDX_SLICE ? r->count - from : HDX_SLICE;
            hdx_code code = put(w, directory, &r->slices[i], hdx_pages(n), running, err);
            if (code != HDX_OK)
                return code;
        }
    }
    return HDX_OK;
}

hdx_code hdx_slices_write(hdx_container_writer *w, uint64_t count, hdx_slice_encode *encode, void *context, uint64_t *total, hdx_error *err)
{
    hdx_mem    *mem = w->place->mem;
    unsigned    threads = w->place->threads == 0 ? 1 : w->place->threads > HDX_WORKERS_MAX ? HDX_WORKERS_MAX : w->place->threads;
    uint64_t    slices = count / HDX_SLICE + 1, running = 0;
    unsigned    directory = w->sections;
    uint8_t     last[HDX_ENTRY];
    hdx_code    code = HDX_OK;
    round_state r = { .encode = encode, .context = context, .tick = w->place->tick, .count = count };
    if (threads > slices)
        threads = (unsigned)slices;
    unsigned room = slices < threads * SLICES_A_THREAD ? (unsigned)slices : threads * SLICES_A_THREAD;
    (void)pthread_mutex_init(&r.lock, NULL);
    r.slices = hdx_mem_array(mem, room, sizeof *r.slices);
    r.scratch = hdx_mem_array(mem, threads, sizeof *r.scratch);
    if (r.slices == NULL || r.scratch == NULL) {
        code = hdx_no_memory(err, "slices", room * sizeof *r.slices);
        goto out;
    }
    for (unsigned i = 0; i < room && code == HDX_OK; i++)
        if ((r.slices[i].bytes = hdx_mem_get(mem, SLICE_BYTES)) == NULL)
            code = hdx_no_memory(err, "encoded pages", SLICE_BYTES);
    for (unsigned i = 0; i < threads && code == HDX_OK; i++)
        if ((r.scratch[i] = hdx_mem_get(mem, 2 * HDX_SLICE * 8)) == NULL)
            code = hdx_no_memory(err, "values of a slice", 2 * HDX_SLICE * 8);
    if (code != HDX_OK || (code = hdx_container_section(w, (hdx_pages(count) + 1) * HDX_ENTRY, err)) != HDX_OK ||
        (code = hdx_container_section(w, HDX_SECTION_OPEN, err)) != HDX_OK || (code = run(w, directory, &r, threads, &running, err)) != HDX_OK)
        goto out;
    hdx_put64(last, running);
    hdx_put64(last + 8, w->section[directory + 1].bytes);
    code = hdx_container_put(w, directory, last, HDX_ENTRY, err);
    *total = running;
out:
    if (r.scratch != NULL)
        for (unsigned i = 0; i < threads; i++)
            hdx_mem_put(mem, r.scratch[i], 2 * HDX_SLICE * 8);
    if (r.slices != NULL)
        for (unsigned i = 0; i < room; i++)
            hdx_mem_put(mem, r.slices[i].bytes, SLICE_BYTES);
    hdx_mem_put(mem, r.scratch, threads * sizeof *r.scratch);
    hdx_mem_put(mem, r.slices, room * sizeof *r.slices);
    (void)pthread_mutex_destroy(&r.lock);
    return code;
}
