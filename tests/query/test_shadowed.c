/*
 * test_shadowed.c - fields that a subclass hides by one of the same name: each rule means the field of the class it
 * speaks of (MAT: the topmost class of a name), as the JVM does.
 */
#include "support/questions.h"
#include "heap.h"

/* ---- labels ---- */

typedef enum thing {
    NONE,
    TEXT,
    BYTES,
    INTS,
    CLASS,
    CELLS,
    PAIR,
    DATA,
    MANAGER,
    GENERATION,
    HOLDER,
    ADDRESS,
    THINGS
} thing;

typedef struct rule {
    const char *class, *super; /* super NULL: java.lang.Object; else it declares the fields */
    const char *fields;
    uint64_t    values[6]; /* of references: a thing */
} rule;

static const rule rules[] = {
    { "com.ibm.icu.impl.locale.BaseLocale", NULL, "_language:L _region:L", { TEXT, TEXT } },
    { "com.ibm.icu.util.ULocale", NULL, "localeID:L", { TEXT } },
    { "java.awt.Point", NULL, "x:I y:I", { 3, 4 } },
    { "java.awt.Rectangle", NULL, "x:I y:I width:I height:I", { 1, 2, 3, 4 } },
    { "java.lang.Boolean", NULL, "value:Z", { 1 } },
    { "java.lang.Byte", NULL, "value:B", { 5 } },
    { "java.lang.Character", NULL, "value:C", { 'x' } },
    { "java.lang.Class", NULL, "name:L", { TEXT } },
    { "java.lang.Double", NULL, "value:D", { 0x4000000000000000 } },
    { "java.lang.Enum", NULL, "name:L ordinal:I", { TEXT, 1 } },
    { "java.lang.Float", NULL, "value:F", { 0x40000000 } },
    { "java.lang.Integer", NULL, "value:I", { 6 } },
    { "java.lang.Long", NULL, "value:J", { 7 } },
    { "java.lang.Module", NULL, "name:L", { TEXT } },
    { "java.lang.Package", NULL, "name:L", { TEXT } },
    { "java.lang.ProcessEnvironment$ExternalData", NULL, "str:L", { TEXT } },
    { "java.lang.Short", NULL, "value:S", { 8 } },
    { "java.lang.StackTraceElement",
      NULL,
      "declaringClass:L methodName:L fileName:L lineNumber:I",
      { TEXT, TEXT, TEXT, 9 } },
    { "java.lang.String", NULL, "value:L coder:B hash:I", { BYTES, 0, 0 } },
    { "java.lang.StringBuffer", "java.lang.AbstractStringBuilder", "value:L count:I coder:B", { BYTES, 2, 0 } },
    { "java.lang.StringBuilder", "java.lang.AbstractStringBuilder", "value:L count:I coder:B", { BYTES, 2, 0 } },
    { "java.lang.Thread", NULL, "name:L", { TEXT } },
    { "java.lang.ThreadGroup", NULL, "name:L", { TEXT } },
    { "java.lang.invoke.MemberName", NULL, "clazz:L name:L", { CLASS, TEXT } },
    { "java.lang.reflect.Constructor", NULL, "clazz:L modifiers:I", { CLASS, 1 } },
    { "java.lang.reflect.Field", NULL, "clazz:L name:L type:L modifiers:I", { CLASS, TEXT, CLASS, 1 } },
    { "java.lang.reflect.Method",
      "java.lang.reflect.AccessibleObject",
      "clazz:L name:L returnType:L modifiers:I",
      { CLASS, TEXT, CLASS, 1 } },
    { "java.math.BigDecimal", NULL, "scale:I precision:I intCompact:J", { 2, 0, 1234 } },
    { "java.math.BigInteger", NULL, "signum:I mag:L", { 1, INTS } },
    { "java.net.Inet6Address", NULL, "holder6:L", { ADDRESS } },
    { "java.net.InetAddress", NULL, "holder:L", { HOLDER } },
    { "java.net.InetAddress$InetAddressHolder", NULL, "hostName:L address:I", { TEXT, 0x7f000001 } },
    { "java.net.InetSocketAddress", NULL, "holder:L", { HOLDER } },
    { "java.net.InetSocketAddress$InetSocketAddressHolder", NULL, "addr:L port:I", { HOLDER, 80 } },
    { "java.net.URI", NULL, "string:L", { TEXT } },
    { "java.net.URL", NULL, "protocol:L authority:L path:L", { TEXT, TEXT, TEXT } },
    { "java.util.Locale", NULL, "languageTag:L", { TEXT } },
    { "java.util.concurrent.atomic.AtomicBoolean", NULL, "value:I", { 1 } },
    { "java.util.concurrent.atomic.AtomicInteger", NULL, "value:I", { 10 } },
    { "java.util.concurrent.atomic.AtomicLong", NULL, "value:J", { 11 } },
    { "java.util.concurrent.atomic.AtomicReference", NULL, "value:L", { TEXT } },
    { "java.util.concurrent.atomic.AtomicStampedReference", NULL, "pair:L", { PAIR } },
    { "java.util.concurrent.atomic.DoubleAdder",
      "java.util.concurrent.atomic.Striped64",
      "base:J cells:L",
      { 0, CELLS } },
    { "java.util.concurrent.atomic.LongAdder",
      "java.util.concurrent.atomic.Striped64",
      "base:J cells:L",
      { 12, CELLS } },
    { "org.eclipse.core.runtime.adaptor.EclipseClassLoader", NULL, "hostdata:L", { DATA } },
    { "org.eclipse.osgi.internal.baseadaptor.DefaultClassLoader", NULL, "manager:L", { MANAGER } },
    { "org.eclipse.osgi.internal.loader.EquinoxClassLoader", NULL, "generation:L", { GENERATION } },
    { "org.eclipse.swt.graphics.Point", NULL, "x:I y:I", { 3, 4 } },
    { "org.eclipse.swt.graphics.RGB", NULL, "red:I green:I blue:I", { 3, 4, 5 } },
    { "org.mortbay.jetty.webapp.WebAppClassLoader", NULL, "_name:L", { TEXT } },
    { "org.osgi.framework.Version", NULL, "major:I minor:I micro:I", { 1, 2, 3 } },
    { "sun.nio.ch.SocketChannelImpl", NULL, "state:I localAddress:L", { 2, HOLDER } },
    { "sun.util.locale.BaseLocale", NULL, "language:L region:L", { TEXT, TEXT } },
};

enum { RULES = sizeof rules / sizeof *rules };

static struct {
    char     name[96];
    uint64_t id;
} known[4 * RULES];
static size_t known_count;

/* A class is made once, by whoever speaks of it first. */
static uint64_t class_of(dump_maker *m, uint64_t super, const char *name, const char *fields)
{
    for (size_t i = 0; i < known_count; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].id;
    cr_assert(known_count < sizeof known / sizeof *known);
    snprintf(known[known_count].name, sizeof known[known_count].name, "%s", name);
    return known[known_count++].id = dump_maker_class(m, name, super, fields);
}

/* What references lead to, saying `text`. */
static void make_things(dump_maker *m, uint64_t object, const char *text, uint64_t number, uint64_t *out)
{
    uint64_t string = class_of(m, object, "java.lang.String", "value:L coder:B hash:I"),
             bytes[2] = { (uint64_t)text[0], (uint64_t)text[1] }, cell;
    uint64_t array = class_of(m, object, "[Ljava/util/concurrent/atomic/Striped64$Cell;", "");
    out[NONE] = 0;
    out[TEXT] = dump_maker_string(m, string, text);
    out[BYTES] = dump_maker_primitives(m, 'B', bytes, 2);
    out[INTS] = dump_maker_primitives(m, 'I', &number, 1);
    out[CLASS] = class_of(m, object, text, "");
    cell = dump_maker_instance(m, class_of(m, object, "java.util.concurrent.atomic.Striped64$Cell", "value:J"),
                               DUMP_VALUES(number));
    out[CELLS] = dump_maker_array(m, array, &cell, 1);
    out[PAIR] = dump_maker_instance(
        m, class_of(m, object, "java.util.concurrent.atomic.AtomicStampedReference$Pair", "reference:L"), &out[TEXT]);
    out[DATA] = dump_maker_instance(m, class_of(m, object, "p.Data", "symbolicName:L"), &out[TEXT]);
    out[MANAGER] = dump_maker_instance(m, class_of(m, object, "p.Manager", "data:L"), &out[DATA]);
    out[GENERATION] = dump_maker_instance(m, class_of(m, object, "p.Generation", "revision:L"), &out[DATA]);
    out[HOLDER] =
        dump_maker_instance(m, class_of(m, object, "java.net.InetAddress$InetAddressHolder", "hostName:L address:I"),
                            DUMP_VALUES(out[TEXT], number));
    out[ADDRESS] = dump_maker_instance(m, class_of(m, object, "java.net.Inet6Address$Inet6AddressHolder", "hostName:L"),
                                       &out[TEXT]);
}

/* Values of the fields in the order of `fields`; of `other` ones numbers differ too. */
static unsigned fill(const rule *r, const uint64_t *things, bool other, uint64_t *out)
{
    unsigned n = 0;
    for (const char *at = r->fields; (at = strchr(at, ':')) != NULL; at++, n++)
        out[n] = at[1] == 'L' ? things[r->values[n]] : r->values[n] + (other && at[1] != 'Z') - (other && at[1] == 'Z');
    return n;
}

Test(shadowed, labels_are_those_of_the_class_that_has_the_rule)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class_at(m, 0x100, "java.lang.Object", 0, ""), right[THINGS] = { 0 },
             wrong[THINGS] = { 0 };
    uint64_t plain[RULES], hiding[RULES], values[12];
    heap     h;
    make_things(m, object, "ok", 41, right);
    make_things(m, object, "no", 99, wrong);
    for (size_t i = 0; i < RULES; i++) {
        char     name[128];
        uint64_t super = rules[i].super == NULL ? object : class_of(m, object, rules[i].super, rules[i].fields);
        uint64_t class = class_of(m, super, rules[i].class, rules[i].super == NULL ? rules[i].fields : "");
        unsigned n = fill(&rules[i], right, false, values);
        plain[i] = dump_maker_instance(m, class, values);
        memcpy(values + n, values, n * sizeof *values);
        (void)fill(&rules[i], wrong, true, values); /* own fields come first */
        snprintf(name, sizeof name, "p.Sub%zu", i);
        hiding[i] = dump_maker_instance(m, class_of(m, class, name, rules[i].fields), values);
    }
    heap_open(&h, m);
    for (size_t i = 0; i < RULES; i++) {
        char *want, *is;
        ok(hdx_graph_label(h.g, id_at(&h, plain[i]), &want, &h.err));
        ok(hdx_graph_label(h.g, id_at(&h, hiding[i]), &is, &h.err));
        cr_expect(want != NULL && strcmp(want, "null") != 0, "%s: the test has no label", rules[i].class);
        cr_expect(is != NULL && want != NULL && strcmp(is, want) == 0, "%s: %s, hidden %s", rules[i].class, want,
                  is != NULL ? is : "(none)");
        hdx_text_free(want);
        hdx_text_free(is);
    }
    heap_close(&h);
}

/* ---- threads, loaders, references ---- */

enum {
    OBJECT = 0x100,
    STRING = 0x200,
    THREAD = 0x300,
    LOADER = 0x400,
    BOX = 0x600,
    REFERENCE = 0x700,
    WEAK = 0x800,
    TOP = 0x1000,
    SUB = 0x1040,
    WORKER = 0x1080,
    BOXED = 0x10c0,
    CACHE = 0x1100,
    KEPT = 0x1140,
    LET_GO = 0x1180
};

#define FIELDS "name:L priority:I daemon:Z threadStatus:I contextClassLoader:L"

/* Since JDK 19 three of the fields are in the holder, and a subclass may have a `holder` of its own too. */
static void make_heap(heap *h, bool with_holder)
{
    dump_maker *m = dump_maker_new(8);
    dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_class_at(m, STRING, "java.lang.String", OBJECT, "value:L coder:B hash:I");
    dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "parent:L name:L");
    dump_maker_class_at(m, THREAD, "java.lang.Thread", OBJECT,
                        with_holder ? "name:L contextClassLoader:L holder:L" : FIELDS);
    dump_maker_class_at(m, BOX, "p.Box", OBJECT, "a:L b:L");
    dump_maker_class_at(m, REFERENCE, "java.lang.ref.Reference", OBJECT, "referent:L");
    dump_maker_class_at(m, WEAK, "java.lang.ref.WeakReference", REFERENCE, "");
    uint64_t facts = dump_maker_class(m, "java.lang.Thread$FieldHolder", OBJECT, "priority:I daemon:Z threadStatus:I");
    uint64_t pool = dump_maker_class(m, "p.PoolThread", THREAD, FIELDS " holder:L box:L"),
             loader = dump_maker_class(m, "p.Loader", LOADER, "parent:L name:L");
    uint64_t entry = dump_maker_class(m, "p.Entry", WEAK, "referent:L");
    uint64_t worker = dump_maker_string(m, STRING, "worker"), pooled = dump_maker_string(m, STRING, "pooled"),
             top = dump_maker_string(m, STRING, "top");
    uint64_t holder = dump_maker_instance(m, facts, DUMP_VALUES(7, 1, 0x400)),
             other = dump_maker_instance(m, facts, DUMP_VALUES(2, 0, 0x4));
    dump_maker_instance_at(m, TOP, LOADER, DUMP_VALUES(0, top));
    dump_maker_instance_at(m, SUB, loader, DUMP_VALUES(SUB, pooled, TOP, worker));
    dump_maker_instance_at(m, BOXED, BOX, NULL);
    if (with_holder)
        dump_maker_instance_at(m, WORKER, pool, DUMP_VALUES(pooled, 2, 0, 0x4, TOP, other, BOXED, worker, SUB, holder));
    else
        dump_maker_instance_at(m, WORKER, pool,
                               DUMP_VALUES(pooled, 2, 0, 0x4, TOP, other, BOXED, worker, 7, 1, 0x400, SUB));
    dump_maker_instance_at(m, KEPT, BOX, NULL);
    dump_maker_instance_at(m, LET_GO, BOX, NULL);
    dump_maker_instance_at(m, CACHE, entry, DUMP_VALUES(KEPT, LET_GO));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, CACHE, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, WORKER, 1, 1);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, STRING, 0, 0);
    heap_open(h, m);
}

static void check_thread(bool with_holder)
{
    heap      h;
    hdx_rows *rows;
    make_heap(&h, with_holder);
    ok(hdx_query_threads(&h.q, false, false, &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    cr_expect(strncmp(text.at, "0x1080,worker,true,7,BLOCKED,-,-,-,-,-,-,-,-,0x1040,", 52) == 0, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    const char *name = "thread:worker";
    hdx_id     *ids = NULL, box = id_at(&h, BOXED);
    size_t      count = 0;
    ok(hdx_query_objects_named(&h.q, &name, 1, &ids, &count, &h.err));
    cr_expect(count == 1 && ids[0] == id_at(&h, WORKER));
    hdx_ids_free(ids);
    ok(hdx_query_path(&h.q, &box, 1, NULL, &rows, &h.err));
    text = hdx_buffer_of(NULL);
    put_cell(&text, extra(rows, "paths"));
    cr_expect(strstr(text.at, "thread_name=worker") != NULL && strstr(text.at, "label=worker") != NULL &&
                  strstr(text.at, "pooled") == NULL,
              "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(shadowed, threads_are_what_java_lang_thread_says) { check_thread(false); }

Test(shadowed, threads_with_a_holder_are_too) { check_thread(true); }

Test(shadowed, leaks_and_threads_name_a_thread_alike)
{
    heap              h;
    hdx_leaks        *leaks;
    hdx_leak_steps    steps = { 0 };
    const char       *classes[] = { "p.Box" };
    hdx_leaks_options options = { .finder = HDX_LEAKS_CLASSES, .classes = classes, .class_count = 1 };
    unsigned          named = 0;
    make_heap(&h, false);
    ok(hdx_leaks_search(h.g, &options, &leaks, &h.err));
    for (uint64_t i = 0; i < leaks->leak_count; i++)
        for (uint64_t t = 0; t < leaks->leaks[i].trace_count; t++) {
            ok(hdx_leak_steps_read(leaks, &leaks->leaks[i].traces[t], &steps, &h.err));
            for (uint64_t s = 0; s < steps.count; s++)
                for (uint32_t l = 0; l < steps.at[s].label_count; l++)
                    named += strcmp(steps.at[s].labels[l].text, "thread name: worker") == 0;
            hdx_leak_steps_free(&steps);
        }
    cr_expect(eq(u32, named, 1));
    hdx_leaks_free(leaks);
    heap_close(&h);
}

Test(shadowed, loaders_have_the_parent_and_name_of_java_lang_classloader)
{
    heap      h;
    hdx_rows *rows;
    make_heap(&h, false);
    ok(table_named(&h.q, "loaders", &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "0x1000,top,-,") != NULL && strstr(text.at, "0x1040,worker,0x1000,") != NULL, "%s",
              text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(shadowed, only_the_referent_of_java_lang_ref_is_weak)
{
    heap             h;
    hdx_rows        *rows;
    hdx_path_options options = { .exclude = HDX_EXCLUDE_WEAK };
    make_heap(&h, false);
    hdx_id ids[] = { id_at(&h, KEPT), id_at(&h, LET_GO) };
    ok(hdx_query_path(&h.q, ids, 2, &options, &rows, &h.err));
    expect_rows(rows, "1,0,0x1100,p.Entry,-,referent,32,96\n1,1,0x1140,p.Box,-,-,32,32\n");
    const char *field = "p.Entry#referent"; /* whoever names the class means all it has */
    options = (hdx_path_options){ .exclude_fields = &field, .exclude_field_count = 1 };
    ok(hdx_query_path(&h.q, ids, 2, &options, &rows, &h.err));
    expect_rows(rows, "");
    heap_close(&h);
}

Test(shadowed, one_field_is_asked_for_by_its_class)
{
    heap      h;
    hdx_value v;
    bool      found;
    make_heap(&h, false);
    hdx_id id = id_at(&h, WORKER);
    ok(hdx_graph_field(h.g, id, "java.lang.Thread", "priority", &v, &found, &h.err));
    cr_expect(found && v.as.integer == 7);
    ok(hdx_graph_field(h.g, id, NULL, "priority", &v, &found, &h.err));
    cr_expect(found && v.as.integer == 7, "the topmost class of the name");
    ok(hdx_graph_field(h.g, id, NULL, "box", &v, &found, &h.err));
    cr_expect(found && v.as.address == BOXED);
    ok(hdx_graph_field(h.g, id, "java.lang.Thread", "box", &v, &found, &h.err));
    cr_expect(found == false, "a subclass declares it");
    ok(hdx_graph_field(h.g, id, "java.lang.String", "priority", &v, &found, &h.err));
    cr_expect(found == false, "it is no String");
    heap_close(&h);
}

/* ---- what loaders are called ---- */

Test(loaders, are_called_by_name_url_or_module)
{
    heap        h;
    hdx_rows   *rows;
    dump_maker *m = dump_maker_new(8);
    dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_class_at(m, STRING, "java.lang.String", OBJECT, "value:L coder:B hash:I");
    dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "parent:L name:L");
    uint64_t url_loader = dump_maker_class(m, "java.net.URLClassLoader", LOADER, "ucp:L"),
             path = dump_maker_class(m, "jdk.internal.loader.URLClassPath", OBJECT, "path:L");
    uint64_t list = dump_maker_class(m, "java.util.ArrayList", OBJECT, "elementData:L size:I"),
             urls = dump_maker_class(m, "[Ljava/lang/Object;", OBJECT, "");
    uint64_t url = dump_maker_class(m, "java.net.URL", OBJECT, "protocol:L authority:L path:L"),
             module = dump_maker_class(m, "java.lang.Module", OBJECT, "name:L loader:L");
    uint64_t file = dump_maker_instance(
        m, url, DUMP_VALUES(dump_maker_string(m, STRING, "file"), 0, dump_maker_string(m, STRING, "/lib/a.jar")));
    uint64_t one = dump_maker_instance(m, list, DUMP_VALUES(dump_maker_array(m, urls, &file, 1), 1));
    uint64_t none = dump_maker_instance(m, list, DUMP_VALUES(dump_maker_array(m, urls, NULL, 10), 0));
    uint64_t searched = dump_maker_instance(m, path, &one), empty = dump_maker_instance(m, path, &none);
    uint64_t app = dump_maker_string(m, STRING, "app"), nothing = dump_maker_string(m, STRING, "");
    dump_maker_instance_at(m, 0x10000, url_loader, DUMP_VALUES(searched, 0, app));
    dump_maker_instance_at(m, 0x10040, url_loader, DUMP_VALUES(searched, 0, 0));
    dump_maker_instance_at(m, 0x10080, url_loader, DUMP_VALUES(empty, 0, nothing));
    dump_maker_instance_at(m, 0x100c0, LOADER, DUMP_VALUES(0, 0));
    dump_maker_instance_at(m, 0x10100, module, DUMP_VALUES(0, 0x100c0)); /* the unnamed one */
    dump_maker_instance_at(m, 0x10140, module, DUMP_VALUES(dump_maker_string(m, STRING, "java.sql"), 0x100c0));
    dump_maker_instance_at(m, 0x10180, module, DUMP_VALUES(app, 0x100c0));
    for (uint64_t at = 0x10000; at <= 0x10180; at += 0x40)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, at, 0, 0);
    heap_open(&h, m);
    static const char *const want[] = { "0x10000,app,-,", "0x10040,file:/lib/a.jar,-,", "0x10080,,-,",
                                        "0x100c0,java.sql,-," };
    ok(table_named(&h.q, "loaders", &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_expect(strstr(text.at, want[i]) != NULL, "%s in\n%s", want[i], text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    hdx_graph_close(h.g);
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err)); /* without the dump nothing is known but the table itself */
    h.q.graph = h.g;
    ok(table_named(&h.q, "loaders", &rows, &h.err));
    text = rows_text(rows);
    cr_expect(strstr(text.at, "0x10000,-,-,") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}
