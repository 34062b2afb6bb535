/*
 * parted.h - builds that stop behind a step, the .part folder they leave as files in memory, and these put back
 * changed, with right sums or not.
 */
#ifndef HDX_TESTS_BUILD_PARTED_H
#define HDX_TESTS_BUILD_PARTED_H

#include "making/checkpoint.h"
#include "making/heap_model.h"
#include "support/wait.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define PARTED_STEPS     4u /* checkpoints of a whole build: columns, objects, references, dominators */
#define PARTED_FILES     32u
#define PARTED_KEPT_HEAD 48u /* bytes before what a step puts into a file (kept.c) */

typedef struct parted_file {
    char     name[64]; /* "class.hdx", "checkpoint/state" */
    uint8_t *at;
    size_t   len;
} parted_file;

typedef struct parted {
    parted_file files[PARTED_FILES];
    unsigned    count;
} parted;

/* ---- stopping ---- */
static _Atomic unsigned parted_saves, parted_stop_at;

static inline bool parted_is_save(const char *from)
{
    return strlen(from) > 14 && strcmp(from + strlen(from) - 14, "checkpoint.new") == 0;
}
static inline int parted_rename(hdx_io *io, const char *from, const char *to)
{
    const int rc = hdx_io_system()->rename(io, from, to);
    parted_saves += rc >= 0 && parted_is_save(from);
    return rc;
}
static inline int parted_exchange(hdx_io *io, const char *a, const char *b)
{
    const int rc = hdx_io_system()->exchange(io, a, b);
    parted_saves += rc >= 0 && parted_is_save(a);
    return rc;
}
static inline bool parted_refuse(void *context, uint64_t bytes)
{
    (void)context;
    (void)bytes;
    return parted_saves >= parted_stop_at;
}

/* A build that gets no memory any more when it has saved so many checkpoints; 0: none from the beginning. */
static inline hdx_code parted_stop(const hdx_index_options *options, unsigned saves, hdx_error *err)
{
    hdx_io           io = *hdx_io_system();
    hdx_build_doors  doors = { .io = &io, .refuse = parted_refuse, .every_step = true };
    hdx_index_report report;
    io.rename = parted_rename;
    io.exchange = parted_exchange;
    parted_saves = 0;
    parted_stop_at = saves;
    return hdx_index_build_through(&doors, options, &report, err);
}

typedef struct parted_calls {
    unsigned calls, last;
} parted_calls;

static inline bool parted_is_wanted(void *context)
{
    parted_calls *c = context;
    return c->calls++ >= c->last;
}

/* A build on one thread that is told to stop when it asks for the so-manieth time. */
static inline hdx_code parted_interrupt(const hdx_index_options *options, unsigned calls, hdx_error *err)
{
    hdx_build_doors   doors = { .io = hdx_io_system(), .every_step = true };
    parted_calls      c = { .last = calls };
    hdx_index_options asked = *options;
    hdx_index_report  report;
    asked.progress = (hdx_progress){ .context = &c, .cancelled = parted_is_wanted };
    return hdx_index_build_through(&doors, &asked, &report, err);
}

/* ---- stopping beside another thread ---- */
static _Atomic unsigned   parted_asked, parted_asked_last;
static _Atomic bool       parted_told;
static _Thread_local bool parted_told_me;

static inline bool parted_is_wanted_here(void *context)
{
    (void)context;
    if (parted_told_me)
        return true;
    if (parted_asked++ < parted_asked_last || atomic_exchange(&parted_told, true))
        return false;
    parted_told_me = true;
    wait_for_other_threads_to_sleep(); /* the other thread does the tasks that are left */
    return true;
}

/*
 * A build on two threads, one of which is told to stop when it asks for the so-manieth time: the other goes on with the
 * task that it has. HDX_OK: so often nobody asks.
 */
static inline hdx_code parted_interrupt_one(const hdx_index_options *options, unsigned calls, hdx_error *err)
{
    hdx_build_doors   doors = { .io = hdx_io_system(), .every_step = true };
    hdx_index_options asked = *options;
    hdx_index_report  report;
    asked.threads = 2;
    asked.progress = (hdx_progress){ .cancelled = parted_is_wanted_here };
    parted_asked = 0;
    parted_asked_last = calls;
    parted_told = parted_told_me = false;
    return hdx_index_build_through(&doors, &asked, &report, err);
}

/* ---- the folder ---- */
static inline void parted_free(parted *p)
{
    for (unsigned i = 0; i < p->count; i++)
        free(p->files[i].at);
    p->count = 0;
}

static inline parted_file *parted_find(parted *p, const char *name)
{
    for (unsigned i = 0; i < p->count; i++)
        if (strcmp(p->files[i].name, name) == 0)
            return &p->files[i];
    return NULL;
}

/* A copy of these bytes under the name; NULL: zeros. */
static inline parted_file *parted_put(parted *p, const char *name, const uint8_t *bytes, size_t len)
{
    parted_file *f = parted_find(p, name);
    uint8_t     *at = calloc(1, len + 16); /* a packed number is read by words */
    const size_t name_len = strlen(name);
    if (at == NULL || name_len >= sizeof f->name || (f == NULL && p->count == PARTED_FILES))
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

static inline int parted_by_name(const void *a, const void *b)
{
    return strcmp(((const parted_file *)a)->name, ((const parted_file *)b)->name);
}

static inline void parted_read_inner(parted *p, const char *folder, const char *prefix)
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
            parted_read_inner(p, path, inner);
        } else
            (void)parted_put(p, name, bytes, len);
        free(bytes);
        (void)fclose(f);
    }
    if (d != NULL)
        (void)closedir(d);
}

static inline void parted_read_folder(parted *p, const char *folder)
{
    parted_read_inner(p, folder, "");
    qsort(p->files, p->count, sizeof *p->files, parted_by_name);
}

static inline void parted_write(const parted *p, const char *folder)
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

static inline parted parted_copy(const parted *from)
{
    parted p = { .count = 0 };
    for (unsigned i = 0; i < from->count; i++)
        (void)parted_put(&p, from->files[i].name, from->files[i].at, from->files[i].len);
    return p;
}

/* ---- sums ---- */
static inline hdx_checkpoint_head *parted_head(parted *p)
{
    return (hdx_checkpoint_head *)(void *)parted_find(p, "checkpoint/state")->at;
}
static inline hdx_root    *parted_roots(parted *p) { return (hdx_root *)(void *)(parted_head(p) + 1); }
static inline hdx_spilled *parted_units(parted *p)
{
    return (hdx_spilled *)(void *)(parted_roots(p) + parted_head(p)->roots);
}
static inline hdx_referrer_chunk *parted_chunks(parted *p)
{
    return (hdx_referrer_chunk *)(void *)(parted_units(p) + parted_head(p)->units);
}

/* Do the tables lie in the file? The head may say anything. */
static inline bool parted_tables_fit(parted *p)
{
    const parted_file         *state = parted_find(p, "checkpoint/state");
    const hdx_checkpoint_head *h = parted_head(p);
    const uint64_t             most = 1u << 20;
    return state->len >= sizeof *h + 4 && h->roots < most && h->units < most && h->chunks < most &&
           sizeof *h + h->roots * sizeof(hdx_root) + h->units * sizeof(hdx_spilled) +
                   h->chunks * sizeof(hdx_referrer_chunk) + 4 ==
               state->len;
}

static inline uint32_t parted_sum_of(parted *p, const char *name, uint64_t at, uint64_t bytes, uint32_t otherwise)
{
    const parted_file *f = parted_find(p, name);
    return f == NULL || at > f->len || bytes > f->len - at ? otherwise : hdx_crc32c(0, f->at + at, (size_t)bytes);
}

/* Makes all sums of the state right again; with `temp_files`, also those it has of temporary files. */
static inline void parted_seal(parted *p, bool temp_files)
{
    parted_file         *state = parted_find(p, "checkpoint/state"), *sum = parted_find(p, "checkpoint/catalog.sum");
    hdx_checkpoint_head *h = parted_head(p);
    if (state->len < sizeof *h + 4)
        return;
    if (temp_files) {
        h->search_sum = parted_sum_of(p, "search.tmp", 0, h->search_bytes, (uint32_t)h->search_sum);
        h->idoms_sum = parted_sum_of(p, "idoms.tmp", 0, h->idoms_bytes, (uint32_t)h->idoms_sum);
        for (uint64_t i = 0; parted_tables_fit(p) && i < h->units; i++)
            parted_units(p)[i].sum = parted_sum_of(p, "references.tmp", parted_units(p)[i].at, parted_units(p)[i].bytes,
                                                   parted_units(p)[i].sum);
        for (uint64_t i = 0; parted_tables_fit(p) && i < h->chunks; i++)
            parted_chunks(p)[i].sum = parted_sum_of(p, "referrers.tmp", parted_chunks(p)[i].at,
                                                    parted_chunks(p)[i].bytes, parted_chunks(p)[i].sum);
    }
    if (sum != NULL && sum->len > 0)
        h->catalog = hdx_hash_bytes(2, sum->at, sum->len); /* as checkpoint.c does */
    hdx_put32(state->at + state->len - 4, hdx_crc32c(0, state->at, state->len - 4));
}

/*
 * Makes the sums of scan.tmp and columns.tmp right again, with that of scan.tmp in columns.tmp and those it has of
 * references.tmp.
 */
static inline void parted_seal_kept(parted *p)
{
    const size_t units_at =
        PARTED_KEPT_HEAD + 6 * 8 + sizeof(hdx_halt) + 8; /* columns.c: numbers, how far it is, how many units */
    parted_file *scan = parted_find(p, "scan.tmp"), *columns = parted_find(p, "columns.tmp");
    uint32_t     sum = 0;
    if (scan->len >= 4)
        hdx_put32(scan->at + scan->len - 4, sum = hdx_crc32c(0, scan->at, scan->len - 4));
    if (columns == NULL || columns->len < units_at + 4)
        return;
    hdx_put64(columns->at + PARTED_KEPT_HEAD, sum);
    hdx_spilled   *units = (hdx_spilled *)(void *)(columns->at + units_at);
    const uint64_t there = (columns->len - 4 - units_at) / sizeof *units, count = hdx_le64(columns->at + units_at - 8);
    for (uint64_t i = 0; i < count && i < there; i++)
        units[i].sum = parted_sum_of(p, "references.tmp", units[i].at, units[i].bytes, units[i].sum);
    hdx_put32(columns->at + columns->len - 4, hdx_crc32c(0, columns->at, columns->len - 4));
}

#endif
