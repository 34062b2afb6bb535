/*
 * query.h - what all questions share. One file answers one question (questions.h lists them). All read the heap through
 * heapdex/graph.h only and answer through rows/rows.h.
 *
 * Folders, each of which may include those before it (rooms.cmake):
 *
 *   common       running a question, cells, names of objects and classes, labels, fields, contents of collections;
 *                listing, grouped, beside, sweep, columns: the parts of a question
 *   sets         which objects the user selects: by name, class and conditions on fields; references that are excluded
 *   paths        from GC roots to objects, one by one and as one tree
 *   runtime      threads, class loaders, references of java.lang.ref, open files, memory outside of the heap
 *   histogram    by class, and retained sizes of many sets of classes at once
 *   holding      what keeps objects alive: dominators, holders, what would be free
 *   suspects     of a leak, in sentences
 *   texts        Strings and arrays: equal ones, wasteful ones, large ones
 *   collections  their sizes, entries and keys
 *
 * Questions about single objects or the whole heap, tables and views are in this folder itself.
 *
 * A stream of rows contains an hdx_ask: a copy of the caller's query and a counter of rounds, so that every loop
 * regularly checks for cancellation. REQUIRES: the progress to which the query points outlives the rows. Labels are
 * read from the dump, so they are computed in `next`, for rows that are returned only.
 *
 * Invariants
 *   1. There is no recursion over the heap, and no allocation has a size that was not counted in the index first.
 *   2. Every answer ends with hdx_graph_check: a damaged page is an error, never just a wrong row.
 *   3. Loops that follow ids stop after as many steps as there are objects, because a damaged index may contain a
 *      cycle.
 */
#ifndef HDX_QUERY_QUERY_H
#define HDX_QUERY_QUERY_H

#include "base/base.h"
#include "model/model.h"
#include "rows/arguments.h"
#include "rows/rows.h"
#include <heapdex/graph.h>
#include <heapdex/progress.h>

/* Parameters of all questions: the heap, which objects rows and counts include, and cancellation. */
typedef struct hdx_query {
    hdx_graph          *graph;
    hdx_refs_scope      scope;    /* HDX_LIVE by default */
    unsigned            threads;  /* 0: one per processor */
    const hdx_progress *progress; /* may be NULL */
    /* length of texts in rows: HDX_CUT by default; conditions on a truncated text see the truncated text */
    hdx_whole whole;
    /* a collection without a label gets "(size 17)" as its label, unless a condition or the order uses labels */
    bool sizes;
    /* Receives remarks on the question for people, one line per call; may be NULL. */
    void (*notice)(void *context, const char *line);
    void      *notice_context;
    hdx_wanted wanted; /* columns and bounds (rows.h); the texts of bounds are only read while the question is opened */
    /*
     * Conditions on fields of the selected objects, "size > 100", ".name ~ ^x" (as in hdx_rows_where): for `objects`,
     * `path`, `retained` and `immediate_dominators`.
     */
    const char *const *fields;
    size_t             field_count;
    hdx_mem           *mem; /* memory account, for example of a session (answer.h); NULL: not accounted */
} hdx_query;

/*
 * Fills the column `label` for the rows that remain after where, sort and limit, if they were computed without it.
 * all_at_once: for every row before the first is returned (up to 4 million at a time), because a condition or the order
 * uses labels. Replaces *rows as shaping does (rows.h).
 */
hdx_code hdx_query_labels(const hdx_query *q, bool all_at_once, hdx_rows **rows, hdx_error *err);
/*
 * In the same way fills the column `field`, CLASS#FIELD: the field that refers to the object in the column `reference`,
 * or `key`, or `address`, whichever exists first.
 */
hdx_code hdx_query_fields(const hdx_query *q, hdx_rows **rows, hdx_error *err);

typedef enum hdx_by {
    HDX_BY_NONE,
    HDX_BY_CLASS,
    HDX_BY_PACKAGE,
    HDX_BY_LOADER,
    HDX_BY_SUPERCLASS,
    HDX_BY_HEAP,
    HDX_BY_OBJECT,
    HDX_BY_TYPE,
    HDX_BY_OWNER,
    HDX_BY_ORIGIN
} hdx_by;

/*
 * Resolves objects as named on the command line: 0x7f3a10, #1234, com.acme.Cache@0x7f3a10, class:com.acme.Cache,
 * thread:main. *ids belongs to the caller (hdx_ids_free, not free); it is in the order of the names, each id once.
 * Returns HDX_NOT_FOUND with the first name that does not exist.
 */
hdx_code hdx_query_objects_named(const hdx_query *q, const char *const *names, size_t count, hdx_id **ids,
                                 size_t *id_count, hdx_error *err);
void     hdx_ids_free(hdx_id *ids);
/*
 * Resolves a class pattern (an exact name, a glob with * and ?, /regex/) to class numbers, on request with subclasses.
 * A name that no class has may be that of one class without its package; `notice` then reports it. Returns
 * HDX_NOT_FOUND if no class matches, with the nearest name as hint, or some candidates if several classes have that
 * name without their packages. *numbers belongs to the caller (hdx_numbers_free).
 */
hdx_code hdx_query_classes_named(const hdx_query *q, const char *pattern, bool subclasses, uint32_t **numbers,
                                 size_t *count, hdx_error *err);
void     hdx_numbers_free(uint32_t *numbers);

typedef struct hdx_ask {
    hdx_query  q;
    hdx_graph *g;
    uint64_t   rounds;
} hdx_ask;

/* ---- running a question ---- */
/*
 * Starts a question. Fails for an index without dominators, because live objects and retained sizes are unknown there.
 */
hdx_code hdx_ask_begin(const hdx_query *q, hdx_ask *out, hdx_error *err);
/* Checks for cancellation in every 256th call. Call it once per row or object. */
hdx_code hdx_ask_check_cancel(hdx_ask *a, hdx_error *err);
hdx_code hdx_ask_stopped(const hdx_query *q, hdx_error *err); /* checks now */
unsigned hdx_ask_threads(const hdx_query *q);
hdx_code hdx_ask_end(hdx_ask *a, bool *more, hdx_error *err); /* sets *more to false, and checks invariant 2 */
/* Reports an impossible value: HDX_DAMAGED, with the error of hdx_graph_check, or with these words if it has none. */
hdx_code           hdx_ask_unsound(hdx_ask *a, const char *where, const char *what, hdx_error *err);
static inline bool hdx_ask_wants(const hdx_ask *a, hdx_id id)
{
    return a->q.scope == HDX_ALL || hdx_graph_live(a->g, id) == (a->q.scope == HDX_LIVE);
}

/* ---- cells ---- */
hdx_cell hdx_class_cell(hdx_graph *g, uint32_t number); /* its name; null for HDX_NO_CLASS */
/* Determines the kind of the reference from one object to another without reading the dump. */
hdx_code hdx_reference_kind(hdx_graph *g, hdx_id from, hdx_id to, hdx_ref_kind *out, hdx_error *err);
hdx_cell hdx_class_of_cell(hdx_graph *g, hdx_id id);
hdx_cell hdx_id_cell(const hdx_graph *g, hdx_id id);       /* its address; null for HDX_NO_ID */
hdx_cell hdx_retained_cell(const hdx_graph *g, hdx_id id); /* null for garbage */
/* Return whether a column was named by the caller, whether it is wanted, and its first bound or NULL. */
bool             hdx_column_named(const hdx_query *q, unsigned column);
bool             hdx_column_wanted(const hdx_query *q, unsigned column);
const hdx_bound *hdx_column_bound(const hdx_query *q, unsigned column);
hdx_cell         hdx_value_cell(hdx_arena *arena, const hdx_value *value); /* references are addresses, 0 is null */
hdx_cell         hdx_text_cell(hdx_arena *arena, hdx_text text);           /* a copy */
/*
 * Returns the distinct types of an object's roots, in the order of hdx_root_type; those of locals only if `locals` is
 * set.
 */
hdx_code hdx_root_types_cell(hdx_graph *g, hdx_id id, bool locals, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/* Returns the descriptions of a list of these types, in the same order (hdx_root_type_description). */
hdx_code hdx_root_descriptions_cell(hdx_arena *arena, const hdx_cell *types, hdx_cell *out, hdx_error *err);

/*
 * Sets the reason why rows are empty, as the last step of creating them. `code` is the result of the steps before. The
 * format is that of printf and may not contain text of the dump. On failure the rows are closed and *rows is NULL.
 */
hdx_code hdx_rows_explain_empty(hdx_code code, hdx_rows **rows, hdx_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- lists of ids or class numbers that a caller frees with hdx_ids_free, hdx_numbers_free ---- */
void *hdx_listed_get(hdx_mem *mem, uint64_t count, uint64_t size); /* count * size bytes, zeroed; NULL: refused */

/* ---- a growing list of ids ---- */
typedef struct hdx_ids {
    hdx_id  *at;
    uint64_t count, capacity;
    hdx_mem *mem;
} hdx_ids;
static inline hdx_ids hdx_ids_of(hdx_mem *mem) { return (hdx_ids){ .mem = mem }; }
hdx_code              hdx_ids_push(hdx_ids *ids, hdx_id id, hdx_error *err);
void                  hdx_ids_drop(hdx_ids *ids);

/* ---- classes ---- */
bool     hdx_is_of_jdk(hdx_text class_name);  /* java.* javax.* com.sun.* sun.* jdk.*: rarely the cause (MAT 7.7) */
hdx_text hdx_package_of(hdx_text class_name); /* "java.util"; for arrays that of their elements; "(default package)" */
/* Same as hdx_query_classes_named for any table of classes; the numbers are indexes in it. */
hdx_code hdx_classes_named(const hdx_class *classes, uint32_t count, const char *pattern, bool subclasses,
                           const hdx_progress *progress, hdx_mem *mem, uint32_t **numbers, size_t *out_count,
                           hdx_error *err);

/* Returns the live instances of a class and its subclasses in ascending order; none if the dump has no such class. */
hdx_code hdx_instances_below(hdx_ask *ask, const char *class_name, hdx_ids *out, hdx_error *err);
/*
 * Returns the live instances of java.lang.Thread and its subclasses, and the objects of THREAD_OBJ roots, in ascending
 * order.
 */
hdx_code hdx_threads_of(hdx_ask *ask, hdx_ids *out, hdx_error *err);

/* ---- declarations of questions (questions.h lists them) ---- */
typedef struct hdx_listing hdx_listing; /* common/listing.h */
typedef struct hdx_question {
    hdx_answer         declared;
    const hdx_listing *listing; /* the question is a list; NULL: `open` computes the rows */
    bool               saved;   /* slow: its answers are saved next to the index (saved_answers.h) */
    hdx_code (*open)(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err);
} hdx_question;
/*
 * Opens a question with a scope of memory (base/mem.h) in place of q->mem: what the question does not free is freed
 * when the rows are closed, or when it fails. Functions that other code calls, such as hdx_query_NAME, free everything
 * themselves, because their q->mem need not be a scope.
 */
hdx_code hdx_question_open(const hdx_question *question, const hdx_query *q, const hdx_arguments *a, hdx_rows **out,
                           hdx_error *err);
/* A parameter of several questions. */
#define HDX_PARAMETER_OF_CLASS(flags, sentence)                                                                        \
    {                                                                                                                  \
        "class", HDX_PARAMETER_CLASSES, flags, "PATTERN", NULL, NULL, NULL, NULL, 0, 0, sentence                       \
    }
/* Resolves the parameter `object`; the caller frees *ids with hdx_ids_free. */
hdx_code hdx_argument_objects(const hdx_query *q, const hdx_arguments *a, hdx_id **ids, size_t *count, hdx_error *err);
/* Same for exactly one object. Returns HDX_USAGE if the name matches several, as class:X may. */
hdx_code hdx_argument_object(const hdx_query *q, const hdx_arguments *a, hdx_id *id, hdx_error *err);

#endif
