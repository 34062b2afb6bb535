/* test_layout_proof.c - the layout of objects that addresses prove, as info names it. */
#include "heap.h"
#include "support/questions.h"

enum { OBJECT = 0x100, CLASS = 0x200, LOADER = 0x300, PAIR = 0x400, ARRAY = 0x500, REFERENCE = 0x600, ONE = 0x700 };

/*
 * Objects side by side: single ints, pairs of ints, references to one object, and arrays of two references, each so
 * many bytes from one to the next.
 */
static void make(heap *h, uint64_t one, uint64_t pair, uint64_t reference, uint64_t array)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    at = 0x100000;
    dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_class_at(m, CLASS, "java.lang.Class", OBJECT, "");
    dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "");
    dump_maker_class_at(m, PAIR, "app.Pair", OBJECT, "first:I second:I");
    dump_maker_class_at(m, ONE, "app.One", OBJECT, "only:I");
    dump_maker_class_at(m, ARRAY, "java.lang.Object[]", OBJECT, "");
    dump_maker_class_at(m, REFERENCE, "app.Reference", OBJECT, "to:L");
    for (unsigned i = 0; i < 10; i++, at += one)
        dump_maker_instance_at(m, at, ONE, DUMP_VALUES(i));
    for (unsigned i = 0; i < 10; i++, at += pair)
        dump_maker_instance_at(m, at, PAIR, DUMP_VALUES(i, i));
    for (unsigned i = 0; i < 10; i++, at += reference)
        dump_maker_instance_at(m, at, REFERENCE, DUMP_VALUES(0x100000));
    for (unsigned i = 0; i < 10; i++, at += array)
        dump_maker_array_at(m, at, ARRAY, NULL, 2);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, PAIR, 0, 0);
    heap_open(h, m);
}

static void expect(uint64_t one, uint64_t pair, uint64_t reference, uint64_t array, uint32_t reference_size,
                   const char *want)
{
    heap      h;
    hdx_rows *rows = NULL;
    make(&h, one, pair, reference, array);
    cr_expect(eq(u32, hdx_graph_summary_of(h.g)->reference_size, reference_size));
    cr_assert(eq(int, hdx_query_info(&h.q, &rows, &h.err), HDX_OK), "%s", h.err.message);
    cr_assert(eq(int, hdx_rows_where(&rows, "key ~ ^(layout|header_size)", &h.err), HDX_OK), "%s", h.err.message);
    expect_rows(rows, want);
    heap_close(&h);
}

/* References of 4: an int takes 8 or 12 + 4 bytes, a pair 8 or 12 + 8, an array 12 or 16 + 2 * 4. */
Test(layout_proof, finds_compact_headers)
{
    expect(16, 16, 16, 24, 4, "layout,compact\nheader_size,8\n");
    expect(16, 24, 16, 24, 4, "layout,-\nheader_size,-\n");
}

/* References of 8: an int takes 16, 12 or 8 + 4 bytes, a pair or a reference 8 more, an array 24, 16 or 16 + 2 * 8. */
Test(layout_proof, finds_headers_of_12_and_of_8_bytes_with_wide_references)
{
    expect(24, 24, 24, 40, 8, "layout,-\nheader_size,-\n");
    expect(16, 24, 24, 32, 8, "layout,class-pointers\nheader_size,12\n");
    expect(16, 16, 16, 32, 8, "layout,compact\nheader_size,8\n"); /* the alignment is 16 */
}

/* Under each layout one object reaches past the next one: these are no addresses of a JVM. */
Test(layout_proof, says_nothing_where_all_are_refuted) { expect(8, 24, 16, 24, 4, "layout,-\nheader_size,-\n"); }
