/* The shell of the command sql, as a person sits before it. */
#include "cli/cli.h"
#include "cli/terminal.h"
#include "support/wait.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
    ran        r = tool_sh("\"$H\" sql app.hprof.gz '' --quiet");
    const bool without = strstr(r.err, "built without SQLite") != NULL;
    cr_assert(without || r.code == 0, "%s", r.err);
    ran_free(&r);
    (void)setenv("XDG_STATE_HOME", folder, 1);
    (void)setenv("TERM", "xterm", 1);
    (void)setenv("LC_ALL", "C.UTF-8", 1);
    (void)setenv("NO_COLOR", "1", 1);
    if (without)
        tool_skip(folder, "heapdex was built without SQLite");
}
static void leave(void) { tool_leave(folder); }
TestSuite(shell, .init = enter, .fini = leave, .timeout = 120);

#define PROMPT "heapdex> "
#define SHELL  "\"$H\" sql app.hprof.gz"

/* Writes a line and waits until the shell asks for another. */
static void write_line(terminal *t, const char *text)
{
    const size_t before = t->len;
    char         line[1024];
    (void)snprintf(line, sizeof line, "%s\n", text);
    terminal_press(t, line);
    while (t->len < before + 1 || strstr(t->shown + before, PROMPT) == NULL)
        terminal_wait_more(t);
    terminal_drop_progress(t, before);
}

static terminal *begin(const char *script)
{
    terminal *t = terminal_start(80, script);
    terminal_wait(t, PROMPT);
    return t;
}

static int end(terminal *t)
{
    terminal_press(t, "\x04");
    return terminal_end(t);
}

Test(shell, asks_again_after_an_empty_line)
{
    terminal *t = begin(SHELL);
    write_line(t, "");
    write_line(t, "   ");
    write_line(t, "SELECT 40 + 2 AS n;");
    cr_expect(strstr(t->shown, "42") != NULL, "%s", t->shown);
    cr_expect(eq(int, end(t), 0));
    free(t);
}

/* What is written for programs is whole, unless somebody said how many rows. */
Test(shell, shows_all_rows_of_csv_and_as_many_as_was_said)
{
    terminal *t = begin(SHELL);
    write_line(t, ".mode csv");
    size_t before = t->len;
    write_line(t, "SELECT 'row' || id AS n FROM objects LIMIT 40;");
    unsigned rows = 0;
    for (const char *at = t->shown + before; (at = strstr(at, "\r\nrow")) != NULL; at++)
        rows++;
    cr_expect(eq(uint, rows, 40), "%s", t->shown + before);
    write_line(t, ".limit 3");
    before = t->len;
    write_line(t, "SELECT 'row' || id AS n FROM objects LIMIT 40;");
    rows = 0;
    for (const char *at = t->shown + before; (at = strstr(at, "\r\nrow")) != NULL; at++)
        rows++;
    cr_expect(eq(uint, rows, 3), "%s", t->shown + before);
    cr_expect(eq(int, end(t), 0));
    free(t);
}

Test(shell, greets_and_leaves_with_the_key_that_ends_input)
{
    terminal *t = begin(SHELL);
    cr_expect(strstr(t->shown, "SQL over app.hprof.gz\r\n23,875 live objects of 632 classes\r\n") != NULL, "%s",
              t->shown);
    cr_expect(strstr(t->shown, ".help") != NULL, "%s", t->shown);
    cr_expect(eq(int, end(t), 0));
    cr_expect(le(uint, longest_line(t->shown), 80), "%s", t->shown);
    free(t);
}

Test(shell, answers_statements_of_several_lines_when_they_are_whole)
{
    terminal *t = begin(SHELL);
    terminal_press(t, "SELECT 40 +\n");
    terminal_wait(t, "    ...> ");
    write_line(t, "2 AS sum; SELECT 'a;b' AS text;");
    cr_expect(strstr(t->shown, "sum\r\n42 \r\n") != NULL || strstr(t->shown, "sum\r\n42\r\n") != NULL, "%s", t->shown);
    cr_expect(strstr(t->shown, "text\r\na;b") != NULL, "%s", t->shown);
    cr_expect(eq(int, end(t), 0));
    free(t);
}

/* A semicolon ends a statement where it is no part of a text, a name or a comment. */
Test(shell, tells_semicolons_that_end_a_statement_from_others)
{
    terminal *t = begin(SHELL);
    terminal_press(t, "SELECT 'one;\n");
    terminal_press(t, "two''; -- three;\n");
    terminal_press(t, "' AS \"a;\n");
    terminal_press(t, "b\", /* four;\n");
    terminal_press(t, "' */ [c;d] FROM (SELECT 6 * 7 AS \"c;d\") -- five;\n");
    write_line(t, "; -- six");
    cr_expect(strstr(t->shown, "two'; -- three;") != NULL && strstr(t->shown, "42") != NULL, "%s", t->shown);
    write_line(t, "SELECT 1 + 1; SELECT 2000 + 26; /* ; */");
    cr_expect(strstr(t->shown, "2026") != NULL, "%s", t->shown);
    cr_expect(eq(int, end(t), 0));
    free(t);
}

Test(shell, ends_the_preparation_of_a_statement_with_the_key_that_interrupts)
{
    terminal *t = begin(SHELL);
    terminal_press(t, "WITH t0 AS (SELECT 1 x)\n");
    for (unsigned i = 0; i < 40; i++) {
        char line[80];
        (void)snprintf(line, sizeof line, ", t%u AS (SELECT a.x FROM t%u a, t%u b)\n", i + 1, i, i);
        terminal_press(t, line);
    }
    terminal_press(t, "SELECT count(*) AS begun FROM t40;\n");
    terminal_wait(t, "AS begun FROM t40;");
    /* It prepares the statement when it has used that much time of a processor, and would do so for hours. */
    const unsigned long before = process_cpu_ticks(t->child), ticks = (unsigned long)sysconf(_SC_CLK_TCK) / 5;
    for (unsigned naps = 0; process_cpu_ticks(t->child) < before + ticks;)
        wait_nap(&naps, "the statement is prepared");
    terminal_press(t, "\x03");
    terminal_wait(t, "heapdex: interrupted\r\n" PROMPT);
    write_line(t, "SELECT 40 + 2 AS n;");
    cr_expect(strstr(t->shown, "n\r\n42") != NULL, "%s", t->shown);
    cr_expect(eq(int, end(t), 0));
    free(t);
}

Test(shell, shows_25_rows_and_counts_the_others)
{
    terminal *t = begin(SHELL);
    write_line(t, "SELECT id FROM objects ORDER BY id;");
    cr_expect(strstr(t->shown, "24\r\n\u2026 23,850 more rows (.limit 0 shows all)\r\n") != NULL, "%s", t->shown);
    write_line(t, ".limit 2");
    write_line(t, "SELECT id FROM objects WHERE id < 5;");
    cr_expect(strstr(t->shown, "0 \r\n1 \r\n\u2026 3 more rows") != NULL ||
                  strstr(t->shown, "0\r\n1\r\n\u2026 3 more rows") != NULL,
              "%s", t->shown);
    cr_expect(eq(int, end(t), 0));
    free(t);
}

Test(shell, goes_on_after_what_is_wrong)
{
    terminal *t = begin(SHELL);
    write_line(t, "SELECT nosuch FROM objects;");
    cr_expect(strstr(t->shown, "heapdex: no such column: nosuch\r\n  SELECT nosuch FROM objects;\r\n         ^\r\n") !=
                  NULL,
              "%s", t->shown);
    write_line(t, ".limt 3");
    cr_expect(strstr(t->shown, "heapdex: unknown command .limt\r\nhint: did you mean .limit?") != NULL, "%s", t->shown);
    write_line(t, ".mode xml");
    cr_expect(strstr(t->shown, "heapdex: .mode 'xml': expected table, json, jsonl, csv or tsv") != NULL, "%s",
              t->shown);
    write_line(t, ".schema nosuch");
    cr_expect(strstr(t->shown, "heapdex: no such table: nosuch") != NULL, "%s", t->shown);
    write_line(t, ".output /nowhere/at/all");
    write_line(t, "SELECT 1 + 1 AS two;");
    cr_expect(strstr(t->shown, "two\r\n2") != NULL, "%s", t->shown);
    cr_expect(eq(int, end(t), 0));
    free(t);
}

Test(shell, ends_a_statement_and_not_itself_with_the_key_that_interrupts)
{
    terminal *t = begin("\"$H\" sql app.hprof.gz --progress always");
    terminal_press(t, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;\n");
    terminal_wait(t, "1/1 statement");
    const size_t before = t->len;
    terminal_press(t, "\x03");
    terminal_wait(t, "heapdex: interrupted\r\n" PROMPT);
    write_line(t, "SELECT 6 * 7 AS answer;");
    cr_expect(strstr(t->shown + before, "answer\r\n42") != NULL, "%s", t->shown + before);
    terminal_press(t, "SELECT (\n");
    terminal_wait(t, "    ...> ");
    const size_t second = t->len;
    terminal_press(t, "\x03");
    while (strstr(t->shown + second, PROMPT) == NULL)
        terminal_wait_more(t);
    write_line(t, "SELECT 6 * 8 AS answer;");
    cr_expect(strstr(t->shown + second, "answer\r\n48") != NULL, "%s", t->shown + second);
    cr_expect(eq(int, end(t), 0));
    free(t);
}

Test(shell, has_lines_of_its_own)
{
    terminal *t = begin(SHELL);
    write_line(t, ".help");
    static const char *const lines[] = {
        ".help", ".tables", ".schema", ".mode", ".limit", ".output", ".timer", ".quit"
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(t->shown, lines[i]) != NULL, "%s", lines[i]);
    write_line(t, ".tables");
    cr_expect(strstr(t->shown, "objects") != NULL, "%s", t->shown);
    write_line(t, ".schema objects");
    cr_expect(strstr(t->shown, "\r\n  retained                size\r\n") != NULL, "%s", t->shown);
    cr_expect(strstr(t->shown, "\r\n  instanceof              text (not in *)\r\n") != NULL, "%s", t->shown);
    write_line(t, ".timer on");
    write_line(t, "SELECT 1;");
    cr_expect(strstr(t->shown, " s of CPU\r\n") != NULL, "%s", t->shown);
    write_line(t, ".mode csv");
    write_line(t, ".timer off");
    write_line(t, ".output rows.csv");
    write_line(t, "SELECT 1 AS a, 'x,y' AS b;");
    write_line(t, "SELECT 2 AS c;");
    write_line(t, ".output");
    write_line(t, "SELECT 3 AS d;");
    char *file = tool_read("rows.csv");
    cr_assert(file != NULL);
    cr_expect_str_eq(file, "a,b\n1,\"x,y\"\n\nc\n2\n");
    cr_expect(strstr(t->shown, "d\r\n3\r\n") != NULL, "%s", t->shown);
    free(file);
    terminal_press(t, ".quit\n");
    cr_expect(eq(int, terminal_end(t), 0));
    cr_expect(le(uint, longest_line(t->shown), 80), "%s", t->shown);
    free(t);
}

/* What the line shows, without the line itself. */
static void expect_shows(terminal *t, const char *line, const char *shown)
{
    const size_t before = t->len;
    write_line(t, line);
    const char *from = strstr(t->shown + before, "\r\n");
    cr_assert(from != NULL, "%s", t->shown + before);
    from += 2;
    const char *end = strstr(from, PROMPT);
    cr_expect(end - from == (ptrdiff_t)strlen(shown) && memcmp(from, shown, strlen(shown)) == 0, "%s\n%s", line, from);
}

Test(shell, lists_and_describes_tables_of_classes_and_those_whose_name_is_a_word_of_SQL)
{
    terminal *t = begin(SHELL " --attach b=app.hprof.gz");
    expect_shows(t, ".tables java.util.Ab*",
                 "\"java.util.AbstractCollection\"  \"java.util.AbstractMap$1\"\r\n"
                 "\"java.util.AbstractList\"        \"java.util.AbstractMap$1$1\"\r\n"
                 "\"java.util.AbstractMap\"         \"java.util.AbstractSet\"\r\n");
    expect_shows(t, ".tables  c*  ; ;", "\"check\"      classes      cleaners     collections\r\n\"char[]\"\r\n");
    expect_shows(t, ".tables nothing*", "");
    expect_shows(t, ".tables /x(/", "heapdex: regular expression \"x(\": missing closing parenthesis at byte 2\r\n");
    static const char        node[] = "  this                    integer\r\n"
                                      "  class                   text\r\n"
                                      "  next                    integer\r\n"
                                      "  value                   integer\r\n"
                                      "  key                     integer\r\n"
                                      "  hash                    integer\r\n"
                                      "  \"@address\"              address (not in *)\r\n"
                                      "  \"@shallow\"              size (not in *)\r\n"
                                      "  \"@retained\"             size (not in *)\r\n"
                                      "  \"@live\"                 integer (not in *)\r\n";
    static const char *const lines[][2] = {
        { ".schema \"java.util.HashMap$Node\"", "\"java.util.HashMap$Node\"\r\n" },
        { ".schema java.util.HashMap$Node", "\"java.util.HashMap$Node\"\r\n" },
        { ".schema b.\"java.util.HashMap$Node\"", "b.\"java.util.HashMap$Node\"\r\n" },
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char shown[1024];
        (void)snprintf(shown, sizeof shown, "%s%s", lines[i][1], node);
        expect_shows(t, lines[i][0], shown);
    }
    expect_shows(t, ".schema b.named_refs",
                 "b.named_refs\r\n"
                 "  src                     integer\r\n"
                 "  dst                     integer\r\n"
                 "  name                    text\r\n"
                 "  kind                    text\r\n"
                 "  owner                   integer\r\n");
    const size_t before = t->len;
    write_line(t, ".schema");
    cr_expect(strstr(t->shown + before, "heapdex:") == NULL, "%s", t->shown + before);
    cr_expect(strstr(t->shown + before, "\r\n\"check\"\r\n  rule                    text\r\n") != NULL, "%s",
              t->shown + before);
    cr_expect(strstr(t->shown + before, "\r\n  \"by\"                    (not in *)\r\n") != NULL, "%s",
              t->shown + before);
    cr_expect(strstr(t->shown + before, "\r\nb.") == NULL, "%s", t->shown + before); /* those of the heap alone */
    cr_expect(eq(int, end(t), 0));
    free(t);
}

Test(shell, says_what_a_line_with_a_dot_takes)
{
    terminal *t = begin(SHELL);
    expect_shows(t, ".nix", "heapdex: unknown command .nix\r\nhint: .help lists the commands\r\n");
    expect_shows(t, ".help all", "heapdex: .help takes no argument\r\n");
    expect_shows(t, ".quit now", "heapdex: .quit takes no argument\r\n");
    expect_shows(t, ".limit", "heapdex: .limit '': expected a number; 0 shows all\r\n");
    expect_shows(t, ".limit 5x", "heapdex: .limit '5x': expected a number; 0 shows all\r\n");
    expect_shows(t, ".limit /1", "heapdex: .limit '/1': expected a number; 0 shows all\r\n");
    expect_shows(t, ".limit :1", "heapdex: .limit ':1': expected a number; 0 shows all\r\n");
    expect_shows(t, ".limit -1", "heapdex: .limit '-1': expected a number; 0 shows all\r\n");
    expect_shows(t, ".timer maybe", "heapdex: .timer on, or .timer off\r\n");
    expect_shows(t, ".timer", "heapdex: .timer on, or .timer off\r\n");
    expect_shows(t, "  ", "");
    expect_shows(t, ".limit 0", "");
    expect_shows(t, ".mode csv", "");
    expect_shows(t, "SELECT 1 AS a;; SELECT 2 AS b;", "a\r\n1\r\nb\r\n2\r\n");
    expect_shows(t, ".limit 9;", "");
    expect_shows(t, "VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);",
                 "column1\r\n0\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n");
    const size_t before = t->len;
    write_line(t, "help");
    cr_expect(strstr(t->shown + before, "\r\n  .help               this\r\n  .tables  [PATTERN]  list tables; a") !=
                  NULL,
              "%s", t->shown + before);
    terminal_press(t, "quit\n");
    cr_expect(eq(int, terminal_end(t), 0));
    free(t);
    static const char *const leave[] = { "exit\n", ".exit\n", ".quit ;\n" };
    for (size_t i = 0; i < sizeof leave / sizeof *leave; i++) {
        t = begin(SHELL);
        terminal_press(t, leave[i]);
        cr_expect(eq(int, terminal_end(t), 0), "%s", leave[i]);
        free(t);
    }
}

Test(shell, keeps_a_file_that_output_names_when_it_is_left)
{
    terminal *t = begin(SHELL " --format csv");
    write_line(t, ".output rows.csv");
    write_line(t, "SELECT 5 AS five;");
    cr_expect(access("rows.csv", F_OK) != 0);
    cr_expect(eq(int, end(t), 0));
    char *file = tool_read("rows.csv");
    cr_assert(file != NULL);
    cr_expect_str_eq(file, "five\n5\n");
    free(file);
    free(t);
}

/* ---- where libedit was there ---- */

static bool edits(void)
{
    ran        r = tool_sh("ldd \"$H\" | grep libedit");
    const bool yes = r.code == 0;
    ran_free(&r);
    return yes;
}

Test(shell, completes_words_tables_columns_functions_and_classes)
{
    static const char *const cases[][2] = {
        { "sel\t", "select " },
        { "SEL\t", "SELECT " },
        { "SELECT * FROM named_\t", "SELECT * FROM named_refs " },
        { "SELECT * FROM objects WHERE posit\t", "SELECT * FROM objects WHERE position " },
        { "SELECT 1 FROM objects o WHERE o.ret\t", "SELECT 1 FROM objects o WHERE o.retained " },
        { "SELECT 1 FROM objects AS o WHERE o.dom\t", "SELECT 1 FROM objects AS o WHERE o.dominator " },
        { "SELECT 1 FROM b.named_\t", "SELECT 1 FROM b.named_refs " },
        { "SELECT heapdex_ver\t", "SELECT heapdex_version(" },
        { "SELECT 1 FROM objects WHERE class = 'java.lang.ThreadD\t",
          "SELECT 1 FROM objects WHERE class = 'java.lang.ThreadDeath'" },
        { ".tim\t", ".timer " },
        { ".timer of\t", ".timer off " },
        { ".mode js\t", ".mode json" },
        { ".schema named_\t", ".schema named_refs " },
        { ".schema \"java.lang.ThreadD\t", ".schema \"java.lang.ThreadDeath\"" },
        { "SELECT 1 FROM che\t", "SELECT 1 FROM \"check\"" }, /* a word of SQL */
        { "SELECT 1 FROM b.che\t", "SELECT 1 FROM b.\"check\"" },
        { "SELECT 1 FROM main.named_\t", "SELECT 1 FROM main.named_refs " },
        { "SELECT 1 FROM big\t", "SELECT 1 FROM biggest_arrays " },
        { "SELECT 1 FROM b.objects o WHERE o.ret\t", "SELECT 1 FROM b.objects o WHERE o.retained " },
        { "SELECT objects.ret\t", "SELECT objects.retained " }, /* before FROM */
        { "SELECT ret\t", "SELECT retained" },
        { "SELECT 1 FROM objects JOIN classes AS c ON c.loa\t",
          "SELECT 1 FROM objects JOIN classes AS c ON c.loader " },
        { "SELECT 1 FROM classes WHERE class_sh\t", "SELECT 1 FROM classes WHERE class_shallow " },
        { "UPDATE named_\t", "UPDATE named_refs " },
        { "INSERT INTO named_\t", "INSERT INTO named_refs " },
        { "SELECT 1 FROM \"java.lang.ThreadD\t", "SELECT 1 FROM \"java.lang.ThreadDeath\"" },
        { "SELECT 1 FROM b.\"java.lang.ThreadD\t", "SELECT 1 FROM b.\"java.lang.ThreadDeath\"" },
        { "SELECT 1 FROM \"inst\t", "SELECT 1 FROM \"instanceof " },
        { "SELECT 1 FROM \"instanceof java.util.AbstractMa\t", "SELECT 1 FROM \"instanceof java.util.AbstractMap" },
        { "SELECT 1 FROM \"java.util.HashMap$Node\" n WHERE n.has\t",
          "SELECT 1 FROM \"java.util.HashMap$Node\" n WHERE n.hash " },
        { "SELECT 'it''s', ret\t", "SELECT 'it''s', retained" },
        { "SELECT 1 - ret\t", "SELECT 1 - retained" },
        { "SELECT 1 FROM objects WHERE class = 'inst\tX", "SELECT 1 FROM objects WHERE class = 'instX" },
        { "SELECT nosuch.ret\tX", "SELECT nosuch.retX" },
        { "SELECT 1 FROM temp.\tX", "SELECT 1 FROM temp.X" },
        { ".limit \tX", ".limit X" },
        { "sElect coun\t", "sElect count(" },
    };
    if (!edits())
        tool_skip(folder, "heapdex was built without libedit");
    terminal *t = begin(SHELL " --attach b=app.hprof.gz");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t before = t->len;
        terminal_press(t, cases[i][0]);
        while (strstr(t->shown + before, cases[i][1]) == NULL)
            terminal_wait_more(t);
        const size_t shown = t->len;
        terminal_press(t, "\x03");
        while (strstr(t->shown + shown, PROMPT) == NULL)
            terminal_wait_more(t);
    }
    cr_expect(eq(int, end(t), 0));
    free(t);
}

Test(shell, shows_the_choice_where_there_is_one)
{
    if (!edits())
        tool_skip(folder, "heapdex was built without libedit");
    terminal *t = begin(SHELL);
    terminal_press(t, ".mode \t");
    terminal_wait(t, "csv    json   jsonl  table  tsv");
    terminal_press(t, "\x03");
    terminal_wait(t, "^C\r\n" PROMPT);
    cr_expect(eq(int, end(t), 0));
    free(t);
}

Test(shell, remembers_statements_of_the_last_time)
{
    if (!edits())
        tool_skip(folder, "heapdex was built without libedit");
    terminal *t = begin(SHELL);
    write_line(t, "SELECT 40 + 2 AS before;");
    cr_expect(eq(int, end(t), 0));
    free(t);
    struct stat there;
    cr_assert(stat("heapdex/sql_history", &there) == 0);
    cr_expect(eq(int, (int)(there.st_mode & 0777), 0600));
    t = begin(SHELL);
    const size_t before = t->len;
    terminal_press(t, "\x10\n"); /* Ctrl-P: the line before */
    while (strstr(t->shown + before, "42") == NULL || strstr(strstr(t->shown + before, "42"), PROMPT) == NULL)
        terminal_wait_more(t);
    cr_expect(eq(int, end(t), 0));
    free(t);
}

/* ---- no shell ---- */

Test(shell, is_none_where_no_terminal_is_there_to_write_on)
{
    ran r = tool_sh("echo 'SELECT 1 AS a;' | \"$H\" sql app.hprof.gz --format csv");
    cr_expect_str_eq(r.out, "a\n1\n", "%s", r.err);
    ran_free(&r);
}
