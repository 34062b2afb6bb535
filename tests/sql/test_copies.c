/*
 * test_copies.c - random statements on every table there is, among them those of classes and of answers, against the
 * same statements on a plain copy of the table, where SQLite alone decides what conditions, orders and limits mean.
 */
#include "cli/odd.h"
#include "sql/statements.h"

typedef struct random_state {
    uint64_t state;
} random_state;

static uint64_t roll(random_state *d, uint64_t below)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (d->state >> 33) % below;
}

#define CHOOSE(d, words) (words)[roll(d, sizeof(words) / sizeof *(words))]

#define COLUMNS_MOST 40
typedef struct table {
    char     name[200];
    char     columns[COLUMNS_MOST][96]; /* in quotes */
    unsigned count;
    uint64_t rows;
} table;

static const char *const comparisons[] = { "=", "<", "<=", ">", ">=", "IS", "<>", "IS NOT" };
static const char *const odd_values[] = { "NULL",
                                          "'5'",
                                          "5.0",
                                          "5.5",
                                          "'abc'",
                                          "x'00'",
                                          "1e30",
                                          "-1",
                                          "0",
                                          "'1e2'",
                                          "1",
                                          "''",
                                          "'java.lang.String'",
                                          "9223372036854775807" };

static void put_value_of(random_state *d, hdx_buffer *b, const table *t, const char *column)
{
    if (roll(d, 4) == 0)
        hdx_buffer_text(b, CHOOSE(d, odd_values));
    else
        hdx_buffer_format(b, "(SELECT %s FROM copy WHERE rowid = %llu)", column,
                          (unsigned long long)(1 + roll(d, t->rows)));
}

static void put_condition(random_state *d, hdx_buffer *b, const table *t)
{
    const char *column = t->columns[roll(d, t->count)];
    switch (roll(d, 9)) {
    case 0:
        hdx_buffer_format(b, "%s IN (", column);
        for (unsigned i = 0; i < 3; i++) {
            hdx_buffer_text(b, i == 0 ? "" : ", ");
            put_value_of(d, b, t, column);
        }
        hdx_buffer_text(b, ")");
        break;
    case 1: hdx_buffer_format(b, "%s IN (SELECT %s FROM copy WHERE rowid %% 3 = 1)", column, column); break;
    case 2:
        hdx_buffer_format(b, "%s BETWEEN ", column);
        put_value_of(d, b, t, column);
        hdx_buffer_text(b, " AND ");
        put_value_of(d, b, t, column);
        break;
    case 3: hdx_buffer_format(b, "%s IS %sNULL", column, roll(d, 2) ? "NOT " : ""); break;
    default: hdx_buffer_format(b, "%s %s ", column, CHOOSE(d, comparisons)); put_value_of(d, b, t, column);
    }
}

static void put_where(random_state *d, hdx_buffer *b, const table *t)
{
    for (uint64_t i = 0, n = roll(d, 4); i < n; i++) {
        hdx_buffer_text(b, i == 0 ? " WHERE " : roll(d, 6) == 0 ? " OR " : " AND ");
        put_condition(d, b, t);
    }
}

static void put_limit(random_state *d, hdx_buffer *b)
{
    if (roll(d, 3) == 0)
        return;
    hdx_buffer_format(b, " LIMIT %llu", (unsigned long long)roll(d, 12));
    if (roll(d, 2) == 0)
        hdx_buffer_format(b, " OFFSET %llu", (unsigned long long)roll(d, 9));
}

/* A statement whose rows are the same in any order of equal ones; TABLE stands for the table. */
static void put_statement(random_state *d, hdx_buffer *b, const table *t)
{
    const char *column = t->columns[roll(d, t->count)], *down = roll(d, 2) ? " DESC" : "";
    switch (roll(d, 6)) {
    case 0:
        hdx_buffer_format(b, "SELECT count(*), min(%s), max(%s), count(%s) FROM TABLE", column, column, column);
        put_where(d, b, t);
        break;
    case 1:
        hdx_buffer_format(b, "SELECT DISTINCT %s FROM TABLE", column);
        put_where(d, b, t);
        hdx_buffer_format(b, " ORDER BY %s%s", column, down);
        put_limit(d, b);
        break;
    case 2:
        hdx_buffer_format(b, "SELECT %s, count(*) FROM TABLE", column);
        put_where(d, b, t);
        hdx_buffer_format(b, " GROUP BY %s ORDER BY %s%s", column, column, down);
        put_limit(d, b);
        break;
    case 3:
        hdx_buffer_format(b, "SELECT %s FROM TABLE", column);
        put_where(d, b, t);
        hdx_buffer_format(b, " ORDER BY %s%s", column, down);
        put_limit(d, b);
        break;
    default:
        hdx_buffer_text(b, "SELECT * FROM TABLE");
        put_where(d, b, t);
        hdx_buffer_format(b, " ORDER BY %s%s", column, down);
        for (unsigned i = 0; i < t->count; i++)
            hdx_buffer_format(b, ", %s", t->columns[i]);
        put_limit(d, b);
    }
}

static char *on_table(const hdx_buffer *statement, const char *name)
{
    hdx_buffer  b = hdx_buffer_of(NULL);
    const char *at = statement->at;
    for (const char *next; (next = strstr(at, "TABLE")) != NULL; at = next + 5) {
        hdx_buffer_put(&b, at, (uint64_t)(next - at));
        hdx_buffer_text(&b, name);
    }
    hdx_buffer_text(&b, at);
    hdx_buffer_put(&b, "", 1);
    return b.at;
}

/* The columns, with their types, that stand in `*`; of a table with arguments those of the name before them. */
static void describe(dump_test *t, table *of, hdx_buffer *types)
{
    char   statement[512], bare[200];
    size_t len = strcspn(of->name, "(");
    (void)snprintf(bare, sizeof bare, "%.*s", (int)(of->name[0] == '"' ? len - 2 : len),
                   of->name + (of->name[0] == '"'));
    (void)snprintf(statement, sizeof statement,
                   "SELECT '\"' || name || '\"', type FROM pragma_table_xinfo('%s') WHERE NOT hidden", bare);
    char *lines = strdup(run(t, statement)), *at = lines;
    of->count = 0;
    for (char *line; (line = strsep(&at, "\n")) != NULL && *line != '\0' && of->count < COLUMNS_MOST; of->count++) {
        const size_t name = strcspn(line, "|");
        (void)snprintf(of->columns[of->count], sizeof of->columns[0], "%.*s", (int)name, line);
        hdx_buffer_format(types, "%s%s %s", of->count == 0 ? "" : ", ", of->columns[of->count], line + name + 1);
    }
    free(lines);
}

/* Whether the table has rows without arguments; its copy is there then. */
static bool copied(dump_test *t, table *to, const char *name)
{
    hdx_buffer statement = hdx_buffer_of(NULL);
    char       insert[300];
    (void)snprintf(to->name, sizeof to->name, "%s", name);
    (void)run(t, "DROP TABLE IF EXISTS temp.copy");
    (void)snprintf(insert, sizeof insert, "SELECT 1 FROM %s LIMIT 0", name);
    (void)run(t, insert); /* a table of a class is there from now on */
    if (t->err.code != HDX_OK)
        return false;
    hdx_buffer_text(&statement, "CREATE TEMP TABLE copy(");
    describe(t, to, &statement);
    hdx_buffer_text(&statement, ")");
    (void)run(t, statement.at);
    cr_assert(t->err.code == HDX_OK, "%s: %s", statement.at, t->err.message);
    hdx_buffer_free(&statement);
    (void)snprintf(insert, sizeof insert, "INSERT INTO temp.copy SELECT * FROM %s", name);
    (void)run(t, insert);
    if (t->err.code != HDX_OK)
        return false;
    to->rows = strtoull(run(t, "SELECT count(*) FROM copy"), NULL, 10);
    return to->rows > 0;
}

static void compare(dump_test *t, random_state *d, const table *of, unsigned statements)
{
    for (unsigned i = 0; i < statements; i++) {
        hdx_buffer statement = hdx_buffer_of(NULL);
        put_statement(d, &statement, of);
        hdx_buffer_put(&statement, "", 1);
        char *ours = on_table(&statement, of->name), *plain = on_table(&statement, "copy");
        char *rows = strdup(run(t, plain));
        cr_assert(t->err.code == HDX_OK, "%s: %s", plain, t->err.message);
        char *got = strdup(run(t, ours));
        cr_assert(strcmp(got, rows) == 0, "%s\ngives\n%.2000s\nnot\n%.2000s\nby the plan\n%s", ours, got, rows,
                  plan_of(t, ours));
        free(got);
        free(rows);
        free(ours);
        free(plain);
        hdx_buffer_free(&statement);
    }
}

/* Shallow or retained sizes as part of all, by which of them is asked for in the same statement. */
static bool depends(const table *t)
{
    for (unsigned i = 0; i < t->count; i++)
        if (strcmp(t->columns[i], "\"percent\"") == 0)
            return true;
    return false;
}

/* All tables by the names that the schema has, and those of some classes. */
static unsigned compare_all(dump_test *t, random_state *d, const char *const *more, unsigned more_count,
                            unsigned statements)
{
    static table of;
    unsigned     compared = 0;
    char *names = strdup(run(t, "SELECT '\"' || name || '\"' FROM sqlite_master WHERE type IN ('table', 'view') AND "
                                "name NOT LIKE 'sqlite%' ORDER BY name")),
         *at = names;
    for (char *name; (name = strsep(&at, "\n")) != NULL && *name != '\0';)
        if (copied(t, &of, name) && of.rows < 30000 && !depends(&of)) {
            compare(t, d, &of, of.rows < 2000 ? statements : 2); /* those of many rows: test_random.c, too */
            compared++;
        }
    for (unsigned i = 0; i < more_count; i++) {
        cr_assert(copied(t, &of, more[i]), "%s: %s", more[i], t->err.message);
        compare(t, d, &of, 2 * statements);
    }
    free(names);
    return compared;
}

Test(copies, of_the_tables_of_a_small_heap_with_odd_names_answer_as_the_tables_do, .timeout = 120)
{
    static const char *const more[] = { "\"app.Link\"",
                                        "\"java.lang.String\"",
                                        "\"java.lang.Thread\"",
                                        "\"instanceof java.lang.Object\"",
                                        "\"java.lang.Object[]\"",
                                        "elements((SELECT id FROM objects WHERE class = 'java.lang.Object[]'))",
                                        "fields((SELECT id FROM objects WHERE class LIKE 'com.company%'))" };
    dump_test                t;
    random_state             d = { 11 };
    memset(&t, 0, sizeof t);
    test_folder_make_fast(t.folder, "sql");
    (void)snprintf(t.dump, sizeof t.dump, "%s/odd.hprof", t.folder);
    odd_make(t.dump);
    open_path(&t, t.dump, HDX_LIVE);
    const unsigned compared = compare_all(&t, &d, more, sizeof more / sizeof *more, 60);
    cr_expect(gt(u32, compared, 15), "%u", compared);
    close_dump(&t);
}

Test(copies, of_the_tables_of_an_application_answer_as_the_tables_do, .timeout = 120)
{
    static const char *const more[] = { "\"java.util.HashMap$Node\"", "\"instanceof java.util.AbstractMap\"",
                                        "\"byte[]\"" };
    dump_test                t;
    random_state             d = { 12 };
    open_bookshop(&t);
    const unsigned compared = compare_all(&t, &d, more, sizeof more / sizeof *more, 8);
    cr_expect(gt(u32, compared, 25), "%u", compared);
    close_dump(&t);
}
