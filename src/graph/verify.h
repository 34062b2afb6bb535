/*
 * verify.h - shared by verify.c, which reads files completely and compares them, and verify_tree.c, which checks the
 * trees over live objects.
 */
#ifndef HDX_GRAPH_VERIFY_H
#define HDX_GRAPH_VERIFY_H

#include "graph/inside.h"

typedef struct hdx_verifier {
    hdx_graph             *g;
    const hdx_class_table *t;
    uint64_t              *live; /* bit set over ids */
    uint64_t               key;  /* of the list that is being visited */
    hdx_id class;                /* verify.c: class object of that key's object */
    uint64_t     out_sum, in_sum, references, dominated;
    uint64_t     cut_sum, cut_by_sum, cuts; /* of a view */
    hdx_cut_list cut;                       /* of that key */
    hdx_amounts  amounts;                   /* numbers of keys of files */
    hdx_error   *err;
} hdx_verifier;

/* Reports an invariant that is violated: HDX_DAMAGED. */
#define HDX_WRONG(v, where, ...) hdx_fail((v)->err, HDX_DAMAGED, where, HDX_NOWHERE, __VA_ARGS__)

/*
 * Checks dominators: they are a tree, every edge of the heap stays inside of the subtree of its target's dominator, and
 * retained sizes are sums.
 */
hdx_code hdx_verify_dominators(hdx_verifier *v);
/* Checks nearest parents: they are a tree over references of the heap, and no reference is a shorter path. */
hdx_code hdx_verify_nearest(hdx_verifier *v);

#endif
