/*
 * run.c - statements to rows.
 *
 * In:  a text of SQL.
 * Out: rows, a column for each of the statement's, of any type; addresses and sizes are what the column of a table that
 *      they come from declares.
 */
#include "answer/answer.h"
#include "rows/rows.h"
#include "sql/sql.h"

#include <stdlib.h>

struct hdx_sql {
    sqlite3 *db;
    sql_db  *heaps;
};

/* ---- a connection ---- */

static hdx_code sqlite_failed(hdx_sql *sql, int rc, hdx_error *err)
{
    if (sql->heaps != NULL && sql->heaps->error.code != HDX_OK) {
        *err = sql->heaps->error;
        sql->heaps->error.code = HDX_OK;
        return err->code;
    }
    const hdx_code code = rc == SQLITE_NOMEM || rc == SQLITE_TOOBIG || rc == SQLITE_FULL ? HDX_LIMIT
                          : rc == SQLITE_INTERRUPT                                       ? HDX_CANCELLED
                                                                                         : HDX_USAGE;
    return hdx_fail(err, code, "", HDX_NOWHERE, "%s", sqlite3_errmsg(sql->db));
}

hdx_code hdx_sql_open(hdx_session *s, const hdx_sql_options *options, hdx_sql **out, hdx_error *err)
{
    hdx_sql *sql = *out = calloc(1, sizeof *sql);
    if (sql == NULL)
        return hdx_no_memory(err, "a connection", sizeof *sql);
    const int rc = sqlite3_open(":memory:", &sql->db);
    hdx_code  code = rc != SQLITE_OK ? sqlite_failed(sql, rc, err) : sql_install(sql->db, s, options, &sql->heaps, err);
    if (code == HDX_OK)
        code = sql_install_heap(sql->heaps, 0, "main", err);
    if (code != HDX_OK) {
        hdx_sql_close(sql);
        *out = NULL;
    }
    return code;
}

void hdx_sql_close(hdx_sql *sql)
{
    if (sql == NULL)
        return;
    (void)sqlite3_close(sql->db);
    free(sql);
}

void hdx_sql_interrupt(hdx_sql *sql)
{
    atomic_store(&sql->heaps->interrupted, true);
    sqlite3_interrupt(sql->db);
}

bool hdx_sql_complete(const char *text) { return sqlite3_complete(text) != 0; }

/* ---- rows of a statement ---- */

typedef struct statement {
    hdx_sql         *sql;
    sqlite3_stmt    *stmt;
    hdx_column      *columns;
    unsigned         count;
    bool             first; /* the statement stands on its first row already */
    struct hdx_near *near;
} statement;

static void statement_close(void *state)
{
    statement *s = state;
    hdx_graph_near_end(s->near);
    (void)sqlite3_finalize(s->stmt);
    free(s->columns);
    free(s);
}

static hdx_cell cell_of(const statement *s, int i, hdx_arena *arena)
{
    switch (sqlite3_column_type(s->stmt, i)) {
    case SQLITE_INTEGER: {
        const int64_t v = sqlite3_column_int64(s->stmt, i);
        if (s->columns[i].type == HDX_TYPE_ADDRESS)
            return hdx_cell_address((hdx_addr)v);
        return hdx_cell_int(v);
    }
    case SQLITE_FLOAT: return hdx_cell_real(sqlite3_column_double(s->stmt, i));
    case SQLITE_NULL: return hdx_cell_null();
    default: {
        const void *at = sqlite3_column_blob(s->stmt, i);
        const int   len = sqlite3_column_bytes(s->stmt, i);
        (void)arena; /* the text lives until the next step */
        return hdx_cell_text((hdx_text){ len == 0 ? "" : at, (uint32_t)len });
    }
    }
}

static hdx_code statement_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    statement *s = state;
    const int  rc = s->first ? SQLITE_ROW : sqlite3_step(s->stmt);
    s->first = false;
    *more = rc == SQLITE_ROW;
    for (unsigned i = 0; *more && i < s->count; i++)
        cells[i] = cell_of(s, (int)i, arena);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? HDX_OK : sqlite_failed(s->sql, rc, err);
}

/* What the column of a table declares. */
static void declared(hdx_column *c, const char *type)
{
    c->type = HDX_TYPE_ANY;
    c->flags = HDX_COLUMN_NULLABLE;
    if (type == NULL)
        return;
    if (strcmp(type, "ADDRESS") == 0)
        c->type = HDX_TYPE_ADDRESS;
    else if (strcmp(type, "SIZE") == 0)
        c->unit = HDX_UNIT_BYTES;
    else if (strcmp(type, "COUNT") == 0)
        c->unit = HDX_UNIT_COUNT;
}

static hdx_code statement_rows(statement *s, hdx_rows **rows, hdx_error *err)
{
    s->count = (unsigned)sqlite3_column_count(s->stmt);
    s->columns = calloc(s->count, sizeof *s->columns);
    if (s->columns == NULL) {
        statement_close(s);
        return hdx_no_memory(err, "columns", s->count * sizeof *s->columns);
    }
    for (unsigned i = 0; i < s->count; i++) {
        s->columns[i].name = sqlite3_column_name(s->stmt, (int)i);
        s->columns[i].sentence = "";
        declared(&s->columns[i], sqlite3_column_decltype(s->stmt, (int)i));
    }
    const hdx_rows_maker maker = { s->columns, s->count, s, statement_next, statement_close, 0 };
    return hdx_rows_make_in(s->sql->heaps->heaps[0]->query.mem, &maker, rows, err);
}

/* "no such table: a.b" names a class whose table nobody asked for yet? */
static hdx_code make_missing(hdx_sql *sql, bool *made, hdx_error *err)
{
    static const char words[] = "no such table: ";
    const char       *message = sqlite3_errmsg(sql->db);
    *made = false;
    if (strncmp(message, words, sizeof words - 1) != 0)
        return HDX_OK;
    char    *name = sqlite3_mprintf("%s", message + sizeof words - 1);
    hdx_code code =
        name == NULL ? hdx_no_memory(err, "a name", 0) : sql_install_class(sql->heaps, NULL, name, made, err);
    for (unsigned i = 0; code == HDX_OK && !*made && i < sql->heaps->heap_count; i++) {
        const char  *schema = sql->heaps->heaps[i]->schema;
        const size_t len = strlen(schema);
        if (sqlite3_strnicmp(name, schema, (int)len) == 0 && name[len] == '.')
            code = sql_install_class(sql->heaps, schema, name + len + 1, made, err);
    }
    sqlite3_free(name);
    return code;
}

static hdx_code prepare(hdx_sql *sql, const char *text, sqlite3_stmt **stmt, const char **rest, hdx_error *err)
{
    for (;;) {
        bool      made;
        const int rc = sqlite3_prepare_v2(sql->db, text, -1, stmt, rest);
        if (rc == SQLITE_OK)
            return HDX_OK;
        hdx_code code = make_missing(sql, &made, err);
        if (code != HDX_OK || !made)
            return code != HDX_OK ? code : sqlite_failed(sql, rc, err);
    }
}

hdx_code hdx_sql_run(hdx_sql *sql, const char *text, const char **rest, hdx_rows **rows, hdx_error *err)
{
    sqlite3_stmt *stmt = NULL;
    const char   *behind = text;
    *rows = NULL;
    sql->heaps->error.code = HDX_OK;
    atomic_store(&sql->heaps->interrupted, false);
    hdx_code code = prepare(sql, text, &stmt, &behind, err);
    if (rest != NULL)
        *rest = behind;
    if (code != HDX_OK || stmt == NULL)
        return code;
    struct hdx_near *near = hdx_graph_near_begin(sql->heaps->heaps[0]->g);
    const int        rc = sqlite3_step(stmt); /* what is wrong with it is known before the first row is written */
    statement       *s = rc == SQLITE_ROW || rc == SQLITE_DONE ? calloc(1, sizeof *s) : NULL;
    if (s == NULL || sqlite3_column_count(stmt) == 0) {
        hdx_graph_near_end(near);
        code = rc == SQLITE_ROW || rc == SQLITE_DONE ? HDX_OK : sqlite_failed(sql, rc, err);
        (void)sqlite3_finalize(stmt);
        free(s);
        return code;
    }
    *s = (statement){ .sql = sql, .stmt = stmt, .first = rc == SQLITE_ROW, .near = near };
    return statement_rows(s, rows, err);
}
