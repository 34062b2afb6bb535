/* tape.h - temporary files that are written front to back and read in pieces (tape.c). */
#ifndef HDX_PASSES_TAPE_H
#define HDX_PASSES_TAPE_H

#include "algo/algo.h"
#include "reading/work.h"

typedef struct hdx_tape_file {
    hdx_tape tape; /* what the searches of algo see */
    hdx_io  *io;
    int      fd; /* below 0: in memory, or closed */
    hdx_mem *mem;
    uint8_t *memory;
    uint64_t memory_bytes, most; /* it has; it may have */
    uint64_t end;
    uint32_t sum; /* CRC32C of what was put front to back */
    char     path[4200];
} hdx_tape_file; /* stays where it was opened: the tape points into it */
hdx_code hdx_tape_file_open(hdx_work *w, const char *name, hdx_tape_file *t, hdx_error *err);
/* In memory up to `most` bytes where that leaves room for what is held beside it. */
hdx_code hdx_tape_open(hdx_work *w, const char *name, uint64_t most, uint64_t beside, hdx_tape_file *t, hdx_error *err);
bool     hdx_tape_trim(hdx_tape_file *t); /* written whole: memory behind its end goes back */
hdx_code hdx_tape_keep(hdx_tape_file *t,
                       hdx_error     *err); /* into its file, where it is not there yet: a checkpoint has it */
/* One that is there, to be read; its end is for the caller to say. */
hdx_code hdx_tape_file_reopen(hdx_work *w, const char *name, hdx_tape_file *t, hdx_error *err);
hdx_code hdx_tape_file_change(hdx_work *w, const char *name, hdx_tape_file *t,
                              hdx_error *err);   /* likewise, to be written on, too */
void     hdx_tape_file_close(hdx_tape_file *t);  /* the file stays; all zero: nothing */
void     hdx_tape_file_remove(hdx_tape_file *t); /* it has served */

#endif
