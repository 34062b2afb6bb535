/*
 * gzip_maker.c - gzip members, deflate blocks and a file door, for tests.
 */
#include "support/gzip_maker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void gm_put(gm_bytes *b, const void *bytes, size_t len)
{
    if (len > b->room - b->len) {
        size_t room = 2 * b->room + len + 64;
        if ((b->at = realloc(b->at, room)) == NULL)
            abort();
        b->room = room;
    }
    if (len > 0)
        memcpy(b->at + b->len, bytes, len);
    b->len += len;
}

void gm_byte(gm_bytes *b, unsigned byte)
{
    uint8_t one = (uint8_t)byte;
    gm_put(b, &one, 1);
}

void gm_free(gm_bytes *b)
{
    free(b->at);
    *b = (gm_bytes){ 0 };
}

uint64_t gm_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void gm_data(gm_bytes *b, size_t len, uint64_t seed)
{
    static const char word[] = "java/util/concurrent/ConcurrentHashMap$Node";
    uint8_t           record[512];
    size_t            end = b->len + len;
    while (b->len < end) {
        uint64_t r = gm_random(&seed);
        size_t   n = 24 + r % 40;
        memset(record, 0, sizeof record);
        record[0] = 0x21;
        memcpy(record + 1, "\0\0\0\7\xf0", 5);
        record[6] = (uint8_t)(r >> 8);
        record[7] = (uint8_t)(r >> 16);
        record[20] = (uint8_t)(r >> 24);
        if (r >> 32 & 1)
            memcpy(record + 22, word + (r >> 33) % 20, 20);
        if ((r >> 40) % 8 == 0)
            for (n = 0; n < 128; n++)
                record[n] = (uint8_t)gm_random(&seed);
        if ((r >> 48) % 32 == 0)
            n = sizeof record;
        gm_put(b, record, n < end - b->len ? n : end - b->len);
    }
}

/* ---------------------------------------------------------------------------------------------------- containers */

void gm_deflate(gm_bytes *out, const void *data, size_t len, const gm_member *how)
{
    z_stream z = { 0 };
    uint8_t  buffer[4096];
    size_t   done = 0, step = how->flush_every > 0 ? how->flush_every : 1u << 30;
    int      level = how->stored ? 0 : how->level != 0 ? how->level : 6;
    if (deflateInit2(&z, level, Z_DEFLATED, -(how->window_bits != 0 ? how->window_bits : 15),
                     how->mem_level != 0 ? how->mem_level : 8, how->strategy) != Z_OK)
        abort();
    do {
        size_t n = len - done < step ? len - done : step;
        int    flush = done + n == len ? Z_FINISH : Z_SYNC_FLUSH;
        z.next_in = (Bytef *)(uintptr_t)((const uint8_t *)data + done);
        z.avail_in = (uInt)n;
        do {
            z.next_out = buffer;
            z.avail_out = sizeof buffer;
            if (deflate(&z, flush) == Z_STREAM_ERROR)
                abort();
            gm_put(out, buffer, sizeof buffer - z.avail_out);
        } while (z.avail_out == 0);
        done += n;
    } while (done < len);
    (void)deflateEnd(&z);
}

static void put_le(gm_bytes *out, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        gm_byte(out, value >> 8 * i);
}

void gm_member_put(gm_bytes *out, const void *data, size_t len, const gm_member *how)
{
    size_t   from = out->len;
    unsigned flags =
        (how->hcrc ? 2u : 0) | (how->extra ? 4u : 0) | (how->name ? 8u : 0) | (how->comment ? 16u : 0) | how->flags;
    gm_put(out, "\x1f\x8b", 2);
    gm_byte(out, how->method != 0 ? how->method : 8);
    gm_byte(out, flags);
    gm_put(out, "\0\0\0\0\4\3", 6);
    if (how->extra != NULL) {
        put_le(out, (uint32_t)how->extra->len, 2);
        gm_put(out, how->extra->at, how->extra->len);
    }
    if (how->name != NULL)
        gm_put(out, how->name, strlen(how->name) + 1);
    if (how->comment != NULL)
        gm_put(out, how->comment, strlen(how->comment) + 1);
    if (how->hcrc)
        put_le(out, (uint32_t)crc32(0, out->at + from, (uInt)(out->len - from)) ^ how->bad_hcrc, 2);
    if (how->body != NULL)
        gm_put(out, how->body->at, how->body->len);
    else
        gm_deflate(out, data, len, how);
    put_le(out, (uint32_t)crc32(len > 0 ? 0 : crc32(0, NULL, 0), data, (uInt)len) ^ how->bad_crc, 4);
    put_le(out, (uint32_t)len + how->bad_size, 4);
}

void gm_zlib_put(gm_bytes *out, const void *data, size_t len, int level)
{
    uint32_t sum = (uint32_t)adler32(1, data, (uInt)len);
    gm_put(out, "\x78\x9c", 2);
    gm_deflate(out, data, len, &(gm_member){ .level = level });
    for (int i = 3; i >= 0; i--)
        gm_byte(out, sum >> 8 * i);
}

void gm_jdk_put(gm_bytes *out, const gm_bytes *plain, size_t block)
{
    for (size_t at = 0; at < plain->len; at += block)
        gm_member_put(out, plain->at + at, plain->len - at < block ? plain->len - at : block,
                      &(gm_member){ .level = 1, .comment = at == 0 ? "HPROF BLOCKSIZE=1048576" : NULL });
}

void gm_bgzf_put(gm_bytes *out, const gm_bytes *plain)
{
    static const char end[] = "\x1f\x8b\x08\x04\0\0\0\0\0\xff\6\0\x42\x43\2\0\x1b\0\3\0\0\0\0\0\0\0\0";
    for (size_t at = 0; at < plain->len; at += 65280) {
        gm_bytes extra = { 0 };
        size_t   from = out->len, n = plain->len - at < 65280 ? plain->len - at : 65280;
        gm_put(&extra, "BC\2\0\0\0", 6);
        gm_member_put(out, plain->at + at, n, &(gm_member){ .extra = &extra });
        out->at[from + 16] = (uint8_t)(out->len - from - 1);
        out->at[from + 17] = (uint8_t)((out->len - from - 1) >> 8);
        gm_free(&extra);
    }
    gm_put(out, end, 28);
}

/*
 * ---------------------------------------------------------------------------------------------------- blocks by hand
 */

void gm_bits_put(gm_bits *b, uint32_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        b->hold |= (value >> i & 1) << b->have;
        if (++b->have == 8) {
            gm_byte(b->to, b->hold);
            b->hold = b->have = 0;
        }
    }
}

void gm_bits_end(gm_bits *b)
{
    if (b->have > 0)
        gm_bits_put(b, 0, 8 - b->have);
}

/* Huffman codes go in from their highest bit. */
static void code(gm_bits *b, uint32_t value, unsigned width)
{
    while (width-- > 0)
        gm_bits_put(b, value >> width & 1, 1);
}

static void symbol(gm_bits *b, unsigned s) /* RFC 1951 3.2.6 */
{
    if (s < 144)
        code(b, 0x30 + s, 8);
    else if (s < 256)
        code(b, 0x190 + s - 144, 9);
    else if (s < 280)
        code(b, s - 256, 7);
    else
        code(b, 0xc0 + s - 280, 8);
}

void gm_fixed_begin(gm_bits *b, bool last) { gm_bits_put(b, (last ? 1u : 0) | 1u << 1, 3); }
void gm_literal(gm_bits *b, uint8_t byte) { symbol(b, byte); }
void gm_fixed_end(gm_bits *b) { symbol(b, 256); }

void gm_match(gm_bits *b, unsigned length, unsigned distance)
{
    static const uint16_t lengths[29] = { 3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
    unsigned              l = 28, d = 29, base[30];
    for (unsigned i = 0; i < 30; i++)
        base[i] = i < 4 ? i + 1 : ((2u + (i & 1)) << (i / 2 - 1)) + 1;
    while (lengths[l] > length)
        l--;
    while (base[d] > distance)
        d--;
    symbol(b, 257 + l);
    gm_bits_put(b, length - lengths[l], l < 8 || l == 28 ? 0 : l / 4 - 1);
    code(b, d, 5);
    gm_bits_put(b, distance - base[d], d < 4 ? 0 : d / 2 - 1);
}

void gm_giant(gm_bytes *body, gm_bytes *plain, size_t len, uint64_t seed)
{
    gm_bits b = { body, 0, 0 };
    size_t  from = plain->len;
    gm_fixed_begin(&b, true);
    while (plain->len - from < len) {
        uint64_t r = gm_random(&seed);
        size_t   have = plain->len - from;
        if (have < 4 || r % 3 == 0) {
            gm_byte(plain, (unsigned)(r >> 8));
            gm_literal(&b, (uint8_t)(r >> 8));
            continue;
        }
        unsigned length = r % 3 == 1 ? 258 : 3 + (unsigned)(r >> 8) % 256, far = have < 32768 ? (unsigned)have : 32768;
        unsigned distance = 1 + (unsigned)(r >> 20) % far;
        gm_match(&b, length, distance);
        for (unsigned i = 0; i < length; i++)
            gm_byte(plain, plain->at[plain->len - distance]);
    }
    gm_fixed_end(&b);
    gm_bits_end(&b);
}

/*
 * ---------------------------------------------------------------------------------------------------- a file in memory
 */

static int mem_open(hdx_io *io, const char *path)
{
    gm_file *f = (gm_file *)io;
    (void)path;
    if (f->open_fails != 0)
        return -f->open_fails;
    f->open_now++;
    return 3;
}

static int mem_close(hdx_io *io, int fd)
{
    (void)fd;
    ((gm_file *)io)->open_now--;
    return 0;
}

static int mem_stat(hdx_io *io, const char *path, struct stat *out)
{
    (void)path;
    *out = (struct stat){ .st_mode = S_IFREG | 0644, .st_size = (off_t)((gm_file *)io)->stat_len };
    return 0;
}

static int64_t mem_read(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    gm_file *f = (gm_file *)io;
    (void)fd;
    if (offset >= f->len)
        return 0;
    if (len > f->len - offset)
        len = f->len - offset;
    if (offset + len > f->fail_from)
        return -EIO;
    memcpy(to, f->bytes + offset, len);
    return (int64_t)len;
}

gm_file gm_file_of(const gm_bytes *b)
{
    return (gm_file){ .io = { .open = mem_open, .close = mem_close, .stat = mem_stat, .read_at = mem_read },
                      .bytes = b->at,
                      .len = b->len,
                      .stat_len = b->len,
                      .fail_from = UINT64_MAX };
}
