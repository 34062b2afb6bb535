/*
 * test_properties.c - arguments, system properties and environment out of maps and lists of the heap: a made heap with
 * all of them, and reference dumps of JDK 5 to 25 and Android.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/query.h"
#include "rows/arguments.h"
#include "support/golden.h"

extern const hdx_question hdx_question_properties;

static hdx_rows *ask(heap *h)
{
    const hdx_arguments none = { &hdx_question_properties.declared, NULL, 0 };
    hdx_rows           *rows = NULL;
    cr_assert(eq(int, hdx_question_open(&hdx_question_properties, &h->q, &none, &rows, &h->err), HDX_OK), "%s",
              h->err.message);
    return rows;
}

/* ---- a made heap ---- */

typedef struct made {
    dump_maker *m;
    uint64_t    object, string, entry, entries, properties, node, nodes, map, variable, value;
} made;

static made made_begin(void)
{
    made k = { .m = dump_maker_new(8) };
    k.object = dump_maker_class(k.m, "java.lang.Object", 0, "");
    k.string = dump_maker_class(k.m, "java.lang.String", k.object, "value:L coder:B hash:I");
    (void)dump_maker_class(k.m, "byte[]", k.object, "");
    k.entry = dump_maker_class(k.m, "java.util.Hashtable$Entry", k.object, "hash:I key:L value:L next:L");
    k.entries = dump_maker_class(k.m, "java.util.Hashtable$Entry[]", k.object, "");
    const uint64_t table = dump_maker_class(k.m, "java.util.Hashtable", k.object, "count:I table:L");
    k.properties = dump_maker_class(k.m, "java.util.Properties", table, "defaults:L");
    k.node = dump_maker_class(k.m, "java.util.HashMap$Node", k.object, "hash:I key:L value:L next:L");
    k.nodes = dump_maker_class(k.m, "java.util.HashMap$Node[]", k.object, "");
    k.map = dump_maker_class(k.m, "java.util.HashMap", k.object, "size:I table:L");
    const uint64_t external =
        dump_maker_class(k.m, "java.lang.ProcessEnvironment$ExternalData", k.object, "str:L bytes:L");
    k.variable = dump_maker_class(k.m, "java.lang.ProcessEnvironment$Variable", external, "");
    k.value = dump_maker_class(k.m, "java.lang.ProcessEnvironment$Value", external, "");
    return k;
}

/* texts: key, value, key, value; entries in an array of their own. */
static uint64_t properties_of(made *k, uint64_t defaults, const char *const *texts, uint32_t count)
{
    uint64_t all[8] = { 0 };
    for (uint32_t i = 0; i < count; i++)
        all[i] = dump_maker_instance(k->m, k->entry,
                                     DUMP_VALUES(0, dump_maker_string(k->m, k->string, texts[2 * i]),
                                                 dump_maker_string(k->m, k->string, texts[2 * i + 1]), 0));
    return dump_maker_instance(k->m, k->properties,
                               DUMP_VALUES(defaults, count, dump_maker_array(k->m, k->entries, all, 8)));
}

static uint64_t environment_of(made *k, const char *const *texts, uint32_t count)
{
    uint64_t all[8] = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key = dump_maker_instance(k->m, k->variable,
                                                 DUMP_VALUES(dump_maker_string(k->m, k->string, texts[2 * i]), 0)),
                       value = dump_maker_instance(
                           k->m, k->value, DUMP_VALUES(dump_maker_string(k->m, k->string, texts[2 * i + 1]), 0));
        all[i] = dump_maker_instance(k->m, k->node, DUMP_VALUES(0, key, value, 0));
    }
    return dump_maker_instance(k->m, k->map, DUMP_VALUES(count, dump_maker_array(k->m, k->nodes, all, 8)));
}

static void all_of_them(heap *h)
{
    static const char *const defaults[] = { "java.home", "/system" };
    static const char *const system[] = { "user.name", "ada", "java.version", "8", "user.dir", "" };
    static const char *const saved[] = { "user.name", "ada", "user.dir", "/tmp", "sun.nio.MaxDirectMemorySize", "-1" };
    static const char *const environment[] = { "PATH", "/bin", "HOME", "/home/ada" };
    made                     k = made_begin();
    const uint64_t           list = dump_maker_class(k.m, "java.util.ArrayList", k.object, "elementData:L size:I"),
                   objects = dump_maker_class(k.m, "java.lang.Object[]", k.object, "");
    uint64_t       texts[4] = { dump_maker_string(k.m, k.string, "-Xmx1g"), dump_maker_string(k.m, k.string, "-Dz=1") };
    const uint64_t given = dump_maker_instance(k.m, list, DUMP_VALUES(dump_maker_array(k.m, objects, texts, 4), 2));
    const uint64_t bean = dump_maker_class(k.m, "sun.management.VMManagementImpl", k.object, "vmArgs:L");
    dump_maker_root(k.m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(k.m, bean, &given), 0, 0);
    dump_maker_static(k.m, "props", 'L', properties_of(&k, properties_of(&k, 0, defaults, 1), system, 3));
    dump_maker_root(k.m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(k.m, "java.lang.System", k.object, ""), 0, 0);
    dump_maker_static(k.m, "savedProps", 'L', properties_of(&k, 0, saved, 3));
    dump_maker_root(k.m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(k.m, "sun.misc.VM", k.object, ""), 0, 0);
    dump_maker_static(k.m, "theEnvironment", 'L', environment_of(&k, environment, 2));
    dump_maker_root(k.m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(k.m, "java.lang.ProcessEnvironment", k.object, ""),
                    0, 0);
    heap_open(h, k.m);
}

/* Without the addresses. */
static hdx_buffer texts_of(hdx_rows *rows)
{
    hdx_buffer      b = hdx_buffer_of(NULL);
    const hdx_cell *c;
    hdx_error       err;
    hdx_buffer_text(&b, "");
    while (hdx_rows_next(rows, &c))
        for (unsigned i = 0; i < 3; i++) {
            put_cell(&b, &c[i]);
            hdx_buffer_text(&b, i == 2 ? "\n" : " ");
        }
    cr_assert(eq(int, hdx_rows_end(rows, &err), HDX_OK), "%s", err.message);
    hdx_rows_close(rows);
    return b;
}

Test(properties, are_arguments_in_their_order_and_maps_by_key)
{
    heap h;
    all_of_them(&h);
    hdx_buffer b = texts_of(ask(&h));
    cr_expect(eq(str, b.at,
                 "argument - -Xmx1g\n"
                 "argument - -Dz=1\n"
                 "system java.version 8\n"
                 "system user.dir \n"
                 "system user.name ada\n"
                 "default java.home /system\n"
                 "saved sun.nio.MaxDirectMemorySize -1\n"
                 "saved user.dir /tmp\n"
                 "environment HOME /home/ada\n"
                 "environment PATH /bin\n"));
    hdx_buffer_free(&b);
    heap_close(&h);
}

/* Properties.getProperty(): the nearest level with a String; a value of another class is passed over. */
Test(properties, of_several_levels_of_defaults_are_those_that_are_found)
{
    static const char *const deep[] = { "mode", "deep", "top", "deep", "zone", "z9", "odd", "text" };
    static const char *const mid[] = { "mode", "mid", "top", "mid" };
    static const char *const top[] = { "top", "1" };
    heap                     h;
    made                     k = made_begin();
    const uint64_t           number = dump_maker_class(k.m, "app.Number", k.object, "");
    const uint64_t           second = properties_of(&k, properties_of(&k, 0, deep, 4), mid, 2);
    uint64_t                 all[2] = { 0 };
    all[0] = dump_maker_instance(
        k.m, k.entry,
        DUMP_VALUES(0, dump_maker_string(k.m, k.string, "odd"), dump_maker_instance(k.m, number, NULL), 0));
    const uint64_t odd =
        dump_maker_instance(k.m, k.properties, DUMP_VALUES(second, 1, dump_maker_array(k.m, k.entries, all, 2)));
    dump_maker_static(k.m, "props", 'L', properties_of(&k, odd, top, 1));
    dump_maker_root(k.m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(k.m, "java.lang.System", k.object, ""), 0, 0);
    heap_open(&h, k.m);
    hdx_buffer b = texts_of(ask(&h));
    cr_expect(eq(str, b.at,
                 "system top 1\n"
                 "default mode mid\n"
                 "default odd -\n"
                 "default odd text\n"
                 "default zone z9\n"));
    hdx_buffer_free(&b);
    heap_close(&h);
}

Test(properties, that_are_not_there_leave_a_word)
{
    heap            h;
    const hdx_cell *c;
    all_of_them(&h);
    hdx_graph_close(h.g);
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    hdx_rows *rows = ask(&h);
    cr_expect(not(hdx_rows_next(rows, &c)));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows), "texts are only in the dump, which is not available"));
    hdx_rows_close(rows);
    heap_close(&h);
    made k = made_begin();
    dump_maker_root(k.m, HDX_SUB_ROOT_STICKY_CLASS, k.object, 0, 0);
    heap_open(&h, k.m);
    rows = ask(&h);
    cr_expect(not(hdx_rows_next(rows, &c)));
    cr_expect(strstr(hdx_rows_empty_reason(rows), "no map of system properties") != NULL);
    hdx_rows_close(rows);
    heap_close(&h);
}

/* Properties whose defaults are themselves, and of a class without a layout. */
static void take_notice(void *context, const char *line) { hdx_buffer_text(context, line); }

Test(properties, of_rings_and_unknown_layouts_end)
{
    static const char *const one[] = { "a", "b" };
    heap                     h;
    hdx_buffer               told = hdx_buffer_of(NULL);
    made                     k = made_begin();
    const uint64_t           at = k.m->next_id + 0x10000;
    const uint64_t           key = dump_maker_string(k.m, k.string, one[0]);
    const uint64_t           value = dump_maker_string(k.m, k.string, one[1]);
    const uint64_t           entry = dump_maker_instance(k.m, k.entry, DUMP_VALUES(0, key, value, 0));
    const uint64_t           all[1] = { entry };
    dump_maker_instance_at(k.m, at, k.properties, DUMP_VALUES(at, 1, dump_maker_array(k.m, k.entries, all, 1)));
    dump_maker_static(k.m, "props", 'L', at);
    dump_maker_root(k.m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(k.m, "java.lang.System", k.object, ""), 0, 0);
    dump_maker_static(k.m, "theEnvironment", 'L', dump_maker_instance_at(k.m, at + 64, k.object, NULL));
    dump_maker_root(k.m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(k.m, "java.lang.ProcessEnvironment", k.object, ""),
                    0, 0);
    heap_open(&h, k.m);
    h.q.notice = take_notice;
    h.q.notice_context = &told;
    hdx_rows       *rows = ask(&h);
    const hdx_cell *c;
    unsigned        seen = 0;
    for (; hdx_rows_next(rows, &c); seen++)
        cr_expect(hdx_text_is(c[1].as.text, "a"));
    hdx_rows_close(rows);
    cr_expect(eq(uint, seen, 1));
    cr_expect(eq(str, told.at, "variables of the environment are incomplete: unknown layout"));
    hdx_buffer_free(&told);
    heap_close(&h);
}

/* ---- reference dumps ---- */

/* "java_version": "11.0.13+8" of the truth beside a dump. */
static bool truth_of(const char *dump, const char *key, char *out, size_t room)
{
    char  path[1100], line[512], want[64];
    bool  found = false;
    FILE *f;
    (void)snprintf(path, sizeof path, "%.*s.truth.json", (int)(strlen(dump) - 9), dump);
    (void)snprintf(want, sizeof want, "\"%s\": \"", key);
    if ((f = fopen(path, "r")) == NULL)
        return false;
    while (!found && fgets(line, sizeof line, f) != NULL) {
        const char *at = strstr(line, want);
        if ((found = at != NULL))
            (void)snprintf(out, room, "%.*s", (int)strcspn(at + strlen(want), "\""), at + strlen(want));
    }
    (void)fclose(f);
    return found;
}

Test(properties, of_reference_dumps_have_the_version_their_maker_says, .timeout = 600)
{
    golden_dumps d;
    unsigned     compared = 0, arguments = 0, variables = 0;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (golden_next(&d)) {
        heap             h = { 0 };
        hdx_index_report report;
        char             version[128], line[200];
        test_folder_make(h.folder, "properties");
        const hdx_index_options options = { .dump = d.path, .index_dir = h.folder, .threads = 2 };
        ok(hdx_index_build(&options, &report, &h.err));
        ok(hdx_graph_open(report.path, d.path, &h.g, &h.err));
        h.q = (hdx_query){ .graph = h.g, .threads = 2 };
        hdx_buffer b = texts_of(ask(&h));
        cr_expect(strstr(d.path, "dialer") != NULL || strstr(b.at, " java.v") != NULL, "%s", d.path);
        if (truth_of(d.path, "java_version", version, sizeof version)) {
            (void)snprintf(line, sizeof line, "\nsystem java.runtime.version %s\n", version);
            cr_expect(strstr(b.at, line) != NULL, "%s: %s", d.path, version);
            compared++;
        }
        arguments += strstr(b.at, "argument - -X") != NULL;
        variables += strstr(b.at, "\nenvironment HOME /") != NULL && strstr(b.at, "\nenvironment PATH /") != NULL;
        hdx_buffer_free(&b);
        heap_close(&h);
    }
    cr_expect(compared >= 10 && arguments >= 3 && variables >= 2, "%u %u %u", compared, arguments, variables);
}
