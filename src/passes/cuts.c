/*
 * cuts.c - references that a view excludes: the index files cut_from, cut, cut_to, cut_by. Also finds which objects
 * have a referrer, from the index inbound, if outbound lists are read without excluded references.
 *
 * In:  pairs of source and target, sorted, each once; the index inbound.
 * Out: the same by source and by target; bits.
 * Cost: 16 bytes a pair, twice while they are sorted, and two bits an object.
 */
#include "passes/passes.h"

#define PIECE (64u * 1024u)

/* Pairs by rank of their first number. */
typedef struct grouped {
    const hdx_pair *pairs;
    uint64_t       *begin; /* by rank, plus one entry at the end: the first pair of it */
    uint64_t        keys;
} grouped;

static hdx_code fill_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    const grouped *g = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        degrees[i] = g->begin[first + i + 1] - g->begin[first + i];
    return HDX_OK;
}

static hdx_code fill_lists(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    const grouped *g = context;
    uint64_t       key = hdx_upper_bound(HDX_NUMBERS(g->begin, g->keys), first) - 1;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        while (g->begin[key + 1] <= first + i)
            key++;
        values[i] = g->pairs[first + i].second;
        keys[i] = key;
    }
    return HDX_OK;
}

/* Writes the set of all first numbers, and the second numbers for each. */
static hdx_code write_side(hdx_work *w, const hdx_pair *pairs, uint64_t count, hdx_kind set, hdx_index_file out[2],
                           uint64_t *members, hdx_error *err)
{
    const uint64_t words = hdx_bits_words(w->objects);
    grouped        g = { .pairs = pairs };
    uint64_t      *is_in = hdx_mem_array(&w->mem, words, 8);
    hdx_code       code = HDX_OK;
    for (uint64_t i = 0; i < count; i++)
        g.keys += i == 0 || pairs[i].first != pairs[i - 1].first;
    g.begin = hdx_mem_array(&w->mem, g.keys + 1, sizeof *g.begin);
    if (is_in == NULL || g.begin == NULL)
        code = hdx_no_memory(err, "references that are left out", words * 8 + g.keys * 8);
    for (uint64_t i = 0, key = 0; i < count && code == HDX_OK; i++) {
        assert(pairs[i].first < w->objects);
        if (i == 0 || pairs[i].first != pairs[i - 1].first)
            g.begin[key++] = i;
        hdx_bits_put(is_in, pairs[i].first);
    }
    if (code == HDX_OK) {
        g.begin[g.keys] = count;
        *members = g.keys;
        code = hdx_ranks_write(&w->place, set, w->objects, is_in, &out[0], err);
    }
    if (code == HDX_OK)
        code = hdx_one_to_n_write(&w->place, (hdx_kind)(set + 1), g.keys, count, fill_degrees, fill_lists, &g, &out[1],
                                  err);
    hdx_mem_put(&w->mem, g.begin, (g.keys + 1) * sizeof *g.begin);
    hdx_mem_put(&w->mem, is_in, words * 8);
    return code;
}

hdx_code hdx_pass_write_cuts(hdx_work *w, hdx_pair *pairs, uint64_t count, hdx_index_file out[HDX_CUT_KINDS],
                             uint64_t *from, uint64_t *to, hdx_error *err)
{
    hdx_code code = write_side(w, pairs, count, HDX_KIND_CUT_FROM, out, from, err);
    for (uint64_t i = 0; i < count; i++)
        pairs[i] = (hdx_pair){ pairs[i].second, pairs[i].first };
    hdx_sort_pairs(&w->mem, pairs, count);
    return code != HDX_OK ? code : write_side(w, pairs, count, HDX_KIND_CUT_TO, out + 2, to, err);
}

/* ---- objects with a referrer ---- */
typedef struct referred_scan {
    const hdx_one_to_n   *inbound;
    const hdx_referenced *out;
    uint64_t              objects;
    _Atomic uint64_t      next;
} referred_scan;

static void look(void *context, unsigned worker)
{
    referred_scan *l = context;
    uint64_t       degrees[1024], piece;
    (void)worker;
    while ((piece = atomic_fetch_add(&l->next, 1)) * PIECE < l->objects)
        for (uint64_t first = piece * PIECE, end = l->objects - first < PIECE ? l->objects : first + PIECE; first < end;
             first += 1024) {
            const uint32_t n = end - first < 1024 ? (uint32_t)(end - first) : 1024;
            hdx_one_to_n_degrees(l->inbound, first, n, degrees);
            for (uint32_t i = 0; i < n; i++) {
                const uint64_t id = first + i;
                l->out->once[id / 64] |= (uint64_t)(degrees[i] > 0) << id % 64;
                l->out->many[id / 64] |= (uint64_t)(degrees[i] > 1) << id % 64;
            }
        }
}

void hdx_pass_referenced(hdx_work *w, const hdx_one_to_n *inbound, const hdx_referenced *out)
{
    referred_scan l = { .inbound = inbound, .out = out, .objects = w->objects };
    hdx_workers_run(w->threads, look, &l);
}
