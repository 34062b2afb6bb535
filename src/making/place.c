/*
 * place.c - where an index lives: its folder, the lock, leftovers, staleness, and the rename that makes it exist.
 *
 *     absent -> building (lock held, folder *.part) -> whole (renamed into place) -> stale (dump changed) | removed
 *         INDEX 1
 *
 * Who may build is settled in lock.c.
 */
#include "making/making.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EDGE (64u << 10) /* bytes sampled at the head and the tail of a dump ... */
#define SPOT (4u << 10)  /* ... and at 16 places between */

static hdx_code too_long(const char *path, hdx_error *err)
{
    return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "path too long");
}

bool hdx_place_is_index(hdx_io *io, const char *path)
{
    static const char *const names[] = {
        "catalog.mdb", "catalog.sum"
    }; /* one of them lost: a damaged index, not a stranger's folder */
    for (size_t i = 0; i < 2; i++) {
        char        name[4200];
        struct stat st;
        (void)snprintf(name, sizeof name, "%s/%s", path, names[i]);
        if (io->stat(io, name, &st) >= 0)
            return true;
    }
    return false;
}

static hdx_code set_paths(hdx_index_home *home, const char *path, hdx_error *err)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (len + 8 > sizeof home->path)
        return too_long(path, err);
    if (home->path != path)
        memmove(home->path, path, len);
    home->path[len] = '\0';
    (void)snprintf(home->part, sizeof home->part, "%.*s.part", (int)len, home->path);
    (void)snprintf(home->lock, sizeof home->lock, "%.*s.lock", (int)len, home->path);
    return HDX_OK;
}

static const char *parent_of(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    (void)snprintf(out, size, "%.*s",
                   slash == NULL   ? 1
                   : slash == path ? 1
                                   : (int)(slash - path),
                   slash == NULL ? "." : path);
    return out;
}

/* Where $XDG_CACHE_HOME is a place for all, another user could have been there first. */
static bool is_own_cache(const char *path)
{
    char        parent[4096];
    struct stat st;
    return lstat(parent_of(path, parent, sizeof parent), &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

static void notice(const hdx_index_options *options, const char *line)
{
    if (options->notice != NULL)
        options->notice(options->notice_context, line);
}

/* The user's cache folder, for dumps whose own folder cannot be written: one index per absolute path. */
static bool cache_path(const hdx_index_options *options, char *out, size_t size)
{
    char        real[4096];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *name;
    if (realpath(options->dump, real) == NULL)
        return false;
    name = strrchr(real, '/') + 1;
    uint64_t hash = hdx_hash_bytes(options->dump_number, real, strlen(real));
    int      n = cache != NULL && cache[0] == '/'
                     ? snprintf(out, size, "%s/heapdex/%.100s-%016llx.hdx", cache, name, (unsigned long long)hash)
                 : home != NULL && home[0] == '/'
                     ? snprintf(out, size, "%s/.cache/heapdex/%.100s-%016llx.hdx", home, name, (unsigned long long)hash)
                     : -1;
    return n > 0 && (size_t)n < size;
}

hdx_code hdx_place_find(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err)
{
    char        path[4096];
    const char *dump = options->dump;
    size_t      len = strlen(dump);
    int         n;
    home->lock_fd = -1;
    hdx_access_of(dump, &home->access);
    if (options->index_dir != NULL)
        return set_paths(home, options->index_dir, err);
    if (options->dump_number > 1) { /* app.hprof -> app.2.hprof.hdx would hide whose it is: app.hprof.2.hdx */
        n = snprintf(path, sizeof path, "%.*s.%u.hdx", (int)len, dump, options->dump_number);
    } else
        n = snprintf(path, sizeof path, "%s.hdx", dump);
    if (n < 0 || (size_t)n >= sizeof path)
        return too_long(dump, err);
    if (!hdx_place_is_index(io, path)) {
        char cached[4096];
        if (cache_path(options, cached, sizeof cached) && is_own_cache(cached) && hdx_place_is_index(io, cached))
            return set_paths(home, cached, err);
    }
    return set_paths(home, path, err);
}

hdx_code hdx_place_sample(hdx_io *io, const char *path, hdx_manifest *m, hdx_error *err)
{
    struct stat st;
    uint8_t    *buffer = NULL;
    uint64_t    low, high;
    int         rc = io->stat(io, path, &st), fd;
    const char *slash = strrchr(path, '/');
    hdx_code    code = HDX_OK;
    if (rc < 0)
        return hdx_fail(err, HDX_BAD_DUMP, path, HDX_NOWHERE, "%s", strerror(-rc));
    m->file_size = (uint64_t)st.st_size;
    m->file_mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    m->file_inode = (uint64_t)st.st_ino;
    (void)snprintf(m->dump_name, sizeof m->dump_name, "%s", slash == NULL ? path : slash + 1);
    if ((fd = io->open(io, path)) < 0)
        return hdx_fail(err, HDX_BAD_DUMP, path, HDX_NOWHERE, "%s", strerror(-fd));
    low = hdx_mix64(m->file_size);
    high = ~low;
    if ((buffer = malloc(EDGE)) == NULL)
        code = hdx_no_memory(err, "a sample of the dump", EDGE);
    for (unsigned i = 0; i < 18 && code == HDX_OK; i++) {
        uint64_t at = i == 0   ? 0
                      : i == 1 ? (m->file_size > EDGE ? m->file_size - EDGE : 0)
                               : m->file_size / 17 * (i - 1);
        int64_t  got = io->read_at(io, fd, buffer, i < 2 ? EDGE : SPOT, at);
        if (got < 0) {
            code = hdx_fail(err, HDX_IO, path, at, "cannot read: %s", strerror((int)-got));
            break;
        }
        low = hdx_hash_bytes(low, buffer, (size_t)got);
        high = hdx_hash_bytes(high, buffer, (size_t)got);
    }
    free(buffer);
    (void)io->close(io, fd);
    hdx_put64(m->file_sample, low);
    hdx_put64(m->file_sample + 8, high);
    return code;
}

hdx_code hdx_place_unchanged(hdx_io *io, const char *path, const hdx_manifest *m, hdx_error *err)
{
    struct stat st;
    int         rc = io->stat(io, path, &st);
    if (rc >= 0 && (uint64_t)st.st_size == m->file_size &&
        (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec == m->file_mtime_ns)
        return HDX_OK;
    return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, path, HDX_NOWHERE, "the dump changed while it was indexed"),
                    "wait until it is written whole");
}

static bool untouched(const struct stat *st, const hdx_manifest *m)
{
    return (uint64_t)st->st_size == m->file_size && (uint64_t)st->st_ino == m->file_inode &&
           (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec == m->file_mtime_ns;
}

bool hdx_place_untouched(hdx_io *io, const char *path, const hdx_manifest *m)
{
    struct stat st;
    return io->stat(io, path, &st) >= 0 && untouched(&st, m);
}

/*
 * Does the dump still say what it said when it was indexed? Size, time and inode alike are taken for yes; else content
 * is sampled.
 */
static hdx_code same_dump(hdx_io *io, const char *path, const hdx_manifest *m, bool *same, hdx_error *err)
{
    hdx_manifest now = { 0 };
    struct stat  st;
    int          rc = io->stat(io, path, &st);
    hdx_code     code;
    *same = false;
    if (rc < 0)
        return hdx_fail(err, HDX_BAD_DUMP, path, HDX_NOWHERE, "%s", strerror(-rc));
    if ((uint64_t)st.st_size != m->file_size)
        return HDX_OK;
    if (untouched(&st, m)) {
        *same = true;
        return HDX_OK;
    }
    code = hdx_place_sample(io, path, &now, err);
    *same = code == HDX_OK && memcmp(now.file_sample, m->file_sample, sizeof now.file_sample) == 0;
    return code;
}

hdx_code hdx_place_state(hdx_io *io, const hdx_index_home *home, const hdx_index_options *options,
                         hdx_index_state *state, hdx_catalog **catalog, hdx_error *err)
{
    uint32_t number = options->dump_number == 0 ? 1 : options->dump_number;
    hdx_step until = options->until == 0 ? HDX_STEP_DOMINATORS : options->until;
    bool     same;
    *catalog = NULL;
    *state = HDX_INDEX_ABSENT;
    if (!hdx_place_is_index(io, home->path))
        return HDX_OK;
    hdx_error why;
    hdx_code  code = hdx_catalog_open(io, home->path, catalog, &why);
    if (code == HDX_NOT_FOUND) {
        *state = HDX_INDEX_OLD;
        return HDX_OK;
    }
    if (code != HDX_OK) {
        if (err != NULL)
            *err = why;
        return code;
    }
    const hdx_manifest *m = hdx_catalog_manifest(*catalog);
    if ((code = same_dump(io, options->dump, m, &same, err)) == HDX_OK) {
        if (same && m->dump_number == number && m->step >= (uint32_t)until) {
            *state = HDX_INDEX_VALID;
            return HDX_OK;
        }
        /* a shorter index, or another heap's, is not stale; it is just not what is wanted */
        *state = same && m->dump_number == number ? HDX_INDEX_ABSENT : HDX_INDEX_STALE;
    }
    hdx_catalog_close(*catalog);
    *catalog = NULL;
    return code;
}

hdx_code hdx_place_find_made(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err)
{
    hdx_index_options folder = *options;
    if (hdx_place_is_index(io, options->dump))
        folder.index_dir = options->dump;
    return hdx_place_find(io, &folder, home, err);
}

/* ---- building and commit ---- */
/* `like`: for those that are made; NULL: the owner's alone, as a cache is. */
static int make_parents(hdx_io *io, const char *path, const hdx_access *like)
{
    char part[4096];
    int  rc = 0;
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        (void)snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        rc = io->mkdir(io, part);
        if (rc < 0 && rc != -EEXIST)
            return rc;
        if (rc >= 0 && like != NULL)
            io->share(io, part, like);
    }
    return 0;
}

/* A link is not followed: nobody makes one there, and what it leads to is not ours to empty. */
static bool is_real_folder(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int hdx_place_clear(hdx_io *io, const char *path)
{
    struct stat st;
    if (is_real_folder(path))
        return hdx_io_remove_folder(io, path);
    return lstat(path, &st) == 0 ? io->remove(io, path) : 0;
}

/* ---- leftovers ---- */
typedef enum trust { NOTHING, OURS, OPEN, FOREIGN } trust; /* OPEN: ours, but others can write to it, or could */

static trust worst(trust a, trust b) { return a > b ? a : b; }

static trust trust_of(const struct stat *st)
{
    return st->st_uid != geteuid()                                                       ? FOREIGN
           : (st->st_mode & 022) != 0 || !(S_ISDIR(st->st_mode) || S_ISREG(st->st_mode)) ? OPEN
                                                                                         : OURS;
}

static trust look_into(const char *folder, unsigned depth)
{
    trust          found = OURS;
    struct dirent *entry;
    DIR           *d = opendir(folder);
    while (d != NULL && found < FOREIGN && (entry = readdir(d)) != NULL) {
        char        path[4400];
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= sizeof path || lstat(path, &st) != 0)
            found = worst(found, OPEN);
        else {
            found = worst(found, trust_of(&st));
            if (S_ISDIR(st.st_mode) && depth > 0)
                found = worst(found, look_into(path, depth - 1));
        }
    }
    if (d != NULL)
        (void)closedir(d);
    return d == NULL ? OPEN : found;
}

/* What another user put into a folder of ours is not used, but ours to clear; what he has himself is neither. */
static trust leftover(const char *part)
{
    struct stat st;
    if (lstat(part, &st) != 0)
        return NOTHING;
    const trust t = trust_of(&st);
    if (t == FOREIGN || !S_ISDIR(st.st_mode))
        return t;
    return worst(t, look_into(part, 1)) == OURS ? OURS : OPEN;
}

bool hdx_place_is_ours(const char *path) { return is_real_folder(path) && leftover(path) == OURS; }

hdx_code hdx_place_foreign(const char *path, hdx_error *err)
{
    struct stat st;
    if (leftover(path) != FOREIGN || lstat(path, &st) != 0)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE,
                             "belongs to another user (%lu): neither used nor removed", (unsigned long)st.st_uid),
                    "its owner can remove it; --index-dir DIR puts the index elsewhere");
}

static hdx_code clear(hdx_io *io, const char *path, hdx_error *err)
{
    int rc = hdx_place_clear(io, path);
    return rc < 0 ? hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot clear the leftovers of an earlier build: %s",
                             strerror(-rc))
                  : HDX_OK;
}

/* Or what a reading of the dump has kept (kept.h). */
static bool has_checkpoint(const char *part)
{
    char        path[4200];
    struct stat st;
    (void)snprintf(path, sizeof path, "%s/checkpoint", part);
    if (!is_real_folder(part) || is_real_folder(path))
        return is_real_folder(part);
    (void)snprintf(path, sizeof path, "%s/" HDX_KEPT_SCAN, part);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* An empty folder *.part, or one with a checkpoint. The lock is held. A negative errno: none can be made. */
static hdx_code take_part(hdx_io *io, const hdx_index_options *options, const hdx_index_home *home, bool resume,
                          bool *found, int *rc, hdx_error *err)
{
    const trust left = leftover(home->part);
    char        line[4300];
    hdx_code    code = HDX_OK;
    *found = false;
    *rc = left == FOREIGN ? -EPERM : 0;
    if (left == FOREIGN)
        return HDX_OK;
    if (left == OPEN) {
        if (is_real_folder(home->part))
            (void)chmod(home->part, 0700); /* before it is cleared: nobody else moves names in it */
        (void)snprintf(line, sizeof line, "%s could be written by others: not used", home->part);
        notice(options, line);
    }
    *found = resume && left == OURS && has_checkpoint(home->part);
    if (*found || (code = clear(io, home->part, err)) != HDX_OK)
        return code;
    *rc = io->mkdir(io, home->part);
    return HDX_OK;
}

/* Where nothing can be written beside the dump. */
static hdx_code begin_in_cache(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, const char *path,
                               const char *why, bool resume, bool *found, hdx_error *err)
{
    char     line[8600];
    int      rc;
    hdx_code code;
    hdx_place_unlock(home);
    if ((code = set_paths(home, path, err)) != HDX_OK)
        return code;
    if ((rc = make_parents(io, home->path, NULL)) < 0)
        return hdx_hint(
            err, hdx_fail(err, HDX_IO, home->path, HDX_NOWHERE, "cannot make the cache folder: %s", strerror(-rc)),
            "--index-dir DIR puts the index elsewhere");
    if (!is_own_cache(home->path))
        return hdx_hint(err, hdx_fail(err, HDX_IO, home->path, HDX_NOWHERE, "the cache folder belongs to another user"),
                        "--index-dir DIR puts the index elsewhere");
    io->share(io, parent_of(home->path, line, sizeof line), &(hdx_access){ .mode = 0600, .gid = (uint32_t)getegid() });
    if ((code = hdx_place_lock(io, options, home, err)) != HDX_OK)
        return code;
    rc = home->lock_fd < 0 ? -home->why_not : 0;
    if (rc == 0 && (code = take_part(io, options, home, resume, found, &rc, err)) != HDX_OK)
        return code;
    if (rc < 0)
        return hdx_fail(err, HDX_IO, home->part, HDX_NOWHERE, "cannot make the index folder: %s", strerror(-rc));
    if (!*found) {
        (void)snprintf(line, sizeof line, "%s; the index is %s", why, home->path);
        notice(options, line);
    }
    return HDX_OK;
}

static const char *not_used(const hdx_error *foreign, char *out, size_t size)
{
    (void)snprintf(out, size, "%s %s", foreign->where, foreign->message);
    return out;
}

hdx_code hdx_place_begin(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, bool resume, bool *found,
                         hdx_error *err)
{
    struct stat st;
    char        cached[4096], why[560];
    hdx_error   foreign;
    hdx_code    code;
    int         rc = 0;
    assert(home->path[0] != '\0'); /* M2: hdx_place_find was asked */
    *found = false;
    if (io->stat(io, home->path, &st) >= 0 && !hdx_place_is_index(io, home->path)) {
        if (!S_ISDIR(st.st_mode))
            return hdx_hint(err, hdx_fail(err, HDX_USAGE, home->path, HDX_NOWHERE, "is a file; an index is a folder"),
                            "name a folder that does not exist yet");
        if (rmdir(home->path) != 0) /* an empty folder may become one */
            return hdx_hint(err,
                            hdx_fail(err, HDX_USAGE, home->path, HDX_NOWHERE, "is a folder with other things in it"),
                            "name a folder that does not exist yet");
    }
    if (options->index_dir != NULL && home->lock_fd < 0) {
        if ((rc = make_parents(io, home->path, &home->access)) >= 0 &&
            (code = hdx_place_lock(io, options, home, err)) != HDX_OK)
            return code;
    }
    if (rc >= 0)
        rc = home->lock_fd < 0 ? -home->why_not : 0;
    if (rc == 0 && ((code = take_part(io, options, home, resume, found, &rc, err)) != HDX_OK || rc >= 0))
        return code;
    if (options->index_dir == NULL && (rc == -EACCES || rc == -EROFS || rc == -EPERM) &&
        cache_path(options, cached, sizeof cached))
        return begin_in_cache(io, options, home, cached,
                              hdx_place_foreign(home->part, &foreign) != HDX_OK ? not_used(&foreign, why, sizeof why)
                                                                                : "the dump's folder cannot be written",
                              resume, found, err);
    if (rc == -EPERM && (code = hdx_place_foreign(home->part, err)) != HDX_OK)
        return code;
    return hdx_hint(err,
                    hdx_fail(err, HDX_IO, home->part, HDX_NOWHERE, "cannot make the index folder: %s", strerror(-rc)),
                    "--index-dir DIR puts the index elsewhere");
}

/* Whoever took the place over writes the same names: a file that is not as long as it was made is not ours. */
static hdx_code still_ours(hdx_io *io, const hdx_index_home *home, const hdx_manifest *m, hdx_error *err)
{
    hdx_code code = hdx_place_still_held(home, err);
    for (unsigned i = 0; i < HDX_KINDS_MAX && code == HDX_OK; i++) {
        char        path[4200];
        struct stat st;
        if (m->files[i].name[0] == '\0')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s.hdx", home->part, m->files[i].name);
        const int rc = io->stat(io, path, &st);
        if (rc < 0)
            code = hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot find it again: %s", strerror(-rc));
        else if ((uint64_t)st.st_size != m->files[i].bytes)
            code = hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "has %llu bytes, %llu were written",
                            (unsigned long long)st.st_size, (unsigned long long)m->files[i].bytes);
    }
    return code;
}

hdx_code hdx_place_commit(hdx_io *io, hdx_index_home *home, const hdx_manifest *m, hdx_error *err)
{
    struct stat st;
    char        parent[4096];
    hdx_code    code;
    assert(home->part[0] != '\0' && strcmp(home->part, home->path) != 0); /* M2 */
    int rc = hdx_io_share_files(io, home->part, &home->access);
    if (rc >= 0)
        rc = hdx_io_sync_files(io, home->part);
    if (rc < 0)
        return hdx_fail(err, HDX_IO, home->part, HDX_NOWHERE, "cannot sync: %s", strerror(-rc));
    if ((code = still_ours(io, home, m, err)) != HDX_OK)
        return code;
    if (io->stat(io, home->path, &st) >= 0) {
        if ((rc = io->exchange(io, home->part, home->path)) <
            0) /* a file system that cannot swap: readers may see a moment without index */
            (void)hdx_io_remove_folder(io, home->path);
    } else
        rc = -ENOENT;
    if (rc < 0 && (rc = io->rename(io, home->part, home->path)) < 0)
        return hdx_fail(err, HDX_IO, home->path, HDX_NOWHERE, "cannot put the index in place: %s", strerror(-rc));
    if ((rc = io->sync_folder(io, parent_of(home->path, parent, sizeof parent))) < 0)
        return hdx_fail(err, HDX_IO, parent, HDX_NOWHERE, "cannot sync: %s", strerror(-rc));
    (void)hdx_io_remove_folder(io, home->part); /* the old index, if there was one */
    return HDX_OK;
}

void hdx_place_narrow(hdx_io *io, const hdx_index_home *home)
{
    struct stat st;
    if (lstat(home->path, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 066 & ~home->access.mode) != 0)
        (void)hdx_io_share_files(io, home->path, &home->access);
}

void hdx_place_abandon(hdx_io *io, hdx_index_home *home)
{
    if (hdx_place_held(home) && leftover(home->part) != FOREIGN) /* else it is another's by now, or was all the time */
        (void)hdx_place_clear(io, home->part);
}
