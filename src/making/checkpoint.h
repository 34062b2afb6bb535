/* checkpoint.h - saving a build between its steps, and going on from there (checkpoint.c). */
#ifndef HDX_MAKING_CHECKPOINT_H
#define HDX_MAKING_CHECKPOINT_H

#include "making/making.h"

#define HDX_CHECKPOINT_FORMAT 5u /* of what steps hand to each other in files */

/* Steps that a checkpoint may hold, in their order; bits of `done`. */
typedef enum hdx_pass_name {
    HDX_PASS_COLUMNS,
    HDX_PASS_OBJECTS,
    HDX_PASS_REFERENCES,
    HDX_PASS_DOMINATORS,
    HDX_PASS_RETAINED
} hdx_pass_name;

/*
 * The file `state` begins with this head; after it roots, units and chunks as they lie in memory, and a CRC32C of all
 * before it. Here for the tests' sake: nobody else than checkpoint.c reads one.
 */
typedef struct hdx_checkpoint_head {
    /* bytes: of the file; version: a hash of heapdex's, of the sizes of what follows and of the parameters */
    uint64_t magic, bytes, version;
    uint64_t catalog; /* hash of the file catalog.sum beside it: the two were written by one save */
    uint64_t done;    /* steps of order.c, a bit each */
    uint64_t tasks;   /* of the step after them (HDX_TASK_); believed with a seal alone */
    uint64_t width, until, class_class, loader_class;
    uint64_t reached;
    uint64_t search_bytes, search_sum, idoms_bytes, idoms_sum;
    uint64_t spill_bytes, spill_longest, spill_edges;
    uint64_t referrer_bytes, referrer_entries, chunk_longest;
    uint64_t predecessor_bytes, predecessor_count, class_instance_bytes, class_instance_count;
    uint64_t roots, units, chunks;
} hdx_checkpoint_head;

/* All files of the steps so far, and of these tasks of the next, are in the folder and closed or will be read again. */
hdx_code hdx_checkpoint_save(hdx_pass *p, uint64_t done, uint64_t tasks, hdx_error *err);
/* The packed lists, and who is referenced to, into lists.tmp, and back. */
hdx_code hdx_checkpoint_keep_lists(hdx_pass *p, bool referenced, hdx_error *err);
hdx_code hdx_checkpoint_take_lists(hdx_pass *p, hdx_error *err);
/* Is every file that a checkpoint of these steps, or of these tasks, has as the seal says? */
bool hdx_checkpoint_is_sealed(const hdx_pass *p, uint64_t done, uint64_t tasks);
/* checkpoint_files.c: has a checkpoint of these steps and tasks this index file? Does one of these tasks write it? */
bool hdx_checkpoint_has_kind(const hdx_pass *p, uint64_t done, uint64_t tasks, hdx_kind kind);
bool hdx_checkpoint_makes(uint64_t tasks, hdx_kind kind);
/* Classes, threads, heaps and the manifest out of a catalog: their texts live as long as it is open. */
hdx_code hdx_build_tables_from(hdx_build *b, hdx_catalog *from, hdx_error *err);
bool     hdx_checkpoint_is_there(const hdx_work *w);
void     hdx_checkpoint_remove(hdx_work *w, hdx_keeping *keeping);
uint64_t hdx_checkpoint_version(
    const hdx_index_options *options); /* of everything that must be alike to go on: heapdex, formats, parameters */
/*
 * Fills b and p as they were after the steps `done`, files open and checked. HDX_NOT_FOUND: there is nothing to go on
 * from, b and p are to be thrown away. b->manifest holds what hdx_place_sample said of the dump.
 */
hdx_code hdx_checkpoint_load(hdx_pass *p, uint64_t *done, hdx_error *err);
/*
 * checkpoint_check.c: opens the temporary files; HDX_NOT_FOUND when any file, these or the index's, is not what it was,
 * or could lead outside. What the steps done do not have is removed.
 */
hdx_code hdx_checkpoint_check(hdx_pass *p, uint64_t done, hdx_error *err);
/*
 * checkpoint_values.c: HDX_NOT_FOUND when index files say of each other, or of what was searched, what no build writes.
 */
hdx_code hdx_checkpoint_values(hdx_pass *p, uint64_t done, hdx_error *err);
/* Has a reading of the dump left files to go on from (kept.h)? All others go. False: the folder is of no use. */
bool hdx_checkpoint_find_kept(hdx_work *w, hdx_keeping *keeping);
/*
 * Before anything in the folder is opened: plain files, and the folders of checkpoints with plain files in them, and no
 * links.
 */
bool hdx_checkpoint_is_plain(const hdx_work *w);
/*
 * view_checkpoint.c: the same of a view, whose folder has it as b->keeping.version says. HDX_NOT_FOUND: nothing to go
 * on from, and the folder is to be cleared.
 */
hdx_code hdx_view_checkpoint_save(hdx_pass *p, uint64_t done, hdx_error *err);
hdx_code hdx_view_checkpoint_take(hdx_pass *p, uint64_t *done, hdx_error *err);
void     hdx_view_checkpoint_remove(hdx_work *w);
/* Temporary files that a checkpoint of these steps has. */
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
