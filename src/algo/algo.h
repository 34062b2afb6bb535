/*
 * algo.h - searches, transposition, dominators and sums over plain ids. Knows no Java beyond "every node has a class, and a
 * class may be a node itself", no files, no memory of its own beyond the hdx_mem it is given. Iterative everywhere.
 *
 * Every function exists twice from one template: hdx_..._32 (nodes and references fit 32 bits) and hdx_..._64. Code that is itself a
 * template includes "algo/width.h" and says NID and WIDE(name).
 *
 * The graph (MAT 3.1, 6.1): a virtual root above all GC roots; node -> the targets of its list; node -> the class object of its
 * class. A GC root's only predecessor is the virtual root.
 */
#ifndef HDX_ALGO_ALGO_H
#define HDX_ALGO_ALGO_H

#include "base/base.h"

#define HDX_NONE_32 UINT32_MAX
#define HDX_NONE_64 UINT64_MAX

/*
 * Where a search is written down, front to back, and read again in pieces: a file in a build, memory in a test. A depth-first search is
 * twice an id per node, too much to keep beside the lists it came from. Calls give HDX_OK or the error that ends the work.
 */
typedef struct hdx_tape {
    void *context;
    hdx_code (*write)(void *context, const void *bytes, uint64_t len, hdx_error *err);              /* behind what was written */
    hdx_code (*read)(void *context, uint64_t offset, void *to, uint64_t len, hdx_error *err);
} hdx_tape;

#define HDX_ALGO_DECLARE(NID, S)                                                                                                  \
    typedef struct hdx_lists##S { /* 1-to-N: the list of i is to[at[i]] .. to[at[i + 1] - 1]; n + 1 entries in at */                 \
        uint64_t n;                                                                                                               \
        NID     *at;                                                                                                              \
        NID     *to;                                                                                                              \
    } hdx_lists##S;                                                                                                               \
    typedef struct hdx_digraph##S {      /* everything borrowed */                                                                \
        uint64_t        nodes;                                                                                                    \
        hdx_lists##S    outbound;        /* without the class; each list ascending, no target twice; for searches */              \
        const uint32_t *class_of;        /* node -> class number; for searches */                                                 \
        uint32_t        classes;                                                                                                  \
        const NID      *class_object;    /* class number -> node of the class object; NONE where there is none */                 \
        const NID      *roots;           /* GC roots in root order, each once */                                                  \
        uint64_t        root_count;                                                                                               \
        hdx_lists##S    inbound;         /* transposed outbound, lists ascending; for dominators */                               \
        hdx_lists##S    instances;       /* class number -> nodes of that class; for dominators, and only of classes whose object */ \
                                         /* is reached and no root: the lists of others may be empty */                           \
    } hdx_digraph##S;                                                                                                             \
    typedef struct hdx_visit##S { NID node, parent; } hdx_visit##S; /* of number i at (i - 1) * sizeof; parent: a number, 0: a root */ \
    typedef struct hdx_ranked##S { /* a bit set with ranks */                                                                      \
        uint64_t *words;                                                                                                          \
        NID      *before; /* members in the words before each */                                                                  \
        uint64_t  count;                                                                                                          \
    } hdx_ranked##S;                                                                                                              \
    /* counting sort; inbound->at and ->to are got from mem (n + 1 and outbound's length entries); threads may share the work */  \
    hdx_code hdx_transpose##S(const hdx_lists##S *outbound, unsigned threads, hdx_mem *mem, hdx_lists##S *inbound, hdx_error *err); \
    /* nodes by class, ascending */                                                                                               \
    hdx_code hdx_group##S(const uint32_t *class_of, uint64_t nodes, uint32_t classes, hdx_mem *mem, hdx_lists##S *out, hdx_error *err); \
    void hdx_lists_free##S(hdx_lists##S *lists, hdx_mem *mem);                                                                    \
    /* before and count of words over n nodes; before is got from mem, hdx_bits_words(n) entries */                               \
    hdx_code hdx_rank##S(hdx_ranked##S *set, uint64_t n, hdx_mem *mem, hdx_error *err);                                            \
    /* push all children with their parent's number, number a node when popped: a true depth-first order; class edges included. */ \
    /* Numbers run 1 .. reached; live: bit set over nodes from mem, the reached ones */                                           \
    hdx_code hdx_depth_first##S(const hdx_digraph##S *g, const hdx_tape *tape, hdx_mem *mem, hdx_ticker *tick, uint64_t *reached, \
                                uint64_t **live, hdx_error *err);                                                                 \
    /* The tape read back: number[node] (0: not reached) or node[number] ([0]: NONE); nodes and reached + 1 entries from mem */   \
    hdx_code hdx_numbers##S(const hdx_tape *tape, uint64_t reached, uint64_t nodes, hdx_mem *mem, NID **number, hdx_error *err);  \
    hdx_code hdx_nodes##S(const hdx_tape *tape, uint64_t reached, hdx_mem *mem, NID **node, hdx_error *err);                      \
    /* Semi-NCA over inbound; idom[number] = number of the immediate dominator (0: the virtual root); reached + 1 entries from mem */ \
    hdx_code hdx_dominators##S(const hdx_digraph##S *g, const NID *number, uint64_t reached, const hdx_tape *tape, hdx_mem *mem,  \
                               hdx_ticker *tick, NID **idom, hdx_error *err);                                                     \
    /* retained[number] += of everything dominated; on entry the shallow sizes; [0] becomes the total */                          \
    void hdx_retained##S(const NID *idom, uint64_t reached, uint64_t *retained);                                                  \
    /* breadth first from the roots in their order, references in list order, the class last; plain queue. For each member of `keep`, by */ \
    /* rank: the node it was reached from on a path of least length; the node itself for a root; NONE where not reached */        \
    hdx_code hdx_nearest##S(const hdx_digraph##S *g, const hdx_ranked##S *keep, hdx_mem *mem, hdx_ticker *tick, NID *parent, hdx_error *err);

/* Rank of a member, or of where it would stand. */
#define HDX_RANK(set, i) ((set)->before[(i) >> 6] + (uint64_t)__builtin_popcountll((set)->words[(i) >> 6] & ((1ull << ((i) & 63)) - 1)))

HDX_ALGO_DECLARE(uint32_t, _32)
HDX_ALGO_DECLARE(uint64_t, _64)

#endif
