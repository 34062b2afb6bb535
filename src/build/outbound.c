/*
 * outbound.c - the index outbound, from the packed lists.
 *
 * Cost: two readings of the lists, and encoding.
 */
#include "build/passes.h"

static hdx_code fill_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    (void)err;
    hdx_packed_lengths(context, first, n, degrees); /* parts of a file are whole blocks */
    return HDX_OK;
}

static hdx_code fill_lists(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    const hdx_packed *lists = context;
    uint64_t          sources[2 * HDX_PACKED_PAIRS], targets[2 * HDX_PACKED_PAIRS];
    hdx_packed_walk   walk = hdx_packed_walk_from(lists, first);
    (void)err;
    for (uint32_t done = 0; done < n;) {
        const uint32_t count = hdx_packed_pairs(lists, &walk, HDX_PACKED_PAIRS, sources, targets), take = count < n - done ? count : n - done;
        memcpy(values + done, targets, take * sizeof *values);
        memcpy(keys + done, sources, take * sizeof *keys);
        done += take;
    }
    return HDX_OK;
}

hdx_code hdx_pass_write_outbound(hdx_pass *p, unsigned threads, hdx_error *err)
{
    hdx_build           *b = p->b;
    hdx_index_place      place = b->place;
    hdx_one_to_n_writer *w = NULL;
    hdx_index_file       file;
    hdx_code             code;
    place.threads = threads;
    if ((code = hdx_one_to_n_begin(&place, HDX_KIND_OUTBOUND, b->objects, p->outbound.edges, &w, err)) != HDX_OK)
        return code;
    if ((code = hdx_one_to_n_append_degrees(w, b->objects, fill_degrees, &p->outbound, err)) == HDX_OK) {
        hdx_packed_sum(&p->outbound);
        code = hdx_one_to_n_append_values(w, p->outbound.edges, fill_lists, &p->outbound, err);
    }
    if (code != HDX_OK)
        hdx_one_to_n_abandon(w);
    else if ((code = hdx_one_to_n_end(w, &file, err)) == HDX_OK)
        hdx_manifest_file_written(b, HDX_KIND_OUTBOUND, &file);
    return code;
}
