/*
 * ints_write.c - writes a file of numbers: a directory of pages, and the pages (slices.h has the threads and the
 * order).
 *
 * In:  hdx_ints_fill, called for up to 16 384 values of a slice, in any order and by any thread.
 * Cost: 5-10 ns a value and thread.
 */
#include "indexes/ints/ints.h"

struct hdx_ints_writer {
    hdx_container_writer w;
    hdx_slices_writer    slices;
    hdx_index_place      place;
    hdx_ints_fill       *fill;
    void                *context;
};

static hdx_code encode(void *context, uint64_t from, uint32_t n, hdx_slice *s, hdx_error *err)
{
    hdx_ints_writer *in = context;
    hdx_code         code = in->fill(in->context, from, n, s->scratch, err);
    if (code != HDX_OK)
        return code;
    for (uint32_t at = 0, page = 0; at < n; at += HDX_PAGE, page++) {
        uint64_t       first, second;
        const uint32_t used = hdx_ints_encode(s->scratch + at, n - at < HDX_PAGE ? n - at : HDX_PAGE,
                                              s->bytes + s->used, &first, &second);
        hdx_slice_entry(s, page, first, second, used);
    }
    return HDX_OK;
}

hdx_code hdx_ints_begin(const hdx_index_place *place, hdx_kind kind, uint64_t count, hdx_ints_writer **out,
                        hdx_error *err)
{
    uint64_t         counts[3] = { count, 0, 0 };
    hdx_ints_writer *w = hdx_mem_get(place->mem, sizeof *w);
    hdx_code         code;
    *out = NULL;
    if (w == NULL)
        return hdx_no_memory(err, "an index file", sizeof *w);
    w->place = *place;
    if ((code = hdx_container_create(&w->w, &w->place, kind, counts, err)) == HDX_OK &&
        (code = hdx_slices_begin(&w->slices, &w->w, count, HDX_SHAPE, err)) == HDX_OK)
        *out = w;
    else
        hdx_ints_abandon(w);
    return code;
}

hdx_code hdx_ints_append(hdx_ints_writer *w, uint64_t n, hdx_ints_fill *fill, void *context, hdx_error *err)
{
    w->fill = fill;
    w->context = context;
    return hdx_slices_append(&w->slices, n, encode, w, err);
}

hdx_code hdx_ints_end(hdx_ints_writer *w, hdx_index_file *out, hdx_error *err)
{
    hdx_code code = hdx_slices_end(&w->slices, err);
    if (code == HDX_OK)
        code = hdx_container_finish(&w->w, out, err);
    hdx_ints_abandon(w);
    return code;
}

void hdx_ints_abandon(hdx_ints_writer *w)
{
    if (w == NULL)
        return;
    hdx_slices_drop(&w->slices);
    hdx_container_drop(&w->w);
    hdx_mem_put(w->place.mem, w, sizeof *w);
}

hdx_code hdx_ints_write(const hdx_index_place *place, hdx_kind kind, uint64_t count, hdx_ints_fill *fill, void *context,
                        hdx_index_file *out, hdx_error *err)
{
    hdx_ints_writer *w;
    hdx_code         code = hdx_ints_begin(place, kind, count, &w, err);
    if (code != HDX_OK)
        return code;
    if ((code = hdx_ints_append(w, count, fill, context, err)) == HDX_OK)
        return hdx_ints_end(w, out, err);
    hdx_ints_abandon(w);
    return code;
}
