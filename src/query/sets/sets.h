/* sets.h - sets of objects that a caller describes (members.c), conditions on their fields (sieve.c). */
#ifndef HDX_QUERY_SETS_SETS_H
#define HDX_QUERY_SETS_SETS_H

#include "query/query.h"

typedef struct hdx_sieve hdx_sieve;
/* Copies the conditions of hdx_query.fields; *out NULL: there are none. */
hdx_code hdx_sieve_open(const hdx_query *q, hdx_sieve **out, hdx_error *err);
void     hdx_sieve_close(hdx_sieve *s); /* NULL is allowed */
/*
 * Call hdx_sieve_class for each class that the objects may have; then hdx_sieve_check returns HDX_NOT_FOUND unless one
 * of them has every field.
 */
void     hdx_sieve_class(hdx_sieve *s, uint32_t number);
hdx_code hdx_sieve_check(hdx_sieve *s, const hdx_column *columns, unsigned column_count, hdx_error *err);
/* Returns whether the fields of an object meet all conditions; s NULL: yes. */
hdx_code hdx_sieve_matches(hdx_sieve *s, hdx_id id, bool *yes, hdx_error *err);

typedef struct hdx_set { /* all borrowed */
    const hdx_id      *ids;
    size_t             id_count;
    const char *const *patterns; /* live instances of classes that match these patterns */
    size_t             pattern_count;
    bool               subclasses;
    const hdx_column  *columns; /* of the answer, for hints about misspelt names */
    unsigned           column_count;
} hdx_set;
typedef struct hdx_members {
    uint64_t *bits; /* objects whose fields meet the conditions of the query */
    uint64_t  words;
    uint64_t  described, named, live; /* number of objects before the conditions; after them; live ones of these */
    hdx_id    one;                    /* the last of the live ones */
    hdx_mem  *mem;
} hdx_members;
hdx_code hdx_members_open(hdx_ask *ask, const hdx_set *set, hdx_members *out,
                          hdx_error *err); /* the caller closes it, on failure, too */
void     hdx_members_close(hdx_members *m);
/* The arguments `object`, `class`, `subclasses` of a question as a set, valid as long as its scope of memory. */
typedef struct hdx_given_set {
    hdx_set   set;
    hdx_arena arena;
} hdx_given_set;
hdx_code hdx_given_set_open(const hdx_query *q, const hdx_arguments *a, hdx_given_set *out, hdx_error *err);
#define HDX_NONE_MEETS "no object of the set meets the conditions on fields"
/* Returns why a set has no live members, for hdx_rows_explain_empty. */
const char *hdx_members_empty_reason(const hdx_members *m, const hdx_set *set);

#endif
