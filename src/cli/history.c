/*
 * history.c - the file of the shell's history (history.h).
 *
 * libedit itself would open a file of any type, block on a pipe, read a file of any size and ignore a full disk.
 * Therefore heapdex opens the file, copies its newest lines into memory, and lets libedit decode that copy.
 */
#include "cli/history.h"

#ifdef HDX_EDIT
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEAD       "_HiStOrY_V2_\n" /* first line of a history file of libedit 2.9 and later */
#define HEAD_BYTES (sizeof HEAD - 1)
#define LOCK_TRIES 100u /* within a second: another shell only writes a small file */

History *cli_history_new(void)
{
    HistEvent event;
    History  *h = history_init();
    if (h != NULL) {
        (void)history(h, &event, H_SETSIZE, CLI_HISTORY_LINES);
        (void)history(h, &event, H_SETUNIQUE, 1);
    }
    return h;
}

/* Returns false if reading fails or the file is too short. */
static bool read_at(int fd, char *to, uint64_t len, uint64_t at)
{
    for (uint64_t got = 0; got < len;) {
        const ssize_t n = pread(fd, to + got, len - got, (off_t)(at + got));
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        got += n > 0 ? (uint64_t)n : 0;
    }
    return true;
}

static bool write_all(int fd, const char *from, uint64_t len)
{
    for (uint64_t put = 0; put < len;) {
        const ssize_t n = write(fd, from + put, len - put);
        if (n < 0 && errno != EINTR)
            return false;
        put += n > 0 ? (uint64_t)n : 0;
    }
    return true;
}

#define LINE_BYTES 1024u /* libedit lacks room for some longer lines */

/* Removes lines that are not printable ASCII, which libedit never writes and does not expect. Returns the new end. */
static char *keep_printable(char *from, const char *end)
{
    char *to = from;
    while (from < end) {
        const char  *stop = memchr(from, '\n', (size_t)(end - from));
        const size_t len = (size_t)((stop != NULL ? stop + 1 : end) - from);
        bool         printable = stop != NULL && len < LINE_BYTES;
        for (size_t i = 0; i + 1 < len && printable; i++)
            printable = from[i] >= ' ' && from[i] <= '~';
        if (printable) {
            memmove(to, from, len);
            to += len;
        }
        from += len;
    }
    return to;
}

/* Returns a file in memory with the head and the newest lines; -1: failed. */
static int copy_of(int fd, uint64_t size)
{
    const uint64_t len = size < CLI_HISTORY_BYTES ? size : CLI_HISTORY_BYTES;
    char          *bytes = malloc(len), *from = bytes;
    int            copy = -1;
    if (bytes != NULL && read_at(fd, bytes, len, size - len)) {
        if (len < size) { /* the copy starts within a line */
            from = memchr(bytes, '\n', len);
            from = from != NULL ? from + 1 : bytes + len;
        } else {
            from += HEAD_BYTES;
        }
        const char *end = keep_printable(from, bytes + len);
        copy = memfd_create("history", MFD_CLOEXEC);
        if (copy >= 0 && (!write_all(copy, HEAD, HEAD_BYTES) || !write_all(copy, from, (uint64_t)(end - from)))) {
            (void)close(copy);
            copy = -1;
        }
    }
    free(bytes);
    return copy;
}

/* Adds the lines of the file. Returns false if it is not a history. *st: its status; st_nlink is 0 if it is missing. */
static bool load(History *h, const char *path, struct stat *st)
{
    char       head[HEAD_BYTES], name[64];
    HistEvent  event;
    const int  fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const bool missing = fd < 0 && errno == ENOENT;
    *st = (struct stat){ .st_nlink = 0 };
    if (fd < 0)
        return missing;
    bool usable = fstat(fd, st) == 0 && S_ISREG(st->st_mode);
    if (usable && st->st_size > 0) {
        usable = read_at(fd, head, HEAD_BYTES, 0) && memcmp(head, HEAD, HEAD_BYTES) == 0;
        const int copy = usable ? copy_of(fd, (uint64_t)st->st_size) : -1;
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", copy);
        usable = copy >= 0 && history(h, &event, H_LOAD, name) >= 0;
        if (copy >= 0)
            (void)close(copy);
    }
    (void)close(fd);
    return usable;
}

void cli_history_load(History *h, const char *path)
{
    struct stat st;
    (void)load(h, path, &st);
}

/* Locks the folder of the file, which leaves no lock file; -1: failed. Other shells hold the lock only briefly. */
static int lock_folder(const char *path)
{
    const struct timespec nap = { .tv_nsec = 10000000 };
    char                  folder[PATH_MAX];
    const char           *slash = strrchr(path, '/');
    if (slash == NULL || (size_t)(slash - path) >= sizeof folder)
        return -1;
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + (slash == path), path);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; i++)
        (void)nanosleep(&nap, NULL);
    return fd;
}

/* Replaces the file only after the new one is on disk: with a full disk the old history remains. */
static void replace(History *h, const char *path)
{
    char      part[PATH_MAX + 32];
    HistEvent event;
    const int fd = hdx_own_create(path, 0600, part, sizeof part);
    FILE     *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd < 0)
        return;
    bool good = file != NULL && history(h, &event, H_SAVE_FP, file) >= 0 && fflush(file) == 0 && fsync(fd) == 0;
    good = (file != NULL ? fclose(file) : close(fd)) == 0 && good;
    if (!good || rename(part, path) != 0)
        (void)unlink(part);
}

void cli_history_add(History *lines, const char *path)
{
    char        real[PATH_MAX];
    struct stat st;
    HistEvent   line, added;
    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
        (void)snprintf(real, sizeof real, "%s", path);
    else if (realpath(path, real) == NULL)
        return;
    History  *all = history(lines, &line, H_LAST) >= 0 ? cli_history_new() : NULL;
    const int lock = all != NULL ? lock_folder(real) : -1;
    if (all != NULL && load(all, real, &st) &&
        (st.st_nlink == 0 || (st.st_uid == geteuid() && (st.st_mode & S_IWUSR) != 0))) {
        for (int more = history(lines, &line, H_LAST); more >= 0; more = history(lines, &line, H_PREV))
            (void)history(all, &added, H_ENTER, line.str);
        replace(all, real);
    }
    if (lock >= 0)
        (void)close(lock);
    if (all != NULL)
        history_end(all);
}
#endif
