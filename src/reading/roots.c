/*
 * roots.c - GC roots, threads, locals (MAT 4).
 *
 * In:  raw roots in file order, frames and traces.
 * Out: roots with ids; locals of known threads become references of the thread instead of roots (MAT 4.2).
 */
#include "reading/reading.h"
#include "reading/tasks.h"

#include <stddef.h>

#define FRAMES_FREE (1u << 16) /* frames of all threads together that are allowed, however few the traces have */

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "roots and threads", 0); }

static bool held_by_thread(hdx_root_type t)
{
    return t == HDX_ROOT_NATIVE_LOCAL || t == HDX_ROOT_JAVA_LOCAL || t == HDX_ROOT_NATIVE_STACK ||
           t == HDX_ROOT_THREAD_BLOCK || t == HDX_ROOT_JNI_MONITOR;
}

static hdx_code add_root(const hdx_reading *in, hdx_root root, hdx_error *err)
{
    if (!hdx_mem_room(&in->w->mem, (void **)&in->t->roots, &in->t->root_capacity, in->t->root_count,
                      sizeof *in->t->roots))
        return no_memory(err);
    in->t->roots[in->t->root_count++] = root;
    return HDX_OK;
}

/*
 * MAT 4.6: in a dump without any sticky class, every class of the boot loader is a root, except for arrays and existing
 * roots.
 */
static hdx_code system_classes(const hdx_reading *in, hdx_error *err)
{
    hdx_map  is_root = hdx_map_of(&in->w->mem);
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < in->t->root_count && code == HDX_OK; i++)
        if (in->t->roots[i].type == HDX_ROOT_SYSTEM_CLASS)
            goto out;
    for (uint64_t i = 0; i < in->t->root_count && code == HDX_OK; i++)
        if (in->t->roots[i].thread == HDX_NO_ID && hdx_map_put(&is_root, in->t->roots[i].object, NULL) == NULL)
            code = no_memory(err);
    for (uint32_t i = 0; i < in->t->class_count && code == HDX_OK; i++) {
        const hdx_class *c = &in->t->classes[i];
        if (c->loader == 0 && c->kind == HDX_INSTANCE && hdx_map_get(&is_root, c->id) == NULL)
            code = add_root(in, (hdx_root){ c->id, HDX_ROOT_SYSTEM_CLASS, HDX_NO_ID, -1 }, err);
    }
out:
    hdx_map_free(&is_root);
    return code;
}

typedef struct thread_found {
    hdx_id   object;
    uint32_t serial;
    int32_t  trace; /* serial of the trace that its root names */
    uint64_t place; /* of its trace in a dump by the serviceability agent; HDX_NO_TRACE: none */
} thread_found;

static int by_object(const void *a, const void *b)
{
    const hdx_thread *x = a, *y = b;
    return x->object < y->object ? -1 : x->object > y->object;
}

/*
 * Returns the frames of a thread: the trace that names its serial; otherwise (agent dumps) the one that its root names,
 * if that belongs to no thread.
 */
static const hdx_raw_trace *trace_of(const hdx_reading *in, const thread_found *t, const hdx_map *by_thread,
                                     const hdx_map *by_serial)
{
    const uint64_t *mine = hdx_map_get(by_thread, t->serial), *named = hdx_map_get(by_serial, (uint32_t)t->trace);
    if (named != NULL && (in->dump->scan.stacks.traces.at[*named].thread == t->serial ||
                          (mine == NULL && in->dump->scan.stacks.traces.at[*named].thread == 0)))
        return &in->dump->scan.stacks.traces.at[*named];
    return mine == NULL ? NULL : &in->dump->scan.stacks.traces.at[*mine];
}

/*
 * Finds the element of a key, the last one if several have it. HotSpot numbers frames and classes in the order of the
 * file: then the index follows from the key.
 */
typedef struct places {
    bool     counted;
    uint64_t first, count;
    hdx_map  map; /* if keys are not consecutive */
} places;

static bool places_of(hdx_mem *mem, const void *array, uint64_t count, size_t size, uint64_t (*key)(const void *),
                      places *p)
{
    const uint8_t *at = array;
    uint64_t       n = 0;
    *p = (places){ .first = count == 0 ? 0 : key(at), .count = count, .map = hdx_map_of(mem) };
    while (n < count && key(at + n * size) - p->first == n)
        n++;
    p->counted = n == count;
    if (p->counted)
        return true;
    if (!hdx_map_reserve(&p->map, count))
        return false;
    for (n = 0; n < count; n++) {
        uint64_t *place = hdx_map_put(&p->map, key(at + n * size), NULL);
        if (place == NULL)
            return false;
        *place = n;
    }
    return true;
}

static bool find_place(const places *p, uint64_t key, uint64_t *place)
{
    if (p->counted) {
        *place = key - p->first;
        return *place < p->count;
    }
    const uint64_t *found = hdx_map_get(&p->map, key);
    if (found != NULL)
        *place = *found;
    return found != NULL;
}

static uint64_t frame_id(const void *p) { return ((const hdx_frame_id *)p)->id; }
static uint64_t load_serial(const void *p) { return ((const hdx_raw_load *)p)->serial; }

typedef struct made_stack {
    const hdx_raw_trace *trace;
    const hdx_frame     *frames;
} made_stack;

/* State for creating frames. */
typedef struct framer {
    const hdx_reading *in;
    places             frames, loads;
    hdx_map            stacks; /* hash of a trace's frames -> index in `made` */
    made_stack        *made;   /* room for one per thread */
    uint64_t           made_count, made_capacity;
    hdx_text          *class_names; /* by index in scan.loads.at; at NULL: not yet decoded */
    uint64_t           left;        /* number of frames that threads may still get */
    uint64_t           without;     /* number of threads that got no frames for that reason */
} framer;

static void framer_end(framer *f)
{
    hdx_mem *mem = &f->in->w->mem;
    hdx_map_free(&f->frames.map);
    hdx_map_free(&f->loads.map);
    hdx_map_free(&f->stacks);
    hdx_mem_put(mem, f->made, f->made_capacity * sizeof *f->made);
    hdx_mem_put(mem, f->class_names, f->in->dump->scan.loads.count * sizeof *f->class_names);
}

static bool framer_begin(const hdx_reading *in, uint64_t threads, framer *f)
{
    const hdx_scan_result *r = &in->dump->scan;
    *f = (framer){ .in = in,
                   .frames.map = hdx_map_of(&in->w->mem),
                   .loads.map = hdx_map_of(&in->w->mem),
                   .stacks = hdx_map_of(&in->w->mem),
                   .made_capacity = threads };
    /* An intact dump names a trace once; agents name one for all threads that were started at the same place. */
    f->left = FRAMES_FREE + 4 * r->stacks.frame_ids.count;
    f->class_names = hdx_mem_array(&in->w->mem, r->loads.count, sizeof *f->class_names);
    f->made = hdx_mem_array(&in->w->mem, threads, sizeof *f->made);
    return f->class_names != NULL && f->made != NULL &&
           places_of(&in->w->mem, r->stacks.named.at, r->stacks.named.count, sizeof *r->stacks.named.at, frame_id,
                     &f->frames) &&
           places_of(&in->w->mem, r->loads.at, r->loads.count, sizeof *r->loads.at, load_serial, &f->loads);
}

static bool text_of(const hdx_reading *in, uint64_t id, hdx_text *out)
{
    *out = (hdx_text){ NULL, 0 };
    if (id != 0 && !hdx_scan_text(in, id, &in->t->texts, out))
        return false;
    if (out->at == NULL)
        *out = (hdx_text){ "", 0 };
    return true;
}

static bool class_name_of(framer *f, uint32_t serial, hdx_text *out)
{
    uint64_t place;
    *out = (hdx_text){ "<UNKNOWN CLASS>", 15 };
    if (!find_place(&f->loads, serial, &place))
        return true;
    hdx_text *text = &f->class_names[place];
    if (text->at == NULL && !hdx_scan_class_name(f->in, f->in->dump->scan.loads.at[place].name, &f->in->t->texts, text))
        return false;
    if (text->at != NULL)
        *out = *text;
    return true;
}

/* `before` was made from `last` (NULL: none). In a recursion, consecutive frames have the same texts. */
static bool frame_of(framer *f, const hdx_raw_frame *raw, const hdx_raw_frame *last, const hdx_frame *before,
                     hdx_frame *out)
{
    if (last != NULL && last->method == raw->method && last->signature == raw->signature &&
        last->source == raw->source && last->serial == raw->serial)
        *out = *before;
    else if (!class_name_of(f, raw->serial, &out->class_name) || !text_of(f->in, raw->method, &out->method) ||
             !text_of(f->in, raw->signature, &out->signature) || !text_of(f->in, raw->source, &out->source))
        return false;
    out->line = raw->line;
    return true;
}

/* Returns the record of a frame of a trace; NULL: none. */
static const hdx_raw_frame *raw_frame(const framer *f, const hdx_raw_trace *trace, uint32_t i)
{
    const hdx_scan_result *r = &f->in->dump->scan;
    uint64_t               place;
    return find_place(&f->frames, r->stacks.frame_ids.at[trace->first + i], &place)
               ? &r->stacks.frames.at[r->stacks.named.at[place].place]
               : NULL;
}

static bool same_frames(const framer *f, const hdx_raw_trace *a, const hdx_raw_trace *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; i < a->count && same; i++)
        same = raw_frame(f, a, i) == raw_frame(f, b, i); /* equal frames are nearly always the same record */
    return same;
}

static uint64_t hash_frames(const framer *f, const hdx_raw_trace *trace)
{
    uint64_t h = trace->count;
    for (uint32_t i = 0; i < trace->count; i++) {
        const hdx_raw_frame *raw = raw_frame(f, trace, i);
        h = hdx_mix64(h ^ (raw == NULL ? 0 : (uint64_t)(raw - f->in->dump->scan.stacks.frames.at) + 1));
    }
    return h;
}

static hdx_code make_frames(framer *f, const hdx_raw_trace *trace, hdx_thread *t, hdx_error *err)
{
    const hdx_raw_frame *last = NULL;
    hdx_frame           *frames = hdx_arena_get(&f->in->t->texts, (uint64_t)trace->count * sizeof *frames);
    if (frames == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < trace->count; i++) {
        const hdx_raw_frame *raw = raw_frame(f, trace, i);
        if (raw == NULL)
            frames[i] = (hdx_frame){ { "<UNKNOWN CLASS>", 15 }, { "", 0 }, { "", 0 }, { "", 0 }, 0 };
        else if (!frame_of(f, raw, last, i == 0 ? NULL : &frames[i - 1], &frames[i]))
            return no_memory(err);
        last = raw;
    }
    t->frames = frames;
    t->frame_count = trace->count;
    return HDX_OK;
}

/*
 * Idle threads of a pool have the same frames: texts of frames are created once. But each thread in the index has its
 * own list, so a trace that very many threads name is given to some of them only.
 */
static hdx_code frames_of(framer *f, const hdx_raw_trace *trace, hdx_thread *t, hdx_error *err)
{
    bool fresh;
    if (trace->count > f->left) {
        f->without++;
        return HDX_OK;
    }
    f->left -= trace->count;
    uint64_t *place = trace->count == 0 ? NULL : hdx_map_put(&f->stacks, hash_frames(f, trace), &fresh);
    if (place != NULL && !fresh && same_frames(f, trace, f->made[*place].trace)) {
        t->frames = f->made[*place].frames;
        t->frame_count = trace->count;
        return HDX_OK;
    }
    if (place != NULL && fresh)
        *place = f->made_count;
    const hdx_code code = make_frames(f, trace, t, err);
    if (place != NULL && fresh)
        f->made[f->made_count++] = (made_stack){ trace, t->frames };
    return trace->count > 0 && place == NULL ? no_memory(err) : code;
}

/* Work that is left when all roots are known: two independent pieces. */
typedef struct finder {
    const hdx_reading  *in;
    const thread_found *found;
    uint64_t            count;
    bool                of_agent; /* places of traces are known */
} finder;

/*
 * The serviceability agent numbers traces differently from their threads (agent_stacks.c). If they cannot be assigned,
 * no thread gets a trace.
 */
static hdx_code find_agent(const hdx_reading *in, thread_found *found, uint64_t count, bool *of_agent, hdx_error *err)
{
    static const char warning[] =
        "written by jhsdb, and its stacks cannot be matched with threads; no stacks are shown";
    hdx_survey       *survey = &in->dump->survey;
    hdx_agent_thread *threads = hdx_mem_array(&in->w->mem, count, sizeof *threads);
    bool              fits = true;
    hdx_code          code = HDX_OK;
    if (threads == NULL)
        return no_memory(err);
    for (uint64_t i = 0; i < count; i++)
        threads[i] = (hdx_agent_thread){ found[i].object, found[i].trace, HDX_NO_TRACE };
    *of_agent = hdx_is_of_agent(&in->dump->scan.stacks, threads, count);
    if (*of_agent)
        code = hdx_agent_stacks(in, threads, count, &fits, err);
    for (uint64_t i = 0; i < count; i++)
        found[i].place = fits ? threads[i].place : HDX_NO_TRACE;
    if (!fits && survey->warning_count < sizeof survey->warnings / sizeof *survey->warnings)
        survey->warnings[survey->warning_count++] = warning;
    hdx_mem_put(&in->w->mem, threads, count * sizeof *threads);
    return code;
}

static hdx_code make_threads(void *context, hdx_error *err)
{
    const hdx_reading     *in = ((finder *)context)->in;
    const thread_found    *found = ((finder *)context)->found;
    const uint64_t         count = ((finder *)context)->count;
    const hdx_scan_result *r = &in->dump->scan;
    hdx_map                by_thread = hdx_map_of(&in->w->mem), by_serial = hdx_map_of(&in->w->mem);
    framer                 f;
    hdx_code               code = HDX_OK;
    uint64_t              *slot;
    in->t->threads = hdx_mem_array(&in->w->mem, count, sizeof *in->t->threads);
    if (in->t->threads == NULL)
        return no_memory(err);
    in->t->thread_count = count;
    if (!framer_begin(in, count, &f))
        goto refused;
    for (uint64_t i = 0; i < r->stacks.traces.count; i++) {
        if ((slot = hdx_map_put(&by_thread, r->stacks.traces.at[i].thread, NULL)) == NULL)
            goto refused;
        *slot = i;
        if ((slot = hdx_map_put(&by_serial, r->stacks.traces.at[i].serial, NULL)) == NULL)
            goto refused;
        *slot = i;
    }
    for (uint64_t i = 0; i < count && code == HDX_OK; i++) {
        hdx_thread          *t = &in->t->threads[i];
        const hdx_raw_trace *trace;
        *t = (hdx_thread){ found[i].object, found[i].serial, 0, NULL };
        trace = !((finder *)context)->of_agent   ? trace_of(in, &found[i], &by_thread, &by_serial)
                : found[i].place != HDX_NO_TRACE ? &r->stacks.traces.at[found[i].place]
                                                 : NULL;
        /* Stacks exist only if there are at least two traces: a single one is the dummy (MAT 4.8). */
        if (r->stacks.traces.count >= 2 && trace != NULL)
            code = frames_of(&f, trace, t, err);
    }
    hdx_sort(&in->w->mem, in->t->threads, count, sizeof *in->t->threads, offsetof(hdx_thread, object), by_object);
    if (code == HDX_OK && f.without > 0)
        code = hdx_work_damage(in->w, HDX_DAMAGE_COUNT, 0, "STACK_TRACE", 0, err,
                               "%llu threads name stack traces of other threads; they are shown without frames",
                               (unsigned long long)f.without);
    goto out;
refused:
    code = no_memory(err);
out:
    framer_end(&f);
    hdx_map_free(&by_thread);
    hdx_map_free(&by_serial);
    return code;
}

static hdx_code sort_locals(void *context, hdx_error *err)
{
    const hdx_reading *in = ((finder *)context)->in;
    uint64_t           kept = 0;
    (void)err;
    hdx_sort_pairs(&in->w->mem, in->t->lookup.locals, in->t->lookup.local_count);
    for (uint64_t i = 0; i < in->t->lookup.local_count; i++)
        if (kept == 0 || in->t->lookup.locals[kept - 1].first != in->t->lookup.locals[i].first ||
            in->t->lookup.locals[kept - 1].second != in->t->lookup.locals[i].second)
            in->t->lookup.locals[kept++] = in->t->lookup.locals[i];
    in->t->lookup.local_count = kept;
    assert(kept == 0 || in->t->lookup.locals[kept - 1].first < in->t->objects); /* T7, T8 */
    return HDX_OK;
}

/* State while roots are resolved, in the order of the file. */
typedef struct resolving {
    const hdx_reading *in;
    hdx_map            threads, objects; /* thread serial -> address; thread objects seen */
    thread_found      *found;
    uint64_t           found_count, found_capacity;
    hdx_addr           last_thread;
    hdx_id             last_id; /* of its object */
} resolving;

/* Finds the thread that holds a local, if that thread was read before (MAT 4.2). */
static void find_holder(resolving *k, const hdx_raw_root *raw, hdx_root *root, bool *held)
{
    const uint64_t *thread = held_by_thread(root->type) ? hdx_map_get(&k->threads, raw->serial) : NULL;
    if (thread == NULL)
        return;
    if (*thread != k->last_thread) { /* locals of a thread follow each other */
        k->last_thread = *thread;
        k->last_id = hdx_addresses_find(k->in->t->lookup.ids, k->last_thread);
    }
    *held = true;
    root->thread = k->last_id;
    root->frame = raw->frame < 0 ? -1 : raw->frame;
}

static hdx_code add_local(const resolving *k, const hdx_root *root, hdx_error *err)
{
    hdx_lookup *l = &k->in->t->lookup;
    if (!hdx_mem_room(&k->in->w->mem, (void **)&l->locals, &l->local_capacity, l->local_count, sizeof *l->locals))
        return no_memory(err);
    l->locals[l->local_count++] = (hdx_local){ root->thread, root->object };
    return HDX_OK;
}

/* Adds a thread once, however many roots name its object. */
static hdx_code add_thread(resolving *k, const hdx_raw_root *raw, hdx_id object, hdx_error *err)
{
    bool fresh;
    if (hdx_map_put(&k->objects, object, &fresh) == NULL ||
        (fresh &&
         !hdx_mem_room(&k->in->w->mem, (void **)&k->found, &k->found_capacity, k->found_count, sizeof *k->found)))
        return no_memory(err);
    if (fresh)
        k->found[k->found_count++] = (thread_found){ object, raw->serial, raw->frame, HDX_NO_TRACE };
    return HDX_OK;
}

/* *is_one is false for a record that makes no root. */
static hdx_code resolve_one(resolving *k, const hdx_raw_root *raw, hdx_root *root, bool *is_one, hdx_error *err)
{
    hdx_dump_tables *t = k->in->t;
    const bool       is_thread = raw->tag == HDX_SUB_ROOT_THREAD_OBJECT;
    bool             held = false;
    hdx_code         code = HDX_OK;
    *root = (hdx_root){ HDX_NO_ID, HDX_ROOT_UNKNOWN, HDX_NO_ID, -1 };
    *is_one = false;
    (void)hdx_root_type_of_tag(raw->tag, &root->type);
    if (raw->addr == 0) {
        /*
         * Ignored (R19), except for the agent's threads without an object: address 0 is an object, so MAT has it as a
         * root. It has no locals.
         */
        *root = (hdx_root){ 0, HDX_ROOT_THREAD_OBJ, HDX_NO_ID, -1 };
        *is_one = is_thread;
        return HDX_OK;
    }
    root->object = hdx_addresses_find(t->lookup.ids, raw->addr);
    if (is_thread) {
        uint64_t *slot = hdx_map_put(&k->threads, raw->serial, NULL);
        if (slot == NULL)
            return no_memory(err);
        *slot = raw->addr;
    }
    find_holder(k, raw, root, &held);
    if (held && root->thread == HDX_NO_ID) /* its thread object is not in the heap: the local is lost (MAT 4.3) */
        return HDX_OK;
    if (root->object == HDX_NO_ID) {
        t->dangling_roots++;
        return HDX_OK;
    }
    *is_one = true;
    if (held)
        code = add_local(k, root, err);
    if (code == HDX_OK && is_thread)
        code = add_thread(k, raw, root->object, err);
    return code;
}

hdx_code hdx_roots_resolve(const hdx_reading *in, hdx_error *err)
{
    hdx_dump_tables *t = in->t;
    hdx_scan_result *scan = &in->dump->scan;
    hdx_mem         *mem = &in->w->mem;
    resolving        k = { .in = in, .threads = hdx_map_of(mem), .objects = hdx_map_of(mem), .last_id = HDX_NO_ID };
    hdx_code         code = HDX_OK;
    /* Each root is written in place of its record, or before it. */
    hdx_scan_root *all = scan->roots.at;
    const uint64_t count = scan->roots.count;
    t->roots = (hdx_root *)all;
    t->root_capacity = scan->roots.capacity;
    scan->roots.at = NULL;
    scan->roots.count = scan->roots.capacity = 0;
    for (uint64_t i = 0; i < count && code == HDX_OK; i++) {
        const hdx_raw_root raw = all[i].raw;
        hdx_root           root;
        bool               is_one;
        code = resolve_one(&k, &raw, &root, &is_one, err);
        assert(code != HDX_OK || !is_one || (root.object < t->objects && t->root_count <= i)); /* T8 */
        if (code == HDX_OK && is_one)
            all[t->root_count++].root = root;
    }
    if (code == HDX_OK)
        code = system_classes(in, err);
    finder f = { .in = in, .found = k.found, .count = k.found_count };
    if (code == HDX_OK)
        code = find_agent(in, k.found, k.found_count, &f.of_agent, err);
    if (code == HDX_OK) {
        const hdx_task both[] = { { make_threads, &f, 0 }, { sort_locals, &f, 0 } };
        code = hdx_run_tasks(in->w->threads, both, 2, err);
    }
    hdx_scan_stacks_free(mem, &scan->stacks);
    hdx_map_free(&k.threads);
    hdx_map_free(&k.objects);
    hdx_mem_put(mem, k.found, k.found_capacity * sizeof *k.found);
    return code;
}
