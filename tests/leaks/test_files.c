/*
 * test_files.c - mapping files, files of matchers and rules, signatures, answers as bytes: what stands in them, and
 * what is refused.
 */
#include "algo/packed.h"
#include "leaks/leaks.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

static hdx_text text(const char *s) { return (hdx_text){ s, (uint32_t)strlen(s) }; }

/* ---- signatures ---- */

static const char *sha1(const char *s, char hex[41])
{
    leak_sha1 sha;
    hdx_leak_sha1_begin(&sha);
    hdx_leak_sha1_put(&sha, s, strlen(s));
    hdx_leak_sha1_end(&sha, hex);
    return hex;
}

Test(signature, is_the_sha1_of_the_published_examples)
{
    char hex[41];
    cr_expect_str_eq(sha1("", hex), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    cr_expect_str_eq(sha1("abc", hex), "a9993e364706816aba3e25717850c26c9cd0d89d");
    cr_expect_str_eq(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", hex),
                     "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    cr_expect_str_eq(sha1("com.example.RegistryINSTANCEcom.example.Plainajava.lang.Object[][x]", hex),
                     "d26d168877ef3c5e7eac3653aeb21b4ccac80d50"); /* SHARK 5.5 */
    cr_expect_str_eq(sha1("static field android.text.TextLine#sCached", hex),
                     "be7dccb56053fcb3c0b1cc796d047078c9f85d57"); /* 5.6 */
}

/* All lengths to beyond four blocks, taken in pieces of every size, against another program's. */
Test(signature, does_not_depend_on_pieces_and_is_right_at_every_length)
{
    char      hex[41], all[41];
    uint8_t   bytes[300];
    leak_sha1 of_all;
    hdx_leak_sha1_begin(&of_all);
    for (size_t n = 0; n <= 300; n++) {
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)(i * 7 + n);
        leak_sha1 one;
        hdx_leak_sha1_begin(&one);
        for (size_t at = 0, piece = 1 + n % 71; at < n; at += piece)
            hdx_leak_sha1_put(&one, bytes + at, piece < n - at ? piece : n - at);
        hdx_leak_sha1_end(&one, hex);
        hdx_leak_sha1_put(&of_all, hex, 40);
    }
    hdx_leak_sha1_end(&of_all, all);
    cr_expect_str_eq(all, "9c5dda79c0be8cee2e2272304c8e3502832cdc60"); /* hashlib's */
}

/* ---- mapping ---- */

/* Hundreds of classes, each with fields and methods of the same short names; of two entries for one name the last. */
Test(mapping, of_many_classes_gives_each_its_own_and_of_two_the_last)
{
    enum { CLASSES = 300 };
    hdx_buffer    file = hdx_buffer_of(NULL);
    leak_mapping *m;
    hdx_error     err;
    hdx_arena     arena = hdx_arena_of(NULL);
    char          name[64], want[64];
    for (unsigned i = 0; i < CLASSES; i++) {
        hdx_buffer_format(&file, "com.acme.C%u -> a.c%u:\n  int first%u -> a\n\tint[] second%u -> b  \n", i, i, i, i);
        hdx_buffer_format(&file, "    int early%u -> c\n    void run%u() -> a\n    3:4:int late%u -> c\n", i, i, i);
        if (i % 10 == 9)
            hdx_buffer_format(&file, "com.acme.D%u -> a.c%u:\n# a comment:\n", i, i - 1);
    }
    for (unsigned cut = 0; cut < 2; cut++) { /* with and without an end of the last line */
        cr_assert(eq(int, hdx_leak_mapping_read(file.at, file.len - cut, &m, &err), HDX_OK));
        for (unsigned i = 0; i < CLASSES; i++) {
            (void)snprintf(name, sizeof name, "a.c%u", i);
            (void)snprintf(want, sizeof want, "com.acme.%c%u", i % 10 == 8 ? 'D' : 'C', i + (i % 10 == 8));
            cr_expect(hdx_text_is(hdx_leak_mapping_class(m, text(name), &arena), want), "%s", name);
            (void)snprintf(want, sizeof want, "first%u", i);
            cr_expect(hdx_text_is(hdx_leak_mapping_field(m, text(name), text("a")), want), "%s", name);
            (void)snprintf(want, sizeof want, "second%u", i);
            cr_expect(hdx_text_is(hdx_leak_mapping_field(m, text(name), text("b")), want), "%s", name);
            (void)snprintf(want, sizeof want, "late%u", i);
            cr_expect(hdx_text_is(hdx_leak_mapping_field(m, text(name), text("c")), want), "%s", name);
            (void)snprintf(want, sizeof want, "run%u", i);
            cr_expect(hdx_text_is(hdx_leak_mapping_method(m, text(name), text("a")), want), "%s", name);
            cr_expect(hdx_text_is(hdx_leak_mapping_method(m, text(name), text("b")), "b"), "%s", name);
            cr_expect(hdx_text_is(hdx_leak_mapping_field(m, text(name), text("d")), "d"), "%s", name);
        }
        cr_expect(hdx_text_is(hdx_leak_mapping_class(m, text("a.c300"), &arena), "a.c300"));
        hdx_leak_mapping_free(m);
    }
    hdx_buffer_free(&file);
    hdx_arena_free(&arena);
}

Test(mapping, passes_over_lines_that_make_no_sense)
{
    static const struct {
        const char *file, *class_name, *field, *method; /* of x, x.a, x.a() */
    } cases[] = {
        { "A -> x:\n int f -> a", "A", "f", "a" },
        { "A -> x\n int f -> a", "x", "a", "a" },
        { "A x:\n int f -> a", "x", "a", "a" },
        { "A -> x:\nB:\n int f -> a", "A", "a", "a" },
        { "A -> x:\n int f a", "A", "a", "a" },
        { "A -> x:\n f -> a", "A", "", "a" },
        { "A -> x:\nf->a", "A", "a", "a" },
        { "A -> x:\n void m( -> a", "A", "a", "m" },
        { "A -> x:\n void m() -> a", "A", "a", "m" },
        { "A -> x:\n (int) -> a", "A", "a", "a" },
        { "A -> x:\n m() -> a", "A", "a", "m" },
        { "A->x:\n int f->a", "A", "f", "a" },
        { "  A   ->   x  :  \n int f -> a", "A", "f", "a" },
        { "#A -> x:\n int f -> a", "x", "a", "a" },
        { "A -> x:\n# int f -> a", "A", "a", "a" },
        { "\n\nA -> x:\n\n int f -> a\n\n", "A", "f", "a" },
        { "A -> x: y:\n int f -> a", "A", "f", "a" },
        { "int f -> a\nA -> x:", "A", "a", "a" },
        { "", "x", "a", "a" },
        { "\n", "x", "a", "a" },
        { ":", "x", "a", "a" },
        { "->:", "x", "a", "a" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leak_mapping *m;
        hdx_error     err;
        hdx_arena     arena = hdx_arena_of(NULL);
        char          got[3][32];
        cr_assert(eq(int, hdx_leak_mapping_read(cases[i].file, strlen(cases[i].file), &m, &err), HDX_OK));
        const hdx_text all[] = { hdx_leak_mapping_class(m, text("x"), &arena),
                                 hdx_leak_mapping_field(m, text("x"), text("a")),
                                 hdx_leak_mapping_method(m, text("x"), text("a")) };
        for (int n = 0; n < 3; n++)
            (void)snprintf(got[n], sizeof got[n], "%.*s", (int)all[n].len, all[n].at);
        cr_expect_str_eq(got[0], cases[i].class_name, "%s", cases[i].file);
        cr_expect_str_eq(got[1], cases[i].field, "%s", cases[i].file);
        cr_expect_str_eq(got[2], cases[i].method, "%s", cases[i].file);
        hdx_leak_mapping_free(m);
        hdx_arena_free(&arena);
    }
}

Test(mapping, gives_back_classes_arrays_fields_and_methods)
{
    static const char file[] = "# compiler: R8\n"
                               "com.example.Session -> a.b:\n"
                               "    java.lang.Object current -> a\r\n"
                               "    1:7:void open(int):12:18 -> c\n"
                               "com.example.Outer$Inner -> a.c$d:\n"
                               "    com.example.Session this$0 -> a\n"
                               "nonsense:\n"
                               "    int lost -> a\n";
    leak_mapping     *m;
    hdx_error         err;
    hdx_arena         arena = hdx_arena_of(NULL);
    cr_assert(eq(int, hdx_leak_mapping_read(file, sizeof file - 1, &m, &err), HDX_OK));
    cr_expect(hdx_text_is(hdx_leak_mapping_class(m, text("a.b"), &arena), "com.example.Session"));
    cr_expect(hdx_text_is(hdx_leak_mapping_class(m, text("a.b[][]"), &arena), "com.example.Session[][]"));
    cr_expect(hdx_text_is(hdx_leak_mapping_class(m, text("a.c$d"), &arena), "com.example.Outer$Inner"));
    cr_expect(hdx_text_is(hdx_leak_mapping_class(m, text("a.x"), &arena), "a.x"));
    cr_expect(hdx_text_is(hdx_leak_mapping_field(m, text("a.b"), text("a")), "current"));
    cr_expect(hdx_text_is(hdx_leak_mapping_field(m, text("a.c$d"), text("a")), "this$0"));
    cr_expect(hdx_text_is(hdx_leak_mapping_field(m, text("nonsense"), text("a")), "a"),
              "a line without an arrow opens no class");
    cr_expect(hdx_text_is(hdx_leak_mapping_method(m, text("a.b"), text("c")), "open"));
    cr_expect(hdx_text_is(hdx_leak_mapping_field(m, text("a.b"), text("c")), "c"), "a method is no field");
    hdx_leak_mapping_free(m);
    cr_assert(eq(int, hdx_leak_mapping_read("", 0, &m, &err), HDX_OK));
    cr_expect(hdx_text_is(hdx_leak_mapping_class(m, text("a.b"), &arena), "a.b"));
    hdx_leak_mapping_free(m);
    hdx_arena_free(&arena);
}

/* ---- matchers and rules ---- */

static hdx_code read_lines(const char *lines, bool rules, leak_rules *out, hdx_error *err)
{
    hdx_leaks_options o = { .finder = HDX_LEAKS_WATCHED };
    hdx_leak_file     f = { "mine.txt", lines, strlen(lines) };
    if (rules)
        o.rule_file = f;
    else
        o.matcher_file = f;
    return hdx_leak_rules_read(&o, out, err);
}

Test(matchers, of_a_file_stand_behind_those_built_in)
{
    size_t     own;
    leak_rules r;
    hdx_error  err;
    hdx_buffer b = hdx_buffer_of(NULL);
    (void)hdx_leak_matchers(&own);
    cr_assert(eq(u64, (uint64_t)own, 110));
    cr_assert(eq(int,
                 read_lines("# mine\n\nlibrary static-field com.acme.Sdk#sContext sdk=21..28 manufacturer=samsung|LGE "
                            "build=TP1 keeps  it\r\nignored java-local worker-1",
                            false, &r, &err),
                 HDX_OK));
    cr_assert(eq(u64, r.matcher_count, own + 2));
    const hdx_leak_matcher *m = &r.matchers[own];
    cr_expect(m->kind == HDX_LEAK_STATIC_FIELD && !m->ignored && !m->everywhere && m->sdk_min == 21 &&
              m->sdk_max == 28);
    cr_expect_str_eq(m->class_name, "com.acme.Sdk");
    cr_expect_str_eq(m->member, "sContext");
    cr_expect_str_eq(m->manufacturer, "samsung|LGE");
    cr_expect_str_eq(m->build_id, "TP1");
    cr_expect_str_eq(m->note, "keeps  it");
    hdx_leak_pattern(m, &b);
    cr_expect_str_eq(b.at, "static field com.acme.Sdk#sContext");
    cr_expect(m[1].kind == HDX_LEAK_JAVA_LOCAL && m[1].ignored && m[1].everywhere);
    cr_expect_str_eq(m[1].member, "worker-1");
    hdx_buffer_free(&b);
    hdx_leak_rules_free(&r);
}

Test(rules, say_class_condition_and_text)
{
    leak_rules r;
    hdx_error  err;
    cr_assert(eq(
        int,
        read_lines("leaking com.acme.Screen+ closed = true the screen was closed\nlabel a.B\nnot-leaking a.C n >= -3",
                   true, &r, &err),
        HDX_OK));
    cr_assert(eq(u64, r.rule_count, 3));
    cr_expect(r.rules[0].means == HDX_LEAK_LEAKING && r.rules[0].subclasses && r.rules[0].op == 1);
    cr_expect_str_eq(r.rules[0].class_name, "com.acme.Screen");
    cr_expect_str_eq(r.rules[0].text, "the screen was closed");
    cr_expect(r.rules[1].means == HDX_LEAK_UNKNOWN && !r.rules[1].subclasses && r.rules[1].op == 0);
    cr_expect(r.rules[2].op == 6);
    cr_expect_str_eq(r.rules[2].value, "-3");
    hdx_leak_rules_free(&r);
}

Test(rules, that_are_not_understood_are_refused_with_their_line)
{
    static const struct {
        bool        rules;
        const char *lines, *said;
    } cases[] = {
        { false, "\nforget instance-field a#b", "line 2: expected 'ignored' or 'library': 'forget'" },
        { false, "ignored field a#b",
          "line 1: expected instance-field, static-field, native-global or java-local: 'field'" },
        { false, "ignored instance-field a.b", "line 1: expected CLASS#FIELD: 'a.b'" },
        { false, "ignored instance-field #b", "line 1: expected CLASS#FIELD: '#b'" },
        { false, "ignored native-global", "line 1: expected a class: ''" },
        { false, "library static-field a#b sdk=x", "line 1: expected sdk=FROM..TO with whole numbers: 'sdk=x'" },
        { false, "library static-field a#b sdk=1..999999",
          "line 1: expected sdk=FROM..TO with whole numbers: 'sdk=1..999999'" },
        { true, "leaks a", "line 1: expected 'leaking', 'not-leaking' or 'label': 'leaks'" },
        { true, "label", "line 1: expected a class: ''" },
        { true, "label +", "line 1: expected a class: '+'" },
        { true, "leaking a\n\nleaking + x = 1", "line 3: expected a class: '+'" },
        { true, "label a b =", "line 1: expected a value after: '='" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leak_rules r;
        hdx_error  err = { .code = HDX_OK };
        cr_expect(eq(int, read_lines(cases[i].lines, cases[i].rules, &r, &err), HDX_USAGE), "%s", cases[i].lines);
        cr_expect(err.code == HDX_USAGE);
        cr_expect_str_eq(err.message, cases[i].said);
        cr_expect_str_eq(err.where, "mine.txt");
        hdx_leak_rules_free(&r);
    }
}

/* Roots, classes and objects are compared with each of them. */
Test(rules, are_ten_thousand_of_a_file_at_most)
{
    static const char *const lines[] = { "ignored java-local t\n#\n", "label a.B x\n#\n" };
    for (size_t k = 0; k < 2; k++) {
        leak_rules r;
        hdx_error  err = { .code = HDX_OK };
        hdx_buffer b = hdx_buffer_of(NULL);
        for (unsigned i = 0; i < 10000; i++)
            hdx_buffer_text(&b, lines[k]);
        cr_expect(eq(int, read_lines(b.at, k == 1, &r, &err), HDX_OK), "%s", err.message);
        cr_expect(k == 0 || r.rule_count == 10000);
        hdx_leak_rules_free(&r);
        hdx_buffer_text(&b, lines[k]);
        cr_expect(eq(int, read_lines(b.at, k == 1, &r, &err), HDX_USAGE));
        cr_expect(strncmp(err.message, "line 20001: more than 10000 lines: '", 36) == 0, "%s", err.message);
        hdx_leak_rules_free(&r);
        hdx_buffer_free(&b);
    }
}

/* What is read of "sdk=" and a version, or that it is refused. */
Test(matchers, say_versions_of_at_most_65535)
{
    static const struct {
        const char *words;
        int         least, most; /* -1: refused */
    } cases[] = {
        { "sdk=0", 0, 0 },          { "sdk=65535", 65535, 65535 },
        { "sdk=65536", -1, 0 },     { "sdk=99999", -1, 0 },
        { "sdk=012345", -1, 0 },    { "sdk=00012", 12, 12 },
        { "sdk=1..2", 1, 2 },       { "sdk=1..", 1, 0 },
        { "sdk=..9", 0, 9 },        { "sdk=..", 0, 0 },
        { "sdk=1.2", -1, 0 },       { "sdk=1...2", -1, 0 },
        { "sdk=1..65536", -1, 0 },  { "sdk=65536..65535", -1, 0 },
        { "sdk=/", -1, 0 },         { "sdk=:", -1, 0 },
        { "sdk=1:", -1, 0 },        { "sdk=9", 9, 9 },
        { "sdk=", 0, 0 },           { "sdk=.", -1, 0 },
        { "sdk=3 sdk=5..6", 5, 6 }, { "note sdk=3", 0, 0 },
        { "=sdk", 0, 0 },           { "sdk", 0, 0 },
        { "sd=3", 0, 0 },           { "sdks=3", 0, 0 },
    };
    size_t own;
    (void)hdx_leak_matchers(&own);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leak_rules r;
        hdx_error  err = { .message = "" };
        char       line[100];
        (void)snprintf(line, sizeof line, "\n\nlibrary instance-field a#b %s", cases[i].words);
        const hdx_code code = read_lines(line, false, &r, &err);
        cr_expect(eq(int, code, cases[i].least < 0 ? HDX_USAGE : HDX_OK), "%s", cases[i].words);
        if (code == HDX_OK) {
            const hdx_leak_matcher *m = &r.matchers[own];
            cr_expect(eq(int, m->sdk_min, cases[i].least), "%s", cases[i].words);
            cr_expect(eq(int, m->sdk_max, cases[i].most), "%s", cases[i].words);
            cr_expect(m->everywhere == (strncmp(cases[i].words, "sdk=", 4) != 0), "%s", cases[i].words);
            cr_expect(m->everywhere == (m->note[0] != '\0'), "%s: %s", cases[i].words, m->note);
        } else
            cr_expect(strncmp(err.message, "line 3: ", 8) == 0, "%s", err.message);
        hdx_leak_rules_free(&r);
    }
}

Test(matchers, name_a_member_on_either_side_of_the_sign)
{
    static const char *const right[] = { "a#b", "a.b#c", "a#b#c", "a#1" }, *const wrong[] = { "#", "a#", "#b", "ab" };
    for (unsigned n = 0; n < 4; n++) {
        leak_rules r;
        hdx_error  err;
        char       line[100];
        (void)snprintf(line, sizeof line, "ignored instance-field %s", right[n]);
        cr_expect(eq(int, read_lines(line, false, &r, &err), HDX_OK), "%s", line);
        hdx_leak_rules_free(&r);
        (void)snprintf(line, sizeof line, "ignored static-field %s", wrong[n]);
        cr_expect(eq(int, read_lines(line, false, &r, &err), HDX_USAGE), "%s", line);
        hdx_leak_rules_free(&r);
    }
    leak_rules r;
    hdx_error  err;
    cr_expect(eq(int, read_lines("ignored java-local", false, &r, &err), HDX_USAGE));
    cr_expect_str_eq(err.message, "line 1: expected the name of a thread: ''");
    hdx_leak_rules_free(&r);
}

/* A line is read whole, however it ends, up to 65535 bytes. */
Test(rules, are_lines_of_at_most_65535_bytes)
{
    static char text[65536 + 40];
    for (uint32_t len = 65534; len <= 65536; len++)
        for (unsigned newline = 0; newline < 2; newline++) {
            leak_rules        r;
            hdx_error         err;
            hdx_leaks_options o = { .finder = HDX_LEAKS_WATCHED };
            memset(text, 'x', sizeof text);
            memcpy(text, "label a.B\nlabel a.C x = 1 ", 26);
            text[10 + len] = '\n';
            memcpy(text + 11 + len, "label a.D", 9);
            o.rule_file = (hdx_leak_file){ "r", text, 10 + len + (newline ? 1 : 10) };
            if (!newline)
                o.rule_file.len = 10 + len;
            const hdx_code code = hdx_leak_rules_read(&o, &r, &err);
            cr_expect(eq(int, code, len > 65535 ? HDX_USAGE : HDX_OK), "%u", len);
            if (code == HDX_OK) {
                cr_expect(eq(u64, r.rule_count, 2));
                cr_expect(eq(sz, strlen(r.rules[1].text), len - 16));
            } else
                cr_expect(strncmp(err.message, "line 2: the line exceeds 65535 bytes", 36) == 0, "%s", err.message);
            hdx_leak_rules_free(&r);
        }
    for (unsigned at = 0; at < 9; at++) { /* a byte 0 anywhere */
        leak_rules        r;
        hdx_error         err;
        char              zero[] = "label a.B";
        hdx_leaks_options o = { .rule_file = { "r", zero, 9 } };
        zero[at] = '\0';
        cr_expect(eq(int, hdx_leak_rules_read(&o, &r, &err), HDX_USAGE), "%u", at);
        cr_expect(strncmp(err.message, "line 1: a byte 0", 16) == 0, "%s", err.message);
        hdx_leak_rules_free(&r);
    }
}

Test(rules, say_why_in_their_own_text_or_in_that_of_the_line)
{
    static const struct {
        const char *line, *text;
    } cases[] = {
        { "label a.B", "a.B matches a rule" },
        { "label a.B x", "x" },
        { "label a.B x y", "x y" },
        { "label a.B x =  1", "a.B.x = 1" },
        { "label a.B x = 1 y", "y" },
        { "label a.B x != null the end", "the end" },
        { "label a.B+ x >= -3", "a.B.x >= -3" },
        { "label a.B x == 1", "x == 1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leak_rules r;
        hdx_error  err;
        cr_assert(eq(int, read_lines(cases[i].line, true, &r, &err), HDX_OK), "%s", cases[i].line);
        cr_expect(strcmp(r.rules[0].text, cases[i].text) == 0, "%s: \"%s\"", cases[i].line, r.rules[0].text);
        hdx_leak_rules_free(&r);
    }
}

Test(need, grows_with_objects_and_references)
{
    const uint64_t beside = 32ull << 20;
    static const struct {
        uint64_t objects, references;
        bool     by_dominators;
        uint64_t own; /* beside the lists */
        uint64_t entries;
    } cases[] = {
        { 0, 0, false, 0, 0 },
        { 1000000, 1000000, false, 10000000, 1000000 },
        { 1000000, 4000000, false, 10000000, 7000000 },
        { 1000000, 1, false, 10000000, 1000000 },
        { 1000000, 4000000, true, 10000000 + 40000000 + 112000000, 7000000 },
        { UINT32_MAX / 2 - 1, 0, false, 10ull * (UINT32_MAX / 2 - 1), UINT32_MAX / 2 - 1 },
        { UINT32_MAX / 2, 0, false, 18ull * (UINT32_MAX / 2), UINT32_MAX / 2 },
        { 3000000000, 3000000001, true, 18 * 3000000000 + 80 * 3000000000 + 32 * 3000000002, 3000000002 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect(eq(u64, hdx_leak_need(cases[i].objects, cases[i].references, cases[i].by_dominators),
                     beside + cases[i].own + hdx_packed_bytes(cases[i].objects, cases[i].entries)),
                  "case %zu", i);
}

/* ---- statuses ---- */

/* SHARK 5.3 word by word. */
static void slow_statuses(leak_state_of *at, int n)
{
    hdx_leak_status own[16];
    int             last_not = -1, first = -1;
    for (int i = 0; i < n; i++) {
        own[i] = at[i].says_not ? HDX_LEAK_NOT_LEAKING : at[i].says_leaking ? HDX_LEAK_LEAKING : HDX_LEAK_UNKNOWN;
        at[i].conflict = at[i].says_not && at[i].says_leaking;
        if (i == n - 1) {
            own[i] = HDX_LEAK_LEAKING;
            at[i].conflict = at[i].says_not;
        }
        at[i].status = own[i];
        at[i].from = SIZE_MAX;
        if (own[i] == HDX_LEAK_NOT_LEAKING)
            last_not = i;
    }
    for (int i = last_not + 1; i < n; i++)
        if (first < 0 && own[i] == HDX_LEAK_LEAKING)
            first = i;
    for (int i = 0; i < last_not; i++) {
        int k = i + 1;
        while (own[k] != HDX_LEAK_NOT_LEAKING)
            k++;
        at[i].conflict |= own[i] == HDX_LEAK_LEAKING;
        at[i].status = HDX_LEAK_NOT_LEAKING;
        at[i].from = (size_t)k;
    }
    for (int i = first + 1; i < n - 1; i++) {
        int k = i - 1;
        while (own[k] != HDX_LEAK_LEAKING)
            k--;
        at[i].status = HDX_LEAK_LEAKING;
        at[i].from = (size_t)k;
    }
}

Test(statuses, of_every_path_of_up_to_six_objects_spread_as_the_rule_says)
{
    for (int n = 1; n <= 6; n++)
        for (unsigned bits = 0; bits < 1u << (2 * n); bits++) {
            leak_state_of fast[8], slow[8];
            memset(fast, 0, sizeof fast);
            memset(slow, 0, sizeof slow);
            for (int i = 0; i < n; i++) {
                fast[i].says_leaking = slow[i].says_leaking = bits >> (2 * i) & 1;
                fast[i].says_not = slow[i].says_not = bits >> (2 * i + 1) & 1;
            }
            hdx_leak_statuses(fast, (size_t)n);
            slow_statuses(slow, n);
            for (int i = 0; i < n; i++)
                cr_assert(fast[i].status == slow[i].status && fast[i].conflict == slow[i].conflict &&
                              fast[i].from == slow[i].from,
                          "%d objects, reasons 0x%x, object %d", n, bits, i);
        }
}
