/* What a stranger reads: help, man page and completions, all of one table. */
#include "cli/cli.h"
#include "cli/tool.h"

static char *folder;
static void enter(void) { folder = tool_enter(); }
static void leave(void) { tool_leave(folder); }
TestSuite(help, .init = enter, .fini = leave);

Test(help, of_everything_names_every_command_in_80_columns)
{
    ran r = tool_sh("\"$H\" --help");
    cr_expect(eq(int, r.code, 0));
    cr_expect(le(uint, longest_line(r.out), 80));
    for (size_t i = 0; i < CLI_COMMANDS; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "\n  %s ", cli_commands[i].name);
        cr_expect(strstr(r.out, line) != NULL, "%s", cli_commands[i].name);
    }
    ran_free(&r);
}

Test(help, of_each_command_has_its_options_and_two_examples)
{
    for (unsigned c = 0; c < CLI_COMMANDS; c++) {
        ran r = tool_sh("\"$H\" %s --help", cli_commands[c].name);
        cr_expect(eq(int, r.code, 0));
        cr_expect_str_empty(r.err);
        cr_expect(le(uint, longest_line(r.out), 80), "%s", cli_commands[c].name);
        for (int e = 0; e < 2; e++)
            cr_expect(strstr(r.out, cli_commands[c].examples[e]) != NULL, "%s", cli_commands[c].examples[e]);
        for (size_t i = 0; i < cli_option_count; i++) {
            char word[64];
            (void)snprintf(word, sizeof word, "--%s ", cli_options[i].name);
            if (cli_options[i].commands & CLI_IN(c))
                cr_expect(strstr(r.out, word) != NULL, "%s %s", cli_commands[c].name, word);
        }
        ran_free(&r);
    }
}

Test(help, comes_by_other_habits_too)
{
    ran a = tool_sh("\"$H\" path --help"), b = tool_sh("\"$H\" help path"), c = tool_sh("\"$H\" path nothing.hprof -h");
    cr_expect_str_eq(a.out, b.out);
    cr_expect_str_eq(a.out, c.out);
    cr_expect(eq(int, c.code, 0));
    ran_free(&a);
    ran_free(&b);
    ran_free(&c);
    ran v = tool_sh("\"$H\" --version");
    cr_expect_str_eq(v.out, "heapdex " HEAPDEX_VERSION "\n");
    ran_free(&v);
}

/* Without roff: "\-" and "\fB" out of the way. */
static char *man_text(void)
{
    char *text = tool_read(HDX_TREE "/src/cli/heapdex.1"), *to = text;
    cr_assert(text != NULL);
    for (const char *p = text; *p != '\0'; p++)
        if (p[0] == '\\' && p[1] == '-')
            continue;
        else if (p[0] == '\\' && p[1] == 'f')
            p += 2;
        else
            *to++ = *p;
    *to = '\0';
    return text;
}

Test(help, the_man_page_knows_every_command_option_and_example)
{
    char *man = man_text();
    for (size_t i = 0; i < CLI_COMMANDS; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "\n.B %s DUMP", cli_commands[i].name);
        cr_expect(strstr(man, line) != NULL, "%s", cli_commands[i].name);
        for (int e = 0; e < 2; e++) {
            char example[256];
            (void)snprintf(example, sizeof example, "\n%s\n", cli_commands[i].examples[e]);
            cr_expect(strstr(man, example) != NULL, "%s", cli_commands[i].examples[e]);
        }
    }
    for (size_t i = 0; i < cli_option_count; i++) {
        char word[64];
        (void)snprintf(word, sizeof word, "--%s", cli_options[i].name);
        char *at = strstr(man, word);
        for (; at != NULL && (at[strlen(word)] == '-' || (at[strlen(word)] >= 'a' && at[strlen(word)] <= 'z')); at = strstr(at + 1, word)) { }
        cr_expect(at != NULL, "%s", word);
    }
    free(man);
}

Test(help, the_completion_files_are_what_the_table_says)
{
    static const char *const shells[][2] = { { "bash", "heapdex.bash" }, { "zsh", "_heapdex" } };
    for (int i = 0; i < 2; i++) {
        ran r = tool_sh("\"$H\" __complete %s | cmp - '" HDX_TREE "/src/cli/%s'", shells[i][0], shells[i][1]);
        cr_expect(eq(int, r.code, 0), "print it anew: heapdex __complete %s >src/cli/%s", shells[i][0], shells[i][1]);
        ran_free(&r);
    }
    ran r = tool_sh("\"$H\" __complete fish");
    cr_expect(eq(int, r.code, 2));
    ran_free(&r);
}

Test(help, bash_completes_commands_options_and_values)
{
    static const char *const cases[][2] = { { "heapdex domi", "dominators" }, { "heapdex roots x --by ''", "type" }, { "heapdex info --form", "--format" },
                                            { "heapdex export x --format ''", "csv tsv jsonl" }, { "heapdex refs --ex", "" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ran r = tool_sh("bash -c \". '" HDX_TREE "/src/cli/heapdex.bash'; COMP_WORDS=(%s); COMP_CWORD=\\$((\\${#COMP_WORDS[@]}-1)); _heapdex; echo \\\"\\${COMPREPLY[*]}\\\"\"", cases[i][0]);
        char expected[64];
        (void)snprintf(expected, sizeof expected, "%s\n", cases[i][1]);
        cr_expect_str_eq(r.out, expected, "%s: %s%s", cases[i][0], r.out, r.err);
        ran_free(&r);
    }
}
