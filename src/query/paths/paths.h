/* paths.h - paths from the GC roots, one by one and as one tree. */
#ifndef HDX_QUERY_PATHS_PATHS_H
#define HDX_QUERY_PATHS_PATHS_H

#include "query/query.h"
#include "query/sets/exclude.h"

typedef struct hdx_path {
    hdx_id   target;
    uint64_t first, count; /* of its steps in hdx_paths.steps, from the root to the target; count 0: unreachable */
} hdx_path;
typedef struct hdx_paths {
    hdx_ids   steps;
    hdx_path *at;
    uint64_t  count, capacity;
} hdx_paths;
/* Finds the shortest paths from the GC roots to each target, up to `paths` for each, shortest first. */
hdx_code hdx_paths_find(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count, unsigned paths,
                        hdx_paths *out, hdx_error *err);
/*
 * Moves to the front, for each target, a path that explains why the program uses the object, if it is at most two
 * references longer than the shortest (prefer.c); if it was not among the paths, it replaces the last. The work is
 * bounded.
 */
hdx_code hdx_paths_prefer(hdx_ask *ask, const hdx_excludes *x, unsigned paths, hdx_paths *out, hdx_error *err);
/* Paths as one tree: each object is in it once (or, for paths that were found one by one, once for each parent). */
#define HDX_TREE_NONE UINT64_MAX
typedef struct hdx_path_tree_node {
    hdx_id   id;
    uint64_t parent; /* index of the parent; HDX_TREE_NONE: a GC root */
} hdx_path_tree_node;
typedef struct hdx_path_tree {
    hdx_path_tree_node *at; /* unordered */
    uint64_t            count, capacity;
    uint64_t           *ends; /* index of each target; HDX_TREE_NONE: unreachable */
    size_t              end_count;
    hdx_mem            *mem;
} hdx_path_tree;
/* Finds one shortest path for each target, such that together they form the tree of MAT 6.9. */
hdx_code hdx_path_tree_find(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count,
                            hdx_path_tree *out, hdx_error *err);
/* Same without a search, from the paths in the index; targets whose path uses an excluded reference have no end. */
hdx_code hdx_path_tree_climb(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count,
                             hdx_path_tree *out, hdx_error *err);
/* Returns the paths of the tree one by one, in the order of the targets. */
hdx_code hdx_path_tree_paths(hdx_ask *ask, const hdx_path_tree *t, const hdx_id *targets, hdx_paths *out,
                             hdx_error *err);
/* Builds a tree from paths that were found one by one: an object may have several places in it. */
hdx_code hdx_path_tree_of(hdx_ask *ask, const hdx_paths *paths, hdx_path_tree *out, hdx_error *err);
void     hdx_path_tree_drop(hdx_path_tree *t);
/*
 * Writes the tree by class and reference, one line per row (merged.c). repeats: an object may have several places in
 * it. least: branches with fewer targets share a row.
 */
enum { HDX_MERGED_COLUMNS = 10, HDX_MERGED_LABEL = 4 };
extern const hdx_column hdx_merged_columns[HDX_MERGED_COLUMNS];
hdx_code hdx_merged_fill(hdx_ask *ask, const hdx_excludes *x, const hdx_path_tree *t, bool repeats, uint64_t least,
                         hdx_table *out, hdx_error *err);
/* Appends a path step by step after the existing ones; reverse it if it was written from the target to the root. */
hdx_code hdx_path_begin(hdx_paths *p, hdx_id target, hdx_error *err);
hdx_code hdx_path_step(hdx_paths *p, hdx_id id, hdx_error *err);
void     hdx_path_reverse(hdx_paths *p);
void     hdx_paths_drop(hdx_paths *p);
/* Returns the documents of all paths, as in the question `path`; what they point to is in the arena. */
hdx_code hdx_paths_cells(hdx_ask *ask, const hdx_excludes *x, const hdx_paths *paths, hdx_arena *arena, hdx_cell *out,
                         hdx_error *err);

/* Members of such a document, for hdx_column.members of a list or an object. */
#define HDX_PATH_MEMBERS 7u
extern const hdx_column hdx_path_members[HDX_PATH_MEMBERS];

/* ---- the question, with its options as a struct ---- */
hdx_code hdx_query_path(const hdx_query *q, const hdx_id *ids, size_t count, const hdx_path_options *options,
                        hdx_rows **out, hdx_error *err);

#endif
