/*
 * fill.c - computes one expensive column late, after rows have been filtered and limited, for many rows at once.
 *
 * In:  rows whose column is null, and a filler that computes it from a key column.
 * Out: the same rows with the column. The first batch is small because most answers are cut off early; each following
 *      batch is up to eight times as large.
 * Cost: the rows of one batch, packed (store.c).
 */
#include "rows/cursor.h"

#include <stdlib.h>

#define FIRST_BATCH 32u

typedef struct filling {
    hdx_mem   *mem;
    hdx_filler filler;
    unsigned   key, column;
    uint64_t   size, most; /* rows of the next batch, and the maximum */
    hdx_buffer store;
    uint64_t  *offsets; /* of the packed rows in `store` */
    hdx_cell  *keys, *made;
    hdx_cell  *row;
    uint64_t   offset_capacity, key_capacity, made_capacity, count, at;
    hdx_arena  arena; /* memory of the cells in `made` */
    hdx_arena  one;   /* memory of the cell that filler.finish completed last */
    bool       ended;
} filling;

static void free_filling(filling *f)
{
    if (f == NULL)
        return;
    hdx_buffer_free(&f->store);
    hdx_mem_put(f->mem, f->offsets, f->offset_capacity * sizeof *f->offsets);
    hdx_mem_put(f->mem, f->keys, f->key_capacity * sizeof *f->keys);
    hdx_mem_put(f->mem, f->made, f->made_capacity * sizeof *f->made);
    hdx_arena_free(&f->arena);
    hdx_arena_free(&f->one);
    free(f->row);
    free(f);
}

static hdx_code reserve_batch(filling *f, hdx_error *err)
{
    return hdx_mem_room(f->mem, (void **)&f->offsets, &f->offset_capacity, f->count, sizeof *f->offsets) &&
                   hdx_mem_room(f->mem, (void **)&f->keys, &f->key_capacity, f->count, sizeof *f->keys) &&
                   hdx_mem_room(f->mem, (void **)&f->made, &f->made_capacity, f->count, sizeof *f->made)
               ? HDX_OK
               : hdx_no_memory(err, "rows of an answer", 2 * f->count * sizeof *f->keys);
}

static hdx_code next_batch(hdx_rows *rows, hdx_error *err)
{
    filling        *f = rows->state;
    const hdx_cell *row;
    uint64_t        none;
    hdx_code        code = HDX_OK;
    hdx_buffer_clear(&f->store);
    hdx_arena_empty(&f->arena);
    f->count = f->at = 0;
    while (code == HDX_OK && f->count < f->size) {
        if ((code = hdx_rows_pull(rows, &row, err)) != HDX_OK)
            return code;
        if (row == NULL) {
            f->ended = true;
            break;
        }
        if ((code = reserve_batch(f, err)) != HDX_OK)
            return code;
        f->offsets[f->count] = f->store.len;
        f->keys[f->count] = row[f->key];
        code = hdx_row_pack(&f->store, row, rows->column_count, UINT32_MAX, &none, err);
        f->count++;
        if ((f->count & 1023) == 0 && hdx_rows_stopped(rows))
            code = hdx_tick_stop(err);
    }
    if (code == HDX_OK && f->count > 0)
        code = f->filler.fill(f->filler.context, f->keys, f->count, &f->arena, f->made, err);
    if (code == HDX_OK && f->arena.refused)
        code = hdx_no_memory(err, "rows of an answer", f->arena.size);
    f->size = f->size < f->most / 8 ? 8 * f->size : f->most;
    return code;
}

static hdx_code fill_next(hdx_rows *rows, const hdx_cell **row, hdx_error *err)
{
    filling *f = rows->state;
    hdx_code code = f->at == f->count && !f->ended ? next_batch(rows, err) : HDX_OK;
    *row = NULL;
    if (code != HDX_OK || f->at == f->count)
        return code;
    hdx_rows_fresh(rows);
    const hdx_cell *packed = hdx_row_unpack(&f->store, f->offsets[f->at], rows->column_count, &rows->row);
    if (packed == NULL)
        return hdx_no_memory(err, "a row", rows->column_count * sizeof *packed);
    memcpy(f->row, packed, rows->column_count * sizeof *packed);
    if (f->keys[f->at].kind == HDX_CELL_NULL) { /* a row of several objects has a text of its own */
        f->at++;
        *row = f->row;
        return HDX_OK;
    }
    f->row[f->column] = f->made[f->at];
    if (f->filler.finish != NULL) {
        hdx_arena_empty(&f->one);
        code = f->filler.finish(f->filler.context, &f->keys[f->at], &f->one, &f->row[f->column], err);
    }
    f->at++;
    *row = f->row;
    return code;
}

static void fill_close(hdx_rows *rows)
{
    filling *f = rows->state;
    if (f->filler.close != NULL)
        f->filler.close(f->filler.context);
    free_filling(f);
}

static hdx_sums fill_total(const hdx_rows *rows) { return hdx_rows_total(rows->below); }

hdx_code hdx_rows_fill(hdx_rows **rows, const char *key, const char *column, const hdx_filler *filler, uint64_t first,
                       uint64_t most, hdx_error *err)
{
    filling *f = calloc(1, sizeof *f);
    hdx_code code = f == NULL ? hdx_no_memory(err, "a column", sizeof *f) : HDX_OK;
    if (code == HDX_OK && (f->row = calloc((*rows)->column_count, sizeof *f->row)) == NULL)
        code = hdx_no_memory(err, "a row", (*rows)->column_count * sizeof *f->row);
    if (code == HDX_OK && (code = hdx_rows_find(*rows, key, strlen(key), &f->key, err)) == HDX_OK &&
        (code = hdx_rows_find(*rows, column, strlen(column), &f->column, err)) == HDX_OK) {
        f->filler = *filler;
        f->size = first == 0 ? FIRST_BATCH : first;
        f->most = most;
        f->mem = (*rows)->mem;
        f->store = hdx_buffer_of(f->mem);
        f->arena = hdx_arena_of(f->mem);
        f->one = hdx_arena_of(f->mem);
    }
    code = code != HDX_OK ? hdx_rows_drop(rows, code) : hdx_rows_over(rows, HDX_SHAPE_FILL, f, err);
    if (code != HDX_OK) {
        if (filler->close != NULL)
            filler->close(filler->context);
        free_filling(f);
        return code;
    }
    (*rows)->next = fill_next;
    (*rows)->close = fill_close;
    (*rows)->total = fill_total;
    return HDX_OK;
}
