/* test_memory.c - rows that count what they hold: a sort, a table, cells that there was no memory for. */
#include "rows/rows.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static const hdx_column columns[] = {
    HDX_COLUMN("number", UNSIGNED, NONE, 0, ""),
    HDX_COLUMN("text", TEXT, NONE, HDX_COLUMN_NULLABLE, ""),
};

typedef struct counter {
    uint64_t at, end;
} counter;

static hdx_code next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    counter *c = state;
    (void)err;
    *more = c->at < c->end;
    cells[0] = hdx_cell_uint(c->at++ * 7919 % 10007);
    cells[1] = hdx_cell_copy(arena, "a text");
    return HDX_OK;
}

static hdx_rows *rows_of(hdx_mem *mem, counter *c)
{
    const hdx_rows_maker maker = { .columns = columns, .column_count = 2, .state = c, .next = next };
    hdx_rows            *rows;
    hdx_error            err;
    cr_assert(eq(int, hdx_rows_make_in(mem, &maker, &rows, &err), HDX_OK));
    return rows;
}

static bool always(void *context, uint64_t bytes)
{
    (void)context;
    (void)bytes;
    return true;
}

Test(memory, a_cell_that_there_was_none_for_is_an_error_and_no_null)
{
    hdx_mem         mem = { .refuse = always };
    counter         c = { 0, 3 };
    hdx_rows       *rows = rows_of(&mem, &c);
    const hdx_cell *cells;
    hdx_error       err;
    cr_expect(not(hdx_rows_next(rows, &cells)));
    cr_expect(eq(int, hdx_rows_end(rows, &err), HDX_LIMIT));
    hdx_rows_close(rows);
}

Test(memory, of_a_table_whose_cells_there_was_none_for_is_an_error)
{
    hdx_mem    mem = { .refuse = NULL };
    hdx_table *t;
    hdx_rows  *rows;
    hdx_error  err;
    cr_assert(eq(int, hdx_table_in(&mem, columns, 2, &t, &err), HDX_OK));
    mem.refuse = always;
    cr_expect(eq(int, hdx_cell_copy(hdx_table_arena(t), "a text").kind, HDX_CELL_NULL));
    mem.refuse = NULL;
    const hdx_cell cells[2] = { hdx_cell_uint(1), hdx_cell_null() };
    cr_expect(eq(int, hdx_table_add(t, cells, &err), HDX_OK));
    cr_expect(eq(int, hdx_table_rows(t, &rows, &err), HDX_LIMIT));
    cr_expect(eq(u64, mem.used, 0));
}

Test(memory, of_rows_held_for_a_sort_counts_until_they_are_closed)
{
    hdx_mem         mem = { .limit = 0 };
    counter         c = { 0, 10000 };
    hdx_rows       *rows = rows_of(&mem, &c);
    const hdx_cell *cells;
    hdx_error       err;
    cr_assert(eq(int, hdx_rows_sort(&rows, "number", false, &err), HDX_OK));
    cr_assert(hdx_rows_next(rows, &cells));
    cr_expect(ge(u64, mem.used, 10000 * (32 + 10))); /* keys, and rows of some ten bytes */
    hdx_rows_close(rows);
    cr_expect(eq(u64, mem.used, 0));
}

Test(memory, that_a_sort_is_refused_is_said_with_the_bound)
{
    hdx_mem         mem = { .limit = 700000 };
    counter         c = { 0, 10000 };
    hdx_rows       *rows = rows_of(&mem, &c);
    const hdx_cell *cells;
    hdx_error       err;
    cr_assert(eq(int, hdx_rows_sort(&rows, "number", false, &err), HDX_OK));
    cr_expect(not(hdx_rows_next(rows, &cells)));
    cr_expect(eq(int, hdx_rows_end(rows, &err), HDX_LIMIT));
    cr_expect(strstr(err.message, "no memory for rows to sort: ") == err.message, "%s", err.message);
    cr_expect(strstr(err.message, " more bytes exceed the limit of 700000 for queries") != NULL, "%s", err.message);
    cr_expect(strcmp(err.hint, "raise the limit with --memory") == 0, "%s", err.hint);
    hdx_rows_close(rows);
    cr_expect(eq(u64, mem.used, 0));
    cr_expect(le(u64, mem.peak, 700000));
}
