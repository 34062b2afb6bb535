/*
 * wide.h - the functions of this room, for the width at hand (width.h). For files named *_wide.c; included once for
 * each width.
 *
 * `with` is what a function works with (hdx_resources); what it is given is const, and what it leaves comes last,
 * before `err`.
 */
#include "algo/algo.h"
#include "algo/width.h"

/* The graph of algo.h; everything is borrowed. */
typedef struct WIDE(hdx_digraph) {
    const hdx_packed *outbound; /* targets without the class object, each list ascending, no target twice */
    uint32_t          classes;
    const NID        *class_object; /* class number -> node of the class object; NONE where there is none */
    const NID        *roots;        /* GC roots in root order, each once */
    uint64_t          root_count;
} WIDE(hdx_digraph);

/* On the tape of a search, number i at (i - 1) * sizeof. */
typedef struct WIDE(hdx_visit) {
    NID node;
    NID parent; /* its number; 0: a root */
} WIDE(hdx_visit);

/* A semidominator or an immediate dominator that is not the parent in the search. */
typedef struct WIDE(hdx_semi) {
    NID number;
    NID value; /* a number, too; 0: the virtual root */
} WIDE(hdx_semi);

/* What a search has numbered. */
typedef struct WIDE(hdx_numbering) {
    const NID      *number; /* by node; 0: not reached */
    uint64_t        reached;
    const uint64_t *is_root; /* bit set over nodes */
} WIDE(hdx_numbering);

/* A bit set with ranks (HDX_RANK). */
typedef struct WIDE(hdx_ranked) {
    uint64_t *words;
    NID      *before; /* members in the words before each */
    uint64_t  count;
} WIDE(hdx_ranked);

/* Fills before and count of a set over n nodes, from its words; before, hdx_bits_words(n) entries, is got from mem. */
hdx_code WIDE(hdx_rank)(WIDE(hdx_ranked) *set, uint64_t n, hdx_mem *mem, hdx_error *err);

/* ---- transposing (transpose_wide.c) ---- */

/* The targets from .. end - 1. Several workers may be at them, each with its own sources and counts. */
typedef struct WIDE(hdx_transpose_in) {
    const hdx_packed       *outbound;
    const hdx_packed_walk  *sources; /* whose lists are read; NULL: all */
    const WIDE(hdx_ranked) *many;    /* nodes with more than one referrer */
    uint64_t                from, end;
} WIDE(hdx_transpose_in);

/* How often each target occurs that is in `many`: count, by rank from that of `from` on, grows by it. */
hdx_code WIDE(hdx_transpose_count)(const WIDE(hdx_transpose_in) *in, const hdx_resources *with, NID *count,
                                   hdx_error *err);

/* Where referrers are placed; those of a target with many ascend. */
typedef struct WIDE(hdx_transposed) {
    NID *only;   /* by target - from: its one referrer, of those with many any; NULL: not wanted */
    NID *cursor; /* by rank: where the list begins in `to`; afterwards, where it ends */
    NID *to;     /* the lists of those with many */
} WIDE(hdx_transposed);

/* The referrers of each target; those that have none stay as they are. */
hdx_code WIDE(hdx_transpose_place)(const WIDE(hdx_transpose_in) *in, const hdx_resources *with,
                                   const WIDE(hdx_transposed) *out, hdx_error *err);

/* ---- depth-first search (depth_first_wide.c) ---- */

/*
 * Pushes all children with their parent's number and numbers a node when it is popped: a true depth-first order, class
 * edges included. Visits go onto the tape.
 */
hdx_code WIDE(hdx_depth_first)(const WIDE(hdx_digraph) *g, const hdx_resources *with, const hdx_tape *visits,
                               hdx_reached *out, hdx_error *err);

/* The tape read back, number[node]: so many entries from mem, 0 where a node was not reached. */
hdx_code WIDE(hdx_numbers)(const hdx_taped *visits, uint64_t nodes, const hdx_resources *with, NID **number,
                           hdx_error *err);

/* The same as node[number], [0] being NONE: one entry more than visits, from mem. */
hdx_code WIDE(hdx_nodes)(const hdx_taped *visits, hdx_mem *mem, NID **node, hdx_error *err);

/* ---- predecessors in the search (predecessors_wide.c) ---- */

/*
 * Predecessors of nodes with more than one referrer, but for GC roots, onto the tape of `out`, by rising number w: the
 * numbers above w, the least of those below it (if any), how many these are, w. At most about `room` bytes are held.
 */
hdx_code WIDE(hdx_predecessors)(const WIDE(hdx_numbering) *numbered, const hdx_referrers *referrers, uint64_t room,
                                const hdx_resources *with, hdx_taped *out, hdx_error *err);

/* The same of class objects: their instances, which refer to them besides. */
hdx_code WIDE(hdx_class_predecessors)(const WIDE(hdx_digraph) *g, const WIDE(hdx_numbering) *numbered,
                                      const hdx_class_instances *instances, const hdx_resources *with, hdx_taped *out,
                                      hdx_error *err);

/* ---- dominators and sums (dominators_wide.c) ---- */

/*
 * First half of Semi-NCA: semidominators that are not the parent in the search, onto the tape of `semis`, by falling
 * number.
 */
hdx_code WIDE(hdx_semidominators)(const hdx_taped *visits, const hdx_preds *predecessors, const hdx_resources *with,
                                  hdx_taped *semis, hdx_error *err);

/*
 * Second half: immediate dominators that are not the parent in the search, onto the tape `exceptions`, by rising
 * number: as many as semidominators, of the same numbers.
 */
hdx_code WIDE(hdx_dominators)(const hdx_taped *visits, const hdx_taped *semis, const hdx_resources *with,
                              const hdx_tape *exceptions, hdx_error *err);

/* Takes n dominators: idom[0] is that of number first + 1. */
typedef hdx_code WIDE(hdx_take_idoms)(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err);

/* Hands out the dominators of all numbers, some thousands at a time; `down`: from the greatest number to the least. */
hdx_code WIDE(hdx_each_idom)(const hdx_idoms *idoms, bool down, hdx_mem *mem, WIDE(hdx_take_idoms) *take, void *context,
                             hdx_error *err);

/* Adds to each sum those of everything dominated: shallow sizes become retained ones, and [0] becomes the total. */
hdx_code WIDE(hdx_retained)(const hdx_idoms *idoms, hdx_mem *mem, const hdx_sums *sums, hdx_error *err);

/* ---- breadth-first search (nearest_wide.c) ---- */

/*
 * Breadth first from the roots in their order, references in list order, the class last. parent, by rank, of each
 * member of `keep`: the node it was reached from on a path of least length; itself for a root; NONE where it was not
 * reached.
 */
hdx_code WIDE(hdx_nearest)(const WIDE(hdx_digraph) *g, const WIDE(hdx_ranked) *keep, const hdx_resources *with,
                           NID *parent, hdx_error *err);
