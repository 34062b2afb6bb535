/*
 * finder.c - finds the leaking objects: watched ones, those whose state shows a leak, or all of some classes (SHARK 2).
 *
 * In:  the inspector with its watched objects, options, the caller's rules.
 * Out: ids, ascending, each once.
 * Knows which states the finder by state accepts (SHARK 2.5). Each class is checked once, so objects of a class without
 * a matching rule cost nothing.
 */
#include "leaks/leaks.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK_EVERY 65536u /* ids between two cancellation checks */
#define MANY        64u    /* more than one of this many objects: a bit set is as small as the list of ids */
#define WORK        65536u /* rule comparisons between two cancellation checks */
#define LOOK        64u    /* cost of the built-in inspection of an object, in comparisons */

typedef struct list {
    hdx_id  *at;
    uint64_t count, capacity;
} list;

static hdx_code list_put(list *l, hdx_id id, hdx_error *err)
{
    if (!hdx_mem_room(NULL, (void **)&l->at, &l->capacity, l->count, sizeof *l->at))
        return hdx_no_memory(err, "leaking objects", l->count * sizeof *l->at);
    l->at[l->count++] = id;
    return HDX_OK;
}

static int by_id(const void *a, const void *b)
{
    const hdx_id *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool stop_wanted(const hdx_progress *p) { return p != NULL && p->cancelled != NULL && p->cancelled(p->context); }

/* Sorts many ids through a bit set. A sort of all objects of a heap would take seconds and cannot be cancelled. */
static hdx_code sort_many(list *l, uint64_t objects, const hdx_progress *progress, hdx_error *err)
{
    const uint64_t words = hdx_bits_words(objects);
    uint64_t      *bits = hdx_mem_array(NULL, words, sizeof *bits), distinct_count = 0;
    if (bits == NULL)
        return hdx_no_memory(err, "leaking objects", words * sizeof *bits);
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < l->count; i++) {
        if (l->at[i] < objects)
            hdx_bits_put(bits, l->at[i]);
        if (i % CHECK_EVERY == 0 && stop_wanted(progress))
            code = hdx_tick_stop(err);
    }
    for (uint64_t w = 0; code == HDX_OK && w < words; w++) {
        for (uint64_t left = bits[w]; left != 0; left &= left - 1)
            l->at[distinct_count++] = w * 64 + (uint64_t)__builtin_ctzll(left);
        if (w % CHECK_EVERY == 0 && stop_wanted(progress))
            code = hdx_tick_stop(err);
    }
    l->count = distinct_count;
    hdx_mem_put(NULL, bits, words * sizeof *bits);
    return code;
}

/*
 * Sorts the ids and removes duplicates, and ids beyond the objects of the index, which only a damaged index contains.
 */
static hdx_code distinct(list *l, uint64_t objects, const hdx_progress *progress, hdx_error *err)
{
    uint64_t distinct_count = 0;
    if (l->count > objects / MANY)
        return sort_many(l, objects, progress, err);
    if (l->count > 1)
        qsort(l->at, (size_t)l->count, sizeof *l->at, by_id);
    for (uint64_t i = 0; i < l->count; i++)
        if (l->at[i] < objects && (i == 0 || l->at[i] != l->at[i - 1]))
            l->at[distinct_count++] = l->at[i];
    l->count = distinct_count;
    return HDX_OK;
}

/* ---- watched ---- */

static hdx_code watched(const leak_inspector *i, const hdx_leaks_options *o, list *out, hdx_error *err)
{
    bool     known = o->key == NULL;
    hdx_code code = HDX_OK;
    for (uint64_t n = 0; code == HDX_OK && n < i->watch_count; n++) {
        const leak_watch *w = &i->watches[n];
        if (o->key != NULL && (w->key == NULL || strcmp(w->key, o->key) != 0))
            continue;
        known = true;
        const bool young =
            o->min_watch_ms > 0 && w->timed && (w->watched_ms < 0 || (uint64_t)w->watched_ms < o->min_watch_ms);
        if (w->retained && w->referent != HDX_NO_ID && !young)
            code = list_put(out, w->referent, err);
    }
    if (code == HDX_OK && !known)
        code =
            hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no watched object has the key %s (%llu objects are watched)",
                     o->key, (unsigned long long)i->watched);
    return code;
}

/* ---- by state (SHARK 2.5) ---- */

static bool is_accepted(const char *code)
{
    static const char *const codes[] = { "activity.destroyed",
                                         "service.not_held",
                                         "context_manager.outer_activity_destroyed",
                                         "context_impl.outer_activity_destroyed",
                                         "fragment.manager_null",
                                         "fragment.lifecycle_destroyed",
                                         "message_queue.quitting",
                                         "mortar_scope.dead",
                                         "view_root.view_null",
                                         "view_root.context_destroyed",
                                         "window.destroyed",
                                         "toast.done",
                                         "rule" };
    for (size_t n = 0; n < sizeof codes / sizeof *codes; n++)
        if (strcmp(codes[n], code) == 0)
            return true;
    return false;
}

/* Accepts only views without a parent view; the other views hang on these. */
static bool leaking_view(leak_heap *h, hdx_id id)
{
    static const char *const v = "android.view.View";
    hdx_value                info;
    if (id == HDX_NO_ID || !hdx_leak_isa(h, id, LC_VIEW))
        return false;
    const hdx_id parent = hdx_leak_get_object(h, id, v, "mParent");
    if (parent != HDX_NO_ID && hdx_leak_isa(h, parent, LC_VIEW))
        return false;
    if (hdx_leak_context_destroyed(h, hdx_leak_get_object(h, id, v, "mContext")))
        return true;
    if (hdx_leak_get(h, id, v, "mAttachInfo", &info) && info.as.address != 0)
        return false;
    return hdx_leak_get_int(h, id, v, "mWindowAttachCount", 0) > 0 &&
           (parent != HDX_NO_ID || hdx_text_is(hdx_leak_name_of(h, id), "com.android.internal.policy.DecorView"));
}

static bool leaks_by_state(leak_inspector *i, hdx_id id)
{
    leak_heap *h = i->h;
    leak_look  l;
    bool       found = false;
    hdx_leak_look_into(i, id, &l);
    for (uint32_t n = 0; n < l.reason_count; n++)
        found = found || (l.reasons[n].means == HDX_LEAK_LEAKING && is_accepted(l.reasons[n].code));
    hdx_leak_look_drop(&l);
    if (h->android && !found)
        found = leaking_view(h, id) || hdx_leak_context_destroyed(h, id) ||
                (hdx_leak_isa(h, id, LC_EDITOR) &&
                 leaking_view(h, hdx_leak_get_object(h, id, "android.widget.Editor", "mTextView")));
    return found;
}

static bool is_inspected(leak_inspector *i, uint32_t number)
{
    static const leak_class states[] = { LC_VIEW,
                                         LC_EDITOR,
                                         LC_ACTIVITY,
                                         LC_SERVICE,
                                         LC_CONTEXT_WRAPPER,
                                         LC_APPLICATION,
                                         LC_CONTEXT_MANAGER,
                                         LC_CONTEXT_IMPL,
                                         LC_FRAGMENT,
                                         LC_SUPPORT_FRAGMENT,
                                         LC_ANDROIDX_FRAGMENT,
                                         LC_MESSAGE_QUEUE,
                                         LC_MORTAR_SCOPE,
                                         LC_VIEW_ROOT,
                                         LC_WINDOW,
                                         LC_TOAST };
    const uint64_t          bits = i->h->android ? hdx_leak_bits(i->h, number) : 0;
    for (size_t n = 0; n < sizeof states / sizeof *states; n++)
        if ((bits >> states[n] & 1) != 0)
            return true;
    for (uint64_t n = 0; n < i->rules->rule_count; n++) {
        const leak_rule *r = &i->rules->rules[n];
        if (r->means == HDX_LEAK_LEAKING && (r->subclasses ? hdx_leak_extends(i->h, number, r->class_name)
                                                           : hdx_text_is(hdx_leak_name(i->h, number), r->class_name)))
            return true;
    }
    return false;
}

static hdx_code add_work(uint64_t *done, uint64_t more, const hdx_progress *progress, hdx_error *err)
{
    if ((*done += more) < WORK)
        return HDX_OK;
    *done = 0;
    return stop_wanted(progress) ? hdx_tick_stop(err) : HDX_OK;
}

static hdx_code by_state(leak_inspector *i, const hdx_leaks_options *o, list *out, hdx_error *err)
{
    leak_heap     *h = i->h;
    hdx_code       code = watched(i, o, out, err);
    const uint64_t rules = i->rules->rule_count;
    uint64_t       done = 0;
    for (uint32_t c = 0; code == HDX_OK && c < h->class_count; c++) {
        hdx_refs refs;
        hdx_id   id;
        if ((code = add_work(&done, rules, o->progress, err)) != HDX_OK || h->classes[c].kind != HDX_INSTANCE ||
            !is_inspected(i, c))
            continue;
        hdx_graph_instances(h->g, c, HDX_ALL, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
            const hdx_arena saved = h->arena; /* texts of an object that is only checked are freed */
            h->arena = hdx_arena_of(NULL);
            if (id != 0 && hdx_leak_is_instance(h, id) && leaks_by_state(i, id))
                code = list_put(out, id, err);
            hdx_arena_free(&h->arena);
            h->arena = saved;
            if (code == HDX_OK)
                code = add_work(&done, LOOK + rules, o->progress, err);
        }
    }
    return code;
}

/* ---- by class ---- */

static hdx_code of_pattern(leak_inspector *i, const char *pattern, const hdx_progress *progress, list *out,
                           hdx_error *err)
{
    leak_heap  *h = i->h;
    hdx_pattern p;
    bool        any = false;
    uint64_t    asked = 0;
    hdx_code    code = hdx_pattern_open(&p, pattern, progress, NULL, err);
    for (uint32_t c = 0; code == HDX_OK && c < h->class_count; c++) {
        hdx_refs refs;
        hdx_id   id;
        bool     named;
        if ((code = hdx_pattern_match(&p, h->names[c], &named, err)) != HDX_OK || !named)
            continue;
        any = true;
        hdx_graph_instances(h->g, c, HDX_ALL, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
            if (id != 0 && hdx_graph_kind(h->g, id) != HDX_CLASS_OBJECT)
                code = list_put(out, id, err);
            if (++asked % CHECK_EVERY == 0 && stop_wanted(progress))
                code = hdx_tick_stop(err);
        }
    }
    hdx_pattern_close(&p);
    return code != HDX_OK || any ? code
                                 : hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no class is called %.120s", pattern);
}

hdx_code hdx_leak_find(leak_inspector *i, const hdx_leaks_options *o, hdx_id **leaking, uint64_t *count,
                       uint64_t *capacity, hdx_error *err)
{
    list     l = { NULL, 0, 0 };
    hdx_code code = HDX_OK;
    switch (o->finder) {
    case HDX_LEAKS_WATCHED: code = watched(i, o, &l, err); break;
    case HDX_LEAKS_FILTERS: code = by_state(i, o, &l, err); break;
    case HDX_LEAKS_CLASSES:
        for (size_t n = 0; code == HDX_OK && n < o->class_count; n++)
            code = of_pattern(i, o->classes[n], o->progress, &l, err);
        break;
    }
    if (code == HDX_OK && i->h->code != HDX_OK)
        code = (*err = i->h->err, i->h->code);
    if (code == HDX_OK)
        code = distinct(&l, i->h->objects, o->progress, err);
    *leaking = l.at;
    *count = l.count;
    *capacity = l.capacity;
    return code;
}
