/*
 * table.c - rows as columns for people.
 *
 *   class                        objects   shallow
 *   java.lang.String                1204   28.2 KB
 *   com.acme.…nternal.Cache$Entry    310    9.7 KB
 *
 * The first 1000 rows are kept as text and decide the widths; later rows are written as they come and keep to those.
 * Where the terminal is narrower than the table, texts are cut in the middle (a class name says most at its end, its
 * package at its start), the widest column first; numbers are never cut. Bytes that could drive a terminal are shown as
 * \xNN, so no name in a dump can do more than be read.
 */
#include "render/out.h"

#include <math.h>
#include <stdio.h>

#define SAMPLE 1000u
/* Columns of a text, also where no terminal cuts: labels run to a thousand characters, csv and json have them whole. */
#define LONGEST 160u
#define LEAST   6u    /* a text column is not cut below this */
#define MOST    4096u /* nor shown wider than this without a terminal to ask */
#define GAP     2u

typedef struct shown { /* a cell as it will be seen */
    const char *at;
    uint32_t    len, width; /* bytes, columns */
} shown;

typedef struct layout {
    const hdx_render_options *options;
    const hdx_column         *columns; /* of the rows */
    unsigned                 *from;    /* shown column -> column of the rows */
    unsigned                 *width;
    unsigned                  count;
    hdx_out                  *out;
} layout;

/* ---- one cell as text ---- */

/* Characters that act on a terminal, or turn the text around, instead of being seen. */
static bool steers(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069) || point == 0x200e || point == 0x200f;
}

static uint32_t put_visible(hdx_buffer *to, const char *at, size_t len)
{
    const uint8_t *p = (const uint8_t *)at;
    uint32_t       width = 0;
    bool           cut = len > MOST;
    for (len = cut ? MOST : len; cut && len > MOST - 3 && (p[len] & 0xc0) == 0x80;)
        len--;
    for (size_t i = 0; i < len;) {
        uint32_t point = 0;
        unsigned n = hdx_utf8(p + i, len - i, &point);
        if (n > 0 && !steers(point)) {
            hdx_buffer_put(to, p + i, n);
            i += n;
            width++;
            continue;
        }
        for (unsigned end = n == 0 ? 1 : n, k = 0; k < end; k++, i++, width += 4) {
            char escaped[4] = { '\\', 'x', "0123456789abcdef"[p[i] >> 4], "0123456789abcdef"[p[i] & 15] };
            hdx_buffer_put(to, escaped, 4);
        }
    }
    if (cut)
        hdx_buffer_text(to, "…");
    return width + cut;
}

static void put_number(hdx_buffer *to, double value, hdx_unit unit, bool human)
{
    char text[32];
    if (unit == HDX_UNIT_PERCENT && isfinite(value)) {
        hdx_buffer_format(to, value > 0 && value < 0.05 ? "<0.1%%" : "%.1f%%", value);
        return;
    }
    if (unit == HDX_UNIT_BYTES && human && value >= 0 && value < 18446744073709551616.0) {
        hdx_human_size((uint64_t)value, text);
        hdx_buffer_text(to, text);
        return;
    }
    hdx_buffer_format(to, "%.6g", value);
}

/* Appends a cell; returns its width in columns. */
static uint32_t put_shown(hdx_buffer *to, const hdx_cell *c, hdx_unit unit, bool human)
{
    uint64_t   start = to->len;
    char       text[32];
    hdx_buffer json = hdx_buffer_of(NULL);
    uint32_t   width;
    bool       sized = unit == HDX_UNIT_BYTES && human;
    switch (c->kind) {
    case HDX_CELL_TEXT: return put_visible(to, c->as.text.at, c->as.text.len);
    case HDX_CELL_NULL: hdx_buffer_text(to, "-"); break;
    case HDX_CELL_ABSENT: hdx_buffer_text(to, "absent"); break;
    case HDX_CELL_BOOL: hdx_buffer_text(to, c->as.boolean ? "true" : "false"); break;
    case HDX_CELL_ADDRESS: hdx_buffer_format(to, "0x%llx", (unsigned long long)c->as.address); break;
    case HDX_CELL_REAL: put_number(to, c->as.real, unit, human); break;
    case HDX_CELL_INT:
        if (sized) { /* a difference has a sign and a size */
            hdx_human_size(c->as.integer < 0 ? 0 - (uint64_t)c->as.integer : (uint64_t)c->as.integer, text);
            hdx_buffer_format(to, "%s%s", c->as.integer < 0 ? "-" : "", text);
        } else if (unit == HDX_UNIT_PERCENT)
            put_number(to, (double)c->as.integer, unit, human);
        else
            hdx_buffer_format(to, "%lld", (long long)c->as.integer);
        break;
    case HDX_CELL_UINT:
        if (sized) {
            hdx_human_size(c->as.natural, text);
            hdx_buffer_text(to, text);
        } else if (unit == HDX_UNIT_PERCENT)
            put_number(to, (double)c->as.natural, unit, human);
        else
            hdx_buffer_format(to, "%llu", (unsigned long long)c->as.natural);
        break;
    default:
        hdx_render_json_cell(&json, c);
        to->failed = to->failed || json.failed;
        width = put_visible(to, json.at == NULL ? "" : json.at, json.len);
        hdx_buffer_free(&json);
        return width;
    }
    return (uint32_t)(to->len - start);
}

/* ---- one line ---- */

static void put_spaces(hdx_out *out, unsigned n)
{
    for (; n > 0; n--)
        hdx_out_byte(out, ' ');
}

/* The first or last `width` columns of a text: how many bytes. Texts here are valid UTF-8. */
static size_t bytes_of_columns(const char *at, size_t len, unsigned width, bool from_end)
{
    size_t i = from_end ? len : 0;
    for (; width > 0; width--) {
        if (from_end)
            do
                i--;
            while (i > 0 && ((uint8_t)at[i] & 0xc0) == 0x80);
        else
            do
                i++;
            while (i < len && ((uint8_t)at[i] & 0xc0) == 0x80);
    }
    return from_end ? len - i : i;
}

static bool right_aligned(const layout *l, unsigned column)
{
    return l->columns[l->from[column]].unit != HDX_UNIT_NONE;
}

static void put_aligned(const layout *l, unsigned column, shown s)
{
    unsigned width = l->width[column];
    if (column > 0)
        put_spaces(l->out, GAP);
    if (s.width > width && (l->options->width != 0 || width == LONGEST) && !right_aligned(l, column)) {
        unsigned head = (width - 1) / 2, tail = width - 1 - head;
        size_t   end = bytes_of_columns(s.at, s.len, tail, true);
        hdx_out_bytes(l->out, s.at, bytes_of_columns(s.at, s.len, head, false));
        hdx_out_string(l->out, "…");
        hdx_out_bytes(l->out, s.at + s.len - end, end);
        return;
    }
    unsigned pad = s.width < width ? width - s.width : 0;
    if (right_aligned(l, column))
        put_spaces(l->out, pad);
    hdx_out_bytes(l->out, s.at, s.len);
    if (!right_aligned(l, column) && column + 1 < l->count)
        put_spaces(l->out, pad);
}

static void put_header(const layout *l)
{
    if (l->options->color)
        hdx_out_string(l->out, "\x1b[1m");
    for (unsigned i = 0; i < l->count; i++) {
        const char *name = l->columns[l->from[i]].name;
        put_aligned(l, i, (shown){ name, (uint32_t)strlen(name), (uint32_t)strlen(name) });
    }
    hdx_out_string(l->out, l->options->color ? "\x1b[0m\n" : "\n");
}

static void put_line(const layout *l, const shown *cells)
{
    for (unsigned i = 0; i < l->count; i++)
        put_aligned(l, i, cells[i]);
    hdx_out_byte(l->out, '\n');
}

/* ---- widths ---- */

static void fit(const layout *l)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < l->count; i++)
        total += l->width[i] + (i > 0 ? GAP : 0);
    while (l->options->width != 0 && total > l->options->width) {
        unsigned widest = l->count;
        for (unsigned i = 0; i < l->count; i++)
            if (!right_aligned(l, i) && l->width[i] > LEAST && (widest == l->count || l->width[i] > l->width[widest]))
                widest = i;
        if (widest == l->count)
            return; /* nothing left to cut: the terminal wraps */
        l->width[widest]--;
        total--;
    }
}

/* Texts of one row, one after the other in `text`; cells get their places when the text no longer moves. */
static void show_row(const layout *l, const hdx_cell *row, hdx_buffer *text, shown *cells)
{
    for (unsigned i = 0; i < l->count; i++) {
        const hdx_column *column = &l->columns[l->from[i]];
        uint64_t          start = text->len;
        cells[i].width = put_shown(text, &row[l->from[i]], column->unit, l->options->human_sizes);
        cells[i].len = (uint32_t)(text->len - start);
    }
}

static void place_row(const layout *l, const char **at, shown *cells)
{
    for (unsigned i = 0; i < l->count; i++) {
        cells[i].at = *at == NULL ? "" : *at;
        *at = *at == NULL ? NULL : *at + cells[i].len;
    }
}

static void put_cut_off(hdx_rows *rows, hdx_out *out)
{
    uint64_t more;
    if (!hdx_rows_cut_off(rows, &more))
        return;
    hdx_out_string(out, "… ");
    if (more > 0) {
        hdx_out_uint(out, more);
        hdx_out_byte(out, ' ');
    }
    hdx_out_string(out, more == 1 ? "more row\n" : "more rows\n");
}

static void put_nothing(hdx_rows *rows, hdx_out *out)
{
    const char *why = hdx_rows_nothing(rows);
    hdx_out_byte(out, '(');
    hdx_out_string(out, why != NULL ? why : "no rows");
    hdx_out_string(out, ")\n");
}

static hdx_code put_rows(layout *l, hdx_rows *rows, const hdx_cell *first, shown *cells, hdx_buffer *text,
                         hdx_error *err)
{
    bool     more = first != NULL;
    uint64_t kept = 0;
    for (unsigned i = 0; i < l->count; i++)
        l->width[i] = (unsigned)strlen(l->columns[l->from[i]].name);
    const hdx_cell *row = first;
    while (more && kept < SAMPLE) {
        shown *line = cells + kept++ * l->count;
        show_row(l, row, text, line);
        for (unsigned i = 0; i < l->count; i++)
            if (line[i].width > l->width[i])
                l->width[i] = line[i].width > LONGEST && !right_aligned(l, i) ? LONGEST : line[i].width;
        more = hdx_rows_next(rows, &row);
    }
    hdx_code code = more ? HDX_OK : hdx_rows_end(rows, err);
    if (code != HDX_OK)
        return code;
    fit(l);
    put_header(l);
    const char *at = text->at;
    for (uint64_t i = 0; i < kept; i++) {
        place_row(l, &at, cells + i * l->count);
        put_line(l, cells + i * l->count);
    }
    for (; more && !text->failed && !l->out->failed; more = hdx_rows_next(rows, &row)) {
        hdx_buffer_clear(text);
        show_row(l, row, text, cells);
        at = text->at;
        place_row(l, &at, cells);
        put_line(l, cells);
    }
    if ((code = hdx_rows_end(rows, err)) != HDX_OK)
        return code;
    return text->failed ? hdx_no_memory(err, "a table", text->len) : HDX_OK;
}

hdx_code hdx_render_table(hdx_rows *rows, const hdx_cell *first, const hdx_render_options *options, hdx_out *out,
                          hdx_error *err)
{
    unsigned   all;
    layout     l = { .options = options, .columns = hdx_rows_columns(rows, &all), .out = out };
    hdx_arena  arena = hdx_arena_of(NULL);
    hdx_buffer text = hdx_buffer_of(NULL);
    shown     *cells;
    hdx_code   code = HDX_OK;
    l.from = hdx_arena_get(&arena, all * sizeof *l.from);
    l.width = hdx_arena_get(&arena, all * sizeof *l.width);
    for (unsigned i = 0; l.from != NULL && i < all; i++)
        if ((l.columns[i].flags & HDX_COLUMN_WIDE) == 0)
            l.from[l.count++] = i;
    cells = hdx_arena_get(&arena, (uint64_t)SAMPLE * l.count * sizeof *cells);
    if (l.from == NULL || l.width == NULL || cells == NULL) {
        code = hdx_no_memory(err, "a table", (uint64_t)SAMPLE * l.count * sizeof *cells);
        goto done;
    }
    if (hdx_rows_title(rows) != NULL && put_visible(&text, hdx_rows_title(rows), strlen(hdx_rows_title(rows))) > 0 &&
        !text.failed) {
        hdx_out_bytes(out, text.at, text.len);
        hdx_out_string(out, "\n\n");
        hdx_buffer_clear(&text);
    }
    if ((code = put_rows(&l, rows, first, cells, &text, err)) == HDX_OK) {
        if (first == NULL)
            put_nothing(rows, out);
        put_cut_off(rows, out);
    }
done:
    hdx_buffer_free(&text);
    hdx_arena_free(&arena);
    return code;
}
