/*
 * inbound_wide.c - the index inbound: the outbound lists turned round; and a file of referrers, for the dominators.
 *
 * In:  packed outbound lists.
 * Cost: two sweeps over the lists for every range of targets, as many as the budget allows: 4 bytes a target and 4 a reference are
 *       resident for a range. A list is never split between ranges.
 *
 * A range's last values rarely fill a part of the file (HDX_PART): what is left over goes in front of the next range's.
 *
 * The file of referrers (hdx_referrers in algo.h) has the lists again of objects that have more than one referrer and of class objects, since
 * reading them in the order of ids, packed, is what the step dominators does most.
 */
#include "algo/width.h"
#include "build/passes.h"

#define BLOCK HDX_PART       /* targets whose references are summed up together, and that a range has multiples of */
#define CHUNK 4096u          /* targets whose referrers are written together */

typedef struct turning {
    hdx_pass *p;
    uint64_t *before;        /* references to the targets before each block, and to all */
    uint64_t  blocks;
    bool      referrers;
    uint64_t *is_class;      /* bit set over ids; with referrers */
    /* the range at hand */
    uint64_t  from, end;     /* targets */
    NID      *count;         /* per target: how many; then where its list ends among all */
    uint64_t  count_room;
    NID      *to;            /* values first .. last - 1 */
    uint64_t  to_room;
    uint64_t  first, last;
    uint64_t *carry;         /* values not yet written, and their keys: at most HDX_PART - 1 */
    uint64_t *carry_keys;
    uint64_t  carried;
    /* writing referrers */
    _Atomic uint64_t next;
    atomic_bool failed;
    pthread_mutex_t lock;    /* guards error, and the file's end and chunks */
    hdx_error error;
} turning;

static uint64_t begin_of(const turning *t, uint64_t target) { return target == t->from ? t->first : t->count[target - t->from - 1]; }

/* ---- index file ---- */
static hdx_code fill_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    const turning *t = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        degrees[i] = t->count[first - t->from + i];
    return HDX_OK;
}

/* The target whose list holds value number `value` of the range. */
static uint64_t target_of(const turning *t, uint64_t value)
{
    uint64_t low = 0, high = t->end - t->from - 1; /* the first that ends behind it */
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (t->count[mid] > value)
            high = mid;
        else
            low = mid + 1;
    }
    return t->from + low;
}

static hdx_code fill_values(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    const turning *t = context;
    uint32_t       i = 0;
    (void)err;
    for (; i < n && first + i < t->first; i++) {
        values[i] = t->carry[first + i - (t->first - t->carried)];
        keys[i] = t->carry_keys[first + i - (t->first - t->carried)];
    }
    if (i == n)
        return HDX_OK;
    for (uint64_t target = target_of(t, first + i); i < n; i++) {
        while (t->count[target - t->from] <= first + i)
            target++;
        values[i] = t->to[first + i - t->first];
        keys[i] = target;
    }
    return HDX_OK;
}

static hdx_code write_values(turning *t, hdx_one_to_n_writer *w, hdx_error *err)
{
    const bool     all = t->end == t->p->b->objects;
    const uint64_t have = t->carried + (t->last - t->first), n = all ? have : have / HDX_PART * HDX_PART, start = t->first - t->carried;
    uint64_t       values[256], keys[256], moved = 0;
    hdx_code       code = n == 0 ? HDX_OK : hdx_one_to_n_append_values(w, n, fill_values, t, err);
    if (code != HDX_OK)
        return code;
    while (moved < have - n) { /* through a piece of its own: what is carried may be carried again */
        const uint32_t part = have - n - moved < 256 ? (uint32_t)(have - n - moved) : 256;
        (void)fill_values(t, start + n + moved, part, values, keys, err);
        memcpy(t->carry + moved, values, part * sizeof *values);
        memcpy(t->carry_keys + moved, keys, part * sizeof *keys);
        moved += part;
    }
    t->carried = have - n;
    return HDX_OK;
}

/* ---- referrers ---- */
static hdx_code put_chunk(turning *t, uint64_t node, const uint8_t *bytes, uint64_t len, uint64_t entries, hdx_error *err)
{
    hdx_pass          *p = t->p;
    hdx_build         *b = p->b;
    hdx_referrer_chunk c = { .bytes = len, .node = node, .sum = hdx_crc32c(0, bytes, (size_t)len) };
    hdx_code           code = HDX_OK;
    (void)pthread_mutex_lock(&t->lock);
    c.at = p->referrer_file.end;
    p->referrer_file.end += len;
    p->referrer_entries += entries;
    p->chunk_longest = len > p->chunk_longest ? len : p->chunk_longest;
    if (!hdx_mem_room(&b->mem, (void **)&p->chunks, &p->chunk_capacity, p->chunk_count, sizeof *p->chunks))
        code = hdx_no_memory(err, "chunks of referrers", p->chunk_capacity * sizeof *p->chunks);
    else
        p->chunks[p->chunk_count++] = c;
    (void)pthread_mutex_unlock(&t->lock);
    if (code != HDX_OK)
        return code;
    int rc = b->io->write_at(b->io, p->referrer_file.fd, bytes, len, c.at);
    return rc < 0 ? hdx_fail(err, HDX_IO, p->referrer_file.path, c.at, "cannot write: %s", strerror(-rc)) : HDX_OK;
}

static bool wanted(const turning *t, uint64_t target, uint64_t n)
{
    return (n > 1 || (n == 1 && hdx_bits_test(t->is_class, target))) && !hdx_bits_test(t->p->is_root, target);
}

static hdx_code write_chunk(turning *t, uint64_t from, uint8_t **bytes, uint64_t *capacity, hdx_error *err)
{
    hdx_build     *b = t->p->b;
    const uint64_t end = t->end - from < CHUNK ? t->end : from + CHUNK, most = 5 * (t->count[end - t->from - 1] - begin_of(t, from) + 2 * (end - from)) + 16;
    uint64_t       next = from, entries = 0;
    if (most > *capacity) {
        hdx_mem_put(&b->mem, *bytes, *capacity);
        *capacity = most;
        if ((*bytes = hdx_mem_get(&b->mem, most)) == NULL) {
            *capacity = 0;
            return hdx_no_memory(err, "a chunk of referrers", most);
        }
    }
    uint8_t *to = *bytes;
    for (uint64_t target = from; target < end; target++) {
        const uint64_t begin = begin_of(t, target) - t->first, n = t->count[target - t->from] - t->first - begin;
        const NID     *list = t->to + begin;
        if (!wanted(t, target, n))
            continue;
        to = hdx_pack(to, target - next);
        to = hdx_pack(to, n);
        to = hdx_pack(to, hdx_zigzag((int64_t)((uint64_t)list[0] - target)));
        for (uint64_t i = 1; i < n; i++)
            to = hdx_pack(to, (uint64_t)list[i] - list[i - 1] - 1);
        next = target + 1;
        entries += n + 1;
    }
    return to == *bytes ? HDX_OK : put_chunk(t, from, *bytes, (uint64_t)(to - *bytes), entries, err);
}

static void write_chunks(void *context, unsigned worker)
{
    turning  *t = context;
    uint8_t  *bytes = NULL;
    uint64_t  capacity = 0, i;
    hdx_error err = { 0 };
    (void)worker;
    while (!atomic_load(&t->failed) && t->from + (i = atomic_fetch_add(&t->next, 1)) * CHUNK < t->end)
        if (write_chunk(t, t->from + i * CHUNK, &bytes, &capacity, &err) != HDX_OK) {
            (void)pthread_mutex_lock(&t->lock);
            if (!atomic_load(&t->failed))
                t->error = err;
            atomic_store(&t->failed, true);
            (void)pthread_mutex_unlock(&t->lock);
        }
    hdx_mem_put(&t->p->b->mem, bytes, capacity);
}

static hdx_code write_referrers(turning *t, hdx_error *err)
{
    atomic_store(&t->next, 0);
    hdx_workers_run(t->p->b->threads, write_chunks, t);
    if (!atomic_load(&t->failed))
        return HDX_OK;
    if (err != NULL)
        *err = t->error;
    return t->error.code;
}

/* ---- ranges ---- */
static hdx_code count_range(turning *t, hdx_error *err)
{
    hdx_build *b = t->p->b;
    memset(t->count, 0, (size_t)(t->end - t->from) * sizeof(NID));
    return WIDE(hdx_turn_count)(&t->p->outbound, t->from, t->end, &b->mem, &b->tick, t->count, err);
}

static hdx_code write_degrees(turning *t, hdx_one_to_n_writer *w, hdx_error *err)
{
    const uint64_t n = t->p->b->objects;
    hdx_code       code = HDX_OK;
    for (t->from = 0; t->from < n && code == HDX_OK; t->from = t->end) {
        t->end = n - t->from < t->count_room ? n : t->from + t->count_room;
        if ((code = count_range(t, err)) != HDX_OK)
            break;
        for (uint64_t i = t->from; i < t->end; i++)
            t->before[i / BLOCK + 1] += t->count[i - t->from];
        code = hdx_one_to_n_append_degrees(w, t->end - t->from, fill_degrees, t, err);
    }
    for (uint64_t i = 0; i < t->blocks; i++)
        t->before[i + 1] += t->before[i];
    return code;
}

/* As many blocks as fit; one at least. */
static hdx_code next_range(turning *t, hdx_error *err)
{
    hdx_build *b = t->p->b;
    uint64_t   block = t->from / BLOCK;
    t->first = t->before[block];
    do
        block++;
    while (block < t->blocks && (block + 1) * BLOCK - t->from <= t->count_room && t->before[block + 1] - t->first <= t->to_room);
    t->end = block < t->blocks ? block * BLOCK : b->objects;
    t->last = t->before[block];
    if (t->last - t->first <= t->to_room)
        return HDX_OK;
    hdx_mem_put(&b->mem, t->to, t->to_room * sizeof(NID)); /* some object has so many referrers */
    t->to_room = t->last - t->first;
    if ((t->to = hdx_mem_array(&b->mem, t->to_room, sizeof(NID))) != NULL)
        return HDX_OK;
    t->to_room = 0;
    return hdx_no_memory(err, "the referrers of an object", (t->last - t->first) * sizeof(NID));
}

static hdx_code turn_range(turning *t, bool counted, hdx_error *err)
{
    hdx_build *b = t->p->b;
    hdx_code   code = counted ? HDX_OK : count_range(t, err);
    uint64_t   sum = t->first;
    for (uint64_t i = 0; i < t->end - t->from; i++) {
        const NID n = t->count[i];
        t->count[i] = (NID)sum;
        sum += n;
    }
    if (code != HDX_OK)
        return code;
    return WIDE(hdx_turn_place)(&t->p->outbound, t->from, t->end, &b->mem, &b->tick, t->count, t->first, t->last, t->to, err);
}

static hdx_code write_all(turning *t, hdx_one_to_n_writer *w, hdx_error *err)
{
    const uint64_t n = t->p->b->objects;
    hdx_code       code = write_degrees(t, w, err);
    const bool     whole = t->count_room >= n;
    for (t->from = 0; t->from < n && code == HDX_OK; t->from = t->end) {
        if ((code = next_range(t, err)) != HDX_OK || (code = turn_range(t, whole && t->from == 0 && t->end == n, err)) != HDX_OK)
            break;
        if (t->referrers && (code = write_referrers(t, err)) != HDX_OK)
            break;
        code = write_values(t, w, err);
    }
    return code;
}

/* Room for a range: everything where it fits, else what is left, shared between targets and references as they are. */
static hdx_code get_range(turning *t, hdx_error *err)
{
    hdx_build     *b = t->p->b;
    const uint64_t n = b->objects, m = t->p->outbound.edges, left = t->p->room / sizeof(NID);
    t->count_room = n;
    t->to_room = m;
    if (n + m > left) {
        t->count_room = (uint64_t)((double)left * (double)n / (double)(n + m)) / BLOCK * BLOCK;
        t->count_room = t->count_room < BLOCK ? BLOCK : t->count_room;
        t->to_room = left > t->count_room ? left - t->count_room : BLOCK;
    }
    t->blocks = (n + BLOCK - 1) / BLOCK;
    t->before = hdx_mem_array(&b->mem, t->blocks + 1, sizeof *t->before);
    t->count = hdx_mem_array(&b->mem, t->count_room, sizeof(NID));
    t->to = hdx_mem_array(&b->mem, t->to_room, sizeof(NID));
    t->carry = hdx_mem_array(&b->mem, HDX_PART, sizeof *t->carry);
    t->carry_keys = hdx_mem_array(&b->mem, HDX_PART, sizeof *t->carry_keys);
    if (t->before == NULL || t->count == NULL || t->to == NULL || t->carry == NULL || t->carry_keys == NULL)
        return hdx_no_memory(err, "inbound references", (t->count_room + t->to_room) * sizeof(NID));
    return HDX_OK;
}

static void put_range(turning *t)
{
    hdx_mem *mem = &t->p->b->mem;
    hdx_mem_put(mem, t->before, (t->blocks + 1) * sizeof *t->before);
    hdx_mem_put(mem, t->count, t->count_room * sizeof(NID));
    hdx_mem_put(mem, t->to, t->to_room * sizeof(NID));
    hdx_mem_put(mem, t->carry, HDX_PART * sizeof *t->carry);
    hdx_mem_put(mem, t->carry_keys, HDX_PART * sizeof *t->carry_keys);
}

static hdx_code find_class_objects(turning *t, hdx_error *err)
{
    hdx_build *b = t->p->b;
    if ((t->is_class = hdx_mem_array(&b->mem, hdx_bits_words(b->objects), 8)) == NULL)
        return hdx_no_memory(err, "class objects", b->objects / 8);
    for (uint32_t i = 0; i < b->class_count; i++)
        hdx_bits_put(t->is_class, b->classes[i].id);
    return hdx_tape_file_open(b, "referrers.tmp", &t->p->referrer_file, err);
}

hdx_code WIDE(hdx_pass_inbound)(hdx_pass *p, bool referrers, hdx_error *err)
{
    hdx_build           *b = p->b;
    turning              t = { .p = p, .referrers = referrers };
    hdx_one_to_n_writer *w = NULL;
    hdx_index_file       file;
    hdx_code             code = referrers ? find_class_objects(&t, err) : HDX_OK;
    (void)pthread_mutex_init(&t.lock, NULL);
    if (code == HDX_OK && (code = hdx_one_to_n_begin(&b->place, HDX_KIND_INBOUND, b->objects, p->outbound.edges, &w, err)) == HDX_OK &&
        (code = get_range(&t, err)) == HDX_OK)
        code = write_all(&t, w, err);
    if (code != HDX_OK)
        hdx_one_to_n_abandon(w);
    else if ((code = hdx_one_to_n_end(w, &file, err)) == HDX_OK)
        hdx_manifest_file_written(b, HDX_KIND_INBOUND, &file);
    put_range(&t);
    hdx_mem_put(&b->mem, t.is_class, hdx_bits_words(b->objects) * 8);
    (void)pthread_mutex_destroy(&t.lock);
    return code;
}
