/*
 * live.c - counts and bytes by class and heap, live and all, from the columns in the order of ids; shallow sizes by
 * number on the way.
 *
 * All threads count, each for itself: one begins beside semidominators and dominators, which are found on one thread,
 * and the others help with what is left when those are done.
 */
#include "build/passes.h"

#define PIECE (64u * HDX_SHALLOWS) /* ids that a worker takes at once */

/* Of a class, or of a heap; each worker has its own. */
typedef struct tally {
    uint64_t objects, bytes, live_objects, live_bytes;
} tally;

typedef struct counting {
    hdx_pass        *p;
    hdx_ints        *heaps;
    _Atomic uint64_t next; /* piece */
    pthread_mutex_t  lock; /* guards all below, and what the tallies of workers are added to */
    uint64_t         all_bytes, live_bytes;
} counting;

static inline void tell(tally *t, uint64_t shallow, bool live)
{
    t->objects++;
    t->bytes += shallow;
    t->live_objects += live;
    t->live_bytes += live ? shallow : 0;
}

static void count_piece(const counting *c, uint64_t from, uint64_t end, tally *classes, tally *heaps)
{
    hdx_pass *p = c->p;
    uint64_t  shallow[HDX_SHALLOWS], heap[HDX_SHALLOWS];
    uint32_t  numbers[HDX_SHALLOWS];
    for (uint64_t first = from; first < end; first += HDX_SHALLOWS) {
        const uint32_t n = end - first < HDX_SHALLOWS ? (uint32_t)(end - first) : HDX_SHALLOWS;
        hdx_pass_shallows(p, first, n, shallow, numbers);
        if (p->sums != NULL && p->width == 64)
            hdx_pass_put_sums_64(p, first, n, shallow);
        else if (p->sums != NULL)
            hdx_pass_put_sums_32(p, first, n, shallow);
        for (uint32_t i = 0; i < n; i++)
            tell(&classes[numbers[i]], shallow[i], hdx_bits_test(p->live, first + i));
        if (c->heaps == NULL)
            continue;
        hdx_ints_read(c->heaps, first, n, heap);
        for (uint32_t i = 0; i < n; i++)
            if (heap[i] != 0)
                tell(&heaps[heap[i] - 1], shallow[i], hdx_bits_test(p->live, first + i));
    }
}

static void add_tallies(counting *c, const tally *classes, const tally *heaps)
{
    hdx_build *b = c->p->b;
    (void)pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < b->class_count; i++) {
        hdx_class *of = &b->classes[i];
        of->instances += classes[i].objects;
        of->bytes += classes[i].bytes;
        of->live_instances += classes[i].live_objects;
        of->live_bytes += classes[i].live_bytes;
        c->all_bytes += classes[i].bytes;
        c->live_bytes += classes[i].live_bytes;
    }
    for (uint64_t i = 0; i < b->heap_count; i++) {
        hdx_heap_space *of = &b->heaps[i];
        of->objects += heaps[i].objects;
        of->bytes += heaps[i].bytes;
        of->live_objects += heaps[i].live_objects;
        of->live_bytes += heaps[i].live_bytes;
    }
    (void)pthread_mutex_unlock(&c->lock);
}

static void count_pieces(void *context, unsigned worker)
{
    counting      *c = context;
    hdx_build     *b = c->p->b;
    const uint64_t n = b->objects;
    tally         *classes = hdx_mem_array(&b->mem, b->class_count, sizeof *classes),
          *heaps = hdx_mem_array(&b->mem, b->heap_count, sizeof *heaps);
    if (classes != NULL && heaps != NULL) { /* else the others do it */
        for (uint64_t piece; (piece = atomic_fetch_add(&c->next, 1)) * PIECE < n;) {
            if (piece % (HDX_FORGET / PIECE) == 0)
                hdx_pass_forget_columns(c->p);
            if (worker == 0)
                hdx_mem_help(&b->mem, false);
            count_piece(c, piece * PIECE, n - piece * PIECE < PIECE ? n : (piece + 1) * PIECE, classes, heaps);
        }
        add_tallies(c, classes, heaps);
    }
    hdx_mem_put(&b->mem, classes, (uint64_t)b->class_count * sizeof *classes);
    hdx_mem_put(&b->mem, heaps, b->heap_count * sizeof *heaps);
}

static hdx_code open_heaps(hdx_pass *p, hdx_ints **heaps, hdx_error *err)
{
    hdx_build *b = p->b;
    void      *file = NULL;
    for (uint64_t i = 0; i < b->heap_count; i++)
        b->heaps[i].objects = b->heaps[i].bytes = b->heaps[i].live_objects = b->heaps[i].live_bytes = 0;
    const hdx_code code = b->heap_count == 0 ? HDX_OK : hdx_build_file_open(b, HDX_KIND_HEAP, &p->note, &file, err);
    *heaps = file;
    return code;
}

uint64_t hdx_pass_size_unit(const hdx_build *b)
{
    uint64_t sizes = b->sizing.alignment; /* of arrays */
    for (uint32_t i = 0; i < b->class_count; i++)
        sizes |= b->classes[i].instance_size | b->classes[i].class_shallow;
    return sizes == 0 ? 1 : sizes & (0 - sizes);
}

/* Live instances of java.lang.ClassLoader and of classes below it; each chain of super classes is climbed once. */
static bool count_loaders(hdx_build *b)
{
    enum { UNKNOWN, BELOW, ELSEWHERE };
    uint8_t *state = hdx_mem_get(&b->mem, b->class_count);
    b->manifest.live_loaders = 0;
    for (uint32_t i = 0; i < b->class_count && state != NULL; i++) {
        uint32_t up = i;
        while (up != HDX_NO_CLASS && up != b->loader_class && state[up] == UNKNOWN)
            up = b->classes[up].super;
        const uint8_t found = up == b->loader_class ? BELOW : up == HDX_NO_CLASS ? ELSEWHERE : state[up];
        for (up = i; up != HDX_NO_CLASS && state[up] == UNKNOWN;
             up = up == b->loader_class ? HDX_NO_CLASS : b->classes[up].super)
            state[up] = found;
        if (found == BELOW)
            b->manifest.live_loaders += b->classes[i].live_instances;
    }
    const bool memory = state != NULL;
    hdx_mem_put(&b->mem, state, b->class_count);
    return memory;
}

hdx_code hdx_pass_count_live(hdx_pass *p, hdx_error *err)
{
    hdx_build     *b = p->b;
    hdx_manifest  *m = &b->manifest;
    counting       c = { .p = p };
    const hdx_code code = open_heaps(p, &c.heaps, err);
    if (code != HDX_OK)
        return code;
    for (uint32_t i = 0; i < b->class_count; i++) {
        b->classes[i].instances = b->classes[i].live_instances = 0;
        b->classes[i].bytes = b->classes[i].live_bytes = 0;
    }
    (void)pthread_mutex_init(&c.lock, NULL);
    hdx_workers_run(b->threads, count_pieces, &c);
    (void)pthread_mutex_destroy(&c.lock);
    hdx_ints_close(c.heaps);
    hdx_pass_forget_columns(p);
    if (atomic_load(&c.next) * PIECE < b->objects)
        return hdx_no_memory(err, "live objects by class", b->class_count * sizeof(tally));
    if (p->narrow && c.live_bytes / p->size_unit >= UINT32_MAX) /* some sum may not fit */
        hdx_pass_free_sums(p);
    m->live_objects = p->reached;
    m->live_bytes = c.live_bytes;
    m->unreachable_objects = b->objects - p->reached;
    m->unreachable_bytes = c.all_bytes - c.live_bytes;
    m->all_references = b->objects + m->outbound_values;
    m->classes = b->class_count;
    m->live_classes = 0;
    for (uint32_t i = 0; i < b->class_count; i++)
        m->live_classes += hdx_bits_test(p->live, b->classes[i].id);
    if (!count_loaders(b))
        return hdx_no_memory(err, "class loaders", b->class_count);
    return hdx_note_check(&p->note, err);
}
