/*
 * held_values.c - the columns of a small table: memory for rows, the order of a column, and a search in it.
 */
#include "sql/held.h"

#include <stdlib.h>

/* ---- values ---- */

/* Makes room for one more row. */
static bool grow(hdx_mem *mem, void **array, uint64_t *capacity, uint64_t rows, uint64_t bits)
{
    const uint64_t wanted = *capacity == 0 ? 64 : 2 * *capacity;
    if (rows < *capacity)
        return true;
    void *larger = hdx_mem_resize(mem, *array, *capacity / 8 * bits, wanted / 8 * bits);
    if (larger == NULL)
        return false;
    *array = larger;
    *capacity = wanted;
    return true;
}

static bool grow_column(sql_held *h, const sql_held_column *c, sql_held_values *v)
{
    if (sql_is_text(c))
        return grow(h->mem, (void **)&v->texts, &v->capacity, h->rows, 8 * sizeof *v->texts);
    if (!sql_is_number(c))
        return grow(h->mem, (void **)&v->cells, &v->capacity, h->rows, 8 * sizeof *v->cells);
    return grow(h->mem, (void **)&v->present, &v->bits_capacity, h->rows, 1) &&
           grow(h->mem, (void **)&v->numbers, &v->capacity, h->rows, 8 * sizeof *v->numbers);
}

hdx_code hdx_sql_held_add(sql_held *h, hdx_error *err)
{
    if (h->rows == UINT32_MAX)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "table %s has more than %u rows", h->table->name, UINT32_MAX);
    for (unsigned i = 0; i < h->table->column_count; i++)
        if (!grow_column(h, &h->table->columns[i], &h->columns[i]))
            return hdx_no_memory(err, h->table->name, h->rows * sizeof(int64_t));
    h->rows++;
    return sql_turn(h->heap->db, err);
}

void hdx_sql_held_free(sql_held *h)
{
    if (h == NULL)
        return;
    for (unsigned i = 0; i < h->table->column_count; i++) {
        sql_held_values *v = &h->columns[i];
        hdx_mem_put(h->mem, v->numbers, v->capacity * sizeof *v->numbers);
        hdx_mem_put(h->mem, v->present, v->bits_capacity / 8);
        hdx_mem_put(h->mem, v->texts, v->capacity * sizeof *v->texts);
        hdx_mem_put(h->mem, v->cells, v->capacity * sizeof *v->cells);
        hdx_mem_put(h->mem, v->order, h->rows * sizeof *v->order);
    }
    hdx_arena_free(&h->arena);
    free(h);
}

/* ---- order ---- */

typedef struct placed_text {
    uint64_t key; /* the first eight bytes of the text */
    hdx_text text;
    uint64_t row;
} placed_text;

static int by_text(const void *a, const void *b)
{
    const placed_text *x = a, *y = b;
    if (x->text.at == NULL || y->text.at == NULL) {
        if (x->text.at != NULL || y->text.at != NULL)
            return x->text.at == NULL ? -1 : 1;
    } else {
        const int d = hdx_text_order(x->text, y->text);
        if (d != 0)
            return d;
    }
    return (x->row > y->row) - (x->row < y->row);
}

static bool order_texts(sql_held *h, sql_held_values *v)
{
    placed_text *at = hdx_mem_raw(h->mem, h->rows, sizeof *at);
    if (at == NULL)
        return false;
    for (uint64_t i = 0; i < h->rows; i++) {
        at[i] = (placed_text){ 0, v->texts[i], i };
        for (unsigned k = 0; k < 8; k++)
            at[i].key = at[i].key << 8 | (k < at[i].text.len ? (uint8_t)at[i].text.at[k] : 0);
    }
    hdx_sort(h->mem, at, h->rows, sizeof *at, offsetof(placed_text, key), by_text);
    for (uint64_t i = 0; i < h->rows; i++) {
        v->order[i] = (uint32_t)at[i].row;
        v->nulls += at[i].text.at == NULL;
        v->distinct += i == 0 || at[i - 1].text.at == NULL || hdx_text_order(at[i].text, at[i - 1].text) != 0;
    }
    hdx_mem_put(h->mem, at, h->rows * sizeof *at);
    return true;
}

static bool order_numbers(sql_held *h, sql_held_values *v)
{
    uint64_t  n = 0;
    hdx_pair *at = hdx_mem_raw(h->mem, h->rows, sizeof *at);
    if (at == NULL)
        return false;
    for (uint64_t i = 0; i < h->rows; i++)
        if (hdx_bits_test(v->present, i))
            at[n++] = (hdx_pair){ (uint64_t)v->numbers[i] ^ 1ull << 63, i };
        else
            v->order[v->nulls++] = (uint32_t)i;
    hdx_sort_pairs(h->mem, at, n);
    for (uint64_t i = 0; i < n; i++) {
        v->order[v->nulls + i] = (uint32_t)at[i].second;
        v->distinct += i == 0 || at[i].first != at[i - 1].first;
    }
    v->distinct += v->nulls > 0;
    hdx_mem_put(h->mem, at, h->rows * sizeof *at);
    return true;
}

hdx_code hdx_sql_held_order(sql_held *h, unsigned column, hdx_error *err)
{
    sql_held_values *v = &h->columns[column];
    if (v->order != NULL)
        return HDX_OK;
    v->nulls = v->distinct = 0;
    v->order = hdx_mem_raw(h->mem, h->rows, sizeof *v->order);
    if (v->order != NULL && (sql_is_text(&h->table->columns[column]) ? order_texts(h, v) : order_numbers(h, v)))
        return HDX_OK;
    hdx_mem_put(h->mem, v->order, h->rows * sizeof *v->order);
    v->order = NULL;
    return hdx_no_memory(err, h->table->name, h->rows * sizeof(placed_text));
}

/* ---- search ---- */

typedef struct sought {
    const sql_held_values *v;
    hdx_text               text;
    int64_t                number;
    bool                   beyond; /* equal values belong before the found index */
} sought;

static bool text_before(const void *in, uint64_t place, const void *wanted)
{
    const sought *s = in;
    const int     d = hdx_text_order(s->v->texts[s->v->order[place]], s->text);
    (void)wanted;
    return d < 0 || (d == 0 && s->beyond);
}

static bool number_before(const void *in, uint64_t place, const void *wanted)
{
    const sought *s = in;
    const int64_t n = s->v->numbers[s->v->order[place]];
    (void)wanted;
    return n < s->number || (n == s->number && s->beyond);
}

/* Reduces a span by a comparison with a text. Values of other types are left to SQLite. */
static void cut_text(const sql_held *h, const sql_held_values *v, int op, sqlite3_value *value, sql_span *s)
{
    if (sqlite3_value_type(value) == SQLITE_NULL)
        s->end = s->first;
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return;
    const char *at = (const char *)sqlite3_value_text(value);
    sought      k = { .v = v, .text = { at, (uint32_t)sqlite3_value_bytes(value) } };
    if (at == NULL)
        return; /* no memory: SQLite compares all rows, and reports the error */
    const uint64_t low = hdx_partition(&k, v->nulls, h->rows, NULL, text_before);
    k.beyond = true;
    const uint64_t high = hdx_partition(&k, low, h->rows, NULL, text_before);
    const bool     equal = op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (equal || op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT) {
        const uint64_t first = op == SQLITE_INDEX_CONSTRAINT_GT ? high : low;
        s->first = first > s->first ? first : s->first;
    }
    if (equal || op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT) {
        const uint64_t end = op == SQLITE_INDEX_CONSTRAINT_LT ? low : high;
        s->end = end < s->end ? end : s->end;
    }
}

static void cut_numbers(const sql_held *h, const sql_held_values *v, sql_range range, sql_span *s)
{
    sought k = { .v = v, .number = range.least };
    if (range.least > range.most) {
        s->end = s->first;
        return;
    }
    s->first = hdx_partition(&k, v->nulls, h->rows, NULL, number_before);
    k = (sought){ .v = v, .number = range.most, .beyond = true };
    s->end = hdx_partition(&k, s->first, h->rows, NULL, number_before);
}

sql_span hdx_sql_held_search(const sql_held *h, unsigned column, unsigned count, const int *ops, sqlite3_value **values)
{
    const sql_held_values *v = &h->columns[column];
    const bool             text = sql_is_text(&h->table->columns[column]);
    sql_range              range = SQL_ANY;
    sql_span               s = { v->nulls, h->rows };
    for (unsigned i = 0; i < count; i++)
        if (text)
            cut_text(h, v, ops[i], values[i], &s);
        else
            hdx_sql_range_cut(&range, ops[i], values[i]);
    if (!text)
        cut_numbers(h, v, range, &s);
    if (s.end < s.first)
        s.end = s.first;
    return s;
}
