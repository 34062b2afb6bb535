/*
 * output.c - writes an answer to standard output, or to a file that appears complete or not at all.
 *
 * A file has a temporary name until it is complete (base/whole.h); until then the old file remains. A device or a named
 * pipe is written in place. This file calls write(2) and not hdx_io: an interrupted write must return here, so that
 * Ctrl-C ends a write to a pipe without a reader.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STRETCH (4u << 20)

/* The output is readable only for users who may read all inputs. */
static hdx_access access_of(const cli_inputs *inputs)
{
    hdx_access access = { .mode = 0666, .gid = (uint32_t)getegid() };
    for (size_t i = 0; i < inputs->count; i++) {
        hdx_access also;
        hdx_access_of(inputs->at[i], &also);
        if (i == 0)
            access = also;
        else
            hdx_access_narrow(&access, &also);
    }
    return access;
}

static hdx_code begin_file(cli_output *o, const char *path, const cli_inputs *inputs, hdx_error *err)
{
    const hdx_access access = access_of(inputs);
    char             target[HDX_PATH_ROOM];
    int              rc = hdx_whole_target(path, target);
    if (rc < 0 || (rc = hdx_whole_begin(&o->whole, hdx_io_system(), target, &access)) < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot create: %s", strerror(-rc));
    o->fd = o->whole.fd;
    cli_unfinished_add(o->whole.part);
    return HDX_OK;
}

/* Opens a device, a named pipe (which waits for a reader) or an open descriptor, whose current offset is used. */
static hdx_code open_in_place(cli_output *o, const char *path, int descriptor, hdx_error *err)
{
    do
        o->fd = cli_signal() != 0 ? -1
                : descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
                                  : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    while (o->fd < 0 && errno == EINTR && cli_signal() == 0);
    if (o->fd < 0 && cli_signal() != 0)
        return hdx_fail(err, HDX_CANCELLED, path, HDX_NOWHERE, "interrupted");
    if (o->fd < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot open: %s", strerror(errno));
    o->opened = true;
    return HDX_OK;
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
    o->whole = (hdx_whole_file){ .io = NULL };
    if (path == NULL || strcmp(path, "-") == 0)
        return HDX_OK;
    if ((code = hdx_output_check(path, inputs->at, inputs->count, err)) != HDX_OK)
        return code;
    o->path = path;
    const int descriptor = hdx_whole_descriptor(path);
    return descriptor < 0 && (stat(path, &there) != 0 || S_ISREG(there.st_mode))
               ? begin_file(o, path, inputs, err)
               : open_in_place(o, path, descriptor, err);
}

bool cli_output_is_file(const cli_output *o) { return o->whole.part[0] != '\0'; }

/*
 * Writes data to disk in stretches. A sync of gigabytes in the page cache takes long and cannot be interrupted; this
 * way the sync at the end has at most two stretches to write.
 */
static void write_back(cli_output *o)
{
    if (!cli_output_is_file(o) || o->bytes - o->pushed < STRETCH)
        return;
    if (o->pushed > o->waited)
        (void)sync_file_range(o->fd, (off_t)o->waited, (off_t)(o->pushed - o->waited),
                              SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    (void)sync_file_range(o->fd, (off_t)o->pushed, (off_t)(o->bytes - o->pushed), SYNC_FILE_RANGE_WRITE);
    o->waited = o->pushed;
    o->pushed = o->bytes;
}

void cli_output_appended(cli_output *o)
{
    struct stat now;
    if (!cli_output_is_file(o) || fstat(o->fd, &now) != 0)
        return;
    o->bytes = (uint64_t)now.st_size;
    write_back(o);
}

void cli_output_show(cli_output *o, cli_console *console, cli_pager *pager)
{
    if (o->path != NULL || isatty(STDOUT_FILENO) != 1)
        return;
    o->console = console;
    o->pager = pager->command != NULL ? pager : NULL;
}

/* Called before the first bytes are written to the terminal: hides progress and starts the pager. */
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
    const bool ran = cli_pager_end(o->pager, code == HDX_OK || left);
    o->pager = NULL;
    if (o->failed == EPIPE)
        o->failed = 0; /* of the pipe to the pager, which has ended */
    if (code == HDX_OK &&
        (cli_signal() == SIGTERM || cli_signal() == SIGHUP)) /* received while waiting for the pager */
        return hdx_fail(err, HDX_CANCELLED, "standard output", HDX_NOWHERE, "interrupted");
    if (ran)
        return left ? HDX_OK : code; /* quitting the pager early is not an error */
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
        write_back(o);
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

static hdx_code write_failed(const cli_output *o, hdx_error *err)
{
    const char *where = o->path != NULL ? o->path : "standard output";
    if (o->interrupted)
        return hdx_fail(err, HDX_CANCELLED, where, HDX_NOWHERE, "interrupted while writing the answer");
    return hdx_fail(err, HDX_IO, where, HDX_NOWHERE, "cannot write: %s", strerror(o->failed));
}

hdx_code cli_output_commit(cli_output *o, hdx_error *err)
{
    if (o->failed != 0 || o->interrupted || !flush(o))
        return write_failed(o, err);
    if (o->opened) {
        o->opened = false; /* the descriptor is invalid even if close fails */
        if (close(o->fd) != 0) {
            o->failed = errno;
            return write_failed(o, err);
        }
    }
    if (o->console != NULL && (o->pager == NULL || o->pager->pid == 0))
        cli_console_hold(o->console, false);
    const int rc = cli_output_is_file(o) ? hdx_whole_commit(&o->whole) : 0;
    if (rc < 0) {
        o->failed = -rc;
        return write_failed(o, err);
    }
    cli_unfinished_remove(o->whole.part);
    return HDX_OK;
}

void cli_output_drop(cli_output *o)
{
    if (o->opened)
        (void)close(o->fd);
    o->opened = false;
    hdx_whole_drop(&o->whole);
    cli_unfinished_remove(o->whole.part);
}
