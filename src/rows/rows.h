/*
 * rows.h - creates rows. An answer fills a hdx_rows_maker (columns, a next function, a close function) and gets an
 * hdx_rows; small answers collect their rows in an hdx_table. This room does not know about heaps.
 */
#ifndef HDX_ROWS_ROWS_H
#define HDX_ROWS_ROWS_H

#include "base/base.h"
#include <heapdex/rows.h>

/* ---- declaring columns ---- */
#define HDX_COLUMN(name, type, unit, flags, sentence)                                                                  \
    {                                                                                                                  \
        name, HDX_TYPE_##type, HDX_UNIT_##unit, flags, sentence, NULL, 0                                               \
    }
/* A column of lists or objects; `members` is an array at file scope. */
#define HDX_NESTED(name, type, flags, sentence, members)                                                               \
    {                                                                                                                  \
        name, HDX_TYPE_##type, HDX_UNIT_NONE, flags, sentence, members, sizeof(members) / sizeof *(members)            \
    }
/* The only member of a list of plain values. */
#define HDX_ITEM(type, sentence)                                                                                       \
    {                                                                                                                  \
        NULL, HDX_TYPE_##type, HDX_UNIT_NONE, 0, sentence, NULL, 0                                                     \
    }
#define HDX_COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

/* ---- streaming: rows computed one by one ---- */
typedef struct hdx_rows_maker {
    const hdx_column *columns; /* constant, or valid as long as `state` */
    unsigned          column_count;
    void             *state;
    /*
     * Fills cells[column_count]. Texts are valid until the next call: in `state`, or in `arena`, which is emptied
     * before each call. Sets *more to false after the last row.
     */
    hdx_code (*next)(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err);
    void (*close)(void *state); /* may be NULL */
    uint64_t total;             /* number of rows, if known in advance; 0: unknown */
} hdx_rows_maker;
/* Creates rows from a maker. On failure `close` has been called. */
hdx_code hdx_rows_make(const hdx_rows_maker *maker, hdx_rows **out, hdx_error *err);
/*
 * Same, with the memory of the rows, including sorting and filling, counted in `mem`: requests that it refuses are
 * HDX_LIMIT. REQUIRES: `mem` outlives the rows.
 */
hdx_code hdx_rows_make_in(hdx_mem *mem, const hdx_rows_maker *maker, hdx_rows **out, hdx_error *err);
/* Sets the sums of columns with HDX_COLUMN_SUM over all rows. 0: the sum is not known in advance. */
void hdx_rows_set_sums(hdx_rows *rows, uint64_t objects, uint64_t retained);
/* As in hdx_wanted: cells of other columns may be null, whatever is declared. */
void hdx_rows_set_wanted(hdx_rows *rows, uint64_t columns);

/*
 * Checks whether the index that rows are computed from is sound. It is called with the code of their end, however they
 * end, and returns another code and the reason if the index is damaged. Until then cells may differ from the declared
 * types. err may be NULL.
 */
typedef hdx_code hdx_rows_judge(void *context, hdx_code code, hdx_error *err);
void             hdx_rows_set_judge(hdx_rows *rows, hdx_rows_judge *judge, void *context);

/* ---- rows in runs, column by column ---- */
/*
 * The values of one column for a run of rows. Texts are borrowed as cells of a row are; arrays are valid until the next
 * call.
 */
typedef struct hdx_vector {
    /*
     * one per row: a number, the bits of a signed or real one, a boolean, an address, or for a text its index in
     * `texts`; undefined for a row without a value
     */
    const uint64_t *numbers;
    const uint64_t *present; /* bit i (hdx_bits): row i has a value; NULL: all rows have one */
    const hdx_text *texts;   /* the same array in all runs, valid until the rows are closed; NULL: see `each` */
    uint32_t        text_count;
    const hdx_text *each; /* one text per row; NULL for columns that are not texts */
} hdx_vector;
#define HDX_RUN_ROWS 4096u /* most rows of a run */
/*
 * A source that can compute columns in runs calls hdx_rows_set_run; rows that are read in runs are then not computed
 * one by one. A call returns at most `most` rows, and HDX_RUN_ROWS, in out[columns], and *count 0 after the last one.
 * Columns that are not wanted may be empty vectors (no numbers), which are null.
 */
typedef hdx_code hdx_run_maker(void *state, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err);
void             hdx_rows_set_run(hdx_rows *rows, hdx_run_maker *run);
hdx_mem         *hdx_rows_mem(const hdx_rows *rows); /* counts the memory of the rows; NULL: not counted */
/* Lets hdx_rows_close close the scope (base/mem.h) in which the rows were created, after everything else. */
void hdx_rows_own(hdx_rows *rows, hdx_mem *scope);
/* Returns whether rows can be read in runs: their source and all shapings over it support that. */
bool hdx_rows_runs(const hdx_rows *rows);
/* Reads the next run; *count is 0 at the end. REQUIRES: all rows are read this way, or all by hdx_rows_next. */
hdx_code hdx_rows_run(hdx_rows *rows, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err);

/* ---- collecting: all rows at once ---- */
typedef struct hdx_table hdx_table;
hdx_code                 hdx_table_new(const hdx_column *columns, unsigned count, hdx_table **out, hdx_error *err);
/* Same, with the memory of the table and its rows counted in `mem`, which outlives them. */
hdx_code   hdx_table_in(hdx_mem *mem, const hdx_column *columns, unsigned count, hdx_table **out, hdx_error *err);
hdx_arena *hdx_table_arena(hdx_table *t); /* for everything that cells point to */
hdx_code   hdx_table_add(hdx_table *t, const hdx_cell *cells, hdx_error *err);
uint64_t   hdx_table_count(const hdx_table *t);
hdx_code   hdx_table_rows(hdx_table *t, hdx_rows **out, hdx_error *err); /* takes ownership of the table */
/* Frees a table. REQUIRES: it was not passed to hdx_table_rows. */
void hdx_table_free(hdx_table *t);

/* ---- all rows of an answer as bytes (saved.c has their layout) ---- */
/*
 * Reads the rows and appends them to `out` with title, extras and the reason for no rows. *fits is false if they need
 * more than `most` bytes; then they were not read to the end. REQUIRES: no row was read, and no shaping but a filled
 * column.
 */
hdx_code hdx_rows_save(hdx_rows *rows, uint64_t most, hdx_buffer *out, bool *fits, hdx_error *err);
/*
 * Returns rows that hdx_rows_save saved, with their memory counted in `mem`. The bytes may be anything and are not used
 * afterwards; *out is NULL if they are no rows with these columns and extras. `columns` outlives the rows.
 */
hdx_code hdx_rows_restore(hdx_mem *mem, const uint8_t *at, uint64_t size, const hdx_column *columns, unsigned count,
                          const hdx_column *extras, unsigned extra_count, hdx_rows **out, hdx_error *err);

/* ---- a column that is computed for the remaining rows (fill.c) ---- */
typedef struct hdx_filler {
    /* Computes cells[i] from keys[i]. What they point to is in the arena and valid until the next call. */
    hdx_code (*fill)(void *context, const hdx_cell *keys, uint64_t count, hdx_arena *arena, hdx_cell *cells,
                     hdx_error *err);
    void (*close)(void *context); /* may be NULL; called on failure too */
    void *context;
    /*
     * For cells that are too large to compute for many rows at once: called again for *cell, which `fill` computed,
     * when its row is returned. The result is valid until the next call; the arena is empty. May be NULL.
     */
    hdx_code (*finish)(void *context, const hdx_cell *key, hdx_arena *arena, hdx_cell *cell, hdx_error *err);
} hdx_filler;
/*
 * Computes the column `column` from the column `key`, whose cells contain no pointers, for `first` rows at once (0:
 * few), later for up to `most`; a cell whose key is null does not change. Replaces *rows as shaping does
 * (<heapdex/rows.h>).
 */
hdx_code hdx_rows_fill(hdx_rows **rows, const char *key, const char *column, const hdx_filler *filler, uint64_t first,
                       uint64_t most, hdx_error *err);

/* ---- conditions that a source of rows can apply itself (where.c, shape.c) ---- */
/*
 * Returns the index of a column by its name or by its heading in tables: "%" is `percent`, "object" the class that a
 * table prints together with the label. Returns `count` if there is none.
 */
unsigned hdx_column_place(const hdx_column *columns, unsigned count, hdx_text name);
/* Returns the columns that "a,b,c" of `len` bytes names, one bit for each of the first 64; unknown names have none. */
uint64_t hdx_columns_named(const hdx_column *columns, unsigned count, const char *names, size_t len);
/* Returns the column of a condition; false: it is not one of these. */
bool hdx_condition_column(const hdx_column *columns, unsigned count, const char *text, unsigned *column);
/*
 * Returns what a condition requires of an address, a natural number or an equal text; false: nothing that a source
 * could use.
 */
bool hdx_condition_bound(const hdx_column *columns, unsigned count, const char *text, hdx_arena *arena, hdx_bound *out);

/* ---- conditions on values other than columns ---- */
typedef struct hdx_condition hdx_condition;
/* Returns the name that a condition compares, in `text`; false: the name or the operator is missing. */
bool hdx_condition_name(const char *text, hdx_text *name);
/* Parses a condition. Returns HDX_USAGE if it is malformed. REQUIRES: *progress (may be NULL) outlives it. */
hdx_code hdx_condition_open(const char *text, const hdx_progress *progress, hdx_condition **out, hdx_error *err);
hdx_code hdx_condition_holds(const hdx_condition *c, const hdx_cell *cell, bool *keep, hdx_error *err);
bool     hdx_condition_is_of_text(const hdx_condition *c); /* compares with a text, neither a number nor null */
void     hdx_condition_close(hdx_condition *c);            /* NULL is allowed */

/* ---- head, extras and title; REQUIRES: no row was read yet ---- */
hdx_code   hdx_rows_set_head(hdx_rows *rows, const hdx_member *head, unsigned count,
                             hdx_error *err); /* the members are copied, but not what they point to */
hdx_arena *hdx_rows_arena(hdx_rows *rows);    /* freed by hdx_rows_close */
hdx_code   hdx_rows_add_extra(hdx_rows *rows, const char *key, hdx_cell value, hdx_error *err);
hdx_code   hdx_rows_set_title(hdx_rows *rows, const char *title, hdx_error *err); /* copied */
hdx_code   hdx_rows_set_nothing(hdx_rows *rows, const char *why, hdx_error *err); /* copied */

/* Sets the number of rows that a source omitted because of a bound (hdx_wanted): conditions count them as their own. */
void hdx_rows_set_left_out(hdx_rows *rows, uint64_t n);

/* Returns whether a condition omits rows of the answer. */
bool hdx_rows_filtered(const hdx_rows *rows);
/* Returns whether the rows are a page of the answer (hdx_rows_page). */
bool hdx_rows_paged(const hdx_rows *rows);

/* ---- cells ---- */
static inline hdx_cell hdx_cell_null(void) { return (hdx_cell){ .kind = HDX_CELL_NULL }; }
static inline hdx_cell hdx_cell_uint(uint64_t v) { return (hdx_cell){ .kind = HDX_CELL_UINT, .as.natural = v }; }
static inline hdx_cell hdx_cell_int(int64_t v) { return (hdx_cell){ .kind = HDX_CELL_INT, .as.integer = v }; }
static inline hdx_cell hdx_cell_real(double v) { return (hdx_cell){ .kind = HDX_CELL_REAL, .as.real = v }; }
static inline hdx_cell hdx_cell_bool(bool v) { return (hdx_cell){ .kind = HDX_CELL_BOOL, .as.boolean = v }; }
static inline hdx_cell hdx_cell_address(hdx_addr v) { return (hdx_cell){ .kind = HDX_CELL_ADDRESS, .as.address = v }; }
static inline hdx_cell hdx_cell_text(hdx_text v) { return (hdx_cell){ .kind = HDX_CELL_TEXT, .as.text = v }; }
static inline hdx_cell hdx_cell_string(const char *s) /* borrowed; NULL: a null cell */
{
    return s == NULL ? hdx_cell_null() : (hdx_cell){ .kind = HDX_CELL_TEXT, .as.text = { s, (uint32_t)strlen(s) } };
}
/* Returns whether a cell has the type that the column declares. */
bool hdx_cell_is(const hdx_cell *cell, const hdx_column *column);
/* Copies a text into the arena; a null cell if memory is refused. */
hdx_cell hdx_cell_copy(hdx_arena *arena, const char *s);
/* A list or object. REQUIRES: its `count` cells or members (an array in the same arena) are filled. */
static inline hdx_cell hdx_cell_list(const hdx_cell *at, uint64_t count)
{
    return (hdx_cell){ .kind = HDX_CELL_LIST, .as.list = { at, count } };
}
static inline hdx_cell hdx_cell_object(const hdx_member *at, uint64_t count)
{
    return (hdx_cell){ .kind = HDX_CELL_OBJECT, .as.object = { at, count } };
}

#endif
