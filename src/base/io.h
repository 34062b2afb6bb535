/*
 * io.h - the file door. Every file call of the project goes through an hdx_io, so that a test can make the n-th one
 * fail.
 *
 * Calls return a value >= 0, or a negative errno. `hdx_io_system` is the real one; EINTR and short counts are dealt
 * with inside: read_at gives fewer bytes only at the end of the file, write gives all or an error.
 */
#ifndef HDX_BASE_IO_H
#define HDX_BASE_IO_H

#include "base/access.h"

#include <heapdex/error.h>
#include <sys/stat.h>

#define HDX_LOCK_HERE 1 /* other hosts that see the file are not excluded */

typedef struct hdx_io hdx_io;
struct hdx_io {
    int (*open)(hdx_io *io, const char *path);   /* for reading; -EINVAL: is neither a regular file nor a folder */
    int (*create)(hdx_io *io, const char *path); /* new, its owner's alone; what had the name goes; read and write */
    int (*change)(hdx_io *io, const char *path); /* one that is there, read and write */
    int64_t (*read_at)(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset);
    int (*write)(hdx_io *io, int fd, const void *bytes, uint64_t len); /* after what was written */
    int (*write_at)(hdx_io *io, int fd, const void *bytes, uint64_t len, uint64_t offset);
    int (*sync)(hdx_io *io, int fd);
    void (*push)(hdx_io *io, int fd); /* begins to write to disk, so that a later sync is short */
    int (*close)(hdx_io *io, int fd);
    int (*stat)(hdx_io *io, const char *path, struct stat *out); /* follows links */
    int (*rename)(hdx_io *io, const char *from, const char *to);
    int (*exchange)(hdx_io *io, const char *a, const char *b);           /* swaps two names in one step */
    int (*remove)(hdx_io *io, const char *path);                         /* a file or an empty folder */
    int (*mkdir)(hdx_io *io, const char *path);                          /* its owner's alone */
    void (*share)(hdx_io *io, const char *path, const hdx_access *like); /* hdx_access_give */
    int (*space)(hdx_io *io, const char *path,
                 uint64_t *bytes); /* that may still be written there; UINT64_MAX: it does not say */
    int (*lock)(
        hdx_io *io,
        int     fd); /* flock, at once: 0 held; HDX_LOCK_HERE held, but it may not reach other hosts; -EWOULDBLOCK */
    int (*sync_folder)(hdx_io *io, const char *path);
    int (*map)(hdx_io *io, int fd, uint64_t len, const uint8_t **at); /* read-only; len > 0 */
    void (*unmap)(hdx_io *io, const uint8_t *at, uint64_t len);
    void (*forget)(hdx_io *io, const uint8_t *at, uint64_t len); /* a map's pages need not be resident for now */
    /*
     * Of the plain files PATH.p0, PATH.p1 ... the lowest numbers, rising, links left out; how many files there are.
     * NULL: such files are not looked for.
     */
    int (*pieces)(hdx_io *io, const char *path, uint32_t *numbers, unsigned room);
};

/* The real file system; shared by everyone, stateless. */
hdx_io *hdx_io_system(void);

/* Syncs the plain files of a folder, and the folder. */
int hdx_io_sync_files(hdx_io *io, const char *path);

/* Shares the plain files of a folder, then the folder. */
int hdx_io_share_files(hdx_io *io, const char *path, const hdx_access *like);

#endif
