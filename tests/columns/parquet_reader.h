/*
 * parquet_reader.h - reads a Parquet file of flat columns, for tests: as the format's page says it and not as the
 * writer does it. What it does not expect is a failed test.
 *
 *     parquet_file f = parquet_read(bytes, len);
 *     ... f.columns[2].at[17].present, .number, .text ...
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
    bool     present;
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
    uint64_t       pages[64]; /* rows of each data page */
    unsigned       page_count;
    bool           has_bounds;
    int64_t        least, most; /* as the last row group says */
} parquet_column;

typedef struct parquet_file {
    parquet_column columns[64];
    unsigned       column_count, group_count;
    int            version;
    uint64_t       rows, group_rows[32];
    uint64_t       end; /* of what is read so far */
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
/* A value of a field whose type the format's page says: 5 and 6 are i32 and i64, 8 bytes, 9 lists, 12 structs. */
static inline int64_t thrift_int_of(thrift *t, unsigned type, unsigned want)
{
    cr_assert(type == want, "a number of type %u, not %u", type, want);
    return thrift_int(t);
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
    page     p = { .type = -1, .encoding = -1 };
    int      field = 0, inner;
    unsigned type;
    while ((type = thrift_field(t, &field)) != 0) {
        if (field == 1) {
            p.type = (int)thrift_int_of(t, type, 5);
        } else if (field == 2) {
            p.unpacked = (uint64_t)thrift_int_of(t, type, 5);
        } else if (field == 3) {
            p.packed = (uint64_t)thrift_int_of(t, type, 5);
        } else {
            cr_assert(type == 12 && field == (p.type == 0 ? 5 : 7), "field %d of a page of type %d", field, p.type);
            inner = 0;
            while ((type = thrift_field(t, &inner)) != 0) {
                const int64_t v = thrift_int_of(t, type, 5);
                if (inner == 1)
                    p.count = (uint64_t)v;
                else if (inner == 2)
                    p.encoding = (int)v;
                else
                    cr_assert(v == 3 && p.type == 0); /* levels are RLE */
            }
            cr_assert(inner == (p.type == 0 ? 4 : 2));
        }
    }
    cr_assert(p.type == 0 || p.type == 2);
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
            cr_assert(run <= count - n && (width == 32 || v >> width == 0));
            for (uint64_t i = 0; i < run; i++)
                to[n++] = v;
        }
    }
    cr_assert(t.at == t.end, "%td bytes behind the last run", t.end - t.at);
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
    cr_assert(t.at == t.end, "%td bytes behind the last block", t.end - t.at);
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
    cr_assert(c->type == 0 ? (uint64_t)(t.end - t.at) == (count + 7) / 8 : t.at == t.end);
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
    cr_assert(p->count > 0 && c->page_count < 64);
    c->pages[c->page_count++] = p->count;
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
        c->at[c->count++].present = levels[i];
    }
    free(levels);
    free(places);
    free(numbers);
    free(values);
}

typedef struct chunk { /* as the footer says it, or as it is */
    uint64_t rows, unpacked, bytes, data, dictionary, encodings;
} chunk;

/* Column chunks follow each other; what the footer says of each is so. */
static inline void read_chunk(parquet_column *c, const uint8_t *file, uint64_t at, const chunk *said)
{
    thrift         t = { file + at, file + at + said->bytes };
    parquet_value *words = NULL;
    uint64_t       word_count = 0;
    const uint64_t begin = c->count, before = c->encodings;
    chunk          is = { .rows = said->rows, .bytes = said->bytes, .encodings = c->optional ? 1u << 3 : 0 };
    c->encodings = 0;
    while (t.at < t.end) {
        const uint64_t head = (uint64_t)(t.at - file);
        const page     p = page_head(&t);
        cr_assert(p.packed <= (uint64_t)(t.end - t.at));
        uint8_t *unpacked = page_unpack(t.at, &p);
        is.unpacked += (uint64_t)(t.at - file) - head + p.unpacked;
        is.encodings |= 1ull << p.encoding;
        t.at += p.packed;
        if (p.type == 2) {
            cr_assert(words == NULL && c->count == begin && p.count > 0 && (p.encoding == 0 || p.encoding == 2));
            is.dictionary = head;
            words = calloc(p.count + 1, sizeof *words);
            plain((thrift){ unpacked, unpacked + p.unpacked }, c, word_count = p.count, words);
        } else {
            is.data = is.data != 0 ? is.data : head;
            data_page(c, &p, unpacked, words, word_count);
        }
        free(unpacked);
    }
    c->encodings |= before;
    cr_assert(c->count - begin == said->rows && memcmp(&is, said, sizeof is) == 0, "%s: a chunk is not as is said",
              c->name);
    for (uint64_t i = 0; i < word_count; i++)
        free(words[i].text);
    free(words);
}

/* ---- the footer ---- */

static inline void read_bounds(thrift *t, parquet_column *c)
{
    int      field = 0;
    unsigned type;
    while ((type = thrift_field(t, &field)) != 0) {
        if (field == 3) {
            c->nulls += (uint64_t)thrift_int_of(t, type, 6);
            continue;
        }
        const thrift v = thrift_bytes(t);
        cr_assert(type == 8 && (field == 5 || field == 6) && v.end - v.at == (c->type == 0 ? 1 : 8));
        memcpy(field == 5 ? &c->most : &c->least, v.at, (size_t)(v.end - v.at));
        c->has_bounds = true;
    }
}

static inline chunk read_column_meta(thrift *t, parquet_column *c)
{
    int      field = 0;
    unsigned type, of;
    chunk    k = { 0 };
    while ((type = thrift_field(t, &field)) != 0) {
        if (field == 1) {
            cr_assert(thrift_int_of(t, type, 5) == c->type);
        } else if (field == 2) {
            for (uint64_t n = thrift_list(t, &of); n > 0; n--)
                k.encodings |= 1ull << thrift_int_of(t, of, 5);
        } else if (field == 3) {
            char name[64];
            cr_assert(thrift_list(t, &of) == 1 && of == 8);
            thrift_copy(t, name, sizeof name);
            cr_assert(strcmp(name, c->name) == 0);
        } else if (field == 4) {
            cr_assert(thrift_int_of(t, type, 5) == 2); /* GZIP */
        } else if (field == 12) {
            cr_assert(type == 12);
            read_bounds(t, c);
        } else {
            const uint64_t v = (uint64_t)thrift_int_of(t, type, 6);
            switch (field) {
            case 5: k.rows = v; break;
            case 6: k.unpacked = v; break;
            case 7: k.bytes = v; break;
            case 9: k.data = v; break;
            case 11: k.dictionary = v; break;
            default: cr_assert_fail("field %d of a chunk", field);
            }
        }
    }
    return k;
}

static inline chunk read_column(thrift *t, parquet_column *c, const uint8_t *file, uint64_t end)
{
    int      field = 0;
    unsigned type;
    chunk    k = { 0 };
    while ((type = thrift_field(t, &field)) != 0) {
        if (field == 2) {
            cr_assert((uint64_t)thrift_int_of(t, type, 6) == end, "%s does not begin where the one before ends",
                      c->name);
        } else {
            cr_assert(field == 3 && type == 12);
            k = read_column_meta(t, c);
        }
    }
    read_chunk(c, file, end, &k);
    return k;
}

static inline void read_group(thrift *t, parquet_file *f, const uint8_t *file)
{
    const uint64_t begin = f->end;
    int            field = 0;
    unsigned       type, of;
    uint64_t       unpacked = 0;
    while ((type = thrift_field(t, &field)) != 0) {
        if (field == 1) {
            cr_assert(thrift_list(t, &of) == f->column_count && of == 12);
            for (unsigned i = 0; i < f->column_count; i++) {
                const chunk k = read_column(t, &f->columns[i], file, f->end);
                f->end += k.bytes;
                unpacked += k.unpacked;
            }
            continue;
        }
        const uint64_t v = (uint64_t)thrift_int_of(t, type, 6);
        switch (field) {
        case 2: cr_assert(v == unpacked); break;
        case 3: f->group_rows[f->group_count] = v; break;
        case 5: cr_assert(v == begin); break;
        case 6: cr_assert(v == f->end - begin); break;
        default: cr_assert_fail("field %d of a row group", field);
        }
    }
    f->group_count++;
}

/* How many columns it says there are, of the root. */
static inline int64_t read_schema_element(thrift *t, parquet_file *f, bool root)
{
    int64_t        children = 0;
    int            field = 0, inner;
    unsigned       type;
    parquet_column c = { 0 };
    while ((type = thrift_field(t, &field)) != 0) {
        if (field == 1) {
            c.type = (int)thrift_int_of(t, type, 5);
        } else if (field == 3) {
            c.optional = (int)thrift_int_of(t, type, 5);
        } else if (field == 4) {
            thrift_copy(t, c.name, sizeof c.name);
        } else if (field == 5) {
            children = thrift_int_of(t, type, 5);
        } else if (field == 6) {
            c.is_text = thrift_int_of(t, type, 5) == 0;
        } else { /* LogicalType: a union, of which the first is STRING */
            cr_assert(field == 10 && type == 12 && c.is_text);
            inner = 0;
            cr_assert(thrift_field(t, &inner) == 12 && inner == 1 && thrift_field(t, &inner) == 0);
            cr_assert(thrift_field(t, &inner) == 0);
        }
    }
    if (!root)
        f->columns[f->column_count++] = c;
    return children;
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
    f.end = 4;
    while ((type = thrift_field(&t, &field)) != 0) {
        if (field == 1) {
            f.version = (int)thrift_int_of(&t, type, 5);
        } else if (field == 2) {
            const uint64_t n = thrift_list(&t, &of);
            cr_assert(of == 12 && (uint64_t)read_schema_element(&t, &f, true) == n - 1);
            for (uint64_t i = 1; i < n; i++)
                (void)read_schema_element(&t, &f, false);
        } else if (field == 3) {
            f.rows = (uint64_t)thrift_int_of(&t, type, 6);
        } else if (field == 4) {
            for (uint64_t n = thrift_list(&t, &of); n > 0; n--)
                read_group(&t, &f, file);
        } else if (field == 5) {
            for (uint64_t n = thrift_list(&t, &of); n > 0; n--, f.note_count++) {
                inner = 0;
                while ((type = thrift_field(&t, &inner)) != 0)
                    thrift_copy(&t, f.notes[f.note_count][inner - 1], sizeof f.notes[0][0]);
            }
        } else if (field == 6) {
            thrift_skip(&t, type);
        } else { /* the order of each column: that of its type */
            cr_assert(field == 7 && thrift_list(&t, &of) == f.column_count && of == 12);
            for (unsigned i = 0; i < f.column_count; i++) {
                inner = 0;
                cr_assert(thrift_field(&t, &inner) == 12 && inner == 1 && thrift_field(&t, &inner) == 0);
                cr_assert(thrift_field(&t, &inner) == 0);
            }
        }
    }
    cr_assert(field == 7 && f.end == len - 8 - footer, "bytes between the last row group and the footer");
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
