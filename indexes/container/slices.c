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

hdx_code hdx_slices_begin(hdx_slices_writer *s, hdx_container_writer *w, uint64_t count, hdx_error *err)
{
    hdx_mem       *mem = w->place->mem;
    unsigned       threads = w->place->threads == 0 ? 1 : w->place->threads > HDX_WORKERS_MAX ? HDX_WORKERS_MAX : w->place->threads;
    const uint64_t slices = count / HDX_SLICE + 1;
    hdx_code       code;
    if (threads > slices)
        threads = (unsigned)slices;
    *s = (hdx_slices_writer){ .w = w, .directory = w->sections, .threads = threads, .count = count };
    s->room = slices < threads * SLICES_A_THREAD ? (unsigned)slices : threads * SLICES_A_THREAD;
    s->slices = hdx_mem_array(mem, s->room, sizeof *s->slices);
    s->scratch = hdx_mem_array(mem, threads, sizeof *s->scratch);
    if (s->slices == NULL || s->scratch == NULL)
        return hdx_no_memory(err, "slices", s->room * sizeof *s->slices);
    for (unsigned i = 0; i < s->room; i++)
        if ((s->slices[i].bytes = hdx_mem_get(mem, SLICE_BYTES)) == NULL)
            return hdx_no_memory(err, "encoded pages", SLICE_BYTES);
    for (unsigned i = 0; i < threads; i++)
        if ((s->scratch[i] = hdx_mem_get(mem, 2 * HDX_SLICE * 8)) == NULL)
            return hdx_no_memory(err, "values of a slice", 2 * HDX_SLICE * 8);
    if ((code = hdx_container_section(w, (hdx_pages(count) + 1) * HDX_ENTRY, err)) != HDX_OK)
        return code;
    return hdx_container_section(w, HDX_SECTION_OPEN, err);
}

hdx_code hdx_slices_append(hdx_slices_writer *s, uint64_t n, hdx_slice_encode *encode, void *context, hdx_error *err)
{
    const uint64_t end = s->done + n, slices = end / HDX_SLICE + (end % HDX_SLICE != 0);
    hdx_code       code = HDX_OK;
    round_state    r = { .encode = encode, .context = context, .tick = s->w->place->tick, .count = end, .slices = s->slices, .scratch = s->scratch };
    (void)pthread_mutex_init(&r.lock, NULL);
    for (r.first = s->done / HDX_SLICE; r.first < slices && code == HDX_OK; r.first += r.many) {
        r.many = slices - r.first < s->room ? (unsigned)(slices - r.first) : s->room;
        atomic_store(&r.next, 0);
        atomic_store(&r.failed, r.many);
        hdx_workers_run(s->threads < r.many ? s->threads : r.many, work, &r);
        if (atomic_load(&r.failed) < r.many) {
            if (err != NULL)
                *err = r.error;
            code = r.code;
            break;
        }
        for (unsigned i = 0; i < r.many && code == HDX_OK; i++) {
            uint64_t from = (r.first + i) * HDX_SLICE, values = end - from < HDX_SLICE ? end - from : HDX_SLICE;
            code = put(s->w, s->directory, &s->slices[i], hdx_pages(values), &s->running, err);
        }
    }
    (void)pthread_mutex_destroy(&r.lock);
    s->done = end;
    return code;
}

hdx_code hdx_slices_end(hdx_slices_writer *s, hdx_error *err)
{
    uint8_t last[HDX_ENTRY];
    hdx_put64(last, s->running);
    hdx_put64(last + 8, s->w->section[s->directory + 1].bytes);
    return hdx_container_put(s->w, s->directory, last, HDX_ENTRY, err);
}

void hdx_slices_drop(hdx_slices_writer *s)
{
    if (s->w == NULL)
        return;
    hdx_mem *mem = s->w->place->mem;
    if (s->scratch != NULL)
        for (unsigned i = 0; i < s->threads; i++)
            hdx_mem_put(mem, s->scratch[i], 2 * HDX_SLICE * 8);
    if (s->slices != NULL)
        for (unsigned i = 0; i < s->room; i++)
            hdx_mem_put(mem, s->slices[i].bytes, SLICE_BYTES);
    hdx_mem_put(mem, s->scratch, s->threads * sizeof *s->scratch);
    hdx_mem_put(mem, s->slices, s->room * sizeof *s->slices);
    *s = (hdx_slices_writer){ 0 };
}
