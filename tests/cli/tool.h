/* tool.h - runs heapdex as a person would: words in; exit code, standard output and standard error out. */
#ifndef TESTS_CLI_TOOL_H
#define TESTS_CLI_TOOL_H

#include "support/folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BOOKSHOP HDX_TREE "/examples/bookshop.hprof.gz"

typedef struct ran {
    int   code; /* exit code; 128 + n for signal n */
    char *out, *err;
} ran;

static inline char *tool_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    size_t room = 1 << 16, len = 0, n;
    char  *text = malloc(room);
    while ((n = fread(text + len, 1, room - len - 1, f)) > 0)
        if ((len += n) + 1 >= room)
            text = realloc(text, room *= 2);
    text[len] = '\0';
    (void)fclose(f);
    return text;
}

static inline void tool_write(const char *path, const void *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL, "%s", path);
    cr_assert_eq(fwrite(bytes, 1, len, f), len);
    (void)fclose(f);
}

/* A folder of its own for each test. Gone with tool_leave. */
static inline char *tool_enter(void)
{
    char *folder = malloc(TEST_FOLDER);
    test_folder_make(folder, "cli");
    cr_assert(chdir(folder) == 0);
    (void)setenv("XDG_CACHE_HOME", folder, 1);
    (void)unsetenv("COLUMNS");
    return folder;
}

static inline void tool_leave(char *folder)
{
    char command[64];
    cr_assert(chdir("/") == 0);
    (void)snprintf(command, sizeof command, "chmod -R u+w '%s'", folder);
    cr_assert(system(command) == 0);
    test_folder_remove(folder);
    free(folder);
}

/* A test that is skipped is not led out by Criterion. */
#define tool_skip(folder, why)                                                                                         \
    do {                                                                                                               \
        tool_leave(folder);                                                                                            \
        cr_skip_test(why);                                                                                             \
    } while (0)

static inline void tool_copy_bookshop(const char *to)
{
    FILE *from = fopen(BOOKSHOP, "rb");
    char  bytes[65536];
    cr_assert(from != NULL);
    FILE  *out = fopen(to, "wb");
    size_t n;
    cr_assert(out != NULL);
    while ((n = fread(bytes, 1, sizeof bytes, from)) > 0)
        cr_assert_eq(fwrite(bytes, 1, n, out), n);
    (void)fclose(from);
    (void)fclose(out);
}

/* A command of the shell, "$H" being heapdex; the folder of the test is where it runs. */
static inline ran tool_sh(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline ran tool_sh(const char *format, ...)
{
    char    script[8192], whole[8400];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(script, sizeof script, format, args);
    va_end(args);
    (void)setenv("H", HDX_TOOL, 1);
    (void)snprintf(whole, sizeof whole, "{ %s ; } >.out 2>.err", script);
    int status = system(whole);
    ran r = { WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), tool_read(".out"), tool_read(".err") };
    cr_assert(strstr(r.err, "Sanitizer") == NULL && strstr(r.err, "runtime error") == NULL, "%s", r.err);
    return r;
}

static inline void ran_free(ran *r)
{
    free(r->out);
    free(r->err);
}

static inline unsigned longest_line(const char *text)
{
    unsigned best = 0, now = 0;
    for (; *text != '\0'; text++) {
        now = *text == '\n' ? 0 : now + (((unsigned char)*text & 0xc0) != 0x80);
        best = now > best ? now : best;
    }
    return best;
}

static inline unsigned lines_of(const char *text)
{
    unsigned n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

/* A new folder with an indexed app.hprof.gz to ask with SQL; where heapdex has none the test is over. */
static inline char *tool_enter_sql(void)
{
    char *folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
    ran r = tool_sh("\"$H\" index app.hprof.gz --quiet -o /dev/null");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" sql app.hprof.gz ''");
    const bool without = strstr(r.err, "built without SQLite") != NULL;
    ran_free(&r);
    if (without)
        tool_skip(folder, "heapdex was built without SQLite");
    return folder;
}

/* What a command says of app.hprof.gz. */
static inline void tool_expect(const char *command, const char *call, int code, const char *out, const char *err)
{
    ran r = tool_sh("\"$H\" %s app.hprof.gz %s", command, call);
    cr_expect(eq(int, r.code, code), "%s: %s", call, r.err);
    cr_expect_str_eq(r.out, out, "%s: %s%s", call, r.out, r.err);
    cr_expect_str_eq(r.err, err, "%s: %s", call, r.err);
    ran_free(&r);
}

#endif
