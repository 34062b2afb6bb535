/* Signals, with real processes: schedulers send more than one SIGTERM, people press Ctrl-C again. */
#include "cli/cli.h"
#include "cli/tool.h"
#include "support/wait.h"

/*
 * A process that waits for signals as long work does, but for the first one; SIGUSR1 ends it with the code of what was
 * cancelled.
 */
static pid_t waiting_with(bool building, const char *const *unfinished, unsigned count, int *from)
{
    int        ends[2];
    sigset_t   none;
    const char ready = '\n';
    char       byte;
    cr_assert(pipe(ends) == 0);
    const pid_t child = fork();
    cr_assert(child >= 0);
    if (child > 0) {
        (void)close(ends[1]);
        *from = ends[0];
        cr_assert(read(*from, &byte, 1) == 1);
        return child;
    }
    (void)alarm(60);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL); /* under nohup it is ignored, and stays so */
    (void)signal(SIGUSR1, SIG_IGN);
    (void)sigemptyset(&none);
    (void)sigaddset(&none, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &none, NULL);
    (void)signal(SIGUSR1, SIG_DFL);
    (void)dup2(ends[1], STDERR_FILENO);
    cli_catch_signals();
    cli_building(building);
    for (unsigned i = 0; i < count; i++)
        cli_unfinished_add(unfinished[i]);
    if (count > 1)
        cli_unfinished_remove(unfinished[0]);
    (void)!write(STDERR_FILENO, &ready, 1);
    for (int number; sigwait(&none, &number) != 0;)
        ;
    _exit(cli_exit_code(HDX_CANCELLED));
}

static pid_t waiting(bool building, const char *unfinished, int *from)
{
    return waiting_with(building, &unfinished, unfinished != NULL, from);
}

static bool has_ended(pid_t child)
{
    siginfo_t ended = { .si_pid = 0 };
    return waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == child;
}

/*
 * Two signals of a kind that are pending are one: returned when this one is handled. A signal that its handler is at
 * work on is blocked.
 */
static void send(pid_t child, int number)
{
    static const char *const unhandled[] = { "SigPnd:", "ShdPnd:", "SigBlk:" };
    cr_assert(kill(child, number) == 0);
    if (number == SIGUSR1) /* which is blocked until it is waited for */
        return;
    for (unsigned naps = 0; !has_ended(child) && (process_signals(child, unhandled, 3) >> (number - 1) & 1) != 0;)
        wait_nap(&naps, "the signal is handled");
}

static int end_of(pid_t child)
{
    int status;
    cr_assert(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Lines that begin so, and nothing else; they are there before anything else is asked of the process. */
static void expect_lines(int from, const char *first, const char *second)
{
    const char *const words[] = { first, second };
    char              said[512];
    ssize_t           n = read(from, said, sizeof said - 1);
    const char       *at = said;
    said[n < 0 ? 0 : n] = '\0';
    for (unsigned i = 0; i < 2 && words[i] != NULL; i++) {
        const char *end = strchr(at, '\n');
        cr_assert(end != NULL && strncmp(at, words[i], strlen(words[i])) == 0, "%s: %s", words[i], said);
        at = end + 1;
    }
    cr_expect(at[0] == '\0', "%s", said);
}

static void expect_said(int from, const char *words)
{
    expect_lines(from, words, NULL);
    (void)close(from);
}

Test(signals, more_of_a_schedulers_change_nothing)
{
    static const int numbers[] = { SIGTERM, SIGHUP };
    for (int i = 0; i < 2; i++) {
        int         from;
        const pid_t child = waiting(true, NULL, &from);
        for (int n = 0; n < 5; n++)
            send(child, numbers[i]);
        send(child, numbers[1 - i]);
        send(child, SIGUSR1);
        cr_expect(eq(int, end_of(child), 75));
        expect_said(from, NULL);
    }
}

#define STOPPING "heapdex: stopping\n"

Test(signals, a_build_answers_ctrl_c_at_once_by_a_line_the_second_by_another_and_a_third_ends_it)
{
    int         from;
    const pid_t child = waiting(true, NULL, &from);
    send(child, SIGINT);
    expect_lines(from, STOPPING, NULL);
    cr_expect(waitpid(child, NULL, WNOHANG) == 0, "one is answered by who works");
    send(child, SIGTERM);
    send(child, SIGINT);
    cr_expect(waitpid(child, NULL, WNOHANG) == 0, "two are answered by a line");
    expect_said(from, "heapdex: saving a checkpoint; press Ctrl-C again to stop immediately\n");
    send(child, SIGINT);
    cr_expect(eq(int, end_of(child), 130));
}

Test(signals, a_build_that_a_scheduler_stops_first_says_nothing_until_the_next_ctrl_c)
{
    int         from;
    const pid_t child = waiting(true, NULL, &from);
    send(child, SIGTERM);
    send(child, SIGINT);
    expect_said(from, "heapdex: saving a checkpoint; press Ctrl-C again to stop immediately\n");
    send(child, SIGUSR1);
    cr_expect(eq(int, end_of(child), 75));
}

Test(signals, a_second_ctrl_c_ends_a_question_and_leaves_no_half_file)
{
    char *folder = tool_enter();
    tool_write("answer.part", "half", 4);
    int         from;
    const pid_t child = waiting(false, "answer.part", &from);
    send(child, SIGINT);
    send(child, SIGINT);
    cr_expect(eq(int, end_of(child), 130));
    (void)close(from);
    cr_expect(access("answer.part", F_OK) != 0);
    tool_leave(folder);
}

Test(signals, a_second_ctrl_c_removes_all_unfinished_files_and_no_other)
{
    static const char *const names[] = { "done", "a.part", "b.part", "c.part" };
    char                    *folder = tool_enter();
    int                      from;
    for (unsigned i = 0; i < 4; i++)
        tool_write(names[i], "half", 4);
    const pid_t child = waiting_with(false, names, 4, &from);
    send(child, SIGINT);
    send(child, SIGINT);
    cr_expect(eq(int, end_of(child), 130));
    (void)close(from);
    for (unsigned i = 0; i < 4; i++)
        cr_expect(eq(int, access(names[i], F_OK), i == 0 ? 0 : -1), "%s", names[i]);
    tool_leave(folder);
}

/* ---- heapdex itself ---- */

/* Runs it with words separated by blanks; it is returned when it takes signals. */
static pid_t start(const char *words)
{
    static const char *const caught[] = { "SigCgt:" };
    char                     copy[512], *argv[32] = { (char *)(uintptr_t)HDX_TOOL };
    unsigned                 count = 1;
    char                     byte;
    int                      ends[2]; /* the last one is closed by exec */
    cr_assert(pipe(ends) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0);
    const pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        (void)alarm(60);
        (void)signal(SIGINT, SIG_DFL);
        (void)signal(SIGTERM, SIG_DFL);
        (void)snprintf(copy, sizeof copy, "%s", words);
        for (char *word = strtok(copy, " "); word != NULL && count < 31; word = strtok(NULL, " "))
            argv[count++] = word;
        const int out = open(".started", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        (void)dup2(out, STDOUT_FILENO);
        (void)dup2(out, STDERR_FILENO);
        (void)execv(HDX_TOOL, argv);
        _exit(99);
    }
    (void)close(ends[1]);
    cr_assert(read(ends[0], &byte, 1) == 0);
    (void)close(ends[0]);
    for (unsigned naps = 0; !has_ended(child) && (process_signals(child, caught, 1) >> (SIGTERM - 1) & 1) == 0;)
        wait_nap(&naps, "heapdex handles signals");
    return child;
}

static void expect_no_temporary_files(void)
{
    ran r = tool_sh("ls -A | grep heapdex-");
    cr_expect_str_eq(r.out, "");
    ran_free(&r);
}

/*
 * Another output waits for its reader while that of -o is written. Two signals that arrive together end the process
 * within the handler, before anything else can remove the file.
 */
Test(signals, that_end_an_answer_of_several_outputs_at_once_leave_no_file, .timeout = 120)
{
    char *folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
    ran r = tool_sh("\"$H\" index app.hprof.gz --quiet && mkfifo pipe");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    const pid_t child = start("check app.hprof.gz --no-damage -o out.txt --sarif x.sarif "
                              "--markdown pipe");
    for (unsigned naps = 0; access("x.sarif", F_OK) != 0;)
        wait_nap(&naps, "x.sarif is written");
    cr_assert(kill(child, SIGSTOP) == 0 && kill(child, SIGTERM) == 0 && kill(child, SIGINT) == 0);
    cr_assert(kill(child, SIGCONT) == 0);
    cr_expect(eq(int, end_of(child), 75));
    cr_expect(access("out.txt", F_OK) != 0);
    expect_no_temporary_files();
    tool_leave(folder);
}

/* Whatever is a named pipe: the wait for its other end is cancelled. */
Test(signals, end_the_wait_for_the_other_end_of_a_pipe_with_75, .timeout = 300)
{
    static const char *const calls[] = {
        "histogram app.hprof.gz -o pipe",    "check app.hprof.gz --no-damage --sarif pipe",
        "check app.hprof.gz --rules pipe",   "leaks app.hprof.gz --mapping pipe",
        "leaks app.hprof.gz --filters pipe", "collections app.hprof.gz --layouts pipe",
        "sql app.hprof.gz --file pipe",      "oql app.hprof.gz --file pipe",
    };
    char *folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
    ran r = tool_sh("\"$H\" index app.hprof.gz --quiet && mkfifo pipe");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const pid_t child = start(calls[i]);
        for (unsigned naps = 0; !process_is_asleep(child, 0);)
            wait_nap(&naps, "heapdex waits for the other end of the pipe");
        cr_expect(not(has_ended(child)), "%s does not wait", calls[i]);
        (void)kill(child, SIGTERM);
        cr_expect(eq(int, end_of(child), 75), "%s", calls[i]);
        expect_no_temporary_files();
    }
    tool_leave(folder);
}

/* Whoever waits here never asks whether to stop: the first signal is enough. */
Test(signals, a_question_that_does_not_come_to_asking_is_ended_and_leaves_no_half_file)
{
    static const struct {
        int number, code;
    } each[] = { { SIGINT, 130 }, { SIGTERM, 75 }, { SIGHUP, 75 } };
    char *folder = tool_enter();
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        tool_write("answer.part", "half", 4);
        int         from;
        const pid_t child = waiting(false, "answer.part", &from);
        send(child, each[i].number);
        cr_expect(eq(int, end_of(child), each[i].code));
        expect_said(from, "heapdex: interrupted; no partial output remains\n");
        cr_expect(access("answer.part", F_OK) != 0);
    }
    tool_leave(folder);
}

Test(signals, a_storm_of_sigterm_ends_a_build_with_75)
{
    char *folder = tool_enter();
    tool_copy_bookshop("app.hprof");
    unsigned stopped = 0;
    for (int n = 0; n < 20; n++) {
        /* from its first line of progress on it is told to stop, again and again, until it is gone */
        ran r = tool_sh("rm -rf app.hprof.hdx*; mkfifo says%d; \"$H\" index app.hprof --threads 1 --progress always "
                        "2>says%d & p=$!; exec 8<says%d; read line <&8; "
                        "while kill -TERM $p 2>/dev/null; do :; done; wait $p; echo $?",
                        n, n, n);
        const int code = atoi(r.out);
        stopped += code == 75;
        cr_expect(code == 75 || code == 0, "%d: %s", code, r.err);
        ran_free(&r);
    }
    cr_expect(stopped > 0, "no build was slow enough");
    tool_leave(folder);
}
