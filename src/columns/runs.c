/*
 * runs.c - the rows of any answer in runs. A source that has its columns in runs (rows.h) passes them unchanged; for
 * any other, the cells of some hundred rows are collected, nested ones as JSON.
 */
#include "columns/columns.h"
#include "render/render.h"

#define SLOW_ROWS  1024u
#define SLOW_BYTES (1u << 20) /* of texts, after which a run of cells ends */

hdx_outside hdx_outside_of(const hdx_column *column)
{
    switch (column->type) {
    case HDX_TYPE_UNSIGNED:
    case HDX_TYPE_SIGNED:
    case HDX_TYPE_ADDRESS: return HDX_OUTSIDE_NUMBER;
    case HDX_TYPE_REAL: return HDX_OUTSIDE_REAL;
    case HDX_TYPE_BOOL: return HDX_OUTSIDE_BOOL;
    default: return HDX_OUTSIDE_TEXT;
    }
}

hdx_code hdx_runs_open(hdx_rows *rows, hdx_runs *out, hdx_error *err)
{
    *out = (hdx_runs){ .rows = rows, .mem = hdx_rows_mem(rows) };
    out->columns = hdx_rows_columns(rows, &out->column_count);
    const uint64_t cells = (uint64_t)out->column_count * SLOW_ROWS;
    out->bytes = hdx_buffer_of(out->mem);
    out->vectors = hdx_mem_array(out->mem, out->column_count, sizeof *out->vectors);
    if (out->vectors == NULL)
        return hdx_no_memory(err, "columns", cells);
    if (hdx_rows_runs(rows))
        return HDX_OK;
    out->numbers = hdx_mem_array(out->mem, cells, sizeof *out->numbers);
    out->present = hdx_mem_array(out->mem, cells / 64, sizeof *out->present);
    out->texts = hdx_mem_array(out->mem, cells, sizeof *out->texts);
    return out->numbers != NULL && out->present != NULL && out->texts != NULL
               ? HDX_OK
               : hdx_no_memory(err, "columns", cells * sizeof *out->texts);
}

void hdx_runs_close(hdx_runs *r)
{
    const uint64_t cells = (uint64_t)r->column_count * SLOW_ROWS;
    hdx_buffer_free(&r->bytes);
    hdx_mem_put(r->mem, r->vectors, r->column_count * sizeof *r->vectors);
    hdx_mem_put(r->mem, r->numbers, cells * sizeof *r->numbers);
    hdx_mem_put(r->mem, r->present, cells / 64 * sizeof *r->present);
    hdx_mem_put(r->mem, r->texts, cells * sizeof *r->texts);
    *r = (hdx_runs){ 0 };
}

/* ---- cells ---- */

/* Records where the text of a cell is in `bytes`; that may move until the run is complete. */
static void put_text(hdx_runs *r, const hdx_column *column, const hdx_cell *cell, hdx_text *text, uint64_t *offset)
{
    *offset = r->bytes.len;
    if (cell->kind == HDX_CELL_TEXT && column->type == HDX_TYPE_TEXT)
        hdx_buffer_put(&r->bytes, cell->as.text.at, cell->as.text.len);
    else
        hdx_render_json_cell(&r->bytes, cell);
    if (r->bytes.len - *offset > UINT32_MAX)
        r->bytes.failed = true;
    text->len = (uint32_t)(r->bytes.len - *offset);
}

static bool put_cell(hdx_runs *r, unsigned column, uint32_t row, const hdx_cell *cell)
{
    const hdx_column *c = &r->columns[column];
    uint64_t         *number = &r->numbers[(size_t)column * SLOW_ROWS + row];
    const bool        plain = c->type != HDX_TYPE_LIST && c->type != HDX_TYPE_OBJECT && c->type != HDX_TYPE_ANY;
    *number = 0;
    if (cell->kind == HDX_CELL_NULL || (cell->kind == HDX_CELL_ABSENT && plain))
        return false;
    switch (hdx_outside_of(c)) {
    case HDX_OUTSIDE_TEXT: put_text(r, c, cell, &r->texts[(size_t)column * SLOW_ROWS + row], number); return true;
    case HDX_OUTSIDE_REAL: memcpy(number, &cell->as.real, sizeof *number); return cell->kind == HDX_CELL_REAL;
    case HDX_OUTSIDE_BOOL: *number = cell->as.boolean; return cell->kind == HDX_CELL_BOOL;
    default: break;
    }
    switch (cell->kind) {
    case HDX_CELL_UINT: *number = cell->as.natural; return true;
    case HDX_CELL_INT: *number = (uint64_t)cell->as.integer; return true;
    case HDX_CELL_ADDRESS: *number = cell->as.address; return true;
    default: return false;
    }
}

static void finish_column(hdx_runs *r, unsigned column)
{
    const size_t at = (size_t)column * SLOW_ROWS;
    r->vectors[column] = (hdx_vector){ .numbers = r->numbers + at, .present = r->present + at / 64 };
    if (hdx_outside_of(&r->columns[column]) != HDX_OUTSIDE_TEXT)
        return;
    for (uint32_t i = 0; i < r->count; i++)
        if (hdx_bits_test(r->present + at / 64, i))
            r->texts[at + i].at = r->texts[at + i].len == 0 ? "" : r->bytes.at + r->numbers[at + i];
    r->vectors[column].each = r->texts + at;
}

static hdx_code collect(hdx_runs *r, uint32_t most, hdx_error *err)
{
    const hdx_cell *cells;
    most = most < SLOW_ROWS ? most : SLOW_ROWS;
    hdx_buffer_clear(&r->bytes);
    memset(r->present, 0, (size_t)r->column_count * (SLOW_ROWS / 64) * sizeof *r->present);
    for (r->count = 0; r->count < most && r->bytes.len < SLOW_BYTES && hdx_rows_next(r->rows, &cells); r->count++)
        for (unsigned i = 0; i < r->column_count; i++)
            if (put_cell(r, i, r->count, &cells[i]))
                hdx_bits_put(r->present + (size_t)i * (SLOW_ROWS / 64), r->count);
    for (unsigned i = 0; i < r->column_count; i++)
        finish_column(r, i);
    if (r->bytes.failed)
        return hdx_no_memory(err, "texts of an answer", r->bytes.len);
    return r->count > 0 ? HDX_OK : hdx_rows_end(r->rows, err);
}

hdx_code hdx_runs_next(hdx_runs *r, uint32_t most, hdx_error *err)
{
    r->count = 0;
    return hdx_rows_runs(r->rows) ? hdx_rows_run(r->rows, most, r->vectors, &r->count, err) : collect(r, most, err);
}
