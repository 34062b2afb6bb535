/* The command sql: statements from everywhere, in every format; what is wrong with them; several dumps. */
#include "cli/cli.h"
#include "cli/tool.h"

#include <heapdex/sql.h>

static char *folder;
static void  enter(void) { folder = tool_enter_sql(); }
static void  leave(void) { tool_leave(folder); }
TestSuite(sql, .init = enter, .fini = leave, .timeout = 120);

static void expect(const char *call, int code, const char *out, const char *err)
{
    tool_expect("sql", call, code, out, err);
}

/* ---- rows ---- */

#define VALUES "\"SELECT 7 AS n, 2.5 AS r, NULL AS lacks, 'a,b' AS text, x'00ff' AS bytes\""

Test(sql, gives_rows_in_every_format)
{
    expect(VALUES, 0, "n  r    lacks  text  bytes\n7  2.5  -      a,b   \\x00\\xff\n", "");
    expect(VALUES " --format csv", 0, "n,r,lacks,text,bytes\n7,2.5,,\"a,b\",\u2400\ufffd\n", "");
    expect(VALUES " --format tsv", 0, "n\tr\tlacks\ttext\tbytes\n7\t2.5\t\ta,b\t\\x00\ufffd\n", "");
    expect(VALUES " --format jsonl", 0,
           "{\"n\": 7, \"r\": 2.5, \"lacks\": null, \"text\": \"a,b\", \"bytes\": \"\\u0000\\ufffd\"}\n", "");
    ran r = tool_sh("\"$H\" sql app.hprof.gz \"SELECT 7 AS n\" --format json");
    cr_expect(strncmp(r.out, "{\n  \"heapdex\": ", 15) == 0 && strstr(r.out, "\n  \"command\": \"sql\",\n") != NULL &&
                  strstr(r.out, "\n  \"dump\": {\"path\": \"app.hprof.gz\", ") != NULL &&
                  strstr(r.out, "\n  \"rows\": [\n    {\"n\": 7}\n  ]\n}\n") != NULL,
              "%s", r.out);
    ran_free(&r);
}

Test(sql, has_ids_and_addresses_as_other_commands_have_them)
{
    ran whole =
        tool_sh("\"$H\" objects app.hprof.gz --class java.lang.Thread --sort address --format csv | cut -d, -f1");
    ran same = tool_sh("\"$H\" sql app.hprof.gz \"SELECT address FROM objects WHERE class = 'java.lang.Thread' "
                       "ORDER BY id\" --format csv");
    cr_expect(whole.code == 0 && lines_of(whole.out) > 2 && strncmp(whole.out, "address\n0x", 10) == 0, "%s",
              whole.out);
    cr_expect_str_eq(same.out, whole.out, "%s", same.err);
    ran_free(&whole);
    ran_free(&same);
}

Test(sql, takes_several_statements_one_after_the_other)
{
    expect("'SELECT 1 AS a; CREATE TEMP TABLE t(x); INSERT INTO t VALUES (3), (4); SELECT sum(x) FROM t' --format csv",
           0, "a\n1\n\nsum(x)\n7\n", "");
    expect("'SELECT 1 AS a; SELECT 2 AS b' --format jsonl", 0, "{\"a\": 1}\n{\"b\": 2}\n", "");
    expect("'SELECT 1 AS a; SELECT 2 AS b' --format tsv", 0, "a\n1\n\nb\n2\n", "");
    expect("'SELECT 1 AS a; SELECT 2 AS b'", 0, "a\n1\n\nb\n2\n", "");
    expect("\"-- nothing\"", 2, "",
           "heapdex: 'sql' has no option '-- nothing'\nhint: heapdex sql --help lists the options\n");
    expect("' ; -- nothing\n ;;'", 0, "", "");
    ran r = tool_sh("\"$H\" sql app.hprof.gz 'SELECT 1 AS a; SELECT 2 AS b' --format json | grep -c '\"heapdex\"'");
    cr_expect_str_eq(r.out, "2\n");
    ran_free(&r);
}

Test(sql, names_each_column_once)
{
    expect("'SELECT 1 AS a, 2 AS a, 3 AS a, 4 AS \"a:1\"' --format jsonl", 0,
           "{\"a\": 1, \"a:1\": 2, \"a:2\": 3, \"a:1:1\": 4}\n", "");
}

Test(sql, shows_all_rows_unless_a_limit_is_given)
{
    expect("'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT i FROM n' --limit 2", 0,
           "i\n1\n2\n\u2026 more rows\n", "");
    ran r =
        tool_sh("\"$H\" sql app.hprof.gz 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) "
                "SELECT i FROM n'");
    cr_expect(eq(uint, lines_of(r.out), 101), "%s", r.out);
    ran_free(&r);
}

/* ---- where statements come from ---- */

Test(sql, reads_statements_from_a_file_and_from_standard_input)
{
    static const char text[] = "SELECT 1 AS a; -- one\n\nSELECT 2\n  AS b;\n";
    tool_write("q.sql", text, sizeof text - 1);
    expect("-f q.sql --format csv", 0, "a\n1\n\nb\n2\n", "");
    expect("--file=q.sql --format csv", 0, "a\n1\n\nb\n2\n", "");
    expect("--format csv <q.sql", 0, "a\n1\n\nb\n2\n", "");
    expect("- --format csv <q.sql", 0, "a\n1\n\nb\n2\n", "");
    expect("-f - --format csv <q.sql", 0, "a\n1\n\nb\n2\n", "");
    expect("</dev/null", 0, "", "");
    expect("-f missing.sql", 2, "", "heapdex: missing.sql: cannot be read: No such file or directory\n");
    expect("'SELECT 1' -f q.sql", 2, "", "heapdex: a statement and --file cannot be used together\n");
    expect("'SELECT 1' 'SELECT 2'", 2, "",
           "heapdex: 'sql' takes one heap dump and one statement; unexpected argument 'SELECT 2'\n");
    tool_write("nul.sql", "SELECT 1;\0SELECT 2", 18);
    expect("-f nul.sql", 2, "", "heapdex: nul.sql: contains a NUL byte, which a statement cannot have\n");
}

Test(sql, writes_a_file_whole_or_not_at_all)
{
    ran r = tool_sh("\"$H\" sql app.hprof.gz 'SELECT 1 AS a' --format csv -o out.csv; cat out.csv; "
                    "\"$H\" sql app.hprof.gz 'SELECT 2 AS a; SELECT nosuch1' --format csv -o out.csv; cat out.csv");
    cr_expect_str_eq(r.out, "a\n1\na\n1\n", "%s", r.err);
    ran_free(&r);
}

/* ---- what is wrong ---- */

Test(sql, shows_where_a_statement_is_wrong)
{
    expect("'SELECT nosuch1 FROM objects'", 2, "",
           "heapdex: no such column: nosuch1\n  SELECT nosuch1 FROM objects\n         ^\n");
    expect("'SELEC 1'", 2, "", "heapdex: near \"SELEC\": syntax error\n  SELEC 1\n  ^\n");
    expect("'SELECT 1 AS a; SELECT (2'", 2, "a\n1\n", "heapdex: incomplete input\n");
    expect("\"SELECT '\xc3\xa9\xc3\xa9', nosuch1\"", 2, "",
           "heapdex: no such column: nosuch1\n  SELECT '\u00e9\u00e9', nosuch1\n               ^\n");
    expect("'SELECT \"java.lang.String\"'", 2, "",
           "heapdex: no such column: java.lang.String\n  SELECT \"java.lang.String\"\n         ^\n"
           "hint: put texts in single quotes: 'java.lang.String'\n");
    expect("'SELECT * FROM nosuch1'", 2, "", "heapdex: no such table: nosuch1\n");
    expect("\"SELECT abs(-9223372036854775808)\"", 2, "", "heapdex: integer overflow\n");
    expect("--where 'a = 1'", 2, "",
           "heapdex: 'sql' has no option '--where'\n"
           "hint: the statement selects and orders the columns and rows\n");
    tool_write("q.sql", "SELECT 1 AS a;\nSELECT 2,\n\tnosuch1\n;", 35);
    expect("-f q.sql --format csv", 2, "a\n1\n",
           "heapdex: q.sql: line 3: no such column: nosuch1\n  \\x09nosuch1\n      ^\n");
    expect("'SELECT nosuch1' --format json", 2,
           "{\"error\": {\"code\": 2, \"kind\": \"usage\", \"message\": \"no such column: nosuch1\", \"file\": null, "
           "\"offset\": 7}}\n",
           "heapdex: no such column: nosuch1\n  SELECT nosuch1\n         ^\n");
}

Test(sql, cuts_a_long_line_around_the_place_that_is_wrong)
{
    char long_line[2000] = "'SELECT ";
    for (unsigned i = 0; i < 150; i++)
        (void)strcat(long_line, i == 75 ? "nosuch1, " : "1, ");
    (void)strcat(long_line, "1'");
    ran r = tool_sh("\"$H\" sql app.hprof.gz %s", long_line);
    cr_expect(r.code == 2 && longest_line(r.err) <= 80, "%u: %s", longest_line(r.err), r.err);
    const char *place = strstr(r.err, "nosuch1, 1"), *mark = strchr(r.err, '^');
    cr_assert(place != NULL && mark != NULL, "%s", r.err);
    while (place > r.err && place[-1] != '\n')
        place--;
    const char *line = mark;
    while (line[-1] != '\n')
        line--;
    cr_expect(strncmp(place + (mark - line), "nosuch1", 7) == 0, "%s", r.err);
    ran_free(&r);
}

Test(sql, writes_nothing_but_what_is_temporary)
{
    static const char *const cases[][2] = {
        { "ATTACH 'x.db' AS x", "attaching and detaching files" },
        { "DETACH main", "attaching and detaching files" },
        { "VACUUM INTO 'x.db'", "attaching and detaching files" },
        { "CREATE TABLE t(a)", "writing to a table that is not temporary" },
        { "CREATE VIEW v AS SELECT 1", "writing to a table that is not temporary" },
        { "CREATE VIRTUAL TABLE temp.t USING fts5(a)", "virtual tables" },
        { "CREATE VIRTUAL TABLE t USING heapdex_objects", "writing to a table that is not temporary" },
        { "DROP TABLE objects", "writing to a table that is not temporary" },
        { "PRAGMA case_sensitive_like = ON", "this pragma" },
        { "PRAGMA writable_schema = ON", "this pragma" },
        { "PRAGMA temp_store_directory = '/'", "this pragma" },
        { "SELECT load_extension('x')", "loading an extension" },
        { "ANALYZE", "writing to a table that is not temporary" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[128];
        ran  r = tool_sh("\"$H\" sql app.hprof.gz \"%s\"; code=$?; [ ! -e x.db ] && exit $code", cases[i][0]);
        (void)snprintf(words, sizeof words, "heapdex: not allowed here: %s\n", cases[i][1]);
        cr_expect(r.code == 2 && strncmp(r.err, words, strlen(words)) == 0, "%s: %d %s", cases[i][0], r.code, r.err);
        ran_free(&r);
    }
    expect("\"UPDATE sqlite_master SET sql = ''\"", 2, "", "heapdex: table sqlite_master may not be modified\n");
    expect("'CREATE TEMP VIEW v AS SELECT 5 AS x; SELECT * FROM v; DROP VIEW v; CREATE TABLE temp.t(a UNIQUE); "
           "INSERT INTO t VALUES (1); UPDATE t SET a = 6; ALTER TABLE t RENAME TO u; DELETE FROM u; DROP TABLE u'",
           0, "x\n5\n", "");
}

/* ---- limits ---- */

#define FOREVER "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "

Test(sql, stops_at_limits_of_rows_seconds_and_memory)
{
    expect("'SELECT 1 AS a UNION ALL SELECT 2' --max-rows 2", 0, "a\n1\n2\n", "");
    expect("'" FOREVER "i FROM n' --max-rows 2 --format csv", 6, "i\n1\n2\n",
           "heapdex: the statement returns more than the maximum of 2 rows\nhint: raise the limit with --max-rows\n");
    expect("'" FOREVER "count(*) FROM n' --max-seconds 1", 6, "",
           "heapdex: the statement takes longer than the maximum of 1 s\nhint: raise the limit with --max-seconds\n");
    expect("'" FOREVER "count(*) FROM n' --max-seconds 1 --memory 300M", 6, "",
           "heapdex: the statement takes longer than the maximum of 1 s\nhint: raise the limit with --max-seconds\n");
    expect("'SELECT length(hex(zeroblob(49000000)))' --memory 60M", 6, "",
           "heapdex: SQLite needs more memory for the statement than the limit of 62914560 bytes\n"
           "hint: raise the limit with --memory\n");
}

Test(sql, ends_when_it_is_interrupted)
{
    /* As soon as it handles the signal, which jobs behind & ignore. The shell handles it, too: it is not meant. */
    ran r = tool_sh("env --default-signal=INT \"$H\" sql app.hprof.gz '" FOREVER "count(*) FROM n' & p=$!; naps=0; "
                    "until awk '/^Name:.*heapdex$/ { name = 1 } /^SigCgt:.*[2367abef]$/ && name { found = 1 } "
                    "END { exit !found }' /proc/$p/status || [ $((naps += 1)) -gt 6000 ]; do sleep 0.01; done; "
                    "kill -INT $p; wait $p");
    cr_expect(r.code == 130 && strstr(r.err, "interrupted") != NULL, "%d %s", r.code, r.err);
    ran_free(&r);
}

/* ---- several dumps ---- */

Test(sql, asks_several_dumps_in_one_statement)
{
    ran r =
        tool_sh("cp app.hprof.gz b.hprof.gz && \"$H\" sql app.hprof.gz --attach old=b.hprof.gz --attach x=app.hprof.gz "
                "--quiet --format csv \"SELECT (SELECT count(*) FROM objects) = (SELECT count(*) FROM old.objects) AS "
                "same; SELECT name FROM pragma_database_list\"");
    cr_expect(r.code == 0 && strcmp(r.out, "same\n1\n\nname\nmain\nold\nx\n") == 0, "%s%s", r.out, r.err);
    ran_free(&r);
    expect("'SELECT 1' --attach b", 2, "",
           "heapdex: --attach 'b': expected NAME=DUMP\n"
           "hint: --attach old=yesterday.hprof adds the tables old.objects, old.classes ...\n");
    expect("'SELECT 1' --attach 9b=app.hprof.gz", 2, "",
           "heapdex: '9b' is not a valid dump name; use letters, digits and _, at most 64\n");
    static const char *const taken[] = { "main", "temp", "Main" };
    for (unsigned i = 0; i < 3; i++) {
        char call[64], words[200];
        (void)snprintf(call, sizeof call, "'SELECT 1' --attach %s=app.hprof.gz", taken[i]);
        (void)snprintf(words, sizeof words,
                       "heapdex: '%s' is a reserved name\nhint: main names the first dump and temp the "
                       "temporary tables; choose an unused name\n",
                       taken[i]);
        expect(call, 2, "", words);
    }
    r = tool_sh("\"$H\" sql app.hprof.gz 'SELECT 1' --attach b=app.hprof.gz --attach B=app.hprof.gz");
    cr_expect(r.code == 2 && strstr(r.err, "'B' is a reserved name") != NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" sql app.hprof.gz 'SELECT 1' --attach b=missing.hprof");
    cr_expect(eq(int, r.code, 3), "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" sql app.hprof.gz 'SELECT 1' --attach b=app.hprof.gz --index-dir x");
    cr_expect(eq(int, r.code, 2), "%s", r.err);
    ran_free(&r);
}

Test(sql, asks_a_view_of_the_index)
{
    ran r = tool_sh(
        "\"$H\" index app.hprof.gz --view 'soft=-refs:weak,soft' --quiet -o /dev/null && \"$H\" sql app.hprof.gz "
        "--view soft 'SELECT 1 AS a' --format json | grep '\"view\"'");
    cr_expect(r.code == 0 && strstr(r.out, "\"name\": \"soft\"") != NULL, "%s%s", r.out, r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" sql app.hprof.gz --view none 'SELECT 1 AS a'");
    cr_expect(eq(int, r.code, 4), "%s", r.err);
    ran_free(&r);
}
