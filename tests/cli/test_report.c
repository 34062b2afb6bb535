/*
 * test_report.c - the command report: its sections say what the commands say, one style and no script is allowed, names
 * of a heap stay text, and a redacted report has no text of the heap.
 */
#include "cli/dump_of_class.h"
#include "cli/tool.h"

static char *folder;

static void enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("shop.hprof.gz");
}
static void leave(void) { tool_leave(folder); }
TestSuite(report, .init = enter, .fini = leave);

static void expect_in(const ran *r, const char *text) { cr_expect(strstr(r->out, text) != NULL, "no '%s'", text); }

Test(report, is_one_file_that_allows_its_own_style_and_nothing_else)
{
    ran r = tool_sh("\"$H\" report shop.hprof.gz -o r.html --quiet && cat r.html");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    expect_in(&r, "default-src 'none'; style-src 'sha256-");
    cr_expect(strstr(r.out, "<script") == NULL && strstr(r.out, "style=") == NULL && strstr(r.out, "http://") != NULL);
    cr_expect(strlen(r.out) < 1500000);
    ran_free(&r);
    r = tool_sh(
        "python3 -c \"import base64,hashlib;t=open('r.html').read();s=t[t.index('<style>')+7:t.index('</style>')];"
        "print('sha256-'+base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() in t)\"");
    cr_expect_str_eq(r.out, "True\n", "%s", r.err);
    ran_free(&r);
}

Test(report, has_the_numbers_of_the_commands)
{
    ran r = tool_sh("\"$H\" report shop.hprof.gz --format md --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    expect_in(&r, "| live objects | 23,875 |\n");
    expect_in(&r, "retains 1.9 MB (70%), 270 entries of bookshop.Bookshop&#36;Session");
    expect_in(&r, "| bookshop.Bookshop&#36;SessionCache | 16 B | 1.9 MB | 70.5% | 0xfeb18ea8 |\n");
    expect_in(&r, "<pre>$ heapdex duplicates shop.hprof.gz</pre>");
    cr_expect(strlen(r.out) <= 65536);
    ran_free(&r);
    r = tool_sh("\"$H\" report shop.hprof.gz --format md --quick --quiet");
    cr_expect(r.code == 0 && strstr(r.out, "heapdex duplicates") == NULL);
    expect_in(&r, "(--quick)");
    ran_free(&r);
    r = tool_sh(
        "\"$H\" report shop.hprof.gz --format json --quiet | python3 -c \"import json,sys;d=json.load(sys.stdin);"
        "print(d['info']['info']['live_bytes'], len(d['suspects']['rows']))\"");
    cr_expect_str_eq(r.out, "2788024 1\n", "%s", r.err);
    ran_free(&r);
}

Test(report, without_texts_of_the_heap_has_none)
{
    ran r = tool_sh("\"$H\" report shop.hprof.gz --redact --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.out, "clerk") == NULL && strstr(r.out, "argL0") == NULL && strstr(r.out, "UTF-8") == NULL);
    expect_in(&r, "Bookshop$SessionCache");
    ran_free(&r);
    r = tool_sh("\"$H\" report shop.hprof.gz --redact --format json");
    cr_expect(eq(int, r.code, 2));
    ran_free(&r);
}

Test(report, shows_hostile_names_as_text)
{
    save_dump_of_class("bad.hprof", "<script>alert(1)</script>\xe2\x80\xae\"'&");
    ran r = tool_sh("\"$H\" report bad.hprof --quiet; \"$H\" report bad.hprof --format md --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.out, "<script") == NULL && strstr(r.out, "\xe2\x80\xae") == NULL);
    expect_in(&r, "&#60;script&#62;alert(1)&#60;.script&#62;\\xe2\\x80\\xae&#34;&#39;&#38;");
    ran_free(&r);
}

Test(report, says_what_is_missing)
{
    ran r = tool_sh("\"$H\" index shop.hprof.gz --index-dir only.hdx --quiet && rm shop.hprof.gz && "
                    "\"$H\" report only.hdx --format md --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    expect_in(&r, "| bookshop.Bookshop&#36;SessionCache ");
    const char *missing = strstr(r.out, "## What this report does not contain");
    cr_assert(missing != NULL);
    cr_expect(strstr(missing, "the dump is not available") != NULL, "%s", missing);
    ran_free(&r);
}

Test(report, of_a_cut_dump_says_so)
{
    ran r = tool_sh("gzip -dc shop.hprof.gz | head -c 3000000 >cut.hprof; \"$H\" report cut.hprof --format md --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    expect_in(&r, "The dump is damaged");
    ran_free(&r);
}

Test(report, of_several_dumps_says_what_grew)
{
    ran r = tool_sh("\"$H\" report shop.hprof.gz shop.hprof.gz --format md --quiet");
    cr_expect(r.code == 0 && strstr(r.out, "## What grew") != NULL, "%s", r.err);
    ran_free(&r);
}
