/*
 * columns_wide.c - the second pass over the dump.
 *
 * In:  the stretches of the first pass, the set of addresses (id = rank), class layouts, locals of threads.
 * Out: position, class, length and heap of every object in id order; its references as ids, sorted, each once, without the class
 *      (MAT 3.1), spilled in the order of the dump; how many there are, in id order; the index files of the columns.
 * Every reference is resolved once, here. Dangling ones are dropped and counted (R19).
 * Cost: 14 bytes an object and the degree (4 or 8); the spill file takes a word per reference and two per run of neighbouring ids, and
 *       a run is long wherever the dump is in the order of addresses.
 */
#include "build/passes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct worker {
    NID        *values; /* references of the stretch at hand */
    uint64_t    value_count, value_capacity;
    NID        *runs;
    uint64_t    run_count, run_capacity; /* in NIDs: two a run */
    uint64_t    list;      /* where the list of the array at hand begins, while its parts come in */
    uint64_t    stretch;
    hdx_spilled s;
    hdx_addr    last_class_addr;
    uint32_t    last_class;
    uint64_t    dangling, bytes;
} worker;

typedef struct walk {
    WIDE(hdx_pass) *p;
    worker            workers[HDX_WORKERS_MAX];
} walk;

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "the second pass", 0); }

static bool room(hdx_build *b, worker *w, uint64_t more)
{
    uint64_t next = w->value_capacity == 0 ? 1u << 16 : w->value_capacity;
    if (w->value_capacity - w->value_count >= more)
        return true;
    while (next - w->value_count < more)
        next *= 2;
    void *values = hdx_mem_resize(&b->mem, w->values, w->value_capacity * sizeof(NID), next * sizeof(NID));
    if (values == NULL)
        return false;
    w->values = values;
    w->value_capacity = next;
    return true;
}

static inline void set_position(hdx_columns *c, uint64_t id, hdx_pos pos)
{
    uint8_t bytes[8];
    hdx_put64(bytes, pos + 1);
    memcpy(c->positions + id * c->position_width, bytes, c->position_width);
}

static int compare(const void *a, const void *b)
{
    NID x = *(const NID *)a, y = *(const NID *)b;
    return x < y ? -1 : x > y;
}

/* Ascending and each once; nearly every list is tiny or sorted already. */
static uint64_t sort_unique(NID *v, uint64_t n)
{
    uint64_t kept = 0;
    bool     sorted = true;
    for (uint64_t i = 1; i < n && sorted; i++)
        sorted = v[i - 1] < v[i];
    if (sorted)
        return n;
    if (n <= 24)
        for (uint64_t i = 1; i < n; i++) {
            NID      x = v[i];
            uint64_t k = i;
            for (; k > 0 && v[k - 1] > x; k--)
                v[k] = v[k - 1];
            v[k] = x;
        }
    else
        qsort(v, (size_t)n, sizeof *v, compare);
    for (uint64_t i = 0; i < n; i++)
        if (kept == 0 || v[kept - 1] != v[i])
            v[kept++] = v[i];
    return kept;
}

static hdx_code add_locals(walk *k, worker *w, uint64_t id, hdx_error *err)
{
    hdx_build *b = k->p->b;
    uint64_t   low = 0, high = b->local_count;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (b->locals[mid].thread < id)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < b->local_count && b->locals[low].thread == id; low++) {
        if (!room(b, w, 1))
            return no_memory(err);
        w->values[w->value_count++] = (NID)b->locals[low].target;
    }
    return HDX_OK;
}

/* The list from `from` on is complete: it becomes the outbound list of id. */
static hdx_code finish(walk *k, worker *w, uint64_t id, uint64_t from, uint32_t class_number, hdx_error *err)
{
    WIDE(hdx_pass) *p = k->p;
    hdx_build        *b = p->b;
    if (p->holds_locals != NULL && hdx_bits_test(p->holds_locals, id)) {
        hdx_code code = add_locals(k, w, id, err);
        if (code != HDX_OK)
            return code;
    }
    uint64_t n = w->value_count - from;
    if (n > 0) {
        const NID own = (NID)b->classes[class_number].id; /* it stands first and only once: not in the list (MAT 3.1) */
        NID      *v = w->values + from;
        uint64_t  kept = 0;
        for (uint64_t i = 0; i < n; i++)
            if (v[i] != own)
                v[kept++] = v[i];
        n = sort_unique(v, kept);
        w->value_count = from + n;
    }
    p->outbound.at[id] = (NID)n;
    if (w->run_count > 0 && (uint64_t)w->runs[w->run_count - 2] + w->runs[w->run_count - 1] == id) {
        w->runs[w->run_count - 1]++;
        return HDX_OK;
    }
    if (w->run_count + 2 > w->run_capacity) {
        uint64_t next = w->run_capacity == 0 ? 1024 : 2 * w->run_capacity;
        void    *runs = hdx_mem_resize(&b->mem, w->runs, w->run_capacity * sizeof(NID), next * sizeof(NID));
        if (runs == NULL)
            return no_memory(err);
        w->runs = runs;
        w->run_capacity = next;
    }
    w->runs[w->run_count++] = (NID)id;
    w->runs[w->run_count++] = 1;
    return HDX_OK;
}

static inline void put(hdx_build *b, worker *w, hdx_addr target)
{
    hdx_id id;
    if (target == 0)
        return;
    id = hdx_addresses_find(b->ids, target);
    if (id == HDX_NO_ID)
        w->dangling++;
    else
        w->values[w->value_count++] = (NID)id;
}

static uint32_t class_at(hdx_build *b, worker *w, hdx_addr addr)
{
    const uint64_t *number;
    if (w->last_class_addr == addr && w->last_class != HDX_NO_CLASS)
        return w->last_class;
    number = hdx_map_get(&b->by_address, addr);
    w->last_class_addr = addr;
    w->last_class = number == NULL ? HDX_NO_CLASS : (uint32_t)*number;
    return w->last_class;
}

static hdx_code changed(hdx_pos pos, hdx_error *err)
{
    return hdx_fail(err, HDX_BAD_DUMP, "", pos, "the dump changed while it was read");
}

/* R17: fields that lie wholly inside the bytes are read; the first such record of a class is told, whichever thread met it. */
static void misfit(hdx_class_layout *l, hdx_pos pos)
{
    hdx_pos seen = atomic_load(&l->misfit);
    while ((seen == 0 || pos + 1 < seen) && !atomic_compare_exchange_weak(&l->misfit, &seen, pos + 1))
        ;
}

static hdx_code tell_misfits(hdx_build *b, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint32_t i = 0; i < b->class_count && code == HDX_OK; i++) {
        const hdx_class *c = &b->classes[i];
        hdx_pos          pos = atomic_load(&b->layouts[i].misfit);
        if (pos != 0 && (c->flags & HDX_CLASS_OPAQUE) == 0)
            code = hdx_build_damage(b, HDX_DAMAGE_LAYOUT, pos - 1, "INSTANCE_DUMP", 0, err, "fields of %.*s take %llu bytes, the record has another length",
                                    (int)(c->name.len > 60 ? 60 : c->name.len), c->name.at, (unsigned long long)b->layouts[i].bytes);
    }
    return code;
}

static hdx_code instance(walk *k, worker *w, const hdx_event *e, uint64_t id, hdx_error *err)
{
    hdx_build     *b = k->p->b;
    const uint32_t id_size = b->survey.head.id_size;
    uint32_t       number = class_at(b, w, e->class_addr);
    uint64_t       from = w->value_count;
    if (number == HDX_NO_CLASS)
        return changed(e->pos, err);
    hdx_class_layout *l = &b->layouts[number];
    const uint32_t   *offset = b->offsets + l->first;
    k->p->columns.class_of[id] = number;
    if (l->bytes != e->count)
        misfit(l, e->pos);
    if (!room(b, w, l->references))
        return no_memory(err);
    if (l->bytes <= e->body_len && id_size == 8)
        for (uint32_t i = 0; i < l->references; i++)
            put(b, w, hdx_be64(e->body + offset[i]));
    else
        for (uint32_t i = 0; i < l->references && (uint64_t)offset[i] + id_size <= e->body_len; i++)
            put(b, w, hdx_be_id(e->body + offset[i], id_size));
    return finish(k, w, id, from, number, err);
}

static void note_array(worker *w, const hdx_event *e)
{
    hdx_spilled *s = &w->s;
    if (s->last_array == 0)
        s->first_array = e->addr;
    else if (s->last_array < e->addr && e->addr < s->last_end)
        s->overlap = true;
    s->last_array = e->addr;
    s->last_end = e->addr + 16 + 8 * (uint64_t)e->count;
}

static hdx_code object_array(walk *k, worker *w, const hdx_event *e, uint64_t id, hdx_error *err)
{
    hdx_build     *b = k->p->b;
    const uint32_t id_size = b->survey.head.id_size, n = e->body_len / id_size;
    uint32_t       number = class_at(b, w, e->class_addr);
    if (number == HDX_NO_CLASS)
        return changed(e->pos, err);
    if (e->body_from == 0) {
        note_array(w, e);
        k->p->columns.class_of[id] = number;
        k->p->columns.length[id] = e->count;
        w->list = w->value_count;
    }
    if (!room(b, w, n))
        return no_memory(err);
    for (uint32_t i = 0; i < n; i++)
        put(b, w, hdx_be_id(e->body + (size_t)i * id_size, id_size));
    return (uint64_t)e->body_from + n < e->count ? HDX_OK : finish(k, w, id, w->list, number, err);
}

/* super (if any), loader (always: object 0 is the boot loader), static references (MAT 3.3). */
static hdx_code class_references(hdx_build *b, worker *w, uint32_t number, hdx_view record, hdx_error *err)
{
    const hdx_class *c = &b->classes[number];
    const uint32_t   id_size = b->survey.head.id_size;
    hdx_class_dump   d;
    uint64_t         name;
    uint8_t          type;
    hdx_view         value;
    if (!room(b, w, 2u + (uint64_t)c->static_count))
        return no_memory(err);
    if (c->super != HDX_NO_CLASS)
        w->values[w->value_count++] = (NID)b->classes[c->super].id;
    hdx_id loader = c->loader == 0 ? 0 : hdx_addresses_find(b->ids, c->loader);
    w->values[w->value_count++] = loader == HDX_NO_ID ? 0 : (NID)loader;
    if (record.len == 0 || !hdx_class_dump_cut(record, id_size, &d) || d.static_count != c->static_count)
        return HDX_OK;
    while (hdx_class_static_next(&d.statics, id_size, &name, &type, &value))
        if (type == 2)
            put(b, w, hdx_be_id(value.at, id_size));
    return HDX_OK;
}

static hdx_code class_object(walk *k, worker *w, const hdx_event *e, uint64_t id, hdx_error *err)
{
    hdx_build      *b = k->p->b;
    uint64_t        from = w->value_count;
    const uint64_t *number = hdx_map_get(&b->class_objects, id);
    if (number == NULL)
        return changed(e->pos, err);
    k->p->columns.class_of[id] = b->class_class;
    hdx_code code = class_references(b, w, (uint32_t)*number, (hdx_view){ e->body, e->body_len }, err);
    return code != HDX_OK ? code : finish(k, w, id, from, b->class_class, err);
}

static hdx_code primitive_array(walk *k, worker *w, const hdx_event *e, uint64_t id, hdx_error *err)
{
    uint32_t number = k->p->b->primitive_class[e->type & 15];
    if (number == HDX_NO_CLASS)
        return changed(e->pos, err);
    k->p->columns.class_of[id] = number;
    k->p->columns.length[id] = e->count;
    return finish(k, w, id, w->value_count, number, err);
}

static bool is_skipped(const hdx_build *b, hdx_pos pos)
{
    uint64_t low = 0, high = b->scan.skipped_count;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (b->scan.skipped[mid] < pos)
            low = mid + 1;
        else
            high = mid;
    }
    return low < b->scan.skipped_count && b->scan.skipped[low] == pos;
}

static uint8_t heap_place(const hdx_build *b, uint32_t number)
{
    for (uint64_t i = 0; i < b->heap_count; i++)
        if (b->heaps[i].number == number)
            return (uint8_t)(i + 1);
    return 0;
}

static hdx_code on_events(void *context, unsigned number, const hdx_event *events, size_t n, hdx_error *err)
{
    walk      *k = context;
    worker    *w = &k->workers[number];
    hdx_build *b = k->p->b;
    hdx_code   code = HDX_OK;
    for (size_t i = 0; i < n && code == HDX_OK; i++) {
        const hdx_event *e = &events[i];
        if (e->tag != HDX_SUB_INSTANCE && e->tag != HDX_SUB_PRIMITIVE_ARRAY && e->tag != HDX_SUB_OBJECT_ARRAY && e->tag != HDX_SUB_CLASS &&
            e->tag != HDX_SUB_PRIMITIVE_ARRAY_NODATA)
            continue;
        if (b->scan.skipped_count > 0 && is_skipped(b, e->pos))
            continue;
        hdx_id id = hdx_addresses_find(b->ids, e->addr);
        if (id == HDX_NO_ID)
            return changed(e->pos, err);
        if (e->body_from == 0) {
            set_position(&k->p->columns, id, e->pos);
            if (k->p->columns.heap != NULL)
                k->p->columns.heap[id] = heap_place(b, e->heap);
        }
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
    w->value_count = w->run_count = 0;
    w->stretch = stretch;
    w->s = (hdx_spilled){ 0 };
    return HDX_OK;
}

static hdx_code on_end(void *context, unsigned number, uint64_t stretch, hdx_error *err)
{
    walk             *k = context;
    worker           *w = &k->workers[number];
    WIDE(hdx_pass) *p = k->p;
    hdx_io           *io = p->b->io;
    uint64_t          run_bytes = w->run_count * sizeof(NID), value_bytes = w->value_count * sizeof(NID);
    int               rc = 0;
    w->s.at = atomic_fetch_add(&p->spill_end, run_bytes + value_bytes);
    w->s.runs = w->run_count / 2;
    w->s.values = w->value_count;
    if (run_bytes > 0)
        rc = io->write_at(io, p->spill_fd, w->runs, run_bytes, w->s.at);
    if (rc >= 0 && value_bytes > 0)
        rc = io->write_at(io, p->spill_fd, w->values, value_bytes, w->s.at + run_bytes);
    p->spilled[stretch] = w->s;
    return rc < 0 ? hdx_fail(err, HDX_IO, "references.tmp", w->s.at, "cannot write: %s", strerror(-rc)) : HDX_OK;
}

/* Object 0 and invented classes have no record: a stretch of their own behind the others. */
static hdx_code without_records(walk *k, hdx_error *err)
{
    WIDE(hdx_pass) *p = k->p;
    hdx_build        *b = p->b;
    worker           *w = &k->workers[0];
    uint64_t          stretch = p->spilled_count - 1;
    hdx_code          code = on_begin(k, 0, stretch, err);
    p->columns.class_of[0] = b->loader_class;
    if (code == HDX_OK)
        code = finish(k, w, 0, w->value_count, b->loader_class, err);
    for (uint32_t i = 0; i < b->class_count && code == HDX_OK; i++) {
        uint64_t from = w->value_count;
        if ((b->classes[i].flags & HDX_CLASS_INVENTED) == 0)
            continue;
        p->columns.class_of[b->classes[i].id] = b->class_class;
        if ((code = class_references(b, w, i, (hdx_view){ NULL, 0 }, err)) == HDX_OK)
            code = finish(k, w, b->classes[i].id, from, b->class_class, err);
    }
    return code != HDX_OK ? code : on_end(k, 0, stretch, err);
}

/* MAT 2.1: compressed as soon as an object array lies inside the room its predecessor in the file would need with 8-byte references. */
static void find_reference_size(WIDE(hdx_pass) *p)
{
    hdx_build *b = p->b;
    hdx_addr   last = 0;
    uint64_t   end = 0;
    bool       overlap = false;
    for (uint64_t i = 0; i + 1 < p->spilled_count && !overlap; i++) {
        const hdx_spilled *s = &p->spilled[i];
        if (s->last_array == 0)
            continue;
        overlap = s->overlap || (last != 0 && last < s->first_array && s->first_array < end);
        last = s->last_array;
        end = s->last_end;
    }
    b->sizing.reference_size = b->sizing.id_size == 8 && overlap ? 4 : b->sizing.id_size;
}

/* MAT 2.2. */
static void find_alignment(hdx_build *b)
{
    hdx_addr addresses[1024], last = 0;
    uint64_t divisor = 0;
    bool     more = true;
    for (uint64_t first = 1; first < b->objects && more; first += 1024) {
        uint32_t n = b->objects - first > 1024 ? 1024 : (uint32_t)(b->objects - first);
        hdx_addresses_read(b->ids, first, n, addresses);
        for (uint32_t i = 0; i < n && more; i++) {
            if (last != 0)
                more = hdx_alignment_feed(&divisor, addresses[i] - last);
            last = addresses[i];
        }
    }
    b->sizing.alignment = hdx_alignment_of(divisor);
}

static hdx_code make_columns(WIDE(hdx_pass) *p, hdx_error *err)
{
    hdx_build   *b = p->b;
    hdx_columns *c = &p->columns;
    uint64_t     n = b->objects;
    char         path[4200];
    int          fd;
    c->position_width = b->manifest.dump_size + 1 < 1ull << 40 ? 5 : 8;
    c->positions = hdx_mem_array(&b->mem, n, c->position_width);
    c->class_of = hdx_mem_array(&b->mem, n, sizeof *c->class_of);
    c->length = hdx_mem_array(&b->mem, n, sizeof *c->length);
    c->heap = b->heap_count > 0 ? hdx_mem_get(&b->mem, n) : NULL;
    p->outbound.n = n;
    p->outbound.at = hdx_mem_array(&b->mem, n + 1, sizeof(NID));
    p->spilled_count = b->survey.stretch_count + 1;
    p->spilled = hdx_mem_array(&b->mem, p->spilled_count, sizeof *p->spilled);
    if (c->positions == NULL || c->class_of == NULL || c->length == NULL || (b->heap_count > 0 && c->heap == NULL) || p->outbound.at == NULL ||
        p->spilled == NULL)
        return hdx_no_memory(err, "columns of objects", n * 18);
    if (b->local_count > 0) {
        if ((p->holds_locals = hdx_mem_array(&b->mem, hdx_bits_words(n), 8)) == NULL)
            return no_memory(err);
        for (uint64_t i = 0; i < b->local_count; i++)
            hdx_bits_put(p->holds_locals, b->locals[i].thread);
    }
    (void)snprintf(path, sizeof path, "%s/references.tmp", b->folder);
    if ((fd = b->io->create(b->io, path)) < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot create: %s", strerror(-fd));
    p->spill_fd = fd;
    return HDX_OK;
}

hdx_code WIDE(hdx_pass_columns)(WIDE(hdx_pass) *p, hdx_error *err)
{
    hdx_build       *b = p->b;
    hdx_walk_visitor visitor = { NULL, on_begin, on_events, on_end };
    walk            *k = hdx_mem_get(&b->mem, sizeof *k);
    hdx_code         code = k == NULL ? no_memory(err) : make_columns(p, err);
    if (code == HDX_OK) {
        k->p = p;
        visitor.context = k;
        for (unsigned i = 0; i < b->threads; i++)
            k->workers[i].last_class = HDX_NO_CLASS;
        code = hdx_hprof_walk(b->source, &b->survey, b->threads, &visitor, &b->mem, &b->tick, err);
    }
    if (code == HDX_OK && (code = without_records(k, err)) == HDX_OK && (code = tell_misfits(b, err)) == HDX_OK) {
        find_reference_size(p);
        find_alignment(b);
        code = hdx_classes_size(b, err);
    }
    for (unsigned i = 0; k != NULL && i < b->threads; i++) {
        atomic_fetch_add(&b->dangling_references, k->workers[i].dangling);
        hdx_mem_put(&b->mem, k->workers[i].values, k->workers[i].value_capacity * sizeof(NID));
        hdx_mem_put(&b->mem, k->workers[i].runs, k->workers[i].run_capacity * sizeof(NID));
    }
    hdx_mem_put(&b->mem, k, sizeof *k);
    return code;
}

void WIDE(hdx_pass_shallows)(const WIDE(hdx_pass) *p, uint64_t first, uint32_t n, uint64_t *shallow, uint32_t *classes)
{
    const hdx_build *b = p->b;
    uint64_t         numbers[HDX_SHALLOWS], lengths[HDX_SHALLOWS];
    hdx_ints_read(p->class_file, first, n, numbers);
    hdx_ints_read(p->size_file, first, n, lengths);
    for (uint32_t i = 0; i < n; i++) {
        const hdx_class *c = &b->classes[numbers[i]];
        if (classes != NULL)
            classes[i] = (uint32_t)numbers[i];
        switch (c->kind) {
        case HDX_OBJECT_ARRAY: shallow[i] = hdx_object_array_size(&b->sizing, lengths[i]); break;
        case HDX_PRIMITIVE_ARRAY: shallow[i] = hdx_primitive_array_size(&b->sizing, c->element_type, lengths[i]); break;
        default: shallow[i] = c->instance_size; break;
        }
        if (numbers[i] == b->class_class) { /* class objects weigh their statics (MAT 2.6); int.class and the like are plain instances (MAT 1.4) */
            const uint64_t *of = hdx_map_get(&b->class_objects, first + i);
            if (of != NULL)
                shallow[i] = b->classes[*of].class_shallow;
        }
    }
}

/* ---- index files ---- */
static hdx_code fill_position(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const hdx_columns *c = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t bytes[8] = { 0 };
        memcpy(bytes, c->positions + (first + i) * c->position_width, c->position_width);
        values[i] = hdx_le64(bytes);
    }
    return HDX_OK;
}

static hdx_code fill_class(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const hdx_columns *c = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        values[i] = c->class_of[first + i];
    return HDX_OK;
}

static hdx_code fill_length(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const hdx_columns *c = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        values[i] = c->length[first + i];
    return HDX_OK;
}

static hdx_code fill_heap(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const hdx_columns *c = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        values[i] = c->heap[first + i];
    return HDX_OK;
}

static hdx_code reopen(WIDE(hdx_pass) *p, hdx_kind kind, uint64_t below, hdx_ints **out, hdx_error *err)
{
    hdx_build     *b = p->b;
    hdx_index_file file = { b->manifest.files[kind].bytes, b->manifest.files[kind].sum };
    return hdx_ints_open(&b->place, kind, &file, b->objects, below, &p->note, out, err);
}

hdx_code WIDE(hdx_pass_write_objects)(WIDE(hdx_pass) *p, hdx_error *err)
{
    hdx_build     *b = p->b;
    hdx_columns   *c = &p->columns;
    hdx_index_file file;
    hdx_code       code;
    if ((code = hdx_addresses_write(&b->place, HDX_KIND_ADDRESS, b->ids, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_ADDRESS, &file);
    if ((code = hdx_ints_write(&b->place, HDX_KIND_POSITION, b->objects, fill_position, c, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_POSITION, &file);
    hdx_mem_put(&b->mem, c->positions, b->objects * c->position_width);
    c->positions = NULL;
    if ((code = hdx_ints_write(&b->place, HDX_KIND_CLASS, b->objects, fill_class, c, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_CLASS, &file);
    if ((code = hdx_ints_write(&b->place, HDX_KIND_SIZE, b->objects, fill_length, c, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_SIZE, &file);
    if (c->heap != NULL) {
        if ((code = hdx_ints_write(&b->place, HDX_KIND_HEAP, b->objects, fill_heap, c, &file, err)) != HDX_OK)
            return code;
        hdx_manifest_file_written(b, HDX_KIND_HEAP, &file);
    }
    /* lengths are read again in id order only: the file serves */
    hdx_mem_put(&b->mem, c->length, b->objects * sizeof *c->length);
    c->length = NULL;
    if ((code = reopen(p, HDX_KIND_CLASS, b->class_count, &p->class_file, err)) != HDX_OK)
        return code;
    return reopen(p, HDX_KIND_SIZE, 0, &p->size_file, err);
}
