/*
 * packed.c - makes the pieces of packed lists (packed.h) and sums up their lengths.
 */
#include "algo/packed.h"

#define ENDS 8u       /* bytes of a group's ends, */
#define WIDE_ENDS 40u /* or so many where a list ends beyond 255 bytes */

hdx_code hdx_packed_new(hdx_packed *p, uint64_t nodes, hdx_mem *mem, hdx_error *err)
{
    *p = (hdx_packed){ .nodes = nodes };
    hdx_packed_widths(nodes, p->widths);
    if (nodes > HDX_PACKED_NODES)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "%llu objects, at most %llu can be searched", (unsigned long long)nodes,
                        (unsigned long long)HDX_PACKED_NODES);
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

/* Bytes of the lists of a group of n nodes. */
static uint64_t group_bytes(const uint32_t *lengths, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += lengths[i];
    return sum;
}

static void put40(uint8_t *to, uint64_t v)
{
    for (unsigned i = 0; i < 5; i++)
        to[i] = (uint8_t)(v >> 8 * i);
}

static void lay_group(uint8_t *head, const uint32_t *lengths, uint64_t n, bool wide)
{
    uint64_t end = 0;
    for (uint64_t k = 0; k < 8; k++) {
        end += k < n ? lengths[k] : 0;
        if (wide)
            put40(head + 5 * k, end);
        else
            head[k] = (uint8_t)end;
    }
}

hdx_code hdx_packed_lay(hdx_packed *p, uint64_t piece, const uint32_t *lengths, hdx_mem *mem, hdx_error *err)
{
    const uint64_t nodes = hdx_packed_piece_nodes(p, piece), first = piece << HDX_PACKED_PIECE_BITS;
    uint64_t       bytes = 0, at = 0;
    for (uint64_t i = 0; i < nodes; i += 8) {
        const uint64_t lists = group_bytes(lengths + i, nodes - i < 8 ? nodes - i : 8);
        bytes += lists + (lists > 255 ? WIDE_ENDS : ENDS);
    }
    bytes += HDX_PACKED_SLACK;
    if (bytes >= 1ull << 39)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "the references of %llu neighbours take over 2^39 bytes", (unsigned long long)nodes);
    if ((p->pieces[piece] = hdx_mem_get(mem, bytes)) == NULL)
        return hdx_no_memory(err, "lists of references", bytes);
    p->piece_bytes[piece] = bytes;
    for (uint64_t i = 0; i < nodes; i += 8) {
        const uint64_t n = nodes - i < 8 ? nodes - i : 8, lists = group_bytes(lengths + i, n);
        put40(p->bases + (first + i) / 8 * 5, at << 1 | (lists > 255));
        lay_group(p->pieces[piece] + at, lengths + i, n, lists > 255);
        at += lists + (lists > 255 ? WIDE_ENDS : ENDS);
    }
    return HDX_OK;
}

#define AT_ONCE 4u

/* How many targets so many bytes are, at most 255 of them. */
static inline unsigned targets_in(unsigned bytes, unsigned width)
{
    static const uint16_t parts[6] = { 0, 0, 32768, 21846, 16384, 13108 }; /* 65536 / width, rounded up */
    return width == 1 ? bytes : bytes * parts[width] >> 16;
}

/* The lists of nodes v .. v + n - 1, from place `from` of a group on whose ends are bytes. */
static uint32_t pairs_of_group(const hdx_packed *p, const uint8_t *head, uint64_t v, unsigned from, unsigned n, uint64_t *sources, uint64_t *targets)
{
    const uint8_t *lists = head + ENDS;
    unsigned       begin = from == 0 ? 0 : head[from - 1];
    uint32_t       count = 0;
    for (unsigned k = from; k < from + n; k++, v++) {
        const unsigned end = head[k];
        const uint8_t *at = lists + begin;
        const uint64_t word = hdx_le64(at);
        const unsigned form = (unsigned)(word & 3), bytes = form + 1 + (form == 3), width = p->widths[word >> 2 & 3];
        const uint64_t mask = hdx_packed_mask(width), origin = v - hdx_packed_half(width);
        if (end == begin)
            continue;
        at += bytes;
        const unsigned many = targets_in(end - begin - bytes, width);
#pragma GCC unroll 4
        for (unsigned i = 0; i < AT_ONCE; i++) {
            targets[count + i] = (hdx_le64(at + i * width) & mask) + origin;
            sources[count + i] = v;
        }
        if (many > AT_ONCE)
            for (unsigned i = AT_ONCE; i < many; i++) {
                targets[count + i] = (hdx_le64(at + i * width) & mask) + origin;
                sources[count + i] = v;
            }
        count += many;
        begin = end;
    }
    return count;
}

/* One list, as much of it as there is room for. */
static uint32_t pairs_of_list(const hdx_packed *p, hdx_packed_walk *w, uint64_t room, uint64_t *sources, uint64_t *targets)
{
    hdx_packed_list list = hdx_packed_at(p, w->node);
    const uint64_t  left = (uint64_t)(list.end - list.at) / list.width - w->skip;
    uint32_t        count = 0;
    list.at += w->skip * list.width;
    for (; list.at < list.end && count < room; count++) {
        targets[count] = hdx_packed_next(&list);
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
        const uint64_t base = hdx_le64(p->bases + w->node / 8 * 5) & 0xffffffffffu;
        if ((base & 1) == 0 && w->skip == 0) {
            const unsigned from = (unsigned)(w->node & 7), n = w->end - w->node < 8u - from ? (unsigned)(w->end - w->node) : 8u - from;
            count += pairs_of_group(p, p->pieces[w->node >> HDX_PACKED_PIECE_BITS] + (base >> 1), w->node, from, n, sources + count, targets + count);
            w->node += n;
        } else
            count += pairs_of_list(p, w, most + HDX_PACKED_PAIRS - AT_ONCE - count, sources + count, targets + count);
    }
    return count;
}

void hdx_packed_lengths(hdx_packed *p, uint64_t first, uint32_t n, uint64_t *lengths)
{
    for (uint32_t i = 0; i < n; i += HDX_PACKED_BLOCK) {
        uint64_t edges = 0;
        for (uint32_t k = i; k < n && k < i + HDX_PACKED_BLOCK; k++) {
            const hdx_packed_list list = hdx_packed_at(p, first + k);
            const uint64_t        bytes = (uint64_t)(list.end - list.at);
            lengths[k] = bytes < 256 ? targets_in((unsigned)bytes, list.width) : bytes / list.width;
            edges += lengths[k];
        }
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
    if (p->edges != sum) /* whoever packed the lists knows; others may be reading it */
        p->edges = sum;
}

hdx_packed_walk hdx_packed_walk_from(const hdx_packed *p, uint64_t value)
{
    uint64_t low = 0, high = p->blocks == 0 ? 0 : p->blocks - 1; /* the last block that begins at or before it */
    while (low < high) {
        const uint64_t mid = low + (high - low + 1) / 2;
        if (p->before[mid] <= value)
            low = mid;
        else
            high = mid - 1;
    }
    hdx_packed_walk walk = { low * HDX_PACKED_BLOCK, p->nodes, p->blocks == 0 ? 0 : value - p->before[low] };
    while (walk.node < walk.end) {
        const hdx_packed_list list = hdx_packed_at(p, walk.node);
        const uint64_t        n = (uint64_t)(list.end - list.at) / list.width;
        if (walk.skip < n)
            break;
        walk.skip -= n;
        walk.node++;
    }
    return walk;
}
