/*
 * instances.c - fields of many instances at once.
 *
 * In:  ids, in any order.
 * Out: bytes of their fields.
 * Ids ascend with addresses and therefore nearly in the order of the dump; others are sorted by position first. Records
 * that are far apart are read one by one, because a window over the dump would mostly contain other records.
 * Cost: 150 to 200 ns an instance of a plain dump.
 */
#include "graph/inside.h"

#include <stdlib.h>

#define FAR (16u << 10) /* average distance of records, in bytes, from which they are read one by one */
#define FEW 16u

struct hdx_instances {
    hdx_graph   *g;
    hdx_records *records;
    hdx_pair    *places; /* position, index into the ids */
    uint64_t     capacity;
};

hdx_code hdx_instances_open(hdx_graph *g, hdx_instances **out, hdx_error *err)
{
    hdx_source    *source;
    hdx_instances *r;
    hdx_code       code = hdx_graph_source(g, &source, err);
    *out = NULL;
    if (code != HDX_OK)
        return code;
    if ((r = calloc(1, sizeof *r)) == NULL)
        return hdx_no_memory(err, "reading instances", sizeof *r);
    r->g = g;
    if ((code = hdx_records_open(source, g->m->id_size, NULL, NULL, &r->records, err)) != HDX_OK) {
        free(r);
        return code;
    }
    *out = r;
    return HDX_OK;
}

void hdx_instances_close(hdx_instances *r)
{
    if (r == NULL)
        return;
    hdx_records_close(r->records);
    free(r->places);
    free(r);
}

static hdx_code read_one(hdx_instances *r, hdx_id id, hdx_pos pos, uint32_t width, uint8_t *bytes, uint32_t *have,
                         hdx_error *err)
{
    hdx_event e;
    hdx_view  body;
    hdx_pos   at;
    uint64_t  len;
    bool      is;
    hdx_code  code = hdx_records_at(r->records, pos, &e, &at, &len, &is, err);
    if (code != HDX_OK || !is || e.tag != HDX_SUB_INSTANCE) /* not the record of an instance */
        return code != HDX_OK ? code : hdx_graph_check_record(r->g, id, err);
    if (e.addr != hdx_graph_address(r->g, id))
        return hdx_graph_check_record(r->g, id, err);
    for (uint64_t from = 0; from < len && from < width; from += body.len) {
        code = hdx_records_body(r->records, at + from, hdx_least(len, width) - from, &body, err);
        if (code != HDX_OK || body.len == 0)
            return code;
        memcpy(bytes + from, body.at, body.len);
        *have += (uint32_t)body.len;
    }
    return HDX_OK;
}

/* Reads one record alone. */
static hdx_code read_far(hdx_graph *g, hdx_id id, uint32_t width, uint8_t *bytes, uint32_t *have, hdx_error *err)
{
    hdx_record r;
    bool       there;
    size_t     got = 0;
    hdx_code   code = hdx_graph_record(g, id, &r, &there, err);
    if (code == HDX_OK && there && r.event.tag == HDX_SUB_INSTANCE)
        code = hdx_source_read_at(r.source, r.at, bytes, (size_t)hdx_least(r.len, width), &got, err);
    *have = (uint32_t)got;
    return code;
}

/* Collects the positions of the objects that have a record. */
static hdx_code place(hdx_instances *r, const hdx_id *ids, size_t n, size_t *count, bool *rising, hdx_error *err)
{
    if (n > r->capacity) {
        free(r->places);
        r->capacity = 0;
        if ((r->places = malloc(n * sizeof *r->places)) == NULL)
            return hdx_no_memory(err, "places of instances", n * sizeof *r->places);
        r->capacity = n;
    }
    *count = 0;
    *rising = true;
    for (size_t i = 0; i < n; i++) {
        hdx_pos pos;
        hdx_graph_ahead(r->g, HDX_AHEAD_POSITION, ids, n, i);
        if (!hdx_graph_position(r->g, ids[i], &pos))
            continue;
        *rising = *rising && (*count == 0 || r->places[*count - 1].first < pos);
        r->places[(*count)++] = (hdx_pair){ pos, i };
    }
    return HDX_OK;
}

hdx_code hdx_instances_read(hdx_instances *r, const hdx_id *ids, size_t n, uint32_t width, uint8_t *bytes,
                            uint32_t *have, hdx_error *err)
{
    size_t   count = 0;
    bool     rising = true;
    hdx_code code = place(r, ids, n, &count, &rising, err);
    memset(have, 0, n * sizeof *have);
    if (code != HDX_OK || count == 0)
        return code;
    if (!rising)
        hdx_sort_pairs(NULL, r->places, count);
    const bool far = count < FEW || (r->places[count - 1].first - r->places[0].first) / count > FAR;
    for (size_t k = 0; code == HDX_OK && k < count; k++) {
        const size_t i = (size_t)r->places[k].second;
        code = far ? read_far(r->g, ids[i], width, bytes + i * width, &have[i], err)
                   : read_one(r, ids[i], r->places[k].first, width, bytes + i * width, &have[i], err);
    }
    return code;
}
