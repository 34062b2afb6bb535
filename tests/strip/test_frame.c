/*
 * test_frame.c - one heap record read with contents, without and half and half: where it comes out even, where it
 * breaks and where the file ends; the next record behind garbage; names that were cut.
 */
#include "over.h"

typedef unsigned long long ull;

static hdx_buffer b;

static void begin(void) { b = hdx_buffer_of(NULL); }
static void bytes_of(uint8_t value, size_t n)
{
    for (size_t k = 0; k < n; k++)
        hdx_write_u1(&b, value);
}
static void array_head(uint32_t count)
{
    hdx_write_primitive_array_head(&b, 4, HDX_SUB_PRIMITIVE_ARRAY, 7, 0, count, 8);
}
static void array(uint32_t count)
{
    array_head(count);
    bytes_of(0xaa, count);
}
static void root(uint8_t tag) { hdx_write_root(&b, 4, tag, 5, 0, 0, 0); }
static void open_it(over *o, size_t cut, size_t chunk)
{
    cr_assert(!b.failed && cut <= b.len);
    over_open(o, b.at, b.len - cut, chunk);
}
static void close_it(over *o)
{
    over_close(o);
    hdx_buffer_free(&b);
}

/* ---- entry by entry ---- */

static frame_step next_of(frame *f, entry *e)
{
    frame_step step = (frame_step)99;
    hdx_error  err = { 0 };
    cr_assert(hdx_strip_frame_next(f, e, &step, &err) == HDX_OK, "%s", err.message);
    return step;
}

Test(frame, ends_where_its_record_does_and_breaks_where_an_entry_passes_it)
{
    over  o;
    entry e;
    begin();
    root(HDX_SUB_ROOT_STICKY_CLASS); /* 5 */
    array(3);                        /* 17 */
    root(HDX_SUB_ROOT_STICKY_CLASS);
    open_it(&o, 0, 64);
    frame f = hdx_strip_frame_of(&o.r, 4, 0, 22, FRAME_PLAIN);
    cr_expect(next_of(&f, &e) == FRAME_ENTRY && f.pos == 5 && f.left == 17 && f.missing == 0);
    cr_expect(next_of(&f, &e) == FRAME_ENTRY && f.pos == 22 && f.left == 0 && e.count == 3 && f.missing == 0);
    cr_expect(next_of(&f, &e) == FRAME_END && f.pos == 22);
    f = hdx_strip_frame_of(&o.r, 4, 0, 21, FRAME_PLAIN);
    cr_expect(next_of(&f, &e) == FRAME_ENTRY && next_of(&f, &e) == FRAME_BROKEN && f.pos == 5 && f.left == 16);
    f = hdx_strip_frame_of(&o.r, 4, 0, 5 + 14, FRAME_PLAIN);
    cr_expect(next_of(&f, &e) == FRAME_ENTRY && next_of(&f, &e) == FRAME_BROKEN, "its head alone is in it");
    f = hdx_strip_frame_of(&o.r, 4, 0, 5 + 13, FRAME_PLAIN);
    cr_expect(next_of(&f, &e) == FRAME_ENTRY && next_of(&f, &e) == FRAME_BROKEN, "its head is not");
    f = hdx_strip_frame_of(&o.r, 4, 0, 4, FRAME_PLAIN);
    cr_expect(next_of(&f, &e) == FRAME_BROKEN);
    f = hdx_strip_frame_of(&o.r, 4, 1, 20, FRAME_PLAIN);
    cr_expect(next_of(&f, &e) == FRAME_BROKEN, "no tag");
    f = hdx_strip_frame_of(&o.r, 4, 27, 20, FRAME_PLAIN);
    cr_expect(next_of(&f, &e) == FRAME_BROKEN, "the data end");
    close_it(&o);
}

Test(frame, counts_cut_contents_and_goes_on_behind_the_head)
{
    over  o;
    entry e;
    begin();
    array_head(9);
    hdx_write_instance(&b, 4, 1, 0, 2, (const uint8_t *)"abcd", 4);
    open_it(&o, 0, 64);
    frame f = hdx_strip_frame_of(&o.r, 4, 0, 14 + 9 + 21, FRAME_CUT);
    cr_expect(next_of(&f, &e) == FRAME_ENTRY && f.pos == 14 && f.left == 21 && f.missing == 9);
    cr_expect(next_of(&f, &e) == FRAME_ENTRY && f.pos == 35 && f.left == 0 && f.missing == 0, "instances are whole");
    close_it(&o);
}

Test(frame, half_and_half_has_contents_from_the_entry_on_in_which_the_tool_died)
{
    static const struct {
        uint8_t tag;
        bool    turns;
    } tags[] = { { HDX_SUB_ROOT_FINALIZING, true },      { HDX_SUB_ROOT_REFERENCE_CLEANUP, true },
                 { HDX_SUB_UNREACHABLE, true },          { HDX_SUB_ROOT_DEBUGGER, false },
                 { HDX_SUB_ROOT_VM_INTERNAL, false },    { HDX_SUB_ROOT_STICKY_CLASS, false },
                 { HDX_SUB_ROOT_INTERNED_STRING, false } };
    for (unsigned k = 0; k < sizeof tags / sizeof *tags; k++)
        for (frame_way way = FRAME_PLAIN; way <= FRAME_MIXED; way++) {
            over  o;
            entry e;
            begin();
            root(tags[k].tag);
            array(9);
            open_it(&o, 0, 64);
            frame f = hdx_strip_frame_of(&o.r, 4, 0, 5 + 23, way);
            cr_expect(next_of(&f, &e) == FRAME_ENTRY && next_of(&f, &e) == FRAME_ENTRY);
            const bool whole = way == FRAME_PLAIN || (way == FRAME_MIXED && tags[k].turns);
            cr_expect(f.missing == (whole ? 0 : 9) && f.pos == 19u + (whole ? 9 : 0), "%02x, way %d", tags[k].tag,
                      (int)way);
            close_it(&o);
        }
    over  o;
    entry e;
    begin();
    hdx_write_primitive_array_head(&b, 4, HDX_SUB_PRIMITIVE_ARRAY_NODATA, 7, 0, 4, 8);
    array(9);
    open_it(&o, 0, 64);
    frame f = hdx_strip_frame_of(&o.r, 4, 0, 14 + 23, FRAME_MIXED);
    cr_expect(next_of(&f, &e) == FRAME_ENTRY && f.pos == 14 && f.missing == 0 && next_of(&f, &e) == FRAME_ENTRY &&
              f.missing == 0);
    close_it(&o);
}

/* ---- what may follow ---- */

static bool plausible(uint8_t tag, uint32_t length, size_t behind, size_t cut, uint32_t ids)
{
    over      o;
    bool      yes = true;
    hdx_error err = { 0 };
    begin();
    bytes_of(0, 3);
    hdx_write_record_head(&b, tag, 0, length);
    bytes_of(0, behind);
    open_it(&o, cut, 64);
    cr_assert(hdx_strip_frame_plausible(&o.r, ids, 3, &yes, &err) == HDX_OK, "%s", err.message);
    close_it(&o);
    return yes;
}

Test(frame, behind_a_record_there_is_another_that_can_be_or_nothing)
{
    cr_expect(plausible(HDX_TOP_STRING, 8, 8, 0, 4) && plausible(HDX_TOP_STRING, 8, 9, 0, 4));
    cr_expect(!plausible(HDX_TOP_STRING, 8, 7, 0, 4), "the file ends in it");
    cr_expect(!plausible(HDX_TOP_STRING, 0, 0, 1, 4), "the file ends in its head");
    cr_expect(plausible(HDX_TOP_STRING, 0, 0, 0, 4));
    cr_expect(plausible(HDX_TOP_STRING, 0, 0, 9, 4), "nothing is behind");
    cr_expect(!plausible(0x55, 8, 8, 0, 4) && !plausible(0, 0, 8, 0, 4), "no record has this tag");
    cr_expect(plausible(HDX_TOP_HEAP_DUMP, 900, 0, 0, 4) && plausible(HDX_TOP_HEAP_DUMP_SEGMENT, 900, 0, 0, 4),
              "lengths of heap records lie");
    cr_expect(plausible(HDX_TOP_HEAP_DUMP_END, 0, 0, 0, 4) && !plausible(HDX_TOP_HEAP_DUMP_END, 1, 1, 0, 4));
    cr_expect(plausible(HDX_TOP_LOAD_CLASS, 16, 16, 0, 4) && !plausible(HDX_TOP_LOAD_CLASS, 24, 24, 0, 4));
    cr_expect(plausible(HDX_TOP_LOAD_CLASS, 24, 24, 0, 8) && !plausible(HDX_TOP_LOAD_CLASS, 16, 16, 0, 8));
    cr_expect(!plausible(HDX_TOP_LOAD_CLASS, 16, 15, 0, 4) && !plausible(HDX_TOP_LOAD_CLASS, 15, 15, 0, 4));
    over o;
    bool yes = true;
    begin();
    bytes_of(0, 3);
    open_it(&o, 0, 64);
    cr_expect(hdx_strip_frame_plausible(&o.r, 4, 4, &yes, NULL) == HDX_OK && !yes, "the file ends before");
    close_it(&o);
}

/* ---- whole records ---- */

static frame_fit fit_of(uint32_t stated, frame_way way, uint64_t limit, size_t cut)
{
    over      o;
    frame_fit fit = { .fits = true };
    hdx_error err = { 0 };
    open_it(&o, cut, 64);
    cr_assert(hdx_strip_frame_try(&o.r, 4, 0, stated, way, limit, NULL, &fit, &err) == HDX_OK, "%s", err.message);
    over_close(&o);
    return fit;
}

Test(frame, fits_where_a_record_or_the_end_follows)
{
    begin();
    array(3);
    root(HDX_SUB_ROOT_STICKY_CLASS);
    array(0);
    array(1);
    const uint32_t all = 17 + 5 + 14 + 15;
    frame_fit      fit = fit_of(all, FRAME_PLAIN, EVERYTHING, 0);
    cr_expect(fit.fits && fit.whole && fit.end == all && fit.entries == 4 && fit.arrays == 2 && fit.stated == all);
    fit = fit_of(all - 15, FRAME_PLAIN, EVERYTHING, 0);
    cr_expect(!fit.fits && fit.whole && fit.end == all - 15 && fit.entries == 3 && fit.stated == all - 15,
              "an array follows: no record");
    fit = fit_of(all + 1, FRAME_PLAIN, EVERYTHING, 0);
    cr_expect(!fit.fits && !fit.whole && fit.end == all && fit.entries == 4 && fit.stated == all, "it is too short");
    fit = fit_of(all - 1, FRAME_PLAIN, EVERYTHING, 0);
    cr_expect(!fit.fits && !fit.whole && fit.end == all - 15 && fit.entries == 3 && fit.arrays == 1 &&
              fit.stated == all - 15);
    fit = fit_of(all, FRAME_PLAIN, EVERYTHING, 1);
    cr_expect(!fit.fits && fit.whole && fit.end == all, "the last byte is missing");
    fit = fit_of(all, FRAME_CUT, EVERYTHING, 0);
    cr_expect(!fit.fits && fit.entries == 1 && fit.arrays == 1 && fit.end == 14 && fit.stated == 17);
    hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP_END, 0, 0);
    cr_expect(fit_of(all, FRAME_PLAIN, EVERYTHING, 0).fits && !fit_of(all, FRAME_PLAIN, EVERYTHING, 1).fits);
    hdx_buffer_free(&b);
}

Test(frame, of_a_long_record_the_entries_up_to_the_limit_are_looked_at)
{
    begin();
    for (unsigned k = 0; k < 4; k++)
        array(6); /* 20 each */
    bytes_of(0x55, 9);
    for (uint64_t limit = 0; limit < 80; limit++) {
        const frame_fit fit = fit_of(80, FRAME_PLAIN, limit, 0);
        cr_expect(fit.entries == (limit + 19) / 20 && fit.stated == 20 * fit.entries && fit.end == fit.stated,
                  "%llu: %llu entries", (ull)limit, (ull)fit.entries);
        cr_expect(fit.whole == (limit > 60) && fit.fits == (limit <= 60), "%llu", (ull)limit);
    }
    const frame_fit all = fit_of(80, FRAME_PLAIN, 80, 0);
    cr_expect(!all.fits && all.entries == 4 && all.whole, "what fits in the limit is looked at to its end");
    const frame_fit part = fit_of(80, FRAME_PLAIN, 60, 0);
    cr_expect(part.fits && !part.whole && part.entries == 3 && part.stated == 60);
    cr_expect(!fit_of(80, FRAME_PLAIN, 60, 9 + 20 + 1).fits, "the file ends before");
    hdx_buffer_free(&b);
}

static frame_part part_of(uint32_t stated, frame_way way, size_t cut)
{
    over       o;
    frame_part part = { .at_end = true };
    hdx_error  err = { 0 };
    open_it(&o, cut, 64);
    cr_assert(hdx_strip_frame_whole_part(&o.r, 4, 0, stated, way, &part, &err) == HDX_OK, "%s", err.message);
    over_close(&o);
    return part;
}

Test(frame, whole_part_ends_at_the_last_entry_that_is_there)
{
    begin();
    array(3);
    array(0);
    root(HDX_SUB_ROOT_STICKY_CLASS);
    array(8);
    for (size_t cut = 0; cut < b.len; cut++) {
        const size_t     len = b.len - cut;
        const frame_part part = part_of(900, FRAME_PLAIN, cut);
        const size_t     end = len >= 58 ? 58 : len >= 36 ? 36 : len >= 31 ? 31 : len >= 17 ? 17 : 0;
        cr_assert(part.end == end && part.accounted == end, "%zu bytes: %llu", len, (ull)part.end);
        cr_assert(part.entries == (end == 58   ? 4
                                   : end == 36 ? 3
                                   : end == 31 ? 2
                                   : end == 17 ? 1
                                               : 0) &&
                  part.arrays == (end == 58   ? 2u
                                  : end >= 17 ? 1u
                                              : 0u));
        cr_assert(part.at_end, "%zu bytes", len);
    }
    frame_part part = part_of(0, FRAME_PLAIN, 0);
    cr_expect(!part.at_end && part.end == 0 && part.entries == 0 && part.accounted == 0);
    part = part_of(36, FRAME_PLAIN, 0);
    cr_expect(!part.at_end && part.end == 36 && part.entries == 3, "the record ends there");
    part = part_of(37, FRAME_PLAIN, 0);
    cr_expect(!part.at_end && part.end == 36 && part.entries == 3, "an entry passes it");
    part = part_of(900, FRAME_CUT, 0);
    cr_expect(!part.at_end && part.end == 14 && part.accounted == 17 && part.entries == 1 && part.arrays == 1,
              "no tag follows");
    hdx_buffer_free(&b);
}

/* ---- going on behind garbage ---- */

static bool resumed(hdx_pos from, uint64_t *patience, hdx_pos *at, size_t chunk)
{
    over      o;
    bool      found = true;
    hdx_error err = { 0 };
    open_it(&o, 0, chunk);
    cr_assert(hdx_strip_frame_resume(&o.r, 4, from, patience, at, &found, &err) == HDX_OK, "%s", err.message);
    over_close(&o);
    return found;
}

static uint64_t patient; /* what is left of it */
static bool     found_at(hdx_pos from, hdx_pos want)
{
    hdx_pos at = 0;
    for (size_t chunk = 9; chunk < 4000; chunk = 3 * chunk + 1) {
        patient = 1000;
        if (!resumed(from, &patient, &at, chunk) || at != want)
            return false;
    }
    return true;
}
static bool nothing_from(hdx_pos from)
{
    hdx_pos at = 0;
    patient = 1000;
    return !resumed(from, &patient, &at, 64);
}

Test(resume, finds_the_next_record_all_of_whose_entries_fit)
{
    begin();
    bytes_of(HDX_TOP_HEAP_DUMP_SEGMENT, 20);
    hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP_SEGMENT, 0, 23 + 14);
    array(9);
    array(0);
    hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP_END, 0, 0);
    cr_expect(found_at(0, 20) && found_at(19, 20) && found_at(20, 20));
    cr_expect(found_at(21, 20 + 9 + 37) && found_at(66, 66), "the end record");
    cr_expect(nothing_from(67) && nothing_from(900));
    hdx_buffer_free(&b);

    begin(); /* without contents */
    bytes_of(0x55, 2);
    hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP_SEGMENT, 0, 23);
    array_head(9);
    cr_expect(found_at(0, 2) && patient == 1000 - 2 - 2, "%llu", (ull)patient);
    hdx_buffer_free(&b);
}

Test(resume, passes_over_what_only_looks_like_a_record)
{
    static const struct {
        uint8_t  tag;
        uint32_t time, length, entries;
    } none[] = { { HDX_TOP_HEAP_DUMP_SEGMENT, 1, 23, 1 }, { HDX_TOP_HEAP_DUMP_SEGMENT, 0x1000000, 23, 1 },
                 { HDX_TOP_HEAP_DUMP_SEGMENT, 0, 0, 0 },  { HDX_TOP_HEAP_DUMP_SEGMENT, 0, 24, 1 },
                 { HDX_TOP_HEAP_DUMP, 0, 23, 1 },         { HDX_TOP_STRING, 0, 23, 1 },
                 { HDX_TOP_HEAP_DUMP_END, 0, 1, 0 },      { HDX_TOP_HEAP_DUMP_END, 1, 0, 0 } };
    for (unsigned k = 0; k < sizeof none / sizeof *none; k++) {
        begin();
        hdx_write_record_head(&b, none[k].tag, none[k].time, none[k].length);
        if (none[k].entries > 0)
            array(9);
        const size_t end = b.len;
        hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP_END, 0, 0);
        cr_expect(found_at(0, end), "case %u", k);
        hdx_buffer_free(&b);
    }
    begin(); /* an end record that nothing can follow */
    hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP_END, 0, 0);
    bytes_of(0x55, 20);
    cr_expect(nothing_from(0));
    hdx_buffer_free(&b);
}

Test(resume, looks_for_it_within_a_mebibyte_and_as_long_as_its_patience_lasts)
{
    for (unsigned k = 0; k < 3; k++) {
        begin();
        bytes_of(0, (1u << 20) - 1 + k + 5);
        hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP_END, 0, 0);
        hdx_pos at = 0;
        patient = 1000;
        cr_expect(resumed(5, &patient, &at, 4096) == (k == 0), "%u", k);
        hdx_buffer_free(&b);
    }
    begin(); /* three entries and a fourth that is none, in both ways */
    hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP_SEGMENT, 0, 25);
    for (unsigned k = 0; k < 3; k++)
        root(HDX_SUB_ROOT_STICKY_CLASS);
    bytes_of(0x55, 10);
    hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP_END, 0, 0);
    for (uint64_t patience = 0; patience < 12; patience++) {
        uint64_t left = patience;
        hdx_pos  at = 0;
        cr_expect(resumed(0, &left, &at, 64) == (patience > 8), "%llu", (ull)patience);
        cr_expect(left == (patience > 8 ? patience - 8 : 0), "%llu: %llu are left", (ull)patience, (ull)left);
    }
    hdx_buffer_free(&b);
}

Test(resume, patience_is_spent_to_its_end)
{
    uint64_t left = 10;
    hdx_strip_frame_spend(&left, 3);
    cr_expect(left == 6);
    hdx_strip_frame_spend(&left, 5);
    cr_expect(left == 0);
    hdx_strip_frame_spend(&left, 0);
    cr_expect(left == 0);
}

/* ---- names that were cut ---- */

typedef struct cut_one {
    uint32_t    ids;    /* 0: 4 */
    uint32_t    states; /* bytes of the text that the record states */
    const char *text;   /* what is there of it */
    size_t      len;    /* of that; 0: strlen */
    uint8_t     tag;    /* of the record behind; 0 and no length: a STRING of 20 bytes */
    uint32_t    time, length;
    size_t      short_by; /* the file ends so many bytes before the end of that head */
} cut_one;

/* How many bytes of the text are kept; 9999: it was not cut. */
static uint32_t kept_of(const cut_one *one)
{
    cut_one c = *one;
    if (c.ids == 0)
        c.ids = 4;
    if (c.tag == 0 && c.length == 0) {
        c.tag = HDX_TOP_STRING;
        c.length = 20;
    }
    over         o;
    uint32_t     kept = 0;
    bool         cut = true;
    hdx_error    err = { 0 };
    const size_t len = c.len != 0 ? c.len : strlen(c.text);
    begin();
    hdx_write_record_head(&b, HDX_TOP_STRING, 0x01020304, c.ids + c.states);
    bytes_of(0x11, c.ids);
    hdx_buffer_put(&b, c.text, len);
    hdx_write_record_head(&b, c.tag, c.time == 0 ? 0x01020304 : c.time, c.length);
    if (c.short_by == 0)
        bytes_of(0x44, 400);
    open_it(&o, c.short_by, 64);
    cr_assert(hdx_strip_frame_cut_name(&o.r, c.ids, 0, c.ids + c.states, &kept, &cut, &err) == HDX_OK, "%s",
              err.message);
    close_it(&o);
    return cut ? kept : 9999;
}
#define KEPT(...) kept_of(&(cut_one){ __VA_ARGS__ })

Test(cut_name, ends_where_the_head_of_the_next_record_stands_inside_it)
{
    cr_expect(KEPT(.text = "\303\251ab", .states = 5) == 4, "one byte is gone");
    cr_expect(KEPT(.text = "\303\251ab", .states = 4) == 9999, "none is gone");
    cr_expect(KEPT(.text = "abcd\303\251", .states = 7) == 6);
    cr_expect(KEPT(.text = "abcdefgh\303\251", .states = 11) == 10);
    cr_expect(KEPT(.text = "abcdefghijklm\303\251", .states = 16) == 15);
    cr_expect(KEPT(.text = "abcdefghijklmnop\303\251", .states = 19) == 18);
    cr_expect(KEPT(.text = "abcdefg\200", .states = 9) == 8, "the least byte that is not ASCII");
    cr_expect(KEPT(.text = "abcdefg\177", .states = 9) == 9999, "the greatest that is");
    cr_expect(KEPT(.text = "abcdef\200\200", .states = 10) == 8);
    cr_expect(KEPT(.text = "abc", .states = 9) == 9999, "a plain one has as many bytes as characters");
    cr_expect(KEPT(.text = "\303\251ab", .states = 5, .ids = 8) == 4);
    cr_expect(KEPT(.text = "abcdefgh\303\251", .states = 11, .ids = 8) == 10);
}

Test(cut_name, keeps_a_third_at_the_least)
{
    cr_expect(KEPT(.text = "\343\201", .states = 6) == 2 && KEPT(.text = "\343\201", .states = 7) == 9999);
    cr_expect(KEPT(.text = "\343\201\202", .states = 9) == 3 && KEPT(.text = "\343\201\202", .states = 8) == 3 &&
              KEPT(.text = "\343\201\202", .states = 10) == 9999);
    cr_expect(KEPT(.text = "\343", .states = 3) == 1 && KEPT(.text = "\343", .states = 2) == 1 &&
              KEPT(.text = "\343", .states = 4) == 9999);
}

Test(cut_name, a_nul_before_anything_outside_ascii_makes_it_no_name)
{
    for (size_t nul = 0; nul < 24; nul++) {
        char text[26];
        memset(text, 'a', sizeof text);
        text[nul] = '\0';
        text[24] = (char)0303;
        text[25] = (char)0251;
        cr_expect(KEPT(.text = text, .len = 26, .states = 27) == 9999, "byte %zu", nul);
        text[nul] = '\1';
        cr_expect(KEPT(.text = text, .len = 26, .states = 27) == 26, "byte %zu", nul);
    }
}

Test(cut_name, the_head_behind_it_is_of_a_kind_length_and_time_that_can_be)
{
    static const struct {
        uint8_t  tag;
        uint32_t length4, length8;
        bool     can4, can8;
    } heads[] = {
        { HDX_TOP_STRING, 3, 7, false, false },
        { HDX_TOP_STRING, 4, 8, true, true },
        { HDX_TOP_STRING, 3 * 65535 + 4, 3 * 65535 + 8, true, true },
        { HDX_TOP_STRING, 3 * 65535 + 5, 3 * 65535 + 9, false, false },
        { HDX_TOP_LOAD_CLASS, 16, 24, true, true },
        { HDX_TOP_LOAD_CLASS, 24, 16, false, false },
        { HDX_TOP_FRAME, 24, 40, true, true },
        { HDX_TOP_FRAME, 40, 24, false, false },
        { HDX_TOP_TRACE, 11, 11, false, false },
        { HDX_TOP_TRACE, 12, 12, true, true },
        { HDX_TOP_TRACE, 16, 20, true, true },
        { HDX_TOP_TRACE, 20, 16, true, false },
        { HDX_TOP_TRACE, 17, 21, false, false },
        { HDX_TOP_TRACE, 8, 4, false, false },
        { HDX_TOP_HEAP_DUMP, 12345678, 0, true, true },
        { HDX_TOP_HEAP_DUMP_SEGMENT, 12345678, 0, true, true },
        { HDX_TOP_HEAP_DUMP_END, 0, 0, true, true },
        { HDX_TOP_HEAP_DUMP_END, 1, 1, false, false },
        { HDX_TOP_UNLOAD_CLASS, 4, 4, false, false },
        { 0x00, 4, 4, false, false },
        { 0x20, 4, 4, false, false },
    };
    for (unsigned k = 0; k < sizeof heads / sizeof *heads; k++) {
        cr_expect((KEPT(.text = "gr\303\266", .states = 6, .tag = heads[k].tag, .length = heads[k].length4) == 4) ==
                      heads[k].can4,
                  "case %u", k);
        cr_expect((KEPT(.text = "gr\303\266", .states = 6, .tag = heads[k].tag, .length = heads[k].length8, .ids = 8) ==
                   4) == heads[k].can8,
                  "case %u, ids of 8", k);
    }
    static const uint32_t times[] = { 0x01020305, 0x01020204, 0x01030304, 0x02020304 };
    for (unsigned k = 0; k < 4; k++)
        cr_expect(KEPT(.text = "gr\303\266", .states = 6, .time = times[k]) == 9999, "another time");
}

Test(cut_name, where_the_file_ends_in_the_record_is_found_as_long_as_the_head_is_there)
{
    cr_expect(KEPT(.text = "gr\303\266", .states = 9, .tag = HDX_TOP_HEAP_DUMP_SEGMENT, .length = 0) == 4);
    for (size_t gone = 1; gone < 9 + 4 + 4 + 9; gone++)
        cr_expect(KEPT(.text = "gr\303\266", .states = 9, .short_by = gone) == 9999 &&
                      KEPT(.text = "gr\303\266", .states = 9, .short_by = gone, .tag = HDX_TOP_HEAP_DUMP_SEGMENT,
                           .length = 1) == 9999,
                  "%zu", gone);
    over     o; /* the head is the last of the file */
    uint32_t kept = 0;
    bool     cut = false;
    begin();
    hdx_write_record_head(&b, HDX_TOP_STRING, 0, 4 + 5);
    hdx_buffer_put(&b, "\0\0\0\1gr\303\266", 8);
    hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP_SEGMENT, 0, 3);
    open_it(&o, 0, 64);
    cr_expect(hdx_strip_frame_cut_name(&o.r, 4, 0, 9, &kept, &cut, NULL) == HDX_OK && cut && kept == 4);
    close_it(&o);
}

Test(cut_name, a_text_longer_than_java_writes_or_shorter_than_its_id_is_none)
{
    static char    text[3 * 65535 + 8];
    const uint32_t most = 3 * 65535;
    memset(text, 'a', sizeof text);
    text[most - 3] = (char)0303;
    text[most - 2] = (char)0251;
    cr_expect(KEPT(.text = text, .len = most - 1, .states = most) == most - 1);
    cr_expect(KEPT(.text = text, .len = most - 1, .states = most + 1) == 9999);
    cr_expect(KEPT(.text = "\303\251", .states = 0) == 9999 && KEPT(.text = "\303\251", .states = UINT32_MAX) == 9999);
}
