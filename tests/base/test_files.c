/* test_files.c - the real file system behind the door: what it makes, what it refuses and with which errno. */
#include "base/io.h"
#include "base/mount.h"
#include "support/faulty.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

typedef struct place {
    char    folder[TEST_FOLDER], a[64], b[64];
    hdx_io *io;
} place;

static place begin(void)
{
    place p = { .io = hdx_io_system() };
    test_folder_make(p.folder, "files");
    (void)snprintf(p.a, sizeof p.a, "%s/a", p.folder);
    (void)snprintf(p.b, sizeof p.b, "%s/b", p.folder);
    return p;
}

static void put(const place *p, const char *path, const char *content)
{
    const int fd = p->io->create(p->io, path);
    cr_assert(fd >= 0 && p->io->write(p->io, fd, content, strlen(content)) == 0 && p->io->close(p->io, fd) == 0);
}

static void expect_content(const place *p, const char *path, const char *content)
{
    char          bytes[64] = "";
    const int     fd = p->io->open(p->io, path);
    const int64_t got = fd < 0 ? fd : p->io->read_at(p->io, fd, bytes, sizeof bytes - 1, 0);
    cr_expect(eq(i64, got, (int64_t)strlen(content)));
    cr_expect(eq(str, bytes, (char *)(uintptr_t)content));
    if (fd >= 0)
        cr_expect(eq(int, p->io->close(p->io, fd), 0));
}

/* A name that is taken is a new file afterwards: a link to it elsewhere keeps the old one. */
Test(files, are_made_anew_and_for_their_owner_alone)
{
    place       p = begin();
    struct stat st;
    put(&p, p.a, "first");
    cr_assert(chmod(p.a, 0666) == 0 && link(p.a, p.b) == 0);
    put(&p, p.a, "second");
    expect_content(&p, p.a, "second");
    expect_content(&p, p.b, "first");
    cr_expect(stat(p.a, &st) == 0 && (st.st_mode & 07777) == 0600, "%o", st.st_mode);
    cr_assert(unlink(p.a) == 0 && symlink(p.b, p.a) == 0);
    put(&p, p.a, "third");
    expect_content(&p, p.b, "first");
    cr_expect(lstat(p.a, &st) == 0 && S_ISREG(st.st_mode));
    cr_assert(unlink(p.a) == 0 && mkdir(p.a, 0700) == 0);
    const int fd = p.io->create(p.io, p.a);
    cr_expect(eq(int, fd, -EISDIR)); /* a folder stays */
    cr_expect(eq(int, p.io->create(p.io, "/nowhere/at/all"), -ENOENT));
    test_folder_remove(p.folder);
}

Test(files, are_changed_in_place_but_not_through_a_link)
{
    place p = begin();
    put(&p, p.a, "01234");
    const int fd = p.io->change(p.io, p.a);
    cr_assert(fd >= 0 && p.io->write_at(p.io, fd, "xyz", 3, 4) == 0 && p.io->close(p.io, fd) == 0);
    expect_content(&p, p.a, "0123xyz");
    cr_assert(symlink(p.a, p.b) == 0);
    cr_expect(eq(int, p.io->change(p.io, p.b), -ELOOP));
    expect_content(&p, p.b, "0123xyz"); /* reading follows it */
    test_folder_remove(p.folder);
}

Test(files, are_read_and_written_whole_or_with_an_error)
{
    place p = begin();
    char  bytes[16] = "unchanged";
    put(&p, p.a, "0123456789");
    int fd = p.io->open(p.io, p.a);
    cr_assert(fd >= 0);
    cr_expect(eq(i64, p.io->read_at(p.io, fd, bytes, 3, 7), 3));
    cr_expect(eq(int, memcmp(bytes, "789hanged", 9), 0));
    errno = EINTR; /* of an earlier call */
    cr_expect(eq(i64, p.io->read_at(p.io, fd, bytes, 5, 10), 0));
    cr_expect(eq(i64, p.io->read_at(p.io, fd, bytes, 0, 0), 0));
    cr_expect(eq(int, p.io->write(p.io, fd, "x", 1), -EBADF)); /* open for reading */
    cr_expect(eq(int, p.io->write_at(p.io, fd, "x", 1, 0), -EBADF));
    cr_expect(eq(int, p.io->write(p.io, fd, "x", 0), 0));
    cr_expect(eq(int, p.io->close(p.io, fd), 0));
    cr_expect(eq(int, p.io->close(p.io, fd), -EBADF));
    cr_expect(eq(i64, p.io->read_at(p.io, fd, bytes, 1, 0), -EBADF));
    cr_expect(eq(int, p.io->sync(p.io, fd), -EBADF));
    cr_expect(eq(int, p.io->open(p.io, p.b), -ENOENT));
    if ((fd = open("/dev/full", O_WRONLY)) >= 0) {
        cr_expect(eq(int, p.io->write(p.io, fd, "x", 1), -ENOSPC));
        (void)close(fd);
    }
    test_folder_remove(p.folder);
}

/* Opening a pipe to read it would wait for a writer. */
Test(files, are_not_opened_where_a_pipe_has_their_name, .timeout = 20)
{
    place p = begin();
    cr_assert(mkfifo(p.a, 0600) == 0 && symlink(p.a, p.b) == 0);
    cr_expect(eq(int, p.io->open(p.io, p.a), -EINVAL));
    cr_expect(eq(int, p.io->open(p.io, p.b), -EINVAL));
    const int fd = p.io->open(p.io, p.folder);
    cr_expect(fd >= 0 && p.io->close(p.io, fd) == 0);
    test_folder_remove(p.folder);
}

/* What a pipe takes at once is less than was given: the rest follows. */
static void *drain(void *context)
{
    const int *fd = context;
    uint64_t   sum = 0;
    uint8_t    bytes[999];
    ssize_t    n;
    while ((n = read(*fd, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < n; i++)
            sum = sum * 31 + bytes[i];
    return (void *)(uintptr_t)sum;
}

Test(files, take_what_is_written_in_pieces)
{
    enum { SIZE = 1 << 20 };
    hdx_io   *io = hdx_io_system();
    int       ends[2];
    pthread_t reader;
    void     *got;
    uint64_t  sum = 0;
    uint8_t  *bytes = malloc(SIZE);
    cr_assert(bytes != NULL && pipe(ends) == 0 && pthread_create(&reader, NULL, drain, &ends[0]) == 0);
    cr_assert(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
    for (unsigned i = 0; i < SIZE; i++) {
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
        sum = sum * 31 + bytes[i];
    }
    cr_expect(eq(int, io->write(io, ends[1], bytes, SIZE), 0));
    (void)close(ends[1]);
    cr_assert(pthread_join(reader, &got) == 0);
    cr_expect(eq(u64, (uint64_t)(uintptr_t)got, sum));
    (void)close(ends[0]);
    free(bytes);
}

Test(files, change_names)
{
    place       p = begin();
    struct stat st;
    put(&p, p.a, "one");
    put(&p, p.b, "two");
    cr_expect(eq(int, p.io->exchange(p.io, p.a, p.b), 0));
    expect_content(&p, p.a, "two");
    expect_content(&p, p.b, "one");
    cr_expect(eq(int, p.io->rename(p.io, p.a, p.b), 0));
    expect_content(&p, p.b, "two");
    cr_expect(eq(int, p.io->exchange(p.io, p.a, p.b), -ENOENT));
    cr_expect(eq(int, p.io->rename(p.io, p.a, p.b), -ENOENT));
    cr_expect(eq(int, p.io->stat(p.io, p.a, &st), -ENOENT));
    cr_expect(p.io->stat(p.io, p.b, &st) == 0 && st.st_size == 3);
    cr_expect(eq(int, p.io->remove(p.io, p.b), 0));
    cr_expect(eq(int, p.io->remove(p.io, p.b), -ENOENT));
    test_folder_remove(p.folder);
}

Test(files, are_mapped_and_forgotten)
{
    place          p = begin();
    const uint8_t *at = NULL;
    put(&p, p.a, "mapped");
    const int fd = p.io->open(p.io, p.a);
    cr_assert(fd >= 0 && p.io->map(p.io, fd, 6, &at) == 0);
    p.io->push(p.io, fd);
    cr_expect(memcmp(at, "mapped", 6) == 0);
    p.io->forget(p.io, at, 6);
    cr_expect(memcmp(at, "mapped", 6) == 0);
    p.io->unmap(p.io, at, 6);
    (void)p.io->close(p.io, fd);
    cr_expect(eq(int, p.io->map(p.io, fd, 6, &at), -EBADF));
    test_folder_remove(p.folder);
}

Test(folders, are_made_for_their_owner_alone)
{
    place       p = begin();
    struct stat st;
    cr_expect(eq(int, p.io->mkdir(p.io, p.a), 0));
    cr_expect(stat(p.a, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 0700, "%o", st.st_mode);
    cr_expect(eq(int, p.io->mkdir(p.io, p.a), -EEXIST));
    cr_expect(eq(int, p.io->sync_folder(p.io, p.a), 0));
    cr_expect(eq(int, p.io->sync_folder(p.io, p.b), -ENOENT));
    put(&p, p.b, "a file");
    cr_expect(eq(int, p.io->sync_folder(p.io, p.b), -ENOTDIR));
    cr_expect(eq(int, p.io->sync_folder(p.io, "/proc"), 0)); /* cannot be synced and need not */
    test_folder_remove(p.folder);
}

Test(folders, say_how_much_may_still_be_written)
{
    place          p = begin();
    uint64_t       bytes = 1;
    struct statvfs st;
    cr_assert(eq(int, p.io->space(p.io, p.folder, &bytes), 0));
    cr_assert(statvfs(p.folder, &st) == 0);
    const uint64_t whole = (uint64_t)st.f_blocks * st.f_frsize;
    cr_expect(bytes <= whole && bytes >= (uint64_t)st.f_bavail * st.f_frsize / 2, "%llu of %llu",
              (unsigned long long)bytes, (unsigned long long)whole);
    cr_assert(eq(int, p.io->space(p.io, "/proc", &bytes), 0));
    cr_expect(eq(u64, bytes, UINT64_MAX)); /* it does not say */
    cr_expect(eq(int, p.io->space(p.io, p.b, &bytes), -ENOENT));
    test_folder_remove(p.folder);
}

Test(lock, is_held_by_one_at_a_time)
{
    place p = begin();
    put(&p, p.a, "");
    const int one = p.io->change(p.io, p.a), two = p.io->change(p.io, p.a);
    cr_assert(one >= 0 && two >= 0);
    const int held = p.io->lock(p.io, one);
    cr_expect(eq(int, held, hdx_mount_locks_reach_fd(one) ? 0 : HDX_LOCK_HERE));
    cr_expect(eq(int, p.io->lock(p.io, two), -EWOULDBLOCK));
    (void)p.io->close(p.io, one);
    cr_expect(eq(int, p.io->lock(p.io, two), held));
    (void)p.io->close(p.io, two);
    cr_expect(eq(int, p.io->lock(p.io, two), -EBADF));
    test_folder_remove(p.folder);
}

/* ---- whole folders ---- */

static void fill(const place *p, const char *folder)
{
    char path[128];
    for (unsigned i = 0; i < 5; i++) {
        (void)snprintf(path, sizeof path, "%s/file%u", folder, i);
        put(p, path, "content");
    }
}

typedef struct counting_io {
    hdx_io   io;
    unsigned opened, synced, folders, shared;
} counting_io;

static int count_open(hdx_io *io, const char *path)
{
    ((counting_io *)(void *)io)->opened++;
    return hdx_io_system()->open(io, path);
}
static int count_sync(hdx_io *io, int fd)
{
    ((counting_io *)(void *)io)->synced++;
    return hdx_io_system()->sync(io, fd);
}
static int count_sync_folder(hdx_io *io, const char *path)
{
    ((counting_io *)(void *)io)->folders++;
    return hdx_io_system()->sync_folder(io, path);
}
static void count_share(hdx_io *io, const char *path, const hdx_access *like)
{
    ((counting_io *)(void *)io)->shared++;
    hdx_io_system()->share(io, path, like);
}

static counting_io counting(void)
{
    counting_io c = { .io = *hdx_io_system() };
    c.io.open = count_open;
    c.io.sync = count_sync;
    c.io.sync_folder = count_sync_folder;
    c.io.share = count_share;
    return c;
}

Test(folders, are_synced_file_by_file_and_then_themselves)
{
    place       p = begin();
    counting_io c = counting();
    char        pipe[128];
    fill(&p, p.folder);
    (void)snprintf(pipe, sizeof pipe, "%s/pipe", p.folder);
    cr_assert(mkfifo(pipe, 0600) == 0); /* nobody waits for it */
    cr_expect(eq(int, hdx_io_sync_files(&c.io, p.folder), 0));
    cr_expect(c.opened == 5 && c.synced == 5 && c.folders == 1);
    cr_expect(eq(int, hdx_io_sync_files(&c.io, p.b), -ENOENT));
    for (unsigned n = 1;; n++) {
        faulty_io faulty;
        faulty_io_init(&faulty, n, EIO, false);
        const int rc = hdx_io_sync_files(&faulty.io, p.folder);
        cr_assert(n < 100);
        if (!faulty_io_fired(&faulty)) {
            cr_expect(eq(int, rc, 0));
            break;
        }
    }
    test_folder_remove(p.folder);
}

Test(folders, are_shared_file_by_file_and_then_themselves)
{
    place       p = begin();
    counting_io c = counting();
    hdx_access  like = { .mode = 0644, .gid = (uint32_t)getegid() };
    struct stat st;
    char        path[80];
    cr_assert(p.io->mkdir(p.io, p.a) == 0);
    fill(&p, p.a);
    (void)umask(022);
    cr_expect(eq(int, hdx_io_share_files(&c.io, p.a, &like), 0));
    cr_expect(eq(uint, c.shared, 6));
    (void)snprintf(path, sizeof path, "%s/file3", p.a);
    cr_expect(stat(path, &st) == 0 && (st.st_mode & 07777) == 0644, "%o", st.st_mode);
    cr_expect(stat(p.a, &st) == 0 && (st.st_mode & 07777) == 0755, "%o", st.st_mode);
    cr_expect(eq(int, hdx_io_share_files(&c.io, p.b, &like), -ENOENT));
    test_folder_remove(p.folder);
}

/* The longest path that the system takes has 4095 bytes: of what lies deeper it is said, and the rest is done. */
Test(folders, whose_files_have_paths_that_are_too_long_say_so)
{
    place      p = begin();
    char       path[4200];
    hdx_access like = { .mode = 0600, .gid = (uint32_t)getegid() };
    size_t     len = (size_t)snprintf(path, sizeof path, "%s", p.folder);
    while (len < 4080) { /* to a folder whose path has 4080 bytes */
        const size_t left = 4080 - len, more = left <= 201 ? left : left < 403 ? 150 : 201;
        path[len] = '/';
        memset(path + len + 1, 'f', more - 1);
        path[len + more] = '\0';
        len += more;
        cr_assert(p.io->mkdir(p.io, path) == 0, "%zu", len);
    }
    const int folder = open(path, O_RDONLY | O_DIRECTORY);
    cr_assert(folder >= 0);
    static const char *const names[] = { "14bytes-of-it.", "15bytes-of-it.." }; /* 4095 bytes, and one more */
    for (unsigned i = 0; i < 2; i++) {
        const int fd = openat(folder, names[i], O_CREAT | O_RDWR, 0600), failure = i == 0 ? 0 : -ENAMETOOLONG;
        cr_assert(fd >= 0 && close(fd) == 0);
        cr_expect(eq(int, hdx_io_sync_files(p.io, path), failure));
        cr_expect(eq(int, hdx_io_share_files(p.io, path, &like), failure));
    }
    cr_assert(unlinkat(folder, names[0], 0) == 0 && unlinkat(folder, names[1], 0) == 0);
    (void)close(folder);
    for (; len > strlen(p.folder); path[len] = '\0') {
        (void)rmdir(path);
        while (path[--len] != '/')
            ;
    }
    test_folder_remove(p.folder);
}
