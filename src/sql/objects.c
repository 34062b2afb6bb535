/*
 * objects.c - the table of objects.
 *
 * In:  SQLite's view of a statement: conditions, order, limit.
 * Out: the objects that satisfy them, with as few reads of the index as possible:
 *
 *     by-id, by-address, dominated-by     the objects named, or the children of a dominator
 *     by-class                            instances of some classes, one class after the other
 *     all                                 every object, in the order of ids
 *     top                                 one of these, but only the first k in the order of a column
 *
 * objects_plan.c chooses among these, objects_search.c reads the objects. The table is in the order of GROUP BY class
 * and class_id, because SQLite's sorter takes as long as reading ten columns.
 */
#include "sql/objects.h"

#include <stdlib.h>

static const char declaration[] =
    "CREATE TABLE objects(id INTEGER, address ADDRESS, class TEXT, class_id INTEGER, kind TEXT, shallow SIZE, "
    "retained SIZE, length COUNT, dominator INTEGER, nearest INTEGER, outbound COUNT, inbound COUNT, live INTEGER, "
    "heap TEXT, position INTEGER, \"instanceof\" TEXT HIDDEN)";

/* ---- table ---- */

static int objects_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                           char **message)
{
    sql_heap    *heap = argc < 3 ? NULL : hdx_sql_heap_of(aux, argv[1]);
    sql_objects *t = heap == NULL ? NULL : sqlite3_malloc64(sizeof *t);
    int          rc = SQLITE_NOMEM;
    if (heap == NULL) {
        *message = sqlite3_mprintf("no dump has the schema %s", argc < 2 ? "" : argv[1]);
        return SQLITE_ERROR;
    }
    if (t == NULL || (rc = sqlite3_declare_vtab(db, declaration)) != SQLITE_OK) {
        sqlite3_free(t);
        return rc;
    }
    *t = (sql_objects){ .db = aux, .heap = heap };
    *out = &t->base;
    return SQLITE_OK;
}

static int objects_create(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    return objects_connect(db, aux, argc, argv, out, message);
}

static int objects_disconnect(sqlite3_vtab *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

/* ---- cursors ---- */

typedef struct cursor {
    sqlite3_vtab_cursor base;
    sql_search          search;
} cursor;

static int objects_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    cursor *c = calloc(1, sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    c->search.t = (sql_objects *)base;
    c->search.heap = c->search.t->heap;
    hdx_sql_batch_open(&c->search.batch, c->search.heap);
    *out = &c->base;
    return SQLITE_OK;
}

static int objects_close(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    hdx_sql_search_forget(&c->search);
    hdx_sql_batch_close(&c->search.batch);
    free(c);
    return SQLITE_OK;
}

static int objects_status(cursor *c, hdx_code code, const hdx_error *err)
{
    return code == HDX_OK ? SQLITE_OK : hdx_sql_table_failed(&c->search.t->base, c->search.t->db, err);
}

static int objects_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count, sqlite3_value **values)
{
    cursor   *c = (cursor *)base;
    hdx_error err = { .code = HDX_OK, .offset = HDX_NOWHERE };
    (void)count;
    return objects_status(c, hdx_sql_search_start(&c->search, (sql_way)number, plan, values, &err), &err);
}

/* ---- rows ---- */

static uint32_t slot_of(const sql_search *c)
{
    const bool backwards = c->batch.dense && c->ordered && c->descending;
    return c->batch.chosen[backwards ? c->batch.chosen_count - 1 - c->batch.at : c->batch.at];
}

/*
 * Not inlined, like its counterparts in other tables: clearing an error of some hundred bytes for each row would be
 * slow.
 */
static __attribute__((noinline)) int next_batch(cursor *c)
{
    hdx_error err = { .code = HDX_OK, .offset = HDX_NOWHERE };
    return objects_status(c, hdx_sql_search_next(&c->search, &err), &err);
}

static int objects_next(sqlite3_vtab_cursor *base)
{
    cursor    *c = (cursor *)base;
    sql_batch *b = &c->search.batch;
    if (c->search.distinct)
        hdx_sql_search_skip_class(&c->search);
    else
        b->at++;
    return b->at < b->chosen_count ? SQLITE_OK : next_batch(c);
}

static int objects_eof(sqlite3_vtab_cursor *base) { return ((cursor *)base)->search.end; }

static int objects_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
    cursor *c = (cursor *)base;
    if (i == SQL_INSTANCEOF)
        sqlite3_result_error(context,
                             "use the column only as a condition, objects.instanceof = 'java.util.AbstractMap'; "
                             "elsewhere use instanceof(class_id, 'java.util.AbstractMap')",
                             -1);
    else
        hdx_sql_batch_result(&c->search.batch, (sql_column)i, slot_of(&c->search), context);
    return SQLITE_OK;
}

static int objects_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    cursor *c = (cursor *)base;
    *out = (sqlite3_int64)sql_batch_id(&c->search.batch, slot_of(&c->search));
    return SQLITE_OK;
}

/*
 * instanceof(class_id, NAME) is a condition on classes, and elsewhere an ordinary function. Its numbers are those of
 * the first dump; for another dump it is left to SQLite.
 */
static int objects_find_function(sqlite3_vtab *base, int count, const char *name,
                                 void (**function)(sqlite3_context *, int, sqlite3_value **), void **own)
{
    const sql_objects *t = (sql_objects *)base;
    if (count != 2 || sqlite3_stricmp(name, "instanceof") != 0 || t->heap != hdx_sql_heap_of(t->db, NULL))
        return 0;
    *function = hdx_sql_instanceof;
    *own = t->db->tools;
    return SQLITE_INDEX_CONSTRAINT_FUNCTION;
}

static const sqlite3_module module = {
    .xCreate = objects_create,
    .xConnect = objects_connect,
    .xBestIndex = hdx_sql_objects_best_index,
    .xDisconnect = objects_disconnect,
    .xDestroy = objects_disconnect,
    .xOpen = objects_open,
    .xClose = objects_close,
    .xFilter = objects_filter,
    .xNext = objects_next,
    .xEof = objects_eof,
    .xColumn = objects_column,
    .xRowid = objects_rowid,
    .xFindFunction = objects_find_function,
};
static const char *const tables[] = { "objects", NULL };
const sql_module         hdx_sql_objects = { "heapdex_objects", &module, tables };
