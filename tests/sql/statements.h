/*
 * statements.h - statements of SQL in a line, and their rows as text.
 *
 *     open_bookshop(&t);                              or open_dump(&t, maker)
 *     expect(&t, "SELECT count(*) FROM roots", "42\n");
 *     close_dump(&t);
 *
 * Cells of a row stand between bars: null is nothing, an address 0x..., a text as it is. A refusal is "code: message".
 */
#ifndef HDX_TESTS_SQL_STATEMENTS_H
#define HDX_TESTS_SQL_STATEMENTS_H

#include "support/dump_maker.h"
#include "support/folder.h"
#include "answer/answer.h"
#include "base/base.h"
#include "hprof/hprof.h"
#include "sql/sql.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct dump_test {
    char         folder[TEST_FOLDER], dump[128], index[128];
    hdx_session *s;
    hdx_sql     *sql;
    hdx_graph   *g;
    hdx_error    err;
    hdx_buffer   rows;
} dump_test;

static inline void open_path(dump_test *t, const char *dump, hdx_refs_scope scope)
{
    (void)snprintf(t->index, sizeof t->index, "%s/a.hdx", t->folder);
    const hdx_index_options options = { .dump = dump, .index_dir = t->index, .threads = 1 };
    const hdx_sql_options   how = { .scope = scope };
    t->err = (hdx_error){ .offset = HDX_NOWHERE };
    cr_assert(eq(int, hdx_session_open(&options, &t->s, &t->err), HDX_OK), "%s", t->err.message);
    cr_assert(eq(int, hdx_session_graph(t->s, 0, &t->g, &t->err), HDX_OK), "%s", t->err.message);
    cr_assert(eq(int, hdx_sql_open(t->s, &how, &t->sql, &t->err), HDX_OK), "%s", t->err.message);
}

static inline void open_scoped(dump_test *t, dump_maker *m, hdx_refs_scope scope)
{
    memset(t, 0, sizeof *t);
    test_folder_make_fast(t->folder, "sql");
    (void)snprintf(t->dump, sizeof t->dump, "%s/a.hprof", t->folder);
    dump_maker_save(m, t->dump);
    dump_maker_free(m);
    open_path(t, t->dump, scope);
}

static inline void open_dump(dump_test *t, dump_maker *m) { open_scoped(t, m, HDX_LIVE); }

static inline void open_bookshop(dump_test *t)
{
    memset(t, 0, sizeof *t);
    test_folder_make_fast(t->folder, "sql");
    open_path(t, HDX_TREE "/examples/bookshop.hprof.gz", HDX_LIVE);
}

static inline void close_dump(dump_test *t)
{
    hdx_buffer_free(&t->rows);
    hdx_sql_close(t->sql);
    cr_expect(t->s->mem.used == 0, "%llu bytes are left", (unsigned long long)t->s->mem.used);
    hdx_session_close(t->s);
    test_folder_remove(t->folder);
}

static inline void put_value(hdx_buffer *b, const hdx_cell *c)
{
    switch (c->kind) {
    case HDX_CELL_INT: hdx_buffer_format(b, "%lld", (long long)c->as.integer); break;
    case HDX_CELL_UINT: hdx_buffer_format(b, "%llu", (unsigned long long)c->as.natural); break;
    case HDX_CELL_REAL: hdx_buffer_format(b, "%.2f", c->as.real); break;
    case HDX_CELL_BOOL: hdx_buffer_text(b, c->as.boolean ? "1" : "0"); break;
    case HDX_CELL_TEXT: hdx_buffer_put(b, c->as.text.at, c->as.text.len); break;
    case HDX_CELL_ADDRESS: hdx_buffer_format(b, "0x%llx", (unsigned long long)c->as.address); break;
    default: break;
    }
}

/* The rows of a statement, or why there are none; lives until the next. */
static inline const char *run(dump_test *t, const char *statement)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    unsigned        count = 0;
    const char     *rest = NULL;
    hdx_buffer_clear(&t->rows);
    hdx_buffer_text(&t->rows, "");
    t->err = (hdx_error){ .offset = HDX_NOWHERE };
    hdx_code code = hdx_sql_run(t->sql, statement, &rest, &rows, &t->err);
    if (code == HDX_OK && rows != NULL) {
        (void)hdx_rows_columns(rows, &count);
        while (hdx_rows_next(rows, &cells)) {
            for (unsigned i = 0; i < count; i++) {
                hdx_buffer_text(&t->rows, i > 0 ? "|" : "");
                put_value(&t->rows, &cells[i]);
            }
            hdx_buffer_text(&t->rows, "\n");
        }
        code = hdx_rows_end(rows, &t->err);
    }
    hdx_rows_close(rows);
    if (code != HDX_OK)
        hdx_buffer_format(&t->rows, "%s: %s", hdx_code_name(code), t->err.message);
    return t->rows.at;
}

static inline void expect(dump_test *t, const char *statement, const char *rows)
{
    const char *got = run(t, statement);
    cr_expect(strcmp(got, rows) == 0, "%s\ngives\n%.2000s\nnot\n%.2000s", statement, got, rows);
}

/* Two statements, or a statement and what the library says, have the same rows. */
static inline void expect_same(dump_test *t, const char *statement, const char *other)
{
    char *rows = strdup(run(t, other));
    cr_expect(strlen(rows) > 0, "%s gives no rows", other);
    expect(t, statement, rows);
    free(rows);
}

/* The last words of EXPLAIN QUERY PLAN, line by line: what the tables say of themselves. */
static inline const char *plan_of(dump_test *t, const char *statement)
{
    static char line[4096];
    (void)snprintf(line, sizeof line, "EXPLAIN QUERY PLAN %s", statement);
    return run(t, line);
}

static inline void expect_plan(dump_test *t, const char *statement, const char *words)
{
    const char *got = plan_of(t, statement);
    cr_expect(strstr(got, words) != NULL, "%s is\n%s\nnot %s", statement, got, words);
}

/* Rows of an answer with the columns that are named ("class,objects"), as `run` has those of a statement. */
static inline const char *answer(dump_test *t, const char *name, const hdx_argument *arguments, size_t argument_count)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    unsigned        count = 0;
    hdx_buffer_clear(&t->rows);
    hdx_buffer_text(&t->rows, "");
    hdx_code code = hdx_answer_run(t->s, name, arguments, argument_count, &rows, &t->err);
    cr_assert(code == HDX_OK, "%s: %s", name, t->err.message);
    (void)hdx_rows_columns(rows, &count);
    while (hdx_rows_next(rows, &cells)) {
        for (unsigned i = 0; i < count; i++) {
            hdx_buffer_text(&t->rows, i > 0 ? "|" : "");
            put_value(&t->rows, &cells[i]);
        }
        hdx_buffer_text(&t->rows, "\n");
    }
    cr_assert(hdx_rows_end(rows, &t->err) == HDX_OK, "%s: %s", name, t->err.message);
    hdx_rows_close(rows);
    return t->rows.at;
}

#endif
