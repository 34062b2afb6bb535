/*
 * arrow.c - a statement as an Arrow C stream.
 *
 * In:  a text with one statement, and how many of its rows are wanted.
 * Out: a stream that keeps the connection and its session open, and uses them on one thread at a time.
 * SQLite has a type for each value, Arrow one for each column: the type that the table declares, or else that of the
 * first rows, which are buffered. A later value that does not fit is an error; it is never converted to another value.
 */
#include "answer/answer.h"
#include "columns/columns.h"
#include "sql/sql.h"

#include <stdlib.h>

#define FIRST_ROWS  1024u       /* rows whose values determine the types of columns */
#define FIRST_BYTES (1u << 20)  /* limit of the bytes of their texts */
#define MOST_EXACT  (1ll << 53) /* whole numbers up to this are exact in a double */

typedef struct typed { /* rows whose columns have one type each */
    hdx_rows   *rows;  /* of the statement */
    hdx_column *columns;
    unsigned    count;
    hdx_arena   arena; /* of the first rows */
    hdx_cell   *first;
    uint64_t    held, given, most;
} typed;

/* ---- the type of a column ---- */

/* Returns the type that the table declares; HDX_TYPE_ANY: none. */
static hdx_type declared_as(const char *type)
{
    static const struct {
        const char *name;
        hdx_type    type;
    } known[] = { { "ADDRESS", HDX_TYPE_ADDRESS }, { "SIZE", HDX_TYPE_SIGNED }, { "COUNT", HDX_TYPE_SIGNED },
                  { "INTEGER", HDX_TYPE_SIGNED },  { "REAL", HDX_TYPE_REAL },   { "TEXT", HDX_TYPE_TEXT },
                  { "JSON", HDX_TYPE_TEXT } };
    for (size_t i = 0; type != NULL && i < HDX_COUNT(known); i++)
        if (sqlite3_stricmp(type, known[i].name) == 0)
            return known[i].type;
    return HDX_TYPE_ANY;
}

static bool is_exact(int64_t v) { return v >= -MOST_EXACT && v <= MOST_EXACT; }

/* Returns the narrowest type that has all values of the first rows. */
static hdx_type type_of(const typed *t, unsigned column)
{
    bool whole = false, real = false, wide = false, other = false;
    for (uint64_t row = 0; row < t->held; row++) {
        const hdx_cell *c = &t->first[row * t->count + column];
        whole |= c->kind == HDX_CELL_INT;
        wide |= c->kind == HDX_CELL_INT && !is_exact(c->as.integer);
        real |= c->kind == HDX_CELL_REAL;
        other |= c->kind == HDX_CELL_TEXT;
    }
    if (other || (real && wide) || (!whole && !real))
        return HDX_TYPE_TEXT;
    return real ? HDX_TYPE_REAL : HDX_TYPE_SIGNED;
}

/* ---- rows ---- */

static hdx_code misfit(const typed *t, unsigned column, const hdx_cell *c, hdx_error *err)
{
    const char    *is = c->kind == HDX_CELL_TEXT   ? "a text"
                        : c->kind == HDX_CELL_REAL ? "a real number"
                                                   : "a whole number";
    const hdx_type type = t->columns[column].type;
    return hdx_hint(err,
                    hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                             "row %llu of column %.60s is %s, but earlier rows are %s; use CAST for a common type",
                             (unsigned long long)t->given + 1, t->columns[column].name, is,
                             type == HDX_TYPE_REAL ? "doubles" : "whole numbers"),
                    "CAST(%.60s AS TEXT)", t->columns[column].name);
}

/* Formats a number as CAST(... AS TEXT) does. */
static hdx_code as_text(hdx_arena *arena, hdx_cell *c, hdx_error *err)
{
    char number[64];
    if (c->kind == HDX_CELL_REAL)
        (void)sqlite3_snprintf(sizeof number, number, "%!.15g", c->as.real);
    else
        (void)sqlite3_snprintf(sizeof number, number, "%lld", (long long)c->as.integer);
    *c = hdx_cell_copy(arena, number);
    return c->kind == HDX_CELL_NULL ? hdx_no_memory(err, "a text", sizeof number) : HDX_OK;
}

static hdx_code fit(const typed *t, unsigned column, hdx_arena *arena, hdx_cell *c, hdx_error *err)
{
    const hdx_type type = t->columns[column].type;
    if (c->kind == HDX_CELL_NULL || (type == HDX_TYPE_TEXT && c->kind == HDX_CELL_TEXT))
        return HDX_OK;
    if (type == HDX_TYPE_TEXT)
        return as_text(arena, c, err);
    if (type == HDX_TYPE_ADDRESS && c->kind == HDX_CELL_INT)
        *c = hdx_cell_address((hdx_addr)c->as.integer);
    if (type != HDX_TYPE_REAL)
        return c->kind == HDX_CELL_INT || c->kind == HDX_CELL_ADDRESS ? HDX_OK : misfit(t, column, c, err);
    if (c->kind == HDX_CELL_INT && is_exact(c->as.integer))
        *c = hdx_cell_real((double)c->as.integer);
    return c->kind == HDX_CELL_REAL ? HDX_OK : misfit(t, column, c, err);
}

static hdx_code typed_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    typed          *t = state;
    const hdx_cell *from = t->given < t->held ? t->first + t->given * t->count : NULL;
    *more = t->given < t->most && (from != NULL || hdx_rows_next(t->rows, &from));
    if (!*more)
        return t->given < t->most ? hdx_rows_end(t->rows, err) : HDX_OK;
    hdx_code code = HDX_OK;
    memcpy(cells, from, t->count * sizeof *cells);
    for (unsigned i = 0; code == HDX_OK && i < t->count; i++)
        code = fit(t, i, arena, &cells[i], err);
    t->given++;
    return code;
}

static void typed_close(void *state)
{
    typed *t = state;
    hdx_arena_free(&t->arena);
    hdx_rows_close(t->rows);
    free(t->columns);
    free(t);
}

/* ---- the first rows ---- */

static hdx_code hold(typed *t, const hdx_cell *cells, uint64_t *bytes, hdx_error *err)
{
    hdx_cell *to = t->first + t->held * t->count;
    for (unsigned i = 0; i < t->count; i++) {
        to[i] = cells[i];
        if (cells[i].kind != HDX_CELL_TEXT)
            continue;
        to[i].as.text.at = hdx_arena_copy(&t->arena, cells[i].as.text.at, cells[i].as.text.len);
        if (to[i].as.text.at == NULL)
            return hdx_no_memory(err, "the first rows of a statement", cells[i].as.text.len);
        *bytes += cells[i].as.text.len;
    }
    t->held++;
    return HDX_OK;
}

static hdx_code read_first(typed *t, hdx_error *err)
{
    const hdx_cell *cells;
    const uint64_t  room = (uint64_t)FIRST_ROWS * t->count * sizeof *t->first;
    uint64_t        bytes = 0;
    hdx_code        code = HDX_OK;
    if ((t->first = hdx_arena_get(&t->arena, room)) == NULL)
        return hdx_no_memory(err, "the first rows of a statement", room);
    while (code == HDX_OK && t->held < FIRST_ROWS && t->held < t->most && bytes < FIRST_BYTES) {
        if (!hdx_rows_next(t->rows, &cells))
            return hdx_rows_end(t->rows, err);
        code = hold(t, cells, &bytes, err);
    }
    return code;
}

static hdx_code find_types(typed *t, sqlite3_stmt *stmt, hdx_error *err)
{
    const hdx_column *of = hdx_rows_columns(t->rows, &t->count);
    bool              all = true;
    if ((t->columns = calloc(t->count, sizeof *t->columns)) == NULL)
        return hdx_no_memory(err, "columns", t->count * sizeof *t->columns);
    for (unsigned i = 0; i < t->count; i++) {
        t->columns[i] = of[i];
        t->columns[i].type = declared_as(sqlite3_column_decltype(stmt, (int)i));
        all = all && t->columns[i].type != HDX_TYPE_ANY;
    }
    const hdx_code code = all ? HDX_OK : read_first(t, err);
    for (unsigned i = 0; code == HDX_OK && i < t->count; i++)
        if (t->columns[i].type == HDX_TYPE_ANY)
            t->columns[i].type = type_of(t, i);
    return code;
}

/* Takes ownership of the rows of the statement. */
static hdx_code typed_rows(hdx_sql *sql, sqlite3_stmt *stmt, uint64_t most, hdx_rows **rows, hdx_error *err)
{
    typed *t = calloc(1, sizeof *t);
    if (t == NULL) {
        hdx_rows_close(*rows);
        return hdx_no_memory(err, "a statement", sizeof *t);
    }
    t->rows = *rows;
    t->most = most;
    *rows = NULL;
    t->arena = hdx_arena_of(&sql->session->mem);
    const hdx_code code = find_types(t, stmt, err);
    if (code != HDX_OK) {
        typed_close(t);
        return code;
    }
    const hdx_rows_maker maker = { t->columns, t->count, t, typed_next, typed_close, 0 };
    return hdx_rows_make_in(&sql->session->mem, &maker, rows, err);
}

/* ---- the stream ---- */

/* Each running thread has its own cache of the dump (hdx_graph_near_begin). */
static void enter(void *context)
{
    hdx_sql *sql = context;
    (void)pthread_mutex_lock(&sql->session->asking);
    sql->near = hdx_graph_near_begin(sql->heaps->heaps[0]->g);
}

static void leave(void *context)
{
    hdx_sql *sql = context;
    hdx_graph_near_end(sql->near);
    sql->near = NULL;
    (void)pthread_mutex_unlock(&sql->session->asking);
}

static void release(void *context)
{
    hdx_sql     *sql = context;
    hdx_session *session = sql->session;
    hdx_sql_close(sql);
    hdx_answer_leave(session);
}

/* Returns whether the text has only comments and semicolons. */
static bool is_rest(hdx_sql *sql, const char *text)
{
    const uint64_t prepared_ns = sql->heaps->prepared_ns; /* of the previous statement */
    bool           rest = true;
    while (rest && *text != '\0') {
        sqlite3_stmt  *another = NULL;
        const char    *from = text;
        hdx_error      ignored = { .offset = HDX_NOWHERE };
        const hdx_code code = hdx_sql_prepare(sql, from, &another, &text, &ignored);
        (void)sqlite3_finalize(another);
        rest = code == HDX_OK && another == NULL && text != from;
    }
    sql->heaps->prepared_ns = prepared_ns;
    return rest;
}

/*
 * Replaces a statement by one with a LIMIT, so that a sort holds only these rows. *stmt remains where a SELECT cannot
 * read from the statement: EXPLAIN, or a comment without an end.
 */
static void limit_rows(hdx_sql *sql, const char *text, const char *end, uint64_t most, sqlite3_stmt **stmt)
{
    const uint64_t prepared_ns = sql->heaps->prepared_ns;
    sqlite3_stmt  *limited = NULL;
    const char    *rest;
    hdx_error      ignored = { .offset = HDX_NOWHERE };
    if (sqlite3_stmt_isexplain(*stmt) != 0)
        return;
    if (end > text && end[-1] == ';') /* that of the statement, or one in a comment after it */
        end--;
    char *with =
        sqlite3_mprintf("SELECT * FROM (\n%.*s\n) LIMIT %llu", (int)(end - text), text, (unsigned long long)most);
    if (with != NULL && hdx_sql_prepare(sql, with, &limited, &rest, &ignored) == HDX_OK) {
        (void)sqlite3_finalize(*stmt);
        *stmt = limited;
    }
    sqlite3_free(with);
    sql->heaps->prepared_ns += prepared_ns;
}

static hdx_code open_rows(hdx_sql *sql, const char *text, uint64_t most, hdx_rows **rows, hdx_error *err)
{
    sqlite3_stmt *stmt;
    const char   *rest;
    hdx_code      code = hdx_sql_prepare(sql, text, &stmt, &rest, err);
    if (code != HDX_OK)
        return code;
    if (stmt == NULL)
        code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "the statement is empty");
    else if (!is_rest(sql, rest))
        code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "a stream needs a single statement");
    else if (sqlite3_column_count(stmt) == 0)
        code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "the statement returns no rows");
    if (code != HDX_OK) {
        (void)sqlite3_finalize(stmt);
        return code;
    }
    if (most > 0 && most <= INT64_MAX)
        limit_rows(sql, text, rest, most, &stmt);
    code = hdx_sql_begin(sql, stmt, NULL, rows, err);
    return code == HDX_OK ? typed_rows(sql, stmt, most > 0 ? most : UINT64_MAX, rows, err) : code;
}

hdx_code hdx_sql_arrow(hdx_sql *sql, const char *text, uint64_t most, struct ArrowArrayStream *out, hdx_error *err)
{
    const hdx_keeper keeper = { sql, enter, leave, release };
    hdx_rows        *rows = NULL;
    *out = (struct ArrowArrayStream){ 0 };
    enter(sql);
    hdx_code code = open_rows(sql, text, most, &rows, err);
    if (code != HDX_OK)
        (void)hdx_mem_explain(&sql->session->mem, code, err);
    leave(sql);
    if (code != HDX_OK)
        return code;
    atomic_fetch_add(&sql->uses, 1);
    atomic_fetch_add(&sql->session->uses, 1);
    return hdx_arrow_stream(rows, &keeper, out, err);
}
