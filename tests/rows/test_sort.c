/* test_sort.c - orders and limits against the slow obvious way, and what they hold meanwhile. */
#include "rows/counting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    hdx_rows_cut    cut;
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
    cr_assert(eq(int, hdx_rows_cut_off(rows, &cut), given < count));
    cr_assert(eq(u64, cut.rows, count - given));
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
    uint64_t        n = 0, before = 0;
    hdx_rows_cut    cut;
    cr_assert(eq(int, hdx_rows_sort(&rows, "size", true, NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_limit(&rows, 10, NULL), HDX_OK));
    while (hdx_rows_next(rows, &row)) {
        cr_expect(eq(u64, row[1].as.natural, 999));
        cr_expect(gt(u64, row[3].as.address, before)); /* equals as they came */
        before = row[3].as.address;
        n++;
    }
    cr_expect(eq(u64, n, 10));
    cr_expect(hdx_rows_cut_off(rows, &cut));
    cr_expect(eq(u64, cut.rows, 300000 - 10));
    hdx_rows_close(rows);
}

Test(limit, counts_the_rest_where_it_is_cheap_and_else_says_that_there_is_one)
{
    const hdx_cell *row;
    hdx_rows_cut    cut;
    for (unsigned limit = 1; limit < 5; limit++) {
        counting  c = { .count = 3 };
        hdx_rows *rows = make(&c);
        cr_assert(eq(int, hdx_rows_limit(&rows, limit, NULL), HDX_OK));
        unsigned n = 0;
        while (hdx_rows_next(rows, &row))
            n++;
        cr_expect(eq(u32, n, limit < 3 ? limit : 3));
        cr_expect(eq(int, hdx_rows_cut_off(rows, &cut), limit < 3));
        cr_expect(eq(u64, cut.rows, 0));
        hdx_rows_close(rows);
        counting       d = { .count = 3, .fail_at = UINT64_MAX };
        hdx_rows_maker maker = { columns, COLUMNS, &d, counting_next, counting_close, 3 };
        cr_assert(eq(int, hdx_rows_make(&maker, &rows, NULL), HDX_OK));
        cr_assert(eq(int, hdx_rows_limit(&rows, limit, NULL), HDX_OK));
        while (hdx_rows_next(rows, &row))
            ;
        cr_expect(eq(int, hdx_rows_cut_off(rows, &cut), limit < 3));
        cr_expect(eq(u64, cut.rows, limit < 3 ? 3 - limit : 0));
        hdx_rows_close(rows);
    }
    counting  c = { .count = 3 };
    hdx_rows *rows = make(&c);
    cr_assert(eq(int, hdx_rows_limit(&rows, 0, NULL), HDX_OK)); /* all */
    cr_expect(hdx_rows_next(rows, &row) && hdx_rows_next(rows, &row) && hdx_rows_next(rows, &row) &&
              !hdx_rows_next(rows, &row));
    cr_expect(not(hdx_rows_cut_off(rows, &cut)));
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
