/*
 * separated.c - csv (RFC 4180, lines end in \n) and tsv (\t, \n, \r and \\ escaped).
 *
 * Null is empty. In csv an empty text is "", so that the two can be told apart, and so is a null that would make a whole line empty,
 * because readers skip such lines. Texts are made valid UTF-8: a byte that is none becomes U+FFFD. Nested cells are JSON text.
 */
#include "render/out.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static bool plain(uint8_t c, bool tsv)
{
    return c < 0x80 && c != '\n' && c != '\r' && (tsv ? c != '\t' && c != '\\' : c != '"' && c != ',');
}

static void put_tsv_byte(hdx_out *out, uint8_t c)
{
    hdx_out_byte(out, '\\');
    hdx_out_byte(out, c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : '\\');
}

/* The part of a text from its first byte on that is not plain. */
static void put_rest(hdx_out *out, const uint8_t *p, size_t len, bool tsv)
{
    for (size_t i = 0; i < len;) {
        uint32_t point;
        unsigned n = hdx_utf8(p + i, len - i, &point);
        if (n == 0)
            hdx_out_bytes(out, replacement, 3);
        else if (n > 1 || plain(p[i], tsv))
            hdx_out_bytes(out, p + i, n);
        else if (tsv)
            put_tsv_byte(out, p[i]);
        else {
            if (p[i] == '"')
                hdx_out_byte(out, '"');
            hdx_out_byte(out, (char)p[i]);
        }
        i += n == 0 ? 1 : n;
    }
}

/* Bytes of a word that equal `c`: a high bit in each such byte, and perhaps in bytes above one. */
static uint64_t equal_bytes(uint64_t word, uint8_t c)
{
    uint64_t v = word ^ (c * 0x0101010101010101ull);
    return (v - 0x0101010101010101ull) & ~v;
}

/* How many plain bytes there are before the first other one; eight at a time, because nearly every text is plain to its end. */
static size_t plain_start(const uint8_t *p, size_t len, bool tsv)
{
    size_t i = 0;
    for (; len - i >= 8; i += 8) {
        uint64_t word = hdx_le64(p + i);
        uint64_t other = word | equal_bytes(word, '\n') | equal_bytes(word, '\r') | equal_bytes(word, tsv ? '\t' : '"') | equal_bytes(word, tsv ? '\\' : ',');
        if ((other & 0x8080808080808080ull) != 0)
            break;
    }
    while (i < len && plain(p[i], tsv))
        i++;
    return i;
}

static void put_text(hdx_out *out, const char *at, size_t len, bool tsv)
{
    const uint8_t *p = (const uint8_t *)at;
    size_t         clean = plain_start(p, len, tsv);
    bool           quoted = len == 0 && !tsv;
    if (clean == len && !quoted) {
        hdx_out_bytes(out, at, len);
        return;
    }
    for (size_t i = clean; i < len && !tsv && !quoted; i++)
        quoted = p[i] < 0x80 && !plain(p[i], tsv);
    if (quoted)
        hdx_out_byte(out, '"');
    hdx_out_bytes(out, p == NULL ? (const uint8_t *)"" : p, clean);
    put_rest(out, p + clean, len - clean, tsv);
    if (quoted)
        hdx_out_byte(out, '"');
}

static void put_cell(hdx_out *out, const hdx_cell *c, bool tsv, hdx_buffer *nested)
{
    switch (c->kind) {
    case HDX_CELL_NULL: break;
    case HDX_CELL_INT: hdx_out_int(out, c->as.integer); break;
    case HDX_CELL_UINT: hdx_out_uint(out, c->as.natural); break;
    case HDX_CELL_REAL: hdx_out_real(out, c->as.real); break;
    case HDX_CELL_BOOL: hdx_out_string(out, c->as.boolean ? "true" : "false"); break;
    case HDX_CELL_TEXT: put_text(out, c->as.text.at, c->as.text.len, tsv); break;
    case HDX_CELL_ADDRESS: hdx_out_address(out, c->as.address); break;
    default:
        hdx_buffer_clear(nested);
        hdx_render_json_cell(nested, c);
        out->no_memory = out->no_memory || nested->failed;
        put_text(out, nested->at, nested->len, tsv);
    }
}

hdx_code hdx_render_separated(hdx_rows *rows, const hdx_cell *first, bool tsv, hdx_out *out, hdx_error *err)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    hdx_buffer        nested = hdx_buffer_of(NULL);
    char              separator = tsv ? '\t' : ',';
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            hdx_out_byte(out, separator);
        put_text(out, columns[i].name, strlen(columns[i].name), tsv);
    }
    hdx_out_byte(out, '\n');
    bool more = first != NULL;
    for (const hdx_cell *row = first; more && !out->failed; more = hdx_rows_next(rows, &row)) {
        for (unsigned i = 0; i < count; i++) {
            if (i > 0)
                hdx_out_byte(out, separator);
            put_cell(out, &row[i], tsv, &nested);
        }
        if (count == 1 && row[0].kind == HDX_CELL_NULL && !tsv)
            hdx_out_bytes(out, "\"\"", 2);
        hdx_out_byte(out, '\n');
    }
    hdx_buffer_free(&nested);
    return hdx_rows_end(rows, err);
}
