/* test_run.c - whole batches of small dumps, with real processes: what is done, what is written, what is refused. */
#include "batch/three_dumps.h"
#include "base/own.h"

#include <fcntl.h>
#include <sys/statvfs.h>

TestSuite(batch, .init = enter, .fini = leave);

Test(batch, answers_for_each_dump_and_says_what_is_wrong_with_others)
{
    const hdx_batch_options o = usual_options();
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(2, 0, 1);
    expect_in("out/status/%s.json", id_of("text-"), "\"state\": \"failed\", \"exit_code\": 3, \"kind\": \"bad_dump\"");
    expect_in("out/status/%s.json", id_of("cut-"), "\"state\": \"done\"");
    expect_in("out/status/%s.json", id_of("cut-"), "\"damage_places\": 2");
    expect_in("out/status/%s.json", id_of("shop-"), "\"damage_places\": 0");
    expect_in("out/%s.json", "summary", "\"failed\": 1");
    expect_answer("d/shop.hprof.gz", "histogram", "out/answers/%s/histogram.json", id_of("shop-"));
    expect_answer("d/shop.hprof.gz", "suspects", "out/answers/%s/suspects.json", id_of("shop-"));
    expect_answer("d/cut.hprof.gz", "histogram", "out/answers/%s/histogram.json", id_of("cut-"));
    cr_expect(strstr(text.at, "a text file, not a heap dump") != NULL, "%s", text.at);
}

/* A runner that was killed between a status and its claim. */
Test(batch, clears_claims_of_what_is_done)
{
    static const char       left[] = "heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n";
    const hdx_batch_options o = usual_options();
    char                    path[200];
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    (void)snprintf(path, sizeof path, "out/claims/%s", id_of("shop-"));
    const struct timespec hour[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - 3600 } };
    save(path, left, sizeof left - 1);
    cr_assert(utimensat(AT_FDCWD, path, hour, 0) == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(access(path, F_OK) != 0);
}

/* A file that was last written to an hour ago. */
static void save_old(const char *path)
{
    const struct timespec hour[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - 3600 } };
    save(path, "x", 1);
    cr_assert(utimensat(AT_FDCWD, path, hour, 0) == 0);
}

Test(batch, clears_what_killed_ones_have_left_and_no_file_of_anybody_else)
{
    static const char *const others[] = { "out/movie.part", "out/.heapdex-lock-x.hdx", "out/summary.json.7.part" };
    static const char *const ours[] = { "out/summary.json", "out/status/a.json", "out/claims/.began" };
    char                     left[3][200];
    const hdx_batch_options  o = usual_options();
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        save_old(others[i]);
    for (size_t i = 0; i < 3; i++) {
        cr_assert(hdx_own_name(ours[i], left[i], sizeof left[i]));
        save_old(left[i]);
    }
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect(access(others[i], F_OK) == 0, "%s", others[i]);
    for (size_t i = 0; i < 3; i++)
        cr_expect(access(left[i], F_OK) != 0, "%s", left[i]);
}

Test(batch, does_again_only_what_has_changed)
{
    char                  path[200];
    hdx_batch_options     o = usual_options();
    const struct timespec later[2] = { { .tv_nsec = UTIME_NOW }, { .tv_sec = time(NULL) + 60 } };
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 2, 1);
    o.ask = "suspects"; /* is there */
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 2, 1);
    o.ask = "histogram,threads"; /* is not */
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(2, 0, 1);
    (void)snprintf(path, sizeof path, "out/answers/%s/threads.json", id_of("shop-"));
    cr_assert(unlink(path) == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 1, 1);
    cr_assert(utimensat(AT_FDCWD, "d/cut.hprof.gz", later, 0) == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 1, 1);
    cr_assert(system("rm -r d/shop.hprof.gz.hdx") == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 1, 1);
}

Test(batch, is_done_also_for_who_calls_from_another_folder)
{
    char              in[TEST_FOLDER + 8], out[TEST_FOLDER + 8], indexes[TEST_FOLDER + 8];
    const char *const input_there = in;
    hdx_batch_options o = usual_options();
    (void)snprintf(in, sizeof in, "%s/d", folder);
    (void)snprintf(out, sizeof out, "%s/out", folder);
    (void)snprintf(indexes, sizeof indexes, "%s/i", folder);
    o.index_dir = "i";
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_in("out/status/%s.json", id_of("shop-"), folder);
    cr_assert(mkdir("elsewhere", 0777) == 0 && chdir("elsewhere") == 0);
    o.inputs = &input_there;
    o.out = out;
    o.index_dir = indexes;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 2, 1);
}

Test(batch, does_anew_what_was_done_of_another_dump_under_the_same_id)
{
    static const char *const list = "list.csv";
    static const char *const manifests[] = { "dump,dump_id\nd/shop.hprof.gz,a\n", "dump,dump_id\nd/none.hprof,a\n",
                                             "dump,dump_id\nd/other.hprof.gz,a\n" };
    hdx_batch_options        o = usual_options();
    o.inputs = &list;
    o.index_dir = "i";
    for (int i = 0; i < 3; i++) {
        save(list, manifests[i], strlen(manifests[i]));
        cr_assert(i < 2 || rename("d/shop.hprof.gz", "d/other.hprof.gz") == 0);
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(i == 1 ? 0 : 1, 0, i == 1 ? 1 : 0);
    }
    save(list, manifests[0], strlen(manifests[0])); /* moved: it is not there, and what is done is the other one's */
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 0, 1);
}

Test(batch, plans_without_building_anything)
{
    hdx_batch_options o = usual_options();
    o.plan = true;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(strstr(text.at, ",planned,") != NULL, "%s", text.at);
    cr_expect(access("d/shop.hprof.gz.hdx", F_OK) != 0);
    expect_in("out/%s.jsonl", "plan", "\"dump_id\": \"shop-");
    expect_in("out/%s.json", "plan", "\"forecast_memory\": ");
}

Test(batch, plans_nothing_for_what_is_done)
{
    hdx_batch_options o = usual_options();
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    o.plan = true;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 2, 0); /* what failed is planned again */
    cr_expect(strstr(id_of("text-"), "text-") != NULL && strstr(text.at, ",planned,0,") != NULL, "%s", text.at);
    o.ask = "threads";
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(3, 0, 0);
}

Test(batch, tells_what_became_of_each_dump_and_does_nothing)
{
    hdx_batch_options o = usual_options();
    o.summary = true;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(eq(u64, counts.waiting, 3), "%s", text.at);
    cr_expect(access("out", F_OK) != 0, "nothing is made");
    cr_expect(access("d/shop.hprof.gz.hdx", F_OK) != 0);
    o.summary = false;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    copy(BOOKSHOP, "d/late.hprof.gz");
    o.summary = true;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(2, 0, 1);
    cr_expect(eq(u64, counts.waiting, 1), "%s", text.at);
    cr_expect(strstr(text.at, "a text file, not a heap dump") != NULL, "%s", text.at);
    expect_in("out/%s.json", "summary", "\"dumps\": 4, \"done\": 2");
    o.ask = "histogram,threads"; /* not what was asked for then */
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 0, 1);
}

Test(batch, that_has_too_little_memory_says_how_much_would_do)
{
    hdx_batch_options o = usual_options();
    o.memory = 20u << 20;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 0, 3);
    expect_in("out/status/%s.json", id_of("shop-"), "\"exit_code\": 6, \"kind\": \"limit\"");
    expect_in("out/status/%s.json", id_of("shop-"), "M is enough");
}

Test(batch, whose_memory_is_too_little_says_nothing_of_what_another_runner_does)
{
    static const char far[] = "heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n";
    char              path[200];
    hdx_batch_options o = usual_options();
    o.plan = true;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    (void)snprintf(path, sizeof path, "out/claims/%s", id_of("shop-"));
    save(path, far, sizeof far - 1);
    o.plan = false;
    o.memory = 20u << 20;
    o.no_wait = true;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(strstr(text.at, ",held,0,\n") != NULL, "%s", text.at);
}

Test(batch, refuses_what_it_cannot_ask)
{
    static const char *const wrong[] = { "nothing", "histogram,,suspects", "path", "export", "index", "strip" };
    hdx_batch_options        o = usual_options();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.ask = wrong[i];
        cr_expect(eq(int, (int)go(&o), HDX_USAGE), "%s", wrong[i]);
    }
    o = usual_options();
    o.tables = HDX_BATCH_CSV;
    o.more_tables = "objects,nothing";
    cr_expect(eq(int, (int)go(&o), HDX_USAGE));
    o.more_tables = NULL;
    o.index_only = true;
    cr_expect(eq(int, (int)go(&o), HDX_USAGE), "indexes only, and tables");
    o = usual_options();
    o.more_tables = "objects";
    cr_expect(eq(int, (int)go(&o), HDX_USAGE), "tables in no format");
    o = usual_options();
    o.out = NULL;
    cr_expect(eq(int, (int)go(&o), HDX_USAGE));
    cr_expect(access("out", F_OK) != 0, "nothing was made");
}

Test(batch, takes_no_folder_of_a_user_for_its_output)
{
    hdx_batch_options o = usual_options();
    cr_assert(mkdir("out", 0777) == 0);
    save("out/thesis.doc", "mine", 4);
    cr_expect(eq(int, (int)go(&o), HDX_USAGE), "%s", err.message);
    cr_expect(strstr(err.message, "thesis.doc") != NULL, "%s", err.message);
    cr_expect(access("out/status", F_OK) != 0);
    cr_assert(unlink("out/thesis.doc") == 0 && mkdir("out/slurm", 0777) == 0 && mkdir("out/claims", 0777) == 0);
    cr_expect(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    save("out/thesis.doc", "mine", 4);
    cr_expect(eq(int, (int)go(&o), HDX_OK), "a file that came later: %s", err.message);
}

/* ---- what it costs ---- */

static unsigned space_asked;

int statvfs64(const char *path, struct statvfs64 *out)
{
    (void)path;
    space_asked++;
    *out = (struct statvfs64){ .f_blocks = 1u << 30, .f_bavail = 1u << 30, .f_frsize = 4096 };
    return 0;
}

static unsigned asked_for(unsigned dumps)
{
    static const char *const folder_m = "many";
    char                     path[64];
    hdx_batch_options        o = usual_options();
    cr_assert(system("rm -rf many out") == 0 && mkdir("many", 0777) == 0);
    for (unsigned i = 0; i < dumps; i++) {
        (void)snprintf(path, sizeof path, "many/%u.hprof.gz", i);
        copy("d/shop.hprof.gz", path);
    }
    o.inputs = &folder_m;
    o.ask = NULL;
    space_asked = 0;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(dumps, 0, 0);
    return space_asked;
}

Test(batch, asks_for_the_space_of_a_disk_so_many_times_as_there_are_dumps)
{
    const unsigned few = asked_for(6), many = asked_for(24);
    cr_expect(few > 0 && many <= 5 * few, "%u of 6 dumps, %u of 24", few, many);
}

/* ---- who may read what it writes ---- */

static unsigned mode_of(const char *path)
{
    struct stat st;
    cr_expect(stat(path, &st) == 0, "%s", path);
    return st.st_mode & 0777;
}

Test(batch, tells_nobody_of_a_dump_who_may_not_read_it)
{
    static const char manifest[] = "dump,dump_id\nd/shop.hprof.gz,a\nd/cut.hprof.gz,b\n";
    hdx_batch_options o = usual_options();
    const mode_t      mask = umask(022);
    save("list.csv", manifest, sizeof manifest - 1);
    input = "list.csv";
    cr_assert(chmod("d/shop.hprof.gz", 0600) == 0 && chmod("d/cut.hprof.gz", 0644) == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(mode_of("out/status/a.json") == 0600 && mode_of("out/status/b.json") == 0644);
    cr_expect(mode_of("out/summary.json") == 0600 && mode_of("out/plan.jsonl") == 0600);
    o.tasks = 2;
    o.plan = true;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(mode_of("out/plan.json") == 0600 && mode_of("out/deal-2.jsonl") == 0600);
    o.plan = false;
    o.tasks = 1;
    o.drop = true; /* the index is as private as the dump that it is left of */
    cr_assert(system("rm -r d/shop.hprof.gz.hdx") == 0 && go(&o) == HDX_OK, "%s", err.message);
    cr_assert(access("d/shop.hprof.gz", F_OK) != 0 && chmod("d/cut.hprof.gz", 0640) == 0);
    o.drop = false;
    o.ask = "histogram,threads";
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(mode_of("out/status/a.json") == 0600 && mode_of("out/status/b.json") == 0640);
    cr_expect(mode_of("out/summary.json") == 0600);
    cr_assert(chmod("d/shop.hprof.gz.hdx/catalog.mdb", 0644) == 0 && chmod("d/cut.hprof.gz", 0644) == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(mode_of("out/summary.json") == 0644, "all may read all of them");
    (void)umask(mask);
}

/* ---- pipes and other things in its folder ---- */

Test(batch, waits_for_no_pipe_in_its_folder, .timeout = 60)
{
    hdx_batch_options o = dropping();
    o.drop = false;
    o.tables = HDX_BATCH_CSV;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    static const char *const pipes[] = { "out/status/a.json",
                                         "out/plan.jsonl",
                                         "out/tables/dump_id=a/dump.csv",
                                         "out/answers/a/histogram.json",
                                         "out/tables/.heapdex.fifo",
                                         "out/tables/.heapdex.host.1.0",
                                         "out/status/.heapdex-0123456789abcdef" };
    for (size_t i = 0; i < HDX_COUNT(pipes); i++) {
        (void)unlink(pipes[i]);
        cr_assert(mkfifo(pipes[i], 0600) == 0, "%s", pipes[i]);
        cr_expect(eq(int, (int)go(&o), HDX_OK), "%s: %s", pipes[i], err.message);
    }
    cr_assert(mkfifo("out/claims/a", 0600) == 0);
    o.rebuild = HDX_BATCH_REBUILD_ALL;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 0, 1);
    cr_expect(strstr(text.at, "is not a lock file of a batch") != NULL && access("out/claims/a", F_OK) == 0, "%s",
              text.at);
}

Test(batch, takes_no_folder_whose_status_is_of_another_program)
{
    static const char *const theirs[] = { "out/status/a.json", "out/claims/2024.pdf", "out/answers/42" };
    hdx_batch_options        o = usual_options();
    for (size_t i = 0; i < HDX_COUNT(theirs); i++) {
        cr_assert(system("rm -rf out; mkdir -p out/status out/claims out/answers out/slurm") == 0);
        save("out/slurm/job", "x", 1);
        save(theirs[i], "mine", 4);
        cr_expect(eq(int, (int)go(&o), HDX_USAGE), "%s", theirs[i]);
        cr_expect(strstr(err.message, theirs[i] + 4) != NULL, "%s", err.message);
        expect_content(theirs[i], "mine");
        save("out/claims/.began", "notes", 5); /* that of a batch is empty */
        cr_expect(eq(int, (int)go(&o), HDX_USAGE), "%s", theirs[i]);
        expect_content("out/claims/.began", "notes");
    }
}

Test(batch, writes_tables_of_each_dump_whole_and_says_in_them_what_failed)
{
    static const char *const formats[] = { "parquet", "csv" };
    for (int i = 0; i < 2; i++) {
        char              path[200];
        hdx_batch_options o = usual_options();
        o.ask = NULL;
        o.tables = i == 0 ? HDX_BATCH_PARQUET : HDX_BATCH_CSV;
        o.more_tables = i == 0 ? NULL : "objects";
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(2, 0, 1);
        (void)snprintf(path, sizeof path, "out/tables/dump_id=%s/classes.%s", id_of("shop-"), formats[i]);
        cr_expect(access(path, F_OK) == 0, "%s", path);
        (void)snprintf(path, sizeof path, "out/tables/dump_id=%s/objects.%s", id_of("cut-"), formats[i]);
        const bool more = access(path, F_OK) == 0;
        cr_expect(more == (i == 1), "%s", path);
        (void)snprintf(path, sizeof path, "out/tables/dump_id=%s/dump.%s", id_of("text-"), formats[i]);
        cr_expect(access(path, F_OK) == 0, "%s", path);
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(0, 2, 1);
    }
    expect_in("out/tables/dump_id=%s/problems.csv", id_of("text-"), "a text file, not a heap dump");
}

Test(batch, writes_tables_again_when_the_manifest_says_something_else)
{
    static const char *const list = "list.csv";
    static const char *const says[] = { "dump,dump_id,application\nd/shop.hprof.gz,a,shop\n",
                                        "dump,dump_id,application\nd/shop.hprof.gz,a,books\n",
                                        "dump,dump_id,application,host\nd/shop.hprof.gz,a,books,\n" };
    hdx_batch_options        o = usual_options();
    o.inputs = &list;
    o.tables = HDX_BATCH_CSV;
    for (int i = 0; i < 3; i++) {
        save(list, says[i], strlen(says[i]));
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(i < 2, i == 2, 0);
        expect_in("out/tables/dump_id=%s/dump.csv", "a", i == 0 ? "a,shop," : "a,books,");
    }
}

Test(batch, writes_tables_again_that_somebody_has_deleted)
{
    static const char *const gone[] = { "rm -r out/tables/dump_id=shop*/roots.csv", "rm out/tables.sqlite" };
    for (int i = 0; i < 2; i++) {
        hdx_batch_options o = usual_options();
        o.ask = NULL;
        o.tables = i == 0 ? HDX_BATCH_CSV : HDX_BATCH_SQLITE;
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(0, 2, 1);
        cr_assert(system(gone[i]) == 0);
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(i == 0 ? 1 : 2, i == 0 ? 1 : 0, 1); /* the one that fails writes some of its own */
    }
}
