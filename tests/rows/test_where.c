/* test_where.c - conditions: which cells meet them, and which conditions are refused. */
#include "rows/counting.h"

#include <math.h>
#include <string.h>

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
