/*
 * label.c - MAT's label of an object: the rule of the most derived class that has one applies (MAT 10.4).
 *
 * In:  an object.
 * Out: a line of text, or none.
 * This file maps classes to rules; label_kinds.c contains the rules.
 * Cost: a few fields of a few objects. The number of objects that a label reads is limited (label.h), because objects
 *       can refer to each other in cycles.
 */
#include "graph/label.h"

#include <stdlib.h>

typedef struct rule {
    const char *class; /* sort key */
    hdx_label_rule *make;
    const char     *detail;
} rule;

static const rule rules[] = {
    { "com.ibm.icu.impl.locale.BaseLocale", hdx_label_base_locale, "_" },
    { "com.ibm.icu.util.ULocale", hdx_label_ulocale, NULL },
    { "java.awt.Point", hdx_label_numbers, "x,y" },
    { "java.awt.Rectangle", hdx_label_numbers, "x,y,width,height" },
    { "java.lang.Boolean", hdx_label_value, NULL },
    { "java.lang.Byte", hdx_label_value, NULL },
    { "java.lang.Character", hdx_label_value, NULL },
    { "java.lang.Class", hdx_label_field, "name" }, /* int.class and such (MAT 1.4); class objects have no label */
    { "java.lang.Double", hdx_label_value, NULL },
    { "java.lang.Enum", hdx_label_field, "name" },
    { "java.lang.Float", hdx_label_value, NULL },
    { "java.lang.Integer", hdx_label_value, NULL },
    { "java.lang.Long", hdx_label_value, NULL },
    { "java.lang.Module", hdx_label_field, "name" },
    { "java.lang.Package", hdx_label_field, "name" },
    { "java.lang.ProcessEnvironment$ExternalData", hdx_label_field, "str" },
    { "java.lang.Short", hdx_label_value, NULL },
    { "java.lang.StackTraceElement", hdx_label_frame, NULL },
    { "java.lang.String", hdx_label_string, NULL },
    { "java.lang.StringBuffer", hdx_label_builder, NULL },
    { "java.lang.StringBuilder", hdx_label_builder, NULL },
    { "java.lang.Thread", hdx_label_field, "name" },
    { "java.lang.ThreadGroup", hdx_label_field, "name" },
    { "java.lang.invoke.MemberName", hdx_label_member_name, NULL },
    { "java.lang.reflect.AccessibleObject", hdx_label_member, "c" },
    { "java.lang.reflect.Constructor", hdx_label_member, "c()" },
    { "java.lang.reflect.Field", hdx_label_member, "type n" },
    { "java.lang.reflect.Method", hdx_label_member, "returnType n()" },
    { "java.math.BigDecimal", hdx_label_big_decimal, NULL },
    { "java.math.BigInteger", hdx_label_big_integer, NULL },
    { "java.net.Inet6Address", hdx_label_field, "holder6" },
    { "java.net.Inet6Address$Inet6AddressHolder", hdx_label_inet6, NULL },
    { "java.net.InetAddress", hdx_label_field, "holder" },
    { "java.net.InetAddress$InetAddressHolder", hdx_label_inet4, NULL },
    { "java.net.InetSocketAddress", hdx_label_field, "holder" },
    { "java.net.InetSocketAddress$InetSocketAddressHolder", hdx_label_socket_address, NULL },
    { "java.net.URI", hdx_label_uri, NULL },
    { "java.net.URL", hdx_label_url, NULL },
    { "java.util.Locale", hdx_label_locale, NULL },
    { "java.util.concurrent.atomic.AtomicBoolean", hdx_label_flag, NULL },
    { "java.util.concurrent.atomic.AtomicInteger", hdx_label_value, NULL },
    { "java.util.concurrent.atomic.AtomicLong", hdx_label_value, NULL },
    { "java.util.concurrent.atomic.AtomicReference", hdx_label_field, "value" },
    { "java.util.concurrent.atomic.AtomicStampedReference", hdx_label_field, "pair.reference" },
    { "java.util.concurrent.atomic.DoubleAdder", hdx_label_adder, "double" },
    { "java.util.concurrent.atomic.LongAdder", hdx_label_adder, "long" },
    { "org.eclipse.core.runtime.adaptor.EclipseClassLoader", hdx_label_field, "hostdata.symbolicName" },
    { "org.eclipse.equinox.launcher.Main$StartupClassLoader", hdx_label_constant, "Equinox Startup Class Loader" },
    { "org.eclipse.osgi.internal.baseadaptor.DefaultClassLoader", hdx_label_field, "manager.data.symbolicName" },
    { "org.eclipse.osgi.internal.loader.EquinoxClassLoader", hdx_label_field, "generation.revision.symbolicName" },
    { "org.eclipse.swt.graphics.Point", hdx_label_numbers, "x,y" },
    { "org.eclipse.swt.graphics.RGB", hdx_label_numbers, "red,green,blue" },
    { "org.eclipse.swt.graphics.Rectangle", hdx_label_numbers, "x,y,width,height" },
    { "org.mortbay.jetty.webapp.WebAppClassLoader", hdx_label_webapp, NULL },
    { "org.osgi.framework.Version", hdx_label_version, NULL },
    { "sun.nio.ch.SocketChannelImpl", hdx_label_channel, NULL },
    { "sun.util.locale.BaseLocale", hdx_label_base_locale, "" },
};

static int compare(const void *name, const void *row)
{
    const hdx_text *t = name;
    const char *class = ((const rule *)row)->class;
    size_t len = strlen(class);
    int    c = memcmp(t->at, class, hdx_least(t->len, len));
    return c != 0 ? c : hdx_order(t->len, len);
}

#define RULES (sizeof rules / sizeof *rules)
enum { UNKNOWN, NONE, FIRST_RULE }; /* hdx_class_table.rules */
_Static_assert(RULES + FIRST_RULE <= UINT8_MAX, "a rule is a byte");

/* Returns the rule of the nearest class that has one. Each chain of superclasses is walked once. */
static const rule *rule_of(const hdx_class_table *t, uint32_t number)
{
    uint8_t  found = UNKNOWN;
    uint32_t c = number;
    for (; c != HDX_NO_CLASS && (found = __atomic_load_n(&t->rules[c], __ATOMIC_RELAXED)) == UNKNOWN;
         c = t->at[c].super) {
        hdx_text    name = t->at[c].name;
        const rule *r = name.len == 0 ? NULL : bsearch(&name, rules, RULES, sizeof *rules, compare);
        if (r != NULL) {
            found = (uint8_t)(FIRST_RULE + (r - rules));
            break;
        }
    }
    found = found == UNKNOWN ? NONE : found;
    for (c = number; c != HDX_NO_CLASS && __atomic_load_n(&t->rules[c], __ATOMIC_RELAXED) == UNKNOWN;
         c = t->at[c].super) {
        __atomic_store_n(&t->rules[c], found, __ATOMIC_RELAXED);
        if (found >= FIRST_RULE && hdx_text_is(t->at[c].name, rules[found - FIRST_RULE].class))
            break; /* classes above have another result */
    }
    return found >= FIRST_RULE ? &rules[found - FIRST_RULE] : NULL;
}

hdx_code hdx_label_units(hdx_labels *l, const hdx_chars *c, bool dots, uint64_t *read)
{
    const bool     whole = l->whole != HDX_CUT;
    const uint64_t most = whole || c->units < HDX_LABEL_CHARS ? c->units : HDX_LABEL_CHARS;
    uint16_t       units[HDX_LABEL_CHARS], high = 0;
    unsigned       got = HDX_LABEL_CHARS;
    for (*read = 0; *read < most && got == HDX_LABEL_CHARS; *read += got) {
        const uint64_t left = most - *read;
        const unsigned now = left < HDX_LABEL_CHARS ? (unsigned)left : HDX_LABEL_CHARS;
        hdx_code       code = hdx_chars_read(c, *read, now, units, &got, l->err);
        if (code != HDX_OK)
            return code;
        for (unsigned i = 0; dots && i < got; i++)
            if (units[i] < 0x20 || units[i] > 0x7e)
                units[i] = '.';
        hdx_put_label_part(l->out, units, got, &high);
        if (l->out->failed)
            return hdx_no_memory(l->err, "a label", l->out->len);
        if (l->progress != NULL && l->progress->cancelled != NULL && l->progress->cancelled(l->progress->context))
            return hdx_tick_stop(l->err);
        if (whole && l->out->len > HDX_LABEL_WHOLE)
            return hdx_hint(l->err,
                            hdx_fail(l->err, HDX_LIMIT, "", HDX_NOWHERE,
                                     "the text of object 0x%llx exceeds 4 GiB, the limit of a row",
                                     (unsigned long long)c->array.event.addr),
                            "write it to a file with heapdex object DUMP OBJECT --text -o FILE");
    }
    hdx_put_utf8_end(l->out, &high);
    return HDX_OK;
}

/*
 * char[] and byte[]: the first 1024 elements, unless all of them are zero; char[] as text, byte[] with a dot for each
 * unprintable character.
 */
static hdx_code array_label(hdx_labels *l, hdx_id id, uint8_t element, bool *some)
{
    uint16_t  units[HDX_LABEL_CHARS];
    unsigned  got, zeros = 0;
    bool      there;
    hdx_chars c = { .coding = element == 5 ? HDX_CHARS_BE : HDX_LATIN1, .units = hdx_graph_length(l->g, id) };
    hdx_code  code = hdx_graph_record(l->g, id, &c.array, &there, l->err);
    if (code != HDX_OK || !there)
        return code;
    if ((code = hdx_chars_read(&c, 0, HDX_LABEL_CHARS, units, &got, l->err)) != HDX_OK)
        return code;
    while (zeros < got && units[zeros] == 0)
        zeros++;
    if (zeros == got)
        return HDX_OK;
    *some = true;
    uint64_t        read;
    const hdx_whole whole = l->whole;
    l->whole = whole == HDX_WHOLE_TEXTS ? HDX_CUT : whole; /* an array may contain a text: use MAT's label */
    code = hdx_label_units(l, &c, element == 8, &read);
    if (code == HDX_OK && element == 5 && l->whole == HDX_CUT && c.units > HDX_LABEL_CHARS)
        hdx_buffer_text(l->out, "...");
    l->whole = whole;
    return code;
}

static hdx_code make(hdx_labels *l, hdx_id id, bool *some)
{
    hdx_code               code;
    hdx_instance           i;
    bool                   there;
    const hdx_class_table *t = hdx_graph_class_table(l->g);
    uint32_t               number = t != NULL ? hdx_graph_class_of(l->g, id) : HDX_NO_CLASS;
    if (number == HDX_NO_CLASS)
        return HDX_OK;
    if (id == 0 && hdx_graph_address(l->g, id) == 0) {
        *some = true;
        hdx_buffer_text(l->out, "<system class loader>");
        return HDX_OK;
    }
    const hdx_class *c = &t->at[number];
    if ((c->kind == HDX_PRIMITIVE_ARRAY && c->element_type == 5) || hdx_class_of_bytes(c))
        return array_label(l, id, c->element_type, some);
    if (c->kind != HDX_INSTANCE || (t->mirror[number] && hdx_class_of_object(t, id) != NULL))
        return HDX_OK;
    const rule *r = rule_of(t, number);
    if (r == NULL)
        return HDX_OK;
    if ((code = hdx_instance_open(l->g, id, &i, &there, l->err)) != HDX_OK || !there || !hdx_instance_as(&i, r->class))
        return code;
    return r->make(l, &i, r->detail, some);
}

hdx_code hdx_label_append(hdx_labels *l, hdx_id id, bool *some)
{
    uint64_t before = l->out->len;
    hdx_code code = HDX_OK;
    *some = false;
    if (l->depth < HDX_LABEL_DEPTH && l->steps < HDX_LABEL_STEPS) {
        l->depth++;
        l->steps++;
        code = make(l, id, some);
        l->depth--;
    }
    if (l->out->len > l->most)
        *some = false;
    if (!*some && l->out->at != NULL) {
        l->out->len = before;
        l->out->at[before] = '\0';
    }
    return code;
}

hdx_code hdx_graph_label(hdx_graph *g, hdx_id id, char **text, hdx_error *err)
{
    hdx_buffer out = hdx_buffer_of(NULL);
    hdx_labels l = { .g = g, .out = &out, .err = err, .most = HDX_LABEL_BYTES };
    bool       some;
    *text = NULL;
    hdx_buffer_put(&out, "", 0);
    hdx_code code = hdx_label_append(&l, id, &some);
    if (code == HDX_OK && out.failed) {
        code = hdx_no_memory(err, "a label", out.len);
    } else if (code == HDX_OK && some) {
        *text = malloc((size_t)out.len + 1);
        if (*text == NULL)
            code = hdx_no_memory(err, "a label", out.len + 1);
        else
            memcpy(*text, out.at, (size_t)out.len + 1);
    }
    hdx_buffer_free(&out);
    return code;
}

hdx_code hdx_graph_whole_label(hdx_graph *g, hdx_id id, hdx_whole whole, const hdx_progress *progress, hdx_buffer *out,
                               bool *some, hdx_error *err)
{
    hdx_labels l = { .g = g, .out = out, .err = err, .whole = whole, .most = HDX_LABEL_WHOLE, .progress = progress };
    hdx_buffer_put(out, "", 0);
    hdx_code code = hdx_label_append(&l, id, some);
    return code == HDX_OK && out->failed ? hdx_no_memory(err, "a label", out->len) : code;
}

#define MANY 32u /* labels to read; some of the objects are near each other in the dump */

typedef struct place {
    hdx_pos at;
    size_t  number;
} place;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return hdx_order(x->at, y->at);
}

hdx_code hdx_graph_labels(hdx_graph *g, const hdx_id *ids, size_t n, char **texts, hdx_error *err)
{
    place   *order = hdx_mem_array(NULL, n, sizeof *order);
    hdx_code code = HDX_OK;
    memset(texts, 0, n * sizeof *texts);
    if (order == NULL)
        return hdx_no_memory(err, "the order of labels", n * sizeof *order);
    for (size_t i = 0; i < n; i++) {
        order[i].number = i;
        (void)hdx_graph_position(g, ids[i],
                                 &order[i].at); /* objects without a record rarely have a label: any position will do */
    }
    qsort(order, n, sizeof *order, by_place);
    hdx_source *source;
    hdx_near   *near = n >= MANY && hdx_graph_source(g, &source, NULL) == HDX_OK ? hdx_near_begin(source) : NULL;
    for (size_t i = 0; i < n && code == HDX_OK; i++)
        code = hdx_graph_label(g, ids[order[i].number], &texts[order[i].number], err);
    hdx_near_end(near);
    for (size_t i = 0; i < n && code != HDX_OK; i++) {
        hdx_text_free(texts[i]);
        texts[i] = NULL;
    }
    hdx_mem_put(NULL, order, n * sizeof *order);
    return code;
}
