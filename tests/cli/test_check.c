/*
 * test_check.c - the gate as a build calls it: what breaks a rule and what does not, exit codes, the object and the
 * path that are told, files of rules, growth, reports.
 */
#include "cli/leaky.h"
#include "cli/tool.h"
#include "hprof/hprof.h"
#include "support/dump_maker.h"

static char *folder;

static void enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("shop.hprof.gz");
}
static void leave(void) { tool_leave(folder); }
TestSuite(check, .init = enter, .fini = leave);

static void expect(const char *words, int code, const char *out)
{
    ran r = tool_sh("\"$H\" check %s", words);
    cr_expect(eq(int, r.code, code), "%s: %d %s%s", words, r.code, r.out, r.err);
    cr_expect(strstr(r.out, out) != NULL || strstr(r.err, out) != NULL, "%s: '%s' not in\n%s%s", words, out, r.out,
              r.err);
    ran_free(&r);
}

static void write_text(const char *path, const char *text) { tool_write(path, text, strlen(text)); }

/*
 *     Holder.items -> Object[] -> `items` app.Item -> byte[1000] each
 *     Holder.chain -> app.Node .next -> app.Node ... `nodes` of them
 *     and one instance of `extra`, which a static holds; NULL: none
 */
static void make(const char *path, unsigned items, unsigned nodes, const char *extra)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java/lang/Object", 0, ""), refs[200], below = 0, other = 0;
    uint64_t    objects = dump_maker_class(m, "[Ljava/lang/Object;", object, "");
    uint64_t    item = dump_maker_class(m, "app/Item", object, "data:L");
    uint64_t    node = dump_maker_class(m, "app/Node", object, "next:L");
    cr_assert(items <= 200);
    for (unsigned i = 0; i < items; i++)
        refs[i] = dump_maker_instance(m, item, DUMP_VALUES(dump_maker_primitives(m, 'B', NULL, 1000)));
    for (unsigned i = 0; i < nodes; i++)
        below = dump_maker_instance(m, node, DUMP_VALUES(below));
    if (extra != NULL)
        other = dump_maker_instance(m, dump_maker_class(m, extra, object, ""), NULL);
    dump_maker_static(m, "items", 'L', dump_maker_array(m, objects, refs, items));
    dump_maker_static(m, "chain", 'L', below);
    dump_maker_static(m, "other", 'L', other);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app/Holder", object, ""), 0, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

/* ---- the bookshop ---- */

Test(check, tells_of_each_broken_rule_what_was_found_and_what_holds_it)
{
    static const char *const all[][2] = {
        { "--max 'retained bookshop.* 1M'",
          "max retained bookshop.* 1M: 2.1 MB by 2,038 objects of 9 classes, more than 1.0 MB; "
          "bookshop.Bookshop$SessionCache 0xfeb18ea8 keeps 1.9 MB; thread: java.lang.Thread \"clerk\" <Java Local> "
          "-> "
          "bookshop.Bookshop$Desk .visitors -> bookshop.Bookshop$SessionCache\n" },
        { "--max 'retained bookshop.Bookshop$SessionCache 70.4%'",
          ": 70.49% (1.9 MB) by 1 object, more than 70.40%; " },
        { "--max 'objects bookshop.Bookshop$Session 269'", ": 270, more than 269; bookshop.Bookshop$Session 0x" },
        { "--max 'objects bookshop.Bookshop$Session 269'", ".table -> java.util.HashMap$Node[] [33] -> java.util." },
        { "--max 'objects java.util.AbstractMap+ 300'", "max objects java.util.AbstractMap+ 300: 309 by 11 classes, " },
        { "--max 'shallow byte[] 1M'", ": 2.0 MB by 4,669 objects, more than 1.0 MB; byte[] 0x" },
        { "--max 'live 2M'", "max live 2M: 2.7 MB, more than 2.0 MB; bookshop.Bookshop$SessionCache 0xfeb18ea8" },
        { "--max 'unreachable 6k'", "max unreachable 6k: 6.5 KB, more than 6.0 KB\n" },
        { "--max 'classes 600'", "max classes 600: 632, more than 600\n" },
        { "--max 'threads 7'", "max threads 7: 8, more than 7; java.lang.Thread 0x" },
        { "--max 'threads cl* 0'", "1, more than 0; java.lang.Thread 0xfed5a340 keeps 224 B; thread: java.lang.Thread "
                                   "\"clerk\"\n" },
        { "--max 'open-files file 2'", "max open-files file 2: 3, more than 2; java.io.FileInputStream 0x" },
        { "--max 'waste strings 4095'", "max waste strings 4095: 4.0 KB, more than 4.0 KB; java.lang.String 0x" },
        { "--max 'waste collections 75k'", "75.7 KB, more than 75.0 KB; java.util.concurrent.ConcurrentHashMap 0x" },
        { "--max 'waste arrays 60%'", ": 70.16% (1.9 MB), more than 60%\n" },
        { "--no-suspects 30%",
          "no suspects 30%: one HashMap in the field sessions of one bookshop.Bookshop$SessionCache in the " },
        { "--min 'objects bookshop.Bookshop 2'", "min objects bookshop.Bookshop 2: 1, less than 2\n" },
        { "--rule 'cache: max live 2M because of the pod'", "cache: max live 2M: 2.7 MB, more than 2.0 MB; " },
        { "--rule 'cache: max live 2M because of the pod'", " -> bookshop.Bookshop$SessionCache (because of the pod)" },
    };
    char   words[2048] = "shop.hprof.gz --max 'live 1G'";
    size_t len = strlen(words), rules = 1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (i == 0 || strcmp(all[i][0], all[i - 1][0]) != 0) {
            len += (size_t)snprintf(words + len, sizeof words - len, " %s", all[i][0]);
            rules++;
        }
    ran  r = tool_sh("\"$H\" check %s", words);
    char last[64];
    (void)snprintf(last, sizeof last, "\n%zu of %zu rules are broken\n", rules - 1, rules);
    cr_expect(r.code == 1 && strstr(r.out, last) != NULL, "%d %s%s", r.code, r.out, r.err);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cr_expect(strstr(r.out, all[i][1]) != NULL, "%s: '%s' not in\n%s", all[i][0], all[i][1], r.out);
    ran_free(&r);
}

Test(check, says_so_where_all_rules_hold)
{
    expect("shop.hprof.gz --max 'retained bookshop.* 3M' --max 'objects bookshop.Bookshop$Session 270'", 0,
           "all 2 rules hold\n");
    expect("shop.hprof.gz --max 'waste strings 4k' --max 'duplicate-classes 0' --max 'direct-buffers 1' --no-damage "
           "--no-suspects 71% --min 'threads main 1'",
           0, "all 6 rules hold\n");
    expect("shop.hprof.gz --max 'live 1G'", 0, "the rule holds\n");
}

/* It may be a slip of the pen, and nobody wants a build to fail where a class is gone. */
Test(check, takes_a_class_that_is_not_there_for_none_and_says_so)
{
    expect("shop.hprof.gz --max 'objects bookshop.Bookshop$Sesion 1'", 0,
           "note: max objects bookshop.Bookshop$Sesion 1: no class is called bookshop.Bookshop$Sesion: did you mean "
           "bookshop.Bookshop$Session?\nthe rule holds\n");
    expect("shop.hprof.gz --min 'objects bookshop.Bookshop$Sesion 1'", 1, ": 0, less than 1\nnote: ");
    expect("shop.hprof.gz --max 'objects HashMap 1'", 1, "note: max objects HashMap 1: HashMap is interpreted as ");
    expect("shop.hprof.gz --max 'objects Node 1'", 4, "Node"); /* of several packages: nobody knows which is meant */
    expect("shop.hprof.gz --max 'objects /(/ 1'", 2, "missing closing parenthesis");
}

Test(check, refuses_a_wrong_rule_before_it_builds_anything)
{
    expect("shop.hprof.gz --max 'retaind com.acme.* 50M'", 2,
           "heapdex: rule 'max retaind com.acme.* 50M': unknown measure 'retaind'\nhint: did you mean 'retained'?");
    expect("shop.hprof.gz --growth 10%", 2, "--growth needs --baseline");
    expect("shop.hprof.gz --max 'live 1G' --baseline shop.hprof.gz", 2,
           "no rule uses the baseline\nhint: add a rule such as --growth");
    expect("shop.hprof.gz --rule 'growth 10%'", 2, "rule 'growth 10%' needs a baseline\nhint: name a dump");
    expect("shop.hprof.gz --rules none.rules", 2, "none.rules: cannot be read: No such file");
    expect("shop.hprof.gz", 2, "check needs a rule\nhint: --max 'retained com.acme.* 50M'");
    expect("shop.hprof.gz --max 'live 1G' --sarif - --junit -", 2, "only one report can be written to standard output");
    expect("no.hprof --max 'live 1G'", 3, "no.hprof");
    expect(
        "shop.hprof.gz --max retained com.acme.Cache 50M", 2,
        "unexpected argument 'com.acme.Cache'\nhint: quote a rule as one argument: --max 'retained com.acme.* 50M'\n");
    expect("shop.hprof.gz --max 'live 50 MB'", 2,
           "unexpected word 'MB'\nhint: write a value as one word, such as 50MB");
    write_text("heap.rules", "# the shop\nmax live 1G\n\nmax lve 1G\n");
    expect("shop.hprof.gz --rules heap.rules", 2, "heap.rules: line 4: rule 'max lve 1G': unknown measure 'lve'");
    write_text("heap.rules", "max live 1G\n\nmax objects /x(/ 10\n");
    expect("shop.hprof.gz --rules heap.rules", 2,
           "heap.rules: line 3: rule 'max objects /x(/ 10': regular expression \"x(\": missing closing parenthesis at "
           "byte 2");
    write_text("heap.rules", "# nothing\n");
    expect("shop.hprof.gz --rules heap.rules", 2, "the files of rules contain no rule");
    cr_expect(access("shop.hprof.gz.hdx", F_OK) != 0);
}

Test(check, names_the_line_of_a_rule_that_shows_its_fault_while_it_is_measured)
{
    write_text("heap.rules", "max live 1G\nmax objects '/(a+)+(b*)*(.*.*)*x/' 10\n");
    expect("shop.hprof.gz --rules heap.rules", 2,
           "heap.rules: line 2: regular expression \"(a+)+(b*)*(.*.*)*x\" is too costly: stopped after");
    expect("shop.hprof.gz --max 'objects /(a+)+(b*)*(.*.*)*x/ 10'", 2,
           "heapdex: regular expression \"(a+)+(b*)*(.*.*)*x\"");
}

Test(check, has_rows_of_all_rules_in_every_format)
{
    write_text("heap.rules", "# the shop\nbig: max live 2M   because the pod has 3M\nno damage\n");
    expect("shop.hprof.gz --rules heap.rules --format csv --columns rule,name,state,measured,limit,unit,file,line", 1,
           "rule,name,state,measured,limit,unit,file,line\n"
           "max live 2M,big,broken,2788024,2097152,bytes,heap.rules,2\nno damage,,holds,0,0,count,heap.rules,3\n");
    expect("shop.hprof.gz --rules heap.rules --format json", 1,
           "\"check\": {\"rules\": 2, \"broken\": 1, \"findings\": 1, \"holds\": false}");
    expect("shop.hprof.gz --rules heap.rules --where 'state = holds' --columns rule,message", 1,
           "no damage  the dump is not damaged\n"); /* whatever is shown, a broken rule is one */
}

/* An index that travels alone: what it does not know must not count as nothing. */
Test(check, does_not_hold_for_want_of_the_dump)
{
    ran r = tool_sh("\"$H\" index shop.hprof.gz --until outbound --index-dir half.hdx && \"$H\" index shop.hprof.gz && "
                    "mv shop.hprof.gz.hdx alone.hdx && rm shop.hprof.gz");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    expect("alone.hdx --max 'waste strings 1'", 3,
           "the dump is not available\nhint: only values of fields and arrays need");
    expect("alone.hdx --max 'threads main 0'", 3, "not available");
    expect("half.hdx --max 'live 1'", 3, "half.hdx");
    expect("alone.hdx --max 'open-files 0'", 3, "not available");
    expect("alone.hdx --max 'retained bookshop.* 1M' --max 'threads 7'", 1,
           "thread: java.lang.Thread <Java Local> -> bookshop.Bookshop$Desk <field> -> bookshop.Bookshop$SessionCache");
}

Test(check, notes_what_a_stripped_dump_cannot_tell)
{
    ran r = tool_sh("\"$H\" strip shop.hprof.gz --policy koom -o small.hprof");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    expect("small.hprof --max 'waste arrays 1'", 0, "note: max waste arrays 1: the dump is stripped: removed data");
}

/* ---- made heaps ---- */

Test(check, measures_growth_by_class_against_another_dump_or_its_index)
{
    make("old.hprof", 100, 10, "app/Old$$Lambda$14");
    make("new.hprof", 200, 10, "app/Old$$Lambda$27");
    expect("new.hprof --baseline old.hprof --growth '10% above 10k'", 1,
           "growth 10% above 10k: app.Item: 204.7 KB, 102.3 KB in the baseline; growth 100%, allowed 10%; app.Item 0x");
    expect("new.hprof --baseline old.hprof --growth '10% above 10k'", 1,
           " .items -> java.lang.Object[] [0] -> app.Item .data -> byte[]\n1 of 1 rule is broken\n");
    expect("new.hprof --baseline old.hprof --growth 10%", 0, "the rule holds\n"); /* nothing is above 1M */
    expect("new.hprof --baseline old.hprof --growth 'objects app.Item 99'", 1,
           "app.Item: 200, 100 in the baseline; growth 100, allowed 99");
    expect("new.hprof --baseline old.hprof --growth 'objects app.Item 100' --growth 'app.No* 0%'", 0,
           "all 2 rules hold\n");
    expect("new.hprof --baseline old.hprof --growth 'objects app.* 0% above 0' --max 'objects app.Item 200'", 1,
           "\n1 of 2 rules is broken\n"); /* lambdas are the same ones under another number */
    expect("old.hprof --baseline new.hprof --growth '0% above 0'", 0, "the rule holds\n");
    make("none.hprof", 0, 10, NULL);
    expect("new.hprof --baseline none.hprof --growth 'app.Item 500%'", 1, "KB, none in the baseline; app.Item 0x");
    expect("none.hprof --baseline new.hprof --growth 'app.Itme 500%'", 0, "no class is called app.Itme");
    expect("new.hprof --baseline lost.hprof --growth 1%", 3, "lost.hprof");
    make("spring.hprof", 100, 10, "app/Old$$EnhancerBySpringCGLIB$$3f2a"); /* so are classes that libraries make */
    make("again.hprof", 100, 10, "app/Old$$EnhancerBySpringCGLIB$$77b0");
    expect("again.hprof --baseline spring.hprof --growth 'objects 0% above 0'", 0, "the rule holds\n");
    make("other.hprof", 100, 10, "app/New$$EnhancerBySpringCGLIB$$77b0");
    expect("other.hprof --baseline spring.hprof --growth 'objects 0% above 0'", 1,
           "app.New$$EnhancerBySpringCGLIB$$*: 1, none in the baseline; app.New$$EnhancerBySpringCGLIB$$77b0 0x");
    ran r = tool_sh("mv old.hprof.hdx base.hdx && rm old.hprof && \"$H\" check new.hprof --baseline base.hdx --growth "
                    "'objects app.Item 10%%'");
    cr_expect(r.code == 1 && strstr(r.out, "app.Item: 200, 100 in the baseline; growth 100%") != NULL, "%d %s%s",
              r.code, r.out, r.err);
    ran_free(&r);
}

/* What is left out of one is counted, and the rest of a rule's findings, too. */
Test(check, shortens_long_paths_and_long_lists_of_findings)
{
    make("long.hprof", 0, 50, NULL);
    make("short.hprof", 0, 2, NULL);
    expect("long.hprof --max 'objects app.Node 49'", 1, "; system class: class app.Holder .chain -> app.Node\n");
    expect("long.hprof --max 'objects byte[] 0' --max 'retained app.Node 1'", 1, "by 50 objects, more than 1 B; app.N");
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java/lang/Object", 0, ""), last = 0;
    uint64_t    node = dump_maker_class(m, "app/Node", object, "next:L"),
             leaf = dump_maker_class(m, "app/Leaf", object, "");
    for (unsigned i = 0; i < 50; i++)
        last = dump_maker_instance(m, node, DUMP_VALUES(i == 0 ? dump_maker_instance(m, leaf, NULL) : last));
    for (unsigned i = 0; i < 30; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "app/Many%u", i);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, dump_maker_class(m, name, object, ""), NULL),
                        0, 0);
    }
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
    dump_maker_save(m, "deep.hprof");
    dump_maker_free(m);
    expect("deep.hprof --max 'objects app.Leaf 0'", 1, "-> app.Node .next -> (31 more) -> app.Node .next -> ");
    expect("deep.hprof --baseline short.hprof --growth 'objects app.Many* 0% above 0'", 1,
           "objects app.Many* 0% above 0: 10 more classes\n1 of 1 rule is broken\n");
}

Test(check, finds_leaks_with_their_path_and_their_kind)
{
    leaky_make("a.hprof", true);
    expect("a.hprof --no-leaks application", 1,
           "no leaks application: application leak: 1 object of app.Screen, 1 B retained, by Holder.second; app.Screen "
           "0x");
    expect("a.hprof --no-leaks application", 1, "; system class: app.Holder .first -> app.Node .next -> app.Screen\n");
    expect("a.hprof --no-leaks library", 0, "the rule holds\n");
    expect("a.hprof --no-leaks all", 1, "no leaks all: unreachable leak: 1 object of app.Screen");
    expect("shop.hprof.gz --rule 'no leaks all filters'", 0, "the rule holds\n");
    expect("shop.hprof.gz --no-leaks all", 0, "note: no leaks all: the dump has no watched objects");
}

Test(check, takes_damage_for_a_warning_unless_a_rule_forbids_it)
{
    make("whole.hprof", 100, 10, NULL);
    ran r = tool_sh("head -c 20000 whole.hprof >cut.hprof");
    ran_free(&r);
    expect("cut.hprof --max 'live 1G'", 0, "warning: the dump is damaged in ");
    expect("cut.hprof --no-damage", 1, "no damage: the dump is damaged in ");
    expect("whole.hprof --no-damage", 0, "the rule holds\n");
}

Test(check, looks_at_a_view_where_it_can)
{
    expect("shop.hprof.gz --max 'live 1G' --view none", 4, "none");
    ran r = tool_sh("\"$H\" index shop.hprof.gz --view no-statics='-field:bookshop.Bookshop#SESSIONS' && \"$H\" index "
                    "shop.hprof.gz --view bare='-roots:SYSTEM_CLASS'");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    expect("shop.hprof.gz --max 'live 2788023' --view bare", 0, "View bare: -roots:SYSTEM_CLASS\n\nthe rule holds\n");
    expect("shop.hprof.gz --no-leaks all --view bare", 2, "leaks uses its own roots and references");
    expect("shop.hprof.gz --growth 1% --baseline shop.hprof.gz --view bare", 2, "a view cannot be compared");
}

/* ---- reports ---- */

static void expect_in(const char *path, const char *text)
{
    char *content = tool_read(path);
    cr_assert(content != NULL, "%s", path);
    cr_expect(strstr(content, text) != NULL, "%s: '%s' not in\n%s", path, text, content);
    free(content);
}

static void expect_not_in(const char *path, const char *text)
{
    char *content = tool_read(path);
    cr_assert(content != NULL, "%s", path);
    cr_expect(strstr(content, text) == NULL, "%s: '%s' in\n%s", path, text, content);
    free(content);
}

Test(check, reports_as_junit_sarif_and_markdown)
{
    write_text("heap.rules", "# the shop\nsessions: max objects bookshop.Bookshop$Session 200 because nobody signs "
                             "out\nmax live 1G\n");
    expect("shop.hprof.gz --rules heap.rules --no-suspects 30% --junit o.xml --sarif o.sarif --markdown o.md", 1,
           "2 of 3 rules are broken\n");
    expect_in("o.xml", "<testsuite id=\"0\" name=\"shop.hprof.gz\" package=\"heapdex\" tests=\"3\" "
                       "failures=\"2\" errors=\"0\" time=\"0\" timestamp=\"2");
    expect_in("o.xml",
              "<testcase classname=\"check.max-objects\" name=\"sessions\" time=\"0\">\n      <failure message=\"270, "
              "more than 200\" type=\"max-objects\">max objects bookshop.Bookshop$Session 200\n");
    expect_in("o.xml", "GC root: thread\n-&gt; java.lang.Thread");
    expect_in("o.xml", "<testcase classname=\"check.max-live\" name=\"max live 1G\" time=\"0\"/>");
    expect_in("o.sarif", "{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"version\": \"2.1.0\"");
    expect_in("o.sarif", "\"ruleId\": \"sessions\", \"ruleIndex\": 0, \"level\": \"error\"");
    expect_in("o.sarif",
              "\"fullDescription\": {\"text\": \"There are more instances of these classes than the rule allows.");
    expect_in("o.sarif", "\"help\": {\"text\": \"Follow the path of the result from the GC root to the object");
    expect_in("o.sarif", "{\"artifactLocation\": {\"uri\": \"heap.rules\"}, \"region\": {\"startLine\": 2}}");
    expect_in("o.sarif", "\"partialFingerprints\": {\"heapdexFinding/v1\": \"no-suspects:bookshop.Bookshop$Session");
    expect_in("o.sarif", "\"text\": \"GC root, thread: java.lang.Thread");
    expect_not_in("o.sarif", "\"level\": \"error\", \"message\": {\"text\": \"max live"); /* it holds */
    expect_in("o.md", "### Heap check: 2 of 3 rules broken\n\n<code>shop.hprof.gz</code>\n");
    expect_in("o.md",
              "| :x: | sessions: <code>max objects bookshop.Bookshop&#36;Session 200</code> | 270, more than 2");
    expect_in("o.md", "| :white_check_mark: | <code>max live 1G</code> | 2.7 MB, at most 1.0 GB |\n");
    expect_in("o.md",
              "```text\nbookshop.Bookshop$Session 0xfeb7a668 keeps 12.2 KB\nGC root: thread\n-> java.lang.Thread");
    expect("shop.hprof.gz --max 'live 1G' --markdown - --junit -o", 0, "### Heap check: the rule holds\n");
    ran r = tool_sh("\"$H\" check shop.hprof.gz --max 'live 1G' --sarif -");
    cr_expect(r.code == 0 && r.out[0] == '{' && strstr(r.out, "rule holds") == NULL, "%d %s", r.code, r.out);
    ran_free(&r);
}

/* Each of them is whole or as it was, and a gate that cannot report does not say that all is well. */
Test(check, keeps_a_report_that_it_cannot_write_as_it_was)
{
    expect("shop.hprof.gz --max 'live 1G' --sarif nowhere/o.sarif", 7, "nowhere/o.sarif");
    expect("shop.hprof.gz --max 'live 1G' --junit shop.hprof.gz", 2, "is an input of this call");
    write_text("o.md", "what was there");
    expect("shop.hprof.gz --max 'lve 1G' --markdown o.md", 2, "unknown measure");
    expect_in("o.md", "what was there");
}

/* A class may be called anything, and a label is any text. */
Test(check, writes_evil_names_so_that_no_reader_takes_them_for_more_than_names)
{
    make("evil.hprof", 0, 1, "app/<b>&\"'|`@me_*x*\x01\xff\x1b[2J\xef\xbf\xbf$y$");
    make("plain.hprof", 0, 1, NULL);
    expect("evil.hprof --max 'objects app.<* 0' --baseline plain.hprof --growth '1% above 0' --junit o.xml --sarif "
           "o.sarif --markdown o.md",
           1, "app.<b>&\"'|`@me_*x*\\x01\\xff\\x1b[2J");
    expect_in("o.xml", "app.&lt;b&gt;&amp;&quot;'|`@me_*x*\\x01\\xff\\x1b[2J\\xef\\xbf\\xbf$y$");
    expect_in("o.sarif", "app.<b>&\\\"'|`@me_*x*\\\\x01\\\\xff\\\\x1b[2J");
    expect_in("o.md", "app.&#60;b&#62;&#38;&#34;&#39;&#124;&#96;&#64;me&#95;&#42;x&#42;&#92;x01");
    expect_in("o.md", "&#64;&#8203;me"); /* in running text a mention would call somebody */
    static const char *const reports[] = { "o.xml", "o.sarif", "o.md" };
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        char    *text = tool_read(reports[i]);
        unsigned steering = 0;
        for (const char *p = text; *p != '\0'; p++)
            steering += (unsigned char)*p < ' ' && *p != '\n';
        cr_expect(eq(uint, steering, 0), "%s", reports[i]);
        free(text);
    }
}
