/*
 * compare.h - compares several heaps: the numbers of each class, package, loader, path in the dominator tree, path from
 * a GC root, or leak in each of them.
 *
 *     heap 1 --\                                                  /-- diff.c   two or three: what differs
 *     heap 2 ----> classes.c, dominators.c, paths.c, leaks.c --> ledger
 *     heap n --/   one after the other, each into its own column   \-- trend.c  many: what grows
 *
 * A ledger (ledger.c) identifies a thing by its name and by the thing above it, never by an address or an id: dumps of
 * one process, of two releases, or of two hosts are compared in the same way. Names are those of hdx_class_key, so that
 * things which are numbered differently in each run are one thing.
 *
 * The room `answer` opens the dumps: a graph is only needed while its heap is measured.
 *
 * Invariants
 *   1. A thing comes after the one above it: its index is larger.
 *   2. What was not found in a heap is zero; no column exceeds what its heap has.
 */
#ifndef HDX_COMPARE_COMPARE_H
#define HDX_COMPARE_COMPARE_H

#include "base/base.h"
#include "query/query.h"
#include "query/texts/sums.h"
#include "rows/arguments.h"
#include "rows/rows.h"

/* ---- ledger.c ---- */
#define HDX_LEDGER_TOP  UINT32_MAX       /* of a thing that is below no other */
#define HDX_LEDGER_NONE (UINT32_MAX - 1) /* memory was refused */

typedef struct hdx_ledger_sum {
    uint64_t objects, shallow, retained;
} hdx_ledger_sum;

typedef struct hdx_ledger_thing {
    uint32_t above; /* index of a thing, or HDX_LEDGER_TOP */
    uint32_t name;  /* index among names */
} hdx_ledger_thing;

typedef struct hdx_ledger_column { /* of one heap */
    hdx_ledger_sum *at;            /* by thing; zero from `capacity` on */
    uint64_t        capacity;
    const char     *path; /* facts about the dump for the heads of documents; texts are in the arena */
    const char     *version;
    const char    **warnings;
    uint32_t        warning_count;
    uint32_t        id_size, number;
    uint64_t        size, created_ms, objects, live_objects, live_bytes, damage;
} hdx_ledger_column;

typedef struct hdx_ledger {
    hdx_mem           *mem;
    hdx_arena          arena; /* of names and heads */
    hdx_sum_key        key;
    hdx_map            by_text; /* a sum of the text -> name */
    hdx_map            by_name; /* above and name -> thing */
    hdx_text          *names;
    uint64_t           name_count, name_capacity;
    hdx_ledger_thing  *things;
    uint64_t           count, capacity;
    const char       **labels; /* by name: an additional text; none from `label_capacity` on */
    uint64_t           label_capacity;
    hdx_ledger_column *columns;
    size_t             column_count;
} hdx_ledger;

/* Opens a ledger. The caller closes it, on failure, too. REQUIRES: mem outlives it. */
hdx_code hdx_ledger_open(hdx_mem *mem, size_t columns, hdx_ledger **out, hdx_error *err);
void     hdx_ledger_close(hdx_ledger *l); /* NULL is allowed */
/* Return indexes, new ones for unknown names or things; HDX_LEDGER_NONE: no memory. */
uint32_t hdx_ledger_name(hdx_ledger *l, hdx_text text);
uint32_t hdx_ledger_thing_of(hdx_ledger *l, uint32_t above, uint32_t name);
/* Returns the sums of a thing, which are valid until the next thing is added; NULL: no memory. */
hdx_ledger_sum *hdx_ledger_sum_of(hdx_ledger *l, size_t column, uint32_t thing);
hdx_ledger_sum  hdx_ledger_read(const hdx_ledger *l, size_t column, uint32_t thing);
/* Adds a text to a name; the first one applies. False: no memory. */
bool        hdx_ledger_label(hdx_ledger *l, uint32_t name, const char *text);
const char *hdx_ledger_label_of(const hdx_ledger *l, uint32_t thing); /* "" */
hdx_code    hdx_ledger_refused(const hdx_ledger *l, hdx_error *err);
/* Makes the key "a > b > c" of a thing and those above it. The cell points to text. False: no memory. */
bool hdx_ledger_key(const hdx_ledger *l, uint32_t thing, hdx_buffer *text, hdx_cell *out);
/* Compares two things in the order of their keys, without making the keys. */
int hdx_ledger_compare(const hdx_ledger *l, uint32_t a, uint32_t b);
/* Sets the facts about the heap of a column. */
hdx_code hdx_ledger_head(hdx_ledger *l, size_t column, const char *path, const hdx_graph_summary *of, hdx_error *err);
enum { HDX_LEDGER_HEAD_MEMBERS = 11 };
extern const hdx_column hdx_ledger_head_members[HDX_LEDGER_HEAD_MEMBERS];
/* Returns all heads as a list of such objects. */
hdx_code hdx_ledger_heads(const hdx_ledger *l, hdx_arena *arena, hdx_cell *out, hdx_error *err);

/* ---- measuring one heap into a column ---- */
typedef enum hdx_compare_by {
    HDX_COMPARE_CLASS,
    HDX_COMPARE_PACKAGE,
    HDX_COMPARE_LOADER,
    HDX_COMPARE_DOMINATOR,
    HDX_COMPARE_PATH,
    HDX_COMPARE_LEAK
} hdx_compare_by;
/* Returns the name of a class, or the one that it shares with others that are created at run time. */
uint32_t hdx_compare_class_name(hdx_ledger *l, hdx_text name, const char *before, hdx_buffer *scratch);
hdx_code hdx_compare_classes(const hdx_query *q, hdx_compare_by by, bool retained, hdx_ledger *l, size_t column,
                             hdx_error *err);
#define HDX_COMPARE_DEPTH 16u
hdx_code hdx_compare_dominators(const hdx_query *q, unsigned depth, hdx_ledger *l, size_t column, hdx_error *err);
#define HDX_COMPARE_STEPS 100u /* of a path; longer paths count for their last step */
/* Measures paths. memory: limit of the walk; 0: none. Returns HDX_BAD_DUMP without the dump. */
hdx_code hdx_compare_paths(const hdx_query *q, uint64_t memory, hdx_ledger *l, size_t column, hdx_error *err);

/* ---- declarations of answers; the room that runs them opens the dumps ---- */
extern const hdx_answer hdx_compare_diff, hdx_compare_trend;
hdx_compare_by          hdx_compare_by_of(const hdx_arguments *a); /* `by` of either */
/* Checks that the arguments are valid for this number of dumps, before an index is built. */
hdx_code hdx_compare_diff_check(const hdx_arguments *a, size_t dumps, hdx_error *err);
/* Takes ownership of the ledger, on failure, too. */
hdx_code hdx_compare_diff_rows(hdx_ledger *l, const hdx_arguments *a, const hdx_progress *progress, hdx_rows **out,
                               hdx_error *err);
hdx_code hdx_compare_trend_check(const hdx_arguments *a, size_t dumps, hdx_error *err);
bool     hdx_compare_trend_retains(const hdx_arguments *a); /* whether retained sizes are requested */
hdx_code hdx_compare_trend_rows(hdx_ledger *l, const hdx_arguments *a, hdx_rows **out, hdx_error *err);

#endif
