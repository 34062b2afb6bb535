/*
 * slots_wide.c - every reference of every object, in the order of the class's plan, read in one pass over the dump.
 *
 * In:  columns of the index (class, length), the plans, the dump.
 * Out: a store (wide.h), roots in the order of the dump.
 * Knows where references lie in an instance. Does not know what the search makes of them.
 * Cost: 12 bytes per object and an id per slot, resident; addresses are looked up in batches by whoever read them, on all threads. No more slots
 * than the bytes of the dump could hold.
 */
#include "leaks/wide.h"

#include <stdlib.h>

#define BATCH 512u

typedef struct batch {
    hdx_addr      addresses[BATCH];
    uint64_t      places[BATCH];
    unsigned      count;
    uint64_t      dangling;
    hdx_dump_root *roots;
    uint64_t      root_count, root_capacity;
} batch;
typedef struct reader {
    store *s;
    batch *batches[HDX_WORKERS_MAX];
} reader;

static void flush(store *s, batch *b)
{
    hdx_id ids[BATCH];
    hdx_graph_find_many(s->h->g, b->addresses, b->count, ids);
    for (unsigned i = 0; i < b->count; i++) {
        if (ids[i] < s->objects)
            s->slots[b->places[i]] = (NID)ids[i]; /* objects fit NID: checked before the slots were got */
        else
            b->dangling++;
    }
    b->count = 0;
}

static batch *batch_of(reader *r, unsigned worker, hdx_error *err)
{
    if (r->batches[worker] == NULL && (r->batches[worker] = hdx_mem_get(NULL, sizeof(batch))) == NULL)
        (void)hdx_no_memory(err, "references", sizeof(batch));
    return r->batches[worker];
}

static inline void keep(store *s, batch *b, hdx_addr address, uint64_t place)
{
    if (address == 0)
        return;
    b->addresses[b->count] = address;
    b->places[b->count++] = place;
    if (b->count == BATCH)
        flush(s, b);
}

static inline hdx_addr address_at(const uint8_t *p, uint32_t id_size) { return id_size == 4 ? hdx_be32(p) : hdx_be64(p); }

static uint32_t slots_of_instance(const leak_plan *p) { return p->count + (p->size_offset >= 0 && p->count > 0); }

static hdx_code on_root(void *context, unsigned worker, const hdx_dump_root *root, hdx_error *err)
{
    batch *b = batch_of(context, worker, err);
    if (b == NULL || !hdx_mem_room(NULL, (void **)&b->roots, &b->root_capacity, b->root_count, sizeof *b->roots))
        return hdx_no_memory(err, "roots", sizeof *root);
    b->roots[b->root_count++] = *root;
    return HDX_OK;
}

static hdx_code on_instance(void *context, unsigned worker, hdx_id id, const uint8_t *bytes, uint32_t len, hdx_error *err)
{
    reader *r = context;
    store  *s = r->s;
    batch  *b = batch_of(r, worker, err);
    if (b == NULL)
        return HDX_LIMIT;
    if (is_class(s, id) || number_of(s, id) >= s->h->class_count)
        return HDX_OK;
    const leak_plan *p = &s->plans->at[number_of(s, id)];
    const uint64_t   base = s->at[id];
    const uint32_t   width = s->h->id_size;
    if (s->at[id + 1] - base != slots_of_instance(p))
        return HDX_OK;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->slots[i].offset <= len && width <= len - p->slots[i].offset)
            keep(s, b, address_at(bytes + p->slots[i].offset, width), base + i);
    if (p->size_offset >= 0 && p->count > 0 && len >= 4 && (uint32_t)p->size_offset <= len - 4) {
        const uint32_t size = hdx_be32(bytes + p->size_offset);
        s->slots[base + p->count] = size > INT32_MAX ? 0 : (NID)size;
    }
    return HDX_OK;
}

static hdx_code on_elements(void *context, unsigned worker, hdx_id id, uint64_t from, const uint8_t *ids, uint64_t count, hdx_error *err)
{
    reader        *r = context;
    store         *s = r->s;
    const uint64_t there = s->at[id + 1] - s->at[id];
    batch         *b = batch_of(r, worker, err);
    if (b == NULL)
        return HDX_LIMIT;
    if (is_class(s, id) || from > there || kind_of(s, id) != HDX_OBJECT_ARRAY)
        return HDX_OK;
    if (count > there - from)
        count = there - from;
    for (uint64_t i = 0; i < count; i++)
        keep(s, b, address_at(ids + i * s->h->id_size, s->h->id_size), s->at[id] + from + i);
    return HDX_OK;
}

static hdx_code on_class(void *context, unsigned worker, hdx_id id, uint64_t size, const hdx_value *statics, uint32_t count, hdx_error *err)
{
    reader *r = context;
    store  *s = r->s;
    batch  *b = batch_of(r, worker, err);
    if (b == NULL)
        return HDX_LIMIT;
    if (!is_class(s, id))
        return HDX_OK;
    const leak_plan *p = &s->plans->at[number_of(s, id)];
    s->class_size[number_of(s, id)] = size;
    for (uint32_t i = 0; i < p->static_count; i++)
        if (p->statics[i].offset < count && statics[p->statics[i].offset].type == 2 && !statics[p->statics[i].offset].absent)
            keep(s, b, statics[p->statics[i].offset].as.address, s->at[id] + i);
    return HDX_OK;
}

/* Classes and how many slots each object has. */
static hdx_code lay_out(store *s, hdx_error *err)
{
    const uint64_t n = s->objects;
    uint64_t       next = 0, most;
    uint64_t       lengths[HDX_RUN];
    uint8_t        kinds[HDX_RUN];
    for (hdx_id first = 0; first < n; first += HDX_RUN) {
        const uint32_t here = (uint32_t)(n - first < HDX_RUN ? n - first : HDX_RUN);
        hdx_graph_read_classes(s->h->g, first, here, s->class_of + first);
        hdx_graph_read_kinds(s->h->g, first, here, kinds);
        hdx_graph_read_lengths(s->h->g, first, here, lengths);
        for (uint32_t i = 0; i < here; i++) {
            const hdx_id   id = first + i;
            uint64_t       slots = 0;
            const uint32_t c = s->class_of[id];
            if (kinds[i] == HDX_CLASS_OBJECT) {
                const hdx_class *own = hdx_graph_class_object(s->h->g, id);
                s->class_of[id] = CLASS_OBJECT | (own != NULL ? own->number : 0);
                slots = own != NULL ? s->plans->at[own->number].static_count : 0;
            } else if (c >= s->h->class_count) {
                s->class_of[id] = CLASS_OBJECT - 1; /* no class: nothing is known of it */
            } else if (kinds[i] == HDX_INSTANCE) {
                slots = slots_of_instance(&s->plans->at[c]);
            } else if (kinds[i] == HDX_OBJECT_ARRAY) {
                slots = lengths[i];
            }
            s->at[id] = next;
            if (!hdx_add(next, slots, &next))
                next = UINT64_MAX;
        }
    }
    s->at[n] = s->slot_count = next;
    /* Fields, elements and statics lie in the dump; the sizes of lists are the slots that do not. */
    if (!hdx_mul(next, s->h->id_size, &most) || most > 2 * hdx_graph_summary_of(s->h->g)->dump_size)
        return hdx_fail(err, HDX_DAMAGED, "size", HDX_NOWHERE, "%llu references are more than the dump could hold", (unsigned long long)next);
    return hdx_graph_check(s->h->g, err);
}

static int by_position(const void *a, const void *b)
{
    const hdx_dump_root *x = a, *y = b;
    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

static hdx_code gather(store *s, reader *r, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (unsigned w = 0; w < HDX_WORKERS_MAX; w++) {
        batch *b = r->batches[w];
        if (b == NULL)
            continue;
        flush(s, b);
        s->dangling += b->dangling;
        for (uint64_t i = 0; code == HDX_OK && i < b->root_count; i++) {
            if (!hdx_mem_room(NULL, (void **)&s->roots, &s->root_capacity, s->root_count, sizeof *s->roots))
                code = hdx_no_memory(err, "roots", s->root_count * sizeof *s->roots);
            else
                s->roots[s->root_count++] = b->roots[i];
        }
        hdx_mem_put(NULL, b->roots, b->root_capacity * sizeof *b->roots);
        hdx_mem_put(NULL, b, sizeof *b);
        r->batches[w] = NULL;
    }
    if (s->root_count > 1)
        qsort(s->roots, (size_t)s->root_count, sizeof *s->roots, by_position);
    return code;
}

hdx_code WIDE(leak_store_read)(store *s, unsigned threads, hdx_ticker *tick, bool *too_wide, hdx_error *err)
{
    const uint64_t n = s->objects = hdx_graph_objects(s->h->g);
    reader        *r = NULL;
    hdx_code       code;
    *too_wide = n >= NONE - 1;
    if (*too_wide || s->h->class_count >= CLASS_OBJECT - 1)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "too many objects or classes");
    s->class_of = hdx_mem_array(NULL, n, sizeof *s->class_of);
    s->at = hdx_mem_array(NULL, n + 1, sizeof *s->at);
    s->class_size = hdx_mem_array(NULL, s->h->class_count, sizeof *s->class_size);
    r = hdx_mem_get(NULL, sizeof *r);
    if (s->class_of == NULL || s->at == NULL || s->class_size == NULL || r == NULL) {
        code = hdx_no_memory(err, "references of all objects", n * (sizeof *s->at + sizeof *s->class_of));
        goto out;
    }
    r->s = s;
    if ((code = lay_out(s, err)) != HDX_OK)
        goto out;
    if ((s->slots = hdx_mem_array(NULL, s->slot_count, sizeof *s->slots)) == NULL) {
        code = hdx_no_memory(err, "references of all objects", s->slot_count * sizeof *s->slots);
        goto out;
    }
    memset(s->slots, 0xff, (size_t)(s->slot_count * sizeof *s->slots)); /* NONE */
    const hdx_dump_reader to = { r, on_root, on_instance, on_elements, on_class };
    code = hdx_graph_reread(s->h->g, threads, &to, tick, err);
    hdx_error own;
    hdx_code  gathered = gather(s, r, &own);
    if (code == HDX_OK && gathered != HDX_OK) {
        code = gathered;
        *err = own;
    }
out:
    hdx_mem_put(NULL, r, sizeof *r);
    return code;
}

void WIDE(leak_store_free)(store *s)
{
    hdx_mem_put(NULL, s->class_of, s->objects * sizeof *s->class_of);
    hdx_mem_put(NULL, s->at, (s->objects + 1) * sizeof *s->at);
    hdx_mem_put(NULL, s->slots, s->slot_count * sizeof *s->slots);
    hdx_mem_put(NULL, s->class_size, (uint64_t)s->h->class_count * sizeof *s->class_size);
    hdx_mem_put(NULL, s->roots, s->root_capacity * sizeof *s->roots);
    s->class_of = NULL;
    s->at = NULL;
    s->slots = NULL;
    s->class_size = NULL;
    s->roots = NULL;
    s->root_capacity = s->slot_count = 0;
}
