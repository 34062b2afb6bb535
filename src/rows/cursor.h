/*
 * cursor.h - the implementation of hdx_rows, for the files of this room.
 *
 *   limit ---below---> select ---below---> sort ---below---> base (a maker or a table)
 *
 * Every shaping is a cursor over the one below it. The base at the bottom owns extras and title, so that every cursor
 * of the stack gives the same ones. Rules that comments cite:
 *   R1  `next` is not called again after it returned no row or failed.
 *   R2  A row from a `stable` cursor is valid until close, from any other until its next `next`.
 */
#ifndef HDX_ROWS_CURSOR_H
#define HDX_ROWS_CURSOR_H

#include "rows/rows.h"

#define HDX_ROWS_UNKNOWN UINT64_MAX

/* Sums over rows. A sum that is not known is HDX_ROWS_UNKNOWN. */
typedef struct hdx_sums {
    uint64_t rows, objects, retained;
} hdx_sums;

typedef enum hdx_shape {
    HDX_SHAPE_BASE,
    HDX_SHAPE_WHERE,
    HDX_SHAPE_SORT,
    HDX_SHAPE_SELECT,
    HDX_SHAPE_FILL,
    HDX_SHAPE_LIMIT
} hdx_shape;

struct hdx_rows {
    hdx_shape         shape;
    const hdx_column *columns;
    unsigned          column_count;
    bool              stable;
    /* bits of columns; cells of other columns may be null, whatever is declared; 0: all are wanted */
    uint64_t  wanted;
    hdx_rows *below; /* NULL at the base */
    hdx_rows *base;  /* itself at the base */
    void     *state;
    /* Sets *row to NULL after the last row. */
    hdx_code (*next)(hdx_rows *rows, const hdx_cell **row, hdx_error *err);
    void (*close)(hdx_rows *rows); /* frees `state`; may be NULL */
    /* As hdx_rows_run; NULL: rows are only available one by one. */
    hdx_code (*run)(hdx_rows *rows, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err);
    /* Returns the sums over all rows that are known without computing rows. NULL: none is known. */
    hdx_sums (*total)(const hdx_rows *rows);

    hdx_mem  *mem;   /* counts the memory of the rows and outlives them; NULL: not counted */
    hdx_mem  *scope; /* closed after everything else; base only; NULL: none */
    hdx_arena row;   /* memory of the cells of the current row */
    hdx_arena keep;  /* freed on close */

    bool      ended;
    hdx_code  code;
    hdx_error error;

    hdx_member       *extras; /* base only; key NULL after the last */
    uint64_t          extra_count, extra_capacity;
    const hdx_member *head; /* base only; key NULL after the last; NULL: none */
    char             *title;
    const char       *nothing;  /* base only: why there are no rows; NULL: unknown */
    uint64_t          left_out; /* base only: rows that the source omitted because a condition excludes them */

    const hdx_progress *progress; /* base only; NULL: not cancelled */
    hdx_rows_judge     *judge;    /* base only; NULL: none */
    void               *judge_context;
};

/* Puts a new cursor over *rows, which it owns. On failure *rows is closed and NULL, and `close` is not called. */
hdx_code hdx_rows_over(hdx_rows **rows, hdx_shape shape, void *state, hdx_error *err);
/* Empties rows->row, possibly later: see cursor.c. */
void hdx_rows_fresh(hdx_rows *rows);
/* Reads the next row of the cursor below, or its end or error. */
hdx_code hdx_rows_pull(hdx_rows *rows, const hdx_cell **row, hdx_error *err);
/* Closes *rows and sets it to NULL. Returns `code`, for error paths. */
hdx_code hdx_rows_drop(hdx_rows **rows, hdx_code code);
hdx_sums hdx_rows_total(const hdx_rows *rows);
/* Returns whether the caller requested cancellation (hdx_rows_set_progress). */
bool hdx_rows_stopped(const hdx_rows *rows);

/* Finds a column by name. Returns HDX_USAGE with the existing columns in the message and the nearest name as hint. */
hdx_code hdx_rows_find(const hdx_rows *rows, const char *name, size_t len, unsigned *column, hdx_error *err);

/* ---- where.c ---- */
/* Returns the number of rows that conditions omitted, and the number of conditions. */
uint64_t hdx_rows_left_out(const hdx_rows *rows, unsigned *conditions);

/* ---- order.c ---- */
/*
 * Rank of a cell in an order, in both directions: 0 numbers, 1 texts, 2 values without an order (lists, objects,
 * absent, NaN), 3 null.
 */
unsigned hdx_cell_rank(const hdx_cell *c);
/* Returns -1, 0 or 1. REQUIRES: both have rank 0. They are compared exactly by value, whatever their kinds. */
int hdx_cell_compare_numbers(const hdx_cell *a, const hdx_cell *b);
/* Compares cells for a sort: ranks always ascend, `descending` reverses the order within a rank. */
int hdx_cell_order(const hdx_cell *a, const hdx_cell *b, bool descending);

/* ---- store.c ---- */
/*
 * Appends a row with everything that it points to, encoded without pointers. If column `key` contains a text, *key_text
 * is the offset of its bytes in the store. Returns HDX_LIMIT if memory is refused.
 */
hdx_code hdx_row_pack(hdx_buffer *store, const hdx_cell *row, unsigned count, unsigned key, uint64_t *key_text,
                      hdx_error *err);
/* Returns the size in bytes of the encoded row at an offset. */
uint64_t hdx_row_size(const hdx_buffer *store, uint64_t offset);
/* Decodes a row; texts and keys point into the store, everything else is in the arena. NULL: no memory. */
const hdx_cell *hdx_row_unpack(const hdx_buffer *store, uint64_t offset, unsigned count, hdx_arena *arena);

/* ---- limit.c ---- */
/* Columns that say for how many objects a row stands and what these retain. */
typedef struct hdx_weights {
    unsigned objects, retained;           /* UINT_MAX: there is no such column */
    unsigned more_objects, more_retained; /* of similar objects in the row */
    bool     each;                        /* a row is one object, and those of more_objects */
} hdx_weights;
hdx_weights hdx_weights_of(const hdx_column *columns, unsigned count);
/* Adds a row to the sums. Sums without a column become HDX_ROWS_UNKNOWN. */
void hdx_sums_add(hdx_sums *sums, const hdx_weights *weights, const hdx_cell *row);

/* ---- sort.c ---- */
/* Announces that only the first n rows of a sorting cursor will be read. */
void hdx_rows_sort_keep(hdx_rows *sorting, uint64_t n);

#endif
