/* What a stranger reads: help, man page and completions, all of one table. */
#include "cli/cli.h"
#include "cli/tool.h"

static char *folder;
static void  enter(void) { folder = tool_enter(); }
static void  leave(void) { tool_leave(folder); }
TestSuite(help, .init = enter, .fini = leave);

static size_t            commands(void) { return cli_command_count(); }
static const hdx_answer *command(size_t i) { return cli_command_at(i); }

Test(help, of_everything_names_every_command_in_80_columns)
{
    ran r = tool_sh("\"$H\" --help");
    cr_expect(eq(int, r.code, 0));
    cr_expect(le(uint, longest_line(r.out), 80));
    for (size_t i = 0; i < commands(); i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "\n  %s%s", command(i)->name, strlen(command(i)->name) > 14 ? "\n" : " ");
        cr_expect(strstr(r.out, line) != NULL, "%s", command(i)->name);
    }
    ran_free(&r);
}

/* Wrapped text in one line with single blanks. */
static char *unwrapped(const char *text)
{
    char *one = malloc(strlen(text) + 1), *to = one;
    for (const char *p = text; *p != '\0'; p++)
        if ((*p != ' ' && *p != '\n') || (to > one && to[-1] != ' '))
            *to++ = *p == '\n' ? ' ' : *p;
    *to = '\0';
    return one;
}

static void expect_columns(const char *help, const hdx_answer *a)
{
    for (unsigned f = 0; f < a->form_count; f++)
        for (unsigned i = 0; i < a->forms[f].column_count; i++) {
            const hdx_column *c = &a->forms[f].columns[i];
            char              line[400];
            (void)snprintf(line, sizeof line, " %s %s", c->name, c->sentence);
            cr_expect(strstr(help, line) != NULL, "%s:%s", a->name, line);
        }
}

Test(help, of_each_command_has_its_columns_options_and_two_examples)
{
    for (size_t i = 0; i < commands(); i++) {
        const hdx_answer *c = command(i);
        cli_option        options[CLI_OPTIONS_MAX];
        ran               r = tool_sh("\"$H\" %s --help", c->name);
        char             *text = unwrapped(r.out);
        cr_expect(eq(int, r.code, 0));
        cr_expect_str_empty(r.err);
        cr_expect(le(uint, longest_line(r.out), 80), "%s", c->name);
        for (int e = 0; e < 2; e++)
            cr_expect(strstr(r.out, c->examples[e]) != NULL, "%s", c->examples[e]);
        for (size_t n = cli_options_of(c, options); n-- > 0;) {
            char word[64];
            (void)snprintf(word, sizeof word, " --%s ", options[n].is->name);
            cr_expect(options[n].everywhere || strstr(text, word) != NULL, "%s %s", c->name, word);
            cr_expect(options[n].everywhere == (strstr(text, options[n].is->sentence) == NULL), "%s: %s", c->name,
                      options[n].is->sentence);
        }
        cr_expect(strstr(text, " heapdex help options ") != NULL, "%s", c->name);
        if ((c->flags & HDX_ANSWER_PLAIN) == 0)
            expect_columns(text, c);
        free(text);
        ran_free(&r);
    }
    ran                      r = tool_sh("\"$H\" export --help");
    char                    *text = unwrapped(r.out);
    size_t                   count;
    const hdx_answer *const *tables = hdx_tables(&count);
    for (size_t i = 0; i < count; i++)
        expect_columns(text, tables[i]);
    free(text);
    ran_free(&r);
}

Test(help, of_options_has_those_that_every_command_takes)
{
    cli_option options[CLI_OPTIONS_MAX];
    ran        r = tool_sh("\"$H\" help options");
    char      *text = unwrapped(r.out);
    cr_expect(r.code == 0 && longest_line(r.out) <= 80, "%s", r.err);
    for (size_t n = cli_options_of(NULL, options); n-- > 0;) {
        char word[64];
        (void)snprintf(word, sizeof word, " --%s ", options[n].is->name);
        cr_expect(strstr(text, word) != NULL, "%s", word);
        cr_expect(strstr(text, options[n].is->sentence) != NULL, "%s", options[n].is->sentence);
    }
    free(text);
    ran_free(&r);
}

/* All in 80 columns, each different, none of them the help of everything. */
Test(help, has_topics_and_names_them)
{
    ran all = tool_sh("\"$H\" --help"), same = tool_sh("\"$H\" help");
    cr_expect_str_eq(all.out, same.out);
    for (size_t i = 0; cli_help_topic_name(i) != NULL; i++) {
        char       line[64];
        const bool is_group = i >= 4;
        (void)snprintf(line, sizeof line, is_group ? " (heapdex help %s):\n" : "\n  heapdex help %s ",
                       cli_help_topic_name(i));
        ran r = tool_sh("\"$H\" help %s", cli_help_topic_name(i));
        cr_expect(strstr(all.out, line) != NULL, "%s", line);
        cr_expect(r.code == 0 && lines_of(r.out) > 6 && longest_line(r.out) <= 80, "%s: %u %s", line,
                  longest_line(r.out), r.err);
        cr_expect(is_group || strstr(r.out, "\nexamples:\n  heapdex ") != NULL, "%s", r.out);
        ran_free(&r);
    }
    ran_free(&all);
    ran_free(&same);
}

Test(help, has_every_command_in_one_group)
{
    ran all = tool_sh("\"$H\" help | sed '/^more help/,$d'");
    for (size_t i = 0; i < commands(); i++) {
        char        line[64];
        const char *at = all.out;
        unsigned    found = 0;
        (void)snprintf(line, sizeof line, "\n  %s", command(i)->name);
        while ((at = strstr(at, line)) != NULL) {
            at += strlen(line);
            found += *at == ' ' || *at == '\n';
        }
        cr_expect(eq(uint, found, 1), "%s", command(i)->name);
    }
    cr_expect(longest_line(all.out) <= 80);
    ran_free(&all);
}

/* What help of a topic shows as examples is understood. */
Test(help, shows_examples_that_run)
{
    static const char *const of[] = { "", "options", "objects", "columns" };
    tool_copy_bookshop("app.hprof");
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        ran r = tool_sh(
            "\"$H\" help %s | sed -n '/^examples:/,/^$/p;/^----/q' | sed -n 's/^  heapdex/\"$H\"/p' >examples && "
            "[ $(wc -l <examples) = 2 ] && sed -i 's/heapdex path/\"$H\" path/; "
            "s/com.acme/bookshop/' examples && PATH=.:$PATH sh -e examples >/dev/null",
            of[i]);
        cr_expect(eq(int, r.code, 0), "%s: %s", of[i], r.err);
        ran_free(&r);
    }
}

Test(help, of_what_nobody_knows_is_refused_with_what_is_near)
{
    static const char *const cases[][2] = {
        { "optoins", "did you mean 'heapdex help options'?" },
        { "histogran", "did you mean 'heapdex help histogram'?" },
        { "xyzzy", "heapdex help lists commands and topics" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ran r = tool_sh("\"$H\" help %s", cases[i][0]);
        cr_expect(r.code == 2 && r.out[0] == '\0' && strstr(r.err, cases[i][1]) != NULL, "%d: %s", r.code, r.err);
        ran_free(&r);
    }
}

Test(help, of_each_command_is_in_help_of_its_name)
{
    for (size_t i = 0; i < commands(); i++) {
        ran a = tool_sh("\"$H\" %s --help", command(i)->name), b = tool_sh("\"$H\" help %s", command(i)->name);
        cr_expect(a.code == 0 && b.code == 0 && strstr(b.out, a.out) != NULL, "%s", command(i)->name);
        ran_free(&a);
        ran_free(&b);
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

/* Without roff: "\\-" and "\\fB" out of the way. */
static char *man_text(const char *page)
{
    char path[512];
    (void)snprintf(path, sizeof path, HDX_BUILD "/man/%s", page);
    char *text = tool_read(path), *to = text;
    cr_assert(text != NULL, "%s", path);
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

Test(help, the_man_pages_know_every_command_option_column_and_example)
{
    char *all = man_text("heapdex.1");
    for (size_t i = 0; i < commands(); i++) {
        const hdx_answer *c = command(i);
        cli_option        options[CLI_OPTIONS_MAX];
        char              text[256];
        (void)snprintf(text, sizeof text, "\n.B %s\n", c->name);
        cr_expect(strstr(all, text) != NULL, "%s", c->name);
        (void)snprintf(text, sizeof text, "heapdex-%s.1", c->name);
        char *page = man_text(text);
        for (int e = 0; e < 2; e++) {
            (void)snprintf(text, sizeof text, "\n%s\n", c->examples[e]);
            cr_expect(strstr(page, text) != NULL, "%s", c->examples[e]);
        }
        for (unsigned f = 0; f < c->form_count; f++)
            for (unsigned k = 0; k < c->forms[f].column_count; k++) {
                (void)snprintf(text, sizeof text, "\n.TP\n.B %s\n", c->forms[f].columns[k].name);
                cr_expect(strstr(page, text) != NULL, "%s %s", c->name, c->forms[f].columns[k].name);
            }
        for (size_t n = cli_options_of(c, options); n-- > 0;) {
            (void)snprintf(text, sizeof text, "--%s", options[n].is->name);
            cr_expect(strstr(options[n].everywhere ? all : page, text) != NULL, "%s %s", c->name, text);
        }
        free(page);
    }
    free(all);
}
