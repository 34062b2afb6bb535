/*
 * test_sizes.c - where bytes come from: parts that add up, and sizes of a JVM's layout against the class histograms
 * that JVMs of 11, 17, 21 and 25 printed when they wrote the reference dumps.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/questions.h"
#include "support/golden.h"

static hdx_rows *ask(heap *h, const char *layout)
{
    const hdx_argument  argument = { "layout", layout };
    const hdx_arguments a = { &hdx_question_sizes.declared, &argument, layout != NULL };
    hdx_rows           *rows = NULL;
    cr_assert(eq(int, hdx_question_open(&hdx_question_sizes, &h->q, &a, &rows, &h->err), HDX_OK), "%s", h->err.message);
    return rows;
}

static void open_dump(heap *h, const char *dump)
{
    hdx_index_report report;
    memset(h, 0, sizeof *h);
    test_folder_make(h->folder, "query");
    (void)snprintf(h->index, sizeof h->index, "%s/a.hdx", h->folder);
    const hdx_index_options options = { .dump = dump, .index_dir = h->index };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_graph_open(h->index, dump, &h->g, &h->err), HDX_OK), "%s", h->err.message);
    h->q = (hdx_query){ .graph = h->g, .scope = HDX_LIVE, .threads = 2 };
}

/* ---- what a JVM said ---- */

/* `"Zoo$Key": {"instances": 1523, "shallow_bytes": 24368}` of the histogram; false: it has no such class. */
static bool said(const char *histogram, hdx_text name, uint64_t *instances, uint64_t *bytes)
{
    unsigned long long n, b;
    char               key[256];
    (void)snprintf(key, sizeof key, "\"%.*s\": {", (int)name.len, name.at);
    const char *at = strstr(histogram, key);
    if (at == NULL || sscanf(at + strlen(key), "\"instances\": %llu, \"shallow_bytes\": %llu}", &n, &b) != 2)
        return false;
    *instances = n;
    *bytes = b;
    return true;
}

static unsigned check_histogram(heap *h, const char *histogram, const char *layout, const char *dump)
{
    uint64_t        instances, bytes;
    unsigned        equal = 0;
    const hdx_cell *c;
    hdx_rows       *rows = ask(h, layout);
    while (hdx_rows_next(rows, &c)) /* some died between dump and histogram */
        if (said(histogram, c[0].as.text, &instances, &bytes) && c[1].as.natural == instances) {
            cr_expect(eq(u64, c[3].as.natural, bytes), "%s: %.*s", dump, (int)c[0].as.text.len, c[0].as.text.at);
            equal++;
        }
    hdx_rows_close(rows);
    return equal;
}

Test(sizes, are_those_that_each_jvm_said_of_the_classes_of_its_program)
{
    golden_dumps d;
    unsigned     dumps = 0;
    if (!golden_open(&d))
        cr_skip_test("%s is not there", GOLDEN_DUMPS);
    while (golden_next(&d)) {
        char path[1100];
        heap h;
        (void)snprintf(path, sizeof path, "%.*s.truth.json", (int)(strlen(d.path) - strlen(".hprof.gz")), d.path);
        FILE *f = fopen(path, "rb");
        if (f == NULL)
            continue;
        char *text = calloc(1, 4u << 20);
        cr_assert(gt(sz, fread(text, 1, (4u << 20) - 1, f), 0));
        fclose(f);
        char *histogram = strstr(text, "\"vm_histogram\": {");
        if (histogram != NULL) {
            const char *layout = strstr(text, "+UseCompactObjectHeaders") != NULL ? "compact" : "class-pointers";
            open_dump(&h, d.path);
            h.q.scope = HDX_ALL;
            const unsigned equal = check_histogram(&h, histogram, layout, d.path);
            cr_expect(ge(u32, equal, strstr(d.path, "zoo") != NULL ? 26 : 1), "%s", d.path);
            dumps++;
            heap_close(&h);
        }
        free(text);
    }
    cr_expect(ge(u32, dumps, 13));
}

/* Bytes of class objects in that layout, where one class has so many statics of 8 bytes. */
static uint64_t bytes_of_classes(const char *layout, unsigned statics)
{
    heap            h;
    const hdx_cell *c;
    uint64_t        bytes = 0;
    dump_maker     *m = dump_maker_new(8);
    const uint64_t  object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_class(m, "java.lang.Class", object, "name:L count:I");
    for (unsigned i = 0; i < statics; i++)
        dump_maker_static(m, "number", 'J', i);
    dump_maker_class(m, "app.Numbers", object, "");
    heap_open(&h, m);
    h.q.scope = HDX_ALL;
    hdx_rows *rows = ask(&h, layout);
    while (hdx_rows_next(rows, &c))
        bytes += hdx_text_is(c[0].as.text, "java.lang.Class") ? c[3].as.natural : 0;
    hdx_rows_close(rows);
    heap_close(&h);
    return bytes;
}

Test(sizes, of_class_objects_have_their_statics)
{
    static const char *const layouts[] = { "class-pointers", "64bit", "32bit", "compact" };
    for (size_t i = 0; i < HDX_COUNT(layouts); i++) {
        const uint64_t none = bytes_of_classes(layouts[i], 0), three = bytes_of_classes(layouts[i], 3);
        cr_expect(none > 0 && three == none + 24, "%s: %llu and %llu", layouts[i], (unsigned long long)none,
                  (unsigned long long)three);
    }
}

/* ---- parts ---- */

Test(sizes, of_the_parts_of_dump_and_heap_add_up)
{
    static const struct {
        const char *part, *what;
        uint64_t    objects, bytes;
    } expected[] = {
        { "dump", "instances", 15093, 726082 },
        { "dump", "object arrays", 3432, 429656 },
        { "dump", "primitive arrays", 4887, 2128698 },
        { "dump", "classes", 678, 93518 },
        { "dump", "other records", 0, 1085709 },
        { "dump", "all", 0, 4463663 },
        { "heap", "strongly reachable", 23364, 2770584 },
        { "heap", "weakly reachable", 511, 17440 },
        { "heap", "unreachable", 225, 6616 },
        { "heap", "all", 24100, 2788024 + 6616 },
        { "heap", "held by classes", 85, 1784 },
        { "tool", "Eclipse MAT", 23875, 2788024 },
        { "tool", "VisualVM", 23412, 2782472 },
    };
    heap            h;
    const hdx_cell *c;
    uint64_t        sums[2] = { 0 }, at = 0;
    open_dump(&h, HDX_TREE "/examples/bookshop.hprof.gz");
    hdx_rows *rows = ask(&h, NULL);
    while (hdx_rows_next(rows, &c) && at < sizeof expected / sizeof *expected) {
        const uint64_t objects = c[2].kind == HDX_CELL_UINT ? c[2].as.natural : 0, bytes = c[3].as.natural;
        cr_expect(hdx_text_is(c[0].as.text, expected[at].part) && hdx_text_is(c[1].as.text, expected[at].what),
                  "row %llu", (unsigned long long)at);
        cr_expect(eq(u64, objects, expected[at].objects), "%s", expected[at].what);
        cr_expect(eq(u64, bytes, expected[at].bytes), "%s", expected[at].what);
        if (strcmp(expected[at].what, "all") == 0)
            cr_expect(eq(u64, sums[at > 5], bytes), "%s", expected[at].part);
        else if (at < 9)
            sums[at > 5] += bytes;
        at++;
    }
    cr_expect(eq(u64, at, sizeof expected / sizeof *expected));
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(sizes, without_the_dump_do_not_say_what_is_weakly_reachable)
{
    heap            h;
    const hdx_cell *c;
    bool            live = false;
    open_dump(&h, HDX_TREE "/examples/bookshop.hprof.gz");
    hdx_graph_close(h.g);
    cr_assert(eq(int, hdx_graph_open(h.index, NULL, &h.g, &h.err), HDX_OK));
    h.q.graph = h.g;
    hdx_rows *rows = ask(&h, NULL);
    while (hdx_rows_next(rows, &c))
        live |= hdx_text_is(c[1].as.text, "live") && c[3].as.natural == 2788024;
    cr_expect(live);
    hdx_rows_close(rows);
    heap_close(&h);
}

/* ---- stacks of virtual threads ---- */

/* Bytes of StackChunks in that layout; references of 8 bytes where the dump has a wide array. */
static uint64_t bytes_of_chunks(const char *layout, uint64_t first_words, uint64_t second_words)
{
    heap            h;
    const hdx_cell *c;
    uint64_t        bytes = 0;
    dump_maker     *m = dump_maker_new(8);
    const uint64_t  object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_class(m, "java.lang.Class", object, "");
    const uint64_t objects = dump_maker_class(m, "java.lang.Object[]", object, "");
    const uint64_t chunk = dump_maker_class(m, "jdk.internal.vm.StackChunk", object, "parent:L size:I sp:I bottom:I");
    const uint64_t a = dump_maker_instance_at(m, 0x10000, chunk, DUMP_VALUES(0, first_words, 3, 4));
    const uint64_t b = dump_maker_instance_at(m, 0x90000, chunk, DUMP_VALUES(a, second_words, 3, 4));
    (void)dump_maker_array_at(m, 0x200000, objects, NULL, 2); /* 24 bytes with references of 4, 32 with those of 8 */
    (void)dump_maker_array_at(m, 0x200018, objects, NULL, 2);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, b, 0, 0);
    heap_open(&h, m);
    cr_assert(eq(u32, hdx_graph_summary_of(h.g)->reference_size, 4));
    hdx_rows *rows = ask(&h, layout);
    while (hdx_rows_next(rows, &c)) {
        if (layout != NULL && hdx_text_is(c[0].as.text, "jdk.internal.vm.StackChunk"))
            bytes = c[3].as.natural;
        if (layout == NULL && hdx_text_is(c[1].as.text, "StackChunks"))
            bytes = c[3].as.natural;
    }
    hdx_rows_close(rows);
    heap_close(&h);
    return bytes;
}

/* 8 * words + 8 * ceil(2 * words / 64) + 48, as JDK 25 has it. */
Test(sizes, of_stack_chunks_have_stack_and_bitmap)
{
    cr_expect(eq(u64, bytes_of_chunks("class-pointers", 100, 1), (8 * 100 + 32 + 48) + (8 + 8 + 48)));
    cr_expect(eq(u64, bytes_of_chunks("compact", 100, 1), (8 * 100 + 32 + 48) + (8 + 8 + 48)));
    cr_expect(eq(u64, bytes_of_chunks("class-pointers", 0, 0), 2 * 48));
    cr_expect(eq(u64, bytes_of_chunks(NULL, 100, 1), (8 * 100 + 32 + 48) + (8 + 8 + 48) - 2 * 32));
}

Test(sizes, of_a_stack_chunk_whose_size_is_negative_have_no_stack)
{
    cr_expect(eq(u64, bytes_of_chunks("class-pointers", 0xFFFFFFFF, 0), 2 * 48));
}

/* ---- sizes that class records state ---- */

/* A CLASS_DUMP without statics, with ints as its fields, that states a size. */
static void put_class(dump_maker *m, uint64_t id, const char *name, uint64_t super, unsigned ints, uint32_t stated)
{
    hdx_buffer record = hdx_buffer_of(NULL);
    (void)dump_maker_load(m, id, name);
    hdx_write_u1(&record, HDX_SUB_CLASS);
    hdx_write_u8(&record, id);
    hdx_write_u4(&record, 0);
    hdx_write_u8(&record, super);
    for (unsigned i = 0; i < 5; i++) /* loader, signers, domain, two reserved */
        hdx_write_u8(&record, 0);
    hdx_write_u4(&record, stated);
    hdx_write_u4(&record, 0); /* neither constants nor statics */
    hdx_write_u2(&record, (uint16_t)ints);
    for (unsigned i = 0; i < ints; i++) {
        hdx_write_u8(&record, dump_maker_name(m, i == 0 ? "first" : "second"));
        hdx_write_u1(&record, 10);
    }
    dump_maker_raw(m, record.at, (size_t)record.len);
    hdx_buffer_free(&record);
}

static void put_instance(dump_maker *m, uint64_t id, uint64_t class_id, uint32_t bytes)
{
    static const uint8_t zeros[64];
    hdx_buffer           record = hdx_buffer_of(NULL);
    hdx_write_instance(&record, 8, id, 1, class_id, zeros, bytes);
    dump_maker_raw(m, record.at, (size_t)record.len);
    hdx_buffer_free(&record);
}

static void open_stated(heap *h, uint32_t empty, uint32_t pair)
{
    dump_maker *m = dump_maker_new(8);
    put_class(m, 0x100, "java.lang.Object", 0, 0, empty);
    put_class(m, 0x200, "java.lang.Class", 0x100, 0, empty);
    put_class(m, 0x300, "java.lang.ClassLoader", 0x100, 0, empty);
    put_class(m, 0x400, "app.Pair", 0x100, 2, pair);
    put_instance(m, 0x1000, 0x100, 0);
    put_instance(m, 0x1008, 0x400, 8);
    put_instance(m, 0x1018, 0x400, 8);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, 0x400, 0, 0);
    heap_open(h, m);
    h->q.scope = HDX_ALL;
}

Test(sizes, are_stated_by_class_records_of_native_images)
{
    heap            h;
    const hdx_cell *c;
    uint64_t        objects = 0, bytes = 0, pairs = 0;
    open_stated(&h, 8, 16);
    hdx_rows *rows = ask(&h, NULL);
    while (hdx_rows_next(rows, &c))
        if (hdx_text_is(c[1].as.text, "native image")) {
            objects = c[2].as.natural;
            bytes = c[3].as.natural;
        }
    hdx_rows_close(rows);
    rows = ask(&h, "stated");
    while (hdx_rows_next(rows, &c))
        pairs += hdx_text_is(c[0].as.text, "app.Pair") ? c[3].as.natural : 0;
    hdx_rows_close(rows);
    cr_expect(eq(u64, objects, 3));
    cr_expect(eq(u64, bytes, 8 + 2 * 16));
    cr_expect(eq(u64, pairs, 2 * 16));
    heap_close(&h);
}

/* HotSpot states the sum of the widths, a damaged record may state anything. */
Test(sizes, of_other_dumps_are_not_stated)
{
    static const uint32_t pairs[] = { 8, 4 };
    for (size_t i = 0; i < HDX_COUNT(pairs); i++) {
        heap            h;
        const hdx_cell *c;
        open_stated(&h, 0, pairs[i]);
        hdx_rows *rows = ask(&h, "stated");
        cr_expect(not(hdx_rows_next(rows, &c)));
        cr_expect(strstr(hdx_rows_empty_reason(rows), "do not state") != NULL);
        hdx_rows_close(rows);
        heap_close(&h);
    }
}
