/*
 * rows.h - the result of an answer: columns, and a cursor over rows of cells. A cell may be a list or an object (nested
 * rows). An answer can therefore be written as a table, as JSON or as CSV by code that does not know which answer it
 * is.
 *
 * Example (examples/rows.c):
 *     hdx_rows       *rows;
 *     const hdx_cell *cells;
 *     if (hdx_answer_run(session, "histogram", arguments, 1, &rows, &err) != HDX_OK ||
 *         hdx_rows_where(&rows, "objects > 100", &err) != HDX_OK || // takes rows over, also where it fails
 *         hdx_rows_sort(&rows, "objects", true, &err) != HDX_OK ||
 *         hdx_rows_select(&rows, "class,objects", &err) != HDX_OK)
 *         return complain(&err);
 *     while (hdx_rows_next(rows, &cells)) // as many cells as hdx_rows_columns says
 *         printf("%.*s %" PRIu64 "\n", (int)cells[0].as.text.len, cells[0].as.text.at, cells[1].as.natural);
 *     hdx_code code = hdx_rows_end(rows, &err); // was it the end, or a failure?
 *     hdx_rows_close(rows);
 *
 * One thread at a time may use an hdx_rows.
 */
#ifndef HEAPDEX_ROWS_H
#define HEAPDEX_ROWS_H

#include <heapdex/error.h>
#include <heapdex/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_cell_kind {
    HDX_CELL_NULL,
    HDX_CELL_INT,
    HDX_CELL_UINT,
    HDX_CELL_REAL,
    HDX_CELL_BOOL,
    HDX_CELL_TEXT,
    HDX_CELL_ADDRESS,
    HDX_CELL_ABSENT,
    HDX_CELL_LIST,
    HDX_CELL_OBJECT
} hdx_cell_kind;

typedef struct hdx_cell   hdx_cell;
typedef struct hdx_member hdx_member;

/*
 * A value of a row. Everything that a cell points to is valid until the next hdx_rows_next; in extras it is valid until
 * hdx_rows_close.
 */
struct hdx_cell {
    hdx_cell_kind kind;
    union {
        int64_t  integer;
        uint64_t natural;
        double   real; /* NaN and infinities become strings in JSON */
        bool     boolean;
        hdx_text text;
        hdx_addr address;
        struct {
            const hdx_cell *at;
            uint64_t        count;
        } list;
        struct {
            const hdx_member *at;
            uint64_t          count;
        } object;
    } as;
};
struct hdx_member {
    const char *key;
    hdx_cell    value;
};

/*
 * Kind of the cells of a column that are neither null nor absent. HDX_TYPE_ANY: each cell has a kind of its own (values
 * of fields).
 */
typedef enum hdx_type {
    HDX_TYPE_UNSIGNED,
    HDX_TYPE_SIGNED,
    HDX_TYPE_REAL,
    HDX_TYPE_BOOL,
    HDX_TYPE_TEXT,
    HDX_TYPE_ADDRESS,
    HDX_TYPE_LIST,
    HDX_TYPE_OBJECT,
    HDX_TYPE_ANY
} hdx_type;

/* Returns "unsigned", "signed", "real", "bool", "text", "address", "list", "object" or "any". A constant string. */
HDX_API const char *hdx_column_type_name(hdx_type type);

typedef enum hdx_unit { HDX_UNIT_NONE, HDX_UNIT_BYTES, HDX_UNIT_COUNT, HDX_UNIT_PERCENT, HDX_UNIT_SECONDS } hdx_unit;

/* Returns "", "bytes", "count", "percent" or "seconds". A constant string. */
HDX_API const char *hdx_column_unit_name(hdx_unit unit);

typedef enum hdx_column_flag {
    HDX_COLUMN_NULLABLE = 1, /* cells may be null or absent */
    HDX_COLUMN_WIDE = 2,     /* omitted from tables (nested documents); other formats have it */
    HDX_COLUMN_OPTIONAL = 4, /* missing in some results of this answer: `sentence` says in which */
    /* needs a read of the dump: computed only for the rows that remain after conditions and limit */
    HDX_COLUMN_LATE = 8,
    HDX_COLUMN_CLASS_NAME = 16, /* tables shorten its packages, never the class name itself */
    /* text of an object, for example of a String: tables print it after the class in a column "object" */
    HDX_COLUMN_LABEL = 32,
    HDX_COLUMN_SPARE = 64,   /* omitted first if a terminal is narrow */
    HDX_COLUMN_CHOSEN = 128, /* set by hdx_rows_select: the caller selected the column by its name */
    HDX_COLUMN_SHARE = 256,  /* a percentage of a whole whose rows do not overlap: a table prints the sum */
    /* Tables print these columns as part of the column "object": */
    HDX_COLUMN_DEPTH = 512,      /* depth of the row in a tree */
    HDX_COLUMN_REFERENCE = 1024, /* name of the reference that leads to the next row */
    HDX_COLUMN_TIMES = 2048,     /* number of objects that the row represents */
    /* number, then total size of other objects that the row represents; printed after the row */
    HDX_COLUMN_SIMILAR = 4096,
    HDX_COLUMN_FEW = 8192, /* many rows have few distinct texts: Arrow output uses a dictionary */
    /* with HDX_COLUMN_LABEL: a phrase, printed after the class without quotes, and alone if the class is null */
    HDX_COLUMN_PHRASE = 16384,
    /*
     * No two rows count the same object. The sum over rows is a number of objects for a column of counts, their
     * retained size for a column of bytes; a row with such an address is one object.
     */
    HDX_COLUMN_SUM = 32768
} hdx_column_flag;

/*
 * Describes a column of rows, or a key of an object or document. `members` are the keys of an object, or of the objects
 * in a list. A single member without a name describes values without fixed keys: every entry of the list, or every
 * value of an object whose keys are data.
 */
typedef struct hdx_column hdx_column;
struct hdx_column {
    const char       *name; /* also the key in JSON and CSV */
    hdx_type          type;
    hdx_unit          unit;     /* how a table prints it; right-aligned unless NONE */
    unsigned          flags;    /* HDX_COLUMN_... */
    const char       *sentence; /* description for people; starts in lower case, no final full stop */
    const hdx_column *members;
    unsigned          member_count;
};

/*
 * What the caller needs from a source of rows. The source need not compute columns that are not wanted (their cells are
 * null) and may omit rows outside of the bounds. Conditions are still applied to the rows that it returns.
 */
typedef struct hdx_bound {
    unsigned column; /* index among the columns of the form */
    /* the text that the column must equal; NULL: the column is an address or a natural number */
    const char *text;
    uint64_t    least, most; /* range of that number; most < least: no value matches */
} hdx_bound;
#define HDX_MOST_BOUNDS 8u
typedef struct hdx_wanted {
    uint64_t  columns; /* bit i: the i-th column of the form is wanted; 0: all are */
    uint64_t  named;   /* the same for columns that the caller named: worth work that is too costly to do always */
    hdx_bound bounds[HDX_MOST_BOUNDS];
    unsigned  bound_count;
} hdx_wanted;

typedef struct hdx_rows hdx_rows;

/* Returns the columns, one for each cell of a row. Valid until hdx_rows_close. */
HDX_API const hdx_column *hdx_rows_columns(const hdx_rows *rows, unsigned *count);

/* Reads the next row: *cells has one cell per column. Returns false after the last row and on failure. */
HDX_API bool hdx_rows_next(hdx_rows *rows, const hdx_cell **cells);

/* Returns how the rows ended, after hdx_rows_next returned false: HDX_OK, or the error of the row that failed. */
HDX_API hdx_code hdx_rows_end(hdx_rows *rows, hdx_error *err);

/* Frees the rows. NULL is allowed. */
HDX_API void hdx_rows_close(hdx_rows *rows);

/*
 * Returns the i-th member of the JSON document after its head, other than "rows" ("info", "total", "paths"); key NULL
 * after the last. Valid until hdx_rows_close.
 */
HDX_API const hdx_member *hdx_rows_extra(const hdx_rows *rows, unsigned i);

/*
 * Returns the i-th member of the head of the JSON document ("heapdex", "command", "dump", "damage", "warnings"); key
 * NULL after the last. Valid until hdx_rows_close.
 */
HDX_API const hdx_member *hdx_rows_head(const hdx_rows *rows, unsigned i);

/*
 * Returns the text to print above a table ("Histogram of all objects ..."): one line, or several separated by newlines;
 * NULL if there is none. Valid until hdx_rows_close.
 */
HDX_API const char *hdx_rows_title(const hdx_rows *rows);

/*
 * Returns one line that explains why there are no rows, and what to query instead ("nothing is dominated by
 * it"). REQUIRES: hdx_rows_next returned false without giving a row. NULL if no reason is known. Valid until
 * hdx_rows_close.
 */
HDX_API const char *hdx_rows_empty_reason(hdx_rows *rows);

/* ---- shaping ---- */
/*
 * hdx_rows_where, _sort, _select and _limit each replace *rows with new rows that have the same head, extras and title.
 * On failure the old rows are closed and *rows is NULL. An unknown column is HDX_USAGE: the message lists the columns,
 * the hint is the nearest name.
 *
 * A condition is "COLUMN OPERATOR VALUE". Operators are = != < <= > >= and ~, which finds a regular expression (PCRE2)
 * anywhere in the text. An expression that is too costly ends the rows with HDX_USAGE.
 * Values are numbers (12, -3, 1.5, 0x7f, 10K, 5M, 2GB in powers of 1024; 10% is 10), true, false, null, and text. A
 * value in '...' or "..." is always text.
 * Numbers are compared by value, texts by bytes. A value that does not fit the type of the column is HDX_USAGE. A null
 * cell matches only != VALUE and = null.
 */
/*
 * Sets the callbacks that shaping calls from now on to detect cancellation: while it matches patterns, collects rows
 * and sorts. REQUIRES: *progress outlives the rows.
 */
HDX_API void hdx_rows_set_progress(hdx_rows *rows, const hdx_progress *progress);

/* Keeps the rows that match a condition: "retained > 1M", "class ~ ^com\.". */
HDX_API hdx_code hdx_rows_where(hdx_rows **rows, const char *condition, hdx_error *err);

/*
 * Sorts the rows by a column. The sort is stable, numbers are ordered by value, and nulls are last in both directions.
 */
HDX_API hdx_code hdx_rows_sort(hdx_rows **rows, const char *column, bool descending, hdx_error *err);

/* Keeps the named columns, in the given order: "a,b,c". They lose the flag HDX_COLUMN_WIDE. */
HDX_API hdx_code hdx_rows_select(hdx_rows **rows, const char *columns, hdx_error *err);

/* Keeps at most the first n rows; 0 keeps all. If the rows are sorted, only about 2 n of them are in memory at once. */
HDX_API hdx_code hdx_rows_limit(hdx_rows **rows, uint64_t n, hdx_error *err);

/*
 * Keeps at most n rows (0: all) after the first `skip`: one page of the rows. If rows follow, hdx_rows_cut_off returns
 * the position after the page and `mark` as a cursor, from which the next page starts. `mark` is a number by which the
 * caller recognizes the question.
 */
HDX_API hdx_code hdx_rows_page(hdx_rows **rows, uint64_t skip, uint64_t n, uint32_t mark, hdx_error *err);

/*
 * Same as hdx_rows_limit, and counts the omitted rows after the last row if their number is not known, for at most
 * `milliseconds`.
 */
HDX_API hdx_code hdx_rows_limit_counted(hdx_rows **rows, uint64_t n, uint64_t milliseconds, hdx_error *err);

/* What follows the last row of a limit or page. A number is 0 if it is not known. */
#define HDX_CURSOR_SIZE 32u
typedef struct hdx_rows_cut {
    uint64_t before; /* rows before the page; always known */
    uint64_t rows;
    uint64_t objects;  /* objects that these rows stand for */
    uint64_t retained; /* their retained size in bytes; 0 too if objects of several rows retain the same bytes */
    char     cursor[HDX_CURSOR_SIZE]; /* where the next page starts (hdx_rows_page): "25-1f2e3d4c"; "": not a page */
} hdx_rows_cut;

/* Returns whether a limit omitted rows, and in *cut what. REQUIRES: hdx_rows_next returned false. */
HDX_API bool hdx_rows_cut_off(const hdx_rows *rows, hdx_rows_cut *cut);

/* Parses a cursor. Returns false if the text is none. */
HDX_API bool hdx_cursor_parse(const char *text, uint64_t *skip, uint32_t *mark);

#ifdef __cplusplus
}
#endif

#endif
