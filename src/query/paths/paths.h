/* paths.h - paths from the GC roots, one by one and as one tree. */
#ifndef HDX_QUERY_PATHS_PATHS_H
#define HDX_QUERY_PATHS_PATHS_H

#include "query/query.h"
#include "query/sets/exclude.h"

typedef struct hdx_path {
    hdx_id   target;
    uint64_t first, count; /* its steps in hdx_paths.steps, from the root to the target; count 0: not reachable */
} hdx_path;
typedef struct hdx_paths {
    hdx_ids   steps;
    hdx_path *at;
    uint64_t  count, capacity;
} hdx_paths;
/* Shortest paths from the GC roots to each target, up to `paths` for one, shortest first. */
hdx_code hdx_paths_find(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count, unsigned paths,
                        hdx_paths *out, hdx_error *err);
/*
 * Of the paths of each target one that says why the program holds the object comes first, where it is as short or
 * longer by at most two references (prefer.c); if it was not among them it takes the place of the last. Bounded work.
 */
hdx_code hdx_paths_prefer(hdx_ask *ask, const hdx_excludes *x, unsigned paths, hdx_paths *out, hdx_error *err);
/* Paths that are one tree: each object stands in it once (or, of paths found one by one, once behind each parent). */
#define HDX_TREE_NONE UINT64_MAX
typedef struct hdx_path_tree_node {
    hdx_id   id;
    uint64_t parent; /* place; HDX_TREE_NONE: a GC root */
} hdx_path_tree_node;
typedef struct hdx_path_tree {
    hdx_path_tree_node *at; /* in no order */
    uint64_t            count, capacity;
    uint64_t           *ends; /* place of each target; HDX_TREE_NONE: no root reaches it */
    size_t              end_count;
    hdx_mem            *mem;
} hdx_path_tree;
/* One shortest path for each target, chosen so that together they are the tree of MAT 6.9. */
hdx_code hdx_path_tree_find(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count,
                            hdx_path_tree *out, hdx_error *err);
/* The same without a search: those whose path in the index uses an excluded reference have no end. */
hdx_code hdx_path_tree_climb(hdx_ask *ask, const hdx_excludes *x, const hdx_id *targets, size_t count,
                             hdx_path_tree *out, hdx_error *err);
/* Its paths one by one, in the order of the targets. */
hdx_code hdx_path_tree_paths(hdx_ask *ask, const hdx_path_tree *t, const hdx_id *targets, hdx_paths *out,
                             hdx_error *err);
/* The tree of paths that were found one by one: an object may stand in it behind several others. */
hdx_code hdx_path_tree_of(hdx_ask *ask, const hdx_paths *paths, hdx_path_tree *out, hdx_error *err);
void     hdx_path_tree_drop(hdx_path_tree *t);
/* The tree by class and reference, a row a line (merged.c); repeats: an object may stand in it several times. */
enum { HDX_MERGED_COLUMNS = 9, HDX_MERGED_LABEL = 4 };
extern const hdx_column hdx_merged_columns[HDX_MERGED_COLUMNS];
hdx_code hdx_merged_fill(hdx_ask *ask, const hdx_excludes *x, const hdx_path_tree *t, bool repeats, hdx_table *out,
                         hdx_error *err);
/*
 * A path is written step by step after the ones before, and reversed if it was written from the target to the root.
 */
hdx_code hdx_path_begin(hdx_paths *p, hdx_id target, hdx_error *err);
hdx_code hdx_path_step(hdx_paths *p, hdx_id id, hdx_error *err);
void     hdx_path_reverse(hdx_paths *p);
void     hdx_paths_drop(hdx_paths *p);
/* The documents of all of them, as the question `path` has them; what they point to is in the arena. */
hdx_code hdx_paths_cells(hdx_ask *ask, const hdx_excludes *x, const hdx_paths *paths, hdx_arena *arena, hdx_cell *out,
                         hdx_error *err);

/* What it has: as hdx_column.members of a list or an object. */
#define HDX_PATH_MEMBERS 7u
extern const hdx_column hdx_path_members[HDX_PATH_MEMBERS];

/* ---- the question, with its options as a structure ---- */
hdx_code hdx_query_path(const hdx_query *q, const hdx_id *ids, size_t count, const hdx_path_options *options,
                        hdx_rows **out, hdx_error *err);

#endif
