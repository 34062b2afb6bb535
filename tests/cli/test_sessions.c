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
 * that folder. The dumps are the example and one with leaks (leaky.h).
 */
#include "cli/leaky.h"
#include "cli/terminal.h"

#include <dirent.h>

#define SESSIONS HDX_TREE "/tests/cli/sessions"

typedef struct setting {
    unsigned columns;
    bool     ascii, colours;
} setting;

/* "built 2026-11-24 08:29:32 UTC in 0.07 s": what is another time each time. */
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
    terminal_drop_progress(t, 0);
    char *screen = strdup(t->shown);
    free(t);
    calm(screen);
    return screen;
}

static const char *after_line(const char *at) { return at + strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n'); }

static void put_lines(hdx_buffer *to, const char *sign, const char *from, const char *end)
{
    for (const char *next; from < end; from = next) {
        next = after_line(from);
        hdx_buffer_format(to, "%s%.*s%s", sign, (int)(next - from), from, next[-1] == '\n' ? "" : "\n");
    }
}

/* The lines that differ, "-" as recorded and "+" as they are, with the two before and after them. */
static void put_difference(hdx_buffer *to, const char *was, const char *is)
{
    const char *was_at = was, *is_at = is, *before[2] = { was, was };
    while (*was_at != '\0' && after_line(was_at) - was_at == after_line(is_at) - is_at &&
           memcmp(was_at, is_at, (size_t)(after_line(was_at) - was_at)) == 0) {
        before[0] = before[1];
        before[1] = was_at;
        was_at = after_line(was_at);
        is_at = after_line(is_at);
    }
    const char *was_end = was + strlen(was), *is_end = is + strlen(is);
    for (const char *w = was_end, *i = is_end; w > was_at && i > is_at && w[-1] == i[-1];) {
        w--;
        i--;
        if ((w == was_at || w[-1] == '\n') && (i == is_at || i[-1] == '\n')) {
            was_end = w;
            is_end = i;
        }
    }
    put_lines(to, "  ", before[0], was_at);
    put_lines(to, "- ", was_at, was_end);
    put_lines(to, "+ ", is_at, is_end);
    put_lines(to, "  ", was_end, after_line(was_end));
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
            else if (strcmp(screen, wanted) != 0) {
                hdx_buffer lines = hdx_buffer_of(NULL);
                put_difference(&lines, wanted, screen);
                cr_expect(false, "%s, %u columns%s: $ %s\n%s", name, s.columns, s.ascii ? ", C locale" : "", command,
                          lines.at);
                hdx_buffer_free(&lines);
            }
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
    leaky_make("leaky.hprof", true);
    ran r = tool_sh("\"$H\" index bookshop.hprof.gz --threads 1 -o /dev/null && \"$H\" index leaky.hprof -o /dev/null");
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
