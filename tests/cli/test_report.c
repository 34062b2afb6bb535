/*
 * test_report.c - the command report: its sections say what the commands say, one style and no script is allowed, names
 * of a heap stay text, a redacted report has no text of the heap, and a report says what its dump lacks.
 */
#include "cli/dump_of_class.h"
#include "cli/leaky.h"
#include "cli/odd.h"
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

Test(report, names_the_gc_roots_of_leaks_in_words)
{
    leaky_make("leaky.hprof", true);
    ran r = tool_sh("\"$H\" report leaky.hprof --format md --quiet | grep -A 4 '^## Leaks'");
    expect_in(&r, "| app.Screen | application | 1 | 1 B | system class | Holder.second |\n");
    cr_expect(strstr(r.out, "CLASS") == NULL, "%s", r.out);
    ran_free(&r);
}

Test(report, without_texts_of_the_heap_has_none)
{
    ran r = tool_sh("\"$H\" report shop.hprof.gz --redact --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.out, "clerk") == NULL && strstr(r.out, "argL0") == NULL && strstr(r.out, "UTF-8") == NULL);
    expect_in(&r, "Bookshop$SessionCache");
    ran_free(&r);
    r = tool_sh("python3 " HDX_TREE "/tests/cli/report_redacted \"$H\" shop.hprof.gz");
    cr_expect(eq(int, r.code, 0), "%s%s", r.out, r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" report shop.hprof.gz --redact --format json");
    cr_expect(eq(int, r.code, 2));
    ran_free(&r);
}

/* Labels of class objects are names of code, but a String may look the same. */
Test(report, without_texts_of_the_heap_lacks_those_that_look_like_a_class)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, ""),
                   string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I"),
                   list = dump_maker_class(m, "app.List", object, "text:L");
    const uint64_t secret = dump_maker_string(m, string, "class hunter2"),
                   all = dump_maker_instance(m, list, DUMP_VALUES(secret));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, all, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, secret, 0, 0);
    dump_maker_save(m, "secret.hprof");
    dump_maker_free(m);
    ran r = tool_sh("\"$H\" report secret.hprof --quiet");
    expect_in(&r, "class hunter2");
    ran_free(&r);
    r = tool_sh(
        "\"$H\" report secret.hprof --redact --quiet && \"$H\" report secret.hprof --redact --format md --quiet");
    cr_expect(r.code == 0 && strstr(r.out, "hunter2") == NULL, "%s", strstr(r.out, "hunter2"));
    expect_in(&r, "<td class=t>0x");
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

/* ---- numbers ---- */

/* Compares each section of the report with its command. */
static void expect_same_numbers(const char *dumps)
{
    ran r = tool_sh("python3 " HDX_TREE "/tests/cli/report_numbers \"$H\" %s", dumps);
    cr_expect(eq(int, r.code, 0), "%s: %s%s", dumps, r.out, r.err);
    ran_free(&r);
}

/* A static field holds a list of byte[]; other objects are the same in each dump. roots: there is a GC root. */
static void save_list(const char *file, uint32_t entries, bool roots)
{
    uint64_t    all[64];
    dump_maker *m = dump_maker_new(8);
    m->time_ms = 1700000000000u + entries;
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, ""),
                   array = dump_maker_class(m, "java.lang.Object[]", object, "");
    dump_maker_heap_info(m, 'A', "app");
    (void)dump_maker_class(m, "byte[]", object, "");
    for (uint32_t i = 0; i < entries; i++)
        all[i] = dump_maker_primitives(m, 'B', NULL, 1000);
    dump_maker_heap_info(m, 'Z', "zygote");
    (void)dump_maker_instance(m, object, NULL);
    dump_maker_heap_info(m, 'I', "image");
    const uint64_t list = dump_maker_array(m, array, all, entries);
    if (roots)
        dump_maker_static(m, "LIST", 'L', list);
    const uint64_t holder = dump_maker_class(m, "app.Holder", object, "");
    if (roots)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, holder, 0, 0);
    dump_maker_save(m, file);
    dump_maker_free(m);
}

Test(report, has_the_numbers_of_each_command)
{
    expect_same_numbers("shop.hprof.gz");
    ran r = tool_sh("gzip -dc shop.hprof.gz | head -c 3000000 >cut.hprof");
    ran_free(&r);
    expect_same_numbers("cut.hprof");
    save_list("heaps.hprof", 7, true);
    expect_same_numbers("heaps.hprof");
    r = tool_sh("\"$H\" index heaps.hprof --view no-classes='-roots:STICKY_CLASS' --quiet");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    expect_same_numbers("heaps.hprof");
    save_list("dead.hprof", 7, false);
    expect_same_numbers("dead.hprof");
}

Test(report, puts_own_threads_first_and_folds_frames_of_the_platform)
{
    ran         r = tool_sh("\"$H\" report shop.hprof.gz --format md --quiet");
    const char *clerk = strstr(r.out, "### clerk\n"), *reaper = strstr(r.out, "### Reference Handler\n");
    cr_assert(r.code == 0 && clerk != NULL && reaper != NULL, "%s", r.err);
    cr_expect(clerk < reaper);
    expect_in(&r, "In **bookshop.Bookshop.main** (Bookshop.java&#58;131)&#58; RUNNABLE, retains 288 B\n\n"
                  "- java.io.FileInputStream.readBytes (FileInputStream.java)\n"
                  "- (3 more platform frames)\n"
                  "- **bookshop.Bookshop.main** (Bookshop.java&#58;131)\n");
    ran_free(&r);
}

/* Long names of marks, which HTML and Markdown write with several letters each; a path of 90 objects, odd texts. */
Test(report, keeps_its_size_with_long_names)
{
    char name[6000];
    memset(name, '<', sizeof name - 1);
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t thread = dump_maker_class(m, "java.lang.Thread", object, "name:L");
    for (unsigned i = 0; i < 250; i++) {
        (void)snprintf(name + 5000, 10, "%u", i);
        const uint64_t class = dump_maker_class(m, name, object, "a:J b:J c:J");
        const uint64_t one = dump_maker_instance(m, class, NULL), own = dump_maker_instance(m, thread, NULL);
        uint64_t       frames[60];
        for (unsigned k = 0; k < 60; k++)
            frames[k] = dump_maker_frame(m, name, dump_maker_load(m, class, name), 1);
        dump_maker_trace(m, i + 1, i + 1, frames, 60);
        dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, own, i + 1, (int32_t)i + 1);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, one, 0, 0);
    }
    dump_maker_save(m, "long.hprof");
    dump_maker_free(m);
    ran r = tool_sh("\"$H\" report long.hprof --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strlen(r.out) < 1500000 && strlen(r.out) > 1000000, "%zu", strlen(r.out));
    expect_in(&r, "Rows that exceed the size of a document to mail were left out.");
    expect_in(&r, "</main></body></html>");
    ran_free(&r);
    r = tool_sh("\"$H\" report long.hprof --format md --quiet");
    cr_expect(strlen(r.out) <= 65536 && strlen(r.out) > 50000, "%zu", strlen(r.out));
    expect_in(&r, "Sections that exceed the size of a comment were left out");
    ran_free(&r);
}

Test(report, of_odd_names_and_texts_has_the_numbers_of_its_commands)
{
    odd_make("odd.hprof");
    expect_same_numbers("odd.hprof");
    ran r = tool_sh("\"$H\" report odd.hprof --quiet; \"$H\" report odd.hprof --format md --quiet");
    cr_expect(strchr(r.out, 0x1b) == NULL && strchr(r.out, '\t') == NULL);
    ran_free(&r);
}

/* ---- growth ---- */

static void save_growing(void)
{
    save_list("1.hprof", 2, true);
    save_list("2.hprof", 4, true);
    save_list("3.hprof", 40, true);
}

Test(report, of_two_dumps_says_what_grew)
{
    save_growing();
    ran r = tool_sh("\"$H\" report 1.hprof 3.hprof --format md --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    expect_in(&r, "# 3.hprof&#58; heap report");
    expect_in(&r, "| class path | objects | retained before | retained now | growth |");
    expect_in(&r, "<pre>$ heapdex diff --by dominator 1.hprof 3.hprof</pre>");
    ran_free(&r);
    expect_same_numbers("1.hprof 3.hprof");
    r = tool_sh("\"$H\" report shop.hprof.gz shop.hprof.gz --format md --quiet");
    cr_expect(r.code == 0 && strstr(r.out, "Nothing grew.") != NULL, "%s", r.err);
    ran_free(&r);
}

Test(report, of_more_dumps_draws_how_each_class_path_grew)
{
    save_growing();
    ran r = tool_sh("\"$H\" report 1.hprof 2.hprof 3.hprof --format md --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    expect_in(&r, " | \xe2\x96\x81\xe2\x96\x81\xe2\x96\x88 | ");
    expect_in(&r, "<pre>$ heapdex trend --by dominator 1.hprof 2.hprof 3.hprof</pre>");
    ran_free(&r);
    r = tool_sh("\"$H\" report 1.hprof 2.hprof 3.hprof --quiet");
    expect_in(
        &r,
        "</title><polyline fill=none stroke=currentColor stroke-width=1.5 points=\"2.0,18.0 30.0,17.2 58.0,2.0\"/>");
    ran_free(&r);
    expect_same_numbers("1.hprof 2.hprof 3.hprof");
    r = tool_sh("\"$H\" report 1.hprof 2.hprof 3.hprof --format json --quiet | python3 -c \"import json,sys;"
                "print(len(json.load(sys.stdin)['trend --by dominator']['dumps']))\"");
    cr_expect_str_eq(r.out, "3\n", "%s", r.err);
    ran_free(&r);
}

/* ---- what is missing ---- */

/* Expects sentences among the first facts and in the last section. */
static void expect_lack(const char *dump, const char *first, const char *last)
{
    ran   r = tool_sh("\"$H\" report %s --format md --quiet", dump);
    char *suspects = strstr(r.out, "## Suspects"), *missing = strstr(r.out, "## What this report does not contain");
    cr_assert(r.code == 0 && suspects != NULL && missing != NULL, "%s: %s", dump, r.err);
    cr_expect(strstr(missing, last) != NULL, "%s: no '%s' in %s", dump, last, missing);
    *suspects = '\0';
    cr_expect(strstr(r.out, first) != NULL, "%s: no '%s' in %s", dump, first, r.out);
    ran_free(&r);
}

Test(report, of_an_index_without_its_dump_says_so)
{
    ran r = tool_sh("\"$H\" index shop.hprof.gz --index-dir only.hdx --quiet && rm shop.hprof.gz && "
                    "\"$H\" report only.hdx --format md --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    expect_in(&r, "| bookshop.Bookshop&#36;SessionCache ");
    cr_expect(strstr(r.out, "heapdex duplicates") == NULL && strstr(r.out, "0 B |\n") == NULL, "what needs the dump");
    ran_free(&r);
    expect_lack("only.hdx", "Only the index is available, not the dump", "The dump is not available, only its index");
}

Test(report, of_a_cut_dump_says_so_and_where)
{
    ran r = tool_sh("gzip -dc shop.hprof.gz | head -c 3000000 >cut.hprof; \"$H\" report cut.hprof --format md --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    expect_in(
        &r, "| PRIMITIVE&#95;ARRAY&#95;DUMP | 2,998,312 | truncated | needs 2066 bytes; the file has fewer | 21,967 |");
    ran_free(&r);
    expect_lack("cut.hprof", "The dump is damaged", "The dump is damaged");
    expect_lack("cut.hprof", "The dump has no GC roots", "The dump has no GC roots");
}

Test(report, of_a_dump_without_live_objects_says_so)
{
    save_list("dead.hprof", 7, false);
    expect_lack("dead.hprof", "The dump has no GC roots", "The dump has no GC roots");
    save_list("live.hprof", 7, true);
    ran r = tool_sh("\"$H\" report live.hprof --format md --quiet");
    cr_expect(r.code == 0 && strstr(r.out, "no GC roots") == NULL && strstr(r.out, "damaged") == NULL);
    ran_free(&r);
}

Test(report, lists_heaps_of_android_and_views)
{
    save_list("heaps.hprof", 7, true);
    ran r = tool_sh("\"$H\" index heaps.hprof --view no-classes='-roots:STICKY_CLASS' --quiet && "
                    "\"$H\" report heaps.hprof --format md --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    expect_in(&r, "The process shares the heaps zygote and image with others");
    expect_in(&r, "\n| app | 8 | ");
    expect_in(&r, "\n| zygote | ");
    expect_in(&r, "\n| image | ");
    expect_in(&r, "\n| no-classes | ");
    ran_free(&r);
}
