/*
 * test_borders.c - records as long as something that a reader keeps at hand, and one byte more or less; files that end
 * just there.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "hprof/inside.h"
#include "surveyed.h"

#define NEAR (4u << 20) /* of careful.c */

/* An array of bytes whose sub-record is `size` bytes long, with ids of 8 bytes. */
static void array_of(dump_maker *m, uint64_t size) { (void)dump_maker_primitives(m, 'B', NULL, (uint32_t)size - 18); }

/* The same where the segment ends with it, goes on, says too little, and where the file ends with it or a byte before.
 */
Test(borders, arrays_as_long_as_what_is_looked_at_in_a_stream)
{
    for (unsigned how = 0; how < 5; how++)
        for (uint64_t size = NEAR - 1; size <= NEAR + 2; size++) {
            dump_maker *m = dump_maker_new(8);
            m->no_end = how >= 3;
            (void)make_heap(m, 1);
            dump_maker_segment(m);
            array_of(m, size);
            if (how == 1)
                (void)dump_maker_primitives(m, 'I', NULL, 3);
            if (how == 2)
                dump_maker_segment_says(m, 100);
            size_t         len;
            const uint8_t *bytes = dump_maker_bytes(m, &len);
            surveyed      *s = both_readers(bytes, how == 4 ? len - 1 : len);
            cr_expect(eq(u64, s->survey.objects,
                         how == 4   ? 8
                         : how == 1 ? 10
                                    : 9),
                      "%u: %llu bytes", how, (unsigned long long)size);
            cr_expect(eq(u64, s->survey.damage_count, how >= 2), "%u: %llu bytes", how, (unsigned long long)size);
            surveyed_free(s);
            dump_maker_free(m);
        }
}

Test(borders, a_stretch_ends_where_it_has_8_mib)
{
    for (unsigned sequential = 0; sequential < 2; sequential++)
        for (uint64_t size = HDX_STRETCH - 1; size <= HDX_STRETCH + 1; size++) {
            dump_maker *m = dump_maker_new(8);
            (void)make_heap(m, 1);
            dump_maker_segment(m);
            array_of(m, size);
            (void)dump_maker_primitives(m, 'I', NULL, 3);
            surveyed *s = survey_maker(m, (how){ .sequential = sequential });
            cr_assert(eq(int, s->code, HDX_OK));
            cr_expect(eq(u64, s->survey.stretch_count, size < HDX_STRETCH ? 2 : 3), "%llu bytes, %u",
                      (unsigned long long)size, sequential);
            const hdx_stretch *second = &s->survey.stretches[1];
            if (size >= HDX_STRETCH)
                cr_expect(eq(u64, second->end - second->from, size));
            cr_expect(eq(u64, s->walked, s->count));
            surveyed_free(s);
            dump_maker_free(m);
        }
}

/* What is said of a broken record depends on whether the file reaches its end. */
Test(borders, a_broken_record_that_the_file_ends_with)
{
    dump_maker *m = dump_maker_new(8);
    m->no_end = true;
    (void)make_heap(m, 1);
    dump_maker_segment(m);
    dump_maker_raw(m, "\x77 is no sub-record of any kind", 31);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    for (unsigned less = 0; less < 4; less++) {
        surveyed *s = both_readers(bytes, len - less);
        cr_assert(eq(u64, s->survey.damage_count, 2)); /* and the end record is missing */
        const hdx_damage *d = s->survey.damage;
        cr_expect(eq(int, (int)d->kind, HDX_DAMAGE_UNKNOWN_TAG));
        cr_expect(eq(u64, d->offset, len - 31));
        cr_expect(eq(u64, d->lost_bytes, 31 - less));
        cr_expect(eq(int, strstr(d->expected, "skipped to the end") != NULL, less == 0), "%s", d->expected);
        surveyed_free(s);
    }
    dump_maker_free(m);
}

/* It is taken whole, although nothing at all comes after it. */
Test(borders, a_class_over_the_end_of_its_record_that_the_file_ends_with)
{
    for (uint32_t id_size = 4; id_size <= 8; id_size += 4) {
        dump_maker *m = dump_maker_new(id_size);
        m->no_end = true;
        const uint64_t object = make_heap(m, 1);
        dump_maker_segment(m);
        (void)dump_maker_class(m, "app/Last", object, "a:I");
        dump_maker_segment_says(m, 30);
        surveyed *s = both_readers_of(m);
        cr_assert(eq(int, s->code, HDX_OK));
        cr_expect(eq(u64, s->survey.objects, 9));
        cr_expect(eq(u64, s->survey.sub_records[HDX_SUB_CLASS], 5));
        cr_expect(eq(int, (int)s->survey.damage[0].kind, HDX_DAMAGE_LENGTH));
        surveyed_free(s);
        dump_maker_free(m);
    }
}

/*
 * Packed files that could hold more than 4 GiB are asked for their size where a HEAP_DUMP ends oddly: read to the end
 * by a stream of its own, which says nothing else than what the plain file does.
 */
Test(borders, packed_dumps_whose_length_may_be_modulo_4_gib)
{
    static const size_t tails[] = { 9, 8, 10, 1000, 300000, 262144, 262144 + 65536, 3 * 262144 };
    for (size_t k = 0; k < sizeof tails / sizeof *tails; k++)
        for (unsigned crossed = 0; crossed < 2; crossed++) {
            dump_maker *m = dump_maker_new(8);
            m->whole = true;
            m->version = "1.0.1";
            (void)make_heap(m, 1);
            (void)dump_maker_primitives(m, 'I', NULL, 1200000);
            size_t         len;
            const uint8_t *at = dump_maker_bytes(m, &len);
            gm_bytes       bytes = { 0 };
            gm_put(&bytes, at, len);
            for (size_t i = 0; i < tails[k]; i++)
                gm_byte(&bytes, "garbage, and no record "[i % 23]);
            if (crossed == 1) /* the record ends before its array does */
                bytes.at[dump_maker_heap_at(m) + 8] ^= 0x04;
            surveyed *s = both_readers(bytes.at, bytes.len);
            cr_assert(eq(int, s->code, HDX_OK));
            cr_expect(eq(u32, s->survey.warning_count, 0));
            cr_expect(ge(u64, s->survey.damage_count, 1));
            cr_expect(eq(u64, s->survey.objects, 9));
            surveyed_free(s);
            gm_free(&bytes);
            dump_maker_free(m);
        }
}

Test(borders, a_trace_whose_count_is_wrong_is_the_only_damage)
{
    dump_maker *m = dump_maker_new(8);
    dump_maker_top(m, HDX_TOP_TRACE,
                   "\0\0\0\1\0\0\0\1\0\0\0\2"
                   "12345678",
                   20);
    (void)make_heap(m, 0);
    surveyed *s = both_readers_of(m);
    cr_assert(eq(int, s->code, HDX_OK));
    cr_expect(eq(u64, s->survey.damage_count, 1));
    cr_expect(strcmp(s->survey.damage[0].record, "STACK_TRACE") == 0);
    cr_expect(s->survey.sequential);
    surveyed_free(s);
    dump_maker_free(m);
}

Test(borders, no_threads_are_one)
{
    dump_maker *m = dump_maker_new(8);
    surveyed   *s = survey_maker(m, (how){ 0 });
    size_t      len;
    hdx_source *source;
    (void)make_heap(m, 3);
    const uint8_t           *at = dump_maker_bytes(m, &len);
    gm_bytes                 bytes = { (uint8_t *)(uintptr_t)at, len, len };
    gm_file                  door = gm_file_of(&bytes);
    const hdx_survey_options options = { .threads = 0 };
    const hdx_survey_sink    sink = { s, surveyed_heap, surveyed_top, surveyed_restart };
    cr_assert(eq(int, hdx_source_open_io(&door.io, "a.hprof", NULL, &source, NULL), HDX_OK));
    cr_assert(eq(int, hdx_hprof_survey(source, &options, &sink, &s->survey, NULL), HDX_OK));
    cr_expect(eq(u64, s->survey.objects, 10));
    cr_expect(eq(u64, s->survey.sub_records[HDX_SUB_INSTANCE], 3));
    hdx_survey_free(&s->survey);
    cr_expect(s->survey.head.version[0] == 0 && s->survey.stretches == NULL && s->survey.objects == 0);
    hdx_source_close(source);
    surveyed_free(s);
    dump_maker_free(m);
}

/* The survey saw all of it; the walk does not any more. */
Test(borders, a_walk_over_a_dump_that_became_shorter)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 3);
    size_t                   len;
    const uint8_t           *at = dump_maker_bytes(m, &len);
    gm_bytes                 bytes = { (uint8_t *)(uintptr_t)at, len, len };
    gm_file                  door = gm_file_of(&bytes);
    surveyed                *s = calloc(1, sizeof *s);
    hdx_source              *source;
    const hdx_survey_options options = { .threads = 1 };
    const hdx_survey_sink    sink = { s, surveyed_heap, surveyed_top, surveyed_restart };
    const hdx_walk_visitor   visitor = { s, walked_nothing, walked_events, walked_nothing };
    cr_assert(eq(int, hdx_source_open_io(&door.io, "a.hprof", NULL, &source, NULL), HDX_OK));
    cr_assert(eq(int, hdx_hprof_survey(source, &options, &sink, &s->survey, NULL), HDX_OK));
    for (unsigned less = 0; less < 60; less++) {
        door.len = len - less;
        const hdx_code code = hdx_hprof_walk(source, &s->survey, 1, &visitor, NULL, NULL, NULL, &s->err);
        cr_expect(eq(int, code, less <= 9 ? HDX_OK : HDX_BAD_DUMP), "%u bytes less", less); /* 9: the end record */
    }
    hdx_source_close(source);
    surveyed_free(s);
    dump_maker_free(m);
}

/* Runs of stretches end with the one that makes them long enough; what was left of others comes first. */
Test(borders, runs_are_taken_as_long_as_is_asked)
{
    static const hdx_stretch stretches[] = { { 40, 100, 0 }, { 109, 149, 0 }, { 160, 200, 0 }, { 200, 201, 0 } };
    static const struct {
        uint64_t bytes, head, ends[5];
    } cases[] = { { 100, 0, { 2, 4 } },   { 101, 0, { 3, 4 } }, { 99, 0, { 2, 4 } },
                  { 60, 0, { 1, 3, 4 } }, { 61, 0, { 2, 4 } },  { 1, 0, { 1, 2, 3, 4 } },
                  { 69, 9, { 1, 3, 4 } }, { 70, 9, { 2, 4 } },  { 1000, 0, { 4 } } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        hdx_halt at = { .next = 0 };
        hdx_left run;
        uint64_t from = 0;
        for (unsigned n = 0; cases[k].ends[n] > 0; n++) {
            cr_assert(hdx_halt_take(&at, stretches, 4, cases[k].bytes, cases[k].head, &run), "case %zu", k);
            cr_expect(run.from == from && run.end == cases[k].ends[n] && run.pos == 0, "case %zu: %llu to %llu", k,
                      (unsigned long long)run.from, (unsigned long long)run.end);
            from = run.end;
        }
        cr_expect(not(hdx_halt_take(&at, stretches, 4, cases[k].bytes, cases[k].head, &run)));
        run = (hdx_left){ .from = 2, .end = 2 };
        hdx_halt_leave(&at, &run);
        cr_expect(eq(u32, at.count, 0), "nothing is left of it");
        run = (hdx_left){ .from = 1, .end = 2, .pos = 120, .heap = 7 };
        hdx_halt_leave(&at, &run);
        cr_expect(eq(u32, at.count, 1));
        memset(&run, 0, sizeof run);
        cr_expect(hdx_halt_take(&at, stretches, 4, 1, 0, &run) && run.from == 1 && run.end == 2 && run.pos == 120 &&
                  run.heap == 7);
        cr_expect(eq(u32, at.count, 0));
    }
}
