/*
 * partial_build.h - builds that stop behind a step, the .part folder they leave as files in memory, and these put back
 * changed, with right sums or not.
 */
#ifndef HDX_TESTS_MAKING_PARTIAL_BUILD_H
#define HDX_TESTS_MAKING_PARTIAL_BUILD_H

#include "making/checkpoint.h"
#include "making/heap_model.h"
#include "support/wait.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define PARTIAL_STEPS     4u /* checkpoints of a whole build: columns, objects, references, dominators */
#define PARTIAL_FILES     32u
#define PARTIAL_KEPT_HEAD 48u /* bytes before what a step puts into a file (resume.c) */

typedef struct partial_file {
    char     name[64]; /* "class.hdx", "checkpoint/state" */
    uint8_t *at;
    size_t   len;
} partial_file;

typedef struct partial_build {
    partial_file files[PARTIAL_FILES];
    unsigned     count;
} partial_build;

/* ---- stopping ---- */
static _Atomic unsigned partial_saves, partial_stop_at;

static inline bool partial_is_save(const char *from)
{
    return strlen(from) > 14 && strcmp(from + strlen(from) - 14, "checkpoint.new") == 0;
}
static inline int partial_rename(hdx_io *io, const char *from, const char *to)
{
    const int rc = hdx_io_system()->rename(io, from, to);
    partial_saves += rc >= 0 && partial_is_save(from);
    return rc;
}
static inline int partial_exchange(hdx_io *io, const char *a, const char *b)
{
    const int rc = hdx_io_system()->exchange(io, a, b);
    partial_saves += rc >= 0 && partial_is_save(a);
    return rc;
}
static inline bool partial_refuse(void *context, uint64_t bytes)
{
    (void)context;
    (void)bytes;
    return partial_saves >= partial_stop_at;
}

/* A build that gets no memory any more when it has saved so many checkpoints; 0: none from the beginning. */
static inline hdx_code partial_stop(const hdx_index_options *options, unsigned saves, hdx_error *err)
{
    hdx_io           io = *hdx_io_system();
    hdx_build_doors  doors = { .io = &io, .refuse = partial_refuse, .every_step = true };
    hdx_index_report report;
    io.rename = partial_rename;
    io.exchange = partial_exchange;
    partial_saves = 0;
    partial_stop_at = saves;
    return hdx_index_build_through(&doors, options, &report, err);
}

typedef struct partial_calls {
    unsigned calls, last;
} partial_calls;

static inline bool partial_is_wanted(void *context)
{
    partial_calls *c = context;
    return c->calls++ >= c->last;
}

/* A build on one thread that is told to stop when it asks for the so-manieth time. */
static inline hdx_code partial_interrupt(const hdx_index_options *options, unsigned calls, hdx_error *err)
{
    hdx_build_doors   doors = { .io = hdx_io_system(), .every_step = true };
    partial_calls     c = { .last = calls };
    hdx_index_options asked = *options;
    hdx_index_report  report;
    asked.progress = (hdx_progress){ .context = &c, .cancelled = partial_is_wanted };
    return hdx_index_build_through(&doors, &asked, &report, err);
}

/* ---- stopping beside another thread ---- */
static _Atomic unsigned   partial_asked, partial_asked_last;
static _Atomic bool       partial_told;
static _Thread_local bool partial_told_me;

static inline bool partial_is_wanted_here(void *context)
{
    (void)context;
    if (partial_told_me)
        return true;
    if (partial_asked++ < partial_asked_last || atomic_exchange(&partial_told, true))
        return false;
    partial_told_me = true;
    wait_for_other_threads_to_sleep(); /* the other thread does the tasks that are left */
    return true;
}

/*
 * A build on two threads, one of which is told to stop when it asks for the so-manieth time: the other goes on with the
 * task that it has. HDX_OK: so often nobody asks.
 */
static inline hdx_code partial_interrupt_one(const hdx_index_options *options, unsigned calls, hdx_error *err)
{
    hdx_build_doors   doors = { .io = hdx_io_system(), .every_step = true };
    hdx_index_options asked = *options;
    hdx_index_report  report;
    asked.threads = 2;
    asked.progress = (hdx_progress){ .cancelled = partial_is_wanted_here };
    partial_asked = 0;
    partial_asked_last = calls;
    partial_told = partial_told_me = false;
    return hdx_index_build_through(&doors, &asked, &report, err);
}

/* ---- the folder ---- */
static inline void partial_free(partial_build *p)
{
    for (unsigned i = 0; i < p->count; i++)
        free(p->files[i].at);
    p->count = 0;
}

static inline partial_file *partial_find(partial_build *p, const char *name)
{
    for (unsigned i = 0; i < p->count; i++)
        if (strcmp(p->files[i].name, name) == 0)
            return &p->files[i];
    return NULL;
}

/* A copy of these bytes under the name; NULL: zeros. */
static inline partial_file *partial_put(partial_build *p, const char *name, const uint8_t *bytes, size_t len)
{
    partial_file *f = partial_find(p, name);
    uint8_t      *at = calloc(1, len + 16); /* a packed number is read by words */
    const size_t  name_len = strlen(name);
    if (at == NULL || name_len >= sizeof f->name || (f == NULL && p->count == PARTIAL_FILES))
        abort();
    if (bytes != NULL && len > 0)
        memcpy(at, bytes, len);
    if (f == NULL)
        memcpy((f = &p->files[p->count++])->name, name, name_len + 1);
    else
        free(f->at);
    f->at = at;
    f->len = len;
    return f;
}

static inline int partial_by_name(const void *a, const void *b)
{
    return strcmp(((const partial_file *)a)->name, ((const partial_file *)b)->name);
}

static inline void partial_read_inner(partial_build *p, const char *folder, const char *prefix)
{
    char           path[1024], name[300];
    struct dirent *e;
    DIR           *d = opendir(folder);
    while (d != NULL && (e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path ||
            snprintf(name, sizeof name, "%s%s", prefix, e->d_name) >= (int)sizeof name)
            abort();
        FILE  *f = fopen(path, "rb");
        size_t room = 1u << 22, len;
        if (f == NULL)
            abort();
        uint8_t *bytes = malloc(room);
        len = bytes == NULL ? 0 : fread(bytes, 1, room, f);
        if (ferror(f) != 0) { /* a folder */
            char inner[302];
            (void)snprintf(inner, sizeof inner, "%s/", name);
            partial_read_inner(p, path, inner);
        } else
            (void)partial_put(p, name, bytes, len);
        free(bytes);
        (void)fclose(f);
    }
    if (d != NULL)
        (void)closedir(d);
}

static inline void partial_read_folder(partial_build *p, const char *folder)
{
    partial_read_inner(p, folder, "");
    qsort(p->files, p->count, sizeof *p->files, partial_by_name);
}

static inline void partial_write(const partial_build *p, const char *folder)
{
    char path[1024];
    (void)umask(022); /* what others can write is not used */
    (void)hdx_place_clear(hdx_io_system(), folder);
    (void)mkdir(folder, 0777);
    for (unsigned i = 0; i < p->count; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, p->files[i].name);
        char *slash = strrchr(path, '/');
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
        FILE *f = fopen(path, "wb");
        if (f == NULL || fwrite(p->files[i].at, 1, p->files[i].len, f) != p->files[i].len || fclose(f) != 0)
            abort();
    }
}

static inline partial_build partial_copy(const partial_build *from)
{
    partial_build p = { .count = 0 };
    for (unsigned i = 0; i < from->count; i++)
        (void)partial_put(&p, from->files[i].name, from->files[i].at, from->files[i].len);
    return p;
}

/* ---- sums ---- */
static inline hdx_checkpoint_head *partial_head(partial_build *p)
{
    return (hdx_checkpoint_head *)(void *)partial_find(p, "checkpoint/state")->at;
}
static inline hdx_root    *partial_roots(partial_build *p) { return (hdx_root *)(void *)(partial_head(p) + 1); }
static inline hdx_spilled *partial_units(partial_build *p)
{
    return (hdx_spilled *)(void *)(partial_roots(p) + partial_head(p)->roots);
}
static inline hdx_referrer_chunk *partial_chunks(partial_build *p)
{
    return (hdx_referrer_chunk *)(void *)(partial_units(p) + partial_head(p)->units);
}

/* Do the tables lie in the file? The head may say anything. */
static inline bool partial_tables_fit(partial_build *p)
{
    const partial_file        *state = partial_find(p, "checkpoint/state");
    const hdx_checkpoint_head *h = partial_head(p);
    const uint64_t             most = 1u << 20;
    return state->len >= sizeof *h + 4 && h->roots < most && h->units < most && h->chunks < most &&
           sizeof *h + h->roots * sizeof(hdx_root) + h->units * sizeof(hdx_spilled) +
                   h->chunks * sizeof(hdx_referrer_chunk) + 4 ==
               state->len;
}

static inline uint32_t partial_sum_of(partial_build *p, const char *name, uint64_t at, uint64_t bytes,
                                      uint32_t otherwise)
{
    const partial_file *f = partial_find(p, name);
    return f == NULL || at > f->len || bytes > f->len - at ? otherwise : hdx_crc32c(0, f->at + at, (size_t)bytes);
}

/* Makes all sums of the state right again; with `temp_files`, also those it has of temporary files. */
static inline void partial_seal(partial_build *p, bool temp_files)
{
    partial_file        *state = partial_find(p, "checkpoint/state"), *sum = partial_find(p, "checkpoint/catalog.sum");
    hdx_checkpoint_head *h = partial_head(p);
    if (state->len < sizeof *h + 4)
        return;
    if (temp_files) {
        h->search_sum = partial_sum_of(p, "search.tmp", 0, h->search_bytes, (uint32_t)h->search_sum);
        h->idoms_sum = partial_sum_of(p, "idoms.tmp", 0, h->idoms_bytes, (uint32_t)h->idoms_sum);
        for (uint64_t i = 0; partial_tables_fit(p) && i < h->units; i++)
            partial_units(p)[i].sum = partial_sum_of(p, "references.tmp", partial_units(p)[i].at,
                                                     partial_units(p)[i].bytes, partial_units(p)[i].sum);
        for (uint64_t i = 0; partial_tables_fit(p) && i < h->chunks; i++)
            partial_chunks(p)[i].sum = partial_sum_of(p, "referrers.tmp", partial_chunks(p)[i].at,
                                                      partial_chunks(p)[i].bytes, partial_chunks(p)[i].sum);
    }
    if (sum != NULL && sum->len > 0)
        h->catalog = hdx_hash_bytes(2, sum->at, sum->len); /* as checkpoint.c does */
    hdx_put32(state->at + state->len - 4, hdx_crc32c(0, state->at, state->len - 4));
}

/*
 * Makes the sums of scan.tmp and columns.tmp right again, with that of scan.tmp in columns.tmp and those it has of
 * references.tmp.
 */
static inline void partial_seal_kept(partial_build *p)
{
    const size_t units_at =
        PARTIAL_KEPT_HEAD + 6 * 8 + sizeof(hdx_halt) + 8; /* columns.c: numbers, how far it is, how many units */
    partial_file *scan = partial_find(p, "scan.tmp"), *columns = partial_find(p, "columns.tmp");
    uint32_t      sum = 0;
    if (scan->len >= 4)
        hdx_put32(scan->at + scan->len - 4, sum = hdx_crc32c(0, scan->at, scan->len - 4));
    if (columns == NULL || columns->len < units_at + 4)
        return;
    hdx_put64(columns->at + PARTIAL_KEPT_HEAD, sum);
    hdx_spilled   *units = (hdx_spilled *)(void *)(columns->at + units_at);
    const uint64_t there = (columns->len - 4 - units_at) / sizeof *units, count = hdx_le64(columns->at + units_at - 8);
    for (uint64_t i = 0; i < count && i < there; i++)
        units[i].sum = partial_sum_of(p, "references.tmp", units[i].at, units[i].bytes, units[i].sum);
    hdx_put32(columns->at + columns->len - 4, hdx_crc32c(0, columns->at, columns->len - 4));
}

#endif
