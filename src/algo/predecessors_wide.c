/*
 * predecessors_wide.c - who may lead to a node, in preorder numbers and in their order: what Semi-NCA pulls labels
 * from.
 *
 * In:  numbers of nodes; records of referrers in the order of nodes; the members of classes whose object is no root.
 * Out: two tapes by rising number, read from their ends by dominators_wide.c: of the records, and of the members, which
 *      have nothing in common
 * but their form and may be made side by side.
 * Knows that a node with one referrer takes its parent and never looks: 73-95 % of a real dump. That holds only where
 * the list tells all: a class object has its instances besides, and a root is entered from the virtual root whatever
 * the lists say.
 * Cost: one random load per referrer (its number), asked for ahead; numbers in ranges, as many at a time as fit: a slot
 *       of one NID for each number of the range, and the predecessors themselves. A range more is one more reading of
 *       the records.
 *
 * Of the predecessors below a node only the least can matter: each is its own candidate. So most lists shrink to one
 * number.
 */
#include "algo/width.h"

#include <assert.h>
#include <stdlib.h>

#define AHEAD       16u
#define BATCH       256u       /* members read at once; referrers of a record gathered at once */
#define GRAB        (1u << 14) /* NIDs a worker takes of the buffer at a time */
#define TRIM        (4u << 20) /* bytes of a buffer that stays where it is */
#define OWN         (GRAB / 4) /* a longer list gets a place of its own */
#define SPAN_LEAST  (1u << 16)
#define FLUSH       (1u << 16) /* NIDs written at once */
#define PART        (1u << 15) /* numbers whose lists a worker puts in order at a time */
#define TICK_CHUNKS 16u

typedef struct range {
    const NID           *number;
    const uint64_t      *is_root;
    const hdx_referrers *referrers;
    hdx_mem             *mem;
    hdx_ticker          *tick;
    uint64_t             from, end; /* numbers */
    NID                 *slot;      /* number - from -> place of its list in buffer, + 1; 0: none */
    NID                 *buffer;    /* lists: count, then as on the tape */
    uint64_t             capacity;
    _Atomic uint64_t     taken;
    _Atomic uint64_t     longest; /* list that found no room, with its count */
    _Atomic uint64_t     next;    /* chunk */
    atomic_bool          full, failed;
    pthread_mutex_t      lock; /* guards error */
    hdx_error            error;
} range;

typedef struct grab { /* a worker's part of the buffer */
    uint64_t at, end;
} grab;

/* Where n NIDs may go; a long list gets a place of its own, and the part at hand stays for the next ones. */
static bool reserve(range *r, grab *g, uint64_t n, uint64_t *place)
{
    const bool own = n > OWN;
    if (!own && g->end - g->at >= n) {
        *place = g->at;
        return true;
    }
    const uint64_t want = own ? n : GRAB;
    const uint64_t at = atomic_fetch_add(&r->taken, want);
    if (at > r->capacity || want > r->capacity - at) {
        uint64_t seen = atomic_load(&r->longest);
        while (seen < n && !atomic_compare_exchange_weak(&r->longest, &seen, n))
            ;
        atomic_store(&r->full, true);
        return false;
    }
    if (!own)
        *g = (grab){ at, at + want };
    *place = at;
    return true;
}

/* The list of one number: referrers by ascending node; numbers of garbage are 0. */
static bool take_record(range *r, grab *g, uint64_t node, const uint8_t **at, uint64_t count)
{
    const NID *number = r->number;
    const NID  w = number[node];
    uint64_t   nodes[BATCH], source = node, left = count, kept = 0;
    const bool wanted = w >= r->from && w < r->end && !hdx_bits_test(r->is_root, node);
    NID        least = 0;
    uint64_t   place = 0;
    if (wanted && !reserve(r, g, count + 2, &place))
        return false;
    NID *to = r->buffer + place;
    for (bool first = true; left > 0;) {
        const uint64_t n = left < BATCH ? left : BATCH;
        for (uint64_t i = 0; i < n; i++) {
            source = first ? node + (uint64_t)hdx_unzigzag(hdx_unpack(at)) : source + 1 + hdx_unpack(at);
            first = false;
            nodes[i] = source;
            if (wanted)
                __builtin_prefetch(number + source);
        }
        left -= n;
        for (uint64_t i = 0; i < n && wanted; i++) {
            const NID u = number[nodes[i]];
            if (u > w)
                to[1 + kept++] = u;
            else if (u != 0 && u != w && (least == 0 || u < least))
                least = u;
        }
    }
    if (!wanted)
        return true;
    if (least != 0)
        to[1 + kept++] = least;
    if (kept == 0)
        return true;
    assert(kept <= count && place + kept < r->capacity); /* A5 */
    to[0] = (NID)kept;
    r->slot[w - r->from] = (NID)(place + 1);
    if (count + 2 <= OWN)
        g->at += kept + 1;
    return true;
}

static void fail(range *r, const hdx_error *error)
{
    (void)pthread_mutex_lock(&r->lock);
    if (!atomic_load(&r->failed))
        r->error = *error;
    atomic_store(&r->failed, true);
    (void)pthread_mutex_unlock(&r->lock);
}

static hdx_code range_code(const range *r, hdx_error *err)
{
    if (!atomic_load(&r->failed))
        return HDX_OK;
    if (err != NULL)
        *err = r->error;
    return r->error.code;
}

static void read_records(void *context, unsigned worker)
{
    range         *r = context;
    grab           g = { 0, 0 };
    const uint64_t room = r->referrers->longest + HDX_PACKED_SLACK;
    uint8_t       *bytes = hdx_mem_get(r->mem, room);
    uint64_t       chunk;
    hdx_error      err = { 0 };
    (void)worker;
    if (bytes == NULL) {
        (void)hdx_no_memory(&err, "records of referrers", room);
        fail(r, &err);
        return;
    }
    while (!atomic_load(&r->full) && !atomic_load(&r->failed) &&
           (chunk = atomic_fetch_add(&r->next, 1)) < r->referrers->chunks) {
        uint64_t len, node;
        if (r->referrers->read(r->referrers->context, chunk, bytes, &len, &node, &err) != HDX_OK ||
            (chunk % TICK_CHUNKS == 0 && hdx_tick(r->tick, 0) && hdx_tick_stop(&err) != HDX_OK)) {
            fail(r, &err);
            break;
        }
        const uint8_t *at = bytes, *end = bytes + len;
        for (bool first = true; at < end; first = false) {
            const uint64_t distance = hdx_unpack(&at);
            node = first ? node + distance : node + 1 + distance;
            const uint64_t count = hdx_unpack(&at);
            if (!take_record(r, &g, node, &at, count))
                break;
        }
    }
    hdx_mem_put(r->mem, bytes, room);
}

/* ---- out ---- */
/* Parts of a range go out one after the other, whichever thread puts them in order. */
typedef struct turns {
    range           *r;
    const hdx_tape  *tape;
    _Atomic uint64_t next; /* part to be drawn */
    _Atomic uint64_t written;
    pthread_mutex_t  lock; /* guards `out` */
    pthread_cond_t   moved;
    uint64_t         out; /* part whose turn it is */
} turns;
typedef struct pen {
    const hdx_tape *tape;
    turns          *turns; /* NULL: nobody else writes */
    uint64_t        part;
    NID            *at;
    uint32_t        count;
    uint64_t        written;
} pen;

/* False: there was an error, and nothing goes out any more. */
static bool wait_turn(turns *t, uint64_t part)
{
    (void)pthread_mutex_lock(&t->lock);
    while (t->out != part && !atomic_load(&t->r->failed))
        (void)pthread_cond_wait(&t->moved, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
    return !atomic_load(&t->r->failed);
}

static void end_turn(turns *t)
{
    (void)pthread_mutex_lock(&t->lock);
    t->out++;
    (void)pthread_cond_broadcast(&t->moved);
    (void)pthread_mutex_unlock(&t->lock);
}

static hdx_code flush(pen *p, hdx_error *err)
{
    if (p->turns != NULL && !wait_turn(p->turns, p->part))
        return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "another thread stopped"); /* which has said why */
    hdx_code code = p->count == 0 ? HDX_OK : p->tape->write(p->tape->context, p->at, p->count * sizeof(NID), err);
    p->written += p->count;
    p->count = 0;
    return code;
}

static inline hdx_code put(pen *p, NID value, hdx_error *err)
{
    p->at[p->count++] = value;
    return p->count == FLUSH ? flush(p, err) : HDX_OK;
}

static hdx_code put_list(pen *p, const NID *list, uint64_t n, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < n && code == HDX_OK; i++)
        code = put(p, list[i], err);
    return code;
}

/* Of a class object's instances: how many have a number above its own, the least of those below (0: none). */
typedef struct kept {
    uint64_t count;
    NID      least;
} kept;

static hdx_code put_members(const NID *number, NID w, uint32_t class_number, const hdx_members *members,
                            hdx_ticker *tick, pen *p, kept *k, hdx_error *err)
{
    uint64_t       ids[BATCH];
    const uint64_t all = members->count(members->context, class_number);
    for (uint64_t done = 0; done < all;) {
        const uint32_t n = all - done < BATCH ? (uint32_t)(all - done) : BATCH;
        hdx_code       code = members->read(members->context, class_number, done, n, ids, err);
        if (code != HDX_OK)
            return code;
        for (uint32_t i = 0; i < n; i++)
            __builtin_prefetch(number + ids[i]);
        for (uint32_t i = 0; i < n; i++) {
            const NID u = number[ids[i]];
            if (u > w) {
                k->count++;
                if ((code = put(p, u, err)) != HDX_OK)
                    return code;
            } else if (u != 0 && u != w && (k->least == 0 || u < k->least))
                k->least = u;
        }
        if (hdx_tick(tick, 0))
            return hdx_tick_stop(err);
        done += n;
    }
    return HDX_OK;
}

static hdx_code put_part(const range *r, pen *p, hdx_error *err)
{
    assert(r->from + p->part * PART < r->end); /* A4 */
    const uint64_t from = r->from + p->part * PART, end = r->end - from < PART ? r->end : from + PART;
    hdx_code       code = HDX_OK;
    for (uint64_t w = from; w < end && code == HDX_OK; w++) {
        const NID  slot = r->slot[w - r->from];
        const NID *list = slot == 0 ? NULL : r->buffer + (slot - 1);
        if (slot != 0 && (code = put_list(p, list + 1, list[0], err)) == HDX_OK &&
            (code = put(p, list[0], err)) == HDX_OK)
            code = put(p, (NID)w, err);
    }
    return code == HDX_OK ? flush(p, err) : code;
}

static void put_parts(void *context, unsigned worker)
{
    turns         *t = context;
    range         *r = t->r;
    pen            p = { .tape = t->tape, .turns = t, .at = hdx_mem_raw(r->mem, FLUSH, sizeof(NID)) };
    const uint64_t parts = (r->end - r->from + PART - 1) / PART;
    hdx_error      err = { 0 };
    hdx_code       code = p.at != NULL ? HDX_OK : hdx_no_memory(&err, "predecessors", FLUSH * sizeof(NID));
    (void)worker;
    while (code == HDX_OK && (p.part = atomic_fetch_add(&t->next, 1)) < parts &&
           (code = put_part(r, &p, &err)) == HDX_OK)
        end_turn(t);
    if (code != HDX_OK) {
        fail(r, &err);
        end_turn(t); /* wakes who waits */
    }
    atomic_fetch_add(&t->written, p.written);
    hdx_mem_put(r->mem, p.at, FLUSH * sizeof(NID));
}

/* All lists of the range, by rising number: one random load a list, so all threads ask. */
static hdx_code put_range(range *r, const hdx_tape *tape, unsigned threads, uint64_t *written, hdx_error *err)
{
    turns t = { .r = r, .tape = tape };
    (void)pthread_mutex_init(&t.lock, NULL);
    (void)pthread_cond_init(&t.moved, NULL);
    hdx_workers_run(threads, put_parts, &t);
    (void)pthread_cond_destroy(&t.moved);
    (void)pthread_mutex_destroy(&t.lock);
    *written += atomic_load(&t.written);
    return range_code(r, err);
}

/*
 * Class objects that have their instances for predecessors, as pairs of their number and that of their class, by rising
 * number.
 */
static uint64_t find_classes(const WIDE(hdx_digraph) *g, const NID *number, const uint64_t *is_root,
                             const hdx_members *members, hdx_mem *mem, hdx_pair *out)
{
    uint64_t count = 0;
    for (uint32_t c = 0; c < g->classes; c++) {
        const NID object = g->class_object[c];
        if (object != NONE && number[object] != 0 && !hdx_bits_test(is_root, object) &&
            members->count(members->context, c) > 0)
            out[count++] = (hdx_pair){ number[object], c };
    }
    hdx_sort_pairs(mem, out, count);
    return count;
}

/* A single list that is longer than the buffer: there is no narrower range. */
static hdx_code grow(range *r, hdx_error *err)
{
    const uint64_t want = atomic_load(&r->longest);
    hdx_mem_put(r->mem, r->buffer, r->capacity * sizeof(NID));
    r->buffer = want < NONE ? hdx_mem_raw(r->mem, want, sizeof(NID)) : NULL;
    r->capacity = r->buffer == NULL ? 0 : want;
    return r->buffer != NULL ? HDX_OK : hdx_no_memory(err, "the predecessors of one object", want * sizeof(NID));
}

/* One range, as wide as it comes out: narrower when its lists do not fit the buffer, and wider again after it. */
static hdx_code fill_range(range *r, uint64_t *span, uint64_t slots, uint64_t reached, unsigned threads, hdx_error *err)
{
    for (;;) {
        r->end = reached + 1 - r->from < *span ? reached + 1 : r->from + *span;
        assert(r->from < r->end && r->end <= reached + 1 && r->end - r->from <= slots); /* A4 */
        memset(r->slot, 0, (size_t)(r->end - r->from) * sizeof(NID));
        atomic_store(&r->taken, 0);
        atomic_store(&r->next, 0);
        atomic_store(&r->longest, 0);
        atomic_store(&r->full, false);
        hdx_workers_run(threads, read_records, r);
        hdx_code code = range_code(r, err);
        if (code != HDX_OK)
            return code;
        if (!atomic_load(&r->full)) {
            *span = *span < slots / 2 ? 2 * *span : slots;
            return HDX_OK;
        }
        if (atomic_load(&r->longest) > r->capacity && (code = grow(r, err)) != HDX_OK)
            return code;
        *span = *span > 1 ? *span / 2 : 1;
    }
}

/* The last range is there: what of the buffer it does not take is for the tape. */
static void trim(range *r)
{
    const uint64_t taken = atomic_load(&r->taken);
    NID           *smaller = taken < r->capacity && taken * sizeof(NID) >= TRIM
                                 ? hdx_mem_resize(r->mem, r->buffer, r->capacity * sizeof(NID), taken * sizeof(NID))
                                 : NULL;
    if (smaller == NULL)
        return;
    r->buffer = smaller;
    r->capacity = taken;
}

hdx_code WIDE(hdx_predecessors)(const NID *number, uint64_t reached, const uint64_t *is_root,
                                const hdx_referrers *referrers, uint64_t room, unsigned threads, hdx_mem *mem,
                                hdx_ticker *tick, const hdx_tape *out, uint64_t *count, hdx_error *err)
{
    range r = { .number = number, .is_root = is_root, .referrers = referrers, .mem = mem, .tick = tick };
    /* short lists leave less than a quarter of a worker's part unused */
    const uint64_t all = referrers->entries + referrers->entries / 3 + (uint64_t)(threads + 1) * GRAB;
    const uint64_t records = threads * (referrers->longest + HDX_PACKED_SLACK + FLUSH * sizeof(NID)),
                   places = (room > records ? room - records : 0) / sizeof(NID);
    uint64_t span = reached;
    hdx_code code = HDX_OK;
    *count = 0;
    r.capacity = all < NONE ? all : NONE - 1; /* a slot holds a place */
    if (reached + all > places) {             /* as if the lists were spread evenly */
        span = (uint64_t)((double)reached * (double)places / (double)(reached + all));
        span = span < SPAN_LEAST ? (reached < SPAN_LEAST ? reached : SPAN_LEAST) : span;
        r.capacity = places > span + (uint64_t)(threads + 1) * GRAB ? places - span : (uint64_t)(threads + 1) * GRAB;
        r.capacity = r.capacity > all ? all : r.capacity;
        r.capacity = r.capacity < NONE ? r.capacity : NONE - 1;
    }
    const uint64_t slots = span;
    r.slot = hdx_mem_raw(mem, slots, sizeof(NID));
    r.buffer = hdx_mem_raw(mem, r.capacity, sizeof(NID));
    r.capacity = r.buffer == NULL ? 0 : r.capacity;
    (void)pthread_mutex_init(&r.lock, NULL);
    if (r.slot == NULL || r.buffer == NULL)
        code = hdx_no_memory(err, "predecessors", (slots + all) * sizeof(NID));
    for (r.from = 1; r.from <= reached && code == HDX_OK; r.from = r.end) {
        if ((code = fill_range(&r, &span, slots, reached, threads, err)) != HDX_OK)
            break;
        if (r.end > reached)
            trim(&r);
        code = put_range(&r, out, threads, count, err);
    }
    (void)pthread_mutex_destroy(&r.lock);
    hdx_mem_put(mem, r.buffer, r.capacity * sizeof(NID));
    hdx_mem_put(mem, r.slot, slots * sizeof(NID));
    return code;
}

hdx_code WIDE(hdx_instances)(const WIDE(hdx_digraph) *g, const NID *number, const uint64_t *is_root,
                             const hdx_members *members, hdx_mem *mem, hdx_ticker *tick, const hdx_tape *out,
                             uint64_t *count, hdx_error *err)
{
    pen       p = { .tape = out, .at = hdx_mem_array(mem, FLUSH, sizeof(NID)) };
    hdx_pair *classes = hdx_mem_array(mem, g->classes, sizeof *classes);
    hdx_code  code = HDX_OK;
    if (classes == NULL || p.at == NULL)
        code = hdx_no_memory(err, "instances of classes", g->classes * sizeof *classes);
    const uint64_t n = code == HDX_OK ? find_classes(g, number, is_root, members, mem, classes) : 0;
    for (uint64_t i = 0; i < n && code == HDX_OK;) {
        const NID w = (NID)classes[i].first;
        kept      k = { 0, 0 };
        for (; i < n && classes[i].first == w && code == HDX_OK;
             i++) /* several classes of a damaged dump may have one object */
            code = put_members(number, w, (uint32_t)classes[i].second, members, tick, &p, &k, err);
        if (code == HDX_OK && k.least != 0) {
            k.count++;
            code = put(&p, k.least, err);
        }
        if (code == HDX_OK && k.count > 0 && (code = put(&p, (NID)k.count, err)) == HDX_OK)
            code = put(&p, w, err);
    }
    if (code == HDX_OK)
        code = flush(&p, err);
    *count = p.written;
    hdx_mem_put(mem, classes, g->classes * sizeof *classes);
    hdx_mem_put(mem, p.at, FLUSH * sizeof(NID));
    return code;
}
