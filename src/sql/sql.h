/*
 * sql.h - the heap as SQLite tables: shared by the files of this room. <heapdex/sql.h> is its public part; doc/sql.md
 * has the rules for users.
 *
 *   open.c       a connection, its dumps and their tables: it names every module, and no module calls it
 *   db.c         the connection, for tables and functions
 *   run.c        statements to rows                                 guard.c   limits of statements
 *   arrow.c      statements to Arrow streams                        file.c    rows to a plain SQLite file
 *   range.c      the integers of a column that satisfy comparisons with values of any type
 *   classes.c    sets of classes by name
 *   batch.c      columns of some thousand objects at a time
 *   objects.c    table objects                                      refs.c    tables refs and named_refs
 *                objects_plan.c: which way it is searched; objects_search.c: its objects, batch by batch (objects.h)
 *   instances.c  tables of classes: "java.util.HashMap", "instanceof java.util.AbstractMap"
 *   held.c       small tables, completely in memory, in any order   catalog.c their content
 *   held_values.c  the columns of one: memory, order, search
 *   made.c       tables whose rows are computed from arguments (made.h)
 *   walks.c      paths, trees, reachable objects                    parts.c   fields, elements, entries of one object
 *   answers.c    every declared answer as a table
 *   functions.c  functions of objects                               sums.c    functions of groups
 *   names.c      names of columns, each once             layouts.c    where fields begin in instances
 *   hint.c       corrections of misspelt names
 *   extension.c  the entry point of heapdex_sqlite.so
 *
 * A connection has one or several dumps, each in its own schema. Every table is a virtual table that was created there
 * (tables of classes when a statement first names them), so that one name in two schemas means two tables: SQLite would
 * offer tables that need not be created in every schema.
 *
 * Invariants
 *   1. Ids, sizes and counts are below 2^63. An address is its bits as a signed number.
 *   2. A table evaluates the conditions that it claims exactly as SQLite would: the random test of tests/sql compares
 *      both.
 *   3. Loops call sql_turn, because SQLite checks neither interrupts nor its progress handler while a table searches.
 */
#ifndef HDX_SQL_SQL_H
#define HDX_SQL_SQL_H

#include "graph/graph.h"
#include "query/query.h"
#include "sql/sqlite.h"
#include <heapdex/sql.h>

typedef struct sql_db sql_db;

#define SQL_HELD_TABLES 12u
struct sql_held;

/* One dump of a connection. */
typedef struct sql_heap {
    sql_db          *db;
    char            *schema;
    size_t           place; /* index in the session */
    hdx_graph       *g;
    hdx_query        query;                 /* with the scope of the connection */
    struct sql_held *held[SQL_HELD_TABLES]; /* tables that were used so far (held.c) */
    uint32_t        *by_name;               /* class numbers, sorted by name (classes.c); NULL: not used so far */
} sql_heap;

struct sql_db {
    sqlite3            *db;
    hdx_session        *session;
    bool                owned;    /* the session is closed with it */
    const hdx_progress *progress; /* the session's callbacks and `interrupted` */
    hdx_progress        own;
    atomic_bool         interrupted;
    hdx_refs_scope      scope;
    hdx_arena           arena;
    sql_heap           *heaps[11]; /* main, and as many as SQLite can attach */
    unsigned            heap_count;
    uint64_t            rounds;
    hdx_error           error;              /* of the running statement: from a table or function; code HDX_OK: none */
    uint64_t            deadline_ms;        /* 0: none */
    hdx_sql_options     options;            /* without texts */
    uint64_t            steps, reported_ns; /* of the running statement (guard.c) */
    void               *tools;              /* shared by functions (functions.c) */
    /* number of running statements of this room, which are unrestricted (guard.c) */
    unsigned          trusted;
    uint64_t          prepared_ns; /* time for preparing the statement */
    uint64_t          requests;    /* number of memory requests by SQLite (guard.c) */
    struct sql_texts *texts;       /* shared by text functions (texts.c) */
    uint64_t          probed_ns;   /* when a host's connection was last checked (db.c) */
};

/* ---- open.c ---- */
/*
 * Adds tables and functions to a connection of SQLite. The session outlives it unless it is `owned`; *out is freed with
 * the connection.
 */
hdx_code hdx_sql_install(sqlite3 *db, hdx_session *session, const hdx_sql_options *options, sql_db **out,
                         hdx_error *err);
/* Creates the tables of the dump at `place` of the session in an existing schema. */
hdx_code hdx_sql_install_heap(sql_db *db, size_t place, const char *schema, hdx_error *err);
/* Creates the table of a class after "no such table: SCHEMA.NAME". *made is false if there is no class of this name. */
hdx_code hdx_sql_install_class(sql_db *db, const char *schema, const char *name, bool *made, hdx_error *err);

/*
 * A module: tables with these names are created in every schema. Its xCreate differs from its xConnect, because SQLite
 * would otherwise offer the table in schemas in which it was not created. Both get the sql_db as pAux, and schema and
 * table as argv[1], argv[2].
 */
typedef struct sql_module {
    const char           *name; /* "heapdex_objects" */
    const sqlite3_module *module;
    const char *const    *tables; /* NULL after the last; NULL: created on demand */
} sql_module;
extern const sql_module hdx_sql_objects, hdx_sql_refs, hdx_sql_named_refs, hdx_sql_class_tables, hdx_sql_held_module,
    hdx_sql_made_module, hdx_sql_answers_module;

/* ---- db.c ---- */
/* Returns the dump whose tables are in a schema; NULL: none. schema NULL: the first. */
sql_heap *hdx_sql_heap_of(sql_db *db, const char *schema);
/*
 * Errors are stored in the connection and reported to SQLite in its own way. hdx_sql_status converts a code to a result
 * code of SQLite; HDX_OK to SQLITE_OK.
 */
int  hdx_sql_status(hdx_code code);
void hdx_sql_keep(sql_db *db, const hdx_error *err); /* only the first of a statement is stored */
int  hdx_sql_table_failed(sqlite3_vtab *table, sql_db *db, const hdx_error *err);
void hdx_sql_function_failed(sqlite3_context *context, sql_db *db, const hdx_error *err);
/*
 * Returns HDX_CANCELLED, or HDX_LIMIT after the time limit, if the statement must stop. sql_turn checks in every 256th
 * call.
 */
hdx_code               hdx_sql_stopped(sql_db *db, hdx_error *err);
static inline hdx_code sql_turn(sql_db *db, hdx_error *err)
{
    return ++db->rounds % 256 == 0 ? hdx_sql_stopped(db, err) : HDX_OK;
}

/* ---- run.c ---- */
struct hdx_sql {
    sqlite3         *db;
    sql_db          *heaps;
    hdx_session     *session;
    atomic_uint      uses; /* its owner, and each Arrow stream */
    struct hdx_near *near; /* of the running stream */
};
/* Prepares the first statement of a text; *stmt NULL: there is none (a comment). *rest is the text after it. */
hdx_code hdx_sql_prepare(hdx_sql *sql, const char *text, sqlite3_stmt **stmt, const char **rest, hdx_error *err);
/*
 * Returns its rows, which own stmt and `near` (may be NULL); on failure both are freed. *rows NULL: it has run and
 * gives none.
 */
hdx_code hdx_sql_begin(hdx_sql *sql, sqlite3_stmt *stmt, struct hdx_near *near, hdx_rows **rows, hdx_error *err);

/* ---- guard.c ---- */
void hdx_sql_guard(sql_db *db);
/* Call before a process first uses SQLite: lets its memory requests check for cancellation while it works for a db. */
void hdx_sql_watch_memory(void);
/* Starts work for `db` (NULL: none of ours) on this thread; returns the previous one. */
sql_db *hdx_sql_watch(sql_db *db);

/* ---- texts.c: functions of texts whose cost SQLite neither limits nor can interrupt ---- */
struct sql_texts;
int  hdx_sql_install_texts(sql_db *db);        /* a result code of SQLite */
void hdx_sql_texts_close(struct sql_texts *t); /* NULL: nothing */
/* Evaluates LIKE or GLOB (`glob`) for a text; both end at a NUL. escape 0: none. Returns HDX_CANCELLED, HDX_LIMIT. */
hdx_code hdx_sql_like(sql_db *db, const char *pattern, const char *text, uint32_t escape, bool glob, bool *yes,
                      hdx_error *err);

/* ---- functions.c ---- */
int hdx_sql_install_functions(sql_db *db); /* a result code of SQLite */
/* The function instanceof(class_id, 'name'), for a table that overloads it: its own argument is db->tools. */
void hdx_sql_instanceof(sqlite3_context *context, int count, sqlite3_value **values);
/*
 * Returns the value of a field or element to SQLite: references are ids, characters their codes. Nothing if it is
 * absent.
 */
void hdx_sql_result_value(sqlite3_context *context, const sql_heap *heap, const hdx_value *value);

/* ---- sums.c ---- */
int hdx_sql_install_sums(sql_db *db);
/* A set of ids of one dump: a list that becomes bits when that is smaller. */
typedef struct sql_ids {
    sql_heap *heap;
    hdx_ids   list;
    uint64_t *bits; /* NULL: they are in the list */
    uint64_t  words;
} sql_ids;
#define SQL_IDS "heapdex ids" /* the type of the pointer that group_ids returns */
sql_ids *hdx_sql_ids_open(sql_heap *heap, hdx_error *err);
void     hdx_sql_ids_close(void *ids); /* NULL is allowed */
hdx_code hdx_sql_ids_add(sql_ids *ids, hdx_id id, hdx_error *err);
hdx_code hdx_sql_ids_bits(sql_ids *ids, hdx_error *err); /* converts the list to bits */
/* Returns the live objects that would be freed with these: ids->words words, to be freed from heap->query.mem. */
hdx_code hdx_sql_ids_retained(sql_ids *ids, uint64_t **gone, hdx_error *err);

/* ---- answers.c ---- */
#define SQL_ANSWER_NAME 64u /* bytes for the name of a table */
/* Returns the table of the i-th answer that has one; false after the last. */
bool hdx_sql_answer_table(size_t i, char name[SQL_ANSWER_NAME]);

/* ---- held.c ---- */
void hdx_sql_heap_forget(sql_heap *heap); /* frees what tables have stored of it */

/* ---- instances.c ---- */
bool hdx_sql_is_class_table(sql_heap *heap, const char *name);

/* ---- classes.c: sets of classes ---- */
typedef struct sql_classes {
    uint64_t *bits;  /* by number; from malloc */
    uint32_t  count; /* of all classes */
} sql_classes;
hdx_code hdx_sql_classes_all(sql_heap *heap, sql_classes *set, hdx_error *err);
void     hdx_sql_classes_clear(sql_classes *set);
void     hdx_sql_classes_drop(sql_classes *set);
/*
 * Keep the classes whose names satisfy a condition (op: SQLITE_INDEX_CONSTRAINT_EQ, LIKE, GLOB or REGEXP), are in a
 * list (sqlite3_vtab_in), or are this class or one of its subclasses.
 */
hdx_code hdx_sql_classes_named(sql_heap *heap, sql_classes *set, int op, sqlite3_value *value, hdx_error *err);
hdx_code hdx_sql_classes_among(sql_heap *heap, sql_classes *set, sqlite3_value *list, hdx_error *err);
hdx_code hdx_sql_classes_heirs(sql_heap *heap, sql_classes *set, sqlite3_value *value, hdx_error *err);
hdx_code hdx_sql_classes_with_heirs(sql_heap *heap, sql_classes *set, hdx_error *err); /* adds their subclasses */
/* Returns class numbers in the order of names (BINARY); cached with the heap. */
hdx_code hdx_sql_classes_by_name(sql_heap *heap, const uint32_t **numbers, uint32_t *count, hdx_error *err);
/* Returns whether a value equals this text when compared with a column of texts. */
bool hdx_sql_text_is(sqlite3_value *value, hdx_text text);
/* Opens a regular expression that must match the whole text, as in MAT's LIKE. */
hdx_code hdx_sql_regex_open(sql_db *db, const char *pattern, size_t len, hdx_regex **out, hdx_error *err);

/* ---- hint.c ---- */
void hdx_sql_hint(sql_db *db, hdx_error *err); /* for a table or column that does not exist */
/* For a syntax error at a place in the name of a class without quotes. */
void hdx_sql_hint_unquoted(sql_db *db, const char *text, size_t place, hdx_error *err);

/* ---- values ---- */
/* Returns a cell to SQLite: addresses as signed numbers, lists and objects as JSON. */
void               hdx_sql_result(sqlite3_context *context, const hdx_cell *cell);
static inline void sql_result_id(sqlite3_context *context, hdx_id id) /* null if it is not an object */
{
    if (id >= HDX_VIRTUAL_ROOT)
        sqlite3_result_null(context);
    else
        sqlite3_result_int64(context, (sqlite3_int64)id);
}
static inline void sql_result_text(sqlite3_context *context, hdx_text text) /* in a table of the graph: not copied */
{
    sqlite3_result_text(context, text.at, (int)text.len, SQLITE_STATIC);
}

/* ---- range.c: the integers that satisfy a comparison ---- */
typedef struct sql_range { /* least > most: nothing */
    int64_t least, most;
} sql_range;
#define SQL_ANY ((sql_range){ INT64_MIN, INT64_MAX })
/*
 * Reduces a range by a comparison: SQLITE_INDEX_CONSTRAINT_EQ, GT, GE, LT, LE for a column with numeric affinity that
 * is not null.
 */
void               hdx_sql_range_cut(sql_range *range, int op, sqlite3_value *value);
static inline bool sql_in_range(sql_range range, int64_t value) { return value >= range.least && value <= range.most; }

#endif
