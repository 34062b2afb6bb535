/*
 * guard.c - limits what statements of a connection may do, and their cost.
 *
 * A statement is untrusted: it may read the tables, and create temporary tables and views. It may not open files,
 * change settings or create tables in the schema of a dump. Statements of the program itself (attaching, tables of
 * classes) bypass this guard by `trusted`.
 *
 * Long statements check for cancellation here and report progress: while they run, while they are prepared, and within
 * functions.
 */
#include "sql/sql.h"

#define STEPS_BETWEEN_CHECKS 250 /* each may scan a text of up to MOST_TEXT bytes */
#define REPORT_NS            100000000u
/* bytes: SQLite takes up to a second for one such text, and cannot be interrupted */
#define MOST_TEXT 100000000
#define LARGE     65536u /* bytes of one memory request */
#define REQUESTS  64u    /* smaller requests between two checks */

/* ---- authorization ---- */

/* Pragmas that only read the schema. */
static const char *const reading[] = { "collation_list", "compile_options", "database_list", "function_list",
                                       "index_info",     "index_list",      "index_xinfo",   "module_list",
                                       "pragma_list",    "table_info",      "table_list",    "table_xinfo" };

static bool reads(const char *pragma)
{
    for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
        if (sqlite3_stricmp(pragma, reading[i]) == 0)
            return true;
    return false;
}

static bool is_temp(const char *schema) { return schema != NULL && sqlite3_stricmp(schema, "temp") == 0; }

/* Returns a description of a forbidden action; NULL: it is allowed. */
static const char *refused(int action, const char *first, const char *second, const char *schema)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX: return NULL;
    case SQLITE_UPDATE: /* SQLite checks the list of tables when a table declares itself; nothing can write to it */
        if (strcmp(first, "sqlite_master") == 0)
            return NULL;
        /* fallthrough */
    case SQLITE_INSERT:
    case SQLITE_DELETE: return is_temp(schema) ? NULL : "writing to a table that is not temporary";
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_INDEX:
    case SQLITE_DROP_TABLE:
    case SQLITE_DROP_VIEW:
    case SQLITE_DROP_INDEX: return is_temp(schema) ? NULL : "changing a schema that is not temporary";
    case SQLITE_ALTER_TABLE: return is_temp(first) ? NULL : "changing a schema that is not temporary";
    case SQLITE_FUNCTION: return sqlite3_stricmp(second, "load_extension") != 0 ? NULL : "loading an extension";
    case SQLITE_PRAGMA: return reads(first) ? NULL : "this pragma";
    case SQLITE_ATTACH:
    case SQLITE_DETACH: return "attaching and detaching files";
    case SQLITE_CREATE_VTABLE:
    case SQLITE_DROP_VTABLE: return "virtual tables";
    default: return "this statement"; /* triggers, ANALYZE, REINDEX */
    }
}

static int authorize(void *context, int action, const char *first, const char *second, const char *schema,
                     const char *inner)
{
    sql_db     *db = context;
    hdx_error   err = { .offset = HDX_NOWHERE };
    const char *what =
        db->trusted != 0 ? NULL : refused(action, first != NULL ? first : "", second != NULL ? second : "", schema);
    (void)inner;
    if (what == NULL && sql_turn(db, &err) == HDX_OK)
        return SQLITE_OK;
    if (what == NULL)
        hdx_sql_keep(db, &err);
    else if (db->error.code == HDX_OK)
        (void)hdx_hint(&db->error, hdx_fail(&db->error, HDX_USAGE, "", HDX_NOWHERE, "not allowed here: %s", what),
                       "tables are read-only; create your own with CREATE TEMP TABLE or CREATE TEMP VIEW");
    return SQLITE_DENY;
}

/* ---- cancellation and progress ---- */

static int turn(void *context)
{
    sql_db        *db = context;
    hdx_error      err = { .offset = HDX_NOWHERE };
    const uint64_t now = hdx_now_ns();
    db->steps += STEPS_BETWEEN_CHECKS;
    if (now - db->reported_ns > REPORT_NS) {
        const hdx_progress_report r = {
            .step = "statement", .number = 1, .steps = 1, .done = db->steps, .unit = "steps"
        };
        db->reported_ns = now;
        db->own.report(db->own.context, &r);
    }
    if (hdx_sql_stopped(db, &err) == HDX_OK)
        return 0;
    hdx_sql_keep(db, &err);
    return 1;
}

/* ---- requests for memory ---- */

/*
 * SQLite calls its progress handler between steps of a running statement, but not while it prepares one or within a
 * function. It requests memory for everything that grows, and a refused request ends the statement.
 */
static _Thread_local sql_db *watched;
static sqlite3_mem_methods   usual;

sql_db *hdx_sql_watch(sql_db *db)
{
    sql_db *before = watched;
    watched = db;
    return before;
}

static bool is_over(int bytes)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    sql_db   *db = watched;
    if (db == NULL || ((unsigned)bytes < LARGE && ++db->requests % REQUESTS != 0) ||
        hdx_sql_stopped(db, &err) == HDX_OK)
        return false;
    hdx_sql_keep(db, &err);
    return true;
}

static void *request(int bytes) { return is_over(bytes) ? NULL : usual.xMalloc(bytes); }
static void *request_more(void *at, int bytes) { return is_over(bytes) ? NULL : usual.xRealloc(at, bytes); }

static void watch_memory(void)
{
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual) != SQLITE_OK) /* SQLite is already in use */
        return;
    sqlite3_mem_methods ours = usual;
    ours.xMalloc = request;
    ours.xRealloc = request_more;
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
}

void hdx_sql_watch_memory(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, watch_memory);
}

/* A text in double quotes is only a name: otherwise a misspelt column would silently become a text. */
void hdx_sql_guard(sql_db *db)
{
    static const int limits[][2] = {
        { SQLITE_LIMIT_LENGTH, MOST_TEXT },
        { SQLITE_LIMIT_SQL_LENGTH, 1000000 },
        { SQLITE_LIMIT_EXPR_DEPTH, 500 },
        { SQLITE_LIMIT_COMPOUND_SELECT, 200 },
        { SQLITE_LIMIT_VDBE_OP, 1000000 },
        { SQLITE_LIMIT_FUNCTION_ARG, 100 },
        { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10000 },
        { SQLITE_LIMIT_WORKER_THREADS, 0 },
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        (void)sqlite3_limit(db->db, limits[i][0], limits[i][1]);
    (void)hdx_sql_install_texts(db);
    (void)sqlite3_db_config(db->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, (int *)NULL);
    (void)sqlite3_db_config(db->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    (void)sqlite3_db_config(db->db, SQLITE_DBCONFIG_DQS_DML, 0, (int *)NULL);
    (void)sqlite3_db_config(db->db, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)NULL);
    (void)sqlite3_set_authorizer(db->db, authorize, db);
    sqlite3_progress_handler(db->db, STEPS_BETWEEN_CHECKS, turn, db);
}
