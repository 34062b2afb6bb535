/*
 * test_sets.c - sets of objects, what is free without what they hold, who dominates them, and garbage, on random heaps
 * against the obvious definitions: what plain marking over the named references reaches. A failure names its seed.
 */
#include "heap.h"
#include "query/questions.h"
#include "support/faulty.h"

#define SEEDS 40u
#define MOST  220u

typedef struct link {
    hdx_id       from, to;
    hdx_ref_kind kind;
    char         name[32];
} link;

typedef struct model {
    heap    *h;
    uint64_t n;
    link    *links;
    unsigned count;
    uint64_t shallow[MOST];
    uint32_t class_of[MOST];
    bool     live[MOST];
    int64_t  size[MOST];    /* of a node: its field */
    char     name[MOST][8]; /* the text that its field `name` leads to */
    bool     sized[MOST];
} model;

enum { FIRST = 0x10000, STEP = 64 };

/* ---- a heap ---- */

static unsigned draw(unsigned *seed, unsigned below) { return (unsigned)rand_r(seed) % below; }

/*
 * Nodes of classes of two loaders, links of java.util, arrays and texts that refer to each other at random; statics;
 * roots of several types, some objects with two; a thread with locals. Much of it is garbage.
 */
static void tangle(heap *h, model *m, unsigned seed)
{
    static const uint8_t tags[] = { HDX_SUB_ROOT_JNI_GLOBAL, HDX_SUB_ROOT_JNI_GLOBAL, HDX_SUB_ROOT_MONITOR_USED };
    dump_maker          *d = dump_maker_new(seed % 2 ? 4 : 8);
    const unsigned       n = 20 + draw(&seed, 60);
    uint64_t             at[80], texts[3], values[8], sizes[80], named[80];
    const uint64_t       object = dump_maker_class_at(d, 0x100, "java.lang.Object", 0, "");
    const uint64_t       string = dump_maker_class_at(d, 0x200, "java.lang.String", object, "value:L coder:B hash:I");
    const uint64_t       loader = dump_maker_class_at(d, 0x300, "java.lang.ClassLoader", object, "parent:L held:L");
    const uint64_t       thread = dump_maker_class_at(d, 0x400, "java.lang.Thread", object, "target:L");
    const uint64_t       array = dump_maker_class_at(d, 0x500, "[Ljava/lang/Object;", object, "");
    const uint64_t       entry = dump_maker_class_at(d, 0x600, "java.util.Link", object, "next:L value:L");
    for (unsigned i = 0; i < n; i++)
        at[i] = FIRST + STEP * (uint64_t)i;
    d->loader = at[1];
    if (draw(&seed, 2))
        dump_maker_static(d, "cache", 'L', at[draw(&seed, n)]);
    const uint64_t node = dump_maker_class_at(d, 0x700, "app.Node", object, "size:I name:L next:L");
    dump_maker_static(d, "all", 'L', at[draw(&seed, n)]);
    dump_maker_static(d, "next", 'L', at[draw(&seed, n)]); /* a static of the name of a field */
    const uint64_t leaf = dump_maker_class_at(d, 0x800, "app.Leaf", node, "other:L");
    d->loader = at[2];
    dump_maker_static(d, "bags", 'L', at[draw(&seed, n)]);
    dump_maker_static(d, "type", 'L', node); /* a static that leads to a class */
    const uint64_t bag = dump_maker_class_at(d, 0x900, "plug.Bag", object, "next:L other:L");
    d->loader = 0;
    for (unsigned i = 0; i < 3; i++)
        texts[i] = dump_maker_string(d, string, i == 0 ? "red" : i == 1 ? "green" : "redder");
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 8; k++)
            values[k] = draw(&seed, 3) == 0 ? 0 : at[draw(&seed, n)];
        sizes[i] = draw(&seed, 10);
        named[i] = draw(&seed, 4);
        const uint64_t text = named[i] < 3 ? texts[named[i]] : 0;
        const unsigned kind = i < 3 ? 10 + i : draw(&seed, 8);
        if (kind != 3 && kind != 4)
            named[i] = 9;
        switch (kind) {
        case 10: dump_maker_instance_at(d, at[i], thread, values); break;
        case 11:
        case 12: dump_maker_instance_at(d, at[i], loader, values); break;
        case 0:
        case 1: dump_maker_instance_at(d, at[i], entry, values); break;
        case 2: dump_maker_array_at(d, at[i], array, values, draw(&seed, 8)); break;
        case 3: dump_maker_instance_at(d, at[i], node, DUMP_VALUES(sizes[i], text, values[0])); break;
        case 4: dump_maker_instance_at(d, at[i], leaf, DUMP_VALUES(values[1], sizes[i], text, values[0])); break;
        default: dump_maker_instance_at(d, at[i], bag, values); break;
        }
    }
    dump_maker_root(d, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    dump_maker_root(d, HDX_SUB_ROOT_STICKY_CLASS, draw(&seed, 2) ? leaf : bag, 0, 0);
    dump_maker_root(d, HDX_SUB_ROOT_THREAD_OBJECT, at[0], 1, 1);
    for (unsigned i = 0; i < 3; i++)
        dump_maker_root(d, draw(&seed, 2) ? HDX_SUB_ROOT_JAVA_FRAME : HDX_SUB_ROOT_JNI_LOCAL, at[draw(&seed, n)], 1, 0);
    for (unsigned i = 0; i < 3; i++)
        dump_maker_root(d, tags[draw(&seed, 3)], at[draw(&seed, n)], 0, 0);
    heap_open(h, d);
    memset(m, 0, sizeof *m);
    for (unsigned i = 0; i < n; i++)
        if (named[i] != 9) {
            const hdx_id id = id_at(h, at[i]);
            m->sized[id] = true;
            m->size[id] = (int64_t)sizes[i];
            (void)snprintf(m->name[id], sizeof m->name[id], "%s",
                           named[i] == 0   ? "red"
                           : named[i] == 1 ? "green"
                           : named[i] == 2 ? "redder"
                                           : "");
        }
}

/* ---- the model ---- */

typedef struct reading {
    model *m;
    hdx_id from;
} reading;

static bool note(void *context, const hdx_named_ref *ref)
{
    reading *r = context;
    if (ref->kind == HDX_REF_SIGNERS || ref->kind == HDX_REF_DOMAIN)
        return true;
    link *l = &r->m->links[r->m->count++];
    *l = (link){ .from = r->from, .to = ref->target, .kind = ref->kind };
    (void)snprintf(l->name, sizeof l->name, "%.30s", ref->name);
    return true;
}

typedef bool removed(const model *m, const void *what, const link *l); /* l->from HDX_NO_ID: a root entry `kind` */

/* What is reached when links and roots for which `is` holds are none, and these objects are not entered. */
static void mark(const model *m, removed *is, const void *what, const bool *without, bool *seen)
{
    uint64_t        count = 0;
    const hdx_root *roots = hdx_graph_roots(m->h->g, &count);
    bool            grew = true;
    memset(seen, 0, MOST);
    for (uint64_t i = 0; i < count; i++) {
        const link l = { HDX_NO_ID, roots[i].object, (hdx_ref_kind)roots[i].type, "" };
        if (roots[i].thread == HDX_NO_ID && !(is != NULL && is(m, what, &l)) && !(without != NULL && without[l.to]))
            seen[l.to] = true;
    }
    while (grew) {
        grew = false;
        for (unsigned i = 0; i < m->count; i++) {
            const link *l = &m->links[i];
            if (seen[l->from] && !seen[l->to] && !(without != NULL && without[l->to]) &&
                !(is != NULL && is(m, what, l)))
                seen[l->to] = grew = true;
        }
    }
}

static void model_open(model *m, heap *h)
{
    m->h = h;
    m->n = hdx_graph_objects(h->g);
    cr_assert(m->n <= MOST, "%llu", (unsigned long long)m->n);
    m->links = calloc(16 * MOST, sizeof *m->links);
    for (hdx_id id = 0; id < m->n; id++) {
        reading r = { m, id };
        m->shallow[id] = hdx_graph_shallow(h->g, id);
        m->class_of[id] = hdx_graph_class_of(h->g, id);
        cr_assert(eq(int, hdx_graph_named_refs(h->g, id, HDX_NO_ID, note, &r, &h->err), HDX_OK));
    }
    mark(m, NULL, NULL, NULL, m->live);
    for (hdx_id id = 0; id < m->n; id++)
        cr_assert(eq(int, m->live[id], hdx_graph_live(h->g, id)));
}

static void model_close(model *m) { free(m->links); }

static bool is_of_class(const model *m, uint32_t c, const char *name, bool subclasses)
{
    for (const hdx_class *k = hdx_graph_class(m->h->g, c); k != NULL;
         k = subclasses && k->super != HDX_NO_CLASS ? hdx_graph_class(m->h->g, k->super) : NULL)
        if (hdx_text_is(k->name, name))
            return true;
    return false;
}

/* ---- answers ---- */

static hdx_code ask(heap *h, const hdx_question *question, const hdx_argument *at, size_t count, hdx_rows **rows)
{
    const hdx_arguments a = { &question->declared, at, count };
    cr_assert(eq(int, hdx_arguments_check(&a, NULL, 0, "", &h->err), HDX_OK), "%s", h->err.message);
    return hdx_question_open(question, &h->q, &a, rows, &h->err);
}

static uint64_t child(const hdx_rows *rows, const char *key)
{
    const hdx_cell *total = extra(rows, "total");
    for (uint64_t i = 0; i < total->as.object.count; i++)
        if (strcmp(total->as.object.at[i].key, key) == 0)
            return total->as.object.at[i].value.as.natural;
    cr_assert(false, "no member %s", key);
    return 0;
}

/* Rows by class are those of the live objects that are not reached. */
static void expect_gone(const model *m, hdx_rows *rows, const bool *seen, const char *what, unsigned seed)
{
    uint64_t        objects = 0, bytes = 0, in_rows = 0;
    const hdx_cell *cells;
    while (hdx_rows_next(rows, &cells)) {
        uint64_t of_class = 0, shallow = 0;
        for (hdx_id id = 0; id < m->n; id++)
            if (m->live[id] && !seen[id] &&
                hdx_text_same(hdx_graph_class(m->h->g, m->class_of[id])->name, cells[0].as.text)) {
                of_class++;
                shallow += m->shallow[id];
            }
        cr_expect(eq(u64, cells[1].as.natural, of_class), "seed %u: %s", seed, what);
        cr_expect(eq(u64, cells[2].as.natural, shallow), "seed %u: %s", seed, what);
        in_rows += cells[1].as.natural;
    }
    for (hdx_id id = 0; id < m->n; id++)
        if (m->live[id] && !seen[id]) {
            objects++;
            bytes += m->shallow[id];
        }
    cr_expect(eq(u64, child(rows, "objects"), objects), "seed %u: %s", seed, what);
    cr_expect(eq(u64, child(rows, "bytes"), bytes), "seed %u: %s", seed, what);
    cr_expect(eq(u64, in_rows, objects), "seed %u: %s", seed, what);
    hdx_rows_close(rows);
}

/* ---- retained ---- */

static void check_retained(heap *h, const model *m, unsigned seed)
{
    static const struct {
        const char *condition;
        int64_t     more_than;   /* size */
        const char *name, *also; /* NULL: any */
    } cases[] = {
        { "size > 4", 4, NULL, NULL },          { ".size > 7", 7, NULL, NULL },  { "name = red", -1, "red", NULL },
        { "name ~ ^red", -1, "red", "redder" }, { "name = null", -1, "", NULL }, { "size >= 10", 9, NULL, NULL },
    };
    for (unsigned i = 0; i < HDX_COUNT(cases); i++)
        for (unsigned beside = 0; beside < 2; beside++) {
            bool        without[MOST] = { false }, seen[MOST];
            const char *fields[] = { cases[i].condition, "size != 5" };
            char        address[24];
            hdx_rows   *rows;
            h->q.fields = fields;
            h->q.field_count = 1 + i % 2;
            for (hdx_id id = 0; id < m->n; id++)
                without[id] = m->sized[id] && m->live[id] && m->size[id] > cases[i].more_than &&
                              (cases[i].name == NULL || strcmp(m->name[id], cases[i].name) == 0 ||
                               (cases[i].also != NULL && strcmp(m->name[id], cases[i].also) == 0)) &&
                              (i % 2 == 0 || m->size[id] != 5);
            /* an object that has none of these fields is no member, named or not */
            (void)snprintf(address, sizeof address, "0x%x", FIRST);
            const hdx_argument a[] = { { "class", "app.*" }, { "class", "plug.Bag" }, { "object", address } };
            mark(m, NULL, NULL, without, seen);
            const hdx_code code = ask(h, &hdx_question_retained, a, beside == 0 ? 1 : 3, &rows);
            cr_assert(eq(int, code, HDX_OK), "seed %u %s: %s", seed, cases[i].condition, h->err.message);
            expect_gone(m, rows, seen, cases[i].condition, seed);
            h->q.field_count = 0;
        }
}

static void check_union(heap *h, const model *m, unsigned seed)
{
    bool      without[MOST] = { false }, seen[MOST];
    char      address[24];
    hdx_rows *rows;
    (void)snprintf(address, sizeof address, "0x%x", FIRST + 2 * STEP);
    for (hdx_id id = 0; id < m->n; id++)
        without[id] = id == id_at(h, FIRST + 2 * STEP) || is_of_class(m, m->class_of[id], "app.Node", true) ||
                      is_of_class(m, m->class_of[id], "java.util.Link", false);
    const hdx_argument a[] = {
        { "class", "app.Node" }, { "subclasses", NULL }, { "object", address }, { "class", "java.util.Link" }
    };
    mark(m, NULL, NULL, without, seen);
    cr_assert(eq(int, ask(h, &hdx_question_retained, a, 4, &rows), HDX_OK), "%s", h->err.message);
    expect_gone(m, rows, seen, "a union", seed);
}

static void check_paths(heap *h, const model *m, unsigned seed)
{
    const char        *fields[] = { "size > 6" };
    const hdx_argument a[] = { { "class", "app.*" } };
    unsigned           want = 0, found = 0;
    hdx_rows          *rows;
    const hdx_cell    *cells;
    h->q.fields = fields;
    h->q.field_count = 1;
    for (hdx_id id = 0; id < m->n; id++)
        want += m->live[id] && m->sized[id] && m->size[id] > 6;
    cr_assert(eq(int, ask(h, &hdx_question_path, a, 1, &rows), HDX_OK), "seed %u: %s", seed, h->err.message);
    cr_expect(eq(u64, extra(rows, "paths")->as.list.count, want), "seed %u", seed);
    hdx_rows_close(rows);
    for (unsigned scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++) {
        h->q.scope = (hdx_refs_scope)scope;
        for (want = found = 0; found < m->n; found++)
            want +=
                (scope == HDX_ALL || m->live[found] == (scope == HDX_LIVE)) && m->sized[found] && m->size[found] > 6;
        found = 0;
        cr_assert(eq(int, ask(h, &hdx_question_objects, a, 1, &rows), HDX_OK), "seed %u: %s", seed, h->err.message);
        while (hdx_rows_next(rows, &cells)) {
            found++;
            cr_expect(m->size[id_at(h, cells[0].as.address)] > 6, "seed %u", seed);
        }
        cr_expect(eq(int, hdx_rows_end(rows, &h->err), HDX_OK));
        cr_expect(eq(u32, found, want), "seed %u scope %u", seed, scope);
        hdx_rows_close(rows);
    }
    h->q.scope = HDX_LIVE;
    h->q.field_count = 0;
}

Test(sets, of_random_heaps_retain_what_marking_without_them_does_not_reach)
{
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        heap  h;
        model m;
        tangle(&h, &m, seed);
        model_open(&m, &h);
        h.q.threads = 1 + seed % 2;
        check_retained(&h, &m, seed);
        check_union(&h, &m, seed);
        check_paths(&h, &m, seed);
        model_close(&m);
        heap_close(&h);
    }
}

Test(sets, with_a_misspelt_field_are_refused_with_the_one_that_was_meant)
{
    static const struct {
        const char *condition, *class, *says, *hint;
        hdx_code    code;
    } cases[] = {
        { "siz > 4", "app.Node", "no column has the name 'siz', and no object of the set has such a field",
          "did you mean size?", HDX_NOT_FOUND },
        { "shalow > 4", "app.Node", "no column has the name 'shalow', and no object of the set has such a field",
          "did you mean shallow?", HDX_NOT_FOUND },
        { "other > 4", "app.Node", "no column has the name 'other', and no object of the set has such a field", "",
          HDX_NOT_FOUND },
        { ".objects > 4", "app.Node", "no column has the name 'objects', and no object of the set has such a field",
          "did you mean objects?", HDX_NOT_FOUND },
        { "size >< 4", "app.Node", "condition \"size >< 4\": unknown operator ><",
          "operators are = != < <= > >= ~, as in 'retained > 1M'", HDX_USAGE },
    };
    heap  h;
    model m;
    tangle(&h, &m, 1);
    for (unsigned i = 0; i < HDX_COUNT(cases); i++) {
        const char        *fields[] = { cases[i].condition };
        const hdx_argument a[] = { { "class", cases[i].class } };
        hdx_rows          *rows;
        h.q.fields = fields;
        h.q.field_count = 1;
        cr_expect(eq(int, ask(&h, &hdx_question_retained, a, 1, &rows), cases[i].code), "%s", cases[i].condition);
        cr_expect_str_eq(h.err.message, cases[i].says);
        cr_expect_str_eq(h.err.hint, cases[i].hint, "%s: %s", cases[i].condition, h.err.hint);
        cr_expect(rows == NULL);
    }
    heap_close(&h);
}

Test(sets, of_arrays_are_told_by_their_length)
{
    heap        h;
    dump_maker *d = dump_maker_new(8);
    hdx_rows   *rows;
    const char *fields[] = { "length >= 3" };
    dump_maker_class_at(d, 0x100, "java.lang.Object", 0, "");
    for (unsigned i = 0; i < 6; i++) {
        (void)dump_maker_primitives_at(d, 0x1000 + 0x100 * i, 'B', NULL, i);
        dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, 0x1000 + 0x100 * i, 0, 0);
    }
    heap_open(&h, d);
    h.q.fields = fields;
    h.q.field_count = 1;
    const hdx_argument a[] = { { "class", "byte[]" } };
    ok(ask(&h, &hdx_question_objects, a, 1, &rows));
    expect_rows(rows, "0x1300,byte[],-,32,32\n0x1400,byte[],-,32,32\n0x1500,byte[],-,32,32\n");
    heap_close(&h);
}

/* ---- free-if ---- */

typedef struct taken { /* what holds nothing, as the caller says it */
    const char *class, *field_class, *field;
    bool     subclasses;
    hdx_addr loader, object; /* 0: none */
    unsigned roots;          /* bit t: of that hdx_root_type */
} taken;

static bool holds_nothing(const model *m, const taken *t, hdx_id id)
{
    const hdx_class *own = hdx_graph_class_object(m->h->g, id), *of = hdx_graph_class(m->h->g, m->class_of[id]);
    const hdx_addr   address = hdx_graph_address(m->h->g, id);
    if (t->class != NULL && (is_of_class(m, m->class_of[id], t->class, t->subclasses) ||
                             (own != NULL && is_of_class(m, own->number, t->class, t->subclasses))))
        return true;
    if (t->loader != 0 &&
        (address == t->loader || of->loader == t->loader || (own != NULL && own->loader == t->loader)))
        return true;
    return t->object != 0 && address == t->object;
}

static bool is_taken(const model *m, const void *what, const link *l)
{
    const taken *t = what;
    if (l->from == HDX_NO_ID)
        return t->roots >> l->kind & 1;
    if (l->kind != HDX_REF_CLASS && l->kind != HDX_REF_SUPER && l->kind != HDX_REF_LOADER &&
        holds_nothing(m, t, l->from))
        return true;
    const hdx_class *own = hdx_graph_class_object(m->h->g, l->from);
    if (t->field != NULL && strcmp(l->name, t->field) == 0 &&
        (is_of_class(m, m->class_of[l->from], t->field_class, true) ||
         (own != NULL && is_of_class(m, own->number, t->field_class, true))))
        return true;
    if (l->kind != HDX_REF_LOCAL)
        return false;
    uint64_t        count = 0;
    const hdx_root *roots = hdx_graph_roots(m->h->g, &count);
    for (uint64_t i = 0; i < count; i++)
        if (roots[i].object == l->to && roots[i].thread == l->from && (t->roots >> roots[i].type & 1) == 0)
            return false;
    return true;
}

static void check_free_if(heap *h, const model *m, unsigned seed)
{
    const struct {
        const char  *what;
        hdx_argument arguments[4];
        unsigned     count;
        taken        taken;
    } cases[] = {
        { "a class", { { "class", "app.Node" } }, 1, { .class = "app.Node" } },
        { "a class and those below",
          { { "class", "app.Node" }, { "subclasses", NULL } },
          2,
          { .class = "app.Node", .subclasses = true } },
        { "arrays", { { "class", "java.lang.Object[]" } }, 1, { .class = "java.lang.Object[]" } },
        { "all classes", { { "class", "java.lang.Class" } }, 1, { .class = "java.lang.Class" } },
        { "a static", { { "field", "app.Node#all" } }, 1, { .field_class = "app.Node", .field = "all" } },
        { "a static that is a class",
          { { "field", "plug.Bag#type" } },
          1,
          { .field_class = "plug.Bag", .field = "type" } },
        { "a field and a static of that name",
          { { "field", "app.Node#next" } },
          1,
          { .field_class = "app.Node", .field = "next" } },
        { "a field of java.util",
          { { "field", "java.util.Link#value" } },
          1,
          { .field_class = "java.util.Link", .field = "value" } },
        { "the other field of two",
          { { "field", "plug.Bag#other" } },
          1,
          { .field_class = "plug.Bag", .field = "other" } },
        { "a loader by address", { { "loader", "0x10040" } }, 1, { .loader = FIRST + STEP } },
        { "a loader by name", { { "loader", "java.lang.ClassLoader 0x10080" } }, 1, { .loader = FIRST + 2 * STEP } },
        { "a thread", { { "object", "0x10000" } }, 1, { .object = FIRST } },
        { "roots of one type", { { "roots", "NATIVE_STATIC" } }, 1, { .roots = 1u << HDX_ROOT_NATIVE_STATIC } },
        { "locals", { { "roots", "JAVA_LOCAL" } }, 1, { .roots = 1u << HDX_ROOT_JAVA_LOCAL } },
        { "several types",
          { { "roots", "JAVA_LOCAL,NATIVE_LOCAL" }, { "roots", "BUSY_MONITOR" } },
          2,
          { .roots = 1u << HDX_ROOT_JAVA_LOCAL | 1u << HDX_ROOT_NATIVE_LOCAL | 1u << HDX_ROOT_BUSY_MONITOR } },
        { "all together",
          { { "roots", "SYSTEM_CLASS,JAVA_LOCAL" }, { "field", "java.util.Link#next" }, { "class", "plug.Bag" } },
          3,
          { .class = "plug.Bag",
            .field_class = "java.util.Link",
            .field = "next",
            .roots = 1u << HDX_ROOT_JAVA_LOCAL | 1u << HDX_ROOT_SYSTEM_CLASS } },
    };
    for (unsigned i = 0; i < HDX_COUNT(cases); i++) {
        bool           seen[MOST];
        hdx_rows      *rows;
        const hdx_code code = ask(h, &hdx_question_free_if, cases[i].arguments, cases[i].count, &rows);
        cr_assert(eq(int, code, HDX_OK), "seed %u %s: %s", seed, cases[i].what, h->err.message);
        mark(m, is_taken, &cases[i].taken, NULL, seen);
        expect_gone(m, rows, seen, cases[i].what, seed);
    }
}

Test(free_if, of_random_heaps_is_what_marking_without_these_references_does_not_reach)
{
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        heap  h;
        model m;
        tangle(&h, &m, seed);
        model_open(&m, &h);
        h.q.threads = 1 + seed % 2;
        check_free_if(&h, &m, seed);
        model_close(&m);
        heap_close(&h);
    }
}

/* What many objects hold is read ahead of the search where there is memory for it, else while it goes on. */
Test(free_if, of_a_field_says_the_same_where_memory_is_refused)
{
    const hdx_argument field = { "field", "java.util.Link#next" };
    unsigned           whole = 0, refused = 0;
    heap               h;
    model              m;
    tangle(&h, &m, 3);
    model_open(&m, &h);
    h.q.threads = 1;
    for (unsigned n = 1;; n++) {
        const taken t = { .field_class = "java.util.Link", .field = "next" };
        hdx_mem     mem = { .limit = 0 };
        faulty_mem  f;
        hdx_rows   *rows;
        bool        seen[MOST];
        faulty_mem_init(&f, &mem, n);
        h.q.mem = &mem;
        const hdx_code code = ask(&h, &hdx_question_free_if, &field, 1, &rows);
        const bool     fired = faulty_mem_fired(&f);
        cr_assert(code == HDX_OK || (fired && code == HDX_LIMIT), "request %u: %s", n, h.err.message);
        mark(&m, is_taken, &t, NULL, seen);
        if (code == HDX_OK)
            expect_gone(&m, rows, seen, "refused", n);
        cr_expect(eq(u64, atomic_load(&mem.used), 0), "request %u", n);
        whole += fired && code == HDX_OK;
        refused += code == HDX_LIMIT;
        if (!fired)
            break;
    }
    cr_expect(eq(u32, whole, 3)); /* bits, places, masks */
    cr_expect(gt(u32, refused, 5));
    h.q.mem = NULL;
    model_close(&m);
    heap_close(&h);
}

static char told[200];
static void tell(void *context, const char *line)
{
    (void)context;
    (void)snprintf(told, sizeof told, "%s", line);
}

/* SHARED hangs at a static and at a soft reference, ALONE below a static at a weak reference. */
Test(free_if, says_what_soft_and_weak_references_decide)
{
    enum { OBJECT = 0x100, REFERENCE = 0x200, SOFT = 0x300, WEAK = 0x400, NODE = 0x500, MAIN = 0x600 };
    enum { SHARED = 0x1000, BELOW = 0x1018, ALONE = 0x1030, A_SOFT = 0x1048, A_WEAK = 0x1058, PLAIN = 0x1068 };
    static const char view[] = "heapdex index DUMP --view strong='-refs:soft,weak', then --view strong:\nthe heap "
                               "without soft and weak references";
    static const struct {
        const char *field, *total, *title;
    } cases[] = {
        { "app.Main#shared", "{objects=0 bytes=0 weakly=0 but_for_weak=48}",
          "0.0% of the live heap would be free\nsoft or weak references alone would still hold another 48 B\n" },
        { "app.Main#weak", "{objects=2 bytes=48 weakly=24 but_for_weak=0}",
          "25.0% of the live heap would be free\nsoft or weak references alone hold 24 B of it already\n" },
        { "app.Main#plain", "{objects=1 bytes=24 weakly=0 but_for_weak=0}", "12.5% of the live heap would be free" },
    };
    dump_maker *m = dump_maker_new(8);
    heap        h;
    (void)dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, REFERENCE, "java.lang.ref.Reference", OBJECT, "referent:L");
    (void)dump_maker_class_at(m, SOFT, "java.lang.ref.SoftReference", REFERENCE, "");
    (void)dump_maker_class_at(m, WEAK, "java.lang.ref.WeakReference", REFERENCE, "");
    (void)dump_maker_class_at(m, NODE, "app.Node", OBJECT, "next:L");
    dump_maker_static(m, "shared", 'L', SHARED);
    dump_maker_static(m, "soft", 'L', A_SOFT);
    dump_maker_static(m, "weak", 'L', A_WEAK);
    dump_maker_static(m, "plain", 'L', PLAIN);
    (void)dump_maker_class_at(m, MAIN, "app.Main", OBJECT, "");
    dump_maker_instance_at(m, SHARED, NODE, DUMP_VALUES(BELOW));
    dump_maker_instance_at(m, BELOW, NODE, NULL);
    dump_maker_instance_at(m, ALONE, NODE, NULL);
    dump_maker_instance_at(m, A_SOFT, SOFT, DUMP_VALUES(SHARED));
    dump_maker_instance_at(m, A_WEAK, WEAK, DUMP_VALUES(ALONE));
    dump_maker_instance_at(m, PLAIN, NODE, NULL);
    for (uint64_t c = OBJECT; c <= MAIN; c += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    heap_open(&h, m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hdx_argument field = { "field", cases[i].field };
        const char        *last = strrchr(cases[i].title, '\n');
        char               title[400];
        hdx_rows          *rows;
        ok(ask(&h, &hdx_question_free_if, &field, 1, &rows));
        (void)snprintf(title, sizeof title, "%s%s", cases[i].title, last != NULL ? view : "");
        cr_expect_str_eq(hdx_rows_title(rows), title, "%s", hdx_rows_title(rows));
        expect_extra(rows, "total", cases[i].total);
        hdx_rows_close(rows);
    }
    heap_close(&h);
}

Test(free_if, of_what_is_not_there_is_refused_with_what_was_meant)
{
    static const struct {
        hdx_argument argument;
        const char  *says, *hint;
        hdx_code     code;
    } cases[] = {
        { { "class", "app.Nod" }, "no class is called app.Nod", "did you mean app.Node?", HDX_NOT_FOUND },
        { { "field", "app.Node#nxt" },
          "app.Node does not have a field 'nxt'",
          "did you mean app.Node#next?",
          HDX_NOT_FOUND },
        { { "field", "app.Noder#next" }, "no class is called app.Noder", "did you mean app.Node?", HDX_NOT_FOUND },
        { { "field", "#next" }, "#next does not have the form CLASS#FIELD", "", HDX_USAGE },
        { { "loader", "bot loader" },
          "no class loader is called bot loader",
          "did you mean boot loader?",
          HDX_NOT_FOUND },
        { { "loader", "0x10000" }, "class loader 0x10000 has not defined a class", "", HDX_NOT_FOUND },
        { { "loader", "0x77" }, "no object has the address 0x77", "", HDX_NOT_FOUND },
    };
    heap      h;
    model     m;
    hdx_rows *rows;
    tangle(&h, &m, 1);
    for (unsigned i = 0; i < HDX_COUNT(cases); i++) {
        cr_expect(eq(int, ask(&h, &hdx_question_free_if, &cases[i].argument, 1, &rows), cases[i].code), "%s",
                  cases[i].says);
        cr_expect_str_eq(h.err.message, cases[i].says);
        cr_expect_str_eq(h.err.hint, cases[i].hint, "%s: %s", cases[i].says, h.err.hint);
        cr_expect(rows == NULL);
    }
    h.q.notice = tell;
    ok(ask(&h, &hdx_question_free_if, &(hdx_argument){ "roots", "DEBUGGER" }, 1, &rows));
    cr_expect_str_eq(told, "no GC root has the type DEBUGGER");
    cr_expect_str_eq(hdx_rows_empty_reason(rows), "every reachable object would stay reachable");
    hdx_rows_close(rows);
    uint64_t        count;
    const hdx_root *roots = hdx_graph_roots(h.g, &count);
    for (unsigned type = 0; type < HDX_ROOT_TYPES; type++) {
        const char *name = hdx_root_type_name((hdx_root_type)type);
        bool        there = false;
        char        want[64];
        for (uint64_t i = 0; i < count; i++)
            there = there || roots[i].type == type;
        (void)snprintf(want, sizeof want, "no GC root has the type %s", name);
        told[0] = '\0';
        ok(ask(&h, &hdx_question_free_if, &(hdx_argument){ "roots", name }, 1, &rows));
        hdx_rows_close(rows);
        cr_expect_str_eq(told, there ? "" : want, "%s: %s", name, told);
    }
    heap_close(&h);
}

/* ---- immediate dominators ---- */

/* below[d * MOST + v]: d is another live object, and v is not reached without it. */
static bool *dominance(const model *m)
{
    bool *below = calloc(MOST * MOST, 1);
    for (hdx_id d = 0; d < m->n; d++) {
        bool without[MOST] = { false }, seen[MOST];
        without[d] = m->live[d];
        mark(m, NULL, NULL, without, seen);
        for (hdx_id v = 0; v < m->n && m->live[d]; v++)
            below[d * MOST + v] = v != d && m->live[v] && !seen[v];
    }
    return below;
}

/* The dominator that all others dominate, of those whose class is not skipped; HDX_NO_ID: there is none. */
static hdx_id nearest_above(const model *m, const bool *below, hdx_id v, const bool *skipped)
{
    hdx_id best = HDX_NO_ID;
    for (hdx_id d = 0; d < m->n; d++)
        if (below[d * MOST + v] && !skipped[d] && (best == HDX_NO_ID || below[best * MOST + d]))
            best = d;
    return best;
}

static uint64_t retained_of(const model *m, const bool *below, hdx_id v)
{
    uint64_t sum = m->shallow[v];
    for (hdx_id w = 0; w < m->n; w++)
        sum += below[v * MOST + w] ? m->shallow[w] : 0;
    return sum;
}

static uint64_t retained_by_tops(const model *m, const bool *below, const bool *set)
{
    uint64_t sum = 0;
    for (hdx_id v = 0; v < m->n; v++) {
        bool top = set[v];
        for (hdx_id d = 0; top && d < m->n; d++)
            top = !(set[d] && below[d * MOST + v]);
        sum += top ? retained_of(m, below, v) : 0;
    }
    return sum;
}

static bool skips(const model *m, const char *words, hdx_id id)
{
    const hdx_text name = hdx_graph_class(m->h->g, m->class_of[id])->name;
    if (words[0] == '\0')
        return false;
    return (name.len > 5 && memcmp(name.at, "java.", 5) == 0) ||
           (strstr(words, "Bag") != NULL && hdx_text_is(name, "plug.Bag"));
}

static void check_dominators(heap *h, const model *m, const bool *below, const char *words, const char *pattern,
                             unsigned seed)
{
    const hdx_argument a[] = { { "class", pattern }, { "skip", words } };
    bool               members[MOST] = { false }, skipped[MOST] = { false }, counted[MOST] = { false };
    hdx_id             by[MOST];
    uint64_t           in_rows = 0, in_set = 0;
    hdx_rows          *rows;
    const hdx_cell    *cells;
    for (hdx_id v = 0; v < m->n; v++) {
        const hdx_text name = hdx_graph_class(h->g, m->class_of[v])->name;
        skipped[v] = skips(m, words == NULL ? "java.*" : words, v);
        members[v] = m->live[v] && (pattern[0] == '*' || (name.len > 4 && memcmp(name.at, pattern, 4) == 0));
        in_set += members[v];
    }
    for (hdx_id v = 0; v < m->n; v++)
        by[v] = members[v] ? nearest_above(m, below, v, skipped) : HDX_NO_ID;
    cr_assert(eq(int, ask(h, &hdx_question_immediate_dominators, a, words == NULL ? 1 : 2, &rows), HDX_OK), "%s",
              h->err.message);
    while (hdx_rows_next(rows, &cells)) {
        const bool root = hdx_text_is(cells[0].as.text, "<ROOT>");
        bool       dominators[MOST] = { false }, dominated[MOST] = { false };
        uint64_t   count = 0, shallow = 0, of_set = 0, shallow_of_set = 0;
        for (hdx_id v = 0; v < m->n; v++) {
            const bool here = members[v] && (root ? by[v] == HDX_NO_ID
                                                  : by[v] != HDX_NO_ID &&
                                                        hdx_text_same(hdx_graph_class(h->g, m->class_of[by[v]])->name,
                                                                      cells[0].as.text));
            if (!here)
                continue;
            cr_expect(eq(int, counted[v], false), "seed %u: in two rows", seed);
            dominated[v] = counted[v] = true;
            of_set++;
            shallow_of_set += m->shallow[v];
            if (by[v] != HDX_NO_ID && !dominators[by[v]]) {
                dominators[by[v]] = true;
                count++;
                shallow += m->shallow[by[v]];
            }
        }
        cr_expect(eq(u64, cells[1].as.natural, root ? 1 : count), "seed %u", seed);
        cr_expect(eq(u64, cells[2].as.natural, shallow), "seed %u", seed);
        cr_expect(eq(u64, cells[3].as.natural, retained_by_tops(m, below, dominators)), "seed %u", seed);
        cr_expect(eq(u64, cells[4].as.natural, of_set), "seed %u", seed);
        cr_expect(eq(u64, cells[5].as.natural, shallow_of_set), "seed %u", seed);
        cr_expect(eq(u64, cells[6].as.natural, retained_by_tops(m, below, dominated)), "seed %u", seed);
        in_rows += of_set;
    }
    cr_expect(eq(int, hdx_rows_end(rows, &h->err), HDX_OK));
    cr_expect(eq(u64, in_rows, in_set), "seed %u", seed);
    cr_expect(eq(u64, child(rows, "dominated"), in_set), "seed %u", seed);
    hdx_rows_close(rows);
}

Test(immediate_dominators, of_random_heaps_are_those_without_which_members_are_not_reached)
{
    for (unsigned seed = 1; seed <= SEEDS / 2; seed++) {
        heap  h;
        model m;
        tangle(&h, &m, seed);
        model_open(&m, &h);
        bool *below = dominance(&m);
        check_dominators(&h, &m, below, "", "app.*", seed);
        check_dominators(&h, &m, below, NULL, "*", seed);
        check_dominators(&h, &m, below, "", "*", seed);
        check_dominators(&h, &m, below, "java.*|plug.Bag", "*", seed);
        check_dominators(&h, &m, below, "/^java\\.|^plug.Bag$/", "app.*", seed);
        free(below);
        model_close(&m);
        heap_close(&h);
    }
}

/*
 * A list of many links of a class that is skipped, each with an item: every item is kept by the head, and each climb is
 * as long as the list but for what is remembered.
 */
Test(immediate_dominators, at_the_far_ends_of_a_long_list_are_found_in_no_time, .timeout = 60)
{
    enum { MANY = 60000 };
    heap           h;
    dump_maker    *d = dump_maker_new(8);
    hdx_rows      *rows;
    const uint64_t object = dump_maker_class_at(d, 0x100, "java.lang.Object", 0, "");
    const uint64_t head = dump_maker_class_at(d, 0x200, "app.Head", object, "first:L");
    const uint64_t entry = dump_maker_class_at(d, 0x300, "java.util.Link", object, "next:L item:L");
    const uint64_t item = dump_maker_class_at(d, 0x400, "app.Item", object, "");
    for (uint64_t c = 0x100; c <= 0x400; c += 0x100)
        dump_maker_root(d, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    dump_maker_instance_at(d, 0x1000, head, DUMP_VALUES(0x10000000)); /* the first link has the highest address */
    for (uint64_t i = 0; i < MANY; i++) {
        dump_maker_instance_at(d, 0x10000000 - 64 * i, entry,
                               DUMP_VALUES(i + 1 < MANY ? 0x10000000 - 64 * (i + 1) : 0, 0x10000000 - 64 * i + 32));
        dump_maker_instance_at(d, 0x10000000 - 64 * i + 32, item, NULL);
    }
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, 0x1000, 0, 0);
    heap_open(&h, d);
    const hdx_argument a[] = { { "class", "app.Item" }, { "class", "java.util.Link" } };
    ok(ask(&h, &hdx_question_immediate_dominators, a, 2, &rows));
    char           want[128];
    const uint64_t all = hdx_graph_retained(h.g, id_at(&h, 0x1000)), own = hdx_graph_shallow(h.g, id_at(&h, 0x1000));
    (void)snprintf(want, sizeof want, "app.Head,1,%llu,%llu,%u,%llu,%llu\n", (unsigned long long)own,
                   (unsigned long long)all, 2 * MANY, (unsigned long long)(all - own), (unsigned long long)(all - own));
    expect_rows(rows, want);
    heap_close(&h);
}

/* ---- garbage ---- */

/* reach[a * MOST + b]: a refers to b, over unreachable objects; each reaches itself. */
static bool *garbage_reach(const model *m, uint64_t *cluster)
{
    bool *reach = calloc(MOST * MOST, 1), grew = true;
    for (hdx_id v = 0; v < m->n; v++) {
        cluster[v] = v;
        reach[v * MOST + v] = !m->live[v];
    }
    for (unsigned i = 0; i < m->count; i++)
        if (!m->live[m->links[i].from] && !m->live[m->links[i].to])
            reach[m->links[i].from * MOST + m->links[i].to] = true;
    for (hdx_id k = 0; k < m->n; k++)
        for (hdx_id a = 0; a < m->n; a++)
            for (hdx_id b = 0; reach[a * MOST + k] && b < m->n; b++)
                reach[a * MOST + b] |= reach[k * MOST + b];
    while (grew) {
        grew = false;
        for (hdx_id a = 0; a < m->n; a++)
            for (hdx_id b = 0; b < m->n; b++)
                if (reach[a * MOST + b] && cluster[a] != cluster[b]) {
                    cluster[a] = cluster[b] = cluster[a] < cluster[b] ? cluster[a] : cluster[b];
                    grew = true;
                }
    }
    return reach;
}

static bool is_root(const model *m, const bool *reach, hdx_id v)
{
    bool root = !m->live[v];
    for (hdx_id w = 0; root && w < m->n; w++)
        root = !reach[w * MOST + v] || reach[v * MOST + w];
    return root;
}

/* Roots of a cluster, a ring of them once. */
static uint64_t count_roots(const model *m, const bool *reach, const uint64_t *cluster, uint64_t of)
{
    uint64_t count = 0;
    for (hdx_id v = 0; v < m->n; v++) {
        bool first = cluster[v] == of && is_root(m, reach, v);
        for (hdx_id w = 0; first && w < v; w++)
            first = !(reach[v * MOST + w] && reach[w * MOST + v]);
        count += first;
    }
    return count;
}

static uint64_t live_targets(const model *m, const uint64_t *cluster, uint64_t of, const char *class)
{
    uint64_t count = 0;
    for (hdx_id v = 0; v < m->n; v++) {
        bool hit = false;
        for (unsigned i = 0; i < m->count; i++)
            hit |= m->links[i].to == v && cluster[m->links[i].from] == of && !m->live[m->links[i].from];
        count += hit && m->live[v] && hdx_graph_class_object(m->h->g, v) == NULL &&
                 (class == NULL || hdx_text_is(hdx_graph_class(m->h->g, m->class_of[v])->name, class));
    }
    return count;
}

static void check_garbage(heap *h, const model *m, unsigned seed)
{
    uint64_t        cluster[MOST], objects = 0, bytes = 0, before = UINT64_MAX, clusters = 0;
    bool           *reach = garbage_reach(m, cluster), told_of[MOST] = { false };
    hdx_rows       *rows;
    const hdx_cell *cells;
    cr_assert(eq(int, ask(h, &hdx_question_garbage, NULL, 0, &rows), HDX_OK), "%s", h->err.message);
    while (hdx_rows_next(rows, &cells)) {
        const hdx_id   root = id_at(h, cells[0].as.address);
        const uint64_t of = cluster[root];
        uint64_t       count = 0, shallow = 0, by_class[64] = { 0 }, most = 0, live = 0;
        char class[64];
        cr_expect(eq(int, told_of[of], false), "seed %u: a cluster in two rows", seed);
        told_of[of] = true;
        clusters++;
        cr_expect(is_root(m, reach, root), "seed %u", seed);
        for (hdx_id v = 0; v < m->n; v++)
            if (!m->live[v] && cluster[v] == of) {
                count++;
                shallow += m->shallow[v];
                by_class[m->class_of[v]] += m->shallow[v];
            }
        for (unsigned c = 0; c < 64; c++)
            most = by_class[c] > most ? by_class[c] : most;
        cr_expect(eq(u64, cells[3].as.natural, count_roots(m, reach, cluster, of)), "seed %u", seed);
        cr_expect(eq(u64, cells[4].as.natural, count), "seed %u", seed);
        cr_expect(eq(u64, cells[5].as.natural, shallow), "seed %u", seed);
        cr_expect(cells[5].as.natural <= before, "seed %u: the biggest first", seed);
        before = cells[5].as.natural;
        bool named = false; /* is it one of the classes with most? */
        for (unsigned c = 0; c < 64; c++)
            named |= by_class[c] == most && hdx_text_same(hdx_graph_class(h->g, c)->name, cells[7].as.text);
        cr_expect(named, "seed %u: mostly %.*s", seed, (int)cells[7].as.text.len, cells[7].as.text.at);
        live = live_targets(m, cluster, of, NULL);
        cr_expect(eq(u64, cells[8].as.natural, live), "seed %u", seed);
        cr_expect(eq(int, cells[9].kind == HDX_CELL_NULL, live == 0), "seed %u", seed);
        if (live > 0) {
            (void)snprintf(class, sizeof class, "%.*s", (int)cells[9].as.text.len, cells[9].as.text.at);
            const uint64_t   mine = live_targets(m, cluster, of, class);
            uint32_t         classes;
            const hdx_class *all = hdx_graph_classes(h->g, &classes);
            for (uint32_t c = 0; c < classes; c++) {
                (void)snprintf(class, sizeof class, "%.*s", (int)all[c].name.len, all[c].name.at);
                cr_expect(le(u64, live_targets(m, cluster, of, class), mine), "seed %u: %s", seed, class);
            }
        }
        objects += count;
        bytes += shallow;
    }
    cr_expect(eq(int, hdx_rows_end(rows, &h->err), HDX_OK));
    uint64_t dead = 0;
    for (hdx_id v = 0; v < m->n; v++)
        dead += !m->live[v];
    cr_expect(eq(u64, objects, dead), "seed %u", seed);
    cr_expect(eq(u64, child(rows, "clusters"), clusters), "seed %u", seed);
    cr_expect(eq(u64, child(rows, "unreachable_objects"), dead), "seed %u", seed);
    cr_expect(eq(u64, child(rows, "unreachable_bytes"), bytes), "seed %u", seed);
    hdx_rows_close(rows);
    free(reach);
}

Test(garbage, of_random_heaps_falls_into_what_hangs_together)
{
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        heap  h;
        model m;
        tangle(&h, &m, seed);
        model_open(&m, &h);
        check_garbage(&h, &m, seed);
        model_close(&m);
        heap_close(&h);
    }
}

/* A ring that leads to a tail, two objects that share a third, and one alone. */
Test(garbage, is_told_by_what_nothing_in_it_refers_to)
{
    heap                  h;
    dump_maker           *d = dump_maker_new(8);
    hdx_rows             *rows;
    const uint64_t        object = dump_maker_class_at(d, 0x100, "java.lang.Object", 0, "");
    const uint64_t        node = dump_maker_class_at(d, 0x200, "app.Node", object, "a:L b:L");
    const uint64_t        big = dump_maker_class_at(d, 0x300, "app.Big", object, "a:J b:J c:J d:J e:J");
    static const uint64_t links[][3] = {
        { 0x1000, 0x1010, 0x1020 }, { 0x1010, 0x1020, 0 },      { 0x1020, 0x1010, 0x1030 }, /* 1000 leads to a ring */
        { 0x1040, 0x1050, 0x2000 }, { 0x1050, 0x1040, 0x1060 },                             /* a ring with a tail */
        { 0x1070, 0x1090, 0 },      { 0x1080, 0x1090, 0x2000 },
    };
    for (unsigned i = 0; i < HDX_COUNT(links); i++)
        dump_maker_instance_at(d, links[i][0], node, &links[i][1]);
    dump_maker_instance_at(d, 0x1030, node, NULL);
    dump_maker_instance_at(d, 0x1060, node, NULL);
    dump_maker_instance_at(d, 0x1090, big, NULL);
    dump_maker_instance_at(d, 0x10a0, node, DUMP_VALUES(0x10a0, 0x2000)); /* itself */
    dump_maker_instance_at(d, 0x2000, node, NULL);
    for (uint64_t c = 0x100; c <= 0x300; c += 0x100)
        dump_maker_root(d, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, 0x2000, 0, 0);
    heap_open(&h, d);
    ok(ask(&h, &hdx_question_garbage, NULL, 0, &rows));
    expect_extra(rows, "total",
                 "{clusters=4 unreachable_objects=11 unreachable_bytes=376 filler_objects=0 filler_bytes=0 "
                 "class_field_objects=0 class_field_bytes=0 archive_objects=0 archive_bytes=0}");
    expect_rows(rows, "0x1000,app.Node,-,1,4,128,34.04,app.Node,0,-,garbage\n"
                      "0x1080,app.Node,-,2,3,120,31.91,app.Node,1,app.Node,garbage\n"
                      "0x1040,app.Node,-,1,3,96,25.53,app.Node,1,app.Node,garbage\n"
                      "0x10a0,app.Node,-,1,1,32,8.51,app.Node,1,app.Node,garbage\n");
    heap_close(&h);
}
