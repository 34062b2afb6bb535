/* io.c - the real file system (io.h). */
#include "base/io.h"
#include "base/mount.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define CHUNK        (1u << 30) /* Linux transfers at most 2 GiB per call */
#define PIECE_DIGITS 6u         /* of the number of a piece */

static int result(int rc) { return rc < 0 ? -errno : rc; }

/* Opening a named pipe would wait for its writer, and opening a device may have effects. */
static int sys_open(hdx_io *io, const char *path)
{
    struct stat st;
    (void)io;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return fd;
    (void)close(fd);
    return -EINVAL;
}

static int sys_create(hdx_io *io, const char *path)
{
    (void)io;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST && unlink(path) == 0) /* not overwritten: it may be a link, or open to others */
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return result(fd);
}

static int sys_change(hdx_io *io, const char *path)
{
    (void)io;
    return result(open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
}

static int64_t sys_read_at(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    uint64_t got = 0;
    (void)io;
    while (got < len) {
        size_t  want = len - got > CHUNK ? CHUNK : (size_t)(len - got);
        ssize_t n = pread(fd, (char *)to + got, want, (off_t)(offset + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        got += (uint64_t)n;
    }
    return (int64_t)got;
}

static int sys_write(hdx_io *io, int fd, const void *bytes, uint64_t len)
{
    (void)io;
    for (uint64_t put = 0; put < len;) {
        size_t  want = len - put > CHUNK ? CHUNK : (size_t)(len - put);
        ssize_t n = write(fd, (const char *)bytes + put, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        put += (uint64_t)n;
    }
    return 0;
}

static int sys_write_at(hdx_io *io, int fd, const void *bytes, uint64_t len, uint64_t offset)
{
    (void)io;
    for (uint64_t put = 0; put < len;) {
        size_t  want = len - put > CHUNK ? CHUNK : (size_t)(len - put);
        ssize_t n = pwrite(fd, (const char *)bytes + put, want, (off_t)(offset + put));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        put += (uint64_t)n;
    }
    return 0;
}

static int sys_sync(hdx_io *io, int fd)
{
    (void)io;
    return result(fsync(fd));
}

static void sys_push(hdx_io *io, int fd)
{
    (void)io;
    (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* a hint: callers that need it on disk sync */
}

static int sys_close(hdx_io *io, int fd)
{
    (void)io;
    return result(close(fd));
}

static int sys_stat(hdx_io *io, const char *path, struct stat *out)
{
    (void)io;
    return result(stat(path, out));
}

static int sys_rename(hdx_io *io, const char *from, const char *to)
{
    (void)io;
    return result(rename(from, to));
}

static int sys_exchange(hdx_io *io, const char *a, const char *b)
{
    (void)io;
    return result(renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE));
}

static int sys_remove(hdx_io *io, const char *path)
{
    (void)io;
    return result(remove(path));
}

static int sys_mkdir(hdx_io *io, const char *path)
{
    (void)io;
    if (mkdir(path, 0700) < 0)
        return -errno;
    (void)lremovexattr(path, "system.posix_acl_access"); /* inherited from the parent; files in it must not have it */
    (void)lremovexattr(path, "system.posix_acl_default");
    return 0;
}

static void sys_share(hdx_io *io, const char *path, const hdx_access *like)
{
    (void)io;
    hdx_access_give(like, path);
}

static int sys_space(hdx_io *io, const char *path, uint64_t *bytes)
{
    struct statvfs st;
    (void)io;
    if (statvfs(path, &st) < 0)
        return -errno;
    *bytes = st.f_blocks == 0 ? UINT64_MAX : (uint64_t)st.f_bavail * st.f_frsize;
    return 0;
}

static int sys_lock(hdx_io *io, int fd)
{
    (void)io;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EINTR ? -EWOULDBLOCK : -errno;
    return hdx_mount_locks_reach_fd(fd) ? 0 : HDX_LOCK_HERE;
}

static int sys_sync_folder(hdx_io *io, const char *path)
{
    (void)io;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = fsync(fd) < 0 ? -errno : 0;
    (void)close(fd);
    return rc == -EINVAL || rc == -EROFS ? 0 : rc; /* some file systems cannot sync a folder and need not */
}

static int sys_map(hdx_io *io, int fd, uint64_t len, const uint8_t **at)
{
    (void)io;
    void *p = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return -errno;
    *at = p;
    return 0;
}

static void sys_unmap(hdx_io *io, const uint8_t *at, uint64_t len)
{
    (void)io;
    (void)munmap((void *)(uintptr_t)at, (size_t)len);
}

static void sys_forget(hdx_io *io, const uint8_t *at, uint64_t len)
{
    (void)io;
    (void)madvise((void *)(uintptr_t)at, (size_t)len, MADV_DONTNEED); /* a shared map: the page cache keeps them */
}

/* Parses the number at the end of "NAME.p12", without leading zeros. False: another name. */
static bool piece_number(const char *entry, const char *name, uint32_t *number)
{
    const size_t len = strlen(name);
    const char  *p = entry + len + 2;
    if (strncmp(entry, name, len) != 0 || entry[len] != '.' || entry[len + 1] != 'p' || *p == '\0' ||
        strlen(p) > PIECE_DIGITS || (p[0] == '0' && p[1] != '\0') || strspn(p, "0123456789") != strlen(p))
        return false;
    *number = (uint32_t)strtoul(p, NULL, 10);
    return true;
}

static int sys_pieces(hdx_io *io, const char *path, uint32_t *numbers, unsigned room)
{
    char           folder[4096];
    struct dirent *entry;
    struct stat    st;
    uint32_t       number;
    unsigned       found = 0, stored = 0;
    DIR           *d = hdx_path_folder(path, folder, sizeof folder) ? opendir(folder) : NULL;
    (void)io;
    if (d == NULL)
        return -errno;
    while ((entry = readdir(d)) != NULL) {
        if (!piece_number(entry->d_name, hdx_path_name(path), &number) ||
            fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        found++;
        unsigned at = stored < room ? stored++ : room;
        for (; at > 0 && numbers[at - 1] > number; at--)
            if (at < room)
                numbers[at] = numbers[at - 1];
        if (at < room)
            numbers[at] = number;
    }
    (void)closedir(d);
    return (int)found;
}

hdx_io *hdx_io_system(void)
{
    static hdx_io io = { sys_open,   sys_create, sys_change, sys_read_at, sys_write,  sys_write_at,
                         sys_sync,   sys_push,   sys_close,  sys_stat,    sys_rename, sys_exchange,
                         sys_remove, sys_mkdir,  sys_share,  sys_space,   sys_lock,   sys_sync_folder,
                         sys_map,    sys_unmap,  sys_forget, sys_pieces };
    return &io;
}

/* Calls `act` with the path of every entry of a folder; stops at the first error. */
static int each_file(hdx_io *io, const char *path, int (*act)(hdx_io *io, const char *name, const void *context),
                     const void *context)
{
    char           name[4096];
    struct dirent *entry;
    DIR           *folder = opendir(path);
    int            rc = 0;
    if (folder == NULL)
        return -errno;
    while (rc >= 0 && (entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        rc = (size_t)snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= sizeof name ? -ENAMETOOLONG
                                                                                              : act(io, name, context);
    }
    (void)closedir(folder);
    return rc;
}

static int sync_one(hdx_io *io, const char *name, const void *context)
{
    struct stat st;
    int         rc = io->stat(io, name, &st);
    (void)context;
    if (rc < 0 || !S_ISREG(st.st_mode)) /* opening a pipe would block */
        return rc < 0 ? rc : 0;
    const int fd = io->open(io, name);
    if (fd < 0)
        return fd;
    rc = io->sync(io, fd);
    (void)io->close(io, fd);
    return rc;
}

static int share_one(hdx_io *io, const char *name, const void *context)
{
    io->share(io, name, context);
    return 0;
}

int hdx_io_sync_files(hdx_io *io, const char *path)
{
    const int rc = each_file(io, path, sync_one, NULL);
    return rc < 0 ? rc : io->sync_folder(io, path);
}

int hdx_io_share_files(hdx_io *io, const char *path, const hdx_access *like)
{
    const int rc = each_file(io, path, share_one, like);
    io->share(io, path, like);
    return rc;
}
