/*
 * place.c - where tables are written, so that the earlier tables of a dump stay until the new ones are complete and on
 * disk.
 *
 *   OUT/tables/.heapdex.HOST.PID.N/classes.parquet     a hidden folder, locked while its writer lives
 *   OUT/tables/dump_id=ID/classes.parquet              its name after one rename; the old folder gets the hidden name
 *
 * For SQLite the hidden folder has a small file of its own, so that the file shared by all dumps is locked only while
 * rows are copied into it, in one transaction.
 *
 * A hidden folder without a lock holder belongs to a writer that was killed, and is removed. If locks do not reach
 * other hosts, only folders of this host are removed; if there are no locks, only those of processes that no longer
 * exist on this host.
 */
#include "fleet/fleet.h"

#include "base/owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <heapdex/columns.h>
#include <heapdex/render.h>
#include <heapdex/sql.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HIDDEN   ".heapdex."
#define TRIES    1000u
#define STRETCH  (256u << 10) /* bytes per write */
#define DATABASE "tables.sqlite"

static hdx_code cannot(hdx_error *err, const char *what, const char *path, int rc)
{
    return hdx_fail(err, rc == -ENOSPC ? HDX_LIMIT : HDX_IO, path, HDX_NOWHERE, "cannot %s: %s", what, strerror(-rc));
}

static bool name_path(char out[4096], const char *folder, const char *name)
{
    return (size_t)snprintf(out, 4096, "%s/%s", folder, name) < 4096;
}

static hdx_code too_long(hdx_error *err, const char *path)
{
    return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "the path is too long");
}

/* ---- folders of tables ---- */

static bool is_table_file(const char *name)
{
    const char  *dot = strrchr(name, '.');
    const size_t len = dot != NULL ? (size_t)(dot - name) : 0;
    for (unsigned i = 0; dot != NULL && hdx_fleet_table(i) != NULL; i++)
        if (strlen(hdx_fleet_table(i)->name) == len && memcmp(hdx_fleet_table(i)->name, name, len) == 0)
            return strcmp(dot, ".parquet") == 0 || strcmp(dot, ".csv") == 0;
    return false;
}

/* Network file systems rename a file to such a name if it is deleted while a process has it open. */
static bool is_of_nfs(const char *name) { return strncmp(name, ".nfs", 4) == 0; }

/* `database`: the folder is for an SQLite file. A missing file was removed by another writer. */
static bool is_ours(int folder, const char *name, bool database)
{
    struct stat st;
    if (is_of_nfs(name))
        return true;
    if (database ? strcmp(name, DATABASE) != 0 : !is_table_file(name))
        return false;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? S_ISREG(st.st_mode) : errno == ENOENT;
}

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/*
 * Opens a folder but not a symbolic link, because its target belongs to somebody else. Returns a negative errno on
 * failure.
 */
static int open_folder(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

static DIR *list_of(int folder)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR      *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL && fd >= 0)
        (void)close(fd);
    return dir;
}

/* Finds an entry that is not of a fleet: its name, or ""; false: the folder cannot be read. */
static bool find_foreign(int folder, bool database, char name[256])
{
    const struct dirent *entry;
    DIR                 *dir = list_of(folder);
    name[0] = '\0';
    while (dir != NULL && name[0] == '\0' && (entry = readdir(dir)) != NULL)
        if (!is_dots(entry->d_name) && !is_ours(folder, entry->d_name, database))
            (void)snprintf(name, 256, "%s", entry->d_name);
    if (dir != NULL)
        (void)closedir(dir);
    return dir != NULL;
}

/* Removes a folder that contains only tables; any other folder stays as it is. */
static void remove_tables(const char *path, bool database)
{
    const struct dirent *entry;
    char                 foreign[256];
    const int            folder = open_folder(path);
    DIR *dir = folder >= 0 && find_foreign(folder, database, foreign) && foreign[0] == '\0' ? list_of(folder) : NULL;
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (!is_dots(entry->d_name) && !is_of_nfs(entry->d_name) && is_ours(folder, entry->d_name, database))
            (void)unlinkat(folder, entry->d_name, 0);
    if (dir != NULL) {
        (void)closedir(dir);
        (void)rmdir(path); /* fails if the folder has new content or is a link */
    }
    if (folder >= 0)
        (void)close(folder);
}

/* ---- leftovers of killed writers ---- */

static bool is_number(const char *text, size_t len) { return len > 0 && len < 11 && strspn(text, "0123456789") >= len; }

/* Accepts only ".heapdex.HOST.PID.N". *process: PID; 0: HOST is another host. */
static bool is_hidden_name(const char *name, long *process)
{
    char        here[65];
    const char *host = name + strlen(HIDDEN);
    *process = 0;
    if (strncmp(name, HIDDEN, strlen(HIDDEN)) != 0)
        return false;
    const size_t len = strcspn(host, ".");
    const char  *pid = host + len + (host[len] == '.'), *n = pid + strcspn(pid, ".");
    if (len == 0 || len >= sizeof here || *n != '.' || !is_number(pid, (size_t)(n - pid)) ||
        !is_number(n + 1, strlen(n + 1)))
        return false;
    hdx_owner_host_in_names(here);
    if (len == strlen(here) && memcmp(host, here, len) == 0)
        *process = strtol(pid, NULL, 10);
    return true;
}

/* Returns whether the path still leads to the opened file. */
static bool is_at(hdx_io *io, int fd, const char *path)
{
    struct stat here, there;
    return fstat(fd, &here) == 0 && io->stat(io, path, &there) >= 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

static void clear_dead(hdx_io *io, const char *folder, const char *name, bool database)
{
    char        path[4096];
    struct stat st;
    long        process;
    const int   fd = is_hidden_name(name, &process) && name_path(path, folder, name) ? open_folder(path) : -1;
    if (fd < 0)
        return;
    const int  rc = fstat(fd, &st) == 0 && st.st_uid == geteuid() ? io->lock(io, fd) : -EWOULDBLOCK;
    const bool no_locks = rc < 0 && rc != -EWOULDBLOCK;
    const bool dead = rc == 0 || (rc == HDX_LOCK_HERE && process != 0) ||
                      (no_locks && process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH);
    if (dead && is_at(io, fd, path))
        remove_tables(path, database);
    (void)io->close(io, fd);
}

static void clear_leftovers(hdx_io *io, const char *folder, bool database)
{
    DIR                 *dir = opendir(folder);
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        clear_dead(io, folder, entry->d_name, database);
    if (dir != NULL)
        (void)closedir(dir);
}

/* ---- a hidden folder ---- */

static hdx_code make_folder(const char *path, hdx_error *err)
{
    struct stat there;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &there) == 0 && S_ISDIR(there.st_mode)))
        return HDX_OK;
    return errno == EEXIST ? hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "is not a folder")
                           : cannot(err, "create", path, -errno);
}

/* Another writer may mistake the folder for a leftover before it is locked: then the next name is tried. */
static hdx_code make_hidden(fleet_place *p, hdx_error *err)
{
    char host[65], name[128];
    hdx_owner_host_in_names(host);
    for (unsigned n = 0; n < TRIES; n++) {
        (void)snprintf(name, sizeof name, HIDDEN "%s.%ld.%u", host, (long)getpid(), n);
        if (!name_path(p->part, p->folder, name))
            return too_long(err, p->folder);
        const int rc = p->io->mkdir(p->io, p->part);
        if (rc == -EEXIST)
            continue;
        if (rc < 0)
            return cannot(err, "create", p->part, rc);
        const int fd = p->io->open(p->io, p->part);
        const int held = fd >= 0 ? p->io->lock(p->io, fd) : -ENOENT;
        if (fd >= 0 && held != -EWOULDBLOCK && is_at(p->io, fd, p->part)) {
            p->lock = fd;
            p->hidden = true;
            p->number = n;
            return HDX_OK;
        }
        if (fd >= 0)
            (void)p->io->close(p->io, fd);
    }
    return hdx_fail(err, HDX_BUSY, p->folder, HDX_NOWHERE, "no free name for a temporary folder");
}

static hdx_code open_database(fleet_place *p, hdx_error *err)
{
    char path[4096];
    if (!name_path(path, p->part, DATABASE))
        return too_long(err, p->part);
    const int fd = p->io->create(p->io, path);
    if (fd < 0)
        return cannot(err, "create", path, fd);
    (void)p->io->close(p->io, fd);
    return hdx_sql_file_open(path, p->progress, &p->file, err);
}

hdx_code hdx_fleet_place_open(hdx_io *io, const hdx_fleet_options *o, const char *dump, const hdx_progress *progress,
                              fleet_place *out, hdx_error *err)
{
    const bool sqlite = o->format == HDX_FLEET_SQLITE;
    *out = (fleet_place){ .io = io, .format = o->format, .progress = progress, .id = o->dump_id, .lock = -1 };
    out->access = (hdx_access){ .mode = 0600, .gid = (uint32_t)getegid() };
    if (dump != NULL)
        hdx_access_of(dump, &out->access);
    char name[256 + 16];
    (void)snprintf(name, sizeof name, "dump_id=%s", o->dump_id);
    if ((size_t)snprintf(out->folder, sizeof out->folder, "%s%s", o->out, sqlite ? "" : "/tables") >=
            sizeof out->folder ||
        !name_path(out->final, out->folder, sqlite ? DATABASE : name))
        return too_long(err, o->out);
    hdx_code code = make_folder(o->out, err);
    if (code == HDX_OK)
        code = make_folder(out->folder, err);
    if (code != HDX_OK)
        return code;
    clear_leftovers(out->io, out->folder, sqlite);
    if ((code = make_hidden(out, err)) == HDX_OK && sqlite)
        code = open_database(out, err);
    return code;
}

/* ---- existing tables ---- */

bool hdx_fleet_is_there(const hdx_fleet_options *o)
{
    char        path[4096];
    struct stat st;
    bool        has = o->format != HDX_FLEET_SQLITE;
    if (hdx_fleet_id_check(o->dump_id, NULL) != HDX_OK)
        return false;
    if (!has)
        return name_path(path, o->out, DATABASE) && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
               hdx_sql_file_has(path, hdx_fleet_table(0)->name, hdx_fleet_id_column.name, o->dump_id, &o->progress,
                                &has, NULL) == HDX_OK &&
               has;
    for (unsigned i = 0; has && hdx_fleet_table(i) != NULL; i++)
        has =
            !hdx_fleet_is_asked(o, hdx_fleet_table(i)) ||
            ((size_t)snprintf(path, sizeof path, "%s/tables/dump_id=%s/%s.%s", o->out, o->dump_id,
                              hdx_fleet_table(i)->name, o->format == HDX_FLEET_CSV ? "csv" : "parquet") < sizeof path &&
             stat(path, &st) == 0 && S_ISREG(st.st_mode));
    return has;
}

/* ---- one table ---- */

typedef struct file_sink {
    fleet_place *place;
    int          fd;
    hdx_buffer   bytes;
    int          failed; /* a negative errno */
} file_sink;

static bool flush(file_sink *s)
{
    const int rc = s->place->io->write(s->place->io, s->fd, s->bytes.at, s->bytes.len);
    s->failed = rc < 0 ? rc : s->failed;
    hdx_buffer_clear(&s->bytes);
    return rc >= 0;
}

static bool sink_put(void *context, const char *bytes, size_t len)
{
    file_sink *s = context;
    hdx_buffer_put(&s->bytes, bytes, len);
    if (s->bytes.failed)
        s->failed = -ENOMEM;
    return s->failed == 0 && (s->bytes.len < STRETCH || flush(s));
}

static hdx_code write_rows(fleet_place *p, const char *table, hdx_rows *rows, const hdx_sink *sink, hdx_error *err)
{
    char version[16];
    (void)snprintf(version, sizeof version, "%u", HDX_FLEET_VERSION);
    const hdx_parquet_note    notes[] = { { "heapdex.fleet", version }, { "heapdex.table", table } };
    const hdx_parquet_options parquet = { .notes = notes, .note_count = HDX_COUNT(notes) };
    /* for programs, like the other formats */
    const hdx_render_options csv = { .format = HDX_FORMAT_CSV, .raw = true };
    return p->format == HDX_FLEET_CSV ? hdx_render(rows, &csv, sink, err) : hdx_rows_parquet(rows, &parquet, sink, err);
}

static hdx_code add_file(fleet_place *p, const char *table, hdx_rows *rows, hdx_error *err)
{
    char      path[4096];
    file_sink s = { .place = p, .bytes = hdx_buffer_of(NULL) };
    if ((size_t)snprintf(path, sizeof path, "%s/%s.%s", p->part, table,
                         p->format == HDX_FLEET_CSV ? "csv" : "parquet") >= sizeof path)
        return too_long(err, p->part);
    if ((s.fd = p->io->create(p->io, path)) < 0) {
        p->broken = true;
        return cannot(err, "create", path, s.fd);
    }
    hdx_code code = write_rows(p, table, rows, &(hdx_sink){ sink_put, &s }, err);
    if (code == HDX_OK && !flush(&s))
        code = HDX_IO;
    if (s.failed != 0) {
        p->broken = true;
        code = cannot(err, "write", path, s.failed);
    }
    hdx_buffer_free(&s.bytes);
    p->io->push(p->io, s.fd);
    const int rc = p->io->close(p->io, s.fd);
    p->broken = p->broken || rc < 0;
    return code == HDX_OK && rc < 0 ? cannot(err, "write", path, rc) : code;
}

hdx_code hdx_fleet_place_add(fleet_place *p, const char *table, hdx_rows *rows, hdx_error *err)
{
    return p->file != NULL ? hdx_sql_file_add(p->file, table, rows, err) : add_file(p, table, rows, err);
}

hdx_code hdx_fleet_place_again(fleet_place *p, const char *table, hdx_error *err)
{
    /* a file is overwritten by its next rows */
    return p->file != NULL ? hdx_sql_file_drop(p->file, table, err) : HDX_OK;
}

/* ---- moving into place ---- */

/* Checks that the folder to be replaced contains only tables of a fleet. A missing folder is accepted. */
static hdx_code check_replaced(const fleet_place *p, const char *path, hdx_error *err)
{
    char       foreign[256];
    const int  folder = open_folder(path);
    const bool is_read = folder >= 0 && find_foreign(folder, false, foreign);
    const int  why = errno;
    if (folder >= 0)
        (void)close(folder);
    if (folder == -ENOENT || (folder >= 0 && !is_read && why == ENOENT)) /* another writer removed it */
        return HDX_OK;
    if (folder == -ELOOP || folder == -ENOTDIR)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, p->final, HDX_NOWHERE,
                                 "is a symbolic link or a file; it is not replaced by a folder of tables"),
                        "move it, or name another folder for the tables");
    if (!is_read)
        return cannot(err, "read", p->final, folder < 0 ? folder : -why);
    return foreign[0] == '\0'
               ? HDX_OK
               : hdx_hint(err,
                          hdx_fail(err, HDX_USAGE, p->final, HDX_NOWHERE,
                                   "contains %.200s, which is not a fleet table; the folder is not replaced", foreign),
                          "move that file, or name another folder for the tables");
}

/*
 * For file systems that cannot exchange two folders: the table folder is missing for a moment. `rc`: the error of the
 * exchange.
 */
static hdx_code swap_by_renaming(fleet_place *p, int rc, hdx_error *err)
{
    hdx_io *io = p->io;
    char    host[65], name[128], old[4096];
    hdx_owner_host_in_names(host);
    (void)snprintf(name, sizeof name, HIDDEN "%s.%ld.%u", host, (long)getpid(), p->number + TRIES);
    if (!name_path(old, p->folder, name))
        return too_long(err, p->folder);
    if (io->rename(io, p->final, old) < 0)
        return cannot(err, "put in place", p->final, rc);
    hdx_code code = check_replaced(p, old, err); /* checked again, because now no other process uses that name */
    if (code == HDX_OK && (rc = io->rename(io, p->part, p->final)) < 0)
        code = cannot(err, "put in place", p->final, rc);
    if (code != HDX_OK) {
        (void)io->rename(io, old, p->final);
        return code;
    }
    remove_tables(old, false);
    p->hidden = false;
    return HDX_OK;
}

static hdx_code swap(fleet_place *p, hdx_error *err)
{
    hdx_io *io = p->io;
    int     rc = -EEXIST;
    for (unsigned n = 0; n < TRIES; n++) {
        if ((rc = io->exchange(io, p->part, p->final)) >= 0) {
            /* checked again, because now no other process uses that name */
            const hdx_code code = check_replaced(p, p->part, err);
            if (code != HDX_OK)
                (void)io->exchange(io, p->part, p->final);
            return code;
        }
        if (rc == -ENOENT && (rc = io->rename(io, p->part, p->final)) >= 0) {
            p->hidden = false;
            return HDX_OK;
        }
        if (rc != -ENOTEMPTY && rc != -EEXIST) /* otherwise another writer was first */
            break;
    }
    return swap_by_renaming(p, rc, err);
}

static hdx_code commit_folder(fleet_place *p, hdx_error *err)
{
    hdx_code code = check_replaced(p, p->final, err);
    if (code != HDX_OK)
        return code;
    int rc = hdx_io_share_files(p->io, p->part, &p->access);
    if (rc >= 0)
        rc = hdx_io_sync_files(p->io, p->part);
    if (rc < 0)
        return cannot(err, "sync", p->part, rc);
    code = swap(p, err);
    if (code == HDX_OK && (rc = p->io->sync_folder(p->io, p->folder)) < 0)
        return cannot(err, "sync", p->folder, rc);
    return code;
}

/* The file shared by all dumps is as private as the most private of them. */
static hdx_code guard_database(const fleet_place *p, hdx_error *err)
{
    hdx_access  now;
    struct stat st;
    const int   fd = open(p->final, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST)
        return cannot(err, "create", p->final, -errno);
    if (fd >= 0) {
        (void)close(fd);
        hdx_access_give(&p->access, p->final);
        return HDX_OK;
    }
    if (stat(p->final, &st) != 0 || !S_ISREG(st.st_mode)) /* opening a pipe would block */
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, p->final, HDX_NOWHERE, "is not a file of tables"),
                        "move it, or name another folder for the tables");
    hdx_access_of(p->final, &now);
    const hdx_access was = now;
    hdx_access_narrow(&now, &p->access);
    if (memcmp(&was, &now, sizeof now) != 0)
        hdx_access_give(&now, p->final);
    return HDX_OK;
}

static hdx_code commit_database(fleet_place *p, hdx_error *err)
{
    char        path[4096];
    const char *names[32];
    size_t      count = 0;
    for (unsigned i = 0; hdx_fleet_table(i) != NULL && count < HDX_COUNT(names); i++)
        names[count++] = hdx_fleet_table(i)->name;
    hdx_code code = name_path(path, p->part, DATABASE) ? hdx_sql_file_end(p->file, err) : too_long(err, p->part);
    hdx_sql_file_close(p->file);
    p->file = NULL;
    if (code == HDX_OK)
        code = guard_database(p, err);
    const hdx_sql_replace replace = { .path = p->final,
                                      .from = path,
                                      .tables = names,
                                      .table_count = count,
                                      .column = hdx_fleet_id_column.name,
                                      .value = p->id,
                                      .version = HDX_FLEET_VERSION };
    return code == HDX_OK ? hdx_sql_file_replace(&replace, p->progress, err) : code;
}

hdx_code hdx_fleet_place_commit(fleet_place *p, hdx_error *err)
{
    return p->file != NULL ? commit_database(p, err) : commit_folder(p, err);
}

void hdx_fleet_place_close(fleet_place *p)
{
    hdx_sql_file_close(p->file);
    if (p->hidden)
        remove_tables(p->part, p->format == HDX_FLEET_SQLITE); /* after an exchange: the earlier tables */
    if (p->lock >= 0)
        (void)p->io->close(p->io, p->lock);
}
