/* Whole batches of small dumps, with real processes. */
#include "batch/run.h"
#include "base/own.h"
#include "support/folder.h"
#include "support/gzip_maker.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BOOKSHOP HDX_TREE "/examples/bookshop.hprof.gz"

static char             folder[TEST_FOLDER];
static hdx_error        err;
static hdx_batch_counts counts;
static hdx_buffer       text; /* of the rows, as csv */

static char *load(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *bytes = calloc(1, 16 << 20);
    *len = f != NULL ? fread(bytes, 1, (16 << 20) - 1, f) : 0;
    if (f != NULL)
        (void)fclose(f);
    return bytes;
}

static void save(const char *path, const void *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len);
    (void)fclose(f);
}

static void copy(const char *from, const char *to)
{
    size_t len;
    char  *bytes = load(from, &len);
    cr_assert(len > 0, "%s", from);
    save(to, bytes, len);
    free(bytes);
}

/* One whole, one that is cut short, one that is none. */
static void enter(void)
{
    size_t len;
    test_folder_make_fast(folder, "batch"); /* a batch syncs a lot */
    cr_assert(chdir(folder) == 0 && mkdir("d", 0777) == 0);
    (void)setenv("XDG_CACHE_HOME", folder, 1);
    copy(BOOKSHOP, "d/shop.hprof.gz");
    char *bytes = load(BOOKSHOP, &len);
    save("d/cut.hprof.gz", bytes, len / 8 * 7);
    free(bytes);
    save("d/text.hprof", "hello, world\n", 13);
    text = hdx_buffer_of(NULL);
}

static void leave(void)
{
    hdx_buffer_free(&text);
    test_folder_remove(folder);
}

TestSuite(batch, .init = enter, .fini = leave);

static bool put(void *context, const char *bytes, size_t len)
{
    hdx_buffer_put(context, bytes, len);
    return true;
}

static const char       *input = "d";
static hdx_batch_options usual_options(void)
{
    return (hdx_batch_options){
        .inputs = &input, .input_count = 1, .out = "out", .ask = "histogram,suspects", .threads = 2, .memory = 1u << 30
    };
}

static hdx_code go(const hdx_batch_options *o)
{
    static const hdx_render_options csv = { .format = HDX_FORMAT_CSV };
    const hdx_sink                  sink = { put, &text };
    hdx_rows                       *rows = NULL;
    err = (hdx_error){ .offset = HDX_NOWHERE };
    const hdx_code code = hdx_batch_run(o, &counts, &rows, &err);
    hdx_buffer_clear(&text);
    hdx_buffer_text(&text, "");
    if (rows != NULL && hdx_rows_select(&rows, "dump_id,state,exit_code,error", NULL) == HDX_OK)
        (void)hdx_render(rows, &csv, &sink, NULL);
    hdx_rows_close(rows);
    return code;
}

static void expect_counts(uint64_t done, uint64_t skipped, uint64_t failed)
{
    cr_expect(eq(u64, counts.done, done), "%s", text.at);
    cr_expect(eq(u64, counts.skipped, skipped), "%s", text.at);
    cr_expect(eq(u64, counts.failed, failed), "%s", text.at);
}

/* The only id that begins so. */
static const char *id_of(const char *name)
{
    static char id[64];
    const char *at = strstr(text.at, name);
    cr_assert(at != NULL, "%s: %s", name, text.at);
    (void)snprintf(id, sizeof id, "%.*s", (int)strcspn(at, ","), at);
    return id;
}

static char *output_of(const char *format, const char *id)
{
    char   path[200];
    size_t len;
    (void)snprintf(path, sizeof path, format, id);
    char *bytes = load(path, &len);
    cr_expect(len > 0, "%s", path);
    return bytes;
}

static void expect_in(const char *format, const char *id, const char *words)
{
    char *bytes = output_of(format, id);
    cr_expect(strstr(bytes, words) != NULL, "%s: '%s'", words, bytes);
    free(bytes);
}

/* As a program that asks the library itself gets it. */
static void expect_answer(const char *dump, const char *name, const char *path, const char *id)
{
    static const hdx_render_options json = { .format = HDX_FORMAT_JSON };
    static const hdx_argument       whole[] = { { "texts", "whole" } };
    const hdx_index_options         options = { .dump = dump };
    hdx_buffer                      b = hdx_buffer_of(NULL);
    const hdx_sink                  sink = { put, &b };
    hdx_session                    *s = NULL;
    hdx_rows                       *rows = NULL;
    cr_assert(hdx_session_open(&options, &s, &err) == HDX_OK &&
                  hdx_answer_run(s, name, whole, 1, &rows, &err) == HDX_OK && hdx_render(rows, &json, &sink, &err) == 0,
              "%s", err.message);
    char *is = output_of(path, id);
    cr_expect_str_eq(is, b.at, "%s of %s", name, dump);
    free(is);
    hdx_rows_close(rows);
    hdx_session_close(s);
    hdx_buffer_free(&b);
}

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
    expect_in("out/status/%s.json", id_of("shop-"), "M would do");
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

/* ---- ends that are none of ours ---- */

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
        const bool told = strstr(m.said, "2 attempts in a row were interrupted in step ") != NULL;
        cr_expect(told == (i == 1), "%s", m.said);
    }
}

/* By somebody else, while the batch goes on. */
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

/* The dump with the id "a" alone, and that it may be deleted. */
static hdx_batch_options dropping(void)
{
    static const char *const list = "list.csv";
    static const char        manifest[] = "dump,dump_id\nd/shop.hprof.gz,a\n";
    hdx_batch_options        o = usual_options();
    save(list, manifest, sizeof manifest - 1);
    o.inputs = &list;
    o.drop = true;
    return o;
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

static void expect_content(const char *path, const char *want)
{
    size_t len;
    char  *bytes = load(path, &len);
    cr_expect(len == strlen(want) && memcmp(bytes, want, len) == 0, "%s: %zu bytes", path, len);
    free(bytes);
}

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
    cr_expect(access("d/shop.hprof.gz", F_OK) != 0, "the same call goes on and deletes it");
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

/* ---- indexes that are built again ---- */

static char last_hint[256];

static void note_hint(void *context, const hdx_batch_event *e)
{
    (void)context;
    if (e->what == HDX_BATCH_FAILED)
        (void)snprintf(last_hint, sizeof last_hint, "%s", e->hint != NULL ? e->hint : "");
}

/* One bit in the middle of a file; what opens the index does not read it. */
static void flip(const char *path)
{
    size_t len;
    char  *bytes = load(path, &len);
    cr_assert(len > 0, "%s", path);
    bytes[len / 2] = (char)(bytes[len / 2] ^ 0x10);
    save(path, bytes, len);
    free(bytes);
}

static ino_t inode_of(const char *path)
{
    struct stat st;
    cr_assert(stat(path, &st) == 0, "%s", path);
    return st.st_ino;
}

/* Two whole dumps with indexes, the first of which is damaged. */
static hdx_batch_options after_damage(const char *file)
{
    hdx_batch_options o = usual_options();
    char              path[256];
    cr_assert(unlink("d/text.hprof") == 0 && unlink("d/cut.hprof.gz") == 0);
    copy(BOOKSHOP, "d/other.hprof.gz");
    o.ask = NULL;
    o.happened = note_hint;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(2, 0, 0);
    (void)snprintf(path, sizeof path, "d/shop.hprof.gz.hdx/%s", file);
    flip(path);
    return o;
}

Test(batch, names_the_way_on_where_an_index_is_damaged_and_builds_only_that_one_again)
{
    hdx_batch_options o = after_damage("dominator.hdx");
    const ino_t       sound = inode_of("d/other.hprof.gz.hdx"), damaged = inode_of("d/shop.hprof.gz.hdx");
    o.ask = "suspects";
    for (int again = 0; again < 2; again++) { /* unasked it is not built again */
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(again == 0, again, 1);
        cr_expect(ne(ptr, (void *)strstr(text.at, ",failed,5,"), NULL), "%s", text.at);
        cr_expect(ne(ptr, strstr(last_hint, "--rebuild damaged"), NULL), "%s", last_hint);
    }
    o.rebuild = HDX_BATCH_REBUILD_DAMAGED;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 1, 0);
    cr_expect(inode_of("d/other.hprof.gz.hdx") == sound, "it is sound");
    cr_expect(inode_of("d/shop.hprof.gz.hdx") != damaged, "it was damaged");
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 2, 0);
}

Test(batch, builds_a_damaged_index_again_of_a_dump_that_was_finished)
{
    static const char *const files[] = { "dominator.hdx", "position.hdx", "catalog.mdb" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        hdx_batch_options o = i == 0 ? after_damage(files[i]) : usual_options();
        char              path[256];
        o.ask = NULL;
        (void)snprintf(path, sizeof path, "d/shop.hprof.gz.hdx/%s", files[i]);
        if (i > 0)
            flip(path);
        o.rebuild = HDX_BATCH_REBUILD_DAMAGED;
        o.plan = true;
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(1, 1, 0); /* planned, as the other one is finished */
        o.plan = false;
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(1, 1, 0);
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(0, 2, 0);
    }
}

Test(batch, builds_all_indexes_again_where_that_is_asked_for)
{
    hdx_batch_options o = after_damage("dominator.hdx");
    const ino_t       a = inode_of("d/other.hprof.gz.hdx"), b = inode_of("d/shop.hprof.gz.hdx");
    o.rebuild = HDX_BATCH_REBUILD_ALL;
    o.index_only = true;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(2, 0, 0);
    cr_expect(inode_of("d/other.hprof.gz.hdx") != a && inode_of("d/shop.hprof.gz.hdx") != b);
}

Test(batch, never_builds_an_index_again_whose_dump_was_deleted)
{
    hdx_batch_options o = after_damage("dominator.hdx");
    const ino_t       only = inode_of("d/shop.hprof.gz.hdx");
    cr_assert(unlink("d/shop.hprof.gz") == 0);
    save("list.csv", "dump\nd/shop.hprof.gz\n", 21);
    input = "list.csv";
    o.ask = "suspects";
    for (int which = HDX_BATCH_REBUILD_DAMAGED; which <= HDX_BATCH_REBUILD_ALL; which++) {
        o.rebuild = (hdx_batch_rebuild)which;
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(0, 0, 1);
        cr_expect(ne(ptr, strstr(last_hint, "was deleted"), NULL), "%s", last_hint);
        cr_expect(inode_of("d/shop.hprof.gz.hdx") == only, "it is all that is left");
    }
}
