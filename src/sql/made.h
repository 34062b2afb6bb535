/*
 * made.h - tables whose rows are computed from arguments: shared by made.c and the files with such tables.
 *
 *     SELECT * FROM path(17, 'weak')
 *
 * A table is declared with its columns and arguments, and returns its rows one by one. State of one call may be reused
 * by the next one of the same cursor, because joins make many calls.
 */
#ifndef HDX_SQL_MADE_H
#define HDX_SQL_MADE_H

#include "sql/sql.h"

#define SQL_ARGUMENTS 3u

typedef struct sql_call { /* one at a time per cursor */
    sql_heap      *heap;
    void          *state;                    /* of the cursor: table->size bytes, zero at first */
    void          *shared;                   /* of the table: table->shared_size bytes, zero at first */
    sqlite3_value *arguments[SQL_ARGUMENTS]; /* while it begins; NULL: not given */
    uint64_t       row;                      /* from 0 */
} sql_call;

typedef struct sql_made_table {
    const char *name, *usage; /* "path(id [, exclude])" */
    const char *columns;      /* "step INTEGER, id INTEGER" */
    unsigned    column_count;
    const char *arguments[SQL_ARGUMENTS]; /* their names, which are hidden columns */
    unsigned    required, argument_count;
    double      rows;    /* an estimate */
    bool        ordered; /* the first column is ascending */
    size_t      size, shared_size;
    /* Computes the first row from the arguments: *more is false if there is none. */
    hdx_code (*begin)(sql_call *c, bool *more, hdx_error *err);
    hdx_code (*next)(sql_call *c, bool *more, hdx_error *err);
    hdx_code (*column)(sql_call *c, sqlite3_context *context, unsigned column, hdx_error *err);
    void (*end)(sql_call *c);     /* of the cursor; may be NULL */
    void (*forget)(void *shared); /* of the table; may be NULL */
} sql_made_table;

/* NULL: there is none. */
const sql_made_table *hdx_sql_made_named(const char *name);
/* Returns an argument that is the id of an object. False: it is not, and there are no rows. */
static inline bool sql_argument_id(const sql_call *c, unsigned argument, hdx_id *id)
{
    sqlite3_value *value = c->arguments[argument];
    if (value == NULL || sqlite3_value_numeric_type(value) != SQLITE_INTEGER)
        return false;
    const sqlite3_int64 v = sqlite3_value_int64(value);
    *id = (hdx_id)v;
    return v >= 0 && *id < hdx_graph_objects(c->heap->g);
}

extern const sql_made_table hdx_sql_walks[]; /* walks.c; the last one has no name */
extern const sql_made_table hdx_sql_parts[]; /* parts.c */

#endif
