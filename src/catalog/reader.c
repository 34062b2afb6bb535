/*
 * reader.c - reads a finished catalog.
 *
 * In:  catalog.sum and catalog.mdb of an index folder.
 * Out: the manifest immediately; texts, classes, roots, threads and heaps on first use, cached until the catalog is
 *      closed.
 * Cost: opening reads the file once (CRC32C and its pages' bounds, together some 5 GB/s) and decodes only the manifest.
 *       Texts stay in LMDB's map. One lock guards all decoding; decoded data is read without it.
 */
#include "catalog/store.h"
#include "model/model.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define OPEN_TRIES 16u /* for an index that is replaced meanwhile */

struct hdx_catalog {
    MDB_env        *env;
    MDB_txn        *txn;
    MDB_dbi         table;
    pthread_mutex_t lock; /* LMDB's transaction, and everything below that is not yet `has_` */
    hdx_manifest    manifest;
    uint64_t        damage_capacity;
    hdx_numbers     counts;
    hdx_arena       arena; /* fields, frames */

    bool            has_texts; /* only under the lock */
    hdx_text       *texts;
    _Atomic bool    has_classes, has_roots, has_threads, has_heaps;
    hdx_class      *classes;
    hdx_root       *roots;
    uint64_t        root_capacity;
    hdx_thread     *threads;
    hdx_heap_space *heaps;
};

/* ---- opening ---- */

static hdx_code read_sum(hdx_io *io, const char *path, uint8_t identity[16], uint64_t *size, uint32_t *crc,
                         hdx_error *err)
{
    uint8_t bytes[256]; /* longer than the file of any format */
    int     fd = io->open(io, path);
    if (fd == -EINVAL)
        return hdx_fail(err, HDX_DAMAGED, HDX_CATALOG_SUM, HDX_NOWHERE, "is not a regular file");
    if (fd < 0)
        return hdx_fail(err, fd == -ENOENT || fd == -ENOTDIR ? HDX_NOT_FOUND : HDX_IO, HDX_CATALOG_SUM, HDX_NOWHERE,
                        "cannot open: %s", strerror(-fd));
    int64_t got = io->read_at(io, fd, bytes, sizeof bytes, 0);
    (void)io->close(io, fd);
    if (got < 0)
        return hdx_fail(err, HDX_IO, HDX_CATALOG_SUM, HDX_NOWHERE, "cannot read: %s", strerror((int)-got));
    return hdx_decode_sum((hdx_view){ bytes, (size_t)got }, identity, size, crc, err);
}

/* Checks everything about the file that LMDB does not check. */
static hdx_code check_file(hdx_io *io, const char *path, uint64_t size, uint32_t crc, hdx_error *err)
{
    struct stat    stat;
    const uint8_t *at;
    hdx_code       code;
    int            rc, fd = io->open(io, path);
    if (fd == -EINVAL)
        return hdx_fail(err, HDX_DAMAGED, HDX_CATALOG_FILE, HDX_NOWHERE, "is not a regular file");
    if (fd < 0)
        return hdx_fail(err, fd == -ENOENT ? HDX_DAMAGED : HDX_IO, HDX_CATALOG_FILE, HDX_NOWHERE, "cannot open: %s",
                        strerror(-fd));
    if ((rc = io->stat(io, path, &stat)) < 0)
        code = hdx_fail(err, HDX_IO, HDX_CATALOG_FILE, HDX_NOWHERE, "cannot be read: %s", strerror(-rc));
    else if ((uint64_t)stat.st_size != size || size == 0)
        code = hdx_fail(err, HDX_DAMAGED, HDX_CATALOG_FILE, HDX_NOWHERE, "has %lld bytes, but catalog.sum states %llu",
                        (long long)stat.st_size, (unsigned long long)size);
    else if ((rc = io->map(io, fd, size, &at)) < 0)
        code = hdx_fail(err, rc == -ENOMEM ? HDX_LIMIT : HDX_IO, HDX_CATALOG_FILE, HDX_NOWHERE, "cannot map: %s",
                        strerror(-rc));
    else {
        uint32_t is = hdx_crc32c(0, at, (size_t)size);
        if (is != crc)
            code = hdx_fail(err, HDX_DAMAGED, HDX_CATALOG_FILE, HDX_NOWHERE, "checksum is %08x; catalog.sum has %08x",
                            is, crc);
        else
            code = hdx_check_pages((hdx_view){ at, (size_t)size }, err);
        io->unmap(io, at, size);
    }
    (void)io->close(io, fd);
    return code;
}

static hdx_code open_table(hdx_catalog *c, const char *path, uint64_t size, hdx_error *err)
{
    int rc = mdb_env_create(&c->env);
    if (rc != 0) {
        c->env = NULL;
        return hdx_lmdb_fail(err, rc, "cannot prepare LMDB");
    }
    /* The map is as large as the file, whatever its head contains; no lock file, so a read-only folder is possible. */
    if ((rc = mdb_env_set_mapsize(c->env, (size_t)size)) != 0 ||
        (rc = mdb_env_open(c->env, path, MDB_RDONLY | MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS, 0)) != 0)
        return hdx_lmdb_fail(err, rc, "cannot open " HDX_CATALOG_FILE);
    if ((rc = mdb_txn_begin(c->env, NULL, MDB_RDONLY, &c->txn)) != 0) {
        c->txn = NULL;
        return hdx_lmdb_fail(err, rc, "cannot read " HDX_CATALOG_FILE);
    }
    return (rc = mdb_dbi_open(c->txn, NULL, 0, &c->table)) == 0
               ? HDX_OK
               : hdx_lmdb_fail(err, rc, "cannot read " HDX_CATALOG_FILE);
}

static hdx_code get(hdx_catalog *c, const uint8_t *key, size_t len, hdx_view *value, hdx_error *err)
{
    MDB_val k = { len, (void *)(uintptr_t)key }, v;
    int     rc = mdb_get(c->txn, c->table, &k, &v);
    if (rc == MDB_NOTFOUND)
        return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "key %c is missing", key[0]);
    if (rc != 0)
        return hdx_lmdb_fail(err, rc, "cannot read " HDX_CATALOG_FILE);
    *value = (hdx_view){ v.mv_data, v.mv_size };
    return HDX_OK;
}

static hdx_code read_manifest(hdx_catalog *c, const uint8_t identity[16], hdx_error *err)
{
    uint8_t  key[HDX_KEY_ROOM];
    hdx_view value;
    hdx_code code;
    if ((code = get(c, key, hdx_key_of(key, HDX_KEY_MANIFEST), &value, err)) != HDX_OK ||
        (code = hdx_decode_manifest(value, &c->manifest, &c->damage_capacity, err)) != HDX_OK)
        return code;
    if (c->manifest.format != HDX_CATALOG_FORMAT)
        return hdx_fail(err, HDX_DAMAGED, "catalog", 0, "manifest format is %u; catalog.sum has %u", c->manifest.format,
                        HDX_CATALOG_FORMAT);
    if (memcmp(c->manifest.identity, identity, 16) != 0)
        return hdx_fail(err, HDX_DAMAGED, HDX_CATALOG_SUM, 16, "belongs to another catalog");
    if ((code = get(c, key, hdx_key_of(key, HDX_KEY_NUMBERS), &value, err)) != HDX_OK)
        return code;
    return hdx_decode_numbers(value, &c->counts, err);
}

static hdx_code open_once(hdx_io *io, const char *folder, hdx_catalog **out, hdx_error *err)
{
    char        sum[HDX_PATH_MAX], file[HDX_PATH_MAX];
    uint8_t     identity[16];
    uint64_t    size;
    uint32_t    crc;
    hdx_code    code;
    struct stat stat;
    *out = NULL;
    if ((code = hdx_catalog_path(sum, folder, HDX_CATALOG_SUM, err)) != HDX_OK ||
        (code = hdx_catalog_path(file, folder, HDX_CATALOG_FILE, err)) != HDX_OK)
        return code;
    if ((code = read_sum(io, sum, identity, &size, &crc, err)) != HDX_OK) {
        if (code == HDX_NOT_FOUND && io->stat(io, sum, &stat) == -ENOENT && io->stat(io, file, &stat) == 0)
            return hdx_fail(err, HDX_DAMAGED, HDX_CATALOG_SUM, HDX_NOWHERE,
                            "is missing in the folder of " HDX_CATALOG_FILE);
        return code;
    }
    if ((code = check_file(io, file, size, crc, err)) != HDX_OK)
        return code;
    hdx_catalog *c = hdx_mem_get(NULL, sizeof *c);
    if (c == NULL)
        return hdx_no_memory(err, "the catalog", sizeof *c);
    (void)pthread_mutex_init(&c->lock, NULL);
    c->arena = hdx_arena_of(NULL);
    if ((code = open_table(c, file, size, err)) != HDX_OK || (code = read_manifest(c, identity, err)) != HDX_OK) {
        hdx_catalog_close(c);
        return code;
    }
    *out = c;
    return HDX_OK;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/*
 * Between the two files that are read here, a build may replace the index, or `remove` may delete it: then the files do
 * not match, which is not damage. In that case the folder is another one, or has changed.
 */
hdx_code hdx_catalog_open(hdx_io *io, const char *folder, hdx_catalog **out, hdx_error *err)
{
    for (unsigned left = OPEN_TRIES;; left--) {
        struct stat    before, after;
        const bool     there = io->stat(io, folder, &before) >= 0;
        const hdx_code code = open_once(io, folder, out, err);
        if ((code != HDX_DAMAGED && code != HDX_NOT_FOUND && code != HDX_IO) || left == 0 || !there)
            return code;
        const int rc = io->stat(io, folder, &after);
        if (rc >= 0 ? is_same(&before, &after) : rc != -ENOENT)
            return code;
        if (rc < 0) /* removed: as if it had not existed */
            left = 1;
    }
}

void hdx_catalog_close(hdx_catalog *c)
{
    if (c == NULL)
        return;
    hdx_mem_put(NULL, c->heaps, c->counts.heaps * sizeof *c->heaps);
    hdx_mem_put(NULL, c->threads, c->counts.threads * sizeof *c->threads);
    hdx_mem_put(NULL, c->roots, c->root_capacity * sizeof *c->roots);
    hdx_mem_put(NULL, c->classes, c->counts.classes * sizeof *c->classes);
    hdx_mem_put(NULL, c->texts, c->counts.texts * sizeof *c->texts);
    hdx_mem_put(NULL, c->manifest.damage, c->damage_capacity * sizeof *c->manifest.damage);
    hdx_arena_free(&c->arena);
    if (c->txn != NULL)
        mdb_txn_abort(c->txn);
    if (c->env != NULL)
        mdb_env_close(c->env);
    (void)pthread_mutex_destroy(&c->lock);
    hdx_mem_put(NULL, c, sizeof *c);
}

const hdx_manifest *hdx_catalog_manifest(const hdx_catalog *c) { return &c->manifest; }

/* ---- all values of one letter ---- */

typedef struct scan {
    MDB_cursor *cursor;
    uint8_t     letter;
    bool        started;
} scan;

static hdx_code scan_begin(hdx_catalog *c, uint8_t letter, scan *s, hdx_error *err)
{
    *s = (scan){ .letter = letter };
    int rc = mdb_cursor_open(c->txn, c->table, &s->cursor);
    return rc == 0 ? HDX_OK : hdx_lmdb_fail(err, rc, "cannot read " HDX_CATALOG_FILE);
}

/* *more is false if the letter has no further key. */
static hdx_code scan_next(scan *s, hdx_view *key, hdx_view *value, bool *more, hdx_error *err)
{
    MDB_val k = { 1, &s->letter }, v;
    int     rc = mdb_cursor_get(s->cursor, &k, &v, s->started ? MDB_NEXT : MDB_SET_RANGE);
    s->started = true;
    *more = rc == 0 && k.mv_size > 0 && *(const uint8_t *)k.mv_data == s->letter;
    if (rc != 0 && rc != MDB_NOTFOUND)
        return hdx_lmdb_fail(err, rc, "cannot read " HDX_CATALOG_FILE);
    if (*more) {
        *key = (hdx_view){ k.mv_data, k.mv_size };
        *value = (hdx_view){ v.mv_data, v.mv_size };
    }
    return HDX_OK;
}

static hdx_code missing(hdx_error *err, const char *what, uint64_t seen, uint64_t said)
{
    return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "%llu %s; key n has %llu", (unsigned long long)seen, what,
                    (unsigned long long)said);
}

/* Allocates room for as many as key n implies, if that is possible: each needs a key and a value of its own. */
static hdx_code room_for(hdx_catalog *c, const char *what, uint64_t count, uint64_t size, void **array, hdx_error *err)
{
    MDB_stat stat;
    int      rc = mdb_stat(c->txn, c->table, &stat);
    if (rc != 0)
        return hdx_lmdb_fail(err, rc, "cannot read " HDX_CATALOG_FILE);
    if (count > stat.ms_entries)
        return missing(err, what, stat.ms_entries, count);
    if ((*array = hdx_mem_array(NULL, count, size)) == NULL)
        return hdx_no_memory(err, what, count * size);
    return HDX_OK;
}

/* Calls one(c, address of the array, number, value) for each key, which must be numbered 0 .. count - 1. */
static hdx_code decode_numbered(hdx_catalog *c, uint8_t letter, const char *what, uint64_t count,
                                hdx_code (*one)(hdx_catalog *c, uint32_t number, hdx_view value, hdx_error *err),
                                hdx_error *err)
{
    scan     s;
    hdx_view key, value;
    uint64_t n = 0;
    bool     more = true;
    hdx_code code = scan_begin(c, letter, &s, err);
    if (code != HDX_OK)
        return code;
    while ((code = scan_next(&s, &key, &value, &more, err)) == HDX_OK && more) {
        if (key.len != 5 || hdx_be32(key.at + 1) != n || n >= count) {
            code = missing(err, what, n, count);
            break;
        }
        if ((code = one(c, (uint32_t)n++, value, err)) != HDX_OK)
            break;
    }
    mdb_cursor_close(s.cursor);
    return code == HDX_OK && n != count ? missing(err, what, n, count) : code;
}

/* ---- texts ---- */

static hdx_code decode_text_chunk(hdx_catalog *c, hdx_view value, uint64_t *n, hdx_error *err)
{
    hdx_taker t = hdx_taker_of(value, "texts from number", *n, err);
    while (t.left.len > 0 && *n < c->counts.texts) {
        hdx_text text = hdx_take_text(&t);
        if (t.code == HDX_OK)
            c->texts[(*n)++] = text;
    }
    return hdx_take_end(&t);
}

static hdx_code need_texts(hdx_catalog *c, hdx_error *err)
{
    scan        s;
    hdx_view    key, value;
    uint64_t    n = 0, size = c->env != NULL ? c->counts.texts : 0;
    bool        more = true;
    hdx_code    code;
    MDB_envinfo info;
    if (c->has_texts)
        return HDX_OK;
    (void)mdb_env_info(c->env, &info);
    if (size > info.me_mapsize) /* a text needs at least a byte */
        return missing(err, "texts", info.me_mapsize, size);
    if ((c->texts = hdx_mem_array(NULL, size, sizeof *c->texts)) == NULL)
        return hdx_no_memory(err, "names of the catalog", size * sizeof *c->texts);
    if ((code = scan_begin(c, HDX_KEY_TEXT, &s, err)) == HDX_OK) {
        while ((code = scan_next(&s, &key, &value, &more, err)) == HDX_OK && more) {
            if (key.len != 5 || hdx_be32(key.at + 1) != n)
                code = missing(err, "texts", n, size);
            else
                code = decode_text_chunk(c, value, &n, err);
            if (code != HDX_OK)
                break;
        }
        mdb_cursor_close(s.cursor);
    }
    if (code == HDX_OK && n != size)
        code = missing(err, "texts", n, size);
    if (code != HDX_OK) {
        hdx_mem_put(NULL, c->texts, size * sizeof *c->texts);
        c->texts = NULL;
    }
    c->has_texts = code == HDX_OK;
    return code;
}

static hdx_texts texts_of(const hdx_catalog *c) { return (hdx_texts){ c->texts, c->counts.texts }; }

/* ---- classes ---- */

/* Checks that chains of superclasses end; otherwise walks over them would not. */
static hdx_code check_supers(const hdx_catalog *c, hdx_error *err)
{
    uint32_t at;
    if (!hdx_model_own_ancestor(c->classes, (uint32_t)c->counts.classes, NULL, &at))
        return hdx_no_memory(err, "checking classes", c->counts.classes);
    if (at != HDX_NO_CLASS)
        return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "class %u is its own ancestor", at);
    return HDX_OK;
}

static hdx_code one_class(hdx_catalog *c, uint32_t number, hdx_view value, hdx_error *err)
{
    return hdx_decode_class(value, number, &c->counts, c->manifest.objects, texts_of(c), &c->arena, &c->classes[number],
                            err);
}

static hdx_code decode_classes(hdx_catalog *c, hdx_error *err)
{
    uint64_t count = c->counts.classes;
    hdx_code code = need_texts(c, err);
    if (code != HDX_OK ||
        (code = room_for(c, "classes", count, sizeof *c->classes, (void **)&c->classes, err)) != HDX_OK)
        return code;
    if ((code = decode_numbered(c, HDX_KEY_CLASS, "classes", count, one_class, err)) == HDX_OK)
        code = check_supers(c, err);
    if (code != HDX_OK) {
        hdx_mem_put(NULL, c->classes, count * sizeof *c->classes);
        c->classes = NULL;
    }
    return code;
}

/* Decodes once: the first thread does it, others wait. */
static hdx_code once(hdx_catalog *c, _Atomic bool *has, hdx_code (*decode)(hdx_catalog *c, hdx_error *err),
                     hdx_error *err)
{
    hdx_code code = HDX_OK;
    if (atomic_load_explicit(has, memory_order_acquire))
        return HDX_OK;
    (void)pthread_mutex_lock(&c->lock);
    if (!atomic_load_explicit(has, memory_order_relaxed) && (code = decode(c, err)) == HDX_OK)
        atomic_store_explicit(has, true, memory_order_release);
    (void)pthread_mutex_unlock(&c->lock);
    return code;
}

hdx_code hdx_catalog_classes(hdx_catalog *c, const hdx_class **classes, uint32_t *count, hdx_error *err)
{
    hdx_code code = once(c, &c->has_classes, decode_classes, err);
    *classes = code == HDX_OK ? c->classes : NULL;
    *count = code == HDX_OK ? (uint32_t)c->counts.classes : 0;
    return code;
}

/* ---- threads and heaps ---- */

static hdx_code one_thread(hdx_catalog *c, uint32_t number, hdx_view value, hdx_error *err)
{
    return hdx_decode_thread(value, number, c->manifest.objects, texts_of(c), &c->arena, &c->threads[number], err);
}

static hdx_code decode_threads(hdx_catalog *c, hdx_error *err)
{
    uint64_t count = c->counts.threads;
    hdx_code code = need_texts(c, err);
    if (code != HDX_OK ||
        (code = room_for(c, "threads", count, sizeof *c->threads, (void **)&c->threads, err)) != HDX_OK)
        return code;
    if ((code = decode_numbered(c, HDX_KEY_THREAD, "threads", count, one_thread, err)) != HDX_OK) {
        hdx_mem_put(NULL, c->threads, count * sizeof *c->threads);
        c->threads = NULL;
    }
    return code;
}

hdx_code hdx_catalog_threads(hdx_catalog *c, const hdx_thread **threads, uint64_t *count, hdx_error *err)
{
    hdx_code code = once(c, &c->has_threads, decode_threads, err);
    *threads = code == HDX_OK ? c->threads : NULL;
    *count = code == HDX_OK ? c->counts.threads : 0;
    return code;
}

static hdx_code one_heap(hdx_catalog *c, uint32_t number, hdx_view value, hdx_error *err)
{
    return hdx_decode_heap(value, number, texts_of(c), &c->heaps[number], err);
}

static hdx_code decode_heaps(hdx_catalog *c, hdx_error *err)
{
    uint64_t count = c->counts.heaps;
    hdx_code code = need_texts(c, err);
    if (code != HDX_OK || (code = room_for(c, "heaps", count, sizeof *c->heaps, (void **)&c->heaps, err)) != HDX_OK)
        return code;
    if ((code = decode_numbered(c, HDX_KEY_HEAP, "heaps", count, one_heap, err)) != HDX_OK) {
        hdx_mem_put(NULL, c->heaps, count * sizeof *c->heaps);
        c->heaps = NULL;
    }
    return code;
}

hdx_code hdx_catalog_heaps(hdx_catalog *c, const hdx_heap_space **heaps, uint64_t *count, hdx_error *err)
{
    hdx_code code = once(c, &c->has_heaps, decode_heaps, err);
    *heaps = code == HDX_OK ? c->heaps : NULL;
    *count = code == HDX_OK ? c->counts.heaps : 0;
    return code;
}

/* ---- roots ---- */

static hdx_code begin_chunk(const hdx_catalog *c, hdx_view key, hdx_view value, hdx_root_chunk *chunk, hdx_error *err)
{
    if (key.len != HDX_KEY_ROOM)
        return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "root key is %zu bytes; expected %u", key.len,
                        HDX_KEY_ROOM);
    *chunk = hdx_root_chunk_of(value, hdx_be64(key.at + 1), c->manifest.objects, err);
    return HDX_OK;
}

static hdx_code add_roots(hdx_catalog *c, hdx_root_chunk *chunk, uint64_t *n, hdx_error *err)
{
    hdx_root root;
    while (hdx_root_chunk_next(chunk, &root)) {
        if (*n > 0 && c->roots[*n - 1].object > root.object)
            return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "root %llu is out of order",
                            (unsigned long long)*n);
        if (!hdx_mem_room(NULL, (void **)&c->roots, &c->root_capacity, *n, sizeof root)) /* grows with what was read */
            return hdx_no_memory(err, "roots", *n * sizeof root);
        c->roots[(*n)++] = root;
    }
    return chunk->taker.code;
}

static hdx_code decode_roots(hdx_catalog *c, hdx_error *err)
{
    scan           s;
    hdx_view       key, value;
    hdx_root_chunk chunk;
    uint64_t       n = 0;
    bool           more = true;
    hdx_code       code = scan_begin(c, HDX_KEY_ROOT, &s, err);
    if (code != HDX_OK)
        return code;
    while ((code = scan_next(&s, &key, &value, &more, err)) == HDX_OK && more)
        if ((code = begin_chunk(c, key, value, &chunk, err)) != HDX_OK ||
            (code = add_roots(c, &chunk, &n, err)) != HDX_OK)
            break;
    mdb_cursor_close(s.cursor);
    if (code == HDX_OK && n != c->counts.roots)
        code = missing(err, "roots", n, c->counts.roots);
    if (code != HDX_OK) {
        hdx_mem_put(NULL, c->roots, c->root_capacity * sizeof *c->roots);
        c->roots = NULL;
        c->root_capacity = 0;
    }
    return code;
}

hdx_code hdx_catalog_roots(hdx_catalog *c, const hdx_root **roots, uint64_t *count, hdx_error *err)
{
    hdx_code code = once(c, &c->has_roots, decode_roots, err);
    *roots = code == HDX_OK ? c->roots : NULL;
    *count = code == HDX_OK ? c->counts.roots : 0;
    return code;
}

/* Copies the roots of the object in a chunk; *passed: the chunk extends beyond it. */
static hdx_code roots_in_chunk(const hdx_catalog *c, hdx_view key, hdx_view value, hdx_id object, hdx_root *out,
                               uint64_t max, uint64_t *count, bool *passed, hdx_error *err)
{
    hdx_root_chunk chunk;
    hdx_root       root;
    hdx_code       code = begin_chunk(c, key, value, &chunk, err);
    if (code != HDX_OK)
        return code;
    while (!*passed && hdx_root_chunk_next(&chunk, &root)) {
        *passed = root.object > object;
        if (root.object != object)
            continue;
        if (*count < max)
            out[*count] = root;
        ++*count;
    }
    return chunk.taker.code;
}

/* The last chunk that begins before the object may contain it, no earlier one; then come those that begin with it. */
static hdx_code search_roots(hdx_catalog *c, hdx_id object, hdx_root *out, uint64_t max, uint64_t *count,
                             hdx_error *err)
{
    uint8_t     at[HDX_KEY_ROOM];
    MDB_val     k = { hdx_key_root(at, object, 0), at }, v;
    MDB_cursor *cursor;
    bool        passed = false;
    hdx_code    code = HDX_OK;
    int         rc = mdb_cursor_open(c->txn, c->table, &cursor);
    if (rc != 0)
        return hdx_lmdb_fail(err, rc, "cannot read " HDX_CATALOG_FILE);
    rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
    if (rc == 0)
        rc = mdb_cursor_get(cursor, &k, &v, MDB_PREV);
    else if (rc == MDB_NOTFOUND)
        rc = mdb_cursor_get(cursor, &k, &v, MDB_LAST);
    if (rc == MDB_NOTFOUND)
        rc = mdb_cursor_get(cursor, &k, &v, MDB_FIRST); /* there is no key before it */
    for (; rc == 0 && code == HDX_OK && !passed; rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
        uint8_t letter = k.mv_size == 0 ? 0 : *(const uint8_t *)k.mv_data;
        if (letter > HDX_KEY_ROOT)
            break;
        if (letter == HDX_KEY_ROOT)
            code = roots_in_chunk(c, (hdx_view){ k.mv_data, k.mv_size }, (hdx_view){ v.mv_data, v.mv_size }, object,
                                  out, max, count, &passed, err);
    }
    mdb_cursor_close(cursor);
    if (code == HDX_OK && rc != 0 && rc != MDB_NOTFOUND)
        code = hdx_lmdb_fail(err, rc, "cannot read " HDX_CATALOG_FILE);
    return code;
}

static void find_roots(const hdx_catalog *c, hdx_id object, hdx_root *out, uint64_t max, uint64_t *count)
{
    uint64_t i = hdx_lower_bound(HDX_KEYS(c->roots, c->counts.roots, object), object);
    for (; i < c->counts.roots && c->roots[i].object == object; i++, ++*count)
        if (*count < max)
            out[*count] = c->roots[i];
}

hdx_code hdx_catalog_roots_of(hdx_catalog *c, hdx_id object, hdx_root *out, uint64_t max, uint64_t *count,
                              hdx_error *err)
{
    hdx_code code;
    *count = 0;
    if (atomic_load_explicit(&c->has_roots, memory_order_acquire)) {
        find_roots(c, object, out, max, count);
        return HDX_OK;
    }
    (void)pthread_mutex_lock(&c->lock);
    code = search_roots(c, object, out, max, count, err);
    (void)pthread_mutex_unlock(&c->lock);
    return code;
}
