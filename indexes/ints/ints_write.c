/*
 * ints_write.c - writes a file of numbers: a directory of pages, and the pages (slices.h has the threads and the order).
 *
 * In:  hdx_ints_fill, called with up to 16 384 values for a slice, in any order from any thread.
 * Cost: 5-10 ns a value and thread.
 */
#include "indexes/ints/ints.h"

typedef struct source {
    hdx_ints_fill *fill;
    void          *context;
} source;

static hdx_code encode(void *context, uint64_t from, uint32_t n, hdx_slice *s, hdx_error *err)
{
    source  *in = context;
    hdx_code code = in->fill(in->context, from, n, s->scratch, err);
    if (code != HDX_OK)
        return code;
    for (uint32_t at = 0, page = 0; at < n; at += HDX_PAGE, page++) {
        s->offset[page] = s->used;
        s->used += hdx_ints_encode(s->scratch + at, n - at < HDX_PAGE ? n - at : HDX_PAGE, s->bytes + s->used, &s->first[page], &s->second[page]);
    }
    return HDX_OK;
}

hdx_code hdx_ints_write(const hdx_index_place *place, hdx_kind kind, uint64_t count, hdx_ints_fill *fill, void *context, hdx_index_file *out,
                        hdx_error *err)
{
    hdx_container_writer w;
    source               in = { fill, context };
    uint64_t             counts[3] = { count, 0, 0 }, total;
    hdx_code             code;
    if ((code = hdx_container_create(&w, place, kind, counts, err)) == HDX_OK && (code = hdx_slices_write(&w, count, encode, &in, &total, err)) == HDX_OK)
        code = hdx_container_finish(&w, out, err);
    hdx_container_drop(&w);
    return code;
}
