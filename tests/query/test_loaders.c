/*
 * test_loaders.c - class loaders: what is counted as outside of them, what holds them, which of them should be gone;
 * and classes that several of them define.
 */
#include "support/questions.h"
#include "heap.h"
#include "support/golden.h"
#include "rows/arguments.h"
#include "query/query.h"

#include <unistd.h>

extern const hdx_question hdx_question_loaders, hdx_question_duplicate_classes;

static hdx_rows *ask(heap *h, const hdx_question *question, const char *name, const char *value)
{
    const hdx_argument  argument = { name, value };
    const hdx_arguments given = { &question->declared, &argument, name == NULL ? 0 : 1 };
    hdx_rows           *rows = NULL;
    cr_assert(eq(int, hdx_question_open(question, &h->q, &given, &rows, &h->err), HDX_OK), "%s", h->err.message);
    return rows;
}

#define OBJECT  0x100
#define LOADER  0x200
#define PLUGINS 0x300 /* class app.PluginLoader */
#define SYSTEM  0x5000
#define PLUGIN  0x6000 /* loaders: 0x6000, 0x6100 ... */

/*
 * A system loader; a plugin loader (0x6000) that a static list holds, with a class of two objects that only its own
 * static has; one (0x6100) of whose class another static has an object; one (0x6200) that a weak reference alone has;
 * one (0x6300) that a thread has,
 * and that has an object of the class of the second; one (0x6400) that is a root; one below it (0x6500) that it alone
 * has, and that has an object of a class of the upper one, and with that one of its own.
 */
static void plugins(heap *h)
{
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_static(m, "scl", 'L', SYSTEM);
    (void)dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "parent:L");
    const uint64_t string = dump_maker_class(m, "java.lang.String", OBJECT, "value:L coder:B hash:I");
    const uint64_t list = dump_maker_class(m, "java.lang.Object[]", OBJECT, "");
    const uint64_t reference = dump_maker_class(m, "java.lang.ref.Reference", OBJECT, "referent:L");
    const uint64_t weak = dump_maker_class(m, "java.lang.ref.WeakReference", reference, "");
    const uint64_t thread = dump_maker_class(m, "java.lang.Thread", OBJECT, "name:L contextClassLoader:L");
    m->loader = SYSTEM;
    dump_maker_static(m, "all", 'L', 0x7000);
    dump_maker_static(m, "leak", 'L', 0x8100);
    dump_maker_static(m, "cache", 'L', 0x7100);
    (void)dump_maker_class_at(m, PLUGINS, "app.PluginLoader", LOADER, "child:L");
    m->loader = PLUGIN;
    dump_maker_static(m, "own", 'L', 0x8000);
    const uint64_t first = dump_maker_class_at(m, 0x9000, "plugin.Main", OBJECT, "next:L");
    m->loader = PLUGIN + 0x100;
    const uint64_t second = dump_maker_class_at(m, 0x9100, "plugin.Main", OBJECT, "next:L");
    m->loader = PLUGIN + 0x400;
    const uint64_t outer = dump_maker_class_at(m, 0x9400, "plugin.Outer", OBJECT, "next:L");
    m->loader = PLUGIN + 0x500;
    const uint64_t third = dump_maker_class_at(m, 0x9500, "plugin.Below", OBJECT, "next:L");
    m->loader = 0;
    dump_maker_instance_at(m, SYSTEM, PLUGINS, NULL);
    static const uint64_t child[6] = { [0] = 0x9000, [3] = 0x8300, [4] = PLUGIN + 0x500, [5] = 0x8400 };
    for (uint64_t i = 0; i < 6; i++) /* own field, then parent */
        dump_maker_instance_at(m, PLUGIN + 0x100 * i, PLUGINS, DUMP_VALUES(child[i], SYSTEM));
    dump_maker_array_at(m, 0x7000, list, DUMP_VALUES(PLUGIN), 1);
    dump_maker_instance_at(m, 0x7100, weak, DUMP_VALUES(PLUGIN + 0x200));
    dump_maker_instance_at(m, 0x8000, first, DUMP_VALUES(0x8010));
    dump_maker_instance_at(m, 0x8010, first, NULL);
    dump_maker_instance_at(m, 0x8100, second, DUMP_VALUES(0x8110));
    dump_maker_instance_at(m, 0x8110, second, NULL);
    dump_maker_instance_at(m, 0x8300, second, NULL);
    dump_maker_instance_at(m, 0x8400, outer, DUMP_VALUES(0x8500));
    dump_maker_instance_at(m, 0x8500, third, NULL);
    dump_maker_instance_at(m, 0xa000, thread, DUMP_VALUES(dump_maker_string(m, string, "worker"), PLUGIN + 0x300));
    for (uint64_t at = OBJECT; at <= LOADER; at += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, at, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, PLUGIN + 0x400, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, 0xa000, 1, 0);
    heap_open(h, m);
}

/* Address, outside, classes, instances and held_by. */
static hdx_buffer few(hdx_rows *rows)
{
    hdx_buffer      b = hdx_buffer_of(NULL);
    const hdx_cell *c;
    hdx_error       err;
    hdx_buffer_text(&b, "");
    while (hdx_rows_next(rows, &c))
        for (unsigned i = 0; i < 5; i++) {
            put_cell(&b, &c[((const unsigned[]){ 0, 4, 5, 6, 9 })[i]]);
            hdx_buffer_text(&b, i == 4 ? "\n" : ",");
        }
    cr_assert(eq(int, hdx_rows_end(rows, &err), HDX_OK), "%s", err.message);
    hdx_rows_close(rows);
    return b;
}

#define expect_few(rows, want)                                                                                         \
    do {                                                                                                               \
        hdx_buffer text_ = few(rows);                                                                                  \
        cr_expect(eq(str, text_.at, (char *)(want)));                                                                  \
        hdx_buffer_free(&text_);                                                                                       \
    } while (0)

Test(loader_explorer, counts_what_is_outside_and_says_what_holds_each)
{
    heap h;
    plugins(&h);
    expect_few(ask(&h, &hdx_question_loaders, NULL, NULL), "0x6400,0,1,1,GC root (JNI global)\n"
                                                           "0x6100,3,1,3,static app.PluginLoader.leak\n"
                                                           "0x6000,0,1,2,static app.PluginLoader.all\n"
                                                           "0x6500,0,1,1,GC root (JNI global) app.PluginLoader\n"
                                                           "0x6300,0,0,0,thread \"worker\"\n"
                                                           "0x5000,-,1,7,-\n"
                                                           "0x6200,0,0,0,soft, weak or phantom references alone\n"
                                                           "0x0,-,9,20,-\n");
    heap_close(&h);
}

Test(loader_explorer, knows_the_loader_of_an_android_application)
{
    heap        h;
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "parent:L");
    const uint64_t boot = dump_maker_class(m, "java.lang.BootClassLoader", LOADER, ""),
                   path = dump_maker_class(m, "dalvik.system.PathClassLoader", LOADER, "");
    dump_maker_static(m, "loader", 'L', 0x1000);
    (void)dump_maker_class_at(m, 0x300, "java.lang.ClassLoader$SystemClassLoader", OBJECT, "");
    dump_maker_instance_at(m, 0x1000, path, DUMP_VALUES(0x1100));
    dump_maker_instance_at(m, 0x1100, path, DUMP_VALUES(0));
    dump_maker_instance_at(m, 0x1200, path, DUMP_VALUES(0x1300));
    dump_maker_instance_at(m, 0x1300, boot, DUMP_VALUES(0));
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, 0x300, 0, 0);
    for (uint64_t at = 0x1000; at <= 0x1300; at += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, at, 0, 0);
    heap_open(&h, m);
    expect_few(ask(&h, &hdx_question_loaders, "unused", NULL), "0x1200,0,0,0,GC root (JNI global)\n");
    heap_close(&h);
}

Test(loader_explorer, that_has_none_but_those_of_the_jvm_says_so)
{
    heap        h;
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "parent:L");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, OBJECT, 0, 0);
    heap_open(&h, m);
    hdx_rows       *rows = ask(&h, &hdx_question_loaders, "unused", NULL);
    const hdx_cell *c;
    cr_expect(not(hdx_rows_next(rows, &c)));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows),
                 "the only class loaders are those of the JVM and the application"));
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(loader_explorer, shows_those_that_should_be_gone)
{
    heap h;
    plugins(&h);
    expect_few(ask(&h, &hdx_question_loaders, "unused", NULL), "0x6400,0,1,1,GC root (JNI global)\n"
                                                               "0x6000,0,1,2,static app.PluginLoader.all\n"
                                                               "0x6500,0,1,1,GC root (JNI global) app.PluginLoader\n"
                                                               "0x6300,0,0,0,thread \"worker\"\n"
                                                               "0x6200,0,0,0,soft, weak or phantom references alone\n");
    heap_close(&h);
}

Test(loader_explorer, without_the_dump_knows_the_paths_but_no_names)
{
    heap h;
    plugins(&h);
    hdx_graph_close(h.g);
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    expect_few(ask(&h, &hdx_question_loaders, NULL, NULL), "0x5000,6,1,7,a static of java.lang.ClassLoader\n"
                                                           "0x6400,0,1,1,GC root (JNI global)\n"
                                                           "0x6100,3,1,3,a static of app.PluginLoader\n"
                                                           "0x6000,0,1,2,a static of app.PluginLoader\n"
                                                           "0x6500,0,1,1,GC root (JNI global) app.PluginLoader\n"
                                                           "0x6300,0,0,0,thread 0xa000\n"
                                                           "0x6200,0,0,0,a static of app.PluginLoader\n"
                                                           "0x0,-,9,20,-\n");
    heap_close(&h);
}

/*
 * A leak as it is most common: the static list of a library of the application has an object of the plugin's class,
 * which refers to 800 bytes; the loader is reached by it alone. With `elsewhere` a root has one more such object.
 */
static void forgotten(heap *h, bool elsewhere)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t zeros[100] = { 0 };
    (void)dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_static(m, "scl", 'L', SYSTEM);
    (void)dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "parent:L");
    const uint64_t list = dump_maker_class(m, "java.lang.Object[]", OBJECT, "");
    (void)dump_maker_class(m, "long[]", OBJECT, "");
    m->loader = SYSTEM;
    dump_maker_static(m, "listeners", 'L', 0x7000);
    (void)dump_maker_class_at(m, PLUGINS, "app.PluginLoader", LOADER, "");
    m->loader = PLUGIN;
    const uint64_t listener = dump_maker_class_at(m, 0x9000, "plugin.Listener", OBJECT, "data:L");
    m->loader = 0;
    dump_maker_instance_at(m, SYSTEM, PLUGINS, DUMP_VALUES(0));
    dump_maker_instance_at(m, PLUGIN, PLUGINS, DUMP_VALUES(SYSTEM));
    dump_maker_primitives_at(m, 0x7800, 'J', zeros, HDX_COUNT(zeros));
    dump_maker_instance_at(m, 0x8000, listener, DUMP_VALUES(0x7800));
    dump_maker_instance_at(m, 0x8100, listener, DUMP_VALUES(0x7800));
    dump_maker_instance_at(m, 0x8200, listener, DUMP_VALUES(0));
    dump_maker_array_at(m, 0x7000, list, DUMP_VALUES(0x8000, 0x8100), 2);
    for (uint64_t at = OBJECT; at <= LOADER; at += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, at, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, SYSTEM, 0, 0);
    if (elsewhere)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x8200, 0, 0);
    heap_open(h, m);
}

Test(loader_explorer, shows_what_one_culprit_alone_holds)
{
    heap h;
    forgotten(&h, false);
    expect_few(ask(&h, &hdx_question_loaders, "unused", NULL), "0x6000,2,1,2,static app.PluginLoader.listeners\n");
    hdx_rows       *rows = ask(&h, &hdx_question_loaders, "unused", NULL);
    const hdx_cell *c;
    cr_assert(hdx_rows_next(rows, &c));
    /* two listeners, their data, the class and the loader; the loader object alone retains itself */
    cr_expect(gt(u64, c[8].as.natural, 800 + 2 * 24));
    cr_expect(lt(u64, hdx_graph_retained(h.g, id_at(&h, PLUGIN)), 100));
    hdx_rows_close(rows);
    heap_close(&h);
    forgotten(&h, true);
    expect_few(ask(&h, &hdx_question_loaders, "unused", NULL), "");
    heap_close(&h);
}

/* Loaders of Tomcat 8 (running; of the application ROOT; stopped), and of Tomcat 7. */
Test(loader_explorer, calls_web_applications_by_their_paths)
{
    heap           h;
    hdx_rows      *rows;
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, ""),
                   string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I"),
                   loader = dump_maker_class(m, "java.lang.ClassLoader", object, "parent:L name:L"),
                   base =
                       dump_maker_class(m, "org.apache.catalina.loader.WebappClassLoaderBase", loader, "resources:L"),
                   eight = dump_maker_class(m, "org.apache.catalina.loader.ParallelWebappClassLoader", base, ""),
                   seven = dump_maker_class(m, "org.apache.catalina.loader.WebappClassLoader", loader, "contextName:L"),
                   root = dump_maker_class(m, "org.apache.catalina.webresources.StandardRoot", object, "context:L"),
                   container = dump_maker_class(m, "org.apache.catalina.core.ContainerBase", object, "name:L"),
                   context = dump_maker_class(m, "org.apache.catalina.core.StandardContext", container, "");
    (void)dump_maker_class(m, "byte[]", object, "");
    m->next_id = 0x100000;
    const char *const names[] = { "/shop##2", "" };
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t of = dump_maker_instance(m, context, DUMP_VALUES(dump_maker_string(m, string, names[i])));
        const uint64_t resources = dump_maker_instance(m, root, DUMP_VALUES(of));
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, eight, DUMP_VALUES(resources, 0, 0)), 0, 0);
    }
    const uint64_t own = dump_maker_string(m, string, "own");
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, eight, DUMP_VALUES(0, 0, own)), 0, 0);
    const uint64_t path = dump_maker_string(m, string, "/old"), unknown = dump_maker_string(m, string, "unknown");
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, seven, DUMP_VALUES(path, 0, 0)), 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, seven, DUMP_VALUES(unknown, 0, own)), 0, 0);
    heap_open(&h, m);
    char            labels[64] = "";
    const hdx_cell *c;
    rows = ask(&h, &hdx_question_loaders, NULL, NULL);
    while (hdx_rows_next(rows, &c))
        if (c[2].kind == HDX_CELL_TEXT)
            (void)snprintf(labels + strlen(labels), sizeof labels - strlen(labels), "%.*s ", (int)c[2].as.text.len,
                           c[2].as.text.at);
    hdx_rows_close(rows);
    cr_expect(strstr(labels, "/shop##2 ") != NULL && strstr(labels, "/ ") != NULL && strstr(labels, "/old ") != NULL &&
                  strstr(labels, "own ") != strrchr(labels, 'o') && strstr(labels, "unknown") == NULL,
              "%s", labels);
    heap_close(&h);
}

/* ---- classes of one name ---- */

Test(duplicate_classes, are_names_with_several_loaders)
{
    heap h;
    plugins(&h);
    expect_rows(ask(&h, &hdx_question_duplicate_classes, "retained", NULL),
                "plugin.Main,2,2,5,120,160,app.PluginLoader 0x6000, app.PluginLoader 0x6100,[{address=0x9000 "
                "loader=0x6000 loader_name=app.PluginLoader 0x6000 instances=2 shallow=48} {address=0x9100 "
                "loader=0x6100 loader_name=app.PluginLoader 0x6100 instances=3 shallow=72}]\n");
    expect_rows(ask(&h, &hdx_question_duplicate_classes, NULL, NULL),
                "plugin.Main,2,2,5,120,-,app.PluginLoader 0x6000, app.PluginLoader 0x6100,[{address=0x9000 "
                "loader=0x6000 loader_name=app.PluginLoader 0x6000 instances=2 shallow=48} {address=0x9100 "
                "loader=0x6100 loader_name=app.PluginLoader 0x6100 instances=3 shallow=72}]\n");
    heap_close(&h);
}

Test(duplicate_classes, of_many_loaders_are_counted_by_the_class_of_these)
{
    heap        h;
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "");
    (void)dump_maker_class_at(m, PLUGINS, "app.PluginLoader", LOADER, "");
    for (uint64_t i = 0; i < 5; i++) {
        m->loader = i == 4 ? 0 : PLUGIN + 0x100 * i;
        dump_maker_class_at(m, 0x9000 + 0x100 * i, "app.Twice", OBJECT, "");
        (void)dump_maker_class_at(m, 0xa000 + 0x100 * i, "[Lapp.Twice;", OBJECT, "");
        dump_maker_instance_at(m, PLUGIN + 0x100 * i, i == 0 ? LOADER : PLUGINS, NULL);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x9000 + 0x100 * i, 0, 0);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0xa000 + 0x100 * i, 0, 0);
    }
    (void)dump_maker_class_at(m, 0xb000, "app.Same", OBJECT, ""); /* twice, but one loader has both */
    (void)dump_maker_class_at(m, 0xb100, "app.Same", OBJECT, "");
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0xb000, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0xb100, 0, 0);
    heap_open(&h, m);
    hdx_rows       *rows = ask(&h, &hdx_question_duplicate_classes, NULL, NULL);
    const hdx_cell *c;
    cr_assert(hdx_rows_next(rows, &c));
    cr_expect(hdx_text_is(c[0].as.text, "app.Twice"));
    cr_expect(eq(u64, c[1].as.natural, 5));
    cr_expect(eq(u64, c[2].as.natural, 5));
    cr_expect(hdx_text_is(c[6].as.text, "app.PluginLoader (3), java.lang.ClassLoader (1), boot loader (1)"), "%.*s",
              (int)c[6].as.text.len, c[6].as.text.at);
    cr_expect(not(hdx_rows_next(rows, &c)));
    hdx_rows_close(rows);
    heap_close(&h);
}

/* ---- reference dumps ---- */

static void open_dump(heap *h, const char *dump)
{
    hdx_index_report report;
    memset(h, 0, sizeof *h);
    test_folder_make(h->folder, "loaders");
    (void)snprintf(h->index, sizeof h->index, "%s/a.hdx", h->folder);
    const hdx_index_options options = { .dump = dump, .index_dir = h->index, .threads = 2 };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h->err), HDX_OK), "%s: %s", dump, h->err.message);
    cr_assert(eq(int, hdx_graph_open(h->index, dump, &h->g, &h->err), HDX_OK), "%s: %s", dump, h->err.message);
    h->q = (hdx_query){ .graph = h->g, .threads = 2 };
}

/* Lines of MAT's loaders.csv that end so: "...,classes,instances,shallow". */
static bool mat_says(const char *csv, hdx_addr address, const char *end)
{
    FILE *f = fopen(csv, "r");
    char  line[512], begin[32];
    bool  says = false;
    if (f == NULL)
        return false;
    (void)snprintf(begin, sizeof begin, "0x%llx,", (unsigned long long)address);
    while (!says && fgets(line, sizeof line, f) != NULL) {
        const size_t len = strcspn(line, "\r\n");
        line[len] = '\0';
        says =
            strncmp(line, begin, strlen(begin)) == 0 && len > strlen(end) && strcmp(line + len - strlen(end), end) == 0;
    }
    (void)fclose(f);
    return says;
}

static void expect_zoo(heap *h)
{
    hdx_rows       *rows = ask(h, &hdx_question_loaders, NULL, NULL);
    const hdx_cell *c;
    unsigned        plugins_seen = 0, with_classes = 0, leaked = 0;
    while (hdx_rows_next(rows, &c))
        if (hdx_text_is(c[1].as.text, "Zoo$PluginLoader")) {
            plugins_seen++;
            with_classes += c[5].as.natural > 0;
            cr_expect(eq(u64, c[4].as.natural, c[6].as.natural), "statics have the only object of each");
            leaked += hdx_text_is(c[9].as.text, "static Zoo$Loaders.pluginOfLeakedLoader");
        }
    hdx_rows_close(rows);
    cr_expect(plugins_seen == 4 && with_classes == 3 && leaked == 1, "%u %u %u", plugins_seen, with_classes, leaked);
    rows = ask(h, &hdx_question_loaders, "unused", NULL);
    cr_assert(hdx_rows_next(rows, &c)); /* a static has an object of its class, and that alone keeps it */
    cr_expect(hdx_text_is(c[9].as.text, "static Zoo$Loaders.pluginOfLeakedLoader"));
    cr_assert(hdx_rows_next(rows, &c));
    cr_expect(hdx_text_is(c[9].as.text, "static Zoo$Loaders.noClasses"));
    cr_expect(not(hdx_rows_next(rows, &c)));
    hdx_rows_close(rows);
    rows = ask(h, &hdx_question_duplicate_classes, NULL, NULL);
    cr_assert(hdx_rows_next(rows, &c));
    cr_expect(hdx_text_is(c[0].as.text, "zoo.plugin.Plugin"));
    cr_expect(eq(u64, c[2].as.natural, 4));
    cr_expect(not(hdx_rows_next(rows, &c)));
    hdx_rows_close(rows);
}

static void expect_classes(heap *h)
{
    hdx_rows       *rows = ask(h, &hdx_question_loaders, "unused", NULL);
    const hdx_cell *c;
    unsigned        loaders = 0, classes = 0;
    for (; hdx_rows_next(rows, &c); loaders++) {
        classes += (unsigned)c[5].as.natural;
        cr_expect(eq(u64, c[5].as.natural, c[6].as.natural));
        cr_expect(hdx_text_is(c[9].as.text, "static Classes.loaders"));
    }
    hdx_rows_close(rows);
    cr_expect(loaders == 6 && classes == 606, "%u %u", loaders, classes);
    rows = ask(h, &hdx_question_duplicate_classes, NULL, NULL);
    cr_assert(hdx_rows_next(rows, &c));
    cr_expect(hdx_text_is(c[0].as.text, "gen.Same"));
    cr_expect(c[1].as.natural == 6 && c[2].as.natural == 6 && c[3].as.natural == 6);
    cr_expect(not(hdx_rows_next(rows, &c)));
    hdx_rows_close(rows);
}

/* Counts are MAT's where it has an answer; what the makers of the dumps say of their loaders is what is found. */
Test(loader_explorer, says_of_reference_dumps_what_mat_and_their_makers_say, .timeout = 600)
{
    golden_dumps d;
    unsigned     compared = 0;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (golden_next(&d)) {
        heap            h;
        char            csv[1200];
        const hdx_cell *c;
        const char     *name = strrchr(d.path, '/') + 1;
        open_dump(&h, d.path);
        (void)snprintf(csv, sizeof csv, GOLDEN_DUMPS "/../mat/%.*s/loaders.csv", (int)(strlen(name) - 9), name);
        hdx_rows *rows = ask(&h, &hdx_question_loaders, NULL, NULL);
        while (access(csv, R_OK) == 0 && hdx_rows_next(rows, &c)) {
            char end[80];
            (void)snprintf(end, sizeof end, ",%llu,%llu,%llu", (unsigned long long)c[5].as.natural,
                           (unsigned long long)c[6].as.natural, (unsigned long long)c[7].as.natural);
            if (c[0].as.address != 0) { /* the boot loader, to which heapdex counts further classes */
                cr_expect(mat_says(csv, c[0].as.address, end), "%s: 0x%llx%s", name,
                          (unsigned long long)c[0].as.address, end);
                compared++;
            }
        }
        hdx_rows_close(rows);
        if (strncmp(name, "zoo-", 4) == 0)
            expect_zoo(&h);
        if (strncmp(name, "classes-", 8) == 0)
            expect_classes(&h);
        heap_close(&h);
    }
    cr_expect(gt(uint, compared, 150), "%u", compared);
}
