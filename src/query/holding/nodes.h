/*
 * nodes.h - the live heap as few nodes, for searches that are done again and again.
 *
 * A node is an object (its head) and what only leads on from there: all that the head dominates, but for what belongs
 * to a node below. Whoever comes to a head comes to the whole node, and nobody comes to another of its objects but
 * through the head. So a search over nodes reaches what a search over objects does, whatever references of sources it
 * leaves out.
 */
#ifndef HDX_QUERY_NODES_H
#define HDX_QUERY_NODES_H

#include "query/query.h"

#define HDX_NO_NODE UINT32_MAX

typedef struct hdx_nodes {
    hdx_ask        *ask;
    uint64_t        objects;
    const uint64_t *sources; /* bit set: objects whose references may be left out, the caller's */
    uint64_t       *heads;   /* bit set */
    uint32_t       *of;      /* of each object; HDX_NO_NODE: garbage */
    hdx_ids         at;      /* head of each node */
    uint64_t       *nested;  /* bit set of nodes: the head is dominated by an object */
    uint64_t        nested_words;
    uint64_t       *bytes; /* shallow sizes of the objects of each node */
    uint64_t       *first; /* of its references to other nodes, and one more; sources have none here */
    uint32_t       *to;
} hdx_nodes;

/*
 * `sources`: a bit for each object; it outlives the nodes. Each of them is a node of its own, and so is what it refers
 * to: a search reads their references from the graph and picks those that hold. What the nodes hold is given back with
 * the scope of the question's memory.
 */
hdx_code hdx_nodes_open(hdx_ask *ask, const uint64_t *sources, hdx_nodes *n, hdx_error *err);

#endif
