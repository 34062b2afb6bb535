/*
 * check.h - the result of the answer `check`: whether a heap complies with rules, and for each violation the most
 * relevant object and the path that keeps it alive.
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
 * The rows of the answer contain the same; these structs are for programs that write reports. All pointers are borrowed
 * from the session (hdx_session_check). Rules and patterns are described in doc/check.md.
 */
#ifndef HEAPDEX_CHECK_H
#define HEAPDEX_CHECK_H

#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_check_state { HDX_CHECK_HOLDS, HDX_CHECK_BROKEN } hdx_check_state;
typedef enum hdx_check_unit { HDX_CHECK_COUNT, HDX_CHECK_BYTES, HDX_CHECK_PERCENT } hdx_check_unit;

/* A step of a path from a GC root. */
typedef struct hdx_check_step {
    hdx_addr    address;
    const char *class_name; /* "" if there is none */
    const char *label;      /* label of the object, for example the text of a String; NULL: none */
    const char *reference;  /* name of the reference to the next step; NULL in the last step */
    uint64_t    retained;
} hdx_check_step;

/* A rule that the heap complies with, or one finding of a rule that it violates. */
typedef struct hdx_check_result {
    const char *rule;          /* text of the rule, without its name and reason */
    const char *name, *reason; /* NULL: none */
    /* stable name of the kind of rule: "max-retained", "growth-objects", "no-leaks" ... */
    const char     *kind;
    const char     *file; /* file of rules; NULL: none */
    uint64_t        line;
    hdx_check_state state;
    hdx_check_unit  unit; /* of `measured` and `limit` */
    double          measured, limit;
    const char     *message; /* one line */
    /* remark about a rule without findings, for example that its class is unknown; NULL: none */
    const char           *note;
    const char           *class_name; /* class of the finding; NULL: none */
    hdx_addr              address;    /* of the most relevant object; 0: none */
    uint64_t              retained;   /* bytes that this object retains */
    const char           *signature;  /* identifies the same finding in other dumps */
    const char           *root;       /* type of the GC root of the path: "thread"; NULL: there is no path */
    const hdx_check_step *steps;
    uint64_t              step_count, left_out; /* number of omitted steps, which follow the first `left_at` steps */
    uint64_t              left_at;
    const char           *path; /* the path in one line; NULL: none */
} hdx_check_result;

typedef struct hdx_check {
    const hdx_check_result *results;                          /* in the order of the rules */
    uint64_t                result_count, rule_count, broken; /* `broken`: number of rules that are violated */
} hdx_check;

#ifdef __cplusplus
}
#endif

#endif
