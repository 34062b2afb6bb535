/*
 * scan.c - the first pass.
 *
 * In:  the dump, once, through the survey of the hprof room (several threads where the dump allows it).
 * Out: the set of addresses; raw classes, roots, strings, loads, frames and traces in file order; which class ids are
 *      in use and how often.
 * When only counts are wanted (hdx_dump.counting) no address is kept, roots and frames are left out.
 * An id that two records claim belongs to the first of them (R13). Threads cannot tell which is first, so a scan that
 * met a repeated address is made again on one thread, an address at a time; such dumps are rare.
 * Told to stop, it keeps what it has of the heap (scan_kept.c), and a later build goes on from there; top-level records
 * are read again.
 * Cost: a batch of events touches the address set once per object; nothing is kept per object but its bit.
 */
#include "reading/scan.h"
#include "reading/tasks.h"

#include <stddef.h>
#include <stdio.h>

#define AHEAD     8u         /* look-ups in a large map are asked for so many before */
#define USES_MOST (1u << 18) /* classes a worker has room for before it meets them */

typedef hdx_scan_worker worker;
typedef hdx_scanner     scanner;

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "the first pass", 0); }

static hdx_class_use *use_of(const scanner *s, worker *w, hdx_addr addr)
{
    const uint64_t *place;
    bool            fresh;
    if (w->last_class == addr && w->last_use > 0)
        return &w->uses[w->last_use - 1];
    place = hdx_map_get(&s->in->dump->scan.by_class, addr);
    if (place == NULL || *place >= w->loaded) {
        uint64_t *own = hdx_map_put(&w->others, addr, &fresh);
        if (own == NULL || (fresh && !hdx_mem_room(&s->in->w->mem, (void **)&w->uses, &w->use_capacity, w->use_count,
                                                   sizeof *w->uses)))
            return NULL;
        if (fresh) {
            *own = w->use_count;
            w->uses[w->use_count++] = (hdx_class_use){ .addr = addr };
        }
        place = own;
    }
    assert(*place < w->use_count);
    w->last_class = addr;
    w->last_use = *place + 1;
    w->uses[*place].addr = addr;
    return &w->uses[*place];
}

static hdx_code add_class(scanner *s, worker *w, const hdx_event *e, hdx_error *err)
{
    char *copy = hdx_arena_copy(&w->arena, e->body, e->body_len);
    if (copy == NULL ||
        !hdx_mem_room(&s->in->w->mem, (void **)&w->classes, &w->class_capacity, w->class_count, sizeof *w->classes))
        return no_memory(err);
    w->classes[w->class_count++] = (hdx_raw_class){ e->pos, e->addr, { (const uint8_t *)copy, e->body_len } };
    w->class_bytes += e->body_len;
    return HDX_OK;
}

static hdx_code add_heap(scanner *s, worker *w, const hdx_event *e, hdx_error *err)
{
    bool fresh;
    if (w->heap_count > 0 &&
        w->heaps[w->heap_count - 1].number == e->count) /* most tell of the heap that it was before */
        return HDX_OK;
    if (hdx_map_put(&w->heaps_met, e->count, &fresh) == NULL ||
        (fresh &&
         !hdx_mem_room(&s->in->w->mem, (void **)&w->heaps, &w->heap_capacity, w->heap_count, sizeof *w->heaps)))
        return no_memory(err);
    if (fresh)
        w->heaps[w->heap_count++] = (hdx_heap_name){ e->pos, e->addr, e->count };
    return HDX_OK;
}

/*
 * MAT 2.1, between neighbours in the file. A worker that jumps ahead compares arrays with others between them: the rule
 * holds for those too.
 */
static void take_array(scanner *s, worker *w, hdx_class_use *use, const hdx_event *e)
{
    w->compressed |= w->last_array != 0 && w->last_array < e->addr && e->addr < w->last_end;
    w->last_array = e->addr;
    w->last_end = e->addr + 16 + 8 * (uint64_t)e->count;
    use->arrays++;
    use->elements += e->count;
    if (s->sizing)
        for (unsigned k = 0; k < 2; k++)
            use->array_bytes[k] += hdx_object_array_size(&w->sizes[k], e->count);
}

static void take_primitive(scanner *s, worker *w, const hdx_event *e)
{
    const unsigned type = e->type & 15u;
    w->primitive_arrays[type]++;
    if (s->sizing)
        for (unsigned k = 0; k < 2; k++)
            w->primitive_bytes[type][k] += hdx_primitive_array_size(&w->sizes[k], (uint8_t)type, e->count);
}

/*
 * MAT 2.2 asks for the differences between neighbours; all of them have the divisor that all distances from one address
 * have.
 */
static void divide(worker *w, const hdx_event *e)
{
    if (w->first_addr == 0)
        w->first_addr = e->addr;
    else
        w->divided = !hdx_alignment_feed(&w->divisor,
                                         e->addr > w->first_addr ? e->addr - w->first_addr : w->first_addr - e->addr);
}

/* Everything but the address itself. */
static hdx_code take(scanner *s, worker *w, const hdx_event *e, hdx_error *err)
{
    hdx_class_use *use;
    switch (e->tag) {
    case HDX_SUB_INSTANCE:
        if ((use = use_of(s, w, e->class_addr)) == NULL)
            return no_memory(err);
        if (use->instances++ == 0) {
            use->first_pos = e->pos;
            use->first_bytes = use->most_bytes = e->count;
        } else if (use->first_bytes != e->count) {
            use->other_pos = use->other_pos == 0 ? e->pos : use->other_pos;
            use->most_bytes = e->count > use->most_bytes ? e->count : use->most_bytes;
        }
        use->last_pos = e->pos; /* a worker goes forward, so this is its last one */
        use->last_bytes = e->count;
        return HDX_OK;
    case HDX_SUB_OBJECT_ARRAY:
        if ((use = use_of(s, w, e->class_addr)) == NULL)
            return no_memory(err);
        take_array(s, w, use, e);
        return HDX_OK;
    case HDX_SUB_PRIMITIVE_ARRAY:
    case HDX_SUB_PRIMITIVE_ARRAY_NODATA: take_primitive(s, w, e); return HDX_OK;
    case HDX_SUB_CLASS: return add_class(s, w, e, err);
    case HDX_SUB_HEAP_DUMP_INFO: return add_heap(s, w, e, err);
    default:
        if (s->in->dump->counting)
            return HDX_OK;
        if (!hdx_mem_room(&s->in->w->mem, (void **)&w->roots, &w->root_capacity, w->root_count, sizeof *w->roots))
            return no_memory(err);
        w->roots[w->root_count++].raw = (hdx_raw_root){ e->pos, e->addr, e->serial, e->frame, e->tag };
        return HDX_OK;
    }
}

/* A second record for an id. A class described twice in the same words is what some writers do (R13): no damage. */
static hdx_code skip_repeated(scanner *s, const hdx_event *e, hdx_error *err)
{
    hdx_scan_result *r = &s->in->dump->scan;
    const uint64_t  *seen = hdx_map_get(&s->class_seen, e->addr);
    if (!hdx_mem_room(&s->in->w->mem, (void **)&r->skipped, &r->skipped_capacity, r->skipped_count, sizeof *r->skipped))
        return no_memory(err);
    r->skipped[r->skipped_count++] = e->pos;
    if (e->tag == HDX_SUB_CLASS && seen != NULL) {
        hdx_view first = s->workers[0].classes[*seen - 1].record;
        if (first.len == e->body_len && memcmp(first.at, e->body, first.len) == 0)
            return HDX_OK;
    }
    return hdx_work_damage(s->in->w, HDX_DAMAGE_DUPLICATE, e->pos, hdx_sub_name(e->tag), 0, err,
                           "second record for object 0x%llx; the first stands", (unsigned long long)e->addr);
}

static hdx_code heap_carefully(scanner *s, const hdx_event *events, size_t n, hdx_error *err)
{
    worker  *w = &s->workers[0];
    hdx_code code = HDX_OK;
    for (size_t i = 0; i < n && code == HDX_OK; i++) {
        const hdx_event *e = &events[i];
        bool             fresh = true;
        if (hdx_scan_is_object(e->tag) &&
            (code = hdx_addresses_insert_one(s->in->t->lookup.ids, e->addr, &fresh, err)) != HDX_OK)
            return code;
        if (!fresh) {
            code = skip_repeated(s, e, err);
            continue;
        }
        if (!w->divided && hdx_scan_is_object(e->tag))
            divide(w, e);
        code = take(s, w, e, err);
        if (code == HDX_OK && e->tag == HDX_SUB_CLASS) {
            uint64_t *place = hdx_map_put(&s->class_seen, e->addr, NULL);
            if (place == NULL)
                return no_memory(err);
            *place = w->class_count;
        }
    }
    return code;
}

/* The classes told of so far. */
static bool map_loads(hdx_scan_result *r)
{
    bool fresh;
    if (!hdx_map_reserve(&r->by_class, r->load_count - r->mapped))
        return false;
    for (; r->mapped < r->load_count; r->mapped++) {
        if (r->mapped + AHEAD < r->load_count)
            hdx_map_ahead(&r->by_class, r->loads[r->mapped + AHEAD].addr);
        uint64_t *place = hdx_map_put(&r->by_class, r->loads[r->mapped].addr, &fresh);
        if (place == NULL)
            return false;
        if (fresh)
            *place = r->mapped;
        r->loads[r->mapped].again = !fresh;
    }
    return true;
}

/* Before a worker's first object. Where several work, all classes have been told of by then. */
static bool make_room(scanner *s, worker *w)
{
    hdx_scan_result *r = &s->in->dump->scan;
    (void)pthread_mutex_lock(&s->in->w->lock);
    const bool     mapped = r->mapped > 0 || map_loads(r);
    const uint64_t room = r->mapped < USES_MOST ? r->mapped : USES_MOST;
    (void)pthread_mutex_unlock(&s->in->w->lock);
    w->ready = true;
    if (!mapped || room == 0)
        return mapped;
    w->uses = hdx_mem_array(&s->in->w->mem, room, sizeof *w->uses);
    w->loaded = w->use_count = w->use_capacity = w->uses == NULL ? 0 : room;
    return w->uses != NULL;
}

/* Where classes are many: what will be looked up for events to come. */
static void fetch(const scanner *s, const worker *w, const hdx_event *events, size_t i, size_t end)
{
    const hdx_map *by_class = &s->in->dump->scan.by_class;
    if (i + 2 * AHEAD < end)
        hdx_map_ahead(by_class, events[i + 2 * AHEAD].class_addr);
    if (i + AHEAD < end &&
        (events[i + AHEAD].tag == HDX_SUB_INSTANCE || events[i + AHEAD].tag == HDX_SUB_OBJECT_ARRAY)) {
        const uint64_t *place = hdx_map_get(by_class, events[i + AHEAD].class_addr);
        if (place != NULL && *place < w->loaded)
            __builtin_prefetch(&w->uses[*place], 1);
    }
}

static hdx_code on_heap(void *context, unsigned number, const hdx_event *events, size_t n, hdx_error *err)
{
    scanner *s = context;
    worker  *w = &s->workers[number];
    hdx_addr addresses[256];
    if (!w->ready && !make_room(s, w))
        return no_memory(err);
    if (s->sizing && w->sizes[0].id_size == 0)
        for (unsigned k = 0; k < 2; k++)
            w->sizes[k] = (hdx_sizing){ s->in->dump->survey.head.id_size, 4u << k,
                                        s->in->t->sizing.alignment == 0 ? 8 : s->in->t->sizing.alignment, false };
    if (s->careful)
        return heap_carefully(s, events, n, err);
    for (size_t i = 0; i < n && !w->divided; i++)
        if (hdx_scan_is_object(events[i].tag))
            divide(w, &events[i]);
    if (s->in->dump->counting) {
        hdx_code code = HDX_OK;
        for (size_t i = 0; i < n && code == HDX_OK; i++)
            code = take(s, w, &events[i], err);
        return code;
    }
    for (size_t from = 0; from < n; from += 256) {
        size_t   end = n - from > 256 ? from + 256 : n, count = 0;
        hdx_code code = HDX_OK;
        for (size_t i = from; i < end && code == HDX_OK; i++) {
            if (w->loaded > HDX_CLASSES_CACHED)
                fetch(s, w, events, i, end);
            if (hdx_scan_is_object(events[i].tag))
                addresses[count++] = events[i].addr;
            code = take(s, w, &events[i], err);
        }
        if (code == HDX_OK && count > 0)
            code = hdx_addresses_insert(s->in->t->lookup.ids, addresses, count, &w->repeated, err);
        if (code != HDX_OK)
            return code;
    }
    return HDX_OK;
}

#define PUT(array, count, capacity, ...)                                                                               \
    do {                                                                                                               \
        if (!hdx_mem_room(&in->w->mem, (void **)&r->array, &r->capacity, r->count, sizeof *r->array))                  \
            return no_memory(err);                                                                                     \
        r->array[r->count++] = __VA_ARGS__;                                                                            \
    } while (0)

static hdx_code add_frame(const hdx_reading *in, uint64_t id, hdx_raw_frame frame, hdx_error *err)
{
    hdx_scan_result *r = &in->dump->scan;
    uint64_t         hash = hdx_mix64(frame.source ^ ((uint64_t)frame.serial << 32 | (uint32_t)frame.line));
    hash = hdx_mix64(frame.method ^ hdx_mix64(frame.signature ^ hash));
    bool      fresh;
    uint64_t *place = hdx_map_put(&r->frame_places, hash, &fresh);
    if (place == NULL)
        return no_memory(err);
    if (fresh || memcmp(&r->frames[*place], &frame, sizeof frame) !=
                     0) { /* others with the same hash: the last one is looked for */
        *place = r->frame_count;
        PUT(frames, frame_count, frame_capacity, frame);
    }
    PUT(named, named_count, named_capacity, (hdx_frame_id){ id, *place });
    return HDX_OK;
}

static hdx_code on_top(void *context, const hdx_top *t, hdx_error *err)
{
    const hdx_reading *in = ((scanner *)context)->in;
    hdx_scan_result   *r = &in->dump->scan;
    const uint32_t     width =
        t->count == 0 ? 8 : (uint32_t)(t->body.len / t->count); /* of a frame id: the survey has cut count of them */
    char *copy;
    if (in->dump->counting && (t->tag == HDX_TOP_FRAME || t->tag == HDX_TOP_TRACE))
        return HDX_OK;
    switch (t->tag) {
    case HDX_TOP_STRING:
        if ((copy = hdx_arena_copy(&r->arena, t->body.at, t->body.len)) == NULL)
            return no_memory(err);
        PUT(strings, string_count, string_capacity,
            (hdx_raw_string){ .id = t->id, .bytes = { (const uint8_t *)copy, t->body.len } });
        return HDX_OK;
    case HDX_TOP_LOAD_CLASS:
        PUT(loads, load_count, load_capacity, (hdx_raw_load){ t->id, t->name, t->serial, false });
        return HDX_OK;
    case HDX_TOP_FRAME:
        return add_frame(in, t->id, (hdx_raw_frame){ t->name, t->signature, t->source_file, t->serial, t->line }, err);
    case HDX_TOP_TRACE:
        PUT(traces, trace_count, trace_capacity, (hdx_raw_trace){ t->serial, t->thread, t->count, r->frame_id_count });
        for (uint32_t i = 0; i < t->count && (uint64_t)(i + 1) * width <= t->body.len; i++)
            PUT(frame_ids, frame_id_count, frame_id_capacity, hdx_be_id(t->body.at + (size_t)i * width, width));
        r->traces[r->trace_count - 1].count = (uint32_t)(r->frame_id_count - r->traces[r->trace_count - 1].first);
        return HDX_OK;
    default: return HDX_OK;
    }
}

static void free_workers(scanner *s)
{
    hdx_mem *mem = &s->in->w->mem;
    for (unsigned i = 0; i < s->worker_count; i++) {
        worker *w = &s->workers[i];
        hdx_mem_put(mem, w->classes, w->class_capacity * sizeof *w->classes);
        hdx_mem_put(mem, w->roots, w->root_capacity * sizeof *w->roots);
        hdx_mem_put(mem, w->uses, w->use_capacity * sizeof *w->uses);
        hdx_mem_put(mem, w->heaps, w->heap_capacity * sizeof *w->heaps);
        hdx_map_free(&w->others);
        hdx_map_free(&w->heaps_met);
        hdx_arena_free(&w->arena);
        memset(w, 0, sizeof *w);
        w->arena = hdx_arena_of(mem);
        w->others = hdx_map_of(mem);
        w->heaps_met = hdx_map_of(mem);
    }
    hdx_map_free(&s->class_seen);
}

void hdx_scan_frames_free(hdx_mem *mem, hdx_scan_result *r)
{
    hdx_mem_put(mem, r->frames, r->frame_capacity * sizeof *r->frames);
    hdx_map_free(&r->frame_places);
    hdx_mem_put(mem, r->named, r->named_capacity * sizeof *r->named);
    r->named = NULL;
    r->named_count = r->named_capacity = 0;
    hdx_mem_put(mem, r->traces, r->trace_capacity * sizeof *r->traces);
    hdx_mem_put(mem, r->frame_ids, r->frame_id_capacity * sizeof *r->frame_ids);
    r->frames = NULL;
    r->traces = NULL;
    r->frame_ids = NULL;
    r->frame_count = r->trace_count = r->frame_id_count = 0;
    r->frame_capacity = r->trace_capacity = r->frame_id_capacity = 0;
}

void hdx_scan_classes_free(hdx_mem *mem, hdx_scan_result *r)
{
    hdx_mem_put(mem, r->classes, r->class_capacity * sizeof *r->classes);
    hdx_mem_put(mem, r->uses, r->use_capacity * sizeof *r->uses);
    r->classes = NULL;
    r->uses = NULL;
    r->class_capacity = r->use_count = r->use_capacity = 0;
}

void hdx_scan_free(hdx_mem *mem, hdx_scan_result *r)
{
    hdx_scan_frames_free(mem, r);
    hdx_mem_put(mem, r->strings, r->string_capacity * sizeof *r->strings);
    hdx_mem_put(mem, r->loads, r->load_capacity * sizeof *r->loads);
    hdx_scan_classes_free(mem, r);
    hdx_mem_put(mem, r->roots, r->root_capacity * sizeof *r->roots);
    hdx_mem_put(mem, r->heaps, r->heap_capacity * sizeof *r->heaps);
    hdx_mem_put(mem, r->skipped, r->skipped_capacity * sizeof *r->skipped);
    hdx_map_free(&r->by_string);
    hdx_map_free(&r->by_class);
    hdx_map_free(&r->long_names);
    hdx_map_free(&r->long_sums);
    hdx_arena_free(&r->arena);
    memset(r, 0, sizeof *r);
    r->arena = hdx_arena_of(mem);
    r->long_names = r->long_sums = hdx_map_of(mem);
    r->by_string = hdx_map_of(mem);
    r->by_class = hdx_map_of(mem);
    r->frame_places = hdx_map_of(mem);
}

static hdx_code fresh_ids(const hdx_reading *in, hdx_error *err)
{
    hdx_addresses_close(in->t->lookup.ids);
    in->t->lookup.ids = NULL;
    return hdx_addresses_new(&in->w->mem, 8, &in->t->lookup.ids, err);
}

static hdx_code on_restart(void *context, hdx_error *err)
{
    scanner *s = context;
    free_workers(s);
    hdx_scan_free(&s->in->w->mem, &s->in->dump->scan);
    return fresh_ids(s->in, err);
}

/* Of two shares of one class: the first instance, and the first that differs from it. */
static void merge_first(hdx_class_use *to, const hdx_class_use *from)
{
    hdx_class_use a = *to, b = *from;
    if (b.instances == 0)
        return;
    if (a.instances == 0 || b.first_pos < a.first_pos) {
        a = *from;
        b = *to;
    }
    to->first_pos = a.first_pos;
    to->first_bytes = a.first_bytes;
    to->other_pos = a.other_pos;
    if (b.instances > 0) {
        hdx_pos other = b.first_bytes != a.first_bytes ? b.first_pos : b.other_pos;
        if (other != 0 && (to->other_pos == 0 || other < to->other_pos))
            to->other_pos = other;
    }
}

void hdx_scan_merge_use(hdx_class_use *to, const hdx_class_use *u)
{
    merge_first(to, u);
    to->addr = u->addr;
    to->instances += u->instances;
    to->arrays += u->arrays;
    to->elements += u->elements;
    to->most_bytes = u->most_bytes > to->most_bytes ? u->most_bytes : to->most_bytes;
    for (unsigned k = 0; k < 2; k++)
        to->array_bytes[k] += u->array_bytes[k];
    if (u->instances > 0 && (u->last_pos > to->last_pos || to->instances == u->instances)) {
        to->last_pos = u->last_pos;
        to->last_bytes = u->last_bytes;
    }
}

/* A worker's share of what is said of classes without LOAD_CLASS, or with one that came later. */
static hdx_code merge_others(hdx_scan_result *r, const worker *w, hdx_mem *mem, hdx_error *err)
{
    bool fresh;
    for (uint64_t k = w->loaded; k < w->use_count; k++) {
        uint64_t *place = hdx_map_put(&r->by_class, w->uses[k].addr, &fresh);
        if (place == NULL ||
            (fresh && !hdx_mem_room(mem, (void **)&r->uses, &r->use_capacity, r->use_count, sizeof *r->uses)))
            return no_memory(err);
        if (fresh) {
            *place = r->use_count;
            r->uses[r->use_count++] = w->uses[k];
        } else
            hdx_scan_merge_use(&r->uses[*place], &w->uses[k]);
    }
    return HDX_OK;
}

/* Into those of the first worker, where its places are already those of all loads. */
static hdx_code merge_uses(scanner *s, hdx_error *err)
{
    hdx_scan_result *r = &s->in->dump->scan;
    hdx_mem         *mem = &s->in->w->mem;
    worker          *first = &s->workers[0];
    hdx_code         code = HDX_OK;
    if (!map_loads(r))
        return no_memory(err);
    if (first->loaded == r->load_count && first->use_count == first->loaded) {
        r->uses = first->uses;
        r->use_capacity = first->use_capacity;
        first->uses = NULL;
        first->use_count = first->use_capacity = first->loaded = 0;
    } else {
        if ((r->uses = hdx_mem_array(mem, r->load_count, sizeof *r->uses)) == NULL)
            return no_memory(err);
        r->use_capacity = r->load_count;
    }
    r->use_count = r->load_count;
    for (unsigned i = 0; i < s->worker_count && code == HDX_OK; i++) {
        const worker *w = &s->workers[i];
        for (uint64_t k = 0; k < w->loaded; k++)
            if (w->uses[k].instances + w->uses[k].arrays > 0)
                hdx_scan_merge_use(&r->uses[k], &w->uses[k]);
        code = merge_others(r, w, mem, err);
    }
    return code;
}

static void merge_divisor(hdx_scan_result *r, const worker *w, hdx_addr *first)
{
    if (w->first_addr == 0)
        return;
    if (*first == 0)
        *first = w->first_addr;
    (void)hdx_alignment_feed(&r->divisor, w->first_addr > *first ? w->first_addr - *first : *first - w->first_addr);
    (void)hdx_alignment_feed(&r->divisor, w->divisor);
}

/* Without a set of addresses, a class described twice is found here (R13); other ids are not looked at. */
static hdx_code add_class_ids(const hdx_reading *in, hdx_error *err)
{
    hdx_scan_result *r = &in->dump->scan;
    uint64_t         kept = 0;
    hdx_map          seen = hdx_map_of(&in->w->mem);
    hdx_code         code = HDX_OK;
    for (uint64_t i = 0; i < r->class_count && code == HDX_OK; i++) {
        const hdx_raw_class *c = &r->classes[i];
        bool                 fresh;
        uint64_t            *place = hdx_map_put(&seen, c->addr, &fresh);
        if (place == NULL) {
            code = no_memory(err);
        } else if (fresh) {
            bool new_one;
            code = hdx_addresses_insert_one(in->t->lookup.ids, c->addr, &new_one, err);
            *place = kept;
            r->classes[kept++] = *c;
        } else {
            hdx_view first = r->classes[*place].record;
            if (first.len != c->record.len || memcmp(first.at, c->record.at, first.len) != 0)
                code =
                    hdx_work_damage(in->w, HDX_DAMAGE_DUPLICATE, c->pos, hdx_sub_name(HDX_SUB_CLASS), 0, err,
                                    "second record for object 0x%llx; the first stands", (unsigned long long)c->addr);
        }
    }
    assert(kept <= r->class_count);
    r->class_count = kept;
    hdx_map_free(&seen);
    return code;
}

static hdx_pos head_of(const uint8_t *element)
{
    hdx_pos pos;
    memcpy(&pos, element, sizeof pos); /* its first member */
    return pos;
}

/*
 * Both by rising position, as each worker goes over the file: from the end, so that the longer share needs no second
 * place.
 */
static void merge_backwards(uint8_t *to, uint64_t count, const uint8_t *from, uint64_t more, size_t size)
{
    for (uint64_t end = count + more; more > 0; end--) {
        assert(more < 2 || head_of(from + (more - 2) * size) <= head_of(from + (more - 1) * size)); /* T9 */
        const bool own = count > 0 && head_of(to + (count - 1) * size) > head_of(from + (more - 1) * size);
        memcpy(to + (end - 1) * size, own ? to + (count - 1) * size : from + (more - 1) * size, size);
        count -= own;
        more -= !own;
    }
}

/* A worker's share among what is there, the first one as it is. False: no memory, and nothing has changed. */
static bool join(hdx_mem *mem, void **to, uint64_t *count, uint64_t *capacity, void **from, uint64_t *more,
                 uint64_t *from_capacity, uint64_t size)
{
    if (*count == 0) {
        hdx_mem_put(mem, *to, *capacity * size);
        *to = *from;
        *capacity = *from_capacity;
    } else {
        if (*count + *more > *capacity) {
            void *at = hdx_mem_resize(mem, *to, *capacity * size, (*count + *more) * size);
            if (at == NULL)
                return false;
            *to = at;
            *capacity = *count + *more;
        }
        merge_backwards(*to, *count, *from, *more, size);
        hdx_mem_put(mem, *from, *from_capacity * size);
    }
    *count += *more;
    *from = NULL;
    *more = *from_capacity = 0;
    return true;
}

#define JOIN(array, count, capacity)                                                                                   \
    do {                                                                                                               \
        if (!join(mem, (void **)&r->array, &r->count, &r->capacity, (void **)&w->array, &w->count, &w->capacity,       \
                  sizeof *r->array))                                                                                   \
            return no_memory(err);                                                                                     \
    } while (0)

static hdx_code index_strings(void *context, hdx_error *err)
{
    hdx_scan_result *r = &((scanner *)context)->in->dump->scan;
    if (!hdx_map_reserve(&r->by_string, r->string_count))
        return no_memory(err);
    for (uint64_t i = 0; i < r->string_count; i++) {
        bool fresh;
        if (i + AHEAD < r->string_count)
            hdx_map_ahead(&r->by_string, r->strings[i + AHEAD].id);
        uint64_t *place = hdx_map_put(&r->by_string, r->strings[i].id, &fresh);
        if (place == NULL)
            return no_memory(err);
        if (fresh)
            *place = i;
    }
    return HDX_OK;
}

/* Of heaps that several workers met, the first record in the file stands. */
static hdx_code first_heaps(const hdx_reading *in, hdx_error *err)
{
    hdx_scan_result *r = &in->dump->scan;
    hdx_map          met = hdx_map_of(&in->w->mem);
    uint64_t         kept = 0;
    bool             fresh = true, memory = true;
    for (uint64_t i = 0; i < r->heap_count && memory; i++) {
        memory = hdx_map_put(&met, r->heaps[i].number, &fresh) != NULL;
        if (memory && fresh)
            r->heaps[kept++] = r->heaps[i];
    }
    r->heap_count = kept;
    hdx_map_free(&met);
    return memory ? HDX_OK : no_memory(err);
}

/* The workers' shares become one result in file order. */
static hdx_code merge(void *context, hdx_error *err)
{
    scanner           *s = context;
    const hdx_reading *in = s->in;
    hdx_scan_result   *r = &in->dump->scan;
    hdx_mem           *mem = &in->w->mem;
    hdx_addr           first = 0;
    for (unsigned i = 0; i < s->worker_count; i++) {
        worker *w = &s->workers[i];
        merge_divisor(r, w, &first);
        r->compressed |= w->compressed;
        r->class_bytes += w->class_bytes;
        hdx_arena_join(&r->arena, &w->arena);
        JOIN(classes, class_count, class_capacity);
        JOIN(roots, root_count, root_capacity);
        JOIN(heaps, heap_count, heap_capacity);
        for (unsigned t = 0; t < 16; t++)
            for (unsigned k = 0; k < 2; k++)
                r->primitive_bytes[t][k] += w->primitive_bytes[t][k];
        for (unsigned t = 0; t < 16; t++)
            r->primitive_arrays[t] += w->primitive_arrays[t];
    }
    const hdx_code code = first_heaps(in, err);
    return code == HDX_OK ? merge_uses(s, err) : code;
}

bool hdx_scan_string(const hdx_reading *in, uint64_t id, hdx_view *bytes)
{
    const uint64_t *place = hdx_map_get(&in->dump->scan.by_string, id);
    if (place != NULL)
        *bytes = in->dump->scan.strings[*place].bytes;
    return place != NULL;
}

bool hdx_scan_text(const hdx_reading *in, uint64_t id, hdx_arena *arena, hdx_text *out)
{
    const uint64_t *place = hdx_map_get(&in->dump->scan.by_string, id);
    *out = (hdx_text){ NULL, 0 };
    if (place == NULL)
        return true;
    hdx_raw_string *s = &in->dump->scan.strings[*place];
    const char     *at = __atomic_load_n(&s->text.at, __ATOMIC_ACQUIRE), *nobody = NULL;
    if (at == NULL) {
        if (!hdx_java_text(arena, s->bytes, out))
            return false;
        __atomic_store_n(&s->text.len, out->len, __ATOMIC_RELAXED); /* another thread that is at it says the same */
        if (__atomic_compare_exchange_n(&s->text.at, &nobody, out->at, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
        at = nobody;
    }
    *out = (hdx_text){ at, __atomic_load_n(&s->text.len, __ATOMIC_RELAXED) };
    return true;
}

bool hdx_scan_class_name(const hdx_reading *in, uint64_t id, hdx_arena *arena, hdx_text *out)
{
    const uint64_t *place = hdx_map_get(&in->dump->scan.by_string, id);
    *out = (hdx_text){ NULL, 0 };
    if (place == NULL)
        return true;
    const hdx_view bytes = in->dump->scan.strings[*place].bytes;
    if (bytes.len <= HDX_NAME_LONG)
        return hdx_java_class_name(arena, bytes, out);
    (void)pthread_mutex_lock(&in->w->lock);
    bool      fresh = false, memory;
    hdx_text *text = NULL;
    uint64_t *made = hdx_map_put(&in->dump->scan.long_names, *place, &fresh);
    if ((memory = made != NULL) && *made != 0) {
        text = (hdx_text *)(uintptr_t)*made;
    } else if (memory && (text = hdx_arena_get(&in->t->texts, sizeof *text)) != NULL &&
               hdx_java_class_name(&in->t->texts, bytes, text)) {
        *made = (uintptr_t)text;
    } else {
        memory = false;
    }
    if (memory)
        *out = *text;
    (void)pthread_mutex_unlock(&in->w->lock);
    return memory;
}

uint64_t hdx_scan_string_sum(const hdx_reading *in, uint64_t id)
{
    const uint64_t *place = hdx_map_get(&in->dump->scan.by_string, id);
    if (place == NULL)
        return 0;
    const hdx_view bytes = in->dump->scan.strings[*place].bytes;
    bool           fresh = true;
    uint64_t      *sum = hdx_map_put(&in->dump->scan.long_sums, *place, &fresh);
    if (sum == NULL)
        return hdx_hash_bytes(0, bytes.at, bytes.len);
    if (fresh)
        *sum = hdx_hash_bytes(0, bytes.at, bytes.len);
    return *sum;
}

static hdx_code survey(scanner *s, hdx_error *err)
{
    const hdx_reading *in = s->in;
    hdx_survey_options options = { .dump_number = in->w->options->dump_number,
                                   .threads = s->careful ? 1 : in->w->threads,
                                   .sequential = s->careful,
                                   .mem = &in->w->mem,
                                   .tick = &in->w->tick,
                                   .halt = s->careful ? NULL : &s->halt };
    hdx_survey_sink    sink = { s, on_heap, on_top, on_restart };
    return hdx_hprof_survey(in->dump->source, &options, &sink, &in->dump->survey, err);
}

hdx_code hdx_scan(const hdx_reading *in, hdx_error *err)
{
    uint64_t repeated = 0;
    hdx_code code;
    scanner *s = hdx_mem_get(&in->w->mem, sizeof *s);
    if (s == NULL)
        return no_memory(err);
    s->in = in;
    s->worker_count = in->w->threads;
    s->sizing = in->dump->counting || in->w->options->first_pass != NULL;
    s->class_seen = hdx_map_of(&in->w->mem);
    for (unsigned i = 0; i < s->worker_count; i++) {
        s->workers[i].arena = hdx_arena_of(&in->w->mem);
        s->workers[i].others = hdx_map_of(&in->w->mem);
        s->workers[i].heaps_met = hdx_map_of(&in->w->mem);
    }
    if ((code = fresh_ids(in, err)) != HDX_OK || (in->keeping->kept_scan && (code = hdx_scan_go_on(s, err)) != HDX_OK))
        goto out;
    const uint64_t begun = s->halt.at.count == 0 ? s->halt.at.next : UINT64_MAX;
    code = survey(s, err);
    for (unsigned i = 0; i < s->worker_count; i++)
        repeated += s->workers[i].repeated;
    /* what was whole before stays as it is: what the second pass has done is of that */
    if (repeated == 0 && s->halt.holds && (s->halt.at.count > 0 || s->halt.at.next != begun) &&
        hdx_kept_is_worth(in->w, in->keeping, code)) {
        const hdx_code kept = hdx_scan_keep(s, code == HDX_OK ? err : NULL);
        code = code == HDX_OK ? kept : code;
        in->keeping->saved_at = hdx_now_ns();
    }
    if (code != HDX_OK)
        goto out;
    if (repeated > 0) {
        hdx_survey_free(&in->dump->survey);
        s->careful = true;
        if ((code = on_restart(s, err)) != HDX_OK || (code = survey(s, err)) != HDX_OK)
            goto out;
    }
    const hdx_task both[] = { { merge, s, 0 }, { index_strings, s, 0 } };
    code = hdx_run_tasks(in->w->threads, both, 2, err);
    if (code == HDX_OK && in->dump->counting)
        code = add_class_ids(in, err);
out:
    free_workers(s);
    hdx_mem_put(&in->w->mem, s->halt.pieces, s->halt.piece_capacity * sizeof *s->halt.pieces);
    hdx_mem_put(&in->w->mem, s, sizeof *s);
    return code;
}
