/*
 * test_drop.c - batches that delete dumps (--drop-dump): only those that are whole in their index and on disk, and none
 * that changed, that somebody else works on, or whose name another file took.
 */
#include "batch/three_dumps.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

TestSuite(batch, .init = enter, .fini = leave);

Test(batch, deletes_dumps_that_are_whole_in_an_index_and_skips_them_from_then_on)
{
    hdx_batch_options o = usual_options();
    o.drop = true;
    o.index_dir = "indexes";
    static const char manifest[] = "dump,dump_id\nd/shop.hprof.gz,a\nd/cut.hprof.gz,b\nd/text.hprof,c\n";
    save("list.csv", manifest, sizeof manifest - 1);
    input = "list.csv";
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(2, 0, 1);
    cr_expect(access("d/shop.hprof.gz", F_OK) != 0, "it is in its index");
    cr_expect(access("d/cut.hprof.gz", F_OK) == 0, "it is damaged");
    cr_expect(access("d/text.hprof", F_OK) == 0, "it has no index");
    cr_expect(access("indexes/a.hdx", F_OK) == 0);
    expect_in("out/status/%s.json", "a", "\"dropped\": true");
    expect_in("out/status/%s.json", "b", "\"dropped\": false");
    o.drop = false;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 2, 1);
}

Test(batch, leaves_an_index_that_is_all_that_is_left_of_a_dump)
{
    hdx_batch_options o = dropping();
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 0, 0);
    copy("d/cut.hprof.gz", "d/shop.hprof.gz");
    for (int i = 0; i < 4; i++) { /* with or without --drop-dump, and however often */
        o.drop = i == 0;
        o.summary = i == 3;
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(0, 0, 1);
        cr_expect(strstr(text.at, "the only remaining data of a deleted dump") != NULL, "%s", text.at);
    }
    o.summary = false;
    expect_in("out/status/%s.json", "a", "\"dropped\": true");
    cr_assert(rename("d/shop.hprof.gz.hdx", "d/first.hdx") == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 0, 0);
    expect_in("out/status/%s.json", "a", "\"dropped\": false");
}

Test(batch, asks_the_index_where_the_dump_is_gone)
{
    hdx_batch_options o = dropping();
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    o.ask = "histogram,threads";
    o.tables = HDX_BATCH_CSV;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 0, 0);
    cr_expect(access("out/answers/a/threads.json", F_OK) == 0 && access("out/tables/dump_id=a/dump.csv", F_OK) == 0);
    expect_in("out/status/%s.json", "a", "\"dropped\": true");
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 1, 0);
}

Test(batch, deletes_no_link_and_not_what_is_behind_it)
{
    hdx_batch_options o = dropping();
    cr_assert(rename("d/shop.hprof.gz", "real") == 0 && symlink("../real", "d/shop.hprof.gz") == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 0, 0);
    cr_expect(access("d/shop.hprof.gz", F_OK) == 0 && access("real", F_OK) == 0);
    expect_in("out/status/%s.json", "a", "\"dropped\": false");
}

static char noticed[600];

static void take_notice(void *context, const hdx_batch_event *e)
{
    (void)context;
    if (e->what == HDX_BATCH_NOTICE && e->message != NULL)
        (void)snprintf(noticed, sizeof noticed, "%s", e->message);
}

static void expect_not_dropped(const hdx_batch_options *options, const char *why)
{
    hdx_batch_options o = *options;
    o.happened = take_notice;
    noticed[0] = '\0';
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 0, 0);
    cr_expect(strstr(noticed, why) != NULL, "%s", noticed);
    cr_expect(access("d/shop.hprof.gz", F_OK) == 0);
    expect_in("out/status/%s.json", "a", "\"dropped\": false");
}

Test(batch, deletes_no_dump_that_was_indexed_before_its_bytes_were_summed)
{
    hdx_batch_options o = dropping();
    o.drop = false;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    o.drop = true;
    expect_not_dropped(&o, "dump not deleted: its index already existed");
    cr_assert(system("rm -r d/shop.hprof.gz.hdx") == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(access("d/shop.hprof.gz", F_OK) != 0, "its index is made after the sum");
}

Test(batch, deletes_no_dump_that_holds_another_heap)
{
    const hdx_batch_options o = dropping();
    cr_assert(system("gzip -dc < d/shop.hprof.gz >one && (cat one; tail -c +32 one) >d/shop.hprof.gz && rm one") == 0);
    expect_not_dropped(&o, "the file contains several heaps");
}

static bool done_once;

/* The samples, the size and the time do not change. */
static void change_one_byte(void *context, const hdx_batch_event *e)
{
    struct stat     st;
    struct timespec times[2];
    char            byte = 0;
    (void)context;
    if (e->what != HDX_BATCH_STEP || e->step.number < 3 || done_once)
        return;
    const int fd = open("d/shop.hprof.gz", O_RDWR);
    cr_assert(fd >= 0 && fstat(fd, &st) == 0 && pread(fd, &byte, 1, st.st_size / 34) == 1);
    byte ^= 1;
    cr_assert(pwrite(fd, &byte, 1, st.st_size / 34) == 1);
    times[0] = st.st_atim;
    times[1] = st.st_mtim;
    cr_assert(futimens(fd, times) == 0 && close(fd) == 0);
    done_once = true;
}

Test(batch, deletes_no_dump_whose_bytes_have_changed_where_nobody_sees_it)
{
    hdx_batch_options o = dropping();
    cr_assert(system("gzip -dc < d/shop.hprof.gz > one && mv one d/shop.hprof.gz") == 0);
    o.happened = change_one_byte;
    done_once = false;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(done_once && access("d/shop.hprof.gz", F_OK) == 0);
    expect_in("out/status/%s.json", "a", "\"dropped\": false");
}

static void be_taken_over(void *context, const hdx_batch_event *e)
{
    static const char far[] = "heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n";
    (void)context;
    if (e->what != HDX_BATCH_STARTED)
        return;
    cr_assert(unlink("out/claims/a") == 0);
    save("out/claims/a", far, sizeof far - 1);
}

Test(batch, deletes_nothing_that_another_runner_has_taken_over)
{
    hdx_batch_options o = dropping();
    o.happened = be_taken_over;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(access("d/shop.hprof.gz", F_OK) == 0);
}

Test(batch, deletes_no_dump_whose_tables_lack_answers)
{
    static const char plan[] = "{\"dump_id\": \"a\", \"indexed\": true, \"file_size\": %llu, \"mtime_ns\": %llu, "
                               "\"memory\": 3000000, \"least_memory\": 3000000}\n";
    char              line[300];
    uint64_t          size, mtime_ns;
    hdx_batch_options o = dropping();
    o.drop = false;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_assert(hdx_batch_file_of("d/shop.hprof.gz", &size, &mtime_ns));
    (void)snprintf(line, sizeof line, plan, (unsigned long long)size, (unsigned long long)mtime_ns);
    save("out/plan.jsonl", line, strlen(line));
    cr_assert(system("rm -r out/status") == 0);
    o.drop = true;
    o.ask = NULL;
    o.tables = HDX_BATCH_CSV;
    o.memory = 3000000;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 0, 0);
    expect_in("out/tables/dump_id=%s/problems.csv", "a", "limit,");
    cr_expect(access("d/shop.hprof.gz", F_OK) == 0);
}

/* ---- what goes to disk, and when ---- */

static char synced[4096]; /* paths, ":" around each, up to when a dump was deleted */
static void (*at_sync)(const char *path), (*at_rename)(const char *from, const char *to);

int fsync(int fd)
{
    char         path[64], real[512];
    const size_t len = strlen(synced);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(path, real, sizeof real - 1);
    if (n > 0)
        (void)snprintf(synced + len, sizeof synced - len, ":%.*s:", (int)n, real);
    real[n > 0 ? n : 0] = '\0';
    if (at_sync != NULL)
        at_sync(real);
    return (int)syscall(SYS_fsync, fd);
}

static bool is_aside(const char *path) { return strncmp(path, "d/.heapdex-drop-", 16) == 0; }

int unlink(const char *path)
{
    if (is_aside(path))
        (void)snprintf(synced + strlen(synced), sizeof synced - strlen(synced), "!");
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* at_rename: after the dump was renamed, before it is deleted. */
int rename(const char *from, const char *to)
{
    const int rc = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (rc == 0 && is_aside(to) && at_rename != NULL)
        at_rename(from, to);
    return rc;
}

static int no_rename_back; /* errno; 0: it works */

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    errno = no_rename_back;
    return no_rename_back != 0 ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

Test(batch, has_the_names_of_all_files_on_disk_before_a_dump_goes)
{
    static const char *const folders[] = { "/d",          "/d/shop.hprof.gz.hdx", "/out",
                                           "/out/status", "/out/answers",         "/out/answers/a" };
    char                     path[TEST_FOLDER + 32];
    const hdx_batch_options  o = dropping();
    synced[0] = '\0';
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    char *gone = strchr(synced, '!');
    cr_assert(gone != NULL && access("d/shop.hprof.gz", F_OK) != 0);
    *gone = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        (void)snprintf(path, sizeof path, ":%s%s:", folder, folders[i]);
        cr_expect(strstr(synced, path) != NULL, "%s is not in %s", path, synced);
    }
}

/* ---- another file has the name of the dump ---- */

static char aside[300]; /* the name that a dump had last before it was deleted */

/* As a program that writes dumps does it: whole, under a name of its own, and then renamed. */
static void put_another(const char *path)
{
    save("d/next", "the next dump", 13);
    cr_assert(syscall(SYS_renameat2, AT_FDCWD, "d/next", AT_FDCWD, path, 0) == 0);
}

static void replace_at_sync(const char *path)
{
    const size_t len = strlen(path);
    if (len > 7 && strcmp(path + len - 7, "/status") == 0 && access("out/status/a.json", F_OK) == 0 &&
        access("d/shop.hprof.gz.hdx/catalog.mdb", F_OK) == 0)
        put_another("d/shop.hprof.gz");
}

Test(batch, deletes_no_dump_that_was_renamed_over_its_name_while_it_synced)
{
    const hdx_batch_options o = dropping();
    at_sync = replace_at_sync;
    expect_not_dropped(&o, "dump not deleted: another file now has its name, or it has changed");
    expect_content("d/shop.hprof.gz", "the next dump");
    expect_in("out/status/%s.json", "a", "\"not_dropped\": \"another file now has its name, or it has changed\"");
    cr_expect(system("ls -A d | grep -q heapdex") != 0, "nothing is left under another name");
}

static void touch_at_rename(const char *from, const char *to)
{
    (void)from;
    cr_assert(utimensat(AT_FDCWD, to, (const struct timespec[]){ { 0, UTIME_OMIT }, { 1, 1 } }, 0) == 0);
}

Test(batch, deletes_no_dump_that_was_written_to_at_the_last_moment)
{
    const hdx_batch_options o = dropping();
    at_rename = touch_at_rename;
    expect_not_dropped(&o, "another file now has its name, or it has changed");
}

static void replace_after_rename(const char *from, const char *to)
{
    touch_at_rename(from, to);
    put_another(from);
    (void)snprintf(aside, sizeof aside, "%s", to);
}

Test(batch, keeps_both_where_the_name_of_a_dump_is_taken_before_it_gets_it_back)
{
    static const int why[] = { 0, EINVAL }; /* EINVAL: a file system without such renames */
    for (size_t i = 0; i < 2; i++) {
        const hdx_batch_options o = dropping();
        copy(BOOKSHOP, "d/shop.hprof.gz");
        cr_assert(system("rm -rf out d/shop.hprof.gz.hdx") == 0);
        at_rename = replace_after_rename;
        no_rename_back = why[i];
        expect_not_dropped(&o, aside);
        no_rename_back = 0;
        cr_expect(strstr(noticed, "cannot be renamed back: File exists") != NULL, "%s", noticed);
        expect_content("d/shop.hprof.gz", "the next dump");
        size_t len, want;
        char  *one = load(aside, &len), *two = load(BOOKSHOP, &want);
        cr_expect(len == want && memcmp(one, two, len) == 0, "%s", aside);
        free(one);
        free(two);
    }
}

Test(batch, renames_a_dump_back_on_file_systems_that_know_no_other_way)
{
    const hdx_batch_options o = dropping();
    at_rename = touch_at_rename;
    no_rename_back = EINVAL;
    expect_not_dropped(&o, "another file now has its name, or it has changed");
    cr_expect(system("ls -A d | grep -q heapdex") != 0);
}

Test(batch, deletes_no_dump_whose_name_leaves_no_room_for_another_one)
{
    hdx_batch_options o = dropping();
    char              name[300], line[340];
    memset(name, 'n', sizeof name);
    (void)snprintf(name + 216, sizeof name - 216, ".hprof.gz"); /* 225 bytes; with 31 more they are too many */
    (void)snprintf(line, sizeof line, "d/%s", name);
    cr_assert(syscall(SYS_renameat2, AT_FDCWD, "d/shop.hprof.gz", AT_FDCWD, line, 0) == 0);
    (void)snprintf(line, sizeof line, "dump,dump_id\nd/%s,a\n", name);
    save("list.csv", line, strlen(line));
    o.index_dir = "indexes";
    o.happened = take_notice;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(strstr(noticed, "its name is too long") != NULL, "%s", noticed);
    (void)snprintf(line, sizeof line, "d/%s", name);
    cr_expect(access(line, F_OK) == 0);
}

static void be_killed(const char *from, const char *to)
{
    (void)from;
    (void)to;
    (void)kill(getpid(), SIGKILL);
}

/* A call that is killed after it renamed the dump, before it deletes it. */
static void leave_aside(void)
{
    const pid_t child = fork();
    int         status;
    if (child == 0) {
        const hdx_batch_options o = dropping();
        at_rename = be_killed;
        _exit(go(&o) == HDX_OK ? 0 : 1);
    }
    cr_assert(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    cr_assert(access("d/shop.hprof.gz", F_OK) != 0);
}

Test(batch, finds_a_dump_again_that_a_killed_call_was_about_to_delete)
{
    static const char *const folder_d = "d";
    struct stat              before, after;
    hdx_batch_options        o = dropping();
    cr_assert(stat("d/shop.hprof.gz", &before) == 0);
    leave_aside();
    expect_in("out/status/%s.json", "a", "\"dropped\": true");
    o.happened = take_notice;
    o.summary = true; /* it says so, and changes nothing */
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(strstr(noticed, "the next batch renames it back to shop.hprof.gz") != NULL, "%s", noticed);
    cr_expect(access("d/shop.hprof.gz", F_OK) != 0);
    o.summary = o.drop = false;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect_str_eq(noticed,
                     "d/shop.hprof.gz: an earlier run was killed while it deleted this dump (--drop-dump); its name "
                     "is restored");
    cr_expect(stat("d/shop.hprof.gz", &after) == 0 && before.st_ino == after.st_ino);
    leave_aside();
    o.inputs = &folder_d; /* also where only its folder is named, to a batch that knows nothing of the other */
    o.out = "other";
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(strstr(text.at, "shop-") != NULL, "%s", text.at);
    cr_expect(stat("d/shop.hprof.gz", &after) == 0 && before.st_ino == after.st_ino);
    o = dropping();
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(access("d/shop.hprof.gz", F_OK) != 0, "the same call resumes and deletes it");
}

Test(batch, renames_no_dump_over_one_that_came_later)
{
    static const char        aside_name[] = "d/.heapdex-drop-0123456789abcdef-shop.hprof.gz";
    static const char *const not_ours[] = { "d/.heapdex-drop-0123456789abcdef-", "d/.heapdex-drop-0123-notes",
                                            "d/.heapdex-drop-0123456789abcdeX-notes", "d/.heapdex-drop-notes" };
    hdx_batch_options        o = usual_options();
    save(aside_name, "before", 6);
    for (size_t i = 0; i < 4; i++)
        save(not_ours[i], "mine", 4);
    cr_assert(symlink("text.hprof", "d/.heapdex-drop-0123456789abcdef-link.hprof") == 0);
    o.happened = take_notice;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(strstr(noticed, "it cannot be renamed back to shop.hprof.gz: File exists") != NULL, "%s", noticed);
    expect_content(aside_name, "before");
    for (size_t i = 0; i < 4; i++)
        expect_content(not_ours[i], "mine");
    cr_expect(access("d/link.hprof", F_OK) != 0 && access("d/.heapdex-drop-0123456789abcdef-link.hprof", F_OK) == 0);
}
