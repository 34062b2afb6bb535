/*
 * open.c - opens a connection: its dumps, and their tables.
 *
 * In:  a connection of SQLite and a session.
 * Out: tables in its schemas.
 * Tables of classes are created when a statement first names them: a dump of a large application has some ten thousand
 * classes, and SQLite takes seconds to create as many tables.
 */
#include "answer/answer.h"
#include "sql/sql.h"

#include <stdlib.h>

static const sql_module *const modules[] = {
    &hdx_sql_objects,     &hdx_sql_refs,        &hdx_sql_named_refs,     &hdx_sql_class_tables,
    &hdx_sql_held_module, &hdx_sql_made_module, &hdx_sql_answers_module, NULL,
};

/* ---- schemas ---- */

static hdx_code create(sql_db *db, const sql_module *module, const char *schema, const char *table, hdx_error *err)
{
    char *message = NULL;
    db->trusted++;
    db->error.code = HDX_OK;
    char     *statement = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\".\"%w\" USING %s", schema, table, module->name);
    const int rc = statement == NULL ? SQLITE_NOMEM : sqlite3_exec(db->db, statement, NULL, NULL, &message);
    sqlite3_free(statement);
    db->trusted--;
    if (rc == SQLITE_OK)
        return HDX_OK;
    if (db->error.code != HDX_OK) {
        *err = db->error;
        db->error.code = HDX_OK;
        sqlite3_free(message);
        return err->code;
    }
    (void)hdx_fail(err, rc == SQLITE_NOMEM ? HDX_LIMIT : HDX_USAGE, "", HDX_NOWHERE, "tables of the heap: %s",
                   message != NULL ? message : sqlite3_errmsg(db->db));
    sqlite3_free(message);
    return rc == SQLITE_NOMEM ? HDX_LIMIT : HDX_USAGE;
}

hdx_code hdx_sql_install_heap(sql_db *db, size_t place, const char *schema, hdx_error *err)
{
    hdx_graph *g;
    hdx_code   code = hdx_session_view(db->session, place, place == 0 ? db->options.view : NULL, &g, err);
    if (code != HDX_OK)
        return code;
    if (place == 0 && db->options.view != NULL)
        db->session->dumps[0].shown = g; /* heads of documents name it */
    if (db->heap_count == sizeof db->heaps / sizeof *db->heaps)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "SQLite allows at most 10 dumps besides the first");
    if (!hdx_graph_summary_of(g)->complete)
        return hdx_fail(err, HDX_BAD_DUMP, hdx_session_dump(db->session, place), HDX_NOWHERE,
                        "the index is partial: it has no dominators; heapdex index completes it");
    sql_heap *heap = hdx_arena_get(&db->arena, sizeof *heap);
    char     *name = hdx_arena_copy(&db->arena, schema, strlen(schema));
    if (heap == NULL || name == NULL)
        return hdx_no_memory(err, "a dump of a connection", sizeof *heap);
    *heap = (sql_heap){ .db = db, .schema = name, .place = place, .g = g };
    heap->query = (hdx_query){ .graph = g,
                               .scope = db->scope,
                               .threads = db->session->options.threads,
                               .progress = &db->own,
                               .mem = &db->session->mem,
                               .notice = db->session->options.notice,
                               .notice_context = db->session->options.notice_context };
    db->heaps[db->heap_count++] = heap;
    for (const sql_module *const *m = modules; code == HDX_OK && *m != NULL; m++)
        for (const char *const *table = (*m)->tables; code == HDX_OK && table != NULL && *table != NULL; table++)
            code = create(db, *m, schema, *table, err);
    char answer[SQL_ANSWER_NAME];
    for (size_t i = 0; code == HDX_OK && hdx_sql_answer_table(i, answer); i++)
        code = create(db, &hdx_sql_answers_module, schema, answer, err);
    return code;
}

hdx_code hdx_sql_install_class(sql_db *db, const char *schema, const char *name, bool *made, hdx_error *err)
{
    sql_heap *heap = hdx_sql_heap_of(db, schema);
    *made = heap != NULL && hdx_sql_is_class_table(heap, name);
    return *made ? create(db, &hdx_sql_class_tables, heap->schema, name, err) : HDX_OK;
}

/* ---- a connection ---- */

static void version(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_text(context, hdx_version(), -1, SQLITE_STATIC);
}

static void report(void *context, const hdx_progress_report *r)
{
    const hdx_progress *p = ((sql_db *)context)->progress;
    if (p->report != NULL)
        p->report(p->context, r);
}

static bool is_cancelled(void *context) { return hdx_sql_stopped(context, NULL) != HDX_OK; }

static void free_connection(void *context)
{
    sql_db *db = context;
    for (unsigned i = 0; i < db->heap_count; i++)
        hdx_sql_heap_forget(db->heaps[i]);
    if (db->owned)
        hdx_session_close(db->session);
    hdx_sql_texts_close(db->texts);
    hdx_arena_free(&db->arena);
    free(db);
}

hdx_code hdx_sql_install(sqlite3 *connection, hdx_session *session, const hdx_sql_options *options, sql_db **out,
                         hdx_error *err)
{
    sql_db *db = *out = calloc(1, sizeof *db);
    if (db == NULL)
        return hdx_no_memory(err, "a connection", sizeof *db);
    db->db = connection;
    db->session = session;
    db->arena = hdx_arena_of(NULL);
    db->progress = &session->progress;
    db->own = (hdx_progress){ db, report, is_cancelled };
    if (options != NULL)
        db->options = *options;
    db->options.names = NULL; /* owned by the caller */
    db->scope = db->options.scope;
    atomic_init(&db->interrupted, false);
    int rc = sqlite3_create_function_v2(connection, "heapdex_version", 0, SQLITE_UTF8 | SQLITE_DETERMINISTIC, db,
                                        version, NULL, NULL, free_connection); /* SQLite calls it on failure, too */
    for (const sql_module *const *m = modules; rc == SQLITE_OK && *m != NULL; m++)
        rc = sqlite3_create_module_v2(connection, (*m)->name, (*m)->module, db, NULL);
    if (rc == SQLITE_OK)
        rc = hdx_sql_install_functions(db);
    if (rc != SQLITE_OK)
        *out = NULL;
    return rc == SQLITE_OK ? HDX_OK
                           : hdx_fail(err, rc == SQLITE_NOMEM ? HDX_LIMIT : HDX_USAGE, "", HDX_NOWHERE, "SQLite: %s",
                                      sqlite3_errmsg(connection));
}
