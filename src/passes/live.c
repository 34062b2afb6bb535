/*
 * live.c - counts and bytes by class and heap, of live and of all objects, from the columns in the order of ids; on the
 * way also shallow sizes by number.
 *
 * All threads count, each separately: one starts while another finds semidominators and dominators, and the others help
 * when those are done.
 */
#include "passes/passes.h"

#define PIECE (256u * HDX_SHALLOWS) /* ids that a worker takes at a time */

typedef struct counting {
    hdx_work              *w;
    const hdx_dump_tables *t;
    const hdx_live_in     *in;
    hdx_live              *out;
    _Atomic uint64_t       next; /* piece */
    pthread_mutex_t        lock; /* guards the totals to which workers add their tallies */
} counting;

static inline void count_object(hdx_tally *t, uint64_t shallow, bool live)
{
    t->objects++;
    t->bytes += shallow;
    t->live_objects += live;
    t->live_bytes += live ? shallow : 0;
}

static void count_piece(const counting *c, uint64_t from, uint64_t end, hdx_tally *classes, hdx_tally *heaps)
{
    const hdx_live_in *in = c->in;
    const uint64_t    *live = in->search->live;
    uint64_t           shallow[HDX_SHALLOWS], heap[HDX_SHALLOWS];
    uint32_t           numbers[HDX_SHALLOWS];
    for (uint64_t first = from; first < end; first += HDX_SHALLOWS) {
        const uint32_t n = end - first < HDX_SHALLOWS ? (uint32_t)(end - first) : HDX_SHALLOWS;
        hdx_pass_shallows(c->t, in->files, first, n, shallow, numbers);
        if (in->numbered->sums != NULL)
            in->wide->put_sums(in->numbered, first, n, shallow);
        for (uint32_t i = 0; i < n; i++)
            count_object(&classes[numbers[i]], shallow[i], hdx_bits_test(live, first + i));
        if (in->heaps == NULL)
            continue;
        hdx_ints_read(in->heaps, first, n, heap);
        for (uint32_t i = 0; i < n; i++)
            if (heap[i] != 0)
                count_object(&heaps[heap[i] - 1], shallow[i], hdx_bits_test(live, first + i));
    }
}

static void add_tally(hdx_tally *to, const hdx_tally *from)
{
    to->objects += from->objects;
    to->bytes += from->bytes;
    to->live_objects += from->live_objects;
    to->live_bytes += from->live_bytes;
}

static void add_tallies(counting *c, const hdx_tally *classes, const hdx_tally *heaps)
{
    (void)pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < c->t->class_count; i++) {
        add_tally(&c->out->classes[i], &classes[i]);
        add_tally(&c->out->all, &classes[i]);
    }
    for (uint64_t i = 0; i < c->t->heap_count; i++)
        add_tally(&c->out->heaps[i], &heaps[i]);
    (void)pthread_mutex_unlock(&c->lock);
}

static void count_pieces(void *context, unsigned worker)
{
    counting      *c = context;
    hdx_mem       *mem = &c->w->mem;
    const uint64_t n = c->t->objects;
    hdx_tally     *classes = hdx_mem_array(mem, c->t->class_count, sizeof *classes),
              *heaps = hdx_mem_array(mem, c->t->heap_count, sizeof *heaps);
    if (classes != NULL && heaps != NULL) { /* otherwise the other workers do it */
        for (uint64_t piece; (piece = atomic_fetch_add(&c->next, 1)) * PIECE < n;) {
            if (piece % (HDX_FORGET / PIECE) == 0)
                hdx_pass_forget_columns(c->in->files);
            hdx_work_between(c->w, worker);
            count_piece(c, piece * PIECE, n - piece * PIECE < PIECE ? n : (piece + 1) * PIECE, classes, heaps);
        }
        add_tallies(c, classes, heaps);
    }
    hdx_mem_put(mem, classes, (uint64_t)c->t->class_count * sizeof *classes);
    hdx_mem_put(mem, heaps, c->t->heap_count * sizeof *heaps);
}

uint64_t hdx_pass_size_unit(const hdx_dump_tables *t)
{
    uint64_t sizes = t->sizing.alignment; /* of arrays */
    for (uint32_t i = 0; i < t->class_count; i++)
        sizes |= t->classes[i].instance_size | t->classes[i].class_shallow;
    assert(t->sizing.alignment > 0);
    return sizes & (0 - sizes);
}

/* Counts live instances of java.lang.ClassLoader and its subclasses; each chain of superclasses is walked once. */
static bool count_loaders(hdx_work *w, const hdx_dump_tables *t, hdx_live *out)
{
    enum { UNKNOWN, BELOW, ELSEWHERE };
    uint8_t *state = hdx_mem_get(&w->mem, t->class_count);
    for (uint32_t i = 0; i < t->class_count && state != NULL; i++) {
        uint32_t up = i;
        while (up != HDX_NO_CLASS && up != t->loader_class && state[up] == UNKNOWN)
            up = t->classes[up].super;
        const uint8_t found = up == t->loader_class ? BELOW : up == HDX_NO_CLASS ? ELSEWHERE : state[up];
        for (up = i; up != HDX_NO_CLASS && state[up] == UNKNOWN;
             up = up == t->loader_class ? HDX_NO_CLASS : t->classes[up].super)
            state[up] = found;
        if (found == BELOW)
            out->live_loaders += out->classes[i].live_objects;
    }
    const bool memory = state != NULL;
    hdx_mem_put(&w->mem, state, t->class_count);
    return memory;
}

void hdx_live_free(hdx_work *w, const hdx_dump_tables *t, hdx_live *live)
{
    hdx_mem_put(&w->mem, live->classes, t->class_count * sizeof *live->classes);
    hdx_mem_put(&w->mem, live->heaps, t->heap_count * sizeof *live->heaps);
    live->classes = live->heaps = NULL;
}

hdx_code hdx_pass_count_live(hdx_work *w, const hdx_dump_tables *t, const hdx_live_in *in, hdx_live *out,
                             hdx_error *err)
{
    counting c = { .w = w, .t = t, .in = in, .out = out };
    *out = (hdx_live){ .classes = hdx_mem_array(&w->mem, t->class_count, sizeof *out->classes),
                       .heaps = hdx_mem_array(&w->mem, t->heap_count, sizeof *out->heaps) };
    if (out->classes == NULL || out->heaps == NULL)
        return hdx_no_memory(err, "live objects by class", t->class_count * sizeof *out->classes);
    (void)pthread_mutex_init(&c.lock, NULL);
    hdx_workers_run(w->threads, count_pieces, &c);
    (void)pthread_mutex_destroy(&c.lock);
    hdx_pass_forget_columns(in->files);
    if (atomic_load(&c.next) * PIECE < t->objects)
        return hdx_no_memory(err, "live objects by class", t->class_count * sizeof(hdx_tally));
    assert(out->all.objects == t->objects);               /* P10 */
    assert(out->all.live_objects == in->search->reached); /* P10, INDEX I15 */
    for (uint32_t i = 0; i < t->class_count; i++)
        out->live_classes += hdx_bits_test(in->search->live, t->classes[i].id);
    if (!count_loaders(w, t, out))
        return hdx_no_memory(err, "class loaders", t->class_count);
    return hdx_note_check(in->files->note, err);
}

uint64_t hdx_packed_forecast(const hdx_dump_tables *t, uint64_t references)
{
    uint64_t entries = references;
    for (uint32_t i = HDX_PACKED_FAR; i < t->class_count; i++)
        entries += t->classes[i].instances;
    return hdx_packed_bytes(t->objects, entries);
}
