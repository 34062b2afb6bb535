/* test_saved.c - rows as bytes: what is restored is what was saved, and bytes that are not such rows are refused. */
#include "rows/cursor.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

static const hdx_column entry_members[] = { HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE, "a name"),
                                            HDX_COLUMN("count", UNSIGNED, COUNT, 0, "a count") };
static const hdx_column numbers[] = { HDX_ITEM(SIGNED, "a number") };
static const hdx_column kinds[] = { HDX_COLUMN("class", TEXT, NONE, 0, "a class"),
                                    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "bytes"),
                                    HDX_COLUMN("change", SIGNED, BYTES, 0, "change"),
                                    HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_NULLABLE, "share"),
                                    HDX_COLUMN("whole", BOOL, NONE, 0, "whole"),
                                    HDX_COLUMN("address", ADDRESS, NONE, 0, "address"),
                                    HDX_NESTED("entries", LIST, 0, "entries", entry_members),
                                    HDX_NESTED("numbers", LIST, 0, "numbers", numbers),
                                    HDX_NESTED("one", OBJECT, HDX_COLUMN_NULLABLE, "an entry", entry_members) };
enum { COLUMNS = HDX_COUNT(kinds) };
static const hdx_column extras[] = { HDX_NESTED("total", OBJECT, 0, "totals", entry_members),
                                     HDX_COLUMN("sum", UNSIGNED, COUNT, 0, "a sum") };

static hdx_cell text_of(hdx_arena *arena, unsigned *seed)
{
    char     text[40];
    unsigned len = (unsigned)rand_r(seed) % sizeof text;
    for (unsigned i = 0; i < len; i++)
        text[i] = (char)rand_r(seed); /* zeros and broken UTF-8, too */
    return (hdx_cell){ .kind = HDX_CELL_TEXT, .as.text = { hdx_arena_copy(arena, text, len), len } };
}

static hdx_cell entry_of(hdx_arena *arena, unsigned *seed)
{
    hdx_member *m = hdx_arena_get(arena, 2 * sizeof *m);
    m[0] = (hdx_member){ "name", rand_r(seed) % 3 == 0 ? hdx_cell_null() : text_of(arena, seed) };
    m[1] = (hdx_member){ "count", hdx_cell_uint((uint64_t)rand_r(seed) << rand_r(seed) % 33) };
    return hdx_cell_object(m, 2);
}

static hdx_cell list_of(hdx_arena *arena, unsigned *seed, bool entries)
{
    const unsigned count = (unsigned)rand_r(seed) % 4;
    hdx_cell      *at = hdx_arena_get(arena, (count + 1) * sizeof *at);
    for (unsigned i = 0; i < count; i++)
        at[i] = entries ? entry_of(arena, seed) : hdx_cell_int(rand_r(seed) % 1000 - 500);
    return hdx_cell_list(at, count);
}

static hdx_rows *random_rows(unsigned seed)
{
    hdx_table *t;
    hdx_rows  *rows;
    hdx_cell   cells[COLUMNS];
    cr_assert(eq(int, hdx_table_new(kinds, COLUMNS, &t, NULL), HDX_OK));
    hdx_arena *arena = hdx_table_arena(t);
    for (unsigned n = (unsigned)rand_r(&seed) % 6; n > 0; n--) {
        cells[0] = text_of(arena, &seed);
        cells[1] = hdx_cell_uint(rand_r(&seed) % 4 == 0 ? UINT64_MAX : (uint64_t)rand_r(&seed));
        cells[2] = hdx_cell_int(rand_r(&seed) % 4 == 0 ? INT64_MIN : rand_r(&seed) - 100000);
        cells[3] = rand_r(&seed) % 2 ? hdx_cell_null() : hdx_cell_real(rand_r(&seed) / 8.0);
        cells[4] = hdx_cell_bool(rand_r(&seed) % 2);
        cells[5] = hdx_cell_address((uint64_t)rand_r(&seed) << 20);
        cells[6] = list_of(arena, &seed, true);
        cells[7] = list_of(arena, &seed, false);
        cells[8] = rand_r(&seed) % 2 ? hdx_cell_null() : entry_of(arena, &seed);
        cr_assert(eq(int, hdx_table_add(t, cells, NULL), HDX_OK));
    }
    const hdx_cell total = entry_of(arena, &seed);
    cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
    if (seed % 2)
        cr_assert(eq(int, hdx_rows_set_title(rows, "a title", NULL), HDX_OK));
    if (seed % 3)
        cr_assert(eq(int, hdx_rows_set_nothing(rows, "nothing is in it", NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_add_extra(rows, "total", total, NULL), HDX_OK));
    cr_assert(eq(int, hdx_rows_add_extra(rows, "sum", hdx_cell_uint(seed), NULL), HDX_OK));
    hdx_rows_set_left_out(rows, seed % 5);
    return rows;
}

static hdx_buffer saved(unsigned seed)
{
    hdx_buffer bytes = hdx_buffer_of(NULL);
    hdx_rows  *rows = random_rows(seed);
    bool       fits;
    cr_assert(eq(int, hdx_rows_save(rows, 1u << 20, &bytes, &fits, NULL), HDX_OK));
    cr_assert(fits);
    hdx_rows_close(rows);
    return bytes;
}

static hdx_rows *restored(const hdx_buffer *bytes)
{
    hdx_rows *rows;
    uint8_t  *copy = malloc(bytes->len + !bytes->len); /* exactly as long, so that a read beyond it is noticed */
    memcpy(copy, bytes->at, bytes->len);
    const hdx_code code =
        hdx_rows_restore(NULL, copy, bytes->len, kinds, COLUMNS, extras, HDX_COUNT(extras), &rows, NULL);
    free(copy);
    cr_assert(eq(int, code, HDX_OK));
    return rows;
}

Test(saved, rows_are_restored_as_they_were)
{
    for (unsigned seed = 1; seed <= 300; seed++) {
        hdx_buffer      bytes = saved(seed), again = hdx_buffer_of(NULL);
        hdx_rows       *was = random_rows(seed), *is = restored(&bytes);
        const hdx_cell *want, *got;
        bool            fits;
        cr_assert(ne(ptr, is, NULL), "seed %u", seed);
        cr_expect(eq(u64, is->left_out, was->left_out));
        cr_expect(was->title == NULL ? is->title == NULL : strcmp(is->title, was->title) == 0);
        cr_expect(was->nothing == NULL ? is->nothing == NULL : strcmp(is->nothing, was->nothing) == 0);
        cr_expect(eq(u64, hdx_rows_extra(is, 1)->value.as.natural, hdx_rows_extra(was, 1)->value.as.natural));
        while (hdx_rows_next(was, &want)) {
            cr_assert(hdx_rows_next(is, &got));
            cr_assert(got[0].as.text.len == want[0].as.text.len &&
                      memcmp(got[0].as.text.at, want[0].as.text.at, got[0].as.text.len) == 0);
            cr_assert(got[1].as.natural == want[1].as.natural && got[2].as.integer == want[2].as.integer &&
                      got[3].kind == want[3].kind && got[5].as.address == want[5].as.address &&
                      got[6].as.list.count == want[6].as.list.count && got[8].kind == want[8].kind);
        }
        cr_assert(not(hdx_rows_next(is, &got)));
        hdx_rows_close(is);
        is = restored(&bytes);
        cr_assert(eq(int, hdx_rows_save(is, 1u << 20, &again, &fits, NULL), HDX_OK));
        cr_assert(again.len == bytes.len && memcmp(again.at, bytes.at, bytes.len) == 0, "seed %u", seed);
        hdx_rows_close(was);
        hdx_rows_close(is);
        hdx_buffer_free(&bytes);
        hdx_buffer_free(&again);
    }
}

Test(saved, rows_beyond_the_bound_are_not_saved)
{
    hdx_buffer whole = saved(7);
    for (uint64_t most = 0; most < whole.len + 2; most++) {
        hdx_buffer bytes = hdx_buffer_of(NULL);
        hdx_rows  *rows = random_rows(7);
        bool       fits;
        cr_assert(eq(int, hdx_rows_save(rows, most, &bytes, &fits, NULL), HDX_OK));
        cr_expect(fits == (most >= whole.len), "%llu of %llu bytes", (unsigned long long)most,
                  (unsigned long long)whole.len);
        hdx_rows_close(rows);
        hdx_buffer_free(&bytes);
    }
    hdx_buffer_free(&whole);
}

/* Whatever the bytes are: refused, or rows whose cells have the declared types. */
static void read_all(hdx_rows *rows)
{
    static const hdx_cell_kind of[COLUMNS] = { HDX_CELL_TEXT, HDX_CELL_UINT, HDX_CELL_INT,
                                               HDX_CELL_REAL, HDX_CELL_BOOL, HDX_CELL_ADDRESS,
                                               HDX_CELL_LIST, HDX_CELL_LIST, HDX_CELL_OBJECT };
    hdx_buffer                 store = hdx_buffer_of(NULL);
    const hdx_cell            *cells;
    uint64_t                   unused;
    while (rows != NULL && hdx_rows_next(rows, &cells)) {
        for (unsigned i = 0; i < COLUMNS; i++)
            cr_assert(cells[i].kind == of[i] || cells[i].kind == HDX_CELL_NULL || cells[i].kind == HDX_CELL_ABSENT);
        for (uint64_t i = 0; cells[6].kind == HDX_CELL_LIST && i < cells[6].as.list.count; i++)
            cr_assert(cells[6].as.list.at[i].kind == HDX_CELL_OBJECT || cells[6].as.list.at[i].kind == HDX_CELL_NULL ||
                      cells[6].as.list.at[i].kind == HDX_CELL_ABSENT);
        cr_assert(eq(int, hdx_row_pack(&store, cells, COLUMNS, COLUMNS, &unused, NULL), HDX_OK)); /* reads everything */
    }
    hdx_buffer_free(&store);
    hdx_rows_close(rows);
}

Test(saved, changed_bytes_are_refused_or_rows_of_the_declared_types)
{
    unsigned refused = 0, tried = 0;
    for (unsigned seed = 1; seed <= 40; seed++) {
        hdx_buffer bytes = saved(seed);
        unsigned   lot = seed;
        for (uint64_t i = 0; i < bytes.len; i++)
            for (unsigned n = 0; n < 3; n++, tried++) {
                const char was = bytes.at[i];
                bytes.at[i] = (char)(n == 0 ? was ^ (1 << rand_r(&lot) % 8) : rand_r(&lot));
                hdx_rows *rows = restored(&bytes);
                refused += rows == NULL;
                read_all(rows);
                bytes.at[i] = was;
            }
        for (uint64_t len = bytes.len; len-- > 0;) { /* no beginning of the bytes is a whole answer */
            hdx_buffer part = { .at = bytes.at, .len = len };
            cr_assert(eq(ptr, restored(&part), NULL), "%llu bytes of seed %u", (unsigned long long)len, seed);
        }
        hdx_buffer_free(&bytes);
    }
    cr_expect(gt(uint, refused, tried / 5), "%u of %u", refused, tried);
}
