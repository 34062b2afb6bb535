/*
 * open.c - opens an index: the manifest immediately, everything else on first use.
 *
 * In:  the folder of an index; the path of its dump, or none.
 * Out: an hdx_graph; handles of index files, of the dump, of the catalog's tables.
 * The manifest bounds each file. No value of any file is read here.
 * Cost: opening reads the manifest and nothing that grows with the dump; opening a file reads its head.
 */
#include "graph/inside.h"

#include "indexes/folder.h"

#include <heapdex/index.h>
#include <errno.h>
#include <stdio.h>

const char hdx_file_shut;

static hdx_code check_manifest(const hdx_manifest *m, hdx_error *err);
static void     fill_summary(hdx_graph *g);

/*
 * A damaged manifest must not make a scan of all objects endless: each byte of the index address stands for at most
 * eight objects.
 */
static hdx_code check_objects(hdx_io *io, const char *folder, const hdx_manifest *m, hdx_error *err)
{
    char        path[4096];
    struct stat st;
    const int   n = snprintf(path, sizeof path, "%s/%s.hdx", folder, hdx_kind_name(HDX_KIND_ADDRESS));
    if (m->objects >> 32 == 0 ||
        (n > 0 && (size_t)n < sizeof path && io->stat(io, path, &st) >= 0 && m->objects / 8 <= (uint64_t)st.st_size))
        return HDX_OK; /* a smaller number ends in any case, and damage is reported when files are read */
    return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "the index address is too small for %llu objects",
                    (unsigned long long)m->objects);
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char  *copy = hdx_mem_get(NULL, size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

static void free_text(char *text)
{
    if (text != NULL)
        hdx_mem_put(NULL, text, strlen(text) + 1);
}

/*
 * Checks that everything in a view's manifest that does not depend on its exclusions equals the index's: those values
 * are read from the files of the index.
 */
static hdx_code check_view(const hdx_manifest *m, const hdx_manifest *index, const char *name, hdx_error *err)
{
    uint8_t identity[16];
    bool    same = m->objects == index->objects && m->classes == index->classes && m->step == index->step &&
                m->dump_size == index->dump_size && m->file_size == index->file_size &&
                m->outbound_values == index->outbound_values && m->id_size == index->id_size &&
                m->reference_size == index->reference_size && m->alignment == index->alignment &&
                m->compression == index->compression && m->stated_sizes == index->stated_sizes &&
                m->cut_from <= m->objects && m->cut_to <= m->objects && m->view_layout < HDX_LAYOUTS &&
                strcmp(m->view, name) == 0;
    for (unsigned k = 0; k < HDX_KINDS && same; k++)
        same = hdx_kind_of_view((hdx_kind)k) ||
               (strcmp(m->files[k].name, index->files[k].name) == 0 && m->files[k].bytes == index->files[k].bytes &&
                m->files[k].sum == index->files[k].sum);
    hdx_view_identity(index->identity, m->view, m->view_spec, identity);
    if (same && memcmp(identity, m->identity, sizeof identity) == 0)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "the view %s belongs to another index", name),
                    "delete it with heapdex remove --view NAME and create it with heapdex index --view NAME=SPEC");
}

/* The catalog of a view replaces that of the index, which lists the files that a view may have. */
static hdx_code open_view(hdx_graph *g, const char *name, hdx_error *err)
{
    hdx_catalog *view = NULL;
    const size_t size = strlen(g->base) + sizeof HDX_FOLDER_VIEWS + strlen(name) + 2;
    free_text(g->folder);
    g->folder = hdx_mem_get(NULL, size);
    if (g->folder == NULL)
        return hdx_no_memory(err, "paths", size);
    (void)snprintf(g->folder, size, "%s/%s/%s", g->base, HDX_FOLDER_VIEWS, name);
    hdx_code code = hdx_catalog_open(g->place.io, g->folder, &view, err);
    if (code == HDX_NOT_FOUND)
        return hdx_hint(err, hdx_fail(err, code, g->base, HDX_NOWHERE, "the index has no view %s", name),
                        "create one with heapdex index --view NAME=SPEC");
    if (code == HDX_OK && (code = check_manifest(hdx_catalog_manifest(view), err)) == HDX_OK)
        code = check_view(hdx_catalog_manifest(view), g->m, name, err);
    if (code != HDX_OK) {
        hdx_catalog_close(view);
        return code;
    }
    hdx_catalog_close(g->catalog);
    g->catalog = view;
    g->m = hdx_catalog_manifest(view);
    g->view = g->place;
    g->view.folder = g->folder;
    memcpy(g->view.identity, g->m->identity, sizeof g->view.identity);
    return HDX_OK;
}

/*
 * Returns whether the index was replaced (by a build) or removed since it was opened: files that cannot be opened for
 * that reason are not damaged.
 */
static bool has_moved(const hdx_graph *g)
{
    struct stat now;
    const int   rc = g->place.io->stat(g->place.io, g->base, &now);
    return g->inode != 0 && (rc < 0 ? rc == -ENOENT : now.st_dev != g->device || now.st_ino != g->inode);
}

static hdx_code report_moved(const hdx_graph *g, hdx_error *err)
{
    return hdx_hint(
        err, hdx_fail(err, HDX_BUSY, g->base, HDX_NOWHERE, "the index was replaced or removed while it was being read"),
        "run the command again to use the current index");
}

hdx_code hdx_graph_open(const char *index, const char *dump, hdx_graph **out, hdx_error *err)
{
    return hdx_graph_open_view(index, NULL, dump, out, err);
}

hdx_code hdx_graph_open_view(const char *index, const char *view, const char *dump, hdx_graph **out, hdx_error *err)
{
    hdx_code code;
    *out = NULL;
    if (view != NULL && !hdx_view_name_is_one(view))
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                        "'%.80s' is not a valid view name: use letters, digits, _ and -, at most %u", view,
                        HDX_VIEW_NAME_SIZE - 1);
    hdx_graph *g = hdx_mem_get(NULL, sizeof *g);
    if (g == NULL)
        return hdx_no_memory(err, "the graph", sizeof *g);
    if (pthread_mutex_init(&g->lock, NULL) != 0) {
        hdx_mem_put(NULL, g, sizeof *g);
        return hdx_no_memory(err, "a lock", sizeof g->lock);
    }
    g->labelled = hdx_map_of(NULL);
    g->base = copy_text(index);
    g->folder = copy_text(index);
    g->dump = dump != NULL ? copy_text(dump) : NULL;
    if (g->base == NULL || g->folder == NULL || (dump != NULL && g->dump == NULL)) {
        code = hdx_no_memory(err, "paths", strlen(index) + 1);
        goto out;
    }
    hdx_io *io = hdx_io_system();
    g->place = (hdx_index_place){ .io = io, .folder = g->base };
    struct stat at;
    if (io->stat(io, g->base, &at) >= 0) {
        g->device = at.st_dev;
        g->inode = at.st_ino;
    }
    if ((code = hdx_catalog_open(io, g->base, &g->catalog, err)) != HDX_OK)
        goto out;
    g->m = hdx_catalog_manifest(g->catalog);
    memcpy(g->place.identity, g->m->identity, sizeof g->place.identity);
    if ((code = check_manifest(g->m, err)) != HDX_OK || (code = check_objects(io, g->base, g->m, err)) != HDX_OK)
        goto out;
    if (hdx_graph_is_view(g)) {
        code = hdx_hint(err, hdx_fail(err, HDX_USAGE, g->base, HDX_NOWHERE, "is a view of an index, not an index"),
                        "name the index, and select the view with --view NAME");
        goto out;
    }
    if (view != NULL && (code = open_view(g, view, err)) != HDX_OK)
        goto out;
    g->objects = g->m->objects;
    g->sizing =
        hdx_sizing_in((hdx_jvm_layout)g->m->view_layout,
                      (hdx_sizing){ g->m->id_size, g->m->reference_size, g->m->alignment, g->m->stated_sizes, 0 });
    fill_summary(g);
    *out = g;
    return HDX_OK;
out:
    if ((code == HDX_DAMAGED || code == HDX_NOT_FOUND) && g->place.io != NULL && has_moved(g))
        code = report_moved(g, err);
    hdx_graph_close(g);
    return code;
}

void hdx_graph_close(hdx_graph *g)
{
    if (g == NULL)
        return;
    hdx_class_table *t = atomic_load(&g->classes);
    if (t != NULL) {
        const hdx_class **by_name = atomic_load(&g->by_name);
        if (by_name != NULL)
            hdx_mem_put(NULL, (void *)by_name, t->count * sizeof *by_name);
        hdx_mem_put(NULL, (void *)t->by_id, t->count * HDX_CLASS_TABLE_BYTES);
    }
    hdx_map_free(&g->labelled);
    hdx_arena_free(&g->labels);
    hdx_mem_put(NULL, g->local_roots.at, g->local_roots.count * sizeof *g->local_roots.at);
    hdx_source_close(atomic_load(&g->source)); /* reads windows from an index file, so it is closed first */
    for (unsigned k = 0; k < HDX_KINDS; k++) {
        void *file = atomic_load(&g->files[k]);
        if (file != NULL && file != HDX_FILE_SHUT)
            hdx_index_close((hdx_kind)k, file);
    }
    if (g->catalog != NULL)
        hdx_catalog_close(g->catalog);
    free_text(g->base);
    free_text(g->folder);
    free_text(g->dump);
    (void)pthread_mutex_destroy(&g->lock);
    hdx_mem_put(NULL, g, sizeof *g);
}

/* ---- the manifest ---- */

static hdx_code check_manifest(const hdx_manifest *m, hdx_error *err)
{
    if ((m->id_size != 4 && m->id_size != 8) || (m->reference_size != 4 && m->reference_size != 8))
        return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "id size %u, reference size %u; expected 4 or 8",
                        m->id_size, m->reference_size);
    if (m->alignment == 0 || m->alignment > 256)
        return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "object alignment %u; expected 1 to 256",
                        m->alignment);
    /* Ids and the two marker values next to them must stay distinct, also as id + 2 in the dominator file. */
    if (m->objects > UINT64_MAX / 4 || m->classes >= HDX_NO_CLASS || m->classes > m->objects)
        return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "%llu objects of %llu classes",
                        (unsigned long long)m->objects, (unsigned long long)m->classes);
    if (m->specials > m->objects || m->dominators > m->objects || m->live_objects > m->objects ||
        m->dump_size == UINT64_MAX || m->live_bytes == UINT64_MAX)
        return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "counts of the manifest contradict each other");
    return HDX_OK;
}

static void fill_summary(hdx_graph *g)
{
    const hdx_manifest *m = g->m;
    for (uint32_t i = 0; i < m->warning_count; i++)
        g->warnings[i] = m->warnings[i];
    g->summary = (hdx_graph_summary){
        .version = m->version,
        .id_size = m->id_size,
        .reference_size = m->reference_size,
        .alignment = m->alignment,
        .compressed_oops = m->compressed_oops,
        .complete = m->step >= HDX_STEP_DOMINATORS,
        .step = m->step,
        .created_ms = m->created_ms,
        .jvm = m->jvm,
        .objects = m->objects,
        .records = m->records,
        .live_objects = m->live_objects,
        .live_bytes = m->live_bytes,
        .unreachable_objects = m->unreachable_objects,
        .unreachable_bytes = m->unreachable_bytes,
        .references = m->references,
        .classes = m->classes,
        .live_classes = m->live_classes,
        .live_loaders = m->live_loaders,
        .gc_roots = m->gc_roots,
        .roots = m->roots,
        .threads = m->threads,
        .dangling_references = m->dangling_references,
        .dangling_roots = m->dangling_roots,
        .dump_number = m->dump_number,
        .dumps_in_file = m->dumps_in_file,
        .dump_size = m->dump_size,
        .file_size = m->file_size,
        .compression = (int)m->compression,
        .dump_name = m->dump_name,
        .built_at_ms = m->built_at_ms,
        .build_ns = m->wall_ns,
        .damage_count = m->damage_count,
        .damage_more = m->damage_more,
        .damage = m->damage,
        .warning_count = m->warning_count,
        .warnings = g->warnings,
        .top_records = m->record_counts[0],
        .sub_records = m->record_counts[1],
        .stripping = &m->stripping,
        .view = hdx_graph_is_view(g) ? m->view : NULL,
        .view_spec = hdx_graph_is_view(g) ? m->view_spec : NULL,
        .view_cut = m->cut_references,
        .layout = m->view_layout == HDX_LAYOUT_MAT ? NULL : hdx_jvm_layout_name((hdx_jvm_layout)m->view_layout),
    };
}

const hdx_graph_summary *hdx_graph_summary_of(const hdx_graph *g) { return &g->summary; }

bool hdx_graph_file(const hdx_graph *g, unsigned i, const char **name, uint64_t *bytes)
{
    for (unsigned k = 0; k < HDX_KINDS; k++) {
        if (g->m->files[k].name[0] == '\0' || (hdx_graph_is_view(g) && !hdx_kind_of_view((hdx_kind)k)) || i-- > 0)
            continue;
        *name = g->m->files[k].name;
        *bytes = g->m->files[k].bytes;
        return true;
    }
    if (i > 0)
        return hdx_graph_saved(g, i - 1, name, bytes);
    /* The catalog is also a file of the index; the manifest is part of it and cannot contain its size. */
    struct stat st;
    char        path[4096];
    int         n = snprintf(path, sizeof path, "%s/catalog.mdb", g->folder);
    *name = "catalog";
    *bytes =
        n > 0 && (size_t)n < sizeof path && g->place.io->stat(g->place.io, path, &st) >= 0 ? (uint64_t)st.st_size : 0;
    return true;
}

hdx_code hdx_graph_check_files(const hdx_graph *g, unsigned *count, hdx_error *err)
{
    *count = 2; /* the catalog, and the file with its checksum */
    for (unsigned k = 0; k < HDX_KINDS; k++) {
        const uint64_t bytes = g->m->files[k].bytes;
        char           path[4096], name[64];
        struct stat    st;
        if (g->m->files[k].name[0] == '\0')
            continue;
        (void)snprintf(name, sizeof name, "%s.hdx", g->m->files[k].name);
        const int n = snprintf(path, sizeof path, "%s/%s", hdx_graph_place(g, (hdx_kind)k)->folder, name);
        if (n < 0 || (size_t)n >= sizeof path || g->place.io->stat(g->place.io, path, &st) < 0)
            return hdx_fail(err, HDX_DAMAGED, name, HDX_NOWHERE, "is missing; expected %llu bytes",
                            (unsigned long long)bytes);
        if ((uint64_t)st.st_size != bytes)
            return hdx_fail(err, HDX_DAMAGED, name, HDX_NOWHERE, "%lld bytes; expected %llu", (long long)st.st_size,
                            (unsigned long long)bytes);
        ++*count;
    }
    return HDX_OK;
}

bool hdx_graph_step(const hdx_graph *g, unsigned i, const char **name, uint64_t *wall_ns, uint64_t *cpu_ns,
                    uint64_t *bytes)
{
    if (i >= g->m->step_count)
        return false;
    const hdx_manifest_step *s = &g->m->steps[i];
    *name = s->name;
    *wall_ns = s->wall_ns;
    *cpu_ns = s->cpu_ns;
    *bytes = s->written_bytes;
    return true;
}

const char *hdx_graph_record_name(bool top, uint8_t tag) { return top ? hdx_top_name(tag) : hdx_sub_name(tag); }

/* ---- index files ---- */

hdx_amounts hdx_graph_amounts(hdx_graph *g, bool with_heaps)
{
    const hdx_manifest *m = g->m;
    uint64_t            heaps = 0;
    if (with_heaps)
        (void)hdx_graph_heaps(g, &heaps);
    return (hdx_amounts){ { [HDX_OF_OBJECTS] = g->objects,
                            [HDX_OF_CLASSES] = m->classes,
                            [HDX_OF_HEAPS] = heaps,
                            [HDX_OF_SPECIALS] = m->specials,
                            [HDX_OF_DOMINATORS] = m->dominators,
                            [HDX_OF_DUMP_BYTES] = m->dump_size,
                            [HDX_OF_FILE_BYTES] = m->file_size,
                            [HDX_OF_LIVE_BYTES] = m->live_bytes,
                            [HDX_OF_CUT_FROM] = m->cut_from,
                            [HDX_OF_CUT_TO] = m->cut_to } };
}

static hdx_code open_kind(hdx_graph *g, hdx_kind kind, void **out, hdx_error *err)
{
    const hdx_index_file file = { g->m->files[kind].bytes, g->m->files[kind].sum };
    const hdx_amounts    amounts = hdx_graph_amounts(g, hdx_kind_of(kind)->below.of == HDX_OF_HEAPS);
    return hdx_index_open(hdx_graph_place(g, kind), kind, &file, &amounts, &g->note, out, err);
}

/* REQUIRES: the lock is held. */
static void *file_locked(hdx_graph *g, hdx_kind kind)
{
    void *file = atomic_load(&g->files[kind]);
    if (file == NULL) {
        hdx_error e = { .code = HDX_OK };
        hdx_code  code = HDX_OK;
        /* A file that was never written (--until, no Android heaps) is not damage: nothing is reported. */
        if (g->m->files[kind].name[0] != '\0' && (code = open_kind(g, kind, &file, &e)) != HDX_OK) {
            e.code = has_moved(g) ? report_moved(g, &e) : code;
            hdx_graph_note(g, &e);
            file = NULL;
        }
        if (file == NULL)
            file = HDX_FILE_SHUT;
        atomic_store_explicit(&g->files[kind], file, memory_order_release);
    }
    return file;
}

void *hdx_graph_open_file(hdx_graph *g, hdx_kind kind)
{
    (void)pthread_mutex_lock(&g->lock);
    void *file = file_locked(g, kind);
    (void)pthread_mutex_unlock(&g->lock);
    return file;
}

/* ---- damage ---- */

void hdx_graph_note(hdx_graph *g, const hdx_error *error)
{
    /* A missing file that the manifest names is damage as well. */
    bool             damage = error->code == HDX_DAMAGED || error->code == HDX_NOT_FOUND;
    hdx_damage_note *note = damage ? &g->note : &g->trouble;
    int              none = 0;
    if (!atomic_compare_exchange_strong(&note->state, &none, 1))
        return;
    note->error = *error;
    if (damage)
        note->error.code = HDX_DAMAGED;
    atomic_store(&note->state, 2);
}

void hdx_graph_damage(const hdx_graph *g, const char *where, const char *what, uint64_t number)
{
    hdx_error e;
    (void)hdx_fail(&e, HDX_DAMAGED, where, HDX_NOWHERE, "%s (%llu)", what, (unsigned long long)number);
    hdx_graph_note((hdx_graph *)g, &e);
}

bool hdx_graph_handle_fault(hdx_graph *g, const void *address)
{
    for (int kind = 0; kind < HDX_KINDS; kind++) {
        const void *file = atomic_load(&g->files[kind]);
        if (file == NULL || file == HDX_FILE_SHUT || !hdx_index_handle_fault(file, (hdx_kind)kind, address))
            continue;
        atomic_store(&g->faulted, kind + 1);
        return true;
    }
    return false;
}

hdx_code hdx_graph_check(hdx_graph *g, hdx_error *err)
{
    const int faulted = atomic_load(&g->faulted);
    if (faulted != 0) {
        char name[32];
        (void)snprintf(name, sizeof name, "%s.hdx", hdx_kind_name((hdx_kind)(faulted - 1)));
        (void)hdx_fail(err, HDX_DAMAGED, name, HDX_NOWHERE, "was truncated while it was being read");
        return hdx_hint(err, HDX_DAMAGED, "heapdex index --force rebuilds the index");
    }
    hdx_code code = hdx_note_check(&g->note, err);
    if (code != HDX_OK || atomic_load(&g->trouble.state) != 2)
        return code;
    if (err != NULL)
        *err = g->trouble.error;
    return g->trouble.error.code;
}

/* ---- the dump ---- */

typedef struct seek_points {
    const hdx_seek *seek;
    hdx_seek_cursor cursor;
} seek_points;

static bool next_point(void *context, hdx_source_point *out)
{
    seek_points   *s = context;
    hdx_seek_point p;
    if (!hdx_seek_next(s->seek, &s->cursor, &p))
        return false;
    *out = (hdx_source_point){ .out = p.out,
                               .bit = p.bit,
                               .header_bit = p.header_bit,
                               .window_at = p.window_at,
                               .window_size = p.window_size,
                               .window_len = p.window_len,
                               .sum = p.sum,
                               .kind = (unsigned)p.kind };
    return true;
}

static hdx_code get_window(void *context, uint64_t at, uint8_t *to, uint32_t len, hdx_error *err)
{
    hdx_graph      *g = context;
    const hdx_seek *seek = hdx_graph_use(g, HDX_KIND_SEEK);
    if (seek != NULL && hdx_seek_window(seek, at, len, to))
        return HDX_OK;
    return hdx_note_check(&g->note, err);
}

/*
 * Loads the seek points of the index. Without them (an index of the plain dump, or of an older heapdex) they are found
 * again while reading.
 */
static hdx_code load_points(hdx_graph *g, hdx_source *source, hdx_error *err)
{
    const hdx_source_windows windows = { g, NULL, get_window };
    void                    *file = file_locked(g, HDX_KIND_SEEK); /* the lock is held while the dump is opened */
    seek_points              points = { .seek = file };
    if (file == HDX_FILE_SHUT)
        return hdx_note_check(&g->note, err);
    hdx_code code = hdx_source_load_points(source, g->m->dump_size, next_point, &points, &windows, err);
    return code != HDX_OK ? code : hdx_note_check(&g->note, err);
}

static hdx_code open_source(hdx_graph *g, hdx_source **out, hdx_error *err)
{
    hdx_code code = hdx_source_open(g->dump, NULL, out, err);
    if (code != HDX_OK)
        return hdx_hint(err, code, "only values of fields and arrays need the dump; the index has everything else");
    /*
     * Another compression of the same dump is accepted, because positions are those of the uncompressed bytes. The same
     * compression with another size is not.
     */
    if ((uint32_t)hdx_source_compression(*out) == g->m->compression && hdx_source_file_size(*out) != g->m->file_size) {
        code = hdx_fail(err, HDX_BAD_DUMP, g->dump, HDX_NOWHERE,
                        "the dump changed since it was indexed: it is %llu bytes and was %llu",
                        (unsigned long long)hdx_source_file_size(*out), (unsigned long long)g->m->file_size);
        hdx_source_close(*out);
        *out = NULL;
        return hdx_hint(err, code, "rebuild the index");
    }
    if (hdx_source_compression(*out) != HDX_PLAIN && (uint32_t)hdx_source_compression(*out) == g->m->compression &&
        g->m->stripping.overlay == HDX_OVERLAY_NONE)
        code = load_points(g, *out, err);
    if (code != HDX_OK || (code = hdx_strip_overlay_set(*out, g->m->stripping.overlay, err)) != HDX_OK) {
        hdx_source_close(*out);
        *out = NULL;
    }
    return code;
}

hdx_code hdx_graph_source(hdx_graph *g, hdx_source **out, hdx_error *err)
{
    *out = atomic_load_explicit(&g->source, memory_order_acquire);
    if (*out != NULL)
        return HDX_OK;
    if (g->dump == NULL) {
        hdx_code code = hdx_fail(err, HDX_BAD_DUMP, g->m->dump_name, HDX_NOWHERE, "the dump is not available");
        return hdx_hint(err, code, "only values of fields and arrays need the dump; the index has everything else");
    }
    (void)pthread_mutex_lock(&g->lock);
    hdx_code code = HDX_OK;
    *out = atomic_load(&g->source);
    if (*out == NULL && (code = open_source(g, out, err)) == HDX_OK)
        atomic_store_explicit(&g->source, *out, memory_order_release);
    (void)pthread_mutex_unlock(&g->lock);
    return code;
}

hdx_code hdx_graph_dump(hdx_graph *g, hdx_source **out, hdx_error *err) { return hdx_graph_source(g, out, err); }

bool hdx_graph_lacks_dump(hdx_graph *g) { return atomic_load(&g->source) == NULL; }
