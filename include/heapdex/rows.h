/*
 * rows.h - what every question yields: columns, and a cursor over rows of cells. A cell may be a list or an object
 * (nested rows), so that an answer can be rendered as a table, as JSON, or as CSV without knowing the question.
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
struct hdx_cell { /* everything pointed to lives until the next hdx_rows_next, extras until hdx_rows_close */
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
 * What cells of a column are where they are neither null nor absent. HDX_TYPE_ANY: each as it comes (values of fields).
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
HDX_API const char *hdx_column_type_name(
    hdx_type type); /* "unsigned", "signed", "real", "bool", "text", "address", "list", "object", "any" */

typedef enum hdx_unit { HDX_UNIT_NONE, HDX_UNIT_BYTES, HDX_UNIT_COUNT, HDX_UNIT_PERCENT, HDX_UNIT_SECONDS } hdx_unit;
HDX_API const char *hdx_column_unit_name(hdx_unit unit); /* "", "bytes", "count", "percent", "seconds" */

typedef enum hdx_column_flag {
    HDX_COLUMN_NULLABLE = 1, /* cells may be null or absent */
    HDX_COLUMN_WIDE = 2,     /* left out of tables (nested documents); machine formats have it */
    HDX_COLUMN_OPTIONAL = 4, /* not in every answer of this kind: `sentence` says when */
    HDX_COLUMN_LATE = 8,     /* costs a read of the dump: made for the rows that are left after conditions and limit */
    HDX_COLUMN_CLASS_NAME = 16, /* tables shorten its packages, never the name itself */
    HDX_COLUMN_LABEL = 32,   /* what the object says of itself: tables show it with the class, in a column "object" */
    HDX_COLUMN_SPARE = 64,   /* left out first where a terminal is narrow */
    HDX_COLUMN_CHOSEN = 128, /* of rows: named by the caller (hdx_rows_select) */
    HDX_COLUMN_SHARE = 256,  /* percent of a whole, of which no two rows have the same part: a table sums it up */
    /* What a table shows in the column "object" besides: */
    HDX_COLUMN_DEPTH = 512,      /* how far below the first line of a tree it stands */
    HDX_COLUMN_REFERENCE = 1024, /* by which it leads on */
    HDX_COLUMN_TIMES = 2048,     /* how many objects it stands for */
    HDX_COLUMN_SIMILAR = 4096,   /* others that the row stands for: how many, then their size; behind the row */
    HDX_COLUMN_FEW = 8192        /* of many rows, whose texts are few: other programs get them as a dictionary */
} hdx_column_flag;

/*
 * A column of rows, a key of an object or of a document. `members` are the keys of an object, or of the objects in a
 * list. One member without a name: the entries of a list are no objects but values like it; the keys of an object are
 * data, and all values are like it.
 */
typedef struct hdx_column hdx_column;
struct hdx_column {
    const char       *name; /* key in JSON and CSV */
    hdx_type          type;
    hdx_unit          unit;     /* how a table shows it; right-aligned unless NONE */
    unsigned          flags;    /* HDX_COLUMN_... */
    const char       *sentence; /* what it says, for people; begins small, ends without a stop */
    const hdx_column *members;
    unsigned          member_count;
};

/*
 * What is asked of a source of rows before it makes them. It need not fill columns that nobody wants (they are null),
 * and may leave out rows outside of the bounds; what it leaves in, conditions decide.
 */
typedef struct hdx_bound {
    unsigned    column;      /* place among the columns of the form */
    const char *text;        /* the column is this text; NULL: it is an address or a natural number */
    uint64_t    least, most; /* in this range; most < least: nothing is */
} hdx_bound;
#define HDX_MOST_BOUNDS 8u
typedef struct hdx_wanted {
    uint64_t  columns; /* bit i: the i-th column of the form; 0: all */
    uint64_t  named;   /* those that the caller named: worth work that nobody does for all */
    hdx_bound bounds[HDX_MOST_BOUNDS];
    unsigned  bound_count;
} hdx_wanted;

typedef struct hdx_rows   hdx_rows;
HDX_API const hdx_column *hdx_rows_columns(const hdx_rows *rows, unsigned *count);
HDX_API bool              hdx_rows_next(hdx_rows *rows, const hdx_cell **cells);
HDX_API hdx_code          hdx_rows_end(hdx_rows *rows, hdx_error *err);
HDX_API void              hdx_rows_close(hdx_rows *rows); /* NULL: nothing */
/* What the JSON document holds beside "rows" ("info", "total", "paths"); key NULL at the end. */
HDX_API const hdx_member *hdx_rows_extra(const hdx_rows *rows, unsigned i);
/* What the JSON document begins with ("heapdex", "command", "dump", "damage", "warnings"); key NULL at the end. */
HDX_API const hdx_member *hdx_rows_head(const hdx_rows *rows, unsigned i);
/* A line for people above a table ("Histogram of all objects ..."), or several, an end of line between; NULL: none. */
HDX_API const char *hdx_rows_title(const hdx_rows *rows);
/*
 * Where there is not one row: why, and what to ask instead, as a line for people ("nothing is dominated by it"). When
 * all are read; NULL: nobody knows.
 */
HDX_API const char *hdx_rows_nothing(hdx_rows *rows);

/* ---- shaping ---- */
/*
 * Each takes the rows over (closed on failure too, *rows is NULL then) and gives new ones with the same extras. An
 * unknown column is HDX_USAGE: the message names the columns there are, the hint the nearest.
 *
 * A condition is "COLUMN OPERATOR VALUE". Operators: = != < <= > >= and ~ (regular expression of PCRE2, found anywhere
 * in the text; one that is too costly ends the rows with HDX_USAGE).
 * Values: numbers (12, -3, 1.5, 0x7f, 10K, 5M, 2GB: powers of 1024; 10% is 10), true, false, null, text; text may stand
 *         in '...' or "...", and then is nothing but text.
 * Numbers compare by value, texts by bytes. A value that is none of the column's type is HDX_USAGE. A cell that is null
 * is no match, except for != .
 */
/*
 * From here on shaping asks `progress`, which outlives the rows, whether to stop: matching a pattern, collecting and
 * sorting rows.
 */
HDX_API void     hdx_rows_heed(hdx_rows *rows, const hdx_progress *progress);
HDX_API hdx_code hdx_rows_where(hdx_rows **rows, const char *condition,
                                hdx_error *err); /* "retained > 1M", "class ~ ^com\." */
HDX_API hdx_code hdx_rows_sort(hdx_rows **rows, const char *column, bool descending,
                               hdx_error *err); /* stable; numbers by value, null last */
HDX_API hdx_code hdx_rows_select(hdx_rows **rows, const char *columns,
                                 hdx_error *err); /* "a,b,c"; none of them stays `wide` */
/*
 * At most n rows (0: all); after a sort no more than about 2 n rows are held. When all are read, hdx_rows_cut_off says
 * whether there were more; *more is how many, or 0 where nobody counted them.
 */
HDX_API hdx_code hdx_rows_limit(hdx_rows **rows, uint64_t n, hdx_error *err);
/* The same; rows that it leaves out and that nobody counted are counted, unless that takes longer. */
HDX_API hdx_code hdx_rows_limit_counted(hdx_rows **rows, uint64_t n, uint64_t milliseconds, hdx_error *err);
HDX_API bool     hdx_rows_cut_off(const hdx_rows *rows, uint64_t *more);

#ifdef __cplusplus
}
#endif

#endif
