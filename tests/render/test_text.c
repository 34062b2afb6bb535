/*
 * test_text.c - texts, numbers and what is written in pieces, against plain versions that go byte by byte: every byte
 * at every place, every number of digits, every size of the room.
 */
#include "render/out.h"
#include "rows/rows.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool collect(void *context, const char *bytes, size_t len)
{
    hdx_buffer_put(context, bytes, len);
    return true;
}

/* ---- a character, and what it becomes ---- */

/* The character at p as UTF-8 has it, by writing each that it could be: 0 bytes where it is none. half: D800 to DFFF in
   three bytes. */
static unsigned character(const uint8_t *p, size_t len, uint32_t *point, bool half)
{
    const uint32_t guesses[4] = {
        p[0],
        len < 2 ? 0 : (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu),
        len < 3 ? 0 : (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu),
        len < 4 ? 0 : (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu),
    };
    for (unsigned n = 1; n <= 4 && n <= len; n++) {
        const uint32_t v = guesses[n - 1];
        uint8_t        b[4];
        const unsigned needs = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
        const bool     is_half = v >= 0xd800 && v <= 0xdfff;
        if (needs != n || v > 0x10ffff || is_half != half)
            continue;
        if (n == 1)
            b[0] = (uint8_t)v;
        else
            b[0] = (uint8_t)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | v >> 6 * (n - 1));
        for (unsigned i = 1; i < n; i++)
            b[i] = (uint8_t)(0x80 | (v >> 6 * (n - 1 - i) & 0x3f));
        if (memcmp(b, p, n) == 0) {
            *point = v;
            return n;
        }
    }
    return 0;
}

Test(utf8, is_what_can_be_written)
{
    static const uint8_t firsts[] = { 0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xc3, 0xdf, 0xe0, 0xe1,
                                      0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff },
                         others[] = { 0x00, 0x41, 0x7f, 0x80, 0x81, 0x8f, 0x90, 0x9f,
                                      0xa0, 0xaf, 0xb0, 0xbe, 0xbf, 0xc0, 0xff };
    for (size_t a = 0; a < sizeof firsts; a++)
        for (size_t b = 0; b < sizeof others; b++)
            for (size_t c = 0; c < sizeof others; c++)
                for (size_t d = 0; d < sizeof others; d++)
                    for (size_t len = 1; len <= 4; len++) {
                        uint8_t      *p = malloc(len); /* no longer than that */
                        const uint8_t all[4] = { firsts[a], others[b], others[c], others[d] };
                        uint32_t      want = 0, got = 0;
                        memcpy(p, all, len);
                        const unsigned n = character(p, len, &want, false);
                        cr_assert(hdx_utf8(p, len, &got) == n && (n == 0 || got == want), "%02x %02x %02x %02x, %zu",
                                  all[0], all[1], all[2], all[3], len);
                        const unsigned h = character(p, len, &want, true);
                        cr_assert(hdx_utf8_half(p, len, &got) == h && (h == 0 || got == want));
                        free(p);
                    }
}

static void plain_json(hdx_buffer *b, const uint8_t *p, size_t len)
{
    hdx_buffer_text(b, "\"");
    for (size_t i = 0; i < len;) {
        uint32_t       c = 0xfffd;
        const unsigned n = character(p + i, len - i, &c, false),
                       half = n == 0 ? character(p + i, len - i, &c, true) : 0;
        static const char *const letters = "\"\\\n\t\r\b\f", *const names = "\"\\ntrbf";
        const char *letter = n == 1 && c != 0 ? strchr(letters, (int)c) : NULL;
        const bool  steers = (c >= 0x80 && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
        if (letter != NULL)
            hdx_buffer_format(b, "\\%c", names[letter - letters]);
        else if (n == 0 || c < 0x20 || c == 0x7f || steers)
            hdx_buffer_format(b, "\\u%04x", n == 0 && half == 0 ? 0xfffd : c);
        else
            hdx_buffer_put(b, p + i, n);
        i += n > 0 ? n : half > 0 ? half : 1;
    }
    hdx_buffer_text(b, "\"");
}

static void plain_separated(hdx_buffer *b, const uint8_t *p, size_t len, bool tsv, bool raw)
{
    bool quoted = !tsv && len == 0;
    for (size_t i = 0; i < len && !tsv; i++)
        quoted = quoted || p[i] == '"' || p[i] == ',' || p[i] == '\n' || p[i] == '\r';
    if (quoted)
        hdx_buffer_text(b, "\"");
    for (size_t i = 0; i < len && !raw;) { /* the first character that a spreadsheet does not trim */
        uint32_t       c = 0xfffd;
        const unsigned n = character(p + i, len - i, &c, false);
        const bool     trimmed = n > 0 && (c <= 0x20 || (c >= 0x7f && c <= 0xa0) || (c >= 0x2000 && c <= 0x200f) ||
                                       (c >= 0x2028 && c <= 0x202f) || c == 0x2060 || c == 0x3000 || c == 0xfeff);
        if (n > 0 &&
            (c == '=' || c == '+' || c == '-' || c == '@' || c == 0xff1d || c == 0xff0b || c == 0xff0d || c == 0xff20))
            hdx_buffer_text(b, "'");
        if (!trimmed)
            break;
        i += n;
    }
    for (size_t i = 0; i < len;) {
        uint32_t       c = 0xfffd;
        const unsigned n = character(p + i, len - i, &c, false),
                       half = n == 0 ? character(p + i, len - i, &c, true) : 0;
        const bool control = n > 0 && (c < 0x20 || (c >= 0x7f && c < 0xa0));
        if (n == 0)
            hdx_buffer_text(b, "\xef\xbf\xbd");
        else if (tsv && c == '\n')
            hdx_buffer_text(b, "\\n");
        else if (tsv && c == '\r')
            hdx_buffer_text(b, "\\r");
        else if (tsv && c == '\t')
            hdx_buffer_text(b, "\\t");
        else if (tsv && c == '\\')
            hdx_buffer_text(b, "\\\\");
        else if (tsv && control)
            hdx_buffer_format(b, "\\x%02x", c);
        else if (!tsv && !raw && control && c != '\n' && c != '\r' && c != '\t' && c < 0x80)
            hdx_buffer_format(b, "\xe2\x90%c", (char)(c == 0x7f ? 0xa1 : 0x80 + c));
        else if (!tsv && !raw && control && c >= 0x80)
            hdx_buffer_text(b, "\xef\xbf\xbd");
        else if (!tsv && c == '"')
            hdx_buffer_text(b, "\"\"");
        else
            hdx_buffer_put(b, p + i, n);
        i += n > 0 ? n : half > 0 ? half : 1;
    }
    if (quoted)
        hdx_buffer_text(b, "\"");
}

static void cell_is_written(const uint8_t *p, size_t len)
{
    hdx_buffer     want = hdx_buffer_of(NULL), got = hdx_buffer_of(NULL);
    const hdx_cell cell = { .kind = HDX_CELL_TEXT, .as.text = { (const char *)p, (uint32_t)len } };
    plain_json(&want, p, len);
    hdx_render_json_cell(&got, &cell);
    cr_assert(want.len == got.len && memcmp(want.at, got.at, want.len) == 0, "%s, should be %s", got.at, want.at);
    hdx_buffer_free(&want);
    hdx_buffer_free(&got);
}

Test(json_text, is_what_it_is_byte_by_byte)
{
    uint8_t text[20];
    for (unsigned c = 0; c < 256; c++) /* every byte alone, and at every place of a text */
        for (size_t len = 1; len <= 18; len += 1 + len / 4)
            for (size_t at = 0; at < len; at++) {
                memset(text, 'a', sizeof text);
                text[at] = (uint8_t)c;
                cell_is_written(text, len);
            }
    for (uint32_t c = 0; c<0x11000; c += c> 0x2100 && c < 0xd700 ? 0x61 : 1) { /* characters of two and three bytes */
        const unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        uint8_t        b[6] = { 'x' };
        for (unsigned i = n - 1, v = c; i > 0; i--, v >>= 6)
            b[1 + i] = (uint8_t)(0x80 | (v & 0x3f));
        b[1] = (uint8_t)(n == 1 ? c : (n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c >> 6 * (n - 1));
        b[1 + n] = 'y';
        cell_is_written(b, n + 2);
        cell_is_written(b + 1, n);
    }
    cell_is_written(text, 0);
}

/* ---- csv and tsv ---- */

static const hdx_column columns[] = { HDX_COLUMN("t", ANY, NONE, HDX_COLUMN_NULLABLE, "a text"),
                                      HDX_COLUMN("u", ANY, NONE, HDX_COLUMN_NULLABLE, "and one more") };

/* All texts as one table, once with each format, against the plain version of each. */
static void tables_are_written(const uint8_t (*texts)[20], const size_t *lengths, size_t count)
{
    for (unsigned form = 0; form < 4; form++) {
        const bool               tsv = form % 2 == 1, raw = form > 1;
        hdx_table               *t;
        hdx_rows                *rows;
        hdx_buffer               want = hdx_buffer_of(NULL), got = hdx_buffer_of(NULL);
        const hdx_sink           sink = { collect, &got };
        const hdx_render_options options = { .format = tsv ? HDX_FORMAT_TSV : HDX_FORMAT_CSV, .raw = raw };
        cr_assert(hdx_table_new(columns, 2, &t, NULL) == HDX_OK);
        hdx_buffer_text(&want, tsv ? "t\tu\n" : "t,u\n");
        for (size_t i = 0; i < count; i++) {
            const hdx_cell row[] = {
                { .kind = HDX_CELL_TEXT, .as.text = { (const char *)texts[i], (uint32_t)lengths[i] } }, hdx_cell_uint(i)
            };
            cr_assert(hdx_table_add(t, row, NULL) == HDX_OK);
            plain_separated(&want, texts[i], lengths[i], tsv, raw);
            hdx_buffer_format(&want, "%c%zu\n", tsv ? '\t' : ',', i);
        }
        cr_assert(hdx_table_rows(t, &rows, NULL) == HDX_OK);
        cr_assert(hdx_render(rows, &options, &sink, NULL) == HDX_OK);
        for (uint64_t i = 0; i < want.len; i++)
            cr_assert(i < got.len && got.at[i] == want.at[i], "form %u, byte %llu: ...%.*s, should be ...%.*s", form,
                      (unsigned long long)i, 30, got.at + (i > 20 ? i - 20 : 0), 30, want.at + (i > 20 ? i - 20 : 0));
        cr_assert(got.len == want.len);
        hdx_rows_close(rows);
        hdx_buffer_free(&want);
        hdx_buffer_free(&got);
    }
}

Test(separated_text, is_what_it_is_byte_by_byte)
{
    enum { MOST = 256 * 60 };
    uint8_t(*texts)[20] = calloc(MOST, sizeof *texts);
    size_t *lengths = calloc(MOST, sizeof *lengths), n = 0;
    for (unsigned c = 0; c < 256; c++)
        for (size_t len = 1; len <= 18; len += 1 + len / 3)
            for (size_t at = 0; at < len && n < MOST; at += 1 + len / 9) {
                memset(texts[n], 'a', len);
                texts[n][at] = (uint8_t)c;
                lengths[n++] = len;
            }
    tables_are_written((const uint8_t(*)[20])texts, lengths, n);
    n = 0;
    for (uint32_t c = 0; c < 0x10ffff && n + 2 < MOST; c += c < 0x900    ? 1
                                                            : c < 0x3000 ? 0x11
                                                            : c < 0xe000 ? 0x97
                                                                         : 0x777) {
        const unsigned needs = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        uint8_t        b[4];
        uint32_t       v = c;
        for (unsigned i = needs - 1; i > 0; i--, v >>= 6)
            b[i] = (uint8_t)(0x80 | (v & 0x3f));
        b[0] = (uint8_t)(needs == 1 ? c : (needs == 2 ? 0xc0 : needs == 3 ? 0xe0 : 0xf0) | v);
        memcpy(texts[n], b, needs);
        lengths[n++] = needs;
        memset(texts[n], ',', 9);
        memcpy(texts[n] + 8, b, needs);
        lengths[n++] = 8 + needs;
    }
    lengths[n++] = 0;
    tables_are_written((const uint8_t(*)[20])texts, lengths, n);
    free(texts);
    free(lengths);
}

/* ---- numbers ---- */

static void number_is(const hdx_cell *cell, const char *want)
{
    hdx_buffer got = hdx_buffer_of(NULL);
    hdx_render_json_cell(&got, cell);
    cr_assert(strcmp(got.at, want) == 0, "%s, should be %s", got.at, want);
    hdx_buffer_free(&got);
}

Test(numbers, are_those_of_printf)
{
    char want[80];
    for (uint64_t ten = 1; ten != 0; ten = ten < UINT64_MAX / 10 ? ten * 10 : 0)
        for (uint64_t times = 1; times < 10; times += 4)
            for (int more = -2; more <= 2; more++) {
                const uint64_t v = ten * times + (uint64_t)more;
                hdx_cell       c = hdx_cell_uint(v);
                (void)snprintf(want, sizeof want, "%llu", (unsigned long long)v);
                number_is(&c, want);
                c = hdx_cell_int((int64_t)v);
                (void)snprintf(want, sizeof want, "%lld", (long long)v);
                number_is(&c, want);
                c = hdx_cell_int(-(int64_t)(v >> 1));
                (void)snprintf(want, sizeof want, "%lld", -(long long)(v >> 1));
                number_is(&c, want);
                c = hdx_cell_address(v);
                (void)snprintf(want, sizeof want, "\"0x%llx\"", (unsigned long long)v);
                number_is(&c, want);
            }
    for (unsigned v = 0; v < 20000; v++) {
        const hdx_cell c = hdx_cell_uint(v);
        (void)snprintf(want, sizeof want, "%u", v);
        number_is(&c, want);
    }
    const hdx_cell           ends[] = { hdx_cell_uint(UINT64_MAX), hdx_cell_int(INT64_MIN),
                                        hdx_cell_int(INT64_MAX),   hdx_cell_address(UINT64_MAX),
                                        hdx_cell_bool(true),       hdx_cell_bool(false),
                                        hdx_cell_null(),           { .kind = HDX_CELL_ABSENT } };
    static const char *const texts[] = { "18446744073709551615",
                                         "-9223372036854775808",
                                         "9223372036854775807",
                                         "\"0xffffffffffffffff\"",
                                         "true",
                                         "false",
                                         "null",
                                         "{\"absent\": true}" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        number_is(&ends[i], texts[i]);
}

Test(numbers, that_are_real_read_back_and_are_short)
{
    static const struct {
        double      v;
        const char *text;
    } cases[] = { { 0, "0" },
                  { 1, "1" },
                  { -1.5, "-1.5" },
                  { 0.1, "0.1" },
                  { 0.3, "0.3" },
                  { 1e21, "1e+21" },
                  { 1e-7, "1e-07" },
                  { 1.0 / 3, "0.3333333333333333" },
                  { 0.1 + 0.2, "0.30000000000000004" },
                  { 100000, "100000" },
                  { 123456789012345678.0, "1.2345678901234568e+17" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hdx_cell c = hdx_cell_real(cases[i].v);
        number_is(&c, cases[i].text);
    }
    const hdx_cell none = hdx_cell_real((double)NAN), most = hdx_cell_real((double)INFINITY),
                   least = hdx_cell_real(-(double)INFINITY);
    number_is(&none, "\"NaN\"");
    number_is(&most, "\"Infinity\"");
    number_is(&least, "\"-Infinity\"");
}

/* ---- room ---- */

/* Whatever the room is, what comes out is what went in, in pieces of that room. */
typedef struct pieces {
    hdx_buffer all;
    size_t     room, calls, refused; /* refused: the call that fails; 0: none */
} pieces;
static bool take_piece(void *context, const char *bytes, size_t len)
{
    pieces *p = context;
    cr_assert(len > 0 && len <= p->room);
    hdx_buffer_put(&p->all, bytes, len);
    return ++p->calls != p->refused;
}
static void write_much(hdx_out *out, hdx_buffer *want)
{
    char text[64];
    memset(text, 'x', sizeof text);
    for (unsigned i = 0; i < 60; i++) {
        hdx_out_byte(out, (char)('a' + i % 26));
        hdx_out_bytes(out, text, i);
        hdx_out_string(out, "str");
        hdx_out_uint(out, i * 1001u);
        hdx_out_bytes(out, NULL, 0);
        if (want == NULL)
            continue;
        hdx_buffer_format(want, "%c", 'a' + i % 26);
        hdx_buffer_put(want, text, i);
        hdx_buffer_format(want, "str%u", i * 1001u);
    }
    hdx_out_flush(out);
    hdx_out_flush(out); /* of nothing nothing is written */
}
Test(out, of_any_room_writes_all_in_order)
{
    for (size_t room = 1; room < 80; room++) {
        hdx_buffer     want = hdx_buffer_of(NULL);
        pieces         p = { .all = hdx_buffer_of(NULL), .room = room };
        const hdx_sink sink = { take_piece, &p };
        char          *at = malloc(room); /* and not a byte more */
        hdx_out        out = { .sink = &sink, .at = at, .room = room };
        write_much(&out, &want);
        cr_assert(p.all.len == want.len && memcmp(p.all.at, want.at, want.len) == 0, "room %zu", room);
        cr_expect(!out.failed && out.len == 0);
        cr_expect(p.calls == (want.len + room - 1) / room, "room %zu: %zu calls", room, p.calls);
        hdx_buffer_free(&p.all);
        for (size_t refused = 1; refused <= 3; refused++) { /* after a refusal nothing more is given */
            p = (pieces){ .all = hdx_buffer_of(NULL), .room = room, .refused = refused };
            out = (hdx_out){ .sink = &sink, .at = at, .room = room };
            write_much(&out, NULL);
            cr_expect(out.failed && p.calls == refused);
            hdx_buffer_free(&p.all);
        }
        free(at);
        hdx_buffer_free(&want);
    }
}

/* ---- documents ---- */

Test(separated, have_a_line_for_each_row_and_tell_null_from_nothing)
{
    static const struct {
        hdx_format  format;
        unsigned    width;
        const char *text;
    } cases[] = {
        { HDX_FORMAT_CSV, 1, "t\n\"\"\n\"\"\nx\n" },
        { HDX_FORMAT_TSV, 1, "t\n\n\nx\n" },
        { HDX_FORMAT_CSV, 2, "t,u\n,\n\"\",\nx,\"[1, \"\"=2\"\", {\"\"k\"\": null}]\"\n" },
        { HDX_FORMAT_TSV, 2, "t\tu\n\t\n\t\nx\t[1, \"=2\", {\"k\": null}]\n" },
        { HDX_FORMAT_JSONL, 1, "{\"t\": null}\n{\"t\": \"\"}\n{\"t\": \"x\"}\n" },
    };
    hdx_member     member = { "k", hdx_cell_null() };
    const hdx_cell list[] = { hdx_cell_uint(1), hdx_cell_string("=2"), hdx_cell_object(&member, 1) };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hdx_cell           texts[] = { hdx_cell_null(), hdx_cell_string(""), hdx_cell_string("x") };
        hdx_table               *t;
        hdx_rows                *rows;
        hdx_buffer               got = hdx_buffer_of(NULL);
        const hdx_sink           sink = { collect, &got };
        const hdx_render_options options = { .format = cases[i].format };
        cr_assert(hdx_table_new(columns, cases[i].width, &t, NULL) == HDX_OK);
        for (unsigned k = 0; k < 3; k++) {
            const hdx_cell row[] = { texts[k], k == 2 ? hdx_cell_list(list, 3) : hdx_cell_null() };
            cr_assert(hdx_table_add(t, row, NULL) == HDX_OK);
        }
        cr_assert(hdx_table_rows(t, &rows, NULL) == HDX_OK);
        cr_assert(hdx_render(rows, &options, &sink, NULL) == HDX_OK);
        cr_expect(strcmp(got.at, cases[i].text) == 0, "case %zu: %s", i, got.at);
        hdx_rows_close(rows);
        hdx_buffer_free(&got);
    }
}

Test(separated, of_no_rows_are_a_head_alone)
{
    static const char *const texts[] = { "{\n  \"rows\": []\n}\n", "", "t,u\n", "t\tu\n" };
    static const hdx_format  formats[] = { HDX_FORMAT_JSON, HDX_FORMAT_JSONL, HDX_FORMAT_CSV, HDX_FORMAT_TSV };
    for (unsigned i = 0; i < 4; i++) {
        hdx_table               *t;
        hdx_rows                *rows;
        hdx_buffer               got = hdx_buffer_of(NULL);
        const hdx_sink           sink = { collect, &got };
        const hdx_render_options options = { .format = formats[i] };
        cr_assert(hdx_table_new(columns, 2, &t, NULL) == HDX_OK && hdx_table_rows(t, &rows, NULL) == HDX_OK);
        cr_assert(hdx_render(rows, &options, &sink, NULL) == HDX_OK);
        cr_expect(strcmp(got.at == NULL ? "" : got.at, texts[i]) == 0, "%u: %s", i, got.at);
        hdx_rows_close(rows);
        hdx_buffer_free(&got);
    }
}
