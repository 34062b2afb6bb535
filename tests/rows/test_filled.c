/* test_filled.c - a column that is made of another one after the others: for how many rows at once, and failures. */
#include "rows/counting.h"

typedef struct filled {
    uint64_t batches, largest, rows, closed;
    uint64_t fail_at; /* batch, from 1 */
} filled;

static hdx_code fill_squares(void *context, const hdx_cell *keys, uint64_t count, hdx_arena *arena, hdx_cell *cells,
                             hdx_error *err)
{
    filled *f = context;
    char    text[32];
    f->rows += count;
    f->largest = count > f->largest ? count : f->largest;
    if (++f->batches == f->fail_at)
        return hdx_fail(err, HDX_BAD_DUMP, "a", 7, "gone");
    for (uint64_t i = 0; i < count; i++) {
        const int len = snprintf(text, sizeof text, "%llu", (unsigned long long)(keys[i].as.address - 0x1000) * 3);
        cells[i] = hdx_cell_text((hdx_text){ hdx_arena_copy(arena, text, (uint64_t)len), (uint32_t)len });
    }
    return HDX_OK;
}

static void fill_closed(void *context) { ((filled *)context)->closed++; }

static hdx_rows *make_filled(counting *c, filled *f, uint64_t first, uint64_t most, bool limited)
{
    hdx_rows        *rows = make(c);
    const hdx_filler filler = { fill_squares, fill_closed, f, NULL };
    if (limited)
        cr_assert(eq(int, hdx_rows_limit(&rows, 40, NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_fill(&rows, columns[3].name, columns[2].name, &filler, first, most, NULL), HDX_OK));
    return rows;
}

Test(filled, a_column_is_made_of_another_for_more_rows_each_time)
{
    counting        c = { .count = 5000 };
    filled          f = { 0 };
    hdx_rows       *rows = make_filled(&c, &f, 0, 1000, false);
    const hdx_cell *row;
    char            text[32];
    uint64_t        n = 0;
    for (; hdx_rows_next(rows, &row); n++) {
        (void)snprintf(text, sizeof text, "row %llu", (unsigned long long)n);
        cr_assert(hdx_text_is(row[0].as.text, text), "what the source lent is still there");
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)n * 3);
        cr_assert(hdx_text_is(row[2].as.text, text));
        if (n == 0)
            cr_expect(eq(u64, f.rows, 32), "few for the first");
    }
    cr_expect(eq(int, hdx_rows_end(rows, NULL), HDX_OK));
    cr_expect(eq(u64, n, 5000));
    cr_expect(eq(u64, f.rows, 5000), "each once");
    cr_expect(eq(u64, f.largest, 1000));
    hdx_rows_close(rows);
    cr_expect(eq(u64, f.closed, 1));
    cr_expect(eq(u32, c.closed, 1));
}

Test(filled, rows_behind_a_limit_are_made_for_those_that_are_left_and_the_rest_is_counted)
{
    counting        c = { .count = 5000 };
    filled          f = { 0 };
    hdx_rows       *rows = make_filled(&c, &f, 0, 1000, true);
    const hdx_cell *row;
    uint64_t        n = 0;
    hdx_rows_cut    cut;
    while (hdx_rows_next(rows, &row))
        n++;
    cr_expect(eq(u64, n, 40));
    cr_expect(eq(u64, f.rows, 40));
    cr_expect(hdx_rows_cut_off(rows, &cut));
    hdx_rows_close(rows);
}

Test(filled, a_failure_ends_the_rows_with_its_error)
{
    counting        c = { .count = 5000 };
    filled          f = { .fail_at = 2 };
    hdx_rows       *rows = make_filled(&c, &f, 100, 1000, false);
    const hdx_cell *row;
    hdx_error       err = { 0 };
    uint64_t        n = 0;
    while (hdx_rows_next(rows, &row))
        n++;
    cr_expect(eq(u64, n, 100));
    cr_expect(eq(int, hdx_rows_end(rows, &err), HDX_BAD_DUMP));
    cr_expect(eq(u64, err.offset, 7));
    hdx_rows_close(rows);
    counting unnamed = { .count = 1 };
    rows = make(&unnamed);
    const hdx_filler filler = { fill_squares, fill_closed, &f, NULL };
    cr_expect(eq(int, hdx_rows_fill(&rows, "no_such_column", columns[2].name, &filler, 0, 10, &err), HDX_USAGE));
    cr_expect(rows == NULL && f.closed == 2, "closed on failure too");
}
