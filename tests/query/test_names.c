/*
 * test_names.c - names of objects and of classes in a heap with one of everything (sample_heap.h): what each means, or
 * the words with which it is refused; names.txt has them to be read.
 */
#include "support/questions.h"
#include "answers.h"
#include "sample_heap.h"

static const char *const objects[] = {
    "0x1000",
    "0X1020",
    "1000",
    "01000",
    "001000",
    "0010ag",
    "0x",
    "0xg",
    "0x10g0",
    "0x/",
    "0x:",
    "0x@",
    "0x`",
    "0xG",
    "x1000",
    "0xdead0",
    "0x100000000001000",
    "0x1000000000001000",
    "0x10000000000001000",
    "0xFFFFFFFFFFFFFFFF",
    "deadbeef",
    "#0",
    "#00",
    "#",
    "#1x",
    "#/",
    "#:",
    "#18446744073709551615",
    "#18446744073709551616",
    "#18446744073709551620",
    "#99",
    "#73",
    "#74",
    "java.lang.Class@0x1000",
    "java.lang.Class @ 0x1000",
    "java.lang.Class   @   0x1020",
    "java.lang.Clas@0x1000",
    "java.lang.Class@",
    "java.lang.Class@0xdead0",
    "@0x1000",
    "@",
    "",
    " ",
    "class:",
    "class:app.Twin",
    "class:Twin",
    "class:app.T*",
    "class:app.Twn",
    "class:*",
    "class:/Tw/",
    "class:zzzzzzzzzz",
    "thread:main",
    "thread:man",
    "thread:wörker-1",
    "thread:work",
    "thread:worker",
    "thread:wo",
    "thread:",
    "thread:zzzzzzzz",
    "  0x1020  java.lang.Class",
    "0x1020,x",
    "x 0xzz 0x1020\ty",
    "a,b",
    "\"0x1020\" x",
    "x0x1020 y",
    "x 0x1020",
    "x@0x1020 y",
    "0x1020x y",
    "0x10201020102010201 y",
    "0x1020102010201020 y",
    "java.lang.Class @ 0x1020 12 34",
};

static const char *const classes[] = {
    "java.lang.Object",
    "java.lang.ref.*",
    "app.Twin",
    "app.Twn",
    "app.Tw",
    "app.T",
    "Twin",
    "twin",
    "Twi",
    "Tw",
    "T",
    "a",
    "ab",
    "abc",
    "Node",
    "Nod",
    "Entry",
    "Worker",
    "Wrker",
    "Wxyzer",
    "app/Twin",
    "app.*Twn",
    "*",
    "?",
    "app.?win",
    "app.list.Node",
    "list.Node",
    "int[]",
    "int[",
    "nt[]",
    "java.lang.Strin",
    "java.lang.Strxxx",
    "java.lang.Stxxxx",
    "String",
    "Sring",
    "Srng",
    "Object",
    "java.util.HashMapp",
    "HashMap",
    "HashMap$Nod",
    "Nde",
    "^app.Twn$",
    "/Tw/",
    "/zz/",
    "/(/",
    "Unpackaged",
    "Unpackage",
    "Unpack",
    "X",
    "java.lang.ref.SoftReferenc",
    "java.lang.ref.S",
    "WeakReference",
    "app.pool.Worker",
    "pool.Worker",
    "app.pool",
    "java.lang.ref.",
    "java.ut",
    "",
    "app.a.very.long.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "app.a.very.long.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxyyy",
};

static void put_error(hdx_buffer *b, hdx_code code, const hdx_error *err)
{
    hdx_buffer_format(b, " %s: %s (%s)", hdx_code_name(code), err->message, err->hint);
}

/* "name: 0x1000 0x1020", or the error. */
static void put_objects(heap *h, hdx_buffer *b, const char *name)
{
    hdx_id  *ids;
    size_t   count;
    hdx_code code = hdx_query_objects_named(&h->q, &name, 1, &ids, &count, &h->err);
    hdx_buffer_format(b, "%s:", name);
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        hdx_buffer_format(b, " 0x%llx", (unsigned long long)hdx_graph_address(h->g, ids[i]));
    if (code != HDX_OK)
        put_error(b, code, &h->err);
    hdx_buffer_text(b, "\n");
    hdx_ids_free(ids);
}

static void put_classes(heap *h, hdx_buffer *b, const char *pattern, bool subclasses)
{
    uint32_t *numbers, all;
    size_t    count;
    answers_noticed[0] = '\0';
    hdx_code code = hdx_query_classes_named(&h->q, pattern, subclasses, &numbers, &count, &h->err);
    hdx_buffer_format(b, "%s%s:", pattern, subclasses ? " and below" : "");
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        const hdx_text name = hdx_graph_classes(h->g, &all)[numbers[i]].name;
        hdx_buffer_format(b, " %.*s", (int)name.len, name.at);
    }
    if (code != HDX_OK)
        put_error(b, code, &h->err);
    hdx_buffer_format(b, "%s%s\n", answers_noticed[0] == '\0' ? "" : " # ", answers_noticed);
    hdx_numbers_free(numbers);
}

Test(names, mean_objects_and_classes_or_say_why_not)
{
    heap       h;
    hdx_buffer b = hdx_buffer_of(NULL);
    sample_heap_make(&h);
    h.q.notice = answers_notice;
    for (size_t i = 0; i < HDX_COUNT(objects); i++)
        put_objects(&h, &b, objects[i]);
    for (size_t i = 0; i < HDX_COUNT(classes); i++) {
        put_classes(&h, &b, classes[i], false);
        put_classes(&h, &b, classes[i], true);
    }
    expect_file("names.txt", &b);
    hdx_buffer_free(&b);
    heap_close(&h);
}

Test(names, that_come_twice_are_one_in_the_order_of_the_first)
{
    static const char *const names[] = { "#5", "#3", "0x1020", "#5", "#4", "#3", "class:java.lang.Class", "#0" };
    heap                     h;
    hdx_id                  *ids;
    size_t                   count;
    sample_heap_make(&h);
    ok(hdx_query_objects_named(&h.q, names, HDX_COUNT(names), &ids, &count, &h.err));
    const hdx_id class = id_at(&h, 0x1020);
    cr_assert(eq(sz, count, 5));
    cr_expect(ids[0] == 5 && ids[1] == 3 && ids[2] == class && ids[3] == 4 && ids[4] == 0);
    hdx_ids_free(ids);
    heap_close(&h);
}

Test(ids, beyond_the_last_object_are_refused)
{
    heap                   h;
    hdx_rows              *rows;
    const hdx_path_options options = { 0 };
    sample_heap_make(&h);
    const hdx_id objects = hdx_graph_objects(h.g);
    for (unsigned i = 0; i < 4; i++) {
        const hdx_id   ids[] = { 0, i == 0 ? objects - 1 : i == 1 ? objects : i == 2 ? objects + 1 : HDX_NO_ID };
        const hdx_code want = i == 0 ? HDX_OK : HDX_NOT_FOUND;
        char           says[80];
        (void)snprintf(says, sizeof says, "no object has the id %llu", (unsigned long long)ids[1]);
        for (unsigned what = 0; what < 5; what++) {
            h.err = (hdx_error){ .offset = HDX_NOWHERE };
            const hdx_code code = what == 0   ? hdx_query_retained(&h.q, ids, 2, &rows, &h.err)
                                  : what == 1 ? hdx_query_object(&h.q, ids, 2, 3, &rows, &h.err)
                                  : what == 2 ? hdx_query_refs(&h.q, ids[1], true, HDX_BY_OBJECT, &rows, &h.err)
                                  : what == 3 ? hdx_query_path(&h.q, ids, 2, &options, &rows, &h.err)
                                              : hdx_query_dominators(&h.q, HDX_BY_NONE, &ids[1], 1, &rows, &h.err);
            cr_expect(eq(int, code, want), "%u of %u", what, i);
            cr_expect(code == HDX_OK ? rows != NULL : strcmp(h.err.message, says) == 0, "%u of %u: %s", what, i,
                      h.err.message);
            if (code == HDX_OK)
                hdx_rows_close(rows);
        }
    }
    heap_close(&h);
}
