/*
 * test_written.c - rows of every kind of cell in every format and at many widths: written.txt has the checksums
 * (support/checksums.h). Texts hold every character beside which a rule begins, whole, cut short and alone.
 */
#include "render/out.h"
#include "rows/rows.h"
#include "support/checksums.h"

#include <math.h>

#define COLUMN(name, unit) HDX_COLUMN(name, ANY, unit, HDX_COLUMN_NULLABLE, "whatever a test puts here")
static const hdx_column columns[] = { COLUMN("text", NONE), COLUMN("size", BYTES), COLUMN("count", COUNT),
                                      COLUMN("share", PERCENT), COLUMN("another", NONE) };
enum { COLUMNS = 5 };

static void add(hdx_table *t, hdx_cell a, hdx_cell b, hdx_cell c, hdx_cell d, hdx_cell e)
{
    const hdx_cell cells[COLUMNS] = { a, b, c, d, e };
    cr_assert(hdx_table_add(t, cells, NULL) == HDX_OK);
}

static hdx_cell copy(hdx_table *t, const char *at, size_t len)
{
    return hdx_cell_text((hdx_text){ hdx_arena_copy(hdx_table_arena(t), at, len), (uint32_t)len });
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
    return n;
}

/* Code points beside the ends of ranges, and bytes that are none. */
static void make_texts(hdx_table *t)
{
    static const uint32_t beside[] = { 0x20,   0x7f,   0x80,   0xa0,   0x7ff,  0x800,  0x200e, 0x2010,  0x2028,  0x202f,
                                       0x2066, 0x206a, 0xd7ff, 0xd800, 0xdc00, 0xe000, 0xffff, 0x10000, 0x10ffff };
    static const char *const broken[] = { "\xc0\x80",     "\xc1\xbf",     "\xc2",         "\xe0\x9f\xbf",
                                          "\xe0\xa0",     "\xf0\x8f\xbf", "\xf4\x90\x80", "\xf5\x80\x80",
                                          "\xed\xa0\x80", "\xed\xbf\xbf", "\xed\x9f\xbf", "\xed\xa0",
                                          "\x80",         "\xbf\xbf",     "\xc3\x28",     "\xe2\x82",
                                          "\xe2\x28\xa1", "\xf0\x90\x80", "\xff\xfe",     "a,b" };
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        for (uint32_t c = beside[i] - 2; c <= beside[i] + 1; c++) {
            char         text[32];
            const size_t n = put_utf8(text, c);
            for (size_t k = 0; k < 4; k++)
                text[n + k] = "x\"\\z"[k];
            add(t, copy(t, text, n), copy(t, text, n + 4), hdx_cell_uint(c), hdx_cell_null(),
                copy(t, text, n > 1 ? n - 1 : 1));
        }
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        add(t, copy(t, broken[i], strlen(broken[i])), hdx_cell_null(), copy(t, broken[i], 1), hdx_cell_null(),
            hdx_cell_string("\b\f\r\n\t\x1b[1m"));
}

static void make_numbers(hdx_table *t)
{
    static const int64_t whole[] = { 0,    1,    -1,   9,    10,    99,    100,       101,       999,
                                     1000, 1023, 1024, 1025, -1024, -1536, 123456789, INT64_MAX, INT64_MIN };
    static const double  reals[] = { 0,
                                     -0.0,
                                     0.04,
                                     0.05,
                                     0.049999,
                                     1.0 / 3,
                                     -2.5,
                                     99.95,
                                     100,
                                     1e15,
                                     123456.789,
                                     1e22,
                                     1e-7,
                                     5e-324,
                                     1.7976931348623157e308,
                                     18446744073709551615.0,
                                     1023.5 };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        add(t, hdx_cell_int(whole[i]), hdx_cell_int(whole[i]), hdx_cell_uint((uint64_t)whole[i]),
            hdx_cell_int(whole[i]), hdx_cell_address((uint64_t)whole[i]));
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        add(t, hdx_cell_bool(i % 2), hdx_cell_uint((uint64_t)whole[i]), hdx_cell_null(),
            hdx_cell_uint((uint64_t)whole[i]), (hdx_cell){ .kind = HDX_CELL_ABSENT });
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        add(t, hdx_cell_real(reals[i]), hdx_cell_real(reals[i]), hdx_cell_real(-reals[i]), hdx_cell_real(reals[i]),
            hdx_cell_string(""));
    add(t, hdx_cell_real(NAN), hdx_cell_real(INFINITY), hdx_cell_real(-INFINITY), hdx_cell_real(NAN),
        hdx_cell_real(-INFINITY));
}

/* More rows than decide the widths, texts of any length, later ones longer than those before. */
static void make_long(hdx_table *t)
{
    char text[6000];
    for (unsigned i = 0; i < 1100; i++) {
        const size_t len = i == 500 ? 5000 : i == 501 ? 4097 : i == 502 ? 4096 : i > 1050 ? 170 : i * 7 % 43;
        for (size_t k = 0; k < len; k++)
            text[k] = (char)('a' + (i + k) % 26);
        if (len > 8)
            memcpy(text + len / 2, "\xc3\xa4", 2);
        if (i == 500)
            memcpy(text + 4094, "\xe2\x82\xac", 3);
        add(t, copy(t, text, len), hdx_cell_uint((uint64_t)i << i % 40), hdx_cell_uint(i), hdx_cell_real(i / 11.0),
            copy(t, text, i % 19));
    }
}

static void make_nested(hdx_table *t)
{
    hdx_member *m = hdx_arena_get(hdx_table_arena(t), 3 * sizeof *m);
    hdx_cell   *list = hdx_arena_get(hdx_table_arena(t), 4 * sizeof *list);
    list[0] = hdx_cell_int(-5);
    list[1] = hdx_cell_list(NULL, 0);
    list[2] = hdx_cell_object(NULL, 0);
    list[3] = hdx_cell_string("in, \"side\"");
    m[0] = (hdx_member){ "first", hdx_cell_list(list, 4) };
    m[1] = (hdx_member){ "second \"key\"", hdx_cell_real(0.5) };
    m[2] = (hdx_member){ "third", { .kind = HDX_CELL_ABSENT } };
    for (unsigned i = 0; i < 4; i++)
        add(t, hdx_cell_object(m, i), hdx_cell_list(list, i), hdx_cell_uint(i), hdx_cell_null(),
            hdx_cell_list(list, 4));
}

static bool keep(void *context, const char *bytes, size_t len)
{
    hdx_buffer_put(context, bytes, len);
    return true;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    static const struct {
        const char *name;
        hdx_format  format;
    } formats[] = { { "json", HDX_FORMAT_JSON },
                    { "jsonl", HDX_FORMAT_JSONL },
                    { "csv", HDX_FORMAT_CSV },
                    { "tsv", HDX_FORMAT_TSV },
                    { "table", HDX_FORMAT_TABLE } };
    char               format[16], look[16], which[16];
    hdx_render_options options = { .format = HDX_FORMAT_TABLE };
    hdx_table         *t;
    hdx_rows          *rows;
    hdx_sink           sink = { keep, b };
    (void)context;
    cr_assert(sscanf(ask, "%15s %u %15s %15s", format, &options.width, look, which) == 4, "%s", ask);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, format) == 0)
            options.format = formats[i].format;
    options.human_sizes = look[0] == 'h';
    options.color = look[0] == 'c';
    cr_assert(hdx_table_new(columns, COLUMNS, &t, NULL) == HDX_OK);
    if (which[0] == 't')
        make_texts(t);
    else if (strcmp(which, "numbers") == 0)
        make_numbers(t);
    else if (which[0] == 'l')
        make_long(t);
    else
        make_nested(t);
    cr_assert(hdx_table_rows(t, &rows, NULL) == HDX_OK);
    cr_assert(hdx_rows_set_title(rows, "A title \x1b[2J of rows", NULL) == HDX_OK);
    cr_assert(hdx_rows_add_extra(rows, "extra", hdx_cell_string("more"), NULL) == HDX_OK);
    if (which[0] == 'l')
        cr_assert(hdx_rows_limit(&rows, 1090, NULL) == HDX_OK);
    cr_assert(hdx_render(rows, &options, &sink, NULL) == HDX_OK);
    hdx_rows_close(rows);
    return b->len;
}

Test(written, rows_are_what_they_were) { checksums_check(HDX_TREE "/tests/render/written.txt", text_of, NULL); }
