/*
 * test_content.c - pictures of Android's bitmaps, byte for byte after zlib took them apart; which of them there are;
 * texts and arrays; with what is written refused, and memory, and the dump.
 */
#include "support/questions.h"
#include "heap.h"
#include "support/refusing.h"

#include <zlib.h>

typedef struct sink {
    hdx_buffer b;
    unsigned   left; /* pieces that are taken; 0: all */
    bool       refused;
} sink;

static bool put(void *context, const char *bytes, size_t len)
{
    sink *s = context;
    cr_expect(len > 0 && !s->refused, "nothing is written after a refusal");
    s->refused = s->left == 1;
    s->left -= s->left > 0;
    if (!s->refused)
        hdx_buffer_put(&s->b, bytes, len);
    return !s->refused;
}

/* ---- a heap of bitmaps ---- */

typedef struct bitmaps {
    heap        h;
    dump_maker *m;
    uint64_t    object, bitmap, objects, string;
} bitmaps;

static void begin(bitmaps *b, const char *fields)
{
    memset(b, 0, sizeof *b);
    b->m = dump_maker_new(8);
    b->m->next_id = 0x10000;
    b->object = dump_maker_class(b->m, "java.lang.Object", 0, "");
    (void)dump_maker_class(b->m, "byte[]", b->object, "");
    b->objects = dump_maker_class(b->m, "java.lang.Object[]", b->object, "");
    b->string = dump_maker_class(b->m, "java.lang.String", b->object, "value:L coder:B hash:I");
    b->bitmap = dump_maker_class(b->m, "android.graphics.Bitmap", b->object, fields);
}

#define FIELDS "mBuffer:L mHeight:I mWidth:I"

static uint64_t held(bitmaps *b, uint64_t id)
{
    dump_maker_root(b->m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
    return id;
}

static uint64_t bitmap(bitmaps *b, uint64_t buffer, uint64_t height, uint64_t width)
{
    return held(b, dump_maker_instance(b->m, b->bitmap, DUMP_VALUES(buffer, height, width)));
}

static uint64_t pixels(bitmaps *b, const uint8_t *bytes, uint32_t n)
{
    uint64_t *values = calloc(n + 1, sizeof *values);
    for (uint32_t i = 0; i < n; i++)
        values[i] = bytes == NULL ? (uint8_t)(i * 7 + i / 256) : bytes[i];
    const uint64_t id = dump_maker_primitives(b->m, 'B', values, n);
    free(values);
    return id;
}

static void open_all(bitmaps *b) { heap_open(&b->h, b->m); }

static hdx_code content(bitmaps *b, uint64_t id, sink *s, hdx_content *what)
{
    b->h.err = (hdx_error){ .offset = HDX_NOWHERE };
    const hdx_code code = hdx_query_content(&b->h.q, id_at(&b->h, id), s == NULL ? NULL : put, s, what, &b->h.err);
    cr_expect(code == HDX_OK || b->h.err.code == code);
    return code;
}

/* ---- PNG ---- */

typedef struct png {
    uint32_t width, height, chunks;
    uint8_t  kind; /* 0 grey, 2 RGB, 6 RGBA */
    uint8_t *raw;  /* a filter byte and the samples of each row */
    uint64_t len;
} png;

static void read_png(const sink *s, png *p)
{
    const uint8_t *at = (const uint8_t *)s->b.at, *end = at + s->b.len;
    uint8_t       *packed = malloc(s->b.len + 1);
    uint64_t       packed_len = 0;
    bool           ended = false;
    memset(p, 0, sizeof *p);
    cr_assert(s->b.len > 8 && memcmp(at, "\x89PNG\r\n\x1a\n", 8) == 0);
    for (at += 8; at < end; p->chunks++) {
        const uint32_t len = hdx_be32(at);
        cr_assert(ended == false && (uint64_t)(end - at) >= 12ull + len);
        cr_expect(eq(u32, (uint32_t)crc32(0, at + 4, len + 4), hdx_be32(at + 8 + len)), "chunk %u", p->chunks);
        if (memcmp(at + 4, "IHDR", 4) == 0) {
            cr_assert(p->chunks == 0 && len == 13);
            p->width = hdx_be32(at + 8);
            p->height = hdx_be32(at + 12);
            p->kind = at[17];
            cr_expect(at[16] == 8 && at[18] == 0 && at[19] == 0 && at[20] == 0);
        } else if (memcmp(at + 4, "IDAT", 4) == 0) {
            memcpy(packed + packed_len, at + 8, len);
            packed_len += len;
        } else {
            cr_expect(memcmp(at + 4, "IEND", 4) == 0 && len == 0);
            ended = true;
        }
        at += 12 + len;
    }
    cr_expect(ended);
    const uint32_t samples = p->kind == 6 ? 4 : p->kind == 2 ? 3 : 1;
    uLongf         len = (1ull + (uint64_t)p->width * samples) * p->height;
    p->raw = malloc(len + 1);
    p->len = len;
    cr_expect(eq(int, uncompress(p->raw, &len, packed, packed_len), Z_OK));
    cr_expect(eq(u64, len, p->len));
    free(packed);
}

static void expect_picture(bitmaps *b, uint64_t id, uint8_t kind, const uint8_t *raw, uint64_t len)
{
    sink        s = { .b = hdx_buffer_of(NULL) };
    png         p;
    hdx_content what = HDX_CONTENT_NONE;
    cr_assert(eq(int, content(b, id, &s, &what), HDX_OK), "%s", b->h.err.message);
    cr_expect(eq(int, what, HDX_CONTENT_PICTURE));
    read_png(&s, &p);
    cr_expect(eq(int, p.kind, kind));
    cr_assert(eq(u64, p.len, len));
    cr_expect(memcmp(p.raw, raw, len) == 0);
    free(p.raw);
    hdx_buffer_free(&s.b);
    what = HDX_CONTENT_NONE;
    cr_expect(content(b, id, NULL, &what) == HDX_OK && what == HDX_CONTENT_PICTURE);
}

#define BYTES_OF(...) ((const uint8_t[]){ __VA_ARGS__ })

Test(pictures, have_the_pixels_of_their_layout)
{
    bitmaps b;
    begin(&b, FIELDS);
    /* colours are multiplied by alpha: 0 whatever it is; 128 of 255; whole; more than alpha */
    const uint8_t  argb[] = { 9, 9, 9, 0, 64, 128, 1, 128, 1, 2, 255, 255, 200, 100, 50, 100, 3, 3, 3, 3 };
    const uint64_t four = bitmap(&b, pixels(&b, argb, 16), 2, 2), more = bitmap(&b, pixels(&b, argb, 20), 2, 2);
    const uint64_t row = bitmap(&b, pixels(&b, argb, 16), 1, 4);
    const uint8_t  rgb[] = { 0xff, 0xff, 0x00, 0xf8, 0xe0, 0x07, 0x1f, 0x00, 0x21, 0x08, 0x10, 0x84 };
    const uint64_t two = bitmap(&b, pixels(&b, rgb, 12), 3, 2);
    const uint64_t one = bitmap(&b, pixels(&b, argb, 3), 1, 3);
    open_all(&b);
    expect_picture(&b, four, 6, BYTES_OF(0, 0, 0, 0, 0, 128, 255, 2, 128, 0, 1, 2, 255, 255, 255, 255, 128, 100), 18);
    expect_picture(&b, more, 6, BYTES_OF(0, 0, 0, 0, 0, 128, 255, 2, 128, 0, 1, 2, 255, 255, 255, 255, 128, 100), 18);
    expect_picture(&b, row, 6, BYTES_OF(0, 0, 0, 0, 0, 128, 255, 2, 128, 1, 2, 255, 255, 255, 255, 128, 100), 17);
    expect_picture(&b, two, 2,
                   BYTES_OF(0, 255, 255, 255, 255, 0, 0, 0, 0, 255, 0, 0, 0, 255, 0, 8, 4, 8, 132, 130, 132), 21);
    expect_picture(&b, one, 0, BYTES_OF(0, 9, 9, 9), 4);
    heap_close(&b.h);
}

/* Rows longer than a block of DEFLATE, and the longest that there may be. */
static void expect_grey(bitmaps *b, uint64_t id, uint32_t width, uint32_t height)
{
    uint8_t *raw = malloc((1ull + width) * height), *to = raw;
    for (uint32_t y = 0, i = 0; y < height; y++) {
        *to++ = 0;
        for (uint32_t x = 0; x < width; x++, i++)
            *to++ = (uint8_t)(i * 7 + i / 256);
    }
    expect_picture(b, id, 0, raw, (uint64_t)(to - raw));
    free(raw);
}

static void expect_opaque(bitmaps *b, uint64_t id, uint32_t width)
{
    uint8_t *raw = malloc(1 + 4ull * width);
    raw[0] = 0;
    for (uint32_t i = 0; i < 4 * width; i++)
        raw[1 + i] = i % 4 == 3 ? 255 : (uint8_t)(i / 256 + i);
    expect_picture(b, id, 6, raw, 1 + 4ull * width);
    free(raw);
}

static uint64_t opaque(bitmaps *b, uint32_t width)
{
    uint8_t *bytes = malloc(4ull * width);
    for (uint32_t i = 0; i < 4 * width; i++)
        bytes[i] = i % 4 == 3 ? 255 : (uint8_t)(i / 256 + i);
    const uint64_t id = bitmap(b, pixels(b, bytes, 4 * width), 1, width);
    free(bytes);
    return id;
}

Test(pictures, may_have_long_rows)
{
    bitmaps b;
    begin(&b, FIELDS);
    const uint64_t grey = bitmap(&b, pixels(&b, NULL, 5 * 30000), 5, 30000);
    const uint64_t longest = bitmap(&b, pixels(&b, NULL, 32767), 1, 32767);
    const uint64_t highest = bitmap(&b, pixels(&b, NULL, 32767), 32767, 1);
    const uint64_t below = opaque(&b, 16383), above = opaque(&b, 16384), twice = opaque(&b, 32767);
    open_all(&b);
    expect_grey(&b, grey, 30000, 5);
    expect_grey(&b, longest, 32767, 1);
    expect_grey(&b, highest, 1, 32767);
    expect_opaque(&b, below, 16383);
    expect_opaque(&b, above, 16384);
    expect_opaque(&b, twice, 32767);
    heap_close(&b.h);
}

/* ---- none ---- */

static void expect_none(bitmaps *b, uint64_t id, const char *says, const char *hint)
{
    sink        s = { .b = hdx_buffer_of(NULL) };
    hdx_content what;
    char        want[300];
    (void)snprintf(want, sizeof want, says, (unsigned long long)id);
    cr_expect(eq(int, content(b, id, &s, &what), HDX_NOT_FOUND), "%s", want);
    cr_expect(eq(str, b->h.err.message, want));
    cr_expect(strstr(b->h.err.hint, hint) != NULL, "%s: %s", want, b->h.err.hint);
    cr_expect(eq(u64, s.b.len, 0), "%s", want);
    cr_expect(eq(int, content(b, id, NULL, &what), HDX_NOT_FOUND), "%s", want);
    hdx_buffer_free(&s.b);
}

Test(pictures, that_are_none_say_why)
{
    static const char native[] =
        "pixels of bitmap 0x%llx are not in the dump: Android 8 and later store them in native memory";
    static const char no_size[] = "pixels of bitmap 0x%llx cannot be read: width or height is missing";
    static const char layout[] = "pixels of bitmap 0x%llx have an unknown layout";
    bitmaps           b;
    begin(&b, FIELDS);
    const uint64_t buffer = pixels(&b, NULL, 12);
    const uint64_t without = bitmap(&b, 0, 1, 3), gone = bitmap(&b, 0xdead0, 1, 3);
    const uint64_t sizes[] = { bitmap(&b, buffer, 0, 3),
                               bitmap(&b, buffer, 1, 0),
                               bitmap(&b, buffer, (uint32_t)-1, 3),
                               bitmap(&b, buffer, 1, (uint32_t)-3),
                               bitmap(&b, buffer, 32768, 1),
                               bitmap(&b, buffer, 1, 32768) };
    const uint64_t layouts[] = { bitmap(&b, buffer, 11, 1), bitmap(&b, buffer, 5, 1), bitmap(&b, buffer, 7, 1),
                                 bitmap(&b, buffer, 13, 1), bitmap(&b, b.object, 1, 1) };
    const uint64_t object = held(&b, dump_maker_instance(b.m, b.object, NULL));
    const uint64_t array = held(&b, dump_maker_array(b.m, b.objects, NULL, 3));
    open_all(&b);
    expect_none(&b, without, native, "");
    expect_none(&b, gone, native, "");
    for (unsigned i = 0; i < HDX_COUNT(sizes); i++)
        expect_none(&b, sizes[i], no_size, "");
    for (unsigned i = 0; i < HDX_COUNT(layouts); i++)
        expect_none(&b, layouts[i], layout, "the array alone: heapdex object DUMP 0x");
    expect_none(&b, object, "object 0x%llx (java.lang.Object) is neither a text nor a primitive array",
                "String, StringBuilder, arrays");
    expect_none(&b, array, "object 0x%llx (java.lang.Object[]) is neither a text nor a primitive array",
                "String, StringBuilder, arrays");
    expect_none(&b, b.bitmap, "object 0x%llx (java.lang.Class) is neither a text nor a primitive array",
                "String, StringBuilder, arrays");
    heap_close(&b.h);
}

Test(pictures, whose_fields_have_other_types_are_none)
{
    static const char *const fields[] = { "mBuffer:L mHeight:J mWidth:I", "mBuffer:L mHeight:I mWidth:J",
                                          "mBuffer:J mHeight:I mWidth:I", "mBuffer:L mHeighT:I mWidth:I",
                                          "mBuffeR:L mHeight:I mWidth:I" };
    for (unsigned i = 0; i < HDX_COUNT(fields); i++) {
        bitmaps b;
        begin(&b, fields[i]);
        const uint64_t id = bitmap(&b, pixels(&b, NULL, 4), 1, 1);
        open_all(&b);
        expect_none(&b, id,
                    i == 2 || i == 4
                        ? "pixels of bitmap 0x%llx are not in the dump: Android 8 and later store them in native memory"
                        : "pixels of bitmap 0x%llx cannot be read: width or height is missing",
                    "");
        heap_close(&b.h);
    }
    bitmaps b;
    begin(&b, "mBuffer:L mHeight:I mWidtH:I");
    const uint64_t id = bitmap(&b, pixels(&b, NULL, 4), 1, 1);
    open_all(&b);
    expect_none(&b, id, "object 0x%llx (android.graphics.Bitmap) is neither a text nor a primitive array", "");
    heap_close(&b.h);
}

Test(pictures, that_were_stripped_are_absent_not_empty)
{
    bitmaps b;
    begin(&b, FIELDS);
    hdx_buffer raw = hdx_buffer_of(NULL);
    hdx_write_u1(&raw, HDX_SUB_PRIMITIVE_ARRAY_NODATA);
    hdx_write_id(&raw, 8, 0x9000);
    hdx_write_u4(&raw, 1);
    hdx_write_u4(&raw, 4);
    hdx_write_u1(&raw, 8);
    dump_maker_raw(b.m, raw.at, raw.len);
    hdx_buffer_free(&raw);
    const uint64_t id = bitmap(&b, held(&b, 0x9000), 1, 1);
    open_all(&b);
    expect_none(&b, id, "content of object 0x%llx was stripped from the dump: it is absent, not empty", "");
    expect_none(&b, 0x9000, "content of object 0x%llx was stripped from the dump: it is absent, not empty", "");
    heap_close(&b.h);
}

/* ---- texts and arrays, and what is refused ---- */

Test(contents, of_texts_and_arrays_are_bytes)
{
    bitmaps     b;
    hdx_content what;
    begin(&b, FIELDS);
    const uint64_t text = held(&b, dump_maker_string(b.m, b.string, "a text"));
    const uint64_t bytes = held(&b, pixels(&b, BYTES_OF(1, 2, 3), 3));
    open_all(&b);
    sink s = { .b = hdx_buffer_of(NULL) };
    cr_expect(content(&b, text, &s, &what) == HDX_OK && what != HDX_CONTENT_PICTURE && what != HDX_CONTENT_NONE);
    cr_expect(s.b.len == 6 && memcmp(s.b.at, "a text", 6) == 0);
    hdx_buffer_clear(&s.b);
    cr_expect(content(&b, bytes, &s, &what) == HDX_OK && what == HDX_CONTENT_BYTES);
    cr_expect(s.b.len == 3 && memcmp(s.b.at, "\1\2\3", 3) == 0);
    hdx_buffer_free(&s.b);
    heap_close(&b.h);
}

Test(contents, end_where_something_is_refused)
{
    bitmaps     b;
    hdx_content what;
    unsigned    refused[3] = { 0 };
    begin(&b, FIELDS);
    const uint64_t id = bitmap(&b, pixels(&b, NULL, 24), 3, 2);
    open_all(&b);
    sink whole = { .b = hdx_buffer_of(NULL) };
    cr_assert(eq(int, content(&b, id, &whole, &what), HDX_OK));
    for (unsigned kind = 0; kind < 3; kind++)
        for (unsigned n = 1;; n++) {
            sink              s = { .b = hdx_buffer_of(NULL), .left = kind == 0 ? n : 0 };
            static const char room[4096];
            hdx_buffer_put(&s.b, room, sizeof room); /* the test's own memory is not refused */
            hdx_buffer_clear(&s.b);
            if (kind == 1)
                refusing_memory(n);
            if (kind == 2)
                refusing_input(n);
            const hdx_code code = content(&b, id, &s, &what);
            const bool     fired = kind == 0 ? s.refused : refusing_ends();
            if (code == HDX_OK)
                cr_expect(s.b.len == whole.b.len && memcmp(s.b.at, whole.b.at, s.b.len) == 0, "kind %u, %u", kind, n);
            else
                cr_expect(eq(int, code, kind == 1 ? HDX_LIMIT : HDX_IO), "kind %u, %u: %s", kind, n, b.h.err.message);
            cr_expect(kind == 1 || fired == (code != HDX_OK), "kind %u, %u", kind, n);
            hdx_buffer_free(&s.b);
            refused[kind] += fired;
            if (!fired)
                break;
        }
    cr_expect(refused[0] > 20 && refused[1] > 1 && refused[2] > 2, "%u %u %u", refused[0], refused[1], refused[2]);
    hdx_buffer_free(&whole.b);
    heap_close(&b.h);
}

Test(contents, need_the_dump)
{
    bitmaps     b;
    hdx_content what;
    begin(&b, FIELDS);
    const uint64_t id = bitmap(&b, pixels(&b, NULL, 4), 1, 1);
    open_all(&b);
    hdx_graph_close(b.h.g);
    cr_assert(eq(int, hdx_graph_open(b.h.index, NULL, &b.h.g, &b.h.err), HDX_OK));
    b.h.q.graph = b.h.g;
    cr_expect(eq(int, content(&b, id, NULL, &what), HDX_BAD_DUMP));
    cr_expect(eq(int, what, HDX_CONTENT_NONE));
    heap_close(&b.h);
}
