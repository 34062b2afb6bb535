/*
 * writer.c - writes the catalog of an index that is being built.
 *
 * In:  classes, roots, threads, heaps and the manifest, as values.
 * Out: catalog.mdb, a compact copy of catalog.tmp, and then catalog.sum, which makes it a catalog.
 * Values are encoded by values.c.
 * Cost: LMDB stores uncommitted data in its own memory, so a transaction ends every 8 MiB: no reader opens the file
 *       before its sum is written, so a single transaction would have no advantage. The map only reserves addresses; it
 *       grows between transactions.
 */
#include "catalog/store.h"
#include "catalog/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#define FIRST_MAP ((uint64_t)64 << 20)
#define BATCH     ((uint64_t)8 << 20)
#define NODE_COST 64u /* of a key: node, offset, and the branches above, a generous estimate */

typedef struct stack_end { /* end of frames in `stacks` */
    uint64_t end;
    uint32_t frames;
} stack_end;

struct hdx_catalog_writer {
    hdx_io        *io;
    hdx_mem       *mem;
    char           work[HDX_PATH_MAX], file[HDX_PATH_MAX], sum[HDX_PATH_MAX], folder[HDX_PATH_MAX];
    MDB_env       *env;
    MDB_txn       *txn;
    MDB_dbi        table;
    uint64_t       map, batch, bound;  /* bound: largest possible size of the file so far */
    uint8_t        last[HDX_KEY_ROOM]; /* greatest key */
    size_t         last_len;
    hdx_buffer     value;
    hdx_text_table texts;
    uint32_t      *numbers; /* of the texts of the current value */
    uint64_t       number_count, number_capacity;
    hdx_buffer     stacks; /* encoded frames of threads, one array of frames after the other */
    stack_end     *stack_ends;
    uint64_t       stack_count, stack_capacity;
    hdx_map        stack_of; /* address of an array of frames -> its number */
    hdx_numbers    counts;
    uint8_t        identity[16];
    bool           has_manifest, done;
};

/* ---- LMDB ---- */

static hdx_code begin(hdx_catalog_writer *w, hdx_error *err)
{
    int rc = mdb_txn_begin(w->env, NULL, 0, &w->txn);
    if (rc != 0) {
        w->txn = NULL;
        return hdx_lmdb_fail(err, rc, "cannot start writing");
    }
    return HDX_OK;
}

static bool is_full(const char *folder)
{
    struct statvfs v;
    return statvfs(folder, &v) == 0 && v.f_bavail < 16;
}

static hdx_code end(hdx_catalog_writer *w, hdx_error *err)
{
    int rc = mdb_txn_commit(w->txn);
    w->txn = NULL; /* invalid even if it fails */
    w->batch = 0;
    w->bound += 256u << 10;              /* pages that a later transaction copies, and the list of free ones */
    if (rc == EIO && is_full(w->folder)) /* LMDB returns EIO for every incomplete write */
        rc = ENOSPC;
    return rc == 0 ? HDX_OK : hdx_lmdb_fail(err, rc, "cannot write " HDX_CATALOG_WORK);
}

/* Ends the transaction if it has become large, or if the map may be too small for `cost` more. */
static hdx_code make_room(hdx_catalog_writer *w, uint64_t cost, hdx_error *err)
{
    hdx_code code;
    int      rc;
    if (w->txn == NULL) /* an earlier call failed, but the caller continues */
        return hdx_fail(err, HDX_USAGE, "catalog", HDX_NOWHERE, "writing continued after a failure");
    if (w->batch + cost <= BATCH && w->bound + cost <= w->map / 2)
        return HDX_OK;
    if ((code = end(w, err)) != HDX_OK)
        return code;
    if (w->bound + cost > w->map / 2) {
        w->map = hdx_round_up((w->bound + cost) * 4, 1 << 20);
        if ((rc = mdb_env_set_mapsize(w->env, (size_t)w->map)) != 0)
            return hdx_lmdb_fail(err, rc, "cannot map a larger " HDX_CATALOG_WORK);
    }
    return begin(w, err);
}

/* Puts w->value under the key. */
static hdx_code put(hdx_catalog_writer *w, const uint8_t *key, size_t len, hdx_error *err)
{
    hdx_code code;
    if (w->value.failed)
        return hdx_no_memory(err, "a value of the catalog", w->value.len);
    if (w->value.len > UINT32_MAX - 65536u)
        return hdx_fail(err, HDX_LIMIT, "catalog", HDX_NOWHERE, "value of %llu bytes exceeds LMDB's limit of 4 GiB",
                        (unsigned long long)w->value.len);
    /* Pages may stay half empty; a long value needs whole pages of its own. */
    uint64_t cost = w->value.len < HDX_CHUNK * 2 ? 2 * (w->value.len + NODE_COST)
                                                 : hdx_round_up(w->value.len + 16, 65536) + NODE_COST;
    if ((code = make_room(w, cost, err)) != HDX_OK)
        return code;
    MDB_val k = { len, (void *)(uintptr_t)key }, v = { (size_t)w->value.len, w->value.at };
    size_t  shorter = len < w->last_len ? len : w->last_len;
    int     order = memcmp(key, w->last, shorter), rc;
    bool    behind = order > 0 || (order == 0 && len > w->last_len);
    /* Keys in ascending order fill their pages. */
    if ((rc = mdb_put(w->txn, w->table, &k, &v, behind ? MDB_APPEND : MDB_NOOVERWRITE)) != 0)
        return rc == MDB_KEYEXIST ? hdx_fail(err, HDX_USAGE, "catalog", HDX_NOWHERE, "key %c is written twice", key[0])
                                  : hdx_lmdb_fail(err, rc, "cannot write " HDX_CATALOG_WORK);
    if (behind) {
        memcpy(w->last, key, len);
        w->last_len = len;
    }
    w->batch += cost;
    w->bound += cost;
    return HDX_OK;
}

/* ---- opening ---- */

hdx_code hdx_catalog_create(hdx_io *io, const char *folder, hdx_mem *mem, hdx_catalog_writer **out, hdx_error *err)
{
    hdx_code            code;
    hdx_catalog_writer *w = hdx_mem_get(mem, sizeof *w);
    int                 rc;
    *out = NULL;
    if (w == NULL)
        return hdx_no_memory(err, "the catalog", sizeof *w);
    w->io = io;
    w->mem = mem;
    w->value = hdx_buffer_of(mem);
    w->stacks = hdx_buffer_of(mem);
    w->stack_of = hdx_map_of(mem);
    w->map = FIRST_MAP;
    w->done = true; /* until there is a file to remove */
    hdx_text_table_init(&w->texts, mem);
    if ((code = hdx_catalog_path(w->work, folder, HDX_CATALOG_WORK, err)) != HDX_OK ||
        (code = hdx_catalog_path(w->file, folder, HDX_CATALOG_FILE, err)) != HDX_OK ||
        (code = hdx_catalog_path(w->sum, folder, HDX_CATALOG_SUM, err)) != HDX_OK ||
        (code = hdx_catalog_path(w->folder, folder, ".", err)) != HDX_OK)
        goto out;
    if (((rc = io->remove(io, w->work)) < 0 && rc != -ENOENT) ||
        ((rc = io->remove(io, w->sum)) < 0 && rc != -ENOENT)) { /* left by a build that was killed */
        code = hdx_fail(err, HDX_IO, "catalog", HDX_NOWHERE, "cannot remove files of an earlier catalog: %s",
                        strerror(-rc));
        goto out;
    }
    w->done = false;
    if ((rc = mdb_env_create(&w->env)) != 0) {
        w->env = NULL;
        code = hdx_lmdb_fail(err, rc, "cannot prepare LMDB");
        goto out;
    }
    /* Not synced: only the compact copy is permanent. */
    if ((rc = mdb_env_set_mapsize(w->env, (size_t)w->map)) != 0 ||
        (rc = mdb_env_open(w->env, w->work, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0600)) != 0) {
        code = hdx_lmdb_fail(err, rc, "cannot create " HDX_CATALOG_WORK);
        goto out;
    }
    if ((code = begin(w, err)) != HDX_OK)
        goto out;
    if ((rc = mdb_dbi_open(w->txn, NULL, 0, &w->table)) != 0)
        code = hdx_lmdb_fail(err, rc, "cannot create " HDX_CATALOG_WORK);
out:
    if (code != HDX_OK) {
        hdx_catalog_abandon(w);
        return code;
    }
    *out = w;
    return HDX_OK;
}

void hdx_catalog_abandon(hdx_catalog_writer *w)
{
    if (w == NULL)
        return;
    if (w->txn != NULL)
        mdb_txn_abort(w->txn);
    if (w->env != NULL)
        mdb_env_close(w->env);
    if (!w->done) {
        (void)w->io->remove(w->io, w->work);
        (void)w->io->remove(w->io, w->sum);
        (void)w->io->remove(w->io, w->file);
    }
    hdx_text_table_free(&w->texts);
    hdx_map_free(&w->stack_of);
    hdx_mem_put(w->mem, w->stack_ends, w->stack_capacity * sizeof *w->stack_ends);
    hdx_buffer_free(&w->stacks);
    hdx_mem_put(w->mem, w->numbers, w->number_capacity * sizeof *w->numbers);
    hdx_buffer_free(&w->value);
    hdx_mem_put(w->mem, w, sizeof *w);
}

/* ---- adding ---- */

static void start_value(hdx_catalog_writer *w)
{
    hdx_buffer_clear(&w->value);
    w->number_count = 0;
}

static hdx_code add_text(hdx_catalog_writer *w, hdx_text text, hdx_error *err)
{
    if (!hdx_mem_room(w->mem, (void **)&w->numbers, &w->number_capacity, w->number_count, sizeof *w->numbers))
        return hdx_no_memory(err, "names of the catalog", w->number_count * sizeof *w->numbers);
    return hdx_text_number(&w->texts, text, &w->numbers[w->number_count++], err);
}

static hdx_code add_fields(hdx_catalog_writer *w, const hdx_field *fields, uint32_t count, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint32_t i = 0; i < count && code == HDX_OK; i++)
        code = add_text(w, fields[i].name, err);
    return code;
}

/*
 * For later classes: data behind pointers of the class is prefetched at twice this distance, and the class itself at
 * twice that.
 */
#define NEAR 4u

void hdx_catalog_ahead(const hdx_catalog_writer *w, const hdx_class *c, uint32_t left)
{
    if (left > 4 * NEAR)
        hdx_lines_ahead(c + 4 * NEAR, sizeof *c);
    if (left > 2 * NEAR) {
        const hdx_class *next = c + 2 * NEAR;
        hdx_lines_ahead(next->name.at, next->name.len < 128 ? next->name.len : 128);
        hdx_lines_ahead(next->fields, (next->field_count < 8 ? next->field_count : 8) * sizeof *next->fields);
        hdx_lines_ahead(next->statics, (next->static_count < 8 ? next->static_count : 8) * sizeof *next->statics);
    }
    if (left > NEAR)
        hdx_text_ahead(&w->texts, c[NEAR].name);
}

hdx_code hdx_catalog_put_class(hdx_catalog_writer *w, const hdx_class *c, hdx_error *err)
{
    uint8_t  key[HDX_KEY_ROOM];
    hdx_code code;
    if (w->counts.classes >= HDX_NO_CLASS - 1)
        return hdx_fail(err, HDX_LIMIT, "catalog", HDX_NOWHERE, "more than %u classes", HDX_NO_CLASS - 1);
    if (c->number != w->counts.classes)
        return hdx_fail(err, HDX_USAGE, "catalog", HDX_NOWHERE, "class %u is written as number %llu", c->number,
                        (unsigned long long)w->counts.classes);
    start_value(w);
    if ((code = add_text(w, c->name, err)) != HDX_OK ||
        (code = add_fields(w, c->fields, c->field_count, err)) != HDX_OK ||
        (code = add_fields(w, c->statics, c->static_count, err)) != HDX_OK)
        return code;
    hdx_encode_class(&w->value, c, w->numbers);
    code = put(w, key, hdx_key_numbered(key, HDX_KEY_CLASS, c->number), err);
    w->counts.classes += code == HDX_OK;
    return code;
}

static int compare_roots(const hdx_root *a, const hdx_root *b)
{
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

hdx_code hdx_catalog_put_roots(hdx_catalog_writer *w, const hdx_root *roots, uint64_t count, hdx_error *err)
{
    uint8_t  key[HDX_KEY_ROOM];
    hdx_id   start = HDX_NO_ID; /* first object of the previous chunk */
    uint32_t chunk = 0;
    for (uint64_t i = 0; i < count;) {
        hdx_id object = roots[i].object, last = object;
        chunk = object == start ? chunk + 1 : 0;
        start = object;
        start_value(w);
        for (; i < count && w->value.len < HDX_CHUNK - 32; i++) {
            if (i > 0 && compare_roots(&roots[i - 1], &roots[i]) > 0)
                return hdx_fail(err, HDX_USAGE, "catalog", HDX_NOWHERE, "roots are not sorted: number %llu",
                                (unsigned long long)i);
            if ((unsigned)roots[i].type >= HDX_ROOT_TYPES || roots[i].frame < -1)
                return hdx_fail(err, HDX_USAGE, "catalog", HDX_NOWHERE, "root %llu has type %u, frame %d",
                                (unsigned long long)i, (unsigned)roots[i].type, (int)roots[i].frame);
            hdx_encode_root(&w->value, &roots[i], &last);
            if (w->value.failed)
                break;
        }
        hdx_code code = put(w, key, hdx_key_root(key, object, chunk), err);
        if (code != HDX_OK)
            return code;
    }
    w->counts.roots += count;
    return HDX_OK;
}

/* Encodes the frames of a thread. Threads with the same array have the same frames: those are encoded once. */
static hdx_code encode_stack(hdx_catalog_writer *w, const hdx_thread *t, hdx_view *out, hdx_error *err)
{
    const uint32_t n = t->frame_count;
    bool           fresh;
    *out = (hdx_view){ NULL, 0 };
    if (n == 0)
        return HDX_OK;
    uint64_t *place = hdx_map_put(&w->stack_of, (uint64_t)(uintptr_t)t->frames, &fresh);
    if (place == NULL)
        return hdx_no_memory(err, "stacks of the catalog", w->stacks.len);
    if (!fresh && w->stack_ends[*place].frames == n) {
        const uint64_t from = *place == 0 ? 0 : w->stack_ends[*place - 1].end;
        *out = (hdx_view){ (const uint8_t *)w->stacks.at + from, w->stack_ends[*place].end - from };
        return HDX_OK;
    }
    const uint64_t from = w->stacks.len;
    hdx_code       code = HDX_OK;
    w->number_count = 0;
    for (uint32_t k = 0; k < n && code == HDX_OK; k++) {
        const hdx_frame *f = &t->frames[k];
        if ((code = add_text(w, f->class_name, err)) != HDX_OK || (code = add_text(w, f->method, err)) != HDX_OK ||
            (code = add_text(w, f->signature, err)) != HDX_OK || (code = add_text(w, f->source, err)) != HDX_OK)
            return code;
    }
    hdx_encode_frames(&w->stacks, t, w->numbers);
    if (w->stacks.failed ||
        !hdx_mem_room(w->mem, (void **)&w->stack_ends, &w->stack_capacity, w->stack_count, sizeof *w->stack_ends))
        return hdx_no_memory(err, "stacks of the catalog", w->stacks.len);
    w->stack_ends[w->stack_count] = (stack_end){ w->stacks.len, n };
    *place = w->stack_count++;
    *out = (hdx_view){ (const uint8_t *)w->stacks.at + from, w->stacks.len - from };
    return HDX_OK;
}

hdx_code hdx_catalog_put_threads(hdx_catalog_writer *w, const hdx_thread *threads, uint64_t count, hdx_error *err)
{
    uint8_t  key[HDX_KEY_ROOM];
    hdx_code code = HDX_OK;
    if (count > UINT32_MAX - w->counts.threads)
        return hdx_fail(err, HDX_LIMIT, "catalog", HDX_NOWHERE, "%llu threads; the maximum is %u",
                        (unsigned long long)count, UINT32_MAX);
    for (uint64_t i = 0; i < count && code == HDX_OK; i++) {
        hdx_view frames;
        if ((code = encode_stack(w, &threads[i], &frames, err)) != HDX_OK)
            return code;
        start_value(w);
        hdx_encode_thread(&w->value, &threads[i], frames);
        code = put(w, key, hdx_key_numbered(key, HDX_KEY_THREAD, (uint32_t)w->counts.threads), err);
        w->counts.threads += code == HDX_OK;
    }
    return code;
}

hdx_code hdx_catalog_put_heaps(hdx_catalog_writer *w, const hdx_heap_space *heaps, uint64_t count, hdx_error *err)
{
    uint8_t  key[HDX_KEY_ROOM];
    hdx_code code = HDX_OK;
    if (count > UINT32_MAX - w->counts.heaps)
        return hdx_fail(err, HDX_LIMIT, "catalog", HDX_NOWHERE, "%llu heaps; the maximum is %u",
                        (unsigned long long)count, UINT32_MAX);
    for (uint64_t i = 0; i < count && code == HDX_OK; i++) {
        start_value(w);
        if ((code = add_text(w, heaps[i].name, err)) != HDX_OK)
            return code;
        hdx_encode_heap(&w->value, &heaps[i], w->numbers[0]);
        code = put(w, key, hdx_key_numbered(key, HDX_KEY_HEAP, (uint32_t)w->counts.heaps), err);
        w->counts.heaps += code == HDX_OK;
    }
    return code;
}

hdx_code hdx_catalog_put_manifest(hdx_catalog_writer *w, const hdx_manifest *m, hdx_error *err)
{
    uint8_t key[HDX_KEY_ROOM];
    if (m->format != HDX_CATALOG_FORMAT || m->warning_count > HDX_WARNINGS_MAX || m->step_count > HDX_STEPS_MAX ||
        m->file_count > HDX_KINDS_MAX)
        return hdx_fail(err, HDX_USAGE, "catalog", HDX_NOWHERE,
                        "manifest with format %u, %u warnings, %u steps, %u files", m->format, m->warning_count,
                        m->step_count, m->file_count);
    start_value(w);
    hdx_encode_manifest(&w->value, m);
    hdx_code code = put(w, key, hdx_key_of(key, HDX_KEY_MANIFEST), err);
    if (code == HDX_OK) {
        memcpy(w->identity, m->identity, sizeof w->identity);
        w->has_manifest = true;
    }
    return code;
}

/* ---- commit ---- */

static hdx_code put_texts(hdx_catalog_writer *w, hdx_error *err)
{
    uint8_t  key[HDX_KEY_ROOM];
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < w->texts.count && code == HDX_OK;) {
        uint32_t first = (uint32_t)i;
        hdx_buffer_clear(&w->value);
        do {
            hdx_put_number(&w->value, w->texts.texts[i].len);
            hdx_buffer_put(&w->value, w->texts.texts[i].at, w->texts.texts[i].len);
            i++;
        } while (i < w->texts.count && w->value.len + w->texts.texts[i].len + 5 <= HDX_CHUNK && !w->value.failed);
        code = put(w, key, hdx_key_numbered(key, HDX_KEY_TEXT, first), err);
    }
    w->counts.texts = w->texts.count;
    return code;
}

static hdx_code put_numbers(hdx_catalog_writer *w, hdx_error *err)
{
    uint8_t key[HDX_KEY_ROOM];
    hdx_buffer_clear(&w->value);
    hdx_encode_numbers(&w->value, &w->counts);
    return put(w, key, hdx_key_of(key, HDX_KEY_NUMBERS), err);
}

static hdx_code io_fail(hdx_error *err, int rc, const char *name, const char *doing)
{
    return hdx_fail(err, HDX_IO, name, HDX_NOWHERE, "cannot %s: %s", doing, strerror(-rc));
}

/* Makes the compact copy; returns its size and sum. */
static hdx_code copy_file(hdx_catalog_writer *w, uint64_t *size, uint32_t *crc, hdx_error *err)
{
    hdx_io        *io = w->io;
    const uint8_t *at;
    struct stat    stat;
    hdx_code       code = HDX_OK;
    int            rc, fd = io->create(io, w->file);
    if (fd < 0)
        return io_fail(err, fd, HDX_CATALOG_FILE, "create");
    rc = mdb_env_copyfd2(w->env, fd, MDB_CP_COMPACT);
    io->push(io, fd);
    if (rc != 0)
        code = hdx_lmdb_fail(err, rc, "cannot write " HDX_CATALOG_FILE);
    else if ((rc = io->stat(io, w->file, &stat)) < 0)
        code = io_fail(err, rc, HDX_CATALOG_FILE, "read");
    else if (stat.st_size <= 0)
        code = hdx_fail(err, HDX_IO, HDX_CATALOG_FILE, HDX_NOWHERE, "is empty after writing");
    else if ((rc = io->map(io, fd, *size = (uint64_t)stat.st_size, &at)) < 0)
        code = io_fail(err, rc, HDX_CATALOG_FILE, "map");
    else {
        *crc = hdx_crc32c(0, at, (size_t)*size);
        io->unmap(io, at, *size);
    }
    if ((rc = io->close(io, fd)) < 0 && code == HDX_OK)
        code = io_fail(err, rc, HDX_CATALOG_FILE, "close");
    return code;
}

static hdx_code write_sum(hdx_catalog_writer *w, uint64_t size, uint32_t crc, hdx_error *err)
{
    hdx_io  *io = w->io;
    uint8_t  bytes[HDX_SUM_SIZE];
    hdx_code code = HDX_OK;
    int      rc, fd = io->create(io, w->sum);
    if (fd < 0)
        return io_fail(err, fd, HDX_CATALOG_SUM, "create");
    hdx_encode_sum(bytes, w->identity, size, crc);
    if ((rc = io->write(io, fd, bytes, sizeof bytes)) < 0)
        code = io_fail(err, rc, HDX_CATALOG_SUM, "write");
    if ((rc = io->close(io, fd)) < 0 && code == HDX_OK)
        code = io_fail(err, rc, HDX_CATALOG_SUM, "close");
    return code;
}

static hdx_code finish(hdx_catalog_writer *w, hdx_error *err)
{
    hdx_code code;
    uint64_t size = 0;
    uint32_t crc = 0;
    int      rc;
    if (!w->has_manifest)
        return hdx_fail(err, HDX_USAGE, "catalog", HDX_NOWHERE, "commit without a manifest");
    if ((code = put_texts(w, err)) != HDX_OK || (code = put_numbers(w, err)) != HDX_OK ||
        (code = end(w, err)) != HDX_OK || (code = copy_file(w, &size, &crc, err)) != HDX_OK ||
        (code = write_sum(w, size, crc, err)) != HDX_OK)
        return code;
    mdb_env_close(w->env);
    w->env = NULL;
    if ((rc = w->io->remove(w->io, w->work)) < 0)
        return io_fail(err, rc, HDX_CATALOG_WORK, "remove");
    w->done = true;
    return HDX_OK;
}

hdx_code hdx_catalog_commit(hdx_catalog_writer *w, hdx_error *err)
{
    hdx_code code = finish(w, err);
    hdx_catalog_abandon(w); /* removes the files unless they are done */
    return code;
}
