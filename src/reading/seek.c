/*
 * seek.c - stores the seek points of a compressed dump from the first pass until they are written to the index.
 *
 * In:  points and windows as the source finds them, in any order of the windows.
 * Out: the index file `seek`, in the order of the dump; windows for the second pass.
 * Meanwhile windows (10 KB each, 12 MB for a GB of ordinary gzip) are in a temporary file; memory contains 96 bytes a
 * point.
 * Cost: the windows are written twice and read once, about 1.2 % of the dump; the dump itself is not read again.
 */
#include "reading/reading.h"

#include <stdio.h>

static hdx_code put(void *context, const uint8_t *bytes, uint32_t len, uint64_t *at, hdx_error *err)
{
    hdx_windows *windows = context;
    assert(windows->fd >= 0);
    *at = atomic_fetch_add(&windows->end, len);
    int rc = windows->io->write_at(windows->io, windows->fd, bytes, len, *at);
    return rc < 0 ? hdx_fail(err, HDX_IO, "windows.tmp", *at, "cannot write: %s", strerror(-rc)) : HDX_OK;
}

static hdx_code get(void *context, uint64_t at, uint8_t *to, uint32_t len, hdx_error *err)
{
    const hdx_windows *windows = context;
    int64_t            got = windows->io->read_at(windows->io, windows->fd, to, len, at);
    if (got == (int64_t)len)
        return HDX_OK;
    return hdx_fail(err, HDX_IO, "windows.tmp", at, "cannot read back: %s",
                    got < 0 ? strerror((int)-got) : "the file was truncated");
}

hdx_code hdx_seek_begin(const hdx_work *w, hdx_dump *dump, hdx_error *err)
{
    hdx_windows *windows = &dump->windows;
    char         path[4200];
    int          rc;
    if (hdx_source_compression(dump->source) == HDX_PLAIN ||
        hdx_source_overlay_of(dump->source) != NULL) /* positions of an overlay are not the stream's */
        return HDX_OK;
    (void)snprintf(path, sizeof path, "%s/windows.tmp", w->folder);
    if ((rc = w->io->create(w->io, path)) < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot create: %s", strerror(-rc));
    windows->io = w->io;
    windows->fd = rc;
    if ((rc = w->io->remove(w->io, path)) < 0) /* it is used without a name, so it is always deleted in the end */
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot remove the name: %s", strerror(-rc));
    hdx_source_keep_windows(dump->source, &(hdx_source_windows){ windows, put, get });
    return HDX_OK;
}

static hdx_code fill(void *context, uint64_t i, hdx_seek_point *out, uint8_t window[HDX_SEEK_WINDOW], hdx_error *err)
{
    hdx_source      *source = context;
    hdx_source_point p;
    hdx_code         code = hdx_source_point_at(source, i, &p, window, err);
    *out = (hdx_seek_point){ .out = p.out,
                             .bit = p.bit,
                             .header_bit = p.header_bit,
                             .window_size = p.window_size,
                             .window_len = p.window_len,
                             .sum = p.sum,
                             .kind = (hdx_seek_kind)p.kind };
    return code;
}

hdx_code hdx_seek_keep(const hdx_work *w, const hdx_dump *dump, uint64_t dump_size, hdx_index_file *out, hdx_error *err)
{
    uint64_t       points, windows;
    const hdx_code code = hdx_source_points(dump->source, &points, &windows, err);
    return code != HDX_OK ? code : hdx_seek_write(&w->place, points, windows, dump_size, fill, dump->source, out, err);
}

void hdx_seek_end(hdx_dump *dump)
{
    hdx_windows *windows = &dump->windows;
    if (windows->fd >= 0)
        (void)windows->io->close(windows->io, windows->fd);
    windows->fd = -1;
}
