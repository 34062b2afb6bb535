/*
 * slots_wide.c - reads every reference of every object, in the order of the class's plan, in one pass over the dump.
 *
 * In:  columns of the index (class, length), the plans, the dump.
 * Out: a store (wide.h), roots in the order of the dump.
 * Knows the offsets of references in an instance. Does not know how the search treats them.
 * Cost: packed lists (wide.h), resident; addresses are looked up in batches by the threads that read them. No more
 *       slots than the bytes of the dump could contain.
 */
#include "leaks/wide.h"

#include <stdlib.h>

#define BATCH 512u

typedef struct batch {
    hdx_addr       addresses[BATCH];
    uint8_t       *places[BATCH];
    unsigned       count;
    uint64_t       dangling;
    hdx_dump_root *roots;
    uint64_t       root_count, root_capacity;
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
            (void)hdx_packed_put(b->places[i], ids[i] + 1, s->lists.width);
        else
            b->dangling++;
    }
    b->count = 0;
}

static batch *batch_of(reader *r, unsigned worker, hdx_error *err)
{
    if (r->batches[worker] == NULL && (r->batches[worker] = hdx_mem_get(r->s->mem, sizeof(batch))) == NULL)
        (void)hdx_no_memory(err, "references", sizeof(batch));
    return r->batches[worker];
}

static inline void keep_list(store *s, batch *b, hdx_addr address, const uint8_t *place)
{
    if (address == 0)
        return;
    b->addresses[b->count] = address;
    b->places[b->count++] = (uint8_t *)(uintptr_t)place;
    if (b->count == BATCH)
        flush(s, b);
}

static inline hdx_addr address_at(const uint8_t *p, uint32_t id_size)
{
    return id_size == 4 ? hdx_be32(p) : hdx_be64(p);
}

static uint32_t slots_of_instance(const store *s, const leak_plan *p)
{
    return p->count + (p->size_offset >= 0 && p->count > 0 ? size_entries(s) : 0);
}

static hdx_code on_root(void *context, unsigned worker, const hdx_dump_root *root, hdx_error *err)
{
    batch *b = batch_of(context, worker, err);
    if (b == NULL || !hdx_mem_room(((reader *)context)->s->mem, (void **)&b->roots, &b->root_capacity, b->root_count,
                                   sizeof *b->roots))
        return hdx_no_memory(err, "roots", sizeof *root);
    b->roots[b->root_count++] = *root;
    return HDX_OK;
}

static hdx_code on_instance(void *context, unsigned worker, hdx_id id, const uint8_t *bytes, uint32_t len,
                            hdx_error *err)
{
    reader *r = context;
    store  *s = r->s;
    batch  *b = batch_of(r, worker, err);
    if (b == NULL)
        return HDX_LIMIT;
    const object o = look(s, id);
    if (o.kind != HDX_INSTANCE)
        return HDX_OK;
    const leak_plan *p = &s->plans->at[o.number];
    const uint32_t   width = s->h->id_size;
    if (o.count != slots_of_instance(s, p))
        return HDX_OK;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->slots[i].offset <= len && width <= len - p->slots[i].offset)
            keep_list(s, b, address_at(bytes + p->slots[i].offset, width), o.at + (size_t)i * s->lists.width);
    if (p->size_offset >= 0 && p->count > 0 && len >= 4 && (uint32_t)p->size_offset <= len - 4) {
        const uint32_t size = hdx_be32(bytes + p->size_offset);
        hdx_put32((uint8_t *)(uintptr_t)o.at + (size_t)p->count * s->lists.width, size > INT32_MAX ? 1 : size + 1);
    }
    return HDX_OK;
}

static hdx_code on_elements(void *context, unsigned worker, hdx_id id, uint64_t from, const uint8_t *ids,
                            uint64_t count, hdx_error *err)
{
    reader      *r = context;
    store       *s = r->s;
    const object o = look(s, id);
    batch       *b = batch_of(r, worker, err);
    if (b == NULL)
        return HDX_LIMIT;
    if (from > o.count || o.kind != HDX_OBJECT_ARRAY)
        return HDX_OK;
    if (count > o.count - from)
        count = o.count - from;
    for (uint64_t i = 0; i < count; i++)
        keep_list(s, b, address_at(ids + i * s->h->id_size, s->h->id_size), o.at + (from + i) * s->lists.width);
    return HDX_OK;
}

static hdx_code on_class(void *context, unsigned worker, hdx_id id, uint64_t size, const hdx_value *statics,
                         uint32_t count, hdx_error *err)
{
    reader *r = context;
    store  *s = r->s;
    batch  *b = batch_of(r, worker, err);
    if (b == NULL)
        return HDX_LIMIT;
    const object o = look(s, id);
    if (!o.is_class || o.number == NO_NUMBER)
        return HDX_OK;
    const leak_plan *p = &s->plans->at[o.number];
    s->class_size[o.number] = size;
    for (uint32_t i = 0; i < p->static_count && i < o.count; i++)
        if (p->statics[i].offset < count && statics[p->statics[i].offset].type == 2 &&
            !statics[p->statics[i].offset].absent)
            keep_list(s, b, statics[p->statics[i].offset].as.address, o.at + (size_t)i * s->lists.width);
    return HDX_OK;
}

/* ---- how many slots each object has ---- */

static int by_instances(const void *a, const void *b)
{
    const hdx_class *const *x = a, *const *y = b;
    if ((*x)->instances != (*y)->instances)
        return (*x)->instances > (*y)->instances ? -1 : 1;
    return (*x)->number < (*y)->number ? -1 : 1;
}

static hdx_code choose_codes(store *s, hdx_error *err)
{
    const uint32_t    n = s->h->class_count;
    const hdx_class **order = hdx_mem_array(s->mem, n, sizeof *order);
    s->numbers = hdx_mem_array(s->mem, n, sizeof *s->numbers);
    s->codes = hdx_mem_array(s->mem, n, sizeof *s->codes);
    const bool good = order != NULL && s->numbers != NULL && s->codes != NULL;
    for (uint32_t c = 0; good && c < n; c++)
        order[c] = &s->h->classes[c];
    if (good && n > 1)
        qsort(order, n, sizeof *order, by_instances);
    for (uint32_t c = 0; good && c < n; c++) {
        s->numbers[c] = order[c]->number;
        s->codes[order[c]->number] = c;
    }
    hdx_mem_put(s->mem, (void *)order, (uint64_t)n * sizeof *order);
    return good ? HDX_OK : hdx_no_memory(err, "classes", (uint64_t)n * sizeof *order);
}

/* Fills codes and slot counts of objects first .. first + n - 1; class objects are marked. */
static void count_run(store *s, hdx_id first, uint32_t n, uint32_t *codes, uint64_t *slots)
{
    uint32_t numbers[HDX_RUN];
    uint8_t  kinds[HDX_RUN];
    hdx_graph_read_classes(s->h->g, first, n, numbers);
    hdx_graph_read_kinds(s->h->g, first, n, kinds);
    hdx_graph_read_lengths(s->h->g, first, n, slots);
    for (uint32_t i = 0; i < n; i++) {
        const hdx_class *own = kinds[i] == HDX_CLASS_OBJECT ? hdx_graph_class_object(s->h->g, first + i) : NULL;
        const uint32_t   c = own != NULL ? own->number : numbers[i];
        if (kinds[i] == HDX_CLASS_OBJECT) {
            hdx_bits_put(s->class_objects, first + i);
            slots[i] = own != NULL ? s->plans->at[c].static_count : 0;
            codes[i] = own != NULL ? s->codes[c] : UINT32_MAX;
            continue;
        }
        codes[i] = c < s->h->class_count ? s->codes[c] : UINT32_MAX; /* no class: nothing is known of the object */
        if (codes[i] == UINT32_MAX || kinds[i] == HDX_PRIMITIVE_ARRAY)
            slots[i] = 0;
        else if (kinds[i] == HDX_INSTANCE)
            slots[i] = slots_of_instance(s, &s->plans->at[c]);
    }
}

/*
 * Lays out the lists of one piece. The limit counts fields, elements and statics, which the dump contains; the sizes of
 * lists, a few bytes each, are not counted.
 */
static hdx_code lay_piece(store *s, uint64_t piece, uint32_t *entries, uint32_t *codes, uint64_t *all, hdx_error *err)
{
    const uint64_t first = piece << HDX_PACKED_PIECE_BITS, n = hdx_packed_piece_nodes(&s->lists, piece);
    const uint64_t dump = hdx_graph_summary_of(s->h->g)->dump_size;
    uint64_t       slots[HDX_RUN], bytes;
    for (uint64_t done = 0, now; done < n; done += now) {
        now = n - done < HDX_RUN ? n - done : HDX_RUN;
        count_run(s, first + done, (uint32_t)now, codes + done, slots);
        for (uint64_t i = 0; i < now; i++) {
            const uint64_t of = hdx_packed_entries(codes[done + i], slots[i]);
            if (!hdx_add(*all, slots[i], all) || of > UINT32_MAX)
                *all = UINT64_MAX;
            entries[done + i] = (uint32_t)of;
        }
    }
    if (!hdx_mul(*all, s->h->id_size, &bytes) || bytes > 4 * dump)
        return hdx_fail(err, HDX_DAMAGED, "size", HDX_NOWHERE, "%llu references exceed what the dump can contain",
                        (unsigned long long)*all);
    hdx_code code = hdx_packed_lay(&s->lists, piece, entries, s->mem, err);
    for (uint64_t i = 0; code == HDX_OK && i < n; i++)
        (void)hdx_packed_begin(&s->lists, first + i, codes[i]);
    return code;
}

static hdx_code lay_out(store *s, hdx_ticker *tick, hdx_error *err)
{
    const uint64_t most = s->objects < HDX_PACKED_PIECE ? s->objects : HDX_PACKED_PIECE;
    uint32_t *entries = hdx_mem_raw(s->mem, most, sizeof *entries), *codes = hdx_mem_raw(s->mem, most, sizeof *codes);
    uint64_t  all = 0;
    hdx_code  code = entries == NULL || codes == NULL
                         ? hdx_no_memory(err, "references of all objects", 2 * most * sizeof *codes)
                         : HDX_OK;
    for (uint64_t piece = 0; code == HDX_OK && piece < s->lists.piece_count; piece++)
        code = hdx_tick(tick, 0) ? hdx_tick_stop(err) : lay_piece(s, piece, entries, codes, &all, err);
    hdx_mem_put(s->mem, entries, most * sizeof *entries);
    hdx_mem_put(s->mem, codes, most * sizeof *codes);
    s->slot_count = all;
    return code == HDX_OK ? hdx_graph_check(s->h->g, err) : code;
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
            if (!hdx_mem_room(s->mem, (void **)&s->roots, &s->root_capacity, s->root_count, sizeof *s->roots))
                code = hdx_no_memory(err, "roots", s->root_count * sizeof *s->roots);
            else
                s->roots[s->root_count++] = b->roots[i];
        }
        hdx_mem_put(s->mem, b->roots, b->root_capacity * sizeof *b->roots);
        hdx_mem_put(s->mem, b, sizeof *b);
        r->batches[w] = NULL;
    }
    if (s->root_count > 1)
        qsort(s->roots, (size_t)s->root_count, sizeof *s->roots, by_position);
    return code;
}

/* Fails if the memory that the search needs next exceeds the limit. */
static hdx_code afford(const store *s, uint64_t further_bytes, hdx_error *err)
{
    const uint64_t used = s->mem->used, limit = s->mem->limit;
    if (limit == 0 || used + further_bytes <= limit)
        return HDX_OK;
    return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "the search for leaks exceeds --memory; --memory %lluM is enough",
                    (unsigned long long)((used + further_bytes + s->apart) >> 20) + 8);
}

hdx_code WIDE(hdx_leak_store_read)(store *s, unsigned threads, uint64_t further_bytes, hdx_ticker *tick, bool *too_wide,
                                   hdx_error *err)
{
    const uint64_t n = s->objects = hdx_graph_objects(s->h->g);
    hdx_code       code;
    *too_wide = n >= NONE / 2;
    if (*too_wide || s->h->class_count >= NO_NUMBER)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "too many objects or classes");
    if ((code = hdx_packed_new(&s->lists, n, s->mem, err)) != HDX_OK || (code = choose_codes(s, err)) != HDX_OK)
        return code;
    if (s->h->class_count > n) { /* a crafted dump: a code must fit in an entry, too */
        s->lists.width = hdx_packed_width(s->h->class_count);
        s->lists.mask = ~(~0ull << 8 * s->lists.width);
    }
    reader *r = hdx_mem_get(s->mem, sizeof *r);
    s->class_objects = hdx_mem_array(s->mem, hdx_bits_words(n), 8);
    s->class_size = hdx_mem_array(s->mem, s->h->class_count, sizeof *s->class_size);
    if (s->class_objects == NULL || s->class_size == NULL || r == NULL) {
        code = hdx_no_memory(err, "classes", (uint64_t)s->h->class_count * sizeof *s->class_size);
        goto out;
    }
    r->s = s;
    if ((code = lay_out(s, tick, err)) != HDX_OK || (code = afford(s, further_bytes, err)) != HDX_OK)
        goto out;
    const hdx_dump_reader to = { r, on_root, on_instance, on_elements, on_class };
    code = hdx_graph_rescan(s->h->g, threads, &to, tick, err);
    hdx_error own;
    hdx_code  gathered = gather(s, r, &own);
    if (code == HDX_OK && gathered != HDX_OK) {
        code = gathered;
        *err = own;
    }
out:
    hdx_mem_put(s->mem, r, sizeof *r);
    return code;
}

void WIDE(hdx_leak_store_free)(store *s)
{
    const uint64_t classes = s->h->class_count;
    hdx_packed_free(&s->lists, s->mem);
    hdx_mem_put(s->mem, s->numbers, classes * sizeof *s->numbers);
    hdx_mem_put(s->mem, s->codes, classes * sizeof *s->codes);
    hdx_mem_put(s->mem, s->class_objects, hdx_bits_words(s->objects) * 8);
    hdx_mem_put(s->mem, s->class_size, classes * sizeof *s->class_size);
    hdx_mem_put(s->mem, s->roots, s->root_capacity * sizeof *s->roots);
    s->numbers = s->codes = NULL;
    s->class_objects = s->class_size = NULL;
    s->roots = NULL;
    s->root_capacity = 0;
}
