/* checkpoint.h - saves a build between its steps, and resumes it (checkpoint.c). */
#ifndef HDX_MAKING_CHECKPOINT_H
#define HDX_MAKING_CHECKPOINT_H

#include "making/making.h"

#define HDX_CHECKPOINT_FORMAT 5u /* version of the files that one step passes to the next */

/* Steps that a checkpoint may contain, in their order; bits of `done`. */
typedef enum hdx_pass_name {
    HDX_PASS_COLUMNS,
    HDX_PASS_OBJECTS,
    HDX_PASS_REFERENCES,
    HDX_PASS_DOMINATORS,
    HDX_PASS_RETAINED
} hdx_pass_name;

/*
 * The beginning of the file `state`. It is followed by roots, units and chunks as in memory, and a CRC32C of everything
 * before it. Declared here for tests; only checkpoint.c reads it.
 */
typedef struct hdx_checkpoint_head {
    /*
     * bytes: size of the file; version: a hash of heapdex's version, of the sizes of what follows and of the parameters
     */
    uint64_t magic, bytes, version;
    uint64_t catalog; /* hash of the file catalog.sum next to it: both were written by one save */
    uint64_t done;    /* steps of order.c, one bit each */
    uint64_t tasks;   /* of the step after these (HDX_TASK_); only trusted together with a seal */
    uint64_t width, until, class_class, loader_class;
    uint64_t reached;
    uint64_t search_bytes, search_sum, idoms_bytes, idoms_sum;
    uint64_t spill_bytes, spill_longest, spill_edges;
    uint64_t referrer_bytes, referrer_entries, chunk_longest;
    uint64_t predecessor_bytes, predecessor_count, class_instance_bytes, class_instance_count;
    uint64_t roots, units, chunks;
} hdx_checkpoint_head;

/*
 * Saves a checkpoint. REQUIRES: all files of the steps so far, and of these tasks of the next, are in the folder, and
 * closed or complete.
 */
hdx_code hdx_checkpoint_save(hdx_pass *p, uint64_t done, uint64_t tasks, hdx_error *err);
/* Write the packed lists, and which objects are referenced, to lists.tmp, and read them. */
hdx_code hdx_checkpoint_keep_lists(hdx_pass *p, bool referenced, hdx_error *err);
hdx_code hdx_checkpoint_take_lists(hdx_pass *p, hdx_error *err);
/* Returns whether every file of a checkpoint of these steps or tasks is as the seal says. */
bool hdx_checkpoint_is_sealed(const hdx_pass *p, uint64_t done, uint64_t tasks);
/*
 * checkpoint_files.c: hdx_checkpoint_has_kind returns whether a checkpoint of these steps and tasks has this index
 * file, hdx_checkpoint_makes whether one of these tasks writes it.
 */
bool hdx_checkpoint_has_kind(const hdx_pass *p, uint64_t done, uint64_t tasks, hdx_kind kind);
bool hdx_checkpoint_makes(uint64_t tasks, hdx_kind kind);
/* Reads classes, threads, heaps and the manifest from a catalog. Their texts are valid while it is open. */
hdx_code hdx_build_tables_from(hdx_build *b, hdx_catalog *from, hdx_error *err);
bool     hdx_checkpoint_is_there(const hdx_work *w);
void     hdx_checkpoint_remove(hdx_work *w, hdx_saving *saving);
/* Returns a hash of everything that must be equal to resume: version of heapdex, formats, parameters. */
uint64_t hdx_checkpoint_version(const hdx_index_options *options);
/*
 * Restores b and p as they were after the steps `done`, with files open and checked. Returns HDX_NOT_FOUND if there is
 * nothing to resume; b and p must then be discarded. b->manifest has the facts of hdx_place_sample about the dump.
 */
hdx_code hdx_checkpoint_load(hdx_pass *p, uint64_t *done, hdx_error *err);
/*
 * checkpoint_check.c: opens the temporary files, and removes files that the steps `done` do not have. Returns
 * HDX_NOT_FOUND if any file of these or of the index changed, or could refer outside of the folder.
 */
hdx_code hdx_checkpoint_check(hdx_pass *p, uint64_t done, hdx_error *err);
/*
 * checkpoint_values.c: returns HDX_NOT_FOUND if index files contradict each other, or the results of the searches, in a
 * way that no build produces.
 */
hdx_code hdx_checkpoint_values(hdx_pass *p, uint64_t done, hdx_error *err);
/*
 * Returns whether reading the dump left files to resume from (resume.h); removes all others. False: the folder is
 * useless.
 */
bool hdx_checkpoint_find_resume_files(hdx_work *w, hdx_saving *saving);
/*
 * Checks, before anything in the folder is opened, that it contains plain files only, and folders of checkpoints with
 * plain files, but no links.
 */
bool hdx_checkpoint_is_plain(const hdx_work *w);
/*
 * view_checkpoint.c: the same for a view, for the version in b->saving.version. HDX_NOT_FOUND: there is nothing to
 * resume, and the folder must be cleared.
 */
hdx_code hdx_view_checkpoint_save(hdx_pass *p, uint64_t done, hdx_error *err);
hdx_code hdx_view_checkpoint_take(hdx_pass *p, uint64_t *done, hdx_error *err);
void     hdx_view_checkpoint_remove(hdx_work *w);
/* Temporary files of a checkpoint of these steps. */
static inline bool hdx_checkpoint_has(uint64_t done, hdx_pass_name pass) { return (done >> pass & 1) != 0; }
static inline bool hdx_checkpoint_spill(uint64_t done) { return !hdx_checkpoint_has(done, HDX_PASS_OBJECTS); }
/* Tasks of the step after these. */
static inline uint64_t hdx_checkpoint_tasks(uint64_t done)
{
    if (hdx_checkpoint_has(done, HDX_PASS_DOMINATORS))
        return HDX_TASK_RETAINED | HDX_TASK_TREE;
    if (hdx_checkpoint_has(done, HDX_PASS_REFERENCES))
        return HDX_TASK_PREDECESSORS | HDX_TASK_CLASS_INSTANCES | HDX_TASK_IDOMS;
    if (hdx_checkpoint_has(done, HDX_PASS_OBJECTS))
        return HDX_TASK_SEARCH | HDX_TASK_NEAREST | HDX_TASK_INBOUND;
    return HDX_TASK_COLUMNS | HDX_TASK_INSTANCES | HDX_TASK_OUTBOUND | HDX_TASK_REFERENCED;
}
static inline bool hdx_checkpoint_search(hdx_step until, uint64_t done)
{
    return until >= HDX_STEP_DOMINATORS && hdx_checkpoint_has(done, HDX_PASS_REFERENCES);
}
static inline bool hdx_checkpoint_referrers(hdx_step until, uint64_t done)
{
    return hdx_checkpoint_search(until, done) && !hdx_checkpoint_has(done, HDX_PASS_DOMINATORS);
}

#endif
