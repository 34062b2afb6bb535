/*
 * test_rules.c - one test per rule of damage that this room decides (HPROF 9).
 *
 * Every file is read by both readers, and packed; they must agree.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "surveyed.h"

#define HEAP_OBJECTS 7u /* of make_heap without nodes */

static void expect_damage(const surveyed *s, uint64_t index, hdx_damage_kind kind, uint64_t offset, uint64_t kept,
                          uint64_t lost, const char *record)
{
    cr_assert(gt(u64, s->survey.damage_count, index));
    const hdx_damage *d = &s->survey.damage[index];
    cr_expect(eq(int, (int)d->kind, (int)kind), "%s: %s", d->record, d->expected);
    cr_expect(eq(u64, d->offset, offset), "%s", d->expected);
    cr_expect(eq(u64, d->kept_objects, kept), "%s", d->expected);
    cr_expect(eq(u64, d->lost_bytes, lost), "%s", d->expected);
    cr_expect(eq(str, (char *)d->record, (char *)record));
    cr_expect(d->expected[0] != 0);
}

static void expect_refused(const void *bytes, size_t len, const char *words)
{
    surveyed *s = survey_bytes(bytes, len, (how){ 0 });
    cr_expect(eq(int, s->code, HDX_BAD_DUMP), "%s", words);
    cr_expect(strstr(s->err.message, words) != NULL, "\"%s\" does not say \"%s\"", s->err.message, words);
    surveyed_free(s);
}

Test(valid, whole_dump_gives_events_with_every_field)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = make_heap(m, 2);
    surveyed      *s = both_readers_of(m);
    cr_assert(eq(int, s->code, HDX_OK));
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 2));
    cr_expect(eq(u64, s->survey.damage_count, 0));
    cr_expect(eq(u32, s->survey.warning_count, 0));
    cr_expect(not(s->survey.sequential));
    cr_expect(eq(u64, s->restarts, 0));
    cr_expect(eq(u64, s->count, HEAP_OBJECTS + 2 + 3));
    cr_expect(eq(u64, s->events[0].addr, object));
    cr_expect(eq(u8, s->events[0].tag, HDX_SUB_CLASS));
    cr_expect(eq(u64, s->events[0].pos, dump_maker_heap_at(m) + 9));
    cr_expect(eq(u32, s->events[0].body_len, 71));
    cr_expect(eq(u8, s->events[4].tag, HDX_SUB_INSTANCE));
    cr_expect(eq(u32, s->events[4].count, 8 + 4 + 1 + 8));
    cr_expect(eq(u64, s->events[4].class_addr, s->events[3].addr));
    cr_expect(eq(u32, s->events[6].count, 3));
    cr_expect(eq(u8, s->events[7].type, 5));
    cr_expect(eq(u32, s->events[9].serial, 1));
    cr_expect(eq(i32, s->events[9].frame, 2));
    cr_expect(eq(i32, s->events[11].frame, -1));
    cr_expect(eq(str, (char *)s->survey.head.version, (char *)"1.0.2"));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(valid, worked_example_of_the_facts)
{
    /* HPROF 11, byte for byte: 303 bytes, ids of 4 bytes */
    static const char hex[] =
        "4a4156412050524f46494c4520312e302e3200000000040000018f00000000"
        "010000000000000014000010016a6176612f6c616e672f4f626a656374"
        "02000000000000001000000001000001000000000100001001"
        "010000000000000009000010026170702f41"
        "02000000000000001000000002000002000000000100001002"
        "010000000000000008000010036e657874"
        "010000000000000005000010046e"
        "1c000000000000007e"
        "20000001000000000100000000000000000000000000000000000000000000000000000000000000000000"
        "200000020000000001000001000000000000000000000000000000000000000000000000080000000000020000100302000010040a"
        "210000030000000001000002000000000800000300000000070500000200"
        "2c0000000000000000";
    uint8_t bytes[sizeof hex / 2];
    for (size_t k = 0; k < sizeof bytes; k++) {
        unsigned v;
        cr_assert(eq(int, sscanf(hex + 2 * k, "%2x", &v), 1));
        bytes[k] = (uint8_t)v;
    }
    cr_assert(eq(sz, sizeof bytes, 303));
    surveyed *s = both_readers(bytes, sizeof bytes);
    cr_assert(eq(int, s->code, HDX_OK));
    cr_expect(eq(u64, s->survey.objects, 3));
    cr_expect(eq(u64, s->survey.damage_count, 0));
    cr_expect(eq(u64, s->survey.top_records[HDX_TOP_STRING], 4));
    cr_expect(eq(u64, s->events[2].pos, 264));
    cr_expect(eq(u64, s->events[2].addr, 0x300));
    cr_expect(eq(u64, s->events[3].pos, 289));
    cr_expect(eq(u64, s->survey.stretches[0].from, 168));
    cr_expect(eq(u64, s->survey.stretches[0].end, 294));
    surveyed_free(s);
}

Test(header, r1_refuses_what_is_no_dump_and_says_what_it_is)
{
    expect_refused("", 0, "empty");
    expect_refused("J", 1, "truncated");
    expect_refused("JAVA PROFILE 1.0.2\0\0\0\0\x08", 23, "truncated");
    expect_refused("Exception in thread main\n", 25, "text file");
    expect_refused("PK\x03\x04....", 8, "zip");
    expect_refused("\0\x12portable heap dump\0\0", 22, "PHD");
    expect_refused("\x7f"
                   "ELF\2\1\1\0\0\0\0\0",
                   12, "ELF");
    expect_refused("JAVA PROFILE 1.0\0\0\0\0\4\0\0\0\0\0\0\0\0", 29, "version 1.0");
    expect_refused("JAVA PROFILE 9.9.9\0\0\0\0\4\0\0\0\0\0\0\0\0", 31, "9.9.9");
    expect_refused("\0\0\0\0\0\0\0\0", 8, "zero");
    expect_refused("FLR\0\0\2\0\0", 8, "flight recording");
    static uint8_t many[600]; /* more than is looked at */
    expect_refused(many, sizeof many, "zero bytes");
    memset(many, 'x', sizeof many);
    expect_refused(many, sizeof many, "text file");
    many[511] = 1;
    expect_refused(many, sizeof many, "not a heap dump");
    gm_bytes once = { 0 }, twice = { 0 };
    gm_member_put(&once, "JAVA PROFILE 1.0.2", 19, &(gm_member){ 0 });
    gm_member_put(&twice, once.at, once.len, &(gm_member){ 0 });
    expect_refused(twice.at, twice.len, "gzip file in a gzip file");
    gm_free(&once);
    gm_free(&twice);
}

Test(header, r2_refuses_ids_that_are_not_4_or_8_bytes)
{
    for (uint32_t size = 0; size < 20; size++) {
        hdx_buffer b = hdx_buffer_of(NULL);
        hdx_write_head(&b, "1.0.2", size, 0);
        if (size != 4 && size != 8)
            expect_refused(b.at, (size_t)b.len, "identifiers are");
        hdx_buffer_free(&b);
    }
}

Test(header, r3_refuses_a_file_without_heap_record)
{
    dump_maker *m = dump_maker_new(8);
    m->no_end = true;
    (void)dump_maker_name(m, "java/lang/Object");
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    expect_refused(bytes, len, "no heap dump in this file");
    dump_maker_free(m);
}

Test(cut, r4_cut_in_a_record_or_without_end_record)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    dump_maker_between_record(m, HDX_TOP_STRING, "12345678name", 12);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    surveyed      *s = both_readers(bytes, len - 4);
    expect_damage(s, 0, HDX_DAMAGE_TRUNCATED, len - 9, HEAP_OBJECTS, 5, "RECORD");
    cr_expect(eq(u64, s->survey.damage_count, 1));
    surveyed_free(s);
    s = both_readers(bytes, len - 9);
    expect_damage(s, 0, HDX_DAMAGE_TRUNCATED, len - 9, HEAP_OBJECTS, 0, "HEAP_DUMP_END");
    surveyed_free(s);
    s = both_readers(bytes, len - 9 - 3);
    expect_damage(s, 0, HDX_DAMAGE_TRUNCATED, len - 9 - 21, HEAP_OBJECTS, 18, "STRING_IN_UTF8");
    cr_expect(eq(u64, s->survey.damage_count, 1));
    surveyed_free(s);
    dump_maker_free(m);
}

/* Where the container is cut or broken the missing end record says nothing more; where its sum is wrong it does. */
Test(cut, r4_a_container_that_is_cut_says_enough)
{
    enum { SOUND, SUM, CUT, BROKEN, SUM_AND_CUT, CASES };
    static const struct {
        hdx_damage_kind kind;
        bool            end_is_missed;
    } cases[CASES] = { { HDX_DAMAGE_TRUNCATED, true },
                       { HDX_DAMAGE_CRC, true },
                       { HDX_DAMAGE_TRUNCATED, false },
                       { HDX_DAMAGE_GZIP, false },
                       { HDX_DAMAGE_CRC, false } };
    dump_maker *m = dump_maker_new(8);
    m->no_end = true;
    (void)make_heap(m, 0);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    for (unsigned i = 0; i < CASES; i++) {
        gm_bytes packed = { 0 };
        if (i == BROKEN) { /* a stored block with all of it, and one of no kind */
            static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 0 };
            const unsigned       n = (unsigned)len;
            gm_put(&packed, head, sizeof head);
            gm_byte(&packed, n & 255);
            gm_byte(&packed, n >> 8);
            gm_byte(&packed, ~n & 255);
            gm_byte(&packed, (~n >> 8) & 255);
            gm_put(&packed, bytes, len);
            for (unsigned k = 0; k < 30; k++)
                gm_byte(&packed, 7);
        } else if (i == SUM_AND_CUT) { /* in two members */
            gm_member_put(&packed, bytes, len / 2, &(gm_member){ .stored = true });
            packed.at[packed.len - 5] ^= 1;
            gm_member_put(&packed, bytes + len / 2, len - len / 2, &(gm_member){ .stored = true });
        } else
            gm_member_put(&packed, bytes, len, &(gm_member){ .stored = true });
        if (i == SUM)
            packed.at[packed.len - 5] ^= 1;
        if (i == CUT || i == SUM_AND_CUT)
            packed.len -= 6;
        surveyed *s = survey_bytes(packed.at, packed.len, (how){ .threads = 1 });
        unsigned  missed = 0, of_kind = 0;
        cr_assert(eq(int, s->code, HDX_OK));
        for (uint64_t k = 0; k < s->survey.damage_count; k++) {
            missed += strcmp(s->survey.damage[k].record, "HEAP_DUMP_END") == 0;
            of_kind += s->survey.damage[k].kind == cases[i].kind;
        }
        cr_expect(eq(u32, missed, cases[i].end_is_missed), "case %u", i);
        cr_expect(gt(u32, of_kind, 0), "case %u", i);
        cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS));
        surveyed_free(s);
        gm_free(&packed);
    }
    dump_maker_free(m);
}

/* Newer writers have other kinds of records. */
Test(tags, r5_unknown_records_between_known_ones_are_a_warning)
{
    for (unsigned records = 1; records <= 16; records++) {
        char        text[96];
        dump_maker *m = dump_maker_new(4);
        (void)make_heap(m, 0);
        dump_maker_segment(m);
        for (unsigned i = 0; i < records; i++)
            dump_maker_between_record(m, (uint8_t)(i % 2 == 0 ? 0x2D : 0x14), "??????????", 10 - i % 3);
        (void)dump_maker_primitives(m, 'I', NULL, 1);
        surveyed *s = both_readers_of(m);
        cr_expect(eq(u64, s->survey.damage_count, 0));
        cr_assert(eq(u32, s->survey.warning_count, 1));
        (void)snprintf(text, sizeof text,
                       records == 1 ? "1 record of 1 unknown kind (0x2d)" : "%u records of 2 unknown kinds (0x14 ...)",
                       records);
        cr_expect(strstr(s->survey.warnings[0], text) != NULL, "%s", s->survey.warnings[0]);
        cr_expect(eq(u64, s->survey.top_records[0x2D], (records + 1) / 2));
        cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 1));
        cr_expect(s->survey.sequential);
        surveyed_free(s);
        dump_maker_free(m);
    }
}

Test(tags, r5_unknown_record_is_skipped_where_its_length_leads_on)
{
    dump_maker *m = dump_maker_new(4);
    (void)make_heap(m, 0);
    dump_maker_segment(m);
    const uint64_t at = m->heap.len;
    dump_maker_between_record(m, 0x77, "??????????", 10);
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    surveyed *s = both_readers_of(m);
    expect_damage(s, 0, HDX_DAMAGE_UNKNOWN_TAG, dump_maker_heap_at(m) + at, HEAP_OBJECTS, 19, "0x77");
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 1));
    cr_expect(s->survey.sequential);
    surveyed_free(s);
    dump_maker_free(m);
}

/* No known record follows that would show that it is one. */
Test(tags, r5_a_record_of_a_new_kind_that_the_file_ends_with_is_damage)
{
    dump_maker *m = dump_maker_new(4);
    (void)make_heap(m, 0);
    dump_maker_end(m);
    const uint64_t at = m->heap.len;
    m->no_end = true;
    dump_maker_between_record(m, 0x2D, "??????????", 10);
    surveyed *s = both_readers_of(m);
    expect_damage(s, 0, HDX_DAMAGE_UNKNOWN_TAG, dump_maker_heap_at(m) + at, HEAP_OBJECTS, 19, "0x2d");
    cr_expect(eq(u64, s->survey.top_records[0x2D], 0));
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(tags, r5_what_leads_nowhere_is_garbage_and_ends_the_reading)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    dump_maker_segment(m);
    const uint64_t at = m->heap.len;
    dump_maker_between(m, "no record at all, but words", 27);
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    surveyed      *s = both_readers(bytes, len);
    expect_damage(s, 0, HDX_DAMAGE_GARBAGE, dump_maker_heap_at(m) + at, HEAP_OBJECTS, len - dump_maker_heap_at(m) - at,
                  "0x6e");
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS));
    cr_expect(eq(u64, s->survey.damage_count, 1));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(lengths, r6_impossible_lengths_of_tables_are_skipped)
{
    dump_maker *m = dump_maker_new(8);
    dump_maker_top(m, HDX_TOP_LOAD_CLASS, "12345678901234567890", 20);
    dump_maker_top(m, HDX_TOP_STRING, "abc", 3);
    dump_maker_top(m, HDX_TOP_TRACE,
                   "\0\0\0\1\0\0\0\1\xff\xff\xff\xff"
                   "12345678",
                   20);
    (void)make_heap(m, 0);
    surveyed *s = both_readers_of(m);
    expect_damage(s, 0, HDX_DAMAGE_LENGTH, 31, 0, 29, "LOAD_CLASS");
    expect_damage(s, 1, HDX_DAMAGE_LENGTH, 60, 0, 12, "STRING_IN_UTF8");
    expect_damage(s, 2, HDX_DAMAGE_LENGTH, 72, 0, 29, "STACK_TRACE");
    cr_expect(eq(u64, s->survey.damage_count, 3));
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(cut, r7_a_cut_sub_record_is_not_kept_at_any_cut)
{
    for (uint32_t id_size = 4; id_size <= 8; id_size += 4) {
        dump_maker *m = dump_maker_new(id_size);
        (void)make_heap(m, 3);
        size_t         len;
        const uint8_t *bytes = dump_maker_bytes(m, &len);
        uint64_t       objects = 0;
        for (size_t cut = 0; cut <= len; cut++) {
            uint8_t *exact = malloc(cut == 0 ? 1 : cut); /* ASan sees a read after it */
            memcpy(exact, bytes, cut);
            surveyed *s = both_readers(exact, cut);
            if (cut < dump_maker_heap_at(m) + 9)
                cr_expect(eq(int, s->code, HDX_BAD_DUMP), "cut at %zu", cut);
            else {
                cr_assert(eq(int, s->code, HDX_OK), "cut at %zu: %s", cut, s->err.message);
                cr_expect(ge(u64, s->survey.objects, objects), "cut at %zu", cut);
                objects = s->survey.objects;
                cr_expect(eq(u64, s->survey.damage_count, cut == len ? 0 : 1), "cut at %zu", cut);
                if (cut < len)
                    cr_expect(eq(int, (int)s->survey.damage[0].kind, HDX_DAMAGE_TRUNCATED), "cut at %zu", cut);
                cr_expect(eq(u64, s->walked, s->count), "cut at %zu", cut);
            }
            surveyed_free(s);
            free(exact);
        }
        cr_expect(eq(u64, objects, HEAP_OBJECTS + 3));
        dump_maker_free(m);
    }
}

Test(lengths, r8_length_0_runs_to_the_next_plausible_record)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 1);
    dump_maker_segment_says(m, 0);
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    surveyed *s = both_readers_of(m);
    expect_damage(s, 0, HDX_DAMAGE_LENGTH, dump_maker_heap_at(m), 0, 0, "HEAP_DUMP_SEGMENT");
    cr_expect(eq(u64, s->survey.damage_count, 1));
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 2));
    cr_expect(eq(u64, s->walked, s->count));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(lengths, r8_an_empty_segment_is_no_damage)
{
    dump_maker *m = dump_maker_new(4);
    dump_maker_segment_empty(m);
    (void)make_heap(m, 1);
    dump_maker_segment_empty(m);
    dump_maker_segment_empty(m);
    surveyed *s = both_readers_of(m);
    cr_expect(eq(u64, s->survey.damage_count, 0));
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 1));
    cr_expect(not(s->survey.sequential));
    cr_expect(eq(u64, s->survey.stretch_count, 1));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(lengths, r10_a_sub_record_over_the_end_is_taken_whole_where_a_record_follows)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    const uint64_t at = dump_maker_mark(m);
    (void)dump_maker_primitives(m, 'I', NULL, 3);
    dump_maker_segment_says(m, (uint32_t)(at - 9 + 12));
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    surveyed *s = both_readers_of(m);
    expect_damage(s, 0, HDX_DAMAGE_LENGTH, dump_maker_heap_at(m) + at, HEAP_OBJECTS, 0, "HEAP_DUMP_SEGMENT");
    cr_expect(eq(u64, s->survey.damage_count, 1));
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 2));
    cr_expect(eq(u64, s->walked, s->count));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(lengths, r10_a_class_dump_over_the_end_keeps_its_bytes)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = make_heap(m, 0), at = dump_maker_mark(m);
    (void)dump_maker_class(m, "app/Cut", object, "a:L b:I c:J");
    dump_maker_segment_says(m, (uint32_t)(at - 9 + 40));
    surveyed *s = both_readers_of(m);
    expect_damage(s, 0, HDX_DAMAGE_LENGTH, dump_maker_heap_at(m) + at, HEAP_OBJECTS, 0, "HEAP_DUMP_SEGMENT");
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 1));
    cr_expect(eq(u32, s->events[s->count - 1].body_len, 71 + 27));
    cr_expect(eq(u64, s->walked, s->count));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(lengths, r10_a_length_too_large_ends_where_a_record_begins)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    const uint64_t end = dump_maker_mark(m);
    dump_maker_segment_says(m, (uint32_t)(end - 9 + 9));
    surveyed *s = both_readers_of(m);
    expect_damage(s, 0, HDX_DAMAGE_LENGTH, dump_maker_heap_at(m) + end, HEAP_OBJECTS, 0, "HEAP_DUMP_SEGMENT");
    cr_expect(eq(u64, s->survey.damage_count, 1));
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(lengths, r10_a_length_too_small_is_not_believed_where_nothing_follows)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    const uint64_t at = dump_maker_mark(m);
    for (unsigned k = 0; k < 5; k++)
        (void)dump_maker_primitives(m, 'J', NULL, 3);
    dump_maker_segment_says(m, (uint32_t)(at - 9 + 12));
    surveyed *s = both_readers_of(m);
    expect_damage(s, 0, HDX_DAMAGE_LENGTH, dump_maker_heap_at(m) + at, HEAP_OBJECTS, 0, "HEAP_DUMP_SEGMENT");
    cr_expect(eq(u64, s->survey.damage_count, 1));
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 5));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(lengths, r11_a_sub_record_that_does_not_fit_is_dropped_where_the_end_is_plausible)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    const uint64_t at = dump_maker_mark(m);
    hdx_write_instance(&m->heap, 8, 0x999000, 1, 0x111, "0123456789", 10);
    m->heap.len -= 4;
    dump_maker_segment(m);
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    surveyed *s = both_readers_of(m);
    expect_damage(s, 0, HDX_DAMAGE_LENGTH, dump_maker_heap_at(m) + at, HEAP_OBJECTS, 31, "INSTANCE_DUMP");
    cr_expect(eq(u64, s->survey.damage_count, 1));
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 1));
    cr_expect(eq(u64, s->walked, s->count));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(tags, r12_unknown_sub_tag_loses_the_rest_of_its_record)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    const uint64_t at = dump_maker_mark(m);
    dump_maker_raw(m, "\x55\3\3\3\3\3\3\3", 8);
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    const uint64_t end = dump_maker_mark(m);
    dump_maker_segment(m);
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    surveyed *s = both_readers_of(m);
    expect_damage(s, 0, HDX_DAMAGE_UNKNOWN_TAG, dump_maker_heap_at(m) + at, HEAP_OBJECTS, end - at, "0x55");
    cr_expect(eq(u64, s->survey.damage_count, 1));
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 1));
    cr_expect(eq(u64, s->walked, s->count));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(tags, r12_impossible_types_lose_the_rest_of_their_record)
{
    for (unsigned type = 0; type < 256; type++) {
        if (type >= 4 && type <= 11)
            continue;
        dump_maker *m = dump_maker_new(4);
        (void)make_heap(m, 0);
        const uint64_t at = dump_maker_mark(m);
        hdx_write_primitive_array_head(&m->heap, 4, HDX_SUB_PRIMITIVE_ARRAY, 0x999000, 1, 0, (uint8_t)type);
        dump_maker_segment(m);
        surveyed *s = both_readers_of(m);
        expect_damage(s, 0, HDX_DAMAGE_LAYOUT, dump_maker_heap_at(m) + at, HEAP_OBJECTS, 14, "PRIMITIVE_ARRAY_DUMP");
        cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS));
        surveyed_free(s);
        dump_maker_free(m);
    }
}

Test(counts, counts_that_no_file_holds_are_never_believed)
{
    static const uint8_t  tags[] = { HDX_SUB_OBJECT_ARRAY, HDX_SUB_PRIMITIVE_ARRAY, HDX_SUB_INSTANCE };
    static const uint32_t counts[] = { 0x20000008, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF };
    for (unsigned t = 0; t < 3; t++)
        for (unsigned c = 0; c < 4; c++) {
            dump_maker *m = dump_maker_new(8);
            (void)make_heap(m, 0);
            const uint64_t at = dump_maker_mark(m);
            if (tags[t] == HDX_SUB_OBJECT_ARRAY)
                hdx_write_object_array_head(&m->heap, 8, 0x999000, 1, 0x111, counts[c]);
            else if (tags[t] == HDX_SUB_PRIMITIVE_ARRAY)
                hdx_write_primitive_array_head(&m->heap, 8, tags[t], 0x999000, 1, counts[c], 11);
            else {
                hdx_write_instance(&m->heap, 8, 0x999000, 1, 0x111, "", 0);
                m->heap.len -= 4;
                hdx_write_u4(&m->heap, counts[c]);
            }
            const uint64_t end = dump_maker_mark(m);
            dump_maker_segment(m);
            surveyed *s = both_readers_of(m);
            expect_damage(s, 0, HDX_DAMAGE_COUNT, dump_maker_heap_at(m) + at, HEAP_OBJECTS, end - at,
                          hdx_sub_name(tags[t]));
            cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS));
            surveyed_free(s);
            dump_maker_free(m);
        }
}

Test(tail, r16_zero_bytes_are_a_warning_other_bytes_garbage)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    for (size_t tail = 1; tail < 40; tail++)
        for (unsigned other = 0; other < 2; other++) {
            uint8_t *longer = calloc(1, len + tail);
            memcpy(longer, bytes, len);
            if (other)
                longer[len + tail - 1] = 'x';
            surveyed *s = both_readers(longer, len + tail);
            cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS));
            cr_expect(eq(u64, s->survey.damage_count, other), "tail of %zu", tail);
            cr_expect(eq(u32, s->survey.warning_count, 1 - other), "tail of %zu", tail);
            if (other)
                expect_damage(s, 0, tail < 9 ? HDX_DAMAGE_TRUNCATED : HDX_DAMAGE_GARBAGE, len, HEAP_OBJECTS, tail,
                              tail < 9    ? "RECORD"
                              : tail == 1 ? "0x78"
                                          : "0x00");
            surveyed_free(s);
            free(longer);
        }
    dump_maker_free(m);
}

/* Zero bytes are a tail of a dump that has ended: with its end record, or with its one HEAP_DUMP. */
Test(tail, r16_zero_bytes_are_a_warning_only_behind_the_end)
{
    static const size_t tails[] = { 1, 8, 10, 17, 18, 19, 300000 }; /* 9 may be a record of no known kind */
    for (unsigned whole = 0; whole < 2; whole++)
        for (unsigned no_end = 0; no_end < 2; no_end++) {
            dump_maker *m = dump_maker_new(8);
            m->whole = whole;
            m->no_end = no_end;
            (void)make_heap(m, 0);
            size_t         len;
            const uint8_t *bytes = dump_maker_bytes(m, &len);
            const bool     ended = whole || !no_end;
            for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
                for (unsigned other = 0; other < 2; other++) {
                    uint8_t *longer = calloc(1, len + tails[i]);
                    memcpy(longer, bytes, len);
                    if (other)
                        longer[len + (tails[i] > 1000 ? 20 : tails[i] - 1)] = 'x';
                    surveyed *s = both_readers(longer, len + tails[i]);
                    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS));
                    cr_expect(eq(u32, s->survey.warning_count, ended && !other), "tail of %zu", tails[i]);
                    if (ended && !other)
                        cr_expect(eq(u64, s->survey.damage_count, 0));
                    else {
                        cr_expect(eq(u64, s->survey.damage_count, 1), "tail of %zu", tails[i]);
                        expect_damage(s, 0, tails[i] < 9 ? HDX_DAMAGE_TRUNCATED : HDX_DAMAGE_GARBAGE, len, HEAP_OBJECTS,
                                      tails[i], tails[i] < 9 ? "RECORD" : "0x00");
                    }
                    surveyed_free(s);
                    free(longer);
                }
            dump_maker_free(m);
        }
}

/* Every table may be the last record, behind a HEAP_DUMP, to its last byte; without that it is cut. */
Test(cut, r4_any_record_may_be_the_last)
{
    static const struct {
        uint8_t  tag;
        uint32_t lengths[2];
    } records[] = {
        { HDX_TOP_STRING, { 8, 40 } },          { HDX_TOP_LOAD_CLASS, { 24, 24 } },
        { HDX_TOP_UNLOAD_CLASS, { 4, 4 } },     { HDX_TOP_FRAME, { 40, 40 } },
        { HDX_TOP_TRACE, { 12, 12 } },          { HDX_TOP_ALLOC_SITES, { 34, 340 } },
        { HDX_TOP_HEAP_SUMMARY, { 24, 24 } },   { HDX_TOP_START_THREAD, { 40, 40 } },
        { HDX_TOP_END_THREAD, { 4, 4 } },       { HDX_TOP_CPU_SAMPLES, { 8, 300000 } },
        { HDX_TOP_CONTROL_SETTINGS, { 6, 6 } },
    };
    static const uint8_t zeros[300000] = { 0 };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        for (unsigned k = 0; k < 2; k++) {
            const uint32_t length = records[i].lengths[k];
            dump_maker    *m = dump_maker_new(8);
            m->whole = m->no_end = true;
            (void)make_heap(m, 0);
            dump_maker_between_record(m, records[i].tag, zeros, length);
            size_t         len;
            const uint8_t *bytes = dump_maker_bytes(m, &len);
            surveyed      *s = both_readers(bytes, len);
            cr_expect(eq(u64, s->survey.damage_count, 0), "%s", hdx_top_name(records[i].tag));
            surveyed_free(s);
            s = both_readers(bytes, len - 1);
            cr_expect(eq(u64, s->survey.damage_count, 1), "%s", hdx_top_name(records[i].tag));
            expect_damage(s, 0, HDX_DAMAGE_TRUNCATED, len - 9 - length, HEAP_OBJECTS, 9 + length - 1,
                          hdx_top_name(records[i].tag));
            surveyed_free(s);
            dump_maker_free(m);
        }
}

Test(objects, r18_id_0_is_damage_and_not_kept)
{
    static const char    *records[] = { "INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP", "CLASS_DUMP" };
    static const uint64_t sizes[] = { 25, 25, 18, 71 };
    for (unsigned kind = 0; kind < 4; kind++) {
        dump_maker    *m = dump_maker_new(8);
        const uint64_t object = make_heap(m, 0), at = dump_maker_mark(m);
        if (kind == 0)
            (void)dump_maker_instance_at(m, 0, object, NULL);
        else if (kind == 1)
            (void)dump_maker_array_at(m, 0, object, NULL, 0);
        else if (kind == 2)
            (void)dump_maker_primitives_at(m, 0, 'I', NULL, 0);
        else
            (void)dump_maker_class_at(m, 0, "app/Zero", object, "");
        (void)dump_maker_primitives(m, 'I', NULL, 1);
        dump_maker_root(m, HDX_SUB_ROOT_UNKNOWN, 0, 0, 0); /* a root with id 0 is legal */
        surveyed *s = both_readers_of(m);
        expect_damage(s, 0, HDX_DAMAGE_LAYOUT, dump_maker_heap_at(m) + at, HEAP_OBJECTS, sizes[kind], records[kind]);
        cr_expect(eq(u64, s->survey.damage_count, 1));
        cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS + 1));
        cr_expect(eq(u64, s->survey.stretch_count, 2));
        cr_expect(eq(u64, s->walked, s->count));
        surveyed_free(s);
        dump_maker_free(m);
    }
}

Test(dumps, r20_the_first_of_several_is_used_unless_told_otherwise)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    dump_maker_end(m);
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    surveyed *s = both_readers_of(m);
    cr_expect(eq(u64, s->survey.objects, HEAP_OBJECTS));
    cr_expect(eq(u32, s->survey.dumps_in_file, 2));
    cr_assert(eq(u32, s->survey.warning_count, 1));
    cr_expect(eq(str, (char *)s->survey.warnings[0],
                 (char *)"the file contains 2 heap dumps; using number 1 (--dump-number)"));
    cr_expect(not(s->survey.sequential));
    surveyed_free(s);
    for (unsigned sequential = 0; sequential < 2; sequential++) {
        s = survey_maker(m, (how){ .dump_number = 2, .sequential = sequential });
        cr_expect(eq(u64, s->survey.objects, 2));
        cr_expect(eq(u64, s->walked, 2));
        surveyed_free(s);
        s = survey_maker(m, (how){ .dump_number = 3, .sequential = sequential });
        cr_expect(eq(int, s->code, HDX_NOT_FOUND));
        surveyed_free(s);
    }
    dump_maker_free(m);
}

Test(dumps, heap_dump_and_end_record_are_one_dump)
{
    dump_maker *m = dump_maker_new(4);
    m->whole = true;
    m->version = "1.0.1";
    (void)make_heap(m, 0);
    surveyed *s = both_readers_of(m);
    cr_expect(eq(u32, s->survey.dumps_in_file, 1));
    cr_expect(eq(u32, s->survey.warning_count, 0));
    surveyed_free(s);
    m->no_end = true;
    s = both_readers_of(m);
    cr_expect(eq(u32, s->survey.dumps_in_file, 1));
    cr_expect(eq(u64, s->survey.damage_count, 0));
    surveyed_free(s);
    dump_maker_free(m);
}

Test(damage, a_file_of_noise_keeps_a_capped_list)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    for (unsigned k = 0; k < 3 * HDX_DAMAGE_MAX; k++)
        (void)dump_maker_instance_at(m, 0, 1, NULL);
    surveyed *s = both_readers_of(m);
    cr_expect(eq(u64, s->survey.damage_count, HDX_DAMAGE_MAX));
    cr_expect(eq(u64, s->survey.damage_more, 2 * HDX_DAMAGE_MAX));
    surveyed_free(s);
    dump_maker_free(m);
}
