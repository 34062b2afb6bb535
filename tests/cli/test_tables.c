/* test_tables.c - tables for other programs: Parquet files, and several tables as files of one folder. */
#include "cli/tool.h"
#include "cli/cli.h"

#include <sys/stat.h>

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
}
static void leave(void) { tool_leave(folder); }
TestSuite(tables, .init = enter, .fini = leave);

static void expect(int code, const char *out, const char *words)
{
    ran r = tool_sh("%s", words);
    cr_expect(r.code == code && strcmp(r.out, out) == 0, "%s: %d %s%s", words, r.code, r.out, r.err);
    ran_free(&r);
}

Test(tables, of_a_list_are_files_of_a_folder_that_is_made)
{
    expect(0, "", "\"$H\" export app.hprof.gz --table roots,classes,threads -o out");
    expect(0, "classes.csv\nroots.csv\nthreads.csv\n", "ls out");
    expect(0, "", "\"$H\" export app.hprof.gz --table roots -o alone.csv && cmp alone.csv out/roots.csv");
    expect(0, "", "\"$H\" export app.hprof.gz --table threads,roots --format jsonl --limit 1 -o out");
    expect(0, "1 out/threads.jsonl\n", "wc -l out/threads.jsonl");
}

Test(tables, are_as_private_as_the_dump)
{
    cr_assert(chmod("app.hprof.gz", 0600) == 0);
    expect(0, "600\n",
           "umask 022; \"$H\" export app.hprof.gz --table roots,classes --format parquet -o out && "
           "stat -c %a out/roots.parquet");
}

Test(tables, are_whole_or_not_there)
{
    expect(2, "threads.csv\n", /* classes have no daemon */
           "\"$H\" export app.hprof.gz --table threads,classes --columns name,daemon -o out; code=$?; ls out; "
           "exit $code");
    tool_write("file", "x", 1);
    expect(2, "", "\"$H\" export app.hprof.gz --table threads,classes -o file");
    expect(7, "", "\"$H\" export app.hprof.gz --table threads,classes -o no/such/folder");
}

Test(tables, in_parquet_are_the_same_bytes_whatever_the_dump_is_called_and_whether_its_index_was_there)
{
    expect(0, "PAR1",
           "\"$H\" export app.hprof.gz --table objects --format parquet -o a.parquet && head -c 4 a.parquet");
    expect(0, "",
           "cp app.hprof.gz other.hprof.gz; \"$H\" export other.hprof.gz --table objects --format parquet "
           "--threads 2 > b.parquet && cmp a.parquet b.parquet");
    expect(0, "",
           "\"$H\" histogram other.hprof.gz --format parquet -o h.parquet && tail -c 4 h.parquet | grep -q PAR1");
}

Test(tables, in_parquet_that_fail_leave_no_file)
{
    expect(4, "", "\"$H\" object app.hprof.gz 0x1 --format parquet -o a.parquet");
    expect(2, "", "\"$H\" histogram app.hprof.gz --columns nothing --format parquet -o a.parquet");
    expect(6, "",
           "\"$H\" info app.hprof.gz -o /dev/null; "
           "\"$H\" export app.hprof.gz --table objects --memory 600K --format parquet -o a.parquet");
    expect(7, "", "\"$H\" export app.hprof.gz --table objects --format parquet > /dev/full");
    expect(1, "", "ls | grep parquet");
}

#ifdef HDX_SQLITE
Test(tables, in_sqlite_are_one_file_that_is_as_private_as_the_dump)
{
    cr_assert(chmod("app.hprof.gz", 0600) == 0);
    expect(0, "SQLite format 3\n600\n",
           "umask 022; \"$H\" export app.hprof.gz --table roots,classes,threads --format sqlite -o a.db && "
           "head -c 15 a.db && echo && stat -c %a a.db");
    expect(0, "a.db\napp.hprof.gz\napp.hprof.gz.hdx\n", "ls");
    expect(0, "",
           "chmod 644 app.hprof.gz; cp app.hprof.gz other.hprof.gz; "
           "\"$H\" export other.hprof.gz --table roots,classes,threads --format sqlite -o b.db && cmp a.db b.db");
    expect(0, "",
           "\"$H\" export app.hprof.gz --table roots,classes,threads --limit 2 --format sqlite -o a.db && "
           "test $(stat -c %s a.db) -lt $(stat -c %s b.db)");
}

Test(tables, in_sqlite_that_fail_leave_the_file_that_was_there)
{
    tool_write("a.db", "old", 3);
    expect(2, "", "\"$H\" export app.hprof.gz --table threads,classes --columns name,daemon --format sqlite -o a.db");
    expect(2, "", "\"$H\" export app.hprof.gz --table threads,threads --format sqlite -o a.db");
    expect(6, "", "\"$H\" export app.hprof.gz --table objects --memory 64K --format sqlite -o a.db");
    expect(7, "", "\"$H\" export app.hprof.gz --table objects --format sqlite -o no/such/a.db");
    expect(7, "", "ulimit -f 100; trap '' XFSZ; \"$H\" export app.hprof.gz --table objects --format sqlite -o a.db");
    expect(2, "", "\"$H\" export app.hprof.gz --table objects --format sqlite -o /dev/null");
    expect(0, "olda.db\n", "cat a.db; ls | grep a.db");
}
#endif
