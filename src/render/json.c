/*
 * json.c - cells as JSON text, and whole answers as one document or as one object per line.
 *
 * Output is always valid UTF-8: an unpaired surrogate is escaped (\udfff), any other invalid byte becomes \ufffd.
 * Control characters, including C1 and the line separators, are escaped, so that a document can be shown safely on a
 * terminal.
 */
#include "render/out.h"
#include "rows/rows.h"
#include "rows/walk.h"

#include <math.h>

/* 0: written unchanged; 'u': \u00xx; 'm': start of a multi-byte sequence; else the letter after the backslash. */
static char escape_of(uint8_t c)
{
    switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\n': return 'n';
    case '\t': return 't';
    case '\r': return 'r';
    case '\b': return 'b';
    case '\f': return 'f';
    default: return c < 0x20 || c == 0x7f ? 'u' : c >= 0x80 ? 'm' : 0;
    }
}

static void put_escape(hdx_out *out, uint32_t point)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = { '\\', 'u', hex[point >> 12 & 15], hex[point >> 8 & 15], hex[point >> 4 & 15], hex[point & 15] };
    hdx_out_bytes(out, text, sizeof text);
}

/* Characters that would move a terminal's cursor, start a line or change the direction of the text. */
static bool is_unsafe(uint32_t point)
{
    return (point >= 0x80 && point < 0xa0) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069);
}

void hdx_json_text(hdx_out *out, const char *at, size_t len)
{
    const uint8_t *p = (const uint8_t *)at;
    size_t         start = 0, i = 0;
    hdx_out_byte(out, '"');
    while (i < len) {
        char escape;
        if (p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\') {
            i++;
            continue;
        }
        escape = escape_of(p[i]);
        uint32_t point = p[i];
        unsigned n = escape == 'm' ? hdx_utf8(p + i, len - i, &point) : 1;
        if (n > 1 && !is_unsafe(point)) {
            i += n;
            continue;
        }
        hdx_out_bytes(out, at + start, i - start);
        if (n == 0)
            n = hdx_utf8_half(p + i, len - i, &point);
        if (n == 0)
            put_escape(out, 0xfffd);
        else if (n > 1 || escape == 'u')
            put_escape(out, point);
        else {
            hdx_out_byte(out, '\\');
            hdx_out_byte(out, escape);
        }
        i += n == 0 ? 1 : n;
        start = i;
    }
    hdx_out_bytes(out, at + start, len - start);
    hdx_out_byte(out, '"');
}

static void put_scalar(hdx_out *out, const hdx_cell *c)
{
    switch (c->kind) {
    case HDX_CELL_INT: hdx_out_int(out, c->as.integer); break;
    case HDX_CELL_UINT: hdx_out_uint(out, c->as.natural); break;
    case HDX_CELL_BOOL: hdx_out_string(out, c->as.boolean ? "true" : "false"); break;
    case HDX_CELL_TEXT: hdx_json_text(out, c->as.text.at, c->as.text.len); break;
    case HDX_CELL_ABSENT: hdx_out_string(out, "{\"absent\": true}"); break;
    case HDX_CELL_REAL:
        if (isfinite(c->as.real)) {
            hdx_out_real(out, c->as.real);
            break;
        }
        hdx_out_byte(out, '"'); /* NaN and infinities: JSON has no such numbers */
        hdx_out_real(out, c->as.real);
        hdx_out_byte(out, '"');
        break;
    case HDX_CELL_ADDRESS:
        hdx_out_byte(out, '"');
        hdx_out_address(out, c->as.address);
        hdx_out_byte(out, '"');
        break;
    default: hdx_out_string(out, "null");
    }
}

static void put_key(hdx_out *out, const char *key)
{
    hdx_json_text(out, key, strlen(key));
    hdx_out_bytes(out, ": ", 2);
}

void hdx_json_cell(hdx_out *out, const hdx_cell *cell)
{
    hdx_walk      walk;
    hdx_walk_at   at;
    hdx_walk_step step;
    if (cell->kind != HDX_CELL_LIST && cell->kind != HDX_CELL_OBJECT) {
        put_scalar(out, cell);
        return;
    }
    hdx_walk_begin(&walk, cell, 1);
    while ((step = hdx_walk_next(&walk, &at)) == HDX_WALK_CELL || step == HDX_WALK_IN || step == HDX_WALK_OUT) {
        if (step == HDX_WALK_OUT) {
            hdx_out_byte(out, at.cell->kind == HDX_CELL_LIST ? ']' : '}');
            continue;
        }
        if (!at.first)
            hdx_out_bytes(out, ", ", 2);
        if (at.key != NULL)
            put_key(out, at.key);
        if (step == HDX_WALK_CELL)
            put_scalar(out, at.cell);
        else
            hdx_out_byte(out, at.cell->kind == HDX_CELL_LIST ? '[' : '{');
    }
    hdx_walk_end(&walk);
    if (step == HDX_WALK_NO_MEMORY)
        out->no_memory = true;
}

static void put_row(hdx_out *out, const hdx_column *columns, unsigned count, const hdx_cell *row)
{
    hdx_out_byte(out, '{');
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            hdx_out_bytes(out, ", ", 2);
        put_key(out, columns[i].name);
        hdx_json_cell(out, &row[i]);
    }
    hdx_out_byte(out, '}');
}

/*
 * Writes a member of the document itself. The elements of a list are on lines of their own, so that long answers can
 * be read and compared line by line.
 */
static void put_top_member(hdx_out *out, const char *key, const hdx_cell *value)
{
    hdx_out_string(out, "  ");
    put_key(out, key);
    if (value->kind != HDX_CELL_LIST || value->as.list.count == 0) {
        hdx_json_cell(out, value);
        return;
    }
    for (uint64_t i = 0; i < value->as.list.count; i++) {
        hdx_out_string(out, i == 0 ? "[\n    " : ",\n    ");
        hdx_json_cell(out, &value->as.list.at[i]);
    }
    hdx_out_string(out, "\n  ]");
}

/* Writes what a page omits: "cut": {"rows": 237, "objects": 41204, "retained": null, "cursor": "25-1f2e3d4c"}. */
static void put_cut(hdx_out *out, const hdx_rows *rows)
{
    hdx_rows_cut cut;
    if (!hdx_rows_paged(rows))
        return;
    hdx_out_string(out, ",\n");
    if (!hdx_rows_cut_off(rows, &cut)) {
        put_top_member(out, "cut", &(hdx_cell){ .kind = HDX_CELL_NULL });
        return;
    }
    const hdx_member members[] = {
        { "rows", cut.rows > 0 ? hdx_cell_uint(cut.rows) : hdx_cell_null() },
        { "objects", cut.objects > 0 ? hdx_cell_uint(cut.objects) : hdx_cell_null() },
        { "retained", cut.retained > 0 ? hdx_cell_uint(cut.retained) : hdx_cell_null() },
        { "cursor", hdx_cell_string(cut.cursor) },
    };
    const hdx_cell object = hdx_cell_object(members, HDX_COUNT(members));
    put_top_member(out, "cut", &object);
}

hdx_code hdx_render_json(hdx_rows *rows, const hdx_cell *first, hdx_out *out, hdx_error *err)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    hdx_out_string(out, "{\n");
    const hdx_member *head;
    for (unsigned i = 0; (head = hdx_rows_head(rows, i))->key != NULL; i++) {
        put_top_member(out, head->key, &head->value);
        hdx_out_string(out, ",\n");
    }
    hdx_out_string(out, "  \"rows\": [");
    bool any = first != NULL, more = any;
    for (const hdx_cell *row = first; more && !out->failed; more = hdx_rows_next(rows, &row)) {
        hdx_out_string(out, first != NULL ? "\n    " : ",\n    ");
        put_row(out, columns, count, row);
        first = NULL;
    }
    hdx_code code = hdx_rows_end(rows, err);
    if (code != HDX_OK)
        return code;
    hdx_out_string(out, any ? "\n  ]" : "]");
    put_cut(out, rows);
    const hdx_member *extra;
    for (unsigned i = 0; (extra = hdx_rows_extra(rows, i))->key != NULL; i++) {
        hdx_out_string(out, ",\n");
        put_top_member(out, extra->key, &extra->value);
    }
    hdx_out_string(out, "\n}\n");
    return HDX_OK;
}

hdx_code hdx_render_jsonl(hdx_rows *rows, const hdx_cell *first, hdx_out *out, hdx_error *err)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    bool              more = first != NULL;
    for (const hdx_cell *row = first; more && !out->failed; more = hdx_rows_next(rows, &row)) {
        put_row(out, columns, count, row);
        hdx_out_byte(out, '\n');
    }
    return hdx_rows_end(rows, err);
}

static bool append(void *context, const char *bytes, size_t len)
{
    hdx_buffer_put(context, bytes, len);
    return true;
}

void hdx_render_json_cell(hdx_buffer *buffer, const hdx_cell *cell)
{
    char     room[512];
    hdx_sink sink = { append, buffer };
    hdx_out  out = { .sink = &sink, .at = room, .room = sizeof room };
    hdx_json_cell(&out, cell);
    hdx_out_flush(&out);
    if (out.no_memory)
        buffer->failed = true;
}
