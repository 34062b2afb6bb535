/*
 * source.c - opens a dump, determines its kind of container, and reads plain ones.
 *
 * In:  a path.
 * Out: an hdx_source; bytes at positions of plain dumps; compressed ones are read by cache.c.
 * A file that a JVM did not merge with its pieces is read together with them (joined.c).
 * Files are not mapped: a mapped file that is truncated kills the reader with SIGBUS.
 */
#include "base/nearest.h"
#include "source/inner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECES_MAX 4096u /* they are searched linearly, which costs little compared with inflating */

hdx_code hdx_source_file_read(const hdx_source *source, uint64_t at, void *to, size_t want, size_t *got, hdx_error *err)
{
    *got = 0;
    if (source->lower != NULL)
        return hdx_source_read_at(source->lower, at, to, want, got, err);
    if (at >= source->file_size) /* bytes that were appended later do not belong to the dump that was opened */
        return HDX_OK;
    if (want > source->file_size - at)
        want = (size_t)(source->file_size - at);
    int64_t n = want == 0 ? 0 : hdx_joined_read(source->joined, to, want, at);
    if (n < 0)
        return hdx_fail(err, HDX_IO, source->path, at, "cannot read: %s", strerror((int)-n));
    *got = (size_t)n;
    return HDX_OK;
}

hdx_code hdx_source_changed(const hdx_source *source, uint64_t offset, hdx_error *err)
{
    if (source->points.loaded)
        return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, source->path, offset, "the dump changed since it was indexed"),
                        "restore the original dump, or rebuild the index with heapdex index --force");
    return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, source->path, offset, "the dump changed while it was in use"),
                    "run the command again; an index of this dump must be rebuilt");
}

/* A missing or forbidden file is a mistake of the caller, a failing disk is not. */
static hdx_code cannot_open(const char *path, int error, hdx_error *err)
{
    char     near[4096];
    hdx_code code;
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        code = hdx_fail(err, HDX_BAD_DUMP, path, HDX_NOWHERE, "no such file");
        return hdx_nearest_file(path, near, sizeof near) ? hdx_hint(err, code, "did you mean %s?", near)
                                                         : hdx_hint(err, code, "check the name");
    case EACCES:
    case EPERM:
        return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, path, HDX_NOWHERE, "permission denied"),
                        "JVMs make dumps readable only to their owner: request read permission");
    case ENAMETOOLONG:
    case ELOOP: return hdx_fail(err, HDX_BAD_DUMP, path, HDX_NOWHERE, "cannot open: %s", strerror(error));
    default: return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot open: %s", strerror(error));
    }
}

static hdx_code open_file(hdx_source *source, hdx_error *err)
{
    struct stat info;
    int         rc = source->io->stat(source->io, source->path,
                                      &info); /* before opening: opening a pipe would wait for its writer */
    if (rc < 0)
        return cannot_open(source->path, -rc, err);
    if (S_ISDIR(info.st_mode))
        return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, source->path, HDX_NOWHERE, "is a directory"),
                        "name a file such as app.hprof");
    if (!S_ISREG(info.st_mode))
        return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, source->path, HDX_NOWHERE, "is not a regular file"),
                        "heapdex needs random access: write the dump to a file first");
    if (info.st_size <= 0)
        return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, source->path, 0, "the file is empty"),
                        "check whether the disk was full when the dump was taken");
    if ((source->joined = malloc(sizeof *source->joined)) == NULL)
        return hdx_no_memory(err, "the dump", sizeof *source->joined);
    *source->joined = (hdx_joined){ .file = { .fd = -1 } };
    if ((rc = source->io->open(source->io, source->path)) < 0)
        return cannot_open(source->path, -rc, err);
    const hdx_code code = hdx_joined_of(source->io, source->path, rc, (uint64_t)info.st_size, source->joined, err);
    source->file_size = source->joined->size;
    return code;
}

static hdx_code refuse(const hdx_source *source, uint64_t at, hdx_error *err, const char *what, unsigned seen,
                       const char *allowed)
{
    return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, source->path, at, "%s %u, allowed %s", what, seen, allowed),
                    "the file is not a gzip file, or its first bytes are damaged");
}

/* Recognizes the container by its first bytes (GZIP 7.1); everything else is plain. */
static hdx_code sniff(hdx_source *source, hdx_error *err)
{
    uint8_t  b[4];
    size_t   got;
    hdx_code code = hdx_source_file_read(source, 0, b, sizeof b, &got, err);
    if (code != HDX_OK)
        return code;
    source->kind = HDX_PLAIN;
    if (got >= 2 && b[0] == 0x1f && b[1] == 0x8b) {
        source->kind = HDX_GZIP;
        if (got >= 3 && b[2] != 8)
            return refuse(source, 2, err, "gzip compression method", b[2], "8 (deflate)");
        if (got >= 4 && (b[3] & 0xe0) != 0)
            return refuse(source, 3, err, "gzip header flags", b[3], "0 to 31");
    } else if (got >= 2 && b[0] == 0x78 && (b[0] * 256u + b[1]) % 31 == 0) {
        source->kind = HDX_ZLIB;
        if ((b[1] & 0x20) != 0)
            return refuse(source, 1, err, "zlib header flags", b[1], "none with a preset dictionary (32)");
    }
    return HDX_OK;
}

/* Creates what inflating needs. */
static hdx_code make_container(hdx_source *source, hdx_error *err)
{
    if (source->kind != HDX_PLAIN &&
        (!hdx_points_init(&source->points, source->mem, source->kind == HDX_ZLIB ? 1 : 0) ||
         !hdx_damage_init(&source->damage, source->mem) || (source->cache = hdx_cache_new(source)) == NULL))
        return hdx_no_memory(err, "the dump's container", HDX_SOURCE_DAMAGE_MAX * sizeof(hdx_damage));
    return HDX_OK;
}

static void drop_container(hdx_source *source)
{
    hdx_cache_free(source->cache);
    source->cache = NULL;
    hdx_damage_free(&source->damage, source->mem);
    hdx_points_free(&source->points);
}

hdx_code hdx_source_nest(hdx_source *source, hdx_error *err)
{
    const hdx_source_options options = { .max_uncompressed = source->max_uncompressed };
    hdx_code                 code = HDX_OK;
    if (source->lower == NULL)
        code = hdx_source_open_mem(source->io, source->mem, source->path, &options, &source->lower, err);
    if (code != HDX_OK || source->kind == HDX_ZLIB)
        return code;
    drop_container(source);
    source->kind = HDX_ZLIB;
    return make_container(source, err);
}

hdx_code hdx_source_open_mem(hdx_io *io, hdx_mem *mem, const char *path, const hdx_source_options *options,
                             hdx_source **out, hdx_error *err)
{
    *out = NULL;
    if (path == NULL || path[0] == '\0')
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "no file is named");
    uint64_t    path_size = strlen(path) + 1;
    hdx_source *source = hdx_mem_get(mem, sizeof *source);
    hdx_code    code;
    if (source == NULL)
        return hdx_no_memory(err, "the dump", sizeof *source);
    source->io = io;
    source->mem = mem;
    source->max_uncompressed = options != NULL ? options->max_uncompressed : 0;
    const uint64_t cache = options != NULL && options->cache != 0 ? options->cache : HDX_SOURCE_CACHE;
    source->pieces = cache < 2 * HDX_SLICE            ? 2
                     : cache / HDX_SLICE > PIECES_MAX ? PIECES_MAX
                                                      : (unsigned)(cache / HDX_SLICE);
    source->threads = options != NULL && options->threads != 0 ? options->threads : hdx_workers_default();
    if ((source->path = hdx_mem_get(mem, path_size)) == NULL) {
        code = hdx_no_memory(err, "a path", path_size);
        goto out;
    }
    memcpy(source->path, path, path_size);
    if ((code = open_file(source, err)) != HDX_OK || (code = sniff(source, err)) != HDX_OK)
        goto out;
    if ((code = make_container(source, err)) != HDX_OK)
        goto out;
    *out = source;
    source = NULL;
out:
    hdx_source_close(source);
    return code;
}

hdx_code hdx_source_open_io(hdx_io *io, const char *path, const hdx_source_options *options, hdx_source **out,
                            hdx_error *err)
{
    return hdx_source_open_mem(io, NULL, path, options, out, err);
}

hdx_code hdx_source_open(const char *path, const hdx_source_options *options, hdx_source **out, hdx_error *err)
{
    return hdx_source_open_mem(hdx_io_system(), NULL, path, options, out, err);
}

void hdx_source_close(hdx_source *source)
{
    if (source == NULL)
        return;
    if (source->overlay.context != NULL)
        source->overlay.close(source->overlay.context);
    drop_container(source);
    hdx_source_close(source->lower);
    if (source->joined != NULL)
        hdx_joined_close(source->joined);
    free(source->joined);
    if (source->path != NULL)
        hdx_mem_put(source->mem, source->path, strlen(source->path) + 1);
    hdx_mem_put(source->mem, source, sizeof *source);
}

const char     *hdx_source_path(const hdx_source *source) { return source->path; }
hdx_compression hdx_source_compression(const hdx_source *source)
{
    return source->lower != NULL ? source->lower->kind : source->kind;
}
uint64_t hdx_source_file_size(const hdx_source *source) { return source->file_size; }
bool     hdx_source_pieces(const hdx_source *source, char *text, size_t size)
{
    return hdx_joined_text(source->joined, text, size);
}

/* Other threads still change a const source; only locks and what they guard are not const. */
static hdx_source *shared(const hdx_source *source) { return (hdx_source *)(uintptr_t)source; }

bool hdx_source_size(const hdx_source *source, uint64_t *size)
{
    if (source->overlay.context != NULL)
        return source->overlay.size(source->overlay.context, size);
    return hdx_source_size_below(source, size);
}

bool hdx_source_size_below(const hdx_source *source, uint64_t *size)
{
    if (source->kind != HDX_PLAIN)
        return hdx_points_size(&shared(source)->points, size);
    *size = source->file_size;
    return true;
}

hdx_code hdx_source_read_at(hdx_source *source, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err)
{
    return hdx_source_near(source, at, to, want, got) ? HDX_OK
                                                      : hdx_source_read_straight(source, at, to, want, got, err);
}

hdx_code hdx_source_read_straight(hdx_source *source, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err)
{
    if (source->overlay.context != NULL)
        return source->overlay.read_at(source->overlay.context, at, to, want, got, err);
    return hdx_source_below(source, at, to, want, got, err);
}

void hdx_source_overlay(hdx_source *source, const hdx_overlay *overlay) { source->overlay = *overlay; }
bool hdx_source_absent(hdx_source *source, hdx_pos at)
{
    return source->overlay.context != NULL && source->overlay.absent(source->overlay.context, at);
}
void    *hdx_source_overlay_of(const hdx_source *source) { return source->overlay.context; }
hdx_mem *hdx_source_mem(const hdx_source *source) { return source->mem; }

hdx_code hdx_source_below(hdx_source *source, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err)
{
    if (source->kind == HDX_PLAIN)
        return hdx_source_file_read(source, at, to, want, got, err);
    return hdx_cache_read(source->cache, at, to, want, got, err);
}

size_t hdx_source_damage(const hdx_source *source, const hdx_damage **entries)
{
    hdx_damage_list *list = &shared(source)->damage;
    *entries = NULL;
    if (source->kind == HDX_PLAIN)
        return 0;
    (void)pthread_mutex_lock(&list->lock);
    size_t count = list->count;
    (void)pthread_mutex_unlock(&list->lock);
    *entries = list->entries;
    return count;
}
