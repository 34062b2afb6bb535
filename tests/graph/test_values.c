/* test_values.c - values, texts, labels and names of references, read out of a dump made for it. */
#include "graph/little_index.h"

static char *label(little *l, uint64_t addr)
{
    static char text[8192];
    char       *made;
    hdx_error   err;
    hdx_code    code = hdx_graph_label(l->g, little_find(l, addr), &made, &err);
    cr_assert(eq(int, code, HDX_OK), "%s", err.message);
    (void)snprintf(text, sizeof text, "%s", made != NULL ? made : "(none)");
    hdx_text_free(made);
    return text;
}

typedef struct texts {
    little  *l;
    uint64_t string; /* the class of JDK 9 on */
} texts;

static texts begin(void)
{
    texts t = { .l = little_new() };
    t.string = little_class(t.l, "java.lang.String", t.l->object, "hash:I value:L coder:B");
    return t;
}

static uint64_t string(texts *t, const char *text)
{
    return little_instance(t->l, t->string, DUMP_VALUES(0, little_text(t->l, 'B', text), 0));
}

/* One instance of a class made for it. */
static uint64_t one(texts *t, const char *class, const char *fields, const uint64_t *values)
{
    return little_instance(t->l, little_class(t->l, class, t->l->object, fields), values);
}

static void open_all(texts *t)
{
    little_root(t->l, HDX_ROOT_SYSTEM_CLASS, t->l->object, 0);
    little_open(t->l);
}

Test(values, of_fields_come_most_derived_first)
{
    texts      t = begin();
    hdx_values v = { 0 };
    hdx_value  one_value;
    bool       found;
    hdx_error  err;
    uint64_t   base = little_class(t.l, "app.Base", t.l->object, "stamp:J flag:Z");
    uint64_t   node = little_class(t.l, "app.Node", base, "next:L count:I small:S letter:C half:F whole:D tiny:B");
    uint64_t   a = little_instance(
          t.l, node, DUMP_VALUES(0x1000, 0xfffffffe, 0x8000, 'x', 0x3f000000, 0x4000000000000000, 0x80, 77, 1));
    open_all(&t);
    cr_assert(eq(int, hdx_graph_fields(t.l->g, little_find(t.l, a), &v, &err), HDX_OK));
    cr_assert(eq(u64, v.count, 9));
    cr_expect(hdx_text_is(v.at[0].name, "next") && v.at[0].value.as.address == 0x1000);
    cr_expect(eq(i64, v.at[1].value.as.integer, -2));
    cr_expect(eq(i64, v.at[2].value.as.integer, -32768));
    cr_expect(eq(u16, v.at[3].value.as.character, 'x'));
    cr_expect(eq(flt, v.at[4].value.as.single, 0.5f));
    cr_expect(eq(dbl, v.at[5].value.as.real, 2.0));
    cr_expect(eq(i64, v.at[6].value.as.integer, -128));
    cr_expect(eq(i64, v.at[7].value.as.integer, 77));
    cr_expect(v.at[8].value.as.boolean);
    cr_expect(eq(u32, v.at[7].owner, hdx_graph_class_named(t.l->g, "app.Base")->number));
    cr_assert(eq(int, hdx_graph_field(t.l->g, little_find(t.l, a), NULL, "stamp", &one_value, &found, &err), HDX_OK));
    cr_expect(found && one_value.as.integer == 77);
    cr_assert(eq(int, hdx_graph_field(t.l->g, little_find(t.l, a), NULL, "stamps", &one_value, &found, &err), HDX_OK));
    cr_expect(not(found));
    cr_assert(eq(int, hdx_graph_fields(t.l->g, 0, &v, &err), HDX_OK)); /* the boot loader has no record */
    cr_expect(eq(u64, v.count, 0));
    hdx_values_free(&v);
    little_close(t.l);
}

Test(values, of_statics_and_elements)
{
    texts      t = begin();
    hdx_values v = { 0 };
    hdx_error  err;
    little_static(t.l, "limit", 'I', 12);
    little_static(t.l, "self", 'L', 0x1000);
    uint64_t class = little_class(t.l, "app.Constants", t.l->object, "");
    uint64_t ints = little_primitives(t.l, 'I', DUMP_VALUES(1, 2, 0xffffffff), 3);
    uint64_t refs = little_array(t.l, t.l->objects, DUMP_VALUES(0, ints), 2);
    open_all(&t);
    cr_assert(eq(int, hdx_graph_statics(t.l->g, little_find(t.l, class), &v, &err), HDX_OK));
    cr_assert(eq(u64, v.count, 2));
    cr_expect(hdx_text_is(v.at[0].name, "limit") && v.at[0].value.as.integer == 12);
    cr_expect(v.at[1].value.type == 2 && v.at[1].value.as.address == 0x1000);
    cr_assert(eq(int, hdx_graph_elements(t.l->g, little_find(t.l, ints), 1, 100, &v, &err), HDX_OK));
    cr_assert(eq(u64, v.count, 2));
    cr_expect(eq(i64, v.at[1].value.as.integer, -1));
    cr_assert(eq(int, hdx_graph_elements(t.l->g, little_find(t.l, refs), 0, UINT64_MAX, &v, &err), HDX_OK));
    cr_expect(v.count == 2 && v.at[1].value.as.address == ints);
    cr_assert(eq(int, hdx_graph_elements(t.l->g, little_find(t.l, refs), 2, 1, &v, &err), HDX_OK));
    cr_expect(eq(u64, v.count, 0));
    hdx_values_free(&v);
    little_close(t.l);
}

Test(values, need_the_dump_and_say_so)
{
    texts      t = begin();
    hdx_values v = { 0 };
    hdx_graph *alone;
    hdx_error  err;
    uint64_t   s = string(&t, "text");
    open_all(&t);
    cr_assert(eq(int, hdx_graph_open(t.l->index, NULL, &alone, &err), HDX_OK));
    cr_expect(eq(int, hdx_graph_fields(alone, little_find(t.l, s), &v, &err), HDX_BAD_DUMP));
    cr_expect(err.hint[0] != '\0');
    hdx_graph_close(alone);
    cr_assert(eq(int, hdx_graph_open(t.l->index, "/nonexistent.hprof", &alone, &err), HDX_OK));
    cr_expect(eq(int, hdx_graph_fields(alone, little_find(t.l, s), &v, &err), HDX_BAD_DUMP));
    hdx_graph_close(alone);
    hdx_values_free(&v);
    little_close(t.l);
}

Test(values, of_a_dump_that_changed_are_refused)
{
    texts      t = begin();
    hdx_values v = { 0 };
    hdx_error  err;
    size_t     len;
    uint64_t   s = string(&t, "text");
    open_all(&t);
    uint8_t       *bytes = malloc(1 << 20);
    const uint8_t *now = dump_maker_bytes(t.l->m, &len);
    memcpy(bytes, now, len);
    bytes[dump_maker_heap_at(t.l->m) + t.l->at[little_find(t.l, s)].mark + 8] ^= 0x40; /* the record's address */
    dump_maker_save_bytes(t.l->dump, bytes, len);
    cr_expect(eq(int, hdx_graph_fields(t.l->g, little_find(t.l, s), &v, &err), HDX_BAD_DUMP));
    dump_maker_save_bytes(t.l->dump, bytes, len - 1);
    hdx_graph *other;
    cr_assert(eq(int, hdx_graph_open(t.l->index, t.l->dump, &other, &err), HDX_OK));
    cr_expect(eq(int, hdx_graph_fields(other, little_find(t.l, s), &v, &err), HDX_BAD_DUMP));
    hdx_graph_close(other);
    hdx_values_free(&v);
    free(bytes);
    little_close(t.l);
}

static void expect_string(little *l, uint64_t addr, uint64_t max, const char *want, size_t want_len, bool want_whole)
{
    char     *text;
    size_t    len;
    bool      whole, is;
    hdx_error err;
    cr_assert(eq(int, hdx_graph_string(l->g, little_find(l, addr), max, &text, &len, &whole, &is, &err), HDX_OK));
    cr_assert(is);
    cr_expect(len == want_len && memcmp(text, want, len + 1) == 0, "%zu bytes: %s, want %zu: %s", len, text, want_len,
              want);
    cr_expect(eq(int, whole, want_whole));
    hdx_text_free(text);
}

Test(string, is_read_in_the_layouts_of_jdk_9)
{
    texts    t = begin();
    uint64_t latin =
        little_instance(t.l, t.string, DUMP_VALUES(0, little_primitives(t.l, 'B', DUMP_VALUES('c', 0xe9, 0), 3), 0));
    uint64_t wide = little_instance(
        t.l, t.string, DUMP_VALUES(0, little_primitives(t.l, 'B', DUMP_VALUES(0xac, 0x20, 0x3d, 0xd8, 0, 0xde), 6), 1));
    uint64_t empty = little_instance(t.l, t.string, DUMP_VALUES(0, little_primitives(t.l, 'B', NULL, 0), 0));
    uint64_t null = little_instance(t.l, t.string, DUMP_VALUES(0, 0, 0));
    open_all(&t);
    expect_string(t.l, latin, 100, "c\xc3\xa9\0", 4, true);
    expect_string(t.l, latin, 2, "c\xc3\xa9", 3, false);
    expect_string(t.l, wide, 100, "\xe2\x82\xac\xf0\x9f\x98\x80", 7, true);
    expect_string(t.l, wide, 2, "\xe2\x82\xac\xed\xa0\xbd", 6, false); /* cut in the middle of a pair */
    expect_string(t.l, empty, 100, "", 0, true);
    char     *text;
    size_t    len;
    bool      whole, is;
    hdx_error err;
    cr_assert(eq(int, hdx_graph_string(t.l->g, little_find(t.l, null), 9, &text, &len, &whole, &is, &err), HDX_OK));
    cr_expect(text == NULL);
    cr_expect(not(is));
    cr_expect(eq(str, label(t.l, latin), "c\xc3\xa9\xc0\x80"));
    cr_expect(eq(str, label(t.l, wide), "\xe2\x82\xac\xf0\x9f\x98\x80"));
    cr_expect(eq(str, label(t.l, empty), ""));
    cr_expect(eq(str, label(t.l, null), "(none)"));
    little_close(t.l);
}

Test(string, in_a_big_endian_jvm_is_read_big_end_first)
{
    texts t = begin();
    little_static(t.l, "HI_BYTE_SHIFT", 'I', 8);
    (void)little_class(t.l, "java.lang.StringUTF16", t.l->object, "");
    uint64_t wide =
        little_instance(t.l, t.string, DUMP_VALUES(0, little_primitives(t.l, 'B', DUMP_VALUES(0x20, 0xac), 2), 1));
    open_all(&t);
    expect_string(t.l, wide, 100, "\xe2\x82\xac", 3, true);
    little_close(t.l);
}

Test(string, of_jdk_6_shows_a_part_of_its_array)
{
    texts t = { .l = little_new() };
    t.string = little_class(t.l, "java.lang.String", t.l->object, "value:L offset:I count:I hash:I");
    uint64_t shared = little_text(t.l, 'C', "shared array");
    uint64_t part = little_instance(t.l, t.string, DUMP_VALUES(shared, 7, 5, 0)),
             far = little_instance(t.l, t.string, DUMP_VALUES(shared, 10, 500, 0));
    uint64_t beyond = little_instance(t.l, t.string, DUMP_VALUES(shared, 99, 5, 0));
    open_all(&t);
    expect_string(t.l, part, 100, "array", 5, true);
    expect_string(t.l, far, 100, "ay", 2, true);
    expect_string(t.l, beyond, 100, "", 0, true);
    little_close(t.l);
}

Test(string, of_art_trusts_the_length_of_the_array)
{
    texts t = { .l = little_new() };
    t.string = little_class(t.l, "java.lang.String", t.l->object, "count:I hash:I value:L");
    uint64_t flagged = little_instance(t.l, t.string, DUMP_VALUES(6, 0, little_text(t.l, 'B', "abc")));
    uint64_t plain = little_instance(t.l, t.string, DUMP_VALUES(3, 0, little_text(t.l, 'C', "xyz")));
    open_all(&t);
    expect_string(t.l, flagged, 100, "abc", 3, true);
    expect_string(t.l, plain, 100, "xyz", 3, true);
    little_close(t.l);
}

Test(label, of_long_text_is_cut_at_1024_characters)
{
    texts t = begin();
    char  text[1200];
    memset(text, 'a', sizeof text);
    text[1025] = '\0';
    uint64_t longer = string(&t, text), chars = little_text(t.l, 'C', text), bytes = little_text(t.l, 'B', text);
    text[1024] = '\0';
    uint64_t just = string(&t, text), zeros = little_primitives(t.l, 'C', NULL, 8);
    uint64_t dots = little_primitives(t.l, 'B', DUMP_VALUES('a', 0, 0xe9, 0x7f, '~'), 5);
    open_all(&t);
    cr_expect(eq(str, label(t.l, just), text));
    cr_expect(eq(str, label(t.l, bytes), text)); /* a byte[] says nothing of the rest */
    strcpy(text + 1024, "...");
    cr_expect(eq(str, label(t.l, longer), text));
    cr_expect(eq(str, label(t.l, chars), text));
    cr_expect(eq(str, label(t.l, zeros), "(none)"));
    cr_expect(eq(str, label(t.l, dots), "a...~"));
    little_close(t.l);
}

Test(label, of_values)
{
    texts    t = begin();
    uint64_t integer = one(&t, "java.lang.Integer", "value:I", DUMP_VALUES(0xffffff9c)),
             character = one(&t, "java.lang.Character", "value:C", DUMP_VALUES(0xe9));
    uint64_t truth = one(&t, "java.lang.Boolean", "value:Z", DUMP_VALUES(1)),
             real = one(&t, "java.lang.Double", "value:D", DUMP_VALUES(0x3ff8000000000000));
    uint64_t flag = one(&t, "java.util.concurrent.atomic.AtomicBoolean", "value:I", DUMP_VALUES(0));
    uint64_t text = string(&t, "held");
    uint64_t reference = one(&t, "java.util.concurrent.atomic.AtomicReference", "value:L", DUMP_VALUES(text));
    uint64_t self_class = little_class(t.l, "app.Self", little_of(t.l, reference)->class_addr, "");
    uint64_t self = little_instance(t.l, self_class, DUMP_VALUES(t.l->m->next_id)); /* holds itself */
    uint64_t cell = little_class(t.l, "java.util.concurrent.atomic.Striped64$Cell", t.l->object, "value:J");
    uint64_t cells = little_array(
        t.l, t.l->objects,
        DUMP_VALUES(little_instance(t.l, cell, DUMP_VALUES(5)), 0, little_instance(t.l, cell, DUMP_VALUES(7))), 3);
    uint64_t adder =
        one(&t, "java.util.concurrent.atomic.LongAdder", "cells:L base:J", DUMP_VALUES(cells, 0xfffffffffffffffe));
    uint64_t plain = one(&t, "app.Plain", "value:I", DUMP_VALUES(1));
    open_all(&t);
    cr_expect(eq(str, label(t.l, integer), "-100"));
    cr_expect(eq(str, label(t.l, character), "\xc3\xa9"));
    cr_expect(eq(str, label(t.l, truth), "true"));
    cr_expect(eq(str, label(t.l, real), "1.5"));
    cr_expect(eq(str, label(t.l, flag), "false"));
    cr_expect(eq(str, label(t.l, reference), "held"));
    cr_expect(eq(str, label(t.l, self), "(none)"));
    cr_expect(eq(str, label(t.l, adder), "10"));
    cr_expect(eq(str, label(t.l, plain), "(none)"));
    cr_expect(eq(str, label(t.l, self_class), "(none)"));
    cr_expect(eq(str, label(t.l, 0), "<system class loader>"));
    little_close(t.l);
}

Test(label, is_that_of_the_most_derived_class_with_a_rule)
{
    texts    t = begin();
    uint64_t enum_class = little_class(t.l, "java.lang.Enum", t.l->object, "name:L ordinal:I");
    uint64_t colour = little_class(t.l, "app.Colour", enum_class, ""),
             red = little_class(t.l, "app.Colour$1", colour, "");
    uint64_t a = little_instance(t.l, red, DUMP_VALUES(string(&t, "RED"), 0)),
             none = little_instance(t.l, red, DUMP_VALUES(0, 0));
    uint64_t thread = one(&t, "java.lang.Thread", "name:L",
                          DUMP_VALUES(little_text(t.l, 'C', "old thread"))); /* JDK 5 to 8: char[] */
    uint64_t dangling = little_instance(t.l, little_of(t.l, thread)->class_addr, DUMP_VALUES(0xbad0));
    open_all(&t);
    cr_expect(eq(str, label(t.l, a), "RED"));
    cr_expect(eq(str, label(t.l, none), "(none)"));
    cr_expect(eq(str, label(t.l, thread), "old thread"));
    cr_expect(eq(str, label(t.l, dangling), "(none)"));
    little_close(t.l);
}

Test(label, of_addresses_and_places)
{
    texts    t = begin();
    uint64_t v4 = one(&t, "java.net.InetAddress$InetAddressHolder", "hostName:L address:I family:I",
                      DUMP_VALUES(string(&t, "localhost"), 0x7f000001, 1));
    uint64_t inet_class = little_class(t.l, "java.net.InetAddress", t.l->object, "holder:L");
    uint64_t inet = little_instance(t.l, inet_class, DUMP_VALUES(v4));
    uint64_t six =
        little_primitives(t.l, 'B', DUMP_VALUES(0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), 16);
    uint64_t v6 = one(&t, "java.net.Inet6Address$Inet6AddressHolder",
                      "hostName:L ipaddress:L scope_id:I scope_id_set:Z", DUMP_VALUES(string(&t, "six"), six, 3, 1));
    uint64_t inet6 =
        little_instance(t.l, little_class(t.l, "java.net.Inet6Address", inet_class, "holder6:L"), DUMP_VALUES(v6, 0));
    uint64_t holder = little_class(t.l, "java.net.InetSocketAddress$InetSocketAddressHolder", t.l->object,
                                   "hostname:L addr:L port:I");
    uint64_t socket = little_instance(t.l, holder, DUMP_VALUES(0, inet, 8080)),
             socket6 = little_instance(t.l, holder, DUMP_VALUES(0, inet6, 443));
    uint64_t url = one(&t, "java.net.URL", "protocol:L host:L authority:L path:L query:L ref:L",
                       DUMP_VALUES(string(&t, "http"), 0, string(&t, "a.example:80"), string(&t, "/x"),
                                   string(&t, "q=1"), string(&t, "top")));
    uint64_t uri =
        one(&t, "java.net.URI", "scheme:L path:L string:L", DUMP_VALUES(string(&t, "file"), string(&t, "/tmp/x"), 0));
    uint64_t base = one(&t, "sun.util.locale.BaseLocale", "language:L script:L region:L variant:L",
                        DUMP_VALUES(string(&t, "zh"), string(&t, "Hant"), string(&t, "TW"), string(&t, "")));
    uint64_t locale = one(&t, "java.util.Locale", "baseLocale:L languageTag:L", DUMP_VALUES(base, 0));
    uint64_t point = one(&t, "java.awt.Point", "x:I y:I", DUMP_VALUES(1234567, 0xffffffff));
    open_all(&t);
    cr_expect(eq(str, label(t.l, inet), "localhost/127.0.0.1"));
    cr_expect(eq(str, label(t.l, inet6), "six/2001:db8:0:0:0:0:0:1%3"));
    cr_expect(eq(str, label(t.l, socket), "localhost/127.0.0.1:8080"));
    cr_expect(eq(str, label(t.l, socket6), "six/[2001:db8:0:0:0:0:0:1%3]:443"));
    cr_expect(eq(str, label(t.l, url), "http://a.example:80/x?q=1#top"));
    cr_expect(eq(str, label(t.l, uri), "file:/tmp/x"));
    cr_expect(eq(str, label(t.l, locale), "zh_Hant_TW"));
    cr_expect(eq(str, label(t.l, point), "(1,234,567,-1)"));
    little_close(t.l);
}

Test(label, of_members_and_numbers)
{
    texts    t = begin();
    uint64_t accessible = little_class(t.l, "java.lang.reflect.AccessibleObject", t.l->object, "override:Z");
    uint64_t method_class = little_class(t.l, "java.lang.reflect.Method", accessible,
                                         "clazz:L name:L returnType:L parameterTypes:L modifiers:I");
    uint64_t parameters = little_array(t.l, t.l->objects, DUMP_VALUES(t.string, t.l->bytes), 2);
    uint64_t method = little_instance(
        t.l, method_class, DUMP_VALUES(t.l->object, string(&t, "doIt"), t.string, parameters, 0x1 | 0x8 | 0x10, 0));
    uint64_t frame = one(&t, "java.lang.StackTraceElement", "declaringClass:L methodName:L fileName:L lineNumber:I",
                         DUMP_VALUES(string(&t, "app.Main"), string(&t, "run"), string(&t, "Main.java"), 12));
    uint64_t bare = little_instance(t.l, little_of(t.l, frame)->class_addr,
                                    DUMP_VALUES(string(&t, "app.Main"), string(&t, "run"), 0, 0xfffffffe));
    uint64_t big = one(&t, "java.math.BigInteger", "signum:I mag:L",
                       DUMP_VALUES(0xffffffff, little_primitives(t.l, 'I', DUMP_VALUES(1, 0), 2)));
    uint64_t decimal =
        one(&t, "java.math.BigDecimal", "intVal:L scale:I precision:I intCompact:J", DUMP_VALUES(0, 3, 5, 12345));
    uint64_t exact =
        little_instance(t.l, little_of(t.l, decimal)->class_addr, DUMP_VALUES(big, 2, 0, 0x8000000000000000));
    open_all(&t);
    cr_expect(eq(str, label(t.l, method),
                 "public static final java.lang.String java.lang.Object.doIt(java.lang.String,byte[])"));
    cr_expect(eq(str, label(t.l, frame), "app.Main.run() (Main.java:12)"));
    cr_expect(eq(str, label(t.l, bare), "app.Main.run()"));
    cr_expect(eq(str, label(t.l, big), "-4294967296"));
    cr_expect(eq(str, label(t.l, decimal), "12.345"));
    cr_expect(eq(str, label(t.l, exact), "-42949672.96"));
    little_close(t.l);
}

/* ---- names of references ---- */

static bool collect(void *context, const hdx_named_ref *ref)
{
    char  *text = context;
    size_t n = strlen(text);
    (void)snprintf(text + n, 2048 - n, "%s%s:%s=%llu", n == 0 ? "" : " ", hdx_ref_kind_name(ref->kind), ref->name,
                   (unsigned long long)ref->target);
    return true;
}

static char *named(little *l, uint64_t addr, hdx_id only)
{
    static char text[2048];
    hdx_error   err;
    text[0] = '\0';
    hdx_code code = hdx_graph_named_refs(l->g, little_find(l, addr), only, collect, text, &err);
    cr_assert(eq(int, code, HDX_OK), "%s", err.message);
    return text;
}

Test(names, are_those_of_mat)
{
    texts    t = begin();
    char     want[512];
    uint64_t held = little_instance(t.l, t.l->object, NULL), other = little_instance(t.l, t.l->object, NULL);
    little_static(t.l, "shared", 'L', held);
    little_static(t.l, "nothing", 'L', 0);
    uint64_t thread_class = little_class(t.l, "java.lang.Thread", t.l->object, "name:L group:L twice:L");
    uint64_t thread = little_instance(t.l, thread_class, DUMP_VALUES(0xbad0, other, other));
    uint64_t array = little_array(t.l, t.l->objects, DUMP_VALUES(0, held, 0xbad0, other, held), 5);
    little_root(t.l, HDX_ROOT_THREAD_OBJ, thread, 0);
    little_root(t.l, HDX_ROOT_JAVA_LOCAL, held, thread);
    little_root(t.l, HDX_ROOT_NATIVE_LOCAL, held, thread);
    little_root(t.l, HDX_ROOT_THREAD_BLOCK, thread, thread);
    open_all(&t);
#define ID(addr) ((unsigned long long)little_find(t.l, addr))
    (void)snprintf(want, sizeof want,
                   "class:<class>=%llu local:<JNI Local, Java Local>=%llu local:<Thread Block>=%llu field:group=%llu "
                   "field:twice=%llu",
                   ID(thread_class), ID(held), ID(thread), ID(other), ID(other));
    cr_expect(eq(str, named(t.l, thread, HDX_NO_ID), want));
    (void)snprintf(want, sizeof want, "class:<class>=%llu element:[1]=%llu element:[3]=%llu element:[4]=%llu",
                   ID(t.l->objects), ID(held), ID(other), ID(held));
    cr_expect(eq(str, named(t.l, array, HDX_NO_ID), want));
    (void)snprintf(want, sizeof want, "element:[1]=%llu element:[4]=%llu", ID(held), ID(held));
    cr_expect(eq(str, named(t.l, array, little_find(t.l, held)), want));
    (void)snprintf(want, sizeof want, "class:<class>=%llu super:<super>=%llu loader:<classloader>=0 static:shared=%llu",
                   ID(t.l->class), ID(t.l->object), ID(held));
    cr_expect(eq(str, named(t.l, thread_class, HDX_NO_ID), want));
    cr_expect(eq(str, named(t.l, thread_class, 0), "loader:<classloader>=0"));
    little_close(t.l);
}

static bool stop(void *context, const hdx_named_ref *ref)
{
    (void)ref;
    ++*(int *)context;
    return false;
}

Test(names, stop_when_the_visitor_says_so)
{
    texts    t = begin();
    uint64_t held = little_instance(t.l, t.l->object, NULL),
             array = little_array(t.l, t.l->objects, DUMP_VALUES(held, held, held), 3);
    int       calls = 0;
    hdx_error err;
    open_all(&t);
    cr_assert(eq(int, hdx_graph_named_refs(t.l->g, little_find(t.l, array), little_find(t.l, held), stop, &calls, &err),
                 HDX_OK));
    cr_expect(eq(int, calls, 1));
    little_close(t.l);
}
