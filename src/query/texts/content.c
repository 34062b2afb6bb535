/*
 * content.c - the content of an object as a separate file: a text, the bytes of an array, the picture of an Android
 * bitmap.
 *
 * Bitmaps up to Android 7 store their pixels in the array mBuffer: four bytes per pixel (ARGB_8888: red, green, blue,
 * alpha, each color already multiplied by alpha), two (RGB_565, low byte first) or one (ALPHA_8). No field has the
 * format; it follows from the length of the array. Later versions store pixels in native memory, which is not in the
 * dump.
 *
 * Pictures are PNG (ISO/IEC 15948) with uncompressed pixels: stored blocks of DEFLATE, so that a row is written as soon
 * as it is read, and only one row is in memory.
 */
#include "query/texts/content.h"
#include "query/query.h"

#include <stdlib.h>

#define BITMAP "android.graphics.Bitmap"
#define SIDE   32767u  /* maximum pixels per side; Android's own limits are far below */
#define BLOCK  0xffffu /* bytes of a stored block */
#define ADLER  65521u

typedef struct picture {
    uint32_t width, height;
    unsigned size, samples; /* bytes per pixel in the dump; samples per pixel in the picture */
    hdx_put *put;
    void    *context;
    uint32_t row, a, b;       /* rows written; Adler-32 of all of them */
    uint64_t row_bytes, line; /* bytes read of the next row; bytes of a row in the picture, with its filter */
    uint8_t *in, *out;
    bool     refused;
} picture;

/* ---- PNG ---- */

static uint32_t crc_of(uint32_t crc, const uint8_t *p, size_t n)
{
    static const uint32_t table[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
    for (size_t i = 0; i < n; i++) {
        crc = table[(crc ^ p[i]) & 15] ^ (crc >> 4);
        crc = table[(crc ^ (uint32_t)(p[i] >> 4)) & 15] ^ (crc >> 4);
    }
    return crc;
}

static void put_be32(uint8_t *to, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* Writes a chunk with data in two pieces. */
static void put_chunk(picture *p, const char *type, const uint8_t *head, size_t head_len, const uint8_t *data,
                      size_t len)
{
    uint8_t  begin[8], sum[4];
    uint32_t crc;
    put_be32(begin, (uint32_t)(head_len + len));
    memcpy(begin + 4, type, 4);
    crc = crc_of(UINT32_MAX, begin + 4, 4);
    crc = crc_of(crc_of(crc, head, head_len), data, len);
    put_be32(sum, ~crc);
    p->refused = p->refused || !p->put(p->context, (const char *)begin, sizeof begin) ||
                 (head_len > 0 && !p->put(p->context, (const char *)head, head_len)) ||
                 (len > 0 && !p->put(p->context, (const char *)data, len)) ||
                 !p->put(p->context, (const char *)sum, sizeof sum);
}

static void begin_picture(picture *p)
{
    static const char    mark[] = "\x89PNG\r\n\x1a\n";
    static const uint8_t zlib[] = { 0x78, 0x01 };
    uint8_t              head[13] = { [8] = 8, [9] = p->samples == 4 ? 6 : p->samples == 3 ? 2 : 0 };
    put_be32(head, p->width);
    put_be32(head + 4, p->height);
    p->a = 1;
    p->refused = !p->put(p->context, mark, sizeof mark - 1);
    put_chunk(p, "IHDR", head, sizeof head, NULL, 0);
    put_chunk(p, "IDAT", zlib, sizeof zlib, NULL, 0);
}

static void end_picture(picture *p)
{
    uint8_t end[9] = { 1, 0, 0, 0xff, 0xff }; /* the last block, empty */
    put_be32(end + 5, p->b << 16 | p->a);
    put_chunk(p, "IDAT", end, sizeof end, NULL, 0);
    put_chunk(p, "IEND", NULL, 0, NULL, 0);
}

static uint8_t without_alpha(uint8_t color, uint8_t alpha)
{
    const unsigned whole = alpha == 0 ? 0 : (color * 255u + alpha / 2u) / alpha;
    return (uint8_t)(whole < 255u ? whole : 255u);
}

static void put_row(picture *p)
{
    uint8_t *to = p->out + 1; /* after the filter byte, which is 0 */
    for (uint32_t x = 0; x < p->width; x++, to += p->samples) {
        const uint8_t *from = p->in + (size_t)x * p->size;
        if (p->size == 4) {
            for (unsigned i = 0; i < 3; i++)
                to[i] = without_alpha(from[i], from[3]);
            to[3] = from[3];
        } else if (p->size == 2) {
            const unsigned v = from[0] | (unsigned)from[1] << 8, red = v >> 11, green = v >> 5 & 63, blue = v & 31;
            to[0] = (uint8_t)(red << 3 | red >> 2);
            to[1] = (uint8_t)(green << 2 | green >> 4);
            to[2] = (uint8_t)(blue << 3 | blue >> 2);
        } else {
            to[0] = from[0];
        }
    }
    for (uint64_t i = 0; i < p->line; i++) {
        p->a = (p->a + p->out[i]) % ADLER;
        p->b = (p->b + p->a) % ADLER;
    }
    for (uint64_t at = 0; at < p->line; at += BLOCK) {
        const uint32_t n = p->line - at < BLOCK ? (uint32_t)(p->line - at) : BLOCK;
        const uint8_t  block[5] = { 0, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)~n, (uint8_t)(~n >> 8) };
        put_chunk(p, "IDAT", block, sizeof block, p->out + at, n);
    }
    p->row++;
    p->row_bytes = 0;
}

/* Receives pixels as they are in the dump; bytes after the last row do not belong to the picture. */
static bool take_pixels(void *context, const char *bytes, size_t len)
{
    picture       *p = context;
    const uint64_t row = (uint64_t)p->width * p->size;
    while (len > 0 && p->row < p->height && !p->refused) {
        const size_t n = row - p->row_bytes < len ? (size_t)(row - p->row_bytes) : len;
        memcpy(p->in + p->row_bytes, bytes, n);
        p->row_bytes += n;
        bytes += n;
        len -= n;
        if (p->row_bytes == row)
            put_row(p);
    }
    return !p->refused;
}

/* ---- bitmaps ---- */

static hdx_code field(const hdx_query *q, hdx_id id, const char *name, uint8_t type, hdx_value *out, bool *found,
                      hdx_error *err)
{
    hdx_code code = hdx_graph_field(q->graph, id, BITMAP, name, out, found, err);
    *found = code == HDX_OK && *found && out->type == type && !out->absent;
    return code;
}

static hdx_code no_pixels(const hdx_query *q, hdx_id id, const char *why, hdx_error *err)
{
    return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "pixels of bitmap 0x%llx %s",
                    (unsigned long long)hdx_graph_address(q->graph, id), why);
}

/* Reads width, height and the array; p->size: bytes per pixel. */
static hdx_code read_layout(const hdx_query *q, hdx_id id, picture *p, hdx_id *pixels, hdx_error *err)
{
    hdx_value width, height, buffer;
    bool      wide, high, some;
    hdx_code  code = field(q, id, "mWidth", 10, &width, &wide, err);
    if (code != HDX_OK || (code = field(q, id, "mHeight", 10, &height, &high, err)) != HDX_OK ||
        (code = field(q, id, "mBuffer", 2, &buffer, &some, err)) != HDX_OK)
        return code;
    if (!some || buffer.as.address == 0 || !hdx_graph_find(q->graph, buffer.as.address, pixels))
        return no_pixels(q, id, "are not in the dump: Android 8 and later store them in native memory", err);
    if (!wide || !high || width.as.integer < 1 || height.as.integer < 1 || width.as.integer > SIDE ||
        height.as.integer > SIDE)
        return no_pixels(q, id, "cannot be read: width or height is missing", err);
    p->width = (uint32_t)width.as.integer;
    p->height = (uint32_t)height.as.integer;
    const uint64_t count = (uint64_t)p->width * p->height, length = hdx_graph_length(q->graph, *pixels);
    /* more than 4 bytes per pixel: the array was made for a larger bitmap */
    p->size = length >= 4 * count ? 4 : length == 2 * count ? 2 : length == count ? 1 : 0;
    p->samples = p->size == 2 ? 3 : p->size;
    if (p->size == 0)
        return hdx_hint(err, no_pixels(q, id, "have an unknown layout", err),
                        "to save the array alone: heapdex object DUMP 0x%llx --text -o FILE",
                        (unsigned long long)buffer.as.address);
    return HDX_OK;
}

static hdx_code put_picture(const hdx_query *q, picture *p, hdx_id pixels, hdx_content *what, hdx_error *err)
{
    const uint64_t row = (uint64_t)p->width * p->size;
    hdx_content    array;
    hdx_code       code;
    p->line = 1 + (uint64_t)p->width * p->samples;
    p->in = calloc(1, (size_t)row);
    p->out = calloc(1, (size_t)p->line);
    if (p->in == NULL || p->out == NULL)
        return hdx_no_memory(err, "a row of a picture", row + p->line);
    begin_picture(p);
    code = hdx_graph_content(q->graph, pixels, q->progress, take_pixels, p, &array, err);
    if (code == HDX_OK && array == HDX_CONTENT_ABSENT)
        *what = array;
    if (code == HDX_OK && array == HDX_CONTENT_BYTES && p->row == p->height)
        end_picture(p);
    return code == HDX_OK && p->refused ? hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write") : code;
}

static hdx_code bitmap(const hdx_query *q, hdx_id id, hdx_put *put, void *context, hdx_content *what, hdx_error *err)
{
    picture  p = { .put = put, .context = context };
    hdx_id   pixels = HDX_NO_ID;
    hdx_code code = read_layout(q, id, &p, &pixels, err);
    if (code == HDX_OK) /* checks that the dump has the pixels */
        code = hdx_graph_content(q->graph, pixels, q->progress, NULL, NULL, what, err);
    if (code == HDX_OK && *what == HDX_CONTENT_BYTES) {
        *what = HDX_CONTENT_PICTURE;
        if (put != NULL)
            code = put_picture(q, &p, pixels, what, err);
    }
    free(p.in);
    free(p.out);
    return code;
}

/* ---- any object ---- */

hdx_code hdx_query_content(const hdx_query *q, hdx_id id, hdx_put *put, void *context, hdx_content *what,
                           hdx_error *err)
{
    hdx_ask  ask;
    bool     found = false;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    *what = HDX_CONTENT_NONE;
    if (code != HDX_OK)
        return code;
    const hdx_class *c = hdx_graph_class(q->graph, hdx_graph_class_of(q->graph, id));
    if (c != NULL && c->kind == HDX_INSTANCE) {
        hdx_value width;
        code = hdx_graph_field(q->graph, id, BITMAP, "mWidth", &width, &found, err);
    }
    if (code == HDX_OK)
        code = found ? bitmap(q, id, put, context, what, err)
                     : hdx_graph_content(q->graph, id, q->progress, put, context, what, err);
    if (code != HDX_OK)
        return code;
    const unsigned long long address = hdx_graph_address(q->graph, id);
    if ((code = hdx_graph_check(q->graph, err)) != HDX_OK)
        return code;
    if (*what == HDX_CONTENT_ABSENT)
        return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE,
                        "content of object 0x%llx was stripped from the dump: it is absent, not empty", address);
    if (*what == HDX_CONTENT_NONE)
        return hdx_hint(err,
                        hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE,
                                 "object 0x%llx (%.*s) is neither a text nor a primitive array", address,
                                 c == NULL || c->name.len > 60 ? 0 : (int)c->name.len, c == NULL ? "" : c->name.at),
                        "supported: String, StringBuilder, arrays such as byte[], and android.graphics.Bitmap");
    return HDX_OK;
}
