/*
 * test_stopped.c - batches whose processes are killed, are stopped or cannot be made, and several runners of one batch:
 * each dump is worked on by one of them, and the answers are the same.
 */
#include "batch/three_dumps.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

TestSuite(batch, .init = enter, .fini = leave);

/* ---- killed and stopped ---- */

typedef struct meddler {
    atomic_int  stop;
    const char *at; /* the event, of whatever dump, at which it meddles once */
    bool        kills;
    char        said[4096];
} meddler;

static pid_t a_child(void)
{
    char  path[64];
    long  pid = 0;
    FILE *f;
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    f = fopen(path, "r");
    cr_assert(f != NULL && fscanf(f, "%ld", &pid) == 1);
    (void)fclose(f);
    return (pid_t)pid;
}

static void meddle(void *context, const hdx_batch_event *e)
{
    meddler     *m = context;
    const size_t len = strlen(m->said);
    if (e->message != NULL)
        (void)snprintf(m->said + len, sizeof m->said - len, "%s\n", e->message);
    if (m->at == NULL || strcmp(hdx_batch_happening_name(e->what), m->at) != 0)
        return;
    m->at = NULL;
    if (m->kills)
        (void)kill(a_child(), SIGKILL);
    else
        atomic_store(&m->stop, 1);
}

static bool is_stopped(void *context) { return atomic_load(&((meddler *)context)->stop) != 0; }

static hdx_batch_options meddled(meddler *m)
{
    hdx_batch_options o = usual_options();
    o.threads = 1;
    o.happened = meddle;
    o.context = m;
    o.progress = (hdx_progress){ .context = m, .cancelled = is_stopped };
    return o;
}

Test(batch, notes_a_process_that_was_killed_and_goes_on)
{
    meddler                 m = { .at = "started", .kills = true };
    const hdx_batch_options o = meddled(&m);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 0, 2);
    cr_expect(strstr(text.at, ",failed,137,its process was terminated by signal 9 (Killed)") != NULL, "%s", text.at);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 1, 1);
}

Test(batch, that_was_told_to_stop_goes_on_to_the_same_answers)
{
    meddler           m = { .at = "done" };
    hdx_batch_options o = meddled(&m);
    cr_assert(eq(int, (int)go(&o), HDX_CANCELLED));
    cr_expect(eq(u64, counts.done, 1), "%s", text.at);
    cr_expect(eq(u64, counts.interrupted, 2), "%s", text.at);
    atomic_store(&m.stop, 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 1, 1);
    expect_answer("d/shop.hprof.gz", "suspects", "out/answers/%s/suspects.json", id_of("shop-"));
    expect_answer("d/cut.hprof.gz", "suspects", "out/answers/%s/suspects.json", id_of("cut-"));
}

Test(batch, that_is_stopped_in_the_same_step_twice_says_which_and_what_it_takes)
{
    static const char *const alone = "d/shop.hprof.gz";
    for (int i = 0; i < 2; i++) {
        meddler           m = { .at = "step" };
        hdx_batch_options o = meddled(&m);
        o.inputs = &alone;
        cr_assert(eq(int, (int)go(&o), HDX_CANCELLED));
        expect_in("out/status/%s.json", id_of("shop-"), "\"state\": \"interrupted\", \"exit_code\": 75");
        expect_in("out/status/%s.json", id_of("shop-"), i == 0 ? "\"step_attempts\": 1" : "\"step_attempts\": 2");
        const bool reported = strstr(m.said, "2 attempts in a row were interrupted in step ") != NULL;
        cr_expect(reported == (i == 1), "%s", m.said);
    }
}

/* Another program stops a worker; the batch itself continues. */
static void stop_a_child(void *context, const hdx_batch_event *e)
{
    meddler *m = context;
    meddle(m, e);
    if (e->what == HDX_BATCH_STEP && m->kills) {
        m->kills = false;
        (void)kill(a_child(), SIGTERM);
    }
}

Test(batch, counts_no_attempt_that_it_began_again_by_itself)
{
    static const char *const alone = "d/shop.hprof.gz";
    meddler                  m = { .kills = true };
    hdx_batch_options        o = meddled(&m);
    o.inputs = &alone;
    o.happened = stop_a_child;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 0, 0);
    cr_expect(m.kills == false && strstr(m.said, "in a row") == NULL, "%s", m.said);
}

/* ---- children ---- */

static unsigned no_forks; /* that fail from here on */

pid_t fork(void)
{
    static pid_t (*real)(void);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "fork");
    if (no_forks == 0)
        return real();
    no_forks--;
    errno = EAGAIN;
    return -1;
}

Test(batch, waits_where_no_process_can_be_made_for_now)
{
    const hdx_batch_options o = usual_options();
    no_forks = 6;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(2, 0, 1);
    cr_expect(no_forks == 0 && strstr(text.at, "a text file, not a heap dump") != NULL, "%s", text.at);
    expect_in("out/status/%s.json", id_of("shop-"), "\"state\": \"done\", \"exit_code\": 0, \"kind\": null");
}

Test(batch, ends_a_child_that_says_what_is_no_line)
{
    static const char       bytes[65536];
    batch_run               r = { .arena = hdx_arena_of(NULL), .line = hdx_arena_of(NULL) };
    const batch_dump        d = { .id = "a", .path = "d/shop.hprof.gz", .whole = "d/shop.hprof.gz" };
    batch_job               j = { .dump = &d, .s = { .state = BATCH_RUNNING }, .claim = { .fd = -1 } };
    int                     ends[2];
    const hdx_batch_options o = usual_options();
    r.o = &o;
    cr_assert(pipe(ends) == 0);
    j.child = (batch_child){ fork(), ends[0] };
    if (j.child.pid == 0) {
        (void)signal(SIGPIPE, SIG_IGN);
        while (write(ends[1], bytes, sizeof bytes) > 0)
            ;
        (void)pause();
    }
    (void)close(ends[1]);
    j.input = hdx_buffer_of(NULL);
    while (hdx_batch_read(&r, &j))
        ;
    hdx_batch_finish(&r, &j);
    cr_expect(j.s.state == BATCH_FAILED);
    cr_expect_str_eq(j.s.error, "its process sent a line that cannot be parsed");
    hdx_arena_free(&r.arena);
    hdx_arena_free(&r.line);
}

/* ---- several runners ---- */

Test(batch, of_two_runners_at_once_each_dump_is_worked_on_by_one)
{
    uint64_t          other[3], mine[3];
    int               ends[2];
    char              path[64];
    hdx_batch_options o = usual_options();
    o.threads = 1;
    cr_assert(unlink("d/text.hprof") == 0);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "d/shop%d.hprof.gz", i);
        copy(BOOKSHOP, path);
    }
    cr_assert(pipe(ends) == 0);
    const pid_t child = fork();
    const bool  good = go(&o) == HDX_OK;
    mine[0] = counts.done;
    mine[1] = counts.skipped;
    mine[2] = counts.failed;
    if (child == 0) {
        (void)!write(ends[1], mine, sizeof mine);
        _exit(good ? 0 : 1);
    }
    int status;
    cr_assert(good, "%s", err.message);
    cr_assert(read(ends[0], other, sizeof other) == sizeof other);
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
    cr_expect(eq(u64, mine[0] + other[0], 4), "%llu and %llu", (unsigned long long)mine[0],
              (unsigned long long)other[0]);
    cr_expect(eq(u64, mine[0] + mine[1], 4));
    cr_expect(eq(u64, other[0] + other[1], 4));
    cr_expect(eq(u64, mine[2] + other[2], 0));
}

Test(batch, leaves_what_others_hold_and_says_so_where_it_shall_not_wait)
{
    static const char far[] = "heapdex 1 host=far.away boot=1 space=1 pid=1 start=1 since=1 job=-\n";
    char              path[200];
    hdx_batch_options o = usual_options();
    o.no_wait = true;
    cr_assert(unlink("d/text.hprof") == 0);
    o.plan = true;
    cr_assert(eq(int, (int)go(&o), HDX_OK));
    o.plan = false;
    (void)snprintf(path, sizeof path, "out/claims/%s", id_of("cut-"));
    save(path, far, sizeof far - 1);
    cr_assert(eq(int, (int)go(&o), HDX_BUSY));
    expect_counts(1, 0, 0);
    cr_expect(eq(u64, counts.held, 1));
    cr_assert(unlink(path) == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 1, 0);
}

Test(batch, in_shares_has_each_dump_in_one_of_them_whatever_came_between)
{
    hdx_batch_options o = usual_options();
    o.index_only = true;
    o.ask = NULL;
    o.tasks = 2;
    o.task = 1;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    const uint64_t first = counts.dumps;
    copy(BOOKSHOP, "d/later.hprof.gz");
    cr_assert(unlink("d/text.hprof") == 0);
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    cr_expect(eq(u64, counts.failed, 0), "%s", text.at);
    uint64_t all = counts.dumps;
    o.task = 2; /* as an array from 1 on has it: 0 */
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    all += counts.dumps;
    cr_expect(eq(u64, all, 3));
    cr_expect(first > 0 && first < 3);
    cr_expect(access("d/shop.hprof.gz.hdx", F_OK) == 0 && access("d/cut.hprof.gz.hdx", F_OK) == 0 &&
              access("d/later.hprof.gz.hdx", F_OK) == 0);
}

Test(batch, says_in_tables_that_a_process_was_killed)
{
    static const char *const alone = "d/shop.hprof.gz";
    meddler                  m = { .at = "started", .kills = true };
    hdx_batch_options        o = meddled(&m);
    o.inputs = &alone;
    o.ask = NULL;
    o.tables = HDX_BATCH_CSV;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 0, 1);
    expect_in("out/tables/dump_id=%s/problems.csv", id_of("shop-"), "terminated by signal 9");
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 0, 0);
    char *table = output_of("out/tables/dump_id=%s/problems.csv", id_of("shop-"));
    cr_expect(strstr(table, "signal 9") == NULL, "%s", table);
    free(table);
}
