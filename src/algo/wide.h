/*
 * wide.h - the functions of this room, for the current width (width.h). For files named *_wide.c; included once for
 * each width.
 *
 * `with` is what a function works with (hdx_resources). Inputs are const, and results come last, before `err`.
 */
#include "algo/algo.h"
#include "algo/width.h"

/* The graph of algo.h; everything is borrowed. */
typedef struct WIDE(hdx_digraph) {
    const hdx_packed *outbound; /* targets without the class object, each list ascending without duplicates */
    uint32_t          classes;
    const NID        *class_object; /* class number -> node of the class object; NONE: there is none */
    const NID        *roots;        /* GC roots in their order, each once */
    uint64_t          root_count;
} WIDE(hdx_digraph);

/* On the tape of a search, number i is at (i - 1) * sizeof. */
typedef struct WIDE(hdx_visit) {
    NID node;
    NID parent; /* number of the parent; 0: a root */
} WIDE(hdx_visit);

/* A semidominator or an immediate dominator that is not the parent in the search. */
typedef struct WIDE(hdx_semi) {
    NID number;
    NID value; /* also a number; 0: the virtual root */
} WIDE(hdx_semi);

/* The numbers of a search. */
typedef struct WIDE(hdx_numbering) {
    const NID      *number; /* by node; 0: not reached */
    uint64_t        reached;
    const uint64_t *is_root; /* bit set over nodes */
} WIDE(hdx_numbering);

/* A bit set with ranks (HDX_RANK). */
typedef struct WIDE(hdx_ranked) {
    uint64_t *words;
    NID      *before; /* number of members in the words before each */
    uint64_t  count;
} WIDE(hdx_ranked);

/*
 * Computes before and count of a set over n nodes from its words. `before` has hdx_bits_words(n) entries and is
 * allocated from mem.
 */
hdx_code WIDE(hdx_rank)(WIDE(hdx_ranked) *set, uint64_t n, hdx_mem *mem, hdx_error *err);

/* ---- transposing (transpose_wide.c) ---- */

/* Input for the targets from .. end - 1. Several workers may process them, each with its own sources and counts. */
typedef struct WIDE(hdx_transpose_in) {
    const hdx_packed       *outbound;
    const hdx_packed_walk  *sources; /* whose lists to read; NULL: all */
    const WIDE(hdx_ranked) *many;    /* nodes with more than one referrer */
    uint64_t                from, end;
} WIDE(hdx_transpose_in);

/*
 * Adds to count the number of occurrences of each target in `many`; count is indexed by rank, starting with that of
 * `from`.
 */
hdx_code WIDE(hdx_transpose_count)(const WIDE(hdx_transpose_in) *in, const hdx_resources *with, NID *count,
                                   hdx_error *err);

/* Where referrers are stored; those of a target with several are ascending. */
typedef struct WIDE(hdx_transposed) {
    NID *only;   /* by target - from: its only referrer, or any of several; NULL: not needed */
    NID *cursor; /* by rank: beginning of the list in `to`; afterwards its end */
    NID *to;     /* the lists of targets with several referrers */
} WIDE(hdx_transposed);

/* Stores the referrers of each target; entries of targets without referrers do not change. */
hdx_code WIDE(hdx_transpose_place)(const WIDE(hdx_transpose_in) *in, const hdx_resources *with,
                                   const WIDE(hdx_transposed) *out, hdx_error *err);

/* ---- depth-first search (depth_first_wide.c) ---- */

/*
 * Pushes all children with the number of their parent, and numbers a node when it is popped: a true depth-first order,
 * including class edges. Writes the visits to the tape.
 */
hdx_code WIDE(hdx_depth_first)(const WIDE(hdx_digraph) *g, const hdx_resources *with, const hdx_tape *visits,
                               hdx_reached *out, hdx_error *err);

/* Reads the tape back as number[node]: one entry per node from mem, 0 if the node was not reached. */
hdx_code WIDE(hdx_numbers)(const hdx_taped *visits, uint64_t nodes, const hdx_resources *with, NID **number,
                           hdx_error *err);

/* Reads it back as node[number], where [0] is NONE: one entry more than visits, from mem. */
hdx_code WIDE(hdx_nodes)(const hdx_taped *visits, hdx_mem *mem, NID **node, hdx_error *err);

/* ---- predecessors in the search (predecessors_wide.c) ---- */

/*
 * Writes the predecessors of nodes with several referrers, except for GC roots, to the tape of `out`, by ascending
 * number w: the numbers above w, the least of those below it (if any), how many these are, w. Uses about `room` bytes.
 */
hdx_code WIDE(hdx_predecessors)(const WIDE(hdx_numbering) *numbered, const hdx_referrers *referrers, uint64_t room,
                                const hdx_resources *with, hdx_taped *out, hdx_error *err);

/* Same for class objects: their instances, which also refer to them. */
hdx_code WIDE(hdx_class_predecessors)(const WIDE(hdx_digraph) *g, const WIDE(hdx_numbering) *numbered,
                                      const hdx_class_instances *instances, const hdx_resources *with, hdx_taped *out,
                                      hdx_error *err);

/* ---- dominators and sums (dominators_wide.c) ---- */

/*
 * First half of Semi-NCA: writes semidominators that are not the parent in the search to the tape of `semis`, by
 * descending number.
 */
hdx_code WIDE(hdx_semidominators)(const hdx_taped *visits, const hdx_preds *predecessors, const hdx_resources *with,
                                  hdx_taped *semis, hdx_error *err);

/*
 * Second half: writes immediate dominators that are not the parent in the search to the tape `exceptions`, by ascending
 * number: as many as semidominators, for the same numbers.
 */
hdx_code WIDE(hdx_dominators)(const hdx_taped *visits, const hdx_taped *semis, const hdx_resources *with,
                              const hdx_tape *exceptions, hdx_error *err);

/* Receives n dominators: idom[0] is that of number first + 1. */
typedef hdx_code WIDE(hdx_take_idoms)(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err);

/*
 * Passes the dominators of all numbers to `take`, some thousands at a time; `down`: from the greatest number to the
 * least.
 */
hdx_code WIDE(hdx_each_idom)(const hdx_idoms *idoms, bool down, hdx_mem *mem, WIDE(hdx_take_idoms) *take, void *context,
                             hdx_error *err);

/* Adds to each sum those of everything dominated: shallow sizes become retained ones, and [0] becomes the total. */
hdx_code WIDE(hdx_retained)(const hdx_idoms *idoms, hdx_mem *mem, const hdx_sums *sums, hdx_error *err);

/* ---- breadth-first search (nearest_wide.c) ---- */

/*
 * Searches breadth first from the roots in their order; references in list order, the class last. Stores for each
 * member of `keep`, by rank, the node from which it was reached on a shortest path; the node itself for a root; NONE if
 * it was not reached.
 */
hdx_code WIDE(hdx_nearest)(const WIDE(hdx_digraph) *g, const WIDE(hdx_ranked) *keep, const hdx_resources *with,
                           NID *parent, hdx_error *err);
