/*
 * joined.h - a dump as it lies on disk: one file, or a file and the pieces that a JVM did not merge into it (joined.c).
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

#define HDX_PIECES_MOST 256u /* that are read; a JVM has one for each of its threads that write the dump */

typedef struct hdx_joined_part {
    uint64_t at;   /* position of its first byte that counts */
    uint64_t from; /* bytes at its beginning that do not count: the file before it has them already */
    uint32_t number;
    int      fd;
    uint64_t length_at; /* 0, or the position of a length that reaches into the part after this one ... */
    uint8_t  length[4]; /* ... and what is read there instead, so that the record ends where the part ends */
} hdx_joined_part;

typedef struct hdx_joined {
    hdx_io          *io;
    uint64_t         size;    /* of all parts together */
    struct timespec  changed; /* when a piece was changed last; 0 without pieces */
    hdx_joined_part  file;    /* the only part of nearly every dump */
    hdx_joined_part *pieces;
    unsigned         count;   /* of pieces */
    unsigned         missing; /* numbers before the last piece that have none */
    unsigned         left;    /* pieces that are not read, because there are too many */
} hdx_joined;

/*
 * Takes over fd, a regular file of `size` bytes that is open for reading, and opens the pieces beside it. After an
 * error, too, *j is to be closed.
 */
hdx_code hdx_joined_of(hdx_io *io, const char *path, int fd, uint64_t size, hdx_joined *j, hdx_error *err);
void     hdx_joined_close(hdx_joined *j);
/* Fewer bytes only at the end, or where a part was truncated since; a negative errno. Thread-safe. */
int64_t hdx_joined_read(const hdx_joined *j, void *to, uint64_t len, uint64_t offset);
/* The stat of the file becomes that of all parts: their size, and the time of the one that was changed last. */
void hdx_joined_touch(const hdx_joined *j, struct stat *file);
/* As io->stat and hdx_joined_touch. Costs a look at the end of the file. */
int hdx_joined_stat(hdx_io *io, const char *path, struct stat *out);
/* A sentence about the pieces that are read. False: there are none. */
bool hdx_joined_text(const hdx_joined *j, char *to, size_t size);

#endif
