/*
 * nodes.h - condenses the live heap to few nodes, for searches that are repeated many times.
 *
 * A node is an object (its head) and what can only be reached through it: all that the head dominates, except for what
 * belongs to a node below. A search that reaches a head reaches the whole node, and it reaches the other objects of the
 * node only through the head. A search over nodes therefore reaches the same objects as one over objects, whichever
 * references of sources it ignores.
 */
#ifndef HDX_QUERY_NODES_H
#define HDX_QUERY_NODES_H

#include "query/query.h"

#define HDX_NO_NODE UINT32_MAX

typedef struct hdx_nodes {
    hdx_ask        *ask;
    uint64_t        objects;
    const uint64_t *sources; /* bit set: objects whose references may be ignored; owned by the caller */
    uint64_t       *heads;   /* bit set */
    uint32_t       *of;      /* node of each object; HDX_NO_NODE: garbage */
    hdx_ids         at;      /* head of each node */
    uint64_t       *nested;  /* bit set of nodes: an object dominates the head */
    uint64_t        nested_words;
    uint64_t       *bytes; /* shallow size of the objects of each node */
    /* index of the first reference to another node, and one more entry; sources have none here */
    uint64_t *first;
    uint32_t *to;
} hdx_nodes;

/*
 * Computes the nodes. `sources`: one bit for each object. Each of them is a node of its own, and so is each object to
 * which it refers: a search reads their references from the graph and selects those that apply. The memory is freed
 * with the scope of the question. REQUIRES: `sources` outlives the nodes.
 */
hdx_code hdx_nodes_open(hdx_ask *ask, const uint64_t *sources, hdx_nodes *n, hdx_error *err);

#endif
