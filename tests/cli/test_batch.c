/* A batch of dumps as a scheduler runs it: killed, told to stop, begun again. */
#include "cli/terminal.h"
#include "support/wait.h"

#include <regex.h>

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
    ran r =
        tool_sh("mkdir d && gunzip -c app.hprof.gz > d/a.hprof && for i in b c d; do cp d/a.hprof d/$i.hprof; done");
    cr_assert(r.code == 0, "%s", r.err);
    ran_free(&r);
}
static void leave(void) { tool_leave(folder); }
TestSuite(batch, .init = enter, .fini = leave, .timeout = 120);

#define CALL "--ask histogram,suspects --threads 1 --index-dir"

/* In a process group of its own, events on *from. */
static pid_t begin(const char *out, int *from)
{
    int ends[2];
    cr_assert(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGINT, SIG_DFL);
        (void)setpgid(0, 0);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        (void)close(ends[0]);
        (void)execl(HDX_TOOL, "heapdex", "batch", "d", "--out", out, "--ask", "histogram,suspects", "--threads", "1",
                    "--index-dir", "killed", "--progress", "json", (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    *from = ends[0];
    return child;
}

/* Reads events until one has these words; whether one had. */
static bool wait_for(int from, const char *words)
{
    char   text[65536];
    size_t len = 0;
    for (ssize_t n; len + 1 < sizeof text && (n = read(from, text + len, 1)) == 1;) {
        if (text[len++] != '\n')
            continue;
        text[len] = '\0';
        if (strstr(text, words) != NULL)
            return true;
        len = 0;
    }
    return false;
}

static int end_of(pid_t child, int from)
{
    int  status;
    char rest[4096];
    while (read(from, rest, sizeof rest) > 0)
        ;
    (void)close(from);
    cr_assert(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void expect_same_as_in_one_go(void)
{
    ran r = tool_sh("\"$H\" batch d --out whole " CALL " whole.hdx --progress never && "
                    "\"$H\" batch d --out killed.out " CALL " killed --progress never && diff -r whole/answers "
                    "killed.out/answers && for f in whole.hdx/*/*.hdx; do cmp $f killed/${f#*/} || exit 9; done && "
                    "[ $(ls killed.out/answers | wc -l) = 4 ] && ls killed.out/claims");
    cr_expect(r.code == 0, "%d %s %s", r.code, r.out, r.err);
    cr_expect(strstr(r.out, "4 dumps: ") != NULL, "%s", r.out);
    ran_free(&r);
    r = tool_sh("grep -L '\"state\": \"done\"' killed.out/status/*");
    cr_expect_str_eq(r.out, "");
    ran_free(&r);
}

Test(batch, killed_in_the_middle_twice_goes_on_to_the_same_bytes)
{
    static const char *const when[] = { "\"step\", \"dump_id\"", "\"event\": \"done\"" };
    for (int i = 0; i < 2; i++) {
        int         from;
        const pid_t child = begin("killed.out", &from);
        cr_expect(wait_for(from, when[i]));
        cr_assert(kill(child, SIGKILL) == 0);
        cr_expect(eq(int, end_of(child, from), 128 + SIGKILL)); /* its children have closed the pipe, too */
    }
    expect_same_as_in_one_go();
}

Test(batch, told_to_stop_ends_with_75_however_often_it_is_told_and_goes_on_to_the_same_bytes)
{
    static const char *const unhandled[] = { "SigPnd:", "ShdPnd:", "SigBlk:" };
    int                      from;
    pid_t                    child = begin("killed.out", &from);
    cr_expect(wait_for(from, "\"step\", \"dump_id\""));
    for (int i = 0; i < 5; i++) {
        (void)kill(-child, SIGTERM); /* as schedulers do: all of its processes */
        (void)kill(child, SIGTERM);
        for (unsigned naps = 0; (process_signals(child, unhandled, 3) >> (SIGTERM - 1) & 1) != 0;)
            wait_nap(&naps, "SIGTERM is handled"); /* two that are pending would be one */
    }
    cr_expect(eq(int, end_of(child, from), 75));
    child = begin("killed.out", &from);
    cr_expect(wait_for(from, "\"event\": \"done\""));
    (void)kill(-child, SIGINT); /* of a terminal */
    cr_expect(eq(int, end_of(child, from), 130));
    expect_same_as_in_one_go();
}

/* Standard error is a pipe that is full, and nobody reads it. */
static pid_t begin_unread(const char *progress, int *from)
{
    int ends[2];
    cr_assert(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
    const int flags = fcntl(ends[1], F_GETFL);
    cr_assert(fcntl(ends[1], F_SETFL, flags | O_NONBLOCK) == 0);
    while (write(ends[1], "x", 1) == 1)
        ;
    cr_assert(fcntl(ends[1], F_SETFL, flags) == 0);
    const pid_t child = fork();
    if (child == 0) {
        (void)setpgid(0, 0);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execl(HDX_TOOL, "heapdex", "batch", "d", "--out", "unread", "--ask", "histogram", "--threads", "1",
                    "--progress", progress, (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    *from = ends[0];
    return child;
}

/* Of a process that ends by itself; 999: it has not ended within a minute. */
static int ends_by_itself(pid_t child, int from)
{
    int status;
    for (unsigned naps = 0; naps < WAIT_NAPS; wait_nap(&naps, "the end of heapdex")) {
        if (waitpid(child, &status, WNOHANG) == child) {
            (void)close(from);
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }
    (void)kill(-child, SIGKILL);
    (void)waitpid(child, &status, 0);
    (void)close(from);
    return 999;
}

Test(batch, works_on_and_ends_when_nobody_reads_what_it_says)
{
    static const char *const ways[] = { "json", "always" };
    for (int i = 0; i < 2; i++) {
        int         from;
        const pid_t child = begin_unread(ways[i], &from);
        cr_expect(eq(int, ends_by_itself(child, from), 0), "%s", ways[i]);
        ran r = tool_sh("grep -l '\"state\": \"done\"' unread/status/* | wc -l; rm -r unread d/*.hdx");
        cr_expect_str_eq(r.out, "4\n");
        ran_free(&r);
    }
}

Test(batch, ends_when_it_is_told_to_though_nobody_reads_what_it_says)
{
    int         from;
    const pid_t child = begin_unread("json", &from);
    for (unsigned naps = 0; access("unread/status", F_OK) != 0;)
        wait_nap(&naps, "the batch has begun");
    (void)kill(child, SIGTERM);
    cr_expect(eq(int, ends_by_itself(child, from), 75));
}

Test(batch, has_an_exit_code_that_says_whether_something_failed)
{
    ran r = tool_sh("\"$H\" batch d/a.hprof d/none.hprof app.hprof.gz --out o --index-only --format csv --columns "
                    "state,exit_code,error --sort exit_code");
    cr_expect(eq(int, r.code, 1));
    cr_expect_str_eq(r.out, "state,exit_code,error\ndone,0,\ndone,0,\nfailed,3,d/none.hprof: no such file\n", "%s",
                     r.out);
    cr_expect(strstr(r.err, "failed (3): d/none.hprof: no such file") != NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" batch 'd/[ab].hprof' --out o --index-only --format json | grep -c '\"state\": "
                "\"done\"\\|\"state\": \"skipped\"'");
    cr_expect_str_eq(r.out, "2\n");
    ran_free(&r);
}

Test(batch, counts_one_dump_as_one)
{
    ran r = tool_sh("\"$H\" batch d/a.hprof --out o --index-only --verbose 2>&1");
    cr_expect(r.code == 0 && strstr(r.out, "heapdex: 1 dump, 0 already finished\n") != NULL, "%s", r.out);
    ran_free(&r);
}

static bool matches(const char *pattern, const char *text)
{
    regex_t    r;
    const bool yes = regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB) == 0 && regexec(&r, text, 0, NULL, 0) == 0;
    regfree(&r);
    return yes;
}

#define TWO "cd d && rm d.hprof c.hprof && echo no > no.hprof && cd .. && "
#define ID  "-[0-9a-f]{8}: "

Test(batch, tells_a_log_when_each_dump_begins_and_ends)
{
    ran r = tool_sh(TWO "\"$H\" batch d --out o --ask histogram --threads 1 --progress always 2>&1 >/dev/null");
    cr_expect(matches("^heapdex: 3 dumps, 0 already finished\n"
                      "heapdex: [ab]" ID "begun with 1 thread and [0-9.]+ MB, about [0-9]+\\.[0-9] s\n"
                      "heapdex: [ab]" ID "done\n"
                      "heapdex: [ab]" ID "begun with 1 thread and [0-9.]+ MB, about [0-9]+\\.[0-9] s\n"
                      "heapdex: [ab]" ID "done\n"
                      "heapdex: no" ID "begun with 1 thread and [0-9.]+ MB, about [0-9]+\\.[0-9] s\n"
                      "heapdex: no" ID "failed \\(3\\): d/no.hprof: offset 0x0: a text file, not a heap dump\n"
                      "heapdex: no" ID "hint: take a heap dump with [^\n]*\n$",
                      r.out),
              "%s", r.out);
    ran_free(&r);
    r = tool_sh("\"$H\" batch d --out o --ask histogram --threads 2 --verbose 2>&1 >/dev/null");
    cr_expect(matches("^heapdex: [ab]" ID "skipped, already finished\n"
                      "heapdex: [ab]" ID "skipped, already finished\n"
                      "heapdex: 3 dumps, 2 already finished\n"
                      "heapdex: no" ID "begun with 2 threads and [0-9.]+ MB, about [0-9]+\\.[0-9] s\n"
                      "heapdex: no" ID "failed ",
                      r.out),
              "%s", r.out);
    ran_free(&r);
    r = tool_sh("\"$H\" batch d --out o --ask histogram 2>&1 >/dev/null"); /* only what is wrong */
    cr_expect(matches("^heapdex: no" ID "failed \\(3\\)[^\n]*\nheapdex: no" ID "hint: [^\n]*\n$", r.out), "%s", r.out);
    ran_free(&r);
    r = tool_sh("\"$H\" batch d --out o --ask histogram --quiet 2>&1 >/dev/null");
    cr_expect_str_eq(r.out, "");
    ran_free(&r);
}

/* Lines are drawn over one another: how many dumps are over, and what is told stands above them and stays. */
Test(batch, draws_on_a_terminal_how_far_it_is)
{
    static const char *const drawn[] = {
        "0 of 3 dumps, 1 running  0:00:0",           "1 of 3 dumps, 1 running  0:00:0",
        "2 of 3 dumps, 1 running  0:00:0",           "\r\x1b[Jheapdex: no-",
        "3 of 3 dumps, 0 running, 1 failed  0:00:0", "\r\x1b[J3 dumps: 2 done, 0 skipped, 1 failed; ",
    };
    terminal   *t = terminal_start(80, TWO "HEAPDEX_PAGER=cat \"$H\" batch d --out o --ask histogram --threads 1");
    const char *at;
    cr_expect(eq(int, terminal_end(t), 1));
    at = t->shown;
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        const char *next = strstr(at, drawn[i]);
        cr_assert(next != NULL, "%s in %s", drawn[i], t->shown);
        at = next;
    }
    cr_expect(strstr(at, "[J") == strstr(at, "[J3 dumps"), "nothing is drawn over the answer: %s", at);
    free(t);
    t = terminal_start(20, "HEAPDEX_PAGER=cat \"$H\" batch d/a.hprof --out one --ask histogram");
    cr_expect(eq(int, terminal_end(t), 0));
    cr_expect(strstr(t->shown, "0 of 1 dump, 0 runn\r\x1b[J") != NULL, "%s", t->shown); /* a line is one line */
    free(t);
    t = terminal_start(80, "HEAPDEX_PAGER=cat \"$H\" batch d/a.hprof --out never --ask histogram --progress never");
    cr_expect(eq(int, terminal_end(t), 0));
    cr_expect(strstr(t->shown, "at work") == NULL && strstr(t->shown, "1 dump: 1 done") != NULL, "%s", t->shown);
    free(t);
}

Test(batch, deletes_dumps_only_when_that_is_said_twice)
{
    ran r = tool_sh("\"$H\" batch d/a.hprof --out o --index-only --drop-dump");
    cr_expect(r.code == 2 && strstr(r.err, "hint: confirm by repeating the option") != NULL, "%d %s", r.code, r.err);
    cr_expect(access("d/a.hprof", F_OK) == 0 && access("o", F_OK) != 0);
    ran_free(&r);
    r = tool_sh("\"$H\" batch d/a.hprof --out o --index-only --drop-dump --drop-dump --quiet");
    cr_expect(r.code == 0 && access("d/a.hprof", F_OK) != 0 && access("d/a.hprof.hdx", F_OK) == 0, "%d %s", r.code,
              r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" histogram d/a.hprof.hdx --limit 1 --quiet"); /* without its dump */
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
}

Test(batch, refuses_shares_that_there_are_not)
{
    static const char *const wrong[][2] = { { "", "--task 3 --tasks 2" },
                                            { "SLURM_ARRAY_TASK_ID=3", "--tasks 2" },
                                            { "SLURM_ARRAY_TASK_ID=x1", "--tasks 2" },
                                            { "JOB_COMPLETION_INDEX=1x", "--tasks 2" },
                                            { "JOB_COMPLETION_INDEX=", "--tasks 2" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char command[200];
        (void)snprintf(command, sizeof command, "%s \"$H\" batch d --out o --index-only %s", wrong[i][0], wrong[i][1]);
        ran r = tool_sh(command);
        cr_expect(r.code == 2 && access("o", F_OK) != 0, "%s: %d %s", command, r.code, r.err);
        ran_free(&r);
    }
    ran r = tool_sh("SLURM_ARRAY_TASK_ID=x \"$H\" batch d/a.hprof --out o --index-only"); /* there are no shares */
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
}

Test(batch, has_its_share_from_the_scheduler)
{
    ran r =
        tool_sh("for n in 0 1; do JOB_COMPLETION_INDEX=$n \"$H\" batch d --out o --index-only --tasks 2 --format csv "
                "--columns dump_id,state || exit; done; SLURM_ARRAY_TASK_ID=2 \"$H\" batch d --out o --index-only "
                "--tasks 2 --format csv --columns state; ls d | grep -c hdx");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.out, "state\nskipped\nskipped\n4\n") != NULL, "2 is 0: %s", r.out);
    ran_free(&r);
}

Test(batch, says_how_damaged_indexes_are_built_again_and_builds_them)
{
    ran r =
        tool_sh("\"$H\" batch d/a.hprof --out o --index-only --quiet && "
                "printf '\\377\\377' | dd of=d/a.hprof.hdx/dominator.hdx bs=1 seek=5000 conv=notrunc 2>/dev/null && "
                "\"$H\" batch d/a.hprof --out o --ask suspects --format csv --columns state,exit_code");
    cr_expect_eq(r.code, 1, "%d %s", r.code, r.err);
    cr_expect_not_null(strstr(r.out, "failed,5"), "%s", r.out);
    cr_expect_not_null(strstr(r.err, "hint: run the command again with --rebuild damaged"), "%s", r.err);
    ran_free(&r);
    r = tool_sh(
        "\"$H\" batch d/a.hprof --out o --ask suspects --rebuild damaged --format csv --columns state && "
        "\"$H\" verify d/a.hprof --full -o /dev/null && \"$H\" batch d/a.hprof --out o --ask suspects --rebuild "
        "damaged --format csv --columns state");
    cr_expect_str_eq(r.out, "state\ndone\nstate\nskipped\n", "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" batch d/a.hprof --out o --index-only --rebuild all --format csv --columns state");
    cr_expect_str_eq(r.out, "state\ndone\n", "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" batch d/a.hprof --out o --summary --rebuild all");
    cr_expect_eq(r.code, 2, "%s", r.err);
    ran_free(&r);
}

/* Four dumps of two applications and one of none. */
static void make_applications(void)
{
    ran r = tool_sh("mkdir s && for n in 1 2 3 4 5; do cp d/a.hprof s/$n.hprof; done && printf "
                    "'dump,application\\n1.hprof,shop\\n2.hprof,till\\n3.hprof,shop\\n4.hprof,till\\n5.hprof,\\n' "
                    ">s/list.csv && \"$H\" batch s/list.csv --out o --index-only --quiet");
    cr_assert_eq(r.code, 0, "%d %s", r.code, r.err);
    ran_free(&r);
}

static void expect_series(const char *options, int code, const char *words, const char *dumps)
{
    ran r = tool_sh("\"$H\" trend o --of objects --limit 1 --format json %s >t.json && python3 -c 'import json; "
                    "print(*[d[\"path\"].rsplit(\"/\", 1)[1][0] for d in json.load(open(\"t.json\"))[\"dumps\"]])'",
                    options);
    cr_expect_eq(r.code, code, "%s: %d %s", options, r.code, r.err);
    cr_expect(words == NULL || strstr(r.err, words) != NULL, "%s: %s", options, r.err);
    cr_expect(dumps == NULL || strcmp(r.out, dumps) == 0, "%s: %s", options, r.out);
    ran_free(&r);
}

Test(batch, leaves_dumps_of_which_a_trend_is_of_one_application)
{
    make_applications();
    expect_series("", 2, "the dumps belong to 3 applications: shop, till, (none)", NULL);
    expect_series("--application shop", 0, NULL, "1 3\n");
    expect_series("--application till", 0, NULL, "2 4\n");
    expect_series("--application tell", 4, "no dump belongs to the application 'tell'; there are shop, till, (none)",
                  NULL);
    expect_series("--application ''", 2, "trend needs at least 2 dumps, but there is 1", NULL);
    expect_series("s/5.hprof --application till", 0, NULL, "2 4 5\n");
    expect_series("--outliers", 0, NULL, "1 2 3 4 5\n");
    expect_series("--outliers --application shop", 2, "at least 5 dumps, but there are 2", NULL);
    ran r = tool_sh("\"$H\" trend d --application shop");
    cr_expect_eq(r.code, 2);
    cr_expect_not_null(strstr(r.err, "needs dumps from an output folder of heapdex batch"), "%s", r.err);
    ran_free(&r);
}
