/*
 * test_overlay.c - a stripped file read through its overlay is the restored file, at any position, from a plain and a
 * packed file, and says of each byte whether it is made up. Cut names are framed anew.
 */
#include "android_dump.h"
#include "hprof/hprof.h"

#include <time.h>

static hdx_source *open_overlay(const char *path, hdx_stripping *what)
{
    hdx_source *source;
    hdx_error   err = { 0 };
    cr_assert(hdx_source_open(path, NULL, &source, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, what, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_strip_overlay_set(source, what->overlay, &err) == HDX_OK, "%s", err.message);
    return source;
}

/* Random positions and lengths against the file that restoring wrote. */
static void compare(const char *path, bytes want, unsigned seed)
{
    hdx_stripping what;
    hdx_source   *source = open_overlay(path, &what);
    hdx_error     err = { 0 };
    uint64_t      size = 0;
    uint8_t      *got = malloc(want.len + 64);
    cr_assert(what.overlay != HDX_OVERLAY_NONE);
    for (unsigned k = 0; k < 3000; k++) {
        const size_t at = (size_t)rand_r(&seed) % (want.len + 10),
                     n = (size_t)rand_r(&seed) % (k % 10 == 0 ? want.len : 200);
        const size_t expect = at >= want.len ? 0 : want.len - at < n ? want.len - at : n;
        size_t       have = 0;
        cr_assert(hdx_source_read_at(source, at, got, n, &have, &err) == HDX_OK, "%s", err.message);
        cr_assert(have == expect && memcmp(got, want.at + (at < want.len ? at : 0), have) == 0,
                  "%s: %zu bytes at %zu (seed %u)", path, n, at, seed);
    }
    cr_expect(hdx_source_size(source, &size) && size == want.len);
    hdx_stream *stream;
    size_t      have = 0;
    cr_assert(hdx_stream_open(source, 17, &stream, &err) == HDX_OK);
    cr_expect(hdx_stream_read(stream, got, want.len, &have, &err) == HDX_OK && have == want.len - 17 &&
              memcmp(got, want.at + 17, have) == 0);
    hdx_stream_close(stream);
    hdx_source_close(source);
    free(got);
}

static void pack(const char *from, const char *to)
{
    char command[400];
    (void)snprintf(command, sizeof command, "gzip -c '%s' >'%s'", from, to);
    cr_assert(system(command) == 0);
}

Test(overlay, is_the_restored_file_at_any_position)
{
    const unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    for (unsigned k = 0; k < 3; k++) {
        place       p = place_new();
        const char *dump = place_path(&p, "a.hprof"), *out = place_path(&p, "b.hprof"), *gz = place_path(&p, "c.hprof"),
                   *back = place_path(&p, "d.hprof");
        hdx_strip_report r;
        hdx_error        err = { 0 };
        dump_maker      *m = android_dump_new(k == 1 ? 8 : 4, false);
        const uint64_t   object = dump_maker_class(m, "app.Node", 0, "next:L count:I");
        for (unsigned i = 0, s = seed; i < 20000; i++) { /* long enough for several points */
            if (rand_r(&s) % 200 == 0) {
                dump_maker_segment(m);
                dump_maker_heap_info(m, rand_r(&s) % 3 == 0 ? 'Z' : 'A', "x");
            }
            if (rand_r(&s) % 3 == 0)
                (void)dump_maker_primitives(m, "ZCFDBSIJ"[rand_r(&s) % 8], NULL, (uint32_t)rand_r(&s) % 50);
            else
                (void)dump_maker_instance(m, object, DUMP_VALUES(i, i));
        }
        dump_maker_save(m, dump);
        const hdx_strip_options o = {
            .dump = dump, .output = out, .policy = k == 2 ? HDX_STRIP_TAILOR : HDX_STRIP_KOOM, .plain = k == 2
        };
        cr_assert(hdx_strip_write(&o, &r, &err) == HDX_OK, "%s", err.message);
        cr_assert(restore_to(out, back, &r, &err) == HDX_OK, "%s", err.message);
        pack(out, gz);
        bytes want = slurp(back);
        compare(out, want, seed);
        compare(gz, want, seed + 1);
        free(want.at);
        dump_maker_free(m);
        place_remove(&p);
    }
}

typedef struct arrays {
    hdx_source *source;
    uint64_t    seen, absent;
} arrays;
static hdx_code on_heap(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    arrays *a = context;
    (void)worker, (void)err;
    for (size_t k = 0; k < n; k++)
        if (events[k].tag == HDX_SUB_PRIMITIVE_ARRAY && events[k].count > 0) {
            a->seen++;
            a->absent += hdx_source_absent(a->source, events[k].pos + 14);
            cr_expect(!hdx_source_absent(a->source, events[k].pos));
        }
    return HDX_OK;
}
static hdx_code on_top(void *context, const hdx_top *record, hdx_error *err)
{
    return (void)context, (void)record, (void)err, HDX_OK;
}
static hdx_code on_restart(void *context, hdx_error *err) { return (void)context, (void)err, HDX_OK; }

static arrays survey(const char *path, hdx_strip_policy policy, hdx_survey *out)
{
    hdx_stripping what;
    hdx_error     err = { 0 };
    arrays        a = { open_overlay(path, &what), 0, 0 };
    cr_expect(what.policy == policy, "%s", hdx_strip_name(what.policy));
    const hdx_survey_options options = { .threads = 1 };
    const hdx_survey_sink    sink = { &a, on_heap, on_top, on_restart };
    cr_assert(hdx_hprof_survey(a.source, &options, &sink, out, &err) == HDX_OK, "%s", err.message);
    return a;
}

/*
 * STRIP K2: the tool's walk died at an obsolete root; arrays before it are cut, those after are whole, and another
 * record is whole altogether.
 */
Test(overlay, reads_records_of_which_a_part_is_cut)
{
    place          p = place_new();
    const char    *path = place_path(&p, "a.hprof");
    dump_maker    *m = dump_maker_new(4);
    hdx_survey     s;
    const uint64_t values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    m->version = "1.0.3";
    (void)dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_segment(m);
    for (unsigned k = 0; k < 3; k++) { /* cut: head alone, while the length counts 9 bytes of content */
        const uint8_t head[] = { HDX_SUB_PRIMITIVE_ARRAY, 0, 1, 0, (uint8_t)(16 * k), 0, 0, 0, 0, 0, 0, 0, 9, 8 };
        dump_maker_raw(m, head, sizeof head);
    }
    dump_maker_root(m, HDX_SUB_ROOT_FINALIZING, 0x10000, 0, 0);
    for (unsigned k = 0; k < 2; k++)
        (void)dump_maker_primitives(m, 'B', values, 9);
    dump_maker_segment_says(m, 3 * 23 + 5 + 2 * 23);
    for (unsigned k = 0; k < 4; k++) {
        const uint8_t head[] = { HDX_SUB_PRIMITIVE_ARRAY, 0, 2, 0, (uint8_t)(16 * k), 0, 0, 0, 0, 0, 0, 0, 9, 8 };
        dump_maker_raw(m, head, sizeof head);
    }
    dump_maker_segment_says(m, 4 * 23);
    (void)dump_maker_primitives(m, 'B', values, 9);
    dump_maker_save(m, path);
    arrays a = survey(path, HDX_STRIP_KOOM, &s);
    cr_expect(a.seen == 10 && a.absent == 7 && s.damage_count == 0, "%llu arrays, %llu absent, %llu damaged",
              (unsigned long long)a.seen, (unsigned long long)a.absent, (unsigned long long)s.damage_count);
    hdx_survey_free(&s);
    hdx_source_close(a.source);
    dump_maker_free(m);
    place_remove(&p);
}

/* STRIP 5.3: after bytes that are nothing reading goes on at the next record of which everything fits. */
Test(overlay, goes_on_behind_garbage_at_a_record_that_fits)
{
    place       p = place_new();
    const char *dump = place_path(&p, "a.hprof");
    dump_maker *m = dump_maker_new(4);
    hdx_survey  s;
    m->version = "1.0.3";
    (void)dump_maker_class(m, "java.lang.Object", 0, "");
    for (unsigned k = 0; k < 30; k++) {
        if (k % 3 == 0)
            dump_maker_segment(m);
        const uint8_t head[] = { HDX_SUB_PRIMITIVE_ARRAY, 0, 2, k, 16, 0, 0, 0, 0, 0, 0, 0, 40, 8 };
        dump_maker_raw(m, head, sizeof head);
        if (k % 3 == 2)
            dump_maker_segment_says(m, k == 14 ? 3 * 54 + 1000 : 3 * 54); /* one of them lies */
    }
    dump_maker_save(m, dump);
    arrays            a = survey(dump, HDX_STRIP_KOOM, &s);
    hdx_overlay_stats stats;
    cr_assert(hdx_strip_overlay_stats(a.source, &stats, NULL) == HDX_OK);
    cr_expect(a.seen == 30 && stats.broken == 1, "%llu arrays of 30, %llu places", (unsigned long long)a.seen,
              (unsigned long long)stats.broken);
    hdx_survey_free(&s);
    hdx_source_close(a.source);
    dump_maker_free(m);
    place_remove(&p);
}

/* A record as Matrix leaves it: as many bytes of the text as it has characters, under the old length. */
static void cut_name(dump_maker *m, uint64_t id, const char *text, size_t characters)
{
    uint8_t      body[256];
    const size_t bytes_all = strlen(text);
    for (unsigned k = 0; k < 4; k++)
        body[k] = (uint8_t)(id >> (24 - 8 * k));
    memcpy(body + 4, text, characters);
    hdx_write_record_head(&m->tables, HDX_TOP_STRING, 0, (uint32_t)(4 + bytes_all));
    hdx_buffer_put(&m->tables, body, 4 + characters);
}

Test(overlay, frames_cut_names_anew)
{
    static const struct {
        const char *text;
        size_t      characters;
    } names[] = {
        { "gr\303\266\303\237e", 5 },
        { "\346\227\245\346\234\254\350\252\236", 3 },
        { "abc\303\251", 4 },
        { "\303\251", 1 },
        { "plain", 5 },
        { "app.\320\232\320\273\320\260\321\201\321\201", 9 },
        { "mixed\342\202\254x\342\202\254", 8 },
    };
    place       p = place_new();
    const char *path = place_path(&p, "a.hprof");
    dump_maker *m = dump_maker_new(4);
    hdx_survey  s;
    m->version = "1.0.3";
    for (unsigned k = 0; k < 7; k++)
        cut_name(m, 0x77770000 + k, names[k].text, names[k].characters);
    (void)dump_maker_class(m, "java.lang.Object", 0, "x:I");
    (void)dump_maker_primitives(m, 'B', NULL, 9);
    dump_maker_save(m, path);
    arrays a = survey(path, HDX_STRIP_MATRIX, &s);
    cr_expect(s.damage_count == 0 && a.seen == 1 && s.top_records[HDX_TOP_LOAD_CLASS] == 1, "%s",
              s.damage_count > 0 ? s.damage[0].expected : "");
    hdx_overlay_stats stats;
    cr_assert(hdx_strip_overlay_stats(a.source, &stats, NULL) == HDX_OK);
    cr_expect(stats.cut_names == 6 && stats.lost_bytes == 2 + 6 + 1 + 1 + 5 + 4 && stats.first_cut == 31,
              "%llu names, %llu bytes", (unsigned long long)stats.cut_names, (unsigned long long)stats.lost_bytes);
    hdx_survey_free(&s);
    hdx_source_close(a.source);
    dump_maker_free(m);
    place_remove(&p);
}

Test(overlay, whole_names_outside_ascii_are_left_alone)
{
    place         p = place_new();
    const char   *path = place_path(&p, "a.hprof");
    hdx_stripping what;
    dump_maker   *m = android_dump_new(4, false);
    (void)dump_maker_name(m, "\346\227\245\346\234\254\350\252\236 and \001 a control character");
    dump_maker_save(m, path);
    hdx_source *source = open_overlay(path, &what);
    cr_expect(what.policy == HDX_STRIP_NONE && what.overlay == HDX_OVERLAY_NONE);
    hdx_source_close(source);
    dump_maker_free(m);
    place_remove(&p);
}
