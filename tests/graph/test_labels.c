/*
 * test_labels.c - labels of objects of every class that has a rule, their fields filled at random by a seed: texts,
 * nulls, numbers at their ends, references to the right and to the wrong kinds of objects and to none. labels.txt has
 * the checksums (support/checksums.h).
 */
#include "base/base.h"
#include "support/checksums.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include "support/refusing.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>

enum { FIELDS = 80, POOL = 4096, EACH = 60 };

/* Every name that a rule looks for, with the type it has in the JDK; `value` has that of the class. */
static const char fields[] =
    "value:L base:J cells:L count:I coder:B name:L str:L string:L hostName:L address:I "
    "ipaddress:L scope_id:I scope_id_set:Z addr:L host:L port:I state:I localAddress:L "
    "remoteAddress:L parameterTypes:L modifiers:I clazz:L returnType:L type:L declaringClass:L "
    "methodName:L fileName:L lineNumber:I baseLocale:L language:L script:L region:L variant:L "
    "languageTag:L locale:L localeID:L versionString:L major:I minor:I micro:I qualifier:L "
    "_name:L _context:L sign:I signum:I mag:L digits:L intVal:L intCompact:J intLong:L "
    "smallValue:J scale:I precision:I protocol:L authority:L path:L query:L ref:L scheme:L "
    "holder:L holder6:L pair:L reference:L x:I y:I width:I height:I red:I green:I blue:I "
    "hostdata:L manager:L data:L generation:L revision:L symbolicName:L";

static const struct {
    const char *name;
    char        value; /* the type of the field `value` */
} classes[] = {
    { "com.ibm.icu.impl.locale.BaseLocale", 'L' },
    { "com.ibm.icu.util.ULocale", 'L' },
    { "java.awt.Point", 'I' },
    { "java.awt.Rectangle", 'I' },
    { "java.lang.Boolean", 'Z' },
    { "java.lang.Byte", 'B' },
    { "java.lang.Character", 'C' },
    { "java.lang.Double", 'D' },
    { "java.lang.Enum", 'L' },
    { "java.lang.Float", 'F' },
    { "java.lang.Integer", 'I' },
    { "java.lang.Long", 'J' },
    { "java.lang.Module", 'L' },
    { "java.lang.Package", 'L' },
    { "java.lang.ProcessEnvironment$ExternalData", 'L' },
    { "java.lang.Short", 'S' },
    { "java.lang.StackTraceElement", 'L' },
    { "java.lang.StringBuffer", 'L' },
    { "java.lang.StringBuilder", 'L' },
    { "java.lang.Thread", 'L' },
    { "java.lang.ThreadGroup", 'L' },
    { "java.lang.invoke.MemberName", 'L' },
    { "java.lang.reflect.AccessibleObject", 'L' },
    { "java.lang.reflect.Constructor", 'L' },
    { "java.lang.reflect.Field", 'L' },
    { "java.lang.reflect.Method", 'L' },
    { "java.math.BigDecimal", 'L' },
    { "java.math.BigInteger", 'L' },
    { "java.net.Inet6Address", 'L' },
    { "java.net.Inet6Address$Inet6AddressHolder", 'L' },
    { "java.net.InetAddress", 'L' },
    { "java.net.InetAddress$InetAddressHolder", 'L' },
    { "java.net.InetSocketAddress", 'L' },
    { "java.net.InetSocketAddress$InetSocketAddressHolder", 'L' },
    { "java.net.URI", 'L' },
    { "java.net.URL", 'L' },
    { "java.util.Locale", 'L' },
    { "java.util.concurrent.atomic.AtomicBoolean", 'I' },
    { "java.util.concurrent.atomic.AtomicInteger", 'I' },
    { "java.util.concurrent.atomic.AtomicLong", 'J' },
    { "java.util.concurrent.atomic.AtomicReference", 'L' },
    { "java.util.concurrent.atomic.AtomicStampedReference", 'L' },
    { "java.util.concurrent.atomic.DoubleAdder", 'J' },
    { "java.util.concurrent.atomic.LongAdder", 'J' },
    { "org.eclipse.core.runtime.adaptor.EclipseClassLoader", 'L' },
    { "org.eclipse.equinox.launcher.Main$StartupClassLoader", 'L' },
    { "org.eclipse.osgi.internal.baseadaptor.DefaultClassLoader", 'L' },
    { "org.eclipse.osgi.internal.loader.EquinoxClassLoader", 'L' },
    { "org.eclipse.swt.graphics.Point", 'L' },
    { "org.eclipse.swt.graphics.RGB", 'I' },
    { "org.eclipse.swt.graphics.Rectangle", 'L' },
    { "org.mortbay.jetty.webapp.WebAppClassLoader", 'L' },
    { "org.osgi.framework.Version", 'L' },
    { "sun.nio.ch.SocketChannelImpl", 'I' },
    { "sun.util.locale.BaseLocale", 'L' },
};
enum { CLASSES = sizeof classes / sizeof *classes };

typedef struct maker {
    dump_maker *m;
    uint64_t    state;
    uint64_t    ids[CLASSES], objects[POOL], texts[16], bytes[6], ints[6], cells[4];
    uint64_t    far[CLASSES]; /* subclasses with so many fields that those above them are not read at once; 0: none */
    unsigned    object_count;
    struct {
        char     types[FIELDS + 16];
        char     names[FIELDS + 16][24];
        unsigned count;
    } of[CLASSES]; /* fields of each class */
} maker;

static uint64_t roll(maker *k, uint64_t n) { return (k->state = hdx_mix64(k->state)) % n; }

static uint64_t reference(maker *k, const char *field)
{
    const uint64_t r = roll(k, 100);
    if (r < 12)
        return 0;
    if (r < 15)
        return 0xdead0;
    if (r < 24 && k->object_count > 0)
        return k->objects[roll(k, k->object_count)];
    if (strcmp(field, "ipaddress") == 0 || strcmp(field, "value") == 0)
        return k->bytes[roll(k, 6)];
    if (strcmp(field, "mag") == 0 || strcmp(field, "digits") == 0)
        return k->ints[roll(k, 6)];
    if (strcmp(field, "cells") == 0 || strcmp(field, "parameterTypes") == 0)
        return k->cells[roll(k, 4)];
    if (strcmp(field, "clazz") == 0 || strcmp(field, "type") == 0 || strcmp(field, "returnType") == 0)
        return k->ids[roll(k, CLASSES)];
    if (strncmp(field, "holder", 6) == 0 || strcmp(field, "pair") == 0 || strcmp(field, "addr") == 0 ||
        strcmp(field, "manager") == 0 || strcmp(field, "data") == 0 || strcmp(field, "revision") == 0 ||
        strcmp(field, "generation") == 0 || strcmp(field, "hostdata") == 0 || strcmp(field, "baseLocale") == 0 ||
        strcmp(field, "intVal") == 0 || strcmp(field, "localAddress") == 0)
        return k->object_count == 0 ? 0 : k->objects[roll(k, k->object_count)];
    return k->texts[roll(k, 16)];
}

static uint64_t value(maker *k, unsigned c, unsigned field)
{
    static const uint64_t ends[] = { 0, 1, 2, 3, 9, 80, 127, 128, 255, 1000, 0x7fffffff, 0x80000000, 0xffffffff };
    if (k->of[c].types[field] == 'L')
        return reference(k, k->of[c].names[field]);
    if (k->of[c].types[field] == 'J' && roll(k, 3) == 0)
        return roll(k, 2) == 0 ? 1ull << 63 : roll(k, UINT64_MAX);
    if (k->of[c].types[field] == 'D')
        return roll(k, 3) == 0 ? 0x3ff8000000000000 : roll(k, UINT64_MAX);
    return k->of[c].types[field] == 'Z' ? roll(k, 2) : roll(k, 3) == 0 ? roll(k, 40) : ends[roll(k, 13)];
}

/* "a:L b:I" taken apart, with the type of `value`; odd: one field less and two of other types. */
static void take_fields(maker *k, unsigned c, bool odd, char *text, size_t room)
{
    const uint64_t gone = odd ? roll(k, 60) : UINT64_MAX, other = odd ? roll(k, 60) : UINT64_MAX;
    uint64_t       place = 0;
    size_t         used = 0;
    for (const char *at = fields; *at != '\0'; place++) {
        const size_t len = strcspn(at, ":");
        char        *name = k->of[c].names[k->of[c].count], type = at[len + 1];
        (void)snprintf(name, sizeof k->of[c].names[0], "%.*s", (int)len, at);
        at += len + 2;
        at += *at == ' ';
        if (place == gone)
            continue;
        if (place == 0)
            type = classes[c].value;
        if (place == other)
            type = type == 'L' ? 'I' : 'L';
        used += (size_t)snprintf(text + used, room - used, "%s%s:%c", used == 0 ? "" : " ", name, type);
        k->of[c].types[k->of[c].count++] = type;
    }
}

static void make_pools(maker *k, uint64_t object, uint64_t string, uint64_t array)
{
    static const char *const texts[] = { "",           "main",   "localhost", "10.0.0.1",
                                         "/shop/cart", "https",  "a:b",       "en",
                                         "US",         "POSIX",  "x=1&y=2",   "user@host",
                                         "1.2.3",      "<init>", "#top",      "a \"text\"\n with much in it" };
    static const uint64_t    numbers[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 168, 0, 1, 7, 9 };
    for (unsigned i = 0; i < 16; i++)
        k->texts[i] = dump_maker_string(k->m, string, texts[i]);
    k->bytes[0] = dump_maker_primitives(k->m, 'B', numbers, 16);
    k->bytes[1] = dump_maker_primitives(k->m, 'B', numbers + 12, 4);
    k->bytes[2] = dump_maker_primitives(k->m, 'B', numbers + 2, 16);
    k->bytes[3] = dump_maker_primitives(k->m, 'B', numbers, 3);
    k->bytes[4] = dump_maker_primitives(k->m, 'C', DUMP_VALUES('t', 'e', 'x', 't', 0x20ac), 5);
    k->bytes[5] = dump_maker_primitives(k->m, 'B', DUMP_VALUES('p', 'l', 'a', 'i', 'n', 0), 6);
    k->ints[0] = dump_maker_primitives(k->m, 'I', NULL, 0);
    k->ints[1] = dump_maker_primitives(k->m, 'I', DUMP_VALUES(5), 1);
    k->ints[2] = dump_maker_primitives(k->m, 'I', DUMP_VALUES(1, 0), 2);
    k->ints[3] = dump_maker_primitives(k->m, 'I', DUMP_VALUES(0xffffffff, 0x12345678, 0xdeadbeef), 3);
    k->ints[4] = dump_maker_primitives(k->m, 'I', NULL, 2);
    k->ints[5] = dump_maker_primitives(k->m, 'J', DUMP_VALUES(77), 1);
    const uint64_t cell = dump_maker_class(k->m, "java.util.concurrent.atomic.Striped64$Cell", object, "value:J");
    const uint64_t one = dump_maker_instance(k->m, cell, DUMP_VALUES(40)),
                   two = dump_maker_instance(k->m, cell, DUMP_VALUES(0x4000000000000000));
    k->cells[0] = dump_maker_array(k->m, array, DUMP_VALUES(one, 0, two), 3);
    k->cells[1] = dump_maker_array(k->m, array, NULL, 0);
    const uint64_t other = dump_maker_class(k->m, "app.Cell", object, "value:J");
    k->cells[2] = dump_maker_array(
        k->m, array, DUMP_VALUES(one, k->texts[1], dump_maker_instance(k->m, other, DUMP_VALUES(500))), 3);
    k->cells[3] = dump_maker_array(k->m, array, DUMP_VALUES(0xdead0, object, string), 3);
}

enum { AWAY = 70 }; /* longs that a subclass has before the fields of a rule */

static void make_far(maker *k, unsigned c)
{
    char   name[24], text[1024];
    size_t used = 0;
    for (unsigned i = 0; i < AWAY; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sp%u:J", i == 0 ? "" : " ", i);
    (void)snprintf(name, sizeof name, "app.Far%u", c);
    k->far[c] = dump_maker_class(k->m, name, k->ids[c], text);
}

static void make_all(maker *k, bool odd, bool far)
{
    static const char *const states[] = { "ST_UNCONNECTED", "ST_PENDING", "ST_CONNECTED", "ST_KILLED" };
    char                     text[2048];
    const uint64_t           object = dump_maker_class(k->m, "java.lang.Object", 0, "");
    (void)dump_maker_class(k->m, "java.lang.Class", object, "name:L");
    (void)dump_maker_class(k->m, "java.lang.ClassLoader", object, "parent:L");
    const uint64_t string = dump_maker_class(k->m, "java.lang.String", object, "value:L coder:B hash:I");
    (void)dump_maker_class(k->m, "[B", object, "");
    make_pools(k, object, string, dump_maker_class(k->m, "[Ljava/lang/Object;", object, ""));
    for (unsigned c = 0; c < CLASSES; c++) {
        take_fields(k, c, odd, text, sizeof text);
        for (unsigned s = 0; s < 4 && strstr(classes[c].name, "Channel") != NULL; s++)
            dump_maker_static(k->m, states[s], s == 3 ? 'J' : 'I', s);
        k->ids[c] = dump_maker_class(k->m, classes[c].name, object, text);
        if (far)
            make_far(k, c);
    }
    for (unsigned i = 0; i < EACH * CLASSES; i++) {
        const unsigned c = i % CLASSES;
        uint64_t       values[AWAY + FIELDS + 16] = { 0 };
        for (unsigned f = 0; f < k->of[c].count; f++)
            values[(k->far[c] != 0 ? AWAY : 0) + f] = value(k, c, f);
        k->objects[k->object_count++] = dump_maker_instance(k->m, k->far[c] != 0 ? k->far[c] : k->ids[c], values);
    }
}

typedef struct heap {
    char       folder[TEST_FOLDER];
    hdx_graph *g;
} heap;

/* "7 odd narrow far": the seed; classes as no JDK has them; ids of 4 bytes; instances of subclasses. */
static heap heap_of(const char *ask)
{
    char             dump[64], index[64];
    heap             h;
    maker           *k = calloc(1, sizeof *k);
    hdx_index_report report;
    hdx_error        err;
    k->state = strtoull(ask, NULL, 10);
    k->m = dump_maker_new(strstr(ask, "narrow") != NULL ? 4 : 8);
    make_all(k, strstr(ask, "odd") != NULL, strstr(ask, "far") != NULL);
    test_folder_make_fast(h.folder, "labels");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", h.folder);
    (void)snprintf(index, sizeof index, "%s/a.hdx", h.folder);
    dump_maker_save(k->m, dump);
    dump_maker_free(k->m);
    free(k);
    const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(index, dump, &h.g, &err) == HDX_OK, "%s", err.message);
    return h;
}
static void end(heap *h)
{
    hdx_graph_close(h->g);
    test_folder_remove(h->folder);
}

/* Counts the labels. */
static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    heap      h = heap_of(ask);
    hdx_error err;
    uint64_t  labels = 0;
    (void)context;
    for (hdx_id id = 0; id < hdx_graph_objects(h.g); id++) {
        char *text;
        cr_assert(hdx_graph_label(h.g, id, &text, &err) == HDX_OK, "%s", err.message);
        hdx_buffer_format(b, "%llu %s\n", (unsigned long long)id, text == NULL ? "-" : text);
        labels += text != NULL;
        hdx_text_free(text);
    }
    end(&h);
    return labels;
}

Test(labels, of_every_rule_are_what_they_were) { checksums_check(HDX_TREE "/tests/graph/labels.txt", text_of, NULL); }

/* Whichever read and whichever request for memory: no half a label, and the whole one afterwards. */
Test(labels, for_which_something_is_refused_say_so)
{
    heap     h = heap_of("7 far");
    unsigned refusals = 0;
    for (hdx_id id = 0; id < hdx_graph_objects(h.g); id += 3) {
        char     *want, *text;
        hdx_error err;
        cr_assert(hdx_graph_label(h.g, id, &want, &err) == HDX_OK, "%s", err.message);
        for (int memory = 0; memory < 2; memory++)
            for (unsigned n = 1, fired = 1; fired; n++) {
                memory ? refusing_memory(n) : refusing_input(n);
                const hdx_code code = hdx_graph_label(h.g, id, &text, &err);
                fired = refusing_ends();
                cr_assert(code == (!fired   ? HDX_OK
                                   : memory ? HDX_LIMIT
                                            : HDX_IO),
                          "object %llu, %s request %u: %d", (unsigned long long)id, memory ? "memory" : "input", n,
                          (int)code);
                if (fired)
                    cr_assert(text == NULL);
                else
                    cr_assert(want == NULL ? text == NULL : text != NULL && strcmp(text, want) == 0, "object %llu",
                              (unsigned long long)id);
                hdx_text_free(text);
                refusals += fired;
            }
        hdx_text_free(want);
    }
    cr_expect(refusals > 5000, "%u", refusals);
    end(&h);
}
