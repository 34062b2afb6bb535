/*
 * work.h - what every pass works with: files, memory, threads, progress, the list of damage. None of it is a result.
 */
#ifndef HDX_READING_WORK_H
#define HDX_READING_WORK_H

#include "base/base.h"
#include "indexes/indexes.h"
#include <heapdex/index.h>

#include <assert.h>

/* Damage that passes find, from any thread; the survey has its own list. */
typedef struct hdx_damage_found {
    hdx_damage *list;
    uint64_t    count, capacity, more;
} hdx_damage_found;

/* What every pass works with, and none of it is a result: files, memory, threads, progress, and the list of damage. */
typedef struct hdx_work {
    const hdx_index_options *options;
    hdx_io                  *io;
    hdx_mem                  mem;
    hdx_ticker               tick;
    unsigned                 threads;
    char                     folder[4096]; /* of the partial build: files are written there */
    hdx_index_place          place;        /* the same, for index files */
    uint64_t                 room;         /* of hdx_build_doors */
    uint64_t                 objects;      /* ids, as far as they are known: what is usual to take follows from them */
    uint64_t         tables_bytes; /* held by what has been read, when that was last measured (hdx_work_measure) */
    pthread_mutex_t  lock;         /* guards damage */
    hdx_damage_found damage;
} hdx_work;

/* Bytes that a pass may still take for what it can hold in ranges. */
uint64_t hdx_work_room(const hdx_work *w);
/* So much is held by what has been read, and there are so many objects: room is reckoned from here on by that. */
void hdx_work_measure(hdx_work *w, uint64_t objects);
/* A worker's slice of the dump, its pages being packed, its share of references. */
#define HDX_BUILD_WORKER (6ull << 20)
/* What a build has beside hdx_work.mem: code, stacks, small tables, mapped pages of files. */
#define HDX_BUILD_BESIDE (32ull << 20)

/*
 * What all arrays of a pass may take where nobody set a budget, beside what a build has anyway: so much an object, and
 * so much at the least.
 */
uint64_t hdx_work_comfort(uint64_t objects, unsigned width);
#define HDX_WORK_LEAST (64ull << 20)
/*
 * Between two pieces of work: makes memory ready that another thread is about to ask for, where one said so. Passes
 * need not know what it does, only that this is the moment.
 */
static inline void hdx_work_between(hdx_work *w, unsigned worker)
{
    if (worker == 0)
        hdx_mem_help(&w->mem, false);
}
/* Adds a damage entry; thread-safe. */
hdx_code hdx_work_damage(hdx_work *w, hdx_damage_kind kind, hdx_pos pos, const char *record, uint64_t lost,
                         hdx_error *err, const char *format, ...) __attribute__((format(printf, 7, 8)));

#endif
