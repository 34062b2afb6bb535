/*
 * part.c - the folder of a partial build: creates, resumes or clears it, puts it in place of the index, removes it.
 *
 * In:  the place of the index (place.c), its lock (lock.c).
 * Out: an empty folder .heapdex-part-NAME, or one with a checkpoint; the index under its name.
 * Files that heapdex did not write are never removed or replaced: folders are checked before a build and again at its
 * end.
 */
#include "making/making.h"

#include "base/own.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static void notice(const hdx_index_options *options, const char *line)
{
    if (options->notice != NULL)
        options->notice(options->notice_context, line);
}

/* `like`: access rights for new folders; NULL: only the owner's, as for a cache. */
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

static bool is_empty(const char *path)
{
    struct dirent *entry;
    unsigned       entries = 0;
    DIR           *d = opendir(path);
    while (d != NULL && entries == 0 && (entry = readdir(d)) != NULL)
        entries += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (d != NULL)
        (void)closedir(d);
    return d != NULL && entries == 0;
}

/* A link is not followed: heapdex never creates one there, and its target must not be emptied. */
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
typedef enum trust { NOTHING, OURS, OPEN, FOREIGN } trust; /* OPEN: ours, but others can write to it, or could have */

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
 * Files of heapdex that another user put into a folder of ours are cleared, not used. A folder that another user owns,
 * or that contains other files, is neither used nor cleared.
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
                                 "belongs to another user (%lu); it is neither used nor removed",
                                 (unsigned long)st.st_uid),
                        "ask its owner to remove it, or use --index-dir DIR");
    if (S_ISDIR(st.st_mode) && hdx_folder_has_other(path, other))
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE,
                                 "contains %s, which heapdex did not write; it is neither used nor removed", other),
                        "move that file elsewhere, or use --index-dir DIR");
    return HDX_OK;
}

static hdx_code clear(hdx_io *io, const char *path, hdx_error *err)
{
    int rc = hdx_place_clear(io, path);
    return rc < 0
               ? hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot delete files of an earlier build: %s", strerror(-rc))
               : HDX_OK;
}

/* True also for files that a reading of the dump has saved (resume.h). */
static bool has_checkpoint(const char *part)
{
    char        path[4200];
    struct stat st;
    (void)snprintf(path, sizeof path, "%s/checkpoint", part);
    if (!is_real_folder(part) || is_real_folder(path))
        return is_real_folder(part);
    (void)snprintf(path, sizeof path, "%s/" HDX_RESUME_SCAN, part);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/*
 * Creates an empty folder for a partial build, or resumes one with a checkpoint. REQUIRES: the lock is held. Returns a
 * negative errno on failure.
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
            (void)chmod(home->part, 0700); /* before it is cleared: other users can no longer rename files in it */
        (void)snprintf(line, sizeof line, "%s is writable by other users; it is not used", home->part);
        notice(options, line);
    }
    *found = resume && left == OURS && has_checkpoint(home->part);
    if (*found || (code = clear(io, home->part, err)) != HDX_OK)
        return code;
    *rc = io->mkdir(io, home->part);
    return HDX_OK;
}

/* The place must be empty, or an index or an empty folder, and not inside of another index. */
static hdx_code is_free(hdx_io *io, const hdx_index_home *home, hdx_error *err)
{
    struct stat st;
    char        index[4096];
    if (hdx_folder_around(io, home->path, index))
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, home->path, HDX_NOWHERE,
                                 "is inside the index %s; an index cannot contain another one", index),
                        "store the index elsewhere with --index-dir DIR");
    if (io->stat(io, home->path, &st) < 0 || hdx_folder_is_index(io, home->path))
        return HDX_OK;
    if (!S_ISDIR(st.st_mode))
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, home->path, HDX_NOWHERE, "is a file; an index is a folder"),
                        "name a folder that does not exist yet");
    if (!is_empty(home->path))
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, home->path, HDX_NOWHERE, "is a folder with other files in it"),
                        "name a folder that does not exist yet");
    return HDX_OK;
}

/* Used if nothing can be written next to the dump. */
static hdx_code begin_in_cache(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, const char *path,
                               const char *why, bool resume, bool *found, hdx_error *err)
{
    char     line[8600];
    int      rc;
    hdx_code code;
    hdx_place_unlock(home);
    if ((code = hdx_place_set(home, path, err)) != HDX_OK)
        return code;
    if ((rc = make_parents(io, home->path, NULL)) < 0)
        return hdx_hint(
            err, hdx_fail(err, HDX_IO, home->path, HDX_NOWHERE, "cannot create the cache folder: %s", strerror(-rc)),
            "store the index elsewhere with --index-dir DIR");
    if (!hdx_place_is_own_cache(home->path))
        return hdx_hint(err, hdx_fail(err, HDX_IO, home->path, HDX_NOWHERE, "the cache folder belongs to another user"),
                        "store the index elsewhere with --index-dir DIR");
    if (hdx_path_folder(home->path, line, sizeof line))
        io->share(io, line, &(hdx_access){ .mode = 0600, .gid = (uint32_t)getegid() });
    if ((code = is_free(io, home, err)) != HDX_OK || (code = hdx_place_lock(io, options, home, err)) != HDX_OK ||
        (code = hdx_place_replaceable(io, home, options, err)) != HDX_OK)
        return code;
    rc = home->lock_fd < 0 ? -home->why_not : 0;
    if (rc == 0 && (code = take_part(io, options, home, resume, found, &rc, err)) != HDX_OK)
        return code;
    if (rc < 0)
        return hdx_fail(err, HDX_IO, home->part, HDX_NOWHERE, "cannot create the index folder: %s", strerror(-rc));
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
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, home->lock, HDX_NOWHERE, "is not a lock file of heapdex"),
                        "move it elsewhere, or use --index-dir DIR");
    if (err != NULL)
        err->code = HDX_BUSY; /* another process may be building */
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
    char      cached[4096], why[560];
    hdx_error foreign;
    hdx_code  code;
    int       rc = 0;
    assert(home->path[0] != '\0'); /* M2: hdx_place_find was called */
    *found = false;
    if ((code = is_free(io, home, err)) != HDX_OK)
        return code;
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
        hdx_place_cache_path(options, cached, sizeof cached))
        return begin_in_cache(io, options, home, cached,
                              hdx_place_in_the_way(home, &foreign) != HDX_OK ? not_used(&foreign, why, sizeof why)
                                                                             : "cannot write to the dump's folder",
                              resume, found, err);
    if (rc == -EPERM && (code = hdx_place_in_the_way(home, err)) != HDX_OK)
        return code;
    return hdx_hint(err,
                    hdx_fail(err, HDX_IO, home->part, HDX_NOWHERE, "cannot create the index folder: %s", strerror(-rc)),
                    "store the index elsewhere with --index-dir DIR");
}

/*
 * Another builder that took over the place writes the same names: a file whose length differs from what was written is
 * not ours.
 */
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
            code = hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot be read after writing: %s", strerror(-rc));
        else if ((uint64_t)st.st_size != m->files[i].bytes)
            code = hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "is %llu bytes, but %llu were written",
                            (unsigned long long)st.st_size, (unsigned long long)m->files[i].bytes);
    }
    return code;
}

/*
 * For a file system that cannot swap two names: the old folder is renamed to a temporary name first. For a moment
 * readers may find no index.
 */
static int replace_by_steps(hdx_io *io, const char *part, const char *path)
{
    char aside[4200];
    int  rc = hdx_own_name(path, aside, sizeof aside) ? io->rename(io, path, aside) : -ENAMETOOLONG;
    if (rc < 0)
        return rc;
    if ((rc = io->rename(io, part, path)) < 0)
        (void)io->rename(io, aside, path);
    else if ((rc = io->rename(io, aside, part)) < 0)
        rc = 0; /* it stays under its temporary name */
    return rc;
}

hdx_code hdx_place_put(hdx_io *io, const char *part, const char *path, bool in_index, hdx_error *err)
{
    struct stat st;
    char        folder[4096];
    hdx_code    code;
    const bool  old = in_index ? lstat(path, &st) == 0 : hdx_folder_is_index(io, path);
    int         rc;
    if (old && (code = hdx_place_holds_other(path, err)) != HDX_OK)
        return code;
    rc = old ? io->exchange(io, part, path) : io->rename(io, part, path);        /* at most over an empty folder */
    if (old && rc >= 0 && (code = hdx_place_holds_other(part, err)) != HDX_OK) { /* it appeared since */
        if (io->exchange(io, part, path) >= 0 && err != NULL)
            (void)snprintf(err->where, sizeof err->where, "%.*s", (int)sizeof err->where - 1, path);
        return code;
    }
    if (old && (rc == -EINVAL || rc == -ENOSYS || rc == -EOPNOTSUPP))
        rc = replace_by_steps(io, part, path);
    if (rc < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot move the %s into place: %s",
                        in_index ? "view" : "index", strerror(-rc));
    if (hdx_path_folder(path, folder, sizeof folder) && (rc = io->sync_folder(io, folder)) < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot sync its folder: %s", strerror(-rc));
    (void)hdx_place_clear(io, part); /* the old one, if there was one */
    return HDX_OK;
}

hdx_code hdx_place_take_out(hdx_io *io, const char *path, const char *part, hdx_error *err)
{
    hdx_code code = hdx_place_holds_other(path, err);
    int      rc;
    if (code != HDX_OK)
        return code;
    if ((rc = io->rename(io, path, part)) >= 0 && (code = hdx_place_holds_other(part, err)) != HDX_OK) {
        if (io->rename(io, part, path) >= 0 && err != NULL)
            (void)snprintf(err->where, sizeof err->where, "%.*s", (int)sizeof err->where - 1, path);
        return code;
    }
    if (rc < 0 || (rc = hdx_place_clear(io, part)) < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot remove: %s", strerror(-rc));
    return HDX_OK;
}

hdx_code hdx_place_commit(hdx_io *io, hdx_index_home *home, const hdx_manifest *m, hdx_error *err)
{
    hdx_code code;
    int      rc;
    assert(home->part[0] != '\0' && strcmp(home->part, home->path) != 0); /* M2 */
    hdx_folder_share(io, home->part, &home->access);
    if ((rc = hdx_io_sync_files(io, home->part)) < 0)
        return hdx_fail(err, HDX_IO, home->part, HDX_NOWHERE, "cannot sync: %s", strerror(-rc));
    if ((code = still_ours(io, home, m, err)) != HDX_OK)
        return code;
    return hdx_place_put(io, home->part, home->path, false, err);
}

void hdx_place_narrow(hdx_io *io, const hdx_index_home *home)
{
    struct stat st;
    if (lstat(home->path, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 066 & ~home->access.mode) != 0)
        hdx_folder_share(io, home->path, &home->access);
}

void hdx_place_abandon(hdx_io *io, hdx_index_home *home)
{
    if (hdx_place_held(home) && leftover(home->part) != FOREIGN) /* otherwise it is another builder's */
        (void)hdx_place_clear(io, home->part);
}
