/* --limit of `path` cuts paths, each of which is shown whole. */
#include "cli/tool.h"
#include "support/dump_maker.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
    /* three objects with several paths each */
    ran r = tool_sh("\"$H\" export app.hprof.gz --table objects --where 'class ~ ^bookshop' --where 'inbound > 1' "
                    "--where 'kind = instance' --limit 3 --columns address | tail -n +2 >targets; "
                    "[ $(wc -l <targets) = 3 ]");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
}
static void leave(void) { tool_leave(folder); }
TestSuite(paths, .init = enter, .fini = leave);

/* Distinct values in the first column of csv. */
static unsigned paths_of(const char *csv)
{
    unsigned n = 0;
    long     last = 0;
    for (const char *line = strchr(csv, '\n'); line != NULL && line[1] != '\0'; line = strchr(line + 1, '\n'))
        if (strtol(line + 1, NULL, 10) != last) {
            last = strtol(line + 1, NULL, 10);
            n++;
        }
    return n;
}

static unsigned count_of(const char *text, const char *word)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        n++;
    return n;
}

static void expect_limit(const char *words, unsigned limit, unsigned paths)
{
    ran all = tool_sh("\"$H\" path app.hprof.gz - %s --format csv <targets", words);
    ran some = tool_sh("\"$H\" path app.hprof.gz - %s --format csv --limit %u <targets", words, limit);
    ran json = tool_sh("\"$H\" path app.hprof.gz - %s --format json --limit %u <targets", words, limit);
    cr_expect(eq(uint, paths_of(some.out), paths), "%s: %s", words, some.out);
    cr_expect(eq(uint, count_of(json.out, "\"target\":"), paths), "%s", words);
    cr_expect(eq(uint, count_of(json.out, "\"step\":"), lines_of(some.out) - 1), "%s", words);
    cr_expect(strncmp(some.out, all.out, strlen(some.out)) == 0, "%s: paths that are shown are the first, and whole",
              words);
    ran_free(&all);
    ran_free(&some);
    ran_free(&json);
}

Test(paths, are_cut_by_limit_and_their_steps_are_not)
{
    expect_limit("", 1, 1);
    expect_limit("", 2, 2);
    expect_limit("", 3, 3);
    expect_limit("", 4, 3);
    expect_limit("", 0, 3);
    expect_limit("--paths 2", 1, 1);
    expect_limit("--paths 2", 3, 3);
    expect_limit("--paths 2", 5, 5);
    expect_limit("--paths 2", 0, 6);
}

Test(paths, that_are_merged_are_cut_before)
{
    ran two = tool_sh("head -n 2 targets | \"$H\" path app.hprof.gz - --merge --format csv");
    ran cut = tool_sh("\"$H\" path app.hprof.gz - --merge --limit 2 --format csv <targets");
    cr_expect(two.code == 0 && lines_of(two.out) > 3, "%s%s", two.out, two.err);
    cr_expect_str_eq(cut.out, two.out);
    ran_free(&cut);
    ran json = tool_sh("\"$H\" path app.hprof.gz - --merge --limit 2 --format json <targets");
    cr_expect(eq(uint, count_of(json.out, "\"depth\":"), lines_of(two.out) - 1));
    cr_expect(eq(uint, count_of(json.out, "\"target\":"), 2));
    ran_free(&json);
    ran_free(&two);
}

Test(paths, that_are_merged_have_a_row_for_the_branches_with_few_objects)
{
    ran all =
        tool_sh("\"$H\" path app.hprof.gz --class 'byte[]' --merge --least 0 --format csv --columns objects,rest");
    ran cut = tool_sh("\"$H\" path app.hprof.gz --class 'byte[]' --merge --least 10%% --columns objects,object");
    ran bad = tool_sh("\"$H\" path app.hprof.gz --class 'byte[]' --merge --least some");
    ran alone = tool_sh("\"$H\" path app.hprof.gz --class 'byte[]' --least 5%%");
    cr_expect(all.code == 0 && lines_of(all.out) > 1000, "%s", all.err);
    cr_expect(cut.code == 0 && lines_of(cut.out) < 60 && strstr(cut.out, " others)\n") != NULL, "%s", cut.out);
    cr_expect(bad.code == 2 && strstr(bad.err, "least 'some': expected a share such as 0.1%") != NULL, "%s", bad.err);
    cr_expect(alone.code == 2 && strstr(alone.err, "--merge") != NULL, "%s", alone.err);
    ran_free(&all);
    ran_free(&cut);
    ran_free(&bad);
    ran_free(&alone);
    ran many = tool_sh("\"$H\" path app.hprof.gz --class 'byte[]' --class java.lang.Object --merge --format json");
    cr_expect(many.code == 0 && count_of(many.out, "\"depth\":") > 100, "%s", many.err);
    cr_expect(eq(uint, count_of(many.out, "\"target\":"), 0), "over 1,000 objects: no path of each");
    ran_free(&many);
}

Test(paths, that_are_left_out_are_said)
{
    static const char *const cases[][2] = {
        { "--limit 1", "1 of 3 paths (--limit 0 shows all)\n\n" },
        { "--limit 2 --merge", "2 of 3 paths (--limit 0 shows all)\n\n" },
        { "--limit 2 --paths 2", "2 paths of more (--limit 0 shows all)\n\n" },
        { "--limit 5 --paths 2", "5 of 6 paths (--limit 0 shows all)\n\n" },
        { "--limit 3", "GC root: " },
        { "", "GC root: " },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ran r = tool_sh("\"$H\" path app.hprof.gz - %s <targets", cases[i][0]);
        cr_expect(r.code == 0 && strncmp(r.out, cases[i][1], strlen(cases[i][1])) == 0, "%s: %s%s", cases[i][0], r.out,
                  r.err);
        ran_free(&r);
    }
}

/* From the root to the object, the address last, chains in one line; the output names objects as any other does. */
Test(paths, are_pages_of_a_line_a_step)
{
    ran r = tool_sh("\"$H\" path app.hprof.gz class:java.lang.Thread thread:clerk 0xfeb18ea8");
    cr_expect_str_eq(r.out, "GC root: system class\n"
                            "     120 B  class java.lang.Thread  0xfeaa1eb0\n"
                            "\n"
                            "GC root: thread\n"
                            "     224 B  Thread \"clerk\"  0xfed5a340\n"
                            "\n"
                            "GC root: thread\n"
                            "     224 B  Thread \"clerk\" <Java Local>       0xfed5a340\n"
                            "            in bookshop.Bookshop.lambda$main$0 (Bookshop.java:120)\n"
                            "      16 B  bookshop.Bookshop$Desk .visitors  0xfed5d9e0\n"
                            "    1.9 MB  bookshop.Bookshop$SessionCache    0xfeb18ea8\n");
    ran_free(&r);
    r = tool_sh("COLUMNS=48 \"$H\" path app.hprof.gz 0xfeb18ea8");
    cr_expect_str_eq(r.out, "GC root: thread\n"
                            "     224 B  Thread \"cle…<Java Local>  0xfed5a340\n"
                            "            in bookshop.Bookshop.lambda$main$0\n"
                            "            (Bookshop.java:120)\n"
                            "      16 B  b.Bookshop$…sk .visitors  0xfed5d9e0\n"
                            "    1.9 MB  b.Bookshop$SessionCache   0xfeb18ea8\n");
    ran_free(&r);
    r = tool_sh("\"$H\" path app.hprof.gz 0xfeb18ea8 | \"$H\" object app.hprof.gz - --format csv --columns address");
    cr_expect_str_eq(r.out, "address\n0xfed5a340\n0xfed5d9e0\n0xfeb18ea8\n");
    ran_free(&r);
    r = tool_sh("\"$H\" path app.hprof.gz 0xfeb18ea8 --columns step,address");
    cr_expect(strncmp(r.out, "step  address\n0     0xfed5a340\n", 31) == 0, "%s", r.out);
    ran_free(&r);
}

/* A list of 1,000 nodes from a static field. */
Test(paths, have_one_line_for_a_chain)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, ""),
                   node = dump_maker_class(m, "acme.Node", object, "next:L");
    uint64_t last = 0;
    for (unsigned i = 0; i < 1000; i++)
        last = dump_maker_instance(m, node, DUMP_VALUES(last));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
    char path[96];
    (void)snprintf(path, sizeof path, "%s/chain.hprof", folder);
    dump_maker_save(m, path);
    dump_maker_free(m);
    ran r =
        tool_sh("\"$H\" objects chain.hprof --class acme.Node --limit 1 --quiet | \"$H\" path chain.hprof - --quiet");
    cr_expect(strncmp(r.out, "GC root: JNI global\n", 20) == 0, "%s", r.out);
    cr_expect(strstr(r.out, "  acme.Node .next   (x 999)  0x") != NULL, "%s", r.out);
    cr_expect(eq(uint, lines_of(r.out), 3), "%s", r.out);
    ran_free(&r);
}

Test(paths, keep_conditions_and_order_of_rows_within_the_limit)
{
    ran r = tool_sh("\"$H\" path app.hprof.gz - --limit 2 --where 'step = 0' --sort path:desc --columns path,step "
                    "--format csv <targets");
    cr_expect_str_eq(r.out, "path,step\n2,0\n1,0\n", "%s", r.err);
    ran_free(&r);
}
