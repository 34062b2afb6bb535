/*
 * value.c - cells of rows as results of SQLite.
 */
#include "render/render.h"
#include "sql/sql.h"

#include <limits.h>

static void result_text(sqlite3_context *context, hdx_text text)
{
    if (text.len > INT_MAX)
        sqlite3_result_error_toobig(context);
    else
        sqlite3_result_text(context, text.at, (int)text.len, SQLITE_TRANSIENT);
}

static void result_json(sqlite3_context *context, const hdx_cell *cell)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    hdx_render_json_cell(&text, cell);
    if (text.failed)
        sqlite3_result_error_nomem(context);
    else
        result_text(context, (hdx_text){ text.at, (uint32_t)text.len });
    hdx_buffer_free(&text);
}

void hdx_sql_result(sqlite3_context *context, const hdx_cell *cell)
{
    switch (cell->kind) {
    case HDX_CELL_NULL:
    case HDX_CELL_ABSENT: sqlite3_result_null(context); break;
    case HDX_CELL_INT: sqlite3_result_int64(context, cell->as.integer); break;
    case HDX_CELL_UINT: sqlite3_result_int64(context, (sqlite3_int64)cell->as.natural); break;
    case HDX_CELL_REAL: sqlite3_result_double(context, cell->as.real); break;
    case HDX_CELL_BOOL: sqlite3_result_int(context, cell->as.boolean); break;
    case HDX_CELL_ADDRESS: sqlite3_result_int64(context, (sqlite3_int64)cell->as.address); break;
    case HDX_CELL_TEXT: result_text(context, cell->as.text); break;
    default: result_json(context, cell);
    }
}
