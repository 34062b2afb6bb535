/*
 * packed.h - the outbound lists of all nodes with their classes in a few bytes a node: what the searches and the turning round read.
 *
 *     list               class number * 4 + width code, as a packed number; then the targets, ascending, each as its distance from the
 *                        node + half the range of its bytes: as many bytes as the farthest needs (the code names one of four widths)
 *     group of 8 nodes   where each list ends, counted from the head's end: 8 bytes (all lists within 255 bytes) or 8 times 5 bytes; the lists
 *     bases              a group's place in its piece, twice, + 1 where ends are wide: 5 bytes each
 *     piece              2^21 nodes in a block of memory of their own
 *
 * A packed number has its length in the two lowest bits of the first byte: 6, 14, 22 or 38 bits in 1, 2, 3 or 5 bytes. Nothing in a list
 * depends on where it stands: it is packed once, when the dump is read, and copied from then on. Nothing in it waits for what comes before it
 * either: distances of one width are loaded side by side (stored as differences from each other they take a sixth less room and
 * three times as long).
 *
 * Random access costs two cache misses, the base and the group; Mix takes 7 bytes an object where plain arrays take 13.6, class included.
 */
#ifndef HDX_ALGO_PACKED_H
#define HDX_ALGO_PACKED_H

#include "base/base.h"

#define HDX_PACKED_PIECE_BITS 21u
#define HDX_PACKED_PIECE (1ull << HDX_PACKED_PIECE_BITS)
#define HDX_PACKED_BLOCK 2048u        /* nodes whose edges are summed up together */
#define HDX_PACKED_NODES (1ull << 37) /* a distance has up to five bytes; a packed number 38 bits */
#define HDX_PACKED_SLACK 32u          /* bytes behind a list that may be read, and written while packing */

typedef struct hdx_packed {
    uint64_t   nodes, edges;
    uint8_t   *bases;
    uint64_t   bases_bytes;
    uint8_t  **pieces;
    uint64_t  *piece_bytes;
    uint64_t   piece_count;
    uint64_t  *before; /* edges before each block of HDX_PACKED_BLOCK nodes, and of all: hdx_packed_length, hdx_packed_sum */
    uint64_t   blocks;
    uint8_t    widths[4]; /* bytes of a distance, by code */
} hdx_packed;

/* Calls that would cost as much as what they do. */
#define HDX_INLINE static inline __attribute__((always_inline))

/* A list taken apart. */
typedef struct hdx_packed_list {
    const uint8_t *at, *end; /* targets */
    uint64_t       mask, origin; /* of a target: the bytes at `at`, masked, + origin */
    uint32_t       class_number;
    unsigned       width;    /* bytes each */
} hdx_packed_list;

HDX_INLINE uint64_t hdx_unpack(const uint8_t **at)
{
    const uint64_t word = hdx_le64(*at), form = word & 3;
    const uint64_t bytes = form + 1 + (form == 3); /* reckoned, not looked up: the next number waits for it */
    *at += bytes;
    return (word & ~(~0ull << 8 * bytes)) >> 2;
}

/* v below 2^38; returns where the next number goes. Writes up to eight bytes. */
static inline uint8_t *hdx_pack(uint8_t *to, uint64_t v)
{
    const unsigned form = (unsigned)(v >= 1u << 6) + (unsigned)(v >= 1u << 14) + (unsigned)(v >= 1u << 22);
    hdx_put64(to, v << 2 | form);
    return to + form + 1 + (form == 3);
}

/* Widths by code: those that serve so many nodes best. */
static inline void hdx_packed_widths(uint64_t nodes, uint8_t widths[4])
{
    const bool far = nodes > 1ull << 31;
    widths[0] = 1;
    widths[1] = 2;
    widths[2] = far ? 4 : 3;
    widths[3] = far ? 5 : 4;
}

/* The bits of a distance of so many bytes; half its range. */
static inline uint64_t hdx_packed_mask(unsigned width) { return ~(~0ull << 8 * width); }
static inline uint64_t hdx_packed_half(unsigned width) { return 1ull << (8 * width - 1); }

/* Writes a list of n ascending targets; returns its end. `to` has room for 5 * (n + 1) + HDX_PACKED_SLACK bytes. */
static inline uint8_t *hdx_packed_write(uint8_t *to, const uint8_t widths[4], uint64_t node, uint32_t class_number, const uint64_t *targets, uint64_t n)
{
    unsigned code = 0;
    while (code < 3 && n > 0 && (targets[0] - node + hdx_packed_half(widths[code]) > hdx_packed_mask(widths[code]) ||
                                 targets[n - 1] - node + hdx_packed_half(widths[code]) > hdx_packed_mask(widths[code])))
        code++;
    to = hdx_pack(to, (uint64_t)class_number << 2 | code);
    for (uint64_t i = 0; i < n; i++, to += widths[code])
        hdx_put64(to, targets[i] - node + hdx_packed_half(widths[code]));
    return to;
}

/* Room for `nodes` nodes (HDX_LIMIT beyond HDX_PACKED_NODES), nothing in it. */
hdx_code hdx_packed_new(hdx_packed *p, uint64_t nodes, hdx_mem *mem, hdx_error *err);
void     hdx_packed_free(hdx_packed *p, hdx_mem *mem);
/* Makes a piece for lists of these lengths in bytes, one for each of its nodes; any thread, each piece once. */
hdx_code hdx_packed_lay(hdx_packed *p, uint64_t piece, const uint32_t *lengths, hdx_mem *mem, hdx_error *err);
static inline uint64_t hdx_packed_piece_nodes(const hdx_packed *p, uint64_t piece)
{
    const uint64_t left = p->nodes - (piece << HDX_PACKED_PIECE_BITS);
    return left < HDX_PACKED_PIECE ? left : HDX_PACKED_PIECE;
}

/* The bytes of a list. */
HDX_INLINE const uint8_t *hdx_packed_bytes(const hdx_packed *p, uint64_t node, const uint8_t **end)
{
    const uint64_t base = hdx_le64(p->bases + node / 8 * 5) & 0xffffffffffu, wide = base & 1, k = node & 7;
    const uint8_t *head = p->pieces[node >> HDX_PACKED_PIECE_BITS] + (base >> 1);
    if (__builtin_expect(wide != 0, 0)) {
        *end = head + 40 + (hdx_le64(head + 5 * k) & 0xffffffffffu);
        return head + 40 + (k == 0 ? 0 : hdx_le64(head + 5 * k - 5) & 0xffffffffffu);
    }
    *end = head + 8 + head[k];
    return head + 8 + (k == 0 ? 0 : head[k - 1]);
}
/* Where the list of a node is to be copied to. */
static inline uint8_t *hdx_packed_room(hdx_packed *p, uint64_t node)
{
    const uint8_t *end;
    return (uint8_t *)(uintptr_t)hdx_packed_bytes(p, node, &end);
}
static inline void hdx_packed_base_ahead(const hdx_packed *p, uint64_t node) { __builtin_prefetch(p->bases + node / 8 * 5); }
static inline void hdx_packed_list_ahead(const hdx_packed *p, uint64_t node)
{
    const uint64_t base = hdx_le64(p->bases + node / 8 * 5) & 0xffffffffffu;
    const uint8_t *head = p->pieces[node >> HDX_PACKED_PIECE_BITS] + (base >> 1);
    __builtin_prefetch(head);
    __builtin_prefetch(head + 56);
}

/* at: not at the end of the list's bytes. */
HDX_INLINE hdx_packed_list hdx_packed_open(const hdx_packed *p, uint64_t node, const uint8_t *at, const uint8_t *end)
{
    const uint64_t head = hdx_unpack(&at);
    const unsigned width = p->widths[head & 3];
    return (hdx_packed_list){ at, end, hdx_packed_mask(width), node - hdx_packed_half(width), (uint32_t)(head >> 2), width };
}
/* A node that nobody described has neither class (UINT32_MAX) nor targets. */
HDX_INLINE hdx_packed_list hdx_packed_at(const hdx_packed *p, uint64_t node)
{
    const uint8_t *end, *at = hdx_packed_bytes(p, node, &end);
    return at < end ? hdx_packed_open(p, node, at, end) : (hdx_packed_list){ end, end, 0, 0, UINT32_MAX, 1 };
}
/* The next target; list->at < list->end. */
HDX_INLINE uint64_t hdx_packed_next(hdx_packed_list *list)
{
    const uint64_t distance = hdx_le64(list->at) & list->mask;
    list->at += list->width;
    return list->origin + distance;
}

/* When all lists are there: how many targets the nodes first .. first + n - 1 have (whole blocks; disjoint ones from any thread); when all were
   asked for once, the sums over them. */
void hdx_packed_lengths(hdx_packed *p, uint64_t first, uint32_t n, uint64_t *lengths);
void hdx_packed_sum(hdx_packed *p);

/*
 * All targets of the nodes from walk->node to walk->end - 1, each with the node it belongs to, some `most` at a time (fewer only at the end). The
 * arrays need room for most + HDX_PACKED_PAIRS. For whoever reads all lists: how long a list is, no processor can foresee, so four targets are
 * taken of each, there or not, and only longer ones have a branch.
 */
#define HDX_PACKED_PAIRS 256u
typedef struct hdx_packed_walk {
    uint64_t node, end;
    uint64_t skip; /* targets of the first list to be passed over */
} hdx_packed_walk;
uint32_t hdx_packed_pairs(const hdx_packed *p, hdx_packed_walk *walk, uint32_t most, uint64_t *sources, uint64_t *targets);
/* A walk to the last node that begins with target number `value` over all lists. After hdx_packed_sum. */
hdx_packed_walk hdx_packed_walk_from(const hdx_packed *p, uint64_t value);

#endif
