/*
 * joined.h - a dump on disk: one file, or a file and the pieces that a JVM did not merge into it (joined.c).
 *
 *     hdx_joined j;
 *     code = hdx_joined_of(io, "oom.hprof", fd, size, &j, err);     oom.hprof, oom.hprof.p0, oom.hprof.p1 ...
 *     int64_t got = hdx_joined_read(&j, to, len, 0);                bytes, or a negative errno
 *     hdx_joined_close(&j);
 */
#ifndef HDX_SOURCE_JOINED_H
#define HDX_SOURCE_JOINED_H

#include "base/io.h"

#include <stdbool.h>

#define HDX_PIECES_MOST 256u /* most pieces that are read; a JVM writes one for each of its dump threads */

typedef struct hdx_joined_part {
    uint64_t at;   /* position of its first byte that is used */
    uint64_t from; /* number of bytes at its beginning that are skipped, because the file before it contains them */
    uint32_t number;
    int      fd;
    uint64_t length_at; /* 0, or the position of a length that extends into the next part ... */
    uint8_t  length[4]; /* ... and the bytes that replace it, so that the record ends at the end of the part */
} hdx_joined_part;

typedef struct hdx_joined {
    hdx_io          *io;
    uint64_t         size;    /* of all parts together */
    struct timespec  changed; /* last modification of a piece; 0 without pieces */
    hdx_joined_part  file;    /* the only part of nearly every dump */
    hdx_joined_part *pieces;
    unsigned         count;   /* of pieces */
    unsigned         missing; /* numbers below that of the last piece without a file */
    unsigned         left;    /* pieces that are not read, because there are too many */
} hdx_joined;

/*
 * Takes ownership of fd, a regular file of `size` bytes that is open for reading, and opens the pieces next to it. The
 * caller closes *j, on failure, too.
 */
hdx_code hdx_joined_of(hdx_io *io, const char *path, int fd, uint64_t size, hdx_joined *j, hdx_error *err);
void     hdx_joined_close(hdx_joined *j);
/*
 * Returns the number of bytes read, fewer only at the end or if a part was truncated since; or a negative errno.
 * Thread-safe.
 */
int64_t hdx_joined_read(const hdx_joined *j, void *to, uint64_t len, uint64_t offset);
/* Changes the stat of the file to that of all parts: their size, and the time of the last modification. */
void hdx_joined_touch(const hdx_joined *j, struct stat *file);
/* Same as io->stat and hdx_joined_touch. Reads the end of the file. */
int hdx_joined_stat(hdx_io *io, const char *path, struct stat *out);
/* Writes a sentence about the pieces that are read. False: there are none. */
bool hdx_joined_text(const hdx_joined *j, char *to, size_t size);

#endif
