/*
 * checking.h - what the files of the answer `check` share: one call of it, and what it has found so far.
 *
 *   check.c          the declaration; arguments and files to rules; results to rows
 *   checking.c       the words and numbers of a result, and the list of results
 *   check_measure.c  max and min: a number of the heap, the object that weighs most in it
 *   check_growth.c   classes against those of another dump
 *   check_found.c    leaks, suspects, damage
 *   check_told.c     one object and what holds it, in words
 */
#ifndef HDX_ANSWER_CHECKING_H
#define HDX_ANSWER_CHECKING_H

#include "answer/answer.h"
#include "check/check.h"

#define HDX_FINDINGS_MOST 20u /* of one rule: what is left out is counted */

typedef struct hdx_checking {
    hdx_session             *s;
    hdx_query                q; /* of the dump, or the view, that is checked */
    hdx_graph               *g;
    const hdx_graph_summary *sum;
    const char              *view, *baseline; /* NULL: none */
    hdx_arena               *arena;           /* of everything that a result points to */
    hdx_check_result        *results;
    uint64_t                 count, capacity, rules, broken;
} hdx_checking;

/* A text in the arena; NULL: no memory. */
const char *hdx_checking_say(hdx_checking *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "1.9 MB", "4,669", "12.5%" */
const char *hdx_checking_number(hdx_checking *c, hdx_check_unit unit, double value);
/* What every result of a rule says; the caller goes on with message and measured. */
hdx_check_result hdx_checking_result(hdx_checking *c, const hdx_rule *rule);
/* One more result; message NULL: there was no memory for it. */
hdx_code hdx_checking_add(hdx_checking *c, const hdx_check_result *result, hdx_error *err);

/* ---- check_told.c ---- */
/* The object, its class, what it keeps, the path that holds it. HDX_NO_ID: nothing. */
hdx_code hdx_checking_tell(hdx_checking *c, hdx_id id, hdx_check_result *result, hdx_error *err);
hdx_code hdx_checking_tell_trace(hdx_checking *c, const hdx_leaks *leaks, const hdx_leak_trace *trace,
                                 hdx_check_result *result, hdx_error *err);

/* ---- rows of a question, summed up (check_measure.c) ---- */
typedef struct hdx_fold {
    const hdx_query    *q;
    const hdx_question *question;
    const hdx_argument *arguments;
    size_t              argument_count;
    const char         *sum;     /* column; NULL: rows are counted */
    const char         *weight;  /* by which one row is more than another; NULL: none is told */
    const char         *address; /* columns of that row that are kept; NULL: none */
    const char         *class_name;
    const char         *match, *pattern; /* rows whose column matches alone; NULL: all */
    /* Each row that matches, in the order of the answer; places are those of the four columns, UINT32_MAX: none. */
    hdx_code (*row)(void *context, const hdx_cell *cells, const uint32_t places[4], hdx_error *err);
    void *context;
    /* what comes out */
    uint64_t total, best_weight;
    hdx_addr best_address;
    char    *best_class; /* in the arena given; NULL */
} hdx_fold;
hdx_code hdx_fold_rows(hdx_fold *f, hdx_arena *arena, hdx_error *err);

/* ---- one file each ---- */
hdx_code hdx_checking_measure(hdx_checking *c, const hdx_rule *rule, hdx_error *err);
hdx_code hdx_checking_growth(hdx_checking *c, const hdx_rule *rule, hdx_error *err);
hdx_code hdx_checking_leaks(hdx_checking *c, const hdx_rule *rule, hdx_error *err);
hdx_code hdx_checking_suspects(hdx_checking *c, const hdx_rule *rule, hdx_error *err);
hdx_code hdx_checking_damage(hdx_checking *c, const hdx_rule *rule, hdx_error *err);
/* The instance that keeps most, of the live ones of these classes; HDX_NO_ID: there is none. */
hdx_code hdx_checking_heaviest(hdx_checking *c, const uint32_t *numbers, size_t count, hdx_id *out, hdx_error *err);

#endif
