/*
 * limit.c - a page of the rows: at most n after the first `skip`, and what follows them.
 *
 * In:  rows in a fixed order.
 * Out: the page; afterwards the number of rows behind it, the objects that they stand for, and what these retain.
 * Cost: rows before the page are computed, but nothing that is filled in later (fill.c), such as labels. Sums of the
 *       rows behind the page are those of all rows without those before: a sort, a table and sources that know them in
 *       advance have them without further rows.
 */
#include "rows/cursor.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- sums ---- */

#define NONE UINT_MAX

hdx_weights hdx_weights_of(const hdx_column *columns, unsigned count)
{
    hdx_weights w = { NONE, NONE, NONE, NONE, false };
    for (unsigned i = 0; i < count; i++) {
        const bool bytes = columns[i].unit == HDX_UNIT_BYTES;
        if (columns[i].type == HDX_TYPE_ADDRESS)
            w.each |= (columns[i].flags & HDX_COLUMN_SUM) != 0;
        else if (columns[i].type == HDX_TYPE_UNSIGNED && (columns[i].flags & HDX_COLUMN_SIMILAR) != 0)
            *(bytes ? &w.more_retained : &w.more_objects) = i;
        else if (columns[i].type == HDX_TYPE_UNSIGNED && (columns[i].flags & HDX_COLUMN_SUM) != 0)
            *(bytes ? &w.retained : &w.objects) = i;
    }
    return w;
}

static void add(uint64_t *sum, unsigned column, const hdx_cell *row)
{
    if (column == NONE || *sum == HDX_ROWS_UNKNOWN)
        return;
    const hdx_cell *c = &row[column];
    if (c->kind == HDX_CELL_UINT)
        *sum += c->as.natural;
    else if (c->kind == HDX_CELL_ABSENT)
        *sum = HDX_ROWS_UNKNOWN;
}

void hdx_sums_add(hdx_sums *sums, const hdx_weights *w, const hdx_cell *row)
{
    sums->rows++;
    if (w->objects == NONE && !w->each)
        sums->objects = HDX_ROWS_UNKNOWN;
    else if (w->objects == NONE && sums->objects != HDX_ROWS_UNKNOWN)
        sums->objects++;
    if (w->retained == NONE)
        sums->retained = HDX_ROWS_UNKNOWN;
    add(&sums->objects, w->objects, row);
    add(&sums->objects, w->more_objects, row);
    add(&sums->retained, w->retained, row);
    add(&sums->retained, w->more_retained, row);
}

static uint64_t rest(uint64_t all, uint64_t given)
{
    return all == HDX_ROWS_UNKNOWN || given == HDX_ROWS_UNKNOWN || all < given ? HDX_ROWS_UNKNOWN : all - given;
}

static uint64_t known(uint64_t sum) { return sum == HDX_ROWS_UNKNOWN ? 0 : sum; }

/* ---- the page ---- */

typedef struct page {
    uint64_t     skip, limit; /* limit UINT64_MAX: none */
    uint32_t     mark;
    bool         marked;
    uint64_t     count_ns; /* time limit for counting the omitted rows; 0: they are not counted */
    hdx_weights  weights;
    hdx_sums     given; /* of all rows up to the end of the page */
    bool         cut;
    hdx_rows_cut what;
} page;

/*
 * Sums the rows behind the page, of which `row` is the first, within the time limit. An error among these rows is
 * ignored: none of them is shown. Returns false if the sums are incomplete.
 */
static bool sum_omitted(hdx_rows *rows, const page *p, const hdx_cell *row, hdx_sums *sums)
{
    const uint64_t until = hdx_now_ns() + p->count_ns;
    for (*sums = (hdx_sums){ 0 }; row != NULL;) {
        hdx_sums_add(sums, &p->weights, row);
        if (hdx_rows_pull(rows, &row, NULL) != HDX_OK ||
            (p->count_ns != 0 && sums->rows % 256 == 0 && hdx_now_ns() > until))
            return false;
    }
    return true;
}

/* Finds out whether rows follow the page, and what they are. */
static hdx_code find_rest(hdx_rows *rows, page *p, hdx_error *err)
{
    const hdx_cell *row = NULL;
    const hdx_sums  all = hdx_rows_total(rows->below);
    hdx_sums        behind;
    const bool      counted = all.rows != HDX_ROWS_UNKNOWN;
    const bool      in_memory = rows->base->stable; /* a table, under a condition */
    hdx_code        code = HDX_OK;
    if (counted)
        p->cut = all.rows > p->given.rows;
    else if ((code = hdx_rows_pull(rows, &row, err)) == HDX_OK)
        p->cut = row != NULL; /* one row more proves that rows were omitted */
    if (code != HDX_OK || !p->cut)
        return code;
    if (p->marked)
        (void)snprintf(p->what.cursor, sizeof p->what.cursor, "%" PRIu64 "-%08" PRIx32, p->given.rows, p->mark);
    if (counted || (p->count_ns == 0 && !in_memory))
        behind = (hdx_sums){ rest(all.rows, p->given.rows), rest(all.objects, p->given.objects),
                             rest(all.retained, p->given.retained) };
    else if (!sum_omitted(rows, p, row, &behind))
        return HDX_OK;
    if (behind.objects == HDX_ROWS_UNKNOWN && p->weights.each && p->weights.objects == NONE &&
        p->weights.more_objects == NONE)
        behind.objects = behind.rows;
    p->what.rows = known(behind.rows);
    p->what.objects = known(behind.objects);
    p->what.retained = known(behind.retained);
    return HDX_OK;
}

static hdx_code page_next(hdx_rows *rows, const hdx_cell **row, hdx_error *err)
{
    page    *p = rows->state;
    hdx_code code = HDX_OK;
    *row = NULL;
    if (p->given.rows >= p->skip && p->given.rows - p->skip >= p->limit)
        return find_rest(rows, p, err);
    while ((code = hdx_rows_pull(rows, row, err)) == HDX_OK && *row != NULL) {
        const bool before = p->given.rows < p->skip;
        if (before && p->given.rows % 4096 == 4095 && hdx_rows_stopped(rows))
            return hdx_tick_stop(err);
        hdx_sums_add(&p->given, &p->weights, *row);
        if (!before)
            break;
    }
    return code;
}

/* REQUIRES: no row is skipped. */
static hdx_code page_run(hdx_rows *rows, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    page          *p = rows->state;
    const uint64_t left = p->limit - p->given.rows;
    const hdx_code code =
        left == 0 ? HDX_OK : hdx_rows_run(rows->below, left < most ? (uint32_t)left : most, out, count, err);
    p->given.rows += *count;
    return code;
}

static void page_close(hdx_rows *rows) { free(rows->state); }

static hdx_sums page_total(const hdx_rows *rows)
{
    const page    *p = rows->state;
    const hdx_sums below = hdx_rows_total(rows->below);
    if (below.rows != HDX_ROWS_UNKNOWN && p->skip == 0 && below.rows <= p->limit)
        return below;
    const uint64_t after = below.rows > p->skip ? below.rows - p->skip : 0;
    return (hdx_sums){ below.rows == HDX_ROWS_UNKNOWN ? HDX_ROWS_UNKNOWN
                       : after < p->limit             ? after
                                                      : p->limit,
                       HDX_ROWS_UNKNOWN, HDX_ROWS_UNKNOWN };
}

static hdx_code put_page(hdx_rows **rows, const page *wanted, hdx_error *err)
{
    hdx_rows *sorting = *rows;
    while (sorting->shape == HDX_SHAPE_SELECT || sorting->shape == HDX_SHAPE_FILL)
        sorting = sorting->below;
    page *p = calloc(1, sizeof *p);
    if (p == NULL)
        return hdx_rows_drop(rows, hdx_no_memory(err, "a limit", sizeof *p));
    *p = *wanted;
    p->weights = hdx_weights_of((*rows)->columns, (*rows)->column_count);
    hdx_code code = hdx_rows_over(rows, HDX_SHAPE_LIMIT, p, err);
    if (code != HDX_OK) {
        free(p);
        return code;
    }
    if (sorting->shape == HDX_SHAPE_SORT && p->limit < UINT64_MAX - p->skip)
        hdx_rows_sort_keep(sorting, p->skip + p->limit);
    (*rows)->stable = (*rows)->below->stable;
    (*rows)->next = page_next;
    (*rows)->run = hdx_rows_runs((*rows)->below) && p->skip == 0 ? page_run : NULL;
    (*rows)->close = page_close;
    (*rows)->total = page_total;
    return HDX_OK;
}

hdx_code hdx_rows_limit(hdx_rows **rows, uint64_t n, hdx_error *err) { return hdx_rows_limit_counted(rows, n, 0, err); }

hdx_code hdx_rows_limit_counted(hdx_rows **rows, uint64_t n, uint64_t milliseconds, hdx_error *err)
{
    return n == 0 ? HDX_OK : put_page(rows, &(page){ .limit = n, .count_ns = milliseconds * 1000000 }, err);
}

hdx_code hdx_rows_page(hdx_rows **rows, uint64_t skip, uint64_t n, uint32_t mark, hdx_error *err)
{
    return put_page(rows, &(page){ .skip = skip, .limit = n == 0 ? UINT64_MAX : n, .mark = mark, .marked = true }, err);
}

static const page *page_of(const hdx_rows *rows)
{
    while (rows != NULL && rows->shape != HDX_SHAPE_LIMIT)
        rows = rows->below;
    return rows != NULL ? rows->state : NULL;
}

bool hdx_rows_cut_off(const hdx_rows *rows, hdx_rows_cut *cut)
{
    const page *p = page_of(rows);
    *cut = p != NULL ? p->what : (hdx_rows_cut){ 0 };
    if (p != NULL)
        cut->before = p->given.rows < p->skip ? p->given.rows : p->skip;
    return p != NULL && p->cut;
}

bool hdx_rows_paged(const hdx_rows *rows)
{
    const page *p = page_of(rows);
    return p != NULL && p->marked;
}

bool hdx_cursor_parse(const char *text, uint64_t *skip, uint32_t *mark)
{
    static const char hex[] = "0123456789abcdef";
    const char       *c = text;
    *skip = 0;
    *mark = 0;
    for (; *c >= '0' && *c <= '9'; c++) {
        const unsigned digit = (unsigned)(*c - '0');
        if (*skip > (UINT64_MAX - digit) / 10)
            return false;
        *skip = *skip * 10 + digit;
    }
    if (c == text || *c++ != '-' || strspn(c, hex) != 8 || c[8] != '\0')
        return false;
    for (; *c != '\0'; c++)
        *mark = *mark << 4 | (uint32_t)(strchr(hex, *c) - hex);
    return true;
}

bool hdx_rows_filtered(const hdx_rows *rows)
{
    while (rows != NULL && rows->shape != HDX_SHAPE_WHERE)
        rows = rows->below;
    return rows != NULL;
}
