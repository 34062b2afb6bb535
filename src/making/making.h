/*
 * making.h - builds an index: the order of the passes, and the index as files.
 *
 *   index.c          the conductor: finds a valid index or builds one; width, commit
 *   build.c          one build: creates and frees its memory, dump and tables
 *   order.c          the order of the steps after the first pass; saves and resumes them
 *   steps.c          these steps (steps.h)
 *   place.c          location of an index, and whether it belongs to the dump
 *   lock.c           one builder at a time
 *   part.c           the folder of a partial build; remains, the rename that puts an index in place
 *   checkpoint.c     saves the state of a build for the next one; checkpoint_check.c, checkpoint_values.c: check a
 *                    saved state; checkpoint_files.c: its files
 *   forecast.c       memory of each pass, and whether it fits the budget
 *   estimate.c       the same before anything is built, from a sample of the dump
 *   view.c           a view of a finished index: the last passes again, with fewer roots or references;
 *                    view_checkpoint.c: checkpoints of a view
 *   manifest.c       facts about the whole index, and the catalog
 *   counts.c         objects and bytes by class after the first pass: an answer without an index, or before it is
 *                    complete
 *
 * Invariants, asserted in debug builds:
 *
 *   M1  Steps are done in their order, and a task belongs to the current step.
 *   M2  The catalog of an index is begun once, and committed last.
 *   M3  A step that is saved has its files; a checkpoint is written completely or not at all.
 *   M4  The manifest names a file once, with its size and sum (INDEX I17).
 *   M5  Ids have 32 or 64 bits, the same in all passes of a build.
 *   M6  A build that ends has freed all memory that it has requested.
 */
#ifndef HDX_MAKING_MAKING_H
#define HDX_MAKING_MAKING_H

#include "indexes/folder.h"
#include "making/view.h"
#include "passes/passes.h"

typedef struct hdx_build {
    hdx_work        work;
    hdx_dump        dump;
    hdx_dump_tables tables;
    hdx_saving      saving;
    hdx_manifest    manifest; /* the manifest of the index */
    /* catalog of the checkpoint that this build resumes: classes and threads point into it; NULL: none */
    hdx_catalog        *resumed;
    hdx_catalog_writer *catalog; /* of the index, with everything but the manifest; NULL: not begun */
    uint64_t            step_wall, step_cpu;
    /* of a view: the index whose catalog classes and threads point into, and whose files are read; NULL: not a view */
    hdx_catalog    *index;
    hdx_index_place index_place;
} hdx_build;

static inline hdx_reading hdx_reading_of(hdx_build *b)
{
    return (hdx_reading){ &b->work, &b->saving, &b->dump, &b->tables };
}

/* ---- state of the conductor, from which checkpoints are made ---- */

/* State of the current step. */
typedef struct hdx_step_progress {
    hdx_manifest     begun;             /* the manifest before it */
    uint64_t         saved;             /* steps that a checkpoint already contains */
    _Atomic uint64_t tasks;             /* completed tasks (HDX_TASK_) */
    uint64_t         saved_tasks;       /* completed tasks that are saved */
    bool             live, special;     /* in bits.tmp */
    bool             lists;             /* outbound is in lists.tmp */
    bool             predecessor_files; /* predecessors and instances are in their files */
} hdx_step_progress;

typedef struct hdx_pass {
    hdx_build      *b;
    unsigned        width; /* of an id: 32 or 64 bits */
    const hdx_wide *wide;  /* the passes for that width */
    hdx_step        until;
    hdx_damage_note note; /* of index files that are read again */
    hdx_columns     columns;
    hdx_objects     objects;
    hdx_referenced  referenced;
    /* of a view: the same from the index inbound, which also has the references that the view ignores */
    hdx_referenced       listed;
    hdx_ints            *class_file, *size_file;
    hdx_column_files     files; /* those two, for the passes */
    hdx_search           search;
    hdx_inbound          inbound;
    hdx_listed           referrers; /* of a view, in place of those of inbound */
    uint64_t             room;      /* bytes for the transposition of the lists */
    hdx_predecessor_file predecessors, instances;
    hdx_temp             idoms; /* from the step dominators to the step retained; in a checkpoint idoms.tmp */
    hdx_numbered         numbered;
    hdx_index_file       retained;
    hdx_tree             tree;
    hdx_step_progress    progress;
} hdx_pass;

/* ---- forecast.c ---- */
typedef enum hdx_forecast_pass {
    HDX_FORECAST_SCAN,
    HDX_FORECAST_COLUMNS,
    HDX_FORECAST_OBJECTS,
    HDX_FORECAST_REFERENCES,
    HDX_FORECAST_DOMINATORS,
    HDX_FORECAST_RETAINED
} hdx_forecast_pass;
/*
 * Returns the resident bytes of a pass with ids of `width` bits: `least` in its smallest form, otherwise without a
 * budget.
 */
uint64_t hdx_forecast(const hdx_work *w, const hdx_dump_tables *t, hdx_forecast_pass pass, unsigned width,
                      uint64_t references, bool least);
/*
 * Returns HDX_LIMIT with a sufficient budget if one of the passes from `first` on cannot fit in options.memory.
 * references 0: not yet known; then only what is certain is refused, and the budget that is named suffices for the
 * largest possible number.
 */
hdx_code hdx_forecast_check(const hdx_work *w, const hdx_dump_tables *t, uint64_t references, hdx_forecast_pass first,
                            hdx_step until, unsigned width, hdx_error *err);
/* Same before the searches, when the number of their parents is known. */
hdx_code hdx_forecast_search(const hdx_work *w, unsigned width, uint64_t parents, hdx_error *err);
/*
 * Returns whether the spill file still exists while later files are written, in a build with these times up to, and
 * for, the step objects (estimate.c).
 */
bool hdx_forecast_spill_stays(uint64_t read_ns, uint64_t objects_ns);
/* Before the dump is read: returns HDX_LIMIT for a budget that would not even suffice for an empty dump. */
hdx_code hdx_forecast_begin(const hdx_work *w, const hdx_dump_tables *t, hdx_error *err);
/* Returns whether `bytes` more bytes fit during the searches. */
bool hdx_forecast_search_fits(const hdx_work *w, unsigned width, uint64_t bytes);
/* Memory that is prepared before the need is known: a quarter of the file, at most this. */
#define HDX_BUILD_READY (32ull << 20)
/* ---- estimate.c ---- */
/* Same as hdx_index_estimate, with a sample of about `sample_bytes` bytes of heap records (tests). */
hdx_code hdx_index_estimate_from(const hdx_index_options *options, uint64_t sample_bytes, hdx_index_forecast *out,
                                 hdx_error *err);
/* Measurements of a sample. */
typedef struct hdx_sample_times {
    uint64_t bytes; /* of heap records in the sample */
    /* the size of what the first pass reads of the dump, as a multiple of the sample */
    double   read;
    uint64_t scan_wall, walk_wall, walk_cpu; /* in ns: of the first pass over the sample, and of the walk */
    bool     inflated;                       /* the dump is compressed */
    double   walk_inflate_ns;                /* time of the walk for inflating the sample again */
    unsigned walkers, threads;               /* of the walk; of the build */
} hdx_sample_times;
typedef struct hdx_sample_pace {
    double pace;    /* 1: as the machine of bench/README.md; 2: half as fast */
    double wait;    /* wall time divided by what CPU time implies: the effect of other programs */
    double scan_ns; /* wall time of the first pass over the whole file */
} hdx_sample_pace;
hdx_sample_pace hdx_forecast_pace(const hdx_sample_times *t);

/* ---- order.c ---- */
/*
 * Runs the second pass and everything after it, with ids of 32 or 64 bits. Writes the index files of the steps that
 * options.until allows.
 */
hdx_code hdx_passes(hdx_build *b, unsigned width, hdx_error *err);
/*
 * Resumes the build in b->work.folder after its last finished step. Returns HDX_NOT_FOUND if that is impossible: b must
 * then be discarded and the build started again.
 */
hdx_code hdx_passes_resume(hdx_build *b, hdx_error *err);
/* For a view: runs everything after the step objects, from the files of b->index without these references. */
hdx_code hdx_passes_view(hdx_build *b, unsigned width, hdx_pair *cuts, uint64_t cut_count, hdx_error *err);

/* ---- manifest.c ---- */
void hdx_manifest_file_written(hdx_build *b, hdx_kind kind, const hdx_index_file *file);
/* Returns the numbers of keys and values of index files; those that a later step determines are still 0. */
hdx_amounts hdx_build_amounts(const hdx_build *b);
/* Opens a file that was written before, as the table of kinds says; close it with hdx_index_close. */
hdx_code hdx_build_file_open(const hdx_build *b, hdx_kind kind, hdx_damage_note *note, void **out, hdx_error *err);
void     hdx_manifest_step_begin(hdx_build *b, const char *name, uint64_t total, const char *unit);
void     hdx_manifest_step_end(hdx_build *b);
void     hdx_build_identity(hdx_build *b);
/* Moves the results of both readings of the dump to the manifest, and frees them. */
hdx_code hdx_build_dump_read(hdx_build *b, hdx_error *err);
void     hdx_build_sort_roots(hdx_work *w, hdx_dump_tables *t); /* by object, as in the catalog */
/*
 * hdx_build_catalog_begin writes classes, roots, threads and heaps, at any time after live objects were counted;
 * hdx_build_catalog writes the rest, and begins if that was not done.
 */
hdx_code hdx_build_catalog_begin(hdx_build *b, hdx_error *err);
hdx_code hdx_build_catalog(hdx_build *b, hdx_error *err);
/* Moves all damage found so far, in the order of the file, to the manifest; hdx_build_damage_free frees it. */
hdx_code hdx_build_damage_gather(hdx_build *b, hdx_error *err);
void     hdx_build_damage_free(hdx_build *b);

/* ---- build.c ---- */
/* Access of a build to the system (tests replace it): refuse as in hdx_mem, NULL for none. */
typedef struct hdx_build_doors {
    hdx_io *io;
    bool (*refuse)(void *context, uint64_t bytes);
    void    *context;
    uint64_t room;       /* result of hdx_work_room; 0: the real one */
    bool     every_step; /* save a checkpoint after each step, however short it was */
} hdx_build_doors;
typedef enum hdx_build_purpose { HDX_FOR_INDEX, HDX_FOR_COUNTS, HDX_FOR_FORECAST } hdx_build_purpose;
/* Creates a build without a dump. NULL: no memory. */
hdx_build *hdx_build_blank(const hdx_build_doors *doors, const hdx_index_options *options, hdx_error *err);
/* Creates a build and opens its dump. NULL on failure. */
hdx_build *hdx_build_open(const hdx_build_doors *doors, const hdx_index_options *options, hdx_build_purpose purpose,
                          hdx_error *err);
void       hdx_build_close(hdx_build *b);

/* ---- place.c ---- */
typedef struct hdx_index_home {
    char       path[4096];  /* the index folder, FOLDER/NAME */
    char       part[4096];  /* FOLDER/.heapdex-part-NAME, during the build */
    char       lock[4096];  /* FOLDER/.heapdex-lock-NAME */
    int        lock_fd;     /* -1: not locked */
    int        why_not;     /* errno, if locking is impossible there */
    char       record[512]; /* content of the lock file for this process */
    hdx_access access;      /* permissions of the dump, for the index */
} hdx_index_home;
typedef enum hdx_index_state { HDX_INDEX_ABSENT, HDX_INDEX_VALID, HDX_INDEX_STALE, HDX_INDEX_OLD } hdx_index_state;

/*
 * Sets the paths of a place. A link to a folder stands for that folder: it is replaced there, and the link stays. A
 * path that ends in "." or ".." gets the name of the folder to which it leads; the names of the lock and of the partial
 * build are made from it. Returns HDX_USAGE if it leads nowhere or is too long.
 */
hdx_code hdx_place_set(hdx_index_home *home, const char *path, hdx_error *err);
/*
 * Returns the index folder of a dump in the user's cache folder, one for each absolute path. False: there is no cache
 * folder.
 */
bool hdx_place_cache_path(const hdx_index_options *options, char *out, size_t size);
/*
 * Returns whether the folder of such an index belongs to this user. If $XDG_CACHE_HOME is shared, another user may have
 * created it.
 */
bool hdx_place_is_own_cache(const char *path);
/* Same as hdx_place_find; if an index folder was named instead of a dump, it is the place. */
hdx_code hdx_place_find_made(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err);
/* Finds the place of the index of a dump. */
hdx_code hdx_place_find(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err);
/*
 * Examines an index without trusting it. *catalog stays open for the caller if the state is VALID. Returns HDX_DAMAGED
 * if it is damaged.
 */
hdx_code hdx_place_state(hdx_io *io, const hdx_index_home *home, const hdx_index_options *options,
                         hdx_index_state *state, hdx_catalog **catalog, hdx_error *err);
/* Returns HDX_USAGE if a folder contains a file that heapdex did not write. */
hdx_code hdx_place_holds_other(const char *path, hdx_error *err);
/*
 * Checks that the index at a place may be replaced or removed for the dump of the options. Returns HDX_BAD_DUMP with
 * both names if it is the index of another dump or of another heap of the file, HDX_USAGE if the folder contains other
 * files. HDX_OK if there is nothing, or if the catalog cannot be read.
 */
hdx_code hdx_place_replaceable(hdx_io *io, const hdx_index_home *home, const hdx_index_options *options,
                               hdx_error *err);
/* Records size, time and samples of the content of a file, to detect changes of the dump. */
hdx_code hdx_place_sample(hdx_io *io, const char *path, hdx_manifest *m, hdx_error *err);
/* Returns whether size, modification time and inode of the dump are as recorded in the index. */
bool hdx_place_untouched(hdx_io *io, const char *path, const hdx_manifest *m);
/* Returns HDX_BAD_DUMP if the file changed since it was sampled: another program is still writing it. */
hdx_code hdx_place_unchanged(hdx_io *io, const char *path, const hdx_manifest *m, hdx_error *err);

/* ---- lock.c ---- */
/*
 * Locks a place. Returns HDX_OK with lock_fd -1 if nothing can be locked there, HDX_BUSY if another builder holds the
 * lock and `no_wait` is set.
 */
hdx_code hdx_place_lock(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err);
/* Returns whether the lock belongs to this process, and its file still says so. */
bool hdx_place_held(const hdx_index_home *home);
/* Same; returns HDX_BUSY with the process that took it. */
hdx_code hdx_place_still_held(const hdx_index_home *home, hdx_error *err);
void     hdx_place_unlock(hdx_index_home *home);

/* ---- part.c ---- */
/*
 * Creates the empty folder of a partial build, in the cache folder if the place next to the dump cannot be written.
 * With `resume`, a folder with a checkpoint is left as it is: *found.
 */
hdx_code hdx_place_begin(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, bool resume, bool *found,
                         hdx_error *err);
hdx_code hdx_place_commit(hdx_io *io, hdx_index_home *home, const hdx_manifest *m, hdx_error *err);
/* Removes permissions from an index of this user if the dump lost them since the index was built. */
void hdx_place_narrow(hdx_io *io, const hdx_index_home *home);
void hdx_place_abandon(hdx_io *io, hdx_index_home *home);
/*
 * Returns whether a folder contains plain files only, and nothing that other users have created or can write to.
 */
bool hdx_place_is_ours(const char *path);
/*
 * Returns HDX_USAGE if a partial build or a lock belongs to another user, or contains files that heapdex did not write.
 */
hdx_code hdx_place_foreign(const char *path, hdx_error *err);
/*
 * After hdx_place_lock: returns why a builder cannot use a place, other than missing permissions: HDX_BUSY for the lock
 * of another user, HDX_USAGE for a partial build or a lock that does not belong to heapdex. HDX_OK: no reason.
 */
hdx_code hdx_place_in_the_way(const hdx_index_home *home, hdx_error *err);
/*
 * Renames a finished folder to its name, atomically if the file system can swap two names, and removes what had the
 * name before: an index or, with `in_index`, a view. Returns HDX_USAGE, without a change, if that contains files that
 * heapdex did not write.
 */
hdx_code hdx_place_put(hdx_io *io, const char *part, const char *path, bool in_index, hdx_error *err);
/*
 * Removes an index or a view. It is renamed first, so that an interrupted removal leaves a partial build, never half an
 * index under its name. Returns HDX_USAGE as above.
 */
hdx_code hdx_place_take_out(hdx_io *io, const char *path, const char *part, hdx_error *err);
/* Removes a partial build, or a file or link with such a name (base/own.h). Returns 0 also if there is nothing. */
int hdx_place_clear(hdx_io *io, const char *path);

/* ---- counts.c ---- */
/*
 * Calls options.first_pass, if sizes are already exact and the dump has no anomalies, whose effects only the second
 * pass finds.
 */
hdx_code hdx_counts_report(hdx_build *b, hdx_error *err);

/* ---- view.c ---- */
/* Same as hdx_view_build (view.h), with other access to the system. */
hdx_code hdx_view_build_through(const hdx_build_doors *doors, const hdx_index_options *options,
                                const hdx_view_wanted *want, hdx_index_report *report, hdx_error *err);

/* ---- index.c ---- */
void hdx_report_from(const hdx_manifest *m, hdx_index_report *r);
/* Adds the size of the catalog in r->path. */
void hdx_report_add_catalog(hdx_io *io, hdx_index_report *r);
/* Same as hdx_index_build, with other access to the system (tests). */
hdx_code hdx_index_build_through(const hdx_build_doors *doors, const hdx_index_options *options,
                                 hdx_index_report *report, hdx_error *err);

#endif
