/*
 * view_checkpoint.c - saves what a killed or interrupted view has completed, for its next build.
 *
 * In:  the results of the steps references and dominators of a view.
 * Out: in addition to their files (special, nearest, search.tmp, idoms.tmp) the file view.tmp: numbers, and bits of
 *      live and special objects. A seal (seal.c) of all of them.
 *
 * Everything else that a view needs is in the index, so it has no catalog as in a checkpoint of a build. The caller
 * supplies excluded roots and references again; the version in the seal and in view.tmp depends on them. A view takes a
 * minute where a build takes three, so it is only resumed with a seal: on the same machine, before a reboot, with
 * untouched files. Without a seal it starts again. Bounds are checked nevertheless.
 */
#include "making/checkpoint.h"

#include <dirent.h>
#include <stdio.h>

#define NAME HDX_RESUME_VIEW

/* The beginning of view.tmp, before the bits; as it is in memory, without padding. */
typedef struct numbers {
    uint64_t          done, width;
    uint64_t          reached, references, gc_roots, specials;
    uint64_t          search_bytes, search_sum, idoms_bytes, idoms_sum;
    uint64_t          special_bytes, special_sum, nearest_bytes, nearest_sum;
    uint64_t          step_count;
    hdx_manifest_step steps[HDX_STEPS_MAX];
} numbers;

static uint64_t words_of(const hdx_pass *p) { return hdx_bits_words(p->b->tables.objects); }

/* ---- saving ---- */
static void numbers_of(const hdx_pass *p, uint64_t done, numbers *n)
{
    const hdx_manifest *m = &p->b->manifest;
    *n = (numbers){ .done = done,
                    .width = p->width,
                    .reached = p->search.reached,
                    .references = m->references,
                    .gc_roots = m->gc_roots,
                    .specials = m->specials,
                    .search_bytes = p->search.file.end,
                    .search_sum = p->search.file.sum,
                    .special_bytes = m->files[HDX_KIND_SPECIAL].bytes,
                    .special_sum = m->files[HDX_KIND_SPECIAL].sum,
                    .nearest_bytes = m->files[HDX_KIND_NEAREST].bytes,
                    .nearest_sum = m->files[HDX_KIND_NEAREST].sum,
                    .step_count = m->step_count };
    if (hdx_checkpoint_has(done, HDX_PASS_DOMINATORS)) {
        n->idoms_bytes = p->idoms.end;
        n->idoms_sum = p->idoms.sum;
    }
    memcpy(n->steps, m->steps, m->step_count * sizeof *n->steps);
}

hdx_code hdx_view_checkpoint_save(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_build       *b = p->b;
    const uint64_t   bytes = words_of(p) * 8;
    numbers          n;
    uint32_t         sum;
    hdx_resume_file *file = NULL;
    hdx_code         code;
    assert(hdx_checkpoint_has(done, HDX_PASS_REFERENCES) && p->search.special != NULL); /* M3 */
    if (hdx_checkpoint_has(done, HDX_PASS_DOMINATORS) && (code = hdx_temp_keep(&p->idoms, err)) != HDX_OK)
        return code;
    numbers_of(p, done, &n);
    code = hdx_resume_create(&b->work, &b->saving, NAME, &file, err);
    if (code == HDX_OK && (code = hdx_resume_put(file, &n, sizeof n, err)) == HDX_OK &&
        (code = hdx_resume_put(file, p->search.live, bytes, err)) == HDX_OK)
        code = hdx_resume_put(file, p->search.special, bytes, err);
    if ((code = hdx_resume_end(file, code, &sum, err)) != HDX_OK)
        return code;
    b->saving.checkpointed = true;
    hdx_seal_put(&b->work, &b->saving);
    return HDX_OK;
}

void hdx_view_checkpoint_remove(hdx_work *w)
{
    hdx_resume_remove(w, NAME);
    hdx_seal_remove(w);
}

/* ---- resuming ---- */
static hdx_code unusable(hdx_error *err)
{
    return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no usable checkpoint");
}

typedef struct file_names {
    const char *at[6];
} file_names;

/* The files of the completed steps. */
static file_names files_of(uint64_t done)
{
    return (file_names){ { NAME, "search.tmp", "special.hdx", "nearest.hdx", "seal",
                           hdx_checkpoint_has(done, HDX_PASS_DOMINATORS) ? "idoms.tmp" : "seal" } };
}

static bool is_sealed(const hdx_build *b, uint64_t done)
{
    const file_names files = files_of(done);
    for (size_t i = 0; i < sizeof files.at / sizeof *files.at; i++)
        if (strcmp(files.at[i], "seal") != 0 && !hdx_seal_has(&b->work, &b->saving, files.at[i]))
            return false;
    return true;
}

/* Removes files of an unfinished step, which would otherwise become part of the view. */
static bool remove_others(const hdx_work *w, uint64_t done)
{
    const file_names files = files_of(done);
    DIR             *folder = opendir(w->folder);
    struct dirent   *entry;
    char             name[4600];
    bool             fine = folder != NULL;
    while (fine && (entry = readdir(folder)) != NULL) {
        bool stays = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        for (size_t i = 0; i < sizeof files.at / sizeof *files.at; i++)
            stays = stays || strcmp(entry->d_name, files.at[i]) == 0;
        (void)snprintf(name, sizeof name, "%s/%s", w->folder, entry->d_name);
        fine = stays || w->io->remove(w->io, name) >= 0;
    }
    if (folder != NULL)
        (void)closedir(folder);
    return fine;
}

static bool numbers_hold(const hdx_pass *p, const numbers *n)
{
    const uint64_t before = 1u << HDX_PASS_COLUMNS | 1u << HDX_PASS_OBJECTS, each = p->width / 4;
    uint64_t       search;
    return (n->done == (before | 1u << HDX_PASS_REFERENCES) ||
            n->done == (before | 1u << HDX_PASS_REFERENCES | 1u << HDX_PASS_DOMINATORS)) &&
           n->width == p->width && n->reached <= p->b->tables.objects && n->specials <= p->b->tables.objects &&
           n->gc_roots <= n->reached && n->step_count <= HDX_STEPS_MAX && hdx_mul(n->reached, each, &search) &&
           n->search_bytes == search && n->idoms_bytes % each == 0 && n->idoms_bytes <= search;
}

static hdx_code take_bits(hdx_pass *p, const numbers *n, hdx_resume_file *file, hdx_error *err)
{
    hdx_build     *b = p->b;
    const uint64_t words = words_of(p), objects = b->tables.objects,
                   tail = objects % 64 == 0 ? 0 : ~0ull << (objects % 64);
    hdx_code code;
    p->search.live = hdx_mem_array(&b->work.mem, words, 8);
    p->search.is_root = hdx_mem_array(&b->work.mem, words, 8);
    p->search.special = hdx_mem_array(&b->work.mem, words, 8);
    if (p->search.live == NULL || p->search.is_root == NULL || p->search.special == NULL)
        return hdx_no_memory(err, "a checkpoint", 3 * words * 8);
    if ((code = hdx_resume_get(file, p->search.live, words * 8, err)) != HDX_OK ||
        (code = hdx_resume_get(file, p->search.special, words * 8, err)) != HDX_OK)
        return code;
    for (uint64_t i = 0; i < b->tables.root_count; i++)
        if (b->tables.roots[i].thread == HDX_NO_ID)
            hdx_bits_put(p->search.is_root, b->tables.roots[i].object);
    return words > 0 && ((p->search.live[words - 1] | p->search.special[words - 1]) & tail) == 0 &&
                   hdx_bits_count(p->search.live, words) == n->reached &&
                   hdx_bits_count(p->search.special, words) == n->specials &&
                   hdx_bits_count(p->search.is_root, words) == n->gc_roots
               ? HDX_OK
               : unusable(err);
}

static hdx_code open_temp(hdx_pass *p, const char *name, uint64_t bytes, uint64_t sum, hdx_temp *t, hdx_error *err)
{
    struct stat st;
    if (hdx_temp_reopen(&p->b->work, name, t, err) != HDX_OK || p->b->work.io->stat(p->b->work.io, t->path, &st) < 0 ||
        (uint64_t)st.st_size != bytes)
        return unusable(err);
    t->end = bytes;
    t->sum = (uint32_t)sum;
    return HDX_OK;
}

static void take_numbers(hdx_pass *p, const numbers *n)
{
    hdx_build           *b = p->b;
    hdx_manifest        *m = &b->manifest;
    const hdx_index_file special = { n->special_bytes, (uint32_t)n->special_sum },
                         nearest = { n->nearest_bytes, (uint32_t)n->nearest_sum };
    p->search.reached = n->reached;
    p->search.references = m->references = n->references;
    p->search.gc_roots = m->gc_roots = n->gc_roots;
    p->search.specials = m->specials = n->specials;
    hdx_manifest_file_written(b, HDX_KIND_SPECIAL, &special);
    hdx_manifest_file_written(b, HDX_KIND_NEAREST, &nearest);
    memcpy(m->steps, n->steps, n->step_count * sizeof *m->steps);
    m->step_count = (uint32_t)n->step_count;
}

static hdx_code take(hdx_pass *p, uint64_t *done, hdx_error *err)
{
    hdx_build       *b = p->b;
    numbers          n;
    uint32_t         sum;
    hdx_resume_file *file = NULL;
    hdx_code         code;
    hdx_seal_get(&b->work, &b->saving);
    if (!hdx_seal_has(&b->work, &b->saving, NAME))
        return unusable(err);
    b->saving.sealed = true;
    if ((code = hdx_resume_open(&b->work, &b->saving, NAME, &file, &sum, err)) == HDX_OK &&
        (code = hdx_resume_get(file, &n, sizeof n, err)) == HDX_OK)
        code = numbers_hold(p, &n) && is_sealed(b, n.done) ? take_bits(p, &n, file, err) : unusable(err);
    hdx_resume_close(file);
    if (code != HDX_OK ||
        (code = open_temp(p, "search.tmp", n.search_bytes, n.search_sum, &p->search.file, err)) != HDX_OK ||
        (hdx_checkpoint_has(n.done, HDX_PASS_DOMINATORS) &&
         (code = open_temp(p, "idoms.tmp", n.idoms_bytes, n.idoms_sum, &p->idoms, err)) != HDX_OK))
        return code;
    if (!remove_others(&b->work, n.done))
        return unusable(err);
    take_numbers(p, &n);
    *done = n.done;
    return HDX_OK;
}

hdx_code hdx_view_checkpoint_take(hdx_pass *p, uint64_t *done, hdx_error *err)
{
    hdx_build     *b = p->b;
    const uint64_t bytes = words_of(p) * 8;
    const hdx_code code = take(p, done, err);
    b->saving.checkpointed = code == HDX_OK || code == HDX_LIMIT; /* too small a budget does not make it invalid */
    if (code != HDX_NOT_FOUND)
        return code;
    hdx_mem_put(&b->work.mem, p->search.live, bytes);
    hdx_mem_put(&b->work.mem, p->search.is_root, bytes);
    hdx_mem_put(&b->work.mem, p->search.special, bytes);
    hdx_temp_close(&p->search.file);
    hdx_temp_close(&p->idoms);
    p->search = (hdx_search){ 0 };
    p->idoms = (hdx_temp){ 0 };
    return code;
}
