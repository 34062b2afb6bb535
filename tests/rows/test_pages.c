/*
 * test_pages.c - pages of rows: together they are all rows, each has the sums of what follows it, and a cursor is
 * checked.
 */
#include "rows/counting.h"

#include <string.h>

enum { MOST = 40, SEEDS = 300 };

static const hdx_column sized[] = {
    HDX_COLUMN("id", UNSIGNED, NONE, 0, "number of the row"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_SUM, "objects"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, HDX_COLUMN_SUM, "what they retain"),
    HDX_COLUMN("similar", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE | HDX_COLUMN_SIMILAR, "other objects"),
};
enum { SIZED = 4 };

/* Where the rows come from: each makes the sums of all rows known in another way, or not at all. */
typedef enum source { STREAM, STREAM_OF_KNOWN_SUMS, TABLE, SORTED_STREAM, FILTERED_TABLE, SOURCES } source;

typedef struct sample {
    uint64_t count, at;
    hdx_cell cells[MOST * SIZED];
} sample;

static uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

static hdx_code sample_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    sample *s = state;
    (void)arena;
    (void)err;
    if ((*more = s->at < s->count))
        memcpy(cells, &s->cells[s->at++ * SIZED], SIZED * sizeof *cells);
    return HDX_OK;
}

static void make_sample(sample *s, uint64_t *random)
{
    s->count = random_below(random, MOST);
    for (uint64_t i = 0; i < s->count; i++) {
        s->cells[i * SIZED] = hdx_cell_uint(i);
        s->cells[i * SIZED + 1] = hdx_cell_uint(1 + random_below(random, 5));
        s->cells[i * SIZED + 2] = hdx_cell_uint(random_below(random, 1000));
        s->cells[i * SIZED + 3] = random_below(random, 2) == 0 ? hdx_cell_null() : hdx_cell_uint(7);
    }
}

static uint64_t objects_of(const sample *s, uint64_t row)
{
    const hdx_cell *similar = &s->cells[row * SIZED + 3];
    return s->cells[row * SIZED + 1].as.natural + (similar->kind == HDX_CELL_UINT ? similar->as.natural : 0);
}

/* The sums over the rows from `from` on. */
static hdx_sums sums_from(const sample *s, uint64_t from)
{
    hdx_sums sums = { 0 };
    for (uint64_t i = from; i < s->count; i++) {
        sums.rows++;
        sums.objects += objects_of(s, i);
        sums.retained += s->cells[i * SIZED + 2].as.natural;
    }
    return sums;
}

static hdx_rows *open_rows(sample *s, source from)
{
    hdx_rows *rows;
    s->at = 0;
    if (from == TABLE || from == FILTERED_TABLE) {
        hdx_table *table;
        cr_assert(eq(int, hdx_table_new(sized, SIZED, &table, NULL), HDX_OK));
        for (uint64_t i = 0; i < s->count; i++)
            cr_assert(eq(int, hdx_table_add(table, &s->cells[i * SIZED], NULL), HDX_OK));
        cr_assert(eq(int, hdx_table_rows(table, &rows, NULL), HDX_OK));
        if (from == FILTERED_TABLE)
            cr_assert(eq(int, hdx_rows_where(&rows, "objects > 0", NULL), HDX_OK));
        return rows;
    }
    const hdx_rows_maker maker = { sized, SIZED, s, sample_next, NULL, from == STREAM_OF_KNOWN_SUMS ? s->count : 0 };
    cr_assert(eq(int, hdx_rows_make(&maker, &rows, NULL), HDX_OK));
    if (from == STREAM_OF_KNOWN_SUMS)
        hdx_rows_set_sums(rows, sums_from(s, 0).objects, sums_from(s, 0).retained);
    if (from == SORTED_STREAM)
        cr_assert(eq(int, hdx_rows_sort(&rows, "id", false, NULL), HDX_OK));
    return rows;
}

/* Checks one page and returns the place after it. *mark: that of the cursor. */
static uint64_t check_page(sample *s, source from, uint64_t skip, uint64_t limit, char cursor[HDX_CURSOR_SIZE])
{
    hdx_rows       *rows = open_rows(s, from);
    const hdx_cell *row;
    hdx_rows_cut    cut;
    uint64_t        at = skip;
    cr_assert(eq(int, hdx_rows_page(&rows, skip, limit, 0x1f2e3d4c, NULL), HDX_OK));
    for (; hdx_rows_next(rows, &row); at++)
        cr_assert(eq(u64, row[0].as.natural, at));
    cr_assert(eq(int, hdx_rows_end(rows, NULL), HDX_OK));
    const uint64_t here = skip > s->count ? 0 : limit == 0 || s->count - skip < limit ? s->count - skip : limit;
    const hdx_sums after = sums_from(s, at);
    const bool     follow = skip < s->count && after.rows > 0;
    cr_assert(eq(u64, at - skip, here));
    cr_assert(eq(int, hdx_rows_cut_off(rows, &cut), follow));
    cr_assert(eq(u64, cut.before, skip < s->count ? skip : s->count));
    const bool known = follow && from != STREAM;
    cr_assert(eq(u64, cut.rows, known ? after.rows : 0), "source %d", (int)from);
    cr_assert(eq(u64, cut.objects, known ? after.objects : 0), "source %d", (int)from);
    cr_assert(eq(u64, cut.retained, known ? after.retained : 0), "source %d", (int)from);
    memcpy(cursor, cut.cursor, HDX_CURSOR_SIZE);
    hdx_rows_close(rows);
    return follow ? at : UINT64_MAX;
}

Test(pages, are_all_rows_together_and_know_what_follows)
{
    static sample s;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t random = seed;
        make_sample(&s, &random);
        const source   from = (source)(seed % SOURCES);
        const uint32_t limit = 1 + random_below(&random, 12);
        uint64_t       skip = 0, next;
        char           cursor[HDX_CURSOR_SIZE];
        uint32_t       mark;
        for (; (next = check_page(&s, from, skip, limit, cursor)) != UINT64_MAX; skip = next) {
            uint64_t at;
            cr_assert(hdx_cursor_parse(cursor, &at, &mark), "%s", cursor);
            cr_assert(eq(u64, at, next));
            cr_assert(eq(u32, mark, 0x1f2e3d4c));
        }
        cr_assert(eq(str, cursor, ""));
        (void)check_page(&s, from, random_below(&random, MOST + 5), 0, cursor);
        (void)check_page(&s, from, s.count + 3, limit, cursor);
    }
}

Test(pages, of_selected_columns_know_only_the_sums_of_these)
{
    static const struct {
        const char *columns;
        bool        objects, retained;
    } cases[] = { { "id", false, false }, { "id,bytes", false, true }, { "objects,similar", true, false } };
    static sample s;
    uint64_t      random = 5;
    do
        make_sample(&s, &random);
    while (s.count < 10);
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        hdx_rows       *rows = open_rows(&s, TABLE);
        const hdx_cell *row;
        hdx_rows_cut    cut;
        const hdx_sums  after = sums_from(&s, 4);
        cr_assert(eq(int, hdx_rows_select(&rows, cases[i].columns, NULL), HDX_OK));
        cr_assert(eq(int, hdx_rows_page(&rows, 1, 3, 0, NULL), HDX_OK));
        while (hdx_rows_next(rows, &row))
            ;
        cr_assert(hdx_rows_cut_off(rows, &cut));
        cr_expect(eq(u64, cut.rows, after.rows));
        cr_expect(eq(u64, cut.objects, cases[i].objects ? after.objects : 0), "%s", cases[i].columns);
        cr_expect(eq(u64, cut.retained, cases[i].retained ? after.retained : 0), "%s", cases[i].columns);
        hdx_rows_close(rows);
    }
}

Test(pages, end_with_an_error_before_or_in_them)
{
    static const struct {
        uint64_t skip, limit, fail_at;
        hdx_code code;
    } cases[] = { { 10, 5, 3, HDX_DAMAGED },
                  { 10, 5, 12, HDX_DAMAGED },
                  { 10, 5, 15, HDX_DAMAGED }, /* the row that proves that others follow */
                  { 10, 5, 17, HDX_OK } };
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        counting        c = { .count = 30, .fail_at = cases[i].fail_at };
        hdx_rows       *rows = make(&c);
        const hdx_cell *row;
        cr_assert(eq(int, hdx_rows_page(&rows, cases[i].skip, cases[i].limit, 0, NULL), HDX_OK));
        while (hdx_rows_next(rows, &row))
            ;
        cr_expect(eq(int, hdx_rows_end(rows, NULL), cases[i].code), "%zu", i);
        hdx_rows_close(rows);
    }
}

Test(pages, are_found_by_cursors_of_one_form_only)
{
    static const char *const bad[] = { "",
                                       "25",
                                       "25-",
                                       "-1f2e3d4c",
                                       "25-1f2e3d4",
                                       "25-1f2e3d4c5",
                                       "25-1F2E3D4C",
                                       " 25-1f2e3d4c",
                                       "25-1f2e3d4c ",
                                       "25-1f2e3d4g",
                                       "+25-1f2e3d4c",
                                       "18446744073709551616-1f2e3d4c",
                                       "99999999999999999999999999-00000000" };
    uint64_t                 skip;
    uint32_t                 mark;
    for (size_t i = 0; i < HDX_COUNT(bad); i++)
        cr_expect(not(hdx_cursor_parse(bad[i], &skip, &mark)), "%s", bad[i]);
    cr_assert(hdx_cursor_parse("18446744073709551615-00000000", &skip, &mark));
    cr_expect(eq(u64, skip, UINT64_MAX));
    cr_expect(eq(u32, mark, 0));
    cr_assert(hdx_cursor_parse("0-ffffffff", &skip, &mark));
    cr_expect(eq(u64, skip, 0));
    cr_expect(eq(u32, mark, UINT32_MAX));
    counting        c = { .count = 3 };
    hdx_rows       *rows = make(&c);
    const hdx_cell *row;
    hdx_rows_cut    cut;
    cr_assert(eq(int, hdx_rows_page(&rows, UINT64_MAX, 25, 0, NULL), HDX_OK));
    cr_expect(not(hdx_rows_next(rows, &row)));
    cr_expect(not(hdx_rows_cut_off(rows, &cut)));
    cr_expect(eq(u64, cut.before, 3));
    hdx_rows_close(rows);
}
