/*
 * groups.c - retained sizes of many sets of classes at once (MAT 6.5), 64 sets a pass.
 *
 * mask(v) = the sets k for which v is still reachable from the GC roots when the members of set k are not entered. It only grows:
 *     mask(root) = all but member(root)          mask(v) |= mask(p) & ~member(v)   for every p that refers to v
 * where member(v) are the sets v belongs to: through its class, and for class objects and loaders by themselves. What set k retains is
 * every live v without bit k. A round takes the objects whose mask grew since the last one (breadth first: short paths settle first).
 * Cost per pass: 8 bytes and a bit per object, each live object's outbound list some 1 to 2 times. Passes are independent: workers share
 * them, each with masks of its own.
 */
#include "graph/graph.h"
#include "query/query.h"

#include <stdlib.h>

typedef struct special { /* an object that belongs to more sets than its class says */
    hdx_id   id;
    uint32_t set;
} special;

typedef struct group_job {
    const hdx_query      *q;
    const hdx_class_sets *sets;
    const uint32_t       *class_of; /* id -> class number */
    const uint64_t       *live;
    const uint8_t        *has_special; /* class number -> some instance is in `specials` */
    const special        *specials;
    uint64_t              special_count;
    uint64_t              objects;
    uint64_t             *bytes;
    _Atomic uint64_t      next;     /* first set of the next pass */
    _Atomic bool          failed;
    hdx_code             *codes;
    hdx_error            *errors;
} group_job;

static int by_id_and_set(const void *a, const void *b)
{
    const special *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

static uint64_t bit_of(uint64_t set, uint64_t base) { return set - base < 64 ? 1ull << (set - base) : 0; }

/* member(v) in the pass whose sets begin at base; by_class holds the bits of each class. */
static uint64_t member(const group_job *job, const uint64_t *by_class, uint64_t base, hdx_id v)
{
    uint32_t c = job->class_of[v];
    if (c >= job->sets->classes)
        return 0;
    uint64_t bits = by_class[c];
    if (job->has_special[c]) {
        uint64_t low = 0, high = job->special_count;
        while (low < high) {
            uint64_t mid = low + (high - low) / 2;
            if (job->specials[mid].id < v)
                low = mid + 1;
            else
                high = mid;
        }
        for (; low < job->special_count && job->specials[low].id == v; low++)
            bits |= bit_of(job->specials[low].set, base);
    }
    return bits;
}

typedef struct pass {
    uint64_t *mask;
    uint64_t *queued;  /* bit set */
    uint64_t *by_class;
    hdx_ids   level, next;
} pass;

static hdx_code grow(pass *p, hdx_id v, uint64_t bits, hdx_error *err)
{
    if ((bits & ~p->mask[v]) == 0)
        return HDX_OK;
    p->mask[v] |= bits;
    return hdx_bits_set(p->queued, v) ? hdx_ids_push(&p->next, v, err) : HDX_OK;
}

static hdx_code spread(const group_job *job, pass *p, uint64_t base, hdx_error *err)
{
    hdx_graph *g = job->q->graph;
    uint64_t   turns = 0;
    hdx_code   code = HDX_OK;
    while (p->next.count > 0) {
        hdx_ids swapped = p->level;
        p->level = p->next;
        p->next = swapped;
        p->next.count = 0;
        for (uint64_t i = 0; i < p->level.count; i++) {
            hdx_refs refs;
            hdx_id   v = p->level.at[i], target;
            uint64_t bits = p->mask[v];
            hdx_bits_clear(p->queued, v);
            hdx_graph_outbound(g, v, HDX_ALL, &refs);
            while (hdx_refs_next(&refs, &target)) {
                if (target >= job->objects || (bits & ~p->mask[target]) == 0)
                    continue;
                if ((code = grow(p, target, bits & ~member(job, p->by_class, base, target), err)) != HDX_OK)
                    return code;
            }
            if ((++turns & 0xffff) == 0 && (code = hdx_ask_stopped(job->q, err)) != HDX_OK)
                return code;
        }
        if (atomic_load(&job->failed))
            return HDX_OK;
    }
    return HDX_OK;
}

static hdx_code run_pass(const group_job *job, pass *p, uint64_t base, hdx_error *err)
{
    const hdx_class_sets *s = job->sets;
    uint64_t              count = 0, here = s->count - base < 64 ? s->count - base : 64;
    uint64_t              all = here == 64 ? UINT64_MAX : (1ull << here) - 1, sums[64] = { 0 };
    const hdx_root       *roots = hdx_graph_roots(job->q->graph, &count);
    hdx_code              code = HDX_OK;
    memset(p->mask, 0, job->objects * sizeof *p->mask);
    memset(p->by_class, 0, s->classes * sizeof *p->by_class);
    for (uint32_t c = 0; c < s->classes; c++)
        for (uint32_t i = s->at[c]; i < s->at[c + 1]; i++)
            p->by_class[c] |= bit_of(s->set[i], base);
    p->next.count = 0;
    for (uint64_t i = 0; roots != NULL && code == HDX_OK && i < count; i++)
        if (roots[i].thread == HDX_NO_ID && roots[i].object < job->objects)
            code = grow(p, roots[i].object, all & ~member(job, p->by_class, base, roots[i].object), err);
    if (code == HDX_OK)
        code = spread(job, p, base, err);
    if (code != HDX_OK || atomic_load(&job->failed))
        return code;
    for (hdx_id first = 0; first < job->objects; first += HDX_RUN) {
        uint64_t sizes[HDX_RUN];
        uint32_t n = (uint32_t)(job->objects - first < HDX_RUN ? job->objects - first : HDX_RUN);
        hdx_graph_read_shallow(job->q->graph, first, n, sizes);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t lost = all & ~p->mask[first + i];
            if (lost == 0 || !hdx_bits_test(job->live, first + i))
                continue;
            for (; lost != 0; lost &= lost - 1)
                sums[__builtin_ctzll(lost)] += sizes[i];
        }
    }
    for (uint64_t k = 0; k < here; k++)
        job->bytes[base + k] = sums[k];
    return HDX_OK;
}

static void work(void *context, unsigned n)
{
    group_job *job = context;
    pass       p = { NULL, NULL, NULL, { NULL, 0, 0 }, { NULL, 0, 0 } };
    uint64_t   words = hdx_bits_words(job->objects);
    hdx_code   code = HDX_OK;
    p.mask = hdx_mem_array(NULL, job->objects, sizeof *p.mask);
    p.queued = hdx_mem_array(NULL, words, sizeof *p.queued);
    p.by_class = hdx_mem_array(NULL, job->sets->classes, sizeof *p.by_class);
    if (p.mask == NULL || p.queued == NULL || p.by_class == NULL)
        code = hdx_no_memory(&job->errors[n], "retained sets", job->objects * sizeof *p.mask);
    while (code == HDX_OK && !atomic_load(&job->failed)) {
        uint64_t base = atomic_fetch_add(&job->next, 64);
        if (base >= job->sets->count)
            break;
        code = run_pass(job, &p, base, &job->errors[n]);
    }
    if ((job->codes[n] = code) != HDX_OK)
        atomic_store(&job->failed, true);
    hdx_mem_put(NULL, p.mask, job->objects * sizeof *p.mask);
    hdx_mem_put(NULL, p.queued, words * sizeof *p.queued);
    hdx_mem_put(NULL, p.by_class, job->sets->classes * sizeof *p.by_class);
    hdx_ids_drop(&p.level);
    hdx_ids_drop(&p.next);
}

/* Class objects belong to the sets of the class they are, loaders to those named beside; sorted by id. */
static special *list_specials(const hdx_query *q, const hdx_class_sets *s, uint8_t *has_special, uint64_t *count)
{
    uint32_t         n = 0;
    const hdx_class *classes = hdx_graph_classes(q->graph, &n);
    uint64_t         room = (uint64_t)s->at[s->classes] + s->more_count, k = 0;
    special         *list = hdx_mem_array(NULL, room, sizeof *list);
    if (list == NULL)
        return NULL;
    for (uint32_t c = 0; c < s->classes && c < n; c++)
        for (uint32_t i = s->at[c]; classes[c].id != HDX_NO_ID && i < s->at[c + 1]; i++)
            list[k++] = (special){ classes[c].id, s->set[i] };
    for (uint32_t i = 0; i < s->more_count; i++)
        list[k++] = (special){ s->more[i], s->more_set[i] };
    qsort(list, k, sizeof *list, by_id_and_set);
    for (uint64_t i = 0; i < k; i++) {
        uint32_t c = hdx_graph_class_of(q->graph, list[i].id);
        if (c < s->classes)
            has_special[c] = 1;
    }
    *count = k;
    return list;
}

hdx_code hdx_class_sets_retained(const hdx_query *q, const hdx_class_sets *sets, uint64_t *bytes, hdx_error *err)
{
    uint64_t  passes = ((uint64_t)sets->count + 63) / 64, n = hdx_graph_objects(q->graph), words = hdx_bits_words(n);
    unsigned  workers = hdx_ask_threads(q);
    group_job job = { .q = q, .sets = sets, .objects = n, .bytes = bytes };
    hdx_code  code = HDX_OK;
    if (passes == 0)
        return HDX_OK;
    if (workers > passes)
        workers = (unsigned)passes;
    uint64_t  special_room = (uint64_t)sets->at[sets->classes] + sets->more_count;
    uint32_t *class_of = hdx_mem_array(NULL, n, sizeof *class_of);
    uint64_t *live = hdx_mem_array(NULL, words, sizeof *live);
    uint8_t  *has_special = hdx_mem_get(NULL, sets->classes);
    special  *specials = NULL;
    job.codes = hdx_mem_array(NULL, workers, sizeof *job.codes);
    job.errors = hdx_mem_array(NULL, workers, sizeof *job.errors);
    if (class_of != NULL && live != NULL && has_special != NULL && job.codes != NULL && job.errors != NULL)
        specials = list_specials(q, sets, has_special, &job.special_count);
    if (specials == NULL) {
        code = hdx_no_memory(err, "retained sets", n * sizeof *class_of);
        goto out;
    }
    for (hdx_id first = 0; first < n; first += HDX_RUN) { /* HDX_RUN is a multiple of 64: runs begin at whole words of the bit set */
        uint32_t here = (uint32_t)(n - first < HDX_RUN ? n - first : HDX_RUN);
        hdx_graph_read_classes(q->graph, first, here, class_of + first);
        hdx_graph_read_live(q->graph, first, here, live + first / 64);
    }
    job.class_of = class_of;
    job.live = live;
    job.has_special = has_special;
    job.specials = specials;
    hdx_workers_run(workers, work, &job);
    for (unsigned i = 0; i < workers && code == HDX_OK; i++)
        if ((code = job.codes[i]) != HDX_OK && err != NULL)
            *err = job.errors[i];
out:
    hdx_mem_put(NULL, specials, special_room * sizeof *specials);
    hdx_mem_put(NULL, job.errors, workers * sizeof *job.errors);
    hdx_mem_put(NULL, job.codes, workers * sizeof *job.codes);
    hdx_mem_put(NULL, has_special, sets->classes);
    hdx_mem_put(NULL, live, words * sizeof *live);
    hdx_mem_put(NULL, class_of, n * sizeof *class_of);
    return code;
}
