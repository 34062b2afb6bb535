/*
 * test_runs.c - the same rows one by one and in runs of any length, with and without marks of what is there: the same
 * Parquet file byte for byte, and Arrow batches with the same values. And what ends a run, a page, a dictionary.
 */
#include "columns/arrow_reader.h"
#include "columns/columns.h"
#include "columns/parquet_reader.h"
#include "support/refusing.h"

#include <errno.h>
#include <stdio.h>

enum { ID, WHERE, SHARE, YES, KIND, NAME, NEVER, LATE, ONCE, COLUMNS };
static const hdx_column columns[COLUMNS] = {
    [ID] = HDX_COLUMN("id", UNSIGNED, NONE, 0, "rises"),
    [WHERE] = HDX_COLUMN("where", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "often there"),
    [SHARE] = HDX_COLUMN("share", REAL, PERCENT, HDX_COLUMN_NULLABLE, "for long there, then not"),
    [YES] = HDX_COLUMN("yes", BOOL, NONE, HDX_COLUMN_NULLABLE, "true or false"),
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_FEW, "one of a few that last"),
    [NAME] = HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE, "another one in each row"),
    [NEVER] = HDX_COLUMN("never", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "nobody asked for it"),
    [LATE] = HDX_COLUMN("late", SIGNED, NONE, HDX_COLUMN_NULLABLE, "not there at first"),
    [ONCE] = HDX_COLUMN("once", UNSIGNED, NONE, HDX_COLUMN_NULLABLE, "absent in one row"),
};
static const hdx_text kinds[] = { { "instance", 8 }, { "", 0 }, { "class", 5 }, { "array \xff of", 10 } };
#define KINDS 4u

typedef struct source {
    uint64_t at, count, seed;
    uint32_t longest; /* run; 0: rows come one by one */
    uint64_t fails;   /* at this row */
    uint64_t numbers[COLUMNS][HDX_RUN_ROWS], there[COLUMNS][HDX_RUN_ROWS / 64];
    char     names[HDX_RUN_ROWS][24];
    hdx_text each[HDX_RUN_ROWS];
} source;

static uint64_t mix(uint64_t i, uint64_t of) { return hdx_mix64(i * 16 + of); }

static hdx_cell cell_of(uint64_t i, unsigned column, char *name)
{
    switch (column) {
    case ID: return hdx_cell_uint(i);
    case WHERE: return mix(i / 5000, 9) % 3 > 0 && mix(i, 1) % 4 == 0 ? hdx_cell_null() : hdx_cell_address(mix(i, 2));
    case SHARE: return i > 3000 && i % 3 == 0 ? hdx_cell_null() : hdx_cell_real((double)(mix(i, 3) % 900) / 4);
    case YES: return mix(i / 1000, 4) % 2 == 0 && i % 5 == 1 ? hdx_cell_null() : hdx_cell_bool(mix(i, 5) % 2 == 1);
    case KIND: return i % 701 == 13 ? hdx_cell_null() : hdx_cell_text(kinds[mix(i / 9, 6) % (i < 9000 ? 2 : KINDS)]);
    case NAME:
        (void)snprintf(name, 24, "%llx", (unsigned long long)mix(i, 7));
        return i % 17 == 3 ? hdx_cell_null() : hdx_cell_string(name);
    case LATE: return i < 2500 ? hdx_cell_null() : hdx_cell_int((int64_t)(i % 77) - 40);
    case ONCE: return i == 5 ? hdx_cell_null() : hdx_cell_uint(i / 3);
    default: return hdx_cell_null();
    }
}

static hdx_code next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    source *s = state;
    (void)arena;
    if (s->fails != 0 && s->at == s->fails)
        return hdx_fail(err, HDX_DAMAGED, "a.hdx", 12, "row %llu cannot be read", (unsigned long long)s->at);
    *more = s->at < s->count;
    for (unsigned c = 0; *more && c < COLUMNS; c++)
        cells[c] = cell_of(s->at, c, s->names[0]);
    s->at += *more;
    return HDX_OK;
}

/* Marks of what is there stay away where all is, now and then. */
static hdx_code run(void *state, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    source  *s = state;
    uint64_t n = 1 + (s->seed = hdx_mix64(s->seed + 1)) % s->longest;
    (void)err;
    n = hdx_least(n, hdx_least(most, s->count - s->at));
    for (unsigned c = 0; c < COLUMNS; c++) {
        uint64_t has = 0;
        memset(s->there[c], 0, sizeof s->there[c]);
        for (uint32_t i = 0; i < n; i++) {
            const hdx_cell cell = cell_of(s->at + i, c, s->names[i]);
            has += cell.kind != HDX_CELL_NULL;
            if (cell.kind != HDX_CELL_NULL)
                hdx_bits_put(s->there[c], i);
            memcpy(&s->numbers[c][i], &cell.as.natural, 8);
            if (c == YES)
                s->numbers[c][i] = cell.kind != HDX_CELL_NULL && cell.as.boolean;
            if (c == KIND)
                s->numbers[c][i] =
                    cell.kind == HDX_CELL_NULL ? 1000 : mix((s->at + i) / 9, 6) % (s->at + i < 9000 ? 2 : KINDS);
            if (c == NAME)
                s->each[i] = hdx_cell_string(s->names[i]).as.text;
        }
        const bool marked = has < n || (s->seed >> c) % 2 == 0;
        out[c] = (hdx_vector){ .numbers = s->numbers[c], .present = marked ? s->there[c] : NULL };
    }
    out[KIND].texts = kinds;
    out[KIND].text_count = KINDS;
    out[NAME].numbers = NULL;
    out[NAME].each = s->each;
    out[NEVER] = (hdx_vector){ .numbers = NULL };
    s->at += n;
    *count = (uint32_t)n;
    return HDX_OK;
}

static hdx_rows *rows_of(source *s, uint64_t count, uint32_t longest)
{
    const hdx_rows_maker maker = { columns, COLUMNS, s, next, NULL, 0 };
    hdx_rows            *rows;
    *s = (source){ .count = count, .longest = longest, .seed = count + longest };
    cr_assert(hdx_rows_make(&maker, &rows, NULL) == HDX_OK);
    if (longest > 0)
        hdx_rows_set_run(rows, run);
    return rows;
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
    const hdx_parquet_options options = { .encoding = encoding };
    hdx_error                 err = { 0 };
    cr_assert(hdx_rows_parquet(rows, &options, &sink, &err) == HDX_OK, "%s", err.message);
    hdx_rows_close(rows);
    return out;
}

/* ---- the same rows ---- */

Test(runs, of_any_length_give_the_same_parquet_file_as_single_rows)
{
    static const uint64_t counts[] = { 1, 64, 4095, 4097, 1u << 17, (1u << 17) + 1 };
    static source         s;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const hdx_parquet_encoding encoding = i % 2 == 0 ? HDX_PARQUET_DELTA : HDX_PARQUET_PLAIN;
        hdx_buffer                 want = written(rows_of(&s, counts[i], 0), encoding);
        parquet_file               f = parquet_read((const uint8_t *)want.at, want.len);
        cr_expect(f.rows == counts[i] && f.version == (i % 2 == 0 ? 2 : 1));
        cr_expect(f.columns[ID].page_count == 1 + (counts[i] > 1u << 17) &&
                  f.columns[ID].pages[0] == hdx_least(counts[i], 1u << 17));
        for (uint64_t k = 0; k < counts[i]; k++) {
            char           name[24];
            const hdx_cell id = cell_of(k, ID, name), where = cell_of(k, WHERE, name);
            const hdx_cell late = cell_of(k, LATE, name), named = cell_of(k, NAME, name);
            cr_assert(f.columns[ID].at[k].number == id.as.natural);
            cr_assert(f.columns[WHERE].at[k].present == (where.kind != HDX_CELL_NULL));
            cr_assert(where.kind == HDX_CELL_NULL || f.columns[WHERE].at[k].number == where.as.address);
            cr_assert(late.kind == HDX_CELL_NULL ? !f.columns[LATE].at[k].present
                                                 : (int64_t)f.columns[LATE].at[k].number == late.as.integer);
            cr_assert(named.kind == HDX_CELL_NULL || strcmp(f.columns[NAME].at[k].text, name) == 0);
            cr_assert(!f.columns[NEVER].at[k].present);
        }
        parquet_free(&f);
        for (unsigned k = 0; k < 4; k++) {
            static const uint32_t lengths[] = { 3000, 1, 7, HDX_RUN_ROWS };
            const uint32_t        longest = lengths[k];
            if (k > 0 && counts[i] > 5000)
                break;
            hdx_buffer out = written(rows_of(&s, counts[i], longest), encoding);
            cr_expect(out.len == want.len && memcmp(out.at, want.at, out.len) == 0, "%llu rows in runs of %u",
                      (unsigned long long)counts[i], longest);
            hdx_buffer_free(&out);
        }
        hdx_buffer_free(&want);
    }
}

Test(runs, of_any_length_give_arrow_batches_with_the_same_values)
{
    static const uint64_t counts[] = { 1, 64, 4097, 61440, 61441, 70000 };
    static source         s;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint32_t longest = 0; longest <= HDX_RUN_ROWS; longest = longest == 0 ? 50 : longest * 60) {
            struct ArrowArrayStream stream;
            struct ArrowSchema      schema;
            struct ArrowArray       batch;
            uint64_t                row = 0, nulls[COLUMNS];
            cr_assert(hdx_rows_arrow(rows_of(&s, counts[i], longest), &stream, NULL) == HDX_OK);
            cr_assert(stream.get_schema(&stream, &schema) == 0);
            arrow_check_schema(&schema, columns, COLUMNS);
            while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
                cr_assert((uint64_t)batch.length == hdx_least(counts[i] - row, 61440));
                memset(nulls, 0, sizeof nulls);
                for (uint64_t k = 0; k < (uint64_t)batch.length; k++)
                    for (unsigned c = 0; c < COLUMNS; c++) {
                        char           name[24];
                        const hdx_cell cell = cell_of(row + k, c, name);
                        nulls[c] += cell.kind == HDX_CELL_NULL;
                        arrow_expect_cell(batch.children[c], (int64_t)k, &columns[c], &cell);
                    }
                for (unsigned c = 0; c < COLUMNS; c++) {
                    arrow_check_array(schema.children[c], batch.children[c]);
                    cr_assert((uint64_t)batch.children[c]->null_count == nulls[c]);
                    cr_assert((batch.children[c]->buffers[0] != NULL) ==
                              (nulls[c] > 0)); /* bits only where it matters */
                }
                cr_assert(
                    (uint64_t)batch.children[KIND]->dictionary->length ==
                        (row + (uint64_t)batch.length <= 9000 ? hdx_least(row + (uint64_t)batch.length, 2) : KINDS) ||
                    counts[i] == 1);
                row += (uint64_t)batch.length;
                batch.release(&batch);
            }
            cr_assert(row == counts[i] && stream.get_last_error(&stream) == NULL);
            schema.release(&schema);
            stream.release(&stream);
        }
}

Test(runs, batches_share_a_dictionary_that_has_not_grown)
{
    static source           s;
    struct ArrowArrayStream stream;
    struct ArrowArray       batches[3];
    cr_assert(hdx_rows_arrow(rows_of(&s, 150000, 0), &stream, NULL) == HDX_OK);
    for (unsigned i = 0; i < 3; i++)
        cr_assert(stream.get_next(&stream, &batches[i]) == 0 && batches[i].release != NULL);
    stream.release(&stream);
    for (unsigned i = 1; i < 3; i++)
        cr_expect(batches[i].children[KIND]->dictionary->buffers[2] ==
                  batches[0].children[KIND]->dictionary->buffers[2]);
    for (unsigned i = 0; i < 3; i++) /* each keeps it until the last is released */
        batches[i].release(&batches[i]);
}

/* One lasting text a row, in runs: "instance" until row 10, then the others in turn. */
static hdx_code run_of_kinds(void *state, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    source *s = state;
    (void)err;
    *count = (uint32_t)hdx_least(most, s->count - s->at);
    for (uint32_t i = 0; i < *count; i++)
        s->numbers[0][i] = s->at + i < 10 ? 0 : (s->at + i) % KINDS;
    s->at += *count;
    *out = (hdx_vector){ .numbers = s->numbers[0], .texts = kinds, .text_count = KINDS };
    return HDX_OK;
}

Test(runs, each_row_group_has_a_dictionary_of_its_own)
{
    static const hdx_column one[] = { HDX_COLUMN("kind", TEXT, NONE, HDX_COLUMN_FEW, "one of a few that last") };
    static source           s;
    const hdx_rows_maker    maker = { one, 1, &s, next, NULL, 0 };
    hdx_rows               *rows;
    s = (source){ .count = (1u << 20) + 11 };
    cr_assert(hdx_rows_make(&maker, &rows, NULL) == HDX_OK);
    hdx_rows_set_run(rows, run_of_kinds);
    hdx_buffer   out = written(rows, HDX_PARQUET_DELTA);
    parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
    cr_assert(f.group_count == 2 && f.group_rows[0] == 1u << 20 && f.group_rows[1] == 11);
    for (uint64_t i = 0; i < f.rows; i++)
        cr_assert(f.columns[0].at[i].len == (i < 10 || i % KINDS != 3 ? kinds[i < 10 ? 0 : i % KINDS].len : 12) &&
                  f.columns[0].at[i].text[0] == *kinds[i < 10 ? 0 : i % KINDS].at);
    parquet_free(&f);
    hdx_buffer_free(&out);
}

/* ---- any number of columns, any cell ---- */

static hdx_rows *one_row_of(const hdx_column *of, unsigned count, const hdx_cell *cells)
{
    hdx_table *t;
    hdx_rows  *rows;
    cr_assert(hdx_table_new(of, count, &t, NULL) == HDX_OK && hdx_table_add(t, cells, NULL) == HDX_OK);
    cr_assert(hdx_table_rows(t, &rows, NULL) == HDX_OK);
    return rows;
}

Test(runs, a_file_has_any_number_of_columns_but_none)
{
    hdx_column many[40];
    hdx_cell   cells[40];
    hdx_error  err;
    for (unsigned count = 1; count <= 40; count++) {
        static char names[40][8];
        (void)snprintf(names[count - 1], sizeof *names, "c%u", count);
        many[count - 1] = (hdx_column)HDX_COLUMN(names[count - 1], UNSIGNED, NONE, HDX_COLUMN_NULLABLE, "a number");
        cells[count - 1] = hdx_cell_uint(count * 5);
        hdx_buffer   out = written(one_row_of(many, count, cells), HDX_PARQUET_DELTA);
        parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
        cr_assert(f.column_count == count && f.rows == 1);
        for (unsigned c = 0; c < count; c++)
            cr_expect(f.columns[c].at[0].number == (c + 1) * 5 && f.columns[c].has_bounds &&
                      f.columns[c].least == f.columns[c].most && f.columns[c].most == (c + 1) * 5);
        parquet_free(&f);
        hdx_buffer_free(&out);
    }
    hdx_buffer                out = hdx_buffer_of(NULL);
    const hdx_sink            sink = { put, &out };
    const hdx_parquet_options options = { 0 };
    hdx_rows                 *rows = one_row_of(many, 0, cells);
    cr_expect(hdx_rows_parquet(rows, &options, &sink, &err) == HDX_USAGE && out.len == 0);
    cr_expect(strcmp(err.message, "no columns to write") == 0);
    hdx_rows_close(rows);
}

Test(runs, what_is_absent_is_null_but_of_columns_that_are_json)
{
    static const hdx_column item[] = { HDX_ITEM(UNSIGNED, "a number") };
    static const hdx_column of[] = { HDX_COLUMN("number", UNSIGNED, NONE, HDX_COLUMN_NULLABLE, "one"),
                                     HDX_COLUMN("text", TEXT, NONE, HDX_COLUMN_NULLABLE, "one"),
                                     HDX_COLUMN("real", REAL, NONE, HDX_COLUMN_NULLABLE, "one"),
                                     HDX_COLUMN("yes", BOOL, NONE, HDX_COLUMN_NULLABLE, "one"),
                                     HDX_COLUMN("any", ANY, NONE, HDX_COLUMN_NULLABLE, "one"),
                                     HDX_NESTED("list", LIST, HDX_COLUMN_NULLABLE, "some", item),
                                     HDX_NESTED("object", OBJECT, HDX_COLUMN_NULLABLE, "some", item) };
    hdx_cell                absent[7];
    hdx_buffer              json = hdx_buffer_of(NULL);
    for (unsigned i = 0; i < 7; i++)
        absent[i] = (hdx_cell){ .kind = HDX_CELL_ABSENT };
    hdx_render_json_cell(&json, &absent[0]);
    hdx_buffer   out = written(one_row_of(of, 7, absent), HDX_PARQUET_DELTA);
    parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
    for (unsigned i = 0; i < 7; i++)
        cr_expect(f.columns[i].at[0].present == (i > 3), "%s", of[i].name);
    for (unsigned i = 4; i < 7; i++)
        cr_expect(f.columns[i].at[0].len == json.len && memcmp(f.columns[i].at[0].text, json.at, json.len) == 0);
    parquet_free(&f);
    hdx_buffer_free(&out);
    hdx_buffer_free(&json);
}

/* ---- what fails ---- */

/* Whole, or HDX_LIMIT, whichever request for memory is refused. */
static hdx_code one_refused(unsigned n, bool arrow, hdx_buffer *out, bool *refused)
{
    static source           s;
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema = { 0 };
    struct ArrowArray       batch = { 0 };
    hdx_error               err;
    hdx_rows               *rows = rows_of(&s, 3000, 500);
    const hdx_sink          sink = { put, out };
    hdx_code                code;
    if (!arrow) {
        const hdx_parquet_note    note = { "heapdex.answer", "made up" };
        const hdx_parquet_options options = { HDX_PARQUET_DELTA, &note, 1 };
        (void)hdx_buffer_room(out, 1u << 20);
        refusing_memory(n);
        code = hdx_rows_parquet(rows, &options, &sink, &err);
        *refused = refusing_ends();
        hdx_rows_close(rows);
        return code;
    }
    refusing_memory(n);
    if ((code = hdx_rows_arrow(rows, &stream, &err)) != HDX_OK) {
        *refused = true;
        return code;
    }
    code = stream.get_schema(&stream, &schema) == 0 ? HDX_OK : HDX_LIMIT;
    if (code == HDX_OK && stream.get_next(&stream, &batch) != 0)
        code = HDX_LIMIT;
    *refused = refusing_ends();
    refusing_memory(0); /* what is looked at from here on needs some, too */
    if (schema.release != NULL) {
        arrow_check_schema(&schema, columns, COLUMNS);
        schema.release(&schema);
    }
    if (code == HDX_OK) {
        cr_assert(batch.length == 3000);
        for (unsigned c = 0; c < COLUMNS; c++)
            for (uint64_t k = 0; k < 3000; k++) {
                char           name[24];
                const hdx_cell cell = cell_of(k, c, name);
                arrow_expect_cell(batch.children[c], (int64_t)k, &columns[c], &cell);
            }
        batch.release(&batch);
    } else {
        cr_expect(strstr(stream.get_last_error(&stream), "no memory for") != NULL, "%s",
                  stream.get_last_error(&stream));
    }
    stream.release(&stream);
    return code;
}

Test(runs, memory_that_is_refused_is_told)
{
    for (int arrow = 0; arrow < 2; arrow++) {
        hdx_buffer whole = hdx_buffer_of(NULL), out = hdx_buffer_of(NULL);
        unsigned   told = 0;
        bool       refused;
        cr_assert(one_refused(1000000, arrow, &whole, &refused) == HDX_OK && !refused);
        for (unsigned n = 1;; n++) {
            hdx_buffer_clear(&out);
            const hdx_code code = one_refused(n, arrow, &out, &refused);
            if (!refused)
                break;
            cr_expect(code == HDX_LIMIT || (code == HDX_OK && out.len == whole.len &&
                                            (out.len == 0 || memcmp(out.at, whole.at, out.len) == 0)),
                      "%s, request %u: %d", arrow ? "Arrow" : "Parquet", n, code);
            told += code == HDX_LIMIT;
        }
        cr_expect(told > 30, "%u", told);
        hdx_buffer_free(&whole);
        hdx_buffer_free(&out);
    }
}

Test(runs, rows_before_a_failure_are_given_and_then_it_is_told)
{
    static source           s;
    struct ArrowArrayStream stream;
    struct ArrowArray       batch;
    hdx_runs                runs;
    hdx_error               err;
    hdx_rows               *rows = rows_of(&s, 5000, 0);
    s.fails = 1500;
    cr_assert(hdx_runs_open(rows, &runs, &err) == HDX_OK);
    cr_expect(hdx_runs_next(&runs, HDX_RUN_ROWS, &err) == HDX_OK && runs.count == 1024);
    cr_expect(hdx_runs_next(&runs, 400, &err) == HDX_OK && runs.count == 400);
    cr_expect(hdx_runs_next(&runs, HDX_RUN_ROWS, &err) == HDX_OK && runs.count == 76);
    cr_expect(hdx_runs_next(&runs, HDX_RUN_ROWS, &err) == HDX_DAMAGED && runs.count == 0);
    cr_expect(strcmp(err.message, "row 1500 cannot be read") == 0 && err.offset == 12);
    hdx_runs_close(&runs);
    hdx_rows_close(rows);
    rows = rows_of(&s, 5000, 0);
    s.fails = 1;
    cr_assert(hdx_runs_open(rows, &runs, &err) == HDX_OK);
    cr_expect(hdx_runs_next(&runs, 400, &err) == HDX_OK && runs.count == 1);
    cr_expect(hdx_runs_next(&runs, 400, &err) == HDX_DAMAGED && runs.count == 0);
    hdx_runs_close(&runs);
    hdx_rows_close(rows);
    rows = rows_of(&s, 5000, 0);
    s.fails = 1500;
    cr_assert(hdx_rows_arrow(rows, &stream, &err) == HDX_OK && stream.get_last_error(&stream) == NULL);
    cr_expect(stream.get_next(&stream, &batch) == EIO && batch.release == NULL);
    cr_expect(strcmp(stream.get_last_error(&stream), "a.hdx: row 1500 cannot be read") == 0, "%s",
              stream.get_last_error(&stream));
    stream.release(&stream);
}

/* A text column of which each row has so many bytes, and differs from those before. */
typedef struct texts {
    uint64_t at, count;
    uint32_t len, first_len;
    unsigned wrong; /* 1: a row has none, 2: another kind of cell */
    char    *text;
} texts;

static hdx_code next_text(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    texts *t = state;
    (void)arena;
    (void)err;
    if (!(*more = t->at < t->count))
        return HDX_OK;
    const uint32_t len = t->at == 0 && t->first_len > 0 ? t->first_len : t->len;
    (void)snprintf(t->text, 16, "%08llx", (unsigned long long)t->at++);
    t->text[8] = 'x';
    cells[0] = hdx_cell_text((hdx_text){ t->text, len });
    return HDX_OK;
}

static const hdx_column one_text[] = { HDX_COLUMN("text", TEXT, NONE, 0, "long") };

static hdx_rows *texts_of(texts *t, uint64_t count, uint32_t len, uint32_t first_len)
{
    const hdx_rows_maker maker = { one_text, 1, t, next_text, NULL, 0 };
    hdx_rows            *rows;
    *t = (texts){ .count = count, .len = len, .first_len = first_len };
    t->text = malloc(len > first_len ? len + 16u : first_len + 16u);
    memset(t->text, 'x', len > first_len ? len : first_len);
    cr_assert(hdx_rows_make(&maker, &rows, NULL) == HDX_OK);
    return rows;
}

Test(runs, end_after_a_binary_megabyte_of_texts)
{
    texts     t;
    hdx_runs  runs;
    hdx_rows *rows = texts_of(&t, 10, 1u << 19, (1u << 19) - 1);
    cr_assert(hdx_runs_open(rows, &runs, NULL) == HDX_OK);
    cr_expect(hdx_runs_next(&runs, 1024, NULL) == HDX_OK && runs.count == 3); /* a byte short of it after two */
    cr_expect(hdx_runs_next(&runs, 1024, NULL) == HDX_OK && runs.count == 2);
    hdx_runs_close(&runs);
    hdx_rows_close(rows);
    free(t.text);
}

static parquet_file texts_read(uint64_t count, uint32_t len, uint32_t first_len)
{
    texts        t;
    hdx_buffer   out = written(texts_of(&t, count, len, first_len), HDX_PARQUET_DELTA);
    parquet_file f = parquet_read((const uint8_t *)out.at, out.len);
    cr_assert(f.rows == count);
    for (uint64_t i = 0; i < count; i++)
        cr_assert(f.columns[0].at[i].len == (i == 0 && first_len > 0 ? first_len : len) &&
                  strtoull(f.columns[0].at[i].text, NULL, 16) == i);
    hdx_buffer_free(&out);
    free(t.text);
    return f;
}

Test(runs, a_dictionary_has_a_binary_megabyte_of_texts_and_of_entries_65536)
{
    static const struct {
        uint64_t count;
        uint32_t len, first_len;
        unsigned pages;
        uint64_t first; /* rows of the first page */
        bool     left;
    } cases[] = {
        { 1024, 1020, 0, 1, 1024, false }, /* with their lengths the texts are just as long as may be */
        { 1024, 1020, 1021, 2, 1023, true }, { 1025, 1020, 0, 2, 1024, true },
        { 65536, 9, 0, 1, 65536, false },    { 65537, 9, 0, 2, 65536, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parquet_file          f = texts_read(cases[i].count, cases[i].len, cases[i].first_len);
        const parquet_column *c = &f.columns[0];
        cr_expect(c->page_count == cases[i].pages && c->pages[0] == cases[i].first, "%zu: %u pages, %llu rows", i,
                  c->page_count, (unsigned long long)c->pages[0]);
        cr_expect(c->encodings == (1u << 8 | (cases[i].left ? 1u : 0)), "%zu: %llx", i,
                  (unsigned long long)c->encodings);
        parquet_free(&f);
    }
}

Test(runs, a_page_of_texts_without_a_dictionary_ends_at_a_binary_megabyte)
{
    parquet_file          f = texts_read(4 * 1024 + 1, 1020, 0);
    const parquet_column *c = &f.columns[0];
    cr_expect(c->page_count == 5 && c->pages[1] == 1024 && c->pages[3] == 1024 && c->pages[4] == 1, "%u",
              c->page_count);
    parquet_free(&f);
    f = texts_read(3, 2u << 20, 0);
    cr_expect(f.columns[0].page_count == 3);
    parquet_free(&f);
}

/* ---- numbers: which way is shortest ---- */

typedef struct numbers {
    uint64_t at, count;
    uint64_t (*of)(uint64_t i);
} numbers;

static hdx_code next_number(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    numbers *n = state;
    (void)arena;
    (void)err;
    if ((*more = n->at < n->count))
        cells[0] = hdx_cell_uint(n->of(n->at++));
    return HDX_OK;
}

static uint64_t steps(uint64_t i) { return i * 24 + 7; }
static uint64_t anything(uint64_t i) { return mix(i, 1); }
static uint64_t few(uint64_t i) { return mix(mix(i, 1) % 50, 2); }
static uint64_t few_then_anything(uint64_t i) { return i < 1u << 17 ? few(i) : anything(i); }
static uint64_t half_and_more(uint64_t i) { return mix(mix(i, 1) % 30000, 2); }
static uint64_t first_few_that_rise(uint64_t i) { return i < 1u << 17 ? mix(i, 1) % 60000 / 2 * 8 : steps(i); }

Test(runs, numbers_are_written_the_shortest_way_of_the_first_page)
{
    static const hdx_column one[] = { HDX_COLUMN("number", UNSIGNED, NONE, 0, "one") };
    static const struct {
        uint64_t (*of)(uint64_t i);
        uint64_t count;
        unsigned encodings, encodings_plain;
    } cases[] = {
        { steps, 5000, 1u << 5, 1u << 0 },
        { anything, 5000, 1u << 0, 1u << 0 },
        { few, 5000, 1u << 8, 1u << 2 },
        { few, 300000, 1u << 8, 1u << 2 },
        { few_then_anything, 300000, 1u << 8 | 1u << 0, 1u << 2 | 1u << 0 },
        { half_and_more, 200000, 1u << 8, 1u << 2 },
        { first_few_that_rise, 300000, 1u << 5, 1u << 2 | 1u << 0 },
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool           plain_alone = i % 2 == 1;
        numbers              n = { .count = cases[i / 2].count, .of = cases[i / 2].of };
        const hdx_rows_maker maker = { one, 1, &n, next_number, NULL, 0 };
        hdx_rows            *rows;
        cr_assert(hdx_rows_make(&maker, &rows, NULL) == HDX_OK);
        hdx_buffer     out = written(rows, plain_alone ? HDX_PARQUET_PLAIN : HDX_PARQUET_DELTA);
        parquet_file   f = parquet_read((const uint8_t *)out.at, out.len);
        const unsigned want = plain_alone ? cases[i / 2].encodings_plain : cases[i / 2].encodings;
        cr_expect(f.columns[0].encodings == want, "%zu: %llx, not %x", i, (unsigned long long)f.columns[0].encodings,
                  want);
        for (uint64_t k = 0; k < f.rows; k++)
            cr_assert(f.columns[0].at[k].number == n.of(k));
        parquet_free(&f);
        hdx_buffer_free(&out);
    }
}
