/*
 * slices.c - encodes slices of pages on several threads, and writes them in order.
 *
 * Threads take slices by number; at most SLICES_A_THREAD times the number of threads may be between the first unwritten
 * slice and the last one taken. A thread that finds the next slice encoded, with no other thread writing it, writes it
 * while the others encode, so that no thread is reserved for writing.
 */
#include "indexes/container/slices.h"

#include <assert.h>

#define SLICES_A_THREAD 4u
#define SLICE_BYTES     ((uint64_t)(HDX_SLICE / HDX_PAGE) * HDX_PAGE_BYTES)

typedef struct line {
    hdx_slices_writer *s;
    hdx_slice_encode  *encode;
    void              *context;
    uint64_t           count, end; /* of all values so far; number after the last slice */
    pthread_mutex_t    lock;       /* guards everything below */
    pthread_cond_t     moved;      /* a slice was written or is ready, or there was an error */
    uint64_t           next, out;  /* slices not yet taken; not yet written */
    bool               writing;
    bool               ready[HDX_WORKERS_MAX * SLICES_A_THREAD];
    uint64_t           failed; /* number of the first slice that failed; end: none */
    hdx_error          error;  /* of that slice */
    hdx_code           code;
} line;

static uint64_t values_of(const line *l, uint64_t slice)
{
    const uint64_t from = slice * HDX_SLICE;
    return l->count - from < HDX_SLICE ? l->count - from : HDX_SLICE;
}

bool hdx_page_find_carefully(const hdx_container *c, unsigned directory, uint64_t page, hdx_page *p)
{
    const uint64_t low = (1ull << HDX_OFFSET_BITS) - 1;
    if (!hdx_touch(c, directory, page * HDX_ENTRY, 2 * HDX_ENTRY))
        return false;
    const uint8_t *entry = c->section[directory].at + page * HDX_ENTRY;
    p->first = hdx_le64(entry);
    p->second = hdx_le64(entry + 8);
    uint64_t off = p->second & low, end = hdx_le64(entry + 24) & low;
    if (end - off > HDX_PAGE_BYTES) { /* also if end < off */
        hdx_container_note(c, directory, page * HDX_ENTRY, "a page has an impossible size");
        return false;
    }
    p->at = c->section[directory + 1].at + off;
    p->len = (uint32_t)(end - off);
    /*
     * For a page without bytes the previous byte is checked instead. Its position must be in the section nevertheless,
     * because eight bytes may be read there.
     */
    uint64_t empty = end == off;
    return hdx_touched(c, directory + 1, off - empty, end - off + empty) ||
           hdx_touch_slowly(c, directory + 1, off, end - off);
}

/* The slice with the least number is reported, whichever thread was first. */
static void fail(line *l, uint64_t slice, hdx_code code, const hdx_error *error)
{
    if (slice >= l->failed)
        return;
    l->failed = slice;
    l->error = *error;
    l->code = code;
}

static hdx_code encode(line *l, uint64_t slice, uint64_t *scratch, hdx_error *err)
{
    hdx_slice     *s = &l->s->slices[slice % l->s->room];
    const uint32_t n = (uint32_t)values_of(l, slice);
    s->scratch = scratch;
    s->used = 0;
    s->total = 0;
    hdx_code code = l->encode(l->context, slice * HDX_SLICE, n, s, err);
    return code == HDX_OK && hdx_tick(l->s->w->place->tick, n) ? hdx_tick_stop(err) : code;
}

static hdx_code put(hdx_slices_writer *to, hdx_slice *s, uint64_t pages, hdx_error *err)
{
    hdx_container_writer *w = to->w;
    const uint64_t        base = w->section[to->directory + 1].bytes;
    assert(s->used <= SLICE_BYTES && pages <= HDX_SLICE / HDX_SHAPE_PAGE_MIN); /* S2 */
    if (base + s->used >= 1ull << HDX_OFFSET_BITS)
        return hdx_fail(err, HDX_LIMIT, w->path, HDX_NOWHERE, "more than 2^%u bytes of pages", HDX_OFFSET_BITS);
    for (uint64_t i = 0; i < pages; i++) {
        uint8_t *entry = s->entries + to->shape.entry * i;
        hdx_put64(entry, hdx_le64(entry) + to->running);
        if (s->placed[i])
            hdx_put64(entry + 8, hdx_le64(entry + 8) + base);
    }
    if (!hdx_add(to->running, s->total, &to->running))
        return hdx_fail(err, HDX_LIMIT, w->path, HDX_NOWHERE, "more than 2^64 values");
    hdx_code code = hdx_container_put(w, to->directory, s->entries, pages * to->shape.entry, err);
    return code == HDX_OK ? hdx_container_put(w, to->directory + 1, s->bytes, s->used, err) : code;
}

/* Writes or encodes one slice; false: there is nothing left to take or to wait for. REQUIRES: the lock is held. */
static bool step(line *l, uint64_t *scratch)
{
    hdx_slices_writer *s = l->s;
    hdx_error          error = { 0 };
    hdx_code           code;
    assert(l->out <= l->next && l->next - l->out <= s->room); /* S1 */
    if (l->out < l->failed && !l->writing && l->ready[l->out % s->room]) {
        const uint64_t slice = l->out;
        l->writing = true;
        (void)pthread_mutex_unlock(&l->lock);
        code = put(s, &s->slices[slice % s->room], hdx_pages(values_of(l, slice), s->shape), &error);
        (void)pthread_mutex_lock(&l->lock);
        l->writing = false;
        l->ready[slice % s->room] = false;
        if (code != HDX_OK)
            fail(l, slice, code, &error);
        l->out++;
    } else if (l->next < l->failed && l->next < l->out + s->room) {
        const uint64_t slice = l->next++;
        (void)pthread_mutex_unlock(&l->lock);
        code = encode(l, slice, scratch, &error);
        (void)pthread_mutex_lock(&l->lock);
        if (code != HDX_OK)
            fail(l, slice, code, &error);
        l->ready[slice % s->room] = true;
    } else if (l->next < l->failed && l->out < l->failed) /* other threads are working on the slice to wait for */
        (void)pthread_cond_wait(&l->moved, &l->lock);
    else
        return false;
    (void)pthread_cond_broadcast(&l->moved);
    return true;
}

static void work(void *context, unsigned thread)
{
    line *l = context;
    (void)pthread_mutex_lock(&l->lock);
    while (step(l, l->s->scratch[thread]))
        ;
    (void)pthread_mutex_unlock(&l->lock);
}

hdx_code hdx_slices_begin(hdx_slices_writer *s, hdx_container_writer *w, uint64_t count, hdx_page_shape shape,
                          hdx_error *err)
{
    hdx_mem       *mem = w->place->mem;
    unsigned       threads = w->place->threads == 0                ? 1
                             : w->place->threads > HDX_WORKERS_MAX ? HDX_WORKERS_MAX
                                                                   : w->place->threads;
    const uint64_t slices = count / HDX_SLICE + 1;
    hdx_code       code;
    if (threads > slices)
        threads = (unsigned)slices;
    *s = (hdx_slices_writer){ .w = w, .directory = w->sections, .threads = threads, .shape = shape, .count = count };
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
    if ((code = hdx_container_section(w, (hdx_pages(count, shape) + 1) * shape.entry, err)) != HDX_OK)
        return code;
    return hdx_container_section(w, HDX_SECTION_OPEN, err);
}

hdx_code hdx_slices_append(hdx_slices_writer *s, uint64_t n, hdx_slice_encode *encode_slice, void *context,
                           hdx_error *err)
{
    const uint64_t end = s->done + n;
    line           l = { .s = s,
                         .encode = encode_slice,
                         .context = context,
                         .count = end,
                         .end = end / HDX_SLICE + (end % HDX_SLICE != 0) };
    l.next = l.out = s->done / HDX_SLICE;
    l.failed = l.end;
    s->done = end;
    (void)pthread_mutex_init(&l.lock, NULL);
    (void)pthread_cond_init(&l.moved, NULL);
    hdx_workers_run(s->threads < l.end - l.next ? s->threads : (unsigned)(l.end - l.next), work, &l);
    (void)pthread_cond_destroy(&l.moved);
    (void)pthread_mutex_destroy(&l.lock);
    if (l.failed < l.end && err != NULL)
        *err = l.error;
    return l.failed < l.end ? l.code : HDX_OK;
}

hdx_code hdx_slices_end(hdx_slices_writer *s, hdx_error *err)
{
    uint8_t last[HDX_SHAPE_ENTRY_MAX] = { 0 };
    hdx_put64(last, s->running);
    hdx_put64(last + 8, s->w->section[s->directory + 1].bytes);
    return hdx_container_put(s->w, s->directory, last, s->shape.entry, err);
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
