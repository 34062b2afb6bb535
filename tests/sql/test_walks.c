/*
 * test_walks.c - tables that are made for their arguments, against what the library and other tables say of the same.
 */
#include "support/questions.h"
#include "statements.h"
#include "support/faulty.h"

static const char *line(const char *format, unsigned long long a, unsigned long long b)
{
    static char text[1000];
    (void)snprintf(text, sizeof text, format, a, b);
    return text;
}

Test(walks, climb_paths_and_dominators)
{
    dump_test  t;
    hdx_buffer path = hdx_buffer_of(NULL), tree = hdx_buffer_of(NULL);
    open_bookshop(&t);
    for (hdx_id id = 1; id < hdx_graph_objects(t.g); id += 997) {
        const hdx_graph *g = t.g;
        unsigned         step = 0;
        hdx_buffer_clear(&path);
        hdx_buffer_clear(&tree);
        hdx_buffer_text(&path, "");
        hdx_buffer_text(&tree, "");
        for (hdx_id at = id; at != HDX_NO_ID;
             at = hdx_graph_nearest(g, at) == at ? HDX_NO_ID : hdx_graph_nearest(g, at))
            if (hdx_graph_live(g, at))
                hdx_buffer_format(&path, "%u|%llu\n", step++, (unsigned long long)at);
        step = 0;
        for (hdx_id at = id; at < HDX_VIRTUAL_ROOT; at = hdx_graph_dominator(g, at))
            if (hdx_graph_live(g, at))
                hdx_buffer_format(&tree, "%u|%llu\n", step++, (unsigned long long)at);
        expect(&t, line("SELECT step, id FROM path(%llu)", id, 0), path.at);
        expect(&t, line("SELECT * FROM dominators(%llu)", id, 0), tree.at);
    }
    hdx_buffer_free(&path);
    hdx_buffer_free(&tree);
    close_dump(&t);
}

Test(walks, go_down_the_tree_of_dominators)
{
    dump_test t;
    open_bookshop(&t);
    expect(&t,
           "SELECT count(*) FROM (SELECT id, retained FROM objects WHERE id % 101 = 0) t WHERE retained <> (SELECT "
           "sum(shallow_of(s.id)) FROM subtree(t.id) s)",
           "0\n");
    expect(
        &t,
        "SELECT count(*) FROM (SELECT id FROM objects WHERE id % 211 = 0) t, subtree(t.id) s WHERE s.step <> (SELECT "
        "max(step) FROM dominators(s.id)) - (SELECT max(step) FROM dominators(t.id))",
        "0\n");
    expect_same(&t,
                "SELECT t.id, count(d.id), sum(d.id), max(d.step) FROM (SELECT id FROM objects) t, dominated(t.id) d "
                "GROUP BY t.id",
                "SELECT dominator, count(*), sum(id), 1 FROM objects WHERE dominator IS NOT NULL GROUP BY dominator");
    close_dump(&t);
}

Test(walks, reach_what_references_lead_to)
{
    static const hdx_id ids[] = { 353, 6240, 6704, 6703, 14000 };
    dump_test           t;
    open_bookshop(&t);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char *other =
            strdup(line("WITH RECURSIVE r(id) AS (SELECT %llu UNION SELECT dst FROM r JOIN refs ON src = r.id) "
                        "SELECT count(*), sum(id) FROM r",
                        ids[i], 0));
        expect_same(&t, line("SELECT count(*), sum(id) FROM reach(%llu)", ids[i], 0), other);
        free(other);
        other = strdup(line("WITH RECURSIVE r(id) AS (SELECT %llu UNION SELECT src FROM r JOIN refs ON dst = r.id) "
                            "SELECT count(*), sum(id) FROM r",
                            ids[i], 0));
        expect_same(&t, line("SELECT count(*), sum(id) FROM reachable_by(%llu)", ids[i], 0), other);
        free(other);
        expect_same(&t, line("SELECT id FROM reach(%llu) WHERE step = 1 ORDER BY id", ids[i], 0),
                    line("SELECT dst FROM refs WHERE src = %llu AND dst <> %llu ORDER BY dst", ids[i], ids[i]));
    }
    /* given up within, and begun anew by the same cursor */
    expect(&t,
           "SELECT count(*) FROM (SELECT id FROM objects LIMIT 50) t WHERE EXISTS (SELECT 1 FROM reach(t.id) r "
           "WHERE r.step = 1)",
           "50\n");
    close_dump(&t);
}

Test(walks, know_retained_sets)
{
    dump_test       t;
    hdx_rows       *rows;
    const hdx_cell *cells;
    uint64_t        objects = 0, bytes = 0;
    open_bookshop(&t);
    const hdx_query q = { .graph = t.g, .threads = 1 };
    cr_assert(hdx_query_retained_class(&q, "java.lang.String", false, &rows, &t.err) == HDX_OK);
    for (; hdx_rows_next(rows, &cells); bytes += cells[2].as.natural)
        objects += cells[1].as.natural;
    hdx_rows_close(rows);
    char *expected = strdup(line("%llu|%llu\n", objects, bytes));
    expect(&t,
           "SELECT count(*), sum(shallow) FROM objects WHERE id IN (SELECT id FROM retained_set((SELECT group_ids(id)"
           " FROM objects WHERE class = 'java.lang.String')))",
           expected);
    expect(&t,
           "SELECT count(*), sum(shallow_of(id)) FROM retained_set((SELECT json_group_array(id) FROM objects WHERE "
           "class = 'java.lang.String'))",
           expected);
    free(expected);
    expect_same(&t, "SELECT id FROM retained_set('[6704]')", "SELECT id FROM subtree(6704) ORDER BY id");
    expect_same(&t, "SELECT id FROM retained_set(6704)", "SELECT id FROM subtree(6704) ORDER BY id");
    expect(&t, "SELECT count(*) FROM retained_set('[null, 6704,null]')", "1\n");
    expect(&t, "SELECT count(*) FROM retained_set('[]')", "0\n");
    expect(&t, "SELECT count(*) FROM retained_set(NULL)", "0\n");
    expect(&t, "SELECT count(*) FROM retained_set(' [ 99999999999999999999 , 6704 ] ')", "1\n");
    expect(&t, "SELECT * FROM retained_set('[1, \"a\"]')",
           "usage: ids must be a JSON list or a result of group_ids; unexpected: \"a\"]");
    close_dump(&t);
}

Test(walks, take_one_object_apart)
{
    dump_test t;
    open_bookshop(&t);
    expect(&t,
           "SELECT f.name, f.type, f.value, f.ref IS NULL, c.name FROM objects o, fields(o.id) f JOIN classes c ON "
           "c.class_id = f.owner WHERE o.class = 'java.util.HashMap' AND o.id = 6704 AND f.type <> 'ref'",
           "loadFactor|float|0.75|1|java.util.HashMap\nthreshold|int|0|1|java.util.HashMap\n"
           "modCount|int|0|1|java.util.HashMap\nsize|int|0|1|java.util.HashMap\n");
    expect(&t,
           "SELECT count(*) FROM (SELECT id FROM objects WHERE kind = 'instance') o, fields(o.id) f WHERE f.ref IS "
           "NOT field(o.id, f.name) AND f.type = 'ref' AND f.name <> 'next' AND f.name NOT IN ('name', 'parent')",
           "0\n");
    expect(&t,
           "SELECT s.name, s.value FROM classes c, fields(c.object) s WHERE c.name = 'java.util.HashMap' AND s.name "
           "LIKE 'M%CITY'",
           "MIN_TREEIFY_CAPACITY|64\nMAXIMUM_CAPACITY|1073741824\n");
    expect(&t,
           "SELECT count(*) FROM (SELECT id, length FROM objects WHERE length > 0) o WHERE o.length <> (SELECT "
           "count(*) FROM elements(o.id))",
           "0\n");
    expect(&t,
           "SELECT count(*) FROM (SELECT id FROM objects WHERE kind = 'object_array') o, elements(o.id) e WHERE "
           "e.ref IS NOT element(o.id, e.i)",
           "0\n");
    expect(&t,
           "SELECT group_concat(i), count(value) FROM objects o, elements(o.id, 4094, 5) e WHERE o.length > 5000 AND "
           "o.class = 'byte[]'",
           "4094,4095,4096,4097,4098,4094,4095,4096,4097,4098,4094,4095,4096,4097,4098|15\n");
    expect(&t, "SELECT count(*) FROM elements(6704)", "0\n");
    expect(&t, "SELECT count(*) FROM elements(6704, -1)", "0\n");
    close_dump(&t);
}

Test(walks, know_what_collections_hold)
{
    dump_test t;
    open_bookshop(&t);
    run(&t, "SELECT id FROM objects WHERE class = 'java.util.HashMap' ORDER BY retained DESC LIMIT 1");
    const unsigned long long id = strtoull(t.rows.at, NULL, 10);
    char                     object[40];
    (void)snprintf(object, sizeof object, "#%llu", id);
    const hdx_argument arguments[] = { { "object", object }, { "columns", "index,key_label,label" } };
    char              *expected = strdup(answer(&t, "entries", arguments, 2));
    cr_expect(strlen(expected) > 100);
    expect(&t, line("SELECT i, key_text, value_text FROM entries(%llu)", id, 0), expected);
    free(expected);
    expect_same(&t,
                "SELECT o.id, count(*) FROM objects o, entries(o.id) e WHERE o.class = 'java.util.HashMap' GROUP BY 1",
                "SELECT id, field(id, 'size') s FROM objects WHERE class = 'java.util.HashMap' AND s > 0");
    expect(&t, "SELECT count(*) FROM entries(0)", "0\n");
    close_dump(&t);
}

Test(walks, say_what_is_missing_or_wrong)
{
    static const char *const names[] = { "path",         "dominators", "subtree",  "dominated", "reach",
                                         "reachable_by", "fields",     "elements", "entries",   "retained_set" };
    char                     text[200];
    dump_test                t;
    open_bookshop(&t);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(text, sizeof text, "SELECT * FROM %s", names[i]);
        cr_expect(strncmp(run(&t, text), "usage: an argument is missing: ", 31) == 0, "%s: %s", text, t.rows.at);
        cr_expect(strstr(t.rows.at, names[i]) != NULL, "%s", t.rows.at);
        (void)snprintf(text, sizeof text, "SELECT * FROM %s(NULL)", names[i]);
        expect(&t, text, "");
        if (strcmp(names[i], "retained_set") != 0) {
            (void)snprintf(text, sizeof text,
                           "SELECT * FROM %s('x') UNION ALL SELECT * FROM %s(-1) UNION ALL SELECT * "
                           "FROM %s(99999999) UNION ALL SELECT * FROM %s(1.5)",
                           names[i], names[i], names[i], names[i]);
            expect(&t, text, "");
        }
        (void)snprintf(text, sizeof text, "SELECT * FROM %s(1, 2, 3, 4)", names[i]);
        cr_expect(strstr(run(&t, text), "too many arguments") != NULL, "%s: %s", text, t.rows.at);
    }
    expect(&t, "SELECT * FROM path(9, 'hard')",
           "usage: path can exclude weak soft phantom finalizer or CLASS#FIELD, not hard");
    expect(&t, "SELECT count(*) FROM objects o JOIN path p ON p.of = o.id AND p.step = 0", "23875\n");
    expect_plan(&t, "SELECT * FROM path(1) ORDER BY step", "path(id [, exclude])\n");
    cr_expect(strstr(plan_of(&t, "SELECT * FROM path(1) ORDER BY step"), "B-TREE") == NULL, "%s", t.rows.at);
    close_dump(&t);
}

/* A list of nodes, the last of them also held by a reference that does not count, a weak one. */
static dump_maker *long_list(unsigned count)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t reference = dump_maker_class(m, "java.lang.ref.Reference", object, "referent:L");
    const uint64_t weak = dump_maker_class(m, "java.lang.ref.WeakReference", reference, "");
    const uint64_t node = dump_maker_class(m, "app.Node", object, "next:L");
    uint64_t       last = dump_maker_instance(m, node, DUMP_VALUES(0));
    const uint64_t ref = dump_maker_instance(m, weak, DUMP_VALUES(last));
    for (unsigned i = 1; i < count; i++)
        last = dump_maker_instance(m, node, DUMP_VALUES(last));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, ref, 0, 0);
    return m;
}

Test(walks, follow_a_list_that_is_longer_than_any_stack)
{
    enum { COUNT = 300000 };
    dump_test t;
    open_dump(&t, long_list(COUNT));
    expect(&t, "SELECT count(*), max(step) FROM subtree((SELECT max(id) FROM objects WHERE class = 'app.Node'))",
           "299999|299998\n");
    expect(&t, "SELECT count(*), max(step) FROM reach((SELECT max(id) FROM objects WHERE class = 'app.Node'))",
           "300005|299999\n");
    expect(&t, "SELECT max(step) FROM reachable_by((SELECT min(id) FROM objects WHERE class = 'app.Node'))",
           "299999\n");
    expect(&t, "SELECT count(*) FROM path((SELECT min(id) FROM objects WHERE class = 'app.Node'))", "2\n");
    expect(&t, "SELECT count(*) FROM path((SELECT min(id) FROM objects WHERE class = 'app.Node'), 'weak')", "300000\n");
    expect(&t, "SELECT step, name, class_of(id) FROM path((SELECT min(id) FROM objects WHERE class = 'app.Node'))",
           "0||app.Node\n1|referent|java.lang.ref.WeakReference\n");
    expect(&t,
           "SELECT step, name, class_of(id) FROM path((SELECT min(id) FROM objects WHERE class = 'app.Node'), "
           "'soft,java.lang.ref.Reference#referent') LIMIT 2",
           "0||app.Node\n1|next|app.Node\n");
    close_dump(&t);
}

Test(walks, say_that_memory_was_refused)
{
    static const char *const statements[] = {
        "SELECT count(*) FROM reach(6240)",
        "SELECT count(*) FROM subtree(6240)",
        "SELECT count(*) FROM retained_set('[1, 2, 6240]')",
        "SELECT count(*) FROM path(6240, 'weak')",
        "SELECT count(*) FROM objects o, entries(o.id) WHERE o.class = 'java.util.HashMap'",
    };
    unsigned  refused = 0;
    dump_test t;
    open_bookshop(&t);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        for (unsigned n = 1;; n += 1 + n / 10) {
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
        }
    cr_expect(refused > 20, "%u", refused);
    close_dump(&t);
}

Test(retained_set, is_the_same_by_a_call_of_the_library)
{
    dump_test t;
    open_bookshop(&t);
    const hdx_query q = { .graph = t.g, .threads = 1 };
    const hdx_id    ids[] = { 10441 };
    const uint64_t  words = hdx_bits_words(hdx_graph_objects(t.g));
    uint64_t       *gone = calloc(words, sizeof *gone);
    char            count[32];
    cr_assert(hdx_query_retained_set(&q, ids, 1, gone, &t.err) == HDX_OK, "%s", t.err.message);
    (void)snprintf(count, sizeof count, "%llu\n", (unsigned long long)hdx_bits_count(gone, words));
    expect(&t, "SELECT count(*) FROM retained_set('[10441]')", count);
    cr_expect(hdx_bits_test(gone, 10441));
    cr_expect(hdx_query_retained_set(&q, &(hdx_id){ UINT64_MAX }, 1, gone, &t.err) == HDX_NOT_FOUND);
    free(gone);
    close_dump(&t);
}
