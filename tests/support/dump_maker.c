/*
 * dump_maker.c - small heaps for tests.
 */
#include "support/dump_maker.h"

#include <stdio.h>
#include <stdlib.h>

static void must(bool ok)
{
    if (!ok) {
        fprintf(stderr, "dump_maker: out of memory, or used wrongly\n");
        abort();
    }
}

static uint8_t type_of(char letter)
{
    switch (letter) {
    case 'L': return 2;
    case 'Z': return 4;
    case 'C': return 5;
    case 'F': return 6;
    case 'D': return 7;
    case 'B': return 8;
    case 'S': return 9;
    case 'I': return 10;
    case 'J': return 11;
    default: must(false); return 0;
    }
}

static uint32_t width_of(const dump_maker *m, uint8_t type)
{
    static const uint8_t width[12] = { [4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8 };
    return type == 2 ? m->id_size : width[type];
}

dump_maker *dump_maker_new(uint32_t id_size)
{
    dump_maker *m = calloc(1, sizeof *m);
    must(m != NULL);
    m->id_size = id_size;
    m->version = "1.0.2";
    m->time_ms = 0x18F00000000;
    m->next_id = id_size == 8 ? 0x7F0000010000 : 0x12C10000;
    m->next_name = 0x1000;
    return m;
}

void dump_maker_free(dump_maker *m)
{
    if (m == NULL)
        return;
    hdx_buffer_free(&m->tables);
    hdx_buffer_free(&m->heap);
    hdx_buffer_free(&m->out);
    hdx_buffer_free(&m->statics);
    free(m->classes);
    free(m->names);
    free(m);
}

static uint64_t new_id(dump_maker *m)
{
    const uint64_t id = m->next_id;
    m->next_id += 32;
    return id;
}

/* ---- tables ---- */

uint64_t dump_maker_name(dump_maker *m, const char *text)
{
    for (size_t k = 0; k < m->name_count; k++)
        if (strcmp(m->names[k].text, text) == 0)
            return m->names[k].id;
    const uint64_t id = ++m->next_name;
    hdx_write_string(&m->tables, m->id_size, id, text, strlen(text));
    if (strlen(text) < sizeof m->names->text) {
        if (m->name_count == m->name_capacity) {
            m->name_capacity = m->name_capacity == 0 ? 64 : 2 * m->name_capacity;
            m->names = realloc(m->names, m->name_capacity * sizeof *m->names);
            must(m->names != NULL);
        }
        memcpy(m->names[m->name_count].text, text, strlen(text) + 1);
        m->names[m->name_count++].id = id;
    }
    return id;
}

uint32_t dump_maker_load(dump_maker *m, uint64_t class_id, const char *name)
{
    const uint64_t id = dump_maker_name(m, name);
    hdx_write_load_class(&m->tables, m->id_size, ++m->next_serial, class_id, 1, id);
    return m->next_serial;
}

uint64_t dump_maker_frame(dump_maker *m, const char *method, uint32_t class_serial, int32_t line)
{
    const uint64_t name = dump_maker_name(m, method), signature = dump_maker_name(m, "()V"),
                   source = dump_maker_name(m, "Source.java");
    const uint64_t id = new_id(m);
    hdx_write_frame(&m->tables, m->id_size, id, name, signature, source, class_serial, line);
    return id;
}

void dump_maker_trace(dump_maker *m, uint32_t serial, uint32_t thread, const uint64_t *frames, uint32_t count)
{
    hdx_write_trace(&m->tables, m->id_size, serial, thread, frames, count);
}

void dump_maker_top(dump_maker *m, uint8_t tag, const void *body, uint32_t len)
{
    hdx_write_record(&m->tables, tag, body, len);
}

/* ---- the shape of the file ---- */

static hdx_buffer *heap(dump_maker *m)
{
    if (!m->in_segment) {
        m->segment = hdx_write_begin(&m->heap, m->whole ? HDX_TOP_HEAP_DUMP : HDX_TOP_HEAP_DUMP_SEGMENT, 0);
        m->in_segment = true;
    }
    return &m->heap;
}

void dump_maker_segment(dump_maker *m)
{
    if (m->in_segment)
        hdx_write_finish(&m->heap, m->segment);
    m->in_segment = false;
}

void dump_maker_segment_empty(dump_maker *m)
{
    dump_maker_segment(m);
    (void)heap(m);
    dump_maker_segment(m);
}

void dump_maker_end(dump_maker *m)
{
    dump_maker_segment(m);
    hdx_write_end(&m->heap);
}

void dump_maker_between(dump_maker *m, const void *bytes, size_t len)
{
    dump_maker_segment(m);
    hdx_buffer_put(&m->heap, bytes, len);
}

void dump_maker_between_record(dump_maker *m, uint8_t tag, const void *body, uint32_t len)
{
    dump_maker_segment(m);
    hdx_write_record(&m->heap, tag, body, len);
}

void dump_maker_segment_says(dump_maker *m, uint32_t length)
{
    (void)heap(m);
    hdx_write_length(&m->heap, m->segment, length);
    m->in_segment = false;
}

uint64_t dump_maker_mark(dump_maker *m) { return heap(m)->len; }

uint64_t dump_maker_heap_at(const dump_maker *m) { return 19 + 4 + 8 + (m->tables_last ? 0 : m->tables.len); }

const uint8_t *dump_maker_bytes(dump_maker *m, size_t *len)
{
    dump_maker_segment(m);
    hdx_buffer_clear(&m->out);
    hdx_write_head(&m->out, m->version, m->id_size, m->time_ms);
    if (!m->tables_last)
        hdx_buffer_put(&m->out, m->tables.at, m->tables.len);
    hdx_buffer_put(&m->out, m->heap.at, m->heap.len);
    if (m->tables_last)
        hdx_buffer_put(&m->out, m->tables.at, m->tables.len);
    if (!m->no_end)
        hdx_write_end(&m->out);
    must(!m->tables.failed && !m->heap.failed && !m->out.failed && !m->statics.failed);
    *len = (size_t)m->out.len;
    return (const uint8_t *)m->out.at;
}

void dump_maker_save_bytes(const char *path, const void *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    must(f != NULL && fwrite(bytes, 1, len, f) == len && fclose(f) == 0);
}

void dump_maker_save(dump_maker *m, const char *path)
{
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    dump_maker_save_bytes(path, bytes, len);
}

/* ---- heap ---- */

static dump_maker_class_info *class_info(dump_maker *m, uint64_t id)
{
    for (size_t k = 0; id != 0 && k < m->class_count; k++) /* a class with id 0 (R18) is nobody's super class */
        if (m->classes[k].id == id)
            return &m->classes[k];
    return NULL;
}

static uint32_t layout_bytes(dump_maker *m, uint64_t class_id)
{
    uint32_t bytes = 0;
    for (dump_maker_class_info *c; (c = class_info(m, class_id)) != NULL; class_id = c->super)
        for (const char *t = c->types; *t != 0; t++)
            bytes += width_of(m, (uint8_t)*t);
    return bytes;
}

void dump_maker_static(dump_maker *m, const char *name, char type, uint64_t value)
{
    const uint64_t id = dump_maker_name(m, name);
    hdx_write_id(&m->statics, m->id_size, id);
    hdx_write_u1(&m->statics, type_of(type));
    hdx_write_value(&m->statics, m->id_size, type_of(type), value);
    m->static_count++;
}

uint64_t dump_maker_class_at(dump_maker *m, uint64_t id, const char *name, uint64_t super, const char *fields)
{
    if (m->class_count == m->class_capacity) {
        m->class_capacity = m->class_capacity == 0 ? 64 : 2 * m->class_capacity;
        m->classes = realloc(m->classes, m->class_capacity * sizeof *m->classes);
        must(m->classes != NULL);
    }
    dump_maker_class_info *c = &m->classes[m->class_count++];
    *c = (dump_maker_class_info){ .id = id, .super = super };
    hdx_buffer list = hdx_buffer_of(NULL);
    size_t     count = 0;
    for (const char *p = fields; *p != 0;) {
        char   field[128];
        size_t n = strcspn(p, ":");
        must(n < sizeof field && p[n] == ':' && count + 1 < sizeof c->types);
        memcpy(field, p, n);
        field[n] = 0;
        const uint8_t type = type_of(p[n + 1]);
        hdx_write_id(&list, m->id_size, dump_maker_name(m, field));
        hdx_write_u1(&list, type);
        c->types[count++] = (char)type;
        p += n + 2;
        p += strspn(p, " ");
    }
    if (name != NULL)
        (void)dump_maker_load(m, id, name);
    const hdx_class_dump dump = { .addr = id,
                                  .super = super,
                                  .loader = m->loader,
                                  .instance_size = layout_bytes(m, id),
                                  .static_count = m->static_count,
                                  .field_count = (uint32_t)count,
                                  .statics = { (const uint8_t *)m->statics.at, (size_t)m->statics.len },
                                  .fields = { (const uint8_t *)list.at, (size_t)list.len } };
    hdx_write_class(heap(m), m->id_size, &dump);
    must(!list.failed);
    hdx_buffer_free(&list);
    hdx_buffer_clear(&m->statics);
    m->static_count = 0;
    return id;
}

uint64_t dump_maker_class(dump_maker *m, const char *name, uint64_t super, const char *fields)
{
    return dump_maker_class_at(m, new_id(m), name, super, fields);
}

static uint32_t below(dump_maker *m, uint32_t n)
{
    m->random_state = m->random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(m->random_state >> 33) % n;
}

/* The value, or another of its type: a reference to whatever has an id already, or nothing; an odd number. */
static uint64_t maybe_spoiled(dump_maker *m, uint8_t type, uint64_t value)
{
    enum { ODD = 10 };
    static const uint64_t odd[ODD] = { 0, 1, 2, 0x7f, 0xff, 0x8000, 0x7fffffff, 0x80000000, UINT64_MAX, INT64_MAX };
    if (m->spoiled == 0 || below(m, 1000) >= m->spoiled)
        return value;
    if (type == 2)
        return below(m, 8) == 0   ? 0
               : below(m, 8) == 0 ? 0xdead0
                                  : 0x1000 + below(m, (uint32_t)m->next_id - 0x1000) / 32 * 32;
    const uint32_t n = below(m, ODD + 2);
    return n < ODD ? odd[n] : n == ODD ? value + 1 : value - 1;
}

uint64_t dump_maker_instance_at(dump_maker *m, uint64_t id, uint64_t class_id, const uint64_t *values)
{
    hdx_buffer bytes = hdx_buffer_of(NULL);
    size_t     k = 0;
    uint64_t   of = class_id;
    for (dump_maker_class_info *c; (c = class_info(m, of)) != NULL; of = c->super)
        for (const char *t = c->types; *t != 0; t++)
            hdx_write_value(&bytes, m->id_size, (uint8_t)*t,
                            maybe_spoiled(m, (uint8_t)*t, values == NULL ? 0 : values[k++]));
    must(!bytes.failed);
    hdx_write_instance(heap(m), m->id_size, id, 1, class_id, bytes.at, (uint32_t)bytes.len);
    hdx_buffer_free(&bytes);
    return id;
}

uint64_t dump_maker_instance(dump_maker *m, uint64_t class_id, const uint64_t *values)
{
    return dump_maker_instance_at(m, new_id(m), class_id, values);
}

/* Ids that are not given leave room for the object, as a JVM's do. */
static uint64_t sized_id(dump_maker *m, uint64_t bytes)
{
    const uint64_t id = m->next_id;
    m->next_id += (bytes + 24 + 31) / 32 * 32;
    return id;
}

uint64_t dump_maker_array_at(dump_maker *m, uint64_t id, uint64_t class_id, const uint64_t *refs, uint32_t count)
{
    hdx_write_object_array_head(heap(m), m->id_size, id, 1, class_id, count);
    for (uint32_t k = 0; k < count; k++)
        hdx_write_id(&m->heap, m->id_size, maybe_spoiled(m, 2, refs == NULL ? 0 : refs[k]));
    return id;
}

uint64_t dump_maker_array(dump_maker *m, uint64_t class_id, const uint64_t *refs, uint32_t count)
{
    return dump_maker_array_at(m, sized_id(m, (uint64_t)count * m->id_size), class_id, refs, count);
}

uint64_t dump_maker_primitives_at(dump_maker *m, uint64_t id, char type, const uint64_t *values, uint32_t count)
{
    const uint8_t t = type_of(type);
    hdx_write_primitive_array_head(heap(m), m->id_size, HDX_SUB_PRIMITIVE_ARRAY, id, 1, count, t);
    for (uint32_t k = 0; k < count; k++)
        hdx_write_value(&m->heap, m->id_size, t, maybe_spoiled(m, t, values == NULL ? 0 : values[k]));
    return id;
}

uint64_t dump_maker_primitives(dump_maker *m, char type, const uint64_t *values, uint32_t count)
{
    return dump_maker_primitives_at(m, sized_id(m, (uint64_t)count * width_of(m, type_of(type))), type, values, count);
}

uint64_t dump_maker_string(dump_maker *m, uint64_t string_class, const char *text)
{
    const size_t   n = strlen(text);
    const uint64_t id = new_id(m), value = sized_id(m, n);
    hdx_write_primitive_array_head(heap(m), m->id_size, HDX_SUB_PRIMITIVE_ARRAY, value, 1, (uint32_t)n, 8);
    hdx_buffer_put(&m->heap, text, n);
    return dump_maker_instance_at(m, id, string_class, DUMP_VALUES(value, 0, 0));
}

void dump_maker_root(dump_maker *m, uint8_t tag, uint64_t id, uint32_t serial, int32_t frame)
{
    hdx_write_root(heap(m), m->id_size, tag, id, 0, serial, frame);
}

void dump_maker_heap_info(dump_maker *m, uint32_t number, const char *name)
{
    const uint64_t id = dump_maker_name(m, name);
    hdx_write_heap_info(heap(m), m->id_size, number, id);
}

void dump_maker_raw(dump_maker *m, const void *bytes, size_t len) { hdx_buffer_put(heap(m), bytes, len); }
