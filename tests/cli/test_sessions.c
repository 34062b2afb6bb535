/*
 * test_sessions.c - screens as a person sees them: the files of tests/cli/sessions, replayed on a terminal.
 *
 *     == 80 columns
 *     $ heapdex histogram bookshop.hprof.gz --limit 1
 *     objects  shallow      %  class
 *     ...
 *
 * "== 60 columns, C locale" or "== 80 columns, colours" holds for the commands below it. What a command shows, standard
 * error included, is what stands below it. Times of a build are no part of it (see `calm`).
 *
 * Where screens change on purpose: HDX_WRITE_SESSIONS=/tmp/new makes the test write the files as they would be now into
 * that folder.
 */
#include "cli/terminal.h"

#include <dirent.h>

#define SESSIONS HDX_TREE "/tests/cli/sessions"

typedef struct setting {
    unsigned columns;
    bool     ascii, colours;
} setting;

/* "built 2026-11-24 08:29:32 UTC in 0.07 s", "retained for 12 ms": what is another time each time. */
static void calm(char *screen)
{
    char *from = screen, *to = screen;
    while (*from != '\0') {
        if (strncmp(from, "built 20", 8) != 0) {
            *to++ = *from++;
            continue;
        }
        from += strcspn(from, "\n");
        to = stpcpy(to, "built ... in ... s");
    }
    *to = '\0';
}

static char *screen_of(const setting *s, const char *command)
{
    char script[1024];
    (void)snprintf(script, sizeof script,
                   "export LC_ALL=%s TERM=xterm HEAPDEX_PAGER=cat; unset NO_COLOR COLUMNS; %s"
                   "heapdex() { \"$H\" \"$@\"; }; %s",
                   s->ascii ? "C" : "C.UTF-8", s->colours ? "" : "export NO_COLOR=1; ", command);
    terminal *t = terminal_start(s->columns, script);
    (void)terminal_end(t);
    char *screen = strdup(t->shown);
    free(t);
    calm(screen);
    return screen;
}

static void replay(const char *name, const char *text, FILE *anew)
{
    setting  s = { 80, false, false };
    unsigned commands = 0;
    for (const char *line = text; *line != '\0';) {
        const char *next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (strncmp(line, "== ", 3) == 0) {
            const char *rest;
            s.columns = (unsigned)strtoul(line + 3, (char **)&rest, 10);
            s.ascii = memmem(line, (size_t)(next - line), "C locale", 8) != NULL;
            s.colours = memmem(line, (size_t)(next - line), "colours", 7) != NULL;
        }
        if (anew != NULL && (strncmp(line, "$ ", 2) == 0 || commands == 0 || strncmp(line, "== ", 3) == 0))
            (void)fwrite(line, 1, (size_t)(next - line), anew);
        if (strncmp(line, "$ ", 2) == 0) {
            char        command[512];
            const char *end = next;
            (void)snprintf(command, sizeof command, "%.*s", (int)strcspn(line + 2, "\n"), line + 2);
            while (*end != '\0' && strncmp(end, "$ ", 2) != 0 && strncmp(end, "== ", 3) != 0)
                end += strcspn(end, "\n") + (end[strcspn(end, "\n")] == '\n');
            char *screen = screen_of(&s, command);
            char *wanted = strndup(next, (size_t)(end - next));
            if (anew != NULL)
                (void)fputs(screen, anew);
            else
                cr_expect(strcmp(screen, wanted) == 0, "%s, %u columns: %s\nis:\n%s\nand was:\n%s", name, s.columns,
                          command, screen, wanted);
            free(screen);
            free(wanted);
            next = end;
            commands++;
        }
        line = next;
    }
    cr_expect(gt(u32, commands, 0), "%s has no commands", name);
}

Test(sessions, are_what_they_were, .timeout = 300)
{
    const char    *anew = getenv("HDX_WRITE_SESSIONS");
    char          *folder = tool_enter();
    DIR           *sessions = opendir(SESSIONS);
    struct dirent *entry;
    unsigned       files = 0;
    cr_assert(sessions != NULL);
    tool_copy_bookshop("bookshop.hprof.gz");
    ran r = tool_sh("\"$H\" index bookshop.hprof.gz --threads 1 -o /dev/null");
    cr_assert_eq(r.code, 0, "%s", r.err);
    ran_free(&r);
    while ((entry = readdir(sessions)) != NULL) {
        char path[512];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, SESSIONS "/%s", entry->d_name);
        char *text = tool_read(path);
        cr_assert(text != NULL, "%s", path);
        (void)snprintf(path, sizeof path, "%s/%s", anew != NULL ? anew : "", entry->d_name);
        FILE *out = anew != NULL ? fopen(path, "w") : NULL;
        replay(entry->d_name, text, out);
        if (out != NULL)
            (void)fclose(out);
        free(text);
        files++;
    }
    (void)closedir(sessions);
    cr_expect(gt(u32, files, 5));
    tool_leave(folder);
}
