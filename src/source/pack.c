/*
 * pack.c - compresses a dump that is being written: one gzip member or one zlib stream.
 *
 * In:  bytes in order.
 * Out: packed bytes, a buffer at a time. Memory is fixed.
 */
#include "source/source.h"

#include "base/base.h"
#include <zlib.h>

#define ROOM (64u << 10)

struct hdx_packer {
    hdx_mem *mem;
    hdx_code (*put)(void *context, const void *bytes, size_t len, hdx_error *err);
    void    *context;
    z_stream z;
    bool     open;
    uint8_t  out[ROOM];
};

hdx_code hdx_packer_open(hdx_compression kind, hdx_mem                                                       *mem,
                         hdx_code (*put)(void *context, const void *bytes, size_t len, hdx_error *err), void *context,
                         hdx_packer **out, hdx_error *err)
{
    hdx_packer *p = hdx_mem_get(mem, sizeof *p);
    *out = NULL;
    if (p == NULL)
        return hdx_no_memory(err, "packing", sizeof *p);
    p->mem = mem;
    p->put = put;
    p->context = context;
    p->open = deflateInit2(&p->z, kind == HDX_GZIP ? 6 : 1, Z_DEFLATED, kind == HDX_GZIP ? 15 + 16 : 15, 8,
                           Z_DEFAULT_STRATEGY) == Z_OK;
    if (!p->open) {
        hdx_packer_close(p);
        return hdx_no_memory(err, "packing", 256u << 10);
    }
    *out = p;
    return HDX_OK;
}

hdx_code hdx_packer_put(hdx_packer *p, const void *bytes, size_t len, bool last, hdx_error *err)
{
    const uint8_t *at = bytes;
    do {
        const size_t most = UINT32_MAX / 2, n = len < most ? len : most;
        const int    flush = last && n == len ? Z_FINISH : Z_NO_FLUSH;
        p->z.next_in = (Bytef *)(uintptr_t)at;
        p->z.avail_in = (uInt)n;
        do {
            p->z.next_out = p->out;
            p->z.avail_out = ROOM;
            (void)deflate(&p->z, flush); /* it cannot fail with room and a valid state */
            const size_t   got = ROOM - p->z.avail_out;
            const hdx_code code = got > 0 ? p->put(p->context, p->out, got, err) : HDX_OK;
            if (code != HDX_OK)
                return code;
        } while (p->z.avail_out == 0);
        at += n;
        len -= n;
    } while (len > 0);
    return HDX_OK;
}

void hdx_packer_close(hdx_packer *p)
{
    if (p == NULL)
        return;
    if (p->open)
        (void)deflateEnd(&p->z);
    hdx_mem_put(p->mem, p, sizeof *p);
}

hdx_code hdx_pack_piece(const void *bytes, uint64_t len, hdx_buffer *out, hdx_error *err)
{
    z_stream       z = { 0 };
    const uint64_t most = len + len / 1000 + 256; /* more than deflateBound ever returns */
    if (len > UINT32_MAX / 2 || deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return hdx_no_memory(err, "packing", 256u << 10);
    char *to = hdx_buffer_room(out, most);
    if (to != NULL) {
        z.next_in = (Bytef *)(uintptr_t)bytes;
        z.avail_in = (uInt)len;
        z.next_out = (Bytef *)to;
        z.avail_out = (uInt)most;
        (void)deflate(&z, Z_FINISH); /* it ends, because there is enough room */
        out->len += most - z.avail_out;
    }
    (void)deflateEnd(&z);
    return to == NULL ? hdx_no_memory(err, "packing", most) : HDX_OK;
}
