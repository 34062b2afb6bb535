/*
 * test_children.c - answers from the first children that are saved next to an index: the same as without them, for all
 * keys, limits, pages and views, whatever is in the files.
 */
#include "random_heap.h"
#include "graph/graph.h"
#include "making/view.h"
#include "query/holding/children.h"

#include <sys/stat.h>
#include <unistd.h>

static const hdx_children_bounds nothing = { UINT64_MAX, 0, 0 };

typedef struct asked {
    hdx_by   by;
    unsigned depth;
    bool     fold;
    const char *class; /* the only one that is requested; NULL: all */
    bool     none;     /* with a condition that no row fulfils */
    uint64_t least, skip, limit;
    unsigned inside;
} asked;

/* `nothing` as bounds: computed without the bound on the class, too. Rows, sums, what follows the page, and the reason
 * if there are none, as text. */
static hdx_buffer answer(heap *h, hdx_id of, const asked *a, const hdx_children_bounds *bounds)
{
    hdx_rows    *rows;
    hdx_rows_cut cut;
    hdx_query    q = h->q;
    char         condition[64];
    if (a->class != NULL && bounds != &nothing)
        q.wanted.bounds[q.wanted.bound_count++] = (hdx_bound){ .column = 1, .text = a->class };
    if (a->least > 0)
        q.wanted.bounds[q.wanted.bound_count++] = (hdx_bound){ .column = 4, .least = a->least, .most = UINT64_MAX };
    cr_assert(eq(int,
                 hdx_dominators_bounded(&q, of == HDX_VIRTUAL_ROOT ? NULL : &of,
                                        &(hdx_dominators_options){ a->by, a->depth, a->fold, a->inside, bounds }, &rows,
                                        &h->err),
                 HDX_OK),
              "%s", h->err.message);
    if (a->class != NULL) {
        (void)snprintf(condition, sizeof condition, "class = %s", a->class);
        cr_assert(eq(int, hdx_rows_where(&rows, condition, &h->err), HDX_OK));
    }
    if (a->least > 0) {
        (void)snprintf(condition, sizeof condition, "retained >= %llu", (unsigned long long)a->least);
        cr_assert(eq(int, hdx_rows_where(&rows, condition, &h->err), HDX_OK));
    }
    if (a->none)
        cr_assert(eq(int, hdx_rows_where(&rows, "children > 1000", &h->err), HDX_OK));
    cr_assert(eq(int, hdx_rows_page(&rows, a->skip, a->limit, 7, &h->err), HDX_OK));
    hdx_buffer text = rows_text(rows);
    if (text.len == 0)
        hdx_buffer_format(&text, "%s", hdx_rows_empty_reason(rows));
    if (hdx_rows_cut_off(rows, &cut))
        hdx_buffer_format(&text, "%llu %llu %llu %llu %s", (unsigned long long)cut.before, (unsigned long long)cut.rows,
                          (unsigned long long)cut.objects, (unsigned long long)cut.retained, cut.cursor);
    hdx_rows_close(rows);
    return text;
}

static void expect_same(heap *h, hdx_id of, const asked *a, const hdx_children_bounds *bounds)
{
    hdx_buffer want = answer(h, of, a, &nothing);
    for (unsigned times = 0; times < 2; times++) { /* the first may compute what the second reads */
        hdx_buffer is = answer(h, of, a, bounds);
        cr_assert(eq(str, is.at, want.at), "object %llx by %d depth %u fold %d class %s least %llu rows %llu+%llu",
                  (unsigned long long)of, a->by, a->depth, a->fold, a->class == NULL ? "-" : a->class,
                  (unsigned long long)a->least, (unsigned long long)a->skip, (unsigned long long)a->limit);
        hdx_buffer_free(&is);
    }
    hdx_buffer_free(&want);
}

static void expect_all_same(heap *h, hdx_id of, const hdx_children_bounds *bounds)
{
    static const hdx_by      keys[] = { HDX_BY_OBJECT, HDX_BY_CLASS,  HDX_BY_PACKAGE,
                                        HDX_BY_LOADER, HDX_BY_ORIGIN, HDX_BY_OWNER };
    static const char *const classes[] = { NULL, "p0.C1", "p1.C4", "java.lang.Class", "app.Twice", "no.Such" };
    static const uint64_t    limits[] = { 1, 3, 4, 0 }, skips[] = { 0, 2, 3 };
    for (size_t l = 0; l < HDX_COUNT(limits); l++)
        for (size_t s = 0; s < HDX_COUNT(skips); s++) {
            for (size_t k = 0; k < HDX_COUNT(keys); k++)
                expect_same(h, of, &(asked){ .by = keys[k], .depth = 1, .skip = skips[s], .limit = limits[l] }, bounds);
            for (unsigned depth = 2; depth < 5; depth++)
                expect_same(h, of, &(asked){ .depth = depth, .skip = skips[s], .limit = limits[l] }, bounds);
            for (size_t c = 0; c < HDX_COUNT(classes); c++)
                for (unsigned how = 0; how < 3; how++)
                    expect_same(h, of,
                                &(asked){ .depth = 1 + (how == 1),
                                          .fold = how == 2,
                                          .class = classes[c],
                                          .none = s == 1,
                                          .least = s == 2 && how < 2 ? 40 : 0,
                                          .skip = skips[s],
                                          .limit = limits[l] },
                                bounds);
        }
}

static void forget(const char *folder)
{
    char path[600];
    for (uint64_t i = 0; i < HDX_NOTE_CHILDREN_COUNT; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, hdx_graph_saved_name(HDX_NOTE_CHILDREN + i));
        (void)unlink(path);
    }
}

static unsigned saved(const heap *h)
{
    const char *name;
    uint64_t    bytes;
    unsigned    n = 0;
    for (unsigned i = 0; hdx_graph_saved(h->g, i, &name, &bytes); i++)
        n += strncmp(name, "children-", 9) == 0;
    return n;
}

Test(children, of_random_heaps_are_the_same_from_what_is_saved)
{
    static const hdx_children_bounds bounds[] = {
        { 1, 3, 100 }, { 2, 1, 1000 }, { 1, 4, 5 }, { 1, 0, 0 }, { 3, 9, 9 }
    };
    for (unsigned seed = 1; seed <= 2; seed++) {
        heap h;
        random_heap(&h, seed);
        for (size_t b = 0; b < HDX_COUNT(bounds); b++) {
            expect_all_same(&h, HDX_VIRTUAL_ROOT, &bounds[b]);
            cr_expect(eq(int, hdx_children_verify(&h.q, &h.err), HDX_OK), "%s", h.err.message);
        }
        for (hdx_id id = 0; id < hdx_graph_objects(h.g); id++)
            if (hdx_graph_live(h.g, id) && hdx_graph_retained(h.g, id) > hdx_graph_shallow(h.g, id) && id % 25 == 0)
                expect_all_same(&h, id, &bounds[id % HDX_COUNT(bounds)]);
        cr_expect(eq(int, hdx_children_verify(&h.q, &h.err), HDX_OK), "%s", h.err.message);
        cr_expect(gt(uint, saved(&h), 0));
        heap_close(&h);
    }
}

#define WIDE 300u

/*
 * An array with many children of four classes, two of which have one name. Its class and the superclass have no other
 * root, and are children, too.
 */
static void open_wide(heap *h)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    of[WIDE];
    uint64_t    classes[4] = { 0 };
    uint64_t    object = dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    uint64_t    array = dump_maker_class_at(m, 0x200, "[Ljava/lang/Object;", object, "");
    (void)dump_maker_class_at(m, 0x300, "java.lang.Class", object, "");
    (void)dump_maker_class_at(m, 0x400, "byte[]", object, "");
    classes[0] = dump_maker_class_at(m, 0x500, "p0.C1", object, "a:L");
    classes[1] = dump_maker_class_at(m, 0x600, "p1.C4", object, "a:L b:L c:L");
    classes[2] = dump_maker_class_at(m, 0x700, "app.Twice", object, "a:L");
    classes[3] = dump_maker_class_at(m, 0x800, "app.Twice", object, "a:L");
    for (unsigned i = 0; i < WIDE; i++) { /* sizes repeat, in no order */
        const uint64_t child = 0x10000 + 64 * (uint64_t)i, bytes = 0x100000 + 0x1000 * (uint64_t)i;
        dump_maker_primitives_at(m, bytes, 'B', NULL, i * 7919 % 37 * 8);
        dump_maker_instance_at(m, child, classes[i * 31 % 7 % 4], DUMP_VALUES(bytes, 0, 0));
        of[i] = child;
    }
    dump_maker_array_at(m, 0x900000, array, of, WIDE);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x900000, 0, 0);
    for (unsigned i = 0; i < 4; i++)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, classes[i], 0, 0);
    heap_open(h, m);
}

static const hdx_children_bounds few = { .from = 100, .each = 20, .all = 60 };
static const asked               first = { .depth = 1, .limit = 5 };

Test(children, of_a_wide_object_are_the_same_from_what_is_saved)
{
    static const hdx_children_bounds bounds[] = { { 100, 20, 60 }, { WIDE + 2, 50, 1000 }, { 2, 1000, 7 } };
    heap                             h;
    open_wide(&h);
    for (size_t b = 0; b < HDX_COUNT(bounds); b++) {
        expect_all_same(&h, id_at(&h, 0x900000), &bounds[b]);
        expect_all_same(&h, HDX_VIRTUAL_ROOT, &bounds[b]);
        for (uint64_t skip = 0; skip < WIDE + 3; skip += 6)
            expect_same(&h, id_at(&h, 0x900000), &(asked){ .depth = 1, .skip = skip, .limit = 17 }, &bounds[b]);
        cr_expect(eq(int, hdx_children_verify(&h.q, &h.err), HDX_OK), "%s", h.err.message);
    }
    heap_close(&h);
}

Test(children, are_saved_only_for_objects_that_have_many)
{
    heap h;
    open_wide(&h);
    const hdx_id              wide = id_at(&h, 0x900000);
    const hdx_children_bounds more = { .from = WIDE + 3, .each = 20, .all = 60 };
    expect_same(&h, wide, &first, &more);
    expect_same(&h, HDX_VIRTUAL_ROOT, &first, &few);
    cr_expect(eq(uint, saved(&h), 0));
    expect_same(&h, wide, &first, &few);
    cr_expect(eq(uint, saved(&h), 1));
    heap_close(&h);
}

/* What is read from the file takes no walk over all children: a lie in it would be seen, and `verify` sees it. */
Test(children, that_are_saved_are_read_and_not_computed_again)
{
    heap h;
    open_wide(&h);
    const hdx_id   wide = id_at(&h, 0x900000);
    const uint64_t key = HDX_NOTE_CHILDREN + 1 + wide % (HDX_NOTE_CHILDREN_COUNT - 1);
    hdx_buffer     want = answer(&h, wide, &(asked){ .by = HDX_BY_CLASS, .depth = 1 }, &few);
    hdx_remembered r = hdx_graph_recall(h.g, key);
    cr_assert(r.at != NULL);
    r.at[40 + 16]++; /* shallow size of the first class */
    cr_assert(hdx_graph_remember(h.g, key, r.at, r.size));
    hdx_mem_put(NULL, r.at, r.size);
    hdx_buffer is = answer(&h, wide, &(asked){ .by = HDX_BY_CLASS, .depth = 1 }, &few);
    cr_expect(ne(str, is.at, want.at));
    cr_expect(eq(int, hdx_children_verify(&h.q, &h.err), HDX_DAMAGED));
    hdx_buffer_free(&is);
    hdx_buffer_free(&want);
    heap_close(&h);
}

/* Whatever byte of the file changes, its checksum notices it, and the file is made again. */
Test(children, are_saved_again_if_the_file_is_damaged)
{
    heap h;
    char path[400];
    open_wide(&h);
    const hdx_id   wide = id_at(&h, 0x900000);
    const uint64_t key = HDX_NOTE_CHILDREN + 1 + wide % (HDX_NOTE_CHILDREN_COUNT - 1);
    (void)snprintf(path, sizeof path, "%s/%s", h.index, hdx_graph_saved_name(key));
    expect_same(&h, wide, &first, &few);
    for (long at = 0; at < 700; at += 65) {
        FILE     *f = fopen(path, "r+");
        const int was = f != NULL && fseek(f, at, SEEK_SET) == 0 ? fgetc(f) : EOF;
        cr_assert(was != EOF && fseek(f, at, SEEK_SET) == 0 && fputc(was ^ 0x10, f) != EOF && fclose(f) == 0);
        hdx_remembered r = hdx_graph_recall(h.g, key);
        cr_expect(eq(ptr, r.at, NULL), "byte %ld", at);
        expect_same(&h, wide, &first, &few);
        r = hdx_graph_recall(h.g, key);
        cr_expect(ne(ptr, r.at, NULL), "byte %ld", at);
        hdx_mem_put(NULL, r.at, r.size);
    }
    cr_expect(eq(int, truncate(path, 100), 0));
    expect_same(&h, wide, &first, &few);
    cr_expect(eq(int, hdx_children_verify(&h.q, &h.err), HDX_OK), "%s", h.err.message);
    heap_close(&h);
}

static void save_changed(const heap *h, uint64_t key, const hdx_remembered *good, uint64_t at, uint64_t number)
{
    uint8_t was[8];
    memcpy(was, good->at + at, sizeof was);
    hdx_put64(good->at + at, number);
    cr_assert(hdx_graph_remember(h->g, key, good->at, good->size));
    memcpy(good->at + at, was, sizeof was);
}

/* The checksum is right and the content is not: what the index contradicts is not used, and `verify` names the file. */
Test(children, with_false_numbers_are_not_used_or_are_found_by_verify)
{
    heap h;
    open_wide(&h);
    const hdx_id   wide = id_at(&h, 0x900000);
    const uint64_t key = HDX_NOTE_CHILDREN + 1 + wide % (HDX_NOTE_CHILDREN_COUNT - 1);
    expect_same(&h, wide, &first, &few);
    hdx_remembered good = hdx_graph_recall(h.g, key);
    cr_assert(good.at != NULL && hdx_le64(good.at + 32) == 5);
    const uint64_t ids = 40 + 5 * 32, last = good.size - 8;
    const struct {
        uint64_t at, number;
    } false_numbers[] = {
        { 0, 2 },        /* another version */
        { 8, wide + 1 }, /* another object */
        { 16, 21 },      /* other bounds */
        { 24, 10 },
        { 32, 4 }, /* fewer classes, more, far too many */
        { 32, 6 },
        { 32, UINT64_MAX / 32 },
        { 40, 1ull << 32 },                  /* no class */
        { 40 + 32, hdx_le64(good.at + 40) }, /* one class twice */
        { 48, 0 },                           /* a class without objects, with more than there are */
        { 48, UINT64_MAX },
        { 64, 1 }, /* sums that are not those of the object */
        { 64, UINT64_MAX },
        { 64, hdx_le64(good.at + 64) - 1 },
        { ids, hdx_le64(good.at + ids + 8) },  /* one child twice */
        { ids, UINT64_MAX },                   /* no object */
        { ids, wide },                         /* an object that is no child */
        { ids + 8, hdx_le64(good.at + last) }, /* not in order */
    };
    for (size_t i = 0; i < HDX_COUNT(false_numbers); i++) {
        save_changed(&h, key, &good, false_numbers[i].at, false_numbers[i].number);
        cr_expect(eq(int, hdx_children_verify(&h.q, &h.err), HDX_DAMAGED), "number %zu", i);
        expect_same(&h, wide, &first, &few);
        cr_expect(eq(int, hdx_children_verify(&h.q, &h.err), HDX_OK), "number %zu was saved again", i);
    }
    for (uint64_t at = 32; at < good.size; at += 60) { /* whatever is answered, each is found, and none does harm */
        save_changed(&h, key, &good, at / 8 * 8, hdx_le64(good.at + at / 8 * 8) ^ (at % 8 == 0 ? 1 : 1ull << 40));
        cr_expect(eq(int, hdx_children_verify(&h.q, &h.err), HDX_DAMAGED), "byte %llu", (unsigned long long)at);
        hdx_buffer is = answer(&h, wide, &(asked){ .depth = 1, .class = "p1.C4" }, &few);
        hdx_buffer_free(&is);
    }
    for (uint64_t size = 0; size < good.size; size += 250) {
        cr_assert(hdx_graph_remember(h.g, key, good.at, size));
        expect_same(&h, wide, &first, &few);
    }
    hdx_mem_put(NULL, good.at, good.size);
    heap_close(&h);
}

/* All objects but the top share a few files. */
Test(children, of_another_object_in_the_same_file_are_replaced)
{
    const hdx_children_bounds bounds = { .from = 1, .each = 3, .all = 30 };
    heap                      h;
    random_heap(&h, 5);
    for (unsigned round = 0; round < 2; round++)
        for (hdx_id id = 0; id < hdx_graph_objects(h.g); id++)
            if (hdx_graph_live(h.g, id) && hdx_graph_retained(h.g, id) > hdx_graph_shallow(h.g, id))
                expect_same(&h, id, &first, &bounds);
    cr_expect(le(uint, saved(&h), (unsigned)HDX_NOTE_CHILDREN_COUNT));
    cr_expect(eq(int, hdx_children_verify(&h.q, &h.err), HDX_OK), "%s", h.err.message);
    forget(h.index);
    cr_expect(eq(uint, saved(&h), 0));
    heap_close(&h);
}

Test(children, of_a_view_are_saved_in_the_view)
{
    heap h;
    open_wide(&h);
    const hdx_index_options options = { .dump = h.dump, .index_dir = h.index, .threads = 1 };
    hdx_view_wanted         view = { .name = "v", .spec = "roots STICKY_CLASS", .roots = 1u << HDX_ROOT_SYSTEM_CLASS };
    hdx_index_report        report;
    hdx_graph_identity(h.g, view.index);
    const hdx_id wide = id_at(&h, 0x900000);
    expect_same(&h, wide, &first, &few);
    hdx_graph_close(h.g);
    cr_assert(eq(int, hdx_view_build(&options, &view, &report, &h.err), HDX_OK), "%s", h.err.message);
    cr_assert(eq(int, hdx_graph_open_view(h.index, "v", h.dump, &h.g, &h.err), HDX_OK), "%s", h.err.message);
    h.q.graph = h.g;
    cr_expect(eq(uint, saved(&h), 0));
    expect_all_same(&h, wide, &few);
    expect_same(&h, HDX_VIRTUAL_ROOT, &first, &(hdx_children_bounds){ 1, 2, 3 });
    cr_expect(gt(uint, saved(&h), 1));
    cr_expect(eq(int, hdx_children_verify(&h.q, &h.err), HDX_OK), "%s", h.err.message);
    heap_close(&h);
}

Test(children, of_a_folder_that_cannot_be_written_are_the_same)
{
    heap h;
    char path[400];
    open_wide(&h);
    for (uint64_t i = 0; i < HDX_NOTE_CHILDREN_COUNT; i++) { /* a folder in place of each file */
        (void)snprintf(path, sizeof path, "%s/%s", h.index, hdx_graph_saved_name(HDX_NOTE_CHILDREN + i));
        cr_assert(eq(int, mkdir(path, 0700), 0));
    }
    expect_all_same(&h, id_at(&h, 0x900000), &few);
    heap_close(&h);
}
