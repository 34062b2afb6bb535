/*
 * test_edges.c - what stands first or last of its kind: the class of most instances, lengths where a column
 * begins to need more room, super classes in a circle, two dumps that differ in one address, and damage that a build
 * has found before it was stopped.
 */
#include "making/partial_build.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[TEST_FOLDER];

static void enter(void)
{
    test_folder_make_fast(folder, "edges");
    cr_assert(chdir(folder) == 0);
}

static void leave(void)
{
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

TestSuite(edges, .init = enter, .fini = leave, .timeout = 100);

static hdx_graph *graph_of(dump_maker *m, unsigned width)
{
    const hdx_index_options options = {
        .dump = "a.hprof", .index_dir = "a.hdx", .threads = 1, .width = width, .force = true
    };
    hdx_index_report report;
    hdx_error        err;
    hdx_graph       *g;
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open("a.hdx", "a.hprof", &g, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_verify(g, true, &err) == HDX_OK, "%s", err.message);
    return g;
}

static hdx_id id_of(const hdx_graph *g, hdx_addr address)
{
    hdx_id id = HDX_NO_ID;
    cr_assert(hdx_graph_find(g, address, &id));
    return id;
}

/* The class object stands in one list of referrers; its instances refer to it, too, and no list says so. */
Test(edges, a_class_object_is_held_by_its_instances_beside_the_one_that_names_it)
{
    for (unsigned width = 32; width <= 64; width += 32)
        for (unsigned which = 0; which < 2; which++) { /* of two classes: the first has most instances */
            dump_maker *m = dump_maker_new(8);
            uint64_t    object = dump_maker_class(m, "java/lang/Object", 0, ""), made[2][30];
            (void)dump_maker_class(m, "java/lang/Class", object, "");
            const uint64_t loader_class = dump_maker_class(m, "java/lang/ClassLoader", object, "");
            const uint64_t holder = dump_maker_class(m, "app/Holder", object, "what:L");
            m->loader = dump_maker_instance(m, loader_class, NULL);
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, m->loader, 0, 0);
            const uint64_t classes[2] = { dump_maker_class(m, "app/Many", object, ""),
                                          dump_maker_class(m, "app/Some", object, "") };
            for (unsigned k = 0; k < 2; k++)
                for (unsigned i = 0; i < 30 - k; i++) {
                    made[k][i] = dump_maker_instance(m, classes[k], NULL);
                    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, made[k][i], 0, 0);
                }
            const uint64_t one = dump_maker_instance(m, holder, DUMP_VALUES(classes[which]));
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, one, 0, 0);
            hdx_graph   *g = graph_of(m, width);
            const hdx_id held = id_of(g, classes[which]), other = id_of(g, classes[1 - which]);
            cr_expect(hdx_graph_class_of(g, id_of(g, made[0][0])) == 0, "app.Many is the first class");
            cr_expect_eq(hdx_graph_dominator(g, held), HDX_VIRTUAL_ROOT, "several roots lead to it");
            cr_expect_eq(hdx_graph_dominator(g, other), HDX_VIRTUAL_ROOT);
            cr_expect_eq(hdx_graph_retained(g, id_of(g, one)), hdx_graph_shallow(g, id_of(g, one)));
            cr_expect_eq(hdx_graph_nearest(g, held), id_of(g, made[which][0]), "the first root that leads to it");
            hdx_graph_close(g);
        }
}

Test(edges, arrays_have_their_length_where_a_column_begins_to_need_more)
{
    const uint32_t lengths[] = { 0, 1, 254, 255, 256, 65533, 65534, 65535, 65536, 65537, 131071 };
    enum { N = sizeof lengths / sizeof *lengths };
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, ""), bytes[N], refs[N];
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    (void)dump_maker_class(m, "[B", object, "");
    const uint64_t array = dump_maker_class(m, "[Ljava.lang.Object;", object, "");
    for (unsigned i = 0; i < N; i++) {
        m->next_id = (m->next_id | 0xfffff) + 1;
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, bytes[i] = dump_maker_primitives(m, 'B', NULL, lengths[i]), 0, 0);
        m->next_id = (m->next_id | 0xfffff) + 1;
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, refs[i] = dump_maker_array(m, array, NULL, lengths[i]), 0, 0);
    }
    hdx_graph *g = graph_of(m, 0);
    for (unsigned i = 0; i < N; i++) {
        cr_expect_eq(hdx_graph_length(g, id_of(g, bytes[i])), lengths[i]);
        cr_expect_eq(hdx_graph_length(g, id_of(g, refs[i])), lengths[i]);
    }
    hdx_graph_close(g);
}

/* Distances tell it, wherever the first object stands (MAT 2.2). */
Test(edges, alignment_is_that_of_distances)
{
    static const uint64_t bases[] = { 0, 4, 8, 16, 20 };
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++)
        for (unsigned step = 16; step <= 512; step *= 2) {
            dump_maker *m = dump_maker_new(8);
            uint64_t    next = 0x100000 + bases[k];
            uint64_t    object = dump_maker_class_at(m, next, "java.lang.Object", 0, "");
            (void)dump_maker_class_at(m, next += step, "java.lang.Class", object, "");
            (void)dump_maker_class_at(m, next += step, "java.lang.ClassLoader", object, "");
            for (unsigned i = 0; i < 5; i++)
                dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL,
                                dump_maker_instance_at(m, next += step * (1 + i % 3), object, NULL), 0, 0);
            const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };
            const uint32_t          want = step > 256 ? 256 : step;
            hdx_counts             *counts;
            hdx_error               err;
            hdx_graph              *g = graph_of(m, 0);
            cr_assert(hdx_counts_take(&options, &counts, &err) == HDX_OK, "%s", err.message);
            cr_expect_eq(hdx_graph_summary_of(g)->alignment, want, "%u from %llu: %u", step,
                         (unsigned long long)bases[k], hdx_graph_summary_of(g)->alignment);
            cr_expect_eq(hdx_counts_summary(counts)->alignment, want, "%u from %llu, counted: %u", step,
                         (unsigned long long)bases[k], hdx_counts_summary(counts)->alignment);
            hdx_counts_free(counts);
            hdx_graph_close(g);
        }
}

/* Places take two bytes each in the smallest of these dumps, and four in the largest. */
Test(edges, objects_are_where_they_are_in_dumps_of_any_size)
{
    static const uint32_t sizes[] = { 100, 60000, 70000, 16700000, 17000000 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        dump_maker    *m = dump_maker_new(8);
        const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
        (void)dump_maker_class(m, "java.lang.Class", object, "");
        (void)dump_maker_class(m, "byte[]", object, "");
        const uint64_t node = dump_maker_class(m, "app.Node", object, "count:I");
        uint64_t       at[100];
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_primitives(m, 'B', NULL, sizes[k]), 0, 0);
        const uint64_t first = dump_maker_mark(m), id = m->next_id = (m->next_id | 0xffffffff) + 1;
        for (unsigned i = 0; i < 100; i++)
            at[i] = dump_maker_instance_at(m, id + 32 * (i * 37 % 100), node, DUMP_VALUES(i));
        for (unsigned i = 0; i < 100; i++)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, at[i], 0, 0);
        size_t len;
        (void)dump_maker_bytes(m, &len);
        const uint64_t heap_at = dump_maker_heap_at(m);
        hdx_graph     *g = graph_of(m, 0);
        for (unsigned i = 0; i < 100; i++) {
            hdx_pos   pos;
            hdx_value v;
            bool      there;
            hdx_error err;
            cr_assert(hdx_graph_position(g, id_of(g, at[i]), &pos));
            cr_expect_eq(pos, heap_at + first + i * (1 + 8 + 4 + 8 + 4 + 4), "%u bytes, object %u: %llu", sizes[k], i,
                         (unsigned long long)pos);
            cr_assert(hdx_graph_field(g, id_of(g, at[i]), NULL, "count", &v, &there, &err) == HDX_OK && there);
            cr_expect_eq(v.as.integer, i);
        }
        hdx_graph_close(g);
    }
}

static void put_be(uint8_t *at, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
}

/* A class without fields whose super class may be anything. */
static void put_class(dump_maker *m, uint64_t id, const char *name, uint64_t super)
{
    uint8_t record[1 + 8 + 4 + 6 * 8 + 4 + 3 * 2] = { 0x20 };
    (void)dump_maker_load(m, id, name);
    put_be(record + 1, id, 8);
    put_be(record + 13, super, 8);
    dump_maker_raw(m, record, sizeof record);
}

/* The first of two records of an id stands, also where the second is of a class and no class was described before. */
Test(edges, a_class_with_the_id_of_an_instance_is_told)
{
    dump_maker *m = dump_maker_new(8);
    uint8_t     record[25] = { 0x21 };
    put_be(record + 1, 0x60000, 8);
    put_be(record + 13, 0x50000, 8);
    dump_maker_raw(m, record, sizeof record);
    put_class(m, 0x60000, "app.Late", 0);
    put_class(m, 0x50000, "java.lang.Object", 0);
    put_class(m, 0x50000, "java.lang.Object", 0); /* once more, word for word */
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x60000, 0, 0);
    hdx_graph               *g = graph_of(m, 0);
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    unsigned                 twice = 0;
    for (uint64_t i = 0; i < s->damage_count; i++)
        twice += s->damage[i].kind == HDX_DAMAGE_DUPLICATE &&
                 strcmp(s->damage[i].expected, "second record for object 0x60000; using the first") == 0;
    cr_expect_eq(twice, 1);
    cr_expect(hdx_graph_class(g, hdx_graph_class_of(g, id_of(g, 0x60000)))->address == 0x50000);
    hdx_graph_close(g);
}

Test(edges, super_classes_in_a_circle_are_cut_and_told_each)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    put_class(m, 0x50000, "app.Itself", 0x50000);
    put_class(m, 0x50100, "app.First", 0x50200);
    put_class(m, 0x50200, "app.Second", 0x50100);
    put_class(m, 0x50300, "app.Hangs", 0x50100);
    uint8_t record[25] = { 0x21 }; /* of a class that nobody described, which is damage of the same place */
    put_be(record + 1, 0x60000, 8);
    put_be(record + 13, 0x70000, 8);
    dump_maker_raw(m, record, sizeof record);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    hdx_graph               *g = graph_of(m, 0);
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    unsigned                 circles = 0, itself = 0, others = 0;
    cr_expect(s->damage_count >= 3);
    for (uint64_t i = 1; i < s->damage_count; i++) {
        const hdx_damage *before = &s->damage[i - 1], *d = &s->damage[i];
        cr_expect(before->offset != d->offset ? before->offset < d->offset
                  : before->kind != d->kind   ? before->kind < d->kind
                                              : strcmp(before->expected, d->expected) < 0,
                  "%s, then %s", before->expected, d->expected);
    }
    for (uint64_t i = 0; i < s->damage_count; i++)
        if (s->damage[i].kind == HDX_DAMAGE_CYCLE) {
            cr_expect(s->damage[i].offset == 0 && s->damage[i].lost_bytes == 0);
            circles++;
            itself +=
                strcmp(s->damage[i].expected, "superclasses of app.Itself form a cycle; the chain ends there") == 0;
            others +=
                strcmp(s->damage[i].expected, "superclasses of app.First form a cycle; the chain ends there") == 0 ||
                strcmp(s->damage[i].expected, "superclasses of app.Second form a cycle; the chain ends there") == 0;
        }
    cr_expect(circles == 2 && itself == 1 && others == 1, "%u circles, %u itself, %u of two", circles, itself, others);
    hdx_graph_close(g);
}

/* A thousand are told; of the others the number. */
Test(edges, damage_beyond_what_is_told_is_counted)
{
    for (unsigned more = 0; more < 3; more++) {
        dump_maker *m = dump_maker_new(8);
        uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
        (void)dump_maker_class(m, "java.lang.Class", object, "");
        (void)dump_maker_class(m, "java.lang.ClassLoader", object, "");
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
        for (unsigned i = 0; i < HDX_DAMAGE_MAX - 1 + more; i++) {
            char name[32];
            (void)snprintf(name, sizeof name, "app.Of%u", i);
            put_class(m, 0x500000 + 0x100 * i, name, 0x500000 + 0x100 * i);
        }
        hdx_graph               *g = graph_of(m, 0);
        const hdx_graph_summary *s = hdx_graph_summary_of(g);
        cr_expect_eq(s->damage_count, HDX_DAMAGE_MAX - 1 + (more > 0), "%llu", (unsigned long long)s->damage_count);
        cr_expect_eq(s->damage_more, more > 0 ? more - 1 : 0, "%llu more", (unsigned long long)s->damage_more);
        hdx_graph_close(g);
    }
}

static void identity_of(const char *path, uint8_t identity[16])
{
    hdx_catalog *c;
    hdx_error    err;
    cr_assert(hdx_catalog_open(hdx_io_system(), path, &c, &err) == HDX_OK, "%s", err.message);
    memcpy(identity, hdx_catalog_manifest(c)->identity, 16);
    hdx_catalog_close(c);
}

Test(edges, two_dumps_that_differ_in_the_address_of_one_class_are_two)
{
    uint8_t identity[4][16];
    for (unsigned which = 0; which < 4; which++) { /* none, the class of most instances, another, the last */
        dump_maker *m = dump_maker_new(8);
        uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
        (void)dump_maker_class(m, "java.lang.Class", object, "");
        for (unsigned k = 0; k < 3; k++) {
            const char *const names[] = { "app.Many", "app.Some", "app.Few" };
            const uint64_t    id = 0x70000 + 0x1000 * k + (which == k + 1 ? 0x80 : 0);
            (void)dump_maker_class_at(m, id, names[k], object, "");
            for (unsigned i = 0; i < 30 - k; i++)
                dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, id, NULL), 0, 0);
        }
        m->time_ms = 1000;
        hdx_graph_close(graph_of(m, 0));
        identity_of("a.hdx", identity[which]);
        for (unsigned before = 0; before < which; before++)
            cr_expect(memcmp(identity[which], identity[before], sizeof identity[which]) != 0, "%u and %u", which,
                      before);
    }
}

/* Sizes that the dump states are not those of a layout. */
Test(edges, a_view_of_an_android_dump_has_no_layout_of_hotspot)
{
    const hdx_index_options options = { .dump = "a.hprof", .index_dir = "a.hdx", .threads = 1 };
    for (unsigned android = 0; android < 2; android++) {
        hdx_index_report report;
        hdx_error        err;
        hdx_view_wanted  want = { .name = "v", .spec = "layout:x", .layout = HDX_LAYOUT_MAT + 1 };
        dump_maker      *m = dump_maker_new(4);
        if (android == 1) {
            m->version = "1.0.3";
            dump_maker_heap_info(m, 'A', "app");
        }
        uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
        (void)dump_maker_class(m, "java.lang.Class", object, "");
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, object, NULL), 0, 0);
        hdx_graph_close(graph_of(m, 0));
        identity_of("a.hdx", want.index);
        const hdx_code code = hdx_view_build(&options, &want, &report, &err);
        cr_expect(code == (android == 1 ? HDX_USAGE : HDX_OK), "%u: %s", android, err.message);
        cr_expect(android == 0 || strstr(err.message, "an Android dump states object sizes") != NULL, "%s",
                  err.message);
    }
}

/* ---- damage found before a stop ---- */
static hdx_damage *damage_of(uint64_t *count)
{
    hdx_graph *g;
    hdx_error  err;
    cr_assert(hdx_graph_open("a.hprof.hdx", "a.hprof", &g, &err) == HDX_OK, "%s", err.message);
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    hdx_damage              *all = calloc(s->damage_count + 1, sizeof *all);
    memcpy(all, s->damage, s->damage_count * sizeof *all);
    *count = s->damage_count;
    hdx_graph_close(g);
    return all;
}

static void write_misfits(unsigned id_size)
{
    dump_maker *m = dump_maker_new(id_size);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, ""), classes[6];
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    for (unsigned k = 0; k < 6; k++) {
        char name[32];
        (void)snprintf(name, sizeof name, "app.Of%u", k);
        classes[k] = dump_maker_class(m, name, object, "next:L count:I");
    }
    const uint64_t array = dump_maker_class(m, "[Ljava.lang.Object;", object, "");
    for (unsigned i = 0; i < 20000; i++) {
        const unsigned k = i % 6;
        uint8_t        record[64] = { 0x21 };
        const uint64_t id = 0x600000 + 32 * i;
        if (i % 11 == 0)
            (void)dump_maker_array_at(m, id, array, DUMP_VALUES(id - 32, 0, id - 64), 3);
        else if (i < 9000 || k == 0 || k == 3) /* those of two classes fit to the end */
            (void)dump_maker_instance_at(m, id, classes[k], DUMP_VALUES(id - 32, i));
        else { /* four bytes more than the fields take */
            const uint32_t len = id_size + 4 + 4;
            uint8_t       *to = record + 1;
            const uint64_t values[] = { id, 0, classes[k], len };
            for (unsigned v = 0; v < 4; v++) {
                const unsigned bytes = v % 2 == 0 ? id_size : 4;
                for (unsigned b = 0; b < bytes; b++)
                    *to++ = (uint8_t)(values[v] >> 8 * (bytes - 1 - b));
            }
            dump_maker_raw(m, record, (size_t)(to - record) + len);
        }
        if (i % 100 == 0)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
        if (i % 500 == 499)
            dump_maker_segment(m);
    }
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
}

/* Begins what a build that goes on has already. */
static unsigned begun;
static int      count_begun(hdx_io *io, const char *path)
{
    (void)io;
    begun += strstr(path, "references.tmp") != NULL;
    return hdx_io_system()->create(hdx_io_system(), path);
}

Test(edges, records_that_do_not_fit_are_told_after_a_stop_as_without_one)
{
    for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
        const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };
        hdx_io                  io = *hdx_io_system();
        const hdx_build_doors   doors = { .io = &io };
        hdx_index_report        report;
        hdx_error               err;
        char                    path[96];
        uint64_t                want_count, went_on = 0;
        io.create = count_begun;
        partial_build want = { .count = 0 };
        write_misfits(id_size);
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
        partial_read_folder(&want, "a.hprof.hdx");
        hdx_damage *wanted = damage_of(&want_count);
        unsigned    layouts = 0;
        for (uint64_t i = 0; i < want_count; i++)
            layouts += wanted[i].kind == HDX_DAMAGE_LAYOUT;
        cr_expect_eq(layouts, 4);
        cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
        for (unsigned n = 0;; n++) {
            const hdx_code code = partial_interrupt(&options, n, &err);
            cr_assert(code == HDX_OK || code == HDX_CANCELLED, "call %u: %s", n, err.message);
            const bool there = access(".heapdex-part-a.hprof.hdx/columns.tmp", F_OK) == 0;
            went_on += there;
            begun = 0;
            cr_assert(code == HDX_OK || hdx_index_build_through(&doors, &options, &report, &err) == HDX_OK, "%s",
                      err.message);
            cr_expect(!there || begun == 0, "call %u: it begins anew", n);
            uint64_t      count;
            partial_build made = { .count = 0 };
            hdx_damage   *all = damage_of(&count);
            cr_assert(count == want_count, "call %u: %llu entries", n, (unsigned long long)count);
            for (uint64_t i = 0; i < count; i++)
                cr_expect(memcmp(&all[i], &wanted[i], sizeof *all) == 0, "call %u: %s, want %s", n, all[i].expected,
                          wanted[i].expected);
            partial_read_folder(&made, "a.hprof.hdx");
            for (unsigned i = 0; i < want.count; i++) {
                const partial_file *f = partial_find(&made, want.files[i].name);
                cr_expect(strstr(want.files[i].name, ".hdx") == NULL || (f != NULL && f->len == want.files[i].len &&
                                                                         memcmp(f->at, want.files[i].at, f->len) == 0),
                          "call %u: %s", n, want.files[i].name);
            }
            partial_free(&made);
            free(all);
            cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
            if (code == HDX_OK)
                break;
        }
        cr_expect(went_on > 2, "%llu stops in the second pass", (unsigned long long)went_on);
        partial_free(&want);
        free(wanted);
    }
}

Test(edges, damage_is_that_of_a_build_in_one_go_behind_each_checkpoint)
{
    const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };
    hdx_index_report        report;
    hdx_error               err;
    char                    path[96];
    uint64_t                want_count, count;
    write_misfits(8);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    hdx_damage *want = damage_of(&want_count);
    cr_expect(want_count > 3);
    for (unsigned k = 1; k <= PARTIAL_STEPS; k++) {
        cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
        cr_assert(partial_stop(&options, k, &err) == HDX_LIMIT, "step %u: %s", k, err.message);
        cr_assert(access(".heapdex-part-a.hprof.hdx/checkpoint/state", F_OK) == 0);
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "step %u: %s", k, err.message);
        hdx_damage *all = damage_of(&count);
        cr_expect(count == want_count && memcmp(all, want, count * sizeof *all) == 0, "step %u: %llu damages", k,
                  (unsigned long long)count);
        free(all);
    }
    free(want);
}

/* ---- an index that is named in the place of a dump ---- */
Test(edges, an_index_that_is_named_is_of_the_dump_that_is_asked_for)
{
    const struct {
        hdx_index_options options;
        const char       *message; /* NULL: it is used */
    } cases[] = {
        { { .dump = "a.hdx", .threads = 1 }, NULL },
        { { .dump = "a.hdx/", .threads = 1, .dump_number = 1 }, NULL },
        { { .dump = "a.hdx", .threads = 1, .dump_number = 2 }, "is the index of dump number 1, not 2" },
        { { .dump = "a.hdx", .threads = 1, .force = true }, "is an index; --force needs a dump" },
        { { .dump = "a.hdx", .threads = 1, .index_dir = "b" }, "is an index; --index-dir needs a dump" },
    };
    dump_maker *m = dump_maker_new(8);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "java.lang.Object", 0, ""), 0, 0);
    hdx_graph_close(graph_of(m, 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_index_report report;
        hdx_error        err = { .code = HDX_OK };
        const hdx_code   code = hdx_index_build(&cases[i].options, &report, &err);
        cr_expect_eq(code, cases[i].message == NULL ? HDX_OK : HDX_USAGE, "case %zu: %s", i, err.message);
        if (cases[i].message == NULL)
            cr_expect(report.reused && strcmp(report.path, "a.hdx") == 0 && report.bytes > 0, "case %zu", i);
        else
            cr_expect(strcmp(err.message, cases[i].message) == 0 && strcmp(err.where, "a.hdx") == 0, "%s: %s",
                      err.where, err.message);
    }
}

/* ---- what there is no room for ---- */
Test(edges, a_budget_of_a_few_bytes_is_one)
{
    write_misfits(8);
    for (uint64_t memory = 1; memory < 6; memory++) {
        const hdx_index_options options = { .dump = "a.hprof", .threads = 1, .memory = memory };
        hdx_index_report        report;
        hdx_error               err;
        cr_expect(hdx_index_build(&options, &report, &err) == HDX_LIMIT, "%llu bytes", (unsigned long long)memory);
    }
}

static int no_room(hdx_io *io, const char *path)
{
    return strstr(path, "scan.tmp") != NULL ? -28 /* ENOSPC */ : hdx_io_system()->create(io, path);
}

Test(edges, what_was_read_and_cannot_be_kept_is_an_error_that_names_the_file)
{
    hdx_io                  io = *hdx_io_system();
    const hdx_build_doors   doors = { .io = &io, .every_step = true };
    const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };
    hdx_index_report        report;
    hdx_error               err;
    io.create = no_room;
    write_misfits(8);
    cr_expect(hdx_index_build_through(&doors, &options, &report, &err) == HDX_IO);
    cr_expect(strstr(err.where, "scan.tmp") != NULL &&
                  strcmp(err.message, "cannot create: No space left on device") == 0,
              "%s: %s", err.where, err.message);
}
