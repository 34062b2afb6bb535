/*
 * test_class_paths.c - the dominator tree merged by class path: every node against one that is built by following the
 * dominators of each object by itself; sums, cuts, the saved tree and damaged ones.
 */
#include "support/questions.h"
#include "graph/little_index.h"
#include "random_heap.h"
#include "query/query.h"
#include "graph/graph.h"
#include "query/holding/class_paths.h"
#include "rows/arguments.h"

#include <unistd.h>

extern const hdx_question hdx_question_dominators;

enum { NODE, PARENT, DEPTH, CLASS, LABEL, CHAIN, OBJECTS, SHALLOW, RETAINED, PERCENT, REST };

/* words: "least=0 chains=split" */
static hdx_code try(heap *h, const char *words, hdx_rows **rows)
{
    char         text[256], *rest = text;
    hdx_argument all[8] = { { "merge", "true" } };
    size_t       count = 1;
    (void)snprintf(text, sizeof text, "%s", words);
    for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL; count++) {
        char *value = strchr(word, '=');
        *value = '\0';
        all[count] = (hdx_argument){ word, value + 1 };
    }
    const hdx_arguments given = { &hdx_question_dominators.declared, all, count };
    return hdx_question_open(&hdx_question_dominators, &h->q, &given, rows, &h->err);
}

static hdx_rows *ask(heap *h, const char *words)
{
    hdx_rows *rows = NULL;
    cr_assert(eq(int, try(h, words, &rows), HDX_OK), "%s: %s", words, h->err.message);
    return rows;
}

/* ---- the slow way ---- */

typedef struct path {
    char    *text; /* "/class/class" from the top; reversed: from the object */
    uint64_t shallow, objects;
} path;

typedef struct paths {
    path    *at;
    uint64_t count;
} paths;

static uint32_t key_of(heap *h, hdx_id id, bool package)
{
    const hdx_class *own = package ? hdx_graph_class_object(h->g, id) : NULL;
    const uint32_t   number = own != NULL ? own->number : hdx_graph_class_of(h->g, id);
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(h->g, &count);
    for (uint32_t i = 0; package && i < count; i++)
        if (hdx_text_same(hdx_package_of(classes[i].name), hdx_package_of(classes[number].name)))
            return i;
    return number;
}

/* Where the objects are that `of` dominates; HDX_VIRTUAL_ROOT: all live ones. */
static paths slow_paths(heap *h, hdx_id of, bool reverse, bool package)
{
    paths p = { calloc(hdx_graph_objects(h->g), sizeof *p.at), 0 };
    for (hdx_id id = 0; id < hdx_graph_objects(h->g); id++) {
        hdx_buffer text = hdx_buffer_of(NULL);
        uint32_t   keys[2000], n = 0;
        hdx_id     at = id;
        for (; at != of && at != HDX_VIRTUAL_ROOT && at != HDX_NO_ID; at = hdx_graph_dominator(h->g, at)) {
            cr_assert(lt(uint, n, 2000));
            keys[n++] = key_of(h, at, package);
        }
        if (at != of || n == 0)
            continue;
        for (uint32_t i = 0; i < n; i++)
            hdx_buffer_format(&text, "/%u", keys[reverse ? i : n - 1 - i]);
        p.at[p.count++] = (path){ strdup(text.at), hdx_graph_shallow(h->g, id), 1 };
        hdx_buffer_free(&text);
    }
    return p;
}

static void free_paths(paths *p)
{
    for (uint64_t i = 0; i < p->count; i++)
        free(p->at[i].text);
    free(p->at);
}

static uint32_t number_named(heap *h, const hdx_cell *name, bool package)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(h->g, &count);
    for (uint32_t i = 0; i < count; i++)
        if (hdx_text_same(package ? hdx_package_of(classes[i].name) : classes[i].name, name->as.text))
            return i;
    cr_assert(false, "%.*s", (int)name->as.text.len, name->as.text.at);
    return 0;
}

/* All rows with least 0, each class by itself: as many as there are paths, and with their sums. */
static void expect_all_paths(heap *h, hdx_id of, bool reverse, bool package, const char *more)
{
    char            words[200];
    paths           slow = slow_paths(h, of, reverse, package);
    const hdx_cell *c;
    uint64_t        rows_seen = 0, first_level = 0, whole = 0;
    static char     above[300000][64];
    (void)snprintf(words, sizeof words, "least=0 chains=split %s%s%s", reverse ? "reverse=true " : "",
                   package ? "by=package " : "", more);
    hdx_rows *rows = ask(h, words);
    for (uint64_t i = 0; i < slow.count; i++)
        whole += slow.at[i].shallow;
    while (hdx_rows_next(rows, &c)) {
        uint64_t objects = 0, shallow = 0, retained = 0;
        char     text[64];
        cr_assert(eq(u64, c[NODE].as.natural, ++rows_seen));
        cr_assert(lt(u64, c[PARENT].as.natural, rows_seen));
        cr_assert(eq(int, c[REST].kind, HDX_CELL_NULL));
        const char *parent = c[PARENT].as.natural == 0 ? "" : above[c[PARENT].as.natural];
        const int   len = snprintf(text, sizeof text, "%s/%u", parent, number_named(h, &c[CLASS], package));
        cr_assert(len > 0 && (size_t)len < sizeof text, "paths of the test are short");
        (void)snprintf(above[rows_seen], sizeof *above, "%s", text);
        for (uint64_t i = 0; i < slow.count; i++)
            if (strncmp(slow.at[i].text, text, len) == 0 &&
                (slow.at[i].text[len] == '\0' || slow.at[i].text[len] == '/')) {
                const bool ends = slow.at[i].text[len] == '\0';
                objects += reverse || ends;
                shallow += ends ? slow.at[i].shallow : 0;
                retained += slow.at[i].shallow;
            }
        cr_assert(eq(u64, c[OBJECTS].as.natural, objects), "%s %s", words, text);
        cr_assert(eq(u64, c[SHALLOW].as.natural, shallow), "%s %s", words, text);
        cr_assert(eq(u64, c[RETAINED].as.natural, retained), "%s %s", words, text);
        cr_expect(gt(u64, objects, 0));
        first_level += c[PARENT].as.natural == 0 ? retained : 0;
    }
    cr_expect(eq(int, hdx_rows_end(rows, &h->err), HDX_OK), "%s", h->err.message);
    hdx_rows_close(rows);
    cr_expect(eq(u64, first_level, whole), "%s: every object is on a path", words);
    free_paths(&slow);
}

Test(class_paths, of_random_heaps_are_those_of_each_object_by_itself)
{
    for (unsigned seed = 1; seed <= 24; seed++) {
        heap h;
        char of[64];
        random_heap(&h, seed);
        for (unsigned how = 0; how < 4; how++)
            expect_all_paths(&h, HDX_VIRTUAL_ROOT, how % 2 == 1, how >= 2, "");
        for (hdx_id id = 0; id < hdx_graph_objects(h.g); id++)
            if (hdx_graph_live(h.g, id) && hdx_graph_retained(h.g, id) > hdx_graph_shallow(h.g, id) && id % 3 == 0) {
                (void)snprintf(of, sizeof of, "object=#%llu", (unsigned long long)id);
                expect_all_paths(&h, id, false, false, of);
                expect_all_paths(&h, id, true, true, of);
            }
        heap_close(&h);
    }
}

/* ---- sums ---- */

static void open_bookshop(heap *h)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    hdx_index_report  report;
    *h = (heap){ 0 };
    test_folder_make(h->folder, "paths");
    const hdx_index_options options = { .dump = dump, .index_dir = h->folder, .threads = 1 };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_graph_open(report.path, dump, &h->g, &h->err), HDX_OK), "%s", h->err.message);
    (void)snprintf(h->index, sizeof h->index, "%.120s", report.path);
    h->q = (hdx_query){ .graph = h->g, .scope = HDX_LIVE, .threads = 3 };
}

/* Whatever is cut, what a row retains is its own, that of its children and that of its rest. Returns the number of
 * rows. */
static uint64_t expect_sums(heap *h, const char *words, uint64_t whole)
{
    static uint64_t left[300000], size[300000];
    hdx_rows       *rows = ask(h, words);
    const hdx_cell *c;
    uint64_t        n = 0;
    left[0] = whole;
    while (hdx_rows_next(rows, &c)) {
        const bool     rest = c[REST].kind == HDX_CELL_UINT;
        const uint64_t parent = c[PARENT].as.natural;
        n++;
        cr_assert(lt(u64, parent, n));
        left[n] = rest ? 0 : c[RETAINED].as.natural - c[SHALLOW].as.natural;
        size[n] = c[RETAINED].as.natural;
        cr_assert(le(u64, size[n], left[parent]), "%s, row %llu", words, (unsigned long long)n);
        left[parent] -= size[n];
        cr_expect(eq(int, c[CLASS].kind == HDX_CELL_NULL, rest), "%s", words);
        const double share = 100.0 * (double)size[n] / (double)whole;
        cr_expect(c[PERCENT].as.real > share - 1e-9 && c[PERCENT].as.real < share + 1e-9);
    }
    cr_expect(eq(int, hdx_rows_end(rows, &h->err), HDX_OK), "%s", h->err.message);
    hdx_rows_close(rows);
    for (uint64_t i = 0; i <= n; i++)
        cr_expect(eq(u64, left[i], 0), "%s, row %llu", words, (unsigned long long)i);
    return n;
}

Test(class_paths, add_up_to_the_byte_however_they_are_cut)
{
    static const char *const cuts[] = { "least=0",         "least=0.1%",    "least=1%", "least=20%",
                                        "least=100%",      "least=1K",      "depth=1",  "depth=2",
                                        "depth=5 least=0", "least=0.0001%", "least=1M", "depth=3 least=5%" };
    static const char *const ways[] = {
        "",           "chains=split ",           "reverse=true ", "reverse=true chains=split ", "by=package ",
        "by=loader ", "by=package reverse=true "
    };
    heap h;
    open_bookshop(&h);
    const uint64_t live = hdx_graph_summary_of(h.g)->live_bytes;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
            char words[128];
            (void)snprintf(words, sizeof words, "%s%s", ways[w], cuts[i]);
            (void)expect_sums(&h, words, live);
        }
    const hdx_id cache = id_at(&h, 0xfeb18ea8);
    (void)expect_sums(&h, "object=0xfeb18ea8 least=1%", hdx_graph_retained(h.g, cache) - hdx_graph_shallow(h.g, cache));
    heap_close(&h);
}

Test(class_paths, show_where_the_example_leaks_in_two_rows)
{
    heap h;
    open_bookshop(&h);
    hdx_rows       *rows = ask(&h, "least=50%");
    const hdx_cell *c;
    cr_assert(hdx_rows_next(rows, &c));
    cr_expect(hdx_text_is(c[CLASS].as.text, "bookshop.Bookshop$SessionCache"));
    cr_expect(hdx_text_is(c[LABEL].as.text, "> HashMap > HashMap$Node[] > 213 x HashMap$Node"));
    cr_expect(eq(u64, c[OBJECTS].as.natural, 1));
    cr_expect(eq(u64, c[SHALLOW].as.natural, 8944));
    cr_expect(eq(u64, c[RETAINED].as.natural, 1965232));
    cr_assert(eq(u64, c[CHAIN].as.list.count, 4));
    cr_expect(eq(u64, c[CHAIN].as.list.at[3].as.object.at[1].value.as.natural, 213));
    cr_assert(hdx_rows_next(rows, &c));
    cr_expect(hdx_text_is(c[CLASS].as.text, "bookshop.Bookshop$Session"));
    cr_expect(hdx_text_is(c[LABEL].as.text, "> ArrayList > Object[] > 746 x byte[]"));
    cr_expect(eq(u64, c[OBJECTS].as.natural, 213));
    cr_expect(eq(u64, c[RETAINED].as.natural, 1561896));
    hdx_rows_close(rows);
    heap_close(&h);
}

/* ---- deep, saved, damaged ---- */

#define LIST 3000u

Test(class_paths, of_a_long_list_end_by_class_and_lose_nothing)
{
    heap        h;
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, 0x200, "app.Node", 0x100, "next:L value:L");
    (void)dump_maker_class_at(m, 0x300, "byte[]", 0x100, "");
    for (uint64_t i = 0; i < LIST; i++) {
        dump_maker_primitives_at(m, 0x1000000 + 64 * i, 'B', NULL, 8);
        dump_maker_instance_at(m, 0x10000 + 64 * i, 0x200,
                               DUMP_VALUES(i + 1 < LIST ? 0x10000 + 64 * (i + 1) : 0, 0x1000000 + 64 * i));
    }
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x10000, 0, 0);
    heap_open(&h, m);
    (void)expect_sums(&h, "least=0", hdx_graph_summary_of(h.g)->live_bytes);
    hdx_rows       *rows = ask(&h, "least=0 chains=split");
    const hdx_cell *c;
    uint64_t        nodes = 0, bytes = 0, deepest = 0;
    while (hdx_rows_next(rows, &c)) {
        if (hdx_text_is(c[CLASS].as.text, "app.Node"))
            nodes += c[OBJECTS].as.natural;
        else if (hdx_text_is(c[CLASS].as.text, "byte[]"))
            bytes += c[OBJECTS].as.natural;
        deepest = c[DEPTH].as.natural > deepest ? c[DEPTH].as.natural : deepest;
    }
    hdx_rows_close(rows);
    cr_expect(eq(u64, nodes, LIST));
    cr_expect(eq(u64, bytes, LIST));
    cr_expect(eq(u64, deepest, 1000));
    (void)expect_sums(&h, "least=0 reverse=true", hdx_graph_summary_of(h.g)->live_bytes);
    heap_close(&h);
}

static void write_saved(const heap *h, long at, int byte)
{
    char path[400];
    (void)snprintf(path, sizeof path, "%s/paths-class", h->index);
    FILE *f = fopen(path, "r+");
    cr_assert(f != NULL && fseek(f, at, SEEK_SET) == 0 && fputc(byte, f) != EOF && fclose(f) == 0);
}

Test(class_paths, are_saved_and_made_again_if_what_was_saved_is_not_sound)
{
    heap h;
    char path[400];
    open_bookshop(&h);
    (void)snprintf(path, sizeof path, "%s/paths-class", h.index);
    const uint64_t live = hdx_graph_summary_of(h.g)->live_bytes, rows = expect_sums(&h, "least=0.1%", live);
    cr_expect(gt(u64, rows, 50));
    cr_expect(access(path, F_OK) == 0);
    cr_expect(eq(int, hdx_class_trees_verify(&h.q, &h.err), HDX_OK), "%s", h.err.message);
    for (long at = 0; at < 2000; at += 7) { /* the checksum notices each */
        write_saved(&h, at, 0x55);
        cr_expect(eq(u64, expect_sums(&h, "least=0.1%", live), rows), "byte %ld", at);
    }
    cr_expect(eq(int, truncate(path, 100), 0));
    cr_expect(eq(u64, expect_sums(&h, "least=0.1%", live), rows));
    heap_close(&h);
}

/* The bytes are whole, and their content is not that of a tree. */
Test(class_paths, that_were_saved_with_false_numbers_are_not_used)
{
    heap h;
    open_bookshop(&h);
    const uint64_t live = hdx_graph_summary_of(h.g)->live_bytes, rows = expect_sums(&h, "least=0.1%", live);
    for (uint64_t at = 0; at < 1200; at += 4) {
        hdx_remembered r = hdx_graph_recall(h.g, HDX_NOTE_PATHS_CLASS);
        cr_assert(r.at != NULL && at < r.size);
        const uint8_t was = r.at[at];
        r.at[at] ^= 1;
        cr_assert(hdx_graph_remember(h.g, HDX_NOTE_PATHS_CLASS, r.at, r.size));
        const hdx_code verified = hdx_class_trees_verify(&h.q, &h.err);
        const uint64_t now = expect_sums(&h, "least=0.1%", live);
        cr_expect(now == rows || verified == HDX_DAMAGED, "byte %llu: %llu rows", (unsigned long long)at,
                  (unsigned long long)now);
        r.at[at] = was;
        cr_assert(hdx_graph_remember(h.g, HDX_NOTE_PATHS_CLASS, r.at, r.size));
        hdx_mem_put(NULL, r.at, r.size);
    }
    heap_close(&h);
}

static void lie_about_dominators(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    for (uint64_t i = 0; next == HDX_KIND_DOMINATOR && i < n; i++)
        values[i] = 2 + (values[i] > 2 ? values[i] - 1 : w->n - 1); /* the last object dominates itself */
}

Test(class_paths, of_objects_that_dominate_each_other_are_damage)
{
    little  *l = little_new();
    uint64_t node = little_class(l, "app.Node", l->object, "next:L other:L"), last = 0;
    for (unsigned i = 0; i < 40; i++) {
        const uint64_t values[2] = { last, last };
        last = little_instance(l, node, values);
        little_root(l, HDX_ROOT_NATIVE_STATIC, last, 0);
    }
    l->lie = lie_about_dominators;
    little_open(l);
    heap           h = { .g = l->g, .q = { .graph = l->g, .scope = HDX_LIVE, .threads = 1 } };
    hdx_rows      *rows = NULL;
    const hdx_code code = try(&h, "least=0", &rows);
    cr_expect(code == HDX_DAMAGED && strcmp(h.err.where, "dominator") == 0, "%d %s", code, h.err.message);
    hdx_rows_close(rows);
    little_close(l);
}

Test(class_paths, are_refused_with_a_size_or_key_that_makes_no_sense)
{
    static const char *const wrong[] = { "least=x", "least=-1%", "least=101%", "least=%", "least=1%%", "by=owner" };
    heap                     h;
    hdx_rows                *rows;
    random_heap(&h, 3);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect(eq(int, try(&h, wrong[i], &rows), HDX_USAGE), "%s", wrong[i]);
    heap_close(&h);
}
