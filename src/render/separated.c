/*
 * separated.c - csv (RFC 4180, lines end in \n) and tsv (\t, \n, \r and \\ escaped).
 *
 * Control characters are replaced, so that a text from a dump cannot control the terminal that shows it. tsv writes
 * them as \xHH (U+0000..001F, 007F, 0080..009F). csv has no escapes: U+0000..001F and 007F become their pictures
 * (U+2400..241F, 2421), U+0080..009F becomes U+FFFD, and tabs and line ends are kept in quotes.
 *
 * A text that a spreadsheet would evaluate as a formula gets a ' before it: its first character, after blanks, control
 * characters and characters without a width, is = + - or @ or a full-width form of these. With `raw`, csv writes texts
 * unchanged; tsv still escapes control characters, because a tab or line end would break its rows.
 *
 * Null is empty. In csv an empty text is "", to distinguish it from null; a null that would make a whole line empty is
 * also "", because readers skip empty lines. Texts are written as valid UTF-8: an unpaired surrogate, and any other
 * invalid byte, becomes U+FFFD. Nested cells are JSON text.
 */
#include "render/out.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static bool plain(uint8_t c, bool tsv) { return c >= 0x20 && c < 0x7f && (tsv ? c != '\\' : c != '"' && c != ','); }

static bool is_control(uint32_t point) { return point < 0x20 || (point >= 0x7f && point < 0xa0); }

/* A control character, or the backslash. */
static void put_tsv_escape(hdx_out *out, uint32_t c)
{
    const char escape = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c == '\\' ? '\\' : 'x';
    hdx_out_byte(out, '\\');
    hdx_out_byte(out, escape);
    if (escape == 'x') {
        hdx_out_byte(out, "0123456789abcdef"[c >> 4]);
        hdx_out_byte(out, "0123456789abcdef"[c & 15]);
    }
}

static void put_csv_control(hdx_out *out, uint32_t c)
{
    if (c == '\n' || c == '\r' || c == '\t') {
        hdx_out_byte(out, (char)c);
    } else if (c < 0x80) {
        const char picture[3] = { '\xe2', '\x90', (char)(0x80 + (c == 0x7f ? 0x21 : c)) };
        hdx_out_bytes(out, picture, 3);
    } else {
        hdx_out_bytes(out, replacement, 3);
    }
}

/* Writes a text from its first byte that is not plain to its end. */
static void put_rest(hdx_out *out, const uint8_t *p, size_t len, bool tsv, bool raw)
{
    for (size_t i = 0; i < len;) {
        uint32_t point;
        unsigned n = hdx_utf8(p + i, len - i, &point), half = n == 0 ? hdx_utf8_half(p + i, len - i, &point) : 0;
        if (n == 0)
            hdx_out_bytes(out, replacement, 3);
        else if (tsv && (is_control(point) || point == '\\'))
            put_tsv_escape(out, point);
        else if (is_control(point) && !raw)
            put_csv_control(out, point);
        else if (n > 1 || plain(p[i], tsv) || is_control(point))
            hdx_out_bytes(out, p + i, n);
        else {
            if (p[i] == '"')
                hdx_out_byte(out, '"');
            hdx_out_byte(out, (char)p[i]);
        }
        i += n > 0 ? n : half > 0 ? half : 1;
    }
}

/* Sets the high bit of each byte of the word that equals `c`; bytes above such a byte may be set too. */
static uint64_t equal_bytes(uint64_t word, uint8_t c)
{
    uint64_t v = word ^ (c * 0x0101010101010101ull);
    return (v - 0x0101010101010101ull) & ~v;
}

/*
 * Counts the plain bytes at the start, eight at a time, because nearly every text is plain to its end.
 */
static size_t plain_start(const uint8_t *p, size_t len, bool tsv)
{
    size_t i = 0;
    for (; len - i >= 8; i += 8) {
        uint64_t word = hdx_le64(p + i);
        uint64_t other = word | (word - 0x2020202020202020ull) | equal_bytes(word, 0x7f) |
                         equal_bytes(word, tsv ? '\\' : '"') | equal_bytes(word, tsv ? '\\' : ',');
        if ((other & 0x8080808080808080ull) != 0)
            break;
    }
    while (i < len && plain(p[i], tsv))
        i++;
    return i;
}

/* Characters that spreadsheets may ignore at the start of a cell before they recognize a formula. */
static bool is_skipped(uint32_t point)
{
    return point <= 0x20 || (point >= 0x7f && point <= 0xa0) || (point >= 0x2000 && point <= 0x200f) ||
           (point >= 0x2028 && point <= 0x202f) || point == 0x2060 || point == 0x3000 || point == 0xfeff;
}

static bool is_formula(const uint8_t *p, size_t len)
{
    uint32_t point = 0;
    for (size_t i = 0; i < len;) {
        const unsigned n = hdx_utf8(p + i, len - i, &point);
        if (n == 0)
            return false;
        if (!is_skipped(point))
            return point == '=' || point == '+' || point == '-' || point == '@' || point == 0xff1d || point == 0xff0b ||
                   point == 0xff0d || point == 0xff20;
        i += n;
    }
    return false;
}

/* A quick test of the first byte, which excludes nearly every text. */
static bool may_begin_formula(uint8_t c) { return c <= '-' || c == '=' || c == '@' || c >= 0x7f; }

static void put_text(hdx_out *out, const char *at, size_t len, bool tsv, bool raw)
{
    const uint8_t *p = (const uint8_t *)at;
    size_t         clean = plain_start(p, len, tsv);
    bool quoted = len == 0 && !tsv, formula = !raw && len > 0 && may_begin_formula(p[0]) && is_formula(p, len);
    if (clean == len && !quoted && !formula) {
        hdx_out_bytes(out, at, len);
        return;
    }
    for (size_t i = clean; i < len && !tsv && !quoted; i++)
        quoted = p[i] == '"' || p[i] == ',' || p[i] == '\n' || p[i] == '\r';
    if (quoted)
        hdx_out_byte(out, '"');
    if (formula)
        hdx_out_byte(out, '\'');
    hdx_out_bytes(out, p == NULL ? (const uint8_t *)"" : p, clean);
    put_rest(out, p + clean, len - clean, tsv, raw);
    if (quoted)
        hdx_out_byte(out, '"');
}

static void put_cell(hdx_out *out, const hdx_cell *c, bool tsv, bool raw, hdx_buffer *nested)
{
    switch (c->kind) {
    case HDX_CELL_NULL: break;
    case HDX_CELL_INT: hdx_out_int(out, c->as.integer); break;
    case HDX_CELL_UINT: hdx_out_uint(out, c->as.natural); break;
    case HDX_CELL_REAL: hdx_out_real(out, c->as.real); break;
    case HDX_CELL_BOOL: hdx_out_string(out, c->as.boolean ? "true" : "false"); break;
    case HDX_CELL_TEXT: put_text(out, c->as.text.at, c->as.text.len, tsv, raw); break;
    case HDX_CELL_ADDRESS: hdx_out_address(out, c->as.address); break;
    default:
        hdx_buffer_clear(nested);
        hdx_render_json_cell(nested, c);
        out->no_memory = out->no_memory || nested->failed;
        put_text(out, nested->at, nested->len, tsv, true);
    }
}

hdx_code hdx_render_separated(hdx_rows *rows, const hdx_cell *first, bool tsv, bool raw, hdx_out *out, hdx_error *err)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    hdx_buffer        nested = hdx_buffer_of(NULL);
    char              separator = tsv ? '\t' : ',';
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            hdx_out_byte(out, separator);
        put_text(out, columns[i].name, strlen(columns[i].name), tsv, true);
    }
    hdx_out_byte(out, '\n');
    bool more = first != NULL;
    for (const hdx_cell *row = first; more && !out->failed; more = hdx_rows_next(rows, &row)) {
        for (unsigned i = 0; i < count; i++) {
            if (i > 0)
                hdx_out_byte(out, separator);
            put_cell(out, &row[i], tsv, raw, &nested);
        }
        if (count == 1 && row[0].kind == HDX_CELL_NULL && !tsv)
            hdx_out_bytes(out, "\"\"", 2);
        hdx_out_byte(out, '\n');
    }
    hdx_buffer_free(&nested);
    return hdx_rows_end(rows, err);
}
