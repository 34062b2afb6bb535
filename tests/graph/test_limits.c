/* test_limits.c - labels and names at their limits: depth, steps, bytes; long names cut between characters. */
#include "graph/little_index.h"

#include "graph/inside.h"

static char *label_of(little *l, uint64_t addr)
{
    char     *text;
    hdx_error err;
    cr_assert(hdx_graph_label(l->g, little_find(l, addr), &text, &err) == HDX_OK, "%s", err.message);
    return text;
}

static void expect_label(little *l, uint64_t addr, const char *want)
{
    char *text = label_of(l, addr);
    cr_expect(want == NULL ? text == NULL : text != NULL && strcmp(text, want) == 0, "%s, not %s", text, want);
    hdx_text_free(text);
}

Test(limits, a_label_is_looked_for_eight_objects_deep)
{
    little        *l = little_new();
    uint64_t       at[12];
    const uint64_t string = little_class(l, "java.lang.String", l->object, "value:L"),
                   reference = little_class(l, "java.util.concurrent.atomic.AtomicReference", l->object, "value:L");
    at[0] = little_instance(l, string, DUMP_VALUES(little_text(l, 'C', "deep")));
    for (unsigned i = 1; i < 12; i++)
        at[i] = little_instance(l, reference, DUMP_VALUES(at[i - 1]));
    little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
    little_open(l);
    for (unsigned i = 0; i < 12; i++)
        expect_label(l, at[i], i < 8 ? "deep" : NULL);
    little_close(l);
}

/* URLs of URLs: how often the text at the bottom is in a label, when 64 objects are looked at for it. */
static unsigned looked_at;
static void     expected(unsigned level, char *out)
{
    static const char *const before[] = { "", "//", "", "?", "#" }, *const after[] = { ":", "", "", "", "" };
    for (unsigned i = 0; i < 5; i++) {
        strcat(out, before[i]);
        if (looked_at++ >= 64)
            strcat(out, "null");
        else if (level == 0)
            strcat(out, "x");
        else
            expected(level - 1, out);
        strcat(out, after[i]);
    }
}

Test(limits, a_label_is_made_of_sixty_four_objects)
{
    little        *l = little_new();
    const uint64_t string = little_class(l, "java.lang.String", l->object, "value:L"),
                   url = little_class(l, "java.net.URL", l->object, "protocol:L authority:L path:L query:L ref:L");
    uint64_t below = little_instance(l, string, DUMP_VALUES(little_text(l, 'C', "x"))), at[3];
    for (unsigned level = 0; level < 3; level++)
        below = at[level] = little_instance(l, url, DUMP_VALUES(below, below, below, below, below));
    little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
    little_open(l);
    for (unsigned level = 0; level < 3; level++) {
        char want[2000] = "";
        looked_at = 1;
        expected(level, want);
        expect_label(l, at[level], want);
    }
    little_close(l);
}

/* The name of the class app.Long, as long as a test wants it, put into the catalog. */
static char  *long_name;
static size_t long_len;
static void   rename_class(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    for (uint32_t i = 0; next == HDX_KINDS && i < w->m.classes; i++)
        if (hdx_text_is(w->classes[i].name, "app.Long"))
            w->classes[i].name = (hdx_text){ long_name, (uint32_t)long_len };
}

Test(limits, a_label_is_at_most_a_mebibyte_long)
{
    for (size_t len = (1u << 20) - 2; len <= 1u << 20; len++) {
        little *l = little_new();
        l->lie = rename_class;
        long_len = len - 2; /* ".n" follows it */
        long_name = malloc(len);
        memset(long_name, 'c', len);
        const uint64_t string = little_class(l, "java.lang.String", l->object, "value:L"),
                       class = little_class(l, "app.Long", l->object, ""),
                       field = little_class(l, "java.lang.reflect.Field", l->object, "clazz:L name:L"),
                       name = little_instance(l, string, DUMP_VALUES(little_text(l, 'C', "n"))),
                       longer = little_instance(l, string, DUMP_VALUES(little_text(l, 'C', "nn"))),
                       of = little_instance(l, field, DUMP_VALUES(class, name)),
                       over = little_instance(l, field, DUMP_VALUES(class, longer));
        little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
        little_open(l);
        char *text = label_of(l, of), *other = label_of(l, over);
        cr_expect(text != NULL && strlen(text) == len);
        cr_expect(len == 1u << 20 ? other == NULL : other != NULL && strlen(other) == len + 1);
        hdx_text_free(text);
        hdx_text_free(other);
        little_close(l);
        free(long_name);
    }
}

/* ---- names of references ---- */

static const char *field_name;
static size_t      field_len;
static void        rename_field(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    static hdx_field field;
    for (uint32_t i = 0; next == HDX_KINDS && i < w->m.classes; i++)
        if (hdx_text_is(w->classes[i].name, "app.Holder")) {
            field = (hdx_field){ { field_name, (uint32_t)field_len }, 2 };
            w->classes[i].fields = &field;
        }
}

static bool keep_name(void *context, const hdx_named_ref *ref)
{
    if (ref->kind == HDX_REF_FIELD)
        memcpy(context, ref->name, sizeof ref->name);
    return true;
}

static void expect_name(const char *name, size_t len, const char *want)
{
    little   *l = little_new();
    hdx_error err;
    char      got[sizeof((hdx_named_ref *)0)->name] = "";
    l->lie = rename_field;
    field_name = name;
    field_len = len;
    const uint64_t holder = little_class(l, "app.Holder", l->object, "it:L"),
                   it = little_instance(l, holder, DUMP_VALUES(l->object));
    little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
    little_open(l);
    cr_assert(hdx_graph_named_refs(l->g, little_find(l, it), HDX_NO_ID, keep_name, got, &err) == HDX_OK);
    cr_expect(eq(str, got, (char *)(uintptr_t)want));
    little_close(l);
}

Test(limits, long_names_are_cut_between_characters)
{
    char name[401], want[401];
    for (unsigned shift = 0; shift < 2; shift++) {
        memset(name, 'a', sizeof name);
        for (unsigned i = shift; i + 1 < sizeof name; i += 2)
            memcpy(name + i, "\xc3\xa9", 2);
        const size_t kept = shift == 0 ? 198 : 199; /* 199 bytes have room, and the last may not be half of one */
        memcpy(want, name, kept);
        want[kept] = '\0';
        expect_name(name, 400, want);
        expect_name(name, 200 + shift, want);
        expect_name(name, kept, want);
    }
    memset(name, 0x80, sizeof name); /* nothing begins anywhere */
    expect_name(name, 300, "<unnamed>");
    memset(name, 'a', sizeof name);
    memset(name + 1, 0x80, sizeof name - 1);
    expect_name(name, 300, "<unnamed>");
    expect_name("", 0, "<unnamed>");
    expect_name("a\0b", 3, "a?b");
    expect_name("ab", 2, "ab");
}

/* Arrays are searched eight elements at a time for one target. */
static bool count_ref(void *context, const hdx_named_ref *ref)
{
    hdx_buffer_format(context, "%s ", ref->name);
    return true;
}

Test(limits, an_element_is_found_wherever_it_stands)
{
    for (uint32_t id_size = 4; id_size <= 8; id_size += 4)
        for (unsigned n = 1; n < 28; n++) {
            little  *l = little_new_of(id_size);
            uint64_t refs[28], a = little_instance(l, l->object, NULL), b = little_instance(l, l->object, NULL), at[28];
            for (unsigned one = 0; one < n; one++) { /* `a` once, in a row of b and of nulls; and at the end again */
                for (unsigned i = 0; i < n; i++)
                    refs[i] = i == one || (i == n - 1 && one % 3 == 0) ? a : i % 4 == 1 ? 0 : b;
                at[one] = little_array(l, l->objects, refs, n);
                l->m->next_id += 32 * 8;
            }
            little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
            little_open(l);
            for (unsigned one = 0; one < n; one++) {
                char       want[40];
                hdx_error  err;
                hdx_buffer got = hdx_buffer_of(NULL);
                (void)snprintf(want, sizeof want, "[%u] ", one);
                if (one % 3 == 0 && one != n - 1)
                    (void)snprintf(want + strlen(want), sizeof want - strlen(want), "[%u] ", n - 1);
                const hdx_id of = little_find(l, at[one]);
                cr_assert(hdx_graph_named_refs(l->g, of, little_find(l, a), count_ref, &got, &err) == HDX_OK);
                cr_expect(eq(str, got.at, want));
                hdx_buffer_free(&got);
                cr_assert(hdx_graph_named_refs(l->g, of, 0, count_ref, &got, &err) == HDX_OK); /* nulls are none */
                cr_expect(got.len == 0);
            }
            little_close(l);
        }
}

/* ... and where there is nothing else. */
Test(limits, an_element_is_found_as_often_as_it_stands_there)
{
    for (uint32_t id_size = 4; id_size <= 8; id_size += 4) {
        little        *l = little_new_of(id_size);
        char           want[200] = "";
        hdx_error      err;
        hdx_buffer     got = hdx_buffer_of(NULL);
        uint64_t       refs[20];
        const uint64_t a = little_instance(l, l->object, NULL);
        for (unsigned i = 0; i < 20; i++) {
            refs[i] = a;
            (void)snprintf(want + strlen(want), sizeof want - strlen(want), "[%u] ", i);
        }
        const uint64_t array = little_array(l, l->objects, refs, 20);
        little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
        little_open(l);
        cr_assert(hdx_graph_named_refs(l->g, little_find(l, array), little_find(l, a), count_ref, &got, &err) ==
                  HDX_OK);
        cr_expect(eq(str, got.at, want));
        hdx_buffer_free(&got);
        little_close(l);
    }
}

/* ---- numbers ---- */

Test(limits, big_integers_of_both_libraries)
{
    static const struct {
        const char *fields; /* the sign first */
        uint64_t    sign;
        unsigned    words;
        uint64_t    word[3];
        const char *text;
    } cases[] = {
        { "sign:I mag:L", 1, 2, { 1, 0 }, "4294967296" },
        { "sign:I mag:L", 0xffffffff, 2, { 1, 0 }, "-4294967296" },
        { "signum:I mag:L", 1, 3, { 1, 0, 7 }, "18446744073709551623" },
        { "sign:I digits:L", 1, 2, { 1, 0 }, "1" },
        { "sign:I digits:L", 0xffffffff, 2, { 0, 1 }, "-4294967296" },
        { "sign:I digits:L", 1, 3, { 7, 0, 1 }, "18446744073709551623" },
        { "sign:I mag:L", 0, 0, { 0 }, "0" },
        { "sign:I mag:L", 0, 1, { 0 }, "0" },
        { "sign:I mag:L", 1, 1, { 0 }, "0" },
        { "sign:I mag:L", 0xffffffff, 1, { 0 }, "0" },
        { "sign:I mag:L", 0, 1, { 5 }, NULL },
        { "sign:I mag:L", 2, 1, { 5 }, NULL },
        { "sign:I mag:L", 0xfffffffe, 1, { 5 }, NULL },
        { "sign:J mag:L", 1, 1, { 5 }, NULL },
        { "other:I mag:L", 1, 1, { 5 }, NULL },
        { "sign:I mag:I", 1, 1, { 5 }, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        little *l = little_new();
        const uint64_t class = little_class(l, "java.math.BigInteger", l->object, cases[i].fields),
                       words = little_primitives(l, 'I', cases[i].word, cases[i].words),
                       it = little_instance(l, class, DUMP_VALUES(cases[i].sign, words));
        little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
        little_open(l);
        expect_label(l, it, cases[i].text);
        little_close(l);
    }
}

Test(limits, texts_of_exactly_so_many_characters)
{
    char    text[1026];
    little *l = little_new();
    memset(text, 'a', sizeof text);
    text[1025] = '\0';
    const uint64_t over = little_text(l, 'C', text);
    text[1024] = '\0';
    const uint64_t just = little_text(l, 'C', text), bytes = little_primitives(l, 'B', DUMP_VALUES(0x1f, 0x20), 2);
    const uint64_t ends = little_primitives(l, 'B', DUMP_VALUES(0x7e, 0x7f), 2);
    little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
    little_open(l);
    expect_label(l, just, text);
    char *cut = label_of(l, over);
    cr_expect(cut != NULL && strlen(cut) == 1027 && strcmp(cut + 1024, "...") == 0);
    hdx_text_free(cut);
    expect_label(l, bytes, ". ");
    expect_label(l, ends, "~.");
    little_close(l);
}
