/*
 * query.h - the questions: what the room's files share. One file answers one question (include/heapdex/query.h has
 * their list); all see the heap through heapdex/graph.h alone and answer through rows/rows.h.
 *
 *   names.c      objects and classes as a user names them
 *   mark.c       what stays reachable when objects are taken away
 *   gone.c       what does not, by class
 *   tops.c       what groups of objects keep alive
 *   members.c    sets of objects as a caller describes them; sieve.c   conditions on their fields
 *   exclude.c    references a path must not use; cut_fields.c   the same of all instances of a class (cut_fields.h)
 *   hidden_names.c   names of classes made at run time
 *   groups.c     retained sets of many groups of classes at once
 *   kept.c       those of all classes, kept beside the index
 *   views.c      what a view of the index leaves out
 *   merge.c      the tree of the paths of many objects
 *   merged.c     the rows of that tree
 *   flow.c       through whom each object is held
 *   labels.c     the column `label`, for the rows that are left
 *   nodes.c      the heap as few nodes, for searches done again and again
 *   questions.h  the questions, each in the file of its name; table.c has whole tables
 *   fields.c     fields of one object by name
 *   held_in.c    the field that holds an object, in words
 *   strength.c                             how strongly objects are held (strength.h)
 *   thread_facts.c thread_pools.c          what fields of threads say; threads with like names
 *   content.c    what one object holds, as a file of its own
 *   accumulation.c suspect_words.c         of suspects: where it accumulates and what; in words (suspects.h)
 *   sizes_said.c                           sizes of collections, as labels
 *   layouts.c layouts_known.c contents.c   where collections keep what they hold, and what that is
 *   collection_holders.c map_keys.c        what holds them; keys that many maps have
 *   array_contents.c equal.c equal_holders.c sums.c   which contents are equal, and who has them
 *
 * A stream of rows keeps an hdx_ask: a copy of the caller's query (the progress it points to must outlive the rows) and
 * a count of rounds, so that every loop asks now and then whether to stop. Labels are read from the dump, so they are
 * made in `next`, for rows that go out only.
 *
 * Invariants
 *   1. No recursion over heap shapes, and nothing is allocated for a count that was not counted in the index first.
 *   2. Every answer ends with hdx_graph_check: a damaged page is an error, never a wrong row without one.
 *   3. Loops that follow one id to the next stop after as many steps as there are objects: a damaged index may hold a
 *      ring.
 */
#ifndef HDX_QUERY_QUERY_H
#define HDX_QUERY_QUERY_H

#include "base/base.h"
#include "model/model.h"
#include "rows/arguments.h"
#include "rows/rows.h"
#include <heapdex/query.h>

typedef struct hdx_ask {
    hdx_query  q;
    hdx_graph *g;
    uint64_t   rounds;
} hdx_ask;

/* ---- asking ---- */
/* Refuses an index that stops before the dominators: live and retained are not known there. */
hdx_code hdx_ask_begin(const hdx_query *q, hdx_ask *out, hdx_error *err);
/* Once per row or object: every 256th round asks whether the caller wants to stop. */
hdx_code hdx_ask_turn(hdx_ask *a, hdx_error *err);
hdx_code hdx_ask_stopped(const hdx_query *q, hdx_error *err); /* asks now */
unsigned hdx_ask_threads(const hdx_query *q);
hdx_code hdx_ask_end(hdx_ask *a, bool *more, hdx_error *err); /* *more = false, and invariant 2 */
/* What cannot be has been seen: HDX_DAMAGED, with what hdx_graph_check knows of it, or else these words. */
hdx_code           hdx_ask_unsound(hdx_ask *a, const char *where, const char *what, hdx_error *err);
static inline bool hdx_ask_wants(const hdx_ask *a, hdx_id id)
{
    return a->q.scope == HDX_ALL || hdx_graph_live(a->g, id) == (a->q.scope == HDX_LIVE);
}

/* ---- cells ---- */
hdx_cell hdx_class_cell(hdx_graph *g, uint32_t number); /* its name; null for HDX_NO_CLASS */
/* What kind of reference leads from one object to the other, told without the dump. */
hdx_code hdx_reference_kind(hdx_graph *g, hdx_id from, hdx_id to, hdx_ref_kind *out, hdx_error *err);
hdx_cell hdx_class_of_cell(hdx_graph *g, hdx_id id);
hdx_cell hdx_id_cell(const hdx_graph *g, hdx_id id);       /* its address; null for HDX_NO_ID */
hdx_cell hdx_retained_cell(const hdx_graph *g, hdx_id id); /* null for garbage */
/* A class loader in words: boot loader, java.net.URLClassLoader "plugin-13"; without a name its address. */
hdx_code hdx_loader_cell(const hdx_query *q, hdx_addr address, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* All live class loaders, by id (loaders.c). */
typedef struct hdx_loader {
    hdx_id   id;
    hdx_addr address;
    hdx_id   module;                      /* the first named one it defines, in the order of ids; HDX_NO_ID */
    uint64_t classes, instances, shallow; /* live classes it defined, their live instances, and the size of these */
} hdx_loader;
typedef struct hdx_loaders {
    hdx_loader *at;
    uint64_t    count, capacity;
} hdx_loaders;
hdx_code    hdx_loaders_list(hdx_ask *ask, hdx_loaders *all, hdx_error *err); /* to be dropped on failure, too */
void        hdx_loaders_drop(hdx_loaders *all, hdx_mem *mem);
hdx_loader *hdx_loaders_find(const hdx_loaders *all, hdx_id id); /* NULL: it is none of them */
/* What it is called: its label, name, first URL or first module; null: nothing. */
hdx_code hdx_loader_name_cell(const hdx_query *q, const hdx_loader *l, hdx_arena *arena, hdx_cell *out, hdx_error *err);
hdx_code hdx_loader_parent_cell(hdx_graph *g, hdx_id id, hdx_cell *out, hdx_error *err);
/* MAT's, for class objects "class NAME"; null: none, or the dump is not at hand. As whole as the query says. */
hdx_code hdx_label_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* Of an object whose label has a text that was cut: all of it, as the query says. */
hdx_code hdx_label_whole(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* "(size 17)" in place of the label of a collection; nothing for others. *out is to be closed on failure, too. */
typedef struct hdx_sizes hdx_sizes;
hdx_code                 hdx_sizes_open(const hdx_query *q, hdx_sizes **out, hdx_error *err);
hdx_code                 hdx_sizes_say(hdx_sizes *s, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);
void                     hdx_sizes_close(hdx_sizes *s);
/* A label from the text that the graph gave, which is used up: MAT's, for class objects "class NAME". */
hdx_code hdx_label_of_text(hdx_graph *g, hdx_id id, char *text, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/*
 * Not at hand is one thing, and no error; a dump that is no longer what it was when it was indexed is one. `mine` says
 * of it.
 */
hdx_code hdx_label_without_dump(hdx_graph *g, hdx_code code, const hdx_error *mine, hdx_error *err);
/* Is the column wanted, the first bound of it or NULL. */
bool             hdx_column_named(const hdx_query *q, unsigned column);
bool             hdx_column_wanted(const hdx_query *q, unsigned column);
const hdx_bound *hdx_column_bound(const hdx_query *q, unsigned column);
/* Rows whose labels are made together; more than these by all threads, and that is shown. */
#define HDX_LABELS_MANY    16384u
#define HDX_LABELS_AT_ONCE (4u << 20) /* where every row needs one before any is given out: some 500 MB */
hdx_cell hdx_value_cell(hdx_arena *arena, const hdx_value *value); /* references are addresses, 0 is null */
hdx_cell hdx_text_cell(hdx_arena *arena, hdx_text text);           /* a copy */
/* The distinct types among roots of an object, in the order of hdx_root_type; locals of threads only if asked for. */
hdx_code hdx_root_types_cell(hdx_graph *g, hdx_id id, bool locals, hdx_arena *arena, hdx_cell *out, hdx_error *err);

/*
 * One more step in making rows: why there are none. A format of printf, without text out of the dump. On failure they
 * are closed and *rows is NULL; code: of the steps before.
 */
hdx_code hdx_say_nothing(hdx_code code, hdx_rows **rows, hdx_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- lists of ids or class numbers that are handed out: given back by hdx_ids_free, hdx_numbers_free ---- */
void *hdx_listed_get(hdx_mem *mem, uint64_t count, uint64_t size); /* count * size bytes, zero; NULL: refused */

/* ---- ids that grow ---- */
typedef struct hdx_ids {
    hdx_id  *at;
    uint64_t count, capacity;
    hdx_mem *mem;
} hdx_ids;
static inline hdx_ids hdx_ids_of(hdx_mem *mem) { return (hdx_ids){ .mem = mem }; }
hdx_code              hdx_ids_push(hdx_ids *ids, hdx_id id, hdx_error *err);
void                  hdx_ids_drop(hdx_ids *ids);

/* ---- classes ---- */
hdx_text hdx_package_of(hdx_text class_name); /* "java.util"; arrays: of their elements; "(default package)" */
/* hdx_query_classes_named over any table of classes; the numbers are places in it. */
hdx_code hdx_classes_named(const hdx_class *classes, uint32_t count, const char *pattern, bool subclasses,
                           const hdx_progress *progress, hdx_mem *mem, uint32_t **numbers, size_t *out_count,
                           hdx_error *err);

/* The name that a class made at run time shares with others of its kind (hidden_names.c); false: it is none of these.
 */
bool hdx_hidden_name(hdx_text name, hdx_buffer *out);
/*
 * By which a class of one heap is that of another: its name, or what is left of it without what differs from run to
 * run. In `scratch`, or `name` itself; scratch->failed: no memory.
 */
hdx_text hdx_class_key(hdx_text name, hdx_buffer *scratch);

/* ---- sets (bit sets over ids) ---- */
/*
 * Marks what the GC roots reach without entering `without` (MAT 6.4); `seen` holds hdx_graph_objects bits, all zero; on
 * return bits of `without` are clear in it. Both are borrowed.
 */
hdx_code hdx_mark(const hdx_query *q, const uint64_t *without, uint64_t *seen, hdx_error *err);
/* hdx_query_retained_set of the objects in `set`. */
hdx_code hdx_retained_bits(const hdx_query *q, const uint64_t *set, uint64_t *gone, hdx_error *err);
typedef struct hdx_marking {  /* all borrowed */
    const uint64_t *without;  /* NULL: none */
    unsigned        no_roots; /* bit t: of that hdx_root_type there are none */
    /* Of these `leave` says what they refer to: `reach` for each, as long as that is HDX_OK. Many threads; NULL: none.
     */
    const uint64_t *asked;
    hdx_code (*leave)(void *context, hdx_id from, hdx_code (*reach)(void *reached, hdx_id to), void *reached,
                      hdx_error *err);
    void *context;
} hdx_marking;
hdx_code hdx_mark_as(const hdx_query *q, const hdx_marking *how, uint64_t *seen, hdx_error *err);

/* ---- what would be free, by class (gone.c) ---- */
typedef struct hdx_gone_sum {
    uint32_t number;
    uint64_t objects, shallow;
} hdx_gone_sum;
typedef struct hdx_gone {
    hdx_gone_sum *at; /* by class number */
    uint32_t      classes;
    uint64_t      objects, bytes;
    hdx_mem      *mem;
} hdx_gone;
enum { HDX_GONE_COLUMNS = 3 };
extern const hdx_column hdx_gone_columns[HDX_GONE_COLUMNS];
extern const hdx_column hdx_gone_document[1];
hdx_code                hdx_gone_open(hdx_ask *ask, hdx_gone *out, hdx_error *err); /* closed on failure, too */
void                    hdx_gone_close(hdx_gone *s);
void                    hdx_gone_add(hdx_gone *s, uint32_t number, uint64_t shallow);
hdx_code hdx_gone_unreached(hdx_ask *ask, const hdx_marking *how, hdx_gone *s, hdx_error *err);       /* live ones */
hdx_code hdx_gone_rows(hdx_ask *ask, hdx_gone *s, const char *title, hdx_rows **out, hdx_error *err); /* uses it up */

/* ---- sets that a caller describes (members.c), conditions on fields (sieve.c) ---- */
typedef struct hdx_sieve hdx_sieve;
/* From hdx_query.fields, copied; *out NULL: there are none. */
hdx_code hdx_sieve_open(const hdx_query *q, hdx_sieve **out, hdx_error *err);
void     hdx_sieve_close(hdx_sieve *s); /* NULL: nothing */
/* Each class that the objects may have; then whether one of them has every field: HDX_NOT_FOUND. */
void     hdx_sieve_class(hdx_sieve *s, uint32_t number);
hdx_code hdx_sieve_check(hdx_sieve *s, const hdx_column *columns, unsigned column_count, hdx_error *err);
/* Do its fields meet all conditions? s NULL: yes. */
hdx_code hdx_sieve_keeps(hdx_sieve *s, hdx_id id, bool *yes, hdx_error *err);

typedef struct hdx_set { /* all borrowed */
    const hdx_id      *ids;
    size_t             id_count;
    const char *const *patterns; /* live instances of the classes of these */
    size_t             pattern_count;
    bool               subclasses;
    const hdx_column  *columns; /* of the answer, for who misspelt one */
    unsigned           column_count;
} hdx_set;
typedef struct hdx_members {
    uint64_t *bits; /* those whose fields meet the conditions of the query */
    uint64_t  words;
    uint64_t  described, named, live; /* before the conditions; objects of the set; of these, live ones */
    hdx_id    one;                    /* of the live ones the last */
    hdx_mem  *mem;
} hdx_members;
hdx_code hdx_members_open(hdx_ask *ask, const hdx_set *set, hdx_members *out,
                          hdx_error *err); /* closed on failure, too */
void     hdx_members_close(hdx_members *m);
/* The arguments `object`, `class`, `subclasses` of a question as a set; closed in any case. */
typedef struct hdx_given_set {
    hdx_set   set;
    hdx_arena arena;
    hdx_id   *ids;
} hdx_given_set;
hdx_code hdx_given_set_open(const hdx_query *q, const hdx_arguments *a, hdx_given_set *out, hdx_error *err);
void     hdx_given_set_close(hdx_given_set *s);
/*
 * What groups of objects keep alive: retained[second of a pair] grows by the retained sizes of the objects (first,
 * rising, each once) that are not below another of their group in the dominator tree (MAT 6.6).
 */
hdx_code hdx_groups_retained(hdx_ask *ask, const hdx_pair *members, uint64_t count, uint64_t groups, uint64_t *retained,
                             hdx_error *err);
#define HDX_NONE_MEETS "no object of the set meets the conditions on fields"
/* Why a set has no live members, for hdx_say_nothing. */
const char *hdx_members_nothing(const hdx_members *m, const hdx_set *set);

/*
 * Retained sizes of many sets of classes (MAT 6.5): set k holds the class objects and all live instances of each of its
 * classes, and the objects named beside. Sets of a class c: set[at[c]] .. set[at[c + 1] - 1]; a class may be in
 * several.
 */
typedef struct hdx_class_sets {
    uint32_t        count; /* sets */
    uint32_t        classes;
    const uint32_t *at; /* classes + 1 entries */
    const uint32_t *set;
    uint32_t        more_count; /* objects that belong to a set beside its classes: loaders */
    const hdx_id   *more;       /* any order */
    const uint32_t *more_set;
    uint64_t        room; /* entries of the working tables; 0: as many as are good (tests make it small) */
} hdx_class_sets;
hdx_by hdx_histogram_by(const hdx_arguments *a);
/* Are retained sizes asked for, by the flag or by the column's name; can they be? */
bool hdx_histogram_retains(const hdx_query *q, const hdx_arguments *a);
/* hdx_query_histogram_of that counts what it holds. */
hdx_code hdx_histogram_of(hdx_mem *mem, const hdx_class *classes, uint32_t count, const hdx_arguments *a,
                          hdx_rows **out, hdx_error *err);
hdx_code hdx_histogram_check(const hdx_query *q, const hdx_arguments *a, hdx_error *err);
/*
 * What was computed before, at the numbers of classes that stand for a group; hdx_mem_array(mem, classes, 8); NULL: no
 * memory. Keeping it fails in silence.
 */
#define HDX_KEPT_UNKNOWN UINT64_MAX
uint64_t *hdx_kept_retained(hdx_mem *mem, hdx_graph *g, hdx_by by, uint32_t classes);
hdx_code  hdx_query_kept_verify(const hdx_query *q, hdx_error *err); /* asks anew; HDX_DAMAGED: they differ */
void      hdx_keep_retained(hdx_mem *mem, hdx_graph *g, hdx_by by, const uint64_t *bytes, uint32_t classes);
hdx_code  hdx_class_sets_retained(const hdx_query *q, const hdx_class_sets *sets, uint64_t *bytes, hdx_error *err);

/* ---- who holds what (flow.c) ---- */
typedef enum hdx_holder_kind { HDX_HOLDER_NONE, HDX_HOLDER_STATIC, HDX_HOLDER_THREAD, HDX_HOLDER_ROOT } hdx_holder_kind;
typedef struct hdx_holder {
    hdx_holder_kind kind;
    bool            removed; /* the next search goes on without it */
    hdx_id          from;    /* the class object, the thread, the root */
    hdx_id          to;      /* what a static field refers to; HDX_NO_ID */
    uint64_t        bytes;   /* of the objects that the last search came to by it first */
} hdx_holder;
typedef struct hdx_flow hdx_flow;
hdx_code    hdx_flow_open(hdx_ask *ask, hdx_flow **out, hdx_error *err); /* *out is to be closed on failure, too */
void        hdx_flow_close(hdx_flow *f);
hdx_holder *hdx_flow_holders(hdx_flow *f, uint64_t *count); /* the flow's; the first is none */
/* A search from the GC roots without the holders that are removed: what it reaches. */
hdx_code hdx_flow_run(hdx_flow *f, uint64_t *bytes, hdx_error *err);
bool     hdx_flow_reached(const hdx_flow *f, hdx_id id); /* by the last search */
/*
 * After such a search, with at most 32 holders removed and these named, whose classes and threads it reached: the
 * objects that it did not reach, by which of them lead there. No more than `most` sums, or HDX_LIMIT.
 */
typedef struct hdx_flow_sum {
    uint32_t bits; /* bit i: holders[i] leads there */
    uint64_t objects, bytes;
} hdx_flow_sum;
hdx_code hdx_flow_split(hdx_flow *f, const uint64_t *holders, uint32_t count, hdx_flow_sum *sums, uint64_t most,
                        uint64_t *used, hdx_error *err);

/* ---- excluded references ---- */
#define HDX_RULES_MAX 64u
typedef struct hdx_excludes {
    hdx_graph  *g;
    hdx_mem    *mem;
    uint32_t    classes;
    uint64_t   *of_class; /* class number -> rules for its instances and for its class object */
    unsigned    count;
    char       *field[HDX_RULES_MAX]; /* malloc'ed glob over names of references */
    const char *own[HDX_RULES_MAX]; /* NULL, or the class whose own field is meant: none that a class below declares */
} hdx_excludes;
/* Of HDX_EXCLUDE_..., for suspects (MAT 7.5): every referent of java.lang.ref, and the chain of finalizers. */
#define HDX_EXCLUDE_REFERENTS 256u
/* Has the class itself a field or static of that name? Else near (may be NULL) is offered those, kept in room. */
struct hdx_nearest;
bool     hdx_has_field(const hdx_class *c, const char *name, struct hdx_nearest *near, char *room, size_t size);
hdx_code hdx_excludes_open(const hdx_query *q, const hdx_path_options *options, hdx_excludes *out, hdx_error *err);
void     hdx_excludes_close(hdx_excludes *x);
/* Rules for the references that `from` holds, a bit each: those of its class, and of the class it is (its statics). */
uint64_t hdx_excludes_rules(const hdx_excludes *x, hdx_id from);
bool     hdx_excludes_ref(const hdx_excludes *x, uint64_t rules, const hdx_named_ref *ref); /* by one of them */
/* *yes: every named reference from `from` to `to` is excluded (MAT 6.8). */
hdx_code hdx_excludes_edge(const hdx_excludes *x, hdx_id from, hdx_id to, bool *yes, hdx_error *err);
/* hdx_graph_named_refs without what is excluded. */
hdx_code hdx_excludes_visit(const hdx_excludes *x, hdx_id from, hdx_id only_target,
                            bool (*visit)(void *context, const hdx_named_ref *ref), void *context, hdx_error *err);
/* The first reference from `from` to `to` that is not excluded, in MAT's order. */
hdx_code hdx_excludes_name(const hdx_excludes *x, hdx_id from, hdx_id to, hdx_named_ref *out, bool *found,
                           hdx_error *err);

/* ---- views ---- */
#define HDX_VIEW_FIELDS 64u
typedef struct hdx_view_spec {
    char           text[HDX_VIEW_SPEC_SIZE]; /* what means the same has the same text */
    uint32_t       roots;                    /* types of roots that do not count: 1 << hdx_root_type */
    unsigned       exclude;                  /* HDX_EXCLUDE_... */
    char          *fields[HDX_VIEW_FIELDS];  /* CLASS#FIELD; point into names */
    size_t         field_count, used;
    char           names[HDX_VIEW_SPEC_SIZE];
    hdx_jvm_layout layout; /* the rules that sizes follow */
} hdx_view_spec;           /* stays where it was read */
/* "-roots:TYPE,TYPE -refs:weak,soft -field:CLASS#FIELD layout:NAME": HDX_USAGE says which word is none. */
hdx_code hdx_view_spec_read(const char *text, hdx_view_spec *out, hdx_error *err);
typedef struct hdx_view_pairs { /* source and target, sorted, each once */
    hdx_mem  *mem;
    hdx_pair *at;
    uint64_t  count, capacity;
} hdx_view_pairs;
/*
 * References between objects of the index that do not hold in such a view. HDX_BAD_DUMP where the dump is not at hand
 * and has to be asked which field holds one.
 */
hdx_code hdx_view_cuts(const hdx_query *q, const hdx_view_spec *spec, hdx_view_pairs *out, hdx_error *err);
void     hdx_view_pairs_drop(hdx_view_pairs *p);

/* ---- paths ---- */
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
#define HDX_PATH_MEMBERS 6u
extern const hdx_column hdx_path_members[HDX_PATH_MEMBERS];

/* ---- fields of one object by name (fields.c) ---- */
typedef struct hdx_fields { /* start with { 0 } and use again and again */
    hdx_graph *g;
    hdx_values v;
} hdx_fields;
/* Of an instance its fields, of a class object its statics; HDX_NO_ID, or no dump at hand: none. */
hdx_code hdx_fields_read(hdx_fields *f, hdx_graph *g, hdx_id id, hdx_error *err);
hdx_code hdx_fields_statics(hdx_fields *f, hdx_graph *g, const char *class_name, hdx_error *err);
void     hdx_fields_close(hdx_fields *f);
/* As that class declares it; class_name NULL: any, of several the topmost. NULL: it has none, or its value is absent.
 */
const hdx_value *hdx_fields_value(const hdx_fields *f, const char *class_name, const char *name);
hdx_id hdx_fields_ref(const hdx_fields *f, const char *class_name, const char *name); /* HDX_NO_ID: null or no object */
bool   hdx_fields_number(const hdx_fields *f, const char *class_name, const char *name, int64_t *out);
/* Live instances of a class and of those below it, ascending; a name that the dump does not know has none. */
hdx_code hdx_instances_below(hdx_ask *ask, const char *class_name, hdx_ids *out, hdx_error *err);

/* CLASS#FIELD that holds it, on the shortest way from a GC root (held_in.c); null: nothing does. */
hdx_code hdx_held_in_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err);

/* ---- threads ---- */
typedef struct hdx_thread_facts { /* fields of a thread object; null cells where the dump lacks them */
    hdx_cell name, daemon, priority, state, carrier, context_class_loader;
    bool     is_virtual;
} hdx_thread_facts;
typedef struct hdx_thread_reader { /* of many threads (thread_facts.c) */
    hdx_query  q;
    hdx_fields thread, holder;
    uint32_t   virtuals; /* number of the class of virtual threads; HDX_NO_CLASS: the dump knows none */
    unsigned   state_count;
    struct {
        int64_t     value; /* of VirtualThread.state, as its class names them */
        const char *state; /* as java.lang.Thread.State has it */
    } states[24];
} hdx_thread_reader;
hdx_code hdx_thread_reader_open(const hdx_query *q, hdx_thread_reader *out, hdx_error *err); /* to be closed always */
void     hdx_thread_reader_close(hdx_thread_reader *r);
bool     hdx_thread_is_virtual(const hdx_thread_reader *r, hdx_id thread);
hdx_code hdx_thread_read(hdx_thread_reader *r, hdx_id thread, hdx_arena *arena, hdx_thread_facts *out, hdx_error *err);
/* Live objects of java.lang.Thread and below it, and what THREAD_OBJ roots name: ids, ascending. */
hdx_code hdx_threads_of(hdx_ask *ask, hdx_ids *out, hdx_error *err);
/* Summed by names without their numbers (thread_pools.c). */
enum { HDX_THREAD_POOL_COLUMNS = 6 };
extern const hdx_column hdx_thread_pool_columns[HDX_THREAD_POOL_COLUMNS];
hdx_code                hdx_thread_pools(const hdx_query *q, hdx_rows **out, hdx_error *err);
typedef struct hdx_frame_local { /* a root entry that belongs to a thread */
    hdx_id  thread;
    int32_t frame;
    hdx_id  object;
} hdx_frame_local;
/* All locals by thread, frame, object, each once; from hdx_mem_array(mem, *capacity, ). */
hdx_code hdx_locals_of(hdx_mem *mem, hdx_graph *g, hdx_frame_local **out, uint64_t *count, uint64_t *capacity,
                       hdx_error *err);
uint64_t hdx_locals_first(const hdx_frame_local *locals, uint64_t count, hdx_id thread,
                          int32_t frame); /* place of the first not before */

/* ---- questions, declared (questions.h has their list) ---- */
typedef struct hdx_listing hdx_listing; /* common/listing.h */
typedef struct hdx_question {
    hdx_answer         declared;
    const hdx_listing *listing; /* it is a list; NULL: `open` opens it */
    hdx_code (*open)(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err);
} hdx_question;
hdx_code hdx_question_open(const hdx_question *question, const hdx_query *q, const hdx_arguments *a, hdx_rows **out,
                           hdx_error *err);
/* Parameters that several questions take. */
#define HDX_PARAMETER_OF_CLASS(flags, sentence)                                                                        \
    {                                                                                                                  \
        "class", HDX_PARAMETER_CLASSES, flags, "PATTERN", NULL, NULL, NULL, NULL, 0, 0, sentence                       \
    }
/* Ids of the objects that the parameter `object` names; hdx_ids_free. */
hdx_code hdx_argument_objects(const hdx_query *q, const hdx_arguments *a, hdx_id **ids, size_t *count, hdx_error *err);
/* The same where one is meant: a name such as class:X could mean several, which is HDX_USAGE. */
hdx_code hdx_argument_object(const hdx_query *q, const hdx_arguments *a, hdx_id *id, hdx_error *err);

/* ---- named references of one object, collected ---- */
typedef struct hdx_named {
    hdx_id       target; /* HDX_NO_ID: the address is no object's */
    hdx_addr     address;
    hdx_ref_kind kind;
    uint32_t     owner;
    const char  *name; /* in the arena */
} hdx_named;
typedef struct hdx_named_list {
    hdx_named *at;
    uint64_t   count, capacity;
    hdx_arena  names;
    bool       refused; /* out of memory underway */
} hdx_named_list;
/*
 * Empties the list and fills it; without only_target references to no object come last. HDX_BAD_DUMP as
 * hdx_graph_named_refs.
 */
hdx_code hdx_named_collect(hdx_named_list *list, hdx_graph *g, hdx_id id, hdx_id only_target, hdx_error *err);
void     hdx_named_drop(hdx_named_list *list);

#endif
