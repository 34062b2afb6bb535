/*
 * seek.c - seek points of a compressed dump, on their way from the first pass into the index.
 *
 * In:  points and windows as the source finds them, in any order of the windows.
 * Out: the index file `seek`, in the order of the dump; windows to begin with for the second pass.
 * Windows (10 KB each, 12 MB for a GB of ordinary gzip) lie in a temporary file meanwhile: memory holds 96 bytes a
 * point.
 * Cost: the windows are written twice and read once, about 1.2 % of the dump; nothing of the dump is read for it.
 */
#include "build/build.h"

#include <stdio.h>

static hdx_code put(void *context, const uint8_t *bytes, uint32_t len, uint64_t *at, hdx_error *err)
{
    hdx_build *b = context;
    *at = atomic_fetch_add(&b->windows_end, len);
    int rc = b->io->write_at(b->io, b->windows_fd, bytes, len, *at);
    return rc < 0 ? hdx_fail(err, HDX_IO, "windows.tmp", *at, "cannot write: %s", strerror(-rc)) : HDX_OK;
}

static hdx_code get(void *context, uint64_t at, uint8_t *to, uint32_t len, hdx_error *err)
{
    hdx_build *b = context;
    int64_t    got = b->io->read_at(b->io, b->windows_fd, to, len, at);
    if (got == (int64_t)len)
        return HDX_OK;
    return hdx_fail(err, HDX_IO, "windows.tmp", at, "cannot read back: %s",
                    got < 0 ? strerror((int)-got) : "it became shorter");
}

hdx_code hdx_seek_begin(hdx_build *b, hdx_error *err)
{
    char path[4200];
    int  rc;
    if (hdx_source_compression(b->source) == HDX_PLAIN ||
        hdx_source_overlay_of(b->source) != NULL) /* positions of an overlay are not the stream's */
        return HDX_OK;
    (void)snprintf(path, sizeof path, "%s/windows.tmp", b->folder);
    if ((rc = b->io->create(b->io, path)) < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot create: %s", strerror(-rc));
    b->windows_fd = rc;
    if ((rc = b->io->remove(b->io, path)) < 0) /* it needs no name: whatever happens, it is gone in the end */
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot remove the name: %s", strerror(-rc));
    hdx_source_keep_windows(b->source, &(hdx_source_windows){ b, put, get });
    return HDX_OK;
}

static hdx_code fill(void *context, uint64_t i, hdx_seek_point *out, uint8_t window[HDX_SEEK_WINDOW], hdx_error *err)
{
    hdx_build       *b = context;
    hdx_source_point p;
    hdx_code         code = hdx_source_point_at(b->source, i, &p, window, err);
    *out = (hdx_seek_point){ .out = p.out,
                             .bit = p.bit,
                             .header_bit = p.header_bit,
                             .window_size = p.window_size,
                             .window_len = p.window_len,
                             .sum = p.sum,
                             .kind = (hdx_seek_kind)p.kind };
    return code;
}

hdx_code hdx_seek_keep(hdx_build *b, hdx_error *err)
{
    uint64_t       points, windows;
    hdx_index_file file;
    hdx_code       code;
    if (b->windows_fd < 0)
        return HDX_OK;
    if ((code = hdx_source_points(b->source, &points, &windows, err)) != HDX_OK ||
        (code = hdx_seek_write(&b->place, points, windows, b->manifest.dump_size, fill, b, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_SEEK, &file);
    return HDX_OK;
}

void hdx_seek_end(hdx_build *b)
{
    if (b->windows_fd >= 0)
        (void)b->io->close(b->io, b->windows_fd);
    b->windows_fd = -1;
}
