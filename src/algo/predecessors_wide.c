/*
 * predecessors_wide.c - the predecessors of each node in preorder numbers, ascending, from which Semi-NCA computes
 * labels.
 *
 * In:  numbers of nodes; records of referrers in the order of nodes; the instances of classes whose object is not a
 *      root.
 * Out: two tapes by ascending number, read from their ends by dominators_wide.c: from the records, and from the
 *      instances. They have the same form, and may be written in parallel.
 * The dominator of a node with one referrer is its parent, so it has no list: 73-95 % of a real dump. That is only true
 * if the list is complete: a class object also has its instances, and a root is entered from the virtual root whatever
 * its list contains.
 * Cost: one random load per referrer (its number), prefetched; numbers in ranges, as many at a time as fit: a slot of
 *       one NID for each number of the range, and the predecessors themselves. Each further range reads the records
 *       again.
 *
 * Of the predecessors with smaller numbers only the least matters: each is its own candidate. So most lists shrink to
 * one number.
 */
#include "algo/wide.h"

#include <assert.h>
#include <stdlib.h>

#define AHEAD       64u        /* distance in referrers for prefetching their numbers */
#define BATCH       256u       /* instances read at a time; referrers of a record gathered at a time */
#define GRAB        (1u << 14) /* NIDs a worker takes of the buffer at a time */
#define TRIM        (4u << 20) /* bytes of a buffer that need not be moved */
#define OWN         (GRAB / 4) /* a longer list gets separate space */
#define SPAN_LEAST  (1u << 16)
#define FLUSH       (1u << 16) /* NIDs written at a time */
#define PART        (1u << 15) /* numbers whose lists a worker sorts at a time */
#define TICK_CHUNKS 16u

typedef struct range {
    const WIDE(hdx_numbering) *numbered;
    const hdx_referrers       *referrers;
    const hdx_resources       *with;
    uint64_t                   from, end; /* numbers */
    uint64_t                   span;      /* how many of them to try next; at most `slots` */
    uint64_t                   slots;     /* room for numbers */
    NID                       *slot;      /* number - from -> index of its list in buffer, + 1; 0: none */
    NID                       *buffer;    /* lists: count, then as on the tape */
    uint64_t                   capacity;
    _Atomic uint64_t           taken;
    _Atomic uint64_t           longest; /* longest list that found no room, including its count */
    _Atomic uint64_t           next;    /* next chunk */
    atomic_bool                full;
    hdx_first_error            fault;
} range;

typedef struct grab { /* a worker's part of the buffer */
    uint64_t at, end;
} grab;

/* Reserves space for n NIDs; a long list gets separate space, and the current part remains for later ones. */
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

/* The list of one number that is being added to the buffer: referrers by ascending node; numbers of garbage are 0. */
typedef struct taking {
    range   *r;
    grab    *g;
    NID     *to;
    uint64_t place, count, left, kept;
    NID      w, least;
    bool     wanted;
} taking;

static bool begin_list(taking *t, uint64_t node, uint64_t count)
{
    const range *r = t->r;
    t->w = r->numbered->number[node];
    t->wanted = t->w >= r->from && t->w < r->end && !hdx_bits_test(r->numbered->is_root, node);
    t->count = t->left = count;
    t->kept = 0;
    t->least = 0;
    if (!t->wanted)
        return true;
    if (!reserve(t->r, t->g, count + 2, &t->place))
        return false;
    t->to = r->buffer + t->place;
    return true;
}

static void end_list(taking *t)
{
    range *r = t->r;
    if (t->least != 0)
        t->to[1 + t->kept++] = t->least;
    if (t->kept == 0)
        return;
    assert(t->kept <= t->count && t->place + t->kept < r->capacity); /* A5 */
    t->to[0] = (NID)t->kept;
    r->slot[t->w - r->from] = (NID)(t->place + 1);
    if (t->count + 2 <= OWN)
        t->g->at += t->kept + 1;
}

/* REQUIRES: their numbers were prefetched. */
static inline void put_referrers(taking *t, const uint64_t *nodes, uint64_t n)
{
    const NID *number = t->r->numbered->number, w = t->w;
    t->left -= n;
    if (!t->wanted)
        return;
    NID     *to = t->to + 1;
    uint64_t kept = t->kept;
    NID      least = t->least;
    for (uint64_t i = 0; i < n; i++) {
        const NID u = number[nodes[i]];
        if (u > w)
            to[kept++] = u;
        else if (u != 0 && u != w && (least == 0 || u < least))
            least = u;
    }
    t->kept = kept;
    t->least = least;
    if (t->left == 0)
        end_list(t);
}

static void ask_for(const taking *t, const uint64_t *nodes, uint64_t n)
{
    const NID *number = t->r->numbered->number;
    for (uint64_t i = 0; i < n; i++)
        __builtin_prefetch(number + nodes[i]);
}

/* ---- packed records ---- */
static bool take_packed(taking *t, uint64_t node, const uint8_t **at, uint64_t count)
{
    uint64_t nodes[BATCH], source = node;
    if (!begin_list(t, node, count))
        return false;
    for (bool first = true; t->left > 0;) {
        const uint64_t n = t->left < BATCH ? t->left : BATCH;
        for (uint64_t i = 0; i < n; i++) {
            source = first ? node + (uint64_t)hdx_unzigzag(hdx_unpack(at)) : source + 1 + hdx_unpack(at);
            first = false;
            nodes[i] = source;
        }
        if (t->wanted)
            ask_for(t, nodes, n);
        put_referrers(t, nodes, n);
    }
    return true;
}

static hdx_code take_chunk(taking *t, uint64_t chunk, uint8_t *bytes, hdx_error *err)
{
    const hdx_referrers *referrers = t->r->referrers;
    uint64_t             len, node;
    const hdx_code       code = referrers->read(referrers->context, chunk, bytes, &len, &node, err);
    if (code != HDX_OK)
        return code;
    const uint8_t *at = bytes, *end = bytes + len;
    for (bool first = true; at < end; first = false) {
        const uint64_t distance = hdx_unpack(&at);
        node = first ? node + distance : node + 1 + distance;
        const uint64_t count = hdx_unpack(&at);
        if (!take_packed(t, node, &at, count))
            break;
    }
    return HDX_OK;
}

/* ---- records without packing ---- */
static bool take_run(void *context, const uint64_t *nodes, const uint64_t *counts, uint32_t n,
                     const uint64_t *referrers)
{
    taking        *t = context;
    const NID     *number = t->r->numbered->number;
    const uint64_t none = 0;
    uint64_t       all = 0, asked = 0, at = 0;
    for (uint32_t i = 0; i < n; i++) {
        __builtin_prefetch(number + nodes[i]);
        all += counts[i];
    }
    for (uint32_t i = 0; i < n; at += counts[i++]) {
        const uint64_t ahead = all - at < counts[i] + AHEAD ? all : at + counts[i] + AHEAD;
        if (ahead > asked) {
            ask_for(t, referrers + asked, ahead - asked);
            asked = ahead;
        }
        if (!begin_list(t, nodes[i], counts[i]))
            return false;
        put_referrers(t, counts[i] == 0 ? &none : referrers + at, counts[i]);
    }
    return true;
}

static bool take_long(void *context, uint64_t node, uint64_t count) { return begin_list(context, node, count); }

static void take_more(void *context, const uint64_t *referrers, uint32_t n)
{
    ask_for(context, referrers, n);
    put_referrers(context, referrers, n);
}

static void read_records(void *context, unsigned worker)
{
    range                   *r = context;
    const hdx_referrers     *referrers = r->referrers;
    grab                     g = { 0, 0 };
    taking                   t = { .r = r, .g = &g };
    const hdx_referrer_taker to = { &t, take_run, take_long, take_more };
    const uint64_t           room = referrers->longest + HDX_PACKED_SLACK;
    uint8_t                 *bytes = referrers->read == NULL ? NULL : hdx_mem_get(r->with->mem, room);
    uint64_t                 chunk;
    hdx_error                err = { 0 };
    (void)worker;
    if (referrers->read != NULL && bytes == NULL) {
        hdx_first_error_put(&r->fault, hdx_no_memory(&err, "records of referrers", room), &err);
        return;
    }
    while (!atomic_load(&r->full) && !hdx_first_error_any(&r->fault) &&
           (chunk = atomic_fetch_add(&r->next, 1)) < referrers->chunks) {
        hdx_code code = referrers->read != NULL ? take_chunk(&t, chunk, bytes, &err)
                                                : referrers->give(referrers->context, chunk, &to, &err);
        if (code == HDX_OK && chunk % TICK_CHUNKS == 0 && hdx_tick(r->with->tick, 0))
            code = hdx_tick_stop(&err);
        if (code != HDX_OK) {
            hdx_first_error_put(&r->fault, code, &err);
            break;
        }
    }
    hdx_mem_put(r->with->mem, bytes, room);
}

/* ---- output ---- */
/* Parts of a range are written one after the other, whichever thread sorts them. */
typedef struct turns {
    range           *r;
    const hdx_tape  *tape;
    _Atomic uint64_t next; /* next part to take */
    _Atomic uint64_t written;
    pthread_mutex_t  lock; /* guards `out` */
    pthread_cond_t   moved;
    uint64_t         out; /* part that may be written now */
} turns;

/* The output of a worker: it waits until its part may be written. */
typedef struct part_tape {
    turns   *t;
    uint64_t part;
} part_tape;

static hdx_code wait_turn(part_tape *p, hdx_error *err)
{
    turns *t = p->t;
    (void)pthread_mutex_lock(&t->lock);
    while (t->out != p->part && !hdx_first_error_any(&t->r->fault))
        (void)pthread_cond_wait(&t->moved, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
    if (hdx_first_error_any(&t->r->fault)) /* the error of another worker is already stored */
        return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "another thread stopped");
    return HDX_OK;
}

static void end_turn(turns *t)
{
    (void)pthread_mutex_lock(&t->lock);
    t->out++;
    (void)pthread_cond_broadcast(&t->moved);
    (void)pthread_mutex_unlock(&t->lock);
}

static hdx_code write_in_turn(void *context, const void *bytes, uint64_t len, hdx_error *err)
{
    part_tape      *p = context;
    const hdx_tape *tape = p->t->tape;
    const hdx_code  code = wait_turn(p, err);
    return code != HDX_OK ? code : tape->write(tape->context, bytes, len, err);
}

static inline hdx_code put(hdx_tape_writer *out, NID value, hdx_error *err)
{
    return hdx_tape_writer_put(out, &value, sizeof value, err);
}

static hdx_code put_list(hdx_tape_writer *out, const NID *list, uint64_t n, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t done = 0; done < n && code == HDX_OK;) {
        const uint64_t room = (out->room - out->used) / sizeof *list, part = n - done < room ? n - done : room;
        code = hdx_tape_writer_put(out, list + done, part * sizeof *list, err);
        done += part;
    }
    return code;
}

/* Writes the lists of part `at->part`, and ends its turn. */
static hdx_code put_part(const range *r, part_tape *at, hdx_tape_writer *out, hdx_error *err)
{
    assert(r->from + at->part * PART < r->end); /* A4 */
    const uint64_t from = r->from + at->part * PART, end = r->end - from < PART ? r->end : from + PART;
    hdx_code       code = HDX_OK;
    for (uint64_t w = from; w < end && code == HDX_OK; w++) {
        const NID  slot = r->slot[w - r->from];
        const NID *list = slot == 0 ? NULL : r->buffer + (slot - 1);
        if (slot != 0 && (code = put_list(out, list + 1, list[0], err)) == HDX_OK &&
            (code = put(out, list[0], err)) == HDX_OK)
            code = put(out, (NID)w, err);
    }
    if (code == HDX_OK && (code = hdx_tape_writer_flush(out, err)) == HDX_OK && (code = wait_turn(at, err)) == HDX_OK)
        end_turn(at->t);
    return code;
}

static void put_parts(void *context, unsigned worker)
{
    turns          *t = context;
    range          *r = t->r;
    part_tape       at = { .t = t };
    const hdx_tape  tape = { .context = &at, .write = write_in_turn };
    hdx_tape_writer out;
    const uint64_t  parts = (r->end - r->from + PART - 1) / PART;
    hdx_error       err = { 0 };
    hdx_code        code = HDX_OK;
    (void)worker;
    if (!hdx_tape_writer_open(&out, &tape, FLUSH * sizeof(NID), r->with->mem))
        code = hdx_no_memory(&err, "predecessors", FLUSH * sizeof(NID));
    while (code == HDX_OK && (at.part = atomic_fetch_add(&t->next, 1)) < parts)
        code = put_part(r, &at, &out, &err);
    if (code != HDX_OK) {
        hdx_first_error_put(&r->fault, code, &err);
        end_turn(t); /* wakes waiting workers */
    }
    atomic_fetch_add(&t->written, out.written / sizeof(NID));
    hdx_tape_writer_close(&out, r->with->mem);
}

/* Writes all lists of the range, by ascending number: one random load per list, so all threads do it. */
static hdx_code put_range(range *r, hdx_taped *out, hdx_error *err)
{
    turns t = { .r = r, .tape = out->tape };
    (void)pthread_mutex_init(&t.lock, NULL);
    (void)pthread_cond_init(&t.moved, NULL);
    hdx_workers_run(r->with->threads, put_parts, &t);
    (void)pthread_cond_destroy(&t.moved);
    (void)pthread_mutex_destroy(&t.lock);
    out->count += atomic_load(&t.written);
    return hdx_first_error_take(&r->fault, err);
}

/* ---- ranges ---- */
/* Grows the buffer for a single list that is longer than it: a range cannot be narrower. */
static hdx_code grow(range *r, hdx_error *err)
{
    const uint64_t want = atomic_load(&r->longest);
    hdx_mem_put(r->with->mem, r->buffer, r->capacity * sizeof(NID));
    r->buffer = want < NONE ? hdx_mem_raw(r->with->mem, want, sizeof(NID)) : NULL;
    r->capacity = r->buffer == NULL ? 0 : want;
    return r->buffer != NULL ? HDX_OK : hdx_no_memory(err, "the predecessors of one object", want * sizeof(NID));
}

/* Fills one range: narrower if its lists do not fit in the buffer, and wider again afterwards. */
static hdx_code fill_range(range *r, hdx_error *err)
{
    const uint64_t after = r->numbered->reached + 1;
    for (;;) {
        r->end = after - r->from < r->span ? after : r->from + r->span;
        assert(r->from < r->end && r->end <= after && r->end - r->from <= r->slots); /* A4 */
        memset(r->slot, 0, (size_t)(r->end - r->from) * sizeof(NID));
        atomic_store(&r->taken, 0);
        atomic_store(&r->next, 0);
        atomic_store(&r->longest, 0);
        atomic_store(&r->full, false);
        hdx_workers_run(r->with->threads, read_records, r);
        hdx_code code = hdx_first_error_take(&r->fault, err);
        if (code != HDX_OK)
            return code;
        if (!atomic_load(&r->full)) {
            r->span = r->span < r->slots / 2 ? 2 * r->span : r->slots;
            return HDX_OK;
        }
        if (atomic_load(&r->longest) > r->capacity && (code = grow(r, err)) != HDX_OK)
            return code;
        r->span = r->span > 1 ? r->span / 2 : 1;
    }
}

/* For the last range: frees the unused part of the buffer, which the tape may then use. */
static void trim(range *r)
{
    const uint64_t taken = atomic_load(&r->taken), bytes = taken * sizeof(NID);
    NID           *smaller = taken < r->capacity && bytes >= TRIM
                                 ? hdx_mem_resize(r->with->mem, r->buffer, r->capacity * sizeof(NID), bytes)
                                 : NULL;
    if (smaller == NULL)
        return;
    r->buffer = smaller;
    r->capacity = taken;
}

/*
 * Allocates memory for all lists if it suffices; otherwise for some numbers and their lists, as if those were evenly
 * distributed.
 */
static void share_room(range *r, uint64_t room)
{
    const hdx_referrers *referrers = r->referrers;
    const unsigned       threads = r->with->threads;
    const uint64_t       reached = r->numbered->reached, grabs = (uint64_t)(threads + 1) * GRAB;
    /* Short lists leave less than a quarter of a worker's part unused. */
    const uint64_t all = referrers->entries + referrers->entries / 3 + grabs;
    const uint64_t records = threads * (referrers->longest + HDX_PACKED_SLACK + FLUSH * sizeof(NID)),
                   places = (room > records ? room - records : 0) / sizeof(NID);
    r->slots = reached;
    r->capacity = all;
    if (reached + all > places) {
        r->slots = (uint64_t)((double)reached * (double)places / (double)(reached + all));
        r->slots = r->slots < SPAN_LEAST ? (reached < SPAN_LEAST ? reached : SPAN_LEAST) : r->slots;
        r->capacity = places > r->slots + grabs ? places - r->slots : grabs;
        r->capacity = r->capacity > all ? all : r->capacity;
    }
    r->capacity = r->capacity < NONE ? r->capacity : NONE - 1; /* a slot contains an index */
    r->span = r->slots;
}

hdx_code WIDE(hdx_predecessors)(const WIDE(hdx_numbering) *numbered, const hdx_referrers *referrers, uint64_t room,
                                const hdx_resources *with, hdx_taped *out, hdx_error *err)
{
    const uint64_t reached = numbered->reached;
    range          r = { .numbered = numbered, .referrers = referrers, .with = with };
    hdx_code       code = HDX_OK;
    out->count = 0;
    share_room(&r, room);
    const uint64_t want = (r.slots + r.capacity) * sizeof(NID);
    r.slot = hdx_mem_raw(with->mem, r.slots, sizeof(NID));
    r.buffer = hdx_mem_raw(with->mem, r.capacity, sizeof(NID));
    r.capacity = r.buffer == NULL ? 0 : r.capacity;
    if (r.slot == NULL || r.buffer == NULL)
        code = hdx_no_memory(err, "predecessors", want);
    for (r.from = 1; r.from <= reached && code == HDX_OK; r.from = r.end) {
        if ((code = fill_range(&r, err)) != HDX_OK)
            break;
        if (r.end > reached)
            trim(&r);
        code = put_range(&r, out, err);
    }
    hdx_mem_put(with->mem, r.buffer, r.capacity * sizeof(NID));
    hdx_mem_put(with->mem, r.slot, r.slots * sizeof(NID));
    return code;
}

/* ---- class objects ---- */
typedef struct class_search {
    const WIDE(hdx_numbering) *numbered;
    const hdx_class_instances *instances;
    const hdx_resources       *with;
    hdx_tape_writer            out;
} class_search;

/* About the instances of a class object: how many have a number above its own, the least of those below (0: none). */
typedef struct kept {
    uint64_t count;
    NID      least;
} kept;

/* Writes the instances of a class whose object has number w. */
static hdx_code put_instances(class_search *s, uint32_t class_number, NID w, kept *k, hdx_error *err)
{
    const hdx_class_instances *instances = s->instances;
    const NID                 *number = s->numbered->number;
    uint64_t                   ids[BATCH];
    const uint64_t             all = instances->count(instances->context, class_number);
    for (uint64_t done = 0; done < all;) {
        const uint32_t n = all - done < BATCH ? (uint32_t)(all - done) : BATCH;
        hdx_code       code = instances->read(instances->context, class_number, done, n, ids, err);
        if (code != HDX_OK)
            return code;
        for (uint32_t i = 0; i < n; i++)
            __builtin_prefetch(number + ids[i]);
        for (uint32_t i = 0; i < n; i++) {
            const NID u = number[ids[i]];
            if (u > w) {
                k->count++;
                if ((code = put(&s->out, u, err)) != HDX_OK)
                    return code;
            } else if (u != 0 && u != w && (k->least == 0 || u < k->least))
                k->least = u;
        }
        if (hdx_tick(s->with->tick, 0))
            return hdx_tick_stop(err);
        done += n;
    }
    return HDX_OK;
}

/*
 * Finds class objects whose instances are predecessors, as pairs of their number and that of their class, by ascending
 * number.
 */
static uint64_t find_classes(const class_search *s, const WIDE(hdx_digraph) *g, hdx_pair *out)
{
    const hdx_class_instances *instances = s->instances;
    const NID                 *number = s->numbered->number;
    uint64_t                   count = 0;
    for (uint32_t c = 0; c < g->classes; c++) {
        const NID object = g->class_object[c];
        if (object != NONE && number[object] != 0 && !hdx_bits_test(s->numbered->is_root, object) &&
            instances->count(instances->context, c) > 0)
            out[count++] = (hdx_pair){ number[object], c };
    }
    hdx_sort_pairs(s->with->mem, out, count);
    return count;
}

/* Writes the predecessors of the object of the first of these classes; *taken: how many have the same object. */
static hdx_code put_class_object(class_search *s, const hdx_pair *classes, uint64_t n, uint64_t *taken, hdx_error *err)
{
    const NID w = (NID)classes[0].first;
    kept      k = { 0, 0 };
    hdx_code  code = HDX_OK;
    for (*taken = 0; *taken < n && classes[*taken].first == w && code == HDX_OK; ++*taken)
        code = put_instances(s, (uint32_t)classes[*taken].second, w, &k, err);
    if (code == HDX_OK && k.least != 0) {
        k.count++;
        code = put(&s->out, k.least, err);
    }
    if (code == HDX_OK && k.count > 0 && (code = put(&s->out, (NID)k.count, err)) == HDX_OK)
        code = put(&s->out, w, err);
    return code;
}

hdx_code WIDE(hdx_class_predecessors)(const WIDE(hdx_digraph) *g, const WIDE(hdx_numbering) *numbered,
                                      const hdx_class_instances *instances, const hdx_resources *with, hdx_taped *out,
                                      hdx_error *err)
{
    class_search s = { .numbered = numbered, .instances = instances, .with = with };
    hdx_pair    *classes = hdx_mem_array(with->mem, g->classes, sizeof *classes);
    uint64_t     taken;
    hdx_code     code = HDX_OK;
    if (!hdx_tape_writer_open(&s.out, out->tape, FLUSH * sizeof(NID), with->mem) || classes == NULL)
        code = hdx_no_memory(err, "instances of classes", g->classes * sizeof *classes);
    const uint64_t n = code == HDX_OK ? find_classes(&s, g, classes) : 0;
    for (uint64_t i = 0; i < n && code == HDX_OK; i += taken) /* in a damaged dump two classes may have one object */
        code = put_class_object(&s, classes + i, n - i, &taken, err);
    if (code == HDX_OK)
        code = hdx_tape_writer_flush(&s.out, err);
    out->count = s.out.written / sizeof(NID);
    hdx_tape_writer_close(&s.out, with->mem);
    hdx_mem_put(with->mem, classes, g->classes * sizeof *classes);
    return code;
}
