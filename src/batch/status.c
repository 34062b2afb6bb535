/* status.c - OUT/status/ID.json: how a dump is doing, or how it ended; one object of JSON, written whole. */
#include "batch/batch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MOST_STATUS (4ull << 20)

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

#define PART ".heapdex-part." /* no name that a user gives a file, and what begins so may go */

/* "out/status/.heapdex-part.HOST.PID.ID.json": what will be out/status/ID.json. */
bool hdx_batch_part_of(char part[4400], const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char        host[65];
    hdx_owner_host_in_names(host);
    return (size_t)snprintf(part, 4400, "%.*s" PART "%s.%ld.%s", (int)(name - path), path, host, (long)getpid(), name) <
           4400;
}

hdx_code hdx_batch_file_write(const char *path, const void *bytes, uint64_t len, bool keep, hdx_error *err)
{
    hdx_io  *io = hdx_io_system();
    char     part[4400];
    hdx_code code = HDX_OK;
    if (!hdx_batch_part_of(part, path))
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "the path is too long");
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), rc = fd < 0 ? -errno : 0;
    if (rc == 0 && (rc = io->write(io, fd, bytes, len)) >= 0 && keep)
        rc = io->sync(io, fd);
    if (fd >= 0) {
        const int closed = io->close(io, fd);
        rc = rc < 0 ? rc : closed;
    }
    if (rc >= 0)
        rc = io->rename(io, part, path);
    if (rc < 0) {
        code = hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot be written: %s", strerror(-rc));
        (void)unlink(part);
    }
    return code;
}

typedef struct output {
    int fd, failed; /* errno */
} output;

static bool put(void *context, const char *bytes, size_t len)
{
    output   *o = context;
    const int rc = hdx_io_system()->write(hdx_io_system(), o->fd, bytes, len);
    o->failed = rc < 0 ? -rc : o->failed;
    return rc >= 0;
}

hdx_code hdx_batch_rows_write(const char *path, hdx_rows *rows, const hdx_access *like, hdx_error *err)
{
    static const hdx_render_options json = { .format = HDX_FORMAT_JSON };
    hdx_io                         *io = hdx_io_system();
    char                            part[4400];
    if (!hdx_batch_part_of(part, path))
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "the path is too long");
    output         o = { open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, like != NULL ? 0600 : 0666), 0 };
    const hdx_sink sink = { put, &o };
    if (o.fd < 0)
        return hdx_fail(err, HDX_IO, part, HDX_NOWHERE, "cannot be made: %s", strerror(errno));
    hdx_code  code = hdx_render(rows, &json, &sink, err);
    int       rc = code == HDX_OK ? io->sync(io, o.fd) : 0;
    const int closed = io->close(io, o.fd);
    rc = rc < 0 ? rc : closed;
    if (like != NULL)
        io->share(io, part, like);
    if (code == HDX_OK && rc >= 0)
        rc = io->rename(io, part, path);
    if (o.failed != 0 || rc < 0)
        code =
            hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot be written: %s", strerror(o.failed != 0 ? o.failed : -rc));
    if (code != HDX_OK)
        (void)unlink(part);
    return code;
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

void hdx_batch_clear_parts(const char *folder, const struct timespec *before)
{
    struct dirent *entry;
    DIR           *d = opendir(folder);
    while (d != NULL && (entry = readdir(d)) != NULL) {
        char        path[4400];
        struct stat st;
        if (strncmp(entry->d_name, PART, sizeof PART - 1) != 0 ||
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= sizeof path ||
            lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (before == NULL || st.st_mtim.tv_sec < before->tv_sec)
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

hdx_code hdx_batch_status_write(const char *out, const batch_dump *d, const batch_status *s, bool keep, hdx_error *err)
{
    char       path[4200], host[256] = "";
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
    hdx_batch_put_number(&b, "objects", s->objects);
    hdx_batch_put_number(&b, "live_objects", s->live_objects);
    hdx_batch_put_number(&b, "references", s->references);
    hdx_batch_put_text(&b, "index", s->index);
    hdx_batch_put_number(&b, "index_bytes", s->index_bytes);
    hdx_batch_put_bool(&b, "reused", s->reused);
    hdx_batch_put_bool(&b, "dropped", s->dropped);
    hdx_batch_put_text(&b, "asked", s->asked);
    hdx_batch_put_text(&b, "tables", s->tables);
    hdx_batch_put_number(&b, "ended_ms", s->ended_ms);
    hdx_batch_put_text(&b, "host", host);
    hdx_buffer_text(&b, ", \"manifest\": ");
    put_fields(&b, d);
    hdx_batch_put_end(&b);
    (void)snprintf(path, sizeof path, "%s/status/%s.json", out, d->id);
    const hdx_code code =
        b.failed ? hdx_no_memory(err, "a status", b.len) : hdx_batch_file_write(path, b.at, b.len, keep, err);
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
    s->objects = hdx_flat_number(&f, "objects");
    s->live_objects = hdx_flat_number(&f, "live_objects");
    s->references = hdx_flat_number(&f, "references");
    s->index = hdx_flat_text(&f, "index");
    s->index_bytes = hdx_flat_number(&f, "index_bytes");
    s->reused = is_true(&f, "reused");
    s->dropped = is_true(&f, "dropped");
    s->asked = hdx_flat_text(&f, "asked");
    s->tables = hdx_flat_text(&f, "tables");
    s->manifest = hdx_flat_text(&f, "manifest");
    s->ended_ms = hdx_flat_number(&f, "ended_ms");
    return true;
}
