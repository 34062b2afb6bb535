/* test_values.c - the worked example of src/catalog/README.md byte for byte, and what decoders refuse. */
#include "catalog/store.h"
#include "catalog/values.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

static hdx_text text(const char *s) { return (hdx_text){ s, (uint32_t)strlen(s) }; }

static void expect_bytes(const hdx_buffer *is, const uint8_t *should, size_t len)
{
    cr_assert(eq(sz, is->len, len));
    for (size_t i = 0; i < len; i++)
        cr_expect(eq(int, (uint8_t)is->at[i], should[i]), "byte %zu", i);
}

static const uint8_t class_bytes[] = { 0x05, 0x90, 0xf4, 0xfc, 0x03, 0xd3, 0x09, 0x01, 0x80, 0x20,
                                       0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x18, 0x48, 0x03,
                                       0x02, 0x48, 0x30, 0x01, 0x01, 0x06, 0x02, 0x07, 0x0a };

static const hdx_text example_texts[] = { { "", 0 },    { "", 0 },    { "", 0 },
                                          { "", 0 },    { "", 0 },    { "com.acme.Cache", 14 },
                                          { "map", 3 }, { "SIZE", 4 } };

static hdx_class example_class(void)
{
    static const hdx_field fields[] = { { { "map", 3 }, 2 } }, statics[] = { { { "SIZE", 4 }, 10 } };
    return (hdx_class){ .name = { "com.acme.Cache", 14 },
                        .address = 0x7f3a10,
                        .id = 1234,
                        .number = 17,
                        .super = 0,
                        .super_address = 0x1000,
                        .kind = HDX_INSTANCE,
                        .stated_size = 12,
                        .instance_size = 24,
                        .class_shallow = 72,
                        .instances = 3,
                        .live_instances = 2,
                        .bytes = 72,
                        .live_bytes = 48,
                        .field_count = 1,
                        .static_count = 1,
                        .fields = fields,
                        .statics = statics };
}

Test(values, writes_the_class_of_the_readme)
{
    const uint32_t texts[] = { 5, 6, 7 };
    hdx_class      c = example_class();
    hdx_buffer     to = hdx_buffer_of(NULL);
    hdx_encode_class(&to, &c, texts);
    expect_bytes(&to, class_bytes, sizeof class_bytes);
    hdx_buffer_free(&to);
}

Test(values, reads_the_class_of_the_readme)
{
    hdx_class   c;
    hdx_numbers all = { .classes = 18 };
    hdx_arena   arena = hdx_arena_of(NULL);
    cr_assert(eq(int,
                 hdx_decode_class((hdx_view){ class_bytes, sizeof class_bytes }, 17, &all, 2000,
                                  (hdx_texts){ example_texts, 8 }, &arena, &c, NULL),
                 HDX_OK));
    cr_expect(hdx_text_is(c.name, "com.acme.Cache"));
    cr_expect(eq(u64, c.address, 0x7f3a10));
    cr_expect(eq(u64, c.id, 1234));
    cr_expect(eq(u32, c.super, 0));
    cr_expect(hdx_text_is(c.fields[0].name, "map"));
    cr_expect(hdx_text_is(c.statics[0].name, "SIZE"));
    cr_expect(eq(int, c.statics[0].type, 10));
    hdx_arena_free(&arena);
}

Test(values, writes_the_keys_of_the_readme)
{
    uint8_t key[HDX_KEY_ROOM];
    cr_expect(eq(sz, hdx_key_numbered(key, HDX_KEY_CLASS, 17), 5));
    cr_expect(memcmp(key, "c\0\0\0\x11", 5) == 0);
    cr_expect(eq(sz, hdx_key_root(key, 0x123456789aull, 1), 13));
    cr_expect(memcmp(key, "r\0\0\0\x12\x34\x56\x78\x9a\0\0\0\1", 13) == 0);
    cr_expect(eq(sz, hdx_key_of(key, HDX_KEY_MANIFEST), 1));
    cr_expect(eq(int, key[0], 'm'));
}

Test(values, writes_the_roots_thread_and_heap_of_the_readme)
{
    static const uint8_t root_bytes[] = { 0x00, 0x00, 0x04, 0x0f, 0x88, 0x27, 0x01 };
    static const uint8_t thread_bytes[] = { 0x88, 0x27, 0x01, 0x01, 0x05, 0x08, 0x09, 0x0a, 0x22 };
    static const uint8_t heap_bytes[] = { 0x41, 0x0b, 0x05, 0x80, 0x01, 0x04, 0x60 };
    hdx_root       roots[] = { { 996, HDX_ROOT_SYSTEM_CLASS, HDX_NO_ID, -1 }, { 1000, HDX_ROOT_JAVA_LOCAL, 4999, 0 } };
    hdx_frame      frame = { text("com.acme.Cache"), text("get"), text("()V"), text("Cache.java"), 17 };
    hdx_thread     thread = { 4999, 1, 1, &frame };
    hdx_heap_space heap = { 'A', text("app"), 5, 128, 4, 96 };
    hdx_buffer     to = hdx_buffer_of(NULL);
    hdx_id         last = 996;
    hdx_encode_root(&to, &roots[0], &last);
    hdx_encode_root(&to, &roots[1], &last);
    expect_bytes(&to, root_bytes, sizeof root_bytes);
    hdx_buffer_clear(&to);
    hdx_buffer frames = hdx_buffer_of(NULL);
    hdx_encode_frames(&frames, &thread, (const uint32_t[]){ 5, 8, 9, 10 });
    hdx_encode_thread(&to, &thread, (hdx_view){ (const uint8_t *)frames.at, frames.len });
    expect_bytes(&to, thread_bytes, sizeof thread_bytes);
    hdx_buffer_free(&frames);
    hdx_buffer_clear(&to);
    hdx_encode_heap(&to, &heap, 11);
    expect_bytes(&to, heap_bytes, sizeof heap_bytes);
    hdx_buffer_free(&to);
}

Test(values, writes_the_sum_of_the_readme)
{
    uint8_t  bytes[HDX_SUM_SIZE], identity[16];
    uint64_t size;
    uint32_t crc;
    hdx_encode_sum(bytes, (const uint8_t *)"0123456789abcdef", 20480, 0xe3069283u);
    cr_expect(memcmp(bytes,
                     "heapdexC\3\0\0\0\0\0\0\0"
                     "0123456789abcdef"
                     "\0\x50\0\0\0\0\0\0\x83\x92\x06\xe3",
                     44) == 0);
    cr_assert(eq(int, hdx_decode_sum((hdx_view){ bytes, sizeof bytes }, identity, &size, &crc, NULL), HDX_OK));
    cr_expect(eq(u64, size, 20480));
    cr_expect(eq(u32, crc, 0xe3069283u));
}

/* ---- refusals ---- */

static hdx_code decode(const uint8_t *bytes, size_t len, hdx_error *err)
{
    hdx_class   c;
    hdx_numbers all = { .classes = 18 };
    hdx_arena   arena = hdx_arena_of(NULL);
    uint8_t    *exact = malloc(len + 1); /* so that a read past the end is seen */
    memcpy(exact + 1, bytes, len);
    hdx_code code = hdx_decode_class((hdx_view){ exact + 1, len }, 17, &all, 2000, (hdx_texts){ example_texts, 8 },
                                     &arena, &c, err);
    free(exact);
    hdx_arena_free(&arena);
    return code;
}

Test(values, refuses_every_truncation_of_a_class)
{
    for (size_t len = 0; len < sizeof class_bytes; len++) {
        hdx_error err;
        cr_assert(eq(int, decode(class_bytes, len, &err), HDX_DAMAGED), "%zu", len);
        cr_expect(eq(str, err.where, "catalog"));
        cr_expect(le(u64, err.offset, len));
    }
}

Test(values, refuses_bytes_left_over_and_numbers_out_of_range)
{
    static const struct {
        size_t  at;
        uint8_t byte;
    } wrong[] = { { 0, 8 }, { 6, 0x7f }, { 7, 19 }, { 13, 4 }, { 25, 9 } };
    hdx_error err;
    uint8_t   bytes[sizeof class_bytes + 1] = { 0 };
    memcpy(bytes, class_bytes, sizeof class_bytes);
    cr_expect(eq(int, decode(bytes, sizeof bytes, &err), HDX_DAMAGED));
    cr_expect(eq(u64, err.offset, sizeof class_bytes));
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t old = bytes[wrong[i].at];
        bytes[wrong[i].at] = wrong[i].byte;
        cr_expect(eq(int, decode(bytes, sizeof class_bytes, &err), HDX_DAMAGED), "byte %zu", wrong[i].at);
        bytes[wrong[i].at] = old;
    }
}

Test(values, refuses_a_number_that_does_not_end)
{
    static const uint8_t endless[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 };
    static const uint8_t greatest[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 },
                         over[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 };
    hdx_taker t = hdx_taker_of((hdx_view){ endless, sizeof endless }, "x", 0, NULL);
    (void)hdx_take_number(&t);
    cr_expect(eq(int, t.code, HDX_DAMAGED));
    t = hdx_taker_of((hdx_view){ greatest, sizeof greatest }, "x", 0, NULL);
    cr_expect(eq(u64, hdx_take_number(&t), UINT64_MAX));
    cr_expect(eq(int, hdx_take_end(&t), HDX_OK));
    t = hdx_taker_of((hdx_view){ over, sizeof over }, "x", 0, NULL);
    (void)hdx_take_number(&t);
    cr_expect(eq(int, t.code, HDX_DAMAGED));
}

Test(values, takes_a_count_only_as_far_as_the_bytes_go)
{
    static const uint8_t bytes[] = { 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0, 0 };
    hdx_taker            t = hdx_taker_of((hdx_view){ bytes, sizeof bytes }, "x", 0, NULL);
    cr_expect(eq(u64, hdx_take_count(&t, 1, "things"), 0));
    cr_expect(eq(int, t.code, HDX_DAMAGED));
}
