/* An answer without rows says why, and what to ask instead. */
#include "cli/tool.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
}
static void leave(void) { tool_leave(folder); }
TestSuite(empty, .init = enter, .fini = leave);

/* The answer has no row, and ends with that line; $A is an object that the shell command gave. */
static void expect_reason(const char *find, const char *words, const char *reason)
{
    char line[240];
    ran  r = tool_sh("A=$(%s); [ -n \"$A\" ] || exit 9; \"$H\" %s", find, words);
    (void)snprintf(line, sizeof line, "(%s)\n", reason);
    const size_t len = strlen(r.out), wanted = strlen(line);
    cr_expect(r.code == 0 && len >= wanted && strcmp(r.out + len - wanted, line) == 0, "%s: %d %s%s", words, r.code,
              r.out, r.err);
    ran_free(&r);
}

static void expect(const char *words, const char *reason) { expect_reason("echo -", words, reason); }

/* Of the table `objects` that first row. */
#define OBJECT(conditions)                                                                                             \
    "\"$H\" export app.hprof.gz --table objects --reachable all --limit 1 --columns address " conditions " | tail -n " \
    "1"

Test(empty, referrers_that_no_root_reaches_are_counted)
{
    expect_reason(OBJECT("--where 'reachable = 0' --where 'inbound = 1'"), "refs app.hprof.gz $A --in",
                  "1 unreachable referrer not shown; use --reachable all");
    expect_reason(OBJECT("--where 'reachable = 0' --where 'inbound = 1'"), "refs app.hprof.gz $A --in --by class",
                  "1 unreachable referrer not shown; use --reachable all");
    expect_reason(OBJECT("--where 'reachable = 0' --where 'inbound = 0'"), "refs app.hprof.gz $A --in",
                  "no object refers to it");
    expect_reason(OBJECT("--where 'reachable = 1' --where 'inbound = 0'"), "refs app.hprof.gz $A --in",
                  "no object refers to it; it is a GC root");
    expect_reason(OBJECT("--where 'reachable = 1' --where 'inbound = 2'"),
                  "refs app.hprof.gz $A --in --reachable garbage",
                  "2 reachable referrers not shown; use --reachable all");
}

Test(empty, conditions_say_how_many_rows_they_leave_out)
{
    expect("roots app.hprof.gz --by type --where 'type = NOTHING'", "the condition excludes all 5 rows");
    expect("dominators app.hprof.gz --where 'retained > 900G'", "the condition excludes all 5685 rows");
    expect("threads app.hprof.gz --where 'name = nobody'", "the condition excludes all 8 rows");
    expect("threads app.hprof.gz --where 'name = nobody' --sort name --limit 2 --columns address",
           "the condition excludes all 8 rows");
    expect("threads app.hprof.gz --where 'name != main' --where 'name = main'", "the conditions exclude all 8 rows");
    expect("object app.hprof.gz thread:main --where 'class = x'", "the condition excludes the only row");
}

Test(empty, a_jvm_dump_has_one_heap)
{
    expect("histogram app.hprof.gz --by heap", "a JVM dump has one heap");
    expect("histogram app.hprof.gz --by heap --reachable all --class 'byte[]'", "a JVM dump has one heap");
}

#define GARBAGE_CLASS                                                                                                  \
    "\"$H\" export app.hprof.gz --table classes --reachable all --where 'reachable_instances = 0' "                    \
    "--where 'instances = 1' --limit 1 --columns name | tail -n 1"

Test(empty, unreachable_instances_are_counted)
{
    expect_reason(GARBAGE_CLASS, "objects app.hprof.gz --class \"$A\"",
                  "1 unreachable instance not shown; use --reachable all");
    expect_reason(GARBAGE_CLASS, "histogram app.hprof.gz --class \"$A\"",
                  "1 unreachable object not shown; use --reachable all");
    expect_reason(GARBAGE_CLASS, "retained app.hprof.gz --class \"$A\"",
                  "no instance is reachable; --subclasses includes instances of subclasses");
    expect("objects app.hprof.gz --class java.lang.Number",
           "the class has no instances; --subclasses includes instances of subclasses");
    expect("objects app.hprof.gz --class bookshop.Bookshop --reachable garbage",
           "1 live instance not shown; use --reachable all");
    expect("histogram app.hprof.gz --class bookshop.Bookshop --reachable garbage",
           "1 reachable object not shown; use --reachable all");
}

Test(empty, a_leaf_dominates_nothing)
{
    expect_reason(OBJECT("--where 'reachable = 1' --where 'class = byte[]'"), "dominators app.hprof.gz $A",
                  "it dominates no object");
    expect_reason(OBJECT("--where 'reachable = 1' --where 'class = byte[]'"), "dominators app.hprof.gz $A --by class",
                  "it dominates no object");
    expect_reason(OBJECT("--where 'reachable = 0'"), "dominators app.hprof.gz $A",
                  "it is unreachable and therefore dominates no object");
}

Test(empty, what_no_root_reaches_retains_nothing_and_has_no_path)
{
    expect_reason(OBJECT("--where 'reachable = 0'"), "retained app.hprof.gz $A",
                  "it is unreachable, so nothing more would be freed");
    expect_reason(OBJECT("--where 'reachable = 0' --where 'class = byte[]'"), "path app.hprof.gz $A",
                  "no GC root reaches it");
    expect_reason(OBJECT("--where 'reachable = 0' --where 'class = byte[]'"),
                  "path app.hprof.gz $A --merge --exclude weak",
                  "no GC root reaches it without the excluded references");
    expect_reason(OBJECT("--where 'reachable = 0' --where 'class = java.lang.Class$ReflectionData'"),
                  "path app.hprof.gz $A",
                  "no GC root reaches it; most likely a class object holds it, through a field of java.lang.Class "
                  "that HotSpot omits from dumps");
}

Test(empty, machine_formats_hold_no_reason)
{
    static const char *const formats[] = { "csv", "tsv", "jsonl", "json" };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        ran r = tool_sh("\"$H\" histogram app.hprof.gz --by heap --format %s", formats[i]);
        cr_expect(r.code == 0 && strstr(r.out, "one heap") == NULL, "%s", r.out);
        ran_free(&r);
    }
}
