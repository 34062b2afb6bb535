/*
 * answer.h - complete answers: from a name and arguments to rows with the head of their document. <heapdex/answer.h> is
 * the public part of the room.
 *
 *   answers.c    the list of all answers, and how to run one by its name; the other files do not call it
 *   export.c     the answer `export`: the list of tables
 *   arguments.c  the parameters that all answers accept, and the checks of arguments
 *   asking.c     shared by answers: runs a question, adds the head to its rows and shapes them
 *   shape.c      conditions, order, limit and columns: what they require of a question, and the shaping of rows
 *   page.c       recognizes the question of which a cursor continues the rows
 *   session.c    dumps, their indexes and graphs, as far as questions need them
 *   head.c       the head of every document
 *   schema.c     the JSON Schema of an answer
 *   arrow.c      an answer as an Arrow C stream, which keeps the session open
 *   histogram.c  a histogram without an index, or ahead of it     leaks.c  leaks of one or several dumps
 *   index.c      index, estimate, verify, remove                  strip.c  detect, strip, restore
 *   content.c    the content of one object
 *   output.c     which files an answer may write
 *   check.c      rules for a heap (checking.h lists its other files)
 *   compare.c    compares several dumps                           folder.c  the dumps of a folder
 */
#ifndef HDX_ANSWER_ANSWER_H
#define HDX_ANSWER_ANSWER_H

#include "base/base.h"
#include "query/questions.h"
#include "rows/arguments.h"
#include "rows/rows.h"
#include <heapdex/heapdex.h>

typedef struct answer_view { /* an open view of an index */
    struct answer_view *next;
    char                name[HDX_VIEW_NAME_SIZE]; /* "": the view was replaced since */
    hdx_graph          *graph;
} answer_view;

typedef struct answer_dump {
    const char      *path;        /* as the caller gave it */
    bool             listed;      /* found in a folder, not named by the caller */
    const char      *application; /* as in the manifest of its batch, "" for none; NULL: it is not part of a batch */
    bool             opened;
    hdx_index_report report;
    hdx_graph       *graph;
    hdx_leaks       *leaks;
    answer_view     *views;
    hdx_graph       *shown; /* the view that the last answer used; NULL: none */
} answer_dump;

typedef hdx_code answer_run(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err);

struct hdx_session {
    hdx_index_options    options;  /* texts are in the arena */
    hdx_progress         progress; /* the caller's callbacks, and `cancelled` */
    atomic_bool          cancelled;
    hdx_mem              mem; /* counts the memory of questions */
    hdx_arena            arena;
    answer_dump         *dumps;
    size_t               dump_count;
    uint64_t             dump_capacity;
    const hdx_counts    *counts; /* of the first dump: from --scan (owned), or borrowed while it is indexed */
    hdx_index_forecast  *forecast;
    hdx_session_events   events;
    const hdx_arguments *early; /* while first_pass is set: arguments of the histogram that it answers */
    void (*first_pass)(void *session, const hdx_counts *counts); /* callback of a build (histogram.c); NULL: none */
    bool      answered;                                          /* by first_pass */
    hdx_arena check_arena;                                       /* for the results and rules of the last `check` */
    hdx_check check;
    bool      checked;
    /* while an answer runs: the session of the dump with which this one is compared; NULL: none */
    hdx_session    *baseline;
    atomic_uint     uses;   /* its owner, and each Arrow stream */
    pthread_mutex_t asking; /* lets streams run one at a time */
};

/* ---- session.c ---- */
hdx_query hdx_answer_query(hdx_session *s, const hdx_arguments *a, hdx_graph *g);
/* Returns the graph of the first dump, or of the view that the arguments name. */
hdx_code hdx_answer_graph(hdx_session *s, const hdx_arguments *a, hdx_graph **out, hdx_error *err);
/*
 * Returns the code of an answer, or of the end of its rows, unless hdx_graph_check reports a problem of the dumps that
 * were used: damage takes precedence over its consequences, such as a missing object or class.
 */
hdx_code hdx_answer_judge(void *session, hdx_code code, hdx_error *err);
/* Marks a view of this name as replaced. */
void hdx_answer_forget_view(hdx_session *s, const char *name);
/* Returns the index options for a dump of the session. */
hdx_index_options hdx_answer_index_options(hdx_session *s, size_t place);
/* Closes graph and leaks of a dump that is no longer needed, unless it is the first. */
void hdx_answer_release(hdx_session *s, size_t place);
void hdx_answer_notice(hdx_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Frees the session after its last use: see hdx_session_close. */
void hdx_answer_leave(hdx_session *s);

/* ---- export.c ---- */
/* Returns the question of the table that an `export` names; NULL: another answer, or not the name of one table. */
const hdx_question *hdx_answer_table(const hdx_arguments *a);

/* ---- asking.c ---- */
/*
 * Adds the head to rows and shapes them, as all rows are before they are returned. q: what was requested of the
 * question; NULL: its rows are complete. On failure the rows are closed and *rows is NULL.
 */
hdx_code hdx_answer_finish(hdx_session *s, const hdx_arguments *a, const hdx_query *q, hdx_rows **rows, hdx_error *err);
/* Returns the rows of a question about the heap of the query, without head and shaping. Checks the arguments. */
hdx_code hdx_answer_question(const hdx_question *question, const hdx_query *q, const hdx_argument *arguments,
                             size_t count, hdx_rows **out, hdx_error *err);
/* Returns the rows of a table that was filled with `code`, and takes ownership of the table. */
hdx_code hdx_answer_of_table(hdx_table *t, hdx_code code, hdx_rows **out, hdx_error *err);
/* Closes the rows and sets *rows to NULL if `code` is an error. Returns `code`. */
static inline hdx_code hdx_answer_or_close(hdx_rows **rows, hdx_code code)
{
    if (code == HDX_OK)
        return code;
    hdx_rows_close(*rows);
    *rows = NULL;
    return code;
}

/* ---- answers.c ---- */
/*
 * Returns the rows of an answer about the heap of the query, which says what is requested of them, without head and
 * shaping, for callers that do these themselves. Checks the arguments.
 */
hdx_code hdx_answer_open(hdx_session *s, const hdx_answer *answer, const hdx_query *q, const hdx_argument *arguments,
                         size_t count, hdx_rows **out, hdx_error *err);

/* ---- shape.c ---- */
const char *hdx_answer_last(const hdx_arguments *a, const char *name); /* NULL: not given */
/* Returns how much of a text conditions and the order need: they never use a truncated text. */
hdx_whole  hdx_answer_decides_by(const hdx_arguments *a, const hdx_form *form);
hdx_wanted hdx_answer_wanted(const hdx_arguments *a, const hdx_form *form, hdx_arena *arena);
/* Passes conditions on fields to the question, if the answer is about a set of objects. */
hdx_code hdx_answer_fields(const hdx_arguments *a, const hdx_form *form, hdx_arena *arena, hdx_query *q,
                           hdx_error *err);
/* mark: of the question, for cursors (page.c). */
hdx_code hdx_answer_shape(const hdx_arguments *a, const hdx_query *q, uint32_t mark, hdx_rows **rows, hdx_error *err);

/* ---- page.c ---- */
/*
 * Computes the mark of a question about the dumps of the session. Returns HDX_USAGE if the arguments have a cursor with
 * another mark. s NULL: the question is not about dumps of a session.
 */
hdx_code hdx_answer_mark(const hdx_session *s, const hdx_arguments *a, uint32_t *mark, hdx_error *err);

/* ---- head.c ---- */
/* Sets the head of the document. lacks: an additional warning, from hdx_session_lacks; NULL: none. */
hdx_code hdx_answer_set_head(hdx_session *s, const char *command, const char *lacks, hdx_rows *rows, hdx_error *err);

/* ---- folder.c ---- */
/*
 * Replaces each dump of the session that is a folder, but not an index, by the dumps in it, sorted by the time in their
 * headers, then by name; the output folder of a batch by the dumps of that batch. Returns HDX_USAGE if there are none.
 */
hdx_code hdx_answer_expand_folders(hdx_session *s, hdx_error *err);
/*
 * Moves the dumps of one application to the front, in their order, together with those that the caller named; *count is
 * their number. application NULL: all dumps, which must be of one application if `one` is set. Returns HDX_USAGE if
 * they are of several, HDX_NOT_FOUND if none is of this one.
 */
hdx_code hdx_answer_choose_application(hdx_session *s, const char *application, bool one, size_t *count,
                                       hdx_error *err);

/* ---- leaks.c ---- */
/* Sets the options of a search from --finder, --class and the session. */
hdx_code hdx_answer_leaks_wanted(hdx_session *s, const hdx_arguments *a, hdx_leaks_options *o, hdx_error *err);
/* Searches for leaks. Class names without a package are resolved in this dump. */
hdx_code hdx_answer_leaks_search(hdx_session *s, hdx_graph *g, const hdx_leaks_options *o, hdx_leaks **out,
                                 hdx_error *err);

/* Returns whether a file begins like a heap dump, plain or compressed. *time_ms: when the dump was made; 0: unknown. */
bool hdx_answer_is_dump(const char *path, uint64_t *time_ms);

/* ---- batch_output.c ---- */
/* `application`: from the manifest, "" for none. Both texts are valid until the call returns. */
typedef hdx_code hdx_answer_batch_visit(void *context, const char *index, const char *application, hdx_error *err);
/*
 * Sets *is_one if a folder is the output folder of a batch (--out), and then passes the index of each completed dump;
 * notices report the others.
 */
hdx_code hdx_answer_batch_output(hdx_session *s, const char *out, hdx_answer_batch_visit *take, void *context,
                                 bool *is_one, hdx_error *err);

/* ---- one file each ---- */
extern const hdx_answer hdx_answer_index, hdx_answer_estimate, hdx_answer_verify, hdx_answer_remove, hdx_answer_detect,
    hdx_answer_strip, hdx_answer_restore, hdx_answer_export, hdx_answer_check_rules;
answer_run hdx_answer_run_index, hdx_answer_run_estimate, hdx_answer_run_verify, hdx_answer_run_remove,
    hdx_answer_run_detect, hdx_answer_run_strip, hdx_answer_run_restore, hdx_answer_run_histogram, hdx_answer_run_leaks,
    hdx_answer_run_check, hdx_answer_run_diff, hdx_answer_run_trend;

#endif
