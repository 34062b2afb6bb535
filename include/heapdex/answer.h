/*
 * answer.h - the catalog of answers with their columns and parameters, and sessions that run them.
 *
 * Example (examples/answer.c):
 *     const hdx_index_options  options = { .dump = dump };
 *     const hdx_argument       arguments[] = { { "by", "package" }, { "limit", "5" } };
 *     const hdx_render_options csv = { .format = HDX_FORMAT_CSV };
 *     const hdx_sink           sink = { put, stdout };
 *     hdx_session             *session = NULL;
 *     hdx_rows                *rows = NULL;
 *     hdx_error                err;
 *     hdx_code                 code = hdx_session_open(&options, &session, &err);
 *     if (code == HDX_OK) // the first answer builds the index where there is none
 *         code = hdx_answer_run(session, "histogram", arguments, 2, &rows, &err);
 *     if (code == HDX_OK)
 *         code = hdx_render(rows, &csv, &sink, &err);
 *     if (code != HDX_OK)
 *         fprintf(stderr, "%s: %s\n", err.where, err.message);
 *     hdx_rows_close(rows);
 *     hdx_session_close(session);
 *
 * A program that shows answers (command line, server, SQL) need not know any of them: names, types, units and
 * descriptions of columns and parameters are declared here. Each answer is declared once, next to the code that
 * computes it.
 */
#ifndef HEAPDEX_ANSWER_H
#define HEAPDEX_ANSWER_H

#include <heapdex/check.h>
#include <heapdex/graph.h>
#include <heapdex/index.h>
#include <heapdex/leaks.h>
#include <heapdex/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- declarations of answers ---- */
typedef enum hdx_parameter_kind {
    HDX_PARAMETER_FLAG,    /* "true" or "false"; NULL means "true" */
    HDX_PARAMETER_NUMBER,  /* whole number, least .. most */
    HDX_PARAMETER_SIZE,    /* bytes: "1048576", "768M", "4G" (powers of 1024) */
    HDX_PARAMETER_CHOICE,  /* one of `choices` */
    HDX_PARAMETER_CHOICES, /* several of `choices`, separated by commas */
    HDX_PARAMETER_TEXT,
    HDX_PARAMETER_CLASSES, /* an exact name, a glob (* and ?), a /regular expression/ */
    HDX_PARAMETER_OBJECTS, /* 0x7f3a10, #1234, com.acme.Cache@0x7f3a10, class:com.acme.Cache, thread:main */
    HDX_PARAMETER_FIELD,   /* CLASS#FIELD */
    HDX_PARAMETER_FILE
} hdx_parameter_kind;

typedef enum hdx_parameter_flag {
    HDX_PARAMETER_REQUIRED = 1,
    HDX_PARAMETER_REPEATED = 2, /* may be given several times */
    HDX_PARAMETER_WORD = 4,     /* on a command line it follows the dump, without its name */
    HDX_PARAMETER_EITHER = 8    /* at least one of the parameters with this flag is required */
} hdx_parameter_flag;

typedef struct hdx_parameter {
    const char        *name;
    hdx_parameter_kind kind;
    unsigned           flags;       /* HDX_PARAMETER_REQUIRED ... */
    const char        *value;       /* name of the value in help texts: "PATTERN"; NULL for flags */
    const char        *choices;     /* allowed words, separated by blanks; NULL: any value */
    const char        *preset;      /* value that applies if it is not given; NULL: none */
    const char        *excludes;    /* parameters that cannot be given with it, separated by blanks; NULL: none */
    const char        *needs;       /* a parameter that must be given with it; NULL: none */
    uint64_t           least, most; /* of numbers; most 0: no upper bound */
    const char        *sentence;
} hdx_parameter;

/* The columns of an answer for certain arguments. The first form whose condition holds applies. */
typedef struct hdx_form {
    const char       *parameter; /* NULL: the form always applies */
    const char       *is;        /* value of the parameter in this form; "true" for flags */
    const hdx_column *columns;
    unsigned          column_count;
} hdx_form;

typedef enum hdx_answer_flag {
    HDX_ANSWER_LONG = 1,    /* many rows: tables show 25 by default */
    HDX_ANSWER_PAGES = 2,   /* a row is as long as a page and does not fit in a table */
    HDX_ANSWER_DUMPS = 4,   /* accepts one or several dumps (hdx_session_add) */
    HDX_ANSWER_PLAIN = 8,   /* rows alone, for other programs, without a document */
    HDX_ANSWER_HEAP = 16,   /* reads the heap of a dump, and therefore opens its index */
    HDX_ANSWER_VALUES = 64, /* has names of references, labels or values, which are read from the dump */
    /* rows are a set of objects: conditions on other names than columns apply to fields of these objects */
    HDX_ANSWER_MEMBERS = 128,
    HDX_ANSWER_NO_VIEWS = 256, /* of HDX_ANSWER_HEAP: has its own rules of reachability and does not accept views */
    HDX_ANSWER_TOGETHER = 512, /* of HDX_ANSWER_DUMPS: needs at least two dumps */
    /* includes the objects that `reachable` selects; other answers of HDX_ANSWER_HEAP include live objects only */
    HDX_ANSWER_SCOPED = 32
} hdx_answer_flag;

typedef struct hdx_answer {
    const char          *name;
    unsigned             flags;       /* HDX_ANSWER_... */
    const char          *sentence;    /* one line */
    const char          *more;        /* a paragraph; "" for tables */
    const char          *examples[2]; /* command lines; NULL for tables */
    const hdx_form      *forms;
    unsigned             form_count;
    const hdx_column    *document; /* keys of the JSON document other than "rows" */
    unsigned             document_count;
    const hdx_parameter *parameters; /* in addition to hdx_answer_common */
    unsigned             parameter_count;
    /*
     * For rows that are sorted by address: the column by which tables sort them by default, largest first. NULL: the
     * rows are already in the most useful order. Applies to the form without a condition only.
     */
    const char *order;
} hdx_answer;

HDX_API const hdx_answer *const *hdx_answers(size_t *count);         /* in the order of the help text */
HDX_API const hdx_answer        *hdx_answer_named(const char *name); /* NULL: no such answer */

/*
 * Returns the declarations of the tables of `export`: objects, references, classes ... Their names differ from those of
 * answers.
 */
HDX_API const hdx_answer *const *hdx_tables(size_t *count);

/*
 * Returns the parameters that all answers accept: columns, sort, limit, where, reachable, view, document, texts, sizes.
 */
HDX_API const hdx_parameter *hdx_answer_common(size_t *count);

/* ---- running answers ---- */
typedef struct hdx_argument {
    const char *name, *value;
} hdx_argument;

/*
 * Checks that an answer accepts these arguments and their values. `before` is a prefix of names in messages ("--").
 * Returns HDX_USAGE.
 */
HDX_API hdx_code hdx_answer_check(const hdx_answer *answer, const hdx_argument *arguments, size_t count,
                                  const char *before, hdx_error *err);

/* Returns the form that applies to these arguments. */
HDX_API const hdx_form *hdx_answer_form(const hdx_answer *answer, const hdx_argument *arguments, size_t count);

typedef struct hdx_session hdx_session;

/*
 * Opens a session. Texts of the options are copied; `progress` and `notice` may be called until hdx_session_close.
 * Nothing is opened or built yet: the first answer that needs an index does that. One thread at a time may use a
 * session, except for hdx_session_cancel and hdx_session_handle_fault.
 */
HDX_API hdx_code hdx_session_open(const hdx_index_options *options, hdx_session **out, hdx_error *err);

/* Adds a dump, for answers about several. Each dump has its own index and graph. */
HDX_API hdx_code hdx_session_add(hdx_session *s, const char *dump, hdx_error *err);

/* Closes a session. NULL is allowed. REQUIRES: its rows are closed. Arrow streams may remain open. */
HDX_API void hdx_session_close(hdx_session *s);

/*
 * Cancels a session: the running call soon ends with HDX_CANCELLED, and so do all later ones. Any thread may call it.
 */
HDX_API void hdx_session_cancel(hdx_session *s);

/*
 * Sets the limit for the memory of answers: working sets (lists of objects, sums, marks, searches) and rows that are
 * held to sort them, to label them, or because an answer is collected completely. It applies to all open rows of the
 * session together. An answer that exceeds it ends with HDX_LIMIT and a message that names the requested size; the
 * session remains usable. 0, the initial value: no limit. Not included: mapped pages of the index, tables of an open
 * graph, what it reads of the dump for one row, and builds and leak searches, which observe `memory` of the options.
 * REQUIRES: no rows are open.
 */
HDX_API void hdx_session_limit(hdx_session *s, uint64_t bytes);

/* Callbacks about the progress of a session. Each may be NULL. `place` is the index of the dump in the session. */
typedef struct hdx_session_events {
    void *context;
    void (*opening)(void *context, size_t place); /* before the index is looked up, and built if it is missing */
    void (*opened)(void *context, size_t place);  /* after the graph was opened */
    /*
     * Called with the rows of a histogram of all objects after the first pass of a build, before the build continues.
     * hdx_answer_run then returns no rows. If the callback returns false, hdx_answer_run returns them again.
     */
    bool (*early)(void *context, hdx_rows *rows);
    /*
     * Called with the name of the temporary file while the answer writes a file, and with NULL when it no longer
     * exists. A program that exits at once on a signal can remove it.
     */
    void (*writing)(void *context, const char *temporary);
} hdx_session_events;

/* Sets the callbacks of a session. *events is copied. */
HDX_API void hdx_session_listen(hdx_session *s, const hdx_session_events *events);

/* ---- contents of a session; place 0 is the dump that hdx_session_open was given ---- */
/*
 * Returns the graph of a dump, which belongs to the session. Builds the index if it is missing, and opens it. Returns
 * HDX_USAGE if there is no such dump, and the errors of hdx_index_build and hdx_graph_open.
 */
HDX_API hdx_code hdx_session_graph(hdx_session *s, size_t place, hdx_graph **out, hdx_error *err);

/* Same as hdx_session_graph for a view that the index already has; `view` NULL: the whole heap. */
HDX_API hdx_code hdx_session_view(hdx_session *s, size_t place, const char *view, hdx_graph **out, hdx_error *err);

/*
 * Returns the summary of the open graph (of the view that was last used), or that of an answer without an index; NULL:
 * neither.
 */
HDX_API const hdx_graph_summary *hdx_session_summary(const hdx_session *s, size_t place);

/* Returns the report about the index of a dump; NULL if none was opened. */
HDX_API const hdx_index_report *hdx_session_report(const hdx_session *s, size_t place);

/* Returns a sentence about what an answer lacks because the dump of the index is unavailable; NULL: nothing. */
HDX_API const char *hdx_session_lacks(const hdx_session *s, size_t place, const hdx_answer *answer);

/* Returns the path of a dump as it was given; NULL if there is no such dump. */
HDX_API const char *hdx_session_dump(const hdx_session *s, size_t place);

/* Returns the leaks that the answer `leaks` found; NULL if it was not run. */
HDX_API const hdx_leaks *hdx_session_leaks(const hdx_session *s, size_t place);

/* Returns the result of the last answer `check`; NULL if it was not run or failed. Valid until `check` is run again. */
HDX_API const hdx_check *hdx_session_check(const hdx_session *s);

/* Same as hdx_graph_handle_fault for all graphs of the session, for a handler of SIGBUS. */
HDX_API bool hdx_session_handle_fault(hdx_session *s, const void *address);

/*
 * Runs an answer. The rows are shaped by the arguments and contain the head of the document (hdx_rows_head). They
 * belong to the caller, who closes them before the session. Returns HDX_USAGE if there is no such answer, argument or
 * column, HDX_NOT_FOUND if the dump lacks an object, class or thread that an argument names, HDX_LIMIT, HDX_CANCELLED,
 * and the errors of hdx_session_graph. On failure *out is NULL.
 */
HDX_API hdx_code hdx_answer_run(hdx_session *s, const char *name, const hdx_argument *arguments, size_t count,
                                hdx_rows **out, hdx_error *err);

/*
 * Gives the content of the one object that the argument `object` names to `put`, piece by piece: as hdx_graph_content,
 * and the pixels of an android.graphics.Bitmap as a PNG file. put NULL: only *what is set. HDX_USAGE: no object or
 * several are named. HDX_NOT_FOUND: the object has no such content, or it was stripped from the dump.
 */
HDX_API hdx_code hdx_answer_content(hdx_session *s, const hdx_argument *arguments, size_t count, hdx_put *put,
                                    void *context, hdx_content *what, hdx_error *err);

/*
 * Runs an answer and returns its rows as an Arrow C stream (columns.h). Texts are whole and the document is omitted
 * unless the arguments request otherwise; the argument `columns` selects the columns. The stream and its batches may
 * outlive hdx_session_close, and another thread may read the stream; only one stream of a session may be read at a
 * time. hdx_session_cancel ends it.
 */
struct ArrowArrayStream;
HDX_API hdx_code hdx_answer_arrow(hdx_session *s, const char *name, const hdx_argument *arguments, size_t count,
                                  struct ArrowArrayStream *out, hdx_error *err);

/*
 * Checks that an output of a call may replace the file at `path`. `inputs`: all files that the call reads. HDX_USAGE if
 * `path` leads to one of them or to standard input (same device and inode), is a folder or a heap dump, or if the path
 * or the target of its symbolic links lies inside an index.
 * Call it before the output is opened. Any thread may call it.
 */
HDX_API hdx_code hdx_output_check(const char *path, const char *const *inputs, size_t count, hdx_error *err);

/* Returns whether the file at `path` begins like a heap dump, plain or compressed. Any thread may call it. */
HDX_API bool hdx_output_is_dump(const char *path);

/*
 * Returns in *text the JSON Schema (2020-12) of the document that hdx_render writes for this answer and these
 * arguments. The caller frees it with hdx_text_free.
 */
HDX_API hdx_code hdx_answer_schema(const hdx_answer *answer, const hdx_argument *arguments, size_t count, char **text,
                                   hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
