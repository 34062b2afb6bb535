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
        { "dump", "the rest", 0, 1085709 },
        { "dump", "all", 0, 4463663 },
        { "heap", "strongly reachable", 23364, 2770584 },
        { "heap", "weakly reachable", 511, 17440 },
        { "heap", "unreachable", 225, 6616 },
        { "heap", "all", 24100, 2788024 + 6616 },
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
