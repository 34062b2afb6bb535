/* Files that are written complete: what they replace, what they refuse to replace, and what a failure leaves. */
#include "base/own.h"
#include "base/whole.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char    *folder;
static unsigned synced; /* folders */

static void enter(void)
{
    folder = malloc(TEST_FOLDER);
    test_folder_make(folder, "whole");
    cr_assert(chdir(folder) == 0);
    (void)umask(0);
}
static void leave(void)
{
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
    free(folder);
}
TestSuite(whole, .init = enter, .fini = leave);

static void put(const char *path, const char *content, unsigned mode)
{
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL && fputs(content, f) >= 0 && fclose(f) == 0 && chmod(path, mode) == 0, "%s", path);
}

static void expect(const char *path, const char *content, unsigned mode)
{
    char        bytes[64] = "";
    struct stat st;
    FILE       *f = fopen(path, "r");
    cr_assert(f != NULL && fread(bytes, 1, sizeof bytes - 1, f) == strlen(content) && fclose(f) == 0, "%s", path);
    cr_expect_str_eq(bytes, content, "%s", path);
    cr_expect(stat(path, &st) == 0 && (st.st_mode & 07777) == mode, "%s: %o", path, st.st_mode);
}

/* Files with a temporary name. */
static unsigned left(void)
{
    DIR     *d = opendir(".");
    unsigned count = 0;
    cr_assert(d != NULL);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        count += hdx_own_is_temporary(e->d_name);
    (void)closedir(d);
    return count;
}

static int sync_folder(hdx_io *io, const char *path)
{
    (void)io;
    synced += strcmp(path, ".") == 0;
    return -EIO; /* no reason to fail: the file is complete */
}

static int write_to(hdx_io *io, const char *path, unsigned mode)
{
    const hdx_access access = { .mode = mode, .gid = (uint32_t)getegid() };
    hdx_whole_file   w;
    int              rc = hdx_whole_begin(&w, io, path, &access);
    cr_expect(eq(uint, left(), rc == 0));
    if (rc >= 0 && (rc = io->write(io, w.fd, "new", 3)) >= 0)
        rc = hdx_whole_commit(&w);
    hdx_whole_drop(&w);
    hdx_whole_drop(&w);
    cr_expect(eq(uint, left(), 0));
    return rc;
}

Test(whole, files_are_created_or_replaced_and_their_folder_is_synced)
{
    hdx_io io = *hdx_io_system();
    io.sync_folder = sync_folder;
    synced = 0;
    cr_expect(eq(int, write_to(&io, "a", 0644), 0));
    expect("a", "new", 0644);
    put("b", "old and longer", 0666);
    cr_assert(link("b", "c") == 0);
    cr_expect(eq(int, write_to(&io, "b", 0640), 0));
    expect("b", "new", 0640);
    expect("c", "old and longer", 0666);
    cr_expect(eq(uint, synced, 2));
}

Test(whole, files_are_never_wider_than_what_they_replace)
{
    put("a", "old", 0604);
    put("b", "old", 0600);
    cr_expect(eq(int, write_to(hdx_io_system(), "a", 0664), 0));
    cr_expect(eq(int, write_to(hdx_io_system(), "b", 0666), 0));
    expect("a", "new", 0604);
    expect("b", "new", 0600);
}

Test(whole, files_never_replace_links_pipes_or_folders)
{
    struct stat st;
    put("a", "old", 0666);
    cr_assert(symlink("a", "link") == 0 && symlink("gone", "dangling") == 0 && mkfifo("pipe", 0600) == 0 &&
              mkdir("folder", 0700) == 0);
    static const char *const names[] = { "link", "dangling", "pipe", "folder" };
    static const mode_t      kinds[] = { S_IFLNK, S_IFLNK, S_IFIFO, S_IFDIR };
    for (unsigned i = 0; i < 4; i++) {
        cr_expect(eq(int, write_to(hdx_io_system(), names[i], 0666), -ENOTSUP), "%s", names[i]);
        cr_expect(lstat(names[i], &st) == 0 && (st.st_mode & S_IFMT) == kinds[i], "%s", names[i]);
    }
    expect("a", "old", 0666);
    cr_expect(eq(int, write_to(hdx_io_system(), "missing/a", 0666), -ENOENT));
}

static int refused(hdx_io *io, int fd) { return (void)io, (void)fd, -EIO; }
static int refused_name(hdx_io *io, const char *from, const char *to) { return (void)io, (void)from, (void)to, -EIO; }

Test(whole, files_stay_what_they_were_after_a_failure)
{
    put("a", "old", 0666);
    for (unsigned what = 0; what < 2; what++) {
        hdx_io io = *hdx_io_system();
        io.sync = what == 0 ? refused : io.sync;
        io.rename = what == 1 ? refused_name : io.rename;
        cr_expect(eq(int, write_to(&io, "a", 0666), -EIO));
        expect("a", "old", 0666);
    }
}

static void expect_target(const char *path, const char *target)
{
    char out[HDX_PATH_ROOM], real[HDX_PATH_ROOM];
    cr_expect(eq(int, hdx_whole_target(path, out), 0), "%s", path);
    if (access(target, F_OK) == 0) {
        cr_assert(realpath(target, real) != NULL);
        target = real;
    }
    cr_expect_str_eq(out, target, "%s: %s", path, out);
}

Test(whole, targets_are_what_links_lead_to_even_if_it_does_not_exist)
{
    char out[HDX_PATH_ROOM];
    put("a", "", 0600);
    cr_assert(mkdir("in", 0700) == 0 && symlink("a", "one") == 0 && symlink("../one", "in/two") == 0);
    cr_assert(symlink("in/new", "dangling") == 0 && symlink("next", "in/first") == 0 &&
              symlink("../new", "in/next") == 0 && symlink("/nowhere/x", "far") == 0 && symlink("loop", "loop") == 0);
    expect_target("a", "a");
    expect_target("one", "a");
    expect_target("in/two", "a");
    expect_target("fresh", "fresh");
    expect_target("dangling", "in/new");
    expect_target("in/first", "in/../new");
    expect_target("far", "/nowhere/x");
    cr_expect(eq(int, hdx_whole_target("loop", out), -ELOOP));
}

Test(whole, descriptors_are_named_by_dev_and_proc_and_links_to_them)
{
    cr_assert(symlink("/dev/stdout", "out") == 0 && symlink("/dev/fd/7", "seven") == 0 && symlink("a", "b") == 0);
    cr_expect(eq(int, hdx_whole_descriptor("/dev/stdout"), 1));
    cr_expect(eq(int, hdx_whole_descriptor("/dev/stderr"), 2));
    cr_expect(eq(int, hdx_whole_descriptor("/dev/fd/12"), 12));
    cr_expect(eq(int, hdx_whole_descriptor("/proc/self/fd/3"), 3));
    cr_expect(eq(int, hdx_whole_descriptor("out"), 1));
    cr_expect(eq(int, hdx_whole_descriptor("seven"), 7));
    cr_expect(eq(int, hdx_whole_descriptor("b"), -1));
    cr_expect(eq(int, hdx_whole_descriptor("none"), -1));
    cr_expect(eq(int, hdx_whole_descriptor("/dev/fd/x"), -1));
}
