/*
 * one_to_n_write.c - writes a file of lists: the beginning of each, then the values of all.
 *
 * In:  hdx_degrees_fill and hdx_lists_fill, called for up to 16 384 keys or values of a slice, in any order and by any
 *      thread.
 * Cost: 5-10 ns a key, 10-25 ns a value, for each thread.
 */
#include "indexes/one_to_n/one_to_n.h"

struct hdx_one_to_n_writer {
    hdx_container_writer w;
    hdx_slices_writer    slices; /* of the current pair of sections */
    hdx_index_place      place;
    uint64_t             values;
    bool                 offsets; /* the beginnings of lists are still being written */
    hdx_degrees_fill    *degrees;
    hdx_lists_fill      *fill;
    void                *context;
};

static hdx_code encode_offsets(void *context, uint64_t from, uint32_t n, hdx_slice *s, hdx_error *err)
{
    hdx_one_to_n_writer *in = context;
    hdx_code             code = in->degrees(in->context, from, n, s->scratch, err);
    for (uint32_t at = 0, line = 0; at < n && code == HDX_OK; at += HDX_LINE_KEYS, line++) {
        const uint32_t keys = n - at < HDX_LINE_KEYS ? n - at : HDX_LINE_KEYS;
        uint32_t       used;
        uint64_t       sum;
        code = hdx_offsets_encode(s->scratch + at, keys, s->total, s->entries + HDX_LINE * line, s->bytes + s->used,
                                  s->used, &used, &sum, err);
        s->placed[line] = used > 0;
        s->used += used;
        /* More values than were announced, but at most what a line can count, are refused at the end. */
        s->total += sum;
    }
    return code;
}

static hdx_code encode_values(void *context, uint64_t from, uint32_t n, hdx_slice *s, hdx_error *err)
{
    hdx_one_to_n_writer *in = context;
    uint64_t            *keys = s->scratch + HDX_SLICE;
    hdx_code             code = in->fill(in->context, from, n, s->scratch, keys, err);
    for (uint32_t at = 0, page = 0; at < n && code == HDX_OK; at += HDX_PAGE, page++) {
        uint64_t       first, second;
        const uint32_t used = hdx_values_encode(s->scratch + at, keys + at, n - at < HDX_PAGE ? n - at : HDX_PAGE,
                                                s->bytes + s->used, &first, &second);
        hdx_slice_entry(s, page, first, second, used);
    }
    return code;
}

hdx_code hdx_one_to_n_begin(const hdx_index_place *place, hdx_kind kind, uint64_t keys, uint64_t values,
                            hdx_one_to_n_writer **out, hdx_error *err)
{
    uint64_t             counts[3] = { keys, values, 0 };
    hdx_one_to_n_writer *w = hdx_mem_get(place->mem, sizeof *w);
    hdx_code             code;
    *out = NULL;
    if (w == NULL)
        return hdx_no_memory(err, "an index file", sizeof *w);
    if (values > HDX_LISTED_MAX) {
        hdx_mem_put(place->mem, w, sizeof *w);
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "lists of more than 2^48 - 1 values");
    }
    w->place = *place;
    w->values = values;
    w->offsets = true;
    if ((code = hdx_container_create(&w->w, &w->place, kind, counts, err)) == HDX_OK &&
        (code = hdx_slices_begin(&w->slices, &w->w, keys, HDX_LINES, err)) == HDX_OK)
        *out = w;
    else
        hdx_one_to_n_abandon(w);
    return code;
}

hdx_code hdx_one_to_n_append_degrees(hdx_one_to_n_writer *w, uint64_t n, hdx_degrees_fill *degrees, void *context,
                                     hdx_error *err)
{
    w->degrees = degrees;
    w->context = context;
    return hdx_slices_append(&w->slices, n, encode_offsets, w, err);
}

/* The last list's length is known: begins the values. */
static hdx_code end_offsets(hdx_one_to_n_writer *w, hdx_error *err)
{
    hdx_code code = hdx_slices_end(&w->slices, err);
    if (code != HDX_OK)
        return code;
    if (w->slices.running != w->values)
        return hdx_fail(err, HDX_USAGE, w->w.path, HDX_NOWHERE, "the lists have %llu values; %llu were announced",
                        (unsigned long long)w->slices.running, (unsigned long long)w->values);
    hdx_slices_drop(&w->slices);
    w->offsets = false;
    return hdx_slices_begin(&w->slices, &w->w, w->values, HDX_SHAPE, err);
}

hdx_code hdx_one_to_n_append_values(hdx_one_to_n_writer *w, uint64_t n, hdx_lists_fill *fill, void *context,
                                    hdx_error *err)
{
    hdx_code code = w->offsets ? end_offsets(w, err) : HDX_OK;
    w->fill = fill;
    w->context = context;
    return code != HDX_OK ? code : hdx_slices_append(&w->slices, n, encode_values, w, err);
}

hdx_code hdx_one_to_n_end(hdx_one_to_n_writer *w, hdx_index_file *out, hdx_error *err)
{
    hdx_code code = w->offsets ? end_offsets(w, err) : HDX_OK;
    if (code == HDX_OK && (code = hdx_slices_end(&w->slices, err)) == HDX_OK)
        code = hdx_container_finish(&w->w, out, err);
    hdx_one_to_n_abandon(w);
    return code;
}

void hdx_one_to_n_abandon(hdx_one_to_n_writer *w)
{
    if (w == NULL)
        return;
    hdx_slices_drop(&w->slices);
    hdx_container_drop(&w->w);
    hdx_mem_put(w->place.mem, w, sizeof *w);
}

hdx_code hdx_one_to_n_write(const hdx_index_place *place, hdx_kind kind, uint64_t keys, uint64_t values,
                            hdx_degrees_fill *degrees, hdx_lists_fill *fill, void *context, hdx_index_file *out,
                            hdx_error *err)
{
    hdx_one_to_n_writer *w;
    hdx_code             code = hdx_one_to_n_begin(place, kind, keys, values, &w, err);
    if (code != HDX_OK)
        return code;
    if ((code = hdx_one_to_n_append_degrees(w, keys, degrees, context, err)) == HDX_OK &&
        (code = hdx_one_to_n_append_values(w, values, fill, context, err)) == HDX_OK)
        return hdx_one_to_n_end(w, out, err);
    hdx_one_to_n_abandon(w);
    return code;
}
