/*
 * run.c - the parent of a batch: an event loop over children.
 *
 *     inputs -> deal of tasks -> forecasts (children) -> order -> work (children) -> summary
 *
 * In:  options; OUT as earlier calls, or other runners at this moment, have left it.
 * Out: OUT/status, OUT/summary.json; what the children write.
 * One thread, so that fork is safe; it reads no dump itself, so that none can bring it down. What it knows of a dump at
 * work came through a pipe, whose end is the end of the child.
 */
#include "batch/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS      200 /* between two looks at whether to stop */
#define HELD_LOOK_NS 500000000ull
#define MOST_LINE    (1u << 20) /* of a child */
#define MOST_AGAIN   2u         /* times that a child which somebody else has told to stop begins again */

typedef struct job {
    const batch_dump *dump;
    const char       *index_dir;
    unsigned          task;
    size_t            order; /* 0: the largest */
    batch_status      s;     /* as now */
    batch_status      before;
    bool              was; /* there is a status of an earlier call */
    batch_forecast    forecast;
    bool              known; /* that is from OUT/plan.jsonl, or a child has said it */
    bool              guess; /* ... nobody could */
    uint64_t          disk_device;
    batch_claim       claim;
    batch_child       child;
    hdx_buffer        input; /* of it, a line that is not whole */
    bool              ended; /* it said so */
    hdx_code          code;
    unsigned          again;
    unsigned          step_number;
    uint64_t          began_ns, looked_ns;
} job;

typedef struct run {
    const hdx_batch_options *o;
    hdx_batch_options        settled;     /* o points there */
    hdx_arena                arena, line; /* `line`: of one line, emptied */
    batch_dumps              dumps;
    job                     *jobs;
    size_t                   count;
    job                    **ordered, **working; /* by forecast; with a child */
    size_t                   working_count, next_new;
    batch_room               room;
    batch_kept_list          kept;
    bool                     estimated; /* something is forecast that the list has not */
    bool                     stopping, told_planned;
    hdx_batch_counts         counts;
    struct timespec          began; /* by the clock of the file system that OUT is on */
    uint64_t                 began_ns, beat_ns;
    const char              *asked, *tables;
} run;

/* ---- telling ---- */

const char *hdx_batch_happening_name(hdx_batch_happening what)
{
    static const char *const names[] = { "planned", "started",     "step", "done",   "skipped",
                                         "failed",  "interrupted", "held", "notice", "summary" };
    return names[what];
}

static double since(uint64_t ns) { return (double)(hdx_now_ns() - ns) / 1e9; }

static void count(run *r)
{
    hdx_batch_counts n = { .dumps = r->count };
    for (size_t i = 0; i < r->count; i++)
        switch (r->jobs[i].s.state) {
        case BATCH_DONE:
        case BATCH_PLANNED: n.done++; break;
        case BATCH_SKIPPED: n.skipped++; break;
        case BATCH_FAILED: n.failed++; break;
        case BATCH_INTERRUPTED: n.interrupted++; break;
        case BATCH_HELD: n.held++; break;
        case BATCH_RUNNING: n.running++; break;
        case BATCH_NEW:
        case BATCH_WAITING: n.waiting++; break;
        }
    r->counts = n;
}

static void tell(run *r, hdx_batch_happening what, const job *j, const char *message, const hdx_progress_report *step)
{
    hdx_batch_event e = { .what = what, .message = message, .seconds = since(j != NULL ? j->began_ns : r->began_ns) };
    if (r->o->happened == NULL)
        return;
    count(r);
    e.counts = r->counts;
    if (j != NULL) {
        e.dump_id = j->dump->id;
        e.dump = j->dump->path;
        e.exit_code = j->s.exit_code;
        e.threads = j->s.threads;
        e.memory = j->s.memory;
        e.forecast_seconds = j->s.forecast_seconds;
    }
    if (step != NULL)
        e.step = *step;
    r->o->happened(r->o->context, &e);
}

static void say(void *context, const char *line) { tell(context, HDX_BATCH_NOTICE, NULL, line, NULL); }

static void say_of(run *r, const job *j, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say_of(run *r, const job *j, const char *format, ...)
{
    char    line[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    tell(r, HDX_BATCH_NOTICE, j, line, NULL);
}

static const char *keep(run *r, const char *text)
{
    return text != NULL ? hdx_arena_copy(&r->arena, text, strlen(text)) : NULL;
}

/* ---- what is finished ---- */

/* Are all of `wanted` among `had`, commas between? */
static bool all_among(const char *wanted, const char *had)
{
    for (size_t len; wanted != NULL && *wanted != '\0'; wanted += len + (wanted[len] == ',')) {
        bool found = false;
        len = strcspn(wanted, ",");
        for (const char *at = had; at != NULL && *at != '\0' && !found;) {
            const size_t n = strcspn(at, ",");
            found = n == len && memcmp(at, wanted, len) == 0;
            at += n + (at[n] == ',');
        }
        if (!found)
            return false;
    }
    return true;
}

static bool answers_are_there(const run *r, const batch_dump *d)
{
    const char *at = r->asked;
    char        path[4200];
    for (size_t len; at != NULL && *at != '\0'; at += len + (at[len] == ',')) {
        len = strcspn(at, ",");
        if ((size_t)snprintf(path, sizeof path, "%s/answers/%s/%.*s.json", r->o->out, d->id, (int)len, at) >=
                sizeof path ||
            access(path, F_OK) != 0)
            return false;
    }
    return true;
}

static bool file_of(const char *path, uint64_t *size, uint64_t *mtime_ns)
{
    struct stat st;
    const bool  there = stat(path, &st) == 0;
    *size = there ? (uint64_t)st.st_size : 0;
    *mtime_ns = there ? (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec : 0;
    return there;
}

/* Has an earlier call, or another runner, done all that is asked for? Whether its index is valid is another question.
 */
static bool is_finished(const run *r, const job *j, const batch_status *before)
{
    uint64_t   size, mtime_ns;
    const bool there = file_of(j->dump->path, &size, &mtime_ns);
    if (before->state != BATCH_DONE || before->index == NULL || access(before->index, F_OK) != 0 ||
        !all_among(r->asked, before->asked) || !answers_are_there(r, j->dump) ||
        (r->tables != NULL && (before->tables == NULL || strcmp(before->tables, r->tables) != 0)))
        return false;
    if (!there) /* deleted since: what is known of it stays */
        return true;
    return size == before->file_size && mtime_ns == before->mtime_ns && !r->o->drop;
}

/* What another runner has said of it since this one began. */
static bool is_recent(const run *r, const job *j)
{
    char        path[4200];
    struct stat st;
    (void)snprintf(path, sizeof path, "%s/status/%s.json", r->o->out, j->dump->id);
    return stat(path, &st) == 0 && (st.st_mtim.tv_sec > r->began.tv_sec ||
                                    (st.st_mtim.tv_sec == r->began.tv_sec && st.st_mtim.tv_nsec > r->began.tv_nsec));
}

static void skip(run *r, job *j, const batch_status *before)
{
    j->s = *before;
    j->s.state = BATCH_SKIPPED;
    j->s.exit_code = 0;
    tell(r, HDX_BATCH_SKIPPED, j, NULL, NULL);
}

/* Another runner may have been at work on it: true when nothing is left to do. */
static bool others_did(run *r, job *j)
{
    batch_status now;
    if (!batch_status_read(r->o->out, j->dump->id, &r->arena, &now))
        return false;
    j->before = now;
    j->was = true;
    if (is_finished(r, j, &now)) {
        skip(r, j, &now);
        return true;
    }
    if (now.state == BATCH_FAILED && is_recent(r, j) && all_among(r->asked, now.asked)) {
        j->s = now;
        tell(r, HDX_BATCH_FAILED, j, now.error, NULL);
        return true;
    }
    return false;
}

/* ---- an end ---- */

static uint64_t now_ms(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_REALTIME, &t) == 0 ? (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u : 0;
}

static void fail(run *r, job *j, const hdx_error *err)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    if (err->where[0] != '\0')
        hdx_buffer_format(&b, "%s: ", err->where);
    hdx_buffer_text(&b, err->message);
    j->s.state = BATCH_FAILED;
    j->s.exit_code = batch_exit_code(err->code);
    j->s.kind = hdx_code_name(err->code);
    j->s.error = keep(r, b.at);
    j->s.hint = err->hint[0] != '\0' ? keep(r, err->hint) : NULL;
    hdx_buffer_free(&b);
}

/* What was said goes to disk before the claim is given back: B1. */
static void close_job(run *r, job *j)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    j->s.ended_ms = now_ms();
    if (batch_claim_is_ours(&j->claim) && batch_status_write(r->o->out, j->dump, &j->s, true, &err) != HDX_OK) {
        if (j->s.state != BATCH_FAILED)
            fail(r, j, &err);
        say_of(r, j, "its status cannot be written: %s", err.message);
    }
    batch_claim_give(&j->claim);
    tell(r,
         j->s.state == BATCH_DONE     ? HDX_BATCH_DONE
         : j->s.state == BATCH_FAILED ? HDX_BATCH_FAILED
                                      : HDX_BATCH_INTERRUPTED,
         j, j->s.error, NULL);
}

static void warn_of_step(run *r, const job *j)
{
    if (j->s.step == NULL || j->s.step_attempts < 2)
        return;
    if (j->s.step_forecast > 0)
        say_of(r, j, "%u attempts in a row were interrupted in the step %s, which takes about %.*f s: give it longer",
               j->s.step_attempts, j->s.step, j->s.step_forecast < 10 ? 1 : 0, j->s.step_forecast);
    else
        say_of(r, j, "%u attempts in a row were interrupted in the step %s: give it longer", j->s.step_attempts,
               j->s.step);
}

/* Only what nobody needs any more: a whole index, of a whole dump that nobody has changed. */
static void drop_dump(run *r, job *j)
{
    uint64_t  size, mtime_ns;
    hdx_error err = { .offset = HDX_NOWHERE };
    if (!file_of(j->dump->path, &size, &mtime_ns) || size != j->s.file_size || mtime_ns != j->s.mtime_ns) {
        say_of(r, j, "the dump has changed and is not deleted");
    } else if (j->s.damage_places > 0) {
        say_of(r, j, "the dump is damaged and is not deleted");
    } else if (batch_status_write(r->o->out, j->dump, &j->s, true, &err) != HDX_OK) {
        say_of(r, j, "the dump is not deleted: %s: %s", err.where, err.message);
    } else if (unlink(j->dump->path) != 0) {
        say_of(r, j, "the dump cannot be deleted: %s", strerror(errno));
    } else {
        j->s.dropped = true;
    }
}

static void note_killed(run *r, job *j, int status)
{
    char line[160];
    if (WIFSIGNALED(status)) {
        const int n = WTERMSIG(status);
        (void)snprintf(line, sizeof line, "its process was ended by signal %d (%s)", n, strsignal(n));
        j->s.exit_code = 128 + n;
        j->s.hint = n == SIGKILL ? "was the machine out of memory? --memory SIZE says how much there is" : NULL;
    } else {
        (void)snprintf(line, sizeof line, "its process ended with %d and said nothing", WEXITSTATUS(status));
        j->s.exit_code = WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 7;
    }
    j->s.state = BATCH_FAILED;
    j->s.kind = "killed";
    j->s.error = keep(r, line);
}

/* A child has closed its end of the pipe: it is gone, or about to be. */
static void finish(run *r, job *j)
{
    struct rusage used = { 0 };
    int           status = 0;
    while (wait4(j->child.pid, &status, 0, &used) < 0 && errno == EINTR)
        ;
    (void)close(j->child.from);
    j->child = (batch_child){ 0, -1 };
    hdx_buffer_free(&j->input);
    if (j->s.state == BATCH_NEW) { /* it was to forecast */
        if (!j->known) {
            j->guess = j->known = true;
            j->forecast = batch_forecast_guess(j->dump->path, j->s.file_size);
        }
        j->s.state = BATCH_WAITING;
        return;
    }
    j->s.seconds = since(j->began_ns);
    j->s.cpu_seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    j->s.peak_memory = (uint64_t)used.ru_maxrss * 1024u;
    if (!j->ended) {
        note_killed(r, j, status);
    } else if (j->code == HDX_OK) {
        j->s.state = BATCH_DONE;
        j->s.exit_code = 0;
        j->s.step_attempts = 0;
        if (r->o->drop)
            drop_dump(r, j);
    } else if (j->code == HDX_BUSY && !r->stopping) {
        j->s.state = BATCH_HELD;
        j->looked_ns = hdx_now_ns();
        batch_claim_give(&j->claim);
        tell(r, HDX_BATCH_HELD, j, j->s.error, NULL);
        return;
    } else if (j->code == HDX_CANCELLED && !r->stopping && j->again < MOST_AGAIN) { /* by somebody else */
        j->again++;
        j->s.state = BATCH_WAITING;
        batch_claim_give(&j->claim);
        return;
    } else if (j->code == HDX_CANCELLED || j->code == HDX_BUSY) {
        j->s.state = BATCH_INTERRUPTED;
        j->s.exit_code = batch_exit_code(HDX_CANCELLED);
        j->s.kind = hdx_code_name(HDX_CANCELLED);
        warn_of_step(r, j);
    } else {
        j->s.state = BATCH_FAILED;
        j->s.exit_code = batch_exit_code(j->code);
        j->s.kind = hdx_code_name(j->code);
    }
    close_job(r, j);
}

/* ---- lines of a child ---- */

/* Written down at once, not to disk: a call that is killed in this step is told of by the next one. */
static void take_step(run *r, job *j, const batch_flat *f)
{
    const char               *name = batch_flat_text(f, "step"), *unit = batch_flat_text(f, "unit");
    const hdx_progress_report step = { .step = name != NULL ? name : "",
                                       .number = (unsigned)batch_flat_number(f, "number"),
                                       .steps = (unsigned)batch_flat_number(f, "steps"),
                                       .done = batch_flat_number(f, "done"),
                                       .total = batch_flat_number(f, "total"),
                                       .unit = unit != NULL ? unit : "" };
    if (j->s.state == BATCH_NEW || name == NULL)
        return;
    if (j->step_number != step.number || j->s.step == NULL || strcmp(j->s.step, name) != 0) {
        const bool same = j->was && (j->before.state == BATCH_INTERRUPTED || j->before.state == BATCH_RUNNING) &&
                          j->before.step != NULL && strcmp(j->before.step, name) == 0;
        j->step_number = step.number;
        j->s.step = keep(r, name);
        j->s.step_attempts = same ? j->before.step_attempts + 1 : 1;
        j->s.step_forecast = batch_forecast_step(&j->forecast, name);
        (void)batch_status_write(r->o->out, j->dump, &j->s, false, NULL);
    }
    tell(r, HDX_BATCH_STEP, j, NULL, &step);
}

static void take_end(run *r, job *j, const batch_flat *f)
{
    j->ended = true;
    j->code = (hdx_code)batch_flat_number(f, "code");
    j->s.error = keep(r, batch_flat_text(f, "error"));
    j->s.hint = keep(r, batch_flat_text(f, "hint"));
    j->s.damage_places = batch_flat_number(f, "damage_places");
    j->s.damage = keep(r, batch_flat_text(f, "damage"));
    j->s.objects = batch_flat_number(f, "objects");
    j->s.live_objects = batch_flat_number(f, "live_objects");
    j->s.references = batch_flat_number(f, "references");
    j->s.index = keep(r, batch_flat_text(f, "index"));
    j->s.index_bytes = batch_flat_number(f, "index_bytes");
    const char *reused = batch_flat_text(f, "reused");
    j->s.reused = reused != NULL && strcmp(reused, "true") == 0;
}

static void take_line(run *r, job *j, const char *line, size_t len)
{
    batch_flat  f;
    const char *what, *text;
    hdx_arena_empty(&r->line);
    if (!batch_flat_read(&r->line, line, len, &f) || (what = batch_flat_text(&f, "say")) == NULL)
        return;
    if (strcmp(what, "step") == 0) {
        take_step(r, j, &f);
    } else if (strcmp(what, "notice") == 0) {
        if ((text = batch_flat_text(&f, "line")) != NULL && j->s.state != BATCH_NEW)
            tell(r, HDX_BATCH_NOTICE, j, text, NULL);
    } else if (strcmp(what, "forecast") == 0) {
        j->known = batch_forecast_take(&f, &r->arena, &j->forecast);
        r->estimated |= j->known && !j->forecast.indexed;
    } else if (strcmp(what, "end") == 0) {
        if (j->s.state != BATCH_NEW)
            take_end(r, j, &f);
    }
}

/* False: that was all. */
static bool read_child(run *r, job *j)
{
    char          bytes[65536];
    const ssize_t n = read(j->child.from, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR)
        return true;
    if (n <= 0)
        return false;
    hdx_buffer_put(&j->input, bytes, (uint64_t)n);
    size_t at = 0;
    while (!j->input.failed && at < j->input.len) {
        const char *from = j->input.at + at, *stop = memchr(from, '\n', (size_t)(j->input.len - at));
        if (stop == NULL)
            break;
        take_line(r, j, from, (size_t)(stop - from));
        at += (size_t)(stop - from) + 1;
    }
    if (at > 0 && !j->input.failed) {
        memmove(j->input.at, j->input.at + at, (size_t)(j->input.len - at));
        j->input.len -= at;
    }
    return !j->input.failed && j->input.len < MOST_LINE; /* no child of ours says so much */
}

/* ---- starting ---- */

static hdx_code start_child(run *r, job *j, bool forecast, unsigned threads, uint64_t memory, hdx_error *err)
{
    const batch_task task = { .options = r->o,
                              .dump = j->dump,
                              .index_dir = j->index_dir,
                              .forecast = forecast,
                              .threads = threads,
                              .memory = memory };
    batch_child     *others = hdx_arena_get(&r->line, (r->working_count + 1) * sizeof *others);
    if (others == NULL)
        return hdx_no_memory(err, "a child", 0);
    for (size_t i = 0; i < r->working_count; i++)
        others[i] = r->working[i]->child;
    const hdx_code code = batch_child_start(&task, others, r->working_count, &j->child, err);
    if (code == HDX_OK) {
        j->input = hdx_buffer_of(NULL);
        j->ended = false;
        j->step_number = 0;
        j->began_ns = hdx_now_ns();
        r->working[r->working_count++] = j;
    }
    return code;
}

/* How large are they? As many children at once as there are threads. */
static void start_forecasts(run *r)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    while (r->working_count < r->room.threads && r->next_new < r->count) {
        job *j = &r->jobs[r->next_new++];
        if (j->s.state != BATCH_NEW)
            continue;
        if (j->known || start_child(r, j, true, 1, 0, &err) != HDX_OK) {
            if (!j->known)
                j->forecast = batch_forecast_guess(j->dump->path, j->s.file_size);
            j->guess |= !j->known;
            j->known = true;
            j->s.state = BATCH_WAITING;
        }
    }
}

static hdx_code begin_work(run *r, job *j, const batch_choice *c, hdx_error *err)
{
    hdx_code code = batch_claim_take(&j->claim, r->o->out, j->dump->id, err);
    if (code != HDX_OK)
        return code;
    if (others_did(r, j)) {
        batch_claim_give(&j->claim);
        return HDX_OK;
    }
    (void)file_of(j->dump->path, &j->s.file_size, &j->s.mtime_ns);
    j->s.state = BATCH_RUNNING;
    j->s.threads = c->threads;
    j->s.memory = c->memory;
    j->s.asked = r->asked;
    j->s.tables = r->tables;
    if (j->was && (j->before.state == BATCH_INTERRUPTED || j->before.state == BATCH_RUNNING)) {
        j->s.step = j->before.step; /* until it says more: it may be killed before */
        j->s.step_attempts = j->before.step_attempts;
        j->s.step_forecast = j->before.step_forecast;
        warn_of_step(r, j);
    }
    if ((code = batch_status_write(r->o->out, j->dump, &j->s, false, err)) == HDX_OK &&
        (code = start_child(r, j, false, c->threads, c->memory, err)) == HDX_OK)
        tell(r, HDX_BATCH_STARTED, j, NULL, NULL);
    return code;
}

/* ---- room ---- */

static const char *index_place(const job *j, char folder[4096])
{
    const char *path = j->index_dir != NULL ? j->index_dir : j->dump->whole, *slash = strrchr(path, '/');
    (void)snprintf(folder, 4096, "%.*s", slash == NULL || slash == path ? 1 : (int)(slash - path),
                   slash == NULL ? "." : path);
    return folder;
}

static uint64_t disk_of(const job *j)
{
    return j->forecast.indexed || j->guess ? 0 : j->forecast.disk + j->forecast.temporary;
}

/* Of the file system that its index goes to, less what those at work will take there. */
static uint64_t disk_for(const run *r, const job *j)
{
    char     folder[4096];
    uint64_t there = UINT64_MAX, taken = 0;
    if (disk_of(j) == 0 || hdx_io_system()->space(hdx_io_system(), index_place(j, folder), &there) < 0)
        return UINT64_MAX;
    for (size_t i = 0; i < r->working_count; i++)
        if (r->working[i]->disk_device == j->disk_device)
            taken += disk_of(r->working[i]);
    return there > taken ? there - taken : 0;
}

static void never(run *r, job *j, const batch_choice *c)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    char      needs[16], has[16];
    hdx_human_size(c->fit == BATCH_NEVER_MEMORY ? j->forecast.least : disk_of(j), needs);
    hdx_human_size(c->fit == BATCH_NEVER_MEMORY ? r->room.memory : disk_for(r, j), has);
    (void)hdx_fail(&err, HDX_LIMIT, NULL, HDX_NOWHERE,
                   c->fit == BATCH_NEVER_MEMORY ? "it needs %s of memory, the batch has %s"
                                                : "it needs %s of disk for its index, there are %s",
                   needs, has);
    if (c->fit == BATCH_NEVER_MEMORY)
        (void)hdx_hint(&err, HDX_LIMIT, "--memory %lluM would do", (unsigned long long)((j->forecast.least >> 20) + 1));
    else
        (void)hdx_hint(&err, HDX_LIMIT, "make room on that disk, or put indexes elsewhere with --index-dir DIR");
    fail(r, j, &err);
    if (batch_claim_take(&j->claim, r->o->out, j->dump->id, &err) == HDX_BUSY) {
        j->s.state = BATCH_HELD;
        j->looked_ns = hdx_now_ns();
        return;
    }
    j->s.asked = r->asked;
    j->s.tables = r->tables;
    close_job(r, j);
}

/* Starts what can be started now. */
static hdx_code start_work(run *r, hdx_error *err)
{
    for (;;) {
        size_t         waiting = 0;
        batch_want    *wants = hdx_arena_get(&r->line, (r->count + 1) * sizeof *wants);
        size_t        *orders = hdx_arena_get(&r->line, (r->count + 1) * sizeof *orders);
        batch_running *running = hdx_arena_get(&r->line, (r->working_count + 1) * sizeof *running);
        if (wants == NULL || orders == NULL || running == NULL)
            return hdx_no_memory(err, "a plan", r->count);
        for (size_t i = 0; i < r->count; i++) {
            const job *j = r->ordered[i];
            if (j->s.state != BATCH_WAITING)
                continue;
            orders[waiting] = i;
            wants[waiting++] = (batch_want){ j->forecast.memory, j->forecast.least, disk_of(j), disk_for(r, j) };
        }
        for (size_t i = 0; i < r->working_count; i++)
            running[i] = (batch_running){ r->working[i]->order, r->working[i]->s.threads, r->working[i]->s.memory };
        const batch_choice c = batch_plan_next(&r->room, wants, orders, waiting, running, r->working_count);
        job               *j = waiting > 0 ? r->ordered[orders[c.place]] : NULL;
        hdx_error          own = { .offset = HDX_NOWHERE };
        hdx_arena_empty(&r->line);
        if (c.fit == BATCH_WAITS)
            return HDX_OK;
        if (c.fit != BATCH_STARTS) {
            never(r, j, &c);
            continue;
        }
        const hdx_code code = begin_work(r, j, &c, &own);
        if (code == HDX_BUSY) {
            j->s.state = BATCH_HELD;
            j->looked_ns = hdx_now_ns();
            tell(r, HDX_BATCH_HELD, j, own.message, NULL);
        } else if (code != HDX_OK) {
            fail(r, j, &own);
            close_job(r, j);
        }
    }
}

/* Has another runner let go of them? */
static void look_at_held(run *r)
{
    const uint64_t now = hdx_now_ns();
    for (size_t i = 0; i < r->count; i++) {
        job *j = &r->jobs[i];
        if (j->s.state != BATCH_HELD || now - j->looked_ns < HELD_LOOK_NS)
            continue;
        j->looked_ns = now;
        if (!batch_claim_is_held(r->o->out, j->dump->id) && !others_did(r, j))
            j->s.state = BATCH_WAITING;
    }
}

/* ---- the loop ---- */

static void stop_children(run *r)
{
    r->stopping = true;
    for (size_t i = 0; i < r->working_count; i++) /* who only reads a sample has nothing to keep */
        (void)kill(r->working[i]->child.pid, r->working[i]->s.state == BATCH_NEW ? SIGKILL : SIGTERM);
}

static void beat(run *r)
{
    if (hdx_now_ns() - r->beat_ns < BATCH_CLAIM_BEAT_S * 1000000000ull)
        return;
    r->beat_ns = hdx_now_ns();
    for (size_t i = 0; i < r->working_count; i++)
        batch_claim_beat(&r->working[i]->claim);
}

/* Waits until a child says something, or a moment, and takes what there is. */
static hdx_code turn(run *r, hdx_error *err)
{
    const hdx_progress *p = &r->o->progress;
    if (!r->stopping && p->cancelled != NULL && p->cancelled(p->context))
        stop_children(r);
    struct pollfd *fds = hdx_arena_get(&r->line, (r->working_count + 1) * sizeof *fds);
    if (fds == NULL)
        return hdx_no_memory(err, "a list of children", 0);
    const size_t waited = r->working_count;
    for (size_t i = 0; i < waited; i++)
        fds[i] = (struct pollfd){ .fd = r->working[i]->child.from, .events = POLLIN };
    (void)poll(fds, (nfds_t)waited, LOOK_MS);
    uint64_t said = 0;
    for (size_t i = 0; i < waited && i < 64; i++)
        said |= (uint64_t)(fds[i].revents != 0) << i;
    for (size_t i = waited < 64 ? waited : 64; i-- > 0;) {
        job *j = r->working[i];
        if ((said >> i & 1) == 0 || read_child(r, j))
            continue;
        r->working[i] = r->working[--r->working_count];
        finish(r, j);
    }
    hdx_arena_empty(&r->line);
    beat(r);
    return HDX_OK;
}

static bool any(const run *r, batch_state state)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->jobs[i].s.state == state)
            return true;
    return false;
}

static hdx_code forecast_all(run *r, hdx_error *err)
{
    hdx_code code = HDX_OK;
    do {
        if (!r->stopping)
            start_forecasts(r);
        if (r->working_count > 0)
            code = turn(r, err);
    } while (code == HDX_OK && (r->working_count > 0 || (!r->stopping && r->next_new < r->count)));
    return code;
}

static hdx_code work_all(run *r, hdx_error *err)
{
    hdx_code code = HDX_OK;
    while (code == HDX_OK) {
        if (!r->stopping) {
            look_at_held(r);
            if ((code = start_work(r, err)) != HDX_OK)
                break;
        }
        if (r->working_count == 0 &&
            (r->stopping || (!any(r, BATCH_WAITING) && (r->o->no_wait || !any(r, BATCH_HELD)))))
            break;
        code = turn(r, err);
    }
    return code;
}

/* ---- before and after ---- */

static hdx_code make_folder(const char *path, hdx_error *err)
{
    char part[4200];
    for (size_t i = 1; path[0] != '\0'; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        if ((size_t)snprintf(part, sizeof part, "%.*s", (int)i, path) >= sizeof part)
            return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "the path is too long");
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return hdx_fail(err, HDX_IO, part, HDX_NOWHERE, "cannot be made: %s", strerror(errno));
        if (path[i] == '\0')
            break;
    }
    return HDX_OK;
}

static hdx_code make_out(run *r, hdx_error *err)
{
    static const char *const folders[] = { "", "/status", "/claims", "/answers" };
    char                     path[4200];
    struct stat              st;
    hdx_code                 code = HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < HDX_COUNT(folders); i++) {
        if ((size_t)snprintf(path, sizeof path, "%s%s", r->o->out, folders[i]) >= sizeof path - 200)
            return hdx_fail(err, HDX_USAGE, r->o->out, HDX_NOWHERE, "the path is too long");
        code = make_folder(path, err);
    }
    if (code == HDX_OK && r->o->index_dir != NULL)
        code = make_folder(r->o->index_dir, err);
    (void)snprintf(path, sizeof path, "%s/claims/.began", r->o->out);
    if (code == HDX_OK && (code = batch_file_write(path, "", 0, false, err)) == HDX_OK && stat(path, &st) == 0)
        r->began = st.st_mtim;
    return code;
}

static uint64_t number_in(const char *path, const char *key, uint64_t unit)
{
    char         text[4096];
    FILE        *f = fopen(path, "re");
    const size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL)
        (void)fclose(f);
    text[n] = '\0';
    const char *at = strstr(text, key);
    char       *end = NULL;
    if (at == NULL)
        return UINT64_MAX;
    const unsigned long long v = strtoull(at + strlen(key), &end, 10);
    uint64_t                 bytes;
    return end == at + strlen(key) || !hdx_mul(v, unit, &bytes) ? UINT64_MAX : bytes;
}

/* What this machine, this container and this job have, less a quarter for what else is there. */
static uint64_t memory_here(void)
{
    const char *slurm = getenv("SLURM_MEM_PER_NODE"); /* in MB */
    uint64_t    bytes = number_in("/proc/meminfo", "MemAvailable:", 1024), most;
    most = number_in("/sys/fs/cgroup/memory.max", "", 1);
    bytes = hdx_least(bytes, most > 0 ? most : UINT64_MAX);
    most = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", "", 1);
    bytes = hdx_least(bytes, most > 0 ? most : UINT64_MAX);
    if (slurm != NULL && hdx_mul(strtoull(slurm, NULL, 10), 1u << 20, &most) && most > 0)
        bytes = hdx_least(bytes, most);
    return bytes == UINT64_MAX ? bytes : bytes / 4 * 3;
}

static hdx_code check(const hdx_batch_options *o, hdx_error *err)
{
    char name[64];
    if (o->input_count == 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "no dump is named");
    if (o->out == NULL || o->out[0] == '\0')
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "the folder for what comes out is not named");
    const char *at = o->ask;
    for (size_t len; at != NULL && *at != '\0'; at += len + (at[len] == ',')) {
        len = strcspn(at, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : 0), at);
        const hdx_answer *a = hdx_answer_named(name);
        bool              fits = a != NULL && (a->flags & HDX_ANSWER_HEAP) != 0 && (a->flags & HDX_ANSWER_PLAIN) == 0;
        for (unsigned i = 0; fits && i < a->parameter_count; i++)
            fits = (a->parameters[i].flags & (HDX_PARAMETER_REQUIRED | HDX_PARAMETER_EITHER)) == 0;
        if (!fits)
            return hdx_hint(err,
                            hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "'%.*s' is no answer that a batch can ask for",
                                     (int)len, at),
                            "those that need nothing but a dump: histogram, suspects, leaks, dominators, threads ...");
    }
    return HDX_OK;
}

static const char *tables_name(hdx_batch_tables tables)
{
    static const char *const names[] = { NULL, "parquet", "sqlite", "csv" };
    return names[tables];
}

static hdx_code settle(run *r, const hdx_batch_options *options, hdx_error *err)
{
    hdx_code code = check(options, err);
    r->settled = *options;
    r->o = &r->settled;
    r->began_ns = hdx_now_ns();
    if (code != HDX_OK)
        return code;
    if (r->settled.ask != NULL && r->settled.ask[0] == '\0')
        r->settled.ask = NULL;
    r->settled.tasks = options->tasks > 0 ? options->tasks : 1;
    r->settled.task = options->task % r->settled.tasks;
    r->settled.threads = options->threads > 0 ? options->threads : hdx_workers_default();
    r->asked = options->index_only ? NULL : r->settled.ask;
    r->tables = options->index_only ? NULL : tables_name(options->tables);
    r->room = (batch_room){ r->settled.threads < 64 ? r->settled.threads : 64,
                            options->memory > 0 ? options->memory : memory_here() };
    if ((code = make_out(r, err)) == HDX_OK)
        code = batch_inputs(r->o, &r->arena, &r->dumps, say, r, err);
    if (code == HDX_OK)
        code = batch_plan_read(r->o->out, &r->arena, &r->kept, err);
    return code;
}

static const batch_forecast *kept_of(const run *r, const hdx_map *places, const char *id)
{
    const uint64_t *place = hdx_map_get(places, hdx_hash_bytes(4, id, strlen(id)));
    return place != NULL && strcmp(r->kept.at[*place].id, id) == 0 ? &r->kept.at[*place].forecast : NULL;
}

static hdx_code make_jobs(run *r, hdx_error *err)
{
    hdx_map  places = hdx_map_of(NULL);
    hdx_code code = HDX_OK;
    r->count = (size_t)r->dumps.count;
    r->jobs = hdx_arena_get(&r->arena, r->count * sizeof *r->jobs);
    r->ordered = hdx_arena_get(&r->arena, r->count * sizeof(job *));
    r->working = hdx_arena_get(&r->arena, (r->room.threads + 1u) * sizeof(job *));
    if (r->jobs == NULL || r->ordered == NULL || r->working == NULL)
        return hdx_no_memory(err, "the dumps of a batch", r->count);
    for (uint64_t i = 0; code == HDX_OK && i < r->kept.count; i++) {
        bool      fresh;
        uint64_t *place = hdx_map_put(&places, hdx_hash_bytes(4, r->kept.at[i].id, strlen(r->kept.at[i].id)), &fresh);
        if (place == NULL)
            code = hdx_no_memory(err, "forecasts", 0);
        else
            *place = i;
    }
    for (size_t i = 0; code == HDX_OK && i < r->count; i++) {
        job *j = &r->jobs[i];
        char path[4200];
        *j = (job){ .dump = &r->dumps.at[i], .claim = { .fd = -1 }, .child = { 0, -1 }, .began_ns = hdx_now_ns() };
        (void)file_of(j->dump->path, &j->s.file_size, &j->s.mtime_ns);
        const batch_forecast *f = kept_of(r, &places, j->dump->id);
        if (f != NULL && f->file_size == j->s.file_size && f->mtime_ns == j->s.mtime_ns) {
            j->forecast = *f;
            j->known = true;
        }
        if (r->o->index_dir != NULL) {
            (void)snprintf(path, sizeof path, "%s/%s.hdx", r->o->index_dir, j->dump->id);
            if ((j->index_dir = keep(r, path)) == NULL)
                code = hdx_no_memory(err, "the dumps of a batch", r->count);
        }
    }
    hdx_map_free(&places);
    return code;
}

/* Of forecasts where all are there, else of sizes: what is weighed is the same for all. */
static hdx_code deal(run *r, hdx_error *err)
{
    batch_weight *weights = hdx_arena_get(&r->arena, (r->count + 1) * sizeof *weights);
    bool          forecast = true;
    if (weights == NULL)
        return hdx_no_memory(err, "the deal", r->count);
    for (size_t i = 0; i < r->count; i++)
        forecast = forecast && r->jobs[i].known;
    for (size_t i = 0; i < r->count; i++) {
        const job           *j = &r->jobs[i];
        const batch_forecast guess = batch_forecast_guess(j->dump->path, j->s.file_size);
        weights[i] = (batch_weight){ j->dump->id, forecast ? j->forecast.seconds : guess.seconds, i, 0 };
    }
    const hdx_code code = batch_deal(r->o->out, weights, r->count, r->o->tasks, &r->arena, err);
    for (size_t i = 0; code == HDX_OK && i < r->count; i++)
        r->jobs[i].task = weights[i].task;
    return code;
}

static void take_share(run *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->jobs[i].task == r->o->task)
            r->jobs[kept++] = r->jobs[i];
    r->count = kept;
}

/* Those that were finished before need no forecast, only an index that is valid still: a child looks. */
static void look_back(run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        job *j = &r->jobs[i];
        j->was = batch_status_read(r->o->out, j->dump->id, &r->arena, &j->before);
        if (r->o->plan || !j->was || !is_finished(r, j, &j->before))
            continue;
        if (access(j->dump->path, F_OK) != 0)
            skip(r, j, &j->before);
        else
            j->known = false;
    }
}

static void skip_valid(run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        job *j = &r->jobs[i];
        if (j->s.state == BATCH_WAITING && j->forecast.indexed && j->was && is_finished(r, j, &j->before))
            skip(r, j, &j->before);
    }
}

static hdx_code keep_forecasts(run *r, hdx_error *err)
{
    batch_kept_list list = { 0 };
    hdx_map         ours = hdx_map_of(NULL);
    hdx_code        code = HDX_OK;
    bool            fresh;
    if (!r->estimated)
        return HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < r->count; i++) {
        const job *j = &r->jobs[i];
        if (!j->known || j->guess)
            continue;
        if (!hdx_list_room(NULL, HDX_LIST_REF(&list)) ||
            hdx_map_put(&ours, hdx_hash_bytes(4, j->dump->id, strlen(j->dump->id)), &fresh) == NULL)
            code = hdx_no_memory(err, "forecasts", 0);
        else
            list.at[list.count++] = (batch_kept){ j->dump->id, j->forecast };
    }
    for (uint64_t i = 0; code == HDX_OK && i < r->kept.count; i++) {
        const batch_kept *k = &r->kept.at[i];
        if (hdx_map_get(&ours, hdx_hash_bytes(4, k->id, strlen(k->id))) != NULL)
            continue;
        if (!hdx_list_room(NULL, HDX_LIST_REF(&list)))
            code = hdx_no_memory(err, "forecasts", 0);
        else
            list.at[list.count++] = *k;
    }
    if (code == HDX_OK)
        code = batch_plan_write(r->o->out, &list, err);
    hdx_map_free(&ours);
    hdx_list_free(NULL, HDX_LIST_REF(&list));
    return code;
}

static hdx_code put_in_order(run *r, hdx_error *err)
{
    batch_weight *weights = hdx_arena_get(&r->line, (r->count + 1) * sizeof *weights);
    if (weights == NULL)
        return hdx_no_memory(err, "the order of dumps", r->count);
    for (size_t i = 0; i < r->count; i++) {
        job        *j = &r->jobs[i];
        char        folder[4096];
        struct stat st;
        j->disk_device = stat(index_place(j, folder), &st) == 0 ? (uint64_t)st.st_dev : 0;
        j->s.forecast_seconds = j->s.state == BATCH_SKIPPED ? j->s.forecast_seconds : j->forecast.seconds;
        if (j->s.state != BATCH_SKIPPED) {
            j->s.forecast_memory = j->forecast.memory;
            j->s.least_memory = j->forecast.least;
            j->s.forecast_disk = disk_of(j);
        }
        /* where nothing is built, questions take their time, too */
        weights[i] = (batch_weight){ j->dump->id, j->forecast.seconds + (double)j->forecast.objects * 1e-8, i, 0 };
    }
    batch_plan_order(weights, r->count);
    for (size_t i = 0; i < r->count; i++) {
        r->ordered[i] = &r->jobs[weights[i].place];
        r->ordered[i]->order = i;
    }
    hdx_arena_empty(&r->line);
    return HDX_OK;
}

/* Whatever happens to the batch, no child outlives it. */
static void end_children(run *r)
{
    for (size_t i = 0; i < r->working_count; i++) {
        job *j = r->working[i];
        (void)kill(j->child.pid, SIGKILL);
        (void)waitpid(j->child.pid, NULL, 0);
        (void)close(j->child.from);
        hdx_buffer_free(&j->input);
        batch_claim_give(&j->claim);
    }
    r->working_count = 0;
}

/* Dumps that it did not come to, when it was told to stop. */
static void settle_states(run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        batch_status *s = &r->jobs[i].s;
        if (r->o->plan && s->state == BATCH_WAITING) {
            s->state = BATCH_PLANNED;
            s->objects = r->jobs[i].forecast.objects;
        }
        if (r->stopping && (s->state == BATCH_NEW || s->state == BATCH_WAITING || s->state == BATCH_HELD)) {
            s->state = BATCH_INTERRUPTED;
            s->exit_code = batch_exit_code(HDX_CANCELLED);
        }
    }
    count(r);
}

static hdx_code summarize(run *r, hdx_rows **out, hdx_error *err)
{
    batch_row *rows = hdx_arena_get(&r->arena, (r->count + 1) * sizeof *rows);
    char       path[4200];
    hdx_rows  *copy = NULL;
    if (rows == NULL)
        return hdx_no_memory(err, "the summary", r->count);
    for (size_t i = 0; i < r->count; i++)
        rows[i] = (batch_row){ r->jobs[i].dump, &r->jobs[i].s, r->jobs[i].task };
    if (r->o->tasks > 1 && !r->o->plan)
        (void)snprintf(path, sizeof path, "%s/summary-%u-of-%u.json", r->o->out, r->o->task, r->o->tasks);
    else
        (void)snprintf(path, sizeof path, "%s/%s.json", r->o->out, r->o->plan ? "plan" : "summary");
    const double seconds = since(r->began_ns);
    hdx_code     code = batch_summary(rows, r->count, r->o, &r->counts, seconds, !r->stopping, &copy, err);
    if (code == HDX_OK)
        code = batch_rows_write(path, copy, NULL, err);
    hdx_rows_close(copy);
    if (code == HDX_OK)
        code = batch_summary(rows, r->count, r->o, &r->counts, seconds, !r->stopping, out, err);
    return code;
}

static hdx_code run_all(run *r, hdx_error *err)
{
    hdx_code code = make_jobs(r, err);
    if (code == HDX_OK && r->o->tasks > 1 && !r->o->plan) {
        if ((code = deal(r, err)) != HDX_OK)
            return code;
        take_share(r);
    }
    if (code != HDX_OK)
        return code;
    look_back(r);
    if ((code = forecast_all(r, err)) != HDX_OK)
        return code;
    if (!r->stopping && (code = keep_forecasts(r, err)) != HDX_OK)
        return code;
    if (!r->stopping && r->o->plan && r->o->tasks > 1 && (code = deal(r, err)) != HDX_OK)
        return code;
    if (!r->o->plan)
        skip_valid(r);
    if ((code = put_in_order(r, err)) != HDX_OK)
        return code;
    tell(r, HDX_BATCH_PLANNED, NULL, NULL, NULL);
    return r->o->plan ? HDX_OK : work_all(r, err);
}

hdx_code hdx_batch_run(const hdx_batch_options *options, hdx_batch_counts *counts, hdx_rows **rows, hdx_error *err)
{
    run       r = { .arena = hdx_arena_of(NULL), .line = hdx_arena_of(NULL) };
    hdx_error own;
    err = err != NULL ? err : &own;
    *rows = NULL;
    hdx_code code = settle(&r, options, err);
    if (code == HDX_OK)
        code = run_all(&r, err);
    end_children(&r);
    if (code == HDX_OK) {
        settle_states(&r);
        code = summarize(&r, rows, err);
    }
    if (code == HDX_OK) {
        tell(&r, HDX_BATCH_SUMMARY, NULL, NULL, NULL);
        code = r.stopping ? hdx_tick_stop(err)
               : r.counts.held > 0 && r.counts.failed == 0
                   ? hdx_hint(err,
                              hdx_fail(err, HDX_BUSY, options->out, HDX_NOWHERE,
                                       "another runner is at work on the %llu dump%s left",
                                       (unsigned long long)r.counts.held, r.counts.held == 1 ? "" : "s"),
                              "without --no-wait it is waited for")
                   : HDX_OK;
    }
    *counts = r.counts;
    hdx_arena_free(&r.arena);
    hdx_arena_free(&r.line);
    hdx_list_free(NULL, HDX_LIST_REF(&r.dumps));
    hdx_list_free(NULL, HDX_LIST_REF(&r.kept));
    return code;
}
