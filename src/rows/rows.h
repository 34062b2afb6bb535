/*
 * rows.h - making rows. A question fills a hdx_rows_maker (columns, a next function, what to free) and gets an
 * hdx_rows; small answers are simply collected with hdx_table. Knows no heaps.
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
/* A list or an object; `members` is an array at file scope. */
#define HDX_NESTED(name, type, flags, sentence, members)                                                               \
    {                                                                                                                  \
        name, HDX_TYPE_##type, HDX_UNIT_NONE, flags, sentence, members, sizeof(members) / sizeof *(members)            \
    }
/* What a list of plain values holds: its only member. */
#define HDX_ITEM(type, sentence)                                                                                       \
    {                                                                                                                  \
        NULL, HDX_TYPE_##type, HDX_UNIT_NONE, 0, sentence, NULL, 0                                                     \
    }
#define HDX_COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

/* ---- streaming: rows made one by one ---- */
typedef struct hdx_rows_maker {
    const hdx_column *columns; /* constant, or living as long as `state` */
    unsigned          column_count;
    void             *state;
    /*
     * Fills cells[column_count]; texts may be borrowed from state until the next call, or come from `arena`, which is
     * emptied before each call. *more false: no further row.
     */
    hdx_code (*next)(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err);
    void (*close)(void *state); /* may be NULL */
    uint64_t total;             /* how many rows there will be, where that is known beforehand; 0: it is not */
} hdx_rows_maker;
/* On failure `close` has been called. */
hdx_code hdx_rows_make(const hdx_rows_maker *maker, hdx_rows **out, hdx_error *err);
/*
 * The same, and what the rows hold, sorting and filling included, counts in `mem`, which outlives them: what it refuses
 * is HDX_LIMIT.
 */
hdx_code hdx_rows_make_in(hdx_mem *mem, const hdx_rows_maker *maker, hdx_rows **out, hdx_error *err);
/* As in hdx_wanted: cells of other columns may be null, whatever is declared. */
void hdx_rows_set_wanted(hdx_rows *rows, uint64_t columns);

/*
 * Tells whether the index that rows are made of is sound. Called with the code of their end, on every way to it, and
 * returns another code and the reason where the index is damaged. Until then such rows may differ from what their
 * columns declare. err may be NULL.
 */
typedef hdx_code hdx_rows_judge(void *context, hdx_code code, hdx_error *err);
void             hdx_rows_set_judge(hdx_rows *rows, hdx_rows_judge *judge, void *context);

/* ---- rows in runs, column by column ---- */
/*
 * What a column has for the rows of a run. Texts are borrowed as cells of a row are; arrays live until the next call.
 */
typedef struct hdx_vector {
    const uint64_t *numbers; /* one each: a number, the bits of a signed or real one, a boolean, an address; or of a
                                text its place among `texts`; what it is where there is none nobody says */
    const uint64_t *there;   /* bit i (hdx_bits): row i has a value; NULL: all have */
    const hdx_text *texts;   /* the same array in all runs, until the rows are closed; NULL: */
    uint32_t        text_count;
    const hdx_text *each; /* a text each; NULL of what is no text */
} hdx_vector;
#define HDX_RUN_ROWS 4096u /* of a run, at most */
/*
 * A source that has its columns in runs says so: rows that are taken in runs are not made one by one. At most `most`
 * rows (and HDX_RUN_ROWS) into out[columns]; *count 0: there is no further one. Columns that nobody wants may be empty
 * vectors (no numbers), which are null.
 */
typedef hdx_code hdx_run_maker(void *state, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err);
void             hdx_rows_set_run(hdx_rows *rows, hdx_run_maker *run);
hdx_mem         *hdx_rows_mem(const hdx_rows *rows); /* in which they count; NULL: nobody does */
/* hdx_rows_close closes the scope (base/mem.h) in which they were made, after everything else. */
void hdx_rows_own(hdx_rows *rows, hdx_mem *scope);
/* Can they be taken in runs: does their source, and every shaping above it? */
bool hdx_rows_runs(const hdx_rows *rows);
/* The next run; *count 0 at the end. From first to last rows are taken this way or by hdx_rows_next. */
hdx_code hdx_rows_run(hdx_rows *rows, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err);

/* ---- collecting: all rows at once ---- */
typedef struct hdx_table hdx_table;
hdx_code                 hdx_table_new(const hdx_column *columns, unsigned count, hdx_table **out, hdx_error *err);
/* The same; it and its rows count in `mem`, which outlives them. */
hdx_code   hdx_table_in(hdx_mem *mem, const hdx_column *columns, unsigned count, hdx_table **out, hdx_error *err);
hdx_arena *hdx_table_arena(hdx_table *t); /* everything cells point to comes from here */
hdx_code   hdx_table_add(hdx_table *t, const hdx_cell *cells, hdx_error *err);
uint64_t   hdx_table_count(const hdx_table *t);
hdx_code   hdx_table_rows(hdx_table *t, hdx_rows **out, hdx_error *err); /* takes the table over */
void       hdx_table_free(hdx_table *t);                                 /* only when not taken over */

/* ---- a column that is made for the rows that are left (fill.c) ---- */
typedef struct hdx_filler {
    /* cells[i] from keys[i]; what they point to comes from the arena, and lives until the next call. */
    hdx_code (*fill)(void *context, const hdx_cell *keys, uint64_t count, hdx_arena *arena, hdx_cell *cells,
                     hdx_error *err);
    void (*close)(void *context); /* may be NULL; called on failure too */
    void *context;
    /*
     * What is too long to be made of many rows: *cell, which `fill` made, once more, when its row goes out. It lives
     * until the next call, the arena is empty. May be NULL.
     */
    hdx_code (*finish)(void *context, const hdx_cell *key, hdx_arena *arena, hdx_cell *cell, hdx_error *err);
} hdx_filler;
/*
 * Column `column` from column `key`, whose cells point to nothing; `first` rows at once (0: few), later up to `most`.
 * As shaping in <heapdex/rows.h>.
 */
hdx_code hdx_rows_fill(hdx_rows **rows, const char *key, const char *column, const hdx_filler *filler, uint64_t first,
                       uint64_t most, hdx_error *err);

/* ---- what shaping asks of a source of rows (where.c, shape.c) ---- */
/*
 * The place of the column with this name, or that a table heads so: "%" is `percent`, "object" the class that a table
 * shows together with the label. `count`: there is none.
 */
unsigned hdx_column_place(const hdx_column *columns, unsigned count, hdx_text name);
/* Columns that "a,b,c" of len bytes names, a bit for each of the first 64; unknown names have none. */
uint64_t hdx_columns_named(const hdx_column *columns, unsigned count, const char *names, size_t len);
/* Its column; false: it is none of these. */
bool hdx_condition_column(const hdx_column *columns, unsigned count, const char *text, unsigned *column);
/* What it says of addresses, natural numbers and equal texts; false: nothing that a source could use. */
bool hdx_condition_bound(const hdx_column *columns, unsigned count, const char *text, hdx_arena *arena, hdx_bound *out);

/* ---- a condition on what is no column of the rows ---- */
typedef struct hdx_condition hdx_condition;
/* What is compared, in `text`; false: there is no name, or no operator. */
bool hdx_condition_name(const char *text, hdx_text *name);
/* HDX_USAGE; `progress` may be NULL, it must outlive the condition. */
hdx_code hdx_condition_open(const char *text, const hdx_progress *progress, hdx_condition **out, hdx_error *err);
hdx_code hdx_condition_holds(const hdx_condition *c, const hdx_cell *cell, bool *keep, hdx_error *err);
bool     hdx_condition_is_of_text(const hdx_condition *c); /* compared with a text, neither a number nor null */
void     hdx_condition_close(hdx_condition *c);            /* NULL: nothing */

/* ---- head, extras and title; set before the rows are handed out ---- */
hdx_code   hdx_rows_set_head(hdx_rows *rows, const hdx_member *head, unsigned count,
                             hdx_error *err); /* members are copied, not what they point to */
hdx_arena *hdx_rows_arena(hdx_rows *rows);    /* lives until hdx_rows_close */
hdx_code   hdx_rows_add_extra(hdx_rows *rows, const char *key, hdx_cell value, hdx_error *err);
hdx_code   hdx_rows_set_title(hdx_rows *rows, const char *title, hdx_error *err); /* copied */
hdx_code   hdx_rows_set_nothing(hdx_rows *rows, const char *why, hdx_error *err); /* copied */

/* Whether a condition stands between the rows and the whole answer. */
bool hdx_rows_filtered(const hdx_rows *rows);

/* ---- cells ---- */
static inline hdx_cell hdx_cell_null(void) { return (hdx_cell){ .kind = HDX_CELL_NULL }; }
static inline hdx_cell hdx_cell_uint(uint64_t v) { return (hdx_cell){ .kind = HDX_CELL_UINT, .as.natural = v }; }
static inline hdx_cell hdx_cell_int(int64_t v) { return (hdx_cell){ .kind = HDX_CELL_INT, .as.integer = v }; }
static inline hdx_cell hdx_cell_real(double v) { return (hdx_cell){ .kind = HDX_CELL_REAL, .as.real = v }; }
static inline hdx_cell hdx_cell_bool(bool v) { return (hdx_cell){ .kind = HDX_CELL_BOOL, .as.boolean = v }; }
static inline hdx_cell hdx_cell_address(hdx_addr v) { return (hdx_cell){ .kind = HDX_CELL_ADDRESS, .as.address = v }; }
static inline hdx_cell hdx_cell_text(hdx_text v) { return (hdx_cell){ .kind = HDX_CELL_TEXT, .as.text = v }; }
static inline hdx_cell hdx_cell_string(const char *s) /* borrowed; NULL gives null */
{
    return s == NULL ? hdx_cell_null() : (hdx_cell){ .kind = HDX_CELL_TEXT, .as.text = { s, (uint32_t)strlen(s) } };
}
/* Is it what the column declares? */
bool hdx_cell_is(const hdx_cell *cell, const hdx_column *column);
/* Copies into the arena; null when memory is refused. */
hdx_cell hdx_cell_copy(hdx_arena *arena, const char *s);
/* A list or object whose `count` cells or members (an array from the same arena) are already filled. */
static inline hdx_cell hdx_cell_list(const hdx_cell *at, uint64_t count)
{
    return (hdx_cell){ .kind = HDX_CELL_LIST, .as.list = { at, count } };
}
static inline hdx_cell hdx_cell_object(const hdx_member *at, uint64_t count)
{
    return (hdx_cell){ .kind = HDX_CELL_OBJECT, .as.object = { at, count } };
}

#endif
