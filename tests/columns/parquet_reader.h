/*
 * parquet_reader.h - reads a Parquet file of flat columns, for tests: as the format's page says it and not as the
 * writer does it. What it does not expect is a failed test.
 *
 *     parquet_file f = parquet_read(bytes, len);
 *     ... f.columns[2].at[17].there, .number, .text ...
 *     parquet_free(&f);
 */
#ifndef HDX_TESTS_COLUMNS_PARQUET_READER_H
#define HDX_TESTS_COLUMNS_PARQUET_READER_H

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct parquet_value {
    bool     there;
    uint64_t number; /* bits of INT64 and DOUBLE; 0 or 1 */
    char    *text;   /* BYTE_ARRAY, with a NUL after it */
    uint32_t len;
} parquet_value;

typedef struct parquet_column {
    char           name[64];
    int            type, optional;
    bool           is_text;
    parquet_value *at;
    uint64_t       count, capacity, nulls;
    uint64_t       encodings; /* of data pages, a bit each */
    bool           has_bounds;
    int64_t        least, most; /* as the last row group says */
} parquet_column;

typedef struct parquet_file {
    parquet_column columns[64];
    unsigned       column_count, group_count;
    uint64_t       rows, group_rows[32];
    char           notes[8][2][16384];
    unsigned       note_count;
} parquet_file;

/* ---- Thrift's compact protocol, as a tree ---- */

typedef struct thrift {
    const uint8_t *at, *end;
} thrift;

static inline uint64_t thrift_varint(thrift *t)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        cr_assert(t->at < t->end && shift < 70);
        const uint8_t byte = *t->at++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
}
static inline int64_t thrift_int(thrift *t)
{
    const uint64_t v = thrift_varint(t);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}
static inline thrift thrift_bytes(thrift *t)
{
    const uint64_t len = thrift_varint(t);
    cr_assert(len <= (uint64_t)(t->end - t->at));
    const thrift part = { t->at, t->at + len };
    t->at += len;
    return part;
}
/* The next field of a struct: its type; 0: it is over. */
static inline unsigned thrift_field(thrift *t, int *field)
{
    cr_assert(t->at < t->end);
    const uint8_t byte = *t->at++;
    if (byte == 0)
        return 0;
    *field = byte >> 4 != 0 ? *field + (byte >> 4) : (int)thrift_int(t);
    return byte & 15;
}
static inline uint64_t thrift_list(thrift *t, unsigned *type)
{
    const uint8_t byte = *t->at++;
    *type = byte & 15;
    return byte >> 4 == 15 ? thrift_varint(t) : byte >> 4;
}
static inline void thrift_skip(thrift *t, unsigned type)
{
    unsigned of;
    int      field = 0;
    switch (type) {
    case 1:
    case 2: break;
    case 5:
    case 6:
    case 4: (void)thrift_varint(t); break;
    case 8: (void)thrift_bytes(t); break;
    case 9:
        for (uint64_t n = thrift_list(t, &of); n > 0; n--)
            thrift_skip(t, of);
        break;
    case 12:
        while ((type = thrift_field(t, &field)) != 0)
            thrift_skip(t, type);
        break;
    default: cr_assert_fail("a Thrift type %u", type);
    }
}
static inline void thrift_copy(thrift *t, char *to, size_t size)
{
    const thrift part = thrift_bytes(t);
    cr_assert((size_t)(part.end - part.at) < size);
    memcpy(to, part.at, (size_t)(part.end - part.at));
    to[part.end - part.at] = '\0';
}

/* ---- pages ---- */

typedef struct page {
    int      type, encoding;
    uint64_t unpacked, packed, count;
} page;

static inline page page_head(thrift *t)
{
    page     p = { 0 };
    int      field = 0, inner;
    unsigned type;
    while ((type = thrift_field(t, &field)) != 0) {
        if (field == 1)
            p.type = (int)thrift_int(t);
        else if (field == 2)
            p.unpacked = (uint64_t)thrift_int(t);
        else if (field == 3)
            p.packed = (uint64_t)thrift_int(t);
        else if (field == 5 || field == 7) {
            inner = 0;
            while ((type = thrift_field(t, &inner)) != 0) {
                if (inner == 1)
                    p.count = (uint64_t)thrift_int(t);
                else if (inner == 2)
                    p.encoding = (int)thrift_int(t);
                else
                    cr_assert(thrift_int(t) == 3); /* levels are RLE */
            }
        } else
            thrift_skip(t, type);
    }
    return p;
}

static inline uint8_t *page_unpack(const uint8_t *at, const page *p)
{
    z_stream z = { 0 };
    uint8_t *to = malloc(p->unpacked + 16);
    cr_assert(inflateInit2(&z, 15 + 16) == Z_OK);
    z.next_in = (Bytef *)(uintptr_t)at;
    z.avail_in = (uInt)p->packed;
    z.next_out = to;
    z.avail_out = (uInt)p->unpacked + 1;
    cr_assert(inflate(&z, Z_FINISH) == Z_STREAM_END);
    cr_assert(z.total_out == p->unpacked && z.avail_in == 0);
    inflateEnd(&z);
    memset(to + p->unpacked, 0, 16);
    return to;
}

static inline uint64_t bits_at(const uint8_t *at, uint64_t from, unsigned width)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < width; i++)
        v |= (uint64_t)(at[(from + i) / 8] >> (from + i) % 8 & 1) << i;
    return v;
}

static inline void hybrid(thrift t, unsigned width, uint64_t count, uint32_t *to)
{
    for (uint64_t n = 0; n < count;) {
        const uint64_t head = thrift_varint(&t), run = (head & 1) != 0 ? (head >> 1) * 8 : head >> 1;
        cr_assert(run > 0);
        if ((head & 1) != 0) {
            cr_assert(run / 8 * width <= (uint64_t)(t.end - t.at));
            for (uint64_t i = 0; i < run && n < count; i++)
                to[n++] = (uint32_t)bits_at(t.at, i * width, width);
            t.at += run / 8 * width;
        } else {
            cr_assert((width + 7) / 8 <= t.end - t.at);
            const uint32_t v = (uint32_t)bits_at(t.at, 0, (width + 7) / 8 * 8);
            t.at += (width + 7) / 8;
            for (uint64_t i = 0; i < run && n < count; i++)
                to[n++] = v;
        }
    }
}

static inline void delta(thrift t, uint64_t count, uint64_t *to)
{
    const uint64_t block = thrift_varint(&t), parts = thrift_varint(&t), total = thrift_varint(&t);
    uint64_t       last = (uint64_t)thrift_int(&t), n = 0;
    cr_assert(total == count && block % 128 == 0 && block / parts % 32 == 0);
    if (count > 0)
        to[n++] = last;
    while (n < count) {
        const uint64_t least = (uint64_t)thrift_int(&t);
        const uint8_t *widths = t.at;
        t.at += parts;
        for (uint64_t part = 0; part < parts && n < count; part++) {
            cr_assert(widths[part] <= 64 && block / parts / 8 * widths[part] <= (uint64_t)(t.end - t.at));
            for (uint64_t i = 0; i < block / parts && n < count; i++)
                to[n++] = last += least + bits_at(t.at, i * widths[part], widths[part]);
            t.at += block / parts / 8 * widths[part];
        }
    }
}

static inline void plain(thrift t, const parquet_column *c, uint64_t count, parquet_value *to)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t left = (uint64_t)(t.end - t.at);
        if (c->type == 0) {
            cr_assert(i / 8 < left);
            to[i].number = t.at[i / 8] >> i % 8 & 1;
            continue;
        }
        cr_assert(left >= (c->type == 6 ? 4 : 8));
        if (c->type == 6) {
            memcpy(&to[i].len, t.at, 4);
            cr_assert(to[i].len <= left - 4);
            to[i].text = calloc(1, to[i].len + 1u);
            memcpy(to[i].text, t.at + 4, to[i].len);
            t.at += 4 + to[i].len;
        } else {
            memcpy(&to[i].number, t.at, 8);
            t.at += 8;
        }
    }
    cr_assert(c->type == 0 || t.at == t.end);
}

static inline void data_page(parquet_column *c, const page *p, const uint8_t *bytes, const parquet_value *words,
                             uint64_t word_count)
{
    thrift         t = { bytes, bytes + p->unpacked };
    uint32_t      *levels = calloc(p->count + 1, sizeof *levels), *places = calloc(p->count + 1, sizeof *places);
    uint64_t       has = p->count, *numbers = calloc(p->count + 1, sizeof *numbers);
    parquet_value *values = calloc(p->count + 1, sizeof *values);
    for (uint64_t i = 0; i < p->count; i++)
        levels[i] = 1;
    if (c->optional) {
        uint32_t len;
        memcpy(&len, t.at, 4);
        hybrid((thrift){ t.at + 4, t.at + 4 + len }, 1, p->count, levels);
        t.at += 4 + len;
        has = 0;
        for (uint64_t i = 0; i < p->count; i++)
            has += levels[i];
    }
    c->encodings |= 1ull << p->encoding;
    if (p->encoding == 2 || p->encoding == 8) {
        cr_assert(words != NULL && *t.at <= 32); /* readers want one, also where no value is */
        hybrid((thrift){ t.at + 1, t.end }, *t.at, has, places);
        for (uint64_t i = 0; i < has; i++) {
            cr_assert(places[i] < word_count);
            values[i] = words[places[i]];
            if (values[i].text != NULL)
                values[i].text = memcpy(calloc(1, values[i].len + 1u), values[i].text, values[i].len);
        }
    } else if (p->encoding == 5) {
        delta(t, has, numbers);
        for (uint64_t i = 0; i < has; i++)
            values[i].number = numbers[i];
    } else {
        cr_assert(p->encoding == 0, "encoding %d", p->encoding);
        plain(t, c, has, values);
    }
    while (c->count + p->count > c->capacity)
        c->at = realloc(c->at, (c->capacity = c->capacity * 2 + 1024) * sizeof *c->at);
    for (uint64_t i = 0, k = 0; i < p->count; i++) {
        c->at[c->count] = levels[i] ? values[k++] : (parquet_value){ 0 };
        c->at[c->count++].there = levels[i];
    }
    free(levels);
    free(places);
    free(numbers);
    free(values);
}

static inline void read_chunk(parquet_column *c, const uint8_t *file, uint64_t at, uint64_t bytes, uint64_t count)
{
    thrift         t = { file + at, file + at + bytes };
    parquet_value *words = NULL;
    uint64_t       word_count = 0;
    const uint64_t end = c->count + count;
    while (t.at < t.end) {
        const page p = page_head(&t);
        cr_assert(p.packed <= (uint64_t)(t.end - t.at));
        uint8_t *unpacked = page_unpack(t.at, &p);
        t.at += p.packed;
        if (p.type == 2) {
            cr_assert(words == NULL && c->count + count == end);
            words = calloc(p.count + 1, sizeof *words);
            plain((thrift){ unpacked, unpacked + p.unpacked }, c, word_count = p.count, words);
        } else {
            data_page(c, &p, unpacked, words, word_count);
        }
        free(unpacked);
    }
    cr_assert(c->count == end);
    for (uint64_t i = 0; i < word_count; i++)
        free(words[i].text);
    free(words);
}

/* ---- the footer ---- */

static inline void read_column_meta(thrift *t, parquet_column *c, const uint8_t *file)
{
    int      field = 0, inner;
    unsigned type;
    uint64_t count = 0, bytes = 0, data = 0, dictionary = 0;
    while ((type = thrift_field(t, &field)) != 0) {
        if (field == 4)
            cr_assert(thrift_int(t) == 2); /* GZIP */
        else if (field == 5)
            count = (uint64_t)thrift_int(t);
        else if (field == 7)
            bytes = (uint64_t)thrift_int(t);
        else if (field == 9)
            data = (uint64_t)thrift_int(t);
        else if (field == 11)
            dictionary = (uint64_t)thrift_int(t);
        else if (field == 12) {
            inner = 0;
            while ((type = thrift_field(t, &inner)) != 0) {
                if (inner == 3)
                    c->nulls += (uint64_t)thrift_int(t);
                else if (inner == 5 || inner == 6) {
                    const thrift v = thrift_bytes(t);
                    memcpy(inner == 5 ? &c->most : &c->least, v.at, (size_t)(v.end - v.at));
                    c->has_bounds = true;
                } else
                    thrift_skip(t, type);
            }
        } else
            thrift_skip(t, type);
    }
    read_chunk(c, file, dictionary != 0 ? dictionary : data, bytes, count);
}

static inline void read_group(thrift *t, parquet_file *f, const uint8_t *file)
{
    int      field = 0, inner;
    unsigned type, of;
    while ((type = thrift_field(t, &field)) != 0) {
        if (field == 1) {
            cr_assert(thrift_list(t, &of) == f->column_count);
            for (unsigned i = 0; i < f->column_count; i++) {
                inner = 0;
                while ((type = thrift_field(t, &inner)) != 0)
                    if (inner == 3)
                        read_column_meta(t, &f->columns[i], file);
                    else
                        thrift_skip(t, type);
            }
        } else if (field == 3)
            f->group_rows[f->group_count] = (uint64_t)thrift_int(t);
        else
            thrift_skip(t, type);
    }
    f->group_count++;
}

static inline void read_schema_element(thrift *t, parquet_file *f, bool root)
{
    int            field = 0;
    unsigned       type;
    parquet_column c = { 0 };
    while ((type = thrift_field(t, &field)) != 0) {
        if (field == 1)
            c.type = (int)thrift_int(t);
        else if (field == 3)
            c.optional = (int)thrift_int(t);
        else if (field == 4)
            thrift_copy(t, c.name, sizeof c.name);
        else if (field == 6)
            c.is_text = thrift_int(t) == 0;
        else
            thrift_skip(t, type);
    }
    if (!root)
        f->columns[f->column_count++] = c;
}

static inline parquet_file parquet_read(const uint8_t *file, uint64_t len)
{
    parquet_file f = { 0 };
    uint32_t     footer;
    int          field = 0, inner;
    unsigned     type, of;
    cr_assert(len >= 12 && memcmp(file, "PAR1", 4) == 0 && memcmp(file + len - 4, "PAR1", 4) == 0);
    memcpy(&footer, file + len - 8, 4);
    cr_assert(footer <= len - 12);
    thrift t = { file + len - 8 - footer, file + len - 8 };
    while ((type = thrift_field(&t, &field)) != 0) {
        if (field == 2) {
            for (uint64_t n = thrift_list(&t, &of), i = 0; i < n; i++)
                read_schema_element(&t, &f, i == 0);
        } else if (field == 3)
            f.rows = (uint64_t)thrift_int(&t);
        else if (field == 4) {
            for (uint64_t n = thrift_list(&t, &of); n > 0; n--)
                read_group(&t, &f, file);
        } else if (field == 5) {
            for (uint64_t n = thrift_list(&t, &of); n > 0; n--, f.note_count++) {
                inner = 0;
                while ((type = thrift_field(&t, &inner)) != 0)
                    thrift_copy(&t, f.notes[f.note_count][inner - 1], sizeof f.notes[0][0]);
            }
        } else
            thrift_skip(&t, type);
    }
    cr_assert(t.at == t.end);
    for (unsigned i = 0; i < f.column_count; i++)
        cr_assert(f.columns[i].count == f.rows, "%s has %llu of %llu rows", f.columns[i].name,
                  (unsigned long long)f.columns[i].count, (unsigned long long)f.rows);
    return f;
}

static inline void parquet_free(parquet_file *f)
{
    for (unsigned i = 0; i < f->column_count; i++) {
        for (uint64_t k = 0; k < f->columns[i].count; k++)
            free(f->columns[i].at[k].text);
        free(f->columns[i].at);
    }
}

#endif
