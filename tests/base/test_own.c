/* test_own.c - names that belong to heapdex: temporary files, partial builds and locks. */
#include "base/own.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[TEST_FOLDER];

static void enter(void)
{
    test_folder_make_fast(folder, "own");
    cr_assert(chdir(folder) == 0);
}

static void leave(void)
{
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

TestSuite(own, .init = enter, .fini = leave);

Test(own, temporary_names_lie_in_the_folder_of_the_file_and_differ)
{
    char a[64], b[64], small[20];
    cr_assert(hdx_own_name("out/report.csv", a, sizeof a) && hdx_own_name("out/report.csv", b, sizeof b));
    cr_expect(strncmp(a, "out/.heapdex-", 13) == 0 && strlen(a) == 13 + 16 && strcmp(a, b) != 0, "%s", a);
    cr_expect(hdx_own_is_temporary(a) && hdx_own_is_name(a));
    cr_assert(hdx_own_name("report.csv", a, sizeof a));
    cr_expect(strncmp(a, ".heapdex-", 9) == 0 && strlen(a) == 9 + 16, "%s", a);
    cr_expect_not(hdx_own_name("report.csv", small, sizeof small), "it does not fit");
}

Test(own, names_of_users_are_none)
{
    static const struct {
        const char *path;
        bool        own, temporary;
    } cases[] = { { ".heapdex-0123456789abcdef", true, true },
                  { "a/.heapdex-0123456789abcdef", true, true },
                  { ".heapdex-0123456789abcdeF", true, false },
                  { ".heapdex-0123456789abcde", true, false },
                  { ".heapdex-0123456789abcdef0", true, false },
                  { ".heapdex-lock-a.hdx", true, false },
                  { ".heapdex", false, false },
                  { "heapdex-0123456789abcdef", false, false },
                  { ".heapdex-a/b", false, false },
                  { "", false, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(hdx_own_is_name(cases[i].path), cases[i].own, "%s", cases[i].path);
        cr_expect_eq(hdx_own_is_temporary(cases[i].path), cases[i].temporary, "%s", cases[i].path);
    }
}

Test(own, files_are_new_and_have_the_mode_that_is_asked_for)
{
    char        name[64];
    struct stat st;
    (void)umask(022);
    for (unsigned i = 0; i < 2; i++) {
        const int fd = hdx_own_create("a", i == 0 ? 0600 : 0666, name, sizeof name);
        cr_assert(fd >= 0 && stat(name, &st) == 0);
        cr_expect_eq(st.st_mode & 0777, i == 0 ? 0600 : 0644);
        cr_expect_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
        cr_assert(close(fd) == 0);
    }
    cr_expect_eq(hdx_own_create("nowhere/a", 0600, name, sizeof name), -ENOENT);
    cr_expect_eq(hdx_own_create("a", 0600, name, 10), -ENAMETOOLONG);
}

Test(own, files_without_a_name_get_one_and_keep_it)
{
    char        name[64], path[80];
    struct stat st;
    const int   fd = hdx_own_create_unnamed("a", 0600, name, sizeof name);
    cr_assert(fd >= 0);
    cr_assert(write(fd, "text", 4) == 4);
    cr_assert(hdx_own_link(fd, "a", name, sizeof name) == 0 && hdx_own_is_temporary(name), "%s", name);
    cr_expect(stat(name, &st) == 0 && st.st_size == 4);
    (void)snprintf(path, sizeof path, "%s", name);
    cr_expect(hdx_own_link(fd, "a", name, sizeof name) == 0 && strcmp(path, name) == 0, "it has one already");
    cr_assert(close(fd) == 0);
}

Test(own, fixed_names_tell_what_and_whose)
{
    char path[600], other[600], name[300];
    cr_assert(hdx_own_companion_path("d/app.hprof.hdx", "lock", path, sizeof path));
    cr_expect_str_eq(path, "d/.heapdex-lock-app.hprof.hdx");
    memset(name, 'n', 201);
    name[201] = '\0';
    cr_assert(hdx_own_companion_path(name, "part", path, sizeof path));
    cr_expect_eq(strlen(path), 14 + 120 + 17);
    name[200] = 'm';
    cr_assert(hdx_own_companion_path(name, "part", other, sizeof other) && strcmp(path, other) != 0);
    name[200] = '\0';
    cr_assert(hdx_own_companion_path(name, "part", path, sizeof path) && strlen(path) == 14 + 200);
    cr_expect_not(hdx_own_companion_path("a", "part", path, 15));
    cr_expect(hdx_own_companion_path("a", "part", path, 16));
}

Test(own, files_are_the_same_whatever_leads_to_them)
{
    cr_assert(mkdir("d", 0700) == 0 && symlink("d", "e") == 0);
    cr_assert(close(open("d/a", O_WRONLY | O_CREAT, 0600)) == 0 && close(open("d/b", O_WRONLY | O_CREAT, 0600)) == 0);
    cr_assert(link("d/a", "hard") == 0 && symlink("d/a", "soft") == 0);
    cr_expect(hdx_same_file("d/a", "e/a") && hdx_same_file("hard", "soft") && hdx_same_file("d/../d//a", "hard"));
    cr_expect(!hdx_same_file("d/a", "d/b") && !hdx_same_file("d/a", "d/none") && !hdx_same_file("d/none", "d/a"));
    cr_expect(hdx_same_file("d/none", "e/none") && hdx_same_file("none", "./none"));
    cr_expect(!hdx_same_file("d/none", "none") && !hdx_same_file("x/none", "x/none"), "no such folder");
}
