/*
 * test_file.c - rows as tables of a plain SQLite file: read back by SQLite, value for value.
 */
#define SQLITE_CORE /* functions of SQLite by their names */
#include "statements.h"
#include "render/render.h"

#include <fcntl.h>
#include <unistd.h>

typedef struct file_test {
    dump_test     t;
    char          path[160];
    hdx_sql_file *file;
} file_test;

static void open_file(file_test *f, const hdx_progress *progress)
{
    open_bookshop(&f->t);
    (void)snprintf(f->path, sizeof f->path, "%s/a.db", f->t.folder);
    const int fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    cr_assert(fd >= 0 && close(fd) == 0);
    cr_assert(hdx_sql_file_open(f->path, progress, &f->file, &f->t.err) == HDX_OK, "%s", f->t.err.message);
}

static void close_file(file_test *f)
{
    hdx_sql_file_close(f->file);
    close_dump(&f->t);
}

static hdx_rows *exported(file_test *f, const char *table)
{
    const hdx_argument argument = { "table", table };
    hdx_rows          *rows;
    cr_assert(hdx_answer_run(f->t.s, "export", &argument, 1, &rows, &f->t.err) == HDX_OK, "%s", f->t.err.message);
    return rows;
}

static hdx_code add(file_test *f, const char *table)
{
    hdx_rows      *rows = exported(f, table);
    const hdx_code code = hdx_sql_file_add(f->file, table, rows, &f->t.err);
    hdx_rows_close(rows);
    return code;
}

static bool is_same(sqlite3_stmt *stmt, int place, const hdx_column *column, const hdx_cell *want)
{
    const bool nested =
        column->type == HDX_TYPE_LIST || column->type == HDX_TYPE_OBJECT || column->type == HDX_TYPE_ANY;
    const int  type = sqlite3_column_type(stmt, place);
    hdx_buffer text = hdx_buffer_of(NULL);
    if (want->kind == HDX_CELL_NULL || (want->kind == HDX_CELL_ABSENT && !nested))
        return type == SQLITE_NULL;
    if (column->type == HDX_TYPE_REAL)
        return type == SQLITE_FLOAT && sqlite3_column_double(stmt, place) == want->as.real;
    if (column->type == HDX_TYPE_BOOL)
        return type == SQLITE_INTEGER && sqlite3_column_int64(stmt, place) == want->as.boolean;
    if (column->type != HDX_TYPE_TEXT && !nested)
        return type == SQLITE_INTEGER && (uint64_t)sqlite3_column_int64(stmt, place) == want->as.natural;
    if (nested)
        hdx_render_json_cell(&text, want);
    else
        hdx_render_utf8(&text, want->as.text.at, want->as.text.len);
    const void *at = sqlite3_column_blob(stmt, place);
    const bool  same = type == SQLITE_TEXT && (uint64_t)sqlite3_column_bytes(stmt, place) == text.len &&
                      (text.len == 0 || memcmp(at, text.at, text.len) == 0);
    hdx_buffer_free(&text);
    return same;
}

/* The rows of the file's table are those of the answer, in their order. */
static void expect_table(file_test *f, sqlite3 *db, const char *table)
{
    hdx_rows       *rows = exported(f, table);
    unsigned        count;
    const hdx_cell *cells;
    sqlite3_stmt   *stmt;
    char            ask[128];
    uint64_t        row = 0;
    (void)snprintf(ask, sizeof ask, "SELECT * FROM \"%s\" ORDER BY rowid", table);
    cr_assert(sqlite3_prepare_v2(db, ask, -1, &stmt, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    cr_assert(sqlite3_column_count(stmt) == (int)count);
    for (unsigned i = 0; i < count; i++)
        cr_expect(strcmp(sqlite3_column_name(stmt, (int)i), columns[i].name) == 0);
    for (; hdx_rows_next(rows, &cells); row++) {
        cr_assert(sqlite3_step(stmt) == SQLITE_ROW, "%s ends at row %llu", table, (unsigned long long)row);
        for (unsigned i = 0; i < count; i++)
            cr_assert(is_same(stmt, (int)i, &columns[i], &cells[i]), "%s, row %llu, %s", table, (unsigned long long)row,
                      columns[i].name);
    }
    cr_assert(hdx_rows_end(rows, &f->t.err) == HDX_OK);
    cr_expect(sqlite3_step(stmt) == SQLITE_DONE && row > 0);
    (void)sqlite3_finalize(stmt);
    hdx_rows_close(rows);
}

Test(file, of_every_table_has_the_values_of_its_rows)
{
    size_t                   count;
    const hdx_answer *const *tables = hdx_tables(&count);
    file_test                f;
    sqlite3                 *db;
    open_file(&f, NULL);
    for (size_t i = 0; i < count; i++)
        cr_assert(add(&f, tables[i]->name) == HDX_OK, "%s: %s", tables[i]->name, f.t.err.message);
    cr_assert(hdx_sql_file_end(f.file, &f.t.err) == HDX_OK, "%s", f.t.err.message);
    hdx_sql_file_close(f.file);
    f.file = NULL;
    cr_assert(sqlite3_open_v2(f.path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    for (size_t i = 0; i < count; i++)
        expect_table(&f, db, tables[i]->name);
    (void)sqlite3_close(db);
    close_file(&f);
}

/* Names as no table of heapdex has them, and values at their borders. */
Test(file, takes_any_name_and_value)
{
    static const hdx_column columns[] = { HDX_COLUMN("a \"b\"", TEXT, NONE, HDX_COLUMN_NULLABLE, ""),
                                          HDX_COLUMN("select", ADDRESS, NONE, HDX_COLUMN_NULLABLE, ""),
                                          HDX_COLUMN("r", REAL, NONE, HDX_COLUMN_NULLABLE, ""),
                                          HDX_COLUMN("t", BOOL, NONE, HDX_COLUMN_NULLABLE, ""),
                                          HDX_COLUMN("any", ANY, NONE, HDX_COLUMN_NULLABLE, "") };
    const hdx_cell          absent = { .kind = HDX_CELL_ABSENT };
    const hdx_cell          rows_of[][5] = {
                 { hdx_cell_text((hdx_text){ "x\0y\xff", 4 }), hdx_cell_address(UINT64_MAX - 15), hdx_cell_real(-0.25),
                   hdx_cell_bool(true), hdx_cell_string("q\"") },
                 { hdx_cell_string(""), hdx_cell_null(), hdx_cell_null(), hdx_cell_null(), absent },
                 { absent, hdx_cell_address(0), hdx_cell_real(1e300), hdx_cell_bool(false), hdx_cell_int(-7) },
    };
    static const char want[] = "x?y\xef\xbf\xbd|-16|-0.25|1|\"q\\\"\"|\n||||{\"absent\": true}|\n|0|1e+300|0|-7|\n";
    file_test         f;
    hdx_table        *t;
    hdx_rows         *rows;
    sqlite3          *db;
    sqlite3_stmt     *stmt;
    open_file(&f, NULL);
    cr_assert(hdx_table_new(columns, HDX_COUNT(columns), &t, &f.t.err) == HDX_OK);
    for (unsigned i = 0; i < HDX_COUNT(rows_of); i++)
        cr_assert(hdx_table_add(t, rows_of[i], &f.t.err) == HDX_OK);
    cr_assert(hdx_table_rows(t, &rows, &f.t.err) == HDX_OK);
    cr_assert(hdx_sql_file_add(f.file, "it's \"one\"", rows, &f.t.err) == HDX_OK, "%s", f.t.err.message);
    hdx_rows_close(rows);
    cr_assert(hdx_sql_file_end(f.file, &f.t.err) == HDX_OK);
    hdx_sql_file_close(f.file);
    f.file = NULL;
    cr_assert(sqlite3_open_v2(f.path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    cr_assert(sqlite3_prepare_v2(db, "SELECT \"a \"\"b\"\"\", \"select\", r, t, \"any\" FROM \"it's \"\"one\"\"\"", -1,
                                 &stmt, NULL) == SQLITE_OK,
              "%s", sqlite3_errmsg(db));
    hdx_buffer got = hdx_buffer_of(NULL);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < 5; i++) {
            const char *text = sqlite3_column_blob(stmt, i);
            const int   len = sqlite3_column_bytes(stmt, i);
            if (sqlite3_column_type(stmt, i) == SQLITE_FLOAT)
                hdx_buffer_format(&got, "%g", sqlite3_column_double(stmt, i));
            else
                for (int k = 0; k < len; k++)
                    hdx_buffer_put(&got, text[k] == 0 ? "?" : &text[k], 1);
            hdx_buffer_text(&got, "|");
        }
        hdx_buffer_text(&got, "\n");
    }
    cr_expect(strcmp(got.at, want) == 0, "%s", got.at);
    hdx_buffer_free(&got);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    close_file(&f);
}

static bool yes(void *context)
{
    (void)context;
    return true;
}

Test(file, stops_when_it_is_told_to_and_has_no_table_twice)
{
    const hdx_progress progress = { .cancelled = yes };
    file_test          f;
    open_file(&f, &progress);
    cr_expect(add(&f, "objects") == HDX_CANCELLED);
    hdx_sql_file_close(f.file);
    cr_assert(truncate(f.path, 0) == 0);
    cr_assert(hdx_sql_file_open(f.path, NULL, &f.file, &f.t.err) == HDX_OK);
    cr_expect(add(&f, "threads") == HDX_OK);
    cr_expect(add(&f, "threads") == HDX_USAGE && strstr(f.t.err.message, "already exists") != NULL, "%s",
              f.t.err.message);
    close_file(&f);
}

Test(file, that_cannot_be_written_is_told)
{
    file_test     f;
    hdx_sql_file *none;
    open_file(&f, NULL);
    cr_expect(hdx_sql_file_open("/no/such/folder/a.db", NULL, &none, &f.t.err) == HDX_IO && none == NULL);
    cr_expect(hdx_sql_file_open(":memory:", NULL, &none, &f.t.err) == HDX_IO && none == NULL);
    cr_expect(hdx_sql_file_open("file:a?mode=memory", NULL, &none, &f.t.err) == HDX_IO && none == NULL);
    hdx_rows *rows = exported(&f, "objects");
    hdx_session_limit(f.t.s, 1000);
    cr_expect(hdx_sql_file_add(f.file, "objects", rows, &f.t.err) == HDX_LIMIT);
    hdx_rows_close(rows);
    close_file(&f);
}
