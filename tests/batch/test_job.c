/*
 * test_job.c - what becomes of a dump by what a child says and how it ends, what earlier calls have left, and what is
 * asked for. The child is a process of ours that writes some lines. jobs.txt has the checksums
 * (support/checksums.h): of each draw the events, the status that is on disk, and what is kept.
 */
#include "batch/run.h"
#include "support/checksums.h"
#include "support/folder.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t    random_state;
static hdx_buffer *events;
static char        folder[TEST_FOLDER];

static uint32_t below(uint32_t n)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % n;
}

static const char *one_of(const char *const *texts, size_t count) { return texts[below((uint32_t)count)]; }
#define ONE_OF(texts) one_of(texts, HDX_COUNT(texts))

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL && fwrite(text, 1, strlen(text), f) == strlen(text) && fclose(f) == 0, "%s", path);
}

/* The folder of this run is another each time, and so are numbers of processes. */
static void put_masked(hdx_buffer *b, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        const size_t here = strlen(folder);
        const bool   is = strncmp(at, folder, here) == 0;
        hdx_buffer_put(b, is ? "$" : at, 1);
        at += is ? here - 1 : 0;
    }
}

static void happened(void *context, const hdx_batch_event *e)
{
    const hdx_batch_counts *n = &e->counts;
    (void)context;
    hdx_buffer_format(events, "%s %s %d %u %llu ", hdx_batch_happening_name(e->what),
                      e->dump_id != NULL ? e->dump_id : "-", e->exit_code, e->threads, (unsigned long long)e->memory);
    put_masked(events, e->message != NULL ? e->message : "-");
    hdx_buffer_format(events, " %llu %llu %llu %llu %llu %llu %llu %llu", (unsigned long long)n->dumps,
                      (unsigned long long)n->done, (unsigned long long)n->skipped, (unsigned long long)n->failed,
                      (unsigned long long)n->interrupted, (unsigned long long)n->held, (unsigned long long)n->waiting,
                      (unsigned long long)n->running);
    if (e->what == HDX_BATCH_STEP)
        hdx_buffer_format(events, " %s %u/%u %llu/%llu %s", e->step.step, e->step.number, e->step.steps,
                          (unsigned long long)e->step.done, (unsigned long long)e->step.total, e->step.unit);
    hdx_buffer_text(events, "\n");
}

static void put_status(hdx_buffer *b, const batch_status *s)
{
    const char *const texts[] = { s->dump, s->kind,  s->error, s->hint,   s->damage,
                                  s->step, s->index, s->asked, s->tables, s->manifest };
    const uint64_t    numbers[] = { s->damage_places,   s->step_attempts,   s->memory,       s->threads,
                                    s->objects,         s->live_objects,    s->references,   s->index_bytes,
                                    s->reused,          s->dropped,         s->ended_ms > 0, s->seconds > 0,
                                    s->peak_memory > 0, s->forecast_memory, s->least_memory, s->forecast_disk,
                                    s->file_size };
    hdx_buffer_format(b, "%s %d %g %g", hdx_batch_state_name(s->state), s->exit_code, s->step_forecast,
                      s->forecast_seconds);
    for (size_t i = 0; i < HDX_COUNT(texts); i++) {
        hdx_buffer_text(b, "|");
        put_masked(b, texts[i] != NULL ? texts[i] : "-");
    }
    for (size_t i = 0; i < HDX_COUNT(numbers); i++)
        hdx_buffer_format(b, " %llu", (unsigned long long)numbers[i]);
    hdx_buffer_text(b, "\n");
}

/* ---- a draw ---- */

/* A process that writes and ends as is said. */
static batch_child say(const char *lines, int end)
{
    int ends[2];
    cr_assert(pipe(ends) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        for (size_t at = 0, len = strlen(lines); at < len;) {
            const ssize_t n = write(ends[1], lines + at, len - at > 100 ? 100 : len - at);
            at += n > 0 ? (size_t)n : len;
        }
        if (end < 0)
            (void)kill(getpid(), -end);
        _exit(end);
    }
    (void)close(ends[1]);
    return (batch_child){ pid, ends[0] };
}

static const char *const lines[] = {
    "{\"say\": \"step\", \"step\": \"scan\", \"number\": 1, \"steps\": 9, \"done\": 5, \"total\": 70, \"unit\": "
    "\"B\"}\n",
    "{\"say\": \"step\", \"step\": \"scan\", \"number\": 1, \"steps\": 9, \"done\": 6, \"total\": 70}\n",
    "{\"say\": \"step\", \"step\": \"columns\", \"number\": 2, \"steps\": 9}\n",
    "{\"say\": \"step\", \"step\": \"columns\", \"number\": 3, \"steps\": 9}\n",
    "{\"say\": \"step\", \"number\": 3}\n",
    "{\"say\": \"notice\", \"line\": \"it is damaged\"}\n",
    "{\"say\": \"notice\"}\n",
    "{\"say\": \"nothing\"}\n",
    "{\"tell\": \"step\"}\n",
    "no line\n",
    "\n",
    "{\"say\": \"forecast\", \"indexed\": false, \"file_size\": 10, \"mtime_ns\": 5, \"memory\": 100, \"least\": 50, "
    "\"disk\": 7, \"temporary\": 3, \"objects\": 4, \"seconds\": 1.5, \"steps\": \"scan 1.0, columns 0.5\"}\n",
    "{\"say\": \"forecast\", \"indexed\": true, \"file_size\": 10, \"mtime_ns\": 5, \"memory\": 100, \"least\": 50, "
    "\"disk\": 7, \"temporary\": 3, \"objects\": 4, \"seconds\": 0, \"steps\": null}\n",
    "{\"say\": \"forecast\"}\n",
};
static const char *const last_lines[] = {
    "",
    "{\"say\": \"end\"",
    "{\"say\": \"end\", \"code\": 0}\n",
    "{\"say\": \"end\", \"code\": 0, \"tables_failed\": 0, \"error\": null, \"hint\": null, \"damage_places\": 0, "
    "\"objects\": 10, \"live_objects\": 8, \"references\": 9, \"index\": \"one.hdx\", \"index_bytes\": 77, "
    "\"reused\": true}\n",
    "{\"say\": \"end\", \"code\": 0, \"tables_failed\": 1, \"damage_places\": 0, \"index\": \"one.hdx\", \"reused\": "
    "false}\n",
    "{\"say\": \"end\", \"code\": 0, \"tables_failed\": 0, \"damage_places\": 3, \"damage\": \"offset 0x10: cut\", "
    "\"index\": \"nowhere/one.hdx\"}\n",
    "{\"say\": \"end\", \"code\": %d, \"error\": \"one.hprof: it is none\", \"hint\": \"try another\"}\n",
};

static void draw_status(batch_status *s, const char *whole, const char *index)
{
    static const char *const asked[] = { NULL, "", "histogram", "histogram,threads", "threads,histogram,top", "histo" };
    static const char *const tables[] = { NULL, "csv", "csv", "csv", "csv objects", "parquet" };
    static const char *const steps[] = { NULL, "scan", "columns" };
    *s = (batch_status){ .state = BATCH_NEW };
    s->state = (batch_state)below(BATCH_PLANNED + 1);
    s->state = below(2) ? BATCH_DONE : s->state;
    s->dump = below(6) ? whole : below(2) ? NULL : "/elsewhere";
    s->exit_code = (int)below(8);
    s->error = below(2) ? "it was so" : NULL;
    s->asked = below(2) ? asked[4] : ONE_OF(asked);
    s->tables = ONE_OF(tables);
    s->step = ONE_OF(steps);
    s->step_attempts = below(4);
    s->index = below(6) ? index : below(2) ? NULL : "nowhere.hdx";
    s->dropped = below(3) == 0;
    s->file_size = below(4) ? 5 : 6;
    s->forecast_memory = below(100);
}

typedef struct drawn {
    hdx_flat_pair     field;
    batch_dump        dump;
    hdx_batch_options o;
    batch_run         r;
    batch_job         j;
    char              whole[64], index[64];
} drawn;

static void set_mtime(batch_status *s, const char *path)
{
    uint64_t size;
    if (below(5) > 0)
        (void)hdx_batch_file_of(path, &size, &s->mtime_ns);
}

static void draw(drawn *d)
{
    static const char *const asked[] = { NULL, "histogram", "threads", "histogram,threads", "top", "histo" };
    hdx_error                err = { .offset = HDX_NOWHERE };
    (void)snprintf(d->whole, sizeof d->whole, "%s/one.hprof", folder);
    (void)snprintf(d->index, sizeof d->index, "%s/one.hdx", folder);
    (void)unlink("one.hprof");
    (void)unlink("out/status/one.json");
    if (below(4) == 0)
        cr_assert(symlink("other.hprof", "one.hprof") == 0);
    else if (below(5) > 0)
        put("one.hprof", "bytes");
    d->field = (hdx_flat_pair){ "floor", "3", false };
    d->dump = (batch_dump){ "one", "one.hprof", d->whole, NULL, 0 };
    if (below(3) == 0) {
        d->dump.fields = &d->field;
        d->dump.field_count = 1;
    }
    d->o = (hdx_batch_options){ .out = "out", .happened = happened };
    d->o.drop = below(3) == 0;
    d->o.plan = below(4) == 0;
    d->o.tables = below(3) == 0 ? HDX_BATCH_CSV : HDX_BATCH_NO_TABLES;
    d->r = (batch_run){ .o = &d->o, .arena = hdx_arena_of(NULL), .line = hdx_arena_of(NULL), .count = 1 };
    d->r.asked = ONE_OF(asked);
    d->r.tables = d->o.tables == HDX_BATCH_CSV ? "csv" : NULL;
    d->r.stopping = below(4) == 0;
    d->r.jobs = &d->j;
    d->j = (batch_job){ .dump = &d->dump, .claim = { .fd = -1 }, .child = { 0, -1 } };
    d->j.index_dir = below(2) ? "one.hdx" : NULL;
    d->j.s.state = below(5) == 0 ? BATCH_NEW : BATCH_RUNNING;
    d->j.s.file_size = below(6) ? 5 : 6;
    set_mtime(&d->j.s, "one.hprof");
    d->j.s.threads = below(4);
    d->j.s.memory = below(1000);
    d->j.s.forecast_seconds = below(30) / 2.0;
    d->j.s.dropped = below(8) == 0;
    d->j.s.content = "sum"; /* its child took one: test_run.c has dumps that must stay */
    struct stat st;
    if (stat("one.hprof", &st) == 0)
        d->j.read_again = (batch_file){ true, (uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size,
                                        hdx_batch_mtime_ns(&st) };
    d->j.was = below(2);
    draw_status(&d->j.before, d->whole, d->index);
    set_mtime(&d->j.before, "one.hprof");
    d->j.again = below(4);
    if (below(2)) {
        d->j.known = true;
        d->j.forecast = (batch_forecast){ .steps = below(2) ? "scan 1.25, columns 20.5" : NULL };
    }
    if (below(4) > 0) {
        cr_assert(hdx_batch_claim_take(&d->j.claim, "out", "one", &err) == HDX_OK, "%s", err.message);
    }
    if (below(10) == 0)
        (void)unlink("out/claims/one");
}

static void put_job(hdx_buffer *b, drawn *d)
{
    hdx_arena    arena = hdx_arena_of(NULL);
    batch_status s;
    put_status(b, &d->j.s);
    hdx_buffer_format(b, "%d %d %d %d %llu %d %u %u %d %d %d %d\n", d->j.known, d->j.guess, d->j.ended, d->j.refused,
                      (unsigned long long)d->j.tables_failed, d->j.code, d->j.again, d->j.step_number,
                      d->j.claim.fd >= 0, d->r.estimated, access("one.hprof", F_OK) == 0,
                      access("out/claims/one", F_OK) == 0);
    hdx_buffer_format(b, "%d %llu %llu %llu %llu %llu %g %s\n", d->j.forecast.indexed,
                      (unsigned long long)d->j.forecast.memory, (unsigned long long)d->j.forecast.least,
                      (unsigned long long)d->j.forecast.disk, (unsigned long long)d->j.forecast.temporary,
                      (unsigned long long)d->j.forecast.objects, d->j.forecast.seconds,
                      d->j.forecast.steps != NULL ? d->j.forecast.steps : "-");
    if (hdx_batch_status_read("out", "one", &arena, &s))
        put_status(b, &s);
    hdx_arena_free(&arena);
}

static void close_drawn(drawn *d)
{
    hdx_batch_claim_give(&d->j.claim);
    hdx_arena_free(&d->r.arena);
    hdx_arena_free(&d->r.line);
    (void)unlink("out/claims/one");
}

/* What a child says, and its end. */
static void child_says(hdx_buffer *b)
{
    static const int ends[] = { 0, 1, 7, -SIGKILL, -SIGTERM, 0 };
    drawn            d;
    hdx_buffer       text = hdx_buffer_of(NULL);
    draw(&d);
    d.o.plan = false;
    for (unsigned n = below(6); n > 0; n--)
        hdx_buffer_text(&text, ONE_OF(lines));
    const char *last = ONE_OF(last_lines);
    const int   code = (int)below(HDX_CANCELLED + 1);
    if (strstr(last, "%d") != NULL)
        hdx_buffer_format(&text,
                          "{\"say\": \"end\", \"code\": %d, \"error\": \"one.hprof: it is none\", \"hint\": \"try "
                          "another\"}\n",
                          code);
    else
        hdx_buffer_text(&text, last);
    const int end = ends[below(HDX_COUNT(ends))];
    d.j.child = say(text.at, end);
    while (hdx_batch_read(&d.r, &d.j))
        ;
    hdx_batch_finish(&d.r, &d.j);
    put_job(b, &d);
    close_drawn(&d);
    hdx_buffer_free(&text);
}

/* What earlier calls and other runners have left. */
static void left_over(hdx_buffer *b)
{
    drawn d;
    draw(&d);
    d.j.s.state = BATCH_WAITING;
    hdx_buffer_format(b, "%d %s ", hdx_batch_is_finished(&d.r, &d.j, &d.j.before),
                      hdx_batch_index_alone(&d.j) != NULL ? "alone" : "-");
    if (below(2)) {
        hdx_error err = { .offset = HDX_NOWHERE };
        if (below(8) > 0)
            cr_assert(hdx_batch_status_write("out", &d.dump, &d.j.before, false, &err) == HDX_OK, "%s", err.message);
        if (below(2))
            d.r.began.tv_sec = INT64_MAX / 2;
        hdx_buffer_format(b, "%d\n", hdx_batch_others_did(&d.r, &d.j));
    } else if (below(2)) {
        hdx_buffer_format(b, "%d\n", hdx_batch_is_refused(&d.r, &d.j, &d.j.before));
    } else {
        hdx_batch_put_back(&d.r, &d.j, below(2) ? BATCH_HELD : BATCH_WAITING);
    }
    put_job(b, &d);
    close_drawn(&d);
}

/* Steps in which attempts were interrupted, and errors of every kind. */
static void told_of(hdx_buffer *b)
{
    static const char *const hints[] = { "", "h", "try another" }, *const wheres[] = { "", "x", "one.hprof" };
    static const char *const steps[] = { NULL, "scan" };
    static const double      forecasts[] = { 0, 0.25, 9.96, 10, 123.4 };
    drawn                    d;
    draw(&d);
    d.j.s.step = ONE_OF(steps);
    d.j.s.step_attempts = below(4);
    d.j.s.step_forecast = forecasts[below(HDX_COUNT(forecasts))];
    hdx_batch_warn_of_step(&d.r, &d.j);
    hdx_error err = { .offset = HDX_NOWHERE, .message = "it is so" };
    err.code = (hdx_code)(1 + below(HDX_CANCELLED));
    (void)snprintf(err.hint, sizeof err.hint, "%s", ONE_OF(hints));
    (void)snprintf(err.where, sizeof err.where, "%s", ONE_OF(wheres));
    hdx_batch_fail(&d.r, &d.j, &err);
    put_status(b, &d.j.s);
    d.j.ended = true;
    d.j.s.state = below(3) == 0 ? BATCH_DONE : below(2) ? BATCH_INTERRUPTED : BATCH_FAILED;
    const bool away = below(4) == 0; /* then no status can be written */
    cr_assert(!away || rename("out/status", "out/away") == 0);
    hdx_batch_close(&d.r, &d.j);
    cr_assert(!away || rename("out/away", "out/status") == 0);
    put_job(b, &d);
    close_drawn(&d);
}

/* 40 blocks of 64 bytes are free. */
int statvfs64(const char *path, struct statvfs64 *out)
{
    (void)path;
    *out = (struct statvfs64){ .f_blocks = 100, .f_bavail = 40, .f_frsize = 64 };
    return 0;
}

static uint64_t small(void) { return below(6) == 0 ? UINT64_MAX - below(5) : below(1000); }

/* Forecasts of three dumps, and those that are kept from earlier calls; what disk is there for them, and their order.
 */
static void forecasts(hdx_buffer *b)
{
    static const char *const ids[] = { "a", "b", "c", "d", "e" };
    batch_dump               dumps[3] = { 0 };
    batch_job                jobs[3] = { 0 }, *ordered[3], *working[3];
    hdx_error                err = { .offset = HDX_NOWHERE };
    hdx_batch_options        o = { .out = "out" };
    batch_run                r = { .o = &o, .arena = hdx_arena_of(NULL), .line = hdx_arena_of(NULL) };
    r.jobs = jobs;
    r.ordered = ordered;
    r.count = below(4);
    r.working = working;
    r.estimated = below(5) > 0;
    for (unsigned i = 0; i < 3; i++) {
        dumps[i] = (batch_dump){ .id = ids[i], .path = "other.hprof", .whole = "/other.hprof" };
        jobs[i] = (batch_job){ .dump = &dumps[i], .index_dir = below(3) ? "one.hdx" : "/proc/one.hdx" };
        jobs[i].known = below(4) > 0;
        jobs[i].guess = below(4) == 0;
        jobs[i].s.state = below(3) == 0 ? BATCH_SKIPPED : BATCH_WAITING;
        jobs[i].s.forecast_seconds = 77;
        jobs[i].forecast.indexed = below(5) == 0;
        jobs[i].forecast.disk = small();
        jobs[i].forecast.temporary = small();
        jobs[i].forecast.memory = small();
        jobs[i].forecast.least = small();
        jobs[i].forecast.seconds = below(4);
        jobs[i].forecast.objects = below(2) * 100000000u;
    }
    for (unsigned i = below(5); i > 0 && hdx_list_room(NULL, HDX_LIST_REF(&r.saved)); i--) {
        batch_saved *k = &r.saved.at[r.saved.count++];
        *k = (batch_saved){ .id = ids[below(5)] };
        k->forecast.objects = 5 + i;
    }
    (void)unlink("out/plan.jsonl");
    cr_assert(hdx_batch_keep_forecasts(&r, &err) == HDX_OK);
    size_t    len = 0;
    hdx_arena arena = hdx_arena_of(NULL);
    char     *text = hdx_batch_file_read(&arena, "out/plan.jsonl", 1 << 20, &len);
    hdx_buffer_text(b, text != NULL ? text : "no plan\n");
    cr_assert(hdx_batch_put_in_order(&r, &err) == HDX_OK);
    for (size_t i = 0; i < r.count; i++) {
        const batch_job *j = ordered[i];
        hdx_buffer_format(b, "%s %d %zu %g %llu %llu %llu %llu\n", j->dump->id, j->disk_device != 0, j->order,
                          j->s.forecast_seconds, (unsigned long long)j->s.forecast_memory,
                          (unsigned long long)j->s.least_memory, (unsigned long long)j->s.forecast_disk,
                          (unsigned long long)hdx_batch_disk_of(j));
        for (size_t k = 0; k < r.count; k++)
            jobs[k].disk_device = below(3) ? 7 : 8;
        for (r.working_count = 0; r.working_count < r.count; r.working_count++) {
            hdx_buffer_format(b, "%llu ", (unsigned long long)hdx_batch_disk_for(&r, j));
            working[r.working_count] = &jobs[r.working_count];
        }
        hdx_buffer_format(b, "%llu\n", (unsigned long long)hdx_batch_disk_for(&r, j));
    }
    hdx_list_free(NULL, HDX_LIST_REF(&r.saved));
    hdx_arena_free(&arena);
    hdx_arena_free(&r.arena);
    hdx_arena_free(&r.line);
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    unsigned first;
    char     what[16];
    (void)context;
    cr_assert(sscanf(ask, "%15s %u", what, &first) == 2, "%s", ask);
    events = b;
    for (unsigned i = 0; i < 10; i++) {
        random_state = first * 10 + i;
        (void)below(2);
        if (strcmp(what, "child") == 0)
            child_says(b);
        else if (strcmp(what, "left") == 0)
            left_over(b);
        else if (strcmp(what, "plan") == 0)
            forecasts(b);
        else
            told_of(b);
        hdx_buffer_text(b, "--\n");
    }
    return b->len;
}

Test(job, becomes_what_it_became, .timeout = 60)
{
    (void)signal(SIGPIPE, SIG_IGN);
    test_folder_make_fast(folder, "job");
    cr_assert(chdir(folder) == 0 && mkdir("out", 0777) == 0 && mkdir("one.hdx", 0777) == 0);
    static const char *const folders[] = { "out/status", "out/claims", "out/answers", "out/answers/one", "out/tables" };
    for (size_t i = 0; i < HDX_COUNT(folders); i++)
        cr_assert(mkdir(folders[i], 0777) == 0);
    put("out/answers/one/histogram.json", "{}");
    put("out/answers/one/threads.json", "{}");
    put("out/answers/one/histo.json", "{}");
    put("one.hdx/file", "x");
    put("other.hprof", "bytes");
    hdx_error               why = { .code = HDX_BAD_DUMP, .message = "no dump" }, err;
    const hdx_fleet_options fleet = { .out = "out", .dump_id = "one", .format = HDX_FLEET_CSV, .failure = &why };
    cr_assert(hdx_fleet_write(NULL, &fleet, &err) == HDX_OK, "%s", err.message);
    checksums_check(HDX_TREE "/tests/batch/jobs.txt", text_of, NULL);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
