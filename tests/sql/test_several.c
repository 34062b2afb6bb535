/*
 * test_several.c - two dumps in one connection, each in its schema; an index without its dump; statements that are
 * stopped.
 */
#include "statements.h"
#include "support/faulty.h"

static dump_maker *heap_of(unsigned nodes)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    dump_maker_static(m, "LIMIT", 'I', nodes);
    const uint64_t node = dump_maker_class(m, "app.Node", object, "next:L name:L");
    const uint64_t name = dump_maker_string(m, string, nodes == 3 ? "three" : "five");
    uint64_t       last = 0;
    for (unsigned i = 0; i < nodes; i++)
        last = dump_maker_instance(m, node, DUMP_VALUES(last, name));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
    return m;
}

static void open_two(dump_test *t)
{
    static const char *const names[] = { "new" };
    const hdx_sql_options    how = { .names = names, .name_count = 1 };
    char                     second[160];
    memset(t, 0, sizeof *t);
    test_folder_make_fast(t->folder, "sql");
    (void)snprintf(t->dump, sizeof t->dump, "%s/a.hprof", t->folder);
    (void)snprintf(second, sizeof second, "%s/b.hprof", t->folder);
    dump_maker *three = heap_of(3), *five = heap_of(5);
    dump_maker_save(three, t->dump);
    dump_maker_save(five, second);
    dump_maker_free(three);
    dump_maker_free(five);
    const hdx_index_options options = { .dump = t->dump, .threads = 1 };
    cr_assert(hdx_session_open(&options, &t->s, &t->err) == HDX_OK, "%s", t->err.message);
    cr_assert(hdx_session_add(t->s, second, &t->err) == HDX_OK, "%s", t->err.message);
    cr_assert(hdx_session_graph(t->s, 0, &t->g, &t->err) == HDX_OK, "%s", t->err.message);
    cr_assert(hdx_sql_open(t->s, &how, &t->sql, &t->err) == HDX_OK, "%s", t->err.message);
}

Test(several, have_tables_and_functions_of_their_own)
{
    dump_test t;
    open_two(&t);
    expect(&t,
           "SELECT live_instances FROM classes WHERE name = 'app.Node' UNION ALL SELECT live_instances FROM "
           "new.classes WHERE name = 'app.Node'",
           "3\n5\n");
    expect(&t,
           "SELECT b.name, b.live_instances - coalesce(a.live_instances, 0) d FROM new.classes b LEFT JOIN "
           "main.classes a ON a.name = b.name WHERE d <> 0",
           "app.Node|2\n");
    expect(&t,
           "SELECT (SELECT count(*) FROM main.subtree((SELECT max(id) FROM main.objects WHERE class = 'app.Node'))), "
           "(SELECT count(*) FROM new.subtree((SELECT max(id) FROM new.objects WHERE class = 'app.Node')))",
           "7|9\n"); /* with the text, and what its classes are */
    expect(&t, "SELECT objects FROM new.histogram WHERE class = 'app.Node'", "5\n");
    expect(&t,
           "SELECT string(id) FROM objects WHERE class = 'java.lang.String' UNION ALL SELECT string(id, 'new') FROM "
           "new.objects WHERE class = 'java.lang.String' UNION ALL SELECT string(id, 2, 'new') FROM new.objects WHERE "
           "class = 'java.lang.String'",
           "three\nfive\nfi\n");
    expect(&t,
           "SELECT field(object, 'LIMIT'), field((SELECT object FROM new.classes WHERE name = 'app.Node'), 'LIMIT', "
           "'new') FROM classes WHERE name = 'app.Node'",
           "3|5\n");
    expect(&t, "SELECT DISTINCT class_of(field(id, 'name', 'new'), 'new') FROM new.objects WHERE class = 'app.Node'",
           "java.lang.String\n");
    expect(&t,
           "SELECT count(*) FROM new.retained_set((SELECT group_ids(id, 'new') FROM new.objects WHERE class = "
           "'app.Node'))",
           "9\n");
    expect(&t, "SELECT count(*) FROM new.retained_set((SELECT group_ids(id) FROM objects))",
           "usage: these objects belong to another dump");
    expect(&t,
           "SELECT retained_set_size(id, 'new') FROM new.objects WHERE class = 'app.Node' UNION ALL SELECT "
           "sum(shallow) FROM new.objects WHERE kind <> 'class' AND id > 0",
           "224\n224\n");
    expect(&t, "SELECT name, value FROM new.statics WHERE name = 'LIMIT'", "LIMIT|5\n");
    expect(&t, "SELECT * FROM new.leaks", "usage: leaks needs a session with one dump");
    close_dump(&t);
}

Test(several, tell_what_an_index_alone_does_not_know)
{
    dump_test t;
    char      index[200];
    open_two(&t);
    hdx_sql_close(t.sql);
    hdx_session_close(t.s);
    cr_assert(remove(t.dump) == 0);
    (void)snprintf(index, sizeof index, "%s.hdx", t.dump);
    const hdx_index_options options = { .dump = index, .threads = 1 };
    cr_assert(hdx_session_open(&options, &t.s, &t.err) == HDX_OK, "%s", t.err.message);
    cr_assert(hdx_sql_open(t.s, NULL, &t.sql, &t.err) == HDX_OK, "%s", t.err.message);
    expect(&t, "SELECT live_instances FROM classes WHERE name = 'app.Node'", "3\n");
    expect(&t, "SELECT step, class_of(id), name FROM path((SELECT min(id) FROM objects WHERE class = 'app.Node'))",
           "0|app.Node|\n1|app.Node|\n2|app.Node|\n");
    expect(&t, "SELECT count(label(id)) FROM objects WHERE class = 'java.lang.String'", "0\n");
    expect(&t, "SELECT name FROM loaders", "<system class loader>\n");
    cr_expect(strncmp(run(&t, "SELECT string(id) FROM objects WHERE class = 'java.lang.String'"), "bad_dump: ", 10) ==
                  0,
              "%s", t.rows.at);
    cr_expect(strncmp(run(&t, "SELECT * FROM statics"), "bad_dump: ", 10) == 0, "%s", t.rows.at);
    cr_expect(strncmp(run(&t, "SELECT f.* FROM objects o, fields(o.id) f"), "bad_dump: ", 10) == 0, "%s", t.rows.at);
    close_dump(&t);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

Test(several, stop_when_they_are_asked_to)
{
    static const char *const statements[] = {
        "SELECT count(*) FROM reach(6240)", "SELECT name FROM classes ORDER BY name",
        "SELECT count(*) FROM statics",     "SELECT count(string(id)) FROM objects",
        "SELECT tally(id) FROM objects",    "SELECT retained_set_size(id) FROM objects",
        "SELECT count(*) FROM histogram",   "SELECT count(*) FROM objects o, fields(o.id)",
    };
    dump_test t;
    open_bookshop(&t);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        t.s->options.progress.cancelled = always;
        cr_expect(strncmp(run(&t, statements[i]), "cancelled: ", 11) == 0, "%s: %s", statements[i], t.rows.at);
        t.s->options.progress.cancelled = NULL;
        cr_expect(strncmp(run(&t, statements[i]), "cancelled", 9) != 0, "%s: %s", statements[i], t.rows.at);
    }
    close_dump(&t);
}

Test(several, say_that_memory_was_refused_for_an_answer)
{
    static const char *const statements[] = {
        "SELECT * FROM histogram('package')",
        "SELECT * FROM collections",
        "SELECT * FROM threads_answer",
        "SELECT * FROM object(6704)",
    };
    unsigned  refused = 0;
    dump_test t;
    open_bookshop(&t);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        for (unsigned n = 1;; n += 1 + n / 8) {
            faulty_mem f;
            faulty_mem_init(&f, &t.s->mem, n);
            const char *rows = run(&t, statements[i]);
            t.s->mem.refuse = NULL;
            if (!faulty_mem_fired(&f))
                break;
            refused++;
            cr_expect(strncmp(rows, "limit: ", 7) == 0 || strchr(rows, '\n') != NULL, "%s, request %u: %s",
                      statements[i], n, rows);
        }
    cr_expect(refused > 20, "%u", refused);
    close_dump(&t);
}
