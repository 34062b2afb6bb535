/*
 * keywords.c - keywords for searches in bug trackers and sources: names of a suspect, of its holders, and of the frames
 * that hold it (MAT 7.7, 7.9).
 *
 * A thread here is an object with a GC root of type THREAD_OBJ, because threads that were not started have no stack.
 *
 * Cost: for a suspect that a thread holds, one pass over the GC roots; for a suspect of a class of the JDK, a search
 * over inbound references, of at most SEARCH_MOST objects.
 */
#include "graph/graph.h"
#include "query/common/labels.h"
#include "query/suspects/suspects.h"

#include <stdlib.h>

#define SEARCH_MOST   1000000u
#define KEYWORDS_MOST 1000u /* a stack that overflowed has more frames, which repeat */

typedef HDX_LIST(hdx_cell) cell_list;

typedef struct keywords {
    hdx_suspects *s;
    hdx_arena    *arena;
    cell_list     list;
} keywords;

static bool is_thread(const hdx_suspects *s, hdx_id id) { return hdx_graph_thread_of(s->ask.g, id) != NULL; }

static bool is_loader(hdx_graph *g, hdx_id id)
{
    const hdx_class *c = hdx_graph_class_named(g, "java.lang.ClassLoader");
    return c != NULL && hdx_class_extends(g, hdx_graph_class_of(g, id), c->number);
}

/* Adds a keyword unless it exists, in order of appearance. */
static hdx_code keyword(keywords *k, hdx_text text, hdx_error *err)
{
    for (uint64_t i = 0; i < k->list.count; i++)
        if (k->list.at[i].as.text.len == text.len && memcmp(k->list.at[i].as.text.at, text.at, text.len) == 0)
            return HDX_OK;
    if (text.len == 0 || k->list.count == KEYWORDS_MOST)
        return HDX_OK;
    if (!hdx_list_room(k->s->ask.q.mem, HDX_LIST_REF(&k->list)))
        return hdx_no_memory(err, "keywords", k->list.count * sizeof *k->list.at);
    k->list.at[k->list.count++] = hdx_cell_text(text);
    return HDX_OK;
}

/* ---- classes and loaders ---- */

/* Adds the name of a loader, or its class; nothing for the boot loader. */
static hdx_code loader_keyword(keywords *k, hdx_addr address, hdx_error *err)
{
    hdx_cell label = hdx_cell_null();
    hdx_id   id;
    if (address == 0 || !hdx_graph_find(k->s->ask.g, address, &id))
        return HDX_OK;
    const hdx_code code = hdx_label_cell(&k->s->ask.q, id, k->arena, &label, err);
    if (code != HDX_OK)
        return code;
    return keyword(k, label.kind == HDX_CELL_TEXT ? label.as.text : hdx_suspect_class(k->s->ask.g, id), err);
}

static hdx_code class_keyword(keywords *k, const hdx_class *c, hdx_error *err)
{
    if (c == NULL)
        return HDX_OK;
    const hdx_code code = keyword(k, c->name, err);
    return code == HDX_OK ? loader_keyword(k, c->loader, err) : code;
}

static hdx_code object_keyword(keywords *k, hdx_id id, hdx_error *err)
{
    hdx_graph       *g = k->s->ask.g;
    const hdx_class *c = hdx_graph_kind(g, id) == HDX_CLASS_OBJECT ? hdx_graph_class_object(g, id) : NULL;
    if (c == NULL && is_loader(g, id))
        return loader_keyword(k, hdx_graph_address(g, id), err);
    return class_keyword(k, c != NULL ? c : hdx_graph_class(g, hdx_graph_class_of(g, id)), err);
}

/* Finds the nearest direct or indirect referrer that is a thread or not of a class of the JDK (MAT 7.7). */
static hdx_code find_referrer(hdx_suspects *s, hdx_id of, hdx_id *found, hdx_error *err)
{
    hdx_map  seen = hdx_map_of(s->ask.q.mem);
    hdx_ids  queue = hdx_ids_of(s->ask.q.mem);
    bool     fresh;
    hdx_code code =
        hdx_map_put(&seen, of, &fresh) == NULL ? hdx_no_memory(err, "a search", 16) : hdx_ids_push(&queue, of, err);
    *found = HDX_NO_ID;
    for (uint64_t i = 0; code == HDX_OK && *found == HDX_NO_ID && i < queue.count && i < SEARCH_MOST; i++) {
        hdx_refs refs;
        hdx_id   from;
        hdx_graph_inbound(s->ask.g, queue.at[i], HDX_LIVE, &refs);
        while (code == HDX_OK && *found == HDX_NO_ID && queue.count < SEARCH_MOST && hdx_refs_next(&refs, &from)) {
            if ((code = hdx_ask_check_cancel(&s->ask, err)) != HDX_OK)
                break;
            if (hdx_map_put(&seen, from, &fresh) == NULL)
                code = hdx_no_memory(err, "a search", seen.count * sizeof *seen.slots);
            else if (fresh && (is_thread(s, from) || !hdx_is_of_jdk(hdx_suspect_own_class(s->ask.g, from))))
                *found = from;
            else if (fresh)
                code = hdx_ids_push(&queue, from, err);
        }
    }
    hdx_ids_drop(&queue);
    hdx_map_free(&seen);
    return code;
}

/* Classes of the JDK are rarely at fault, so the referrer outside of the JDK is a keyword. */
static hdx_code referrer_keyword(keywords *k, hdx_id of, hdx_error *err)
{
    hdx_id         referrer = HDX_NO_ID;
    const hdx_code code = find_referrer(k->s, of, &referrer, err);
    return code == HDX_OK && referrer != HDX_NO_ID ? object_keyword(k, referrer, err) : code;
}

/* ---- frames ---- */

typedef struct local {
    uint32_t frame;
    bool     significant;
    hdx_id   object;
    uint64_t retained;
} local;

typedef HDX_LIST(local) local_list;

typedef struct stack {
    hdx_suspects     *s;
    const hdx_thread *thread;
    hdx_id            next;   /* the object after the thread on the path to the suspect; HDX_NO_ID: no such path */
    local_list        locals; /* sorted by frame, then object; no duplicates */
} stack;

static int by_frame(const void *a, const void *b)
{
    const local *x = a, *y = b;
    return x->frame != y->frame ? (x->frame > y->frame) - (x->frame < y->frame)
                                : (x->object > y->object) - (x->object < y->object);
}

static int by_retained(const void *a, const void *b)
{
    const local *const *x = a, *const *y = b;
    return ((*x)->retained > (*y)->retained) - ((*x)->retained < (*y)->retained);
}

static hdx_code find_locals(stack *t, hdx_error *err)
{
    uint64_t        count = 0, used = 0;
    const hdx_root *roots = hdx_graph_roots(t->s->ask.g, &count);
    for (uint64_t i = 0; i < count; i++) {
        const hdx_root *r = &roots[i];
        if (r->thread != t->thread->object || r->frame < 0 || (uint32_t)r->frame >= t->thread->frame_count)
            continue;
        if (!hdx_list_room(t->s->ask.q.mem, HDX_LIST_REF(&t->locals)))
            return hdx_no_memory(err, "locals", t->locals.count * sizeof(local));
        t->locals.at[t->locals.count++] =
            (local){ (uint32_t)r->frame, false, r->object, hdx_graph_retained(t->s->ask.g, r->object) };
    }
    if (t->locals.count > 0)
        qsort(t->locals.at, t->locals.count, sizeof(local), by_frame);
    for (uint64_t i = 0; i < t->locals.count; i++)
        if (used == 0 || by_frame(&t->locals.at[used - 1], &t->locals.at[i]) != 0)
            t->locals.at[used++] = t->locals.at[i];
    t->locals.count = used;
    return HDX_OK;
}

/* Returns the end of the locals of one frame. */
static uint64_t frame_end(const stack *t, uint64_t from)
{
    uint64_t end = from;
    while (end < t->locals.count && t->locals.at[end].frame == t->locals.at[from].frame)
        end++;
    return end;
}

/* Returns whether the thread is its dominator, or the dominator of its dominator. */
static bool is_dominated(const stack *t, hdx_id id)
{
    const hdx_id by = hdx_graph_dominator(t->s->ask.g, id);
    return by == t->thread->object ||
           (by < hdx_graph_objects(t->s->ask.g) && hdx_graph_dominator(t->s->ask.g, by) == t->thread->object);
}

/* Returns whether its dominator is a local of the same frame, because then it must not count twice (MAT 6.6). */
static bool is_below(const stack *t, const local *l, uint64_t from, uint64_t end)
{
    const local key = { .frame = l->frame, .object = hdx_graph_dominator(t->s->ask.g, l->object) };
    return key.object != t->thread->object &&
           bsearch(&key, t->locals.at + from, end - from, sizeof(local), by_frame) != NULL;
}

/*
 * If no local of the frame is large, considers the dominated ones together, and omits the smallest while the remaining
 * ones retain four fifths of the sum.
 */
static hdx_code mark_together(stack *t, uint64_t from, uint64_t end, uint64_t bytes, hdx_error *err)
{
    hdx_mem *mem = t->s->ask.q.mem;
    uint64_t count = 0, sum = 0;
    local  **tops = hdx_mem_array(mem, end - from, sizeof(local *));
    if (tops == NULL)
        return hdx_no_memory(err, "locals", (end - from) * sizeof(local *));
    for (uint64_t i = from; i < end; i++)
        if (is_dominated(t, t->locals.at[i].object) && !is_below(t, &t->locals.at[i], from, end)) {
            tops[count++] = &t->locals.at[i];
            sum += t->locals.at[i].retained;
        }
    if (count > 0 && sum > bytes / 4) {
        const uint64_t least = sum / 5 * 4 + sum % 5 * 4 / 5;
        uint64_t       rest = sum, left_out = 0;
        qsort(tops, count, sizeof *tops, by_retained);
        while (left_out < count && rest - tops[left_out]->retained > least)
            rest -= tops[left_out++]->retained;
        for (uint64_t i = left_out; i < count; i++)
            tops[i]->significant = true;
    }
    hdx_mem_put(mem, tops, (end - from) * sizeof(local *));
    return HDX_OK;
}

static hdx_code mark_frame(stack *t, uint64_t from, uint64_t end, hdx_error *err)
{
    const uint64_t bytes = hdx_graph_retained(t->s->ask.g, t->thread->object);
    bool           any = false;
    for (uint64_t i = from; i < end; i++) {
        local *l = &t->locals.at[i];
        l->significant =
            t->next != HDX_NO_ID ? l->object == t->next : l->retained > bytes / 10 && is_dominated(t, l->object);
        any = any || l->significant;
    }
    return any || t->next != HDX_NO_ID ? HDX_OK : mark_together(t, from, end, bytes, err);
}

static hdx_code mark_all(stack *t, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t from = 0, end; code == HDX_OK && from < t->locals.count; from = end) {
        end = frame_end(t, from);
        if ((code = mark_frame(t, from, end, err)) == HDX_OK)
            code = hdx_ask_check_cancel(&t->s->ask, err);
    }
    return code;
}

static bool is_of_jdk(const stack *t, uint32_t frame) { return hdx_is_of_jdk(t->thread->frames[frame].class_name); }

/*
 * Frames of the JDK at the top hold their arguments. An argument that a frame of the application also holds is only
 * counted there. Without any such frame, nothing changes.
 */
static hdx_code prefer_application(stack *t, hdx_error *err)
{
    hdx_map  held = hdx_map_of(t->s->ask.q.mem);
    uint64_t first = 0;
    bool     fresh;
    hdx_code code = HDX_OK;
    while (first < t->locals.count && (!t->locals.at[first].significant || is_of_jdk(t, t->locals.at[first].frame)))
        first++;
    for (uint64_t i = first; code == HDX_OK && i < t->locals.count; i++)
        if (t->locals.at[i].significant && hdx_map_put(&held, t->locals.at[i].object, &fresh) == NULL)
            code = hdx_no_memory(err, "locals", held.count * sizeof *held.slots);
    for (uint64_t i = 0; code == HDX_OK && first < t->locals.count && i < first; i++)
        if (hdx_map_get(&held, t->locals.at[i].object) != NULL)
            t->locals.at[i].significant = false;
    hdx_map_free(&held);
    return code;
}

static hdx_code frame_keywords(keywords *k, const hdx_frame *f, hdx_error *err)
{
    hdx_buffer b = hdx_buffer_of(k->s->ask.q.mem);
    hdx_code   code = HDX_OK;
    hdx_buffer_put(&b, f->class_name.at, f->class_name.len);
    hdx_buffer_text(&b, ".");
    hdx_buffer_put(&b, f->method.at, f->method.len);
    hdx_buffer_put(&b, f->signature.at, f->signature.len);
    const uint64_t method = b.len;
    hdx_buffer_put(&b, f->source.at, f->source.len);
    if (f->source.len > 0 && f->line > 0)
        hdx_buffer_format(&b, ":%d", f->line);
    char *text = b.failed || b.len > UINT32_MAX ? NULL : hdx_arena_copy(k->arena, b.at, b.len);
    if (text != NULL) {
        code = keyword(k, (hdx_text){ text, (uint32_t)method }, err);
        if (code == HDX_OK)
            code = keyword(k, (hdx_text){ text + method, (uint32_t)(b.len - method) }, err);
    }
    hdx_buffer_free(&b);
    return text == NULL ? hdx_no_memory(err, "keywords", b.len) : code;
}

/* Adds frames of the thread at the root of the path that hold the suspect's bytes, the innermost first (MAT 7.9). */
static hdx_code frames_keywords(keywords *k, const hdx_suspect *of, hdx_error *err)
{
    const hdx_path *p = hdx_suspect_path(k->s, of);
    const hdx_id   *step = p == NULL ? NULL : k->s->paths.steps.at + p->first;
    const hdx_id    root = step == NULL ? HDX_NO_ID : step[0];
    const bool      is_it = of->object != HDX_NO_ID && is_thread(k->s, of->object);
    const hdx_id    id = is_it ? of->object : root;
    stack           t = { .s = k->s, .next = root == id && p != NULL && p->count > 1 ? step[1] : HDX_NO_ID };
    t.thread = id == HDX_NO_ID ? NULL : hdx_graph_thread_of(k->s->ask.g, id);
    if (t.thread == NULL || t.thread->frame_count == 0)
        return HDX_OK;
    hdx_code code = find_locals(&t, err);
    if (code == HDX_OK && (code = mark_all(&t, err)) == HDX_OK)
        code = prefer_application(&t, err);
    for (uint64_t i = 0; code == HDX_OK && i < t.locals.count; i++)
        if (t.locals.at[i].significant)
            code = frame_keywords(k, &t.thread->frames[t.locals.at[i].frame], err);
    hdx_list_free(k->s->ask.q.mem, HDX_LIST_REF(&t.locals));
    return code;
}

/* ---- all keywords ---- */

static hdx_code object_keywords(keywords *k, const hdx_suspect *of, hdx_error *err)
{
    hdx_graph *g = k->s->ask.g;
    hdx_code   code = is_thread(k->s, of->object) ? HDX_OK : object_keyword(k, of->object, err);
    const bool plain = !is_thread(k->s, of->object) && !is_loader(g, of->object) &&
                       /* classes and loaders are keywords themselves */
                       hdx_graph_kind(g, of->object) != HDX_CLASS_OBJECT;
    if (code == HDX_OK && plain && hdx_is_of_jdk(hdx_suspect_class(g, of->object)))
        code = referrer_keyword(k, of->object, err);
    return code == HDX_OK && of->point != HDX_NO_ID ? object_keyword(k, of->point, err) : code;
}

static hdx_code group_keywords(keywords *k, const hdx_suspect *of, hdx_error *err)
{
    hdx_graph       *g = k->s->ask.g;
    const hdx_class *c = hdx_graph_class(g, of->number);
    hdx_code         code = class_keyword(k, c, err);
    if (code != HDX_OK || of->point == HDX_NO_ID || (code = object_keyword(k, of->point, err)) != HDX_OK)
        return code;
    const bool jdk = (c != NULL && hdx_is_of_jdk(c->name)) || hdx_is_of_jdk(hdx_suspect_class(g, of->point));
    return jdk && !is_thread(k->s, of->point) ? referrer_keyword(k, of->point, err) : HDX_OK;
}

hdx_code hdx_suspect_keywords(hdx_suspects *s, const hdx_suspect *of, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    keywords k = { .s = s, .arena = arena };
    hdx_code code = of->object != HDX_NO_ID ? object_keywords(&k, of, err) : group_keywords(&k, of, err);
    if (code == HDX_OK)
        code = frames_keywords(&k, of, err);
    hdx_cell *cells = code == HDX_OK ? hdx_arena_get(arena, k.list.count * sizeof *cells) : NULL;
    if (code == HDX_OK && cells == NULL)
        code = hdx_no_memory(err, "keywords", k.list.count * sizeof *cells);
    else if (code == HDX_OK && k.list.count > 0)
        memcpy(cells, k.list.at, k.list.count * sizeof *cells);
    *out = hdx_cell_list(cells, code == HDX_OK ? k.list.count : 0);
    hdx_list_free(s->ask.q.mem, HDX_LIST_REF(&k.list));
    return code;
}
