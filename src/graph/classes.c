/*
 * classes.c - the table of classes, and the other lists of the catalog: roots, threads, Android heaps.
 *
 * In:  the catalog's lists, decoded on first use.
 * Out: classes by number, by object, by name; roots by object and by thread.
 * The catalog is not trusted: numbers and chains of superclasses are checked once, here (invariant G3).
 * Cost: O(classes * log classes) on the first use, and another sort when a name is first looked up. Tables are sorted,
 *       not hashed: a crafted dump could make all its names and ids collide in a hash table.
 */
#include "graph/inside.h"

#include <assert.h>
#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
    const hdx_class *x = *(const hdx_class *const *)a, *y = *(const hdx_class *const *)b;
    return hdx_order(x->id, y->id);
}

/* The catalog stores each name once, so classes with the same name point to the same text. */
static int by_place_of_name(const void *a, const void *b)
{
    const hdx_class *x = *(const hdx_class *const *)a, *y = *(const hdx_class *const *)b;
    const int        c = hdx_order((uintptr_t)x->name.at, (uintptr_t)y->name.at);
    return c != 0 ? c : hdx_order(x->address, y->address);
}

typedef struct named_classes {
    hdx_text name;
    uint32_t from, count; /* slice of the classes sorted by the address of their name */
} named_classes;

static int by_name(const void *a, const void *b)
{
    const named_classes *x = a, *y = b;
    const int            c = hdx_text_order(x->name, y->name);
    return c != 0 ? c : hdx_order(x->from, y->from);
}

/*
 * Sorts classes by name, then by address. Each distinct name is compared once, because thousands of classes may have
 * the same name. False: out of memory.
 */
static bool sort_by_name(const hdx_class **classes, uint32_t count)
{
    uint32_t         names = 0, n = 0;
    const hdx_class *last = NULL;
    named_classes   *named = hdx_mem_array(NULL, count, sizeof *named + sizeof *classes);
    if (named == NULL)
        return false;
    const hdx_class **placed = (const hdx_class **)(void *)(named + count);
    memcpy((void *)placed, (const void *)classes, count * sizeof *placed);
    qsort(placed, count, sizeof *placed, by_place_of_name);
    for (uint32_t i = 0; i < count; last = placed[i++]) {
        if (last == NULL || placed[i]->name.at != last->name.at)
            named[names++] = (named_classes){ placed[i]->name, i, 0 };
        named[names - 1].count++;
    }
    qsort(named, names, sizeof *named, by_name);
    for (uint32_t i = 0; i < names; i++)
        for (uint32_t k = 0; k < named[i].count; k++)
            classes[n++] = placed[named[i].from + k];
    assert(n == count); /* each class has one name */
    hdx_mem_put(NULL, named, count * (sizeof *named + sizeof *classes));
    return true;
}

/* Checks what the catalog has not: it has already checked numbers, superclasses, and that superclass chains end. */
static hdx_code check_classes(const hdx_graph *g, const hdx_class *classes, uint32_t count, hdx_error *err)
{
    if (count != g->m->classes)
        return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "%u classes; the manifest has %llu", count,
                        (unsigned long long)g->m->classes);
    for (uint32_t i = 0; i < count; i++) {
        const hdx_class *c = &classes[i];
        if (c->id >= g->objects || (unsigned)c->kind > HDX_PRIMITIVE_ARRAY ||
            (c->kind == HDX_PRIMITIVE_ARRAY && !hdx_type_is_primitive(c->element_type)) || !hdx_class_flat_holds(c))
            return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "class %u is invalid", i);
    }
    return HDX_OK;
}

static hdx_code load(hdx_graph *g, hdx_class_table **out, hdx_error *err)
{
    const hdx_class *classes;
    uint32_t         count;
    hdx_code         code;
    if ((code = hdx_catalog_classes(g->catalog, &classes, &count, err)) != HDX_OK ||
        (code = check_classes(g, classes, count, err)) != HDX_OK)
        return code;
    const hdx_class **ids = hdx_mem_array(NULL, count, HDX_CLASS_TABLE_BYTES);
    if (ids == NULL)
        return hdx_no_memory(err, "classes", count * HDX_CLASS_TABLE_BYTES);
    bool     flat = false;
    uint8_t *mirror = (uint8_t *)(ids + count), *rules = mirror + count, *references = rules + count;
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = &classes[i];
        mirror[i] = hdx_text_is(classes[i].name, "java.lang.Class");
        flat = flat || (classes[i].flags & HDX_CLASS_FLAT) != 0;
    }
    qsort(ids, count, sizeof *ids, by_id);
    g->class_table = (hdx_class_table){ classes, count, flat, ids, mirror, rules, references };
    *out = &g->class_table;
    return HDX_OK;
}

const hdx_class_table *hdx_graph_load_classes(hdx_graph *g)
{
    if (atomic_load(&g->classes_failed))
        return NULL;
    (void)pthread_mutex_lock(&g->lock);
    hdx_class_table *t = atomic_load(&g->classes);
    if (t == NULL) { /* after a failure, threads that waited for the lock try once more */
        hdx_error e = { .code = HDX_OK };
        if ((e.code = load(g, &t, &e)) == HDX_OK) {
            atomic_store_explicit(&g->classes, t, memory_order_release);
        } else {
            hdx_graph_note(g, &e);
            atomic_store(&g->classes_failed, true);
        }
    }
    (void)pthread_mutex_unlock(&g->lock);
    return t;
}

const hdx_class *hdx_graph_classes(hdx_graph *g, uint32_t *count)
{
    const hdx_class_table *t = hdx_graph_class_table(g);
    *count = t != NULL ? t->count : 0;
    return t != NULL ? t->at : NULL;
}

const hdx_class *hdx_graph_class(hdx_graph *g, uint32_t number)
{
    const hdx_class_table *t = hdx_graph_class_table(g);
    return t != NULL && number < t->count ? &t->at[number] : NULL;
}

static bool id_below(const void *by_id, uint64_t place, const void *wanted)
{
    return ((const hdx_class *const *)by_id)[place]->id < *(const hdx_id *)wanted;
}

const hdx_class *hdx_class_of_object(const hdx_class_table *t, hdx_id id)
{
    const uint64_t from = hdx_partition(t->by_id, 0, t->count, &id, id_below);
    assert(from == t->count || t->by_id[from]->number < t->count); /* G3 */
    return from < t->count && t->by_id[from]->id == id ? t->by_id[from] : NULL;
}

const hdx_class *hdx_graph_class_object(hdx_graph *g, hdx_id id)
{
    const hdx_class_table *t = hdx_graph_class_table(g);
    return t != NULL ? hdx_class_of_object(t, id) : NULL;
}

static const hdx_class **names(hdx_graph *g, const hdx_class_table *t)
{
    const hdx_class **sorted = atomic_load_explicit(&g->by_name, memory_order_acquire);
    if (sorted != NULL)
        return sorted;
    (void)pthread_mutex_lock(&g->lock);
    sorted = atomic_load(&g->by_name);
    if (sorted == NULL && (sorted = hdx_mem_array(NULL, t->count, sizeof *sorted)) != NULL) {
        memcpy((void *)sorted, (const void *)t->by_id, t->count * sizeof *sorted);
        if (sort_by_name(sorted, t->count)) {
            atomic_store_explicit(&g->by_name, sorted, memory_order_release);
        } else {
            hdx_mem_put(NULL, (void *)sorted, t->count * sizeof *sorted);
            sorted = NULL;
        }
    }
    (void)pthread_mutex_unlock(&g->lock);
    if (sorted == NULL) {
        hdx_error e;
        (void)hdx_no_memory(&e, "names of classes", t->count * sizeof *sorted);
        hdx_graph_note(g, &e);
    }
    return sorted;
}

static bool name_below(const void *by_name, uint64_t place, const void *wanted)
{
    return hdx_text_order(((const hdx_class *const *)by_name)[place]->name, *(const hdx_text *)wanted) < 0;
}

const hdx_class *hdx_graph_class_named(hdx_graph *g, const char *name)
{
    const hdx_class_table *t = hdx_graph_class_table(g);
    const hdx_class      **sorted = t != NULL ? names(g, t) : NULL;
    if (sorted == NULL)
        return NULL;
    const hdx_text wanted = { name, (uint32_t)strlen(name) };
    const uint64_t from = hdx_partition(sorted, 0, t->count, &wanted, name_below);
    return from < t->count && hdx_text_same(sorted[from]->name, wanted) ? sorted[from] : NULL;
}

hdx_code hdx_graph_class_label(hdx_graph *g, const hdx_class *c, hdx_text *out, hdx_error *err)
{
    enum { WORD = 6 }; /* "class " */
    const uint64_t len = WORD + (uint64_t)c->name.len;
    bool           fresh;
    (void)pthread_mutex_lock(&g->lock);
    uint64_t *place = len > UINT32_MAX ? NULL : hdx_map_put(&g->labelled, (uintptr_t)c->name.at, &fresh);
    if (place != NULL && *place == 0) { /* NULL also if memory ran out at an earlier call */
        char *text = hdx_arena_get(&g->labels, len);
        if (text != NULL) {
            memcpy(text, "class ", WORD);
            memcpy(text + WORD, c->name.at, c->name.len);
        }
        *place = (uintptr_t)text;
    }
    const char *label = place == NULL ? NULL : (const char *)(uintptr_t)*place;
    (void)pthread_mutex_unlock(&g->lock);
    *out = (hdx_text){ label, (uint32_t)len };
    return label == NULL ? hdx_no_memory(err, "a label", len) : HDX_OK;
}

bool hdx_class_extends(hdx_graph *g, uint32_t number, uint32_t ancestor)
{
    const hdx_class_table *t = hdx_graph_class_table(g);
    if (t == NULL || number >= t->count)
        return false;
    while (number != ancestor && number != HDX_NO_CLASS) {
        assert(number < t->count); /* G3; the chain ends */
        number = t->at[number].super;
    }
    return number == ancestor && number != HDX_NO_CLASS;
}

/* ---- roots, threads, heaps ---- */

static const void *noted(hdx_graph *g, hdx_code code, hdx_error *e, const void *list, uint64_t *count)
{
    (void)count;
    if (code == HDX_OK)
        return list;
    e->code = code;
    hdx_graph_note(g, e); /* the list is then NULL and its count 0 */
    assert(list == NULL && *count == 0);
    return NULL;
}

const hdx_root *hdx_graph_roots(hdx_graph *g, uint64_t *count)
{
    hdx_error       e = { .code = HDX_OK };
    const hdx_root *roots = NULL;
    hdx_code        code = hdx_catalog_roots(g->catalog, &roots, count, &e);
    return noted(g, code, &e, roots, count);
}

hdx_code hdx_graph_roots_of(hdx_graph *g, hdx_id id, hdx_root *out, uint64_t max, uint64_t *count, hdx_error *err)
{
    return hdx_catalog_roots_of(g->catalog, id, out, max, count, err);
}

const hdx_thread *hdx_graph_threads(hdx_graph *g, uint64_t *count)
{
    hdx_error         e = { .code = HDX_OK };
    const hdx_thread *threads = NULL;
    hdx_code          code = hdx_catalog_threads(g->catalog, &threads, count, &e);
    return noted(g, code, &e, threads, count);
}

const hdx_thread *hdx_graph_thread_of(hdx_graph *g, hdx_id object)
{
    uint64_t          count;
    const hdx_thread *threads = hdx_graph_threads(g, &count);
    const uint64_t    i = hdx_lower_bound(HDX_KEYS(threads, count, object), object);
    return i < count && threads[i].object == object ? &threads[i] : NULL;
}

const hdx_heap_space *hdx_graph_heaps(hdx_graph *g, uint64_t *count)
{
    hdx_error             e = { .code = HDX_OK };
    const hdx_heap_space *heaps = NULL;
    hdx_code              code = hdx_catalog_heaps(g->catalog, &heaps, count, &e);
    return noted(g, code, &e, heaps, count);
}

static int by_thread(const void *a, const void *b)
{
    const hdx_root *x = a, *y = b;
    const int       c = hdx_order(x->thread, y->thread);
    return c != 0 ? c : hdx_order(x->object, y->object);
}

static hdx_code sort_locals(hdx_graph *g, hdx_locals **out, hdx_error *err)
{
    const hdx_root *roots;
    uint64_t        count, n = 0;
    hdx_code        code = hdx_catalog_roots(g->catalog, &roots, &count, err);
    if (code != HDX_OK)
        return code;
    for (uint64_t i = 0; i < count; i++)
        n += roots[i].thread != HDX_NO_ID && roots[i].object != HDX_NO_ID;
    hdx_root *at = hdx_mem_array(NULL, n, sizeof *at);
    if (at == NULL)
        return hdx_no_memory(err, "locals of threads", n * sizeof *at);
    n = 0;
    for (uint64_t i = 0; i < count; i++)
        if (roots[i].thread != HDX_NO_ID && roots[i].object != HDX_NO_ID)
            at[n++] = roots[i];
    qsort(at, (size_t)n, sizeof *at, by_thread);
    g->local_roots = (hdx_locals){ at, n };
    *out = &g->local_roots;
    return HDX_OK;
}

hdx_code hdx_graph_locals(hdx_graph *g, hdx_id thread, const hdx_root **at, uint64_t *count, hdx_error *err)
{
    hdx_code    code = HDX_OK;
    hdx_locals *l = atomic_load_explicit(&g->locals, memory_order_acquire);
    *count = 0;
    if (l == NULL) {
        (void)pthread_mutex_lock(&g->lock);
        l = atomic_load(&g->locals);
        if (l == NULL && (code = sort_locals(g, &l, err)) == HDX_OK)
            atomic_store_explicit(&g->locals, l, memory_order_release);
        (void)pthread_mutex_unlock(&g->lock);
    }
    if (code != HDX_OK)
        return code;
    const uint64_t from = hdx_lower_bound(HDX_KEYS(l->at, l->count, thread), thread);
    *at = l->at + from;
    while (from + *count < l->count && l->at[from + *count].thread == thread)
        ++*count;
    return HDX_OK;
}
