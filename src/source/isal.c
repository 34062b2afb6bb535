/*
 * isal.c - inflates deflate blocks with ISA-L, which needs a third to a half of zlib's time. Without ISA-L no block is
 * inflated here.
 *
 * In:  a block whose header is in memory, and the 32 KiB of output before it.
 * Out: the block's bytes, and the bit where the next one begins: the same places as with zlib's Z_BLOCK, so that seek
 *      points are the same.
 * The header rules are those of zlib. Headers for which the two may differ, stored blocks, and data that ISA-L refuses
 * are left to zlib, whose messages are in damage lists.
 * Cost: 120 KiB; a block costs 3 us in addition to its bytes.
 *
 * ISA-L does not stop between blocks, only after the last one of a stream. So each block is presented as the last one:
 * that is the first bit of its header, which is passed in the bit buffer and set there, whatever the file has.
 */
#include "source/inner.h"

#ifdef HDX_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

struct hdx_isal {
    struct inflate_state state;
    bool                 last; /* the bit in the file */
    uint32_t             window_len;
    uint8_t              window[HDX_WINDOW];
};

hdx_isal *hdx_isal_new(const hdx_source *source)
{
    hdx_isal *isal = source->zlib_alone ? NULL : hdx_mem_get(source->mem, sizeof *isal);
    if (isal != NULL)
        isal_inflate_init(&isal->state);
    return isal;
}

void hdx_isal_free(hdx_isal *isal, const hdx_source *source) { hdx_mem_put(source->mem, isal, sizeof *isal); }

uint32_t hdx_crc32(uint32_t crc, const uint8_t *bytes, size_t len) { return crc32_gzip_refl(crc, bytes, len); }

/* ---- headers ---- */

typedef struct bit_reader {
    const uint8_t *next, *end;
    uint64_t       bits;
    unsigned       have;
} bit_reader;

/* Returns the next `n` bits, at most 8, without consuming them; zeros after the end. */
static unsigned peek(bit_reader *r, unsigned n)
{
    while (r->have < n && r->next < r->end) {
        r->bits |= (uint64_t)*r->next++ << r->have;
        r->have += 8;
    }
    return (unsigned)(r->bits & ((1u << n) - 1));
}

/* False: there are not that many. */
static bool skip(bit_reader *r, unsigned n)
{
    if (r->have < n)
        return false;
    r->bits >>= n;
    r->have -= n;
    return true;
}

static bool take_bits(bit_reader *r, unsigned n, unsigned *out)
{
    *out = peek(r, n);
    return skip(r, n);
}

/* Returns whether codes of these lengths use each bit pattern exactly once. */
static bool complete(const uint8_t *lengths, size_t n)
{
    uint32_t used = 0;
    for (size_t i = 0; i < n; i++)
        used += lengths[i] > 0 ? 1u << (15 - lengths[i]) : 0;
    return used == 1u << 15;
}

/* Fills a table from the next seven bits to length << 5 | symbol, for complete codes of at most seven bits. */
static void code_table(const uint8_t *lengths, uint8_t *table)
{
    unsigned code = 0;
    for (unsigned len = 1; len <= 7; len++, code <<= 1)
        for (unsigned symbol = 0; symbol < 19; symbol++) {
            if (lengths[symbol] != len)
                continue;
            unsigned reversed = 0;
            for (unsigned i = 0; i < len; i++)
                reversed |= (code >> i & 1) << (len - 1 - i);
            for (unsigned at = reversed; at < 128; at += 1u << len)
                table[at] = (uint8_t)(len << 5 | symbol);
            code++;
        }
}

/* Reads the lengths of `count` codes, run-length encoded (RFC 1951 3.2.7). */
static bool read_lengths(bit_reader *r, const uint8_t *table, uint8_t *lengths, unsigned count)
{
    static const uint8_t bits[] = { 2, 3, 7 }, least[] = { 3, 3, 11 };
    unsigned             n = 0, more;
    while (n < count) {
        const uint8_t  entry = table[peek(r, 7)];
        const unsigned symbol = entry & 31;
        if (!skip(r, entry >> 5))
            return false;
        if (symbol < 16) {
            lengths[n++] = (uint8_t)symbol;
            continue;
        }
        if (!take_bits(r, bits[symbol - 16], &more) || (symbol == 16 && n == 0))
            return false;
        more += least[symbol - 16];
        if (more > count - n)
            return false;
        const uint8_t value = symbol == 16 ? lengths[n - 1] : 0;
        while (more-- > 0)
            lengths[n++] = value;
    }
    return true;
}

/*
 * Returns whether there is a complete header of a compressed block that zlib and ISA-L treat equally. Codes with unused
 * bit patterns do not count: zlib refuses most of them, ISA-L accepts them.
 */
static bool certain(bit_reader *r, bool *last)
{
    static const uint8_t order[] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
    uint8_t              first[19] = { 0 }, table[128], lengths[286 + 30];
    unsigned             value, type, literals, distances, count;
    if (!take_bits(r, 1, &value) || !take_bits(r, 2, &type))
        return false;
    *last = value != 0;
    if (type != 2)
        return type == 1;
    if (!take_bits(r, 5, &literals) || !take_bits(r, 5, &distances) || !take_bits(r, 4, &count) ||
        literals > 286 - 257 || distances > 30 - 1)
        return false;
    for (unsigned i = 0; i < count + 4; i++) {
        if (!take_bits(r, 3, &value))
            return false;
        first[order[i]] = (uint8_t)value;
    }
    if (!complete(first, sizeof first))
        return false;
    code_table(first, table);
    return read_lengths(r, table, lengths, literals + 257 + distances + 1) && lengths[256] > 0 &&
           complete(lengths, literals + 257) && complete(lengths + literals + 257, distances + 1);
}

/* ---- blocks ---- */

bool hdx_isal_begin(hdx_isal *isal, z_stream *z, unsigned odd, const uint8_t *end, size_t len)
{
    bit_reader header = { .next = z->next_in, .end = z->next_in + z->avail_in, .have = odd };
    if (odd > 0)
        header.bits = (uint64_t)z->next_in[-1] >> (8 - odd);
    const uint64_t bits = header.bits;
    if (isal == NULL || !certain(&header, &isal->last))
        return false;
    if (len > HDX_WINDOW)
        len = HDX_WINDOW;
    isal->window_len = (uint32_t)len;
    if (len > 0)
        memcpy(isal->window, end - len, len);
    isal_inflate_reset(&isal->state);
    if (isal_inflate_set_dict(&isal->state, isal->window, isal->window_len) != COMP_OK)
        return false;
    isal->state.read_in = bits;
    isal->state.read_in_length = (int32_t)odd;
    if (odd == 0) {
        isal->state.read_in = *z->next_in++;
        isal->state.read_in_length = 8;
        z->avail_in--;
    }
    isal->state.read_in |= 1; /* presents it as the last block */
    return true;
}

hdx_isal_step hdx_isal_run(hdx_isal *isal, z_stream *z, unsigned *odd)
{
    struct inflate_state *s = &isal->state;
    s->next_in = (uint8_t *)(uintptr_t)z->next_in;
    s->avail_in = z->avail_in;
    s->next_out = z->next_out;
    s->avail_out = z->avail_out;
    if (isal_inflate(s) != ISAL_DECOMP_OK)
        return HDX_ISAL_UNSURE;
    z->next_in = s->next_in;
    z->avail_in = s->avail_in;
    z->next_out = s->next_out;
    z->avail_out = s->avail_out;
    if (s->block_state != ISAL_BLOCK_FINISH)
        return z->avail_in > 0 && z->avail_out > 0 ? HDX_ISAL_UNSURE : HDX_ISAL_MORE;
    if (s->read_in_length < 0 || s->read_in_length > 8 * (int)HDX_BEFORE)
        return HDX_ISAL_UNSURE;
    const unsigned back = (unsigned)s->read_in_length / 8;
    z->next_in -= back;
    z->avail_in += back;
    *odd = (unsigned)s->read_in_length % 8;
    return isal->last ? HDX_ISAL_LAST : HDX_ISAL_BLOCK;
}

const uint8_t *hdx_isal_window(const hdx_isal *isal, uint32_t *len)
{
    *len = isal->window_len;
    return isal->window;
}

#else

hdx_isal *hdx_isal_new(const hdx_source *source)
{
    (void)source;
    return NULL;
}

void hdx_isal_free(hdx_isal *isal, const hdx_source *source) { (void)isal, (void)source; }

uint32_t hdx_crc32(uint32_t crc, const uint8_t *bytes, size_t len)
{
    for (; len > UINT32_MAX; bytes += UINT32_MAX, len -= UINT32_MAX)
        crc = (uint32_t)crc32(crc, bytes, UINT32_MAX);
    return (uint32_t)crc32(crc, bytes, (uInt)len);
}

bool hdx_isal_begin(hdx_isal *isal, z_stream *z, unsigned odd, const uint8_t *end, size_t len)
{
    (void)isal, (void)z, (void)odd, (void)end, (void)len;
    return false;
}

hdx_isal_step hdx_isal_run(hdx_isal *isal, z_stream *z, unsigned *odd)
{
    (void)isal, (void)z, (void)odd;
    return HDX_ISAL_UNSURE;
}

const uint8_t *hdx_isal_window(const hdx_isal *isal, uint32_t *len)
{
    (void)isal;
    *len = 0;
    return NULL;
}
#endif
