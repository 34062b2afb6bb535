/*
 * check.h - what the answer `check` found: whether a heap keeps rules, each finding with the object that tells most and
 * what holds it.
 *
 * Example (examples/check.c):
 *     const hdx_argument arguments[] = { { "max", "retained bookshop.* 1M" }, { "no-damage", "true" } };
 *     if (hdx_answer_run(session, "check", arguments, 2, &rows, &err) != HDX_OK)
 *         return complain(&err);
 *     const hdx_check *check = hdx_session_check(session);
 *     for (uint64_t i = 0; i < check->result_count; i++)
 *         if (check->results[i].state == HDX_CHECK_BROKEN)
 *             printf("%s: %s\n", check->results[i].rule, check->results[i].message);
 *     hdx_rows_close(rows);
 *
 * The same is in the rows of the answer; this is for who writes reports. Rules and patterns: doc/check.md.
 */
#ifndef HEAPDEX_CHECK_H
#define HEAPDEX_CHECK_H

#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_check_state { HDX_CHECK_HOLDS, HDX_CHECK_BROKEN } hdx_check_state;
typedef enum hdx_check_unit { HDX_CHECK_COUNT, HDX_CHECK_BYTES, HDX_CHECK_PERCENT } hdx_check_unit;

typedef struct hdx_check_step { /* of a path from a GC root */
    hdx_addr    address;
    const char *class_name; /* "" where it has none */
    const char *label;      /* what the object says of itself; NULL: nothing */
    const char *reference;  /* by which it leads on; NULL at the end */
    uint64_t    retained;
} hdx_check_step;

typedef struct hdx_check_result {        /* a rule that holds, or one finding of one that does not */
    const char           *rule;          /* as it was given, without name and reason */
    const char           *name, *reason; /* NULL: none */
    const char           *kind;          /* stable: "max-retained", "growth-objects", "no-leaks" ... */
    const char           *file;          /* of rules; NULL: none */
    uint64_t              line;
    hdx_check_state       state;
    hdx_check_unit        unit; /* of both: */
    double                measured, limit;
    const char           *message;    /* one line */
    const char           *note;       /* what to know of a rule that holds: perhaps it means nothing; NULL */
    const char           *class_name; /* that the finding is about; NULL */
    hdx_addr              address;    /* of the object that tells most; 0: none */
    uint64_t              retained;   /* by it */
    const char           *signature;  /* the same for the same finding in other dumps */
    const char           *root;       /* what the path begins at: "thread"; NULL: there is no path */
    const hdx_check_step *steps;
    uint64_t              step_count, left_out; /* steps that are not there, behind the first `left_at` */
    uint64_t              left_at;
    const char           *path; /* the same as one line; NULL */
} hdx_check_result;

typedef struct hdx_check {
    const hdx_check_result *results;                          /* in the order of the rules */
    uint64_t                result_count, rule_count, broken; /* rules that do not hold */
} hdx_check;

#ifdef __cplusplus
}
#endif

#endif
