/*
 * forged.h - an index folder, or that of a checkpoint, as somebody who means harm would hand it over: its catalog and
 * its index files with other contents and right sums.
 */
#ifndef HDX_TESTS_INDEXES_FORGED_H
#define HDX_TESTS_INDEXES_FORGED_H

#include "catalog/catalog.h"
#include "tests/indexes/hostile.h"

#include <stdio.h>

/* A folder whose contents are being changed; what the catalog holds is copied but for texts, fields and frames. */
typedef struct forgery {
    char            folder[512]; /* of index files */
    char            inner[600];  /* of the catalog: the same, or the checkpoint in it */
    hdx_catalog    *catalog;
    hdx_manifest    m;
    hdx_class      *classes;
    uint32_t        class_count;
    hdx_root       *roots;
    uint64_t        root_count;
    hdx_thread     *threads;
    uint64_t        thread_count;
    hdx_heap_space *heaps;
    uint64_t        heap_count;
} forgery;

static inline void forged_must(bool ok, const char *what, const hdx_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "forged: %s: %s: %s\n", what, err->where, err->message);
    abort();
}

static inline void *forged_copy(const void *from, uint64_t count, size_t size)
{
    void *to = calloc(count + 1, size);
    if (to == NULL)
        abort();
    if (count > 0)
        memcpy(to, from, count * size);
    return to;
}

/* inner: "" or the folder of the catalog in it. */
static inline forgery forge_begin(const char *folder, const char *inner)
{
    forgery               f = { .catalog = NULL };
    const hdx_class      *classes;
    const hdx_root       *roots;
    const hdx_thread     *threads;
    const hdx_heap_space *heaps;
    hdx_error             err = { .code = HDX_OK };
    (void)snprintf(f.folder, sizeof f.folder, "%s", folder);
    (void)snprintf(f.inner, sizeof f.inner, "%s%s%s", f.folder, inner[0] == '\0' ? "" : "/", inner);
    forged_must(hdx_catalog_open(hdx_io_system(), f.inner, &f.catalog, &err) == HDX_OK &&
                    hdx_catalog_classes(f.catalog, &classes, &f.class_count, &err) == HDX_OK &&
                    hdx_catalog_roots(f.catalog, &roots, &f.root_count, &err) == HDX_OK &&
                    hdx_catalog_threads(f.catalog, &threads, &f.thread_count, &err) == HDX_OK &&
                    hdx_catalog_heaps(f.catalog, &heaps, &f.heap_count, &err) == HDX_OK,
                "catalog", &err);
    f.m = *hdx_catalog_manifest(f.catalog);
    f.classes = forged_copy(classes, f.class_count, sizeof *classes);
    f.roots = forged_copy(roots, f.root_count, sizeof *roots);
    f.threads = forged_copy(threads, f.thread_count, sizeof *threads);
    f.heaps = forged_copy(heaps, f.heap_count, sizeof *heaps);
    return f;
}

/* Writes the catalog as it is to be. */
static inline void forge_end(forgery *f)
{
    hdx_catalog_writer *w;
    hdx_error           err = { .code = HDX_OK };
    forged_must(hdx_catalog_create(hdx_io_system(), f->inner, NULL, &w, &err) == HDX_OK, "catalog", &err);
    for (uint32_t i = 0; i < f->class_count; i++)
        forged_must(hdx_catalog_put_class(w, &f->classes[i], &err) == HDX_OK, "class", &err);
    forged_must(hdx_catalog_put_roots(w, f->roots, f->root_count, &err) == HDX_OK &&
                    hdx_catalog_put_threads(w, f->threads, f->thread_count, &err) == HDX_OK &&
                    hdx_catalog_put_heaps(w, f->heaps, f->heap_count, &err) == HDX_OK &&
                    hdx_catalog_put_manifest(w, &f->m, &err) == HDX_OK && hdx_catalog_commit(w, &err) == HDX_OK,
                "catalog", &err);
    hdx_catalog_close(f->catalog);
    free(f->classes);
    free(f->roots);
    free(f->threads);
    free(f->heaps);
}

static inline hdx_index_place forged_place(const forgery *f)
{
    hdx_index_place place = { .io = hdx_io_system(), .folder = f->folder, .threads = 1 };
    memcpy(place.identity, f->m.identity, sizeof place.identity);
    return place;
}

static inline hdx_index_file forged_file(const forgery *f, hdx_kind kind)
{
    return (hdx_index_file){ f->m.files[kind].bytes, f->m.files[kind].sum };
}

static inline void forged_written(forgery *f, hdx_kind kind, const hdx_index_file *file)
{
    (void)snprintf(f->m.files[kind].name, sizeof f->m.files[kind].name, "%s", hdx_kind_name(kind));
    f->m.files[kind].bytes = file->bytes;
    f->m.files[kind].sum = file->sum;
}

/* ---- numbers ---- */
typedef struct forged_ints {
    uint64_t *values;
    uint64_t  count;
} forged_ints;

static inline hdx_code forged_fill(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    (void)err;
    memcpy(values, ((forged_ints *)context)->values + first, n * sizeof *values);
    return HDX_OK;
}

static inline forged_ints forge_ints_begin(const forgery *f, hdx_kind kind, uint64_t count)
{
    const hdx_index_place place = forged_place(f);
    const hdx_index_file  file = forged_file(f, kind);
    forged_ints           c = { forged_copy(NULL, 0, 8 * (count + 1)), count };
    hdx_damage_note       note = { 0 };
    hdx_ints             *ints;
    hdx_error             err = { .code = HDX_OK };
    if (f->m.files[kind].name[0] == '\0')
        return c;
    forged_must(hdx_ints_open(&place, kind, &file, count, 0, &note, &ints, &err) == HDX_OK, hdx_kind_name(kind), &err);
    hdx_ints_read(ints, 0, (uint32_t)count, c.values);
    hdx_ints_close(ints);
    return c;
}

static inline void forge_ints_end(forgery *f, hdx_kind kind, forged_ints *c)
{
    const hdx_index_place place = forged_place(f);
    hdx_index_file        file;
    hdx_error             err = { .code = HDX_OK };
    forged_must(hdx_ints_write(&place, kind, c->count, forged_fill, c, &file, &err) == HDX_OK, hdx_kind_name(kind),
                &err);
    forged_written(f, kind, &file);
    free(c->values);
}

/* ---- lists ---- */
typedef struct forged_lists {
    uint64_t  keys, count;
    uint64_t *degrees, *values, *of; /* of: keys of the values */
} forged_lists;

static inline hdx_code forged_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    (void)err;
    memcpy(degrees, ((forged_lists *)context)->degrees + first, n * sizeof *degrees);
    return HDX_OK;
}

static inline hdx_code forged_lists_fill(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys,
                                         hdx_error *err)
{
    const forged_lists *l = context;
    (void)err;
    memcpy(values, l->values + first, n * sizeof *values);
    memcpy(keys, l->of + first, n * sizeof *keys);
    return HDX_OK;
}

static inline forged_lists forge_lists_begin(const forgery *f, hdx_kind kind, uint64_t keys)
{
    const hdx_index_place place = forged_place(f);
    const hdx_index_file  file = forged_file(f, kind);
    forged_lists          l = { .keys = keys };
    hdx_damage_note       note = { 0 };
    hdx_one_to_n         *lists;
    hdx_error             err = { .code = HDX_OK };
    uint64_t              first, length;
    forged_must(hdx_one_to_n_open(&place, kind, &file, keys, f->m.objects, &note, &lists, &err) == HDX_OK,
                hdx_kind_name(kind), &err);
    l.count = hdx_one_to_n_values(lists);
    l.degrees = forged_copy(NULL, 0, 8 * (keys + 1));
    l.values = forged_copy(NULL, 0, 8 * (l.count + 1));
    l.of = forged_copy(NULL, 0, 8 * (l.count + 1));
    for (uint64_t v = 0; v < keys; v++) {
        hdx_one_to_n_list(lists, v, &first, &length);
        hdx_one_to_n_read(lists, v, first, (uint32_t)length, l.values + first);
        l.degrees[v] = length;
        for (uint64_t i = first; i < first + length; i++)
            l.of[i] = v;
    }
    hdx_one_to_n_close(lists);
    return l;
}

static inline void forge_lists_end(forgery *f, hdx_kind kind, forged_lists *l)
{
    const hdx_index_place place = forged_place(f);
    hdx_index_file        file;
    hdx_error             err = { .code = HDX_OK };
    forged_must(hdx_one_to_n_write(&place, kind, l->keys, l->count, forged_degrees, forged_lists_fill, l, &file,
                                   &err) == HDX_OK,
                hdx_kind_name(kind), &err);
    forged_written(f, kind, &file);
    free(l->degrees);
    free(l->values);
    free(l->of);
}

#endif
