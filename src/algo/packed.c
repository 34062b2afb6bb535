/* packed.c - creates the pieces of packed lists (packed.h), sums their lengths, and reads all of them. */
#include "algo/packed.h"

#include <assert.h>

#define ENDS         8u  /* bytes of a group's ends, */
#define WIDE_ENDS    40u /* or this many for more than 255 entries */
#define CLASSES      8u
#define REFERRED     512u /* targets processed at a time */
#define TICK_BATCHES 256u

hdx_code hdx_packed_new(hdx_packed *p, uint64_t nodes, hdx_mem *mem, hdx_error *err)
{
    *p = (hdx_packed){ .nodes = nodes };
    if (nodes > HDX_PACKED_NODES)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "%llu objects; at most %llu can be searched",
                        (unsigned long long)nodes, (unsigned long long)HDX_PACKED_NODES);
    p->width = hdx_packed_width(nodes);
    p->mask = ~(~0ull << 8 * p->width);
    assert(p->width >= 1 && p->width <= 5 && nodes <= p->mask); /* P1 */
    p->piece_count = (nodes + HDX_PACKED_PIECE - 1) >> HDX_PACKED_PIECE_BITS;
    p->blocks = (nodes + HDX_PACKED_BLOCK - 1) / HDX_PACKED_BLOCK;
    p->bases_bytes = (nodes + 7) / 8 * 5 + HDX_PACKED_SLACK;
    p->bases = hdx_mem_get(mem, p->bases_bytes);
    p->pieces = hdx_mem_array(mem, p->piece_count, sizeof *p->pieces);
    p->piece_bytes = hdx_mem_array(mem, p->piece_count, sizeof *p->piece_bytes);
    p->before = hdx_mem_array(mem, p->blocks + 1, sizeof *p->before);
    if (p->bases != NULL && p->pieces != NULL && p->piece_bytes != NULL && p->before != NULL)
        return HDX_OK;
    hdx_packed_free(p, mem);
    return hdx_no_memory(err, "lists of references", nodes);
}

void hdx_packed_free(hdx_packed *p, hdx_mem *mem)
{
    for (uint64_t i = 0; i < p->piece_count && p->pieces != NULL && p->piece_bytes != NULL; i++)
        hdx_mem_put(mem, p->pieces[i], p->piece_bytes[i]);
    hdx_mem_put(mem, p->bases, p->bases_bytes);
    hdx_mem_put(mem, p->pieces, p->piece_count * sizeof *p->pieces);
    hdx_mem_put(mem, p->piece_bytes, p->piece_count * sizeof *p->piece_bytes);
    hdx_mem_put(mem, p->before, (p->blocks + 1) * sizeof *p->before);
    *p = (hdx_packed){ 0 };
}

static uint64_t sum_of(const uint32_t *entries, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += entries[i];
    return sum;
}

static uint64_t group_bytes(const hdx_packed *p, uint64_t entries)
{
    return (entries > 255 ? WIDE_ENDS : ENDS) + CLASSES + entries * p->width;
}

static void put40(uint8_t *to, uint64_t v)
{
    for (unsigned i = 0; i < 5; i++)
        to[i] = (uint8_t)(v >> 8 * i);
}

static void lay_group(uint8_t *head, const uint32_t *entries, uint64_t n, bool wide)
{
    uint64_t end = 0;
    for (uint64_t k = 0; k < 8; k++) {
        end += k < n ? entries[k] : 0;
        if (wide)
            put40(head + 5 * k, end);
        else
            head[k] = (uint8_t)end;
    }
    memset(head + (wide ? WIDE_ENDS : ENDS), HDX_PACKED_FAR, CLASSES);
}

hdx_code hdx_packed_lay(hdx_packed *p, uint64_t piece, const uint32_t *entries, hdx_mem *mem, hdx_error *err)
{
    assert(piece < p->piece_count && p->pieces[piece] == NULL); /* P2 */
    const uint64_t nodes = hdx_packed_piece_nodes(p, piece), first = piece << HDX_PACKED_PIECE_BITS;
    uint64_t       bytes = HDX_PACKED_SLACK, at = 0;
    for (uint64_t i = 0; i < nodes; i += 8)
        bytes += group_bytes(p, sum_of(entries + i, nodes - i < 8 ? nodes - i : 8));
    if (bytes >= 1ull << 39)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "the references of %llu neighbours exceed 2^39 bytes",
                        (unsigned long long)nodes);
    if ((p->pieces[piece] = hdx_mem_get(mem, bytes)) == NULL)
        return hdx_no_memory(err, "lists of references", bytes);
    p->piece_bytes[piece] = bytes;
    for (uint64_t i = 0; i < nodes; i += 8) {
        const uint64_t n = nodes - i < 8 ? nodes - i : 8, all = sum_of(entries + i, n);
        put40(p->bases + (first + i) / 8 * 5, at << 1 | (all > 255));
        lay_group(p->pieces[piece] + at, entries + i, n, all > 255);
        at += group_bytes(p, all);
    }
    assert(at + HDX_PACKED_SLACK == bytes); /* P2 */
    return HDX_OK;
}

hdx_code hdx_packed_keep(const hdx_packed *p, hdx_packed_put_bytes *put, void *context, hdx_error *err)
{
    const uint64_t head[] = { p->nodes, p->edges };
    hdx_code       code = put(context, head, sizeof head, err);
    if (code == HDX_OK)
        code = put(context, p->bases, p->bases_bytes, err);
    for (uint64_t i = 0; i < p->piece_count && code == HDX_OK; i++)
        if ((code = put(context, &p->piece_bytes[i], sizeof p->piece_bytes[i], err)) == HDX_OK)
            code = put(context, p->pieces[i], p->piece_bytes[i], err);
    return code;
}

hdx_code hdx_packed_restore(hdx_packed *p, hdx_mem *mem, hdx_packed_get_bytes *get, void *context, hdx_error *err)
{
    uint64_t head[2], bytes;
    hdx_code code = get(context, head, sizeof head, err);
    if (code != HDX_OK || head[0] != p->nodes)
        return code != HDX_OK ? code : hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "lists of other nodes");
    p->edges = head[1];
    code = get(context, p->bases, p->bases_bytes, err);
    for (uint64_t i = 0; i < p->piece_count && code == HDX_OK; i++) {
        if ((code = get(context, &bytes, sizeof bytes, err)) != HDX_OK)
            break;
        if (bytes >= 1ull << 39)
            return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "lists of too many bytes");
        if ((p->pieces[i] = hdx_mem_get(mem, bytes)) == NULL)
            return hdx_no_memory(err, "lists of references", bytes);
        p->piece_bytes[i] = bytes;
        code = get(context, p->pieces[i], bytes, err);
    }
    return code;
}

#define AT_ONCE 4u /* read and written, whether they exist or not */

static inline bool has_far(const uint8_t *classes)
{
    const uint64_t low = ~hdx_le64(classes); /* tests whether one of its bytes is 0 */
    return ((low - 0x0101010101010101u) & ~low & 0x8080808080808080u) != 0;
}

/*
 * Reads the lists of nodes v .. v + n - 1, from place `from` of a group with narrow ends and no class among its
 * entries.
 */
static inline uint32_t pairs_of_group(const hdx_packed *p, const uint8_t *head, uint64_t v, unsigned from, unsigned n,
                                      uint64_t *sources, uint64_t *targets)
{
    const uint64_t ends = hdx_le64(head), begins = ends << 8;
    const unsigned begin = begins >> 8 * from & 255, count = (unsigned)(ends >> 8 * (from + n - 1) & 255) - begin,
                   width = p->width;
    const uint8_t *at = head + ENDS + CLASSES + begin * width;
    if (width == 4)
        for (unsigned i = 0; i < count; i += AT_ONCE) {
            const uint8_t *four = at + 4 * (size_t)i;
            uint64_t      *to = targets + i;
#pragma GCC unroll 4
            for (unsigned k = 0; k < AT_ONCE; k++)
                to[k] = hdx_le32(four + 4 * k);
        }
    else
        for (unsigned i = 0; i < count; i++)
            targets[i] = hdx_le64(at + i * width) & p->mask;
    if (sources == NULL)
        return count;
    for (unsigned k = from; k < from + n; k++, v++) {
        const unsigned stop = (unsigned)(ends >> 8 * k & 255) - begin;
        unsigned       i = (unsigned)(begins >> 8 * k & 255) - begin;
        do { /* always four of a list: the next one overwrites excess ones */
            uint64_t *to = sources + i;
#pragma GCC unroll 4
            for (unsigned j = 0; j < AT_ONCE; j++)
                to[j] = v;
        } while ((i += AT_ONCE) < stop);
    }
    return count;
}

/* Same if some entries are classes. */
static inline uint32_t pairs_of_mixed(const hdx_packed *p, const hdx_packed_group *g, uint64_t v, unsigned from,
                                      unsigned n, uint64_t *sources, uint64_t *targets)
{
    const uint64_t ends = hdx_le64(g->ends), begins = ends << 8;
    const uint8_t *entries = g->classes + CLASSES;
    uint32_t       count = 0;
    for (unsigned k = from; k < from + n; k++, v++) {
        const unsigned end = ends >> 8 * k & 255, begin = begins >> 8 * k & 255;
        for (unsigned i = begin + (begin < end && g->classes[k] == HDX_PACKED_FAR); i < end; i++, count++) {
            targets[count] = hdx_le64(entries + i * p->width) & p->mask;
            if (sources != NULL)
                sources[count] = v;
        }
    }
    return count;
}

/* Reads one list, or the part of it for which there is room. */
static uint32_t pairs_of_list(const hdx_packed *p, hdx_packed_walk *w, uint64_t room, uint64_t *sources,
                              uint64_t *targets)
{
    hdx_packed_list list = hdx_packed_at(p, w->node);
    assert(w->skip <= list.count); /* P3 */
    const uint64_t left = list.count - w->skip;
    uint32_t       count = 0;
    list.at += w->skip * p->width;
    for (; count < left && count < room; count++) {
        targets[count] = hdx_packed_next(p, &list);
        if (sources != NULL)
            sources[count] = w->node;
    }
    w->skip = count < left ? w->skip + count : 0;
    w->node += count == left;
    return count;
}

uint32_t hdx_packed_pairs(const hdx_packed *p, hdx_packed_walk *w, uint32_t most, uint64_t *sources, uint64_t *targets)
{
    uint32_t count = 0;
    while (w->node < w->end && count < most) {
        const hdx_packed_group g = hdx_packed_group_of(p, w->node);
        uint64_t              *of = sources == NULL ? NULL : sources + count;
        if (!g.wide && w->skip == 0) {
            const unsigned from = (unsigned)(w->node & 7),
                           n = w->end - w->node < 8u - from ? (unsigned)(w->end - w->node) : 8u - from;
            count += has_far(g.classes) ? pairs_of_mixed(p, &g, w->node, from, n, of, targets + count)
                                        : pairs_of_group(p, g.ends, w->node, from, n, of, targets + count);
            w->node += n;
        } else
            count += pairs_of_list(p, w, most + HDX_PACKED_MORE - count, of, targets + count);
    }
    assert(count <= most + HDX_PACKED_MORE); /* P4 */
    return count;
}

hdx_code hdx_packed_referred(const hdx_packed *p, hdx_ticker *tick, uint64_t *once, uint64_t *many, hdx_error *err)
{
    hdx_packed_walk walk = { .end = p->nodes };
    uint64_t        targets[REFERRED + HDX_PACKED_MORE];
    for (uint64_t batches = 1; walk.node < walk.end; batches++) {
        const uint32_t n = hdx_packed_pairs(p, &walk, REFERRED, NULL, targets);
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t to = targets[i], bit = 1ull << (to & 63), before = once[to >> 6];
            many[to >> 6] |= before & bit;
            once[to >> 6] = before | bit;
        }
        if (batches % TICK_BATCHES == 0 && hdx_tick(tick, 0))
            return hdx_tick_stop(err);
    }
    return HDX_OK;
}

void hdx_packed_lengths(hdx_packed *p, uint64_t first, uint32_t n, uint64_t *lengths)
{
    assert(first % HDX_PACKED_BLOCK == 0 && first + n <= p->nodes); /* P5 */
    for (uint32_t i = 0; i < n; i += HDX_PACKED_BLOCK) {
        uint64_t edges = 0;
        for (uint32_t k = i; k < n && k < i + HDX_PACKED_BLOCK; k++)
            edges += lengths[k] = hdx_packed_at(p, first + k).count;
        p->before[(first + i) / HDX_PACKED_BLOCK] = edges;
    }
}

void hdx_packed_sum(hdx_packed *p)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i <= p->blocks; i++) {
        const uint64_t edges = i < p->blocks ? p->before[i] : 0;
        p->before[i] = sum;
        sum += edges;
    }
    if (p->edges != sum) /* the code that packed the lists has set it; other threads may be reading it */
        p->edges = sum;
}

hdx_packed_walk hdx_packed_walk_from(const hdx_packed *p, uint64_t value)
{
    if (p->blocks == 0)
        return (hdx_packed_walk){ 0, p->nodes, 0 };
    /* The last block that begins at or before it. */
    const uint64_t  block = hdx_upper_bound(HDX_NUMBERS(p->before, p->blocks), value) - 1;
    hdx_packed_walk walk = { block * HDX_PACKED_BLOCK, p->nodes, value - p->before[block] };
    while (walk.node < walk.end) {
        const uint64_t n = hdx_packed_at(p, walk.node).count;
        if (walk.skip < n)
            break;
        walk.skip -= n;
        walk.node++;
    }
    return walk;
}
