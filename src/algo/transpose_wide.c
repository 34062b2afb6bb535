/*
 * transpose_wide.c - outbound lists transposed: who refers to a node.
 *
 * Nearly every node has one referrer (73 to 95 % in dumps), and that needs no count and no cursor: it stands in an
 * array by node. A counting sort is left for those with many, which are found first, with two bits a node. Sources come
 * in ascending order by themselves, and several ranges of targets give what one gives, with a sweep each.
 * Cost: a sweep over the packed lists for the bits, one to count and one to place; a random write for each reference,
 *       and for those to a node with many referrers two more in arrays that are a tenth as long. Workers that share the
 *       sources count for themselves alone.
 */
#include "algo/width.h"

#include <assert.h>

#define TICK_BATCHES 256u
#define BATCH        512u /* references unpacked at once */
#define AHEAD        24u

typedef struct turn {
    const WIDE(hdx_ranked) *many;
    uint64_t                from, span;
    uint64_t                rank; /* of the range's first node in many */
    NID                    *count;
    NID                    *only; /* by target of the range; NULL: not wanted */
    NID                    *to;
    uint64_t                target[BATCH + HDX_PACKED_MORE + AHEAD];
    uint64_t                source[BATCH + HDX_PACKED_MORE];
} turn;
typedef void on_batch(turn *t, uint32_t n);

/* Those of the range; in place. */
static uint32_t choose(turn *t, uint32_t n)
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

/* Of those, the ones to nodes with many referrers: their places in count instead of them; in place, for most go. */
static uint32_t choose_many(turn *t, uint32_t n)
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

static void count_batch(turn *t, uint32_t n)
{
    n = choose_many(t, n);
    for (uint32_t i = 0; i < n; i++)
        t->count[t->target[i]]++;
}

static void place_batch(turn *t, uint32_t n)
{
    if (t->only != NULL) {
        NID           *only = t->only;
        const uint64_t from = t->from;
        for (uint32_t i = 0; i < n; i++) {
            /* after the last target lies anything: an address is reckoned, no pointer made */
            __builtin_prefetch((const void *)((uintptr_t)only + (t->target[i + AHEAD] - from) * sizeof *only), 1);
            __atomic_store_n(&only[t->target[i] - from], (NID)t->source[i],
                             __ATOMIC_RELAXED); /* of many: whatever it is, of whatever worker */
        }
    }
    n = choose_many(t, n);
    for (uint32_t i = 0; i < n; i++)
        t->to[t->count[t->target[i]]++] = (NID)t->source[i];
}

static hdx_code sweep(turn *t, const hdx_packed *lists, const hdx_packed_walk *part, bool sources, on_batch *batch,
                      hdx_ticker *tick, hdx_error *err)
{
    hdx_packed_walk walk = part != NULL ? *part : (hdx_packed_walk){ .end = lists->nodes };
    assert(walk.end <= lists->nodes && t->from + t->span <= lists->nodes); /* A4 */
    uint64_t batches = 0;
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

static turn *make(const WIDE(hdx_ranked) *many, uint64_t from, uint64_t end, NID *count, hdx_mem *mem, hdx_error *err)
{
    assert(from <= end); /* A4 */
    turn *t = hdx_mem_get(mem, sizeof *t);
    if (t == NULL) {
        (void)hdx_no_memory(err, "inbound references", sizeof *t);
        return NULL;
    }
    t->many = many;
    t->from = from;
    t->span = end - from;
    t->rank = from < end ? HDX_RANK(many, from) : 0;
    t->count = count;
    return t;
}

hdx_code WIDE(hdx_transpose_count)(const hdx_packed *outbound, const hdx_packed_walk *sources,
                                   const WIDE(hdx_ranked) *many, uint64_t from, uint64_t end, hdx_mem *mem,
                                   hdx_ticker *tick, NID *count, hdx_error *err)
{
    turn *t = make(many, from, end, count, mem, err);
    if (t == NULL)
        return HDX_LIMIT;
    hdx_code code = sweep(t, outbound, sources, false, count_batch, tick, err);
    hdx_mem_put(mem, t, sizeof *t);
    return code;
}

hdx_code WIDE(hdx_transpose_place)(const hdx_packed *outbound, const hdx_packed_walk *sources,
                                   const WIDE(hdx_ranked) *many, uint64_t from, uint64_t end, hdx_mem *mem,
                                   hdx_ticker *tick, NID *only, NID *cursor, NID *to, hdx_error *err)
{
    turn *t = make(many, from, end, cursor, mem, err);
    if (t == NULL)
        return HDX_LIMIT;
    t->only = only;
    t->to = to;
    hdx_code code = sweep(t, outbound, sources, true, place_batch, tick, err);
    hdx_mem_put(mem, t, sizeof *t);
    return code;
}
