/*
 * little_index.h - a small heap twice: as a dump (dump_maker), and as an index written by hand with the slow obvious
 * way to everything.
 *
 * It shares no code with the rooms that build an index, so that tests of the graph say what an index means, not what a
 * builder made. At most LITTLE_MAX objects; what goes wrong aborts the test.
 */
#ifndef TESTS_GRAPH_LITTLE_INDEX_H
#define TESTS_GRAPH_LITTLE_INDEX_H

#include "catalog/catalog.h"
#include "indexes/indexes.h"
#include "model/model.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/graph.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#define LITTLE_MAX 256u

typedef struct little_thing {
    uint64_t addr, class_addr, mark; /* mark: where its record begins in the heap part of the dump; UINT64_MAX: none */
    hdx_object_kind kind;
    uint64_t        length;
    uint64_t        refs[80]; /* addresses, as they stand in the object */
    unsigned        ref_count;
    /* classes */
    char      name[80];
    uint64_t  super;
    hdx_field fields[16], statics[16];
    uint32_t  field_count, static_count;
    uint32_t  number;
} little_thing;

struct little_writer;
typedef struct little {
    /*
     * NULL, or called before each file is written, with its numbers where it is one of numbers, and at last before the
     * catalog, as HDX_KINDS: tests of hdx_graph_verify.
     */
    void (*lie)(struct little_writer *w, hdx_kind next, uint64_t *values, uint64_t n);
    dump_maker  *m;
    little_thing at[LITTLE_MAX];
    unsigned     count;
    hdx_root     roots[64]; /* object and thread hold addresses until the index is written */
    unsigned     root_count;
    hdx_thread   threads[4]; /* by address; object holds it until the index is written */
    unsigned     thread_count;
    uint64_t     object, class, loader, bytes, chars, ints, objects; /* classes that every heap has */
    hdx_field    statics[16];
    uint64_t     static_refs[16];
    uint32_t     static_count, static_ref_count;
    char         folder[TEST_FOLDER], dump[96], index[96];
    hdx_graph   *g;
} little;

static inline little_thing *little_add(little *l, uint64_t addr, uint64_t class_addr, hdx_object_kind kind)
{
    cr_assert(l->count < LITTLE_MAX);
    little_thing *t = &l->at[l->count++];
    *t = (little_thing){ .addr = addr, .class_addr = class_addr, .kind = kind };
    return t;
}

static inline little_thing *little_of(little *l, uint64_t addr)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->at[i].addr == addr)
            return &l->at[i];
    return NULL;
}

static inline void little_ref(little *l, little_thing *t, uint64_t to)
{
    (void)l;
    cr_assert(t->ref_count < sizeof t->refs / sizeof *t->refs);
    t->refs[t->ref_count++] = to;
}

static inline uint8_t little_type(char letter)
{
    static const char letters[] = "__L_ZCFDBSIJ";
    return (uint8_t)(strchr(letters, letter) - letters);
}

static inline void little_static(little *l, const char *name, char type, uint64_t value)
{
    dump_maker_static(l->m, name, type, value);
    l->statics[l->static_count++] = (hdx_field){ { name, (uint32_t)strlen(name) }, little_type(type) };
    if (type == 'L')
        l->static_refs[l->static_ref_count++] = value;
}

/* fields: "next:L count:I"; kept by the caller. */
static inline uint64_t little_class(little *l, const char *name, uint64_t super, const char *fields)
{
    uint64_t      mark = dump_maker_mark(l->m);
    uint64_t      addr = dump_maker_class(l->m, name, super, fields);
    little_thing *t = little_add(l, addr, l->class, HDX_CLASS_OBJECT);
    t->mark = mark;
    t->super = super;
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    for (const char *f = fields; *f != '\0';) {
        size_t len = strcspn(f, ":");
        t->fields[t->field_count++] = (hdx_field){ { f, (uint32_t)len }, little_type(f[len + 1]) };
        f += len + 2;
        f += *f == ' ';
    }
    memcpy(t->statics, l->statics, sizeof l->statics);
    t->static_count = l->static_count;
    for (uint32_t i = 0; i < l->static_ref_count; i++)
        little_ref(l, t, l->static_refs[i]);
    l->static_count = l->static_ref_count = 0;
    if (super != 0)
        little_ref(l, t, super);
    little_ref(l, t, 0); /* the boot loader, object 0 */
    return addr;
}

static inline little *little_new_of(uint32_t id_size)
{
    little *l = calloc(1, sizeof *l);
    l->m = dump_maker_new(id_size);
    l->m->next_id = 0x1000;
    l->object = little_class(l, "java.lang.Object", 0, "");
    l->class = little_class(l, "java.lang.Class", l->object, "name:L");
    for (unsigned i = 0; i < l->count; i++)
        l->at[i].class_addr = l->class;
    l->loader = little_class(l, "java.lang.ClassLoader", l->object, "parent:L");
    l->bytes = little_class(l, "byte[]", l->object, "");
    l->chars = little_class(l, "char[]", l->object, "");
    l->ints = little_class(l, "int[]", l->object, "");
    l->objects = little_class(l, "java.lang.Object[]", l->object, "");
    little_thing *boot = little_add(l, 0, l->loader, HDX_INSTANCE);
    boot->mark = UINT64_MAX;
    return l;
}
static inline little *little_new(void) { return little_new_of(8); }

static inline uint64_t little_instance(little *l, uint64_t class_addr, const uint64_t *values)
{
    uint64_t      mark = dump_maker_mark(l->m), n = 0;
    uint64_t      addr = dump_maker_instance(l->m, class_addr, values);
    little_thing *t = little_add(l, addr, class_addr, HDX_INSTANCE);
    t->mark = mark;
    for (little_thing *c = little_of(l, class_addr); c != NULL && c->addr != 0; c = little_of(l, c->super))
        for (uint32_t f = 0; f < c->field_count; f++, n++)
            if (c->fields[f].type == 2 && values != NULL && values[n] != 0)
                little_ref(l, t, values[n]);
    return addr;
}

static inline uint64_t little_array(little *l, uint64_t class_addr, const uint64_t *refs, uint32_t count)
{
    uint64_t mark = dump_maker_mark(l->m),
             addr = l->m->next_id; /* every object 32 after the one before: those to come are known */
    l->m->next_id += 32;
    (void)dump_maker_array_at(l->m, addr, class_addr, refs, count);
    little_thing *t = little_add(l, addr, class_addr, HDX_OBJECT_ARRAY);
    t->mark = mark;
    t->length = count;
    for (uint32_t i = 0; i < count; i++)
        if (refs[i] != 0)
            little_ref(l, t, refs[i]);
    return addr;
}

static inline uint64_t little_primitives(little *l, char type, const uint64_t *values, uint32_t count)
{
    uint64_t      mark = dump_maker_mark(l->m), addr = dump_maker_primitives(l->m, type, values, count);
    little_thing *t = little_add(l, addr,
                                 type == 'B'   ? l->bytes
                                 : type == 'C' ? l->chars
                                               : l->ints,
                                 HDX_PRIMITIVE_ARRAY);
    t->mark = mark;
    t->length = count;
    return addr;
}

static inline uint64_t little_text(little *l, char type, const char *text)
{
    uint64_t values[2048];
    uint32_t n = (uint32_t)strlen(text);
    for (uint32_t i = 0; i < n; i++)
        values[i] = (uint8_t)text[i];
    return little_primitives(l, type, values, n);
}

/* thread: address of the thread whose local it is; 0: a GC root. */
static inline void little_root(little *l, hdx_root_type type, uint64_t object, uint64_t thread)
{
    l->roots[l->root_count++] = (hdx_root){ object, type, thread, -1 };
    if (thread != 0)
        little_ref(l, little_of(l, thread), object);
}

/* ---- the index ---- */

typedef struct little_lists {
    uint64_t *first, *to, *key, keys, values;
} little_lists;

static inline hdx_code little_fill(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    (void)err;
    memcpy(values, (const uint64_t *)context + first, n * sizeof *values);
    return HDX_OK;
}

static inline hdx_code little_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    const little_lists *l = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        degrees[i] = l->first[first + i + 1] - l->first[first + i];
    return HDX_OK;
}

static inline hdx_code little_values(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys,
                                     hdx_error *err)
{
    const little_lists *l = context;
    (void)err;
    memcpy(values, l->to + first, n * sizeof *values);
    memcpy(keys, l->key + first, n * sizeof *keys);
    return HDX_OK;
}

typedef struct little_writer {
    little         *l;
    hdx_index_place place;
    hdx_manifest    m;
    unsigned        n;
    hdx_sizing      sizing;
    bool            edge[LITTLE_MAX][LITTLE_MAX]; /* without the class */
    unsigned        class_of[LITTLE_MAX];         /* object of the class */
    bool            root[LITTLE_MAX], live[LITTLE_MAX];
    hdx_class      *classes; /* by number */
    uint64_t        shallow[LITTLE_MAX], retained[LITTLE_MAX], dominator[LITTLE_MAX], nearest[LITTLE_MAX];
} little_writer;

static inline void little_put_ints(little_writer *w, hdx_kind kind, const uint64_t *values, uint64_t n)
{
    hdx_error      err;
    hdx_index_file file;
    if (w->l->lie != NULL)
        w->l->lie(w, kind, (uint64_t *)(uintptr_t)values, n);
    hdx_code code = hdx_ints_write(&w->place, kind, n, little_fill, (void *)(uintptr_t)values, &file, &err);
    cr_assert(eq(int, code, HDX_OK), "%s", err.message);
    (void)snprintf(w->m.files[kind].name, sizeof w->m.files[kind].name, "%s", hdx_kind_name(kind));
    w->m.files[kind].bytes = file.bytes;
    w->m.files[kind].sum = file.sum;
}

static inline void little_put_lists(little_writer *w, hdx_kind kind, uint64_t keys,
                                    bool (*in)(little_writer *w, uint64_t key, unsigned to))
{
    little_lists   l = { calloc(keys + 1, 8), calloc(LITTLE_MAX * LITTLE_MAX, 8), calloc(LITTLE_MAX * LITTLE_MAX, 8),
                         keys, 0 };
    hdx_error      err;
    hdx_index_file file;
    if (w->l->lie != NULL)
        w->l->lie(w, kind, NULL, 0);
    for (uint64_t k = 0; k < keys; k++) {
        for (unsigned i = 0; i < w->n; i++)
            if (in(w, k, i)) {
                l.key[l.values] = k;
                l.to[l.values++] = i;
            }
        l.first[k + 1] = l.values;
    }
    hdx_code code = hdx_one_to_n_write(&w->place, kind, keys, l.values, little_degrees, little_values, &l, &file, &err);
    cr_assert(eq(int, code, HDX_OK), "%s", err.message);
    (void)snprintf(w->m.files[kind].name, sizeof w->m.files[kind].name, "%s", hdx_kind_name(kind));
    w->m.files[kind].bytes = file.bytes;
    w->m.files[kind].sum = file.sum;
    free(l.first);
    free(l.to);
    free(l.key);
}

static inline uint64_t little_put_ranks(little_writer *w, hdx_kind kind, const bool *members)
{
    uint64_t       words[LITTLE_MAX / 64] = { 0 }, count = 0;
    hdx_error      err;
    hdx_index_file file;
    for (unsigned i = 0; i < w->n; i++)
        if (members[i]) {
            hdx_bits_put(words, i);
            count++;
        }
    hdx_code code = hdx_ranks_write(&w->place, kind, w->n, words, &file, &err);
    cr_assert(eq(int, code, HDX_OK), "%s", err.message);
    (void)snprintf(w->m.files[kind].name, sizeof w->m.files[kind].name, "%s", hdx_kind_name(kind));
    w->m.files[kind].bytes = file.bytes;
    w->m.files[kind].sum = file.sum;
    return count;
}

static inline int little_by_address(const void *a, const void *b)
{
    const little_thing *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static inline unsigned little_id(const little *l, uint64_t addr)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->at[i].addr == addr)
            return i;
    return UINT32_MAX;
}

/* Marks what is reached from the roots without going through `without`; steps, where given, gets the distance. */
static inline void little_mark(const little_writer *w, unsigned without, bool *seen, unsigned *steps, uint64_t *parent)
{
    unsigned queue[LITTLE_MAX], head = 0, tail = 0;
    memset(seen, 0, LITTLE_MAX * sizeof *seen);
    for (unsigned i = 0; i < w->n; i++)
        if (w->root[i] && i != without) {
            seen[i] = true;
            queue[tail++] = i;
            if (steps != NULL) {
                steps[i] = 0;
                parent[i] = 1;
            }
        }
    while (head < tail) {
        unsigned from = queue[head++];
        for (unsigned to = 0; to < w->n; to++)
            if ((w->edge[from][to] || w->class_of[from] == to) && !seen[to] && to != without) {
                seen[to] = true;
                queue[tail++] = to;
                if (steps != NULL) {
                    steps[to] = steps[from] + 1;
                    parent[to] = from + 2;
                }
            }
    }
}

/* d dominates v when v is not reached without d; the immediate dominator is the one that all others dominate. */
static inline void little_dominators(little_writer *w)
{
    static bool without[LITTLE_MAX][LITTLE_MAX];
    unsigned    steps[LITTLE_MAX];
    little_mark(w, UINT32_MAX, w->live, steps, w->nearest);
    for (unsigned d = 0; d < w->n; d++)
        little_mark(w, d, without[d], NULL, NULL);
    for (unsigned v = 0; v < w->n; v++) {
        unsigned best = UINT32_MAX, most = 0;
        if (!w->live[v])
            continue;
        for (unsigned d = 0; d < w->n; d++) {
            unsigned above = 0;
            if (d == v || !w->live[d] || without[d][v] || w->root[v])
                continue;
            for (unsigned e = 0; e < w->n; e++)
                above += w->live[e] && !without[e][d];
            if (best == UINT32_MAX || above > most) {
                best = d;
                most = above;
            }
        }
        w->dominator[v] = best == UINT32_MAX ? 1 : best + 2;
    }
    for (unsigned v = 0; v < w->n; v++)
        for (unsigned u = 0; w->live[v] && u < w->n; u++)
            if (w->live[u] && (u == v || (!without[v][u] && !w->root[u])))
                w->retained[v] += w->shallow[u];
}

static inline bool little_in_outbound(little_writer *w, uint64_t key, unsigned to) { return w->edge[key][to]; }
static inline bool little_in_inbound(little_writer *w, uint64_t key, unsigned to) { return w->edge[to][key]; }
static inline bool little_in_instances(little_writer *w, uint64_t key, unsigned to)
{
    return w->l->at[w->class_of[to]].number == key;
}

static bool        little_special[LITTLE_MAX];
static uint64_t    little_above[LITTLE_MAX + 1]; /* dominator value of each key of `dominated` */
static inline bool little_in_dominated(little_writer *w, uint64_t key, unsigned to)
{
    return little_special[to] && w->dominator[to] != 0 && w->dominator[to] == little_above[key];
}

static inline void little_write_reach(little_writer *w)
{
    uint64_t specials[2][LITTLE_MAX], count = 0;
    bool     dominators[LITTLE_MAX] = { false };
    little_dominators(w);
    for (unsigned v = 0; v < w->n; v++) {
        unsigned in = 0;
        for (unsigned u = 0; u < w->n; u++)
            in += w->edge[u][v];
        little_special[v] = !w->live[v] || w->root[v] || in != 1 || w->l->at[v].kind == HDX_CLASS_OBJECT;
    }
    if (w->l->lie != NULL)
        w->l->lie(w, HDX_KIND_SPECIAL, NULL, 0);
    for (unsigned v = 0; v < w->n; v++) {
        if (!little_special[v])
            continue;
        specials[0][count] = w->dominator[v];
        specials[1][count++] = w->live[v] ? w->nearest[v] : 0;
        if (w->dominator[v] > 1)
            dominators[w->dominator[v] - 2] = true;
    }
    w->m.specials = little_put_ranks(w, HDX_KIND_SPECIAL, little_special);
    w->m.dominators = little_put_ranks(w, HDX_KIND_DOMINATORS, dominators);
    little_put_ints(w, HDX_KIND_DOMINATOR, specials[0], count);
    little_put_ints(w, HDX_KIND_NEAREST, specials[1], count);
    little_put_ints(w, HDX_KIND_RETAINED, w->retained, w->n);
    little_above[0] = 1;
    for (unsigned v = 0, k = 1; v < w->n; v++)
        if (dominators[v])
            little_above[k++] = v + 2;
    little_put_lists(w, HDX_KIND_DOMINATED, w->m.dominators + 1, little_in_dominated);
}

static inline void little_edges(little_writer *w)
{
    little *l = w->l;
    for (unsigned i = 0; i < w->n; i++) {
        w->class_of[i] = little_id(l, l->at[i].class_addr);
        for (unsigned r = 0; r < l->at[i].ref_count; r++) {
            unsigned to = little_id(l, l->at[i].refs[r]);
            if (to != UINT32_MAX && to != w->class_of[i])
                w->edge[i][to] = true;
        }
    }
    for (unsigned r = 0; r < l->root_count; r++) {
        hdx_root *root = &l->roots[r];
        root->object = little_id(l, root->object);
        root->thread = root->thread == 0 ? HDX_NO_ID : little_id(l, root->thread);
        if (root->thread == HDX_NO_ID)
            w->root[root->object] = true;
    }
}

/* Numbers by address; that they fall with the count of instances is a habit of the builder that no reader rests on. */
static inline uint32_t little_classes(little_writer *w, hdx_class *classes)
{
    uint32_t count = 0;
    little  *l = w->l;
    for (unsigned i = 0; i < w->n; i++)
        if (l->at[i].kind == HDX_CLASS_OBJECT)
            l->at[i].number = count++;
    for (unsigned i = 0; i < w->n; i++) {
        little_thing *t = &l->at[i];
        if (t->kind != HDX_CLASS_OBJECT)
            continue;
        hdx_text   name = { t->name, (uint32_t)strlen(t->name) };
        hdx_class *c = &classes[t->number];
        bool       array = hdx_name_is_array(name);
        *c = (hdx_class){ .name = name,
                          .address = t->addr,
                          .id = i,
                          .number = t->number,
                          .super = HDX_NO_CLASS,
                          .super_address = t->super,
                          .kind = !array                             ? HDX_INSTANCE
                                  : hdx_name_element_type(name) == 2 ? HDX_OBJECT_ARRAY
                                                                     : HDX_PRIMITIVE_ARRAY,
                          .element_type = array ? hdx_name_element_type(name) : 0,
                          .field_count = t->field_count,
                          .static_count = t->static_count,
                          .fields = t->fields,
                          .statics = t->statics };
        if (t->super != 0)
            c->super = little_of(l, t->super)->number;
    }
    cr_assert(hdx_model_sizes(&w->sizing, classes, count, NULL));
    for (unsigned i = 0; i < w->n; i++) {
        hdx_class *c = &classes[l->at[w->class_of[i]].number];
        w->shallow[i] = l->at[i].kind == HDX_CLASS_OBJECT   ? classes[l->at[i].number].class_shallow
                        : l->at[i].kind == HDX_OBJECT_ARRAY ? hdx_object_array_size(&w->sizing, l->at[i].length)
                        : l->at[i].kind == HDX_PRIMITIVE_ARRAY
                            ? hdx_primitive_array_size(&w->sizing, c->element_type, l->at[i].length)
                            : c->instance_size;
    }
    return count;
}

static inline void little_count(little_writer *w, hdx_class *classes)
{
    hdx_manifest *m = &w->m;
    for (unsigned i = 0; i < w->n; i++) {
        hdx_class *c = &classes[w->l->at[w->class_of[i]].number];
        c->instances++;
        c->bytes += w->shallow[i];
        m->gc_roots += w->root[i];
        if (!w->live[i]) {
            m->unreachable_objects++;
            m->unreachable_bytes += w->shallow[i];
            continue;
        }
        c->live_instances++;
        c->live_bytes += w->shallow[i];
        m->live_objects++;
        m->live_bytes += w->shallow[i];
        m->references++;
        for (unsigned to = 0; to < w->n; to++)
            m->references += w->edge[i][to];
    }
}

static inline void little_put_objects(little_writer *w, uint64_t heap_at)
{
    uint64_t       position[LITTLE_MAX], class[LITTLE_MAX], length[LITTLE_MAX];
    hdx_addresses *set;
    hdx_error      err;
    hdx_index_file file;
    cr_assert(eq(int, hdx_addresses_new(NULL, 8, &set, &err), HDX_OK));
    for (unsigned i = 0; i < w->n; i++) {
        bool          fresh;
        little_thing *t = &w->l->at[i];
        position[i] = t->mark == UINT64_MAX ? 0 : heap_at + t->mark + 1;
        class[i] = w->l->at[w->class_of[i]].number;
        length[i] = t->length;
        cr_assert(eq(int, hdx_addresses_insert_one(set, t->addr, &fresh, &err), HDX_OK));
    }
    cr_assert(eq(int, hdx_addresses_freeze(set, &err), HDX_OK));
    cr_assert(eq(int, hdx_addresses_write(&w->place, HDX_KIND_ADDRESS, set, &file, &err), HDX_OK));
    hdx_addresses_close(set);
    w->m.files[HDX_KIND_ADDRESS] = (hdx_manifest_file){ "address", file.bytes, file.sum };
    little_put_ints(w, HDX_KIND_POSITION, position, w->n);
    little_put_ints(w, HDX_KIND_CLASS, class, w->n);
    little_put_ints(w, HDX_KIND_SIZE, length, w->n);
}

static inline int little_by_object(const void *a, const void *b)
{
    const hdx_root *x = a, *y = b;
    return x->object != y->object ? (x->object < y->object ? -1 : 1) : (int)x->type - (int)y->type;
}

/* Writes dump and index. */
static inline void little_write(little *l)
{
    static little_writer w;
    static hdx_class     classes[LITTLE_MAX];
    hdx_error            err;
    hdx_catalog_writer  *c;
    size_t               size;
    test_folder_make_fast(l->folder, "graph");
    (void)snprintf(l->dump, sizeof l->dump, "%s/a.hprof", l->folder);
    (void)snprintf(l->index, sizeof l->index, "%s/a.hprof.hdx", l->folder);
    (void)dump_maker_bytes(l->m, &size);
    dump_maker_save(l->m, l->dump);
    cr_assert(hdx_io_system()->mkdir(hdx_io_system(), l->index) >= 0);
    qsort(l->at, l->count, sizeof *l->at, little_by_address);
    memset(&w, 0, sizeof w);
    memset(classes, 0, sizeof classes);
    w.l = l;
    w.n = l->count;
    w.classes = classes;
    w.sizing = (hdx_sizing){ l->m->id_size, 4, 8, false, 0 };
    w.place =
        (hdx_index_place){ .io = hdx_io_system(), .folder = l->index, .threads = 1, .identity = "little index 16" };
    w.m = (hdx_manifest){ .format = HDX_CATALOG_FORMAT,
                          .heapdex = "test",
                          .version = "1.0.2",
                          .id_size = l->m->id_size,
                          .dump_size = size,
                          .dump_number = 1,
                          .dumps_in_file = 1,
                          .reference_size = 4,
                          .alignment = 8,
                          .compressed_oops = true,
                          .objects = l->count,
                          .records = l->count - 1,
                          .roots = l->root_count,
                          .step = 4,
                          .file_count = HDX_KINDS,
                          .dump_name = "a.hprof",
                          .file_size = size };
    memcpy(w.m.identity, w.place.identity, sizeof w.m.identity);
    little_edges(&w);
    const uint32_t written = little_classes(&w, classes);
    w.m.classes = written;
    little_put_objects(&w, dump_maker_heap_at(l->m));
    little_put_lists(&w, HDX_KIND_OUTBOUND, w.n, little_in_outbound);
    little_put_lists(&w, HDX_KIND_INBOUND, w.n, little_in_inbound);
    little_put_lists(&w, HDX_KIND_INSTANCES, w.m.classes, little_in_instances);
    little_write_reach(&w);
    little_count(&w, classes);
    qsort(l->roots, l->root_count, sizeof *l->roots, little_by_object);
    for (unsigned i = 0; i < l->thread_count; i++)
        l->threads[i].object = little_id(l, l->threads[i].object);
    if (l->lie != NULL)
        l->lie(&w, HDX_KINDS, NULL, 0);
    cr_assert(eq(int, hdx_catalog_create(hdx_io_system(), l->index, NULL, &c, &err), HDX_OK));
    for (uint32_t i = 0; i < written; i++)
        cr_assert(eq(int, hdx_catalog_put_class(c, &classes[i], &err), HDX_OK));
    cr_assert(eq(int, hdx_catalog_put_roots(c, l->roots, l->root_count, &err), HDX_OK));
    cr_assert(eq(int, hdx_catalog_put_threads(c, l->threads, l->thread_count, &err), HDX_OK));
    cr_assert(eq(int, hdx_catalog_put_heaps(c, NULL, 0, &err), HDX_OK));
    cr_assert(eq(int, hdx_catalog_put_manifest(c, &w.m, &err), HDX_OK));
    cr_assert(eq(int, hdx_catalog_commit(c, &err), HDX_OK));
}

/* The same, and opens them. */
static inline void little_open(little *l)
{
    hdx_error err;
    little_write(l);
    hdx_code code = hdx_graph_open(l->index, l->dump, &l->g, &err);
    cr_assert(eq(int, code, HDX_OK), "%s: %s", err.where, err.message);
}

static inline void little_close(little *l)
{
    hdx_error err;
    if (l->g != NULL)
        cr_expect(eq(int, hdx_graph_check(l->g, &err), HDX_OK), "%s", err.message);
    hdx_graph_close(l->g);
    test_folder_remove(l->folder);
    dump_maker_free(l->m);
    free(l);
}

static inline hdx_id little_find(little *l, uint64_t addr)
{
    hdx_id id = HDX_NO_ID;
    cr_assert(hdx_graph_find(l->g, addr, &id), "0x%llx", (unsigned long long)addr);
    return id;
}

#endif
