/* test_rows.c - rows one by one, their columns, title and head, and columns that are selected. */
#include "rows/counting.h"

#include <string.h>

Test(rows, come_one_by_one_and_end_well)
{
    counting        c = { .count = 3 };
    hdx_rows       *rows = make(&c);
    const hdx_cell *row;
    for (unsigned i = 0; i < 3; i++) {
        cr_assert(hdx_rows_next(rows, &row));
        cr_expect(eq(u64, row[3].as.address, 0x1000 + i));
        cr_expect(eq(int, row[2].kind, HDX_CELL_NULL));
    }
    cr_expect(not(hdx_rows_next(rows, &row)));
    cr_expect(row == NULL);
    cr_expect(not(hdx_rows_next(rows, &row)));
    cr_expect(eq(int, hdx_rows_end(rows, NULL), HDX_OK));
    hdx_rows_close(rows);
    cr_expect(eq(u32, c.closed, 1));
}

Test(rows, keep_an_error_until_the_end_is_asked_through_all_shapings)
{
    counting        c = { .count = 30, .fail_at = 11 };
    hdx_rows       *rows = make(&c);
    const hdx_cell *row;
    hdx_error       err = { 0 };
    cr_assert(eq(int, hdx_rows_where(&rows, "size >= 0", NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_select(&rows, "name", NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_limit(&rows, 20, NULL), HDX_OK));
    for (unsigned i = 0; i < 11; i++)
        cr_assert(hdx_rows_next(rows, &row));
    cr_expect(not(hdx_rows_next(rows, &row)));
    cr_expect(eq(int, hdx_rows_end(rows, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.message, "broken"));
    cr_expect(eq(u64, err.offset, 7));
    hdx_rows_close(rows);
    cr_expect(eq(u32, c.closed, 1));
    counting again = { .count = 30, .fail_at = 11 };
    rows = make(&again);
    cr_assert(eq(int, hdx_rows_sort(&rows, "size", true, NULL), HDX_OK));
    cr_expect(not(hdx_rows_next(rows, &row)));
    cr_expect(eq(int, hdx_rows_end(rows, &err), HDX_DAMAGED));
    hdx_rows_close(rows);
}

Test(rows, behind_a_limit_are_counted_where_that_was_asked_for)
{
    static const struct {
        uint32_t rows, limit;
        uint64_t milliseconds, more;
        bool     cut;
    } cases[] = { { 30, 20, 1000, 10, true }, { 30, 20, 0, 0, true },     { 21, 20, 1000, 1, true },
                  { 20, 20, 1000, 0, false }, { 19, 20, 1000, 0, false }, { 3000, 1, 60000, 2999, true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        counting        c = { .count = cases[i].rows };
        hdx_rows       *rows = make(&c);
        const hdx_cell *row;
        hdx_rows_cut    cut;
        uint64_t        given = 0;
        cr_assert(eq(int, hdx_rows_limit_counted(&rows, cases[i].limit, cases[i].milliseconds, NULL), HDX_OK));
        while (hdx_rows_next(rows, &row))
            given++;
        cr_expect(eq(u64, given, cases[i].rows < cases[i].limit ? cases[i].rows : cases[i].limit));
        cr_expect(eq(int, hdx_rows_end(rows, NULL), HDX_OK));
        cr_expect(hdx_rows_cut_off(rows, &cut) == cases[i].cut, "%zu", i);
        cr_expect(eq(u64, cut.rows, cases[i].more), "%zu", i);
        hdx_rows_close(rows);
    }
    counting        c = { .count = 30, .fail_at = 25 };
    hdx_rows       *rows = make(&c);
    const hdx_cell *row;
    hdx_rows_cut    cut;
    cr_assert(eq(int, hdx_rows_limit_counted(&rows, 20, 1000, NULL), HDX_OK));
    while (hdx_rows_next(rows, &row))
        ;
    cr_expect(eq(int, hdx_rows_end(rows, NULL), HDX_OK));
    cr_expect(hdx_rows_cut_off(rows, &cut) && cut.rows == 0);
    hdx_rows_close(rows);
}

Test(rows, carry_extras_and_title_through_every_shaping)
{
    counting  c = { .count = 3 };
    hdx_rows *rows = make(&c);
    cr_assert(eq(int, hdx_rows_set_title(rows, "All of them", NULL), HDX_OK));
    for (unsigned i = 0; i < 40; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "key%u", i);
        cr_assert(eq(int, hdx_rows_add_extra(rows, key, hdx_cell_copy(hdx_rows_arena(rows), key), NULL), HDX_OK));
    }
    cr_assert(eq(int, hdx_rows_sort(&rows, "size", true, NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_limit(&rows, 2, NULL), HDX_OK));
    cr_expect(eq(str, (char *)hdx_rows_title(rows), "All of them"));
    cr_expect(eq(str, (char *)hdx_rows_extra(rows, 39)->key, "key39"));
    cr_expect(hdx_text_is(hdx_rows_extra(rows, 39)->value.as.text, "key39"));
    cr_expect(hdx_rows_extra(rows, 40)->key == NULL);
    cr_expect(hdx_rows_extra(rows, 4000)->key == NULL);
    hdx_rows_close(rows);
}

Test(rows, of_a_table_stay_where_they_are)
{
    hdx_table      *t;
    hdx_rows       *rows;
    const hdx_cell *row, *first = NULL;
    cr_assert(eq(int, hdx_table_new(columns, COLUMNS, &t, NULL), HDX_OK));
    for (unsigned i = 0; i < 100; i++) {
        hdx_cell cells[COLUMNS] = { hdx_cell_copy(hdx_table_arena(t), "name"), hdx_cell_uint(i), hdx_cell_real(i / 2.0),
                                    hdx_cell_null() };
        cr_assert(eq(int, hdx_table_add(t, cells, NULL), HDX_OK));
    }
    cr_expect(eq(u64, hdx_table_count(t), 100));
    cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
    for (unsigned i = 0; i < 100; i++) {
        cr_assert(hdx_rows_next(rows, &row));
        first = i == 0 ? row : first;
        cr_expect(eq(u64, row[1].as.natural, i));
    }
    cr_expect(not(hdx_rows_next(rows, &row)));
    cr_expect(eq(u64, first[1].as.natural, 0));
    hdx_rows_close(rows);
}

/* ---- select ---- */

Test(rows, selects_columns_in_the_order_named)
{
    counting        c = { .count = 1 };
    hdx_rows       *rows = make(&c);
    const hdx_cell *row;
    unsigned        count;
    cr_assert(eq(int, hdx_rows_select(&rows, " at , size,at", NULL), HDX_OK));
    const hdx_column *has = hdx_rows_columns(rows, &count);
    cr_assert(eq(u32, count, 3));
    cr_expect(eq(str, (char *)has[0].name, "at"));
    cr_expect(eq(str, (char *)has[1].name, "size"));
    cr_assert(hdx_rows_next(rows, &row));
    cr_expect(eq(u64, row[2].as.address, 0x1000));
    hdx_rows_close(rows);
}

static hdx_code nothing_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    (void)state;
    (void)arena;
    (void)cells;
    (void)err;
    *more = false;
    return HDX_OK;
}

Test(rows, names_the_columns_and_the_nearest_when_there_is_no_such_column)
{
    static const char *const wrong[] = { "siez", "", "name,,at", "name,siez" };
    hdx_error                err;
    for (unsigned i = 0; i < 4; i++) {
        counting  c = { .count = 1 };
        hdx_rows *rows = make(&c);
        cr_expect(eq(int, hdx_rows_select(&rows, wrong[i], &err), HDX_USAGE));
        cr_expect(rows == NULL);
        cr_expect(eq(u32, c.closed, 1));
    }
    cr_expect(eq(str, err.message, "no column \"siez\"; columns: name, size, percent, at"));
    cr_expect(eq(str, err.hint, "did you mean size?"));
    counting  c = { .count = 1 };
    hdx_rows *rows = make(&c);
    cr_expect(eq(int, hdx_rows_sort(&rows, "no such thing", false, &err), HDX_USAGE));
    cr_expect(eq(str, err.hint, ""));
    cr_expect(rows == NULL);
    counting d = { .count = 1 };
    rows = make(&d);
    cr_expect(eq(int, hdx_rows_where(&rows, "Size > 1", &err), HDX_USAGE));
    cr_expect(eq(str, err.hint, "did you mean size?"));
    cr_expect(rows == NULL);
    cr_expect(eq(u32, d.closed, 1));
}

/* What stands above a column of a table is a name of it. */
Test(rows, take_the_headings_of_tables_for_names)
{
    static const hdx_column objects[] = {
        HDX_COLUMN("size", UNSIGNED, BYTES, 0, ""),
        HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, ""),
        HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_LABEL, ""),
        HDX_COLUMN("percent", REAL, PERCENT, 0, ""),
    };
    static const hdx_column own[] = { HDX_COLUMN("object", TEXT, NONE, 0, ""),
                                      HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, ""),
                                      HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_LABEL, "") };
    cr_expect(eq(u32, hdx_column_place(objects, 4, (hdx_text){ "object", 6 }), 1));
    cr_expect(eq(u32, hdx_column_place(objects, 4, (hdx_text){ "%", 1 }), 3));
    cr_expect(eq(u32, hdx_column_place(objects, 1, (hdx_text){ "object", 6 }), 1),
              "without a label there is no such heading");
    cr_expect(eq(u32, hdx_column_place(own, 3, (hdx_text){ "object", 6 }), 0), "a column of that name is meant");
    cr_expect(eq(u64, hdx_columns_named(objects, 4, "object,%", 8), 0xe));
    cr_expect(eq(u64, hdx_columns_named(own, 3, "object", 6), 1));
    hdx_error      err;
    hdx_rows      *rows;
    hdx_rows_maker maker = { objects, 4, NULL, nothing_next, NULL, 0 };
    cr_assert(eq(int, hdx_rows_make(&maker, &rows, &err), HDX_OK));
    cr_assert(eq(int, hdx_rows_where(&rows, "% > 5", &err), HDX_OK), "%s", err.message);
    cr_assert(eq(int, hdx_rows_sort(&rows, "%", true, &err), HDX_OK), "%s", err.message);
    cr_assert(eq(int, hdx_rows_select(&rows, "object,%", &err), HDX_OK), "%s", err.message);
    unsigned          count;
    const hdx_column *has = hdx_rows_columns(rows, &count);
    cr_assert(eq(u32, count, 3));
    cr_expect(strcmp(has[0].name, "class") == 0 && strcmp(has[1].name, "label") == 0 &&
              strcmp(has[2].name, "percent") == 0);
    hdx_rows_close(rows);
}

/* ---- what surrounds rows ---- */

typedef struct few {
    unsigned at;
} few;

/* Each row fills one cell, another one each time. */
static hdx_code few_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    few *f = state;
    (void)arena;
    (void)err;
    *more = f->at < COLUMNS;
    if (*more) {
        cells[f->at] = hdx_cell_uint(f->at + 1);
        f->at++;
    }
    return HDX_OK;
}

Test(rows, of_a_maker_are_null_where_it_says_nothing)
{
    few             f = { 0 };
    hdx_rows_maker  maker = { columns, COLUMNS, &f, few_next, NULL, 0 };
    hdx_rows       *rows;
    const hdx_cell *row;
    cr_assert(eq(int, hdx_rows_make(&maker, &rows, NULL), HDX_OK));
    for (unsigned i = 0; i < COLUMNS; i++) {
        cr_assert(hdx_rows_next(rows, &row));
        for (unsigned k = 0; k < COLUMNS; k++)
            cr_expect(eq(int, row[k].kind, k == i ? HDX_CELL_UINT : HDX_CELL_NULL), "row %u, cell %u", i, k);
    }
    cr_expect(not(hdx_rows_next(rows, &row)));
    hdx_rows_close(rows);
}

static hdx_code none_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    (void)arena;
    (void)cells;
    (void)err;
    *more = ++*(unsigned *)state <= 3;
    return HDX_OK;
}

Test(rows, may_have_no_columns)
{
    unsigned        made = 0, count = 9;
    hdx_rows_maker  maker = { NULL, 0, &made, none_next, NULL, 0 };
    hdx_rows       *rows;
    const hdx_cell *row;
    hdx_table      *table;
    cr_assert(eq(int, hdx_rows_make(&maker, &rows, NULL), HDX_OK));
    (void)hdx_rows_columns(rows, &count);
    cr_expect(count == 0 && hdx_rows_next(rows, &row) && hdx_rows_next(rows, &row) && hdx_rows_next(rows, &row) &&
              !hdx_rows_next(rows, &row));
    hdx_rows_close(rows);
    cr_assert(eq(int, hdx_table_new(NULL, 0, &table, NULL), HDX_OK));
    for (unsigned i = 0; i < 40; i++)
        cr_assert(eq(int, hdx_table_add(table, NULL, NULL), HDX_OK));
    cr_assert(eq(int, hdx_table_rows(table, &rows, NULL), HDX_OK));
    unsigned n = 0;
    while (hdx_rows_next(rows, &row))
        n++;
    cr_expect(eq(uint, n, 40));
    hdx_rows_close(rows);
}

Test(rows, carry_a_head_of_their_own)
{
    for (unsigned count = 0; count < 4; count++) {
        counting   c = { .count = 1 };
        hdx_rows  *rows = make(&c);
        hdx_member head[4] = { { "heapdex", hdx_cell_uint(7) },
                               { "command", hdx_cell_string("objects") },
                               { "dump", hdx_cell_null() },
                               { "not given", hdx_cell_null() } };
        cr_expect(hdx_rows_head(rows, 0)->key == NULL && hdx_rows_head(rows, 0)->value.kind == HDX_CELL_NULL);
        cr_expect(hdx_rows_extra(rows, 0)->key == NULL && hdx_rows_extra(rows, 0)->value.kind == HDX_CELL_NULL);
        cr_assert(eq(int, hdx_rows_set_head(rows, head, count, NULL), HDX_OK));
        memset(head, 0x5a, sizeof head); /* they are copied */
        cr_assert(eq(int, hdx_rows_sort(&rows, "size", true, NULL), HDX_OK));
        static const char *const keys[] = { "heapdex", "command", "dump" };
        for (unsigned i = 0; i < count; i++)
            cr_expect(strcmp(hdx_rows_head(rows, i)->key, keys[i]) == 0, "%u", i);
        if (count > 0)
            cr_expect(eq(u64, hdx_rows_head(rows, 0)->value.as.natural, 7));
        cr_expect(hdx_rows_head(rows, count)->key == NULL);
        cr_expect(hdx_rows_head(rows, count)->value.kind == HDX_CELL_NULL);
        hdx_rows_close(rows);
    }
}

Test(rows, have_a_title_or_none)
{
    counting  c = { .count = 1 };
    hdx_rows *rows = make(&c);
    char      title[] = "All of them";
    cr_expect(hdx_rows_title(rows) == NULL);
    cr_expect(eq(int, hdx_rows_set_title(rows, title, NULL), HDX_OK));
    title[0] = 'x';
    cr_expect(eq(str, (char *)(uintptr_t)hdx_rows_title(rows), "All of them"));
    cr_expect(eq(int, hdx_rows_set_title(rows, NULL, NULL), HDX_OK));
    cr_expect(hdx_rows_title(rows) == NULL);
    hdx_rows_close(rows);
    hdx_arena arena = hdx_arena_of(NULL);
    cr_expect(hdx_cell_copy(&arena, NULL).kind == HDX_CELL_NULL && hdx_cell_string(NULL).kind == HDX_CELL_NULL);
    hdx_arena_free(&arena);
}

Test(columns, have_names_for_types_and_units)
{
    static const char *const        types[] = { "unsigned", "signed", "real", "bool", "text", "address",
                                                "list",     "object", "any",  "any",  "any" },
                             *const units[] = { "", "bytes", "count", "percent", "seconds", "", "" };
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        cr_expect(strcmp(hdx_column_type_name((hdx_type)i), types[i]) == 0, "%u", i);
    for (unsigned i = 0; i < sizeof units / sizeof *units; i++)
        cr_expect(strcmp(hdx_column_unit_name((hdx_unit)i), units[i]) == 0, "%u", i);
}

/* A list of names is cut at whole names, also where the next would fill its room to the last byte. */
Test(columns, that_are_too_many_are_named_as_far_as_there_is_room)
{
    for (unsigned len = 85; len < 100; len++) {
        char       first[101], second[101];
        hdx_column two[2] = { ANY(first, NONE), ANY(second, NONE) };
        few        f = { 0 };
        hdx_error  err;
        memset(first, 'a', sizeof first);
        memset(second, 'b', sizeof second);
        first[95] = second[len] = '\0';
        hdx_rows_maker maker = { two, 2, &f, few_next, NULL, 0 };
        hdx_rows      *rows;
        cr_assert(eq(int, hdx_rows_make(&maker, &rows, NULL), HDX_OK));
        cr_expect(eq(int, hdx_rows_sort(&rows, "cccccccccccc", false, &err), HDX_USAGE));
        cr_expect(rows == NULL && strstr(err.message, first) != NULL);
    }
}

/* Texts that go with their rows, cut again and again: the worst one kept is compared with each that comes. */
