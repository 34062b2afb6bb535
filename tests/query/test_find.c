/*
 * test_find.c - names and texts in a heap whose answers are counted by hand: each kind of row, limits, Strings of each
 * layout, other objects with the same bytes, hostile names, an index without its dump, and a dump of Android.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/questions.h"
#include "rows/arguments.h"

#include <unistd.h>

static uint64_t text_of(dump_maker *m, char type, const char *text)
{
    uint64_t units[64];
    uint32_t n = 0;
    for (; text[n] != '\0'; n++)
        units[n] = (uint8_t)text[n];
    return dump_maker_primitives(m, type, units, n);
}

/* UTF-16 in a byte[], as the JVM writes it on little-endian processors. */
static uint64_t wide_text_of(dump_maker *m, const char *text)
{
    uint64_t units[64];
    uint32_t n = 0;
    for (; text[n / 2] != '\0'; n += 2) {
        units[n] = (uint8_t)text[n / 2];
        units[n + 1] = 0;
    }
    return dump_maker_primitives(m, 'B', units, n);
}

/* A class whose name has a line feed and a control sequence of terminals. */
#define HOSTILE "app.Wombat\n\x1b[2J"

/*
 * Wombats: a class app.Wombat with two instances, its package app.wombats with one class, a static field, a thread, a
 * class loader, four Strings (two of them unreachable or of another text), and a byte[] with the same bytes.
 */
static void zoo(heap *h)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t loader = dump_maker_class(m, "java.lang.ClassLoader", object, "");
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    const uint64_t thread = dump_maker_class(m, "java.lang.Thread", object, "name:L");
    const uint64_t objects = dump_maker_class(m, "java.lang.Object[]", object, "");
    (void)dump_maker_class(m, "byte[]", object, "");
    (void)dump_maker_class(m, "char[]", object, "");
    const uint64_t loads = dump_maker_class(m, "zoo.WombatLoader", loader, "");
    const uint64_t wombat = dump_maker_class(m, HOSTILE, object, "age:J");
    const uint64_t nest = dump_maker_class(m, "zoo.wombats.Nest", object, "");
    const uint64_t first = dump_maker_instance(m, wombat, DUMP_VALUES(1)),
                   second = dump_maker_instance(m, wombat, DUMP_VALUES(2));
    dump_maker_static(m, "oldestWombat", 'L', first);
    dump_maker_static(m, "wombatCount", 'I', 2);
    const uint64_t keeper = dump_maker_class(m, "zoo.Keeper", object, "");
    const uint64_t name = dump_maker_instance(m, string, DUMP_VALUES(text_of(m, 'B', "wombat-feeder-1"), 0, 0));
    const uint64_t feeder = dump_maker_instance(m, thread, DUMP_VALUES(name));
    const uint64_t held[] = { second,
                              dump_maker_instance(m, nest, NULL),
                              dump_maker_instance(m, loads, NULL),
                              dump_maker_instance(m, string, DUMP_VALUES(text_of(m, 'B', "a WOMBAT (Latin-1)"), 0, 0)),
                              dump_maker_instance(m, string, DUMP_VALUES(wide_text_of(m, "a Wombat in UTF-16"), 1, 0)),
                              dump_maker_instance(m, string, DUMP_VALUES(text_of(m, 'B', "a koala"), 0, 0)),
                              text_of(m, 'B', "bytes of a wombat"),
                              text_of(m, 'C', "characters of a wombat") };
    (void)dump_maker_instance(m, string, DUMP_VALUES(text_of(m, 'B', "an unreachable wombat"), 0, 0));
    const uint64_t all = dump_maker_array(m, objects, held, HDX_COUNT(held));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, all, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, keeper, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, feeder, 1, 0);
    heap_open(h, m);
}

static hdx_rows *find(heap *h, const char *text, const char *limit)
{
    const hdx_argument  at[] = { { "text", text }, { "limit", limit } };
    const hdx_arguments a = { &hdx_question_find.declared, at, limit == NULL ? 1 : 2 };
    hdx_rows           *rows = NULL;
    cr_assert(eq(int, hdx_question_open(&hdx_question_find, &h->q, &a, &rows, &h->err), HDX_OK), "%s", h->err.message);
    return rows;
}

/* "kind name count shallow retained" of each row: addresses are those of the maker. */
static void expect_found(hdx_rows *rows, const char *want)
{
    hdx_buffer      b = hdx_buffer_of(NULL);
    const hdx_cell *row;
    hdx_error       err;
    hdx_buffer_text(&b, "");
    while (hdx_rows_next(rows, &row))
        for (unsigned i = 0; i < 5; i++) {
            put_cell(&b, &row[i]);
            hdx_buffer_text(&b, i < 4 ? "," : "\n");
        }
    cr_expect(eq(int, hdx_rows_end(rows, &err), HDX_OK));
    cr_expect(eq(str, b.at, (char *)want));
    hdx_buffer_free(&b);
    hdx_rows_close(rows);
}

#define CLASSES                                                                                                        \
    "class," HOSTILE ",2,48,-\n"                                                                                       \
    "class,zoo.WombatLoader,1,16,-\n"                                                                                  \
    "class,zoo.wombats.Nest,1,16,-\n"
#define PACKAGES "package,zoo.wombats,1,16,-\n"
#define STATICS                                                                                                        \
    "static,zoo.Keeper.oldestWombat,-,24,24\n"                                                                         \
    "static,zoo.Keeper.wombatCount,-,-,-\n"
#define STRINGS                                                                                                        \
    "string,wombat-feeder-1,-,32,72\n"                                                                                 \
    "string,a WOMBAT (Latin-1),-,32,80\n"                                                                              \
    "string,a Wombat in UTF-16,-,32,96\n"

Test(find, has_rows_of_each_kind_whatever_their_case)
{
    static const char *const texts[] = { "wombat", "WOMBAT", "Wombat", "womba", "/(?i)wombat/" };
    heap                     h;
    zoo(&h);
    for (unsigned i = 0; i < HDX_COUNT(texts); i++)
        expect_found(find(&h, texts[i], NULL), CLASSES PACKAGES STATICS "thread,wombat-feeder-1,-,24,96\n"
                                                                        "loader,zoo.WombatLoader,0,-,16\n" STRINGS);
    heap_close(&h);
}

Test(find, takes_text_literally_and_a_regular_expression_between_slashes)
{
    heap h;
    zoo(&h);
    expect_found(find(&h, "w*t", NULL), "");
    expect_found(find(&h, "zoo.", NULL), "class,zoo.WombatLoader,1,16,-\n"
                                         "class,zoo.wombats.Nest,1,16,-\n"
                                         "class,zoo.Keeper,0,0,-\n"
                                         "package,zoo.wombats,1,16,-\n" STATICS "loader,zoo.WombatLoader,0,-,16\n");
    expect_found(find(&h, "/^a W[A-Z]+ /", NULL), "string,a WOMBAT (Latin-1),-,32,80\n");
    expect_found(find(&h, "/koala$/", NULL), "string,a koala,-,32,64\n");
    expect_found(find(&h, "(", NULL), "package,(default package),6,304,-\nstring,a WOMBAT (Latin-1),-,32,80\n");
    expect_found(find(&h, "\x1b[2j", NULL), "class," HOSTILE ",2,48,-\n");
    heap_close(&h);
}

Test(find, limits_each_kind_and_says_which_have_more)
{
    heap h;
    zoo(&h);
    hdx_rows *rows = find(&h, "wombat", "1");
    cr_expect(eq(str, (char *)hdx_rows_title(rows),
                 (char *)"More match than are shown: 3 classes, 2 static fields, Strings (see strings --match "
                         "'/(?i)wombat/'); --limit N shows more of each"));
    expect_extra(rows, "kinds",
                 "[{kind=class rows=1 more=true matches=3 note=-} {kind=package rows=1 more=false matches=1 note=-} "
                 "{kind=static rows=1 more=true matches=2 note=-} {kind=thread rows=1 more=false matches=1 note=-} "
                 "{kind=loader rows=1 more=false matches=1 note=-} {kind=property rows=0 more=false matches=0 note=-} "
                 "{kind=string rows=1 more=true matches=- note=strings --match '/(?i)wombat/'}]");
    expect_found(rows, "class," HOSTILE ",2,48,-\n" PACKAGES "static,zoo.Keeper.oldestWombat,-,24,24\n"
                       "thread,wombat-feeder-1,-,24,96\nloader,zoo.WombatLoader,0,-,16\n"
                       "string,wombat-feeder-1,-,32,72\n");
    rows = find(&h, "wombat", "3"); /* exactly as many as there are */
    cr_expect(hdx_rows_title(rows) == NULL);
    hdx_rows_close(rows);
    rows = find(&h, "wombat", "2");
    cr_expect(eq(str, (char *)hdx_rows_title(rows),
                 (char *)"More match than are shown: 3 classes, Strings (see strings --match '/(?i)wombat/'); --limit "
                         "N shows more of each"));
    hdx_rows_close(rows);
    rows = find(&h, "a.(b'", "0");
    cr_expect(hdx_rows_title(rows) == NULL);
    const hdx_cell *row;
    cr_expect(not(hdx_rows_next(rows, &row)));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows), (char *)"no name and no String matches"));
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(find, searches_no_texts_without_the_dump_and_says_so)
{
    heap h;
    zoo(&h);
    hdx_graph_close(h.g);
    cr_assert(eq(int, unlink(h.dump), 0));
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    hdx_rows *rows = find(&h, "wombat", NULL);
    cr_expect(eq(str, (char *)hdx_rows_title(rows),
                 (char *)"Strings were not searched: their texts are only in the dump, which is not available"));
    const hdx_cell *kinds = extra(rows, "kinds");
    hdx_buffer      text = hdx_buffer_of(NULL);
    put_cell(&text, &kinds->as.list.at[6]);
    cr_expect(eq(str, text.at,
                 (char *)"{kind=string rows=0 more=- matches=- note=Strings were not searched: their texts are only in "
                         "the dump, which is not available}"));
    hdx_buffer_free(&text);
    expect_found(rows, CLASSES PACKAGES "static,zoo.Keeper.oldestWombat,-,-,-\n"
                                        "static,zoo.Keeper.wombatCount,-,-,-\n"
                                        "loader,zoo.WombatLoader,0,-,16\n");
    heap_close(&h);
}

Test(find, refuses_an_empty_text_and_an_invalid_expression)
{
    heap                h;
    hdx_rows           *rows = NULL;
    const hdx_argument  empty = { "text", "" }, broken = { "text", "/(/" };
    const hdx_arguments of_empty = { &hdx_question_find.declared, &empty, 1 },
                        of_broken = { &hdx_question_find.declared, &broken, 1 };
    zoo(&h);
    cr_expect(eq(int, hdx_question_open(&hdx_question_find, &h.q, &of_empty, &rows, &h.err), HDX_USAGE));
    cr_expect(eq(str, h.err.message, (char *)"the text to find is empty"));
    cr_expect(eq(int, hdx_question_open(&hdx_question_find, &h.q, &of_broken, &rows, &h.err), HDX_USAGE));
    heap_close(&h);
}

/* Strings of JDK 6 and Dalvik show parts of one char[]: only those whose part has the text are rows. */
Test(find, looks_at_the_part_of_an_array_that_a_string_shows)
{
    heap           h;
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L offset:I count:I");
    const uint64_t objects = dump_maker_class(m, "java.lang.Object[]", object, "");
    (void)dump_maker_class(m, "char[]", object, "");
    const uint64_t chars = text_of(m, 'C', "one wombat and two koalas");
    const uint64_t held[] = { dump_maker_instance(m, string, DUMP_VALUES(chars, 4, 6)),
                              dump_maker_instance(m, string, DUMP_VALUES(chars, 19, 6)),
                              dump_maker_instance(m, string, DUMP_VALUES(chars, 0, 25)) };
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_array(m, objects, held, 3), 0, 0);
    heap_open(&h, m);
    expect_found(find(&h, "WOMBAT", NULL), "string,wombat,-,32,32\nstring,one wombat and two koalas,-,32,32\n");
    expect_found(find(&h, "koala", NULL), "string,koalas,-,32,32\nstring,one wombat and two koalas,-,32,32\n");
    heap_close(&h);
}

Test(find, finds_names_and_texts_in_a_dump_of_android)
{
    heap        h;
    dump_maker *m = dump_maker_new(4);
    dump_maker_heap_info(m, 'A', "app");
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "count:I hash:I value:L");
    (void)dump_maker_class(m, "char[]", object, "");
    dump_maker_static(m, "TAG", 'L', dump_maker_instance(m, string, DUMP_VALUES(7, 0, text_of(m, 'C', "Wombats"))));
    const uint64_t activity = dump_maker_class(m, "com.acme.wombat.MainActivity", object, "");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, activity, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, activity, NULL), 0, 0);
    heap_open(&h, m);
    hdx_rows  *rows = find(&h, "wombat", NULL);
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "class,com.acme.wombat.MainActivity,1,") == text.at, "%s", text.at);
    cr_expect(strstr(text.at, "\npackage,com.acme.wombat,1,") != NULL, "%s", text.at);
    cr_expect(strstr(text.at, "\nstatic,com.acme.wombat.MainActivity.TAG,-,") != NULL, "%s", text.at);
    cr_expect(strstr(text.at, "\nstring,Wombats,-,") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}
