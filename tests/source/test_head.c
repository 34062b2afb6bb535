/*
 * test_head.c - headers of gzip members in pieces of every size.
 */
#include "support/gzip_maker.h"
#include "source/head.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static gm_bytes header(const gm_member *how)
{
    gm_bytes  b = { 0 };
    gm_bytes  none = { (uint8_t *)"", 0, 0 };
    gm_member with = *how;
    with.body = &none;
    gm_member_put(&b, "", 0, &with);
    b.len -= 8; /* the trailer */
    return b;
}

Test(head, reads_every_mix_of_fields_in_pieces_of_every_size)
{
    gm_bytes extra = { (uint8_t *)"XX\2\0ab", 6, 6 }, nothing = { (uint8_t *)"", 0, 0 };
    for (unsigned mix = 0; mix < 64; mix++) {
        gm_bytes b = header(&(gm_member){ .name = mix & 1 ? "a name" : NULL,
                                          .comment = mix & 2 ? "" : NULL,
                                          .hcrc = (mix & 4) != 0,
                                          .extra = mix & 8 ? mix & 16 ? &nothing : &extra : NULL,
                                          .bad_hcrc = (mix & 32) != 0,
                                          .flags = 1 });
        gm_put(&b, "DEFLATE", 7);
        for (size_t piece = 1; piece <= b.len; piece++) {
            hdx_head       head;
            hdx_head_state state = HDX_HEAD_MORE;
            size_t         at = 0;
            hdx_head_begin(&head);
            while (state == HDX_HEAD_MORE && at < b.len) {
                size_t used, n = b.len - at < piece ? b.len - at : piece;
                state = hdx_head_feed(&head, b.at + at, n, &used);
                cr_assert(state == HDX_HEAD_DONE || used == n);
                at += used;
            }
            cr_assert(eq(int, state, HDX_HEAD_DONE));
            cr_assert(eq(sz, at, b.len - 7));
            cr_assert(eq(int, head.bad_sum, (mix & 36) == 36));
        }
        gm_free(&b);
    }
}

Test(head, refuses_what_is_no_member_at_the_first_byte_that_says_so)
{
    static const char *const wrong[] = {
        "\x1e", "\x1f\x8c", "\x1f\x8b\x07", "\x1f\x8b\x08\x20", "\x1f\x8b\x08\x40", "\x1f\x8b\x08\xff"
    };
    for (size_t i = 0; i < 6; i++) {
        hdx_head head;
        size_t   used, len = strlen(wrong[i]);
        hdx_head_begin(&head);
        cr_expect(eq(int, hdx_head_feed(&head, (const uint8_t *)wrong[i], len - 1, &used), HDX_HEAD_MORE));
        cr_expect(eq(int, hdx_head_feed(&head, (const uint8_t *)wrong[i] + len - 1, 1, &used), HDX_HEAD_OTHER));
    }
}
