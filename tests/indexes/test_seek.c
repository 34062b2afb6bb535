/* test_seek.c - seek points there and back, the worked example, and points that cannot be. */
#include "tests/indexes/hostile.h"
#include "tests/indexes/place.h"

typedef struct points {
    hdx_seek_point at[4000];
    uint64_t       count, windows, size, file_bytes;
} points;

static hdx_code give(void *context, uint64_t i, hdx_seek_point *point, uint8_t window[HDX_SEEK_WINDOW], hdx_error *err)
{
    const points *p = context;
    (void)err;
    *point = p->at[i];
    memset(window, (int)(i & 0xff), point->window_size);
    return HDX_OK;
}

static void random_points(points *p, random_state *d, uint64_t count)
{
    hdx_seek_point at = { 0 };
    memset(p, 0, sizeof *p);
    for (uint64_t i = 0; i < count; i++) {
        at.sum = (uint32_t)roll(d);
        if (i > 0) {
            at.out += 1 + below(d, 1u << 20);
            at.bit += 1 + below(d, 1u << 22);
            at.kind = (hdx_seek_kind)below(d, 3);
            if (at.kind == HDX_SEEK_MEMBER)
                at.bit = (at.bit + 7) & ~7ull;
            at.window_len = at.kind == HDX_SEEK_MEMBER ? 0 : (uint32_t)(1 + below(d, HDX_SEEK_WINDOW));
            at.window_size = at.window_len == 0 ? 0 : (uint32_t)(1 + below(d, at.window_len));
            at.header_bit = at.kind == HDX_SEEK_INSIDE ? below(d, at.bit) : 0;
        }
        p->windows += at.kind != HDX_SEEK_MEMBER;
        p->at[p->count++] = at;
    }
    p->size = at.out + 1 + below(d, 1u << 20);
    p->file_bytes = at.bit / 8 + 1 + below(d, 1000);
}

static hdx_code opened(test_place *t, points *p, hdx_seek **s, hdx_error *err)
{
    hdx_index_file file;
    cr_assert(eq(int, hdx_seek_write(&t->place, p->count, p->windows, p->size, give, p, &file, err), HDX_OK), "%s",
              err->message);
    return hdx_seek_open(&t->place, &file, p->size, p->file_bytes, &t->note, s, err);
}

Test(seek, gives_back_what_was_written)
{
    static points p;
    random_state  d = random_state_new("seek");
    for (unsigned round = 0; round < 12; round++) {
        test_place      t;
        hdx_seek       *s;
        hdx_error       err = { 0 };
        hdx_seek_cursor cursor = { 0 };
        hdx_seek_point  got;
        uint8_t         window[HDX_SEEK_WINDOW];
        random_points(&p, &d, round < 3 ? 1 + round : 1 + below(&d, 300));
        place_open(&t, 1);
        cr_assert(eq(int, opened(&t, &p, &s, &err), HDX_OK), "%s", err.message);
        cr_expect(eq(u64, hdx_seek_count(s), p.count));
        for (uint64_t i = 0; i < p.count; i++) {
            const hdx_seek_point *want = &p.at[i];
            cr_assert(hdx_seek_next(s, &cursor, &got), "point %llu", (unsigned long long)i);
            cr_assert(got.out == want->out && got.bit == want->bit && got.header_bit == want->header_bit &&
                      got.sum == want->sum && got.kind == want->kind && got.window_len == want->window_len &&
                      got.window_size == want->window_size);
            cr_assert(hdx_seek_window(s, got.window_at, got.window_size, window));
            for (uint32_t k = 0; k < got.window_size; k++)
                cr_assert(window[k] == (i & 0xff));
        }
        cr_expect(not(hdx_seek_next(s, &cursor, &got)));
        cr_expect(eq(int, hdx_note_check(&t.note, &err), HDX_OK), "%s", err.message);
        hdx_seek_close(s);
        place_close(&t);
    }
}

/* Rules R1 to R4 of seek.h: each broken alone, in a file whose sums are right. */
Test(seek, refuses_points_that_cannot_be)
{
    static points good, bad;
    random_state  d = { 5 };
    random_points(&good, &d, 40);
    for (unsigned i = 1; good.at[i].kind != HDX_SEEK_INSIDE; i++)
        good.at[1] = good.at[i + 1]; /* number 1 is inside a block ... */
    good.at[1].out = 1;
    good.at[1].bit = 9;
    good.at[1].header_bit = 3;
    good.windows = 0;
    for (unsigned i = 0; i < good.count; i++)
        good.windows += good.at[i].kind != HDX_SEEK_MEMBER;
    for (unsigned fault = 0; fault < 10; fault++) {
        test_place      t;
        hdx_seek       *s;
        hdx_error       err = { 0 };
        hdx_seek_cursor cursor = { 0 };
        hdx_seek_point  got;
        bad = good;
        switch (fault) {
        case 1: bad.at[0].out = 1; break;
        case 2: bad.at[2].out = 1; break;
        case 3: bad.at[39].out = bad.size; break;
        case 4: bad.at[2].bit = 9; break;
        case 5: bad.file_bytes = bad.at[39].bit / 8; break;
        case 6: bad.at[1].header_bit = 9; break;
        case 7:
            bad.at[1].kind = HDX_SEEK_MEMBER, bad.at[1].window_size = bad.at[1].window_len = 0, bad.windows--;
            break; /* at bit 9 */
        case 8:
            bad.at[0].kind = HDX_SEEK_BLOCK;
            bad.windows++;
            break;
        case 9: bad.at[1].kind = (hdx_seek_kind)3; break;
        default: break;
        }
        place_open(&t, 1);
        cr_assert(eq(int, opened(&t, &bad, &s, &err), HDX_OK), "%s", err.message);
        while (hdx_seek_next(s, &cursor, &got))
            ;
        cr_expect(eq(int, hdx_note_check(&t.note, NULL), fault == 0 ? HDX_OK : HDX_DAMAGED), "fault %u", fault);
        cr_expect(eq(int, cursor.next == good.count, fault == 0), "fault %u", fault);
        hdx_seek_close(s);
        place_close(&t);
    }
}

Test(seek, refuses_another_size_and_too_few_windows)
{
    static points  p;
    random_state   d = { 6 };
    test_place     t;
    hdx_seek      *s;
    hdx_error      err = { 0 };
    hdx_index_file file;
    random_points(&p, &d, 30);
    place_open(&t, 1);
    cr_assert(eq(int, hdx_seek_write(&t.place, p.count, p.windows, p.size, give, &p, &file, &err), HDX_OK));
    cr_expect(eq(int, hdx_seek_open(&t.place, &file, p.size + 1, p.file_bytes, &t.note, &s, &err), HDX_DAMAGED));
    cr_expect(eq(int, hdx_seek_write(&t.place, p.count, p.windows + 1, p.size, give, &p, &file, &err), HDX_USAGE));
    place_close(&t);
}

/* seek/README.md: the worked example, byte for byte. */
Test(seek, bytes_as_in_the_readme)
{
    static const uint8_t wanted[3][60] = {
        { 0, 0, 0,    0, 0, 0, 0, 0, 0,    0,    0,    0, 0, 0, 0, 0, 0x11, 0x11, 0x11, 0x11,
          0, 0, 0x0c, 0, 0, 0, 0, 0, 0x0d, 0xa8, 0x61, 0, 0, 0, 0, 0, 0x22, 0x22, 0x22, 0x22,
          0, 0, 0x18, 0, 0, 0, 0, 0, 0x16, 0x50, 0xc3, 0, 0, 0, 0, 0, 0x33, 0x33, 0x33, 0x33 },
        { 0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 5, 0,
          0x60, 0x4d, 0x2f, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 4, 0 },
        { 1, 1, 1, 2, 2, 2, 2 },
    };
    static const size_t lengths[3] = { 60, 40, 7 };
    static points       p = {
              .at = { { .sum = 0x11111111 },
                      { .out = 786432,
                        .bit = 1600003,
                        .window_size = 3,
                        .window_len = 5,
                        .sum = 0x22222222,
                        .kind = HDX_SEEK_BLOCK },
                      { .out = 1572864,
                        .bit = 3200005,
                        .header_bit = 3100000,
                        .window_size = 4,
                        .window_len = 4,
                        .sum = 0x33333333,
                        .kind = HDX_SEEK_INSIDE } },
              .count = 3,
              .windows = 2,
              .size = 2000000,
    };
    test_place     t;
    hdx_index_file file;
    hdx_view       sections[HDX_SECTIONS];
    size_t         len;
    place_open(&t, 1);
    cr_assert(eq(int, hdx_seek_write(&t.place, 3, 2, p.size, give, &p, &file, NULL), HDX_OK));
    uint8_t *b = place_bytes(&t, HDX_KIND_SEEK, &len);
    cr_assert(eq(u32, hostile_sections(b, len, sections), 3));
    for (unsigned i = 0; i < 3; i++)
        cr_expect(sections[i].len == lengths[i] && memcmp(sections[i].at, wanted[i], lengths[i]) == 0, "section %u", i);
    cr_expect(hdx_le64(b + 32) == 3 && hdx_le64(b + 40) == 2 && hdx_le64(b + 48) == 2000000);
    free(b);
    place_close(&t);
}

Test(seek, windows_have_32_kib_at_most_and_no_more_bytes_than_they_stand_for)
{
    static const struct {
        uint32_t len, size;
        hdx_code code;
    } cases[] = { { HDX_SEEK_WINDOW, HDX_SEEK_WINDOW, HDX_OK },
                  { HDX_SEEK_WINDOW, 1, HDX_OK },
                  { HDX_SEEK_WINDOW + 1, 1, HDX_USAGE },
                  { HDX_SEEK_WINDOW + 1, HDX_SEEK_WINDOW, HDX_USAGE },
                  { 99, 100, HDX_USAGE },
                  { 100, 100, HDX_OK } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_place     t;
        points         p = { .count = 2, .windows = 1, .size = 2000, .file_bytes = 1000 };
        hdx_index_file file;
        hdx_seek      *s = NULL;
        hdx_error      err = { 0 };
        p.at[1] = (hdx_seek_point){
            .out = 1000, .bit = 800, .kind = HDX_SEEK_BLOCK, .window_len = cases[i].len, .window_size = cases[i].size
        };
        place_open(&t, 1);
        const hdx_code code = hdx_seek_write(&t.place, p.count, p.windows, p.size, give, &p, &file, &err);
        cr_expect(eq(int, code, cases[i].code), "case %zu: %s", i, err.message);
        if (code == HDX_OK) {
            hdx_seek_cursor cursor = { 0 };
            hdx_seek_point  got;
            cr_assert(eq(int, hdx_seek_open(&t.place, &file, p.size, p.file_bytes, &t.note, &s, &err), HDX_OK));
            cr_expect(hdx_seek_next(s, &cursor, &got) && hdx_seek_next(s, &cursor, &got));
            cr_expect(eq(u32, got.window_len, cases[i].len));
            cr_expect(eq(u32, got.window_size, cases[i].size));
        }
        hdx_seek_close(s);
        place_close(&t);
    }
}

Test(seek, more_points_than_any_file_holds_are_refused)
{
    test_place     t;
    hdx_index_file file;
    points         p = { .count = 0 };
    place_open(&t, 1);
    cr_expect(eq(int, hdx_seek_write(&t.place, UINT64_MAX / 16, 0, 1, give, &p, &file, NULL), HDX_USAGE));
    cr_expect(eq(int, hdx_seek_write(&t.place, 0, UINT64_MAX / 16, 1, give, &p, &file, NULL), HDX_USAGE));
    place_close(&t);
}
