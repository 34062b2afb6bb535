/*
 * test_utf8.c - whatever a heap holds, machine formats are valid UTF-8: a strict decoder (RFC 3629) reads what commands
 * say of all golden dumps, and of a dump whose every text is bad.
 */
#include "support/dump_maker.h"
#include "support/golden.h"
#include "tool.h"

/*
 * Offset of the first byte that begins no character: overlong forms, halves of pairs and what is above U+10FFFF are
 * none. -1: all are.
 */
static long first_bad(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0; i < len;) {
        size_t        n = p[i] < 0x80 ? 1 : p[i] < 0xc2 ? 0 : p[i] < 0xe0 ? 2 : p[i] < 0xf0 ? 3 : p[i] < 0xf5 ? 4 : 0;
        unsigned char least = p[i] == 0xe0   ? 0xa0
                              : p[i] == 0xf0 ? 0x90
                                             : 0x80,
                      most = p[i] == 0xed   ? 0x9f
                             : p[i] == 0xf4 ? 0x8f
                                            : 0xbf;
        if (n == 0 || n > len - i || (n > 1 && (p[i + 1] < least || p[i + 1] > most)))
            return (long)i;
        for (size_t k = 2; k < n; k++)
            if ((p[i + k] & 0xc0) != 0x80)
                return (long)i;
        i += n;
    }
    return -1;
}

Test(utf8, the_decoder_is_strict)
{
    cr_expect_eq(first_bad("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10), -1);
    cr_expect_eq(first_bad("a\xed\xa0\x80", 4), 1);
    cr_expect_eq(first_bad("\xed\x9f\xbf\xc0\x80", 5), 3);
    cr_expect_eq(first_bad("\xf4\x90\x80\x80", 4), 0);
    cr_expect_eq(first_bad("\xe0\x9f\xbf", 3), 0);
    cr_expect_eq(first_bad("abc\xe2\x82", 5), 3);
}

static const char *const formats[] = { "json", "jsonl", "csv", "tsv", "table" };

/*
 * The answer to a question in all formats; `more` is added to it. Exit codes but those of wrong questions are as they
 * may be.
 */
static void check(const char *dump, const char *question, const char *more)
{
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        if (strcmp(question, "export") == 0 && (strcmp(formats[f], "json") == 0 || strcmp(formats[f], "table") == 0))
            continue; /* a table is written in rows alone */
        ran         r = tool_sh("$H %s '%s' %s --index-dir index --format %s", question, dump, more, formats[f]);
        struct stat st;
        cr_assert(stat(".out", &st) == 0);
        long bad = first_bad(r.out, (size_t)st.st_size);
        cr_expect(bad < 0, "%s %s %s %s: byte %ld", question, dump, more, formats[f], bad);
        bad = first_bad(r.err, strlen(r.err));
        cr_expect(bad < 0, "%s %s %s %s: byte %ld of standard error", question, dump, more, formats[f], bad);
        cr_expect(r.code != 2 && r.code < 64, "%s %s %s %s: %s", question, dump, more, formats[f], r.err);
        ran_free(&r);
    }
}

static void check_all(const char *dump, const char *limit)
{
    static const char *const classes[] = { "java.lang.Character", "java.lang.String", "java.lang.StringBuilder",
                                           "'char[]'", "'/.*[Ee]num.*|.*Thread.*/'" };
    char                     more[128];
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
        snprintf(more, sizeof more, "--class %s %s", classes[c], limit);
        check(dump, "objects", more);
    }
    snprintf(more, sizeof more, "--table named_references %s", limit);
    check(dump, "export", more);
    check(dump, "export", "--table classes");
    check(dump, "export", "--table loaders");
    check(dump, "threads", "--stacks --locals");
    check(dump, "info", "");
}

Test(utf8, is_what_golden_dumps_are_told_in, .timeout = 300)
{
    char        *folder = tool_enter();
    golden_dumps d;
    if (!golden_open(&d))
        tool_skip(folder, "the reference collection is not beside this tree");
    while (golden_next(&d)) {
        ran r = tool_sh("$H index '%s' --index-dir index --dump-number 1 --quiet", d.path);
        cr_assert(r.code == 0, "%s: %s", d.path, r.err);
        ran_free(&r);
        check_all(d.path, "--limit 400");
        r = tool_sh("rm -r index");
        ran_free(&r);
    }
    tool_leave(folder);
}

#define HALF "\xed\xbf\xbf" /* U+DFFF, and a byte that is nothing */
#define BAD  HALF "\xff\xc0"

/* Names of classes, fields, statics, threads, methods and files, texts and characters, and the place of damage. */
static void make_bad(const char *path)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    units[] = { 'a', 0xdfff, 0xd800, 'b', 0xd800 }, bytes[] = { 'a', 0, 0xff, 0xdf, 0, 0xd8 };
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    uint64_t    string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    uint64_t    thread = dump_maker_class(m, "java.lang.Thread", object, "name:L"),
             box = dump_maker_class(m, "java.lang.Character", object, "value:C");
    uint64_t chars = dump_maker_primitives(m, 'C', units, 5);
    uint64_t text = dump_maker_instance(m, string, DUMP_VALUES(chars, 0, 0));
    dump_maker_instance(m, string, DUMP_VALUES(dump_maker_primitives(m, 'B', bytes, 6), 1, 0));
    uint64_t half = dump_maker_instance_at(m, 0x90040, box, DUMP_VALUES(0xdfff)),
             at = dump_maker_instance(m, thread, &text);
    dump_maker_static(m, "s" BAD, 'L', text);
    uint64_t class = dump_maker_class(m, "p/C" BAD, object, "f" BAD ":L c" BAD ":C");
    uint64_t one = dump_maker_instance_at(m, 0x90000, class, DUMP_VALUES(half, 0xd800));
    uint64_t frame = dump_maker_frame(m, "m" BAD, dump_maker_load(m, class, "p/C" BAD), 3);
    dump_maker_trace(m, 2, 1, &frame, 1);
    dump_maker_trace(m, 3, 1, &frame, 1);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, at, 1, 2);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, one, 1, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, class, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, half, 0, 0);
    dump_maker_raw(m, "\x77", 1); /* no sub-record begins so */
    dump_maker_save(m, path);
    dump_maker_free(m);
}

Test(utf8, is_what_a_dump_of_bad_texts_is_told_in, .timeout = 120)
{
    char *folder = tool_enter();
    make_bad("bad.hprof");
    ran r = tool_sh("$H index bad.hprof --index-dir index --quiet");
    cr_assert(r.code == 0, "%s", r.err);
    ran_free(&r);
    check_all("bad.hprof", "");
    check("bad.hprof", "histogram", "");
    check("bad.hprof", "objects", "--class '*C*'");
    check("bad.hprof", "object", "thread:nobody" BAD);
    check("bad.hprof", "object", "0x90000");
    check("bad.hprof", "object", "0x90040");
    check("bad.hprof", "refs", "0x90000 --out");
    check("bad.hprof", "path", "'class:p.C*'");
    check("bad.hprof", "leaks", "--finder classes --class 'java.lang.Character' --no-retained");
    check("bad.hprof", "leaks", "--finder classes --class 'none" BAD "'");
    r = tool_sh("$H objects bad.hprof --index-dir index --class java.lang.Character --format json");
    cr_expect(strstr(r.out, "\"label\": \"\\udfff\"") != NULL, "%s", r.out);
    ran_free(&r);
    r = tool_sh("$H objects bad.hprof --index-dir index --class java.lang.Character --format csv");
    cr_expect(strstr(r.out, ",\xef\xbf\xbd,") != NULL, "%s", r.out);
    ran_free(&r);
    tool_leave(folder);
}

Test(utf8, a_text_is_shown_and_found_as_it_is)
{
    char          *folder = tool_enter();
    const uint64_t units[] = { 'g', 'r', 0xf6, 0xdf, 'e', ' ', 0x65e5, 0x672c, 0, 0x1b, 0x202e, 0xd83d, 0xde00 };
    dump_maker    *m = dump_maker_new(8);
    uint64_t       object = dump_maker_class(m, "java.lang.Object", 0, "");
    uint64_t       string = dump_maker_class(m, "java.lang.String", object, "value:L");
    uint64_t       text = dump_maker_instance(m, string, DUMP_VALUES(dump_maker_primitives(m, 'C', units, 13)));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, text, 0, 0);
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
    ran r = tool_sh("$H objects a.hprof --class java.lang.String --where 'label ~ gr\303\266\303\237e' --format json");
    cr_expect(strstr(r.out, "\"label\": \"gr\303\266\303\237e \346\227\245\346\234\254\\u0000\\u001b") != NULL, "%s",
              r.out);
    cr_expect(strstr(r.out, "\360\237\230\200\"") != NULL, "%s", r.out);
    ran_free(&r);
    r = tool_sh("$H objects a.hprof --class java.lang.String --where 'label = \"gr\303\266\303\237e\"' --format csv");
    cr_expect(eq(u32, lines_of(r.out), 1), "it is longer: %s", r.out);
    ran_free(&r);
    /* A table shows what a terminal can show: no escape, no mark that turns the text around. */
    r = tool_sh("$H objects a.hprof --class java.lang.String");
    cr_expect(strstr(r.out, "gr\303\266\303\237e \346\227\245\346\234\254") != NULL, "%s", r.out);
    cr_expect(strchr(r.out, 0x1b) == NULL && strstr(r.out, "\342\200\256") == NULL, "%s", r.out);
    ran_free(&r);
    tool_leave(folder);
}
