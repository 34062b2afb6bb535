/*
 * trace.c - makes traces from paths (statuses, suspect references, signatures) and groups them into leaks (SHARK 5.2 to
 * 5.6, 4.7).
 *
 * In:  paths and sizes of the search, results of the inspectors.
 * Out: traces in the arena of the heap, those of one leak adjacent; answer.c makes an answer of them that needs no
 *      heap.
 * Knows how statuses spread along a path and what a signature is made of. Does not know how paths were found.
 * Cost: each step once; a sort of the traces.
 */
#include "leaks/leaks.h"

#include <stdlib.h>

const char *const hdx_leak_root_names[LR_KINDS] = { "THREAD_OBJECT", "THREAD_BLOCK", "STICKY_CLASS",
                                                    "NATIVE_STACK",  "MONITOR_USED", "JNI_MONITOR",
                                                    "JNI_LOCAL",     "JNI_GLOBAL",   "JAVA_FRAME" };

/*
 *     root ... n        n: the last object that does not leak: no object before it leaks either
 *          n+1 ... f-1  unknown: one of these references causes the leak
 *            f ... end  f: the first that leaks after n: every object after it leaks too
 */
void hdx_leak_statuses(leak_state_of *at, size_t count)
{
    size_t last_not = SIZE_MAX, first = SIZE_MAX, near = SIZE_MAX;
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        leak_state_of *s = &at[i];
        const bool     last = i == count - 1;
        s->from = SIZE_MAX;
        /* the last object leaks, whatever its own reasons are */
        s->conflict = last ? s->says_not : s->says_not && s->says_leaking;
        s->status = last || (s->says_leaking && !s->says_not) ? HDX_LEAK_LEAKING
                    : s->says_not                             ? HDX_LEAK_NOT_LEAKING
                                                              : HDX_LEAK_UNKNOWN;
        if (s->status == HDX_LEAK_NOT_LEAKING)
            last_not = i;
    }
    for (size_t i = last_not == SIZE_MAX ? 0 : last_not + 1; i < count && first == SIZE_MAX; i++)
        if (at[i].status == HDX_LEAK_LEAKING)
            first = i;
    /*
     * before n: inherited from the nearest later object with a reason of its own; the loop runs from the end to know it
     */
    for (size_t i = last_not == SIZE_MAX ? 0 : last_not + 1; i-- > 0;) {
        const hdx_leak_status own = at[i].status;
        if (i != last_not) {
            at[i].conflict |= own == HDX_LEAK_LEAKING;
            at[i].status = HDX_LEAK_NOT_LEAKING;
            at[i].from = near;
        }
        if (own == HDX_LEAK_NOT_LEAKING)
            near = i;
    }
    near = first;
    for (size_t i = first + 1; i + 1 < count; i++) {
        const hdx_leak_status own = at[i].status;
        at[i].status = HDX_LEAK_LEAKING;
        at[i].from = near;
        if (own == HDX_LEAK_LEAKING)
            near = i;
    }
}

typedef struct maker {
    leak_inspector    *i;
    leak_heap         *h;
    const leak_search *s;
    const char       **names; /* by class number */
    leak_state_of     *states;
    uint64_t           state_capacity;
    hdx_map            sized; /* objects that are unknown or leak in at least one trace */
    leak_made         *at;
    uint64_t           count;
} maker;

static const char *class_text(maker *m, uint32_t number)
{
    if (number >= m->h->class_count)
        return "";
    if (m->names[number] == NULL)
        m->names[number] = hdx_leak_cstr(m->h, m->h->names[number]);
    return m->names[number];
}

static uint32_t number_of(leak_heap *h, hdx_id id)
{
    const hdx_class *own = hdx_graph_class_object(h->g, id);
    return own != NULL ? own->number : hdx_graph_class_of(h->g, id);
}

static const char *simple(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

/* Returns the reasons that the status overrides, joined. */
static const char *lost_reasons(leak_heap *h, const leak_look *l, hdx_leak_status status)
{
    hdx_buffer  b = hdx_buffer_of(NULL);
    const char *before = status == HDX_LEAK_LEAKING ? "against leaking: " : "for leaking: ";
    for (uint32_t n = 0; n < l->reason_count; n++)
        if (l->reasons[n].means != status) {
            hdx_buffer_format(&b, "%s%s", before, l->reasons[n].text);
            before = "; ";
        }
    return hdx_leak_keep(h, &b);
}

static const hdx_leak_note *labels_of(maker *m, const leak_look *l, const leak_hop *hop, uint32_t *count)
{
    const hdx_leak_matcher *matcher =
        hop != NULL && hop->matcher != 0 ? &m->s->rules->matchers[hop->matcher - 1] : NULL;
    *count = l->label_count;
    if (matcher == NULL || matcher->ignored)
        return l->labels;
    hdx_leak_note *all = hdx_arena_get(&m->h->arena, ((uint64_t)l->label_count + 1) * sizeof *all);
    hdx_buffer     pattern = hdx_buffer_of(NULL);
    hdx_leak_pattern(matcher, &pattern);
    const char *text = hdx_leak_keep(m->h, &pattern);
    if (all == NULL) {
        hdx_error err = { .code = HDX_OK };
        hdx_leak_fail(m->h, hdx_no_memory(&err, "labels", *count * sizeof *all), &err);
        *count = 0;
        return NULL;
    }
    all[0] = (hdx_leak_note){ "library.match", hdx_leak_print(m->h, "known leak: %s", text), HDX_LEAK_UNKNOWN };
    if (l->label_count > 0)
        memcpy(all + 1, l->labels, l->label_count * sizeof *all);
    ++*count;
    return all;
}

/* Returns the frame that holds a local, if the dump has stacks. */
static const char *frame_of(leak_heap *h, hdx_id thread, hdx_id object)
{
    hdx_root          roots[64];
    uint64_t          count = 0;
    hdx_error         err;
    const hdx_thread *holder = hdx_graph_thread_of(h->g, thread);
    const hdx_code    code = hdx_graph_roots_of(h->g, object, roots, 64, &count, &err);
    if (code != HDX_OK)
        hdx_leak_fail(h, code, &err);
    if (code != HDX_OK || holder == NULL)
        return NULL;
    for (uint64_t n = 0; n < count && n < 64; n++) {
        if (roots[n].thread != thread || roots[n].frame < 0 || (uint32_t)roots[n].frame >= holder->frame_count)
            continue;
        const hdx_frame *f = &holder->frames[roots[n].frame];
        const hdx_text   clear = hdx_leak_mapping_class(h->mapping, f->class_name, &h->arena),
                       method = hdx_leak_mapping_method(h->mapping, f->class_name, f->method);
        const char *line = f->line > 0 ? hdx_leak_print(h, ":%d", f->line) : "";
        return hdx_leak_print(h, "%.*s.%.*s(%.*s%s)", (int)clear.len, clear.at, (int)method.len, method.at,
                              (int)f->source.len, f->source.at, line);
    }
    return NULL;
}

static void put_reference(maker *m, hdx_leak_step *step, const leak_hop *hop)
{
    step->ref_kind = hop->kind;
    step->ref_owner = class_text(m, hop->owner);
    if (hop->name.at != NULL)
        step->ref_name = hdx_leak_cstr(m->h, hop->name);
    else
        step->ref_key = hdx_graph_address(m->h->g, hop->key);
    if (hop->kind == HDX_LEAK_REF_LOCAL)
        step->ref_frame = frame_of(m->h, hop->from, hop->to);
}

/* A suspect is a reference from an unknown object, or from the last one that does not leak (SHARK 5.4). */
static bool is_suspect(const leak_state_of *at, size_t i, size_t count)
{
    return at[i].status == HDX_LEAK_UNKNOWN ||
           (at[i].status == HDX_LEAK_NOT_LEAKING && (i + 2 == count || at[i + 1].status != HDX_LEAK_NOT_LEAKING));
}

static void sign(leak_sha1 *sha, const hdx_leak_step *s)
{
    const char *name = s->ref_kind == HDX_LEAK_REF_ARRAY_ENTRY ? "[x]"
                       : s->ref_kind == HDX_LEAK_REF_LOCAL     ? "<Java Local>"
                       : s->ref_name != NULL                   ? s->ref_name
                                                               : "";
    hdx_leak_sha1_put(sha, s->class_name, strlen(s->class_name));
    hdx_leak_sha1_put(sha, name, strlen(name));
}

static void most(uint64_t *to, uint64_t v) { *to = v > *to ? v : *to; }

static hdx_code fill_steps(maker *m, const leak_path *p, hdx_leak_step *steps, leak_made *out, hdx_error *err)
{
    leak_sha1    sha;
    bool         fresh;
    const size_t count = (size_t)p->count;
    for (size_t j = 0; j < count; j++) {
        const leak_look *l = hdx_leak_look_at(m->i, p->objects[j]);
        if (l == NULL)
            return *err = m->h->err, m->h->code;
        m->states[j] = (leak_state_of){ .says_leaking = false };
        for (uint32_t n = 0; n < l->reason_count; n++) {
            m->states[j].says_leaking |= l->reasons[n].means == HDX_LEAK_LEAKING;
            m->states[j].says_not |= l->reasons[n].means == HDX_LEAK_NOT_LEAKING;
        }
    }
    hdx_leak_statuses(m->states, count);
    hdx_leak_sha1_begin(&sha);
    for (size_t j = 0; j < count; j++) {
        const hdx_id         id = p->objects[j];
        const leak_look     *l = hdx_leak_look_at(m->i, id);
        const leak_state_of *st = &m->states[j];
        const leak_hop      *hop = j + 1 < count ? &p->hops[j] : NULL;
        hdx_leak_step       *s = &steps[j];
        if (l == NULL)
            return *err = m->h->err, m->h->code;
        *s = (hdx_leak_step){ .address = hdx_graph_address(m->h->g, id),
                              .class_name = class_text(m, number_of(m->h, id)),
                              .what = hdx_leak_what_of(m->h, id),
                              .status = st->status,
                              .reasons = l->reasons,
                              .reason_count = l->reason_count,
                              .last = hop == NULL };
        s->labels = labels_of(m, l, hop, &s->label_count);
        if (st->conflict)
            s->conflict = lost_reasons(m->h, l, st->status);
        if (st->from != SIZE_MAX)
            s->inherited =
                hdx_leak_print(m->h, "%s %s %s leaking", simple(class_text(m, number_of(m->h, p->objects[st->from]))),
                               st->from > j ? "below" : "above", st->status == HDX_LEAK_LEAKING ? "is" : "is not");
        if (m->s->retained && st->status != HDX_LEAK_NOT_LEAKING && hdx_map_put(&m->sized, id, &fresh) == NULL)
            return hdx_no_memory(err, "sizes", m->sized.capacity * sizeof(hdx_map_slot));
        if (hop == NULL)
            continue;
        put_reference(m, s, hop);
        s->suspect = is_suspect(m->states, j, count);
        if (s->suspect)
            sign(&sha, s);
    }
    hdx_leak_sha1_end(&sha, out->own_signature);
    return HDX_OK;
}

/*
 * Runs when all statuses are known: Shark computes the sizes of the objects that are unknown or leak in any trace, and
 * shows them on every step with such an object. The retained size of a trace is that of its own leaking objects (SHARK
 * 4.7).
 */
static void put_sizes(const maker *m, const leak_path *p, leak_made *out)
{
    for (uint64_t j = 0; j < p->count; j++) {
        const hdx_id    id = p->objects[j];
        const uint64_t *bytes = hdx_map_get(&m->s->bytes, id), *objects = hdx_map_get(&m->s->counts, id);
        hdx_leak_step  *s = &out->steps[j];
        if (bytes == NULL || objects == NULL || hdx_map_get(&m->sized, id) == NULL)
            continue;
        s->sized = true;
        s->retained_bytes = *bytes;
        s->retained_objects = *objects;
        if (s->status != HDX_LEAK_LEAKING)
            continue;
        out->sized = true;
        most(&out->retained_bytes, *bytes);
        most(&out->retained_objects, *objects);
    }
}

/* Returns the first matched reference; the root is considered first (SHARK 5.6). */
static uint32_t first_matcher(const maker *m, const leak_path *p)
{
    uint32_t n = p->root->matcher;
    for (uint64_t j = 0; n == 0 && j + 1 < p->count; j++)
        n = p->hops[j].matcher;
    return n != 0 && m->s->rules->matchers[n - 1].ignored ? 0 : n;
}

static hdx_code make_trace(maker *m, const leak_path *p, hdx_error *err)
{
    leak_made     *out = &m->at[m->count];
    hdx_leak_step *steps = hdx_arena_get(&m->h->arena, p->count * sizeof *steps);
    while (m->state_capacity < p->count)
        if (!hdx_mem_room(NULL, (void **)&m->states, &m->state_capacity, m->state_capacity, sizeof *m->states))
            return hdx_no_memory(err, "a path", p->count * sizeof *m->states);
    if (steps == NULL)
        return hdx_no_memory(err, "a path", p->count * sizeof *steps);
    *out = (leak_made){ .kind = HDX_LEAK_APPLICATION,
                        .order = m->count,
                        .matcher = first_matcher(m, p),
                        .root_type = hdx_leak_root_names[p->root->kind],
                        .steps = steps,
                        .step_count = p->count };
    hdx_code code = fill_steps(m, p, steps, out, err);
    if (code != HDX_OK)
        return code;
    memcpy(out->signature, out->own_signature, sizeof out->signature);
    if (out->matcher != 0) {
        leak_sha1  sha;
        hdx_buffer pattern = hdx_buffer_of(NULL);
        out->kind = HDX_LEAK_LIBRARY;
        hdx_leak_pattern(&m->s->rules->matchers[out->matcher - 1], &pattern);
        const char *text = hdx_leak_keep(m->h, &pattern);
        hdx_leak_sha1_begin(&sha);
        hdx_leak_sha1_put(&sha, text, strlen(text));
        hdx_leak_sha1_end(&sha, out->signature);
    }
    m->count++;
    return HDX_OK;
}

static hdx_code make_unreachable(maker *m, hdx_id id, hdx_error *err)
{
    leak_made       *out = &m->at[m->count];
    const leak_look *l = hdx_leak_look_at(m->i, id);
    hdx_leak_step   *s = hdx_arena_get(&m->h->arena, sizeof *s);
    if (l == NULL || s == NULL)
        return m->h->code != HDX_OK ? (*err = m->h->err, m->h->code) : hdx_no_memory(err, "a path", sizeof *s);
    *s = (hdx_leak_step){ .address = hdx_graph_address(m->h->g, id),
                          .class_name = class_text(m, number_of(m->h, id)),
                          .what = hdx_leak_what_of(m->h, id),
                          .status = HDX_LEAK_LEAKING,
                          .reasons = l->reasons,
                          .reason_count = l->reason_count,
                          .labels = l->labels,
                          .label_count = l->label_count,
                          .last = true };
    *out = (leak_made){ .kind = HDX_LEAK_UNREACHABLE, .order = m->count, .steps = s, .step_count = 1 };
    m->count++;
    return HDX_OK;
}

/* ---- leaks ---- */

static int by_leak(const void *a, const void *b)
{
    const leak_made *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    int c = strcmp(x->signature, y->signature);
    return c != 0 ? c : x->order < y->order ? -1 : x->order > y->order;
}
static int by_appearance(const void *a, const void *b)
{
    const leak_made *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->leak != y->leak)
        return x->leak < y->leak ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* A leak takes the place of its first trace. */
static void group(leak_made *at, uint64_t count)
{
    if (count > 1)
        qsort(at, (size_t)count, sizeof *at, by_leak);
    for (uint64_t j = 0; j < count; j++) {
        const bool same = j > 0 && at[j].kind == at[j - 1].kind && strcmp(at[j].signature, at[j - 1].signature) == 0;
        at[j].leak = same ? at[j - 1].leak : at[j].order;
    }
    if (count > 1)
        qsort(at, (size_t)count, sizeof *at, by_appearance);
}

hdx_code hdx_leak_traces(leak_inspector *i, const leak_search *s, leak_made **out, uint64_t *count, hdx_error *err)
{
    maker          m = { .i = i, .h = i->h, .s = s, .sized = hdx_map_of(NULL) };
    const uint64_t rooms = s->path_count + s->lost_count;
    hdx_code       code = HDX_OK;
    m.names = hdx_mem_array(NULL, m.h->class_count, sizeof *m.names);
    *out = m.at = hdx_mem_array(NULL, rooms, sizeof *m.at);
    if (m.names == NULL || m.at == NULL)
        code = hdx_no_memory(err, "traces", rooms * sizeof *m.at);
    for (uint64_t n = 0; code == HDX_OK && n < s->path_count; n++) {
        code = make_trace(&m, &s->paths[n], err);
        if (code == HDX_OK && n % 64 == 0 && hdx_tick(s->tick, 64))
            code = hdx_tick_stop(err);
    }
    for (uint64_t n = 0; code == HDX_OK && s->retained && n < s->path_count; n++)
        put_sizes(&m, &s->paths[n], &m.at[n]); /* the traces are still in the order of paths */
    for (uint64_t n = 0; code == HDX_OK && n < s->lost_count; n++)
        code = make_unreachable(&m, s->lost[n], err);
    if (code == HDX_OK && m.h->code != HDX_OK)
        code = (*err = m.h->err, m.h->code);
    if (code == HDX_OK)
        group(m.at, m.count);
    *count = m.count;
    hdx_mem_put(NULL, (void *)m.names, (uint64_t)m.h->class_count * sizeof *m.names);
    hdx_map_free(&m.sized);
    hdx_mem_put(NULL, m.states, m.state_capacity * sizeof *m.states);
    return code;
}
