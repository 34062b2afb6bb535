/*
 * sink.c - the file that is written: under another name first, synced, then renamed. What stood there stays until that
 * moment.
 */
#include "strip/inside.h"

#include "base/own.h"

#include <stdio.h>
#include <unistd.h>

#define ROOM   (256u << 10)
#define PUSHED (8u << 20)

static hdx_code failed(const sink *s, int rc, hdx_error *err)
{
    return hdx_fail(err, HDX_IO, s->path, s->written, "cannot write: %s", strerror(-rc));
}

static hdx_code packed(void *context, const void *bytes, size_t len, hdx_error *err)
{
    sink     *s = context;
    const int rc = s->io->write(s->io, s->fd, bytes, len);
    if (rc < 0)
        return failed(s, rc, err);
    if ((s->written + len) / PUSHED != s->written / PUSHED)
        s->io->push(s->io, s->fd); /* a sync cannot be interrupted: little is left for it */
    s->written += len;
    return HDX_OK;
}

/* The name of its folder. */
static void folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    (void)snprintf(folder, size, "%.*s", slash == NULL || slash == path ? 1 : (int)(slash - path),
                   slash == NULL ? "." : path);
}

hdx_code hdx_strip_sink_room(hdx_io *io, const char *path, uint64_t bytes, hdx_error *err)
{
    char     folder[4096];
    uint64_t left = 0;
    folder_of(path, folder, sizeof folder);
    if (io->space(io, folder, &left) < 0 || bytes <= left)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_LIMIT, path, HDX_NOWHERE, "takes %.1f MB on disk; %.1f MB are free there",
                             (double)bytes / 1048576.0, (double)left / 1048576.0),
                    "make room on that disk, name a file on another one, or one that ends in .gz");
}

static void say_written(const sink *s, const char *temporary)
{
    if (s->options->writing != NULL)
        s->options->writing(s->options->writing_context, temporary);
}

hdx_code hdx_strip_sink_open(sink *s, hdx_io *io, const hdx_strip_options *options, int packing, hdx_mem *mem,
                             hdx_error *err)
{
    const char *path = options->output;
    *s = (sink){ .io = io, .mem = mem, .options = options, .fd = -1 };
    if ((size_t)snprintf(s->path, sizeof s->path, "%s", path) >= sizeof s->path)
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "path too long");
    if (!hdx_own_name(path, s->part, sizeof s->part))
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "path too long");
    hdx_access_of(options->dump, &s->access);
    if ((s->buffer = hdx_mem_get(mem, ROOM)) == NULL)
        return hdx_no_memory(err, "write buffer", ROOM);
    say_written(s, s->part);
    if ((s->fd = io->create(io, s->part)) < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot create: %s", strerror(-s->fd));
    return packing == HDX_PLAIN ? HDX_OK : hdx_packer_open((hdx_compression)packing, mem, packed, s, &s->packer, err);
}

static hdx_code flush(sink *s, bool last, hdx_error *err)
{
    const uint64_t n = s->filled;
    s->filled = 0;
    if (s->packer != NULL)
        return hdx_packer_put(s->packer, s->buffer, (size_t)n, last, err);
    return n > 0 ? packed(s, s->buffer, (size_t)n, err) : HDX_OK;
}

hdx_code hdx_strip_sink_put(sink *s, const void *bytes, uint64_t n, hdx_error *err)
{
    const uint8_t *at = bytes;
    s->bytes += n;
    while (n > 0) {
        const uint64_t part = n < ROOM - s->filled ? n : ROOM - s->filled;
        memcpy(s->buffer + s->filled, at, (size_t)part);
        s->filled += part;
        at += part;
        n -= part;
        hdx_code code = s->filled == ROOM ? flush(s, false, err) : HDX_OK;
        if (code != HDX_OK)
            return code;
    }
    return HDX_OK;
}

hdx_code hdx_strip_sink_zeros(sink *s, uint64_t n, hdx_error *err)
{
    s->bytes += n;
    while (n > 0) {
        const uint64_t part = n < ROOM - s->filled ? n : ROOM - s->filled;
        memset(s->buffer + s->filled, 0, (size_t)part);
        s->filled += part;
        n -= part;
        hdx_code code = s->filled == ROOM ? flush(s, false, err) : HDX_OK;
        if (code != HDX_OK)
            return code;
    }
    return HDX_OK;
}

hdx_code hdx_strip_sink_copy(sink *s, reader *r, hdx_pos from, uint64_t n, hdx_error *err)
{
    while (n > 0) {
        const uint8_t *at;
        size_t         have;
        hdx_code       code = hdx_strip_reader_at(r, from, n < 4096 ? n : 4096, &at, &have, err);
        if (code != HDX_OK)
            return code;
        if (have == 0)
            return hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(r->source), from,
                            "%llu bytes more were stated, the file ends", (unsigned long long)n);
        const uint64_t part = have < n ? have : n;
        if ((code = hdx_strip_sink_put(s, at, part, err)) != HDX_OK)
            return code;
        from += part;
        n -= part;
    }
    return HDX_OK;
}

hdx_code hdx_strip_sink_finish(sink *s, hdx_error *err)
{
    hdx_code code = flush(s, true, err);
    int      rc;
    if (code == HDX_OK && (rc = s->io->sync(s->io, s->fd)) < 0)
        code = failed(s, rc, err);
    return code;
}

hdx_code hdx_strip_sink_commit(sink *s, hdx_error *err)
{
    char folder[4096];
    int  rc = s->io->close(s->io, s->fd);
    s->fd = -1; /* given up even when close fails */
    s->io->share(s->io, s->part, &s->access);
    if (rc < 0 || (rc = s->io->rename(s->io, s->part, s->path)) < 0)
        return hdx_fail(err, HDX_IO, s->path, HDX_NOWHERE, "cannot put in place: %s", strerror(-rc));
    s->part[0] = '\0';
    say_written(s, NULL);
    folder_of(s->path, folder, sizeof folder);
    (void)s->io->sync_folder(s->io, folder);
    return HDX_OK;
}

void hdx_strip_sink_drop(sink *s)
{
    hdx_packer_close(s->packer);
    if (s->fd >= 0)
        (void)s->io->close(s->io, s->fd);
    if (s->io != NULL && s->buffer != NULL && s->part[0] != '\0')
        (void)s->io->remove(s->io, s->part);
    if (s->options != NULL)
        say_written(s, NULL);
    if (s->buffer != NULL)
        hdx_mem_put(s->mem, s->buffer, ROOM);
    *s = (sink){ .fd = -1 };
}
