/*
 * test_counts.c - objects and bytes by class from one pass: the same as an index says, on every dump of the reference
 * collection (../shared beside this tree; skipped where it is not) and on heaps made here; and the first pass of a
 * build tells it ahead of the rest.
 */
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DUMPS HDX_TREE "/../shared/golden/dumps"

static char folder[TEST_FOLDER], dump[64], place[64];

static void enter(void)
{
    test_folder_make(folder, "counts");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(place, sizeof place, "%s/a.hdx", folder);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(counts, .init = enter, .fini = leave);

/* ---- what the first pass of a build told ---- */

typedef struct told {
    unsigned   times;
    bool       index_there; /* when it was told */
    uint32_t   count;
    hdx_class *classes; /* names are gone with the build */
} told;

static void tell(void *context, const hdx_counts *counts)
{
    told            *t = context;
    const hdx_class *classes = hdx_counts_classes(counts, &t->count);
    t->times++;
    t->index_there = access(place, F_OK) == 0;
    t->classes = malloc(t->count * sizeof *classes);
    memcpy(t->classes, classes, t->count * sizeof *classes);
}

static void expect_equal(const char *path, const char *who, const hdx_class *a, uint32_t a_count, const hdx_class *b,
                         uint32_t b_count)
{
    cr_assert_eq(a_count, b_count, "%s: %s: %u classes, want %u", path, who, a_count, b_count);
    for (uint32_t i = 0; i < a_count; i++)
        cr_expect(a[i].address == b[i].address && a[i].instances == b[i].instances && a[i].bytes == b[i].bytes &&
                      a[i].loader == b[i].loader && a[i].kind == b[i].kind,
                  "%s: %s: %.*s: %llu objects, %llu bytes, want %llu and %llu", path, who, (int)b[i].name.len,
                  b[i].name.at, (unsigned long long)a[i].instances, (unsigned long long)a[i].bytes,
                  (unsigned long long)b[i].instances, (unsigned long long)b[i].bytes);
}

static void check_dump(const char *path, uint32_t number, unsigned threads, bool sound)
{
    told              t = { 0 };
    hdx_index_options options = { .dump = path,
                                  .index_dir = place,
                                  .dump_number = number,
                                  .threads = threads,
                                  .first_pass = tell,
                                  .first_pass_context = &t };
    hdx_index_report  report;
    hdx_counts       *counts;
    hdx_graph        *g;
    hdx_error         err;
    uint32_t          count, graph_count;
    cr_assert(hdx_counts_take(&options, &counts, &err) == HDX_OK, "%s: %s", path, err.message);
    cr_expect(access(place, F_OK) != 0, "nothing is written");
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s: %s", path, err.message);
    cr_assert(hdx_graph_open(report.path, path, &g, &err) == HDX_OK, "%s: %s", path, err.message);
    const hdx_class *classes = hdx_counts_classes(counts, &count), *graph_classes = hdx_graph_classes(g, &graph_count);
    const hdx_graph_summary *a = hdx_counts_summary(counts), *b = hdx_graph_summary_of(g);
    expect_equal(path, "counts", classes, count, graph_classes, graph_count);
    for (uint32_t i = 0; i < count; i++)
        cr_expect(classes[i].id == HDX_NO_ID && classes[i].live_instances == 0 && classes[i].live_bytes == 0,
                  "%s: nobody has looked at what lives", path);
    for (uint32_t i = 0; i < count; i++)
        cr_expect(classes[i].name.len == graph_classes[i].name.len &&
                  memcmp(classes[i].name.at, graph_classes[i].name.at, classes[i].name.len) == 0);
    cr_expect_eq(t.times, sound ? 1 : 0, "%s", path);
    if (sound) {
        expect_equal(path, "first pass", t.classes, t.count, graph_classes, graph_count);
        cr_expect_not(t.index_there);
    }
    cr_expect(a->reference_size == b->reference_size && a->alignment == b->alignment && a->id_size == b->id_size &&
                  a->dump_size == b->dump_size && a->dump_number == b->dump_number && a->created_ms == b->created_ms &&
                  strcmp(a->version, b->version) == 0,
              "%s", path);
    cr_expect_eq(a->damage_count, b->damage_count, "%s", path);
    for (uint64_t i = 0; i < a->damage_count && i < b->damage_count; i++)
        cr_expect(a->damage[i].kind == b->damage[i].kind && a->damage[i].offset == b->damage[i].offset &&
                      a->damage[i].kept_objects == b->damage[i].kept_objects &&
                      strcmp(a->damage[i].expected, b->damage[i].expected) == 0,
                  "%s: %s (%d at %llu, %llu kept), want %s (%d at %llu, %llu kept)", path, a->damage[i].expected,
                  (int)a->damage[i].kind, (unsigned long long)a->damage[i].offset,
                  (unsigned long long)a->damage[i].kept_objects, b->damage[i].expected, (int)b->damage[i].kind,
                  (unsigned long long)b->damage[i].offset, (unsigned long long)b->damage[i].kept_objects);
    cr_assert_eq(a->warning_count, b->warning_count, "%s", path);
    for (uint32_t i = 0; i < a->warning_count; i++)
        cr_expect_str_eq(a->warnings[i], b->warnings[i]);
    hdx_graph_close(g);
    hdx_counts_free(counts);
    char where[4096];
    cr_expect(hdx_index_remove(&options, where, sizeof where, &err) == HDX_OK);
    free(t.classes);
}

Test(counts, are_those_of_the_index_on_the_reference_collection)
{
    DIR           *all = opendir(DUMPS);
    struct dirent *entry;
    char           path[1024];
    if (all == NULL)
        cr_skip("the reference collection is not beside this tree");
    while ((entry = readdir(all)) != NULL) {
        if (strstr(entry->d_name, ".hprof.gz") == NULL)
            continue;
        (void)snprintf(path, sizeof path, DUMPS "/%s", entry->d_name);
        check_dump(path, 1, 2, true);
        if (strncmp(entry->d_name, "sun_jdk6_31_hprofagent", 22) == 0)
            check_dump(path, 2, 2, true);
    }
    (void)closedir(all);
}

/* ---- heaps made here ---- */

typedef struct heap {
    dump_maker *m;
    uint64_t    object, node, refs;
} heap;

static heap begin(uint32_t id_size)
{
    heap h = { .m = dump_maker_new(id_size) };
    h.object = dump_maker_class_at(h.m, 0x1000, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(h.m, 0x1100, "java.lang.Class", h.object, "");
    (void)dump_maker_class_at(h.m, 0x1200, "java.lang.ClassLoader", h.object, "parent:L");
    dump_maker_static(h.m, "instance", 'L', 0);
    h.node = dump_maker_class_at(h.m, 0x1300, "app.Node", h.object, "next:L count:I flag:Z");
    h.refs = dump_maker_class_at(h.m, 0x1400, "app.Node[]", h.object, "");
    (void)dump_maker_class_at(h.m, 0x1500, "byte[]", h.object, "");
    (void)dump_maker_class_at(h.m, 0x1600, "long[]", h.object, "");
    return h;
}

static void end(heap *h, unsigned threads, bool sound)
{
    dump_maker_save(h->m, dump);
    dump_maker_free(h->m);
    check_dump(dump, 1, threads, sound);
}

Test(counts, know_sizes_of_references_by_what_fits_between_arrays)
{
    /* 7 references of 8 bytes do not fit into the first; 6 fill the second, and leave room in the third */
    static const uint64_t steps[] = { 48, 64, 72 };
    for (size_t k = 0; k < 3; k++)
        for (uint32_t id_size = 4; id_size <= 8; id_size += 4)
            for (unsigned threads = 1; threads <= 3; threads++) {
                heap h = begin(id_size);
                for (uint64_t i = 0; i < 700; i++) {
                    (void)dump_maker_array_at(h.m, 0x100000 + i * steps[k], h.refs, NULL,
                                              (uint32_t)(k == 0 ? i % 8 : i % 7));
                    (void)dump_maker_primitives_at(h.m, 0x200000 + i * 64, 'B', NULL, (uint32_t)(i % 40));
                    (void)dump_maker_primitives_at(h.m, 0x300000 + i * 64, 'J', NULL, (uint32_t)(i % 5));
                    (void)dump_maker_instance_at(h.m, 0x400000 + i * 40, h.node, DUMP_VALUES(0, i, 1));
                    if (i % 100 == 50)
                        dump_maker_segment(h.m);
                }
                end(&h, threads, true);
            }
}

Test(counts, read_again_where_objects_are_aligned_to_more_than_8_bytes)
{
    heap h = begin(8);
    for (uint64_t i = 0; i < 100; i++) {
        (void)dump_maker_array_at(h.m, 0x100000 + i * 256, h.refs, NULL, (uint32_t)(i % 30));
        (void)dump_maker_primitives_at(h.m, 0x200000 + i * 64, 'B', NULL, (uint32_t)(i % 40));
        (void)dump_maker_instance_at(h.m, 0x300000 + i * 32, h.node, DUMP_VALUES(0, i, 1));
    }
    end(&h, 2, false); /* exact too, but too late to be told ahead */
}

Test(counts, name_the_first_record_that_does_not_fit_its_class)
{
    for (unsigned threads = 1; threads <= 2; threads++)
        for (unsigned first = 0; first < 3; first++) {
            heap     h = begin(8);
            uint64_t small = dump_maker_class_at(h.m, 0x1700, "app.Small", h.object, "count:I");
            for (uint64_t i = 0; i < 3; i++) {
                uint8_t record[] = { HDX_SUB_INSTANCE,
                                     0,
                                     0,
                                     0,
                                     0,
                                     0,
                                     2,
                                     0,
                                     (uint8_t)(32 * i),
                                     0,
                                     0,
                                     0,
                                     0,
                                     0,
                                     0,
                                     0,
                                     0,
                                     0,
                                     0,
                                     0x17,
                                     0,
                                     0,
                                     0,
                                     0,
                                     2,
                                     0,
                                     0 };
                if (i >= first)
                    dump_maker_raw(h.m, record, sizeof record);
                else
                    (void)dump_maker_instance_at(h.m, 0x20000 + 32 * i, small, NULL);
            }
            end(&h, threads, false);
        }
}

Test(counts, invent_classes_nobody_described)
{
    heap h = begin(8);
    (void)dump_maker_array_at(h.m, 0x100000, 0x7777700, NULL, 3);
    (void)dump_maker_primitives_at(h.m, 0x100100, 'D', NULL, 3);
    for (uint64_t i = 0; i < 2; i++) {
        uint8_t record[] = { HDX_SUB_INSTANCE,
                             0,
                             0,
                             0,
                             0,
                             0,
                             2,
                             0,
                             (uint8_t)(32 * i),
                             0,
                             0,
                             0,
                             0,
                             0,
                             0,
                             0,
                             0,
                             0,
                             0x88,
                             0x88,
                             0,
                             0,
                             0,
                             0,
                             2,
                             0,
                             0 };
        dump_maker_raw(h.m, record, sizeof record);
    }
    end(&h, 2, false);
}

Test(counts, tell_of_a_dump_that_is_cut)
{
    heap   h = begin(8);
    size_t len;
    for (uint64_t i = 0; i < 50; i++)
        (void)dump_maker_primitives_at(h.m, 0x200000 + i * 64, 'B', NULL, 40);
    const uint8_t *bytes = dump_maker_bytes(h.m, &len);
    dump_maker_save_bytes(dump, bytes, len - 100);
    dump_maker_free(h.m);
    check_dump(dump, 1, 2, false);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

Test(counts, refuse_what_is_no_dump_and_stop_when_asked)
{
    hdx_index_options options = { .dump = "/etc/hostname" };
    hdx_counts       *counts = (hdx_counts *)1;
    hdx_error         err;
    cr_expect_eq(hdx_counts_take(&options, &counts, &err), HDX_BAD_DUMP);
    cr_expect_null(counts);
    cr_expect_str_eq(err.where, "/etc/hostname");
    options.dump = folder;
    cr_expect_neq(hdx_counts_take(&options, &counts, NULL), HDX_OK);
    heap h = begin(8);
    dump_maker_save(h.m, dump);
    dump_maker_free(h.m);
    options = (hdx_index_options){ .dump = dump, .progress.cancelled = always };
    cr_expect_eq(hdx_counts_take(&options, &counts, &err), HDX_CANCELLED);
    options = (hdx_index_options){ .dump = dump, .memory = 4096 };
    cr_expect_eq(hdx_counts_take(&options, &counts, &err), HDX_LIMIT);
    hdx_counts_free(NULL);
}

/* An instance of a class that nothing describes. */
static void strange(dump_maker *m, uint64_t id, uint64_t class_id, uint8_t bytes)
{
    uint8_t record[64] = { HDX_SUB_INSTANCE, [24] = bytes };
    for (unsigned i = 0; i < 8; i++) {
        record[1 + i] = (uint8_t)(id >> (56 - 8 * i));
        record[13 + i] = (uint8_t)(class_id >> (56 - 8 * i));
    }
    dump_maker_raw(m, record, 25 + (size_t)bytes);
}

/* Several MiB for each thread; in all of them classes that nothing describes, of sizes that change on the way. */
Test(counts, are_the_same_however_many_threads_read)
{
    for (unsigned threads = 1; threads <= 4; threads++) {
        heap     h = begin(8);
        uint64_t id = 0x70000000;
        for (unsigned part = 0; part < 120; part++) {
            for (unsigned i = 0; i < 2000; i++)
                (void)dump_maker_instance_at(h.m, 0x10000000 + (part * 2000ull + i) * 32, h.node, DUMP_VALUES(0, i, 1));
            (void)dump_maker_primitives(h.m, 'B', NULL, 60000);
            strange(h.m, id += 64, 0xbad0000, 12);
            strange(h.m, id += 64, 0xbad1000, part < 80 ? 12 : 16);
            strange(h.m, id += 64, 0xbad2000, part > 30 && part < 90 ? 8 : 20);
            strange(h.m, id += 64, 0xbad3000, (uint8_t)(part % 3 * 4));
            if (part >= 60)
                strange(h.m, id += 64, 0xbad4000, 4);
            if (part == 20 || part == 70 || part == 110)
                strange(h.m, id += 64, 0xbad5000, part == 110 ? 8 : 24);
            (void)dump_maker_array_at(h.m, id += 64, 0xbad6000, DUMP_VALUES(0, 0), 2);
            dump_maker_segment(h.m);
        }
        end(&h, threads, false); /* told too late, for records do not fit their classes */
    }
}

/* A class twice is one; described otherwise it is damage besides, and the first stands. */
Test(counts, take_the_first_of_two_that_describe_a_class)
{
    for (unsigned threads = 1; threads <= 2; threads++)
        for (unsigned how = 0; how < 4; how++) {
            heap h = begin(8);
            (void)dump_maker_instance(h.m, h.node, DUMP_VALUES(0, 1, 1));
            (void)dump_maker_class_at(h.m, 0x1800, "app.Other", h.object, "a:I b:J");
            dump_maker_segment(h.m);
            if (how > 0)
                (void)dump_maker_class_at(h.m, 0x1800, "app.Other", h.object,
                                          how == 1   ? "a:I b:J"
                                          : how == 2 ? "a:I b:D"
                                                     : "a:I");
            end(&h, threads, false);
        }
}
