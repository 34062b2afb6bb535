/*
 * rendered.h - small tables of cells of any kind, and what they look like when they are written.
 *
 *     hdx_rows *rows = rows_of(cells, 2, COLUMNS);
 *     expect_text(rows, &options, "class  size\n...");        closes the rows
 */
#ifndef HDX_TESTS_RENDER_RENDERED_H
#define HDX_TESTS_RENDER_RENDERED_H

#include "render/out.h"
#include "rows/rows.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY(name, unit) HDX_COLUMN(name, ANY, unit, HDX_COLUMN_NULLABLE, "whatever a test puts here")
static const hdx_column columns[] = {
    ANY("class", NONE),
    ANY("size", BYTES),
    ANY("share", PERCENT),
    ANY("at", NONE),
    HDX_COLUMN("more", ANY, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE, "nested, and no column of a table"),
};
enum { COLUMNS = 5 };

/* ---- a sink that stores what is written ---- */

typedef struct kept {
    hdx_buffer text;
    uint64_t   refuse_after; /* bytes; 0: never */
} kept;

static inline bool keep(void *context, const char *bytes, size_t len)
{
    kept *k = context;
    hdx_buffer_put(&k->text, bytes, len);
    return k->refuse_after == 0 || k->text.len < k->refuse_after;
}

static inline hdx_rows *rows_of(const hdx_cell *cells, unsigned count, unsigned width)
{
    hdx_table *t;
    hdx_rows  *rows;
    cr_assert(eq(int, hdx_table_new(columns, width, &t, NULL), HDX_OK));
    for (unsigned i = 0; i < count; i++)
        cr_assert(eq(int, hdx_table_add(t, &cells[i * width], NULL), HDX_OK));
    cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
    return rows;
}

static inline void expect_text(hdx_rows *rows, const hdx_render_options *options, const char *should)
{
    kept      k = { .text = hdx_buffer_of(NULL) };
    hdx_sink  sink = { keep, &k };
    hdx_error err = { 0 };
    cr_assert(eq(int, hdx_render(rows, options, &sink, &err), HDX_OK), "%s", err.message);
    cr_expect(eq(str, k.text.at == NULL ? "" : k.text.at, (char *)should));
    hdx_buffer_free(&k.text);
    hdx_rows_close(rows);
}

static inline hdx_rows *sample(void)
{
    static hdx_member inner[2];
    static hdx_cell   list[3];
    inner[0] = (hdx_member){ "name", hdx_cell_string("x") };
    inner[1] = (hdx_member){ "value", { .kind = HDX_CELL_ABSENT } };
    list[0] = hdx_cell_uint(1);
    list[1] = hdx_cell_object(inner, 2);
    list[2] = hdx_cell_list(NULL, 0);
    hdx_cell cells[2 * COLUMNS] = { hdx_cell_string("com.acme.A"),
                                    hdx_cell_uint(1536),
                                    hdx_cell_real(12.5),
                                    hdx_cell_address(0x7F3A10),
                                    hdx_cell_list(list, 3),
                                    hdx_cell_string("a,\"b\"\n\\"),
                                    hdx_cell_int(-7),
                                    hdx_cell_null(),
                                    hdx_cell_bool(true),
                                    { .kind = HDX_CELL_ABSENT } };
    return rows_of(cells, 2, COLUMNS);
}

#endif
