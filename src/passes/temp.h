/* temp.h - temporary files that are written front to back and read in pieces (temp.c). */
#ifndef HDX_PASSES_TEMP_H
#define HDX_PASSES_TEMP_H

#include "algo/algo.h"
#include "reading/work.h"

typedef struct hdx_temp {
    hdx_tape tape; /* what the searches of algo see */
    hdx_io  *io;
    int      fd; /* below 0: in memory, or closed */
    hdx_mem *mem;
    uint8_t *memory;
    uint64_t memory_bytes, most; /* it has; it may have */
    uint64_t end;
    uint32_t sum; /* CRC32C of what was put front to back */
    char     path[4200];
} hdx_temp; /* stays where it was opened: the temporary file points into it */
hdx_code hdx_temp_create(hdx_work *w, const char *name, hdx_temp *t, hdx_error *err);
/* In memory up to `most` bytes where that leaves room for what is held beside it. */
hdx_code hdx_temp_begin(hdx_work *w, const char *name, uint64_t most, uint64_t beside, hdx_temp *t, hdx_error *err);
bool     hdx_temp_trim(hdx_temp *t);                 /* written whole: memory after its end goes back */
hdx_code hdx_temp_keep(hdx_temp *t, hdx_error *err); /* into its file, where it is not there yet: a checkpoint has it */
/* One that is there, to be read; its end is for the caller to say. */
hdx_code hdx_temp_reopen(hdx_work *w, const char *name, hdx_temp *t, hdx_error *err);
hdx_code hdx_temp_change(hdx_work *w, const char *name, hdx_temp *t,
                         hdx_error *err); /* likewise, to be written on, too */
void     hdx_temp_close(hdx_temp *t);     /* the file stays; all zero: nothing */
void     hdx_temp_remove(hdx_temp *t);    /* it has served */

#endif
