/*
 * test_leftover.c - a .part folder is gone on from only where nobody else could have written to it, and is removed only
 * where it is ours.
 */
#include "making/partial_build.h"
#include "support/folder.h"
#include "support/own.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <grp.h>
#include <sys/wait.h>

static char          folder[TEST_FOLDER], dump[64], part[96], cache[64], said[400];
static partial_build left;

static void notice(void *context, const char *line)
{
    (void)context;
    (void)snprintf(said + strlen(said), sizeof said - strlen(said), "%.150s\n", line);
}

static hdx_index_options options_of(void)
{
    return (hdx_index_options){ .dump = dump, .threads = 1, .notice = notice };
}

static void make(void)
{
    static heap_model h;
    hdx_index_options options = options_of();
    hdx_error         err;
    test_folder_make_fast(folder, "leftover");
    (void)umask(022);
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(part, sizeof part, "%s", own_of_dump("part", dump));
    (void)snprintf(cache, sizeof cache, "%s/cache", folder);
    cr_assert(chmod(folder, 0777) == 0 && mkdir(cache, 0777) == 0 && chmod(cache, 0777) == 0 &&
              setenv("XDG_CACHE_HOME", cache, 1) == 0);
    dump_maker *m = model_make(&h, 5, 380, 8);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    cr_assert(partial_stop(&options, 2, &err) == HDX_LIMIT, "%s", err.message);
    partial_read_folder(&left, part);
}

static void drop(void)
{
    partial_free(&left);
    test_folder_remove(folder);
}

TestSuite(leftover, .init = make, .fini = drop, .timeout = 60);

static bool goes_on(void)
{
    hdx_index_options options = options_of();
    hdx_index_report  report;
    hdx_error         err;
    char              path[96];
    said[0] = '\0';
    cr_expect(hdx_index_build(&options, &report, &err) == HDX_OK, "%s: %s", err.where, err.message);
    cr_expect(strncmp(report.path, dump, strlen(dump)) == 0 && access(part, F_OK) != 0, "%s", report.path);
    cr_assert(hdx_index_remove(&options, path, sizeof path, NULL) == HDX_OK);
    return strstr(said, "resuming an earlier build after its step") != NULL;
}

Test(leftover, of_ours_is_used_and_not_where_others_can_write)
{
    static const char *const names[] = { "", "/class.hdx", "/checkpoint", "/checkpoint/state",
                                         "/checkpoint/catalog.mdb" };
    static const mode_t      bits[] = { 020, 002 };
    partial_write(&left, part);
    cr_expect(goes_on(), "%s", said);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < 2; k++) {
            char        path[160];
            struct stat st;
            partial_write(&left, part);
            (void)snprintf(path, sizeof path, "%s%s", part, names[i]);
            cr_assert(stat(path, &st) == 0 && chmod(path, (st.st_mode & 07777) | bits[k]) == 0);
            cr_expect(!goes_on() && strstr(said, "is writable by other users; it is not used") != NULL, "%s: %s", path,
                      said);
        }
}

Test(leftover, with_files_of_another_user_is_cleared_where_the_folder_is_ours)
{
    char path[160];
    if (geteuid() != 0)
        cr_skip("only root can give files away");
    partial_write(&left, part);
    (void)snprintf(path, sizeof path, "%s/checkpoint/state", part);
    cr_assert(chown(path, 65534, 65534) == 0);
    cr_expect(!goes_on() && strstr(said, "not used") != NULL, "%s", said);
}

/* Root is no exception; nor is a link that another made. */
Test(leftover, of_another_user_is_neither_used_nor_removed)
{
    char victim[96];
    if (geteuid() != 0)
        cr_skip("only root can give files away");
    (void)snprintf(victim, sizeof victim, "%s/victim", folder);
    cr_assert(mkdir(victim, 0755) == 0);
    for (unsigned link = 0; link < 2; link++) {
        hdx_index_options options = options_of();
        hdx_index_report  report;
        hdx_error         err;
        char              path[128], other[96];
        struct stat       st;
        (void)hdx_place_clear(hdx_io_system(), part);
        if (link)
            cr_assert(symlink(victim, part) == 0);
        else
            partial_write(&left, part);
        cr_assert(lchown(part, 65534, 65534) == 0);
        said[0] = '\0';
        cr_expect(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
        cr_expect(strncmp(report.path, cache, strlen(cache)) == 0 &&
                      strstr(said, "belongs to another user (65534)") != NULL && strstr(said, "resuming") == NULL,
                  "%s: %s", report.path, said);
        cr_expect(lstat(part, &st) == 0 && st.st_uid == 65534);
        cr_expect(hdx_index_build(&options, &report, &err) == HDX_OK && report.reused);
        cr_expect(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK &&
                      strncmp(path, cache, strlen(cache)) == 0,
                  "%s", path);
        cr_expect(hdx_index_remove(&options, path, sizeof path, &err) == HDX_USAGE && lstat(part, &st) == 0, "%s",
                  err.message);
        (void)snprintf(other, sizeof other, "%s/b.hdx", folder); /* a place that was named is not left for another */
        (void)snprintf(path, sizeof path, "%s", own_of("part", other));
        cr_assert(rename(part, path) == 0);
        options.index_dir = other;
        cr_expect(hdx_index_build(&options, &report, &err) == HDX_USAGE &&
                      strstr(err.message, "another user") != NULL && err.hint[0] != '\0',
                  "%s", err.message);
        cr_expect(lstat(path, &st) == 0 && st.st_uid == 65534);
        (void)hdx_place_clear(hdx_io_system(), path);
    }
    cr_expect(access(victim, F_OK) == 0);
}

Test(leftover, of_root_is_not_used_by_another_user)
{
    if (geteuid() != 0)
        cr_skip("only root can become another user");
    partial_write(&left, part);
    const pid_t pid = fork();
    if (pid == 0) {
        hdx_index_options options = options_of();
        hdx_index_report  report;
        if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
            _exit(3);
        said[0] = '\0';
        const hdx_code code = hdx_index_build(&options, &report, NULL);
        _exit(code == HDX_OK && strncmp(report.path, cache, strlen(cache)) == 0 &&
                      strstr(said, "another user (0)") != NULL
                  ? 0
                  : 1);
    }
    int status;
    cr_assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    cr_expect(WEXITSTATUS(status) == 0, "exit %d", WEXITSTATUS(status));
    cr_expect(goes_on());
}

Test(leftover, and_index_in_a_cache_of_another_user_are_not_used)
{
    char              path[128];
    hdx_index_options options = options_of();
    hdx_index_report  report;
    hdx_error         err;
    if (geteuid() != 0)
        cr_skip("only root can give files away");
    partial_write(&left, part);
    cr_assert(chown(part, 65534, 65534) == 0 && hdx_index_build(&options, &report, &err) == HDX_OK);
    (void)snprintf(path, sizeof path, "%s/heapdex", cache);
    cr_assert(chown(path, 65534, 65534) == 0);
    cr_expect(hdx_index_build(&options, &report, &err) == HDX_IO &&
                  strstr(err.message, "cache folder belongs to another user") != NULL,
              "%s", err.message);
}
