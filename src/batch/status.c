/* status.c - OUT/status/ID.json: the state of a dump, or how it ended; one JSON object, written atomically. */
#include "batch/batch.h"

#include "base/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MOST_STATUS (4ull << 20)
#define TRIES       16u

static const char *const names[] = { "new",    "waiting",     "running", "done",   "skipped",
                                     "failed", "interrupted", "held",    "planned" };

const char *hdx_batch_state_name(batch_state state) { return names[state]; }

int hdx_batch_exit_code(hdx_code code)
{
    static const int codes[] = {
        [HDX_OK] = 0,    [HDX_USAGE] = 2, [HDX_BAD_DUMP] = 3, [HDX_NOT_FOUND] = 4, [HDX_DAMAGED] = 5,
        [HDX_LIMIT] = 6, [HDX_IO] = 7,    [HDX_BUSY] = 76,    [HDX_CANCELLED] = 75
    };
    return (size_t)code < sizeof codes / sizeof *codes ? codes[code] : 7;
}

/* ---- files ---- */

/* Written under a temporary name first, so that the file is complete or does not exist. */
typedef struct output {
    const char *path;
    char        temporary[4400];
    int         fd, failed; /* a negative errno */
} output;

/*
 * Returns false if a process that clears the folder locked the file first, and will delete it: a file gets its name a
 * moment before its lock.
 */
static bool is_locked(const output *o)
{
    struct stat st;
    const int   rc = hdx_io_system()->lock(hdx_io_system(), o->fd);
    return o->temporary[0] == '\0' || (rc != -EWOULDBLOCK && fstat(o->fd, &st) == 0 && st.st_nlink > 0);
}

/* The file is locked as long as it has a temporary name. like NULL: permissions follow the umask. */
static hdx_code open_output(output *o, const char *path, const hdx_access *like, hdx_error *err)
{
    *o = (output){ .path = path };
    for (unsigned i = 0; i < TRIES; i++) {
        o->fd = hdx_own_create_unnamed(path, like != NULL ? 0600 : 0666, o->temporary, sizeof o->temporary);
        if (o->fd < 0 || is_locked(o))
            break;
        (void)close(o->fd);
        o->fd = -EBUSY;
    }
    if (o->fd >= 0)
        return HDX_OK;
    return o->fd == -ENAMETOOLONG && strlen(path) > 4000
               ? hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "the path is too long")
               : hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot be written: %s", strerror(-o->fd));
}

/* `code`: the result of writing. `keep`: syncs the file before it gets its name. */
static hdx_code put_in_place(output *o, const hdx_access *like, bool keep, hdx_code code, hdx_error *err)
{
    hdx_io *io = hdx_io_system();
    int     rc = o->failed < 0 ? o->failed : code == HDX_OK && keep ? io->sync(io, o->fd) : 0;
    if (code == HDX_OK && rc >= 0)
        rc = hdx_own_link(o->fd, o->path, o->temporary, sizeof o->temporary);
    if (like != NULL && o->temporary[0] != '\0')
        io->share(io, o->temporary, like);
    if (code == HDX_OK && rc >= 0)
        rc = io->rename(io, o->temporary, o->path);
    const int closed = io->close(io, o->fd); /* also unlocks it */
    rc = rc < 0 ? rc : closed;
    if (rc < 0)
        code = hdx_fail(err, HDX_IO, o->path, HDX_NOWHERE, "cannot be written: %s", strerror(-rc));
    if (code != HDX_OK && o->temporary[0] != '\0')
        (void)unlink(o->temporary);
    return code;
}

hdx_code hdx_batch_file_write(const char *path, const void *bytes, uint64_t len, const hdx_access *like, bool keep,
                              hdx_error *err)
{
    output   o;
    hdx_code code = open_output(&o, path, like, err);
    if (code != HDX_OK)
        return code;
    o.failed = hdx_io_system()->write(hdx_io_system(), o.fd, bytes, len);
    return put_in_place(&o, like, keep, HDX_OK, err);
}

static bool output_put(void *context, const char *bytes, size_t len)
{
    output   *o = context;
    const int rc = hdx_io_system()->write(hdx_io_system(), o->fd, bytes, len);
    o->failed = rc < 0 ? rc : o->failed;
    return rc >= 0;
}

hdx_code hdx_batch_rows_write(const char *path, hdx_rows *rows, const hdx_access *like, hdx_error *err)
{
    static const hdx_render_options json = { .format = HDX_FORMAT_JSON };
    output                          o;
    const hdx_sink                  sink = { output_put, &o };
    hdx_code                        code = open_output(&o, path, like, err);
    return code != HDX_OK ? code : put_in_place(&o, like, true, hdx_render(rows, &json, &sink, err), err);
}

char *hdx_batch_file_read(hdx_arena *arena, const char *path, uint64_t most, size_t *len)
{
    hdx_io     *io = hdx_io_system();
    struct stat st;
    const int   fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char       *text = NULL;
    int64_t     got = -1;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        errno = EINVAL;
    else if ((uint64_t)st.st_size > most)
        errno = EFBIG;
    else if ((text = hdx_arena_get(arena, (uint64_t)st.st_size + 1)) == NULL)
        errno = ENOMEM;
    else if ((got = io->read_at(io, fd, text, (uint64_t)st.st_size, 0)) < 0)
        errno = (int)-got;
    const int why = errno;
    (void)close(fd);
    errno = why;
    *len = got > 0 ? (size_t)got : 0;
    return got >= 0 ? text : NULL;
}

/*
 * Returns whether its writer has ended: it was not written to for long, or its lock is free and locks reach all
 * writers.
 */
static bool is_left(const char *path, const struct timespec *before)
{
    hdx_io     *io = hdx_io_system();
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    if (before == NULL || st.st_mtim.tv_sec < before->tv_sec)
        return true;
    const int  fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool left = fd >= 0 && io->lock(io, fd) == 0 && unlink(path) == 0; /* deleted while locked */
    if (fd >= 0)
        (void)close(fd);
    return left;
}

void hdx_batch_clear_temporary(const char *folder, const struct timespec *before)
{
    struct dirent *entry;
    DIR           *d = opendir(folder);
    while (d != NULL && (entry = readdir(d)) != NULL) {
        char path[4400];
        if (hdx_own_is_temporary(entry->d_name) &&
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < sizeof path && is_left(path, before))
            (void)unlink(path);
    }
    if (d != NULL)
        (void)closedir(d);
}

/* ---- status ---- */

/* {"application": "shop"} */
static void put_fields(hdx_buffer *b, const batch_dump *d)
{
    hdx_buffer_text(b, "{");
    for (size_t i = 0; i < d->field_count; i++) {
        const hdx_cell key = hdx_cell_string(d->fields[i].key), value = hdx_cell_string(d->fields[i].value);
        hdx_buffer_text(b, i > 0 ? ", " : "");
        hdx_render_json_cell(b, &key);
        hdx_buffer_text(b, ": ");
        hdx_render_json_cell(b, &value);
    }
    hdx_buffer_text(b, "}");
}

bool hdx_batch_status_has_fields(const batch_status *s, const batch_dump *d)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    put_fields(&b, d);
    const bool same = !b.failed && s->manifest != NULL && strcmp(s->manifest, b.at) == 0;
    hdx_buffer_free(&b);
    return same;
}

bool hdx_batch_access_of(const batch_dump *d, const batch_status *s, hdx_access *like)
{
    const bool gone = access(d->path, F_OK) != 0 && errno == ENOENT;
    *like = (hdx_access){ .mode = 0666, .gid = (uint32_t)getegid() };
    if (!gone || s->index != NULL)
        hdx_access_of(gone ? s->index : d->path, like);
    return !gone || s->index != NULL;
}

hdx_code hdx_batch_status_write(const char *out, const batch_dump *d, const batch_status *s, bool keep, hdx_error *err)
{
    char       path[4200], host[256] = "";
    hdx_access like;
    hdx_buffer b = hdx_buffer_of(NULL);
    (void)gethostname(host, sizeof host - 1);
    hdx_buffer_text(&b, "{");
    hdx_batch_put_text(&b, "heapdex", HEAPDEX_VERSION);
    hdx_batch_put_text(&b, "dump_id", d->id);
    hdx_batch_put_text(&b, "dump", d->whole);
    hdx_batch_put_text(&b, "state", names[s->state]);
    hdx_batch_put_number(&b, "exit_code", (uint64_t)s->exit_code);
    hdx_batch_put_text(&b, "kind", s->kind);
    hdx_batch_put_text(&b, "error", s->error);
    hdx_batch_put_text(&b, "hint", s->hint);
    hdx_batch_put_number(&b, "damage_places", s->damage_places);
    hdx_batch_put_text(&b, "damage", s->damage);
    hdx_batch_put_text(&b, "step", s->step);
    hdx_batch_put_number(&b, "step_attempts", s->step_attempts);
    hdx_batch_put_real(&b, "step_forecast_seconds", s->step_forecast);
    hdx_batch_put_real(&b, "seconds", s->seconds);
    hdx_batch_put_real(&b, "cpu_seconds", s->cpu_seconds);
    hdx_batch_put_real(&b, "forecast_seconds", s->forecast_seconds);
    hdx_batch_put_number(&b, "peak_memory", s->peak_memory);
    hdx_batch_put_number(&b, "memory", s->memory);
    hdx_batch_put_number(&b, "forecast_memory", s->forecast_memory);
    hdx_batch_put_number(&b, "least_memory", s->least_memory);
    hdx_batch_put_number(&b, "forecast_disk", s->forecast_disk);
    hdx_batch_put_number(&b, "threads", s->threads);
    hdx_batch_put_number(&b, "file_size", s->file_size);
    hdx_batch_put_number(&b, "mtime_ns", s->mtime_ns);
    hdx_batch_put_text(&b, "content", s->content);
    hdx_batch_put_number(&b, "content_ms", s->content_ms);
    hdx_batch_put_number(&b, "objects", s->objects);
    hdx_batch_put_number(&b, "live_objects", s->live_objects);
    hdx_batch_put_number(&b, "references", s->references);
    hdx_batch_put_text(&b, "index", s->index);
    hdx_batch_put_number(&b, "index_bytes", s->index_bytes);
    hdx_batch_put_bool(&b, "reused", s->reused);
    hdx_batch_put_bool(&b, "dropped", s->dropped);
    hdx_batch_put_text(&b, "not_dropped", s->not_dropped);
    hdx_batch_put_text(&b, "asked", s->asked);
    hdx_batch_put_text(&b, "tables", s->tables);
    hdx_batch_put_number(&b, "ended_ms", s->ended_ms);
    hdx_batch_put_text(&b, "host", host);
    hdx_buffer_text(&b, ", \"manifest\": ");
    put_fields(&b, d);
    hdx_batch_put_end(&b);
    (void)snprintf(path, sizeof path, "%s/status/%s.json", out, d->id);
    (void)hdx_batch_access_of(d, s, &like);
    const hdx_code code =
        b.failed ? hdx_no_memory(err, "a status", b.len) : hdx_batch_file_write(path, b.at, b.len, &like, keep, err);
    hdx_buffer_free(&b);
    return code;
}

static bool is_true(const hdx_flat *f, const char *key)
{
    const char *text = hdx_flat_text(f, key);
    return text != NULL && strcmp(text, "true") == 0;
}

bool hdx_batch_status_read(const char *out, const char *id, hdx_arena *arena, batch_status *s)
{
    char     path[4200];
    size_t   len;
    hdx_flat f;
    (void)snprintf(path, sizeof path, "%s/status/%s.json", out, id);
    const char *text = hdx_batch_file_read(arena, path, MOST_STATUS, &len), *state;
    *s = (batch_status){ .state = BATCH_NEW };
    if (text == NULL || !hdx_flat_read(arena, text, len, &f) || (state = hdx_flat_text(&f, "state")) == NULL)
        return false;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(state, names[i]) == 0)
            s->state = (batch_state)i;
    s->dump = hdx_flat_text(&f, "dump");
    s->exit_code = (int)hdx_flat_number(&f, "exit_code");
    s->kind = hdx_flat_text(&f, "kind");
    s->error = hdx_flat_text(&f, "error");
    s->hint = hdx_flat_text(&f, "hint");
    s->damage_places = hdx_flat_number(&f, "damage_places");
    s->damage = hdx_flat_text(&f, "damage");
    s->step = hdx_flat_text(&f, "step");
    s->step_attempts = (unsigned)hdx_flat_number(&f, "step_attempts");
    s->step_forecast = hdx_flat_real(&f, "step_forecast_seconds");
    s->seconds = hdx_flat_real(&f, "seconds");
    s->cpu_seconds = hdx_flat_real(&f, "cpu_seconds");
    s->forecast_seconds = hdx_flat_real(&f, "forecast_seconds");
    s->peak_memory = hdx_flat_number(&f, "peak_memory");
    s->memory = hdx_flat_number(&f, "memory");
    s->forecast_memory = hdx_flat_number(&f, "forecast_memory");
    s->least_memory = hdx_flat_number(&f, "least_memory");
    s->forecast_disk = hdx_flat_number(&f, "forecast_disk");
    s->threads = (unsigned)hdx_flat_number(&f, "threads");
    s->file_size = hdx_flat_number(&f, "file_size");
    s->mtime_ns = hdx_flat_number(&f, "mtime_ns");
    s->content = hdx_flat_text(&f, "content");
    s->content_ms = hdx_flat_number(&f, "content_ms");
    s->objects = hdx_flat_number(&f, "objects");
    s->live_objects = hdx_flat_number(&f, "live_objects");
    s->references = hdx_flat_number(&f, "references");
    s->index = hdx_flat_text(&f, "index");
    s->index_bytes = hdx_flat_number(&f, "index_bytes");
    s->reused = is_true(&f, "reused");
    s->dropped = is_true(&f, "dropped");
    s->not_dropped = hdx_flat_text(&f, "not_dropped");
    s->asked = hdx_flat_text(&f, "asked");
    s->tables = hdx_flat_text(&f, "tables");
    s->manifest = hdx_flat_text(&f, "manifest");
    s->ended_ms = hdx_flat_number(&f, "ended_ms");
    return true;
}
