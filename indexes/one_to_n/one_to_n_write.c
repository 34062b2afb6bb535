/*
 * one_to_n_write.c - writes a file of lists: where each begins, then the values of all.
 *
 * In:  hdx_degrees_fill and hdx_lists_fill, called with up to 16 384 keys or values for a slice, in any order from any thread.
 * Cost: 5-10 ns a key, 10-25 ns a value, for each thread.
 */
#include "indexes/one_to_n/one_to_n.h"

typedef struct source {
    hdx_degrees_fill *degrees;
    hdx_lists_fill   *fill;
    void             *context;
} source;

static hdx_code encode_offsets(void *context, uint64_t from, uint32_t n, hdx_slice *s, hdx_error *err)
{
    source  *in = context;
    hdx_code code = in->degrees(in->context, from, n, s->scratch, err);
    for (uint32_t at = 0, page = 0; at < n && code == HDX_OK; at += HDX_PAGE, page++) {
        uint32_t used;
        uint64_t sum;
        s->offset[page] = s->used;
        s->first[page] = s->total;
        code = hdx_offsets_encode(s->scratch + at, n - at < HDX_PAGE ? n - at : HDX_PAGE, s->bytes + s->used, &used, &s->second[page], &sum, err);
        if (code == HDX_OK && !hdx_add(s->total, sum, &s->total))
            code = hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "lists of more than 2^64 values");
        s->used += code == HDX_OK ? used : 0;
    }
    return code;
}

static hdx_code encode_values(void *context, uint64_t from, uint32_t n, hdx_slice *s, hdx_error *err)
{
    source   *in = context;
    uint64_t *keys = s->scratch + HDX_SLICE;
    hdx_code  code = in->fill(in->context, from, n, s->scratch, keys, err);
    for (uint32_t at = 0, page = 0; at < n && code == HDX_OK; at += HDX_PAGE, page++) {
        s->offset[page] = s->used;
        s->used += hdx_values_encode(s->scratch + at, keys + at, n - at < HDX_PAGE ? n - at : HDX_PAGE, s->bytes + s->used, &s->first[page],
                                     &s->second[page]);
    }
    return code;
}

hdx_code hdx_one_to_n_write(const hdx_index_place *place, hdx_kind kind, uint64_t keys, uint64_t values, hdx_degrees_fill *degrees,
                            hdx_lists_fill *fill, void *context, hdx_index_file *out, hdx_error *err)
{
    hdx_container_writer w;
    source               in = { degrees, fill, context };
    uint64_t             counts[3] = { keys, values, 0 }, total = 0, none;
    hdx_code             code;
    if ((code = hdx_container_create(&w, place, kind, counts, err)) != HDX_OK ||
        (code = hdx_slices_write(&w, keys, encode_offsets, &in, &total, err)) != HDX_OK)
        goto out;
    if (total != values) {
        code = hdx_fail(err, HDX_USAGE, w.path, HDX_NOWHERE, "the lists hold %llu values, %llu were announced", (unsigned long long)total,
                        (unsigned long long)values);
        goto out;
    }
    if ((code = hdx_slices_write(&w, values, encode_values, &in, &none, err)) == HDX_OK)
        code = hdx_container_finish(&w, out, err);
out:
    hdx_container_drop(&w);
    return code;
}
