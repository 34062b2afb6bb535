/*
 * test_estimate.c - the forecast against the outcome: a build stays below the memory that was said, objects are about
 * right where the sample is a small part of the heap, what cannot be used is refused as a build refuses it, and nothing
 * is written. estimates.txt has the checksums of forecasts (support/checksums.h), what depends on time left out:
 *
 *     mixed SEED OBJECTS SEGMENT IDS SAMPLE UNTIL WIDTH     objects of every kind drawn, so many a segment (0: one);
 *                                                           bytes of the sample, 0: as usual
 *     packed ...                                            the same, with gzip
 *     corpus NAME SAMPLE UNTIL WIDTH                        a dump of tests/fuzz/corpus/dump
 */
#include "making/making.h"
#include "support/checksums.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include "support/gzip_maker.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DUMPS HDX_TREE "/../shared/golden/dumps"

static char folder[TEST_FOLDER], dump[64], place[64];

static void enter(void)
{
    test_folder_make(folder, "estimate");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(place, sizeof place, "%s/a.hdx", folder);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(estimate, .init = enter, .fini = leave, .timeout = 280);

static unsigned files_in(const char *path)
{
    DIR     *all = opendir(path);
    unsigned count = 0;
    while (all != NULL && readdir(all) != NULL)
        count++;
    if (all != NULL)
        (void)closedir(all);
    return count;
}

typedef struct outcome {
    uint64_t peak, objects, bytes;
    hdx_code code;
    unsigned steps;
    char     names[32][24];
} outcome;

/* In a process of its own: the peak of this one would be that of all builds before. */
static outcome build_alone(const hdx_index_options *options)
{
    outcome o = { .code = HDX_IO };
    int     ends[2];
    cr_assert(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        hdx_index_report report;
        o.code = hdx_index_build(options, &report, NULL);
        o.peak = hdx_peak_rss();
        o.objects = report.objects;
        o.bytes = report.bytes;
        o.steps = report.step_count;
        for (unsigned i = 0; i < report.step_count; i++)
            memcpy(o.names[i], report.steps[i].name, sizeof o.names[i]);
        _exit(write(ends[1], &o, sizeof o) == (ssize_t)sizeof o ? 0 : 1);
    }
    (void)close(ends[1]);
    cr_expect(read(ends[0], &o, sizeof o) == (ssize_t)sizeof o);
    (void)close(ends[0]);
    cr_expect(waitpid(child, NULL, 0) == child);
    return o;
}

static void expect_kept(const char *path, uint32_t number, hdx_step until)
{
    const hdx_index_options options = {
        .dump = path, .index_dir = place, .dump_number = number, .threads = 2, .until = until, .force = true
    };
    hdx_index_forecast f;
    hdx_error          err;
    (void)hdx_folder_clear(hdx_io_system(), place); /* the index of another dump is not replaced */
    const unsigned before = files_in(folder);
    cr_assert(hdx_index_estimate(&options, &f, &err) == HDX_OK, "%s: %s", path, err.message);
    cr_expect_eq(files_in(folder), before, "%s: something was written", path);
    const outcome o = build_alone(&options);
    cr_assert_eq(o.code, HDX_OK, "%s", path);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* their shadow is not ours */
    cr_expect(f.memory >= o.peak, "%s: %llu bytes forecast, %llu taken", path, (unsigned long long)f.memory,
              (unsigned long long)o.peak);
#endif
    cr_expect(f.disk > 0 && f.wall_ns > 0 && f.disk >= o.bytes / 2, "%s: %llu bytes of disk forecast, %llu taken", path,
              (unsigned long long)f.disk, (unsigned long long)o.bytes);
    if (f.whole)
        cr_expect_eq(f.objects, o.objects, "%s: %llu objects forecast, %llu found", path, (unsigned long long)f.objects,
                     (unsigned long long)o.objects);
    cr_expect_eq(f.step_count, o.steps, "%s", path);
    for (unsigned i = 0; i < f.step_count && i < o.steps; i++) {
        cr_expect_str_eq(f.steps[i].name, o.names[i]);
        cr_expect(f.steps[i].memory <= f.memory);
    }
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

Test(estimate, that_is_told_to_stop_names_the_dump)
{
    const hdx_index_options options = { .dump = HDX_TREE "/examples/bookshop.hprof.gz",
                                        .threads = 1,
                                        .progress = { .cancelled = at_once } };
    hdx_index_forecast      f;
    hdx_error               err;
    cr_expect_eq(hdx_index_estimate(&options, &f, &err), HDX_CANCELLED);
    cr_expect_str_eq(err.where, options.dump);
}

/* Classes alone take temporary files, too. */
Test(estimate, of_a_heap_without_instances_has_something_of_everything)
{
    char        path[TEST_FOLDER + 16];
    dump_maker *m = dump_maker_new(8);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "java.lang.Object", 0, ""), 0, 0);
    (void)snprintf(path, sizeof path, "%s/none.hprof", folder);
    dump_maker_save(m, path);
    dump_maker_free(m);
    const hdx_index_options options = { .dump = path, .threads = 1 };
    hdx_index_forecast      f;
    hdx_error               err;
    cr_assert(hdx_index_estimate(&options, &f, &err) == HDX_OK, "%s", err.message);
    cr_expect(f.whole && f.objects >= 2 && f.classes >= 1 && f.roots == 1 && f.memory > 0 && f.disk > 0 &&
                  f.temporary > 0,
              "%llu objects, %llu classes, %llu roots, %llu bytes of temporary files", (unsigned long long)f.objects,
              (unsigned long long)f.classes, (unsigned long long)f.roots, (unsigned long long)f.temporary);
}

Test(estimate, is_kept_on_the_bookshop_whichever_step_is_the_last)
{
    static const hdx_step until[] = { 0, HDX_STEP_OBJECTS, HDX_STEP_OUTBOUND };
    for (size_t i = 0; i < sizeof until / sizeof *until; i++)
        expect_kept(HDX_TREE "/examples/bookshop.hprof.gz", 1, until[i]);
}

Test(estimate, is_kept_on_the_reference_collection)
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
        expect_kept(path, 1, 0);
        if (strncmp(entry->d_name, "sun_jdk6_31_hprofagent", 22) == 0)
            expect_kept(path, 2, 0);
    }
    (void)closedir(all);
}

/*
 * 200,000 nodes of one class with their byte[], and tables of nodes; a segment for every few hundred of them unless it
 * is one.
 */
static uint64_t make_heap(bool one_segment, uint64_t *references)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t node = dump_maker_class(m, "app.Node", object, "next:L body:L spare:L count:I");
    const uint64_t table = dump_maker_class(m, "[Lapp.Node;", object, "");
    uint64_t       last = 0, count = 4, recent[8] = { 0 };
    *references = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        const uint64_t body = dump_maker_primitives(m, 'B', NULL, (uint32_t)(i * 7 % 40));
        *references += 1 + (last != 0);
        last = dump_maker_instance(m, node, DUMP_VALUES(last, body, 0, i));
        recent[i % 8] = last;
        count += 2;
        if (i % 10 == 9) {
            dump_maker_array(m, table, recent, 8);
            *references += 8;
            count++;
        }
        if (i % 300 == 299 && !one_segment)
            dump_maker_segment(m);
    }
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    return count;
}

static void expect_near(const char *what, uint64_t got, uint64_t want, double part)
{
    const double off = want == 0 ? 0 : ((double)got - (double)want) / (double)want;
    cr_expect(off <= part && off >= -part, "%s: %llu forecast, %llu found", what, (unsigned long long)got,
              (unsigned long long)want);
}

static void expect_sampled(const char *path, uint64_t objects, uint64_t references, double part)
{
    const hdx_index_options options = { .dump = path, .index_dir = place, .threads = 2, .force = true };
    hdx_index_forecast      small, all;
    hdx_error               err;
    cr_assert(hdx_index_estimate_from(&options, 1u << 20, &small, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_index_estimate(&options, &all, &err) == HDX_OK, "%s", err.message);
    cr_expect_not(small.whole);
    cr_expect(small.sampled_bytes < all.sampled_bytes / 4);
    cr_expect(all.whole);
    expect_near("objects", small.objects, objects, part);
    expect_near("references", small.references, references, part);
    expect_near("objects, all read", all.objects, objects, 0.001);
    expect_near("references, all read", all.references, references, 0.001);
    cr_expect(small.memory >= all.memory / 10 * 9);
    const outcome o = build_alone(&options);
    cr_assert_eq(o.code, HDX_OK);
    expect_near("objects, built", all.objects, o.objects, 0.0001);
}

Test(estimate, counts_well_from_a_part_of_the_heap)
{
    uint64_t       references;
    const uint64_t objects = make_heap(false, &references);
    expect_sampled(dump, objects, references, 0.05);
}

Test(estimate, counts_well_from_the_beginning_of_one_segment)
{
    uint64_t       references;
    const uint64_t objects = make_heap(true, &references);
    expect_sampled(dump, objects, references, 0.2);
}

/* The dump, with gzip. */
static void pack(char *path, size_t size)
{
    static uint8_t bytes[64u << 20];
    gm_bytes       packed = { 0 };
    FILE          *in = fopen(dump, "rb");
    cr_assert(in != NULL);
    const size_t len = fread(bytes, 1, sizeof bytes, in);
    (void)fclose(in);
    gm_member_put(&packed, bytes, len, &(gm_member){ .level = 1 });
    (void)snprintf(path, size, "%s.gz", dump);
    dump_maker_save_bytes(path, packed.at, packed.len);
    gm_free(&packed);
}

Test(estimate, counts_well_from_the_beginning_of_a_compressed_dump)
{
    uint64_t references, objects = make_heap(false, &references);
    char     path[80];
    pack(path, sizeof path);
    expect_sampled(path, objects, references, 0.2);
    hdx_index_options  options = { .dump = path, .index_dir = place, .threads = 2 };
    hdx_index_forecast inflated, plain;
    cr_assert(hdx_index_estimate(&options, &inflated, NULL) == HDX_OK);
    options.dump = dump;
    cr_assert(hdx_index_estimate(&options, &plain, NULL) == HDX_OK);
    cr_expect(inflated.temporary < plain.temporary + objects,
              "read in a moment it has no checkpoint, and the spill file goes as it does with a plain one");
    cr_expect(hdx_index_estimate_from(&options, 1u << 20, &plain, NULL) == HDX_OK);
    options.dump = path;
    cr_expect(hdx_index_estimate_from(&options, 1u << 20, &inflated, NULL) == HDX_OK);
    for (unsigned i = 0; i < 2; i++)
        cr_expect(inflated.steps[i].least >= plain.steps[i].least + (24u << 20),
                  "while it is read, workers share inflated slices: %s", plain.steps[i].name);
    cr_expect(inflated.steps[2].least < plain.steps[2].least + (8u << 20),
              "then nothing reads the dump, and they are given back");
}

/*
 * A checkpoint behind the second reading needs it until the next one stands; seconds of a forecast may be a half too
 * few or a third too many.
 */
Test(estimate, the_spill_file_stays_where_reading_is_long_and_the_step_behind_it_is_not)
{
    const uint64_t s = 1000000000u;
    cr_expect_not(hdx_forecast_spill_stays(2 * s, s / 2), "nothing is kept");
    cr_expect(hdx_forecast_spill_stays(3 * s, s / 2) && hdx_forecast_spill_stays(3 * s, 3 * s) &&
              hdx_forecast_spill_stays(60 * s, 4 * s));
    cr_expect_not(hdx_forecast_spill_stays(60 * s, 6 * s),
                  "the next checkpoint stands before anything else is written");
}

/* Few objects, many bytes: pages are made ready before it is known that nobody needs them. */
Test(estimate, has_what_is_made_ready_before_it_is_known_whether_it_is_needed)
{
    const uint64_t     size = 48u << 20;
    hdx_index_options  options = { .dump = dump, .index_dir = place, .threads = 2 };
    hdx_index_forecast two, one, held;
    dump_maker        *m = dump_maker_new(8);
    const uint64_t     object = dump_maker_class(m, "java.lang.Object", 0, "");
    for (unsigned i = 0; i < 48; i++)
        (void)dump_maker_primitives(m, 'B', NULL, 1u << 20);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, object, NULL), 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    cr_assert(hdx_index_estimate(&options, &two, NULL) == HDX_OK);
    options.threads = 1;
    cr_assert(hdx_index_estimate(&options, &one, NULL) == HDX_OK);
    options.threads = 2;
    options.memory = 1u << 30;
    cr_assert(hdx_index_estimate(&options, &held, NULL) == HDX_OK);
    cr_expect(two.memory >= size / 4 + (8u << 20), "%llu", (unsigned long long)two.memory);
    cr_expect(one.memory < size / 4 + (8u << 20) && held.memory < size / 4 + (8u << 20),
              "one thread and budgets have none: %llu, %llu", (unsigned long long)one.memory,
              (unsigned long long)held.memory);
    expect_kept(dump, 1, 0);
}

/* A list in the order of its nodes, or one whose order nobody can tell. */
static void make_list(bool mixed)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, ""),
                   node = dump_maker_class(m, "app.Node", object, "next:L count:I");
    const uint64_t first = dump_maker_instance(m, node, DUMP_VALUES(0, 0));
    uint64_t       last = first, step = 0, state = 88172645463325252ull;
    for (uint64_t i = 1; i < 300000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const uint64_t now =
            dump_maker_instance(m, node, DUMP_VALUES(mixed && i > 1 ? first + state % i * step : last, i));
        step = i == 1 ? now - first : step;
        last = now;
        if (i % 300 == 299)
            dump_maker_segment(m);
    }
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
}

Test(estimate, knows_what_neighbours_that_are_alike_save)
{
    uint64_t taken[2];
    for (int mixed = 0; mixed < 2; mixed++) {
        const hdx_index_options options = { .dump = dump, .index_dir = place, .threads = 2, .force = true };
        hdx_index_forecast      f;
        make_list(mixed);
        cr_assert(hdx_index_estimate(&options, &f, NULL) == HDX_OK);
        const outcome o = build_alone(&options);
        cr_assert_eq(o.code, HDX_OK);
        taken[mixed] = f.disk;
        cr_expect(f.disk >= o.bytes && f.disk <= o.bytes * 2, "%d: %llu bytes of disk forecast, %llu taken", mixed,
                  (unsigned long long)f.disk, (unsigned long long)o.bytes);
    }
    cr_expect(taken[0] < taken[1] * 3 / 5, "%llu in order, %llu mixed", (unsigned long long)taken[0],
              (unsigned long long)taken[1]);
}

/*
 * 20,000 objects, an array of 1 << 20 references of which the first `used` of each `of` are some (`same` neighbours are
 * one object), and longs.
 */
static void make_table(unsigned used, unsigned of, unsigned same)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t table = dump_maker_class(m, "[Ljava.lang.Object;", object, "");
    uint64_t      *slots = calloc(1u << 20, sizeof *slots), objects[20000];
    cr_assert(slots != NULL);
    for (unsigned i = 0; i < 20000; i++)
        objects[i] = dump_maker_instance(m, object, NULL);
    for (unsigned i = 0; i < 1u << 20; i++)
        slots[i] = i % of < used ? objects[i / same % 20000] : 0;
    dump_maker_segment(m);
    (void)dump_maker_array(m, table, slots, 1u << 20);
    dump_maker_segment(m);
    (void)dump_maker_primitives(m, 'J', NULL, 1u << 20);
    dump_maker_segment(m);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    free(slots);
}

static hdx_index_forecast forecast_table(unsigned used, unsigned of, unsigned same)
{
    const hdx_index_options options = { .dump = dump, .index_dir = place, .threads = 2 };
    hdx_index_forecast      f;
    make_table(used, of, same);
    cr_assert(hdx_index_estimate_from(&options, 128u << 10, &f, NULL) == HDX_OK);
    expect_near("objects", f.objects, 20005, 0.05);
    cr_expect(f.sampled_bytes < 1u << 20);
    return f;
}

/* A record that holds nothing but an array says all of it in its head, and pieces of it how much of it is null. */
Test(estimate, knows_large_arrays_from_pieces_of_them)
{
    const uint64_t           each = 24, all = 1u << 20;
    const hdx_index_forecast empty = forecast_table(0, 1, 1), full = forecast_table(1, 1, 1),
                             third = forecast_table(1, 3, 1);
    const hdx_index_forecast halves = forecast_table(all / 2, all, 1), repeated = forecast_table(1, 1, 256);
    cr_expect(empty.references < 100, "%llu", (unsigned long long)empty.references);
    cr_expect(full.references >= 20000 && full.references <= full.objects + 100, "each object once: %llu",
              (unsigned long long)full.references);
    cr_expect(full.steps[1].least - empty.steps[1].least >= each * all, "an array is held as long as it is read");
    expect_near("held of every third", third.steps[1].least - empty.steps[1].least, each * all / 3, 0.05);
    expect_near("held of the first half", halves.steps[1].least - empty.steps[1].least, each * all / 2, 0.05);
    cr_expect(third.steps[1].least - empty.steps[1].least >= each * all / 3);
    cr_expect(halves.steps[1].least - empty.steps[1].least >= each * all / 2);
    cr_expect(repeated.references >= all / 256 && repeated.references < all / 256 * 3 / 2, "%llu",
              (unsigned long long)repeated.references);
}

Test(estimate, refuses_what_a_build_refuses)
{
    static const char *const texts[] = { "", "hello, this is no dump at all", "JAVA PROFILE 1.0.2",
                                         "PK\003\004 something" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hdx_index_options  options = { .dump = dump, .index_dir = place };
        hdx_index_forecast f;
        hdx_index_report   report;
        hdx_error          a, b;
        dump_maker_save_bytes(dump, texts[i], strlen(texts[i]));
        const hdx_code code = hdx_index_estimate(&options, &f, &a);
        cr_expect_eq(code, hdx_index_build(&options, &report, &b));
        cr_expect_eq(code, HDX_BAD_DUMP);
        cr_expect_str_eq(a.message, b.message);
        cr_expect_str_eq(a.hint, b.hint);
        cr_expect_str_eq(a.where, b.where);
    }
    hdx_index_options  options = { .dump = "/nowhere/a.hprof" };
    hdx_index_forecast f;
    hdx_error          err;
    cr_expect_eq(hdx_index_estimate(&options, &f, &err), HDX_BAD_DUMP);
    uint64_t references;
    (void)make_heap(false, &references);
    options = (hdx_index_options){ .dump = dump, .index_dir = place, .dump_number = 2 };
    cr_expect_eq(hdx_index_estimate(&options, &f, &err), HDX_NOT_FOUND);
    cr_expect_eq(hdx_index_estimate_from(&options, 1u << 20, &f, &err), HDX_NOT_FOUND);
    cr_expect_str_eq(err.message, "no heap dump number 2: the file contains 1");
    options.dump_number = 1;
    cr_expect_eq(build_alone(&options).code, HDX_OK);
    options = (hdx_index_options){ .dump = place };
    cr_expect_eq(hdx_index_estimate(&options, &f, &err), HDX_USAGE);
}

/* Cut anywhere, with a sample smaller than the file: never more than an odd number of objects. */
Test(estimate, takes_dumps_that_are_cut)
{
    uint64_t       references, objects = make_heap(false, &references);
    static uint8_t bytes[64u << 20];
    FILE          *in = fopen(dump, "rb");
    cr_assert(in != NULL);
    const size_t len = fread(bytes, 1, sizeof bytes, in);
    (void)fclose(in);
    for (size_t cut = len / 2; cut < len / 2 + 200; cut += 7) {
        const hdx_index_options options = { .dump = dump, .index_dir = place, .threads = 1 };
        hdx_index_forecast      f;
        hdx_error               err;
        dump_maker_save_bytes(dump, bytes, cut);
        cr_assert(hdx_index_estimate_from(&options, 256u << 10, &f, &err) == HDX_OK, "%zu: %s", cut, err.message);
        expect_near("objects", f.objects, objects / 2, 0.1);
    }
}

/* ---- forecasts are what they were ---- */

static uint64_t roll(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (*seed >> 33) % below;
}

static void make_mixed(uint64_t seed, unsigned objects, unsigned segment, unsigned ids)
{
    dump_maker    *m = dump_maker_new(ids);
    const uint64_t drawn = seed, object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    (void)dump_maker_class(m, "java.lang.ClassLoader", object, "parent:L");
    const uint64_t thread = dump_maker_class(m, "java.lang.Thread", object, "name:L");
    const uint64_t node = dump_maker_class(m, "app.Node", object, "next:L body:L spare:L count:I"),
                   leaf = dump_maker_class(m, "app.Leaf", node, "a:J b:Z other:L"),
                   table = dump_maker_class(m, "[Lapp.Node;", object, "");
    for (unsigned i = 0; i < roll(&seed, 200); i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "app.Loaded%u", i);
        if (i % 3 == 0)
            (void)dump_maker_load(m, 0x70000000 + 16 * i, name);
        else
            (void)dump_maker_class(m, name, object, "x:L");
    }
    uint64_t refs[600], last = 0;
    for (uint64_t k = 0; k < 600; k++)
        refs[k] = 0;
    for (unsigned i = 0; i < objects; i++) {
        const uint64_t kind = roll(&seed, 20), to = refs[roll(&seed, 600)];
        if (kind < 8)
            last = dump_maker_instance(m, node, DUMP_VALUES(last, to, 0, i));
        else if (kind < 11)
            last = dump_maker_instance(m, leaf, DUMP_VALUES(i, 1, to, last, 0, to, i));
        else if (kind < 12)
            last = dump_maker_array(m, table, refs, 1 + (uint32_t)roll(&seed, i % 50 == 0 ? 599 : 9));
        else if (kind < 13)
            last = dump_maker_array(m, table, NULL, (uint32_t)roll(&seed, 90));
        else
            last = dump_maker_primitives(m, "BCIJZSFD"[kind - 13 < 8 ? kind - 13 : 0], NULL, (uint32_t)roll(&seed, 60));
        refs[i % 600] = last;
        if (segment > 0 && i % segment == segment - 1)
            dump_maker_segment(m);
    }
    static uint64_t long_one[300000];
    for (unsigned i = 0; i < (drawn % 4 == 1 ? 3 : 0); i++) { /* looked at in pieces */
        const unsigned count = 280000 + (unsigned)roll(&seed, 20000);
        for (unsigned k = 0; k < count; k++)
            long_one[k] = k % 7 == 0 ? 0 : refs[(k * (i + 1) + k / 600) % 600];
        dump_maker_segment(m);
        last = dump_maker_array(m, table, long_one, count);
        dump_maker_segment(m);
    }
    const uint64_t one = dump_maker_instance(m, thread, DUMP_VALUES(last));
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, one, 5, 2);
    for (unsigned i = 0; i < (drawn % 4 == 3 ? 30000 : 0); i++) /* more bytes than a small sample takes */
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, refs[i % 5], 5, 0);
    for (unsigned i = 0; i < 60 && refs[i] != 0; i++)
        dump_maker_root(m, i % 3 == 0 ? HDX_SUB_ROOT_JAVA_FRAME : HDX_SUB_ROOT_JNI_GLOBAL, refs[i], 5, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
}

static void copy_corpus(const char *name)
{
    static uint8_t bytes[1u << 22];
    char           path[4096];
    (void)snprintf(path, sizeof path, HDX_TREE "/tests/fuzz/corpus/dump/%s", name);
    FILE *in = fopen(path, "rb");
    cr_assert(in != NULL, "%s", path);
    const size_t len = fread(bytes, 1, sizeof bytes, in);
    cr_assert(fclose(in) == 0 && len < sizeof bytes);
    dump_maker_save_bytes(dump, bytes, len);
}

static uint64_t forecast_text(void *context, const char *ask, hdx_buffer *b)
{
    hdx_index_forecast f;
    hdx_error          err = { .offset = HDX_NOWHERE };
    unsigned long long seed = 0, sample = 0;
    unsigned           objects = 0, segment = 0, ids = 0, until = 0, width = 0;
    char               name[64], path[400];
    (void)context;
    (void)snprintf(path, sizeof path, "%s", dump);
    if (sscanf(ask, "corpus %63s %llu %u %u", name, &sample, &until, &width) == 4)
        copy_corpus(name); /* a path is in memory, too, which is forecast: one length wherever it is */
    else {
        cr_assert(
            sscanf(ask, "%*s %llu %u %u %u %llu %u %u", &seed, &objects, &segment, &ids, &sample, &until, &width) == 7);
        make_mixed(seed, objects, segment, ids);
        if (strncmp(ask, "packed", 6) == 0)
            pack(path, sizeof path);
    }
    const hdx_index_options options = {
        .dump = path, .index_dir = place, .threads = 1, .until = (hdx_step)until, .width = width
    };
    const hdx_code code =
        sample == 0 ? hdx_index_estimate(&options, &f, &err) : hdx_index_estimate_from(&options, sample, &f, &err);
    if (code != HDX_OK) {
        hdx_buffer_format(b, "%s %lld %s\n", hdx_code_name(code), (long long)err.offset, err.message);
        return 0;
    }
    hdx_buffer_format(b, "%llu %llu %d %s %u\n", (unsigned long long)f.dump_size, (unsigned long long)f.sampled_bytes,
                      f.whole, f.version, f.id_size);
    hdx_buffer_format(b, "%llu %llu %llu %llu\n", (unsigned long long)f.objects, (unsigned long long)f.references,
                      (unsigned long long)f.classes, (unsigned long long)f.roots);
    hdx_buffer_format(b, "%llu %llu %llu\n", (unsigned long long)f.memory, (unsigned long long)f.least,
                      (unsigned long long)f.disk); /* temporary: the spill file stays where reading took long */
    for (unsigned i = 0; i < f.step_count; i++)
        hdx_buffer_format(b, "%s %llu %llu %llu\n", f.steps[i].name, (unsigned long long)f.steps[i].memory,
                          (unsigned long long)f.steps[i].least, (unsigned long long)f.steps[i].disk);
    return f.objects;
}

Test(estimate, is_what_it_was)
{
    cr_assert(chdir(folder) == 0);
    (void)snprintf(dump, sizeof dump, "a.hprof");
    (void)snprintf(place, sizeof place, "a.hdx");
    checksums_check(HDX_TREE "/tests/making/estimates.txt", forecast_text, NULL);
    cr_assert(chdir("/") == 0);
}
