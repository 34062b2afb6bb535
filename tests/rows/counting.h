/*
 * counting.h - rows of a streaming maker over numbers, whose texts end with each row.
 *
 *     counting  c = { .count = 3 };      the numbers 0, 1 and 2; fail_at: the number at which the maker fails
 *     hdx_rows *rows = make(&c);
 */
#ifndef HDX_TESTS_ROWS_COUNTING_H
#define HDX_TESTS_ROWS_COUNTING_H

#include "rows/cursor.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#define ANY(name, unit) HDX_COLUMN(name, ANY, unit, HDX_COLUMN_NULLABLE, "whatever a test puts here")
static const hdx_column columns[] = { ANY("name", NONE), ANY("size", BYTES), ANY("percent", PERCENT), ANY("at", NONE) };
enum { COLUMNS = 4 };

typedef struct counting {
    uint64_t        at, count, fail_at;
    char            text[32];
    unsigned        closed;
    const hdx_cell *cells; /* when set: these instead */
} counting;

static inline hdx_code counting_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
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

static inline void counting_close(void *state) { ((counting *)state)->closed++; }

static inline hdx_rows *make(counting *c)
{
    hdx_rows_maker maker = { columns, COLUMNS, c, counting_next, counting_close, 0 };
    hdx_rows      *rows;
    if (c->fail_at == 0)
        c->fail_at = UINT64_MAX;
    cr_assert(eq(int, hdx_rows_make(&maker, &rows, NULL), HDX_OK));
    return rows;
}

#endif
