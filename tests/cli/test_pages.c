/*
 * test_pages.c - leaks, check, diff and trend as pages (--format html, md): their numbers are those of the document,
 * names of a heap stay text, pages are limited in size, and they say what a dump lacks. read_page.py is the reader.
 */
#include "cli/dump_of_class.h"
#include "cli/leaky.h"
#include "cli/tool.h"
#include "compare/pair.h"

#define READER "python3 " HDX_TREE "/tests/cli/read_page.py"

static char *folder;

static void enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("shop.hprof.gz");
    leaky_make("leaky.hprof", true);
    leaky_make("mended.hprof", false);
    cache_save("a.hprof", &(cache){ .entries = 3, .lambdas = 2, .nodes = 5, .time_ms = 1000 });
    cache_save("b.hprof", &(cache){ .entries = 10, .lambdas = 3, .nodes = 5, .run = 1, .time_ms = 2000 });
    cache_save("c.hprof", &(cache){ .entries = 25, .lambdas = 3, .nodes = 2, .run = 2, .time_ms = 3000 });
}
static void leave(void) { tool_leave(folder); }
TestSuite(pages, .init = enter, .fini = leave);

static void expect_in(const ran *r, const char *text)
{
    cr_expect(strstr(r->out, text) != NULL, "no '%s' in %s", text, r->out);
}

static void expect_not_in(const ran *r, const char *text)
{
    cr_expect(strstr(r->out, text) == NULL, "'%s' in %s", text, r->out);
}

/* Compares the page of a call with its document. `says`: what read_page.py prints. */
static void expect_page(const char *call, int code, const char *says)
{
    ran r =
        tool_sh("\"$H\" %s --quiet --format json >d.json; \"$H\" %s --quiet --format html -o p.html; code=$?; " READER
                " p.html d.json; rm p.html; exit $code",
                call, call);
    cr_expect(eq(int, r.code, code), "%s: %s", call, r.err);
    cr_expect_str_eq(r.out, says, "%s: %s%s", call, r.out, r.err);
    ran_free(&r);
}

Test(pages, have_the_numbers_of_the_document)
{
    expect_page("diff a.hprof c.hprof", 0, "7 rows, 74 values, 0 cards\n");
    expect_page("diff a.hprof b.hprof c.hprof --by dominator", 0, "6 rows, 97 values, 0 cards\n");
    expect_page("diff a.hprof c.hprof --fail-on 'total.retained_delta > 1'", 1, "7 rows, 80 values, 0 cards\n");
    expect_page("trend a.hprof b.hprof c.hprof", 0, "6 rows, 93 values, 0 cards\n");
    expect_page("trend a.hprof b.hprof c.hprof --all --of objects --units bytes", 0, "9 rows, 117 values, 0 cards\n");
    expect_page("trend a.hprof $(yes b.hprof | head -n 33) c.hprof --all", 0, "9 rows, 414 values, 0 cards\n");
    expect_page("check shop.hprof.gz --max 'live 1k' --max 'objects no.Such 5' --no-suspects 30%", 1,
                "3 rows, 18 values, 3 cards\n");
    expect_page("leaks leaky.hprof mended.hprof", 0, "3 rows, 26 values, 3 cards\n");
}

Test(pages, have_signs_a_line_for_each_row_and_the_command)
{
    ran r = tool_sh("\"$H\" diff c.hprof a.hprof --format html --quiet");
    expect_in(&r, "<title>diff: c.hprof, a.hprof</title>");
    expect_in(&r, "<p>a  c.hprof: ");
    expect_in(&r, "<td class=n><span title=\"-1408 bytes\">-1.4 KB</span>");
    expect_in(&r, "<pre tabindex=0>$ heapdex diff c.hprof a.hprof</pre>");
    ran_free(&r);
    r = tool_sh("\"$H\" trend a.hprof b.hprof c.hprof --where 'retained_grown > 100' --format html --limit 1 --quiet");
    expect_in(&r, "<span title=\"176 bytes\">+176 B</span>");
    expect_in(&r, "<svg width=60 height=20 viewBox=\"0 0 60 20\" role=img><title>216, 664, 1624</title>");
    expect_in(&r, "<p>Left out of this page: some rows. ");
    expect_in(&r, "points=\"2.0,18.0 30.0,12.9 58.0,2.0\"/></svg>");
    expect_in(
        &r,
        "<pre tabindex=0>$ heapdex trend a.hprof b.hprof c.hprof --where &#39;retained_grown &#62; 100&#39; --limit 0"
        "</pre>");
    ran_free(&r);
    r = tool_sh("\"$H\" trend a.hprof $(yes b.hprof | head -n 33) c.hprof --format md --quiet");
    expect_in(&r, "# trend&#58; a.hprof to c.hprof (35 dumps)\n");
    ran_free(&r);
    r = tool_sh("\"$H\" trend a.hprof b.hprof c.hprof --format md --limit 1 --quiet");
    expect_in(&r, "| java.lang.Object&#91;&#93; | \xe2\x96");
    expect_in(&r, "\n5 more rows.\n");
    expect_in(&r, "\nLeft out of this page&#58; 5 rows. The command with --format json has everything.\n");
    ran_free(&r);
}

Test(pages, describe_each_leak_as_the_terminal_does)
{
    ran r = tool_sh("\"$H\" leaks leaky.hprof mended.hprof --format md --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    expect_in(&r, "2 application leaks, 0 known leaks of libraries, 1 group of unreachable objects\n");
    expect_in(&r, "**app.Screen**&#58; 1 leaking object (application), ");
    expect_in(&r, "\n- GC root&#58; system class (STICKY&#95;CLASS)\n");
    expect_in(&r, "<br>\xe2\x86\x93 static Holder.**first**\n");
    expect_in(&r, "<br>leaking&#58; yes (it was watched and should be gone&#58; it was closed), retains ");
    expect_in(&r, "<pre>$ heapdex leaks leaky.hprof mended.hprof</pre>");
    ran_free(&r);
    r = tool_sh(
        "\"$H\" leaks leaky.hprof --where 'suspects ~ second' --format html --quiet | grep -o '<div class=card>' "
        "| wc -l");
    cr_expect_str_eq(r.out, "1\n");
    ran_free(&r);
    r = tool_sh("\"$H\" leaks leaky.hprof --columns class --format html --quiet");
    expect_not_in(&r, "class=card");
    ran_free(&r);
}

Test(pages, of_check_say_which_rules_are_broken)
{
    ran r =
        tool_sh("\"$H\" check shop.hprof.gz --rule 'cache: max retained bookshop.* 1M because memory is dear' --max "
                "'objects no.Such 5' --format md --quiet");
    cr_expect(eq(int, r.code, 1));
    expect_in(&r, "\n**1 of 2 rules is broken.**\n");
    expect_in(&r, "**cache&#58; max retained bookshop.&#42; 1M**&#58; 2.1 MB by 2,038 objects of 9 classes, more than "
                  "1.0 MB\n");
    expect_in(&r, "\nKept alive by thread&#58; java.lang.Thread &#34;clerk&#34; ");
    expect_in(&r, "\nReason for the rule&#58; memory is dear\n");
    expect_in(&r, "**max objects no.Such 5** holds&#58; 0, at most 5\n\nNote&#58; no class is called no.Such");
    expect_in(&r, "| broken | max retained bookshop.&#42; 1M | cache | 2.1 MB | 1.0 MB | ");
    ran_free(&r);
}

Test(pages, of_nothing_found_say_so)
{
    ran r = tool_sh("\"$H\" leaks shop.hprof.gz --format html --quiet");
    expect_in(&r, "No object was watched by LeakCanary.");
    ran_free(&r);
    r = tool_sh("\"$H\" diff a.hprof a.hprof --format html --quiet");
    expect_in(&r, "<p>they are the same in all of 9 rows: --all shows them</p>");
    ran_free(&r);
    r = tool_sh("\"$H\" check a.hprof --max 'live 1G' --format html --quiet");
    cr_expect(eq(int, r.code, 0));
    expect_in(&r, "<b>The rule holds.</b>");
    expect_not_in(&r, "class=card");
    ran_free(&r);
}

Test(pages, show_hostile_names_as_text)
{
    static const char *const calls[] = {
        "diff a.hprof bad.hprof --all --where 'objects_b < 1000000' --quiet",
        "trend a.hprof bad.hprof --all --quiet",
        "check bad.hprof --rule 'x: max objects <script>* 0 because </p><script>&*_`|' --quiet",
        "leaks bad.hprof --finder classes --class '<script>*' --quiet",
        "leaks 'x\"><script>y.hprof' --finder classes --class '<script>*' --quiet",
    };
    static char long_name[40001];
    cache_save("bad.hprof", &(cache){ .entries = 1, .more = "<script>alert(1)</script>\xe2\x80\xae\"'&|`*_[x](y)" });
    (void)snprintf(long_name, sizeof long_name, "<script>%*d", 40000 - 8, 0);
    cache_save("x\"><script>y.hprof", &(cache){ .entries = 1, .more = long_name });
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        ran r = tool_sh("\"$H\" %s --format html; \"$H\" %s --format md", calls[i], calls[i]);
        cr_expect(r.code <= 1, "%s: %s", calls[i], r.err);
        cr_expect(strstr(r.out, "<script") == NULL && strstr(r.out, "\xe2\x80\xae") == NULL, "%s: %s", calls[i], r.out);
        cr_expect(strlen(r.out) < 100000, "%s: %zu", calls[i], strlen(r.out));
        expect_in(&r, "&#60;script&#62;");
        ran_free(&r);
    }
    expect_page("diff a.hprof bad.hprof", 0, "8 rows, 81 values, 0 cards\n");
    ran r = tool_sh("\"$H\" diff a.hprof bad.hprof --format md --quiet");
    expect_in(&r,
              "&#60;script&#62;alert(1)&#60;.script&#62;&#92;xe2&#92;x80&#92;xae&#34;&#39;&#38;&#124;&#96;&#42;&#95;"
              "&#91;x&#93;(y)");
    ran_free(&r);
}

/* 2,000 classes with long names that are longer when they are escaped. */
static void save_many_classes(const char *path)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    char        name[512];
    for (int i = 0; i < 2000; i++) {
        memset(name, '&', 500);
        (void)snprintf(name + 500, sizeof name - 500, "%d", i);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, dump_maker_class(m, name, object, ""), NULL),
                        0, 0);
    }
    dump_maker_save(m, path);
    dump_maker_free(m);
}

/* 40 leaks, each at the end of 100 steps with long names. */
static void save_long_paths(const char *path)
{
    dump_maker *m = dump_maker_new(8);
    char        name[600], fields[400] = "";
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, ""), values[41], at = 0;
    memset(name, '&', sizeof name);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < 40; i++)
        (void)snprintf(fields + strlen(fields), sizeof fields - strlen(fields), "%sf%d:L", i > 0 ? " " : "", i);
    const uint64_t leak = dump_maker_class(m, "app.Leak", object, ""),
                   last = dump_maker_class(m, "app.Last", object, fields),
                   step = dump_maker_class(m, name, object, "next:L");
    for (int i = 0; i < 40; i++)
        values[i] = dump_maker_instance(m, leak, NULL);
    at = dump_maker_instance(m, last, values);
    for (int i = 0; i < 100; i++)
        at = dump_maker_instance(m, step, DUMP_VALUES(at));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, at, 0, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

Test(pages, are_limited_in_size)
{
    save_many_classes("many.hprof");
    save_long_paths("long.hprof");
    expect_page("diff a.hprof many.hprof", 0, "100 rows, 725 values, 0 cards\n");
    expect_page("leaks long.hprof --finder classes --class app.Leak", 0, "40 rows, 321 values, 2 cards\n");
    ran r = tool_sh("\"$H\" diff a.hprof many.hprof --format md --quiet");
    cr_expect(strlen(r.out) <= 65536 && strlen(r.out) > 50000, "%zu", strlen(r.out));
    expect_in(&r, "\nLeft out of this page&#58; 19");
    cr_expect_str_eq(strrchr(r.out, '.'), ".\n\n");
    ran_free(&r);
    r = tool_sh("\"$H\" leaks long.hprof --finder classes --class app.Leak --format md --quiet");
    cr_expect(strlen(r.out) <= 65536, "%zu", strlen(r.out));
    expect_in(&r, "\nLeft out of this page&#58; ");
    expect_in(&r, "descriptions of rows. The command with --format json has everything.\n");
    ran_free(&r);
}

Test(pages, say_what_a_dump_lacks)
{
    ran r =
        tool_sh("\"$H\" index leaky.hprof --index-dir only.hdx --quiet >/dev/null && rm leaky.hprof && \"$H\" check "
                "only.hdx --max 'live 1' --format md --quiet");
    expect_in(&r, "\nThe dump is not available&#58; names of references, labels and values are missing.\n");
    ran_free(&r);
    r = tool_sh("gzip -dc shop.hprof.gz | head -c 3000000 >cut.hprof; \"$H\" diff cut.hprof shop.hprof.gz --format md "
                "--quiet");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    expect_in(&r, "A dump is damaged");
    expect_in(&r, "\n## Damage\n\n| offset | record | ");
    ran_free(&r);
    dump_maker *m = dump_maker_new(4);
    (void)dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_save(m, "none.hprof");
    dump_maker_free(m);
    expect_page("diff none.hprof a.hprof", 0, "8 rows, 81 values, 0 cards\n");
    expect_page("check none.hprof --max 'live 1k' --no-leaks all", 0, "2 rows, 12 values, 1 cards\n");
    expect_page("leaks none.hprof", 0, "0 rows, 1 values, 0 cards\n");
}

static bool refuse_bytes(void *context, const char *bytes, size_t len)
{
    (void)context, (void)bytes, (void)len;
    return false;
}

Test(pages, report_what_the_caller_did_wrong)
{
    const hdx_argument      rule = { "max", "live 1G" };
    const hdx_index_options index = { .dump = "a.hprof", .dump_number = 1 };
    const hdx_sink          sink = { refuse_bytes, NULL };
    hdx_page_options        options = { .format = HDX_REPORT_JSON };
    hdx_session            *session = NULL;
    hdx_rows               *rows = NULL;
    hdx_error               err;
    cr_assert(eq(int, hdx_session_open(&index, &session, &err), HDX_OK));
    cr_assert(eq(int, hdx_answer_run(session, "check", &rule, 1, &rows, &err), HDX_OK));
    cr_expect(eq(int, hdx_page_write(rows, &options, &sink, &err), HDX_USAGE));
    options.format = HDX_REPORT_HTML;
    cr_expect(eq(int, hdx_page_write(rows, &options, &sink, &err), HDX_IO));
    hdx_rows_close(rows);
    hdx_session_close(session);
}

Test(pages, are_refused_where_there_are_none)
{
    ran r = tool_sh("\"$H\" histogram a.hprof --format html");
    cr_expect(r.code == 2 && strstr(r.err, "html") != NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" diff a.hprof --format html -o p.html; test ! -e p.html");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
}
