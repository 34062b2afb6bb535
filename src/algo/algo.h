/*
 * algo.h - searches, transposition, dominators and sums over plain ids. Knows no Java beyond "every node has a class,
 * and a class may be a node itself", no files, no memory of its own beyond the hdx_mem it is given. Iterative
 * everywhere.
 *
 *   packed.h   the outbound lists of all nodes in few bytes
 *   tape.h     what one step writes down and another reads
 *   wide.h     the functions, for one width of an id (width.h)
 *
 * This header has what does not depend on the width.
 *
 * The graph (MAT 3.1, 6.1): a virtual root above all GC roots; node -> the targets of its list; node -> the class
 * object of its class. A GC root's only predecessor is the virtual root.
 *
 * How dominators come about:
 *
 *     depth_first --> visits --+--> numbers --+--> predecessors, class_predecessors --+
 *                              |              |                                       v
 *                              +--------------+-------------------------------> semidominators
 *                              |                                                      v
 *                              +------------------------------------------------> dominators --> exceptions
 *                              |                                                                     v
 *                              +-------------------------------------------------------> each_idom, retained
 *
 * Invariants, asserted in debug builds (of what callers and this room have in memory, not of what comes from tapes):
 *
 *   A1  Nodes are 0 .. nodes - 1, all below NONE; GC roots are among them.
 *   A2  Numbers begin with 1 and rise in the order of visits: a parent in the search has the smaller number, and no
 *       node is numbered twice.
 *   A3  A stack or queue has the room for what is put there before it is put; a queue's room is a power of two.
 *   A4  A range of targets or of numbers lies inside all of them, and the room that was made suffices for it.
 *   A5  A list of predecessors takes no more than was reserved for it, one for its length and one for its number among
 *       it.
 *   A6  Pieces of a tape that are read at once fit the buffer they are read into.
 */
#ifndef HDX_ALGO_ALGO_H
#define HDX_ALGO_ALGO_H

#include "algo/packed.h"
#include "algo/tape.h"
#include "base/base.h"

/* What an algorithm works with; none of it is a result. */
typedef struct hdx_resources {
    hdx_mem    *mem;     /* NULL: memory that nobody counts */
    hdx_ticker *tick;    /* NULL: nobody watches */
    unsigned    threads; /* at most so many, where the work can be shared out */
} hdx_resources;

/* What a depth-first search found, besides the visits on its tape. */
typedef struct hdx_reached {
    uint64_t  nodes; /* their numbers run 1 .. nodes */
    uint64_t  edges; /* of their lists together */
    uint64_t *live;  /* bit set over all nodes: these; from the search's mem */
} hdx_reached;

/*
 * Records of who refers to a node, for nodes with more than one referrer, in chunks that are read one by one, by any
 * thread. A record, as packed numbers (packed.h):
 *
 *     distance of the node from the one before, less 1 (from the chunk's first node, at first)
 *     number of referrers
 *     the first referrer, as its zigzag distance from the node
 *     each further one, as its distance from the one before, less 1
 */
/* Who takes records that were never packed. False: no more of them, for now or ever. */
typedef struct hdx_referrer_taker {
    void *context;
    /* n records, referrers of one after those of the one before */
    bool (*run)(void *context, const uint64_t *nodes, const uint64_t *counts, uint32_t n, const uint64_t *referrers);
    /* one, in parts: begun with how many there are */
    bool (*begin)(void *context, uint64_t node, uint64_t count);
    void (*more)(void *context, const uint64_t *referrers, uint32_t n);
} hdx_referrer_taker;

typedef struct hdx_referrers {
    void    *context;
    uint64_t chunks, longest; /* bytes of the longest chunk */
    uint64_t entries;         /* referrers and records, together */
    /* fills `to`, which has room for longest + HDX_PACKED_SLACK; *node: the chunk's first node */
    hdx_code (*read)(void *context, uint64_t chunk, uint8_t *to, uint64_t *len, uint64_t *node, hdx_error *err);
    /* in place of read, where that is NULL: the records of the chunk to `to`, till it wants no more */
    hdx_code (*give)(void *context, uint64_t chunk, const hdx_referrer_taker *to, hdx_error *err);
} hdx_referrers;

/* The instances of each class, ascending; asked by one thread. */
typedef struct hdx_class_instances {
    void *context;
    uint64_t (*count)(void *context, uint32_t class_number);
    /* instances first .. first + n - 1 of a class; n at most 256 */
    hdx_code (*read)(void *context, uint32_t class_number, uint64_t first, uint32_t n, uint64_t *nodes, hdx_error *err);
} hdx_class_instances;

/* Tapes of predecessors; a node may be on either, on both or on none. What was read is cut off. */
typedef struct hdx_preds {
    hdx_taped of_referrers, of_classes;
} hdx_preds;

/*
 * Immediate dominators of all numbers of a search, as two tapes: the parent in the search, but for the exceptions,
 * which stand by rising number.
 */
typedef struct hdx_idoms {
    hdx_taped visits, exceptions;
} hdx_idoms;

/* Sums by number, of either width. */
typedef struct hdx_sums {
    void *at;     /* of numbers 0 .. reached; [0] stands for the virtual root */
    bool  narrow; /* uint32_t, else uint64_t */
} hdx_sums;

/* Rank of a member of a ranked set (wide.h), or of where it would stand. */
#define HDX_RANK(set, i)                                                                                               \
    ((set)->before[(i) >> 6] + (uint64_t)__builtin_popcountll((set)->words[(i) >> 6] & ((1ull << ((i)&63)) - 1)))

#endif
