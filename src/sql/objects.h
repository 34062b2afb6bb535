/*
 * objects.h - the table of objects: what its planner, its searches and its rows share.
 *
 *     objects.c           the table: connecting, cursors, rows
 *     objects_plan.c      chooses a plan for a statement and writes it as text; reads that text into a search
 *     objects_search.c    the objects of a search, batch by batch
 */
#ifndef HDX_SQL_OBJECTS_H
#define HDX_SQL_OBJECTS_H

#include "sql/batch.h"

typedef struct sql_objects {
    sqlite3_vtab base;
    sql_db      *db;
    sql_heap    *heap;
    char         last_unknown[64]; /* the last class that was reported as unknown */
} sql_objects;

typedef enum sql_way { /* how the objects are found; later ones read less */
                       SQL_ALL,
                       SQL_BY_CLASS,
                       SQL_DOMINATED_BY,
                       SQL_BY_ADDRESS,
                       SQL_BY_ID
} sql_way;

typedef struct sql_candidate { /* a candidate of a top search */
    int64_t value;
    hdx_id  id;
} sql_candidate;

/* The objects of one statement: the conditions of its plan, and how far it has read. */
typedef struct sql_search {
    sql_objects *t;
    sql_heap    *heap;
    sql_batch    batch;
    uint32_t     size; /* of the next batch: small at first, for statements that need one row */
    bool         end;
    /* conditions */
    sql_way     way;
    sql_range   ranges[SQL_COLUMNS];
    unsigned    ranged; /* one bit per column */
    unsigned    kinds;  /* one bit per kind */
    sql_classes set;    /* bits NULL: all */
    /* order */
    sql_column order;
    bool       ordered, descending, distinct, top;
    uint64_t   most;  /* of a top search */
    sql_range  worth; /* values that can still be among them */
    /* position */
    hdx_id          from, until; /* all: ids that remain */
    hdx_id         *ids;         /* of a list */
    uint64_t        id_count, id_capacity, id_at;
    bool            named;   /* the condition that names them was applied */
    const uint32_t *classes; /* by class: their order; NULL: by number */
    uint32_t        class_count, class_at;
    bool            in_class; /* `refs` yields instances of the class before class_at */
    hdx_refs        refs;
    /* of a top search */
    sql_candidate *best;
    uint64_t       best_count, best_capacity;
} sql_search;

/* ---- objects_plan.c ---- */

int hdx_sql_objects_best_index(sqlite3_vtab *base, sqlite3_index_info *info);
/* Applies the text of a plan, and the values that come with it, to a search that has no conditions yet. */
hdx_code hdx_sql_plan_read(sql_search *c, const char *text, sqlite3_value **values, hdx_error *err);

/* ---- objects_search.c ---- */

/* Starts the search of a plan and reads its first batch with a chosen row; c->end if there is none. */
hdx_code hdx_sql_search_start(sql_search *c, sql_way way, const char *plan, sqlite3_value **values, hdx_error *err);
hdx_code hdx_sql_search_next(sql_search *c, hdx_error *err);
void     hdx_sql_search_skip_class(sql_search *c); /* skips the other objects of this class, or of all with its name */
void     hdx_sql_search_forget(sql_search *c);
hdx_code hdx_sql_search_push(sql_search *c, hdx_id id, hdx_error *err); /* adds an object to a list */
uint64_t hdx_sql_search_instances(const sql_search *c);                 /* of the classes that are left */

#endif
