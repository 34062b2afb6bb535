/* textfile.h - reads a text file that a user names: rules, mappings, tables of layouts. */
#ifndef HDX_BASE_TEXTFILE_H
#define HDX_BASE_TEXTFILE_H

#include "base/arena.h"

#include <heapdex/error.h>
#include <heapdex/progress.h>
#include <heapdex/types.h>

/*
 * Reads a whole file into the arena, at most `most` bytes and less than 4 GiB. The file may be a named pipe, /dev/stdin
 * or a process substitution of a shell: the call waits for the writer, and calls `progress->cancelled` (progress may be
 * NULL) whenever a signal interrupts it. Returns HDX_USAGE if the file cannot be read or is larger, HDX_CANCELLED,
 * HDX_LIMIT.
 */
hdx_code hdx_text_file(const char *path, uint64_t most, const hdx_progress *progress, hdx_arena *arena, hdx_text *out,
                       hdx_error *err);

#endif
