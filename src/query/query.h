/*
 * query.h - the questions: what all of them share. One file answers one question (questions.h has their
 * list); all see the heap through heapdex/graph.h alone and answer through rows/rows.h.
 *
 * Folders, each of which may include those before it (rooms.cmake):
 *
 *   common       asking, cells, names of objects and classes, labels, fields, contents of collections; listing,
 *                grouped, beside, sweep, columns: what a question is made of
 *   sets         which objects the user means: by name, class and conditions on fields; references that are excluded
 *   paths        from GC roots to objects, one by one and as one tree
 *   runtime      threads, class loaders, references of java.lang.ref, what is open, what lies outside of the heap
 *   histogram    by class, and retained sizes of many sets of classes at once
 *   holding      who keeps what alive: dominators, holders, what would be free
 *   suspects     of a leak, in words
 *   texts        Strings and arrays: equal ones, wasteful ones, large ones
 *   collections  their sizes, entries and keys
 *
 * Beside them lie questions on one object or the whole heap, tables and views.
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
#include <heapdex/graph.h>
#include <heapdex/progress.h>

/* Common to all: which objects rows and counts include, and how to stop. */
typedef struct hdx_query {
    hdx_graph          *graph;
    hdx_refs_scope      scope;    /* HDX_LIVE by default */
    unsigned            threads;  /* 0: as many as processors */
    const hdx_progress *progress; /* may be NULL */
    hdx_whole           whole;    /* texts in rows: HDX_CUT by default; conditions on a cut text see that */
    bool sizes; /* a collection whose label would be null has "(size 17)" there, unless labels are asked about */
    /* Receives remarks on the question for a person, one line per call; may be NULL. */
    void (*notice)(void *context, const char *line);
    void      *notice_context;
    hdx_wanted wanted; /* columns and bounds (rows.h); texts of bounds are read while the question is opened */
    /*
     * Conditions on fields of the objects that a set is described by, "size > 100", ".name ~ ^x" (as hdx_rows_where):
     * of `objects`, `path`, `retained` and `immediate_dominators`.
     */
    const char *const *fields;
    size_t             field_count;
    hdx_mem           *mem; /* a session's: what the question holds counts there (answer.h); NULL: nobody counts */
} hdx_query;

/*
 * The column `label` of rows that were made without (it was not wanted), of those that are left after where, sort and
 * limit. all_at_once: of every row before the first is given out (up to 4 million at a time), where a condition or an
 * order asks for labels. As shaping in rows.h.
 */
hdx_code hdx_query_labels(const hdx_query *q, bool all_at_once, hdx_rows **rows, hdx_error *err);
/*
 * In the same way the column `field`, CLASS#FIELD: what holds the object in the column `reference`, or `key`, or
 * `address`, the first of these that there is.
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
    HDX_BY_OWNER
} hdx_by;

/*
 * Objects named as on the command line: 0x7f3a10, #1234, com.acme.Cache@0x7f3a10, class:com.acme.Cache, thread:main.
 * *ids is the caller's (hdx_ids_free, not free); in the order named, each once. HDX_NOT_FOUND names the first that is
 * not there.
 */
hdx_code hdx_query_objects_named(const hdx_query *q, const char *const *names, size_t count, hdx_id **ids,
                                 size_t *id_count, hdx_error *err);
void     hdx_ids_free(hdx_id *ids);
/*
 * Class numbers of a pattern: exact name, glob (* and ?), /regex/; with subclasses if asked. Where no class has the
 * name, it may be that of one class without its package (`notice` is told). None: HDX_NOT_FOUND with the nearest name
 * as hint; several without their packages: with some of them.
 */
hdx_code hdx_query_classes_named(const hdx_query *q, const char *pattern, bool subclasses, uint32_t **numbers,
                                 size_t *count, hdx_error *err);
void     hdx_numbers_free(uint32_t *numbers);

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
/* Is the column wanted, the first bound of it or NULL. */
bool             hdx_column_named(const hdx_query *q, unsigned column);
bool             hdx_column_wanted(const hdx_query *q, unsigned column);
const hdx_bound *hdx_column_bound(const hdx_query *q, unsigned column);
hdx_cell         hdx_value_cell(hdx_arena *arena, const hdx_value *value); /* references are addresses, 0 is null */
hdx_cell         hdx_text_cell(hdx_arena *arena, hdx_text text);           /* a copy */
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
bool     hdx_is_of_jdk(hdx_text class_name);  /* java.* javax.* com.sun.* sun.* jdk.*: seldom at fault (MAT 7.7) */
hdx_text hdx_package_of(hdx_text class_name); /* "java.util"; arrays: of their elements; "(default package)" */
/* hdx_query_classes_named over any table of classes; the numbers are places in it. */
hdx_code hdx_classes_named(const hdx_class *classes, uint32_t count, const char *pattern, bool subclasses,
                           const hdx_progress *progress, hdx_mem *mem, uint32_t **numbers, size_t *out_count,
                           hdx_error *err);

/* Live instances of a class and of those below it, ascending; a name that the dump does not know has none. */
hdx_code hdx_instances_below(hdx_ask *ask, const char *class_name, hdx_ids *out, hdx_error *err);
/* Live objects of java.lang.Thread and below it, and what THREAD_OBJ roots name: ids, ascending. */
hdx_code hdx_threads_of(hdx_ask *ask, hdx_ids *out, hdx_error *err);

/* ---- questions, declared (questions.h has their list) ---- */
typedef struct hdx_listing hdx_listing; /* common/listing.h */
typedef struct hdx_question {
    hdx_answer         declared;
    const hdx_listing *listing; /* it is a list; NULL: `open` opens it */
    hdx_code (*open)(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err);
} hdx_question;
/*
 * The question gets a scope of memory (base/mem.h) in the place of q->mem: what it does not put there is given back
 * when the rows are closed, or when it fails. Functions that others call too, hdx_query_NAME among them, put all that
 * they got: their q->mem need not be a scope.
 */
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

#endif
