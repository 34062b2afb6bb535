/*
 * view.c - a view of an index: the heap with some roots or references excluded, or with other object sizes. What
 * depends on that (special, dominator, nearest, dominators, dominated, retained) is computed again and stored in a
 * folder views/NAME in the index; everything else is read from the files of the index.
 *
 * In:  a complete index; types of roots, pairs of objects.
 * Out: the folder, which exists once it is renamed. An interrupted view leaves its work in .heapdex-part-NAME, where
 *      its next build resumes (view_checkpoint.c). Other views are not changed.
 * A view is opened like an index because it has its own catalog: roots that count, live objects by class and heap.
 * Cost: reading outbound, then the steps references, dominators and retained of a build without transposing: about half
 *       of the CPU time of a build of a plain dump, a third for a compressed one.
 */
#include "making/checkpoint.h"

#include "base/own.h"

#include <errno.h>
#include <heapdex/heapdex.h>
#include <stdio.h>

typedef struct view_home {
    hdx_index_home index;
    char           views[4200]; /* folders of all views; of this one, and while it is being built: */
    char           path[4300], part[4300];
} view_home;

static hdx_code find_home(hdx_io *io, const hdx_index_options *options, const char *name, view_home *out,
                          hdx_error *err)
{
    assert(hdx_view_name_is_one(name)); /* otherwise it could lead anywhere */
    const hdx_code code = hdx_place_find_made(io, options, &out->index, err);
    (void)snprintf(out->views, sizeof out->views, "%s/" HDX_FOLDER_VIEWS, out->index.path);
    (void)snprintf(out->path, sizeof out->path, "%s/%s", out->views, name);
    if (code != HDX_OK)
        return code;
    return hdx_own_companion_path(out->path, "part", out->part, sizeof out->part) &&
                   strlen(out->part) + 64 < sizeof out->index.part
               ? HDX_OK
               : hdx_fail(err, HDX_USAGE, out->index.path, HDX_NOWHERE, "path too long");
}

/*
 * Links are not followed, because their targets are not ours. What an earlier build of the view saved is left as it is;
 * if there is nothing, hdx_passes_view creates the folder.
 */
static hdx_code make_folders(hdx_io *io, const view_home *home, hdx_error *err)
{
    struct stat st;
    hdx_code    code = hdx_place_holds_other(home->path, err);
    if (code != HDX_OK)
        return code;
    int rc = io->mkdir(io, home->views);
    if (rc >= 0)
        io->share(io, home->views, &home->index.access);
    if (rc == -EEXIST && lstat(home->views, &st) == 0 && S_ISDIR(st.st_mode))
        rc = 0;
    if (rc >= 0 && (code = hdx_place_foreign(home->part, err)) != HDX_OK)
        return code;
    if (rc >= 0 && !hdx_place_is_ours(home->part))
        rc = hdx_place_clear(io, home->part);
    return rc >= 0 ? HDX_OK
                   : hdx_fail(err, HDX_IO, home->part, HDX_NOWHERE, "cannot create the folder of the view: %s",
                              strerror(-rc));
}

/* ---- from the index ---- */
static hdx_code check_index(const hdx_manifest *m, const hdx_view_wanted *want, const char *path, hdx_error *err)
{
    if (m->step < HDX_STEP_DOMINATORS)
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "the index is partial: it has no dominators"),
                        "heapdex index completes it");
    if (m->view[0] != '\0' || memcmp(m->identity, want->index, sizeof m->identity) != 0)
        return hdx_hint(err, hdx_fail(err, HDX_BUSY, path, HDX_NOWHERE, "the index was rebuilt in the meantime"),
                        "ask again");
    if (m->stated_sizes && want->layout != HDX_LAYOUT_MAT)
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE,
                        "an Android dump states object sizes; HotSpot layouts do not apply");
    if (m->objects > UINT64_MAX / 4 || m->classes == 0)
        return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "%llu objects of %llu classes",
                        (unsigned long long)m->objects, (unsigned long long)m->classes);
    return HDX_OK;
}

/* Takes the roots that count, sorted by object as in the catalog. */
static hdx_code take_roots(hdx_build *b, uint32_t without, hdx_error *err)
{
    hdx_dump_tables *t = &b->tables;
    const hdx_root  *roots;
    uint64_t         count;
    hdx_code         code = hdx_catalog_roots(b->index, &roots, &count, err);
    if (code != HDX_OK)
        return code;
    if ((t->roots = hdx_mem_array(&b->work.mem, count, sizeof *t->roots)) == NULL)
        return hdx_no_memory(err, "GC roots", count * sizeof *t->roots);
    t->root_capacity = count;
    for (uint64_t i = 0; i < count; i++)
        if ((without >> roots[i].type & 1) == 0)
            t->roots[t->root_count++] = roots[i];
    return HDX_OK;
}

/* The manifest of the index, without what is computed again. */
static void begin_manifest(hdx_build *b, const hdx_view_wanted *want)
{
    hdx_manifest *m = &b->manifest;
    uint8_t       identity[16];
    for (unsigned k = 0; k < HDX_KINDS; k++)
        if (hdx_kind_of_view((hdx_kind)k))
            memset(&m->files[k], 0, sizeof m->files[k]);
    memset(m->steps, 0, sizeof m->steps);
    m->step_count = 0;
    m->specials = m->dominators = m->live_objects = m->live_bytes = 0;
    m->roots = b->tables.root_count;
    (void)snprintf(m->heapdex, sizeof m->heapdex, "%s", HEAPDEX_VERSION);
    (void)snprintf(m->view, sizeof m->view, "%s", want->name);
    (void)snprintf(m->view_spec, sizeof m->view_spec, "%s", want->spec);
    m->view_layout = want->layout;
    hdx_view_identity(m->identity, want->name, want->spec, identity);
    memcpy(m->identity, identity, sizeof identity);
}

/* Hashes all that must be equal to resume: an earlier build with the same words may have excluded other references. */
static uint64_t version_of(const hdx_build *b, const hdx_view_wanted *want)
{
    const uint64_t numbers[] = { hdx_checkpoint_version(b->work.options), want->roots, want->cut_count };
    const uint64_t hash =
        hdx_hash_bytes(hdx_hash_bytes(1, b->manifest.identity, sizeof b->manifest.identity), numbers, sizeof numbers);
    return hdx_hash_bytes(hash, want->cuts, want->cut_count * sizeof *want->cuts);
}

static hdx_code prepare(hdx_build *b, const view_home *home, const hdx_view_wanted *want, hdx_error *err)
{
    hdx_code code = hdx_catalog_open(b->work.io, home->index.path, &b->index, err);
    if (code != HDX_OK || (code = check_index(hdx_catalog_manifest(b->index), want, home->index.path, err)) != HDX_OK ||
        (code = hdx_build_tables_from(b, b->index, err)) != HDX_OK ||
        (code = take_roots(b, want->roots, err)) != HDX_OK)
        return code;
    if (!hdx_model_lay_out((hdx_jvm_layout)want->layout, &b->tables.sizing, b->tables.classes, b->tables.class_count,
                           &b->work.mem))
        return hdx_no_memory(err, "sizes of classes", b->tables.class_count * sizeof(uint64_t));
    begin_manifest(b, want);
    (void)snprintf(b->work.folder, sizeof b->work.folder, "%.*s", (int)sizeof b->work.folder - 1, home->part);
    b->work.place = (hdx_index_place){ .io = b->work.io,
                                       .folder = b->work.folder,
                                       .mem = &b->work.mem,
                                       .threads = b->work.threads,
                                       .tick = &b->work.tick };
    b->index_place = b->work.place;
    b->index_place.folder = home->index.path;
    memcpy(b->index_place.identity, hdx_catalog_manifest(b->index)->identity, sizeof b->index_place.identity);
    memcpy(b->work.place.identity, b->manifest.identity, sizeof b->work.place.identity);
    b->saving.version = version_of(b, want);
    return HDX_OK;
}

/* ---- putting it in place ---- */
static hdx_code commit(hdx_io *io, const view_home *home, hdx_error *err)
{
    hdx_code code = hdx_place_still_held(&home->index, err);
    int      rc;
    if (code != HDX_OK)
        return code;
    hdx_folder_share(io, home->part, &home->index.access);
    if ((rc = hdx_io_sync_files(io, home->part)) < 0)
        return hdx_fail(err, HDX_IO, home->part, HDX_NOWHERE, "cannot sync: %s", strerror(-rc));
    return hdx_place_put(io, home->part, home->path, true, err);
}

static unsigned width_of(const hdx_build *b)
{
    const hdx_index_options *options = b->work.options;
    const bool wide = b->tables.objects >= UINT32_MAX - 2 || b->manifest.outbound_values >= UINT32_MAX - 2;
    return options->width != 0 ? options->width : wide ? 64 : 32;
}

static hdx_code build(const hdx_build_doors *doors, const hdx_index_options *options, const view_home *home,
                      const hdx_view_wanted *want, hdx_index_report *report, hdx_error *err)
{
    hdx_build *b = hdx_build_blank(doors, options, err);
    hdx_code   code;
    if (b == NULL)
        return HDX_LIMIT;
    if ((code = prepare(b, home, want, err)) == HDX_OK && (code = make_folders(b->work.io, home, err)) == HDX_OK) {
        if ((code = hdx_passes_view(b, width_of(b), want->cuts, want->cut_count, err)) == HDX_OK &&
            (code = hdx_build_catalog(b, err)) == HDX_OK) {
            hdx_view_checkpoint_remove(&b->work);
            b->saving.checkpointed = false;
            code = commit(b->work.io, home, err);
        }
        if (code != HDX_OK && !(b->saving.checkpointed && (code == HDX_CANCELLED || code == HDX_LIMIT)))
            (void)hdx_place_clear(b->work.io, home->part);
        else if (code == HDX_CANCELLED)
            (void)hdx_hint(err, code, "finished steps are saved: the next build of the view resumes after them");
    }
    if (code == HDX_OK) {
        (void)snprintf(report->path, sizeof report->path, "%.*s", (int)sizeof report->path - 1, home->path);
        hdx_report_from(&b->manifest, report);
        for (unsigned k = 0; k < HDX_KINDS; k++) /* only its own files */
            if (!hdx_kind_of_view((hdx_kind)k))
                report->bytes -= b->manifest.files[k].bytes;
        hdx_report_add_catalog(b->work.io, report);
    }
    hdx_build_close(b);
    return code;
}

/* Requires an index there, and that no other process writes to it. */
static hdx_code lock(hdx_io *io, const hdx_index_options *options, view_home *home, hdx_error *err)
{
    const hdx_code code = hdx_place_lock(io, options, &home->index, err);
    if (code != HDX_OK || home->index.lock_fd >= 0)
        return code;
    return hdx_hint(err,
                    hdx_fail(err, HDX_IO, home->index.path, HDX_NOWHERE, "cannot change views in this folder: %s",
                             strerror(home->index.why_not)),
                    "copy the index to a writable folder");
}

hdx_code hdx_view_build(const hdx_index_options *options, const hdx_view_wanted *want, hdx_index_report *report,
                        hdx_error *err)
{
    const hdx_build_doors doors = { .io = hdx_io_system() };
    return hdx_view_build_through(&doors, options, want, report, err);
}

hdx_code hdx_view_build_through(const hdx_build_doors *doors, const hdx_index_options *options,
                                const hdx_view_wanted *want, hdx_index_report *report, hdx_error *err)
{
    view_home home;
    hdx_error own;
    hdx_code  code;
    if (err == NULL)
        err = &own;
    memset(report, 0, sizeof *report);
    if ((code = find_home(doors->io, options, want->name, &home, err)) != HDX_OK ||
        (code = lock(doors->io, options, &home, err)) != HDX_OK)
        return code;
    code = build(doors, options, &home, want, report, err);
    hdx_place_unlock(&home.index);
    return code;
}

hdx_code hdx_view_remove(const hdx_index_options *options, const char *name, char *path, size_t path_size,
                         hdx_error *err)
{
    hdx_io     *io = hdx_io_system();
    view_home   home;
    struct stat st;
    int         rc = 0;
    hdx_code    code;
    if ((code = find_home(io, options, name, &home, err)) != HDX_OK || (code = lock(io, options, &home, err)) != HDX_OK)
        return code;
    (void)snprintf(path, path_size, "%s", home.path);
    const bool there = lstat(home.path, &st) == 0, left = lstat(home.part, &st) == 0;
    if (left && (rc = hdx_place_clear(io, home.part)) < 0)
        code = hdx_fail(err, HDX_IO, home.part, HDX_NOWHERE, "cannot remove: %s", strerror(-rc));
    else if (there)
        code = hdx_place_take_out(io, home.path, home.part, err);
    else if (!there && !left)
        code = hdx_fail(err, HDX_NOT_FOUND, home.index.path, HDX_NOWHERE, "the index has no view %s", name);
    if (code == HDX_OK)
        (void)io->remove(io, home.views); /* removed if this was the last view */
    hdx_place_unlock(&home.index);
    return code;
}
