/* whole.c - temporary file, sync, rename (whole.h). */
#include "base/whole.h"
#include "base/own.h"
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_LINKS 40u /* same limit as in the kernel */

_Static_assert(HDX_PATH_ROOM >= PATH_MAX, "realpath needs the room");

/*
 * Replaces a path by the target of the link with that name. Returns 1 if it was a link, 0 if not, or a negative errno.
 */
static int follow(char path[HDX_PATH_ROOM])
{
    char          link[HDX_PATH_ROOM];
    const ssize_t n = readlink(path, link, sizeof link - 1);
    if (n < 0)
        return 0;
    const char  *slash = link[0] == '/' ? NULL : strrchr(path, '/');
    const size_t folder = slash == NULL ? 0 : (size_t)(slash + 1 - path);
    if (folder + (size_t)n >= HDX_PATH_ROOM)
        return -ENAMETOOLONG;
    memcpy(path + folder, link, (size_t)n);
    path[folder + (size_t)n] = '\0';
    return 1;
}

int hdx_whole_target(const char *path, char out[HDX_PATH_ROOM])
{
    struct stat there;
    int         more = 1;
    if (realpath(path, out) != NULL)
        return 0;
    if (errno != ENOENT || stat(path, &there) == 0) /* a deleted file that is still open has no path */
        return -errno;
    if ((size_t)snprintf(out, HDX_PATH_ROOM, "%s", path) >= HDX_PATH_ROOM)
        return -ENAMETOOLONG;
    for (unsigned i = 0; i < MOST_LINKS && more > 0; i++)
        more = follow(out);
    return more > 0 ? -ELOOP : more;
}

int hdx_whole_descriptor(const char *path)
{
    static const char *const folders[] = { "/proc/self/fd/", "/dev/fd/" };
    char                     at[HDX_PATH_ROOM];
    if ((size_t)snprintf(at, sizeof at, "%s", path) >= sizeof at)
        return -1;
    for (unsigned i = 0; i < MOST_LINKS; i++) {
        for (unsigned k = 0; k < 2; k++) {
            const size_t len = strlen(folders[k]);
            if (strncmp(at, folders[k], len) == 0)
                return at[len] >= '0' && at[len] <= '9' ? (int)strtol(at + len, NULL, 10) : -1;
        }
        if (follow(at) <= 0)
            break;
    }
    return -1;
}

int hdx_whole_begin(hdx_whole_file *w, hdx_io *io, const char *path, const hdx_access *access)
{
    struct stat there;
    hdx_access  was;
    *w = (hdx_whole_file){ .io = io, .fd = -1, .access = *access };
    if ((size_t)snprintf(w->final, sizeof w->final, "%s", path) >= sizeof w->final)
        return -ENAMETOOLONG;
    if (lstat(w->final, &there) == 0) {
        if (!S_ISREG(there.st_mode))
            return -ENOTSUP;
        hdx_access_of(w->final, &was);
        hdx_access_narrow(&w->access, &was);
    }
    if ((w->fd = hdx_own_create(w->final, 0600, w->part, sizeof w->part)) >= 0)
        return 0;
    w->part[0] = '\0'; /* not ours to remove */
    return w->fd;
}

int hdx_whole_commit(hdx_whole_file *w)
{
    char      folder[HDX_PATH_ROOM];
    const int synced = w->io->sync(w->io, w->fd), closed = w->io->close(w->io, w->fd);
    int       rc = synced < 0 ? synced : closed;
    w->fd = -1; /* invalid even if close fails */
    if (rc < 0)
        return rc;
    w->io->share(w->io, w->part, &w->access);
    if ((rc = w->io->rename(w->io, w->part, w->final)) < 0)
        return rc;
    w->part[0] = '\0';
    if (hdx_path_folder(w->final, folder, sizeof folder))
        (void)w->io->sync_folder(w->io, folder); /* the file is complete in any case */
    return 0;
}

void hdx_whole_drop(hdx_whole_file *w)
{
    if (w->io == NULL)
        return;
    if (w->fd >= 0)
        (void)w->io->close(w->io, w->fd);
    if (w->part[0] != '\0')
        (void)w->io->remove(w->io, w->part);
    w->fd = -1;
    w->part[0] = '\0';
}
