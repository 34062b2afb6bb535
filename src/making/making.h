/*
 * making.h - an index is made: the order of the passes, and the index as a thing on disk.
 *
 *   index.c          the conductor: finds a valid index or makes one; width, commit
 *   build.c          one build: its memory, dump and tables, made and given back
 *   order.c          the order of the passes after the first one
 *   place.c          where an index lives, and whether it is that of the dump
 *   lock.c           one builder at a time
 *   part.c           the folder of a partial build; leftovers, the rename that makes an index exist
 *   checkpoint.c     what a build has done, kept for the next one if this one is killed; checkpoint_check.c,
 *                    checkpoint_values.c: is it what a build leaves; checkpoint_files.c: which files it has
 *   forecast.c       what each pass will hold, and whether that fits the budget
 *   estimate.c       the same before anything is built, from a sample of the dump
 *   view.c           a view of a finished index: the last passes again, with fewer roots or references;
 *                    view_checkpoint.c: what one that is killed has done
 *   manifest.c       everything said once, and the catalog
 *   counts.c         objects and bytes by class after the first pass alone: an answer without an index, or ahead of it
 *
 * Invariants, asserted in debug builds:
 *
 *   M1  Steps are done in their order, and a task is of the step at hand.
 *   M2  The catalog of an index is begun once, and committed last.
 *   M3  A step that is kept has its files; a checkpoint is written whole or not at all.
 *   M4  The manifest names a file once, with its size and sum (INDEX I17).
 *   M5  Ids have 32 or 64 bits, and all passes of a build the same.
 *   M6  A build that ends has given back all memory that it has asked for.
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
    hdx_keeping     keeping;
    hdx_manifest    manifest; /* what the index will say of itself */
    hdx_catalog *resumed; /* of the checkpoint this build goes on from: classes and threads point into it; NULL: none */
    hdx_catalog_writer *catalog; /* of the index, with all but the manifest; NULL: not begun */
    uint64_t            step_wall, step_cpu;
    /* of a view: the index, whose catalog classes and threads point into, and whose files are read; NULL: no view */
    hdx_catalog    *index;
    hdx_index_place index_place;
} hdx_build;

static inline hdx_reading hdx_reading_of(hdx_build *b)
{
    return (hdx_reading){ &b->work, &b->keeping, &b->dump, &b->tables };
}

/* ---- the conductor's: everything, and how far it has come; checkpoints are made of it ---- */

/* Of the step at hand. */
typedef struct hdx_step_kept {
    hdx_manifest     begun;             /* as it was before it */
    uint64_t         saved;             /* steps that a checkpoint, or nobody, has to keep */
    _Atomic uint64_t tasks;             /* those that are whole (HDX_TASK_) */
    uint64_t         saved_tasks;       /* likewise, of what is saved */
    bool             live, special;     /* in bits.tmp */
    bool             lists;             /* outbound is in lists.tmp */
    bool             predecessor_files; /* predecessors and instances are in their files */
} hdx_step_kept;

typedef struct hdx_pass {
    hdx_build           *b;
    unsigned             width; /* of an id: 32 or 64 bits */
    const hdx_wide      *wide;  /* the passes for that width */
    hdx_step             until;
    hdx_damage_note      note; /* of the index files that are read again */
    hdx_columns          columns;
    hdx_objects          objects;
    hdx_referenced       referenced;
    hdx_referenced       listed; /* of a view: the same by the index inbound, which knows of what is left out, too */
    hdx_ints            *class_file, *size_file;
    hdx_column_files     files; /* those two, for the passes */
    hdx_search           search;
    hdx_inbound          inbound;
    hdx_listed           referrers; /* of a view, in place of those of inbound */
    uint64_t             room;      /* bytes that transposing the lists round may take */
    hdx_predecessor_file predecessors, instances;
    hdx_temp             idoms; /* from the step dominators to the step retained; in a checkpoint idoms.tmp */
    hdx_numbered         numbered;
    hdx_index_file       retained;
    hdx_tree             tree;
    hdx_step_kept        kept;
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
/* Resident bytes of a pass at ids of `width` bits: `least` in its smallest form, else as it is without a budget. */
uint64_t hdx_forecast(const hdx_work *w, const hdx_dump_tables *t, hdx_forecast_pass pass, unsigned width,
                      uint64_t references, bool least);
/*
 * HDX_LIMIT, naming a budget that would do, when one of the passes from `first` on cannot fit options.memory.
 * references 0: not known yet; then only what is certain refuses, and the budget named is enough for the most there can
 * be.
 */
hdx_code hdx_forecast_check(const hdx_work *w, const hdx_dump_tables *t, uint64_t references, hdx_forecast_pass first,
                            hdx_step until, unsigned width, hdx_error *err);
/* Before the searches, when it is known how many parents they find: HDX_LIMIT as above. */
hdx_code hdx_forecast_search(const hdx_work *w, unsigned width, uint64_t parents, hdx_error *err);
/*
 * Of a build that takes so long up to the step objects, and for that: is the spill file still there when later files
 * are written? (estimate.c)
 */
bool hdx_forecast_spill_stays(uint64_t read_ns, uint64_t objects_ns);
/* Before the dump is read: HDX_LIMIT for a budget that not even an empty one would fit. */
hdx_code hdx_forecast_begin(const hdx_work *w, const hdx_dump_tables *t, hdx_error *err);
/* Is there room for so many bytes beside the searches? */
bool hdx_forecast_beside(const hdx_work *w, unsigned width, uint64_t bytes);
/* Made ready before it is known what is needed: a quarter of the file, and not more. */
#define HDX_BUILD_READY (32ull << 20)
/* ---- estimate.c ---- */
/* hdx_index_estimate with a sample of about so many bytes of heap records (tests). */
hdx_code hdx_index_estimate_from(const hdx_index_options *options, uint64_t sample_bytes, hdx_index_forecast *out,
                                 hdx_error *err);
/* What a sample took. */
typedef struct hdx_sample_times {
    uint64_t bytes;                          /* of its heap records; */
    double   read;                           /* in the dump the first pass reads so many like these */
    uint64_t scan_wall, walk_wall, walk_cpu; /* ns: of the first pass over it, of the walk */
    bool     inflated;                       /* out of a compressed dump, */
    double   walk_inflate_ns;                /* of the walk, where it inflated that again */
    unsigned walkers, threads;               /* of the walk, of the build */
} hdx_sample_times;
typedef struct hdx_sample_pace {
    double pace;    /* 1: the machine of the figures; 2: half as fast */
    double wait;    /* wall time beside what CPU time says: other programs */
    double scan_ns; /* wall time of the first pass over all of the file */
} hdx_sample_pace;
hdx_sample_pace hdx_forecast_pace(const hdx_sample_times *t);

/* ---- order.c ---- */
/*
 * Second pass and everything after it, with ids of 32 or 64 bits; writes the index files of the steps that
 * options.until allows.
 */
hdx_code hdx_passes(hdx_build *b, unsigned width, hdx_error *err);
/*
 * Goes on after the last finished step of a build that was killed or interrupted, in b->work.folder. HDX_NOT_FOUND: it
 * cannot, b is to be thrown away and the build to be begun anew.
 */
hdx_code hdx_passes_resume(hdx_build *b, hdx_error *err);
/* Of a view: what comes after the step objects, from the files of b->index without these references. */
hdx_code hdx_passes_view(hdx_build *b, unsigned width, hdx_pair *cuts, uint64_t cut_count, hdx_error *err);

/* ---- manifest.c ---- */
void hdx_manifest_file_written(hdx_build *b, hdx_kind kind, const hdx_index_file *file);
/* Keys and values of its files are counted by these; what a later step counts is 0 till then. */
hdx_amounts hdx_build_amounts(const hdx_build *b);
/* A file written before, as the table of kinds says; hdx_index_close takes it back. */
hdx_code hdx_build_file_open(const hdx_build *b, hdx_kind kind, hdx_damage_note *note, void **out, hdx_error *err);
void     hdx_manifest_step_begin(hdx_build *b, const char *name, uint64_t total, const char *unit);
void     hdx_manifest_step_end(hdx_build *b);
void     hdx_build_identity(hdx_build *b);
/* What the two readings of the dump have told, into the manifest; they are not needed any more. */
hdx_code hdx_build_dump_read(hdx_build *b, hdx_error *err);
void     hdx_build_sort_roots(hdx_work *w, hdx_dump_tables *t); /* by object, as the catalog has them */
/*
 * Classes, roots, threads and heaps, once live objects are counted: any time before the rest, which begins it where
 * nobody did.
 */
hdx_code hdx_build_catalog_begin(hdx_build *b, hdx_error *err);
hdx_code hdx_build_catalog(hdx_build *b, hdx_error *err);
/* All that was found so far, in the order of the file, into the manifest; hdx_build_damage_free gives it back. */
hdx_code hdx_build_damage_gather(hdx_build *b, hdx_error *err);
void     hdx_build_damage_free(hdx_build *b);

/* ---- build.c ---- */
/* What a build reaches the system through (tests have others): refuse as in hdx_mem, NULL for none. */
typedef struct hdx_build_doors {
    hdx_io *io;
    bool (*refuse)(void *context, uint64_t bytes);
    void    *context;
    uint64_t room;       /* what hdx_work_room says, however much there is; 0: the truth */
    bool     every_step; /* a checkpoint after each, however short it was */
} hdx_build_doors;
typedef enum hdx_build_purpose { HDX_FOR_INDEX, HDX_FOR_COUNTS, HDX_FOR_FORECAST } hdx_build_purpose;
/* A build without a dump. NULL: no memory. */
hdx_build *hdx_build_blank(const hdx_build_doors *doors, const hdx_index_options *options, hdx_error *err);
/* A build with its dump open and nothing done. NULL on failure. */
hdx_build *hdx_build_open(const hdx_build_doors *doors, const hdx_index_options *options, hdx_build_purpose purpose,
                          hdx_error *err);
void       hdx_build_close(hdx_build *b);

/* ---- place.c ---- */
typedef struct hdx_index_home {
    char       path[4096];  /* the index folder, FOLDER/NAME */
    char       part[4096];  /* FOLDER/.heapdex-part-NAME, while it is built */
    char       lock[4096];  /* FOLDER/.heapdex-lock-NAME */
    int        lock_fd;     /* -1: not held */
    int        why_not;     /* errno, where nothing can be locked there */
    char       record[512]; /* what the lock says of us */
    hdx_access access;      /* of the dump: what the index gets */
} hdx_index_home;
typedef enum hdx_index_state { HDX_INDEX_ABSENT, HDX_INDEX_VALID, HDX_INDEX_STALE, HDX_INDEX_OLD } hdx_index_state;

/*
 * Sets the paths of a place. A link to a folder is that folder: it is replaced where it is, and the link stays. A path
 * that ends in "." or ".." gets the name of the folder that it leads to, from which the names of the lock and of the
 * partial build are made. HDX_USAGE: it leads to nothing, or is too long.
 */
hdx_code hdx_place_set(hdx_index_home *home, const char *path, hdx_error *err);
/* The index of a dump in the user's cache folder, one for each absolute path. False: there is no such folder. */
bool hdx_place_cache_path(const hdx_index_options *options, char *out, size_t size);
/* Does the folder of such an index belong to this user? Where $XDG_CACHE_HOME is shared, another may have made it. */
bool hdx_place_is_own_cache(const char *path);
/* The folder of an index that was named instead of its dump is its own place. */
hdx_code hdx_place_find_made(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err);
/* Where the index of a dump is, or is to be. */
hdx_code hdx_place_find(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err);
/* Looks at an index without trusting it; *catalog stays open for the caller when VALID. HDX_DAMAGED as it is. */
hdx_code hdx_place_state(hdx_io *io, const hdx_index_home *home, const hdx_index_options *options,
                         hdx_index_state *state, hdx_catalog **catalog, hdx_error *err);
/* HDX_USAGE where a folder holds a file that heapdex did not write. */
hdx_code hdx_place_holds_other(const char *path, hdx_error *err);
/*
 * May the index at this place be replaced or removed for the dump of the options? HDX_BAD_DUMP where it is the index of
 * another dump or of another heap of the file, naming both; HDX_USAGE where the folder holds other things too. Where
 * nothing is there, and where the catalog cannot be read, it may.
 */
hdx_code hdx_place_replaceable(hdx_io *io, const hdx_index_home *home, const hdx_index_options *options,
                               hdx_error *err);
/* Size, time and sampled content of a file, for telling whether a dump changed. */
hdx_code hdx_place_sample(hdx_io *io, const char *path, hdx_manifest *m, hdx_error *err);
/* Are the size, time and inode of the dump what they were when it was indexed? */
bool hdx_place_untouched(hdx_io *io, const char *path, const hdx_manifest *m);
/* HDX_BAD_DUMP when the file is not what it was when it was sampled: somebody is still writing it. */
hdx_code hdx_place_unchanged(hdx_io *io, const char *path, const hdx_manifest *m, hdx_error *err);

/* ---- lock.c ---- */
/* HDX_OK with lock_fd -1: nothing can be locked there. */
hdx_code hdx_place_lock(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err);
bool     hdx_place_held(const hdx_index_home *home);                       /* the lock is ours, and still says so */
hdx_code hdx_place_still_held(const hdx_index_home *home, hdx_error *err); /* the same; HDX_BUSY, naming who took it */
void     hdx_place_unlock(hdx_index_home *home);

/* ---- part.c ---- */
/*
 * Makes the empty folder of a partial build, in the cache folder where the place beside the dump cannot be written.
 * With `resume`, a folder with a checkpoint stays as it is: *found.
 */
hdx_code hdx_place_begin(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, bool resume, bool *found,
                         hdx_error *err);
hdx_code hdx_place_commit(hdx_io *io, hdx_index_home *home, const hdx_manifest *m, hdx_error *err);
/* The dump was closed to some who could read it when its index was made: so is the index, if it is ours. */
void hdx_place_narrow(hdx_io *io, const hdx_index_home *home);
void hdx_place_abandon(hdx_io *io, hdx_index_home *home);
/* A folder with nothing in it that others have made, or can write to, or that is no plain file. */
bool hdx_place_is_ours(const char *path);
/* HDX_USAGE where a partial build or a lock belongs to another user, or holds what heapdex did not write. */
hdx_code hdx_place_foreign(const char *path, hdx_error *err);
/*
 * What keeps a builder from this place besides missing permissions, after hdx_place_lock: HDX_BUSY for the lock of
 * another user, HDX_USAGE for a partial build or a lock that is not heapdex's. HDX_OK: nothing.
 */
hdx_code hdx_place_in_the_way(const hdx_index_home *home, hdx_error *err);
/*
 * Gives a finished folder its name, in one step where the file system can swap two names, and clears what had the name:
 * an index, or, `in_index`, a view. HDX_USAGE, and the old one stays, where that holds what heapdex did not write.
 */
hdx_code hdx_place_put(hdx_io *io, const char *part, const char *path, bool in_index, hdx_error *err);
/*
 * Removes an index or a view. Its name goes first, in one step: a removal that is killed leaves a partial build, never
 * half an index under its name. HDX_USAGE as above.
 */
hdx_code hdx_place_take_out(hdx_io *io, const char *path, const char *part, hdx_error *err);
/* Removes a partial build, or a file or link that has such a name (base/own.h). Nothing there: 0. */
int hdx_place_clear(hdx_io *io, const char *path);

/* ---- counts.c ---- */
/*
 * options.first_pass is told, if the sizes are exact by now and nothing is odd: what the second pass finds would be
 * missing.
 */
hdx_code hdx_counts_tell(hdx_build *b, hdx_error *err);

/* ---- view.c ---- */
/* hdx_view_build (view.h) through other doors. */
hdx_code hdx_view_build_through(const hdx_build_doors *doors, const hdx_index_options *options,
                                const hdx_view_wanted *want, hdx_index_report *report, hdx_error *err);

/* ---- index.c ---- */
void hdx_report_from(const hdx_manifest *m, hdx_index_report *r);
/* What is in r->path: its catalog, too. */
void hdx_report_add_catalog(hdx_io *io, hdx_index_report *r);
/* hdx_index_build through other doors (tests). */
hdx_code hdx_index_build_through(const hdx_build_doors *doors, const hdx_index_options *options,
                                 hdx_index_report *report, hdx_error *err);

#endif
