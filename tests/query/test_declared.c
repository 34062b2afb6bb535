/*
 * test_declared.c - answers are what they declare: names, sentences and parameters make sense, and on made heaps every
 * cell of every form has the declared type, nested documents included.
 */
#include "heap.h"
#include "leaks/leaks.h"

#include <ctype.h>

static const hdx_question *const questions[] = {
#define QUESTION(name) &hdx_question_##name,
    HDX_QUESTIONS(QUESTION)
#undef QUESTION
};
static const hdx_question *const tables[] = {
#define TABLE(name) &hdx_table_of_##name,
    HDX_TABLES(TABLE)
#undef TABLE
};

/* ---- what is declared makes sense ---- */

/* Begins small, with a digit or with a name of capitals (GC); no stop at the end. */
static void check_sentence(const char *of, const char *name, const char *sentence)
{
    cr_assert(sentence != NULL && *sentence != '\0', "%s: %s has no sentence", of, name);
    const size_t len = strlen(sentence);
    cr_expect(le(sz, len, 120), "%s: %s: %s", of, name, sentence);
    cr_expect(sentence[len - 1] != '.', "%s: %s: %s", of, name, sentence);
    const bool capital = isupper((unsigned char)sentence[0]) != 0,
               name_of_capitals = isupper((unsigned char)sentence[1]) != 0;
    cr_expect(capital == false || name_of_capitals, "%s: %s: %s", of, name, sentence);
}

static void check_columns(const char *of, const hdx_column *at, unsigned count)
{
    const bool plain = count == 1 && at[0].name == NULL; /* values of a list, or keys that are data */
    cr_expect(gt(u32, count, 0), "%s", of);
    for (unsigned i = 0; i < count; i++) {
        const hdx_column *c = &at[i];
        const bool        nested = c->type == HDX_TYPE_LIST || c->type == HDX_TYPE_OBJECT;
        cr_assert(c->name != NULL || plain, "%s: column %u has no name", of, i);
        check_sentence(of, plain ? "(entry)" : c->name, c->sentence);
        cr_expect(le(u32, c->type, HDX_TYPE_ANY), "%s: %s", of, c->name);
        cr_expect(nested == false || c->member_count > 0, "%s: %s has no members", of, c->name);
        cr_expect(eq(int, c->members != NULL, c->member_count > 0), "%s: %s", of, c->name);
        for (unsigned k = 0; k < i; k++)
            cr_expect(ne(str, (char *)at[k].name, (char *)c->name), "%s", of);
        if (c->member_count > 0)
            check_columns(of, c->members, c->member_count);
    }
}

static const hdx_parameter *parameter_of(const hdx_answer *a, const char *name)
{
    for (unsigned i = 0; i < a->parameter_count; i++)
        if (strcmp(a->parameters[i].name, name) == 0)
            return &a->parameters[i];
    return NULL;
}

static void check_parameter(const hdx_answer *a, const hdx_parameter *p)
{
    check_sentence(a->name, p->name, p->sentence);
    cr_expect(eq(ptr, (void *)(uintptr_t)parameter_of(a, p->name), (void *)(uintptr_t)p), "%s: %s is there twice",
              a->name, p->name);
    cr_expect(eq(int, p->value == NULL, p->kind == HDX_PARAMETER_FLAG), "%s: %s", a->name, p->name);
    cr_expect(eq(int, p->choices != NULL, p->kind == HDX_PARAMETER_CHOICE || p->kind == HDX_PARAMETER_CHOICES),
              "%s: %s", a->name, p->name);
    if (p->choices != NULL && p->preset != NULL)
        cr_expect(ge(int, hdx_word_place(p->choices, p->preset, strlen(p->preset)), 0), "%s: %s: %s", a->name, p->name,
                  p->preset);
    if (p->needs != NULL)
        cr_expect(parameter_of(a, p->needs) != NULL, "%s: %s needs %s", a->name, p->name, p->needs);
    for (const char *word = p->excludes; word != NULL && *word != '\0';) {
        char         name[64];
        const size_t len = strcspn(word, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, word);
        cr_expect(parameter_of(a, name) != NULL, "%s: %s excludes %s", a->name, p->name, name);
        word += len + (word[len] == ' ');
    }
}

static void check_answer(const hdx_answer *a, bool is_table)
{
    check_sentence("answer", a->name, a->sentence);
    cr_assert(a->more != NULL, "%s", a->name);
    cr_expect(eq(int, *a->more == '\0', is_table), "%s", a->name);
    cr_expect(eq(int, a->examples[0] == NULL && a->examples[1] == NULL, is_table), "%s", a->name);
    cr_assert(gt(u32, a->form_count, 0), "%s", a->name);
    for (unsigned i = 0; i < a->form_count; i++) {
        const hdx_form *f = &a->forms[i];
        check_columns(a->name, f->columns, f->column_count);
        cr_expect(eq(int, f->parameter == NULL, i + 1 == a->form_count), "%s: only the last form holds always",
                  a->name);
        const hdx_parameter *p = f->parameter == NULL ? NULL : parameter_of(a, f->parameter);
        if (f->parameter == NULL)
            continue;
        cr_assert(p != NULL, "%s: %s", a->name, f->parameter);
        cr_expect(p->kind == HDX_PARAMETER_FLAG ? strcmp(f->is, "true") == 0
                                                : hdx_word_place(p->choices, f->is, strlen(f->is)) >= 0,
                  "%s: %s", a->name, f->is);
    }
    if (a->document_count > 0)
        check_columns(a->name, a->document, a->document_count);
    for (unsigned i = 0; i < a->parameter_count; i++)
        check_parameter(a, &a->parameters[i]);
}

Test(declared, answers_make_sense_and_have_names_of_their_own)
{
    for (size_t i = 0; i < HDX_COUNT(questions); i++) {
        check_answer(&questions[i]->declared, false);
        for (size_t k = 0; k < i; k++)
            cr_expect(ne(str, (char *)questions[k]->declared.name, (char *)questions[i]->declared.name));
    }
    for (size_t i = 0; i < HDX_COUNT(tables); i++) {
        check_answer(&tables[i]->declared, true);
        cr_expect(eq(u32, tables[i]->declared.parameter_count, 0), "a table takes none");
        for (size_t k = 0; k < i; k++)
            cr_expect(ne(str, (char *)tables[k]->declared.name, (char *)tables[i]->declared.name));
    }
    check_answer(&hdx_leaks_answer, false);
}

/* ---- cells against what is declared ---- */

static bool is_optional(const hdx_column *c) { return (c->flags & HDX_COLUMN_OPTIONAL) != 0; }

static void check_cell(const char *of, const hdx_cell *cell, const hdx_column *c);

/* Every key that occurs is declared, in that order, and keys that are not optional occur. */
static void check_keys(const char *of, const hdx_member *at, uint64_t count, const hdx_column *columns,
                       unsigned column_count)
{
    unsigned next = 0;
    for (uint64_t i = 0; i < count; i++) {
        const char *key = at[i].key;
        while (next < column_count && strcmp(columns[next].name, key) != 0) {
            cr_expect(is_optional(&columns[next]), "%s: %s stands where %s is declared", of, key, columns[next].name);
            next++;
        }
        cr_assert(lt(u32, next, column_count), "%s: %s is not declared here", of, key);
        check_cell(of, &at[i].value, &columns[next++]);
    }
    for (; next < column_count; next++)
        cr_expect(is_optional(&columns[next]), "%s: %s is missing", of, columns[next].name);
}

static void check_object(const char *of, const hdx_cell *cell, const hdx_column *c)
{
    if (c->members[0].name != NULL) {
        check_keys(of, cell->as.object.at, cell->as.object.count, c->members, c->member_count);
        return;
    }
    for (uint64_t i = 0; i < cell->as.object.count; i++) /* keys are data */
        check_cell(of, &cell->as.object.at[i].value, &c->members[0]);
}

static void check_cell(const char *of, const hdx_cell *cell, const hdx_column *c)
{
    const char *name = c->name == NULL ? "(entry)" : c->name;
    cr_expect(hdx_cell_is(cell, c), "%s: %s is declared %s%s and has a cell of kind %d", of, name,
              hdx_column_type_name(c->type), c->flags & HDX_COLUMN_NULLABLE ? " or null" : "", (int)cell->kind);
    if (c->member_count == 0) {
        cr_expect(cell->kind != HDX_CELL_OBJECT && (cell->kind != HDX_CELL_LIST || c->type == HDX_TYPE_ANY),
                  "%s: %s nests", of, name);
        return;
    }
    if (cell->kind == HDX_CELL_OBJECT)
        check_object(of, cell, c);
    for (uint64_t i = 0; cell->kind == HDX_CELL_LIST && i < cell->as.list.count; i++) {
        const hdx_cell *entry = &cell->as.list.at[i];
        if (c->members[0].name == NULL && c->type == HDX_TYPE_LIST) {
            check_cell(of, entry, &c->members[0]);
            continue;
        }
        cr_expect(eq(int, entry->kind, HDX_CELL_OBJECT), "%s: %s", of, name);
        if (entry->kind == HDX_CELL_OBJECT)
            check_object(of, entry, c);
    }
}

/* Reads and closes; gives the number of rows. */
static uint64_t check_rows(const hdx_answer *a, const hdx_form *form, hdx_rows *rows, bool document)
{
    unsigned          count, next = 0, extras = 0;
    uint64_t          n = 0;
    const hdx_cell   *cells;
    hdx_error         err;
    const hdx_column *has = hdx_rows_columns(rows, &count);
    for (unsigned i = 0; i < form->column_count; i++)
        if (next < count && strcmp(has[next].name, form->columns[i].name) == 0)
            next++;
        else
            cr_expect(is_optional(&form->columns[i]), "%s: %s is missing", a->name, form->columns[i].name);
    cr_expect(eq(u32, next, count), "%s: a column that is not declared", a->name);
    for (; hdx_rows_next(rows, &cells); n++)
        for (unsigned i = 0; i < count; i++)
            check_cell(a->name, &cells[i], &has[i]);
    cr_assert(eq(int, hdx_rows_end(rows, &err), HDX_OK), "%s: %s", a->name, err.message);
    while (hdx_rows_extra(rows, extras)->key != NULL)
        extras++;
    if (document)
        check_keys(a->name, hdx_rows_extra(rows, 0), extras, a->document, a->document_count);
    else
        cr_expect(eq(u32, extras, 0), "%s", a->name);
    hdx_rows_close(rows);
    return n;
}

/* ---- heaps ---- */

enum {
    OBJECT = 0x100,
    CLASS = 0x200,
    LOADER = 0x300,
    THREAD = 0x400,
    WEAK_CLASS = 0x500,
    NODE = 0x600,
    LEAF = 0x700,
    OBJECTS = 0x800,
    BYTES = 0x900,
    STRING = 0xa00,
    A = 0x1000,
    B = 0x1020,
    C = 0x1040,
    D = 0x1068,
    WEAK = 0x1080,
    T = 0x10c0,
    E = 0x10e0,
    LIST = 0x1100,
    X = 0x1120
};

/* What a thread keeps for itself: one value. */
static uint64_t make_locals(dump_maker *m)
{
    const uint64_t entry = dump_maker_class(m, "java.lang.ThreadLocal$ThreadLocalMap$Entry", WEAK_CLASS, "value:L");
    const uint64_t map = dump_maker_class(m, "java.lang.ThreadLocal$ThreadLocalMap", OBJECT, "table:L");
    const uint64_t table =
        dump_maker_array(m, OBJECTS, DUMP_VALUES(dump_maker_instance(m, entry, DUMP_VALUES(LIST, A))), 1);
    return dump_maker_instance(m, map, DUMP_VALUES(table));
}

/* One each of what finalizers, cleaners, direct-buffers and open-files have rows of. */
static void make_outside(dump_maker *m)
{
    const uint64_t final = dump_maker_class(m, "java.lang.ref.FinalReference", OBJECT, "referent:L");
    const uint64_t finalizer = dump_maker_class(m, "java.lang.ref.Finalizer", final, "");
    const uint64_t phantom = dump_maker_class(m, "java.lang.ref.PhantomReference", OBJECT, "referent:L");
    const uint64_t cleaner = dump_maker_class(m, "sun.misc.Cleaner", phantom, "next:L thunk:L");
    const uint64_t buffer = dump_maker_class(m, "java.nio.Buffer", OBJECT, "address:J capacity:I");
    const uint64_t mapped = dump_maker_class(m, "java.nio.MappedByteBuffer", buffer, "fd:L cleaner:L");
    const uint64_t descriptor = dump_maker_class(m, "java.io.FileDescriptor", OBJECT, "fd:I");
    const uint64_t roots[] = { dump_maker_instance(m, finalizer, DUMP_VALUES(A)),
                               dump_maker_instance(m, cleaner, DUMP_VALUES(0, C, A)),
                               dump_maker_instance(m, mapped, DUMP_VALUES(0, 0, 4096, 100)),
                               dump_maker_instance(m, descriptor, DUMP_VALUES(3)) };
    for (size_t i = 0; i < HDX_COUNT(roots); i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, roots[i], 0, 0);
}

/* That of test_questions.c, with a text; android: every object lies in the heap "app"; more: what few heaps have. */
static void make_with(heap *h, bool android, bool more)
{
    static const uint64_t classes[] = { OBJECT, CLASS, LOADER, THREAD, WEAK_CLASS, NODE, LEAF, OBJECTS, BYTES, STRING };
    dump_maker           *m = dump_maker_new(8);
    if (android) {
        m->version = "1.0.3";
        dump_maker_heap_info(m, 'A', "app");
    }
    dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_class_at(m, CLASS, "java.lang.Class", OBJECT, "");
    dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "parent:L");
    dump_maker_class_at(m, THREAD, "java.lang.Thread", OBJECT,
                        more ? "threadStatus:I priority:I daemon:Z name:L threadLocals:L"
                             : "threadStatus:I priority:I daemon:Z name:L");
    dump_maker_class_at(m, WEAK_CLASS, "java.lang.ref.WeakReference", OBJECT, "referent:L");
    dump_maker_class_at(m, BYTES, "[B", OBJECT, "");
    dump_maker_class_at(m, STRING, "java.lang.String", OBJECT, "value:L coder:B hash:I");
    dump_maker_static(m, "head", 'L', A);
    dump_maker_static(m, "share", 'D', 0x3ff8000000000000);
    dump_maker_static(m, "letter", 'C', 0xd800);
    dump_maker_static(m, "ready", 'Z', 1);
    dump_maker_class_at(m, NODE, "app.Node", OBJECT, "next:L count:I");
    dump_maker_class_at(m, LEAF, "app.Leaf", NODE, "");
    dump_maker_class_at(m, OBJECTS, "[Ljava/lang/Object;", OBJECT, "");
    const uint64_t name = dump_maker_string(m, STRING, "main");
    dump_maker_instance_at(m, A, NODE, DUMP_VALUES(B, 1));
    dump_maker_instance_at(m, B, NODE, DUMP_VALUES(C, 2));
    dump_maker_instance_at(m, C, LEAF, DUMP_VALUES(D, 3));
    dump_maker_primitives_at(m, D, 'B', DUMP_VALUES(7, 0xff), 2);
    dump_maker_instance_at(m, WEAK, WEAK_CLASS, DUMP_VALUES(C));
    dump_maker_instance_at(m, T, THREAD, DUMP_VALUES(0x5, 5, 1, name, more ? make_locals(m) : 0));
    dump_maker_instance_at(m, E, NODE, DUMP_VALUES(LIST, 4));
    dump_maker_array_at(m, LIST, OBJECTS, DUMP_VALUES(C, 0, E), 3);
    dump_maker_instance_at(m, X, NODE, DUMP_VALUES(B, 5));
    uint32_t serial = dump_maker_load(m, NODE, "app/Node");
    uint64_t inner = dump_maker_frame(m, "run", serial, -3), outer = dump_maker_frame(m, "main", serial, 42);
    dump_maker_trace(m, 1, 0, NULL, 0);
    dump_maker_trace(m, 2, 1, (const uint64_t[]){ inner, outer }, 2);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, classes[i], 0, 0);
    if (more)
        make_outside(m);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, WEAK, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, T, 1, 2);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, E, 1, 1);
    heap_open(h, m);
}

static void make(heap *h, bool android) { make_with(h, android, false); }

/* ---- every form of every question ---- */

/* An object, a class pattern; entries are those of an array. */
static const char *a_value(const hdx_answer *a, const hdx_parameter *p)
{
    if (p->kind == HDX_PARAMETER_FLAG)
        return "true";
    return p->kind != HDX_PARAMETER_OBJECTS ? "app.*" : strcmp(a->name, "entries") == 0 ? "0x1100" : "0x1040";
}

/*
 * What the answer cannot be asked without, the condition of the form, and one flag more; false: the flag is another
 * form's.
 */
static bool arguments_for(const hdx_answer *a, const hdx_form *form, const hdx_parameter *flag, hdx_argument *at,
                          size_t *count)
{
    bool either = false;
    *count = 0;
    for (unsigned i = 0; i < a->parameter_count; i++) {
        const hdx_parameter *p = &a->parameters[i];
        const bool           needed = flag != NULL && flag->needs != NULL && strcmp(flag->needs, p->name) == 0;
        const bool one = (p->flags & HDX_PARAMETER_EITHER) && !either && (flag == NULL || flag->needs == NULL);
        either |= one;
        if ((p->flags & HDX_PARAMETER_REQUIRED) || needed || one)
            at[(*count)++] = (hdx_argument){ p->name, a_value(a, p) };
    }
    if (form->parameter != NULL)
        at[(*count)++] = (hdx_argument){ form->parameter, form->is };
    if (flag != NULL)
        at[(*count)++] = (hdx_argument){ flag->name, NULL };
    if (flag != NULL && flag->excludes != NULL && form->parameter != NULL &&
        hdx_word_place(flag->excludes, form->parameter, strlen(form->parameter)) >= 0)
        return false;
    for (unsigned i = 0; flag != NULL && i < a->form_count; i++) {
        const char *of = a->forms[i].parameter;
        if (of != NULL && (strcmp(of, flag->name) == 0 ||
                           (&a->forms[i] != form && flag->needs != NULL && strcmp(of, flag->needs) == 0)))
            return false;
    }
    return true;
}

static uint64_t ask(heap *h, const hdx_question *question, const hdx_form *form, const hdx_parameter *flag)
{
    hdx_argument  at[16];
    hdx_arguments a = { &question->declared, at, 0 };
    hdx_rows     *rows;
    if (!arguments_for(&question->declared, form, flag, at, &a.count))
        return 0;
    cr_assert(eq(int, hdx_arguments_check(&a, NULL, 0, "", &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(ptr, (void *)(uintptr_t)hdx_arguments_form(&a), (void *)(uintptr_t)form), "%s",
              question->declared.name);
    const hdx_code code = hdx_question_open(question, &h->q, &a, &rows, &h->err);
    if (h->q.scope == HDX_GARBAGE && strcmp(question->declared.name, "refs") == 0 &&
        (flag == NULL || strcmp(flag->name, "in") != 0)) { /* what an object refers to is shown whole */
        cr_expect(eq(int, code, HDX_USAGE));
        return 0;
    }
    cr_assert(eq(int, code, HDX_OK), "%s", h->err.message);
    return check_rows(&question->declared, form, rows, true);
}

/* Without a flag and with each; only what fits the form. */
static uint64_t ask_all(heap *h, const hdx_question *question, const hdx_form *form)
{
    const hdx_answer *a = &question->declared;
    uint64_t          rows = ask(h, question, form, NULL);
    for (unsigned i = 0; i < a->parameter_count; i++)
        if (a->parameters[i].kind == HDX_PARAMETER_FLAG)
            rows += ask(h, question, form, &a->parameters[i]);
    return rows;
}

static bool of_values_alone(const hdx_answer *a)
{
    return hdx_word_place("thread-locals referents finalizers cleaners direct-buffers open-files", a->name,
                          strlen(a->name)) >= 0;
}

static void check_heap(bool android, bool with_dump)
{
    heap h;
    make_with(&h, android, true);
    if (!with_dump) {
        hdx_graph_close(h.g);
        ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
        h.q.graph = h.g;
    }
    for (size_t i = 0; i < HDX_COUNT(questions) + HDX_COUNT(tables); i++) {
        const hdx_question *question = i < HDX_COUNT(questions) ? questions[i] : tables[i - HDX_COUNT(questions)];
        if (!with_dump && question == &hdx_table_of_named_references)
            continue; /* names are nowhere else */
        for (unsigned f = 0; f < question->declared.form_count; f++) {
            const hdx_form *form = &question->declared.forms[f];
            uint64_t        rows = 0;
            for (int scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++) {
                h.q.scope = (hdx_refs_scope)scope;
                rows += ask_all(&h, question, form);
            }
            if (!with_dump && of_values_alone(&question->declared))
                continue; /* the same */
            if (android || form->is == NULL || strcmp(form->is, "heap") != 0)
                cr_expect(gt(u64, rows, 0), "%s: nothing was looked at", question->declared.name);
        }
    }
    heap_close(&h);
}

Test(declared, cells_of_every_answer_are_what_is_declared) { check_heap(false, true); }
Test(declared, cells_of_every_answer_on_an_android_dump) { check_heap(true, true); }
Test(declared, cells_of_every_answer_without_the_dump) { check_heap(true, false); }

Test(declared, documents_of_objects_of_every_kind)
{
    heap                      h;
    hdx_rows                 *rows;
    const hdx_argument        at[] = { { "object", "0x10c0" }, { "object", "0x600" },  { "object", "0x1100" },
                                       { "object", "0x1068" }, { "object", "0x1120" }, { "object", "#0" } };
    const hdx_question *const of[] = { &hdx_question_object, &hdx_question_path, &hdx_question_retained };
    make(&h, true);
    for (size_t i = 0; i < HDX_COUNT(of); i++) {
        const hdx_arguments a = { &of[i]->declared, at, HDX_COUNT(at) };
        ok(hdx_question_open(of[i], &h.q, &a, &rows, &h.err));
        cr_expect(gt(u64, check_rows(&of[i]->declared, hdx_arguments_form(&a), rows, true), 1));
    }
    heap_close(&h);
}

Test(declared, leaks_of_one_dump_and_of_two)
{
    static const char *const classes[] = { "app.Leaf", "app.Node" };
    const char *const        names[] = { "a.hprof", "b.hprof" };
    heap                     h;
    hdx_leaks               *leaks;
    hdx_rows                *rows;
    make(&h, true);
    for (int retained = 0; retained < 2; retained++) {
        hdx_leaks_options options = {
            .finder = HDX_LEAKS_CLASSES, .classes = classes, .class_count = 2, .retained = retained == 1
        };
        ok(hdx_leaks_search(h.g, &options, &leaks, &h.err));
        const hdx_leaks *const both[] = { leaks, leaks };
        cr_expect(gt(u64, leaks->leak_count, 0));
        for (size_t dumps = 1; dumps <= 2; dumps++) {
            ok(hdx_leaks_rows(both, names, dumps, true, &rows, &h.err));
            cr_expect(gt(u64, check_rows(&hdx_leaks_answer, &hdx_leaks_answer.forms[0], rows, true), 0));
            ok(hdx_leaks_rows(both, names, dumps, false, &rows, &h.err));
            (void)check_rows(&hdx_leaks_answer, &hdx_leaks_answer.forms[0], rows, false);
        }
        hdx_leaks_free(leaks);
    }
    heap_close(&h);
}

/* ---- arguments reach the question ---- */

#define open(question, rows, ...)                                                                                      \
    hdx_question_open(&hdx_question_##question, &h.q,                                                                  \
                      &(hdx_arguments){ &hdx_question_##question.declared, (const hdx_argument[]){ __VA_ARGS__ },      \
                                        sizeof((const hdx_argument[]){ __VA_ARGS__ }) / sizeof(hdx_argument) },        \
                      rows, &h.err)

Test(arguments, reach_the_question)
{
    heap       h;
    hdx_rows  *rows;
    hdx_buffer text;
    make(&h, false);
    ok(open(histogram, &rows, { "by", "package" }, { "class", "app.*" }));
    expect_rows(rows, "app,2,4,128,-,33.33\n");
    ok(open(histogram, &rows, { "class", "app.Leaf" }, { "retained", NULL }));
    expect_rows(rows, "app.Leaf,0x0,1,32,64,16.67,-,application\n");
    ok(open(dominators, &rows, { "object", "0x10c0" }, { "depth", "2" }));
    text = rows_text(rows);
    cr_expect(strstr(text.at, "0x10e0,app.Node,-,32,80,") != NULL && strstr(text.at, ",1,1\n0x1100,") != NULL, "%s",
              text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(open(dominators, &rows, { "object", "0x1000" }, { "by", "class" }));
    text = rows_text(rows);
    cr_expect(strstr(text.at, "app.Node,1,32,32,") == text.at, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(open(object, &rows, { "object", "0x1100" }, { "elements", "1" }));
    text = rows_text(rows);
    cr_expect(strstr(text.at, ",-,[0x1040],-,[{address=0x1040 class=app.Leaf label=- retained=64}],[],1,3\n") != NULL,
              "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(open(objects, &rows, { "class", "app.Node" }, { "subclasses", "true" }));
    expect_rows(rows,
                "0x1000,app.Node,-,32,64\n0x1020,app.Node,-,32,32\n0x10e0,app.Node,-,32,80\n0x1040,app.Leaf,-,32,64\n");
    ok(open(refs, &rows, { "object", "0x1040" }, { "in", NULL }, { "by", "class" }));
    expect_rows(rows, "java.lang.Object[],1,48,48\napp.Node,1,32,32\njava.lang.ref.WeakReference,1,24,24\n");
    ok(open(refs, &rows, { "object", "0x1100" }));
    expect_rows(rows, "0x800,java.lang.Class,class "
                      "java.lang.Object[],<class>,class,0,0\n0x1040,app.Leaf,-,[0],element,32,64\n0x10e0,app.Node,-,[2]"
                      ",element,32,80\n");
    ok(open(retained, &rows, { "class", "app.Leaf" }));
    expect_rows(rows, "byte[],1,32\napp.Leaf,1,32\n");
    ok(open(roots, &rows, { "by", "type" }));
    text = rows_text(rows);
    cr_expect(strstr(text.at, "JAVA_LOCAL,a local variable of a thread's frame,1,1,32,80\n") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(open(threads, &rows, { "locals", NULL }));
    text = rows_text(rows);
    cr_expect(strstr(text.at, "0x10c0,main,true,5,RUNNABLE,") == text.at &&
                  strstr(text.at, "locals=[0x10e0] local_objects=[{address=0x10e0 class=app.Node ") != NULL,
              "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(arguments, of_paths_take_references_out)
{
    heap      h;
    hdx_rows *rows;
    make(&h, false);
    ok(open(path, &rows, { "object", "0x1040" }));
    expect_rows(rows, "1,0,0x1080,java.lang.ref.WeakReference,-,referent,24,24\n1,1,0x1040,app.Leaf,-,-,32,64\n");
    ok(open(path, &rows, { "object", "0x1040" }, { "exclude", "soft,weak" }, { "merge", NULL }));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "0,1,0x600,java.lang.Class,class app.Node,head,1,") == text.at, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(open(path, &rows, { "object", "0x1040" }, { "exclude", "weak" }, { "exclude-field", "app.Node#next" },
            { "exclude-field", "*Object[]#[*]" }));
    expect_extra(rows, "paths", "[{target=0x1040 reachable=false length=- root=- steps=[]}]");
    hdx_rows_close(rows);
    ok(open(path, &rows, { "object", "0x1040" }, { "paths", "2" }));
    cr_expect(eq(u64, extra(rows, "paths")->as.list.count, 2));
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(arguments, that_name_too_many_or_no_objects_are_refused)
{
    heap      h;
    hdx_rows *rows;
    make(&h, false);
    cr_expect(eq(int, open(refs, &rows, { "object", "class:app.*" }), HDX_USAGE));
    cr_expect(eq(str, h.err.message, (char *)"'refs' takes one object, but 2 are named"));
    cr_expect(eq(str, h.err.hint, (char *)"heapdex object lists these objects with their addresses"));
    cr_expect(eq(int, open(dominators, &rows, { "object", "class:app.*" }), HDX_USAGE));
    cr_expect(eq(int, open(retained, &rows, { "subclasses", NULL }), HDX_USAGE));
    cr_expect(eq(str, h.err.message, (char *)"'retained' needs objects or --class PATTERN"));
    cr_expect(eq(int, open(object, &rows, { "object", "0x1001" }), HDX_NOT_FOUND));
    cr_expect(rows == NULL);
    heap_close(&h);
}
