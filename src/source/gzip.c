/* gzip.c - writes a gzip file of one member, for formats that require it. */
#include "source/source.h"

#include <zlib.h>

#define PIECE (64u << 10) /* bytes that are compressed, and room for the result, in one step */

bool hdx_gzip(hdx_buffer *out, const void *bytes, uint64_t len)
{
    z_stream z = { 0 };
    uint64_t taken = 0;
    int      state = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    if (state != Z_OK)
        return false;
    while (state == Z_OK) {
        char *room = hdx_buffer_room(out, PIECE);
        if (room == NULL)
            break;
        if (z.avail_in == 0 && taken < len) {
            z.next_in = (Bytef *)bytes + taken;
            z.avail_in = (uInt)(len - taken < PIECE ? len - taken : PIECE);
            taken += z.avail_in;
        }
        z.next_out = (Bytef *)room;
        z.avail_out = PIECE;
        state = deflate(&z, taken == len ? Z_FINISH : Z_NO_FLUSH);
        out->len += PIECE - z.avail_out;
    }
    (void)deflateEnd(&z);
    return state == Z_STREAM_END;
}
