/* A dump without a command: a first look, and questions to go on with that a shell takes as they stand. */
#include "cli/cli.h"
#include "cli/tool.h"
#include "hprof/hprof.h"
#include "support/dump_maker.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
}
static void leave(void) { tool_leave(folder); }
TestSuite(look, .init = enter, .fini = leave);
TestSuite(words, .init = enter, .fini = leave);

Test(look, says_what_the_dump_is_and_what_weighs_most)
{
    ran r = tool_sh("\"$H\" app.hprof.gz");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strncmp(r.out, "app.hprof.gz: HPROF 1.0.2, 4.3 MB (", 35) == 0, "%s", r.out);
    cr_expect(strstr(r.out, "\nlive         23,875 objects of 632 classes, ") != NULL, "%s", r.out);
    cr_expect(strstr(r.out, "\nunreachable  225 objects, ") != NULL, "%s", r.out);
    ran_free(&r);
    r = tool_sh(
        "\"$H\" app.hprof.gz >look; "
        "\"$H\" histogram app.hprof.gz --columns class --sort shallow --limit 5 --format csv | tail -n +2 >words; "
        "\"$H\" dominators app.hprof.gz --columns address --limit 5 --format csv | tail -n +2 >>words; "
        "[ $(wc -l <words) = 10 ] && "
        "while read -r w; do sed 's/$/ /' look | grep -qF -- \"$w \" || echo missing $w; done <words");
    cr_expect(r.code == 0 && r.out[0] == '\0', "%s%s", r.out, r.err);
    ran_free(&r);
    r = tool_sh("gzip -dc app.hprof.gz >app.hprof; \"$H\" app.hprof | head -n 1; \"$H\" app.hprof.gz | head -n 1");
    cr_expect(strncmp(r.out, "app.hprof: HPROF 1.0.2, 4.3 MB, compressed oops, ", 49) == 0, "%s", r.out);
    cr_expect(strstr(r.out, "\napp.hprof.gz: HPROF 1.0.2, 4.3 MB (625.0 KB with gzip), compressed oops, ") != NULL,
              "%s", r.out);
    ran_free(&r);
}

/* The commands under "ask next", run by a shell. */
static void expect_next(const char *words, unsigned lines)
{
    ran r = tool_sh("\"$H\" %s | sed -n '/^ask next:/,/^$/p' | sed '1d;/^$/d' >next; grep -v '^  #' next; heapdex() { "
                    "\"$H\" \"$@\"; }; "
                    "set -e; . ./next >answers; [ $(wc -l <answers) -gt 6 ]",
                    words);
    cr_expect(r.code == 0 && lines_of(r.out) == lines, "%s: %s%s", words, r.out, r.err);
    ran_free(&r);
}

Test(look, has_questions_that_can_be_asked_as_they_stand)
{
    expect_next("app.hprof.gz", 5);
    ran r = tool_sh("\"$H\" app.hprof.gz | grep -c -e '  heapdex path app.hprof.gz 0xfeb18ea8$' "
                    "-e \"  heapdex objects app.hprof.gz --class 'bookshop.Bookshop.Order' \"");
    cr_expect_str_eq(r.out, "2\n");
    ran_free(&r);
}

Test(look, quotes_names_for_the_shell)
{
    ran r = tool_sh("mv app.hprof.gz \"a \\$b 'c'.hprof.gz\"; mkdir ./-x; ln \"a \\$b 'c'.hprof.gz\" ./-x/app.gz");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    expect_next("\"a \\$b 'c'.hprof.gz\"", 5);
    expect_next("--index-dir 'i d' -- -x/app.gz", 5);
}

Test(look, is_of_an_index_folder_too)
{
    ran r = tool_sh("\"$H\" index app.hprof.gz && \"$H\" app.hprof.gz.hdx");
    cr_expect(r.code == 0 && strstr(r.out, "\n  heapdex path app.hprof.gz.hdx ") != NULL, "%s%s", r.out, r.err);
    ran_free(&r);
    expect_next("app.hprof.gz.hdx", 5);
}

Test(look, writes_to_a_file_and_in_bytes_if_told)
{
    ran r = tool_sh("\"$H\" app.hprof.gz --units bytes -o page && cat page");
    cr_expect(r.code == 0 && strstr(r.out, ", 2788024 bytes; ") != NULL, "%s%s", r.out, r.err);
    ran_free(&r);
}

Test(look, leaves_what_needs_a_command_to_commands)
{
    static const char *const calls[][2] = {
        { "--format json", "a --format other than table needs a command" },
        { "--format csv", "a --format other than table needs a command" },
        { "--schema", "--schema needs a command" },
        { "--limit 5", "--limit needs a command" },
        { "--where 'class = x'", "--where needs a command" },
        { "--columns class", "--columns needs a command" },
        { "--sort class", "--sort needs a command" },
        { "--reachable all", "--reachable needs a command" },
        { "--by class", "unknown option '--by'" },
        { "--raw", "--raw requires" },
        { "info", "the command must come before the dump" },
        { "0x1234", "a command is missing before 'app.hprof.gz'" },
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        ran r = tool_sh("\"$H\" app.hprof.gz %s", calls[i][0]);
        cr_expect(r.code == 2 && strstr(r.err, calls[i][1]) != NULL, "%s: %d %s", calls[i][0], r.code, r.err);
        cr_expect(r.out[0] == (i == 0 ? '{' : '\0'), "%s: %s", calls[i][0], r.out);
        ran_free(&r);
    }
    ran r =
        tool_sh("\"$H\" app.hprof.gz --format json 2>/dev/null | grep -o 'heapdex info app.hprof.gz --format json'");
    cr_expect(lines_of(r.out) == 1, "%s", r.out);
    ran_free(&r);
}

Test(look, is_not_meant_by_a_misspelt_command)
{
    static const char *const cases[][2] = {
        { "histogrm", "did you mean 'histogram'?" },
        { "inof", "did you mean 'info'?" },
        { "app.hprof", "no command or file" },
        { "hist", "did you mean 'histogram'?" },
        { "xyz", "heapdex --help lists the commands" },
        { "cat", "heapdex --help lists the commands" },
        { "indices", "heapdex --help lists the commands" },
        { "ls", "heapdex --help lists the commands" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ran r = tool_sh("\"$H\" %s", cases[i][0]);
        cr_expect(r.code == 2 && strstr(r.err, cases[i][1]) != NULL, "%s: %s", cases[i][0], r.err);
        ran_free(&r);
    }
    ran folders = tool_sh("mkdir histogrm other; \"$H\" histogrm; \"$H\" other");
    cr_expect(folders.code == 2 && strstr(folders.err, "did you mean 'histogram'?") != NULL &&
                  strstr(folders.err, "unknown command 'other'") != NULL,
              "%d %s", folders.code, folders.err);
    ran_free(&folders);
    ran r = tool_sh("mv app.hprof.gz info; \"$H\" info"); /* a command is a command */
    cr_expect(r.code == 2 && strstr(r.err, "needs a heap dump") != NULL, "%s", r.err);
    ran_free(&r);
}

/* Of the program's classes there is more to see than of the JDK's, and of these more than of arrays. */
Test(look, asks_next_for_the_heaviest_class_of_the_program_or_of_objects)
{
    for (unsigned own = 0; own < 2; own++) {
        dump_maker    *m = dump_maker_new(8);
        const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
        const uint64_t shop = dump_maker_class(m, "app.Shop", object, "content:L");
        for (unsigned i = 0; i < 6; i++)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_primitives(m, "BCISJZ"[i], NULL, 40000), 0, 0);
        for (unsigned i = 0; i < 100; i++)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, object, NULL), 0, 0);
        if (own)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, shop, NULL), 0, 0);
        dump_maker_save(m, "arrays.hprof");
        dump_maker_free(m);
        ran r = tool_sh("rm -rf arrays.hprof.hdx; \"$H\" arrays.hprof");
        cr_expect(r.code == 0 && strstr(r.out, own ? "objects arrays.hprof --class app.Shop --sort"
                                                   : "objects arrays.hprof --class java.lang.Object --sort") != NULL,
                  "%u: %s%s", own, r.out, r.err);
        ran_free(&r);
    }
}

Test(look, answers_a_dump_without_live_objects)
{
    static const unsigned char dump[] =
        "JAVA PROFILE 1.0.2\0\0\0\0\4\0\0\0\0\0\0\0\0\x1c\0\0\0\0\0\0\0\0\x2c\0\0\0\0\0\0\0";
    tool_write("none.hprof", dump, sizeof dump - 1);
    ran r = tool_sh("\"$H\" none.hprof");
    cr_expect(r.code == 0 && strstr(r.out, "\nask next:\n") != NULL, "%d %s%s", r.code, r.out, r.err);
    ran_free(&r);
}

Test(words, of_a_shell_come_back_as_they_were)
{
    static const char *const words[] = { "plain", "a b", "a'b", "$HOME", "''", "", "a\\b", "Outer$Inner[]", "*" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        hdx_buffer out = hdx_buffer_of(NULL);
        cli_put_shell_word(&out, words[i], strlen(words[i]));
        tool_write("script", "printf %s ", 10);
        FILE *f = fopen("script", "ab");
        cr_assert(f != NULL);
        (void)fwrite(out.at, 1, (size_t)out.len, f);
        (void)fclose(f);
        ran r = tool_sh("sh script");
        cr_expect_str_eq(r.out, words[i], "%s", out.at);
        ran_free(&r);
        hdx_buffer_free(&out);
    }
}
