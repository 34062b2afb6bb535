/*
 * test_private.c - an index is as private as its dump, at every moment: mode, group and ACL, whatever the umask and the
 * default ACL of the folder.
 */
#include "making/making.h"
#include "making/heap_model.h"
#include "support/faulty.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACL "system.posix_acl_access"

static char     folder[TEST_FOLDER], dump[64], place[96];
static unsigned looked; /* files seen */
static uint32_t most;   /* bits that none may go beyond */

static void enter(void)
{
    static heap_model h;
    (void)umask(022);
    test_folder_make_fast(folder, "private");
    cr_assert(chmod(folder, 0755) == 0);
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(place, sizeof place, "%s.hdx", dump);
    dump_maker *m = model_make(&h, 5, 200, 8);
    dump_maker_save(m, dump);
    dump_maker_free(m);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(private, .init = enter, .fini = leave, .timeout = 120);

static int look_at(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)type;
    if (at->level == 0 || strcmp(path, dump) == 0 || S_ISLNK(st->st_mode))
        return 0;
    looked++;
    const uint32_t allowed = S_ISDIR(st->st_mode) ? most | (most >> 2 & 0111u) | 0700u : most | 0600u;
    cr_expect((st->st_mode & 07777 & ~allowed) == 0, "%s is %o, the dump %o", path, st->st_mode & 07777, most);
    return 0;
}

static void look(uint32_t mode)
{
    most = mode;
    cr_assert(nftw(folder, look_at, 16, FTW_PHYS) == 0);
}

static uint32_t mode_of(const char *format, const char *name)
{
    char        path[4300];
    struct stat st;
    (void)snprintf(path, sizeof path, format, place, name);
    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* ---- at every call of the file door ---- */
static uint32_t looking;
static hdx_io   watching;

static int w_create(hdx_io *io, const char *path)
{
    const int fd = hdx_io_system()->create(io, path);
    look(looking);
    return fd;
}
static int w_mkdir(hdx_io *io, const char *path)
{
    const int rc = hdx_io_system()->mkdir(io, path);
    look(looking);
    return rc;
}
static int w_rename(hdx_io *io, const char *from, const char *to)
{
    const int rc = hdx_io_system()->rename(io, from, to);
    look(looking);
    return rc;
}
static int w_sync(hdx_io *io, int fd)
{
    look(looking);
    return hdx_io_system()->sync(io, fd);
}

static hdx_code build(uint32_t mode)
{
    hdx_index_options options = { .dump = dump, .threads = 2, .force = true };
    hdx_build_doors   doors = { .io = &watching, .every_step = true };
    hdx_index_report  report;
    hdx_error         err;
    watching = *hdx_io_system();
    watching.create = w_create;
    watching.mkdir = w_mkdir;
    watching.rename = w_rename;
    watching.sync = w_sync;
    looking = mode;
    if (access(place, F_OK) == 0) /* one of before may have been open to others */
        test_folder_remove(place);
    hdx_code code = hdx_index_build_through(&doors, &options, &report, &err);
    cr_expect(code == HDX_OK, "%s", err.message);
    look(mode);
    return code;
}

Test(private, as_the_dump_is_at_every_stage_and_under_any_umask)
{
    static const uint32_t modes[] = { 0600, 0640, 0644, 0660, 0664, 0666, 0400, 0440, 0444, 0604, 0606 };
    static const uint32_t masks[] = { 0, 022, 027, 077, 007 };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        for (size_t k = 0; k < sizeof masks / sizeof *masks; k++) {
            const uint32_t want = modes[i] & ~masks[k];
            looked = 0;
            cr_assert(chmod(dump, modes[i]) == 0);
            (void)umask((mode_t)masks[k]);
            (void)build(modes[i]);
            cr_expect(looked > 100, "%u looks", looked);
            cr_expect(mode_of("%s/%s", "class.hdx") == (want | 0400) &&
                          mode_of("%s/%s", "catalog.mdb") == (want | 0400),
                      "%o under %o: %o", modes[i], masks[k], mode_of("%s/%s", "class.hdx"));
            cr_expect(mode_of("%s%s", "") == (want | 0600 | 0100 | (want >> 2 & 011)), "%o under %o: folder %o",
                      modes[i], masks[k], mode_of("%s%s", ""));
        }
}

/* Whoever has made it narrower meant that; one that is wider than the dump has become is narrowed. */
Test(private, as_it_was_made_afterwards_when_it_is_used_again)
{
    const hdx_index_options options = { .dump = dump, .threads = 1 };
    hdx_index_report        report;
    hdx_error               err;
    cr_assert(chmod(dump, 0644) == 0);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(chmod(place, 0700) == 0);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK && report.reused, "%s", err.message);
    cr_expect(mode_of("%s%s", "") == 0700, "narrower: %o", mode_of("%s%s", ""));
    cr_assert(chmod(place, 0755) == 0 && chmod(dump, 0600) == 0);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK && report.reused, "%s", err.message);
    cr_expect(mode_of("%s%s", "") == 0700 && mode_of("%s/%s", "class.hdx") == 0600, "wider: %o, %o",
              mode_of("%s%s", ""), mode_of("%s/%s", "class.hdx"));
}

Test(private, while_it_is_interrupted_between_any_two_calls)
{
    cr_assert(chmod(dump, 0640) == 0);
    (void)umask(0);
    for (unsigned n = 1;; n += 7) {
        faulty_io         faulty;
        hdx_index_options options = { .dump = dump, .threads = 1, .force = true };
        int               status;
        faulty_io_init(&faulty, n, FAULTY_KILL, true);
        const pid_t pid = fork();
        if (pid == 0) {
            hdx_build_doors  doors = { .io = &faulty.io, .every_step = true };
            hdx_index_report report;
            _exit(hdx_index_build_through(&doors, &options, &report, NULL) == HDX_OK ? 0 : 1);
        }
        cr_assert(waitpid(pid, &status, 0) == pid);
        look(0640);
        if (WIFEXITED(status))
            break;
    }
}

Test(private, in_the_cache_folder_that_is_the_users_alone)
{
    char        cache[64], path[96];
    struct stat st;
    if (geteuid() != 0)
        cr_skip("only root can become somebody who may not write here");
    (void)snprintf(cache, sizeof cache, "%s/cache", folder);
    cr_assert(mkdir(cache, 0777) == 0 && chmod(cache, 0777) == 0 && chmod(dump, 0644) == 0);
    cr_assert(setenv("XDG_CACHE_HOME", cache, 1) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        hdx_index_options options = { .dump = dump };
        hdx_index_report  report;
        if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
            _exit(3);
        _exit(hdx_index_build(&options, &report, NULL) == HDX_OK && strncmp(report.path, cache, strlen(cache)) == 0
                  ? 0
                  : 1);
    }
    int status;
    cr_assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    cr_expect(WEXITSTATUS(status) == 0, "exit %d", WEXITSTATUS(status));
    (void)snprintf(path, sizeof path, "%s/heapdex", cache);
    cr_expect(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700 && st.st_uid == 65534);
}

/* ---- groups ---- */
Test(private, with_the_group_of_the_dump_or_none)
{
    struct stat st;
    char        path[128];
    if (geteuid() != 0)
        cr_skip("only root can give a file to any group");
    cr_assert(chmod(dump, 0640) == 0 && chown(dump, (uid_t)-1, 12345) == 0);
    (void)build(0640);
    (void)snprintf(path, sizeof path, "%s/class.hdx", place);
    cr_expect(stat(path, &st) == 0 && st.st_gid == 12345 && (st.st_mode & 0777) == 0640);
    cr_expect(stat(place, &st) == 0 && st.st_gid == 12345 && (st.st_mode & 0777) == 0750);
    /* somebody who may read the dump and is not of its group; its members are others to what he makes */
    cr_assert(chmod(dump, 0604) == 0 && chmod(folder, 0777) == 0);
    hdx_index_options gone = { .dump = dump };
    cr_assert(hdx_index_remove(&gone, path, sizeof path, NULL) == HDX_OK);
    const pid_t pid = fork();
    if (pid == 0) {
        hdx_index_options options = { .dump = dump };
        hdx_index_report  report;
        if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
            _exit(3);
        (void)umask(0);
        _exit(hdx_index_build(&options, &report, NULL) == HDX_OK ? 0 : 1);
    }
    int status;
    cr_assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)snprintf(path, sizeof path, "%s/class.hdx", place);
    cr_expect(stat(path, &st) == 0 && st.st_uid == 65534 && (st.st_mode & 0777) == 0600, "%o", st.st_mode);
}

/* ---- ACLs ---- */
static size_t put_acl(uint8_t *to, const uint16_t (*entries)[2], const uint32_t *ids, size_t n)
{
    hdx_put32(to, 2);
    for (size_t i = 0; i < n; i++) {
        to[4 + 8 * i] = (uint8_t)entries[i][0];
        to[5 + 8 * i] = 0;
        to[6 + 8 * i] = (uint8_t)entries[i][1];
        to[7 + 8 * i] = 0;
        hdx_put32(to + 8 + 8 * i, ids[i]);
    }
    return 4 + 8 * n;
}

/* Owner rw, user 1234 r, user 1235 nothing, group r, mask r, others nothing. */
static const uint16_t entries[6][2] = { { 1, 6 }, { 2, 4 }, { 2, 0 }, { 4, 4 }, { 16, 4 }, { 32, 0 } };
static const uint32_t ids[6] = { UINT32_MAX, 1234, 1235, UINT32_MAX, UINT32_MAX, UINT32_MAX };

static uint8_t bits_of(const char *path, uint8_t tag, uint32_t id)
{
    uint8_t       acl[512];
    const ssize_t got = getxattr(path, ACL, acl, sizeof acl);
    for (ssize_t at = 4; at + 8 <= got; at += 8)
        if (acl[at] == tag && (tag != 2 || hdx_le32(acl + at + 4) == id))
            return acl[at + 2];
    return 0xff;
}

Test(private, with_the_acl_of_the_dump)
{
    uint8_t acl[64];
    char    path[128];
    if (setxattr(dump, ACL, acl, put_acl(acl, entries, ids, 6), 0) != 0)
        cr_skip("this file system has no ACLs");
    (void)umask(0);
    (void)build(0640);
    (void)snprintf(path, sizeof path, "%s/class.hdx", place);
    cr_expect(bits_of(path, 2, 1234) == 4 && bits_of(path, 2, 1235) == 0 && bits_of(path, 32, 0) == 0 &&
              bits_of(path, 16, 0) == 4);
    cr_expect(bits_of(place, 2, 1234) == 5 && bits_of(place, 2, 1235) == 0 && bits_of(place, 32, 0) == 0 &&
              bits_of(place, 16, 0) == 5);
    (void)umask(077);
    (void)build(0640);
    cr_expect(bits_of(path, 16, 0) == 0 &&
              (mode_of("%s/%s", "class.hdx") & 077) == 0); /* nobody gets through the mask */
}

static ssize_t no_acl_here(const char *path) { return getxattr(path, ACL, NULL, 0); }

Test(private, whatever_the_default_acl_of_the_folder_grants)
{
    static const uint16_t open_entries[5][2] = { { 1, 7 }, { 2, 7 }, { 4, 7 }, { 16, 7 }, { 32, 7 } };
    static const uint32_t open_ids[5] = { UINT32_MAX, 1234, UINT32_MAX, UINT32_MAX, UINT32_MAX };
    uint8_t               acl[64];
    char                  path[128];
    if (setxattr(folder, "system.posix_acl_default", acl, put_acl(acl, open_entries, open_ids, 5), 0) != 0)
        cr_skip("this file system has no ACLs");
    cr_assert(chmod(dump, 0640) == 0);
    (void)umask(0);
    (void)build(0640);
    (void)snprintf(path, sizeof path, "%s/class.hdx", place);
    cr_expect(no_acl_here(path) <= 0 && no_acl_here(place) <= 0 && mode_of("%s/%s", "class.hdx") == 0640);
    cr_expect(getxattr(place, "system.posix_acl_default", NULL, 0) <= 0);
}
