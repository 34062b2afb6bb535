/*
 * test_sample.c - a sample reads as a sound dump: every record in it stands in the dump, tables are complete, cuts lie
 * between sub-records.
 */
#include "hprof/sample.h"
#include "support/dump_maker.h"
#include "support/gzip_maker.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

TestSuite(sample, .timeout = 60);

typedef struct seen {
    uint64_t  strings, loads, count;
    hdx_addr *at;
} seen;

static hdx_code on_heap(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    seen *s = context;
    (void)worker;
    (void)err;
    for (size_t i = 0; i < n; i++)
        s->at[s->count++] = events[i].addr;
    return HDX_OK;
}

static hdx_code on_top(void *context, const hdx_top *record, hdx_error *err)
{
    seen *s = context;
    (void)err;
    s->strings += record->tag == HDX_TOP_STRING;
    s->loads += record->tag == HDX_TOP_LOAD_CLASS;
    return HDX_OK;
}

static hdx_code on_restart(void *context, hdx_error *err)
{
    seen *s = context;
    (void)err;
    s->strings = s->loads = s->count = 0;
    return HDX_OK;
}

static seen survey(hdx_source *source, hdx_survey *out)
{
    seen                  s = { .at = calloc(1 << 20, sizeof(hdx_addr)) };
    hdx_survey_options    options = { .threads = 1 };
    const hdx_survey_sink sink = { &s, on_heap, on_top, on_restart };
    hdx_error             err;
    cr_assert(hdx_hprof_survey(source, &options, &sink, out, &err) == HDX_OK, "%s", err.message);
    return s;
}

/* Nodes have odd addresses (times 16), arrays of theirs other ones; many segments, or one. */
static dump_maker *make(bool segments, bool whole)
{
    dump_maker *m = dump_maker_new(8);
    m->whole = whole;
    if (whole)
        m->version = "1.0.1";
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t node = dump_maker_class(m, "app.Node", object, "next:L count:I");
    for (unsigned i = 0; i < 20000; i++) {
        (void)dump_maker_instance_at(m, 0x100000 + 16 * (uint64_t)(2 * i + 1), node, NULL);
        (void)dump_maker_primitives_at(m, 0x100000 + 16 * (uint64_t)(2 * i), 'B', NULL, i % 50);
        if (segments && i % 100 == 99)
            dump_maker_segment(m);
    }
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
    return m;
}

static void check(dump_maker *m, bool packed, uint64_t bytes, bool spread)
{
    size_t         len;
    gm_bytes       file = { 0 };
    hdx_mem        mem = { 0 };
    hdx_error      err;
    hdx_survey     all, part;
    hdx_source    *source, *small;
    hdx_sample     sample;
    const uint8_t *plain = dump_maker_bytes(m, &len);
    if (packed)
        gm_member_put(&file, plain, len, &(gm_member){ 0 });
    else
        gm_put(&file, plain, len);
    gm_file door = gm_file_of(&file);
    cr_assert_eq(hdx_source_open_io(&door.io, "a.hprof", NULL, &source, &err), HDX_OK);
    cr_assert_eq(hdx_sample_open(source, 1, bytes, &mem, NULL, &sample, &err), HDX_OK);
    cr_expect_not(sample.whole);
    cr_expect_not(sample.all);
    cr_expect_eq(sample.spread, spread);
    /* pieces end after a batch of events, which is more than so small ones were meant to be */
    cr_expect(sample.taken_bytes > bytes / 2 && sample.taken_bytes < bytes + 64 * 16384, "%llu bytes of %llu",
              (unsigned long long)sample.taken_bytes, (unsigned long long)bytes);
    cr_assert_eq(hdx_source_open_io(&sample.io, "a.hprof", NULL, &small, &err), HDX_OK);
    seen s = survey(small, &part), a = survey(source, &all);
    cr_expect_eq(part.damage_count, 0);
    cr_expect_eq(part.warning_count, 0);
    cr_expect_eq(s.strings, a.strings);
    cr_expect_eq(s.loads, a.loads);
    cr_expect(s.count > 100 && s.count < a.count / 2);
    cr_expect_eq(part.sub_records[HDX_SUB_CLASS], all.sub_records[HDX_SUB_CLASS]);
    for (uint64_t i = 0, k = 0; i < s.count; i++, k++) { /* in order, none that is not there */
        while (k < a.count && a.at[k] != s.at[i])
            k++;
        cr_assert(k < a.count);
    }
    const double heap = (double)sample.heap_bytes / (double)sample.taken_bytes * (double)s.count / (double)a.count;
    cr_expect(heap > (packed ? 0.5 : 0.8) && heap < (packed ? 2 : 1.25), "%f", heap);
    hdx_survey_free(&part);
    hdx_survey_free(&all);
    hdx_source_close(small);
    hdx_source_close(source);
    hdx_sample_close(&sample);
    cr_expect_eq(atomic_load(&mem.used), 0);
    gm_free(&file);
    free(s.at);
    free(a.at);
    dump_maker_free(m);
}

Test(sample, takes_pieces_from_everywhere) { check(make(true, false), false, 128 << 10, true); }
Test(sample, takes_the_beginning_of_one_long_record) { check(make(false, false), false, 128 << 10, false); }
Test(sample, takes_the_beginning_of_a_dump_without_segments) { check(make(false, true), false, 128 << 10, false); }
Test(sample, takes_the_beginning_of_a_compressed_dump) { check(make(true, false), true, 128 << 10, false); }

Test(sample, leaves_short_dumps_as_they_are)
{
    dump_maker    *m = make(true, false);
    size_t         len;
    gm_bytes       file = { 0 };
    hdx_source    *source;
    hdx_sample     sample;
    const uint8_t *plain = dump_maker_bytes(m, &len);
    gm_put(&file, plain, len);
    gm_file door = gm_file_of(&file);
    cr_assert_eq(hdx_source_open_io(&door.io, "a.hprof", NULL, &source, NULL), HDX_OK);
    cr_assert_eq(hdx_sample_open(source, 1, len, NULL, NULL, &sample, NULL), HDX_OK);
    cr_expect(sample.whole && sample.all && sample.count == 0);
    hdx_sample_close(&sample);
    hdx_source_close(source);
    gm_free(&file);
    dump_maker_free(m);
}

/* Every allocation refused once: an error, nothing left. */
static bool refuse_at(void *context, uint64_t bytes)
{
    (void)bytes;
    return (*(int *)context)-- == 0;
}

Test(sample, survives_refused_memory)
{
    dump_maker    *m = make(true, false);
    size_t         len;
    gm_bytes       file = { 0 };
    hdx_code       code = HDX_LIMIT;
    const uint8_t *plain = dump_maker_bytes(m, &len);
    gm_put(&file, plain, len);
    for (int n = 0; code == HDX_LIMIT && n < 1000; n++) {
        int         left = n;
        hdx_mem     mem = { .refuse = refuse_at, .context = &left };
        gm_file     door = gm_file_of(&file);
        hdx_source *source;
        hdx_sample  sample;
        cr_assert_eq(hdx_source_open_io(&door.io, "a.hprof", NULL, &source, NULL), HDX_OK);
        code = hdx_sample_open(source, 1, 64 << 10, &mem, NULL, &sample, NULL);
        cr_expect(code == HDX_LIMIT || code == HDX_OK);
        if (code == HDX_OK)
            hdx_sample_close(&sample);
        cr_expect_eq(atomic_load(&mem.used), 0);
        hdx_source_close(source);
    }
    cr_expect_eq(code, HDX_OK);
    gm_free(&file);
    dump_maker_free(m);
}

/* Of no bytes nothing is taken, nor guessed from. */
Test(sample, takes_nothing_of_no_bytes)
{
    dump_maker    *m = make(true, false);
    size_t         len;
    gm_bytes       file = { 0 };
    hdx_source    *source;
    hdx_sample     sample;
    const uint8_t *plain = dump_maker_bytes(m, &len);
    gm_member_put(&file, plain, len, &(gm_member){ 0 });
    gm_file door = gm_file_of(&file);
    cr_assert_eq(hdx_source_open_io(&door.io, "a.hprof.gz", NULL, &source, NULL), HDX_OK);
    cr_assert_eq(hdx_sample_open(source, 1, 0, NULL, NULL, &sample, NULL), HDX_OK);
    cr_expect(sample.whole && sample.dump_size == 0 && sample.heap_bytes == 0);
    hdx_sample_close(&sample);
    hdx_source_close(source);
    gm_free(&file);
    dump_maker_free(m);
}

/* A sample of bytes in memory; its source stays open in *source. */
static hdx_sample sample_of(const gm_bytes *file, gm_file *door, uint64_t bytes, hdx_source **source)
{
    hdx_sample sample;
    hdx_error  err;
    *door = gm_file_of(file);
    cr_assert_eq(hdx_source_open_io(&door->io, "a.hprof", NULL, source, NULL), HDX_OK);
    cr_assert(hdx_sample_open(*source, 1, bytes, NULL, NULL, &sample, &err) == HDX_OK, "%s", err.message);
    return sample;
}

/* An array in a record of its own is told by its head: where that is cut, the record is one like others. */
Test(sample, tells_arrays_by_all_of_their_head)
{
    for (uint32_t id_size = 4; id_size <= 8; id_size += 4) {
        dump_maker    *m = dump_maker_new(id_size);
        const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
        for (unsigned i = 0; i < 3000; i++)
            (void)dump_maker_instance(m, object, NULL);
        dump_maker_segment(m);
        const uint64_t in_heap = m->heap.len;
        (void)dump_maker_primitives(m, 'B', NULL, 1 << 20);
        size_t         len;
        gm_bytes       packed = { 0 };
        const uint8_t *plain = dump_maker_bytes(m, &len);
        const uint64_t body = dump_maker_heap_at(m) + in_heap + 9;
        gm_member_put(&packed, plain, len, &(gm_member){ 0 });
        for (uint64_t more = 0; more < 40; more++) {
            gm_file     door;
            hdx_source *source;
            hdx_sample  sample = sample_of(&packed, &door, body + more, &source);
            const bool  told = more >= 10 + 2 * id_size;
            cr_expect_eq(sample.arrays, told || more >= 10 + id_size, "%llu bytes", (unsigned long long)more);
            /* heard of by the array alone, it is left out; with its first bytes at hand it counts as one more record */
            cr_expect_eq(sample.stretches, more == 0 || (more >= 10 + id_size && !told) ? 2 : 3, "%llu bytes",
                         (unsigned long long)more);
            hdx_sample_close(&sample);
            hdx_source_close(source);
        }
        gm_free(&packed);
        dump_maker_free(m);
    }
}

/* A HEAP_DUMP without a length, and after it as many bytes as a head of a record has. */
Test(sample, takes_a_dump_of_no_length_with_nine_bytes)
{
    static const uint8_t root[9] = { HDX_SUB_ROOT_STICKY_CLASS, 1, 2, 3, 4, 5, 6, 7, 8 };
    for (unsigned less = 0; less < 2; less++) {
        dump_maker *m = dump_maker_new(8);
        m->whole = true;
        m->version = "1.0.1";
        m->no_end = true;
        (void)dump_maker_name(m, "a name that makes it longer");
        dump_maker_raw(m, root, sizeof root);
        size_t         len;
        gm_bytes       file = { 0 };
        const uint8_t *plain = dump_maker_bytes(m, &len);
        gm_file        door;
        hdx_source    *source;
        gm_put(&file, plain, len - less);
        memset(file.at + dump_maker_heap_at(m) + 5, 0, 4);
        hdx_sample sample = sample_of(&file, &door, 20, &source);
        cr_expect_eq(sample.stretches, 1 - less);
        cr_expect_eq(sample.whole, less == 1); /* nothing was taken */
        cr_expect_eq(sample.heap_bytes, less == 1 ? len - 1 : 9);
        hdx_sample_close(&sample);
        hdx_source_close(source);
        gm_free(&file);
        dump_maker_free(m);
    }
}

Test(sample, of_a_file_that_begins_with_no_record_is_all_of_it)
{
    dump_maker    *m = make(true, false);
    size_t         len;
    gm_bytes       file = { 0 };
    gm_file        door;
    hdx_source    *source;
    const uint8_t *plain = dump_maker_bytes(m, &len);
    gm_put(&file, plain, len);
    file.at[31] = 0x66;
    hdx_sample sample = sample_of(&file, &door, 64 << 10, &source);
    cr_expect(sample.whole && sample.heap_bytes == len && sample.stretches == 0);
    hdx_sample_close(&sample);
    hdx_source_close(source);
    gm_free(&file);
    dump_maker_free(m);
}

/* Where the dump becomes shorter, reads of the sample give what is there, and then nothing. */
Test(sample, of_a_dump_that_becomes_shorter_is_read_as_far_as_it_goes)
{
    dump_maker    *m = make(false, false);
    size_t         len;
    gm_bytes       file = { 0 };
    gm_file        door;
    hdx_source    *source;
    const uint8_t *plain = dump_maker_bytes(m, &len);
    gm_put(&file, plain, len);
    hdx_sample sample = sample_of(&file, &door, 64 << 10, &source);
    uint8_t   *whole = malloc(sample.size), *part = malloc(sample.size);
    cr_assert_eq(sample.io.read_at(&sample.io, 0, whole, sample.size, 0), (int64_t)sample.size);
    const hdx_sample_piece *p = &sample.pieces[2]; /* header and tables, head of the record, its first bytes */
    cr_assert(sample.count == 4 && p->len > 30000 && !p->made);
    for (uint64_t kept = 0; kept < 20000; kept += 777) {
        door.len = p->from + kept;
        const int64_t got = sample.io.read_at(&sample.io, 0, part, sample.size - 5, 5);
        cr_assert_eq(got, (int64_t)(p->at + kept - 5), "%llu", (unsigned long long)kept);
        cr_expect(memcmp(part, whole + 5, (size_t)got) == 0);
    }
    free(whole);
    free(part);
    hdx_sample_close(&sample);
    hdx_source_close(source);
    gm_free(&file);
    dump_maker_free(m);
}
