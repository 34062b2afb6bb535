/*
 * algo.h - searches, transposition, dominators and sums over plain ids. All it knows about Java is that every node has
 * a class, and that a class may be a node itself. It uses no files, and memory only from the given hdx_mem. All
 * functions are iterative.
 *
 *   packed.h   the outbound lists of all nodes in few bytes
 *   tape.h     data that one step writes and another reads
 *   wide.h     the functions, for one width of an id (width.h)
 *
 * This header has the declarations that do not depend on the width.
 *
 * The graph (MAT 3.1, 6.1): a virtual root above all GC roots; node -> the targets of its list; node -> the class
 * object of its class. A GC root's only predecessor is the virtual root.
 *
 * Computation of dominators:
 *
 *     depth_first --> visits --+--> numbers --+--> predecessors, class_predecessors --+
 *                              |              |                                       v
 *                              +--------------+-------------------------------> semidominators
 *                              |                                                      v
 *                              +------------------------------------------------> dominators --> exceptions
 *                              |                                                                     v
 *                              +-------------------------------------------------------> each_idom, retained
 *
 * Invariants, asserted in debug builds (about what callers and this room have in memory, not about data of tapes):
 *
 *   A1  Nodes are 0 .. nodes - 1, all below NONE; GC roots are among them.
 *   A2  Numbers begin with 1 and ascend in the order of visits: a parent in the search has the smaller number, and no
 *       node is numbered twice.
 *   A3  A stack or queue has room for an element before it is added; the capacity of a queue is a power of two.
 *   A4  A range of targets or of numbers is inside of all of them, and the memory that was allocated suffices for it.
 *   A5  A list of predecessors uses no more than was reserved for it, including one entry for its length and one for
 *       its number.
 *   A6  Pieces of a tape that are read at once fit in their buffer.
 */
#ifndef HDX_ALGO_ALGO_H
#define HDX_ALGO_ALGO_H

#include "algo/packed.h"
#include "algo/tape.h"
#include "base/base.h"

/* What an algorithm works with; none of it is a result. */
typedef struct hdx_resources {
    hdx_mem    *mem;     /* NULL: memory is not counted */
    hdx_ticker *tick;    /* NULL: neither progress nor cancellation */
    unsigned    threads; /* most threads, for work that can be shared */
} hdx_resources;

/* The results of a depth-first search other than the visits on its tape. */
typedef struct hdx_reached {
    uint64_t  nodes; /* their numbers are 1 .. nodes */
    uint64_t  edges; /* number of edges in all their lists */
    uint64_t *live;  /* bit set over all nodes: the nodes that were reached; allocated from mem */
} hdx_reached;

/*
 * Records of the referrers of nodes that have several, in chunks that any thread can read. A record, in packed numbers
 * (packed.h):
 *
 *     distance of the node from the one before, less 1 (from the chunk's first node, at first)
 *     number of referrers
 *     the first referrer, as its zigzag distance from the node
 *     each further one, as its distance from the one before, less 1
 */
/* Receives records in unpacked form. A call returns false to stop. */
typedef struct hdx_referrer_taker {
    void *context;
    /* n records; referrers of each follow those of the one before */
    bool (*run)(void *context, const uint64_t *nodes, const uint64_t *counts, uint32_t n, const uint64_t *referrers);
    /* one record in parts: `begin` with its count, then `more` */
    bool (*begin)(void *context, uint64_t node, uint64_t count);
    void (*more)(void *context, const uint64_t *referrers, uint32_t n);
} hdx_referrer_taker;

typedef struct hdx_referrers {
    void    *context;
    uint64_t chunks, longest; /* longest: size of the longest chunk in bytes */
    uint64_t entries;         /* number of referrers and records together */
    /* fills `to`, which has room for longest + HDX_PACKED_SLACK; *node: first node of the chunk */
    hdx_code (*read)(void *context, uint64_t chunk, uint8_t *to, uint64_t *len, uint64_t *node, hdx_error *err);
    /* replaces `read` if that is NULL: passes the records of a chunk to `to` until it stops */
    hdx_code (*give)(void *context, uint64_t chunk, const hdx_referrer_taker *to, hdx_error *err);
} hdx_referrers;

/* The instances of each class, ascending; called by one thread. */
typedef struct hdx_class_instances {
    void *context;
    uint64_t (*count)(void *context, uint32_t class_number);
    /* instances first .. first + n - 1 of a class; n is at most 256 */
    hdx_code (*read)(void *context, uint32_t class_number, uint64_t first, uint32_t n, uint64_t *nodes, hdx_error *err);
} hdx_class_instances;

/* Tapes of predecessors; a node may be on either, on both or on none. What was read is cut off. */
typedef struct hdx_preds {
    hdx_taped of_referrers, of_classes;
} hdx_preds;

/*
 * Immediate dominators of all numbers of a search, as two tapes: the parent in the search, except for the exceptions,
 * which are in ascending order of numbers.
 */
typedef struct hdx_idoms {
    hdx_taped visits, exceptions;
} hdx_idoms;

/* Sums by number, in either width. */
typedef struct hdx_sums {
    void *at;     /* for numbers 0 .. reached; [0] is that of the virtual root */
    bool  narrow; /* uint32_t; otherwise uint64_t */
} hdx_sums;

/* Rank of a member of a ranked set (wide.h), or of the place where it would be. */
#define HDX_RANK(set, i)                                                                                               \
    ((set)->before[(i) >> 6] + (uint64_t)__builtin_popcountll((set)->words[(i) >> 6] & ((1ull << ((i)&63)) - 1)))

#endif
