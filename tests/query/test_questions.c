/*
 * test_questions.c - every question on one small heap whose answers were worked out by hand (sizes: MAT 2.3 to 2.6 with
 * 8-byte references; the address of d is no multiple of 16, so that the alignment is 8).
 *
 *     sticky: Object Class ClassLoader Thread WeakReference Node Leaf Object[] byte[]      app.Node.head -> a
 *
 *     a (Node, 0x1000) -next-> b (Node, 0x1020) -next-> c (Leaf, 0x1040) -next-> d (byte[], 0x1068)
 *     weak (0x1080) -referent-> c              root: JNI global
 *     t (Thread, 0x10c0)                       root; local of frame 1: e (Node, 0x10e0) -next-> list (Object[], 0x1100)
 *                                              = { c, null, e }
 *     x (Node, 0x1120) -next-> b               nobody's: garbage
 */
#include "support/questions.h"
#include "heap.h"
#include "graph/graph.h"
#include "query/histogram/histogram.h"
#include "query/query.h"

enum {
    OBJECT = 0x100,
    CLASS = 0x200,
    LOADER = 0x300,
    THREAD = 0x400,
    WEAK_CLASS = 0x500,
    NODE = 0x600,
    LEAF = 0x700,
    OBJECTS = 0x800,
    BYTES = 0x900,
    A = 0x1000,
    B = 0x1020,
    C = 0x1040,
    D = 0x1068,
    WEAK = 0x1080,
    T = 0x10c0,
    E = 0x10e0,
    LIST = 0x1100,
    X = 0x1120
};

static void make(heap *h)
{
    static const uint64_t classes[] = { OBJECT, CLASS, LOADER, THREAD, WEAK_CLASS, NODE, LEAF, OBJECTS, BYTES };
    dump_maker           *m = dump_maker_new(8);
    dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_class_at(m, CLASS, "java.lang.Class", OBJECT, "");
    dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "parent:L");
    dump_maker_class_at(m, THREAD, "java.lang.Thread", OBJECT, "threadStatus:I priority:I daemon:Z");
    dump_maker_class_at(m, WEAK_CLASS, "java.lang.ref.WeakReference", OBJECT, "referent:L");
    dump_maker_static(m, "head", 'L', A);
    dump_maker_class_at(m, NODE, "app.Node", OBJECT, "next:L count:I");
    dump_maker_class_at(m, LEAF, "app.Leaf", NODE, "");
    dump_maker_class_at(m, OBJECTS, "[Ljava/lang/Object;", OBJECT, "");
    dump_maker_class_at(m, BYTES, "[B", OBJECT, "");
    dump_maker_instance_at(m, A, NODE, DUMP_VALUES(B, 1));
    dump_maker_instance_at(m, B, NODE, DUMP_VALUES(C, 2));
    dump_maker_instance_at(m, C, LEAF, DUMP_VALUES(D, 3));
    dump_maker_primitives_at(m, D, 'B', DUMP_VALUES(7, 0xff), 2);
    dump_maker_instance_at(m, WEAK, WEAK_CLASS, DUMP_VALUES(C));
    dump_maker_instance_at(m, T, THREAD, DUMP_VALUES(0x5, 5, 1));
    dump_maker_instance_at(m, E, NODE, DUMP_VALUES(LIST, 4));
    dump_maker_array_at(m, LIST, OBJECTS, DUMP_VALUES(C, 0, E), 3);
    dump_maker_instance_at(m, X, NODE, DUMP_VALUES(B, 5));
    uint32_t serial = dump_maker_load(m, NODE, "app/Node");
    uint64_t inner = dump_maker_frame(m, "run", serial, -3), outer = dump_maker_frame(m, "main", serial, 42);
    dump_maker_trace(m, 1, 0, NULL, 0);
    dump_maker_trace(m, 2, 1, (const uint64_t[]){ inner, outer }, 2);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, classes[i], 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, WEAK, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, T, 1, 2);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, E, 1, 1);
    heap_open(h, m);
}

Test(histogram, counts_live_objects_by_class_and_sorts_by_size)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    ok(hdx_query_histogram(&h.q, HDX_BY_NONE, "app.*", false, &rows, &h.err));
    expect_rows(
        rows, "app.Node,0x0,3,96,-,32.43,-,application\napp.Leaf,0x0,1,32,-,10.81,-,application\n"); /* 16 + 8 + 4 = 28,
                                                                                                        up to 32 */
    h.q.scope = HDX_ALL;
    ok(hdx_query_histogram(&h.q, HDX_BY_NONE, "app.Node", false, &rows, &h.err));
    expect_rows(rows, "app.Node,0x0,4,128,-,39.02,-,application\n");
    h.q.scope = HDX_GARBAGE;
    ok(hdx_query_histogram(&h.q, HDX_BY_CLASS, NULL, true, &rows, &h.err));
    expect_rows(rows, "app.Node,0x0,1,32,-,100.00,-,application\n");
    heap_close(&h);
}

Test(objects, say_where_instances_are_when_none_is_asked_for)
{
    static const struct {
        hdx_refs_scope scope;
        const char    *of, *says;
    } cases[] = {
        { HDX_GARBAGE, "app.Leaf", "1 live instance not shown; use --reachable all" },
        { HDX_GARBAGE, "java.lang.Object",
          "the class has no instances; --subclasses includes instances of subclasses" },
        { HDX_ALL, "java.lang.Object", "the class has no instances; --subclasses includes instances of subclasses" },
    };
    heap      h;
    hdx_rows *rows;
    make(&h);
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        h.q.scope = cases[i].scope;
        ok(hdx_query_objects(&h.q, cases[i].of, false, &rows, &h.err));
        cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows), (char *)cases[i].says));
        expect_rows(rows, "");
    }
    heap_close(&h);
}

Test(histogram, gives_exact_retained_sets)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    /*
     * Without Node's class object and all Nodes: a, b, e and with e the list go; c stays (weak), d with it. Class Node:
     * one static, 8 bytes.
     */
    ok(hdx_query_histogram(&h.q, HDX_BY_NONE, "app.Node", true, &rows, &h.err));
    expect_rows(rows, "app.Node,0x0,3,96,152,51.35,-,application\n"); /* 96 + 8 + list: up(16 + 4 + 24, 8) = 48 */
    ok(hdx_query_histogram(&h.q, HDX_BY_NONE, "app.Leaf", true, &rows, &h.err));
    expect_rows(rows,
                "app.Leaf,0x0,1,32,64,21.62,-,application\n"); /* c, d = up(24 + 2, 8) = 32, a class without statics */
    ok(hdx_query_histogram(&h.q, HDX_BY_SUPERCLASS, "app.Node", true, &rows, &h.err));
    expect_rows(rows, "app.Node,0x0,4,128,216,72.97,-,application\n"); /* Leaf and what it keeps too: 32 + 32 */
    heap_close(&h);
}

Test(histogram, goes_by_package_loader_and_superclass)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    ok(hdx_query_histogram(&h.q, HDX_BY_PACKAGE, NULL, true, &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "app,2,4,128,216,72.97\n") != NULL, "%s", text.at); /* 128 + class 8 + list 48 + d 32 */
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(hdx_query_histogram(&h.q, HDX_BY_LOADER, "app.*", true, &rows, &h.err));
    expect_rows(rows,
                "0x0,java.lang.ClassLoader,2,4,128,240,81.08,boot loader\n"); /* and object 0 itself: 16 + 8 = 24 */
    ok(hdx_query_histogram(&h.q, HDX_BY_SUPERCLASS, "app.*", false, &rows, &h.err));
    expect_rows(rows, "app.Node,0x0,4,128,-,43.24,-,application\napp.Leaf,0x0,1,32,-,10.81,-,application\n");
    cr_expect(eq(int, hdx_query_histogram(&h.q, HDX_BY_TYPE, NULL, false, &rows, &h.err), HDX_USAGE));
    heap_close(&h);
}

Test(dominators, shows_the_tree_from_the_top_and_from_an_object)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    hdx_id t = id_at(&h, T), node = id_at(&h, NODE);
    ok(hdx_query_dominators(&h.q, HDX_BY_NONE, NULL, 1, &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "0x10c0,java.lang.Thread,-,32,112,") == text.at, "%s",
              text.at); /* 25 -> 32, e 32, list 48 */
    cr_expect(strstr(text.at, "\n0x1040,app.Leaf,-,32,64,") != NULL, "c hangs on the root: %s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(hdx_query_dominators(&h.q, HDX_BY_OBJECT, &t, 9, &rows, &h.err));
    text = rows_text(rows);
    cr_expect(strstr(text.at, "0x10e0,app.Node,-,32,80,") == text.at, "%s", text.at);
    cr_expect(strstr(text.at, ",1,1\n0x1100,java.lang.Object[],-,48,48,") != NULL, "%s", text.at);
    cr_expect(strstr(text.at, ",0,2\n") != NULL);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(hdx_query_dominators(&h.q, HDX_BY_CLASS, &node, 1, &rows, &h.err));
    text = rows_text(rows);
    cr_expect(strstr(text.at, "app.Node,1,32,64,") == text.at, "a with b below: %s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(object, is_a_document)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    hdx_id ids[] = { id_at(&h, E), id_at(&h, LIST), id_at(&h, D), id_at(&h, NODE), id_at(&h, X) };
    char   want[2400];
    ok(hdx_query_object(&h.q, ids, 5, 0, &rows, &h.err));
    snprintf(
        want, sizeof want,
        "0x10e0,%llu,app.Node,instance,32,80,0x10c0,false,-,[JAVA_LOCAL],true,-,-,-,[{name=next type=ref "
        "owner=app.Node "
        "value=0x1100 class=java.lang.Object[] label=- retained=48} "
        "{name=count type=int owner=app.Node value=4 class=- label=- retained=-}],-,-,-,[a local variable of a "
        "thread's frame],2,2\n"
        "0x1100,%llu,java.lang.Object[],object_array,48,48,0x10e0,false,-,[],true,-,3,-,-,[0x1040 - 0x10e0],-,"
        "[{address=0x1040 class=app.Leaf label=- retained=64} {address=- class=- label=- retained=-} "
        "{address=0x10e0 class=app.Node label=- retained=80}],[],1,3\n"
        "0x1068,%llu,byte[],primitive_array,32,32,0x1040,false,-,[],true,-,2,..,-,[7 -1],-,-,[],1,1\n"
        "0x600,%llu,java.lang.Class,class,8,72,-,true,-,[SYSTEM_CLASS],true,-,-,class app.Node,-,-,[{name=head "
        "type=ref owner=app.Node value=0x1000 class=app.Node label=- retained=64}],-,[a system class],4,4\n"
        "0x1120,%llu,app.Node,instance,32,-,-,false,-,[],false,-,-,-,[{name=next type=ref owner=app.Node value=0x1020 "
        "class=app.Node label=- retained=32} "
        "{name=count type=int owner=app.Node value=5 class=- label=- retained=-}],-,-,-,[],0,2\n",
        (unsigned long long)ids[0], (unsigned long long)ids[1], (unsigned long long)ids[2], (unsigned long long)ids[3],
        (unsigned long long)ids[4]);
    expect_rows(rows, want);
    heap_close(&h);
}

Test(object, says_absent_when_the_dump_is_not_at_hand)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    hdx_graph_close(h.g);
    cr_assert(eq(int, hdx_graph_open(h.index, NULL, &h.g, &h.err), HDX_OK));
    h.q.graph = h.g;
    hdx_id d = id_at(&h, D);
    char   want[200];
    snprintf(want, sizeof want,
             "0x1068,%llu,byte[],primitive_array,32,32,0x1040,false,-,[],true,-,2,-,-,!,-,-,[],1,1\n",
             (unsigned long long)d);
    ok(hdx_query_object(&h.q, &d, 1, 0, &rows, &h.err));
    expect_rows(rows, want);
    ok(hdx_query_path(&h.q, &d, 1, NULL, &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, ",0x1040,app.Leaf,-,<field>,32,64\n") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(objects, lists_instances_with_and_without_subclasses)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    ok(hdx_query_objects(&h.q, "app.Node", false, &rows, &h.err));
    expect_rows(rows, "0x1000,app.Node,-,32,64\n0x1020,app.Node,-,32,32\n0x10e0,app.Node,-,32,80\n");
    ok(hdx_query_objects(&h.q, "app.Node", true, &rows, &h.err));
    expect_rows(rows,
                "0x1000,app.Node,-,32,64\n0x1020,app.Node,-,32,32\n0x10e0,app.Node,-,32,80\n0x1040,app.Leaf,-,32,64\n");
    h.q.scope = HDX_GARBAGE;
    ok(hdx_query_objects(&h.q, "app.Node", false, &rows, &h.err));
    expect_rows(rows, "0x1120,app.Node,-,32,-\n");
    heap_close(&h);
}

Test(refs, names_what_an_object_holds_and_who_holds_it)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    ok(hdx_query_refs(&h.q, id_at(&h, LIST), false, HDX_BY_NONE, &rows, &h.err));
    expect_rows(rows, "0x800,java.lang.Class,class "
                      "java.lang.Object[],<class>,class,0,0\n0x1040,app.Leaf,-,[0],element,32,64\n0x10e0,app.Node,-,[2]"
                      ",element,32,80\n");
    ok(hdx_query_refs(&h.q, id_at(&h, C), true, HDX_BY_NONE, &rows, &h.err));
    expect_rows(rows, "0x1020,app.Node,-,next,field,32,32\n0x1080,java.lang.ref.WeakReference,-,referent,field,24,"
                      "24\n0x1100,java.lang.Object[],-,[0],element,48,48\n");
    ok(hdx_query_refs(&h.q, id_at(&h, B), true, HDX_BY_NONE, &rows, &h.err));
    expect_rows(rows, "0x1000,app.Node,-,next,field,32,64\n"); /* x is garbage: it counts nowhere */
    h.q.scope = HDX_ALL;
    ok(hdx_query_refs(&h.q, id_at(&h, B), true, HDX_BY_CLASS, &rows, &h.err));
    expect_rows(rows, "app.Node,2,64,64\n");
    h.q.scope = HDX_LIVE;
    ok(hdx_query_refs(&h.q, id_at(&h, T), false, HDX_BY_NONE, &rows, &h.err));
    expect_rows(
        rows,
        "0x400,java.lang.Class,class java.lang.Thread,<class>,class,0,0\n0x10e0,app.Node,-,<Java Local>,local,32,80\n");
    cr_expect(eq(int, hdx_query_refs(&h.q, 99999, false, HDX_BY_NONE, &rows, &h.err), HDX_NOT_FOUND));
    heap_close(&h);
}

/* What names no object has an address alone, wherever it stands; in an array also behind the first thousands. */
Test(refs, names_what_is_not_there)
{
    enum { MANY = 10000 };
    heap        h;
    hdx_rows   *rows;
    dump_maker *m = dump_maker_new(8);
    dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_class_at(m, CLASS, "java.lang.Class", OBJECT, "");
    dump_maker_static(m, "lost", 'L', 0xbad0);
    dump_maker_static(m, "none", 'L', 0);
    dump_maker_class_at(m, NODE, "app.Node", OBJECT, "next:L count:I");
    dump_maker_class_at(m, OBJECTS, "[Ljava/lang/Object;", OBJECT, "");
    dump_maker_instance_at(m, A, NODE, DUMP_VALUES(0xbad1, 1));
    uint64_t *elements = calloc(MANY, sizeof *elements);
    elements[0] = 0xbad2;
    elements[7] = A;
    elements[MANY - 1] = 0xbad3;
    dump_maker_array_at(m, 0x10000, OBJECTS, elements, MANY);
    free(elements);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x10000, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, NODE, 0, 0);
    heap_open(&h, m);
    ok(hdx_query_refs(&h.q, id_at(&h, A), false, HDX_BY_NONE, &rows, &h.err));
    expect_rows(rows, "0x600,java.lang.Class,class app.Node,<class>,class,16,16\n0xbad1,-,-,next,field,-,-\n");
    ok(hdx_query_refs(&h.q, id_at(&h, 0x10000), false, HDX_BY_NONE, &rows, &h.err));
    expect_rows(rows, "0x800,java.lang.Class,class java.lang.Object[],<class>,class,0,0\n0x1000,app.Node,-,[7],element,"
                      "32,32\n0xbad2,-,-,[0],element,-,-\n0xbad3,-,-,[9999],element,-,-\n");
    ok(hdx_query_refs(&h.q, id_at(&h, NODE), false, HDX_BY_NONE, &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "0xbad0,-,-,lost,static,-,-\n") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(path, starts_at_a_root_and_names_each_reference)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    hdx_id ids[] = { id_at(&h, LIST), id_at(&h, X), id_at(&h, NODE) };
    ok(hdx_query_path(&h.q, ids, 3, NULL, &rows, &h.err));
    expect_extra(rows, "paths",
                 "[{target=0x1100 reachable=true length=2 root={types=[THREAD_OBJ] thread=0x10c0 thread_name=- "
                 "descriptions=[a running thread]} steps=["
                 "{address=0x10c0 class=java.lang.Thread label=- shallow=32 retained=112 reference={name=<Java Local> "
                 "kind=local owner=- frame=app.Node.main (Source.java:42)}} "
                 "{address=0x10e0 class=app.Node label=- shallow=32 retained=80 reference={name=next kind=field "
                 "owner=app.Node frame=-}} "
                 "{address=0x1100 class=java.lang.Object[] label=- shallow=48 retained=48 reference=-}]} "
                 "{target=0x1120 reachable=false length=- root=- steps=[]} "
                 "{target=0x600 reachable=true length=0 root={types=[SYSTEM_CLASS] thread=- thread_name=- "
                 "descriptions=[a system class]} steps=["
                 "{address=0x600 class=java.lang.Class label=class app.Node shallow=8 retained=72 reference=-}]}]");
    expect_rows(rows, "1,0,0x10c0,java.lang.Thread,-,<Java "
                      "Local>,32,112\n1,1,0x10e0,app.Node,-,next,32,80\n1,2,0x1100,java.lang.Object[],-,-,48,48\n"
                      "3,0,0x600,java.lang.Class,class app.Node,-,8,72\n");
    heap_close(&h);
}

Test(path, passes_over_excluded_references)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    hdx_id c = id_at(&h, C);
    ok(hdx_query_path(&h.q, &c, 1, NULL, &rows, &h.err));
    expect_rows(rows, "1,0,0x1080,java.lang.ref.WeakReference,-,referent,24,24\n1,1,0x1040,app.Leaf,-,-,32,64\n");
    hdx_path_options options = { .exclude = HDX_EXCLUDE_WEAK | HDX_EXCLUDE_SOFT | HDX_EXCLUDE_FINALIZER, .paths = 5 };
    ok(hdx_query_path(&h.q, &c, 1, &options, &rows, &h.err)); /* both ways round the weak reference have three steps */
    expect_rows(rows, "1,0,0x600,java.lang.Class,class "
                      "app.Node,head,8,72\n1,1,0x1000,app.Node,-,next,32,64\n1,2,0x1020,app.Node,-,next,32,32\n1,3,"
                      "0x1040,app.Leaf,-,-,32,64\n"
                      "2,0,0x10c0,java.lang.Thread,-,<Java "
                      "Local>,32,112\n2,1,0x10e0,app.Node,-,next,32,80\n2,2,0x1100,java.lang.Object[],-,[0],48,48\n2,3,"
                      "0x1040,app.Leaf,-,-,32,64\n");
    options.merge = true;
    ok(hdx_query_path(&h.q, &c, 1, &options, &rows, &h.err));
    expect_rows(rows, "0,1,0x10c0,java.lang.Thread,-,<Java Local>,1,32,112,-\n1,1,0x10e0,app.Node,-,next,1,32,80,-\n"
                      "2,1,0x1100,java.lang.Object[],-,[],1,48,48,-\n3,1,0x1040,app.Leaf,-,-,1,32,64,-\n"
                      "0,1,0x600,java.lang.Class,class app.Node,head,1,8,72,-\n1,1,-,app.Node,-,next,2,64,64,-\n"
                      "2,1,0x1040,app.Leaf,-,-,1,32,64,-\n");
    const char *fields[] = { "app.Node#next", "*Object[]#[*]" };
    options = (hdx_path_options){ .exclude = HDX_EXCLUDE_WEAK, .exclude_fields = fields, .exclude_field_count = 2 };
    ok(hdx_query_path(&h.q, &c, 1, &options, &rows, &h.err));
    expect_extra(rows, "paths", "[{target=0x1040 reachable=false length=- root=- steps=[]}]");
    hdx_rows_close(rows);
    fields[0] = "app.None#next";
    cr_expect(eq(int, hdx_query_path(&h.q, &c, 1, &options, &rows, &h.err), HDX_NOT_FOUND));
    fields[0] = "nonsense";
    cr_expect(eq(int, hdx_query_path(&h.q, &c, 1, &options, &rows, &h.err), HDX_USAGE));
    heap_close(&h);
}

Test(retained, of_one_object_several_and_a_class)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    hdx_id ids[] = { id_at(&h, A), id_at(&h, WEAK), id_at(&h, T), id_at(&h, X) };
    ok(hdx_query_retained(&h.q, ids, 1, &rows, &h.err));
    expect_extra(rows, "total", "{objects=2 bytes=64}");
    expect_rows(rows, "app.Node,2,64\n");
    ok(hdx_query_retained(&h.q, ids, 4, &rows, &h.err)); /* all three ways to c are cut; the garbage adds nothing */
    expect_extra(rows, "total", "{objects=8 bytes=264}");
    expect_rows(rows, "app.Node,3,96\njava.lang.Object[],1,48\njava.lang.Thread,1,32\napp.Leaf,1,32\nbyte[],1,32\njava."
                      "lang.ref.WeakReference,1,24\n");
    ok(hdx_query_retained(&h.q, ids + 3, 1, &rows, &h.err));
    expect_extra(rows, "total", "{objects=0 bytes=0}");
    expect_rows(rows, "");
    ok(hdx_query_retained_class(&h.q, "app.Node", true, &rows, &h.err));
    expect_extra(rows, "total", "{objects=6 bytes=208}");
    hdx_rows_close(rows);
    cr_expect(eq(int, hdx_query_retained_class(&h.q, "app.Nod", true, &rows, &h.err), HDX_NOT_FOUND));
    cr_expect(eq(str, h.err.hint, (char *)"did you mean app.Node?"));
    heap_close(&h);
}

Test(roots, lists_roots_and_locals)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    ok(hdx_query_roots(&h.q, HDX_BY_NONE, &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "0x1080,java.lang.ref.WeakReference,-,NATIVE_STATIC,-,a JNI global reference\n"
                              "0x10c0,java.lang.Thread,-,THREAD_OBJ,-,a running thread\n"
                              "0x10e0,app.Node,-,JAVA_LOCAL,0x10c0,a local variable of a thread's frame\n") != NULL,
              "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(hdx_query_roots(&h.q, HDX_BY_TYPE, &rows, &h.err));
    expect_rows(rows, "SYSTEM_CLASS,a system class,9,9,8,72\n"
                      "NATIVE_STATIC,a JNI global reference,1,1,24,24\n"
                      "THREAD_OBJ,a running thread,1,1,32,112\n"
                      "JAVA_LOCAL,a local variable of a thread's frame,1,1,32,80\n");
    ok(table_named(&h.q, "roots", &rows, &h.err));
    text = rows_text(rows);
    cr_expect(strstr(text.at, "0x10c0,THREAD_OBJ,-\n0x10e0,JAVA_LOCAL,0x10c0\n") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(threads, have_state_stack_and_locals)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    ok(hdx_query_threads(&h.q, true, true, &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "0x10c0,-,true,5,RUNNABLE,-,-,-,-,-,-,-,-,-,-,32,112,[{method=app.Node.run") == text.at,
              "%s", text.at);
    cr_expect(strstr(text.at, "line=- native=true locals=[] local_objects=[]} {method=app.Node.main") != NULL, "%s",
              text.at);
    cr_expect(strstr(text.at, "line=42 native=false locals=[0x10e0] "
                              "local_objects=[{address=0x10e0 class=app.Node label=- retained=80}]}]\n") != NULL,
              "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(hdx_query_threads(&h.q, false, false, &rows, &h.err));
    expect_rows(rows, "0x10c0,-,true,5,RUNNABLE,-,-,-,-,-,-,-,-,-,-,32,112,-\n");
    ok(table_named(&h.q, "threads", &rows, &h.err));
    expect_rows(rows, "0x10c0,-,true,5,2,1,112\n");
    heap_close(&h);
}

Test(table, of_objects_counts_references_in_scope)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    hdx_pos pos;
    char    want[200];
    cr_assert(hdx_graph_position(h.g, id_at(&h, B), &pos));
    ok(table_named(&h.q, "objects", &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    snprintf(want, sizeof want, "%llu,0x1020,app.Node,0x600,instance,32,32,0x1000,2,1,1,-,%llu,-\n",
             (unsigned long long)id_at(&h, B), (unsigned long long)pos);
    cr_expect(strstr(text.at, want) != NULL, "%s", text.at);
    cr_expect(strstr(text.at, "0x1120") == NULL, "garbage is no row: %s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    h.q.scope = HDX_ALL;
    ok(table_named(&h.q, "objects", &rows, &h.err));
    text = rows_text(rows);
    snprintf(want, sizeof want, ",0x1020,app.Node,0x600,instance,32,32,0x1000,2,2,1,-,");
    cr_expect(strstr(text.at, want) != NULL, "%s", text.at);
    cr_expect(strstr(text.at, ",0x1120,app.Node,0x600,instance,32,-,-,2,0,0,-,") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(table, of_references_has_the_class_first)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    ok(table_named(&h.q, "references", &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "0x1100,0x800\n0x1100,0x1040\n0x1100,0x10e0\n") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    h.q.scope = HDX_GARBAGE;
    ok(table_named(&h.q, "references", &rows, &h.err));
    expect_rows(rows, "");
    ok(table_named(&h.q, "named_references", &rows, &h.err));
    expect_rows(rows, "0x1120,0x600,<class>,class,-\n0x1120,0x1020,next,field,app.Node\n");
    heap_close(&h);
}

Test(table, of_classes_loaders_packages_and_the_dump)
{
    heap      h;
    hdx_rows *rows;
    make(&h);
    ok(table_named(&h.q, "classes", &rows, &h.err));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "0x600,app.Node,0x100,0x0,4,32,96,3,8\n0x700,app.Leaf,0x600,0x0,1,32,32,1,0\n") != NULL,
              "%s", text.at);
    cr_expect(strstr(text.at, "0x100,java.lang.Object,-,0x0,0,16,0,0,0\n") == text.at, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(table_named(&h.q, "loaders", &rows, &h.err));
    text = rows_text(rows);
    cr_expect(strstr(text.at, "0x0,<system class loader>,-,9,") == text.at, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(table_named(&h.q, "packages", &rows, &h.err));
    hdx_rows_close(rows);
    ok(table_named(&h.q, "dump", &rows, &h.err));
    text = rows_text(rows);
    cr_expect(strstr(text.at, "unreachable_objects,1\n") != NULL &&
                  strstr(text.at, "records.OBJECT_ARRAY_DUMP,1\n") != NULL,
              "%s", text.at);
    cr_expect(eq(int, extra(rows, "info")->kind, HDX_CELL_OBJECT));
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

static bool always(void *context) { return context == NULL; }

Test(questions, stop_when_asked_to)
{
    heap         h;
    hdx_rows    *rows;
    hdx_progress progress = { NULL, NULL, always };
    make(&h);
    h.q.progress = &progress;
    cr_expect(eq(int, hdx_query_histogram(&h.q, HDX_BY_NONE, NULL, true, &rows, &h.err), HDX_CANCELLED));
    cr_expect(eq(int, table_named(&h.q, "objects", &rows, &h.err), HDX_CANCELLED));
    cr_expect(rows == NULL);
    heap_close(&h);
}

/* ---- names ---- */

static void expect_named(heap *h, const char *name, hdx_code code, size_t count, hdx_addr first)
{
    hdx_id *ids;
    size_t  n;
    cr_expect(eq(int, hdx_query_objects_named(&h->q, &name, 1, &ids, &n, &h->err), code), "%s: %s", name,
              h->err.message);
    cr_expect(eq(sz, n, count), "%s", name);
    if (n > 0)
        cr_expect(eq(u64, hdx_graph_address(h->g, ids[0]), first), "%s", name);
    hdx_ids_free(ids);
}

Test(names, of_objects_have_five_forms)
{
    heap h;
    make(&h);
    expect_named(&h, "0x1000", HDX_OK, 1, A);
    expect_named(&h, "0X10E0", HDX_OK, 1, E);
    expect_named(&h, "#0", HDX_OK, 1, 0);
    expect_named(&h, "app.Node@0x1000", HDX_OK, 1, A);
    expect_named(&h, "app.Node @ 0x1000", HDX_OK, 1, A);
    expect_named(&h, "app.Leaf@0x1000", HDX_NOT_FOUND, 0, 0);
    expect_named(&h, "001000", HDX_OK, 1, A);
    expect_named(&h, "1000", HDX_USAGE, 0, 0);
    expect_named(&h, "00100g", HDX_USAGE, 0, 0);
    expect_named(&h, "   1     0  0x1000  app.Node  a 0x77 in the label", HDX_OK, 1, A);
    expect_named(&h, "app.Node,\"x\",0x10E0", HDX_OK, 1, E);
    expect_named(&h, "app.Node @ 0x1000  retained 24", HDX_OK, 1, A);
    expect_named(&h, "x0x1000 is none", HDX_USAGE, 0, 0);
    expect_named(&h, "some words 0x1001", HDX_NOT_FOUND, 0, 0);
    expect_named(&h, "class:app.Node", HDX_OK, 1, NODE);
    expect_named(&h, "class:app.*", HDX_OK, 2, NODE);
    expect_named(&h, "class:/^java\\.lang\\.(Object|Class)$/", HDX_OK, 2,
                 CLASS); /* numbers by falling instance count */
    expect_named(&h, "class:app.Noode", HDX_NOT_FOUND, 0, 0);
    expect_named(&h, "thread:nobody", HDX_NOT_FOUND, 0, 0);
    expect_named(&h, "0x1001", HDX_NOT_FOUND, 0, 0);
    expect_named(&h, "#99999", HDX_NOT_FOUND, 0, 0);
    expect_named(&h, "#99999999999999999999999", HDX_USAGE, 0, 0);
    expect_named(&h, "#", HDX_USAGE, 0, 0);
    expect_named(&h, "0x", HDX_USAGE, 0, 0);
    expect_named(&h, "0x11112222333344445", HDX_USAGE, 0, 0);
    expect_named(&h, "@", HDX_USAGE, 0, 0);
    expect_named(&h, "", HDX_USAGE, 0, 0);
    expect_named(&h, "class:", HDX_USAGE, 0, 0);
    expect_named(&h, "class:/(/", HDX_USAGE, 0, 0);
    heap_close(&h);
}

Test(names, keep_their_order_and_come_once)
{
    heap        h;
    hdx_id     *ids;
    size_t      n;
    const char *names[] = { "0x10e0", "0x1000", "class:app.*", "0x10e0", "app.Node@0x1000", "0x600" };
    make(&h);
    ok(hdx_query_objects_named(&h.q, names, 6, &ids, &n, &h.err));
    cr_assert(eq(sz, n, 4));
    cr_expect(eq(u64, hdx_graph_address(h.g, ids[0]), E));
    cr_expect(eq(u64, hdx_graph_address(h.g, ids[1]), A));
    cr_expect(eq(u64, hdx_graph_address(h.g, ids[2]), NODE));
    cr_expect(eq(u64, hdx_graph_address(h.g, ids[3]), LEAF));
    hdx_ids_free(ids);
    heap_close(&h);
}

static void keep_line(void *context, const char *line) { (void)snprintf(context, 200, "%s", line); }

Test(names, of_classes_suggest_the_nearest)
{
    heap      h;
    uint32_t *numbers;
    size_t    n;
    make(&h);
    cr_expect(eq(int, hdx_query_classes_named(&h.q, "Thraed", false, &numbers, &n, &h.err), HDX_NOT_FOUND));
    cr_expect(eq(str, h.err.hint, (char *)"did you mean java.lang.Thread?"));
    cr_expect(eq(int, hdx_query_classes_named(&h.q, "app/Node", false, &numbers, &n, &h.err), HDX_NOT_FOUND));
    cr_expect(eq(str, h.err.hint, (char *)"did you mean app.Node?"));
    ok(hdx_query_classes_named(&h.q, "byte[]", false, &numbers, &n, &h.err));
    cr_expect(eq(sz, n, 1));
    hdx_numbers_free(numbers);
    char said[200] = "";
    h.q.notice = keep_line;
    h.q.notice_context = said;
    ok(hdx_query_classes_named(&h.q, "java.lang.Thread", false, &numbers, &n, &h.err));
    hdx_numbers_free(numbers);
    cr_expect(eq(str, said, (char *)""), "the name itself");
    ok(hdx_query_classes_named(&h.q, "Thread", false, &numbers, &n, &h.err));
    cr_expect(eq(sz, n, 1));
    cr_expect(hdx_text_is(hdx_graph_class(h.g, numbers[0])->name, "java.lang.Thread"));
    hdx_numbers_free(numbers);
    cr_expect(eq(str, said, (char *)"Thread is interpreted as java.lang.Thread"));
    ok(hdx_query_classes_named(&h.q, "java.lang.Object", true, &numbers, &n, &h.err));
    cr_expect(eq(sz, n, 9));
    hdx_numbers_free(numbers);
    heap_close(&h);
}

/* The retained size of one class, by the question. */
static uint64_t retained_of(heap *h, const char *pattern)
{
    hdx_rows       *rows;
    const hdx_cell *cells;
    uint64_t        bytes = 0;
    cr_assert(eq(int, hdx_query_histogram(&h->q, HDX_BY_CLASS, pattern, true, &rows, &h->err), HDX_OK));
    while (hdx_rows_next(rows, &cells))
        if (hdx_text_is(cells[0].as.text, "app.Node"))
            bytes = cells[4].as.natural;
    hdx_rows_close(rows);
    return bytes;
}

/* Changes what is kept of app.Node, as somebody with a right to the folder could. */
static void doctor(heap *h, uint64_t bytes)
{
    uint32_t *numbers;
    size_t    n;
    uint32_t  classes;
    (void)hdx_graph_classes(h->g, &classes);
    uint64_t *kept = hdx_saved_retained(NULL, h->g, HDX_BY_CLASS, classes);
    cr_assert(eq(int, hdx_query_classes_named(&h->q, "app.Node", false, &numbers, &n, &h->err), HDX_OK));
    cr_assert(kept != NULL && n == 1);
    kept[numbers[0]] = bytes;
    hdx_save_retained(NULL, h->g, HDX_BY_CLASS, kept, classes);
    hdx_mem_put(NULL, kept, 8ull * classes);
    hdx_numbers_free(numbers);
}

Test(kept, retained_sizes_of_classes_are_computed_once_and_verified_anew)
{
    heap h;
    make(&h);
    const uint64_t right = retained_of(&h, NULL);
    const uint64_t most = hdx_graph_summary_of(h.g)->live_bytes;
    cr_assert(lt(u64, right, most));
    doctor(&h, right + 1);
    cr_expect(eq(u64, retained_of(&h, NULL), right + 1), "from what was kept");
    cr_expect(eq(u64, retained_of(&h, "app.*"), right + 1), "a class is the same class behind a pattern");
    cr_expect(eq(int, hdx_query_saved_verify(&h.q, &h.err), HDX_DAMAGED));
    cr_expect(eq(str, h.err.where, (char *)"retained-class"));
    doctor(&h, most + 1);
    cr_expect(eq(u64, retained_of(&h, NULL), right), "more than there is is not believed");
    cr_expect(eq(int, hdx_query_saved_verify(&h.q, &h.err), HDX_OK), "and was replaced");
    doctor(&h, 1);
    cr_expect(eq(u64, retained_of(&h, NULL), right), "nor less than the class has itself");
    cr_assert(hdx_graph_remember(h.g, HDX_NOTE_RETAINED_CLASS, "short", 5));
    cr_expect(eq(u64, retained_of(&h, NULL), right), "nor what is of another length");
    heap_close(&h);
}
