/*
 * extension.c - the entry point of heapdex_sqlite.so: the same tables and functions in any program that lets SQLite
 * load extensions.
 *
 *     SELECT heapdex_open('app.hprof');             tables in the schema temp: objects, refs ...
 *     SELECT heapdex_open('old.hprof', 'old');      in a schema of that name, which is attached if it does not exist
 *     SELECT heapdex_table('java.util.HashMap');    the table of a class, heapdex_table(NAME, SCHEMA)
 *
 * The function that opens the dump creates the tables while its statement runs: SQLite allows that, because the
 * statement reads none of them. Nothing is written to a file: a schema that has a file is refused, and everything ends
 * with the connection.
 */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include "answer/answer.h"
#include "sql/sql.h"

#include <stdlib.h>

#define OLDEST      3038000 /* first version with lists of values in conditions and with sqlite3_vtab_distinct */
#define EAGER_MOST  2000u   /* tables of classes that are created immediately; others by heapdex_table */
#define MOST_SCHEMA 64u

typedef struct extension { /* of a connection */
    sqlite3     *db;
    hdx_session *session; /* opened without a dump, because functions need a session before the first heapdex_open */
    sql_db      *heaps;
    size_t       dumps; /* number of dumps added later */
} extension;

/* ---- arguments ---- */

static const char *text_of(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? NULL : (const char *)sqlite3_value_text(value);
}

static bool scope_of(const char *word, hdx_refs_scope *scope)
{
    static const char *const words[] = { "live", "all", "garbage" }; /* hdx_refs_scope in its order */
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *scope = (hdx_refs_scope)i;
            return true;
        }
    return false;
}

static void function_failed(sqlite3_context *context, const hdx_error *err)
{
    char *message = sqlite3_mprintf("%s%s%s%s%s%s", err->where, err->where[0] != '\0' ? ": " : "", err->message,
                                    err->hint[0] != '\0' ? " (" : "", err->hint, err->hint[0] != '\0' ? ")" : "");
    if (message == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_error(context, message, -1);
    sqlite3_free(message);
}

/* ---- schemas ---- */

static bool is_there(sqlite3 *db, const char *schema)
{
    char         *text = sqlite3_mprintf("SELECT 1 FROM \"%w\".sqlite_master", schema);
    sqlite3_stmt *stmt = NULL;
    const int     rc = text == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(db, text, -1, &stmt, NULL);
    (void)sqlite3_finalize(stmt);
    sqlite3_free(text);
    return rc == SQLITE_OK;
}

static hdx_code attach(extension *e, const char *schema, hdx_error *err)
{
    const char *file;
    if (strlen(schema) == 0 || strlen(schema) > MOST_SCHEMA)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "a schema name must have 1 to %u characters", MOST_SCHEMA);
    if (hdx_sql_heap_of(e->heaps, schema) != NULL)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "the schema %s already has a dump", schema);
    if (is_there(e->db, schema)) {
        file = sqlite3_db_filename(e->db, schema);
        return file == NULL || *file == '\0'
                   ? HDX_OK
                   : hdx_hint(err,
                              hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                                       "the schema %s is a file; tables of a dump need an empty schema", schema),
                              "use another name to attach an empty schema");
    }
    char     *text = sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", schema);
    const int rc = text == NULL ? SQLITE_NOMEM : sqlite3_exec(e->db, text, NULL, NULL, NULL);
    sqlite3_free(text);
    return rc == SQLITE_OK
               ? HDX_OK
               : hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "cannot attach %s: %s", schema, sqlite3_errmsg(e->db));
}

/* ---- heapdex_open ---- */

typedef struct ranked {
    uint64_t instances;
    const hdx_class *class;
} ranked;

static int more_instances(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->instances != y->instances ? (x->instances < y->instances ? 1 : -1)
                                        : (x->class->number > y->class->number) - (x->class->number < y->class->number);
}

/* Creates the tables of the classes with the most instances, as many as SQLite creates quickly. */
static hdx_code make_tables(extension *e, hdx_graph *g, const char *schema, hdx_error *err)
{
    uint32_t         count = 0;
    const hdx_class *classes = hdx_graph_classes(g, &count);
    ranked          *all = classes != NULL ? malloc(((size_t)count + 1) * sizeof *all) : NULL;
    hdx_code         code = all != NULL ? HDX_OK : hdx_no_memory(err, "classes", count * sizeof *all);
    for (uint32_t i = 0; code == HDX_OK && i < count; i++)
        all[i] = (ranked){ classes[i].live_instances, &classes[i] };
    if (code == HDX_OK)
        qsort(all, count, sizeof *all, more_instances);
    for (uint32_t i = 0; code == HDX_OK && i < count && i < EAGER_MOST && all[i].instances > 0; i++) {
        const hdx_text name = all[i].class->name;
        char          *copy = sqlite3_mprintf("%.*s", (int)(name.len < 100000 ? name.len : 100000), name.at);
        bool           made;
        hdx_error      own = { .offset = HDX_NOWHERE };
        /* errors are ignored: a name may be no valid table name, or another class has it */
        if (copy != NULL && strlen(copy) == name.len)
            (void)hdx_sql_install_class(e->heaps, schema, copy, &made, &own);
        sqlite3_free(copy);
    }
    free(all);
    return code;
}

static hdx_code open_dump(extension *e, const char *dump, const char *schema, hdx_refs_scope scope, hdx_error *err)
{
    hdx_graph *g;
    hdx_code   code = hdx_session_add(e->session, dump, err);
    if (code != HDX_OK)
        return code;
    const size_t place = ++e->dumps; /* also counted if a later step fails, as in the session */
    if ((code = attach(e, schema, err)) != HDX_OK)
        return code;
    e->heaps->scope = scope;
    if ((code = hdx_sql_install_heap(e->heaps, place, schema, err)) != HDX_OK ||
        (code = hdx_session_graph(e->session, place, &g, err)) != HDX_OK)
        return code;
    return make_tables(e, g, schema, err);
}

static void heapdex_open(sqlite3_context *context, int count, sqlite3_value **values)
{
    extension  *e = sqlite3_user_data(context);
    hdx_error   err = { .offset = HDX_NOWHERE };
    const char *dump = text_of(values[0]), *schema = count > 1 ? text_of(values[1]) : "temp",
               *word = count > 2 ? text_of(values[2]) : "live";
    hdx_refs_scope scope = HDX_LIVE;
    if (dump == NULL || schema == NULL || word == NULL || !scope_of(word, &scope)) {
        sqlite3_result_error(context, "heapdex_open(DUMP [, SCHEMA [, 'live', 'all' or 'garbage']])", -1);
        return;
    }
    if (sqlite3_exec(e->db, "SAVEPOINT heapdex_open", NULL, NULL, NULL) != SQLITE_OK) {
        sqlite3_result_error(context, sqlite3_errmsg(e->db), -1);
        return;
    }
    const hdx_code code = open_dump(e, dump, schema, scope, &err);
    (void)sqlite3_exec(e->db, "RELEASE heapdex_open", NULL, NULL, NULL);
    if (code != HDX_OK)
        function_failed(context, &err);
    else
        sqlite3_result_int64(context,
                             (sqlite3_int64)hdx_graph_summary_of(hdx_sql_heap_of(e->heaps, schema)->g)->live_objects);
}

/* ---- heapdex_table ---- */

static void heapdex_table(sqlite3_context *context, int count, sqlite3_value **values)
{
    extension  *e = sqlite3_user_data(context);
    hdx_error   err = { .offset = HDX_NOWHERE };
    const char *name = text_of(values[0]), *schema = count > 1 ? text_of(values[1]) : "temp";
    bool        made = false;
    if (name == NULL || schema == NULL) {
        sqlite3_result_error(context, "heapdex_table(CLASS [, SCHEMA])", -1);
        return;
    }
    if (hdx_sql_heap_of(e->heaps, schema) == NULL) {
        sqlite3_result_error(context, "the schema has no open dump; use heapdex_open('app.hprof')", -1);
        return;
    }
    char         *text = sqlite3_mprintf("SELECT 1 FROM \"%w\".\"%w\"", schema, name);
    sqlite3_stmt *stmt = NULL;
    const bool    there = text != NULL && sqlite3_prepare_v2(e->db, text, -1, &stmt, NULL) == SQLITE_OK;
    (void)sqlite3_finalize(stmt);
    sqlite3_free(text);
    if (!there && hdx_sql_install_class(e->heaps, schema, name, &made, &err) != HDX_OK)
        function_failed(context, &err);
    else if (!there && !made)
        sqlite3_result_error(context, "unknown class name", -1);
    else
        sqlite3_result_text(context, name, -1, SQLITE_TRANSIENT);
}

/* ---- entry point ---- */

static void free_extension(void *own) { free(own); } /* the session ends with the tables */

__attribute__((visibility("default"))) int sqlite3_heapdexsqlite_init(sqlite3 *db, char **message,
                                                                      const sqlite3_api_routines *api);
int sqlite3_heapdexsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    static const struct {
        const char *name;
        int         least, most;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = { { "heapdex_open", 1, 3, heapdex_open }, { "heapdex_table", 1, 2, heapdex_table } };
    SQLITE_EXTENSION_INIT2(api);
    if (sqlite3_libversion_number() < OLDEST) {
        *message = sqlite3_mprintf("heapdex needs SQLite 3.38 or later; this is %s", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    const hdx_index_options options = { .dump = "" };
    hdx_error               err = { .offset = HDX_NOWHERE };
    extension              *e = calloc(1, sizeof *e);
    if (e == NULL)
        return SQLITE_NOMEM;
    e->db = db;
    hdx_code code = hdx_session_open(&options, &e->session, &err);
    if (code == HDX_OK && (code = hdx_sql_install(db, e->session, NULL, &e->heaps, &err)) == HDX_OK)
        e->heaps->owned = true;
    if (code != HDX_OK) {
        *message = sqlite3_mprintf("%s", err.message);
        free(e); /* the session stays open, because functions that are already registered use it */
        return SQLITE_ERROR;
    }
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        for (int n = functions[i].least; rc == SQLITE_OK && n <= functions[i].most; n++) {
            const bool last = i + 1 == sizeof functions / sizeof *functions && n == functions[i].most;
            rc = sqlite3_create_function_v2(db, functions[i].name, n, SQLITE_UTF8 | SQLITE_DIRECTONLY, e,
                                            functions[i].call, NULL, NULL, last ? free_extension : NULL);
        }
    return rc == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : rc;
}
