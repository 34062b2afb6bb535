/*
 * written.h - tables of a dump, written and read back: of each format the same text, a line a row, a bar behind each
 * value.
 *
 *     fleet_test t;
 *     fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
 *     fleet_write(&t, HDX_FLEET_CSV, "a");                OUT/tables/dump_id=a
 *     char *text = fleet_read(&t, HDX_FLEET_CSV, "a", "classes");
 *     fleet_end(&t);
 *
 * Numbers are as SQL has them (an address from 2^63 on is negative), null and the empty text are nothing, real numbers
 * have all their digits.
 */
#ifndef HDX_TESTS_FLEET_WRITTEN_H
#define HDX_TESTS_FLEET_WRITTEN_H

#include "answer/answer.h"
#include "columns/parquet_reader.h"
#include "fleet/fleet.h"
#include "render/render.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct fleet_test {
    char              folder[TEST_FOLDER], out[128], index[128];
    hdx_session      *s;
    hdx_fleet_options o;
    hdx_error         err;
} fleet_test;

static inline void fleet_open(fleet_test *t, const char *dump, const char *index)
{
    (void)snprintf(t->index, sizeof t->index, "%s/%s.hdx", t->folder, index);
    const hdx_index_options options = { .dump = dump, .index_dir = t->index, .threads = 1 };
    cr_assert(hdx_session_open(&options, &t->s, &t->err) == HDX_OK, "%s", t->err.message);
}

static inline void fleet_begin(fleet_test *t, const char *dump)
{
    *t = (fleet_test){ .err = { .offset = HDX_NOWHERE } };
    test_folder_make_fast(t->folder, "fleet");
    (void)snprintf(t->out, sizeof t->out, "%s/out", t->folder);
    t->o.out = t->out;
    if (dump != NULL)
        fleet_open(t, dump, "a");
}

static inline void fleet_end(fleet_test *t)
{
    hdx_session_close(t->s);
    test_folder_remove(t->folder);
}

static inline hdx_code fleet_try(fleet_test *t, hdx_fleet_format format, const char *id)
{
    t->o.format = format;
    t->o.dump_id = id;
    return hdx_fleet_write(t->s, &t->o, &t->err);
}

static inline void fleet_write(fleet_test *t, hdx_fleet_format format, const char *id)
{
    cr_assert(fleet_try(t, format, id) == HDX_OK, "%s: %s", t->err.where, t->err.message);
}

/* ---- values as text ---- */

/* A control character is its picture (U+2400 ..), as it is in CSV. */
static inline void put_text(hdx_buffer *b, const char *text, uint64_t len)
{
    for (uint64_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool          control = c < 0x20 && c != '\t' && c != '\n' && c != '\r';
        const char          picture[3] = { '\xe2', '\x90', (char)(0x80 + c) };
        hdx_buffer_put(b, control ? picture : text + i, control ? 3 : 1);
    }
}

static inline void put_value(hdx_buffer *b, hdx_type type, bool there, uint64_t bits, const char *text, uint64_t len)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    if (!there)
        ;
    else if (type == HDX_TYPE_REAL)
        hdx_buffer_format(b, "%.17g", real);
    else if (type == HDX_TYPE_TEXT)
        put_text(b, text, len);
    else
        hdx_buffer_format(b, "%lld", (long long)bits);
    hdx_buffer_text(b, "|");
}

static inline void put_cell(hdx_buffer *b, hdx_type type, const hdx_cell *c)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    uint64_t   bits = c->as.natural;
    if (c->kind == HDX_CELL_TEXT)
        hdx_render_utf8(&text, c->as.text.at, c->as.text.len);
    if (c->kind == HDX_CELL_BOOL)
        bits = c->as.boolean;
    put_value(b, type, c->kind != HDX_CELL_NULL && c->kind != HDX_CELL_ABSENT, bits, text.at, text.len);
    hdx_buffer_free(&text);
}

static inline char *taken(hdx_buffer *b)
{
    char *text = calloc(1, b->len + 1);
    cr_assert(!b->failed && text != NULL);
    if (b->len > 0)
        memcpy(text, b->at, b->len);
    hdx_buffer_free(b);
    return text;
}

/* The first `count` columns of all rows that are left, closed then. */
static inline char *rows_text(hdx_rows *rows, unsigned first, unsigned count)
{
    unsigned          all;
    const hdx_column *columns = hdx_rows_columns(rows, &all);
    const hdx_cell   *cells;
    hdx_buffer        b = hdx_buffer_of(NULL);
    cr_assert(first + count <= all);
    while (hdx_rows_next(rows, &cells)) {
        for (unsigned i = first; i < first + count; i++)
            put_cell(&b, columns[i].type, &cells[i]);
        hdx_buffer_text(&b, "\n");
    }
    hdx_error err = { .offset = HDX_NOWHERE };
    cr_assert(hdx_rows_end(rows, &err) == HDX_OK, "%s", err.message);
    hdx_rows_close(rows);
    return taken(&b);
}

/* ---- reading tables ---- */

typedef struct fleet_part { /* columns of a table */
    unsigned first, count;
} fleet_part;

static inline bool in_part(fleet_part part, unsigned i) { return i >= part.first && i < part.first + part.count; }

static inline hdx_fleet_declared fleet_declared(const char *table)
{
    hdx_fleet_declared d;
    unsigned           i = 0;
    while (hdx_fleet_table_at(i, &d) && strcmp(d.name, table) != 0)
        i++;
    cr_assert(hdx_fleet_table_at(i, &d), "%s", table);
    return d;
}

static inline char *file_bytes(const char *path, uint64_t *len)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    (void)fseek(file, 0, SEEK_END);
    *len = (uint64_t)ftell(file);
    rewind(file);
    char *bytes = calloc(1, *len + 1);
    cr_assert(fread(bytes, 1, *len, file) == *len);
    (void)fclose(file);
    return bytes;
}

static inline char *read_parquet(const char *path, const hdx_fleet_declared *d, fleet_part part)
{
    uint64_t     len;
    char        *bytes = file_bytes(path, &len);
    parquet_file f = parquet_read((const uint8_t *)bytes, len);
    hdx_buffer   b = hdx_buffer_of(NULL);
    cr_assert(f.column_count == d->column_count, "%s: %u columns", path, f.column_count);
    for (unsigned i = 0; i < f.column_count; i++)
        cr_expect(strcmp(f.columns[i].name, d->columns[i].name) == 0, "%s: %s", path, f.columns[i].name);
    for (uint64_t row = 0; row < f.rows; row++) {
        for (unsigned i = 0; i < f.column_count; i++) {
            const parquet_value *v = &f.columns[i].at[row];
            if (in_part(part, i))
                put_value(&b, d->columns[i].type, v->present, v->number, v->text, v->len);
        }
        hdx_buffer_text(&b, "\n");
    }
    parquet_free(&f);
    free(bytes);
    return taken(&b);
}

/* One value behind `at`, quotes taken off; what follows it, a comma or the end of the line, is passed over. */
static inline const char *csv_value(const char *at, hdx_buffer *out)
{
    hdx_buffer_clear(out);
    if (*at != '"') {
        const size_t len = strcspn(at, ",\r\n");
        hdx_buffer_put(out, at, len);
        at += len;
    } else {
        for (at++; *at != '"' || at[1] == '"'; at++) {
            hdx_buffer_put(out, at, 1);
            at += *at == '"';
        }
        at++;
    }
    at += *at == '\r';
    hdx_buffer_text(out, "");
    return at + (*at != '\0');
}

static inline uint64_t csv_bits(hdx_type type, const char *text)
{
    uint64_t     bits;
    const double real = strtod(text, NULL);
    memcpy(&bits, &real, sizeof bits);
    return type == HDX_TYPE_REAL ? bits : type == HDX_TYPE_BOOL ? strcmp(text, "true") == 0 : strtoull(text, NULL, 0);
}

static inline char *read_csv(const char *path, const hdx_fleet_declared *d, fleet_part part)
{
    uint64_t    len;
    char       *bytes = file_bytes(path, &len);
    hdx_buffer  b = hdx_buffer_of(NULL), value = hdx_buffer_of(NULL);
    const char *at = bytes;
    for (unsigned i = 0; i < d->column_count; i++) {
        at = csv_value(at, &value);
        cr_expect(value.len == strlen(d->columns[i].name) && memcmp(value.at, d->columns[i].name, value.len) == 0);
    }
    while (at < bytes + len) {
        for (unsigned i = 0; i < d->column_count; i++) {
            at = csv_value(at, &value);
            if (in_part(part, i))
                put_value(&b, d->columns[i].type, value.len > 0,
                          csv_bits(d->columns[i].type, value.len > 0 ? value.at : ""), value.at, value.len);
        }
        hdx_buffer_text(&b, "\n");
    }
    hdx_buffer_free(&value);
    free(bytes);
    return taken(&b);
}

static inline char *read_sqlite(const char *path, const hdx_fleet_declared *d, fleet_part part, const char *id)
{
    sqlite3      *db;
    sqlite3_stmt *stmt;
    char          ask[160];
    hdx_buffer    b = hdx_buffer_of(NULL);
    (void)snprintf(ask, sizeof ask, "SELECT * FROM \"%s\" WHERE dump_id = ?1 ORDER BY rowid", d->name);
    cr_assert(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK, "%s", path);
    cr_assert(sqlite3_prepare_v2(db, ask, -1, &stmt, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert(sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC) == SQLITE_OK);
    cr_assert(sqlite3_column_count(stmt) == (int)d->column_count);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < (int)d->column_count; i++) {
            const double real = sqlite3_column_double(stmt, i);
            uint64_t     bits = (uint64_t)sqlite3_column_int64(stmt, i);
            const bool   there = sqlite3_column_type(stmt, i) != SQLITE_NULL;
            if (d->columns[i].type == HDX_TYPE_REAL)
                memcpy(&bits, &real, sizeof bits);
            const char *text = d->columns[i].type == HDX_TYPE_TEXT ? (const char *)sqlite3_column_text(stmt, i) : NULL;
            if (in_part(part, (unsigned)i))
                put_value(&b, d->columns[i].type, there, bits, text, (uint64_t)sqlite3_column_bytes(stmt, i));
        }
        hdx_buffer_text(&b, "\n");
    }
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return taken(&b);
}

static inline char *fleet_read_part(const fleet_test *t, hdx_fleet_format format, const char *id, const char *table,
                                    fleet_part part)
{
    char                     path[512];
    const hdx_fleet_declared d = fleet_declared(table);
    if (format == HDX_FLEET_SQLITE) {
        (void)snprintf(path, sizeof path, "%s/tables.sqlite", t->out);
        return read_sqlite(path, &d, part, id);
    }
    (void)snprintf(path, sizeof path, "%s/tables/dump_id=%s/%s.%s", t->out, id, table,
                   format == HDX_FLEET_CSV ? "csv" : "parquet");
    return format == HDX_FLEET_CSV ? read_csv(path, &d, part) : read_parquet(path, &d, part);
}

static inline char *fleet_read(const fleet_test *t, hdx_fleet_format format, const char *id, const char *table)
{
    return fleet_read_part(t, format, id, table, (fleet_part){ 0, HDX_FLEET_MOST_COLUMNS });
}

static inline void expect_table(const fleet_test *t, hdx_fleet_format format, const char *id, const char *table,
                                const char *want)
{
    char  *has = fleet_read(t, format, id, table);
    size_t same = 0;
    while (has[same] != '\0' && has[same] == want[same])
        same++;
    for (; same > 0 && has[same - 1] != '\n'; same--)
        ;
    cr_expect(strcmp(has, want) == 0, "%s of %s, line at byte %zu:\n%.500s\nand not\n%.500s", table, id, same,
              has + same, want + same);
    free(has);
}

/* Entries of a folder of OUT that begin so. */
static inline unsigned entries(const fleet_test *t, const char *folder, const char *begin)
{
    char                 path[256];
    const struct dirent *entry;
    unsigned             count = 0;
    (void)snprintf(path, sizeof path, "%s/%s", t->out, folder);
    DIR *dir = opendir(path);
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 strncmp(entry->d_name, begin, strlen(begin)) == 0;
    if (dir != NULL)
        (void)closedir(dir);
    return count;
}

#endif
