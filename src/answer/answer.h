/*
 * answer.h - whole answers: from a name and arguments to rows with the head of their document. The room's public face
 * is <heapdex/answer.h>.
 *
 *   answers.c    the list of all answers, and asking one of them by its name; the other files do not call it
 *   export.c     the answer `export`: which tables there are
 *   arguments.c  the parameters that all answers take, and the checks of what was given for them
 *   asking.c     what answers share: a question is asked, rows get their head and their shape
 *   shape.c      conditions, order, limit and columns: what they ask of a question, and its rows in shape
 *   session.c    dumps, their indexes and graphs, as far as questions need them
 *   head.c       what every document begins with
 *   schema.c     the JSON Schema of an answer
 *   arrow.c      an answer as an Arrow C stream, which keeps the session
 *   histogram.c  a histogram without an index, or ahead of it     leaks.c  leaks of one or several dumps
 *   index.c      index, estimate, verify, remove                  strip.c  detect, strip, restore
 *   content.c    what one object holds
 *   output.c     which files an answer may be written to
 *   check.c      rules that a heap has to keep (checking.h has the files beside it)
 *   compare.c    several dumps side by side                       folder.c  the dumps of a folder
 */
#ifndef HDX_ANSWER_ANSWER_H
#define HDX_ANSWER_ANSWER_H

#include "base/base.h"
#include "query/questions.h"
#include "rows/arguments.h"
#include "rows/rows.h"
#include <heapdex/heapdex.h>

typedef struct answer_view { /* of an index, open */
    struct answer_view *next;
    char                name[HDX_VIEW_NAME_SIZE]; /* "": made anew since */
    hdx_graph          *graph;
} answer_view;

typedef struct answer_dump {
    const char      *path;        /* as it was named */
    bool             listed;      /* found in a folder, not named by the caller */
    const char      *application; /* that the manifest of its batch says, "" for none; NULL: it is of no batch */
    bool             opened;
    hdx_index_report report;
    hdx_graph       *graph;
    hdx_leaks       *leaks;
    answer_view     *views;
    hdx_graph       *shown; /* what the last answer was about, where that is a view; NULL */
} answer_dump;

typedef hdx_code answer_run(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err);

struct hdx_session {
    hdx_index_options    options;  /* texts are in the arena */
    hdx_progress         progress; /* the caller's, and `cancelled` */
    atomic_bool          cancelled;
    hdx_mem              mem; /* counts what questions hold */
    hdx_arena            arena;
    answer_dump         *dumps;
    size_t               dump_count;
    uint64_t             dump_capacity;
    const hdx_counts    *counts; /* of the first dump: taken by --scan (ours), or lent while it is indexed */
    hdx_index_forecast  *forecast;
    hdx_session_events   events;
    const hdx_arguments *early; /* while first_pass is set: of the histogram that it answers */
    void (*first_pass)(void *session, const hdx_counts *counts); /* of a build (histogram.c); NULL: none */
    bool            answered;                                    /* by first_pass */
    hdx_arena       check_arena;                                 /* of what `check` found last, and of the rules */
    hdx_check       check;
    bool            checked;
    hdx_session    *beside; /* while an answer is made: of the dump that this one is compared with; NULL */
    atomic_uint     uses;   /* its owner, and each stream of columns */
    pthread_mutex_t asking; /* of streams one at a time */
};

/* ---- session.c ---- */
hdx_query hdx_answer_query(hdx_session *s, const hdx_arguments *a, hdx_graph *g);
/* The graph of the first dump, or of the view that the arguments name. */
hdx_code hdx_answer_graph(hdx_session *s, const hdx_arguments *a, hdx_graph **out, hdx_error *err);
/*
 * The code of an answer, or of its rows' end, and what hdx_graph_check says of the dumps that were asked: damage comes
 * before what was made of it, no such object or no such class.
 */
hdx_code hdx_answer_judge(void *session, hdx_code code, hdx_error *err);
/* A view of this name is no longer what was opened. */
void hdx_answer_forget_view(hdx_session *s, const char *name);
/* The index options for a dump of the session. */
hdx_index_options hdx_answer_index_options(hdx_session *s, size_t place);
/* Graph and leaks of a dump that is not asked again; of the first none. */
void hdx_answer_release(hdx_session *s, size_t place);
void hdx_answer_notice(hdx_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What hdx_session_close does once nobody uses it any more. */
void hdx_answer_leave(hdx_session *s);

/* ---- export.c ---- */
/* The question of the table that an `export` names; NULL: another answer, or not the name of one table. */
const hdx_question *hdx_answer_table(const hdx_arguments *a);

/* ---- asking.c ---- */
/*
 * Head and shape, as all rows have them before they go out. q: what was wanted of the question; NULL: its rows came
 * whole. On failure the rows are closed and *rows is NULL.
 */
hdx_code hdx_answer_finish(hdx_session *s, const hdx_arguments *a, const hdx_query *q, hdx_rows **rows, hdx_error *err);
/* The rows of a question about the heap of the query; no head, no shape. Arguments are checked. */
hdx_code hdx_answer_question(const hdx_question *question, const hdx_query *q, const hdx_argument *arguments,
                             size_t count, hdx_rows **out, hdx_error *err);
/* Rows of a table that was filled with `code`; the table is used up. */
hdx_code hdx_answer_of_table(hdx_table *t, hdx_code code, hdx_rows **out, hdx_error *err);
/* One more step in making rows: on failure they are closed and *rows is NULL. */
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
 * The rows of an answer about the heap of the query, which says what is wanted of them; no head, no shape: for who does
 * that himself. Arguments are checked.
 */
hdx_code hdx_answer_open(hdx_session *s, const hdx_answer *answer, const hdx_query *q, const hdx_argument *arguments,
                         size_t count, hdx_rows **out, hdx_error *err);

/* ---- shape.c ---- */
const char *hdx_answer_last(const hdx_arguments *a, const char *name); /* NULL: not given */
/* How whole texts must be for conditions and order: none goes by a part of one. */
hdx_whole  hdx_answer_decides_by(const hdx_arguments *a, const hdx_form *form);
hdx_wanted hdx_answer_wanted(const hdx_arguments *a, const hdx_form *form, hdx_arena *arena);
/* Of an answer about a set of objects: the conditions that are on fields of these, for the question. */
hdx_code hdx_answer_fields(const hdx_arguments *a, const hdx_form *form, hdx_arena *arena, hdx_query *q,
                           hdx_error *err);
hdx_code hdx_answer_shape(const hdx_arguments *a, const hdx_query *q, hdx_rows **rows, hdx_error *err);

/* ---- head.c ---- */
/* lacks: a warning besides those of the dump, as hdx_session_lacks gives it; NULL: none. */
hdx_code hdx_answer_set_head(hdx_session *s, const char *command, const char *lacks, hdx_rows *rows, hdx_error *err);

/* ---- folder.c ---- */
/*
 * Each dump of the session that is a folder, and no index, gives way to the dumps in it: by the time in their heads,
 * then by name; those that a batch wrote to give way to the dumps of that batch. HDX_USAGE: there is none.
 */
hdx_code hdx_answer_expand_folders(hdx_session *s, hdx_error *err);
/*
 * Puts the dumps of one application first, each in its order, and those that were named; *count is how many these are.
 * application NULL: all, which `one` demands to be of one application. HDX_USAGE: they are of several; HDX_NOT_FOUND:
 * none is of this one.
 */
hdx_code hdx_answer_choose_application(hdx_session *s, const char *application, bool one, size_t *count,
                                       hdx_error *err);

/* ---- leaks.c ---- */
/* What --finder and --class say, and what the session gives to a search. */
hdx_code hdx_answer_leaks_wanted(hdx_session *s, const hdx_arguments *a, hdx_leaks_options *o, hdx_error *err);
/* Simple names of classes are those of this dump. */
hdx_code hdx_answer_leaks_search(hdx_session *s, hdx_graph *g, const hdx_leaks_options *o, hdx_leaks **out,
                                 hdx_error *err);

/* Does the file begin as a heap dump does, plain or compressed? *time_ms: when it was made; 0: not known. */
bool hdx_answer_is_dump(const char *path, uint64_t *time_ms);

/* ---- night.c ---- */
/* `application`: as the manifest has it, "" where it has none; both texts live until the call returns. */
typedef hdx_code hdx_answer_night_take(void *context, const char *index, const char *application, hdx_error *err);
/* Is it the folder that a batch wrote to (--out)? Then the index of each dump that is done; notices tell the others. */
hdx_code hdx_answer_night(hdx_session *s, const char *out, hdx_answer_night_take *take, void *context, bool *is_one,
                          hdx_error *err);

/* ---- one file each ---- */
extern const hdx_answer hdx_answer_index, hdx_answer_estimate, hdx_answer_verify, hdx_answer_remove, hdx_answer_detect,
    hdx_answer_strip, hdx_answer_restore, hdx_answer_export, hdx_answer_check_rules;
answer_run hdx_answer_run_index, hdx_answer_run_estimate, hdx_answer_run_verify, hdx_answer_run_remove,
    hdx_answer_run_detect, hdx_answer_run_strip, hdx_answer_run_restore, hdx_answer_run_histogram, hdx_answer_run_leaks,
    hdx_answer_run_check, hdx_answer_run_diff, hdx_answer_run_trend;

#endif
