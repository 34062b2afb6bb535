/*
 * test_suspects.c - suspects of examples/bookshop.hprof.gz, of small heaps at the edges of every rule (doc/mat.md 7),
 * and of indexes without their dump. Those of the golden dumps are compared in the full check.
 */
#include "support/questions.h"
#include "heap.h"
#include "trouble.h"

/* ---- bookshop ---- */

static void open_bookshop(heap *h, bool with_dump)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    hdx_index_report  report;
    memset(h, 0, sizeof *h);
    test_folder_make(h->folder, "suspects");
    (void)snprintf(h->index, sizeof h->index, "%s/a.hdx", h->folder);
    const hdx_index_options options = { .dump = dump, .index_dir = h->index, .threads = 1 };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_graph_open(h->index, with_dump ? dump : NULL, &h->g, &h->err), HDX_OK), "%s", h->err.message);
    h->q = (hdx_query){ .graph = h->g, .threads = 2 };
}

static hdx_rows *ask(heap *h, unsigned threshold, unsigned drop, unsigned share)
{
    hdx_rows                 *rows = NULL;
    const hdx_suspect_options options = { threshold, drop, share };
    cr_assert(eq(int, hdx_query_suspects(&h->q, &options, &rows, &h->err), HDX_OK), "%s", h->err.message);
    return rows;
}

/* The rows are asked for once, and closed. */
#define expect_asked(rows, want)                                                                                       \
    do {                                                                                                               \
        hdx_rows *asked_ = (rows);                                                                                     \
        expect_rows(asked_, want);                                                                                     \
    } while (0)

Test(suspects, of_the_bookshop_say_what_holds_the_sessions)
{
    heap h;
    open_bookshop(&h, true);
    expect_asked(
        ask(&h, 0, 0, 0),
        "1,1,object,0xfeb18ea8,bookshop.Bookshop$SessionCache,1,1965232,70.49,0xfecd0878,java.util.HashMap$Node[],"
        "1965168,java.util.HashMap$Node,213,1963104,one "
        "HashMap in the field sessions of one bookshop.Bookshop$SessionCache in the static "
        "bookshop.Bookshop.SESSIONS retains 1.9 MB (70%), 270 entries of bookshop.Bookshop$Session, held by thread "
        "\"clerk\"; look at bookshop.Bookshop.lambda$main$0 (Bookshop.java:120)\n");
    heap_close(&h);
}

Test(suspects, of_an_index_without_its_dump_have_all_numbers_and_no_names_of_fields)
{
    heap h;
    open_bookshop(&h, false);
    expect_asked(
        ask(&h, 0, 0, 0),
        "1,1,object,0xfeb18ea8,bookshop.Bookshop$SessionCache,1,1965232,70.49,0xfecd0878,java.util.HashMap$Node[],"
        "1965168,java.util.HashMap$Node,213,1963104,one "
        "HashMap, below one bookshop.Bookshop$SessionCache, retains 1.9 MB (70%), 1.9 MB of it in 213 HashMap$Node, "
        "held by thread 0xfed5a340; look at bookshop.Bookshop.lambda$main$0 (Bookshop.java:120)\n");
    heap_close(&h);
}

Test(suspects, that_are_none_leave_a_word)
{
    heap h;
    open_bookshop(&h, true);
    hdx_rows *rows = ask(&h, 71, 0, 0);
    expect_extra(rows, "suspects", "[]");
    expect_extra(rows, "problems", "[]");
    const hdx_cell *cells;
    cr_expect(not(hdx_rows_next(rows, &cells)));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows),
                 "no object, alone or together with its class, retains more than 71% of the live bytes"));
    hdx_rows_close(rows);
    heap_close(&h);
}

/* ---- small heaps ---- */

typedef struct small {
    dump_maker *m;
    uint64_t    object, class, node, box, arrays, bytes, weak;
} small;

static small small_new(void)
{
    small s = { .m = dump_maker_new(8) };
    s.object = dump_maker_class(s.m, "java.lang.Object", 0, "");
    s.class = dump_maker_class(s.m, "java.lang.Class", s.object, "");
    s.bytes = dump_maker_class(s.m, "byte[]", s.object, "");
    s.arrays = dump_maker_class(s.m, "java.lang.Object[]", s.object, "");
    s.node = dump_maker_class(s.m, "app.Link", s.object, "next:L content:L");
    s.box = dump_maker_class(s.m, "app.Box", s.object, "content:L");
    const uint64_t reference = dump_maker_class(s.m, "java.lang.ref.Reference", s.object, "referent:L");
    s.weak = dump_maker_class(s.m, "java.lang.ref.WeakReference", reference, "");
    return s;
}

/* A GC root. */
static uint64_t global(small *s, uint64_t id)
{
    dump_maker_root(s->m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
    return id;
}

static uint64_t filled(small *s, uint32_t bytes) { return dump_maker_primitives(s->m, 'B', NULL, bytes); }
static uint64_t boxed(small *s, uint32_t bytes)
{
    return dump_maker_instance(s->m, s->box, DUMP_VALUES(filled(s, bytes)));
}

/* Of the suspects in the rows, which are closed: "object 0x40 1 1016 point", one a line. */
#define expect_suspects(rows, want)                                                                                    \
    do {                                                                                                               \
        hdx_rows       *rows_ = (rows);                                                                                \
        hdx_buffer      text_ = hdx_buffer_of(NULL);                                                                   \
        const hdx_cell *c_;                                                                                            \
        hdx_buffer_text(&text_, "");                                                                                   \
        while (hdx_rows_next(rows_, &c_))                                                                              \
            for (unsigned i_ = 0; i_ < 5; i_++) {                                                                      \
                put_cell(&text_, &c_[((const unsigned[]){ 2, 4, 5, 1, 8 })[i_]]);                                      \
                hdx_buffer_text(&text_, i_ == 4 ? "\n" : " ");                                                         \
            }                                                                                                          \
        cr_expect(eq(int, hdx_rows_end(rows_, &h.err), HDX_OK), "%s", h.err.message);                                  \
        cr_expect(eq(str, text_.at, (char *)want));                                                                    \
        hdx_buffer_free(&text_);                                                                                       \
        hdx_rows_close(rows_);                                                                                         \
    } while (0)

/* One box that retains 8,040 bytes in a heap of so many bytes, filled up by single arrays of other classes' bytes. */
static void box_in(heap *h, uint64_t total, uint64_t *box)
{
    uint64_t has = 0;
    for (unsigned round = 0; round < 2; round++) {
        small s = small_new();
        *box = global(&s, boxed(&s, 8000));
        if (round == 1) /* an array of n bytes takes n + 24 in this layout */
            (void)global(&s, filled(&s, (uint32_t)(total - has - 24)));
        heap_open(h, s.m);
        has = hdx_graph_summary_of(h->g)->live_bytes;
        if (round == 0)
            heap_close(h);
    }
    cr_assert(eq(u64, has, total));
}

Test(suspects, keep_more_than_the_threshold_not_as_much)
{
    heap     h;
    uint64_t box;
    box_in(&h, 160000, &box);
    const uint64_t retains = hdx_graph_retained(h.g, id_at(&h, box));
    heap_close(&h);
    box_in(&h, retains * 10, &box); /* 10 % of it are what the box keeps, not less */
    expect_suspects(ask(&h, 10, 0, 0), "object byte[] 1 1 0x7f0000012080\n");
    heap_close(&h);
    box_in(&h, retains * 10 - 8, &box);
    expect_suspects(ask(&h, 10, 0, 0), "object byte[] 1 1 0x7f0000012080\nobject app.Box 1 2 0x7f0000010100\n");
    heap_close(&h);
}

static void keep_notice(void *context, const char *line) { (void)snprintf(context, 200, "%s", line); }

/* `am dumpheap -b` made the pictures: they are no suspect, and the box is one of what else there is. */
Test(suspects, are_not_what_exists_in_the_dump_only)
{
    heap           h;
    char           said[200] = "";
    small          s = small_new();
    const uint64_t data = dump_maker_class(s.m, "android.graphics.Bitmap$DumpData", s.object, "buffers:L");
    const uint64_t picture = filled(&s, 40000);
    dump_maker_static(s.m, "dumpData", 'L',
                      dump_maker_instance(s.m, data, DUMP_VALUES(dump_maker_array(s.m, s.arrays, &picture, 1))));
    dump_maker_root(s.m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(s.m, "android.graphics.Bitmap", s.object, ""), 0,
                    0);
    const uint64_t box = global(&s, boxed(&s, 1000));
    heap_open(&h, s.m);
    h.q.notice = keep_notice;
    h.q.notice_context = said;
    hdx_rows       *rows = ask(&h, 10, 0, 0);
    const hdx_cell *cells;
    cr_assert(hdx_rows_next(rows, &cells));
    cr_expect(eq(u64, cells[3].as.address, box));
    cr_expect(cells[7].as.real > 50.0); /* of the heap without the pictures */
    cr_expect(not(hdx_rows_next(rows, &cells)));
    hdx_rows_close(rows);
    cr_expect(strstr(said, "of pictures in android.graphics.Bitmap.dumpData exist only in this dump") != NULL, "%s",
              said);
    heap_close(&h);
}

/* A list of so many links, each of 32 bytes; the first is a root. */
static void list_of(heap *h, unsigned links, uint64_t *first, uint64_t *last)
{
    small    s = small_new();
    uint64_t next = *last = dump_maker_instance(s.m, s.node, DUMP_VALUES(0, 0));
    for (unsigned i = 1; i < links; i++)
        next = dump_maker_instance(s.m, s.node, DUMP_VALUES(next, 0));
    *first = global(&s, next);
    heap_open(h, s.m);
}

static hdx_addr point_of(heap *h, unsigned drop, unsigned share)
{
    const hdx_cell *cells;
    hdx_rows       *rows = ask(h, 40, drop, share);
    cr_assert(hdx_rows_next(rows, &cells));
    const hdx_addr point = cells[8].kind == HDX_CELL_ADDRESS ? cells[8].as.address : 0;
    hdx_rows_close(rows);
    return point;
}

Test(suspects, accumulate_before_the_first_drop_and_not_after_a_thousand_steps)
{
    heap     h;
    uint64_t first, last;
    list_of(&h, 10, &first, &last);
    cr_expect(eq(u64, point_of(&h, 0, 0), last + 2 * 32), "two of three are a drop below 70 %%");
    cr_expect(eq(u64, point_of(&h, 67, 0), last + 2 * 32), "two of three are less than 67 %%");
    cr_expect(eq(u64, point_of(&h, 66, 0), last + 32), "and more than 66 %%; one of two is a drop");
    cr_expect(eq(u64, point_of(&h, 50, 0), last), "half is no drop where half is asked for: the last has no child");
    cr_expect(eq(u64, point_of(&h, 91, 0), first), "nine of ten are a drop below 91 %%");
    heap_close(&h);
    list_of(&h, 1001, &first, &last); /* a thousand steps from the first to the last */
    cr_expect(eq(u64, point_of(&h, 1, 0), last), "the last has no child, after as many steps as there may be");
    heap_close(&h);
    list_of(&h, 1002, &first, &last);
    cr_expect(eq(u64, point_of(&h, 1, 0), 0), "one step more, and there is no point");
    hdx_rows *rows = ask(&h, 40, 1, 0);
    expect_rows(rows,
                "1,1,object,0x7f0000017e20,app.Link,1,32064,99.95,-,-,-,app.Link,1,32032,one app.Link retains 31.3 "
                "KB (100%), a chain of more than 1,000 objects, the last of class app.Link, itself a GC root "
                "(JNI global)\n");
    heap_close(&h);
}

/*
 * Ten boxes that two arrays share, each behind a holder, so that only the roots dominate them. Before these is another
 * array, a root, that has `in_first` of them.
 */
static void shared_boxes(heap *h, unsigned in_first, bool weak_roots, uint64_t *first, uint64_t *second)
{
    small    s = small_new();
    uint64_t boxes[10];
    for (unsigned i = 0; i < 10; i++) {
        boxes[i] = boxed(&s, 1000);
        if (weak_roots) /* a step nearer than any array */
            (void)global(&s, dump_maker_instance(s.m, s.weak, DUMP_VALUES(boxes[i])));
    }
    *first = global(&s, dump_maker_array(s.m, s.arrays, boxes, in_first));
    *second = dump_maker_array(s.m, s.arrays, boxes, 10);
    const uint64_t third = dump_maker_array(s.m, s.arrays, boxes, 10);
    (void)global(&s, dump_maker_instance(s.m, s.node, DUMP_VALUES(*second, 0)));
    (void)global(&s, dump_maker_instance(s.m, s.node, DUMP_VALUES(third, 0)));
    heap_open(h, s.m);
}

Test(suspects, of_a_group_accumulate_where_more_than_a_share_of_its_paths_goes)
{
    heap     h;
    uint64_t first, second;
    shared_boxes(&h, 9, false, &first, &second);
    cr_expect(eq(u64, point_of(&h, 0, 0), first), "nine of ten are more than eight");
    cr_expect(eq(u64, point_of(&h, 0, 90), 0), "and not more than nine");
    heap_close(&h);
    shared_boxes(&h, 8, false, &first, &second);
    cr_expect(eq(u64, point_of(&h, 0, 0), 0), "eight of ten are not more than eight");
    cr_expect(eq(u64, point_of(&h, 0, 79), first), "and more than seven");
    heap_close(&h);
}

Test(suspects, of_a_group_are_not_held_by_weak_references)
{
    heap     h;
    uint64_t first, second;
    shared_boxes(&h, 0, true, &first, &second);
    const hdx_id weak = hdx_graph_nearest(h.g, id_at(&h, point_of(&h, 0, 0)));
    cr_expect(ne(u64, weak, HDX_NO_ID));
    cr_expect(eq(u64, point_of(&h, 0, 0), second), "the paths of the index lead over the weak references");
    heap_close(&h);
}

Test(suspects, that_only_weak_references_hold_say_so)
{
    small s = small_new();
    heap  h;
    (void)global(&s, dump_maker_instance(s.m, s.weak, DUMP_VALUES(boxed(&s, 10000))));
    const uint64_t box = boxed(&s, 20000);
    for (unsigned i = 0; i < 2; i++)
        (void)global(&s, dump_maker_instance(s.m, s.weak, DUMP_VALUES(box)));
    heap_open(&h, s.m);
    expect_asked(ask(&h, 40, 0, 0),
                 "1,1,object,0x7f00000176c0,app.Box,1,20048,66.42,0x7f0000012880,byte[],20024,-,-,-,one app.Box in "
                 "the field referent of one WeakReference retains 19.6 KB (66%), 19.6 KB of it in one byte[] of 20,000 "
                 "elements, held only by weak, soft or phantom references\n");
    heap_close(&h);
}

Test(suspects, behind_one_root_are_one_problem)
{
    small s = small_new();
    heap  h;
    /* two boxes of a holder that is a root, and of another, which is farther away; and one by itself */
    const uint64_t a = boxed(&s, 5000), b = boxed(&s, 4000);
    (void)global(&s, dump_maker_instance(s.m, s.node, DUMP_VALUES(a, b)));
    const uint64_t far = dump_maker_instance(s.m, s.node, DUMP_VALUES(a, b));
    (void)global(&s, dump_maker_instance(s.m, s.box, DUMP_VALUES(far)));
    (void)global(&s, boxed(&s, 3000));
    heap_open(&h, s.m);
    hdx_rows *rows = ask(&h, 15, 0, 0);
    expect_extra(rows, "problems",
                 "[{suspects=[1 2] bytes=9096 percent=74.27 common_path=[0x7f00000124a0]} {suspects=[3] bytes=3048 "
                 "percent=24.89 common_path=[0x7f00000130e0 0x7f0000012500]}]");
    expect_suspects(rows, "object app.Box 1 1 0x7f0000010100\nobject app.Box 1 1 0x7f00000114c0\n"
                          "object app.Box 1 2 0x7f0000012500\n");
    heap_close(&h);
}

/* ---- damage ---- */

static void flip(const heap *h, const char *name, long at)
{
    char path[192];
    (void)snprintf(path, sizeof path, "%s/%s", h->index, name);
    FILE *file = fopen(path, "r+b");
    cr_assert(file != NULL && fseek(file, at, at < 0 ? SEEK_END : SEEK_SET) == 0, "%s", path);
    const int byte = fgetc(file);
    cr_assert(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET) == 0 && fputc(byte ^ 255, file) != EOF);
    cr_assert(fclose(file) == 0);
}

/* Groups have words about the path to their point, and there is none. */
Test(suspects, of_an_index_whose_paths_are_damaged_are_damage)
{
    static const long places[] = { 17, 300, -20 };
    for (size_t i = 0; i < HDX_COUNT(places); i++) {
        heap                      h;
        hdx_rows                 *rows = NULL;
        const hdx_suspect_options options = { 1, 0, 0 };
        trouble_make(&h);
        flip(&h, "nearest.hdx", places[i]);
        cr_expect(eq(int, hdx_query_suspects(&h.q, &options, &rows, &h.err), HDX_DAMAGED), "byte %ld", places[i]);
        cr_expect(rows == NULL);
        cr_expect(strncmp(h.err.where, "nearest", 7) == 0, "%s", h.err.where);
        hdx_rows_close(rows);
        heap_close(&h);
    }
}
