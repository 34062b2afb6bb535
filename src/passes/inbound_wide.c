/*
 * inbound_wide.c - the index inbound: the outbound lists transposed; and a file of referrers, for the dominators.
 *
 * In:  packed outbound lists; bits of objects that have a referrer, and more than one.
 * Cost: two sweeps over the lists for every range of targets; the budget determines the number of ranges. A range needs
 *       memory for one number per target, one more per target with many referrers and per worker, and those referrers.
 *       A list is never split between ranges.
 *
 * Workers divide the sources of a sweep: each counts what its part refers to, and places it after the shares of the
 * parts before it.
 *
 * A range's last values rarely fill a part of the file (HDX_PART): the remainder is written before the next range's
 * values.
 *
 * The file of referrers (hdx_referrers in algo.h) contains again the lists of objects with more than one referrer and
 * of class objects, because the step dominators mostly reads those, packed and in the order of ids.
 */
#include "passes/wide.h"

#define BLOCK       HDX_PART   /* targets whose references are counted together; ranges have multiples of it */
#define CHUNK       4096u      /* targets whose referrers are written together; whole words of bits, */
#define CHUNK_BYTES 65536u     /* if they need no more bytes than this */
#define LONG_LIST   (1u << 20) /* bytes; longer lists get no room in advance */

typedef struct transposing {
    hdx_work              *w;
    const hdx_dump_tables *t;
    const hdx_inbound_in  *in;
    hdx_inbound           *out;
    const uint64_t        *once;        /* bit sets over ids: has a referrer, */
    WIDE(hdx_ranked)       many;        /* has several */
    uint64_t              *before;      /* references to the targets before each block, and in total; */
    uint64_t              *many_before; /* those to targets with several */
    uint64_t               blocks;
    uint64_t              *is_class; /* bit set over ids; only if referrers are wanted */
    /* the current range */
    uint64_t from, end; /* targets */
    uint64_t rank;      /* of the first of them in many */
    NID     *only;      /* per target: its only referrer */
    uint64_t only_room;
    /*
     * For each part of the sources, per target with several referrers, by rank: their number; then where the part's
     * share ends in `to`.
     */
    NID      *counts;
    NID      *count; /* the last of them, used for all parts together: the number; then where the list ends */
    uint64_t  count_room;
    unsigned  parts;
    NID      *to;
    uint64_t  to_room;
    uint64_t  first, last; /* values */
    uint64_t *carry;       /* values not yet written and their keys: at most HDX_PART - 1 */
    uint64_t *carry_keys;
    uint64_t  carried;
    bool      placing; /* placing, otherwise counting */
    /* writing referrers */
    _Atomic uint64_t next;
    hdx_first_error  fault;
    pthread_mutex_t  lock; /* guards the file's end and chunks */
} transposing;

/* A target and its list; the next target needs no other look-up. */
typedef struct list {
    uint64_t   target, rank; /* rank: that of the next target with several */
    const NID *at;
    uint64_t   count;
} list;

static inline void look_at(const transposing *t, list *l)
{
    const uint64_t bit = l->target & 63;
    if ((t->many.words[l->target >> 6] >> bit & 1) != 0) {
        assert(t->once[l->target >> 6] >> bit & 1); /* P5 */
        const uint64_t r = l->rank++ - t->rank, begin = r == 0 ? 0 : t->count[r - 1];
        l->at = t->to + begin;
        l->count = t->count[r] - begin;
    } else {
        l->at = t->only + (l->target - t->from);
        l->count = t->once[l->target >> 6] >> bit & 1;
    }
}

static list list_of(const transposing *t, uint64_t target)
{
    list l = { target, HDX_RANK(&t->many, target), NULL, 0 };
    look_at(t, &l);
    return l;
}

static inline void next_list(const transposing *t, list *l)
{
    l->target++;
    look_at(t, l);
}

/* ---- index file ---- */
static hdx_code fill_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    const transposing *t = context;
    uint64_t           rank = n == 0 ? 0 : HDX_RANK(&t->many, first) - t->rank;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t target = first + i;
        degrees[i] = hdx_bits_test(t->many.words, target) ? t->count[rank++] : hdx_bits_test(t->once, target);
    }
    return HDX_OK;
}

static hdx_code fill_values(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    const transposing *t = context;
    uint32_t           i = 0;
    (void)err;
    for (; i < n && first + i < t->first; i++) {
        values[i] = t->carry[first + i - (t->first - t->carried)];
        keys[i] = t->carry_keys[first + i - (t->first - t->carried)];
    }
    if (i == n)
        return HDX_OK;
    /* The last block of the range that starts at or before the value. */
    const uint64_t begin = t->from / BLOCK, blocks = (t->end - 1) / BLOCK - begin + 1;
    const uint64_t block = begin + hdx_upper_bound(HDX_NUMBERS(t->before + begin, blocks), first + i) - 1;
    uint64_t       skip = first + i - t->before[block];
    list           l = list_of(t, block * BLOCK);
    for (; skip >= l.count; next_list(t, &l))
        skip -= l.count;
    for (;;) {
        for (; skip < l.count && i < n; skip++, i++) {
            values[i] = l.at[skip];
            keys[i] = l.target;
        }
        if (i == n)
            return HDX_OK;
        skip = 0;
        next_list(t, &l);
    }
}

static hdx_code write_values(transposing *t, hdx_one_to_n_writer *w, hdx_error *err)
{
    const bool     all = t->end == t->t->objects;
    const uint64_t have = t->carried + (t->last - t->first), n = all ? have : have / HDX_PART * HDX_PART,
                   start = t->first - t->carried;
    uint64_t values[256], keys[256], moved = 0;
    hdx_code code = n == 0 ? HDX_OK : hdx_one_to_n_append_values(w, n, fill_values, t, err);
    if (code != HDX_OK)
        return code;
    while (moved < have - n) { /* in pieces, because what is carried may be carried again */
        const uint32_t part = have - n - moved < 256 ? (uint32_t)(have - n - moved) : 256;
        (void)fill_values(t, start + n + moved, part, values, keys, err);
        memcpy(t->carry + moved, values, part * sizeof *values);
        memcpy(t->carry_keys + moved, keys, part * sizeof *keys);
        moved += part;
    }
    t->carried = have - n;
    assert(t->carried < HDX_PART && (!all || t->carried == 0)); /* P4, P8 */
    return HDX_OK;
}

/* ---- referrers ---- */
static hdx_code put_chunk(transposing *t, uint64_t node, const uint8_t *bytes, uint64_t len, uint64_t entries,
                          hdx_error *err)
{
    hdx_work          *w = t->w;
    hdx_referrer_file *f = &t->out->referrers;
    hdx_referrer_chunk c = { .bytes = len, .node = node, .sum = hdx_crc32c(0, bytes, (size_t)len) };
    hdx_code           code = HDX_OK;
    (void)pthread_mutex_lock(&t->lock);
    c.at = f->file.end;
    f->file.end += len;
    f->entries += entries;
    f->longest = len > f->longest ? len : f->longest;
    if (!hdx_mem_room(&w->mem, (void **)&f->chunks, &f->capacity, f->count, sizeof *f->chunks))
        code = hdx_no_memory(err, "chunks of referrers", f->capacity * sizeof *f->chunks);
    else
        f->chunks[f->count++] = c;
    (void)pthread_mutex_unlock(&t->lock);
    if (code != HDX_OK)
        return code;
    int rc = w->io->write_at(w->io, f->file.fd, bytes, len, c.at);
    return rc < 0 ? hdx_fail(err, HDX_IO, f->file.path, c.at, "cannot write: %s", strerror(-rc)) : HDX_OK;
}

static bool grow(transposing *t, uint8_t **bytes, uint64_t *capacity, uint64_t used, uint64_t more)
{
    hdx_mem       *mem = &t->w->mem;
    const uint64_t want = used + more,
                   next = want < LONG_LIST ? 2 * want : want; /* some objects may have millions of referrers */
    if (want <= *capacity)
        return true;
    uint8_t *p = hdx_mem_resize(mem, *bytes, *capacity, next);
    if (p == NULL)
        return false;
    *bytes = p;
    *capacity = next;
    return true;
}

/*
 * Writes objects with several referrers, and class objects with one: their instances are added later. Roots are
 * omitted: their dominator is known.
 */
static hdx_code write_chunk(transposing *t, uint64_t from, uint8_t **bytes, uint64_t *capacity, hdx_error *err)
{
    const uint64_t end = t->end - from < CHUNK ? t->end : from + CHUNK;
    uint64_t       node = from, next = from, entries = 0, used = 0;
    hdx_code       code = HDX_OK;
    for (uint64_t word = from / 64; word < (end + 63) / 64; word++) {
        uint64_t wanted = (t->many.words[word] | (t->once[word] & t->is_class[word])) & ~t->in->is_root[word];
        for (; wanted != 0; wanted &= wanted - 1) {
            const list l = list_of(t, 64 * word + (uint64_t)__builtin_ctzll(wanted));
            if (!grow(t, bytes, capacity, used, 5 * (l.count + 2) + 16))
                return hdx_no_memory(err, "a chunk of referrers", used + 5 * (l.count + 2));
            uint8_t *to = *bytes + used;
            to = hdx_pack(to, l.target - next);
            to = hdx_pack(to, l.count);
            to = hdx_pack(to, hdx_zigzag((int64_t)((uint64_t)l.at[0] - l.target)));
            for (uint64_t i = 1; i < l.count; i++)
                to = hdx_pack(to, (uint64_t)l.at[i] - l.at[i - 1] - 1);
            used = (uint64_t)(to - *bytes);
            next = l.target + 1;
            entries += l.count + 1;
            if (used < CHUNK_BYTES)
                continue;
            if ((code = put_chunk(t, node, *bytes, used, entries, err)) != HDX_OK)
                return code;
            node = next;
            used = entries = 0;
        }
    }
    return used == 0 ? HDX_OK : put_chunk(t, node, *bytes, used, entries, err);
}

static void write_chunks(void *context, unsigned worker)
{
    transposing *t = context;
    uint8_t     *bytes = NULL;
    uint64_t     capacity = 0, i;
    hdx_error    err = { 0 };
    (void)worker;
    while (!hdx_first_error_any(&t->fault) && t->from + (i = atomic_fetch_add(&t->next, 1)) * CHUNK < t->end)
        hdx_first_error_put(&t->fault, write_chunk(t, t->from + i * CHUNK, &bytes, &capacity, &err), &err);
    hdx_mem_put(&t->w->mem, bytes, capacity);
}

static hdx_code write_referrers(transposing *t, hdx_error *err)
{
    atomic_store(&t->next, 0);
    hdx_workers_run(t->w->threads, write_chunks, t);
    return hdx_first_error_take(&t->fault, err);
}

/* ---- ranges ---- */
static uint64_t block_end(const transposing *t, uint64_t block)
{
    return block < t->blocks ? block * BLOCK : t->t->objects;
}

static uint64_t many_in(const transposing *t, uint64_t from, uint64_t end)
{
    return (end < t->t->objects ? HDX_RANK(&t->many, end) : t->many.count) - HDX_RANK(&t->many, from);
}

/* The first source of a part, at a whole group of lists. */
static uint64_t part_begin(const transposing *t, unsigned part)
{
    return part == t->parts ? t->t->objects : t->t->objects / t->parts * part & ~7ull;
}

static void sweep_part(void *context, unsigned part)
{
    transposing                 *t = context;
    NID                         *count = t->counts + part * t->count_room;
    const hdx_packed_walk        sources = { .node = part_begin(t, part), .end = part_begin(t, part + 1) };
    const WIDE(hdx_transpose_in) in = { t->in->outbound, &sources, &t->many, t->from, t->end };
    const WIDE(hdx_transposed)   out = { t->only, count, t->to };
    const hdx_resources          with = hdx_work_resources(t->w);
    hdx_error                    err = { 0 };
    const hdx_code               code = t->placing ? WIDE(hdx_transpose_place)(&in, &with, &out, &err)
                                                   : WIDE(hdx_transpose_count)(&in, &with, count, &err);
    hdx_first_error_put(&t->fault, code, &err);
}

static hdx_code sweep(transposing *t, bool placing, hdx_error *err)
{
    t->placing = placing;
    hdx_workers_run(t->parts, sweep_part, t);
    return hdx_first_error_take(&t->fault, err);
}

static hdx_code count_range(transposing *t, hdx_error *err)
{
    const uint64_t many = many_in(t, t->from, t->end);
    t->rank = HDX_RANK(&t->many, t->from);
    for (unsigned part = 0; part < t->parts; part++)
        memset(t->counts + part * t->count_room, 0, (size_t)many * sizeof(NID));
    hdx_code code = sweep(t, false, err);
    for (unsigned part = 0; part + 1 < t->parts; part++)
        for (uint64_t i = 0; i < many; i++)
            t->count[i] = (NID)(t->count[i] + t->counts[part * t->count_room + i]);
    return code;
}

/* Adds the references to the targets of each block of the range to the sums. */
static void sum_blocks(transposing *t)
{
    uint64_t rank = 0;
    for (uint64_t block = t->from / BLOCK; block * BLOCK < t->end; block++) {
        uint64_t single = 0, several = 0;
        for (uint64_t word = block * BLOCK / 64; word < hdx_bits_words(block_end(t, block + 1)); word++) {
            single += (uint64_t)__builtin_popcountll(t->once[word] & ~t->many.words[word]);
            for (uint64_t left = (uint64_t)__builtin_popcountll(t->many.words[word]); left > 0; left--)
                several += t->count[rank++];
        }
        t->before[block + 1] = t->before[block] + single + several;
        t->many_before[block + 1] = t->many_before[block] + several;
        assert(t->before[block + 1] - t->before[block] >= several); /* P10 */
    }
}

static hdx_code write_degrees(transposing *t, hdx_one_to_n_writer *w, hdx_error *err)
{
    const uint64_t n = t->t->objects;
    hdx_code       code = HDX_OK;
    for (t->from = 0; t->from < n && code == HDX_OK; t->from = t->end) {
        t->end = n - t->from < t->only_room ? n : t->from + t->only_room;
        if ((code = count_range(t, err)) != HDX_OK)
            break;
        sum_blocks(t);
        code = hdx_one_to_n_append_degrees(w, t->end - t->from, fill_degrees, t, err);
    }
    assert(code != HDX_OK || t->before[t->blocks] <= t->in->outbound->edges); /* P10, INDEX I6 */
    return code;
}

/* As many blocks as fit; at least one. */
static hdx_code next_range(transposing *t, hdx_error *err)
{
    hdx_work      *w = t->w;
    const uint64_t begin = t->from / BLOCK;
    uint64_t       block = begin;
    do
        block++;
    while (block < t->blocks && block_end(t, block + 1) - t->from <= t->only_room &&
           t->many_before[block + 1] - t->many_before[begin] <= t->to_room);
    t->end = block_end(t, block);
    assert(t->from % BLOCK == 0 && t->end > t->from && t->end <= t->t->objects); /* P4 */
    t->first = t->before[begin];
    t->last = t->before[block];
    const uint64_t several = t->many_before[block] - t->many_before[begin];
    if (several <= t->to_room)
        return HDX_OK;
    hdx_mem_put(&w->mem, t->to, t->to_room * sizeof(NID)); /* some objects have so many referrers */
    t->to_room = several;
    if ((t->to = hdx_mem_raw(&w->mem, t->to_room, sizeof(NID))) != NULL)
        return HDX_OK;
    t->to_room = 0;
    return hdx_no_memory(err, "the referrers of an object", several * sizeof(NID));
}

static hdx_code transpose_range(transposing *t, bool counted, hdx_error *err)
{
    hdx_code       code = counted ? HDX_OK : count_range(t, err);
    const uint64_t many = many_in(t, t->from, t->end);
    NID            sum = 0;
    for (uint64_t i = 0; i < many; i++) {
        const NID end = (NID)(sum + t->count[i]);
        for (unsigned part = 0; part + 1 < t->parts; part++) {
            NID      *share = &t->counts[part * t->count_room + i];
            const NID n = *share;
            *share = sum;
            sum = (NID)(sum + n);
        }
        t->count[i] = sum; /* the share of the last part */
        sum = end;
    }
    return code != HDX_OK ? code : sweep(t, true, err);
}

static hdx_code write_all(transposing *t, hdx_one_to_n_writer *w, hdx_error *err)
{
    const uint64_t n = t->t->objects;
    hdx_code       code = write_degrees(t, w, err);
    const bool     whole = t->only_room >= n;
    for (t->from = 0; t->from < n && code == HDX_OK; t->from = t->end) {
        if ((code = next_range(t, err)) != HDX_OK ||
            (code = transpose_range(t, whole && t->from == 0 && t->end == n, err)) != HDX_OK)
            break;
        if (t->in->is_root != NULL && (code = write_referrers(t, err)) != HDX_OK)
            break;
        code = write_values(t, w, err);
    }
    return code;
}

/* Allocates memory for a range: as much as it needs if that fits, otherwise what is left, divided in proportion. */
static hdx_code get_range(transposing *t, hdx_error *err)
{
    hdx_work      *w = t->w;
    const uint64_t n = t->t->objects, single = hdx_bits_count(t->once, hdx_bits_words(n)) - t->many.count,
                   several = t->in->outbound->edges - single;
    const uint64_t left = t->in->room / sizeof(NID);
    t->parts = hdx_transpose_parts(w->threads, single, t->many.count);
    t->parts = n + t->parts * t->many.count + several <= left ? t->parts : 1;
    const uint64_t all = n + t->parts * t->many.count + several;
    t->only_room = n;
    t->to_room = several;
    if (all > left) {
        t->only_room = (uint64_t)((double)left * (double)n / (double)all) / BLOCK * BLOCK;
        t->only_room = t->only_room < BLOCK ? BLOCK : t->only_room;
    }
    t->blocks = (n + BLOCK - 1) / BLOCK;
    for (uint64_t from = 0; from < n; from += BLOCK) { /* for any start of a range */
        const uint64_t many = many_in(t, from, n - from < t->only_room ? n : from + t->only_room);
        t->count_room = many > t->count_room ? many : t->count_room;
    }
    if (all > left)
        t->to_room = left > t->only_room + t->count_room ? left - t->only_room - t->count_room : BLOCK;
    t->before = hdx_mem_array(&w->mem, t->blocks + 1, sizeof *t->before);
    t->many_before = hdx_mem_array(&w->mem, t->blocks + 1, sizeof *t->many_before);
    t->only = hdx_mem_raw(&w->mem, t->only_room, sizeof(NID));
    t->counts = hdx_mem_array(&w->mem, t->parts * t->count_room, sizeof(NID));
    assert(t->parts > 0 && t->only_room > 0);
    t->count = t->counts == NULL ? NULL : t->counts + (t->parts - 1) * t->count_room;
    t->to = hdx_mem_raw(&w->mem, t->to_room, sizeof(NID));
    t->carry = hdx_mem_array(&w->mem, HDX_PART, sizeof *t->carry);
    t->carry_keys = hdx_mem_array(&w->mem, HDX_PART, sizeof *t->carry_keys);
    if (t->before == NULL || t->many_before == NULL || t->only == NULL || t->count == NULL || t->to == NULL ||
        t->carry == NULL || t->carry_keys == NULL)
        return hdx_no_memory(err, "inbound references", (t->only_room + t->count_room + t->to_room) * sizeof(NID));
    return HDX_OK;
}

static void put_range(transposing *t)
{
    hdx_mem *mem = &t->w->mem;
    hdx_mem_put(mem, t->before, (t->blocks + 1) * sizeof *t->before);
    hdx_mem_put(mem, t->many_before, (t->blocks + 1) * sizeof *t->many_before);
    hdx_mem_put(mem, t->only, t->only_room * sizeof(NID));
    hdx_mem_put(mem, t->counts, t->parts * t->count_room * sizeof(NID));
    hdx_mem_put(mem, t->to, t->to_room * sizeof(NID));
    hdx_mem_put(mem, t->carry, HDX_PART * sizeof *t->carry);
    hdx_mem_put(mem, t->carry_keys, HDX_PART * sizeof *t->carry_keys);
    hdx_mem_put(mem, t->many.before, hdx_bits_words(t->t->objects) * sizeof(NID));
}

static hdx_code find_class_objects(transposing *t, hdx_error *err)
{
    hdx_work              *w = t->w;
    const hdx_dump_tables *tables = t->t;
    if ((t->is_class = hdx_mem_array(&w->mem, hdx_bits_words(tables->objects), 8)) == NULL)
        return hdx_no_memory(err, "class objects", tables->objects / 8);
    for (uint32_t i = 0; i < tables->class_count; i++)
        hdx_bits_put(t->is_class, tables->classes[i].id);
    return hdx_temp_create(w, "referrers.tmp", &t->out->referrers.file, err);
}

hdx_code WIDE(hdx_pass_inbound)(hdx_work *w, const hdx_dump_tables *t, const hdx_inbound_in *in, hdx_inbound *out,
                                hdx_error *err)
{
    transposing          k = { .w = w, .t = t, .in = in, .out = out };
    hdx_one_to_n_writer *writer = NULL;
    hdx_code             code = in->is_root != NULL ? find_class_objects(&k, err) : HDX_OK;
    k.once = in->referenced->once;
    k.many.words = in->referenced->many;
    (void)pthread_mutex_init(&k.lock, NULL);
    if (code == HDX_OK && (code = WIDE(hdx_rank)(&k.many, t->objects, &w->mem, err)) == HDX_OK &&
        (code = hdx_one_to_n_begin(&w->place, HDX_KIND_INBOUND, t->objects, in->outbound->edges, &writer, err)) ==
            HDX_OK &&
        (code = get_range(&k, err)) == HDX_OK)
        code = write_all(&k, writer, err);
    if (code != HDX_OK)
        hdx_one_to_n_abandon(writer);
    else
        code = hdx_one_to_n_end(writer, &out->file, err);
    put_range(&k);
    hdx_mem_put(&w->mem, k.is_class, hdx_bits_words(t->objects) * 8);
    (void)pthread_mutex_destroy(&k.lock);
    return code;
}
