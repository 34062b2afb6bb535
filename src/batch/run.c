/*
 * run.c - the parent of a batch: an event loop over children.
 *
 *     inputs -> assignment to tasks -> forecasts (children) -> order -> work (children) -> summary
 *
 * In:  options; OUT as earlier calls, or other runners at this moment, have left it.
 * Out: OUT/status, OUT/summary.json; what the children write.
 * It has one thread, so that fork is safe, and reads no dump itself, so that no dump can crash it. It learns about the
 * work on a dump from the lines that the child writes to a pipe; when the pipe ends, the child has ended.
 */
#include "batch/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_STARTS  60u /* failed starts for lack of processes, at most one per second */
#define LOOK_MS      200 /* between two cancellation checks */
#define HELD_LOOK_NS 500000000ull
#define ROOM_LOOK_NS 1000000000ull /* between two checks of disk space, if nothing else has changed */

/* ---- starting ---- */

/* Returns whether an earlier call with --drop-dump hashed the dump in its current state. */
static bool has_content(const batch_job *j)
{
    return j->was && j->before.content != NULL && j->before.file_size == j->s.file_size &&
           j->before.mtime_ns == j->s.mtime_ns;
}

static hdx_code start_child(batch_run *r, batch_job *j, bool forecast, unsigned threads, uint64_t memory,
                            hdx_error *err)
{
    const batch_task task = { .options = r->o,
                              .dump = j->dump,
                              .index_dir = j->index_dir,
                              .index = hdx_batch_index_alone(j),
                              .content = has_content(j) ? j->before.content : NULL,
                              .content_ms = has_content(j) ? j->before.content_ms : 0,
                              .forecast = forecast,
                              .rebuild = j->rebuild,
                              .threads = threads,
                              .memory = memory };
    batch_child     *others = hdx_arena_get(&r->line, (r->working_count + 1) * sizeof *others);
    if (others == NULL)
        return hdx_no_memory(err, "a child", 0);
    for (size_t i = 0; i < r->working_count; i++)
        others[i] = r->working[i]->child;
    const hdx_code code = hdx_batch_child_start(&task, others, r->working_count, &j->child, err);
    if (code == HDX_OK) {
        j->input = hdx_buffer_of(NULL);
        j->ended = j->refused = false;
        j->read_again = (batch_file){ .known = false };
        j->step_number = 0;
        j->began_ns = hdx_now_ns();
        r->working[r->working_count++] = j;
    }
    return code;
}

/* Forecasts sizes, with as many children at once as there are threads. */
static void start_forecasts(batch_run *r)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    while (r->working_count < r->room.threads && r->next_new < r->count) {
        batch_job *j = &r->jobs[r->next_new++];
        if (j->s.state != BATCH_NEW)
            continue;
        if (j->known || start_child(r, j, true, 1, 0, &err) != HDX_OK) {
            if (!j->known)
                j->forecast = hdx_batch_forecast_guess(j->dump->path, j->s.file_size);
            j->guess |= !j->known;
            j->known = true;
            j->s.state = BATCH_WAITING;
        }
    }
}

static hdx_code begin_work(batch_run *r, batch_job *j, const batch_choice *c, hdx_error *err)
{
    hdx_code code = hdx_batch_claim_take(&j->claim, r->o->out, j->dump->id, err);
    if (code != HDX_OK)
        return code;
    if (hdx_batch_others_did(r, j)) {
        hdx_batch_claim_give(&j->claim);
        return HDX_OK;
    }
    if (hdx_batch_index_alone(j) != NULL) { /* what is known of the dump is copied */
        j->s.index = j->before.index;
        j->s.dropped = j->before.dropped;
        j->s.file_size = j->before.file_size;
        j->s.mtime_ns = j->before.mtime_ns;
    } else {
        (void)hdx_batch_file_of(j->dump->path, &j->s.file_size, &j->s.mtime_ns);
    }
    j->s.state = BATCH_RUNNING;
    j->s.threads = c->threads;
    j->s.memory = c->memory;
    j->s.asked = r->asked;
    j->s.tables = r->tables;
    if (j->was && (j->before.state == BATCH_INTERRUPTED || j->before.state == BATCH_RUNNING)) {
        j->s.step = j->before.step; /* until the child reports a step: it may be killed before */
        j->s.step_attempts = j->before.step_attempts;
        j->s.step_forecast = j->before.step_forecast;
        hdx_batch_warn_of_step(r, j);
    }
    if ((code = hdx_batch_status_write(r->o->out, j->dump, &j->s, false, err)) != HDX_OK)
        return code;
    if ((code = start_child(r, j, false, c->threads, c->memory, err)) == HDX_OK) {
        hdx_batch_report(r, HDX_BATCH_STARTED, j, NULL, NULL);
    } else if (code == HDX_LIMIT && j->starts++ < MOST_STARTS) { /* a process may be available soon */
        hdx_batch_put_back(r, j, BATCH_WAITING);
        return HDX_OK;
    }
    return code;
}

/* ---- resources ---- */

static void never(batch_run *r, batch_job *j, const batch_choice *c)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    char      needs[16], has[16];
    hdx_human_size(c->fit == BATCH_NEVER_MEMORY ? j->forecast.least : hdx_batch_disk_of(j), needs);
    hdx_human_size(c->fit == BATCH_NEVER_MEMORY ? r->room.memory : hdx_batch_disk_for(r, j), has);
    (void)hdx_fail(&err, HDX_LIMIT, NULL, HDX_NOWHERE,
                   c->fit == BATCH_NEVER_MEMORY ? "needs %s of memory; the batch has %s"
                                                : "needs %s of disk space for its index; %s are free",
                   needs, has);
    if (c->fit == BATCH_NEVER_MEMORY)
        (void)hdx_hint(&err, HDX_LIMIT, "--memory %lluM is enough",
                       (unsigned long long)((j->forecast.least >> 20) + 1));
    else
        (void)hdx_hint(&err, HDX_LIMIT, "free space on that disk, or store indexes elsewhere with --index-dir DIR");
    hdx_error own;
    if (hdx_batch_claim_take(&j->claim, r->o->out, j->dump->id, &own) == HDX_BUSY) {
        hdx_batch_put_back(r, j, BATCH_HELD);
        return;
    }
    if (hdx_batch_others_did(r, j)) {
        hdx_batch_claim_give(&j->claim);
        return;
    }
    hdx_batch_fail(r, j, &err);
    j->s.asked = r->asked;
    j->s.tables = r->tables;
    hdx_batch_close(r, j);
}

/* Starts what can be started now. It checks only after a change, or after some time. */
static hdx_code start_work(batch_run *r, hdx_error *err)
{
    if (!r->changed && hdx_now_ns() - r->room_ns < ROOM_LOOK_NS)
        return HDX_OK;
    r->changed = false;
    r->room_ns = hdx_now_ns();
    for (;;) {
        size_t         waiting = 0;
        batch_want    *wants = hdx_arena_get(&r->line, (r->count + 1) * sizeof *wants);
        size_t        *orders = hdx_arena_get(&r->line, (r->count + 1) * sizeof *orders);
        batch_running *running = hdx_arena_get(&r->line, (r->working_count + 1) * sizeof *running);
        if (wants == NULL || orders == NULL || running == NULL)
            return hdx_no_memory(err, "a plan", r->count);
        r->space_count = 0;
        for (size_t i = 0; i < r->count; i++) {
            const batch_job *j = r->ordered[i];
            if (j->s.state != BATCH_WAITING)
                continue;
            orders[waiting] = i;
            wants[waiting++] =
                (batch_want){ j->forecast.memory, j->forecast.least, hdx_batch_disk_of(j), hdx_batch_disk_for(r, j) };
        }
        for (size_t i = 0; i < r->working_count; i++)
            running[i] = (batch_running){ r->working[i]->order, r->working[i]->s.threads, r->working[i]->s.memory };
        const batch_choice c = hdx_batch_plan_next(&r->room, wants, orders, waiting, running, r->working_count);
        batch_job         *j = waiting > 0 ? r->ordered[orders[c.place]] : NULL;
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
            hdx_batch_report(r, HDX_BATCH_HELD, j, own.message, NULL);
        } else if (code == HDX_OK && j->s.state == BATCH_WAITING) { /* no process could be created: retried later */
            return HDX_OK;
        } else if (code != HDX_OK) {
            hdx_batch_fail(r, j, &own);
            hdx_batch_close(r, j);
        }
    }
}

/* Checks whether other runners have released their dumps. */
static void look_at_held(batch_run *r)
{
    const uint64_t now = hdx_now_ns();
    for (size_t i = 0; i < r->count; i++) {
        batch_job *j = &r->jobs[i];
        if (j->s.state != BATCH_HELD || now - j->looked_ns < HELD_LOOK_NS)
            continue;
        j->looked_ns = now;
        if (hdx_batch_claim_is_held(r->o->out, j->dump->id) || hdx_batch_others_did(r, j))
            continue;
        j->s.state = BATCH_WAITING;
        r->changed = true;
    }
}

/* ---- the loop ---- */

static void stop_children(batch_run *r)
{
    r->stopping = true;
    for (size_t i = 0; i < r->working_count; i++) /* a forecast has nothing to save */
        (void)kill(r->working[i]->child.pid, r->working[i]->s.state == BATCH_NEW ? SIGKILL : SIGTERM);
}

static void beat(batch_run *r)
{
    if (hdx_now_ns() - r->beat_ns < BATCH_CLAIM_BEAT_S * 1000000000ull)
        return;
    r->beat_ns = hdx_now_ns();
    for (size_t i = 0; i < r->working_count; i++)
        hdx_batch_claim_beat(&r->working[i]->claim);
}

/* Waits until a child writes a line, or for a moment, and reads all lines. */
static hdx_code wait_for_lines(batch_run *r, hdx_error *err)
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
    /* at most one child per thread; reading empties the arena that contains `fds` */
    bool said[HDX_WORKERS_MAX] = { false };
    for (size_t i = 0; i < waited && i < HDX_WORKERS_MAX; i++)
        said[i] = fds[i].revents != 0;
    for (size_t i = waited; i-- > 0;) {
        batch_job *j = r->working[i];
        if (!said[i] || hdx_batch_read(r, j))
            continue;
        r->working[i] = r->working[--r->working_count];
        hdx_batch_finish(r, j);
        r->changed = true;
    }
    hdx_arena_empty(&r->line);
    beat(r);
    return HDX_OK;
}

static bool any(const batch_run *r, batch_state state)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->jobs[i].s.state == state)
            return true;
    return false;
}

static hdx_code forecast_all(batch_run *r, hdx_error *err)
{
    hdx_code code = HDX_OK;
    do {
        if (!r->stopping)
            start_forecasts(r);
        if (r->working_count > 0)
            code = wait_for_lines(r, err);
    } while (code == HDX_OK && (r->working_count > 0 || (!r->stopping && r->next_new < r->count)));
    return code;
}

static hdx_code work_all(batch_run *r, hdx_error *err)
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
        code = wait_for_lines(r, err);
    }
    return code;
}

/* In any case no child outlives the batch. */
static void end_children(batch_run *r)
{
    for (size_t i = 0; i < r->working_count; i++) {
        batch_job *j = r->working[i];
        (void)kill(j->child.pid, SIGKILL);
        (void)waitpid(j->child.pid, NULL, 0);
        (void)close(j->child.from);
        hdx_buffer_free(&j->input);
        hdx_batch_claim_give(&j->claim);
    }
    r->working_count = 0;
}

/* Sets the state of dumps that were not reached before the batch was stopped. */
static void settle_states(batch_run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        batch_status *s = &r->jobs[i].s;
        if (r->o->plan && s->state == BATCH_WAITING) {
            s->state = BATCH_PLANNED;
            s->objects = r->jobs[i].forecast.objects;
            s->memory = r->jobs[i].forecast.memory;
        }
        if (r->stopping && (s->state == BATCH_NEW || s->state == BATCH_WAITING || s->state == BATCH_HELD)) {
            s->state = BATCH_INTERRUPTED;
            s->exit_code = hdx_batch_exit_code(HDX_CANCELLED);
        }
    }
    hdx_batch_count(r);
}

static hdx_code summarize(batch_run *r, hdx_rows **out, hdx_error *err)
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
    hdx_access   like;
    const double seconds = hdx_batch_since(r->began_ns);
    hdx_batch_access_of_all(r, &like);
    hdx_code code = hdx_batch_summary(rows, r->count, r->o, &r->counts, seconds, !r->stopping, &copy, err);
    if (code == HDX_OK && (!r->o->summary || access(r->o->out, F_OK) == 0))
        code = hdx_batch_rows_write(path, copy, &like, err);
    hdx_rows_close(copy);
    if (code == HDX_OK)
        code = hdx_batch_summary(rows, r->count, r->o, &r->counts, seconds, !r->stopping, out, err);
    return code;
}

static hdx_code run_all(batch_run *r, hdx_error *err)
{
    hdx_code code = hdx_batch_make_jobs(r, err);
    if (code == HDX_OK && r->o->tasks > 1 && !r->o->plan) {
        if ((code = hdx_batch_deal_tasks(r, err)) != HDX_OK)
            return code;
        hdx_batch_take_share(r);
    }
    if (code != HDX_OK)
        return code;
    if (r->o->summary) {
        hdx_batch_recall(r);
        return HDX_OK;
    }
    hdx_batch_look_back(r);
    if ((code = forecast_all(r, err)) != HDX_OK)
        return code;
    if (!r->stopping && (code = hdx_batch_keep_forecasts(r, err)) != HDX_OK)
        return code;
    if (!r->stopping && r->o->plan && r->o->tasks > 1 && (code = hdx_batch_deal_tasks(r, err)) != HDX_OK)
        return code;
    hdx_batch_skip_valid(r);
    if ((code = hdx_batch_put_in_order(r, err)) != HDX_OK)
        return code;
    hdx_batch_report(r, HDX_BATCH_PLANNED, NULL, NULL, NULL);
    return r->o->plan ? HDX_OK : work_all(r, err);
}

hdx_code hdx_batch_run(const hdx_batch_options *options, hdx_batch_counts *counts, hdx_rows **rows, hdx_error *err)
{
    batch_run r = { .arena = hdx_arena_of(NULL), .line = hdx_arena_of(NULL) };
    hdx_error own;
    err = err != NULL ? err : &own;
    *rows = NULL;
    hdx_code code = hdx_batch_settle(&r, options, err);
    if (code == HDX_OK)
        code = run_all(&r, err);
    end_children(&r);
    if (code == HDX_OK) {
        settle_states(&r);
        code = summarize(&r, rows, err);
    }
    if (code == HDX_OK) {
        hdx_batch_report(&r, HDX_BATCH_SUMMARY, NULL, NULL, NULL);
        code = r.stopping ? hdx_tick_stop(err)
               : r.counts.held > 0 && r.counts.failed == 0 && !options->summary
                   ? hdx_hint(err,
                              hdx_fail(err, HDX_BUSY, options->out, HDX_NOWHERE,
                                       "another runner is processing the remaining %llu dump%s",
                                       (unsigned long long)r.counts.held, r.counts.held == 1 ? "" : "s"),
                              "remove --no-wait to wait for it")
                   : HDX_OK;
    }
    *counts = r.counts;
    hdx_arena_free(&r.arena);
    hdx_arena_free(&r.line);
    hdx_list_free(NULL, HDX_LIST_REF(&r.dumps));
    hdx_list_free(NULL, HDX_LIST_REF(&r.saved));
    return code;
}
