/*
 * compare.h - several heaps side by side: what each class, package, loader, way down the dominator tree, path from a GC
 * root or leak has in each of them.
 *
 *     heap 1 --\                                                  /-- diff.c   two or three: what differs
 *     heap 2 ----> classes.c, dominators.c, paths.c, leaks.c --> ledger
 *     heap n --/   one after the other, each into its own column   \-- trend.c  many: what grows
 *
 * A ledger (ledger.c) knows a thing by its name and by the thing it stands below, never by an address or an id: dumps
 * of one process, of two releases of it, or of two hosts are told apart and put together in the same way. Names are
 * those of hdx_class_key, so that what is numbered anew in each run is one thing.
 *
 * Who opens the dumps is the room `answer`: a graph is only needed while its heap is measured.
 *
 * Invariants
 *   1. A thing stands after the one above it: its place is the larger one.
 *   2. What was not found in a heap is zero there; no column says more than its heap had.
 */
#ifndef HDX_COMPARE_COMPARE_H
#define HDX_COMPARE_COMPARE_H

#include "base/base.h"
#include "query/query.h"
#include "query/texts/sums.h"
#include "rows/arguments.h"
#include "rows/rows.h"

/* ---- ledger.c ---- */
#define HDX_LEDGER_TOP  UINT32_MAX       /* of a thing that stands below no other */
#define HDX_LEDGER_NONE (UINT32_MAX - 1) /* memory was refused */

typedef struct hdx_ledger_sum {
    uint64_t objects, shallow, retained;
} hdx_ledger_sum;

typedef struct hdx_ledger_thing {
    uint32_t above; /* HDX_LEDGER_TOP */
    uint32_t name;  /* place among names */
} hdx_ledger_thing;

typedef struct hdx_ledger_column { /* of one heap */
    hdx_ledger_sum *at;            /* by thing; after `capacity` all are zero */
    uint64_t        capacity;
    const char     *path; /* what the heads of documents say of the dump; texts are in the arena */
    const char     *version;
    const char    **warnings;
    uint32_t        warning_count;
    uint32_t        id_size, number;
    uint64_t        size, created_ms, objects, live_objects, live_bytes, damage;
} hdx_ledger_column;

typedef struct hdx_ledger {
    hdx_mem           *mem;
    hdx_arena          arena; /* names and heads */
    hdx_sum_key        key;
    hdx_map            by_text; /* a sum of the text -> name */
    hdx_map            by_name; /* above and name -> thing */
    hdx_text          *names;
    uint64_t           name_count, name_capacity;
    hdx_ledger_thing  *things;
    uint64_t           count, capacity;
    const char       **labels; /* by name: what else is said of it; after `label_capacity` nothing */
    uint64_t           label_capacity;
    hdx_ledger_column *columns;
    size_t             column_count;
} hdx_ledger;

/* mem outlives it. To be closed on failure, too. */
hdx_code hdx_ledger_open(hdx_mem *mem, size_t columns, hdx_ledger **out, hdx_error *err);
void     hdx_ledger_close(hdx_ledger *l); /* NULL: nothing */
/* Places, made where the ledger does not know them; HDX_LEDGER_NONE: no memory. */
uint32_t hdx_ledger_name(hdx_ledger *l, hdx_text text);
uint32_t hdx_ledger_thing_of(hdx_ledger *l, uint32_t above, uint32_t name);
/* To be written to, until the next thing is made; NULL: no memory. */
hdx_ledger_sum *hdx_ledger_sum_of(hdx_ledger *l, size_t column, uint32_t thing);
hdx_ledger_sum  hdx_ledger_read(const hdx_ledger *l, size_t column, uint32_t thing);
/* What else is said of what is called so: the first time holds. False: no memory. */
bool        hdx_ledger_label(hdx_ledger *l, uint32_t name, const char *text);
const char *hdx_ledger_label_of(const hdx_ledger *l, uint32_t thing); /* "" */
hdx_code    hdx_ledger_refused(const hdx_ledger *l, hdx_error *err);
/* "a > b > c", its name and those above: text is set to it and is what the cell points to. False: no memory. */
bool hdx_ledger_key(const hdx_ledger *l, uint32_t thing, hdx_buffer *text, hdx_cell *out);
/* In the order of their keys, told without making them. */
int hdx_ledger_compare(const hdx_ledger *l, uint32_t a, uint32_t b);
/* What is said once of the heap in a column. */
hdx_code hdx_ledger_head(hdx_ledger *l, size_t column, const char *path, const hdx_graph_summary *of, hdx_error *err);
enum { HDX_LEDGER_HEAD_MEMBERS = 11 };
extern const hdx_column hdx_ledger_head_members[HDX_LEDGER_HEAD_MEMBERS];
/* All heads as a list of such objects. */
hdx_code hdx_ledger_heads(const hdx_ledger *l, hdx_arena *arena, hdx_cell *out, hdx_error *err);

/* ---- what is measured: one heap into a column ---- */
typedef enum hdx_compare_by {
    HDX_COMPARE_CLASS,
    HDX_COMPARE_PACKAGE,
    HDX_COMPARE_LOADER,
    HDX_COMPARE_DOMINATOR,
    HDX_COMPARE_PATH,
    HDX_COMPARE_LEAK
} hdx_compare_by;
/* The name of a class, or that which it shares with others that are made at run time. */
uint32_t hdx_compare_class_name(hdx_ledger *l, hdx_text name, const char *before, hdx_buffer *scratch);
hdx_code hdx_compare_classes(const hdx_query *q, hdx_compare_by by, bool retained, hdx_ledger *l, size_t column,
                             hdx_error *err);
#define HDX_COMPARE_DEPTH 16u
hdx_code hdx_compare_dominators(const hdx_query *q, unsigned depth, hdx_ledger *l, size_t column, hdx_error *err);
#define HDX_COMPARE_STEPS 100u /* of a path; what is farther counts for its last step */
/* memory: of the walk, 0: what it takes. HDX_BAD_DUMP without the dump. */
hdx_code hdx_compare_paths(const hdx_query *q, uint64_t memory, hdx_ledger *l, size_t column, hdx_error *err);

/* ---- answers, declared; who runs them opens the dumps ---- */
extern const hdx_answer hdx_compare_diff, hdx_compare_trend;
hdx_compare_by          hdx_compare_by_of(const hdx_arguments *a); /* `by` of either */
/* Is that something that can be asked of so many dumps? Told before an index is built. */
hdx_code hdx_compare_diff_check(const hdx_arguments *a, size_t dumps, hdx_error *err);
/* Takes the ledger over, also where it fails. */
hdx_code hdx_compare_diff_rows(hdx_ledger *l, const hdx_arguments *a, const hdx_progress *progress, hdx_rows **out,
                               hdx_error *err);
hdx_code hdx_compare_trend_check(const hdx_arguments *a, size_t dumps, hdx_error *err);
bool     hdx_compare_trend_retains(const hdx_arguments *a); /* is what is retained wanted? */
hdx_code hdx_compare_trend_rows(hdx_ledger *l, const hdx_arguments *a, hdx_rows **out, hdx_error *err);

#endif
