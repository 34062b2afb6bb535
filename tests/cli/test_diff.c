/* test_diff.c - diff and trend as a person calls them: the exit status, what is told of failures, tables of 80 columns.
 */
#include "cli/leaky.h"
#include "cli/tool.h"
#include "compare/pair.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    cache_save("a.hprof", &(cache){ .entries = 3, .lambdas = 2, .nodes = 5, .time_ms = 1000 });
    cache_save("b.hprof", &(cache){ .entries = 10, .lambdas = 3, .nodes = 5, .run = 1, .time_ms = 2000 });
    cache_save("c.hprof", &(cache){ .entries = 25, .lambdas = 3, .nodes = 2, .run = 2, .time_ms = 3000 });
}
static void leave(void) { tool_leave(folder); }
TestSuite(diff, .init = enter, .fini = leave);

Test(diff, is_a_table_that_says_of_what)
{
    ran r = tool_sh("\"$H\" diff a.hprof b.hprof --limit 2");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_str_eq(r.out,
                     "a  a.hprof: 25 live objects, 416 B\n"
                     "b  b.hprof: 41 live objects, 888 B\n\n"
                     "objects_delta  shallow_delta  retained_a  retained_b  retained_delta       %  key\n"
                     "            0            0 B       352 B       800 B           448 B  127.3%  app.Cache\n"
                     "            1            0 B       368 B       816 B           448 B  121.7%  "
                     "java.lang.Class\n"
                     "           16          472 B       416 B       888 B           472 B  113.5%  total, 6 keys "
                     "(2 shown)\n");
    ran_free(&r);
    r = tool_sh("\"$H\" trend a.hprof b.hprof c.hprof --limit 2");
    cr_expect_str_eq(r.out,
                     "3 dumps, from a.hprof (416 B live) to c.hprof (1.7 KB)\n\n"
                     "rises  objects_grown  shallow_grown  retained_first  retained_last  retained_grown       %  "
                     "key\n"
                     "    2              0          176 B           216 B         1.6 KB          1.4 KB  651.9%  "
                     "java.lang.Object[]\n"
                     "    2              0            0 B           352 B         1.6 KB          1.3 KB  379.5%  "
                     "app.Cache\n"
                     "… 4 more rows\n");
    ran_free(&r);
    r = tool_sh("\"$H\" diff a.hprof a.hprof --format table && \"$H\" diff a.hprof b.hprof --by leak");
    cr_expect(strstr(r.out, "\n(they are the same in all of 9 rows: --all shows them)\n") != NULL, "%s", r.out);
    cr_expect(strstr(r.out, "\n(no dump has a leak of a watched object)\n") != NULL, "%s", r.out);
    ran_free(&r);
}

Test(diff, exits_with_1_and_says_why_where_a_condition_holds)
{
    ran r = tool_sh("\"$H\" diff a.hprof b.hprof --fail-on 'retained_delta > 230%%' --fail-on 'total.retained_delta > "
                    "100%%' --columns key --limit 1 --format csv");
    cr_expect(eq(int, r.code, 1), "%s", r.err);
    cr_expect_str_eq(r.out, "key\napp.Cache\n");
    cr_expect_str_eq(r.err, "heapdex: --fail-on 'total.retained_delta > 100%' is true for the whole heap\n"
                            "heapdex: --fail-on 'retained_delta > 230%' is true for app.Entry\n"
                            "heapdex: --fail-on 'retained_delta > 230%' is true for app.Name\n");
    ran_free(&r);
    r = tool_sh("\"$H\" diff a.hprof b.hprof --fail-on 'retained_delta > 500%%' --quiet >/dev/null");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" diff a.hprof b.hprof --all --fail-on 'objects_b >= 0' --fail-on 'objects_a >= 0' 2>&1 "
                ">/dev/null | tail -n 1");
    cr_expect_str_eq(r.out, "heapdex: and 8 more\n");
    ran_free(&r);
    /* words that are none are known before anything is built */
    r = tool_sh("rm -r *.hdx; \"$H\" diff a.hprof b.hprof --fail-on 'retained > 1'; ls");
    cr_expect_str_eq(r.out, "a.hprof\nb.hprof\nc.hprof\n");
    cr_expect(strstr(r.err,
                     "--fail-on \"retained > 1\": the rows have no such column of numbers\nhint: for example ") != NULL,
              "%s", r.err);
    ran_free(&r);
}

Test(diff, by_leak_is_by_signature)
{
    leaky_make("l.hprof", false);
    leaky_make("m.hprof", true);
    ran r =
        tool_sh("\"$H\" diff l.hprof m.hprof --by leak --all --format csv --columns "
                "label,objects_a,objects_b,retained_a,retained_b && \"$H\" diff l.hprof m.hprof --by leak --fail-on "
                "'objects_delta > 0' --format csv --columns label");
    cr_expect(eq(int, r.code, 1), "%s", r.err);
    cr_expect_str_eq(r.out, "label,objects_a,objects_b,retained_a,retained_b\n"
                            "application: app.Screen by Holder.second,0,1,0,1\n"
                            "application: app.Screen by Holder.first Node.next,1,1,1,1\n"
                            "unreachable: app.Screen,2,1,0,0\n"
                            "label\n"
                            "application: app.Screen by Holder.second\n"
                            "unreachable: app.Screen\n");
    cr_expect_str_eq(r.err, "heapdex: --fail-on 'objects_delta > 0' is true for "
                            "398563047381db6f0d7ca2fc56acce0c6e45bea7\n");
    ran_free(&r);
    r = tool_sh("\"$H\" trend l.hprof m.hprof --by leak --format csv --columns label,objects --quiet");
    cr_expect_str_eq(r.out, "label,objects\napplication: app.Screen by Holder.second,\"[0, 1]\"\n");
    ran_free(&r);
}

Test(diff, is_answered_from_indexes_alone_but_by_path)
{
    ran r =
        tool_sh("for d in a b; do \"$H\" index $d.hprof --quiet >/dev/null; done; \"$H\" diff a.hprof b.hprof --by "
                "dominator --format csv >with; mv a.hprof x; mv b.hprof y; \"$H\" diff a.hprof.hdx b.hprof.hdx --by "
                "dominator --format csv >without; cmp with without && \"$H\" diff a.hprof.hdx b.hprof.hdx --by path");
    cr_expect(eq(int, r.code, 3), "%s%s", r.out, r.err);
    ran_free(&r);
}

Test(diff, of_what_is_no_dump_says_which)
{
    ran r = tool_sh("echo no >d.hprof; \"$H\" diff a.hprof d.hprof");
    cr_expect(r.code == 3 && strstr(r.err, "heapdex: d.hprof: ") != NULL, "%d %s", r.code, r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" trend a.hprof gone.hprof");
    cr_expect(r.code == 3 && strstr(r.err, "heapdex: gone.hprof: ") != NULL, "%d %s", r.code, r.err);
    ran_free(&r);
    r = tool_sh("mkdir all && mv b.hprof c.hprof all && \"$H\" trend a.hprof all --by path --format csv --columns "
                "key,objects --quiet && \"$H\" diff a.hprof all");
    cr_expect(r.code == 3 && strstr(r.out, "[3, 10, 25]") != NULL, "%d %s%s", r.code, r.out, r.err);
    ran_free(&r);
}

/* What a question may hold bounds a comparison, too. */
Test(diff, within_too_little_memory_is_refused)
{
    ran r = tool_sh("for d in a b; do \"$H\" index $d.hprof --quiet >/dev/null; done; \"$H\" diff a.hprof b.hprof "
                    "--memory 20K");
    cr_expect(eq(int, r.code, 6), "%s%s", r.out, r.err);
    ran_free(&r);
}

/* Checked by somebody else's program, where there is one: all in one process, which takes longest to begin. */
Test(diff, agrees_with_its_schema)
{
    if (system("python3 -c 'import jsonschema' 2>/dev/null") != 0)
        cr_skip_test("no jsonschema for python3");
    ran r = tool_sh(
        "n=0; ask() { n=$((n + 1)); \"$H\" \"$@\" --format json --quiet >$n.answer && \"$H\" \"$@\" --schema "
        ">$n.schema; }\n"
        "for by in class package loader dominator path leak; do ask diff a.hprof b.hprof --by $by --fail-on "
        "'total.objects_b < 0' && ask diff a.hprof b.hprof c.hprof --all --by $by && ask trend a.hprof b.hprof c.hprof "
        "--by $by || exit; done\n"
        "ask trend a.hprof b.hprof c.hprof --of objects && ask trend a.hprof b.hprof b.hprof b.hprof c.hprof "
        "--outliers "
        "&& python3 -c '\n"
        "import glob, json, jsonschema\n"
        "names = glob.glob(\"*.answer\")\n"
        "for name in names:\n"
        "    schema = json.load(open(name.replace(\"answer\", \"schema\")))\n"
        "    jsonschema.Draft202012Validator.check_schema(schema)\n"
        "    jsonschema.validate(json.load(open(name)), schema)\n"
        "print(len(names))'");
    cr_expect_str_eq(r.out, "20\n", "%s", r.err);
    ran_free(&r);
}

Test(diff, of_a_folder_takes_its_dumps_and_tells_of_those_that_are_none)
{
    ran r =
        tool_sh("(printf 'JAVA PROFILE 1.0.2\\0\\0\\0\\0\\10\\0\\0\\0\\0\\0\\0\\0\\0'; "
                "printf 'no record of a dump') > odd.hprof; \"$H\" trend . --columns key,rises --limit 1 --format csv");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_str_eq(r.out, "key,rises\njava.lang.Object[],2\n");
    cr_expect(strstr(r.err, "warning: skipping ./odd.hprof: ") != NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" trend a.hprof odd.hprof b.hprof"); /* what is named is wanted */
    cr_expect(eq(int, r.code, 3), "%s", r.err);
    ran_free(&r);
    r = tool_sh("mkdir one && cp a.hprof odd.hprof one && \"$H\" trend one");
    cr_expect(eq(int, r.code, 2), "%s", r.err);
    cr_expect(strstr(r.err, "trend needs at least 2 dumps, but there is 1") != NULL, "%s", r.err);
    ran_free(&r);
}

Test(diff, of_the_folder_of_a_batch_takes_what_is_done)
{
    ran r =
        tool_sh("echo 'no dump' > odd.hprof; \"$H\" batch . --out out --ask info --index-dir made --quiet >/dev/null; "
                "\"$H\" trend out --columns key,rises,objects --limit 1 --format csv");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_str_eq(r.out, "key,rises,objects\njava.lang.Object[],2,\"[1, 1, 1]\"\n");
    cr_expect(strstr(r.err, "warning: skipping odd-") != NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("rm -r made/b-*; echo '{' > out/status/x.json; echo '{}' > out/status/y.json; echo x > "
                "out/status/notes; \"$H\" trend out --columns key,objects --limit 1 --format csv");
    cr_expect_str_eq(r.out, "key,objects\njava.lang.Object[],\"[1, 1]\"\n");
    cr_expect(strstr(r.err, "its index ") != NULL && strstr(r.err, " is missing\n") != NULL, "%s", r.err);
    cr_expect(strstr(r.err, "skipping out/status/x.json: it is not a valid status file") != NULL, "%s", r.err);
    cr_expect(strstr(r.err, "skipping out/status/y.json: it is not a valid status file") != NULL, "%s", r.err);
    cr_expect(strstr(r.err, "notes") == NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("rm -r made; \"$H\" trend out");
    cr_expect(eq(int, r.code, 2), "%s", r.err);
    cr_expect(strstr(r.err, "no dump of this batch is done") != NULL, "%s", r.err);
    ran_free(&r);
}

Test(diff, by_leak_goes_by_what_is_said_to_leak)
{
    ran  r = tool_sh("for d in a b c; do \"$H\" leaks $d.hprof --finder classes --class app.Entry --columns "
                      "signature,objects --format csv | tail -n +2; done");
    char signature[64];
    cr_assert(r.out[40] == ',', "%s%s", r.out, r.err);
    (void)snprintf(signature, sizeof signature, "%.40s", r.out);
    ran_free(&r);
    r = tool_sh("\"$H\" trend a.hprof b.hprof c.hprof --by leak --finder classes --class app.Entry --columns "
                "key,objects --format csv");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.out, signature) != NULL && strstr(r.out, ",\"[3, 10, 25]\"\n") != NULL, "%s", r.out);
    ran_free(&r);
    r = tool_sh("\"$H\" diff a.hprof b.hprof --by leak --finder classes --class Entry --columns "
                "key,objects_a,objects_b --format csv"); /* a simple name, as in leaks */
    cr_expect(strstr(r.out, signature) != NULL && strstr(r.out, ",3,10\n") != NULL, "%s%s", r.out, r.err);
    ran_free(&r);
    static const char *const wrong[] = { "--by leak --finder classes", "--by leak --class app.Entry",
                                         "--finder filters", "--by path --class app.Entry" };
    for (size_t i = 0; i < 4; i++) {
        r = tool_sh("rm -rf *.hdx; \"$H\" diff a.hprof b.hprof %s; ls", wrong[i]);
        cr_expect_str_eq(r.out, "a.hprof\nb.hprof\nc.hprof\n", "%s", wrong[i]);
        cr_expect(strstr(r.err, "must be used together") != NULL || strstr(r.err, "requires --by leak") != NULL, "%s",
                  r.err);
        ran_free(&r);
    }
}
