/*
 * plan.c - for every class: the offsets of the references in an instance, and how the search treats them (SHARK 3.5 to
 * 3.7).
 *
 * In:  the table of classes, names after the mapping, the matchers that apply to this device.
 * Out: slots per class. A slot is a reference field of the hierarchy; slots are sorted by name, and of equal names that
 *      of the derived class is first (SHARK 3.5). Class objects have a slot per static reference, in the order of the
 *      dump.
 * Knows how to distinguish collections of Java and Android (SHARK 3.6). Of the dump it reads only the statics of
 * android.os.Build.
 * Cost: a slot per reference field and class with instances. A crafted table of classes could ask for more slots than
 *       its dump can contain: classes whose fields would not fit in the dump have no slots.
 */
#include "leaks/leaks.h"

#include <stdlib.h>

static const struct {
    const char *name;
    uint8_t     expand;
} collections[] = {
    { "java.util.LinkedList", LE_LINKED },
    { "java.util.ArrayList", LE_LIST },
    { "java.util.concurrent.CopyOnWriteArrayList", LE_COW },
    { "java.util.HashMap", LE_HASH_MAP },
    { "java.util.LinkedHashMap", LE_HASH_MAP },
    { "java.util.concurrent.ConcurrentHashMap", LE_CONCURRENT_MAP },
    { "java.util.HashSet", LE_HASH_SET },
    { "java.util.LinkedHashSet", LE_HASH_SET },
    { "android.app.ActivityThread", LE_ACTIVITY_THREAD },
    { "android.app.ActivityThread$ActivityClientRecord", LE_CLIENT_RECORD },
    { "android.os.MessageQueue", LE_QUEUE },
    { "android.animation.ObjectAnimator", LE_ANIMATOR },
    { "androidx.arch.core.internal.SafeIterableMap", LE_SAFE_MAP },
    { "androidx.arch.core.internal.FastSafeIterableMap", LE_SAFE_MAP },
    { "android.util.ArraySet", LE_ARRAY_SET },
};

/* ---- matchers ---- */

static bool one_of(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = list;; p++) {
        size_t len = strcspn(p, "|");
        if (len == n && memcmp(p, word, n) == 0)
            return true;
        p += len;
        if (*p == '\0')
            return false;
    }
}

/*
 * Library matchers depend on the device (SHARK 3.9); without android.os.Build only those that apply everywhere remain.
 */
hdx_code hdx_leak_matchers_that_hold(leak_heap *h, const leak_rules *rules, bool **holds, hdx_error *err)
{
    const hdx_class *build = hdx_leak_class_raw(h, "android.os.Build"),
                    *version = hdx_leak_class_raw(h, "android.os.Build$VERSION");
    const char *maker = hdx_leak_text(h, hdx_leak_static_object(h, build, "MANUFACTURER")),
               *id = hdx_leak_text(h, hdx_leak_static_object(h, build, "ID"));
    hdx_value  v = { .type = 0 };
    const bool device = build != NULL && version != NULL && hdx_leak_static(h, version, "SDK_INT", &v) && v.type == 10;
    const int64_t sdk = device ? v.as.integer : 0;
    if ((*holds = hdx_mem_array(NULL, rules->matcher_count, sizeof **holds)) == NULL)
        return hdx_no_memory(err, "matchers", rules->matcher_count);
    for (uint64_t i = 0; i < rules->matcher_count; i++) {
        const hdx_leak_matcher *m = &rules->matchers[i];
        (*holds)[i] = m->everywhere ||
                      (device && (m->sdk_min == 0 || sdk >= m->sdk_min) && (m->sdk_max == 0 || sdk <= m->sdk_max) &&
                       (*m->manufacturer == '\0' || one_of(m->manufacturer, maker != NULL ? maker : "")) &&
                       (*m->build_id == '\0' || (id != NULL && strcmp(m->build_id, id) == 0)));
    }
    return h->code != HDX_OK ? (*err = h->err, h->code) : HDX_OK;
}

typedef struct chosen { /* field matchers that apply, by class and member; of equal ones the last */
    const hdx_leak_matcher *m;
    uint32_t                number;
} chosen;
/* Summary of a class's ancestors, so that a chain of classes without fields or matchers need not be climbed. */
typedef struct above {
    uint64_t bytes;   /* of the fields of its hierarchy */
    uint32_t fields;  /* the nearest class, itself included, that has fields or is opaque; HDX_NO_CLASS: none */
    uint32_t matched; /* the nearest, itself included, that a field matcher names, or java.lang.Object */
} above;
typedef struct plan_maker {
    leak_heap   *h;
    chosen      *at;
    uint64_t     count;
    const char **members; /* of instance fields, sorted */
    uint64_t     member_count;
    above       *above; /* by class number */
} plan_maker;

static int by_name(const void *a, const void *b)
{
    const chosen *x = a, *y = b;
    if (x->m->kind != y->m->kind)
        return x->m->kind < y->m->kind ? -1 : 1;
    int c = strcmp(x->m->class_name, y->m->class_name);
    if (c == 0)
        c = strcmp(x->m->member, y->m->member);
    return c != 0 ? c : x->number < y->number ? -1 : x->number > y->number;
}

static int compare(hdx_text t, const char *s)
{
    const size_t n = strlen(s), least = t.len < n ? t.len : n;
    int          c = memcmp(t.at, s, least);
    return c != 0 ? c : t.len < n ? -1 : t.len > n;
}

/* The target of a matcher; without a member: any of the class. */
typedef struct named {
    hdx_leak_matcher_kind kind;
    hdx_text              class_name;
    const hdx_text       *member;
} named;

static int compare_named(const named *n, const hdx_leak_matcher *m)
{
    const int c = n->kind != m->kind ? (n->kind < m->kind ? -1 : 1) : compare(n->class_name, m->class_name);
    return c == 0 && n->member != NULL ? compare(*n->member, m->member) : c;
}

static bool is_before(const void *chosen_ones, uint64_t place, const void *wanted)
{
    return compare_named(wanted, ((const chosen *)chosen_ones)[place].m) > 0;
}

static bool is_not_after(const void *chosen_ones, uint64_t place, const void *wanted)
{
    return compare_named(wanted, ((const chosen *)chosen_ones)[place].m) >= 0;
}

/* Returns the index among the rules + 1, the last if several have the same target; 0: none. */
static uint32_t matcher_of(const plan_maker *f, hdx_leak_matcher_kind kind, hdx_text class_name, hdx_text member)
{
    const named    wanted = { kind, class_name, &member };
    const uint64_t end = hdx_partition(f->at, 0, f->count, &wanted, is_not_after);
    return end > 0 && compare_named(&wanted, f->at[end - 1].m) == 0 ? f->at[end - 1].number + 1 : 0;
}

static bool names_class(const plan_maker *f, hdx_leak_matcher_kind kind, hdx_text class_name)
{
    const named    wanted = { kind, class_name, NULL };
    const uint64_t first = hdx_partition(f->at, 0, f->count, &wanted, is_before);
    return first < f->count && compare_named(&wanted, f->at[first].m) == 0;
}

/* ---- slots ---- */

static uint8_t known_field(hdx_text owner, hdx_text name)
{
    for (unsigned k = 1; k < LK_KNOWN; k++)
        if (hdx_text_is(name, hdx_leak_known_fields[k].name) && hdx_text_is(owner, hdx_leak_known_fields[k].owner))
            return (uint8_t)k;
    return LK_NONE;
}

static int by_field(const void *a, const void *b)
{
    const leak_slot *x = a, *y = b;
    const int        c = hdx_text_order(x->name, y->name);
    /* offsets increase from the derived class upwards */
    return c != 0 ? c : x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool member_before(const void *members, uint64_t place, const void *name)
{
    return compare(*(const hdx_text *)name, ((const char *const *)members)[place]) > 0;
}

static bool is_member(const plan_maker *f, hdx_text name)
{
    const uint64_t first = hdx_partition(f->members, 0, f->member_count, &name, member_before);
    return first < f->member_count && compare(name, f->members[first]) == 0;
}

static uint32_t next_above(const plan_maker *f, uint32_t c, bool matched)
{
    const uint32_t super = f->h->classes[c].super;
    return super == HDX_NO_CLASS ? HDX_NO_CLASS : matched ? f->above[super].matched : f->above[super].fields;
}

/*
 * Returns the matcher of a field name: the first class of the hierarchy that has one decides for all fields of that
 * name (SHARK 3.7).
 */
static uint32_t field_matcher(const plan_maker *f, uint32_t number, uint32_t top, hdx_text name)
{
    uint32_t m = 0;
    if (!is_member(f, name))
        return 0;
    for (uint32_t c = f->above[number].matched; c != HDX_NO_CLASS && c != top && m == 0; c = next_above(f, c, true))
        m = matcher_of(f, HDX_LEAK_INSTANCE_FIELD, f->h->names[c], name);
    return m;
}

static void flag(leak_slot *s, const leak_rules *rules)
{
    if (s->matcher != 0)
        s->flags |= rules->matchers[s->matcher - 1].ignored ? LEAK_SLOT_IGNORED : LEAK_SLOT_LOW;
}

static hdx_code instance_slots(const plan_maker *f, const leak_rules *rules, uint32_t number, uint32_t top,
                               leak_plans *plans, hdx_error *err)
{
    leak_heap *h = f->h;
    leak_plan *plan = &plans->at[number];
    uint32_t   n = 0, offset = 0;
    leak_slot *slots;
    for (uint32_t c = f->above[number].fields; c != HDX_NO_CLASS && (h->classes[c].flags & HDX_CLASS_OPAQUE) == 0;
         c = next_above(f, c, false))
        for (uint32_t i = 0; i < h->classes[c].field_count; i++)
            n += h->classes[c].fields[i].type == 2;
    if ((slots = hdx_arena_get(&plans->arena, (uint64_t)n * sizeof *slots)) == NULL)
        return hdx_no_memory(err, "plans of classes", (uint64_t)n * sizeof *slots);
    for (uint32_t c = f->above[number].fields; c != HDX_NO_CLASS && (h->classes[c].flags & HDX_CLASS_OPAQUE) == 0;
         c = next_above(f, c, false))
        for (uint32_t i = 0; i < h->classes[c].field_count; i++) {
            const hdx_field *field = &h->classes[c].fields[i];
            const hdx_text   name = hdx_leak_field_name(h, c, field->name);
            if (field->type == 2) {
                leak_slot *s = &slots[plan->count++];
                *s = (leak_slot){ .offset = offset, .owner = c, .name = name, .known = known_field(h->names[c], name) };
                s->flags = c == top ? LEAK_SLOT_SILENT : 0;
            } else if (field->type == 10 && hdx_text_is(name, "size") &&
                       hdx_text_is(h->names[c], "java.util.ArrayList") && offset <= INT32_MAX)
                plan->size_offset = (int32_t)offset;
            offset += hdx_type_size(field->type, h->id_size);
        }
    if (n > 1)
        qsort(slots, n, sizeof *slots, by_field);
    for (uint32_t i = 0; i < n; i++) {
        const bool again = i > 0 && hdx_text_same(slots[i].name, slots[i - 1].name);
        slots[i].matcher = again ? slots[i - 1].matcher : field_matcher(f, number, top, slots[i].name);
        flag(&slots[i], rules);
    }
    plan->slots = slots;
    return HDX_OK;
}

static hdx_code static_slots(const plan_maker *f, const leak_rules *rules, uint32_t number, leak_plans *plans,
                             hdx_error *err)
{
    leak_heap       *h = f->h;
    const hdx_class *c = &h->classes[number];
    leak_plan       *plan = &plans->at[number];
    uint32_t         n = 0;
    leak_slot       *slots;
    for (uint32_t i = 0; i < c->static_count; i++)
        n += c->statics[i].type == 2;
    if ((slots = hdx_arena_get(&plans->arena, (uint64_t)n * sizeof *slots)) == NULL)
        return hdx_no_memory(err, "plans of classes", (uint64_t)n * sizeof *slots);
    for (uint32_t i = 0; i < c->static_count; i++) {
        if (c->statics[i].type != 2)
            continue;
        leak_slot *s = &slots[plan->static_count++];
        *s = (leak_slot){ .offset = i, .owner = number, .name = hdx_leak_field_name(h, number, c->statics[i].name) };
        if (hdx_text_is(s->name, "$staticOverhead") || hdx_text_is(s->name, "$classOverhead"))
            s->flags = LEAK_SLOT_SILENT;
        s->matcher = matcher_of(f, HDX_LEAK_STATIC_FIELD, h->names[number], s->name);
        flag(s, rules);
    }
    plan->statics = slots;
    return HDX_OK;
}

/* ---- kinds of classes ---- */

static bool declares(leak_heap *h, const hdx_class *c, const char *field)
{
    for (uint32_t i = 0; c != NULL && i < c->field_count; i++)
        if (hdx_text_is(hdx_leak_field_name(h, c->number, c->fields[i].name), field))
            return true;
    return false;
}

/* Recognizes collections by the name in the file and by the fields of their implementation (SHARK 3.6). */
static void find_collections(leak_heap *h, leak_plans *p)
{
    const hdx_class *linked = hdx_leak_class_raw(h, "java.util.LinkedList"),
                    *list = hdx_leak_class_raw(h, "java.util.ArrayList");
    const hdx_class *cow = hdx_leak_class_raw(h, "java.util.concurrent.CopyOnWriteArrayList"),
                    *map = hdx_leak_class_raw(h, "java.util.HashMap");
    const hdx_class *set = hdx_leak_class_raw(h, "java.util.HashSet"),
                    *activities = hdx_leak_class_raw(h, "android.app.ActivityThread");
    const hdx_class *record = hdx_leak_class_raw(h, "android.app.ActivityThread$ActivityClientRecord");
    const hdx_class *weak = hdx_leak_class_raw(h, "java.lang.ref.WeakReference");
    const bool       open_linked = declares(h, linked, "first");
    const bool       records =
        declares(h, activities, "mNewActivities") && declares(h, record, "nextIdle") && declares(h, record, "activity");
    p->linked_head = open_linked ? LK_LINKED_FIRST : declares(h, linked, "voidLink") ? LK_LINKED_VOID : LK_NONE;
    p->linked_item = open_linked ? LK_NODE_ITEM : LK_LINK_DATA;
    p->linked_next = open_linked ? LK_NODE_NEXT : LK_LINK_NEXT;
    p->list_data = declares(h, list, "elementData") ? LK_LIST_DATA
                   : declares(h, list, "array")     ? LK_LIST_ARRAY
                                                    : LK_NONE;
    p->cow_array = declares(h, cow, "array") ? LK_COW_ARRAY : declares(h, cow, "elements") ? LK_COW_ELEMENTS : LK_NONE;
    const bool harmony = map != NULL && !declares(h, map, "loadFactor");
    p->node_key = !harmony && hdx_leak_class_raw(h, "java.util.HashMap$Entry") != NULL         ? LK_ENTRY_KEY
                  : harmony || hdx_leak_class_raw(h, "java.util.HashMap$HashMapEntry") != NULL ? LK_HENTRY_KEY
                                                                                               : LK_HNODE_KEY;
    p->node_value = p->node_key + 1;
    p->node_next = p->node_key + 2;
    p->set_map = declares(h, set, "map") ? LK_SET_MAP : declares(h, set, "backingMap") ? LK_SET_BACKING : LK_NONE;
    p->weak_reference = weak != NULL ? weak->number : HDX_NO_CLASS;
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++) {
        const hdx_class *c = hdx_leak_class_raw(h, collections[i].name);
        uint8_t          e = collections[i].expand;
        if (c == NULL || (e == LE_LINKED && p->linked_head == LK_NONE) || (e == LE_LIST && p->list_data == LK_NONE) ||
            (e == LE_COW && p->cow_array == LK_NONE) || (e == LE_HASH_SET && p->set_map == LK_NONE) ||
            (e == LE_HASH_MAP && map == NULL) || (e == LE_CONCURRENT_MAP && !declares(h, c, "table")) ||
            ((e == LE_ACTIVITY_THREAD || e == LE_CLIENT_RECORD) && !records) || (e == LE_ANIMATOR && weak == NULL) ||
            (e == LE_SAFE_MAP && hdx_leak_class_raw(h, "androidx.arch.core.internal.SafeIterableMap") == NULL))
            continue;
        p->at[c->number].expand = e;
        p->lists_activities |= e == LE_CLIENT_RECORD;
    }
}

/*
 * Instances no larger than those of java.lang.Object yield nothing (SHARK 3.5); Object's own size counts only if it has
 * ART's two fields.
 */
static uint64_t empty_size(leak_heap *h, const hdx_class *object)
{
    uint64_t n = 0;
    for (uint32_t i = 0; object != NULL && i < object->field_count; i++)
        n += hdx_type_size(object->fields[i].type, h->id_size);
    return n == (uint64_t)h->id_size + 4 ? n : 0;
}

static void describe(leak_heap *h, leak_plan *plan, const hdx_class *c, uint64_t empty)
{
    const hdx_text name = h->names[c->number];
    plan->size_offset = -1;
    if (c->kind == HDX_INSTANCE) {
        plan->string = hdx_text_is(name, "java.lang.String");
        plan->is_thread = (hdx_leak_bits(h, c->number) >> LC_THREAD & 1) != 0;
        plan->plain = !plan->string && !hdx_leak_is_wrapper(name) && c->stated_size > empty;
    } else if (c->kind == HDX_OBJECT_ARRAY) {
        plan->wrappers = name.len > 2 && hdx_leak_is_wrapper((hdx_text){ name.at, name.len - 2 });
        plan->elements = !plan->wrappers;
    }
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static uint64_t own_bytes(const leak_heap *h, uint32_t number)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < h->classes[number].field_count; i++)
        n += hdx_type_size(h->classes[number].fields[i].type, h->id_size);
    return n;
}

/* For each class climbs to an ancestor that is already summarized, then fills the classes on the way down. */
static hdx_code summarize_ancestors(plan_maker *f, uint32_t top, hdx_error *err)
{
    leak_heap *h = f->h;
    for (uint64_t i = 0; i < f->count; i++)
        if (f->at[i].m->kind == HDX_LEAK_INSTANCE_FIELD)
            f->members[f->member_count++] = f->at[i].m->member;
    if (f->member_count > 1)
        qsort(f->members, (size_t)f->member_count, sizeof *f->members, by_text);
    bool *done = hdx_mem_array(NULL, h->class_count, sizeof *done);
    if (done == NULL)
        return hdx_no_memory(err, "plans of classes", h->class_count);
    for (uint32_t n = 0; n < h->class_count; n++) {
        uint32_t count = 0;
        for (uint32_t c = n; c != HDX_NO_CLASS && !done[c]; c = h->classes[c].super)
            h->climbed[count++] = c;
        while (count > 0) {
            const uint32_t c = h->climbed[--count], super = h->classes[c].super;
            const hdx_class *class = &h->classes[c];
            above *a = &f->above[c];
            *a = super != HDX_NO_CLASS ? f->above[super] : (above){ 0, HDX_NO_CLASS, HDX_NO_CLASS };
            a->bytes += own_bytes(h, c);
            if (class->field_count > 0 || (class->flags & HDX_CLASS_OPAQUE) != 0)
                a->fields = c;
            if (c == top || names_class(f, HDX_LEAK_INSTANCE_FIELD, h->names[c]))
                a->matched = c;
            done[c] = true;
        }
    }
    hdx_mem_put(NULL, done, h->class_count);
    return HDX_OK;
}

hdx_code hdx_leak_plans_make(leak_heap *h, const leak_rules *rules, const bool *holds, leak_plans *out, hdx_error *err)
{
    const hdx_class *object = hdx_leak_class_raw(h, "java.lang.Object");
    const uint32_t   top = object != NULL ? object->number : HDX_NO_CLASS;
    const uint64_t   empty = empty_size(h, object), dump = hdx_graph_summary_of(h->g)->dump_size;
    plan_maker       f = { .h = h };
    uint64_t         bytes, spent = 0;
    hdx_code         code = HDX_OK;
    *out = (leak_plans){ .arena = hdx_arena_of(NULL) };
    f.above = hdx_mem_array(NULL, h->class_count, sizeof *f.above);
    f.members = hdx_mem_array(NULL, rules->matcher_count, sizeof *f.members);
    f.at = hdx_mem_array(NULL, rules->matcher_count, sizeof *f.at);
    out->at = hdx_mem_array(NULL, h->class_count, sizeof *out->at);
    if (f.above == NULL || f.members == NULL || f.at == NULL || out->at == NULL) {
        code = hdx_no_memory(err, "plans of classes", (uint64_t)h->class_count * sizeof *out->at);
        goto out;
    }
    for (uint64_t i = 0; i < rules->matcher_count; i++)
        if (holds[i])
            f.at[f.count++] = (chosen){ &rules->matchers[i], (uint32_t)i };
    if (f.count > 1)
        qsort(f.at, (size_t)f.count, sizeof *f.at, by_name);
    code = summarize_ancestors(&f, top, err);
    for (uint32_t n = 0; code == HDX_OK && n < h->class_count; n++) {
        const hdx_class *c = &h->classes[n];
        describe(h, &out->at[n], c, empty);
        if (c->kind == HDX_INSTANCE && c->instances > 0 && hdx_mul(f.above[n].bytes, c->instances, &bytes) &&
            hdx_add(spent, bytes, &spent) && spent <= dump)
            code = instance_slots(&f, rules, n, top, out, err);
        if (code == HDX_OK)
            code = static_slots(&f, rules, n, out, err);
    }
    if (code == HDX_OK)
        find_collections(h, out);
    if (code == HDX_OK && h->code != HDX_OK)
        code = (*err = h->err, h->code);
out:
    hdx_mem_put(NULL, f.at, rules->matcher_count * sizeof *f.at);
    hdx_mem_put(NULL, f.members, rules->matcher_count * sizeof *f.members);
    hdx_mem_put(NULL, f.above, (uint64_t)h->class_count * sizeof *f.above);
    return code;
}

void hdx_leak_plans_free(leak_plans *p, uint32_t class_count)
{
    hdx_mem_put(NULL, p->at, (uint64_t)class_count * sizeof *p->at);
    hdx_arena_free(&p->arena);
}
