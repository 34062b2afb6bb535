/*
 * class_paths.h - the dominator tree merged by class path: all objects of one class whose chains of dominators have the
 * same classes are one node. So the children of a node are the classes of the objects that its objects immediately
 * dominate. Packages or class loaders may take the place of classes.
 *
 *   class_paths.c        finds the nodes and counts their objects
 *   class_paths_cut.c    adds up what they retain, and keeps the nodes that retain enough, in order
 *   class_paths_saved.c  the result for the whole heap, saved next to the index
 */
#ifndef HDX_QUERY_HOLDING_CLASS_PATHS_H
#define HDX_QUERY_HOLDING_CLASS_PATHS_H

#include "base/list.h"
#include "base/map.h"
#include "query/query.h"

/*
 * Number of levels with nodes of their own. Objects further down, as in a long linked list, are nodes by class on the
 * level below, so that all sums stay exact.
 */
#define HDX_CLASS_PATH_LEVELS 1000u
#define HDX_CLASS_PATH_TOP    UINT32_MAX /* in place of a node: the virtual root, or the object that was asked for */

#define HDX_CLASS_NODES_MOST (1u << 22)

/* A node before anything is cut. A node comes after the one above it. */
typedef struct hdx_class_path {
    uint32_t above; /* index of a node, or HDX_CLASS_PATH_TOP */
    uint32_t key;   /* number of a class; of those with one package or loader, the first */
    uint32_t level; /* from 1 */
    uint64_t objects, shallow;
} hdx_class_path;

typedef struct hdx_class_paths {
    HDX_LIST(hdx_class_path) nodes;
    uint32_t                *key_of; /* the key of each class */
    uint32_t                 classes;
    hdx_by                   by; /* HDX_BY_CLASS, HDX_BY_PACKAGE, HDX_BY_LOADER */
    hdx_mem                 *mem;
} hdx_class_paths;

/* Finds the nodes below `of`, or in the whole heap (HDX_VIRTUAL_ROOT). The caller closes them, on failure, too. */
hdx_code hdx_class_paths_open(hdx_ask *ask, hdx_by by, hdx_id of, hdx_class_paths *out, hdx_error *err);
void     hdx_class_paths_close(hdx_class_paths *p);

/* A node that was kept, with the sum of the children that were not: retained = shallow + children + rest_retained. */
typedef struct hdx_class_node {
    uint32_t above, key;                  /* as of hdx_class_path */
    uint32_t level;                       /* from 1 */
    uint32_t rest_nodes;                  /* children that were cut */
    uint64_t objects, shallow;            /* reversed: those of the objects whose chain of dominators ends here */
    uint64_t retained;                    /* reversed: bytes of the objects at the start of the chain */
    uint64_t rest_objects, rest_retained; /* of the children that were cut */
} hdx_class_node;

typedef struct hdx_class_tree {
    HDX_LIST(hdx_class_node) nodes; /* each directly before its children; these by falling retained size */
    hdx_class_node           top;   /* its sums: the whole */
    uint64_t                 least; /* nodes that retain less were cut */
} hdx_class_tree;

/*
 * Keeps the nodes that retain `least` bytes or more; `least` rises until there are at most `most` nodes. reverse: a
 * node of the first level is the class of objects, and its children are the classes of their immediate dominators.
 */
hdx_code hdx_class_tree_of(const hdx_class_paths *p, bool reverse, uint64_t least, uint64_t most, hdx_ask *ask,
                           hdx_class_tree *out, hdx_error *err);
/* Cuts a tree again, with a higher least size. */
hdx_code hdx_class_tree_cut(hdx_class_tree *tree, uint64_t least, hdx_mem *mem, hdx_error *err);
void     hdx_class_tree_free(hdx_class_tree *tree, hdx_mem *mem);

/*
 * The tree of the whole heap with nodes of `least` bytes or more: the saved one, if it has all of these; otherwise it
 * is computed and, if possible, saved.
 */
hdx_code hdx_class_tree_of_heap(hdx_ask *ask, hdx_by by, bool reverse, uint64_t least, hdx_class_tree *out,
                                hdx_error *err);
/* Computes all saved trees again; HDX_DAMAGED: one of them differs. */
hdx_code hdx_class_trees_verify(const hdx_query *q, hdx_error *err);

#endif
