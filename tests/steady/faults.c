/*
 * faults.c - a library for LD_PRELOAD that makes one call of a program to the file system fail.
 *
 * In:  STEADY_FAULT=COUNTER:N:ERRNO, read when the program starts. COUNTER is a file of at least 4096 zero bytes that
 *      all processes of one run share: the number of calls so far, and a line about the call that failed. N is the call
 *      that fails, counted from 1; 0: none does. With ERRNO 28 (ENOSPC) only calls that may need space count.
 * Only files count: not pipes, terminals, standard error, /proc, /sys, /dev or what the system installed. A close that
 * fails has closed the file, as in Linux.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

typedef struct counter {
    _Atomic uint64_t calls;
    char             failed[1024]; /* "write /tmp/x" */
} counter;

static counter *shared;
static uint64_t wanted;
static int      reason;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("STEADY_FAULT");
    char        path[2048];
    if (text == NULL || sscanf(text, "%2047[^:]:%lu:%d", path, &wanted, &reason) != 3)
        return;
    const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    void *at = (void *)syscall(SYS_mmap, NULL, sizeof(counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)syscall(SYS_close, fd);
    shared = at != MAP_FAILED ? at : NULL;
}

static bool is_of_user(const char *path)
{
    static const char *const others[] = {
        "/proc", "/sys", "/dev", "/usr", "/lib", "/etc", "pipe:", "socket:", "anon_"
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(path, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

/* True: this call is the one that fails; errno is set. */
static bool fails(const char *call, const char *path, bool needs_space)
{
    if (shared == NULL || !is_of_user(path) || (reason == ENOSPC && !needs_space))
        return false;
    if (atomic_fetch_add(&shared->calls, 1) + 1 != wanted)
        return false;
    (void)snprintf(shared->failed, sizeof shared->failed, "%s %s", call, path);
    errno = reason;
    return true;
}

static bool fails_on(const char *call, int fd, bool needs_space)
{
    char link[64], path[2048];
    if (shared == NULL || fd < 0 || fd == STDERR_FILENO)
        return false;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const long n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0 && fails(call, path, needs_space);
}

/* ---- names ---- */

static int open_at(int folder, const char *path, int flags, va_list more)
{
    const unsigned mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
    if (fails((flags & (O_CREAT | __O_TMPFILE)) != 0 ? "create" : "open", path, (flags & (O_CREAT | __O_TMPFILE)) != 0))
        return -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define OPEN(name, folder, ...)                                                                                        \
    int name(__VA_ARGS__, ...)                                                                                         \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        const int fd = open_at(folder, path, flags, more);                                                             \
        va_end(more);                                                                                                  \
        return fd;                                                                                                     \
    }
OPEN(open, AT_FDCWD, const char *path, int flags)
OPEN(open64, AT_FDCWD, const char *path, int flags)
OPEN(openat, folder, int folder, const char *path, int flags)
OPEN(openat64, folder, int folder, const char *path, int flags)

int mkdir(const char *path, mode_t mode)
{
    return fails("mkdir", path, true) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int rename(const char *from, const char *to)
{
    return fails("rename", to, true) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    return fails("renameat2", to, true) ? -1 : (int)syscall(SYS_renameat2, a, from, b, to, flags);
}

int link(const char *from, const char *to)
{
    return fails("link", to, true) ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    return fails("linkat", to, true) ? -1 : (int)syscall(SYS_linkat, a, from, b, to, flags);
}

/* ---- descriptors ---- */

int close(int fd)
{
    const bool bad = fails_on("close", fd, true);
    const int  rc = (int)syscall(SYS_close, fd);
    if (bad)
        errno = reason;
    return bad ? -1 : rc;
}

ssize_t read(int fd, void *to, size_t len) { return fails_on("read", fd, false) ? -1 : syscall(SYS_read, fd, to, len); }

ssize_t pread(int fd, void *to, size_t len, off_t at)
{
    return fails_on("pread", fd, false) ? -1 : syscall(SYS_pread64, fd, to, len, at);
}
ssize_t pread64(int fd, void *to, size_t len, off_t at) { return pread(fd, to, len, at); }

ssize_t readv(int fd, const struct iovec *v, int n)
{
    return fails_on("readv", fd, false) ? -1 : syscall(SYS_readv, fd, v, n);
}

ssize_t write(int fd, const void *from, size_t len)
{
    return fails_on("write", fd, true) ? -1 : syscall(SYS_write, fd, from, len);
}

ssize_t pwrite(int fd, const void *from, size_t len, off_t at)
{
    return fails_on("pwrite", fd, true) ? -1 : syscall(SYS_pwrite64, fd, from, len, at);
}
ssize_t pwrite64(int fd, const void *from, size_t len, off_t at) { return pwrite(fd, from, len, at); }

ssize_t writev(int fd, const struct iovec *v, int n)
{
    return fails_on("writev", fd, true) ? -1 : syscall(SYS_writev, fd, v, n);
}

ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
    return fails_on("pwritev", fd, true) ? -1 : syscall(SYS_pwritev, fd, v, n, at, 0);
}
ssize_t pwritev64(int fd, const struct iovec *v, int n, off_t at) { return pwritev(fd, v, n, at); }

int fsync(int fd) { return fails_on("fsync", fd, true) ? -1 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return fails_on("fdatasync", fd, true) ? -1 : (int)syscall(SYS_fdatasync, fd); }

int ftruncate(int fd, off_t len) { return fails_on("ftruncate", fd, true) ? -1 : (int)syscall(SYS_ftruncate, fd, len); }
int ftruncate64(int fd, off_t len) { return ftruncate(fd, len); }

void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
    if (fails_on("mmap", fd, false))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, len, protection, flags, fd, offset);
}
void *mmap64(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
    return mmap(at, len, protection, flags, fd, offset);
}
