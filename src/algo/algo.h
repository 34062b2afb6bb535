/*
 * algo.h - searches, transposition, dominators and sums over plain ids. Knows no Java beyond "every node has a class,
 * and a class may be a node itself", no files, no memory of its own beyond the hdx_mem it is given. Iterative
 * everywhere.
 *
 * Every function exists twice from one template: hdx_..._32 (nodes and references fit 32 bits) and hdx_..._64. Code
 * that is itself a template includes "algo/width.h" and says NID and WIDE(name).
 *
 * The graph (MAT 3.1, 6.1): a virtual root above all GC roots; node -> the targets of its list; node -> the class
 * object of its class. A GC root's only predecessor is the virtual root.
 *
 * Invariants, asserted in debug builds (of what callers and this room have in memory, not of what comes from tapes):
 *   A1  nodes are 0 .. nodes - 1, all below NONE; GC roots are among them.
 *   A2  numbers begin with 1 and rise in the order of visits: a parent in the search has the smaller number, and no
 * node is numbered twice. A3  a stack or queue has the room for what is put there before it is put; a queue's room is a
 * power of two. A4  a range of targets or of numbers lies inside all of them, and the room that was made suffices for
 * it. A5  a list of predecessors takes no more than was reserved for it, one for its length and one for its number
 * among it. A6  pieces of a tape that are read at once fit the buffer they are read into.
 */
#ifndef HDX_ALGO_ALGO_H
#define HDX_ALGO_ALGO_H

#include "algo/packed.h"
#include "base/base.h"

#define HDX_NONE_32 UINT32_MAX
#define HDX_NONE_64 UINT64_MAX

/*
 * What one step writes down, front to back, and another reads again in pieces: a file in a build, memory in a test.
 * What a step holds decides how large a dump fits, and a depth-first search alone is twice an id per node. Calls give
 * HDX_OK or the error that ends the work.
 */
typedef struct hdx_tape {
    void *context;
    hdx_code (*write)(void *context, const void *bytes, uint64_t len, hdx_error *err); /* after what was written */
    hdx_code (*read)(void *context, uint64_t offset, void *to, uint64_t len, hdx_error *err);
    void (*cut)(void *context, uint64_t end); /* nobody reads at `end` or after it any more; NULL: nothing to gain */
} hdx_tape;

/* Records of who refers to a node, for nodes with more than one referrer, in chunks that are read one by one, by any
 * thread:
 *
 *     distance of the node from the one before, less 1 (from the chunk's first node, at first) * number of referrers *
 *     first referrer as its zigzag distance from the node * distance of each further one from the one before, less 1
 *
 * as packed numbers (packed.h). */
typedef struct hdx_referrers {
    void    *context;
    uint64_t chunks, longest; /* bytes of the longest chunk */
    uint64_t entries;         /* referrers and records, together */
    /* fills `to`, which has room for longest + HDX_PACKED_SLACK; *node: the chunk's first node */
    hdx_code (*read)(void *context, uint64_t chunk, uint8_t *to, uint64_t *len, uint64_t *node, hdx_error *err);
} hdx_referrers;

/* A tape of predecessors and how many ids are on it; 0: the tape is not asked. */
typedef struct hdx_preds {
    const hdx_tape *tape;
    uint64_t        count;
} hdx_preds;

/* The nodes of a class, ascending; from one thread. */
typedef struct hdx_members {
    void *context;
    uint64_t (*count)(void *context, uint32_t class_number);
    hdx_code (*read)(void *context, uint32_t class_number, uint64_t first, uint32_t n, uint64_t *nodes,
                     hdx_error *err); /* n at most 256 */
} hdx_members;

#define HDX_ALGO_DECLARE(NID, S)                                                                                       \
    typedef struct hdx_digraph##S { /* everything borrowed */                                                          \
        const hdx_packed *outbound; /* targets without the class object, each list ascending, no target twice */       \
        uint32_t          classes;                                                                                     \
        const NID        *class_object; /* class number -> node of the class object; NONE where there is none */       \
        const NID        *roots;        /* GC roots in root order, each once */                                        \
        uint64_t          root_count;                                                                                  \
    } hdx_digraph##S;                                                                                                  \
    typedef struct hdx_visit##S {                                                                                      \
        NID node, parent;                                                                                              \
    } hdx_visit##S; /* of number i at (i - 1) * sizeof; parent: a number, 0: a root */                                 \
    typedef struct hdx_semi##S {                                                                                       \
        NID number, value;                                                                                             \
    } hdx_semi##S;                                                                                                     \
    typedef struct hdx_ranked##S { /* a bit set with ranks */                                                          \
        uint64_t *words;                                                                                               \
        NID      *before; /* members in the words before each */                                                       \
        uint64_t  count;                                                                                               \
    } hdx_ranked##S;                                                                                                   \
    /* How often each target of from .. end - 1 occurs that is in `many` (nodes with more than one referrer, ranked):  \
       count, by rank from that of `from` on, grows by it. `sources`: whose lists are read; NULL: all. Several workers \
       may do so, each with its own sources and counts. */                                                             \
    hdx_code hdx_transpose_count##S(const hdx_packed *outbound, const hdx_packed_walk *sources,                        \
                                    const hdx_ranked##S *many, uint64_t from, uint64_t end, hdx_mem *mem,              \
                                    hdx_ticker *tick, NID *count, hdx_error *err);                                     \
    /* The other half: the referrer of each target of from .. end - 1 that has one, into only[target - from] (NULL:    \
       nowhere; of those with many it is any); of those with many at to[cursor[rank]] (afterwards: where their lists   \
       end), sources ascending. */                                                                                     \
    hdx_code hdx_transpose_place##S(const hdx_packed *outbound, const hdx_packed_walk *sources,                        \
                                    const hdx_ranked##S *many, uint64_t from, uint64_t end, hdx_mem *mem,              \
                                    hdx_ticker *tick, NID *only, NID *cursor, NID *to, hdx_error *err);                \
    /* before and count of words over n nodes; before is got from mem, hdx_bits_words(n) entries */                    \
    hdx_code hdx_rank##S(hdx_ranked##S *set, uint64_t n, hdx_mem *mem, hdx_error *err);                                \
    /* push all children with their parent's number, number a node when popped: a true depth-first order; class edges  \
     * included. */                                                                                                    \
    /* Numbers run 1 .. reached; live: bit set over nodes from mem, the reached ones; edges: of their lists together   \
     */                                                                                                                \
    hdx_code hdx_depth_first##S(const hdx_digraph##S *g, const hdx_tape *tape, hdx_mem *mem, hdx_ticker *tick,         \
                                uint64_t *reached, uint64_t *edges, uint64_t **live, hdx_error *err);                  \
    /* The tape read back: number[node] (0: not reached) or node[number] ([0]: NONE); nodes and reached + 1 entries    \
     * from mem */                                                                                                     \
    hdx_code hdx_numbers##S(const hdx_tape *tape, uint64_t reached, uint64_t nodes, unsigned threads, hdx_mem *mem,    \
                            NID **number, hdx_error *err);                                                             \
    hdx_code hdx_nodes##S(const hdx_tape *tape, uint64_t reached, hdx_mem *mem, NID **node, hdx_error *err);           \
    /* Predecessors in preorder numbers, by rising number w, onto the tape `out`: those above w, the least of those    \
       below it (if any), how many these are, w. Of nodes with more than one referrer, but for GC roots (is_root). At  \
       most about `room` bytes are held; *count: NIDs on the tape */                                                   \
    hdx_code hdx_predecessors##S(const NID *number, uint64_t reached, const uint64_t *is_root,                         \
                                 const hdx_referrers *referrers, uint64_t room, unsigned threads, hdx_mem *mem,        \
                                 hdx_ticker *tick, const hdx_tape *out, uint64_t *count, hdx_error *err);              \
    /* The same of class objects: their instances, which refer to them besides */                                      \
    hdx_code hdx_instances##S(const hdx_digraph##S *g, const NID *number, const uint64_t *is_root,                     \
                              const hdx_members *members, hdx_mem *mem, hdx_ticker *tick, const hdx_tape *out,         \
                              uint64_t *count, hdx_error *err);                                                        \
    /* First half of Semi-NCA: semidominators that are not the parent in the search, by falling number, onto the tape  \
     * `semis`; *count of them. */                                                                                     \
    /* Both tapes of predecessors; a node may be on either, on both or on none */                                      \
    hdx_code hdx_semidominators##S(const hdx_tape *search, uint64_t reached, const hdx_preds *predecessors,            \
                                   const hdx_preds *instances, hdx_mem *mem, hdx_ticker *tick, const hdx_tape *semis,  \
                                   uint64_t *count, hdx_error *err);                                                   \
    /* Second half: number of the immediate dominator (0: the virtual root) where it is not the parent in the search,  \
     * by rising number, onto the */                                                                                   \
    /* tape `idoms`: as many as semidominators, of the same numbers */                                                 \
    hdx_code hdx_dominators##S(const hdx_tape *search, uint64_t reached, const hdx_tape *semis, uint64_t semi_count,   \
                               hdx_mem *mem, hdx_ticker *tick, const hdx_tape *idoms, hdx_error *err);                 \
    /* Those of all numbers out of both tapes, some thousands at a time: idom[0] is that of number first + 1. From the \
     * greatest down if wanted. */                                                                                     \
    typedef hdx_code hdx_take_idoms##S(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err);    \
    hdx_code hdx_each_idom##S(const hdx_tape *search, uint64_t reached, const hdx_tape *idoms, uint64_t idom_count,    \
                              bool down, hdx_mem *mem, hdx_take_idoms##S *take, void *context, hdx_error *err);        \
    /* retained[number] += of everything dominated; on entry the shallow sizes; [0] becomes the total. `narrow`:       \
     * uint32_t, else uint64_t */                                                                                      \
    hdx_code hdx_retained##S(const hdx_tape *search, uint64_t reached, const hdx_tape *idoms, uint64_t idom_count,     \
                             hdx_mem *mem, void *retained, bool narrow, hdx_error *err);                               \
    /* breadth first from the roots in their order, references in list order, the class last; plain queue. For each    \
     * member of `keep`, by */                                                                                         \
    /* rank: the node it was reached from on a path of least length; the node itself for a root; NONE where not        \
     * reached */                                                                                                      \
    hdx_code hdx_nearest##S(const hdx_digraph##S *g, const hdx_ranked##S *keep, hdx_mem *mem, hdx_ticker *tick,        \
                            NID *parent, hdx_error *err);

/* Rank of a member, or of where it would stand. */
#define HDX_RANK(set, i)                                                                                               \
    ((set)->before[(i) >> 6] + (uint64_t)__builtin_popcountll((set)->words[(i) >> 6] & ((1ull << ((i)&63)) - 1)))

HDX_ALGO_DECLARE(uint32_t, _32)
HDX_ALGO_DECLARE(uint64_t, _64)

#endif
