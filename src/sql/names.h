/* names.h - makes names of columns unique. */
#ifndef HDX_SQL_NAMES_H
#define HDX_SQL_NAMES_H

#include "base/base.h"

typedef struct sql_name sql_name;
typedef struct sql_names {
    hdx_mem  *mem;
    hdx_map   places; /* index + 1 of the first name with that hash */
    hdx_arena texts;
    sql_name *at;
    uint64_t  count, capacity, seed;
    bool      any_case; /* ASCII letters are compared as SQLite compares names */
} sql_names;

void hdx_sql_names_open(sql_names *n, hdx_mem *mem, bool any_case);
void hdx_sql_names_close(sql_names *n);

/*
 * Adds a name and returns its copy, which lives until hdx_sql_names_close. If the set has the name already: adds the
 * first of NAME + mark + `from`, NAME + mark + (from + 1) ... that it does not have. NULL: no memory. `text` has no NUL
 * before its end. Cost: linear in the bytes of all names, whatever they are.
 */
const char *hdx_sql_names_add(sql_names *n, const char *text, const char *mark, unsigned from);
/* The same, but NULL as well if the set has the name; *taken says so. */
const char *hdx_sql_names_add_free(sql_names *n, const char *text, bool *taken);

#endif
