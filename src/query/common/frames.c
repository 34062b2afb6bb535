/* frames.c - finds the stack frame that holds an object, and names frames. */
#include "query/common/frames.h"

#include "graph/graph.h"

/* Returns the index of the first GC root of the object; roots are sorted by object. */
static uint64_t first_root(const hdx_root *roots, uint64_t count, hdx_id object)
{
    uint64_t low = 0;
    for (uint64_t high = count; low < high;) {
        const uint64_t middle = low + (high - low) / 2;
        if (roots[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const hdx_frame *hdx_frame_of_local(hdx_graph *g, hdx_id thread, hdx_id object)
{
    const hdx_thread *t = hdx_graph_thread_of(g, thread);
    uint64_t          count = 0;
    const hdx_root   *roots = t == NULL || t->frame_count == 0 ? NULL : hdx_graph_roots(g, &count);
    const hdx_frame  *best = NULL;
    for (uint64_t i = first_root(roots, count, object); i < count && roots[i].object == object; i++) {
        const hdx_root *r = &roots[i];
        if (r->thread != thread || r->frame < 0 || (uint32_t)r->frame >= t->frame_count)
            continue;
        const hdx_frame *frame = &t->frames[r->frame];
        const bool       inner = best == NULL || frame < best, jdk = hdx_is_of_jdk(frame->class_name);
        if (best == NULL || (hdx_is_of_jdk(best->class_name) == jdk ? inner : !jdk))
            best = frame;
    }
    return best;
}

const hdx_frame *hdx_frame_creating_out_of_memory(const hdx_thread *t)
{
    for (uint32_t i = 0; t != NULL && i < t->frame_count; i++)
        if (hdx_text_is(t->frames[i].class_name, "java.lang.OutOfMemoryError") &&
            hdx_text_is(t->frames[i].method, "<init>"))
            return &t->frames[i] + 1;
    return NULL;
}

hdx_code hdx_frame_cell(hdx_arena *arena, const hdx_frame *f, hdx_cell *out, hdx_error *err)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    *out = hdx_cell_null();
    if (f == NULL)
        return HDX_OK;
    hdx_buffer_put(&b, f->class_name.at, f->class_name.len);
    hdx_buffer_text(&b, ".");
    hdx_buffer_put(&b, f->method.at, f->method.len);
    if (f->source.len > 0) {
        hdx_buffer_text(&b, " (");
        hdx_buffer_put(&b, f->source.at, f->source.len);
        if (f->line > 0)
            hdx_buffer_format(&b, ":%d", f->line);
        hdx_buffer_text(&b, ")");
    }
    if (!b.failed && b.len <= UINT32_MAX)
        *out = hdx_text_cell(arena, (hdx_text){ b.at, (uint32_t)b.len });
    const uint64_t len = b.len;
    hdx_buffer_free(&b);
    return out->kind == HDX_CELL_TEXT ? HDX_OK : hdx_no_memory(err, "a frame", len);
}
