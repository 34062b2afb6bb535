/*
 * solve.h - searches with everything in arrays, for tests that look at each number: tapes, referrers and members of
 * classes are memory.
 */
#ifndef HDX_TESTS_ALGO_SOLVE_H
#define HDX_TESTS_ALGO_SOLVE_H

#include "graphs.h"

/* ---- tapes ---- */

typedef struct reel {
    uint8_t *at;
    uint64_t len, capacity;
    uint64_t calls, fail_at; /* the call that fails, from 1; 0: none */
} reel;

static inline hdx_code reel_write(void *context, const void *bytes, uint64_t len, hdx_error *err)
{
    reel *r = context;
    if (++r->calls == r->fail_at)
        return hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "the tape is torn");
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
    reel *r = context;
    if (++r->calls == r->fail_at)
        return hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "the tape is torn");
    cr_assert(offset <= r->len && len <= r->len - offset, "read within what was written");
    if (len > 0)
        memcpy(to, r->at + offset, len);
    return HDX_OK;
}

/* What is cut off is not there any more. */
static inline void reel_cut(void *context, uint64_t end)
{
    reel *r = context;
    r->len = end < r->len ? end : r->len;
}

static inline hdx_tape reel_tape(reel *r) { return (hdx_tape){ r, reel_write, reel_read, NULL }; }
static inline hdx_tape reel_tape_once(reel *r) { return (hdx_tape){ r, reel_write, reel_read, reel_cut }; }
static inline void     reel_free(reel *r)
{
    free(r->at);
    *r = (reel){ 0 };
}

/* ---- records of referrers, in chunks of so many nodes; chunks without a record are left out ---- */

typedef struct book_chunk {
    uint64_t at, len, node;
} book_chunk;

typedef struct book {
    uint64_t         chunk_nodes, next, current; /* node a distance is counted from; chunk at hand, + 1 */
    uint8_t         *bytes;
    uint64_t         len, capacity;
    book_chunk      *chunk;
    uint64_t         chunks, chunk_capacity, entries;
    _Atomic uint64_t reads;
    uint64_t         fail_at; /* the reading that fails, from 1; 0: none */
} book;

static inline void book_add(book *b, uint64_t node, const uint64_t *from, uint64_t n)
{
    if (b->capacity < b->len + 5 * (n + 2) + 16) {
        b->capacity = 2 * (b->len + 5 * (n + 2) + 16);
        b->bytes = realloc(b->bytes, b->capacity);
        cr_assert(b->bytes != NULL);
    }
    if (b->current != node / b->chunk_nodes + 1) {
        b->current = node / b->chunk_nodes + 1;
        b->next = node / b->chunk_nodes * b->chunk_nodes;
        if (b->chunks == b->chunk_capacity) {
            b->chunk_capacity = 2 * b->chunks + 16;
            b->chunk = realloc(b->chunk, b->chunk_capacity * sizeof *b->chunk);
            cr_assert(b->chunk != NULL);
        }
        b->chunk[b->chunks++] = (book_chunk){ b->len, 0, b->next };
    }
    uint8_t *to = b->bytes + b->len;
    to = hdx_pack(to, node - b->next);
    to = hdx_pack(to, n);
    for (uint64_t i = 0; i < n; i++)
        to = hdx_pack(to, i == 0 ? hdx_zigzag((int64_t)(from[0] - node)) : from[i] - from[i - 1] - 1);
    b->next = node + 1;
    b->len = (uint64_t)(to - b->bytes);
    b->chunk[b->chunks - 1].len = b->len - b->chunk[b->chunks - 1].at;
    b->entries += n + 1;
}

/* From any thread: no assertions here. The slack after a chunk is no zeros. */
static inline hdx_code book_read(void *context, uint64_t chunk, uint8_t *to, uint64_t *len, uint64_t *node,
                                 hdx_error *err)
{
    book *b = context;
    if (atomic_fetch_add(&b->reads, 1) + 1 == b->fail_at)
        return hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "the book is torn");
    if (chunk >= b->chunks)
        abort();
    *len = b->chunk[chunk].len;
    *node = b->chunk[chunk].node;
    memcpy(to, b->bytes + b->chunk[chunk].at, *len);
    memset(to + *len, 0xee, HDX_PACKED_SLACK);
    return HDX_OK;
}

static inline hdx_referrers book_referrers(book *b)
{
    hdx_referrers r = { .context = b, .chunks = b->chunks, .entries = b->entries, .read = book_read };
    for (uint64_t i = 0; i < b->chunks; i++)
        r.longest = b->chunk[i].len > r.longest ? b->chunk[i].len : r.longest;
    return r;
}

static inline void book_free(book *b)
{
    free(b->bytes);
    free(b->chunk);
}

/* ---- members ---- */

typedef struct roll_call {
    const lists *of;
    uint64_t     reads, fail_at;
} roll_call;

static inline uint64_t roll_count(void *context, uint32_t class_number)
{
    const lists *of = ((roll_call *)context)->of;
    cr_assert(class_number < of->n);
    return of->at[class_number + 1] - of->at[class_number];
}

static inline hdx_code roll_read(void *context, uint32_t class_number, uint64_t first, uint32_t n, uint64_t *nodes,
                                 hdx_error *err)
{
    roll_call *r = context;
    if (++r->reads == r->fail_at)
        return hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "the roll is torn");
    cr_assert(n <= 256 && first + n <= roll_count(context, class_number));
    memcpy(nodes, r->of->to + r->of->at[class_number] + first, n * sizeof *nodes);
    return HDX_OK;
}

/* ---- what predecessors are found with ---- */

typedef struct ways {
    uint64_t chunk_nodes, room;
    unsigned threads;
    bool     roots_too; /* there are records of GC roots */
} ways;

static UNUSED const ways plain_ways = { 64, 1ull << 40, 1, false };

typedef struct known {
    book            book;
    roll_call       roll;
    const uint64_t *is_root;
    ways            ways;
} known;

static UNUSED bool is_class_object(const graph *g, uint64_t v)
{
    for (uint32_t c = 0; c < g->classes; c++)
        if (g->class_object[c] == v)
            return true;
    return false;
}

static UNUSED bool has_record(const graph *g, uint64_t v, bool roots_too)
{
    const uint64_t n = g->inbound.at[v + 1] - g->inbound.at[v];
    return (n > 1 || (n == 1 && is_class_object(g, v))) && (roots_too || !hdx_bits_test(g->is_root, v));
}

static UNUSED known known_of(const graph *g, ways w)
{
    known k = { .book.chunk_nodes = w.chunk_nodes, .roll.of = &g->instances, .is_root = g->is_root, .ways = w };
    for (uint64_t v = 0; v < g->n; v++)
        if (has_record(g, v, w.roots_too))
            book_add(&k.book, v, g->inbound.to + g->inbound.at[v], g->inbound.at[v + 1] - g->inbound.at[v]);
    return k;
}

/* search_32 ...: number of each node (0: not reached), node and parent by number ([0] is the virtual root). */
#define SOLVE(NID, S)                                                                                                  \
    typedef struct search##S {                                                                                         \
        uint64_t  reached, edges, nodes;                                                                               \
        NID      *number, *node, *parent;                                                                              \
        uint64_t *live;                                                                                                \
        reel      tape;                                                                                                \
    } search##S;                                                                                                       \
    static inline hdx_code depth_first##S(const hdx_digraph##S *g, hdx_mem *mem, hdx_ticker *tick, search##S *s,       \
                                          hdx_error *err)                                                              \
    {                                                                                                                  \
        const uint64_t nodes = g->outbound->nodes;                                                                     \
        uint64_t       fail_at = s->tape.fail_at, edges = 0;                                                           \
        *s = (search##S){ .nodes = nodes, .tape.fail_at = fail_at };                                                   \
        hdx_tape tape = reel_tape(&s->tape);                                                                           \
        hdx_code code = hdx_depth_first##S(g, &tape, mem, tick, &s->reached, &s->edges, &s->live, err);                \
        if (code == HDX_OK && (code = hdx_numbers##S(&tape, s->reached, nodes, 1, mem, &s->number, err)) == HDX_OK)    \
            code = hdx_nodes##S(&tape, s->reached, mem, &s->node, err);                                                \
        if (code != HDX_OK)                                                                                            \
            return code;                                                                                               \
        cr_assert(s->tape.len == s->reached * sizeof(hdx_visit##S));                                                   \
        s->parent = zeroed(s->reached + 1, sizeof(NID));                                                               \
        for (uint64_t i = 1; i <= s->reached; i++)                                                                     \
            s->parent[i] = ((const hdx_visit##S *)(const void *)s->tape.at)[i - 1].parent;                             \
        for (uint64_t v = 0; v < nodes; v++) {                                                                         \
            const hdx_packed_list list = hdx_packed_at(g->outbound, v);                                                \
            cr_assert(hdx_bits_test(s->live, v) == (s->number[v] != 0), "live says what the numbers say");             \
            edges += s->number[v] == 0 ? 0 : list.count;                                                               \
        }                                                                                                              \
        cr_assert(s->edges == edges, "references of what was reached");                                                \
        return HDX_OK;                                                                                                 \
    }                                                                                                                  \
    static inline void search_free##S(search##S *s, hdx_mem *mem)                                                      \
    {                                                                                                                  \
        hdx_mem_put(mem, s->number, s->nodes * sizeof(NID));                                                           \
        hdx_mem_put(mem, s->node, (s->reached + 1) * sizeof(NID));                                                     \
        hdx_mem_put(mem, s->live, hdx_bits_words(s->nodes) * 8);                                                       \
        free(s->parent);                                                                                               \
        reel_free(&s->tape);                                                                                           \
    }                                                                                                                  \
    static inline hdx_code predecessors##S(const search##S *s, known *k, hdx_mem *mem, hdx_ticker *tick, reel *out,    \
                                           uint64_t *count, hdx_error *err)                                            \
    {                                                                                                                  \
        hdx_tape      tape = reel_tape(out);                                                                           \
        hdx_referrers referrers = book_referrers(&k->book);                                                            \
        hdx_code      code = hdx_predecessors##S(s->number, s->reached, k->is_root, &referrers, k->ways.room,          \
                                                 k->ways.threads, mem, tick, &tape, count, err);                       \
        cr_assert(code != HDX_OK || out->len == *count * sizeof(NID));                                                 \
        return code;                                                                                                   \
    }                                                                                                                  \
    static inline hdx_code instances##S(const hdx_digraph##S *g, const search##S *s, known *k, hdx_mem *mem,           \
                                        hdx_ticker *tick, reel *out, uint64_t *count, hdx_error *err)                  \
    {                                                                                                                  \
        hdx_tape    tape = reel_tape(out);                                                                             \
        hdx_members members = { &k->roll, roll_count, roll_read };                                                     \
        hdx_code    code = hdx_instances##S(g, s->number, k->is_root, &members, mem, tick, &tape, count, err);         \
        cr_assert(code != HDX_OK || out->len == *count * sizeof(NID));                                                 \
        return code;                                                                                                   \
    }                                                                                                                  \
    static inline hdx_code keep_idoms##S(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err)   \
    {                                                                                                                  \
        (void)err;                                                                                                     \
        memcpy((NID *)context + first + 1, idom, n * sizeof *idom);                                                    \
        return HDX_OK;                                                                                                 \
    }                                                                                                                  \
    /* Predecessors, semidominators, dominators: idom by number, from calloc. */                                       \
    static inline hdx_code dominators##S(const hdx_digraph##S *g, search##S *s, known *k, hdx_mem *mem,                \
                                         hdx_ticker *tick, NID **idom, hdx_error *err)                                 \
    {                                                                                                                  \
        reel      preds = { 0 }, of_class = { 0 }, semis = { 0 }, idoms = { 0 };                                       \
        hdx_tape  search_tape = reel_tape(&s->tape), semis_tape = reel_tape(&semis), idoms_tape = reel_tape(&idoms);   \
        hdx_tape  preds_tape = reel_tape_once(&preds), of_class_tape = reel_tape_once(&of_class);                      \
        uint64_t  semi_count = 0;                                                                                      \
        hdx_preds preds_of = { &preds_tape, 0 }, of_class_of = { &of_class_tape, 0 };                                  \
        hdx_code  code = predecessors##S(s, k, mem, tick, &preds, &preds_of.count, err);                               \
        if (code == HDX_OK)                                                                                            \
            code = instances##S(g, s, k, mem, tick, &of_class, &of_class_of.count, err);                               \
        *idom = NULL;                                                                                                  \
        if (code == HDX_OK)                                                                                            \
            code = hdx_semidominators##S(&search_tape, s->reached, &preds_of, &of_class_of, mem, tick, &semis_tape,    \
                                         &semi_count, err);                                                            \
        if (code == HDX_OK) {                                                                                          \
            cr_assert(semis.len == semi_count * sizeof(hdx_semi##S));                                                  \
            code = hdx_dominators##S(&search_tape, s->reached, &semis_tape, semi_count, mem, tick, &idoms_tape, err);  \
        }                                                                                                              \
        if (code == HDX_OK) {                                                                                          \
            cr_assert(idoms.len == semi_count * sizeof(hdx_semi##S));                                                  \
            *idom = zeroed(s->reached + 1, sizeof(NID));                                                               \
            code = hdx_each_idom##S(&search_tape, s->reached, &idoms_tape, semi_count, false, mem, keep_idoms##S,      \
                                    *idom, err);                                                                       \
        }                                                                                                              \
        if (code == HDX_OK) { /* and the other way */                                                                  \
            NID *again = zeroed(s->reached + 1, sizeof(NID));                                                          \
            code = hdx_each_idom##S(&search_tape, s->reached, &idoms_tape, semi_count, true, mem, keep_idoms##S,       \
                                    again, err);                                                                       \
            cr_assert(code != HDX_OK || memcmp(again, *idom, (s->reached + 1) * sizeof(NID)) == 0);                    \
            free(again);                                                                                               \
        }                                                                                                              \
        if (code != HDX_OK) {                                                                                          \
            free(*idom);                                                                                               \
            *idom = NULL;                                                                                              \
        }                                                                                                              \
        reel_free(&preds);                                                                                             \
        reel_free(&of_class);                                                                                          \
        reel_free(&semis);                                                                                             \
        reel_free(&idoms);                                                                                             \
        return code;                                                                                                   \
    }                                                                                                                  \
    /* From tapes that say these dominators: every third number has another parent, and is an exception. */            \
    static inline hdx_code retained##S(const NID *idom, uint64_t reached, hdx_mem *mem, void *sizes, bool narrow,      \
                                       uint64_t fail_at, hdx_error *err)                                               \
    {                                                                                                                  \
        reel     visits = { 0 }, idoms = { 0 };                                                                        \
        hdx_tape visits_tape = reel_tape(&visits), idoms_tape = reel_tape(&idoms);                                     \
        for (uint64_t w = 1; w <= reached; w++) {                                                                      \
            const hdx_visit##S v = { (NID)(w - 1), w % 3 == 0 ? (NID)(w / 2) : idom[w] };                              \
            const hdx_semi##S  x = { (NID)w, idom[w] };                                                                \
            cr_assert(visits_tape.write(visits_tape.context, &v, sizeof v, NULL) == HDX_OK);                           \
            if (v.parent != idom[w])                                                                                   \
                cr_assert(idoms_tape.write(idoms_tape.context, &x, sizeof x, NULL) == HDX_OK);                         \
        }                                                                                                              \
        visits.calls = idoms.calls = 0;                                                                                \
        visits.fail_at = fail_at;                                                                                      \
        hdx_code code = hdx_retained##S(&visits_tape, reached, &idoms_tape, idoms.len / sizeof(hdx_semi##S), mem,      \
                                        sizes, narrow, err);                                                           \
        reel_free(&visits);                                                                                            \
        reel_free(&idoms);                                                                                             \
        return code;                                                                                                   \
    }                                                                                                                  \
    static inline hdx_code nearest##S(const hdx_digraph##S *g, hdx_mem *mem, hdx_ticker *tick, NID *parent,            \
                                      hdx_error *err)                                                                  \
    {                                                                                                                  \
        const uint64_t nodes = g->outbound->nodes;                                                                     \
        hdx_ranked##S  all = { calloc(hdx_bits_words(nodes) + 1, 8), NULL, 0 };                                        \
        for (uint64_t v = 0; v < nodes; v++)                                                                           \
            hdx_bits_put(all.words, v);                                                                                \
        cr_assert(hdx_rank##S(&all, nodes, NULL, NULL) == HDX_OK && all.count == nodes);                               \
        hdx_code code = hdx_nearest##S(g, &all, mem, tick, parent, err);                                               \
        hdx_mem_put(NULL, all.before, hdx_bits_words(nodes) * sizeof(NID));                                            \
        free(all.words);                                                                                               \
        return code;                                                                                                   \
    }

SOLVE(uint32_t, _32)
SOLVE(uint64_t, _64)

#endif
