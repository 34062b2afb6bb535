/*
 * test_random.c - random statements on the tables of objects and references, against the same statements on a plain
 * copy of these tables, where SQLite alone decides what conditions, orders and limits mean.
 */
#include "sql/statements.h"
#include "support/whole.h"

/* Of each table; HDX_STATEMENTS=100000,7 in the environment: so many, by that seed. */
#define STATEMENTS (700 / (long)test_each(3))

typedef struct random_state {
    uint64_t state;
} random_state;

static uint64_t roll(random_state *d, uint64_t below)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (d->state >> 33) % below;
}

#define CHOOSE(d, words) (words)[roll(d, sizeof(words) / sizeof *(words))]

static const char *const numbers[] = { "id",      "address",   "class_id", "shallow", "retained", "length",
                                       "nearest", "dominator", "outbound", "inbound", "live",     "position" };
static const char *const texts[] = { "class", "kind", "heap" };
static const char *const comparisons[] = { "=", "<", "<=", ">", ">=", "=", "IS", "<>" };
static const char *const odd_values[] = { "NULL",
                                          "'5'",
                                          "5.0",
                                          "5.5",
                                          "' 5'",
                                          "'abc'",
                                          "x'00'",
                                          "1e30",
                                          "-1e30",
                                          "-1",
                                          "0",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "'12abc'",
                                          "'1e2'",
                                          "-0.5",
                                          "1" };
static const char *const words[] = { "'java.lang.String'",
                                     "'byte[]'",
                                     "'java.util.HashMap$Node'",
                                     "'instance'",
                                     "'object_array'",
                                     "'class'",
                                     "'x'",
                                     "NULL",
                                     "5",
                                     "x'6279'",
                                     "'Java.lang.string'",
                                     "''",
                                     "'java.lang.Class'",
                                     "'primitive_array'" };
static const char *const patterns[] = { "'java.util.%'",  "'%Node'", "'java.lang.String'",
                                        "'JAVA.LANG.s%'", "'%'",     "'_yte[]'",
                                        "NULL",           "5" };
static const char *const globs[] = { "'java.util.*'", "'*Node'", "'java.lang.String'", "'b?te*'", "'*'", "NULL" };

static const char *const regexes[] = { "'java[.]util[.].*'", "'.*Node'", "'byte'", "'(?i)JAVA.*'", "'.*'" };

static void put_number(random_state *d, hdx_buffer *b, const char *column)
{
    const unsigned kind = (unsigned)roll(d, 8);
    if (kind < 2)
        hdx_buffer_text(b, CHOOSE(d, odd_values));
    else if (kind < 4) /* a value that the column has */
        hdx_buffer_format(b, "(SELECT %s FROM plain WHERE id = %llu)", column, (unsigned long long)roll(d, 24000));
    else if (kind < 5)
        hdx_buffer_format(b, "%llu.5", (unsigned long long)roll(d, 500));
    else
        hdx_buffer_format(b, "%llu", (unsigned long long)roll(d, kind == 5 ? 50 : kind == 6 ? 2000 : 30000));
}

static void put_condition(random_state *d, hdx_buffer *b)
{
    const char *column = CHOOSE(d, numbers);
    switch (roll(d, 12)) {
    case 0: hdx_buffer_format(b, "class LIKE %s", CHOOSE(d, patterns)); break;
    case 1: hdx_buffer_format(b, "class GLOB %s", CHOOSE(d, globs)); break;
    case 2: hdx_buffer_format(b, "class REGEXP %s", CHOOSE(d, regexes)); break;
    case 3:
        hdx_buffer_format(b, "%s IN (%s, %s, %s)", CHOOSE(d, texts), CHOOSE(d, words), CHOOSE(d, words),
                          CHOOSE(d, words));
        break;
    case 4:
    case 5: hdx_buffer_format(b, "%s %s %s", CHOOSE(d, texts), CHOOSE(d, comparisons), CHOOSE(d, words)); break;
    case 6:
        hdx_buffer_format(b, "%s IN (", column);
        for (uint64_t n = roll(d, 5) + 1; n > 0; n--) {
            put_number(d, b, column);
            hdx_buffer_text(b, n > 1 ? ", " : ")");
        }
        break;
    case 7:
        hdx_buffer_format(b, "%s BETWEEN ", column);
        put_number(d, b, column);
        hdx_buffer_text(b, " AND ");
        put_number(d, b, column);
        break;
    case 8: hdx_buffer_format(b, "%s IS %sNULL", column, roll(d, 2) ? "NOT " : ""); break;
    case 9: hdx_buffer_format(b, "class = %s COLLATE NOCASE", CHOOSE(d, words)); break;
    default: hdx_buffer_format(b, "%s %s ", column, CHOOSE(d, comparisons)); put_number(d, b, column);
    }
}

static void put_where(random_state *d, hdx_buffer *b)
{
    for (uint64_t i = 0, n = roll(d, 4); i < n; i++) {
        hdx_buffer_text(b, i == 0 ? " WHERE " : roll(d, 6) == 0 ? " OR " : " AND ");
        if (roll(d, 8) == 0)
            hdx_buffer_text(b, "NOT ");
        put_condition(d, b);
    }
}

static void put_limit(random_state *d, hdx_buffer *b)
{
    static const char *const limits[] = {
        " LIMIT 7", " LIMIT 1", " LIMIT 100",  " LIMIT 5 OFFSET 3",     " LIMIT -1 OFFSET 2",
        " LIMIT 0", "",         " LIMIT 3000", " LIMIT 2 OFFSET 100000"
    };
    hdx_buffer_text(b, CHOOSE(d, limits));
}

/* A statement on TABLE whose rows are the same in whatever order a table gives its own. */
static void put_statement(random_state *d, hdx_buffer *b)
{
    const char *by = CHOOSE(d, numbers), *word = roll(d, 2) ? "" : " DESC";
    switch (roll(d, 7)) {
    case 0:
        hdx_buffer_text(b, "SELECT count(*), sum(shallow), sum(retained), min(address), max(id) FROM TABLE");
        put_where(d, b);
        break;
    case 1:
        hdx_buffer_text(b, "SELECT class, count(*), sum(shallow) FROM TABLE");
        put_where(d, b);
        hdx_buffer_format(b, " GROUP BY class ORDER BY class%s", word);
        put_limit(d, b);
        break;
    case 2:
        hdx_buffer_text(b, "SELECT class_id, count(*), sum(inbound) FROM TABLE");
        put_where(d, b);
        hdx_buffer_format(b, " GROUP BY class_id ORDER BY 2%s, class_id", word);
        put_limit(d, b);
        break;
    case 3:
        hdx_buffer_format(b, "SELECT DISTINCT %s FROM TABLE", by = roll(d, 2) ? "class" : "class_id");
        put_where(d, b);
        hdx_buffer_format(b, " ORDER BY %s%s", by, word);
        put_limit(d, b);
        break;
    case 4:
        hdx_buffer_format(b, "SELECT id, class, kind, length, dominator, %s FROM TABLE", by);
        put_where(d, b);
        hdx_buffer_format(b, " ORDER BY id%s", word);
        put_limit(d, b);
        break;
    default:
        hdx_buffer_format(b, "SELECT id, %s, shallow, outbound, position FROM TABLE", by);
        put_where(d, b);
        hdx_buffer_format(b, " ORDER BY %s%s, id", by, word);
        put_limit(d, b);
    }
}

static char *on_table(const hdx_buffer *statement, const char *table)
{
    hdx_buffer  b = hdx_buffer_of(NULL);
    const char *at = statement->at;
    for (const char *next; (next = strstr(at, "TABLE")) != NULL; at = next + 5) {
        hdx_buffer_put(&b, at, (uint64_t)(next - at));
        hdx_buffer_text(&b, table);
    }
    hdx_buffer_text(&b, at);
    hdx_buffer_put(&b, "", 1);
    return b.at;
}

static void compare(dump_test *t, random_state *d, void (*put)(random_state *, hdx_buffer *), const char *table,
                    const char *copy)
{
    const char *told = getenv("HDX_STATEMENTS"), *seed = told == NULL ? NULL : strchr(told, ',');
    d->state += seed == NULL ? 0 : strtoull(seed + 1, NULL, 10) << 20;
    for (long i = 0, n = told == NULL ? STATEMENTS : atol(told); i < n; i++) {
        hdx_buffer statement = hdx_buffer_of(NULL);
        put(d, &statement);
        hdx_buffer_put(&statement, "", 1);
        char *ours = on_table(&statement, table), *plain = on_table(&statement, copy);
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

static void open_copy(dump_test *t, hdx_refs_scope scope, const char *copy)
{
    memset(t, 0, sizeof *t);
    test_folder_make_fast(t->folder, "sql");
    open_path(t, HDX_TREE "/examples/bookshop.hprof.gz", scope);
    expect(t, copy, "");
}

static const char copy_objects[] =
    "CREATE TEMP TABLE plain(id INTEGER PRIMARY KEY, address ADDRESS, class TEXT, class_id INTEGER, kind TEXT, shallow "
    "INTEGER, retained INTEGER, length INTEGER, dominator INTEGER, nearest INTEGER, outbound INTEGER, inbound INTEGER, "
    "live INTEGER, heap TEXT, position INTEGER)";

static void fill_objects(dump_test *t)
{
    expect(t, "INSERT INTO plain SELECT * FROM objects", "");
    /* the copy is what the library says of each object */
    char *count = strdup(run(t, "SELECT count(*) FROM plain"));
    cr_expect(atoll(count) > 20000);
    free(count);
}

Test(random_statements, on_objects_that_live_answer_as_a_plain_copy_does)
{
    dump_test    t;
    random_state d = { 1 };
    open_copy(&t, HDX_LIVE, copy_objects);
    fill_objects(&t);
    compare(&t, &d, put_statement, "objects", "plain");
    close_dump(&t);
}

Test(random_statements, on_all_objects_answer_as_a_plain_copy_does)
{
    dump_test    t;
    random_state d = { 2 };
    open_copy(&t, HDX_ALL, copy_objects);
    fill_objects(&t);
    compare(&t, &d, put_statement, "objects", "plain");
    close_dump(&t);
}

static void put_reference_statement(random_state *d, hdx_buffer *b)
{
    static const char *const ends[] = { "src", "dst" };
    hdx_buffer_text(b, roll(d, 2) ? "SELECT count(*), sum(src), sum(dst) FROM TABLE" : "SELECT src, dst FROM TABLE");
    for (uint64_t i = 0, n = roll(d, 3) + 1; i < n; i++) {
        const char *end = CHOOSE(d, ends);
        hdx_buffer_format(b, "%s%s %s ", i == 0 ? " WHERE " : " AND ", end, CHOOSE(d, comparisons));
        if (roll(d, 4) == 0)
            hdx_buffer_text(b, CHOOSE(d, odd_values));
        else
            hdx_buffer_format(b, "(SELECT %s FROM copy WHERE rowid = %llu)", end, (unsigned long long)roll(d, 67000));
    }
    if (strncmp(b->at, "SELECT src", 10) == 0)
        hdx_buffer_format(b, " ORDER BY src%s LIMIT %llu", roll(d, 2) ? ", dst" : " DESC, dst",
                          (unsigned long long)roll(d, 300));
}

Test(random_statements, on_references_answer_as_a_plain_copy_does)
{
    dump_test    t;
    random_state d = { 3 };
    open_copy(&t, HDX_LIVE, "CREATE TEMP TABLE copy AS SELECT * FROM refs");
    compare(&t, &d, put_reference_statement, "refs", "copy");
    close_dump(&t);
}
