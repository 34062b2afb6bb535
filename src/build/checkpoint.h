/* checkpoint.h - saving a build between its steps, and going on from there (checkpoint.c). */
#ifndef HDX_BUILD_CHECKPOINT_H
#define HDX_BUILD_CHECKPOINT_H

#include "build/passes.h"

/* Steps that a checkpoint may hold, in their order; bits of `done`. */
typedef enum hdx_pass_name { HDX_PASS_COLUMNS, HDX_PASS_OBJECTS, HDX_PASS_OUTBOUND, HDX_PASS_SEARCH, HDX_PASS_INBOUND, HDX_PASS_DOMINATORS, HDX_PASS_RETAINED } hdx_pass_name;

/* All files of the steps so far are in the folder and closed or will be read again. */
hdx_code hdx_checkpoint_save(hdx_pass *p, uint64_t done, hdx_error *err);
void     hdx_checkpoint_remove(hdx_build *b);
/* Fills b and p as they were after the steps `done`, files open and checked. HDX_NOT_FOUND: there is nothing to go on from, b and p are to be
   thrown away. b->manifest holds what hdx_place_sample said of the dump. */
hdx_code hdx_checkpoint_load(hdx_pass *p, uint64_t *done, hdx_error *err);
/* checkpoint_check.c: opens the temporary files; HDX_NOT_FOUND when any file, these or the index's, is not what it was, or could lead outside. */
hdx_code hdx_checkpoint_check(hdx_pass *p, uint64_t done, hdx_error *err);

#endif
