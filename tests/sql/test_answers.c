/*
 * test_answers.c - answers as tables: the rows that they give to everybody else.
 */
#include "render/render.h"
#include "statements.h"
#include "support/golden.h"

/* What an answer needs, and how a statement says it. */
static const struct {
    const char  *answer, *table;
    hdx_argument with;
} needs[] = {
    { "entries", "entries_answer('#6704')", { "object", "#6704" } },
    { "free-if", "free_if WHERE class_ = 'java.util.HashMap'", { "class", "java.util.HashMap" } },
    { "histogram", "histogram('package')", { "by", "package" } },
    { "immediate-dominators",
      "immediate_dominators WHERE class_ = 'java.lang.String'",
      { "class", "java.lang.String" } },
    { "object", "object(6704)", { "object", "#6704" } },
    { "objects", "objects_answer('java.util.HashMap')", { "class", "java.util.HashMap" } },
    { "path", "path_answer(6704)", { "object", "#6704" } },
    { "refs", "refs_answer(6704)", { "object", "#6704" } },
    { "retained", "retained WHERE class_ = 'java.lang.String'", { "class", "java.lang.String" } },
};

static void put_any(hdx_buffer *b, const hdx_cell *c)
{
    if (c->kind == HDX_CELL_LIST || c->kind == HDX_CELL_OBJECT)
        hdx_render_json_cell(b, c);
    else
        put_value(b, c);
}

/* The columns that the answer has, as a list for `columns` or for SELECT. */
static void list_columns(const hdx_answer *a, const hdx_argument *arguments, size_t count, bool quoted, hdx_buffer *b)
{
    const hdx_form *form = hdx_answer_form(a, arguments, count);
    for (unsigned i = 0; i < form->column_count; i++)
        hdx_buffer_format(b, "%s%s%s%s", i == 0 ? "" : ",", quoted ? "\"" : "", form->columns[i].name,
                          quoted ? "\"" : "");
}

/* Every column by its name: what nobody computes unasked is asked for. */
static void expect_rows(dump_test *t, const hdx_answer *a, const char *table, const hdx_argument *with, size_t count)
{
    hdx_buffer      columns = hdx_buffer_of(NULL), statement = hdx_buffer_of(NULL), rows = hdx_buffer_of(NULL);
    hdx_argument    arguments[3];
    hdx_rows       *r = NULL;
    const hdx_cell *cells;
    unsigned        n;
    for (size_t i = 0; i < count; i++)
        arguments[i] = with[i];
    list_columns(a, with, count, false, &columns);
    arguments[count] = (hdx_argument){ "columns", columns.at };
    hdx_buffer_text(&statement, "SELECT ");
    list_columns(a, with, count, true, &statement);
    hdx_buffer_format(&statement, " FROM %s", table);
    hdx_code code = hdx_answer_run(t->s, a->name, arguments, count + 1, &r, &t->err);
    if (code != HDX_OK) {
        cr_expect(strstr(run(t, statement.at), t->err.message) != NULL, "%s: %s, not %s", a->name, t->rows.at,
                  t->err.message);
    } else {
        hdx_buffer_text(&rows, "");
        (void)hdx_rows_columns(r, &n);
        for (; hdx_rows_next(r, &cells); hdx_buffer_text(&rows, "\n"))
            for (unsigned i = 0; i < n; i++) {
                hdx_buffer_text(&rows, i > 0 ? "|" : "");
                put_any(&rows, &cells[i]);
            }
        cr_assert(hdx_rows_end(r, &t->err) == HDX_OK, "%s", t->err.message);
        expect(t, statement.at, rows.at);
    }
    hdx_rows_close(r);
    hdx_buffer_free(&columns);
    hdx_buffer_free(&statement);
    hdx_buffer_free(&rows);
}

Test(answers, give_the_rows_that_the_commands_give)
{
    dump_test                t;
    size_t                   count;
    unsigned                 asked = 0;
    const hdx_answer *const *all = hdx_answers(&count);
    open_bookshop(&t);
    for (size_t i = 0, place = 0; i < count; i++) {
        char name[SQL_ANSWER_NAME];
        if ((all[i]->flags & (HDX_ANSWER_HEAP | HDX_ANSWER_TOGETHER)) != HDX_ANSWER_HEAP ||
            strcmp(all[i]->name, "export") == 0)
            continue;
        cr_assert(hdx_sql_answer_table(place++, name));
        const char         *table = name;
        const hdx_argument *with = NULL;
        for (size_t k = 0; k < sizeof needs / sizeof *needs; k++)
            if (strcmp(needs[k].answer, all[i]->name) == 0) {
                table = needs[k].table;
                with = &needs[k].with;
            }
        expect_rows(&t, all[i], table, with, with != NULL);
        asked++;
    }
    char name[SQL_ANSWER_NAME];
    cr_expect(asked > 30 && !hdx_sql_answer_table(asked, name), "%u", asked);
    close_dump(&t);
}

Test(answers, take_their_parameters)
{
    dump_test t;
    open_bookshop(&t);
    expect_same(&t, "SELECT package, objects FROM histogram WHERE \"by\" = 'package' AND objects > 100 ORDER BY 1",
                "SELECT name, live_instances FROM packages WHERE live_instances > 100 ORDER BY 1");
    expect(&t, "SELECT package, class FROM histogram('package') WHERE package = 'bookshop'", "bookshop|\n");
    expect_same(&t,
                "SELECT class, retained FROM histogram WHERE retained_ = 1 AND class_ = 'java.util.*' ORDER BY class",
                "SELECT class, retained FROM histogram('class', 'java.util.*', 'true') ORDER BY class");
    expect(&t, "SELECT * FROM histogram('shelf')",
           "usage: by 'shelf' is none of: class package loader superclass heap origin");
    expect(&t, "SELECT * FROM histogram(NULL, 'no.such.Thing')", "not_found: no class is called no.such.Thing");
    cr_expect(strncmp(run(&t, "SELECT * FROM refs_answer"), "usage: ", 7) == 0, "%s", t.rows.at);
    /* from another table, and the columns that a statement uses alone */
    expect(&t,
           "SELECT count(*) FROM (SELECT id FROM objects WHERE class = 'java.util.HashMap' LIMIT 3) o JOIN object x "
           "ON x.object = o.id",
           "3\n");
    expect_plan(&t, "SELECT class FROM histogram WHERE \"by\" = 'class'", "histogram(by), columns 1\n");
    expect_plan(&t, "SELECT count(*) FROM strings", "strings, columns 0\n");
    close_dump(&t);
}

Test(answers, keep_what_lists_hold_as_json)
{
    dump_test t;
    open_bookshop(&t);
    expect(&t, "SELECT value ->> 'name', value ->> 'value' FROM object(6704), json_each(fields) LIMIT 2",
           "loadFactor|0.75\nthreshold|0\n");
    close_dump(&t);
}

Test(answers, are_those_of_every_golden_dump)
{
    static const char *const names[] = { "info", "roots", "threads", "suspects" };
    golden_dumps             d;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (golden_next(&d)) {
        dump_test t;
        memset(&t, 0, sizeof t);
        test_folder_make_fast(t.folder, "sql");
        open_path(&t, d.path, HDX_LIVE);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            char name[SQL_ANSWER_NAME];
            (void)snprintf(name, sizeof name, "%s%s", names[i],
                           strcmp(names[i], "roots") == 0 || strcmp(names[i], "threads") == 0 ? "_answer" : "");
            expect_rows(&t, hdx_answer_named(names[i]), name, NULL, 0);
        }
        /* the small tables, too */
        const hdx_argument by_type[] = { { "by", "type" }, { "columns", "type,objects" }, { "sort", "type" } };
        char              *types = strdup(answer(&t, "roots", by_type, 3));
        expect(&t, "SELECT type, count(DISTINCT id) FROM roots GROUP BY type ORDER BY type", types);
        free(types);
        const hdx_argument by_package[] = { { "by", "package" },
                                            { "columns", "package,classes,objects,shallow" },
                                            { "where", "objects > 0" },
                                            { "sort", "package" } };
        char              *packages = strdup(answer(&t, "histogram", by_package, 4));
        expect(&t,
               "SELECT name, live_classes, live_instances, live_bytes FROM packages WHERE live_instances > 0 ORDER "
               "BY name",
               packages);
        free(packages);
        const hdx_argument threads[] = { { "columns", "name,retained" } };
        char              *named = strdup(answer(&t, "threads", threads, 1));
        expect(&t,
               "SELECT name, retained FROM threads ORDER BY id IN (SELECT id FROM objects "
               "WHERE instanceof='java.lang.VirtualThread'), retained DESC, id",
               named);
        free(named);
        /* classes, and what dominates most, as the commands have them */
        const hdx_argument by_class[] = { { "columns", "class,objects,shallow" }, { "sort", "class:asc" } };
        char              *classes = strdup(answer(&t, "histogram", by_class, 2));
        expect(&t, "SELECT class, count(*), sum(shallow) FROM objects GROUP BY class_id ORDER BY class, 3 DESC, 2 DESC",
               classes);
        free(classes);
        const hdx_argument top[] = { { "columns", "retained" }, { "limit", "20" } };
        char              *biggest = strdup(answer(&t, "dominators", top, 2));
        expect(&t, "SELECT retained FROM objects WHERE dominator IS NULL ORDER BY retained DESC, id LIMIT 20", biggest);
        free(biggest);
        expect_same(&t, "SELECT sum(live_instances), sum(live_bytes) FROM classes",
                    "SELECT count(*), sum(shallow) FROM objects");
        close_dump(&t);
    }
}
