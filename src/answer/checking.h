/*
 * checking.h - shared by the files of the answer `check`: one run of it, and its results so far.
 *
 *   check.c          the declaration; arguments and files to rules; results to rows
 *   checking.c       the words and numbers of a result, and the list of results
 *   check_measure.c  max and min: a number of the heap, the object that weighs most in it
 *   check_growth.c   classes against those of another dump
 *   check_found.c    leaks, suspects, damage
 *   check_path.c     one object and what holds it, in words
 */
#ifndef HDX_ANSWER_CHECKING_H
#define HDX_ANSWER_CHECKING_H

#include "answer/answer.h"
#include "check/check.h"

#define HDX_FINDINGS_MOST 20u /* most findings of a rule; further ones are only counted */

typedef struct hdx_checking {
    hdx_session             *s;
    hdx_query                q; /* of the dump, or the view, that is checked */
    hdx_graph               *g;
    const hdx_graph_summary *sum;
    const char              *view, *baseline; /* NULL: none */
    hdx_arena               *arena;           /* for everything to which a result points */
    hdx_check_result        *results;
    uint64_t                 count, capacity, rules, broken;
} hdx_checking;

/* Formats a text in the arena; NULL: no memory. */
const char *hdx_checking_format(hdx_checking *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Formats "1.9 MB", "4,669", "12.5%". */
const char *hdx_checking_number(hdx_checking *c, hdx_check_unit unit, double value);
/* Returns a result with the members that are common to all results of a rule; the caller sets message and measured. */
hdx_check_result hdx_checking_result(hdx_checking *c, const hdx_rule *rule);
/* Adds a result. Returns HDX_LIMIT if its message is NULL: memory was refused. */
hdx_code hdx_checking_add(hdx_checking *c, const hdx_check_result *result, hdx_error *err);

/* ---- check_path.c ---- */
/*
 * Sets the members about an object: itself, its class, what it retains, the path that keeps it alive. HDX_NO_ID: no
 * effect.
 */
hdx_code hdx_checking_describe(hdx_checking *c, hdx_id id, hdx_check_result *result, hdx_error *err);
hdx_code hdx_checking_describe_trace(hdx_checking *c, const hdx_leaks *leaks, const hdx_leak_trace *trace,
                                     hdx_check_result *result, hdx_error *err);

/* ---- sums over the rows of a question (check_measure.c) ---- */
typedef struct hdx_fold {
    const hdx_query    *q;
    const hdx_question *question;
    const hdx_argument *arguments;
    size_t              argument_count;
    const char         *sum;     /* column to sum; NULL: counts rows */
    const char         *weight;  /* column by which the most important row is chosen; NULL: none is */
    const char         *address; /* columns of that row that are stored; NULL: none */
    const char         *class_name;
    const char         *match, *pattern; /* includes only rows whose column matches; NULL: all */
    /*
     * Called for each matching row, in the order of the answer. places: indexes of the four columns; UINT32_MAX: none.
     */
    hdx_code (*row)(void *context, const hdx_cell *cells, const uint32_t places[4], hdx_error *err);
    void *context;
    /* results */
    uint64_t total, best_weight;
    hdx_addr best_address;
    char    *best_class; /* in the given arena; NULL: none */
} hdx_fold;
hdx_code hdx_fold_rows(hdx_fold *f, hdx_arena *arena, hdx_error *err);

/* ---- one file each ---- */
hdx_code hdx_checking_measure(hdx_checking *c, const hdx_rule *rule, hdx_error *err);
hdx_code hdx_checking_growth(hdx_checking *c, const hdx_rule *rule, hdx_error *err);
hdx_code hdx_checking_leaks(hdx_checking *c, const hdx_rule *rule, hdx_error *err);
hdx_code hdx_checking_suspects(hdx_checking *c, const hdx_rule *rule, hdx_error *err);
hdx_code hdx_checking_damage(hdx_checking *c, const hdx_rule *rule, hdx_error *err);
/* Returns the live instance of these classes that retains most; HDX_NO_ID: none. */
hdx_code hdx_checking_heaviest(hdx_checking *c, const uint32_t *numbers, size_t count, hdx_id *out, hdx_error *err);

#endif
