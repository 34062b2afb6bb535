/*
 * table.c - an answer whose rows are all collected before the first one is read.
 *
 * In:  rows, one by one; their cells point into the table's arena.
 * Out: a stable hdx_rows (R2 in cursor.h), so that sorting does not copy rows.
 */
#include "rows/cursor.h"

#include <stdlib.h>

struct hdx_table {
    hdx_mem          *mem; /* may be NULL */
    const hdx_column *columns;
    unsigned          column_count;
    hdx_arena         arena;
    hdx_cell         *cells;           /* row after row */
    uint64_t          count, capacity; /* in rows */
    uint64_t          at;              /* index of the next row */
};

static uint64_t row_size(const hdx_table *t)
{
    return (uint64_t)(t->column_count == 0 ? 1 : t->column_count) * sizeof(hdx_cell);
}

hdx_code hdx_table_new(const hdx_column *columns, unsigned count, hdx_table **out, hdx_error *err)
{
    return hdx_table_in(NULL, columns, count, out, err);
}

hdx_code hdx_table_in(hdx_mem *mem, const hdx_column *columns, unsigned count, hdx_table **out, hdx_error *err)
{
    hdx_table *t = *out = calloc(1, sizeof *t);
    if (t == NULL)
        return hdx_no_memory(err, "a table", sizeof *t);
    t->columns = columns;
    t->column_count = count;
    t->mem = mem;
    t->arena = hdx_arena_of(mem);
    return HDX_OK;
}

hdx_arena *hdx_table_arena(hdx_table *t) { return &t->arena; }

uint64_t hdx_table_count(const hdx_table *t) { return t->count; }

static hdx_cell *row_at(const hdx_table *t, uint64_t i) { return (hdx_cell *)((char *)t->cells + i * row_size(t)); }

hdx_code hdx_table_add(hdx_table *t, const hdx_cell *cells, hdx_error *err)
{
    if (!hdx_mem_room(t->mem, (void **)&t->cells, &t->capacity, t->count, row_size(t)))
        return hdx_no_memory(err, "the rows of an answer", t->count * row_size(t));
    if (t->column_count > 0)
        memcpy(row_at(t, t->count), cells, t->column_count * sizeof *cells);
    t->count++;
    return HDX_OK;
}

void hdx_table_free(hdx_table *t)
{
    if (t == NULL)
        return;
    hdx_arena_free(&t->arena);
    hdx_mem_put(t->mem, t->cells, t->capacity * row_size(t));
    free(t);
}

static hdx_code table_next(hdx_rows *rows, const hdx_cell **row, hdx_error *err)
{
    hdx_table *t = rows->state;
    (void)err;
    *row = t->at < t->count ? row_at(t, t->at++) : NULL;
    return HDX_OK;
}

static void table_close(hdx_rows *rows) { hdx_table_free(rows->state); }

static hdx_sums table_total(const hdx_rows *rows)
{
    const hdx_table  *t = rows->state;
    const hdx_weights weights = hdx_weights_of(t->columns, t->column_count);
    hdx_sums          sums = { 0, 0, 0 };
    for (uint64_t i = 0; i < t->count; i++)
        hdx_sums_add(&sums, &weights, row_at(t, i));
    return sums;
}

hdx_code hdx_table_rows(hdx_table *t, hdx_rows **out, hdx_error *err)
{
    hdx_rows *rows = *out = NULL;
    if (t->arena.refused) { /* a cell may be null because memory was refused */
        const uint64_t has = t->arena.size;
        hdx_table_free(t);
        return hdx_no_memory(err, "the rows of an answer", has);
    }
    if ((rows = *out = calloc(1, sizeof *rows)) == NULL) {
        hdx_table_free(t);
        return hdx_no_memory(err, "rows", sizeof *rows);
    }
    rows->columns = t->columns;
    rows->column_count = t->column_count;
    rows->stable = true;
    rows->base = rows;
    rows->state = t;
    rows->next = table_next;
    rows->close = table_close;
    rows->total = table_total;
    rows->mem = t->mem;
    rows->row = hdx_arena_of(t->mem);
    rows->keep = hdx_arena_of(t->mem);
    return HDX_OK;
}
