/*
 * place.c - the location of an index, and whether an existing index matches the dump.
 *
 *     absent -> building (lock held, folder .heapdex-part-NAME) -> complete (renamed into place)
 *         -> stale (the dump changed) | removed                                                       INDEX 1
 *
 * lock.c decides who may build; part.c has the folder of a partial build, leftovers and the rename. This file calls
 * neither.
 */
#include "making/making.h"

#include "base/own.h"
#include "base/path.h"
#include "source/joined.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EDGE (64u << 10) /* bytes sampled at the start and at the end of a dump ... */
#define SPOT (4u << 10)  /* ... and at each of 16 places between */

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
    return hdx_own_companion_path(home->path, "part", home->part, sizeof home->part - 64) &&
                   hdx_own_companion_path(home->path, "lock", home->lock, sizeof home->lock - 64)
               ? HDX_OK
               : too_long(path, err);
}

hdx_code hdx_place_set(hdx_index_home *home, const char *path, hdx_error *err)
{
    char           real[4096];
    struct stat    st;
    const hdx_code code = set_paths(home, path, err);
    if (code != HDX_OK)
        return code;
    const char *name = hdx_path_name(home->path);
    const bool  dots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (!dots && (lstat(home->path, &st) != 0 || !S_ISLNK(st.st_mode)))
        return HDX_OK;
    if (realpath(home->path, real) != NULL)
        return set_paths(home, real, err);
    return hdx_hint(err,
                    hdx_fail(err, HDX_USAGE, home->path, HDX_NOWHERE,
                             dots ? "does not exist, and this name cannot be created" : "is a broken symbolic link"),
                    "name a folder that does not exist yet");
}

bool hdx_place_is_own_cache(const char *path)
{
    char        parent[4096];
    struct stat st;
    return hdx_path_folder(path, parent, sizeof parent) && lstat(parent, &st) == 0 && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid();
}

bool hdx_place_cache_path(const hdx_index_options *options, char *out, size_t size)
{
    char        real[4096];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *name;
    if (realpath(options->dump, real) == NULL)
        return false;
    name = hdx_path_name(real);
    uint64_t hash = hdx_hash_bytes(options->dump_number, real, strlen(real));
    int      n = cache != NULL && cache[0] == '/'
                     ? snprintf(out, size, "%s/heapdex/%.100s-%016llx.hdx", cache, name, (unsigned long long)hash)
                 : home != NULL && home[0] == '/'
                     ? snprintf(out, size, "%s/.cache/heapdex/%.100s-%016llx.hdx", home, name, (unsigned long long)hash)
                     : -1;
    return n > 0 && (size_t)n < size;
}

hdx_code hdx_place_sample(hdx_io *io, const char *path, hdx_manifest *m, hdx_error *err)
{
    struct stat st;
    uint8_t    *buffer = NULL;
    uint64_t    low, high;
    hdx_joined  dump;
    int         rc = io->stat(io, path, &st);
    if (rc < 0)
        return hdx_fail(err, HDX_BAD_DUMP, path, HDX_NOWHERE, "%s", strerror(-rc));
    m->file_inode = (uint64_t)st.st_ino;
    (void)snprintf(m->dump_name, sizeof m->dump_name, "%s", hdx_path_name(path));
    if (realpath(path, m->dump_path) == NULL)
        m->dump_path[0] = '\0';
    if ((rc = io->open(io, path)) < 0)
        return hdx_fail(err, HDX_BAD_DUMP, path, HDX_NOWHERE, "%s", strerror(-rc));
    hdx_code code = hdx_joined_of(io, path, rc, (uint64_t)st.st_size, &dump, err);
    hdx_joined_touch(&dump, &st);
    m->file_size = (uint64_t)st.st_size;
    m->file_mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    low = hdx_mix64(m->file_size);
    high = ~low;
    if (code == HDX_OK && (buffer = malloc(EDGE)) == NULL)
        code = hdx_no_memory(err, "a sample of the dump", EDGE);
    for (unsigned i = 0; i < 18 && code == HDX_OK; i++) {
        uint64_t at = i == 0   ? 0
                      : i == 1 ? (m->file_size > EDGE ? m->file_size - EDGE : 0)
                               : m->file_size / 17 * (i - 1);
        int64_t  got = hdx_joined_read(&dump, buffer, i < 2 ? EDGE : SPOT, at);
        if (got < 0) {
            code = hdx_fail(err, HDX_IO, path, at, "cannot read: %s", strerror((int)-got));
            break;
        }
        low = hdx_hash_bytes(low, buffer, (size_t)got);
        high = hdx_hash_bytes(high, buffer, (size_t)got);
    }
    free(buffer);
    hdx_joined_close(&dump);
    hdx_put64(m->file_sample, low);
    hdx_put64(m->file_sample + 8, high);
    return code;
}

hdx_code hdx_place_unchanged(hdx_io *io, const char *path, const hdx_manifest *m, hdx_error *err)
{
    struct stat st;
    int         rc = hdx_joined_stat(io, path, &st);
    if (rc >= 0 && (uint64_t)st.st_size == m->file_size &&
        (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec == m->file_mtime_ns)
        return HDX_OK;
    return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, path, HDX_NOWHERE, "the dump changed while it was indexed"),
                    "wait until it is completely written");
}

static bool untouched(const struct stat *st, const hdx_manifest *m)
{
    return (uint64_t)st->st_size == m->file_size && (uint64_t)st->st_ino == m->file_inode &&
           (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec == m->file_mtime_ns;
}

bool hdx_place_untouched(hdx_io *io, const char *path, const hdx_manifest *m)
{
    struct stat st;
    return hdx_joined_stat(io, path, &st) >= 0 && untouched(&st, m);
}

/*
 * Returns whether the dump is unchanged since it was indexed: equal size, time and inode suffice; otherwise its content
 * is sampled.
 */
static hdx_code same_dump(hdx_io *io, const char *path, const hdx_manifest *m, bool *same, hdx_error *err)
{
    hdx_manifest now = { 0 };
    struct stat  st;
    int          rc = hdx_joined_stat(io, path, &st);
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

/* Returns whether it is an index that matches the current dump. */
static bool is_current(hdx_io *io, const char *path, const hdx_index_options *options)
{
    hdx_catalog *catalog = NULL;
    hdx_error    unseen;
    bool         same = false;
    if (hdx_folder_is_index(io, path) && hdx_catalog_open(io, path, &catalog, &unseen) == HDX_OK)
        (void)same_dump(io, options->dump, hdx_catalog_manifest(catalog), &same, &unseen);
    hdx_catalog_close(catalog);
    return same;
}

/*
 * The index in the cache is used if there is none next to the dump, or if that one is stale and the one in the cache is
 * not: the folder of the dump could not be written when it became stale.
 */
static bool is_cached(hdx_io *io, const hdx_index_options *options, const char *next_to_dump, char cached[4096])
{
    if (!hdx_place_cache_path(options, cached, 4096) || !hdx_place_is_own_cache(cached) ||
        !hdx_folder_is_index(io, cached))
        return false;
    return !hdx_folder_is_index(io, next_to_dump) ||
           (is_current(io, cached, options) && !is_current(io, next_to_dump, options));
}

hdx_code hdx_place_find(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err)
{
    char        path[4096], cached[4096];
    const char *dump = options->dump;
    size_t      len = strlen(dump);
    int         n;
    home->lock_fd = -1;
    hdx_access_of(dump, &home->access);
    if (options->index_dir != NULL)
        return hdx_place_set(home, options->index_dir, err);
    if (options->dump_number > 1) { /* app.hprof.2.hdx, because app.2.hprof.hdx would hide the name of the dump */
        n = snprintf(path, sizeof path, "%.*s.%u.hdx", (int)len, dump, options->dump_number);
    } else
        n = snprintf(path, sizeof path, "%s.hdx", dump);
    if (n < 0 || (size_t)n >= sizeof path)
        return too_long(dump, err);
    return hdx_place_set(home, is_cached(io, options, path, cached) ? cached : path, err);
}

/* ---- the dump of an index ---- */
/*
 * A changed dump is recognized by the name and path of the indexed one. Without --index-dir the place follows from the
 * path, so the name is enough. An index of an older heapdex has no path.
 */
static bool is_of_path(const hdx_manifest *m, const hdx_index_options *options)
{
    char real[4096];
    if (strncmp(hdx_path_name(options->dump), m->dump_name, sizeof m->dump_name - 1) != 0)
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
        (void)hdx_fail(err, HDX_BAD_DUMP, home->path, HDX_NOWHERE, "is the index of another dump: %s, not %s",
                       m->dump_path[0] != '\0' ? m->dump_path : m->dump_name, options->dump);
    return hdx_hint(err, HDX_BAD_DUMP,
                    "name another folder with --index-dir, or delete this index with heapdex remove %s", home->path);
}

hdx_code hdx_place_holds_other(const char *path, hdx_error *err)
{
    struct stat st;
    char        other[256];
    if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || !hdx_folder_has_other(path, other))
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE,
                             "contains %s, which heapdex did not write; it is neither replaced nor removed", other),
                    "move that file elsewhere");
}

hdx_code hdx_place_replaceable(hdx_io *io, const hdx_index_home *home, const hdx_index_options *options, hdx_error *err)
{
    const uint32_t number = options->dump_number == 0 ? 1 : options->dump_number;
    hdx_catalog   *catalog = NULL;
    struct stat    st;
    bool           same = false;
    hdx_error      unseen;
    hdx_code       code = HDX_OK;
    if (!hdx_folder_is_index(io, home->path))
        return HDX_OK;
    if ((code = hdx_place_holds_other(home->path, err)) != HDX_OK)
        return code;
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
        *state = same ? HDX_INDEX_ABSENT /* complete only up to an earlier step */ : HDX_INDEX_STALE;
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
