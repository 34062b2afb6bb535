/*
 * test_told.c - what a build tells: its steps while they run and how much each has to do, and in the catalog what they
 * counted, wrote and took, and damage in the order of the file.
 */
#include "making/partial_build.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#define STEPS 8u

static char       folder[TEST_FOLDER];
static heap_model h;

static void enter(void)
{
    test_folder_make_fast(folder, "told");
    cr_assert(chdir(folder) == 0);
    dump_maker *m = model_make(&h, 31, 380, 8);
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
}
static void leave(void)
{
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
TestSuite(told, .init = enter, .fini = leave, .timeout = 60);

typedef struct told {
    unsigned count;
    struct {
        char     name[24], unit[16];
        uint64_t total, done;
        unsigned number, steps;
    } at[STEPS];
} told;

static void tell(void *context, const hdx_progress_report *r)
{
    told *t = context;
    if (t->count == 0 || strcmp(t->at[t->count - 1].name, r->step) != 0) {
        cr_assert_lt(t->count, STEPS);
        (void)snprintf(t->at[t->count].name, sizeof t->at->name, "%s", r->step);
        (void)snprintf(t->at[t->count].unit, sizeof t->at->unit, "%s", r->unit);
        t->at[t->count].total = r->total;
        t->at[t->count].number = r->number;
        t->at[t->count++].steps = r->steps;
        cr_expect_eq(r->done, 0);
    }
}

static void read_manifest(const char *path, hdx_manifest *m)
{
    hdx_catalog *c;
    hdx_error    err;
    cr_assert(hdx_catalog_open(hdx_io_system(), path, &c, &err) == HDX_OK, "%s", err.message);
    *m = *hdx_catalog_manifest(c);
    m->damage = NULL;
    hdx_catalog_close(c);
}

static uint64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void expect_step(const told *t, unsigned at, const char *name, uint64_t total, const char *unit)
{
    cr_assert_lt(at, t->count);
    cr_expect_str_eq(t->at[at].name, name);
    cr_expect_str_eq(t->at[at].unit, unit);
    cr_expect(t->at[at].total == total, "%s: %llu, not %llu", name, (unsigned long long)t->at[at].total,
              (unsigned long long)total);
    cr_expect(t->at[at].number == at + 1 && t->at[at].steps == 7);
}

Test(told, of_each_step_is_how_much_it_has_to_do)
{
    static const hdx_step until[] = { HDX_STEP_OBJECTS, HDX_STEP_OUTBOUND, HDX_STEP_INBOUND, HDX_STEP_DOMINATORS };
    static const unsigned steps[] = { 3, 3, 4, 6 };
    for (unsigned i = 0; i < 4; i++) {
        told                    t = { .count = 0 };
        const hdx_index_options options = {
            .dump = "a.hprof", .threads = 1, .until = until[i], .progress = { .context = &t, .report = tell }
        };
        hdx_index_report report;
        hdx_manifest     m;
        hdx_error        err;
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
        read_manifest(report.path, &m);
        const uint64_t n = m.objects, edges = m.outbound_values;
        cr_expect_eq(t.count, steps[i]);
        cr_expect_eq(m.step_count, steps[i]);
        cr_expect_eq(m.step, (uint32_t)until[i]);
        cr_expect_eq(edges != 0, i > 0);
        expect_step(&t, 0, "scan", size_of("a.hprof"), "bytes");
        expect_step(&t, 1, "columns", size_of("a.hprof"), "bytes");
        expect_step(&t, 2, "objects", 6 * n + (i > 0 ? n + edges : 0), "values");
        if (i > 1)
            expect_step(&t, 3, "references", n + edges + (i > 2 ? 2 * n : 0), "values");
        if (i > 2) {
            expect_step(&t, 4, "dominators", m.live_objects, "objects");
            expect_step(&t, 5, "retained", n, "values");
        }
    }
}

/* ---- in the catalog ---- */
static uint64_t bytes_of(const hdx_manifest *m, const hdx_kind *kinds, unsigned n)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < n; i++)
        all += m->files[kinds[i]].bytes;
    return all;
}

static void expect_written(const hdx_manifest *m)
{
    static const hdx_kind kinds[6][8] = {
        { 0 },
        { HDX_KIND_ADDRESS },
        { HDX_KIND_POSITION, HDX_KIND_CLASS, HDX_KIND_SIZE, HDX_KIND_HEAP, HDX_KIND_OUTBOUND, HDX_KIND_INSTANCES },
        { HDX_KIND_INBOUND, HDX_KIND_SPECIAL, HDX_KIND_NEAREST },
        { 0 },
        { HDX_KIND_DOMINATOR, HDX_KIND_DOMINATORS, HDX_KIND_DOMINATED, HDX_KIND_RETAINED }
    };
    static const unsigned    counts[6] = { 0, 1, 6, 3, 0, 4 };
    static const char *const names[6] = { "scan", "columns", "objects", "references", "dominators", "retained" };
    cr_assert_eq(m->step_count, 6);
    for (unsigned i = 0; i < 6; i++) {
        cr_expect_str_eq(m->steps[i].name, names[i]);
        cr_expect(m->steps[i].written_bytes == bytes_of(m, kinds[i], counts[i]), "%s: %llu", names[i],
                  (unsigned long long)m->steps[i].written_bytes);
        cr_expect(m->steps[i].peak_bytes > 0 && m->steps[i].wall_ns < 1ull << 40 && m->steps[i].cpu_ns < 1ull << 40);
    }
}

Test(told, in_the_catalog_is_what_the_heap_is_like)
{
    const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };
    hdx_index_report        report;
    hdx_manifest            m;
    hdx_error               err;
    bool                    live[MODEL_MAX];
    uint64_t                reached = 0, references = 0, all = 0, roots = 0, on_disk = 0;
    char                    path[4300];
    const uint64_t          begun = hdx_now_ns();
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    const uint64_t taken = hdx_now_ns() - begun;
    read_manifest(report.path, &m);
    model_reach(&h, MODEL_MAX, live);
    for (unsigned i = 0; i < h.count; i++) {
        reached += live[i];
        roots += h.at[i].is_root;
        all += h.at[i].ref_count;
        references += live[i] ? h.at[i].ref_count + 1u : 0;
    }
    cr_expect(m.objects == h.count && m.records == h.count - 1 && report.objects == h.count);
    cr_expect(m.live_objects == reached && m.unreachable_objects == h.count - reached && reached < h.count);
    cr_expect(m.references == references && report.references == references && report.live_objects == reached);
    cr_expect(m.outbound_values == all && m.all_references == all + h.count);
    cr_expect(m.dangling_references > 0 && m.dangling_references < all);
    cr_expect(m.classes == 8 && m.live_classes > 0 && m.live_classes <= 8 && m.live_loaders == 1);
    cr_expect(m.id_size == 8 && m.compressed_oops == (m.reference_size == 4) && !m.stated_sizes);
    cr_expect(m.dump_number == 1 && m.dumps_in_file == 1 && m.compression == HDX_PLAIN);
    cr_expect(m.dump_size == size_of("a.hprof") && m.file_size == m.dump_size);
    cr_expect(m.record_counts[0][HDX_TOP_LOAD_CLASS] == 8 && m.record_counts[1][HDX_SUB_CLASS] == 8 &&
              m.record_counts[1][HDX_SUB_ROOT_JNI_GLOBAL] == 3);
    cr_expect(m.file_count == HDX_KINDS - HDX_CUT_KINDS && m.warning_count == 0 && m.damage_count == 0);
    cr_expect_str_eq(m.version, "1.0.2");
    cr_expect_str_eq(m.heapdex, HEAPDEX_VERSION);
    cr_expect_str_eq(m.dump_name, "a.hprof");
    expect_written(&m);
    uint64_t wall = 0, cpu = 0;
    for (unsigned i = 0; i < m.step_count; i++) {
        wall += m.steps[i].wall_ns;
        cpu += m.steps[i].cpu_ns;
        cr_expect(strcmp(report.steps[i].name, m.steps[i].name) == 0 && report.steps[i].wall_ns == m.steps[i].wall_ns &&
                  report.steps[i].cpu_ns == m.steps[i].cpu_ns &&
                  report.steps[i].written_bytes == m.steps[i].written_bytes &&
                  report.steps[i].peak_bytes == m.steps[i].peak_bytes);
    }
    cr_expect(m.wall_ns >= wall && m.wall_ns <= taken && m.cpu_ns >= cpu && m.cpu_ns < 1ull << 40);
    cr_expect(m.built_at_ms > 1700000000000u && m.built_at_ms < 1ull << 42 && m.peak_rss > 0);
    cr_expect_eq(report.step_count, 6);
    for (unsigned k = 0; k < HDX_KINDS; k++) {
        (void)snprintf(path, sizeof path, "%s/%s.hdx", report.path, hdx_kind_name((hdx_kind)k));
        cr_expect(m.files[k].bytes == size_of(path) && (m.files[k].bytes > 0) == (m.files[k].name[0] != '\0'), "%s",
                  path);
        on_disk += size_of(path);
    }
    cr_expect(on_disk == report.bytes - size_of("a.hprof.hdx/catalog.mdb") - size_of("a.hprof.hdx/catalog.sum"));
}

/* Steps of builds that were stopped count for the time of the index, whoever made them. */
Test(told, of_time_is_that_of_all_builds)
{
    const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        hdx_index_report report;
        hdx_manifest     before, m;
        hdx_error        err;
        char             path[64];
        uint64_t         wall = 0, cpu = 0, earlier = 0;
        cr_assert(partial_stop(&options, k + 1, &err) == HDX_LIMIT, "%s", err.message);
        read_manifest(".heapdex-part-a.hprof.hdx/checkpoint", &before);
        cr_expect_eq(before.step_count, k + 2);
        const uint64_t begun = hdx_now_ns();
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
        const uint64_t taken = hdx_now_ns() - begun;
        read_manifest(report.path, &m);
        expect_written(&m);
        for (unsigned i = 0; i < before.step_count; i++) {
            earlier += before.steps[i].wall_ns;
            cr_expect(m.steps[i].wall_ns == before.steps[i].wall_ns && m.steps[i].cpu_ns == before.steps[i].cpu_ns);
        }
        for (unsigned i = 0; i < m.step_count; i++) {
            wall += m.steps[i].wall_ns;
            cpu += m.steps[i].cpu_ns;
        }
        cr_expect(m.wall_ns >= wall && m.wall_ns <= earlier + taken && m.cpu_ns >= cpu && m.cpu_ns < 1ull << 40,
                  "step %u", k);
        cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
    }
}

/* ---- damage ---- */
Test(told, of_damage_is_all_in_the_order_of_the_file)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, ""),
                   node = dump_maker_class(m, "app/Node", object, "next:L");
    uint64_t classes[4];
    for (unsigned i = 0; i < 4; i++) { /* from the greatest to the least, and all of them say no place */
        char name[16];
        (void)snprintf(name, sizeof name, "app/C%u", i);
        classes[i] = dump_maker_class_at(m, 0x90000 - 0x100 * i, name, object, "");
        (void)dump_maker_load(m, classes[i], "app/Other");
    }
    const uint64_t a = dump_maker_instance(m, node, NULL);
    for (unsigned i = 0; i < 5; i++) {
        (void)dump_maker_instance(m, node, NULL);
        if (i % 2 == 0)
            (void)dump_maker_instance_at(m, a, node, DUMP_VALUES(object)); /* a second time */
    }
    (void)dump_maker_instance_at(m, 0x99000, 0x88000, NULL); /* of a class that is nowhere */
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, a, 0, 0);
    dump_maker_between(m, "\xee\xee\xee\xee", 4);
    dump_maker_save(m, "b.hprof");
    dump_maker_free(m);
    const hdx_index_options options = { .dump = "b.hprof", .threads = 1 };
    hdx_index_report        report;
    hdx_error               err;
    hdx_catalog            *c;
    unsigned                of_kind[HDX_DAMAGE_KINDS] = { 0 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_catalog_open(hdx_io_system(), report.path, &c, &err) == HDX_OK);
    const hdx_manifest *said = hdx_catalog_manifest(c);
    for (uint64_t i = 0; i < said->damage_count; i++) {
        const hdx_damage *x = &said->damage[i], *y = x + 1;
        of_kind[x->kind]++;
        cr_expect_eq(x->kept_objects, said->records + (x->kind == HDX_DAMAGE_GARBAGE ? 3 : 0));
        if (i + 1 < said->damage_count)
            cr_expect(x->offset < y->offset || (x->offset == y->offset && x->kind < y->kind) ||
                          (x->offset == y->offset && x->kind == y->kind && strcmp(x->expected, y->expected) < 0),
                      "%llu: %s", (unsigned long long)i, x->expected);
    }
    hdx_catalog_close(c);
    cr_expect(of_kind[HDX_DAMAGE_GARBAGE] == 1 && of_kind[HDX_DAMAGE_DUPLICATE] == 7 &&
                  of_kind[HDX_DAMAGE_MISSING] == 1,
              "%u, %u", of_kind[HDX_DAMAGE_DUPLICATE], of_kind[HDX_DAMAGE_MISSING]);
}
