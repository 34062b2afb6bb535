/*
 * test_merged.c - merged paths of real and of deep heaps against a search from all roots, level by level, each in the
 * order of ids (MAT 6.9).
 */
#include "heap.h"
#include "support/golden.h"

#define TARGETS 100u

static int by_id(const void *a, const void *b)
{
    const hdx_id x = *(const hdx_id *)a, y = *(const hdx_id *)b;
    return (x > y) - (x < y);
}

/* Parents of all live objects; a root is its own. The caller frees them. */
static hdx_id *parents_of(hdx_graph *g)
{
    uint64_t        n = hdx_graph_objects(g), roots = 0, first = 0, end, count = 0;
    const hdx_root *root = hdx_graph_roots(g, &roots);
    hdx_id         *parent = malloc(n * sizeof *parent), *queue = malloc(n * sizeof *queue);
    memset(parent, 0xff, n * sizeof *parent);
    for (uint64_t i = 0; i < roots; i++)
        if (root[i].thread == HDX_NO_ID && parent[root[i].object] == HDX_NO_ID)
            parent[root[i].object] = queue[count++] = root[i].object;
    while (first < count) {
        end = count;
        qsort(queue + first, end - first, sizeof *queue, by_id);
        for (; first < end; first++) {
            hdx_refs refs;
            hdx_id   to;
            hdx_graph_outbound(g, queue[first], HDX_ALL, &refs);
            while (hdx_refs_next(&refs, &to))
                if (parent[to] == HDX_NO_ID) {
                    parent[to] = queue[first];
                    queue[count++] = to;
                }
        }
    }
    free(queue);
    return parent;
}

static const hdx_cell *child(const hdx_cell *object, const char *key)
{
    for (uint64_t i = 0; i < object->as.object.count; i++)
        if (strcmp(object->as.object.at[i].key, key) == 0)
            return &object->as.object.at[i].value;
    cr_assert(false, "no member %s", key);
    return NULL;
}

/*
 * Asks for `count` objects, every stride-th, and follows each path back. Gives how many steps are another than the
 * index's own parents.
 */
static uint64_t check(hdx_graph *g, const char *name, const hdx_id *parent, uint64_t count)
{
    hdx_error        err;
    hdx_rows        *rows;
    hdx_query        q = { .graph = g, .scope = HDX_LIVE, .threads = 1 };
    hdx_path_options options = { .merge = true };
    uint64_t         n = hdx_graph_objects(g), others = 0;
    hdx_id          *ids = malloc(count * sizeof *ids), id;
    for (uint64_t i = 0; i < count; i++)
        ids[i] = n * i / count;
    cr_assert(eq(int, hdx_query_path(&q, ids, count, &options, &rows, &err), HDX_OK), "%s", err.message);
    const hdx_cell *list = extra(rows, "paths");
    for (uint64_t i = 0; i < count; i++) {
        const hdx_cell *steps = child(&list->as.list.at[i], "steps");
        hdx_id          v = ids[i];
        cr_expect(eq(int, steps->as.list.count > 0, parent[v] != HDX_NO_ID), "%s: #%llu", name, (unsigned long long)v);
        for (uint64_t s = steps->as.list.count; s > 0; s--, v = parent[v]) {
            cr_assert(hdx_graph_find(g, child(&steps->as.list.at[s - 1], "address")->as.address, &id));
            cr_assert(eq(u64, id, v), "%s: step %llu of the path to #%llu", name, (unsigned long long)s,
                      (unsigned long long)ids[i]);
            cr_assert(eq(int, s == 1, parent[v] == v), "%s: one root, at the beginning", name);
            others += hdx_graph_nearest(g, v) != parent[v];
        }
    }
    hdx_rows_close(rows);
    free(ids);
    return others;
}

Test(merged, paths_of_golden_dumps_have_the_parents_of_a_search_by_levels)
{
    golden_dumps d;
    uint64_t     others = 0;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (golden_next(&d)) {
        char             folder[TEST_FOLDER];
        hdx_index_report report;
        hdx_graph       *g;
        hdx_error        err;
        test_folder_make(folder, "merged");
        hdx_index_options options = { .dump = d.path, .index_dir = folder, .threads = 2, .dump_number = 1 };
        cr_assert(eq(int, hdx_index_build(&options, &report, &err), HDX_OK), "%s: %s", d.path, err.message);
        /* labels would be read of each step */
        cr_assert(eq(int, hdx_graph_open(report.path, NULL, &g, &err), HDX_OK), "%s", err.message);
        hdx_id *parent = parents_of(g);
        others += check(g, d.path, parent, TARGETS);
        free(parent);
        hdx_graph_close(g);
        test_folder_remove(folder);
    }
    cr_expect(others > 10, "steps at which the parent in the index would be wrong: %llu", (unsigned long long)others);
}

/*
 * A ladder of `levels` rungs whose nodes lie in no order: each refers to some of the next rung, and back to some of all
 * before.
 */
static void ladder(heap *h, unsigned levels, unsigned wide, unsigned seed)
{
    dump_maker *m = dump_maker_new(8);
    unsigned    n = levels * wide;
    uint64_t   *at = malloc(n * sizeof *at), refs[4], object = dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    uint64_t    node = dump_maker_class_at(m, 0x200, "app.Node", object, "a:L b:L c:L d:L");
    for (unsigned i = 0; i < n; i++)
        at[i] = 0x10000 + 64 * (uint64_t)i;
    for (unsigned i = n; i > 1; i--) {
        unsigned k = (unsigned)rand_r(&seed) % i;
        uint64_t swapped = at[k];
        at[k] = at[i - 1];
        at[i - 1] = swapped;
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned level = i / wide, next = level + 1 < levels ? (level + 1) * wide : 0;
        for (unsigned k = 0; k < 3; k++)
            refs[k] = at[next + (unsigned)rand_r(&seed) % wide];
        refs[3] = at[(unsigned)rand_r(&seed) % (i + 1)];
        dump_maker_instance_at(m, at[i], node, refs);
    }
    for (unsigned i = 0; i < wide; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, at[i], 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    free(at);
    heap_open(h, m);
}

Test(merged, paths_of_deep_heaps_have_them_too)
{
    uint64_t others = 0;
    for (unsigned seed = 1; seed <= 6; seed++) {
        heap h;
        ladder(&h, 40 + 70 * seed, 4, seed);
        hdx_id *parent = parents_of(h.g);
        others += check(h.g, "a ladder", parent, 150);
        free(parent);
        heap_close(&h);
    }
    cr_expect(others > 1000, "%llu", (unsigned long long)others);
}
