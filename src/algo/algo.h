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

#define HDX_ALGO_DECLARE(NID, S)                                                                                                  \
    typedef struct hdx_lists##S { /* 1-to-N: the list of i is to[at[i]] .. to[at[i + 1] - 1]; n + 1 entries in at */                 \
        uint64_t n;                                                                                                               \
        NID     *at;                                                                                                              \
        NID     *to;                                                                                                              \
    } hdx_lists##S;                                                                                                               \
    typedef struct hdx_digraph##S {      /* everything borrowed */                                                                \
        uint64_t        nodes;                                                                                                    \
        hdx_lists##S    outbound;        /* without the class; each list ascending, no target twice */                            \
        const uint32_t *class_of;        /* node -> class number */                                                               \
        uint32_t        classes;                                                                                                  \
        const NID      *class_object;    /* class number -> node of the class object; NONE where there is none */                 \
        const NID      *roots;           /* GC roots in root order, each once */                                                  \
        uint64_t        root_count;                                                                                               \
        const uint64_t *is_root;         /* bit set over nodes */                                                                 \
        hdx_lists##S    inbound;         /* transposed outbound, lists ascending; needed by dominators only */                    \
        hdx_lists##S    instances;       /* class number -> nodes of that class, ascending; needed by dominators only */          \
    } hdx_digraph##S;                                                                                                             \
    typedef struct hdx_search##S { /* a depth-first search from the virtual root, which is number 0 */                            \
        uint64_t reached; /* nodes numbered, the virtual root not counted: numbers run 1 .. reached */                            \
        NID     *number;  /* node -> preorder number; 0: not reached. nodes entries */                                            \
        NID     *node;    /* number -> node; reached + 1 entries ([0] unused, NONE) */                                            \
        NID     *parent;  /* number -> number of the parent in the search tree; [0] unused */                                     \
        uint64_t capacity;/* entries allocated for node and parent */                                                             \
    } hdx_search##S;                                                                                                              \
    /* counting sort; inbound->at and ->to are got from mem (n + 1 and outbound's length entries); threads may share the work */  \
    hdx_code hdx_transpose##S(const hdx_lists##S *outbound, unsigned threads, hdx_mem *mem, hdx_lists##S *inbound, hdx_error *err); \
    /* nodes by class, ascending */                                                                                               \
    hdx_code hdx_group##S(const uint32_t *class_of, uint64_t nodes, uint32_t classes, hdx_mem *mem, hdx_lists##S *out, hdx_error *err); \
    void hdx_lists_free##S(hdx_lists##S *lists, hdx_mem *mem);                                                                    \
    /* push all children with their parent's number, number a node when popped: a true depth-first order; class edges included */ \
    hdx_code hdx_depth_first##S(const hdx_digraph##S *g, hdx_mem *mem, hdx_ticker *tick, hdx_search##S *out, hdx_error *err);     \
    void hdx_search_free##S(hdx_search##S *search, uint64_t nodes, hdx_mem *mem);                                                 \
    /* Semi-NCA over inbound; idom[number] = number of the immediate dominator (0: the virtual root); reached + 1 entries from mem */ \
    hdx_code hdx_dominators##S(const hdx_digraph##S *g, const hdx_search##S *search, hdx_mem *mem, hdx_ticker *tick, NID **idom,  \
                               hdx_error *err);                                                                                   \
    /* retained[number] += of everything dominated; on entry the shallow sizes; [0] becomes the total */                          \
    void hdx_retained##S(const NID *idom, uint64_t reached, uint64_t *retained);                                                  \
    /* breadth first from the roots in their order, references in list order, the class last; plain queue: parent[node] = the node it */ \
    /* was reached from on a path of least length; the node itself for a root; NONE where not reached. parent: nodes entries */   \
    hdx_code hdx_nearest##S(const hdx_digraph##S *g, hdx_mem *mem, hdx_ticker *tick, NID *parent, hdx_error *err);

HDX_ALGO_DECLARE(uint32_t, _32)
HDX_ALGO_DECLARE(uint64_t, _64)

#endif
