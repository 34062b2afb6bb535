/*
 * test_arrow.c - statements as Arrow streams: what type a column is, what does not fit, and streams that stay when
 * connection and session are closed.
 */
#define SQLITE_CORE /* SQLite is a library here, as it is to the command */
#include "statements.h"

#include <errno.h>
#include <heapdex/columns.h>
#include <pthread.h>

/* "name:format" of each column. */
static void put_schema(hdx_buffer *b, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    cr_assert(stream->get_schema(stream, &schema) == 0);
    for (int64_t i = 0; i < schema.n_children; i++)
        hdx_buffer_format(b, "%s%s:%s", i > 0 ? " " : "", schema.children[i]->name, schema.children[i]->format);
    hdx_buffer_text(b, "\n");
    schema.release(&schema);
}

static void put_item(hdx_buffer *b, const struct ArrowArray *a, const char *format, int64_t i)
{
    const uint8_t *valid = a->buffers[0];
    if (valid != NULL && (valid[i / 8] >> i % 8 & 1) == 0)
        return;
    if (*format == 'U') {
        const int64_t *at = a->buffers[1];
        hdx_buffer_put(b, (const char *)a->buffers[2] + at[i], (uint64_t)(at[i + 1] - at[i]));
    } else if (*format == 'g') {
        hdx_buffer_format(b, "%g", ((const double *)a->buffers[1])[i]);
    } else {
        hdx_buffer_format(b, "%lld", (long long)((const int64_t *)a->buffers[1])[i]);
    }
}

/* Schema and rows of a stream, or why it ended. */
static void put_stream(hdx_buffer *b, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    struct ArrowArray  batch;
    int                failed;
    put_schema(b, stream);
    cr_assert(stream->get_schema(stream, &schema) == 0);
    while ((failed = stream->get_next(stream, &batch)) == 0 && batch.release != NULL) {
        for (int64_t row = 0; row < batch.length; row++)
            for (int64_t i = 0; i < batch.n_children; i++) {
                put_item(b, batch.children[i], schema.children[i]->format, row);
                hdx_buffer_text(b, i + 1 < batch.n_children ? "|" : "\n");
            }
        batch.release(&batch);
    }
    if (failed != 0)
        hdx_buffer_format(b, "%s: %s", strerror(failed), stream->get_last_error(stream));
    schema.release(&schema);
}

static const char *streamed_first(dump_test *t, const char *statement, uint64_t most)
{
    struct ArrowArrayStream stream;
    hdx_buffer_clear(&t->rows);
    hdx_buffer_text(&t->rows, "");
    t->err = (hdx_error){ .offset = HDX_NOWHERE };
    const hdx_code code = hdx_sql_arrow(t->sql, statement, most, &stream, &t->err);
    if (code != HDX_OK) {
        cr_expect(stream.release == NULL);
        hdx_buffer_format(&t->rows, "%s: %s", hdx_code_name(code), t->err.message);
        return t->rows.at;
    }
    put_stream(&t->rows, &stream);
    stream.release(&stream);
    cr_expect(stream.release == NULL);
    return t->rows.at;
}

static const char *streamed(dump_test *t, const char *statement) { return streamed_first(t, statement, 0); }

static void expect_stream(dump_test *t, const char *statement, const char *rows)
{
    const char *got = streamed(t, statement);
    cr_expect(strcmp(got, rows) == 0, "%s\ngives\n%.2000s\nnot\n%.2000s", statement, got, rows);
}

Test(arrow, columns_of_tables_are_what_these_declare)
{
    dump_test t;
    open_bookshop(&t);
    expect_stream(&t, "SELECT id, address, class, shallow, retained, length FROM objects WHERE id < 0",
                  "id:l address:l class:U shallow:l retained:l length:l\n");
    expect_stream(&t,
                  "SELECT name, live_instances n FROM classes WHERE name = 'java.lang.String' -- and that is all\n;",
                  "name:U n:l\njava.lang.String|3649\n");
    expect_stream(&t, "SELECT id, id FROM objects LIMIT 1", "id:l id:1:l\n0|0\n");
    close_dump(&t);
}

Test(arrow, columns_of_temporary_tables_are_what_these_declare_and_have)
{
    dump_test t;
    open_bookshop(&t);
    expect(&t, "CREATE TEMP TABLE own(a address, i INTEGER, r real, t Text, v VARCHAR)", "");
    expect(&t, "INSERT INTO own VALUES (-16, 7, 2, 3, 4), (NULL, NULL, NULL, NULL, NULL)", "");
    expect_stream(&t, "SELECT * FROM own", "a:l i:l r:g t:U v:U\n-16|7|2|3|4\n||||\n");
    expect(&t, "INSERT INTO own(i) VALUES ('x')", "");
    cr_expect(strstr(streamed(&t, "SELECT i FROM own"), "row 3 of column i is a text") != NULL, "%s", t.rows.at);
    close_dump(&t);
}

Test(arrow, other_columns_are_what_their_first_values_are)
{
    dump_test t;
    open_bookshop(&t);
    expect_stream(&t, "VALUES (1, 1.5, 'a', NULL, 1), (NULL, 2, NULL, NULL, 'b'), (-3, NULL, 'c', NULL, 2.5)",
                  "column1:l column2:g column3:U column4:U column5:U\n1|1.5|a||1\n|2|||b\n-3||c||2.5\n");
    expect_stream(&t, "SELECT 9007199254740993 AS v UNION ALL SELECT 0.5", "v:U\n9007199254740993\n0.5\n");
    expect_stream(&t, "SELECT count(*) n, avg(shallow) > 1 a, 0.5 h FROM objects WHERE class = 'java.lang.String'",
                  "n:l a:l h:g\n3649|1|0.5\n");
    expect_stream(&t, "SELECT x'61ff' AS bytes, '' AS empty", "bytes:U empty:U\na\xef\xbf\xbd|\n");
    close_dump(&t);
}

Test(arrow, a_value_that_does_not_fit_ends_the_stream_and_says_where)
{
    static const char numbers[] = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100) ";
    static const struct {
        const char *last, *message;
    } cases[] = {
        { "CASE WHEN i = 1100 THEN 'x' ELSE i END",
          "row 1100 of column v is a text, but earlier rows are whole numbers; use CAST for a common type" },
        { "CASE WHEN i = 1025 THEN 0.5 ELSE i END",
          "row 1025 of column v is a real number, but earlier rows are whole numbers; use CAST for a common type" },
        { "CASE WHEN i = 1025 THEN 9007199254740993 ELSE i + 0.5 END",
          "row 1025 of column v is a whole number, but earlier rows are doubles; use CAST for a common type" },
        { "CASE WHEN i < 1025 THEN CAST(i AS TEXT) ELSE i END", NULL },
        { "CASE WHEN i = 1025 THEN 7 ELSE i + 0.5 END", NULL },
        { "CASE WHEN i = 1024 THEN 'x' ELSE i END", NULL },
    };
    dump_test t;
    open_bookshop(&t);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char statement[512];
        (void)snprintf(statement, sizeof statement, "%sSELECT %s AS v FROM n", numbers, cases[i].last);
        const char *got = streamed(&t, statement), *failed = strstr(got, strerror(EIO));
        const bool  ended = failed != NULL, should = cases[i].message != NULL;
        cr_assert(ended == should, "%s: %s", statement, got);
        cr_expect(failed == NULL || strstr(failed, cases[i].message) != NULL, "%s: %s", statement, got);
    }
    close_dump(&t);
}

Test(arrow, what_has_not_one_statement_with_rows_is_refused_and_not_run)
{
    dump_test t;
    open_bookshop(&t);
    expect_stream(&t, "", "usage: the statement is empty");
    expect_stream(&t, "-- nothing", "usage: the statement is empty");
    expect_stream(&t, "SELECT 1; SELECT 2", "usage: a stream needs a single statement");
    expect_stream(&t, "SELECT 1; nonsense", "usage: a stream needs a single statement");
    expect_stream(&t, "CREATE TEMP TABLE t(a)", "usage: the statement returns no rows");
    expect_stream(&t, "SELECT 1 FROM t", "usage: no such table: t");
    expect_stream(&t, "SELECT nobody FROM objects", "usage: no such column: nobody");
    cr_expect(t.err.offset == 7);
    expect_stream(&t, "ATTACH '/tmp/a' AS a", "usage: not allowed here: attaching and detaching files");
    close_dump(&t);
}

static void *read_on(void *context)
{
    hdx_buffer *b = calloc(1, sizeof *b);
    put_stream(b, context);
    return b;
}

static void expect_first(dump_test *t, const char *statement, uint64_t most, const char *rows)
{
    const char *got = streamed_first(t, statement, most);
    cr_expect(strcmp(got, rows) == 0, "the first %llu of %s\ngive\n%.2000s\nnot\n%.2000s", (unsigned long long)most,
              statement, got, rows);
}

Test(arrow, first_rows_of_any_statement)
{
    static const char *const endings[] = {
        "", ";", "; -- all; of them", " -- all; of them", "; /* all; */ ;", " /* all"
    };
    dump_test t;
    open_bookshop(&t);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "SELECT id, ';' s FROM objects%s", endings[i]);
        expect_first(&t, text, 2, "id:l s:U\n0|;\n1|;\n");
    }
    expect_first(&t, "VALUES (1), (2), (3)", 2, "column1:l\n1\n2\n");
    expect_first(&t, "WITH a(n) AS (VALUES (1), (2)) SELECT n FROM a", 1, "n:l\n1\n");
    expect_first(&t, "SELECT 1 n LIMIT 1", UINT64_MAX, "n:l\n1\n");
    expect_first(&t, "EXPLAIN QUERY PLAN SELECT 1 UNION SELECT 2", 1,
                 "id:l parent:l notused:l detail:U\n1|0|0|COMPOUND QUERY\n");
    close_dump(&t);
}

/* Returns how many bytes SQLite needed at once for the first rows of a statement, besides those of the connection. */
static int64_t bytes_for_first(dump_test *t, const char *statement, uint64_t most)
{
    const int64_t before = sqlite3_memory_used();
    (void)sqlite3_memory_highwater(1);
    cr_expect(strncmp(streamed_first(t, statement, most), "id:l t:U\n0|", 11) == 0, "%.200s", t->rows.at);
    return sqlite3_memory_highwater(0) - before;
}

Test(arrow, first_rows_of_a_sort_do_not_need_memory_for_all)
{
    static const char *const endings[] = { "", ";", "; -- all" };
    dump_test                t;
    char                     text[200];
    open_bookshop(&t);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        (void)snprintf(text, sizeof text, "SELECT id, printf('%%200d', -id) t FROM objects ORDER BY t%s", endings[i]);
        const int64_t first = bytes_for_first(&t, text, 1), all = bytes_for_first(&t, text, 0);
        cr_expect(first * 4 < all, "'%s': %lld bytes for the first row, %lld for all", endings[i], (long long)first,
                  (long long)all);
    }
    close_dump(&t);
}

Test(arrow, first_rows_need_no_others)
{
    /* Row 3 of the second statement cannot be computed; abs(-2^63) is an error. */
    static const char failing[] = "VALUES (1), (2), (abs(-9223372036854775807 - 1))";
    dump_test         t;
    open_bookshop(&t);
    expect_first(&t, failing, 2, "column1:l\n1\n2\n");
    cr_expect(strstr(streamed(&t, failing), "overflow") != NULL, "%s", t.rows.at);
    expect_first(&t, "SELECT 1) FROM (SELECT 2", 1, "usage: near \")\": syntax error");
    expect_first(&t, "SELECT 1; SELECT 2", 1, "usage: a stream needs a single statement");
    close_dump(&t);
}

Test(arrow, streams_stay_when_connection_and_session_are_closed_and_on_other_threads)
{
    static const char       ask[] = "SELECT label(id) t, id FROM objects WHERE class = 'java.lang.String'";
    dump_test               t;
    struct ArrowArrayStream streams[2];
    pthread_t               threads[2];
    open_bookshop(&t);
    char *want = strdup(streamed(&t, ask));
    cr_assert(strlen(want) > 100000, "%zu", strlen(want));
    for (unsigned i = 0; i < 2; i++)
        cr_assert(hdx_sql_arrow(t.sql, ask, 0, &streams[i], &t.err) == HDX_OK, "%s", t.err.message);
    hdx_buffer_free(&t.rows);
    hdx_sql_close(t.sql);
    hdx_session_close(t.s);
    for (unsigned i = 0; i < 2; i++)
        cr_assert(pthread_create(&threads[i], NULL, read_on, &streams[i]) == 0);
    for (unsigned i = 0; i < 2; i++) {
        void *rows;
        cr_assert(pthread_join(threads[i], &rows) == 0);
        cr_expect(strcmp(((hdx_buffer *)rows)->at, want) == 0);
        hdx_buffer_free(rows);
        free(rows);
        streams[i].release(&streams[i]);
    }
    free(want);
    test_folder_remove(t.folder);
}

Test(arrow, streams_end_when_the_session_is_cancelled_or_its_memory_is_used_up)
{
    static const char       ask[] = "SELECT id, class FROM objects";
    dump_test               t;
    struct ArrowArrayStream stream;
    struct ArrowArray       batch;
    open_bookshop(&t);
    hdx_session_limit(t.s, 200000);
    cr_assert(hdx_sql_arrow(t.sql, ask, 0, &stream, &t.err) == HDX_OK, "%s", t.err.message);
    cr_expect(stream.get_next(&stream, &batch) == ENOMEM);
    cr_expect(strstr(stream.get_last_error(&stream), "no memory") != NULL, "%s", stream.get_last_error(&stream));
    stream.release(&stream);
    hdx_session_limit(t.s, 0);
    cr_assert(hdx_sql_arrow(t.sql, ask, 0, &stream, &t.err) == HDX_OK, "%s", t.err.message);
    hdx_session_cancel(t.s);
    cr_expect(stream.get_next(&stream, &batch) == ECANCELED);
    cr_expect(stream.get_next(&stream, &batch) == ECANCELED);
    stream.release(&stream);
    close_dump(&t);
}
