/*
 * test_wide.c - what questions do of many objects at once, and what they say where they do not say all: objects side
 * by side that are marked by several workers, paths of which some are left out, histograms of classes without an index.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/histogram/histogram.h"
#include "query/holding/holding.h"
#include "query/query.h"
#include "query/questions.h"

/* An array of `count` nodes, each with one more behind it; every third of those belongs to two nodes. */
static void make_wide(heap *h, uint32_t count)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, ""),
                   node = dump_maker_class(m, "app.Node", object, "next:L"),
                   array = dump_maker_class(m, "java.lang.Object[]", object, "");
    uint64_t *nodes = calloc(count, sizeof *nodes), last = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i % 3 != 1 || last == 0)
            last = dump_maker_instance(m, object, NULL);
        nodes[i] = dump_maker_instance(m, node, DUMP_VALUES(last));
    }
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_array(m, array, nodes, count), 0, 0);
    free(nodes);
    heap_open(h, m);
}

Test(holders, of_many_objects_side_by_side_are_those_of_one_thread)
{
    const hdx_argument  share = { "share", "60" };
    const hdx_arguments a = { &hdx_question_holders.declared, &share, 1 };
    heap                h;
    hdx_rows           *rows;
    hdx_buffer          one = hdx_buffer_of(NULL), some = hdx_buffer_of(NULL);
    make_wide(&h, 40000);
    h.q.threads = 1;
    ok(hdx_question_open(&hdx_question_holders, &h.q, &a, &rows, &h.err));
    one = rows_text(rows);
    hdx_rows_close(rows);
    for (h.q.threads = 2; h.q.threads <= 4; h.q.threads++) {
        ok(hdx_question_open(&hdx_question_holders, &h.q, &a, &rows, &h.err));
        some = rows_text(rows);
        cr_expect(one.len > 0 && strcmp(one.at, some.at) == 0, "%u threads: %s, not %s", h.q.threads, some.at, one.at);
        hdx_buffer_free(&some);
        hdx_rows_close(rows);
    }
    hdx_buffer_free(&one);
    heap_close(&h);
}

static bool impatient(void *context) { return *(bool *)context; }

Test(mark, reaches_the_same_by_any_number_of_workers)
{
    enum { COUNT = 40000 };
    heap h;
    make_wide(&h, COUNT);
    const uint64_t n = hdx_graph_objects(h.g), words = (n + 63) / 64;
    uint64_t      *seen = calloc(words, 8), *first = calloc(words, 8), *without = calloc(words, 8);
    for (unsigned threads = 1; threads <= 4; threads++) {
        uint64_t count = 0;
        h.q.threads = threads;
        memset(seen, 0, words * 8);
        cr_assert(eq(int, hdx_mark(&h.q, without, seen, &h.err), HDX_OK));
        for (uint64_t i = 0; i < words; i++)
            count += (unsigned)__builtin_popcountll(seen[i]);
        uint64_t live = 0;
        for (hdx_id id = 0; id < n; id++) {
            live += hdx_graph_live(h.g, id);
            cr_assert(hdx_graph_live(h.g, id) == ((seen[id / 64] >> id % 64 & 1) != 0), "object %llu",
                      (unsigned long long)id);
        }
        cr_expect(eq(u64, count, live));
        cr_expect(ge(u64, count, COUNT * 5 / 3));
    }
    for (hdx_id id = 0; id < n; id += 5) /* and around some that are left out */
        without[id / 64] |= 1ull << id % 64;
    for (unsigned threads = 1; threads <= 4; threads++) {
        h.q.threads = threads;
        memset(seen, 0, words * 8);
        cr_assert(eq(int, hdx_mark(&h.q, without, seen, &h.err), HDX_OK));
        for (uint64_t i = 0; i < words; i++)
            cr_assert(eq(u64, seen[i] & without[i], 0));
        if (threads == 1)
            memcpy(first, seen, words * 8);
        cr_expect(memcmp(first, seen, words * 8) == 0, "%u threads", threads);
    }
    bool               stop = true;
    const hdx_progress progress = { .context = &stop, .cancelled = impatient };
    h.q.progress = &progress;
    memset(seen, 0, words * 8);
    memset(without, 0, words * 8);
    cr_expect(eq(int, hdx_mark(&h.q, without, seen, &h.err), HDX_CANCELLED));
    free(seen);
    free(first);
    free(without);
    heap_close(&h);
}

Test(mark, sets_of_several_objects_are_kept_by_all_of_them)
{
    heap h;
    make_wide(&h, 30);
    const uint64_t n = hdx_graph_objects(h.g), words = (n + 63) / 64;
    uint64_t      *set = calloc(words, 8), *gone = calloc(words, 8), *want = calloc(words, 8);
    hdx_id         ids[3] = { 0, (hdx_id)(n - 1), 1 };
    for (size_t count = 0; count <= 3; count++) {
        memset(set, 0, words * 8);
        for (size_t i = 0; i < count; i++)
            set[ids[i] / 64] |= 1ull << ids[i] % 64;
        ok(hdx_retained_bits(&h.q, set, want, &h.err));
        ok(hdx_query_retained_set(&h.q, ids, count, gone, &h.err));
        cr_expect(memcmp(gone, want, words * 8) == 0, "%zu", count);
    }
    ids[1] = (hdx_id)n;
    h.err.code = HDX_OK;
    cr_expect(eq(int, hdx_query_retained_set(&h.q, ids, 3, gone, &h.err), HDX_NOT_FOUND));
    cr_expect(h.err.code == HDX_NOT_FOUND && strncmp(h.err.message, "no object has the id ", 21) == 0);
    ok(hdx_query_retained_set(&h.q, ids, 1, gone, &h.err));
    free(set);
    free(gone);
    free(want);
    heap_close(&h);
}

Test(paths, that_are_left_out_are_counted)
{
    static const struct {
        size_t      targets;
        uint32_t    paths;
        uint64_t    limit;
        const char *title;
    } cases[] = {
        { 3, 1, 0, NULL },
        { 3, 1, 3, NULL },
        { 3, 1, 4, NULL },
        { 3, 1, 2, "2 of 3 paths (--limit 0 shows all)" },
        { 3, 1, 1, "1 of 3 paths (--limit 0 shows all)" },
        { 3, 2, 1, "1 path of more (--limit 0 shows all)" },
        { 3, 2, 2, "2 paths of more (--limit 0 shows all)" },
        { 1, 2, 1, "1 of 2 paths (--limit 0 shows all)" },
        { 1, 2, 2, NULL },
    };
    heap   h;
    hdx_id ids[3];
    make_wide(&h, 6);
    size_t shared = 0;
    for (hdx_id id = 0; id < hdx_graph_objects(h.g) && shared < 3; id++)
        if (hdx_graph_live(h.g, id) && hdx_graph_kind(h.g, id) == HDX_INSTANCE)
            ids[shared++] = id;
    cr_assert(eq(sz, shared, 3)); /* the first of them is what two nodes have */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hdx_path_options options = { .paths = cases[i].paths, .limit = cases[i].limit };
        hdx_rows              *rows;
        cr_assert(eq(int, hdx_query_path(&h.q, ids, cases[i].targets, &options, &rows, &h.err), HDX_OK), "%s",
                  h.err.message);
        const char *title = hdx_rows_title(rows);
        cr_expect(title == cases[i].title ||
                      (title != NULL && cases[i].title != NULL && strcmp(title, cases[i].title) == 0),
                  "case %zu: %s", i, title);
        hdx_rows_close(rows);
    }
    ids[1] = hdx_graph_objects(h.g);
    hdx_rows *rows;
    cr_expect(eq(int, hdx_query_path(&h.q, ids, 2, NULL, &rows, &h.err), HDX_NOT_FOUND));
    heap_close(&h);
}

/* The same rows as with an index, where everything in the dump is counted. */
Test(histogram, of_classes_alone_is_that_of_all_objects)
{
    heap h;
    make_wide(&h, 10);
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(h.g, &count);
    h.q.scope = HDX_ALL;
    for (hdx_by by = HDX_BY_NONE; by <= HDX_BY_HEAP; by++)
        for (unsigned p = 0; p < 2; p++) {
            hdx_rows      *with, *alone;
            const hdx_code code = hdx_query_histogram_of(classes, count, by, p == 0 ? NULL : "app.*", &alone, &h.err);
            if (by == HDX_BY_HEAP) {
                cr_expect(eq(int, code, HDX_USAGE));
                cr_expect(strstr(h.err.message, "needs an index") != NULL);
                continue;
            }
            if (hdx_query_histogram(&h.q, by, p == 0 ? NULL : "app.*", false, &with, &h.err) != HDX_OK) {
                cr_expect(eq(int, code, HDX_USAGE));
                continue;
            }
            cr_assert(eq(int, code, HDX_OK), "%s", h.err.message);
            hdx_buffer a = rows_text(with), b = rows_text(alone);
            if (by == HDX_BY_LOADER) /* what a loader is called is not in classes */
                cr_expect(strcmp(b.at, p == 0 ? "0x0,-,5,24,472,-,100.00,-\n" : "0x0,-,1,10,240,-,50.85,-\n") == 0,
                          "%s", b.at);
            else
                cr_expect(strcmp(a.at, b.at) == 0, "by %d: %s, not %s", (int)by, b.at, a.at);
            hdx_buffer_free(&a);
            hdx_buffer_free(&b);
            hdx_rows_close(with);
            hdx_rows_close(alone);
        }
    heap_close(&h);
}

/* Retained sizes are asked for by name or by the column. */
Test(histogram, says_where_retained_sizes_are_not_known)
{
    static const struct {
        hdx_argument   at[3];
        size_t         count;
        hdx_refs_scope scope;
        const char    *said; /* NULL: it may be asked */
    } cases[] = {
        { { { "by", "heap" } }, 1, HDX_GARBAGE, NULL },
        { { { "scan", NULL } }, 1, HDX_LIVE, NULL },
        { { { "retained", NULL } }, 1, HDX_LIVE, NULL },
        { { { "retained", NULL } }, 1, HDX_ALL, NULL },
        { { { "retained", NULL } }, 1, HDX_GARBAGE, "unreachable objects retain nothing: omit `retained`" },
        { { { "by", "heap" }, { "retained", NULL } },
          2,
          HDX_LIVE,
          "retained sizes by heap are not available: omit `retained`" },
        { { { "by", "package" }, { "retained", NULL } }, 2, HDX_LIVE, NULL },
        { { { "scan", NULL }, { "retained", NULL } },
          2,
          HDX_LIVE,
          "--scan cannot compute retained sizes: omit --scan" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hdx_arguments a = { &hdx_question_histogram.declared, cases[i].at, cases[i].count };
        const hdx_query     q = { .scope = cases[i].scope };
        hdx_error           err = { .message = "" };
        cr_expect(eq(int, hdx_histogram_check(&q, &a, &err), cases[i].said == NULL ? HDX_OK : HDX_USAGE), "case %zu",
                  i);
        cr_expect(strcmp(err.message, cases[i].said == NULL ? "" : cases[i].said) == 0, "%s", err.message);
    }
}

/* Where no path is left the title says whether that is because of what was excluded. */
Test(paths, that_are_not_there_are_said)
{
    heap           h;
    hdx_id         ids[2] = { HDX_NO_ID, HDX_NO_ID };
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, ""),
                   node = dump_maker_class(m, "app.Node", object, "next:L");
    const uint64_t         last = dump_maker_instance(m, object, NULL), lost = dump_maker_instance(m, object, NULL);
    const char *const      next[] = { "app.Node#next" };
    const hdx_path_options plain = { .paths = 1 }, all = { .paths = 1, .exclude = HDX_EXCLUDE_WEAK },
                           field = { .paths = 1, .exclude_fields = next, .exclude_field_count = 1 };
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, node, DUMP_VALUES(last)), 0, 0);
    heap_open(&h, m);
    cr_assert(hdx_graph_find(h.g, last, &ids[0]) && hdx_graph_find(h.g, lost, &ids[1]));
    const struct {
        const hdx_id           *ids;
        size_t                  count;
        const hdx_path_options *options;
        const char             *said; /* of nothing; NULL: there is one */
    } cases[] = {
        { ids, 1, &plain, NULL },
        { ids, 1, &field, "no GC root reaches it without the excluded references" },
        { ids, 2, &field, "no GC root reaches any of them without the excluded references" },
        { ids + 1, 1, &plain, "no GC root reaches it" },
        { ids + 1, 1, &all, "no GC root reaches it without the excluded references" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_rows       *rows;
        const hdx_cell *cells;
        cr_assert(eq(int, hdx_query_path(&h.q, cases[i].ids, cases[i].count, cases[i].options, &rows, &h.err), HDX_OK));
        const bool none = !hdx_rows_next(rows, &cells);
        cr_expect(none == (cases[i].said != NULL), "case %zu", i);
        if (none)
            cr_expect(strcmp(hdx_rows_empty_reason(rows), cases[i].said) == 0, "%s", hdx_rows_empty_reason(rows));
        hdx_rows_close(rows);
    }
    heap_close(&h);
}
