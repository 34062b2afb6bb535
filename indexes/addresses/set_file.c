/* set_file.c - the set as an index file: the frozen bytes are written unchanged, and mapped for reading. */
#include "indexes/addresses/set.h"

/* Counts of the head: objects; form | way << 8 | shift << 16; first chunk number of a flat directory. */
static uint64_t shape_of(const hdx_addresses *s)
{
    return (uint64_t)s->form | (uint64_t)s->way << 8 | (uint64_t)s->shift << 16;
}

static hdx_code put(hdx_container_writer *w, unsigned section, const uint8_t *bytes, uint64_t len, hdx_error *err)
{
    hdx_code code = hdx_container_section(w, len, err);
    for (uint64_t at = 0, part; at < len && code == HDX_OK; at += part) {
        part = len - at < 1u << 22 ? len - at : 1u << 22;
        code = hdx_container_put(w, section, bytes + at, part, err);
        if (code == HDX_OK && hdx_tick(w->place->tick, 0))
            code = hdx_tick_stop(err);
    }
    return code;
}

hdx_code hdx_addresses_write(const hdx_index_place *place, hdx_kind kind, const hdx_addresses *s, hdx_index_file *out,
                             hdx_error *err)
{
    hdx_container_writer w;
    uint64_t             counts[3] = { s->count, shape_of(s), s->find_first };
    hdx_code             code;
    if (!s->frozen || s->mapped)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "only a frozen set of addresses can be written");
    if ((code = hdx_container_create(&w, place, kind, counts, err)) != HDX_OK)
        goto out;
    if (s->form == HDX_ADDRESSES_TABLE) {
        code = put(&w, HDX_ADDR_TABLE, s->table, 8 * s->count, err);
    } else if ((code = put(&w, HDX_ADDR_ORDER, s->order, s->order_bytes, err)) == HDX_OK &&
               (code = put(&w, HDX_ADDR_FIND, s->find, s->find_bytes, err)) == HDX_OK &&
               (code = put(&w, HDX_ADDR_CHUNKS, s->chunks, s->chunk_count * HDX_CHUNK_BYTES, err)) == HDX_OK) {
        code = put(&w, HDX_ADDR_SAMPLES, s->samples, HDX_SAMPLE_BYTES * hdx_samples_of(s->count), err);
    }
    if (code == HDX_OK && hdx_tick(place->tick, s->count))
        code = hdx_tick_stop(err);
    if (code == HDX_OK)
        code = hdx_container_finish(&w, out, err);
out:
    hdx_container_drop(&w);
    return code;
}

/* Returns whether the sections have the sizes that head and count imply. */
static bool shape_fits(hdx_addresses *s)
{
    const hdx_section *x = s->file.section;
    uint64_t           shape = s->file.counts[1];
    s->form = (hdx_addresses_form)(shape & 0xff);
    s->way = (hdx_addresses_way)(shape >> 8 & 0xff);
    s->shift = shape >> 16 & 0xff;
    s->find_first = s->file.counts[2];
    if (shape >> 24 != 0 || s->shift > 12)
        return false;
    if (s->form == HDX_ADDRESSES_TABLE) {
        s->table = x[HDX_ADDR_TABLE].at;
        return x[HDX_ADDR_TABLE].bytes % 8 == 0 && x[HDX_ADDR_TABLE].bytes / 8 == s->count;
    }
    s->chunk_count = x[HDX_ADDR_ORDER].bytes / 16;
    s->find_count = x[HDX_ADDR_FIND].bytes / 4;
    s->order = x[HDX_ADDR_ORDER].at;
    s->find = x[HDX_ADDR_FIND].at;
    s->chunks = x[HDX_ADDR_CHUNKS].at;
    s->samples = x[HDX_ADDR_SAMPLES].at;
    return s->form == HDX_ADDRESSES_MAP && s->way <= HDX_ADDRESSES_HASHED && x[HDX_ADDR_ORDER].bytes % 16 == 0 &&
           x[HDX_ADDR_FIND].bytes % 4 == 0 && s->chunk_count < HDX_NO_CHUNK &&
           x[HDX_ADDR_CHUNKS].bytes % HDX_CHUNK_BYTES == 0 &&
           x[HDX_ADDR_CHUNKS].bytes / HDX_CHUNK_BYTES == s->chunk_count &&
           x[HDX_ADDR_SAMPLES].bytes % HDX_SAMPLE_BYTES == 0 &&
           x[HDX_ADDR_SAMPLES].bytes / HDX_SAMPLE_BYTES == hdx_samples_of(s->count) && s->chunk_count <= s->count &&
           (s->count == 0 || s->chunk_count > 0) &&
           (s->way == HDX_ADDRESSES_FLAT || (s->find_count & (s->find_count - 1)) == 0);
}

hdx_code hdx_addresses_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t count,
                            hdx_damage_note *note, hdx_addresses **out, hdx_error *err)
{
    hdx_addresses *s = hdx_mem_get(place->mem, sizeof *s);
    hdx_code       code;
    *out = NULL;
    if (s == NULL)
        return hdx_no_memory(err, "an index handle", sizeof *s);
    s->mem = place->mem;
    s->count = count;
    s->frozen = s->mapped = true;
    code = hdx_container_open(&s->file, place, kind, file, 0, note, err);
    if (code != HDX_OK) {
        hdx_mem_put(place->mem, s, sizeof *s);
        return code;
    }
    if (s->file.counts[0] != count || s->file.sections != ((s->file.counts[1] & 0xff) == HDX_ADDRESSES_TABLE ? 1 : 4) ||
        !shape_fits(s)) {
        code = hdx_container_damaged(&s->file, err, "the set of addresses does not have the size in the manifest");
        hdx_addresses_close(s);
        return code;
    }
    *out = s;
    return HDX_OK;
}
