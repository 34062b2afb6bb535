/*
 * console.c - standard error and signals: errors, notices, the progress line, Ctrl-C.
 *
 * Every text that may contain a name from a dump is written with cli_put_plain: a class may be called ESC [ 2 J.
 *
 * Signals are process-wide, and so is the flag that they set; long computations check it. Schedulers may send SIGTERM
 * several times, also through a script that forwards it: only the first one has an effect. After Ctrl-C a build saves
 * a checkpoint, which may take a second, and a line says so at once. A second Ctrl-C prints what stopping now would
 * lose, and the third one stops.
 *
 * Queries check the flag once per some thousand objects. A timer ends the process if it does not check in time, for
 * example in another library or while gigabytes of memory are freed: outside of builds, Ctrl-C takes effect quickly.
 */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- signals ---- */

#define INTERRUPTED "interrupted; no partial output remains"

static atomic_int caught; /* the first signal that requested a stop */

static atomic_bool           building; /* a build runs, which saves a checkpoint before it ends */
static atomic_bool           second_reported;
static _Atomic(const char *) unfinished[CLI_UNFINISHED_MAX];
static atomic_bool           line_shown; /* a progress line is on the terminal */

static _Atomic(pid_t) pager;       /* it has the terminal; 0: none */
static atomic_int     pager_ended; /* its exit status, if it ended before cli_pager_end */
static atomic_int     pager_from;  /* write end of the pipe to it */
static atomic_bool    pager_alone; /* the answer is complete: Ctrl-C only affects the pager */

void cli_paging(pid_t pid, int pipe_end)
{
    atomic_store(&pager_from, pipe_end);
    atomic_store(&pager_alone, false);
    atomic_store(&pager_ended, 0);
    atomic_store(&pager, pid);
}

bool cli_paging_left(int *status)
{
    const pid_t shown = atomic_load(&pager);
    if (shown <= 0 || waitpid(shown, status, WNOHANG) != shown)
        return false;
    atomic_store(&pager, 0);
    atomic_store(&pager_ended, *status);
    return true;
}

int cli_paging_status(void) { return atomic_load(&pager_ended); }

void cli_paging_ends(void) { atomic_store(&pager_alone, true); }

#define PATIENCE_US 100000 /* half of 0.2 s; the kernel needs the other half to end the process */

static _Atomic(hdx_sql *) shell_sql; /* Ctrl-C ends its statement or the line being edited; NULL: the program */
static atomic_bool        shell_interrupted;

void cli_set_shell_sql(hdx_sql *sql) { atomic_store(&shell_sql, sql); }
bool cli_shell_must_stop(void) { return atomic_load(&shell_interrupted) || cli_signal() != 0; }
bool cli_shell_interrupted(void) { return atomic_exchange(&shell_interrupted, false); }

static void set_timer(void)
{
    static const struct itimerval soon = { .it_value = { .tv_usec = PATIENCE_US } };
    (void)setitimer(ITIMER_REAL, &soon, NULL);
}

void cli_building(bool on)
{
    atomic_store(&building, on);
    if (!on && cli_signal() != 0)
        set_timer();
}

static void replace_unfinished(const char *from, const char *to)
{
    for (unsigned i = 0; i < CLI_UNFINISHED_MAX; i++) {
        const char *is = from;
        if (atomic_compare_exchange_strong(&unfinished[i], &is, to))
            return;
    }
}

void cli_unfinished_add(const char *path) { replace_unfinished(NULL, path); }

void cli_unfinished_remove(const char *path) { replace_unfinished(path, NULL); }

static void leave_now(void)
{
    const pid_t shown = atomic_load(&pager);
    for (unsigned i = 0; i < CLI_UNFINISHED_MAX; i++) {
        const char *part = atomic_load(&unfinished[i]);
        if (part != NULL)
            (void)unlink(part);
    }
    if (shown > 0 && cli_signal() == SIGINT) { /* it still reads keys, and the shell must not read them too */
        (void)close(atomic_load(&pager_from));
        while (waitpid(shown, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    _exit(cli_exit_code(HDX_CANCELLED));
}

/*
 * Replaces the progress line, which is redrawn below. Called in signal handlers, so it only calls poll and write.
 * Nothing is written while a pager shows a page.
 */
static void put_at_once(const char *line, size_t len)
{
    struct pollfd to = { .fd = STDERR_FILENO, .events = POLLOUT };
    if (atomic_load(&pager) > 0 || poll(&to, 1, 0) <= 0) /* a write to a full pipe would block the end of the process */
        return;
    (void)!write(STDERR_FILENO, "\r\x1b[K", atomic_load(&line_shown) ? 4 : 0);
    (void)!write(STDERR_FILENO, line, len);
}

static void too_late(int number)
{
    static const char line[] = "heapdex: " INTERRUPTED "\n";
    (void)number;
    if (atomic_load(&building) || (atomic_load(&pager_alone) && cli_signal() == SIGINT))
        return;
    put_at_once(line, sizeof line - 1);
    leave_now();
}

static void handle_signal(int number)
{
    static const char first[] = "heapdex: stopping\n";
    static const char second[] = "heapdex: saving a checkpoint; press Ctrl-C again to stop immediately\n";
    int               none = 0;
    hdx_sql          *sql = atomic_load(&shell_sql);
    if (number == SIGINT && atomic_load(&pager_alone))
        return;
    if (number == SIGINT && sql != NULL && !atomic_load(&building)) {
        atomic_store(&shell_interrupted, true);
        hdx_sql_interrupt(sql);
        return;
    }
    if (atomic_compare_exchange_strong(&caught, &none, number)) {
        if (!atomic_load(&building))
            set_timer();
        else if (number == SIGINT)
            put_at_once(first, sizeof first - 1);
        return;
    }
    if (number != SIGINT)
        return;
    if (atomic_load(&building) && !atomic_exchange(&second_reported, true)) {
        put_at_once(second, sizeof second - 1);
        return;
    }
    leave_now();
}

/* The interrupted code continues with its own errno. */
static void on_signal(int number)
{
    const int saved_errno = errno;
    handle_signal(number);
    errno = saved_errno;
}

static _Atomic(hdx_session *) guarded; /* session whose mapped files may be truncated */

void cli_guard(hdx_session *s) { atomic_store(&guarded, s); }

/*
 * A mapped file was truncated. For an index file of the session that is damage, which the answer reports; for any other
 * file the process cannot continue.
 */
static void bus_error(int number, siginfo_t *info, void *context)
{
    static const char line[] = "heapdex: a file was truncated while it was being read\nhint: wait until the file is "
                               "complete; heapdex index --force rebuilds a damaged index\n";
    hdx_session      *s = atomic_load(&guarded);
    (void)number;
    (void)context;
    if (s != NULL && hdx_session_handle_fault(s, info->si_addr))
        return;
    (void)!write(STDERR_FILENO, line, sizeof line - 1);
    _exit(5);
}

void cli_catch_signals(void)
{
    struct sigaction bus = { .sa_sigaction = bus_error, .sa_flags = (int)SA_SIGINFO };
    (void)sigemptyset(&bus.sa_mask);
    (void)sigaction(SIGBUS, &bus, NULL);
    struct sigaction stop = { .sa_handler = on_signal };
    struct sigaction ignore = { .sa_handler = SIG_IGN }, late = { .sa_handler = too_late, .sa_flags = (int)SA_RESTART };
    (void)sigemptyset(&stop.sa_mask);
    (void)sigemptyset(&ignore.sa_mask);
    (void)sigemptyset(&late.sa_mask);
    (void)sigaction(SIGALRM, &late, NULL);
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old;
        /* signals that nohup, or a script that starts a job with &, ignores remain ignored */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &stop, NULL);
    }
    (void)sigaction(SIGPIPE, &ignore, NULL); /* a closed pipe must not end a build; writes return EPIPE instead */
    (void)sigaction(SIGXFSZ, &ignore, NULL); /* the same for the file size limit: writes return EFBIG */
}

int cli_signal(void) { return atomic_load_explicit(&caught, memory_order_relaxed); }

static bool stop_wanted(void *context)
{
    (void)context;
    return cli_signal() != 0;
}

/* ---- text ---- */

void cli_put_plain(hdx_buffer *b, const char *text, size_t len) { (void)hdx_render_full_text(b, text, len, false); }

static void write_error(const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* standard error is closed */
        bytes += n;
        len -= (size_t)n;
    }
}

unsigned cli_terminal_width(int fd)
{
    struct winsize size;
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    unsigned    n = 0;
    for (; columns != NULL && *columns >= '0' && *columns <= '9' && n < 100000; columns++)
        n = 10 * n + (unsigned)(*columns - '0');
    return n >= 20 ? n : 0;
}

/* The locales C and POSIX are ASCII, others name their encoding. Files are always UTF-8. */
bool cli_ascii(int fd)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const char              *locale = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && (locale == NULL || *locale == '\0'); i++)
        locale = getenv(names[i]);
    if (isatty(fd) != 1 || locale == NULL || *locale == '\0')
        return false;
    const char *encoding = strchr(locale, '.');
    return encoding == NULL ? strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0
                            : strncasecmp(encoding, ".utf", 4) != 0;
}

/* ---- progress ---- */

static void rate(char *to, size_t size, double per_second, const char *unit)
{
    char human[16];
    if (strcmp(unit, "bytes") == 0) {
        hdx_human_size(per_second > 0 && per_second < 1e18 ? (uint64_t)per_second : 0, human);
        (void)snprintf(to, size, "%s/s", human);
    } else if (per_second >= 1e6) {
        (void)snprintf(to, size, "%.1f M %s/s", per_second / 1e6, unit);
    } else {
        (void)snprintf(to, size, "%.0f %s/s", per_second, unit);
    }
}

void cli_progress_line(char *to, size_t size, unsigned width, const hdx_progress_report *r, uint64_t elapsed_ns)
{
    double      seconds = (double)elapsed_ns / 1e9;
    const char *unit = r->unit != NULL ? r->unit : "";
    size_t      len = (size_t)snprintf(to, size, "%u/%u %s", r->number, r->steps, r->step != NULL ? r->step : "");
    if (len < size && r->total > 0) {
        double part = r->done < r->total ? (double)r->done / (double)r->total : 1;
        len += (size_t)snprintf(to + len, size - len, "  %3.0f %%", 100 * part);
    }
    if (len < size && r->done > 0 && seconds >= 0.2) {
        char text[48];
        rate(text, sizeof text, (double)r->done / seconds, unit);
        len += (size_t)snprintf(to + len, size - len, "  %s", text);
        if (len < size && r->total > r->done) {
            double left = seconds * (double)(r->total - r->done) / (double)r->done;
            if (left >= 1 &&
                left < 360000) /* under a second the estimate is useless: the end of a step may take longer */
                (void)snprintf(to + len, size - len, "  %u:%02u left", (unsigned)left / 60, (unsigned)left % 60);
        }
    }
    if (width > 0 && strlen(to) + 1 > width) /* one column remains free, because the terminal might wrap */
        to[width - 1] = '\0';
}

#define QUIET_NS 300000000u
static void show_progress(void *context, const hdx_progress_report *r)
{
    cli_console *c = context;
    uint64_t     now = hdx_now_ns();
    char         text[512], line[256];
    int          status;
    (void)pthread_mutex_lock(&c->one);
    if (c->held && cli_paging_left(&status)) /* the pager ended: the progress of a running build is shown again */
        c->held = false;
    if (c->held && c->terminal) { /* an answer is being written to the terminal */
        (void)pthread_mutex_unlock(&c->one);
        return;
    }
    bool next = c->step != r->number;
    if (next) {
        c->step = r->number;
        c->step_ns = now;
    }
    if (c->progress == CLI_AS_JSON) {
        int n =
            snprintf(text, sizeof text,
                     "{\"step\": \"%s\", \"number\": %u, \"steps\": %u, \"done\": %llu, \"total\": %llu, \"unit\": "
                     "\"%s\", \"seconds\": %.3f}\n",
                     r->step != NULL ? r->step : "", r->number, r->steps, (unsigned long long)r->done,
                     (unsigned long long)r->total, r->unit != NULL ? r->unit : "", (double)(now - c->step_ns) / 1e9);
        write_error(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    } else if (c->terminal && c->progress == CLI_AUTO && now - c->began_ns < QUIET_NS) {
        ; /* a line that disappears at once would only flicker */
    } else if (c->terminal) {
        unsigned width = cli_terminal_width(STDERR_FILENO);
        cli_progress_line(line, sizeof line, width != 0 ? width : 80, r, now - c->step_ns);
        int n = snprintf(text, sizeof text, "\r%s\x1b[K", line);
        write_error(text, (size_t)n);
        c->line = true;
        atomic_store(&line_shown, true);
    } else if (next || now - c->shown_ns >= 1000000000u) { /* --progress always to a file: a line per step and second */
        cli_progress_line(line, sizeof line, 0, r, now - c->step_ns);
        int n = snprintf(text, sizeof text, "heapdex: %s\n", line);
        write_error(text, (size_t)n);
        c->shown_ns = now;
    }
    (void)pthread_mutex_unlock(&c->one);
}

hdx_progress cli_console_progress(cli_console *c)
{
    bool shows = c->progress == CLI_AS_JSON || c->progress == CLI_ALWAYS || (c->progress == CLI_AUTO && c->terminal);
    return (hdx_progress){ .context = c, .report = shows ? show_progress : NULL, .cancelled = stop_wanted };
}

static void erase(cli_console *c)
{
    if (c->line)
        write_error("\r\x1b[K", 4);
    c->line = false;
    atomic_store(&line_shown, false);
}

void cli_console_erase(cli_console *c)
{
    (void)pthread_mutex_lock(&c->one);
    erase(c);
    (void)pthread_mutex_unlock(&c->one);
}

void cli_console_begin(cli_console *c)
{
    (void)pthread_mutex_lock(&c->one);
    c->began_ns = hdx_now_ns();
    c->step = 0;
    (void)pthread_mutex_unlock(&c->one);
}

/* Writes a notice now, or after the answer and its pager have ended. */
static void put_notice(cli_console *c, const hdx_buffer *line)
{
    (void)pthread_mutex_lock(&c->one);
    erase(c);
    if (c->held && c->terminal)
        hdx_buffer_put(&c->later, line->at, line->len);
    else
        write_error(line->at, (size_t)line->len);
    (void)pthread_mutex_unlock(&c->one);
}

void cli_console_hold(cli_console *c, bool on)
{
    (void)pthread_mutex_lock(&c->one);
    erase(c);
    c->held = on;
    if (!on && c->later.len > 0) {
        write_error(c->later.at, (size_t)c->later.len);
        hdx_buffer_clear(&c->later);
    }
    (void)pthread_mutex_unlock(&c->one);
}

void cli_console_open(cli_console *c, const cli_call *call)
{
    *c = (cli_console){ .terminal = isatty(STDERR_FILENO) == 1,
                        .later = hdx_buffer_of(NULL),
                        .below = hdx_buffer_of(NULL),
                        .began_ns = hdx_now_ns() };
    (void)pthread_mutex_init(&c->one, NULL);
    if (call != NULL) {
        c->quiet = call->quiet;
        c->verbose = call->verbose;
        c->progress = call->progress;
    }
}

void cli_console_close(cli_console *c)
{
    cli_console_hold(c, false);
    hdx_buffer_free(&c->later);
    hdx_buffer_free(&c->below);
    (void)pthread_mutex_destroy(&c->one);
}

void cli_notice(cli_console *c, const char *format, ...)
{
    char       text[2048];
    hdx_buffer line = hdx_buffer_of(NULL);
    va_list    args;
    if (c->quiet)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hdx_buffer_text(&line, "heapdex: ");
    cli_put_plain(&line, text, strlen(text));
    hdx_buffer_text(&line, "\n");
    if (!line.failed)
        put_notice(c, &line);
    hdx_buffer_free(&line);
}

/* ---- errors ---- */

int cli_exit_code(hdx_code code)
{
    switch (code) {
    case HDX_OK: return 0;
    case HDX_USAGE: return 2;
    case HDX_BAD_DUMP: return 3;
    case HDX_NOT_FOUND: return 4;
    case HDX_DAMAGED: return 5;
    case HDX_LIMIT: return 6;
    case HDX_IO: return 7;
    case HDX_BUSY: return 76;
    case HDX_CANCELLED: return cli_signal() == SIGTERM || cli_signal() == SIGHUP ? 75 : 130;
    }
    return 7;
}

static hdx_cell text_cell(const char *s)
{
    return (hdx_cell){ .kind = HDX_CELL_TEXT, .as.text = { s, (uint32_t)strlen(s) } };
}

/* Writes {"error": {...}} to standard output. */
static void put_error_document(int exit_code, const hdx_error *err)
{
    hdx_member members[6] = { { "code", { .kind = HDX_CELL_UINT, .as.natural = (uint64_t)exit_code } },
                              { "kind", text_cell(hdx_code_name(err->code)) },
                              { "message", text_cell(err->message) },
                              { "file", { .kind = HDX_CELL_NULL } },
                              { "offset", { .kind = HDX_CELL_NULL } },
                              { "hint", { .kind = HDX_CELL_NULL } } };
    uint64_t   count = err->hint[0] != '\0' ? 6 : 5;
    hdx_buffer out = hdx_buffer_of(NULL);
    if (err->where[0] != '\0')
        members[3].value = text_cell(err->where);
    if (err->offset != HDX_NOWHERE)
        members[4].value = (hdx_cell){ .kind = HDX_CELL_UINT, .as.natural = err->offset };
    if (count == 6)
        members[5].value = text_cell(err->hint);
    hdx_member whole = { "error", { .kind = HDX_CELL_OBJECT, .as.object = { members, count } } };
    hdx_cell   cell = { .kind = HDX_CELL_OBJECT, .as.object = { &whole, 1 } };
    hdx_render_json_cell(&out, &cell);
    hdx_buffer_text(&out, "\n");
    for (uint64_t at = 0; !out.failed && at < out.len;) {
        ssize_t n = write(STDOUT_FILENO, out.at + at, (size_t)(out.len - at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += (uint64_t)n;
    }
    hdx_buffer_free(&out);
}

int cli_report(cli_console *c, hdx_code code, const hdx_error *err, bool json)
{
    hdx_error  given = *err;
    hdx_buffer line = hdx_buffer_of(NULL);
    int        exit_code = cli_exit_code(code);
    if (code == HDX_CANCELLED && atomic_load(&shell_sql) != NULL) {
        given = (hdx_error){ .code = code, .offset = HDX_NOWHERE, .message = "interrupted" };
    } else if (code == HDX_CANCELLED) { /* one wording for all interrupted work */
        given = (hdx_error){ .code = code, .offset = HDX_NOWHERE, .message = INTERRUPTED };
        memcpy(given.hint, err->hint, sizeof given.hint);
    } else if (given.code != code || given.message[0] == '\0') { /* no message: the name of the code is used */
        given = (hdx_error){ .code = code, .offset = HDX_NOWHERE };
        (void)snprintf(given.message, sizeof given.message, "%s", hdx_code_name(code));
    }
    if (json)
        put_error_document(exit_code, &given);
    hdx_buffer_text(&line, "heapdex: ");
    if (given.where[0] != '\0') {
        cli_put_plain(&line, given.where, strlen(given.where));
        hdx_buffer_text(&line, ": ");
    }
    if (given.offset != HDX_NOWHERE && c->below.len == 0)
        hdx_buffer_format(&line, "offset 0x%llx: ", (unsigned long long)given.offset);
    cli_put_plain(&line, given.message, strlen(given.message));
    hdx_buffer_text(&line, "\n");
    if (c->below.len > 0 && code != HDX_CANCELLED)
        hdx_buffer_put(&line, c->below.at, c->below.len);
    if (given.hint[0] != '\0') {
        hdx_buffer_text(&line, "hint: ");
        cli_put_plain(&line, given.hint, strlen(given.hint));
        hdx_buffer_text(&line, "\n");
    }
    (void)pthread_mutex_lock(&c->one);
    erase(c);
    if (!line.failed)
        write_error(line.at, (size_t)line.len);
    (void)pthread_mutex_unlock(&c->one);
    hdx_buffer_free(&line);
    return exit_code;
}
