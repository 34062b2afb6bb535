/* The command oql: queries from everywhere, the SQL that they become, and what is wrong with them. */
#include "cli/cli.h"
#include "cli/tool.h"

static char *folder;
static void  enter(void) { folder = tool_enter_sql(); }
static void  leave(void) { tool_leave(folder); }
TestSuite(oql, .init = enter, .fini = leave, .timeout = 120);

static void expect(const char *call, int code, const char *out, const char *err)
{
    tool_expect("oql", call, code, out, err);
}

Test(oql, answers_as_sql_does)
{
    ran oql = tool_sh("\"$H\" oql app.hprof.gz 'SELECT * FROM bookshop.Bookshop$SessionCache' --format csv");
    ran sql = tool_sh("\"$H\" sql app.hprof.gz \"SELECT id, address, class, label(id) AS label, shallow, retained FROM "
                      "objects WHERE class = 'bookshop.Bookshop\\$SessionCache'\" --format csv");
    cr_expect(oql.code == 0 && lines_of(oql.out) == 2 && strstr(oql.out, ",0xfeb18ea8,bookshop.") != NULL, "%s%s",
              oql.out, oql.err);
    cr_expect_str_eq(oql.out, sql.out, "%s", sql.err);
    ran_free(&oql);
    ran_free(&sql);
}

Test(oql, takes_the_query_from_a_word_a_file_and_standard_input)
{
    const char *query = "SELECT COUNT(*) AS n FROM java.util.HashMap m WHERE m.size > 100";
    ran         word = tool_sh("\"$H\" oql app.hprof.gz '%s' --format csv", query);
    cr_expect(word.code == 0 && strncmp(word.out, "n\n", 2) == 0 && atoi(word.out + 2) > 0, "%s%s", word.out, word.err);
    const char *const calls[] = { "echo '%s' | \"$H\" oql app.hprof.gz --format csv",
                                  "echo '%s' | \"$H\" oql app.hprof.gz - --format csv",
                                  "echo '%s' >query; \"$H\" oql app.hprof.gz --file query --format csv",
                                  "echo '%s' | \"$H\" oql app.hprof.gz -f - --format csv" };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        ran r = tool_sh(calls[i], query);
        cr_expect_str_eq(r.out, word.out, "%s: %s", calls[i], r.err);
        ran_free(&r);
    }
    ran_free(&word);
    expect("'SELECT * FROM java.lang.String' --file query", 2, "",
           "heapdex: a query and --file cannot be used together\n");
}

Test(oql, explains_by_the_sql)
{
    expect("'SELECT m.size FROM java.util.HashMap m' --explain", 0, "SELECT m.size FROM \"java.util.HashMap\" m\n", "");
    expect("\"SELECT s FROM java.lang.String s WHERE toString(s) = 'it''s'\" --explain --format csv", 0,
           "sql\nSELECT s.id AS s FROM objects s WHERE s.class='java.lang.String' AND string(s.id)='it''s'\n", "");
    ran r = tool_sh("\"$H\" sql app.hprof.gz \"$(\"$H\" oql app.hprof.gz 'SELECT COUNT(*) AS n FROM int[]' "
                    "--explain)\" --format csv");
    ran same = tool_sh("\"$H\" oql app.hprof.gz 'SELECT COUNT(*) AS n FROM int[]' --format csv");
    cr_expect(r.code == 0 && lines_of(r.out) == 2, "%s", r.err);
    cr_expect_str_eq(r.out, same.out, "%s", same.err);
    ran_free(&r);
    ran_free(&same);
}

Test(oql, shows_where_a_query_is_wrong)
{
    expect("'SELECT * FRM java.lang.String'", 2, "",
           "heapdex: FROM is missing before \"FRM\"\n  SELECT * FRM java.lang.String\n           ^\n");
    expect("'SELECT * FROM java.lang.Strin'", 4, "",
           "heapdex: unknown class java.lang.Strin\n  SELECT * FROM java.lang.Strin\n                ^\nhint: did "
           "you mean java.lang.String?\n");
    ran r = tool_sh("printf 'SELECT *\\nFROM java.lang.String s\\nWHERE s.value.nothing()' >q; \"$H\" oql app.hprof.gz "
                    "--file q");
    cr_expect(r.code == 2 && strncmp(r.err, "heapdex: q: line 3: unknown method nothing()\n", 45) == 0, "%s", r.err);
    ran_free(&r);
}

Test(oql, keeps_to_the_scope_and_to_bounds)
{
    ran live = tool_sh("\"$H\" oql app.hprof.gz 'SELECT COUNT(*) AS n FROM byte[]' --format csv");
    ran all = tool_sh("\"$H\" oql app.hprof.gz 'SELECT COUNT(*) AS n FROM byte[]' --reachable all --format csv");
    ran histogram = tool_sh("\"$H\" histogram app.hprof.gz --class 'byte[]' --format csv --columns objects");
    cr_expect(live.code == 0 && all.code == 0 && histogram.code == 0, "%s%s%s", live.err, all.err, histogram.err);
    cr_expect(eq(int, atoi(live.out + 2), atoi(strchr(histogram.out, '\n') + 1)));
    cr_expect(gt(int, atoi(all.out + 2), atoi(live.out + 2)));
    ran r = tool_sh("\"$H\" oql app.hprof.gz 'SELECT * FROM byte[]' --limit 3 --format jsonl");
    cr_expect(r.code == 0 && lines_of(r.out) == 3, "%s", r.err);
    ran bound = tool_sh("\"$H\" oql app.hprof.gz 'SELECT * FROM byte[]' --max-rows 3 --format jsonl");
    cr_expect(eq(int, bound.code, 6), "%s", bound.err);
    ran_free(&live);
    ran_free(&all);
    ran_free(&histogram);
    ran_free(&r);
    ran_free(&bound);
}
