/*
 * test_bounds.c - numbers that a dump or a statement controls, multiplied: fields of one name, heirs, columns of one
 * name, tables in a statement; and stretches of work that nothing used to stop.
 */
#define SQLITE_CORE
#include "sql/layouts.h"
#include "sql/names.h"
#include "statements.h"

static uint32_t next_of(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* ---- names ---- */

/* The obvious way: each number is tried against all names before. */
static void name_slowly(char names[][32], unsigned i, const char *name, const char *mark, unsigned from, bool any_case)
{
    (void)snprintf(names[i], 32, "%s", name);
    for (unsigned n = from;; n++) {
        unsigned k = 0;
        while (k < i && (any_case ? sqlite3_stricmp(names[k], names[i]) : strcmp(names[k], names[i])) != 0)
            k++;
        if (k == i)
            return;
        (void)snprintf(names[i], 32, "%s%s%u", name, mark, n);
    }
}

Test(bounds, names_are_numbered_as_if_each_number_was_tried)
{
    static const char *const pieces[] = { "a", "A", "a:1", "a:2", "A:1", "a:1:1", "b", "", ":1", "b:3" };
    static char              wanted[300][32];
    uint64_t                 seed = 7;
    hdx_mem                  mem = { 0 };
    for (unsigned round = 0; round < 40; round++) {
        sql_names names;
        hdx_sql_names_open(&names, &mem, round % 2 == 1);
        for (unsigned i = 0; i < 300; i++) {
            const char *name = pieces[next_of(&seed) % (sizeof pieces / sizeof *pieces)];
            name_slowly(wanted, i, name, ":", 1 + round % 3, round % 2 == 1);
            const char *got = hdx_sql_names_add(&names, name, ":", 1 + round % 3);
            cr_assert(strcmp(got, wanted[i]) == 0, "round %u, name %u, %s: %s, not %s", round, i, name, got, wanted[i]);
        }
        hdx_sql_names_close(&names);
    }
    cr_expect(eq(u64, mem.used, 0));
}

Test(bounds, two_thousand_columns_of_one_name_are_told_apart)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    dump_test  t;
    open_bookshop(&t);
    hdx_buffer_text(&text, "SELECT 1 AS c");
    for (unsigned i = 1; i < 2000; i++)
        hdx_buffer_text(&text, i == 1000 ? ",1 AS \"c:5\"" : ",1 AS c");
    hdx_rows         *rows;
    unsigned          count;
    const char       *rest;
    const hdx_column *columns;
    cr_assert(hdx_sql_run(t.sql, text.at, &rest, &rows, &t.err) == HDX_OK, "%s", t.err.message);
    columns = hdx_rows_columns(rows, &count);
    cr_expect(eq(u32, count, 2000));
    cr_expect_str_eq(columns[1].name, "c:1");
    cr_expect_str_eq(columns[999].name, "c:999");
    cr_expect_str_eq(columns[1000].name, "c:5:1");
    cr_expect_str_eq(columns[1999].name, "c:1998");
    hdx_rows_close(rows);
    hdx_buffer_free(&text);
    close_dump(&t);
}

/* ---- fields ---- */

static void put_fields(char text[1200], const char *name, unsigned count)
{
    text[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        (void)snprintf(text + strlen(text), 1200 - strlen(text), "%s%s:B", i > 0 ? " " : "", name);
}

Test(bounds, a_class_of_many_fields_of_one_name_has_a_column_for_each)
{
    char        fields[1200];
    uint64_t    values[121];
    dump_test   t;
    dump_maker *m = dump_maker_new(8);
    put_fields(fields, "g", 120);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t class = dump_maker_class(m, "A", object, fields);
    for (unsigned i = 0; i < 121; i++)
        values[i] = i;
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, class, values), 0, 0);
    open_dump(&t, m);
    expect(&t, "SELECT g, \"A.g\", \"A.g#2\", \"A.g#119\" FROM \"A\"", "0|1|2|119\n");
    expect(&t, "SELECT count(*), count(DISTINCT name) FROM pragma_table_xinfo('A')", "126|126\n");
    close_dump(&t);
}

Test(bounds, names_of_fields_that_no_statement_could_hold_are_refused)
{
    char        fields[1200];
    dump_test   t;
    dump_maker *m = dump_maker_new(8);
    put_fields(fields, "field", 100);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "A", 0, fields), 0, 0);
    open_dump(&t, m);
    (void)sqlite3_limit(t.sql->db, SQLITE_LIMIT_SQL_LENGTH, 1000);
    const char *got = run(&t, "SELECT count(*) FROM \"A\"");
    cr_expect(t.err.code == HDX_LIMIT &&
                  strstr(got, "the names of the 100 fields of this class exceed 1000 bytes") != NULL &&
                  strstr(t.err.hint, "field(id") != NULL,
              "%s; %s", got, t.err.hint);
    expect(&t, "SELECT count(*) FROM classes WHERE name = 'A'", "1\n");
    close_dump(&t);
}

/* ---- layouts ---- */

static bool same_text(hdx_text a, hdx_text b) { return a.len == b.len && memcmp(a.at, b.at, a.len) == 0; }

/* The obvious way: each field of the class and of those above takes the first column that is free for it. */
static void place_slowly(const dump_test *t, uint32_t number, const sql_field *fields, unsigned count, uint64_t *places)
{
    uint64_t at = 0;
    for (unsigned k = 0; k < count; k++)
        places[k] = UINT64_MAX;
    for (const hdx_class *c = hdx_graph_class(t->g, number); c != NULL; c = hdx_graph_class(t->g, c->super))
        for (uint32_t i = 0; i < c->field_count; i++) {
            for (unsigned k = 0; k < count; k++)
                if (places[k] == UINT64_MAX && fields[k].type == c->fields[i].type &&
                    same_text(fields[k].name, c->fields[i].name) && same_text(fields[k].owner, c->name)) {
                    places[k] = at;
                    break;
                }
            at += hdx_type_size(c->fields[i].type, 8);
        }
}

/* Classes of few names, above one another at random, with fields of few names. */
static dump_maker *random_classes(uint64_t *seed, unsigned classes)
{
    static const char *const names[] = { "A", "B", "C", "D" };
    static const char *const fields[] = { "",           "x:I", "x:I x:I", "x:J y:B", "y:B x:I x:I x:I", "z:L y:B z:L",
                                          "y:B y:B x:J" };
    dump_maker              *m = dump_maker_new(8);
    uint64_t                 ids[64];
    ids[0] = dump_maker_class(m, "java.lang.Object", 0, "");
    for (unsigned i = 1; i < classes; i++)
        ids[i] = dump_maker_class(m, names[next_of(seed) % 4], ids[next_of(seed) % i],
                                  fields[next_of(seed) % (sizeof fields / sizeof *fields)]);
    for (unsigned i = 0; i < classes; i++)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, ids[i], 0, 0);
    return m;
}

static unsigned chain_fields(const dump_test *t, uint32_t number, sql_field *fields, unsigned most)
{
    unsigned n = 0;
    for (const hdx_class *c = hdx_graph_class(t->g, number); c != NULL; c = hdx_graph_class(t->g, c->super))
        for (uint32_t i = 0; i < c->field_count && n < most; i++)
            fields[n++] = (sql_field){ c->fields[i].name, c->name, c->fields[i].type };
    return n;
}

static void compare_layouts(dump_test *t, uint32_t table, uint64_t *seed)
{
    sql_field      fields[40];
    uint64_t       places[40];
    sql_layouts    l;
    uint32_t       classes = 0;
    const unsigned count = chain_fields(t, table, fields, next_of(seed) % 3 == 0 ? 3 : 40);
    (void)hdx_graph_classes(t->g, &classes);
    cr_assert(hdx_sql_layouts_open(&l, t->sql->heaps->heaps[0], fields, count, 1 << 20, &t->err) == HDX_OK);
    for (uint32_t i = 0; i < classes; i++) {
        cr_assert(hdx_sql_layouts_add(&l, i, &t->err) == HDX_OK);
        place_slowly(t, i, fields, count, places);
        for (unsigned k = 0; k < count; k++) {
            uint64_t   at = UINT64_MAX;
            const bool there = sql_layouts_place(&l, i, k, &at);
            cr_assert(there == (places[k] != UINT64_MAX) && at == places[k],
                      "table %u, class %u, field %u: %lld, not %lld", table, i, k, (long long)at, (long long)places[k]);
            cr_assert(at == UINT64_MAX || at + hdx_type_size(fields[k].type, 8) <= l.width);
        }
    }
    hdx_sql_layouts_close(&l);
}

Test(bounds, layouts_are_those_of_the_obvious_way)
{
    uint64_t seed = 42;
    for (unsigned round = 0; round < 30; round++) {
        dump_test t;
        open_dump(&t, random_classes(&seed, 24));
        uint32_t classes = 0;
        (void)hdx_graph_classes(t.g, &classes);
        for (uint32_t i = 0; i < classes; i++)
            compare_layouts(&t, i, &seed);
        close_dump(&t);
    }
}

/* Base, and 500 classes below it, each with a byte of its own. */
static dump_maker *heirs_of_base(bool chain)
{
    char        name[16];
    dump_maker *m = dump_maker_new(8);
    uint64_t    above = dump_maker_class(m, "java.lang.Object", 0, "");
    above = dump_maker_class(m, "Base", above, "a:I b:J c:B");
    for (unsigned i = 0; i < 500; i++) {
        (void)snprintf(name, sizeof name, "C%u", i);
        const uint64_t class = dump_maker_class(m, name, above, "own:B");
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, class, 0, 0);
        above = chain ? class : above;
    }
    return m;
}

Test(bounds, heirs_share_one_layout)
{
    sql_field   fields[3];
    sql_layouts l;
    uint32_t    classes = 0, base = 0;
    uint64_t    at = 0;
    dump_test   t;
    open_dump(&t, heirs_of_base(true));
    const hdx_class *all = hdx_graph_classes(t.g, &classes);
    while (base < classes && all[base].name.len != 4)
        base++;
    cr_assert(eq(u32, chain_fields(&t, base, fields, 3), 3));
    cr_assert(hdx_sql_layouts_open(&l, t.sql->heaps->heaps[0], fields, 3, 1 << 20, &t.err) == HDX_OK);
    for (uint32_t i = 0; i < classes; i++)
        cr_assert(hdx_sql_layouts_add(&l, i, &t.err) == HDX_OK);
    cr_expect(eq(u64, l.made, 1));
    cr_expect(eq(u32, l.width, 500 + 13));
    cr_expect(sql_layouts_place(&l, base, 1, &at) && at == 4);
    hdx_sql_layouts_close(&l);
    expect(&t, "SELECT count(*) FROM \"instanceof Base\"", "0\n");
    close_dump(&t);
}

/* ---- classes above one another, deeper than programs have them ---- */

Test(bounds, instanceof_knows_chains_of_any_depth)
{
    dump_test t;
    open_dump(&t, heirs_of_base(true));
    expect(&t, "SELECT sum(instanceof(class_id, 'Base')), sum(instanceof(class_id, 'C10')) FROM classes", "501|490\n");
    expect(
        &t,
        "SELECT sum(instanceof(d.class_id, c.name)) FROM classes c, classes d WHERE c.name IN ('Base', 'C0', 'C499')",
        "1002\n");
    expect(&t, "SELECT sum(instanceof(class_id, 'No')), sum(instanceof(class_id, x'42')) FROM classes", "0|0\n");
    expect(&t, "SELECT count(*) FROM fields_of_class f JOIN classes c USING (class_id) WHERE c.name = 'C499'", "503\n");
    close_dump(&t);
}

/* ---- many tables ---- */

Test(bounds, a_statement_of_many_classes_gets_their_tables_at_once)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    dump_test  t;
    open_dump(&t, heirs_of_base(false));
    hdx_buffer_text(&text, "SELECT ';' || '\"C0\"'");
    for (unsigned i = 0; i < 300; i++)
        hdx_buffer_format(&text, "%c(SELECT count(*) FROM %s\"C%u\")", i == 0 ? ',' : '+', i % 2 == 0 ? "main." : "",
                          i);
    const uint64_t asked = t.sql->heaps->requests;
    expect(&t, text.at, ";\"C0\"|0\n");
    cr_expect(t.sql->heaps->requests - asked < 300 * 300, "%llu requests for memory",
              (unsigned long long)(t.sql->heaps->requests - asked));
    hdx_buffer_free(&text);
    close_dump(&t);
}

/* ---- stopping ---- */

static unsigned asked;

static bool after_some(void *context)
{
    (void)context;
    return ++asked > 20;
}

/* Prepared, each of these takes more memory and time than there is. */
Test(bounds, preparing_a_statement_is_stopped)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    dump_test  t;
    open_bookshop(&t);
    hdx_buffer_text(&text, "WITH t0 AS (SELECT 1 x)");
    for (unsigned i = 0; i < 40; i++)
        hdx_buffer_format(&text, ", t%u AS (SELECT a.x FROM t%u a, t%u b)", i + 1, i, i);
    hdx_buffer_text(&text, " SELECT count(*) FROM t40");
    t.s->options.progress.cancelled = after_some;
    expect(&t, text.at, "cancelled: cancelled");
    t.s->options.progress.cancelled = NULL;
    expect(&t, "SELECT 1", "1\n");
    hdx_buffer_free(&text);
    close_dump(&t);
}

/* One row of calls each of which works a while: SQLite looks at nothing between them. */
Test(bounds, functions_within_one_row_are_stopped)
{
    static const char *const calls[] = { "length(hex(zeroblob(1000000+%u)))",
                                         "length(upper(hex(zeroblob(1000000+%u))))",
                                         "hex(zeroblob(100000+%u)) LIKE '%%0%%1'",
                                         "length(printf('%%.*c',1000000+%u,'x'))",
                                         "length(quote(zeroblob(1000000+%u)))" };
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        hdx_buffer text = hdx_buffer_of(NULL);
        dump_test  t;
        open_bookshop(&t);
        hdx_buffer_text(&text, "SELECT 1");
        for (unsigned i = 0; i < 1900; i++) {
            hdx_buffer_text(&text, ",");
            hdx_buffer_format(&text, calls[k], i);
        }
        asked = 0;
        t.s->options.progress.cancelled = after_some;
        expect(&t, text.at, "cancelled: cancelled");
        cr_expect(asked < 200, "%s: asked %u times before it ended", calls[k], asked);
        t.s->options.progress.cancelled = NULL;
        hdx_buffer_free(&text);
        close_dump(&t);
    }
}

/* ---- what hints say ---- */

static void expect_hint(dump_test *t, const char *statement, const char *message, const char *hint)
{
    const char *got = run(t, statement);
    cr_expect(strstr(got, message) != NULL && strcmp(t->err.hint, hint) == 0, "%s\ngives\n%s\nhint %s", statement, got,
              t->err.hint);
}

static dump_maker *dotted_classes(void)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "svc.Order", object, ""), 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "com.acme.Order", object, ""), 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "svc.Cart", object, ""), 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "Group", object, ""), 0, 0);
    return m;
}

Test(bounds, names_of_classes_without_quotes_are_told_to_need_them)
{
    dump_test t;
    open_dump(&t, dotted_classes());
    for (unsigned i = 0; i < 2; i++) { /* the table is there from the first time on */
        expect_hint(&t, "SELECT count(*) FROM svc.Cart", "no such table: svc.Cart",
                    "put class names in double quotes: \"svc.Cart\"");
        expect(&t, "SELECT count(*) FROM \"svc.Cart\"", "0\n");
    }
    expect_hint(&t, "SELECT count(*) FROM svc.Order", "near \"Order\": syntax error", /* a word of SQL */
                "put class names in double quotes: \"svc.Order\"");
    expect_hint(&t, "SELECT count(*) FROM Group", "near \"Group\": syntax error",
                "put class names in double quotes: \"Group\"");
    expect_hint(&t, "SELECT count(*) FROM com.acme.Order o", "near \".\": syntax error",
                "put class names in double quotes: \"com.acme.Order\"");
    expect_hint(&t, "SELECT 1 FROM objects JOIN\n com.acme.Other", "near \".\": syntax error",
                "put class names in double quotes: \"com.acme.Other\"");
    expect_hint(&t, "SELECT a.b.c.d FROM objects", "near \".\": syntax error", "");
    close_dump(&t);
}

Test(bounds, a_column_of_another_table_is_no_slip_of_the_pen)
{
    dump_test t;
    open_bookshop(&t);
    expect_hint(&t, "SELECT method FROM roots", "no such column: method",
                "method is a column of frames; FROM does not name such a table, or renames it");
    expect_hint(&t, "SELECT r.line FROM roots r", "no such column: r.line",
                "line is a column of frames, check; FROM does not name such a table, or renames it");
    run(&t, "SELECT class FROM roots");
    cr_expect(strncmp(t.err.hint, "class is a column of objects, frames, ", 38) == 0, "%s", t.err.hint);
    run(&t, "SELECT retained FROM \"java.lang.String\"");
    cr_expect(strstr(t.err.hint, "; tables of classes have \"@retained\"") != NULL, "%s", t.err.hint);
    expect_hint(&t, "SELECT count(*) FROM byte[]", "no such table: byte",
                "put class names in double quotes: \"byte[]\"");
    expect_hint(&t, "SELECT count(*) FROM java.lang.Object[]", "near \".\": syntax error",
                "put class names in double quotes: \"java.lang.Object[]\"");
    expect_hint(&t, "SELECT metod FROM roots", "no such column: metod", "did you mean method?");
    expect_hint(&t, "SELECT count(*) FROM HashMap", "no such table: HashMap",
                "tables of classes have full names: \"java.util.HashMap\"");
    expect_hint(&t, "SELECT count(*) FROM \"Node\"", "no such table: Node",
                "tables of classes have full names: \"java.util.HashMap$Node\"");
    close_dump(&t);
}
