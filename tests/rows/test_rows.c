/* test_rows.c - cursors, conditions, orders and limits, each against the slow obvious way. */
#include "rows/cursor.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY(name, unit) HDX_COLUMN(name, ANY, unit, HDX_COLUMN_NULLABLE, "whatever a test puts here")
static const hdx_column columns[] = { ANY("name", NONE), ANY("size", BYTES), ANY("percent", PERCENT), ANY("at", NONE) };
enum { COLUMNS = 4 };

/* ---- a streaming maker over numbers, whose texts die with each row ---- */

typedef struct counting {
    uint64_t        at, count, fail_at;
    char            text[32];
    unsigned        closed;
    const hdx_cell *cells; /* when set: these instead */
} counting;

static hdx_code counting_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    counting *c = state;
    if (c->at == c->fail_at)
        return hdx_fail(err, HDX_DAMAGED, "outbound", 7, "broken");
    if ((*more = c->at < c->count) == false)
        return HDX_OK;
    uint64_t i = c->at++;
    if (c->cells != NULL) {
        for (unsigned k = 0; k < COLUMNS; k++) {
            cells[k] = c->cells[i * COLUMNS + k];
            if (cells[k].kind == HDX_CELL_TEXT) /* as a maker would: in the arena of the row */
                cells[k].as.text.at = hdx_arena_copy(arena, cells[k].as.text.at, cells[k].as.text.len);
        }
        return HDX_OK;
    }
    (void)snprintf(c->text, sizeof c->text, "row %llu", (unsigned long long)i);
    cells[0] = hdx_cell_string(c->text);
    cells[1] = hdx_cell_uint(i * 7919 % 1000);
    cells[3] = hdx_cell_address(0x1000 + i);
    return HDX_OK; /* cells[2] stays null */
}

static void counting_close(void *state) { ((counting *)state)->closed++; }

static hdx_rows *make(counting *c)
{
    hdx_rows_maker maker = { columns, COLUMNS, c, counting_next, counting_close, 0 };
    hdx_rows      *rows;
    if (c->fail_at == 0)
        c->fail_at = UINT64_MAX;
    cr_assert(eq(int, hdx_rows_make(&maker, &rows, NULL), HDX_OK));
    return rows;
}

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
        uint64_t        more, given = 0;
        cr_assert(eq(int, hdx_rows_limit_counted(&rows, cases[i].limit, cases[i].milliseconds, NULL), HDX_OK));
        while (hdx_rows_next(rows, &row))
            given++;
        cr_expect(eq(u64, given, cases[i].rows < cases[i].limit ? cases[i].rows : cases[i].limit));
        cr_expect(eq(int, hdx_rows_end(rows, NULL), HDX_OK));
        cr_expect(hdx_rows_cut_off(rows, &more) == cases[i].cut, "%zu", i);
        cr_expect(eq(u64, more, cases[i].more), "%zu", i);
        hdx_rows_close(rows);
    }
    counting        c = { .count = 30, .fail_at = 25 };
    hdx_rows       *rows = make(&c);
    const hdx_cell *row;
    uint64_t        more;
    cr_assert(eq(int, hdx_rows_limit_counted(&rows, 20, 1000, NULL), HDX_OK));
    while (hdx_rows_next(rows, &row))
        ;
    cr_expect(eq(int, hdx_rows_end(rows, NULL), HDX_OK));
    cr_expect(hdx_rows_cut_off(rows, &more) && more == 0);
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

/* ---- where ---- */

static hdx_cell t(const char *s) { return hdx_cell_string(s); }

/* How many of the cells (each in column `name`) meet the condition. */
static unsigned meeting(const hdx_cell *cells, unsigned count, const char *condition)
{
    hdx_table      *table;
    hdx_rows       *rows;
    const hdx_cell *row;
    hdx_error       err = { 0 };
    unsigned        n = 0;
    cr_assert(eq(int, hdx_table_new(columns, 1, &table, NULL), HDX_OK));
    for (unsigned i = 0; i < count; i++)
        cr_assert(eq(int, hdx_table_add(table, &cells[i], NULL), HDX_OK));
    cr_assert(eq(int, hdx_table_rows(table, &rows, NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_where(&rows, condition, &err), HDX_OK), "%s: %s", condition, err.message);
    while (hdx_rows_next(rows, &row))
        n++;
    cr_assert(eq(int, hdx_rows_end(rows, NULL), HDX_OK));
    hdx_rows_close(rows);
    return n;
}

static void expect_one(hdx_cell cell, const char *condition, bool meets)
{
    cr_expect(eq(int, meeting(&cell, 1, condition) == 1, meets), "%s", condition);
}

Test(where, compares_numbers_of_all_kinds_by_value)
{
    expect_one(hdx_cell_uint(1024), "name = 1K", true);
    expect_one(hdx_cell_uint(1024), "name=1k", true);
    expect_one(hdx_cell_uint(1024), "name == 1KB", true);
    expect_one(hdx_cell_uint(1024), "  name\t>=  1 KiB ", true);
    expect_one(hdx_cell_uint(1024), "name < 1024 B", false);
    expect_one(hdx_cell_uint(5u << 20), "name > 4.9M", true);
    expect_one(hdx_cell_uint(5u << 20), "name > 5.1M", false);
    expect_one(hdx_cell_uint(2ull << 30), "name = 2G", true);
    expect_one(hdx_cell_uint(3ull << 40), "name = 3TB", true);
    expect_one(hdx_cell_uint(UINT64_MAX), "name = 18446744073709551615", true);
    expect_one(hdx_cell_uint(UINT64_MAX), "name < 18446744073709551616", true);
    expect_one(hdx_cell_uint(UINT64_MAX), "name < 1e30", true);
    expect_one(hdx_cell_int(-5), "name < 0", true);
    expect_one(hdx_cell_int(-5), "name = -5", true);
    expect_one(hdx_cell_int(-5), "name < -4.5", true);
    expect_one(hdx_cell_int(-5), "name > -5.5", true);
    expect_one(hdx_cell_int(INT64_MIN), "name <= -9223372036854775808", true);
    expect_one(hdx_cell_int(INT64_MIN), "name < -9223372036854775807", true);
    expect_one(hdx_cell_real(12.5), "name > 12", true);
    expect_one(hdx_cell_real(12.5), "name > 12%", true);
    expect_one(hdx_cell_real(12.5), "name = 12.5", true);
    expect_one(hdx_cell_real(NAN), "name > 0", false);
    expect_one(hdx_cell_real(INFINITY), "name > 1e300", true);
    expect_one(hdx_cell_address(0x7f3a10), "name = 0x7F3A10", true);
    expect_one(hdx_cell_address(0x7f3a10), "name > 0x7f3a0f", true);
    expect_one(hdx_cell_address(UINT64_MAX), "name = 0xffffffffffffffff", true);
    expect_one(hdx_cell_address(UINT64_MAX), "name = 0x1ffffffffffffffff", false); /* more than 64 bits */
}

Test(where, tells_integers_apart_that_are_one_as_reals)
{
    expect_one(hdx_cell_uint(9007199254740993), "name > 9007199254740992.0", true);
    expect_one(hdx_cell_uint(9007199254740993), "name = 9007199254740992", false);
    expect_one(hdx_cell_uint(UINT64_MAX), "name = 18446744073709551616.0", false);
}

Test(where, compares_texts_by_bytes_and_with_quotes)
{
    expect_one(t("com.acme.A"), "name = com.acme.A", true);
    expect_one(t("com.acme.A"), "name = 'com.acme.A'", true);
    expect_one(t("com.acme.A"), "name != \"com.acme.A\"", false);
    expect_one(t("a b"), "name = a b ", true);
    expect_one(t(" a"), "name = ' a'", true);
    expect_one(t("1024"), "name = 1K", false);
    expect_one(t("1K"), "name = 1K", true);
    expect_one(t("b"), "name > a", true);
    expect_one(t("b"), "name <= a", false);
    expect_one(t("ab"), "name > a", true);
    expect_one(t(""), "name = ''", true);
    expect_one(t("null"), "name = 'null'", true);
    expect_one(hdx_cell_text((hdx_text){ "a\0b", 3 }), "name = a", false);
}

Test(where, finds_regular_expressions_anywhere)
{
    expect_one(t("com.acme.Cache"), "name ~ ^com\\.acme", true);
    expect_one(t("com.acme.Cache"), "name ~ Cache$", true);
    expect_one(t("comXacme"), "name ~ com\\.acme", false);
    expect_one(t("com.acme.Cache"), "name ~ '(Cache|Map)'", true);
    expect_one(t("a=b"), "name ~ =b", true);
    expect_one(hdx_cell_text((hdx_text){ "abcdef", 3 }), "name ~ d", false); /* borrowed, no NUL after it */
    expect_one(hdx_cell_uint(1234), "name ~ ^12", true);
    expect_one(hdx_cell_address(0x7f00), "name ~ ^0x7f", true);
    expect_one(hdx_cell_null(), "name ~ .*", false);
    counting  c = { .count = 1 };
    hdx_rows *rows = make(&c);
    hdx_error err;
    cr_expect(eq(int, hdx_rows_where(&rows, "name ~ (", &err), HDX_USAGE));
    cr_expect(rows == NULL);
}

Test(where, knows_null_true_and_false)
{
    expect_one(hdx_cell_null(), "name = null", true);
    expect_one(hdx_cell_null(), "name != null", false);
    expect_one(hdx_cell_uint(0), "name = null", false);
    expect_one(hdx_cell_uint(0), "name != null", true);
    expect_one(hdx_cell_null(), "name < 5", false);
    expect_one(hdx_cell_null(), "name = 0", false);
    expect_one(hdx_cell_null(), "name != 5", true);
    expect_one(hdx_cell_bool(true), "name = true", true);
    expect_one(hdx_cell_bool(true), "name = 1", true);
    expect_one(hdx_cell_bool(false), "name != true", true);
    expect_one(hdx_cell_list(NULL, 0), "name = 5", false);
    expect_one(hdx_cell_uint(5), "name = five", false);
    expect_one(hdx_cell_uint(5), "name != five", true);
    expect_one(hdx_cell_uint(5), "name < five", false);
}

Test(where, refuses_what_is_no_condition)
{
    static const char *const wrong[] = { "", "name", "name 5", "> 5", "name >", "name >  ", "= = =", "name % 5" };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        counting  c = { .count = 1 };
        hdx_rows *rows = make(&c);
        hdx_error err;
        cr_expect(eq(int, hdx_rows_where(&rows, wrong[i], &err), HDX_USAGE), "%s", wrong[i]);
        cr_expect(rows == NULL);
        cr_expect(err.message[0] != '\0');
    }
}

/* ---- sort and limit against a naive version ---- */

enum { MOST = 5000 };
static hdx_cell         random_cells[MOST * COLUMNS];
static char             random_texts[MOST][12];
static const hdx_cell   nested_inside[2] = { { .kind = HDX_CELL_UINT, .as.natural = 300 },
                                             { .kind = HDX_CELL_TEXT, .as.text = { "deep", 4 } } };
static const hdx_member nested_members[2] = { { "first", { .kind = HDX_CELL_LIST, .as.list = { nested_inside, 2 } } },
                                              { "second", { .kind = HDX_CELL_REAL, .as.real = 0.5 } } };

static hdx_cell random_cell(unsigned i)
{
    switch (rand() % 12) {
    case 0: return hdx_cell_null();
    case 1: return hdx_cell_int(rand() % 20 - 10);
    case 2: return hdx_cell_real((rand() % 40 - 20) / 4.0);
    case 3: return hdx_cell_real(rand() % 2 ? NAN : INFINITY);
    case 4: return hdx_cell_address((uint64_t)rand() % 20);
    case 5: return hdx_cell_bool(rand() % 2);
    case 6:
    case 7:
        (void)snprintf(random_texts[i], sizeof random_texts[i], "%c%d", 'a' + rand() % 4, rand() % 5);
        return hdx_cell_string(random_texts[i]);
    case 8: return (hdx_cell){ .kind = HDX_CELL_ABSENT };
    default: return hdx_cell_uint((uint64_t)rand() % 20);
    }
}

/* By hand, with reals that are exact for these small numbers. */
static int naive_class(const hdx_cell *c)
{
    if (c->kind == HDX_CELL_NULL)
        return 3;
    if (c->kind == HDX_CELL_ABSENT || (c->kind == HDX_CELL_REAL && isnan(c->as.real)))
        return 2;
    return c->kind == HDX_CELL_TEXT;
}
static double naive_value(const hdx_cell *c)
{
    return c->kind == HDX_CELL_INT    ? (double)c->as.integer
           : c->kind == HDX_CELL_REAL ? c->as.real
           : c->kind == HDX_CELL_BOOL ? c->as.boolean
                                      : (double)c->as.natural;
}
static bool naive_before(const hdx_cell *a, const hdx_cell *b, bool descending)
{
    if (naive_class(a) != naive_class(b))
        return naive_class(a) < naive_class(b);
    if (naive_class(a) == 0)
        return descending ? naive_value(a) > naive_value(b) : naive_value(a) < naive_value(b);
    if (naive_class(a) != 1)
        return false;
    char x[12] = { 0 }, y[12] = { 0 };
    memcpy(x, a->as.text.at, a->as.text.len);
    memcpy(y, b->as.text.at, b->as.text.len);
    return descending ? strcmp(x, y) > 0 : strcmp(x, y) < 0;
}

static hdx_rows *rows_of_random(unsigned count, bool stable, counting *c)
{
    hdx_table *table;
    hdx_rows  *rows;
    if (!stable) {
        *c = (counting){ .count = count, .cells = random_cells };
        return make(c);
    }
    cr_assert(eq(int, hdx_table_new(columns, COLUMNS, &table, NULL), HDX_OK));
    for (unsigned i = 0; i < count; i++)
        cr_assert(eq(int, hdx_table_add(table, &random_cells[i * COLUMNS], NULL), HDX_OK));
    cr_assert(eq(int, hdx_table_rows(table, &rows, NULL), HDX_OK));
    return rows;
}

static void check_sorted(unsigned count, bool stable, bool descending, uint64_t limit, bool with_select)
{
    counting        c;
    unsigned       *order = calloc(count + 1, sizeof *order);
    const hdx_cell *row;
    uint64_t        more;
    for (unsigned i = 0; i < count; i++) { /* insertion keeps equals in order */
        unsigned j = i;
        for (; j > 0 && naive_before(&random_cells[i * COLUMNS], &random_cells[order[j - 1] * COLUMNS], descending);
             j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    hdx_rows *rows = rows_of_random(count, stable, &c);
    cr_assert(eq(int, hdx_rows_sort(&rows, "name", descending, NULL), HDX_OK));
    if (with_select)
        cr_assert(eq(int, hdx_rows_select(&rows, "name,size,percent,at", NULL), HDX_OK));
    if (limit > 0)
        cr_assert(eq(int, hdx_rows_limit(&rows, limit, NULL), HDX_OK));
    unsigned given = limit > 0 && limit < count ? (unsigned)limit : count;
    for (unsigned i = 0; i < given; i++) {
        cr_assert(hdx_rows_next(rows, &row));
        cr_assert(eq(u64, row[1].as.natural, order[i]), "place %u of %u", i, count);
        const hdx_cell *was = &random_cells[order[i] * COLUMNS];
        cr_assert(eq(int, row[0].kind, was->kind));
        if (was->kind == HDX_CELL_TEXT)
            cr_assert(hdx_text_same(row[0].as.text, was->as.text));
        cr_assert(eq(int, row[3].kind, HDX_CELL_OBJECT));
        const hdx_member *members = row[3].as.object.at;
        cr_assert(eq(u64, row[3].as.object.count, 2));
        cr_assert(eq(str, (char *)members[0].key, "first"));
        cr_assert(hdx_text_is(members[0].value.as.list.at[1].as.text, "deep"));
        cr_assert(members[1].value.as.real == 0.5);
    }
    cr_assert(not(hdx_rows_next(rows, &row)));
    cr_assert(eq(int, hdx_rows_end(rows, NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_cut_off(rows, &more), given < count));
    cr_assert(eq(u64, more, count - given));
    hdx_rows_close(rows);
    free(order);
}

Test(sort, is_stable_and_bounded_like_the_naive_one)
{
    static const unsigned counts[] = { 0, 1, 2, 15, 16, 17, 33, 100, 1000, 2500 };
    srand(20240503); /* the seed */
    for (unsigned k = 0; k < sizeof counts / sizeof *counts; k++)
        for (unsigned mode = 0; mode < 8; mode++) {
            for (unsigned i = 0; i < counts[k]; i++) {
                random_cells[i * COLUMNS] = mode < 4 ? random_cell(i)
                                                     : hdx_cell_uint(mode == 4   ? i
                                                                     : mode == 5 ? counts[k] - i
                                                                                 : (unsigned)rand() % 50);
                random_cells[i * COLUMNS + 1] = hdx_cell_uint(i);
                random_cells[i * COLUMNS + 2] = random_cell(MOST - 1);
                random_cells[i * COLUMNS + 3] = hdx_cell_object(nested_members, 2);
            }
            check_sorted(counts[k], mode & 1, mode & 2, 0, false);
            check_sorted(counts[k], mode & 1, mode & 2, 1, mode == 2);
            check_sorted(counts[k], mode & 1, !(mode & 2), 25, true);
            check_sorted(counts[k], !(mode & 1), mode & 2, 700, false);
        }
}

Test(sort, behind_a_limit_holds_few_rows)
{
    counting        c = { .count = 300000 };
    hdx_rows       *rows = make(&c);
    const hdx_cell *row;
    uint64_t        more, n = 0, before = 0;
    cr_assert(eq(int, hdx_rows_sort(&rows, "size", true, NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_limit(&rows, 10, NULL), HDX_OK));
    while (hdx_rows_next(rows, &row)) {
        cr_expect(eq(u64, row[1].as.natural, 999));
        cr_expect(gt(u64, row[3].as.address, before)); /* equals as they came */
        before = row[3].as.address;
        n++;
    }
    cr_expect(eq(u64, n, 10));
    cr_expect(hdx_rows_cut_off(rows, &more));
    cr_expect(eq(u64, more, 300000 - 10));
    hdx_rows_close(rows);
}

Test(limit, counts_the_rest_where_it_is_cheap_and_else_says_that_there_is_one)
{
    const hdx_cell *row;
    uint64_t        more;
    for (unsigned limit = 1; limit < 5; limit++) {
        counting  c = { .count = 3 };
        hdx_rows *rows = make(&c);
        cr_assert(eq(int, hdx_rows_limit(&rows, limit, NULL), HDX_OK));
        unsigned n = 0;
        while (hdx_rows_next(rows, &row))
            n++;
        cr_expect(eq(u32, n, limit < 3 ? limit : 3));
        cr_expect(eq(int, hdx_rows_cut_off(rows, &more), limit < 3));
        cr_expect(eq(u64, more, 0));
        hdx_rows_close(rows);
        counting       d = { .count = 3, .fail_at = UINT64_MAX };
        hdx_rows_maker maker = { columns, COLUMNS, &d, counting_next, counting_close, 3 };
        cr_assert(eq(int, hdx_rows_make(&maker, &rows, NULL), HDX_OK));
        cr_assert(eq(int, hdx_rows_limit(&rows, limit, NULL), HDX_OK));
        while (hdx_rows_next(rows, &row))
            ;
        cr_expect(eq(int, hdx_rows_cut_off(rows, &more), limit < 3));
        cr_expect(eq(u64, more, limit < 3 ? 3 - limit : 0));
        hdx_rows_close(rows);
    }
    counting  c = { .count = 3 };
    hdx_rows *rows = make(&c);
    cr_assert(eq(int, hdx_rows_limit(&rows, 0, NULL), HDX_OK)); /* all */
    cr_expect(hdx_rows_next(rows, &row) && hdx_rows_next(rows, &row) && hdx_rows_next(rows, &row) &&
              !hdx_rows_next(rows, &row));
    cr_expect(not(hdx_rows_cut_off(rows, &more)));
    hdx_rows_close(rows);
}

Test(sort, keeps_rows_that_nest_a_hundred_thousand_deep)
{
    enum { DEEP = 100000 };
    hdx_cell *chain = calloc(DEEP, sizeof *chain);
    for (unsigned i = 0; i + 1 < DEEP; i++)
        chain[i] = hdx_cell_list(&chain[i + 1], 1);
    chain[DEEP - 1] = hdx_cell_uint(42);
    hdx_cell        cells[2 * COLUMNS] = { hdx_cell_uint(2), chain[0], hdx_cell_null(), hdx_cell_null(),
                                           hdx_cell_uint(1), chain[0], hdx_cell_null(), hdx_cell_null() };
    counting        c = { .count = 2, .cells = cells };
    hdx_rows       *rows = make(&c);
    const hdx_cell *row;
    cr_assert(eq(int, hdx_rows_sort(&rows, "name", false, NULL), HDX_OK));
    for (unsigned i = 1; i <= 2; i++) {
        cr_assert(hdx_rows_next(rows, &row));
        cr_expect(eq(u64, row[0].as.natural, i));
        const hdx_cell *at = &row[1];
        for (unsigned k = 0; k + 1 < DEEP; k++) {
            cr_assert(eq(u64, at->as.list.count, 1));
            at = at->as.list.at;
        }
        cr_expect(eq(u64, at->as.natural, 42));
    }
    hdx_rows_close(rows);
    free(chain);
}

static bool at_the_nth(void *context)
{
    unsigned *left = context;
    return *left == 0 || --*left == 0;
}

/* Collecting, sorting runs, merging: wherever the caller says so. */
Test(sort, ends_when_the_caller_wants_to_stop)
{
    for (unsigned n = 1, stopped = 1; stopped; n++) {
        unsigned        left = n;
        hdx_progress    progress = { .context = &left, .cancelled = at_the_nth };
        counting        c = { .count = 300000 };
        hdx_rows       *rows = make(&c);
        const hdx_cell *row;
        hdx_rows_set_progress(rows, &progress);
        cr_assert(eq(int, hdx_rows_sort(&rows, "size", false, NULL), HDX_OK));
        stopped = !hdx_rows_next(rows, &row);
        cr_expect(eq(int, hdx_rows_end(rows, NULL), stopped ? HDX_CANCELLED : HDX_OK));
        if (!stopped)
            cr_expect(gt(uint, n, 15));
        hdx_rows_close(rows);
    }
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
Test(sort, of_texts_behind_a_limit_keeps_the_first)
{
    enum { N = 5000 };
    static char texts[N][12];
    for (unsigned descending = 0; descending < 2; descending++) {
        for (unsigned i = 0; i < N; i++) {
            (void)snprintf(texts[i], sizeof texts[i], "t%04u", i * 3571u % 9973u);
            random_cells[i * COLUMNS] = hdx_cell_string(texts[i]);
            random_cells[i * COLUMNS + 1] = hdx_cell_uint(i);
            random_cells[i * COLUMNS + 2] = hdx_cell_null();
            random_cells[i * COLUMNS + 3] = hdx_cell_object(nested_members, 2);
        }
        check_sorted(N, false, descending, 1, false);
        check_sorted(N, false, descending, 10, false);
        check_sorted(N, true, descending, 10, false);
        check_sorted(N, false, descending, 300, true);
    }
}

/* Every kind, small and at its ends, comes out of a packed row as it went in. */
Test(sort, keeps_every_kind_of_cell)
{
    static const hdx_member object[] = { { "a", { .kind = HDX_CELL_ADDRESS, .as.address = UINT64_MAX } },
                                         { "", { .kind = HDX_CELL_BOOL, .as.boolean = true } } };
    static const hdx_cell   list[] = { { .kind = HDX_CELL_OBJECT, .as.object = { object, 2 } },
                                       { .kind = HDX_CELL_LIST, .as.list = { NULL, 0 } },
                                       { .kind = HDX_CELL_ABSENT } };
    hdx_cell                each[18];
    unsigned                n = 0;
    each[n++] = hdx_cell_int(INT64_MIN);
    each[n++] = hdx_cell_int(-1);
    each[n++] = hdx_cell_int(INT64_MAX);
    each[n++] = hdx_cell_uint(0);
    each[n++] = hdx_cell_uint(127);
    each[n++] = hdx_cell_uint(128);
    each[n++] = hdx_cell_uint(UINT64_MAX);
    each[n++] = hdx_cell_real(-0.125);
    each[n++] = hdx_cell_bool(false);
    each[n++] = hdx_cell_bool(true);
    each[n++] = hdx_cell_address(0x7f00);
    each[n++] = hdx_cell_string("");
    each[n++] = hdx_cell_string("text");
    each[n++] = hdx_cell_null();
    each[n++] = (hdx_cell){ .kind = HDX_CELL_ABSENT };
    each[n++] = hdx_cell_list(list, 3);
    each[n++] = hdx_cell_object(object, 2);
    each[n++] = hdx_cell_object(NULL, 0);
    enum { EACH = sizeof each / sizeof *each };
    hdx_cell cells[EACH * COLUMNS];
    for (unsigned i = 0; i < EACH; i++) {
        cells[i * COLUMNS] = each[i];
        cells[i * COLUMNS + 1] = hdx_cell_uint(EACH - i);
        cells[i * COLUMNS + 2] = each[(i + 1) % EACH];
        cells[i * COLUMNS + 3] = each[(i + 5) % EACH];
    }
    counting        c = { .count = EACH, .cells = cells };
    hdx_rows       *rows = make(&c);
    const hdx_cell *row;
    cr_assert(eq(int, hdx_rows_sort(&rows, "size", false, NULL), HDX_OK));
    for (unsigned i = EACH; i-- > 0;) {
        cr_assert(hdx_rows_next(rows, &row));
        for (unsigned k = 0; k < COLUMNS; k++) {
            const hdx_cell *was = &cells[i * COLUMNS + k], *is = &row[k];
            cr_assert(is->kind == was->kind, "row %u, cell %u", i, k);
            switch (is->kind) {
            case HDX_CELL_TEXT: cr_expect(hdx_text_same(is->as.text, was->as.text)); break;
            case HDX_CELL_BOOL: cr_expect(is->as.boolean == was->as.boolean); break;
            case HDX_CELL_REAL: cr_expect(is->as.real == was->as.real); break;
            case HDX_CELL_INT:
            case HDX_CELL_UINT:
            case HDX_CELL_ADDRESS: cr_expect(is->as.natural == was->as.natural, "row %u, cell %u", i, k); break;
            case HDX_CELL_OBJECT:
                cr_assert(is->as.object.count == was->as.object.count);
                if (is->as.object.count == 2)
                    cr_expect(strcmp(is->as.object.at[0].key, "a") == 0 && strcmp(is->as.object.at[1].key, "") == 0 &&
                              is->as.object.at[0].value.as.address == UINT64_MAX &&
                              is->as.object.at[1].value.as.boolean);
                break;
            case HDX_CELL_LIST:
                cr_assert(is->as.list.count == 3);
                cr_expect(is->as.list.at[0].as.object.count == 2 && is->as.list.at[1].kind == HDX_CELL_LIST &&
                          is->as.list.at[1].as.list.count == 0 && is->as.list.at[2].kind == HDX_CELL_ABSENT);
                cr_expect(is->as.list.at[0].as.object.at[0].value.as.address == UINT64_MAX);
                break;
            default: break;
            }
        }
    }
    hdx_rows_close(rows);
}

/* ---- a column made after the others ---- */

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
    uint64_t        n = 0, more;
    while (hdx_rows_next(rows, &row))
        n++;
    cr_expect(eq(u64, n, 40));
    cr_expect(eq(u64, f.rows, 40));
    cr_expect(hdx_rows_cut_off(rows, &more));
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
    cr_expect(eq(int, hdx_rows_fill(&rows, "nobody", columns[2].name, &filler, 0, 10, &err), HDX_USAGE));
    cr_expect(rows == NULL && f.closed == 2, "closed on failure too");
}

/* ---- conditions that no cell could meet ---- */

static const hdx_column member[] = { HDX_ITEM(TEXT, "a word") };
static const hdx_column typed[] = {
    HDX_COLUMN("count", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "a count"),
    HDX_COLUMN("change", SIGNED, BYTES, HDX_COLUMN_NULLABLE, "a change"),
    HDX_COLUMN("share", REAL, PERCENT, HDX_COLUMN_NULLABLE, "a share"),
    HDX_COLUMN("daemon", BOOL, NONE, HDX_COLUMN_NULLABLE, "a word"),
    HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE, "a text"),
    HDX_COLUMN("at", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "an address"),
    HDX_NESTED("words", LIST, HDX_COLUMN_NULLABLE, "some words", member),
};

Test(where, a_value_that_is_none_of_the_type_of_the_column_is_refused_and_named)
{
    static const struct {
        const char *condition, *message; /* NULL: it is a condition */
    } cases[] = {
        { "count > foo", "'foo' is not a number" },
        { "count > 1M", NULL },
        { "count = 1X", "'1X' is not a number" },
        { "count = '5'", "'5' is not a number" },
        { "count >> 1M", "unknown operator >>" },
        { "count => 1", "unknown operator =>" },
        { "count =! 1", "unknown operator =!" },
        { "count 1", "is not COLUMN OPERATOR VALUE" },
        { "count = null", NULL },
        { "count != null", NULL },
        { "count < null", "null cannot be compared with < or >" },
        { "name >= null", "null cannot be compared with < or >" },
        { "count ~ ^1", NULL },
        { "change = -5K", NULL },
        { "change < low", "'low' is not a number" },
        { "share >= 1.5%", NULL },
        { "share = most", "'most' is not a number" },
        { "daemon = yes", "'yes' is not true or false" },
        { "daemon = 1", "'1' is not true or false" },
        { "daemon != true", NULL },
        { "name = 5", NULL },
        { "name < b", NULL },
        { "name = =", NULL },
        { "at = 0x10", NULL },
        { "at = here", "'here' is not an address" },
        { "words = a", "words is a list" },
        { "words != null", NULL },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_table *table;
        hdx_rows  *rows;
        hdx_error  err = { 0 };
        cr_assert(eq(int, hdx_table_new(typed, HDX_COUNT(typed), &table, NULL), HDX_OK));
        cr_assert(eq(int, hdx_table_rows(table, &rows, NULL), HDX_OK));
        const hdx_code code = hdx_rows_where(&rows, cases[i].condition, &err);
        cr_expect(eq(int, code, cases[i].message == NULL ? HDX_OK : HDX_USAGE), "%s", cases[i].condition);
        if (cases[i].message != NULL) {
            cr_expect(strstr(err.message, cases[i].message) != NULL, "%s: %s", cases[i].condition, err.message);
            cr_expect(strstr(err.message, cases[i].condition) != NULL && err.hint[0] != '\0', "%s", err.message);
        }
        hdx_rows_close(rows);
    }
}

Test(conditions, on_no_column_hold_for_cells_as_those_on_columns_do)
{
    static const struct {
        const char *text, *name;
        hdx_cell    cell;
        bool        of_text, holds;
    } cases[] = {
        { "size > 100", "size", { .kind = HDX_CELL_INT, .as.integer = 101 }, false, true },
        { "size > 100", "size", { .kind = HDX_CELL_INT, .as.integer = 100 }, false, false },
        { ".size <= 1K", ".size", { .kind = HDX_CELL_UINT, .as.natural = 1024 }, false, true },
        { "next = null", "next", { .kind = HDX_CELL_NULL }, false, true },
        { "next != null", "next", { .kind = HDX_CELL_NULL }, false, false },
        { "next = 0x7f", "next", { .kind = HDX_CELL_ADDRESS, .as.address = 0x7f }, false, true },
        { "name ~ ^wor", "name", { .kind = HDX_CELL_TEXT, .as.text = { "worker", 6 } }, true, true },
        { "name = '42'", "name", { .kind = HDX_CELL_TEXT, .as.text = { "42", 2 } }, true, true },
        { "open = true", "open", { .kind = HDX_CELL_BOOL, .as.boolean = true }, true, true },
    };
    hdx_condition *c;
    hdx_error      err;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_text name;
        bool     holds = !cases[i].holds;
        cr_expect(hdx_condition_name(cases[i].text, &name) && hdx_text_is(name, cases[i].name), "%s", cases[i].text);
        cr_assert(eq(int, hdx_condition_open(cases[i].text, NULL, &c, &err), HDX_OK), "%s", err.message);
        cr_expect(eq(int, hdx_condition_is_of_text(c), cases[i].of_text), "%s", cases[i].text);
        cr_expect(eq(int, hdx_condition_holds(c, &cases[i].cell, &holds, &err), HDX_OK));
        cr_expect(eq(int, holds, cases[i].holds), "%s", cases[i].text);
        hdx_condition_close(c);
    }
    cr_expect(eq(int, hdx_condition_open("size", NULL, &c, &err), HDX_USAGE));
    cr_expect_str_eq(err.message, "condition \"size\" is not COLUMN OPERATOR VALUE");
    cr_expect(eq(int, hdx_condition_open("size < null", NULL, &c, &err), HDX_USAGE));
    cr_expect_str_eq(err.message, "condition \"size < null\": null cannot be compared with < or >");
    cr_expect(eq(int, hdx_condition_open("name ~ (", NULL, &c, &err), HDX_USAGE));
    cr_expect(c == NULL);
}
