/*
 * pager.c - shows an answer on a terminal through a pager, as git does: HEAPDEX_PAGER, else PAGER, else less.
 *
 * In:  the first bytes of an answer; the pager starts no earlier, so that the progress line can be shown before.
 * Out: a pipe to the pager. Until the answer is complete, Ctrl-C ends heapdex. heapdex waits for the pager at the end;
 *      otherwise the shell and the pager would read the same keys.
 * A command without characters that are special to a shell is started directly, and a missing program is reported at
 * once. Other commands run in sh, whose exit code reports a missing program; the buffer is then written to the
 * terminal.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 16, MOST_BYTES = 1024, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

extern char **environ;

/* Returns whether less would report that the terminal is not fully functional, and wait for a key. */
static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
}

const char *cli_pager_command(void)
{
    const char *command = getenv("HEAPDEX_PAGER");
    if (command == NULL)
        command = getenv("PAGER");
    if (command == NULL)
        return is_dumb() ? NULL : "less";
    return command[strspn(command, " ")] == '\0' || strcmp(command, "cat") == 0 ? NULL : command;
}

/* The environment, with defaults for less: show colors, keep the page on the screen, exit at once if everything fits.
 */
static char **with_defaults(void)
{
    static const char *const added[][2] = { { "LESS", "LESS=FRX" }, { "LV", "LV=-c" } };
    size_t                   count = 0;
    while (environ[count] != NULL)
        count++;
    char **all = malloc((count + 3) * sizeof *all);
    if (all == NULL)
        return NULL;
    memcpy(all, environ, count * sizeof *all);
    for (size_t i = 0; i < 2; i++)
        if (getenv(added[i][0]) == NULL)
            all[count++] = (char *)(uintptr_t)added[i][1];
    all[count] = NULL;
    return all;
}

/* Splits a command into words; false: it contains characters that a shell has to interpret. */
static bool split_words(char *text, char *words[MOST_WORDS + 1])
{
    unsigned n = 0;
    if (strpbrk(text, "|&;<>()$`\\\"'\t\n*?[#~=%") != NULL)
        return false;
    for (char *at = text + strspn(text, " "); *at != '\0';) {
        const size_t len = strcspn(at, " ");
        if (n == MOST_WORDS)
            return false;
        words[n++] = at;
        at += len;
        if (*at == ' ')
            *at++ = '\0';
        at += strspn(at, " ");
    }
    words[n] = NULL;
    return n > 0;
}

/* Returns 0 or an errno. */
static int start(const char *command, int from, pid_t *pid, bool *by_shell)
{
    char     text[MOST_BYTES], *words[MOST_WORDS + 1] = { 0 };
    char    *shell[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)command, NULL };
    char   **all = with_defaults();
    sigset_t usual, none;
    posix_spawnattr_t          attributes;
    posix_spawn_file_actions_t files;
    const size_t               len = strlen(command);
    if (all == NULL)
        return ENOMEM;
    if (len < sizeof text)
        memcpy(text, command, len + 1);
    *by_shell = len >= sizeof text || !split_words(text, words);
    (void)sigemptyset(&usual);
    (void)sigemptyset(&none);
    (void)sigaddset(&usual, SIGPIPE); /* ignored in this process, not in the pager */
    int failed = posix_spawnattr_init(&attributes);
    if (failed == 0 && (failed = posix_spawn_file_actions_init(&files)) == 0) {
        (void)posix_spawnattr_setsigdefault(&attributes, &usual);
        (void)posix_spawnattr_setsigmask(&attributes, &none);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        failed = posix_spawn_file_actions_adddup2(&files, from, STDIN_FILENO);
        if (failed == 0)
            failed =
                posix_spawnp(pid, *by_shell ? "sh" : words[0], &files, &attributes, *by_shell ? shell : words, all);
        (void)posix_spawn_file_actions_destroy(&files);
        (void)posix_spawnattr_destroy(&attributes);
    }
    free(all);
    return failed;
}

int cli_pager_begin(cli_pager *p)
{
    int ends[2] = { -1, -1 }, failed = 0;
    p->begun = true;
    if (pipe2(ends, O_CLOEXEC) != 0)
        failed = errno;
    else if ((failed = start(p->command, ends[0], &p->pid, &p->by_shell)) != 0)
        p->pid = 0;
    if (ends[0] >= 0)
        (void)close(ends[0]);
    if (failed == 0) {
        cli_paging(p->pid, ends[1]);
        return ends[1];
    }
    if (ends[1] >= 0)
        (void)close(ends[1]);
    cli_notice(p->console, "cannot start the pager '%.100s': %s", p->command, strerror(failed));
    return -1;
}

bool cli_pager_end(cli_pager *p, bool done)
{
    int status = 0;
    if (p->pid == 0)
        return true;
    if (done)
        cli_paging_ends(); /* from now on Ctrl-C only affects the pager */
    pid_t waited;
    while ((waited = waitpid(p->pid, &status, 0)) < 0 && errno == EINTR)
        if (cli_signal() == SIGTERM || cli_signal() == SIGHUP)
            break;
    if (waited < 0)
        status = cli_paging_status();
    cli_paging(0, -1);
    p->pid = 0;
    cli_console_hold(p->console, false);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (!p->by_shell || (code != NOT_FOUND && code != NOT_EXECUTABLE))
        return true;
    cli_notice(p->console, "cannot start the pager '%.100s'", p->command);
    return false;
}
