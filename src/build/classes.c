/*
 * classes.c - the table of classes.
 *
 * In:  raw CLASS_DUMPs in file order, LOAD_CLASS names, the class ids that objects use.
 * Out: hdx_class by number (falling instance count, then address), class objects among the ids, layouts of instances.
 * Classes that nobody described are invented as MAT does (MAT 1.6); every such case that no sound dump has is damage (R13 to R15).
 * Cost: proportional to classes; one hash lookup each.
 */
#include "build/passes.h"

#include <stddef.h>
#include <stdio.h>

/* Classes that are asked for by name; by `named_class`, the primitive arrays by element type behind it. */
enum named_class { NAMED_OBJECT, NAMED_CLASS, NAMED_LOADER, NAMED_OTHERS };
#define NAMED_ARRAY(type) (NAMED_OTHERS + (unsigned)(type) - 4)
#define NAMED 11u
static const char *const named[NAMED] = { "java.lang.Object", "java.lang.Class", "java.lang.ClassLoader", "boolean[]", "char[]", "float[]", "double[]", "byte[]",
                                          "short[]", "int[]", "long[]" };

#define PART 1024u /* classes a thread reads at a time */
#define AHEAD 8u /* look-ups in maps larger than a cache are asked for so many before */

typedef struct maker {
    hdx_build *b;
    hdx_class *at; /* in order of making, numbers come later */
    uint64_t   count, capacity;
    _Atomic uint64_t next_part; /* of the classes being read */
    bool      *missing;     /* of each class read: a name of it is nowhere */
    uint64_t   named[NAMED];/* places of the first class of each name */
    uint64_t   indexed;     /* classes that by_addr has */
    hdx_map    by_addr;     /* class address -> place */
    hdx_map    loads;       /* class address -> place of its LOAD_CLASS */
    hdx_view  *names;       /* of each LOAD_CLASS; at NULL: its string is nowhere */
    hdx_map    aliases;     /* class id that objects use, but that is no class object -> place */
    uint64_t   unknown;     /* numbers of invented names */
    hdx_addr   next_free;   /* candidate for classes without an address of their own */
} maker;

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "the table of classes", 0); }

static bool text_format(hdx_arena *arena, hdx_text *out, const char *format, uint64_t n)
{
    char  buffer[96];
    int   len = snprintf(buffer, sizeof buffer, format, (unsigned long long)n);
    char *copy = hdx_arena_copy(arena, buffer, (uint64_t)len);
    *out = (hdx_text){ copy, (uint32_t)len };
    return copy != NULL;
}

/* Apart from the making: look-ups that nothing waits for go on at the same time. */
static hdx_code index_made(maker *m, hdx_error *err)
{
    for (; m->indexed < m->count; m->indexed++) {
        if (m->indexed + AHEAD < m->count)
            hdx_map_ahead(&m->by_addr, m->at[m->indexed + AHEAD].address);
        uint64_t *slot = hdx_map_put(&m->by_addr, m->at[m->indexed].address, NULL);
        if (slot == NULL)
            return no_memory(err);
        *slot = m->indexed;
    }
    return HDX_OK;
}

/* The first place of each name. */
static void note_name(uint64_t *places, const hdx_class *c, uint64_t place)
{
    for (unsigned i = 0; i < NAMED; i++)
        if (places[i] == UINT64_MAX && hdx_text_is(c->name, named[i]))
            places[i] = place;
}

static hdx_code add(maker *m, hdx_class c, hdx_error *err)
{
    if (m->count >= HDX_NO_CLASS - 1)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "more than %u classes", HDX_NO_CLASS - 1);
    if (!hdx_mem_room(&m->b->mem, (void **)&m->at, &m->capacity, m->count, sizeof *m->at))
        return no_memory(err);
    note_name(m->named, &c, m->count);
    m->at[m->count++] = c;
    return HDX_OK;
}

/* Classes without an address of their own get 1x, 2x ... the object alignment, the next free one (MAT 1.6). */
static hdx_code free_address(maker *m, hdx_addr *out, hdx_error *err)
{
    bool fresh = false;
    while (!fresh) {
        m->next_free += 8;
        hdx_code code = hdx_addresses_insert_one(m->b->ids, m->next_free, &fresh, err);
        if (code != HDX_OK)
            return code;
    }
    *out = m->next_free;
    return HDX_OK;
}

static void kind_from_name(hdx_class *c)
{
    c->element_type = hdx_name_element_type(c->name);
    c->kind = c->element_type == 0 ? HDX_INSTANCE : c->element_type == 2 ? HDX_OBJECT_ARRAY : HDX_PRIMITIVE_ARRAY;
}

/* The name LOAD_CLASS gives to a class; false: there is none, or its string is nowhere. */
static bool loaded_name(const maker *m, hdx_addr addr, hdx_arena *arena, hdx_text *out, bool *memory)
{
    const uint64_t *place = hdx_map_get(&m->loads, addr);
    *memory = true;
    if (place == NULL || m->names[*place].at == NULL)
        return false;
    *memory = hdx_java_class_name(arena, m->names[*place], out);
    return *memory;
}

static hdx_code read_loads(maker *m, hdx_error *err)
{
    const hdx_scan_result *r = &m->b->scan;
    m->names = hdx_mem_array(&m->b->mem, r->load_count, sizeof *m->names);
    if (m->names == NULL || !hdx_map_reserve(&m->loads, r->load_count))
        return no_memory(err);
    for (uint64_t i = 0; i < r->load_count; i++) {
        if (i + AHEAD < r->load_count)
            hdx_map_ahead(&r->by_string, r->loads[i + AHEAD].name);
        (void)hdx_scan_string(m->b, r->loads[i].name, &m->names[i]);
    }
    for (uint64_t i = 0; i < r->load_count; i++) {
        bool      fresh;
        if (i + AHEAD < r->load_count)
            hdx_map_ahead(&m->loads, r->loads[i + AHEAD].addr);
        uint64_t *place = hdx_map_put(&m->loads, r->loads[i].addr, &fresh);
        if (place == NULL)
            return no_memory(err);
        if (fresh) {
            *place = i;
            continue;
        }
        const hdx_view a = m->names[*place], b = m->names[i];
        if (r->loads[*place].name == r->loads[i].name || (a.at != NULL && b.at != NULL && a.len == b.len && memcmp(a.at, b.at, a.len) == 0))
            continue;
        hdx_code code = hdx_build_damage(m->b, HDX_DAMAGE_DUPLICATE, 0, "LOAD_CLASS", 0, err, "class 0x%llx is loaded under two names; the first stands",
                                         (unsigned long long)r->loads[i].addr);
        if (code != HDX_OK)
            return code;
    }
    return HDX_OK;
}

/* A thread's part of reading the classes. */
typedef struct reader {
    maker    *m;
    hdx_arena arena; /* names and fields */
    uint64_t  named[NAMED];
} reader;

static hdx_code read_members(reader *r, const hdx_raw_class *raw, hdx_view members, uint32_t count, bool statics, const hdx_field **out,
                             bool *missing, hdx_error *err)
{
    hdx_build *b = r->m->b;
    hdx_field *fields = hdx_arena_get(&r->arena, (uint64_t)count * sizeof *fields);
    uint64_t   name;
    hdx_view   value;
    if (fields == NULL)
        return no_memory(err);
    hdx_view ahead = members; /* names of a few fields, so that they are not waited for one by one */
    for (uint32_t i = 0; i < count && i < AHEAD; i++)
        if (statics ? hdx_class_static_next(&ahead, b->survey.head.id_size, &name, &fields[i].type, &value)
                    : hdx_class_field_next(&ahead, b->survey.head.id_size, &name, &fields[i].type))
            hdx_map_ahead(&b->scan.by_string, name);
    for (uint32_t i = 0; i < count; i++) {
        bool more = statics ? hdx_class_static_next(&members, b->survey.head.id_size, &name, &fields[i].type, &value)
                            : hdx_class_field_next(&members, b->survey.head.id_size, &name, &fields[i].type);
        if (!more)
            return hdx_fail(err, HDX_BAD_DUMP, "", raw->pos, "CLASS_DUMP changed while it was read");
        if (!hdx_scan_text(b, name, &r->arena, &fields[i].name))
            return no_memory(err);
        if (fields[i].name.at == NULL) {
            *missing = true;
            if (!text_format(&r->arena, &fields[i].name, "unknown-name@0x%llx", name))
                return no_memory(err);
        }
    }
    *out = fields;
    return HDX_OK;
}

static hdx_code read_class(reader *r, uint64_t i, hdx_error *err)
{
    hdx_build           *b = r->m->b;
    const hdx_raw_class *raw = &b->scan.classes[i];
    hdx_class_dump       d;
    hdx_class            c = { .address = raw->addr, .super = HDX_NO_CLASS };
    bool                 missing = false, memory;
    hdx_code             code;
    if (!hdx_class_dump_cut(raw->record, b->survey.head.id_size, &d))
        return hdx_fail(err, HDX_BAD_DUMP, "", raw->pos, "CLASS_DUMP changed while it was read");
    c.super_address = d.super;
    c.loader = d.loader != 0 && (b->counting || hdx_addresses_has(b->ids, d.loader)) ? d.loader : 0; /* MAT 1.5; unknown where only classes have ids */
    c.signers = d.signers;
    c.domain = d.domain;
    c.stated_size = d.instance_size;
    c.field_count = d.field_count;
    c.static_count = d.static_count;
    if (!loaded_name(r->m, raw->addr, &r->arena, &c.name, &memory)) {
        if (!memory || !text_format(&r->arena, &c.name, "unknown-name@0x%llx", raw->addr))
            return no_memory(err);
        missing = true;
    }
    if ((code = read_members(r, raw, d.fields, d.field_count, false, &c.fields, &missing, err)) != HDX_OK ||
        (code = read_members(r, raw, d.statics, d.static_count, true, &c.statics, &missing, err)) != HDX_OK)
        return code;
    kind_from_name(&c);
    note_name(r->named, &c, i);
    r->m->at[i] = c;
    r->m->missing[i] = missing;
    return HDX_OK;
}

/* Parts that nobody has taken, one after the other. */
static hdx_code read_parts(void *context, hdx_error *err)
{
    reader                *r = context;
    maker                 *m = r->m;
    const hdx_scan_result *scan = &m->b->scan;
    hdx_code               code = HDX_OK;
    uint64_t               first;
    while (code == HDX_OK && (first = atomic_fetch_add(&m->next_part, PART)) < scan->class_count) {
        const uint64_t end = scan->class_count - first < PART ? scan->class_count : first + PART;
        for (uint64_t i = first; i < end && code == HDX_OK; i++) {
            if (i + AHEAD < end) {
                hdx_map_ahead(&m->loads, scan->classes[i + AHEAD].addr);
                __builtin_prefetch(scan->classes[i + AHEAD].record.at);
            }
            code = read_class(r, i, err);
        }
    }
    return code;
}

/* Class i of the scan becomes m->at[i]. */
static hdx_code read_all(maker *m, hdx_error *err)
{
    hdx_build     *b = m->b;
    const uint64_t parts = b->scan.class_count / PART + 1;
    const unsigned most = b->threads < HDX_TASKS_MAX ? b->threads : HDX_TASKS_MAX, threads = parts < most ? (unsigned)parts : most;
    reader         readers[HDX_TASKS_MAX];
    hdx_task       all[HDX_TASKS_MAX] = { { NULL, NULL, 0 } };
    for (unsigned i = 0; i < threads; i++) {
        readers[i] = (reader){ .m = m, .arena = hdx_arena_of(&b->mem) };
        memset(readers[i].named, 0xff, sizeof readers[i].named);
        all[i] = (hdx_task){ .run = read_parts, .context = &readers[i] };
    }
    const hdx_code code = hdx_run_tasks(threads, all, threads, err);
    for (unsigned i = 0; i < threads; i++) {
        for (unsigned k = 0; k < NAMED; k++)
            m->named[k] = readers[i].named[k] < m->named[k] ? readers[i].named[k] : m->named[k];
        hdx_arena_join(&b->texts, &readers[i].arena);
    }
    return code;
}

static hdx_code read_classes(maker *m, hdx_error *err)
{
    const hdx_scan_result *r = &m->b->scan;
    hdx_code               code;
    m->at = hdx_mem_array(&m->b->mem, r->class_count, sizeof *m->at);
    m->capacity = m->at == NULL ? 0 : r->class_count;
    m->missing = hdx_mem_array(&m->b->mem, r->class_count, sizeof *m->missing);
    if (m->at == NULL || m->missing == NULL || !hdx_map_reserve(&m->by_addr, r->class_count))
        return no_memory(err);
    if (r->class_count > HDX_NO_CLASS - 1)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "more than %u classes", HDX_NO_CLASS - 1);
    if ((code = read_all(m, err)) != HDX_OK)
        return code;
    m->count = r->class_count;
    for (uint64_t i = 0; i < m->count; i++) { /* in the order of the file, whoever found them */
        const hdx_text name = m->missing[i] ? m->at[i].name : (hdx_text){ NULL, 0 };
        if (m->missing[i] && (code = hdx_build_damage(m->b, HDX_DAMAGE_MISSING, r->classes[i].pos, "CLASS_DUMP", 0, err, "a name of class %.*s is not in the dump",
                                                      (int)(name.len > 60 ? 60 : name.len), name.at)) != HDX_OK)
            return code;
    }
    return index_made(m, err);
}

/* Fields that fill `bytes` of payload (MAT 1.6). */
static hdx_code invent_fields(maker *m, hdx_class *c, uint64_t bytes, hdx_error *err)
{
    uint64_t   ints = bytes / 4 > 65530 ? 65530 : bytes / 4; /* no class has more fields than a u2 counts */
    uint32_t   count = (uint32_t)ints + (uint32_t)(bytes >> 1 & 1) + (uint32_t)(bytes & 1);
    hdx_field *fields = hdx_arena_get(&m->b->texts, (uint64_t)count * sizeof *fields);
    if (fields == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        fields[i].type = i < ints ? 10 : i == ints && (bytes >> 1 & 1) ? 9 : 8;
        if (!text_format(&m->b->texts, &fields[i].name, "unknown-field-%llu", i))
            return no_memory(err);
    }
    c->fields = fields;
    c->field_count = count;
    return HDX_OK;
}

/* A class nobody described, with java.lang.Object as super and loader 0. addr 0, or an address that an ordinary object has: one of its own. */
static hdx_code invent(maker *m, hdx_addr addr, const char *format, uint64_t number, uint64_t payload, uint64_t *place, hdx_error *err)
{
    hdx_build *b = m->b;
    uint64_t   object = m->named[NAMED_OBJECT];
    hdx_class  c = { .super = HDX_NO_CLASS, .flags = HDX_CLASS_INVENTED, .super_address = object == UINT64_MAX ? 0 : m->at[object].address };
    bool       fresh = false, memory;
    hdx_code   code;
    if (addr != 0 && (code = hdx_addresses_insert_one(b->ids, addr, &fresh, err)) != HDX_OK)
        return code;
    c.address = addr;
    if (!fresh && (code = free_address(m, &c.address, err)) != HDX_OK)
        return code;
    if ((addr == 0 || !loaded_name(m, addr, &b->texts, &c.name, &memory)) && !text_format(&b->texts, &c.name, format, number))
        return no_memory(err);
    kind_from_name(&c);
    if (c.kind == HDX_INSTANCE) {
        c.flags |= HDX_CLASS_OPAQUE;
        if ((code = invent_fields(m, &c, payload, err)) != HDX_OK)
            return code;
    }
    *place = m->count;
    if ((code = add(m, c, err)) != HDX_OK || (code = index_made(m, err)) != HDX_OK)
        return code;
    if (c.address != addr) {
        uint64_t *alias = hdx_map_put(&m->aliases, addr, NULL);
        if (alias == NULL)
            return no_memory(err);
        *alias = *place;
    }
    return HDX_OK;
}

static const uint64_t *place_of(const maker *m, hdx_addr addr)
{
    const uint64_t *p = hdx_map_get(&m->by_addr, addr);
    return p != NULL ? p : hdx_map_get(&m->aliases, addr);
}

static uint64_t own_bytes(const hdx_class *c, uint32_t id_size)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->field_count; i++)
        n += hdx_type_size(c->fields[i].type, id_size);
    return n;
}

static hdx_code invent_missing(maker *m, hdx_error *err)
{
    static const uint8_t types[] = { 4, 5, 6, 7, 8, 9, 10, 11 };
    hdx_build             *b = m->b;
    const hdx_scan_result *r = &b->scan;
    uint64_t               place;
    hdx_code               code;
    if (m->named[NAMED_CLASS] == UINT64_MAX && (code = invent(m, 0, "java.lang.Class", 0, 0, &place, err)) != HDX_OK)
        return code;
    if (m->named[NAMED_LOADER] == UINT64_MAX && (code = invent(m, 0, "java.lang.ClassLoader", 0, 0, &place, err)) != HDX_OK)
        return code;
    for (uint64_t i = 0; i < r->use_count; i++) { /* classes of arrays */
        const hdx_class_use *u = &r->uses[i];
        if (u->arrays == 0 || place_of(m, u->addr) != NULL)
            continue;
        if ((code = invent(m, u->addr, "unknown-class-%llu[]", m->unknown++, 0, &place, err)) != HDX_OK ||
            (code = hdx_build_damage(b, HDX_DAMAGE_MISSING, u->last_pos, "OBJECT_ARRAY_DUMP", 0, err, "array class 0x%llx has no CLASS_DUMP; %llu arrays are kept",
                                     (unsigned long long)u->addr, (unsigned long long)u->arrays)) != HDX_OK)
            return code;
    }
    for (size_t i = 0; i < sizeof types; i++) { /* classes of primitive arrays: found by name (HPROF 3.8) */
        const char *name = named[NAMED_ARRAY(types[i])];
        if (r->primitive_arrays[types[i]] == 0)
            continue;
        place = m->named[NAMED_ARRAY(types[i])];
        if (place == UINT64_MAX && (code = invent(m, 0, name, 0, 0, &place, err)) != HDX_OK)
            return code;
        m->at[place].kind = HDX_PRIMITIVE_ARRAY;
        m->at[place].element_type = types[i];
    }
    for (uint64_t i = 0; i < r->use_count; i++) { /* classes of instances */
        const hdx_class_use *u = &r->uses[i];
        if (u->instances == 0 || place_of(m, u->addr) != NULL)
            continue;
        if ((code = invent(m, u->addr, "unknown-class-%llu", m->unknown++, u->last_bytes, &place, err)) != HDX_OK ||
            (code = hdx_build_damage(b, HDX_DAMAGE_MISSING, u->last_pos, "INSTANCE_DUMP", 0, err,
                                     "class 0x%llx has no CLASS_DUMP; %llu instances are kept, their fields cannot be read", (unsigned long long)u->addr,
                                     (unsigned long long)u->instances)) != HDX_OK)
            return code;
    }
    for (uint64_t i = 0; i < m->count; i++) { /* super classes; the loop sees those it adds, which have java.lang.Object above them */
        hdx_class c = m->at[i];
        if (c.super_address == 0 || place_of(m, c.super_address) != NULL)
            continue;
        /* sized by the subclass: its instance size less its own fields (MAT 1.6) */
        uint64_t own = own_bytes(&c, b->survey.head.id_size), rest = c.stated_size > own ? c.stated_size - own : 0;
        if ((code = invent(m, c.super_address, "unknown-class-%llu", m->unknown++, rest, &place, err)) != HDX_OK ||
            (code = hdx_build_damage(b, HDX_DAMAGE_MISSING, 0, "CLASS_DUMP", 0, err, "super class 0x%llx of %.*s has no CLASS_DUMP",
                                     (unsigned long long)c.super_address, (int)(c.name.len > 50 ? 50 : c.name.len), c.name.at)) != HDX_OK)
            return code;
    }
    return HDX_OK;
}

/* The first of a name that is wanted for an element type wins in `primitive_class`; instances are counted so that numbers can follow them. */
static void count_instances(maker *m)
{
    const hdx_scan_result *r = &m->b->scan;
    for (uint64_t i = 0; i < r->use_count; i++) {
        const uint64_t *p = place_of(m, r->uses[i].addr);
        if (p != NULL)
            m->at[*p].instances += r->uses[i].instances + r->uses[i].arrays;
    }
    for (uint8_t t = 4; t <= 11; t++) {
        const uint64_t p = m->named[NAMED_ARRAY(t)];
        if (p != UINT64_MAX)
            m->at[p].instances += r->primitive_arrays[t];
    }
    m->at[m->named[NAMED_CLASS]].instances += m->count;
    m->at[m->named[NAMED_LOADER]].instances += 1; /* object 0 */
}

typedef struct ordered {
    uint64_t few; /* rises as the count of instances falls */
    hdx_addr address;
    uint64_t place;
} ordered;

static int by_address(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static int by_count(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    return x->few != y->few ? (x->few < y->few ? -1 : 1) : by_address(a, b);
}

/* Class i becomes the one that was at all[i].place; each is moved once. */
static void put_in_order(hdx_class *at, ordered *all, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const hdx_class first = at[i];
        uint64_t        to = i, from;
        while ((from = all[to].place) != i) {
            const uint8_t *next = (const uint8_t *)&at[all[from].place];
            __builtin_prefetch(next);
            __builtin_prefetch(next + 64);
            __builtin_prefetch(next + 128);
            at[to] = at[from];
            all[to].place = to;
            to = from;
        }
        at[to] = first;
        all[to].place = to;
        at[i].number = (uint32_t)i;
    }
}

/* By falling count of instances, then address; by_addr tells numbers then. */
static bool order_classes(maker *m)
{
    hdx_mem  *mem = &m->b->mem;
    ordered  *all = hdx_mem_array(mem, m->count, sizeof *all);
    uint32_t *number = hdx_mem_array(mem, m->count, sizeof *number); /* by place */
    if (all != NULL && number != NULL) {
        for (uint64_t i = 0; i < m->count; i++)
            all[i] = (ordered){ UINT64_MAX - m->at[i].instances, m->at[i].address, i };
        hdx_sort(mem, all, m->count, sizeof *all, offsetof(ordered, address), by_address);
        hdx_sort(mem, all, m->count, sizeof *all, offsetof(ordered, few), by_count);
        for (uint64_t i = 0; i < m->count; i++)
            number[all[i].place] = (uint32_t)i;
        for (uint64_t i = 0; i < m->by_addr.capacity; i++)
            if (m->by_addr.slots[i].key != m->by_addr.empty)
                m->by_addr.slots[i].value = number[m->by_addr.slots[i].value];
        if (m->by_addr.has_own)
            m->by_addr.own = number[m->by_addr.own];
        put_in_order(m->at, all, m->count);
    }
    const bool done = all != NULL && number != NULL;
    hdx_mem_put(mem, number, m->count * sizeof *number);
    hdx_mem_put(mem, all, m->count * sizeof *all);
    return done;
}

static hdx_code number_classes(maker *m, hdx_error *err)
{
    hdx_build *b = m->b;
    uint64_t  *slot;
    hdx_addr   java_class = m->at[m->named[NAMED_CLASS]].address, java_loader = m->at[m->named[NAMED_LOADER]].address;
    hdx_addr   primitive[16] = { 0 };
    hdx_map    alias_addr = hdx_map_of(&b->mem);
    for (uint8_t t = 4; t <= 11; t++) {
        const uint64_t p = m->named[NAMED_ARRAY(t)];
        primitive[t] = p == UINT64_MAX ? 0 : m->at[p].address;
    }
    for (uint64_t i = 0; i < m->aliases.capacity; i++) /* places become addresses before the sort moves the places */
        if (m->aliases.slots[i].key != m->aliases.empty) {
            if ((slot = hdx_map_put(&alias_addr, m->aliases.slots[i].key, NULL)) == NULL)
                goto refused;
            *slot = m->at[m->aliases.slots[i].value].address;
        }
    if (!order_classes(m) || (b->classes = hdx_mem_resize(&b->mem, m->at, m->capacity * sizeof *m->at, m->count * sizeof *m->at)) == NULL)
        goto refused;
    m->at = NULL;
    b->class_count = (uint32_t)m->count;
    b->by_address = m->by_addr;
    m->by_addr = hdx_map_of(&b->mem);
    for (uint64_t i = 0; i < alias_addr.capacity; i++)
        if (alias_addr.slots[i].key != alias_addr.empty) {
            const uint64_t *number = hdx_map_get(&b->by_address, alias_addr.slots[i].value);
            uint64_t        n = number == NULL ? 0 : *number;
            if ((slot = hdx_map_put(&b->by_address, alias_addr.slots[i].key, NULL)) == NULL)
                goto refused;
            *slot = n;
        }
    hdx_map_free(&alias_addr);
    b->class_class = (uint32_t)*hdx_map_get(&b->by_address, java_class);
    b->loader_class = (uint32_t)*hdx_map_get(&b->by_address, java_loader);
    for (uint8_t t = 4; t <= 11; t++) {
        const uint64_t *number = primitive[t] == 0 ? NULL : hdx_map_get(&b->by_address, primitive[t]);
        b->primitive_class[t] = number == NULL ? HDX_NO_CLASS : (uint32_t)*number;
    }
    for (uint32_t i = 0; i < b->class_count; i++) {
        hdx_class *c = &b->classes[i];
        if (i + AHEAD < b->class_count)
            hdx_map_ahead(&b->by_address, b->classes[i + AHEAD].super_address);
        const uint64_t *super = c->super_address == 0 ? NULL : hdx_map_get(&b->by_address, c->super_address);
        c->super = super == NULL ? HDX_NO_CLASS : (uint32_t)*super;
    }
    return HDX_OK;
refused:
    hdx_map_free(&alias_addr);
    return no_memory(err);
}

/* Chains of super classes end; where one closed on itself, it is cut and told (R15). */
static hdx_code cut_cycles(hdx_build *b, hdx_error *err)
{
    uint32_t  cuts = 0;
    uint32_t *cut = hdx_mem_array(&b->mem, b->class_count, sizeof *cut);
    hdx_code  code = HDX_OK;
    b->sizing = (hdx_sizing){ b->survey.head.id_size, b->survey.head.id_size, 8, b->survey.head.android };
    if (cut == NULL || !hdx_model_sizes(&b->sizing, b->classes, b->class_count, &b->mem, cut, &cuts))
        code = no_memory(err);
    for (uint32_t i = 0; i < cuts && code == HDX_OK; i++) {
        hdx_text name = b->classes[cut[i]].name;
        code = hdx_build_damage(b, HDX_DAMAGE_CYCLE, 0, "CLASS_DUMP", 0, err, "super classes of %.*s lead back to it; the chain is cut there",
                                (int)(name.len > 60 ? 60 : name.len), name.at);
    }
    hdx_mem_put(&b->mem, cut, b->class_count * sizeof *cut);
    return code;
}

/* Where the references of an instance are: own fields first, then those of the super classes (HPROF 3.2). */
static hdx_code lay_out(hdx_build *b, hdx_error *err)
{
    const uint32_t id_size = b->survey.head.id_size;
    uint64_t       capacity = 0, count = 0;
    b->layouts = hdx_mem_array(&b->mem, b->class_count, sizeof *b->layouts);
    if (b->layouts == NULL || !hdx_mem_room(&b->mem, (void **)&b->offsets, &capacity, 0, sizeof *b->offsets)) /* never NULL: places in it are formed */
        return no_memory(err);
    b->offset_count = capacity;
    for (uint32_t i = 0; i < b->class_count; i++) {
        hdx_class_layout *l = &b->layouts[i];
        bool              used = b->classes[i].kind == HDX_INSTANCE && b->classes[i].instances > 0;
        l->first = count;
        if (!used) /* a chain of 3000 classes without instances must not cost 3000 squared */
            continue;
        for (uint32_t c = i; c != HDX_NO_CLASS; c = b->classes[c].super)
            for (uint32_t f = 0; f < b->classes[c].field_count; f++) {
                uint8_t type = b->classes[c].fields[f].type;
                if (type == 2) {
                    if (!hdx_mem_room(&b->mem, (void **)&b->offsets, &capacity, count, sizeof *b->offsets))
                        return no_memory(err);
                    b->offset_count = capacity;
                    if (l->bytes > UINT32_MAX) /* no instance record is that long */
                        break;
                    b->offsets[count++] = (uint32_t)l->bytes;
                    l->references++;
                }
                l->bytes += hdx_type_size(type, id_size);
            }
    }
    return HDX_OK;
}

hdx_code hdx_classes_find_objects(hdx_build *b, hdx_error *err)
{
    if (!hdx_map_reserve(&b->class_objects, b->class_count))
        return no_memory(err);
    for (uint32_t i = 0; i < b->class_count; i++) {
        if (i + AHEAD < b->class_count)
            hdx_map_ahead(&b->class_objects, b->classes[i + AHEAD].id);
        uint64_t *slot = hdx_map_put(&b->class_objects, b->classes[i].id, NULL);
        if (slot == NULL)
            return no_memory(err);
        *slot = i;
    }
    return HDX_OK;
}

static hdx_code find_class_objects(hdx_build *b, hdx_error *err)
{
    for (uint32_t i = 0; i < b->class_count; i++)
        b->classes[i].id = hdx_addresses_find(b->ids, b->classes[i].address);
    return hdx_classes_find_objects(b, err);
}

hdx_code hdx_classes_resolve(hdx_build *b, hdx_error *err)
{
    maker    m = { .b = b, .by_addr = hdx_map_of(&b->mem), .loads = hdx_map_of(&b->mem), .aliases = hdx_map_of(&b->mem) };
    bool     fresh;
    hdx_code code = read_loads(&m, err);
    memset(m.named, 0xff, sizeof m.named);
    if (code == HDX_OK)
        code = read_classes(&m, err);
    if (code == HDX_OK)
        code = invent_missing(&m, err);
    if (code == HDX_OK) {
        count_instances(&m);
        code = number_classes(&m, err);
    }
    if (code == HDX_OK)
        code = hdx_addresses_insert_one(b->ids, 0, &fresh, err); /* the boot class loader (MAT 1.2) */
    if (code == HDX_OK)
        code = hdx_addresses_freeze(b->ids, err);
    if (code == HDX_OK) {
        b->objects = hdx_addresses_count(b->ids);
        code = cut_cycles(b, err);
    }
    if (code == HDX_OK && (code = lay_out(b, err)) == HDX_OK)
        code = find_class_objects(b, err);
    hdx_mem_put(&b->mem, m.at, m.capacity * sizeof *m.at);
    hdx_mem_put(&b->mem, m.missing, b->scan.class_count * sizeof *m.missing);
    hdx_mem_put(&b->mem, m.names, b->scan.load_count * sizeof *m.names);
    hdx_map_free(&m.by_addr);
    hdx_map_free(&m.loads);
    hdx_map_free(&m.aliases);
    return code;
}

hdx_code hdx_classes_size(hdx_build *b, hdx_error *err)
{
    uint32_t  cuts = 0;
    uint32_t *cut = hdx_mem_array(&b->mem, b->class_count, sizeof *cut);
    bool      done = cut != NULL && hdx_model_sizes(&b->sizing, b->classes, b->class_count, &b->mem, cut, &cuts);
    hdx_mem_put(&b->mem, cut, b->class_count * sizeof *cut);
    return done ? HDX_OK : no_memory(err);
}

hdx_pos hdx_class_misfit(const hdx_build *b, const hdx_class_use *use)
{
    const uint64_t *number = hdx_map_get(&b->by_address, use->addr);
    if (number == NULL || use->instances == 0 || (b->classes[*number].flags & HDX_CLASS_OPAQUE) != 0)
        return 0;
    if (b->layouts[*number].bytes != use->first_bytes)
        return use->first_pos + 1;
    return use->other_pos == 0 ? 0 : use->other_pos + 1;
}

uint64_t hdx_classes_reference_bound(const hdx_build *b)
{
    const hdx_scan_result *r = &b->scan;
    uint64_t               bound = b->local_count;
    for (uint64_t i = 0; i < r->use_count; i++) {
        if (i + AHEAD < r->use_count)
            hdx_map_ahead(&b->by_address, r->uses[i + AHEAD].addr);
        const uint64_t *number = hdx_map_get(&b->by_address, r->uses[i].addr);
        if (number != NULL)
            bound += r->uses[i].elements + r->uses[i].instances * b->layouts[*number].references;
    }
    for (uint32_t i = 0; i < b->class_count; i++)
        bound += 2u + b->classes[i].static_count;
    return bound;
}
