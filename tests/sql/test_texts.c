/* test_texts.c - functions of texts of our own: what SQLite's functions of the same names give, for random values. */
#define SQLITE_CORE
#include "statements.h"

/* Bytes that pieces of texts and patterns are made of, valid UTF-8 and other. */
static const char *const pieces[] = { "a",
                                      "b",
                                      "A",
                                      "B",
                                      "%",
                                      "_",
                                      "*",
                                      "?",
                                      "[",
                                      "]",
                                      "^",
                                      "-",
                                      "ab",
                                      "aa",
                                      "\\",
                                      "\xc3\xa4",
                                      "\xe2\x82\xac",
                                      "\xf0\x9f\x98\x80",
                                      "\x80",
                                      "\xc3",
                                      " ",
                                      "" };

static uint32_t next_of(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* A value of a random type as an SQL literal. */
static void put_value_of(hdx_buffer *b, uint64_t *seed, unsigned most)
{
    const unsigned kind = next_of(seed) % 12;
    char           text[128] = "";
    if (kind == 0) {
        hdx_buffer_text(b, "NULL");
        return;
    }
    if (kind == 1) {
        hdx_buffer_format(b, "%u", next_of(seed) % 120);
        return;
    }
    for (unsigned n = next_of(seed) % (most + 1); n > 0; n--)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s",
                       pieces[next_of(seed) % (sizeof pieces / sizeof *pieces)]);
    if (kind > 2)
        hdx_buffer_text(b, "CAST(");
    hdx_buffer_text(b, "x'");
    for (const char *c = text; *c != '\0'; c++)
        hdx_buffer_format(b, "%02x", (unsigned char)*c);
    hdx_buffer_text(b, kind > 2 ? "' AS TEXT)" : "'");
}

static void put_call(hdx_buffer *b, uint64_t *seed)
{
    static const struct {
        const char *begin, *between;
        unsigned    count;
    } calls[] = { { "length(", "", 1 },
                  { "instr(", ", ", 2 },
                  { "replace(", ", ", 3 },
                  { "trim(", ", ", 2 },
                  { "ltrim(", ", ", 2 },
                  { "rtrim(", ", ", 2 },
                  { "trim(", "", 1 },
                  { "(", " LIKE ", 2 },
                  { "(", " GLOB ", 2 },
                  { "like(", ", ", 2 },
                  { "glob(", ", ", 2 },
                  { "(", " LIKE ", 2 },
                  { "(", " GLOB ", 2 },
                  { "printf('%5s|%-.3s|%q', ", ", ", 2 },
                  { "printf('%.*c|%*d%%', 3, ", ", 4, ", 2 },
                  { "printf(", ", ", 2 } };
    const unsigned i = next_of(seed) % (sizeof calls / sizeof *calls);
    hdx_buffer_text(b, "SELECT quote(");
    hdx_buffer_text(b, calls[i].begin);
    for (unsigned n = 0; n < calls[i].count; n++) {
        hdx_buffer_text(b, n > 0 ? calls[i].between : "");
        put_value_of(b, seed, n == 0 ? 9 : 5);
    }
    if (strcmp(calls[i].between, " LIKE ") == 0 && next_of(seed) % 3 == 0)
        hdx_buffer_format(b, " ESCAPE '%c'", "\\a%_"[next_of(seed) % 4]);
    hdx_buffer_text(b, "))");
}

static const char *plain(sqlite3 *db, const char *statement, char out[1024])
{
    sqlite3_stmt *stmt = NULL;
    (void)snprintf(out, 1024, "none");
    if (sqlite3_prepare_v2(db, statement, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        (void)snprintf(out, 1024, "%s\n", (const char *)sqlite3_column_text(stmt, 0));
    (void)sqlite3_finalize(stmt);
    return out;
}

Test(texts, are_what_SQLite_makes_of_them)
{
    dump_test  t;
    hdx_buffer statement = hdx_buffer_of(NULL);
    sqlite3   *db;
    uint64_t   seed = 20261128;
    char       wanted[1024];
    open_bookshop(&t);
    cr_assert(eq(int, sqlite3_open(":memory:", &db), SQLITE_OK));
    for (unsigned i = 0; i < 20000; i++) {
        hdx_buffer_clear(&statement);
        put_call(&statement, &seed);
        expect(&t, statement.at, plain(db, statement.at, wanted));
    }
    hdx_buffer_free(&statement);
    (void)sqlite3_close(db);
    close_dump(&t);
}

Test(texts, patterns_go_back_to_the_last_wildcard_alone)
{
    dump_test t;
    open_bookshop(&t);
    expect(&t, "SELECT 'aaaaaaab' LIKE '%aab', 'abcabcd' LIKE '%abc_', 'abc' LIKE 'a%%c', '' LIKE '%', 'a' LIKE ''",
           "1|1|1|1|0\n");
    expect(&t,
           "SELECT 'xb' GLOB 'x[a-c]', 'x-' GLOB 'x[a-c]', 'xa-b' GLOB '*[a-c]-?', 'x]' GLOB 'x[]]', 'xd' GLOB "
           "'x[^a-c]', 'x[' GLOB 'x['",
           "1|0|1|1|1|0\n");
    expect(&t, "SELECT 'a%b' LIKE 'a!%b' ESCAPE '!', 'axb' LIKE 'a!%b' ESCAPE '!', 'a' LIKE 'a!' ESCAPE '!'",
           "1|0|0\n");
    close_dump(&t);
}

/* Products of two lengths: SQLite's own functions take minutes for each. */
Test(texts, take_time_that_follows_the_texts)
{
    dump_test t;
    open_bookshop(&t);
    expect(&t, "SELECT instr(hex(zeroblob(5000000)), hex(zeroblob(2500000)) || '1')", "0\n");
    expect(&t, "SELECT instr(hex(zeroblob(5000000)) || '1', hex(zeroblob(2500000)) || '1')", "5000001\n");
    expect(&t, "SELECT length(replace(hex(zeroblob(5000000)), hex(zeroblob(2500000)) || '1', ''))", "10000000\n");
    expect(&t, "SELECT length(replace(hex(zeroblob(5000000)), hex(zeroblob(2500000)), 'ab'))", "4\n");
    close_dump(&t);
}

static void expect_limit(dump_test *t, const char *statement, const char *message, const char *hint)
{
    const char *got = run(t, statement);
    cr_expect(t->err.code == HDX_LIMIT && strstr(got, message) != NULL && strstr(t->err.hint, hint) != NULL,
              "%.100s gives %.300s, hint %s", statement, got, t->err.hint);
}

Test(texts, are_refused_beyond_the_bounds_of_a_statement)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    dump_test  t;
    open_bookshop(&t);
    expect_limit(&t, "SELECT length(printf('%.*c', 999999999, 'x'))", "the maximum of 100000000 bytes", "substr");
    expect_limit(&t, "SELECT printf('%d %-*c', 1, -10000001, 'x')", "is 10000001; the maximum is 10000000", "zeroblob");
    expect_limit(&t, "SELECT printf('%.99999999999d', 1)", "the maximum is 10000000", "zeroblob");
    expect(&t, "SELECT length(printf('%.10000000c%.10000000c', 'x', 'y'))", "20000000\n");
    expect_limit(&t, "SELECT json_patch('[' || hex(zeroblob(50000)) || ']', hex(zeroblob(50000)))",
                 "the maximum of their product is 1000000000", "json_each");
    expect(&t, "SELECT json_array(json_patch('{\"a\":1,\"b\":2}', '{\"b\":null,\"c\":[3]}'))",
           "[{\"a\":1,\"c\":[3]}]\n");
    expect_limit(&t, "SELECT length(replace(hex(zeroblob(5000)), '0', hex(zeroblob(50000))))",
                 "the maximum of 100000000 bytes", "substr");
    expect_limit(&t, "SELECT 'a' LIKE hex(zeroblob(5001))", "is 10002 bytes; the maximum is 10000", "instr");
    hdx_buffer_text(&text, "SELECT 1");
    for (unsigned i = 0; i < 2000; i++)
        hdx_buffer_text(&text, ",1");
    expect_limit(&t, text.at, "the maximum is 2000", "several statements");
    hdx_buffer_clear(&text);
    hdx_buffer_text(&text, "SELECT 1");
    for (unsigned i = 0; i < 200; i++)
        hdx_buffer_text(&text, " UNION ALL SELECT 1");
    expect_limit(&t, text.at, "the maximum is 200", "VALUES");
    hdx_buffer_clear(&text);
    hdx_buffer_text(&text, "SELECT 1");
    for (unsigned i = 0; i < 600; i++)
        hdx_buffer_text(&text, "+1");
    expect_limit(&t, text.at, "maximum depth 500", "IN (...)");
    hdx_buffer_free(&text);
    close_dump(&t);
}
