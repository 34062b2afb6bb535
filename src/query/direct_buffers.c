/*
 * direct_buffers.c - memory outside of the heap that buffers and memory segments of the heap refer to.
 *
 * In:  java.nio.MappedByteBuffer and below it (all direct ByteBuffers), views of other types, native memory segments
 *      (JDK 22 on).
 * Out: a row for each piece of memory. Buffers that show a part of another one (slices, duplicates, read-only and typed
 *      views) are counted with it: they refer to it (`att`), or what they show lies within it.
 * What a buffer owns has a cleaner with a Deallocator or Unmapper, which knows the true size; without one the memory is
 * that of native code, or of who made the buffer. Android's buffers without native memory lie in a byte[] of the heap.
 * Cost: a record for each buffer and its cleaner; 72 bytes a buffer.
 */
#include "query/files.h"

#include "graph/graph.h"
#include <stdio.h>
#include <stdlib.h>

#define CHAIN 64u /* buffers that show one another */

enum { ADDRESS, CLASS, LABEL, KIND, CAPACITY, VIEWS, AT, FILE_NAME, SHALLOW, RETAINED, FIELD, COLUMNS };

#define KIND_COLUMN                                                                                                    \
    HDX_COLUMN(                                                                                                        \
        "kind", TEXT, NONE, 0,                                                                                         \
        "direct, mapped (a file), native (its memory is somebody else's), segment, freed or array (in the heap)")
static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "the buffer that owns the memory, or the widest one"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "its class"),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
                         "what it says of itself; null for most objects"),
    [KIND] = KIND_COLUMN,
    [CAPACITY] = HDX_COLUMN("capacity", UNSIGNED, BYTES, 0, "its memory outside of the heap"),
    [VIEWS] = HDX_COLUMN("views", UNSIGNED, COUNT, 0, "other buffers that show some of it"),
    [AT] = HDX_COLUMN("memory", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "where the memory begins"),
    [FILE_NAME] = HDX_COLUMN("file", TEXT, NONE, HDX_COLUMN_NULLABLE, "path of a mapped file, where fields tell it"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "size of the buffer in the heap"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                            "bytes of the heap that would be free if the buffer were gone"),
    [FIELD] = HDX_COLUMN("field", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME | HDX_COLUMN_LATE,
                         "CLASS#FIELD that holds it, directly, in collections or by its views"),
};
static const hdx_column kind_columns[] = {
    KIND_COLUMN,
    HDX_COLUMN("buffers", UNSIGNED, COUNT, 0, "pieces of memory"),
    HDX_COLUMN("views", UNSIGNED, COUNT, 0, "other buffers that show some of them"),
    HDX_COLUMN("capacity", UNSIGNED, BYTES, 0, "their memory outside of the heap"),
};
static const hdx_form forms[] = {
    { "by", "kind", kind_columns, HDX_COUNT(kind_columns) },
    { NULL, NULL, columns, COLUMNS },
};
static const hdx_column total_members[] = {
    HDX_COLUMN("buffers", UNSIGNED, COUNT, 0, "pieces of memory"),
    HDX_COLUMN("views", UNSIGNED, COUNT, 0, "other buffers that show some of them"),
    HDX_COLUMN("capacity", UNSIGNED, BYTES, 0, "memory outside of the heap that they show"),
    HDX_COLUMN("native", UNSIGNED, BYTES, 0, "of this, memory of native code, that no buffer owns"),
};
static const hdx_column reserved_members[] = {
    HDX_COLUMN("count", SIGNED, COUNT, 0, "direct buffers that java.nio.Bits counts"),
    HDX_COLUMN("capacity", SIGNED, BYTES, 0, "their capacity by that count: those that are no longer reachable, too"),
};
static const hdx_column document[] = {
    HDX_NESTED("total", OBJECT, HDX_COLUMN_OPTIONAL, "sums of all rows, before conditions and limit", total_members),
    HDX_NESTED("reserved", OBJECT, HDX_COLUMN_OPTIONAL, "what the JDK itself counts; only where the dump tells it",
               reserved_members),
};

typedef enum kind { DIRECT, MAPPED, SEGMENT, NATIVE, FREED, ARRAY, KINDS } kind;
static const char *const kind_names[KINDS] = { "direct", "mapped", "segment", "native", "freed", "array" };

typedef struct buffer {
    hdx_id   id, shows, descriptor; /* shows: the buffer in `att`; HDX_NO_ID: none */
    kind     is;
    bool     owns;
    uint64_t memory, capacity;
    uint64_t views;
} buffer;

typedef struct buffers {
    hdx_ask          ask;
    hdx_fields       fields, cleaner, thunk;
    hdx_file_owners  owners;
    HDX_LIST(buffer) found;
    uint64_t         next, views, capacity, native;
} buffers;

static void buffers_close(void *of)
{
    buffers *b = of;
    hdx_fields_close(&b->fields);
    hdx_fields_close(&b->cleaner);
    hdx_fields_close(&b->thunk);
    hdx_list_free(b->ask.q.mem, HDX_LIST_REF(&b->owners));
    hdx_list_free(b->ask.q.mem, HDX_LIST_REF(&b->found));
    free(b);
}

/* ---- one buffer ---- */

static uint64_t natural(const hdx_fields *f, const char *class_name, const char *name)
{
    int64_t value = 0;
    return hdx_fields_number(f, class_name, name, &value) && value > 0 ? (uint64_t)value : 0;
}

static bool ends_with(hdx_text name, const char *end)
{
    const size_t len = strlen(end);
    return name.len >= len && memcmp(name.at + (name.len - len), end, len) == 0;
}

/* A Deallocator or Unmapper says how much there is: a buffer may show less of it. */
static hdx_code look_at_cleaner(buffers *b, hdx_id cleaner, buffer *out, hdx_error *err)
{
    hdx_graph       *g = b->ask.g;
    hdx_code         code = hdx_fields_read(&b->cleaner, g, cleaner, err);
    const hdx_id     thunk = hdx_fields_ref(&b->cleaner, NULL, "thunk");
    const hdx_class *c = thunk == HDX_NO_ID ? NULL : hdx_graph_class(g, hdx_graph_class_of(g, thunk));
    out->owns = true;
    out->is = DIRECT;
    if (code != HDX_OK || c == NULL || (code = hdx_fields_read(&b->thunk, g, thunk, err)) != HDX_OK)
        return code;
    int64_t at = 0;
    if (ends_with(c->name, "Unmapper"))
        out->is = MAPPED;
    if (ends_with(c->name, "Deallocator") && hdx_fields_number(&b->thunk, NULL, "address", &at) && at == 0)
        out->is = FREED;
    const uint64_t size = natural(&b->thunk, NULL, "size"), capacity = natural(&b->thunk, NULL, "capacity");
    if (out->is == DIRECT && capacity > out->capacity)
        out->capacity = capacity;
    if (out->is == MAPPED && size > out->capacity)
        out->capacity = size;
    if (out->descriptor == HDX_NO_ID)
        out->descriptor = hdx_fields_ref(&b->thunk, NULL, "fd");
    return HDX_OK;
}

/* size: bytes of its elements; those of others than bytes lie in the heap, or have `att`. */
static hdx_code look_at_buffer(buffers *b, hdx_id id, unsigned size, buffer *out, bool *there, hdx_error *err)
{
    hdx_graph *g = b->ask.g;
    int64_t    value;
    hdx_code   code = hdx_fields_read(&b->fields, g, id, err);
    *out = (buffer){ .id = id, .shows = HDX_NO_ID, .descriptor = HDX_NO_ID, .is = NATIVE };
    *there = code == HDX_OK && hdx_fields_number(&b->fields, "java.nio.Buffer", "capacity", &value) &&
             (size == 1 || hdx_fields_value(&b->fields, NULL, "att") != NULL);
    if (!*there)
        return code;
    out->capacity = natural(&b->fields, "java.nio.Buffer", "capacity") * size; /* of a Java int: no overflow */
    out->memory = natural(&b->fields, "java.nio.Buffer", "address");
    if (out->memory == 0)
        out->memory = natural(&b->fields, "java.nio.Buffer", "effectiveDirectAddress"); /* Dalvik */
    out->descriptor = hdx_fields_ref(&b->fields, "java.nio.MappedByteBuffer", "fd");
    out->shows = hdx_fields_ref(&b->fields, NULL, "att");
    const hdx_id cleaner = hdx_fields_ref(&b->fields, NULL, "cleaner");
    if (cleaner != HDX_NO_ID)
        return look_at_cleaner(b, cleaner, out, err);
    if (out->descriptor != HDX_NO_ID)
        out->is = MAPPED;
    if (hdx_fields_ref(&b->fields, "java.nio.ByteBuffer", "hb") != HDX_NO_ID)
        out->is = ARRAY;
    return HDX_OK;
}

static hdx_code look_at_segment(buffers *b, hdx_id id, buffer *out, bool *there, hdx_error *err)
{
    static const char native[] = "jdk.internal.foreign.NativeMemorySegmentImpl";
    const hdx_code    code = hdx_fields_read(&b->fields, b->ask.g, id, err);
    *out = (buffer){ .id = id, .shows = HDX_NO_ID, .descriptor = HDX_NO_ID, .is = SEGMENT };
    out->memory = natural(&b->fields, native, "min");
    out->capacity = natural(&b->fields, "jdk.internal.foreign.AbstractMemorySegmentImpl", "length");
    *there =
        out->memory != 0 && out->capacity > 0 && out->capacity <= INT64_MAX - out->memory; /* not MemorySegment.NULL */
    return code;
}

/* size 0: memory segments */
static hdx_code add_all(buffers *b, const char *class_name, unsigned size, hdx_error *err)
{
    hdx_ids  ids = hdx_ids_of(b->ask.q.mem);
    hdx_code code = hdx_instances_below(&b->ask, class_name, &ids, err);
    for (uint64_t i = 0; code == HDX_OK && i < ids.count; i++) {
        buffer at;
        bool   there;
        code = size == 0 ? look_at_segment(b, ids.at[i], &at, &there, err)
                         : look_at_buffer(b, ids.at[i], size, &at, &there, err);
        if (code != HDX_OK || !there)
            continue;
        if (!hdx_list_room(b->ask.q.mem, HDX_LIST_REF(&b->found)))
            code = hdx_no_memory(err, "buffers", (b->found.count + 1) * sizeof at);
        else
            b->found.at[b->found.count++] = at;
        if (code == HDX_OK)
            code = hdx_ask_turn(&b->ask, err);
    }
    hdx_ids_drop(&ids);
    return code;
}

/* ---- which show the memory of which ---- */

static int by_id(const void *a, const void *b)
{
    const buffer *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Where memory begins; of several there the owner first, then the widest. */
static int by_memory(const void *a, const void *b)
{
    const buffer *x = a, *y = b;
    if (x->memory != y->memory)
        return x->memory < y->memory ? -1 : 1;
    if (x->owns != y->owns)
        return x->owns ? -1 : 1;
    if (x->capacity != y->capacity)
        return x->capacity > y->capacity ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static buffer *find_buffer(const buffers *b, hdx_id id)
{
    const buffer key = { .id = id };
    return id == HDX_NO_ID || b->found.count == 0
               ? NULL
               : bsearch(&key, b->found.at, (size_t)b->found.count, sizeof key, by_id);
}

/* The end of a chain of `att`; NULL: it shows no buffer, or goes round. */
static buffer *shown_by(const buffers *b, const buffer *from)
{
    buffer *at = find_buffer(b, from->shows), *last = NULL;
    for (unsigned i = 0; at != NULL && i < CHAIN; i++) {
        if (at == from)
            return NULL;
        last = at;
        at = find_buffer(b, at->shows);
    }
    return at == NULL ? last : NULL;
}

static void keep_owners(buffers *b)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < b->found.count; i++)
        if (b->found.at[i].id != HDX_NO_ID)
            b->found.at[kept++] = b->found.at[i];
    b->found.count = kept;
}

/* Views leave the list; what they show has one more. */
static hdx_code fold(buffers *b, hdx_error *err)
{
    HDX_LIST(hdx_id) views = { NULL, 0, 0 };
    hdx_code         code = HDX_OK;
    if (b->found.count > 1)
        qsort(b->found.at, (size_t)b->found.count, sizeof(buffer), by_id);
    for (uint64_t i = 0; code == HDX_OK && i < b->found.count; i++) {
        buffer *of = b->found.at[i].owns ? NULL : shown_by(b, &b->found.at[i]);
        if (of == NULL)
            continue;
        of->views++;
        if (!hdx_list_room(b->ask.q.mem, HDX_LIST_REF(&views)))
            code = hdx_no_memory(err, "buffers", (views.count + 1) * sizeof(hdx_id));
        else
            views.at[views.count++] = i;
    }
    for (uint64_t i = 0; i < views.count; i++) /* now: chains are followed by id */
        b->found.at[views.at[i]].id = HDX_NO_ID;
    hdx_list_free(b->ask.q.mem, HDX_LIST_REF(&views));
    keep_owners(b);
    if (b->found.count > 1)
        qsort(b->found.at, (size_t)b->found.count, sizeof(buffer), by_memory);
    buffer *wide = NULL;
    for (uint64_t i = 0; code == HDX_OK && i < b->found.count; i++) {
        buffer *at = &b->found.at[i];
        if (at->memory == 0 || at->is == ARRAY || at->is == FREED)
            continue;
        if (!at->owns && wide != NULL && at->memory - wide->memory <= wide->capacity &&
            at->capacity <= wide->capacity - (at->memory - wide->memory)) {
            wide->views += 1 + at->views;
            at->id = HDX_NO_ID;
        } else if (wide == NULL || at->memory - wide->memory >= wide->capacity ||
                   at->capacity > wide->capacity - (at->memory - wide->memory)) {
            wide = at;
        }
    }
    keep_owners(b);
    return code;
}

/* ---- rows ---- */

/* Memory outside of the heap: arrays are in it, and what was freed is gone. */
static uint64_t outside(const buffer *b) { return b->is == ARRAY || b->is == FREED ? 0 : b->capacity; }

/* What is somebody else's memory, as the JDK's own image of modules, comes last. */
static int largest_first(const void *a, const void *b)
{
    const buffer *x = a, *y = b;
    if ((x->is >= NATIVE) != (y->is >= NATIVE))
        return x->is >= NATIVE ? 1 : -1;
    if (outside(x) != outside(y))
        return outside(x) > outside(y) ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static hdx_code find(buffers *b, hdx_error *err)
{
    static const struct {
        const char *class_name;
        unsigned    size;
    } kinds[] = {
        { "java.nio.MappedByteBuffer", 1 }, { "java.nio.ShortBuffer", 2 },
        { "java.nio.CharBuffer", 2 },       { "java.nio.IntBuffer", 4 },
        { "java.nio.FloatBuffer", 4 },      { "java.nio.LongBuffer", 8 },
        { "java.nio.DoubleBuffer", 8 },     { "jdk.internal.foreign.NativeMemorySegmentImpl", 0 },
    };
    struct hdx_near *near = hdx_graph_near_begin(b->ask.g);
    hdx_code         code = HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < sizeof kinds / sizeof *kinds; i++)
        code = add_all(b, kinds[i].class_name, kinds[i].size, err);
    hdx_graph_near_end(near);
    if (code == HDX_OK && (code = fold(b, err)) == HDX_OK)
        code = hdx_file_owners_of(&b->ask, &b->owners, err);
    for (uint64_t i = 0; i < b->found.count; i++) {
        b->views += b->found.at[i].views;
        b->capacity += outside(&b->found.at[i]);
        b->native += b->found.at[i].is == NATIVE ? outside(&b->found.at[i]) : 0;
    }
    if (b->found.count > 1)
        qsort(b->found.at, (size_t)b->found.count, sizeof(buffer), largest_first);
    return code == HDX_OK ? hdx_graph_check(b->ask.g, err) : code;
}

static hdx_code rows_next(void *of, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    buffers         *b = of;
    hdx_graph       *g = b->ask.g;
    const hdx_query *q = &b->ask.q;
    char             text[24];
    hdx_code         code = hdx_ask_turn(&b->ask, err);
    if (code != HDX_OK)
        return code;
    if (b->next == b->found.count)
        return hdx_ask_end(&b->ask, more, err);
    const buffer         *at = &b->found.at[b->next++];
    const hdx_file_owner *file = at->descriptor == HDX_NO_ID ? NULL : hdx_file_owner_of(&b->owners, at->descriptor);
    cells[ADDRESS] = hdx_id_cell(g, at->id);
    cells[CLASS] = hdx_class_of_cell(g, at->id);
    cells[KIND] = hdx_cell_string(kind_names[at->is]);
    cells[CAPACITY] = hdx_cell_uint(outside(at));
    cells[VIEWS] = hdx_cell_uint(at->views);
    cells[LABEL] = cells[AT] = cells[FILE_NAME] = cells[FIELD] = hdx_cell_null();
    if (at->memory != 0) {
        (void)snprintf(text, sizeof text, "0x%llx", (unsigned long long)at->memory);
        cells[AT] = hdx_text_cell(arena, (hdx_text){ text, (uint32_t)strlen(text) });
    }
    cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(g, at->id));
    cells[RETAINED] = hdx_retained_cell(g, at->id);
    if (file != NULL && file->path != HDX_NO_ID)
        code = hdx_label_cell(q, file->path, arena, &cells[FILE_NAME], err);
    *more = true;
    return code;
}

static hdx_code add_sums(void *of, hdx_table *table, hdx_error *err)
{
    const buffers *b = of;
    hdx_code       code = HDX_OK;
    for (unsigned k = 0; code == HDX_OK && k < KINDS; k++) {
        uint64_t count = 0, views = 0, capacity = 0;
        for (uint64_t i = 0; i < b->found.count; i++)
            if (b->found.at[i].is == (kind)k) {
                count++;
                views += b->found.at[i].views;
                capacity += outside(&b->found.at[i]);
            }
        const hdx_cell cells[] = { hdx_cell_string(kind_names[k]), hdx_cell_uint(count), hdx_cell_uint(views),
                                   hdx_cell_uint(capacity) };
        if (count > 0)
            code = hdx_table_add(table, cells, err);
    }
    return code;
}

/* ---- beside the rows ---- */

/* The value of an AtomicLong in a static of java.nio.Bits, which JDK 8 and 9 name differently. */
static hdx_code counted(buffers *b, const char *name, const char *older, int64_t *out, bool *there, hdx_error *err)
{
    hdx_code code = hdx_fields_statics(&b->fields, b->ask.g, "java.nio.Bits", err);
    hdx_id   at = hdx_fields_ref(&b->fields, NULL, name);
    if (at == HDX_NO_ID)
        at = hdx_fields_ref(&b->fields, NULL, older);
    if (code == HDX_OK)
        code = hdx_fields_read(&b->fields, b->ask.g, at, err);
    *there = code == HDX_OK && hdx_fields_number(&b->fields, "java.util.concurrent.atomic.AtomicLong", "value", out);
    return code;
}

typedef struct sums {
    uint64_t buffers, views, capacity, native;
    int64_t  count, reserved;
    bool     told;
} sums;

static hdx_code sum_up(buffers *b, sums *s, hdx_error *err)
{
    bool     counts = false;
    hdx_code code = counted(b, "COUNT", "count", &s->count, &counts, err);
    if (code == HDX_OK)
        code = counted(b, "TOTAL_CAPACITY", "totalCapacity", &s->reserved, &s->told, err);
    s->told = s->told && counts;
    s->buffers = b->found.count;
    s->views = b->views;
    s->capacity = b->capacity;
    s->native = b->native;
    return code;
}

static hdx_code say(const sums *s, hdx_rows *rows, hdx_error *err)
{
    hdx_member *m = hdx_arena_get(hdx_rows_arena(rows), 6 * sizeof *m);
    if (m == NULL)
        return hdx_no_memory(err, "a total", 6 * sizeof *m);
    m[0] = (hdx_member){ "buffers", hdx_cell_uint(s->buffers) };
    m[1] = (hdx_member){ "views", hdx_cell_uint(s->views) };
    m[2] = (hdx_member){ "capacity", hdx_cell_uint(s->capacity) };
    m[3] = (hdx_member){ "native", hdx_cell_uint(s->native) };
    m[4] = (hdx_member){ "count", hdx_cell_int(s->count) };
    m[5] = (hdx_member){ "capacity", hdx_cell_int(s->reserved) };
    const hdx_code code = hdx_rows_add_extra(rows, "total", hdx_cell_object(m, 4), err);
    return code == HDX_OK && s->told ? hdx_rows_add_extra(rows, "reserved", hdx_cell_object(m + 4, 2), err) : code;
}

/* ---- asking ---- */

static hdx_code open_direct_buffers(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    sums    s = { .count = 0 };
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    buffers *b = calloc(1, sizeof *b);
    if (b == NULL)
        return hdx_no_memory(err, "buffers", sizeof *b);
    b->ask = ask;
    if ((code = find(b, err)) == HDX_OK)
        code = sum_up(b, &s, err);
    const hdx_listing listing = { .rows = { columns, COLUMNS, b, rows_next, buffers_close, b->found.count },
                                  .label = LABEL,
                                  .field = FIELD,
                                  .sum_columns = kind_columns,
                                  .sum_count = HDX_COUNT(kind_columns),
                                  .sum = add_sums };
    code = hdx_listing_open(q, a, code, &listing, out, err);
    if (code == HDX_OK && (code = say(&s, *out, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return hdx_say_nothing(code, out, err, "%s",
                           hdx_graph_lacks_dump(q->graph) ? "their sizes are in the dump, which is not at hand"
                                                          : "there are no direct buffers");
}

static const hdx_parameter parameters[] = {
    { .name = "by", .kind = HDX_PARAMETER_CHOICE, .value = "KEY", .choices = "kind", .sentence = "one row per kind" },
};

const hdx_question hdx_question_direct_buffers = {
    .declared = {
        .name = "direct-buffers",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "memory outside of the heap: direct buffers, mapped files, segments",
        .more = "A row is a piece of memory with the buffer that owns it, the largest first, and the field that holds "
                "that; views of the same memory are counted, and it is not counted twice. In the heap such a buffer "
                "is no larger than an empty one. --by kind sums.",
        .examples = { "heapdex direct-buffers app.hprof --by kind",
                      "heapdex direct-buffers app.hprof --where 'capacity > 1M'" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_direct_buffers,
};
