/*
 * columns.c - the second pass over the dump.
 *
 * In:  the stretches of the first pass, the set of addresses (id = rank), class layouts, locals of threads.
 * Out: a record for every object on the spill file (spill.h): id, position, heap, length, and its references as ids,
 *      sorted, each once, without the class (MAT 3.1).
 * An interrupted pass saves which stretches it has read (resume.h); a build that resumes it checks the complete file,
 * as with a checkpoint. Every reference is resolved once, here. Dangling ones are dropped and counted (R19). Cost:
 * memory for one byte per object (entries.c) and the set of addresses; 4 bytes per object and 2 to 3 per reference in
 * the file.
 */
#include "passes/passes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define UNIT   (512u << 10) /* bytes of records written at once */
#define RUN    24u          /* up to this many references are sorted by insertion; */
#define MERGED 2048u        /* up to this many by merging, on the stack; more by qsort */

typedef struct worker {
    uint8_t     apart[HDX_APART];
    uint64_t   *values; /* references of the current object */
    uint64_t    value_count, value_capacity;
    uint8_t    *bytes; /* records not yet written */
    uint64_t    used, capacity;
    hdx_spilled unit; /* describes the contents of `bytes` */
    hdx_pos     last_pos;
    uint64_t    next_id;
    uint64_t    stretch;
    hdx_addr    last_class_addr;
    uint32_t    last_class;
    uint64_t    dangling; /* of finished objects and of the current one */
    uint64_t    dangling_at_hand;
    bool        in_heap; /* last_heap is valid */
    uint32_t    last_heap, last_heap_place;
} worker;

/* Object arrays of one stretch, for the reference size (MAT 2.1). */
typedef struct arrays {
    hdx_addr first, last;
    uint64_t last_end; /* end of the last one with 8-byte references */
    bool     overlap;  /* two neighbours are closer than that */
} arrays;

/* Properties of a class that are needed for each of its objects, packed together. */
typedef struct shape {
    hdx_id          own;   /* its class object */
    uint64_t        bytes; /* hdx_class_layout */
    const uint32_t *offsets;
    uint32_t        references;
    bool            has_length;
    uint64_t        length_mark; /* added to the length of an object array */
} shape;

typedef struct walk {
    hdx_work              *w;
    const hdx_dump_tables *t;
    const hdx_dump        *dump;
    hdx_saving            *saving;
    hdx_columns           *out;
    uint64_t              *holds_locals; /* bit set: objects that are threads with locals; NULL: none */
    _Atomic hdx_pos
            *misfits;   /* by class number: + 1, the first record in the file that does not fit (R17); 0: all fit */
    shape   *shapes;    /* by class number */
    arrays  *arrays;    /* by stretch; NULL where ids have 4 bytes, and so have references */
    uint8_t  widths[4]; /* hdx_spill_widths */
    hdx_halt at;
    worker   workers[HDX_WORKERS_MAX];
} walk;

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "the second pass", 0); }

static bool more_values(hdx_mem *mem, worker *w, uint64_t more)
{
    uint64_t next = w->value_capacity == 0 ? 1u << 12 : w->value_capacity;
    while (next - w->value_count < more)
        next *= 2;
    void *values = hdx_mem_resize(mem, w->values, w->value_capacity * sizeof *w->values, next * sizeof *w->values);
    if (values == NULL)
        return false;
    w->values = values;
    w->value_capacity = next;
    return true;
}

static inline bool room(hdx_mem *mem, worker *w, uint64_t more)
{
    return w->value_capacity - w->value_count >= more || more_values(mem, w, more);
}

static bool more_bytes(hdx_mem *mem, worker *w, uint64_t want)
{
    uint64_t next = w->capacity == 0 ? 1u << 14 : w->capacity;
    while (next < want)
        next *= 2;
    uint8_t *p = hdx_mem_resize(mem, w->bytes, w->capacity, next);
    if (p == NULL)
        return false;
    w->bytes = p;
    w->capacity = next;
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void insert(uint64_t *v, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        const uint64_t x = v[i];
        uint64_t       k = i;
        for (; k > 0 && v[k - 1] > x; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

/* Merges runs of RUN pairwise, back and forth between two arrays. */
static void merge_runs(uint64_t *v, uint64_t n)
{
    uint64_t other[MERGED], *from = v, *to = other;
    for (uint64_t i = 0; i < n; i += RUN)
        insert(v + i, n - i < RUN ? n - i : RUN);
    for (uint64_t run = RUN; run < n; run *= 2) {
        for (uint64_t i = 0; i < n; i += 2 * run) {
            const uint64_t middle = n - i < run ? n : i + run, end = n - i < 2 * run ? n : i + 2 * run;
            uint64_t       a = i, b = middle;
            for (uint64_t k = i; k < end; k++) { /* without branches, because the order is unpredictable */
                const bool first = b == end || (a < middle && from[a] <= from[b]);
                to[k] = from[first ? a : b];
                a += first;
                b += !first;
            }
        }
        uint64_t *was = from;
        from = to;
        to = was;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
}

static uint64_t sort_unique(uint64_t *v, uint64_t n)
{
    uint64_t kept = 0;
    if (n <= RUN)
        insert(v, n);
    else if (n <= MERGED)
        merge_runs(v, n);
    else
        qsort(v, (size_t)n, sizeof *v, compare);
    for (uint64_t i = 0; i < n; i++)
        if (kept == 0 || v[kept - 1] != v[i])
            v[kept++] = v[i];
    return kept;
}

/*
 * Sorts and removes duplicates and `own`, which is put first, once (MAT 3.1; INDEX I4, I5); nearly every list is tiny
 * or already sorted.
 */
static inline uint64_t tidy(uint64_t *v, uint64_t n, uint64_t own)
{
    uint64_t kept = 0, last = 0;
    bool     sorted = true;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t x = v[i];
        if (x == own)
            continue;
        sorted &= kept == 0 || last < x;
        v[kept++] = last = x;
    }
    kept = sorted ? kept : sort_unique(v, kept);
    assert(kept < 2 || (v[kept - 2] < v[kept - 1] && v[0] < v[1])); /* P1 */
    return kept;
}

static hdx_code add_locals(walk *k, worker *w, uint64_t id, hdx_error *err)
{
    const hdx_lookup *l = &k->t->lookup;
    uint64_t          i = hdx_lower_bound(HDX_KEYS(l->locals, l->local_count, first), id);
    for (; i < l->local_count && l->locals[i].first == id; i++) {
        if (!room(&k->w->mem, w, 1))
            return no_memory(err);
        assert(l->locals[i].second < k->t->objects); /* T8 */
        w->values[w->value_count++] = l->locals[i].second;
    }
    return HDX_OK;
}

static hdx_code write_unit(walk *k, worker *w, hdx_error *err)
{
    hdx_code code;
    if (w->used == 0)
        return HDX_OK;
    assert(w->unit.objects > 0 && w->unit.first <= w->unit.last && w->unit.last < k->t->objects); /* P2 */
    w->unit.bytes = w->used;
    code = hdx_spill_put(k->w, &k->out->spill, &w->unit, w->bytes, err);
    w->used = w->next_id = 0;
    w->unit = (hdx_spilled){ .first = HDX_NO_ID };
    return code;
}

/* Writes the record of the object, whose references are all in `values`. */
static hdx_code finish(walk *k, worker *w, const hdx_spill_record *r, hdx_error *err)
{
    const uint64_t id = r->id;
    const hdx_pos  pos = r->position == 0 ? HDX_SPILL_BARE : r->position - 1;
    const shape   *c = &k->shapes[r->class_number];
    hdx_entries   *entries = &k->out->entries;
    if (k->holds_locals != NULL && hdx_bits_test(k->holds_locals, id)) {
        hdx_code code = add_locals(k, w, id, err);
        if (code != HDX_OK)
            return code;
    }
    const uint64_t n = tidy(w->values, w->value_count, c->own), want = 5 * n + HDX_SPILL_HEAD;
    w->value_count = 0;
    if (w->used > 0 && pos != HDX_SPILL_BARE &&
        pos - w->last_pos >= HDX_PACKED_NODES) { /* packed distances cannot be that long */
        hdx_code code = write_unit(k, w, err);
        if (code != HDX_OK)
            return code;
    }
    if (w->used == 0)
        w->last_pos = w->unit.pos = pos;
    if ((w->capacity - w->used < want && !more_bytes(&k->w->mem, w, w->used + want)) ||
        (entries->pieces != NULL && !hdx_entries_put(entries, id, hdx_packed_entries(r->class_number, n))))
        return no_memory(err);
    const hdx_spill_writer after = { k->widths, w->next_id, w->last_pos, k->t->heap_count > 0 };
    w->used = (uint64_t)(hdx_spill_write(w->bytes + w->used, &after, c->has_length, r, w->values, n) - w->bytes);
    if (pos == HDX_SPILL_BARE)
        w->unit.bare = true;
    else
        w->last_pos = pos;
    assert(w->used <= w->capacity && id < k->t->objects); /* P2 */
    w->next_id = id + 1;
    w->dangling += w->dangling_at_hand;
    w->dangling_at_hand = 0;
    w->unit.first = id < w->unit.first ? id : w->unit.first;
    w->unit.last = id > w->unit.last ? id : w->unit.last;
    w->unit.objects++;
    w->unit.edges += n;
    return HDX_OK;
}

static inline void put(const hdx_lookup *l, worker *w, hdx_addr target)
{
    hdx_id id;
    if (target == 0)
        return;
    id = hdx_addresses_find(l->ids, target);
    if (id == HDX_NO_ID)
        w->dangling_at_hand++;
    else
        w->values[w->value_count++] = id;
}

static uint32_t class_at(const hdx_dump_tables *t, worker *w, hdx_addr addr)
{
    if (w->last_class_addr == addr && w->last_class != HDX_NO_CLASS)
        return w->last_class;
    w->last_class_addr = addr;
    w->last_class = hdx_class_at(t, addr);
    return w->last_class;
}

static hdx_code changed(hdx_pos pos, hdx_error *err)
{
    return hdx_fail(err, HDX_BAD_DUMP, "", pos, "the dump changed while it was read");
}

/*
 * R17: fields that are completely inside of the bytes are read; the first such record of a class in the file is
 * reported, whichever thread found it.
 */
static void misfit(_Atomic hdx_pos *first, hdx_pos pos)
{
    hdx_pos seen = atomic_load(first);
    while ((seen == 0 || pos + 1 < seen) && !atomic_compare_exchange_weak(first, &seen, pos + 1))
        ;
}

static hdx_code report_misfits(const walk *k, hdx_error *err)
{
    const hdx_dump_tables *t = k->t;
    hdx_code               code = HDX_OK;
    for (uint32_t i = 0; i < t->class_count && code == HDX_OK; i++) {
        const hdx_class *c = &t->classes[i];
        hdx_pos          pos = atomic_load(&k->misfits[i]);
        if (pos != 0 && (c->flags & HDX_CLASS_OPAQUE) == 0)
            code = hdx_work_damage(k->w, HDX_DAMAGE_LAYOUT, pos - 1, "INSTANCE_DUMP", 0, err,
                                   "fields of %.*s need %llu bytes, but the record has another length",
                                   (int)(c->name.len > 60 ? 60 : c->name.len), c->name.at,
                                   (unsigned long long)t->lookup.layouts[i].bytes);
    }
    return code;
}

/* Index of the object's heap in t->heaps, + 1; 0: none. Objects of a heap follow each other. */
static uint32_t heap_of(const hdx_dump_tables *t, worker *w, const hdx_event *e)
{
    if (t->heap_count == 0)
        return 0;
    if (!w->in_heap || w->last_heap != e->heap) {
        w->in_heap = true;
        w->last_heap = e->heap;
        w->last_heap_place = 0;
        for (uint64_t i = 0; i < t->heap_count && w->last_heap_place == 0; i++)
            if (t->heaps[i].number == e->heap)
                w->last_heap_place = (uint32_t)(i + 1);
    }
    return w->last_heap_place;
}

/* Same for an object that a record describes; length: of an array. */
static hdx_code finish_event(walk *k, worker *w, const hdx_event *e, uint64_t id, uint32_t class_number,
                             uint64_t length, hdx_error *err)
{
    const hdx_spill_record r = {
        .id = id, .position = e->pos + 1, .heap = heap_of(k->t, w, e), .class_number = class_number, .length = length
    };
    return finish(k, w, &r, err);
}

static hdx_code instance(walk *k, worker *w, const hdx_event *e, uint64_t id, hdx_error *err)
{
    const hdx_lookup *l = &k->t->lookup;
    const uint32_t    id_size = k->dump->survey.head.id_size;
    uint32_t          number = class_at(k->t, w, e->class_addr);
    if (number == HDX_NO_CLASS)
        return changed(e->pos, err);
    const shape *c = &k->shapes[number];
    if (c->bytes != e->count)
        misfit(&k->misfits[number], e->pos);
    if (!room(&k->w->mem, w, c->references))
        return no_memory(err);
    if (c->bytes <= e->body_len && id_size == 8)
        for (uint32_t i = 0; i < c->references; i++)
            put(l, w, hdx_be64(e->body + c->offsets[i]));
    else
        for (uint32_t i = 0; i < c->references && (uint64_t)c->offsets[i] + id_size <= e->body_len; i++)
            put(l, w, hdx_be_id(e->body + c->offsets[i], id_size));
    return finish_event(k, w, e, id, number, 0, err);
}

static void note_array(arrays *s, const hdx_event *e)
{
    if (s->last == 0)
        s->first = e->addr;
    else if (s->last < e->addr && e->addr < s->last_end)
        s->overlap = true;
    s->last = e->addr;
    s->last_end = e->addr + 16 + 8 * (uint64_t)e->count;
}

static hdx_code object_array(walk *k, worker *w, const hdx_event *e, uint64_t id, hdx_error *err)
{
    const hdx_lookup *l = &k->t->lookup;
    const uint32_t    id_size = k->dump->survey.head.id_size, n = e->body_len / id_size;
    uint32_t          number = class_at(k->t, w, e->class_addr);
    if (number == HDX_NO_CLASS)
        return changed(e->pos, err);
    if (e->body_from == 0 && k->arrays != NULL)
        note_array(&k->arrays[w->stretch], e);
    if (!room(&k->w->mem, w, n))
        return no_memory(err);
    for (uint32_t i = 0; i < n; i++)
        put(l, w, hdx_be_id(e->body + (size_t)i * id_size, id_size));
    return (uint64_t)e->body_from + n < e->count
               ? HDX_OK
               : finish_event(k, w, e, id, number, e->count | k->shapes[number].length_mark, err);
}

/* super (if any), loader (always: object 0 is the boot loader), static references (MAT 3.3). */
static hdx_code class_references(walk *k, worker *w, uint32_t number, hdx_view record, hdx_error *err)
{
    const hdx_dump_tables *t = k->t;
    const hdx_class       *c = &t->classes[number];
    const uint32_t         id_size = k->dump->survey.head.id_size;
    hdx_class_dump         d;
    uint64_t               name;
    uint8_t                type;
    hdx_view               value;
    if (!room(&k->w->mem, w, 2u + (uint64_t)c->static_count))
        return no_memory(err);
    if (c->super != HDX_NO_CLASS)
        w->values[w->value_count++] = t->classes[c->super].id;
    hdx_id loader = c->loader == 0 ? 0 : hdx_addresses_find(t->lookup.ids, c->loader);
    w->values[w->value_count++] = loader == HDX_NO_ID ? 0 : loader;
    if (record.len == 0 || !hdx_class_dump_cut(record, id_size, &d) || d.static_count != c->static_count)
        return HDX_OK;
    while (hdx_class_static_next(&d.statics, id_size, &name, &type, &value))
        if (type == 2)
            put(&t->lookup, w, hdx_be_id(value.at, id_size));
    return HDX_OK;
}

static hdx_code class_object(walk *k, worker *w, const hdx_event *e, uint64_t id, hdx_error *err)
{
    const uint64_t *number = hdx_map_get(&k->t->class_objects, id);
    if (number == NULL)
        return changed(e->pos, err);
    hdx_code code = class_references(k, w, (uint32_t)*number, (hdx_view){ e->body, e->body_len }, err);
    return code != HDX_OK ? code : finish_event(k, w, e, id, k->t->class_class, 0, err);
}

static hdx_code primitive_array(walk *k, worker *w, const hdx_event *e, uint64_t id, hdx_error *err)
{
    const hdx_lookup *l = &k->t->lookup;
    const uint64_t   *flat =
        e->tag == HDX_SUB_PRIMITIVE_ARRAY && e->type == 8 ? hdx_map_get(&l->flat_arrays, e->addr) : NULL;
    uint32_t number = flat != NULL && *flat != HDX_NO_CLASS ? (uint32_t)*flat : l->primitive_class[e->type & 15];
    if (number == HDX_NO_CLASS)
        return changed(e->pos, err);
    return finish_event(k, w, e, id, number, e->count, err);
}

#define AHEAD 8u
/* Prefetches what later events will look up, if there are many classes. */
static void fetch(const walk *k, const hdx_event *events, size_t i, size_t n)
{
    const hdx_dump_tables *t = k->t;
    if (i + 2 * AHEAD < n)
        hdx_map_ahead(&t->lookup.by_address, events[i + 2 * AHEAD].class_addr);
    if (i + AHEAD >= n)
        return;
    const hdx_event *e = &events[i + AHEAD];
    if (e->tag == HDX_SUB_CLASS) {
        hdx_map_ahead(&t->class_objects, hdx_addresses_find(t->lookup.ids, e->addr));
    } else if (e->tag == HDX_SUB_INSTANCE || e->tag == HDX_SUB_OBJECT_ARRAY) {
        const uint32_t number = hdx_class_at(t, e->class_addr);
        __builtin_prefetch(&k->shapes[number == HDX_NO_CLASS ? 0 : number]);
    }
}

static hdx_code on_events(void *context, unsigned number, const hdx_event *events, size_t n, hdx_error *err)
{
    walk                  *k = context;
    worker                *w = &k->workers[number];
    const hdx_dump_tables *t = k->t;
    const hdx_scan_result *scan = &k->dump->scan;
    hdx_code               code = HDX_OK;
    for (size_t i = 0; i < n && code == HDX_OK; i++) {
        const hdx_event *e = &events[i];
        if (t->class_count > HDX_CLASSES_CACHED)
            fetch(k, events, i, n);
        if (e->tag != HDX_SUB_INSTANCE && e->tag != HDX_SUB_PRIMITIVE_ARRAY && e->tag != HDX_SUB_OBJECT_ARRAY &&
            e->tag != HDX_SUB_CLASS && e->tag != HDX_SUB_PRIMITIVE_ARRAY_NODATA)
            continue;
        if (hdx_scan_skips(scan, e->pos))
            continue;
        hdx_id id = hdx_addresses_find(t->lookup.ids, e->addr);
        if (id == HDX_NO_ID)
            return changed(e->pos, err);
        switch (e->tag) {
        case HDX_SUB_INSTANCE: code = instance(k, w, e, id, err); break;
        case HDX_SUB_OBJECT_ARRAY: code = object_array(k, w, e, id, err); break;
        case HDX_SUB_CLASS: code = class_object(k, w, e, id, err); break;
        default: code = primitive_array(k, w, e, id, err); break;
        }
    }
    return code;
}

static hdx_code on_begin(void *context, unsigned number, uint64_t stretch, hdx_error *err)
{
    worker *w = &((walk *)context)->workers[number];
    (void)err;
    w->stretch = stretch;
    w->value_count = w->dangling_at_hand = 0;
    return HDX_OK;
}

static hdx_code on_end(void *context, unsigned number, uint64_t stretch, hdx_error *err)
{
    walk   *k = context;
    worker *w = &k->workers[number];
    (void)stretch;
    return w->used >= UNIT ? write_unit(k, w, err) : HDX_OK;
}

/* Writes what workers have not yet written; then a unit for object 0 and invented classes, which have no record. */
static hdx_code finish_units(walk *k, hdx_error *err)
{
    const hdx_dump_tables *t = k->t;
    worker                *w = &k->workers[0];
    hdx_code               code = HDX_OK;
    for (unsigned i = 0; i < k->w->threads && code == HDX_OK; i++)
        code = write_unit(k, &k->workers[i], err);
    if (code == HDX_OK)
        code = finish(k, w, &(hdx_spill_record){ .id = 0, .class_number = t->loader_class }, err);
    for (uint32_t i = 0; i < t->class_count && code == HDX_OK; i++) {
        if ((t->classes[i].flags & HDX_CLASS_INVENTED) == 0)
            continue;
        if ((code = class_references(k, w, i, (hdx_view){ NULL, 0 }, err)) == HDX_OK)
            code = finish(k, w, &(hdx_spill_record){ .id = t->classes[i].id, .class_number = t->class_class }, err);
    }
    return code != HDX_OK ? code : write_unit(k, w, err);
}

/*
 * MAT 2.1: compressed as soon as an object array is inside of the room that its predecessor in the file would need with
 */
static void find_reference_size(const walk *k)
{
    const hdx_survey *survey = &k->dump->survey;
    hdx_sizing       *sizing = &k->out->sizing;
    hdx_addr          last = 0;
    uint64_t          end = 0;
    bool              overlap = false;
    for (uint64_t i = 0; k->arrays != NULL && i < survey->stretch_count && !overlap; i++) {
        const arrays *s = &k->arrays[i];
        if (s->last == 0)
            continue;
        overlap = s->overlap || (last != 0 && last < s->first && s->first < end);
        last = s->last;
        end = s->last_end;
    }
    sizing->reference_size = sizing->id_size == 8 && overlap ? 4 : sizing->id_size;
}

/* MAT 2.2. */
static uint32_t find_alignment(const hdx_dump_tables *t)
{
    hdx_addr addresses[1024], last = 0;
    uint64_t divisor = 0;
    bool     more = true;
    for (uint64_t first = 1; first < t->objects && more; first += 1024) {
        uint32_t n = t->objects - first > 1024 ? 1024 : (uint32_t)(t->objects - first);
        hdx_addresses_read(t->lookup.ids, first, n, addresses);
        for (uint32_t i = 0; i < n && more; i++) {
            if (last != 0)
                more = hdx_alignment_feed(&divisor, addresses[i] - last);
            last = addresses[i];
        }
    }
    return hdx_alignment_of(divisor);
}

/* ---- saving an interrupted pass ---- */
typedef struct saved_numbers {
    uint64_t scan_sum, stretches, dangling;
    uint64_t spill_bytes, longest, edges;
} saved_numbers;

typedef struct kept_misfit {
    uint64_t class_number;
    hdx_pos  pos; /* + 1 */
} kept_misfit;

static hdx_code put_misfits(const walk *k, hdx_resume_file *file, hdx_error *err)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < k->t->class_count; i++)
        count += atomic_load(&k->misfits[i]) != 0;
    hdx_code code = hdx_resume_put(file, &count, sizeof count, err);
    for (uint32_t i = 0; i < k->t->class_count && code == HDX_OK; i++) {
        const kept_misfit m = { i, atomic_load(&k->misfits[i]) };
        if (m.pos != 0)
            code = hdx_resume_put(file, &m, sizeof m, err);
    }
    return code;
}

/* After a cancellation: writes the complete objects that workers have, and saves how far the stretches were read. */
static hdx_code save_progress(walk *k, hdx_error *err)
{
    const hdx_spill *spill = &k->out->spill;
    hdx_resume_file *file = NULL;
    saved_numbers    numbers = { .scan_sum = k->saving->scan_sum,
                                 .stretches = k->arrays == NULL ? 0 : k->dump->survey.stretch_count,
                                 .dangling = k->out->dangling };
    uint32_t         sum;
    hdx_code         code = HDX_OK;
    for (unsigned i = 0; i < k->w->threads && code == HDX_OK; i++) {
        numbers.dangling += k->workers[i].dangling;
        code = write_unit(k, &k->workers[i], err);
    }
    numbers.spill_bytes = spill->file.end;
    numbers.longest = spill->longest;
    numbers.edges = spill->edges;
    if (code == HDX_OK && (code = hdx_resume_create(k->w, k->saving, HDX_RESUME_COLUMNS, &file, err)) == HDX_OK &&
        (code = hdx_resume_put(file, &numbers, sizeof numbers, err)) == HDX_OK &&
        (code = hdx_resume_put(file, &k->at, sizeof k->at, err)) == HDX_OK &&
        (code = hdx_resume_put_array(file, sizeof *spill->units, spill->units, spill->count, err)) == HDX_OK &&
        (code = put_misfits(k, file, err)) == HDX_OK)
        code = hdx_resume_put(file, k->arrays, numbers.stretches * sizeof *k->arrays, err);
    if ((code = hdx_resume_end(file, code, &sum, err)) == HDX_OK) {
        k->saving->has_columns = true;
        hdx_seal_put(k->w, k->saving);
    }
    return code;
}

static hdx_code get_misfits(walk *k, hdx_resume_file *file, hdx_error *err)
{
    kept_misfit *list;
    uint64_t     count;
    hdx_code     code = hdx_resume_array(file, sizeof *list, (void **)&list, &count, err);
    for (uint64_t i = 0; i < count && code == HDX_OK; i++)
        if (list[i].class_number >= k->t->class_count || list[i].pos == 0 || list[i].pos > k->t->dump_size)
            code = hdx_resume_refuse(err);
        else
            misfit(&k->misfits[list[i].class_number], list[i].pos - 1);
    hdx_mem_put(&k->w->mem, list, count * sizeof *list);
    return code;
}

/*
 * Checks that runs precede `next` and start inside of their first stretch. Other errors in them and in the units show
 * when everything is read.
 */
static bool halt_valid(const hdx_survey *survey, const hdx_halt *at)
{
    if (at->next > survey->stretch_count || at->count > HDX_WORKERS_MAX)
        return false;
    for (uint32_t i = 0; i < at->count; i++) {
        const hdx_left *run = &at->left[i];
        if (run->from >= run->end || run->end > at->next ||
            (run->pos != 0 &&
             (run->pos < survey->stretches[run->from].from || run->pos > survey->stretches[run->from].end)))
            return false;
    }
    return true;
}

static hdx_code get_numbers(walk *k, hdx_resume_file *file, hdx_error *err)
{
    hdx_spill    *spill = &k->out->spill;
    hdx_work     *w = k->w;
    saved_numbers numbers;
    struct stat   st;
    hdx_code      code;
    if ((code = hdx_resume_get(file, &numbers, sizeof numbers, err)) != HDX_OK ||
        (code = hdx_resume_get(file, &k->at, sizeof k->at, err)) != HDX_OK)
        return code;
    if (numbers.scan_sum != k->saving->scan_sum ||
        numbers.stretches != (k->arrays == NULL ? 0 : k->dump->survey.stretch_count) ||
        !halt_valid(&k->dump->survey, &k->at) || w->io->stat(w->io, spill->file.path, &st) < 0 ||
        numbers.spill_bytes > (uint64_t)st.st_size || numbers.longest > numbers.spill_bytes)
        return hdx_resume_refuse(err);
    k->out->dangling = numbers.dangling;
    spill->file.end = numbers.spill_bytes;
    spill->longest = numbers.longest;
    spill->edges = numbers.edges;
    if ((code = hdx_resume_array(file, sizeof *spill->units, (void **)&spill->units, &spill->count, err)) == HDX_OK &&
        (code = get_misfits(k, file, err)) == HDX_OK)
        code = hdx_resume_get(file, k->arrays, numbers.stretches * sizeof *k->arrays, err);
    spill->capacity = spill->count;
    for (uint64_t i = 0; i < numbers.stretches && code == HDX_OK; i++) {
        uint8_t overlap;
        memcpy(&overlap, &k->arrays[i].overlap, sizeof overlap); /* an invalid bool must not be read as one */
        if (overlap > 1)
            code = hdx_resume_refuse(err);
    }
    return code;
}

static hdx_code resume(walk *k, hdx_error *err)
{
    hdx_resume_file *file = NULL;
    uint32_t         sum;
    hdx_code         code =
        hdx_spill_reopen(k->w, "references.tmp", &k->out->spill, err) == HDX_OK ? HDX_OK : hdx_resume_refuse(err);
    if (code == HDX_OK && (code = hdx_resume_open(k->w, k->saving, HDX_RESUME_COLUMNS, &file, &sum, err)) == HDX_OK)
        code = get_numbers(k, file, err);
    hdx_resume_close(file);
    return code;
}

static hdx_code prepare(walk *k, hdx_error *err)
{
    hdx_work              *w = k->w;
    const hdx_dump_tables *t = k->t;
    const hdx_lookup      *lookup = &t->lookup;
    if (t->sizing.id_size == 8 &&
        (k->arrays = hdx_mem_array(&w->mem, k->dump->survey.stretch_count, sizeof *k->arrays)) == NULL)
        return no_memory(err);
    if (lookup->local_count > 0) {
        if ((k->holds_locals = hdx_mem_array(&w->mem, hdx_bits_words(t->objects), 8)) == NULL)
            return no_memory(err);
        for (uint64_t i = 0; i < lookup->local_count; i++)
            hdx_bits_put(k->holds_locals, lookup->locals[i].first);
    }
    if ((k->misfits = hdx_mem_array(&w->mem, t->class_count, sizeof *k->misfits)) == NULL)
        return no_memory(err);
    if ((k->shapes = hdx_mem_array(&w->mem, t->class_count, sizeof *k->shapes)) == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < t->class_count; i++) {
        const hdx_class_layout *l = &lookup->layouts[i];
        k->shapes[i] = (shape){ t->classes[i].id,
                                l->bytes,
                                lookup->offsets + l->first,
                                l->references,
                                hdx_spill_length(&t->classes[i]),
                                (t->classes[i].flags & HDX_CLASS_OF_ARRAYS) != 0 ? HDX_LENGTH_ODD : 0 };
    }
    hdx_spill_widths(t->objects, k->widths);
    for (unsigned i = 0; i < w->threads; i++) {
        k->workers[i].last_class = HDX_NO_CLASS;
        k->workers[i].unit.first = HDX_NO_ID;
    }
    return k->saving->has_columns ? resume(k, err) : hdx_spill_open(w, "references.tmp", &k->out->spill, err);
}

static void finish_walk(walk *k)
{
    hdx_mem *mem = &k->w->mem;
    for (unsigned i = 0; i < k->w->threads; i++) {
        worker *w = &k->workers[i];
        k->out->dangling += w->dangling;
        hdx_mem_put(mem, w->values, w->value_capacity * sizeof *w->values);
        hdx_mem_put(mem, w->bytes, w->capacity);
    }
    hdx_mem_put(mem, k->shapes, k->t->class_count * sizeof *k->shapes);
    hdx_mem_put(mem, k->misfits, k->t->class_count * sizeof *k->misfits);
    hdx_mem_put(mem, k->arrays, k->dump->survey.stretch_count * sizeof *k->arrays);
    hdx_mem_put(mem, k->holds_locals, hdx_bits_words(k->t->objects) * 8);
    hdx_mem_put(mem, k, sizeof *k);
}

hdx_code hdx_pass_columns(hdx_work *w, const hdx_dump_tables *t, const hdx_dump *dump, hdx_saving *saving, bool lists,
                          hdx_columns *out, hdx_error *err)
{
    hdx_walk_visitor visitor = { NULL, on_begin, on_events, on_end };
    walk            *k = hdx_mem_get(&w->mem, sizeof *k);
    const bool       went_on = saving->has_columns;
    hdx_code         code;
    if (k == NULL)
        return no_memory(err);
    k->w = w;
    k->t = t;
    k->dump = dump;
    k->saving = saving;
    k->out = out;
    out->sizing = t->sizing;
    visitor.context = k;
    if ((code = prepare(k, err)) == HDX_OK &&
        (!lists || went_on || (code = hdx_entries_begin(w, &out->entries, err)) == HDX_OK))
        code = hdx_hprof_walk(dump->source, &dump->survey, w->threads, &visitor, &k->at, &w->mem, &w->tick, err);
    if (code == HDX_CANCELLED && saving->has_scan && hdx_resume_is_worth(w, saving, code))
        (void)save_progress(k, NULL);
    if (code == HDX_OK && (code = finish_units(k, err)) == HDX_OK &&
        (!went_on || saving->sealed || (code = hdx_spill_check(w, t, &out->spill, true, err)) == HDX_OK) &&
        (code = report_misfits(k, err)) == HDX_OK) {
        find_reference_size(k);
        out->sizing.alignment = find_alignment(t);
        saving->unproven = false;
    }
    finish_walk(k);
    return code;
}
