/*
 * checkpoint.c - saves what a killed or interrupted build has completed, and resumes it.
 *
 * After a step (if it took at least three seconds: order.c) the folder of the partial build contains the files of all
 * steps so far. Its folder `checkpoint` has a catalog like that of a finished index (unknown numbers are zero, no
 * roots) and the file `state`: a head of numbers, then the roots in the order of the file, the units of the spill file
 * and the chunks of referrers while those are needed, and a CRC32C of all of it. The folder is written under another
 * name and renamed, so it always belongs to a complete step. Checksums of temporary files are in the state; index files
 * contain their own.
 *
 * A later build with the same dump, parameters and version continues after that step. It trusts nothing: every file is
 * read completely and checked first (checkpoint_check.c), unless it is known to be the one that was written (seal.c);
 * if a check fails the build starts again. Files that no completed step has are removed before anything is written, and
 * links are not followed: files are created by name, and a planted name could lead anywhere. A state is valid for one
 * machine and one version, because structs are stored as they are in memory.
 */
#include "making/checkpoint.h"

#include <heapdex/heapdex.h>
#include <stddef.h>
#include <stdio.h>

#define MAGIC  0x6b63656863786468ull /* "hdxcheck" */
#define FOLDER HDX_FOLDER_CHECKPOINT
#define FRESH  HDX_FOLDER_CHECKPOINT_NEW

uint64_t hdx_checkpoint_version(const hdx_index_options *options)
{
    const uint64_t sizes[] = { sizeof(hdx_checkpoint_head),
                               sizeof(hdx_root),
                               sizeof(hdx_spilled),
                               sizeof(hdx_referrer_chunk),
                               HDX_CHECKPOINT_FORMAT,
                               HDX_INDEX_FORMAT,
                               HDX_CATALOG_FORMAT,
                               options->dump_number,
                               options->width,
                               options->until };
    return hdx_hash_bytes(hdx_hash_bytes(1, HEAPDEX_VERSION, sizeof HEAPDEX_VERSION), sizes, sizeof sizes);
}

static void path_of(const hdx_work *w, const char *folder, const char *name, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/%s%s%s", w->folder, folder, name[0] == '\0' ? "" : "/", name);
}

/* Identifies the catalog of a checkpoint by its checksum file. 0: it cannot be read. */
static uint64_t catalog_of(const hdx_work *w, const char *folder)
{
    char    path[4300];
    uint8_t bytes[256];
    int64_t got;
    path_of(w, folder, "catalog.sum", path, sizeof path);
    const int fd = w->io->open(w->io, path);
    if (fd < 0)
        return 0;
    got = w->io->read_at(w->io, fd, bytes, sizeof bytes, 0);
    (void)w->io->close(w->io, fd);
    return got <= 0 ? 0 : hdx_hash_bytes(2, bytes, (size_t)got);
}

/* ---- saving ---- */
static hdx_code save_catalog(hdx_build *b, const char *folder, hdx_error *err)
{
    hdx_catalog_writer *w = NULL;
    hdx_code            code = hdx_catalog_create(b->work.io, folder, &b->work.mem, &w, err);
    for (uint32_t i = 0; i < b->tables.class_count && code == HDX_OK; i++)
        code = hdx_catalog_put_class(w, &b->tables.classes[i], err);
    if (code == HDX_OK && (code = hdx_catalog_put_roots(w, NULL, 0, err)) == HDX_OK &&
        (code = hdx_catalog_put_threads(w, b->tables.threads, b->tables.thread_count, err)) == HDX_OK &&
        (code = hdx_catalog_put_heaps(w, b->tables.heaps, b->tables.heap_count, err)) == HDX_OK &&
        (code = hdx_catalog_put_manifest(w, &b->manifest, err)) == HDX_OK) {
        code = hdx_catalog_commit(w, err);
        w = NULL;
    }
    hdx_catalog_abandon(w);
    return code;
}

static bool has_chunks(hdx_step until, uint64_t done, uint64_t tasks)
{
    return hdx_checkpoint_referrers(until, done) || ((tasks & HDX_TASK_INBOUND) != 0 && until >= HDX_STEP_DOMINATORS);
}

static void head_of(const hdx_pass *p, uint64_t done, uint64_t tasks, hdx_checkpoint_head *h)
{
    const hdx_build *b = p->b;
    assert((tasks & ~hdx_checkpoint_tasks(done)) == 0); /* M1 */
    *h = (hdx_checkpoint_head){ .magic = MAGIC,
                                .version = hdx_checkpoint_version(b->work.options),
                                .catalog = catalog_of(&b->work, FRESH),
                                .done = done,
                                .tasks = tasks,
                                .width = p->width,
                                .until = (uint64_t)p->until,
                                .class_class = b->tables.class_class,
                                .loader_class = b->tables.loader_class,
                                .reached = p->search.reached,
                                .search_bytes = p->search.file.end,
                                .search_sum = p->search.file.sum,
                                .idoms_bytes = p->idoms.end,
                                .idoms_sum = p->idoms.sum,
                                .spill_bytes = p->columns.spill.file.end,
                                .spill_longest = p->columns.spill.longest,
                                .spill_edges = p->columns.spill.edges,
                                .referrer_bytes = p->inbound.referrers.file.end,
                                .referrer_entries = p->inbound.referrers.entries,
                                .chunk_longest = p->inbound.referrers.longest,
                                .predecessor_bytes = p->predecessors.file.end,
                                .predecessor_count = p->predecessors.count,
                                .class_instance_bytes = p->instances.file.end,
                                .class_instance_count = p->instances.count,
                                .roots = b->tables.root_count,
                                .units = hdx_checkpoint_spill(done) ? p->columns.spill.count : 0,
                                .chunks = has_chunks(p->until, done, tasks) ? p->inbound.referrers.count : 0 };
    h->bytes = sizeof *h + h->roots * sizeof(hdx_root) + h->units * sizeof(hdx_spilled) +
               h->chunks * sizeof(hdx_referrer_chunk) + 4;
}

/* Members are copied one by one: padding of a struct was never set, and is zero in the file. */
typedef struct member {
    size_t at, size;
} member;
#define MEMBER(type, name)                                                                                             \
    {                                                                                                                  \
        offsetof(type, name), sizeof(((type *)NULL)->name)                                                             \
    }

static const member root_members[] = {
    MEMBER(hdx_root, object), MEMBER(hdx_root, type), MEMBER(hdx_root, thread), MEMBER(hdx_root, frame), { 0, 0 },
};
static const member unit_members[] = {
    MEMBER(hdx_spilled, at),      MEMBER(hdx_spilled, bytes),
    MEMBER(hdx_spilled, first),   MEMBER(hdx_spilled, last),
    MEMBER(hdx_spilled, objects), MEMBER(hdx_spilled, edges),
    MEMBER(hdx_spilled, pos),     MEMBER(hdx_spilled, sum),
    MEMBER(hdx_spilled, bare),    { 0, 0 },
};
static const member chunk_members[] = {
    MEMBER(hdx_referrer_chunk, at),
    MEMBER(hdx_referrer_chunk, bytes),
    MEMBER(hdx_referrer_chunk, node),
    MEMBER(hdx_referrer_chunk, sum),
    { 0, 0 },
};

typedef struct writing {
    hdx_io  *io;
    int      fd, rc;
    uint32_t crc;
} writing;

static void put(writing *w, const void *bytes, uint64_t len)
{
    if (w->rc < 0 || len == 0)
        return;
    w->rc = w->io->write(w->io, w->fd, bytes, len);
    w->crc = hdx_crc32c(w->crc, bytes, (size_t)len);
}

static void put_array(writing *w, const void *array, uint64_t count, size_t size, const member *members)
{
    uint8_t piece[8192];
    for (uint64_t done = 0; done < count && w->rc >= 0;) {
        const uint64_t n = count - done < sizeof piece / size ? count - done : sizeof piece / size;
        assert(n > 0); /* M3 */
        memset(piece, 0, sizeof piece);
        for (uint64_t i = 0; i < n; i++)
            for (const member *m = members; m->size > 0; m++)
                memcpy(piece + i * size + m->at, (const uint8_t *)array + (done + i) * size + m->at, m->size);
        put(w, piece, n * size);
        done += n;
    }
}

static hdx_code save_state(hdx_pass *p, uint64_t done, uint64_t tasks, const char *path, hdx_error *err)
{
    hdx_build          *b = p->b;
    hdx_checkpoint_head head;
    uint8_t             sum[4];
    head_of(p, done, tasks, &head);
    if (head.catalog == 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot read back the catalog");
    int     fd = b->work.io->create(b->work.io, path), rc;
    writing w = { b->work.io, fd, fd, 0 };
    put(&w, &head, sizeof head);
    put_array(&w, b->tables.roots, head.roots, sizeof(hdx_root), root_members);
    put_array(&w, p->columns.spill.units, head.units, sizeof(hdx_spilled), unit_members);
    put_array(&w, p->inbound.referrers.chunks, head.chunks, sizeof(hdx_referrer_chunk), chunk_members);
    hdx_put32(sum, w.crc);
    put(&w, sum, sizeof sum);
    rc = w.rc;
    if (fd >= 0) {
        const int closed = b->work.io->close(b->work.io, fd);
        rc = rc < 0 ? rc : closed;
    }
    return rc < 0 ? hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot write: %s", strerror(-rc)) : HDX_OK;
}

/* Saves the bits, so that a resumed build need not read the search again; they no longer change after the searches. */
static hdx_code save_bits(hdx_pass *p, bool special, hdx_error *err)
{
    const uint64_t bytes = hdx_bits_words(p->b->tables.objects) * 8;
    assert(p->search.live != NULL && (!special || p->search.special != NULL)); /* M3 */
    hdx_resume_file *file = NULL;
    uint32_t         sum;
    hdx_code         code = hdx_resume_create(&p->b->work, &p->b->saving, HDX_RESUME_BITS, &file, err);
    if (code == HDX_OK && (code = hdx_resume_put(file, p->search.live, bytes, err)) == HDX_OK && special)
        code = hdx_resume_put(file, p->search.special, bytes, err);
    code = hdx_resume_end(file, code, &sum, err);
    p->progress.live = code == HDX_OK;
    p->progress.special = code == HDX_OK && special;
    return code;
}

hdx_code hdx_checkpoint_keep_lists(hdx_pass *p, bool referenced, hdx_error *err)
{
    const uint64_t   words = hdx_bits_words(p->b->tables.objects), has = referenced;
    hdx_resume_file *file = NULL;
    uint32_t         sum;
    hdx_code         code = hdx_resume_create(&p->b->work, &p->b->saving, HDX_RESUME_LISTS, &file, err);
    if (code == HDX_OK && (code = hdx_resume_put(file, &has, sizeof has, err)) == HDX_OK && referenced &&
        (code = hdx_resume_put(file, p->referenced.once, words * 8, err)) == HDX_OK)
        code = hdx_resume_put(file, p->referenced.many, words * 8, err);
    if (code == HDX_OK)
        code = hdx_packed_keep(&p->objects.outbound, hdx_resume_put, file, err);
    code = hdx_resume_end(file, code, &sum, err);
    p->progress.lists = code == HDX_OK;
    return code;
}

hdx_code hdx_checkpoint_take_lists(hdx_pass *p, hdx_error *err)
{
    hdx_build       *b = p->b;
    const uint64_t   words = hdx_bits_words(b->tables.objects);
    uint64_t         has = 0;
    hdx_resume_file *file = NULL;
    uint32_t         sum;
    hdx_code         code = hdx_resume_open(&b->work, &b->saving, HDX_RESUME_LISTS, &file, &sum, err);
    if (code == HDX_OK && (code = hdx_resume_get(file, &has, sizeof has, err)) == HDX_OK && has != 0) {
        p->referenced.once = hdx_mem_array(&b->work.mem, words, 8);
        p->referenced.many = hdx_mem_array(&b->work.mem, words, 8);
        if (p->referenced.once == NULL || p->referenced.many == NULL)
            code = hdx_no_memory(err, "the set of referenced objects", b->tables.objects / 4);
        else if ((code = hdx_resume_get(file, p->referenced.once, words * 8, err)) == HDX_OK)
            code = hdx_resume_get(file, p->referenced.many, words * 8, err);
    }
    if (has == 0)
        (void)atomic_fetch_and(&p->progress.tasks, ~(uint64_t)HDX_TASK_REFERENCED);
    if (code == HDX_OK &&
        (code = hdx_packed_new(&p->objects.outbound, b->tables.objects, &b->work.mem, err)) == HDX_OK &&
        (code = hdx_packed_restore(&p->objects.outbound, &b->work.mem, hdx_resume_get, file, err)) == HDX_OK &&
        p->objects.outbound.edges != p->columns.spill.edges)
        code = hdx_resume_refuse(err);
    hdx_resume_close(file);
    return code;
}

hdx_code hdx_checkpoint_save(hdx_pass *p, uint64_t done, uint64_t tasks, hdx_error *err)
{
    hdx_build *b = p->b;
    char       fresh[4200], path[4200], state[4300];
    int        rc;
    hdx_code   code;
    assert(done != 0 && p->until != 0); /* M1, M3 */
    path_of(&b->work, FRESH, "", fresh, sizeof fresh);
    path_of(&b->work, FOLDER, "", path, sizeof path);
    path_of(&b->work, FRESH, "state", state, sizeof state);
    if ((rc = hdx_folder_clear(b->work.io, fresh)) < 0 || (rc = b->work.io->mkdir(b->work.io, fresh)) < 0)
        return hdx_fail(err, HDX_IO, fresh, HDX_NOWHERE, "cannot write a checkpoint: %s", strerror(-rc));
    const bool searched = hdx_checkpoint_search(p->until, done), special = searched || (tasks & HDX_TASK_NEAREST) != 0;
    if ((searched || (tasks & HDX_TASK_SEARCH) != 0) && !(p->progress.live && (p->progress.special || !special)) &&
        (code = save_bits(p, special, err)) != HDX_OK)
        return code;
    if ((code = hdx_temp_keep(&p->idoms, err)) != HDX_OK || (code = save_catalog(b, fresh, err)) != HDX_OK ||
        (code = save_state(p, done, tasks, state, err)) != HDX_OK)
        return code;
    if (b->saving.checkpointed)
        rc = b->work.io->exchange(b->work.io, fresh, path);
    if (!b->saving.checkpointed || rc < 0) {
        (void)hdx_folder_clear(b->work.io, path);
        rc = b->work.io->rename(b->work.io, fresh, path);
    }
    if (rc < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot move the checkpoint into place: %s", strerror(-rc));
    (void)hdx_folder_clear(b->work.io, fresh);
    assert(b->work.folder[0] != '\0'); /* M3 */
    b->saving.checkpointed = true;
    hdx_seal_put(&b->work, &b->saving);
    return HDX_OK;
}

bool hdx_checkpoint_is_there(const hdx_work *w)
{
    char        path[4200];
    struct stat st;
    path_of(w, FOLDER, "", path, sizeof path);
    return w->io->stat(w->io, path, &st) >= 0;
}

void hdx_checkpoint_remove(hdx_work *w, hdx_saving *saving)
{
    char path[4200];
    path_of(w, FRESH, "", path, sizeof path);
    (void)hdx_folder_clear(w->io, path);
    path_of(w, FOLDER, "", path, sizeof path);
    (void)hdx_folder_clear(w->io, path);
    hdx_resume_remove(w, HDX_RESUME_BITS);
    hdx_resume_remove(w, HDX_RESUME_LISTS);
    hdx_seal_remove(w);
    saving->checkpointed = false;
}

/* ---- finding ---- */
static hdx_code unusable(hdx_error *err)
{
    return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no usable checkpoint");
}

static bool read_all(hdx_build *b, int fd, void *to, uint64_t len, uint64_t *at)
{
    const int64_t got = len == 0 ? 0 : b->work.io->read_at(b->work.io, fd, to, len, *at);
    *at += len;
    return got == (int64_t)len;
}

static bool sum_holds(hdx_build *b, int fd, uint64_t bytes)
{
    uint8_t  piece[1u << 14], sum[4];
    uint32_t crc = 0;
    for (uint64_t at = 0; at < bytes - 4;) {
        const uint64_t n = bytes - 4 - at < sizeof piece ? bytes - 4 - at : sizeof piece;
        if (!read_all(b, fd, piece, n, &at))
            return false;
        crc = hdx_crc32c(crc, piece, (size_t)n);
    }
    uint64_t at = bytes - 4;
    return read_all(b, fd, sum, 4, &at) && hdx_le32(sum) == crc;
}

/*
 * Sizes in the head must agree with the size of the file, so that no array is allocated for more than the file
 * contains.
 */
static bool head_holds(const hdx_build *b, const hdx_checkpoint_head *h, uint64_t bytes)
{
    uint64_t roots, units, chunks, sum = sizeof *h + 4;
    return h->magic == MAGIC && h->bytes == bytes && h->version == hdx_checkpoint_version(b->work.options) &&
           hdx_mul(h->roots, sizeof(hdx_root), &roots) && hdx_mul(h->units, sizeof(hdx_spilled), &units) &&
           hdx_mul(h->chunks, sizeof(hdx_referrer_chunk), &chunks) && hdx_add(sum, roots, &sum) &&
           hdx_add(sum, units, &sum) && hdx_add(sum, chunks, &sum) && sum == bytes &&
           (h->width == 32 || h->width == 64) && h->catalog == catalog_of(&b->work, FOLDER) &&
           h->class_class < b->tables.class_count && h->loader_class < b->tables.class_count &&
           (h->units == 0 || hdx_checkpoint_spill(h->done)) &&
           (h->chunks == 0 || has_chunks((hdx_step)h->until, h->done, h->tasks)) &&
           h->until == (uint64_t)(b->work.options->until == 0 ? HDX_STEP_DOMINATORS : b->work.options->until);
}

/*
 * Takes the numbers of files that belong to completed steps; files are checked against them. Later steps count from
 * zero.
 */
static void take_numbers(hdx_pass *p, const hdx_checkpoint_head *h)
{
    const uint64_t tasks = atomic_load(&p->progress.tasks);
    p->columns.spill.edges = h->spill_edges;
    if (hdx_checkpoint_spill(h->done)) {
        p->columns.spill.longest = h->spill_longest;
        p->columns.spill.file.end = h->spill_bytes;
    }
    if (hdx_checkpoint_search(p->until, h->done) || (tasks & HDX_TASK_SEARCH) != 0) {
        p->search.reached = h->reached;
        p->search.file.end = h->search_bytes;
        p->search.file.sum = (uint32_t)h->search_sum;
    }
    if (has_chunks(p->until, h->done, tasks)) {
        p->inbound.referrers.entries = h->referrer_entries;
        p->inbound.referrers.longest = h->chunk_longest;
        p->inbound.referrers.file.end = h->referrer_bytes;
    }
    if ((tasks & HDX_TASK_PREDECESSORS) != 0) {
        p->predecessors.file.end = h->predecessor_bytes;
        p->predecessors.end = h->predecessor_bytes;
        p->predecessors.count = h->predecessor_count;
    }
    if ((tasks & HDX_TASK_CLASS_INSTANCES) != 0) {
        p->instances.file.end = h->class_instance_bytes;
        p->instances.end = h->class_instance_bytes;
        p->instances.count = h->class_instance_count;
    }
    if (hdx_checkpoint_has(h->done, HDX_PASS_DOMINATORS) || (tasks & HDX_TASK_IDOMS) != 0) {
        p->idoms.end = h->idoms_bytes;
        p->idoms.sum = (uint32_t)h->idoms_sum;
    }
}

/* Tasks of an incomplete step are repeated unless a seal shows that their files are unchanged. */
static void take_tasks(hdx_pass *p, const hdx_checkpoint_head *h)
{
    hdx_build *b = p->b;
    b->saving.sealed = hdx_checkpoint_is_sealed(p, h->done, 0);
    p->progress.lists = b->saving.sealed && hdx_checkpoint_has(h->done, HDX_PASS_OBJECTS) &&
                        !hdx_checkpoint_has(h->done, HDX_PASS_REFERENCES) &&
                        hdx_seal_has(&b->work, &b->saving, HDX_RESUME_LISTS);
    if (h->tasks != 0 && (h->tasks & ~hdx_checkpoint_tasks(h->done)) == 0 && b->saving.sealed &&
        hdx_checkpoint_is_sealed(p, h->done, h->tasks)) {
        atomic_store(&p->progress.tasks, h->tasks);
        p->progress.lists = p->progress.lists || ((h->tasks & HDX_TASK_COLUMNS) != 0 && p->until >= HDX_STEP_OUTBOUND);
        return;
    }
    for (unsigned kind = 0; kind < HDX_KINDS; kind++)
        if (hdx_checkpoint_makes(h->tasks, (hdx_kind)kind))
            memset(&b->manifest.files[kind], 0, sizeof b->manifest.files[kind]);
}

static hdx_code read_state(hdx_pass *p, int fd, uint64_t bytes, uint64_t *done, hdx_error *err)
{
    hdx_build          *b = p->b;
    hdx_checkpoint_head h;
    uint64_t            at = 0;
    if (bytes < sizeof h + 4 || !read_all(b, fd, &h, sizeof h, &at) || !head_holds(b, &h, bytes) ||
        !sum_holds(b, fd, bytes))
        return unusable(err);
    p->width = (unsigned)h.width;
    p->until = (hdx_step)h.until;
    take_tasks(p, &h);
    b->tables.class_class = (uint32_t)h.class_class;
    b->tables.loader_class = (uint32_t)h.loader_class;
    b->tables.roots = hdx_mem_array(&b->work.mem, h.roots, sizeof *b->tables.roots);
    p->columns.spill.units = hdx_mem_array(&b->work.mem, h.units, sizeof *p->columns.spill.units);
    p->inbound.referrers.chunks = hdx_mem_array(&b->work.mem, h.chunks, sizeof *p->inbound.referrers.chunks);
    b->tables.root_count = b->tables.root_capacity = b->tables.roots == NULL ? 0 : h.roots;
    p->columns.spill.count = p->columns.spill.capacity = p->columns.spill.units == NULL ? 0 : h.units;
    p->columns.spill.open = true; /* set even on failure: closing frees the units */
    (void)pthread_mutex_init(&p->columns.spill.lock, NULL);
    p->inbound.referrers.count = p->inbound.referrers.capacity = p->inbound.referrers.chunks == NULL ? 0 : h.chunks;
    if (b->tables.roots == NULL || p->columns.spill.units == NULL || p->inbound.referrers.chunks == NULL)
        return hdx_no_memory(err, "a checkpoint", bytes);
    if (!read_all(b, fd, b->tables.roots, h.roots * sizeof(hdx_root), &at) ||
        !read_all(b, fd, p->columns.spill.units, h.units * sizeof(hdx_spilled), &at) ||
        !read_all(b, fd, p->inbound.referrers.chunks, h.chunks * sizeof(hdx_referrer_chunk), &at))
        return unusable(err);
    if (!has_chunks(p->until, h.done, atomic_load(&p->progress.tasks)))
        p->inbound.referrers.count = 0; /* of a task that will be repeated */
    take_numbers(p, &h);
    *done = h.done;
    return HDX_OK;
}

static bool same_dump(const hdx_manifest *now, const hdx_manifest *then)
{
    return now->file_size == then->file_size && now->file_mtime_ns == then->file_mtime_ns &&
           memcmp(now->file_sample, then->file_sample, sizeof now->file_sample) == 0 &&
           strcmp(then->heapdex, HEAPDEX_VERSION) == 0;
}

hdx_code hdx_build_tables_from(hdx_build *b, hdx_catalog *from, hdx_error *err)
{
    const hdx_class      *classes;
    const hdx_thread     *threads;
    const hdx_heap_space *heaps;
    uint32_t              class_count;
    uint64_t              thread_count, heap_count;
    hdx_code              code;
    if ((code = hdx_catalog_classes(from, &classes, &class_count, err)) != HDX_OK ||
        (code = hdx_catalog_threads(from, &threads, &thread_count, err)) != HDX_OK ||
        (code = hdx_catalog_heaps(from, &heaps, &heap_count, err)) != HDX_OK)
        return code;
    b->manifest = *hdx_catalog_manifest(from);
    b->tables.objects = b->manifest.objects;
    b->tables.dump_size = b->manifest.dump_size;
    b->tables.classes = hdx_mem_array(&b->work.mem, class_count, sizeof *b->tables.classes);
    b->tables.threads = hdx_mem_array(&b->work.mem, thread_count, sizeof *b->tables.threads);
    b->tables.heaps = hdx_mem_array(&b->work.mem, heap_count, sizeof *b->tables.heaps);
    b->tables.class_count = b->tables.classes == NULL ? 0 : class_count;
    b->tables.thread_count = b->tables.threads == NULL ? 0 : thread_count;
    b->tables.heap_count = b->tables.heaps == NULL ? 0 : heap_count;
    if (b->tables.classes == NULL || b->tables.threads == NULL || b->tables.heaps == NULL)
        return hdx_no_memory(err, "a checkpoint", 0);
    if (class_count > 0)
        memcpy(b->tables.classes, classes, class_count * sizeof *classes);
    if (thread_count > 0)
        memcpy(b->tables.threads, threads, thread_count * sizeof *threads);
    if (heap_count > 0)
        memcpy(b->tables.heaps, heaps, heap_count * sizeof *heaps);
    b->tables.sizing = (hdx_sizing){ b->manifest.id_size, b->manifest.reference_size, b->manifest.alignment,
                                     b->manifest.stated_sizes, 0 };
    memcpy(b->work.place.identity, b->manifest.identity, sizeof b->work.place.identity);
    hdx_work_measure(&b->work, b->tables.objects);
    return hdx_classes_find_objects(&b->tables, err);
}

static hdx_code read_catalog(hdx_build *b, hdx_error *err)
{
    const hdx_manifest now = b->manifest;
    const hdx_code     code = hdx_build_tables_from(b, b->resumed, err);
    memcpy(b->manifest.dump_name, now.dump_name, sizeof now.dump_name);
    b->manifest.file_inode = now.file_inode;
    return code;
}

/* All files were read: seals them, so that a build that is stopped now need not read them again. */
static void seal_checked(hdx_pass *p, uint64_t done)
{
    if (hdx_checkpoint_search(p->until, done))
        (void)save_bits(p, true, NULL);
    hdx_seal_put(&p->b->work, &p->b->saving);
}

hdx_code hdx_checkpoint_load(hdx_pass *p, uint64_t *done, hdx_error *err)
{
    hdx_build  *b = p->b;
    char        folder[4200], state[4300];
    struct stat st;
    int         fd;
    hdx_code    code;
    path_of(&b->work, FOLDER, "", folder, sizeof folder);
    path_of(&b->work, FOLDER, "state", state, sizeof state);
    if (!hdx_checkpoint_is_plain(&b->work) || b->work.io->stat(b->work.io, state, &st) < 0 ||
        hdx_catalog_open(b->work.io, folder, &b->resumed, err) != HDX_OK || b->resumed == NULL ||
        !same_dump(&b->manifest, hdx_catalog_manifest(b->resumed)) || (fd = b->work.io->open(b->work.io, state)) < 0)
        return unusable(err);
    hdx_seal_get(&b->work, &b->saving);
    if ((code = read_catalog(b, err)) == HDX_OK)
        code = read_state(p, fd, (uint64_t)st.st_size, done, err);
    (void)b->work.io->close(b->work.io, fd);
    if (code == HDX_OK && (code = hdx_checkpoint_check(p, *done, err)) == HDX_OK && !b->saving.sealed)
        seal_checked(p, *done);
    /* a budget too small for the check, or a cancellation, does not make the checkpoint invalid */
    b->saving.checkpointed = code == HDX_OK || code == HDX_LIMIT || code == HDX_CANCELLED;
    return code;
}
