/*
 * test_free_if.c - what is free when classes, fields, loaders or GC roots hold nothing, on random heaps against what
 * marking without these references does not reach (tangled.h). A failure names its seed.
 */
#include "tangled.h"
#include "support/faulty.h"

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
    on_random_heaps(check_free_if);
}

/* The references of many objects are read before the search if memory suffices, otherwise during the search. */
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

static char noticed[200];
static void notice(void *context, const char *line)
{
    (void)context;
    (void)snprintf(noticed, sizeof noticed, "%s", line);
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
    h.q.notice = notice;
    ok(ask(&h, &hdx_question_free_if, &(hdx_argument){ "roots", "DEBUGGER" }, 1, &rows));
    cr_expect_str_eq(noticed, "no GC root has the type DEBUGGER");
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
        noticed[0] = '\0';
        ok(ask(&h, &hdx_question_free_if, &(hdx_argument){ "roots", name }, 1, &rows));
        hdx_rows_close(rows);
        cr_expect_str_eq(noticed, there ? "" : want, "%s: %s", name, noticed);
    }
    heap_close(&h);
}
