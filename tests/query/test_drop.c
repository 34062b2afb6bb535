/*
 * test_drop.c - the chain from an object to where its bytes scatter: its steps, its end, and that it ends where the
 * accumulation point of `suspects` is.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/questions.h"
#include "rows/arguments.h"

#include <unistd.h>

#define NODES 4u

static uint64_t node_at(uint64_t i) { return 0x4000 + 0x40 * i; }
static uint64_t value_at(uint64_t i) { return 0x5000 + 0x40 * i; }
static uint64_t bytes_at(uint64_t i) { return 0x6000 + 0x1000 * i; }

/*
 *     app.Cache -> app.Map -> Object[] -> 4 app.Node -> 4 app.Value -> a byte[] and an int[] each
 * Each int[] has 40 % of the bytes of its value. Nothing else is large.
 */
static void cache(heap *h)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    nodes[NODES];
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, 0x200, "byte[]", 0x100, "");
    (void)dump_maker_class_at(m, 0x300, "int[]", 0x100, "");
    (void)dump_maker_class_at(m, 0x400, "java.lang.Object[]", 0x100, "");
    dump_maker_static(m, "cache", 'L', 0x1000);
    (void)dump_maker_class_at(m, 0x500, "app.Holder", 0x100, "");
    (void)dump_maker_class_at(m, 0x600, "app.Cache", 0x100, "map:L");
    (void)dump_maker_class_at(m, 0x700, "app.Map", 0x100, "table:L");
    (void)dump_maker_class_at(m, 0x800, "app.Node", 0x100, "value:L");
    (void)dump_maker_class_at(m, 0x900, "app.Value\n\x1b[31m", 0x100, "left:L right:L");
    for (uint64_t c = 0x100; c <= 0x900; c += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    (void)dump_maker_instance_at(m, 0x1000, 0x600, DUMP_VALUES(0x2000));
    (void)dump_maker_instance_at(m, 0x2000, 0x700, DUMP_VALUES(0x3000));
    for (uint64_t i = 0; i < NODES; i++) {
        dump_maker_primitives_at(m, bytes_at(i), 'B', NULL, 576);        /* 600 bytes */
        dump_maker_primitives_at(m, bytes_at(i) + 0x800, 'I', NULL, 94); /* 400 bytes */
        (void)dump_maker_instance_at(m, value_at(i), 0x900, DUMP_VALUES(bytes_at(i), bytes_at(i) + 0x800));
        nodes[i] = dump_maker_instance_at(m, node_at(i), 0x800, DUMP_VALUES(value_at(i)));
    }
    dump_maker_array_at(m, 0x3000, 0x400, nodes, NODES);
    heap_open(h, m);
}

static hdx_rows *drop(heap *h, const char *object)
{
    const hdx_argument  at[] = { { "drop", NULL }, { "object", object } };
    const hdx_arguments a = { &hdx_question_dominators.declared, at, object == NULL ? 1 : 2 };
    hdx_rows           *rows = NULL;
    cr_assert(eq(int, hdx_question_open(&hdx_question_dominators, &h->q, &a, &rows, &h->err), HDX_OK), "%s",
              h->err.message);
    return rows;
}

#define VALUE "app.Value\n\x1b[31m"

Test(drop, goes_through_objects_and_classes_to_where_neither_has_most)
{
    heap h;
    cache(&h);
    hdx_rows *rows = drop(&h, "0x1000");
    expect_extra(rows, "drop",
                 "{sentence=It scatters below 4 " VALUE ": 58.1% in 4 byte[], 38.8% in 4 int[]. point=0x3000 "
                 "below=[{class=byte[] objects=4 retained=2400 percent=58.14} "
                 "{class=int[] objects=4 retained=1600 percent=38.76}] classes=2}");
    expect_rows(rows, "0,0x1000,app.Cache,-,1,24,4328,-\n"
                      "1,0x2000,app.Map,-,1,24,4304,99.45\n"
                      "2,0x3000,java.lang.Object[],-,1,56,4280,99.44\n"
                      "3,-,app.Node,-,4,96,4224,98.69\n"
                      "4,-," VALUE ",-,4,128,4128,97.73\n");
    heap_close(&h);
}

Test(drop, begins_at_any_object_and_at_the_top)
{
    heap h;
    cache(&h);
    expect_rows(drop(&h, "0x3000"), "0,0x3000,java.lang.Object[],-,1,56,4280,-\n"
                                    "1,-,app.Node,-,4,96,4224,98.69\n"
                                    "2,-," VALUE ",-,4,128,4128,97.73\n");
    hdx_rows *rows = drop(&h, "0x4000"); /* one node: its value, below which the arrays are 58 and 39 % */
    expect_extra(rows, "drop",
                 "{sentence=It scatters below " VALUE " 0x5000: 58.1% in 1 byte[], 38.8% in 1 int[]. point=0x5000 "
                 "below=[{class=byte[] objects=1 retained=600 percent=58.14} "
                 "{class=int[] objects=1 retained=400 percent=38.76}] classes=2}");
    expect_rows(rows, "0,0x4000,app.Node,-,1,24,1056,-\n1,0x5000," VALUE ",-,1,32,1032,97.73\n");
    rows = drop(&h, "0x6000");
    expect_extra(rows, "drop",
                 "{sentence=The chain ends at byte[] 0x6000, which dominates no object. point=0x6000 below=[] "
                 "classes=0}");
    expect_rows(rows, "0,0x6000,byte[],-,1,600,600,-\n");
    rows = drop(&h, NULL); /* the static field of app.Holder has nearly all bytes of the heap */
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "1,0x500,java.lang.Class,class app.Holder,1,8,4336,99.63\n2,0x1000,app.Cache,") ==
                  text.at,
              "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

/* A list of `length` nodes, of which each has nearly all bytes of the one before, and a byte[] at its end. */
static void list(heap *h, unsigned length)
{
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, 0x200, "byte[]", 0x100, "");
    (void)dump_maker_class_at(m, 0x300, "app.Node", 0x100, "next:L");
    for (uint64_t c = 0x100; c <= 0x300; c += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x10000, 0, 0);
    for (unsigned i = 0; i + 1 < length; i++)
        (void)dump_maker_instance_at(m, 0x10000 + 0x20 * i, 0x300, DUMP_VALUES(0x10020 + 0x20 * i));
    dump_maker_primitives_at(m, 0x10000 + 0x20 * (length - 1), 'B', NULL, 100000);
    heap_open(h, m);
}

Test(drop, ends_after_1000_steps_if_there_are_more)
{
    heap h;
    list(&h, 1001); /* 1000 steps after the first object */
    hdx_rows      *rows = drop(&h, "0x10000");
    const hdx_cell point = extra(rows, "drop")->as.object.at[1].value;
    cr_expect(eq(u64, point.as.address, 0x10000 + 0x20 * 1000));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "\n1000,0x17d00,byte[],-,1,100024,100024,") != NULL);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
    list(&h, 1002);
    rows = drop(&h, "0x10000");
    hdx_cell sentence = extra(rows, "drop")->as.object.at[0].value;
    cr_expect(extra(rows, "drop")->as.object.at[1].value.kind == HDX_CELL_NULL);
    hdx_buffer words = hdx_buffer_of(NULL);
    put_cell(&words, &sentence);
    cr_expect(
        eq(str, words.at, (char *)"It has not scattered after 1000 steps, at app.Node 0x17d00: 100.0% in 1 byte[]."));
    hdx_buffer_free(&words);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(drop, of_an_unreachable_object_has_no_rows)
{
    heap        h;
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, 0x100, 0, 0);
    (void)dump_maker_instance_at(m, 0x1000, 0x100, NULL);
    heap_open(&h, m);
    hdx_rows       *rows = drop(&h, "0x1000");
    const hdx_cell *row;
    cr_expect(not(hdx_rows_next(rows, &row)));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows), (char *)"it is unreachable and dominates no object"));
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(drop, ends_at_the_accumulation_point_of_suspects_without_the_dump_too)
{
    heap h;
    cache(&h);
    hdx_graph_close(h.g);
    cr_assert(eq(int, unlink(h.dump), 0));
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    hdx_rows *rows = NULL;
    ok(hdx_query_suspects(&h.q, NULL, &rows, &h.err));
    hdx_buffer text = hdx_buffer_of(NULL);
    put_cell(&text, extra(rows, "suspects"));
    cr_expect(strstr(text.at, "accumulation_point={address=0x3000 ") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    rows = drop(&h, "0x1000");
    cr_expect(eq(u64, extra(rows, "drop")->as.object.at[1].value.as.address, 0x3000));
    hdx_rows_close(rows);
    heap_close(&h);
}
