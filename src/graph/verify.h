/*
 * verify.h - between verify.c, which reads files whole and compares them, and verify_tree.c, which checks the trees
 * over live objects.
 */
#ifndef HDX_GRAPH_VERIFY_H
#define HDX_GRAPH_VERIFY_H

#include "graph/inside.h"

typedef struct hdx_verifier {
    hdx_graph             *g;
    const hdx_class_table *t;
    uint64_t              *live; /* bit set over ids */
    uint64_t               key;  /* of the list being visited */
    hdx_id class;                /* verify.c: class object of that key's object */
    uint64_t     out_sum, in_sum, references, dominated;
    uint64_t     cut_sum, cut_by_sum, cuts; /* of a view */
    hdx_cut_list cut;                       /* of that key */
    hdx_amounts  amounts;                   /* keys of files are counted by */
    hdx_error   *err;
} hdx_verifier;

/* What does not hold: HDX_DAMAGED. */
#define HDX_WRONG(v, where, ...) hdx_fail((v)->err, HDX_DAMAGED, where, HDX_NOWHERE, __VA_ARGS__)

/*
 * Dominators: a tree, every edge of the heap stays inside the subtree of its target's dominator, retained sizes are
 *             sums.
 */
hdx_code hdx_verify_dominators(hdx_verifier *v);
/* Nearest parents: a tree over references of the heap, and no reference is a shorter way. */
hdx_code hdx_verify_nearest(hdx_verifier *v);

#endif
