/*
 * scan.c - the first pass.
 *
 * In:  the dump, once, through the survey of the hprof room (on several threads if the dump allows it).
 * Out: the set of addresses; raw classes, roots, strings, loads, frames and traces in file order; which class ids are
 *      in use and how often.
 * If only counts are needed (hdx_dump.counting), no addresses are stored, and roots and frames are omitted.
 * An id that two records claim belongs to the first of them (R13). Threads cannot know which is first, so after a
 * repeated address the scan is repeated on one thread, one address at a time; such dumps are rare.
 * An interrupted pass saves its results for the heap (scan_resume.c), and a later build resumes from there; top-level
 * records are read again.
 * Cost: a batch of events accesses the address set once per object; the only memory per object is its bit.
 */
#include "reading/scan.h"
#include "reading/tasks.h"

#include <stddef.h>
#include <stdio.h>

#define AHEAD     8u         /* distance for prefetching look-ups in a large map */
#define USES_MOST (1u << 18) /* classes for which a worker reserves memory in advance */

typedef hdx_scan_worker worker;
typedef hdx_scanner     scanner;

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "the first pass", 0); }

static hdx_class_use *use_of(const scanner *s, worker *w, hdx_addr addr)
{
    const uint64_t *place;
    bool            fresh;
    if (w->last_class == addr && w->last_use > 0)
        return &w->uses.at[w->last_use - 1];
    place = hdx_map_get(&s->in->dump->scan.by_class, addr);
    if (place == NULL || *place >= w->loaded) {
        uint64_t *own = hdx_map_put(&w->others, addr, &fresh);
        if (own == NULL || (fresh && !hdx_list_room(&s->in->w->mem, HDX_LIST_REF(&w->uses))))
            return NULL;
        if (fresh) {
            *own = w->uses.count;
            w->uses.at[w->uses.count++] = (hdx_class_use){ .addr = addr };
        }
        place = own;
    }
    assert(*place < w->uses.count);
    w->last_class = addr;
    w->last_use = *place + 1;
    w->uses.at[*place].addr = addr;
    return &w->uses.at[*place];
}

static hdx_code add_class(scanner *s, worker *w, const hdx_event *e, hdx_error *err)
{
    char *copy = hdx_arena_copy(&w->arena, e->body, e->body_len);
    if (copy == NULL || !hdx_list_room(&s->in->w->mem, HDX_LIST_REF(&w->classes)))
        return no_memory(err);
    w->classes.at[w->classes.count++] = (hdx_raw_class){ e->pos, e->addr, { (const uint8_t *)copy, e->body_len } };
    w->class_bytes += e->body_len;
    return HDX_OK;
}

static hdx_code add_heap(scanner *s, worker *w, const hdx_event *e, hdx_error *err)
{
    bool fresh;
    if (w->heaps.count > 0 &&
        w->heaps.at[w->heaps.count - 1].number == e->count) /* most name the heap that is already current */
        return HDX_OK;
    if (hdx_map_put(&w->heaps_met, e->count, &fresh) == NULL ||
        (fresh && !hdx_list_room(&s->in->w->mem, HDX_LIST_REF(&w->heaps))))
        return no_memory(err);
    if (fresh)
        w->heaps.at[w->heaps.count++] = (hdx_heap_name){ e->pos, e->addr, e->count };
    return HDX_OK;
}

/*
 * MAT 2.1, between neighbours in the file. A worker that jumps ahead compares arrays that have others between them: the
 * rule holds for those, too.
 */
static void take_array(scanner *s, worker *w, hdx_class_use *use, const hdx_event *e)
{
    w->compressed |= w->last_array != 0 && w->last_array < e->addr && e->addr < w->last_end;
    w->last_array = e->addr;
    w->last_end = e->addr + 16 + 8 * (uint64_t)e->count;
    if (use->instances == 0)
        use->last_pos = e->pos;
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
 * MAT 2.2 uses the differences between neighbours; they have the same common divisor as all distances from one address.
 */
static void divide(worker *w, const hdx_event *e)
{
    if (w->first_addr == 0)
        w->first_addr = e->addr;
    else
        w->divided = !hdx_alignment_feed(&w->divisor,
                                         e->addr > w->first_addr ? e->addr - w->first_addr : w->first_addr - e->addr);
}

/* Takes everything except the address itself. */
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
        use->last_pos = e->pos; /* a worker reads forward, so this is its last one */
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
        if (!hdx_list_room(&s->in->w->mem, HDX_LIST_REF(&w->roots)))
            return no_memory(err);
        w->roots.at[w->roots.count++].raw = (hdx_raw_root){ e->pos, e->addr, e->serial, e->frame, e->tag };
        return HDX_OK;
    }
}

/* A second record for an id. Some writers repeat identical class records (R13): that is not damage. */
static hdx_code skip_repeated(scanner *s, const hdx_event *e, hdx_error *err)
{
    hdx_scan_result *r = &s->in->dump->scan;
    const uint64_t  *seen = hdx_map_get(&s->class_seen, e->addr);
    if (!hdx_list_room(&s->in->w->mem, HDX_LIST_REF(&r->skipped)))
        return no_memory(err);
    r->skipped.at[r->skipped.count++] = e->pos;
    if (e->tag == HDX_SUB_CLASS && seen != NULL) {
        hdx_view first = s->workers[0].classes.at[*seen - 1].record;
        if (first.len == e->body_len && memcmp(first.at, e->body, first.len) == 0)
            return HDX_OK;
    }
    return hdx_work_damage(s->in->w, HDX_DAMAGE_DUPLICATE, e->pos, hdx_sub_name(e->tag), 0, err,
                           "second record for object 0x%llx; using the first", (unsigned long long)e->addr);
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
            *place = w->classes.count;
        }
    }
    return code;
}

/* Enters the classes named by LOAD_CLASS so far. */
static bool map_loads(hdx_scan_result *r)
{
    bool fresh;
    if (!hdx_map_reserve(&r->by_class, r->loads.count - r->mapped))
        return false;
    for (; r->mapped < r->loads.count; r->mapped++) {
        if (r->mapped + AHEAD < r->loads.count)
            hdx_map_ahead(&r->by_class, r->loads.at[r->mapped + AHEAD].addr);
        uint64_t *place = hdx_map_put(&r->by_class, r->loads.at[r->mapped].addr, &fresh);
        if (place == NULL)
            return false;
        if (fresh)
            *place = r->mapped;
        r->loads.at[r->mapped].again = !fresh;
    }
    return true;
}

/* Runs before a worker's first object. If there are several workers, all LOAD_CLASSes were read before. */
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
    w->uses.at = hdx_mem_array(&s->in->w->mem, room, sizeof *w->uses.at);
    w->loaded = w->uses.count = w->uses.capacity = w->uses.at == NULL ? 0 : room;
    return w->uses.at != NULL;
}

/* Prefetches what later events will look up, if there are many classes. */
static void uses_ahead(const scanner *s, const worker *w, const hdx_event *events, size_t i, size_t end)
{
    const hdx_map *by_class = &s->in->dump->scan.by_class;
    if (i + 2 * AHEAD < end)
        hdx_map_ahead(by_class, events[i + 2 * AHEAD].class_addr);
    if (i + AHEAD < end &&
        (events[i + AHEAD].tag == HDX_SUB_INSTANCE || events[i + AHEAD].tag == HDX_SUB_OBJECT_ARRAY)) {
        const uint64_t *place = hdx_map_get(by_class, events[i + AHEAD].class_addr);
        if (place != NULL && *place < w->loaded)
            __builtin_prefetch(&w->uses.at[*place], 1);
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
                                        s->in->t->sizing.alignment == 0 ? 8 : s->in->t->sizing.alignment, false, 0 };
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
                uses_ahead(s, w, events, i, end);
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

#define PUT(list, ...)                                                                                                 \
    do {                                                                                                               \
        if (!hdx_list_room(&in->w->mem, HDX_LIST_REF(list)))                                                           \
            return no_memory(err);                                                                                     \
        (list)->at[(list)->count++] = __VA_ARGS__;                                                                     \
    } while (0)

static hdx_code add_frame(const hdx_reading *in, uint64_t id, hdx_raw_frame frame, hdx_error *err)
{
    hdx_scan_stacks *k = &in->dump->scan.stacks;
    uint64_t         hash = hdx_mix64(frame.source ^ ((uint64_t)frame.serial << 32 | (uint32_t)frame.line));
    hash = hdx_mix64(frame.method ^ hdx_mix64(frame.signature ^ hash));
    bool      fresh;
    uint64_t *place = hdx_map_put(&k->frame_places, hash, &fresh);
    if (place == NULL)
        return no_memory(err);
    if (fresh || memcmp(&k->frames.at[*place], &frame, sizeof frame) !=
                     0) { /* others with the same hash: the last one is the one to find */
        *place = k->frames.count;
        PUT(&k->frames, frame);
    }
    PUT(&k->named, (hdx_frame_id){ id, *place });
    return HDX_OK;
}

static hdx_code add_flat_arrays(const hdx_reading *in, const hdx_top *t, hdx_error *err)
{
    hdx_scan_flats *f = &in->dump->scan.flats;
    const uint32_t  size = (uint32_t)(t->body.len / t->count), id_size = size / 2;
    for (uint32_t i = 0; i < t->count; i++) {
        const uint8_t *at = t->body.at + (size_t)i * size;
        if (at[0] == HDX_FLAT_ARRAY)
            PUT(&f->raw, (hdx_raw_flat){ hdx_be_id(at + 1, id_size), hdx_be_id(at + 1 + id_size, id_size) });
        else
            f->unused++;
    }
    return HDX_OK;
}

static hdx_code on_top(void *context, const hdx_top *t, hdx_error *err)
{
    const hdx_reading *in = ((scanner *)context)->in;
    hdx_scan_result   *r = &in->dump->scan;
    hdx_scan_stacks   *k = &r->stacks;
    const uint32_t     width =
        t->count == 0 ? 8 : (uint32_t)(t->body.len / t->count); /* of a frame id: the survey cut count of them */
    hdx_raw_trace *last;
    char          *copy;
    if (in->dump->counting && (t->tag == HDX_TOP_FRAME || t->tag == HDX_TOP_TRACE))
        return HDX_OK;
    switch (t->tag) {
    case HDX_TOP_STRING:
        if ((copy = hdx_arena_copy(&r->arena, t->body.at, t->body.len)) == NULL)
            return no_memory(err);
        PUT(&r->strings.all, (hdx_raw_string){ .id = t->id, .bytes = { (const uint8_t *)copy, t->body.len } });
        return HDX_OK;
    case HDX_TOP_LOAD_CLASS: PUT(&r->loads, (hdx_raw_load){ t->id, t->name, t->serial, false }); return HDX_OK;
    case HDX_TOP_FRAME:
        return add_frame(in, t->id, (hdx_raw_frame){ t->name, t->signature, t->source_file, t->serial, t->line }, err);
    case HDX_TOP_TRACE:
        PUT(&k->traces, (hdx_raw_trace){ t->serial, t->thread, t->count, k->frame_ids.count });
        for (uint32_t i = 0; i < t->count && (uint64_t)(i + 1) * width <= t->body.len; i++)
            PUT(&k->frame_ids, hdx_be_id(t->body.at + (size_t)i * width, width));
        last = &k->traces.at[k->traces.count - 1];
        last->count = (uint32_t)(k->frame_ids.count - last->first);
        return HDX_OK;
    case HDX_TOP_FLAT_ARRAYS: return add_flat_arrays(in, t, err);
    default: return HDX_OK;
    }
}

static void free_workers(scanner *s)
{
    hdx_mem *mem = &s->in->w->mem;
    for (unsigned i = 0; i < s->worker_count; i++) {
        worker *w = &s->workers[i];
        hdx_list_free(mem, HDX_LIST_REF(&w->classes));
        hdx_list_free(mem, HDX_LIST_REF(&w->roots));
        hdx_list_free(mem, HDX_LIST_REF(&w->uses));
        hdx_list_free(mem, HDX_LIST_REF(&w->heaps));
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

void hdx_scan_stacks_free(hdx_mem *mem, hdx_scan_stacks *k)
{
    hdx_list_free(mem, HDX_LIST_REF(&k->frames));
    hdx_map_free(&k->frame_places);
    hdx_list_free(mem, HDX_LIST_REF(&k->named));
    hdx_list_free(mem, HDX_LIST_REF(&k->traces));
    hdx_list_free(mem, HDX_LIST_REF(&k->frame_ids));
}

void hdx_scan_classes_free(hdx_mem *mem, hdx_scan_result *r)
{
    const uint64_t count = r->classes.count;
    hdx_list_free(mem, HDX_LIST_REF(&r->classes));
    r->classes.count = count; /* the count is still needed */
    hdx_list_free(mem, HDX_LIST_REF(&r->uses));
}

void hdx_scan_free(hdx_mem *mem, hdx_scan_result *r)
{
    hdx_scan_stacks_free(mem, &r->stacks);
    hdx_list_free(mem, HDX_LIST_REF(&r->strings.all));
    hdx_list_free(mem, HDX_LIST_REF(&r->loads));
    hdx_scan_classes_free(mem, r);
    hdx_list_free(mem, HDX_LIST_REF(&r->roots));
    hdx_list_free(mem, HDX_LIST_REF(&r->heaps));
    hdx_list_free(mem, HDX_LIST_REF(&r->skipped));
    hdx_list_free(mem, HDX_LIST_REF(&r->flats.raw));
    hdx_list_free(mem, HDX_LIST_REF(&r->flats.classes));
    hdx_map_free(&r->flats.arrays);
    hdx_map_free(&r->strings.places);
    hdx_map_free(&r->by_class);
    hdx_map_free(&r->strings.long_names);
    hdx_map_free(&r->strings.long_sums);
    hdx_arena_free(&r->arena);
    memset(r, 0, sizeof *r);
    r->arena = hdx_arena_of(mem);
    r->strings.long_names = r->strings.long_sums = hdx_map_of(mem);
    r->strings.places = hdx_map_of(mem);
    r->by_class = hdx_map_of(mem);
    r->flats.arrays = hdx_map_of(mem);
    r->stacks.frame_places = hdx_map_of(mem);
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

/* Merges two shares of one class: the first instance, and the first that differs from it. */
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
    } else if (to->instances == 0 && u->last_pos > to->last_pos)
        to->last_pos = u->last_pos;
}

/* Merges a worker's facts about classes without a LOAD_CLASS, or with a later one. */
static hdx_code merge_others(hdx_scan_result *r, const worker *w, hdx_mem *mem, hdx_error *err)
{
    bool fresh;
    for (uint64_t k = w->loaded; k < w->uses.count; k++) {
        uint64_t *place = hdx_map_put(&r->by_class, w->uses.at[k].addr, &fresh);
        if (place == NULL || (fresh && !hdx_list_room(mem, HDX_LIST_REF(&r->uses))))
            return no_memory(err);
        if (fresh) {
            *place = r->uses.count;
            r->uses.at[r->uses.count++] = w->uses.at[k];
        } else
            hdx_scan_merge_use(&r->uses.at[*place], &w->uses.at[k]);
    }
    return HDX_OK;
}

/* Merges into the share of the first worker, whose indices are already those of all loads. */
static hdx_code merge_uses(scanner *s, hdx_error *err)
{
    hdx_scan_result *r = &s->in->dump->scan;
    hdx_mem         *mem = &s->in->w->mem;
    worker          *first = &s->workers[0];
    hdx_code         code = HDX_OK;
    if (!map_loads(r))
        return no_memory(err);
    if (first->loaded == r->loads.count && first->uses.count == first->loaded) {
        r->uses = first->uses;
        first->uses = (hdx_class_uses){ NULL, 0, 0 };
        first->loaded = 0;
    } else {
        if ((r->uses.at = hdx_mem_array(mem, r->loads.count, sizeof *r->uses.at)) == NULL)
            return no_memory(err);
        r->uses.capacity = r->loads.count;
    }
    r->uses.count = r->loads.count;
    for (unsigned i = 0; i < s->worker_count && code == HDX_OK; i++) {
        const worker *w = &s->workers[i];
        for (uint64_t k = 0; k < w->loaded; k++)
            if (w->uses.at[k].instances + w->uses.at[k].arrays > 0)
                hdx_scan_merge_use(&r->uses.at[k], &w->uses.at[k]);
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
    (void)hdx_alignment_feed(&r->sizes.divisor,
                             w->first_addr > *first ? w->first_addr - *first : *first - w->first_addr);
    (void)hdx_alignment_feed(&r->sizes.divisor, w->divisor);
}

/* Without a set of addresses, classes with two records are found here (R13); other ids are not checked. */
static hdx_code add_class_ids(const hdx_reading *in, hdx_error *err)
{
    hdx_scan_result *r = &in->dump->scan;
    uint64_t         kept = 0;
    hdx_map          seen = hdx_map_of(&in->w->mem);
    hdx_code         code = HDX_OK;
    for (uint64_t i = 0; i < r->classes.count && code == HDX_OK; i++) {
        const hdx_raw_class *c = &r->classes.at[i];
        bool                 fresh;
        uint64_t            *place = hdx_map_put(&seen, c->addr, &fresh);
        if (place == NULL) {
            code = no_memory(err);
        } else if (fresh) {
            bool new_one;
            code = hdx_addresses_insert_one(in->t->lookup.ids, c->addr, &new_one, err);
            *place = kept;
            r->classes.at[kept++] = *c;
        } else if (!hdx_list_room(&in->w->mem, HDX_LIST_REF(&r->skipped))) {
            code = no_memory(err);
        } else {
            hdx_view first = r->classes.at[*place].record;
            r->skipped.at[r->skipped.count++] = c->pos;
            if (first.len != c->record.len || memcmp(first.at, c->record.at, first.len) != 0)
                code = hdx_work_damage(in->w, HDX_DAMAGE_DUPLICATE, c->pos, hdx_sub_name(HDX_SUB_CLASS), 0, err,
                                       "second record for object 0x%llx; using the first", (unsigned long long)c->addr);
        }
    }
    assert(kept <= r->classes.count);
    r->classes.count = kept;
    hdx_map_free(&seen);
    return code;
}

static hdx_pos head_of(const uint8_t *element)
{
    hdx_pos pos;
    memcpy(&pos, element, sizeof pos); /* its first member */
    return pos;
}

/* Merges two lists with ascending positions, from the end, so that no extra memory is needed. */
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

/* Merges a worker's list into the result; the first one is moved. False: no memory, and nothing was changed. */
static bool join(hdx_mem *mem, hdx_list_ref to, hdx_list_ref from)
{
    const uint64_t count = *to.count + *from.count, size = to.size;
    if (*to.count == 0) {
        hdx_list_free(mem, to);
        *to.at = *from.at;
        *to.capacity = *from.capacity;
        *from.at = NULL;
        *from.capacity = 0;
    } else {
        if (count > *to.capacity) {
            void *at = hdx_mem_resize(mem, *to.at, *to.capacity * size, count * size);
            if (at == NULL)
                return false;
            *to.at = at;
            *to.capacity = count;
        }
        merge_backwards(*to.at, *to.count, *from.at, *from.count, size);
    }
    *to.count = count;
    hdx_list_free(mem, from);
    return true;
}

static hdx_code index_strings(void *context, hdx_error *err)
{
    hdx_scan_result *r = &((scanner *)context)->in->dump->scan;
    if (!hdx_map_reserve(&r->strings.places, r->strings.all.count))
        return no_memory(err);
    for (uint64_t i = 0; i < r->strings.all.count; i++) {
        bool fresh;
        if (i + AHEAD < r->strings.all.count)
            hdx_map_ahead(&r->strings.places, r->strings.all.at[i + AHEAD].id);
        uint64_t *place = hdx_map_put(&r->strings.places, r->strings.all.at[i].id, &fresh);
        if (place == NULL)
            return no_memory(err);
        if (fresh)
            *place = i;
    }
    return HDX_OK;
}

/* If several workers found a heap, the first record in the file counts. */
static hdx_code first_heaps(const hdx_reading *in, hdx_error *err)
{
    hdx_scan_result *r = &in->dump->scan;
    hdx_map          met = hdx_map_of(&in->w->mem);
    uint64_t         kept = 0;
    bool             fresh = true, memory = true;
    for (uint64_t i = 0; i < r->heaps.count && memory; i++) {
        memory = hdx_map_put(&met, r->heaps.at[i].number, &fresh) != NULL;
        if (memory && fresh)
            r->heaps.at[kept++] = r->heaps.at[i];
    }
    r->heaps.count = kept;
    hdx_map_free(&met);
    return memory ? HDX_OK : no_memory(err);
}

/* Merges the workers' shares into one result in file order. */
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
        r->sizes.compressed |= w->compressed;
        r->class_bytes += w->class_bytes;
        hdx_arena_join(&r->arena, &w->arena);
        if (!join(mem, HDX_LIST_REF(&r->classes), HDX_LIST_REF(&w->classes)) ||
            !join(mem, HDX_LIST_REF(&r->roots), HDX_LIST_REF(&w->roots)) ||
            !join(mem, HDX_LIST_REF(&r->heaps), HDX_LIST_REF(&w->heaps)))
            return no_memory(err);
        for (unsigned t = 0; t < 16; t++)
            for (unsigned k = 0; k < 2; k++)
                r->sizes.primitive_bytes[t][k] += w->primitive_bytes[t][k];
        for (unsigned t = 0; t < 16; t++)
            r->sizes.primitive_arrays[t] += w->primitive_arrays[t];
    }
    const hdx_code code = first_heaps(in, err);
    return code == HDX_OK ? merge_uses(s, err) : code;
}

bool hdx_scan_string(const hdx_reading *in, uint64_t id, hdx_view *bytes)
{
    const uint64_t *place = hdx_map_get(&in->dump->scan.strings.places, id);
    if (place != NULL)
        *bytes = in->dump->scan.strings.all.at[*place].bytes;
    return place != NULL;
}

bool hdx_scan_text(const hdx_reading *in, uint64_t id, hdx_arena *arena, hdx_text *out)
{
    const uint64_t *place = hdx_map_get(&in->dump->scan.strings.places, id);
    *out = (hdx_text){ NULL, 0 };
    if (place == NULL)
        return true;
    hdx_raw_string *s = &in->dump->scan.strings.all.at[*place];
    const char     *at = __atomic_load_n(&s->text.at, __ATOMIC_ACQUIRE), *nobody = NULL;
    if (at == NULL) {
        if (!hdx_java_text(arena, s->bytes, out))
            return false;
        __atomic_store_n(&s->text.len, out->len, __ATOMIC_RELAXED); /* another thread would set the same value */
        if (__atomic_compare_exchange_n(&s->text.at, &nobody, out->at, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
        at = nobody;
    }
    *out = (hdx_text){ at, __atomic_load_n(&s->text.len, __ATOMIC_RELAXED) };
    return true;
}

bool hdx_scan_class_name(const hdx_reading *in, uint64_t id, hdx_arena *arena, hdx_text *out)
{
    const uint64_t *place = hdx_map_get(&in->dump->scan.strings.places, id);
    *out = (hdx_text){ NULL, 0 };
    if (place == NULL)
        return true;
    const hdx_view bytes = in->dump->scan.strings.all.at[*place].bytes;
    if (bytes.len <= HDX_NAME_LONG)
        return hdx_java_class_name(arena, bytes, out);
    (void)pthread_mutex_lock(&in->w->lock);
    bool      fresh = false, memory;
    hdx_text *text = NULL;
    uint64_t *made = hdx_map_put(&in->dump->scan.strings.long_names, *place, &fresh);
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
    const uint64_t *place = hdx_map_get(&in->dump->scan.strings.places, id);
    if (place == NULL)
        return 0;
    const hdx_view bytes = in->dump->scan.strings.all.at[*place].bytes;
    bool           fresh = true;
    uint64_t      *sum = hdx_map_put(&in->dump->scan.strings.long_sums, *place, &fresh);
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
    if ((code = fresh_ids(in, err)) != HDX_OK || (in->saving->has_scan && (code = hdx_scan_resume(s, err)) != HDX_OK))
        goto out;
    const uint64_t begun = s->halt.at.count == 0 ? s->halt.at.next : UINT64_MAX;
    code = survey(s, err);
    for (unsigned i = 0; i < s->worker_count; i++)
        repeated += s->workers[i].repeated;
    /* What was complete before is not changed: the second pass depends on it. */
    if (repeated == 0 && s->halt.holds && (s->halt.at.count > 0 || s->halt.at.next != begun) &&
        hdx_resume_is_worth(in->w, in->saving, code)) {
        const hdx_code kept = hdx_scan_save(s, code == HDX_OK ? err : NULL);
        code = code == HDX_OK ? kept : code;
        in->saving->saved_at = hdx_now_ns();
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
    if (code == HDX_OK)
        code = hdx_flat_arrays_find(in, err);
out:
    free_workers(s);
    hdx_mem_put(&in->w->mem, s->halt.pieces, s->halt.piece_capacity * sizeof *s->halt.pieces);
    hdx_mem_put(&in->w->mem, s, sizeof *s);
    return code;
}
