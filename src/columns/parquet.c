/*
 * parquet.c - rows as a Parquet file (format 2, pages of version 1), using only zlib.
 *
 *   "PAR1" | row group: for each column [dictionary page] data page ... | ... | footer, its length, "PAR1"
 *
 * In:  rows, in runs.
 * Out: bytes to a sink, in order; nothing is read back.
 * A column collects the values of one page; a full page is encoded, compressed and stored until its row group ends,
 * because a dictionary precedes the pages that use it. So memory is needed for a page of each column (1 MiB), the
 * compressed row group, and dictionaries (1 MiB at most).
 *
 * The encoding of numbers is chosen for each column of a row group from its first page: plain, differences or a
 * dictionary, whichever is shortest after compression; texts have a dictionary. A dictionary that exceeds MOST_ENTRIES
 * or MOST_BYTES is not used by later pages of the row group.
 */
#include "columns/columns.h"
#include "render/render.h"
#include "source/source.h"
#include <heapdex/heapdex.h>

#include <assert.h>
#include <math.h>

#define GROUP_ROWS   (1u << 20)
#define PAGE_VALUES  (1u << 17)
#define PAGE_BYTES   (1u << 20)     /* of texts without a dictionary */
#define GROUP_BYTES  (512ull << 20) /* of compressed pages, after which a row group ends early */
#define LONGEST_TEXT (1ull << 30)   /* lengths of pages are signed 32-bit numbers */
#define MOST_ENTRIES 65536u
#define MOST_BYTES   (1u << 20)

enum { BOOLEAN = 0, INT64 = 2, DOUBLE = 5, BYTE_ARRAY = 6 };                                    /* types */
enum { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, PLAIN_DICTIONARY = 2, RLE_DICTIONARY = 8 }; /* encodings */
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { GZIP = 2, UTF8 = 0, REQUIRED = 0, OPTIONAL = 1 };

typedef struct dictionary {
    hdx_map    places; /* number -> index; hash of a text -> first index with this hash, + 1 */
    uint32_t   count;
    hdx_buffer page;    /* entries as stored */
    uint64_t  *offsets; /* of texts: where they begin in it */
    uint64_t   offset_capacity;
    uint32_t  *known; /* of lasting texts (rows.h), index + 1; 0: none yet */
    uint32_t   known_count;
    bool       left; /* later pages do not use it */
    uint64_t   last; /* the number that was looked up last */
    uint32_t   last_place;
} dictionary;

typedef struct column {
    const hdx_column *declared;
    hdx_outside       outside;
    bool              nullable;
    bool              chosen, by_delta; /* encoding of its numbers in this row group */
    uint64_t         *values;           /* of the page, without nulls: numbers, or indices of texts */
    uint64_t         *present;          /* of the page, one bit per row */
    uint32_t          rows, count;
    hdx_buffer        texts; /* of the page if there is no dictionary: as stored */
    dictionary        dictionary;
    /* Of the row group: */
    hdx_buffer pages;
    uint64_t   unpacked;          /* including headers */
    unsigned   encodings;         /* one bit each */
    uint64_t   nulls, with_value; /* values that count for minimum and maximum */
    int64_t    least, most;
    double     least_real, most_real;
} column;

typedef struct chunk { /* a column of a row group that was written */
    uint64_t at, dictionary_bytes, bytes, unpacked, rows, nulls, with_value;
    unsigned encodings;
    uint64_t least, most; /* as stored */
} chunk;

typedef struct group {
    uint64_t rows, at;
} group;

typedef struct writer {
    hdx_runs                   runs;
    const hdx_parquet_options *options;
    const hdx_sink            *sink;
    hdx_mem                   *mem;
    uint64_t                   written, rows, group_rows;
    column                    *columns;
    unsigned                   column_count;
    hdx_buffer                 plain, packed; /* a page, before and after compression */
    hdx_buffer                 other;         /* the same page in another encoding */
    chunk                     *chunks;        /* column_count of each row group */
    uint64_t                   chunk_count, chunk_capacity;
    group                     *groups;
    uint64_t                   group_count, group_capacity;
} writer;

static hdx_code no_room(hdx_error *err) { return hdx_no_memory(err, "a Parquet file", PAGE_VALUES * 8); }

static hdx_code put(writer *w, const void *bytes, uint64_t len, hdx_error *err)
{
    w->written += len;
    return len == 0 || w->sink->write(w->sink->context, bytes, len)
               ? HDX_OK
               : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "output could not be written");
}

/* ---- dictionaries ---- */

static void dictionary_clear(dictionary *d)
{
    hdx_mem *mem = d->places.mem;
    hdx_map_free(&d->places);
    d->places = hdx_map_of(mem);
    hdx_buffer_clear(&d->page);
    if (d->known != NULL)
        memset(d->known, 0, d->known_count * sizeof *d->known);
    d->count = 0;
    d->left = false;
    d->last_place = UINT32_MAX;
}

static void dictionary_free(dictionary *d)
{
    hdx_mem *mem = d->places.mem;
    hdx_map_free(&d->places);
    hdx_buffer_free(&d->page);
    hdx_mem_put(mem, d->offsets, d->offset_capacity * sizeof *d->offsets);
    hdx_mem_put(mem, d->known, d->known_count * sizeof *d->known);
}

/* Returns the index of a number; *full: it has none, and there is no room. */
static hdx_code number_place(dictionary *d, uint64_t v, uint32_t *place, bool *full, hdx_error *err)
{
    bool            fresh;
    const uint64_t *is = hdx_map_get(&d->places, v);
    if (is != NULL) {
        *place = (uint32_t)*is;
        return HDX_OK;
    }
    if ((*full = d->count == MOST_ENTRIES))
        return HDX_OK;
    uint64_t *slot = hdx_map_put(&d->places, v, &fresh);
    if (slot == NULL)
        return no_room(err);
    uint8_t bytes[8];
    hdx_put64(bytes, v);
    hdx_buffer_put(&d->page, bytes, 8);
    *slot = *place = d->count++;
    return d->page.failed ? no_room(err) : HDX_OK;
}

static bool is_text(const dictionary *d, uint32_t place, const char *at, uint64_t len)
{
    const uint8_t *p = (const uint8_t *)d->page.at + d->offsets[place];
    return hdx_le32(p) == len && memcmp(p + 4, at, len) == 0;
}

/* Same for a text of valid UTF-8. */
static hdx_code text_place(dictionary *d, const char *at, uint64_t len, uint32_t *place, bool *full, hdx_error *err)
{
    uint64_t key = hdx_hash_bytes(0, at, len);
    bool     fresh;
    for (const uint64_t *is; (is = hdx_map_get(&d->places, key)) != NULL; key = hdx_mix64(key))
        if (is_text(d, *place = (uint32_t)*is, at, len))
            return HDX_OK;
    if ((*full = d->count == MOST_ENTRIES || d->page.len + len + 4 > MOST_BYTES))
        return HDX_OK;
    uint64_t *slot = hdx_map_put(&d->places, key, &fresh);
    if (slot == NULL ||
        !hdx_mem_room(d->places.mem, (void **)&d->offsets, &d->offset_capacity, d->count, sizeof *d->offsets))
        return no_room(err);
    uint8_t bytes[4];
    hdx_put32(bytes, (uint32_t)len);
    d->offsets[d->count] = d->page.len;
    hdx_buffer_put(&d->page, bytes, 4);
    hdx_buffer_put(&d->page, at, len);
    *slot = *place = d->count++;
    return d->page.failed ? no_room(err) : HDX_OK;
}

/* ---- pages ---- */

static void put_header(hdx_buffer *out, int type, uint64_t unpacked, uint64_t packed, uint32_t count, int encoding)
{
    hdx_thrift t = hdx_thrift_begin(out);
    hdx_thrift_int(&t, 1, false, type);
    hdx_thrift_int(&t, 2, false, (int64_t)unpacked);
    hdx_thrift_int(&t, 3, false, (int64_t)packed);
    hdx_thrift_struct(&t, type == DATA_PAGE ? 5 : 7);
    hdx_thrift_int(&t, 1, false, count);
    hdx_thrift_int(&t, 2, false, encoding);
    if (type == DATA_PAGE) {
        hdx_thrift_int(&t, 3, false, RLE);
        hdx_thrift_int(&t, 4, false, RLE);
    }
    hdx_thrift_end(&t);
    hdx_thrift_end(&t);
}

/* Compresses w->plain and appends it to `out` with its header. */
static hdx_code put_page(writer *w, column *c, hdx_buffer *out, int type, uint32_t count, int encoding, hdx_error *err)
{
    hdx_buffer_clear(&w->packed);
    const hdx_code code = hdx_pack_piece(w->plain.at, w->plain.len, &w->packed, err);
    if (code != HDX_OK)
        return code;
    const uint64_t before = out->len;
    put_header(out, type, w->plain.len, w->packed.len, count, encoding);
    c->unpacked += out->len - before + w->plain.len;
    c->encodings |= 1u << encoding;
    hdx_buffer_put(out, w->packed.at, w->packed.len);
    return w->plain.failed || w->packed.failed || out->failed ? no_room(err) : HDX_OK;
}

/* Finds the indices of the page's numbers in the dictionary; false: there is no room for all, or there are too many. */
static hdx_code number_places(column *c, uint32_t *places, bool *full, hdx_error *err)
{
    dictionary *d = &c->dictionary;
    hdx_code    code = HDX_OK;
    *full = d->left;
    for (uint32_t i = 0; code == HDX_OK && !*full && i < c->count; i++) {
        if (d->last_place == UINT32_MAX || d->last != c->values[i])
            code = number_place(d, d->last = c->values[i], &d->last_place, full, err);
        places[i] = d->last_place;
        *full = *full || (!c->chosen && d->count > c->count / 2 + 256); /* a first page with many different ones */
    }
    if (*full)
        d->last_place = UINT32_MAX;
    return code;
}

static void put_places(const column *c, hdx_buffer *out, const uint32_t *places)
{
    const unsigned width = c->dictionary.count < 2 ? 1 : hdx_bit_width(c->dictionary.count - 1);
    hdx_buffer_put(out, &(const uint8_t){ (uint8_t)width }, 1);
    hdx_encode_hybrid(out, places, c->count, width);
}

static void put_plain(const column *c, hdx_buffer *out)
{
    hdx_buffer_put(out, c->values, c->count * 8ull); /* little-endian, like all supported machines */
}

/* Writes numbers in the chosen encoding without a dictionary. */
static int put_numbers(const column *c, hdx_buffer *out)
{
    if (!c->by_delta) {
        put_plain(c, out);
        return PLAIN;
    }
    hdx_encode_delta(out, c->values, c->count);
    return DELTA_BINARY_PACKED;
}

static int dictionary_encoding(const writer *w)
{
    return w->options->encoding == HDX_PARQUET_PLAIN ? PLAIN_DICTIONARY : RLE_DICTIONARY;
}

/* If the page in w->other is shorter than *least after compression, it replaces the one in w->plain. */
static hdx_code try_other(writer *w, uint64_t more, uint64_t *least, bool *shorter, hdx_error *err)
{
    *shorter = false;
    if (w->other.failed)
        return no_room(err);
    hdx_buffer_clear(&w->packed);
    const hdx_code code = hdx_pack_piece(w->other.at, w->other.len, &w->packed, err);
    *shorter = code == HDX_OK && w->packed.len + more < *least;
    if (*shorter) {
        const hdx_buffer was = w->plain;
        w->plain = w->other;
        w->other = was;
        *least = w->packed.len + more;
    }
    return code;
}

/*
 * Encodes and compresses the first page of a row group in each way: the shortest remains in w->plain, and later pages
 * use its encoding.
 */
static hdx_code choose(writer *w, column *c, const uint32_t *places, bool full, int *encoding, hdx_error *err)
{
    const uint64_t levels = w->plain.len;
    uint64_t       least = UINT64_MAX;
    bool           shorter, by_places = false;
    hdx_code       code = HDX_OK;
    for (int way = 0; code == HDX_OK && way < 3; way++) {
        if ((way == 1 && w->options->encoding == HDX_PARQUET_PLAIN) || (way == 2 && full))
            continue;
        hdx_buffer_clear(&w->other);
        hdx_buffer_put(&w->other, w->plain.at, levels);
        if (way == 0)
            put_plain(c, &w->other);
        else if (way == 1)
            hdx_encode_delta(&w->other, c->values, c->count);
        else
            put_places(c, &w->other, places);
        /* Half of the dictionary counts, because other pages use it, too. */
        code = try_other(w, way == 2 ? c->dictionary.page.len / 2 : 0, &least, &shorter, err);
        if (shorter) {
            *encoding = way == 0 ? PLAIN : way == 1 ? DELTA_BINARY_PACKED : dictionary_encoding(w);
            c->by_delta = way < 2 ? way == 1 : c->by_delta; /* the encoding of later pages without the dictionary */
            by_places = way == 2;
        }
    }
    c->chosen = true;
    if (!by_places) {
        dictionary_clear(&c->dictionary);
        c->dictionary.left = true;
    }
    return code;
}

static hdx_code end_number_page(writer *w, column *c, int *encoding, hdx_error *err)
{
    uint32_t *places = hdx_mem_raw(w->mem, c->count, sizeof *places);
    bool      full = false;
    if (places == NULL)
        return no_room(err);
    hdx_code code = number_places(c, places, &full, err);
    if (code == HDX_OK && !c->chosen)
        code = choose(w, c, places, full, encoding, err);
    else if (code == HDX_OK && full) {
        c->dictionary.left = true; /* its entries remain for earlier pages */
        *encoding = put_numbers(c, &w->plain);
    } else if (code == HDX_OK) {
        *encoding = dictionary_encoding(w);
        put_places(c, &w->plain, places);
    }
    hdx_mem_put(w->mem, places, c->count * sizeof *places);
    return code;
}

static hdx_code end_text_page(writer *w, column *c, int *encoding, hdx_error *err)
{
    if (c->dictionary.left) {
        *encoding = PLAIN;
        hdx_buffer_put(&w->plain, c->texts.at, c->texts.len);
        return c->texts.failed ? no_room(err) : HDX_OK;
    }
    uint32_t *places = hdx_mem_raw(w->mem, c->count, sizeof *places);
    if (places == NULL)
        return no_room(err);
    for (uint32_t i = 0; i < c->count; i++)
        places[i] = (uint32_t)c->values[i];
    *encoding = dictionary_encoding(w);
    put_places(c, &w->plain, places);
    hdx_mem_put(w->mem, places, c->count * sizeof *places);
    return HDX_OK;
}

static hdx_code end_page(writer *w, column *c, hdx_error *err)
{
    int      encoding = PLAIN;
    hdx_code code = HDX_OK;
    if (c->rows == 0)
        return HDX_OK;
    hdx_buffer_clear(&w->plain);
    if (c->nullable) {
        uint8_t len[4] = { 0 };
        hdx_buffer_put(&w->plain, len, 4);
        hdx_encode_levels(&w->plain, c->present, c->rows);
        if (!w->plain.failed)
            hdx_put32((uint8_t *)w->plain.at, (uint32_t)(w->plain.len - 4));
    }
    const bool nothing = c->count == 0 && c->dictionary.count == 0; /* all null: no dictionary without an entry */
    switch (nothing ? HDX_OUTSIDE_BOOL : c->outside) {
    case HDX_OUTSIDE_NUMBER: code = end_number_page(w, c, &encoding, err); break;
    case HDX_OUTSIDE_TEXT: code = end_text_page(w, c, &encoding, err); break;
    case HDX_OUTSIDE_BOOL: hdx_encode_bits(&w->plain, c->values, c->count); break;
    default: put_plain(c, &w->plain);
    }
    if (code == HDX_OK)
        code = put_page(w, c, &c->pages, DATA_PAGE, c->rows, encoding, err);
    c->encodings |= c->nullable ? 1u << RLE : 0;
    c->rows = c->count = 0;
    hdx_buffer_clear(&c->texts);
    memset(c->present, 0, PAGE_VALUES / 8);
    return code;
}

/* ---- row groups ---- */

/* Minimum and maximum as stored; for reals, a zero has the sign that includes both zeros. */
static void bounds_of(const column *c, chunk *out)
{
    double least = c->least_real == 0 ? -0.0 : c->least_real, most = c->most_real == 0 ? 0.0 : c->most_real;
    if (c->outside == HDX_OUTSIDE_REAL) {
        memcpy(&out->least, &least, 8);
        memcpy(&out->most, &most, 8);
    } else {
        out->least = (uint64_t)c->least;
        out->most = (uint64_t)c->most;
    }
}

static void column_clear(column *c)
{
    hdx_buffer_clear(&c->pages);
    dictionary_clear(&c->dictionary);
    c->chosen = c->by_delta = false;
    c->unpacked = c->nulls = c->with_value = 0;
    c->encodings = 0;
    c->least = INT64_MAX;
    c->most = INT64_MIN;
    c->least_real = INFINITY;
    c->most_real = -INFINITY;
}

static hdx_code end_chunk(writer *w, column *c, chunk *out, hdx_error *err)
{
    hdx_buffer head = hdx_buffer_of(w->mem);
    hdx_code   code = end_page(w, c, err);
    if (code == HDX_OK && c->dictionary.count > 0) {
        hdx_buffer_clear(&w->plain);
        hdx_buffer_put(&w->plain, c->dictionary.page.at, c->dictionary.page.len);
        code = put_page(w, c, &head, DICTIONARY_PAGE, c->dictionary.count,
                        w->options->encoding == HDX_PARQUET_PLAIN ? PLAIN_DICTIONARY : PLAIN, err);
    }
    *out = (chunk){ .at = w->written,
                    .dictionary_bytes = head.len,
                    .bytes = head.len + c->pages.len,
                    .unpacked = c->unpacked,
                    .rows = w->group_rows,
                    .nulls = c->nulls,
                    .with_value = c->with_value,
                    .encodings = c->encodings };
    bounds_of(c, out);
    if (code == HDX_OK)
        code = put(w, head.at, head.len, err);
    if (code == HDX_OK)
        code = put(w, c->pages.at, c->pages.len, err);
    hdx_buffer_free(&head);
    return code;
}

static hdx_code end_group(writer *w, hdx_error *err)
{
    hdx_code code = HDX_OK;
    if (w->group_rows == 0)
        return HDX_OK;
    if (!hdx_mem_room(w->mem, (void **)&w->groups, &w->group_capacity, w->group_count, sizeof *w->groups))
        return no_room(err);
    w->groups[w->group_count++] = (group){ w->group_rows, w->written };
    for (unsigned i = 0; code == HDX_OK && i < w->column_count; i++) {
        if (!hdx_mem_room(w->mem, (void **)&w->chunks, &w->chunk_capacity, w->chunk_count, sizeof *w->chunks))
            return no_room(err);
        code = end_chunk(w, &w->columns[i], &w->chunks[w->chunk_count++], err);
        column_clear(&w->columns[i]);
    }
    w->rows += w->group_rows;
    w->group_rows = 0;
    return code;
}

/* ---- values ---- */

static void count_number(column *c, uint64_t v)
{
    double real;
    memcpy(&real, &v, sizeof real);
    if (c->outside == HDX_OUTSIDE_REAL && isnan(real))
        return;
    c->with_value++;
    if (c->outside == HDX_OUTSIDE_REAL) {
        c->least_real = real < c->least_real ? real : c->least_real;
        c->most_real = real > c->most_real ? real : c->most_real;
    } else {
        c->least = (int64_t)v < c->least ? (int64_t)v : c->least;
        c->most = (int64_t)v > c->most ? (int64_t)v : c->most;
    }
}

static void add_numbers(column *c, const hdx_vector *v, uint32_t from, uint32_t n)
{
    if (v->present == NULL && v->numbers != NULL) {
        memcpy(c->values + c->count, v->numbers + from, n * sizeof *c->values);
        for (uint32_t i = from; i < from + n; i++)
            count_number(c, v->numbers[i]);
        c->count += n;
        return;
    }
    for (uint32_t i = from; i < from + n; i++)
        if (hdx_vector_has(v, i)) {
            count_number(c, v->numbers[i]);
            c->values[c->count++] = v->numbers[i];
        }
}

/* Adds a text to the page; *full: the dictionary has no room for it. */
static hdx_code add_text(writer *w, column *c, const hdx_vector *v, uint32_t i, bool *full, hdx_error *err)
{
    dictionary *d = &c->dictionary;
    uint32_t    place = 0, *known = NULL;
    *full = false;
    if (v->texts != NULL && d->known == NULL) {
        if ((d->known = hdx_mem_array(w->mem, v->text_count, sizeof *d->known)) == NULL)
            return no_room(err);
        d->known_count = v->text_count;
    }
    if (v->texts != NULL && v->numbers[i] < d->known_count)
        known = &d->known[v->numbers[i]];
    if (!d->left && known != NULL && *known != 0) {
        c->values[c->count++] = *known - 1;
        return HDX_OK;
    }
    const hdx_text text = hdx_vector_text(v, i);
    hdx_buffer_clear(&w->other);
    hdx_render_utf8(&w->other, text.at, text.len);
    if (w->other.failed)
        return no_room(err);
    if (w->other.len > LONGEST_TEXT)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "text of %llu bytes does not fit into a Parquet page",
                        (unsigned long long)w->other.len);
    if (d->left) {
        uint8_t len[4];
        hdx_put32(len, (uint32_t)w->other.len);
        hdx_buffer_put(&c->texts, len, 4);
        hdx_buffer_put(&c->texts, w->other.at, w->other.len);
        c->count++;
        return HDX_OK;
    }
    const hdx_code code = text_place(d, w->other.at, w->other.len, &place, full, err);
    if (code != HDX_OK || *full)
        return code;
    c->values[c->count++] = place;
    if (known != NULL)
        *known = place + 1;
    return HDX_OK;
}

static hdx_code add_texts(writer *w, column *c, const hdx_vector *v, uint32_t from, uint32_t n, hdx_error *err)
{
    bool     full;
    hdx_code code = HDX_OK;
    for (uint32_t i = from; code == HDX_OK && i < from + n; i++) {
        const bool has = hdx_vector_has(v, i);
        if (has && (code = add_text(w, c, v, i, &full, err)) == HDX_OK && full) {
            if ((code = end_page(w, c, err)) != HDX_OK)
                return code;
            c->dictionary.left = true;
            code = add_text(w, c, v, i, &full, err);
        }
        if (has)
            hdx_bits_put(c->present, c->rows);
        c->rows++;
        if (code == HDX_OK && c->texts.len >= PAGE_BYTES)
            code = end_page(w, c, err);
    }
    return code;
}

static void mark_there(column *c, const hdx_vector *v, uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (hdx_vector_has(v, from + i))
            hdx_bits_put(c->present, c->rows + i);
}

/* Adds n rows of the run, starting at `from`, all in one page. */
static hdx_code add_rows(writer *w, column *c, const hdx_vector *v, uint32_t from, uint32_t n, hdx_error *err)
{
    const uint32_t before = c->count;
    hdx_code       code = HDX_OK;
    uint64_t       has = 0;
    if (c->outside == HDX_OUTSIDE_TEXT) {
        for (uint32_t i = from; i < from + n; i++)
            has += hdx_vector_has(v, i);
        code = add_texts(w, c, v, from, n, err);
    } else {
        if (c->nullable)
            mark_there(c, v, from, n);
        add_numbers(c, v, from, n);
        c->rows += n;
        has = c->count - before;
    }
    c->nulls += n - has;
    if (code == HDX_OK && has < n && !c->nullable)
        return hdx_fail(err, HDX_DAMAGED, "", HDX_NOWHERE, "column %s has a null value but is declared not null",
                        c->declared->name);
    return code == HDX_OK && c->rows == PAGE_VALUES ? end_page(w, c, err) : code;
}

/* ---- the footer ---- */

static int type_of(const column *c)
{
    static const int types[] = { [HDX_OUTSIDE_NUMBER] = INT64,
                                 [HDX_OUTSIDE_REAL] = DOUBLE,
                                 [HDX_OUTSIDE_BOOL] = BOOLEAN,
                                 [HDX_OUTSIDE_TEXT] = BYTE_ARRAY };
    return types[c->outside];
}

static void put_schema(const writer *w, hdx_thrift *t)
{
    hdx_thrift_list(t, 2, HDX_THRIFT_STRUCT, w->column_count + 1);
    hdx_thrift_element(t);
    hdx_thrift_binary(t, 4, "heapdex", 7);
    hdx_thrift_int(t, 5, false, w->column_count);
    hdx_thrift_end(t);
    for (unsigned i = 0; i < w->column_count; i++) {
        const column *c = &w->columns[i];
        hdx_thrift_element(t);
        hdx_thrift_int(t, 1, false, type_of(c));
        hdx_thrift_int(t, 3, false, c->nullable ? OPTIONAL : REQUIRED);
        hdx_thrift_binary(t, 4, c->declared->name, strlen(c->declared->name));
        if (c->outside == HDX_OUTSIDE_TEXT) {
            hdx_thrift_int(t, 6, false, UTF8);
            hdx_thrift_struct(t, 10); /* LogicalType: STRING, which is an empty struct */
            hdx_thrift_struct(t, 1);
            hdx_thrift_end(t);
            hdx_thrift_end(t);
        }
        hdx_thrift_end(t);
    }
}

static void put_statistics(hdx_thrift *t, const column *c, const chunk *k)
{
    uint8_t      least[8], most[8];
    const size_t len = c->outside == HDX_OUTSIDE_BOOL ? 1 : 8;
    hdx_put64(least, k->least);
    hdx_put64(most, k->most);
    hdx_thrift_struct(t, 12);
    hdx_thrift_int(t, 3, true, (int64_t)k->nulls);
    if (c->outside != HDX_OUTSIDE_TEXT && k->with_value > 0 &&
        (c->outside != HDX_OUTSIDE_REAL || k->with_value == k->rows - k->nulls)) { /* NaN cannot be ordered */
        hdx_thrift_binary(t, 5, most, len);
        hdx_thrift_binary(t, 6, least, len);
    }
    hdx_thrift_end(t);
}

static void put_chunk(hdx_thrift *t, const column *c, const chunk *k)
{
    hdx_thrift_element(t);
    hdx_thrift_int(t, 2, true, (int64_t)k->at);
    hdx_thrift_struct(t, 3);
    hdx_thrift_int(t, 1, false, type_of(c));
    hdx_thrift_list(t, 2, HDX_THRIFT_I32, (uint32_t)__builtin_popcount(k->encodings));
    for (unsigned e = 0; e < 32; e++)
        if ((k->encodings >> e & 1) != 0)
            hdx_thrift_element_int(t, (int32_t)e);
    hdx_thrift_list(t, 3, HDX_THRIFT_BINARY, 1);
    hdx_thrift_element_text(t, c->declared->name);
    hdx_thrift_int(t, 4, false, GZIP);
    hdx_thrift_int(t, 5, true, (int64_t)k->rows);
    hdx_thrift_int(t, 6, true, (int64_t)k->unpacked);
    hdx_thrift_int(t, 7, true, (int64_t)k->bytes);
    hdx_thrift_int(t, 9, true, (int64_t)(k->at + k->dictionary_bytes));
    if (k->dictionary_bytes > 0)
        hdx_thrift_int(t, 11, true, (int64_t)k->at);
    put_statistics(t, c, k);
    hdx_thrift_end(t);
    hdx_thrift_end(t);
}

static void put_group(const writer *w, hdx_thrift *t, uint64_t place)
{
    const chunk *chunks = &w->chunks[place * w->column_count];
    uint64_t     unpacked = 0, packed = 0;
    hdx_thrift_element(t);
    hdx_thrift_list(t, 1, HDX_THRIFT_STRUCT, w->column_count);
    for (unsigned i = 0; i < w->column_count; i++) {
        put_chunk(t, &w->columns[i], &chunks[i]);
        unpacked += chunks[i].unpacked;
        packed += chunks[i].bytes;
    }
    hdx_thrift_int(t, 2, true, (int64_t)unpacked);
    hdx_thrift_int(t, 3, true, (int64_t)w->groups[place].rows);
    hdx_thrift_int(t, 5, true, (int64_t)w->groups[place].at);
    hdx_thrift_int(t, 6, true, (int64_t)packed);
    hdx_thrift_end(t);
}

static void put_note(hdx_thrift *t, const char *key, const char *value, uint64_t len)
{
    hdx_thrift_element(t);
    hdx_thrift_binary(t, 1, key, strlen(key));
    hdx_thrift_binary(t, 2, value, len);
    hdx_thrift_end(t);
}

/* {"shallow": {"type": "unsigned", "unit": "bytes"}, ...} */
static void put_declared(const writer *w, hdx_buffer *out)
{
    hdx_buffer_text(out, "{");
    for (unsigned i = 0; i < w->column_count; i++) {
        const hdx_column *c = w->columns[i].declared;
        const hdx_cell    name = hdx_cell_string(c->name);
        hdx_buffer_text(out, i == 0 ? "" : ", ");
        hdx_render_json_cell(out, &name);
        hdx_buffer_format(out, ": {\"type\": \"%s\", \"unit\": \"%s\"}", hdx_column_type_name(c->type),
                          hdx_column_unit_name(c->unit));
    }
    hdx_buffer_text(out, "}");
}

static void put_notes(const writer *w, hdx_thrift *t)
{
    const hdx_parquet_options *o = w->options;
    hdx_buffer                 declared = hdx_buffer_of(w->mem), value = hdx_buffer_of(w->mem);
    put_declared(w, &declared);
    hdx_thrift_list(t, 5, HDX_THRIFT_STRUCT, (uint32_t)o->note_count + 2);
    put_note(t, "heapdex.version", HEAPDEX_VERSION, strlen(HEAPDEX_VERSION));
    put_note(t, "heapdex.columns", declared.at, declared.len);
    for (size_t i = 0; i < o->note_count; i++) {
        hdx_buffer_clear(&value);
        hdx_render_utf8(&value, o->notes[i].value, strlen(o->notes[i].value));
        put_note(t, o->notes[i].key, value.at, value.len);
    }
    t->out->failed |= declared.failed || value.failed;
    hdx_buffer_free(&declared);
    hdx_buffer_free(&value);
}

static hdx_code put_footer(writer *w, hdx_error *err)
{
    static const char by[] = "heapdex version " HEAPDEX_VERSION;
    hdx_buffer        out = hdx_buffer_of(w->mem);
    hdx_thrift        t = hdx_thrift_begin(&out);
    uint8_t           len[4];
    hdx_thrift_int(&t, 1, false, w->options->encoding == HDX_PARQUET_PLAIN ? 1 : 2);
    put_schema(w, &t);
    hdx_thrift_int(&t, 3, true, (int64_t)w->rows);
    hdx_thrift_list(&t, 4, HDX_THRIFT_STRUCT, (uint32_t)w->group_count);
    for (uint64_t i = 0; i < w->group_count; i++)
        put_group(w, &t, i);
    put_notes(w, &t);
    hdx_thrift_binary(&t, 6, by, sizeof by - 1);
    hdx_thrift_list(&t, 7, HDX_THRIFT_STRUCT, w->column_count); /* minimum and maximum are in the order of the type */
    for (unsigned i = 0; i < w->column_count; i++) {
        hdx_thrift_element(&t);
        hdx_thrift_struct(&t, 1);
        hdx_thrift_end(&t);
        hdx_thrift_end(&t);
    }
    hdx_thrift_end(&t);
    hdx_put32(len, (uint32_t)out.len);
    hdx_code code = out.failed || out.len > INT32_MAX ? no_room(err) : put(w, out.at, out.len, err);
    if (code == HDX_OK)
        code = put(w, len, 4, err);
    hdx_buffer_free(&out);
    return code == HDX_OK ? put(w, "PAR1", 4, err) : code;
}

/* ---- the whole file ---- */

static hdx_code open_columns(writer *w, hdx_error *err)
{
    w->column_count = w->runs.column_count;
    w->columns = hdx_mem_array(w->mem, w->column_count, sizeof *w->columns);
    if (w->columns == NULL)
        return no_room(err);
    for (unsigned i = 0; i < w->column_count; i++) {
        column *c = &w->columns[i];
        c->declared = &w->runs.columns[i];
        c->outside = hdx_outside_of(c->declared);
        c->nullable = (c->declared->flags & HDX_COLUMN_NULLABLE) != 0;
        c->texts = c->pages = c->dictionary.page = hdx_buffer_of(w->mem);
        c->dictionary.places = hdx_map_of(w->mem);
        c->values = hdx_mem_raw(w->mem, PAGE_VALUES, sizeof *c->values);
        c->present = hdx_mem_array(w->mem, PAGE_VALUES / 64, sizeof *c->present);
        column_clear(c);
        if (c->values == NULL || c->present == NULL)
            return no_room(err);
    }
    return HDX_OK;
}

static void close_columns(writer *w)
{
    for (unsigned i = 0; w->columns != NULL && i < w->column_count; i++) {
        column *c = &w->columns[i];
        hdx_mem_put(w->mem, c->values, PAGE_VALUES * sizeof *c->values);
        hdx_mem_put(w->mem, c->present, PAGE_VALUES / 64 * sizeof *c->present);
        hdx_buffer_free(&c->texts);
        hdx_buffer_free(&c->pages);
        dictionary_free(&c->dictionary);
    }
    hdx_mem_put(w->mem, w->columns, w->column_count * sizeof *w->columns);
    hdx_mem_put(w->mem, w->chunks, w->chunk_capacity * sizeof *w->chunks);
    hdx_mem_put(w->mem, w->groups, w->group_capacity * sizeof *w->groups);
    hdx_buffer_free(&w->plain);
    hdx_buffer_free(&w->packed);
    hdx_buffer_free(&w->other);
}

/* Adds rows of a run up to the end of a page of some column, or of the row group. */
static hdx_code add_run(writer *w, hdx_error *err)
{
    hdx_code code = HDX_OK;
    uint64_t pages = 0;
    for (uint32_t from = 0, n; code == HDX_OK && from < w->runs.count; from += n) {
        n = (uint32_t)hdx_least(w->runs.count - from, GROUP_ROWS - w->group_rows);
        for (unsigned i = 0; i < w->column_count; i++)
            n = (uint32_t)hdx_least(n, PAGE_VALUES - w->columns[i].rows);
        for (unsigned i = 0; code == HDX_OK && i < w->column_count; i++)
            code = add_rows(w, &w->columns[i], &w->runs.vectors[i], from, n, err);
        w->group_rows += n;
        for (unsigned i = 0; i < w->column_count; i++)
            pages += w->columns[i].pages.len;
        if (code == HDX_OK && (w->group_rows == GROUP_ROWS || pages > GROUP_BYTES))
            code = end_group(w, err);
        pages = 0;
    }
    return code;
}

hdx_code hdx_rows_parquet(hdx_rows *rows, const hdx_parquet_options *options, const hdx_sink *sink, hdx_error *err)
{
    writer   w = { .options = options, .sink = sink, .mem = hdx_rows_mem(rows) };
    hdx_code code = hdx_runs_open(rows, &w.runs, err);
    w.plain = w.packed = w.other = hdx_buffer_of(w.mem);
    if (code == HDX_OK && w.runs.column_count == 0)
        code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "no columns to write");
    if (code == HDX_OK)
        code = open_columns(&w, err);
    if (code == HDX_OK) /* an immediate failure leaves the output empty */
        code = hdx_runs_next(&w.runs, HDX_RUN_ROWS, err);
    if (code == HDX_OK)
        code = put(&w, "PAR1", 4, err);
    while (code == HDX_OK && w.runs.count > 0 && (code = add_run(&w, err)) == HDX_OK)
        code = hdx_runs_next(&w.runs, HDX_RUN_ROWS, err);
    if (code == HDX_OK)
        code = end_group(&w, err);
    if (code == HDX_OK)
        code = put_footer(&w, err);
    close_columns(&w);
    hdx_runs_close(&w.runs);
    return code == HDX_LIMIT ? hdx_mem_explain(w.mem, code, err) : code;
}
