/*
 * turn_wide.c - outbound lists turned round: who refers to a node.
 *
 * A counting sort in two sweeps over the packed lists, for as many targets as fit memory: sources come in ascending order by themselves, and
 * several ranges of targets give what one gives, with a sweep each. On one thread: what idles meanwhile writes the outbound lists.
 * Cost: unpacking, and one random load a reference (placing: two), asked for ahead: lists are unpacked some hundred references at a time.
 */
#include "algo/width.h"

#define TICK_BATCHES 256u
#define BATCH 512u /* references unpacked at once */
#define AHEAD 24u

typedef struct turn {
    NID     *count; /* or cursor */
    uint64_t from, span;
    uint64_t first, places;
    NID     *to;    /* NULL: counting */
    uint64_t target[BATCH + HDX_PACKED_MORE + AHEAD];
    uint64_t source[BATCH + HDX_PACKED_MORE];
} turn;

/* Those of the range, less its first target; in place. */
static uint32_t choose(turn *t, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t target = t->target[i] - t->from;
        t->source[kept] = t->source[i];
        t->target[kept] = target;
        kept += target < t->span;
    }
    return kept;
}

/* Behind the last target lies anything: an address is reckoned, no pointer made. */
static inline void ask_ahead(const NID *array, uint64_t index) { __builtin_prefetch((const void *)((uintptr_t)array + index * sizeof *array), 1); }

static void count_batch(turn *t, uint32_t n)
{
    const uint64_t *target = t->target;
    NID            *count = t->count;
    for (uint32_t i = 0; i < n; i++) {
        ask_ahead(count, target[i + AHEAD]);
        count[target[i]]++;
    }
}

static void place_batch(turn *t, uint32_t n)
{
    const uint64_t *target = t->target, *source = t->source;
    NID            *cursor = t->count, *to = t->to;
    for (uint32_t i = 0; i < n; i++) {
        ask_ahead(cursor, target[i + AHEAD]);
        const uint64_t place = (uint64_t)cursor[target[i]]++ - t->first;
        if (place < t->places)
            to[place] = (NID)source[i];
    }
}

static hdx_code sweep(turn *t, const hdx_packed *lists, uint64_t from, uint64_t end, hdx_ticker *tick, hdx_error *err)
{
    hdx_packed_walk walk = { .end = lists->nodes };
    uint64_t        batches = 0;
    t->from = from;
    t->span = end - from;
    while (walk.node < walk.end) {
        uint32_t n = hdx_packed_pairs(lists, &walk, BATCH, t->to == NULL ? NULL : t->source, t->target);
        if (++batches % TICK_BATCHES == 0 && hdx_tick(tick, 0))
            return hdx_tick_stop(err);
        if (t->span < lists->nodes)
            n = choose(t, n);
        if (t->to == NULL)
            count_batch(t, n);
        else
            place_batch(t, n);
    }
    return HDX_OK;
}

/* What is prefetched behind a batch is some older number: it may be no place of the range, and then nothing happens. */
static turn *make(NID *count, uint64_t first, uint64_t last, NID *to, hdx_mem *mem)
{
    turn *t = hdx_mem_get(mem, sizeof *t);
    if (t != NULL) {
        t->count = count;
        t->first = first;
        t->places = last - first;
        t->to = to;
    }
    return t;
}

hdx_code WIDE(hdx_turn_count)(const hdx_packed *outbound, uint64_t from, uint64_t end, hdx_mem *mem, hdx_ticker *tick, NID *count, hdx_error *err)
{
    turn *t = make(count, 0, 0, NULL, mem);
    if (t == NULL)
        return hdx_no_memory(err, "inbound references", sizeof *t);
    hdx_code code = sweep(t, outbound, from, end, tick, err);
    hdx_mem_put(mem, t, sizeof *t);
    return code;
}

hdx_code WIDE(hdx_turn_place)(const hdx_packed *outbound, uint64_t from, uint64_t end, hdx_mem *mem, hdx_ticker *tick, NID *cursor, uint64_t first,
                              uint64_t last, NID *to, hdx_error *err)
{
    turn *t = make(cursor, first, last, to, mem);
    if (t == NULL)
        return hdx_no_memory(err, "inbound references", sizeof *t);
    hdx_code code = sweep(t, outbound, from, end, tick, err);
    hdx_mem_put(mem, t, sizeof *t);
    return code;
}
