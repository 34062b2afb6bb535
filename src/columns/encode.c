/*
 * encode.c - the values of a page as Parquet stores them: bit-packed or repeated small numbers (RLE), differences
 * (DELTA_BINARY_PACKED), booleans.
 *
 * Cost: 1 to 3 ns a value. Room is reserved once for each piece, so that inner loops have no checks.
 */
#include "columns/columns.h"

static void put_varint(hdx_buffer *out, uint64_t v)
{
    uint8_t  bytes[10];
    unsigned n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    hdx_buffer_put(out, bytes, n);
}

static void put_zigzag(hdx_buffer *out, uint64_t v) { put_varint(out, v << 1 ^ (v >> 63 != 0 ? UINT64_MAX : 0)); }

/* ---- packing: values of `width` bits, fewer than 64, from the low bit of each byte up ---- */

typedef struct packer {
    uint8_t *at;
    uint64_t bits; /* not yet written */
    unsigned count;
} packer;

static void pack(packer *p, uint64_t value, unsigned width)
{
    p->bits |= value << p->count;
    if (p->count + width < 64) {
        p->count += width;
        return;
    }
    memcpy(p->at, &p->bits, 8); /* little-endian, like all supported machines */
    p->at += 8;
    p->bits = value >> (64 - p->count);
    p->count = p->count + width - 64;
}

static uint8_t *finish(packer *p)
{
    for (; p->count > 0; p->count -= p->count < 8 ? p->count : 8) {
        *p->at++ = (uint8_t)p->bits;
        p->bits >>= 8;
    }
    return p->at;
}

/* ---- RLE ---- */

/* Groups of eight, the last one padded with zeros. */
static void put_packed(hdx_buffer *out, const uint32_t *values, uint32_t count, unsigned width)
{
    const uint32_t groups = (count + 7) / 8;
    if (groups == 0)
        return;
    put_varint(out, (uint64_t)groups << 1 | 1);
    uint8_t *to = (uint8_t *)hdx_buffer_room(out, (uint64_t)groups * width + 8);
    if (to == NULL)
        return;
    packer p = { .at = to };
    for (uint32_t i = 0; i < count; i++)
        pack(&p, values[i], width);
    for (uint32_t i = count; i < groups * 8; i++)
        pack(&p, 0, width);
    out->len += (uint64_t)(finish(&p) - to);
}

void hdx_encode_hybrid(hdx_buffer *out, const uint32_t *values, uint32_t count, unsigned width)
{
    uint32_t from = 0, at = 0;
    while (at < count) {
        uint32_t same = 1;
        while (at + same < count && values[at + same] == values[at])
            same++;
        if (same < 8) { /* runs begin at groups of eight */
            at += count - at < 8 ? count - at : 8;
            continue;
        }
        put_packed(out, values + from, at - from, width);
        put_varint(out, (uint64_t)same << 1);
        const uint32_t v = values[at];
        hdx_buffer_put(out, &v, (width + 7) / 8);
        from = at += same;
    }
    put_packed(out, values + from, at - from, width);
}

void hdx_encode_levels(hdx_buffer *out, const uint64_t *present, uint32_t count)
{
    uint32_t from = 0, at = 0;
    while (at < count) {
        const bool is = hdx_bits_test(present, at);
        uint32_t   same = 1;
        while (at + same < count && hdx_bits_test(present, at + same) == is)
            same++;
        if (same < 16 && at + same < count) {
            at += count - at < 8 ? count - at : 8;
            continue;
        }
        if (at > from) {
            put_varint(out, (uint64_t)((at - from + 7) / 8) << 1 | 1);
            for (uint32_t i = from; i < at; i += 8) {
                uint8_t byte = 0;
                for (uint32_t k = i; k < at && k < i + 8; k++)
                    byte |= (uint8_t)(hdx_bits_test(present, k) << (k - i));
                hdx_buffer_put(out, &byte, 1);
            }
        }
        put_varint(out, (uint64_t)same << 1);
        hdx_buffer_put(out, &(const uint8_t){ is }, 1);
        from = at += same;
    }
    if (at > from) {
        put_varint(out, (uint64_t)((at - from + 7) / 8) << 1 | 1);
        for (uint32_t i = from; i < at; i += 8) {
            uint8_t byte = 0;
            for (uint32_t k = i; k < at && k < i + 8; k++)
                byte |= (uint8_t)(hdx_bits_test(present, k) << (k - i));
            hdx_buffer_put(out, &byte, 1);
        }
    }
}

/* ---- DELTA_BINARY_PACKED: blocks of 128 differences, four parts of 32 with a width each ---- */

enum { BLOCK = 128, PARTS = 4, PART = 32 };

static void put_block(hdx_buffer *out, const uint64_t *values, uint32_t count)
{
    uint64_t deltas[BLOCK] = { 0 };
    uint8_t  widths[PARTS] = { 0 };
    int64_t  least = INT64_MAX;
    for (uint32_t i = 0; i < count; i++) { /* differences wrap around, as the format requires */
        deltas[i] = values[i] - values[(int64_t)i - 1];
        least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
    }
    put_zigzag(out, (uint64_t)least);
    for (uint32_t i = 0; i < count; i++) {
        deltas[i] -= (uint64_t)least;
        const uint8_t width = (uint8_t)hdx_bit_width(deltas[i]);
        widths[i / PART] = width > widths[i / PART] ? width : widths[i / PART];
    }
    hdx_buffer_put(out, widths, PARTS);
    for (uint32_t part = 0; part * PART < count; part++) {
        uint8_t *to = (uint8_t *)hdx_buffer_room(out, PART * 8 + 8);
        if (to == NULL)
            return;
        packer p = { .at = to };
        if (widths[part] == 64)
            memcpy(to, deltas + part * PART, PART * 8);
        for (uint32_t i = part * PART; widths[part] < 64 && widths[part] > 0 && i < (part + 1) * PART; i++)
            pack(&p, deltas[i], widths[part]);
        out->len += widths[part] == 64 ? PART * 8u : (uint64_t)(finish(&p) - to);
    }
}

void hdx_encode_delta(hdx_buffer *out, const uint64_t *values, uint32_t count)
{
    put_varint(out, BLOCK);
    put_varint(out, PARTS);
    put_varint(out, count);
    put_zigzag(out, count > 0 ? values[0] : 0);
    for (uint32_t at = 1; at < count; at += BLOCK)
        put_block(out, values + at, count - at < BLOCK ? count - at : BLOCK);
}

void hdx_encode_bits(hdx_buffer *out, const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 8) {
        uint8_t byte = 0;
        for (uint32_t k = i; k < count && k < i + 8; k++)
            byte |= (uint8_t)((values[k] & 1) << (k - i));
        hdx_buffer_put(out, &byte, 1);
    }
}
