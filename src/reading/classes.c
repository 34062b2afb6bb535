/*
 * classes.c - the table of classes.
 *
 * In:  raw CLASS_DUMPs in file order, LOAD_CLASS names, the class ids that objects use.
 * Out: hdx_class by number (descending instance count, then address), class objects among the ids.
 * Classes without a CLASS_DUMP are invented as in MAT (MAT 1.6); every such case that no intact dump has is damage (R13
 * to R15).
 * Cost: proportional to the number of classes; one hash look-up each.
 */
#include "reading/reading.h"
#include "reading/tasks.h"

#include <stdio.h>
#include <stdlib.h>

/* Classes that are looked up by name; indices of `named`. The primitive arrays follow, by element type. */
enum named_class { NAMED_OBJECT, NAMED_CLASS, NAMED_LOADER, NAMED_OTHERS };
#define NAMED_ARRAY(type) (NAMED_OTHERS + (unsigned)(type)-4)
#define NAMED             11u
static const char *const named[NAMED] = { "java.lang.Object",
                                          "java.lang.Class",
                                          "java.lang.ClassLoader",
                                          "boolean[]",
                                          "char[]",
                                          "float[]",
                                          "double[]",
                                          "byte[]",
                                          "short[]",
                                          "int[]",
                                          "long[]" };

#define SUPER_BYTES (1u << 20) /* fields invented for superclasses may use at least this many bytes */
#define PART        1024u      /* classes that a thread reads at a time */
#define AHEAD       8u         /* distance for prefetching look-ups in maps that are larger than a cache */

typedef struct maker {
    const hdx_reading *in;
    hdx_class         *at; /* in order of creation, numbered later; until then `super` is an index into scan.uses.at */
    uint64_t           count, capacity;
    _Atomic uint64_t   next_part; /* next part of the classes to read */
    bool              *missing;   /* for each class read: one of its names is missing */
    uint32_t          *places;    /* for each address in scan.uses.at: index of its class in `at`; HDX_NO_CLASS: none */
    uint64_t           place_capacity;
    uint32_t          *longest;      /* bytes of the longest record of an instance: by index, later by number */
    _Atomic uint64_t   unlisted;     /* number of classes read whose address is not in scan.uses.at */
    uint64_t           named[NAMED]; /* index of the first class of each name */
    uint64_t           unknown;      /* number of invented names */
    hdx_addr           next_free;    /* candidate for classes without an address of their own */
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

static hdx_code too_many(hdx_error *err)
{
    return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "more than %u classes", HDX_NO_CLASS - 1);
}

/* Returns the index of an address in scan.uses.at; adds it if necessary. */
static hdx_code use_of(maker *m, hdx_addr addr, uint32_t *use, hdx_error *err)
{
    hdx_scan_result *r = &m->in->dump->scan;
    bool             fresh;
    uint64_t        *place = hdx_map_put(&r->by_class, addr, &fresh);
    if (place == NULL || (fresh && (!hdx_list_room(&m->in->w->mem, HDX_LIST_REF(&r->uses)) ||
                                    !hdx_mem_room(&m->in->w->mem, (void **)&m->places, &m->place_capacity,
                                                  r->uses.count, sizeof *m->places))))
        return no_memory(err);
    if (fresh) {
        if (r->uses.count >= HDX_NO_CLASS)
            return too_many(err);
        r->uses.at[r->uses.count] = (hdx_class_use){ .addr = addr };
        m->places[r->uses.count] = HDX_NO_CLASS;
        *place = r->uses.count++;
    }
    *use = (uint32_t)*place;
    return HDX_OK;
}

/* Records the first class of each name. */
static void note_name(uint64_t *places, const hdx_class *c, uint64_t place)
{
    for (unsigned i = 0; i < NAMED; i++)
        if (places[i] == UINT64_MAX && hdx_text_is(c->name, named[i]))
            places[i] = place;
}

static hdx_code add(maker *m, hdx_class c, hdx_error *err)
{
    if (m->count >= HDX_NO_CLASS - 1)
        return too_many(err);
    if (!hdx_mem_room(&m->in->w->mem, (void **)&m->at, &m->capacity, m->count, sizeof *m->at))
        return no_memory(err);
    note_name(m->named, &c, m->count);
    m->at[m->count++] = c;
    return HDX_OK;
}

/* Classes without an address of their own get the next free multiple of the object alignment (MAT 1.6). */
static hdx_code free_address(maker *m, hdx_addr *out, hdx_error *err)
{
    bool fresh = false;
    while (!fresh) {
        m->next_free += 8;
        hdx_code code = hdx_addresses_insert_one(m->in->t->lookup.ids, m->next_free, &fresh, err);
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

/*
 * Returns the string of the first LOAD_CLASS of the address with index `use` in scan.uses.at; false: none, or the
 * string is missing.
 */
static bool loaded_string(const hdx_reading *in, uint64_t use, hdx_view *out)
{
    return use < in->dump->scan.loads.count && hdx_scan_string(in, in->dump->scan.loads.at[use].name, out);
}

/*
 * Returns the name that LOAD_CLASS gives to a class; false: none, its string is missing, or (memory is false) out of
 * memory.
 */
static bool loaded_name(const hdx_reading *in, uint64_t use, hdx_arena *arena, hdx_text *out, bool *memory)
{
    *memory = true;
    if (use >= in->dump->scan.loads.count)
        return false;
    *memory = hdx_scan_class_name(in, in->dump->scan.loads.at[use].name, arena, out);
    return *memory && out->at != NULL;
}

/*
 * Returns whether two LOAD_CLASSes have the same name. Long names are compared by a sum, because a record of a few
 * bytes can refer to a long text.
 */
static bool same_name(const hdx_reading *in, uint64_t use, uint64_t other)
{
    hdx_view x, y;
    if (in->dump->scan.loads.at[use].name == in->dump->scan.loads.at[other].name)
        return true;
    if (!(loaded_string(in, use, &x) & loaded_string(in, other, &y)) || x.len != y.len)
        return false;
    return x.len <= HDX_NAME_LONG ? memcmp(x.at, y.at, x.len) == 0
                                  : hdx_scan_string_sum(in, in->dump->scan.loads.at[use].name) ==
                                        hdx_scan_string_sum(in, in->dump->scan.loads.at[other].name);
}

/* R13: the first name counts. */
static hdx_code check_loads(maker *m, hdx_error *err)
{
    const hdx_reading     *in = m->in;
    const hdx_scan_result *r = &in->dump->scan;
    hdx_code               code = HDX_OK;
    for (uint64_t i = 0; i < r->loads.count && code == HDX_OK; i++) {
        if (!r->loads.at[i].again)
            continue;
        const uint64_t first = *hdx_map_get(&r->by_class, r->loads.at[i].addr);
        if (!same_name(in, first, i))
            code = hdx_work_damage(in->w, HDX_DAMAGE_DUPLICATE, 0, "LOAD_CLASS", 0, err,
                                   "class 0x%llx is loaded under two names; using the first",
                                   (unsigned long long)r->loads.at[i].addr);
    }
    return code;
}

/* A thread's part of reading the classes. */
typedef struct reader {
    maker    *m;
    hdx_arena arena; /* names and fields */
    uint64_t  named[NAMED];
} reader;

/* Fields or statics of a CLASS_DUMP. */
typedef struct members {
    hdx_view bytes;
    uint32_t count, id_size;
    bool     statics;
} members;

static bool next_member(members *m, uint64_t *name, uint8_t *type)
{
    hdx_view value;
    return m->statics ? hdx_class_static_next(&m->bytes, m->id_size, name, type, &value)
                      : hdx_class_field_next(&m->bytes, m->id_size, name, type);
}

static hdx_code read_members(reader *r, members m, hdx_pos pos, const hdx_field **out, bool *missing, hdx_error *err)
{
    const hdx_reading *in = r->m->in;
    hdx_field         *fields = hdx_arena_get(&r->arena, (uint64_t)m.count * sizeof *fields);
    uint64_t           name;
    if (fields == NULL)
        return no_memory(err);
    members ahead = m; /* prefetches the names of a few members */
    for (uint32_t i = 0; i < m.count && i < AHEAD; i++)
        if (next_member(&ahead, &name, &fields[i].type))
            hdx_map_ahead(&in->dump->scan.strings.places, name);
    for (uint32_t i = 0; i < m.count; i++) {
        if (!next_member(&m, &name, &fields[i].type))
            return hdx_fail(err, HDX_BAD_DUMP, "", pos, "CLASS_DUMP changed while it was read");
        if (!hdx_scan_text(in, name, &r->arena, &fields[i].name))
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
    const hdx_reading   *in = r->m->in;
    const hdx_raw_class *raw = &in->dump->scan.classes.at[i];
    hdx_class_dump       d;
    hdx_class            c = { .address = raw->addr, .super = HDX_NO_CLASS };
    const uint64_t      *use = hdx_map_get(&in->dump->scan.by_class, raw->addr), *super;
    bool                 missing = false, memory;
    hdx_code             code;
    if (use != NULL)
        r->m->places[*use] = (uint32_t)i;
    else
        atomic_fetch_add_explicit(&r->m->unlisted, 1, memory_order_relaxed);
    if (!hdx_class_dump_cut(raw->record, in->dump->survey.head.id_size, &d))
        return hdx_fail(err, HDX_BAD_DUMP, "", raw->pos, "CLASS_DUMP changed while it was read");
    c.super_address = d.super;
    hdx_map_ahead(&in->dump->scan.by_class, d.super);
    c.loader = d.loader != 0 && (in->dump->counting || hdx_addresses_has(in->t->lookup.ids, d.loader))
                   ? d.loader
                   : 0; /* MAT 1.5; unknown if only classes have ids */
    c.signers = d.signers;
    c.domain = d.domain;
    c.stated_size = d.instance_size;
    c.field_count = d.field_count;
    c.static_count = d.static_count;
    if (use == NULL || !loaded_name(in, *use, &r->arena, &c.name, &memory)) {
        if ((use != NULL && !memory) || !text_format(&r->arena, &c.name, "unknown-name@0x%llx", raw->addr))
            return no_memory(err);
        missing = true;
    }
    if (d.super != 0 && (super = hdx_map_get(&in->dump->scan.by_class, d.super)) != NULL)
        c.super = (uint32_t)*super;
    const uint32_t id_size = in->dump->survey.head.id_size;
    const members  fields = { d.fields, d.field_count, id_size, false },
                  statics = { d.statics, d.static_count, id_size, true };
    if ((code = read_members(r, fields, raw->pos, &c.fields, &missing, err)) != HDX_OK ||
        (code = read_members(r, statics, raw->pos, &c.statics, &missing, err)) != HDX_OK)
        return code;
    kind_from_name(&c);
    note_name(r->named, &c, i);
    r->m->at[i] = c;
    r->m->missing[i] = missing;
    return HDX_OK;
}

/* Prefetches the record and the map slot of a later class, and the slot of the name of a nearer one. */
static void fetch_class(const hdx_scan_result *scan, uint64_t i, uint64_t end)
{
    if (i + 2 * AHEAD < end) {
        hdx_map_ahead(&scan->by_class, scan->classes.at[i + 2 * AHEAD].addr);
        __builtin_prefetch(scan->classes.at[i + 2 * AHEAD].record.at);
    }
    if (i + AHEAD < end) {
        const uint64_t *use = hdx_map_get(&scan->by_class, scan->classes.at[i + AHEAD].addr);
        if (use != NULL && *use < scan->loads.count)
            hdx_map_ahead(&scan->strings.places, scan->loads.at[*use].name);
    }
}

/* Reads parts that no other thread has taken. */
static hdx_code read_parts(void *context, hdx_error *err)
{
    reader                *r = context;
    maker                 *m = r->m;
    const hdx_scan_result *scan = &m->in->dump->scan;
    hdx_code               code = HDX_OK;
    uint64_t               first;
    while (code == HDX_OK && (first = atomic_fetch_add(&m->next_part, PART)) < scan->classes.count) {
        const uint64_t end = scan->classes.count - first < PART ? scan->classes.count : first + PART;
        for (uint64_t i = first; i < end && code == HDX_OK; i++) {
            fetch_class(scan, i, end);
            code = read_class(r, i, err);
        }
    }
    return code;
}

/* Class i of the scan becomes m->at[i]. */
static hdx_code read_all(maker *m, hdx_error *err)
{
    const hdx_reading *in = m->in;
    const uint64_t     parts = in->dump->scan.classes.count / PART + 1;
    const unsigned     most = in->w->threads < HDX_TASKS_MAX ? in->w->threads : HDX_TASKS_MAX,
                   threads = parts < most ? (unsigned)parts : most;
    reader   readers[HDX_TASKS_MAX];
    hdx_task all[HDX_TASKS_MAX] = { { NULL, NULL, 0 } };
    for (unsigned i = 0; i < threads; i++) {
        readers[i] = (reader){ .m = m, .arena = hdx_arena_of(&in->w->mem) };
        memset(readers[i].named, 0xff, sizeof readers[i].named);
        all[i] = (hdx_task){ .run = read_parts, .context = &readers[i] };
    }
    const hdx_code code = hdx_run_tasks(threads, all, threads, err);
    for (unsigned i = 0; i < threads; i++) {
        for (unsigned k = 0; k < NAMED; k++)
            m->named[k] = readers[i].named[k] < m->named[k] ? readers[i].named[k] : m->named[k];
        hdx_arena_join(&in->t->texts, &readers[i].arena);
    }
    return code;
}

static hdx_code read_classes(maker *m, hdx_error *err)
{
    const hdx_scan_result *r = &m->in->dump->scan;
    hdx_code               code;
    uint32_t               use;
    if (r->classes.count > HDX_NO_CLASS - 1 || r->uses.count >= HDX_NO_CLASS)
        return too_many(err);
    m->at = hdx_mem_array(&m->in->w->mem, r->classes.count, sizeof *m->at);
    m->capacity = m->at == NULL ? 0 : r->classes.count;
    m->missing = hdx_mem_array(&m->in->w->mem, r->classes.count, sizeof *m->missing);
    m->places = hdx_mem_array(&m->in->w->mem, r->uses.count, sizeof *m->places);
    m->place_capacity = m->places == NULL ? 0 : r->uses.count;
    if (m->at == NULL || m->missing == NULL || m->places == NULL)
        return no_memory(err);
    memset(m->places, 0xff, r->uses.count * sizeof *m->places);
    if ((code = read_all(m, err)) != HDX_OK)
        return code;
    m->count = r->classes.count;
    for (uint64_t i = 0; i < m->count && atomic_load(&m->unlisted) > 0; i++)
        if (hdx_map_get(&r->by_class, m->at[i].address) == NULL) {
            if ((code = use_of(m, m->at[i].address, &use, err)) != HDX_OK)
                return code;
            m->places[use] = (uint32_t)i;
        }
    for (uint64_t i = 0; i < m->count && code == HDX_OK;
         i++) /* in the order of the file, whichever thread found them */
        if (m->missing[i])
            code = hdx_work_damage(m->in->w, HDX_DAMAGE_MISSING, r->classes.at[i].pos, "CLASS_DUMP", 0, err,
                                   "a name of class %.*s is not in the dump",
                                   (int)(m->at[i].name.len > 60 ? 60 : m->at[i].name.len), m->at[i].name.at);
    return code;
}

/* Invents fields that fill `bytes` of payload (MAT 1.6). */
static hdx_code invent_fields(maker *m, hdx_class *c, uint64_t bytes, hdx_error *err)
{
    uint64_t   ints = bytes / 4 > 65530 ? 65530 : bytes / 4; /* a class has at most as many fields as a u2 can count */
    uint32_t   count = (uint32_t)ints + (uint32_t)(bytes >> 1 & 1) + (uint32_t)(bytes & 1);
    hdx_field *fields = hdx_arena_get(&m->in->t->texts, (uint64_t)count * sizeof *fields);
    if (fields == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        fields[i].type = i < ints ? 10 : i == ints && (bytes >> 1 & 1) ? 9 : 8;
        if (!text_format(&m->in->t->texts, &fields[i].name, "unknown-field-%llu", i))
            return no_memory(err);
    }
    c->fields = fields;
    c->field_count = count;
    return HDX_OK;
}

/*
 * Invents a class with java.lang.Object as its superclass and loader 0. addr: the address by which objects refer to it,
 * or NULL. The class gets that address, unless an ordinary object has it.
 */
static hdx_code invent(maker *m, const hdx_addr *addr, const char *format, uint64_t number, uint64_t payload,
                       uint64_t *place, hdx_error *err)
{
    const hdx_reading *in = m->in;
    uint64_t           object = m->named[NAMED_OBJECT];
    hdx_class          c = { .super = HDX_NO_CLASS,
                             .flags = HDX_CLASS_INVENTED,
                             .super_address = object == UINT64_MAX ? 0 : m->at[object].address };
    uint32_t           called = 0, own;
    bool               fresh = false, memory, has_name = false;
    hdx_code           code;
    if (addr != NULL) {
        if ((code = use_of(m, *addr, &called, err)) != HDX_OK ||
            (*addr != 0 && (code = hdx_addresses_insert_one(in->t->lookup.ids, *addr, &fresh, err)) != HDX_OK))
            return code;
        c.address = *addr;
        if (*addr != 0 && !(has_name = loaded_name(in, called, &in->t->texts, &c.name, &memory)) && !memory)
            return no_memory(err);
    }
    if ((!fresh && (code = free_address(m, &c.address, err)) != HDX_OK) ||
        (code = use_of(m, c.address, &own, err)) != HDX_OK)
        return code;
    if (!has_name && !text_format(&in->t->texts, &c.name, format, number))
        return no_memory(err);
    kind_from_name(&c);
    if (c.kind == HDX_INSTANCE) {
        c.flags |= HDX_CLASS_OPAQUE;
        if ((code = invent_fields(m, &c, payload, err)) != HDX_OK)
            return code;
    }
    *place = m->count;
    m->places[own] = (uint32_t)*place;
    if (addr != NULL)
        m->places[called] = (uint32_t)*place;
    return add(m, c, err);
}

static int by_first(const void *a, const void *b)
{
    const hdx_pair *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * Finds addresses that objects use as their class but that are not classes, ascending: pairs of address and index in
 * scan.uses.at.
 */
static hdx_code unknown_uses(maker *m, hdx_pair **out, uint64_t *count, uint64_t *capacity, hdx_error *err)
{
    const hdx_scan_result *r = &m->in->dump->scan;
    for (uint64_t i = 0; i < r->uses.count; i++) {
        if (m->places[i] != HDX_NO_CLASS || r->uses.at[i].instances + r->uses.at[i].arrays == 0)
            continue;
        if (!hdx_mem_room(&m->in->w->mem, (void **)out, capacity, *count, sizeof **out))
            return no_memory(err);
        (*out)[(*count)++] = (hdx_pair){ r->uses.at[i].addr, i };
    }
    if (*count > 1)
        qsort(*out, (size_t)*count, sizeof **out, by_first);
    return HDX_OK;
}

static hdx_code invent_arrays(maker *m, const hdx_pair *unknown, uint64_t count, hdx_error *err)
{
    uint64_t place;
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < count && code == HDX_OK; i++) {
        const hdx_class_use u = m->in->dump->scan.uses.at[unknown[i].second]; /* a copy: the array may move */
        if (u.arrays == 0 || m->places[unknown[i].second] != HDX_NO_CLASS)
            continue;
        if ((code = invent(m, &u.addr, "unknown-class-%llu[]", m->unknown++, 0, &place, err)) == HDX_OK)
            code = hdx_work_damage(m->in->w, HDX_DAMAGE_MISSING, u.last_pos, "OBJECT_ARRAY_DUMP", 0, err,
                                   "array class 0x%llx has no CLASS_DUMP; its %llu arrays are included",
                                   (unsigned long long)u.addr, (unsigned long long)u.arrays);
    }
    return code;
}

static hdx_code invent_instances(maker *m, const hdx_pair *unknown, uint64_t count, hdx_error *err)
{
    uint64_t place;
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < count && code == HDX_OK; i++) {
        const hdx_class_use u = m->in->dump->scan.uses.at[unknown[i].second];
        if (u.instances == 0 || m->places[unknown[i].second] != HDX_NO_CLASS)
            continue;
        if ((code = invent(m, &u.addr, "unknown-class-%llu", m->unknown++, u.last_bytes, &place, err)) == HDX_OK)
            code = hdx_work_damage(m->in->w, HDX_DAMAGE_MISSING, u.last_pos, "INSTANCE_DUMP", 0, err,
                                   "class 0x%llx has no CLASS_DUMP; its %llu instances are included without fields",
                                   (unsigned long long)u.addr, (unsigned long long)u.instances);
    }
    return code;
}

/*
 * The loop also visits the classes that it adds, whose superclass is java.lang.Object. Their size follows from the
 * subclass: its instance size minus its own fields (MAT 1.6). A dump can state any size, so all invented fields
 * together are limited to a few bytes for each byte of class records.
 */
static hdx_code invent_supers(maker *m, hdx_error *err)
{
    const hdx_reading *in = m->in;
    uint64_t           place, left = SUPER_BYTES + 4 * in->dump->scan.class_bytes;
    hdx_code           code;
    for (uint64_t i = 0; i < m->count; i++) {
        if (m->at[i].super_address == 0)
            continue;
        if (m->at[i].super == HDX_NO_CLASS &&
            (code = use_of(m, m->at[i].super_address, &m->at[i].super, err)) != HDX_OK)
            return code;
        if (m->places[m->at[i].super] != HDX_NO_CLASS)
            continue;
        const hdx_class c = m->at[i];
        const uint64_t  own = hdx_class_own_bytes(&c, in->dump->survey.head.id_size),
                       said = c.stated_size > own ? c.stated_size - own : 0, rest = said < left ? said : left;
        left -= rest;
        if ((code = invent(m, &c.super_address, "unknown-class-%llu", m->unknown++, rest, &place, err)) != HDX_OK ||
            (code = hdx_work_damage(in->w, HDX_DAMAGE_MISSING, 0, "CLASS_DUMP", 0, err,
                                    "superclass 0x%llx of %.*s has no CLASS_DUMP", (unsigned long long)c.super_address,
                                    (int)(c.name.len > 50 ? 50 : c.name.len), c.name.at)) != HDX_OK)
            return code;
    }
    return HDX_OK;
}

/* ---- flat arrays ---- */
/* Limits for the class of flat elements: length of its superclass chain, and bytes of all fields together. */
#define CHAIN_MOST   64u
#define ELEMENT_MOST 1024u

/*
 * Returns the bytes of a flat element: all fields of its class and its superclasses, as in a record of an instance,
 * with the fields of flat fields in place of those (INLINED_FIELDS). 0: a class has no record, or there are too many: a
 * dump may name a million classes with the same superclasses.
 */
static uint32_t flat_element_bytes(const maker *m, uint32_t place)
{
    const uint32_t id_size = m->in->dump->survey.head.id_size;
    uint64_t       bytes = 0;
    for (unsigned depth = 0; place < m->count && depth < CHAIN_MOST; depth++) {
        const hdx_class *c = &m->at[place];
        if (c->field_count > ELEMENT_MOST || (bytes += hdx_class_own_bytes(c, id_size)) > ELEMENT_MOST)
            return 0;
        if (c->super_address == 0)
            return (uint32_t)bytes;
        place = c->super == HDX_NO_CLASS ? HDX_NO_CLASS : m->places[c->super];
    }
    return 0;
}

/*
 * "app.Point[]" for app.Point, up to HDX_NAME_LONG. Not for "int", which is also a class name on Android: "int[]" would
 * be another class.
 */
static bool flat_name(const hdx_class *element, char name[HDX_NAME_LONG + 2], hdx_text *out)
{
    if (element->kind != HDX_INSTANCE || element->name.len > HDX_NAME_LONG)
        return false;
    memcpy(name, element->name.at, element->name.len);
    memcpy(name + element->name.len, "[]", 2);
    *out = (hdx_text){ name, element->name.len + 2 };
    return hdx_name_element_type(*out) == 2;
}

static uint32_t place_of(const maker *m, hdx_addr addr)
{
    const uint64_t *use = hdx_map_get(&m->in->dump->scan.by_class, addr);
    return use == NULL ? HDX_NO_CLASS : m->places[*use];
}

static uint64_t name_key(hdx_text name, hdx_addr loader)
{
    return hdx_mix64(hdx_hash_bytes(0, name.at, name.len) ^ hdx_mix64(loader));
}

/*
 * Finds the classes of the dump for flat arrays: those with the same name and loader, or with an unknown loader, as
 * older JVMs write array classes. A class with objects of its own is not changed: a JVM has one class for flat arrays
 * and another for arrays of references, with the same name.
 */
static bool find_flat_classes(maker *m)
{
    hdx_scan_result *r = &m->in->dump->scan;
    hdx_map          wanted = hdx_map_of(&m->in->w->mem); /* name_key -> index in flats.classes */
    char             name[HDX_NAME_LONG + 2];
    hdx_text         text;
    bool             fresh, memory = true;
    for (unsigned any_loader = 0; any_loader < 2 && memory; any_loader++) {
        hdx_map_free(&wanted);
        wanted = hdx_map_of(&m->in->w->mem);
        for (uint64_t i = 0; i < r->flats.classes.count && memory; i++) {
            const hdx_flat_class *f = &r->flats.classes.at[i];
            if (f->arrays == 0 || f->class != HDX_NO_CLASS)
                continue;
            const hdx_class *element = &m->at[place_of(m, f->element_class)];
            (void)flat_name(element, name, &text);
            uint64_t *place = hdx_map_put(&wanted, name_key(text, any_loader ? 0 : element->loader), &fresh);
            if ((memory = place != NULL) && fresh)
                *place = i;
        }
        for (uint32_t i = 0; i < m->count && memory; i++) {
            const hdx_class *c = &m->at[i];
            const uint64_t  *use = hdx_map_get(&r->by_class, c->address), *place;
            if (c->kind != HDX_OBJECT_ARRAY || c->name.len > sizeof name || use == NULL ||
                r->uses.at[*use].instances + r->uses.at[*use].arrays > 0 ||
                (place = hdx_map_get(&wanted, name_key(c->name, c->loader))) == NULL)
                continue;
            hdx_flat_class *f = &r->flats.classes.at[*place];
            (void)flat_name(&m->at[place_of(m, f->element_class)], name, &text);
            if (f->class == HDX_NO_CLASS && text.len == c->name.len && memcmp(text.at, c->name.at, text.len) == 0)
                f->class = i;
        }
    }
    hdx_map_free(&wanted);
    return memory;
}

/* Runs before other classes are invented: if all byte[] are flat arrays, no class is needed for byte[]. */
static hdx_code make_flat_classes(maker *m, hdx_error *err)
{
    hdx_scan_result *r = &m->in->dump->scan;
    char             name[HDX_NAME_LONG + 2];
    hdx_text         text;
    for (uint64_t i = 0; i < r->flats.classes.count; i++) {
        hdx_flat_class *f = &r->flats.classes.at[i];
        const uint32_t  place = place_of(m, f->element_class);
        if (place < m->count && flat_name(&m->at[place], name, &text))
            f->element_bytes = flat_element_bytes(m, place);
    }
    hdx_flat_arrays_count(m->in);
    if (r->flats.classes.count > 0 && !find_flat_classes(m))
        return no_memory(err);
    for (uint64_t i = 0; i < r->flats.classes.count; i++) {
        hdx_flat_class *f = &r->flats.classes.at[i];
        uint64_t        place = f->class;
        hdx_code        code;
        if (f->arrays == 0)
            continue;
        if (f->class == HDX_NO_CLASS) {
            const hdx_class *element = &m->at[place_of(m, f->element_class)];
            const hdx_addr   loader = element->loader;
            (void)flat_name(element, name, &text);
            if ((code = invent(m, NULL, "unknown-class-%llu[]", 0, 0, &place, err)) != HDX_OK)
                return code;
            if ((m->at[place].name.at = hdx_arena_copy(&m->in->t->texts, text.at, text.len)) == NULL)
                return no_memory(err);
            m->at[place].name.len = text.len;
            m->at[place].loader = loader;
        }
        f->class = (uint32_t)place;
        hdx_class *c = &m->at[place];
        c->kind = HDX_PRIMITIVE_ARRAY;
        c->element_type = 8;
        c->flags |= HDX_CLASS_FLAT;
        c->stated_size = f->element_bytes;
        hdx_class_use *use = &r->uses.at[*hdx_map_get(&r->by_class, c->address)];
        use->addr = c->address;
        use->arrays = f->arrays;
        memcpy(use->array_bytes, f->array_bytes, sizeof use->array_bytes);
    }
    return HDX_OK;
}

static hdx_code invent_missing(maker *m, hdx_error *err)
{
    static const uint8_t   types[] = { 4, 5, 6, 7, 8, 9, 10, 11 };
    const hdx_scan_result *r = &m->in->dump->scan;
    hdx_pair              *unknown = NULL;
    uint64_t               place, count = 0, capacity = 0;
    hdx_code               code;
    if (m->named[NAMED_CLASS] == UINT64_MAX && (code = invent(m, NULL, "java.lang.Class", 0, 0, &place, err)) != HDX_OK)
        return code;
    if (m->named[NAMED_LOADER] == UINT64_MAX &&
        (code = invent(m, NULL, "java.lang.ClassLoader", 0, 0, &place, err)) != HDX_OK)
        return code;
    if ((code = unknown_uses(m, &unknown, &count, &capacity, err)) == HDX_OK)
        code = invent_arrays(m, unknown, count, err);
    for (size_t i = 0; i < sizeof types && code == HDX_OK;
         i++) { /* classes of primitive arrays: found by name (HPROF 3.8) */
        if (r->sizes.primitive_arrays[types[i]] == 0)
            continue;
        place = m->named[NAMED_ARRAY(types[i])];
        if (place == UINT64_MAX && (code = invent(m, NULL, named[NAMED_ARRAY(types[i])], 0, 0, &place, err)) != HDX_OK)
            break;
        m->at[place].kind = HDX_PRIMITIVE_ARRAY;
        m->at[place].element_type = types[i];
    }
    if (code == HDX_OK)
        code = invent_instances(m, unknown, count, err);
    hdx_mem_put(&m->in->w->mem, unknown, capacity * sizeof *unknown);
    return code == HDX_OK ? invent_supers(m, err) : code;
}

/*
 * The first class with the name of a primitive array becomes its `primitive_class`; instances are counted, because
 * numbers follow their order.
 */
static void count_instances(maker *m)
{
    hdx_scan_result *r = &m->in->dump->scan;
    for (uint64_t i = 0; i < r->uses.count; i++) {
        m->in->t->lookup.elements += r->uses.at[i].elements;
        if (i + AHEAD < r->uses.count && m->places[i + AHEAD] != HDX_NO_CLASS)
            __builtin_prefetch(&m->at[m->places[i + AHEAD]].instances, 1);
        if (m->places[i] == HDX_NO_CLASS)
            continue;
        hdx_class *c = &m->at[m->places[i]];
        c->instances += r->uses.at[i].instances + r->uses.at[i].arrays;
        uint32_t *longest = &m->longest[m->places[i]];
        *longest = r->uses.at[i].most_bytes > *longest ? r->uses.at[i].most_bytes : *longest;
        c->flags |= r->uses.at[i].arrays > 0 && c->kind != HDX_OBJECT_ARRAY && (c->flags & HDX_CLASS_FLAT) == 0
                        ? HDX_CLASS_OF_ARRAYS
                        : 0;
    }
    for (uint8_t t = 4; t <= 11; t++) {
        const uint64_t p = m->named[NAMED_ARRAY(t)];
        if (p != UINT64_MAX)
            m->at[p].instances += r->sizes.primitive_arrays[t];
    }
    m->at[m->named[NAMED_CLASS]].instances += m->count;
    m->at[m->named[NAMED_LOADER]].instances += 1; /* object 0 */
}

/* Indices by descending instance count, then address. NULL: no memory. */
static uint32_t *order_of(const maker *m)
{
    hdx_mem  *mem = &m->in->w->mem;
    hdx_pair *pairs = hdx_mem_array(mem, m->count, sizeof *pairs);
    uint32_t *order = hdx_mem_array(mem, m->count, sizeof *order),
             *ranked = hdx_mem_array(mem, m->count, sizeof *ranked);
    if (pairs != NULL && order != NULL && ranked != NULL) {
        for (uint64_t i = 0; i < m->count; i++)
            pairs[i] = (hdx_pair){ m->at[i].address, i };
        hdx_sort_pairs(mem, pairs, m->count);
        for (uint64_t i = 0; i < m->count; i++) {
            if (i + AHEAD < m->count)
                __builtin_prefetch(&m->at[pairs[i + AHEAD].second].instances);
            ranked[i] = (uint32_t)pairs[i].second;
            pairs[i] = (hdx_pair){ UINT64_MAX - m->at[ranked[i]].instances, i };
        }
        hdx_sort_pairs(mem, pairs, m->count);
        for (uint64_t i = 0; i < m->count; i++)
            order[i] = ranked[pairs[i].second];
    } else {
        hdx_mem_put(mem, order, m->count * sizeof *order);
        order = NULL;
    }
    hdx_mem_put(mem, ranked, m->count * sizeof *ranked);
    hdx_mem_put(mem, pairs, m->count * sizeof *pairs);
    return order;
}

/* Moves the class at order[i] to index i; each is moved once. */
static void put_in_order(hdx_class *at, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const hdx_class first = at[i];
        uint32_t        to = i, from;
        while ((from = order[to]) != i) {
            hdx_lines_ahead(&at[order[from]], sizeof *at);
            at[to] = at[from];
            order[to] = to;
            to = from;
        }
        at[to] = first;
        order[to] = to;
        at[i].number = i;
        assert(i == 0 || at[i - 1].instances >= at[i].instances); /* T3 */
    }
}

/* Replaces indices by numbers: superclasses, the map of addresses, classes looked up by name. */
static void set_numbers(maker *m, const uint32_t *number)
{
    const hdx_reading *in = m->in;
    hdx_map           *map = &in->dump->scan.by_class;
    for (uint64_t i = 0; i < m->count; i++)
        m->at[i].super = m->at[i].super_address == 0 ? HDX_NO_CLASS : number[m->places[m->at[i].super]];
    for (uint64_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key != map->empty) {
            const uint32_t place = m->places[map->slots[i].value];
            map->slots[i].value = place == HDX_NO_CLASS ? HDX_NO_CLASS : number[place];
        }
    if (map->has_own)
        map->own = m->places[map->own] == HDX_NO_CLASS ? HDX_NO_CLASS : number[m->places[map->own]];
    in->t->lookup.by_address = *map;
    *map = hdx_map_of(&in->w->mem);
    hdx_scan_flats *flats = &in->dump->scan.flats;
    for (uint64_t i = 0; i <= flats->arrays.capacity; i++) {
        uint64_t *array = hdx_flat_slot(&flats->arrays, i);
        if (array != NULL)
            *array = (uint32_t)*array == HDX_FLAT_NONE ? HDX_NO_CLASS : number[flats->classes.at[*array >> 32].class];
    }
    in->t->lookup.flat_arrays = flats->arrays;
    flats->arrays = hdx_map_of(&in->w->mem);
    in->t->class_class = number[m->named[NAMED_CLASS]];
    in->t->loader_class = number[m->named[NAMED_LOADER]];
    for (uint8_t t = 4; t <= 11; t++) {
        const uint64_t p = m->named[NAMED_ARRAY(t)];
        in->t->lookup.primitive_class[t] = p == UINT64_MAX ? HDX_NO_CLASS : number[p];
    }
}

static hdx_code number_classes(maker *m, hdx_error *err)
{
    const hdx_reading *in = m->in;
    hdx_mem           *mem = &in->w->mem;
    uint32_t          *order = order_of(m), *number = hdx_mem_array(mem, m->count, sizeof *number); /* by index */
    uint32_t          *ranked = hdx_mem_array(mem, m->count, sizeof *ranked);
    if (order != NULL && number != NULL && ranked != NULL) {
        for (uint64_t i = 0; i < m->count; i++)
            number[order[i]] = (uint32_t)i;
        set_numbers(m, number);
        for (uint64_t i = 0; i < m->count; i++)
            ranked[i] = m->longest[order[i]];
        memcpy(m->longest, ranked, m->count * sizeof *ranked);
        put_in_order(m->at, order, (uint32_t)m->count);
        if ((in->t->classes = hdx_mem_resize(mem, m->at, m->capacity * sizeof *m->at, m->count * sizeof *m->at)) !=
            NULL) {
            m->at = NULL;
            in->t->class_count = (uint32_t)m->count;
            assert(in->t->class_class < in->t->class_count && in->t->loader_class < in->t->class_count); /* T2 */
        }
    }
    hdx_mem_put(mem, ranked, m->count * sizeof *ranked);
    hdx_mem_put(mem, number, m->count * sizeof *number);
    hdx_mem_put(mem, order, m->count * sizeof *order);
    return in->t->classes == NULL ? no_memory(err) : HDX_OK;
}

hdx_code hdx_classes_find_objects(hdx_dump_tables *t, hdx_error *err)
{
    if (!hdx_map_reserve(&t->class_objects, t->class_count))
        return no_memory(err);
    for (uint32_t i = 0; i < t->class_count; i++) {
        if (i + AHEAD < t->class_count)
            hdx_map_ahead(&t->class_objects, t->classes[i + AHEAD].id);
        uint64_t *slot = hdx_map_put(&t->class_objects, t->classes[i].id, NULL);
        if (slot == NULL)
            return no_memory(err);
        *slot = i;
    }
    return t->class_objects.count == t->class_count /* T5; a catalog is not trusted */
               ? HDX_OK
               : hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "%u classes of %llu objects", t->class_count,
                          (unsigned long long)t->class_objects.count);
}

static hdx_code do_numbers(void *context, hdx_error *err)
{
    maker             *m = context;
    const hdx_reading *in = m->in;
    if ((m->longest = hdx_mem_array(&in->w->mem, m->count, sizeof *m->longest)) == NULL)
        return no_memory(err);
    count_instances(m);
    const hdx_code code = number_classes(m, err);
    if (!in->dump->counting && in->w->options->first_pass == NULL) /* otherwise counts.c needs them */
        hdx_scan_classes_free(&in->w->mem, &in->dump->scan);
    return code;
}

static hdx_code do_ids(void *context, hdx_error *err)
{
    const hdx_reading *in = ((maker *)context)->in;
    bool               fresh;
    const hdx_code     code =
        hdx_addresses_insert_one(in->t->lookup.ids, 0, &fresh, err); /* the boot class loader (MAT 1.2) */
    return code == HDX_OK ? hdx_addresses_freeze(in->t->lookup.ids, err) : code;
}

static hdx_code do_layouts(void *context, hdx_error *err)
{
    const maker *m = context;
    return hdx_classes_lay_out(m->in, m->longest, err);
}

static hdx_code do_class_objects(void *context, hdx_error *err)
{
    const hdx_reading *in = ((maker *)context)->in;
    for (uint32_t i = 0; i < in->t->class_count; i++)
        in->t->classes[i].id = hdx_addresses_find(in->t->lookup.ids, in->t->classes[i].address);
    return hdx_classes_find_objects(in->t, err);
}

hdx_code hdx_classes_resolve(const hdx_reading *in, hdx_error *err)
{
    enum { NUMBERS, IDS, LAYOUTS, CLASS_OBJECTS, TASKS };
    maker          m = { .in = in };
    const hdx_task all[TASKS] = {
        [NUMBERS] = { do_numbers, &m, 0 },
        [IDS] = { do_ids, &m, 0 },
        [LAYOUTS] = { do_layouts, &m, 1u << NUMBERS },
        [CLASS_OBJECTS] = { do_class_objects, &m, 1u << NUMBERS | 1u << IDS },
    };
    hdx_code code = check_loads(&m, err);
    memset(m.named, 0xff, sizeof m.named);
    if (code == HDX_OK)
        code = read_classes(&m, err);
    if (code == HDX_OK)
        code = make_flat_classes(&m, err);
    if (code == HDX_OK)
        code = invent_missing(&m, err);
    if (code == HDX_OK && (code = hdx_run_tasks(in->w->threads, all, TASKS, err)) == HDX_OK)
        in->t->objects = hdx_addresses_count(in->t->lookup.ids);
    assert(code != HDX_OK || in->t->objects > in->t->class_count); /* T1, T5 */
    hdx_mem_put(&in->w->mem, m.longest, m.count * sizeof *m.longest);
    hdx_list_free(&in->w->mem, HDX_LIST_REF(&m));
    hdx_mem_put(&in->w->mem, m.missing, in->dump->scan.classes.count * sizeof *m.missing);
    hdx_mem_put(&in->w->mem, m.places, m.place_capacity * sizeof *m.places);
    return code;
}
