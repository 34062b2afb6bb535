/*
 * test_questions.c - what people ask a heap, in SQL: by which way each question goes, and its answer where the library
 * says the same in another way.
 */
#include "sql/statements.h"

/* The ways of the tables, in the order in which SQLite goes through them. */
static const struct {
    const char *statement, *ways[4];
} questions[] = {
    { "SELECT name, live_instances, live_bytes FROM classes ORDER BY 3 DESC LIMIT 20",
      { "classes in order of live_bytes, falling" } },
    { "SELECT class, count(*), sum(shallow) FROM objects WHERE shallow >= 1024 GROUP BY class ORDER BY 3 DESC",
      { "by-class shallow>=? order:class:desc" } },
    { "SELECT id, addr(address), class, retained FROM objects ORDER BY retained DESC LIMIT 20",
      { "all top:retained:desc first?" } },
    { "SELECT id FROM objects WHERE \"instanceof\" = 'java.util.AbstractMap' ORDER BY retained DESC LIMIT 10",
      { "by-class instanceof=? top:retained:desc first?" } },
    { "SELECT * FROM objects WHERE address = 0x757871cf8", { "by-address address=?" } },
    { "SELECT o.id, o.class FROM refs r JOIN objects o ON o.id = r.src WHERE r.dst = 5",
      { "inbound-of dst=?", "by-id id=?" } },
    { "SELECT class, count(*), sum(retained) FROM objects WHERE dominator = 5 GROUP BY class",
      { "dominated-by dominator=?" } },
    { "SELECT retained_set_size(id) FROM objects WHERE class = 'bookshop.Bookshop$Session'", { "by-class class=?" } },
    { "SELECT name, count(*), sum(bytes) FROM classes GROUP BY name HAVING count(*) > 1",
      { "classes in order of name" } },
    { "SELECT count(*), sum(\"@shallow\") FROM \"java.util.ArrayList\" WHERE size = 0", { ":instances" } },
    { "SELECT count(*), sum(t.length - m.size) FROM \"java.util.HashMap\" m JOIN objects t ON t.id = m.\"table\" WHERE "
      "m.size * 4 < t.length",
      { ":instances", "by-id" } },
    { "SELECT id, class, length FROM objects WHERE kind IN ('primitive_array', 'object_array') ORDER BY shallow DESC "
      "LIMIT 20",
      { "all kind-in=? top:shallow:desc first?" } },
    { "SELECT string(id, 200) s, count(*) n, sum(retained) FROM objects WHERE class = 'java.lang.String' GROUP BY 1 "
      "HAVING n > 1 ORDER BY 3 DESC LIMIT 10",
      { "by-class class=?" } },
    { "SELECT p.class, count(*) n FROM objects s JOIN refs r ON r.dst = s.id JOIN objects p ON p.id = r.src WHERE "
      "s.class = 'java.lang.String' GROUP BY p.class_id ORDER BY n DESC LIMIT 10",
      { "by-class class=?", "inbound-of dst=?", "by-id id=?" } },
    { "SELECT d.class, count(*), sum(o.retained) FROM objects o LEFT JOIN objects d ON d.id = o.dominator WHERE "
      "o.class = 'java.lang.String' GROUP BY d.class_id",
      { "by-class class=?", "by-id id=? LEFT-JOIN" } },
    { "SELECT t.thread, count(*), sum(o.retained) FROM roots t JOIN objects o ON o.id = t.id WHERE t.thread IS NOT "
      "NULL "
      "GROUP BY 1",
      { "roots in order of thread", "by-id id=?" } },
    { "SELECT r.type, count(*), sum(o.retained) FROM roots r JOIN objects o ON o.id = r.id GROUP BY 1",
      { "roots in order of type", "by-id id=?" } },
    { "SELECT class, count(*), sum(shallow) FROM objects WHERE live = 0 GROUP BY class ORDER BY 3 DESC",
      { "by-class live=? order:class:desc" } },
    { "SELECT count(*) FROM \"java.lang.Thread\" WHERE eetop > 1700000000000", { ":instances" } },
    { "SELECT string(s.name), count(*) FROM \"java.lang.Thread\" o JOIN \"java.lang.ThreadGroup\" s ON s.this = "
      "o.\"group\" GROUP BY o.\"group\"",
      { ":instances", ":this this=?" } },
    { "SELECT count(*), sum(o.retained) FROM \"instanceof java.lang.ref.SoftReference\" r JOIN objects o ON o.id = "
      "r.referent WHERE o.dominator = r.this",
      { ":instances", "by-id" } },
    { "SELECT b.name, sum(b.live_bytes) - coalesce(a.live_bytes, 0) d FROM classes b LEFT JOIN classes a ON a.name = "
      "b.name GROUP BY 1 ORDER BY d DESC LIMIT 20",
      { "classes in order of name", "classes by name LEFT-JOIN" } },
    { "SELECT DISTINCT class FROM objects", { "by-class order:class:asc distinct" } },
    { "SELECT class FROM objects WHERE id IN (SELECT id FROM roots)", { "by-id id-in=?" } },
    { "SELECT count(*) FROM objects WHERE class_id IN (SELECT class_id FROM classes WHERE name LIKE 'java.util.%')",
      { "by-class class_id=?" } },
    { "SELECT id FROM objects ORDER BY id DESC LIMIT 3", { "all order:id:desc" } },
    { "SELECT this FROM \"java.util.ArrayList\" WHERE \"@retained\" > 1000", { ":instances @retained>?" } },
};

Test(questions, go_by_the_shortest_way)
{
    dump_test t;
    open_bookshop(&t);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        const char *at = plan_of(&t, questions[i].statement);
        for (size_t k = 0; questions[i].ways[k] != NULL; k++) {
            const char *found = strstr(at, questions[i].ways[k]);
            cr_expect(found != NULL, "%s: no '%s' in\n%s", questions[i].statement, questions[i].ways[k], at);
            at = found == NULL ? at : found + 1;
        }
        (void)run(&t, questions[i].statement);
        cr_expect(t.err.code == HDX_OK, "%s: %s", questions[i].statement, t.err.message);
    }
    /* groups and orders that a table gives itself are not sorted again */
    cr_expect(strstr(plan_of(&t, "SELECT class, count(*) FROM objects GROUP BY class"), "TEMP B-TREE") == NULL);
    cr_expect(strstr(plan_of(&t, "SELECT class_id, count(*) FROM objects GROUP BY class_id ORDER BY class_id DESC"),
                     "TEMP B-TREE") == NULL);
    cr_expect(strstr(plan_of(&t, "SELECT id FROM objects ORDER BY retained DESC, id LIMIT 10"), "TEMP B-TREE") == NULL);
    close_dump(&t);
}

Test(questions, count_what_other_tables_count)
{
    dump_test t;
    open_bookshop(&t);
    expect_same(&t,
                "SELECT class, count(*), sum(shallow) FROM objects WHERE class <> 'java.lang.Class' GROUP BY class_id",
                "SELECT name, live_instances, live_bytes FROM classes WHERE live_instances > 0 AND name <> "
                "'java.lang.Class' ORDER BY class_id");
    expect_same(&t, "SELECT id FROM objects WHERE dominator = 10441 ORDER BY id",
                "SELECT id FROM objects WHERE +dominator = 10441 ORDER BY id");
    expect_same(&t, "SELECT count(*), sum(src), sum(dst) FROM refs",
                "SELECT sum(outbound), sum(id * outbound), (SELECT sum(id * inbound) FROM objects) FROM objects");
    expect_same(&t, "SELECT count(*) FROM refs JOIN objects ON id = dst", "SELECT count(*) FROM refs");
    expect_same(&t,
                "SELECT this, \"@address\", \"@shallow\", \"@retained\", \"@live\", class FROM \"java.util.HashMap\"",
                "SELECT id, address, shallow, retained, live, class FROM objects WHERE class = 'java.util.HashMap'");
    expect_same(&t, "SELECT count(*) FROM \"instanceof java.util.AbstractMap\"",
                "SELECT count(*) FROM objects WHERE \"instanceof\" = 'java.util.AbstractMap'");
    expect_same(&t, "SELECT this, class, length FROM \"byte[]\" ORDER BY this",
                "SELECT id, class, length FROM objects WHERE class = 'byte[]' ORDER BY id");
    expect_same(&t, "SELECT this, size, \"table\", threshold FROM \"java.util.HashMap\"",
                "SELECT id, field(id, 'size'), field(id, 'table'), field(id, 'threshold') FROM objects WHERE class = "
                "'java.util.HashMap'");
    expect_same(
        &t, "SELECT src, dst FROM (SELECT DISTINCT src, dst FROM named_refs WHERE kind <> 'domain') ORDER BY src, dst",
        "SELECT src, dst FROM refs ORDER BY src, dst");
    close_dump(&t);
}

Test(questions, that_a_table_cannot_answer_say_what_to_ask_instead)
{
    dump_test t;
    open_bookshop(&t);
    cr_expect(strstr(run(&t, "SELECT \"instanceof\" FROM objects"), "instanceof(class_id, ") != NULL);
    expect(&t, "SELECT * FROM \"bookshop.Nothing\"", "usage: no such table: bookshop.Nothing");
    cr_expect(t.err.hint[0] == '\0', "%s", t.err.hint);
    expect(&t, "SELECT * FROM objekts", "usage: no such table: objekts");
    cr_expect(strcmp(t.err.hint, "did you mean objects?") == 0, "%s", t.err.hint);
    expect(&t, "SELECT * FROM \"java.util.HashMapp\"", "usage: no such table: java.util.HashMapp");
    cr_expect(strcmp(t.err.hint, "did you mean java.util.HashMap?") == 0, "%s", t.err.hint);
    expect(&t, "SELECT o.retaind FROM objects o", "usage: no such column: o.retaind");
    cr_expect(strcmp(t.err.hint, "did you mean retained?") == 0, "%s", t.err.hint);
    close_dump(&t);
}
