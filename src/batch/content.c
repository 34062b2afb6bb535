/*
 * content.c - a sum of every byte of a file, for telling whether it is what it was.
 *
 * In:  a file. Out: its size, a hash of 64 bits and a CRC32C over all bytes, as text.
 * It protects from accidents, not from somebody who makes another file with the same sum on purpose.
 * Cost: the file is read once, in pieces of 1 MiB.
 */
#include "batch/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE (1u << 20)

hdx_code hdx_batch_content(const char *path, const hdx_progress *progress, char out[BATCH_CONTENT], hdx_error *err)
{
    hdx_io   *io = hdx_io_system();
    uint8_t  *piece = malloc(PIECE);
    const int fd = piece != NULL ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    const int why = errno;
    uint64_t  at = 0, hash = 0;
    uint32_t  crc = 0;
    hdx_code  code = piece == NULL ? hdx_no_memory(err, "a sum of a file", PIECE)
                     : fd < 0      ? hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot be read: %s", strerror(why))
                                   : HDX_OK;
    for (int64_t got = 1; code == HDX_OK && got > 0; at += got > 0 ? (uint64_t)got : 0) {
        if (progress->cancelled != NULL && progress->cancelled(progress->context)) {
            code = hdx_tick_stop(err);
        } else if ((got = io->read_at(io, fd, piece, PIECE, at)) < 0) {
            code = hdx_fail(err, HDX_IO, path, at, "cannot be read: %s", strerror((int)-got));
        } else {
            hash = hdx_hash_bytes(hash, piece, (size_t)got);
            crc = hdx_crc32c(crc, piece, (size_t)got);
        }
    }
    if (fd >= 0)
        (void)close(fd);
    free(piece);
    (void)snprintf(out, BATCH_CONTENT, "%016llx%016llx%08x", (unsigned long long)at, (unsigned long long)hash, crc);
    return code;
}
