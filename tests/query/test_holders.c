/*
 * test_holders.c - who holds what together, against plain marking: with the edges of the holders up to a row left out,
 * what is not reached weighs what the row says.
 */
#include "support/questions.h"
#include "heap.h"
#include "graph/graph.h"

#define MEMBERS 64u

typedef struct row {
    hdx_id   from, to[MEMBERS]; /* from: of a field its class; to: what fields refer to, else threads or roots */
    unsigned members;
    char     kind[8], label[32];
    uint64_t alone, together;
} row;

typedef struct answer {
    row      at[64];
    unsigned count;
    bool     reached;
    uint64_t bytes, needed;
    char     nothing[160];
} answer;

static const hdx_cell *child(const hdx_cell *object, const char *key)
{
    for (uint64_t i = 0; i < object->as.object.count; i++)
        if (strcmp(object->as.object.at[i].key, key) == 0)
            return &object->as.object.at[i].value;
    cr_assert(false, "no member %s", key);
    return NULL;
}

static void ask(heap *h, unsigned share, unsigned most, answer *a)
{
    extern const hdx_question hdx_question_holders;
    char                      shares[16], mosts[16];
    (void)snprintf(shares, sizeof shares, "%u", share);
    (void)snprintf(mosts, sizeof mosts, "%u", most);
    const hdx_argument  arguments[] = { { "share", shares }, { "most", mosts } };
    const hdx_arguments given = { &hdx_question_holders.declared, arguments, 2 };
    hdx_rows           *rows;
    const hdx_cell     *cells;
    memset(a, 0, sizeof *a);
    cr_assert(eq(int, hdx_question_open(&hdx_question_holders, &h->q, &given, &rows, &h->err), HDX_OK), "%s",
              h->err.message);
    /* kind, alone, together, percent, address, class, label, reference, target */
    while (hdx_rows_next(rows, &cells)) {
        row *r = &a->at[a->count++];
        (void)snprintf(r->kind, sizeof r->kind, "%.*s", (int)cells[0].as.text.len, cells[0].as.text.at);
        r->alone = cells[1].as.natural;
        r->together = cells[2].as.natural;
        r->from = cells[4].kind == HDX_CELL_ADDRESS ? id_at(h, cells[4].as.address) : HDX_NO_ID;
        if (cells[6].kind == HDX_CELL_TEXT)
            (void)snprintf(r->label, sizeof r->label, "%.*s", (int)cells[6].as.text.len, cells[6].as.text.at);
        if (cells[11].kind == HDX_CELL_LIST) {
            for (; r->members < cells[11].as.list.count && r->members < MEMBERS; r->members++)
                r->to[r->members] = id_at(h, cells[11].as.list.at[r->members].as.address);
        } else {
            r->to[r->members++] = cells[8].kind == HDX_CELL_ADDRESS ? id_at(h, cells[8].as.address) : r->from;
        }
        cr_expect(eq(u64, cells[10].as.natural, r->members));
    }
    cr_assert(eq(int, hdx_rows_end(rows, &h->err), HDX_OK), "%s", h->err.message);
    a->reached = child(extra(rows, "total"), "reached")->as.boolean;
    a->bytes = child(extra(rows, "total"), "bytes")->as.natural;
    const hdx_cell *needed = child(extra(rows, "total"), "needed");
    a->needed = needed->kind == HDX_CELL_UINT ? needed->as.natural : 0;
    const char *nothing = hdx_rows_empty_reason(rows);
    (void)snprintf(a->nothing, sizeof a->nothing, "%s", nothing == NULL ? "" : nothing);
    hdx_rows_close(rows);
}

static bool is_member(const row *r, hdx_id id)
{
    for (unsigned i = 0; i < r->members; i++)
        if (r->to[i] == id)
            return true;
    return false;
}

/* Does the row hold the object by being a GC root of these types? */
static bool holds_root(const row *r, hdx_id id) { return strcmp(r->kind, "root") == 0 && is_member(r, id); }

static bool holds(const row *r, hdx_id from, hdx_id to)
{
    return strcmp(r->kind, "thread") == 0 ? is_member(r, from)
                                          : strcmp(r->kind, "static") == 0 && r->from == from && is_member(r, to);
}

/* Bytes that nothing reaches when these rows (a bit for each) hold nothing. */
static uint64_t free_without(heap *h, const answer *a, uint64_t rows)
{
    const uint64_t  n = hdx_graph_objects(h->g);
    uint64_t        roots = 0, count = 0, reached = 0;
    const hdx_root *root = hdx_graph_roots(h->g, &roots);
    bool           *seen = calloc(n, 1);
    hdx_id         *stack = malloc(n * sizeof *stack);
    for (uint64_t i = 0; i < roots; i++) {
        bool removed = root[i].thread != HDX_NO_ID;
        for (unsigned r = 0; r < a->count; r++)
            removed |= (rows >> r & 1) && holds_root(&a->at[r], root[i].object);
        if (!removed && !seen[root[i].object]) {
            seen[root[i].object] = true;
            stack[count++] = root[i].object;
        }
    }
    while (count > 0) {
        const hdx_id from = stack[--count];
        hdx_refs     refs;
        hdx_id       to;
        reached += hdx_graph_shallow(h->g, from);
        hdx_graph_outbound(h->g, from, HDX_ALL, &refs);
        while (hdx_refs_next(&refs, &to)) {
            bool removed = false;
            for (unsigned r = 0; r < a->count; r++)
                removed |= (rows >> r & 1) && holds(&a->at[r], from, to);
            if (!removed && !seen[to]) {
                seen[to] = true;
                stack[count++] = to;
            }
        }
    }
    free(seen);
    free(stack);
    return hdx_graph_summary_of(h->g)->live_bytes - reached;
}

/* Every row, and whether each is needed. */
static void check(heap *h, const char *name, unsigned share, unsigned most)
{
    const uint64_t wanted = (uint64_t)((double)hdx_graph_summary_of(h->g)->live_bytes * share / 100);
    answer         a;
    uint64_t       all = 0;
    ask(h, share, most, &a);
    for (unsigned r = 0; r < a.count; r++) {
        all |= 1ull << r;
        cr_expect(eq(u64, a.at[r].alone, free_without(h, &a, 1ull << r)), "%s, %u%%: row %u", name, share, r);
        cr_expect(eq(u64, a.at[r].together, free_without(h, &a, all)), "%s, %u%%: row %u", name, share, r);
    }
    cr_expect(eq(u64, a.bytes, a.count == 0 ? 0 : a.at[a.count - 1].together), "%s, %u%%", name, share);
    cr_expect(eq(int, a.reached, a.count > 0 && a.bytes >= wanted), "%s, %u%%", name, share);
    for (unsigned r = 0; a.reached && r < a.count; r++)
        cr_expect(lt(u64, free_without(h, &a, all & ~(1ull << r)), wanted), "%s, %u%%: row %u is not needed", name,
                  share, r);
}

/* Nodes that refer to each other at random, held by roots and by statics of classes, some of which only nodes hold. */
static void mesh(heap *h, unsigned seed)
{
    dump_maker    *m = dump_maker_new(8);
    const unsigned n = 30 + (unsigned)rand_r(&seed) % 60;
    uint64_t       refs[2];
    const uint64_t object = dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    const uint64_t node = dump_maker_class_at(m, 0x200, "app.Node", object, "a:L b:L");
    for (unsigned c = 0; c < 6; c++) {
        dump_maker_static(m, "x", 'L', 0x10000 + 64 * ((unsigned)rand_r(&seed) % n));
        dump_maker_static(m, "y", 'L', 0x10000 + 64 * ((unsigned)rand_r(&seed) % n));
        (void)dump_maker_class_at(m, 0x400 + 0x100 * c, c % 2 ? "app.Odd" : "app.Even", node, "");
        if (c % 3 == 0 || rand_r(&seed) % 3 == 0)
            dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, 0x400 + 0x100 * c, 0, 0);
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 2; k++)
            refs[k] = (unsigned)rand_r(&seed) % 4 == 0 ? 0 : 0x10000 + 64 * ((unsigned)rand_r(&seed) % n);
        const unsigned c = (unsigned)rand_r(&seed) % 40;
        dump_maker_instance_at(m, 0x10000 + 64 * (uint64_t)i, c < 6 ? 0x400 + 0x100 * c : node, refs);
    }
    for (unsigned i = 0; i < 3; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x10000 + 64 * ((unsigned)rand_r(&seed) % n), 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    heap_open(h, m);
}

Test(holders, of_random_heaps_hold_what_they_say_and_none_is_too_many)
{
    for (unsigned seed = 1; seed <= 60; seed++) {
        heap h;
        char name[32];
        mesh(&h, seed);
        (void)snprintf(name, sizeof name, "seed %u", seed);
        check(&h, name, 20, 8);
        check(&h, name, 50, 32);
        check(&h, name, 90, 4);
        heap_close(&h);
    }
}

typedef enum shared_by { THREADS, FIELDS, ROOTS, CLASSES } shared_by;

/* An array of 80 KB that `count` threads, fields of one class, roots of one type or fields of as many classes share. */
static void share_out(heap *h, shared_by by, unsigned count)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t zeros[10000] = { 0 };
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, ""),
                   string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I"),
                   node = dump_maker_class(m, "app.Node", object, "data:L"),
                   thread = dump_maker_class(m, "java.lang.Thread", object, "name:L target:L");
    (void)dump_maker_class(m, "byte[]", object, "");
    (void)dump_maker_class(m, "long[]", object, "");
    m->next_id = 0x100000;
    const uint64_t data = dump_maker_primitives(m, 'J', zeros, HDX_COUNT(zeros));
    for (unsigned i = 0; i < count; i++) {
        char           name[32];
        const uint64_t at = dump_maker_instance(m, node, DUMP_VALUES(data));
        (void)snprintf(name, sizeof name, by == THREADS ? "http-%u-exec" : "app.C%u", i);
        if (by == ROOTS) {
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, at, 0, 0);
        } else if (by == THREADS) {
            const uint64_t text = dump_maker_string(m, string, name),
                           worker = dump_maker_instance(m, thread, DUMP_VALUES(text, at));
            dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, worker, i + 1, 0);
        } else {
            (void)snprintf(name, sizeof name, "f%u", i);
            dump_maker_static(m, name, 'L', at);
        }
        if (by == CLASSES) {
            (void)snprintf(name, sizeof name, "app.C%u", i);
            dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, name, object, ""), 0, 0);
        }
    }
    if (by == FIELDS)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app.Shop", object, ""), 0, 0);
    heap_open(h, m);
}

Test(holders, of_one_pool_class_or_type_are_one_however_many_they_are)
{
    static const struct {
        shared_by   by;
        const char *kind, *label;
    } of[] = { { THREADS, "thread", "http-#-exec" },
               { FIELDS, "static", "class app.Shop" },
               { ROOTS, "root", "JNI global" } };
    for (unsigned i = 0; i < HDX_COUNT(of); i++)
        for (unsigned count = 5; count <= 50; count += 45) {
            heap   h;
            answer a;
            share_out(&h, of[i].by, count);
            ask(&h, 80, 4, &a);
            cr_assert(eq(u32, a.count, 1), "%s", of[i].kind);
            cr_expect(eq(str, a.at[0].kind, (char *)of[i].kind));
            cr_expect(eq(str, a.at[0].label, (char *)of[i].label));
            cr_expect(eq(u32, a.at[0].members, count));
            cr_expect(eq(u64, a.needed, 1));
            check(&h, of[i].kind, 80, 4);
            heap_close(&h);
        }
}

/* Threads of one pool are one row, too, where they were tried one by one. */
Test(holders, of_one_pool_are_one_row_where_few_are_needed)
{
    heap   h;
    answer a;
    share_out(&h, THREADS, 5);
    ask(&h, 80, 8, &a);
    cr_assert(eq(u32, a.count, 1));
    cr_expect(eq(u32, a.at[0].members, 5));
    check(&h, "pool", 80, 8);
    heap_close(&h);
}

Test(holders, of_too_many_classes_are_counted)
{
    heap   h;
    answer a;
    share_out(&h, CLASSES, 40);
    ask(&h, 80, 8, &a);
    cr_expect(eq(u32, a.count, 0));
    cr_expect(eq(u64, a.needed, 40));
    cr_expect(eq(str, a.nothing,
                 (char *)"none of the 8 examined holders holds 1% of the heap; 40 would hold 80% (--most 40)"));
    ask(&h, 80, 40, &a);
    cr_expect(eq(u32, a.count, 40));
    check(&h, "classes", 80, 40);
    heap_close(&h);
    share_out(&h, CLASSES, 70);
    ask(&h, 80, 8, &a);
    cr_expect(eq(u64, a.needed, 0));
    cr_expect(
        eq(str, a.nothing, (char *)"none of the 8 examined holders holds 1% of the heap; 64 hold 1.9% (--most 64)"));
    heap_close(&h);
}

Test(holders, of_a_real_heap_are_the_cache_and_the_desk_that_knows_it)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    hdx_index_report  report;
    heap              h = { 0 };
    answer            a;
    test_folder_make(h.folder, "holders");
    const hdx_index_options options = { .dump = dump, .index_dir = h.folder, .threads = 1 };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h.err), HDX_OK), "%s", h.err.message);
    cr_assert(eq(int, hdx_graph_open(report.path, dump, &h.g, &h.err), HDX_OK), "%s", h.err.message);
    h.q = (hdx_query){ .graph = h.g, .threads = 2 };
    ask(&h, 60, 8, &a); /* the static SESSIONS, and the thread whose desk refers to the same cache */
    cr_assert(eq(u32, a.count, 2));
    cr_expect(eq(u64, a.at[0].from, id_at(&h, 0xfeb181e8)));
    cr_expect(eq(u64, a.at[0].to[0], id_at(&h, 0xfeb18ea8)));
    cr_expect(eq(u64, a.at[1].from, id_at(&h, 0xfed5a340)));
    cr_expect(eq(u64, a.at[0].together, 0));
    cr_expect(gt(u64, a.at[1].together, 1960000));
    check(&h, "bookshop", 60, 8);
    check(&h, "bookshop", 99, 32);
    h.q.threads = 1;
    check(&h, "bookshop", 75, 8);
    heap_close(&h);
}

Test(holders, are_not_what_exists_in_the_dump_only)
{
    heap           h;
    answer         a;
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_class(m, "java.lang.Class", object, "");
    dump_maker_class(m, "byte[]", object, "");
    const uint64_t data = dump_maker_class(m, "android.graphics.Bitmap$DumpData", object, "buffers:L");
    dump_maker_static(m, "dumpData", 'L',
                      dump_maker_instance(m, data, DUMP_VALUES(dump_maker_primitives(m, 'B', NULL, 40000))));
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "android.graphics.Bitmap", object, ""), 0, 0);
    const uint64_t cache = dump_maker_primitives(m, 'B', NULL, 5000);
    dump_maker_static(m, "cache", 'L', cache);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app.Shop", object, ""), 0, 0);
    heap_open(&h, m);
    ask(&h, 80, 8, &a);
    cr_assert(eq(uint, a.count, 1));
    cr_expect(eq(u64, a.at[0].to[0], id_at(&h, cache)));
    cr_expect(a.reached);
    heap_close(&h);
}
