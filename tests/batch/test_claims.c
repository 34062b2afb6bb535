/* Two runners never have the same dump; what a dead one left is taken over. */
#include "batch/batch.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char      folder[TEST_FOLDER];
static hdx_error err;

static void enter(void)
{
    test_folder_make(folder, "claims");
    cr_assert(chdir(folder) == 0 && mkdir("claims", 0777) == 0);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(claims, .init = enter, .fini = leave);

static void put(const char *record, long seconds_ago)
{
    const int             fd = open("claims/a", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const struct timespec ago[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - seconds_ago } };
    cr_assert(fd >= 0 && write(fd, record, strlen(record)) == (ssize_t)strlen(record));
    cr_assert(futimens(fd, ago) == 0);
    (void)close(fd);
}

static hdx_code take_and_give(void)
{
    batch_claim    c;
    const hdx_code code = hdx_batch_claim_take(&c, ".", "a", &err);
    hdx_batch_claim_give(&c);
    return code;
}

Test(claims, are_one_runners_until_they_are_given_back)
{
    batch_claim a, b;
    cr_assert(eq(int, (int)hdx_batch_claim_take(&a, ".", "a", &err), HDX_OK));
    cr_expect(hdx_batch_claim_is_ours(&a) && hdx_batch_claim_is_held(".", "a"));
    cr_expect(eq(int, (int)hdx_batch_claim_take(&b, ".", "a", &err), HDX_BUSY));
    cr_expect(strstr(err.message, "another runner is processing it: process ") != NULL, "%s", err.message);
    hdx_batch_claim_give(&b); /* it has none */
    cr_expect(hdx_batch_claim_is_ours(&a));
    cr_assert(eq(int, (int)hdx_batch_claim_take(&b, ".", "b", &err), HDX_OK), "another dump is free");
    hdx_batch_claim_give(&a);
    hdx_batch_claim_give(&b);
    cr_expect(hdx_batch_claim_is_held(".", "a") == false && access("claims/a", F_OK) != 0);
    cr_expect(eq(int, (int)take_and_give(), HDX_OK));
}

Test(claims, that_cannot_be_read_stay_those_of_their_maker)
{
    batch_claim c;
    cr_assert(eq(int, (int)hdx_batch_claim_take(&c, ".", "a", &err), HDX_OK));
    (void)close(c.fd);
    c.fd = open("claims/a", O_WRONLY | O_CLOEXEC);
    cr_assert(c.fd >= 0);
    cr_expect(hdx_batch_claim_is_ours(&c));
    hdx_batch_claim_give(&c);
    cr_expect(access("claims/a", F_OK) != 0, "it is given back all the same");
}

Test(claims, of_a_process_that_was_killed_are_taken_over_at_once)
{
    const pid_t child = fork();
    if (child == 0) {
        batch_claim c;
        _exit(hdx_batch_claim_take(&c, ".", "a", NULL) == HDX_OK ? 0 : 1);
    }
    int status;
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
    cr_assert(access("claims/a", F_OK) == 0);
    cr_expect(hdx_batch_claim_is_held(".", "a") == false);
    cr_expect(eq(int, (int)take_and_give(), HDX_OK));
}

Test(claims, that_are_left_are_cleared_and_others_stay)
{
    batch_claim a;
    put("heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n", 0);
    hdx_batch_claim_clear(".", "a");
    cr_expect(access("claims/a", F_OK) == 0, "its runner may be alive");
    put("heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n", 3600);
    hdx_batch_claim_clear(".", "a");
    cr_expect(access("claims/a", F_OK) != 0);
    hdx_batch_claim_clear(".", "a"); /* there is none */
    cr_assert(eq(int, (int)hdx_batch_claim_take(&a, ".", "a", &err), HDX_OK));
    hdx_batch_claim_clear(".", "a");
    cr_expect(hdx_batch_claim_is_ours(&a));
    hdx_batch_claim_give(&a);
}

Test(claims, of_another_host_stand_until_nobody_has_touched_them_for_long)
{
    static const char far[] = "heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=slurm:7\n";
    put(far, 0);
    cr_expect(eq(int, (int)take_and_give(), HDX_BUSY));
    cr_expect(strstr(err.message, "on far.away") != NULL && strstr(err.message, "job slurm:7") != NULL, "%s",
              err.message);
    put(far, BATCH_CLAIM_STALE_S - 60);
    cr_expect(eq(int, (int)take_and_give(), HDX_BUSY));
    put(far, BATCH_CLAIM_STALE_S + 60);
    cr_expect(eq(int, (int)take_and_give(), HDX_OK));
}

Test(claims, of_another_boot_stand_as_those_of_another_host)
{
    char  record[HDX_OWNER_RECORD];
    char *boot;
    (void)hdx_owner_record(record, sizeof record);
    boot = strstr(record, "boot=");
    cr_assert(boot != NULL);
    boot[5] = boot[5] == 'a' ? 'b' : 'a';
    put(record, 0);
    cr_expect(eq(int, (int)take_and_give(), HDX_BUSY), "two containers may have one name");
    put(record, BATCH_CLAIM_STALE_S + 60);
    cr_expect(eq(int, (int)take_and_give(), HDX_OK));
}

Test(claims, are_apart_whatever_ids_there_are)
{
    static const char *const ids[] = { "a.taking", "a.now.1", "a.part" };
    batch_claim              others[3];
    char                     own[32];
    for (size_t i = 0; i < 3; i++)
        cr_assert(eq(int, (int)hdx_batch_claim_take(&others[i], ".", ids[i], &err), HDX_OK));
    (void)snprintf(own, sizeof own, "claims/a.now.%ld", (long)getpid());
    cr_assert(symlink("b", own) == 0);
    put("heapdex 1 host=", BATCH_CLAIM_BEAT_S + 5); /* is left: taken away under names beside it */
    cr_expect(eq(int, (int)take_and_give(), HDX_OK), "%s", err.message);
    cr_expect(access("claims/b", F_OK) != 0 && unlink(own) == 0, "nothing was written there, and it is there");
    for (size_t i = 0; i < 3; i++) {
        cr_expect(hdx_batch_claim_is_ours(&others[i]), "%s", ids[i]);
        hdx_batch_claim_give(&others[i]);
    }
}

/* Who they are is asked for between the moment a claim is made and the one it is written. */
static bool taken_in_between;

int gethostname(char *name, size_t size)
{
    (void)snprintf(name, size, "here");
    if (taken_in_between) {
        taken_in_between = false;
        cr_assert(unlink("claims/a") == 0);
        put("heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n", 0);
    }
    return 0;
}

Test(claims, that_were_taken_over_before_they_were_written_are_none)
{
    batch_claim a;
    taken_in_between = true;
    cr_expect(eq(int, (int)hdx_batch_claim_take(&a, ".", "a", &err), HDX_BUSY));
    cr_expect(strstr(err.message, "far.away") != NULL, "%s", err.message);
    hdx_batch_claim_give(&a);
    cr_expect(access("claims/a", F_OK) == 0, "it is the other's");
}

Test(claims, that_say_nothing_are_waited_for_a_moment)
{
    put("", 0);
    cr_expect(eq(int, (int)take_and_give(), HDX_BUSY), "its maker may be about to write it");
    put("heapdex 1 host=", BATCH_CLAIM_BEAT_S + 5);
    cr_expect(eq(int, (int)take_and_give(), HDX_OK));
}

static void expect_no_claim(void)
{
    cr_expect(eq(int, (int)take_and_give(), HDX_USAGE));
    cr_expect_str_eq(err.message, "is not a lock file of a batch and is not replaced; the dump is skipped");
    hdx_batch_claim_clear(".", "a");
    cr_expect(hdx_batch_claim_is_held(".", "a") == false);
}

Test(claims, are_no_files_of_a_user_however_old_they_are, .timeout = 20)
{
    struct stat st;
    put("my notes\n", BATCH_CLAIM_STALE_S + 60);
    expect_no_claim();
    cr_expect(stat("claims/a", &st) == 0 && st.st_size == 9);
    cr_assert(unlink("claims/a") == 0 && mkfifo("claims/a", 0600) == 0);
    expect_no_claim();
    cr_assert(unlink("claims/a") == 0 && symlink("nowhere", "claims/a") == 0);
    expect_no_claim();
    cr_expect(lstat("claims/a", &st) == 0 && access("claims/nowhere", F_OK) != 0);
    cr_assert(unlink("claims/a") == 0 && mkdir("claims/a", 0700) == 0);
    expect_no_claim();
    cr_expect(access("claims/a", F_OK) == 0);
}

/* The clock of the file system is asked through a new file, and no file of these names is touched. */
Test(claims, leave_files_alone_that_have_names_beside_them, .timeout = 20)
{
    char        probe[64];
    struct stat st;
    (void)snprintf(probe, sizeof probe, "claims/.a.now.%ld", (long)getpid());
    put("heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n", 0);
    cr_assert(mkfifo(probe, 0600) == 0);
    cr_expect(eq(int, (int)take_and_give(), HDX_BUSY));
    cr_expect(access(probe, F_OK) == 0);
    const int             fd = open("claims/.a.taking", O_WRONLY | O_CREAT, 0600);
    const struct timespec ago[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1000 } };
    cr_assert(fd >= 0 && write(fd, "mine", 4) == 4 && futimens(fd, ago) == 0 && close(fd) == 0);
    put("heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n", BATCH_CLAIM_STALE_S + 60);
    cr_expect(eq(int, (int)take_and_give(), HDX_BUSY));
    cr_expect(stat("claims/.a.taking", &st) == 0 && st.st_size == 4, "what is not empty is not of a claim");
}

Test(claims, that_were_taken_over_are_noticed_and_left_alone)
{
    batch_claim a;
    cr_assert(eq(int, (int)hdx_batch_claim_take(&a, ".", "a", &err), HDX_OK));
    cr_assert(unlink("claims/a") == 0);
    put("heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n", 0);
    cr_expect(hdx_batch_claim_is_ours(&a) == false);
    hdx_batch_claim_give(&a);
    cr_expect(access("claims/a", F_OK) == 0, "it is the other's");
}

Test(claims, that_are_left_have_one_new_owner_of_many_who_want_them)
{
    enum { MANY = 12, ROUNDS = 20 };
    for (int round = 0; round < ROUNDS; round++) {
        int  go[2], won[2], over[2], winners = 0;
        char byte;
        put("heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n", BATCH_CLAIM_STALE_S + 60);
        cr_assert(pipe(go) == 0 && pipe(won) == 0 && pipe(over) == 0);
        for (int i = 0; i < MANY; i++)
            if (fork() == 0) {
                batch_claim c;
                (void)close(go[1]);
                (void)!read(go[0], &byte, 1);
                const bool mine = hdx_batch_claim_take(&c, ".", "a", NULL) == HDX_OK;
                (void)!write(won[1], mine ? "y" : "n", 1);
                (void)close(over[1]);
                (void)!read(over[0], &byte, 1); /* it holds it while others try */
                _exit(0);
            }
        (void)close(go[0]);
        (void)close(won[1]);
        (void)close(go[1]);
        for (int i = 0; i < MANY && read(won[0], &byte, 1) == 1; i++)
            winners += byte == 'y';
        (void)close(over[0]);
        (void)close(over[1]);
        (void)close(won[0]);
        while (wait(NULL) > 0)
            ;
        cr_expect(eq(int, winners, 1), "round %d", round);
    }
}

static void put_taking(long seconds_ago)
{
    const int             fd = open("claims/.a.taking", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const struct timespec ago[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - seconds_ago } };
    cr_assert(fd >= 0 && futimens(fd, ago) == 0);
    (void)close(fd);
}

Test(claims, that_somebody_is_about_to_take_away_are_his)
{
    static const char dead[] = "heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n";
    put(dead, BATCH_CLAIM_STALE_S + 60);
    put_taking(0);
    cr_expect(eq(int, (int)take_and_give(), HDX_BUSY));
    cr_expect(access("claims/.a.taking", F_OK) == 0 && access("claims/a", F_OK) == 0);
    put_taking(BATCH_CLAIM_BEAT_S - 3);
    cr_expect(eq(int, (int)take_and_give(), HDX_BUSY));
    cr_expect(access("claims/.a.taking", F_OK) == 0);
    put_taking(BATCH_CLAIM_BEAT_S + 5); /* he ended there */
    cr_expect(eq(int, (int)take_and_give(), HDX_BUSY));
    cr_expect(access("claims/.a.taking", F_OK) != 0 && access("claims/a", F_OK) == 0);
    cr_expect(eq(int, (int)take_and_give(), HDX_OK));
    cr_expect(access("claims/.a.taking", F_OK) != 0 && access("claims/a", F_OK) != 0);
}

Test(claims, that_cannot_be_made_say_why)
{
    cr_assert(rmdir("claims") == 0);
    cr_expect(eq(int, (int)take_and_give(), HDX_IO));
    cr_expect(eq(int, (int)err.code, HDX_IO));
    cr_expect_str_eq(err.message, "cannot be created: No such file or directory");
    cr_expect_str_eq(err.where, "./claims/a");
    cr_expect(hdx_batch_claim_is_held(".", "a") == false);
    cr_assert(symlink("nowhere", "claims") == 0);
    cr_expect(eq(int, (int)take_and_give(), HDX_IO));
}
