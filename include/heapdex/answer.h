/*
 * answer.h - the answers there are, by name: their columns, their parameters, and how to ask for them.
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
 * Whichever program shows answers (command line, server, SQL) needs to know none of them: names, types, units and
 * sentences of columns and parameters are here. An answer is declared once, beside the code that gives it.
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

/* ---- what there is to ask ---- */
typedef enum hdx_parameter_kind {
    HDX_PARAMETER_FLAG,    /* "true" or "false"; NULL is "true" */
    HDX_PARAMETER_NUMBER,  /* whole, least .. most */
    HDX_PARAMETER_SIZE,    /* bytes: "1048576", "768M", "4G" (powers of 1024) */
    HDX_PARAMETER_CHOICE,  /* one of `choices` */
    HDX_PARAMETER_CHOICES, /* some of them, commas between */
    HDX_PARAMETER_TEXT,
    HDX_PARAMETER_CLASSES, /* an exact name, a glob (* and ?), a /regular expression/ */
    HDX_PARAMETER_OBJECTS, /* 0x7f3a10, #1234, com.acme.Cache@0x7f3a10, class:com.acme.Cache, thread:main */
    HDX_PARAMETER_FIELD,   /* CLASS#FIELD */
    HDX_PARAMETER_FILE
} hdx_parameter_kind;

typedef enum hdx_parameter_flag {
    HDX_PARAMETER_REQUIRED = 1,
    HDX_PARAMETER_REPEATED = 2, /* may be given several times */
    HDX_PARAMETER_WORD = 4,     /* on a command line it stands after the dump, without its name */
    HDX_PARAMETER_EITHER = 8    /* one or more of the parameters with this flag are needed */
} hdx_parameter_flag;

typedef struct hdx_parameter {
    const char        *name;
    hdx_parameter_kind kind;
    unsigned           flags;       /* HDX_PARAMETER_REQUIRED ... */
    const char        *value;       /* what people call the value: "PATTERN"; NULL of flags */
    const char        *choices;     /* allowed words, a blank between two; NULL: any */
    const char        *preset;      /* what holds where it is not given; NULL: nothing does */
    const char        *excludes;    /* parameters that it cannot stand beside, blanks between; NULL: none */
    const char        *needs;       /* a parameter without which it says nothing; NULL: none */
    uint64_t           least, most; /* of numbers; most 0: any */
    const char        *sentence;
} hdx_parameter;

/* An answer may have other columns under other arguments: the first form whose condition holds. */
typedef struct hdx_form {
    const char       *parameter; /* NULL: always */
    const char       *is;        /* the value it has then; "true" of a flag */
    const hdx_column *columns;
    unsigned          column_count;
} hdx_form;

typedef enum hdx_answer_flag {
    HDX_ANSWER_LONG = 1,       /* people want its beginning: tables show 25 rows unless told */
    HDX_ANSWER_PAGES = 2,      /* a row is a page: tables have no room for it */
    HDX_ANSWER_DUMPS = 4,      /* of one or several dumps (hdx_session_add) */
    HDX_ANSWER_PLAIN = 8,      /* rows alone, for other programs: there is no document */
    HDX_ANSWER_HEAP = 16,      /* asks the heap of a dump, and opens its index for that */
    HDX_ANSWER_VALUES = 64,    /* has names of references, labels or values, which the dump alone knows */
    HDX_ANSWER_MEMBERS = 128,  /* of a set of objects: conditions on what is no column are on fields of these */
    HDX_ANSWER_NO_VIEWS = 256, /* of HDX_ANSWER_HEAP: has its own rules of what holds, and is not asked of views */
    HDX_ANSWER_TOGETHER = 512, /* of HDX_ANSWER_DUMPS: says nothing of one dump alone */
    HDX_ANSWER_SCOPED = 32 /* of the objects that `reachable` says; others of HDX_ANSWER_HEAP know live ones alone */
} hdx_answer_flag;

typedef struct hdx_answer {
    const char          *name;
    unsigned             flags;       /* HDX_ANSWER_... */
    const char          *sentence;    /* one line */
    const char          *more;        /* a paragraph; "" of tables */
    const char          *examples[2]; /* command lines; NULL of tables */
    const hdx_form      *forms;
    unsigned             form_count;
    const hdx_column    *document; /* keys of the JSON document beside "rows" */
    unsigned             document_count;
    const hdx_parameter *parameters; /* besides those that all answers take */
    unsigned             parameter_count;
    /*
     * Of rows that come by address: the column by which tables sort them unless told, the largest first. NULL: rows
     * come in an order that says most. Of the form without a condition alone.
     */
    const char *order;
} hdx_answer;

HDX_API const hdx_answer *const *hdx_answers(size_t *count);         /* in the order in which a person meets them */
HDX_API const hdx_answer        *hdx_answer_named(const char *name); /* NULL: none */

/* Whole tables (`export`): objects, references, classes ...; their names are those of no question. */
HDX_API const hdx_answer *const *hdx_tables(size_t *count);

/* Taken by all answers: columns, where, sort, limit, reachable, view. */
HDX_API const hdx_parameter *hdx_answer_common(size_t *count);

/* ---- asking ---- */
typedef struct hdx_argument {
    const char *name, *value;
} hdx_argument;

/*
 * Are these arguments of that answer, each with a value it can have? HDX_USAGE; `before` stands in front of names in
 * messages ("--").
 */
HDX_API hdx_code hdx_answer_check(const hdx_answer *answer, const hdx_argument *arguments, size_t count,
                                  const char *before, hdx_error *err);

/* The form that these arguments give. */
HDX_API const hdx_form *hdx_answer_form(const hdx_answer *answer, const hdx_argument *arguments, size_t count);

typedef struct hdx_session hdx_session;

/*
 * Remembers the options (texts are copied; `progress` and `notice` are called until hdx_session_close). Neither opens
 * nor builds anything: the first answer that needs an index does. One session is asked by one thread at a time.
 */
HDX_API hdx_code hdx_session_open(const hdx_index_options *options, hdx_session **out, hdx_error *err);

/* Another dump for questions about several; each has an index and a graph of its own. */
HDX_API hdx_code hdx_session_add(hdx_session *s, const char *dump, hdx_error *err);
HDX_API void     hdx_session_close(hdx_session *s); /* NULL: nothing; after the rows it gave */

/* What runs ends soon with HDX_CANCELLED, and so does all that is asked after it. From any thread. */
HDX_API void hdx_session_cancel(hdx_session *s);

/*
 * Bounds the memory of questions: what one works with (lists of objects, sums, marks, searches) and the rows it holds,
 * to sort them, to label them, or since an answer is collected whole, of all rows of the session that are open. What
 * does not fit is HDX_LIMIT, with what wanted how much, and the session goes on. 0, as at first: no bound. Not counted:
 * mapped pages of the index, the tables of an open graph and what it reads of the dump for one row, a build and the
 * search for leaks, which heed `memory` of the options. Between questions, when no rows are open.
 */
HDX_API void hdx_session_limit(hdx_session *s, uint64_t bytes);

typedef struct hdx_session_events { /* each may be NULL */
    void *context;
    void (*opening)(void *context, size_t place); /* its index will be looked for, and built where there is none */
    void (*opened)(void *context, size_t place);  /* its graph is open */
    /*
     * A histogram of all objects is known after the first pass of a build: its rows are given here while the rest goes
     * on, and hdx_answer_run gives none. False: they could not be used, and hdx_answer_run gives them again.
     */
    bool (*early)(void *context, hdx_rows *rows);
    /*
     * The answer writes a file: the name of its temporary file, or NULL when that is gone. A program that exits at once
     * on a signal can remove it.
     */
    void (*writing)(void *context, const char *temporary);
} hdx_session_events;
HDX_API void hdx_session_listen(hdx_session *s, const hdx_session_events *events);

/* ---- what a session has; place 0 is the dump it was opened with ---- */
/* Opened, built first where there is none. The session's. */
HDX_API hdx_code hdx_session_graph(hdx_session *s, size_t place, hdx_graph **out, hdx_error *err);

/* The same of a view of its index, which is there; view NULL: hdx_session_graph. */
HDX_API hdx_code hdx_session_view(hdx_session *s, size_t place, const char *view, hdx_graph **out, hdx_error *err);

/* Of the graph (of that of the view that was asked last), or of what an answer without an index has read; NULL:
 * neither. */
HDX_API const hdx_graph_summary *hdx_session_summary(const hdx_session *s, size_t place);
HDX_API const hdx_index_report  *hdx_session_report(const hdx_session *s, size_t place); /* NULL: no index was opened */

/* What the answer misses since the dump of that index is not at hand, as a sentence; NULL: nothing. */
HDX_API const char *hdx_session_lacks(const hdx_session *s, size_t place, const hdx_answer *answer);
HDX_API const char *hdx_session_dump(const hdx_session *s, size_t place); /* as it was named; NULL: there is none */
HDX_API const hdx_leaks *hdx_session_leaks(const hdx_session *s,
                                           size_t place); /* found by the answer `leaks`; NULL: not searched */

/* What the answer `check` found last; NULL: it was not asked. Until it is asked again. */
HDX_API const hdx_check *hdx_session_check(const hdx_session *s);

/* hdx_graph_mend for all its graphs: from a handler of SIGBUS. */
HDX_API bool hdx_session_mend(hdx_session *s, const void *address);

/*
 * *out gives rows as the arguments shape them, and carries the head of the document (hdx_rows_head): the caller's,
 * closed before the session. HDX_USAGE: no such answer, argument or column. Else as the answer says.
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
 * The same rows as an Arrow C stream (columns.h), texts whole and without the document unless the arguments say it:
 * which columns there are says the argument `columns`. The stream may outlive hdx_session_close, as may its batches,
 * and may be read on another thread: streams of one session are read one at a time. hdx_session_cancel ends it.
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
 * The JSON Schema (2020-12) of the document that hdx_render writes of this answer. Appends to a text that the caller
 * frees (hdx_text_free).
 */
HDX_API hdx_code hdx_answer_schema(const hdx_answer *answer, const hdx_argument *arguments, size_t count, char **text,
                                   hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
