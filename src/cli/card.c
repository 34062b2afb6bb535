/*
 * card.c - rows that hold lists (the fields of an object, the frames of a thread) as pages of lines, because a table
 * leaves them out.
 *
 *     address    0x7f3a10
 *     class      com.acme.Cache
 *     fields
 *       map      0x7f3b00     ref     com.acme.Cache
 *
 * A list of objects becomes lines of their values in columns; what is nested deeper is written as JSON. No recursion:
 * depth is two.
 */
#include "cli/cli.h"

enum { MOST_COLUMNS = 16, WIDEST = 40 };

void cli_put_value(hdx_buffer *out, const hdx_cell *cell, hdx_unit unit, const hdx_render_options *options)
{
    if (cell->kind == HDX_CELL_ABSENT)
        hdx_buffer_text(out, "(not in the dump)");
    else
        (void)hdx_render_cell(out, cell, unit, options);
}

/* The cells of one item of a list, each as text with a NUL after it. */
static unsigned item_texts(hdx_buffer *out, const hdx_cell *item, const hdx_render_options *options)
{
    if (item->kind != HDX_CELL_OBJECT) {
        cli_put_value(out, item, HDX_UNIT_NONE, options);
        hdx_buffer_put(out, "", 1);
        return 1;
    }
    unsigned n = 0;
    for (uint64_t i = 0; i < item->as.object.count && n < MOST_COLUMNS; i++, n++) {
        cli_put_value(out, &item->as.object.at[i].value, HDX_UNIT_NONE, options);
        hdx_buffer_put(out, "", 1);
    }
    return n;
}

static bool put_list(const hdx_cell *list, const hdx_render_options *options, const hdx_sink *sink, hdx_buffer *line,
                     hdx_buffer *texts)
{
    size_t widths[MOST_COLUMNS] = { 0 };
    for (uint64_t i = 0; i < list->as.list.count; i++) {
        hdx_buffer_clear(texts);
        unsigned n = item_texts(texts, &list->as.list.at[i], options);
        uint64_t at = 0;
        for (unsigned c = 0; c < n && !texts->failed; c++) {
            size_t len = strlen(texts->at + at), wide = hdx_render_columns(texts->at + at, len);
            if (wide > widths[c] && wide <= WIDEST)
                widths[c] = wide;
            at += len + 1;
        }
    }
    for (uint64_t i = 0; i < list->as.list.count; i++) {
        hdx_buffer_clear(texts);
        hdx_buffer_clear(line);
        unsigned n = item_texts(texts, &list->as.list.at[i], options);
        uint64_t at = 0;
        hdx_buffer_text(line, "    ");
        for (unsigned c = 0; c < n && !texts->failed; c++) {
            size_t len = strlen(texts->at + at), wide = hdx_render_columns(texts->at + at, len);
            hdx_buffer_put(line, texts->at + at, len);
            if (c + 1 < n)
                hdx_buffer_format(line, "%*s", (int)(wide < widths[c] ? widths[c] - wide + 2 : 2), "");
            at += len + 1;
        }
        hdx_buffer_text(line, "\n");
        if (line->failed || texts->failed || !sink->write(sink->context, line->at, (size_t)line->len))
            return false;
    }
    return true;
}

static bool put_row(const hdx_column *columns, unsigned count, const hdx_cell *cells, const hdx_render_options *options,
                    const hdx_sink *sink, hdx_buffer *line, hdx_buffer *texts)
{
    size_t widest = 0;
    for (unsigned i = 0; i < count; i++)
        widest = strlen(columns[i].name) > widest ? strlen(columns[i].name) : widest;
    for (unsigned i = 0; i < count; i++) {
        bool list = cells[i].kind == HDX_CELL_LIST && cells[i].as.list.count > 0;
        if (cells[i].kind == HDX_CELL_NULL || (cells[i].kind == HDX_CELL_LIST && !list))
            continue;                                     /* an instance has no elements, an array no fields */
        bool plain = list && cells[i].as.list.count <= 8; /* a short list of plain values fits after its name */
        for (uint64_t k = 0; plain && k < cells[i].as.list.count; k++)
            plain = cells[i].as.list.at[k].kind != HDX_CELL_OBJECT && cells[i].as.list.at[k].kind != HDX_CELL_LIST;
        hdx_buffer_clear(line);
        hdx_buffer_format(line, "%-*s", (int)(list && !plain ? 0 : widest + 2), columns[i].name);
        for (uint64_t k = 0; plain && k < cells[i].as.list.count; k++) {
            hdx_buffer_text(line, k > 0 ? ", " : "");
            cli_put_value(line, &cells[i].as.list.at[k], HDX_UNIT_NONE, options);
        }
        if (!list)
            cli_put_value(line, &cells[i], columns[i].unit, options);
        hdx_buffer_text(line, "\n");
        if (line->failed || !sink->write(sink->context, line->at, (size_t)line->len))
            return false;
        if (list && !plain && !put_list(&cells[i], options, sink, line, texts))
            return false;
    }
    return true;
}

hdx_code cli_cards(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    const hdx_cell   *cells;
    hdx_buffer        line = hdx_buffer_of(NULL), texts = hdx_buffer_of(NULL);
    bool              good = true;
    uint64_t          n = 0;
    for (; good && hdx_rows_next(rows, &cells); n++) {
        if (n > 0)
            good = sink->write(sink->context, "\n", 1);
        if (good)
            good = put_row(columns, count, cells, options, sink, &line, &texts);
    }
    hdx_code code = good ? hdx_rows_end(rows, err) : HDX_OK;
    if (good && code == HDX_OK && n == 0) { /* as of a table */
        const char *why = hdx_rows_nothing(rows);
        hdx_buffer_clear(&line);
        hdx_buffer_format(&line, "(%s)\n", why != NULL ? why : "no rows");
        good = !line.failed && sink->write(sink->context, line.at, (size_t)line.len);
    }
    bool memory = line.failed || texts.failed;
    hdx_buffer_free(&line);
    hdx_buffer_free(&texts);
    if (memory)
        return hdx_no_memory(err, "a page of lines", 0);
    return good ? code : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}
