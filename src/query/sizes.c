/*
 * sizes.c - the composition of sizes: bytes of the dump by kind of record, bytes of the heap by reachability, and the
 * sizes that other tools would report. With --layout: sizes by class under the object layout of a JVM.
 *
 * Shallow sizes follow Eclipse MAT (doc/mat.md 2), so that every number can be compared; they are not the JVM's. Sizes
 * in the JVM depend on headers and class pointers, which are not in a dump: all four layouts are computed. Class
 * records of native images state the size that instances have in the heap (common/layout_proof.h); the header of arrays
 * is then the one for which the stated sizes have room.
 *
 * Stacks of parked virtual threads are objects of jdk.internal.vm.StackChunk: header and fields, a stack of `size`
 * words, and a bitmap of it, two bits per word with 4-byte references and one with 8-byte references (openjdk/jdk,
 * instanceStackChunkKlass.inline.hpp, JDK-8390689; JDK 25). Dumps only have the fields, so that MAT's rules count a
 * chunk as an instance. The JVM adds a reference, a word, an int and two bytes to the fields.
 *
 * VisualVM 2 (its ObjectSizeSettings): as MAT, but fields of superclasses are not rounded up individually, and class
 * objects do not count.
 *
 * Cost: a pass over class, liveness and length of all objects; without --layout, a search from the GC roots without
 * referents, which reads a record of the dump for each reference object.
 */
#include "graph/graph.h"
#include "model/model.h"
#include "query/common/layout_proof.h"
#include "query/common/unreached.h"
#include "query/holding/holding.h"
#include "query/sets/exclude.h"
#include "query/query.h"

#include <stdlib.h>

/* ---- columns ---- */

static const hdx_column part_columns[] = {
    HDX_COLUMN("part", TEXT, NONE, 0,
               "dump: bytes of the file; heap: shallow sizes; tool: what another tool would report"),
    HDX_COLUMN("what", TEXT, NONE, 0, "kind of records or objects, or name of the tool"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "number of records or objects"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "size of them; null if unknown"),
    HDX_COLUMN("how", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "how the size is computed"),
};
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "class name"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "instances of the class"),
    HDX_COLUMN("instance", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
               "size of one instance in that layout; null for arrays and class objects"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "size of all instances in that layout"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "size of all instances elsewhere in heapdex, by the rules of MAT"),
};
#define JVM_LAYOUTS (HDX_LAYOUTS - 1u) /* without MAT's */
#define STATED      JVM_LAYOUTS        /* index of the layout that class records state */
#define LAYOUTS     (JVM_LAYOUTS + 1u)
static const hdx_form forms[] = {
    { "layout", "class-pointers", class_columns, HDX_COUNT(class_columns) },
    { "layout", "64bit", class_columns, HDX_COUNT(class_columns) },
    { "layout", "32bit", class_columns, HDX_COUNT(class_columns) },
    { "layout", "compact", class_columns, HDX_COUNT(class_columns) },
    { "layout", HDX_LAYOUT_STATED, class_columns, HDX_COUNT(class_columns) },
    { NULL, NULL, part_columns, HDX_COUNT(part_columns) },
};

/* ---- sums by class ---- */

#define INT 10u /* type of HPROF */

typedef struct sum {
    uint64_t objects, shallow, of_layout[LAYOUTS], elements;
} sum;

typedef struct sizes {
    hdx_ask         *ask;
    const hdx_class *classes;
    uint32_t         count;
    hdx_jvm          jvm[LAYOUTS];
    uint64_t        *instance[LAYOUTS];   /* by class */
    sum             *sums;                /* by class: objects in scope */
    uint32_t         class_class;         /* java.lang.Class; HDX_NO_CLASS */
    bool             stated;              /* class records state sizes */
    uint32_t         chunk_class;         /* StackChunk; HDX_NO_CLASS */
    uint64_t         chunks, chunk_bytes; /* stacks of virtual threads; bytes beyond their shallow sizes */
    bool             chunks_unread;       /* the dump is not available, so their sizes are unknown */
} sizes;

/* Prepares the layout that class records state: their sizes for instances, and arrays with a header of that size. */
static hdx_code open_stated(sizes *s, hdx_error *err)
{
    const hdx_graph_summary *summary = hdx_graph_summary_of(s->ask->g);
    hdx_jvm                 *jvm = &s->jvm[STATED];
    *jvm = hdx_jvm_of(HDX_LAYOUT_CLASS_POINTERS, summary->reference_size, summary->alignment, s->classes, s->count);
    hdx_code code = hdx_sizes_are_stated(summary, s->classes, s->count, s->ask->q.mem, &s->stated, &jvm->header, err);
    jvm->array_header = jvm->header + 4;
    for (uint32_t c = 0; c < s->count; c++)
        if (s->classes[c].kind == HDX_INSTANCE)
            s->instance[STATED][c] = hdx_round_up(s->classes[c].stated_size, summary->alignment);
    return code;
}

static hdx_code open_sizes(hdx_ask *ask, sizes *s, hdx_error *err)
{
    hdx_mem                 *mem = ask->q.mem;
    const hdx_graph_summary *summary = hdx_graph_summary_of(ask->g);
    bool                     ok = true;
    *s = (sizes){ .ask = ask, .class_class = HDX_NO_CLASS, .chunk_class = HDX_NO_CLASS };
    s->classes = hdx_graph_classes(ask->g, &s->count);
    for (uint32_t c = 0; c < s->count; c++) {
        if (s->class_class == HDX_NO_CLASS && hdx_text_is(s->classes[c].name, "java.lang.Class"))
            s->class_class = c;
        if (s->chunk_class == HDX_NO_CLASS && hdx_text_is(s->classes[c].name, "jdk.internal.vm.StackChunk"))
            s->chunk_class = c;
    }
    s->sums = hdx_mem_array(mem, s->count, sizeof *s->sums);
    for (unsigned k = 0; k < LAYOUTS; k++) {
        s->instance[k] = hdx_mem_array(mem, s->count, sizeof **s->instance);
        ok = ok && s->instance[k] != NULL;
    }
    for (unsigned k = 0; ok && k < JVM_LAYOUTS; k++) {
        s->jvm[k] =
            hdx_jvm_of((hdx_jvm_layout)(k + 1), summary->reference_size, summary->alignment, s->classes, s->count);
        ok = hdx_jvm_sizes(&s->jvm[k], s->classes, s->count, mem, s->instance[k]);
    }
    return ok && s->sums != NULL ? open_stated(s, err)
                                 : hdx_no_memory(err, "sizes of classes", s->count * sizeof *s->sums);
}

static uint64_t class_object_size(const sizes *s, hdx_id id, unsigned k)
{
    const hdx_class *own = hdx_graph_class_object(s->ask->g, id);
    const uint64_t   bare = s->class_class < s->count ? s->instance[k][s->class_class] : s->jvm[k].header;
    return own == NULL ? bare : hdx_jvm_class_object_size(&s->jvm[k], own, bare);
}

/* Elements of the collector's own arrays have 4 bytes, independent of the reference size (JDK-8391761). */
static uint64_t array_size(const sizes *s, uint32_t number, uint64_t length, unsigned k)
{
    const hdx_class *c = &s->classes[number];
    const uint8_t    type = hdx_text_is(c->name, "jdk.internal.vm.FillerElement[]") ? INT : c->element_type;
    return hdx_jvm_array_size(&s->jvm[k], type, length);
}

static void add_object(sizes *s, hdx_id id, uint32_t number, hdx_object_kind kind, uint64_t length, uint64_t shallow)
{
    sum *of = &s->sums[number];
    of->objects++;
    of->shallow += shallow;
    of->elements += length;
    for (unsigned k = 0; k < LAYOUTS; k++)
        of->of_layout[k] += kind == HDX_CLASS_OBJECT ? class_object_size(s, id, k)
                            : kind == HDX_INSTANCE   ? s->instance[k][number]
                                                     : array_size(s, number, length, k);
}

/* Adds the objects in scope, except for object 0 (the boot loader), which is not in the dump. */
static hdx_code add_objects(sizes *s, hdx_refs_scope scope, hdx_error *err)
{
    hdx_graph     *g = s->ask->g;
    const uint64_t n = hdx_graph_objects(g);
    hdx_code       code = HDX_OK;
    for (hdx_id first = 0; code == HDX_OK && first < n; first += HDX_RUN) {
        uint64_t       live[HDX_RUN / 64], lengths[HDX_RUN], shallow[HDX_RUN];
        uint32_t       numbers[HDX_RUN];
        uint8_t        kinds[HDX_RUN];
        const uint32_t here = (uint32_t)(n - first < HDX_RUN ? n - first : HDX_RUN);
        hdx_graph_read_live(g, first, here, live);
        hdx_graph_read_classes(g, first, here, numbers);
        hdx_graph_read_kinds(g, first, here, kinds);
        hdx_graph_read_stored_lengths(g, first, here, lengths);
        hdx_graph_read_shallow(g, first, here, shallow);
        for (uint32_t i = 0; i < here; i++)
            if (first + i != 0 && numbers[i] < s->count &&
                (scope == HDX_ALL || hdx_bits_test(live, i) == (scope == HDX_LIVE)))
                add_object(s, first + i, numbers[i], (hdx_object_kind)kinds[i], lengths[i], shallow[i]);
        code = hdx_ask_stopped(&s->ask->q, err);
    }
    return code;
}

/* ---- stacks of virtual threads ---- */

/* Size of header, fields (with those that the JVM adds), stack and bitmap. */
static uint64_t chunk_size(const sizes *s, unsigned k, uint64_t words)
{
    const hdx_jvm *jvm = &s->jvm[k];
    const uint64_t bits = jvm->reference_size == 4 ? 2 : 1;
    const uint64_t fields = hdx_class_field_bytes(s->classes, s->chunk_class, jvm->reference_size, UINT32_MAX);
    const uint64_t added = jvm->reference_size + 8 + 4 + 2;
    return hdx_round_up(hdx_round_up(jvm->header + fields + added, 8) + 8 * words + (words * bits + 63) / 64 * 8,
                        jvm->alignment);
}

static void add_chunk(sizes *s, hdx_id id, const uint8_t *size)
{
    const int32_t  n = (int32_t)hdx_be32(size);
    const uint64_t words = n > 0 ? (uint64_t)n : 0, shallow = hdx_graph_shallow(s->ask->g, id);
    for (unsigned k = 0; k < JVM_LAYOUTS; k++) {
        const uint64_t bytes = chunk_size(s, k, words), instance = s->instance[k][s->chunk_class];
        s->sums[s->chunk_class].of_layout[k] += bytes > instance ? bytes - instance : 0;
        if (k == 0)
            s->chunk_bytes += bytes > shallow ? bytes - shallow : 0;
    }
    s->chunks++;
}

/* Finds the offset of the field `size` in the bytes of hdx_instances_read; false: the class has no such field. */
static bool find_size(hdx_graph *g, uint32_t number, uint32_t *at)
{
    hdx_field_walk  walk = hdx_field_walk_of(g, number);
    hdx_field_place place;
    while (hdx_field_walk_next(&walk, &place))
        if (place.owner == number && place.type == INT && hdx_text_is(place.name, "size") &&
            place.offset < UINT32_MAX / HDX_RUN) {
            *at = (uint32_t)place.offset;
            return true;
        }
    return false;
}

static hdx_code read_chunks(sizes *s, hdx_instances *reader, hdx_refs *chunks, uint32_t at, uint8_t *bytes,
                            hdx_error *err)
{
    hdx_id   ids[HDX_RUN];
    uint32_t have[HDX_RUN];
    hdx_code code = HDX_OK;
    size_t   n;
    while (code == HDX_OK && (n = hdx_refs_take(chunks, ids, HDX_RUN)) > 0) {
        if ((code = hdx_instances_read(reader, ids, n, at + 4, bytes, have, err)) != HDX_OK)
            break;
        for (size_t i = 0; i < n; i++)
            if (have[i] == at + 4)
                add_chunk(s, ids[i], bytes + i * (at + 4) + at);
        code = hdx_ask_stopped(&s->ask->q, err);
    }
    return code;
}

/* Adds the bytes of stacks beyond the fields of their chunks. */
static hdx_code add_chunks(sizes *s, hdx_refs_scope scope, hdx_error *err)
{
    hdx_graph     *g = s->ask->g;
    hdx_instances *reader = NULL;
    hdx_refs       chunks;
    hdx_error      mine;
    uint32_t       at = 0;
    if (s->chunk_class == HDX_NO_CLASS || s->sums[s->chunk_class].objects == 0 || !find_size(g, s->chunk_class, &at))
        return HDX_OK;
    uint8_t *bytes = hdx_mem_raw(s->ask->q.mem, HDX_RUN, at + 4);
    if (bytes == NULL)
        return hdx_no_memory(err, "stacks of virtual threads", HDX_RUN * (at + 4));
    hdx_graph_instances(g, s->chunk_class, scope, &chunks);
    hdx_code code = hdx_instances_open(g, &reader, &mine);
    if (code == HDX_OK)
        code = read_chunks(s, reader, &chunks, at, bytes, &mine);
    hdx_instances_close(reader);
    hdx_mem_put(s->ask->q.mem, bytes, HDX_RUN * (at + 4));
    s->chunks_unread = code == HDX_BAD_DUMP && hdx_graph_lacks_dump(g);
    if (code != HDX_OK && !s->chunks_unread && err != NULL)
        *err = mine;
    return s->chunks_unread ? HDX_OK : code;
}

/* ---- by class ---- */

typedef struct ranked {
    uint64_t bytes;
    uint32_t number;
} ranked;

static int by_bytes(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static hdx_code class_rows(sizes *s, unsigned k, hdx_table *t, hdx_error *err)
{
    ranked  *order = hdx_mem_array(s->ask->q.mem, s->count, sizeof *order);
    uint32_t used = 0;
    if (order == NULL)
        return hdx_no_memory(err, "sizes of classes", s->count * sizeof *order);
    hdx_code code = add_objects(s, s->ask->q.scope, err);
    if (code == HDX_OK)
        code = add_chunks(s, s->ask->q.scope, err);
    if (code == HDX_OK && s->chunks_unread && s->ask->q.notice != NULL)
        s->ask->q.notice(s->ask->q.notice_context,
                         "stack sizes of virtual threads are only in the dump, which is not available: stacks count "
                         "as instances");
    for (uint32_t c = 0; code == HDX_OK && c < s->count; c++)
        if (s->sums[c].objects > 0)
            order[used++] = (ranked){ s->sums[c].of_layout[k], c };
    if (used > 0)
        qsort(order, used, sizeof *order, by_bytes);
    for (uint32_t i = 0; code == HDX_OK && i < used; i++) {
        const hdx_class *c = &s->classes[order[i].number];
        const sum       *of = &s->sums[order[i].number];
        const bool       varies = c->kind != HDX_INSTANCE || c->number == s->class_class || c->number == s->chunk_class;
        const hdx_cell   cells[] = { hdx_cell_text(c->name), hdx_cell_uint(of->objects),
                                   varies ? hdx_cell_null() : hdx_cell_uint(s->instance[k][c->number]),
                                     hdx_cell_uint(of->of_layout[k]), hdx_cell_uint(of->shallow) };
        code = hdx_table_add(t, cells, err);
    }
    return code;
}

/* ---- by part ---- */

static hdx_code add_part(hdx_table *t, const char *of, const char *what, hdx_cell objects, hdx_cell bytes,
                         const char *how, hdx_error *err)
{
    const hdx_cell cells[] = { hdx_cell_string(of), hdx_cell_string(what), objects, bytes, hdx_cell_string(how) };
    return hdx_table_add(t, cells, err);
}

/* Bytes of the records of each kind of object in the dump. */
typedef struct in_dump {
    uint64_t objects[HDX_CLASS_OBJECT + 1], bytes[HDX_CLASS_OBJECT + 1];
} in_dump;

static in_dump record_bytes(const sizes *s)
{
    const hdx_graph_summary *sum_up = hdx_graph_summary_of(s->ask->g);
    const uint64_t           id = sum_up->id_size;
    const bool               bare = sum_up->sub_records != NULL && sum_up->sub_records[0xC3] > 0;
    in_dump                  d = { { 0 }, { 0 } };
    for (uint32_t c = 0; c < s->count; c++) {
        const hdx_class *of = &s->classes[c];
        const uint64_t   n = c == s->class_class ? 0 : s->sums[c].objects;
        d.objects[of->kind] += n;
        if (of->kind == HDX_INSTANCE)
            d.bytes[of->kind] += n * (9 + 2 * id + hdx_class_field_bytes(s->classes, c, (unsigned)id, UINT32_MAX));
        else if (of->kind == HDX_OBJECT_ARRAY)
            d.bytes[of->kind] += n * (9 + 2 * id) + s->sums[c].elements * id;
        else
            d.bytes[of->kind] +=
                n * (10 + id) + (bare ? 0 : s->sums[c].elements * hdx_type_size(of->element_type, (unsigned)id));
        uint64_t record = 15 + 7 * id + of->field_count * (id + 1) + of->static_count * (id + 1);
        for (uint32_t k = 0; k < of->static_count; k++)
            record += hdx_type_size(of->statics[k].type, (unsigned)id);
        if (of->address != 0 && (of->flags & HDX_CLASS_INVENTED) == 0) {
            d.objects[HDX_CLASS_OBJECT]++;
            d.bytes[HDX_CLASS_OBJECT] += record;
        }
    }
    return d;
}

static hdx_code dump_rows(const sizes *s, hdx_table *t, hdx_error *err)
{
    static const struct {
        hdx_object_kind kind;
        const char     *what, *how;
    } kinds[] = { { HDX_INSTANCE, "instances", "fields, with references as wide as ids in the dump" },
                  { HDX_OBJECT_ARRAY, "object arrays", "one id per element" },
                  { HDX_PRIMITIVE_ARRAY, "primitive arrays", NULL },
                  { HDX_CLASS_OBJECT, "classes", "names and types of fields, values of static fields" } };
    const hdx_graph_summary *sum_up = hdx_graph_summary_of(s->ask->g);
    const in_dump            d = record_bytes(s);
    uint64_t                 known = 0;
    hdx_code                 code = HDX_OK;
    for (unsigned i = 0; code == HDX_OK && i < 4; i++) {
        known += d.bytes[kinds[i].kind];
        code = add_part(t, "dump", kinds[i].what, hdx_cell_uint(d.objects[kinds[i].kind]),
                        hdx_cell_uint(d.bytes[kinds[i].kind]), kinds[i].how, err);
    }
    if (code == HDX_OK)
        code = add_part(t, "dump", "other records", hdx_cell_null(),
                        known <= sum_up->dump_size ? hdx_cell_uint(sum_up->dump_size - known) : hdx_cell_null(),
                        "names, stacks, GC roots, record headers and skipped records", err);
    return code == HDX_OK
               ? add_part(t, "dump", "all", hdx_cell_null(), hdx_cell_uint(sum_up->dump_size), "uncompressed", err)
               : code;
}

/* ---- reachability of the heap ---- */

typedef struct strong {
    sizes              *s;
    const hdx_excludes *referents;
} strong;

/* Follows all references except for referents. */
static hdx_code follow_strong(void *context, hdx_id from, hdx_code (*reach)(void *, hdx_id), void *reached,
                              hdx_error *err)
{
    const strong *w = context;
    hdx_code      code = HDX_OK;
    hdx_refs      refs;
    hdx_id        to;
    hdx_graph_outbound(w->s->ask->g, from, HDX_ALL, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &to)) {
        bool excluded = false;
        if ((code = hdx_excludes_edge(w->referents, from, to, &excluded, err)) == HDX_OK && !excluded)
            code = reach(reached, to);
    }
    return code;
}

/* Counts live objects that can only be reached through a weak, soft or phantom reference or a finalizer. */
static hdx_code weakly_reached(sizes *s, uint64_t *objects, uint64_t *bytes, hdx_error *err)
{
    static const hdx_path_options options = { .exclude = HDX_EXCLUDE_WEAK | HDX_EXCLUDE_SOFT | HDX_EXCLUDE_PHANTOM |
                                                         HDX_EXCLUDE_FINALIZER };
    hdx_graph                    *g = s->ask->g;
    const uint64_t                n = hdx_graph_objects(g), words = hdx_bits_words(n);
    hdx_excludes                  referents = { 0 };
    hdx_gone                      gone = { 0 };
    uint64_t                     *checked = hdx_mem_array(s->ask->q.mem, words, sizeof *checked);
    strong                        w = { s, &referents };
    const hdx_marking             how = { .checked = checked, .follow = follow_strong, .context = &w };
    if (checked == NULL)
        return hdx_no_memory(err, "marking", words * sizeof *checked);
    hdx_code code = hdx_excludes_open(&s->ask->q, &options, &referents, err);
    for (hdx_id first = 0; code == HDX_OK && first < n; first += HDX_RUN) {
        uint32_t       numbers[HDX_RUN];
        const uint32_t here = (uint32_t)(n - first < HDX_RUN ? n - first : HDX_RUN);
        hdx_graph_read_classes(g, first, here, numbers);
        for (uint32_t i = 0; i < here; i++)
            if (numbers[i] < s->count && referents.of_class[numbers[i]] != 0)
                hdx_bits_put(checked, first + i);
    }
    if (code == HDX_OK && (code = hdx_gone_open(s->ask, &gone, err)) == HDX_OK)
        code = hdx_gone_unreached(s->ask, &how, &gone, err);
    *objects = gone.objects;
    *bytes = gone.bytes;
    return code;
}

/* Adds rows for unreachable objects that are most likely not garbage. */
static hdx_code no_garbage_rows(sizes *s, hdx_table *t, hdx_error *err)
{
    static const struct {
        const char *part, *what;
    } texts[HDX_UNREACHED_KINDS] = {
        [HDX_UNREACHED_FILLER] = { "fillers", "unreachable arrays that a collector most likely wrote over dead space" },
        [HDX_UNREACHED_CLASS_FIELD] = { "held by classes", "unreachable objects that are most likely held by fields "
                                                           "of java.lang.Class, which dumps lack" },
        [HDX_UNREACHED_ARCHIVE] = { "held for CDS", "unreachable objects that the JVM most likely holds for its "
                                                    "archive of class data" },
    };
    hdx_unreached u;
    hdx_code      code = hdx_unreached_open(s->ask, &u, err);
    if (code != HDX_OK)
        return code;
    for (unsigned k = HDX_UNREACHED_FILLER; code == HDX_OK && k < HDX_UNREACHED_KINDS; k++)
        if (u.objects[k] > 0)
            code = add_part(t, "heap", texts[k].part, hdx_cell_uint(u.objects[k]), hdx_cell_uint(u.bytes[k]),
                            texts[k].what, err);
    hdx_unreached_close(&u);
    return code;
}

static hdx_code heap_rows(sizes *s, hdx_table *t, hdx_error *err)
{
    const hdx_graph_summary *sum_up = hdx_graph_summary_of(s->ask->g);
    uint64_t                 objects = 0, bytes = 0;
    hdx_code                 code;
    hdx_error                mine;
    code = weakly_reached(s, &objects, &bytes, &mine);
    if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(s->ask->g))
        code = add_part(t, "heap", "live", hdx_cell_uint(sum_up->live_objects), hdx_cell_uint(sum_up->live_bytes),
                        "reachable from a GC root; the path needs the dump, which is not available", err);
    else if (code != HDX_OK && err != NULL)
        *err = mine;
    else if ((code = add_part(t, "heap", "strongly reachable", hdx_cell_uint(sum_up->live_objects - objects),
                              hdx_cell_uint(sum_up->live_bytes - bytes),
                              "reachable without a reference of java.lang.ref", err)) == HDX_OK)
        code = add_part(t, "heap", "weakly reachable", hdx_cell_uint(objects), hdx_cell_uint(bytes),
                        "reachable only through soft, weak and phantom references and finalizers", err);
    if (code == HDX_OK)
        code =
            add_part(t, "heap", "unreachable", hdx_cell_uint(sum_up->unreachable_objects),
                     hdx_cell_uint(sum_up->unreachable_bytes),
                     hdx_lacks_locals(sum_up)
                         ? "not reachable from a GC root; the dump lacks locals and JNI roots, which may hold some of "
                           "them"
                         : "not reachable from a GC root",
                     err);
    if (code == HDX_OK)
        code = add_part(t, "heap", "all", hdx_cell_uint(sum_up->objects),
                        hdx_cell_uint(sum_up->live_bytes + sum_up->unreachable_bytes),
                        "shallow sizes by the rules of MAT", err);
    if (code == HDX_OK)
        code = no_garbage_rows(s, t, err);
    if (code == HDX_OK && (s->chunks > 0 || s->chunks_unread))
        code = add_part(t, "heap", "StackChunks", hdx_cell_uint(s->sums[s->chunk_class].objects),
                        s->chunks_unread ? hdx_cell_null() : hdx_cell_uint(s->chunk_bytes),
                        "stacks of virtual threads: bytes beyond shallow sizes, in none of the sums above", err);
    return code;
}

/* ---- other tools ---- */

static uint64_t visualvm_bytes(const sizes *s, uint64_t *objects)
{
    const hdx_graph_summary *sum_up = hdx_graph_summary_of(s->ask->g);
    const unsigned           r = sum_up->reference_size;
    const uint64_t           head = sum_up->id_size + r;
    uint64_t                 bytes = 0;
    *objects = 0;
    for (uint32_t c = 0; c < s->count; c++) {
        const hdx_class *of = &s->classes[c];
        const uint64_t   n = c == s->class_class ? 0 : s->sums[c].objects;
        *objects += n;
        if (of->kind == HDX_INSTANCE)
            bytes += n * hdx_round_up(head + hdx_class_field_bytes(s->classes, c, r, UINT32_MAX), 8);
        else /* like the layout "class-pointers" if headers have 12 bytes, 16 with the length */
            bytes += head == 12 ? s->sums[c].of_layout[0] : s->sums[c].shallow;
    }
    return bytes;
}

static hdx_code stated_row(const sizes *s, hdx_table *t, hdx_error *err)
{
    uint64_t objects = 0, bytes = 0;
    for (uint32_t c = 0; c < s->count; c++)
        if (s->classes[c].kind == HDX_INSTANCE && c != s->class_class) {
            objects += s->sums[c].objects;
            bytes += s->sums[c].of_layout[STATED];
        }
    return add_part(t, "tool", "native image", hdx_cell_uint(objects), hdx_cell_uint(bytes),
                    "instances, with the sizes that class records state", err);
}

static hdx_code tool_rows(sizes *s, hdx_table *t, hdx_error *err)
{
    static const char *const says[JVM_LAYOUTS] = {
        "header of 12 bytes: 64-bit with compressed class pointers (the default)",
        "header of 16 bytes: 64-bit without compressed class pointers",
        "header of 8 bytes, references of 4: 32-bit",
        "header of 8 bytes: compact object headers (JDK 24 and later)",
    };
    static const char *const names[JVM_LAYOUTS] = { "JVM, class-pointers", "JVM, 64bit", "JVM, 32bit", "JVM, compact" };
    const hdx_graph_summary *sum_up = hdx_graph_summary_of(s->ask->g);
    uint64_t                 objects, all = 0;
    hdx_code                 code;
    code = add_part(t, "tool", "Eclipse MAT", hdx_cell_uint(sum_up->live_objects), hdx_cell_uint(sum_up->live_bytes),
                    "live objects, in sizes of heapdex", err);
    /* Android dumps state sizes in CLASS_DUMP, and its runtime uses none of the layouts. */
    if (strcmp(sum_up->version, "1.0.3") == 0)
        return code;
    const uint64_t bytes = visualvm_bytes(s, &objects);
    if (code == HDX_OK)
        code = add_part(t, "tool", "VisualVM", hdx_cell_uint(objects), hdx_cell_uint(bytes),
                        "all objects except class objects", err);
    for (uint32_t c = 0; c < s->count; c++)
        all += s->sums[c].objects;
    if (code == HDX_OK && s->stated)
        code = stated_row(s, t, err);
    for (unsigned k = 0; code == HDX_OK && k < JVM_LAYOUTS; k++) {
        uint64_t total = 0;
        for (uint32_t c = 0; c < s->count; c++)
            total += s->sums[c].of_layout[k];
        if (s->jvm[k].reference_size == 4 || sum_up->reference_size == 8)
            code = add_part(t, "tool", names[k], hdx_cell_uint(all), hdx_cell_uint(total), says[k], err);
    }
    return code;
}

/* ---- the question ---- */

static const hdx_parameter parameters[] = {
    { .name = "layout",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "LAYOUT",
      .choices = HDX_LAYOUT_NAMES " " HDX_LAYOUT_STATED,
      .sentence = "sizes by class in the layout of such a JVM; stated: as class records of native images state" },
};

static hdx_code rows_of(sizes *s, int layout, hdx_table *t, hdx_error *err)
{
    hdx_code code;
    if (layout == (int)STATED && !s->stated)
        return HDX_OK;
    if (layout >= 0)
        return class_rows(s, (unsigned)layout, t, err);
    if ((code = add_objects(s, HDX_ALL, err)) != HDX_OK || (code = add_chunks(s, HDX_ALL, err)) != HDX_OK ||
        (code = dump_rows(s, t, err)) != HDX_OK || (code = heap_rows(s, t, err)) != HDX_OK)
        return code;
    return tool_rows(s, t, err);
}

static hdx_code open_question(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const int         layout = hdx_argument_choice(a, "layout");
    const hdx_column *columns = layout >= 0 ? class_columns : part_columns;
    hdx_ask           ask;
    sizes             s;
    hdx_table        *t = NULL;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code == HDX_OK && hdx_graph_summary_of(ask.g)->layout != NULL) /* all sizes here are derived from MAT's */
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "view %s already has sizes of another layout",
                                 hdx_graph_summary_of(ask.g)->view),
                        "omit --view");
    if (code != HDX_OK || (code = hdx_table_in(q->mem, columns, HDX_COUNT(part_columns), &t, err)) != HDX_OK)
        return code;
    if ((code = open_sizes(&ask, &s, err)) == HDX_OK && (code = rows_of(&s, layout, t, err)) == HDX_OK)
        code = hdx_graph_check(ask.g, err);
    if (code != HDX_OK) {
        hdx_table_free(t);
        return code;
    }
    return hdx_rows_explain_empty(hdx_table_rows(t, out, err), out, err, "%s",
                                  layout == (int)STATED && !s.stated
                                      ? "class records of this dump do not state instance sizes"
                                      : "no such objects");
}

const hdx_question hdx_question_sizes = {
    .declared = {
        .name = "sizes",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "how the sizes of dump and heap are composed, and what other tools report",
        .more = "Sizes are those of Eclipse MAT, because a dump does not contain the object layout of its JVM. "
                "--layout shows what class histograms of a JVM (jcmd, jmap) would report, including stacks of virtual "
                "threads; fields that a JVM adds to other internal classes are unknown. index --view "
                "NAME=layout:compact computes all sizes in that layout, including retained sizes.",
        .examples = { "heapdex sizes app.hprof", "heapdex sizes app.hprof --layout compact --limit 20" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .saved = true,
    .open = open_question,
};
