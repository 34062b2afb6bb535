/*
 * file.c - writes rows as tables of a plain SQLite file, for people who have SQLite but not heapdex.
 *
 * In:  an empty file of the caller, and rows of any answer.
 * Out: a table for each, in one transaction.
 * There is neither journal nor sync in case the write fails: the caller then removes the file, and otherwise syncs it
 * before it gives it its name.
 */
#include "columns/columns.h"
#include "render/render.h"
#include "sql/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE 16384 /* bytes: a tenth less processor time than with 4096; larger pages gain no more */

struct hdx_sql_file {
    sqlite3            *db;
    const hdx_progress *progress;
};

static bool is_cancelled(const hdx_progress *p)
{
    return p != NULL && p->cancelled != NULL && p->cancelled(p->context);
}

static hdx_code file_failed(const hdx_sql_file *f, int rc, hdx_error *err)
{
    switch (rc & 0xff) {
    case SQLITE_NOMEM: return hdx_no_memory(err, "a file of SQLite", 0);
    case SQLITE_TOOBIG:
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "a text exceeds SQLite's limit of 1,000,000,000 bytes");
    case SQLITE_CORRUPT: /* a page could not be read */
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN: return hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write: %s", sqlite3_errmsg(f->db));
    default: return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "%s", sqlite3_errmsg(f->db));
    }
}

static hdx_code execute(const hdx_sql_file *f, const char *statement, hdx_error *err)
{
    const int rc = sqlite3_exec(f->db, statement, NULL, NULL, NULL);
    return rc == SQLITE_OK ? HDX_OK : file_failed(f, rc, err);
}

hdx_code hdx_sql_file_open(const char *path, const hdx_progress *progress, hdx_sql_file **out, hdx_error *err)
{
    hdx_sql_file *f = *out = calloc(1, sizeof *f);
    /* "file:..." would be a URI, and ":memory:" no file */
    char *place = sqlite3_mprintf("%s%s", path[0] == '/' ? "" : "./", path);
    if (f == NULL || place == NULL) {
        sqlite3_free(place);
        free(f);
        *out = NULL;
        return hdx_no_memory(err, "a file of SQLite", sizeof *f);
    }
    f->progress = progress;
    const int rc = sqlite3_open_v2(place, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    hdx_code  code = rc == SQLITE_OK ? HDX_OK : file_failed(f, rc, err);
    sqlite3_free(place);
    char pragmas[160];
    (void)sqlite3_snprintf(sizeof pragmas, pragmas,
                           "PRAGMA page_size = %d; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                           "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE",
                           PAGE);
    if (code == HDX_OK && (code = execute(f, pragmas, err)) == HDX_OK)
        return HDX_OK;
    hdx_sql_file_close(f);
    *out = NULL;
    return code;
}

void hdx_sql_file_close(hdx_sql_file *f)
{
    if (f == NULL)
        return;
    (void)sqlite3_close(f->db);
    free(f);
}

hdx_code hdx_sql_file_end(hdx_sql_file *f, hdx_error *err) { return execute(f, "COMMIT", err); }

hdx_code hdx_sql_file_drop(hdx_sql_file *f, const char *table, hdx_error *err)
{
    char          *drop = sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\"", table);
    const hdx_code code = drop == NULL ? hdx_no_memory(err, "a statement", 0) : execute(f, drop, err);
    sqlite3_free(drop);
    return code;
}

/* ---- a table ---- */

typedef struct filled {
    hdx_sql_file *file;
    hdx_runs      runs;
    sqlite3_stmt *insert;
    hdx_buffer   *texts; /* of the current row, valid UTF-8; one per column */
} filled;

static hdx_code create(filled *t, const char *name, hdx_error *err)
{
    static const char *const types[] = { [HDX_OUTSIDE_NUMBER] = "INTEGER",
                                         [HDX_OUTSIDE_REAL] = "REAL",
                                         [HDX_OUTSIDE_BOOL] = "INTEGER",
                                         [HDX_OUTSIDE_TEXT] = "TEXT" };
    const hdx_sql_file      *f = t->file;
    sqlite3_str             *make = sqlite3_str_new(f->db), *insert = sqlite3_str_new(f->db);
    sqlite3_str_appendf(make, "CREATE TABLE \"%w\"(", name);
    sqlite3_str_appendf(insert, "INSERT INTO \"%w\" VALUES(", name);
    for (unsigned i = 0; i < t->runs.column_count; i++) {
        const hdx_column *c = &t->runs.columns[i];
        sqlite3_str_appendf(make, "%s\"%w\" %s", i > 0 ? ", " : "", c->name, types[hdx_outside_of(c)]);
        sqlite3_str_appendall(insert, i > 0 ? ", ?" : "?");
    }
    sqlite3_str_appendall(make, ")");
    sqlite3_str_appendall(insert, ")");
    char    *made = sqlite3_str_finish(make), *inserts = sqlite3_str_finish(insert);
    hdx_code code = made == NULL || inserts == NULL ? hdx_no_memory(err, "a table", 0) : execute(f, made, err);
    if (code == HDX_OK) {
        const int rc = sqlite3_prepare_v3(f->db, inserts, -1, SQLITE_PREPARE_PERSISTENT, &t->insert, NULL);
        code = rc == SQLITE_OK ? HDX_OK : file_failed(f, rc, err);
    }
    sqlite3_free(made);
    sqlite3_free(inserts);
    return code;
}

static int bind(filled *t, unsigned column, uint32_t row)
{
    const hdx_vector *v = &t->runs.vectors[column];
    const int         place = (int)column + 1;
    double            real;
    if (!hdx_vector_has(v, row))
        return sqlite3_bind_null(t->insert, place);
    switch (hdx_outside_of(&t->runs.columns[column])) {
    case HDX_OUTSIDE_TEXT: {
        const hdx_text text = hdx_vector_text(v, row);
        hdx_buffer    *b = &t->texts[column];
        hdx_buffer_clear(b);
        hdx_render_utf8(b, text.at, text.len);
        return b->failed
                   ? SQLITE_NOMEM
                   : sqlite3_bind_text64(t->insert, place, b->len > 0 ? b->at : "", b->len, SQLITE_STATIC, SQLITE_UTF8);
    }
    case HDX_OUTSIDE_REAL:
        memcpy(&real, &v->numbers[row], sizeof real);
        return sqlite3_bind_double(t->insert, place, real);
    case HDX_OUTSIDE_BOOL: return sqlite3_bind_int(t->insert, place, v->numbers[row] != 0);
    default: return sqlite3_bind_int64(t->insert, place, (sqlite3_int64)v->numbers[row]);
    }
}

static hdx_code insert_run(filled *t, hdx_error *err)
{
    if (is_cancelled(t->file->progress))
        return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "interrupted while writing the table");
    for (uint32_t row = 0; row < t->runs.count; row++) {
        int rc = SQLITE_OK;
        for (unsigned i = 0; rc == SQLITE_OK && i < t->runs.column_count; i++)
            rc = bind(t, i, row);
        if (rc == SQLITE_OK && (rc = sqlite3_step(t->insert)) == SQLITE_DONE)
            rc = sqlite3_reset(t->insert);
        if (rc != SQLITE_OK)
            return file_failed(t->file, rc, err);
    }
    return HDX_OK;
}

static void close_filled(filled *t)
{
    for (unsigned i = 0; t->texts != NULL && i < t->runs.column_count; i++)
        hdx_buffer_free(&t->texts[i]);
    hdx_mem_put(t->runs.mem, t->texts, t->runs.column_count * sizeof *t->texts);
    (void)sqlite3_finalize(t->insert);
    hdx_runs_close(&t->runs);
}

hdx_code hdx_sql_file_add(hdx_sql_file *f, const char *table, hdx_rows *rows, hdx_error *err)
{
    filled   t = { .file = f };
    hdx_code code = hdx_runs_open(rows, &t.runs, err);
    if (code == HDX_OK && (t.texts = hdx_mem_array(t.runs.mem, t.runs.column_count, sizeof *t.texts)) == NULL)
        code = hdx_no_memory(err, "texts of a row", t.runs.column_count * sizeof *t.texts);
    for (unsigned i = 0; code == HDX_OK && i < t.runs.column_count; i++)
        t.texts[i] = hdx_buffer_of(t.runs.mem);
    if (code == HDX_OK)
        code = create(&t, table, err);
    if (code == HDX_OK)
        code = hdx_runs_next(&t.runs, HDX_RUN_ROWS, err);
    while (code == HDX_OK && t.runs.count > 0 && (code = insert_run(&t, err)) == HDX_OK)
        code = hdx_runs_next(&t.runs, HDX_RUN_ROWS, err);
    hdx_mem *mem = t.runs.mem;
    close_filled(&t);
    return code == HDX_LIMIT ? hdx_mem_explain(mem, code, err) : code;
}

/* ---- into a file shared by many writers ---- */

#define WAIT_MS 600000 /* wait for another writer */
#define NAP_MS  20

static int wait_for_others(void *context, int times)
{
    const hdx_sql_file *f = context;
    if (is_cancelled(f->progress) || times >= WAIT_MS / NAP_MS)
        return 0;
    (void)sqlite3_sleep(NAP_MS);
    return 1;
}

static hdx_code shared_failed(const hdx_sql_file *f, int rc, hdx_error *err)
{
    const bool busy = (rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED;
    if (busy && is_cancelled(f->progress))
        return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "interrupted while waiting for another writer");
    return busy ? hdx_fail(err, HDX_BUSY, "", HDX_NOWHERE, "another writer has locked the file")
                : file_failed(f, rc, err);
}

/* Runs one statement, whose parameter ?1 is the value. Frees `text`, which is from sqlite3_mprintf. */
static hdx_code step(const hdx_sql_file *f, char *text, const char *value, sqlite3_int64 *number, hdx_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (text == NULL)
        return hdx_no_memory(err, "a statement", 0);
    int rc = sqlite3_prepare_v2(f->db, text, -1, &statement, NULL);
    sqlite3_free(text);
    if (rc == SQLITE_OK && sqlite3_bind_parameter_count(statement) > 0)
        rc = sqlite3_bind_text(statement, 1, value, -1, SQLITE_STATIC);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW && number != NULL)
            *number = sqlite3_column_int64(statement, 0);
    }
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? HDX_OK : shared_failed(f, rc, err);
}

static hdx_code has_table(const hdx_sql_file *f, const char *schema, const char *table, bool *has, hdx_error *err)
{
    sqlite3_int64 count = 0;
    hdx_code      code =
        step(f, sqlite3_mprintf("SELECT count(*) FROM %s.sqlite_master WHERE type = 'table' AND name = ?1", schema),
             table, &count, err);
    *has = count > 0;
    return code;
}

/* Runs the other file's CREATE TABLE statement here. It names no schema, so the table is created in this file. */
static hdx_code make_like(const hdx_sql_file *f, const hdx_sql_replace *r, const char *table, hdx_error *err)
{
    sqlite3_stmt *statement = NULL;
    char         *make = NULL;
    int rc = sqlite3_prepare_v2(f->db, "SELECT sql FROM fresh.sqlite_master WHERE type = 'table' AND name = ?1", -1,
                                &statement, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC)) == SQLITE_OK &&
        (rc = sqlite3_step(statement)) == SQLITE_ROW)
        make = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    hdx_code code = make == NULL ? file_failed(f, rc, err) : step(f, make, NULL, NULL, err);
    if (code == HDX_OK)
        code = step(
            f, sqlite3_mprintf("CREATE INDEX main.\"%w by %w\" ON \"%w\"(\"%w\")", table, r->column, table, r->column),
            NULL, NULL, err);
    return code;
}

static hdx_code replace_table(const hdx_sql_file *f, const hdx_sql_replace *r, const char *table, hdx_error *err)
{
    bool     here, there;
    hdx_code code = has_table(f, "main", table, &here, err);
    if (code == HDX_OK)
        code = has_table(f, "fresh", table, &there, err);
    if (code == HDX_OK && here)
        code = step(f, sqlite3_mprintf("DELETE FROM main.\"%w\" WHERE \"%w\" = ?1", table, r->column), r->value, NULL,
                    err);
    if (code != HDX_OK || !there)
        return code;
    if (!here && (code = make_like(f, r, table, err)) != HDX_OK)
        return code;
    return step(f, sqlite3_mprintf("INSERT INTO main.\"%w\" SELECT * FROM fresh.\"%w\"", table, table), NULL, NULL,
                err);
}

static hdx_code check_version(const hdx_sql_file *f, const hdx_sql_replace *r, hdx_error *err)
{
    sqlite3_int64 version = 0, tables = 0;
    hdx_code      code = step(f, sqlite3_mprintf("PRAGMA main.user_version"), NULL, &version, err);
    if (code == HDX_OK)
        code = step(f, sqlite3_mprintf("SELECT count(*) FROM main.sqlite_master"), NULL, &tables, err);
    if (code != HDX_OK || version == r->version)
        return code;
    if (version != 0 || tables != 0)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                        "the existing tables have version %lld; the new ones have version %u", (long long)version,
                        r->version);
    return step(f, sqlite3_mprintf("PRAGMA main.user_version = %u", r->version), NULL, NULL, err);
}

static hdx_code replace_all(const hdx_sql_file *f, const hdx_sql_replace *r, hdx_error *err)
{
    hdx_code code = step(f, sqlite3_mprintf("PRAGMA main.page_size = %d", PAGE), NULL, NULL, err);
    if (code == HDX_OK)
        code = step(f, sqlite3_mprintf("ATTACH ?1 AS fresh"), r->from, NULL, err);
    if (code == HDX_OK)
        code = step(f, sqlite3_mprintf("BEGIN IMMEDIATE"), NULL, NULL, err);
    if (code == HDX_OK)
        code = check_version(f, r, err);
    for (size_t i = 0; code == HDX_OK && i < r->table_count; i++)
        code = replace_table(f, r, r->tables[i], err);
    return code == HDX_OK ? step(f, sqlite3_mprintf("COMMIT"), NULL, NULL, err) : code;
}

/* Opens an existing file. */
static hdx_code open_shared(hdx_sql_file *f, const char *path, hdx_error *err)
{
    char *place = sqlite3_mprintf("%s%s", path[0] == '/' ? "" : "./", path);
    if (place == NULL)
        return hdx_no_memory(err, "a file of SQLite", 0);
    const int rc = sqlite3_open_v2(place, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_free(place);
    if (rc == SQLITE_OK)
        (void)sqlite3_busy_handler(f->db, wait_for_others, f);
    return rc == SQLITE_OK ? HDX_OK : file_failed(f, rc, err);
}

static hdx_code close_shared(hdx_sql_file *f, const char *path, hdx_code code, hdx_error *err)
{
    if (code != HDX_OK && err != NULL && err->where[0] == '\0')
        (void)snprintf(err->where, sizeof err->where, "%.*s", (int)sizeof err->where - 1, path);
    (void)sqlite3_close(f->db); /* changes that were not committed are rolled back */
    return code;
}

hdx_code hdx_sql_file_replace(const hdx_sql_replace *r, const hdx_progress *progress, hdx_error *err)
{
    hdx_sql_file f = { .progress = progress };
    hdx_code     code = open_shared(&f, r->path, err);
    if (code == HDX_OK)
        code = replace_all(&f, r, err);
    return close_shared(&f, r->path, code, err);
}

hdx_code hdx_sql_file_has(const char *path, const char *table, const char *column, const char *value,
                          const hdx_progress *progress, bool *has, hdx_error *err)
{
    hdx_sql_file  f = { .progress = progress };
    sqlite3_int64 found = 0;
    bool          there = false;
    *has = false;
    if (access(path, F_OK) != 0)
        return HDX_OK;
    hdx_code code = open_shared(&f, path, err);
    if (code == HDX_OK)
        code = has_table(&f, "main", table, &there, err);
    if (code == HDX_OK && there)
        code = step(&f, sqlite3_mprintf("SELECT EXISTS(SELECT 1 FROM main.\"%w\" WHERE \"%w\" = ?1)", table, column),
                    value, &found, err);
    *has = found > 0;
    return close_shared(&f, path, code, err);
}
