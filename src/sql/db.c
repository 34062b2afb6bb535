/* db.c - services of a connection for tables and functions: cancellation, errors, the dump of a schema. */
#include "sql/sql.h"

/* ---- cancellation ---- */

#define PROBE_NS 50000000u

static bool is_running(sqlite3 *db)
{
    sqlite3_stmt *stmt = sqlite3_next_stmt(db, NULL);
    while (stmt != NULL && !sqlite3_stmt_busy(stmt))
        stmt = sqlite3_next_stmt(db, stmt);
    return stmt != NULL;
}

/*
 * Checks the connection of a host program, which has its own limits and interrupts. SQLite does not report whether it
 * was interrupted, but an inner statement ends then, and it takes enough steps for a progress handler to be called.
 * Checks are 50 ms apart, and one takes half a millisecond.
 */
static bool host_stops(sql_db *db)
{
    const uint64_t now = hdx_now_ns();
    if (now - db->probed_ns < PROBE_NS || !is_running(db->db))
        return false;
    db->probed_ns = now;
    return sqlite3_exec(
               db->db,
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT max(i) FROM n", NULL,
               NULL, NULL) == SQLITE_INTERRUPT;
}

hdx_code hdx_sql_stopped(sql_db *db, hdx_error *err)
{
    if (atomic_load_explicit(&db->interrupted, memory_order_relaxed) ||
        (db->progress->cancelled != NULL && db->progress->cancelled(db->progress->context)))
        return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "cancelled");
    if (db->owned && host_stops(db))
        return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "interrupted");
    if (db->deadline_ms != 0 && hdx_now_ns() / 1000000 > db->deadline_ms)
        return hdx_hint(err,
                        hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE,
                                 "the statement takes longer than the maximum of %llu s",
                                 (unsigned long long)db->options.seconds),
                        "raise the limit with --max-seconds");
    return HDX_OK;
}

/* ---- errors ---- */

int hdx_sql_status(hdx_code code)
{
    switch (code) {
    case HDX_OK: return SQLITE_OK;
    case HDX_CANCELLED: return SQLITE_INTERRUPT;
    case HDX_LIMIT: return SQLITE_FULL;
    case HDX_DAMAGED: return SQLITE_CORRUPT_VTAB;
    case HDX_IO: return SQLITE_IOERR;
    default: return SQLITE_ERROR;
    }
}

/* A cancelled query needs no reason: HDX_CANCELLED may mean that the time limit was reached. */
void hdx_sql_keep(sql_db *db, const hdx_error *err)
{
    hdx_error why = { .offset = HDX_NOWHERE };
    if (db->error.code != HDX_OK)
        return;
    db->error = err->code == HDX_CANCELLED && hdx_sql_stopped(db, &why) != HDX_OK ? why : *err;
}

int hdx_sql_table_failed(sqlite3_vtab *table, sql_db *db, const hdx_error *err)
{
    hdx_sql_keep(db, err);
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", err->message);
    return hdx_sql_status(err->code);
}

void hdx_sql_function_failed(sqlite3_context *context, sql_db *db, const hdx_error *err)
{
    hdx_sql_keep(db, err);
    sqlite3_result_error(context, err->message, -1);
    if (err->code != HDX_USAGE && err->code != HDX_NOT_FOUND)
        sqlite3_result_error_code(context, hdx_sql_status(err->code));
}

/* ---- schemas ---- */

sql_heap *hdx_sql_heap_of(sql_db *db, const char *schema)
{
    if (schema == NULL)
        return db->heap_count > 0 ? db->heaps[0] : NULL;
    for (unsigned i = 0; i < db->heap_count; i++)
        if (sqlite3_stricmp(db->heaps[i]->schema, schema) == 0)
            return db->heaps[i];
    return NULL;
}
