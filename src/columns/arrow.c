/*
 * arrow.c - rows as an Arrow C stream: a schema, then batches of 60 Ki rows.
 *
 * In:  rows, which the stream owns.
 * Out: batches that own their memory: each buffer is freed when its array is released, in any order and on any thread,
 *      even after the stream.
 * Numbers and booleans have a validity bitmap only if something is null. Texts have 64-bit offsets (large_utf8),
 * because a batch may contain more than 2 GiB of them. Texts of columns with few different ones (HDX_COLUMN_FEW) are
 * 32-bit indices into a dictionary.
 * A dictionary only grows: that of a batch has all texts of earlier batches, at the same indices, and batches with the
 * same dictionary share its memory, counted by `uses`.
 */
#include "columns/columns.h"
#include "render/render.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH_ROWS  (15u << 12) /* whole runs; 8 bytes of each are less than 512 KiB, which malloc can reuse */
#define BATCH_BYTES (64u << 20) /* of texts, after which a batch ends early */

/* ---- memory that consumers own ---- */

/* Takes the memory of a buffer, which is no longer accounted; NULL: it has none. */
static void *hand_over(hdx_buffer *b)
{
    void *at = b->at;
    if (at != NULL)
        hdx_mem_disown(b->mem, at, b->capacity);
    *b = hdx_buffer_of(b->mem);
    return at;
}

typedef struct texts { /* a dictionary shared by batches */
    atomic_uint uses;
    uint64_t    count;
    uint64_t    sizes[2];
    void       *buffers[2]; /* offsets, bytes */
} texts;

static void texts_drop(texts *t)
{
    if (t == NULL || atomic_fetch_sub(&t->uses, 1) != 1)
        return;
    for (unsigned i = 0; i < 2; i++)
        hdx_mem_put(NULL, t->buffers[i], t->sizes[i]);
    free(t);
}

/* ---- arrays ---- */

typedef struct held { /* private_data of an array */
    void               *owned[3];
    uint64_t            sizes[3];
    const void         *buffers[3];
    texts              *shared; /* of a dictionary */
    struct ArrowArray  *child_array;
    struct ArrowArray **children;
    struct ArrowArray   dictionary;
} held;

static void release_array(struct ArrowArray *array)
{
    held *h = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release != NULL) /* a consumer may have moved it away */
            array->children[i]->release(array->children[i]);
    if (array->dictionary != NULL && array->dictionary->release != NULL)
        array->dictionary->release(array->dictionary);
    for (unsigned i = 0; i < 3; i++)
        hdx_mem_put(NULL, h->owned[i], h->sizes[i]);
    texts_drop(h->shared);
    free(h->child_array);
    free(h->children);
    free(h);
    array->release = NULL;
}

static held *new_array(struct ArrowArray *out, uint64_t length, uint64_t nulls, int64_t buffers)
{
    held *h = calloc(1, sizeof *h);
    *out = (struct ArrowArray){ 0 };
    if (h == NULL)
        return NULL;
    out->length = (int64_t)length;
    out->null_count = (int64_t)nulls;
    out->n_buffers = buffers;
    out->buffers = h->buffers;
    out->release = release_array;
    out->private_data = h;
    return h;
}

static void give_buffer(held *h, unsigned place, hdx_buffer *b)
{
    static const uint64_t nothing[8]; /* readers expect an address even if there is nothing to read */
    h->sizes[place] = b->capacity;
    h->owned[place] = hand_over(b);
    h->buffers[place] = h->owned[place] != NULL ? h->owned[place] : place == 0 ? NULL : (const void *)nothing;
}

/* ---- a column of the current batch ---- */

typedef struct column {
    const hdx_column *declared;
    hdx_outside       outside;
    bool              few;
    hdx_buffer        valid;  /* bits; empty while nothing is null */
    hdx_buffer        values; /* numbers, bits of booleans, offsets of texts, indices into the dictionary */
    hdx_buffer        bytes;  /* of texts */
    uint64_t          nulls;
    /* The dictionary of the whole stream: */
    hdx_map    places; /* hash of a text -> first index with this hash */
    hdx_buffer offsets, entries;
    uint64_t   entry_count;
    uint32_t  *known; /* index + 1 of a lasting text (rows.h); 0: none yet */
    uint32_t   known_count;
    texts     *shared; /* of the previous batch; NULL: none, or it has grown */
} column;

typedef struct stream {
    hdx_rows  *rows;
    hdx_runs   runs;
    hdx_keeper keeper;
    hdx_mem   *mem;
    column    *columns;
    unsigned   column_count;
    uint64_t   batch_rows, batch_bytes;
    hdx_buffer text; /* a text as valid UTF-8 */
    bool       ended;
    hdx_code   code;
    hdx_error  error;
    char       message[sizeof((hdx_error *)0)->where + sizeof((hdx_error *)0)->message + 8];
} stream;

static void put_bit(hdx_buffer *b, uint64_t at, bool is)
{
    if (at % 8 == 0)
        hdx_buffer_put(b, "", 1);
    if (is && !b->failed)
        b->at[at / 8] = (char)((uint8_t)b->at[at / 8] | 1u << at % 8);
}

/* After the first null there is a bit for each row. */
static void put_valid(column *c, uint64_t row, bool has)
{
    if (has && c->nulls == 0)
        return;
    for (uint64_t i = 0; c->nulls == 0 && i < row; i++)
        put_bit(&c->valid, i, true);
    put_bit(&c->valid, row, has);
    c->nulls += !has;
}

/* Same for n rows, a word of bits at a time. */
static void put_valid_rows(column *c, uint64_t row, const uint64_t *present, uint32_t n)
{
    uint64_t has = 0;
    for (uint32_t i = 0; i < n / 64; i++)
        has += (unsigned)__builtin_popcountll(present[i]);
    if (n % 64 != 0)
        has += (unsigned)__builtin_popcountll(present[n / 64] & ((1ull << n % 64) - 1));
    if (has == n && c->nulls == 0)
        return;
    uint8_t *to = (uint8_t *)hdx_buffer_room(&c->valid, (row + n) / 8 + 24 - c->valid.len);
    if (to == NULL)
        return;
    to = (uint8_t *)c->valid.at;
    if (c->nulls == 0) /* no bits are written before the first null */
        memset(to, 0xff, row / 8 + 1);
    to[row / 8] &= (uint8_t)((1u << row % 8) - 1);
    for (uint32_t at = 0; at < n; at += 64) {
        const uint64_t bits = n - at < 64 ? present[at / 64] & ((1ull << (n - at)) - 1) : present[at / 64];
        uint8_t       *word = to + (row + at) / 8;
        const unsigned shift = (unsigned)((row + at) % 8);
        const uint64_t low = bits << shift | (shift != 0 ? (uint64_t)*word : 0);
        memcpy(word, &low, 8); /* little-endian, like all supported machines */
        word[8] = (uint8_t)(shift != 0 ? bits >> (64 - shift) : 0);
    }
    c->valid.len = (row + n + 7) / 8;
    c->nulls += n - has;
}

static bool is_entry(const column *c, uint64_t place, const hdx_buffer *text)
{
    const int64_t *offsets = (const int64_t *)(const void *)c->offsets.at;
    const uint64_t from = (uint64_t)offsets[place], len = (uint64_t)offsets[place + 1] - from;
    return len == text->len && (len == 0 || memcmp(c->entries.at + from, text->at, len) == 0);
}

/* Returns the index of a text in the dictionary; -1: no memory. */
static int64_t place_of(column *c, const hdx_buffer *text)
{
    uint64_t key = hdx_hash_bytes(0, text->at, text->len);
    bool     fresh;
    for (const uint64_t *is; (is = hdx_map_get(&c->places, key)) != NULL; key = hdx_mix64(key))
        if (is_entry(c, *is, text))
            return (int64_t)*is;
    uint64_t *slot = c->entry_count < INT32_MAX ? hdx_map_put(&c->places, key, &fresh) : NULL;
    if (slot == NULL)
        return -1;
    *slot = c->entry_count++;
    if (*slot == 0)
        hdx_buffer_put(&c->offsets, &(const int64_t){ 0 }, 8);
    hdx_buffer_put(&c->entries, text->at, text->len);
    hdx_buffer_put(&c->offsets, &(const int64_t){ (int64_t)c->entries.len }, 8);
    texts_drop(c->shared);
    c->shared = NULL;
    return (int64_t)*slot;
}

static void clean(stream *s, const hdx_vector *v, uint32_t i)
{
    const hdx_text text = hdx_vector_text(v, i);
    hdx_buffer_clear(&s->text);
    hdx_render_utf8(&s->text, text.at, text.len);
}

static bool add_few(stream *s, column *c, const hdx_vector *v)
{
    if (v->texts != NULL && c->known == NULL) {
        if ((c->known = hdx_mem_array(s->mem, v->text_count, sizeof *c->known)) == NULL)
            return false;
        c->known_count = v->text_count;
    }
    for (uint32_t i = 0; i < s->runs.count; i++) {
        const bool has = hdx_vector_has(v, i);
        uint32_t  *known = has && v->texts != NULL && v->numbers[i] < c->known_count ? &c->known[v->numbers[i]] : NULL;
        int32_t    place = known != NULL ? (int32_t)*known - 1 : 0;
        if (has && (known == NULL || place < 0)) {
            clean(s, v, i);
            const int64_t of = place_of(c, &s->text);
            if (of < 0 || s->text.failed)
                return false;
            place = (int32_t)of;
            if (known != NULL)
                *known = (uint32_t)place + 1;
        }
        put_valid(c, s->batch_rows + i, has);
        hdx_buffer_put(&c->values, &place, 4);
    }
    return true;
}

static void add_texts(stream *s, column *c, const hdx_vector *v)
{
    if (s->batch_rows == 0)
        hdx_buffer_put(&c->values, &(const int64_t){ 0 }, 8);
    for (uint32_t i = 0; i < s->runs.count; i++) {
        const bool has = hdx_vector_has(v, i);
        if (has) {
            const hdx_text text = hdx_vector_text(v, i);
            hdx_render_utf8(&c->bytes, text.at, text.len);
        }
        put_valid(c, s->batch_rows + i, has);
        hdx_buffer_put(&c->values, &(const int64_t){ (int64_t)c->bytes.len }, 8);
    }
    s->batch_bytes = s->batch_bytes > c->bytes.len ? s->batch_bytes : c->bytes.len;
}

static void add_numbers(stream *s, column *c, const hdx_vector *v)
{
    const uint32_t n = s->runs.count;
    const bool     many = s->batch_rows == 0 && n >= HDX_RUN_ROWS / 2; /* more rows are likely to follow */
    char          *to = hdx_buffer_room(&c->values, many ? BATCH_ROWS * 8ull : n * 8ull);
    if (to == NULL)
        return;
    if (v->numbers != NULL)
        memcpy(to, v->numbers, n * 8ull);
    else
        memset(to, 0, n * 8ull);
    c->values.len += n * 8ull;
    if (v->present != NULL && v->numbers != NULL)
        put_valid_rows(c, s->batch_rows, v->present, n);
    for (uint32_t i = 0; i < n && (v->numbers == NULL || (v->present == NULL && c->nulls > 0)); i++)
        put_valid(c, s->batch_rows + i, v->numbers != NULL);
}

static void add_booleans(stream *s, column *c, const hdx_vector *v)
{
    for (uint32_t i = 0; i < s->runs.count; i++) {
        const bool has = hdx_vector_has(v, i);
        put_valid(c, s->batch_rows + i, has);
        put_bit(&c->values, s->batch_rows + i, has && v->numbers[i] != 0);
    }
}

static hdx_code add_run(stream *s, hdx_error *err)
{
    bool sound = true;
    for (unsigned i = 0; sound && i < s->column_count; i++) {
        column           *c = &s->columns[i];
        const hdx_vector *v = &s->runs.vectors[i];
        if (c->few)
            sound = add_few(s, c, v);
        else if (c->outside == HDX_OUTSIDE_TEXT)
            add_texts(s, c, v);
        else if (c->outside == HDX_OUTSIDE_BOOL)
            add_booleans(s, c, v);
        else
            add_numbers(s, c, v);
        sound = sound && !c->valid.failed && !c->values.failed && !c->bytes.failed && !c->entries.failed &&
                !c->offsets.failed;
    }
    s->batch_rows += s->runs.count;
    return sound ? HDX_OK : hdx_no_memory(err, "a batch of columns", s->batch_rows * 8);
}

/* ---- passing on a batch ---- */

/* Returns a copy of the current dictionary, which may still grow. */
static texts *share(column *c)
{
    texts *t = c->shared;
    if (t == NULL && (t = calloc(1, sizeof *t)) != NULL) {
        static const int64_t none = 0;
        const hdx_buffer    *from[2] = { &c->offsets, &c->entries };
        atomic_init(&t->uses, 1); /* the column's */
        t->count = c->entry_count;
        for (unsigned i = 0; i < 2; i++) {
            const void *at = from[i]->at != NULL ? from[i]->at : (const void *)&none;
            t->sizes[i] = from[i]->len + 8;
            if ((t->buffers[i] = hdx_mem_get(NULL, t->sizes[i])) != NULL)
                memcpy(t->buffers[i], at, from[i]->at != NULL ? from[i]->len : 8);
        }
        if (t->buffers[0] == NULL || t->buffers[1] == NULL) {
            texts_drop(t);
            return NULL;
        }
        c->shared = t;
    }
    return t;
}

static bool give_dictionary(column *c, struct ArrowArray *array, held *h)
{
    texts *t = share(c);
    held  *of = t != NULL ? new_array(&h->dictionary, t->count, 0, 3) : NULL;
    if (of == NULL)
        return false;
    atomic_fetch_add(&t->uses, 1);
    of->shared = t;
    of->buffers[1] = t->buffers[0];
    of->buffers[2] = t->buffers[1];
    array->dictionary = &h->dictionary;
    return true;
}

static bool give_column(stream *s, column *c, struct ArrowArray *out)
{
    const bool text = c->outside == HDX_OUTSIDE_TEXT && !c->few;
    held      *h = new_array(out, s->batch_rows, c->nulls, text ? 3 : 2);
    if (h == NULL)
        return false;
    give_buffer(h, 0, &c->valid);
    give_buffer(h, 1, &c->values);
    if (text)
        give_buffer(h, 2, &c->bytes);
    c->nulls = 0;
    return !c->few || give_dictionary(c, out, h);
}

static hdx_code give_batch(stream *s, struct ArrowArray *out, hdx_error *err)
{
    held *h = new_array(out, s->batch_rows, 0, 1);
    if (h == NULL)
        return hdx_no_memory(err, "a batch", sizeof *h);
    h->child_array = calloc(s->column_count + 1u, sizeof *h->child_array);
    h->children = calloc(s->column_count + 1u, sizeof(struct ArrowArray *));
    bool sound = h->child_array != NULL && h->children != NULL;
    for (unsigned i = 0; sound && i < s->column_count; i++) {
        h->children[i] = &h->child_array[i];
        sound = give_column(s, &s->columns[i], &h->child_array[i]);
        out->n_children += h->child_array[i].release != NULL;
    }
    out->children = h->children;
    s->batch_rows = s->batch_bytes = 0;
    if (sound)
        return HDX_OK;
    out->release(out);
    return hdx_no_memory(err, "a batch", sizeof *h);
}

static hdx_code next_batch(stream *s, struct ArrowArray *out, hdx_error *err)
{
    hdx_code code = HDX_OK;
    while (code == HDX_OK && !s->ended && s->batch_rows < BATCH_ROWS && s->batch_bytes < BATCH_BYTES) {
        code = hdx_runs_next(&s->runs, (uint32_t)(BATCH_ROWS - s->batch_rows), err);
        s->ended = code == HDX_OK && s->runs.count == 0;
        if (code == HDX_OK && !s->ended)
            code = add_run(s, err);
    }
    return code != HDX_OK || s->batch_rows == 0 ? code : give_batch(s, out, err);
}

/* ---- the schema ---- */

typedef struct described { /* private_data of a schema */
    char                *name, *metadata;
    struct ArrowSchema   dictionary;
    struct ArrowSchema  *child_schema;
    struct ArrowSchema **children;
} described;

static void release_schema(struct ArrowSchema *schema)
{
    described *d = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
    if (schema->dictionary != NULL && schema->dictionary->release != NULL)
        schema->dictionary->release(schema->dictionary);
    free(d->name);
    free(d->metadata);
    free(d->child_schema);
    free(d->children);
    free(d);
    schema->release = NULL;
}

static described *new_schema(struct ArrowSchema *out, const char *format, const char *name)
{
    described *d = calloc(1, sizeof *d);
    *out = (struct ArrowSchema){ 0 };
    if (d == NULL || (d->name = strdup(name)) == NULL) {
        free(d);
        return NULL;
    }
    out->format = format;
    out->name = d->name;
    out->release = release_schema;
    out->private_data = d;
    return d;
}

static void put_word(hdx_buffer *b, const char *text)
{
    const int32_t len = (int32_t)strlen(text);
    hdx_buffer_put(b, &len, 4);
    hdx_buffer_text(b, text);
}

/* Pairs of key and value, each after its length. */
static char *metadata_of(const hdx_column *c)
{
    const char *unit = hdx_column_unit_name(c->unit);
    hdx_buffer  b = hdx_buffer_of(NULL);
    hdx_buffer_put(&b, &(const int32_t){ *unit != '\0' ? 3 : 2 }, 4);
    put_word(&b, "heapdex.type");
    put_word(&b, hdx_column_type_name(c->type));
    put_word(&b, "heapdex.sentence");
    put_word(&b, c->sentence != NULL ? c->sentence : "");
    if (*unit != '\0') {
        put_word(&b, "heapdex.unit");
        put_word(&b, unit);
    }
    char *copy = b.failed ? NULL : malloc(b.len);
    if (copy != NULL)
        memcpy(copy, b.at, b.len);
    hdx_buffer_free(&b);
    return copy;
}

static bool describe(const column *c, struct ArrowSchema *out)
{
    static const char *const formats[] = {
        [HDX_OUTSIDE_NUMBER] = "l", [HDX_OUTSIDE_REAL] = "g", [HDX_OUTSIDE_BOOL] = "b", [HDX_OUTSIDE_TEXT] = "U"
    };
    described *d = new_schema(out, c->few ? "i" : formats[c->outside], c->declared->name);
    if (d == NULL)
        return false;
    out->flags = (c->declared->flags & HDX_COLUMN_NULLABLE) != 0 ? ARROW_FLAG_NULLABLE : 0;
    out->metadata = d->metadata = metadata_of(c->declared);
    if (c->few && new_schema(&d->dictionary, "U", "") != NULL)
        out->dictionary = &d->dictionary;
    return out->metadata != NULL && (out->dictionary != NULL) == c->few;
}

static hdx_code describe_all(const stream *s, struct ArrowSchema *out, hdx_error *err)
{
    described *d = new_schema(out, "+s", "");
    if (d == NULL)
        return hdx_no_memory(err, "a schema", sizeof *d);
    d->child_schema = calloc(s->column_count + 1u, sizeof *d->child_schema);
    d->children = calloc(s->column_count + 1u, sizeof(struct ArrowSchema *));
    bool sound = d->child_schema != NULL && d->children != NULL;
    for (unsigned i = 0; sound && i < s->column_count; i++) {
        d->children[i] = &d->child_schema[i];
        sound = describe(&s->columns[i], &d->child_schema[i]);
        out->n_children += d->child_schema[i].release != NULL;
    }
    out->children = d->children;
    if (sound)
        return HDX_OK;
    out->release(out);
    return hdx_no_memory(err, "a schema", sizeof *d);
}

/* ---- the stream ---- */

static int number_of(hdx_code code)
{
    return code == HDX_OK ? 0 : code == HDX_LIMIT ? ENOMEM : code == HDX_CANCELLED ? ECANCELED : EIO;
}

static int end_call(stream *s, hdx_code code)
{
    if (code == HDX_OK)
        return 0;
    (void)hdx_mem_explain(s->mem, code, &s->error);
    s->code = code;
    (void)snprintf(s->message, sizeof s->message, "%s%s%s", s->error.where, s->error.where[0] != '\0' ? ": " : "",
                   s->error.message);
    return number_of(code);
}

static int get_schema(struct ArrowArrayStream *of, struct ArrowSchema *out)
{
    stream *s = of->private_data;
    return end_call(s, describe_all(s, out, &s->error));
}

static int get_next(struct ArrowArrayStream *of, struct ArrowArray *out)
{
    stream *s = of->private_data;
    *out = (struct ArrowArray){ 0 };
    if (s->code != HDX_OK) /* after a failure it stays failed */
        return number_of(s->code);
    if (s->keeper.enter != NULL)
        s->keeper.enter(s->keeper.context);
    const int result = end_call(s, next_batch(s, out, &s->error));
    if (s->keeper.leave != NULL)
        s->keeper.leave(s->keeper.context);
    return result;
}

static const char *get_last_error(struct ArrowArrayStream *of)
{
    const stream *s = of->private_data;
    return s->code != HDX_OK ? s->message : NULL;
}

static void close_column(stream *s, column *c)
{
    hdx_buffer_free(&c->valid);
    hdx_buffer_free(&c->values);
    hdx_buffer_free(&c->bytes);
    hdx_buffer_free(&c->offsets);
    hdx_buffer_free(&c->entries);
    hdx_map_free(&c->places);
    hdx_mem_put(s->mem, c->known, c->known_count * sizeof *c->known);
    texts_drop(c->shared);
}

static void close_stream(stream *s)
{
    const hdx_keeper keeper = s->keeper;
    if (keeper.enter != NULL)
        keeper.enter(keeper.context);
    for (unsigned i = 0; s->columns != NULL && i < s->column_count; i++)
        close_column(s, &s->columns[i]);
    hdx_mem_put(s->mem, s->columns, s->column_count * sizeof *s->columns);
    hdx_buffer_free(&s->text);
    hdx_runs_close(&s->runs);
    hdx_rows_close(s->rows);
    free(s);
    if (keeper.leave != NULL)
        keeper.leave(keeper.context);
    if (keeper.release != NULL)
        keeper.release(keeper.context);
}

static void release(struct ArrowArrayStream *of)
{
    close_stream(of->private_data);
    of->release = NULL;
}

static hdx_code open_columns(stream *s, hdx_error *err)
{
    s->column_count = s->runs.column_count;
    s->columns = hdx_mem_array(s->mem, s->column_count, sizeof *s->columns);
    if (s->columns == NULL)
        return hdx_no_memory(err, "columns", s->column_count * sizeof *s->columns);
    for (unsigned i = 0; i < s->column_count; i++) {
        column *c = &s->columns[i];
        c->declared = &s->runs.columns[i];
        c->outside = hdx_outside_of(c->declared);
        c->few = c->declared->type == HDX_TYPE_TEXT && (c->declared->flags & HDX_COLUMN_FEW) != 0;
        c->valid = c->values = c->bytes = c->offsets = c->entries = hdx_buffer_of(s->mem);
        c->places = hdx_map_of(s->mem);
    }
    return HDX_OK;
}

hdx_code hdx_arrow_stream(hdx_rows *rows, const hdx_keeper *keeper, struct ArrowArrayStream *out, hdx_error *err)
{
    static const hdx_keeper nobody = { 0 };
    stream                 *s = calloc(1, sizeof *s);
    *out = (struct ArrowArrayStream){ 0 };
    if (s == NULL) {
        hdx_rows_close(rows);
        if (keeper != NULL && keeper->release != NULL)
            keeper->release(keeper->context);
        return hdx_no_memory(err, "a stream", sizeof *s);
    }
    s->rows = rows;
    s->mem = hdx_rows_mem(rows);
    s->text = hdx_buffer_of(s->mem);
    s->keeper = keeper != NULL ? *keeper : nobody;
    hdx_code code = hdx_runs_open(rows, &s->runs, err);
    if (code == HDX_OK)
        code = open_columns(s, err);
    if (code != HDX_OK) {
        close_stream(s);
        return code;
    }
    *out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release, s };
    return HDX_OK;
}

hdx_code hdx_rows_arrow(hdx_rows *rows, struct ArrowArrayStream *out, hdx_error *err)
{
    return hdx_arrow_stream(rows, NULL, out, err);
}
