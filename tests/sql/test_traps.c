/*
 * test_traps.c - where a virtual table goes wrong easily: what SQLite says of a statement is not what it does, and what
 * it leaves to a table nobody checks again.
 *
 * Beside these, in the tests of the same folder:
 *     orders of groups, rising and falling; LIMIT -1; values of odd types; COLLATE NOCASE     test_random.c
 *     the same of small tables, which take the order of any column themselves                  test_held.c
 *     ways of GROUP BY, of IN, of LIKE by a list of classes, of joins                          test_questions.c
 *     long walks instead of recursive statements                                               test_walks.c
 *     tables that are stopped while they search                                                test_several.c
 *     types and columns that DuckDB asks for                                  python/tests/test_heapdex.py
 * Times are in bench/README.md.
 */
#define SQLITE_CORE /* SQLite is a library here, as it is to the command */
#include "statements.h"
#include "support/gzip_maker.h"

#include <time.h>

/* ---- addresses ---- */

#define LOW   0x0000000000010000u
#define HIGH  0x7ffffffffffffff0u
#define LEAST 0x8000000000000000u /* signed, it is the least number there is */
#define LAST  0xfffffffffffffff0u

/* Nodes on both sides of 2^63, and at it; each holds the next. */
static dump_maker *wide_heap(void)
{
    static const uint64_t at[] = { LOW, HIGH, LEAST, LAST };
    dump_maker           *m = dump_maker_new(8);
    const uint64_t        object = dump_maker_class_at(m, 0x1000, "java.lang.Object", 0, "");
    const uint64_t        node = dump_maker_class_at(m, 0x2000, "app.Node", object, "next:L");
    for (unsigned i = 0; i < 4; i++)
        dump_maker_instance_at(m, at[i], node, DUMP_VALUES(i < 3 ? at[i + 1] : 0));
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, LOW, 0, 0);
    return m;
}

Test(traps, addresses_beyond_2_63_are_found_and_signed_in_comparisons)
{
    static const char nodes[] = "class = 'app.Node'";
    char              text[400];
    dump_test         t;
    open_dump(&t, wide_heap());
    expect(&t, "SELECT count(*) FROM objects WHERE class = 'app.Node' AND address = 0x8000000000000000", "1\n");
    expect(&t, "SELECT addr(address) FROM objects WHERE address = 0xfffffffffffffff0", "0xfffffffffffffff0\n");
    expect(&t,
           "SELECT addr(address) FROM objects WHERE address IN (0xfffffffffffffff0, 0x8000000000000000, 0x10000) "
           "ORDER BY id",
           "0x10000\n0x8000000000000000\n0xfffffffffffffff0\n");
    expect(&t, "SELECT count(*) FROM objects WHERE address = '0xfffffffffffffff0'", "0\n");
    expect(&t, "SELECT count(*) FROM objects WHERE address = addr('0xfffffffffffffff0')", "1\n");
    /* by ids they are in the order of addresses; by signed numbers the last ones come first */
    (void)snprintf(text, sizeof text, "SELECT addr(address) FROM objects WHERE %s ORDER BY id", nodes);
    expect(&t, text, "0x10000\n0x7ffffffffffffff0\n0x8000000000000000\n0xfffffffffffffff0\n");
    (void)snprintf(text, sizeof text, "SELECT addr(address) FROM objects WHERE %s ORDER BY address", nodes);
    expect(&t, text, "0x8000000000000000\n0xfffffffffffffff0\n0x10000\n0x7ffffffffffffff0\n");
    (void)snprintf(text, sizeof text, "SELECT addr(address) FROM objects WHERE %s ORDER BY address DESC LIMIT 2",
                   nodes);
    expect(&t, text, "0x7ffffffffffffff0\n0x10000\n");
    (void)snprintf(text, sizeof text, "SELECT addr(address) FROM objects WHERE %s AND address < 0 ORDER BY id DESC",
                   nodes);
    expect(&t, text, "0xfffffffffffffff0\n0x8000000000000000\n");
    expect(&t, "SELECT addr(\"@address\"), next IS NULL FROM \"app.Node\" WHERE \"@address\" <= -16 ORDER BY this",
           "0x8000000000000000|0\n0xfffffffffffffff0|1\n");
    expect(&t, "SELECT addr(o.address) FROM \"app.Node\" n JOIN objects o ON o.id = n.next ORDER BY n.this",
           "0x7ffffffffffffff0\n0x8000000000000000\n0xfffffffffffffff0\n");
    close_dump(&t);
}

/* ---- conditions that are taken over ---- */

typedef struct own_connection { /* of a host that allows all that SQLite does */
    dump_test t;
    sqlite3  *db;
} own_connection;

static void open_own(own_connection *o)
{
    sql_db *tables;
    open_bookshop(&o->t);
    cr_assert(sqlite3_open(":memory:", &o->db) == SQLITE_OK);
    cr_assert(hdx_sql_install(o->db, o->t.s, NULL, &tables, &o->t.err) == HDX_OK, "%s", o->t.err.message);
    cr_assert(hdx_sql_install_heap(tables, 0, "main", &o->t.err) == HDX_OK, "%s", o->t.err.message);
}

static void close_own(own_connection *o)
{
    cr_assert(sqlite3_close(o->db) == SQLITE_OK);
    close_dump(&o->t);
}

static int64_t number(own_connection *o, const char *text)
{
    sqlite3_stmt *stmt;
    cr_assert(sqlite3_prepare_v2(o->db, text, -1, &stmt, NULL) == SQLITE_OK, "%s: %s", text, sqlite3_errmsg(o->db));
    const int64_t n = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;
    cr_expect(sqlite3_finalize(stmt) == SQLITE_OK, "%s: %s", text, sqlite3_errmsg(o->db));
    return n;
}

static void never(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_int(context, 0);
}

Test(traps, LIKE_is_what_the_connection_takes_it_for)
{
    static const char strings[] = "SELECT count(*) FROM objects WHERE class LIKE 'JAVA.LANG.S%ing'";
    own_connection    o;
    open_own(&o);
    const int64_t some = number(&o, strings);
    cr_expect(some > 1000, "%lld", (long long)some);
    cr_assert(sqlite3_exec(o.db, "PRAGMA case_sensitive_like = ON", NULL, NULL, NULL) == SQLITE_OK);
    cr_expect(eq(i64, number(&o, strings), 0));
    cr_expect(eq(i64, number(&o, "SELECT count(*) FROM objects WHERE class LIKE 'java.lang.S%ing'"), some));
    cr_assert(sqlite3_exec(o.db, "PRAGMA case_sensitive_like = OFF", NULL, NULL, NULL) == SQLITE_OK);
    cr_expect(eq(i64, number(&o, strings), some));
    cr_assert(sqlite3_create_function(o.db, "like", 2, SQLITE_UTF8, NULL, never, NULL, NULL) == SQLITE_OK);
    cr_expect(eq(i64, number(&o, strings), 0));
    close_own(&o);
}

Test(traps, LIKE_with_an_escape_is_left_to_SQLite)
{
    dump_test t;
    open_bookshop(&t);
    expect(&t, "SELECT count(*) > 0 FROM objects WHERE class LIKE 'byte[]' ESCAPE '\\'", "1\n");
    expect(&t, "SELECT count(*) FROM objects WHERE class LIKE 'byt\\_[]' ESCAPE '\\'", "0\n");
    close_dump(&t);
}

Test(traps, instanceof_is_a_condition_and_a_value)
{
    static const char maps[] = "SELECT count(*) FROM objects WHERE \"instanceof\" = 'java.util.AbstractMap'";
    dump_test         t;
    open_bookshop(&t);
    expect_plan(&t, "SELECT id FROM objects WHERE instanceof(class_id, 'java.util.AbstractMap')",
                "by-class class_id-instanceof-?");
    expect_same(&t, "SELECT count(*) FROM objects WHERE instanceof(class_id, 'java.util.AbstractMap')", maps);
    /* elsewhere than at the top of WHERE it stays the function that it is */
    expect_same(&t, "SELECT sum(instanceof(class_id, 'java.util.AbstractMap')) FROM objects", maps);
    expect_same(&t,
                "SELECT (SELECT count(*) FROM objects) - count(*) FROM objects WHERE NOT instanceof(class_id, "
                "'java.util.AbstractMap')",
                maps);
    expect_same(&t,
                "SELECT count(*) FROM objects WHERE instanceof(class_id, 'java.util.AbstractMap') OR class = "
                "'java.util.HashMap'",
                maps);
    expect_same(&t, "SELECT count(*) FROM objects WHERE instanceof(class_id, 'java.util.AbstractMap') = 1", maps);
    expect(&t, "SELECT count(*) FROM objects WHERE instanceof(class_id, NULL)", "0\n");
    expect(&t, "SELECT count(*) FROM objects WHERE instanceof(class_id, 5)", "0\n");
    expect(&t, "SELECT count(*) FROM objects WHERE instanceof(id, 'java.lang.Object') AND id > 100000", "0\n");
    expect_same(&t,
                "SELECT max(id) FROM objects WHERE instanceof(class_id, 'java.util.AbstractMap') AND class LIKE "
                "'%Linked%'",
                "SELECT max(id) FROM objects WHERE class = 'java.util.LinkedHashMap'");
    close_dump(&t);
}

Test(traps, instanceof_beside_OR_is_still_a_condition)
{
    dump_test t;
    open_bookshop(&t);
    expect_same(&t,
                "SELECT count(*) FROM objects WHERE \"instanceof\" = 'java.lang.Object' AND (kind = 'primitive_array' "
                "OR id IN (SELECT id FROM objects WHERE length IS NOT NULL))",
                "SELECT count(*) FROM objects WHERE length IS NOT NULL");
    expect_same(&t,
                "SELECT count(*) FROM objects WHERE \"instanceof\" = 'java.util.HashMap' OR \"instanceof\" = "
                "'java.util.ArrayList'",
                "SELECT count(*) FROM objects WHERE instanceof(class_id, 'java.util.HashMap') + instanceof(class_id, "
                "'java.util.ArrayList') > 0");
    close_dump(&t);
}

static void note_line(void *context, const char *line)
{
    hdx_buffer *lines = context;
    hdx_buffer_format(lines, "%s\n", line);
}

Test(traps, interfaces_have_no_instances_and_it_is_said)
{
    hdx_buffer              lines = hdx_buffer_of(NULL);
    const hdx_index_options options = {
        .dump = HDX_TREE "/examples/bookshop.hprof.gz", .threads = 1, .notice = note_line, .notice_context = &lines
    };
    dump_test t;
    open_bookshop(&t);
    hdx_sql_close(t.sql);
    hdx_session_close(t.s);
    hdx_index_options how = options;
    how.index_dir = t.index;
    cr_assert(hdx_session_open(&how, &t.s, &t.err) == HDX_OK, "%s", t.err.message);
    cr_assert(hdx_sql_open(t.s, NULL, &t.sql, &t.err) == HDX_OK, "%s", t.err.message);
    expect(&t, "SELECT count(*) FROM objects WHERE \"instanceof\" = 'java.util.Map'", "0\n");
    expect(&t, "SELECT count(*) FROM objects WHERE \"instanceof\" = 'java.util.HashMap' AND class = 'java.lang.String'",
           "0\n");
    cr_expect(lines.len > 0 && strstr(lines.at, "unknown class java.util.Map: ") != NULL, "%s", lines.at);
    cr_expect(lines.len > 0 && strchr(lines.at, '\n') == lines.at + lines.len - 1, "%s", lines.at);
    hdx_buffer_free(&lines);
    close_dump(&t);
}

/* ---- names ---- */

Test(traps, a_schema_that_is_not_there_has_no_tables)
{
    dump_test t;
    open_bookshop(&t);
    expect(&t, "SELECT count(*) FROM nosuch.\"java.util.HashMap\"", "usage: no such table: nosuch.java.util.HashMap");
    expect(&t, "SELECT count(*) FROM nosuch.objects", "usage: no such table: nosuch.objects");
    expect(&t, "SELECT count(*) FROM temp.objects", "usage: no such table: temp.objects");
    close_dump(&t);
}

Test(traps, a_table_of_the_user_hides_ours_and_main_has_it_still)
{
    dump_test t;
    open_bookshop(&t);
    expect(&t, "CREATE TEMP TABLE objects(id)", "");
    expect(&t, "SELECT count(*) FROM objects", "0\n");
    expect(&t, "SELECT count(*) > 20000 FROM main.objects", "1\n");
    expect(&t, "CREATE TEMP TABLE \"java.util.HashMap\"(id)", "");
    expect(&t, "SELECT count(*) FROM \"java.util.HashMap\"", "0\n");
    expect(&t, "SELECT count(*) > 10 FROM main.\"java.util.HashMap\"", "1\n");
    close_dump(&t);
}

/* ---- tables of classes ---- */

/* Ten nodes that live, five that do not; every third has the colour 2; 70 fields, f0 to f69, f<n> is n. */
static dump_maker *many_fields(void)
{
    char           fields[70 * 8] = "";
    uint64_t       values[73], last = 0;
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t base = dump_maker_class(m, "app.Base", object, "next:L colour:I big:J");
    for (unsigned i = 0; i < 70; i++)
        (void)snprintf(fields + strlen(fields), sizeof fields - strlen(fields), "%sf%u:S", i > 0 ? " " : "", i);
    const uint64_t wide = dump_maker_class(m, "app.Wide", base, fields);
    for (unsigned i = 0; i < 70; i++)
        values[i] = i;
    for (unsigned i = 0; i < 15; i++) {
        values[70] = last;
        values[71] = i % 3 == 0 ? 2 : 1;
        values[72] = i == 7 ? (uint64_t)INT64_MIN : (uint64_t)-1;
        const uint64_t id = dump_maker_instance(m, wide, values);
        last = i == 9 ? 0 : id;
        if (i == 9)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
    }
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, wide, 0, 0);
    return m;
}

Test(traps, columns_beyond_the_63rd_have_their_values)
{
    dump_test t;
    open_dump(&t, many_fields());
    expect(&t, "SELECT DISTINCT f61, f62, f63, f64, f65, f69 FROM \"app.Wide\"", "61|62|63|64|65|69\n");
    expect(&t, "SELECT count(*) FROM \"app.Wide\" WHERE f69 = 69 AND f64 = 64", "10\n");
    expect(&t, "SELECT DISTINCT \"@shallow\" > 0, \"@live\" FROM \"app.Wide\" WHERE f69 > 68", "1|1\n");
    close_dump(&t);
}

Test(traps, tables_of_classes_have_the_scope_of_the_connection)
{
    static const char text[] = "SELECT count(*), sum(colour = 2) FROM \"app.Wide\"";
    dump_test         t;
    open_scoped(&t, many_fields(), HDX_LIVE);
    expect(&t, text, "10|4\n");
    close_dump(&t);
    open_scoped(&t, many_fields(), HDX_GARBAGE);
    expect(&t, text, "5|1\n");
    expect(&t, "SELECT count(*) FROM \"app.Wide\" WHERE this = (SELECT max(id) FROM objects)", "1\n");
    close_dump(&t);
    open_scoped(&t, many_fields(), HDX_ALL);
    expect(&t, text, "15|5\n");
    close_dump(&t);
}

Test(traps, a_condition_on_a_field_is_what_it_is_on_a_copy)
{
    static const char *const values[] = { "2",    "'2'",  "2.0", "2.5",   "' 2'", "'abc'",  "x'32'",
                                          "NULL", "1e30", "-1",  "'1e0'", "0",    "'2abc'", "-9223372036854775808" };
    static const char *const fields[] = { "colour", "big", "next", "this", "f1", "\"@address\"" };
    static const char *const ops[] = { "=", "<", ">=", "IS", "<>" };
    char                     text[400];
    dump_test                t;
    open_scoped(&t, many_fields(), HDX_ALL);
    expect(&t,
           "CREATE TEMP TABLE copy(this INTEGER, next INTEGER, colour INTEGER, big INTEGER, f1 INTEGER, "
           "\"@address\" INTEGER)",
           "");
    expect(&t, "INSERT INTO copy SELECT this, next, colour, big, f1, \"@address\" FROM \"app.Wide\"", "");
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
                (void)snprintf(text, sizeof text, "SELECT count(*), sum(this) FROM copy WHERE %s %s %s", fields[f],
                               ops[i], values[v]);
                char *rows = strdup(run(&t, text));
                (void)snprintf(text, sizeof text, "SELECT count(*), sum(this) FROM \"app.Wide\" WHERE %s %s %s",
                               fields[f], ops[i], values[v]);
                expect(&t, text, rows);
                free(rows);
            }
    /* the same where values come from rows: the first is searched for, then the field has an index */
    expect(&t, "CREATE TEMP TABLE sought(v)", "");
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        (void)snprintf(text, sizeof text, "INSERT INTO sought VALUES (%s)", values[v]);
        expect(&t, text, "");
    }
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        (void)snprintf(text, sizeof text,
                       "SELECT s.rowid, c.this FROM sought s CROSS JOIN copy c ON c.%s = s.v ORDER BY 1, 2", fields[f]);
        char *rows = strdup(run(&t, text));
        (void)snprintf(text, sizeof text,
                       "SELECT s.rowid, c.this FROM sought s CROSS JOIN \"app.Wide\" c ON c.%s = s.v ORDER BY 1, 2",
                       fields[f]);
        expect(&t, text, rows);
        free(rows);
    }
    close_dump(&t);
}

Test(traps, a_join_on_a_field_searches_an_index_of_it)
{
    dump_test t;
    open_bookshop(&t);
    expect_plan(&t,
                "SELECT count(*) FROM \"java.util.HashMap\" m CROSS JOIN \"java.util.HashMap$Node\" n ON n.hash = "
                "m.size",
                "instances field:hash=?");
    expect_same(&t,
                "SELECT count(*), sum(s.this) FROM (SELECT id FROM objects WHERE class = 'byte[]') b CROSS JOIN "
                "\"java.lang.String\" s ON s.value = b.id",
                "SELECT count(*), sum(this) FROM \"java.lang.String\" WHERE value IS NOT NULL");
    expect_same(&t,
                "SELECT count(*) FROM objects o WHERE class = 'byte[]' AND EXISTS (SELECT 1 FROM \"java.lang.String\" "
                "WHERE value = o.id)",
                "SELECT count(DISTINCT value) FROM \"java.lang.String\"");
    cr_expect(t.s->mem.used < 1u << 20, "%llu bytes stay", (unsigned long long)t.s->mem.used);
    close_dump(&t);
}

/* Two nodes, which lie as far from each other as seek points do, and nothing that helps to inflate what is between. */
static void save_far_nodes(const char *path)
{
    enum { NOISE = 3 << 20 };
    dump_maker    *m = dump_maker_new(8);
    uint64_t      *noise = malloc(NOISE * sizeof *noise), seed = 1;
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t node = dump_maker_class(m, "app.Node", object, "count:I next:L");
    gm_bytes       plain = { 0 }, packed = { 0 };
    const uint8_t *bytes;
    size_t         len;
    cr_assert(noise != NULL);
    for (size_t i = 0; i < NOISE; i++)
        noise[i] = gm_random(&seed) & 15;
    const uint64_t first = dump_maker_instance(m, node, DUMP_VALUES(1, 0));
    dump_maker_primitives(m, 'B', noise, NOISE);
    const uint64_t second = dump_maker_instance(m, node, DUMP_VALUES(2, first));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, second, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
    bytes = dump_maker_bytes(m, &len);
    gm_put(&plain, bytes, len);
    gm_member_put(&packed, plain.at, plain.len, &(gm_member){ 0 });
    FILE *file = fopen(path, "wb");
    cr_assert(file != NULL && fwrite(packed.at, 1, packed.len, file) == packed.len && fclose(file) == 0);
    gm_free(&plain);
    gm_free(&packed);
    free(noise);
    dump_maker_free(m);
}

/* Each look-up inflates half a megabyte, milliseconds, where nothing is kept of the ones before. */
Test(traps, look_ups_in_a_compressed_dump_keep_what_they_read)
{
    static const char text[] =
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) SELECT count(*), sum(m.count) "
        "FROM n CROSS JOIN \"app.Node\" m ON m.this = (SELECT iif(i % 2, min(id), max(id)) FROM objects WHERE class = "
        "'app.Node')";
    dump_test t = { 0 };
    test_folder_make_fast(t.folder, "sql");
    (void)snprintf(t.dump, sizeof t.dump, "%s/a.hprof.gz", t.folder);
    save_far_nodes(t.dump);
    open_path(&t, t.dump, HDX_LIVE);
    const clock_t begun = clock();
    expect(&t, text, "10000|15000\n");
    const double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    cr_expect(seconds < 2.5, "%.1f s", seconds);
    close_dump(&t);
}

/* ---- orders and limits ---- */

Test(traps, groups_come_in_the_order_that_is_asked_for)
{
    dump_test t;
    open_dump(&t, many_fields());
    expect_same(&t, "SELECT src, count(*) FROM refs GROUP BY src ORDER BY src DESC",
                "SELECT * FROM (SELECT src, count(*) FROM (SELECT * FROM refs ORDER BY +src) GROUP BY +src) ORDER BY "
                "+src DESC");
    expect(&t, "SELECT colour, count(*) FROM \"app.Wide\" GROUP BY colour ORDER BY colour DESC", "2|4\n1|6\n");
    expect_same(&t, "SELECT this FROM \"app.Wide\" GROUP BY this ORDER BY this DESC",
                "SELECT id FROM objects WHERE class = 'app.Wide' ORDER BY +id DESC");
    expect_same(&t, "SELECT DISTINCT this FROM \"app.Wide\" ORDER BY this LIMIT -1 OFFSET 3",
                "SELECT id FROM objects WHERE class = 'app.Wide' ORDER BY +id LIMIT 100 OFFSET 3");
    close_dump(&t);
}

Test(traps, live_by_itself_is_a_condition_too)
{
    dump_test t;
    open_scoped(&t, many_fields(), HDX_ALL);
    expect(&t, "SELECT count(*) FROM objects WHERE class = 'app.Wide' AND live", "10\n");
    expect(&t, "SELECT count(*) FROM objects WHERE class = 'app.Wide' AND NOT live", "5\n");
    expect(&t, "SELECT count(*) FROM objects WHERE class = 'app.Wide' AND live = 1", "10\n");
    expect(&t, "SELECT count(*) FROM \"app.Wide\" WHERE \"@live\" IS NOT 1", "5\n");
    close_dump(&t);
}

Test(traps, values_of_columns_are_whole_numbers_of_63_bits)
{
    dump_test t;
    open_bookshop(&t);
    expect(&t,
           "SELECT DISTINCT typeof(id), typeof(address), typeof(shallow), typeof(retained), typeof(outbound) FROM "
           "objects",
           "integer|integer|integer|integer|integer\n");
    expect(&t, "SELECT typeof(sum(shallow)), typeof(sum(retained)) FROM objects", "integer|integer\n");
    close_dump(&t);
}
