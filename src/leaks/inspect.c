/*
 * inspect.c - collects what one object shows about itself: reasons for and against leaking, labels (SHARK 5.1,
 * tables.c).
 *
 * In:  an object on a path, or one that the finder by state inspects; references to watched objects, read once.
 * Out: notes with stable codes, without duplicates. Results are cached by object, because thousands of traces share
 *      their first steps.
 * Knows what holds for every JVM: watched objects, class loaders, class objects, anonymous classes, threads; and the
 * caller's rules. Android is in android.c.
 * Cost: one record per object, and one for each object that its inspectors follow.
 */
#include "leaks/leaks.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const watch_classes[] = { "leakcanary.KeyedWeakReference",
                                             "com.squareup.leakcanary.KeyedWeakReference" };

void hdx_leak_look_add(leak_inspector *i, leak_look *l, hdx_leak_status means, const char *code, const char *text)
{
    const bool      label = means == HDX_LEAK_UNKNOWN;
    hdx_leak_note **list = label ? &l->labels : &l->reasons;
    uint32_t       *count = label ? &l->label_count : &l->reason_count;
    for (uint32_t n = 0; n < *count; n++)
        if ((*list)[n].means == means && strcmp((*list)[n].code, code) == 0 && strcmp((*list)[n].text, text) == 0)
            return;
    if (*count == UINT32_MAX ||
        !hdx_mem_room(NULL, (void **)list, label ? &l->label_capacity : &l->reason_capacity, *count, sizeof **list)) {
        hdx_error err;
        hdx_leak_fail(i->h, hdx_no_memory(&err, "notes", *count), &err);
        return;
    }
    (*list)[(*count)++] = (hdx_leak_note){ code, text, means };
}

/* ---- watched objects (SHARK 2.1, 2.2) ---- */

static int by_referent(const void *a, const void *b)
{
    const leak_watch *x = a, *y = b;
    if (x->referent != y->referent)
        return x->referent < y->referent ? -1 : 1;
    return x->reference < y->reference ? -1 : x->reference > y->reference;
}

static void read_watch(leak_inspector *i, const hdx_class *c, hdx_id id, leak_watch *w, bool *holds)
{
    leak_heap     *h = i->h;
    const hdx_text name = hdx_leak_name(h, c->number);
    const char    *owner = hdx_leak_cstr(h, name);
    hdx_value      v;
    *w = (leak_watch){ .reference = id, .referent = HDX_NO_ID, .retained = true };
    *holds = hdx_leak_get(h, id, "java.lang.ref.Reference", "referent", &v) && v.type == 2 && v.as.address != 0;
    if (*holds)
        w->referent = hdx_leak_object_at(h, v.as.address);
    w->key = hdx_leak_get_text(h, id, owner, "key");
    w->description = hdx_leak_get_text(h, id, owner, "description");
    if (w->description == NULL)
        w->description = hdx_leak_get_text(h, id, owner, "name");
    if (!i->has_uptime)
        return; /* before 2.0-alpha-3 times were not recorded: every referent counts */
    const int64_t retained = hdx_leak_get_int(h, id, owner, "retainedUptimeMillis", INT64_MIN),
                  watched = hdx_leak_get_int(h, id, owner, "watchUptimeMillis", INT64_MIN);
    w->retained = retained != -1;
    w->timed = watched != INT64_MIN;
    if (w->timed)
        w->watched_ms = (int64_t)((uint64_t)i->uptime - (uint64_t)watched);
    w->retained_ms = retained == -1 || retained == INT64_MIN ? -1 : (int64_t)((uint64_t)i->uptime - (uint64_t)retained);
}

static hdx_code read_watches(leak_inspector *i, hdx_error *err)
{
    leak_heap       *h = i->h;
    const hdx_class *classes[2];
    hdx_value        v;
    for (unsigned n = 0; n < 2; n++)
        classes[n] = hdx_leak_class_raw(h, watch_classes[n]);
    i->has_uptime = hdx_leak_static(h, classes[0], "heapDumpUptimeMillis", &v) && v.type == 11;
    i->uptime = i->has_uptime ? v.as.integer : 0;
    for (unsigned n = 0; n < 2; n++) {
        hdx_refs refs;
        hdx_id   id;
        bool     holds;
        if (classes[n] == NULL)
            continue;
        hdx_graph_instances(h->g, classes[n]->number, HDX_ALL, &refs);
        while (hdx_refs_next(&refs, &id)) {
            if (!hdx_mem_room(NULL, (void **)&i->watches, &i->watch_capacity, i->watch_count, sizeof *i->watches))
                return hdx_no_memory(err, "watched objects", i->watch_count * sizeof *i->watches);
            leak_watch *w = &i->watches[i->watch_count++];
            read_watch(i, classes[n], id, w, &holds);
            i->watched++;
            i->watched_retained += holds && w->retained;
            i->cleared_retained += !holds && w->retained;
        }
    }
    if (i->watch_count > 1)
        qsort(i->watches, (size_t)i->watch_count, sizeof *i->watches, by_referent);
    return h->code != HDX_OK ? (*err = h->err, h->code) : HDX_OK;
}

hdx_code hdx_leak_inspector_open(leak_heap *h, const leak_rules *rules, leak_inspector *i, hdx_error *err)
{
    *i = (leak_inspector){ .h = h, .rules = rules, .looked = hdx_map_of(NULL) };
    i->arena = hdx_arena_of(NULL);
    return read_watches(i, err);
}

void hdx_leak_look_drop(leak_look *l)
{
    hdx_mem_put(NULL, l->reasons, l->reason_capacity * sizeof *l->reasons);
    hdx_mem_put(NULL, l->labels, l->label_capacity * sizeof *l->labels);
    *l = (leak_look){ .reasons = NULL };
}

void hdx_leak_inspector_close(leak_inspector *i)
{
    for (uint64_t n = 0; n < i->look_count; n++)
        hdx_leak_look_drop(i->looks[n]);
    hdx_mem_put(NULL, (void *)i->looks, i->look_capacity * sizeof *i->looks);
    hdx_mem_put(NULL, i->watches, i->watch_capacity * sizeof *i->watches);
    hdx_mem_put(NULL, i->services, i->service_capacity * sizeof *i->services);
    hdx_map_free(&i->looked);
    hdx_arena_free(&i->arena);
}

static void look_watch(leak_inspector *i, hdx_id id, leak_look *l)
{
    uint64_t from = hdx_lower_bound(HDX_KEYS(i->watches, i->watch_count, referent), id);
    for (; from < i->watch_count && i->watches[from].referent == id; from++) {
        const leak_watch *w = &i->watches[from];
        const bool        named = w->description != NULL && *w->description != '\0';
        hdx_leak_look_add(i, l, HDX_LEAK_LEAKING, "watch.retained",
                          named ? hdx_leak_print(i->h, "it was watched and should be gone: %s", w->description)
                                : "it was watched and should be gone");
        hdx_leak_look_add(i, l, HDX_LEAK_UNKNOWN, "watch.key",
                          hdx_leak_print(i->h, "key = %s", w->key != NULL ? w->key : "null"));
        if (w->timed) {
            hdx_leak_look_add(i, l, HDX_LEAK_UNKNOWN, "watch.duration",
                              hdx_leak_print(i->h, "watched for %lld ms", (long long)w->watched_ms));
            hdx_leak_look_add(i, l, HDX_LEAK_UNKNOWN, "watch.retained_duration",
                              hdx_leak_print(i->h, "retained for %lld ms", (long long)w->retained_ms));
        }
    }
}

/* ---- every JVM ---- */

/* "Outer$1": a name that ends with $ and digits. */
static bool is_anonymous(hdx_text name)
{
    uint32_t end = name.len;
    while (end > 0 && name.at[end - 1] >= '0' && name.at[end - 1] <= '9')
        end--;
    return end < name.len && end >= 2 && name.at[end - 1] == '$';
}

static void look_instance(leak_inspector *i, hdx_id id, uint64_t bits, leak_look *l)
{
    leak_heap     *h = i->h;
    const uint32_t number = hdx_graph_class_of(h->g, id);
    if (number < h->class_count && is_anonymous(h->names[number]) && h->classes[number].super != HDX_NO_CLASS) {
        const hdx_text super = hdx_leak_name(h, h->classes[number].super);
        if (!hdx_text_is(super, "java.lang.Object"))
            hdx_leak_look_add(i, l, HDX_LEAK_UNKNOWN, "anonymous.superclass",
                              hdx_leak_print(h, "anonymous subclass of %.*s", (int)super.len, super.at));
    }
    if ((bits >> LC_THREAD & 1) != 0) {
        const char *name = hdx_leak_get_text(h, id, "java.lang.Thread", "name");
        hdx_leak_look_add(i, l, HDX_LEAK_UNKNOWN, "thread.name",
                          hdx_leak_print(h, "thread name: %s", name != NULL ? name : "null"));
    }
}

void hdx_leak_look_states(leak_inspector *i, hdx_id id, leak_class of, leak_look *l)
{
    for (size_t n = 0; n < hdx_leak_state_count; n++) {
        const leak_state *s = &hdx_leak_states[n];
        hdx_value         v = { .type = 0 };
        if (s->of != of || (s->test != LT_ALWAYS && !hdx_leak_get(i->h, id, hdx_leak_class_names[of], s->field, &v)))
            continue;
        const bool truth = v.type == 4, reference = v.type == 2, number = v.type >= 8 && v.type <= 11;
        if (s->test == LT_ALWAYS || (s->test == LT_TRUE && truth && v.as.boolean) ||
            (s->test == LT_FALSE && truth && !v.as.boolean) || (s->test == LT_NULL && reference && v.as.address == 0) ||
            (s->test == LT_SET && reference && v.as.address != 0) ||
            (s->test == LT_IS && number && v.as.integer == s->number))
            hdx_leak_look_add(i, l, s->means, s->code, s->text);
    }
}

/* ---- the caller's rules ---- */

static int compare_value(leak_inspector *i, const hdx_value *v, const char *want, bool *comparable)
{
    char        text[64];
    const char *have = text;
    char       *end;
    *comparable = true;
    if (v->type >= 8 && v->type <= 11) {
        const long long n = strtoll(want, &end, 0);
        *comparable = *want != '\0' && *end == '\0';
        return v->as.integer < n ? -1 : v->as.integer > n;
    }
    if (v->type == 6 || v->type == 7) {
        const double n = strtod(want, &end), d = v->type == 6 ? (double)v->as.single : v->as.real;
        *comparable = *want != '\0' && *end == '\0';
        return d < n ? -1 : d > n;
    }
    if (v->type == 4)
        have = v->as.boolean ? "true" : "false";
    else if (v->type == 5)
        (void)snprintf(text, sizeof text, "%c", v->as.character < 0x80 ? (char)v->as.character : '?');
    else if (v->as.address == 0)
        have = "null";
    else if ((have = hdx_leak_text(i->h, hdx_leak_object_at(i->h, v->as.address))) == NULL)
        have = "set"; /* an object that is not a text: equal to this word only */
    return strcmp(have, want);
}

bool hdx_leak_rule_holds(leak_inspector *i, const leak_rule *r, hdx_id id)
{
    leak_heap     *h = i->h;
    const uint32_t number = hdx_graph_class_of(h->g, id);
    bool           comparable;
    if (!hdx_leak_is_instance(h, id) || !(r->subclasses ? hdx_leak_extends(h, number, r->class_name)
                                                        : hdx_text_is(hdx_leak_name(h, number), r->class_name)))
        return false;
    if (r->op == 0)
        return true;
    const hdx_values *v = hdx_leak_fields(h, id);
    for (uint64_t n = 0; n < v->count; n++) {
        if (v->at[n].value.absent || !hdx_text_is(hdx_leak_field_name(h, v->at[n].owner, v->at[n].name), r->field))
            continue;
        /* copied, because reading other objects may evict the cached fields */
        const hdx_value value = v->at[n].value;
        const int       c = compare_value(i, &value, r->value, &comparable);
        if (!comparable)
            return r->op == 2;
        return r->op == 1   ? c == 0
               : r->op == 2 ? c != 0
               : r->op == 3 ? c < 0
               : r->op == 4 ? c <= 0
               : r->op == 5 ? c > 0
                            : c >= 0;
    }
    return false;
}

/* ---- all inspectors ---- */

void hdx_leak_look_into(leak_inspector *i, hdx_id id, leak_look *l)
{
    leak_heap          *h = i->h;
    const hdx_leak_what what = hdx_leak_what_of(h, id);
    const uint64_t      bits = what == HDX_LEAK_IS_INSTANCE ? hdx_leak_bits(h, hdx_graph_class_of(h->g, id)) : 0;
    *l = (leak_look){ .reasons = NULL };
    look_watch(i, id, l);
    if ((bits >> LC_CLASS_LOADER & 1) != 0)
        hdx_leak_look_add(i, l, HDX_LEAK_NOT_LEAKING, "class_loader", "class loaders never leak");
    if (what == HDX_LEAK_IS_CLASS)
        hdx_leak_look_add(i, l, HDX_LEAK_NOT_LEAKING, "class", "class objects never leak");
    if (what != HDX_LEAK_IS_INSTANCE)
        return;
    look_instance(i, id, bits, l);
    if (h->android)
        hdx_leak_look_android(i, id, bits, l);
    for (uint64_t n = 0; n < i->rules->rule_count; n++)
        if (hdx_leak_rule_holds(i, &i->rules->rules[n], id))
            hdx_leak_look_add(i, l, i->rules->rules[n].means, "rule", i->rules->rules[n].text);
}

const leak_look *hdx_leak_look_at(leak_inspector *i, hdx_id id)
{
    bool       fresh;
    hdx_error  err;
    leak_look *l;
    uint64_t  *place = hdx_map_put(&i->looked, id, &fresh);
    if (place != NULL && !fresh)
        return i->looks[*place];
    if (place == NULL || (l = hdx_arena_get(&i->arena, sizeof *l)) == NULL ||
        !hdx_mem_room(NULL, (void **)&i->looks, &i->look_capacity, i->look_count, sizeof *i->looks)) {
        hdx_leak_fail(i->h, hdx_no_memory(&err, "notes", i->look_count * sizeof *i->looks), &err);
        return NULL;
    }
    *place = i->look_count;
    i->looks[i->look_count++] = l;
    hdx_leak_look_into(i, id, l);
    return l;
}
