/*
 * test_told.c - everything that readers tell of examples/bookshop.hprof.gz, and of small dumps with each byte changed
 * in turn or cut off at it: records, damage, warnings. told.txt has the checksums (support/checksums.h).
 */
#include <criterion/criterion.h>

#include "hprof/sample.h"
#include "support/checksums.h"
#include "surveyed.h"

static void put_events(hdx_buffer *b, const surveyed *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const hdx_event *e = &s->events[i];
        hdx_buffer_format(b, "%llu %llx %llx %u %u %u %u %u %d %02x %u\n", (unsigned long long)e->pos,
                          (unsigned long long)e->addr, (unsigned long long)e->class_addr, e->count, e->body_len,
                          e->body_from, e->heap, e->serial, e->frame, e->tag, e->type);
    }
}

static void put_survey(hdx_buffer *b, const surveyed *s)
{
    const hdx_survey *v = &s->survey;
    hdx_buffer_format(b, "%d", (int)s->code);
    if (s->code != HDX_OK) {
        hdx_buffer_format(b, " %llu\n", (unsigned long long)s->err.offset);
        return;
    }
    hdx_buffer_format(b, " %s %u %d %u %u %llu %llu %llu %llu %llu %llu %u\n", v->head.version, v->head.id_size,
                      v->head.android, v->dumps_in_file, v->dump_number, (unsigned long long)v->objects,
                      (unsigned long long)v->heap_time_us, (unsigned long long)s->tops, (unsigned long long)s->top_sum,
                      (unsigned long long)s->body_bytes, (unsigned long long)s->body_sum, v->warning_count);
    for (unsigned i = 0; i < 256; i++)
        if (v->top_records[i] > 0 || v->sub_records[i] > 0)
            hdx_buffer_format(b, "%u %llu %llu\n", i, (unsigned long long)v->top_records[i],
                              (unsigned long long)v->sub_records[i]);
    for (uint64_t i = 0; i < v->damage_count; i++)
        hdx_buffer_format(b, "%s %llu %llu %llu %s\n", hdx_damage_name(v->damage[i].kind),
                          (unsigned long long)v->damage[i].offset, (unsigned long long)v->damage[i].kept_objects,
                          (unsigned long long)v->damage[i].lost_bytes, v->damage[i].record);
}

static uint64_t put_bookshop(hdx_buffer *b, const char *read)
{
    hdx_source *source;
    surveyed   *s = calloc(1, sizeof *s);
    (void)pthread_mutex_init(&s->lock, NULL);
    cr_assert(hdx_source_open(HDX_TREE "/examples/bookshop.hprof.gz", NULL, &source, NULL) == HDX_OK);
    survey_source(s, source,
                  (how){ .threads = strcmp(read, "by 3") == 0 ? 3 : 1, .sequential = strcmp(read, "in order") == 0 });
    put_survey(b, s);
    if (strcmp(read, "one by one") == 0)
        for (size_t i = 0; i < s->count; i += 1 + i % 3) {
            hdx_event      e = { .pos = 0 };
            hdx_pos        body_at = 0;
            uint64_t       body_len = 0;
            const bool     is_object = s->events[i].tag >= HDX_SUB_CLASS && s->events[i].tag <= HDX_SUB_PRIMITIVE_ARRAY;
            const hdx_code code =
                hdx_hprof_record_at(source, 8, s->events[i].pos + (i % 50 == 0), &e, &body_at, &body_len, NULL);
            cr_assert(code == HDX_OK || !is_object || i % 50 == 0, "record at %llu",
                      (unsigned long long)s->events[i].pos);
            hdx_buffer_format(b, "%d %llx %llx %u %u %llu %llu\n", (int)code, (unsigned long long)e.addr,
                              (unsigned long long)e.class_addr, e.count, e.type, (unsigned long long)body_at,
                              (unsigned long long)body_len);
        }
    else
        put_events(b, s);
    const uint64_t n = s->count;
    surveyed_free(s);
    hdx_source_close(source);
    return n;
}

/* A dump of some 1500 bytes with every byte changed, or with nothing behind it. */
static uint64_t put_harmed(hdx_buffer *b, bool cut, unsigned id_size, const char *version)
{
    static const uint8_t masks[] = { 0x01, 0x20, 0xff };
    dump_maker          *m = dump_maker_new(id_size);
    size_t               len;
    uint64_t             n = 0;
    m->version = version;
    if (strcmp(version, "1.0.3") == 0)
        dump_maker_heap_info(m, 'A', "app");
    (void)make_heap(m, 3);
    dump_maker_segment(m);
    (void)make_heap(m, 1);
    const uint8_t *whole = dump_maker_bytes(m, &len);
    for (size_t at = 0; at < len; at++)
        for (size_t k = 0; k < (cut ? 1 : sizeof masks); k++, n++) {
            gm_bytes harmed = { 0 };
            gm_put(&harmed, whole, cut ? at : len);
            if (!cut)
                harmed.at[at] ^= masks[k];
            surveyed *s = survey_bytes(harmed.at, harmed.len, (how){ .threads = 1 });
            hdx_buffer_format(b, "%zu %u\n", at, masks[k]);
            put_survey(b, s);
            if (s->code == HDX_OK)
                put_events(b, s);
            surveyed_free(s);
            gm_free(&harmed);
        }
    dump_maker_free(m);
    return n;
}

/* Everything that a sample says of itself, its pieces, and its bytes as a reader gets them. */
static void put_sample_of(hdx_buffer *b, hdx_source *source, uint64_t bytes)
{
    hdx_mem        mem = { 0 };
    hdx_sample     s;
    hdx_error      err;
    const hdx_code code = hdx_sample_open(source, 1, bytes, &mem, NULL, &s, &err);
    hdx_buffer_format(b, "%llu: %d\n", (unsigned long long)bytes, (int)code);
    if (code != HDX_OK)
        return;
    const uint64_t all[] = { s.count,       s.size,   s.dump_size, s.heap_bytes, s.taken_bytes, s.stretches,
                             s.arrays,      s.tables, s.slots,     s.references, s.longest,     s.array_bytes,
                             s.prefix_size, s.whole,  s.all,       s.spread };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        hdx_buffer_format(b, " %llu", (unsigned long long)all[i]);
    for (uint64_t i = 0; i < s.count; i++)
        hdx_buffer_format(b, "\n%llu %llu %llu %d", (unsigned long long)s.pieces[i].at,
                          (unsigned long long)s.pieces[i].len, (unsigned long long)s.pieces[i].from, s.pieces[i].made);
    hdx_source *small = NULL;
    if (!s.whole && hdx_source_open_mem(&s.io, &mem, "sample", NULL, &small, &err) == HDX_OK) {
        uint8_t got[4096];
        size_t  n = 0;
        for (uint64_t at = 0; hdx_source_read_at(small, at, got, sizeof got, &n, &err) == HDX_OK && n > 0; at += n)
            hdx_buffer_put(b, got, n);
    }
    hdx_source_close(small);
    hdx_sample_close(&s);
    cr_expect(atomic_load(&mem.used) == 0);
}

/* Segments of many lengths, large arrays in segments of their own, with nulls and repeats; strings behind. */
static dump_maker *make_large(unsigned id_size)
{
    dump_maker     *m = dump_maker_new(id_size);
    const uint64_t  object = make_heap(m, 50), array = dump_maker_class(m, "[Lapp/Big;", object, "");
    static uint64_t refs[40000];
    for (unsigned i = 0; i < 60; i++) {
        for (unsigned k = 0; k < 40000; k++)
            refs[k] = k % (i + 2) == 0 ? 0 : k % 7 < i % 5 ? object : 0x1000 + 16 * (uint64_t)k;
        if (i % 6 == 0) {
            dump_maker_segment(m);
            (void)dump_maker_array(m, array, refs, 2000 + 600 * i);
            dump_maker_segment(m);
        }
        if (i % 9 == 4) {
            dump_maker_segment(m);
            (void)dump_maker_primitives(m, 'I', NULL, 5000 * (i % 4 + 1));
            dump_maker_segment(m);
        }
        (void)dump_maker_array(m, array, refs, i);
        for (unsigned k = 0; k < 40 * (i % 11); k++)
            (void)dump_maker_instance(m, object, NULL);
        if (i % 4 == 3)
            dump_maker_segment(m);
    }
    return m;
}

static uint64_t put_sample(hdx_buffer *b, const char *of)
{
    static const uint64_t sizes[] = { 1000, 30000, 200000, 1000000, 64u << 20 };
    hdx_source           *source;
    if (strcmp(of, "bookshop") == 0) {
        cr_assert(hdx_source_open(HDX_TREE "/examples/bookshop.hprof.gz", NULL, &source, NULL) == HDX_OK);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            put_sample_of(b, source, sizes[i]);
        hdx_source_close(source);
        return b->len;
    }
    dump_maker    *m = make_large(of[0] == '4' ? 4 : 8);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    gm_bytes       plain = { 0 }, packed = { 0 };
    gm_put(&plain, bytes, len);
    gm_jdk_put(&packed, &plain, 1 << 16);
    gm_file door = gm_file_of(strstr(of, "gzip") != NULL ? &packed : &plain);
    cr_assert(hdx_source_open_io(&door.io, "large.hprof", NULL, &source, NULL) == HDX_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        put_sample_of(b, source, sizes[i]);
    hdx_source_close(source);
    gm_free(&plain);
    gm_free(&packed);
    dump_maker_free(m);
    return b->len;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char     what[16], version[16];
    unsigned id_size;
    (void)context;
    if (strncmp(ask, "bookshop ", 9) == 0)
        return put_bookshop(b, ask + 9);
    if (strncmp(ask, "sample ", 7) == 0)
        return put_sample(b, ask + 7);
    cr_assert(sscanf(ask, "%15s %u %15s", what, &id_size, version) == 3, "%s", ask);
    return put_harmed(b, strcmp(what, "cut") == 0, id_size, version);
}

Test(told, is_what_it_was) { checksums_check(HDX_TREE "/tests/hprof/told.txt", text_of, NULL); }
