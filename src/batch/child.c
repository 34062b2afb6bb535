/*
 * child.c - the work on one dump in its own process: index, answers, tables; or only a forecast.
 *
 * In:  a task.
 * Out: files of the dump in OUT; lines of flat JSON through a pipe: {"say": "step"}, "notice", "forecast", finally
 *      "end". A child whose lines stop without "end" has crashed or was killed; its parent knows no more than that.
 * The child dies with its parent (PR_SET_PDEATHSIG); a later call resumes from what it has built. SIGTERM makes it save
 * its progress and end. It ignores Ctrl-C in a terminal: the parent receives it as well and stops its children.
 */
#include "batch/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Memory of queries in addition to the index: some tens of bytes per object if available, otherwise less. */
#define ASKING_BYTES 64u
#define ASKING_ROOM  (64ull << 20)

static atomic_bool            stopped; /* of this process only: each child has its own */
static _Atomic(hdx_session *) guarded;

typedef struct child {
    const batch_task *task;
    int               to;
    pthread_mutex_t   one; /* a line is written as a whole */
    hdx_session      *session;
    hdx_access        like;   /* output is readable by those who can read the dump */
    unsigned          failed; /* number of tables whose answers failed */
    char              content[BATCH_CONTENT];
    uint64_t          content_ms;
    const char       *needed; /* reason to keep a dump that would be deleted; NULL: it may be deleted */
} child;

/* ---- lines ---- */

static void send_line(child *c, hdx_buffer *b)
{
    hdx_batch_put_end(b);
    (void)pthread_mutex_lock(&c->one);
    for (uint64_t at = 0; !b->failed && at < b->len;) {
        const ssize_t n = write(c->to, b->at + at, (size_t)(b->len - at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += (uint64_t)n;
    }
    (void)pthread_mutex_unlock(&c->one);
    hdx_buffer_free(b);
}

static hdx_buffer line_of(const char *what)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_buffer_text(&b, "{");
    hdx_batch_put_text(&b, "say", what);
    return b;
}

static void report(void *context, const hdx_progress_report *r)
{
    hdx_buffer b = line_of("step");
    hdx_batch_put_text(&b, "step", r->step);
    hdx_batch_put_number(&b, "number", r->number);
    hdx_batch_put_number(&b, "steps", r->steps);
    hdx_batch_put_number(&b, "done", r->done);
    hdx_batch_put_number(&b, "total", r->total);
    hdx_batch_put_text(&b, "unit", r->unit);
    send_line(context, &b);
}

static void notice(void *context, const char *line)
{
    hdx_buffer b = line_of("notice");
    hdx_batch_put_text(&b, "line", line);
    send_line(context, &b);
}

static bool is_stopped(void *context)
{
    (void)context;
    return atomic_load_explicit(&stopped, memory_order_relaxed);
}

/* ---- signals ---- */

static void stop(int number)
{
    (void)number;
    atomic_store(&stopped, true);
}

static void bus_error(int number, siginfo_t *info, void *context)
{
    hdx_session *s = atomic_load(&guarded);
    (void)number;
    (void)context;
    if (s == NULL || !hdx_session_handle_fault(s, info->si_addr))
        _exit(5); /* a mapped file other than the index was truncated */
}

static void set_up_process(pid_t parent)
{
    static const int ignored[] = { SIGINT, SIGHUP, SIGPIPE, SIGQUIT, SIGXFSZ },
                     usual[] = { SIGALRM, SIGCHLD, SIGUSR1, SIGUSR2 };
    const struct rlimit none = { 0, 0 };
    struct sigaction    action = { .sa_handler = SIG_IGN };
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)sigaction(ignored[i], &action, NULL);
    action.sa_handler = SIG_DFL;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        (void)sigaction(usual[i], &action, NULL);
    action.sa_handler = stop;
    (void)sigaction(SIGTERM, &action, NULL);
    action = (struct sigaction){ .sa_sigaction = bus_error, .sa_flags = (int)SA_SIGINFO };
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL);
    (void)sigprocmask(SIG_SETMASK, &action.sa_mask, NULL);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent died before prctl took effect */
        _exit(hdx_batch_exit_code(HDX_CANCELLED));
}

/* ---- a forecast ---- */

static hdx_index_options index_options(child *c)
{
    const batch_task *t = c->task;
    return (hdx_index_options){ .dump = t->index != NULL ? t->index : t->dump->path,
                                .index_dir = t->index != NULL ? NULL : t->index_dir,
                                .dump_number = 1,
                                .threads = t->threads,
                                .memory = t->memory,
                                .max_uncompressed = t->options->max_uncompressed,
                                .no_wait = t->options->no_wait,
                                .force = t->rebuild && t->index == NULL,
                                .progress = { c, report, is_stopped },
                                .notice = notice,
                                .notice_context = c };
}

static void put_forecast(child *c, const hdx_index_forecast *f, const hdx_index_report *r, bool indexed)
{
    const bool     asks = c->task->options->ask != NULL && !c->task->options->index_only;
    const uint64_t objects = indexed ? r->objects : f->objects, asking = asks ? ASKING_ROOM + 8 * objects : 0;
    hdx_buffer     b = line_of("forecast"), steps = hdx_buffer_of(NULL);
    struct stat    st;
    batch_forecast out = { .indexed = indexed, .objects = objects };
    if (stat(c->task->dump->path, &st) == 0) {
        out.file_size = (uint64_t)st.st_size;
        out.mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    }
    if (!indexed) {
        out.memory = f->memory;
        out.least = ((f->least >> 20) + 1) << 20;
        out.disk = f->disk;
        out.temporary = f->temporary;
        out.seconds = (double)f->wall_ns / 1e9;
        for (unsigned i = 0; i < f->step_count; i++)
            hdx_buffer_format(&steps, "%s%s %.3f", i > 0 ? ", " : "", f->steps[i].name,
                              (double)f->steps[i].wall_ns / 1e9);
    }
    out.least = out.least > asking ? out.least : asking;
    out.memory = out.memory > asking + ASKING_BYTES * objects || !asks ? out.memory : asking + ASKING_BYTES * objects;
    out.least = out.least > 0 ? out.least : ASKING_ROOM;
    out.memory = out.memory > out.least ? out.memory : out.least;
    out.steps = steps.at;
    hdx_batch_forecast_put(&b, &out);
    send_line(c, &b);
    hdx_buffer_free(&steps);
}

/* Reads all pages of the index and checks checksums and consistency. */
static hdx_code verify(child *c, hdx_error *err)
{
    const hdx_cell *cells;
    hdx_rows       *rows = NULL;
    hdx_code        code = hdx_answer_run(c->session, "verify", NULL, 0, &rows, err);
    while (code == HDX_OK && hdx_rows_next(rows, &cells))
        ;
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    return code;
}

/* Opening an index reads little of it: damage in other places is found only by a complete read. */
static bool is_damaged(child *c, const hdx_index_options *find, hdx_code found)
{
    hdx_error own;
    if (found != HDX_OK)
        return found == HDX_DAMAGED;
    hdx_code code = hdx_session_open(find, &c->session, &own);
    atomic_store(&guarded, c->session);
    if (code == HDX_OK)
        code = verify(c, &own);
    atomic_store(&guarded, NULL);
    hdx_session_close(c->session);
    c->session = NULL;
    return code == HDX_DAMAGED;
}

/*
 * Returns whether the caller wants this index built again, and reports it to the parent. `found`: the result of opening
 * it.
 */
static bool is_to_rebuild(child *c, const hdx_index_options *find, hdx_code found)
{
    const hdx_batch_rebuild which = c->task->options->rebuild;
    const bool              there = found == HDX_OK || found == HDX_DAMAGED;
    if (!there || c->task->index != NULL || which == HDX_BATCH_REBUILD_NONE ||
        (which == HDX_BATCH_REBUILD_DAMAGED && !is_damaged(c, find, found)))
        return false;
    hdx_buffer b = line_of("rebuild");
    send_line(c, &b);
    return true;
}

/* If the index is valid, nothing of the dump is read. */
static hdx_code forecast(child *c, hdx_error *err)
{
    hdx_index_options   find = index_options(c);
    hdx_index_forecast *f = calloc(1, sizeof *f);
    hdx_index_report   *r = calloc(1, sizeof *r);
    hdx_code            code = f == NULL || r == NULL ? hdx_no_memory(err, "a forecast", sizeof *r) : HDX_OK;
    if (code == HDX_OK) {
        hdx_error none;
        find.no_build = true;
        const hdx_code found = hdx_index_build(&find, r, &none);
        const bool     indexed = !is_to_rebuild(c, &find, found) && found == HDX_OK;
        find.no_build = false;
        find.memory = 0;
        code = indexed ? HDX_OK : hdx_index_estimate(&find, f, err);
        if (code == HDX_OK)
            put_forecast(c, f, r, indexed);
    }
    free(f);
    free(r);
    return code;
}

/* ---- answers ---- */

static hdx_code ask(child *c, const char *name, const char *folder, hdx_error *err)
{
    static const hdx_argument whole[] = { { "texts", "whole" } }; /* as in --format json */
    char                      path[4300];
    hdx_rows                 *rows = NULL;
    (void)snprintf(path, sizeof path, "%s/%s.json", folder, name);
    hdx_code code = hdx_answer_run(c->session, name, whole, 1, &rows, err);
    if (code == HDX_OK)
        code = hdx_batch_rows_write(path, rows, &c->like, err);
    hdx_rows_close(rows);
    return code;
}

static hdx_code ask_all(child *c, hdx_error *err)
{
    const char *at = c->task->options->ask;
    char        folder[4200], name[64];
    hdx_code    code = HDX_OK;
    (void)snprintf(folder, sizeof folder, "%s/answers/%s", c->task->options->out, c->task->dump->id);
    hdx_access_of(c->task->index != NULL ? c->task->index : c->task->dump->path, &c->like);
    if (at != NULL && mkdir(folder, 0700) != 0 && errno != EEXIST)
        return hdx_fail(err, HDX_IO, folder, HDX_NOWHERE, "cannot be created: %s", strerror(errno));
    if (at != NULL) {
        hdx_batch_clear_temporary(folder, NULL);
        hdx_access_give(&c->like, folder);
    }
    for (size_t len; code == HDX_OK && at != NULL && *at != '\0'; at += len + (at[len] == ',')) {
        len = strcspn(at, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : 0), at); /* already validated */
        code = ask(c, name, folder, err);
    }
    return code;
}

/* ---- tables ---- */

hdx_fleet_format hdx_batch_format_of(hdx_batch_tables tables)
{
    return tables == HDX_BATCH_PARQUET ? HDX_FLEET_PARQUET : tables == HDX_BATCH_CSV ? HDX_FLEET_CSV : HDX_FLEET_SQLITE;
}

/* Writes the tables of the answers; with a failure only tables that report it. */
static hdx_code write_tables(child *c, const hdx_error *failure, hdx_error *err)
{
    const hdx_batch_options *o = c->task->options;
    const batch_dump        *d = c->task->dump;
    const hdx_index_report  *r = c->session != NULL ? hdx_session_report(c->session, 0) : NULL;
    hdx_argument            *fields = calloc(d->field_count + 1, sizeof *fields);
    if (o->tables == HDX_BATCH_NO_TABLES || fields == NULL) {
        free(fields);
        return o->tables == HDX_BATCH_NO_TABLES ? HDX_OK : hdx_no_memory(err, "a manifest", d->field_count);
    }
    for (size_t i = 0; i < d->field_count; i++)
        fields[i] = (hdx_argument){ d->fields[i].key, d->fields[i].value };
    const hdx_fleet_options fleet = { .out = o->out,
                                      .dump_id = d->id,
                                      .format = hdx_batch_format_of(o->tables),
                                      .tables = o->more_tables,
                                      .manifest = fields,
                                      .manifest_count = d->field_count,
                                      .file = d->path,
                                      .seconds = r != NULL ? (double)r->wall_ns / 1e9 : 0,
                                      .peak_bytes = r != NULL ? r->peak_rss : 0,
                                      .failure = failure,
                                      .failed = &c->failed,
                                      .progress = { .cancelled = is_stopped } };
    const hdx_code          code = hdx_fleet_write(failure == NULL ? c->session : NULL, &fleet, err);
    free(fields);
    return code;
}

/* ---- the work ---- */

static uint64_t now_ms(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_REALTIME, &t) == 0 ? (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u : 0;
}

/*
 * Computes a hash of all bytes before the dump is indexed. The parent stores it immediately: after a kill, a repeated
 * call must still know what the index was built from.
 */
static hdx_code hash_before(child *c, hdx_error *err)
{
    const hdx_progress progress = { c, NULL, is_stopped };
    hdx_buffer         b = line_of("content");
    batch_file         ignored;
    hdx_code           code = HDX_OK;
    c->content_ms = c->task->content_ms;
    if (c->task->content != NULL) {
        (void)snprintf(c->content, sizeof c->content, "%s", c->task->content);
    } else {
        c->content_ms = now_ms();
        code = hdx_batch_content(c->task->dump->path, &progress, c->content, &ignored, err);
    }
    hdx_batch_put_text(&b, "content", c->content);
    hdx_batch_put_number(&b, "content_ms", c->content_ms);
    if (code == HDX_OK)
        send_line(c, &b);
    else
        hdx_buffer_free(&b);
    return code;
}

/* Identifies the file that the parent may delete. */
static void send_file(child *c, const batch_file *f)
{
    hdx_buffer b = line_of("read_again");
    hdx_batch_put_number(&b, "device", f->device);
    hdx_batch_put_number(&b, "inode", f->inode);
    hdx_batch_put_number(&b, "size", f->size);
    hdx_batch_put_number(&b, "mtime_ns", f->mtime_ns);
    send_line(c, &b);
}

/*
 * Returns why the dump must not be deleted; NULL: it may be. Its index must be built from exactly these bytes: from all
 * heaps of the file, after the first hash was computed, and with the same hash now.
 */
static const char *not_dropped(child *c, const hdx_graph *g, hdx_error *err)
{
    const hdx_progress       progress = { c, NULL, is_stopped };
    const hdx_graph_summary *sum = hdx_graph_summary_of(g);
    char                     now[BATCH_CONTENT];
    batch_file               file;
    if (c->content[0] == '\0')
        return "it was not read before indexing";
    if (sum->dumps_in_file > 1)
        return "the file contains several heaps, and only one of them is indexed";
    if (sum->built_at_ms < c->content_ms)
        return "its index already existed and may be from other bytes; --rebuild all rebuilds it";
    if (hdx_batch_content(c->task->dump->path, &progress, now, &file, err) != HDX_OK)
        return "it cannot be read again";
    if (strcmp(now, c->content) != 0)
        return "it has changed since it was indexed";
    if (!file.known)
        return "it changed while being read again";
    send_file(c, &file);
    return NULL;
}

static hdx_code prepare_drop(child *c, const hdx_graph *g, hdx_error *err)
{
    hdx_error      own = { .offset = HDX_NOWHERE };
    const hdx_code code = verify(c, err);
    if (code == HDX_OK)
        c->needed = not_dropped(c, g, &own);
    return code == HDX_OK && own.code == HDX_CANCELLED ? hdx_tick_stop(err) : code;
}

static hdx_code work(child *c, hdx_error *err)
{
    const hdx_batch_options *o = c->task->options;
    const hdx_index_options  options = index_options(c);
    hdx_graph               *g = NULL;
    hdx_code                 code = hdx_session_open(&options, &c->session, err);
    if (code != HDX_OK)
        return code;
    hdx_session_limit(c->session, c->task->memory);
    atomic_store(&guarded, c->session);
    if (o->drop && c->task->index == NULL && (code = hash_before(c, err)) != HDX_OK)
        return code;
    if ((code = hdx_session_graph(c->session, 0, &g, err)) == HDX_OK && !o->index_only &&
        (code = ask_all(c, err)) == HDX_OK && (code = write_tables(c, NULL, err)) == HDX_OK)
        code = hdx_graph_check(g, err);
    return code == HDX_OK && o->drop ? prepare_drop(c, g, err) : code;
}

/* Returns the remedy for a failure of a batch; NULL: unknown. */
static const char *hint_of(const child *c, hdx_code code, const hdx_error *err)
{
    if (code == HDX_DAMAGED)
        return c->task->index != NULL ? "its dump was deleted; the index cannot be rebuilt"
                                      : "run the command again with --rebuild damaged to rebuild damaged indexes";
    return code != HDX_OK && err->hint[0] != '\0' ? err->hint : NULL;
}

static void put_end(child *c, hdx_code code, const hdx_error *err)
{
    const hdx_graph_summary *sum = c->session != NULL ? hdx_session_summary(c->session, 0) : NULL;
    const hdx_index_report  *r = c->session != NULL ? hdx_session_report(c->session, 0) : NULL;
    hdx_buffer               b = line_of("end"), error = hdx_buffer_of(NULL), damage = hdx_buffer_of(NULL);
    if (code != HDX_OK) {
        if (err->where[0] != '\0')
            hdx_buffer_format(&error, "%s: ", err->where);
        if (err->offset != HDX_NOWHERE)
            hdx_buffer_format(&error, "offset 0x%llx: ", (unsigned long long)err->offset);
        hdx_buffer_text(&error, err->code == code && err->message[0] != '\0' ? err->message : hdx_code_name(code));
    }
    hdx_batch_put_number(&b, "code", (uint64_t)code);
    hdx_batch_put_number(&b, "tables_failed", c->failed);
    hdx_batch_put_text(&b, "error", error.at);
    hdx_batch_put_text(&b, "hint", hint_of(c, code, err));
    if (sum != NULL) {
        if (sum->damage_count > 0)
            hdx_buffer_format(&damage, "offset 0x%llx: %s: %s", (unsigned long long)sum->damage[0].offset,
                              sum->damage[0].record, sum->damage[0].expected);
        hdx_batch_put_number(&b, "damage_places", sum->damage_count + sum->damage_more);
        hdx_batch_put_text(&b, "damage", damage.at);
        hdx_batch_put_number(&b, "objects", sum->objects);
        hdx_batch_put_number(&b, "live_objects", sum->live_objects);
        hdx_batch_put_number(&b, "references", sum->references);
    }
    if (r != NULL) {
        hdx_batch_put_text(&b, "index", r->path);
        hdx_batch_put_number(&b, "index_bytes", r->bytes);
        hdx_batch_put_bool(&b, "reused", r->reused);
    }
    hdx_batch_put_text(&b, "needed", c->needed);
    send_line(c, &b);
    hdx_buffer_free(&error);
    hdx_buffer_free(&damage);
}

static void be_child(const batch_task *task, pid_t parent, int to) __attribute__((noreturn));
static void be_child(const batch_task *task, pid_t parent, int to)
{
    child     c = { .task = task, .to = to };
    hdx_error err = { .offset = HDX_NOWHERE };
    (void)pthread_mutex_init(&c.one, NULL);
    set_up_process(parent);
    const hdx_code code = task->forecast          ? forecast(&c, &err)
                          : task->failure != NULL ? write_tables(&c, task->failure, &err)
                                                  : work(&c, &err);
    if (code != HDX_OK && code != HDX_CANCELLED && code != HDX_BUSY && !task->forecast && task->failure == NULL &&
        !task->options->index_only) {
        hdx_error ignored; /* the first error is the reason that the tables report */
        (void)write_tables(&c, &err, &ignored);
    }
    put_end(&c, code, &err);
    _exit(hdx_batch_exit_code(code)); /* exit handlers belong to the parent */
}

hdx_code hdx_batch_child_start(const batch_task *task, const batch_child *others, size_t other_count, batch_child *out,
                               hdx_error *err)
{
    const pid_t parent = getpid();
    sigset_t    all, before;
    int         ends[2];
    *out = (batch_child){ 0, -1 };
    if (pipe2(ends, O_CLOEXEC) != 0)
        return hdx_fail(err, errno == EMFILE || errno == ENFILE ? HDX_LIMIT : HDX_IO, NULL, HDX_NOWHERE,
                        "cannot create a pipe: %s", strerror(errno));
    (void)sigfillset(&all); /* signals that arrive before the child has its handlers are delayed until then */
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    out->pid = fork();
    if (out->pid == 0) {
        for (size_t i = 0; i < other_count; i++)
            (void)close(others[i].from);
        (void)close(ends[0]);
        be_child(task, parent, ends[1]);
    }
    const int why = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)close(ends[1]);
    if (out->pid < 0) {
        (void)close(ends[0]);
        return hdx_fail(err, HDX_LIMIT, NULL, HDX_NOWHERE, "cannot start a process: %s", strerror(why));
    }
    out->from = ends[0];
    return HDX_OK;
}
