/*
 * test_held.c - the small tables: what they hold, equal to the answers that say the same; how they are searched, and
 * in which order they come without a sort.
 */
#include "support/questions.h"
#include "query/runtime/loaders.h"
#include "statements.h"
#include "support/faulty.h"

/* A statement gives the rows of an answer. */
static void expect_answer(dump_test *t, const char *statement, const char *name, const hdx_argument *arguments,
                          size_t count)
{
    char *rows = strdup(answer(t, name, arguments, count));
    cr_expect(strlen(rows) > 0, "%s has no rows", name);
    expect(t, statement, rows);
    free(rows);
}
#define EXPECT_ANSWER(statement, name, ...)                                                                            \
    expect_answer(&t, statement, name, (const hdx_argument[]){ __VA_ARGS__ },                                          \
                  sizeof((const hdx_argument[]){ __VA_ARGS__ }) / sizeof(hdx_argument))

Test(held, classes_and_packages_have_what_a_histogram_counts)
{
    dump_test t;
    open_bookshop(&t);
    EXPECT_ANSWER("SELECT name, live_instances, live_bytes FROM classes WHERE package = 'java.util' AND "
                  "live_instances > 0 ORDER BY name",
                  "histogram", { "class", "/^java.util.[^.]*$/" }, { "columns", "class,objects,shallow" },
                  { "where", "objects > 0" }, { "sort", "class" });
    EXPECT_ANSWER("SELECT name, live_classes, live_instances, live_bytes, retained FROM packages WHERE "
                  "live_instances > 0 ORDER BY name",
                  "histogram", { "by", "package" }, { "retained", "true" },
                  { "columns", "package,classes,objects,shallow,retained" }, { "where", "objects > 0" },
                  { "sort", "package" });
    expect(&t, "SELECT count(*), sum(live_instances), sum(live_bytes) FROM classes", "632|23875|2788024\n");
    expect(&t, "SELECT value FROM dump WHERE key IN ('live_objects', 'live_bytes', 'classes') ORDER BY key",
           "632\n2788024\n23875\n");
    expect_same(&t, "SELECT sum(classes), sum(instances), sum(bytes), sum(live_bytes) FROM packages",
                "SELECT count(*), sum(instances), sum(bytes), sum(live_bytes) FROM classes");
    close_dump(&t);
}

Test(held, loaders_have_what_the_library_says_of_them)
{
    dump_test   t;
    hdx_ask     ask;
    hdx_loaders all;
    hdx_buffer  rows = hdx_buffer_of(NULL);
    hdx_query   q = { .threads = 1 };
    open_bookshop(&t);
    q.graph = t.g;
    cr_assert(hdx_ask_begin(&q, &ask, &t.err) == HDX_OK && hdx_loaders_list(&ask, &all, &t.err) == HDX_OK);
    for (uint64_t i = 0; i < all.count; i++)
        hdx_buffer_format(&rows, "%llu|%llu|%llu|%llu|%llu\n", (unsigned long long)all.at[i].id,
                          (unsigned long long)all.at[i].classes, (unsigned long long)all.at[i].instances,
                          (unsigned long long)all.at[i].shallow,
                          (unsigned long long)hdx_graph_retained(t.g, all.at[i].id));
    expect(&t, "SELECT id, live_classes, live_instances, live_bytes, retained FROM loaders ORDER BY id", rows.at);
    expect(&t, "SELECT name FROM loaders WHERE name > '' ORDER BY id", "<system class loader>\nplatform\napp\n");
    expect_same(&t, "SELECT id, classes, bytes FROM loaders WHERE classes > 0 ORDER BY 1",
                "SELECT loader, count(*), sum(bytes) FROM classes GROUP BY 1 ORDER BY 1");
    hdx_loaders_drop(&all, NULL);
    hdx_buffer_free(&rows);
    close_dump(&t);
}

Test(held, roots_threads_and_frames_are_those_of_the_answers)
{
    dump_test t;
    open_bookshop(&t);
    EXPECT_ANSWER("SELECT type, count(DISTINCT id) FROM roots GROUP BY type ORDER BY type", "roots", { "by", "type" },
                  { "columns", "type,objects" }, { "sort", "type" });
    expect(&t, "SELECT count(*), count(thread), count(frame) FROM roots", "613|28|28\n");
    expect(&t, "SELECT DISTINCT type, description FROM roots WHERE type LIKE 'J%' OR type LIKE 'T%' ORDER BY 1",
           "JAVA_LOCAL|a local variable of a thread's frame\nTHREAD_OBJ|a running thread\n");
    EXPECT_ANSWER("SELECT name, retained FROM threads ORDER BY id IN (SELECT id FROM objects "
                  "WHERE instanceof='java.lang.VirtualThread'), retained DESC, id",
                  "threads", { "columns", "name,retained" });
    expect(&t,
           "SELECT t.name, t.serial, t.frames, t.locals, f.class, f.method, f.signature, f.source, f.line FROM "
           "threads t JOIN frames f ON f.thread = t.id WHERE t.name = 'main' AND f.frame IN (0, 1)",
           "main|1|5|8|java.io.FileInputStream|readBytes|([BII)I|FileInputStream.java|\n"
           "main|1|5|8|java.io.FileInputStream|read|([BII)I|FileInputStream.java|276\n");
    expect_same(&t, "SELECT id, locals FROM threads WHERE locals > 0 ORDER BY 1",
                "SELECT thread, count(DISTINCT id) FROM roots WHERE thread IS NOT NULL GROUP BY 1 ORDER BY 1");
    close_dump(&t);
}

Test(held, origins_of_classes_are_those_of_the_histogram)
{
    dump_test t;
    open_bookshop(&t);
    EXPECT_ANSWER("SELECT origin, count(*), sum(live_instances) FROM classes WHERE live_instances > 0 GROUP BY origin "
                  "ORDER BY origin",
                  "histogram", { "by", "origin" }, { "columns", "origin,classes,objects" }, { "sort", "origin" });
    close_dump(&t);
}

Test(held, the_dump_is_what_info_says)
{
    dump_test t;
    open_bookshop(&t);
    expect_same(&t, "SELECT * FROM dump WHERE key <> 'index.seconds'",
                "SELECT * FROM info WHERE key <> 'index.seconds' AND key NOT LIKE 'triage.%'");
    expect(&t, "SELECT count(*) FROM heaps", "0\n");
    expect(&t, "SELECT count(*) FROM damage", "0\n");
    close_dump(&t);
}

/* A heap of two classes with fields, statics and a name that quotes. */
static dump_maker *small_heap(void)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_static(m, "LIMIT", 'I', 7);
    const uint64_t base = dump_maker_class(m, "app.Base", object, "next:L");
    const uint64_t node = dump_maker_class(m, "app.\"N'ode", base, "count:I next:L");
    const uint64_t a = dump_maker_instance(m, node, DUMP_VALUES(1, 0, 0));
    dump_maker_static(m, "first", 'L', a);
    dump_maker_static(m, "ratio", 'D', 0x3ff8000000000000);
    dump_maker_static(m, "none", 'L', 0);
    const uint64_t holder = dump_maker_class(m, "app.Holder", object, "");
    dump_maker_instance(m, node, DUMP_VALUES(2, 0, 0)); /* garbage */
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, holder, 0, 0);
    dump_maker_heap_info(m, 'A', "app");
    return m;
}

Test(held, fields_are_those_of_an_instance_then_the_statics)
{
    dump_test t;
    open_dump(&t, small_heap());
    expect(&t,
           "SELECT o.name, f.position, f.name, f.type, f.static FROM fields_of_class f JOIN classes c USING (class_id) "
           "JOIN classes o ON o.class_id = f.owner WHERE c.name = 'app.\"N''ode'",
           "app.\"N'ode|0|count|int|0\napp.\"N'ode|1|next|ref|0\napp.Base|2|next|ref|0\n");
    expect(&t,
           "SELECT s.name, s.type, s.value, c.name FROM statics s LEFT JOIN classes c ON c.object = "
           "(SELECT class_id FROM classes WHERE 0) WHERE s.class_id = (SELECT class_id FROM classes WHERE name = "
           "'app.Holder') AND s.ref IS NULL ORDER BY s.name",
           "none|ref||\nratio|double|1.50|\n");
    expect(&t, "SELECT count(*) FROM statics WHERE name = 'first' AND ref IS NOT NULL AND value > ref", "1\n");
    expect(&t, "SELECT instances, live_instances FROM classes WHERE name = 'app.\"N''ode'", "2|1\n");
    close_dump(&t);
}

Test(held, scope_says_which_classes_there_are)
{
    static const char names[] = "SELECT name, instances FROM classes WHERE name LIKE 'app.%' ORDER BY name";
    dump_test         t;
    open_scoped(&t, small_heap(), HDX_GARBAGE);
    expect(&t, names, "app.\"N'ode|2\n");
    close_dump(&t);
    open_scoped(&t, small_heap(), HDX_ALL);
    expect(&t, names, "app.\"N'ode|2\napp.Base|0\napp.Holder|0\n");
    close_dump(&t);
}

Test(held, finds_a_class_whose_name_is_long)
{
    static char    name[40001], text[41000];
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_test      t;
    (void)snprintf(name, sizeof name, "%040000d", 7);
    memcpy(name, "a.\"%s;--", 8);
    const uint64_t id = dump_maker_class(m, name, object, "");
    dump_maker_instance(m, id, NULL);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, id, 0, 0);
    open_scoped(&t, m, HDX_ALL);
    (void)snprintf(text, sizeof text, "SELECT instances, length(name), package FROM classes WHERE name = '%s'", name);
    expect(&t, text, "1|40000|a\n");
    expect(&t, "SELECT length(class_of(id)) FROM objects WHERE class GLOB 'a.*'", "40000\n");
    expect(&t, "SELECT name FROM packages WHERE instances = 1 AND name > '(' AND name < 'b'", "a\n");
    close_dump(&t);
}

Test(held, says_how_it_is_searched)
{
    dump_test t;
    open_bookshop(&t);
    expect_plan(&t, "SELECT * FROM classes WHERE name = 'java.lang.String'", ":classes by name\n");
    expect_plan(&t, "SELECT * FROM classes WHERE name = 'java.lang.String' AND class_id = 3", "classes by class_id\n");
    expect_plan(&t, "SELECT * FROM classes WHERE live_bytes BETWEEN 10 AND 20", "classes by range of live_bytes\n");
    expect_plan(&t, "SELECT * FROM classes WHERE name > 'java.' AND name < 'java/' ORDER BY name DESC",
                "classes by range of name in order of name, falling\n");
    expect_plan(&t, "SELECT * FROM classes", ":classes\n");
    expect_plan(&t, "SELECT * FROM roots ORDER BY id", "roots in order of id\n");
    expect_plan(&t, "SELECT t.name FROM threads t JOIN frames f ON f.thread = t.id WHERE f.class = 'java.lang.Object'",
                "frames by class\n");
    const char *grouped = plan_of(&t, "SELECT name, count(*) FROM classes GROUP BY name ORDER BY name DESC");
    cr_expect(strstr(grouped, "classes in order of name, falling\n") && !strstr(grouped, "B-TREE"), "%s", grouped);
    const char *top = plan_of(&t, "SELECT name, live_instances, live_bytes FROM classes ORDER BY 3 DESC LIMIT 20");
    cr_expect(strstr(top, "classes in order of live_bytes, falling\n") && !strstr(top, "B-TREE"), "%s", top);
    const char *folded = plan_of(&t, "SELECT * FROM classes WHERE name = 'JAVA.LANG.STRING' COLLATE NOCASE");
    cr_expect(strstr(folded, "by name") == NULL, "%s", folded);
    expect(&t, "SELECT name FROM classes WHERE name = 'JAVA.LANG.STRING' COLLATE NOCASE", "java.lang.String\n");
    close_dump(&t);
}

/* ---- against a plain copy ---- */

static unsigned long long seed = 20261124;
static unsigned           pick(unsigned n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33) % n;
}

/* A value of that column, of another, or something odd. */
static const char *any_value(char *to, size_t size, const char *table, const char *column)
{
    static const char *const odd[] = { "NULL",  "5",     "'5'", "5.0",  "5.5", "' 5'",
                                       "'abc'", "x'00'", "-1",  "1e30", "0",   "''" };
    if (pick(2) == 0)
        return odd[pick(sizeof odd / sizeof *odd)];
    (void)snprintf(to, size, "(SELECT \"%s\" FROM copy_of_%s LIMIT 1 OFFSET %u)", column, table, pick(40));
    return to;
}

/* format: of a column, what stands before the name of the table, its name, conditions */
static void same_as_copy(dump_test *t, const char *format, const char *column, const char *table, const char *where)
{
    char text[1024];
    (void)snprintf(text, sizeof text, format, column, "copy_of_", table, where);
    char *expected = strdup(run(t, text));
    (void)snprintf(text, sizeof text, format, column, "", table, where);
    expect(t, text, expected);
    free(expected);
}

static void compare_copy(dump_test *t, const char *table, const char *const *columns, unsigned count)
{
    static const char *const ops[] = { "=", "<", "<=", ">", ">=", "IS", "IN" };
    char                     text[1024], a[200], b[200];
    (void)snprintf(text, sizeof text, "CREATE TEMP TABLE copy_of_%s AS SELECT * FROM %s", table, table);
    cr_assert(strcmp(run(t, text), "") == 0, "%s", t->rows.at);
    for (unsigned i = 0; i < 400; i++) {
        const char *x = columns[pick(count)], *y = pick(3) == 0 ? columns[pick(count)] : x, *o = columns[pick(count)];
        const char *op = ops[pick(7)], *with = ops[pick(5)], *in = strcmp(op, "IN") == 0 ? "(3, '5', " : "(";
        char        where[700];
        (void)snprintf(where, sizeof where, "WHERE \"%s\" %s %s%s) AND \"%s\" %s %s ORDER BY \"%s\" %s", x, op, in,
                       any_value(a, sizeof a, table, x), y, with, any_value(b, sizeof b, table, y), o,
                       pick(2) == 0 ? "DESC" : "");
        same_as_copy(t, "SELECT quote(\"%s\"), count(*) FROM (SELECT * FROM %s%s %s) GROUP BY 1", o, table, where);
        same_as_copy(t, "SELECT quote(\"%s\") FROM %s%s %s", o, table, where);
    }
}

Test(held, answers_random_statements_as_a_plain_copy_does)
{
    static const char *const classes[] = { "class_id",       "name",       "package",       "object",
                                           "super",          "loader",     "kind",          "element_type",
                                           "instances",      "bytes",      "flags",         "address",
                                           "live_instances", "live_bytes", "instance_size", "origin" };
    static const char *const roots[] = { "id", "type", "thread", "frame", "description" };
    static const char *const frames[] = { "thread", "frame", "class", "method", "source", "line" };
    static const char *const statics[] = { "class_id", "name", "type", "value", "ref" };
    static const char *const packages[] = { "name", "classes", "retained", "live_bytes" };
    static const char *const threads[] = { "id", "name", "serial", "locals" };
    dump_test                t;
    open_bookshop(&t);
    compare_copy(&t, "classes", classes, 16);
    compare_copy(&t, "roots", roots, 5);
    compare_copy(&t, "frames", frames, 6);
    compare_copy(&t, "statics", statics, 5);
    compare_copy(&t, "packages", packages, 4);
    compare_copy(&t, "threads", threads, 4);
    close_dump(&t);
}

Test(held, says_that_memory_was_refused)
{
    static const char *const statements[] = {
        "SELECT name FROM classes ORDER BY name",
        "SELECT * FROM packages WHERE name > 'java' ORDER BY retained",
        "SELECT * FROM threads t JOIN roots r ON r.thread = t.id JOIN frames f ON f.thread = t.id",
        "SELECT * FROM loaders ORDER BY name",
        "SELECT * FROM statics WHERE ref = 3",
        "SELECT * FROM dump",
    };
    dump_test t;
    unsigned  refused = 0;
    open_bookshop(&t);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        for (unsigned n = 1;; n += 1 + n / 8) {
            faulty_mem f;
            hdx_sql_close(t.sql);
            cr_assert(hdx_sql_open(t.s, NULL, &t.sql, &t.err) == HDX_OK);
            faulty_mem_init(&f, &t.s->mem, n);
            const char *rows = run(&t, statements[i]);
            t.s->mem.refuse = NULL;
            if (!faulty_mem_fired(&f))
                break;
            refused++;
            cr_expect(strncmp(rows, "limit: ", 7) == 0 || strchr(rows, '\n') != NULL, "%s, request %u: %s",
                      statements[i], n, rows);
            expect(&t, "SELECT count(*) FROM heaps", "0\n");
        }
    cr_expect(refused > 30, "%u", refused);
    close_dump(&t);
}
