/*
 * whole.h - a file that exists complete or not at all: it is written under a temporary name (own.h), synced and
 * renamed.
 *
 *     hdx_whole_file w;
 *     int rc = hdx_whole_begin(&w, io, "out/report.csv", &access);
 *     if (rc >= 0 && (rc = io->write(io, w.fd, bytes, len)) >= 0)
 *         rc = hdx_whole_commit(&w);
 *     hdx_whole_drop(&w); // in any case
 */
#ifndef HDX_BASE_WHOLE_H
#define HDX_BASE_WHOLE_H

#include "base/io.h"

#define HDX_PATH_ROOM 4096u

typedef struct hdx_whole_file {
    hdx_io    *io;                        /* NULL: not begun */
    int        fd;                        /* of the temporary file, for writing; -1: closed */
    hdx_access access;                    /* of the complete file */
    char       final[HDX_PATH_ROOM];      /* the file that is created or replaced */
    char       part[HDX_PATH_ROOM + 32u]; /* the temporary name; "" after the rename */
} hdx_whole_file;

/*
 * Creates the temporary file for `path`. The complete file gets `access`, but never more than the file that it replaces
 * allows. Returns 0, -ENOTSUP if `path` is a symbolic link or anything else but a regular file, or another negative
 * errno. A path that a user gives is followed first: hdx_whole_target.
 */
int hdx_whole_begin(hdx_whole_file *w, hdx_io *io, const char *path, const hdx_access *access);
/* Syncs and closes the file, renames it, and syncs its folder. Returns 0 or a negative errno. */
int hdx_whole_commit(hdx_whole_file *w);
/* Removes what is not complete. REQUIRES: hdx_whole_begin was called, even if it failed, or all is zero. May be called
 * twice. */
void hdx_whole_drop(hdx_whole_file *w);

/*
 * Follows the symbolic links of `path` to the file that writing to it replaces or creates: the target of a dangling
 * link need not exist. Returns 0 or a negative errno.
 */
int hdx_whole_target(const char *path, char out[HDX_PATH_ROOM]);
/*
 * Returns N if `path` is a name of the open file N of this process, like /dev/stdout and /dev/fd/N, or a link to one;
 * otherwise -1. Such a file is written in place, because it may contain earlier output.
 */
int hdx_whole_descriptor(const char *path);

#endif
