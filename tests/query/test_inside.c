/*
 * test_inside.c - the first objects of each group of dominators (dominators --by KEY --inside K), against a slow
 * version that knows only the dominator, class and sizes of each object.
 */
#include "random_heap.h"
#include "graph/graph.h"
#include "graph/little_index.h"
#include "query/common/origin.h"
#include "query/holding/children.h"

static const hdx_by keys[] = { HDX_BY_CLASS, HDX_BY_PACKAGE, HDX_BY_LOADER, HDX_BY_ORIGIN, HDX_BY_OWNER };

/* ---- the slow version ---- */

typedef struct slow_object {
    hdx_id   id, above;
    uint32_t number;
    uint64_t retained;
} slow_object;

typedef struct slow_group {
    char     key[64];
    uint32_t number;
    uint64_t objects, shallow, retained;
} slow_group;

typedef struct slow {
    hdx_graph   *g;
    hdx_by       by;
    uint32_t     classes;
    slow_object *at;
    uint64_t     count;
    slow_group  *groups;
    uint64_t     group_count;
} slow;

/* The number of the group of an object, before groups with one key are combined. */
static uint32_t slow_number(const slow *s, hdx_id id)
{
    const hdx_class *own =
        hdx_graph_kind(s->g, id) == HDX_CLASS_OBJECT && s->by != HDX_BY_CLASS ? hdx_graph_class_object(s->g, id) : NULL;
    if (own != NULL)
        return own->number + (s->by == HDX_BY_OWNER ? s->classes : 0);
    return hdx_graph_class_of(s->g, id);
}

static void slow_key(const slow *s, uint32_t number, char *out, size_t size)
{
    const hdx_class  *c = hdx_graph_class(s->g, number % s->classes);
    const hdx_origins origins = hdx_origins_of(s->g);
    const hdx_text    package = hdx_package_of(c->name);
    switch (s->by) {
    case HDX_BY_PACKAGE: (void)snprintf(out, size, "%.*s", (int)package.len, package.at); break;
    case HDX_BY_LOADER: (void)snprintf(out, size, "0x%llx", (unsigned long long)c->loader); break;
    case HDX_BY_ORIGIN: (void)snprintf(out, size, "%s", hdx_origin_name(hdx_origin_of(&origins, c))); break;
    default: (void)snprintf(out, size, "%u", number); break;
    }
}

static int slow_larger(const void *a, const void *b)
{
    const slow_object *x = a, *y = b;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

static int slow_group_larger(const void *a, const void *b)
{
    const slow_group *x = a, *y = b;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    if (x->shallow != y->shallow)
        return x->shallow > y->shallow ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static slow_group *slow_group_of(slow *s, const char *key)
{
    for (uint64_t i = 0; i < s->group_count; i++)
        if (strcmp(s->groups[i].key, key) == 0)
            return &s->groups[i];
    slow_group *new = &s->groups[s->group_count++];
    *new = (slow_group){ .number = UINT32_MAX };
    (void)snprintf(new->key, sizeof new->key, "%s", key);
    return new;
}

static void put_class(hdx_buffer *b, const slow *s, uint32_t number)
{
    const hdx_class *c = hdx_graph_class(s->g, number % s->classes);
    hdx_buffer_put(b, c->name.at, c->name.len);
}

/* The five classes of children that retain most, by looking for the first of the rest again and again. */
static void put_keeps(hdx_buffer *b, const slow *s, hdx_id of)
{
    slow_group *sums = calloc(s->classes, sizeof *sums);
    uint64_t    children = 0;
    unsigned    more = 0;
    for (uint64_t i = 0; i < s->count; i++)
        if (s->at[i].above == of) {
            slow_group *sum = &sums[hdx_graph_class_of(s->g, s->at[i].id)];
            sum->objects++;
            sum->retained += s->at[i].retained;
            children++;
        }
    hdx_buffer_format(b, " children=%llu keeps=[", (unsigned long long)children);
    for (unsigned n = 0;; n++) {
        slow_group *best = NULL;
        for (uint32_t c = 0; c < s->classes; c++)
            if (sums[c].objects > 0 && (best == NULL || sums[c].retained > best->retained ||
                                        (sums[c].retained == best->retained && sums[c].objects > best->objects)))
                best = &sums[c];
        if (best == NULL)
            break;
        if (n < 5) {
            hdx_buffer_text(b, n == 0 ? "{class=" : " {class=");
            put_class(b, s, (uint32_t)(best - sums));
            hdx_buffer_format(b, " objects=%llu retained=%llu}", (unsigned long long)best->objects,
                              (unsigned long long)best->retained);
        } else {
            more++;
        }
        best->objects = 0;
    }
    hdx_buffer_format(b, "] more_classes=%u}", more);
    free(sums);
}

static void put_row(hdx_buffer *b, const slow *s, const slow_group *group, hdx_id of, unsigned each, double live)
{
    const bool by_number = s->by == HDX_BY_CLASS || s->by == HDX_BY_OWNER;
    char       key[64];
    unsigned   shown = 0;
    if (by_number)
        put_class(b, s, group->number);
    else
        hdx_buffer_text(b, group->key);
    hdx_buffer_format(b, ",%llu,%llu,%llu,%.2f,", (unsigned long long)group->objects,
                      (unsigned long long)group->shallow, (unsigned long long)group->retained,
                      100.0 * (double)group->retained / live);
    if (s->by == HDX_BY_OWNER)
        hdx_buffer_text(b, group->number >= s->classes ? "true," : "false,");
    hdx_buffer_text(b, "[");
    for (uint64_t i = 0; i < s->count && shown < each; i++) {
        const slow_object *o = &s->at[i];
        slow_key(s, o->number, key, sizeof key);
        if (o->above != of || strcmp(key, group->key) != 0)
            continue;
        hdx_buffer_format(b, "%s{address=0x%llx", shown++ == 0 ? "" : " ",
                          (unsigned long long)hdx_graph_address(s->g, o->id));
        if (!by_number) {
            hdx_buffer_text(b, " class=");
            put_class(b, s, hdx_graph_class_of(s->g, o->id));
        }
        hdx_buffer_format(b, " shallow=%llu retained=%llu", (unsigned long long)hdx_graph_shallow(s->g, o->id),
                          (unsigned long long)o->retained);
        put_keeps(b, s, o->id);
    }
    hdx_buffer_text(b, "]\n");
}

static hdx_buffer slow_answer(heap *h, hdx_id of, hdx_by by, unsigned each)
{
    const uint64_t objects = hdx_graph_objects(h->g);
    slow           s = { .g = h->g, .by = by };
    hdx_buffer     b = hdx_buffer_of(NULL);
    char           key[64];
    (void)hdx_graph_classes(h->g, &s.classes);
    s.at = calloc(objects, sizeof *s.at);
    s.groups = calloc(objects, sizeof *s.groups);
    for (hdx_id id = 0; id < objects; id++)
        if (hdx_graph_live(h->g, id))
            s.at[s.count++] =
                (slow_object){ id, hdx_graph_dominator(h->g, id), slow_number(&s, id), hdx_graph_retained(h->g, id) };
    qsort(s.at, s.count, sizeof *s.at, slow_larger);
    for (uint64_t i = 0; i < s.count; i++)
        if (s.at[i].above == of) {
            slow_key(&s, s.at[i].number, key, sizeof key);
            slow_group *group = slow_group_of(&s, key);
            group->number = s.at[i].number < group->number ? s.at[i].number : group->number;
            group->objects++;
            group->shallow += hdx_graph_shallow(h->g, s.at[i].id);
            group->retained += s.at[i].retained;
        }
    qsort(s.groups, s.group_count, sizeof *s.groups, slow_group_larger);
    hdx_buffer_text(&b, "");
    for (uint64_t i = 0; i < s.group_count; i++)
        put_row(&b, &s, &s.groups[i], of, each, (double)hdx_graph_summary_of(h->g)->live_bytes);
    free(s.groups);
    free(s.at);
    return b;
}

/* ---- the same from the question ---- */

static hdx_buffer answer(heap *h, hdx_id of, hdx_by by, unsigned each, const hdx_children_bounds *bounds)
{
    const hdx_dominators_options options = { .by = by, .inside = each, .bounds = bounds };
    hdx_rows                    *rows;
    hdx_mem                      mem = { .limit = 0 };
    hdx_query                    q = h->q;
    q.mem = &mem;
    cr_assert(
        eq(int, hdx_dominators_bounded(&q, of == HDX_VIRTUAL_ROOT ? NULL : &of, &options, &rows, &h->err), HDX_OK),
        "%s", h->err.message);
    hdx_buffer text = rows_text(rows);
    hdx_rows_close(rows);
    cr_expect(eq(u64, mem.used, 0));
    return text;
}

static void expect_same(heap *h, hdx_id of, const hdx_children_bounds *bounds)
{
    static const unsigned each[] = { 1, 2, 7, 100 };
    for (size_t k = 0; k < HDX_COUNT(keys); k++)
        for (size_t e = 0; e < HDX_COUNT(each); e++) {
            hdx_buffer want = slow_answer(h, of, keys[k], each[e]), is = answer(h, of, keys[k], each[e], bounds);
            cr_assert(eq(str, is.at, want.at), "object %llx key %d each %u from %llu", (unsigned long long)of, keys[k],
                      each[e], (unsigned long long)bounds->from);
            hdx_buffer_free(&is);
            hdx_buffer_free(&want);
        }
}

static const hdx_children_bounds bounds_of[] = {
    { UINT64_MAX, 0, 0 }, /* nothing is saved */
    { 1, 3, 1000 },       /* three of each class: enough for some */
    { 1, 200, 1000 },     /* enough for all */
    { 1, 4, 5 },          { 1, 0, 0 },
};

Test(inside, of_random_heaps_has_the_same_objects_as_the_slow_version)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        heap h;
        random_heap(&h, seed);
        for (size_t b = 0; b < HDX_COUNT(bounds_of); b++) {
            expect_same(&h, HDX_VIRTUAL_ROOT, &bounds_of[b]);
            for (hdx_id id = 0; id < hdx_graph_objects(h.g); id++)
                if (hdx_graph_live(h.g, id) && hdx_graph_retained(h.g, id) > hdx_graph_shallow(h.g, id) &&
                    id % HDX_COUNT(bounds_of) == b)
                    expect_same(&h, id, &bounds_of[b]);
        }
        heap_close(&h);
    }
}

#define WIDE   150u
#define LEAVES 9u

/* An array of arrays of four classes, with up to 19 leaves of up to nine classes each; two classes have one name. */
static void open_wide(heap *h, unsigned seed)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    of[WIDE], leaves[20], classes[LEAVES], arrays[4], next = 0x100000;
    char        name[32];
    uint64_t    object = dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    uint64_t    top = dump_maker_class_at(m, 0x200, "[Ljava/lang/Object;", object, "");
    (void)dump_maker_class_at(m, 0x300, "java.lang.Class", object, "");
    (void)dump_maker_class_at(m, 0x400, "byte[]", object, "");
    for (unsigned i = 0; i < LEAVES; i++) {
        (void)snprintf(name, sizeof name, "app.p%u.Leaf%u", i % 2, i < 2 ? 0 : i);
        classes[i] = dump_maker_class_at(m, 0x1000 + 64 * (uint64_t)i, name, object, "a:L");
    }
    for (unsigned i = 0; i < HDX_COUNT(arrays); i++) {
        (void)snprintf(name, sizeof name, "[Lapp/p%u/Leaf%u;", i % 2, i);
        arrays[i] = dump_maker_class_at(m, 0x2000 + 64 * (uint64_t)i, name, object, "");
    }
    for (unsigned i = 0; i < WIDE; i++) {
        const uint32_t count = (uint32_t)rand_r(&seed) % 20;
        for (uint32_t k = 0; k < count; k++, next += 0x1000) {
            dump_maker_primitives_at(m, next, 'B', NULL, (uint32_t)rand_r(&seed) % 7 * 8);
            leaves[k] = next + 0x800;
            dump_maker_instance_at(m, leaves[k], classes[(unsigned)rand_r(&seed) % LEAVES], DUMP_VALUES(next));
        }
        of[i] = 0x10000 + 0x100 * (uint64_t)i;
        dump_maker_array_at(m, of[i], arrays[(unsigned)rand_r(&seed) % HDX_COUNT(arrays)], leaves, count);
    }
    dump_maker_array_at(m, 0xf000000, top, of, WIDE);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0xf000000, 0, 0);
    heap_open(h, m);
}

Test(inside, of_a_wide_object_has_the_same_objects_as_the_slow_version)
{
    for (unsigned seed = 1; seed <= 3; seed++) {
        heap h;
        open_wide(&h, seed);
        for (size_t b = 0; b < HDX_COUNT(bounds_of); b++)
            expect_same(&h, id_at(&h, 0xf000000), &bounds_of[b]);
        heap_close(&h);
    }
}

Test(inside, lists_five_classes_and_counts_the_others)
{
    heap h;
    open_wide(&h, 1);
    hdx_buffer is = answer(&h, id_at(&h, 0xf000000), HDX_BY_CLASS, 100, &bounds_of[0]);
    cr_expect(strstr(is.at, "more_classes=4") != NULL && strstr(is.at, "keeps=[] more_classes=0") != NULL, "%s", is.at);
    hdx_buffer_free(&is);
    heap_close(&h);
}

/* What is saved takes no walk over all children: one that the file lacks is missing. */
Test(inside, comes_from_what_is_saved)
{
    const hdx_children_bounds few = { .from = 1, .each = 10, .all = 1000 };
    heap                      h;
    hdx_child                 of_first[WIDE];
    uint64_t                  count = 0;
    hdx_refs                  refs;
    hdx_id                    id;
    open_wide(&h, 1);
    const hdx_id   wide = id_at(&h, 0xf000000);
    const uint64_t key = HDX_NOTE_CHILDREN + 1 + wide % (HDX_NOTE_CHILDREN_COUNT - 1);
    hdx_buffer     want = answer(&h, wide, HDX_BY_CLASS, 7, &few);
    hdx_remembered r = hdx_graph_recall(h.g, key);
    cr_assert(r.at != NULL && hdx_le64(r.at + 32) == 5);
    hdx_graph_dominated(h.g, wide, &refs);
    while (hdx_refs_next(&refs, &id))
        if (hdx_graph_class_of(h.g, id) == hdx_le64(r.at + 40))
            of_first[count++] = (hdx_child){ id, hdx_graph_retained(h.g, id) };
    hdx_children_sort(of_first, count);
    cr_assert(count > 10);
    const uint64_t ids = 40 + 5 * 32 + 10 * 8; /* after the sums and the first of all classes together */
    for (unsigned i = 0; i < 10; i++) {        /* without the first one */
        cr_expect(eq(u64, hdx_le64(r.at + ids + 8 * i), of_first[i].id));
        hdx_put64(r.at + ids + 8 * i, of_first[i + 1].id);
    }
    cr_assert(hdx_graph_remember(h.g, key, r.at, r.size));
    hdx_mem_put(NULL, r.at, r.size);
    hdx_buffer is = answer(&h, wide, HDX_BY_CLASS, 7, &few);
    cr_expect(ne(str, is.at, want.at));
    hdx_buffer_free(&is);
    is = answer(&h, wide, HDX_BY_CLASS, 11, &few); /* more than are saved: a walk */
    hdx_buffer all = answer(&h, wide, HDX_BY_CLASS, 11, &bounds_of[0]);
    cr_expect(eq(str, is.at, all.at));
    hdx_buffer_free(&all);
    hdx_buffer_free(&is);
    hdx_buffer_free(&want);
    heap_close(&h);
}

/* ---- invalid indexes, and refusals ---- */

/* Every object that dominates any dominates what the roots dominate. */
static void lie_about_children(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    (void)values;
    (void)n;
    for (uint64_t k = 0; next == HDX_KIND_DOMINATED && k <= w->m.dominators; k++)
        little_above[k] = 1;
}

Test(inside, of_a_tree_that_is_none_is_damaged)
{
    little  *l = little_new();
    uint64_t node = little_class(l, "app.Node", l->object, "next:L"), end = 0;
    for (unsigned i = 0; i < 40; i++) { /* 20 lists of two, each with a root */
        const uint64_t values[1] = { i % 2 == 1 ? end : 0 };
        end = little_instance(l, node, values);
        if (i % 2 == 1)
            little_root(l, HDX_ROOT_NATIVE_STATIC, end, 0);
    }
    l->lie = lie_about_children;
    little_open(l);
    hdx_mem         mem = { .limit = 0 };
    hdx_query       q = { .graph = l->g, .mem = &mem };
    hdx_rows       *rows;
    hdx_error       err = { .message = "" };
    const hdx_cell *cells;
    for (size_t k = 0; k < HDX_COUNT(keys); k++) {
        const hdx_dominators_options options = { .by = keys[k], .inside = 100, .bounds = &hdx_children_saved };
        cr_assert(hdx_dominators_bounded(&q, NULL, &options, &rows, &err) == HDX_OK, "%s", err.message);
        while (hdx_rows_next(rows, &cells))
            ;
        cr_expect(hdx_rows_end(rows, &err) == HDX_DAMAGED && strcmp(err.where, "dominated") == 0, "%s", err.message);
        hdx_rows_close(rows);
        cr_expect(mem.used == 0);
    }
    little_close(l);
}

static bool refuse_after(void *context, uint64_t bytes)
{
    unsigned *left = context;
    (void)bytes;
    return *left == 0 || (*left)-- == 0;
}

static bool cancel_after(void *context)
{
    unsigned *left = context;
    return *left == 0 || (*left)-- == 0;
}

/* Reads the whole answer, with a memory account and a progress that give up after `left` calls; NULL: never. */
static hdx_code read_all(heap *h, hdx_by by, const hdx_children_bounds *bounds, unsigned *refuse, unsigned *cancel)
{
    const hdx_id                 wide = id_at(h, 0xf000000);
    const hdx_dominators_options options = { .by = by, .inside = 100, .bounds = bounds };
    const hdx_progress           progress = { .context = cancel, .cancelled = cancel_after };
    hdx_mem                      mem = { .refuse = refuse != NULL ? refuse_after : NULL, .context = refuse };
    hdx_query                    q = h->q;
    hdx_rows                    *rows;
    const hdx_cell              *cells;
    q.mem = &mem;
    q.progress = cancel != NULL ? &progress : NULL;
    hdx_code code = hdx_dominators_bounded(&q, &wide, &options, &rows, &h->err);
    if (code == HDX_OK) {
        while (hdx_rows_next(rows, &cells))
            ;
        code = hdx_rows_end(rows, &h->err);
        hdx_rows_close(rows);
    }
    cr_expect(eq(u64, mem.used, 0));
    return code;
}

Test(inside, frees_its_memory_whatever_is_refused_or_cancelled)
{
    heap h;
    open_wide(&h, 1);
    for (size_t k = 0; k < HDX_COUNT(keys); k++)
        for (size_t b = 0; b < 3; b += 2) {
            unsigned refused = 0, cancelled = 0, left;
            hdx_code code;
            while (left = refused, (code = read_all(&h, keys[k], &bounds_of[b], &left, NULL)) == HDX_LIMIT)
                refused++;
            cr_expect(code == HDX_OK && refused > 8, "key %d: %d after %u", keys[k], code, refused);
            while (left = cancelled, (code = read_all(&h, keys[k], &bounds_of[b], NULL, &left)) == HDX_CANCELLED)
                cancelled++;
            cr_expect(code == HDX_OK && cancelled > 3, "key %d: %d after %u", keys[k], code, cancelled);
        }
    heap_close(&h);
}
