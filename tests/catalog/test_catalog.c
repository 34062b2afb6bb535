/* test_catalog.c - what is put into a catalog comes out of it, and what was changed on the way does not. */
#include "catalog/catalog.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[TEST_FOLDER];

static void make_folder(void) { test_folder_make(folder, "catalog"); }
static void remove_folder(void) { test_folder_remove(folder); }

TestSuite(catalog, .init = make_folder, .fini = remove_folder);

static hdx_text text(const char *s) { return (hdx_text){ s, (uint32_t)strlen(s) }; }

static hdx_manifest sample_manifest(void)
{
    hdx_manifest m = { .format = HDX_CATALOG_FORMAT,
                       .heapdex = "0.1.0",
                       .version = "1.0.2",
                       .id_size = 8,
                       .objects = UINT64_MAX / 2,
                       .records = 3 };
    memcpy(m.identity, "0123456789abcdef", 16);
    return m;
}

/* ---- helpers that must not fail ---- */

static hdx_catalog_writer *create(void)
{
    hdx_catalog_writer *w = NULL;
    hdx_error           err = { 0 };
    cr_assert(eq(int, hdx_catalog_create(hdx_io_system(), folder, NULL, &w, &err), HDX_OK), "%s", err.message);
    return w;
}

static void commit(hdx_catalog_writer *w)
{
    hdx_manifest m = sample_manifest();
    hdx_error    err = { 0 };
    cr_assert(eq(int, hdx_catalog_put_manifest(w, &m, &err), HDX_OK), "%s", err.message);
    cr_assert(eq(int, hdx_catalog_commit(w, &err), HDX_OK), "%s", err.message);
}

static hdx_catalog *reopen(void)
{
    hdx_catalog *c = NULL;
    hdx_error    err = { 0 };
    cr_assert(eq(int, hdx_catalog_open(hdx_io_system(), folder, &c, &err), HDX_OK), "%s: %s", err.where, err.message);
    return c;
}

static void expect_text(hdx_text is, hdx_text should)
{
    cr_expect(eq(u32, is.len, should.len));
    cr_expect(is.len == should.len && (is.len == 0 || memcmp(is.at, should.at, is.len) == 0));
}

static void expect_class(const hdx_class *a, const hdx_class *b)
{
    expect_text(a->name, b->name);
    cr_expect(eq(u64, a->address, b->address));
    cr_expect(eq(u64, a->id, b->id));
    cr_expect(eq(u32, a->number, b->number));
    cr_expect(eq(u32, a->super, b->super));
    cr_expect(eq(u64, a->super_address, b->super_address));
    cr_expect(eq(u64, a->loader, b->loader));
    cr_expect(eq(u64, a->signers, b->signers));
    cr_expect(eq(u64, a->domain, b->domain));
    cr_expect(eq(int, a->kind, b->kind));
    cr_expect(eq(int, a->element_type, b->element_type));
    cr_expect(eq(int, a->flags, b->flags));
    cr_expect(eq(u32, a->stated_size, b->stated_size));
    cr_expect(eq(u64, a->instance_size, b->instance_size));
    cr_expect(eq(u64, a->class_shallow, b->class_shallow));
    cr_expect(eq(u64, a->instances, b->instances));
    cr_expect(eq(u64, a->live_instances, b->live_instances));
    cr_expect(eq(u64, a->bytes, b->bytes));
    cr_expect(eq(u64, a->live_bytes, b->live_bytes));
    cr_assert(eq(u32, a->field_count, b->field_count));
    cr_assert(eq(u32, a->static_count, b->static_count));
    for (uint32_t i = 0; i < a->field_count; i++) {
        expect_text(a->fields[i].name, b->fields[i].name);
        cr_expect(eq(int, a->fields[i].type, b->fields[i].type));
    }
    for (uint32_t i = 0; i < a->static_count; i++) {
        expect_text(a->statics[i].name, b->statics[i].name);
        cr_expect(eq(int, a->statics[i].type, b->statics[i].type));
    }
}

/* ---- content that goes through ---- */

Test(catalog, is_not_found_in_an_empty_folder)
{
    hdx_catalog *c;
    hdx_error    err;
    cr_expect(eq(int, hdx_catalog_open(hdx_io_system(), folder, &c, &err), HDX_NOT_FOUND));
    cr_expect(c == NULL);
    cr_expect(eq(int, hdx_catalog_open(hdx_io_system(), "/nonexistent/folder", &c, NULL), HDX_NOT_FOUND));
}

Test(catalog, holds_nothing_when_nothing_was_put)
{
    commit(create());
    hdx_catalog          *c = reopen();
    const hdx_class      *classes;
    const hdx_root       *roots;
    const hdx_thread     *threads;
    const hdx_heap_space *heaps;
    hdx_root              root;
    uint32_t              n;
    uint64_t              count;
    cr_expect(eq(int, hdx_catalog_classes(c, &classes, &n, NULL), HDX_OK));
    cr_expect(eq(u32, n, 0));
    cr_expect(eq(int, hdx_catalog_roots(c, &roots, &count, NULL), HDX_OK));
    cr_expect(eq(u64, count, 0));
    cr_expect(eq(int, hdx_catalog_threads(c, &threads, &count, NULL), HDX_OK));
    cr_expect(eq(u64, count, 0));
    cr_expect(eq(int, hdx_catalog_heaps(c, &heaps, &count, NULL), HDX_OK));
    cr_expect(eq(u64, count, 0));
    cr_expect(eq(int, hdx_catalog_roots_of(c, 7, &root, 1, &count, NULL), HDX_OK));
    cr_expect(eq(u64, count, 0));
    hdx_catalog_close(c);
}

Test(catalog, leaves_only_its_two_files)
{
    char           name[128];
    struct dirent *entry;
    unsigned       files = 0;
    commit(create());
    DIR *d = opendir(folder);
    while ((entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.') {
            files++;
            cr_expect(strcmp(entry->d_name, "catalog.mdb") == 0 || strcmp(entry->d_name, "catalog.sum") == 0, "%s",
                      entry->d_name);
        }
    (void)closedir(d);
    cr_expect(eq(u32, files, 2));
    (void)snprintf(name, sizeof name, "%s/catalog.mdb", folder);
    struct stat s;
    cr_assert(stat(name, &s) == 0);
    cr_expect(le(u64, (uint64_t)s.st_size, 5 * 4096));
}

Test(catalog, keeps_every_member_of_the_manifest)
{
    hdx_manifest m = sample_manifest();
    hdx_damage   damage[3] = { { HDX_DAMAGE_TRUNCATED, 1, 2, 3, "INSTANCE_DUMP", "48 bytes, 12 are left" },
                               { 0 },
                               { HDX_DAMAGE_CRC, UINT64_MAX, 0, UINT64_MAX, "gzip member", "" } };
    uint64_t    *words[] = { &m.created_ms,
                             &m.dump_size,
                             &m.records,
                             &m.live_objects,
                             &m.live_bytes,
                             &m.unreachable_objects,
                             &m.unreachable_bytes,
                             &m.references,
                             &m.all_references,
                             &m.outbound_values,
                             &m.classes,
                             &m.live_classes,
                             &m.live_loaders,
                             &m.gc_roots,
                             &m.roots,
                             &m.threads,
                             &m.dangling_references,
                             &m.dangling_roots,
                             &m.specials,
                             &m.dominators,
                             &m.damage_more,
                             &m.file_size,
                             &m.file_mtime_ns,
                             &m.file_inode,
                             &m.built_at_ms,
                             &m.wall_ns,
                             &m.cpu_ns,
                             &m.peak_rss };
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        *words[i] = i == 3 ? UINT64_MAX : 1000u * i + 1;
    m.dump_number = 2;
    m.dumps_in_file = 3;
    m.reference_size = 4;
    m.alignment = 8;
    m.compressed_oops = true;
    m.step = 4;
    m.compression = 1;
    memset(m.jvm, 'j', sizeof m.jvm - 1);
    strcpy(m.dump_name, "app \xff.hprof");
    memcpy(m.file_sample, "fedcba9876543210", 16);
    m.record_counts[0][0xff] = 7;
    m.record_counts[1][0x21] = UINT64_MAX;
    m.file_count = 5;
    strcpy(m.files[0].name, "address");
    m.files[0].bytes = 99;
    m.files[0].sum = 0xdeadbeef;
    strcpy(m.files[4].name, "fifteen letters");
    m.damage = damage;
    m.damage_count = 3;
    m.warning_count = 2;
    strcpy(m.warnings[0], "first");
    m.step_count = HDX_STEPS_MAX;
    for (unsigned i = 0; i < HDX_STEPS_MAX; i++) {
        (void)snprintf(m.steps[i].name, sizeof m.steps[i].name, "step %u", i);
        m.steps[i].wall_ns = i;
        m.steps[i].written_bytes = UINT64_MAX - i;
    }
    hdx_catalog_writer *w = create();
    cr_assert(eq(int, hdx_catalog_put_manifest(w, &m, NULL), HDX_OK));
    cr_assert(eq(int, hdx_catalog_commit(w, NULL), HDX_OK));
    hdx_catalog *c = reopen();
    hdx_manifest is = *hdx_catalog_manifest(c);
    cr_assert(eq(u64, is.damage_count, 3));
    for (unsigned i = 0; i < 3; i++) {
        cr_expect(eq(int, is.damage[i].kind, damage[i].kind));
        cr_expect(eq(u64, is.damage[i].offset, damage[i].offset));
        cr_expect(eq(u64, is.damage[i].kept_objects, damage[i].kept_objects));
        cr_expect(eq(u64, is.damage[i].lost_bytes, damage[i].lost_bytes));
        cr_expect(eq(str, is.damage[i].record, damage[i].record));
        cr_expect(eq(str, is.damage[i].expected, damage[i].expected));
    }
    is.damage = damage;
    cr_expect(memcmp(&is, &m, sizeof m) == 0);
    hdx_catalog_close(c);
}

static void put_sample_classes(hdx_catalog_writer *w, hdx_class classes[4], hdx_field fields[4])
{
    static const char nul[] = "a\0b", wrong[] = "\xff\xc3 \xed\xa0\x80";
    fields[0] = (hdx_field){ text("value"), 2 };
    fields[1] = (hdx_field){ { nul, 3 }, 11 };
    fields[2] = (hdx_field){ { wrong, 6 }, 255 };
    fields[3] = (hdx_field){ text(""), 0 };
    classes[0] = (hdx_class){ .name = text("com.acme.Äpfel$1"),
                              .address = 0x7f3a10,
                              .id = 12,
                              .number = 0,
                              .super = 2,
                              .super_address = 0x10,
                              .loader = UINT64_MAX,
                              .signers = 5,
                              .domain = 6,
                              .kind = HDX_INSTANCE,
                              .flags = HDX_CLASS_INVENTED,
                              .stated_size = UINT32_MAX,
                              .instance_size = 24,
                              .class_shallow = 99,
                              .instances = 1000000,
                              .live_instances = 999,
                              .bytes = UINT64_MAX,
                              .live_bytes = 3,
                              .field_count = 4,
                              .static_count = 2,
                              .fields = fields,
                              .statics = fields + 1 };
    classes[1] = (hdx_class){ .name = text(""),
                              .id = HDX_NO_ID,
                              .number = 1,
                              .super = HDX_NO_CLASS,
                              .kind = HDX_PRIMITIVE_ARRAY,
                              .element_type = 8 };
    classes[2] = (hdx_class){
        .name = text("java.lang.Object"), .id = 0, .number = 2, .super = HDX_NO_CLASS, .kind = HDX_CLASS_OBJECT
    };
    classes[3] =
        (hdx_class){ .name = text("value"), .id = 3, .number = 3, .super = 0, .static_count = 1, .statics = fields };
    for (unsigned i = 0; i < 4; i++)
        cr_assert(eq(int, hdx_catalog_put_class(w, &classes[i], NULL), HDX_OK));
}

Test(catalog, keeps_classes_with_odd_names)
{
    hdx_class           classes[4];
    hdx_field           fields[4];
    const hdx_class    *is;
    uint32_t            count;
    hdx_catalog_writer *w = create();
    put_sample_classes(w, classes, fields);
    commit(w);
    hdx_catalog *c = reopen();
    cr_assert(eq(int, hdx_catalog_classes(c, &is, &count, NULL), HDX_OK));
    cr_assert(eq(u32, count, 4));
    for (unsigned i = 0; i < 4; i++)
        expect_class(&is[i], &classes[i]);
    hdx_catalog_close(c);
}

Test(catalog, refuses_classes_out_of_order)
{
    hdx_class           one = { .number = 1, .super = HDX_NO_CLASS, .id = HDX_NO_ID };
    hdx_catalog_writer *w = create();
    cr_expect(eq(int, hdx_catalog_put_class(w, &one, NULL), HDX_USAGE));
    hdx_catalog_abandon(w);
}

Test(catalog, keeps_many_classes_beyond_the_first_map_and_many_transactions)
{
    enum { CLASSES = 1200, FIELDS = 4000 };
    hdx_field *fields = calloc(FIELDS, sizeof *fields);
    char(*names)[16] = calloc(FIELDS, sizeof *names), (*class_names)[32] = calloc(CLASSES, sizeof *class_names);
    char                name[32];
    const hdx_class    *is;
    uint32_t            count;
    hdx_catalog_writer *w = create();
    for (unsigned i = 0; i < FIELDS; i++) {
        (void)snprintf(names[i], sizeof *names, "field%u", i * 7919);
        fields[i] = (hdx_field){ text(names[i]), 2 };
    }
    for (unsigned i = 0; i < CLASSES;
         i++) { /* 1200 values of some 10 KB: two transactions, and more pages than the first map is trusted with */
        (void)snprintf(class_names[i], sizeof *class_names, "com.acme.Class%u", i);
        hdx_class one = { .name = text(class_names[i]),
                          .number = i,
                          .id = i,
                          .super = i == 0 ? HDX_NO_CLASS : i - 1,
                          .field_count = FIELDS - i,
                          .fields = fields + i };
        cr_assert(eq(int, hdx_catalog_put_class(w, &one, NULL), HDX_OK));
    }
    commit(w);
    hdx_catalog *c = reopen();
    cr_assert(eq(int, hdx_catalog_classes(c, &is, &count, NULL), HDX_OK));
    cr_assert(eq(u32, count, CLASSES));
    for (unsigned i = 0; i < CLASSES; i += 97) {
        (void)snprintf(name, sizeof name, "com.acme.Class%u", i);
        expect_text(is[i].name, text(name));
        cr_assert(eq(u32, is[i].field_count, FIELDS - i));
        expect_text(is[i].fields[0].name, text(names[i]));
        expect_text(is[i].fields[FIELDS - i - 1].name, text(names[FIELDS - 1]));
    }
    hdx_catalog_close(c);
    free(fields);
    free(names);
    free(class_names);
}

Test(catalog, does_not_grow_with_the_number_of_times_a_long_name_is_borne)
{
    enum { LONG = 1 << 20, FIELDS = 65535 };
    char               *name = malloc(LONG);
    hdx_field          *fields = calloc(FIELDS, sizeof *fields);
    const hdx_class    *is;
    uint32_t            count;
    char                path[128];
    struct stat         s;
    hdx_catalog_writer *w = create();
    memset(name, 'n', LONG);
    for (unsigned i = 0; i < FIELDS; i++)
        fields[i] = (hdx_field){ { name, LONG }, 2 };
    hdx_class one = {
        .name = { name, LONG - 1 }, .super = HDX_NO_CLASS, .id = HDX_NO_ID, .static_count = FIELDS, .statics = fields
    };
    cr_assert(eq(int, hdx_catalog_put_class(w, &one, NULL), HDX_OK));
    commit(w);
    (void)snprintf(path, sizeof path, "%s/catalog.mdb", folder);
    cr_assert(stat(path, &s) == 0);
    cr_expect(lt(u64, (uint64_t)s.st_size, 3u << 20));
    hdx_catalog *c = reopen();
    cr_assert(eq(int, hdx_catalog_classes(c, &is, &count, NULL), HDX_OK));
    expect_text(is[0].statics[FIELDS - 1].name, (hdx_text){ name, LONG });
    hdx_catalog_close(c);
    free(fields);
    free(name);
}

/* ---- roots ---- */

static void expect_roots(const hdx_root *is, const hdx_root *should, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        cr_assert(is[i].object == should[i].object && is[i].type == should[i].type &&
                      is[i].thread == should[i].thread && is[i].frame == should[i].frame,
                  "root %llu", (unsigned long long)i);
}

static int by_all(const void *pa, const void *pb)
{
    const hdx_root *a = pa, *b = pb;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static void check_roots(hdx_root *roots, uint64_t count)
{
    const hdx_root *is;
    uint64_t        n;
    hdx_root       *some = calloc(count + 1, sizeof *some);
    qsort(roots, count, sizeof *roots, by_all);
    hdx_catalog_writer *w = create();
    cr_assert(eq(int, hdx_catalog_put_roots(w, roots, count, NULL), HDX_OK));
    commit(w);
    hdx_catalog *c = reopen();
    for (unsigned decoded = 0; decoded < 2; decoded++) { /* searched in chunks, then in the array */
        for (uint64_t i = 0, end; i < count; i = end) {
            for (end = i; end < count && roots[end].object == roots[i].object;)
                end++;
            if (i % 37 != 0 && end - i < 100)
                continue;
            cr_assert(eq(int, hdx_catalog_roots_of(c, roots[i].object, some, count, &n, NULL), HDX_OK));
            cr_assert(eq(u64, n, end - i));
            expect_roots(some, roots + i, n);
            cr_assert(eq(int, hdx_catalog_roots_of(c, roots[i].object, some, 1, &n, NULL), HDX_OK));
            cr_assert(eq(u64, n, end - i));
            if (end == count || roots[end].object > roots[i].object + 1) {
                cr_assert(eq(int, hdx_catalog_roots_of(c, roots[i].object + 1, some, count, &n, NULL), HDX_OK));
                cr_assert(eq(u64, n, 0));
            }
        }
        cr_assert(eq(int, hdx_catalog_roots(c, &is, &n, NULL), HDX_OK));
        cr_assert(eq(u64, n, count));
        expect_roots(is, roots, count);
    }
    hdx_catalog_close(c);
    free(some);
}

Test(catalog, finds_seventy_thousand_roots_of_one_object)
{
    enum { COUNT = 70000 + 500 };
    hdx_root *roots = calloc(COUNT, sizeof *roots);
    for (unsigned i = 0; i < 70000; i++)
        roots[i] = (hdx_root){ 500, HDX_ROOT_JAVA_LOCAL, i % 300, (int32_t)i - 1 };
    for (unsigned i = 70000; i < COUNT; i++)
        roots[i] = (hdx_root){ (i - 70000) * 3, HDX_ROOT_SYSTEM_CLASS, HDX_NO_ID, -1 };
    check_roots(roots, COUNT);
    free(roots);
}

Test(catalog, finds_random_roots)
{
    srand(20240501); /* the seed */
    for (unsigned round = 0; round < 6; round++) {
        uint64_t  count = round == 0 ? 1 : (uint64_t)rand() % 20000;
        uint64_t  spread = round % 2 ? 50 : 1ull << 40;
        hdx_root *roots = calloc(count + 1, sizeof *roots);
        for (uint64_t i = 0; i < count; i++)
            roots[i] = (hdx_root){ ((uint64_t)rand() << 20 ^ (uint64_t)rand()) % spread,
                                   (hdx_root_type)(rand() % HDX_ROOT_TYPES), rand() % 2 ? HDX_NO_ID : (uint64_t)rand(),
                                   rand() % 2 ? -1 : rand() };
        check_roots(roots, count);
        free(roots);
        remove_folder();
        make_folder();
    }
}

Test(catalog, refuses_roots_that_are_not_sorted)
{
    hdx_root            roots[2] = { { 2, 0, HDX_NO_ID, -1 }, { 1, 0, HDX_NO_ID, -1 } };
    hdx_catalog_writer *w = create();
    cr_expect(eq(int, hdx_catalog_put_roots(w, roots, 2, NULL), HDX_USAGE));
    hdx_catalog_abandon(w);
}

/* ---- threads, heaps ---- */

Test(catalog, keeps_a_thread_of_ten_thousand_frames)
{
    enum { FRAMES = 10000 };
    hdx_frame *frames = calloc(FRAMES, sizeof *frames);
    char(*names)[24] = calloc(FRAMES, sizeof *names);
    const hdx_thread *is;
    uint64_t          count;
    for (unsigned i = 0; i < FRAMES; i++) {
        (void)snprintf(names[i], sizeof *names, "method%u", i);
        frames[i] = (hdx_frame){ text("com.acme.Deep"), text(names[i]), text("()V"),
                                 i % 2 ? text("Deep.java") : text(""), (int32_t)i - 3 };
    }
    frames[9].line = INT32_MAX;
    frames[10].line = INT32_MIN;
    hdx_thread threads[3] = { { 5, 1, FRAMES, frames }, { HDX_NO_ID, UINT32_MAX, 0, NULL }, { 0, 0, 1, frames + 3 } };
    hdx_catalog_writer *w = create();
    cr_assert(eq(int, hdx_catalog_put_threads(w, threads, 3, NULL), HDX_OK));
    commit(w);
    hdx_catalog *c = reopen();
    cr_assert(eq(int, hdx_catalog_threads(c, &is, &count, NULL), HDX_OK));
    cr_assert(eq(u64, count, 3));
    for (unsigned t = 0; t < 3; t++) {
        cr_expect(eq(u64, is[t].object, threads[t].object));
        cr_expect(eq(u32, is[t].serial, threads[t].serial));
        cr_assert(eq(u32, is[t].frame_count, threads[t].frame_count));
        for (uint32_t i = 0; i < is[t].frame_count; i++) {
            const hdx_frame *a = &is[t].frames[i], *b = &threads[t].frames[i];
            cr_assert(hdx_text_same(a->class_name, b->class_name) && hdx_text_same(a->method, b->method) &&
                      hdx_text_same(a->signature, b->signature) && hdx_text_same(a->source, b->source) &&
                      a->line == b->line);
        }
    }
    hdx_catalog_close(c);
    free(frames);
    free(names);
}

/* Those of a pool stand at one place: their frames are one array. A part of it is another stack. */
Test(catalog, keeps_the_stack_of_each_of_many_threads_that_share_their_frames)
{
    enum { FRAMES = 40, THREADS = 3000 };
    hdx_frame        *frames = calloc(FRAMES, sizeof *frames);
    hdx_thread       *threads = calloc(THREADS, sizeof *threads);
    const hdx_thread *is;
    uint64_t          count;
    for (unsigned i = 0; i < FRAMES; i++)
        frames[i] = (hdx_frame){ text("com.acme.Pool"), i % 2 ? text("run") : text("park"), text("()V"),
                                 text("Pool.java"), (int32_t)i };
    for (unsigned t = 0; t < THREADS; t++) /* all, the first five, all but one: one array, three stacks */
        threads[t] = (hdx_thread){ t, t,
                                   t % 3 == 0   ? FRAMES
                                   : t % 3 == 1 ? 5
                                                : FRAMES - 1,
                                   t % 3 == 2 ? frames + 1 : frames };
    hdx_catalog_writer *w = create();
    cr_assert(eq(int, hdx_catalog_put_threads(w, threads, THREADS, NULL), HDX_OK));
    commit(w);
    hdx_catalog *c = reopen();
    cr_assert(eq(int, hdx_catalog_threads(c, &is, &count, NULL), HDX_OK));
    cr_assert(eq(u64, count, THREADS));
    for (unsigned t = 0; t < THREADS; t++) {
        cr_assert(eq(u64, is[t].object, t));
        cr_assert(eq(u32, is[t].frame_count, threads[t].frame_count));
        for (uint32_t i = 0; i < is[t].frame_count; i++)
            cr_assert(is[t].frames[i].line == threads[t].frames[i].line &&
                      hdx_text_same(is[t].frames[i].method, threads[t].frames[i].method));
    }
    hdx_catalog_close(c);
    free(frames);
    free(threads);
}

Test(catalog, keeps_heaps)
{
    hdx_heap_space heaps[2] = { { 'A', text("app"), 1, 2, 3, UINT64_MAX }, { UINT32_MAX, text(""), 0, 0, 0, 0 } };
    const hdx_heap_space *is;
    uint64_t              count;
    hdx_catalog_writer   *w = create();
    cr_assert(eq(int, hdx_catalog_put_heaps(w, heaps, 2, NULL), HDX_OK));
    commit(w);
    hdx_catalog *c = reopen();
    cr_assert(eq(int, hdx_catalog_heaps(c, &is, &count, NULL), HDX_OK));
    cr_assert(eq(u64, count, 2));
    for (unsigned i = 0; i < 2; i++) {
        cr_expect(eq(u32, is[i].number, heaps[i].number));
        expect_text(is[i].name, heaps[i].name);
        cr_expect(eq(u64, is[i].live_bytes, heaps[i].live_bytes));
        cr_expect(eq(u64, is[i].bytes, heaps[i].bytes));
    }
    hdx_catalog_close(c);
}

/* ---- files ---- */

static uint8_t *slurp(const char *name, size_t *len)
{
    char        path[128];
    struct stat s;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    cr_assert(stat(path, &s) == 0);
    uint8_t *bytes = malloc((size_t)s.st_size + 1);
    FILE    *f = fopen(path, "rb");
    *len = fread(bytes, 1, (size_t)s.st_size, f);
    (void)fclose(f);
    return bytes;
}

static void spill(const char *name, const uint8_t *bytes, size_t len)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len);
    (void)fclose(f);
}

static void put_small(hdx_catalog_writer *w)
{
    hdx_class  classes[4];
    hdx_field  fields[4];
    hdx_frame  frame = { text("com.acme.Main"), text("main"), text("([Ljava/lang/String;)V"), text("Main.java"), 17 };
    hdx_thread thread = { 5, 1, 1, &frame };
    hdx_root   roots[2] = { { 1, HDX_ROOT_SYSTEM_CLASS, HDX_NO_ID, -1 }, { 5, HDX_ROOT_JAVA_LOCAL, 5, 0 } };
    hdx_heap_space heap = { 'A', text("app"), 1, 2, 3, 4 };
    put_sample_classes(w, classes, fields);
    cr_assert(eq(int, hdx_catalog_put_roots(w, roots, 2, NULL), HDX_OK));
    cr_assert(eq(int, hdx_catalog_put_threads(w, &thread, 1, NULL), HDX_OK));
    cr_assert(eq(int, hdx_catalog_put_heaps(w, &heap, 1, NULL), HDX_OK));
}

static void expect_damaged(const char *what, size_t at)
{
    hdx_catalog *c;
    hdx_error    err = { 0 };
    hdx_code     code = hdx_catalog_open(hdx_io_system(), folder, &c, &err);
    cr_assert(eq(int, code, HDX_DAMAGED), "%s at %zu: code %d, %s", what, at, (int)code, err.message);
    cr_assert(strncmp(err.where, "catalog", 7) == 0);
}

Test(catalog, notices_every_flip_and_every_cut_of_its_files)
{
    static const char *const names[] = { "catalog.mdb", "catalog.sum" };
    hdx_catalog_writer      *w = create();
    put_small(w);
    commit(w);
    for (unsigned f = 0; f < 2; f++) {
        size_t   len;
        uint8_t *bytes = slurp(names[f], &len);
        for (size_t i = 0; i < len; i += f == 0 ? 37 : 1) {
            bytes[i] ^= (uint8_t)(1u << i % 8);
            spill(names[f], bytes, len);
            expect_damaged("flip", i);
            bytes[i] ^= (uint8_t)(1u << i % 8);
        }
        for (size_t i = 0; i < len; i += f == 0 ? 1021 : 1) {
            spill(names[f], bytes, i);
            expect_damaged("cut", i);
        }
        spill(names[f], bytes, len);
        uint8_t *longer = calloc(1, len + 1);
        memcpy(longer, bytes, len);
        spill(names[f], longer, len + 1);
        expect_damaged("longer", len);
        free(longer);
        spill(names[f], bytes, len);
        free(bytes);
    }
    hdx_catalog_close(reopen());
    char path[128];
    (void)snprintf(path, sizeof path, "%s/catalog.sum", folder);
    (void)remove(path);
    expect_damaged("no sum", 0);
}

Test(catalog, of_another_format_is_not_found_and_says_which)
{
    commit(create());
    size_t    len;
    hdx_error err;
    uint8_t  *bytes = slurp("catalog.sum", &len);
    hdx_put32(bytes + 8, 77);
    hdx_put32(bytes + 44, hdx_crc32c(0, bytes, 44));
    spill("catalog.sum", bytes, len);
    hdx_catalog *c;
    cr_expect(eq(int, hdx_catalog_open(hdx_io_system(), folder, &c, &err), HDX_NOT_FOUND));
    cr_expect(strstr(err.message, "format 77") != NULL);
    free(bytes);
}

/* Opening a pipe would wait for its writer. */
Test(catalog, whose_files_are_pipes_is_damaged, .timeout = 20)
{
    static const char *const names[] = { "catalog.mdb", "catalog.sum" };
    char                     path[128], away[128];
    commit(create());
    for (unsigned i = 0; i < 2; i++) {
        hdx_catalog *c;
        hdx_error    err = { 0 };
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)snprintf(away, sizeof away, "%s/away", folder);
        cr_assert(rename(path, away) == 0 && mkfifo(path, 0600) == 0);
        cr_expect(eq(int, hdx_catalog_open(hdx_io_system(), folder, &c, &err), HDX_DAMAGED), "%s", names[i]);
        cr_expect_str_eq(err.where, names[i]);
        cr_expect_str_eq(err.message, "is not a regular file");
        cr_assert(rename(away, path) == 0);
    }
    hdx_catalog_close(reopen());
}

/* Someone who knows the sums can still not make LMDB leave its file: every byte changed, sums put right. */
Test(catalog, survives_hostile_files_whose_sums_are_right)
{
    hdx_catalog_writer *w = create();
    put_small(w);
    commit(w);
    size_t   len, sum_len;
    uint8_t *bytes = slurp("catalog.mdb", &len), *sum = slurp("catalog.sum", &sum_len);
    srand(20240502); /* the seed */
    for (unsigned round = 0; round < 1500; round++) {
        uint8_t old[8];
        size_t  at[8];
        for (unsigned k = 0; k < 8; k++) {
            size_t page = (size_t)rand() % (len / 4096) * 4096;
            at[k] = page + (rand() % 4 ? (size_t)rand() % 160 : (size_t)rand() % 4096);
            old[k] = bytes[at[k]];
            if (k <= round % 8 || round < len / 8)
                bytes[at[k]] = rand() % 3 ? (uint8_t)rand() : rand() % 2 ? 0xff : 0;
        }
        hdx_put32(sum + 40, hdx_crc32c(0, bytes, len));
        hdx_put32(sum + 44, hdx_crc32c(0, sum, 44));
        spill("catalog.mdb", bytes, len);
        spill("catalog.sum", sum, sum_len);
        hdx_catalog *c;
        if (hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_OK) {
            const hdx_class      *classes;
            const hdx_root       *roots;
            const hdx_thread     *threads;
            const hdx_heap_space *heaps;
            hdx_root              root;
            uint32_t              n;
            uint64_t              count;
            (void)hdx_catalog_roots_of(c, 5, &root, 1, &count, NULL);
            (void)hdx_catalog_classes(c, &classes, &n, NULL);
            (void)hdx_catalog_roots(c, &roots, &count, NULL);
            (void)hdx_catalog_threads(c, &threads, &count, NULL);
            (void)hdx_catalog_heaps(c, &heaps, &count, NULL);
            hdx_catalog_close(c);
        }
        for (unsigned k = 8; k-- > 0;)
            bytes[at[k]] = old[k];
    }
    free(bytes);
    free(sum);
}

Test(catalog, is_read_from_a_folder_that_cannot_be_written)
{
    hdx_catalog_writer *w = create();
    put_small(w);
    commit(w);
    cr_assert(chmod(folder, 0555) == 0);
    hdx_catalog *c = reopen(), *again = reopen(); /* twice at once, too */
    hdx_catalog_close(c);
    hdx_catalog_close(again);
    cr_assert(chmod(folder, 0755) == 0);
}

Test(catalog, writes_the_same_bytes_for_the_same_content)
{
    size_t   len, again_len;
    uint8_t *bytes, *again;
    for (unsigned i = 0; i < 2; i++) {
        hdx_catalog_writer *w = create();
        put_small(w);
        commit(w);
        if (i == 0)
            bytes = slurp("catalog.mdb", &len);
    }
    again = slurp("catalog.mdb", &again_len);
    cr_expect(eq(sz, len, again_len));
    cr_expect(memcmp(bytes, again, len) == 0);
    free(bytes);
    free(again);
}

/* ---- faults ---- */

typedef struct faulty {
    hdx_io   io;
    unsigned calls, fail_at;
} faulty;

static bool fails(hdx_io *io)
{
    faulty *f = (faulty *)io;
    return ++f->calls == f->fail_at;
}
static int f_create(hdx_io *io, const char *path)
{
    return fails(io) ? -ENOSPC : hdx_io_system()->create(hdx_io_system(), path);
}
static int f_write(hdx_io *io, int fd, const void *b, uint64_t n)
{
    return fails(io) ? -ENOSPC : hdx_io_system()->write(hdx_io_system(), fd, b, n);
}
static int f_sync(hdx_io *io, int fd) { return fails(io) ? -EIO : hdx_io_system()->sync(hdx_io_system(), fd); }
static int f_close(hdx_io *io, int fd)
{
    int rc = hdx_io_system()->close(hdx_io_system(), fd);
    return fails(io) ? -EIO : rc;
}
static int f_stat(hdx_io *io, const char *p, struct stat *s)
{
    return fails(io) ? -EIO : hdx_io_system()->stat(hdx_io_system(), p, s);
}
static int f_map(hdx_io *io, int fd, uint64_t n, const uint8_t **at)
{
    return fails(io) ? -EIO : hdx_io_system()->map(hdx_io_system(), fd, n, at);
}
static int f_sync_folder(hdx_io *io, const char *p)
{
    return fails(io) ? -EIO : hdx_io_system()->sync_folder(hdx_io_system(), p);
}
static int f_open(hdx_io *io, const char *p) { return fails(io) ? -EIO : hdx_io_system()->open(hdx_io_system(), p); }
static int64_t f_read(hdx_io *io, int fd, void *to, uint64_t n, uint64_t at)
{
    return fails(io) ? -EIO : hdx_io_system()->read_at(hdx_io_system(), fd, to, n, at);
}

static faulty failing_at(unsigned n)
{
    faulty f = { *hdx_io_system(), 0, n };
    f.io.create = f_create;
    f.io.write = f_write;
    f.io.sync = f_sync;
    f.io.close = f_close;
    f.io.stat = f_stat;
    f.io.map = f_map;
    f.io.sync_folder = f_sync_folder;
    f.io.open = f_open;
    f.io.read_at = f_read;
    return f;
}

Test(catalog, leaves_no_catalog_behind_at_any_fault_of_the_file_system)
{
    for (unsigned n = 1;; n++) {
        faulty              f = failing_at(n);
        hdx_catalog_writer *w;
        hdx_catalog        *c;
        hdx_manifest        m = sample_manifest();
        hdx_error           err = { 0 };
        cr_assert(eq(int, hdx_catalog_create(&f.io, folder, NULL, &w, &err), HDX_OK));
        put_small(w);
        cr_assert(eq(int, hdx_catalog_put_manifest(w, &m, &err), HDX_OK));
        hdx_code code = hdx_catalog_commit(w, &err);
        if (f.calls < n) {
            cr_assert(eq(int, code, HDX_OK));
            cr_assert(gt(u32, n, 8));
            break;
        }
        cr_assert(eq(int, code, HDX_IO), "fault %u", n);
        cr_assert(err.message[0] != '\0');
        cr_assert(eq(int, hdx_catalog_open(hdx_io_system(), folder, &c, NULL), HDX_NOT_FOUND));
    }
    for (unsigned n = 1;; n++) { /* and reading */
        faulty       f = failing_at(n);
        hdx_catalog *c = NULL;
        hdx_code     code = hdx_catalog_open(&f.io, folder, &c, NULL);
        hdx_catalog_close(c);
        if (f.calls < n) {
            cr_assert(eq(int, code, HDX_OK));
            break;
        }
        cr_assert(code == HDX_IO || code == HDX_OK, "fault %u", n); /* a failed close of a file that was read is none */
    }
}

static bool refuse_nth(void *context, uint64_t bytes)
{
    unsigned *left = context;
    (void)bytes;
    return --*left == 0;
}

Test(catalog, gives_everything_back_when_memory_is_refused)
{
    for (unsigned n = 1;; n++) {
        unsigned            left = n;
        hdx_mem             mem = { .refuse = refuse_nth, .context = &left };
        hdx_catalog_writer *w = NULL;
        hdx_class           one = { .name = text("com.acme.One"), .super = HDX_NO_CLASS, .id = HDX_NO_ID };
        hdx_manifest        m = sample_manifest();
        hdx_code            code = hdx_catalog_create(hdx_io_system(), folder, &mem, &w, NULL);
        if (code == HDX_OK && (code = hdx_catalog_put_class(w, &one, NULL)) == HDX_OK &&
            (code = hdx_catalog_put_manifest(w, &m, NULL)) == HDX_OK) {
            code = hdx_catalog_commit(w, NULL);
            w = NULL;
        }
        hdx_catalog_abandon(w);
        cr_assert(eq(u64, mem.used, 0));
        if (left > 0) {
            cr_assert(eq(int, code, HDX_OK));
            break;
        }
        cr_assert(eq(int, code, HDX_LIMIT), "request %u", n);
    }
}

/* ---- threads ---- */

static void *ask(void *context)
{
    hdx_catalog     *c = context;
    const hdx_class *classes;
    uint32_t         n;
    const hdx_root  *roots;
    hdx_root         root;
    uint64_t         count, wrong = 0;
    for (unsigned i = 0; i < 100; i++) {
        wrong += hdx_catalog_roots_of(c, 5, &root, 1, &count, NULL) != HDX_OK || count != 1 || root.thread != 5;
        wrong += i > 20 && (hdx_catalog_classes(c, &classes, &n, NULL) != HDX_OK || n != 4);
        wrong += i > 50 && (hdx_catalog_roots(c, &roots, &count, NULL) != HDX_OK || count != 2);
    }
    return (void *)(uintptr_t)wrong;
}

Test(catalog, answers_several_threads_at_once)
{
    pthread_t           threads[4];
    hdx_catalog_writer *w = create();
    put_small(w);
    commit(w);
    hdx_catalog *c = reopen();
    for (unsigned i = 0; i < 4; i++)
        cr_assert(pthread_create(&threads[i], NULL, ask, c) == 0);
    for (unsigned i = 0; i < 4; i++) {
        void *wrong;
        (void)pthread_join(threads[i], &wrong);
        cr_expect(wrong == NULL);
    }
    hdx_catalog_close(c);
}
