/* textfile.h - a text that a user names: rules, mappings, tables of layouts. */
#ifndef HDX_BASE_TEXTFILE_H
#define HDX_BASE_TEXTFILE_H

#include "base/arena.h"

#include <heapdex/error.h>
#include <heapdex/progress.h>
#include <heapdex/types.h>

/*
 * Reads a whole file into the arena. The file may be a named pipe, /dev/stdin or a process substitution of a shell:
 * the call waits for the writer, and asks `progress->cancelled` (NULL: not cancelled) whenever a signal interrupts it.
 * `most` bytes at most, less than 4 GiB. HDX_USAGE if the file cannot be read or is larger, HDX_CANCELLED, HDX_LIMIT.
 */
hdx_code hdx_text_file(const char *path, uint64_t most, const hdx_progress *progress, hdx_arena *arena, hdx_text *out,
                       hdx_error *err);

#endif
