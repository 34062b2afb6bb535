/*
 * cursor.h - the inside of an hdx_rows, shared by the files of this room alone.
 *
 *   limit ---below---> select ---below---> sort ---below---> base (a maker or a table)
 *
 * Every shaping is a cursor over the one below it; the base at the bottom owns extras and title, so that they are the
 * same from above and below. Numbers stand for:
 *   R1  `next` is never called again after it has given no row or failed.
 *   R2  a row from a `stable` cursor lives until close, of any other until its next `next`.
 */
#ifndef HDX_ROWS_CURSOR_H
#define HDX_ROWS_CURSOR_H

#include "rows/rows.h"

#define HDX_ROWS_UNKNOWN UINT64_MAX

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
    uint64_t          wanted; /* bits of columns; cells of others may be null, whatever is declared; 0: all */
    hdx_rows         *below;  /* NULL at the base */
    hdx_rows         *base;   /* itself at the base */
    void             *state;
    /* *row NULL: no further row. */
    hdx_code (*next)(hdx_rows *rows, const hdx_cell **row, hdx_error *err);
    void (*close)(hdx_rows *rows); /* frees `state`; may be NULL */
    /* As hdx_rows_run; NULL: only one by one. */
    hdx_code (*run)(hdx_rows *rows, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err);
    /*
     * How many rows there are in all, where that is known without making them; else HDX_ROWS_UNKNOWN. May be NULL:
     * unknown.
     */
    uint64_t (*total)(const hdx_rows *rows);

    hdx_mem  *mem;   /* whoever asked counts what the rows hold; NULL: nobody does. Outlives the rows */
    hdx_mem  *scope; /* closed with them, after everything else; NULL: none (base rows alone have one) */
    hdx_arena row;   /* what cells of the present row point to */
    hdx_arena keep;  /* lives until close */

    bool      ended;
    hdx_code  code;
    hdx_error error;

    hdx_member       *extras; /* base only; key NULL after the last */
    uint64_t          extra_count, extra_capacity;
    const hdx_member *head; /* base only; key NULL after the last; NULL: none */
    char             *title;
    const char       *nothing; /* base only: why there are no rows; NULL: nobody said */

    const hdx_progress *progress; /* base only; may be NULL: nobody stops */
    hdx_rows_judge     *judge;    /* base only; NULL: nobody says */
    void               *judge_context;
};

/*
 * A cursor over *rows; takes it over and puts the new one in its place. On failure *rows is closed and NULL, and
 * `close` is not called.
 */
hdx_code hdx_rows_over(hdx_rows **rows, hdx_shape shape, void *state, hdx_error *err);
/* Empties rows->row, sooner or later: see cursor.c. */
void hdx_rows_fresh(hdx_rows *rows);
/* Passes a row of the cursor below on, or its end, or its error. */
hdx_code hdx_rows_pull(hdx_rows *rows, const hdx_cell **row, hdx_error *err);
/* Closes and forgets; gives `code` back, for error paths. */
hdx_code hdx_rows_drop(hdx_rows **rows, hdx_code code);
uint64_t hdx_rows_total(const hdx_rows *rows);
/* Whether the caller wants to stop (hdx_rows_heed). */
bool hdx_rows_stopped(const hdx_rows *rows);

/* Index of a column by name; HDX_USAGE naming the columns there are, and the nearest as hint. */
hdx_code hdx_rows_find(const hdx_rows *rows, const char *name, size_t len, unsigned *column, hdx_error *err);

/* ---- where.c ---- */
/* Rows that conditions have left out, and how many conditions there are. */
uint64_t hdx_rows_left_out(const hdx_rows *rows, unsigned *conditions);

/* ---- order.c ---- */
/*
 * Where a cell stands whatever the direction: 0 numbers, 1 texts, 2 what has no order (lists, objects, absent, NaN), 3
 * null.
 */
unsigned hdx_cell_rank(const hdx_cell *c);
/* -1, 0, 1; both of rank 0: by value, exactly, whatever their kinds. */
int hdx_cell_compare_numbers(const hdx_cell *a, const hdx_cell *b);
int hdx_cell_compare_texts(hdx_text a, hdx_text b); /* by bytes */
/* The order of a sort: ranks rise in either direction, `descending` turns the values of one rank. */
int hdx_cell_order(const hdx_cell *a, const hdx_cell *b, bool descending);

/* ---- store.c ---- */
/*
 * Appends a whole row, everything it points to included, as bytes without pointers. Where column `key` holds a text,
 * *key_text is the offset of its bytes in the store. HDX_LIMIT when memory is refused.
 */
hdx_code hdx_row_pack(hdx_buffer *store, const hdx_cell *row, unsigned count, unsigned key, uint64_t *key_text,
                      hdx_error *err);
/* Bytes of the packed row at offset. */
uint64_t hdx_row_size(const hdx_buffer *store, uint64_t offset);
/* The row again; texts and keys point into the store, everything else comes from the arena. NULL: no memory. */
const hdx_cell *hdx_row_unpack(const hdx_buffer *store, uint64_t offset, unsigned count, hdx_arena *arena);

/* ---- sort.c ---- */
/* Tells a sorting cursor that only the first n rows will be asked for. */
void hdx_rows_sort_keep(hdx_rows *sorting, uint64_t n);

#endif
