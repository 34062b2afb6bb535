/*
 * content.c - a hash of all bytes of a file, to detect whether the file has changed.
 *
 * In:  a file. Out: its size, a hash of 64 bits and a CRC32C over all bytes, as text; device and inode of the file.
 * It protects from accidents, not from somebody who intentionally creates another file with the same hash.
 * Cost: the file is read once, in pieces of 1 MiB.
 */
#include "batch/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE (1u << 20)

bool hdx_batch_is_file(const batch_file *f, const struct stat *st)
{
    return f->known && S_ISREG(st->st_mode) && f->device == (uint64_t)st->st_dev && f->inode == (uint64_t)st->st_ino &&
           f->size == (uint64_t)st->st_size && f->mtime_ns == hdx_batch_mtime_ns(st);
}

uint64_t hdx_batch_mtime_ns(const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

static batch_file file_of(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return (batch_file){ .known = false };
    return (batch_file){ true, (uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size,
                         hdx_batch_mtime_ns(&st) };
}

hdx_code hdx_batch_content(const char *path, const hdx_progress *progress, char out[BATCH_CONTENT], batch_file *file,
                           hdx_error *err)
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
    *file = file_of(fd);
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
    struct stat st;
    file->known = code == HDX_OK && fstat(fd, &st) == 0 && hdx_batch_is_file(file, &st) && file->size == at;
    if (fd >= 0)
        (void)close(fd);
    free(piece);
    (void)snprintf(out, BATCH_CONTENT, "%016llx%016llx%08x", (unsigned long long)at, (unsigned long long)hash, crc);
    return code;
}
