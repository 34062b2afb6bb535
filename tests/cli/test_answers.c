/* The program at work on the dump of examples/: answers, files, pipes, places, signals. */
#include "cli/tool.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof");
}
static void leave(void) { tool_leave(folder); }
TestSuite(answers, .init = enter, .fini = leave);

static ran good(const char *words)
{
    ran r = tool_sh("\"$H\" %s", words);
    cr_expect(eq(int, r.code, 0), "%s: %d %s", words, r.code, r.err);
    return r;
}

static void expect_in(const char *words, const char *text)
{
    ran r = good(words);
    cr_expect(strstr(r.out, text) != NULL, "%s: %s not in\n%.2000s", words, text, r.out);
    ran_free(&r);
}

Test(answers, tables_are_cut_at_25_rows_and_say_so)
{
    ran r = good("histogram app.hprof");
    cr_expect(strstr(r.out, "\n 23,875    2.7 MB         total, 262 classes (25 shown; --limit 0 shows all)\n") != NULL,
              "%s", r.out);
    cr_expect(eq(uint, lines_of(r.out), 25 + 2));
    ran_free(&r);
    r = good("histogram app.hprof --limit 3");
    cr_expect(strstr(r.out, "--limit") == NULL, "%s", r.out);
    ran_free(&r);
    r = good("histogram app.hprof --limit 0");
    cr_expect(gt(uint, lines_of(r.out), 200));
    ran_free(&r);
    r = good("histogram app.hprof --format csv");
    cr_expect(gt(uint, lines_of(r.out), 200));
    cr_expect(strncmp(r.out, "class,loader,objects,shallow,retained,percent,loader_name,origin\n", 65) == 0, "%.100s",
              r.out);
    ran_free(&r);
}

Test(answers, tables_say_how_many_rows_are_left_out)
{
    static const char *const questions[] = { "histogram app.hprof",
                                             "dominators app.hprof",
                                             "dominators app.hprof thread:clerk",
                                             "objects app.hprof --class 'java.lang.*'",
                                             "objects app.hprof --class java.lang.Class --reachable all",
                                             "objects app.hprof --class java.lang.String --reachable garbage",
                                             "objects app.hprof --class java.lang.ClassLoader --subclasses",
                                             "roots app.hprof" };
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        ran all = tool_sh("\"$H\" %s --format jsonl", questions[i]);
        ran r = tool_sh("\"$H\" %s --limit 1", questions[i]);
        cr_assert(gt(uint, lines_of(all.out), 2), "%s: %s", questions[i], all.err);
        char           want[64], count[16];
        const unsigned lines = lines_of(all.out), left = lines - (i != 0);
        (void)snprintf(count, sizeof count, left < 1000 ? "%.0u%u" : "%u,%03u", left / 1000, left % 1000);
        (void)snprintf(want, sizeof want, i == 0 ? "total, %s classes (1 shown)\n" : "… %s more rows", count);
        cr_expect(strstr(r.out, want) != NULL, "%s: %s not in\n%s", questions[i], want, r.out);
        ran_free(&all);
        ran_free(&r);
    }
}

Test(answers, info_fits_a_screen_and_has_every_row_for_who_shapes_them)
{
    ran r = good("info app.hprof");
    cr_expect(le(uint, lines_of(r.out), 40), "%s", r.out);
    cr_expect(strstr(r.out, "\nindex        app.hprof.hdx: 15 files, ") != NULL, "%s", r.out);
    cr_expect(strstr(r.out, "(--verbose lists them)") != NULL && strstr(r.out, "INSTANCE_DUMP") == NULL, "%s", r.out);
    cr_expect(strstr(r.out, "\nlive         23,875 objects of 632 classes, 2.7 MB; ") != NULL, "%s", r.out);
    ran_free(&r);
    r = good("info app.hprof --verbose");
    cr_expect(strstr(r.out, "  INSTANCE_DUMP ") != NULL, "%s", r.out);
    cr_expect(strstr(r.out, "\n             retained  ") != NULL, "%s", r.out);
    ran_free(&r);
    r = good("info app.hprof --where 'key ~ INSTANCE' --columns key");
    cr_expect_str_eq(r.out, "key\nrecords.INSTANCE_DUMP\n");
    ran_free(&r);
    r = good("info app.hprof --format csv");
    cr_expect(strstr(r.out, "records.INSTANCE_DUMP,") != NULL && strstr(r.out, "index.files.retained.bytes,") != NULL,
              "%s", r.out);
    ran_free(&r);
}

Test(answers, class_objects_say_which_class_they_are)
{
    ran r = good("object app.hprof class:java.lang.String --columns class,label --format csv");
    cr_expect_str_eq(r.out, "class,label\njava.lang.Class,class java.lang.String\n");
    ran_free(&r);
    r = tool_sh("\"$H\" index app.hprof --quiet >index.log && mv app.hprof.hdx away && \"$H\" object away "
                "class:java.lang.String --columns label --format csv");
    cr_expect_str_eq(r.out, "label\nclass java.lang.String\n", "%s", r.err);
    ran_free(&r);
}

Test(answers, pages_of_nothing_say_so)
{
    ran r = tool_sh("\"$H\" threads app.hprof --stacks --where 'name = nobody'");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_str_eq(r.out, "(the condition excludes all 8 rows)\n");
    ran_free(&r);
}

Test(answers, many_targets_without_a_path_are_said_in_one_line)
{
    ran r = tool_sh("\"$H\" objects app.hprof --class '*' --reachable garbage --limit 300 --columns address --format "
                    "csv | tail -n +2 >some; "
                    "wc -l <some; \"$H\" path app.hprof - <some >/dev/null");
    int count = atoi(r.out);
    cr_expect(count > 5);
    char want[96];
    (void)snprintf(want, sizeof want, "heapdex: app.hprof: no GC root reaches %d of the objects, first 0x", count);
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strncmp(r.err, want, strlen(want)) == 0 && strchr(r.err, '\n') == strrchr(r.err, '\n'), "%s", r.err);
    ran_free(&r);
}

Test(answers, a_target_without_a_path_is_said)
{
    ran r = tool_sh("\"$H\" objects app.hprof --class '*' --reachable garbage --limit 1 --columns address --format csv "
                    "| tail -n 1 | \"$H\" path app.hprof -");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.err, "heapdex: app.hprof: no GC root reaches 0x") != NULL, "%s", r.err);
    cr_expect_str_eq(r.out, "(no GC root reaches it)\n");
    ran_free(&r);
}

Test(answers, an_index_of_another_dump_never_answers_and_is_never_replaced)
{
    static const char *const calls[] = { "histogram cut.hprof", "index --force cut.hprof",
                                         "histogram --no-build cut.hprof", "remove cut.hprof",
                                         "histogram sub/app.hprof" };
    ran r = tool_sh("mkdir sub; gzip -dc <app.hprof >other.hprof && head -c 3000000 other.hprof >cut.hprof && "
                    "cp cut.hprof sub/app.hprof && \"$H\" index app.hprof --index-dir one.hdx --quiet >log && "
                    "cat one.hdx/* | cksum >want");
    cr_expect(eq(int, r.code, 0), "%s%s", r.out, r.err);
    ran_free(&r);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        r = tool_sh("\"$H\" %s --index-dir one.hdx", calls[i]);
        cr_expect(eq(int, r.code, 3), "%s: %s", calls[i], r.err);
        cr_expect(strstr(r.err, "heapdex: one.hdx: is the index of another dump: /") != NULL &&
                      strstr(r.err, "/app.hprof, not ") != NULL,
                  "%s", r.err);
        ran_free(&r);
    }
    r = tool_sh(
        "cat one.hdx/* | cksum | cmp - want && \"$H\" histogram app.hprof --index-dir one.hdx --no-build --limit 1");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    r = tool_sh("cp cut.hprof app.hprof && \"$H\" histogram app.hprof --index-dir one.hdx --format csv >got && "
                "\"$H\" histogram cut.hprof --format csv --quiet >want && cmp want got");
    cr_expect(eq(int, r.code, 0), "%s%s", r.out, r.err);
    cr_expect(strstr(r.err, "heapdex: app.hprof: the dump changed since it was indexed: rebuilding\n") != NULL, "%s",
              r.err);
    ran_free(&r);
}

Test(answers, tables_fit_80_columns_when_asked)
{
    static const char *const questions[] = { "histogram app.hprof",
                                             "dominators app.hprof",
                                             "info app.hprof",
                                             "objects app.hprof --class 'java.lang.*'",
                                             "roots app.hprof",
                                             "threads app.hprof",
                                             "path app.hprof thread:clerk",
                                             "suspects app.hprof --threshold 1",
                                             "refs app.hprof thread:clerk",
                                             "index app.hprof",
                                             "verify app.hprof" };
    cr_assert(setenv("COLUMNS", "80", 1) == 0);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        ran r = good(questions[i]);
        cr_expect(le(uint, longest_line(r.out), 80), "%s\n%.3000s", questions[i], r.out);
        ran_free(&r);
    }
}

Test(answers, rows_are_kept_sorted_cut_then_columns_chosen)
{
    ran r = good("histogram app.hprof --where 'class ~ ^bookshop' --where 'objects >= 200' --sort objects --limit 2 "
                 "--columns objects,class --format csv");
    cr_expect_str_eq(r.out, "objects,class\n900,bookshop.Bookshop$Order\n600,bookshop.Bookshop$Book\n");
    ran_free(&r);
    r = good("histogram app.hprof --where 'class ~ ^bookshop' --sort class --limit 1 --columns class --format tsv");
    cr_expect_str_eq(r.out, "class\nbookshop.Bookshop\n");
    ran_free(&r);
    r = good("histogram app.hprof --where 'class = bookshop.Bookshop$Book' --columns objects --format jsonl");
    cr_expect(strstr(r.out, "\"objects\"") != NULL && strstr(r.out, "600") != NULL && lines_of(r.out) == 1, "%s",
              r.out);
    ran_free(&r);
}

Test(answers, json_says_which_dump_and_what_is_odd_about_it)
{
    ran                      r = good("info app.hprof --format json");
    static const char *const parts[] = {
        "\"heapdex\"",           "\"command\"", "\"info\"",   "\"dump\"",     "\"path\"", "\"app.hprof\"",
        "\"id_size\"",           "\"number\"",  "\"damage\"", "\"warnings\"", "\"rows\"", "\"live_objects\"",
        "\"JAVA PROFILE 1.0.2\""
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        cr_expect(strstr(r.out, parts[i]) != NULL, "%s\n%.1000s", parts[i], r.out);
    ran_free(&r);
    r = good("index app.hprof --format json");
    static const char *const more[] = { "\"index\"",   "\"reused\"",     "\"steps\"",      "\"peak_rss\"",
                                        "\"seconds\"", "\"references\"", "\"cpu_seconds\"" };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        cr_expect(strstr(r.out, more[i]) != NULL, "%s\n%.1000s", more[i], r.out);
    ran_free(&r);
}

Test(answers, a_damaged_dump_is_answered_and_says_so)
{
    ran r = tool_sh("gzip -dc <app.hprof >whole.hprof; head -c 3000000 whole.hprof >cut.hprof; \"$H\" histogram "
                    "cut.hprof --limit 1");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.err, "heapdex: cut.hprof: warning: the dump is damaged") != NULL, "%s", r.err);
    ran_free(&r);
    r = good("histogram cut.hprof --limit 1 --quiet");
    cr_expect_str_empty(r.err);
    ran_free(&r);
    r = good("histogram cut.hprof --limit 1 --quiet --format json");
    cr_expect(strstr(r.out, "\"truncated\"") != NULL, "%.600s", r.out);
    cr_expect_str_empty(r.err);
    ran_free(&r);
}

Test(answers, the_leak_of_the_example_is_found)
{
    expect_in("dominators app.hprof --limit 3", "bookshop.Bookshop$SessionCache");
    expect_in("objects app.hprof --class 'bookshop.*' --sort retained:desc --limit 1", "SessionCache");
    expect_in("path app.hprof \"$(\"$H\" objects app.hprof --class '*SessionCache' --columns address --format csv | "
              "tail -n 1)\"",
              "visitors");
    expect_in("threads app.hprof --stacks", "java.lang.Object.wait");
    expect_in("object app.hprof thread:clerk", "clerk");
}

Test(answers, names_go_from_one_question_to_the_next)
{
    ran r = tool_sh("\"$H\" objects app.hprof --class 'bookshop.Bookshop$Author' --limit 4 | \"$H\" retained app.hprof "
                    "- --format csv");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.out, "bookshop.Bookshop$Author,4,") != NULL, "%s", r.out);
    ran_free(&r);
    r = tool_sh("\"$H\" objects app.hprof --class 'bookshop.Bookshop$Author' --format jsonl | \"$H\" retained "
                "app.hprof - --format csv");
    cr_expect(strstr(r.out, "bookshop.Bookshop$Author,64,") != NULL, "%s %s", r.out, r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" object app.hprof - </dev/null");
    cr_expect(eq(int, r.code, 2), "%s", r.err);
    ran_free(&r);
}

Test(answers, names_are_taken_from_the_column_address_of_every_format)
{
    static const char *const formats[] = { "csv", "tsv", "jsonl", "json", "table" };
    static const char *const orders[] = { "", "--columns class,step,address", "--columns address,path" };
    ran                      want = tool_sh("\"$H\" path app.hprof thread:main '#500' --columns address --format csv |"
                                                                 " grep -c 0x");
    for (unsigned f = 0; f < 5; f++)
        for (unsigned o = 0; o < 3; o++) {
            ran r =
                tool_sh("\"$H\" path app.hprof thread:main '#500' --limit 0 --format %s %s | \"$H\" object app.hprof "
                        "- --columns address --format csv | grep -c 0x",
                        formats[f], orders[o]);
            cr_expect_str_eq(r.out, want.out, "%s %s: %s %s", formats[f], orders[o], r.out, r.err);
            ran_free(&r);
        }
    ran_free(&want);
}

Test(answers, examples_of_the_help_run)
{
    ran list = tool_sh("\"$H\" __complete examples");
    cr_assert(gt(uint, lines_of(list.out), 20));
    for (char *line = strtok(list.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        ran r = tool_sh("heapdex() { \"$H\" \"$@\"; }; mkdir -p dumps && ln -f app.hprof dumps && "
                        "printf 'dump\\napp.hprof\\n' >dumps.csv; ln -sf app.hprof before.hprof; "
                        "ln -sf app.hprof after.hprof; heapdex index app.hprof --quiet >/dev/null && %s",
                        line);
        cr_expect(eq(int, r.code, 0), "%s: %s", line, r.err);
        cr_expect(r.out[0] != '\0' || strstr(line, " -o ") != NULL, "%s", line);
        ran_free(&r);
    }
    ran_free(&list);
}

Test(answers, a_file_is_whole_or_as_it_was)
{
    ran r = good("export app.hprof --table classes -o classes.csv");
    cr_expect_str_empty(r.out);
    ran_free(&r);
    char *text = tool_read("classes.csv");
    cr_assert(text != NULL);
    cr_expect(strncmp(text, "address,name,super,loader,", 26) == 0, "%.80s", text);
    free(text);
    r = tool_sh("echo old >answer; \"$H\" object app.hprof 0x1 -o answer; ls -A | grep part; cat answer");
    cr_expect_str_eq(r.out, "old\n");
    ran_free(&r);
    r = tool_sh("chmod 600 answer; ln -s answer link; \"$H\" roots app.hprof --by type -o link && test -L link && stat "
                "-c %%a answer && grep -c SYSTEM_CLASS answer");
    cr_expect_str_eq(r.out, "600\n1\n", "%s%s", r.out, r.err);
    ran_free(&r);
    r = good("roots app.hprof --by type -o /dev/null");
    ran_free(&r);
    r = good("roots app.hprof --by type -o -");
    cr_expect(strstr(r.out, "SYSTEM_CLASS") != NULL);
    ran_free(&r);
    r = tool_sh("\"$H\" info app.hprof -o app.hprof");
    cr_expect(eq(int, r.code, 2), "%s", r.err);
    ran_free(&r);
    r = tool_sh("cmp app.hprof '" BOOKSHOP "' && \"$H\" info app.hprof -o .");
    cr_expect(eq(int, r.code, 2), "%s", r.err);
    ran_free(&r);
}

Test(answers, a_full_disk_leaves_no_file)
{
    ran r = tool_sh("\"$H\" index app.hprof --quiet >/dev/null; (ulimit -f 64; trap '' XFSZ; \"$H\" export app.hprof "
                    "--table objects -o big.csv)");
    cr_expect(eq(int, r.code, 7), "%d %s", r.code, r.err);
    cr_expect(strstr(r.err, "big.csv") != NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("ls -A | grep big");
    cr_expect_str_empty(r.out);
    ran_free(&r);
}

Test(answers, a_reader_that_leaves_early_is_no_error)
{
    ran r =
        tool_sh("\"$H\" index app.hprof --quiet >/dev/null; \"$H\" export app.hprof --table references | head -n 1");
    cr_expect(eq(int, r.code, 0));
    cr_expect_str_eq(r.out, "src,dst\n");
    cr_expect_str_empty(r.err);
    ran_free(&r);
}

Test(answers, names_of_files_may_hold_anything)
{
    ran r = tool_sh("mkdir 'B\xc3\xbc"
                    "cher und Bl\xc3\xa4tter' && cp app.hprof 'B\xc3\xbc"
                    "cher und Bl\xc3\xa4tter/der dump.hprof.gz' && "
                    "\"$H\" info 'B\xc3\xbc"
                    "cher und Bl\xc3\xa4tter/der dump.hprof.gz' --format json");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.out, "\"B\xc3\xbc"
                            "cher und Bl\xc3\xa4tter/der dump.hprof.gz\"") != NULL,
              "%.400s", r.out);
    cr_expect(access("B\xc3\xbc"
                     "cher und Bl\xc3\xa4tter/der dump.hprof.gz.hdx",
                     F_OK) == 0);
    ran_free(&r);
    r = tool_sh("cp app.hprof ./-strange.hprof && \"$H\" roots --by type -- -strange.hprof");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
}

Test(answers, an_index_can_be_asked_without_its_dump)
{
    ran r = good("index app.hprof --quiet");
    ran_free(&r);
    r = tool_sh("\"$H\" object app.hprof.hdx thread:clerk --format json | grep -c '\"priority\"'");
    cr_expect_str_eq(r.out, "1\n", "%s%s", r.out, r.err); /* the dump lies beside its index: fields are read */
    ran_free(&r);
    r = tool_sh("\"$H\" histogram app.hprof --format csv >with && mv app.hprof.hdx away && \"$H\" histogram away "
                "--format csv >without && cmp with without");
    cr_expect(eq(int, r.code, 0), "%s%s", r.out, r.err);
    cr_expect_str_eq(r.err, "", "a histogram misses nothing: %s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" refs app.hprof '#500' --in --columns address,kind --format csv --quiet | sort -u >with; "
                "mkdir else && mv app.hprof else && \"$H\" path away '#500' '#3000' --format jsonl | grep -o "
                "'\"<[a-z]*>\"' | sort -u");
    cr_expect(strstr(r.out, "<field>") != NULL && strstr(r.out, "<unknown>") == NULL, "%s", r.out);
    cr_expect(strstr(r.err, "warning: the dump is not available: names of references, labels and values") != NULL, "%s",
              r.err);
    ran_free(&r);
    /* What is a field, an element or a class with the dump is that without it. */
    r = tool_sh("\"$H\" refs away '#500' --in --columns address,kind --format csv --quiet | sort -u >without; "
                "cmp with without");
    cr_expect(eq(int, r.code, 0), "%s%s", r.out, r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" object away '#500' --format json");
    cr_expect(strstr(r.out, "\"warnings\": [\n    \"the dump is not available: ") != NULL, "%s", r.out);
    ran_free(&r);
}

Test(answers, the_index_goes_to_the_cache_where_the_place_is_read_only)
{
    if (geteuid() == 0)
        tool_skip(folder, "root may write everywhere");
    ran r = tool_sh("mkdir ro cache && cp app.hprof ro/ && chmod a-w ro && XDG_CACHE_HOME=$PWD/cache \"$H\" roots "
                    "ro/app.hprof --by type");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.err, "cache/heapdex") != NULL, "%s", r.err);
    ran_free(&r);
}

Test(answers, remove_takes_the_index_and_leaves_the_dump)
{
    ran r = tool_sh("\"$H\" index app.hprof --quiet && \"$H\" remove app.hprof && test ! -e app.hprof.hdx && cmp "
                    "app.hprof '" BOOKSHOP "'");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
}

Test(answers, progress_is_one_object_a_line)
{
    ran r = good("index app.hprof --progress json --quiet");
    cr_expect(strncmp(r.err, "{\"step\": \"", 10) == 0, "%s", r.err);
    cr_expect(strstr(r.err, "\"unit\": \"bytes\"") != NULL, "%s", r.err);
    ran_free(&r);
    r = good("index app.hprof --force");
    cr_expect_str_empty(r.err); /* auto: no terminal, nothing */
    ran_free(&r);
    r = good("index app.hprof --force --progress always");
    cr_expect(strstr(r.err, "heapdex: 1/") == r.err, "%s", r.err);
    cr_expect(strchr(r.err, '\r') == NULL);
    ran_free(&r);
}

Test(answers, a_signal_ends_it_and_breaks_nothing)
{
    /* Of a pipe the first byte alone is read: the answer has begun, and fills it. */
    static const struct {
        const char *name;
        int         code;
    } cases[] = { { "INT", 130 }, { "TERM", 75 } };
    for (int i = 0; i < 2; i++) {
        ran r = tool_sh("\"$H\" index app.hprof --quiet >/dev/null; mkfifo pipe%d; exec 9<>pipe%d; "
                        /* jobs behind & ignore SIGINT */
                        "env --default-signal=INT \"$H\" export app.hprof --table named_references >&9 & p=$!; "
                        "head -c 1 <&9 >first; kill -%s $p; wait $p; echo $?",
                        i, i, cases[i].name);
        cr_expect(eq(int, atoi(r.out), cases[i].code), "%s: %s %s", cases[i].name, r.out, r.err);
        cr_expect(strstr(r.err, "interrupted") != NULL, "%s", r.err);
        ran_free(&r);
    }
    ran r = tool_sh("\"$H\" verify app.hprof");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
}

Test(answers, an_index_that_is_cut_while_it_is_read_is_5)
{
    /* Of the pipe the first byte alone is read until the file is cut: the program still has most of it to read. */
    ran r = tool_sh("\"$H\" index app.hprof --quiet >/dev/null; mkfifo cut; exec 9<>cut; "
                    "\"$H\" export app.hprof --table named_references >&9 & p=$!; head -c 1 <&9 >first; "
                    "for f in app.hprof.hdx/*.hdx; do : >$f; done; "
                    "timeout 20 cat <&9 >/dev/null & c=$!; wait $p; echo $?; kill $c");
    cr_expect(eq(int, atoi(r.out), 5), "%s %s", r.out, r.err);
    cr_expect(strstr(r.err, "truncated") != NULL && strstr(r.err, "hint: ") != NULL, "%s", r.err);
    ran_free(&r);
}

Test(answers, scan_says_what_the_index_says_of_all_objects_and_writes_nothing)
{
    static const char *const same[] = { "", "--by package", "--by superclass --sort class", "--class 'java.util.*'",
                                        "--where 'shallow > 1K' --sort objects" };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        /* without an index, the origins of some classes are unknown */
        ran r = tool_sh("known() { sed -E 's/,(origin|application|platform|generated|array|)$//'; }; "
                        "\"$H\" histogram app.hprof --scan --format csv %s | known >scan && test ! -e app.hprof.hdx && "
                        "\"$H\" histogram app.hprof --reachable all --format csv %s >early && "
                        "\"$H\" histogram app.hprof --reachable all --format csv %s >late && "
                        "known <late | cmp scan - && cmp early late && \"$H\" verify app.hprof --full "
                        "&& \"$H\" remove app.hprof",
                        same[i], same[i], same[i]);
        cr_expect(eq(int, r.code, 0), "%s: %s %s", same[i], r.out, r.err);
        ran_free(&r);
    }
    expect_in("histogram app.hprof --reachable all --columns class,origin --where 'origin = application' --format csv",
              "bookshop.Bookshop$Session,application\n");
    expect_in("histogram app.hprof --scan --limit 2",
              "Histogram of all objects (one pass, no index: reachability is unknown)\n");
    expect_in("histogram app.hprof --scan --by loader --format csv",
              "loader,class,classes,objects,shallow,retained,percent,loader_name\n0x0,,");
    ran                      r = good("histogram app.hprof --scan --format json --limit 1");
    static const char *const parts[] = { "\"JAVA PROFILE 1.0.2\"", "\"damage\": []", "\"byte[]\"",
                                         "\"retained\": null" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        cr_expect(strstr(r.out, parts[i]) != NULL, "%s\n%.1000s", parts[i], r.out);
    ran_free(&r);
    static const char *const wrong[] = { "--retained", "--by heap", "--reachable garbage", "--class no.such.Class",
                                         "--sort nothing" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        r = tool_sh("\"$H\" histogram app.hprof --scan %s", wrong[i]);
        cr_expect(r.code != 0 && r.code < 6, "%s: %d", wrong[i], r.code);
        cr_expect(lines_of(r.err) >= 1 && r.out[0] == '\0', "%s: %s", wrong[i], r.err);
        ran_free(&r);
    }
    r = tool_sh("head -c $(($(wc -c <app.hprof) * 3 / 4)) app.hprof >cut.gz; \"$H\" histogram cut.gz --scan --limit 1 "
                "&& test ! -e cut.gz.hdx");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.err, "warning: the dump is damaged") != NULL, "%s", r.err);
    ran_free(&r);
}

Test(answers, a_forecast_comes_before_anything_is_built)
{
    ran r = tool_sh("\"$H\" estimate app.hprof --threads 2 && test ! -e app.hprof.hdx");
    cr_expect(eq(int, r.code, 0));
    cr_expect(strncmp(r.out, "Forecast: 24100 objects, at most ", 33) == 0, "%s", r.out);
    cr_expect(strstr(r.out, "  scan\n") != NULL && strstr(r.out, "  retained\n") != NULL, "%s", r.out);
    cr_expect_str_empty(r.err);
    ran_free(&r);
    expect_in("estimate app.hprof --memory 16M", "--memory 16.0 MB is not enough for the step scan; --memory ");
    expect_in("estimate app.hprof --memory 4G", "--memory 4.0 GB is enough");
    r = good("estimate app.hprof --format json --memory 16M");
    cr_expect(strstr(r.out, "\"format\": \"JAVA PROFILE 1.0.2\", \"id_size\": 8") != NULL &&
                  strstr(r.out, "\"objects\": 24100") != NULL && strstr(r.out, "\"fits\": false") != NULL &&
                  strstr(r.out, "\"stops_at\": \"scan\"") != NULL,
              "%s", r.out);
    ran_free(&r);
    r = good("estimate app.hprof --until outbound --format csv --columns step");
    cr_expect_str_eq(r.out, "step\nscan\ncolumns\nobjects\n");
    ran_free(&r);
    r = tool_sh("\"$H\" estimate nothing.hprof");
    cr_expect(eq(int, r.code, 3));
    cr_expect_str_eq(r.err, "heapdex: nothing.hprof: no such file\nhint: check the name\n");
    ran_free(&r);
}

Test(answers, a_histogram_of_all_objects_comes_before_its_index_is_there)
{
    /*
     * What is read from the pipe is the answer; the writer goes on building then, to the end or until a signal comes.
     */
    ran r = tool_sh("mkfifo pipe; (\"$H\" histogram app.hprof --reachable all --limit 1 >pipe; echo $? >code) & read "
                    "title <pipe; echo \"$title\"; wait; cat code; "
                    "\"$H\" verify app.hprof");
    cr_expect(strncmp(r.out, "Histogram of all objects\n0\n", 27) == 0, "%s %s", r.out, r.err);
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    r = tool_sh(
        "\"$H\" remove app.hprof; env --default-signal=INT \"$H\" histogram app.hprof --reachable all >pipe & "
        "p=$!; read title <pipe; kill -INT $p; "
        "wait $p; code=$?; test ! -e .heapdex-part-app.hprof.hdx && if [ $code = 130 ]; then test ! -e app.hprof.hdx; "
        "else \"$H\" verify app.hprof --no-build; fi");
    cr_expect(eq(int, r.code, 0), "%s %s", r.out, r.err);
    ran_free(&r);
    r = tool_sh("rm -rf app.hprof.hdx; \"$H\" histogram app.hprof --reachable all --where 'nothing > 3'");
    cr_expect(eq(int, r.code, 2), "%d", r.code);
    cr_expect(strstr(r.err, "no column") != NULL || strstr(r.err, "nothing") != NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("rm -rf app.hprof.hdx; \"$H\" histogram app.hprof --reachable all --format json -o answer.json && grep "
                "-c '\"rows\"' answer.json && \"$H\" verify app.hprof --no-build");
    cr_expect(r.code == 0 && r.out[0] == '1', "%s %s", r.out, r.err);
    ran_free(&r);
}
