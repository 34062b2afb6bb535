/*
 * test_readers.c - the shapes of files: both readers and the walk agree on all of them, compressed or not, and no fault
 * leaks.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support/faulty.h"
#include "support/folder.h"
#include "support/wait.h"
#include "surveyed.h"

#include <unistd.h>

static void expect_same(surveyed *a, surveyed *b, const char *what)
{
    const char *differ = surveys_differ(a, b);
    cr_expect(differ == NULL, "%s: the readers differ in %s", what, differ);
    surveyed_free(a);
    surveyed_free(b);
}

Test(readers, thousands_of_tiny_segments)
{
    dump_maker *m = dump_maker_new(4);
    m->version = "1.0.3";
    const uint64_t object = make_heap(m, 0);
    for (unsigned k = 0; k < 5000; k++) {
        dump_maker_segment(m);
        if (k % 3 == 0)
            dump_maker_heap_info(m, k % 2 ? 0x41 : 0x5A, k % 2 ? "app" : "zygote");
        (void)dump_maker_instance(m, object, NULL);
        if (k % 7 == 0)
            dump_maker_segment_empty(m);
    }
    surveyed *a = survey_maker(m, (how){ .threads = 4 }), *b = survey_maker(m, (how){ .sequential = true });
    cr_expect(eq(u64, a->survey.objects, 5007));
    cr_expect(eq(u64, a->survey.stretch_count, 5001));
    cr_expect(eq(u64, a->walked, a->count));
    cr_expect(a->survey.head.android);
    expect_same(a, b, "tiny segments");
    dump_maker_free(m);
}

Test(readers, heap_number_holds_until_the_next_or_the_end_of_the_segment)
{
    dump_maker *m = dump_maker_new(4);
    m->version = "1.0.3";
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_heap_info(m, 0x5A, "zygote");
    (void)dump_maker_instance(m, object, NULL);
    dump_maker_heap_info(m, 0x41, "app");
    (void)dump_maker_instance(m, object, NULL);
    dump_maker_segment(m);
    (void)dump_maker_instance(m, object, NULL);
    surveyed            *s = survey_maker(m, (how){ 0 });
    const uint32_t       heaps[] = { 0, 0x5A, 0x5A, 0x41, 0x41, 0 };
    static const uint8_t is_info[] = { 0, 1, 0, 1, 0, 0 };
    cr_assert(eq(sz, s->count, 6));
    for (unsigned k = 0; k < 6; k++)
        if (is_info[k])
            cr_expect(eq(u32, s->events[k].count, heaps[k]));
        else
            cr_expect(eq(u32, s->events[k].heap, heaps[k]), "event %u", k);
    surveyed_free(s);
    dump_maker_free(m);
}

Test(readers, one_giant_segment_yields_several_stretches)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 0);
    for (unsigned k = 0; k < 30; k++) {
        dump_maker_heap_info(m, k, "heap");
        (void)dump_maker_primitives(m, 'J', NULL, 1 << 17);
        (void)dump_maker_primitives(m, 'B', NULL, 3);
    }
    surveyed *a = survey_maker(m, (how){ .threads = 3 }), *b = survey_maker(m, (how){ .sequential = true });
    cr_expect(ge(u64, a->survey.stretch_count, 3));
    for (unsigned n = 0; n < 2; n++) {
        const hdx_survey *s = n ? &b->survey : &a->survey;
        hdx_pos           at = s->stretches[0].from;
        for (uint64_t k = 0; k < s->stretch_count; k++) {
            cr_expect(eq(u64, s->stretches[k].from, at));
            cr_expect(le(u64, s->stretches[k].end - at, (9u << 20) + 64));
            at = s->stretches[k].end;
        }
        cr_expect(eq(u64, at, a->events[a->count - 1].pos + 18 + 3));
    }
    cr_expect(eq(u64, a->walked, a->count));
    expect_same(a, b, "giant segment");
    dump_maker_free(m);
}

static hdx_code parts(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    uint64_t *seen = context; /* elements in order, parts, sum */
    (void)worker;
    (void)err;
    for (size_t k = 0; k < n; k++) {
        if (events[k].tag != HDX_SUB_OBJECT_ARRAY || events[k].count < 100)
            continue;
        cr_expect(eq(u64, events[k].body_from, seen[0]));
        cr_expect(le(u32, events[k].body_len / 8, 64u << 10));
        for (uint32_t e = 0; e < events[k].body_len / 8; e++)
            seen[2] += hdx_be64(events[k].body + 8 * e) == seen[0] + e;
        seen[0] += events[k].body_len / 8;
        seen[1]++;
    }
    return HDX_OK;
}

Test(walk, a_long_object_array_comes_in_parts_in_a_row)
{
    enum { COUNT = 200001 };
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = make_heap(m, 1);
    uint64_t      *refs = malloc(COUNT * sizeof *refs);
    for (uint64_t k = 0; k < COUNT; k++)
        refs[k] = k;
    (void)dump_maker_array(m, object, refs, COUNT);
    (void)dump_maker_array(m, object, NULL, 0);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    gm_bytes       plain = { (uint8_t *)(uintptr_t)bytes, len, len }, packed = { 0 };
    gm_jdk_put(&packed, &plain, 100000);
    for (unsigned gz = 0; gz < 2; gz++) {
        gm_file     door = gm_file_of(gz ? &packed : &plain);
        hdx_source *source;
        surveyed   *s = calloc(1, sizeof *s);
        (void)pthread_mutex_init(&s->lock, NULL);
        cr_assert(eq(int, hdx_source_open_io(&door.io, "a", NULL, &source, NULL), HDX_OK));
        survey_source(s, source, (how){ 0 });
        cr_expect(eq(u64, s->body_bytes, COUNT * 8 + 3 * 8 + 4 * 71 + 9 + 3 * 9 + 17 + 13 + 21), "bodies: %llu",
                  (unsigned long long)s->body_bytes);
        uint64_t               seen[3] = { 0 };
        const hdx_walk_visitor visitor = { seen, walked_nothing, parts, walked_nothing };
        cr_assert(eq(int, hdx_hprof_walk(source, &s->survey, 2, &visitor, NULL, NULL, NULL, &s->err), HDX_OK));
        cr_expect(eq(u64, seen[0], COUNT));
        cr_expect(eq(u64, seen[1], 4));
        cr_expect(eq(u64, seen[2], COUNT));
        surveyed_free(s);
        hdx_source_close(source);
    }
    gm_free(&packed);
    free(refs);
    dump_maker_free(m);
}

Test(readers, compressed_dumps_give_what_plain_ones_give)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 20000);
    (void)dump_maker_primitives(m, 'J', NULL, 1 << 20); /* longer than the reader keeps at hand */
    (void)dump_maker_primitives(m, 'J', NULL, 3);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    /* whole; cut in the long array; the length of the segment 12 too small; garbage after; a wrong sub-tag early on */
    for (unsigned damage = 0; damage < 5; damage++) {
        gm_bytes plain = { 0 }, packed = { 0 };
        gm_put(&plain, bytes, damage == 1 ? len - (4 << 20) : len);
        const size_t head = (size_t)dump_maker_heap_at(m);
        if (damage == 2) {
            const uint32_t n = hdx_be32(plain.at + head + 5) - 12;
            const uint8_t  be[4] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n };
            memcpy(plain.at + head + 5, be, 4);
        }
        if (damage == 3)
            gm_put(&plain, "garbage behind the end record", 29);
        if (damage == 4)
            plain.at[head + 9 + 71] = 0x77;
        gm_jdk_put(&packed, &plain, 1 << 16);
        surveyed *a = survey_bytes(plain.at, plain.len, (how){ .threads = 2 }),
                 *b = survey_bytes(packed.at, packed.len, (how){ .threads = 2 });
        cr_expect(eq(int, a->code, HDX_OK));
        if (damage > 0)
            cr_expect(eq(u64, a->survey.damage_count, 1), "damage %u", damage);
        cr_expect(b->survey.sequential);
        expect_same(a, b, "gzip");
        gm_free(&plain);
        gm_free(&packed);
    }
    dump_maker_free(m);
}

Test(readers, tables_anywhere_in_the_file)
{
    dump_maker *m = dump_maker_new(8);
    m->tables_last = true;
    (void)make_heap(m, 3);
    dump_maker_between_record(m, HDX_TOP_STRING, "12345678between", 15);
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    dump_maker_between_record(m, HDX_TOP_CONTROL_SETTINGS, "123456", 6);
    surveyed *a = survey_maker(m, (how){ .threads = 2 }), *b = survey_maker(m, (how){ .sequential = true });
    cr_expect(eq(u64, a->survey.damage_count, 0));
    cr_expect(gt(u64, a->tops, 10));
    cr_expect(not(a->survey.sequential));
    expect_same(a, b, "tables last");
    dump_maker_free(m);
}

Test(readers, random_damage_never_breaks_the_agreement)
{
    uint64_t seed = 20260101;
    for (unsigned round = 0; round < 600; round++) {
        dump_maker *m = dump_maker_new(round & 1 ? 4 : 8);
        (void)make_heap(m, 12);
        dump_maker_segment(m);
        (void)make_heap(m, 3);
        size_t         len;
        const uint8_t *bytes = dump_maker_bytes(m, &len);
        gm_bytes       b = { 0 }, packed = { 0 };
        gm_put(&b, bytes, len);
        const uint64_t from = seed;
        for (unsigned k = 0; k < 1 + round % 5; k++) {
            const uint64_t r = gm_random(&seed);
            b.at[31 + r % (len - 31)] = (uint8_t)(r >> 40);
        }
        gm_member_put(&packed, b.at, b.len, &(gm_member){ 0 });
        surveyed *fast = survey_bytes(b.at, b.len, (how){ .threads = 3 }),
                 *slow = survey_bytes(b.at, b.len, (how){ .sequential = true }),
                 *gz = survey_bytes(packed.at, packed.len, (how){ 0 });
        const char *d1 = surveys_differ(fast, slow), *d2 = surveys_differ(slow, gz);
        cr_expect(d1 == NULL && d2 == NULL, "seed %llu: %s %s", (unsigned long long)from, d1 == NULL ? "" : d1,
                  d2 == NULL ? "" : d2);
        if (slow->code == HDX_OK)
            cr_expect(eq(u64, slow->walked, slow->count), "seed %llu", (unsigned long long)from);
        surveyed_free(fast);
        surveyed_free(slow);
        surveyed_free(gz);
        gm_free(&b);
        gm_free(&packed);
        dump_maker_free(m);
    }
}

Test(faults, refused_memory_is_limit_and_leaves_nothing)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 200);
    for (unsigned k = 0; k < 40; k++) {
        dump_maker_segment(m);
        (void)dump_maker_instance_at(m, k % 8 == 7 ? 0 : 0x1000 + k, 1, NULL);
    }
    for (unsigned sequential = 0; sequential < 2; sequential++)
        for (unsigned n = 1;; n++) {
            hdx_mem    mem = { 0 };
            faulty_mem f;
            faulty_mem_init(&f, &mem, n);
            surveyed  *s = survey_maker(m, (how){ .sequential = sequential, .mem = &mem });
            const bool fired = faulty_mem_fired(&f);
            cr_expect(eq(int, s->code, fired ? HDX_LIMIT : HDX_OK), "request %u: %s", n, s->err.message);
            surveyed_free(s);
            cr_expect(eq(u64, mem.used, 0), "request %u", n);
            if (!fired)
                break;
        }
    dump_maker_free(m);
}

Test(faults, a_read_error_is_io_with_words)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 20000);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    gm_bytes       b = { (uint8_t *)(uintptr_t)bytes, len, len };
    for (unsigned threads = 1; threads <= 2; threads++) {
        gm_file     door = gm_file_of(&b);
        hdx_source *source;
        surveyed   *s = calloc(1, sizeof *s);
        (void)pthread_mutex_init(&s->lock, NULL);
        cr_assert(eq(int, hdx_source_open_io(&door.io, "a", NULL, &source, NULL), HDX_OK));
        door.fail_from = len / 2;
        survey_source(s, source, (how){ .threads = threads });
        cr_expect(eq(int, s->code, HDX_IO));
        cr_expect(s->err.message[0] != 0);
        surveyed_free(s);
        hdx_source_close(source);
    }
    dump_maker_free(m);
}

static hdx_code stops(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    (void)context;
    (void)worker;
    (void)events;
    (void)n;
    return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "enough");
}

Test(faults, an_error_of_a_callback_ends_the_reading_and_comes_back)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 2000);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    gm_bytes       b = { (uint8_t *)(uintptr_t)bytes, len, len };
    gm_file        door = gm_file_of(&b);
    hdx_source    *source;
    surveyed      *s = calloc(1, sizeof *s);
    hdx_error      err = { 0 };
    (void)pthread_mutex_init(&s->lock, NULL);
    cr_assert(eq(int, hdx_source_open_io(&door.io, "a", NULL, &source, NULL), HDX_OK));
    survey_source(s, source, (how){ 0 });
    for (unsigned sequential = 0; sequential < 2; sequential++) {
        const hdx_survey_options options = { .threads = 2, .sequential = sequential };
        const hdx_survey_sink    sink = { s, stops, surveyed_top, surveyed_restart };
        hdx_survey               survey;
        cr_expect(eq(int, hdx_hprof_survey(source, &options, &sink, &survey, &err), HDX_CANCELLED));
        cr_expect(eq(str, (char *)err.message, (char *)"enough"));
    }
    const hdx_walk_visitor visitor = { s, walked_nothing, stops, walked_nothing };
    cr_expect(eq(int, hdx_hprof_walk(source, &s->survey, 2, &visitor, NULL, NULL, NULL, &err), HDX_CANCELLED));
    surveyed_free(s);
    hdx_source_close(source);
    dump_maker_free(m);
}

/* The first call waits until the other worker has met what is odd, and ends. */
static atomic_uint calls;
static hdx_code    slow_heap(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    if (atomic_fetch_add(&calls, 1) == 0)
        wait_for_other_threads_to_sleep();
    return surveyed_heap(context, worker, events, n, err);
}

Test(readers, what_one_worker_finds_odd_stops_the_others)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = make_heap(m, 0);
    for (unsigned k = 0; k < 190000; k++) /* more than a worker takes at a time */
        (void)dump_maker_instance(m, object, NULL);
    dump_maker_segment(m);
    dump_maker_raw(m, "\x55", 1);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    gm_bytes       b = { (uint8_t *)(uintptr_t)bytes, len, len };
    gm_file        door = gm_file_of(&b);
    hdx_source    *source;
    surveyed      *s = calloc(1, sizeof *s);
    (void)pthread_mutex_init(&s->lock, NULL);
    cr_assert(eq(int, hdx_source_open_io(&door.io, "a", NULL, &source, NULL), HDX_OK));
    const hdx_survey_options options = { .threads = 2 };
    const hdx_survey_sink    sink = { s, slow_heap, surveyed_top, surveyed_restart };
    cr_expect(eq(int, hdx_hprof_survey(source, &options, &sink, &s->survey, &s->err), HDX_OK));
    cr_expect(eq(u32, s->restarts, 1));
    cr_expect(eq(u64, s->survey.objects, 190007));
    cr_expect(eq(u64, s->survey.damage_count, 1));
    surveyed_free(s);
    hdx_source_close(source);
    dump_maker_free(m);
}

/* R9 needs a file of more than 4 GiB; a sparse one costs nothing. */
Test(readers, r9_a_heap_dump_over_4_gib_carries_its_length_modulo)
{
    char folder[TEST_FOLDER], path[64];
    test_folder_make(folder, "wrapped");
    (void)snprintf(path, sizeof path, "%s/a.hprof", folder);
    for (unsigned end = 0; end < 2; end++) {
        FILE *f = fopen(path, "wb");
        cr_assert(f != NULL);
        hdx_buffer b = hdx_buffer_of(NULL);
        hdx_write_head(&b, "1.0.1", 8, 0);
        const uint64_t parts_of = 3, each = 0x60000000, total = parts_of * (18 + each) + 71;
        hdx_write_record_head(&b, HDX_TOP_HEAP_DUMP, 0, (uint32_t)total);
        const hdx_class_dump object = { .addr = 0x100 };
        hdx_write_class(&b, 8, &object);
        cr_assert(eq(sz, fwrite(b.at, 1, (size_t)b.len, f), (size_t)b.len));
        for (unsigned k = 0; k < parts_of; k++) {
            hdx_buffer_clear(&b);
            hdx_write_primitive_array_head(&b, 8, HDX_SUB_PRIMITIVE_ARRAY, 0x1000 * (k + 1), 1, each, 8);
            cr_assert(eq(sz, fwrite(b.at, 1, (size_t)b.len, f), (size_t)b.len));
            cr_assert(eq(int, fseeko(f, (off_t)each, SEEK_CUR), 0));
        }
        hdx_buffer_clear(&b);
        if (end)
            hdx_write_end(&b);
        else { /* the last byte must be there */
            cr_assert(eq(int, fseeko(f, -1, SEEK_CUR), 0));
            hdx_write_u1(&b, 0);
        }
        cr_assert(eq(sz, fwrite(b.at, 1, (size_t)b.len, f), (size_t)b.len));
        (void)fclose(f);
        hdx_buffer_free(&b);
        hdx_source *source;
        surveyed   *s = calloc(1, sizeof *s);
        (void)pthread_mutex_init(&s->lock, NULL);
        cr_assert(eq(int, hdx_source_open(path, NULL, &source, NULL), HDX_OK));
        survey_source(s, source, (how){ .threads = 2 });
        cr_expect(eq(int, s->code, HDX_OK));
        cr_expect(eq(u64, s->survey.objects, 4));
        cr_expect(eq(u64, s->survey.damage_count, 0));
        cr_expect(eq(u32, s->survey.warning_count, 1));
        cr_expect(eq(u64, s->walked, 4));
        surveyed_free(s);
        hdx_source_close(source);
    }
    test_folder_remove(folder);
}
