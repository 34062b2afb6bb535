/*
 * roots.c - GC roots, threads, locals (MAT 4).
 *
 * In:  raw roots in file order, frames and traces.
 * Out: roots with ids; what frames of known threads hold becomes a reference of the thread, not a root (MAT 4.2).
 */
#include "build/build.h"

#include <stdlib.h>

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "roots and threads", 0); }

static bool held_by_thread(hdx_root_type t)
{
    return t == HDX_ROOT_NATIVE_LOCAL || t == HDX_ROOT_JAVA_LOCAL || t == HDX_ROOT_NATIVE_STACK || t == HDX_ROOT_THREAD_BLOCK ||
           t == HDX_ROOT_JNI_MONITOR;
}

static hdx_code add_root(hdx_build *b, hdx_root root, hdx_error *err)
{
    if (!hdx_mem_room(&b->mem, (void **)&b->roots, &b->root_capacity, b->root_count, sizeof *b->roots))
        return no_memory(err);
    b->roots[b->root_count++] = root;
    return HDX_OK;
}

static int by_thread_target(const void *a, const void *b)
{
    const hdx_local *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

static void sort_locals(hdx_build *b)
{
    uint64_t kept = 0;
    if (b->local_count == 0)
        return;
    qsort(b->locals, (size_t)b->local_count, sizeof *b->locals, by_thread_target);
    for (uint64_t i = 0; i < b->local_count; i++)
        if (kept == 0 || by_thread_target(&b->locals[kept - 1], &b->locals[i]) != 0)
            b->locals[kept++] = b->locals[i];
    b->local_count = kept;
}

/* MAT 4.6: a dump without a single sticky class has every class of the boot loader as a root, but for arrays and what is one already. */
static hdx_code system_classes(hdx_build *b, hdx_error *err)
{
    hdx_map  is_root = hdx_map_of(&b->mem);
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < b->root_count && code == HDX_OK; i++)
        if (b->roots[i].type == HDX_ROOT_SYSTEM_CLASS)
            goto out;
    for (uint64_t i = 0; i < b->root_count && code == HDX_OK; i++)
        if (b->roots[i].thread == HDX_NO_ID && hdx_map_put(&is_root, b->roots[i].object, NULL) == NULL)
            code = no_memory(err);
    for (uint32_t i = 0; i < b->class_count && code == HDX_OK; i++) {
        const hdx_class *c = &b->classes[i];
        if (c->loader == 0 && c->kind == HDX_INSTANCE && hdx_map_get(&is_root, c->id) == NULL)
            code = add_root(b, (hdx_root){ c->id, HDX_ROOT_SYSTEM_CLASS, HDX_NO_ID, -1 }, err);
    }
out:
    hdx_map_free(&is_root);
    return code;
}

typedef struct thread_found {
    hdx_id   object;
    uint32_t serial;
    int32_t  trace; /* serial of the trace the root names */
} thread_found;

static int by_object(const void *a, const void *b)
{
    const hdx_thread *x = a, *y = b;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Frames of a thread: the trace that names its serial; where none does (agent dumps), the one its root names, if that belongs to nobody. */
static const hdx_raw_trace *trace_of(const hdx_build *b, const thread_found *t, const hdx_map *by_thread, const hdx_map *by_serial)
{
    const uint64_t *mine = hdx_map_get(by_thread, t->serial), *named = hdx_map_get(by_serial, (uint32_t)t->trace);
    if (named != NULL && (b->scan.traces[*named].thread == t->serial || (mine == NULL && b->scan.traces[*named].thread == 0)))
        return &b->scan.traces[*named];
    return mine == NULL ? NULL : &b->scan.traces[*mine];
}

static bool text_of(hdx_build *b, uint64_t id, hdx_text *out)
{
    hdx_view bytes;
    *out = (hdx_text){ "", 0 };
    return id == 0 || !hdx_scan_string(b, id, &bytes) || hdx_java_text(&b->texts, bytes, out);
}

static hdx_code frames_of(hdx_build *b, const hdx_raw_trace *trace, const hdx_map *by_frame, const hdx_map *by_class, hdx_thread *t, hdx_error *err)
{
    hdx_frame *frames = hdx_arena_get(&b->texts, (uint64_t)trace->count * sizeof *frames);
    if (frames == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < trace->count; i++) {
        const uint64_t *place = hdx_map_get(by_frame, b->scan.frame_ids[trace->first + i]);
        hdx_frame      *f = &frames[i];
        *f = (hdx_frame){ { "<UNKNOWN CLASS>", 15 }, { "", 0 }, { "", 0 }, { "", 0 }, 0 };
        if (place == NULL)
            continue;
        const hdx_raw_frame *raw = &b->scan.frames[*place];
        const uint64_t      *load = hdx_map_get(by_class, raw->serial);
        hdx_view             name;
        if (!text_of(b, raw->method, &f->method) || !text_of(b, raw->signature, &f->signature) || !text_of(b, raw->source, &f->source))
            return no_memory(err);
        if (load != NULL && hdx_scan_string(b, b->scan.loads[*load].name, &name) && !hdx_java_class_name(&b->texts, name, &f->class_name))
            return no_memory(err);
        f->line = raw->line;
    }
    t->frames = frames;
    t->frame_count = trace->count;
    return HDX_OK;
}

static hdx_code make_threads(hdx_build *b, const thread_found *found, uint64_t count, hdx_error *err)
{
    const hdx_scan_result *r = &b->scan;
    hdx_map                by_thread = hdx_map_of(&b->mem), by_serial = hdx_map_of(&b->mem), by_frame = hdx_map_of(&b->mem), by_class = hdx_map_of(&b->mem);
    hdx_code               code = HDX_OK;
    uint64_t              *slot;
    b->threads_found = hdx_mem_array(&b->mem, count, sizeof *b->threads_found);
    if (b->threads_found == NULL)
        return no_memory(err);
    b->thread_count = count;
    for (uint64_t i = 0; i < r->trace_count; i++) {
        if ((slot = hdx_map_put(&by_thread, r->traces[i].thread, NULL)) == NULL)
            goto refused;
        *slot = i;
        if ((slot = hdx_map_put(&by_serial, r->traces[i].serial, NULL)) == NULL)
            goto refused;
        *slot = i;
    }
    for (uint64_t i = 0; i < r->frame_count; i++) {
        if ((slot = hdx_map_put(&by_frame, r->frames[i].id, NULL)) == NULL)
            goto refused;
        *slot = i;
    }
    for (uint64_t i = 0; i < r->load_count; i++) {
        if ((slot = hdx_map_put(&by_class, r->loads[i].serial, NULL)) == NULL)
            goto refused;
        *slot = i;
    }
    for (uint64_t i = 0; i < count && code == HDX_OK; i++) {
        hdx_thread          *t = &b->threads_found[i];
        const hdx_raw_trace *trace;
        *t = (hdx_thread){ found[i].object, found[i].serial, 0, NULL };
        /* stacks only where there are at least two traces: a single one is the dummy (MAT 4.8) */
        if (r->trace_count >= 2 && (trace = trace_of(b, &found[i], &by_thread, &by_serial)) != NULL)
            code = frames_of(b, trace, &by_frame, &by_class, t, err);
    }
    if (count > 0)
        qsort(b->threads_found, (size_t)count, sizeof *b->threads_found, by_object);
    goto out;
refused:
    code = no_memory(err);
out:
    hdx_map_free(&by_thread);
    hdx_map_free(&by_serial);
    hdx_map_free(&by_frame);
    hdx_map_free(&by_class);
    return code;
}

hdx_code hdx_roots_resolve(hdx_build *b, hdx_error *err)
{
    hdx_map       threads = hdx_map_of(&b->mem), objects = hdx_map_of(&b->mem); /* thread serial -> address; thread objects seen */
    thread_found *found = NULL;
    uint64_t      found_count = 0, found_capacity = 0;
    hdx_code      code = HDX_OK;
    for (uint64_t i = 0; i < b->scan.root_count && code == HDX_OK; i++) {
        const hdx_raw_root *raw = &b->scan.roots[i];
        hdx_root            root = { HDX_NO_ID, HDX_ROOT_UNKNOWN, HDX_NO_ID, -1 };
        uint64_t           *slot;
        bool                fresh;
        (void)hdx_root_type_of_tag(raw->tag, &root.type);
        if (raw->addr == 0) {
            /* ignored (R19), but for the agent's threads without an object: address 0 is an object, so MAT has it as a root. It holds no locals. */
            if (raw->tag == HDX_SUB_ROOT_THREAD_OBJECT)
                code = add_root(b, (hdx_root){ 0, HDX_ROOT_THREAD_OBJ, HDX_NO_ID, -1 }, err);
            continue;
        }
        root.object = hdx_addresses_find(b->ids, raw->addr);
        if (raw->tag == HDX_SUB_ROOT_THREAD_OBJECT) {
            if ((slot = hdx_map_put(&threads, raw->serial, NULL)) == NULL) {
                code = no_memory(err);
                break;
            }
            *slot = raw->addr;
        }
        if (held_by_thread(root.type)) {
            const uint64_t *thread = hdx_map_get(&threads, raw->serial); /* threads read so far (MAT 4.2) */
            if (thread != NULL) {
                root.thread = hdx_addresses_find(b->ids, *thread);
                root.frame = raw->frame < 0 ? -1 : raw->frame;
                if (root.thread == HDX_NO_ID) /* its object is not in the heap: the locals are lost (MAT 4.3) */
                    continue;
            }
        }
        if (root.object == HDX_NO_ID) {
            b->dangling_roots++;
            continue;
        }
        if (root.thread != HDX_NO_ID) {
            if (!hdx_mem_room(&b->mem, (void **)&b->locals, &b->local_capacity, b->local_count, sizeof *b->locals)) {
                code = no_memory(err);
                break;
            }
            b->locals[b->local_count++] = (hdx_local){ root.thread, root.object };
        }
        if (raw->tag == HDX_SUB_ROOT_THREAD_OBJECT) {
            if ((slot = hdx_map_put(&objects, root.object, &fresh)) == NULL ||
                (fresh && !hdx_mem_room(&b->mem, (void **)&found, &found_capacity, found_count, sizeof *found))) {
                code = no_memory(err);
                break;
            }
            if (fresh)
                found[found_count++] = (thread_found){ root.object, raw->serial, raw->frame };
        }
        code = add_root(b, root, err);
    }
    if (code == HDX_OK)
        code = system_classes(b, err);
    if (code == HDX_OK)
        code = make_threads(b, found, found_count, err);
    if (code == HDX_OK)
        sort_locals(b);
    hdx_map_free(&threads);
    hdx_map_free(&objects);
    hdx_mem_put(&b->mem, found, found_capacity * sizeof *found);
    return code;
}
