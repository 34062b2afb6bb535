/* A pager between an answer and a terminal, as git has it. */
#include "cli/cli.h"
#include "cli/terminal.h"
#include "support/wait.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
    static const char *const none[] = { "HEAPDEX_PAGER", "PAGER", "LESS", "LV", "NO_COLOR" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        (void)unsetenv(none[i]);
    (void)setenv("TERM", "xterm", 1);
    /* a pager that keeps what it got, and says what it was started with */
    static const char pager[] = "#!/bin/sh\n{ echo \"LESS=$LESS LV=$LV\"; cat; } >paged\necho PAGED \"$@\"\n";
    tool_write("pager", pager, sizeof pager - 1);
    cr_assert(chmod("pager", 0755) == 0);
    ran built = tool_sh("\"$H\" index app.hprof.gz");
    cr_assert(eq(int, built.code, 0));
    ran_free(&built);
}
static void leave(void) { tool_leave(folder); }
TestSuite(pager, .init = enter, .fini = leave, .timeout = 120);
TestSuite(terminal, .init = enter, .fini = leave, .timeout = 120);

static terminal *screen(const char *script) { return terminal_start(100, script); }

static char *paged(void) { return tool_read("paged"); }

static void expect_paged(const char *script, bool yes)
{
    (void)unlink("paged");
    terminal *t = screen(script);
    const int code = terminal_end(t);
    cr_expect(code == 0 && (access("paged", F_OK) == 0) == yes, "%s: %d: %s", script, code, t->shown);
    cr_expect(yes == (strstr(t->shown, "byte[]") == NULL), "%s: %s", script, t->shown);
    free(t);
}

Test(pager, has_what_goes_to_a_terminal_and_nothing_else)
{
    expect_paged("HEAPDEX_PAGER=./pager \"$H\" histogram app.hprof.gz", true);
    expect_paged("HEAPDEX_PAGER=./pager \"$H\" histogram app.hprof.gz --format json", true);
    expect_paged("HEAPDEX_PAGER=./pager \"$H\" histogram app.hprof.gz -o -", true);
    expect_paged("HEAPDEX_PAGER=./pager \"$H\" histogram app.hprof.gz --no-pager", false);
    expect_paged("HEAPDEX_PAGER=./pager \"$H\" histogram app.hprof.gz | cat", false);
    expect_paged("HEAPDEX_PAGER=./pager \"$H\" histogram app.hprof.gz -o file; cat file", false);
    expect_paged("HEAPDEX_PAGER=./pager \"$H\" --version; echo 'byte[]'", false);
}

Test(pager, is_that_of_heapdex_else_that_of_all_and_none_where_it_is_empty_or_cat)
{
    expect_paged("PAGER=./pager \"$H\" histogram app.hprof.gz", true);
    expect_paged("PAGER=false HEAPDEX_PAGER=./pager \"$H\" histogram app.hprof.gz", true);
    expect_paged("PAGER=./pager HEAPDEX_PAGER= \"$H\" histogram app.hprof.gz", false);
    expect_paged("PAGER=./pager HEAPDEX_PAGER=' ' \"$H\" histogram app.hprof.gz", false);
    expect_paged("PAGER=./pager HEAPDEX_PAGER=cat \"$H\" histogram app.hprof.gz", false);
    expect_paged("PAGER=cat \"$H\" histogram app.hprof.gz", false);
}

Test(pager, is_less_where_nothing_is_said_and_knows_what_it_needs_to_know)
{
    expect_paged("ln -s pager less; PATH=.:$PATH \"$H\" histogram app.hprof.gz", true);
    char *got = paged();
    cr_expect(strncmp(got, "LESS=FRX LV=-c\n", 15) == 0, "%s", got);
    free(got);
    expect_paged("PATH=.:$PATH LESS= LV=-x \"$H\" histogram app.hprof.gz", true);
    got = paged();
    cr_expect(strncmp(got, "LESS= LV=-x\n", 12) == 0, "%s", got);
    free(got);
    expect_paged("PATH=.:$PATH TERM=dumb \"$H\" histogram app.hprof.gz", false); /* less would ask for a key */
}

Test(pager, takes_words_and_what_only_a_shell_understands)
{
    terminal *t = screen("HEAPDEX_PAGER='./pager  -a b' \"$H\" histogram app.hprof.gz");
    cr_expect(eq(int, terminal_end(t), 0));
    cr_expect(strstr(t->shown, "PAGED -a b\n") != NULL, "%s", t->shown);
    free(t);
    t = screen("HEAPDEX_PAGER='tr a-z A-Z | ./pager \"$HOME\"' HOME='/a  b' \"$H\" histogram app.hprof.gz");
    cr_expect(eq(int, terminal_end(t), 0));
    cr_expect(strstr(t->shown, "PAGED /a  b\n") != NULL, "%s", t->shown);
    free(t);
    char *got = paged();
    cr_expect(strstr(got, "BYTE[]") != NULL, "%s", got);
    free(got);
}

Test(pager, that_cannot_be_started_is_no_error_and_the_answer_goes_straight_out)
{
    static const char *const pagers[] = { "./nothing", "./nothing -x", "/", "\"./nothing\"", "no$HOME/such" };
    for (size_t i = 0; i < sizeof pagers / sizeof *pagers; i++) {
        char script[160];
        (void)snprintf(script, sizeof script,
                       "export HEAPDEX_PAGER='%s'; \"$H\" histogram app.hprof.gz </dev/null 2>.said", pagers[i]);
        terminal *t = screen(script);
        cr_expect(terminal_end(t) == 0 && strstr(t->shown, "byte[]") != NULL, "%s: %s", script, t->shown);
        char *said = tool_read(".said");
        cr_expect(strstr(said, "heapdex: cannot start the pager") != NULL, "%s: %s", script, said);
        free(said);
        free(t);
    }
}

/* What comes through it is what comes without it: colours and width are the terminal's. */
Test(pager, changes_no_byte_of_the_answer)
{
    static const char *const calls[] = { "histogram app.hprof.gz --limit 0", "path app.hprof.gz thread:main",
                                         "info app.hprof.gz", "objects app.hprof.gz --class '*' --limit 5000" };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char script[200];
        (void)snprintf(script, sizeof script, "HEAPDEX_PAGER=./pager \"$H\" %s --progress never", calls[i]);
        terminal *t = screen(script);
        cr_expect(eq(int, terminal_end(t), 0));
        free(t);
        char *got = paged(), *at = strchr(got, '\n') + 1;
        (void)snprintf(script, sizeof script, "\"$H\" %s --no-pager --progress never", calls[i]);
        t = screen(script);
        cr_expect(eq(int, terminal_end(t), 0));
        cr_expect_str_eq(at, t->shown, "%s", calls[i]);
        cr_expect(i > 0 || strstr(at, "\x1b[") != NULL, "%s", at);
        free(t);
        free(got);
    }
}

Test(terminal, has_no_progress_line_within_an_answer)
{
    const char words[] = "\"$H\" objects app.hprof.gz --class '*' --limit 5000 --no-pager --color never";
    terminal  *t = screen(words);
    cr_expect(eq(int, terminal_end(t), 0));
    ran         plain = tool_sh("COLUMNS=100 %s", words);
    const char *begins = strstr(t->shown, "shallow  retained");
    cr_assert(begins != NULL, "%s", t->shown);
    cr_expect(strcmp(begins, plain.out) == 0, "%.2000s", begins);
    ran_free(&plain);
    free(t);
}

Test(pager, comes_when_the_progress_line_is_gone_and_none_comes_after_it)
{
    /* it stays until the build that goes on beside it is over */
    static const char pager[] = "#!/bin/sh\ncat >/dev/null\nuntil [ -e other ]; do sleep 0.02; done\necho PAGED\n";
    tool_write("pager", pager, sizeof pager - 1);
    terminal *t = screen("HEAPDEX_PAGER='./pager' \"$H\" histogram app.hprof.gz --reachable all --index-dir other "
                         "--progress always");
    cr_expect(eq(int, terminal_end(t), 0));
    const char *begins = strstr(t->shown, "PAGED");
    cr_assert(begins != NULL && strstr(t->shown, "\x1b[K") != NULL, "%s", t->shown);
    cr_expect(begins - t->shown >= 3 && memcmp(begins - 3, "\x1b[K", 3) == 0, "%s", t->shown);
    cr_expect_str_eq(begins, "PAGED\n");
    free(t);
}

Test(pager, that_has_left_is_noticed_once_while_something_goes_on)
{
    int         status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(7);
    cli_paging(child, -1);
    for (unsigned naps = 0; !cli_paging_left(&status);)
        wait_nap(&naps, "the pager has left");
    cr_expect_eq(status, 7 << 8);
    cr_expect_eq(cli_paging_status(), status);
    cr_expect_not(cli_paging_left(&status));
    cli_paging(0, -1);
    cr_expect_not(cli_paging_left(&status));
    cr_expect_eq(cli_paging_status(), 0);
}

Test(pager, that_is_left_early_is_no_error)
{
    terminal *t = screen("HEAPDEX_PAGER='head -n 1' \"$H\" export app.hprof.gz --table objects --reachable all");
    cr_expect(eq(int, terminal_end(t), 0));
    cr_expect(strncmp(t->shown, "id,address,", 11) == 0 && lines_of(t->shown) == 1, "%s", t->shown);
    free(t);
    t = screen("HEAPDEX_PAGER=true \"$H\" leaks app.hprof.gz --finder classes --class 'java.lang.Thread' "
               "--fail-on any --format json --progress never");
    cr_expect(eq(int, terminal_end(t), 1));
    cr_expect_str_eq(t->shown, "");
    free(t);
}

Test(pager, leaves_the_exit_code_to_heapdex_and_errors_to_standard_error)
{
    terminal *t = screen("HEAPDEX_PAGER='./pager; exit 9' \"$H\" histogram app.hprof.gz");
    cr_expect(eq(int, terminal_end(t), 0));
    free(t);
    (void)unlink("paged");
    t = screen("HEAPDEX_PAGER=./pager \"$H\" histogram app.hprof.gz --class no.such.Class");
    cr_expect(eq(int, terminal_end(t), 4));
    cr_expect(access("paged", F_OK) != 0 && strstr(t->shown, "no.such.Class") != NULL, "%s", t->shown);
    free(t);
}

/*
 * Ctrl-C, then a key, for a pager that reads keys and does not end by Ctrl-C; `before`: what it does first. It looks up
 * from reading now and then: a signal that comes just before does not end it.
 *
 * heapdex itself ends a tenth of a second after Ctrl-C: not if the answer is whole, and else not before the pager.
 */
static terminal *press_keys_of_pager(const char *before, const char *words, bool whole)
{
    static const char *const blocked[] = { "SigBlk:" };
    char                     script[512];
    const int                n = snprintf(script, sizeof script,
                                          "#!/bin/bash\ntrap 'echo CAUGHT' INT\nexec 3</dev/tty\n%s\n"
                                                         "echo READY $PPID.\n"
                                                         "until read -r -t 1 line <&3; do :; done\necho GOT $line\n",
                                          before);
    tool_write("pager", script, (size_t)n);
    (void)snprintf(script, sizeof script, "HEAPDEX_PAGER=./pager \"$H\" %s; echo CODE $?", words);
    terminal *t = screen(script);
    terminal_wait_for(t, "READY ", ".");
    const pid_t heapdex = atoi(strstr(t->shown, "READY ") + strlen("READY "));
    terminal_press(t, "\x03");
    terminal_wait(t, "CAUGHT");
    if (whole)
        (void)usleep(300000); /* a fixed time, because it shows that something does not happen: heapdex does not end */
    else
        /*
         * It has come to its end and waits for the pager in the handler of SIGALRM, which blocks that signal alone:
         * whoever starts a process or a thread blocks all of them for a moment.
         */
        for (unsigned naps = 0; process_signals(heapdex, blocked, 1) != 1ull << (SIGALRM - 1);)
            wait_nap(&naps, "heapdex has come to its end");
    terminal_press(t, "x\n");
    return t;
}

Test(pager, has_ctrl_c_for_itself_when_the_answer_is_whole)
{
    terminal *t = press_keys_of_pager("cat >/dev/null", "histogram app.hprof.gz", true);
    cr_expect(eq(int, terminal_end(t), 0));
    cr_expect(strstr(t->shown, "GOT x\nCODE 0\n") != NULL, "%s", t->shown);
    free(t);
}

Test(pager, is_waited_for_after_ctrl_c_has_ended_an_answer_that_was_not_whole)
{
    terminal *t = press_keys_of_pager("", "export app.hprof.gz --table objects", false);
    cr_expect(eq(int, terminal_end(t), 0));
    cr_expect(strstr(t->shown, "GOT x\nCODE 130\n") != NULL, "%s", t->shown);
    free(t);
}

Test(pager, does_not_keep_heapdex_from_ending_by_sigterm)
{
    static const char pager[] = "#!/bin/bash\ncat >/dev/null\nkill -TERM $PPID\nexec sleep 30\n";
    tool_write("pager", pager, sizeof pager - 1);
    terminal *t = screen("HEAPDEX_PAGER=./pager \"$H\" histogram app.hprof.gz; echo CODE $?; kill -9 0");
    terminal_wait(t, "CODE 75");
    (void)terminal_end(t);
    free(t);
}
