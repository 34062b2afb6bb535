/*
 * transpose_wide.c - transposes outbound lists: finds the referrers of each node.
 *
 * Nearly every node has one referrer (73 to 95 % in dumps), which needs neither a count nor a cursor: it is stored in
 * an array by node. A counting sort is used for nodes with several referrers, which are found first, with two bits a
 * node. Sources are ascending anyway, and several ranges of targets give the same result as one, with a sweep each.
 * Cost: a sweep over the packed lists for the bits, one to count and one to place; a random write for each reference,
 *       and for those to a node with several referrers two more, in arrays that are a tenth as long. Workers that
 *       divide the sources have separate counts.
 */
#include "algo/wide.h"

#include <assert.h>

#define TICK_BATCHES 256u
#define BATCH        512u /* references unpacked at a time */
#define AHEAD        24u

typedef struct sweeping {
    const WIDE(hdx_transpose_in) *in;
    const WIDE(hdx_ranked)       *many;
    uint64_t                      from, span; /* targets */
    uint64_t                      rank;       /* of the range's first node in many */
    NID                          *count;      /* by rank - `rank` */
    NID                          *only;       /* by target of the range; NULL: not needed */
    NID                          *to;
    uint64_t                      target[BATCH + HDX_PACKED_MORE + AHEAD];
    uint64_t                      source[BATCH + HDX_PACKED_MORE];
} sweeping;
typedef void on_batch(sweeping *t, uint32_t n);

/* Selects references to targets of the range, in place. */
static uint32_t choose(sweeping *t, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t target = t->target[i];
        t->source[kept] = t->source[i];
        t->target[kept] = target;
        kept += target - t->from < t->span;
    }
    return kept;
}

/*
 * Of those, selects the ones to nodes with several referrers and replaces targets by their ranks; in place, because few
 * remain.
 */
static uint32_t choose_many(sweeping *t, uint32_t n)
{
    const uint64_t *words = t->many->words;
    uint32_t        kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t target = t->target[i], word = words[target >> 6];
        t->source[kept] = t->source[i];
        t->target[kept] = target;
        kept += word >> (target & 63) & 1;
    }
    for (uint32_t i = 0; i < kept; i++)
        t->target[i] = HDX_RANK(t->many, t->target[i]) - t->rank;
    return kept;
}

static void count_batch(sweeping *t, uint32_t n)
{
    n = choose_many(t, n);
    for (uint32_t i = 0; i < n; i++)
        t->count[t->target[i]]++;
}

static void place_batch(sweeping *t, uint32_t n)
{
    if (t->only != NULL) {
        NID           *only = t->only;
        const uint64_t from = t->from;
        for (uint32_t i = 0; i < n; i++) {
            /*
             * Beyond the last target the value is arbitrary, so the address is computed as an integer, without forming
             * a pointer.
             */
            __builtin_prefetch((const void *)((uintptr_t)only + (t->target[i + AHEAD] - from) * sizeof *only), 1);
            __atomic_store_n(&only[t->target[i] - from], (NID)t->source[i],
                             __ATOMIC_RELAXED); /* for several referrers: any one, of any worker */
        }
    }
    n = choose_many(t, n);
    for (uint32_t i = 0; i < n; i++)
        t->to[t->count[t->target[i]]++] = (NID)t->source[i];
}

static hdx_code sweep(sweeping *t, bool sources, on_batch *batch, hdx_ticker *tick, hdx_error *err)
{
    const hdx_packed *lists = t->in->outbound;
    hdx_packed_walk   walk = t->in->sources != NULL ? *t->in->sources : (hdx_packed_walk){ .end = lists->nodes };
    uint64_t          batches = 0;
    assert(walk.end <= lists->nodes && t->from + t->span <= lists->nodes); /* A4 */
    while (walk.node < walk.end) {
        uint32_t n = hdx_packed_pairs(lists, &walk, BATCH, sources ? t->source : NULL, t->target);
        assert(n <= BATCH + HDX_PACKED_MORE); /* P4 */
        if (++batches % TICK_BATCHES == 0 && hdx_tick(tick, 0))
            return hdx_tick_stop(err);
        if (t->span < lists->nodes)
            n = choose(t, n);
        batch(t, n);
    }
    return HDX_OK;
}

static sweeping *make(const WIDE(hdx_transpose_in) *in, NID *count, hdx_mem *mem, hdx_error *err)
{
    assert(in->from <= in->end); /* A4 */
    sweeping *t = hdx_mem_get(mem, sizeof *t);
    if (t == NULL) {
        (void)hdx_no_memory(err, "inbound references", sizeof *t);
        return NULL;
    }
    t->in = in;
    t->many = in->many;
    t->from = in->from;
    t->span = in->end - in->from;
    t->rank = in->from < in->end ? HDX_RANK(in->many, in->from) : 0;
    t->count = count;
    return t;
}

hdx_code WIDE(hdx_transpose_count)(const WIDE(hdx_transpose_in) *in, const hdx_resources *with, NID *count,
                                   hdx_error *err)
{
    sweeping *t = make(in, count, with->mem, err);
    if (t == NULL)
        return HDX_LIMIT;
    const hdx_code code = sweep(t, false, count_batch, with->tick, err);
    hdx_mem_put(with->mem, t, sizeof *t);
    return code;
}

hdx_code WIDE(hdx_transpose_place)(const WIDE(hdx_transpose_in) *in, const hdx_resources *with,
                                   const WIDE(hdx_transposed) *out, hdx_error *err)
{
    sweeping *t = make(in, out->cursor, with->mem, err);
    if (t == NULL)
        return HDX_LIMIT;
    t->only = out->only;
    t->to = out->to;
    const hdx_code code = sweep(t, true, place_batch, with->tick, err);
    hdx_mem_put(with->mem, t, sizeof *t);
    return code;
}
