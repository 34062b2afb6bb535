/*
 * test_large.c - dumps whose records are longer than what readers keep at hand: each byte of each head in them changed
 * in turn. Both readers agree, packed or not; large.txt has the checksums of all that is told (support/checksums.h).
 * And what is allowed of long records: how far a reader looks, what it keeps of a string.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "large.h"
#include "support/checksums.h"

typedef unsigned long long ull;

static void put(hdx_buffer *b, const surveyed *s)
{
    const hdx_survey *v = &s->survey;
    hdx_buffer_format(b, "%s", hdx_code_name(s->code));
    if (s->code != HDX_OK) {
        hdx_buffer_format(b, " %llu %s\n", (ull)s->err.offset, s->err.message);
        return;
    }
    hdx_buffer_format(b, " %u %llu %llu %llu %llu %llu\n", v->dumps_in_file, (ull)v->objects, (ull)s->tops,
                      (ull)s->top_sum, (ull)s->body_bytes, (ull)s->body_sum);
    for (uint64_t i = 0; i < v->damage_count; i++)
        hdx_buffer_format(b, "%s %llu %llu %llu %s %s\n", hdx_damage_name(v->damage[i].kind), (ull)v->damage[i].offset,
                          (ull)v->damage[i].kept_objects, (ull)v->damage[i].lost_bytes, v->damage[i].record,
                          v->damage[i].expected);
    for (uint64_t i = 0; i < v->stretch_count; i++)
        hdx_buffer_format(b, "%llu-%llu %u\n", (ull)v->stretches[i].from, (ull)v->stretches[i].end,
                          v->stretches[i].heap);
    for (size_t i = 0; i < s->count; i++)
        hdx_buffer_format(b, " %llu:%02x:%u", (ull)s->events[i].pos, s->events[i].tag, s->events[i].heap);
    hdx_buffer_format(b, "\n");
}

/* The same of plain bytes in order, and packed. */
static surveyed *both(const gm_bytes *bytes, const char *what, size_t at)
{
    gm_bytes packed = { 0 };
    gm_member_put(&packed, bytes->at, bytes->len, &(gm_member){ .stored = true });
    surveyed *a = survey_bytes(bytes->at, bytes->len, (how){ .sequential = true }),
             *b = survey_bytes(packed.at, packed.len, (how){ .threads = 1 });
    const char *differ = surveys_differ(a, b);
    cr_expect(differ == NULL, "%s %zu: they differ in %s", what, at, differ);
    surveyed_free(b);
    gm_free(&packed);
    return a;
}

static uint64_t heads(hdx_buffer *b, unsigned id_size, bool whole, bool cut)
{
    static const uint8_t masks[] = { 0x01, 0xff, 0x40, 0x80 };
    large                l = large_make(id_size, whole);
    const size_t         len = l.bytes.len;
    uint64_t             n = 0;
    for (unsigned h = 0; h < l.head_count; h++)
        for (unsigned k = 0; k < 9 + 9 + 2 * id_size && l.heads[h] + k <= len; k += cut ? 4 : 1, n++) {
            uint8_t *at = l.bytes.at + l.heads[h] + k;
            if (h > 0 && l.heads[h] + k < l.heads[h - 1] + 9 + 9 + 2 * id_size) /* looked at already */
                continue;
            const uint8_t mask = cut ? 0 : masks[n % sizeof masks];
            l.bytes.len = cut ? l.heads[h] + k : len;
            if (mask != 0)
                *at ^= mask;
            surveyed *s = both(&l.bytes, "head", l.heads[h] + k);
            if (mask != 0)
                *at ^= mask;
            hdx_buffer_format(b, "%zu ", l.heads[h] + k);
            put(b, s);
            surveyed_free(s);
        }
    large_free(&l);
    return n;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char     what[16];
    unsigned id_size;
    (void)context;
    cr_assert(sscanf(ask, "%15s %u", what, &id_size) == 2, "%s", ask);
    return heads(b, id_size, strstr(ask, "whole") != NULL, strcmp(what, "cut") == 0);
}

Test(large, is_what_it_was) { checksums_check(HDX_TREE "/tests/hprof/large.txt", text_of, NULL); }

/* ---- more than 4 MiB: not everything is kept at hand, in order to look behind it ---- */

#define LONG (5u << 20)
#define TINY 18u /* an array of bytes without elements, ids of 8 bytes */

static void expect_damage(const surveyed *s, hdx_damage_kind kind, uint64_t offset, uint64_t lost, const char *record)
{
    cr_assert(eq(u64, s->survey.damage_count, 1));
    const hdx_damage *d = &s->survey.damage[0];
    cr_expect(eq(int, (int)d->kind, (int)kind), "%s", d->expected);
    cr_expect(eq(u64, d->offset, offset), "%s", d->expected);
    cr_expect(eq(u64, d->lost_bytes, lost), "%s", d->expected);
    cr_expect(eq(str, (char *)d->record, (char *)record));
}

Test(large, arrays_of_some_mib_in_a_stream)
{
    enum { SOUND, ID_0, OVER_THE_END, OVER_THE_END_BY_1, CUT, CUT_BY_1, TWO_OVER, WRONG_COUNT, CASES };
    for (unsigned i = 0; i < CASES; i++) {
        dump_maker    *m = dump_maker_new(8);
        gm_bytes       bytes = { 0 };
        size_t         len;
        const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, ""), at = dump_maker_mark(m);
        (void)dump_maker_primitives_at(m, i == ID_0 ? 0 : 0x9000, 'B', NULL, LONG);
        if (i == OVER_THE_END || i == OVER_THE_END_BY_1)
            dump_maker_segment_says(m, (uint32_t)(dump_maker_mark(m) - 9 - (i == OVER_THE_END ? 4000000 : 1)));
        else if (i == TWO_OVER)
            dump_maker_segment_says(m, (uint32_t)(at - 9 + 5));
        else if (i < CUT)
            dump_maker_segment(m);
        if (i == TWO_OVER)
            dump_maker_between(m, "no record", 9);
        (void)dump_maker_primitives(m, 'B', NULL, 0);
        dump_maker_segment(m);
        (void)dump_maker_instance(m, object, NULL);
        const uint8_t *whole = dump_maker_bytes(m, &len);
        const uint64_t heap_at = dump_maker_heap_at(m);
        gm_put(&bytes, whole,
               i == CUT        ? (size_t)(heap_at + at + 4500000)
               : i == CUT_BY_1 ? (size_t)(heap_at + at + 17 + LONG)
                               : len);
        if (i == WRONG_COUNT) /* of 16 MiB more */
            bytes.at[heap_at + at + 13] ^= 1;
        surveyed      *s = both(&bytes, "case", i);
        const uint64_t objects[CASES] = { 4, 3, 4, 4, 1, 1, 2, 2 };
        cr_assert(eq(int, s->code, HDX_OK));
        cr_expect(eq(u64, s->survey.objects, objects[i]), "case %u", i);
        cr_expect(i == CUT || i == CUT_BY_1 || i == TWO_OVER || s->events[s->count - 1].class_addr == object);
        switch (i) {
        case SOUND: cr_expect(eq(u64, s->survey.damage_count, 0)); break;
        case ID_0: expect_damage(s, HDX_DAMAGE_LAYOUT, heap_at + at, TINY + LONG, "PRIMITIVE_ARRAY_DUMP"); break;
        case OVER_THE_END:
        case OVER_THE_END_BY_1: expect_damage(s, HDX_DAMAGE_LENGTH, heap_at + at, 0, "HEAP_DUMP_SEGMENT"); break;
        case CUT: expect_damage(s, HDX_DAMAGE_TRUNCATED, heap_at + at, 4500000, "PRIMITIVE_ARRAY_DUMP"); break;
        case CUT_BY_1:
            expect_damage(s, HDX_DAMAGE_TRUNCATED, heap_at + at, TINY + LONG - 1, "PRIMITIVE_ARRAY_DUMP");
            break;
        case WRONG_COUNT:
            expect_damage(s, HDX_DAMAGE_COUNT, heap_at + at, 2 * TINY + LONG, "PRIMITIVE_ARRAY_DUMP");
            break;
        default: break;
        }
        surveyed_free(s);
        gm_free(&bytes);
        dump_maker_free(m);
    }
}

/* A segment that claims more than the file has, and in it a tag that is none: all that follows is lost. */
Test(large, segments_longer_than_the_file_with_an_unknown_tag_in_them)
{
    static const uint32_t more[] = { 1, 100000, 3u << 20, 6u << 20, 1u << 30 };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        for (unsigned behind = 0; behind < 2; behind++) {
            dump_maker *m = dump_maker_new(8);
            size_t      len;
            (void)dump_maker_primitives(m, 'B', NULL, 10);
            const uint64_t at = dump_maker_mark(m);
            dump_maker_raw(m, "\x55", 1);
            (void)dump_maker_primitives(m, 'B', NULL, behind ? 700000 : 3);
            const uint64_t whole = dump_maker_mark(m) - 9;
            dump_maker_segment_says(m, (uint32_t)whole + 9 + more[i]); /* 9: the record that ends the file */
            const uint8_t *bytes = dump_maker_bytes(m, &len);
            gm_bytes       b = { (uint8_t *)(uintptr_t)bytes, len, len };
            surveyed      *s = both(&b, "more", i);
            cr_assert(eq(int, s->code, HDX_OK));
            cr_expect(eq(u64, s->survey.objects, 1));
            cr_assert(eq(u64, s->survey.damage_count, 2)); /* and the end record is missing */
            const hdx_damage *d = s->survey.damage;
            cr_expect(d[0].kind == HDX_DAMAGE_UNKNOWN_TAG && d[1].kind == HDX_DAMAGE_TRUNCATED && d[1].offset == len);
            cr_expect(eq(u64, d[0].offset, dump_maker_heap_at(m) + at));
            cr_expect(eq(u64, d[0].lost_bytes, len - dump_maker_heap_at(m) - at), "%s", d[0].expected);
            surveyed_free(s);
            dump_maker_free(m);
        }
}

/*
 * Segments with one array that claims 5 MiB, of which 5 bytes are in the segment: at each the reader looks 5 MiB ahead
 * whether a record begins there. Behind the one numbered `right` three do; the 256 looks are just enough for them, or
 * one too few.
 */
Test(large, a_file_causes_256_far_looks_and_no_more)
{
    for (unsigned right = 250; right < 256; right++) {
        dump_maker *m = dump_maker_new(8);
        gm_bytes    bytes = { 0 };
        size_t      len;
        uint64_t    place = 0;
        for (unsigned i = 0; i < 300; i++) {
            const uint64_t at = dump_maker_mark(m);
            hdx_write_primitive_array_head(&m->heap, 8, HDX_SUB_PRIMITIVE_ARRAY, 0x1000 + i, 1, LONG, 8);
            dump_maker_raw(m, "\7\7\7\7\7", 5);
            dump_maker_segment(m);
            if (i == right)
                place = at + TINY + LONG;
        }
        (void)dump_maker_primitives(m, 'B', NULL, LONG + (1u << 20));
        const uint8_t *whole = dump_maker_bytes(m, &len);
        gm_put(&bytes, whole, len);
        place += dump_maker_heap_at(m);
        static const uint8_t end[9] = { HDX_TOP_HEAP_DUMP_END };
        for (unsigned k = 0; k < 3; k++)
            memcpy(bytes.at + place + 9 * k, end, 9);
        surveyed *s = survey_bytes(bytes.at, bytes.len, (how){ .sequential = true });
        cr_assert(eq(int, s->code, HDX_OK));
        /* taken whole it swallows the segments behind it, up to the records in the array */
        const bool taken = right <= 252;
        cr_expect(eq(u64, s->survey.objects, 1), "%u", right);
        cr_expect(eq(u64, s->survey.damage_count, taken ? right + 2 : 300), "%u", right);
        surveyed_free(s);
        gm_free(&bytes);
        dump_maker_free(m);
    }
}

/* ---- more than 16 MiB: strings and traces are cut there ---- */

#define MOST (16u << 20)

static hdx_code keep_longest(void *context, const hdx_top *t, hdx_error *err)
{
    hdx_top *longest = context;
    (void)err;
    if (t->body.len > longest->body.len)
        *longest = *t;
    return HDX_OK;
}

static hdx_code no_heap(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    (void)context, (void)worker, (void)events, (void)n, (void)err;
    return HDX_OK;
}
static hdx_code no_restart(void *context, hdx_error *err)
{
    (void)context, (void)err;
    return HDX_OK;
}

Test(large, strings_and_traces_are_cut_at_16_mib)
{
    static const struct {
        uint8_t  tag;
        uint32_t length, cut; /* the file ends so many bytes before the end of the record; 0: not there */
        uint64_t kept;
        uint32_t count;
    } cases[] = {
        { HDX_TOP_STRING, MOST - 1, 0, MOST - 9, 0 },
        { HDX_TOP_STRING, MOST, 0, MOST - 8, 0 },
        { HDX_TOP_STRING, MOST + 1, 0, MOST - 8, 0 },
        { HDX_TOP_STRING, MOST + 900000, 0, MOST - 8, 0 },
        { HDX_TOP_STRING, MOST + 900000, 1, 0, 0 },
        { HDX_TOP_STRING, MOST + 900000, 900000, 0, 0 },
        { HDX_TOP_STRING, MOST, 1, 0, 0 },
        { HDX_TOP_TRACE, MOST - 4, 0, MOST - 16, (MOST - 16) / 8 },
        { HDX_TOP_TRACE, MOST + 4, 0, MOST - 16, (MOST - 16) / 8 },
        { HDX_TOP_TRACE, MOST + 804, 0, MOST - 16, (MOST - 16) / 8 },
    };
    uint8_t *body = calloc(1, MOST + 900000);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned in_order = 0; in_order < 2; in_order++) {
            dump_maker *m = dump_maker_new(8);
            size_t      len;
            hdx_put32(body, 0);
            hdx_put32(body + 8, 0);
            if (cases[i].tag == HDX_TOP_TRACE)
                for (unsigned k = 0; k < 4; k++)
                    body[8 + k] = (uint8_t)((cases[i].length - 12) / 8 >> (24 - 8 * k));
            (void)dump_maker_primitives(m, 'B', NULL, 3);
            dump_maker_between_record(m, cases[i].tag, body, cases[i].length);
            const uint8_t           *bytes = dump_maker_bytes(m, &len);
            gm_bytes                 b = { (uint8_t *)(uintptr_t)bytes, len, len };
            const hdx_survey_options options = { .threads = 1, .sequential = in_order };
            hdx_top                  longest = { .id = 0 };
            const hdx_survey_sink    sink = { &longest, no_heap, keep_longest, no_restart };
            hdx_survey               survey;
            hdx_source              *source;
            if (cases[i].cut > 0)
                b.len -= 9 + cases[i].cut;
            gm_file door = gm_file_of(&b);
            cr_assert(eq(int, hdx_source_open_io(&door.io, "a", NULL, &source, NULL), HDX_OK));
            cr_assert(eq(int, hdx_hprof_survey(source, &options, &sink, &survey, NULL), HDX_OK));
            cr_expect(eq(u64, longest.body.len, cases[i].kept), "case %u", i);
            cr_expect(eq(u32, longest.count, cases[i].count), "case %u", i);
            cr_expect(eq(u64, survey.damage_count, cases[i].cut > 0), "case %u", i);
            if (survey.damage_count > 0) {
                cr_expect(eq(int, (int)survey.damage[0].kind, HDX_DAMAGE_TRUNCATED));
                cr_expect(eq(u64, survey.damage[0].lost_bytes, 9 + cases[i].length - cases[i].cut), "case %u", i);
            }
            hdx_survey_free(&survey);
            hdx_source_close(source);
            dump_maker_free(m);
        }
    free(body);
}
