/* test_parquet.c - files as another reader of the format sees them: every value, bounds, notes, hostile texts. */
#include "columns/columns.h"
#include "columns/parquet_reader.h"

#include <math.h>
#include <stdio.h>

enum { ID, WHERE, FEW, MANY, SHARE, YES, SIZE, LIST, COLUMNS };
static const hdx_column item[] = { HDX_ITEM(UNSIGNED, "a number") };
static const hdx_column columns[COLUMNS] = {
    [ID] = HDX_COLUMN("id", UNSIGNED, NONE, 0, "rises"),
    [WHERE] = HDX_COLUMN("where", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "anywhere in 64 bits"),
    [FEW] = HDX_COLUMN("few", TEXT, NONE, HDX_COLUMN_NULLABLE, "one of three"),
    [MANY] = HDX_COLUMN("many", TEXT, NONE, 0, "another one in each row"),
    [SHARE] = HDX_COLUMN("share", REAL, PERCENT, HDX_COLUMN_NULLABLE, "a real number"),
    [YES] = HDX_COLUMN("yes", BOOL, NONE, HDX_COLUMN_NULLABLE, "true or false"),
    [SIZE] = HDX_COLUMN("size", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "one of some"),
    [LIST] = HDX_NESTED("list", LIST, HDX_COLUMN_NULLABLE, "two numbers", item),
};

typedef struct made {
    uint64_t at, count;
    char     few[16], many[40];
    bool     nothing; /* every cell that may be is null */
} made;

static uint64_t mix(uint64_t i, uint64_t of) { return hdx_mix64(i * 8 + of); }

static hdx_code next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    made *m = state;
    (void)err;
    if (!(*more = m->at < m->count))
        return HDX_OK;
    const uint64_t i = m->at++;
    (void)snprintf(m->few, sizeof m->few, "word %u", (unsigned)(i / 1000 % 3));
    (void)snprintf(m->many, sizeof m->many, "row %016llx %llu", (unsigned long long)mix(i, MANY),
                   (unsigned long long)i);
    cells[ID] = hdx_cell_uint(i);
    cells[MANY] = hdx_cell_string(m->many);
    if (m->nothing)
        return HDX_OK;
    cells[WHERE] = i % 7 == 3 ? hdx_cell_null() : hdx_cell_address(mix(i, WHERE));
    cells[FEW] = i % 11 == 5 ? hdx_cell_null() : hdx_cell_string(m->few);
    cells[SHARE] = i % 5 == 0 ? hdx_cell_null() : hdx_cell_real((double)(i % 1000) / 8 - 20);
    cells[YES] = i % 3 == 0 ? hdx_cell_null() : hdx_cell_bool(mix(i, YES) % 2 == 1);
    cells[SIZE] = i % 100 < 30 ? hdx_cell_null() : hdx_cell_uint(mix(i, SIZE) % 40 * 8);
    if (i % 2 == 0) {
        hdx_cell *list = hdx_arena_get(arena, 2 * sizeof *list);
        list[0] = hdx_cell_uint(i);
        list[1] = hdx_cell_uint(i % 9);
        cells[LIST] = hdx_cell_list(list, 2);
    }
    return HDX_OK;
}

static bool put(void *to, const char *bytes, size_t len)
{
    hdx_buffer_put(to, bytes, len);
    return true;
}

static hdx_buffer written(hdx_rows *rows, hdx_parquet_encoding encoding)
{
    hdx_buffer                out = hdx_buffer_of(NULL);
    const hdx_sink            sink = { put, &out };
    const hdx_parquet_note    note = { "heapdex.answer", "made up" };
    const hdx_parquet_options options = { encoding, &note, 1 };
    hdx_error                 err = { 0 };
    cr_assert(hdx_rows_parquet(rows, &options, &sink, &err) == HDX_OK, "%s", err.message);
    hdx_rows_close(rows);
    return out;
}

static hdx_rows *rows_of(made *m)
{
    const hdx_rows_maker maker = { columns, COLUMNS, m, next, NULL, 0 };
    hdx_rows            *rows;
    cr_assert(hdx_rows_make(&maker, &rows, NULL) == HDX_OK);
    return rows;
}

static void expect_rows(const parquet_file *f, uint64_t count)
{
    made      m = { .count = count };
    hdx_arena arena = hdx_arena_of(NULL);
    hdx_cell  cells[COLUMNS];
    bool      more;
    cr_assert(f->rows == count && f->column_count == COLUMNS);
    for (uint64_t i = 0; i < count; i++) {
        char list[64];
        hdx_arena_empty(&arena);
        for (unsigned c = 0; c < COLUMNS; c++)
            cells[c] = hdx_cell_null();
        (void)next(&m, &arena, cells, &more, NULL);
        (void)snprintf(list, sizeof list, "[%llu, %llu]", (unsigned long long)i, (unsigned long long)(i % 9));
        for (unsigned c = 0; c < COLUMNS; c++) {
            const parquet_value *v = &f->columns[c].at[i];
            const hdx_cell      *want = &cells[c];
            bool                 same = v->present == (want->kind != HDX_CELL_NULL);
            if (want->kind == HDX_CELL_TEXT)
                same = same && v->len == want->as.text.len && memcmp(v->text, want->as.text.at, v->len) == 0;
            else if (want->kind == HDX_CELL_LIST)
                same = same && strcmp(v->text, list) == 0;
            else if (want->kind == HDX_CELL_BOOL)
                same = same && v->number == want->as.boolean;
            else if (want->kind != HDX_CELL_NULL)
                same = same && memcmp(&v->number, &want->as.natural, 8) == 0;
            cr_assert(same, "column %s, row %llu", columns[c].name, (unsigned long long)i);
        }
    }
    hdx_arena_free(&arena);
}

Test(parquet, has_every_value_of_every_kind_in_either_encoding)
{
    for (int plain_alone = 0; plain_alone < 2; plain_alone++) {
        made         m = { .count = 150000 }; /* more than a page, and than a dictionary of many holds */
        hdx_buffer   out = written(rows_of(&m), plain_alone ? HDX_PARQUET_PLAIN : HDX_PARQUET_DELTA);
        parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
        expect_rows(&f, 150000);
        const unsigned word = plain_alone ? 1u << 2 : 1u << 8;
        cr_expect(f.columns[ID].encodings == (plain_alone ? 1u << 0 : 1u << 5));
        cr_expect(f.columns[FEW].encodings == word);
        cr_expect(f.columns[MANY].encodings == (word | 1u << 0)); /* left where it was full */
        cr_expect(f.columns[SIZE].encodings == word);
        cr_expect(f.columns[FEW].is_text && f.columns[LIST].is_text && !f.columns[ID].is_text);
        cr_expect(f.columns[ID].optional == 0 && f.columns[WHERE].optional == 1);
        parquet_free(&f);
        hdx_buffer_free(&out);
    }
}

Test(parquet, says_least_most_and_nulls_of_numbers)
{
    made         m = { .count = 5000 };
    double       least, most;
    hdx_buffer   out = written(rows_of(&m), HDX_PARQUET_DELTA);
    parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
    int64_t      least_address = INT64_MAX;
    for (uint64_t i = 0; i < 5000; i++)
        if (i % 7 != 3 && (int64_t)mix(i, WHERE) < least_address)
            least_address = (int64_t)mix(i, WHERE);
    cr_expect(f.columns[ID].least == 0 && f.columns[ID].most == 4999 && f.columns[ID].nulls == 0);
    cr_expect(f.columns[WHERE].least == least_address && f.columns[WHERE].least < 0); /* signed, as the type is */
    cr_expect(f.columns[WHERE].nulls == 714);
    cr_expect(f.columns[SIZE].least == 0 && f.columns[SIZE].most == 312 && f.columns[SIZE].nulls == 1500);
    memcpy(&least, &f.columns[SHARE].least, 8);
    memcpy(&most, &f.columns[SHARE].most, 8);
    cr_expect(least == 1. / 8 - 20 && most == 999. / 8 - 20, "%f %f", least, most);
    cr_expect(f.columns[YES].has_bounds && !f.columns[FEW].has_bounds && f.columns[FEW].nulls == 455);
    parquet_free(&f);
    hdx_buffer_free(&out);
}

Test(parquet, says_what_its_columns_are_and_what_the_caller_says)
{
    made         m = { .count = 3 };
    hdx_buffer   out = written(rows_of(&m), HDX_PARQUET_DELTA);
    parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
    cr_assert(f.note_count == 3);
    cr_expect(strcmp(f.notes[0][0], "heapdex.version") == 0);
    cr_expect(strcmp(f.notes[1][0], "heapdex.columns") == 0);
    cr_expect(strstr(f.notes[1][1], "\"size\": {\"type\": \"unsigned\", \"unit\": \"bytes\"}") != NULL);
    cr_expect(strcmp(f.notes[2][0], "heapdex.answer") == 0 && strcmp(f.notes[2][1], "made up") == 0);
    parquet_free(&f);
    hdx_buffer_free(&out);
}

Test(parquet, of_no_rows_and_of_nulls_alone_is_a_file)
{
    for (unsigned count = 0; count < 300000; count += 140000) {
        made         m = { .count = count, .nothing = true };
        hdx_buffer   out = written(rows_of(&m), HDX_PARQUET_DELTA);
        parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
        cr_expect(f.rows == count && f.group_count == (count > 0) && f.column_count == COLUMNS);
        for (uint64_t i = 0; i < count; i++)
            cr_assert(!f.columns[WHERE].at[i].present && !f.columns[FEW].at[i].present &&
                      !f.columns[YES].at[i].present && !f.columns[LIST].at[i].present &&
                      f.columns[ID].at[i].number == i);
        cr_expect(f.columns[WHERE].nulls == count && !f.columns[WHERE].has_bounds);
        parquet_free(&f);
        hdx_buffer_free(&out);
    }
}

Test(parquet, has_row_groups_of_a_binary_million_and_a_dictionary_in_each)
{
    made      m = { .count = (1u << 20) + 77 };
    hdx_rows *rows = rows_of(&m);
    cr_assert(hdx_rows_select(&rows, "id,few", NULL) == HDX_OK);
    hdx_buffer   out = written(rows, HDX_PARQUET_DELTA);
    parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
    cr_assert(f.group_count == 2 && f.group_rows[0] == 1u << 20 && f.group_rows[1] == 77);
    for (uint64_t i = 0; i < f.rows; i++) {
        char word[16];
        (void)snprintf(word, sizeof word, "word %u", (unsigned)(i / 1000 % 3));
        cr_assert(f.columns[0].at[i].number == i);
        cr_assert(f.columns[1].at[i].present == (i % 11 != 5) &&
                  (i % 11 == 5 || strcmp(f.columns[1].at[i].text, word) == 0));
    }
    parquet_free(&f);
    hdx_buffer_free(&out);
}

Test(parquet, is_the_same_again)
{
    made       m = { .count = 20000 }, again = { .count = 20000 };
    hdx_buffer a = written(rows_of(&m), HDX_PARQUET_DELTA), b = written(rows_of(&again), HDX_PARQUET_DELTA);
    cr_expect(a.len == b.len && memcmp(a.at, b.at, a.len) == 0);
    hdx_buffer_free(&a);
    hdx_buffer_free(&b);
}

Test(parquet, has_hostile_texts_as_valid_utf8)
{
    static char             lengthy[40001];
    static const hdx_column text[] = { HDX_COLUMN("text", TEXT, NONE, HDX_COLUMN_NULLABLE, "of a dump") };
    memset(lengthy, 'x', 40000);
    const struct {
        const char *at;
        uint32_t    len;
        const char *shown;
    } all[] = {
        { "quotes \" ' `", 12, "quotes \" ' `" },
        { "a\0b", 3, NULL },
        { "\xff\xfe", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
        { "cut \xe2\x82", 6, "cut \xef\xbf\xbd\xef\xbf\xbd" },
        { "\xed\xa0\x80 half", 8, "\xef\xbf\xbd half" },
        { "\xc0\x80", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80" },
        { "", 0, "" },
        { lengthy, 40000, lengthy },
        { "12345678\xff", 9, "12345678\xef\xbf\xbd" },
    };
    hdx_table *t;
    hdx_rows  *rows;
    cr_assert(hdx_table_new(text, 1, &t, NULL) == HDX_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const hdx_cell cell = hdx_cell_text((hdx_text){ all[i].at, all[i].len });
        cr_assert(hdx_table_add(t, &cell, NULL) == HDX_OK);
    }
    cr_assert(hdx_table_rows(t, &rows, NULL) == HDX_OK);
    hdx_buffer   out = written(rows, HDX_PARQUET_DELTA);
    parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const parquet_value *v = &f.columns[0].at[i];
        const char          *want = all[i].shown != NULL ? all[i].shown : all[i].at;
        const size_t         len = all[i].shown != NULL ? strlen(want) : all[i].len;
        cr_expect(v->present && v->len == len && memcmp(v->text, want, len) == 0, "%zu: %.40s", i, v->text);
    }
    parquet_free(&f);
    hdx_buffer_free(&out);
}

Test(parquet, bounds_of_reals_leave_nan_out)
{
    static const hdx_column real[] = { HDX_COLUMN("real", REAL, NONE, 0, "a number") };
    const double            values[] = { 1.5, NAN, -3 };
    hdx_table              *t;
    hdx_rows               *rows;
    cr_assert(hdx_table_new(real, 1, &t, NULL) == HDX_OK);
    for (size_t i = 0; i < 3; i++)
        cr_assert(hdx_table_add(t, &(const hdx_cell){ .kind = HDX_CELL_REAL, .as.real = values[i] }, NULL) == HDX_OK);
    cr_assert(hdx_table_rows(t, &rows, NULL) == HDX_OK);
    hdx_buffer   out = written(rows, HDX_PARQUET_DELTA);
    parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
    cr_expect(!f.columns[0].has_bounds); /* a reader that skipped by them would miss the NaN */
    parquet_free(&f);
    hdx_buffer_free(&out);
}

static bool refuse(void *left, const char *bytes, size_t len)
{
    (void)bytes;
    (void)len;
    return (*(unsigned *)left)-- > 0;
}

Test(parquet, says_that_the_output_could_not_be_written_and_what_did_not_fit)
{
    const hdx_parquet_options options = { 0 };
    for (unsigned n = 0; n < 6; n++) {
        made           m = { .count = 100 };
        unsigned       left = n;
        hdx_error      err;
        hdx_rows      *rows = rows_of(&m);
        const hdx_sink sink = { refuse, &left };
        cr_expect(hdx_rows_parquet(rows, &options, &sink, &err) == HDX_IO);
        hdx_rows_close(rows);
    }
    for (uint64_t limit = 1000; limit < 40u << 20; limit = limit * 2 + 1) { /* nothing of it is left, either */
        made                 m = { .count = 1000 };
        hdx_mem              mem = { .limit = limit };
        const hdx_rows_maker maker = { columns, COLUMNS, &m, next, NULL, 0 };
        hdx_buffer           out = hdx_buffer_of(NULL);
        const hdx_sink       sink = { put, &out };
        hdx_rows            *rows;
        hdx_error            err;
        if (hdx_rows_make_in(&mem, &maker, &rows, &err) != HDX_OK)
            continue;
        const hdx_code code = hdx_rows_parquet(rows, &options, &sink, &err);
        cr_expect(code == HDX_LIMIT || (code == HDX_OK && limit > 4u << 20), "%llu: %d", (unsigned long long)limit,
                  code);
        hdx_rows_close(rows);
        cr_expect(mem.used == 0);
        hdx_buffer_free(&out);
    }
}
