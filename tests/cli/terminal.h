/*
 * terminal.h - runs heapdex on a terminal of its own, as a person sits before one: a pseudo terminal with a width, keys
 * that are pressed when a text has appeared, and all that was shown.
 */
#ifndef TESTS_CLI_TERMINAL_H
#define TESTS_CLI_TERMINAL_H

#include "cli/tool.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>

typedef struct terminal {
    pid_t  child;
    int    keys; /* the other end of the terminal */
    char   shown[1 << 20];
    size_t len;
} terminal;

#define TERMINAL_PATIENCE_MS 60000

/* A shell with that script on a terminal of so many columns; "$H" is heapdex. */
static inline terminal *terminal_start(unsigned columns, const char *script)
{
    terminal      *t = calloc(1, sizeof *t);
    struct winsize size = { .ws_row = 24, .ws_col = (unsigned short)columns };
    const int      keys = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    cr_assert(t != NULL && keys >= 0 && grantpt(keys) == 0 && unlockpt(keys) == 0);
    char name[64];
    cr_assert(ptsname_r(keys, name, sizeof name) == 0 && ioctl(keys, TIOCSWINSZ, &size) == 0);
    (void)setenv("H", HDX_TOOL, 1);
    t->keys = keys;
    t->child = fork();
    cr_assert(t->child >= 0);
    if (t->child > 0)
        return t;
    (void)setsid();
    const int screen = open(name, O_RDWR); /* becomes the controlling terminal */
    for (int fd = 0; fd < 3; fd++)
        (void)dup2(screen, fd);
    (void)close(screen);
    (void)signal(SIGINT, SIG_DFL);
    execl("/bin/bash", "bash", "--norc", "-c", script, (char *)NULL);
    _exit(127);
}

/* Reads more of what is shown; the terminal is still there. */
static inline void terminal_wait_more(terminal *t)
{
    struct pollfd ready = { .fd = t->keys, .events = POLLIN };
    cr_assert(poll(&ready, 1, TERMINAL_PATIENCE_MS) > 0, "still waiting after: %s", t->shown);
    cr_assert(t->len + 1 < sizeof t->shown);
    const ssize_t n = read(t->keys, t->shown + t->len, sizeof t->shown - 1 - t->len);
    cr_assert(n > 0 || errno == EINTR, "nobody is left after: %s", t->shown);
    t->len += n > 0 ? (size_t)n : 0;
    t->shown[t->len] = '\0';
}

/* Reads what is shown until `text` is there (NULL: until everybody has left the terminal). */
static inline void terminal_wait(terminal *t, const char *text)
{
    while (text == NULL || strstr(t->shown, text) == NULL) {
        struct pollfd ready = { .fd = t->keys, .events = POLLIN };
        cr_assert(poll(&ready, 1, TERMINAL_PATIENCE_MS) > 0, "still waiting for \"%s\" after: %s",
                  text == NULL ? "the end" : text, t->shown);
        cr_assert(t->len + 1 < sizeof t->shown);
        const ssize_t n = read(t->keys, t->shown + t->len, sizeof t->shown - 1 - t->len);
        if (n > 0)
            t->len += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
        t->shown[t->len] = '\0';
    }
    cr_assert(text == NULL || strstr(t->shown, text) != NULL, "no \"%s\" in: %s", text, t->shown);
}

/* The same until `then` stands behind `text`: a prompt, after which keys are read. */
static inline void terminal_wait_for(terminal *t, const char *text, const char *then)
{
    terminal_wait(t, text);
    while (strstr(strstr(t->shown, text), then) == NULL) {
        const size_t  before = t->len;
        struct pollfd ready = { .fd = t->keys, .events = POLLIN };
        cr_assert(poll(&ready, 1, TERMINAL_PATIENCE_MS) > 0, "still waiting for \"%s\" after: %s", then, t->shown);
        const ssize_t n = read(t->keys, t->shown + t->len, sizeof t->shown - 1 - t->len);
        cr_assert(n > 0 || errno == EINTR, "no \"%s\" in: %s", then, t->shown + before);
        t->len += n > 0 ? (size_t)n : 0;
        t->shown[t->len] = '\0';
    }
}

static inline void terminal_press(terminal *t, const char *keys)
{
    cr_assert_eq(write(t->keys, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/*
 * Removes progress lines ("1/1 statement ...") and what erases them from the text after `from`. A fast machine draws
 * none; on a slow one they come between a command and its answer.
 */
static inline void terminal_drop_progress(terminal *t, size_t from)
{
    static const char erase[] = "\x1b[K";
    bool              drawn = false;
    for (size_t i = from; i < t->len;) {
        const char  *line = t->shown + i, *after = strstr(line, erase);
        const size_t steps = strspn(line + 1, "0123456789/");
        const bool   draws = line[0] == '\r' && steps >= 3 && line[1 + steps] == ' ',
                   erases = drawn && line[0] == '\r' && after == line + 1;
        if (after != NULL && (draws || erases)) {
            const size_t len = (size_t)(after - line) + sizeof erase - 1;
            memmove(t->shown + i, line + len, t->len - i - len + 1);
            t->len -= len;
            drawn = draws;
        } else {
            i++;
        }
    }
}

/* Waits for the end; exit code, and lines end in \n alone. */
static inline int terminal_end(terminal *t)
{
    int    status;
    size_t to = 0;
    terminal_wait(t, NULL);
    cr_assert(waitpid(t->child, &status, 0) == t->child);
    (void)close(t->keys);
    for (size_t i = 0; i < t->len; i++)
        if (t->shown[i] != '\r' || t->shown[i + 1] != '\n')
            t->shown[to++] = t->shown[i];
    t->shown[t->len = to] = '\0';
    cr_assert(strstr(t->shown, "Sanitizer") == NULL && strstr(t->shown, "runtime error") == NULL, "%s", t->shown);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
