/*
 * cursor.c - the life cycle of an hdx_rows: creation, next, end and close; its extras and its title.
 *
 * In:  a maker, or another cursor to read from.
 * Out: rows, one at a time; hdx_rows_end reports the error.
 * Cost: no allocation per row. What a maker allocates from the row arena is freed only after 256 KiB have accumulated,
 *       because every new arena block has to be zeroed.
 */
#include "rows/cursor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ROW_ARENA_MAX (256u << 10)

typedef struct made {
    hdx_rows_maker maker;
    hdx_run_maker *run;               /* NULL: the maker cannot make runs */
    uint64_t       objects, retained; /* sums over all rows; 0: unknown */
    hdx_cell      *cells;
} made;

static hdx_code made_next(hdx_rows *rows, const hdx_cell **row, hdx_error *err)
{
    made *m = rows->state;
    bool  more = false;
    for (unsigned i = 0; i < rows->column_count; i++)
        m->cells[i].kind = HDX_CELL_NULL; /* a cell that the maker does not set is null, not the previous row's value */
    hdx_rows_fresh(rows);
    hdx_code code = m->maker.next(m->maker.state, &rows->row, m->cells, &more, err);
    *row = code == HDX_OK && more ? m->cells : NULL;
    return code;
}

static void made_close(hdx_rows *rows)
{
    made *m = rows->state;
    if (m->maker.close != NULL)
        m->maker.close(m->maker.state);
    free(m->cells);
    free(m);
}

static uint64_t known(uint64_t sum) { return sum == 0 ? HDX_ROWS_UNKNOWN : sum; }

static hdx_sums made_total(const hdx_rows *rows)
{
    const made *m = rows->state;
    return (hdx_sums){ known(m->maker.total), known(m->objects), known(m->retained) };
}

void hdx_rows_set_sums(hdx_rows *rows, uint64_t objects, uint64_t retained)
{
    made *m = rows->base->state;
    m->objects = objects;
    m->retained = retained;
}

hdx_code hdx_rows_make(const hdx_rows_maker *maker, hdx_rows **out, hdx_error *err)
{
    return hdx_rows_make_in(NULL, maker, out, err);
}

hdx_code hdx_rows_make_in(hdx_mem *mem, const hdx_rows_maker *maker, hdx_rows **out, hdx_error *err)
{
    hdx_rows *rows = calloc(1, sizeof *rows);
    made     *m = calloc(1, sizeof *m);
    hdx_cell *cells = calloc(maker->column_count == 0 ? 1 : maker->column_count, sizeof *cells);
    *out = NULL;
    if (rows == NULL || m == NULL || cells == NULL) {
        free(rows);
        free(m);
        free(cells);
        if (maker->close != NULL)
            maker->close(maker->state);
        return hdx_no_memory(err, "rows", sizeof *rows);
    }
    *m = (made){ .maker = *maker, .cells = cells };
    rows->columns = maker->columns;
    rows->column_count = maker->column_count;
    rows->base = rows;
    rows->state = m;
    rows->next = made_next;
    rows->close = made_close;
    rows->total = made_total;
    rows->mem = mem;
    rows->row = hdx_arena_of(mem);
    rows->keep = hdx_arena_of(mem);
    *out = rows;
    return HDX_OK;
}

static hdx_code made_run(hdx_rows *rows, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    const made *m = rows->state;
    return m->run(m->maker.state, most, out, count, err);
}

void hdx_rows_set_run(hdx_rows *rows, hdx_run_maker *run)
{
    ((made *)rows->state)->run = run;
    rows->run = made_run;
}

hdx_mem *hdx_rows_mem(const hdx_rows *rows) { return hdx_mem_counter(rows->mem); }

void hdx_rows_own(hdx_rows *rows, hdx_mem *scope)
{
    assert(rows->base->scope == NULL);
    rows->base->scope = scope;
}

bool hdx_rows_runs(const hdx_rows *rows) { return rows->run != NULL; }

void hdx_rows_set_judge(hdx_rows *rows, hdx_rows_judge *judge, void *context)
{
    rows->base->judge = judge;
    rows->base->judge_context = context;
}

/* The judge may turn success into an error. */
static void apply_judge(hdx_rows *rows)
{
    const hdx_rows *base = rows->base;
    if (base->judge != NULL)
        rows->code = base->judge(base->judge_context, rows->code, &rows->error);
}

hdx_code hdx_rows_run(hdx_rows *rows, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    *count = 0;
    if (!rows->ended) {
        memset(out, 0, rows->column_count * sizeof *out);
        most = most < HDX_RUN_ROWS ? most : HDX_RUN_ROWS;
        if (hdx_rows_stopped(rows))
            rows->code = hdx_fail(&rows->error, HDX_CANCELLED, "", HDX_NOWHERE, "interrupted");
        else
            rows->code = rows->run(rows, most, out, count, &rows->error);
        if (rows->code != HDX_OK)
            (void)hdx_mem_explain(rows->mem, rows->code, &rows->error);
        rows->ended = rows->code != HDX_OK || *count == 0; /* R1 */
        if (rows->ended)
            apply_judge(rows);
    }
    return hdx_rows_end(rows, err);
}

void hdx_rows_set_wanted(hdx_rows *rows, uint64_t columns) { rows->wanted = columns; }

hdx_code hdx_rows_over(hdx_rows **rows, hdx_shape shape, void *state, hdx_error *err)
{
    hdx_rows *over = calloc(1, sizeof *over);
    if (over == NULL)
        return hdx_rows_drop(rows, hdx_no_memory(err, "rows", sizeof *over));
    over->shape = shape;
    over->columns = (*rows)->columns;
    over->column_count = (*rows)->column_count;
    over->wanted = (*rows)->wanted;
    over->below = *rows;
    over->base = (*rows)->base;
    over->state = state;
    over->mem = (*rows)->mem;
    over->row = hdx_arena_of(over->mem);
    over->keep = hdx_arena_of(over->mem);
    *rows = over;
    return HDX_OK;
}

void hdx_rows_fresh(hdx_rows *rows)
{
    if (rows->row.size > ROW_ARENA_MAX)
        hdx_arena_free(&rows->row);
}

hdx_code hdx_rows_pull(hdx_rows *rows, const hdx_cell **row, hdx_error *err)
{
    if (hdx_rows_next(rows->below, row))
        return HDX_OK;
    *row = NULL;
    return hdx_rows_end(rows->below, err);
}

hdx_code hdx_rows_drop(hdx_rows **rows, hdx_code code)
{
    hdx_rows_close(*rows);
    *rows = NULL;
    return code;
}

hdx_sums hdx_rows_total(const hdx_rows *rows)
{
    return rows->total != NULL ? rows->total(rows) : (hdx_sums){ HDX_ROWS_UNKNOWN, HDX_ROWS_UNKNOWN, HDX_ROWS_UNKNOWN };
}

const hdx_column *hdx_rows_columns(const hdx_rows *rows, unsigned *count)
{
    *count = rows->column_count;
    return rows->columns;
}

const char *hdx_column_type_name(hdx_type type)
{
    static const char *const names[] = { "unsigned", "signed", "real",   "bool", "text",
                                         "address",  "list",   "object", "any" };
    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "any";
}

const char *hdx_column_unit_name(hdx_unit unit)
{
    static const char *const names[] = { "", "bytes", "count", "percent", "seconds" };
    return (unsigned)unit < sizeof names / sizeof *names ? names[unit] : "";
}

bool hdx_cell_is(const hdx_cell *cell, const hdx_column *column)
{
    static const hdx_cell_kind kinds[] = {
        [HDX_TYPE_UNSIGNED] = HDX_CELL_UINT, [HDX_TYPE_SIGNED] = HDX_CELL_INT,    [HDX_TYPE_REAL] = HDX_CELL_REAL,
        [HDX_TYPE_BOOL] = HDX_CELL_BOOL,     [HDX_TYPE_TEXT] = HDX_CELL_TEXT,     [HDX_TYPE_ADDRESS] = HDX_CELL_ADDRESS,
        [HDX_TYPE_LIST] = HDX_CELL_LIST,     [HDX_TYPE_OBJECT] = HDX_CELL_OBJECT,
    };
    if (cell->kind == HDX_CELL_NULL || cell->kind == HDX_CELL_ABSENT)
        return (column->flags & HDX_COLUMN_NULLABLE) != 0;
    return column->type == HDX_TYPE_ANY || cell->kind == kinds[column->type];
}

/* Used in assertions only: checking each row would take 3 % of the time of a jsonl export and 6 % of a CSV export. */
static inline bool as_declared(const hdx_rows *rows, const hdx_cell *cells)
{
    for (unsigned i = 0; i < rows->column_count; i++)
        if (!hdx_cell_is(&cells[i], &rows->columns[i]) &&
            (rows->wanted == 0 || (rows->wanted >> (i & 63) & 1) != 0 || cells[i].kind != HDX_CELL_NULL))
            return false;
    return true;
}

/* Rows of a damaged index may have cells of any kind. The judge reports the damage after the last row. */
static inline bool is_damaged(const hdx_rows *rows)
{
    const hdx_rows *base = rows->base;
    return base->judge != NULL && base->judge(base->judge_context, HDX_OK, NULL) != HDX_OK;
}

bool hdx_rows_next(hdx_rows *rows, const hdx_cell **cells)
{
    *cells = NULL;
    if (rows->ended)
        return false;
    rows->code = rows->next(rows, cells, &rows->error);
    if (rows->code == HDX_OK &&
        (rows->row.refused || rows->keep.refused)) /* a cell may be null because memory was refused */
        rows->code = hdx_no_memory(&rows->error, "a row", rows->row.size);
    if (rows->code != HDX_OK)
        (void)hdx_mem_explain(rows->mem, rows->code, &rows->error);
    if (rows->code != HDX_OK || *cells == NULL)
        apply_judge(rows);
    assert(rows->code != HDX_OK || *cells == NULL || as_declared(rows, *cells) || is_damaged(rows));
    if (rows->code == HDX_OK && *cells != NULL)
        return true;
    *cells = NULL;
    rows->ended = true; /* R1 */
    return false;
}

hdx_code hdx_rows_end(hdx_rows *rows, hdx_error *err)
{
    if (rows->code != HDX_OK && err != NULL)
        *err = rows->error;
    return rows->code;
}

void hdx_rows_close(hdx_rows *rows)
{
    while (rows != NULL) {
        hdx_rows *below = rows->below;
        hdx_mem  *scope = rows->scope;
        if (rows->close != NULL)
            rows->close(rows);
        hdx_arena_free(&rows->row);
        hdx_arena_free(&rows->keep);
        hdx_mem_put(rows->mem, rows->extras, rows->extra_capacity * sizeof *rows->extras);
        free(rows);
        hdx_mem_scope_close(scope);
        rows = below;
    }
}

void hdx_rows_set_progress(hdx_rows *rows, const hdx_progress *progress) { rows->base->progress = progress; }

bool hdx_rows_stopped(const hdx_rows *rows)
{
    const hdx_progress *p = rows->base->progress;
    return p != NULL && p->cancelled != NULL && p->cancelled(p->context);
}

hdx_arena *hdx_rows_arena(hdx_rows *rows) { return &rows->base->keep; }

hdx_code hdx_rows_add_extra(hdx_rows *rows, const char *key, hdx_cell value, hdx_error *err)
{
    hdx_rows *base = rows->base;
    char     *copy = hdx_arena_copy(&base->keep, key, strlen(key));
    if (copy == NULL || !hdx_mem_room(base->mem, (void **)&base->extras, &base->extra_capacity, base->extra_count + 1,
                                      sizeof *base->extras))
        return hdx_no_memory(err, "an answer's extras", sizeof *base->extras);
    base->extras[base->extra_count++] = (hdx_member){ copy, value };
    base->extras[base->extra_count] = (hdx_member){ NULL, hdx_cell_null() };
    return HDX_OK;
}

const hdx_member *hdx_rows_extra(const hdx_rows *rows, unsigned i)
{
    static const hdx_member none = { NULL, { HDX_CELL_NULL, { 0 } } };
    return i < rows->base->extra_count ? &rows->base->extras[i] : &none;
}

hdx_code hdx_rows_set_head(hdx_rows *rows, const hdx_member *head, unsigned count, hdx_error *err)
{
    hdx_member *copy = hdx_arena_get(&rows->base->keep, (count + 1u) * sizeof *copy);
    if (copy == NULL)
        return hdx_no_memory(err, "the head of a document", count * sizeof *copy);
    for (unsigned i = 0; i < count; i++)
        copy[i] = head[i];
    copy[count] = (hdx_member){ NULL, hdx_cell_null() };
    rows->base->head = copy;
    return HDX_OK;
}

const hdx_member *hdx_rows_head(const hdx_rows *rows, unsigned i)
{
    static const hdx_member none = { NULL, { HDX_CELL_NULL, { 0 } } };
    return rows->base->head != NULL ? &rows->base->head[i] : &none;
}

hdx_code hdx_rows_set_title(hdx_rows *rows, const char *title, hdx_error *err)
{
    rows->base->title = title == NULL ? NULL : hdx_arena_copy(&rows->base->keep, title, strlen(title));
    return title != NULL && rows->base->title == NULL ? hdx_no_memory(err, "a title", strlen(title)) : HDX_OK;
}

const char *hdx_rows_title(const hdx_rows *rows) { return rows->base->title; }

hdx_code hdx_rows_set_nothing(hdx_rows *rows, const char *why, hdx_error *err)
{
    rows->base->nothing = hdx_arena_copy(&rows->base->keep, why, strlen(why));
    return rows->base->nothing == NULL ? hdx_no_memory(err, "a line", strlen(why)) : HDX_OK;
}

void hdx_rows_set_left_out(hdx_rows *rows, uint64_t n) { rows->base->left_out = n; }

const char *hdx_rows_empty_reason(hdx_rows *rows)
{
    char           line[96];
    unsigned       conditions;
    const uint64_t left_out = hdx_rows_left_out(rows, &conditions);
    if (left_out == 0)
        return rows->base->nothing;
    const char *who = conditions == 1 ? "the condition excludes" : "the conditions exclude";
    if (left_out == 1)
        (void)snprintf(line, sizeof line, "%s the only row", who);
    else
        (void)snprintf(line, sizeof line, "%s all %" PRIu64 " rows", who, left_out);
    return hdx_arena_copy(&rows->base->keep, line, strlen(line)); /* NULL if memory is refused */
}

hdx_cell hdx_cell_copy(hdx_arena *arena, const char *s)
{
    size_t len = s == NULL ? 0 : strlen(s);
    char  *copy = s == NULL || len > UINT32_MAX ? NULL : hdx_arena_copy(arena, s, len);
    return copy == NULL ? hdx_cell_null() : hdx_cell_text((hdx_text){ copy, (uint32_t)len });
}
