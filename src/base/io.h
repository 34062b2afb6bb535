/*
 * io.h - every file call of the project goes through an hdx_io, so that a test can make the n-th one fail.
 *
 * Calls return a value >= 0, or a negative errno. hdx_io_system is the real file system. It handles EINTR and short
 * counts: read_at returns fewer bytes only at the end of the file, write writes all bytes or fails.
 */
#ifndef HDX_BASE_IO_H
#define HDX_BASE_IO_H

#include "base/access.h"

#include <heapdex/error.h>
#include <sys/stat.h>

#define HDX_LOCK_HERE 1 /* result of `lock`: processes on other hosts are not excluded */

typedef struct hdx_io hdx_io;
struct hdx_io {
    int (*open)(hdx_io *io, const char *path); /* for reading; -EINVAL: neither a regular file nor a folder */
    /* a new private file, for reading and writing; replaces a file of this name */
    int (*create)(hdx_io *io, const char *path);
    int (*change)(hdx_io *io, const char *path); /* an existing file, for reading and writing */
    int64_t (*read_at)(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset);
    int (*write)(hdx_io *io, int fd, const void *bytes, uint64_t len); /* appends to what was written */
    int (*write_at)(hdx_io *io, int fd, const void *bytes, uint64_t len, uint64_t offset);
    int (*sync)(hdx_io *io, int fd);
    void (*push)(hdx_io *io, int fd); /* starts writing to disk, so that a later sync is short */
    int (*close)(hdx_io *io, int fd);
    int (*stat)(hdx_io *io, const char *path, struct stat *out); /* follows links */
    int (*rename)(hdx_io *io, const char *from, const char *to);
    int (*exchange)(hdx_io *io, const char *a, const char *b);           /* swaps two names atomically */
    int (*remove)(hdx_io *io, const char *path);                         /* a file or an empty folder */
    int (*mkdir)(hdx_io *io, const char *path);                          /* private to its owner */
    void (*share)(hdx_io *io, const char *path, const hdx_access *like); /* hdx_access_give */
    int (*space)(hdx_io *io, const char *path,
                 uint64_t *bytes); /* bytes that can still be written there; UINT64_MAX: unknown */
    /* flock without waiting. 0: locked; HDX_LOCK_HERE: locked, but perhaps not for other hosts; -EWOULDBLOCK */
    int (*lock)(hdx_io *io, int fd);
    int (*sync_folder)(hdx_io *io, const char *path);
    int (*map)(hdx_io *io, int fd, uint64_t len, const uint8_t **at); /* read-only; len > 0 */
    void (*unmap)(hdx_io *io, const uint8_t *at, uint64_t len);
    void (*forget)(hdx_io *io, const uint8_t *at, uint64_t len); /* the pages of a map need not stay resident */
    /*
     * Finds the plain files PATH.p0, PATH.p1 ... without following links. Writes the lowest numbers in ascending order,
     * at most `room`, and returns the number of files. NULL: such files are ignored.
     */
    int (*pieces)(hdx_io *io, const char *path, uint32_t *numbers, unsigned room);
};

/* Returns the real file system. It is stateless; any thread may use it. */
hdx_io *hdx_io_system(void);

/* Syncs the plain files of a folder, then the folder. */
int hdx_io_sync_files(hdx_io *io, const char *path);

/* Calls `share` for the plain files of a folder, then for the folder. */
int hdx_io_share_files(hdx_io *io, const char *path, const hdx_access *like);

#endif
