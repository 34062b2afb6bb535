/*
 * set_keep.c - converts a set that is being built to bytes and back: the form, the shift and the count (8 bytes each),
 * then
 *
 *     map    for each chunk its number and its 512 words of bits, in any order; no chunk is empty or occurs twice
 *     table  addresses, in any order
 *
 * Not a file format of indexes: only a later build on the same machine reads it (reading/resume.h).
 */
#include "indexes/addresses/set.h"

#define WORDS_BYTES (HDX_CHUNK_BLOCKS * 8u)
#define AT_ONCE     512u

static hdx_code keep_map(const hdx_chunks *c, hdx_addresses_put *put, void *context, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < c->slots && code == HDX_OK; i++) {
        const uint64_t number = c->keys[i] - 1;
        if (c->keys[i] == 0)
            continue;
        if ((code = put(context, &number, sizeof number, err)) == HDX_OK)
            code = put(context, c->room + (uint64_t)c->places[i] * HDX_CHUNK_BYTES, WORDS_BYTES, err);
    }
    return code;
}

static hdx_code keep_table(const hdx_addresses *s, hdx_addresses_put *put, void *context, hdx_error *err)
{
    const uint64_t zero = 0;
    hdx_code       code = s->set_zero ? put(context, &zero, sizeof zero, err) : HDX_OK;
    for (uint64_t i = 0; i < s->set_slots && code == HDX_OK; i++)
        if (s->set[i] != 0)
            code = put(context, &s->set[i], sizeof s->set[i], err);
    return code;
}

hdx_code hdx_addresses_keep(const hdx_addresses *s, hdx_addresses_put *put, void *context, hdx_error *err)
{
    const bool     map = s->form == HDX_ADDRESSES_MAP;
    const uint64_t head[] = { (uint64_t)s->form, s->shift, map ? s->build.used : atomic_load(&s->members) };
    hdx_code       code = put(context, head, sizeof head, err);
    if (code != HDX_OK)
        return code;
    return map ? keep_map(&s->build, put, context, err) : keep_table(s, put, context, err);
}

static hdx_code none(hdx_error *err) { return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no set of addresses"); }

static hdx_code restore_map(hdx_addresses *s, uint64_t count, hdx_addresses_get *get, void *context, hdx_error *err)
{
    const unsigned number_bits = 64 - s->build.shift - HDX_CHUNK_BITS;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t  words[HDX_CHUNK_BLOCKS], number, members = 0;
        uint64_t *to = NULL;
        hdx_code  code = get(context, &number, sizeof number, err);
        if (code == HDX_OK && number >> number_bits == 0)
            code = get(context, words, sizeof words, err);
        if (code != HDX_OK || number >> number_bits != 0)
            return code != HDX_OK ? code : none(err);
        for (unsigned w = 0; w < HDX_CHUNK_BLOCKS; w++)
            members += (uint64_t)__builtin_popcountll(words[w]);
        if (members == 0)
            return none(err);
        if ((code = hdx_chunks_take(&s->build, s->mem, number, &to, err)) != HDX_OK)
            return code;
        for (unsigned w = 0; w < HDX_CHUNK_BLOCKS; w++) {
            if (to[w] != 0) /* it already existed */
                return none(err);
            to[w] = words[w];
        }
        atomic_fetch_add(&s->members, members);
    }
    return HDX_OK;
}

static hdx_code restore_table(hdx_addresses *s, uint64_t count, hdx_addresses_get *get, void *context, hdx_error *err)
{
    hdx_addr addresses[AT_ONCE];
    uint64_t repeated = 0;
    hdx_code code = hdx_addresses_to_set(s, err);
    while (count > 0 && code == HDX_OK) {
        const uint64_t n = count < AT_ONCE ? count : AT_ONCE;
        if ((code = get(context, addresses, n * sizeof *addresses, err)) == HDX_OK)
            code = hdx_addresses_insert(s, addresses, (size_t)n, &repeated, err);
        count -= n;
    }
    return code != HDX_OK ? code : repeated > 0 ? none(err) : HDX_OK;
}

hdx_code hdx_addresses_restore(hdx_addresses *s, hdx_addresses_get *get, void *context, hdx_error *err)
{
    uint64_t head[3];
    hdx_code code = get(context, head, sizeof head, err);
    if (code != HDX_OK)
        return code;
    if (head[0] > HDX_ADDRESSES_TABLE || head[1] > s->shift || atomic_load(&s->members) > 0)
        return none(err);
    s->shift = s->build.shift = (unsigned)head[1]; /* there are no chunks with another shift */
    return head[0] == HDX_ADDRESSES_MAP ? restore_map(s, head[2], get, context, err)
                                        : restore_table(s, head[2], get, context, err);
}
