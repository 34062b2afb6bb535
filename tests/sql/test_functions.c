/*
 * test_functions.c - functions of objects and of groups, against what the library says of the same.
 */
#include "support/questions.h"
#include "statements.h"
#include "support/faulty.h"

/* Ids of the small heap below, by address. */
static hdx_id id_at(const dump_test *t, hdx_addr address)
{
    hdx_id id = HDX_NO_ID;
    cr_assert(hdx_graph_find(t->g, address, &id));
    return id;
}

enum { FIRST = 0x10000, SECOND = 0x10100, ARRAY = 0x10200, CHARS = 0x10300 };

static dump_maker *small_heap(const char *long_name)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t array = dump_maker_class(m, "[Ljava.lang.Object;", object, "");
    const uint64_t base = dump_maker_class(m, "app.Base", object, "next:L");
    dump_maker_static(m, "HEAD", 'L', FIRST);
    dump_maker_static(m, "LIMIT", 'J', (uint64_t)-5);
    const uint64_t node =
        dump_maker_class(m, "app.Node", base, "next:L other:L flag:Z letter:C ratio:F share:D small:B number:I big:J");
    const uint64_t odd = dump_maker_class(m, "app.Odd", object, long_name);
    const uint64_t wide[] = { 0x41, 0xe9, 0, 0xd83d, 0xde00, 0xd800 };
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L");
    dump_maker_primitives_at(m, CHARS, 'C', wide, 6);
    const uint64_t text = dump_maker_instance(m, string, DUMP_VALUES(CHARS));
    dump_maker_instance_at(m, SECOND, node, DUMP_VALUES(0, 0xdead0, 0, 0, 0, 0, 0, 0, 0, FIRST));
    dump_maker_instance_at(
        m, FIRST, node,
        DUMP_VALUES(SECOND, text, 1, 'x', 0x3fc00000, 0x4004000000000000, 0xff, 7, (uint64_t)-9, ARRAY));
    dump_maker_array_at(m, ARRAY, array, DUMP_VALUES(0, SECOND, 0xdead0), 3);
    dump_maker_instance(m, odd, DUMP_VALUES(FIRST)); /* garbage */
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
    return m;
}

Test(functions, say_what_the_index_knows_of_an_object)
{
    char      text[512];
    dump_test t;
    open_dump(&t, small_heap("a:L"));
    const hdx_id id = id_at(&t, FIRST);
    (void)snprintf(text, sizeof text, "SELECT class_of(%llu), shallow_of(%llu), retained_of(%llu)",
                   (unsigned long long)id, (unsigned long long)id, (unsigned long long)id);
    char expected[200];
    (void)snprintf(expected, sizeof expected, "app.Node|%llu|%llu\n", (unsigned long long)hdx_graph_shallow(t.g, id),
                   (unsigned long long)hdx_graph_retained(t.g, id));
    expect(&t, text, expected);
    expect(&t, "SELECT class_of(-1), class_of(999999), class_of(NULL), class_of('x'), class_of(1.5)", "||||\n");
    expect(&t, "SELECT class_of('1') = class_of(1), class_of(1, 'main') = class_of(1)", "1|1\n");
    expect(&t, "SELECT class_of(1, 'old')", "usage: no dump has the schema old");
    expect(&t, "SELECT name FROM classes WHERE instanceof(class_id, 'app.Base') ORDER BY name", "app.Base\napp.Node\n");
    expect(&t, "SELECT instanceof(1, 'app.Nothing'), instanceof(99, 'app.Base'), instanceof(NULL, 'a')", "0||\n");
    close_dump(&t);
}

Test(functions, read_fields_statics_and_elements)
{
    char      text[1024];
    dump_test t;
    open_dump(&t, small_heap("a:L"));
    const unsigned long long first = id_at(&t, FIRST), second = id_at(&t, SECOND), array = id_at(&t, ARRAY);
    char                     expected[200];
    (void)snprintf(text, sizeof text,
                   "SELECT field(i, 'flag'), field(i, 'letter'), field(i, 'ratio'), field(i, 'share'), field(i, "
                   "'small'), field(i, 'number'), field(i, 'big') FROM (SELECT %llu i)",
                   first);
    expect(&t, text, "1|120|1.50|2.50|-1|7|-9\n");
    /* of two fields of a name the topmost class has its, as in MAT; null and what names no object are null */
    (void)snprintf(text, sizeof text,
                   "SELECT field(%llu, 'next'), field(%llu, 'next'), field(%llu, 'other'), field(%llu, 'none')", first,
                   second, second, first);
    (void)snprintf(expected, sizeof expected, "%llu|%llu||\n", array, first);
    expect(&t, text, expected);
    (void)snprintf(text, sizeof text,
                   "SELECT element(%llu, 0), element(%llu, 1), element(%llu, 2), element(%llu, 3), element(%llu, -1), "
                   "element(%llu, 0)",
                   array, array, array, array, array, first);
    (void)snprintf(expected, sizeof expected, "|%llu||||\n", second);
    expect(&t, text, expected);
    (void)snprintf(expected, sizeof expected, "-5|%llu\n", first);
    expect(&t, "SELECT field(object, 'LIMIT'), field(object, 'HEAD') FROM classes WHERE name = 'app.Node'", expected);
    close_dump(&t);
}

Test(functions, give_texts_as_they_are)
{
    dump_test t;
    open_dump(&t, small_heap("a:L"));
    expect(&t, "SELECT hex(string(id)), length(CAST(string(id) AS BLOB)) FROM objects WHERE class = 'java.lang.String'",
           "41C3A900F09F9880EDA080|11\n");
    expect(&t,
           "SELECT string(id, 2), string(id, 0), string(id, -1) IS NULL FROM objects WHERE class = "
           "'java.lang.String'",
           "A\xc3\xa9||1\n");
    expect(&t, "SELECT count(string(id)), count(label(id)) FROM objects WHERE class = 'app.Node'", "0|0\n");
    close_dump(&t);
    open_bookshop(&t);
    hdx_refs refs;
    hdx_id   id;
    uint64_t n = 0, length = 0;
    hdx_graph_instances(t.g, hdx_graph_class_named(t.g, "java.lang.String")->number, HDX_LIVE, &refs);
    while (hdx_refs_next(&refs, &id)) {
        char  *text;
        size_t len;
        bool   whole, is_string;
        cr_assert(hdx_graph_string(t.g, id, UINT64_MAX, &text, &len, &whole, &is_string, &t.err) == HDX_OK);
        n += is_string;
        length += len;
        hdx_text_free(text);
    }
    char expected[100];
    (void)snprintf(expected, sizeof expected, "%llu|%llu\n", (unsigned long long)n, (unsigned long long)length);
    expect(&t,
           "SELECT count(string(id)), sum(length(CAST(string(id) AS BLOB))) FROM objects WHERE class = "
           "'java.lang.String'",
           expected);
    expect(&t, "SELECT label(id) FROM objects WHERE class = 'java.lang.Thread' AND label(id) LIKE 'm%'", "main\n");
    expect(&t, "CREATE TEMP VIEW texts AS SELECT string(id) s FROM objects; ", "");
    expect(&t, "SELECT count(s) > 3000 FROM texts", "1\n");
    close_dump(&t);
}

Test(functions, survive_odd_names)
{
    static char text[41000];
    dump_test   t;
    open_scoped(&t, small_heap("\"'%s;--:L"), HDX_ALL);
    expect(&t, "SELECT class_of(field(id, '\"''%s;--')) FROM objects WHERE class = 'app.Odd'", "app.Node\n");
    (void)snprintf(text, sizeof text, "SELECT field(id, '%040000d') IS NULL FROM objects WHERE class = 'app.Odd'", 7);
    expect(&t, text, "1\n");
    expect(&t, "SELECT field(id, x'00'), field(id, NULL), field(id, '') FROM objects WHERE class = 'app.Odd'", "||\n");
    close_dump(&t);
}

Test(functions, write_addresses_and_sizes)
{
    dump_test t;
    open_dump(&t, small_heap("a:L"));
    expect(&t, "SELECT addr(255), addr('0xfF'), addr(-1), addr('0xffffffffffffffff'), addr(NULL)",
           "0xff|255|0xffffffffffffffff|-1|\n");
    expect(&t, "SELECT addr('0x')", "usage: addr needs a number or an address such as '0x7f3a10'");
    expect(&t, "SELECT addr('0x12345678901234567')", "usage: addr needs a number or an address such as '0x7f3a10'");
    expect(&t, "SELECT bytes('10M'), bytes('1k'), bytes(7), bytes(NULL)", "10485760|1024|7|\n");
    expect(&t, "SELECT bytes('many')", "usage: bytes needs a size such as '768M' or '4G'");
    close_dump(&t);
}

Test(functions, match_whole_texts_and_bound_what_that_costs)
{
    dump_test t;
    open_dump(&t, small_heap("a:L"));
    expect(&t, "SELECT 'ab' REGEXP 'a.', 'xab' REGEXP 'a.', 'b' REGEXP 'a|b', '\xc3\xa9' REGEXP '.', NULL REGEXP 'a'",
           "1|0|1|1|\n");
    expect(&t, "SELECT count(*) FROM classes WHERE regexp('app\\..*', name)", "2\n");
    cr_expect(strstr(run(&t, "SELECT 'a' REGEXP '('"), "usage: ") == t.rows.at, "%s", t.rows.at);
    cr_expect(strstr(run(&t, "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' REGEXP '(a+)+'"), "usage: ") ==
                  t.rows.at,
              "%s", t.rows.at);
    close_dump(&t);
}

Test(functions, know_what_a_set_of_objects_keeps)
{
    dump_test       t;
    hdx_rows       *rows;
    const hdx_cell *cells;
    uint64_t        bytes = 0;
    open_bookshop(&t);
    const hdx_query q = { .graph = t.g, .threads = 1 };
    cr_assert(hdx_query_retained_class(&q, "java.lang.String", false, &rows, &t.err) == HDX_OK);
    while (hdx_rows_next(rows, &cells))
        bytes += cells[2].as.natural;
    hdx_rows_close(rows);
    char expected[100];
    (void)snprintf(expected, sizeof expected, "%llu\n", (unsigned long long)bytes);
    expect(&t, "SELECT retained_set_size(id) FROM objects WHERE class = 'java.lang.String'", expected);
    expect_same(&t, "SELECT id, retained_set_size(id) FROM objects WHERE class = 'java.util.HashMap' GROUP BY id",
                "SELECT id, retained FROM objects WHERE class = 'java.util.HashMap'");
    expect(&t, "SELECT retained_set_size(id) FROM objects WHERE class = 'none'", "0\n");
    expect_same(&t, "SELECT retained_set_size(id) FROM objects", "SELECT sum(shallow) FROM objects");
    close_dump(&t);
}

Test(functions, tally_as_group_by_does)
{
    dump_test t;
    open_bookshop(&t);
    expect_same(&t,
                "SELECT value ->> 'key', value ->> 'count', value ->> 'sum' FROM json_each((SELECT tally(class, "
                "shallow) FROM objects)) ORDER BY 1",
                "SELECT class, count(*), sum(shallow) FROM objects GROUP BY class ORDER BY 1");
    expect(&t, "SELECT value ->> 'key' FROM json_each((SELECT tally(class, shallow) FROM objects)) LIMIT 2",
           "byte[]\njava.lang.Object[]\n");
    expect(&t,
           "SELECT tally(k, v) FROM (SELECT 1 k, 2 v UNION ALL SELECT '1', 3.5 UNION ALL SELECT NULL, NULL UNION ALL "
           "SELECT 1, 4 UNION ALL SELECT 1.5, 9223372036854775807 UNION ALL SELECT 1.5, 1)",
           "[{\"key\": 1.5, \"count\": 2, \"sum\": 9.223372036854776e+18},{\"key\": 1, \"count\": 2, \"sum\": 6},"
           "{\"key\": \"1\", \"count\": 1, \"sum\": 3.5},{\"key\": null, \"count\": 1, \"sum\": null}]\n");
    expect(&t, "SELECT tally(1) FROM objects WHERE id < 0", "[]\n");
    close_dump(&t);
}

Test(functions, find_the_middle)
{
    static const char numbers[] = "(SELECT 1 n UNION ALL SELECT 2 UNION ALL SELECT 4 UNION ALL SELECT 10 UNION ALL "
                                  "SELECT NULL)";
    char              text[400];
    dump_test         t;
    open_dump(&t, small_heap("a:L"));
    (void)snprintf(text, sizeof text,
                   "SELECT median(n), percentile(n, 0), percentile(n, 100), percentile(n, 50), percentile(n, 90) FROM "
                   "%s",
                   numbers);
    expect(&t, text, "3.00|1.00|10.00|3.00|8.20\n");
    expect(&t, "SELECT median(n) FROM (SELECT NULL n)", "\n");
    expect(&t, "SELECT percentile(1, 101)", "usage: percentile needs a number from 0 to 100");
    close_dump(&t);
}

Test(functions, say_that_memory_was_refused)
{
    static const char *const statements[] = {
        "SELECT tally(class, shallow) FROM objects",
        "SELECT tally(string(id)) FROM objects WHERE class = 'java.lang.String'",
        "SELECT median(shallow) FROM objects",
        "SELECT retained_set_size(id) FROM objects",
        "SELECT group_ids(id) IS NULL FROM objects",
    };
    unsigned  refused = 0;
    dump_test t;
    open_bookshop(&t);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        for (unsigned n = 1;; n++) {
            faulty_mem f;
            faulty_mem_init(&f, &t.s->mem, n);
            const char *rows = run(&t, statements[i]);
            t.s->mem.refuse = NULL;
            if (!faulty_mem_fired(&f))
                break;
            refused++;
            cr_expect(strncmp(rows, "limit: ", 7) == 0, "%s, request %u: %s", statements[i], n, rows);
        }
    cr_expect(refused > 20, "%u", refused);
    close_dump(&t);
}
