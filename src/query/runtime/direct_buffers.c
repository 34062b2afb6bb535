/*
 * direct_buffers.c - memory outside the heap that buffers, memory segments and other objects of the heap use.
 *
 * In:  java.nio.MappedByteBuffer and its subclasses (all direct ByteBuffers), views of other types, native memory
 *      segments (since JDK 22); Android's cleaners of native allocations.
 * Out: a row for each block of memory, and for each object that owns native memory. Buffers that are views of another
 *      one (slices, duplicates, read-only and typed views) are counted with it: they refer to it (`att`), or their
 *      memory is within its memory.
 * A buffer that owns memory has a cleaner with a Deallocator or Unmapper, which has the true size; other memory belongs
 * to native code, or to the creator of the buffer. Android's buffers without native memory use a byte[] of the heap.
 * Cost: a record for each buffer and its cleaner, three for each native allocation of Android; 72 bytes per buffer.
 */
#include "query/common/fields.h"
#include "query/common/labels.h"
#include "query/common/extras.h"
#include "query/common/columns.h"
#include "query/common/listing.h"
#include "query/runtime/files.h"

#include "graph/graph.h"
#include <stdio.h>
#include <stdlib.h>

#define CHAIN 64u /* maximum chain of views of views */

enum { ADDRESS, CLASS, LABEL, KIND, CAPACITY, VIEWS, AT, FILE_NAME, SHALLOW, RETAINED, FIELD, COLUMNS };

#define KIND_COLUMN                                                                                                    \
    HDX_COLUMN("kind", TEXT, NONE, 0,                                                                                  \
               "direct, mapped (a file), segment, registered (of an object), native (of others), image (the JDK's), "  \
               "freed, array")
static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "object that owns the memory, or the largest buffer"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
                         "label of the object, such as its text or name; null if it has none"),
    [KIND] = KIND_COLUMN,
    [CAPACITY] = HDX_COLUMN("capacity", UNSIGNED, BYTES, 0, "bytes of memory outside of the heap"),
    [VIEWS] = HDX_COLUMN("views", UNSIGNED, COUNT, 0, "other buffers that share part of the memory"),
    [AT] =
        HDX_COLUMN("memory", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "address at which the memory begins"),
    [FILE_NAME] = HDX_COLUMN("file", TEXT, NONE, HDX_COLUMN_NULLABLE, "path of a mapped file, if its fields store it"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "shallow size of the buffer"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                            "retained size: bytes of the heap that would be freed without the buffer"),
    [FIELD] = HDX_COLUMN("field", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME | HDX_COLUMN_LATE,
                         "CLASS#FIELD that holds it, directly, through collections or through its views"),
};
static const hdx_column kind_columns[] = {
    KIND_COLUMN,
    HDX_COLUMN("buffers", UNSIGNED, COUNT, 0, "pieces of memory"),
    HDX_COLUMN("views", UNSIGNED, COUNT, 0, "other buffers that share part of them"),
    HDX_COLUMN("capacity", UNSIGNED, BYTES, 0, "bytes of memory outside of the heap"),
};
static const hdx_form forms[] = {
    { "by", "kind", kind_columns, HDX_COUNT(kind_columns) },
    { NULL, NULL, columns, COLUMNS },
};
static const hdx_column total_members[] = {
    HDX_COLUMN("buffers", UNSIGNED, COUNT, 0, "pieces of memory"),
    HDX_COLUMN("views", UNSIGNED, COUNT, 0, "other buffers that show some of them"),
    HDX_COLUMN("capacity", UNSIGNED, BYTES, 0, "bytes of memory outside of the heap"),
    HDX_COLUMN("native", UNSIGNED, BYTES, 0, "bytes of these that native code allocated and no buffer owns"),
    HDX_COLUMN("registered", UNSIGNED, BYTES, 0, "bytes of these that Android registered for objects"),
};
static const hdx_column reserved_members[] = {
    HDX_COLUMN("count", SIGNED, COUNT, 0, "direct buffers counted by java.nio.Bits"),
    HDX_COLUMN("capacity", SIGNED, BYTES, 0,
               "capacity counted by java.nio.Bits, including buffers that are no longer reachable"),
};
static const hdx_column document[] = {
    HDX_NESTED("total", OBJECT, HDX_COLUMN_OPTIONAL, "totals over all rows, before conditions and limit are applied",
               total_members),
    HDX_NESTED("reserved", OBJECT, HDX_COLUMN_OPTIONAL, "counters of the JDK; missing if the dump lacks them",
               reserved_members),
};

typedef enum kind { DIRECT, MAPPED, SEGMENT, REGISTERED, NATIVE, IMAGE, FREED, ARRAY, KINDS } kind;
static const char *const kind_names[KINDS] = { "direct", "mapped", "segment", "registered",
                                               "native", "image",  "freed",   "array" };

typedef struct buffer {
    hdx_id   id, shows, descriptor; /* shows: the buffer in `att`; HDX_NO_ID: none */
    kind     is;
    bool     owns;
    uint64_t memory, capacity;
    uint64_t views;
} buffer;

typedef struct buffers {
    hdx_found       found;
    hdx_fields      fields, cleaner, thunk;
    hdx_file_owners owners;
    uint64_t        views, capacity, native, registered;
    int64_t         count, reserved; /* counts of java.nio.Bits */
    bool            has_reserved;    /* the dump has these counts */
} buffers;

static void close_buffers(void *of)
{
    buffers *b = of;
    hdx_fields_close(&b->fields);
    hdx_fields_close(&b->cleaner);
    hdx_fields_close(&b->thunk);
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

/* A Deallocator or Unmapper has the true size: a buffer may use only a part of it. */
static hdx_code read_cleaner(buffers *b, hdx_id cleaner, buffer *out, hdx_error *err)
{
    hdx_graph       *g = b->found.ask.g;
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

/* size: bytes per element. Buffers of elements other than bytes are in the heap, or have `att`. */
static hdx_code read_buffer(buffers *b, hdx_id id, unsigned size, buffer *out, bool *there, hdx_error *err)
{
    hdx_graph *g = b->found.ask.g;
    int64_t    value;
    hdx_code   code = hdx_fields_read(&b->fields, g, id, err);
    *out = (buffer){ .id = id, .shows = HDX_NO_ID, .descriptor = HDX_NO_ID, .is = NATIVE };
    *there = code == HDX_OK && hdx_fields_number(&b->fields, "java.nio.Buffer", "capacity", &value) &&
             (size == 1 || hdx_fields_value(&b->fields, NULL, "att") != NULL);
    if (!*there)
        return code;
    out->capacity = natural(&b->fields, "java.nio.Buffer", "capacity") * size; /* capacity is a Java int: no overflow */
    out->memory = natural(&b->fields, "java.nio.Buffer", "address");
    if (out->memory == 0)
        out->memory = natural(&b->fields, "java.nio.Buffer", "effectiveDirectAddress"); /* Dalvik */
    out->descriptor = hdx_fields_ref(&b->fields, "java.nio.MappedByteBuffer", "fd");
    out->shows = hdx_fields_ref(&b->fields, NULL, "att");
    const hdx_id cleaner = hdx_fields_ref(&b->fields, NULL, "cleaner");
    if (cleaner != HDX_NO_ID)
        return read_cleaner(b, cleaner, out, err);
    if (out->descriptor != HDX_NO_ID)
        out->is = MAPPED;
    if (hdx_fields_ref(&b->fields, "java.nio.ByteBuffer", "hb") != HDX_NO_ID)
        out->is = ARRAY;
    return HDX_OK;
}

static hdx_code read_segment(buffers *b, hdx_id id, buffer *out, bool *there, hdx_error *err)
{
    static const char native[] = "jdk.internal.foreign.NativeMemorySegmentImpl";
    const hdx_code    code = hdx_fields_read(&b->fields, b->found.ask.g, id, err);
    *out = (buffer){ .id = id, .shows = HDX_NO_ID, .descriptor = HDX_NO_ID, .is = SEGMENT };
    out->memory = natural(&b->fields, native, "min");
    out->capacity = natural(&b->fields, "jdk.internal.foreign.AbstractMemorySegmentImpl", "length");
    /* excludes MemorySegment.NULL */
    *there = out->memory != 0 && out->capacity > 0 && out->capacity <= INT64_MAX - out->memory;
    return code;
}

/* size 0: memory segments */
static hdx_code add_all(buffers *b, const char *class_name, unsigned size, hdx_error *err)
{
    hdx_ids  ids = hdx_ids_of(b->found.ask.q.mem);
    hdx_code code = hdx_instances_below(&b->found.ask, class_name, &ids, err);
    for (uint64_t i = 0; code == HDX_OK && i < ids.count; i++) {
        buffer at;
        bool   there;
        code = size == 0 ? read_segment(b, ids.at[i], &at, &there, err)
                         : read_buffer(b, ids.at[i], size, &at, &there, err);
        if (code == HDX_OK && there)
            code = hdx_found_add(&b->found, &at, err);
    }
    hdx_ids_drop(&ids);
    return code;
}

/* ---- views ---- */

static int by_id(const void *a, const void *b)
{
    const buffer *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Sorts by address; at equal addresses the owner is first, then the largest. */
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

/* Returns the end of a chain of `att`; NULL: it is no view, or the chain is a cycle. */
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

static void remove_views(buffers *b)
{
    buffer  *at = b->found.at;
    uint64_t remaining = 0;
    for (uint64_t i = 0; i < b->found.count; i++)
        if (at[i].id != HDX_NO_ID)
            at[remaining++] = at[i];
    b->found.count = remaining;
}

/* Removes views from the list, and counts them with the buffers that they show. */
static hdx_code count_views(buffers *b, hdx_error *err)
{
    HDX_LIST(hdx_id) views = { NULL, 0, 0 };
    buffer          *all = b->found.at;
    hdx_code         code = HDX_OK;
    hdx_found_sort(&b->found, by_id);
    for (uint64_t i = 0; code == HDX_OK && i < b->found.count; i++) {
        buffer *of = all[i].owns ? NULL : shown_by(b, &all[i]);
        if (of == NULL)
            continue;
        of->views++;
        if (!hdx_list_room(b->found.ask.q.mem, HDX_LIST_REF(&views)))
            code = hdx_no_memory(err, "buffers", (views.count + 1) * sizeof(hdx_id));
        else
            views.at[views.count++] = i;
    }
    for (uint64_t i = 0; i < views.count; i++) /* only now, because the chains are followed by id */
        all[views.at[i]].id = HDX_NO_ID;
    hdx_list_free(b->found.ask.q.mem, HDX_LIST_REF(&views));
    remove_views(b);
    hdx_found_sort(&b->found, by_memory);
    buffer *wide = NULL;
    for (uint64_t i = 0; code == HDX_OK && i < b->found.count; i++) {
        buffer *at = &all[i];
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
    remove_views(b);
    return code;
}

/* ---- native memory of other objects ---- */

/*
 * Android 8 and later store pixels and other data in native memory, which is freed with its owner: a Cleaner whose
 * referent is the owner has a thunk with the registry, and the registry has the size of each allocation. The lowest bit
 * of the size is a flag for memory from malloc (libcore.util.NativeAllocationRegistry, IS_MALLOCED, since Android 10).
 */
static hdx_code read_registered(buffers *b, hdx_id cleaner, buffer *out, bool *there, hdx_error *err)
{
    hdx_graph *g = b->found.ask.g;
    hdx_code   code = hdx_fields_read(&b->cleaner, g, cleaner, err);
    *there = false;
    if (code != HDX_OK)
        return code;
    const hdx_id owner = hdx_fields_ref(&b->cleaner, "java.lang.ref.Reference", "referent"),
                 thunk = hdx_fields_ref(&b->cleaner, NULL, "thunk");
    const hdx_class *c = thunk == HDX_NO_ID ? NULL : hdx_graph_class(g, hdx_graph_class_of(g, thunk));
    if (owner == HDX_NO_ID || c == NULL ||
        !hdx_text_is(c->name, "libcore.util.NativeAllocationRegistry$CleanerThunk") ||
        hdx_fields_ref(&b->cleaner, NULL, "next") == cleaner) /* it has run */
        return HDX_OK;
    if ((code = hdx_fields_read(&b->thunk, g, thunk, err)) != HDX_OK)
        return code;
    const hdx_id registry = hdx_fields_ref(&b->thunk, NULL, "this$0");
    *out = (buffer){ .id = owner, .shows = HDX_NO_ID, .descriptor = HDX_NO_ID, .is = REGISTERED, .owns = true };
    out->memory = natural(&b->thunk, NULL, "nativePtr");
    if (registry == HDX_NO_ID || (code = hdx_fields_read(&b->fields, g, registry, err)) != HDX_OK)
        return code;
    out->capacity = natural(&b->fields, "libcore.util.NativeAllocationRegistry", "size") & ~(uint64_t)1;
    *there = out->capacity > 0;
    return HDX_OK;
}

/* Adds a row for each owner, with the sum of its registered allocations. */
static hdx_code add_registered(buffers *b, hdx_error *err)
{
    hdx_ids  ids = hdx_ids_of(b->found.ask.q.mem);
    hdx_map  owners = hdx_map_of(b->found.ask.q.mem); /* id -> index among the rows */
    hdx_code code = hdx_instances_below(&b->found.ask, "sun.misc.Cleaner", &ids, err);
    for (uint64_t i = 0; code == HDX_OK && i < ids.count; i++) {
        buffer at;
        bool   there, fresh = false;
        if ((code = read_registered(b, ids.at[i], &at, &there, err)) != HDX_OK || !there)
            continue;
        uint64_t *place = hdx_map_put(&owners, at.id, &fresh);
        if (place == NULL) {
            code = hdx_no_memory(err, "owners of native memory", owners.count * sizeof(hdx_map_slot));
        } else if (fresh) {
            *place = b->found.count;
            code = hdx_found_add(&b->found, &at, err);
        } else {
            buffer *of = (buffer *)b->found.at + *place;
            if (!hdx_add(of->capacity, at.capacity, &of->capacity))
                of->capacity = INT64_MAX;
        }
    }
    hdx_map_free(&owners);
    hdx_ids_drop(&ids);
    return code;
}

/* ---- rows ---- */

/*
 * Returns the bytes outside the heap: arrays are inside it, and freed memory no longer exists. The JDK's own module
 * image is excluded, because it is the same file in every program.
 */
static uint64_t bytes_outside(const buffer *b)
{
    return b->is == ARRAY || b->is == FREED || b->is == IMAGE ? 0 : b->capacity;
}

#define REFERRERS_MOST 64u

static bool is_of_jimage(hdx_graph *g, hdx_id id)
{
    static const char jimage[] = "jdk.internal.jimage.";
    const hdx_class  *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    return c != NULL && c->name.len > sizeof jimage && memcmp(c->name.at, jimage, sizeof jimage - 1) == 0;
}

/*
 * Recognizes lib/modules, which the JDK maps to read its own classes: its reader refers to it, or to a buffer that
 * does.
 */
static bool is_image(hdx_graph *g, hdx_id id)
{
    hdx_refs refs, above;
    hdx_id   from, holder;
    hdx_graph_inbound(g, id, HDX_LIVE, &refs);
    for (unsigned n = 0; n < REFERRERS_MOST && hdx_refs_next(&refs, &from); n++) {
        if (is_of_jimage(g, from))
            return true;
        hdx_graph_inbound(g, from, HDX_LIVE, &above);
        for (unsigned k = 0; k < REFERRERS_MOST && hdx_refs_next(&above, &holder); k++)
            if (is_of_jimage(g, holder))
                return true;
    }
    return false;
}

/* Memory that is not the program's own, such as the JDK's module image, comes last. */
static int largest_first(const void *a, const void *b)
{
    const buffer *x = a, *y = b;
    if ((x->is >= NATIVE) != (y->is >= NATIVE))
        return x->is >= NATIVE ? 1 : -1;
    if (bytes_outside(x) != bytes_outside(y))
        return bytes_outside(x) > bytes_outside(y) ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Reads an AtomicLong in a static of java.nio.Bits, whose name in JDK 8 and 9 is `older`. */
static hdx_code counted(buffers *b, const char *name, const char *older, int64_t *out, bool *there, hdx_error *err)
{
    hdx_code code = hdx_fields_statics(&b->fields, b->found.ask.g, "java.nio.Bits", err);
    hdx_id   at = hdx_fields_ref(&b->fields, NULL, name);
    if (at == HDX_NO_ID)
        at = hdx_fields_ref(&b->fields, NULL, older);
    if (code == HDX_OK)
        code = hdx_fields_read(&b->fields, b->found.ask.g, at, err);
    *there = code == HDX_OK && hdx_fields_number(&b->fields, "java.util.concurrent.atomic.AtomicLong", "value", out);
    return code;
}

static hdx_code sum_up(buffers *b, hdx_error *err)
{
    bool     counts = false;
    hdx_code code = counted(b, "COUNT", "count", &b->count, &counts, err);
    if (code == HDX_OK)
        code = counted(b, "TOTAL_CAPACITY", "totalCapacity", &b->reserved, &b->has_reserved, err);
    b->has_reserved = b->has_reserved && counts;
    for (uint64_t i = 0; i < b->found.count; i++) {
        const buffer *at = hdx_found_entry(&b->found, i);
        b->views += at->views;
        b->capacity += bytes_outside(at);
        b->native += at->is == NATIVE ? bytes_outside(at) : 0;
        b->registered += at->is == REGISTERED ? bytes_outside(at) : 0;
    }
    return code;
}

static hdx_code buffers_find(void *of, hdx_error *err)
{
    buffers *b = of;
    static const struct {
        const char *class_name;
        unsigned    size;
    } kinds[] = {
        { "java.nio.MappedByteBuffer", 1 }, { "java.nio.ShortBuffer", 2 },
        { "java.nio.CharBuffer", 2 },       { "java.nio.IntBuffer", 4 },
        { "java.nio.FloatBuffer", 4 },      { "java.nio.LongBuffer", 8 },
        { "java.nio.DoubleBuffer", 8 },     { "jdk.internal.foreign.NativeMemorySegmentImpl", 0 },
    };
    struct hdx_near *near = hdx_graph_near_begin(b->found.ask.g);
    hdx_code         code = HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < sizeof kinds / sizeof *kinds; i++)
        code = add_all(b, kinds[i].class_name, kinds[i].size, err);
    hdx_graph_near_end(near);
    if (code == HDX_OK)
        code = count_views(b, err);
    for (uint64_t i = 0; code == HDX_OK && i < b->found.count; i++) {
        buffer *at = (buffer *)b->found.at + i;
        if (at->is == NATIVE && is_image(b->found.ask.g, at->id))
            at->is = IMAGE;
    }
    if (code == HDX_OK && (code = add_registered(b, err)) == HDX_OK)
        code = hdx_file_owners_of(&b->found.ask, &b->owners, err);
    return code == HDX_OK ? sum_up(b, err) : code;
}

static hdx_code buffers_cells(void *of, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    buffers              *b = of;
    const buffer         *at = entry;
    hdx_graph            *g = b->found.ask.g;
    const hdx_file_owner *file = at->descriptor == HDX_NO_ID ? NULL : hdx_file_owner_of(&b->owners, at->descriptor);
    char                  text[24];
    cells[ADDRESS] = hdx_id_cell(g, at->id);
    cells[CLASS] = hdx_class_of_cell(g, at->id);
    cells[KIND] = hdx_cell_string(kind_names[at->is]);
    cells[CAPACITY] = hdx_cell_uint(bytes_outside(at));
    cells[VIEWS] = hdx_cell_uint(at->views);
    if (at->memory != 0) {
        (void)snprintf(text, sizeof text, "0x%llx", (unsigned long long)at->memory);
        cells[AT] = hdx_text_cell(arena, (hdx_text){ text, (uint32_t)strlen(text) });
    }
    cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(g, at->id));
    cells[RETAINED] = hdx_retained_cell(g, at->id);
    return file != NULL && file->path != HDX_NO_ID
               ? hdx_label_cell(&b->found.ask.q, file->path, arena, &cells[FILE_NAME], err)
               : HDX_OK;
}

static const char *no_buffers(const void *of)
{
    return hdx_graph_lacks_dump(((const buffers *)of)->found.ask.g)
               ? "buffer sizes are only in the dump, which is not available"
               : "no direct buffers found";
}

/* ---- sums ---- */

HDX_ENTRY_NUMBER(kind_of, buffer, is)
HDX_ENTRY_NUMBER(views_of, buffer, views)
static uint64_t capacity_of(const void *entry) { return bytes_outside(entry); }

static hdx_code kind_cells(const hdx_ask *ask, uint64_t is, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    (void)ask;
    (void)arena;
    (void)err;
    cells[0] = hdx_cell_string(kind_names[is]);
    return HDX_OK;
}

static const hdx_sum      sums[] = { { 0 }, { .value = views_of }, { .value = capacity_of } };
static const hdx_grouping groupings[] = {
    { .key = kind_of, .key_cells = kind_cells, .keys = 1, .sums = sums, .sum_count = 3 },
};

/* ---- document ---- */

static hdx_code add_document(void *of, hdx_rows **rows, hdx_error *err)
{
    const buffers *b = of;
    const uint64_t numbers[] = { b->found.count, b->views, b->capacity, b->native, b->registered };
    const hdx_cell counted[] = { hdx_cell_int(b->count), hdx_cell_int(b->reserved) };
    /* copied, because after a failure the rows, which own b, are closed */
    const bool     has_reserved = b->has_reserved;
    const hdx_code code =
        hdx_extras_add_numbers(HDX_OK, rows, "total", total_members, HDX_COUNT(numbers), numbers, err);
    return has_reserved ? hdx_extras_add(code, rows, "reserved", reserved_members, HDX_COUNT(counted), counted, err)
                        : code;
}

/* ---- the question ---- */

static const hdx_listing listing = { .what = "buffers",
                                     .state = sizeof(buffers),
                                     .entry = sizeof(buffer),
                                     .forms = forms,
                                     .groupings = groupings,
                                     .label = LABEL,
                                     .field = FIELD,
                                     .find = buffers_find,
                                     .order = largest_first,
                                     .cells = buffers_cells,
                                     .beside = add_document,
                                     .nothing = no_buffers,
                                     .close = close_buffers };

static const hdx_parameter parameters[] = {
    { .name = "by", .kind = HDX_PARAMETER_CHOICE, .value = "KEY", .choices = "kind", .sentence = "one row per kind" },
};

const hdx_question hdx_question_direct_buffers = {
    .declared = {
        .name = "direct-buffers",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "memory outside of the heap: direct buffers, mapped files, segments",
        .more = "Each row is a piece of memory with the buffer that owns it, the largest first, and the field that "
                "holds the buffer. Views of the same memory are counted in the row and not as further memory. In the "
                "heap a large direct buffer takes no more space than a small one. On Android, rows are also objects "
                "such as a Bitmap with the native memory that was registered for them. --by kind sums by kind.",
        .examples = { "heapdex direct-buffers app.hprof --by kind",
                      "heapdex direct-buffers app.hprof --where 'capacity > 1M'" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .listing = &listing,
};
