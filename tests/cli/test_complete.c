/* Completions: what is offered where, quoted so that each shell reads it back, and nothing but that. */
#include "cli/offers.h"
#include "cli/terminal.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
    /* heapdex that completes, and otherwise shows the words it was given */
    static const char heapdex[] = "#!/bin/sh\n[ \"$1\" = __complete ] && exec \"$H\" \"$@\"\nprintf '<%s>\\n' \"$@\"\n";
    tool_write("heapdex", heapdex, sizeof heapdex - 1);
    cr_assert(chmod("heapdex", 0755) == 0);
    ran built =
        tool_sh("\"$H\" index app.hprof.gz --index-dir app.hdx && mkdir more && touch more/b.hprof old.bin notes");
    cr_assert(eq(int, built.code, 0), "%s", built.err);
    ran_free(&built);
}
static void leave(void) { tool_leave(folder); }
TestSuite(complete, .init = enter, .fini = leave, .timeout = 120);

Test(complete, files_are_what_the_program_prints)
{
    static const char *const shells[][2] = { { "bash", "heapdex.bash" },
                                             { "zsh", "_heapdex" },
                                             { "fish", "heapdex.fish" } };
    for (int i = 0; i < 3; i++) {
        ran r = tool_sh("\"$H\" __complete %s | cmp - '" HDX_TREE "/src/cli/%s'", shells[i][0], shells[i][1]);
        cr_expect(eq(int, r.code, 0), "print it anew: heapdex __complete %s >src/cli/%s", shells[i][0], shells[i][1]);
        ran_free(&r);
    }
    static const char *const wrong[] = { "tcsh", "nothing app.hdx bookshop", "classes app.hdx", "line heapdex",
                                         "lines 'heapdex inf' ' '" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ran w = tool_sh("\"$H\" __complete %s", wrong[i]);
        cr_expect(w.code == 2 && w.out[0] == '\0', "%s: %d, %s", wrong[i], w.code, w.out);
        ran_free(&w);
    }
}

static ran offered(const char *words)
{
    ran r =
        tool_sh("\"$H\" __complete words %s | tail -n +2 | grep . | cut -f 1 | LC_ALL=C sort | paste -sd ' ' -", words);
    r.out[strcspn(r.out, "\n")] = '\0';
    return r;
}

/*
 * The words that are offered, blanks between, in order; `folder` has the index of app.hprof.gz in app.hdx. Names that
 * are read from a dump have a limit of time, which a busy machine may exceed: the next call has them.
 */
static void expect_words(const char *words, const char *wanted)
{
    ran r = offered(words);
    for (unsigned again = 0; again < 20 && strcmp(r.out, wanted) != 0; again++) {
        ran_free(&r);
        r = offered(words);
    }
    cr_expect_str_eq(r.out, wanted, "%s: %s%s", words, r.out, r.err);
    cr_expect_str_empty(r.err);
    ran_free(&r);
}

static void expect_among(const char *words, const char *wanted, bool there)
{
    ran r = tool_sh("\"$H\" __complete words %s | tail -n +2 | cut -f 1 | grep -cxF -- \"%s\"", words, wanted);
    cr_expect(there == (r.out[0] != '0'), "%s: %s", words, wanted);
    ran_free(&r);
}

Test(complete, offers_every_command_option_and_choice_of_the_table)
{
    expect_among("''", "help", true);
    for (size_t i = 0; i < cli_command_count(); i++) {
        const hdx_answer *command = cli_command_at(i);
        cli_option        options[CLI_OPTIONS_MAX];
        char              words[96], wanted[96];
        const size_t      n = cli_options_of(command, options);
        expect_among("''", command->name, true);
        (void)snprintf(words, sizeof words, "%s -", command->name);
        ran r = tool_sh("\"$H\" __complete words %s | tail -n +2 | cut -f 1", words);
        cr_expect(lines_of(r.out) == n, "%s: %s", words, r.out);
        for (size_t k = 0; k < n; k++) {
            (void)snprintf(wanted, sizeof wanted, "--%s\n", options[k].is->name);
            cr_expect(strstr(r.out, wanted) != NULL, "%s %s", words, wanted);
            if (options[k].is->choices != NULL && options[k].is->kind == HDX_PARAMETER_CHOICE) {
                ran choices = tool_sh("\"$H\" __complete words %s x --%s '' | tail -n +2 | cut -f 1 | paste -sd ' ' -",
                                      command->name, options[k].is->name);
                choices.out[strcspn(choices.out, "\n")] = '\0';
                cr_expect_str_eq(choices.out, options[k].is->choices);
                ran_free(&choices);
            }
        }
        ran_free(&r);
    }
}

Test(complete, offers_what_would_be_understood_there)
{
    static const char *const cases[][2] = {
        { "domi", "dominators" },
        { "ol", "old.bin" },
        { "help ob", "object objects" },
        { "help opt", "options" },
        { "info ''", "app.hdx app.hprof.gz more/ old.bin" },
        { "info more/", "more/b.hprof" },
        { "info app.hprof.gz ''", "" },
        { "leaks app.hprof.gz o", "old.bin" },
        { "info app.hprof.gz --index-dir ''", "app.hdx/ more/" },
        { "info app.hprof.gz -o n", "notes" },
        { "info app.hprof.gz --output=n", "--output=notes" },
        { "object app.hprof.gz ''", "class: thread:" },
        { "roots app.hprof.gz --by=t", "--by=type" },
        { "export app.hprof.gz --format ''", "csv jsonl parquet sqlite tsv" },
        { "export app.hprof.gz --table na", "named_references" },
        { "path x --exclude weak,s", "weak,soft" },
        { "refs --ex", "" },
        { "path --exclude weak --exc", "--exclude --exclude-field" },
        { "info --quiet --qui", "" },
        { "-- info --qui", "" },
        { "histogram x --columns class,o", "class,objects class,origin" },
        { "histogram x --by package --columns ''", "classes objects package percent retained shallow" },
        { "histogram x --sort sh", "shallow" },
        { "histogram x --sort shallow:", "shallow:asc shallow:desc" },
        { "histogram x --where sh", "shallow " },
        { "sql --w", "" },
        { "sql app.hprof.gz ''", "" },
        { "sql app.hprof.gz -f n", "notes" },
        { "sql app.hprof.gz --attach o", "" },
        { "sql app.hprof.gz --attach old=o", "old=old.bin" },
        { "sql app.hprof.gz --attach=old=mo", "--attach=old=more/" },
        { "histogram x --where 'shallow >'", "shallow >  shallow >= " },
        { "export x --table loaders --columns p", "parent" },
        { "export x --table loaders --columns name,cl", "name,class name,classes" },
        { "path x --merge --columns de", "depth" },
        { "path x --columns de", "" },
        { "nosuch x ''", "" },
        { "info --nosuch ''", "app.hdx app.hprof.gz more/ old.bin" },
        { "--format ''", "csv json jsonl parquet table tsv" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_words(cases[i][0], cases[i][1]);
}

Test(complete, offers_names_out_of_an_index_that_is_there)
{
    static const char *const cases[][2] = {
        { "objects app.hdx --class 'bookshop.Bookshop$Ses'",
          "bookshop.Bookshop$Session bookshop.Bookshop$SessionCache" },
        { "objects app.hprof.gz --index-dir app.hdx --class short", "short[]" },
        { "retained app.hdx --class=short", "--class=short[]" },
        { "object app.hdx 'class:bookshop.Bookshop$Au'", "class:bookshop.Bookshop$Author" },
        { "path app.hdx --exclude-field java.lang.ref.Fin",
          "java.lang.ref.FinalReference# java.lang.ref.Finalizer# java.lang.ref.Finalizer$FinalizerThread#" },
        { "object app.hprof.gz --index-dir app.hdx thread:S", "thread:Signal Dispatcher" },
        { "object app.hprof.gz --index-dir app.hdx thread:m", "thread:main" },
        { "object app.hprof.gz --index-dir app.hdx thread:",
          "thread:Attach Listener thread:Common-Cleaner thread:Finalizer thread:Notification Thread thread:Reference "
          "Handler thread:Signal Dispatcher thread:clerk thread:main" },
        /* too many to list: packages, and what all have in common is no more than that */
        { "objects app.hdx --class j", "java. jdk." },
        { "objects app.hprof.gz --class short", "" }, /* without an index nothing, and none is built */
        { "objects old.bin --class short", "" },      /* no dump */
        { "object app.hprof.gz thread:", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_words(cases[i][0], cases[i][1]);
    cr_expect(access("app.hprof.gz.hdx", F_OK) != 0);
    ran r = tool_sh("\"$H\" __complete classes app.hdx 'bookshop.Bookshop$Au'; \"$H\" __complete classes none x");
    cr_expect_str_eq(r.out, "bookshop.Bookshop$Author\n");
    cr_expect(r.code == 0 && r.err[0] == '\0', "%d %s", r.code, r.err);
    ran_free(&r);
}

/* However many names there are: each is still found by what is offered, dot by dot. */
Test(complete, offers_at_most_so_many_and_loses_none)
{
    ran r = tool_sh("\"$H\" export app.hdx --table classes --columns name | tail -n +2 | sort -u >names; "
                    "printf '' >before; for depth in 1 2 3 4 5 6 7 8; do sort -u before >now; : >before; "
                    "[ $depth = 1 ] && echo >now; while IFS= read -r p; do "
                    "\"$H\" __complete classes app.hdx \"$p\" >offers; [ $(wc -l <offers) -le 200 ] || echo many; "
                    "grep '[.]$' offers >>before; grep -v '[.]$' offers >>found; done <now; done; "
                    "sort -u found >all; comm -13 all names");
    cr_expect_str_eq(r.out, "", "lost: %s", r.out);
    ran_free(&r);
}

/* ---- bash ---- */

Test(complete, drives_the_function_of_bash)
{
    static const char        script[] = ". '" HDX_TREE "/src/cli/heapdex.bash'\n"
                                        "COMP_WORDBREAKS=$' \\t\\n\"\\'@><=;|&(:'\n"
                                        "COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=(heapdex) COMP_CWORD=0\n"
                                        "_heapdex heapdex\n"
                                        "((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"\n";
    static const char *const cases[][2] = {
        { "heapdex domi", "dominators\n" },
        { "heapdex roots x --by ", "type\n" },
        { "heapdex roots x --by=", "type\n" },
        { "heapdex info --form", "--format\n" },
        { "heapdex refs --ex", "" },
        { "heapdex objects app.hdx --class short", "short\\[\\]\n" },
        { "heapdex objects app.hdx --class 'short[", "short[]\n" },
        { "heapdex object app.hdx class:bookshop.Bookshop\\$Au", "bookshop.Bookshop\\$Author\n" },
        { "heapdex object app.hdx class:bookshop.Bookshop$Au", "bookshop.Bookshop\\$Author\n" },
        { "heapdex object app.hdx 'class:bookshop.Bookshop$Au", "class:bookshop.Bookshop$Author\n" },
        { "heapdex object app.hdx \"class:bookshop.Bookshop$Au", "class:bookshop.Bookshop\\$Author\n" },
        { "heapdex object app.hprof.gz --index-dir app.hdx thread:Sig", "Signal\\ Dispatcher\n" },
        { "heapdex object app.hprof.gz --index-dir app.hdx \"thread:Sig", "thread:Signal Dispatcher\n" },
        { "heapdex info mo", "more/\n" },
        { "heapdex info 'nothing here", "" },
    };
    tool_write("drive", script, sizeof script - 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tool_write("line", cases[i][0], strlen(cases[i][0]));
        ran r = tool_sh("l=$(cat line; echo x); PATH=.:$PATH bash --norc drive \"${l%%x}\"");
        cr_expect_str_eq(r.out, cases[i][1], "%s: %s%s", cases[i][0], r.out, r.err);
        cr_expect_str_empty(r.err);
        ran_free(&r);
    }
    /* a caller that knows only words, as older scripts have it */
    ran r = tool_sh("PATH=.:$PATH bash --norc -c \". '" HDX_TREE "/src/cli/heapdex.bash'; "
                    "COMP_WORDS=(heapdex export x --format = ''); COMP_CWORD=5; _heapdex; "
                    "echo \\\"\\${COMPREPLY[*]}\\\"\"");
    cr_expect_str_eq(r.out, "csv tsv jsonl parquet sqlite\n", "%s", r.err);
    ran_free(&r);
}

Test(complete, words_come_back_from_bash_as_they_were)
{
    static const char *const words[] = { "a$b",        "byte[]", "a b",           "it's",    "say \"x\"", "a\\b",
                                         "`x`",        "~x",     "a;b|c&d<e>(f)", "*?{1,2}", "\xc3\xa4",  "#a",
                                         "a'b\"c$d e", "!x" };
    static const char        quotes[] = { '\0', '\'', '"' };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t q = 0; q < 3; q++) {
            hdx_buffer out = hdx_buffer_of(NULL);
            const char open[2] = { quotes[q], '\0' };
            hdx_buffer_format(&out, "printf %%s %s", open);
            cli_put_bash(&out, words[i], quotes[q], true);
            hdx_buffer_format(&out, "%s\n", open);
            tool_write("script", out.at, (size_t)out.len);
            ran r = tool_sh("bash --norc script");
            cr_expect_str_eq(r.out, words[i], "%s", out.at);
            /* and our own reading of the line is that of bash */
            hdx_arena arena = hdx_arena_of(NULL);
            size_t    count, from;
            char      left;
            out.at[out.len - 1] = '\0';
            const char *const *read = cli_bash_words(&arena, out.at, "", &count, &from, &left);
            cr_expect(read != NULL && count == 3 && left == '\0' && strcmp(read[2], words[i]) == 0, "%s", out.at);
            hdx_arena_free(&arena);
            ran_free(&r);
            hdx_buffer_free(&out);
        }
}

/* ---- real shells on a terminal: keys in, words of the command out ---- */

static void expect_typed(const char *start, const char *setup, const char *const (*cases)[2], size_t count)
{
    (void)setenv("TERM", "xterm", 1);
    (void)setenv("HOME", folder, 1);
    terminal *t = terminal_start(200, start);
    terminal_press(t, setup);
    terminal_wait_for(t, "SETUP-2", "P> ");
    for (size_t i = 0; i < count; i++) {
        t->len = 0;
        t->shown[0] = '\0';
        terminal_press(t, cases[i][0]);
        terminal_press(t, "\n");
        terminal_wait_for(t, cases[i][1], "P> ");
    }
    terminal_press(t, "exit\n");
    (void)terminal_end(t);
    free(t);
}

static const char *const typed[][2] = {
    { "heapdex histog\t", "<histogram>" },
    { "heapdex objects app.hdx --class bookshop.Bookshop\\$Auth\t", "<bookshop.Bookshop$Author>" },
    { "heapdex objects app.hdx --class 'bookshop.Bookshop$Auth\t", "<bookshop.Bookshop$Author>" },
    { "heapdex object app.hdx class:bookshop.Bookshop\\$Auth\t", "<class:bookshop.Bookshop$Author>" },
    { "heapdex objects app.hdx --class short\t", "<short[]>" },
    { "heapdex object app.hprof.gz --index-dir app.hdx thread:Sig\t", "<thread:Signal Dispatcher>" },
    { "heapdex roots app.hdx --by=ty\t", "<--by=type>" },
    { "heapdex info mo\tb\t", "<more/b.hprof>" },
    { "heapdex inf\t", "<info>" },
};

Test(complete, works_in_bash_on_a_terminal)
{
    expect_typed("PATH=$PWD:$PATH exec bash --norc --noprofile -i",
                 ". '" HDX_TREE "/src/cli/heapdex.bash'; PS1='P> '; echo SETUP-$((1+1))\n", typed,
                 sizeof typed / sizeof *typed);
}

Test(complete, works_in_zsh_on_a_terminal)
{
    tool_write("info", "", 0); /* a file that is called as a command is no reason to leave the command out */
    if (system("command -v zsh >/dev/null") != 0)
        tool_skip(folder, "zsh is not here");
    expect_typed("cp '" HDX_TREE "/src/cli/_heapdex' .; PATH=$PWD:$PATH exec zsh -f -i",
                 "fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; PS1='P> '; echo SETUP-$((1+1))\n", typed,
                 sizeof typed / sizeof *typed);
}

Test(complete, works_in_fish_on_a_terminal)
{
    if (system("command -v fish >/dev/null") != 0)
        tool_skip(folder, "fish is not here");
    expect_typed("PATH=$PWD:$PATH exec fish --no-config -i",
                 "source '" HDX_TREE
                 "/src/cli/heapdex.fish'; function fish_prompt; echo -n 'P> '; end; echo SETUP-(math 1+1)\n",
                 typed, sizeof typed / sizeof *typed);
}
