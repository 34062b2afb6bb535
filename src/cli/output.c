/*
 * output.c - where an answer goes: standard output, or a file that is there whole or not at all.
 *
 * A file gets a temporary name in the same folder (base/own.h), is synced and then renamed; what had the name before
 * stays until that moment. What is no plain file (/dev/null, a named pipe) is written in place. Calls go to the system
 * directly and not through hdx_io: an interrupted write must come back here, so that Ctrl-C ends a pipe that nobody
 * reads.
 */
#include "cli/cli.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STRETCH (4u << 20)

/* As private as the dumps that it tells of, and as what it takes the place of. */
static hdx_code make_part(cli_output *o, const char *path, bool exists, mode_t mode, hdx_error *err)
{
    o->final =
        exists ? realpath(path, NULL) : strdup(path); /* behind a symbolic link the file is replaced, not the link */
    size_t room = o->final != NULL ? strlen(o->final) + 48 : 0;
    if (o->final == NULL || (o->part = malloc(room)) == NULL)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot create: %s", strerror(errno));
    const int fd = hdx_own_create(o->final, 0600, o->part, room);
    if (fd < 0) {
        free(o->part);
        o->part = NULL; /* not ours to remove */
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot create: %s", strerror(-fd));
    }
    o->fd = fd;
    cli_unfinished(o->part);
    if (exists) {
        hdx_access was = o->access;
        was.mode = mode & 0666;
        hdx_access_narrow(&o->access, &was);
    }
    return HDX_OK;
}

/* As private as the most private of the inputs. */
static void set_access(cli_output *o, const cli_inputs *inputs)
{
    o->access = (hdx_access){ .mode = 0666, .gid = (uint32_t)getegid() };
    for (size_t i = 0; i < inputs->count; i++) {
        hdx_access also;
        hdx_access_of(inputs->at[i], &also);
        if (i == 0)
            o->access = also;
        else
            hdx_access_narrow(&o->access, &also);
    }
}

hdx_code cli_output_open(cli_output *o, const char *path, const cli_inputs *inputs, hdx_error *err)
{
    struct stat there;
    hdx_code    code;
    o->fd = STDOUT_FILENO;
    o->opened = o->written = o->interrupted = false;
    o->failed = 0;
    o->bytes = o->pushed = o->waited = 0;
    o->filled = o->first = 0;
    o->path = NULL;
    o->pager = NULL;
    o->console = NULL;
    o->final = o->part = NULL;
    if (path == NULL || strcmp(path, "-") == 0)
        return HDX_OK;
    if ((code = hdx_output_check(path, inputs->at, inputs->count, err)) != HDX_OK)
        return code;
    if (hdx_output_is_dump(path))
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "is a heap dump; the answer would replace it"),
                        "name another file, or remove the dump first");
    set_access(o, inputs);
    o->path = path;
    const bool exists = stat(path, &there) == 0;
    if (!exists || S_ISREG(there.st_mode)) {
        code = make_part(o, path, exists, exists ? there.st_mode : 0, err);
        o->opened = code == HDX_OK;
        return code;
    }
    o->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (o->fd < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot open: %s", strerror(errno));
    o->opened = true;
    return HDX_OK;
}

/*
 * A sync cannot be interrupted, and of gigabytes that only memory has it takes long: what is written goes to disk in
 * stretches, one after the other, and the sync at the end finds two of them at most.
 */
static void push(cli_output *o)
{
    if (o->part == NULL || o->bytes - o->pushed < STRETCH)
        return;
    if (o->pushed > o->waited)
        (void)sync_file_range(o->fd, (off_t)o->waited, (off_t)(o->pushed - o->waited),
                              SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    (void)sync_file_range(o->fd, (off_t)o->pushed, (off_t)(o->bytes - o->pushed), SYNC_FILE_RANGE_WRITE);
    o->waited = o->pushed;
    o->pushed = o->bytes;
}

void cli_output_grown(cli_output *o)
{
    struct stat now;
    if (o->part == NULL || fstat(o->fd, &now) != 0)
        return;
    o->bytes = (uint64_t)now.st_size;
    push(o);
}

void cli_output_show(cli_output *o, cli_console *console, cli_pager *pager)
{
    if (o->path != NULL || isatty(STDOUT_FILENO) != 1)
        return;
    o->console = console;
    o->pager = pager->command != NULL ? pager : NULL;
}

/* Before the first bytes go to the terminal: nothing may be drawn between them, and a pager comes in. */
static void begin_page(cli_output *o)
{
    cli_console_hold(o->console, true);
    if (o->pager == NULL || o->pager->begun)
        return;
    const int fd = cli_pager_begin(o->pager);
    o->first = o->filled;
    if (fd >= 0) {
        o->fd = fd;
        o->opened = true;
    }
}

hdx_code cli_output_leave(cli_output *o, hdx_code code, hdx_error *err)
{
    const bool left = o->failed == EPIPE && code == HDX_IO;
    if (o->pager == NULL || o->pager->pid == 0) {
        if (o->console != NULL)
            cli_console_hold(o->console, false);
        return code;
    }
    if (o->opened)
        (void)close(o->fd);
    o->opened = false;
    o->fd = STDOUT_FILENO;
    const bool was = cli_pager_end(o->pager, code == HDX_OK || left);
    o->pager = NULL;
    if (o->failed == EPIPE)
        o->failed = 0;                                                         /* of the pipe, which is gone */
    if (code == HDX_OK && (cli_signal() == SIGTERM || cli_signal() == SIGHUP)) /* while the pager was waited for */
        return hdx_fail(err, HDX_CANCELLED, "standard output", HDX_NOWHERE, "interrupted");
    if (was)
        return left ? HDX_OK : code; /* who leaves early has seen enough */
    if (o->first == 0 || (code != HDX_OK && !left))
        return code;
    o->filled = o->first;
    o->bytes = 0;
    return cli_output_commit(o, err);
}

static bool flush(cli_output *o)
{
    if (o->console != NULL && o->filled > 0)
        begin_page(o);
    for (size_t at = 0; at < o->filled;) {
        if (cli_signal() != 0) {
            o->interrupted = true;
            return false;
        }
        ssize_t n = write(o->fd, o->buffer + at, o->filled - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            o->failed = errno;
            return false;
        }
        at += (size_t)n;
        o->bytes += (uint64_t)n;
        o->written = true;
        push(o);
    }
    o->filled = 0;
    return true;
}

bool cli_output_write(cli_output *o, const char *bytes, size_t len)
{
    if (o->failed != 0 || o->interrupted)
        return false;
    while (len > 0) {
        if (o->filled == sizeof o->buffer && !flush(o))
            return false;
        size_t n = sizeof o->buffer - o->filled < len ? sizeof o->buffer - o->filled : len;
        memcpy(o->buffer + o->filled, bytes, n);
        o->first = 0;
        o->filled += n;
        bytes += n;
        len -= n;
    }
    return true;
}

static bool sink_write(void *context, const char *bytes, size_t len) { return cli_output_write(context, bytes, len); }

hdx_sink cli_output_sink(cli_output *o) { return (hdx_sink){ sink_write, o }; }

static hdx_code why(const cli_output *o, hdx_error *err)
{
    const char *where = o->path != NULL ? o->path : "standard output";
    if (o->interrupted)
        return hdx_fail(err, HDX_CANCELLED, where, HDX_NOWHERE, "interrupted while the answer was written");
    return hdx_fail(err, HDX_IO, where, HDX_NOWHERE, "cannot write: %s", strerror(o->failed));
}

hdx_code cli_output_commit(cli_output *o, hdx_error *err)
{
    if (o->failed != 0 || o->interrupted || !flush(o))
        return why(o, err);
    if (o->part != NULL && fsync(o->fd) != 0) {
        o->failed = errno;
        return why(o, err);
    }
    if (o->opened) {
        o->opened = false; /* given up even when close fails */
        if (close(o->fd) != 0) {
            o->failed = errno;
            return why(o, err);
        }
    }
    if (o->console != NULL && (o->pager == NULL || o->pager->pid == 0))
        cli_console_hold(o->console, false);
    if (o->part != NULL)
        hdx_access_give(&o->access, o->part);
    if (o->part != NULL && rename(o->part, o->final) != 0) {
        o->failed = errno;
        return why(o, err);
    }
    cli_unfinished(NULL);
    free(o->part);
    o->part = NULL;
    return HDX_OK;
}

void cli_output_drop(cli_output *o)
{
    if (o->opened)
        (void)close(o->fd);
    if (o->part != NULL)
        (void)unlink(o->part);
    cli_unfinished(NULL);
    free(o->part);
    free(o->final);
    o->part = o->final = NULL;
    o->opened = false;
}
