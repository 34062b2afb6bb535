/*
 * test_console.c - what stands on standard error: lines and documents of progress and when none is drawn, notices that
 * wait for an answer, the width of what is written to.
 */
#include "cli/cli.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int         before, from;
static cli_console c;

/* Standard error goes into a pipe. */
static void enter(void)
{
    int ends[2];
    cr_assert(pipe(ends) == 0);
    cr_assert(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    before = dup(STDERR_FILENO);
    cr_assert(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO && close(ends[1]) == 0);
    from = ends[0];
    cli_console_open(&c, NULL);
    cr_assert(c.terminal == false);
}

static void leave(void)
{
    cli_console_close(&c);
    (void)dup2(before, STDERR_FILENO);
    (void)close(before);
    (void)close(from);
}

TestSuite(console, .init = enter, .fini = leave, .timeout = 60);

/* All that was written since the last call. */
static const char *said(void)
{
    static char   text[4096];
    const ssize_t n = read(from, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void report(const hdx_progress_report *r)
{
    const hdx_progress p = cli_console_progress(&c);
    cr_assert(p.report != NULL);
    p.report(p.context, r);
}

static hdx_progress_report scan = { .step = "scan", .number = 2, .steps = 7, .done = 5, .total = 10, .unit = "bytes" };
static hdx_progress_report sort = { .step = "sort", .number = 3, .steps = 7 };

static double seconds_of(const char *text, const char *rest)
{
    double       seconds = -1;
    const size_t len = strlen(rest);
    cr_expect(strncmp(text, rest, len) == 0 && sscanf(text + len, "%lf}\n", &seconds) == 1, "%s", text);
    return seconds;
}

#define SCAN                                                                                                           \
    "{\"step\": \"scan\", \"number\": 2, \"steps\": 7, \"done\": 5, \"total\": 10, \"unit\": \"bytes\", \"seconds\": "

Test(console, documents_of_progress_count_the_seconds_of_the_step)
{
    c.progress = CLI_AS_JSON;
    cli_console_begin(&c);
    report(&scan);
    cr_expect(seconds_of(said(), SCAN) == 0, "a step begins with what is said of it first");
    c.step_ns -= 5000000000u;
    report(&scan);
    const double seconds = seconds_of(said(), SCAN);
    cr_expect(seconds >= 5 && seconds < 50, "%f", seconds);
    report(&sort);
    cr_expect_str_eq(said(), "{\"step\": \"sort\", \"number\": 3, \"steps\": 7, \"done\": 0, \"total\": 0, \"unit\": "
                             "\"\", \"seconds\": 0.000}\n");
    report(&(hdx_progress_report){ .number = 4, .steps = 7, .done = UINT64_MAX });
    cr_expect_str_eq(said(), "{\"step\": \"\", \"number\": 4, \"steps\": 7, \"done\": 18446744073709551615, "
                             "\"total\": 0, \"unit\": \"\", \"seconds\": 0.000}\n");
}

Test(console, lines_of_progress_in_a_file_are_one_for_each_step_and_second)
{
    c.progress = CLI_ALWAYS;
    cli_console_begin(&c);
    report(&scan);
    cr_expect_str_eq(said(), "heapdex: 2/7 scan   50 %\n");
    report(&scan);
    cr_expect_str_eq(said(), "", "within a second");
    c.shown_ns -= 1000000000u;
    report(&scan);
    cr_expect_str_eq(said(), "heapdex: 2/7 scan   50 %\n");
    report(&sort);
    cr_expect_str_eq(said(), "heapdex: 3/7 sort\n");
    cli_console_begin(&c); /* of other work: the same step is another one */
    report(&sort);
    cr_expect_str_eq(said(), "heapdex: 3/7 sort\n");
    cli_console_erase(&c);
    cr_expect_str_eq(said(), "", "no line stands there");
}

Test(console, progress_on_a_terminal_is_drawn_when_it_takes_a_while)
{
    c.terminal = true;
    c.progress = CLI_AUTO;
    cli_console_begin(&c);
    report(&scan);
    cr_expect_str_eq(said(), "", "nobody waits yet");
    cli_console_erase(&c);
    cr_expect_str_eq(said(), "");
    c.began_ns -= 300000000u;
    report(&scan);
    cr_expect_str_eq(said(), "\r2/7 scan   50 %\x1b[K");
    report(&scan);
    cr_expect_str_eq(said(), "\r2/7 scan   50 %\x1b[K", "each time");
    cli_console_erase(&c);
    cr_expect_str_eq(said(), "\r\x1b[K");
    cli_console_erase(&c);
    cr_expect_str_eq(said(), "", "it is gone");
    c.progress = CLI_ALWAYS;
    cli_console_begin(&c);
    report(&sort);
    cr_expect_str_eq(said(), "\r3/7 sort\x1b[K", "at once");
    cli_notice(&c, "a\tb");
    cr_expect_str_eq(said(), "\r\x1b[Kheapdex: a\\x09b\n", "a notice takes its place");
    cli_notice(&c, "b");
    cr_expect_str_eq(said(), "heapdex: b\n");
}

Test(console, an_answer_on_a_terminal_is_not_written_into)
{
    c.terminal = true;
    c.progress = CLI_ALWAYS;
    cli_console_begin(&c);
    report(&scan);
    (void)said();
    cli_console_hold(&c, true);
    cr_expect_str_eq(said(), "\r\x1b[K");
    report(&scan);
    report(&sort);
    cli_notice(&c, "one");
    cli_notice(&c, "two");
    cr_expect_str_eq(said(), "");
    cli_console_hold(&c, false);
    cr_expect_str_eq(said(), "heapdex: one\nheapdex: two\n");
    cli_console_hold(&c, false);
    cr_expect_str_eq(said(), "", "once");
    report(&sort);
    cr_expect_str_eq(said(), "\r3/7 sort\x1b[K");
    c.terminal = false; /* what is no terminal is written to all the time */
    cli_console_hold(&c, true);
    (void)said();
    cli_notice(&c, "three");
    cr_expect_str_eq(said(), "heapdex: three\n");
    c.quiet = true;
    cli_notice(&c, "four");
    cr_expect_str_eq(said(), "");
}

Test(console, shows_progress_where_somebody_sees_it_or_has_asked)
{
    static const struct {
        cli_when when;
        bool     terminal, shown;
    } cases[] = { { CLI_AUTO, false, false },   { CLI_AUTO, true, true },    { CLI_ALWAYS, false, true },
                  { CLI_ALWAYS, true, true },   { CLI_NEVER, false, false }, { CLI_NEVER, true, false },
                  { CLI_AS_JSON, false, true }, { CLI_AS_JSON, true, true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c.progress = cases[i].when;
        c.terminal = cases[i].terminal;
        const hdx_progress p = cli_console_progress(&c);
        cr_expect((p.report != NULL) == cases[i].shown && p.cancelled != NULL && !p.cancelled(p.context), "case %zu",
                  i);
    }
}

Test(console, width_is_what_COLUMNS_says_where_there_is_no_terminal)
{
    static const struct {
        const char *columns;
        unsigned    width;
    } cases[] = { { "80", 80 },    { "20", 20 },  { "19", 0 },      { "0", 0 },  { "", 0 },
                  { "100x", 100 }, { "x100", 0 }, { "9999", 9999 }, { "-5", 0 }, { "123456", 123456 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert(setenv("COLUMNS", cases[i].columns, 1) == 0);
        cr_expect(cli_terminal_width(STDERR_FILENO) == cases[i].width, "%s: %u", cases[i].columns,
                  cli_terminal_width(STDERR_FILENO));
    }
    cr_assert(setenv("COLUMNS", "99999999999999999999", 1) == 0);
    cr_expect(cli_terminal_width(STDERR_FILENO) >= 100000, "as wide as can be");
    cr_assert(unsetenv("COLUMNS") == 0);
    cr_expect(cli_terminal_width(STDERR_FILENO) == 0);
}

Test(console, is_ascii_where_it_is_a_terminal_whose_locale_says_so)
{
    static const struct {
        const char *all, *ctype, *lang;
        bool        ascii;
    } cases[] = { { "C", NULL, NULL, true },
                  { "POSIX", NULL, NULL, true },
                  { "C.UTF-8", NULL, NULL, false },
                  { "de_DE.utf8", NULL, NULL, false },
                  { "de_DE.ISO-8859-1", NULL, NULL, true },
                  { "de_DE", NULL, NULL, false },
                  { NULL, "C", "C.UTF-8", true },
                  { NULL, NULL, "C", true },
                  { "", "", "C.UTF-8", false },
                  { "", "C", "C.UTF-8", true },
                  { "C.UTF-8", "C", "C", false },
                  { NULL, NULL, NULL, false },
                  { "", "", "", false } };
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const int                master = posix_openpt(O_RDWR | O_NOCTTY);
    cr_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    const int fd = open(ptsname(master), O_RDWR | O_NOCTTY);
    cr_assert(fd >= 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const values[] = { cases[i].all, cases[i].ctype, cases[i].lang };
        for (unsigned k = 0; k < 3; k++)
            cr_assert((values[k] == NULL ? unsetenv(names[k]) : setenv(names[k], values[k], 1)) == 0);
        cr_expect(cli_ascii(fd) == cases[i].ascii, "case %zu", i);
        cr_expect(cli_ascii(STDERR_FILENO) == false, "no terminal");
    }
    (void)close(fd);
    (void)close(master);
}
