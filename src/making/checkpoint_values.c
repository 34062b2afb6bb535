/*
 * checkpoint_values.c - checks that the index files of a checkpoint contain what a build writes.
 *
 * In:  what checkpoint_check.c has read: classes, roots, bits of live and special objects; index files with valid
 *      checksums.
 * Out: HDX_OK, or HDX_NOT_FOUND.
 * Checksums detect corruption. Here every value is read once, with the bounds with which a finished index is opened,
 * and compared with other files: lists ascend and contain objects, inbound lists are the outbound ones transposed,
 * instance lists match the class column, and exactly the objects that must be special are. Whether a search was
 * depth-first and a path is the shortest is not checked: that would repeat the search.
 *
 * Two files with the same pairs are compared by the sum, over all pairs, of a number that is computed from the pair, as
 * in verify, but with a random key: the author of a forged file cannot predict the sum.
 * Cost: one reading of each file, by all threads.
 */
#include "making/checkpoint.h"

#include <sys/random.h>

#define PIECE 65536u /* ids that a worker takes at a time */
#define RUN   1024u

typedef struct sums {             /* of a worker, then of all */
    uint64_t of_column, of_lists; /* (object, class): from the index class, from instances */
    uint64_t out, in;             /* (from, to): from outbound, from inbound */
    uint64_t values, live_values; /* values of outbound: all, and of live objects */
} sums;

typedef struct reading {
    hdx_pass        *p;
    hdx_damage_note  note;
    uint64_t         key;
    void            *files[HDX_KINDS]; /* NULL: the completed steps have none; the same by name: */
    hdx_addresses   *addresses;
    hdx_ints        *position, *class, *size, *heap, *nearest;
    hdx_one_to_n    *outbound, *inbound, *instances;
    hdx_ranks       *special;
    hdx_seek        *seek;
    uint64_t        *is_class; /* bit set over ids; with inbound */
    _Atomic uint64_t next;     /* piece, then class */
    atomic_bool      wrong, stopped;
    pthread_mutex_t  lock; /* guards all */
    sums             all;
} reading;

typedef struct run { /* of ids */
    reading *r;
    sums    *sum;
    uint64_t first;
    uint32_t n;
    uint64_t classes[RUN], degrees[RUN], values[RUN], part[RUN];
} run;

static hdx_code unusable(hdx_error *err)
{
    return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no usable checkpoint");
}

static inline uint64_t half(const reading *r, uint64_t from) { return hdx_mix64(from ^ r->key); }
static inline uint64_t pair(uint64_t half, uint64_t to) { return hdx_mix64(half + to); }

/* ---- a run of ids ---- */
static bool addresses_hold(run *k)
{
    hdx_id   ids[RUN];
    hdx_addr before = k->first == 0 ? 0 : hdx_addresses_at(k->r->addresses, k->first - 1);
    hdx_addresses_read(k->r->addresses, k->first, k->n, k->part);
    hdx_addresses_find_many(k->r->addresses, k->part, k->n, ids);
    for (uint32_t i = 0; i < k->n; i++) {
        if (ids[i] != k->first + i || (ids[i] > 0 && k->part[i] <= before))
            return false;
        before = k->part[i];
    }
    return true;
}

/*
 * Objects that are not arrays have no length, and odd lengths belong to classes with that flag. Bounds are those with
 * which the files were opened.
 */
static bool columns_hold(run *k)
{
    const reading   *r = k->r;
    const hdx_class *classes = r->p->b->tables.classes;
    if (r->class == NULL)
        return true;
    hdx_ints_read(r->position, k->first, k->n, k->part);
    if (r->heap != NULL)
        hdx_ints_read(r->heap, k->first, k->n, k->part);
    hdx_ints_read(r->class, k->first, k->n, k->classes);
    hdx_ints_read(r->size, k->first, k->n, k->part);
    for (uint32_t i = 0; i < k->n; i++) {
        k->sum->of_column += pair(half(r, k->first + i), k->classes[i]);
        const hdx_class *c = &classes[k->classes[i]];
        if (k->part[i] >= HDX_LENGTH_ODD ? (c->flags & HDX_CLASS_OF_ARRAYS) == 0
                                         : c->kind == HDX_INSTANCE && k->part[i] != 0)
            return false;
    }
    return true;
}

typedef bool take_some(run *k, uint32_t i, const uint64_t *values,
                       uint32_t n); /* some of the list of object first + i */

/*
 * Visits the lists of a run; each must ascend, because later passes rely on it. Most lists have at most one value and
 * need no look-up of their own.
 */
static bool each_list(run *k, const hdx_one_to_n *lists, take_some *take)
{
    uint64_t begin, length;
    hdx_one_to_n_firsts(lists, k->first, k->n, k->degrees, k->values);
    for (uint32_t i = 0; i < k->n; i++) {
        uint64_t last = k->values[i];
        if (k->degrees[i] > 0 && !take(k, i, &last, 1))
            return false;
        if (k->degrees[i] < 2)
            continue;
        hdx_one_to_n_list(lists, k->first + i, &begin, &length);
        if (length != k->degrees[i])
            return false;
        for (uint64_t done = 1; done < length;) {
            const uint32_t n = length - done < RUN ? (uint32_t)(length - done) : RUN;
            hdx_one_to_n_read(lists, k->first + i, begin + done, n, k->part);
            for (uint32_t j = 0; j < n; last = k->part[j++])
                if (k->part[j] <= last)
                    return false;
            if (!take(k, i, k->part, n))
                return false;
            done += n;
        }
    }
    return true;
}

/* Live objects refer to live objects, and no list contains the class of its object, which is an implicit reference. */
static bool take_outbound(run *k, uint32_t i, const uint64_t *to, uint32_t n)
{
    const hdx_pass *p = k->r->p;
    const uint64_t  from = k->first + i, class_object = p->b->tables.classes[k->classes[i]].id, a = half(k->r, from);
    const bool      live = p->search.live != NULL && hdx_bits_test(p->search.live, from);
    for (uint32_t j = 0; j < n; j++) {
        if (to[j] == class_object || (live && !hdx_bits_test(p->search.live, to[j])))
            return false;
        k->sum->out += pair(a, to[j]);
    }
    k->sum->values += n;
    k->sum->live_values += live ? n : 0;
    return true;
}

static bool take_inbound(run *k, uint32_t i, const uint64_t *from, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++)
        k->sum->in += pair(half(k->r, from[j]), k->first + i);
    return true;
}

/*
 * Special objects are roots, class objects, garbage, and objects without exactly one referrer (search_wide.c). A root
 * is its own nearest root; garbage has none.
 */
static bool special_holds(run *k)
{
    const reading  *r = k->r;
    const hdx_pass *p = r->p;
    for (uint32_t i = 0; i < k->n; i++) {
        const uint64_t id = k->first + i;
        const bool     live = hdx_bits_test(p->search.live, id), root = hdx_bits_test(p->search.is_root, id);
        const bool     must = !live || root || k->degrees[i] != 1 || hdx_bits_test(r->is_class, id);
        uint64_t       rank, above;
        if (live && !hdx_bits_test(p->search.live, p->b->tables.classes[k->classes[i]].id))
            return false;
        if (hdx_bits_test(p->search.special, id) != must)
            return false;
        if (!must)
            continue;
        if (!hdx_ranks_find(r->special, id, &rank) || hdx_ranks_at(r->special, rank) != id) /* in both directions */
            return false;
        above = hdx_ints_get(r->nearest, rank);
        if ((above != 0) != live || (above == 1) != root || (above > 1 && !hdx_bits_test(p->search.live, above - 2)))
            return false;
    }
    return true;
}

static bool run_holds(run *k)
{
    const reading *r = k->r;
    if (!addresses_hold(k) || !columns_hold(k))
        return false;
    if (r->outbound != NULL && !each_list(k, r->outbound, take_outbound))
        return false;
    return r->inbound == NULL || (each_list(k, r->inbound, take_inbound) && (r->nearest == NULL || special_holds(k)));
}

/* ---- all ids, all classes ---- */
static void add(reading *r, const sums *s)
{
    (void)pthread_mutex_lock(&r->lock);
    r->all.of_column += s->of_column;
    r->all.of_lists += s->of_lists;
    r->all.out += s->out;
    r->all.in += s->in;
    r->all.values += s->values;
    r->all.live_values += s->live_values;
    (void)pthread_mutex_unlock(&r->lock);
}

static bool may_continue(reading *r)
{
    if (hdx_tick(&r->p->b->work.tick, 0))
        atomic_store(&r->stopped, true);
    return !atomic_load(&r->wrong) && !atomic_load(&r->stopped);
}

/* Pages of files count against the budget. */
static void forget(const reading *r)
{
    const hdx_ints *const     columns[] = { r->position, r->class, r->size, r->heap };
    const hdx_one_to_n *const lists[] = { r->outbound, r->inbound, r->instances };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i] != NULL)
            hdx_ints_forget(columns[i]);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i] != NULL)
            hdx_one_to_n_forget(lists[i]);
}

static void read_ids(void *context, unsigned worker)
{
    reading       *r = context;
    const uint64_t objects = r->p->b->tables.objects;
    sums           sum = { 0 };
    run            k = { .r = r, .sum = &sum };
    uint64_t       piece;
    (void)worker;
    while (may_continue(r) && (piece = atomic_fetch_add(&r->next, 1)) * PIECE < objects) {
        const uint64_t end = objects - piece * PIECE < PIECE ? objects : (piece + 1) * PIECE;
        if (piece % (HDX_FORGET / PIECE) == 0)
            forget(r);
        for (k.first = piece * PIECE; k.first < end; k.first += RUN) {
            k.n = end - k.first < RUN ? (uint32_t)(end - k.first) : RUN;
            if (!run_holds(&k) || r->note.state != 0) {
                atomic_store(&r->wrong, true);
                break;
            }
        }
    }
    add(r, &sum);
}

static bool instances_hold(const reading *r, uint64_t number, sums *sum)
{
    uint64_t begin, length, ids[RUN], last = 0;
    hdx_one_to_n_list(r->instances, number, &begin, &length);
    for (uint64_t done = 0; done < length;) {
        const uint32_t n = length - done < RUN ? (uint32_t)(length - done) : RUN;
        hdx_one_to_n_read(r->instances, number, begin + done, n, ids);
        for (uint32_t i = 0; i < n; last = ids[i++]) {
            if (done + i > 0 && ids[i] <= last)
                return false;
            sum->of_lists += pair(half(r, ids[i]), number);
        }
        done += n;
    }
    return true;
}

static void read_classes(void *context, unsigned worker)
{
    reading *r = context;
    sums     sum = { 0 };
    uint64_t number;
    (void)worker;
    while (may_continue(r) && (number = atomic_fetch_add(&r->next, 1)) < r->p->b->tables.class_count)
        if (!instances_hold(r, number, &sum) || r->note.state != 0)
            atomic_store(&r->wrong, true);
    add(r, &sum);
}

/* ---- files ---- */
static hdx_code open_all(reading *r, uint64_t done, hdx_error *err)
{
    hdx_build *b = r->p->b;
    hdx_code   code = HDX_OK;
    for (unsigned k = 0; k < HDX_KINDS && code == HDX_OK; k++)
        if (hdx_checkpoint_has_kind(r->p, done, 0, (hdx_kind)k) &&
            (k != HDX_KIND_OUTBOUND || hdx_checkpoint_has(done, HDX_PASS_REFERENCES)))
            code = hdx_build_file_open(b, (hdx_kind)k, &r->note, &r->files[k],
                                       err); /* outbound together with inbound, with which it is compared */
    r->addresses = r->files[HDX_KIND_ADDRESS];
    r->position = r->files[HDX_KIND_POSITION];
    r->class = r->files[HDX_KIND_CLASS];
    r->size = r->files[HDX_KIND_SIZE];
    r->heap = r->files[HDX_KIND_HEAP];
    r->nearest = r->files[HDX_KIND_NEAREST];
    r->outbound = r->files[HDX_KIND_OUTBOUND];
    r->inbound = r->files[HDX_KIND_INBOUND];
    r->instances = r->files[HDX_KIND_INSTANCES];
    r->special = r->files[HDX_KIND_SPECIAL];
    r->seek = r->files[HDX_KIND_SEEK];
    if (code != HDX_OK || r->special == NULL)
        return code;
    if ((r->is_class = hdx_mem_array(&b->work.mem, hdx_bits_words(b->tables.objects), 8)) == NULL)
        return hdx_no_memory(err, "a checkpoint", b->tables.objects / 8);
    for (uint32_t i = 0; i < b->tables.class_count; i++)
        hdx_bits_put(r->is_class, b->tables.classes[i].id);
    return HDX_OK;
}

static void close_all(reading *r)
{
    hdx_build *b = r->p->b;
    for (unsigned k = 0; k < HDX_KINDS; k++)
        hdx_index_close((hdx_kind)k, r->files[k]);
    hdx_mem_put(&b->work.mem, r->is_class, hdx_bits_words(b->tables.objects) * 8);
}

/* A class has the address of its class object, except for an invented one whose address belongs to another object. */
static bool classes_hold(const reading *r)
{
    const hdx_build *b = r->p->b;
    hdx_seek_cursor  cursor = { 0 };
    hdx_seek_point   point;
    for (uint32_t i = 0; i < b->tables.class_count; i++)
        if ((b->tables.classes[i].flags & HDX_CLASS_INVENTED) == 0 &&
            hdx_addresses_at(r->addresses, b->tables.classes[i].id) != b->tables.classes[i].address)
            return false;
    while (r->seek != NULL && hdx_seek_next(r->seek, &cursor, &point))
        ;
    return true;
}

static bool sums_hold(const reading *r)
{
    const hdx_manifest *m = &r->p->b->manifest;
    const sums         *s = &r->all;
    if (r->instances != NULL && (hdx_one_to_n_values(r->instances) != m->objects || s->of_column != s->of_lists))
        return false;
    if (r->inbound != NULL &&
        (s->values != m->outbound_values || hdx_one_to_n_values(r->outbound) != m->outbound_values ||
         hdx_one_to_n_values(r->inbound) != m->outbound_values || s->out != s->in))
        return false;
    return r->nearest == NULL ||
           r->p->search.reached + s->live_values == m->references; /* plus one for the class of each object */
}

hdx_code hdx_checkpoint_values(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_build *b = p->b;
    reading    r = { .p = p };
    hdx_code   code;
    if (getrandom(&r.key, sizeof r.key, 0) != (ssize_t)sizeof r.key)
        r.key = hdx_mix64(hdx_now_ns());
    (void)pthread_mutex_init(&r.lock, NULL);
    if ((code = open_all(&r, done, err)) == HDX_OK) {
        hdx_workers_run(b->work.threads, read_ids, &r);
        atomic_store(&r.next, 0);
        if (r.instances != NULL)
            hdx_workers_run(b->work.threads, read_classes, &r);
        if (atomic_load(&r.stopped))
            code = hdx_tick_stop(err);
        else if (atomic_load(&r.wrong) || !classes_hold(&r) || hdx_note_check(&r.note, err) != HDX_OK || !sums_hold(&r))
            code = unusable(err);
    } else if (code != HDX_LIMIT)
        code = unusable(err);
    close_all(&r);
    (void)pthread_mutex_destroy(&r.lock);
    return code;
}
