/* own.c - names that users do not give to files (own.h). */
#include "base/own.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIES     16u
#define NAME_MOST 200u            /* longest name that is included completely; file systems allow 255 bytes in all */
#define LINKS     "/proc/self/fd" /* gives a name to a file without one */
#define NAME_HEAD 120u            /* bytes of a longer name that are included */

bool hdx_own_is_name(const char *path)
{
    return strncmp(hdx_path_name(path), HDX_OWN_PREFIX, sizeof HDX_OWN_PREFIX - 1) == 0;
}

bool hdx_own_is_temporary(const char *path)
{
    const char *rest = hdx_path_name(path) + sizeof HDX_OWN_PREFIX - 1;
    return hdx_own_is_name(path) && strspn(rest, "0123456789abcdef") == 16 && rest[16] == '\0';
}

/* Names need not be secret, because existing files are never opened: a clock is enough if the kernel has no entropy. */
static uint64_t any_number(void)
{
    uint64_t        n;
    struct timespec now;
    if (getrandom(&n, sizeof n, GRND_NONBLOCK) == (ssize_t)sizeof n)
        return n;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return hdx_mix64((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 48);
}

bool hdx_own_name(const char *path, char *out, size_t size)
{
    const int n = snprintf(out, size, "%.*s" HDX_OWN_PREFIX "%016llx", (int)(hdx_path_name(path) - path), path,
                           (unsigned long long)any_number());
    return n > 0 && (size_t)n < size;
}

int hdx_own_create(const char *path, unsigned mode, char *out, size_t size)
{
    for (unsigned i = 0; i < TRIES; i++) {
        if (!hdx_own_name(path, out, size))
            return -ENAMETOOLONG;
        const int fd = open(out, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd >= 0 ? fd : -errno;
    }
    return -EEXIST;
}

int hdx_own_create_unnamed(const char *path, unsigned mode, char *out, size_t size)
{
    char       folder[4096];
    const bool linkable = access(LINKS, X_OK) == 0;
    const int  fd = linkable && hdx_path_folder(path, folder, sizeof folder)
                        ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode)
                        : -1;
    out[0] = '\0';
    return fd >= 0 ? fd : hdx_own_create(path, mode, out, size);
}

int hdx_own_link(int fd, const char *path, char *out, size_t size)
{
    char name[64];
    (void)snprintf(name, sizeof name, LINKS "/%d", fd);
    for (unsigned i = 0; i < TRIES && out[0] == '\0'; i++) {
        if (!hdx_own_name(path, out, size))
            return -ENAMETOOLONG;
        if (linkat(AT_FDCWD, name, AT_FDCWD, out, AT_SYMLINK_FOLLOW) == 0)
            return 0;
        out[0] = '\0';
        if (errno != EEXIST)
            return -errno;
    }
    return out[0] != '\0' ? 0 : -EEXIST;
}

bool hdx_own_companion_path(const char *path, const char *what, char *out, size_t size)
{
    const char              *name = hdx_path_name(path);
    const size_t             len = strlen(name);
    const int                folder = (int)(name - path);
    const unsigned long long hash = hdx_hash_bytes(0, name, len);
    const int n = len <= NAME_MOST ? snprintf(out, size, "%.*s" HDX_OWN_PREFIX "%s-%s", folder, path, what, name)
                                   : snprintf(out, size, "%.*s" HDX_OWN_PREFIX "%s-%.*s-%016llx", folder, path, what,
                                              (int)NAME_HEAD, name, hash);
    return n > 0 && (size_t)n < size;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool stat_folder(const char *path, struct stat *out)
{
    char folder[4096];
    return hdx_path_folder(path, folder, sizeof folder) && stat(folder, out) == 0;
}

bool hdx_same_file(const char *a, const char *b)
{
    struct stat x, y;
    const bool  first = stat(a, &x) == 0, second = stat(b, &y) == 0;
    if (first || second)
        return first && second && same_inode(&x, &y);
    return strcmp(hdx_path_name(a), hdx_path_name(b)) == 0 && stat_folder(a, &x) && stat_folder(b, &y) &&
           same_inode(&x, &y);
}
