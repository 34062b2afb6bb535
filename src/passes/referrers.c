/*
 * referrers.c - records of referrers (hdx_referrers in algo.h): those that inbound_wide.c wrote to a file; and the same
 * from the index inbound, for a view, which need not transpose the lists again.
 *
 * In:  the index inbound, exclusions of a view; bits of objects that still have a referrer, and several; GC roots.
 * Out: records of the nodes of a chunk, on request, for any thread.
 * Cost: all lists are read in the order of nodes, even unneeded ones; only the records of a chunk are in memory.
 */
#include "passes/passes.h"

#define CHUNK 1024u /* nodes; whole words of bits */
#define ROOM  1024u /* values read at once */

static uint64_t wanted_of(const hdx_listed *l, uint64_t word)
{
    return (l->holding.many[word] | (l->holding.once[word] & l->is_class[word])) & ~l->is_root[word];
}

static uint32_t nodes_of(const hdx_listed *l, uint64_t chunk)
{
    const uint64_t left = l->objects - chunk * CHUNK;
    return left < CHUNK ? (uint32_t)left : CHUNK;
}

/* ---- upper bound of their number ---- */
static void measure(void *context, unsigned worker)
{
    hdx_listed *l = context;
    uint64_t    degrees[CHUNK], chunk;
    (void)worker;
    while ((chunk = atomic_fetch_add(&l->next, 1)) < l->chunks) {
        const uint64_t first = chunk * CHUNK;
        uint64_t       entries = 0;
        hdx_one_to_n_degrees(l->inbound, first, nodes_of(l, chunk), degrees);
        for (uint64_t word = first / 64; word < hdx_bits_words(first + nodes_of(l, chunk)); word++)
            for (uint64_t wanted = wanted_of(l, word); wanted != 0; wanted &= wanted - 1)
                entries += 1 + degrees[64 * word + (uint64_t)__builtin_ctzll(wanted) - first];
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
/* Makes the records of a run of lists; unneeded lists and excluded references are skipped. */
typedef struct records {
    const hdx_listed         *l;
    const hdx_referrer_taker *to;
    uint32_t                  n;
    uint64_t                  nodes[CHUNK], counts[CHUNK];
} records;

/* Excluded references of a list, in the order of sources. */
typedef struct excluded {
    uint64_t key, at, end;
} excluded;

/* False: the list would not be needed. */
static bool cuts_of(const hdx_listed *l, uint64_t node, uint64_t degree, excluded *c)
{
    uint64_t length = 0;
    *c = (excluded){ 0 };
    if (l->cuts.from != NULL && hdx_ranks_find(l->cuts.from, node, &c->key)) {
        hdx_one_to_n_list(l->cuts.of, c->key, &c->at, &length);
        c->end = c->at + length;
    }
    return length < degree;
}

/*
 * Copies the references that are not excluded from `sources` to `to`, which may be equal. UINT64_MAX: list contents
 * differ from what was written.
 */
static uint64_t copy_remaining(const hdx_listed *l, excluded *c, const uint64_t *sources, uint64_t n, uint64_t last,
                               uint64_t *to)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; last = sources[i++] + 1) { /* last: the smallest allowed next value */
        if (sources[i] < last || sources[i] >= l->objects)
            return UINT64_MAX;
        if (c->at < c->end && hdx_one_to_n_get(l->cuts.of, c->key, c->at) == sources[i])
            c->at++;
        else
            to[kept++] = sources[i];
    }
    return kept;
}

static bool is_wanted(const hdx_listed *l, uint64_t node) { return (wanted_of(l, node / 64) >> node % 64 & 1) != 0; }

/* A list that is longer than what is read at once. *more: false if the receiver needs no more. */
static bool pass_long(const records *r, uint64_t node, uint64_t degree, bool *more)
{
    const hdx_listed *l = r->l;
    uint64_t          sources[256], first, length, last = 0, given = 0;
    excluded          c;
    hdx_one_to_n_list(l->inbound, node, &first, &length);
    if (length != degree || !cuts_of(l, node, degree, &c))
        return false;
    const uint64_t holding = degree - (c.end - c.at);
    if (!(*more = r->to->begin(r->to->context, node, holding)))
        return true;
    for (uint64_t done = 0; done < degree; done += 256) {
        const uint32_t part = degree - done < 256 ? (uint32_t)(degree - done) : 256;
        uint64_t       holds[256];
        hdx_one_to_n_read(l->inbound, node, first + done, part, sources);
        const uint64_t n = copy_remaining(l, &c, sources, part, last, holds);
        if (n == UINT64_MAX || n > holding - given)
            return false;
        r->to->more(r->to->context, holds, (uint32_t)n);
        given += n;
        last = sources[part - 1] + 1;
    }
    return given == holding;
}

/* Passes on the lists of n nodes, read into `sources`. */
static bool pass_run(records *r, uint64_t first, uint32_t n, const uint64_t *degrees, uint64_t *sources, bool *more)
{
    const hdx_listed *l = r->l;
    uint64_t          at = 0, kept = 0;
    excluded          c;
    r->n = 0;
    for (uint32_t i = 0; i < n; at += degrees[i++]) {
        if (!is_wanted(l, first + i))
            continue;
        if (!cuts_of(l, first + i, degrees[i], &c))
            return false;
        const uint64_t holding = degrees[i] - (c.end - c.at);
        if (copy_remaining(l, &c, sources + at, degrees[i], 0, sources + kept) != holding)
            return false;
        r->nodes[r->n] = first + i;
        r->counts[r->n++] = holding;
        kept += holding;
    }
    *more = r->n == 0 || r->to->run(r->to->context, r->nodes, r->counts, r->n, sources);
    return true;
}

static bool pass_chunk(records *r, uint64_t first, uint32_t n)
{
    const hdx_listed *l = r->l;
    uint64_t          degrees[CHUNK], sources[ROOM];
    bool              more = true;
    hdx_one_to_n_degrees(l->inbound, first, n, degrees);
    for (uint32_t i = 0, end; i < n && more; i = end) {
        uint64_t sum = 0;
        for (end = i; end < n && degrees[end] <= ROOM - sum; end++)
            sum += degrees[end];
        if (end == i) {
            if (is_wanted(l, first + i) && !pass_long(r, first + i, degrees[i], &more))
                return false;
            end++;
            continue;
        }
        hdx_one_to_n_run(l->inbound, first + i, end - i, degrees + i, sources);
        if (!pass_run(r, first + i, end - i, degrees + i, sources, &more))
            return false;
    }
    return true;
}

static hdx_code give(void *context, uint64_t chunk, const hdx_referrer_taker *to, hdx_error *err)
{
    const hdx_listed *l = context;
    records           r = { .l = l, .to = to };
    assert(chunk < l->chunks);
    const bool     fine = pass_chunk(&r, chunk * CHUNK, nodes_of(l, chunk));
    const hdx_code code = hdx_note_check(l->note, err);
    if (chunk % 1024 == 1023)
        hdx_one_to_n_forget(l->inbound); /* pages of files count for the budget */
    return code != HDX_OK ? code
           : fine         ? HDX_OK
                  : hdx_fail(err, HDX_DAMAGED, "inbound", HDX_NOWHERE, "list contents differ from what was written");
}

hdx_referrers hdx_referrers_listed(const hdx_listed *l)
{
    return (hdx_referrers){ .context = (void *)(uintptr_t)l,
                            .chunks = l->chunks,
                            .entries = atomic_load(&((hdx_listed *)(uintptr_t)l)->entries),
                            .give = give };
}

/* ---- records in a file ---- */
static hdx_code read_stored(void *context, uint64_t chunk, uint8_t *to, uint64_t *len, uint64_t *node, hdx_error *err)
{
    const hdx_referrer_file *f = context;
    assert(chunk < f->count);
    const hdx_referrer_chunk *c = &f->chunks[chunk];
    hdx_code                  code = f->file.tape.read(f->file.tape.context, c->at, to, c->bytes, err);
    if (code != HDX_OK)
        return code;
    if (hdx_crc32c(0, to, (size_t)c->bytes) != c->sum)
        return hdx_fail(err, HDX_IO, f->file.path, c->at, "content differs from what was written");
    *len = c->bytes;
    *node = c->node;
    return HDX_OK;
}

hdx_referrers hdx_referrers_in_file(const hdx_referrer_file *f)
{
    return (hdx_referrers){ (void *)(uintptr_t)f, f->count, f->longest, f->entries, read_stored, NULL };
}
