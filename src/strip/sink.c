/*
 * sink.c - the output file, written under a temporary name first (base/whole.h). The old file stays until the new one
 * is complete.
 */
#include "strip/inside.h"

#include "base/path.h"

#define ROOM   (256u << 10)
#define PUSHED (8u << 20)

static hdx_code failed(const sink *s, int rc, hdx_error *err)
{
    return hdx_fail(err, HDX_IO, s->options->output, s->written, "cannot write: %s", strerror(-rc));
}

static hdx_code packed(void *context, const void *bytes, size_t len, hdx_error *err)
{
    sink     *s = context;
    const int rc = s->io->write(s->io, s->whole.fd, bytes, len);
    if (rc < 0)
        return failed(s, rc, err);
    if ((s->written + len) / PUSHED != s->written / PUSHED)
        s->io->push(s->io, s->whole.fd); /* a sync cannot be interrupted, so little should be left for it */
    s->written += len;
    return HDX_OK;
}

hdx_code hdx_strip_sink_room(hdx_io *io, const char *path, uint64_t bytes, hdx_error *err)
{
    char     target[HDX_PATH_ROOM], folder[HDX_PATH_ROOM];
    uint64_t left = 0;
    if (!hdx_path_folder(hdx_whole_target(path, target) < 0 ? path : target, folder, sizeof folder) ||
        io->space(io, folder, &left) < 0 || bytes <= left)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_LIMIT, path, HDX_NOWHERE, "needs %.1f MB on disk; only %.1f MB are free",
                             (double)bytes / 1048576.0, (double)left / 1048576.0),
                    "free space on that disk, name a file on another disk, or a name that ends in .gz");
}

static void say_written(const sink *s, const char *temporary)
{
    if (s->options->writing != NULL)
        s->options->writing(s->options->writing_context, temporary);
}

hdx_code hdx_strip_sink_open(sink *s, hdx_io *io, const hdx_strip_options *options, int packing, hdx_mem *mem,
                             hdx_error *err)
{
    hdx_access access;
    char       target[HDX_PATH_ROOM];
    *s = (sink){ .io = io, .mem = mem, .options = options };
    if ((s->buffer = hdx_mem_get(mem, ROOM)) == NULL)
        return hdx_no_memory(err, "write buffer", ROOM);
    hdx_access_of(options->dump, &access);
    int rc = hdx_whole_target(options->output, target);
    if (rc < 0 || (rc = hdx_whole_begin(&s->whole, io, target, &access)) < 0)
        return hdx_fail(err, HDX_IO, options->output, HDX_NOWHERE, "cannot create: %s", strerror(-rc));
    say_written(s, s->whole.part);
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
            return hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(r->source), from, "the file ends %llu bytes too early",
                            (unsigned long long)n);
        const uint64_t part = have < n ? have : n;
        if ((code = hdx_strip_sink_put(s, at, part, err)) != HDX_OK)
            return code;
        from += part;
        n -= part;
    }
    return HDX_OK;
}

hdx_code hdx_strip_sink_finish(sink *s, hdx_error *err) { return flush(s, true, err); }

hdx_code hdx_strip_sink_commit(sink *s, hdx_error *err)
{
    const int rc = hdx_whole_commit(&s->whole);
    return rc < 0 ? failed(s, rc, err) : HDX_OK;
}

void hdx_strip_sink_drop(sink *s)
{
    hdx_packer_close(s->packer);
    hdx_whole_drop(&s->whole);
    if (s->options != NULL)
        say_written(s, NULL);
    if (s->buffer != NULL)
        hdx_mem_put(s->mem, s->buffer, ROOM);
    *s = (sink){ .io = NULL };
}
