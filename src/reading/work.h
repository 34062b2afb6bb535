/*
 * work.h - the working state of all passes: files, memory, threads, progress, the list of damage. None of it is a
 * result.
 */
#ifndef HDX_READING_WORK_H
#define HDX_READING_WORK_H

#include "base/base.h"
#include "indexes/indexes.h"
#include <heapdex/index.h>

#include <assert.h>

/* Damage that passes find, on any thread; the survey has its own list. */
typedef struct hdx_damage_found {
    hdx_damage *list;
    uint64_t    count, capacity, more;
} hdx_damage_found;

/* The working state of all passes. */
typedef struct hdx_work {
    const hdx_index_options *options;
    hdx_io                  *io;
    hdx_mem                  mem;
    hdx_ticker               tick;
    unsigned                 threads;
    char                     folder[4096]; /* of the partial build, in which files are written */
    hdx_index_place          place;        /* the same, for index files */
    uint64_t                 room;         /* see hdx_build_doors */
    uint64_t                 objects;      /* number of ids, as far as known: default memory sizes follow from it */
    uint64_t                 tables_bytes; /* memory of what was read, when it was last measured (hdx_work_measure) */
    pthread_mutex_t          lock;         /* guards damage */
    hdx_damage_found         damage;
} hdx_work;

/* Returns the bytes that a pass may still use for data that it can process in ranges. */
uint64_t hdx_work_room(const hdx_work *w);
/* Measures the memory of what was read, for this number of objects. hdx_work_room uses that from now on. */
void hdx_work_measure(hdx_work *w, uint64_t objects);
/* Memory of a worker: its slice of the dump, pages being packed, its share of references. */
#define HDX_BUILD_WORKER (6ull << 20)
/* Memory of a build outside of hdx_work.mem: code, stacks, small tables, mapped pages of files. */
#define HDX_BUILD_BESIDE (32ull << 20)

/*
 * Returns the memory for all arrays of a pass if there is no budget, in addition to what a build needs anyway: a number
 * of bytes per object, and at least HDX_WORK_LEAST.
 */
uint64_t hdx_work_comfort(uint64_t objects, unsigned width);
#define HDX_WORK_LEAST (64ull << 20)
/*
 * Prepares memory that another thread is about to request, if it announced that. Passes call this between two pieces of
 * work.
 */
static inline void hdx_work_between(hdx_work *w, unsigned worker)
{
    if (worker == 0)
        hdx_mem_help(&w->mem, false);
}
/* Adds a damage entry. Any thread may call it. */
hdx_code hdx_work_damage(hdx_work *w, hdx_damage_kind kind, hdx_pos pos, const char *record, uint64_t lost,
                         hdx_error *err, const char *format, ...) __attribute__((format(printf, 7, 8)));

#endif
