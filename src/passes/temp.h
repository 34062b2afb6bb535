/* temp.h - temporary files that are written sequentially and read in pieces (temp.c). */
#ifndef HDX_PASSES_TEMP_H
#define HDX_PASSES_TEMP_H

#include "algo/algo.h"
#include "reading/work.h"

typedef struct hdx_temp {
    hdx_tape tape; /* the view of it for the searches of algo */
    hdx_io  *io;
    int      fd; /* negative: in memory, or closed */
    hdx_mem *mem;
    uint8_t *memory;
    uint64_t memory_bytes, most; /* its size; its limit */
    uint64_t end;
    uint32_t sum; /* CRC32C of what was written sequentially */
    char     path[4200];
} hdx_temp; /* REQUIRES: it is not moved after it was opened, because the tape points into it */
hdx_code hdx_temp_create(hdx_work *w, const char *name, hdx_temp *t, hdx_error *err);
/* Opens a temporary file in memory, up to `most` bytes, if that leaves room for `others` bytes besides. */
hdx_code hdx_temp_begin(hdx_work *w, const char *name, uint64_t most, uint64_t others, hdx_temp *t, hdx_error *err);
bool     hdx_temp_trim(hdx_temp *t); /* after the last write: frees memory after its end */
/* Writes it to its file, unless it is there already, for a checkpoint. */
hdx_code hdx_temp_keep(hdx_temp *t, hdx_error *err);
/* Opens an existing file for reading; the caller sets its end. */
hdx_code hdx_temp_reopen(hdx_work *w, const char *name, hdx_temp *t, hdx_error *err);
/* Opens an existing file for reading and writing; the caller sets its end. */
hdx_code hdx_temp_change(hdx_work *w, const char *name, hdx_temp *t, hdx_error *err);
void     hdx_temp_close(hdx_temp *t);  /* keeps the file; all zero is allowed */
void     hdx_temp_remove(hdx_temp *t); /* after its use */

#endif
