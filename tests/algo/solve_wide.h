/*
 * solve_wide.h - what solve.h has for the width at hand: searches whose results are arrays.
 *
 * search_32 ...: number of each node (0: not reached), node and parent by number ([0] is the virtual root).
 */
#include "algo/width.h"

typedef struct WIDE(search) {
    uint64_t  reached, edges, nodes;
    NID      *number, *node, *parent;
    uint64_t *live;
    reel      tape;
} WIDE(search);

static inline hdx_code WIDE(depth_first)(const WIDE(hdx_digraph) *g, hdx_mem *mem, hdx_ticker *tick, WIDE(search) *s,
                                         hdx_error *err)
{
    const uint64_t nodes = g->outbound->nodes;
    uint64_t       fail_at = s->tape.fail_at, edges = 0;
    *s = (WIDE(search)){ .nodes = nodes, .tape.fail_at = fail_at };
    const hdx_resources with = { mem, tick, 1 };
    const hdx_tape      tape = reel_tape(&s->tape);
    hdx_reached         found;
    hdx_code            code = WIDE(hdx_depth_first)(g, &with, &tape, &found, err);
    const hdx_taped     visits = { &tape, found.nodes };
    s->reached = found.nodes;
    s->edges = found.edges;
    s->live = found.live;
    if (code == HDX_OK && (code = WIDE(hdx_numbers)(&visits, nodes, &with, &s->number, err)) == HDX_OK)
        code = WIDE(hdx_nodes)(&visits, mem, &s->node, err);
    if (code != HDX_OK)
        return code;
    cr_assert(s->tape.len == s->reached * sizeof(WIDE(hdx_visit)));
    s->parent = zeroed(s->reached + 1, sizeof(NID));
    for (uint64_t i = 1; i <= s->reached; i++)
        s->parent[i] = ((const WIDE(hdx_visit) *)(const void *)s->tape.at)[i - 1].parent;
    for (uint64_t v = 0; v < nodes; v++) {
        const hdx_packed_list list = hdx_packed_at(g->outbound, v);
        cr_assert(hdx_bits_test(s->live, v) == (s->number[v] != 0), "live says what the numbers say");
        edges += s->number[v] == 0 ? 0 : list.count;
    }
    cr_assert(s->edges == edges, "references of what was reached");
    return HDX_OK;
}

static inline void WIDE(search_free)(WIDE(search) *s, hdx_mem *mem)
{
    hdx_mem_put(mem, s->number, s->nodes * sizeof(NID));
    hdx_mem_put(mem, s->node, (s->reached + 1) * sizeof(NID));
    hdx_mem_put(mem, s->live, hdx_bits_words(s->nodes) * 8);
    free(s->parent);
    reel_free(&s->tape);
}

static inline hdx_code WIDE(predecessors)(const WIDE(search) *s, known *k, hdx_mem *mem, hdx_ticker *tick, reel *out,
                                          uint64_t *count, hdx_error *err)
{
    const WIDE(hdx_numbering) numbered = { s->number, s->reached, k->is_root };
    const hdx_tape            tape = reel_tape(out);
    const hdx_referrers       referrers = book_referrers(&k->book);
    const hdx_resources       with = { mem, tick, k->ways.threads };
    hdx_taped                 to = { .tape = &tape };
    const hdx_code            code = WIDE(hdx_predecessors)(&numbered, &referrers, k->ways.room, &with, &to, err);
    *count = to.count;
    cr_assert(code != HDX_OK || out->len == *count * sizeof(NID));
    return code;
}

static inline hdx_code WIDE(class_predecessors)(const WIDE(hdx_digraph) *g, const WIDE(search) *s, known *k,
                                                hdx_mem *mem, hdx_ticker *tick, reel *out, uint64_t *count,
                                                hdx_error *err)
{
    const WIDE(hdx_numbering) numbered = { s->number, s->reached, k->is_root };
    const hdx_tape            tape = reel_tape(out);
    const hdx_class_instances instances = { &k->roll, roll_count, roll_read };
    const hdx_resources       with = { mem, tick, 1 };
    hdx_taped                 to = { .tape = &tape };
    const hdx_code            code = WIDE(hdx_class_predecessors)(g, &numbered, &instances, &with, &to, err);
    *count = to.count;
    cr_assert(code != HDX_OK || out->len == *count * sizeof(NID));
    return code;
}

static inline hdx_code WIDE(keep_idoms)(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err)
{
    (void)err;
    memcpy((NID *)context + first + 1, idom, n * sizeof *idom);
    return HDX_OK;
}

/* Predecessors, semidominators, dominators: idom by number, from calloc. */
static inline hdx_code WIDE(dominators)(const WIDE(hdx_digraph) *g, WIDE(search) *s, known *k, hdx_mem *mem,
                                        hdx_ticker *tick, NID **idom, hdx_error *err)
{
    reel           preds = { 0 }, of_class = { 0 }, semis = { 0 }, exceptions = { 0 };
    const hdx_tape visits_tape = reel_tape(&s->tape), semis_tape = reel_tape(&semis),
                   exceptions_tape = reel_tape(&exceptions), preds_tape = reel_tape_once(&preds),
                   of_class_tape = reel_tape_once(&of_class);
    const hdx_resources with = { mem, tick, 1 };
    const hdx_taped     visits = { &visits_tape, s->reached };
    hdx_preds           all = { { &preds_tape, 0 }, { &of_class_tape, 0 } };
    hdx_taped           found = { &semis_tape, 0 };
    hdx_code            code = WIDE(predecessors)(s, k, mem, tick, &preds, &all.of_referrers.count, err);
    if (code == HDX_OK)
        code = WIDE(class_predecessors)(g, s, k, mem, tick, &of_class, &all.of_classes.count, err);
    *idom = NULL;
    if (code == HDX_OK)
        code = WIDE(hdx_semidominators)(&visits, &all, &with, &found, err);
    if (code == HDX_OK) {
        cr_assert(semis.len == found.count * sizeof(WIDE(hdx_semi)));
        code = WIDE(hdx_dominators)(&visits, &found, &with, &exceptions_tape, err);
    }
    const hdx_idoms idoms = { visits, { &exceptions_tape, found.count } };
    if (code == HDX_OK) {
        cr_assert(exceptions.len == found.count * sizeof(WIDE(hdx_semi)));
        *idom = zeroed(s->reached + 1, sizeof(NID));
        code = WIDE(hdx_each_idom)(&idoms, false, mem, WIDE(keep_idoms), *idom, err);
    }
    if (code == HDX_OK) { /* and the other way */
        NID *again = zeroed(s->reached + 1, sizeof(NID));
        code = WIDE(hdx_each_idom)(&idoms, true, mem, WIDE(keep_idoms), again, err);
        cr_assert(code != HDX_OK || memcmp(again, *idom, (s->reached + 1) * sizeof(NID)) == 0);
        free(again);
    }
    if (code != HDX_OK) {
        free(*idom);
        *idom = NULL;
    }
    reel_free(&preds);
    reel_free(&of_class);
    reel_free(&semis);
    reel_free(&exceptions);
    return code;
}

/* From tapes that say these dominators: every third number has another parent, and is an exception. */
static inline hdx_code WIDE(retained)(const NID *idom, uint64_t reached, hdx_mem *mem, void *sizes, bool narrow,
                                      uint64_t fail_at, hdx_error *err)
{
    reel           visits = { 0 }, exceptions = { 0 };
    const hdx_tape visits_tape = reel_tape(&visits), exceptions_tape = reel_tape(&exceptions);
    for (uint64_t w = 1; w <= reached; w++) {
        const WIDE(hdx_visit) v = { (NID)(w - 1), w % 3 == 0 ? (NID)(w / 2) : idom[w] };
        const WIDE(hdx_semi)  x = { (NID)w, idom[w] };
        cr_assert(visits_tape.write(visits_tape.context, &v, sizeof v, NULL) == HDX_OK);
        if (v.parent != idom[w])
            cr_assert(exceptions_tape.write(exceptions_tape.context, &x, sizeof x, NULL) == HDX_OK);
    }
    visits.calls = exceptions.calls = 0;
    visits.fail_at = fail_at;
    const hdx_idoms idoms = { { &visits_tape, reached },
                              { &exceptions_tape, exceptions.len / sizeof(WIDE(hdx_semi)) } };
    const hdx_code  code = WIDE(hdx_retained)(&idoms, mem, &(hdx_sums){ sizes, narrow }, err);
    reel_free(&visits);
    reel_free(&exceptions);
    return code;
}

static inline hdx_code WIDE(nearest)(const WIDE(hdx_digraph) *g, hdx_mem *mem, hdx_ticker *tick, NID *parent,
                                     hdx_error *err)
{
    const uint64_t   nodes = g->outbound->nodes;
    WIDE(hdx_ranked) all = { calloc(hdx_bits_words(nodes) + 1, 8), NULL, 0 };
    for (uint64_t v = 0; v < nodes; v++)
        hdx_bits_put(all.words, v);
    cr_assert(WIDE(hdx_rank)(&all, nodes, NULL, NULL) == HDX_OK && all.count == nodes);
    const hdx_resources with = { mem, tick, 1 };
    const hdx_code      code = WIDE(hdx_nearest)(g, &all, &with, parent, err);
    hdx_mem_put(NULL, all.before, hdx_bits_words(nodes) * sizeof(NID));
    free(all.words);
    return code;
}
