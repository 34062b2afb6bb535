/*
 * referrers.c - records of referrers (hdx_referrers in algo.h): those that inbound_wide.c has written into a file; and
 * the same out of the index inbound, for a view, which has that index and need not turn the lists round again.
 *
 * In:  the index inbound, what a view leaves out of it; bits of who has a referrer left, and several; GC roots.
 * Out: records of the nodes of a chunk, made when they are asked for, by any thread.
 * Cost: lists are read in the order of nodes, wanted or not; nothing is held but the records of a chunk.
 */
#include "passes/passes.h"

#define CHUNK 4096u /* nodes; whole words of bits */
#define ROOM  4096u /* values read at once */

static uint64_t wanted_of(const hdx_listed *l, uint64_t word)
{
    return (l->holding.many[word] | (l->holding.once[word] & l->is_class[word])) & ~l->is_root[word];
}

static uint32_t nodes_of(const hdx_listed *l, uint64_t chunk)
{
    const uint64_t left = l->objects - chunk * CHUNK;
    return left < CHUNK ? (uint32_t)left : CHUNK;
}

/* ---- how long they can be ---- */
static void measure(void *context, unsigned worker)
{
    hdx_listed *l = context;
    uint64_t    degrees[CHUNK], chunk;
    (void)worker;
    while ((chunk = atomic_fetch_add(&l->next, 1)) < l->chunks) {
        const uint64_t first = chunk * CHUNK;
        uint64_t       entries = 0, longest = atomic_load(&l->longest);
        hdx_one_to_n_degrees(l->inbound, first, nodes_of(l, chunk), degrees);
        for (uint64_t word = first / 64; word < hdx_bits_words(first + nodes_of(l, chunk)); word++)
            for (uint64_t wanted = wanted_of(l, word); wanted != 0; wanted &= wanted - 1)
                entries += 1 + degrees[64 * word + (uint64_t)__builtin_ctzll(wanted) - first];
        const uint64_t bytes = 5 * 2 * entries + 16; /* a record is as many numbers, and one */
        while (bytes > longest && !atomic_compare_exchange_weak(&l->longest, &longest, bytes)) {
        }
        (void)atomic_fetch_add(&l->entries, entries);
    }
}

hdx_code hdx_pass_listed(hdx_work *w, const hdx_dump_tables *t, hdx_listed *l, hdx_error *err)
{
    l->objects = t->objects;
    l->chunks = (t->objects + CHUNK - 1) / CHUNK;
    if ((l->is_class = hdx_mem_array(&w->mem, hdx_bits_words(t->objects), 8)) == NULL)
        return hdx_no_memory(err, "class objects", t->objects / 8);
    for (uint32_t i = 0; i < t->class_count; i++)
        hdx_bits_put(l->is_class, t->classes[i].id);
    hdx_workers_run(w->threads, measure, l);
    return hdx_note_check(l->note, err);
}

void hdx_listed_free(hdx_work *w, hdx_listed *l)
{
    hdx_mem_put(&w->mem, l->is_class, hdx_bits_words(l->objects) * 8);
    l->is_class = NULL;
}

/* ---- records ---- */
typedef struct record {
    uint8_t *to;
    uint64_t node, next; /* next: the node that a distance of 0 would mean */
    uint64_t last, left; /* left: referrers still to come */
    bool     begun;
    uint64_t key, at, end; /* what is left out of the list */
} record;

static bool begin_record(const hdx_listed *l, record *r, uint64_t node, uint64_t degree)
{
    uint64_t length = 0;
    r->at = r->end = 0;
    if (l->cuts.from != NULL && hdx_ranks_find(l->cuts.from, node, &r->key)) {
        hdx_one_to_n_list(l->cuts.of, r->key, &r->at, &length);
        r->end = r->at + length;
    }
    if (length >= degree) /* then it would not be wanted */
        return false;
    r->node = node;
    r->left = degree - length;
    r->begun = false;
    r->to = hdx_pack(hdx_pack(r->to, node - r->next), r->left);
    r->next = node + 1;
    return true;
}

static bool put_referrers(const hdx_listed *l, record *r, const uint64_t *sources, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (r->at < r->end && hdx_one_to_n_get(l->cuts.of, r->key, r->at) == sources[i]) {
            r->at++;
            continue;
        }
        if (r->left == 0 || (r->begun && sources[i] <= r->last) || sources[i] >= l->objects)
            return false;
        r->to = hdx_pack(r->to, r->begun ? sources[i] - r->last - 1 : hdx_zigzag((int64_t)(sources[i] - r->node)));
        r->begun = true;
        r->last = sources[i];
        r->left--;
    }
    return true;
}

static bool put_long(const hdx_listed *l, record *r, uint64_t node, uint64_t degree)
{
    uint64_t sources[256], first, length;
    hdx_one_to_n_list(l->inbound, node, &first, &length);
    if (length != degree || !begin_record(l, r, node, degree))
        return false;
    for (uint64_t done = 0; done < degree; done += 256) {
        const uint32_t part = degree - done < 256 ? (uint32_t)(degree - done) : 256;
        hdx_one_to_n_read(l->inbound, node, first + done, part, sources);
        if (!put_referrers(l, r, sources, part))
            return false;
    }
    return r->left == 0;
}

static bool put_chunk(const hdx_listed *l, uint64_t first, uint32_t n, record *r)
{
    uint64_t degrees[CHUNK], sources[ROOM];
    hdx_one_to_n_degrees(l->inbound, first, n, degrees);
    for (uint32_t i = 0, end; i < n; i = end) {
        uint64_t sum = 0;
        for (end = i; end < n && degrees[end] <= ROOM - sum; end++)
            sum += degrees[end];
        if (end == i) {
            const uint64_t node = first + i;
            end++;
            if ((wanted_of(l, node / 64) >> node % 64 & 1) != 0 && !put_long(l, r, node, degrees[i]))
                return false;
            continue;
        }
        hdx_one_to_n_run(l->inbound, first + i, end - i, degrees + i, sources);
        for (uint64_t at = 0; i < end; at += degrees[i++]) {
            const uint64_t node = first + i;
            if ((wanted_of(l, node / 64) >> node % 64 & 1) != 0 &&
                (!begin_record(l, r, node, degrees[i]) || !put_referrers(l, r, sources + at, degrees[i]) ||
                 r->left != 0))
                return false;
        }
    }
    return true;
}

static hdx_code read_chunk(void *context, uint64_t chunk, uint8_t *to, uint64_t *len, uint64_t *node, hdx_error *err)
{
    const hdx_listed *l = context;
    record            r = { .to = to, .next = chunk * CHUNK };
    assert(chunk < l->chunks);
    *node = chunk * CHUNK;
    const bool     fine = put_chunk(l, chunk * CHUNK, nodes_of(l, chunk), &r);
    const hdx_code code = hdx_note_check(l->note, err);
    *len = (uint64_t)(r.to - to);
    if (chunk % 256 == 255)
        hdx_one_to_n_forget(l->inbound); /* pages of files count for the budget */
    return code != HDX_OK ? code
           : fine         ? HDX_OK
                          : hdx_fail(err, HDX_DAMAGED, "inbound", HDX_NOWHERE, "its lists are not as they are written");
}

hdx_referrers hdx_referrers_listed(const hdx_listed *l)
{
    return (hdx_referrers){ (void *)(uintptr_t)l, l->chunks, atomic_load(&((hdx_listed *)(uintptr_t)l)->longest),
                            atomic_load(&((hdx_listed *)(uintptr_t)l)->entries), read_chunk };
}

/* ---- those in a file ---- */
static hdx_code read_kept(void *context, uint64_t chunk, uint8_t *to, uint64_t *len, uint64_t *node, hdx_error *err)
{
    const hdx_referrer_file *f = context;
    assert(chunk < f->count);
    const hdx_referrer_chunk *c = &f->chunks[chunk];
    hdx_code                  code = f->file.tape.read(f->file.tape.context, c->at, to, c->bytes, err);
    if (code != HDX_OK)
        return code;
    if (hdx_crc32c(0, to, (size_t)c->bytes) != c->sum)
        return hdx_fail(err, HDX_IO, f->file.path, c->at, "reads otherwise than it was written");
    *len = c->bytes;
    *node = c->node;
    return HDX_OK;
}

hdx_referrers hdx_referrers_kept(const hdx_referrer_file *f)
{
    return (hdx_referrers){ (void *)(uintptr_t)f, f->count, f->longest, f->entries, read_kept };
}
