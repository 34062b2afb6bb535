/*
 * job.c - the state of one dump of a batch: the lines of its child, how the child ended, and the status that is
 * written.
 *
 * In:  lines of a child, its end; the status that earlier calls and other runners have left.
 * Out: the status; events for the caller.
 */
#include "batch/run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_LINE  (1u << 20) /* of a child */
#define MOST_AGAIN 2u         /* restarts of a child that another process stopped */

/* ---- events ---- */

const char *hdx_batch_happening_name(hdx_batch_happening what)
{
    static const char *const names[] = { "planned", "started",     "step", "done",   "skipped",
                                         "failed",  "interrupted", "held", "notice", "summary" };
    return names[what];
}

double hdx_batch_since(uint64_t ns) { return (double)(hdx_now_ns() - ns) / 1e9; }

void hdx_batch_count(batch_run *r)
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

void hdx_batch_report(batch_run *r, hdx_batch_happening what, const batch_job *j, const char *message,
                      const hdx_progress_report *step)
{
    hdx_batch_event e = { .what = what,
                          .message = message,
                          .seconds = hdx_batch_since(j != NULL ? j->began_ns : r->began_ns) };
    if (r->o->happened == NULL)
        return;
    hdx_batch_count(r);
    e.counts = r->counts;
    if (j != NULL) {
        e.dump_id = j->dump->id;
        e.dump = j->dump->path;
        e.exit_code = j->s.exit_code;
        e.threads = j->s.threads;
        e.memory = j->s.memory;
        e.forecast_seconds = j->s.forecast_seconds;
    }
    if (what == HDX_BATCH_FAILED && j != NULL)
        e.hint = j->s.hint;
    if (step != NULL)
        e.step = *step;
    r->o->happened(r->o->context, &e);
}

void hdx_batch_say_line(void *context, const char *line)
{
    hdx_batch_report(context, HDX_BATCH_NOTICE, NULL, line, NULL);
}

void hdx_batch_say_of(batch_run *r, const batch_job *j, const char *format, ...)
{
    char    line[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    hdx_batch_report(r, HDX_BATCH_NOTICE, j, line, NULL);
}

const char *hdx_batch_keep(batch_run *r, const char *text)
{
    return text != NULL ? hdx_arena_copy(&r->arena, text, strlen(text)) : NULL;
}

/* ---- finished dumps ---- */

/* Returns whether all of `wanted` are in `had`; both are separated by commas. */
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

static bool answers_are_there(const batch_run *r, const batch_dump *d)
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

static bool tables_are_there(const batch_run *r, const batch_dump *d)
{
    const hdx_fleet_options fleet = { .out = r->o->out,
                                      .dump_id = d->id,
                                      .format = hdx_batch_format_of(r->o->tables),
                                      .tables = r->o->more_tables,
                                      .progress = r->o->progress };
    return hdx_fleet_is_there(&fleet);
}

bool hdx_batch_file_of(const char *path, uint64_t *size, uint64_t *mtime_ns)
{
    struct stat st;
    const bool  there = stat(path, &st) == 0;
    *size = there ? (uint64_t)st.st_size : 0;
    *mtime_ns = there ? hdx_batch_mtime_ns(&st) : 0;
    return there;
}

/* An id of a manifest may belong to another dump now. */
static bool is_of(const batch_dump *d, const batch_status *s)
{
    return s->dump != NULL && strcmp(s->dump, d->whole) == 0;
}

/* Tables contain the fields of the manifest. A call without a manifest has nothing to compare. */
static bool has_same_fields(const batch_dump *d, const batch_status *s)
{
    return d->fields == NULL || hdx_batch_status_has_fields(s, d);
}

/* Returns whether another runner wrote this status after the current call began. */
static bool is_recent(const batch_run *r, const batch_job *j)
{
    char        path[4200];
    struct stat st;
    (void)snprintf(path, sizeof path, "%s/status/%s.json", r->o->out, j->dump->id);
    return stat(path, &st) == 0 && (st.st_mtim.tv_sec > r->began.tv_sec ||
                                    (st.st_mtim.tv_sec == r->began.tv_sec && st.st_mtim.tv_nsec > r->began.tv_nsec));
}

/* Returns whether an earlier call, or another runner, has done everything requested. The index is not checked here. */
bool hdx_batch_is_finished(const batch_run *r, const batch_job *j, const batch_status *before)
{
    uint64_t   size, mtime_ns;
    const bool there = hdx_batch_file_of(j->dump->path, &size, &mtime_ns);
    if (before->state != BATCH_DONE || !is_of(j->dump, before) || before->index == NULL ||
        access(before->index, F_OK) != 0 || !all_among(r->asked, before->asked) || !answers_are_there(r, j->dump))
        return false;
    if (j->rebuild && !is_recent(r, j)) /* its index is the one that must be rebuilt */
        return false;
    if (r->tables != NULL && (before->tables == NULL || strcmp(before->tables, r->tables) != 0 ||
                              !has_same_fields(j->dump, before) || !tables_are_there(r, j->dump)))
        return false;
    if (!there) /* deleted since: its status stays */
        return true;
    return size == before->file_size && mtime_ns == before->mtime_ns && !r->o->drop;
}

static bool same_folder(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* Returns whether a new index would replace the only remains of a deleted dump. */
static bool would_lose(const batch_job *j, const batch_status *before)
{
    char       place[8400];
    uint64_t   size, mtime_ns;
    const bool there = hdx_batch_file_of(j->dump->path, &size, &mtime_ns);
    (void)snprintf(place, sizeof place, "%s%s", j->index_dir != NULL ? j->index_dir : j->dump->whole,
                   j->index_dir != NULL ? "" : ".hdx");
    return there && before->dropped && before->index != NULL && same_folder(before->index, place) &&
           (size != before->file_size || mtime_ns != before->mtime_ns);
}

bool hdx_batch_is_refused(batch_run *r, batch_job *j, const batch_status *before)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    if (!would_lose(j, before))
        return false;
    (void)hdx_fail(&err, HDX_USAGE, before->index, HDX_NOWHERE,
                   "is the only remaining data of a deleted dump (--drop-dump); the dump here is a different one");
    (void)hdx_hint(&err, HDX_USAGE, "move or remove that index, then run the same command again");
    hdx_batch_fail(r, j, &err);
    return true;
}

const char *hdx_batch_index_alone(const batch_job *j)
{
    const bool left = j->was && is_of(j->dump, &j->before) && j->before.index != NULL &&
                      access(j->dump->path, F_OK) != 0 && access(j->before.index, F_OK) == 0;
    return left ? j->before.index : NULL;
}

void hdx_batch_skip(batch_run *r, batch_job *j, const batch_status *before)
{
    j->s = *before;
    j->s.dropped = before->dropped && access(j->dump->path, F_OK) != 0; /* it may have been restored */
    j->s.state = BATCH_SKIPPED;
    j->s.exit_code = 0;
    if (!r->o->plan)
        hdx_batch_claim_clear(r->o->out, j->dump->id);
    hdx_batch_report(r, HDX_BATCH_SKIPPED, j, NULL, NULL);
}

/* Another runner may have processed it: true if nothing is left to do. */
bool hdx_batch_others_did(batch_run *r, batch_job *j)
{
    batch_status now;
    if (!hdx_batch_status_read(r->o->out, j->dump->id, &r->arena, &now))
        return false;
    j->before = now;
    j->was = true;
    if (hdx_batch_is_finished(r, j, &now)) {
        hdx_batch_skip(r, j, &now);
        return true;
    }
    if (hdx_batch_is_refused(r, j, &now)) { /* the status stays, because the next call needs it */
        hdx_batch_report(r, HDX_BATCH_FAILED, j, j->s.error, NULL);
        return true;
    }
    if (now.state == BATCH_FAILED && is_of(j->dump, &now) && is_recent(r, j) && all_among(r->asked, now.asked)) {
        j->s = now;
        hdx_batch_report(r, HDX_BATCH_FAILED, j, now.error, NULL);
        return true;
    }
    return false;
}

/* ---- end of a job ---- */

static uint64_t now_ms(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_REALTIME, &t) == 0 ? (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u : 0;
}

void hdx_batch_fail(batch_run *r, batch_job *j, const hdx_error *err)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    if (err->where[0] != '\0')
        hdx_buffer_format(&b, "%s: ", err->where);
    hdx_buffer_text(&b, err->message);
    j->s.state = BATCH_FAILED;
    j->s.exit_code = hdx_batch_exit_code(err->code);
    j->s.kind = hdx_code_name(err->code);
    j->s.error = hdx_batch_keep(r, b.at);
    j->s.hint = err->hint[0] != '\0' ? hdx_batch_keep(r, err->hint) : NULL;
    hdx_buffer_free(&b);
}

/* Discards what an earlier attempt of this call reported. */
static void reset_attempt(batch_job *j)
{
    j->s = (batch_status){ .state = j->s.state,
                           .forecast_seconds = j->s.forecast_seconds,
                           .forecast_memory = j->s.forecast_memory,
                           .least_memory = j->s.least_memory,
                           .forecast_disk = j->s.forecast_disk,
                           .file_size = j->s.file_size,
                           .mtime_ns = j->s.mtime_ns };
    j->tables_failed = 0;
}

void hdx_batch_put_back(batch_run *r, batch_job *j, batch_state state)
{
    batch_status s = j->was ? j->before : (batch_status){ .state = BATCH_NEW };
    if (s.state != BATCH_INTERRUPTED && s.state != BATCH_RUNNING) { /* an attempt that did not end in a step */
        s.step = NULL;
        s.step_attempts = 0;
    }
    s.state = BATCH_INTERRUPTED;
    s.exit_code = hdx_batch_exit_code(HDX_CANCELLED);
    if (hdx_batch_claim_is_ours(&j->claim))
        (void)hdx_batch_status_write(r->o->out, j->dump, &s, false, NULL);
    hdx_batch_claim_give(&j->claim);
    reset_attempt(j);
    j->s.state = state;
    j->looked_ns = hdx_now_ns();
}

/* Writes tables that report the failure, if no child of the dump could do it. */
static void report_in_tables(batch_run *r, const batch_job *j)
{
    hdx_error        why = { .code = j->code != HDX_OK ? j->code : HDX_LIMIT, .offset = HDX_NOWHERE }, ignored;
    const batch_task task = { .options = r->o, .dump = j->dump, .failure = &why, .threads = 1 };
    batch_child      child;
    int              status;
    (void)snprintf(why.message, sizeof why.message, "%s", j->s.error != NULL ? j->s.error : "");
    if (hdx_batch_child_start(&task, NULL, 0, &child, &ignored) != HDX_OK)
        return;
    (void)close(child.from);
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
        ;
}

/* The status is written to disk before the claim is released: B1. */
void hdx_batch_close(batch_run *r, batch_job *j)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    j->s.ended_ms = now_ms();
    if (j->s.state == BATCH_FAILED && !j->ended && r->tables != NULL && !r->stopping &&
        hdx_batch_claim_is_ours(&j->claim))
        report_in_tables(r, j);
    if (hdx_batch_claim_is_ours(&j->claim) && hdx_batch_status_write(r->o->out, j->dump, &j->s, true, &err) != HDX_OK) {
        if (j->s.state != BATCH_FAILED)
            hdx_batch_fail(r, j, &err);
        hdx_batch_say_of(r, j, "its status cannot be written: %s", err.message);
    }
    hdx_batch_claim_give(&j->claim);
    hdx_batch_report(r,
                     j->s.state == BATCH_DONE     ? HDX_BATCH_DONE
                     : j->s.state == BATCH_FAILED ? HDX_BATCH_FAILED
                                                  : HDX_BATCH_INTERRUPTED,
                     j, j->s.error, NULL);
}

void hdx_batch_warn_of_step(batch_run *r, const batch_job *j)
{
    if (j->s.step == NULL || j->s.step_attempts < 2)
        return;
    if (j->s.step_forecast > 0)
        hdx_batch_say_of(r, j,
                         "%u attempts in a row were interrupted in step %s, which needs about %.*f s: allow more time",
                         j->s.step_attempts, j->s.step, j->s.step_forecast < 10 ? 1 : 0, j->s.step_forecast);
    else
        hdx_batch_say_of(r, j, "%u attempts in a row were interrupted in step %s: allow more time", j->s.step_attempts,
                         j->s.step);
}

static void note_killed(batch_run *r, batch_job *j, int status)
{
    char line[160];
    if (j->refused) {
        (void)snprintf(line, sizeof line, "its process sent a line that cannot be parsed");
        j->s.exit_code = hdx_batch_exit_code(HDX_LIMIT);
    } else if (WIFSIGNALED(status)) {
        const int n = WTERMSIG(status);
        (void)snprintf(line, sizeof line, "its process was terminated by signal %d (%s)", n, strsignal(n));
        j->s.exit_code = 128 + n;
        j->s.hint = n == SIGKILL ? "the machine may be out of memory; --memory SIZE sets a limit" : NULL;
    } else {
        (void)snprintf(line, sizeof line, "its process ended with exit code %d and reported no result",
                       WEXITSTATUS(status));
        j->s.exit_code = WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 7;
    }
    j->s.state = BATCH_FAILED;
    j->s.kind = "killed";
    j->s.error = hdx_batch_keep(r, line);
}

/* A child has closed its end of the pipe: it has ended, or is about to. */
void hdx_batch_finish(batch_run *r, batch_job *j)
{
    struct rusage used = { 0 };
    int           status = 0;
    (void)close(j->child.from); /* closed first, so that a child that still writes cannot block */
    while (wait4(j->child.pid, &status, 0, &used) < 0 && errno == EINTR)
        ;
    j->child = (batch_child){ 0, -1 };
    hdx_buffer_free(&j->input);
    if (j->s.state == BATCH_NEW) { /* a forecast */
        if (!j->known) {
            j->guess = j->known = true;
            j->forecast = hdx_batch_forecast_guess(j->dump->path, j->s.file_size);
        }
        j->s.state = BATCH_WAITING;
        return;
    }
    j->s.seconds = hdx_batch_since(j->began_ns);
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
            hdx_batch_drop(r, j);
    } else if (j->code == HDX_BUSY && !r->stopping) {
        const char *who = j->s.error;
        hdx_batch_put_back(r, j, BATCH_HELD);
        hdx_batch_report(r, HDX_BATCH_HELD, j, who, NULL);
        return;
    } else if (j->code == HDX_CANCELLED && !r->stopping && j->again < MOST_AGAIN) { /* stopped by another process */
        j->again++;
        hdx_batch_put_back(r, j, BATCH_WAITING);
        return;
    } else if (j->code == HDX_CANCELLED || j->code == HDX_BUSY) {
        j->s.state = BATCH_INTERRUPTED;
        j->s.exit_code = hdx_batch_exit_code(HDX_CANCELLED);
        j->s.kind = hdx_code_name(HDX_CANCELLED);
        hdx_batch_warn_of_step(r, j);
    } else {
        j->s.state = BATCH_FAILED;
        j->s.exit_code = hdx_batch_exit_code(j->code);
        j->s.kind = hdx_code_name(j->code);
    }
    hdx_batch_close(r, j);
}

/* ---- lines of a child ---- */

/* Written at once but not synced, so that after a kill in this step the next call can report it. */
static void take_step(batch_run *r, batch_job *j, const hdx_flat *f)
{
    const char               *name = hdx_flat_text(f, "step"), *unit = hdx_flat_text(f, "unit");
    const hdx_progress_report step = { .step = name != NULL ? name : "",
                                       .number = (unsigned)hdx_flat_number(f, "number"),
                                       .steps = (unsigned)hdx_flat_number(f, "steps"),
                                       .done = hdx_flat_number(f, "done"),
                                       .total = hdx_flat_number(f, "total"),
                                       .unit = unit != NULL ? unit : "" };
    if (j->s.state == BATCH_NEW || name == NULL)
        return;
    if (j->step_number != step.number || j->s.step == NULL || strcmp(j->s.step, name) != 0) {
        const bool same = j->was && (j->before.state == BATCH_INTERRUPTED || j->before.state == BATCH_RUNNING) &&
                          j->before.step != NULL && strcmp(j->before.step, name) == 0;
        j->step_number = step.number;
        j->s.step = hdx_batch_keep(r, name);
        j->s.step_attempts = same ? j->before.step_attempts + 1 : 1;
        j->s.step_forecast = hdx_batch_forecast_step(&j->forecast, name);
        (void)hdx_batch_status_write(r->o->out, j->dump, &j->s, false, NULL);
    }
    hdx_batch_report(r, HDX_BATCH_STEP, j, NULL, &step);
}

/* Returns an absolute path, which is valid for callers in another folder. */
static const char *absolute_path(batch_run *r, const char *path)
{
    char *whole = path != NULL ? realpath(path, NULL) : NULL;
    path = hdx_batch_keep(r, whole != NULL ? whole : path);
    free(whole);
    return path;
}

/* On disk before the index is built: hash_before of child.c. */
static void take_content(batch_run *r, batch_job *j, const hdx_flat *f)
{
    j->s.content = hdx_batch_keep(r, hdx_flat_text(f, "content"));
    j->s.content_ms = hdx_flat_number(f, "content_ms");
    (void)hdx_batch_status_write(r->o->out, j->dump, &j->s, true, NULL);
}

static void take_end(batch_run *r, batch_job *j, const hdx_flat *f)
{
    j->ended = true;
    j->code = (hdx_code)hdx_flat_number(f, "code");
    j->tables_failed = hdx_flat_number(f, "tables_failed");
    j->needed = hdx_batch_keep(r, hdx_flat_text(f, "needed"));
    j->s.error = hdx_batch_keep(r, hdx_flat_text(f, "error"));
    j->s.hint = hdx_batch_keep(r, hdx_flat_text(f, "hint"));
    j->s.damage_places = hdx_flat_number(f, "damage_places");
    j->s.damage = hdx_batch_keep(r, hdx_flat_text(f, "damage"));
    j->s.objects = hdx_flat_number(f, "objects");
    j->s.live_objects = hdx_flat_number(f, "live_objects");
    j->s.references = hdx_flat_number(f, "references");
    if (hdx_flat_text(f, "index") != NULL || !j->s.dropped)
        j->s.index = absolute_path(r, hdx_flat_text(f, "index"));
    j->s.index_bytes = hdx_flat_number(f, "index_bytes");
    const char *reused = hdx_flat_text(f, "reused");
    j->s.reused = reused != NULL && strcmp(reused, "true") == 0;
}

static void take_line(batch_run *r, batch_job *j, const char *line, size_t len)
{
    hdx_flat    f;
    const char *what, *text;
    hdx_arena_empty(&r->line);
    if (!hdx_flat_read(&r->line, line, len, &f) || (what = hdx_flat_text(&f, "say")) == NULL)
        return;
    if (strcmp(what, "step") == 0) {
        take_step(r, j, &f);
    } else if (strcmp(what, "notice") == 0) {
        if ((text = hdx_flat_text(&f, "line")) != NULL && j->s.state != BATCH_NEW)
            hdx_batch_report(r, HDX_BATCH_NOTICE, j, text, NULL);
    } else if (strcmp(what, "forecast") == 0) {
        j->known = hdx_batch_forecast_take(&f, &r->arena, &j->forecast);
        r->estimated |= j->known && !j->forecast.indexed;
    } else if (strcmp(what, "content") == 0) {
        if (j->s.state != BATCH_NEW)
            take_content(r, j, &f);
    } else if (strcmp(what, "read_again") == 0) {
        j->read_again = (batch_file){ true, hdx_flat_number(&f, "device"), hdx_flat_number(&f, "inode"),
                                      hdx_flat_number(&f, "size"), hdx_flat_number(&f, "mtime_ns") };
    } else if (strcmp(what, "rebuild") == 0) {
        j->rebuild = true;
    } else if (strcmp(what, "end") == 0) {
        if (j->s.state != BATCH_NEW)
            take_end(r, j, &f);
    }
}

/* Returns false after the last line. */
bool hdx_batch_read(batch_run *r, batch_job *j)
{
    char          bytes[8192];
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
    if (!j->input.failed && j->input.len < MOST_LINE)
        return true;
    j->refused = true; /* children of this program send much less */
    (void)kill(j->child.pid, SIGKILL);
    return false;
}
