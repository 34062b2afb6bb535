/*
 * index.c - the conductor: finds a valid index or builds one; the order of the passes, the choice of the width, the
 * commit. It calls place.c, part.c and lock.c, and none of them calls it.
 */
#include "making/checkpoint.h"
#include "source/joined.h"
#include <heapdex/heapdex.h>

#include <stdio.h>

const char *hdx_version(void) { return HEAPDEX_VERSION; }

static void notice(const hdx_index_options *options, const char *line)
{
    if (options->notice != NULL)
        options->notice(options->notice_context, line);
}

void hdx_report_from(const hdx_manifest *m, hdx_index_report *r)
{
    r->objects = m->objects;
    r->live_objects = m->live_objects;
    r->references = m->references;
    r->wall_ns = m->wall_ns;
    r->peak_rss = m->peak_rss;
    r->bytes = 0;
    for (uint32_t i = 0; i < HDX_KINDS_MAX; i++)
        r->bytes += m->files[i].bytes;
    r->step_count = m->step_count < HDX_STEPS_MAX ? m->step_count : HDX_STEPS_MAX;
    for (unsigned i = 0; i < r->step_count; i++) {
        memcpy(r->steps[i].name, m->steps[i].name, sizeof r->steps[i].name);
        r->steps[i].wall_ns = m->steps[i].wall_ns;
        r->steps[i].cpu_ns = m->steps[i].cpu_ns;
        r->steps[i].peak_bytes = m->steps[i].peak_bytes;
        r->steps[i].written_bytes = m->steps[i].written_bytes;
    }
}

void hdx_report_add_catalog(hdx_io *io, hdx_index_report *r)
{
    static const char *const names[] = { "catalog.mdb", "catalog.sum" };
    for (size_t i = 0; i < 2; i++) {
        char        path[4200];
        struct stat st;
        (void)snprintf(path, sizeof path, "%s/%s", r->path, names[i]);
        if (io->stat(io, path, &st) >= 0)
            r->bytes += (uint64_t)st.st_size;
    }
}

static hdx_code first_pass(hdx_build *b, hdx_error *err)
{
    const hdx_reading in = hdx_reading_of(b);
    hdx_index_file    seek;
    hdx_code          code;
    hdx_manifest_step_begin(b, "scan", hdx_source_file_size(b->dump.source), "bytes");
    if ((code = hdx_first_pass(&in, err)) != HDX_OK)
        return code;
    b->manifest.dump_size = b->tables.dump_size;
    hdx_build_identity(b);
    if (b->dump.windows.fd >= 0) {
        if ((code = hdx_seek_keep(&b->work, &b->dump, b->tables.dump_size, &seek, err)) != HDX_OK)
            return code;
        hdx_manifest_file_written(b, HDX_KIND_SEEK, &seek);
    }
    hdx_manifest_step_end(b);
    hdx_work_measure(&b->work, b->tables.objects);
    return HDX_OK;
}

static bool is_wide(const hdx_build *b)
{
    if (b->work.options->width != 0)
        return b->work.options->width == 64;
    const uint64_t most = b->manifest.dump_size / b->dump.survey.head.id_size +
                          b->tables.lookup.local_count; /* each needs the bytes of an id */
    return b->tables.objects >= UINT32_MAX - 2 ||
           (most >= UINT32_MAX - 2 && hdx_classes_reference_bound(&b->tables) >= UINT32_MAX - 2);
}

static void work_in(hdx_build *b, const hdx_index_home *home)
{
    assert(home->part[0] != '\0'); /* M2 */
    (void)snprintf(b->work.folder, sizeof b->work.folder, "%s", home->part);
    b->work.place = (hdx_index_place){ .io = b->work.io,
                                       .folder = b->work.folder,
                                       .mem = &b->work.mem,
                                       .threads = b->work.threads,
                                       .tick = &b->work.tick };
}

static hdx_code from_the_dump(hdx_build *b, hdx_error *err)
{
    const bool resumes = b->saving.has_scan;
    hdx_code   code;
    if (resumes)
        notice(b->work.options, b->saving.has_columns ? "resuming an earlier build in its second pass over the dump"
                                                      : "resuming an earlier build in its first pass over the dump");
    if ((code = hdx_forecast_begin(&b->work, &b->tables, err)) != HDX_OK || (code = first_pass(b, err)) != HDX_OK ||
        (!resumes && (code = hdx_counts_report(b, err)) != HDX_OK))
        return code;
    return hdx_passes(b, is_wide(b) ? 64 : 32, err);
}

/*
 * Resumes after the last completed step, or where reading of the dump was stopped. HDX_NOT_FOUND: neither is possible.
 */
static hdx_code resume(hdx_build *b, hdx_error *err)
{
    hdx_code code;
    if (hdx_checkpoint_is_there(&b->work))
        return hdx_passes_resume(b, err);
    if (!hdx_checkpoint_find_resume_files(&b->work, &b->saving))
        return HDX_NOT_FOUND;
    code = from_the_dump(b, err);
    return code == HDX_BAD_DUMP ? HDX_NOT_FOUND : code; /* the saved files may be at fault rather than the dump */
}

/* Completed work is saved if another call may resume it: not after an error of the dump or the disk. */
static bool is_saved(const hdx_build *b, hdx_code code)
{
    return (b->saving.checkpointed || b->saving.has_scan) && (code == HDX_CANCELLED || code == HDX_LIMIT);
}

/*
 * Before the dump is read: checks that the disk has room for the index and for its temporary files. A simple upper
 * bound is tried first; if less is free, a sample gives a better estimate.
 */
static hdx_code check_space(hdx_build *b, const hdx_index_home *home, hdx_error *err)
{
    const uint64_t size = hdx_source_file_size(b->dump.source),
                   most = (hdx_source_compression(b->dump.source) == HDX_PLAIN ? 2 : 100) * size + (4u << 20);
    hdx_index_options  options = *b->work.options;
    hdx_index_forecast f;
    hdx_error          own;
    uint64_t           left = 0;
    options.progress = (hdx_progress){ .cancelled = options.progress.cancelled, .context = options.progress.context };
    if (b->work.io->space(b->work.io, home->part, &left) < 0 || left >= most ||
        hdx_index_estimate(&options, &f, &own) != HDX_OK || f.disk + f.temporary <= left)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_LIMIT, home->path, HDX_NOWHERE,
                             "the index needs %llu MB on disk, %llu MB while it is built; only %.1f MB are free",
                             (unsigned long long)(f.disk >> 20) + 1,
                             (unsigned long long)((f.disk + f.temporary) >> 20) + 1, (double)left / 1048576.0),
                    "free space on that disk, or store the index elsewhere with --index-dir DIR");
}

/* Everything from the dump to the committed folder; the lock is held. */
static hdx_code build(const hdx_build_doors *doors, const hdx_index_options *options, hdx_index_home *home,
                      hdx_index_report *report, hdx_error *err)
{
    hdx_io    *io = doors->io;
    hdx_build *b = hdx_build_open(doors, options, HDX_FOR_INDEX, err);
    bool       found = false;
    hdx_error  taken;
    hdx_code   code;
    if (b == NULL)
        return err->code;
    if ((code = hdx_place_sample(io, options->dump, &b->manifest, err)) != HDX_OK ||
        (code = hdx_place_begin(io, options, home, !options->force, &found, err)) != HDX_OK)
        goto out;
    if (!found && (code = check_space(b, home, err)) != HDX_OK) /* a resumed build already has most of its files */
        goto out;
    work_in(b, home);
    code = found ? resume(b, err) : from_the_dump(b, err);
    if (found &&
        (code == HDX_NOT_FOUND || code == HDX_DAMAGED)) { /* nothing to resume, or it failed its checks: start again */
        hdx_build_close(b);
        if ((b = hdx_build_open(doors, options, HDX_FOR_INDEX, err)) == NULL) {
            hdx_place_abandon(io, home);
            return err->code;
        }
        if ((code = hdx_place_sample(io, options->dump, &b->manifest, err)) != HDX_OK ||
            (code = hdx_place_begin(io, options, home, false, &found, err)) != HDX_OK)
            goto out;
        work_in(b, home);
        code = from_the_dump(b, err);
    }
    assert(b->saving.of == &b->manifest); /* M3 */
    if (code != HDX_OK || (code = hdx_build_catalog(b, err)) != HDX_OK ||
        (code = hdx_place_unchanged(io, options->dump, &b->manifest, err)) != HDX_OK)
        goto out;
    hdx_checkpoint_remove(&b->work, &b->saving);
    code = hdx_place_commit(io, home, &b->manifest, err);
    hdx_report_from(&b->manifest, report);
out:
    if (code == HDX_IO && home->lock_fd >= 0 &&
        hdx_place_still_held(home, &taken) == HDX_BUSY) { /* files were removed during the build */
        *err = taken;
        code = HDX_BUSY;
    }
    if (!is_saved(b, code) && code != HDX_OK)
        hdx_place_abandon(io, home);
    else if (code == HDX_CANCELLED)
        (void)hdx_hint(err, code,
                       "finished steps are saved: the next run resumes after them; heapdex remove deletes them");
    if (code != HDX_OK && err != NULL && err->where[0] == '\0')
        (void)snprintf(err->where, sizeof err->where, "%s", options->dump);
    hdx_build_close(b);
    return code;
}

/* Finds the dump if an index folder was named instead: it may be next to it. */
static hdx_code open_folder(const hdx_index_options *options, hdx_io *io, hdx_index_report *report, hdx_error *err)
{
    hdx_catalog *catalog = NULL;
    size_t       len = strlen(options->dump);
    if (options->force || options->index_dir != NULL)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, options->dump, HDX_NOWHERE, "is an index; %s needs a dump",
                                 options->force ? "--force" : "--index-dir"),
                        "name the dump of this index");
    hdx_code code = hdx_catalog_open(io, options->dump, &catalog, err);
    if (code != HDX_OK)
        return code;
    const hdx_manifest *m = hdx_catalog_manifest(catalog);
    const char         *slash;
    if (options->dump_number > 1 && options->dump_number != m->dump_number) { /* 1 is the default */
        code = hdx_fail(err, HDX_USAGE, options->dump, HDX_NOWHERE, "is the index of dump number %u, not %u",
                        m->dump_number, options->dump_number);
        hdx_catalog_close(catalog);
        return code;
    }
    while (len > 1 && options->dump[len - 1] == '/')
        len--;
    (void)snprintf(report->path, sizeof report->path, "%.*s", (int)len, options->dump);
    slash = strrchr(report->path, '/');
    (void)snprintf(report->dump, sizeof report->dump, "%.*s%s", slash == NULL ? 0 : (int)(slash + 1 - report->path),
                   report->path, m->dump_name);
    struct stat st;
    if (hdx_joined_stat(io, report->dump, &st) < 0 || (uint64_t)st.st_size != m->file_size)
        report->dump[0] = '\0';
    report->likeness = report->dump[0] == '\0'                    ? HDX_LIKE_NOTHING
                       : hdx_place_untouched(io, report->dump, m) ? HDX_LIKE_INODE
                                                                  : HDX_LIKE_SIZE;
    hdx_report_from(m, report);
    hdx_report_add_catalog(io, report);
    report->reused = true;
    hdx_catalog_close(catalog);
    return HDX_OK;
}

static const char *lacking(hdx_index_state state)
{
    return state == HDX_INDEX_STALE ? "the index is stale: the dump changed"
           : state == HDX_INDEX_OLD ? "the index has an older format"
                                    : "no index";
}

hdx_code hdx_index_build(const hdx_index_options *options, hdx_index_report *report, hdx_error *err)
{
    hdx_build_doors doors = { .io = hdx_io_system() };
    return hdx_index_build_through(&doors, options, report, err);
}

hdx_code hdx_index_build_through(const hdx_build_doors *doors, const hdx_index_options *options,
                                 hdx_index_report *report, hdx_error *err)
{
    hdx_io         *io = doors->io;
    hdx_index_home  home;
    hdx_index_state state = HDX_INDEX_ABSENT;
    hdx_catalog    *catalog = NULL;
    hdx_code        code;
    hdx_error       own;
    if (err == NULL)
        err = &own;
    memset(report, 0, sizeof *report);
    if (hdx_folder_is_index(io, options->dump))
        return open_folder(options, io, report, err);
    if ((code = hdx_place_find(io, options, &home, err)) != HDX_OK)
        return code;
    (void)snprintf(report->dump, sizeof report->dump, "%s", options->dump);
    if (!options->force && (code = hdx_place_state(io, &home, options, &state, &catalog, err)) != HDX_OK)
        return code;
    if (state != HDX_INDEX_VALID && options->no_build)
        return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, options->dump, HDX_NOWHERE, "%s", lacking(state)),
                        "heapdex index builds it");
    if (state != HDX_INDEX_VALID) {
        if ((code = hdx_place_lock(io, options, &home, err)) != HDX_OK)
            return code;
        if (!options->force && (code = hdx_place_state(io, &home, options, &state, &catalog, err)) !=
                                   HDX_OK) /* another process may have built it meanwhile */
            goto out;
        if (state == HDX_INDEX_STALE)
            notice(options, "the dump changed since it was indexed: rebuilding");
        else if (state == HDX_INDEX_OLD)
            notice(options, "the index has an older format: rebuilding");
        if (state != HDX_INDEX_VALID && ((code = hdx_place_replaceable(io, &home, options, err)) != HDX_OK ||
                                         (code = build(doors, options, &home, report, err)) != HDX_OK))
            goto out;
    }
    (void)snprintf(report->path, sizeof report->path, "%s", home.path);
    if (state == HDX_INDEX_VALID) {
        report->reused = true;
        report->likeness =
            hdx_place_untouched(io, options->dump, hdx_catalog_manifest(catalog)) ? HDX_LIKE_INODE : HDX_LIKE_SAMPLES;
        hdx_report_from(hdx_catalog_manifest(catalog), report);
        hdx_place_narrow(io, &home);
    }
    hdx_report_add_catalog(io, report);
out:
    hdx_catalog_close(catalog);
    hdx_place_unlock(&home);
    return code;
}

hdx_code hdx_index_remove(const hdx_index_options *options, char *path, size_t path_size, hdx_error *err)
{
    hdx_io        *io = hdx_io_system();
    hdx_index_home home;
    struct stat    st;
    bool           found;
    hdx_code       code = hdx_place_find_made(io, options, &home, err);
    if (code != HDX_OK || (code = hdx_place_lock(io, options, &home, err)) != HDX_OK)
        return code;
    (void)snprintf(path, path_size, "%s", home.path);
    if ((code = hdx_place_in_the_way(&home, err)) != HDX_OK ||
        (code = hdx_place_replaceable(io, &home, options, err)) != HDX_OK) {
        hdx_place_unlock(&home);
        return code;
    }
    found = hdx_folder_is_index(io, home.path);
    if (io->stat(io, home.part, &st) >= 0) {
        found = true;
        (void)hdx_place_clear(io, home.part);
    }
    if (!found)
        code = hdx_fail(err, HDX_NOT_FOUND, home.path, HDX_NOWHERE, "no index");
    else if (hdx_folder_is_index(io, home.path))
        code = hdx_place_take_out(io, home.path, home.part, err);
    hdx_place_unlock(&home);
    return code;
}
