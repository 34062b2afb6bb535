/*
 * solve.h - searches with everything in arrays, for tests that look at each number: tapes, referrers and class
 * instances are memory.
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

/* ---- class instances ---- */

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

#define HDX_WIDTH 32
#include "solve_wide.h"
#undef HDX_WIDTH
#define HDX_WIDTH 64
#include "solve_wide.h"
#undef HDX_WIDTH

#endif
