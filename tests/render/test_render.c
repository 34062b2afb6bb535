/* test_render.c - JSON, JSONL, CSV and TSV to the byte, values of all kinds, and sinks that fail. */
#include "rendered.h"

Test(json, is_one_document_with_a_row_a_line)
{
    hdx_render_options options = { .format = HDX_FORMAT_JSON };
    hdx_member         head[2] = { { "heapdex", hdx_cell_string("0.1.0") }, { "damage", hdx_cell_list(NULL, 0) } };
    hdx_rows          *rows = sample();
    hdx_cell           paths[2] = { hdx_cell_uint(1), hdx_cell_null() };
    cr_assert(eq(int, hdx_rows_add_extra(rows, "paths", hdx_cell_list(paths, 2), NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_set_head(rows, head, 2, NULL), HDX_OK));
    expect_text(rows, &options,
                "{\n"
                "  \"heapdex\": \"0.1.0\",\n"
                "  \"damage\": [],\n"
                "  \"rows\": [\n"
                "    {\"class\": \"com.acme.A\", \"size\": 1536, \"share\": 12.5, \"at\": \"0x7f3a10\", \"more\": [1, "
                "{\"name\": \"x\", \"value\": {\"absent\": true}}, []]},\n"
                "    {\"class\": \"a,\\\"b\\\"\\n\\\\\", \"size\": -7, \"share\": null, \"at\": true, \"more\": "
                "{\"absent\": true}}\n"
                "  ],\n"
                "  \"paths\": [\n"
                "    1,\n"
                "    null\n"
                "  ]\n"
                "}\n");
    expect_text(rows_of(NULL, 0, COLUMNS), &options, "{\n  \"rows\": []\n}\n");
}

Test(jsonl, is_rows_alone)
{
    hdx_render_options options = { .format = HDX_FORMAT_JSONL };
    hdx_cell           cells[4] = { hdx_cell_string("A"), hdx_cell_uint(1), hdx_cell_string(""), hdx_cell_null() };
    expect_text(rows_of(cells, 2, 2), &options, "{\"class\": \"A\", \"size\": 1}\n{\"class\": \"\", \"size\": null}\n");
    expect_text(rows_of(cells, 0, 2), &options, "");
}

Test(csv, quotes_as_rfc_4180_says)
{
    hdx_render_options options = { .format = HDX_FORMAT_CSV };
    expect_text(
        sample(), &options,
        "class,size,share,at,more\n"
        "com.acme.A,1536,12.5,0x7f3a10,\"[1, {\"\"name\"\": \"\"x\"\", \"\"value\"\": {\"\"absent\"\": true}}, []]\"\n"
        "\"a,\"\"b\"\"\n\\\",-7,,true,\"{\"\"absent\"\": true}\"\n");
    hdx_cell odd[6] = {
        hdx_cell_string(""), hdx_cell_null(),          hdx_cell_text((hdx_text){ "a\xff\xc3\xa4\r", 5 }),
        hdx_cell_real(NAN),  hdx_cell_string("x\xc3"), hdx_cell_real(0.1)
    };
    expect_text(rows_of(odd, 3, 2), &options,
                "class,size\n\"\",\n\"a\xef\xbf\xbd\xc3\xa4\r\",NaN\nx\xef\xbf\xbd,0.1\n");
    hdx_cell alone[2] = { hdx_cell_null(), hdx_cell_uint(5) }; /* an empty line would be skipped by readers */
    expect_text(rows_of(alone, 2, 1), &options, "class\n\"\"\n5\n");
}

Test(tsv, escapes_tabs_lines_and_backslashes)
{
    hdx_render_options options = { .format = HDX_FORMAT_TSV };
    hdx_cell cells[4] = { hdx_cell_string("a\tb\nc\\d\re\"f,"), hdx_cell_uint(UINT64_MAX), hdx_cell_string(""),
                          hdx_cell_null() };
    expect_text(rows_of(cells, 2, 2), &options, "class\tsize\na\\tb\\nc\\\\d\\re\"f,\t18446744073709551615\n\t\n");
}

/*
 * Every control character of Unicode, between letters and after eight of them, and the characters beside the ranges.
 */
Test(csv, begins_no_formula_after_what_a_spreadsheet_trims)
{
    static const char *const texts[][2] = { { "\t=1+1", "'\t=1+1" },
                                            { " @A1", "' @A1" },
                                            { "\xef\xbb\xbf-1", "'\xef\xbb\xbf-1" },
                                            { "\xe2\x80\x8b+1", "'\xe2\x80\x8b+1" },
                                            { "\xef\xbc\x9d"
                                              "1",
                                              "'\xef\xbc\x9d"
                                              "1" },
                                            { "\r=1", "\"'\r=1\"" },
                                            { "\ta=1", "\ta=1" },
                                            { "\xff=1", "\xef\xbf\xbd=1" } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const hdx_cell cells[] = { hdx_cell_string(texts[i][0]), hdx_cell_int(-5), hdx_cell_null(), hdx_cell_null(),
                                   hdx_cell_null() };
        char           should[128];
        const hdx_render_options options = { .format = HDX_FORMAT_CSV };
        hdx_rows                *rows = rows_of(cells, 1, 5);
        cr_assert(eq(int, hdx_rows_select(&rows, "class,size", NULL), HDX_OK));
        (void)snprintf(should, sizeof should, "class,size\n%s,-5\n", texts[i][1]);
        expect_text(rows, &options, should);
    }
}

/* A program that reads it gets what the dump has. */
Test(csv, has_control_characters_themselves_where_it_is_raw)
{
    const hdx_cell cells[] = { hdx_cell_string("a\x01\x1b[31m\xc2\x85\x7f"), hdx_cell_int(-5), hdx_cell_null(),
                               hdx_cell_null(), hdx_cell_null() };
    for (unsigned raw = 0; raw < 2; raw++) {
        const hdx_render_options options = { .format = HDX_FORMAT_CSV, .raw = raw == 1 };
        hdx_rows                *rows = rows_of(cells, 1, 5);
        cr_assert(eq(int, hdx_rows_select(&rows, "class,size", NULL), HDX_OK));
        expect_text(rows, &options,
                    raw == 1 ? "class,size\na\x01\x1b[31m\xc2\x85\x7f,-5\n"
                             : "class,size\na\xe2\x90\x81\xe2\x90\x9b[31m\xef\xbf\xbd\xe2\x90\xa1,-5\n");
    }
}

Test(csv_and_tsv, begin_no_formula_unless_asked)
{
    static const char *const texts[] = { "=1+1", "+a", "-x,y", "@SUM(A1)", "a=b", "'=1", "" };
    static const char *const safe[] = { "'=1+1", "'+a", "\"'-x,y\"", "'@SUM(A1)", "a=b", "'=1", "\"\"" };
    static const char *const raw[] = { "=1+1", "+a", "\"-x,y\"", "@SUM(A1)", "a=b", "'=1", "\"\"" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const hdx_cell cells[] = { hdx_cell_string(texts[i]), hdx_cell_int(-5), hdx_cell_null(), hdx_cell_null(),
                                   hdx_cell_null() };
        for (unsigned r = 0; r < 2; r++) {
            char               should[128];
            hdx_render_options options = { .format = HDX_FORMAT_CSV, .raw = r == 1 };
            hdx_rows          *rows = rows_of(cells, 1, 5);
            cr_assert(eq(int, hdx_rows_select(&rows, "class,size", NULL), HDX_OK));
            (void)snprintf(should, sizeof should, "class,size\n%s,-5\n", r == 1 ? raw[i] : safe[i]);
            expect_text(rows, &options, should);
            options.format = HDX_FORMAT_TSV;
            rows = rows_of(cells, 1, 5);
            cr_assert(eq(int, hdx_rows_select(&rows, "class", NULL), HDX_OK));
            (void)snprintf(should, sizeof should, "class\n%s%s\n",
                           r == 0 && strchr("=+-@", texts[i][0]) != NULL && texts[i][0] != '\0' ? "'" : "", texts[i]);
            expect_text(rows, &options, should);
        }
    }
}

Test(csv_and_tsv, let_no_control_character_out)
{
    for (uint32_t c = 0; c < 0xa1; c++) {
        char       text[32] = "abcdefgh.", want[2][64];
        const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
        size_t     len = 9;
        if (c < 0x80) {
            text[len++] = (char)c;
        } else {
            text[len++] = (char)(0xc0 | c >> 6);
            text[len++] = (char)(0x80 | (c & 63));
        }
        text[len] = '\0';
        const char *const shown = c == '"' ? "\"\"" : text + 9;
        char              picture[4] = { '\xe2', '\x90', (char)(c == 0x7f ? 0xa1 : 0x80 + c), '\0' };
        if (!control || c == '\t' || c == '\n' || c == '\r')
            snprintf(want[0], sizeof want[0],
                     strchr("\",\n\r", (int)c) != NULL && c != 0 ? "class\n\"abcdefgh.%sz\"\n"
                                                                 : "class\nabcdefgh.%sz\n",
                     shown);
        else
            snprintf(want[0], sizeof want[0], "class\nabcdefgh.%sz\n", c < 0x80 ? picture : "\xef\xbf\xbd");
        if (c == '\t' || c == '\n' || c == '\r' || c == '\\')
            snprintf(want[1], sizeof want[1], "class\nabcdefgh.\\%cz\n",
                     c == '\t'   ? 't'
                     : c == '\n' ? 'n'
                     : c == '\r' ? 'r'
                                 : '\\');
        else
            snprintf(want[1], sizeof want[1], "class\nabcdefgh.%sz\n", text + 9);
        if (control && strchr("\t\n\r", (int)c) == NULL)
            snprintf(want[1], sizeof want[1], "class\nabcdefgh.\\x%02xz\n", c);
        if (c == 0)
            snprintf(want[1], sizeof want[1], "class\nabcdefgh.\\x00z\n");
        text[len++] = 'z';
        for (unsigned tsv = 0; tsv < 2; tsv++) {
            hdx_render_options options = { .format = tsv ? HDX_FORMAT_TSV : HDX_FORMAT_CSV };
            hdx_cell           cell = hdx_cell_text((hdx_text){ text, (uint32_t)len });
            expect_text(rows_of(&cell, 1, 1), &options, want[tsv]);
        }
    }
}

/* ---- values ---- */

static void expect_json(hdx_cell cell, const char *should)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_render_json_cell(&b, &cell);
    cr_expect(eq(str, b.at, (char *)should));
    hdx_buffer_free(&b);
}

Test(json, escapes_what_is_no_plain_text)
{
    expect_json(hdx_cell_text((hdx_text){ "\0\x01\b\t\n\f\r\x1f\x7f", 9 }),
                "\"\\u0000\\u0001\\b\\t\\n\\f\\r\\u001f\\u007f\"");
    expect_json(hdx_cell_string("ä日\xf0\x9f\x98\x80"), "\"ä日\xf0\x9f\x98\x80\"");
    expect_json(hdx_cell_string("\xff\xc3(\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80"),
                "\"\\ufffd\\ufffd(\\ud800\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"");
    expect_json(hdx_cell_string("\xed\xbf\xbf\xed\xa0"),
                "\"\\udfff\\ufffd\\ufffd\""); /* half a pair, and half of that */
    expect_json(hdx_cell_string("\xe6\x97"), "\"\\ufffd\\ufffd\"");
    expect_json(hdx_cell_string("\xc2\x85\xe2\x80\xa8"), "\"\\u0085\\u2028\"");
}

Test(json, writes_numbers_that_read_back_the_same)
{
    expect_json(hdx_cell_int(INT64_MIN), "-9223372036854775808");
    expect_json(hdx_cell_uint(UINT64_MAX), "18446744073709551615");
    expect_json(hdx_cell_real(0.1), "0.1");
    expect_json(hdx_cell_real(1e300), "1e+300");
    expect_json(hdx_cell_real(100), "100");
    expect_json(hdx_cell_real(NAN), "\"NaN\"");
    expect_json(hdx_cell_real(-INFINITY), "\"-Infinity\"");
    expect_json(hdx_cell_address(0), "\"0x0\"");
    expect_json(hdx_cell_address(UINT64_MAX), "\"0xffffffffffffffff\"");
    srand(20240504); /* the seed */
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t   bits = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand(), shifted = bits >> i % 64;
        double     real;
        char       text[32];
        hdx_buffer b = hdx_buffer_of(NULL);
        memcpy(&real, &bits, 8);
        if (isfinite(real)) {
            hdx_cell cell = hdx_cell_real(real);
            hdx_render_json_cell(&b, &cell);
            cr_assert(strtod(b.at, NULL) == real);
        }
        hdx_buffer_clear(&b);
        hdx_cell whole = hdx_cell_uint(shifted);
        hdx_render_json_cell(&b, &whole);
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)shifted);
        cr_assert(eq(str, b.at, text));
        hdx_buffer_free(&b);
    }
}

Test(json, nests_a_hundred_thousand_deep)
{
    enum { DEEP = 100000 };
    hdx_cell *chain = calloc(DEEP, sizeof *chain);
    for (unsigned i = 0; i + 1 < DEEP; i++)
        chain[i] = hdx_cell_list(&chain[i + 1], 1);
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_render_json_cell(&b, &chain[0]);
    cr_expect(eq(u64, b.len, 2 * (DEEP - 1) + 4));
    hdx_buffer_free(&b);
    free(chain);
}

Test(human, has_at_most_four_digits)
{
    static const struct {
        uint64_t    bytes;
        const char *text;
    } cases[] = {
        { 0, "0 B" },
        { 1, "1 B" },
        { 312, "312 B" },
        { 1023, "1023 B" },
        { 1024, "1.0 KB" },
        { 1536, "1.5 KB" },
        { 1023999, "1000 KB" },
        { 1023897, "999.9 KB" },
        { 1048064, "1.0 MB" },
        { 1047552, "1023 KB" },
        { 1572864, "1.5 MB" },
        { 1ull << 30, "1.0 GB" },
        { 1ull << 40, "1.0 TB" },
        { 1ull << 50, "1.0 PB" },
        { 1ull << 60, "1.0 EB" },
        { UINT64_MAX, "16.0 EB" },
    };
    char text[16];
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_human_size(cases[i].bytes, text);
        cr_expect(eq(str, text, (char *)cases[i].text));
    }
    srand(20240505); /* the seed */
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t bytes = ((uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand()) >> i % 64;
        unsigned digits = 0;
        hdx_human_size(bytes, text);
        for (const char *c = text; *c != '\0'; c++)
            digits += *c >= '0' && *c <= '9';
        cr_assert(le(u32, digits, 4), "%s", text);
        static const char units[] = "bKMGTPE";
        double            shown = strtod(text, NULL);
        for (long unit = strchr(units, strchr(text, ' ')[1]) - units; unit > 0; unit--)
            shown *= 1024;
        cr_assert(fabs(shown - (double)bytes) <= (double)bytes * 0.051, "%s is not %llu", text,
                  (unsigned long long)bytes);
    }
}

/* ---- failures ---- */

Test(render, tells_when_the_sink_refuses)
{
    for (unsigned f = HDX_FORMAT_TABLE; f <= HDX_FORMAT_TSV; f++) {
        hdx_render_options options = { .format = (hdx_format)f };
        kept               k = { .text = hdx_buffer_of(NULL), .refuse_after = 1 };
        hdx_sink           sink = { keep, &k };
        hdx_error          err;
        hdx_rows          *rows = sample();
        cr_expect(eq(int, hdx_render(rows, &options, &sink, &err), HDX_IO));
        cr_expect(err.message[0] != '\0');
        hdx_rows_close(rows);
        hdx_buffer_free(&k.text);
    }
}

static hdx_code broken(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    unsigned *left = state;
    (void)arena;
    cells[0] = hdx_cell_uint(*left);
    *more = true;
    return (*left)-- == 0 ? hdx_fail(err, HDX_DAMAGED, "retained", 3, "broken") : HDX_OK;
}

Test(render, writes_nothing_when_the_first_row_fails_and_passes_the_error_on)
{
    for (unsigned f = HDX_FORMAT_TABLE; f <= HDX_FORMAT_TSV; f++)
        for (unsigned good = 0; good < 3000; good += 1499) {
            unsigned           left = good;
            hdx_rows_maker     maker = { columns, 1, &left, broken, NULL, 0 };
            hdx_render_options options = { .format = (hdx_format)f };
            kept               k = { .text = hdx_buffer_of(NULL) };
            hdx_sink           sink = { keep, &k };
            hdx_error          err = { 0 };
            hdx_rows          *rows;
            cr_assert(eq(int, hdx_rows_make(&maker, &rows, NULL), HDX_OK));
            cr_expect(eq(int, hdx_render(rows, &options, &sink, &err), HDX_DAMAGED));
            cr_expect(eq(str, err.where, "retained"));
            cr_expect(eq(int, k.text.len > 0, good > 0));
            hdx_rows_close(rows);
            hdx_buffer_free(&k.text);
        }
}
