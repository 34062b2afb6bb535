/*
 * test_merged.c - merged paths of real and of deep heaps against a search from all roots, level by level, each in the
 * order of ids (MAT 6.9).
 */
#include "support/questions.h"
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

/* ---- lines of the tree ---- */

/* What a line says, with the lines above it as its key; of an address list each once. */
typedef struct wanted_line {
    char    *key;
    uint64_t paths, instances, retained, shallow, addresses[4096];
} wanted_line;

typedef struct wanted {
    wanted_line *at;
    size_t       count;
} wanted;

static wanted_line *line_of(wanted *w, const char *key)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->at[i].key, key) == 0)
            return &w->at[i];
    w->at = realloc(w->at, (w->count + 1) * sizeof *w->at);
    memset(&w->at[w->count], 0, sizeof *w->at);
    w->at[w->count].key = strdup(key);
    return &w->at[w->count++];
}

static void add_object(wanted_line *l, const hdx_cell *step)
{
    const hdx_addr address = child(step, "address")->as.address;
    for (uint64_t i = 0; i < l->instances; i++)
        if (l->addresses[i] == address)
            return;
    cr_assert(l->instances < 4096);
    l->addresses[l->instances++] = address;
    l->shallow += child(step, "shallow")->as.natural;
}

static bool has_object(const wanted_line *l, const hdx_cell *step)
{
    for (uint64_t i = 0; i < l->instances; i++)
        if (l->addresses[i] == child(step, "address")->as.address)
            return true;
    return false;
}

/* The retained sizes of objects with none of the line above them, once each; when all lines have their objects. */
static void add_retained(wanted_line *l, const hdx_cell *paths)
{
    uint64_t counted[4096], n = 0;
    for (uint64_t p = 0; p < paths->as.list.count; p++) {
        const hdx_cell *steps = child(&paths->as.list.at[p], "steps");
        for (uint64_t s = 0; s < steps->as.list.count; s++) {
            const hdx_cell *step = &steps->as.list.at[s];
            bool            known = false;
            if (!has_object(l, step))
                continue;
            for (uint64_t i = 0; i < n; i++)
                known = known || counted[i] == child(step, "address")->as.address;
            if (!known) {
                counted[n++] = child(step, "address")->as.address;
                l->retained += child(step, "retained")->as.natural;
            }
            break; /* whatever follows is below it */
        }
    }
}

/* int.class and its like are objects as others. */
static bool is_class(const hdx_cell *label)
{
    return label->kind == HDX_CELL_TEXT && label->as.text.len > 6 && memcmp(label->as.text.at, "class ", 6) == 0;
}

/* "class acme.P .head": class objects by themselves, elements by one name. */
static void part_of(hdx_buffer *b, const hdx_cell *step)
{
    const hdx_cell *reference = child(step, "reference");
    hdx_buffer_clear(b);
    put_cell(b, child(step, "class"));
    if (is_class(child(step, "label")))
        hdx_buffer_format(b, "@%llx", (unsigned long long)child(step, "address")->as.address);
    if (reference->kind == HDX_CELL_NULL)
        return;
    hdx_buffer_text(b, " ");
    if (hdx_text_is(child(reference, "kind")->as.text, "element"))
        hdx_buffer_text(b, "[]");
    else
        put_cell(b, child(reference, "name"));
}

static void add_path(wanted *w, const hdx_cell *steps)
{
    hdx_buffer key = hdx_buffer_of(NULL), part = hdx_buffer_of(NULL), before = hdx_buffer_of(NULL);
    uint64_t   passed[512], n = 0;
    hdx_buffer_text(&key, "");
    hdx_buffer_text(&before, "");
    for (uint64_t s = 0; s < steps->as.list.count; s++) {
        const hdx_cell *step = &steps->as.list.at[s];
        part_of(&part, step);
        const bool enters = before.len != part.len || memcmp(before.at, part.at, part.len) != 0 ||
                            child(step, "reference")->kind == HDX_CELL_NULL;
        if (enters)
            hdx_buffer_format(&key, "/%s", part.at);
        wanted_line *l = line_of(w, key.at);
        add_object(l, step);
        if (enters && n < 512)
            passed[n++] = (uint64_t)(l - w->at);
        hdx_buffer_clear(&before);
        hdx_buffer_put(&before, part.at, part.len);
    }
    for (uint64_t i = 0; i < n; i++)
        w->at[passed[i]].paths++;
    hdx_buffer_free(&key);
    hdx_buffer_free(&part);
    hdx_buffer_free(&before);
}

/* Lines once more, from the documents of the single paths. */
static void check_lines(heap *h, const hdx_id *ids, uint64_t count, const hdx_path_options *options, const char *name)
{
    hdx_rows       *rows;
    const hdx_cell *row;
    wanted          w = { 0 };
    hdx_buffer      above[512];
    uint64_t        lines = 0, paths[512] = { 0 };
    for (unsigned i = 0; i < 512; i++)
        above[i] = hdx_buffer_of(NULL);
    cr_assert(eq(int, hdx_query_path(&h->q, ids, count, options, &rows, &h->err), HDX_OK), "%s", h->err.message);
    const hdx_cell *list = extra(rows, "paths");
    for (uint64_t i = 0; i < list->as.list.count; i++)
        add_path(&w, child(&list->as.list.at[i], "steps"));
    for (size_t i = 0; options->paths <= 1 && i < w.count; i++)
        add_retained(&w.at[i], list);
    while (hdx_rows_next(rows, &row)) {
        /* depth, objects, address, class, label, reference, instances, shallow, retained */
        const uint64_t depth = row[0].as.natural;
        cr_assert(depth < 512 && (depth == 0 || lines > 0));
        hdx_buffer key = hdx_buffer_of(NULL);
        hdx_buffer_format(&key, "%s/", depth == 0 ? "" : above[depth - 1].at);
        put_cell(&key, &row[3]);
        if (is_class(&row[4]))
            hdx_buffer_format(&key, "@%llx", (unsigned long long)row[2].as.address);
        if (row[5].kind == HDX_CELL_TEXT) {
            hdx_buffer_text(&key, " ");
            put_cell(&key, &row[5]);
        }
        const size_t       before = w.count;
        const wanted_line *l = line_of(&w, key.at);
        cr_assert(eq(u64, w.count, before), "%s: no path has the line %s", name, key.at);
        cr_expect(eq(u64, row[1].as.natural, l->paths), "%s: %s", name, key.at);
        cr_expect(eq(u64, row[6].as.natural, l->instances), "%s: %s", name, key.at);
        cr_expect(eq(u64, row[7].as.natural, l->shallow), "%s: %s", name, key.at);
        cr_expect(options->paths > 1 || row[8].as.natural == l->retained, "%s: %s", name, key.at);
        cr_expect(eq(int, row[2].kind, l->instances == 1 ? HDX_CELL_ADDRESS : HDX_CELL_NULL), "%s: %s", name, key.at);
        if (row[2].kind == HDX_CELL_ADDRESS)
            cr_expect(eq(u64, row[2].as.address, l->addresses[0]), "%s: %s", name, key.at);
        cr_expect(depth == 0 || row[1].as.natural <= paths[depth - 1], "%s: %s", name, key.at);
        hdx_buffer_free(&above[depth]);
        above[depth] = key;
        paths[depth] = row[1].as.natural;
        lines++;
    }
    cr_expect(eq(u64, lines, w.count), "%s: each line once", name);
    for (unsigned i = 0; i < 512; i++)
        hdx_buffer_free(&above[i]);
    for (size_t i = 0; i < w.count; i++)
        free(w.at[i].key);
    free(w.at);
    hdx_rows_close(rows);
}

Test(merged, lines_are_what_single_paths_have_in_common)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        heap                   h;
        hdx_id                 ids[120];
        const hdx_path_options one = { .merge = true }, three = { .merge = true, .paths = 3 };
        ladder(&h, 12 + 6 * seed, 4, seed);
        const uint64_t n = hdx_graph_objects(h.g), count = n < 120 ? n : 120;
        for (uint64_t i = 0; i < count; i++)
            ids[i] = n * i / count;
        check_lines(&h, ids, count, &one, "a ladder");
        check_lines(&h, ids, count, &three, "a ladder, three paths each");
        heap_close(&h);
    }
}

Test(merged, lines_of_a_real_heap_are_what_single_paths_have_in_common)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    hdx_index_report  report;
    heap              h = { 0 };
    hdx_id            ids[400];
    test_folder_make(h.folder, "merged");
    const hdx_index_options options = { .dump = dump, .index_dir = h.folder, .threads = 1 };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h.err), HDX_OK), "%s", h.err.message);
    cr_assert(eq(int, hdx_graph_open(report.path, dump, &h.g, &h.err), HDX_OK), "%s", h.err.message);
    h.q = (hdx_query){ .graph = h.g, .threads = 2 };
    for (uint64_t i = 0; i < 400; i++)
        ids[i] = hdx_graph_objects(h.g) * i / 400;
    const hdx_path_options each[] = {
        { .merge = true },
        { .merge = true, .exclude = HDX_EXCLUDE_WEAK | HDX_EXCLUDE_SOFT | HDX_EXCLUDE_PHANTOM },
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        check_lines(&h, ids, 400, &each[i], i == 0 ? "all references" : "strong references");
    const hdx_path_options several = { .merge = true, .paths = 4 };
    check_lines(&h, ids, 60, &several, "four paths each");
    heap_close(&h);
}

typedef struct counted_line {
    uint64_t depth, objects, instances, shallow, retained, rest;
} counted_line;

static uint64_t number_in(const hdx_cell *cell) { return cell->kind == HDX_CELL_UINT ? cell->as.natural : 0; }

static counted_line line_in(const hdx_cell *row)
{
    return (counted_line){ row[0].as.natural,  row[1].as.natural,  number_in(&row[6]),
                           number_in(&row[7]), number_in(&row[8]), number_in(&row[9]) };
}

static uint64_t lines_with(heap *h, const hdx_id *ids, uint64_t count, uint64_t least, counted_line *out, uint64_t room)
{
    const hdx_path_options options = { .merge = true, .least = least };
    const hdx_cell        *row;
    hdx_rows              *rows;
    uint64_t               n = 0;
    cr_assert(eq(int, hdx_query_path(&h->q, ids, (size_t)count, &options, &rows, &h->err), HDX_OK), "%s",
              h->err.message);
    while (hdx_rows_next(rows, &row)) {
        cr_assert(n < room);
        out[n++] = line_in(row);
        cr_assert(eq(int, row[3].kind == HDX_CELL_NULL, row[9].kind == HDX_CELL_UINT), "a rest has no class");
    }
    hdx_rows_close(rows);
    return n;
}

Test(merged, branches_with_few_objects_share_a_row)
{
    enum { ROOM = 20000 };
    static counted_line whole[ROOM], cut[ROOM];
    for (unsigned seed = 1; seed <= 4; seed++) {
        heap   h;
        hdx_id ids[400];
        ladder(&h, 60, 5, seed);
        const uint64_t n = hdx_graph_objects(h.g), count = n < 400 ? n : 400;
        for (uint64_t i = 0; i < count; i++)
            ids[i] = n * i / count;
        const uint64_t all = lines_with(&h, ids, count, 0, whole, ROOM);
        for (uint64_t least = 1; least <= count; least *= 3) {
            const uint64_t shown = lines_with(&h, ids, count, least, cut, ROOM);
            uint64_t       at = 0;
            for (uint64_t i = 0; i < all; at++) {
                counted_line want = whole[i++];
                if (want.objects < least) { /* the branches after it have no more objects */
                    want = (counted_line){ .depth = want.depth, .objects = want.objects, .rest = 1 };
                    for (; i < all && whole[i].depth >= want.depth; i++)
                        if (whole[i].depth == want.depth) {
                            want.objects += whole[i].objects;
                            want.rest++;
                        }
                }
                cr_assert(at < shown && memcmp(&cut[at], &want, sizeof want) == 0, "seed %u, least %llu: line %llu",
                          seed, (unsigned long long)least, (unsigned long long)at);
            }
            cr_assert(eq(u64, at, shown));
        }
        heap_close(&h);
    }
}

/* root -> class app.Node's static head -> a list of nodes, each with a leaf; garbage beside it. */
Test(merged, a_list_is_one_line_and_branches_come_with_the_most_first)
{
    heap             h;
    hdx_rows        *rows;
    dump_maker      *m = dump_maker_new(8);
    const uint64_t   object = dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    const uint64_t   leaf = dump_maker_class_at(m, 0x200, "app.Leaf", object, "");
    const uint64_t   node = dump_maker_class_at(m, 0x300, "app.Node", object, "next:L leaf:L");
    hdx_path_options options = { .merge = true };
    hdx_id           ids[12], garbage;
    for (uint64_t i = 0; i < 10; i++) {
        const uint64_t at = 0x1000 + 0x40 * i, refs[] = { i == 9 ? 0 : at + 0x40, 0x2000 + 0x40 * i };
        dump_maker_instance_at(m, at, node, refs);
        dump_maker_instance_at(m, refs[1], leaf, NULL);
    }
    dump_maker_instance_at(m, 0x3000, leaf, NULL);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x1000, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    heap_open(&h, m);
    for (uint64_t i = 0; i < 10; i++)
        ids[i] = id_at(&h, 0x2000 + 0x40 * i);
    ids[10] = id_at(&h, 0x1000 + 0x40 * 9);
    garbage = ids[11] = id_at(&h, 0x3000);
    ok(hdx_query_path(&h.q, ids, 12, &options, &rows, &h.err));
    hdx_buffer     text = rows_text(rows);
    const uint64_t all = hdx_graph_retained(h.g, id_at(&h, 0x1000)), last = hdx_graph_retained(h.g, ids[10]),
                   one = hdx_graph_shallow(h.g, garbage), own = hdx_graph_shallow(h.g, ids[10]);
    hdx_buffer want = hdx_buffer_of(NULL);
    hdx_buffer_format(&want,
                      "0,10,-,app.Node,-,next,9,%llu,%llu,-\n"
                      "1,9,-,app.Node,-,leaf,9,%llu,%llu,-\n2,9,-,app.Leaf,-,-,9,%llu,%llu,-\n"
                      "1,1,0x1240,app.Node,-,-,1,%llu,%llu,-\n"
                      "0,1,0x1000,app.Node,-,leaf,1,%llu,%llu,-\n1,1,0x2000,app.Leaf,-,-,1,%llu,%llu,-\n",
                      9ull * own, (unsigned long long)all, 9ull * own, (unsigned long long)(all - own - one),
                      9ull * one, 9ull * one, (unsigned long long)own, (unsigned long long)last,
                      (unsigned long long)own, (unsigned long long)all, (unsigned long long)one,
                      (unsigned long long)one);
    cr_expect(eq(str, text.at, want.at));
    hdx_buffer_free(&text);
    hdx_buffer_free(&want);
    cr_expect(eq(u64, extra(rows, "paths")->as.list.count, 12));
    hdx_rows_close(rows);
    options.rows_only = true;
    ok(hdx_query_path(&h.q, &garbage, 1, &options, &rows, &h.err));
    const hdx_cell *row;
    cr_expect(hdx_rows_next(rows, &row) == false && hdx_rows_extra(rows, 0)->key == NULL, "neither rows nor documents");
    cr_expect_str_eq(hdx_rows_empty_reason(rows), "no GC root reaches it");
    hdx_rows_close(rows);
    heap_close(&h);
}
