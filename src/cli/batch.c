/*
 * batch.c - the command batch: passes the command line to the library's batch and shows its progress. On a terminal
 * that is a line for the batch and one for each running dump, redrawn in place; with --progress json one object per
 * line.
 */
#include "answer/answer.h"
#include "batch/batch.h"
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SHOWN_MAX   8u            /* greatest number of dumps with a line */
#define REDRAWN_NS  100000000u    /* shortest time between two redraws */
#define UNREAD_MAX  (1u << 20)    /* bytes that wait for standard error; lines that exceed this are dropped */
#define PATIENCE_NS 4000000000ull /* at the end: how long to wait for a reader that reads nothing */

/* ---- progress ---- */

typedef struct at_work {
    const char         *id; /* borrowed from the library, valid during the batch */
    hdx_progress_report step;
    char                name[24];
    uint64_t            began_ns; /* of the step */
} at_work;

typedef struct reporter {
    cli_run         *run;
    at_work          at[SHOWN_MAX];
    unsigned         count; /* of `at` */
    unsigned         lines; /* on the terminal */
    uint64_t         drawn_ns;
    hdx_batch_counts counts;
    uint64_t         began_ns;
    hdx_buffer       unread;  /* lines not yet written to standard error */
    uint64_t         read_ns; /* time of the last write */
} reporter;

/*
 * Writes without blocking, because a reader that does not read must not stop the batch or delay its end. PIPE_BUF is
 * what a pipe that poll reports as ready accepts at least.
 */
static void put_unread(reporter *t, int wait_ms)
{
    struct pollfd to = { .fd = STDERR_FILENO, .events = POLLOUT };
    while (t->unread.len > 0 && poll(&to, 1, wait_ms) > 0) {
        const ssize_t n = write(STDERR_FILENO, t->unread.at, (size_t)hdx_least(t->unread.len, PIPE_BUF));
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            return;
        if (n <= 0) { /* standard error is closed */
            hdx_buffer_clear(&t->unread);
            return;
        }
        memmove(t->unread.at, t->unread.at + n, (size_t)(t->unread.len - (uint64_t)n));
        t->unread.len -= (uint64_t)n;
        t->read_ns = hdx_now_ns();
    }
}

/* Queues all lines of the buffer or none. */
static void queue_lines(reporter *t, const hdx_buffer *b)
{
    if (!b->failed && t->unread.len + b->len <= UNREAD_MAX)
        hdx_buffer_put(&t->unread, b->at, b->len);
    put_unread(t, 0);
}

static void flush_lines(reporter *t)
{
    t->read_ns = hdx_now_ns();
    while (t->unread.len > 0 && hdx_now_ns() - t->read_ns < (cli_signal() != 0 ? PATIENCE_NS / 4 : PATIENCE_NS))
        put_unread(t, 50);
    hdx_buffer_free(&t->unread);
}

/* The library calls this several times per second, also without an event; pending lines are written here. */
static bool is_cancelled(void *context)
{
    put_unread(context, 0);
    return cli_signal() != 0;
}

static void notice(reporter *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void notice(reporter *t, const char *format, ...)
{
    char       text[2048];
    hdx_buffer line = hdx_buffer_of(NULL);
    va_list    list;
    if (t->run->console->quiet)
        return;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    hdx_buffer_text(&line, "heapdex: ");
    cli_put_plain(&line, text, strlen(text));
    hdx_buffer_text(&line, "\n");
    queue_lines(t, &line);
    hdx_buffer_free(&line);
}

static void put_erase(reporter *t, hdx_buffer *b)
{
    if (t->lines > 1)
        hdx_buffer_format(b, "\x1b[%uA", t->lines - 1);
    if (t->lines > 0)
        hdx_buffer_text(b, "\r\x1b[J");
    t->lines = 0;
}

static void erase(reporter *t)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    put_erase(t, &b);
    queue_lines(t, &b);
    hdx_buffer_free(&b);
}

static void put_line(hdx_buffer *b, const char *text, unsigned width)
{
    hdx_buffer plain = hdx_buffer_of(NULL);
    cli_put_plain(&plain, text, strlen(text));
    if (plain.at != NULL && !plain.failed)
        hdx_buffer_put(b, plain.at, hdx_least(plain.len, width - 1));
    hdx_buffer_free(&plain);
}

static void put_batch(char *line, size_t size, const reporter *t)
{
    const hdx_batch_counts *n = &t->counts;
    const uint64_t          over = n->done + n->skipped + n->failed;
    const unsigned          seconds = (unsigned)((hdx_now_ns() - t->began_ns) / 1000000000u);
    const char             *plural = n->dumps == 1 ? "" : "s";
    int                     len = snprintf(line, size, "%llu of %llu dump%s, %llu running", (unsigned long long)over,
                                           (unsigned long long)n->dumps, plural, (unsigned long long)n->running);
    if (n->failed > 0)
        len += snprintf(line + len, size - (size_t)len, ", %llu failed", (unsigned long long)n->failed);
    if (n->held > 0)
        len += snprintf(line + len, size - (size_t)len, ", %llu locked by other runners", (unsigned long long)n->held);
    (void)snprintf(line + len, size - (size_t)len, "  %u:%02u:%02u", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

static void draw(reporter *t, bool now)
{
    const uint64_t at = hdx_now_ns();
    const unsigned columns = cli_terminal_width(STDERR_FILENO), width = columns > 0 ? columns : 80;
    char           line[512], step[256];
    hdx_buffer     b = hdx_buffer_of(NULL);
    if (!now && at - t->drawn_ns < REDRAWN_NS)
        return;
    t->drawn_ns = at;
    put_erase(t, &b);
    put_batch(line, sizeof line, t);
    put_line(&b, line, width);
    for (unsigned i = 0; i < t->count; i++) {
        at_work *w = &t->at[i];
        w->step.step = w->name;
        cli_progress_line(step, sizeof step, 0, &w->step, at - w->began_ns);
        (void)snprintf(line, sizeof line, "  %.100s  %s", w->id, step);
        hdx_buffer_text(&b, "\n");
        put_line(&b, line, width);
    }
    t->lines = t->count + 1;
    queue_lines(t, &b);
    hdx_buffer_free(&b);
}

static at_work *work_of(reporter *t, const char *id, bool make)
{
    for (unsigned i = 0; i < t->count; i++)
        if (strcmp(t->at[i].id, id) == 0)
            return &t->at[i];
    if (!make || t->count == SHOWN_MAX)
        return NULL;
    t->at[t->count] = (at_work){ .id = id };
    return &t->at[t->count++];
}

static void report_json(reporter *t, const hdx_batch_event *e)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_buffer_text(&b, "{");
    hdx_batch_put_text(&b, "event", hdx_batch_happening_name(e->what));
    if (e->dump_id != NULL) {
        hdx_batch_put_text(&b, "dump_id", e->dump_id);
        hdx_batch_put_text(&b, "dump", e->dump);
    }
    if (e->what == HDX_BATCH_STEP) {
        hdx_batch_put_text(&b, "step", e->step.step);
        hdx_batch_put_number(&b, "number", e->step.number);
        hdx_batch_put_number(&b, "steps", e->step.steps);
        hdx_batch_put_number(&b, "done", e->step.done);
        hdx_batch_put_number(&b, "total", e->step.total);
        hdx_batch_put_text(&b, "unit", e->step.unit);
    } else if (e->what == HDX_BATCH_STARTED) {
        hdx_batch_put_number(&b, "threads", e->threads);
        hdx_batch_put_number(&b, "memory", e->memory);
        hdx_batch_put_real(&b, "forecast_seconds", e->forecast_seconds);
    } else {
        if (e->message != NULL)
            hdx_batch_put_text(&b, "message", e->message);
        if (e->what == HDX_BATCH_FAILED) {
            hdx_batch_put_number(&b, "exit_code", (uint64_t)e->exit_code);
            hdx_batch_put_text(&b, "hint", e->hint);
        }
    }
    if (e->what != HDX_BATCH_STEP && e->what != HDX_BATCH_NOTICE) {
        hdx_batch_put_number(&b, "dumps", e->counts.dumps);
        hdx_batch_put_number(&b, "done", e->counts.done);
        hdx_batch_put_number(&b, "skipped", e->counts.skipped);
        hdx_batch_put_number(&b, "failed", e->counts.failed);
        hdx_batch_put_number(&b, "interrupted", e->counts.interrupted);
        hdx_batch_put_number(&b, "held", e->counts.held);
        hdx_batch_put_number(&b, "running", e->counts.running);
        hdx_batch_put_number(&b, "waiting", e->counts.waiting);
    }
    hdx_batch_put_real(&b, "seconds", e->seconds);
    hdx_batch_put_end(&b);
    queue_lines(t, &b);
    hdx_buffer_free(&b);
}

/* Reports failures and notices as lines that stay on the screen; `all`: every event (--verbose, or output to a log). */
static void report_lines(reporter *t, const hdx_batch_event *e, bool all)
{
    const char *id = e->dump_id != NULL ? e->dump_id : "batch";
    char        given[16];
    hdx_human_size(e->memory, given);
    if (e->what == HDX_BATCH_FAILED) {
        notice(t, "%s: failed (%d): %s", id, e->exit_code, e->message != NULL ? e->message : "");
        if (e->hint != NULL)
            notice(t, "%s: hint: %s", id, e->hint);
    } else if (e->what == HDX_BATCH_NOTICE)
        notice(t, "%s: %s", id, e->message);
    else if (all && e->what == HDX_BATCH_PLANNED)
        notice(t, "%llu dump%s, %llu already finished", (unsigned long long)e->counts.dumps,
               e->counts.dumps == 1 ? "" : "s", (unsigned long long)e->counts.skipped);
    else if (all && e->what == HDX_BATCH_STARTED)
        notice(t, "%s: %s with %u thread%s and %s, about %.1f s", id, "begun", e->threads, e->threads == 1 ? "" : "s",
               given, e->forecast_seconds);
    else if (all && (e->what == HDX_BATCH_DONE || e->what == HDX_BATCH_SKIPPED || e->what == HDX_BATCH_INTERRUPTED))
        notice(t, "%s: %s%s", id, hdx_batch_happening_name(e->what),
               e->what == HDX_BATCH_SKIPPED ? ", already finished" : "");
    else if (all && e->what == HDX_BATCH_HELD)
        notice(t, "%s: %s", id, e->message != NULL ? e->message : "locked by another runner");
}

static void report_event(void *context, const hdx_batch_event *e)
{
    reporter    *t = context;
    cli_console *c = t->run->console;
    if (c->progress == CLI_AS_JSON) {
        report_json(t, e);
        return;
    }
    const bool draws = c->terminal && c->progress != CLI_NEVER, first = t->counts.dumps == 0;
    t->counts = e->counts;
    if (e->what == HDX_BATCH_STEP) {
        at_work *w = work_of(t, e->dump_id, true);
        if (w != NULL) {
            if (w->step.number != e->step.number)
                w->began_ns = hdx_now_ns();
            w->step = e->step;
            (void)snprintf(w->name, sizeof w->name, "%s", e->step.step);
            w->step.unit = strcmp(e->step.unit, "bytes") == 0
                               ? "bytes"
                               : "objects"; /* e->step.unit is only valid during this call */
        }
    } else {
        at_work *w = e->dump_id != NULL && e->what != HDX_BATCH_NOTICE && e->what != HDX_BATCH_STARTED
                         ? work_of(t, e->dump_id, false)
                         : NULL;
        if (w != NULL)
            *w = t->at[--t->count];
        if (draws && t->lines > 0)
            erase(t);
        report_lines(t, e, t->run->call->verbose || (c->progress == CLI_ALWAYS && !c->terminal));
    }
    if (draws && e->what != HDX_BATCH_SUMMARY)
        draw(t, first || e->what != HDX_BATCH_STEP);
}

/* ---- the call ---- */

/* The number of the task: --task, or the variable that the scheduler of a job array sets. */
static hdx_code task_of(const cli_call *c, unsigned tasks, unsigned *task, hdx_error *err)
{
    static const char *const names[] = { "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX" };
    const char              *text = cli_given(c, "task"), *name = "--task";
    *task = 0;
    for (size_t i = 0; tasks > 0 && text == NULL && i < sizeof names / sizeof *names; i++)
        text = getenv(name = names[i]);
    if (text == NULL)
        return HDX_OK;
    char               *end = NULL;
    const unsigned long n = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    if (end == NULL || *end != '\0')
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s is '%.60s', which is not a number", name, text);
    if (n > tasks)
        return hdx_hint(
            err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s is %lu, but there are only %u tasks", name, n, tasks),
            "tasks are numbered from 0 or from 1; --tasks sets their number");
    *task = (unsigned)n;
    return HDX_OK;
}

static unsigned times_given(const cli_call *c, const char *name)
{
    unsigned n = 0;
    for (size_t i = 0; i < c->argument_count; i++)
        n += strcmp(c->arguments[i].name, name) == 0;
    return n;
}

static hdx_batch_tables tables_of(const cli_call *c)
{
    const char *given = cli_given(c, "tables");
    return given == NULL || strcmp(given, "none") == 0 ? HDX_BATCH_NO_TABLES
           : strcmp(given, "parquet") == 0             ? HDX_BATCH_PARQUET
           : strcmp(given, "sqlite") == 0              ? HDX_BATCH_SQLITE
                                                       : HDX_BATCH_CSV;
}

static hdx_batch_rebuild rebuild_of(const cli_call *c)
{
    const char *given = cli_given(c, "rebuild");
    return given == NULL                   ? HDX_BATCH_REBUILD_NONE
           : strcmp(given, "damaged") == 0 ? HDX_BATCH_REBUILD_DAMAGED
                                           : HDX_BATCH_REBUILD_ALL;
}

hdx_code cli_batch(cli_run *run, hdx_rows **rows, hdx_error *err)
{
    const cli_call  *c = run->call;
    reporter         t = { .run = run, .began_ns = hdx_now_ns(), .unread = hdx_buffer_of(NULL) };
    const char     **inputs = hdx_arena_get(&run->arena, (c->word_count + 1) * sizeof *inputs);
    hdx_batch_counts counts = { 0 };
    const unsigned   drops = times_given(c, "drop-dump"), tasks = (unsigned)cli_given_number(c, "tasks");
    *rows = NULL;
    if (inputs == NULL)
        return hdx_no_memory(err, "names of dumps", c->word_count);
    if (drops == 1)
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--drop-dump deletes heap dumps"),
                        "confirm by repeating the option: --drop-dump --drop-dump");
    unsigned       task;
    const hdx_code task_code = task_of(c, tasks, &task, err);
    if (task_code != HDX_OK)
        return task_code;
    inputs[0] = c->index.dump;
    for (size_t i = 0; i < c->word_count; i++)
        inputs[i + 1] = c->words[i];
    const hdx_batch_options options = { .inputs = inputs,
                                        .input_count = c->word_count + 1,
                                        .out = cli_given(c, "out"),
                                        .ask = cli_given(c, "ask"),
                                        .index_dir = cli_given(c, "index-dir"),
                                        .tables = tables_of(c),
                                        .more_tables = cli_given(c, "more-tables"),
                                        .memory = cli_given_number(c, "memory"),
                                        .threads = (unsigned)cli_given_number(c, "threads"),
                                        .max_uncompressed = c->index.max_uncompressed,
                                        .task = task,
                                        .tasks = tasks,
                                        .summary = cli_given(c, "summary") != NULL,
                                        .plan = cli_given(c, "plan") != NULL,
                                        .index_only = cli_given(c, "index-only") != NULL,
                                        .drop = drops > 1,
                                        .no_wait = cli_given(c, "no-wait") != NULL,
                                        .rebuild = rebuild_of(c),
                                        .progress = { .cancelled = is_cancelled, .context = &t },
                                        .happened = report_event,
                                        .context = &t };
    cli_building(true); /* child processes save checkpoints before the batch ends */
    hdx_code code = hdx_batch_run(&options, &counts, rows, err);
    if (t.lines > 0)
        erase(&t);
    flush_lines(&t);
    cli_building(false);
    run->condition = counts.failed > 0 || (options.summary && counts.done + counts.skipped < counts.dumps);
    if (code == HDX_CANCELLED)
        return hdx_hint(err, code, "run the same command again to resume");
    if (code == HDX_OK) {
        const hdx_arguments shape = { c->answer, c->arguments, c->argument_count };
        uint32_t            mark;
        if ((code = hdx_answer_mark(NULL, &shape, &mark, err)) == HDX_OK)
            code = hdx_answer_shape(&shape, NULL, mark, rows, err);
    }
    return code;
}
