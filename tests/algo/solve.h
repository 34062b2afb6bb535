/*
 * solve.h - searches with everything in arrays, for tests that look at each number: the tape is memory, and it is played back.
 */
#ifndef HDX_TESTS_ALGO_SOLVE_H
#define HDX_TESTS_ALGO_SOLVE_H

#include "algo/algo.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct reel {
    uint8_t *at;
    uint64_t len, capacity;
} reel;

static inline hdx_code reel_write(void *context, const void *bytes, uint64_t len, hdx_error *err)
{
    reel *r = context;
    (void)err;
    if (r->len + len > r->capacity) {
        r->capacity = 2 * (r->len + len);
        r->at = realloc(r->at, r->capacity);
        cr_assert(r->at != NULL);
    }
    memcpy(r->at + r->len, bytes, len);
    r->len += len;
    return HDX_OK;
}

static inline hdx_code reel_read(void *context, uint64_t offset, void *to, uint64_t len, hdx_error *err)
{
    const reel *r = context;
    (void)err;
    cr_assert(offset <= r->len && len <= r->len - offset, "read within what was written");
    memcpy(to, r->at + offset, len);
    return HDX_OK;
}

/* search_32 ...: number of each node (0: not reached), node and parent by number ([0] is the virtual root). */
#define SOLVE(NID, S)                                                                                                           \
    typedef struct search##S {                                                                                                           \
        uint64_t  reached, nodes;                                                                                                        \
        NID      *number, *node, *parent;                                                                                                \
        uint64_t *live;                                                                                                                  \
        reel      tape;                                                                                                                  \
    } search##S;                                                                                                                         \
    static inline hdx_code depth_first##S(const hdx_digraph##S *g, hdx_mem *mem, hdx_ticker *tick, search##S *s, hdx_error *err)         \
    {                                                                                                                                    \
        *s = (search##S){ .nodes = g->nodes };                                                                                           \
        hdx_tape tape = { &s->tape, reel_write, reel_read };                                                                             \
        hdx_code code = hdx_depth_first##S(g, &tape, mem, tick, &s->reached, &s->live, err);                                             \
        if (code == HDX_OK && (code = hdx_numbers##S(&tape, s->reached, g->nodes, mem, &s->number, err)) == HDX_OK)                      \
            code = hdx_nodes##S(&tape, s->reached, mem, &s->node, err);                                                                  \
        if (code != HDX_OK)                                                                                                              \
            return code;                                                                                                                 \
        cr_assert(s->tape.len == s->reached * sizeof(hdx_visit##S));                                                                     \
        s->parent = calloc(s->reached + 1, sizeof(NID));                                                                                 \
        for (uint64_t i = 1; i <= s->reached; i++)                                                                                       \
            s->parent[i] = ((const hdx_visit##S *)(const void *)s->tape.at)[i - 1].parent;                                               \
        for (uint64_t v = 0; v < g->nodes; v++)                                                                                          \
            cr_assert(hdx_bits_test(s->live, v) == (s->number[v] != 0), "live says what the numbers say");                               \
        return HDX_OK;                                                                                                                   \
    }                                                                                                                                    \
    static inline void search_free##S(search##S *s, hdx_mem *mem)                                                                        \
    {                                                                                                                                    \
        hdx_mem_put(mem, s->number, s->nodes * sizeof(NID));                                                                             \
        hdx_mem_put(mem, s->node, (s->reached + 1) * sizeof(NID));                                                                       \
        hdx_mem_put(mem, s->live, hdx_bits_words(s->nodes) * 8);                                                                         \
        free(s->parent);                                                                                                                 \
        free(s->tape.at);                                                                                                                \
    }                                                                                                                                    \
    static inline hdx_code dominators##S(const hdx_digraph##S *g, search##S *s, hdx_mem *mem, hdx_ticker *tick, NID **idom, hdx_error *err) \
    {                                                                                                                                    \
        hdx_tape tape = { &s->tape, reel_write, reel_read };                                                                             \
        return hdx_dominators##S(g, s->number, s->reached, &tape, mem, tick, idom, err);                                                 \
    }                                                                                                                                    \
    static inline hdx_code nearest##S(const hdx_digraph##S *g, hdx_mem *mem, hdx_ticker *tick, NID *parent, hdx_error *err)              \
    {                                                                                                                                    \
        hdx_ranked##S all = { calloc(hdx_bits_words(g->nodes) + 1, 8), NULL, 0 };                                                        \
        for (uint64_t v = 0; v < g->nodes; v++)                                                                                          \
            hdx_bits_put(all.words, v);                                                                                                  \
        cr_assert(hdx_rank##S(&all, g->nodes, NULL, NULL) == HDX_OK && all.count == g->nodes);                                           \
        hdx_code code = hdx_nearest##S(g, &all, mem, tick, parent, err);                                                                 \
        hdx_mem_put(NULL, all.before, hdx_bits_words(g->nodes) * sizeof(NID));                                                           \
        free(all.words);                                                                                                                 \
        return code;                                                                                                                     \
    }

SOLVE(uint32_t, _32)
SOLVE(uint64_t, _64)

#endif
