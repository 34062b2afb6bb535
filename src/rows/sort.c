/*
 * sort.c - rows in the order of a column, stable in both directions.
 *
 * In:  all rows of the cursor below, read when the first row is requested.
 * Out: the same rows in order; only the first `keep` when a limit follows.
 * Cost: 32 bytes per row for the key; rows of a cursor that is not stable are also packed (store.c). With a limit of n,
 *       at most 2 n + 1024 rows are in memory: at that number they are sorted and cut to n, and from then on a row that
 *       would come after the n-th is dropped before it is packed.
 */
#include "rows/cursor.h"

#include <stdlib.h>

#define SLACK        1024u  /* rows more than twice `keep` before they are cut */
#define AHEAD        12u    /* rows whose bytes are prefetched before they are unpacked */
#define RUN          16u    /* sorted by insertion before runs are merged */
#define CANCEL_CHECK 65536u /* entries between two cancellation checks */

typedef struct entry {
    hdx_cell key; /* a text's `at` is an offset into the store until the store stops moving: see place_keys */
    uint64_t row; /* offset in the store, or the address of a stable row */
} entry;

typedef struct sorter {
    unsigned    column;
    bool        descending, stable, collected, cut;
    uint64_t    keep; /* UINT64_MAX: all */
    entry      *entries;
    uint64_t    count, capacity;
    hdx_weights weights;
    hdx_sums    seen; /* of the rows read from below */
    uint64_t    at;   /* index of the next row */
    hdx_buffer  store;
} sorter;

static bool before_or_same(const entry *a, const entry *b, bool descending)
{
    return hdx_cell_order(&a->key, &b->key, descending) <= 0;
}

/* Merges [start, middle) and [middle, end); keeps the order of equal entries. */
static hdx_code merge(const hdx_rows *rows, const entry *from, entry *to, uint64_t start, uint64_t middle, uint64_t end,
                      bool descending, hdx_error *err)
{
    uint64_t a = start, b = middle, n = start;
    if (middle == end || before_or_same(&from[middle - 1], &from[middle], descending)) {
        memcpy(&to[start], &from[start], (size_t)((end - start) * sizeof *to)); /* already in order */
        return HDX_OK;
    }
    while (a < middle && b < end) {
        to[n] = before_or_same(&from[a], &from[b], descending) ? from[a++] : from[b++];
        if (++n % CANCEL_CHECK == 0 && hdx_rows_stopped(rows))
            return hdx_tick_stop(err);
    }
    memcpy(&to[n], &from[a], (size_t)((middle - a) * sizeof *to));
    n += middle - a;
    memcpy(&to[n], &from[b], (size_t)((end - b) * sizeof *to));
    return HDX_OK;
}

/* Insertion sort of runs of RUN entries, then merges of doubling width between two arrays. */
static hdx_code sort_entries(const hdx_rows *rows, entry *entries, uint64_t count, bool descending, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t start = 0; start < count; start += RUN) {
        if (start % CANCEL_CHECK == 0 && hdx_rows_stopped(rows))
            return hdx_tick_stop(err);
        uint64_t end = count - start < RUN ? count : start + RUN;
        for (uint64_t i = start + 1; i < end; i++) {
            entry    moving = entries[i];
            uint64_t j = i;
            for (; j > start && !before_or_same(&entries[j - 1], &moving, descending); j--)
                entries[j] = entries[j - 1];
            entries[j] = moving;
        }
    }
    if (count <= RUN)
        return HDX_OK;
    entry *other = hdx_mem_raw(rows->mem, count, sizeof *other), *from = entries, *to = other;
    if (other == NULL)
        return hdx_no_memory(err, "rows to sort", count * sizeof *entries);
    for (uint64_t width = RUN; code == HDX_OK && width < count; width *= 2) {
        for (uint64_t start = 0; code == HDX_OK && start < count; start += 2 * width) {
            uint64_t middle = count - start < width ? count : start + width;
            uint64_t end = count - middle < width ? count : middle + width;
            code = merge(rows, from, to, start, middle, end, descending, err);
        }
        entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != entries)
        memcpy(entries, from, (size_t)(count * sizeof *entries));
    hdx_mem_put(rows->mem, other, count * sizeof *other);
    return code;
}

static hdx_cell key_in_store(const sorter *s, hdx_cell key)
{
    if (key.kind == HDX_CELL_TEXT && !s->stable)
        key.as.text.at = s->store.at + (uintptr_t)key.as.text.at;
    return key;
}

/* Converts the offsets of key texts to pointers before a sort, and back to offsets before the store may move. */
static void place_keys(sorter *s, bool pointers)
{
    for (uint64_t i = 0; !s->stable && i < s->count; i++) {
        hdx_text *text = &s->entries[i].key.as.text;
        if (s->entries[i].key.kind != HDX_CELL_TEXT)
            continue;
        text->at = pointers ? s->store.at + (uintptr_t)text->at : (const char *)(uintptr_t)(text->at - s->store.at);
    }
}

static hdx_code sort_all(const hdx_rows *rows, sorter *s, hdx_error *err)
{
    place_keys(s, true);
    hdx_code code = sort_entries(rows, s->entries, s->count, s->descending, err);
    place_keys(s, false);
    return code;
}

/* Sorts the collected rows and drops all but the first `keep`, from the store too. */
static hdx_code drop_excess(const hdx_rows *rows, sorter *s, hdx_error *err)
{
    hdx_buffer shorter = hdx_buffer_of(rows->mem);
    hdx_code   code = sort_all(rows, s, err);
    if (code != HDX_OK)
        return code;
    s->cut = true;
    s->count = s->count < s->keep ? s->count : s->keep;
    for (uint64_t i = 0; !s->stable && i < s->count; i++) {
        entry   *e = &s->entries[i];
        uint64_t at = shorter.len;
        hdx_buffer_put(&shorter, s->store.at + e->row, hdx_row_size(&s->store, e->row));
        if (e->key.kind == HDX_CELL_TEXT)
            e->key.as.text.at = (const char *)((uintptr_t)e->key.as.text.at - e->row + at);
        e->row = at;
    }
    if (shorter.failed) {
        hdx_buffer_free(&shorter);
        return hdx_no_memory(err, "rows to sort", s->store.len);
    }
    if (!s->stable) {
        hdx_buffer_free(&s->store);
        s->store = shorter;
    }
    return HDX_OK;
}

static hdx_code add_row(const hdx_rows *rows, sorter *s, const hdx_cell *row, hdx_error *err)
{
    entry    e = { row[s->column], (uint64_t)(uintptr_t)row };
    uint64_t text = 0;
    hdx_code code;
    hdx_sums_add(&s->seen, &s->weights, row);
    if (s->cut && (s->keep == 0 || s->count >= s->keep)) {
        hdx_cell worst = key_in_store(s, s->entries[s->keep - 1].key);
        if (hdx_cell_order(&worst, &e.key, s->descending) <= 0)
            return HDX_OK; /* equal rows stay in the order of the input */
    }
    if (!s->stable) {
        e.row = s->store.len;
        if ((code = hdx_row_pack(&s->store, row, rows->column_count, s->column, &text, err)) != HDX_OK)
            return code;
        if (e.key.kind == HDX_CELL_TEXT)
            e.key.as.text.at = (const char *)(uintptr_t)text;
    }
    if (!hdx_mem_room(rows->mem, (void **)&s->entries, &s->capacity, s->count, sizeof e))
        return hdx_no_memory(err, "rows to sort", s->count * sizeof e);
    s->entries[s->count++] = e;
    return s->keep < UINT64_MAX / 4 && s->count >= 2 * s->keep + SLACK ? drop_excess(rows, s, err) : HDX_OK;
}

static hdx_code collect(hdx_rows *rows, hdx_error *err)
{
    sorter         *s = rows->state;
    const hdx_cell *row;
    hdx_code        code;
    while ((code = hdx_rows_pull(rows, &row, err)) == HDX_OK && row != NULL)
        if ((code = s->seen.rows % CANCEL_CHECK == 0 && hdx_rows_stopped(rows) ? hdx_tick_stop(err)
                                                                               : add_row(rows, s, row, err)) != HDX_OK)
            return code;
    if (code != HDX_OK || (code = sort_all(rows, s, err)) != HDX_OK)
        return code;
    s->count = s->count < s->keep ? s->count : s->keep;
    s->collected = true;
    return HDX_OK;
}

static hdx_code sort_next(hdx_rows *rows, const hdx_cell **row, hdx_error *err)
{
    sorter  *s = rows->state;
    hdx_code code;
    *row = NULL;
    if (!s->collected && (code = collect(rows, err)) != HDX_OK)
        return code;
    if (s->at == s->count)
        return HDX_OK;
    const entry *e = &s->entries[s->at++];
    if (s->stable) {
        *row = (const hdx_cell *)(uintptr_t)e->row;
        return HDX_OK;
    }
    /* Rows in key order are scattered over the store: prefetch their cache lines while earlier rows are unpacked. */
    if (s->at + AHEAD < s->count) {
        const char *soon = s->store.at + s->entries[s->at + AHEAD].row;
        __builtin_prefetch(soon);
        __builtin_prefetch(soon + 64);
    }
    hdx_rows_fresh(rows);
    *row = hdx_row_unpack(&s->store, e->row, rows->column_count, &rows->row);
    return *row != NULL ? HDX_OK : hdx_no_memory(err, "a row", rows->column_count * sizeof **row);
}

static void sort_close(hdx_rows *rows)
{
    sorter *s = rows->state;
    hdx_mem_put(rows->mem, s->entries, s->capacity * sizeof *s->entries);
    hdx_buffer_free(&s->store);
    free(s);
}

static hdx_sums sort_total(const hdx_rows *rows)
{
    const sorter *s = rows->state;
    return s->collected ? s->seen : hdx_rows_total(rows->below);
}

void hdx_rows_sort_keep(hdx_rows *sorting, uint64_t n)
{
    sorter *s = sorting->state;
    if (!s->collected && n < s->keep)
        s->keep = n;
}

hdx_code hdx_rows_sort(hdx_rows **rows, const char *column, bool descending, hdx_error *err)
{
    unsigned index;
    hdx_code code = hdx_rows_find(*rows, column, strlen(column), &index, err);
    if (code != HDX_OK)
        return hdx_rows_drop(rows, code);
    sorter *s = calloc(1, sizeof *s);
    if (s == NULL)
        return hdx_rows_drop(rows, hdx_no_memory(err, "a sort", sizeof *s));
    *s = (sorter){ .column = index,
                   .descending = descending,
                   .stable = (*rows)->stable,
                   .keep = UINT64_MAX,
                   .weights = hdx_weights_of((*rows)->columns, (*rows)->column_count),
                   .store = hdx_buffer_of((*rows)->mem) };
    if ((code = hdx_rows_over(rows, HDX_SHAPE_SORT, s, err)) != HDX_OK) {
        free(s);
        return code;
    }
    (*rows)->stable = s->stable;
    (*rows)->next = sort_next;
    (*rows)->close = sort_close;
    (*rows)->total = sort_total;
    return HDX_OK;
}
