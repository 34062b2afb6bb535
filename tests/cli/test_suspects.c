/* The page of suspects: sentences in lines, what accumulates, the path; and when there is a table instead. */
#include "cli/tool.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
}
static void leave(void) { tool_leave(folder); }
TestSuite(suspects, .init = enter, .fini = leave);

static void expect(const char *command, int code, const char *want)
{
    ran r = tool_sh("%s", command);
    cr_expect(eq(int, r.code, code), "%s: %s", command, r.err);
    cr_expect_str_eq(r.out, want, "%s", command);
    ran_free(&r);
}

Test(suspects, are_a_page_with_the_path_that_holds_each)
{
    expect("\"$H\" suspects app.hprof.gz", 0,
           "Suspect 1: 1.9 MB, 70.5%\n"
           "  one HashMap in the field sessions of one bookshop.Bookshop$SessionCache in the\n"
           "  static bookshop.Bookshop.SESSIONS retains 1.9 MB (70%), 270 entries of\n"
           "  bookshop.Bookshop$Session, held by thread \"clerk\"; look at\n"
           "  bookshop.Bookshop.lambda$main$0 (Bookshop.java:120)\n"
           "  accumulates: 1.9 MB in 213 java.util.HashMap$Node\n"
           "\n"
           "GC root: thread\n"
           "     224 B  Thread \"clerk\" <Java Local>               0xfed5a340\n"
           "            in bookshop.Bookshop.lambda$main$0 (Bookshop.java:120)\n"
           "      16 B  bookshop.Bookshop$Desk .visitors          0xfed5d9e0\n"
           "    1.9 MB  bookshop.Bookshop$SessionCache .sessions  0xfeb18ea8\n"
           "    1.9 MB  java.util.HashMap .table                  0xfeb18f28\n"
           "    1.9 MB  java.util.HashMap$Node[]                  0xfecd0878\n");
}

Test(suspects, that_a_limit_leaves_out_are_told_of)
{
    ran r = tool_sh("\"$H\" suspects app.hprof.gz --threshold 2 --limit 2 | sed -n '/^Suspect/p; $p'");
    cr_expect_str_eq(r.out, "Suspect 1: 1.9 MB, 70.5%\nSuspect 2: 166.1 KB, 6.1%\n(more suspects)\n");
    ran_free(&r);
}

Test(suspects, that_are_none_leave_a_word)
{
    expect("\"$H\" suspects app.hprof.gz --threshold 71", 0,
           "(no object, alone or together with its class, retains more than 71% of the live bytes)\n");
    expect("\"$H\" suspects app.hprof.gz --threshold 71 --format jsonl", 0, "");
}

Test(suspects, are_a_table_where_its_rows_are_shaped)
{
    expect("\"$H\" suspects app.hprof.gz --threshold 2 --columns suspect,kind,class,bytes --where 'objects > 700'", 0,
           "suspect  kind   class                       bytes\n"
           "3        group  java.lang.String         151.9 KB\n"
           "4        group  bookshop.Bookshop$Order   91.4 KB\n");
    expect("\"$H\" export app.hprof.gz --table suspects --format csv --columns suspect,object,accumulation_point", 0,
           "suspect,object,accumulation_point\n1,0xfeb18ea8,0xfecd0878\n");
}

Test(suspects, have_thresholds_from_1_to_100)
{
    expect("\"$H\" suspects app.hprof.gz --threshold 0 2>/dev/null", 2, "");
    expect("\"$H\" suspects app.hprof.gz --drop 101 2>/dev/null", 2, "");
}

Test(suspects, have_narrow_pages_on_narrow_terminals)
{
    ran r =
        tool_sh("COLUMNS=30 \"$H\" suspects app.hprof.gz | sed -n '/GC root/q; p' | awk '{ print length }' | sort -n "
                "| tail -n 1");
    cr_expect(le(int, atoi(r.out), 30), "%s", r.out);
    cr_expect(gt(int, atoi(r.out), 20), "%s", r.out);
    ran_free(&r);
}
