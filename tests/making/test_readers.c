/*
 * test_readers.c - a dump that several threads read, each some MiB of it: what each of them found of classes, roots and
 * damage becomes what one finds.
 */
#include "making/making.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[TEST_FOLDER], dump[64];

static void enter(void)
{
    test_folder_make(folder, "readers");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
}
static void leave(void) { test_folder_remove(folder); }

TestSuite(readers, .init = enter, .fini = leave, .timeout = 240);

/* An instance of a class that nothing describes. */
static void strange(dump_maker *m, uint64_t id, uint64_t class_id, uint32_t bytes)
{
    uint8_t record[64] = { 0x21 };
    for (unsigned i = 0; i < 8; i++) {
        record[1 + i] = (uint8_t)(id >> (56 - 8 * i));
        record[13 + i] = (uint8_t)(class_id >> (56 - 8 * i));
    }
    record[24] = (uint8_t)bytes;
    dump_maker_raw(m, record, 25 + bytes);
}

/* Some 20 MiB in segments of some 100 KB; in all of them a bit of everything. */
static void make(void)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    const uint64_t node = dump_maker_class(m, "app/Node", object, "next:L count:I a:J b:J c:J d:J");
    const uint64_t array = dump_maker_class(m, "[Lapp/Node;", object, "");
    uint64_t       last = 0, first = 0, id = 0x70000000;
    for (unsigned part = 0; part < 200; part++) {
        dump_maker_segment(m);
        for (unsigned i = 0; i < 1300; i++) {
            last = dump_maker_instance(m, node, DUMP_VALUES(last, i, part, 0, 0, 0));
            if (first == 0)
                first = last;
        }
        /* classes that nothing describes: of one size; of another at the end, in the middle, everywhere; few */
        strange(m, id += 32, 0xbad0000, 12);
        strange(m, id += 32, 0xbad1000, part < 150 ? 12 : 16);
        strange(m, id += 32, 0xbad2000, part > 60 && part < 120 ? 8 : 20);
        strange(m, id += 32, 0xbad3000, part % 3 * 4);
        if (part % 50 == 45)
            strange(m, id += 32, 0xbad4000, part == 145 ? 4 : 24);
        if (part >= 100)
            strange(m, id += 32, 0xbad5000, 4);
        if (part < 90 && part % 7 == 1)
            strange(m, id += 32, 0xbad6000, 28 - part % 2 * 4);
        (void)dump_maker_array(m, 0xbad7000 + (part % 2 << 12), DUMP_VALUES(last, first), 2);
        (void)dump_maker_array(m, array, DUMP_VALUES(first, last, 0), part % 4);
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
        dump_maker_root(m, HDX_SUB_ROOT_MONITOR_USED, last - 64, 0, 0);
        dump_maker_root(m, HDX_SUB_ROOT_UNKNOWN, 0x66000000 + part, 0, 0); /* to nothing */
        if (part % 20 == 3)
            (void)dump_maker_class(m, "app/Late", object, part % 40 == 3 ? "a:I" : "a:L b:J");
        if (part % 60 == 31) /* the same object once more */
            (void)dump_maker_instance_at(m, first, node, DUMP_VALUES(0, 1, 2, 3, 4, 5));
        if (part % 60 == 59) /* and the same class, described otherwise */
            (void)dump_maker_class_at(m, node, "app/Node", object, "next:L count:J");
    }
    dump_maker_save(m, dump);
    dump_maker_free(m);
}

static uint8_t *bytes_of(const char *index, const char *name, size_t *len)
{
    char path[4300];
    (void)snprintf(path, sizeof path, "%s/%s.hdx", index, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    uint8_t *bytes = malloc(32u << 20);
    *len = fread(bytes, 1, 32u << 20, f);
    (void)fclose(f);
    return bytes;
}

static void expect_same(const char *a, const char *b, unsigned round)
{
    for (int kind = 0; kind < HDX_KINDS; kind++) {
        size_t   n = 0, k = 0;
        uint8_t *x = bytes_of(a, hdx_kind_name((hdx_kind)kind), &n),
                *y = bytes_of(b, hdx_kind_name((hdx_kind)kind), &k);
        cr_expect((x == NULL) == (y == NULL) && n == k && (x == NULL || memcmp(x, y, n) == 0), "round %u: %s differs",
                  round, hdx_kind_name((hdx_kind)kind));
        free(x);
        free(y);
    }
}

typedef struct built {
    hdx_index_report report;
    hdx_graph       *graph;
    char             place[TEST_FOLDER];
} built;

static built *build(const hdx_index_options *how, uint64_t room)
{
    built            *b = calloc(1, sizeof *b);
    hdx_index_options options = *how;
    hdx_build_doors   doors = { .io = hdx_io_system(), .room = room };
    hdx_error         err;
    test_folder_make(b->place, "built");
    options.dump = dump;
    options.index_dir = b->place;
    cr_assert(hdx_index_build_through(&doors, &options, &b->report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(b->report.path, dump, &b->graph, &err) == HDX_OK, "%s", err.message);
    return b;
}

static void drop(built *b)
{
    hdx_graph_close(b->graph);
    test_folder_remove(b->place);
    free(b);
}

/* Workers take pieces as they come: which of them finds what is another in each round. */
Test(readers, that_are_several_find_what_one_finds)
{
    static const struct {
        unsigned threads, width;
        uint64_t room;
    } cases[] = { { 2, 0, 0 }, { 4, 0, 0 }, { 4, 64, 0 }, { 3, 32, 1 } };
    make();
    built                   *one = build(&(hdx_index_options){ .threads = 1 }, 0);
    const hdx_graph_summary *s = hdx_graph_summary_of(one->graph);
    hdx_error                err;
    cr_expect(hdx_graph_verify(one->graph, true, &err) == HDX_OK, "%s: %s", err.where, err.message);
    cr_expect(s->damage_count > 10);
    for (unsigned round = 0; round < sizeof cases / sizeof *cases; round++) {
        built *some = build(&(hdx_index_options){ .threads = cases[round].threads, .width = cases[round].width },
                            cases[round].room);
        const hdx_graph_summary *t = hdx_graph_summary_of(some->graph);
        expect_same(one->report.path, some->report.path, round);
        cr_expect(t->damage_count == s->damage_count && t->warning_count == s->warning_count, "round %u: %llu of %llu",
                  round, (unsigned long long)t->damage_count, (unsigned long long)s->damage_count);
        for (uint64_t i = 0; i < s->damage_count && i < t->damage_count; i++) {
            const hdx_damage *a = &s->damage[i], *b = &t->damage[i];
            cr_expect(a->kind == b->kind && a->offset == b->offset && a->kept_objects == b->kept_objects &&
                          a->lost_bytes == b->lost_bytes && strcmp(a->expected, b->expected) == 0,
                      "round %u: damage %llu at %llu, not %llu: %s; %s", round, (unsigned long long)i,
                      (unsigned long long)b->offset, (unsigned long long)a->offset, b->expected, a->expected);
        }
        drop(some);
    }
    drop(one);
}
