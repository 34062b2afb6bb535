/*
 * place.c - where an index lives: its folder, the lock, leftovers, staleness, and the rename that makes it exist.
 *
 *     absent -> building (lock held, folder *.part) -> whole (renamed into place) -> stale (dump changed) | removed
 *         INDEX 1
 *
 * Who may build is settled in lock.c.
 */
#include "making/making.h"

#include "base/own.h"

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

static hdx_code set_paths(hdx_index_home *home, const char *path, hdx_error *err)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (len >= sizeof home->path)
        return too_long(path, err);
    if (home->path != path)
        memmove(home->path, path, len);
    home->path[len] = '\0';
    return hdx_own_beside(home->path, "part", home->part, sizeof home->part - 64) &&
                   hdx_own_beside(home->path, "lock", home->lock, sizeof home->lock - 64)
               ? HDX_OK
               : too_long(path, err);
}

/* A link to an index is that index: it is replaced where it is, and the link stays. */
static hdx_code set_home(hdx_index_home *home, const char *path, hdx_error *err)
{
    char           real[4096];
    struct stat    st;
    const hdx_code code = set_paths(home, path, err);
    const bool     link = code == HDX_OK && lstat(home->path, &st) == 0 && S_ISLNK(st.st_mode);
    return link && realpath(home->path, real) != NULL ? set_paths(home, real, err) : code;
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
        return set_home(home, options->index_dir, err);
    if (options->dump_number > 1) { /* app.hprof -> app.2.hprof.hdx would hide whose it is: app.hprof.2.hdx */
        n = snprintf(path, sizeof path, "%.*s.%u.hdx", (int)len, dump, options->dump_number);
    } else
        n = snprintf(path, sizeof path, "%s.hdx", dump);
    if (n < 0 || (size_t)n >= sizeof path)
        return too_long(dump, err);
    if (!hdx_folder_is_index(io, path)) {
        char cached[4096];
        if (cache_path(options, cached, sizeof cached) && is_own_cache(cached) && hdx_folder_is_index(io, cached))
            return set_home(home, cached, err);
    }
    return set_home(home, path, err);
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
    if (realpath(path, m->dump_path) == NULL)
        m->dump_path[0] = '\0';
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

/* ---- whose index is it? ---- */
/*
 * Only a dump that has the name and the path of the one that was indexed is that dump, changed. Without --index-dir the
 * place follows from the path, so the name is enough. An index of an older heapdex knows no path.
 */
static bool is_of_path(const hdx_manifest *m, const hdx_index_options *options)
{
    const char *slash = strrchr(options->dump, '/');
    char        real[4096];
    if (strncmp(slash == NULL ? options->dump : slash + 1, m->dump_name, sizeof m->dump_name - 1) != 0)
        return false;
    return options->index_dir == NULL || m->dump_path[0] == '\0' || realpath(options->dump, real) == NULL ||
           strcmp(real, m->dump_path) == 0;
}

static hdx_code of_another(const hdx_index_home *home, const hdx_manifest *m, const hdx_index_options *options,
                           bool same, hdx_error *err)
{
    if (same)
        (void)hdx_fail(err, HDX_BAD_DUMP, home->path, HDX_NOWHERE, "is the index of heap %u of %s, not of heap %u",
                       m->dump_number, options->dump, options->dump_number == 0 ? 1 : options->dump_number);
    else
        (void)hdx_fail(err, HDX_BAD_DUMP, home->path, HDX_NOWHERE, "is the index of another dump, %s, not of %s",
                       m->dump_path[0] != '\0' ? m->dump_path : m->dump_name, options->dump);
    return hdx_hint(err, HDX_BAD_DUMP,
                    "--index-dir names the folder of one index: name another one, or remove this one "
                    "with heapdex remove %s",
                    home->path);
}

hdx_code hdx_place_replaceable(hdx_io *io, const hdx_index_home *home, const hdx_index_options *options, hdx_error *err)
{
    const uint32_t number = options->dump_number == 0 ? 1 : options->dump_number;
    char           other[256];
    hdx_catalog   *catalog = NULL;
    struct stat    st;
    bool           same = false;
    hdx_error      unseen;
    hdx_code       code = HDX_OK;
    if (!hdx_folder_is_index(io, home->path))
        return HDX_OK;
    if (hdx_folder_has_other(home->path, other))
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, home->path, HDX_NOWHERE,
                                 "holds %s, which heapdex did not write: the index is neither replaced nor removed",
                                 other),
                        "move that file elsewhere");
    if (io->stat(io, options->dump, &st) >= 0 && S_ISDIR(st.st_mode)) /* the index itself was named */
        return HDX_OK;
    if (hdx_catalog_open(io, home->path, &catalog, &unseen) != HDX_OK)
        return HDX_OK;
    const hdx_manifest *m = hdx_catalog_manifest(catalog);
    if (io->stat(io, options->dump, &st) >= 0)
        code = same_dump(io, options->dump, m, &same, err);
    if (code == HDX_OK && (same ? m->dump_number != number : !is_of_path(m, options)))
        code = of_another(home, m, options, same, err);
    hdx_catalog_close(catalog);
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
    if (!hdx_folder_is_index(io, home->path))
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
        if (same ? m->dump_number != number : !is_of_path(m, options))
            code = of_another(home, m, options, same, err);
        *state = same ? HDX_INDEX_ABSENT /* up to an earlier step */ : HDX_INDEX_STALE;
    }
    hdx_catalog_close(*catalog);
    *catalog = NULL;
    return code;
}

hdx_code hdx_place_find_made(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err)
{
    hdx_index_options folder = *options;
    if (hdx_folder_is_index(io, options->dump))
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
        return hdx_folder_clear(io, path);
    return hdx_own_is_name(path) && lstat(path, &st) == 0 ? io->remove(io, path) : 0;
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

/*
 * What heapdex writes is not used, but cleared, where another user put it into a folder of ours. What another user
 * owns, and a folder with other things in it, is neither used nor cleared.
 */
static trust leftover(const char *part)
{
    struct stat st;
    char        other[256];
    if (lstat(part, &st) != 0)
        return NOTHING;
    const trust t = trust_of(&st);
    if (t == FOREIGN || !S_ISDIR(st.st_mode))
        return t;
    if (hdx_folder_has_other(part, other))
        return FOREIGN;
    return worst(t, look_into(part, 1)) == OURS ? OURS : OPEN;
}

bool hdx_place_is_ours(const char *path) { return is_real_folder(path) && leftover(path) == OURS; }

hdx_code hdx_place_foreign(const char *path, hdx_error *err)
{
    struct stat st;
    char        other[256];
    if (lstat(path, &st) != 0)
        return HDX_OK;
    if (st.st_uid != geteuid())
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE,
                                 "belongs to another user (%lu): neither used nor removed", (unsigned long)st.st_uid),
                        "its owner can remove it; --index-dir DIR puts the index elsewhere");
    if (S_ISDIR(st.st_mode) && hdx_folder_has_other(path, other))
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE,
                                 "holds %s, which heapdex did not write: neither used nor removed", other),
                        "move that file elsewhere; --index-dir DIR puts the index elsewhere");
    return HDX_OK;
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

/* An empty folder for a partial build, or one with a checkpoint. The lock is held. A negative errno: none can be made.
 */
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
        (void)snprintf(line, sizeof line, "%s is writable by others: not used", home->part);
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

hdx_code hdx_place_in_the_way(const hdx_index_home *home, hdx_error *err)
{
    struct stat st;
    hdx_code    code = hdx_place_foreign(home->part, err);
    if (code != HDX_OK || home->lock_fd >= 0 || home->why_not != EPERM || lstat(home->lock, &st) != 0)
        return code;
    if ((code = hdx_place_foreign(home->lock, err)) == HDX_OK)
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, home->lock, HDX_NOWHERE, "is no lock that heapdex made"),
                        "move it elsewhere; --index-dir DIR puts the index elsewhere");
    if (err != NULL)
        err->code = HDX_BUSY; /* somebody else may be building */
    return HDX_BUSY;
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
    if (io->stat(io, home->path, &st) >= 0 && !hdx_folder_is_index(io, home->path)) {
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
                              hdx_place_in_the_way(home, &foreign) != HDX_OK ? not_used(&foreign, why, sizeof why)
                                                                             : "the dump's folder cannot be written",
                              resume, found, err);
    if (rc == -EPERM && (code = hdx_place_in_the_way(home, err)) != HDX_OK)
        return code;
    return hdx_hint(err,
                    hdx_fail(err, HDX_IO, home->part, HDX_NOWHERE, "cannot make the index folder: %s", strerror(-rc)),
                    "--index-dir DIR puts the index elsewhere");
}

/* Another builder that took the place over writes the same names: a file that is not as long as it was made is not
 * ours. */
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
            (void)hdx_folder_clear(io, home->path);
    } else
        rc = -ENOENT;
    if (rc < 0 && (rc = io->rename(io, home->part, home->path)) < 0)
        return hdx_fail(err, HDX_IO, home->path, HDX_NOWHERE, "cannot put the index in place: %s", strerror(-rc));
    if ((rc = io->sync_folder(io, parent_of(home->path, parent, sizeof parent))) < 0)
        return hdx_fail(err, HDX_IO, parent, HDX_NOWHERE, "cannot sync: %s", strerror(-rc));
    (void)hdx_folder_clear(io, home->part); /* the old index, if there was one */
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
