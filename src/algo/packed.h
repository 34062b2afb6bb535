/*
 * packed.h - stores the outbound lists and classes of all nodes in few bytes per node, to be read at the speed of plain
 * arrays. The searches and the transposition read it.
 *
 *     entry              a node's number, in as many bytes as the greatest needs
 *     class              a byte; HDX_PACKED_FAR: the number is the first entry of the list; if all its bits are set, or
 *                        without an entry: no class
 *     group of 8 nodes   where each list ends, in entries: 8 bytes (up to 255 entries) or 8 times 5 bytes; 8 classes;
 *                        the lists' entries
 *     bases              position of a group in its piece, times two, + 1 if its ends are wide: 5 bytes each
 *     piece              2^21 nodes in a separate block of memory
 *
 * List lengths are unpredictable branches. The entries of a group are therefore contiguous and have one width, so that
 * a reader of all lists reads them in one loop without their lengths. A width per list would need a fifth less memory
 * on Mix and three times as long.
 *
 * Random access costs two cache misses, the base and the group. Mix needs 8.3 bytes per object, including the class;
 * plain arrays need 13.6.
 *
 * Invariants, asserted in debug builds:
 *   P1  An entry has 1 to 5 bytes, and the number with all bits set is not a node.
 *   P2  A piece is allocated once, and its groups fill it except for HDX_PACKED_SLACK bytes.
 *   P3  Targets are only read from lists that have some left; a walk skips no more than a list has.
 *   P4  hdx_packed_pairs returns at most most + HDX_PACKED_MORE.
 *   P5  Lengths are requested for whole blocks.
 *
 * A packed number, for files between steps, has its length in the two lowest bits of the first byte: 6, 14, 22 or 38
 * bits in 1, 2, 3 or 5 bytes.
 */
#ifndef HDX_ALGO_PACKED_H
#define HDX_ALGO_PACKED_H

#include "base/base.h"

#define HDX_PACKED_PIECE_BITS 21u
#define HDX_PACKED_PIECE      (1ull << HDX_PACKED_PIECE_BITS)
#define HDX_PACKED_BLOCK      2048u /* nodes whose edges are counted together */
/* Most nodes: a packed number has up to 38 bits, one of them for the sign of a distance. */
#define HDX_PACKED_NODES (1ull << 37)
#define HDX_PACKED_SLACK 32u  /* bytes that may be read after a list, and written after a packed number */
#define HDX_PACKED_FAR   255u /* class numbers from this one on need an entry */

typedef struct hdx_packed {
    uint64_t  nodes, edges;
    uint8_t  *bases;
    uint64_t  bases_bytes;
    uint8_t **pieces;
    uint64_t *piece_bytes;
    uint64_t  piece_count;
    uint64_t
        *before; /* edges before each block of HDX_PACKED_BLOCK nodes, and of all: hdx_packed_lengths, hdx_packed_sum */
    uint64_t blocks;
    uint64_t mask;  /* of the bits of an entry */
    unsigned width; /* size of an entry in bytes */
} hdx_packed;

/* A list: the remaining targets. */
typedef struct hdx_packed_list {
    const uint8_t *at;
    uint64_t       count;
    uint32_t       class_number;
} hdx_packed_list;

HDX_INLINE uint64_t hdx_unpack(const uint8_t **at)
{
    const uint64_t word = hdx_le64(*at), form = word & 3;
    /* computed rather than looked up, because the next number depends on it */
    const uint64_t bytes = form + 1 + (form == 3);
    *at += bytes;
    return (word & ~(~0ull << 8 * bytes)) >> 2;
}

/* Writes a number below 2^38, and up to eight bytes. Returns where the next number goes. */
static inline uint8_t *hdx_pack(uint8_t *to, uint64_t v)
{
    const unsigned form = (unsigned)(v >= 1u << 6) + (unsigned)(v >= 1u << 14) + (unsigned)(v >= 1u << 22);
    hdx_put64(to, v << 2 | form);
    return to + form + 1 + (form == 3);
}

/* Returns the size of an entry for this many nodes: the value with all bits set is not a node. */
static inline unsigned hdx_packed_width(uint64_t nodes) { return nodes == 0 ? 1 : (hdx_width(nodes) + 7) / 8; }
/* Returns the number of entries of a list. */
static inline uint64_t hdx_packed_entries(uint32_t class_number, uint64_t targets)
{
    return targets + (class_number >= HDX_PACKED_FAR);
}
/* Returns the largest size of all lists with this many entries, without the data per block and piece. */
static inline uint64_t hdx_packed_bytes(uint64_t nodes, uint64_t entries)
{
    return entries * hdx_packed_width(nodes) + (nodes + 7) / 8 * (2 * 8 + 5) + entries / 256 * 32 +
           (nodes / HDX_PACKED_PIECE + 2) * HDX_PACKED_SLACK;
}

/* Makes empty lists for `nodes` nodes. Returns HDX_LIMIT if there are more than HDX_PACKED_NODES. */
hdx_code hdx_packed_new(hdx_packed *p, uint64_t nodes, hdx_mem *mem, hdx_error *err);
void     hdx_packed_free(hdx_packed *p, hdx_mem *mem);
/*
 * Allocates a piece for lists with these numbers of entries, one for each of its nodes. Its nodes have no class yet.
 * Any thread may call it, once for each piece.
 */
hdx_code hdx_packed_lay(hdx_packed *p, uint64_t piece, const uint32_t *entries, hdx_mem *mem, hdx_error *err);
/*
 * hdx_packed_keep passes complete lists as bytes to `put`, hdx_packed_restore reads them back, into lists for the same
 * number of nodes. The bytes must be trusted: they are not for files that others may have written.
 */
typedef hdx_code hdx_packed_put_bytes(void *context, const void *bytes, uint64_t len, hdx_error *err);
typedef hdx_code hdx_packed_get_bytes(void *context, void *to, uint64_t len, hdx_error *err);
hdx_code         hdx_packed_keep(const hdx_packed *p, hdx_packed_put_bytes *put, void *context, hdx_error *err);
hdx_code hdx_packed_restore(hdx_packed *p, hdx_mem *mem, hdx_packed_get_bytes *get, void *context, hdx_error *err);
static inline uint64_t hdx_packed_piece_nodes(const hdx_packed *p, uint64_t piece)
{
    const uint64_t left = p->nodes - (piece << HDX_PACKED_PIECE_BITS);
    return left < HDX_PACKED_PIECE ? left : HDX_PACKED_PIECE;
}

/* Reads exactly five bytes, because another thread may be writing the following ones. */
HDX_INLINE uint64_t hdx_packed_five(const uint8_t *at) { return hdx_le32(at) | (uint64_t)at[4] << 32; }

/* The group of a node: its ends, and its classes followed by the entries. */
typedef struct hdx_packed_group {
    const uint8_t *ends, *classes;
    bool           wide;
} hdx_packed_group;
HDX_INLINE hdx_packed_group hdx_packed_group_of(const hdx_packed *p, uint64_t node)
{
    const uint64_t base = hdx_packed_five(p->bases + node / 8 * 5);
    const uint8_t *head = p->pieces[node >> HDX_PACKED_PIECE_BITS] + (base >> 1);
    return (hdx_packed_group){ head, head + (base & 1 ? 40 : 8), base & 1 };
}
/* Number of entries before a node in its group, and including its own. */
HDX_INLINE void hdx_packed_ends(const hdx_packed_group *g, unsigned k, uint64_t *begin, uint64_t *end)
{
    if (__builtin_expect(g->wide, 0)) {
        *end = hdx_packed_five(g->ends + 5 * (size_t)k);
        *begin = k == 0 ? 0 : hdx_packed_five(g->ends + 5 * (size_t)k - 5);
        return;
    }
    const uint64_t ends = hdx_le64(g->ends);
    *end = ends >> 8 * k & 255;
    *begin = ends << 8 >> 8 * k & 255;
}

static inline void hdx_packed_base_ahead(const hdx_packed *p, uint64_t node)
{
    __builtin_prefetch(p->bases + node / 8 * 5);
}
static inline void hdx_packed_list_ahead(const hdx_packed *p, uint64_t node)
{
    const hdx_packed_group g = hdx_packed_group_of(p, node);
    __builtin_prefetch(g.ends);
    __builtin_prefetch(g.ends + 56);
}

/* A node that was never written has neither class (UINT32_MAX) nor targets. */
HDX_INLINE hdx_packed_list hdx_packed_at(const hdx_packed *p, uint64_t node)
{
    const hdx_packed_group g = hdx_packed_group_of(p, node);
    uint64_t               begin, end;
    hdx_packed_ends(&g, (unsigned)(node & 7), &begin, &end);
    hdx_packed_list list = { g.classes + 8 + begin * p->width, end - begin, g.classes[node & 7] };
    if (__builtin_expect(list.class_number == HDX_PACKED_FAR, 0)) {
        const uint64_t number = list.count > 0 ? hdx_le64(list.at) & p->mask : p->mask;
        list.class_number = number == p->mask ? UINT32_MAX : (uint32_t)number;
        list.at += list.count > 0 ? p->width : 0;
        list.count -= list.count > 0;
    }
    return list;
}
/* Returns the next target. REQUIRES: list->count is not 0. */
HDX_INLINE uint64_t hdx_packed_next(const hdx_packed *p, hdx_packed_list *list)
{
    const uint64_t target = hdx_le64(list->at) & p->mask;
    list->at += p->width;
    list->count--;
    return target;
}

/*
 * Sets the class of a node (less than `nodes`, or UINT32_MAX: none). Returns where to write its targets one after the
 * other (hdx_packed_put). Any thread may call it, for nodes in any order.
 */
static inline uint8_t *hdx_packed_put(uint8_t *to, uint64_t target, unsigned width)
{
    if (width == 4) /* exactly this many bytes, because another thread may be writing the following ones */
        hdx_put32(to, (uint32_t)target);
    else
        for (unsigned i = 0; i < width; i++)
            to[i] = (uint8_t)(target >> 8 * i);
    return to + width;
}
static inline uint8_t *hdx_packed_begin(hdx_packed *p, uint64_t node, uint32_t class_number)
{
    const hdx_packed_group g = hdx_packed_group_of(p, node);
    uint64_t               begin, end;
    hdx_packed_ends(&g, (unsigned)(node & 7), &begin, &end);
    uint8_t *classes = (uint8_t *)(uintptr_t)g.classes, *to = classes + 8 + begin * p->width;
    if (class_number < HDX_PACKED_FAR)
        classes[node & 7] = (uint8_t)class_number;
    else
        to = hdx_packed_put(to, class_number, p->width);
    return to;
}

/*
 * After all lists are complete: hdx_packed_lengths returns the number of targets of the nodes first .. first + n - 1
 * (whole blocks; any thread, for disjoint blocks). After a call for each block hdx_packed_sum computes the sums.
 */
void hdx_packed_lengths(hdx_packed *p, uint64_t first, uint32_t n, uint64_t *lengths);
void hdx_packed_sum(hdx_packed *p);

/*
 * Reads all targets of the nodes from walk->node to walk->end - 1, about `most` at a time (fewer only at the end), each
 * with its node unless `sources` is NULL. REQUIRES: the arrays have room for most + HDX_PACKED_MORE.
 */
#define HDX_PACKED_MORE 264u
typedef struct hdx_packed_walk {
    uint64_t node, end;
    uint64_t skip; /* number of targets of the first list to skip */
} hdx_packed_walk;
uint32_t hdx_packed_pairs(const hdx_packed *p, hdx_packed_walk *walk, uint32_t most, uint64_t *sources,
                          uint64_t *targets);
/*
 * Computes bit sets over nodes: those that are a target at least once, and at least twice. REQUIRES: all bits are zero.
 */
hdx_code hdx_packed_referred(const hdx_packed *p, hdx_ticker *tick, uint64_t *once, uint64_t *many, hdx_error *err);
/* Returns a walk to the last node that begins with target number `value` of all lists. REQUIRES: hdx_packed_sum. */
hdx_packed_walk hdx_packed_walk_from(const hdx_packed *p, uint64_t value);

#endif
