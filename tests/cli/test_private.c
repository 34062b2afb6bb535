/* What is written out of a dump is as private as the dump: answers, JUnit files, stripped dumps, what leaks keeps. */
#include "cli/tool.h"

static char *folder;
static void  enter(void) { folder = tool_enter(); }
static void  leave(void) { tool_leave(folder); }
TestSuite(private, .init = enter, .fini = leave);

static void expect(const char *words, const char *out)
{
    ran r = tool_sh("%s", words);
    cr_expect(eq(int, r.code, 0), "%s: %s", words, r.err);
    cr_expect(eq(str, r.out, (char *)(uintptr_t)out), "%s", words);
    ran_free(&r);
}

Test(private, answers_in_files_are_as_the_dump)
{
    tool_copy_bookshop("app.hprof");
    expect("umask 0; chmod 640 app.hprof; \"$H\" histogram app.hprof -o rows.csv --format csv; stat -c %a rows.csv",
           "640\n");
    expect("umask 077; \"$H\" histogram app.hprof -o rows.csv --format csv; stat -c %a rows.csv", "600\n");
    expect("umask 022; chmod 644 app.hprof; rm rows.csv; \"$H\" histogram app.hprof -o rows.csv --format csv; stat -c "
           "%a rows.csv",
           "644\n");
    expect("chmod 604 rows.csv; \"$H\" histogram app.hprof -o rows.csv --format csv; stat -c %a rows.csv",
           "604\n"); /* not wider than it was */
    expect("chmod 600 app.hprof; chmod 666 rows.csv; \"$H\" histogram app.hprof -o rows.csv --format csv; stat -c %a "
           "rows.csv",
           "600\n");
    expect("stat -c %a app.hprof.hdx app.hprof.hdx/class.hdx", "700\n600\n"); /* closed with the dump */
    expect("umask 0; rm rows.csv; chmod -R g+r app.hprof.hdx; \"$H\" histogram app.hprof.hdx -o rows.csv --format csv; "
           "stat -c %a rows.csv",
           "640\n");
    expect("umask 0; \"$H\" --help -o help.txt >help.txt; stat -c %a help.txt", "666\n");
}

Test(private, answers_about_several_dumps_are_as_all_of_them)
{
    tool_copy_bookshop("a.hprof");
    tool_copy_bookshop("b.hprof");
    expect("umask 0; chmod 644 a.hprof; chmod 640 b.hprof; \"$H\" leaks a.hprof b.hprof --format json -o l.json "
           "--junit l.xml >out; stat -c %a l.json l.xml",
           "640\n640\n");
    expect("for i in a b; do stat -c %a $i.hprof.hdx/leaks-* | sort -u; done", "644\n640\n");
}

Test(private, stripped_dumps_are_as_the_dump)
{
    tool_copy_bookshop("app.hprof");
    expect("umask 0; chmod 600 app.hprof; \"$H\" strip app.hprof --policy koom -o small.hprof >out; stat -c %a "
           "small.hprof",
           "600\n");
    expect("umask 0; chmod 640 small.hprof; : >whole.hprof; \"$H\" restore small.hprof -o whole.hprof >out; stat -c %a "
           "whole.hprof",
           "640\n");
}
